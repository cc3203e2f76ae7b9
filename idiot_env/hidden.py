"""What a seat cannot see, as a flat vector beside its observation: for critics in training, NEVER for a player.

Seats are relative to the observer as in ``observation``; seats that are not at the table are zeros.

<layout>
========  =======  =====  ===========  =============================================================
block     slice    shape  range        meaning
========  =======  =====  ===========  =============================================================
opp_hand  0:56     4×14   0…4 cards    each opponent's hand by rank
down      56:126   5×14   0…3 cards    each seat's face-down cards by rank, the observer's own first
next      126:182  4×14   0…1 one-hot  ranks of the next cards of the stock
========  =======  =====  ===========  =============================================================
</layout>
"""

from __future__ import annotations

from idiot_env._jit import jit
from idiot_env.cards import N_RANKS
from idiot_env.engine import NO_CARD, SEATS, SLOTS, clockwise
from idiot_env.observation import OPPONENTS, Block, make_layout, write_counts

NEXT_CARDS = 4
"""Cards of the stock that are shown: what the next players will draw."""

LAYOUT: dict[str, Block] = make_layout(
    (
        ("opp_hand", (OPPONENTS, N_RANKS), 4, "cards", "each opponent's hand by rank"),
        ("down", (SEATS, N_RANKS), 3, "cards", "each seat's face-down cards by rank, the observer's own first"),
        ("next", (NEXT_CARDS, N_RANKS), 1, "one-hot", "ranks of the next cards of the stock"),
    )
)
"""Every block of the vector by name, in order."""
HIDDEN_SIZE = sum(block.size for block in LAYOUT.values())

_OPP_HAND, _DOWN, _NEXT = (block.start for block in LAYOUT.values())


@jit
def write_hidden(state, seat, out):
    """Write what ``seat`` cannot see into ``out``, int8 ``[HIDDEN_SIZE]``."""
    players = int(state["players"])
    out[:] = 0
    for relative in range(players):
        other = clockwise(seat, relative, players)
        if relative > 0:
            write_counts(out, _OPP_HAND + N_RANKS * (relative - 1), state["hand"][other])
        for slot in range(SLOTS):
            card = int(state["down"][other, slot])
            if card != NO_CARD:
                out[_DOWN + N_RANKS * relative + (card >> 2)] += 1
    stock_size = int(state["stock_size"])
    for k in range(min(NEXT_CARDS, stock_size)):
        out[_NEXT + N_RANKS * k + (int(state["stock"][stock_size - 1 - k]) >> 2)] = 1


@jit
def write_hidden_rows(states, seats, out):
    """:func:`write_hidden` of ``states[i]`` for the seat ``seats[i]`` into ``out[i]``, int8 ``[N, HIDDEN_SIZE]``."""
    for i in range(states.shape[0]):
        write_hidden(states[i], int(seats[i]), out[i])
