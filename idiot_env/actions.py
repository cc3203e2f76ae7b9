"""The one action catalogue: id ↔ meaning ↔ text.  Ids depend neither on the rules nor on the number of players.

==========  =====  ==========================  =============================================================
first id    ids    text                        id
==========  =====  ==========================  =============================================================
PLAY        56     ``play 6``, ``play 6x3``    4 · rank + count − 1
TAKE        1      ``take``                    the pile alone
TAKE_WITH   14     ``take K``                  + rank of the face-up card taken along
FLIP        3      ``flip 2``                  + slot − 1
CHANCE      1      ``chance``                  the top stock card
DONE        1      ``done``                    ends the exchange before the start
SWAP        182    ``swap 4 K``                + 13 · hand rank + face-up rank (less 1 where that is above)
STACK       14     ``stack 6``                 + rank
SNEAK       4      ``sneak``, ``sneak x2``     + count − 1
RUN         45     ``run 5-8``                 + place in ``RUN_ENDS`` (by lowest, then highest rank)
==========  =====  ==========================  =============================================================
"""

from __future__ import annotations

import numpy as np

from idiot_env._jit import jit_inline
from idiot_env.cards import N_RANKS, ORDINARY, RANKS

PLAY = 0
TAKE = PLAY + 4 * N_RANKS
TAKE_WITH = TAKE + 1
FLIP = TAKE_WITH + N_RANKS
CHANCE = FLIP + 3
DONE = CHANCE + 1
SWAP = DONE + 1
STACK = SWAP + N_RANKS * (N_RANKS - 1)
SNEAK = STACK + N_RANKS
RUN = SNEAK + 4

MIN_RUN = 3
RUN_ENDS: tuple[tuple[int, int], ...] = tuple(
    (low, high) for low in range(len(ORDINARY)) for high in range(low + MIN_RUN - 1, len(ORDINARY))
)
"""Lowest and highest card of each run, as places in ``cards.ORDINARY``."""
N_ACTIONS = RUN + len(RUN_ENDS)

_N = len(ORDINARY)
RUN_ID = np.full((_N, _N), -1, dtype=np.int16)
"""int16 ``[11, 11]``: the action of a run by its ends as places in ``ORDINARY``; −1 where there is none."""
for _place, (_low, _high) in enumerate(RUN_ENDS):
    RUN_ID[_low, _high] = RUN + _place
RUN_LOW = np.array([low for low, _ in RUN_ENDS], dtype=np.int8)
RUN_HIGH = np.array([high for _, high in RUN_ENDS], dtype=np.int8)


def swap_action(hand_rank: int, up_rank: int) -> int:
    """The action that exchanges a hand card for a face-up card of another rank."""
    return SWAP + (N_RANKS - 1) * hand_rank + up_rank - (up_rank > hand_rank)


def swap_ranks(action: int) -> tuple[int, int]:
    """Hand rank and face-up rank of an exchange."""
    hand_rank, rest = (action - SWAP) // (N_RANKS - 1), (action - SWAP) % (N_RANKS - 1)
    return hand_rank, rest + (rest >= hand_rank)


# For compiled code; compiling these very functions would make every import of the catalogue wait for the compiler.
swap_action_at = jit_inline(swap_action)
swap_ranks_at = jit_inline(swap_ranks)


def _text(action: int) -> str:
    if action < TAKE:
        rank, count = divmod(action, 4)
        return f"play {RANKS[rank]}" + (f"x{count + 1}" if count else "")
    if action < TAKE_WITH:
        return "take"
    if action < FLIP:
        return f"take {RANKS[action - TAKE_WITH]}"
    if action < CHANCE:
        return f"flip {action - FLIP + 1}"
    if action < DONE:
        return "chance"
    if action < SWAP:
        return "done"
    if action < STACK:
        hand_rank, up_rank = swap_ranks(action)
        return f"swap {RANKS[hand_rank]} {RANKS[up_rank]}"
    if action < SNEAK:
        return f"stack {RANKS[action - STACK]}"
    if action < RUN:
        count = action - SNEAK + 1
        return "sneak" + (f" x{count}" if count > 1 else "")
    low, high = RUN_ENDS[action - RUN]
    return f"run {RANKS[ORDINARY[low]]}-{RANKS[ORDINARY[high]]}"


TEXTS: tuple[str, ...] = tuple(_text(action) for action in range(N_ACTIONS))
"""The text of every action."""
_ID_OF_TEXT = {text: action for action, text in enumerate(TEXTS)}


def action_text(action: int) -> str:
    """The text of an action id.

    >>> action_text(parse_action("play 6x3"))
    'play 6x3'

    Raises:
        ValueError: for an id outside the catalogue.
    """
    if not 0 <= action < N_ACTIONS:
        raise ValueError(f"action {action} is not in the catalogue: ids go from 0 to {N_ACTIONS - 1}.")
    return TEXTS[action]


def parse_action(text: str) -> int:
    """The id of an action's text; upper and lower case, and runs of blanks, read the same.

    >>> parse_action("swap 4 k") == parse_action("SWAP  4 K")
    True
    >>> parse_action("play 1")
    Traceback (most recent call last):
        ...
    ValueError: 'play 1' is not an action: write one such as ...

    Raises:
        ValueError: with the text and examples of what would be right.
    """
    words = " ".join(str(text).split()).lower()
    head, _, ranks = words.partition(" ")
    canonical = f"{head} {ranks.upper().replace('X', 'x')}".strip()
    if canonical not in _ID_OF_TEXT:
        raise ValueError(
            f"{text!r} is not an action: write one such as 'play 6', 'play 6x3', 'take', 'take K', 'flip 2', 'chance', "
            "'swap 4 K', 'done', 'stack 6', 'sneak x2' or 'run 5-8'."
        )
    return _ID_OF_TEXT[canonical]


__all__ = ["MIN_RUN", "N_ACTIONS", "TEXTS", "action_text", "parse_action", "swap_action", "swap_ranks"]
