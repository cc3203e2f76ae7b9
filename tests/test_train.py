"""Training: configurations refuse nonsense, rows carry masks and rewards, a run leaves a playable model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra 'train'")

import torch
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.registry import make_agent
from idiot_env.seats import LearnerSeats
from idiot_train.cli import main
from idiot_train.config import TrainConfig, config_path, load_config, make_config, shipped_configs
from idiot_train.opponents import FrozenCopy, Opponents
from idiot_train.ppo import make_learner, train
from idiot_train.vec_env import LearnerVecEnv

CONFIGS = Path(__file__).parent.parent / "configs"
TINY = {
    "name": "tiny",
    "decisions": 2048,
    "games": 16,
    "horizon": 32,
    "minibatch": 256,
    "widths": [16],
    "evaluations": 2,
    "evaluation_deals": 10,
}


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_configurations_load(path: Path) -> None:
    config = load_config(path, ["decisions=77"])
    assert (config.name, config.decisions) == (path.stem, 77)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"learning_rat": 1}, "unknown key 'learning_rat'"),
        ({"players": 9}, "players=9 is not possible"),
        ({"rules": "chess"}, "unknown table 'chess'"),
        ({"rules": "standard losers=2"}, "two idiots need 3"),
        ({"decisions": "many"}, "decisions='many' is not possible"),
        ({"minibatch": 1_000_000}, "minibatch=1000000 is not possible"),
        ({"opponents": {"self": 0.0}}, "opponents="),
        ({"opponents": {"self": -1.0, "greedy": 2.0}}, "opponents="),
        ({"widths": []}, r"widths=\[\] is not possible"),
        ({"place_reward": 0.5, "teach": "one_seat"}, "place_reward=0.5 is not possible with teach='one_seat'"),
        ({"practice": 0.5, "teach": "one_seat"}, "practice=0.5 is not possible with teach='one_seat'"),
        ({"practice": 1.5}, "practice=1.5 is not possible"),
        ({"gamma": 2}, "gamma=2 is not possible"),
        ({"name": "a/b"}, "name='a/b' is not possible"),
        ({"name": ".."}, "name='..' is not possible"),
        ({"seed": -1}, "seed=-1 is not possible"),
        ({"seed": 2**32}, "seed=4294967296 is not possible"),
        ({"threads": 10**10}, "threads=10000000000 is not possible"),
        ({"games": 10**13}, "games=10000000000000 is not possible"),
        ({"widths": [10**11]}, r"widths=\[100000000000\] is not possible"),
        ({"learning_rate": float("inf")}, "learning_rate=inf is not possible"),
        ({"opponents": {"self": float("nan")}}, "opponents.self=nan is not possible"),
        ({1: 2}, "unknown key '1'"),
    ],
)
def test_bad_configurations_are_refused(values: dict, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        make_config({**TINY, **values})
    assert "\n" not in str(caught.value)


def test_configurations_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # not beside configs/
    assert config_path("quick").read_bytes() == (CONFIGS / "quick.yaml").read_bytes()
    assert {path.stem for path in CONFIGS.glob("*.yaml")} == set(shipped_configs())
    (tmp_path / "quick").touch()
    assert config_path("quick").suffix == ".yaml"  # a shipped name is never a file that happens to lie here
    (tmp_path / "own").touch()
    for path in ("own", "own.yaml", "deep/own"):
        assert config_path(path) == Path(path)
    with pytest.raises(InputError, match=r"unknown configuration 'quik'.* quick"):
        config_path("quik")


def test_bad_configuration_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_config(tmp_path / "none.yaml", [])
    (tmp_path / "a.yaml").write_text("- 1")
    with pytest.raises(InputError, match="no list of keys"):
        load_config(tmp_path / "a.yaml", [])
    (tmp_path / "b.yaml").write_text("a: [")
    with pytest.raises(InputError, match="is not YAML"):
        load_config(tmp_path / "b.yaml", [])
    with pytest.raises(InputError, match="'decisions' is not a changed key"):
        load_config(CONFIGS / "smoke.yaml", ["decisions"])


def test_every_key_is_read() -> None:
    """A key that no code reads would be a lie."""
    root = Path(__file__).parent.parent / "idiot_train"
    code = "".join(path.read_text() for path in root.glob("*.py") if path.name != "config.py")
    through = {"rules": "table_names", "players": "player_numbers"}  # what may be one value or several
    unread = [key for key in TrainConfig.model_fields if f"config.{through.get(key, key)}" not in code]
    assert not unread


def test_rows_carry_masks_and_settled_rewards() -> None:
    seats = LearnerSeats(12, [CompiledAgent("greedy")], rules="familie", players=3)
    env = LearnerVecEnv(seats, seed=5)
    assert is_masking_supported(env)
    observation = env.reset()
    rng = np.random.default_rng(1)
    episodes = 0
    for _ in range(150):
        masks = get_action_masks(env)
        assert masks.shape == (12, env.action_space.n)
        assert masks.any(axis=1).all()
        kept = observation.copy()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        new, rewards, dones, infos = env.step(actions)
        assert (observation == kept).all(), "a step must not overwrite what the last one returned"
        observation = new
        assert env.observation_space.contains(observation[0])
        assert not rewards[~dones].any()
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["r"] == rewards[row]
            assert infos[row]["episode"]["l"] >= 1
        episodes += int(dones.sum())
    assert episodes > 5
    first = env.reset()
    assert (first == env.reset()).all()


def test_lean_policy_equals_the_stock_one() -> None:
    config = make_config(TINY)
    learner = make_learner(config, Opponents(config))
    with torch.no_grad():
        for parameter in learner.policy.parameters():
            parameter.normal_(0, 0.5)
    env = learner.get_env()
    observation = torch.from_numpy(env.reset())
    masks = get_action_masks(env)
    stock = learner.policy.get_distribution(observation, action_masks=masks)
    actions = stock.get_actions()
    values, log_probability, entropy = learner.policy.evaluate_actions(observation, actions, masks)
    assert torch.allclose(log_probability, stock.log_prob(actions), atol=1e-5)
    assert torch.allclose(entropy, stock.entropy(), atol=1e-5)
    assert torch.allclose(values, learner.policy.predict_values(observation), atol=1e-5)
    best, _, best_log_probability = learner.policy.forward(observation, deterministic=True, action_masks=masks)
    assert torch.equal(best, stock.mode())
    assert torch.allclose(best_log_probability, stock.log_prob(best), atol=1e-5)

    torch.manual_seed(1)
    row = int(masks.sum(axis=1).argmax())
    many = 20_000
    drawn, _, _ = learner.policy.forward(
        observation[row].repeat(many, 1), action_masks=np.repeat(masks[row : row + 1], many, 0)
    )
    shares = torch.bincount(drawn, minlength=masks.shape[1]) / many
    assert torch.allclose(shares, stock.distribution.probs[row], atol=0.015)


def test_frozen_copy_keeps_its_weights_until_refreshed() -> None:
    with pytest.raises(RuntimeError, match="no weights"):
        FrozenCopy().act_batch(np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int8), np.zeros(1, np.int64))
    config = make_config(TINY)
    opponents = Opponents(config)
    copy = opponents.copy
    learner = make_learner(config, opponents)
    assert copy._agent is not None
    before = {name: tensor.copy() for name, tensor in copy._agent.network.tensors.items()}
    with torch.no_grad():
        for parameter in learner.policy.parameters():
            parameter += 1.0
    assert all((copy._agent.network.tensors[name] == before[name]).all() for name in before)
    copy.refresh(learner.policy.to_network())
    assert all((copy._agent.network.tensors[name] != before[name]).any() for name in before)


def test_a_tiny_run_leaves_a_playable_model(tmp_path: Path) -> None:
    config = make_config({**TINY, "opponents": {"self": 0.5, "greedy": 0.5}, "players": 3, "keep_checkpoints": 1})
    agent, curve = train(config, tmp_path, quiet=True)
    assert torch.get_num_threads() == 1
    assert [point.decisions for point in curve] == [0, 1024, 2048]
    card = json.loads((tmp_path / "model" / "model.json").read_text())
    assert (card["seed"], card["decisions"], card["rules"], card["players"]) == (0, 2048, "standard", 3)
    assert card["config"]["widths"] == [16]
    best = min(curve, key=lambda point: point.relative).decisions
    kept = {int(path.name) for path in (tmp_path / "checkpoints").iterdir()}
    assert kept == {best, 2048} or (best == 2048 and kept == {1024, 2048})
    assert (tmp_path / "curve.png").stat().st_size > 5000
    assert len(json.loads((tmp_path / "curve.json").read_text())) == 3
    assert list((tmp_path / "tensorboard").glob("events*"))
    loaded = make_agent(f"ppo:{tmp_path / 'model'}")
    seats = LearnerSeats(5, [loaded], players=3)
    seats.reset(1)
    chosen = [
        player.act_batch(seats.observation, seats.mask, np.zeros(5, np.int64)).tolist() for player in (agent, loaded)
    ]
    assert chosen[0] == chosen[1]


def test_the_same_seed_trains_the_same_model(tmp_path: Path) -> None:
    config = make_config({**TINY, "evaluations": 0, "decisions": 1024})
    models = [train(config, tmp_path / name, quiet=True)[0] for name in ("a", "b")]
    first, second = (model.network.tensors for model in models)
    assert all((first[name] == second[name]).all() for name in first)


@pytest.mark.slow
def test_training_beats_greedy(tmp_path: Path) -> None:
    config = load_config(CONFIGS / "quick.yaml", ["decisions=500_000", "evaluation_deals=1000", "evaluations=1"])
    _, curve = train(config, tmp_path, quiet=True)
    assert curve[-1].lost < 0.42


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("opponents={nobody: 1}", "unknown agent 'nobody'"),
        ("bench=[nobody]", "unknown agent 'nobody'"),
        ("start=nowhere/model", "nowhere/model is not a model folder"),
        ("start=generalist", "its widths are [256, 256], this run's [64, 64]"),
    ],
)
def test_what_is_wrong_is_found_before_anything_is_written(
    change: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main(["train", "--config", str(CONFIGS / "smoke.yaml"), "--set", change, "--out", str(folder)]) == 2
    assert message in capsys.readouterr().err
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file" / "run", Path("/proc/run")):
        assert main(["train", "--config", str(CONFIGS / "smoke.yaml"), "--out", str(folder)]) == 2
        assert capsys.readouterr().err.startswith(f"idiot train: {folder} cannot be written (")
