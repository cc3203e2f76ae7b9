"""What happens in games, counted by the referee: takes, burns, their sizes, who starts.

=============  ====================================================================================================
column         what is counted in one game
=============  ====================================================================================================
``TAKES``      how often a pile with cards was taken, by choice, by need, or with a card that did not fit
``TAKEN``      cards in these piles, with the card that came along
``BURNS``      how often the pile was burned
``BURNED``     cards in these piles
``TAKE_SIZES`` four columns: takes by size, up to each of ``SIZES`` cards, and above
``BURN_SIZES`` four columns: burns by size, likewise
``STARTER``    the seat that had the first turn of play
=============  ====================================================================================================

Seats may be kept from exchanging: that is how ``idiot study`` finds what exchanging is worth.  Compiled agents play
inside one compiled loop, others move by move through ``idiot_env.batched``; both count the same (test).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idiot_agents.arena import ask
from idiot_agents.compiled import CompiledAgent, choose
from idiot_agents.protocol import Agent
from idiot_env import Rules
from idiot_env import actions as A
from idiot_env._jit import jit
from idiot_env.actions import N_ACTIONS
from idiot_env.batched import Batch
from idiot_env.cards import advance, size_of, stream
from idiot_env.engine import NOBODY, OVER, SEATS, STATE, SWAPPING, apply, deal_seeded, legal_mask
from idiot_env.observation import OBSERVATION_SIZE, write_observation

SIZES = (2, 5, 10)
"""The largest piles of the first three sizes."""
TAKES, TAKEN, BURNS, BURNED, TAKE_SIZES, BURN_SIZES, STARTER = 0, 1, 2, 3, 4, 8, 12
N_COLUMNS = 13
UNKNOWN = -1
_STUDY_STREAM = 5000


@dataclass(frozen=True)
class Tally:
    """What happened in G games with P players.

    Attributes:
        counts: int64 ``[G, N_COLUMNS]``, see above.
        place: int8 ``[G, P]``, by seat: 1 for the first out, 0 for those still holding cards.
        dealer: int8 ``[G]``.
        truncated: bool ``[G]``, whether the limit cut the game off.
        decisions: int64 ``[G]``.
    """

    counts: npt.NDArray[np.int64]
    place: npt.NDArray[np.int8]
    dealer: npt.NDArray[np.int8]
    truncated: npt.NDArray[np.bool_]
    decisions: npt.NDArray[np.int64]


@jit
def size_class(size):
    """The place of a pile's size among the four."""
    place = 0
    for largest in SIZES:
        place += size > largest
    return place


@jit
def count_end_of_pile(state, seat, hand_before, pile_before, burned_before, counts):
    """After an action of ``seat``: count a burn or a take of the pile that lay there, into int64 ``[N_COLUMNS]``.

    A burned pile counts the cards that burned it, a taken one the card that did not fit or went along.
    """
    if state["burned"] != burned_before:
        size = size_of(state["burned"] ^ burned_before)
        counts[BURNS] += 1
        counts[BURNED] += size
        counts[BURN_SIZES + size_class(size)] += 1
    elif pile_before != 0 and state["pile_size"] == 0:
        size = size_of(state["hand"][seat] & ~hand_before)
        counts[TAKES] += 1
        counts[TAKEN] += size
        counts[TAKE_SIZES + size_class(size)] += 1


@jit
def keep_from_exchanging(mask):
    """Exchanges are never all that is legal, so something is left."""
    for action in range(A.SWAP, A.STACK):
        mask[action] = 0


@jit
def play_tally(seeds, kinds, lineups, exchanging, rules, limit, states, observation, mask, counts, place, dealer,
               truncated, decisions):  # fmt: skip
    """Play G games between compiled agents; ``lineups`` int64 ``[G, P]`` is who sits where, ``kinds`` what that is."""
    players = lineups.shape[1]
    state = states[0]
    streams = np.empty(SEATS, np.int64)
    for game in range(seeds.shape[0]):
        deal_seeded(state, rules, players, -1, seeds[game])
        for seat in range(players):
            streams[seat] = stream(seeds[game], _STUDY_STREAM + seat)
        while state["phase"] != OVER and state["decisions"] < limit:
            seat = int(state["turn"])
            if counts[game, STARTER] == UNKNOWN and state["phase"] != SWAPPING:
                counts[game, STARTER] = seat
            write_observation(state, seat, observation)
            legal_mask(state, mask)
            if not exchanging[game, seat]:
                keep_from_exchanging(mask)
            streams[seat] = advance(streams[seat])
            hand, pile, burned = state["hand"][seat], state["pile_set"], state["burned"]
            apply(state, choose(kinds[lineups[game, seat]], observation, mask, streams[seat]))
            count_end_of_pile(state, seat, hand, pile, burned, counts[game])
        truncated[game] = state["phase"] != OVER
        decisions[game] = state["decisions"]
        dealer[game] = state["dealer"]
        for seat in range(players):
            place[game, seat] = state["place"][seat]


@jit
def count_rows(states, rows, seats, hands, piles, burned, counts):
    """:func:`count_end_of_pile` in some games of a batch."""
    for k in range(rows.shape[0]):
        count_end_of_pile(states[rows[k]], int(seats[k]), hands[k], piles[k], burned[k], counts[rows[k]])


def tally_games(
    agents: Sequence[Agent],
    lineups: npt.NDArray[np.int64],
    exchanging: npt.NDArray[np.bool_],
    seeds: npt.NDArray[np.int64],
    rules: Rules,
    max_decisions: int,
) -> Tally:
    """Play G games and count.

    Args:
        agents: whoever takes part.
        lineups: int64 ``[G, P]``, the place in ``agents`` of whoever sits in each seat.
        exchanging: bool ``[G, P]``, whether a seat may exchange at all.
        seeds: int64 ``[G]`` deal seeds.
        rules: the table.
        max_decisions: the limit of a game.
    """
    games, players = lineups.shape
    counts = np.zeros((games, N_COLUMNS), np.int64)
    counts[:, STARTER] = UNKNOWN
    compiled = [agent for agent in agents if isinstance(agent, CompiledAgent)]
    if len(compiled) < len(agents):
        return _tally_batched(agents, lineups, exchanging, seeds, rules, max_decisions, counts)
    kinds = np.array([agent.kind for agent in compiled], np.int64)
    place, dealer = np.zeros((games, players), np.int8), np.zeros(games, np.int8)
    truncated, decisions = np.zeros(games, np.bool_), np.zeros(games, np.int64)
    observation, mask = np.zeros(OBSERVATION_SIZE, np.int8), np.zeros(N_ACTIONS, np.int8)
    play_tally(seeds, kinds, lineups, exchanging, rules.numbers(), max_decisions, np.zeros(1, STATE), observation, mask,
               counts, place, dealer, truncated, decisions)  # fmt: skip
    return Tally(counts, place, dealer, truncated, decisions)


def _tally_batched(
    agents: Sequence[Agent],
    lineups: npt.NDArray[np.int64],
    exchanging: npt.NDArray[np.bool_],
    seeds: npt.NDArray[np.int64],
    rules: Rules,
    max_decisions: int,
    counts: npt.NDArray[np.int64],
) -> Tally:
    """:func:`tally_games` for any agents, all games side by side."""
    games, players = lineups.shape
    batch = Batch(games, rules, players, max_decisions=max_decisions, autoreset="disabled")
    batch.deal(seeds)
    streams = np.array(
        [[int(stream(np.int64(seed), np.int64(_STUDY_STREAM + seat))) for seat in range(players)] for seed in seeds],
        np.int64,
    )
    states = batch.states
    rows = np.arange(games, dtype=np.int64)
    while len(rows):
        seats = batch.seat[rows]
        begins = (counts[rows, STARTER] == UNKNOWN) & (states["phase"][rows] != SWAPPING)
        counts[rows[begins], STARTER] = seats[begins]
        batch.mask[rows[~exchanging[rows, seats]], A.SWAP : A.STACK] = 0
        who, chosen = lineups[rows, seats], np.empty(len(rows), np.int64)
        for number, agent in enumerate(agents):
            asked = np.flatnonzero(who == number)
            if len(asked):
                waiting = rows[asked], seats[asked]
                own = streams[waiting]
                chosen[asked] = ask(agent, batch, *waiting, own)
                streams[waiting] = own
        hands, piles, burned = states["hand"][rows, seats], states["pile_set"][rows], states["burned"][rows]
        batch.step(chosen, rows)
        count_rows(states, rows, seats, hands, piles, burned, counts)
        rows = rows[batch.seat[rows] != NOBODY]
    return Tally(
        counts,
        states["place"][:, :players].copy(),
        states["dealer"].copy(),
        (states["phase"] != OVER).copy(),
        states["decisions"].astype(np.int64),
    )
