"""Each seat's own decisions out of many games side by side, as trajectories that a learner takes one by one.

A step is one decision in each of N games, whoever's turn it is.  What a cut in mid-game leaves open is not lost: a
seat's last decision gives the bootstrap observation of the trajectory before it, and begins the one after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idiot_env.engine import SEATS


@dataclass(frozen=True)
class Trajectory:
    """Consecutive decisions of one seat in one game.

    Attributes:
        game, seat: whose; games are numbered from 0 on as they begin.
        observation: int8 ``[T + 1, …]``; the last one is the seat's next decision, or of no meaning where it ended.
        action: int64 ``[T]``.
        log_probability: float32 ``[T]``, of the actions when they were drawn.
        reward: float32 ``[T]``, the game's reward to this seat on the last decision and 0 elsewhere.
        ended: whether the game is over or cut off, so that nothing is to be expected beyond.
    """

    game: int
    seat: int
    observation: npt.NDArray[np.int8]
    action: npt.NDArray[np.int64]
    log_probability: npt.NDArray[np.float32]
    reward: npt.NDArray[np.float32]
    ended: bool


class Trajectories:
    """Collects steps of N games and cuts them into trajectories.

    Args:
        games: N.
    """

    def __init__(self, games: int) -> None:
        self._game = np.arange(games, dtype=np.int64)
        self._begun = games
        self._final: dict[int, npt.NDArray[np.float32]] = {}
        # Columns of the decisions that no trajectory has yet: game, seat, observation, action, log-probability.
        self._open: list[list[np.ndarray]] = [[] for _ in range(5)]

    def add(
        self,
        seat: npt.NDArray[np.int64],
        observation: npt.NDArray[np.int8],
        action: npt.NDArray[np.int64],
        log_probability: npt.NDArray[np.float32],
        done: npt.NDArray[np.bool_],
        final: npt.NDArray[np.float32],
    ) -> None:
        """Take in a step.

        Args:
            seat: ``[N]``, who decided.
            observation: ``[N, …]``, what it saw; kept as it is, so nobody may overwrite it.
            action, log_probability: ``[N]``.
            done: ``[N]``, whether the game ended with it.
            final: ``[N, S]``, rewards by seat where it did.
        """
        step = (self._game.copy(), seat.copy(), observation, action, log_probability)
        for column, values in zip(self._open, step, strict=True):
            column.append(values)
        rows = np.flatnonzero(done)
        for row in rows:
            self._final[int(self._game[row])] = final[row].copy()
        self._game[rows] = self._begun + np.arange(len(rows))
        self._begun += len(rows)

    def cut(self) -> list[Trajectory]:
        """All that can be learned from since the last cut: every decision but each seat's last in unfinished games."""
        if not self._open[0]:
            return []
        game, seat, observation, action, log_probability = (np.concatenate(column) for column in self._open)
        key = game * SEATS + seat
        order = np.argsort(key, kind="stable")
        ends = np.flatnonzero(np.diff(key[order], append=-1)) + 1
        found: list[Trajectory] = []
        held: list[int] = []
        start = 0
        for end in ends.tolist():
            mine = order[start:end]
            start = end
            number, who = int(game[mine[0]]), int(seat[mine[0]])
            final = self._final.get(number)
            if final is None:
                held.append(int(mine[-1]))
                seen, mine = mine, mine[:-1]
            else:
                seen = np.append(mine, mine[-1])
            if len(mine):
                reward = np.zeros(len(mine), np.float32)
                if final is not None:
                    reward[-1] = final[who]
                found.append(
                    Trajectory(
                        number, who, observation[seen], action[mine], log_probability[mine], reward, final is not None
                    )
                )
        columns = (game, seat, observation, action, log_probability)
        self._open = [[column[held]] for column in columns] if held else [[] for _ in columns]
        self._final.clear()
        return found
