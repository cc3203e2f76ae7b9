"""The training of ``idiot_train.ppo`` on a Ray cluster: RLlib's PPO, the same configurations, the same models.

Each of W workers plays ``games / W`` games side by side (:mod:`idiot_train.seat_runner`); their trajectories go to the
learner (the process that called :func:`train`, or several that share each minibatch), and its weights go back to them
before the next rollout.  So a configuration means the same on any number of workers: ``games × horizon`` decisions
between updates, drawn by the present weights.  Whoever has more machines raises ``games``.

A worker that is lost is replaced, and takes part again from the next rollout on; what it had not handed over is lost,
and the others play on to fill the batch.  A run leaves what ``idiot_train.ppo`` leaves, apart from a saved state, and
``ray.json``: how many workers, decisions and games a second, and how often workers were lost.

On several machines, Idiot must be installed on each of them, and a model that a configuration names as an opponent must
lie in the same place.  Nothing else is shared.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import ray
import torch
import yaml
from gymnasium.spaces import Discrete
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME, NUM_EPISODES_LIFETIME
from tqdm import tqdm

from idiot_agents.cluster import connect
from idiot_agents.errors import InputError
from idiot_agents.network import Network, load_model, write_file
from idiot_agents.neural import NeuralAgent
from idiot_agents.shipped import model_folder
from idiot_env.actions import N_ACTIONS
from idiot_train.config import TrainConfig
from idiot_train.curve import Curve, CurvePoint
from idiot_train.masked_module import MaskedModule, SelfPlayLearner, row_space
from idiot_train.ppo import make_encoder
from idiot_train.seat_runner import CONFIG, SeatRunner

SILENT = 20
"""Rollouts in a row from which no worker has sent anything, after which a run is given up."""


def algorithm_config(config: TrainConfig, workers: int, learners: int = 0) -> PPOConfig:
    """RLlib's PPO as the configuration describes it, with so many workers and learners (0: this process learns)."""
    share = config.model_copy(update={"games": math.ceil(config.games / workers)})
    batch = share.games * workers * config.horizon
    perfect = config.critic == "perfect"
    encoder = make_encoder(config)
    space = row_space(perfect)
    built: dict[str, Any] = {
        "players": encoder.players,
        "rules": encoder.rules,
        "memory": encoder.memory,
        "widths": config.widths,
        "perfect": perfect,
    }
    return (
        PPOConfig()
        .environment(
            observation_space=space,
            action_space=Discrete(N_ACTIONS),
            env_config={CONFIG: share.model_dump()},
            disable_env_checking=True,
        )
        .env_runners(
            env_runner_cls=SeatRunner,
            num_env_runners=workers,
            num_envs_per_env_runner=share.games,
            rollout_fragment_length=config.horizon,
            sample_timeout_s=600.0,
        )
        .rl_module(rl_module_spec=RLModuleSpec(MaskedModule, space, Discrete(N_ACTIONS), model_config=built))
        .training(
            train_batch_size_per_learner=math.ceil(batch / max(1, learners)),
            minibatch_size=math.ceil(config.minibatch / max(1, learners)),
            num_epochs=config.epochs,
            lr=[[0, config.learning_rate], [config.decisions, config.final_learning_rate]],
            entropy_coeff=[[0, config.entropy], [config.decisions, config.final_entropy]],
            clip_param=config.clip,
            gamma=config.gamma,
            lambda_=config.gae_lambda,
            vf_loss_coeff=config.value_weight,
            grad_clip=config.max_gradient,
            grad_clip_by="global_norm",
            use_kl_loss=False,
        )
        .learners(learner_class=SelfPlayLearner, num_learners=learners)
        .fault_tolerance(restart_failed_env_runners=True, delay_between_env_runner_restarts_s=1.0)
        .debugging(seed=config.seed, log_level="ERROR")
    )


def make_algorithm(config: TrainConfig, workers: int, learners: int = 0) -> Algorithm:
    """The same, at work on the cluster that this process is connected to; end it with :func:`stop`."""
    return algorithm_config(config, workers, learners).build_algo()


def stop(algorithm: Algorithm) -> None:
    """End the workers, and remove the folder that RLlib makes for logs that nobody writes."""
    algorithm.stop()
    folder = Path(algorithm.logdir)
    if not any(folder.iterdir()):
        folder.rmdir()


def _module_of(algorithm: Algorithm) -> MaskedModule:
    """A module with the learner's present weights."""
    module: MaskedModule = algorithm.config.rl_module_spec.build()
    module.set_state(algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID])
    return module


def learned(algorithm: Algorithm) -> Network:
    """The learner's present weights as the network that plays without torch."""
    return _module_of(algorithm).to_network()


def start_from(algorithm: Algorithm, config: TrainConfig) -> None:
    """Give the learner and all workers the weights of the model that ``start`` names.

    Raises:
        InputError: if it is built otherwise.
    """
    network, module = load_model(model_folder(config.start))[0], _module_of(algorithm)
    mine = module.to_network()
    ours, theirs = mine.encoder, network.encoder
    same = (theirs.players, theirs.rules, theirs.memory) == (ours.players, ours.rules, ours.memory)
    shapes = [{name: tensor.shape for name, tensor in one.weights.items()} for one in (mine, network)]
    if not same or shapes[0] != shapes[1]:
        raise InputError(f"start={config.start!r} is not possible: the model is built otherwise than this run's.")
    module.start_from(network)
    weights = {DEFAULT_MODULE_ID: module.get_state()}
    algorithm.learner_group.set_weights(weights)
    # Not sync_weights: these have the number of those that the workers already have, and would be passed over.
    algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.set_state({COMPONENT_RL_MODULE: weights}))


def train(
    config: TrainConfig,
    folder: Path,
    quiet: bool = False,
    *,
    address: str = "local",
    workers: int = 1,
    learners: int = 0,
) -> tuple[NeuralAgent, list[CurvePoint]]:
    """Run the configuration on a cluster; returns the agent and its learning curve, both also written to ``folder``.

    Args:
        address: the cluster, see :func:`connect`.
        workers: processes that play, one core each.
        learners: processes that share each minibatch, one core each; 0: this process learns alone.

    Raises:
        InputError: without a cluster, or one with too few cores.
        RuntimeError: if no worker answers any more.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "config.yaml", yaml.safe_dump(config.model_dump(), sort_keys=False).encode())
    torch.set_num_threads(config.threads)
    connect(address)
    cores = int(ray.cluster_resources().get("CPU", 0))
    if workers + learners > cores:
        asked = f"--workers {workers}" + (f" with --learners {learners}" if learners else "")
        raise InputError(f"{asked} is not possible: the cluster has {cores} cores.")
    algorithm = make_algorithm(config, workers, learners)
    try:
        if config.start:
            start_from(algorithm, config)
        return _learn(algorithm, config, folder, quiet, workers)
    finally:
        stop(algorithm)


def _learn(
    algorithm: Algorithm, config: TrainConfig, folder: Path, quiet: bool, workers: int
) -> tuple[NeuralAgent, list[CurvePoint]]:
    curve = Curve(config, folder)
    decisions = games = silent = lost_workers = 0
    playing = 0.0
    start = time.monotonic()
    with tqdm(total=config.decisions, unit=" decisions", unit_scale=True, disable=quiet, mininterval=1.0) as bar:
        while decisions < config.decisions:
            if curve.is_due(decisions):
                curve.measure(learned(algorithm), decisions, time.monotonic() - start)
            healthy, before = algorithm.env_runner_group.num_healthy_remote_workers(), time.monotonic()
            played = algorithm.train()[ENV_RUNNER_RESULTS]
            playing += time.monotonic() - before
            lost_workers += max(0, healthy - algorithm.env_runner_group.num_healthy_remote_workers())
            silent = silent + 1 if int(played[NUM_ENV_STEPS_SAMPLED_LIFETIME]) == decisions else 0
            if silent == SILENT:
                raise RuntimeError(f"no worker has answered for {SILENT} rollouts: is the cluster still there?")
            decisions, games = int(played[NUM_ENV_STEPS_SAMPLED_LIFETIME]), int(played[NUM_EPISODES_LIFETIME])
            bar.update(decisions - bar.n)
            bar.set_postfix_str(f"{games / playing:,.0f} games/s, {healthy} of {workers} workers")
    if config.evaluations:
        curve.measure(learned(algorithm), decisions, time.monotonic() - start)
    figures = {
        "workers": workers,
        "nodes": sum(node["Alive"] for node in ray.nodes()),
        "decisions": decisions,
        "games": games,
        "seconds": round(playing, 3),
        "decisions_per_second": round(decisions / playing, 1),
        "games_per_second": round(games / playing, 1),
        "lost_workers": lost_workers,
    }
    write_file(folder / "ray.json", (json.dumps(figures, indent=1) + "\n").encode())
    return curve.finish(learned(algorithm), decisions), curve.points
