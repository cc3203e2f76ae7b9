"""Every seat that plays the present policy teaches: MaskablePPO's buffer filled with each seat's own trajectory.

A step of the vector environment is one decision in each game, whoever's turn it is.  Advantages run along a seat's own
decisions, not along the table's: a burn repeats a seat, a skip passes one over, a player who is out never comes back,
and the reward of the end belongs to each seat's last decision (generalised advantage estimation, Schulman et al. 2016,
on that chain).  What a rollout's end cuts off is bootstrapped from the value of the seat's next decision: for the seat
to act that is the next observation's; for every other seat its last decision serves as the bootstrap and is itself not
learned from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

from idiot_env._jit import jit
from idiot_env.engine import NOBODY, OVER, SEATS
from idiot_env.seats import LearnerSeats, SeatStep
from idiot_train.practice import practise

_FLAT = ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks", "taught")


class TeachingSeats(LearnerSeats):
    """Games in which all seats whose opponent number is 0 teach, and so does the drawn learner's seat.

    The first entry of ``opponents`` stands for the present policy and is never asked.

    Args:
        place_reward: weight of the place in ``final``, from 0 (the game's own rewards) to 1 (the place alone).
        cut_off_reward: what the seats still in get in ``final`` where the limit cut the game off.
        practice: share of games that begin as endgames, see :mod:`idiot_train.practice`.

    Attributes:
        acted: int64 ``[N]``, the seat that made the last step's decision.
        final: float32 ``[N, S]``, rewards by seat of games that ended in the last step, else 0.
        done: bool ``[N]``, whether the game ended or was cut off in the last step.
    """

    def __init__(
        self, *args: Any, place_reward: float = 0.0, cut_off_reward: float = 0.0, practice: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.place_reward, self.cut_off_reward, self.practice = place_reward, cut_off_reward, practice
        self.acted = np.zeros(self.n, np.int64)
        self.final = np.zeros((self.n, SEATS), np.float32)
        self.done = np.zeros(self.n, np.bool_)

    def step(self, actions: npt.NDArray[np.integer[Any]]) -> SeatStep:
        """Apply one decision in every game, and play on to the next one of a teaching seat."""
        self.acted[:] = self.batch.seat
        self.final[:] = 0
        self.done[:] = False
        return super().step(actions)

    def _deal(self, rows: npt.NDArray[np.int64]) -> None:
        super()._deal(rows)
        if self.practice:
            batch = self.batch
            practise(rows, batch.seeds, self.practice, batch.states, batch.observation, batch.mask, batch.seat)

    def _play_on(self, rows: npt.NDArray[np.int64]) -> None:
        batch = self.batch
        moved = rows
        while len(moved):
            ended = moved[batch.seat[moved] == NOBODY]
            if len(ended):
                self.final[ended] = batch.reward[ended]
                cut = ended[batch.truncated[ended]]
                self.final[cut] = np.where(batch.states["place"][cut] > 0, 0, self.cut_off_reward)
                if self.place_reward:
                    mix_places(ended, batch.states, self.place_reward, self.final)
                self.done[ended] = True
                self.terminated[ended] = batch.terminated[ended]
                self.truncated[ended] = batch.truncated[ended]
                self.reward[ended] = self.final[ended, self.learner[ended]]
                self._tally(ended)
                self._deal(ended)
                self._seat(ended)
            seat = batch.seat[moved].astype(np.int64)
            teaches = (self.opponent[moved, seat] == 0) | (seat == self.learner[moved])
            waiting = moved[~teaches]
            if len(waiting):
                batch.step(self._choose(waiting), waiting)
            moved = waiting


@jit
def mix_places(rows, states, weight, final):
    """Mix into the rewards of games that are over what each place is worth: 1 for the first out, −1 for the last.

    Idiots who share the last places are worth their mean.  A game that was cut off keeps its rewards.
    """
    for k in range(rows.shape[0]):
        state = states[rows[k]]
        if state["phase"] != OVER:
            continue
        players = int(state["players"])
        shared = (int(state["n_out"]) + 1 + players) / 2
        for seat in range(players):
            place = float(state["place"][seat]) if state["place"][seat] > 0 else shared
            worth = 1 - 2 * (place - 1) / (players - 1)
            final[rows[k], seat] = (1 - weight) * final[rows[k], seat] + weight * worth


@jit
def seat_advantages(acted, done, final, values, last_seat, last_values, gamma, gae_lambda, advantages, taught):
    """Advantages ``[T, N]`` along each seat's decisions, and which decisions are taught."""
    steps, games = acted.shape
    for game in range(games):
        value = np.zeros(SEATS, np.float32)
        advantage = np.zeros(SEATS, np.float32)
        reward = np.zeros(SEATS, np.float32)
        known = np.zeros(SEATS, np.bool_)
        value[last_seat[game]] = last_values[game]
        known[last_seat[game]] = True
        for t in range(steps - 1, -1, -1):
            if done[t, game]:
                value[:] = 0
                advantage[:] = 0
                known[:] = True
                reward[:] = final[t, game]
            seat = acted[t, game]
            taught[t, game] = known[seat]
            if known[seat]:
                delta = reward[seat] + gamma * value[seat] - values[t, game]
                advantage[seat] = delta + gamma * gae_lambda * advantage[seat]
            advantages[t, game] = advantage[seat]
            value[seat] = values[t, game]
            reward[seat] = 0
            known[seat] = True


class SeededBuffer(MaskableRolloutBuffer):
    """A rollout buffer that shuffles by a generator of its own.

    Args:
        seed: for the order of minibatches.

    Attributes:
        taught: bool ``[T, N]``, which decisions are learned from.
        order: the generator.
    """

    def __init__(self, *args: Any, seed: int, **kwargs: Any) -> None:
        self.order = np.random.default_rng(seed)
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        super().reset()
        self.taught = np.ones((self.buffer_size, self.n_envs), np.bool_)

    def get(self, batch_size: int | None = None) -> Iterator[MaskableRolloutBufferSamples]:
        """Minibatches of taught decisions in random order; a last one under half the size is left out."""
        if not self.generator_ready:
            for name in _FLAT:
                self.__dict__[name] = self.swap_and_flatten(self.__dict__[name])
            self.generator_ready = True
        order = self.order.permutation(np.flatnonzero(self.taught))
        size = batch_size or len(order)
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            if start == 0 or len(chosen) * 2 >= size:
                yield self._get_samples(chosen)


class SeatBuffer(SeededBuffer):
    """A rollout buffer whose advantages follow the seats.

    Args:
        seats: the games; read after every step.
    """

    def __init__(self, *args: Any, seats: TeachingSeats, **kwargs: Any) -> None:
        self.seats = seats
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        super().reset()
        shape = self.buffer_size, self.n_envs
        self.acted = np.zeros(shape, np.int64)
        self.done = np.zeros(shape, np.bool_)
        self.final = np.zeros((*shape, SEATS), np.float32)

    def add(self, *args: Any, **kwargs: Any) -> None:
        self.acted[self.pos], self.done[self.pos], self.final[self.pos] = (
            self.seats.acted,
            self.seats.done,
            self.seats.final,
        )
        super().add(*args, **kwargs)

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: np.ndarray) -> None:
        seat_advantages(
            self.acted,
            self.done,
            self.final,
            self.values,
            self.seats.batch.seat.astype(np.int64),
            last_values.clone().cpu().numpy().flatten(),
            self.gamma,
            self.gae_lambda,
            self.advantages,
            self.taught,
        )
        self.returns = self.advantages + self.values
