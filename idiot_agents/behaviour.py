"""How an agent plays, beside how well: what it does with twos and tens, with threes on the pile, with the pile itself.

:func:`watch` counts while games run, in the compiled loop as in the batched one, from nothing but the view, the mask
and the action.  :func:`describe` turns the counts into the figures of the table.

====================  ================================================================================================
count                 of decisions of one agent
====================  ================================================================================================
decisions             all
leads, special_leads  plays on an empty pile with both a special rank (two, ten, joker) and another one to choose from;
                      those that laid a special one
tens, small_tens      tens and jokers laid on a pile; those on a pile of one or two cards
fours, broken_fours   three of a rank on the pile and the fourth at hand; those that did something else
choices, takes        turns on which the pile could be played on or taken; those that took it, and ``taken`` the sum of
                      the piles' sizes then
chances, drawn        turns with a chance draw allowed; those that drew
exchanged             exchanges before the start that were ended; ``left`` counts the face-up cards by rank then
====================  ================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idiot_env import actions as A
from idiot_env._jit import jit
from idiot_env.cards import JOKER, N_RANKS, NO_RANK, RANKS, TEN, TWO
from idiot_env.observation import LAYOUT

COUNTS = (
    "decisions",
    "leads",
    "special_leads",
    "tens",
    "small_tens",
    "fours",
    "broken_fours",
    "choices",
    "takes",
    "taken",
    "chances",
    "drawn",
    "exchanged",
)
(_DECISIONS, _LEADS, _SPECIAL_LEADS, _TENS, _SMALL_TENS, _FOURS, _BROKEN_FOURS, _CHOICES, _TAKES, _TAKEN, _CHANCES,
 _DRAWN, _EXCHANGED) = range(len(COUNTS))  # fmt: skip
_LEFT = len(COUNTS)
N_COUNTS = _LEFT + N_RANKS
SMALL_PILE = 2

_UP, _TOP, _RUN, _PILE_SIZE, _ZONE_SWAP = (LAYOUT[name].start for name in ("up", "top", "run", "pile_size", "zone"))


@jit
def watch(observation, mask, action, counts):
    """Count one decision: a view ``[O]``, a mask ``[A]``, the chosen action, and the agent's counts ``[C]``."""
    counts[_DECISIONS] += 1
    if observation[_ZONE_SWAP] == 1:
        if action == A.DONE:
            counts[_EXCHANGED] += 1
            for rank in range(N_RANKS):
                counts[_LEFT + rank] += observation[_UP + rank]
        return
    pile = observation[_PILE_SIZE]
    laid = action // 4 if action < A.TAKE else NO_RANK
    special, ordinary = 0, 0
    for rank in range(N_RANKS):
        if rank in (TWO, TEN, JOKER):
            special += mask[4 * rank]  # whoever may lay several may lay one
        else:
            ordinary += mask[4 * rank]
    if pile == 0:
        if laid != NO_RANK and special > 0 and ordinary > 0:
            counts[_LEADS] += 1
            counts[_SPECIAL_LEADS] += laid in (TWO, TEN, JOKER)
    else:
        if laid in (TEN, JOKER):
            counts[_TENS] += 1
            counts[_SMALL_TENS] += pile <= SMALL_PILE
        if observation[_RUN] == 3:
            for rank in range(N_RANKS):
                if observation[_TOP + rank] == 1 and mask[4 * rank] == 1:
                    counts[_FOURS] += 1
                    counts[_BROKEN_FOURS] += laid != rank
        takable = 0
        for take in range(A.TAKE, A.FLIP):
            takable += mask[take]
        if special + ordinary > 0 and takable > 0:
            counts[_CHOICES] += 1
            if A.TAKE <= action < A.FLIP:
                counts[_TAKES] += 1
                counts[_TAKEN] += pile
    if mask[A.CHANCE] == 1:
        counts[_CHANCES] += 1
        counts[_DRAWN] += action == A.CHANCE


@jit
def watch_batch(observation, mask, actions, who, counts):
    """Count K decisions; ``who`` int64 ``[K]`` is the row of each in ``counts`` ``[agents, C]``."""
    for k in range(actions.shape[0]):
        watch(observation[k], mask[k], actions[k], counts[who[k]])


@dataclass(frozen=True)
class Behaviour:
    """One agent's figures; a share is ``None`` where there was nothing to decide."""

    agent: str
    decisions: float
    """Per game and seat."""
    special_leads: float | None
    small_tens: float | None
    broken_fours: float | None
    takes: float | None
    taken: float | None
    """Mean size of a pile taken with a play at hand, in cards."""
    drawn: float | None
    face_up: dict[str, float] | None
    """Mean number of face-up cards of each rank when the exchange before the start ends."""


def _ratio(counts: npt.NDArray[np.int64], part: int, whole: int) -> float | None:
    return float(counts[part] / counts[whole]) if counts[whole] else None


def describe(agent: str, counts: npt.NDArray[np.int64], seats: int) -> Behaviour:
    """The figures of an agent that sat in ``seats`` seats of games, from its counts ``[C]``."""
    left = counts[_LEFT:] / max(int(counts[_EXCHANGED]), 1)
    profile = {rank: float(mean) for rank, mean in zip(RANKS, left, strict=True) if mean}
    return Behaviour(
        agent=agent,
        decisions=float(counts[_DECISIONS] / seats),
        special_leads=_ratio(counts, _SPECIAL_LEADS, _LEADS),
        small_tens=_ratio(counts, _SMALL_TENS, _TENS),
        broken_fours=_ratio(counts, _BROKEN_FOURS, _FOURS),
        takes=_ratio(counts, _TAKES, _CHOICES),
        taken=_ratio(counts, _TAKEN, _TAKES),
        drawn=_ratio(counts, _DRAWN, _CHANCES),
        face_up=profile if counts[_EXCHANGED] else None,
    )
