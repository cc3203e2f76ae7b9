"""The learner: the update is MaskablePPO's, the critic alone sees all, a stopped run goes on bit for bit."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra 'train'")

import torch
from sb3_contrib import MaskablePPO

from idiot_agents.errors import InputError
from idiot_agents.network import WEIGHTS, load_model
from idiot_env import Rules, hidden
from idiot_env.hidden import HIDDEN_SIZE
from idiot_env.observation import OBSERVATION_SIZE, layout_table, redeal_at
from idiot_env.seats import LearnerSeats
from idiot_train.cli import main
from idiot_train.config import make_config
from idiot_train.learner import SelfPlayPPO
from idiot_train.opponents import Opponents
from idiot_train.ppo import make_learner, train
from idiot_train.state import STATE_FILE
from idiot_train.tables import held_out_tables, is_held_out, make_pool

TINY: dict[str, Any] = {
    "name": "tiny",
    "decisions": 2048,
    "games": 32,
    "horizon": 16,
    "minibatch": 128,
    "widths": [16],
    "evaluations": 2,
    "evaluation_deals": 10,
    "save_rollouts": 1,
}


def learner_of(**changes: Any) -> SelfPlayPPO:
    config = make_config({**TINY, **changes})
    learner = make_learner(config, Opponents(config))
    with torch.no_grad():  # the heads start nearly at zero, where everything agrees
        for parameter in learner.policy.parameters():
            parameter.normal_(0, 0.1)
    _, callback = learner._setup_learn(10_000)
    learner.collect_rollouts(learner.env, callback, learner.rollout_buffer, learner.n_steps)
    return learner


@pytest.mark.parametrize("teach", ["one_seat", "all_seats"])
def test_the_update_is_that_of_maskable_ppo(teach: str) -> None:
    """The same rollout, once with our update and once with the stock one, gives the same weights."""
    after = []
    for update in (SelfPlayPPO.train, MaskablePPO.train):
        learner = learner_of(teach=teach)
        torch.manual_seed(5)
        update(learner)
        after.append([parameter.detach().clone() for parameter in learner.policy.parameters()])
    before = list(learner_of(teach=teach).policy.parameters())
    for ours, stock, old in zip(*after, before, strict=True):
        assert torch.allclose(ours, stock, atol=1e-6)
        assert not torch.equal(ours, old)


def test_the_collector_records_what_was_played() -> None:
    learner = learner_of()
    buffer = learner.rollout_buffer
    values, log_probabilities, _ = learner.policy.evaluate_actions(
        torch.from_numpy(buffer.observations[3]), torch.from_numpy(buffer.actions[3, :, 0]), buffer.action_masks[3]
    )
    assert np.allclose(values[:, 0].detach(), buffer.values[3], atol=1e-5)
    assert np.allclose(log_probabilities.detach(), buffer.log_probs[3], atol=1e-5)
    assert np.take_along_axis(buffer.action_masks[3], buffer.actions[3].astype(int), 1).all()


def test_the_critic_sees_all_and_the_policy_does_not() -> None:
    learner = learner_of(critic="perfect", players=3)
    env = learner.env
    batch = env.seats.batch
    rows = np.arange(env.num_envs)
    before = env._rows_seen()
    mask = env.action_masks()
    for row in rows:
        redeal_at(batch.states, row, int(batch.seat[row]), np.int64(row))
    after = env._rows_seen()
    assert before.shape == (env.num_envs, OBSERVATION_SIZE + HIDDEN_SIZE)
    assert (before[:, :OBSERVATION_SIZE] == after[:, :OBSERVATION_SIZE]).all()
    assert (before[:, OBSERVATION_SIZE:] != after[:, OBSERVATION_SIZE:]).any(axis=1).all()
    with torch.no_grad():
        (logits, own), (logits_after, own_after) = (
            learner.policy.logits_and_values(torch.from_numpy(seen), mask) for seen in (before, after)
        )
        judged, judged_after = (learner.policy.predict_values(torch.from_numpy(seen)) for seen in (before, after))
    assert torch.equal(logits, logits_after)
    assert torch.equal(own, own_after)
    assert (judged != judged_after).any(dim=1).float().mean() > 0.9
    learner.train()
    network = learner.policy.to_network()
    assert not [name for name in network.tensors if "critic" in name]


def test_what_is_hidden_is_written_as_it_lies() -> None:
    seats = LearnerSeats(40, [_Uniform()], players=3, rules="standard jokers=2")
    seats.reset(4)
    for _ in range(12):
        seats.step(np.array([np.flatnonzero(mask)[0] for mask in seats.mask]))
    out = np.zeros((40, HIDDEN_SIZE), np.int8)
    hidden.write_hidden_rows(seats.batch.states, seats.batch.seat, out)
    blocks = {name: out[:, block.slice].reshape(-1, *block.shape) for name, block in hidden.LAYOUT.items()}
    for row, state in enumerate(seats.batch.states):
        me = int(seats.batch.seat[row])
        for relative in range(3):
            seat = (me + relative) % 3
            down = [card >> 2 for card in state["down"][seat] if card >= 0]
            assert blocks["down"][row, relative].tolist() == np.bincount(down, minlength=14).tolist()
            if relative:
                hand = [card >> 2 for card in range(54) if (int(state["hand"][seat]) >> card) & 1]
                assert blocks["opp_hand"][row, relative - 1].tolist() == np.bincount(hand, minlength=14).tolist()
        stock = state["stock"][: state["stock_size"]][::-1][:4] >> 2
        assert blocks["next"][row].sum() == len(stock)
        assert [int(one_hot.argmax()) for one_hot in blocks["next"][row][: len(stock)]] == stock.tolist()
        assert not blocks["opp_hand"][row, 2:].any()


class _Uniform:
    def act_batch(self, observation: Any, mask: Any, streams: Any) -> Any:
        return mask.argmax(axis=1)


def test_the_documented_layout_of_what_is_hidden_is_the_real_one() -> None:
    documented = (hidden.__doc__ or "").split("<layout>")[1].split("</layout>")[0].strip()
    assert documented == layout_table(hidden.LAYOUT)


# --- tables ----------------------------------------------------------------------------------------------------------


MIXED: dict[str, Any] = {
    "rules": ["standard", "norsk"],
    "players": [2, 4],
    "house_rules": 0.5,
    "held_out": ["jokers=2 stack=yes", "after_two=again chance=yes"],
}


def test_the_pool_has_every_table_and_nothing_that_is_held_out() -> None:
    config = make_config({**TINY, **MIXED})
    pool = make_pool(config)
    assert pool is not None
    tables = [(Rules.from_numbers(table["rules"]), int(table["players"])) for table in pool]
    held_out = [{"jokers": 2, "stack": True}, {"after_two": "again", "chance": True}]
    assert not any(is_held_out(rules, held_out) for rules, _ in tables)
    assert {players for _, players in tables} == {2, 4}
    named = {rules for rules, _ in config.tables}
    plain = sum(rules in named for rules, _ in tables) / len(tables)
    assert 0.45 < plain < 0.56
    assert set(config.tables) <= set(tables)
    assert len(set(tables)) > 1000
    assert make_pool(make_config(TINY)) is None
    assert all(is_held_out(rules, held_out) for rules, _ in held_out_tables(config, 20, seed=1))
    with pytest.raises(InputError, match="the table 'norsk' has it"):
        make_config({**TINY, **MIXED, "held_out": ["swap=never"]})


def test_every_game_draws_its_table_from_its_seed() -> None:
    config = make_config({**TINY, **MIXED})
    seats = [LearnerSeats(n, [_Uniform()], pool=make_pool(config)) for n in (16, 4)]
    for several in seats:
        several.reset(np.arange(several.n))
    first = {bytes(table.tobytes()) for table in seats[0].batch.tables}
    assert len(first) > 8
    assert (seats[0].batch.tables[:4] == seats[1].batch.tables).all()
    before = seats[0].batch.tables.copy()
    seats[0].next_games(np.arange(8))
    assert (before[:8] != seats[0].batch.tables[:8]).any()
    assert (before[8:] == seats[0].batch.tables[8:]).all()
    assert (seats[0].batch.states["players"] == seats[0].batch.tables["players"]).all()


# --- opponents -------------------------------------------------------------------------------------------------------


def test_snapshots_take_their_share_and_the_stronger_more_of_it() -> None:
    config = make_config({**TINY, "opponents": {"self": 0.5, "greedy": 0.2, "past": 0.3}, "past_slots": 2})
    opponents = Opponents(config)
    assert [policy.name for policy in opponents.policies] == ["self", "greedy", "past 0", "past 1"]
    assert opponents.shares.tolist() == [0.8, 0.2, 0, 0]
    learner = make_learner(config, opponents)
    network = learner.policy.to_network()
    for _ in range(3):
        opponents.snapshot(network)
    assert opponents.shares == pytest.approx([0.5, 0.2, 0.15, 0.15])
    seats = learner.env.seats
    seats.met[2:], seats.lost_to[2:] = 1000, (900, 100)
    opponents.take_results(seats)
    assert opponents.lost == pytest.approx([0.9, 0.1], abs=1e-6)
    assert opponents.shares == pytest.approx([0.5, 0.2, 0.27, 0.03], abs=1e-6)
    assert np.diff(seats._shares, prepend=0.0) == pytest.approx(opponents.shares)
    assert not seats.met.any()


@pytest.mark.parametrize("teach", ["one_seat", "all_seats"])
def test_results_against_opponents_are_counted(teach: str) -> None:
    config = make_config({**TINY, "teach": teach, "opponents": {"self": 0.5, "greedy": 0.5}, "horizon": 400})
    learner = make_learner(config, Opponents(config))
    _, callback = learner._setup_learn(10_000)
    learner.collect_rollouts(learner.env, callback, learner.rollout_buffer, learner.n_steps)
    seats = learner.env.seats
    assert (seats.met > 0).all()
    assert (seats.lost_to > 0).all()
    assert (seats.lost_to <= seats.met).all()
    assert seats.lost_to[1] > 0.5 * seats.met[1]  # an untrained learner loses against greedy


# --- stopping and going on -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"teach": "all_seats", "critic": "perfect", "opponents": {"self": 0.6, "past": 0.4}, "past_rollouts": 1},
        {"teach": "one_seat", "players": [2, 3], "house_rules": 0.5, "refresh_rollouts": 3, "keep": "best"},
        {"teach": "all_seats", "practice": 0.5, "cut_off_reward": -1.0, "max_decisions": 60},
    ],
)
def test_a_stopped_run_goes_on_bit_for_bit(tmp_path: Path, monkeypatch: Any, changes: dict[str, Any]) -> None:
    config = make_config({**TINY, **changes})
    whole, curve = train(config, tmp_path / "whole", quiet=True)

    update, updates = SelfPlayPPO.train, 0

    def killed(self: SelfPlayPPO) -> None:
        nonlocal updates
        updates += 1
        if updates == 3:
            raise KeyboardInterrupt
        update(self)

    monkeypatch.setattr(SelfPlayPPO, "train", killed)
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "stopped", quiet=True)
    monkeypatch.undo()
    assert (tmp_path / "stopped" / STATE_FILE).is_file()
    torch.manual_seed(99)  # whatever happens between a stop and a resumption
    again, resumed = train(config, tmp_path / "stopped", quiet=True, resume=True)
    for name, tensor in whole.network.tensors.items():
        assert (again.network.tensors[name] == tensor).all()
    assert [(p.decisions, p.lost, p.relative) for p in curve] == [(p.decisions, p.lost, p.relative) for p in resumed]
    cards = [json.loads((tmp_path / run / "model" / "model.json").read_text()) for run in ("whole", "stopped")]
    assert cards[0]["weights_sha256"] == cards[1]["weights_sha256"]
    assert not (tmp_path / "stopped" / STATE_FILE).exists()


def test_a_killed_process_loses_the_last_interval_at_most(tmp_path: Path) -> None:
    """kill -9 twice, at moments that nobody chose: what goes on from the saved state ends as if nothing had been."""
    size = TINY["games"] * TINY["horizon"]
    changes = {"decisions": 60 * size, "save_rollouts": 1, "evaluations": 2, "bench_deals": 2}
    config = make_config({**TINY, **changes})
    whole, _ = train(config, tmp_path / "whole", quiet=True)
    file, run = tmp_path / "killed.yaml", tmp_path / "killed"
    file.write_text(json.dumps(config.model_dump()))
    state, kills = run / STATE_FILE, 0
    arguments = ["--config", str(file), "--out", str(run)]
    for wait in (0.0, 0.3):
        process = subprocess.Popen([sys.executable, "-m", "idiot_train.cli", "train", *arguments, "--quiet"])
        before = state.stat().st_mtime_ns if state.is_file() else 0
        while process.poll() is None and not (state.is_file() and state.stat().st_mtime_ns > before):
            time.sleep(0.01)
        time.sleep(wait)
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        arguments = ["--resume", str(run)]
    assert kills == 2
    (run / f".{STATE_FILE}.half").write_bytes(b"a file that the kill left half written")
    (run / "checkpoints" / "0").mkdir(parents=True)
    (run / "checkpoints" / "0" / f".{WEIGHTS}.half").write_bytes(b"and another")
    assert main(["train", "--resume", str(run), "--quiet"]) == 0
    again, _ = load_model(run / "model")
    for name, tensor in whole.network.tensors.items():
        assert (again.tensors[name] == tensor).all()
    assert not list(run.rglob(".*"))
    assert not state.exists()


def test_who_is_stopped_in_the_benchmark_can_resume(
    tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from idiot_agents import bench

    file, run = tmp_path / "tiny.yaml", tmp_path / "run"
    file.write_text(json.dumps(make_config({**TINY, "bench": ["random"]}).model_dump()))
    with monkeypatch.context() as patch:

        def stopped(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        patch.setattr(bench, "run_bench", stopped)
        assert main(["train", "--config", str(file), "--out", str(run), "--quiet"]) == 130
    assert f"go on with idiot train --resume {run}" in capsys.readouterr().out
    weights = (run / "model" / WEIGHTS).read_bytes()
    assert not (run / "bench.json").exists()
    assert main(["train", "--resume", str(run), "--quiet"]) == 0
    assert (run / "bench.json").is_file()
    assert (run / "model" / WEIGHTS).read_bytes() == weights
    assert not (run / STATE_FILE).exists()


def test_what_cannot_be_resumed_says_what_can_be_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for made, said in (("", "it is no run"), ("checkpoints/0002048", "checkpoints/0002048"), ("model", "is finished")):
        (tmp_path / made).mkdir(parents=True, exist_ok=True)
        assert main(["train", "--resume", str(tmp_path)]) == 2
        assert said in capsys.readouterr().err


def test_a_state_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    config = make_config(TINY)
    (tmp_path / STATE_FILE).write_bytes(b"no state")
    with pytest.raises(InputError, match="no saved state"):
        train(config, tmp_path, quiet=True, resume=True)
