"""Worlds as they tend to be: hidden cards dealt by what a model believes of the others' hands.

To somebody who has never seen a player all worlds that a view allows are alike.  But who plays well keeps some ranks
and gets rid of others, so an unseen card of a kept rank is likelier in a hand than face down or in the stock
(``python -m idiot_train.beliefs generalist`` prints how much).  A model's belief gives, for each opponent and rank, how
many times the odds are higher that an unseen card of this rank is in that opponent's hand, and not where nobody chose
to have it, than those of any card.  Cards are then independent of each other, but for the known sizes of the hands:
exactly so with one opponent, and with several nearly so, since hands are dealt one after the other and each one knows
of the later hands no more than their sizes and odds.
"""

from __future__ import annotations

import numpy as np

from idiot_env._jit import jit
from idiot_env.cards import N_RANKS, advance, below, shuffle, size_of
from idiot_env.engine import NO_CARD, SLOTS
from idiot_env.observation import gather_hidden, lay_hidden, redeal

UNIFORM = np.zeros((0, N_RANKS))
"""No belief: all worlds are alike."""

_ONE = 1 << 31


@jit
def choose_cards(pool, first, last, size, odds, random_state):
    """Move ``size`` of the cards ``pool[first:last]`` to the front of them.

    A set is chosen in proportion to the product of its cards' ``odds``, float64 ``[N_RANKS]``: independent cards, given
    how many (conditional Bernoulli sampling, Chen, Dempster and Liu 1994).  Returns the generator's next state.
    """
    n = last - first
    # ways[i, k]: the sum of those products over all sets of k of the cards from the i-th on.
    ways = np.zeros((n + 1, size + 1))
    ways[:, 0] = 1
    for i in range(n - 1, -1, -1):
        for k in range(1, size + 1):
            ways[i, k] = ways[i + 1, k] + odds[pool[first + i] >> 2] * ways[i + 1, k - 1]
    chosen = 0
    for i in range(n):
        left = size - chosen
        if left == 0:
            break
        random_state = advance(random_state)
        with_it = odds[pool[first + i] >> 2] * ways[i + 1, left - 1]
        if below(random_state, _ONE) * ways[i, left] < with_it * _ONE:
            pool[first + i], pool[first + chosen] = pool[first + chosen], pool[first + i]
            chosen += 1
    return random_state


@jit
def hidden_in_hand(world, seat):
    """How many of a hand's cards are not known."""
    return size_of(world["hand"][seat] & ~world["known"][seat])


@jit
def deal_by_belief(world, odds, random_state):
    """Deal, in place, all cards that seat 0 cannot know, by its belief.

    Args:
        world: a state whose seat 0 is the observer, as ``write_world`` leaves it.
        odds: float64 ``[opponents, N_RANKS]``, of an unseen card's being in each opponent's hand and neither in the
            stock nor face down, over those of any card; 1 everywhere is no belief.

    Returns:
        the generator's next state.
    """
    players = int(world["players"])
    pool, ordered, own = np.empty(54, np.int8), np.empty(54, np.int8), np.empty(N_RANKS)
    n = gather_hidden(world, 0, pool)
    random_state = shuffle(pool, n, random_state)
    nowhere = n
    for seat in range(1, players):
        nowhere -= hidden_in_hand(world, seat)
    rest = 0
    for seat in range(1, players):
        size = hidden_in_hand(world, seat)
        for rank in range(N_RANKS):
            # It is in this hand, or in none, or in one that is yet to be dealt.
            elsewhere = float(nowhere)
            for later in range(seat + 1, players):
                elsewhere += odds[later - 1, rank] * hidden_in_hand(world, later)
            own[rank] = odds[seat - 1, rank] / elsewhere if elsewhere > 0 else 1.0  # all that is left is in this hand
        random_state = choose_cards(pool, rest, n, size, own, random_state)
        rest += size
    hand, filled = 0, 0
    for seat in range(players):
        if seat > 0:
            for _ in range(hidden_in_hand(world, seat)):
                ordered[filled] = pool[hand]
                hand, filled = hand + 1, filled + 1
        for slot in range(SLOTS):
            if world["down"][seat, slot] != NO_CARD:
                ordered[filled] = pool[rest]
                rest, filled = rest + 1, filled + 1
    ordered[filled:n] = pool[rest:n]
    lay_hidden(world, 0, ordered)
    return random_state


@jit
def draw_hidden(world, odds, random_state):
    """:func:`deal_by_belief`, or without a belief :func:`~idiot_env.observation.redeal`, for seat 0."""
    if odds.shape[0] == 0:
        return redeal(world, 0, random_state)
    return deal_by_belief(world, odds, random_state)


@jit
def draw_hidden_at(worlds, i, odds, random_state):
    """:func:`draw_hidden` in ``worlds[i]``."""
    return draw_hidden(worlds[i], odds, random_state)
