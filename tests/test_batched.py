"""Batches equal single games move by move, and any game of a run can be played again alone."""

from __future__ import annotations

import numpy as np
import pytest

from idiot_env import Game, IllegalAction, Rules
from idiot_env.batched import AUTORESET_MODES, Batch, game_seed
from idiot_env.observation import observe
from idiot_env.rules import PRESETS

TABLES = [(name, players) for name in PRESETS for players in (2, 3, 4, 5)]
HOUSE = "standard chance=yes sneak_three=yes runs=yes skip_same=yes stack=yes swap=anytime seven_low=yes"


def draw(rng: np.random.Generator, mask: np.ndarray) -> int:
    """A random legal action that avoids taking, so that games end."""
    legal = np.flatnonzero(mask)
    plays = legal[(legal < 56) | (legal > 70)]
    return int(rng.choice(plays if len(plays) else legal))


def single(batch: Batch, row: int) -> Game:
    """The game now on the table of ``row``, dealt alone."""
    table = batch.tables[row]
    return Game(Rules.from_numbers(table["rules"]), int(table["players"]), seed=int(batch.seeds[row]))


def test_a_mixed_batch_equals_single_games() -> None:
    tables = [*TABLES, (HOUSE, 2), (HOUSE, 4)]
    batch = Batch(len(tables), [name for name, _ in tables], [players for _, players in tables], max_decisions=300)
    rng = np.random.default_rng(5)
    step = batch.reset(11)
    games = [single(batch, row) for row in range(batch.n)]
    ended = cut = 0
    for _ in range(700):
        for row, game in enumerate(games):
            assert game.turn == step.seat[row]
            assert (game.mask == step.mask[row]).all()
            assert (observe(game.states, int(step.seat[row])) == step.observation[row]).all()
        actions = np.array([draw(rng, mask) for mask in step.mask])
        for game, action in zip(games, actions, strict=True):
            game.apply(int(action))
        step = batch.step(actions)
        for row, game in enumerate(games):
            over = game.result is not None
            limit = len(game.actions) >= 300 and not over
            assert (bool(step.terminated[row]), bool(step.truncated[row])) == (over, limit)
            assert step.reward[row, : game.players] == pytest.approx(game.rewards())
            ended, cut = ended + over, cut + limit
            if over or limit:
                games[row] = single(batch, row)
    assert ended > 5
    assert cut > 0


def test_the_batch_size_changes_no_game() -> None:
    large, small = Batch(7, "sjanse", 3), Batch(1, "sjanse", 3)
    large.reset(np.arange(7))
    small.reset(np.array([5]))
    assert (large.observation[5] == small.observation[0]).all()
    assert large.seeds[5] == small.seeds[0] == game_seed(np.int64(5), np.int64(0))
    assert not (large.observation[4] == large.observation[5]).all()


def test_threads_change_nothing_but_the_time() -> None:
    batches = [Batch(50, "sjanse", 3, threads=threads) for threads in (1, 2, 7)]
    rng = np.random.default_rng(2)
    for batch in batches:
        batch.reset(4)
    for _ in range(120):
        actions = np.array([draw(rng, mask) for mask in batches[0].mask])
        first, *others = [batch.step(actions) for batch in batches]
        for other in others:
            assert all((a == b).all() for a, b in zip(first, other, strict=True))
    assert all((batch.states == batches[0].states).all() for batch in batches)


@pytest.mark.parametrize("mode", AUTORESET_MODES)
def test_autoreset(mode: str) -> None:
    batch = Batch(1, players=2, max_decisions=3, autoreset=mode)
    batch.reset(3)
    first = int(batch.seeds[0])
    for _ in range(3):
        assert not batch.truncated[0]
        batch.step(np.array([batch.mask[0].argmax()]))
    assert batch.truncated[0]
    assert not batch.reward.any()
    if mode == "same_step":
        assert batch.seeds[0] != first
        assert batch.mask[0].any()
        return
    assert batch.seeds[0] == first
    assert batch.seat[0] == -1
    assert not batch.mask[0].any()
    batch.step(np.array([0]))
    assert (batch.seeds[0] != first) == (mode == "next_step")
    assert not batch.truncated[0]
    if mode == "disabled":
        batch.reset_games(np.array([0]))
        assert batch.seat[0] >= 0


def test_fresh_outputs_survive_the_next_step() -> None:
    reused, fresh = Batch(2), Batch(2, fresh=True)
    assert reused.reset(1).observation is reused.observation
    kept = fresh.reset(1)
    before = kept.observation.copy()
    fresh.step(fresh.mask.argmax(axis=1))
    assert (kept.observation == before).all()
    assert not (fresh.observation == before).all()


def test_an_illegal_action_moves_no_game() -> None:
    batch = Batch(3)
    batch.reset(1)
    before = batch.states.copy()
    actions = batch.mask.argmax(axis=1)
    actions[2] = np.flatnonzero(batch.mask[2] == 0)[0]
    with pytest.raises(IllegalAction, match="not legal in game 2"):
        batch.step(actions)
    actions[2] = 10_000
    with pytest.raises(IllegalAction, match="10000"):
        batch.step(actions)
    assert (batch.states == before).all()
    with pytest.raises(ValueError, match="shape"):
        batch.step(actions[:2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n=0"),
        ({"n": 2, "max_decisions": 0}, "max_decisions=0"),
        ({"n": 2, "threads": 0}, "threads=0"),
        ({"n": "3"}, "n='3'"),
        ({"n": 2.0}, "n=2.0"),
        ({"n": 2, "max_decisions": "9"}, "max_decisions='9'"),
        ({"n": 2, "threads": None}, "threads=None"),
        ({"n": 2, "autoreset": "never"}, "autoreset='never'"),
        ({"n": 2, "players": [2, 3, 4]}, "players has 3 entries"),
        ({"n": 2, "players": 6}, "players=6"),
        ({"n": 2, "dealer": 4}, "dealer=4"),
        ({"n": 2, "rules": "chess"}, "unknown table 'chess'"),
    ],
)
def test_bad_batches_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Batch(**arguments)
    with pytest.raises(ValueError, match="seeds has shape"):
        Batch(2).reset(np.arange(3))


@pytest.mark.parametrize("seeds", [None, "x", 1.5, [1.0, 2.0]])
def test_seeds_are_whole_numbers(seeds: object) -> None:
    with pytest.raises(ValueError, match=r"seeds=.* is not possible"):
        Batch(2).reset(seeds)  # type: ignore[arg-type]


def test_a_batch_is_dealt_before_it_is_stepped() -> None:
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        Batch(2).step(np.zeros(2, np.int64))


@pytest.mark.parametrize("actions", [None, "take", [0.0, 0.0], [np.nan, 0.0], [True, True], [0, None]])
def test_actions_are_whole_numbers(actions: object) -> None:
    batch = Batch(2)
    batch.reset(1)
    before = batch.states.copy()
    with pytest.raises(ValueError, match="give whole numbers"):
        batch.step(actions)  # type: ignore[arg-type]
    assert (batch.states == before).all()
