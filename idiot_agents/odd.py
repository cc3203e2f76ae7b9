"""Three odd agents that punish over-fitting: each plays one passion to the end, and none of them well.

An agent that has only learned to beat its like may be at a loss against somebody who plays as no sensible player does.

===========  =======================================================================================================
name         how it plays
===========  =======================================================================================================
``hoarder``  brings specials into its hand before the start; completes fours; otherwise lays single low cards only and
             takes the pile rather than give up a special or break a pair, until it holds more than ``ENOUGH`` cards
``gambler``  burns whenever it can, with a ten or joker or by completing four; else draws by chance where the table
             allows it; else lays its longest run or a rank drawn by lot, all its copies, to come to the blind cards
             soon; flips any of these
``taker``    takes the pile whenever it may, even an empty one for a pass; else lays its lowest rank like greedy
===========  =======================================================================================================

They exchange and stack nothing but what is said here.  Each acts legally at every table.
"""

from __future__ import annotations

from idiot_agents.reading import (
    START,
    burning_play,
    first_legal,
    legal_copies,
    lowest_play,
    lowest_take,
    special_play,
)
from idiot_env import actions as A
from idiot_env._jit import jit
from idiot_env.cards import ACE, JOKER, N_RANKS, TEN, TWO, below

ENOUGH = 6
"""Cards in hand from which on even a hoarder lets go of pairs and specials: or no game among them would end."""

_HAND, _UP, _ZONE_SWAP = START["hand"], START["up"], START["zone"]


@jit
def is_special(rank):
    return rank in (TWO, TEN, JOKER)


@jit
def bring_home(observation, mask):
    """The exchange of the lowest ordinary hand card for a face-up special, or −1."""
    for hand_rank in range(N_RANKS):
        if observation[_HAND + hand_rank] == 0 or is_special(hand_rank):
            continue
        for up_rank in range(N_RANKS):
            if observation[_UP + up_rank] > 0 and is_special(up_rank):
                action = A.swap_action_at(hand_rank, up_rank)
                if mask[action] == 1:
                    return action
    return -1


@jit
def single_play(mask):
    """The lowest ordinary rank of which only one card could be laid, or −1."""
    for rank in range(ACE + 1):
        if rank != TEN and legal_copies(mask, rank) == 1:
            return A.PLAY + 4 * rank
    return -1


@jit
def hoarder(observation, mask):
    """Keeps what is worth keeping, and much besides."""
    if observation[_ZONE_SWAP] == 1:
        exchange = bring_home(observation, mask)
        return exchange if exchange >= 0 else A.DONE
    burn = burning_play(observation, mask)
    if burn >= 0 and not is_special(burn // 4):
        return burn
    play = single_play(mask)
    hand = 0
    for rank in range(N_RANKS):
        hand += observation[_HAND + rank]
    if play < 0 and hand <= ENOUGH:
        play = lowest_take(mask)
    if play < 0:
        play = lowest_play(mask)
    if play < 0:
        play = special_play(mask)
    return play if play >= 0 else first_legal(mask, 0, A.N_ACTIONS)


@jit
def play_by_lot(mask, random_state):
    """All copies of a rank drawn among those that may be laid, or −1."""
    ranks = 0
    for rank in range(N_RANKS):
        ranks += mask[A.PLAY + 4 * rank]
    if ranks == 0:
        return -1
    skip = below(random_state, ranks)
    for rank in range(N_RANKS):
        if mask[A.PLAY + 4 * rank] == 1:
            if skip == 0:
                return A.PLAY + 4 * rank + legal_copies(mask, rank) - 1
            skip -= 1
    return -1


@jit
def longest_run(mask):
    """The legal run of the most cards, the lowest of these, or −1."""
    best, most = -1, 0
    for place in range(A.RUN_LOW.shape[0]):
        cards = int(A.RUN_HIGH[place]) - int(A.RUN_LOW[place]) + 1
        if mask[A.RUN + place] == 1 and cards > most:
            best, most = A.RUN + place, cards
    return best


@jit
def any_flip(mask, random_state):
    """A face-down slot drawn among those that hold a card, or −1."""
    slots = 0
    for action in range(A.FLIP, A.CHANCE):
        slots += mask[action]
    if slots == 0:
        return -1
    skip = below(random_state, slots)
    for action in range(A.FLIP, A.CHANCE):
        if mask[action] == 1:
            if skip == 0:
                return action
            skip -= 1
    return -1


@jit
def gambler(observation, mask, random_state):
    """Lives for burns, chance draws and blind cards."""
    play = burning_play(observation, mask)
    if play < 0 and mask[A.CHANCE] == 1:
        play = A.CHANCE
    if play < 0:
        play = longest_run(mask)
    if play < 0:
        play = play_by_lot(mask, random_state)
    if play < 0:
        play = any_flip(mask, random_state)
    if play < 0 and mask[A.DONE] == 1:
        play = A.DONE
    return play if play >= 0 else first_legal(mask, A.TAKE, A.N_ACTIONS)


@jit
def taker(mask):
    """Takes; or, when there is nothing to take, plays like greedy."""
    play = lowest_take(mask)
    if play < 0:
        play = lowest_play(mask)
    if play < 0:
        play = special_play(mask)
    if play < 0 and mask[A.DONE] == 1:
        play = A.DONE
    return play if play >= 0 else first_legal(mask, 0, A.N_ACTIONS)
