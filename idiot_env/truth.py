"""The full truth of one game as a flat vector: for centralised critics and referees, NEVER for a player.

It holds every hidden card.  A policy that reads it cheats; a critic that is thrown away after training may read it.
Seats are absolute: the vector belongs to the table and not to an observer.  A card's place is 0 if it is not in this
deck, 1 in the stock, 2 in the pile, 3 burned, 4 + seat in a hand, 9 + seat face-up, 14 + 3 · seat + slot face-down.

<layout>
==========  =======  =====  ====================  ================================================================
block       slice    shape  range                 meaning
==========  =======  =====  ====================  ================================================================
card_place  0:54     54     0…28 place            where each card lies, as said above
card_order  54:108   54     0…54 place            from the pile's bottom or the stock's next card, from 1 on
card_known  108:162  54     0…1 flag              hand cards that everybody knows
turn        162:163  1      0…5 seat + 1          whose turn it is; 0: the game is over
zone        163:164  1      0…4 phase             swap, hand, up, down; or over
top         164:165  1      0…14 rank + 1         rank on top of the pile; 0: the pile is empty
run         165:166  1      0…4 cards             run length on top of the pile
exchanges   166:167  1      0…54 exchanges        exchanges that the seat to act may still make
swapped     167:168  1      0…5 seats             seats that are done with the exchange before the start
opening     168:169  1      0…1 flag              the first action must be a play of the starter's lowest rank
first_up    169:171  2      0…14 rank, seat + 1   lowest rank dealt face-up, and to whom first
place       171:176  5      0…5 place             place of the seats who are out; 0: still in, or not at the table
dealer      176:177  1      0…4 seat              the dealer
players     177:178  1      0…5 seats             number of players
decisions   178:181  3      0…127 digits          actions applied so far, base 128, the lowest digit first
rules       181:198  17     0…2 place in OPTIONS  the house rules as numbers, in the order of rules.OPTIONS
==========  =======  =====  ====================  ================================================================
</layout>
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from idiot_env import engine
from idiot_env import rules as R
from idiot_env._jit import jit
from idiot_env.cards import N_CARDS, N_RANKS
from idiot_env.engine import NO_CARD, SEATS, SLOTS
from idiot_env.observation import Block, make_layout

NOWHERE, IN_STOCK, IN_PILE, BURNED, HAND_OF, UP_OF, DOWN_OF = 0, 1, 2, 3, 4, 4 + SEATS, 4 + 2 * SEATS
"""Values of the block ``card_place``; the last three count up with the seat, and ``DOWN_OF`` with 3 · seat + slot."""
_DIGIT = 128

LAYOUT: dict[str, Block] = make_layout(
    (
        ("card_place", (N_CARDS,), DOWN_OF + SLOTS * SEATS - 1, "place", "where each card lies, as said above"),
        ("card_order", (N_CARDS,), N_CARDS, "place", "from the pile's bottom or the stock's next card, from 1 on"),
        ("card_known", (N_CARDS,), 1, "flag", "hand cards that everybody knows"),
        ("turn", (1,), SEATS, "seat + 1", "whose turn it is; 0: the game is over"),
        ("zone", (1,), len(engine.PHASES) - 1, "phase", "swap, hand, up, down; or over"),
        ("top", (1,), N_RANKS, "rank + 1", "rank on top of the pile; 0: the pile is empty"),
        ("run", (1,), 4, "cards", "run length on top of the pile"),
        ("exchanges", (1,), N_CARDS, "exchanges", "exchanges that the seat to act may still make"),
        ("swapped", (1,), SEATS, "seats", "seats that are done with the exchange before the start"),
        ("opening", (1,), 1, "flag", "the first action must be a play of the starter's lowest rank"),
        ("first_up", (2,), N_RANKS, "rank, seat + 1", "lowest rank dealt face-up, and to whom first"),
        ("place", (SEATS,), SEATS, "place", "place of the seats who are out; 0: still in, or not at the table"),
        ("dealer", (1,), SEATS - 1, "seat", "the dealer"),
        ("players", (1,), SEATS, "seats", "number of players"),
        ("decisions", (3,), _DIGIT - 1, "digits", "actions applied so far, base 128, the lowest digit first"),
        ("rules", (R.N_OPTIONS,), 2, "place in OPTIONS", "the house rules as numbers, in the order of rules.OPTIONS"),
    )
)  # fmt: skip
"""Every block of the vector by name, in order."""
TRUTH_SIZE = sum(block.size for block in LAYOUT.values())

(_PLACE_OF, _ORDER_OF, _KNOWN, _TURN, _ZONE, _TOP, _RUN, _EXCHANGES, _SWAPPED, _OPENING, _FIRST_UP, _PLACE, _DEALER,
 _PLAYERS, _DECISIONS, _RULES) = (block.start for block in LAYOUT.values())  # fmt: skip


@jit
def write_place(out, cards, place):
    """``place`` for every card of a set."""
    for card in range(N_CARDS):
        if (cards >> card) & 1:
            out[_PLACE_OF + card] = place


@jit
def write_truth(state, out):
    """Write everything about one game into ``out``, int8 ``[TRUTH_SIZE]``."""
    out[:] = 0
    write_place(out, state["burned"], BURNED)
    for i in range(int(state["pile_size"])):
        card = int(state["pile"][i])
        out[_PLACE_OF + card] = IN_PILE
        out[_ORDER_OF + card] = i + 1
    stock_size = int(state["stock_size"])
    for i in range(stock_size):
        card = int(state["stock"][i])
        out[_PLACE_OF + card] = IN_STOCK
        out[_ORDER_OF + card] = stock_size - i
    for seat in range(int(state["players"])):
        write_place(out, state["hand"][seat], HAND_OF + seat)
        write_place(out, state["up"][seat], UP_OF + seat)
        for card in range(N_CARDS):
            if (state["known"][seat] >> card) & 1:
                out[_KNOWN + card] = 1
        for slot in range(SLOTS):
            card = int(state["down"][seat, slot])
            if card != NO_CARD:
                out[_PLACE_OF + card] = DOWN_OF + SLOTS * seat + slot
        out[_PLACE + seat] = state["place"][seat]
    out[_TURN] = state["turn"] + 1
    out[_ZONE] = state["phase"]
    out[_TOP] = state["top"] + 1
    out[_RUN] = state["run"]
    out[_EXCHANGES] = state["exchanges"]
    out[_SWAPPED] = state["swapped"]
    out[_OPENING] = state["opening"]
    out[_FIRST_UP] = state["first_up_rank"]
    out[_FIRST_UP + 1] = state["first_up_seat"] + 1
    out[_DEALER] = state["dealer"]
    out[_PLAYERS] = state["players"]
    rest = int(state["decisions"])
    for digit in range(3):
        out[_DECISIONS + digit] = rest % _DIGIT
        rest //= _DIGIT
    for option in range(R.N_OPTIONS):
        out[_RULES + option] = state["rules"][option]


@jit
def truth_at(states, i, out):
    """:func:`write_truth` of ``states[i]``."""
    write_truth(states[i], out)


def truth(states: npt.NDArray[np.void], i: int = 0) -> npt.NDArray[np.int8]:
    """Everything about game ``states[i]`` of a 1-D array of ``STATE``: fresh, int8 ``[TRUTH_SIZE]``.  Not for play."""
    out = np.empty(TRUTH_SIZE, np.int8)
    truth_at(states, i, out)
    return out
