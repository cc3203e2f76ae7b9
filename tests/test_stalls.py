"""Games without an end: the same ones that a match counts, each with the position in which it was cut off."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from idiot_agents.arena import play_match
from idiot_agents.registry import make_agent
from idiot_agents.stalls import Stall, by_kind, find_stalls, in_words, kinds_table, main
from idiot_env import Game, Rules
from idiot_env.engine import NO_CARD, STATE


@pytest.mark.parametrize(("players", "limit"), [(2, 90), (4, 110)])
def test_they_are_those_that_a_match_counts(players: int, limit: int) -> None:
    agents = [make_agent(name) for name in ("careful", "greedy")]
    match = play_match(*agents, Rules(), players, 40, seed=2, max_decisions=limit)
    found = find_stalls(*agents, Rules(), players, 40, seed=2, max_decisions=limit)
    assert len(found) == match.truncated > 0
    assert {stall.still_in for stall in found} <= set(range(2, players + 1))
    for stall in found:
        assert 0 < stall.fewest <= stall.others
        assert stall.fewest + stall.others + stall.stock + stall.pile <= 52
    assert sum(map(len, by_kind(found))) == len(found)
    assert len(kinds_table(found)) == 2 + len(by_kind(found))


def test_a_position_is_described() -> None:
    """Seat 1 is out, seat 2 has two cards face down, seat 0 all its own; the commonest kind comes first."""
    state = np.zeros(1, STATE)
    state[:] = Game("standard", 3, seed=4).states
    state["place"][0, 1] = 1
    state["hand"][0, 2] = state["up"][0, 2] = 0
    state["down"][0, 2, 0] = NO_CARD
    state["stock_size"], state["pile_size"] = 5, 7
    blind = Stall.of(state[0])
    assert blind == Stall(still_in=2, zone="face-down cards", fewest=2, others=9, stock=5, pile=7)
    state["up"][0, 2] = state["up"][0, 1]
    assert Stall.of(state[0]).zone == "face-up cards"
    state["hand"][0, 2] = state["hand"][0, 1]
    hand = Stall.of(state[0])
    assert (hand.zone, hand.fewest) == ("hand", 8)
    assert by_kind([blind, hand, hand]) == [[hand, hand], [blind]]
    words = "2 times 2 still in, who has the fewest cards plays from hand and has 8, the others 9, the stock 5"
    assert in_words([blind, hand, hand]) == words
    assert kinds_table([blind, hand, hand])[2:] == [
        "| 2 | 2 | hand | 8.0 | 9.0 | 5.0 | 7.0 |",
        "| 1 | 2 | face-down cards | 2.0 | 9.0 | 5.0 | 7.0 |",
    ]


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["stalls", "greedy", "random", "--players", "3", "--deals", "2"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("greedy among random at standard, 3 players: 0 of 6 games cut off")
    monkeypatch.setattr(sys, "argv", ["stalls", "nobody"])
    assert main() == 2
    assert "unknown agent 'nobody'" in capsys.readouterr().err
