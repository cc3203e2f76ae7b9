"""Self-play PPO, from the configuration to a finished model: read it from top to bottom.

sb3-contrib's MaskablePPO learns on :class:`idiot_train.vec_env.LearnerVecEnv`.  In each game one drawn seat is the
learner's; the others are drawn, in the shares that the configuration gives, among named agents, which act inside the
step, and ``self``.  With ``teach: one_seat`` that is a frozen copy of the learner (refreshed every
``refresh_rollouts`` rollouts), also inside the step; with ``teach: all_seats`` the learner plays these seats itself and
learns from all of them.  A run leaves, in its folder:

===========================  ==========================================================================================
``config.yaml``              the configuration, changes included
``model/``                   the finished model, see ``idiot_agents.network``
``checkpoints/DECISIONS/``   the last ``keep_checkpoints`` models on the way
``curve.json``, ``curve.png``  share of games lost against the first ``bench`` agent over the learner's decisions
``bench.json``               the final benchmark
``tensorboard/``             for TensorBoard
===========================  ==========================================================================================
"""

from __future__ import annotations

import json
import platform
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import sb3_contrib
import stable_baselines3
import torch
import yaml
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from tqdm import tqdm

import idiot_env
from idiot_agents.arena import play_match
from idiot_agents.network import Network, save_model, write_file
from idiot_agents.neural import NeuralAgent
from idiot_agents.protocol import Actions, BatchAgent, Masks, Observations, Streams
from idiot_agents.registry import make_agent
from idiot_env import Rules
from idiot_env.seats import LearnerSeats
from idiot_train.all_seats import SeatBuffer, TeachingSeats
from idiot_train.config import SELF, TrainConfig
from idiot_train.policy import IdiotPolicy
from idiot_train.vec_env import LearnerVecEnv


class FrozenCopy:
    """The learner as it was at the last refresh, drawing from its policy."""

    name = SELF

    def __init__(self) -> None:
        self._agent: NeuralAgent | None = None

    def refresh(self, network: Network) -> None:
        self._agent = NeuralAgent(network, SELF, temperature=1.0)

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        if self._agent is None:
            raise RuntimeError("the frozen copy has no weights yet: call refresh first.")
        return self._agent.act_batch(observation, mask, streams)


@dataclass(frozen=True)
class CurvePoint:
    """One evaluation on the way: the sharpened policy against the first agent of ``bench``."""

    decisions: int
    seconds: float
    lost: float
    low: float
    high: float
    truncated: int


def linear(start: float, end: float) -> Any:
    """A schedule over SB3's ``progress_remaining``, which falls from 1 to 0."""
    return lambda remaining: end + (start - end) * remaining


class SelfPlay(BaseCallback):
    """Keeps the frozen copy fresh, lowers the entropy bonus, evaluates, checkpoints and shows progress."""

    def __init__(self, config: TrainConfig, copy: FrozenCopy, folder: Path, quiet: bool) -> None:
        super().__init__()
        self.config, self.copy, self.folder = config, copy, folder
        self.rules = Rules.parse(config.rules)
        self.reference = make_agent(config.bench[0] if config.bench else "greedy", config.seed)
        self.curve: list[CurvePoint] = []
        self.bar = tqdm(total=config.decisions, unit=" decisions", unit_scale=True, disable=quiet, mininterval=1.0)
        self._rollout = 0
        self._next_point = 0.0

    def _on_training_start(self) -> None:
        self._start = time.monotonic()

    def _on_rollout_start(self) -> None:
        config = self.config
        done = self.num_timesteps / config.decisions
        self.model.ent_coef = linear(config.entropy, config.final_entropy)(max(0.0, 1.0 - done))
        if self._rollout % config.refresh_rollouts == 0:
            self.copy.refresh(self.policy.to_network())
        self._rollout += 1
        if config.evaluations and done >= self._next_point:
            self._next_point += 1 / config.evaluations
            self.evaluate()

    @property
    def policy(self) -> IdiotPolicy:
        return self.model.policy

    def _on_rollout_end(self) -> None:
        self.bar.update(self.num_timesteps - self.bar.n)

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self._on_rollout_end()
        if self.config.evaluations:
            self.evaluate()
        self.bar.close()

    def evaluate(self) -> None:
        """One point of the curve, and a checkpoint."""
        network = self.policy.to_network()
        agent = NeuralAgent(network, "learner")
        match = play_match(
            agent, self.reference, self.rules, self.config.players, self.config.evaluation_deals, seed=self.config.seed
        )
        seconds = time.monotonic() - self._start
        self.curve.append(CurvePoint(self.num_timesteps, seconds, match.lost, *match.interval, match.truncated))
        self.bar.set_postfix_str(f"lost to {self.reference.name} {match.lost:.1%}")
        self.logger.record("eval/lost", match.lost)
        if self.config.keep_checkpoints:
            folder = self.folder / "checkpoints"
            save_model(folder / f"{self.num_timesteps:010d}", network, model_facts(self.config, self.num_timesteps))
            for old in sorted(folder.iterdir())[: -self.config.keep_checkpoints]:
                shutil.rmtree(old)


def model_facts(config: TrainConfig, decisions: int) -> dict[str, Any]:
    """What a model folder says about its training."""
    return {
        "rules": str(Rules.parse(config.rules)),
        "players": config.players,
        "seed": config.seed,
        "decisions": decisions,
        "config": config.model_dump(),
        "versions": {
            "idiot_env": idiot_env.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
            "torch": torch.__version__,
            "stable_baselines3": stable_baselines3.__version__,
            "sb3_contrib": sb3_contrib.__version__,
        },
    }


def make_opponents(config: TrainConfig, copy: FrozenCopy) -> tuple[list[BatchAgent], list[float]]:
    """The opponents' policies and their shares; the present policy (its copy) comes first, if with share 0."""
    shares = {SELF: 0.0} | config.opponents
    policies: list[Any] = [copy if spec == SELF else make_agent(spec, config.seed) for spec in shares]
    return policies, list(shares.values())


def make_learner(config: TrainConfig, copy: FrozenCopy, tensorboard: Path | None = None) -> MaskablePPO:
    """MaskablePPO on the vector environment that the configuration describes."""
    torch.set_num_threads(config.threads)
    opponents, shares = make_opponents(config, copy)
    kind: type[LearnerSeats] = TeachingSeats if config.teach == "all_seats" else LearnerSeats
    seats = kind(
        config.games,
        opponents,
        shares=shares,
        rules=config.rules,
        players=config.players,
        max_decisions=config.max_decisions,
    )
    buffer = (
        dict(rollout_buffer_class=SeatBuffer, rollout_buffer_kwargs=dict(seats=seats, seed=config.seed))
        if isinstance(seats, TeachingSeats)
        else {}
    )
    learner = MaskablePPO(
        IdiotPolicy,
        LearnerVecEnv(seats, config.seed),
        n_steps=config.horizon,
        batch_size=config.minibatch,
        n_epochs=config.epochs,
        learning_rate=linear(config.learning_rate, config.final_learning_rate),
        clip_range=config.clip,
        ent_coef=config.entropy,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        vf_coef=config.value_weight,
        max_grad_norm=config.max_gradient,
        seed=config.seed,
        device="cpu",
        policy_kwargs=dict(widths=config.widths, players=config.players, rules_block=False),
        **buffer,
    )
    copy.refresh(learner.policy.to_network())
    outputs = [TensorBoardOutputFormat(str(tensorboard))] if tensorboard else []
    learner.set_logger(Logger(folder=None, output_formats=outputs))
    return learner


def train(config: TrainConfig, folder: Path, quiet: bool = False) -> tuple[NeuralAgent, list[CurvePoint]]:
    """Run the configuration; returns the finished agent and its learning curve, both also written to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "config.yaml", yaml.safe_dump(config.model_dump(), sort_keys=False).encode())
    copy = FrozenCopy()
    learner = make_learner(config, copy, folder / "tensorboard")
    callback = SelfPlay(config, copy, folder, quiet)
    learner.learn(config.decisions, callback=callback)
    network = learner.policy.to_network()
    model = folder / "model"
    save_model(model, network, model_facts(config, learner.num_timesteps))
    if callback.curve:
        write_file(folder / "curve.json", json.dumps([asdict(point) for point in callback.curve], indent=1).encode())
        draw_curve(callback.curve, callback.reference.name, config, folder / "curve.png")
    return NeuralAgent.load(model), callback.curve


def draw_curve(curve: list[CurvePoint], reference: str, config: TrainConfig, path: Path) -> None:
    """The learning curve with its intervals as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    decisions = [point.decisions for point in curve]
    axes.fill_between(decisions, [p.low for p in curve], [p.high for p in curve], alpha=0.25, linewidth=0)
    axes.plot(decisions, [point.lost for point in curve], marker="o")
    fair = Rules.parse(config.rules).losers / config.players
    axes.axhline(fair, color="grey", linestyle="--", linewidth=1, label="even")
    axes.set(
        xlabel="learner's decisions",
        ylabel=f"games lost against {reference}",
        title=f"{config.name}: {config.players} players, {config.rules}",
        ylim=(0, 1),
    )
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)
