"""Agents that are compiled: they act on one view or, inside the engine's loop, on thousands of games.

Each is a function of an observation, a mask and a random state, and of nothing else, so it is honest by construction.

===========  ====================================================================================================
name         how it plays
===========  ====================================================================================================
``random``   uniformly among the legal actions
``greedy``   lowest ordinary rank that fits, all its copies; a two, then a ten, only when nothing else fits; takes
             when nothing fits; exchanges nothing
``careful``  the maxims of :func:`careful`
``linear``   the action with the largest weighted sum of readable features, see ``linear.py``
``hoarder``  keeps specials and pairs and rather takes the pile, see ``odd.py``
``gambler``  burns, draws by chance and throws its high cards away, see ``odd.py``
``taker``    takes the pile whenever it may, see ``odd.py``
===========  ====================================================================================================
"""

from __future__ import annotations

import numpy as np

from idiot_agents.linear import WEIGHTS, linear, weights_fingerprint
from idiot_agents.odd import gambler, hoarder, taker
from idiot_agents.protocol import Actions, Masks, Observations, Streams, fresh_streams
from idiot_agents.reading import (
    START,
    answers,
    first_legal,
    hand_is_open,
    legal_copies,
    lowest_play,
    next_opponent,
    special_play,
    top_rank,
)
from idiot_env import View
from idiot_env import actions as A
from idiot_env._jit import jit
from idiot_env.cards import JOKER, N_RANKS, NINE, TEN, TWO, advance, below

NAMES = ("random", "greedy", "careful", "linear", "hoarder", "gambler", "taker")
RANDOM, GREEDY, CAREFUL, LINEAR, HOARDER, GAMBLER, TAKER = range(len(NAMES))

_HAND, _UP, _RUN, _PILE_SIZE = (START[name] for name in ("hand", "up", "run", "pile_size"))
_STOCK, _ZONE_SWAP = START["stock"], START["zone"]


# --- random ----------------------------------------------------------------------------------------------------------


_BLOCK = 32
"""Ids that are skipped at once; the compiler adds them up in one go."""


@jit
def random_action(mask, random_state):
    """A uniformly drawn legal action."""
    legal = 0
    for action in range(A.N_ACTIONS):
        legal += mask[action]
    skip = below(random_state, legal)
    first = 0
    while first < A.N_ACTIONS - _BLOCK:
        here = 0
        for action in range(first, first + _BLOCK):
            here += mask[action]
        if skip < here:
            break
        skip -= here
        first += _BLOCK
    for action in range(first, A.N_ACTIONS):
        if mask[action] == 1:
            if skip == 0:
                return action
            skip -= 1
    return -1


# --- greedy ----------------------------------------------------------------------------------------------------------


@jit
def greedy(mask):
    """Lowest ordinary rank, all copies; else one two, ten or joker; else whatever comes first: take, flip, done."""
    play = lowest_play(mask)
    if play < 0:
        play = special_play(mask)
    if play >= 0:
        return play
    if mask[A.DONE] == 1:
        return A.DONE
    return first_legal(mask, A.TAKE, A.N_ACTIONS)


# --- careful ---------------------------------------------------------------------------------------------------------


@jit
def keep_value(rank):
    """How much a card is worth keeping for the end: its rank, with ace, two and ten on top."""
    if rank == TEN or rank == JOKER:
        return 14
    if rank == TWO:
        return 13
    return rank


@jit
def best_exchange(observation, mask):
    """The exchange that lifts the face-up cards most, or −1: the best hand card for the worst face-up card."""
    best, gain = -1, 0
    for hand_rank in range(N_RANKS):
        if observation[_HAND + hand_rank] == 0:
            continue
        for up_rank in range(N_RANKS):
            if up_rank == hand_rank or observation[_UP + up_rank] == 0:
                continue
            action = A.swap_action_at(hand_rank, up_rank)
            difference = keep_value(hand_rank) - keep_value(up_rank)
            if mask[action] == 1 and difference > gain:
                best, gain = action, difference
    return best


@jit
def careful_play(observation, mask, rank):
    """The number of copies to lay: all of a low rank, one of a high one while the stock refills the hand."""
    copies = legal_copies(mask, rank)
    run = int(observation[_RUN]) if top_rank(observation) == rank else 0
    if copies <= 1 or run + copies >= 4:
        return copies
    if rank == TWO or rank == TEN or rank == JOKER:
        return 1
    if observation[_STOCK] > 0 and rank >= 9:
        return 1
    return copies


@jit
def play_cost(observation, mask, rank):
    """What playing a rank costs: the cards given up, less what it does to the pile and to the next player."""
    copies = careful_play(observation, mask, rank)
    pile = int(observation[_PILE_SIZE])
    top = top_rank(observation)
    run = int(observation[_RUN]) if top == rank else 0
    opponent = next_opponent(observation)
    burns = rank == TEN or rank == JOKER or run + copies >= 4
    cost = 10.0 * keep_value(rank)
    if rank == TWO:
        cost += 40.0
    if rank == TEN or rank == JOKER:
        cost += 60.0
    if burns:
        cost -= 8.0 * pile if rank == TEN or rank == JOKER else 60.0 + 8.0 * pile
    elif hand_is_open(observation, opponent) and answers(observation, opponent, rank) == 0:
        cost -= 30.0 + 8.0 * pile
    if not burns and copies > 1:
        cost -= 12.0 * (copies - 1)
    return cost


@jit
def careful(observation, mask):
    """Readable maxims, measured against greedy in the README.

    1. Before the start, lay the best cards face-up: ten, two, ace, king; keep low ones to play first.
    2. Play the cheapest rank, all copies when low, one at a time when high and the stock still refills the hand.
    3. Finish four of a kind; hold tens for big piles.
    4. Lay what the next player surely cannot answer, the more so on a big pile.
    5. Take a small, low pile on purpose rather than give up a two or ten early in the game.
    """
    if observation[_ZONE_SWAP] == 1:
        exchange = best_exchange(observation, mask)
        return exchange if exchange >= 0 else A.DONE
    best, least = -1, 1e9
    for rank in range(N_RANKS):
        if mask[A.PLAY + 4 * rank] == 1:
            cost = play_cost(observation, mask, rank)
            if cost < least:
                best, least = A.PLAY + 4 * rank + careful_play(observation, mask, rank) - 1, cost
    if best < 0:
        return careful_without_play(observation, mask)
    if mask[A.TAKE] == 1 and spare_special(observation, best // 4, least):
        return A.TAKE
    return best


@jit
def spare_special(observation, rank, cost):
    """Whether to take the pile on purpose: early, when it is small and low and only a two or ten could be laid.

    A low pile matters: two players who both spare their twos could pass aces to and fro for ever.
    """
    if rank != TWO and rank != TEN and rank != JOKER:
        return False
    small_and_low = 0 < observation[_PILE_SIZE] <= 2 and top_rank(observation) < NINE
    return small_and_low and cost > 95.0 and observation[_STOCK] > 6


@jit
def careful_without_play(observation, mask):
    """Nothing fits: a chance draw when the pile is large, else take, along with the worst face-up card."""
    if mask[A.CHANCE] == 1:
        return A.CHANCE
    if mask[A.TAKE] == 1:
        return A.TAKE
    worst, value = -1, 99
    for rank in range(N_RANKS):
        if mask[A.TAKE_WITH + rank] == 1 and keep_value(rank) < value:
            worst, value = A.TAKE_WITH + rank, keep_value(rank)
    if worst >= 0:
        return worst
    return first_legal(mask, 0, A.N_ACTIONS)


# --- one entry for all -----------------------------------------------------------------------------------------------


@jit
def choose(kind, observation, mask, random_state):
    """The action of a compiled agent by its number."""
    if kind == RANDOM:
        return random_action(mask, random_state)
    if kind == GREEDY:
        return greedy(mask)
    if kind == CAREFUL:
        return careful(observation, mask)
    if kind == LINEAR:
        return linear(WEIGHTS, observation, mask, random_state)
    if kind == HOARDER:
        return hoarder(observation, mask)
    if kind == GAMBLER:
        return gambler(observation, mask, random_state)
    return taker(mask)


@jit
def choose_batch(kind, observation, mask, streams, actions):
    """Actions for K views into ``actions``; advances ``streams``."""
    for k in range(actions.shape[0]):
        streams[k] = advance(streams[k])
        actions[k] = choose(kind, observation[k], mask[k], streams[k])


class CompiledAgent:
    """A compiled agent by name."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self.kind = NAMES.index(name)
        self._streams = fresh_streams(seed, 1)

    def fingerprint(self) -> dict[str, str]:
        """The hash of what it is made of beside its code."""
        return weights_fingerprint(WEIGHTS) if self.kind == LINEAR else {}

    def act(self, view: View) -> int:
        return int(self.act_batch(view.observation[None], view.action_mask[None], self._streams)[0])

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        actions = np.empty(len(streams), np.int64)
        choose_batch(self.kind, observation, mask, streams, actions)
        return actions
