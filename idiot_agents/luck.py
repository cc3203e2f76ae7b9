"""How lucky somebody was, told by a value network: control variates that shorten intervals and leave scores unbiased.

Luck is a difference that is zero on average whoever plays and whatever the network says, so subtracting any multiple
of it changes no expectation (the idea of AIVAT, Burch et al. 2018, for chance alone).

* **Luck of the cards.**  Whenever an action brings cards to light (drawn, flipped, turned by chance), the stock and the
  face-down cards, which nobody has seen, could as well lie in any other order.  The action is carried out again with
  them shuffled, some times over; the luck is the network's value of the real view after it less the mean of the others.
* **Luck of the deal.**  The network's values of all seats' first views, their mean and their spread, less the same of
  other deals.

How much of each to subtract is a least-squares fit.  It is made on one half of the deals and used on the other, so that
no deal chooses its own correction.  An agent that sees all cards plays by what is hidden: there the first difference is
not zero on average, so cheaters are refused.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from idiot_agents.intervals import Estimate, estimate, is_rare, studentised
from idiot_agents.network import Network
from idiot_env import Rules
from idiot_env._jit import jit
from idiot_env.actions import CHANCE, FLIP
from idiot_env.batched import Batch
from idiot_env.cards import shuffle, stream
from idiot_env.engine import NO_CARD, OVER, SLOTS, STATE, apply, reward_of_out
from idiot_env.observation import OBSERVATION_SIZE, observe, write_observation

Floats = npt.NDArray[np.float64]

REDRAWS = 4
"""Other orders for each event, and other deals for each deal."""
FEWEST_DEALS = 40
"""A fit on fewer than half of these would add noise instead of taking it away."""
_STREAM = 9000


@jit
def shuffle_unseen(state, random_state):
    """Shuffle the stock and all face-down cards among their places: nobody can tell the difference."""
    pool = np.empty(54, np.int8)
    n = int(state["stock_size"])
    for i in range(n):
        pool[i] = state["stock"][i]
    for seat in range(int(state["players"])):
        for slot in range(SLOTS):
            if state["down"][seat, slot] != NO_CARD:
                pool[n] = state["down"][seat, slot]
                n += 1
    shuffle(pool, n, random_state)
    n = int(state["stock_size"])
    for i in range(n):
        state["stock"][i] = pool[i]
    for seat in range(int(state["players"])):
        for slot in range(SLOTS):
            if state["down"][seat, slot] != NO_CARD:
                state["down"][seat, slot] = pool[n]
                n += 1


@jit
def settled(state, seat):
    """The final reward of a seat, if that is known; else 2, which is none."""
    if state["place"][seat] > 0:
        return float(reward_of_out(state))
    if state["phase"] == OVER:
        return -1.0
    return 2.0


@jit
def look_again(before, after, seats, actions, seeds, redraws, scratch, observation, known):
    """Views of K acting seats after their action, ``[K·(1 + redraws), O]``: the real one, then those of other orders.

    ``known`` gets the rewards of seats that are out, 2 elsewhere.
    """
    for k in range(seats.shape[0]):
        seat = int(seats[k])
        for redraw in range(redraws + 1):
            row = k * (redraws + 1) + redraw
            if redraw == 0:
                scratch[0] = after[k]
            else:
                scratch[0] = before[k]
                number = _STREAM + int(before[k]["decisions"]) * redraws + redraw
                shuffle_unseen(scratch[0], stream(seeds[k], number))
                apply(scratch[0], actions[k])
            write_observation(scratch[0], seat, observation[row])
            known[row] = settled(scratch[0], seat)


class Luck:
    """Measures luck with a network; its values are what is expected of the final reward."""

    def __init__(self, network: Network, redraws: int = REDRAWS) -> None:
        self.network = network
        self.redraws = redraws
        self._scratch = np.zeros(1, STATE)

    def of_cards(
        self,
        before: npt.NDArray[np.void],
        after: npt.NDArray[np.void],
        seats: npt.NDArray[np.integer],
        actions: npt.NDArray[np.int64],
        seeds: npt.NDArray[np.int64],
    ) -> Floats:
        """The luck of K acting seats in one action each, float ``[K]``; 0 where no card came to light.

        Args:
            before: the states before their actions, ``[K]`` of ``STATE``.
            after: the states after them.
            seats: int ``[K]``.
            actions: int64 ``[K]``.
            seeds: int64 ``[K]``, the games' deal seeds, from which the other orders are drawn.
        """
        blind = (actions >= FLIP) & (actions <= CHANCE)
        shown = np.flatnonzero(blind | (before["stock_size"] != after["stock_size"]))
        luck = np.zeros(len(seats))
        if len(shown):
            rows = len(shown) * (self.redraws + 1)
            observation, known = np.empty((rows, OBSERVATION_SIZE), np.int8), np.empty(rows)
            look_again(before[shown], after[shown], seats[shown].astype(np.int64), actions[shown], seeds[shown],
                       self.redraws, self._scratch, observation, known)  # fmt: skip
            value = np.where(known < 2, known, self._values(observation)).reshape(len(shown), -1)
            luck[shown] = value[:, 0] - value[:, 1:].mean(axis=1)
        return luck

    def of_deals(self, seeds: npt.NDArray[np.int64], rules: Rules, players: int) -> Floats:
        """The luck of D deals, float ``[D, 2]``: the mean of all seats' values and their spread, less other deals'."""
        own = self._deal_values(seeds, rules, players)
        others = [
            self._deal_values(np.array([int(stream(seed, np.int64(_STREAM - k))) for seed in seeds]), rules, players)
            for k in range(1, self.redraws + 1)
        ]
        luck: Floats = own - np.mean(others, axis=0)
        return luck

    def _deal_values(self, seeds: npt.NDArray[np.int64], rules: Rules, players: int) -> Floats:
        batch = Batch(len(seeds), rules, players, autoreset="disabled")
        batch.deal(seeds)
        views = [observe(batch.states, seat, i) for i in range(len(seeds)) for seat in range(players)]
        values = self._values(np.array(views)).reshape(len(seeds), players)
        return np.column_stack([values.mean(axis=1), values.std(axis=1)])

    def _values(self, observation: npt.NDArray[np.int8]) -> Floats:
        return np.clip(self.network(observation)[1].astype(np.float64), -1.0, None)


def fitted(scores: Floats, luck: Floats) -> Floats:
    """Multiples ``[C]`` of ``luck`` ``[D, C]`` that explain ``scores`` ``[D]`` best, beside a constant."""
    design = np.column_stack([np.ones(len(scores)), luck])
    return np.asarray(np.linalg.lstsq(design, scores, rcond=None)[0][1:], np.float64)


def corrected(scores: Floats, luck: Floats) -> Floats:
    """``scores`` ``[D]`` without the luck ``[D, C]`` that explains them, fitted on the other half of the deals."""
    halves = np.arange(len(scores)) % 2
    out = scores.copy()
    for half in (0, 1):
        here = halves == half
        out[here] -= luck[here] @ fitted(scores[~here], luck[~here])
    return out


def controlled(scores: Floats, luck: Floats, seed: int = 0) -> Estimate:
    """The mean score over deals with its interval, luck taken away.

    Where events are too few for a fit to mean anything, it is the plain estimate.

    Raises:
        ValueError: for fewer than ``FEWEST_DEALS``.
    """
    if len(scores) < FEWEST_DEALS:
        raise ValueError(f"{len(scores)} deals are too few for a control variate: give {FEWEST_DEALS} or more.")
    if is_rare(scores):
        return estimate(scores, seed)
    values = corrected(scores, luck)
    return Estimate(float(values.mean()), *studentised(values, seed))
