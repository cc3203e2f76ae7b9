"""Cards, ranks and card sets.

==========  =====================================================================================
word        representation
==========  =====================================================================================
rank        0 … 13 in the order ``3 4 5 6 7 8 9 T J Q K A 2 *``: the game's "lowest card" order,
            whose first twelve are the natural order that "same or higher" means
suit        0 … 3 for ``C D H S``; the two jokers are suits 0 and 1 of rank 13, written ``*1 *2``
card        ``4 * rank + suit``: 0 … 53
card set    one ``int64`` with bit ``card`` set; 54 bits never reach the sign.  Never ``uint64``:
            mixed with literals Numba turns that into float64
counts      one ``int64`` with the number of cards of rank r in bits 4r … 4r + 3
==========  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from idiot_env._jit import jit, jit_inline

RANKS = "3456789TJQKA2*"
SUITS = "CDHS"
THREE, SEVEN, NINE, TEN, ACE, TWO, JOKER = 0, 4, 6, 7, 11, 12, 13
N_RANKS = 14
N_CARDS = 54
NO_RANK = -1
ORDINARY = tuple(rank for rank in range(ACE + 1) if rank != TEN)
"""The ordinary ranks in order; 9 and J are neighbours."""

FULL_DECK = (1 << 52) - 1
"""The 52 cards without jokers, as a card set."""
RANK_BITS = 15
_ODD = 0x5555555555555555
_PAIRS = 0x3333333333333333
_ONES = 0x1111111111111111


@jit_inline
def counts_of(cards):
    """Cards of each rank as nibbles: 4-bit fields, rank 0 lowest (a popcount of all nibbles at once)."""
    pairs = cards - ((cards >> 1) & _ODD)
    return (pairs & _PAIRS) + ((pairs >> 2) & _PAIRS)


@jit_inline
def ranks_of(cards):
    """A nibble of 1 for every rank in a set."""
    pairs = cards | (cards >> 1)
    return (pairs | (pairs >> 2)) & _ONES


@jit_inline
def pushed_down(cards):
    """As many cards of each rank as the set holds, but of the lowest suits: a nibble of 1, 3, 7 or 15."""
    either, both = (cards | (cards >> 1)) & _ODD, cards & (cards >> 1) & _ODD  # of each nibble's two halves
    other_either, other_both = either >> 2, both >> 2
    one = (either | other_either) & _ONES
    two = (both | other_both | (either & other_either)) & _ONES
    three = ((both & other_either) | (either & other_both)) & _ONES
    four = both & other_both & _ONES
    return one | (two << 1) | (three << 2) | (four << 3)


@jit_inline
def size_of(cards):
    """Number of cards in a set."""
    counts = counts_of(cards)
    counts = (counts & 0x0F0F0F0F0F0F0F0F) + ((counts >> 4) & 0x0F0F0F0F0F0F0F0F)
    counts += counts >> 8
    counts += counts >> 16
    return (counts + (counts >> 32)) & 127


@jit_inline
def count_rank(cards, rank):
    """Number of cards of ``rank`` in a set: 0 … 4."""
    return (counts_of(cards) >> (4 * rank)) & 15


@jit_inline
def rank_set(cards, rank):
    """The subset of one rank."""
    return cards & (RANK_BITS << (4 * rank))


@jit
def lowest_cards(cards, k):
    """The ``k`` lowest cards of a set (all of it if it holds fewer)."""
    rest = cards
    for _ in range(k):
        rest &= rest - 1
    return cards & ~rest


@jit
def leaving_cards(cards, known, rank, k):
    """Which ``k`` cards of ``rank`` leave a hand: publicly known ones first, then by suit C D H S."""
    of_rank = rank_set(cards, rank)
    seen = of_rank & known
    out = lowest_cards(seen, k)
    missing = k - size_of(out)
    if missing > 0:
        out |= lowest_cards(of_rank & ~seen, missing)
    return out


@jit
def lowest_rank(cards):
    """Lowest rank in "lowest card" order, or ``NO_RANK`` for an empty set."""
    for rank in range(N_RANKS):
        if rank_set(cards, rank) != 0:
            return rank
    return NO_RANK


# --- randomness: splitmix64 on int64, the same in compiled and plain Python ------------------------------------------

# Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014. Constants as signed 64-bit.
_GAMMA = np.int64(-7046029254386353131)
_MIX1 = np.int64(-4658895280553007687)
_MIX2 = np.int64(-7723592293110705685)


# Numba marks signed sums and products as never overflowing, and LLVM may then assume anything of one that does. Only
# these two functions may overflow; they compute modulo 2**64 on unsigned numbers, where that is defined.


@jit_inline
def wrapping_sum(a, b):
    """``a + b`` of int64 modulo 2**64."""
    return np.int64(np.uint64(np.int64(a)) + np.uint64(np.int64(b)))


@jit_inline
def wrapping_product(a, b):
    """``a * b`` of int64 modulo 2**64."""
    return np.int64(np.uint64(np.int64(a)) * np.uint64(np.int64(b)))


@jit_inline
def mix(z):
    """The finaliser of splitmix64: a bijection of int64 that scatters neighbouring values."""
    z = wrapping_product(z ^ ((z >> 30) & 0x3FFFFFFFF), _MIX1)
    z = wrapping_product(z ^ ((z >> 27) & 0x1FFFFFFFFF), _MIX2)
    return z ^ ((z >> 31) & 0x1FFFFFFFF)


@jit_inline
def stream(seed, index):
    """The ``index``-th independent random state derived from ``seed``."""
    return mix(wrapping_sum(mix(wrapping_sum(seed, _GAMMA)), wrapping_product(index + 1, _GAMMA)))


@jit_inline
def advance(random_state):
    """The next state of a generator; :func:`below` reads a number from it."""
    return wrapping_sum(random_state, _GAMMA)


@jit_inline
def below(random_state, n):
    """A number in 0 … n − 1 from a state, uniform to within n / 2**31."""
    return (((mix(random_state) >> 33) & 0x7FFFFFFF) * n) >> 31


@jit
def shuffle(cards, n, random_state):
    """Fisher–Yates shuffle of the first ``n`` entries in place; returns the generator's next state."""
    for i in range(n - 1, 0, -1):
        random_state = advance(random_state)
        j = below(random_state, i + 1)
        swap = cards[i]
        cards[i] = cards[j]
        cards[j] = swap
    return random_state


# --- text ------------------------------------------------------------------------------------------------------------


def card_text(card: int) -> str:
    """``6S``, ``TH``, ``*1``."""
    rank, suit = divmod(int(card), 4)
    return RANKS[rank] + (SUITS[suit] if rank != JOKER else str(suit + 1))


_CARD_OF_TEXT = {card_text(card): card for card in range(N_CARDS)}


def parse_card(text: str) -> int:
    """The card that ``text`` names; ``ValueError`` with the value otherwise.

    >>> parse_card("3C"), parse_card("TH"), parse_card("*2")
    (0, 30, 53)
    """
    if not isinstance(text, str) or text not in _CARD_OF_TEXT:
        raise ValueError(f"{text!r} is not a card: write a rank of {RANKS} and a suit of {SUITS}, or *1 or *2.")
    return _CARD_OF_TEXT[text]


def cards_in(cards: int) -> list[int]:
    """The cards of a set, lowest first."""
    bits = int(cards)
    return [card for card in range(N_CARDS) if bits >> card & 1]


def card_set(cards: Iterable[int]) -> int:
    """The set of some cards."""
    bits = 0
    for card in cards:
        bits |= 1 << int(card)
    return bits


def ranks_text(cards: int) -> str:
    """Ranks of a set in "lowest card" order.

    >>> ranks_text(card_set(map(parse_card, ["2S", "3C", "TH", "9D", "3D"])))
    '339T2'
    """
    return "".join(RANKS[card // 4] for card in cards_in(cards))


def counts_text(counts: Iterable[int]) -> str:
    """The same from a list of counts by rank."""
    return "".join(RANKS[rank] * int(count) for rank, count in enumerate(counts))


__all__ = ["N_CARDS", "N_RANKS", "RANKS", "SUITS", "card_set", "card_text", "cards_in", "parse_card"]
