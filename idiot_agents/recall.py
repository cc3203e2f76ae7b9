"""What a network says of positions, computed once for each: rollouts of one decision meet most of them several times.

Worlds differ in cards that few players see, candidates lead to the same pile, and endgames turn in circles: more than
half of the positions of a search's rollouts it has met before (``python -m tests.benchmarks.search`` prints the share).

An answer is looked up under the whole observation, never under a hash alone, so it is the answer that the network would
give, bit for bit; the mask need not be compared, since it follows from the observation.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from idiot_agents.network import Floats, Network, masked_softmax
from idiot_agents.protocol import Masks, Observations
from idiot_env._jit import jit, jit_inline
from idiot_env.actions import N_ACTIONS
from idiot_env.cards import mix
from idiot_env.observation import OBSERVATION_SIZE

ROOM = 1 << 15
"""Positions that are kept, some 1,600 bytes each; memory is touched only as they come."""
_FACTORS = np.random.default_rng(0).integers(1 << 46, size=OBSERVATION_SIZE)
"""int64 ``[O]``, so small that no sum of products with int8 entries overflows."""


@jit_inline
def bucket_of(row, factors, buckets):
    """Where the search for an observation begins: a random linear function of it, scattered."""
    total = np.int64(0)
    for i in range(row.shape[0]):
        total += row[i] * factors[i]
    return mix(total) & (buckets - 1)


@jit_inline
def same(a, b):
    """Whether two rows are equal; without a branch in the loop, which compiles to a few wide comparisons."""
    different = np.int8(0)
    for i in range(a.shape[0]):
        different |= a[i] ^ b[i]
    return different == 0


@jit
def find_rows(observation, factors, table, seen, used, places, fresh):
    """The places of observations in ``seen``, int64 ``[B]``; new ones are put behind the first ``used``.

    ``table`` (int32 ``[buckets]``, a power of two) holds places, −1 where it is free.  ``fresh`` (int64 ``[B]``) gets
    the rows that were new.  Returns how many of ``seen`` are used now; there must be room for all.
    """
    before = used
    for k in range(places.shape[0]):
        bucket = bucket_of(observation[k], factors, table.shape[0])
        while table[bucket] >= 0 and not same(seen[table[bucket]], observation[k]):
            bucket = (bucket + 1) & (table.shape[0] - 1)
        if table[bucket] < 0:
            table[bucket] = used
            seen[used] = observation[k]
            fresh[used - before] = k
            used += 1
        places[k] = table[bucket]
    return used


class Recall:
    """A network that remembers its latest answers.

    Args:
        network: who is asked.
        temperature: of the probabilities, see :func:`~idiot_agents.network.masked_softmax`.
        room: positions that are kept; once they are full, all are forgotten.
    """

    def __init__(self, network: Network, temperature: float, room: int = ROOM) -> None:
        self.network, self.temperature, self.room = network, temperature, room
        self.met, self.asked = 0, 0
        """Positions that came, and those for which the network was asked: what recalling could not spare."""
        self._used = 0
        buckets = 4 << (room - 1).bit_length()  # a power of two, of which at most a quarter is taken
        self._table = np.full(buckets, -1, np.int32)
        self._seen = np.empty((room, OBSERVATION_SIZE), np.int8)
        self._probabilities = np.empty((room, N_ACTIONS), np.float32)
        self._values = np.empty(room, np.float32)

    def __call__(self, observation: Observations, mask: Masks) -> tuple[Floats, Floats]:
        """Probabilities float32 ``[B, A]`` and values float32 ``[B]`` of observations int8 ``[B, O]``."""
        self.met += len(mask)
        probabilities, values = np.empty(mask.shape, np.float32), np.empty(len(mask), np.float32)
        for first in range(0, len(mask), self.room):
            rows = slice(first, first + self.room)
            places = self._places(observation[rows], mask[rows])
            probabilities[rows], values[rows] = self._probabilities[places], self._values[places]
        return probabilities, values

    def _places(self, observation: Observations, mask: Masks) -> npt.NDArray[np.int64]:
        """Where the answers lie until the next call, int64 ``[B]``; at most ``room`` observations."""
        if self._used + len(mask) > self.room:
            self._forget()
        places, fresh = np.empty(len(mask), np.int64), np.empty(len(mask), np.int64)
        before = self._used
        try:
            self._used = int(find_rows(observation, _FACTORS, self._table, self._seen, before, places, fresh))
            self._answer(before, mask[fresh[: self._used - before]])
        except BaseException:  # an interrupt, too: no position may be found of which there is no answer
            self._forget()
            raise
        return places

    def _answer(self, first: int, legal: Masks) -> None:
        """Ask the network for the positions from ``first`` on, int8 ``[n, A]`` their masks."""
        new = slice(first, self._used)
        hidden = self.network.hidden(self._seen[new])
        logits = self.network.logits(hidden, legal)
        self._probabilities[new] = masked_softmax(logits, legal, self.temperature)
        self._values[new] = self.network.values(hidden)
        self.asked += len(legal)

    def _forget(self) -> None:
        self._table.fill(-1)
        self._used = 0
