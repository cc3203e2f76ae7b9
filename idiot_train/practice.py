"""Endgames to learn from: games that begin where the stock is empty.

A trained policy's costliest mistakes are moves of the endgame that it is sure of, so that no exploration mends them
(``python -m tests.benchmarks.headroom`` measures what is given away there and before).  A practice game skips the
exchange; then some of the stock goes into one seat's hand for all to see, as if it had taken a pile, and the rest is
burned.  What follows is the game itself, so values and advantages mean what they always do.
"""

from __future__ import annotations

import numpy as np

from idiot_env import actions as A
from idiot_env._jit import jit
from idiot_env.cards import advance, below, stream
from idiot_env.engine import NO_CARD, SWAPPING, apply, legal_mask
from idiot_env.observation import write_observation

_PRACTICE_STREAM = 5000


@jit
def empty_stock(state, random_state):
    """Move up to half of the stock into one seat's hand, for all to see, and burn the rest."""
    n = int(state["stock_size"])
    random_state = advance(random_state)
    taker = below(random_state, int(state["players"]))
    random_state = advance(random_state)
    taken = below(random_state, n // 2 + 1)
    for i in range(n):
        card = np.int64(1) << int(state["stock"][i])
        if i < taken:
            state["hand"][taker] |= card
            state["known"][taker] |= card
        else:
            state["burned"] |= card
        state["stock"][i] = NO_CARD
    state["stock_size"] = 0


@jit
def practise(rows, seeds, share, states, observation, mask, seat):
    """Turn a share of the games just dealt in ``rows`` into endgames, each drawn from its own seed."""
    for k in range(rows.shape[0]):
        i = rows[k]
        random_state = stream(seeds[i], _PRACTICE_STREAM)
        if below(random_state, 1 << 20) >= share * (1 << 20):
            continue
        state = states[i]
        while state["phase"] == SWAPPING:
            apply(state, A.DONE)
        empty_stock(state, random_state)
        turn = int(state["turn"])
        seat[i] = turn
        write_observation(state, turn, observation[i])
        legal_mask(state, mask[i])
