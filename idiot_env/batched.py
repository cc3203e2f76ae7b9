"""N games in one array: compiled reset, step and observe with autoreset.

=============  =====================  ==================================================================================
output         shape, dtype           meaning
=============  =====================  ==================================================================================
observation    ``[N, O]`` int8        what the seat to act sees, see ``observation.LAYOUT``
mask           ``[N, A]`` int8        its legal actions
seat           ``[N]`` int8           the seat to act (−1: over, and not reset)
reward         ``[N, S]`` float32     rewards by absolute seat; non-zero only where ``terminated``
terminated     ``[N]`` bool           the step ended the game by the rules
truncated      ``[N]`` bool           the step reached ``max_decisions``: no result, rewards 0
=============  =====================  ==================================================================================

All six are allocated once and written in place: copy what must survive the next call, or ask for ``fresh=True``.

Autoreset modes: ``"same_step"`` (default) deals the next game within the step that ends one, so that
``observation`` already belongs to the new game; ``"next_step"`` shows the finished game (empty mask) and deals at the
next step, ignoring that game's action; ``"disabled"`` leaves it finished until :meth:`Batch.reset_games`.

Every game of every run can be played again alone: game number e of row i is ``Game(seed=game_seed(seeds[i], e))``,
whatever the batch size; :attr:`Batch.seeds` holds the seeds of the games now on the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from idiot_env._jit import jit, jit_inline
from idiot_env.actions import N_ACTIONS
from idiot_env.cards import stream
from idiot_env.engine import NOBODY, OVER, SEATS, STATE, apply, deal_seeded, legal_mask, write_rewards
from idiot_env.game import IllegalAction, check_dealer, seed_number
from idiot_env.observation import OBSERVATION_SIZE, write_observation
from idiot_env.rules import N_OPTIONS, Rules

AUTORESET_MODES = ("same_step", "next_step", "disabled")
_SAME_STEP, _NEXT_STEP = 0, 1

TABLE = np.dtype([("rules", np.int8, (N_OPTIONS,)), ("players", np.int8), ("dealer", np.int8)])
"""What is dealt in one row: option numbers, players, and the dealer (−1: drawn)."""


@jit
def game_seed(seed, episode):
    """The deal seed of game number ``episode`` of a row that was reset with ``seed``."""
    return stream(seed, episode)


@jit
def deal_row(states, tables, row_seeds, episodes, seeds, i):
    """Deal the next game of row ``i``."""
    seeds[i] = game_seed(row_seeds[i], episodes[i])
    episodes[i] += 1
    table = tables[i]
    deal_seeded(states[i], table["rules"], int(table["players"]), int(table["dealer"]), seeds[i])


@jit
def show_row(states, i, observation, mask, seat):
    """Write what the seat to act in row ``i`` sees; a finished game shows seat 0's view and no action."""
    turn = int(states[i]["turn"])
    seat[i] = turn
    write_observation(states[i], max(turn, 0), observation[i])
    legal_mask(states[i], mask[i])


@jit
def deal_rows(states, tables, seeds, observation, mask, seat):
    """Deal every row from its own deal seed."""
    for i in range(states.shape[0]):
        table = tables[i]
        deal_seeded(states[i], table["rules"], int(table["players"]), int(table["dealer"]), seeds[i])
        show_row(states, i, observation, mask, seat)


@jit
def reset_rows(rows, states, tables, row_seeds, episodes, seeds, observation, mask, seat):
    for k in range(rows.shape[0]):
        deal_row(states, tables, row_seeds, episodes, seeds, rows[k])
        show_row(states, rows[k], observation, mask, seat)


@jit
def first_illegal(rows, actions, mask, seat):
    """The place in ``rows`` of the first illegal action, or −1."""
    for k in range(rows.shape[0]):
        i = rows[k]
        if seat[i] >= 0 and not (0 <= actions[k] < N_ACTIONS and mask[i, actions[k]] == 1):
            return k
    return -1


@jit_inline  # passing fifteen arrays costs as much as a quarter of a move: a loop around small batches would feel it
def step_rows(
    rows, actions, autoreset, limit, states, tables, row_seeds, episodes, seeds,
    observation, mask, seat, reward, terminated, truncated,
):  # fmt: skip
    """Step the games ``rows`` by ``actions`` (same length), which the caller has checked."""
    for k in range(rows.shape[0]):
        i = rows[k]
        state = states[i]
        if seat[i] < 0:
            reward[i, :] = 0
            terminated[i] = False
            truncated[i] = False
            if autoreset == _NEXT_STEP:
                deal_row(states, tables, row_seeds, episodes, seeds, i)
                show_row(states, i, observation, mask, seat)
            continue
        apply(state, int(actions[k]))
        over = state["phase"] == OVER
        cut = not over and state["decisions"] >= limit
        write_rewards(state, reward[i])
        terminated[i] = over
        truncated[i] = cut
        if (over or cut) and autoreset == _SAME_STEP:
            deal_row(states, tables, row_seeds, episodes, seeds, i)
        show_row(states, i, observation, mask, seat)
        if cut and autoreset != _SAME_STEP:
            mask[i, :] = 0
            seat[i] = NOBODY


class Step(NamedTuple):
    """What :meth:`Batch.step` returns; shapes and meaning in the module's table."""

    observation: npt.NDArray[np.int8]
    mask: npt.NDArray[np.int8]
    seat: npt.NDArray[np.int8]
    reward: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]


def make_tables(
    n: int, rules: Any = "standard", players: int | Sequence[int] = 4, dealer: int | None = None
) -> npt.NDArray[np.void]:
    """The tables of N rows, ``[N]`` of ``TABLE``.

    ``rules`` and ``players`` are one value for all rows or a sequence of N.

    Raises:
        ValueError: for an impossible table or a sequence of another length.
    """
    several = isinstance(rules, list | tuple)
    rules_of = list(rules) if several else [rules] * n
    players_of = [players] * n if isinstance(players, int | np.integer) else list(players)
    for name, values in (("rules", rules_of), ("players", players_of)):
        if len(values) != n:
            raise ValueError(f"{name} has {len(values)} entries: give one value, or one for each of the {n} games.")
    tables = np.zeros(n, TABLE)
    made: dict[Any, tuple[Rules, npt.NDArray[np.int8]]] = {}
    for i in range(n):
        key = rules_of[i] if isinstance(rules_of[i], str | Rules) else repr(rules_of[i])
        if key not in made:
            table_rules = Rules.make(rules_of[i])
            made[key] = table_rules, table_rules.numbers()
        table_rules, numbers = made[key]
        tables[i]["players"] = table_rules.check_players(players_of[i])
        tables[i]["rules"] = numbers
        tables[i]["dealer"] = -1 if dealer is None else check_dealer(dealer, players_of[i])
    return tables


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Workers for compiled steps, which hold no interpreter lock; shared by all batches of this process."""
    return ThreadPoolExecutor(threads, thread_name_prefix="idiot_env")


class Batch:
    """N games side by side.

    Args:
        n: number of games.
        rules: a table (``Rules``, text or mapping) for all games, or a list of N.
        players: 2 to 5 for all games, or a list of N.
        dealer: the dealer of every game; drawn from the game's seed unless given.
        max_decisions: a game is truncated after that many decisions.
        autoreset: ``"same_step"``, ``"next_step"`` or ``"disabled"``.
        fresh: return copies instead of the arrays that the next call overwrites.
        threads: share the rows of each step among so many threads; the results are the same.  More than one pays on
            idle cores only: on a busy machine it collapses.

    >>> batch = Batch(64, rules="standard", players=4)
    >>> step = batch.reset(1)
    >>> step.observation.shape == (64, OBSERVATION_SIZE), step.mask.shape == (64, N_ACTIONS)
    (True, True)
    >>> step = batch.step(step.mask.argmax(axis=1))  # the first legal action of each game
    >>> int(step.seat.max()) < 4
    True

    Raises:
        ValueError: for an impossible table, number or mode.
    """

    def __init__(
        self,
        n: int,
        rules: Any = "standard",
        players: int | Sequence[int] = 4,
        *,
        dealer: int | None = None,
        max_decisions: int = 2000,
        autoreset: str = "same_step",
        fresh: bool = False,
        threads: int = 1,
    ) -> None:
        for name, number in (("n", n), ("max_decisions", max_decisions), ("threads", threads)):
            if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
                raise ValueError(f"{name}={number!r} is not possible: give a whole number from 1 on.")
        if autoreset not in AUTORESET_MODES:
            raise ValueError(f"autoreset={autoreset!r} is not possible: it is one of {', '.join(AUTORESET_MODES)}.")
        self.n = n
        self.max_decisions = max_decisions
        self.autoreset = autoreset
        self.fresh = fresh
        self.threads = threads
        self.tables = make_tables(n, rules, players, dealer)
        self.states = np.zeros(n, STATE)
        self.row_seeds = np.zeros(n, np.int64)
        self.episodes = np.zeros(n, np.int64)
        self.seeds = np.zeros(n, np.int64)
        self.observation = np.zeros((n, OBSERVATION_SIZE), np.int8)
        self.mask = np.zeros((n, N_ACTIONS), np.int8)
        self.seat = np.full(n, NOBODY, np.int8)
        self.reward = np.zeros((n, SEATS), np.float32)
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self._all = np.arange(n, dtype=np.int64)
        self._dealt = False

    def _outputs(self) -> Step:
        outputs = Step(self.observation, self.mask, self.seat, self.reward, self.terminated, self.truncated)
        return Step._make(array.copy() for array in outputs) if self.fresh else outputs

    def reset(self, seeds: int | npt.ArrayLike) -> Step:
        """Deal all games anew.

        Args:
            seeds: one seed per row, int ``[N]``; or a single one from which the rows' seeds are derived.
        """
        self.seed_rows(seeds)
        self.reset_games(self._all)
        self.reward[:] = 0
        self.terminated[:] = False
        self.truncated[:] = False
        return self._outputs()

    def seed_rows(self, seeds: int | npt.ArrayLike) -> None:
        """Start every row's run of games again from a seed, without a deal; as in :meth:`reset`."""
        if isinstance(seeds, int | np.integer):
            base = np.int64(seed_number(int(seeds)))
            self.row_seeds[:] = [int(stream(base, np.int64(i))) for i in range(self.n)]
        else:
            given = np.asarray(seeds)
            if given.dtype.kind not in "iu":
                raise ValueError(f"seeds={seeds!r} is not possible: give whole numbers.")
            if given.shape != (self.n,):
                raise ValueError(
                    f"seeds has shape {given.shape}: give one seed, or one for each of the {self.n} games."
                )
            self.row_seeds[:] = given
        self.episodes[:] = 0

    def deal(self, seeds: npt.NDArray[np.int64]) -> Step:
        """Deal row i from the deal seed ``seeds[i]`` itself, as ``Game(seed=seeds[i])`` does; int64 ``[N]``."""
        self._dealt = True
        self.seeds[:] = seeds
        deal_rows(self.states, self.tables, self.seeds, self.observation, self.mask, self.seat)
        return self._outputs()

    def reset_games(self, rows: npt.NDArray[np.int64]) -> None:
        """Deal the next game in some rows (mode ``"disabled"``)."""
        self._dealt = True
        reset_rows(rows, self.states, self.tables, self.row_seeds, self.episodes, self.seeds, self.observation,
                   self.mask, self.seat)  # fmt: skip

    def step(self, actions: npt.NDArray[np.integer[Any]], rows: npt.NDArray[np.int64] | None = None) -> Step:
        """Apply one action per game.

        Args:
            actions: int ``[N]``, or ``[K]`` with ``rows``.
            rows: int64 ``[K]``: step only these games; the outputs of the others stay as they are.

        Raises:
            IllegalAction: names the first row with an illegal action; no game has moved then.
            ValueError: for actions that are no whole numbers, or not as many as games.
            RuntimeError: before the first deal.
        """
        if not self._dealt:
            raise RuntimeError("call reset() before step().")
        rows = self._all if rows is None else rows
        given = np.asarray(actions)
        if given.dtype.kind not in "iu":
            raise ValueError(f"actions are of the type {given.dtype}: give whole numbers, the ids of actions.")
        numbers = given.astype(np.int64, copy=False)
        if numbers.shape != rows.shape:
            raise ValueError(f"actions has shape {numbers.shape}: give one action for each of the {len(rows)} games.")
        wrong = first_illegal(rows, numbers, self.mask, self.seat)
        if wrong >= 0:
            row = int(rows[wrong])
            legal = np.flatnonzero(self.mask[row]).tolist()
            raise IllegalAction(f"action {int(numbers[wrong])} is not legal in game {row}: legal ids are {legal}.")
        if self.threads == 1 or len(rows) < self.threads:
            self._step_rows(rows, numbers)
        else:
            (own, *others) = zip(np.array_split(rows, self.threads), np.array_split(numbers, self.threads), strict=True)
            waiting = [_pool(self.threads - 1).submit(self._step_rows, *share) for share in others]
            self._step_rows(*own)  # the caller takes a share itself: one handing over less
            for share in waiting:
                share.result()
        return self._outputs()

    def _step_rows(self, rows: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
        step_rows(rows, actions, AUTORESET_MODES.index(self.autoreset), self.max_decisions, self.states, self.tables,
                  self.row_seeds, self.episodes, self.seeds, self.observation, self.mask, self.seat, self.reward,
                  self.terminated, self.truncated)  # fmt: skip


__all__ = ["AUTORESET_MODES", "Batch", "Step", "make_tables"]
