"""Worlds: full states that a view allows, for agents that think ahead without looking.

A world is a record of ``engine.STATE`` built from an observation and nothing else.  Its seats are relative: seat 0 is
whoever observed, 1 the player clockwise after it.  :func:`write_world` places all that is public and, low ones first,
the unseen cards; ``observation.redeal(world, 0, …)`` then deals these at random, as often as one likes.

An observation tells ranks, not suits; a world gives each rank its suits in a fixed order, which play never feels (the
known cards of a rank leave a hand first, whatever their suits).  Four things an observation does not hold, and so
neither does a world: the number of decisions so far (0 here), the order of the pile below the top (ascending), what
the others know of the observer's own hand (nothing), and, before the start, who was *dealt* the lowest face-up card
(taken from the face-up cards as they lie and from those that went into a hand for all to see).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from idiot_env import rules as R
from idiot_env._jit import jit
from idiot_env.cards import N_RANKS, NO_RANK, lowest_rank, rank_set, size_of
from idiot_env.engine import MAX_STOCK, NO_CARD, NOBODY, OVER, SEATS, SLOTS, STATE, SWAPPING, clockwise
from idiot_env.observation import LAYOUT, OPPONENTS, redeal_at

_START = {name: block.start for name, block in LAYOUT.items()}
_HAND, _UP, _DOWN = (_START[name] for name in ("hand", "up", "down"))
_OPP_UP, _OPP_KNOWN, _OPP_HAND, _OPP_DOWN = (_START[n] for n in ("opp_up", "opp_known", "opp_hand", "opp_down"))
_PILE, _TOP, _RUN, _PILE_SIZE, _BURNED = (_START[n] for n in ("pile", "top", "run", "pile_size", "burned"))
_STOCK, _UNSEEN, _ZONE, _OPENING, _EXCHANGES = (_START[n] for n in ("stock", "unseen", "zone", "opening", "exchanges"))
_TURN, _PLACE, _DEALER, _PLAYERS, _RULES = (_START[n] for n in ("turn", "place", "dealer", "players", "rules"))

World = npt.NDArray[np.void]


@jit
def cards_from(card, n):
    """The set of ``n`` cards from ``card`` on."""
    return ((1 << int(n)) - 1) << card


@jit
def first_one(observation, start, n, otherwise):
    """The place of the first 1 among ``n`` entries, or ``otherwise``."""
    for place in range(n):
        if observation[start + place] == 1:
            return place
    return otherwise


@jit
def write_world(observation, world):
    """Write into ``world`` the state that an observation (int8 ``[O]``) tells of, unseen cards low ones first."""
    clear(world)
    write_numbers(observation, world)
    unseen = write_cards(observation, world)
    write_pile(world)
    fill_hidden(observation, world, unseen)
    if world["phase"] == SWAPPING:
        write_first_up(world)


@jit
def clear(world):
    for seat in range(SEATS):
        world["hand"][seat] = 0
        world["known"][seat] = 0
        world["up"][seat] = 0
        world["place"][seat] = 0
        for slot in range(SLOTS):
            world["down"][seat, slot] = NO_CARD
    for i in range(54):
        world["pile"][i] = NO_CARD
    for i in range(MAX_STOCK):
        world["stock"][i] = NO_CARD
    world["pile_set"] = 0
    world["burned"] = 0
    world["decisions"] = 0
    world["first_up_rank"] = N_RANKS
    world["first_up_seat"] = NOBODY
    world["swapped"] = 0


@jit
def write_numbers(observation, world):
    """Everything but cards: table, turn, phase, places."""
    players = int(observation[_PLAYERS])
    world["players"] = players
    for option in range(R.N_OPTIONS):
        world["rules"][option] = observation[_RULES + option]
    world["top"] = first_one(observation, _TOP, N_RANKS, NO_RANK)
    world["run"] = observation[_RUN]
    world["turn"] = first_one(observation, _TURN, SEATS, NOBODY)
    world["phase"] = first_one(observation, _ZONE, OVER + 1, OVER)
    world["dealer"] = first_one(observation, _DEALER, SEATS, 0)
    world["exchanges"] = observation[_EXCHANGES]
    world["opening"] = observation[_OPENING]
    n_out = 0
    for seat in range(players):
        world["place"][seat] = observation[_PLACE + seat]
        n_out += observation[_PLACE + seat] > 0
    world["n_out"] = n_out
    if world["rules"][R.SWAP] != 1:
        # The exchange goes round from the dealer's left: as many are done as sit between it and the seat to act.
        done = players
        if world["phase"] == SWAPPING:
            done = (int(world["turn"]) - int(world["dealer"]) - 1 + 2 * players) % players
        world["swapped"] = done


@jit
def write_cards(observation, world):
    """Cards by rank into the public zones; returns the set of those that are left, the unseen ones."""
    unseen = 0
    for rank in range(N_RANKS):
        card = 4 * rank
        n = int(observation[_HAND + rank])
        world["hand"][0] |= cards_from(card, n)
        card += n
        n = int(observation[_UP + rank])
        world["up"][0] |= cards_from(card, n)
        card += n
        for opponent in range(OPPONENTS):
            n = int(observation[_OPP_UP + N_RANKS * opponent + rank])
            world["up"][1 + opponent] |= cards_from(card, n)
            card += n
            n = int(observation[_OPP_KNOWN + N_RANKS * opponent + rank])
            world["known"][1 + opponent] |= cards_from(card, n)
            card += n
        n = int(observation[_PILE + rank])
        world["pile_set"] |= cards_from(card, n)
        card += n
        n = int(observation[_BURNED + rank])
        world["burned"] |= cards_from(card, n)
        card += n
        unseen |= cards_from(card, observation[_UNSEEN + rank])
    return unseen


@jit
def write_pile(world):
    """The pile from bottom to top: ascending, with the top rank last."""
    of_top = rank_set(world["pile_set"], int(world["top"])) if world["top"] != NO_RANK else 0
    size = 0
    for cards in (world["pile_set"] & ~of_top, of_top):
        for card in range(54):
            if (cards >> card) & 1:
                world["pile"][size] = card
                size += 1
    world["pile_size"] = size


@jit
def fill_hidden(observation, world, unseen):
    """Unseen cards, lowest first, into the others' hands, all face-down slots and the stock."""
    card = 0
    for seat in range(int(world["players"])):
        if seat > 0:
            cards = world["known"][seat]
            for _ in range(int(observation[_OPP_HAND + seat - 1]) - size_of(cards)):
                while (unseen >> card) & 1 == 0:
                    card += 1
                cards |= np.int64(1) << card
                card += 1
            world["hand"][seat] = cards
        start = _DOWN if seat == 0 else _OPP_DOWN + SLOTS * (seat - 1)
        for slot in range(SLOTS):
            if observation[start + slot] == 1:
                while (unseen >> card) & 1 == 0:
                    card += 1
                world["down"][seat, slot] = card
                card += 1
    stock = int(observation[_STOCK])
    for i in range(stock):
        while (unseen >> card) & 1 == 0:
            card += 1
        world["stock"][i] = card
        card += 1
    world["stock_size"] = stock


@jit
def write_first_up(world):
    """Before the start: the lowest rank that lies face-up, or was seen going from there into a hand, and its seat."""
    players = int(world["players"])
    seat = int(world["dealer"])
    for _ in range(players):
        seat = clockwise(seat, 1, players)
        rank = lowest_rank(world["up"][seat] | world["known"][seat])
        if rank != NO_RANK and rank < world["first_up_rank"]:
            world["first_up_rank"] = rank
            world["first_up_seat"] = seat


@jit
def write_world_at(observation, worlds, i):
    """:func:`write_world` into ``worlds[i]``."""
    write_world(observation, worlds[i])


def draw_world(observation: npt.NDArray[np.int8], random_state: int) -> World:
    """A random world ``[1]`` that an observation allows: all that is unseen dealt uniformly."""
    world = np.zeros(1, STATE)
    write_world_at(observation, world, 0)
    redeal_at(world, 0, 0, np.int64(random_state))
    return world
