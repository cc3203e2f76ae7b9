"""Playing a world to its end, fast: what a search agent does thousands of times for one decision.

``greedy`` is written once more on the state itself, without mask and observation, since it plays nearly all rollouts;
a test holds it against :func:`idiot_agents.compiled.greedy` decision by decision.

A game may be endless, so a rollout has a limit.  What it has not decided by then is scored as the arena does: whoever
is out has its reward, those still in share what is left, which makes the rewards add up to nothing.
"""

from __future__ import annotations

from idiot_agents.compiled import GREEDY, choose, random_action
from idiot_env import actions as A
from idiot_env import rules as R
from idiot_env._jit import jit
from idiot_env.cards import ACE, JOKER, TEN, TWO, advance, below, count_rank, lowest_rank, rank_set, stream
from idiot_env.engine import (
    DOWN,
    HAND,
    NO_CARD,
    OVER,
    SLOTS,
    SWAPPING,
    apply,
    fitting,
    legal_mask,
    may_end_on_two,
    reward_of_out,
    zone_cards,
)
from idiot_env.observation import write_observation

LIMIT = 300
"""Decisions of a rollout; between greedy players one game in some thousands is longer."""

_ALONE = 1
_ORDINARY_CARDS = ((1 << (4 * (ACE + 1))) - 1) & ~(15 << (4 * TEN))


@jit
def greedy_in(state):
    """What :func:`idiot_agents.compiled.greedy` does in a state."""
    phase = state["phase"]
    if phase == SWAPPING:
        return A.DONE
    if phase == DOWN:
        return greedy_flip(state)
    cards = zone_cards(state)
    if state["opening"] == 1:
        rank = lowest_rank(cards)
        special = rank in (TEN, TWO, JOKER)
        return A.PLAY + 4 * rank + (0 if special else count_rank(cards, rank) - 1)
    playable = cards & fitting(state)
    ordinary = playable & _ORDINARY_CARDS
    if ordinary != 0:
        rank = lowest_rank(ordinary)
        return A.PLAY + 4 * rank + count_rank(ordinary, rank) - 1
    twos = count_rank(playable, TWO)
    if twos > 1 or (twos == 1 and may_end_on_two(state, 1)):
        return A.PLAY + 4 * TWO
    if rank_set(playable, TEN) != 0:
        return A.PLAY + 4 * TEN
    if rank_set(playable, JOKER) != 0:
        return A.PLAY + 4 * JOKER
    return greedy_take(state, cards)


@jit
def greedy_flip(state):
    """The first face-down slot that holds a card."""
    seat = int(state["turn"])
    for slot in range(SLOTS):
        if state["down"][seat, slot] != NO_CARD:
            return A.FLIP + slot
    return -1


@jit
def greedy_take(state, cards):
    """Nothing fits: the pile, and with it the lowest face-up card where one must go along."""
    if state["phase"] == HAND or state["rules"][R.FACE_UP_TAKE] == _ALONE:
        return A.TAKE
    return A.TAKE_WITH + lowest_rank(cards)


@jit
def choose_in(kind, state, observation, mask, random_state):
    """The action of a compiled agent (by its number in ``compiled.NAMES``) for the seat to act."""
    if kind == GREEDY:
        return greedy_in(state)
    legal_mask(state, mask)
    write_observation(state, int(state["turn"]), observation)
    return choose(kind, observation, mask, random_state)


@jit
def roll_out(state, kind, limit, observation, mask, random_state):
    """Play on with one compiled agent in all seats, to the end or for ``limit`` decisions."""
    roll_out_slipping(state, kind, limit, 0, 0, observation, mask, random_state)


@jit
def roll_out_slipping(state, kind, limit, slip, others_slip, observation, mask, random_state):
    """As :func:`roll_out`; each decision is left to chance with a probability of ``slip`` / 1024.

    That is the slip of seat 0, the searcher; the others have ``others_slip``.
    """
    left = limit
    while state["phase"] != OVER and left > 0:
        random_state = advance(random_state)
        slip_here = slip if state["turn"] == 0 else others_slip
        if slip_here > 0 and below(random_state, 1024) < slip_here:
            legal_mask(state, mask)
            apply(state, random_action(mask, stream(random_state, 0)))
        else:
            apply(state, choose_in(kind, state, observation, mask, random_state))
        left -= 1


@jit
def payoff(state, seat):
    """The reward of ``seat``; where the game is not over, those still in share what the others left."""
    out = reward_of_out(state)
    if state["place"][seat] != 0:
        return float(out)
    if state["phase"] == OVER:
        return -1.0
    n_out = int(state["n_out"])
    return -out * n_out / (int(state["players"]) - n_out)


@jit
def candidates(mask, actions):
    """Legal actions worth a thought into ``actions``; returns how many.  Face-down slots are all alike: the first."""
    n = 0
    flip_seen = False
    for action in range(A.N_ACTIONS):
        if mask[action] == 1:
            is_flip = A.FLIP <= action < A.CHANCE
            if not (is_flip and flip_seen):
                actions[n] = action
                n += 1
            flip_seen |= is_flip
    return n


@jit
def greedy_at(states, i):
    """:func:`greedy_in` of ``states[i]``."""
    return greedy_in(states[i])


@jit
def payoff_at(states, i, seat):
    """:func:`payoff` in ``states[i]``."""
    return payoff(states[i], seat)
