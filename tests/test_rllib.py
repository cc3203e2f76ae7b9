"""Training on a Ray cluster: legal actions only, the same network as in NumPy, a lost worker and a lost machine.

``make test-ray`` runs it in an environment of its own, against the real library.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray", reason="needs the extra 'ray', see make test-ray")

import ray
import torch
from ray.cluster_utils import Cluster
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME

from idiot_agents.errors import InputError
from idiot_agents.network import load_model, save_model
from idiot_agents.neural import NeuralAgent
from idiot_env.actions import N_ACTIONS
from idiot_env.observation import OBSERVATION_SIZE
from idiot_train import rllib
from idiot_train.config import TrainConfig, make_config
from idiot_train.masked_module import MaskedModule, row_space
from idiot_train.opponents import Opponents
from idiot_train.ppo import make_learner
from idiot_train.seat_runner import SeatRunner
from tests.ray_cluster import two_nodes

pytestmark = pytest.mark.filterwarnings("default::RuntimeWarning", "ignore::DeprecationWarning")

TINY: dict[str, Any] = {
    "name": "tiny",
    "seed": 3,
    "decisions": 2048,
    "games": 16,
    "horizon": 32,
    "minibatch": 256,
    "widths": [16],
    "evaluations": 1,
    "evaluation_deals": 10,
    "bench": [],
}


def tiny(**changes: Any) -> TrainConfig:
    return make_config({**TINY, **changes})


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with two_nodes() as started:
        yield started


def module_of(config: TrainConfig) -> MaskedModule:
    return rllib.algorithm_config(config, 1).rl_module_spec.build()


def runner_of(config: TrainConfig) -> SeatRunner:
    """A worker without a cluster."""
    return SeatRunner(config=rllib.algorithm_config(config, 1).env_runners(num_env_runners=0))


# --- the network -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("critic", ["own", "perfect"])
def test_the_module_is_the_network_that_plays_without_torch(critic: str) -> None:
    config = tiny(players=3, critic=critic)
    module, learner = module_of(config), make_learner(config, Opponents(config))
    observation = learner.env.reset()
    rows = np.concatenate([observation, learner.env.action_masks()], axis=1)
    assert row_space(critic == "perfect").contains(rows[0])
    with torch.no_grad():
        out = module.forward_train({Columns.OBS: torch.from_numpy(rows)})
        values = module.compute_values({Columns.OBS: torch.from_numpy(rows)})
    logits, own = module.to_network()(np.ascontiguousarray(observation[:, :OBSERVATION_SIZE]))
    legal = learner.env.action_masks() == 1
    np.testing.assert_allclose(out[Columns.ACTION_DIST_INPUTS].numpy()[legal], logits[legal], atol=1e-5)
    assert (out[Columns.ACTION_DIST_INPUTS].numpy()[~legal] < -1e7).all()
    if critic == "own":
        np.testing.assert_allclose(values.numpy(), own, atol=1e-5)
    else:
        np.testing.assert_allclose(out["own_values"].numpy(), own, atol=1e-5)
        assert not np.allclose(values.numpy(), own, atol=1e-3)


def test_weights_travel_between_both_trainers() -> None:
    """The same architecture: what MaskablePPO has learned, RLlib's module takes over, and gives back."""
    config = tiny()
    network = make_learner(config, Opponents(config)).policy.to_network()
    module = module_of(config)
    module.start_from(network)
    back = module.to_network()
    assert set(back.tensors) == set(network.tensors)
    assert all(np.array_equal(back.tensors[name], network.tensors[name]) for name in network.tensors)


# --- a worker --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"players": 3, "rules": "sjanse jokers=2"},
        {"teach": "one_seat", "opponents": {"self": 0.5, "greedy": 0.5}},
        {"opponents": {"self": 0.5, "past": 0.5}, "past_rollouts": 1, "past_slots": 2},
        {"rules": ["norsk", "familie"], "players": [2, 4], "house_rules": 0.5},
    ],
)
def test_a_worker_plays_legal_actions_by_its_policy(changes: dict[str, Any]) -> None:
    config = tiny(**changes)
    runner = runner_of(config)
    decisions = 0
    for _ in range(3):
        episodes = runner.sample()
        for episode in episodes:
            rows, actions = episode.get_observations()[:-1], episode.get_actions()
            assert rows.dtype == np.int8
            assert (rows[np.arange(len(actions)), -N_ACTIONS + actions] == 1).all()
            with torch.no_grad():
                logits = runner.module.forward_inference({Columns.OBS: torch.from_numpy(rows)})[
                    Columns.ACTION_DIST_INPUTS
                ]
            expected = torch.log_softmax(logits, dim=1).numpy()[np.arange(len(actions)), actions]
            np.testing.assert_allclose(episode.get_extra_model_outputs(Columns.ACTION_LOGP), expected, atol=1e-4)
            decisions += len(actions)
    made = 3 * config.games * config.horizon
    held = config.games * max(config.player_numbers)
    assert made - held <= decisions <= made
    assert int(runner.get_metrics()[NUM_ENV_STEPS_SAMPLED_LIFETIME].peek()) == made


def test_workers_play_different_games_and_the_same_ones_again() -> None:
    first, again = (runner_of(tiny()).sample() for _ in range(2))
    assert all(np.array_equal(a.get_observations(), b.get_observations()) for a, b in zip(first, again, strict=True))
    other = runner_of(tiny(seed=4)).sample()
    assert not all(np.array_equal(a.get_observations(), b.get_observations()) for a, b in zip(first, other))


# --- a cluster -------------------------------------------------------------------------------------------------------


def test_a_run_leaves_a_model_that_plays(cluster: Cluster, tmp_path: Path) -> None:
    config = tiny(critic="perfect", players=3)
    agent, curve = rllib.train(config, tmp_path, quiet=True, address=cluster.address, workers=2)
    assert [point.decisions for point in curve] == [0, 2048]
    assert isinstance(agent, NeuralAgent)
    assert agent.card["decisions"] == 2048
    assert agent.card["versions"]["ray"] == ray.__version__
    figures = json.loads((tmp_path / "ray.json").read_text())
    assert figures["workers"] == 2
    assert figures["decisions"] == 2048
    assert figures["decisions_per_second"] > 0
    assert figures["lost_workers"] == 0

    from idiot_train.cli import main

    assert main(["bench", "random", f"ppo:{tmp_path / 'model'}", "--players", "3", "--deals", "5", "--quiet"]) == 0

    start = tmp_path / "model"
    again = rllib.make_algorithm(tiny(critic="perfect", players=3), 1)
    rllib.start_from(again, tiny(start=str(start)))
    learned, kept = rllib.learned(again), NeuralAgent.load(start).network
    assert all(np.array_equal(learned.tensors[name], kept.tensors[name]) for name in kept.weights)
    worker = again.env_runner_group.foreach_env_runner(
        lambda runner: runner.module.to_network().tensors["policy.weight"], local_env_runner=False
    )
    assert np.array_equal(worker[0], kept.tensors["policy.weight"])
    narrow = tmp_path / "narrow"
    save_model(narrow, module_of(tiny(players=3, widths=[8])).to_network(), {})
    with pytest.raises(InputError, match="built otherwise"):
        rllib.start_from(again, tiny(start=str(narrow)))
    rllib.stop(again)


def test_several_learners_share_the_work(cluster: Cluster, tmp_path: Path) -> None:
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    _, curve = rllib.train(tiny(), tmp_path, quiet=True, address=cluster.address, workers=1, learners=2)
    assert [point.decisions for point in curve] == [0, 2048]
    first, last = (load_model(path)[0] for path in sorted((tmp_path / "checkpoints").iterdir()))
    assert not np.array_equal(first.tensors["policy.weight"], last.tensors["policy.weight"])
    cluster.remove_node(node)


def played(algorithm: Any) -> int:
    return int(algorithm.train()[ENV_RUNNER_RESULTS][NUM_ENV_STEPS_SAMPLED_LIFETIME])


def until_all_are_back(algorithm: Any, workers: int) -> int:
    """Train on until all workers take part again, five minutes at most; returns the decisions so far."""
    deadline = time.monotonic() + 300
    while True:
        decisions = played(algorithm)
        if algorithm.env_runner_group.num_healthy_remote_workers() == workers:
            return decisions
        assert time.monotonic() < deadline, "the lost worker did not come back"
        time.sleep(1)


def test_a_lost_worker_and_a_lost_machine_are_survived(cluster: Cluster) -> None:
    algorithm = rllib.make_algorithm(tiny(decisions=10**6), 2)
    before = played(algorithm)
    process = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: __import__("os").getpid(), local_env_runner=False
    )[0]
    os.kill(process, signal.SIGKILL)  # a worker of this test
    after = played(algorithm)
    assert after > before
    back = until_all_are_back(algorithm, 2)
    assert back > after
    weights = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]["value_net.bias"]
    theirs = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: runner.module.to_network().tensors["value.bias"], local_env_runner=False
    )
    assert len(theirs) == 2
    assert all(np.allclose(bias, weights) for bias in theirs)

    spare = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    cluster.remove_node(next(node for node in cluster.worker_nodes if node is not spare))
    assert until_all_are_back(algorithm, 2) > back
    rllib.stop(algorithm)


def test_what_cannot_be_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--workers 50 is not possible: the cluster has \d cores"):
        rllib.train(tiny(), tmp_path, quiet=True, address=cluster.address, workers=50)

    from idiot_train.cli import main

    for option in ("--workers", "--learners"):
        assert main(["train", "--config", "smoke", option, "2"]) == 2
    assert main(["train", "--resume", str(tmp_path), "--ray", "local"]) == 2


@pytest.mark.slow
def test_it_learns(cluster: Cluster, tmp_path: Path) -> None:
    config = tiny(decisions=131_072, games=64, horizon=64, minibatch=1024, widths=[64, 64], references=["random"],
                  learning_rate=1e-3, evaluation_deals=200)  # fmt: skip
    _, curve = rllib.train(config, tmp_path, quiet=True, address=cluster.address, workers=2)
    assert curve[0].lost > 0.3
    assert curve[-1].lost < 0.1
