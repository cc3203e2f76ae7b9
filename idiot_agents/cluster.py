"""Matches on a Ray cluster: pieces of a tournament as Ray's tasks, the same numbers as on one machine.

What a piece gives depends on its deals alone, so it does not matter where it is played, nor how often: a piece whose
machine is lost is played again elsewhere.  Idiot must be installed on every machine, and a model lie in the same place.
"""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Generator, Sequence
from typing import Any

from idiot_agents.arena import Games
from idiot_agents.errors import InputError
from idiot_agents.tournament import Recipe, Task, Tournament, from_recipe, recipe_of

RETRIES = 10
"""How often a piece is played again whose process or machine was lost."""
AHEAD = 4
"""Pieces under way for each core, so that none waits for us."""


def connect(address: str) -> Any:
    """Join the cluster at ``address`` (``auto``: the one that this machine belongs to), or start one here (``local``).

    Returns:
        The library ``ray``.

    Raises:
        InputError: without the library, or a cluster.
    """
    try:
        import ray
    except ImportError:
        raise InputError("--ray needs the extra 'ray': idiot doctor says how to install it.") from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere unless somebody asks for it
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # the first one is read, and the rest is cancelled
    logging.getLogger("ray").setLevel(logging.ERROR)
    if ray.is_initialized():
        return ray
    own = address == "local"
    if not own and address != "auto":
        _knock(address)
    try:
        ray.init(
            address=None if own else address,
            include_dashboard=False if own else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, ValueError) as error:
        raise _no_cluster(address, str(error)) from None
    return ray


def _no_cluster(address: str, reason: str) -> InputError:
    first = reason.splitlines()[0].rstrip(".")
    return InputError(f"there is no Ray cluster at {address!r} ({first}): run ray start --head first.")


def _knock(address: str) -> None:
    """See whether anybody is there: Ray itself would try for minutes, and then end the process."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"--ray {address!r} is not possible: write local, auto, or HOST:PORT.")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, str(error)) from None


_made: dict[str, Tournament] = {}


def _work(recipe: Recipe, task: Task) -> Games:
    """Play a piece; a process makes the agents once."""
    key = repr(recipe)
    if key not in _made:
        _made.clear()
        _made[key] = from_recipe(recipe)
    return _made[key].play(task)


def play_on_cluster(
    tournament: Tournament, tasks: Sequence[Task], address: str
) -> Generator[tuple[Task, Games], None, None]:
    """The games of ``tasks``, in order, from all cores of a cluster.  When the caller stops early, they end, too.

    Raises:
        InputError: without a cluster; if an agent cannot be made there; if a piece was lost too often.
    """
    ray = connect(address)
    remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
    recipe = ray.put(recipe_of(tournament))
    rest = iter(tasks)
    waiting: deque[tuple[Task, Any]] = deque()
    try:
        while True:
            # Machines come and go: how many pieces are under way follows the cores that there are now.
            room = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 0)))
            while len(waiting) < room and (task := next(rest, None)) is not None:
                waiting.append((task, remote.remote(recipe, task)))
            if not waiting:
                return
            task, reference = waiting.popleft()
            try:
                games = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, InputError):
                    raise error.cause from None
                raise
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError) as error:
                lost = f"a piece of the matches was lost {RETRIES + 1} times"
                raise InputError(f"{lost} ({type(error).__name__}): memory may be short.") from None
            yield task, games
    finally:
        for _, reference in waiting:
            ray.cancel(reference, force=True)
