"""Stable-Baselines3's view of the game: each row is one learner seat's own consecutive decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from idiot_env.actions import N_ACTIONS
from idiot_env.hidden import HIDDEN_SIZE, write_hidden_rows
from idiot_env.hidden import LAYOUT as HIDDEN_LAYOUT
from idiot_env.observation import upper_bounds
from idiot_env.seats import LearnerSeats

MASK_METHOD = "action_masks"


class LearnerVecEnv(VecEnv):
    """:class:`idiot_env.seats.LearnerSeats` as an SB3 ``VecEnv`` with action masks.

    Observations int8 ``[N, O]``, masks int8 ``[N, A]``; rewards float32 ``[N]`` only where a row's game is settled.  A
    game cut off by the limit ends its row with reward 0 and is not bootstrapped: the rules give it no result.  Unlike
    :class:`LearnerSeats` this hands out copies, as SB3 keeps what it is given until the next step.

    Args:
        seats: the games.
        seed: of all deals.
        perfect: put what the seat cannot see behind its observation, int8 ``[N, O + HIDDEN_SIZE]``: for a critic that
            is thrown away after training, never for a policy.
    """

    def __init__(self, seats: LearnerSeats, seed: int, *, perfect: bool = False) -> None:
        self.seats = seats
        self._start_seed = seed
        self.render_mode = None
        self._hidden = np.zeros((seats.n, HIDDEN_SIZE), np.int8) if perfect else None
        high = np.concatenate([upper_bounds(), upper_bounds(HIDDEN_LAYOUT)]) if perfect else upper_bounds()
        space = gymnasium.spaces.Box(0, high, high.shape, np.int8)
        super().__init__(seats.n, space, gymnasium.spaces.Discrete(N_ACTIONS))
        self._actions = np.zeros(seats.n, np.int64)
        self._decisions = np.zeros(seats.n, np.int64)

    def reset(self) -> np.ndarray:
        """Deal all games from the seed; a second reset starts the same run again unless :meth:`seed` came between."""
        self._decisions[:] = 0
        self.seats.reset(self._start_seed)
        return self._rows_seen()

    def _rows_seen(self) -> np.ndarray:
        """A copy of all observations, with what is hidden behind them on request."""
        if self._hidden is None:
            return self.seats.observation.copy()
        write_hidden_rows(self.seats.batch.states, self.seats.batch.seat, self._hidden)
        return np.concatenate([self.seats.observation, self._hidden], axis=1)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        if seed is not None:
            self._start_seed = seed
        return [seed] * self.num_envs

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def advance(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A step without SB3's dictionaries: observations, rewards ``[N]`` and which episodes ended, bool ``[N]``."""
        step = self.seats.step(actions)
        return self._rows_seen(), step.reward.copy(), step.terminated | step.truncated

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        observation, reward, done = self.advance(self._actions)
        self._decisions += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(done):
            infos[row]["episode"] = {"r": float(reward[row]), "l": int(self._decisions[row]), "t": 0.0}
            self._decisions[row] = 0
        return observation, reward, done, infos

    def close(self) -> None:
        pass

    def action_masks(self) -> np.ndarray:
        """int8 ``[N, A]``."""
        return self.seats.mask.copy()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        rows = list(self._rows(indices))
        if attr_name == MASK_METHOD:
            return [lambda row=row: self.seats.mask[row].copy() for row in rows]
        return [getattr(self, attr_name) for _ in rows]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError(f"{attr_name} cannot be set: the rows share one LearnerSeats.")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        if method_name != MASK_METHOD:
            raise AttributeError(f"{method_name} is no method of a row: there is {MASK_METHOD}.")
        return list(self.seats.mask[list(self._rows(indices))])

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper], indices: Any = None) -> list[bool]:
        return [False for _ in self._rows(indices)]

    def _rows(self, indices: Any) -> Iterable[int]:
        return self._get_indices(indices)
