"""Practice games: endgames of the same game, drawn from each deal's own seed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra 'train'")

from idiot_agents.compiled import CompiledAgent
from idiot_env import Rules
from idiot_env.engine import HAND, STATE, SWAPPING, legal_mask_at
from idiot_env.observation import observe
from idiot_train.all_seats import TeachingSeats

GAMES = 64


def deal(practice: float, rules: str = "standard", players: int = 3) -> TeachingSeats:
    agent = CompiledAgent("greedy")
    seats = TeachingSeats(GAMES, [agent], rules=Rules.parse(rules), players=players, practice=practice)
    seats.reset(7)
    return seats


def cards_of(state: np.void, players: int) -> list[int]:
    """Every card of a state, wherever it lies."""
    zones = int(state["burned"]) | int(state["pile_set"])
    for seat in range(players):
        zones |= int(state["hand"][seat]) | int(state["up"][seat])
    cards = [card for card in range(54) if zones >> card & 1]
    return sorted(
        cards + [int(c) for c in state["down"][:players].ravel()] + list(state["stock"][: state["stock_size"]])
    )


@pytest.mark.parametrize(("rules", "players"), [("standard", 2), ("norsk", 5), ("sjanse", 3), ("familie jokers=2", 4)])
def test_practice_begins_with_an_empty_stock_and_every_card_in_its_place(rules: str, players: int) -> None:
    seats = deal(1.0, rules, players)
    grown = 0
    for i, state in enumerate(seats.batch.states):
        deck = 54 if Rules.parse(rules).jokers else 52
        assert cards_of(state, players) == list(range(deck))
        assert state["stock_size"] == 0
        assert state["phase"] == HAND
        assert all(int(k) & ~int(h) == 0 for k, h in zip(state["known"], state["hand"], strict=True))
        hands = [int(state["hand"][seat]).bit_count() for seat in range(players)]
        assert sorted(hands)[-2] == min(hands), "at most one seat has taken something"
        grown += max(hands) > min(hands)
        turn, mask = int(state["turn"]), np.zeros_like(seats.mask[i])
        legal_mask_at(seats.batch.states, i, mask)
        assert seats.batch.seat[i] == turn
        assert (seats.mask[i] == mask).all()
        assert (seats.observation[i] == observe(seats.batch.states, turn, i)).all()
    assert 0 < grown < GAMES


def test_the_share_of_practice_is_drawn_from_each_seed() -> None:
    """The other games are what they would have been, and a resumed run draws the same."""
    half, none, whole = deal(0.5), deal(0.0), deal(1.0)
    chosen = half.batch.states["stock_size"] == 0
    assert 0.3 < chosen.mean() < 0.7
    for seats, rows in ((whole, chosen), (none, ~chosen)):
        for field in STATE.names or ():
            assert (half.batch.states[field][rows] == seats.batch.states[field][rows]).all()
    assert (none.batch.states["phase"] == SWAPPING).all()


def test_practice_games_are_played_to_their_end() -> None:
    agent, seats = CompiledAgent("careful"), deal(1.0, players=4)
    ended, streams = 0, np.zeros(GAMES, np.int64)
    for _ in range(400):
        seats.step(agent.act_batch(seats.observation, seats.mask, streams))
        over = seats.done & seats.terminated
        ended += int(over.sum())
        assert seats.final[over].sum(axis=1) == pytest.approx(0, abs=1e-5)
    assert ended > GAMES
