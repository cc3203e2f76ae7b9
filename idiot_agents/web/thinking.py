"""Agents' decisions beside the event loop.

Quick agents (rules of thumb, one pass of a network) decide in a thread.  Whoever searches does so in processes of lower
priority: a search that holds the interpreter's lock would otherwise stop the page.  A worker receives a spec, a view
and a seed, so it knows no more than the seat, and the same three give the same action after a restart.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import Any, TypeVar

from idiot_agents.compiled import CompiledAgent
from idiot_agents.neural import NeuralAgent
from idiot_agents.protocol import Agent, BatchAgent, fresh_streams
from idiot_agents.registry import make_agent
from idiot_env import View

T = TypeVar("T")


@lru_cache(maxsize=64)
def agent_of(spec: str) -> Agent:
    """The agent of a spec, made once."""
    return make_agent(spec)


def decide(spec: str, view: View, seed: int) -> int:
    """The action of an agent; all its chance comes from ``seed``."""
    agent = agent_of(spec)
    if isinstance(agent, BatchAgent):
        streams = fresh_streams(seed, 1)
        return int(agent.act_batch(view.observation[None], view.action_mask[None], streams)[0])
    return int(make_agent(spec, seed).act(view))


def _begin_worker() -> None:
    """A worker leaves Ctrl-C to the server and the processor to the page."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(10)


class Thinker:
    """Decides for agents, and answers what models think.

    Args:
        workers: processes for agents that search; one fewer than there are cores unless given.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or max(1, (os.cpu_count() or 1) - 1)
        self._thread = ThreadPoolExecutor(1, "quick")
        self._processes: ProcessPoolExecutor | None = None

    async def choose(self, spec: str, view: View, seed: int) -> int:
        """The action that an agent takes for ``view``."""
        if isinstance(agent_of(spec), CompiledAgent | NeuralAgent):
            return await self.quick(decide, spec, view, seed)
        return await self.deep(decide, spec, view, seed)

    async def quick(self, function: Callable[..., T], *args: Any) -> T:
        """Run something short in the thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    async def deep(self, function: Callable[..., T], *args: Any) -> T:
        """Run something long in a worker; one that died is replaced, and asked once more."""
        for last in (False, True):
            pool = self._processes = self._processes or self._make_processes()
            try:
                return await asyncio.get_running_loop().run_in_executor(pool, function, *args)
            except BrokenProcessPool:
                if self._processes is pool:
                    self._processes = None
                    pool.shutdown(wait=False)
                if last:
                    raise
        raise AssertionError("unreachable")

    def _make_processes(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")  # forking a process with threads may lock up for ever
        return ProcessPoolExecutor(self._workers, context, _begin_worker)

    def close(self) -> None:
        """Give up what is being thought about."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._processes is not None:
            self._processes.shutdown(wait=False, cancel_futures=True)
