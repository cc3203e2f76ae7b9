"""Self-play PPO, from the configuration to a finished model: read it from top to bottom.

MaskablePPO (:class:`idiot_train.learner.SelfPlayPPO`) learns on :class:`idiot_train.vec_env.LearnerVecEnv`.  In each
game one drawn seat is the learner's; the others are drawn, in the shares that the configuration gives, among named
agents and snapshots of the learner (:mod:`idiot_train.opponents`), which act inside the step, and ``self``.  With
``teach: one_seat`` that is a frozen copy of the learner (refreshed every ``refresh_rollouts`` rollouts), also inside
the step; with ``teach: all_seats`` the learner plays these seats itself and learns from all of them.  A run leaves, in
its folder:

===========================  ==========================================================================================
``config.yaml``              the configuration, changes included
``model/``                   the finished model, see ``idiot_agents.network``
``checkpoints/DECISIONS/``   the last ``keep_checkpoints`` models on the way, and the best
``state.safetensors``        while the run is unfinished: what ``--resume`` goes on from
``curve.json``, ``curve.png``  share of games lost to the first of ``references`` over the learner's decisions
``bench.json``               the final benchmark
``tensorboard/``             for TensorBoard
===========================  ==========================================================================================
"""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
import yaml
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from tqdm import tqdm

from idiot_agents.errors import InputError
from idiot_agents.network import CARD, WEIGHTS, Encoder, load_model, write_file
from idiot_agents.neural import NeuralAgent
from idiot_agents.shipped import model_folder
from idiot_env.seats import LearnerSeats
from idiot_train.all_seats import SeatBuffer, SeededBuffer, TeachingSeats
from idiot_train.config import TrainConfig
from idiot_train.curve import Curve, CurvePoint
from idiot_train.learner import SelfPlayPPO
from idiot_train.opponents import Opponents
from idiot_train.policy import IdiotPolicy
from idiot_train.state import STATE_FILE, load_state, save_state
from idiot_train.tables import make_pool
from idiot_train.vec_env import LearnerVecEnv


def linear(start: float, end: float) -> Any:
    """A schedule over SB3's ``progress_remaining``, which falls from 1 to 0."""
    return lambda remaining: end + (start - end) * remaining


class SelfPlay(BaseCallback):
    """What happens between rollouts: opponents refreshed, entropy bonus lowered, evaluation, saving, progress."""

    def __init__(self, config: TrainConfig, opponents: Opponents, folder: Path, quiet: bool) -> None:
        super().__init__()
        self.config, self.opponents, self.folder = config, opponents, folder
        self.curve = Curve(config, folder)
        self.bar = tqdm(total=config.decisions, unit=" decisions", unit_scale=True, disable=quiet, mininterval=1.0)
        self._rollout = 0
        self._seconds_before = 0.0

    def _on_training_start(self) -> None:
        self._start = time.monotonic()

    @property
    def policy(self) -> IdiotPolicy:
        return self.model.policy

    @property
    def seconds(self) -> float:
        """Since the start, without the time between a stop and a resumption."""
        return self._seconds_before + time.monotonic() - self._start

    def _on_rollout_start(self) -> None:
        config, rollout = self.config, self._rollout
        done = self.num_timesteps / config.decisions
        if rollout % config.save_rollouts == 0:
            self.save()
        self.model.ent_coef = linear(config.entropy, config.final_entropy)(max(0.0, 1.0 - done))
        if rollout % config.refresh_rollouts == 0:
            self.opponents.copy.refresh(self.policy.to_network())
        if self.opponents.past:
            if rollout and rollout % config.past_rollouts == 0:
                self.opponents.snapshot(self.policy.to_network())
            self.opponents.take_results(self.model.env.seats)
        if self.curve.is_due(self.num_timesteps):
            self.evaluate()
        self._rollout += 1

    def _on_rollout_end(self) -> None:
        self.bar.update(self.num_timesteps - self.bar.n)

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self._on_rollout_end()
        if self.config.evaluations:
            self.evaluate()
        self.bar.close()

    def save(self) -> None:
        """Write the state, from which a stopped run goes on."""
        facts = {
            "curve": [asdict(point) for point in self.curve.points],
            "best": self.curve.best,
            "rollout": self._rollout,
            "seconds": self.seconds,
            "torch": torch.__version__,
        }
        save_state(self.folder / STATE_FILE, self.model, self.opponents, facts)

    def load(self, learner: SelfPlayPPO) -> None:
        """Take up the state that :meth:`save` has written."""
        facts = load_state(self.folder / STATE_FILE, learner, self.opponents)
        self.curve.points = [CurvePoint(**point) for point in facts["curve"]]
        self.curve.best, self._rollout = facts["best"], facts["rollout"]
        self._seconds_before = facts["seconds"]
        self.bar.update(learner.num_timesteps)

    def evaluate(self) -> None:
        """One point of the curve, and a checkpoint."""
        point = self.curve.measure(self.policy.to_network(), self.num_timesteps, self.seconds)
        self.bar.set_postfix_str(f"lost to {self.curve.references[0].name} {point.lost:.1%}")
        self.logger.record("eval/lost", point.lost)
        self.logger.record("eval/relative", point.relative)


def make_seats(config: TrainConfig, opponents: Opponents) -> LearnerSeats:
    """The games that the configuration describes: those of :class:`TeachingSeats` if all seats teach."""
    all_seats = config.teach == "all_seats"
    own = dict(place_reward=config.place_reward, cut_off_reward=config.cut_off_reward, practice=config.practice)
    make: Any = partial(TeachingSeats, **own) if all_seats else LearnerSeats
    rules, players = config.tables[0]
    seats: LearnerSeats = make(
        config.games,
        opponents.policies,
        shares=opponents.shares,
        rules=rules,
        players=players,
        max_decisions=config.max_decisions,
        pool=make_pool(config),
    )
    return seats


def make_learner(config: TrainConfig, opponents: Opponents, tensorboard: Path | None = None) -> SelfPlayPPO:
    """The learner on the vector environment that the configuration describes."""
    torch.set_num_threads(config.threads)
    seats = make_seats(config, opponents)
    order: dict[str, Any] = dict(seed=config.seed)
    if isinstance(seats, TeachingSeats):
        order["seats"] = seats
    perfect = config.critic == "perfect"
    learner = SelfPlayPPO(
        IdiotPolicy,
        LearnerVecEnv(seats, config.seed, perfect=perfect),
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
        policy_kwargs=dict(widths=config.widths, encoder=make_encoder(config), perfect_critic=perfect),
        rollout_buffer_class=SeatBuffer if "seats" in order else SeededBuffer,
        rollout_buffer_kwargs=order,
    )
    if config.start:
        learner.policy.start_from(load_model(model_folder(config.start))[0])
    opponents.copy.refresh(learner.policy.to_network())
    outputs = [TensorBoardOutputFormat(str(tensorboard))] if tensorboard else []
    learner.set_logger(Logger(folder=None, output_formats=outputs))
    return learner


def make_encoder(config: TrainConfig) -> Encoder:
    """What the model reads: all seats that it may meet, and the house rules if there is more than one table.

    A run that starts from a model reads what that one reads, be it more than its own table needs.

    Raises:
        InputError: if that is less than it needs, if the starting model is none, or is built otherwise.
    """
    several = len(config.table_names) > 1 or config.house_rules > 0
    needed = Encoder.make(max(config.player_numbers), several, config.memory)
    if not config.start:
        return needed
    start = load_model(model_folder(config.start))[0]
    there, widths = start.encoder, [len(bias) for _, bias in start.trunk]
    if widths != config.widths:
        raise InputError(
            f"start={config.start!r} is not possible: its widths are {widths}, this run's {config.widths}."
        )
    if there.players < needed.players or (several and not there.rules) or there.memory != needed.memory:
        raise InputError(
            f"start={config.start!r} is not possible: it reads {_inputs(there)}, and this run needs {_inputs(needed)}."
        )
    return there


def _inputs(encoder: Encoder) -> str:
    rules, memory = ("with" if there else "without" for there in (encoder.rules, encoder.memory))
    return f"{encoder.players} players {rules} house rules, {memory} memory"


def train(
    config: TrainConfig, folder: Path, quiet: bool = False, resume: bool = False, keep_state: bool = False
) -> tuple[NeuralAgent, list[CurvePoint]]:
    """Run the configuration; returns the finished agent and its learning curve, both also written to ``folder``.

    Args:
        resume: go on from the state that was saved in ``folder``; on one thread the result is the same, bit for bit, as
            if the run had never stopped.
        keep_state: leave the last saved state for a caller whose work is not done yet.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "config.yaml", yaml.safe_dump(config.model_dump(), sort_keys=False).encode())
    opponents = Opponents(config)
    learner = make_learner(config, opponents, folder / "tensorboard")
    callback = SelfPlay(config, opponents, folder, quiet)
    if resume:
        callback.load(learner)
        for name in (STATE_FILE, WEIGHTS, CARD):
            for half_written in folder.rglob(f".{name}.*"):  # by a process that was killed
                half_written.unlink()
    learner.learn(config.decisions - learner.num_timesteps, callback=callback, reset_num_timesteps=not resume)
    agent = callback.curve.finish(learner.policy.to_network(), learner.num_timesteps)
    if not keep_state:
        (folder / STATE_FILE).unlink(missing_ok=True)
    return agent, callback.curve.points
