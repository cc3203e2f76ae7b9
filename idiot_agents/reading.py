"""What compiled agents read off a view: the pile's top, what may be laid, what the next player surely has."""

from __future__ import annotations

from idiot_env import actions as A
from idiot_env._jit import jit
from idiot_env.cards import ACE, JOKER, N_RANKS, NO_RANK, TEN, TWO
from idiot_env.observation import LAYOUT, OPPONENTS

START = {name: block.start for name, block in LAYOUT.items()}
"""Where each block of the observation starts."""

_TOP, _RUN = START["top"], START["run"]
_OPP_UP, _OPP_KNOWN, _OPP_HAND, _OPP_IN = (START[name] for name in ("opp_up", "opp_known", "opp_hand", "opp_in"))


@jit
def top_rank(observation):
    for rank in range(N_RANKS):
        if observation[_TOP + rank] == 1:
            return rank
    return NO_RANK


@jit
def legal_copies(mask, rank):
    """The largest number of cards of ``rank`` that may be laid; 0 if none."""
    for k in range(4, 0, -1):
        if mask[A.PLAY + 4 * rank + k - 1] == 1:
            return k
    return 0


@jit
def first_legal(mask, start, stop):
    """The first legal action in a range of ids, or −1."""
    for action in range(start, stop):
        if mask[action] == 1:
            return action
    return -1


@jit
def lowest_play(mask):
    """All copies of the lowest ordinary rank that may be laid, or −1."""
    for rank in range(ACE + 1):
        if rank != TEN:
            copies = legal_copies(mask, rank)
            if copies > 0:
                return A.PLAY + 4 * rank + copies - 1
    return -1


@jit
def special_play(mask):
    """One two, ten or joker, the first of these that may be laid, or −1."""
    for rank in (TWO, TEN, JOKER):
        if mask[A.PLAY + 4 * rank] == 1:
            return A.PLAY + 4 * rank
    return -1


@jit
def burning_play(observation, mask):
    """A play that burns: the cards that make four on top, or a ten or joker; −1 if there is none."""
    top, run = top_rank(observation), int(observation[_RUN])
    for rank in range(N_RANKS):
        missing = 4 - run if rank == top else 4
        if missing > 0 and mask[A.PLAY + 4 * rank + missing - 1] == 1:
            return A.PLAY + 4 * rank + missing - 1
    for rank in (TEN, JOKER):
        if mask[A.PLAY + 4 * rank] == 1:
            return A.PLAY + 4 * rank
    return -1


@jit
def lowest_take(mask):
    """The pile, along with the lowest face-up card where one must go, or −1."""
    return first_legal(mask, A.TAKE, A.FLIP)


@jit
def next_opponent(observation):
    """The next opponent still in the game, as a place in the opponents' blocks."""
    for opponent in range(OPPONENTS):
        if observation[_OPP_IN + opponent] == 1:
            return opponent
    return 0


@jit
def answers(observation, opponent, rank):
    """How many cards an opponent surely has against ``rank`` on top: known in hand or, without a hand, face-up."""
    start = _OPP_KNOWN if observation[_OPP_HAND + opponent] > 0 else _OPP_UP
    count = 0
    for other in range(N_RANKS):
        if other >= rank or other == TEN or rank == TWO:
            count += observation[start + N_RANKS * opponent + other]
    return count


@jit
def hand_is_open(observation, opponent):
    """Whether all cards the opponent plays from next are known."""
    size = observation[_OPP_HAND + opponent]
    if size == 0:
        up = 0
        for rank in range(N_RANKS):
            up += observation[_OPP_UP + N_RANKS * opponent + rank]
        return up > 0
    known = 0
    for rank in range(N_RANKS):
        known += observation[_OPP_KNOWN + N_RANKS * opponent + rank]
    return known == size
