"""RLlib's worker: many games side by side, and each seat's decisions in them as an episode of its own.

RLlib's own workers step one Python environment after another; this one asks the network once for all games of a step
(``idiot_env.seats``, compiled) and hands over arrays.  Between calls it does what ``idiot_train.ppo`` does between
rollouts: it refreshes the frozen copy, takes snapshots, and weighs them by its own results.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_AGENT_ID, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.metrics import (
    NUM_AGENT_STEPS_SAMPLED,
    NUM_AGENT_STEPS_SAMPLED_LIFETIME,
    NUM_ENV_STEPS_SAMPLED,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_EPISODES,
    NUM_EPISODES_LIFETIME,
    NUM_MODULE_STEPS_SAMPLED,
    NUM_MODULE_STEPS_SAMPLED_LIFETIME,
    SAMPLE_TIMER,
    WEIGHTS_SEQ_NO,
)

from idiot_env.engine import SEATS
from idiot_env.seats import LearnerSeats
from idiot_train.all_seats import TeachingSeats
from idiot_train.config import TrainConfig
from idiot_train.opponents import Opponents
from idiot_train.ppo import make_seats
from idiot_train.trajectories import Trajectories, Trajectory
from idiot_train.vec_env import LearnerVecEnv

CONFIG = "config"
"""Where RLlib's ``env_config`` holds our configuration, as a dictionary; its ``games`` are those of one worker."""


def episode_of(found: Trajectory, worker: int) -> SingleAgentEpisode:
    """A trajectory as RLlib takes it."""
    return SingleAgentEpisode(
        id_=f"{worker}-{found.game}-{found.seat}",
        observations=found.observation,
        infos=[{}] * len(found.observation),
        actions=found.action,
        rewards=found.reward,
        extra_model_outputs={Columns.ACTION_LOGP: found.log_probability},
        terminated=found.ended,
        len_lookback_buffer=0,
    )


class SeatRunner(EnvRunner, Checkpointable):
    """Plays the rows of the vector environment with the present policy."""

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        torch.set_num_threads(1)
        self.spaces = kwargs.get("spaces") or {}
        self.settings = TrainConfig(**self.config.env_config[CONFIG])
        worker = self.worker_index or 0
        # A worker that takes a lost one's place draws other deals than that one has played.
        again = worker > 0 and ray.get_runtime_context().was_current_actor_reconstructed
        own = np.random.SeedSequence([self.settings.seed, worker, int(again)])
        deals, draws = own.generate_state(2, np.uint64)
        self._deals = int(deals >> np.uint64(1))
        self._generator = torch.Generator().manual_seed(int(draws >> np.uint64(1)))
        self._weights_seq_no = 0
        self._rollout = 0
        self.env: LearnerVecEnv | None = None
        if worker or not self.config.num_env_runners:
            self.make_env()
        self.module: Any = None
        self.make_module()

    # --- games -------------------------------------------------------------------------------------------------------

    def make_env(self) -> None:
        """Deal the worker's games."""
        self.opponents = Opponents(self.settings)
        self.seats: LearnerSeats = make_seats(self.settings, self.opponents)
        self.env = LearnerVecEnv(self.seats, self._deals, perfect=self.settings.critic == "perfect")
        self._seen: np.ndarray | None = None
        self._trajectories = Trajectories(self.settings.games)

    def make_module(self) -> None:
        """The policy; its weights come from the learner."""
        spec = self.config.get_rl_module_spec(spaces=self.get_spaces(), inference_only=True)
        self.module = spec.build()

    def get_spaces(self) -> dict[str, Any]:
        """What the module reads and chooses."""
        both = self.config.observation_space, self.config.action_space
        return {INPUT_ENV_SPACES: both, INPUT_ENV_SINGLE_SPACES: both, DEFAULT_MODULE_ID: both}

    def assert_healthy(self) -> None:
        assert self.module is not None

    def sample(self, **kwargs: Any) -> list[SingleAgentEpisode]:
        """``horizon`` decisions in every game; each seat's decisions whose outcome, or whose next one, is known."""
        env, settings = self.env, self.settings
        if env is None:
            raise RuntimeError("this worker has no games: it only keeps the weights.")
        with self.metrics.log_time(SAMPLE_TIMER):
            self._between_rollouts()
            if self._seen is None:
                self._seen = env.reset()
            games = 0
            for _ in range(settings.horizon):
                seen = np.concatenate([self._seen, env.action_masks()], axis=1)
                actions, log_probabilities = self.module.draw(torch.from_numpy(seen), self._generator)
                chosen, learner = actions.numpy(), self.seats.learner.copy()
                self._seen, reward, done = env.advance(chosen)
                if isinstance(self.seats, TeachingSeats):
                    seat, final, done = self.seats.acted, self.seats.final, self.seats.done.copy()
                else:
                    seat, final = learner, np.zeros((len(done), SEATS), np.float32)
                    final[np.arange(len(done)), learner] = reward
                self._trajectories.add(seat, seen, chosen, log_probabilities.numpy(), done, final)
                games += int(done.sum())
            found = self._trajectories.cut()
        self._count(settings.horizon * settings.games, games)
        return [episode_of(trajectory, self.worker_index or 0) for trajectory in found]

    def _between_rollouts(self) -> None:
        settings, rollout = self.settings, self._rollout
        self._rollout += 1
        network = None
        if rollout % settings.refresh_rollouts == 0 and not isinstance(self.seats, TeachingSeats):
            network = self.module.to_network()
            self.opponents.copy.refresh(network)
        if self.opponents.past:
            if rollout and rollout % settings.past_rollouts == 0:
                self.opponents.snapshot(network or self.module.to_network())
            self.opponents.take_results(self.seats)

    # --- figures -----------------------------------------------------------------------------------------------------

    def _count(self, decisions: int, games: int) -> None:
        """Log what was played; decisions that are held back until a seat's next one count when they are made."""
        log = self.metrics.log_value
        log(NUM_ENV_STEPS_SAMPLED, decisions, reduce="sum")
        log((NUM_AGENT_STEPS_SAMPLED, DEFAULT_AGENT_ID), decisions, reduce="sum")
        log((NUM_MODULE_STEPS_SAMPLED, DEFAULT_MODULE_ID), decisions, reduce="sum")
        log(NUM_EPISODES, games, reduce="sum")
        log(NUM_ENV_STEPS_SAMPLED_LIFETIME, decisions, reduce="lifetime_sum", with_throughput=True)
        log((NUM_AGENT_STEPS_SAMPLED_LIFETIME, DEFAULT_AGENT_ID), decisions, reduce="lifetime_sum")
        log((NUM_MODULE_STEPS_SAMPLED_LIFETIME, DEFAULT_MODULE_ID), decisions, reduce="lifetime_sum")
        log(NUM_EPISODES_LIFETIME, games, reduce="lifetime_sum", with_throughput=True)
        self.num_env_steps_sampled_lifetime += decisions

    def get_metrics(self) -> Any:
        return self.metrics.reduce()

    # --- weights -----------------------------------------------------------------------------------------------------

    def get_state(
        self,
        components: str | Collection[str] | None = None,
        *,
        not_components: str | Collection[str] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        state: dict[str, Any] = {NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime}
        if self._check_component(COMPONENT_RL_MODULE, components, not_components):
            state[COMPONENT_RL_MODULE] = self.module.get_state(**kwargs)
            state[WEIGHTS_SEQ_NO] = self._weights_seq_no
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        if COMPONENT_RL_MODULE in state:
            number = state.get(WEIGHTS_SEQ_NO, 0)
            if number == 0 or self._weights_seq_no < number:
                weights = state[COMPONENT_RL_MODULE]
                if isinstance(weights, ray.ObjectRef):
                    weights = ray.get(weights)
                self.module.set_state(weights.get(DEFAULT_MODULE_ID, weights))
            self._weights_seq_no = max(number, self._weights_seq_no)
        if NUM_ENV_STEPS_SAMPLED_LIFETIME in state:
            self.num_env_steps_sampled_lifetime = state[NUM_ENV_STEPS_SAMPLED_LIFETIME]

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[()], dict[str, Any]]:
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        return [(COMPONENT_RL_MODULE, self.module)]
