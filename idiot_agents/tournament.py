"""A tournament: which games there are, and how they are played: in pieces, over processes, stopped and taken up again.

A **cell** is one line-up in all its rotations over all deals.

===================  =====================================================================================
cell                 line-up
===================  =====================================================================================
two players          A against B, every unordered pair
more                 A among copies of B, every ordered pair; and, with three agents or more, mixed tables
===================  =====================================================================================

Every cell is cut into **tasks** of some deals.  What a task gives depends on nothing but the agents, the table, the
seed and its deals, so any number of processes, any order and any interruption lead to the same numbers.  Agents are
sorted by name inside, so that their order does not matter either.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import io
import itertools
import json
import multiprocessing
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from idiot_agents.arena import (
    MAX_DECISIONS,
    Games,
    check_agents,
    deal_seeds,
    deals_hash,
    focal_lineups,
    mixed_lineups,
    play_batched,
    play_games,
)
from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.luck import FEWEST_DEALS, Luck
from idiot_agents.network import write_file
from idiot_agents.neural import NeuralAgent
from idiot_agents.protocol import Agent, is_cheater, is_reproducible
from idiot_agents.registry import make_agent
from idiot_agents.search import SearchAgent
from idiot_env import Rules
from idiot_env._jit import HERE as ENGINE

MIXED = -1
PARTIAL_FORMAT = "idiot-bench-partial/1"
SECONDS_BETWEEN_WRITES = 5.0
DEALS_PER_TASK, OF_COMPILED, OF_SEARCH = 128, 1024, 4
"""Enough for a full batch, and few enough that little is lost when somebody stops."""


class Cell(NamedTuple):
    """Places in the sorted agents; ``MIXED`` twice for the mixed tables."""

    focal: int
    others: int


class Task(NamedTuple):
    """Deals ``first`` … ``first + deals − 1`` of a cell, the one with number ``cell``."""

    cell: int
    first: int
    deals: int


def sources_sha256(path: Path) -> str:
    """Of a Python file, or of all of them in a folder."""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
        digest.update(file.relative_to(path).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()


def describe_agent(agent: Agent) -> dict[str, Any]:
    """An agent's name, and the hash of the file its code is in.

    Agents that are made of more than code (a model, whoever plays a search's rollouts) tell further hashes by name in
    a method ``fingerprint()``.
    """
    source = inspect.getsourcefile(type(agent))
    described: dict[str, Any] = {"name": agent.name, "code_sha256": sources_sha256(Path(source)) if source else None}
    fingerprint = getattr(agent, "fingerprint", None)
    if fingerprint is not None:
        described |= fingerprint()
    return described | {"reproducible": is_reproducible(agent), "cheats": is_cheater(agent)}


def deals_per_task(agent: Agent) -> int:
    """Of what is quick, many."""
    if isinstance(agent, CompiledAgent):
        return OF_COMPILED
    return OF_SEARCH if isinstance(agent, SearchAgent) or is_cheater(agent) else DEALS_PER_TASK


def check_control(agents: Sequence[Agent], deals: int) -> None:
    """Refuse a control variate where it would be biased, or more noise than help.

    Raises:
        InputError: with the reason.
    """
    for agent in agents:
        if is_cheater(agent):
            raise InputError(f"{agent.name!r} plays by hidden cards: a control variate holds for honest agents only.")
    if deals < FEWEST_DEALS:
        raise InputError(f"{deals} deals are too few for a control variate: give {FEWEST_DEALS} or more.")


def make_control(spec: str) -> NeuralAgent:
    """The model that a control variate is to come from.

    Raises:
        InputError: for anything that is no trained model.
    """
    agent = make_agent(spec)
    if not isinstance(agent, NeuralAgent):
        raise InputError(f"{spec!r} has no value network: name a trained model, as ppo:PATH.")
    return agent


class Tournament:
    """All games between some agents at one table.

    Args:
        agents: two or more, of different names.
        pairs: only these pairings (focal agent, others) instead of all of them and the mixed tables.
        watching: count what ``behaviour.py`` describes.
        control: the model whose values are a control variate, see ``luck.py``.

    Raises:
        ValueError: for an impossible table, or agents that cannot play at it.
        InputError: for a control variate that would not hold.
    """

    def __init__(
        self,
        agents: Sequence[Agent],
        rules: Rules,
        players: int,
        deals: int,
        *,
        seed: int = 0,
        max_decisions: int = MAX_DECISIONS,
        watching: bool = False,
        control: NeuralAgent | None = None,
        pairs: Iterable[tuple[Agent, Agent]] | None = None,
    ) -> None:
        check_agents([*agents, *([control] if control else [])], rules, players)
        if control is not None:
            check_control(agents, deals)
        self.agents = sorted(agents, key=lambda agent: agent.name)
        self._warm: set[str] = set()
        self.order = [self.names.index(agent.name) for agent in agents]
        """The agents as they were given, as places in the sorted ones."""
        self.rules, self.players, self.deals, self.seed = rules, players, deals, seed
        self.max_decisions, self.watching, self.control = max_decisions, watching, control
        self.luck = Luck(control.network) if control is not None else None
        self.cells = self.all_cells() if pairs is None else self._some_cells(pairs)

    @cached_property
    def names(self) -> list[str]:
        return [agent.name for agent in self.agents]

    def all_cells(self) -> list[Cell]:
        """Every pairing, and the mixed tables."""
        numbers = range(len(self.agents))
        if self.players == 2:
            return [Cell(*pair) for pair in itertools.combinations(numbers, 2)]
        mixed = [Cell(MIXED, MIXED)] if len(self.agents) > 2 else []
        return [Cell(*pair) for pair in itertools.permutations(numbers, 2)] + mixed

    def _some_cells(self, pairs: Iterable[tuple[Agent, Agent]]) -> list[Cell]:
        places = [Cell(self.names.index(a.name), self.names.index(b.name)) for a, b in pairs]
        return [Cell(*sorted(cell)) for cell in places] if self.players == 2 else places

    @property
    def games(self) -> int:
        return len(self.cells) * self.deals * self.players

    def lineups(self, cell: Cell, first: int, deals: int) -> npt.NDArray[np.int64]:
        """Who sits where in some deals of a cell, int64 ``[deals·P, P]``."""
        if cell.focal == MIXED:
            return mixed_lineups(len(self.agents), self.rules, self.players, deals, self.seed, first)
        return focal_lineups(cell.focal, cell.others, self.players, deals)

    def members(self, cell: Cell) -> list[Agent]:
        """The agents of a cell."""
        return self.agents if cell.focal == MIXED else [self.agents[cell.focal], self.agents[cell.others]]

    def tasks(self) -> list[Task]:
        """All pieces in order; their size follows from the agents alone, for a network's last digits depend on it."""
        tasks = []
        for number, cell in enumerate(self.cells):
            size = min(deals_per_task(agent) for agent in self.members(cell))
            tasks += [Task(number, first, min(size, self.deals - first)) for first in range(0, self.deals, size)]
        return tasks

    def play(self, task: Task) -> Games:
        """The games of a task."""
        seeds = np.repeat(deal_seeds(self.rules, self.players, task.deals, self.seed, task.first), self.players)
        self._warm_up(self.members(self.cells[task.cell]), seeds[:1])
        lineups = self.lineups(self.cells[task.cell], task.first, task.deals)
        return play_games(
            self.agents, lineups, seeds, self.rules, self.max_decisions, watching=self.watching, luck=self.luck
        )

    def _warm_up(self, agents: Iterable[Agent], seeds: npt.NDArray[np.int64]) -> None:
        """Ask agents once, in this process, before they are timed: the first call may have to compile."""
        for agent in agents:
            if agent.name not in self._warm:
                self._warm.add(agent.name)
                play_batched([agent], np.zeros((1, self.players), np.int64), seeds, self.rules, max_decisions=1)

    def shortened(self, deals: int) -> Tournament:
        """The same with fewer deals, the first of them."""
        copy = Tournament(
            [self.agents[number] for number in self.order], self.rules, self.players, deals, seed=self.seed,
            max_decisions=self.max_decisions, watching=self.watching, control=self.control,
        )  # fmt: skip
        copy.cells = self.cells
        return copy

    def describe(self) -> dict[str, Any]:
        """All that the numbers depend on, for JSON."""
        seeds = deal_seeds(self.rules, self.players, self.deals, self.seed)
        described = {agent.name: describe_agent(agent) for agent in self.agents}
        return {
            "agents": [described[self.names[number]] for number in self.order],
            "engine_sha256": sources_sha256(ENGINE),
            "rules": str(self.rules),
            "players": self.players,
            "deals": self.deals,
            "seed": self.seed,
            "deals_hash": deals_hash(seeds, self.rules, self.players),
            "max_decisions": self.max_decisions,
            "behaviour_counted": self.watching,
            "control_variate": describe_agent(self.control) if self.control is not None else None,
        }


# --- playing, in this process or in several --------------------------------------------------------------------------

Recipe = tuple[Sequence[str], int, str | None, Mapping[str, Any], Sequence[Cell]]
"""What another process makes the same tournament from: agents' names, seed, the control's name, settings, cells."""
Where = int | str
"""So many processes of this machine, or the address of a Ray cluster, see ``idiot_agents.cluster``."""


def recipe_of(tournament: Tournament) -> Recipe:
    """How to make ``tournament`` elsewhere."""
    settings = {
        name: getattr(tournament, name) for name in ("rules", "players", "deals", "seed", "max_decisions", "watching")
    }
    control = tournament.control.name if tournament.control is not None else None
    return tournament.names, tournament.seed, control, settings, tournament.cells


def from_recipe(recipe: Recipe) -> Tournament:
    """The tournament of :func:`recipe_of`; its agents are made from their names."""
    specs, seed, control, settings, cells = recipe
    agents = [make_agent(spec, seed, cheats=True) for spec in specs]
    tournament = Tournament(agents, **settings, control=make_control(control) if control is not None else None)
    tournament.cells = list(cells)  # tasks name them by number
    return tournament


_worker: Tournament | None = None


def _start_worker(*recipe: Any) -> None:
    global _worker
    _worker = from_recipe(recipe)


def _work(task: Task) -> Games:
    assert _worker is not None, "the worker was not started"
    return _worker.play(task)


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """What is started here never hears of Ctrl-C: whoever started it decides."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def play_tasks(
    tournament: Tournament, tasks: Sequence[Task], jobs: Where = 1
) -> Generator[tuple[Task, Games], None, None]:
    """The games of ``tasks``, in order, from ``jobs`` processes or a cluster.

    Workers make their agents from the names, as ``make_agent`` reads them.  When the caller stops early, also by
    Ctrl-C, they end at once.

    Raises:
        InputError: if a worker process died, as it does where memory runs out.
    """
    if isinstance(jobs, str):
        from idiot_agents.cluster import play_on_cluster

        yield from play_on_cluster(tournament, tasks, jobs)
        return
    if jobs == 1 or len(tasks) < 2:
        for task in tasks:
            yield task, tournament.play(task)
        return
    jobs = min(jobs, len(tasks))
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        jobs,
        multiprocessing.get_context("spawn"),
        _start_worker,
        recipe_of(tournament),
    )
    waiting: deque[tuple[Task, Future[Games]]] = deque()
    rest, finished = iter(tasks), False
    try:
        with _ignoring_interrupts():
            waiting.extend((task, pool.submit(_work, task)) for task in itertools.islice(rest, 4 * jobs))
        while waiting:
            task, future = waiting.popleft()
            games = future.result()
            waiting.extend((task, pool.submit(_work, task)) for task in itertools.islice(rest, 1))
            yield task, games
        finished = True
    except BrokenProcessPool:
        raise InputError(f"a worker process died: memory may be short; use fewer than --jobs {jobs}.") from None
    finally:
        if not finished:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
        pool.shutdown(cancel_futures=True)


# --- what is finished, kept in a file --------------------------------------------------------------------------------


def _pack(games: Games) -> str:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{field.name: getattr(games, field.name) for field in fields(Games)})
    return base64.b64encode(buffer.getvalue()).decode()


def _unpack(text: str) -> Games:
    with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as arrays:
        return Games(**{field.name: arrays[field.name] for field in fields(Games)})


class Partial:
    """The file beside a result that keeps what is finished until all of it is."""

    def __init__(self, path: Path, setup: Mapping[str, Any]) -> None:
        self.path = path
        self.setup = dict(setup)
        self._packed: dict[Task, str] = {}
        self._written = time.monotonic()

    def load(self) -> dict[Task, Games]:
        """The finished tasks; none where there is no file.

        Raises:
            InputError: if the file is broken, or belongs to another command, other agents or another version.
        """
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path} cannot be read ({error}): remove it to start anew.") from None
        if not isinstance(kept, dict) or kept.get("format") != PARTIAL_FORMAT or not isinstance(kept["setup"], dict):
            raise InputError(f"{self.path} is not of the format {PARTIAL_FORMAT!r}: remove it to start anew.")
        for name in {**self.setup, **kept["setup"]}:
            if kept["setup"].get(name) != self.setup.get(name):
                raise InputError(
                    f"{self.path} was begun with other {name.replace('_', ' ')}: give the same command, "
                    "name another file, or remove it to start anew."
                )
        try:
            self._packed = {Task(*entry["task"]): entry["games"] for entry in kept["finished"]}
            return {task: _unpack(text) for task, text in self._packed.items()}
        except Exception as error:  # whatever a broken archive raises
            raise InputError(f"{self.path} is broken ({type(error).__name__}): remove it to start anew.") from None

    def add(self, task: Task, games: Games) -> None:
        """Keep a finished task; on disk at the latest with the next one after some seconds, or with :meth:`write`."""
        self._packed[task] = _pack(games)
        if time.monotonic() - self._written > SECONDS_BETWEEN_WRITES:
            self.write()

    def write(self) -> None:
        """Write the file, whole or not at all."""
        finished = [{"task": task, "games": text} for task, text in sorted(self._packed.items())]
        content = {"format": PARTIAL_FORMAT, "setup": self.setup, "finished": finished}
        write_file(self.path, (json.dumps(content, indent=1) + "\n").encode())
        self._written = time.monotonic()

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
