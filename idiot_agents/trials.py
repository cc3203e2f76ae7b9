"""Games of linear agents with weights on trial, against each other and compiled agents, in one compiled loop.

This is how ``idiot_train.tune_linear`` asks what weights are worth.  It lives here and not there because compiled code
is kept by a hash of its package's sources, and these agents are this package's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from idiot_agents.compiled import choose
from idiot_agents.linear import Weights, linear
from idiot_agents.rollouts import payoff
from idiot_env import Rules
from idiot_env._jit import jit
from idiot_env.actions import N_ACTIONS
from idiot_env.cards import advance, stream
from idiot_env.engine import OVER, SEATS, STATE, apply, deal_seeded, legal_mask
from idiot_env.observation import OBSERVATION_SIZE, write_observation

TRIAL_STREAM = 4000
"""Number of seat 0's random stream among those of a deal's seed."""


@jit
def play_trials(seeds, lineups, focal, weights, rules, limit, states, observation, mask, reward, truncated):
    """Play G games; in ``lineups`` int64 ``[G, P]``, −1 − k is the linear agent with weights ``[K, F]`` number k."""
    players = lineups.shape[1]
    state = states[0]
    streams = np.empty(SEATS, np.int64)
    for game in range(seeds.shape[0]):
        deal_seeded(state, rules, players, -1, seeds[game])
        for seat in range(players):
            streams[seat] = stream(seeds[game], TRIAL_STREAM + seat)
        watched = max(int(focal[game]), 0)
        while state["phase"] != OVER and state["decisions"] < limit:
            if focal[game] >= 0 and state["place"][watched] != 0:
                break
            seat = int(state["turn"])
            who = lineups[game, seat]
            write_observation(state, seat, observation)
            legal_mask(state, mask)
            streams[seat] = advance(streams[seat])
            if who < 0:
                apply(state, linear(weights[-1 - who], observation, mask, streams[seat]))
            else:
                apply(state, choose(who, observation, mask, streams[seat]))
        truncated[game] = state["decisions"] == limit and state["phase"] != OVER
        for seat in range(players):
            reward[game, seat] = payoff(state, seat)


def trial_rewards(
    weights: list[Weights],
    lineups: npt.NDArray[np.int64],
    seeds: npt.NDArray[np.int64],
    rules: Rules,
    limit: int,
    focal: npt.NDArray[np.int64] | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Rewards by seat, float64 ``[G, P]``, and whether each game was cut off, bool ``[G]``.

    Args:
        weights: of the linear agents on trial.
        lineups: int64 ``[G, P]``, in each seat the number of a compiled agent, or −1 − k for ``weights[k]``.
        seeds: int64 ``[G]`` deal seeds.
        rules: the table.
        limit: decisions after which a game is cut off; those still in share what the others left.
        focal: int64 ``[G]``, seats whose reward alone matters: their games end when they are out.
    """
    reward = np.zeros(lineups.shape)
    truncated = np.zeros(len(seeds), np.bool_)
    observation, mask = np.zeros(OBSERVATION_SIZE, np.int8), np.zeros(N_ACTIONS, np.int8)
    watched = np.full(len(seeds), -1, np.int64) if focal is None else focal
    play_trials(seeds, lineups, watched, np.array(weights), rules.numbers(), limit, np.zeros(1, STATE), observation,
                mask, reward, truncated)  # fmt: skip
    return reward, truncated
