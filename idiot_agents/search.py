"""Agents that think ahead: honest search over worlds that their view allows.

==========================  =======================================================================================
spec                        agent
==========================  =======================================================================================
``pimc:128``                flat sampling (:mod:`idiot_agents.pimc`) over 128 worlds, greedy rollouts
``pimc:50ms``, ``pimc:1s``  the same for so long; honest, but not reproducible
``pimc:128,careful``        the agent after the comma plays the rollouts: any spec whose agent acts in batches
``ismcts:2000``             a tree search (:mod:`idiot_agents.ismcts`) of 2,000 iterations, greedy rollouts
``ismcts:1s``               the same for so long; honest, but not reproducible
``ismcts:2000,careful``     the agent after the comma plays the rollouts: one of the compiled ones
==========================  =======================================================================================

With a budget of worlds or iterations an agent is a function of view and random state, like every other one.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idiot_agents.compiled import CompiledAgent
from idiot_agents.endgame import Solver
from idiot_agents.errors import InputError
from idiot_agents.ismcts import EXPLORE, MAX_DEPTH, NODE, grow, root_counts
from idiot_agents.pimc import Floats, LockStep, sample_flat
from idiot_agents.protocol import Actions, BatchAgent, Masks, Observations, Streams, fresh_streams, most_players
from idiot_agents.rollouts import LIMIT, candidates
from idiot_agents.worlds import write_world_at
from idiot_env import View
from idiot_env.actions import N_ACTIONS
from idiot_env.cards import advance, stream
from idiot_env.engine import STATE
from idiot_env.observation import OBSERVATION_SIZE

METHODS = ("pimc", "ismcts")
WORLDS_A_ROUND = 16
"""Worlds between two looks at the clock."""
ITERATIONS_A_ROUND = 256
"""Iterations between two looks at the clock."""
MAX_NODES = 4_000_000
"""Room for a tree, 32 bytes a node; memory is touched only as the tree grows, and a full tree grows no more."""
SOLVED_NODES, SOLVED_LIVE = 5000, 12
"""Endgames up to this size are solved; trying in vain costs a few milliseconds."""
SLIP = 200
"""So many of 1024 decisions of a rollout are random.

Greedy rollouts in one world are all alike, so what two players who know each other's hands think of their actions
never changes, and they go round in circles.  Slips break them, and tell a sturdy plan from one that hangs on a thread.
``pimc:128`` against careful, 200 games, won and cut off: deals of seed 11, no slips 70.5 % and 4, 50 slips 77.2 %
and 3, 200 slips 81.0 % and 0; deals of seed 12, 50 slips 78.7 % and 5, 200 slips 81.0 % and 0, 400 slips 76.0 % and 0.
"""
LARGEST_BUDGET = 10**9


@dataclass(frozen=True)
class Budget:
    """How much thinking a decision gets: ``count`` worlds or iterations, or ``seconds`` (then ``count`` is 0)."""

    count: int = 0
    seconds: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Budget:
        """``128``, ``50ms`` or ``1.5s``.

        Raises:
            InputError: for anything else.
        """
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ms|s)?", text)
        if match:
            number, unit = float(match[1]), match[2]
            if unit and 0 < number <= LARGEST_BUDGET:
                return cls(seconds=number / 1000 if unit == "ms" else number)
            if not unit and text.isdigit() and 1 <= number <= LARGEST_BUDGET:
                return cls(count=int(text))
        raise InputError(f"{text!r} is no budget of a search: write a whole number, or a time such as 50ms or 1s.")


class SearchAgent:
    """What all searching agents share: a choice for one view at a time, in batches too.

    It thinks in memory of its own, so one agent serves one thread at a time; compiled parts hold no interpreter lock.
    """

    def __init__(self, name: str, budget: Budget, rollout: BatchAgent, seed: int = 0) -> None:
        self.name = name
        self.budget = budget
        self.rollout = rollout
        """Who plays on in the worlds that it looks at."""
        self.reproducible = budget.seconds == 0
        """Whether the same view and random state give the same action again."""
        self.solver: Solver | None = Solver(SOLVED_NODES, SOLVED_LIVE)
        """Takes over where the endgame can be solved exactly."""
        self._streams = fresh_streams(seed, 1)
        self._root = np.zeros(1, STATE)
        self._actions = np.zeros(N_ACTIONS, np.int64)

    def act(self, view: View) -> int:
        return int(self.act_batch(view.observation[None], view.action_mask[None], self._streams)[0])

    def fingerprint(self) -> dict[str, str]:
        """The hash of what it is made of beside its code: the weights of whoever plays its rollouts, if any."""
        of_rollout = getattr(self.rollout, "fingerprint", None)
        return {} if of_rollout is None else dict(of_rollout())

    def check_players(self, players: int) -> None:
        """Refuse a table at which whoever plays its rollouts cannot play."""
        of_rollout = getattr(self.rollout, "check_players", None)
        if of_rollout is not None:
            of_rollout(players)

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        self.check_players(most_players(observation))
        chosen = np.empty(len(streams), np.int64)
        for k in range(len(streams)):
            streams[k] = advance(streams[k])
            chosen[k] = self.choose(observation[k], mask[k], int(streams[k]))
        return chosen

    def choose(self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], random_state: int) -> int:
        """The action for one view, int8 ``[O]`` and ``[A]``."""
        n = int(candidates(mask, self._actions))
        if n == 1:
            return int(self._actions[0])
        write_world_at(observation, self._root, 0)
        solution = self.solver.solve_world(self._root) if self.solver else None
        if solution is not None:
            good = [solution.best] if solution.value.win == 1.0 else solution.equally_good()
            n = len(good)
            self._actions[:n] = good
            if n == 1:
                return good[0]
        scores = self.scores(n, random_state)
        return int(self._actions[int(np.argmax(scores))])

    def scores(self, n: int, random_state: int) -> Floats:
        """The worth of the first ``n`` candidates, float64 ``[n]``, for the world in ``self._root``."""
        raise NotImplementedError


class FlatSampler(SearchAgent):
    """``pimc``: the best mean payoff over worlds.

    Args:
        rollout: who plays the rollouts.
        limit: decisions of a rollout.
        slip: of 1024 decisions in a rollout, so many are random; only where a compiled agent plays it.
        others_slip: the same for the others' decisions, where they differ.
    """

    def __init__(
        self,
        name: str,
        budget: Budget,
        rollout: BatchAgent,
        seed: int = 0,
        limit: int = LIMIT,
        slip: int = SLIP,
        others_slip: int | None = None,
    ) -> None:
        super().__init__(name, budget, rollout, seed)
        self.limit, self.slip = limit, slip
        self.others_slip = slip if others_slip is None else others_slip
        self.kind = rollout.kind if isinstance(rollout, CompiledAgent) else -1
        self._lock_step = LockStep(rollout)
        self._scratch = np.zeros(2, STATE)
        self._observation = np.zeros(OBSERVATION_SIZE, np.int8)
        self._mask = np.zeros(N_ACTIONS, np.int8)

    def scores(self, n: int, random_state: int) -> Floats:
        sums, worlds = np.zeros(n), 0
        random_state = int(stream(np.int64(random_state), np.int64(0)))
        if self.budget.count:
            self._sample(n, self.budget.count, random_state, sums)
            return sums / self.budget.count
        stop = time.perf_counter() + self.budget.seconds
        while worlds == 0 or time.perf_counter() < stop:
            random_state = self._sample(n, WORLDS_A_ROUND, random_state, sums)
            worlds += WORLDS_A_ROUND
        return sums / worlds

    def _sample(self, n: int, worlds: int, random_state: int, sums: Floats) -> int:
        if self.kind < 0:
            return self._lock_step.sample(self._root, self._actions, n, worlds, self.limit, random_state, sums)
        return int(sample_flat(self._root, self._actions, n, worlds, self.kind, self.limit, self.slip,
                               self.others_slip, np.int64(random_state), sums, self._scratch, self._observation,
                               self._mask))  # fmt: skip


class TreeSearcher(SearchAgent):
    """``ismcts``: the action most visited in a tree.

    Args:
        rollout: the compiled agent that plays the rollouts.
        limit: decisions of a rollout.
        explore: weight of UCB's second term.
        slip: of 1024 decisions in a rollout, so many are random.
    """

    def __init__(
        self,
        name: str,
        budget: Budget,
        rollout: CompiledAgent,
        seed: int = 0,
        limit: int = LIMIT,
        explore: float = EXPLORE,
        slip: int = SLIP,
    ) -> None:
        super().__init__(name, budget, rollout, seed)
        self.limit, self.explore, self.slip = limit, explore, slip
        self.kind = rollout.kind
        # A node and what a flip turns up below it: an iteration adds one of them.
        self._tree = np.zeros(min(budget.count or MAX_NODES, MAX_NODES) + 1, NODE)
        self._scratch = np.zeros(1, STATE)
        self._path = np.zeros(MAX_DEPTH, np.int64)
        self._legal = np.zeros(N_ACTIONS, np.int64)
        self._observation = np.zeros(OBSERVATION_SIZE, np.int8)
        self._mask = np.zeros(N_ACTIONS, np.int8)

    def scores(self, n: int, random_state: int) -> Floats:
        self._tree[0] = 0
        state, used, done = stream(np.int64(random_state), np.int64(0)), 1, 0
        stop = time.perf_counter() + self.budget.seconds
        while done < self.budget.count or (self.budget.seconds > 0 and (done == 0 or time.perf_counter() < stop)):
            iterations = min(ITERATIONS_A_ROUND, self.budget.count - done) if self.budget.count else ITERATIONS_A_ROUND
            used, state = grow(
                self._root, self._tree, used, iterations, self.kind, self.limit, self.slip, self.explore, state,
                self._scratch, self._path, self._legal, self._observation, self._mask,
            )  # fmt: skip
            done += iterations
        visits, totals = np.zeros(n), np.zeros(n)
        root_counts(self._tree, self._actions, n, visits, totals)
        return visits


def make_search(spec: str, rollout: BatchAgent | None, seed: int = 0) -> SearchAgent:
    """The agent of a spec such as ``pimc:128``; ``rollout`` is the agent that its last part names, greedy if none.

    Raises:
        InputError: for a budget that is none, or rollouts that the method cannot play.
    """
    method, _, rest = spec.partition(":")
    budget = Budget.parse(rest.partition(",")[0])
    player = rollout or CompiledAgent("greedy")
    if method == "pimc":
        return FlatSampler(spec, budget, player, seed)
    if not isinstance(player, CompiledAgent):
        raise InputError(f"{spec!r} is not possible: {player.name} is not compiled, and only pimc can ask it.")
    return TreeSearcher(spec, budget, player, seed)
