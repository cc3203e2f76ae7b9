"""One learner seat per game, the other seats played inside the step: what Gymnasium's and SB3's vector views share.

Row i of every array is one learner's own consecutive decisions, however often a burn repeats its seat and however many
opponents act in between.  Its episode ends when its fate is settled: the game is over, it is cut off (reward 0), or the
seat is out — then no later action can change its reward, and the next game is dealt at once, or on request
(``autoreset=False``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from idiot_env._jit import jit
from idiot_env.batched import Batch
from idiot_env.cards import advance, below, stream
from idiot_env.engine import NOBODY, SEATS, reward_of_out
from idiot_env.observation import OBSERVATION_SIZE, write_observation

_LEARNER_STREAM = 1000
_TABLE_STREAM = 4000


class Policy(Protocol):
    """An opponent: ``idiot_agents.protocol.BatchAgent`` is one."""

    def act_batch(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], streams: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Legal actions int64 ``[K]`` for K views, see ``idiot_agents.protocol``."""
        ...


@jit
def draw_legal(mask, streams, actions):
    """A uniformly drawn legal action for each of K masks into ``actions``; advances ``streams``."""
    for k in range(actions.shape[0]):
        streams[k] = advance(streams[k])
        legal = 0
        for action in range(mask.shape[1]):
            legal += mask[k, action]
        skip = below(streams[k], legal)
        for action in range(mask.shape[1]):
            if mask[k, action] == 1:
                if skip == 0:
                    actions[k] = action
                    break
                skip -= 1


class UniformPlay:
    """The opponent of who names none: draws uniformly among the legal actions, from each seat's random stream."""

    def act_batch(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], streams: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """One drawn action for each of K views, see :class:`Policy`."""
        actions = np.empty(len(streams), np.int64)
        draw_legal(mask, streams, actions)
        return actions


class SeatStep(NamedTuple):
    """What a step returns to N learners."""

    observation: npt.NDArray[np.int8]
    mask: npt.NDArray[np.int8]
    reward: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]


@jit
def seat_game(i, seeds, players, fixed_seat, shares, learner, opponent, streams):
    """Draw, from the game's own seed, the learner's seat, each seat's opponent and each seat's random stream."""
    random_state = stream(seeds[i], _LEARNER_STREAM)
    learner[i] = below(random_state, players) if fixed_seat < 0 else fixed_seat
    for seat in range(SEATS):
        streams[i, seat] = stream(seeds[i], seat)
        random_state = advance(random_state)
        ticket = below(random_state, 1 << 20) / (1 << 20)
        kind = 0
        while kind < shares.shape[0] - 1 and ticket >= shares[kind]:
            kind += 1
        opponent[i, seat] = kind


@jit
def seat_games(rows, tables, seeds, fixed_seat, shares, learner, opponent, streams):
    for k in range(rows.shape[0]):
        i = rows[k]
        seat_game(i, seeds, int(tables[i]["players"]), fixed_seat, shares, learner, opponent, streams)


@jit
def draw_tables(rows, pool, row_seeds, episodes, tables):
    """Draw the table of the next game in each row, from the row's seed and the game's number."""
    for k in range(rows.shape[0]):
        i = rows[k]
        random_state = stream(stream(row_seeds[i], _TABLE_STREAM), episodes[i])
        tables[i] = pool[below(random_state, pool.shape[0])]


@jit
def settle(rows, states, learner, over, cut, reward, terminated, truncated, finished):
    """Write the rewards of learners whose fate is settled; returns how many rows of ``finished`` it filled."""
    n = 0
    for k in range(rows.shape[0]):
        i = rows[k]
        me = learner[i]
        if over[i]:
            reward[i] = reward_of_out(states[i]) if states[i]["place"][me] > 0 else np.float32(-1.0)
            terminated[i] = True
        elif cut[i]:
            truncated[i] = True
        elif states[i]["place"][me] > 0:
            reward[i] = reward_of_out(states[i])
            terminated[i] = True
        else:
            continue
        finished[n] = i
        n += 1
    return n


@jit
def tally(rows, tables, learner, opponent, reward, met, lost_to):
    """Count, for each opponent at the tables of settled games, that the learner met it, and whether it was an idiot."""
    for k in range(rows.shape[0]):
        i = rows[k]
        for seat in range(int(tables[i]["players"])):
            if seat != learner[i]:
                met[opponent[i, seat]] += 1
                lost_to[opponent[i, seat]] += reward[i] < 0


@jit
def show_ends(rows, states, learner, observation):
    """Write what the learners in ``rows`` see of the games that are settled for them."""
    for k in range(rows.shape[0]):
        i = rows[k]
        write_observation(states[i], learner[i], observation[i])


class LearnerSeats:
    """N games with one learner seat each.

    Args:
        n: number of games.
        opponents: policies for the other seats.
        shares: how often each of them is drawn for a seat (default: equally).
        rules, players, max_decisions: as in ``batched.Batch``.
        seat: the learner's seat; drawn for every game unless given.
        autoreset: deal the next game within the step that settles one.  Otherwise ``observation`` is the learner's last
            view of it and ``mask`` empty, and steps pass the row over until :meth:`next_games`.
        last_views: keep the learners' last views, which autoreset replaces by the next game's first.
        pool: tables ``[P]`` of ``batched.TABLE``, of which each game draws one in place of ``rules`` and ``players``.

    Attributes:
        last_view: int8 ``[N, O]``, the learner's view at the end of its last settled game; ``None`` without
            ``last_views``.
        met, lost_to: int64 ``[len(opponents)]``, how often a learner has met each opponent in a settled game, and how
            often it was then an idiot; for whoever keeps score, who may set them to 0.

    Raises:
        ValueError: for an impossible table, seat or shares.
    """

    def __init__(
        self,
        n: int,
        opponents: Sequence[Policy],
        *,
        shares: Sequence[float] | None = None,
        rules: Any = "standard",
        players: int | Sequence[int] = 2,
        max_decisions: int = 2000,
        seat: int | None = None,
        autoreset: bool = True,
        last_views: bool = False,
        pool: npt.NDArray[np.void] | None = None,
    ) -> None:
        self.batch = Batch(n, rules, players, max_decisions=max_decisions, autoreset="disabled")
        self.pool = pool
        fewest = int((self.batch.tables if pool is None else pool)["players"].min())
        whole = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
        if seat is not None and not (whole and 0 <= seat < fewest):
            raise ValueError(f"seat={seat!r} is not possible: give a seat from 0 to {fewest - 1}.")
        self.n = n
        self.autoreset = autoreset
        self.last_view = np.zeros((n, OBSERVATION_SIZE), np.int8) if last_views else None
        self.opponents = list(opponents)
        for policy in self.opponents:
            if not hasattr(policy, "act_batch"):
                raise ValueError(f"{policy!r} is no opponent: it has no act_batch(observation, mask, streams).")
        self.set_shares(np.ones(len(self.opponents)) if shares is None else shares)
        self.met = np.zeros(len(self.opponents), np.int64)
        self.lost_to = np.zeros(len(self.opponents), np.int64)
        self._fixed_seat = -1 if seat is None else int(seat)
        self.learner = np.zeros(n, np.int64)
        self.opponent = np.zeros((n, SEATS), np.int64)
        self.streams = np.zeros((n, SEATS), np.int64)
        self.reward = np.zeros(n, np.float32)
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self._finished = np.zeros(n, np.int64)
        self._rows = np.arange(n, dtype=np.int64)
        self._torn = False  # an opponent failed: rows are left where its turn was

    def set_shares(self, shares: Sequence[float] | npt.NDArray[np.float64]) -> None:
        """From the next deal on, draw each opponent in proportion to its share.

        Raises:
            ValueError: for anything but one number of at least 0 for each opponent.
        """
        weights = np.asarray(shares, dtype=np.float64)
        fits = len(self.opponents) > 0 and weights.shape == (len(self.opponents),)
        if not fits or not np.isfinite(weights).all() or (weights < 0).any() or weights.sum() <= 0:
            raise ValueError(f"shares={shares!r} is not possible: give one number of at least 0 for each opponent.")
        self._shares = np.cumsum(weights / weights.sum())

    @property
    def observation(self) -> npt.NDArray[np.int8]:
        """int8 ``[N, O]``, overwritten by the next step."""
        return self.batch.observation

    @property
    def mask(self) -> npt.NDArray[np.int8]:
        """int8 ``[N, A]``, overwritten by the next step."""
        return self.batch.mask

    def reset(self, seeds: int | npt.ArrayLike) -> SeatStep:
        """Deal all games and play to every learner's first decision."""
        self.batch.seed_rows(seeds)
        self._deal(self._rows)
        return self.start(self._rows)

    def next_games(self, rows: npt.NDArray[np.int64]) -> SeatStep:
        """Deal the next game in ``rows``, whether or not the present one is settled; as :meth:`reset`."""
        self._deal(rows)
        return self.start(rows)

    def start(self, rows: npt.NDArray[np.int64]) -> SeatStep:
        """Seat the learners of games that ``batch`` has dealt and play to their first decisions.

        A game that is cut off before the learner's first decision is nobody's: the next one is dealt.
        """
        self.batch.terminated[rows] = False
        self.batch.truncated[rows] = False
        self._clear()
        torn, self._torn = self._torn and len(rows) < self.n, True
        self._seat(rows)
        self._play_on(rows)
        self._torn = torn
        early = rows[(self.terminated | self.truncated)[rows]]
        self._clear()
        return self._outputs() if self.autoreset or not len(early) else self.next_games(early)

    def step(self, actions: npt.NDArray[np.integer[Any]]) -> SeatStep:
        """Apply every learner's action ``[N]`` and play to its next decision, in the next game where one ended.

        Raises:
            IllegalAction: before anything has moved.
            RuntimeError: before the first deal, and after a step in which an opponent failed, until :meth:`reset`.
        """
        if self._torn:
            raise RuntimeError("an opponent failed in the last step, which is half done: call reset().")
        self._clear()
        rows = self._rows if self.autoreset else np.flatnonzero(self.batch.seat != NOBODY)
        self.batch.step(actions)
        self._torn = True
        self._play_on(rows)
        self._torn = False
        return self._outputs()

    def _clear(self) -> None:
        self.reward[:] = 0
        self.terminated[:] = False
        self.truncated[:] = False

    def _outputs(self) -> SeatStep:
        return SeatStep(self.observation, self.mask, self.reward, self.terminated, self.truncated)

    def _deal(self, rows: npt.NDArray[np.int64]) -> None:
        """Deal the next game in ``rows``, at a table from the pool if there is one."""
        if self.pool is not None:
            draw_tables(rows, self.pool, self.batch.row_seeds, self.batch.episodes, self.batch.tables)
        self.batch.reset_games(rows)

    def _seat(self, rows: npt.NDArray[np.int64]) -> None:
        seat_games(rows, self.batch.tables, self.batch.seeds, self._fixed_seat, self._shares, self.learner,
                   self.opponent, self.streams)  # fmt: skip

    def _play_on(self, rows: npt.NDArray[np.int64]) -> None:
        """Let opponents act until every row waits for its learner; :meth:`_end` a learner's settled game."""
        batch = self.batch
        moved = rows
        while len(moved):
            n = settle(moved, batch.states, self.learner, batch.terminated, batch.truncated, self.reward,
                       self.terminated, self.truncated, self._finished)  # fmt: skip
            if n:
                finished = self._finished[:n].copy()
                self._tally(finished)
                self._end(finished)
            waiting = moved[(batch.seat[moved] != self.learner[moved]) & (batch.seat[moved] != NOBODY)]
            if len(waiting):
                batch.step(self._choose(waiting), waiting)
            moved = waiting

    def _tally(self, rows: npt.NDArray[np.int64]) -> None:
        tally(rows, self.batch.tables, self.learner, self.opponent, self.reward, self.met, self.lost_to)

    def _end(self, finished: npt.NDArray[np.int64]) -> None:
        """Deal the next game, or leave the settled one so that it shows its end to the learner and waits."""
        batch = self.batch
        if self.last_view is not None:
            show_ends(finished, batch.states, self.learner, self.last_view)
        if self.autoreset:
            self._deal(finished)
            batch.terminated[finished] = False
            batch.truncated[finished] = False
            self._seat(finished)
        else:
            show_ends(finished, batch.states, self.learner, batch.observation)
            batch.mask[finished] = 0
            batch.seat[finished] = NOBODY

    def _choose(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The opponents' actions in ``rows``."""
        seats = self.batch.seat[rows]
        kinds = self.opponent[rows, seats]
        streams = self.streams[rows, seats]
        actions = np.empty(len(rows), np.int64)
        for kind, policy in enumerate(self.opponents):
            mine = np.flatnonzero(kinds == kind)
            if len(mine):
                chosen = rows[mine]
                own = streams[mine]
                actions[mine] = policy.act_batch(self.observation[chosen], self.mask[chosen], own)
                streams[mine] = own
        self.streams[rows, seats] = streams
        return actions


__all__ = ["LearnerSeats", "Policy", "SeatStep", "UniformPlay"]
