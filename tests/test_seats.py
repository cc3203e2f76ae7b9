"""A learner's row is its own seat's decisions and nothing else, with the rewards of the rules."""

from __future__ import annotations

import numpy as np
import pytest

from agents.compiled import CompiledAgent
from idiot_env import Game, Rules
from idiot_env.observation import observe
from idiot_env.seats import LearnerSeats


def follow(players: int, rules: str, seed: int, steps: int, max_decisions: int = 2000) -> dict[str, int]:
    """Step a batch of learners and check every row against the same games played one by one.

    Everybody plays without randomness, so the single game needs no stream: the learner greedily, the others carefully.
    """
    learner, other = CompiledAgent("greedy"), CompiledAgent("careful")
    seats = LearnerSeats(8, [other], rules=rules, players=players, max_decisions=max_decisions)
    seats.reset(seed)
    streams = np.zeros(8, np.int64)
    seen = {"again": 0, "out first": 0, "lost": 0, "cut": 0}

    def to_learner(game: Game, me: int) -> None:
        while game.turn not in (None, me) and me not in game.out:
            game.apply(other.act(game.view(game.turn)))

    def fresh(row: int) -> Game:
        game = Game(rules, players, seed=int(seats.batch.seeds[row]), max_decisions=max_decisions)
        to_learner(game, int(seats.learner[row]))
        return game

    games = [fresh(row) for row in range(8)]
    for _ in range(steps):
        actions = learner.act_batch(seats.observation, seats.mask, streams)
        me = seats.learner.copy()
        for row, game in enumerate(games):
            assert game.turn == me[row]
            assert (observe(game.states, int(me[row])) == seats.observation[row]).all()
            assert (game.mask == seats.mask[row]).all()
            seen["again"] += game.apply(int(actions[row])).turn == me[row]
            to_learner(game, int(me[row]))
        step = seats.step(actions)
        for row, game in enumerate(games):
            mine = int(me[row])
            out, cut = mine in game.out, game.truncated
            lost = game.over and not out and not cut
            assert bool(step.terminated[row]) == (out or lost)
            assert bool(step.truncated[row]) == (cut and not out)
            losers = Rules.parse(rules).losers
            assert step.reward[row] == pytest.approx(losers / (players - losers) if out else -1.0 if lost else 0.0)
            if out or lost or cut:
                seen["out first"] += out and not game.over
                seen["lost"] += lost
                seen["cut"] += cut
                games[row] = fresh(row)
    return seen


def test_two_players() -> None:
    seen = follow(2, "standard", 1, 300)
    assert min(seen["again"], seen["lost"]) > 20
    assert seen["out first"] == 0


def test_players_drop_out() -> None:
    seen = follow(4, "norsk", 2, 300)
    assert min(seen["again"], seen["out first"], seen["lost"]) > 20


def test_two_idiots_and_house_rules() -> None:
    seen = follow(5, "familie losers=2 skip_same=yes", 3, 200)
    assert min(seen["out first"], seen["lost"]) > 10


def test_cut_off_games_have_no_reward() -> None:
    assert follow(3, "standard", 4, 200, max_decisions=25)["cut"] > 20


def test_seats_and_opponents_are_drawn_evenly() -> None:
    a, b = CompiledAgent("greedy"), CompiledAgent("careful")
    seats = LearnerSeats(4000, [a, b], shares=[3, 1], players=4)
    seats.reset(7)
    assert np.bincount(seats.learner, minlength=4) == pytest.approx([1000] * 4, abs=120)
    assert (seats.opponent[:, :4] == 1).mean() == pytest.approx(0.25, abs=0.02)
    fixed = LearnerSeats(10, [a], players=3, seat=2)
    fixed.reset(1)
    assert (fixed.learner == 2).all()


def test_the_same_seed_is_the_same_run() -> None:
    def run() -> list[float]:
        seats = LearnerSeats(16, [CompiledAgent("random")], players=3)
        seats.reset(9)
        total = []
        for _ in range(100):
            total.append(float(seats.step(seats.mask.argmax(axis=1)).observation.sum()))
        return total

    assert run() == run()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 2}, "seat=2"),
        ({"shares": [1, 2]}, "shares"),
        ({"shares": [-1]}, "shares"),
        ({"shares": [0]}, "shares"),
    ],
)
def test_bad_seats_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnerSeats(2, [CompiledAgent("random")], players=2, **arguments)
