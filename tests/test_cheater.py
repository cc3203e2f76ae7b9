"""The agent that sees all cards: behind its own door, legal, repeatable, and stronger than it could be if honest."""

from __future__ import annotations

import numpy as np
import pytest

from idiot_agents.cheater import CheatingAgent
from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.protocol import is_cheater
from idiot_agents.registry import CHEATS, SPECS, make_agent
from idiot_env import Game, Rules
from idiot_env.observation import determinize
from tests.decks import QUIET, deck_of
from tests.moments import games, moments


def test_it_is_made_only_where_cheats_are_asked_for() -> None:
    for spec in ("cheater", "cheater:8"):
        with pytest.raises(InputError, match="sees all cards and is no honest agent"):
            make_agent(spec)
        agent = make_agent(spec, cheats=True)
        assert is_cheater(agent)
        assert agent.name == spec
    assert not any(spec.startswith("cheater") for spec in SPECS)
    assert all(spec.startswith("cheater") for spec in CHEATS)
    assert not is_cheater(make_agent("greedy", cheats=True))


@pytest.mark.parametrize("spec", ["cheater:", "cheater:0", "cheater:-3", "cheater:x", "cheater:1000000", "cheater:²"])
def test_bad_numbers_of_rollouts_are_refused(spec: str) -> None:
    with pytest.raises(InputError, match="rollouts"):
        make_agent(spec, cheats=True)


def test_it_refuses_to_act_on_a_view() -> None:
    game = Game(seed=1)
    assert game.turn is not None
    with pytest.raises(InputError, match="hand it the state"):
        CheatingAgent().act(game.view(game.turn))


@pytest.mark.parametrize("rollouts", [1, 4])
def test_legal_at_every_table(rollouts: int) -> None:
    rng = np.random.default_rng(rollouts)
    cheater, other = CheatingAgent("cheater", rollouts), CompiledAgent("random")
    finished = 0
    for number, game in enumerate(games(rng, 24)):
        mine = number % game.players
        while game.turn is not None and len(game.actions) < 200:
            if game.turn == mine:
                before = game.states
                action = cheater.act_state(before, mine, int(rng.integers(2**62)))
                assert (before == game.states).all(), "it may look but not touch"
            else:
                action = other.act(game.view(game.turn))
            game.apply(action)  # refuses what is not legal
        finished += game.over
    assert finished > 2


def test_the_same_state_and_stream_give_the_same_action() -> None:
    rng = np.random.default_rng(7)
    one, two = CheatingAgent("cheater:4", 4), CheatingAgent("cheater:4", 4)
    for game in moments(rng, 8, 0.05):
        if game.turn is not None:
            one.act_state(game.states, game.turn, 3)
            assert one.act_state(game.states, game.turn, 9) == two.act_state(game.states, game.turn, 9)


def test_it_does_look_at_what_its_seat_cannot_know() -> None:
    """Among many moments there are some in which a re-dealt world changes its mind: what no honest agent may do."""
    rng = np.random.default_rng(8)
    cheater = CheatingAgent("cheater")
    changed = 0
    for game in moments(rng, 12, 0.1):
        if game.turn is not None:
            world = determinize(game.states, game.turn, rng)
            changed += cheater.act_state(world, game.turn, 1) != cheater.act_state(game.states, game.turn, 1)
    assert changed > 5


def test_its_choice_is_the_best_one_against_greedy() -> None:
    """What it chooses ends as well against greedy as any choice, by playing each of them out here."""
    game = Game(Rules(**QUIET), 2, deck=deck_of(2, hand=["QA4", "KK3"], dealer=1), dealer=1)  # type: ignore[arg-type]
    assert game.turn == 0
    cheater = CheatingAgent("cheater")
    best = cheater.act_state(game.states, 0, 1)
    rewards = {}
    for action in np.flatnonzero(game.mask):
        copy = Game(Rules(**QUIET), 2, deck=deck_of(2, hand=["QA4", "KK3"], dealer=1), dealer=1)  # type: ignore[arg-type]
        copy.apply(int(action))
        greedy = CompiledAgent("greedy")
        while copy.turn is not None:
            copy.apply(greedy.act(copy.view(copy.turn)))
        rewards[int(action)] = copy.out[0] == 0
    assert rewards[best] == max(rewards.values())


def test_it_beats_greedy_far_more_often_than_not() -> None:
    wins, rng = 0, np.random.default_rng(11)
    cheater, greedy = CheatingAgent("cheater"), CompiledAgent("greedy")
    for seed in range(40):
        game = Game(Rules(), 2, seed=seed, max_decisions=2000)
        while game.turn is not None and len(game.actions) < 2000:
            mine = game.turn == seed % 2
            stream = int(rng.integers(2**62))
            game.apply(cheater.act_state(game.states, game.turn, stream) if mine else greedy.act(game.view(game.turn)))
        wins += bool(game.out) and game.out[0] == seed % 2
    assert wins >= 34
