"""Tuning the linear agent: trial games are arena's games, deals are shared, and a run improves and can be repeated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from idiot_agents.compiled import CAREFUL, GREEDY, CompiledAgent
from idiot_agents.linear import (
    FEATURES,
    WEIGHTS,
    LinearAgent,
    read_weights,
    weights_fingerprint,
    weights_json,
)
from idiot_agents.trials import TRIAL_STREAM, trial_rewards
from idiot_env import Game, Rules
from idiot_env.cards import stream
from idiot_train import tune_linear
from idiot_train.tune_linear import FORMER, SELF, cells, held_out, main, worth
from tests.moments import random_table


def zeros() -> np.ndarray:
    return np.zeros(len(FEATURES))


def test_trial_games_are_those_of_the_agents(tmp_path: Path) -> None:
    """The games are those that single agents play move by move, each seat from its own stream."""
    path = tmp_path / "zeros.json"
    path.write_text(weights_json(zeros()))
    players = [LinearAgent("zeros", path), CompiledAgent("linear"), CompiledAgent("careful")]
    rng = np.random.default_rng(1)
    for _ in range(12):
        rules, seats = random_table(rng)
        order = rng.integers(0, 3, seats)
        lineup = np.array([[(-2, -1, CAREFUL)[who] for who in order]], np.int64)
        seed = int(rng.integers(2**62))
        reward, truncated = trial_rewards([WEIGHTS, zeros()], lineup, np.array([seed], np.int64), rules, 300)
        streams = [np.array([stream(np.int64(seed), TRIAL_STREAM + seat)], np.int64) for seat in range(seats)]
        game = Game(rules, seats, seed=seed)
        while game.turn is not None and len(game.actions) < 300:
            view = game.view(game.turn)
            chosen = players[order[game.turn]].act_batch(
                view.observation[None], view.action_mask[None], streams[game.turn]
            )
            game.apply(int(chosen[0]))
        assert truncated[0] == (not game.over)
        assert reward[0].sum() == pytest.approx(0, abs=1e-5)
        win = rules.losers / (seats - rules.losers)
        for seat in game.out:
            assert reward[0, seat] == pytest.approx(win)
        left = [seat for seat in range(seats) if seat not in game.out]
        assert reward[0, left] == pytest.approx([-win * len(game.out) / len(left)] * len(left))


def test_the_cells_of_a_generation() -> None:
    first, again, later = (list(cells(800, 1, generation)) for generation in (1, 1, 2))
    assert len(first) == (4 * 5 + tune_linear.RANDOM_TABLES) * 3
    for one, same, other in zip(first, again, later, strict=True):
        assert (one.seeds == same.seeds).all()
        assert not np.isin(one.seeds, other.seeds).any()
        assert ((one.lineups == SELF).sum(axis=1) == 1).all()
        assert one.lineups.shape == (len(one.seeds), one.players)
    by_table: dict[tuple[Rules, int], set[int]] = {}
    for cell in first:
        by_table.setdefault((cell.rules, cell.players), set()).add(cell.opponent)
    assert all(opponents == {GREEDY, CAREFUL, FORMER} for opponents in by_table.values())
    # The tables for two count double, and their deals are other ones.
    duels = [c for c in first if (c.rules, c.players, c.opponent) == (Rules(), 2, GREEDY)]
    assert len(duels) == 2
    assert not np.isin(duels[0].seeds, duels[1].seeds).any()


def test_held_out_deals_are_new_and_better_weights_are_worth_more() -> None:
    used = {int(seed) for generation in range(1, 4) for cell in cells(300, 1, generation) for seed in cell.seeds}
    kept = list(cells(300, 2, 0))
    assert not used & {int(seed) for cell in kept for seed in cell.seeds}
    assert worth(WEIGHTS, zeros(), kept) > worth(zeros(), WEIGHTS, kept) + 0.2
    summary = held_out(WEIGHTS, zeros(), 300, 1)
    assert set(summary) == {"greedy", "careful", "the start"}
    for numbers in summary.values():
        assert numbers["standard_error"] > 0
        assert 0 <= numbers["cut_off"] < 0.2


def test_a_run_improves_on_poor_weights_and_can_be_repeated(tmp_path: Path) -> None:
    pytest.importorskip("cma")
    start = tmp_path / "poor.json"
    start.write_text(weights_json(-WEIGHTS / 3))
    argv = ["--seed", "3", "--generations", "6", "--games", "150", "--start", str(start), "--former-every", "2"]
    argv += ["--step", "0.6"]
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file in files:
        assert main([*argv, "--out", str(file)]) == 0
    one, two = (json.loads(file.read_text()) for file in files)
    assert one["weights"] == two["weights"]
    assert one["held_out"] == two["held_out"]
    assert one["command"].startswith("python -m idiot_train.tune_linear --seed 3 ")
    assert one["generations"] == 6
    assert one["start"] == weights_fingerprint(read_weights(start))
    games = list(cells(600, 9, 0))
    assert worth(read_weights(files[0]), WEIGHTS, games) > worth(read_weights(start), WEIGHTS, games) + 0.02


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--start", "nowhere.json"], "nowhere.json cannot be read"),
        (["--step", "-1"], "a number above 0"),
        (["--step", "nan"], "a number above 0"),
        (["--out", "no/folder/x.json"], "is no folder"),
    ],
)
def test_bad_input_is_one_sentence(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_game_ends_when_the_seat_that_matters_is_out() -> None:
    rules, seeds = Rules(), np.arange(40, dtype=np.int64)
    lineups = np.full((40, 4), GREEDY, np.int64)
    whole, _ = trial_rewards([WEIGHTS], lineups, seeds, rules, 600)
    for seat in range(4):
        focal = np.full(40, seat, np.int64)
        early, _ = trial_rewards([WEIGHTS], lineups, seeds, rules, 600, focal)
        assert (early[:, seat] == whole[:, seat]).all()
        assert (early != whole).any()
