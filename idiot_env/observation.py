"""What a seat may see: the one observation encoder, and re-dealing what it may not.

This is the only module that knows about secrecy (R29).  An observation is one flat ``int8`` vector ``[O]`` of named
blocks, the same for every table and for 2 to 5 players.  Seats are relative to the observer: 0 is the observer, 1 the
player clockwise after it; the blocks of opponents start with relative seat 1, and seats that are not at the table are
zeros.  ``LAYOUT`` names every block; the table below is generated from it (``python -m idiot_env.observation``), and a
test compares the two.

<layout>
=========  =======  =====  ====================  ===================================================================
block      slice    shape  range                 meaning
=========  =======  =====  ====================  ===================================================================
hand       0:14     14     0…4 cards             own hand by rank
up         14:28    14     0…4 cards             own face-up cards by rank
down       28:31    3      0…1 flag              own face-down slots that hold a card
opp_up     31:87    4×14   0…4 cards             each opponent's face-up cards by rank
opp_known  87:143   4×14   0…4 cards             each opponent's publicly known hand cards by rank
opp_hand   143:147  4      0…54 cards            each opponent's hand size
opp_down   147:159  4×3    0…1 flag              each opponent's face-down slots that hold a card
opp_in     159:163  4      0…1 flag              opponents who still have cards
pile       163:177  14     0…4 cards             the pile by rank
top        177:191  14     0…1 one-hot           rank on top of the pile; all zero: the pile is empty
run        191:192  1      0…4 cards             run length on top of the pile
pile_size  192:193  1      0…54 cards            size of the pile
burned     193:207  14     0…4 cards             burned cards by rank
stock      207:208  1      0…36 cards            size of the stock
unseen     208:222  14     0…4 cards             cards by rank that may be anywhere this seat cannot see
zone       222:227  5      0…1 one-hot           zone of the turn: swap, hand, up, down; or over
opening    227:228  1      0…1 flag              the first action must be a play of the starter's lowest rank
exchanges  228:229  1      0…54 exchanges        exchanges that the seat to act may still make
turn       229:234  5      0…1 one-hot           whose turn it is, relative; all zero: the game is over
place      234:239  5      0…5 place             place of whoever is out, relative; 0: still in, or not at the table
dealer     239:244  5      0…1 one-hot           the dealer, relative
players    244:245  1      0…5 seats             number of players
rules      245:262  17     0…2 place in OPTIONS  the house rules as numbers, in the order of rules.OPTIONS
=========  =======  =====  ====================  ===================================================================
</layout>
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idiot_env import engine
from idiot_env import rules as R
from idiot_env._jit import jit
from idiot_env.cards import FULL_DECK, N_RANKS, counts_of, shuffle, size_of
from idiot_env.engine import NO_CARD, SEATS, SLOTS, clockwise

OPPONENTS = SEATS - 1


@dataclass(frozen=True)
class Block:
    """One named part of the observation: ``observation[block.slice].reshape(block.shape)``."""

    name: str
    start: int
    shape: tuple[int, ...]
    high: int
    """The largest value; the smallest is 0."""
    unit: str
    meaning: str

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def stop(self) -> int:
        return self.start + self.size

    @property
    def slice(self) -> slice:
        return slice(self.start, self.stop)


_BLOCKS: tuple[tuple[str, tuple[int, ...], int, str, str], ...] = (
    ("hand", (N_RANKS,), 4, "cards", "own hand by rank"),
    ("up", (N_RANKS,), 4, "cards", "own face-up cards by rank"),
    ("down", (SLOTS,), 1, "flag", "own face-down slots that hold a card"),
    ("opp_up", (OPPONENTS, N_RANKS), 4, "cards", "each opponent's face-up cards by rank"),
    ("opp_known", (OPPONENTS, N_RANKS), 4, "cards", "each opponent's publicly known hand cards by rank"),
    ("opp_hand", (OPPONENTS,), 54, "cards", "each opponent's hand size"),
    ("opp_down", (OPPONENTS, SLOTS), 1, "flag", "each opponent's face-down slots that hold a card"),
    ("opp_in", (OPPONENTS,), 1, "flag", "opponents who still have cards"),
    ("pile", (N_RANKS,), 4, "cards", "the pile by rank"),
    ("top", (N_RANKS,), 1, "one-hot", "rank on top of the pile; all zero: the pile is empty"),
    ("run", (1,), 4, "cards", "run length on top of the pile"),
    ("pile_size", (1,), 54, "cards", "size of the pile"),
    ("burned", (N_RANKS,), 4, "cards", "burned cards by rank"),
    ("stock", (1,), 36, "cards", "size of the stock"),
    ("unseen", (N_RANKS,), 4, "cards", "cards by rank that may be anywhere this seat cannot see"),
    ("zone", (len(engine.PHASES),), 1, "one-hot", "zone of the turn: swap, hand, up, down; or over"),
    ("opening", (1,), 1, "flag", "the first action must be a play of the starter's lowest rank"),
    ("exchanges", (1,), 54, "exchanges", "exchanges that the seat to act may still make"),
    ("turn", (SEATS,), 1, "one-hot", "whose turn it is, relative; all zero: the game is over"),
    ("place", (SEATS,), 5, "place", "place of whoever is out, relative; 0: still in, or not at the table"),
    ("dealer", (SEATS,), 1, "one-hot", "the dealer, relative"),
    ("players", (1,), 5, "seats", "number of players"),
    ("rules", (R.N_OPTIONS,), 2, "place in OPTIONS", "the house rules as numbers, in the order of rules.OPTIONS"),
)


def make_layout(rows: Sequence[tuple[str, tuple[int, ...], int, str, str]]) -> dict[str, Block]:
    """Blocks by name, one after the other, from rows of name, shape, largest value, unit and meaning."""
    blocks, start = {}, 0
    for name, shape, high, unit, meaning in rows:
        blocks[name] = Block(name, start, shape, high, unit, meaning)
        start = blocks[name].stop
    return blocks


LAYOUT: dict[str, Block] = make_layout(_BLOCKS)
"""Every block of the observation by name, in order."""
OBSERVATION_SIZE = sum(block.size for block in LAYOUT.values())

(_HAND, _UP, _DOWN, _OPP_UP, _OPP_KNOWN, _OPP_HAND, _OPP_DOWN, _OPP_IN, _PILE, _TOP, _RUN, _PILE_SIZE, _BURNED, _STOCK,
 _UNSEEN, _ZONE, _OPENING, _EXCHANGES, _TURN, _PLACE, _DEALER, _PLAYERS, _RULES) = (
    block.start for block in LAYOUT.values()
)  # fmt: skip


def upper_bounds(layout: Mapping[str, Block] = LAYOUT) -> npt.NDArray[np.int8]:
    """The largest value of every entry, int8 ``[O]``; the smallest is 0 everywhere."""
    return np.concatenate([np.full(block.size, block.high, np.int8) for block in layout.values()])


def layout_hash() -> str:
    """A short hash of the layout; a trained network refuses an observation with another one."""
    text = ";".join(f"{b.name}{b.shape}{b.high}" for b in LAYOUT.values())
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@jit
def write_counts(out, start, cards):
    """The 14 rank counts of a card set into ``out[start:start + 14]``."""
    counts = counts_of(cards)
    for rank in range(N_RANKS):
        out[start + rank] = (counts >> (4 * rank)) & 15


@jit
def write_down(out, start, state, seat):
    for slot in range(SLOTS):
        out[start + slot] = state["down"][seat, slot] != NO_CARD


@jit
def write_observation(state, seat, out):
    """Write the observation of ``seat`` (any seat, at any moment) into ``out``, int8 ``[O]``."""
    players = int(state["players"])
    seen = state["hand"][seat] | state["up"][seat] | state["pile_set"] | state["burned"]
    out[:] = 0

    write_counts(out, _HAND, state["hand"][seat])
    write_counts(out, _UP, state["up"][seat])
    write_down(out, _DOWN, state, seat)
    out[_PLACE] = state["place"][seat]
    for opponent in range(players - 1):
        other = clockwise(seat, 1 + opponent, players)
        seen |= state["up"][other] | state["known"][other]
        write_counts(out, _OPP_UP + N_RANKS * opponent, state["up"][other])
        write_counts(out, _OPP_KNOWN + N_RANKS * opponent, state["known"][other])
        out[_OPP_HAND + opponent] = size_of(state["hand"][other])
        write_down(out, _OPP_DOWN + SLOTS * opponent, state, other)
        out[_OPP_IN + opponent] = state["place"][other] == 0
        out[_PLACE + 1 + opponent] = state["place"][other]

    write_counts(out, _PILE, state["pile_set"])
    if state["pile_size"] > 0:
        out[_TOP + int(state["top"])] = 1
    out[_RUN] = state["run"]
    out[_PILE_SIZE] = state["pile_size"]
    write_counts(out, _BURNED, state["burned"])
    out[_STOCK] = state["stock_size"]
    deck = FULL_DECK
    if state["rules"][R.JOKERS] == 1:
        deck |= 3 << 52
    write_counts(out, _UNSEEN, deck & ~seen)

    out[_ZONE + int(state["phase"])] = 1
    out[_OPENING] = state["opening"]
    out[_EXCHANGES] = state["exchanges"]
    if state["phase"] != engine.OVER:
        out[_TURN + clockwise(int(state["turn"]), players - seat, players)] = 1
    out[_DEALER + clockwise(int(state["dealer"]), players - seat, players)] = 1
    out[_PLAYERS] = players
    for option in range(R.N_OPTIONS):
        out[_RULES + option] = state["rules"][option]


@jit
def observe_at(states, i, seat, out):
    """:func:`write_observation` of ``states[i]``."""
    write_observation(states[i], seat, out)


def observe(states: npt.NDArray[np.void], seat: int, i: int = 0) -> npt.NDArray[np.int8]:
    """The observation of ``seat`` in game ``states[i]`` of a 1-D array of ``STATE``: a fresh int8 ``[O]``.

    Raises:
        ValueError: for a seat that is not at the table.
    """
    players = int(states[i]["players"])
    if not 0 <= seat < players:
        raise ValueError(f"seat {seat} is not at the table: seats go from 0 to {players - 1}.")
    out = np.empty(OBSERVATION_SIZE, np.int8)
    observe_at(states, i, seat, out)
    return out


# --- re-dealing what a seat cannot know ------------------------------------------------------------------------------


@jit
def gather_hidden(state, seat, pool):
    """All cards that ``seat`` cannot know into ``pool``, int8 ``[54]``; returns how many.

    Those are the others' hands without their publicly known cards, every face-down card, and the stock.
    """
    n = 0
    for other in range(int(state["players"])):
        if other != seat:
            hidden = state["hand"][other] & ~state["known"][other]
            for card in range(54):
                if (hidden >> card) & 1:
                    pool[n] = card
                    n += 1
        for slot in range(SLOTS):
            if state["down"][other, slot] != NO_CARD:
                pool[n] = state["down"][other, slot]
                n += 1
    for i in range(int(state["stock_size"])):
        pool[n] = state["stock"][i]
        n += 1
    return n


@jit
def lay_hidden(state, seat, pool):
    """Lay the cards of ``pool`` where :func:`gather_hidden` finds them, in the same order."""
    n = 0
    for other in range(int(state["players"])):
        if other != seat:
            hidden = size_of(state["hand"][other] & ~state["known"][other])
            cards = state["known"][other]
            for _ in range(hidden):
                cards |= np.int64(1) << int(pool[n])
                n += 1
            state["hand"][other] = cards
        for slot in range(SLOTS):
            if state["down"][other, slot] != NO_CARD:
                state["down"][other, slot] = pool[n]
                n += 1
    for i in range(int(state["stock_size"])):
        state["stock"][i] = pool[n]
        n += 1


@jit
def redeal(state, seat, random_state):
    """Shuffle, in place, all cards that ``seat`` cannot know among the places where it cannot see them.

    Returns the generator's next state.
    """
    pool = np.empty(54, np.int8)
    n = gather_hidden(state, seat, pool)
    random_state = shuffle(pool, n, random_state)
    lay_hidden(state, seat, pool)
    return random_state


@jit
def redeal_at(states, i, seat, random_state):
    """:func:`redeal` in ``states[i]``."""
    return redeal(states[i], seat, random_state)


def determinize(states: npt.NDArray[np.void], seat: int, rng: np.random.Generator, i: int = 0) -> npt.NDArray[np.void]:
    """A copy ``[1]`` of game ``states[i]`` in which everything that ``seat`` cannot know is dealt afresh, uniformly.

    What ``seat`` observes stays the same byte for byte.
    """
    world = states[i : i + 1].copy()
    redeal_at(world, 0, seat, rng.integers(-(2**63), 2**63 - 1))
    return world


# --- documentation ---------------------------------------------------------------------------------------------------


def layout_table(layout: Mapping[str, Block] = LAYOUT) -> str:
    """A layout as a table of plain text, as it stands in its module's docstring."""
    rows = [("block", "slice", "shape", "range", "meaning")]
    for block in layout.values():
        shape = "×".join(map(str, block.shape))
        rows.append((block.name, f"{block.start}:{block.stop}", shape, f"0…{block.high} {block.unit}", block.meaning))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


if __name__ == "__main__":
    print(layout_table())
    print(f"\nO = {OBSERVATION_SIZE}, layout hash {layout_hash()}")


__all__ = [
    "LAYOUT",
    "OBSERVATION_SIZE",
    "Block",
    "determinize",
    "layout_hash",
    "layout_table",
    "observe",
    "upper_bounds",
]
