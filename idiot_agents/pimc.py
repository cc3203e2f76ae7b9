"""Flat sampling: every candidate action is played in many worlds to their end, and the best mean wins.

Perfect-information Monte Carlo without its famous flaw: rollouts are played by honest agents, so no action is praised
for what only a seer could follow up.  All candidates meet the same worlds with the same random numbers, and the luck of
the deal cancels when they are compared.

Two roads lead through the rollouts: :func:`sample_flat` is compiled, for compiled agents; :class:`LockStep` plays all
worlds × candidates side by side and asks any :class:`~idiot_agents.protocol.BatchAgent`, such as a network, for all
positions that wait for it at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from idiot_agents.beliefs import UNIFORM, draw_hidden
from idiot_agents.protocol import BatchAgent
from idiot_agents.rollouts import payoff, roll_out_slipping
from idiot_agents.worlds import World
from idiot_env._jit import jit
from idiot_env.actions import N_ACTIONS
from idiot_env.cards import advance, stream
from idiot_env.engine import OVER, STATE, apply, legal_mask
from idiot_env.observation import OBSERVATION_SIZE, redeal, write_observation

Floats = npt.NDArray[np.float64]

WORLDS_AT_ONCE = 256
"""Worlds of rollouts in lock-step that are in memory at a time, so that no budget is too large for it."""


@jit
def sample_flat(
    root, actions, n, worlds, kind, limit, slip, others_slip, random_state, sums, scratch, observation, mask,
):  # fmt: skip
    """Add the observer's payoffs of ``n`` candidates in each of ``worlds`` worlds to ``sums`` (float64 ``[n]``).

    ``root`` is ``[1]`` of STATE as ``write_world`` left it, ``scratch`` ``[2]`` of STATE.  Returns the random state
    from which the next worlds can be drawn.
    """
    for _ in range(worlds):
        random_state = advance(random_state)
        scratch[0] = root[0]
        redeal(scratch[0], 0, stream(random_state, 0))
        for a in range(n):
            scratch[1] = scratch[0]
            apply(scratch[1], actions[a])
            roll_out_slipping(scratch[1], kind, limit - 1, slip, others_slip, observation, mask,
                              stream(random_state, 1))  # fmt: skip
            sums[a] += payoff(scratch[1], 0)
    return random_state


# --- lock-step: rollouts by any agent --------------------------------------------------------------------------------


@jit
def spread(root, odds, actions, n, random_state, states, streams):
    """``[W · n]`` states: each candidate applied in each of W worlds; the streams of one world are equal.

    ``odds`` says which worlds are likely, see :mod:`idiot_agents.beliefs`.
    """
    for world in range(states.shape[0] // n):
        random_state = advance(random_state)
        first = world * n
        states[first] = root[0]
        draw_hidden(states[first], odds, stream(random_state, 0))
        for a in range(1, n):
            states[first + a] = states[first]
        for a in range(n):
            apply(states[first + a], actions[a])
            streams[first + a] = stream(random_state, 1)
    return random_state


@jit
def look(states, rows, observation, mask, seats):
    """What the seat to act in each of ``rows`` sees, side by side from row 0 on."""
    for k in range(rows.shape[0]):
        state = states[rows[k]]
        seats[k] = state["turn"]
        write_observation(state, int(state["turn"]), observation[k])
        legal_mask(state, mask[k])


@jit
def apply_rows(states, rows, actions, still):
    """Apply one action in each of ``rows``; 1 into ``still`` where the game goes on."""
    for k in range(rows.shape[0]):
        state = states[rows[k]]
        apply(state, actions[k])
        still[k] = state["phase"] != OVER


@jit
def add_payoffs(states, n, sums):
    """Add seat 0's payoff of every row; where the game goes on, those still in share what is left."""
    for i in range(states.shape[0]):
        sums[i % n] += payoff(states[i], 0)


class LockStep:
    """Rollouts by an agent that is no part of the compiled loop.

    Args:
        agent: plays in all seats.
    """

    def __init__(self, agent: BatchAgent) -> None:
        self.agent = agent

    def sample(
        self,
        root: World,
        actions: npt.NDArray[np.int64],
        n: int,
        worlds: int,
        limit: int,
        random_state: int,
        sums: Floats,
    ) -> int:
        """As :func:`sample_flat`, each rollout at most ``limit`` decisions long, the candidate included."""
        for first in range(0, worlds, WORLDS_AT_ONCE):
            rows = n * min(WORLDS_AT_ONCE, worlds - first)
            states, streams = np.zeros(rows, STATE), np.zeros(rows, np.int64)
            random_state = int(spread(root, UNIFORM, actions, n, np.int64(random_state), states, streams))
            self._play(states, streams, limit - 1)
            add_payoffs(states, n, sums)
        return random_state

    def _play(self, states: npt.NDArray[np.void], streams: npt.NDArray[np.int64], decisions: int) -> None:
        """Play K states on by at most so many decisions each."""
        observation = np.zeros((len(states), OBSERVATION_SIZE), np.int8)
        mask, seats = np.zeros((len(states), N_ACTIONS), np.int8), np.zeros(len(states), np.int64)
        still = np.zeros(len(states), np.bool_)
        rows = np.flatnonzero(states["phase"] != OVER)
        for _ in range(decisions):
            if not len(rows):
                break
            look(states, rows, observation, mask, seats)
            own = streams[rows]
            chosen = self.agent.act_batch(observation[: len(rows)], mask[: len(rows)], own)
            streams[rows] = own
            apply_rows(states, rows, chosen, still)
            rows = rows[still[: len(rows)]]
