"""Search with a network, and search that models its opponents.

===============================  ==================================================================================
spec                             agent
===============================  ==================================================================================
``ppo+search:PATH``              a model thinks ahead: its policy plays short rollouts, its value judges where they end
``ppo+search:PATH,64``           with 64 worlds for every candidate, on average
``ppo+search:PATH,50ms``         for so long; honest, but not reproducible
``exploit:AGENT``                flat sampling with rollouts in which everybody plays as AGENT, and the searcher slips
                                 now and then: what does AGENT give away to somebody who knows how it plays?
``exploit:128,AGENT``            the same with 128 worlds, or for a time such as ``50ms``
===============================  ==================================================================================

Rollouts of a model end at the searcher's first own turn after ``DEPTH`` decisions, where the value speaks for the very
seat that it was trained for; once the stock is empty they go on to the end of the game, which is near and which the
value knows less about.  Worlds are drawn by the model's belief (:mod:`idiot_agents.beliefs`): in worlds that are dealt
blindly the others hold less of what good players keep.  The policy names the ``MOST`` likeliest candidates: what it is
sure of is not left unsearched, since its costliest mistakes are moves of the endgame that it is sure of
(``tests.benchmarks.headroom``).  But where candidates are nearly alike some hundred rollouts know less than the policy,
so its log probability counts beside their mean.  Candidates are halved from round to round (sequential halving), so
that worlds go where the choice is close.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from idiot_agents.beliefs import UNIFORM
from idiot_agents.endgame import Solver
from idiot_agents.errors import InputError
from idiot_agents.network import fingerprints, masked_softmax
from idiot_agents.neural import SHARP, NeuralAgent, sample_rows
from idiot_agents.pimc import WORLDS_AT_ONCE, Floats, apply_rows, look, spread
from idiot_agents.recall import Recall
from idiot_agents.rollouts import payoff_at
from idiot_agents.search import Budget, SearchAgent
from idiot_env.actions import N_ACTIONS
from idiot_env.cards import stream
from idiot_env.engine import OVER, STATE, legal_mask_at
from idiot_env.observation import OBSERVATION_SIZE, observe_at

DEPTH = 12
"""Decisions of a rollout before the value may end it."""
ENDGAME_DEPTH = 60
"""The same where the stock is empty: what is still open after so many more may be a stall."""
PATIENCE = 40
"""Further decisions within which it must be the searcher's turn again; else what is open is shared."""
MOST = 8
"""Candidates that are searched: the policy's likeliest."""
TRUST = 0.03
"""Reward that a candidate e times as probable as another is taken to be worth more, before any world is seen."""
LEAST = 1e-6
"""The probability that a candidate has at least where the policy is asked for its trust."""
WORLDS = 32
"""Worlds for every candidate, on average, where no budget is named."""
WORLDS_A_ROUND = 8
"""Worlds between two looks at the clock."""


class GuidedSearcher(SearchAgent):
    """``ppo+search``.

    Args:
        model: whose policy plays and whose value judges.
        depth: decisions of a rollout before its value is asked.
        endgame_depth: the same where the stock is empty.
        temperature: of the policy in rollouts.
        most: candidates that are searched.
        trust: weight of the policy's log probability beside the mean reward.
    """

    def __init__(
        self,
        name: str,
        budget: Budget,
        model: NeuralAgent,
        seed: int = 0,
        *,
        depth: int = DEPTH,
        endgame_depth: int = ENDGAME_DEPTH,
        temperature: float = SHARP,
        most: int = MOST,
        trust: float = TRUST,
    ) -> None:
        super().__init__(name, budget, model, seed)
        # Its rollouts cost more than a larger endgame does: none is left to them that can be proven.
        self.solver = Solver()
        self.model, self.network = model, model.network
        self.card = model.card
        self.depth, self.endgame_depth = depth, endgame_depth
        self.most, self.trust = most, trust
        self._seen = np.zeros((1, OBSERVATION_SIZE), np.int8)
        self._legal = np.zeros((1, N_ACTIONS), np.int8)
        self._odds = UNIFORM
        self.recall = Recall(self.network, temperature)

    def fingerprint(self) -> dict[str, str]:
        """The hashes of its model: the weights, and the belief."""
        return fingerprints(self.network)

    def scores(self, n: int, random_state: int) -> Floats:
        prior, self._odds = self._look(n)
        trust = self.trust * np.log(np.maximum(prior, LEAST))
        alive = likeliest(prior, self.most)
        means, worlds = np.full(n, -np.inf), np.zeros(n, np.int64)
        sums = np.zeros(n)
        rounds = max(1, int(np.ceil(np.log2(len(alive)))))
        start, total = time.perf_counter(), self.budget.count * len(alive)
        state = int(stream(np.int64(random_state), np.int64(0)))
        for played in range(rounds):
            if self.budget.count:
                state = self._sample(alive, max(1, total // rounds // len(alive)), state, sums, worlds)
            else:
                end = start + self.budget.seconds * (played + 1) / rounds
                while not worlds[alive[0]] or time.perf_counter() < end:
                    state = self._sample(alive, WORLDS_A_ROUND, state, sums, worlds)
            means[alive] = sums[alive] / worlds[alive] + trust[alive]
            # A candidate that fell out keeps a mean, but from fewer worlds: the last ones alone may be chosen.
            best = alive[np.argsort(-means[alive], kind="stable")]
            kept = np.sort(best[: max(1, (len(best) + 1) // 2)]) if played < rounds - 1 else best
            means[np.setdiff1d(alive, kept)] = -np.inf
            alive = kept
        return means

    def _look(self, n: int) -> tuple[Floats, Floats]:
        """The policy's probability of each candidate, float64 ``[n]``, and the odds of its belief."""
        observe_at(self._root, 0, 0, self._seen[0])
        legal_mask_at(self._root, 0, self._legal[0])
        hidden = self.network.hidden(self._seen)
        logits = self.network.logits(hidden, self._legal)
        prior: Floats = masked_softmax(logits, self._legal)[0, self._actions[:n]].astype(np.float64)
        return prior, self.network.odds(hidden)[0]

    def _sample(
        self, alive: npt.NDArray[np.int64], worlds: int, random_state: int, sums: Floats, count: npt.NDArray[np.int64]
    ) -> int:
        """Add the worth of the candidates ``alive`` in ``worlds`` more worlds; the next random state."""
        for first in range(0, worlds, WORLDS_AT_ONCE):
            some = min(WORLDS_AT_ONCE, worlds - first)
            random_state = self._sample_at_once(alive, some, random_state, sums, count)
        return random_state

    def _sample_at_once(
        self, alive: npt.NDArray[np.int64], worlds: int, random_state: int, sums: Floats, count: npt.NDArray[np.int64]
    ) -> int:
        n = len(alive)
        states, streams = np.zeros(worlds * n, STATE), np.zeros(worlds * n, np.int64)
        chosen, first = self._actions[alive], np.int64(random_state)
        random_state = int(spread(self._root, self._odds, chosen, n, first, states, streams))
        depth = self.depth if self._root[0]["stock_size"] else self.endgame_depth
        worth = evaluate(states, streams, self.recall, depth)
        sums[alive] += worth.reshape(worlds, n).sum(axis=0)
        count[alive] += worlds
        return random_state


def likeliest(prior: Floats, most: int) -> npt.NDArray[np.int64]:
    """The ``most`` candidates of highest probability, in their order."""
    return np.sort(np.argsort(-prior, kind="stable")[:most])


def evaluate(states: npt.NDArray[np.void], streams: npt.NDArray[np.int64], recall: Recall, depth: int) -> Floats:
    """What K states are worth to relative seat 0, float64 ``[K]``; the states are played on, by ``recall``'s policy."""
    worth = np.zeros(len(states))
    observation = np.zeros((len(states), OBSERVATION_SIZE), np.int8)
    mask, seats = np.zeros((len(states), N_ACTIONS), np.int8), np.zeros(len(states), np.int64)
    still = np.zeros(len(states), np.bool_)
    rows = np.arange(len(states))
    for played in range(depth + PATIENCE):
        # Nothing later changes the reward of who is out.
        settled = (states["phase"][rows] == OVER) | (states["place"][rows, 0] > 0)
        for row in rows[settled]:
            worth[row] = payoff_at(states, row, 0)
        rows = rows[~settled]
        if not len(rows):
            return worth
        look(states, rows, observation, mask, seats)
        legal = mask[: len(rows)]
        probabilities, values = recall(observation[: len(rows)], legal)
        if played >= depth:
            own = seats[: len(rows)] == 0
            worth[rows[own]] = values[own]
            rows, legal, probabilities = rows[~own], legal[~own], probabilities[~own]
            if not len(rows):
                return worth
        drawn, actions = streams[rows], np.empty(len(rows), np.int64)
        sample_rows(probabilities, legal, drawn, actions)
        streams[rows] = drawn
        apply_rows(states, rows, actions, still)
    for row in rows:
        worth[row] = payoff_at(states, row, 0)
    return worth


def split_budget(text: str, default: Budget) -> tuple[Budget, str]:
    """``"128,AGENT"`` → its budget and the rest; the default where it begins with no budget."""
    head, comma, rest = text.partition(",")
    if comma and rest:
        try:
            return Budget.parse(head), rest
        except InputError:
            if head[:1].isdigit():  # no agent's name begins so
                raise
    return default, text


def make_guided(spec: str, seed: int = 0) -> GuidedSearcher:
    """The agent of a spec ``ppo+search:PATH`` or ``ppo+search:PATH,BUDGET``.

    Raises:
        InputError: for a folder that is no model, or a budget that is none.
    """
    path, comma, budget = spec.partition(":")[2].rpartition(",")
    if not comma:
        path, budget = budget, str(WORLDS)
    return GuidedSearcher(spec, Budget.parse(budget), NeuralAgent.load(path, name=spec, seed=seed), seed)
