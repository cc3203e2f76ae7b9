"""Games between agents on shared deals.

* Deal k of (table, players, seed) is fixed for ever: its seed is derived from those four, its cards from the seed.
* Every deal is played in all rotations of its line-up, so luck of the deal cancels, and the deal is the unit of
  statistics (``intervals.py``).  All pairings share their deals.
* Agents draw from streams seeded by deal and seat, so no result depends on the order or the grouping of games.
* A game cut off by the limit of decisions is counted and shown; its open places are shared evenly by those still in.

Games between compiled agents run inside one compiled loop; any other agent meets the same games move by move through
``idiot_env.batched``.  Both give the same results (test).  An agent that cheats (``protocol.Cheater``) is handed the
state itself, in the second loop only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from time import perf_counter

import numpy as np
import numpy.typing as npt

from idiot_agents.behaviour import N_COUNTS, watch, watch_batch
from idiot_agents.compiled import CompiledAgent, choose
from idiot_agents.intervals import Estimate, estimate
from idiot_agents.luck import Luck
from idiot_agents.protocol import Actions, Agent, BatchAgent, Masks, Observations, Streams, is_cheater
from idiot_env import Rules, View, engine
from idiot_env._jit import jit
from idiot_env.actions import N_ACTIONS
from idiot_env.batched import Batch
from idiot_env.cards import advance, stream
from idiot_env.engine import NOBODY, OVER, SEATS, STATE, apply, deal_seeded, legal_mask
from idiot_env.observation import OBSERVATION_SIZE, write_observation

MAX_DECISIONS = 2000
_AGENT_STREAM = 3000
CHUNK = 2048
"""Deals per chunk of :func:`play_match`: progress is reported between chunks."""

Progress = Callable[[int], None]


# --- deals -----------------------------------------------------------------------------------------------------------


def deal_seeds(rules: Rules, players: int, deals: int, seed: int, first: int = 0) -> npt.NDArray[np.int64]:
    """Deal seeds number ``first`` … ``first + deals − 1`` of a table, int64 ``[D]``, as ``Game(seed=…)`` takes them."""
    text = f"idiot-deals/1 {rules} players={players} seed={seed}"
    base = np.int64(_seed_of(text))
    return np.array([int(stream(base, np.int64(first + k))) for k in range(deals)], dtype=np.int64)


def deals_hash(seeds: npt.NDArray[np.int64], rules: Rules, players: int) -> str:
    """A hash of the decks and dealers that the seeds stand for, so that a published result names its cards."""
    digest = hashlib.sha256()
    deck = np.zeros(54, np.int8)
    numbers = rules.numbers()
    for seed in seeds:
        dealer = engine.draw_deal(deck, numbers, players, -1, int(seed))
        digest.update(deck[: 52 + rules.jokers].tobytes() + bytes([int(dealer)]))
    return digest.hexdigest()[:16]


def _seed_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


# --- line-ups --------------------------------------------------------------------------------------------------------


def rotations(lineup: Sequence[int]) -> npt.NDArray[np.int64]:
    """All rotations of a line-up, int64 ``[P, P]``: in row r, whoever sat in seat s sits in seat s + r."""
    return np.array([np.roll(lineup, shift) for shift in range(len(lineup))], np.int64)


def focal_lineups(focal: int, others: int, players: int, deals: int) -> npt.NDArray[np.int64]:
    """``focal`` in every seat among copies of ``others``, int64 ``[D·P, P]``."""
    return np.tile(rotations([focal] + [others] * (players - 1)), (deals, 1))


def mixed_lineups(agents: int, rules: Rules, players: int, deals: int, seed: int, first: int) -> npt.NDArray[np.int64]:
    """Tables of all agents mixed, one line-up a deal in all its rotations, int64 ``[D·P, P]``.

    Line-up k is fixed by the table, the seed and k: the agents in random order, again and again until all seats are
    taken.  So nobody sits twice while another has no seat.
    """
    base = _seed_of(f"idiot-lineups/1 {rules} players={players} seed={seed}") % 2**64
    lineups = np.empty((deals, players, players), np.int64)
    for k in range(deals):
        rng = np.random.default_rng([base, first + k])
        rounds = [rng.permutation(agents) for _ in range(-(-players // agents))]
        lineups[k] = rotations(np.concatenate(rounds)[:players].tolist())
    return lineups.reshape(-1, players)


# --- games -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Games:
    """Results of G games with P players, and what K agents did in them.

    Attributes:
        place: int8 ``[G, P]``, by seat: 1 for the first out, 0 for those still holding cards.
        truncated: bool ``[G]``.
        decisions: int32 ``[G]``.
        counts: int64 ``[K, C]``, what ``behaviour.watch`` counted; zeros unless it was asked for.
        luck: float ``[G, P]``, the luck of the cards by seat (``luck.py``); zeros unless it was asked for.
        seconds: float ``[K]``, time each agent took; zeros in the compiled loop, where nobody can tell.
        asked: int64 ``[K]``, decisions in which that time was taken.
    """

    place: npt.NDArray[np.int8]
    truncated: npt.NDArray[np.bool_]
    decisions: npt.NDArray[np.int32]
    luck: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    asked: npt.NDArray[np.int64]

    @classmethod
    def empty(cls, games: int, players: int, agents: int) -> Games:
        return cls(
            np.zeros((games, players), np.int8), np.zeros(games, np.bool_), np.zeros(games, np.int32),
            np.zeros((games, players)), np.zeros((agents, N_COUNTS), np.int64), np.zeros(agents),
            np.zeros(agents, np.int64),
        )  # fmt: skip

    @classmethod
    def join(cls, parts: Sequence[Games]) -> Games:
        """Games one after the other; what is counted by agent is added up."""
        columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(cls)}
        totals = {name: np.sum(columns.pop(name), axis=0) for name in ("counts", "seconds", "asked")}
        return cls(**{name: np.concatenate(column) for name, column in columns.items()}, **totals)


@jit
def play_compiled(seeds, kinds, lineups, rules, limit, watching, states, observation, mask, place, truncated, decisions,
                  counts):  # fmt: skip
    """Play G games between compiled agents; ``lineups`` int64 ``[G, P]`` is who sits where, ``kinds`` what that is."""
    players = lineups.shape[1]
    state = states[0]
    streams = np.empty(SEATS, np.int64)
    for game in range(seeds.shape[0]):
        deal_seeded(state, rules, players, -1, seeds[game])
        for seat in range(players):
            streams[seat] = stream(seeds[game], _AGENT_STREAM + seat)
        while state["phase"] != OVER and state["decisions"] < limit:
            seat = int(state["turn"])
            agent = lineups[game, seat]
            write_observation(state, seat, observation)
            legal_mask(state, mask)
            streams[seat] = advance(streams[seat])
            action = choose(kinds[agent], observation, mask, streams[seat])
            if watching:
                watch(observation, mask, action, counts[agent])
            apply(state, action)
        truncated[game] = state["phase"] != OVER
        decisions[game] = state["decisions"]
        for seat in range(players):
            place[game, seat] = state["place"][seat]


class OneByOne:
    """Lets an agent that only knows :meth:`act` take part in a batch."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name = agent, agent.name

    def act(self, view: View) -> int:
        return self.agent.act(view)

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        views = (View(seen, legal, 0) for seen, legal in zip(observation, mask, strict=True))
        return np.array([self.agent.act(view) for view in views], dtype=np.int64)


def play_games(
    agents: Sequence[Agent],
    lineups: npt.NDArray[np.int64],
    seeds: npt.NDArray[np.int64],
    rules: Rules,
    max_decisions: int = MAX_DECISIONS,
    *,
    watching: bool = False,
    luck: Luck | None = None,
) -> Games:
    """Play G games.

    Args:
        agents: K agents, of whom some or all take part.
        lineups: int64 ``[G, P]``, the place in ``agents`` of whoever sits in each seat.
        seeds: int64 ``[G]`` deal seeds.
        watching: count what ``behaviour.py`` describes.
        luck: measures the luck of the cards; not in the compiled loop.
    """
    taking_part = set(np.unique(lineups).tolist())
    if luck is not None or not all(isinstance(agents[number], CompiledAgent) for number in taking_part):
        return play_batched(agents, lineups, seeds, rules, max_decisions, watching=watching, luck=luck)
    kinds = np.array([agent.kind if isinstance(agent, CompiledAgent) else -1 for agent in agents], np.int64)
    games = Games.empty(len(lineups), lineups.shape[1], len(agents))
    observation, mask = np.zeros(OBSERVATION_SIZE, np.int8), np.zeros(N_ACTIONS, np.int8)
    play_compiled(seeds, kinds, lineups, rules.numbers(), max_decisions, watching, np.zeros(1, STATE), observation,
                  mask, games.place, games.truncated, games.decisions, games.counts)  # fmt: skip
    return games


def play_batched(
    agents: Sequence[Agent],
    lineups: npt.NDArray[np.int64],
    seeds: npt.NDArray[np.int64],
    rules: Rules,
    max_decisions: int = MAX_DECISIONS,
    *,
    watching: bool = False,
    luck: Luck | None = None,
) -> Games:
    """:func:`play_games` for any agents: all games side by side, each agent asked for all views that wait for it."""
    batch = Batch(len(seeds), rules, lineups.shape[1], max_decisions=max_decisions, autoreset="disabled")
    return play_out(batch, agents, lineups, seeds, watching=watching, luck=luck)


def play_out(
    batch: Batch,
    agents: Sequence[Agent],
    lineups: npt.NDArray[np.int64],
    seeds: npt.NDArray[np.int64],
    *,
    watching: bool = False,
    luck: Luck | None = None,
) -> Games:
    """Deal a batch without autoreset, one seed a game, and play it to the end: its states are the last ones then."""
    players = lineups.shape[1]
    batch.deal(seeds)
    streams = np.array(
        [[int(stream(np.int64(seed), np.int64(_AGENT_STREAM + seat))) for seat in range(players)] for seed in seeds],
        np.int64,
    )
    games = Games.empty(len(seeds), players, len(agents))
    rows = np.arange(len(seeds), dtype=np.int64)
    while len(rows):
        seats = batch.seat[rows]
        who = lineups[rows, seats]
        chosen = np.empty(len(rows), np.int64)
        for number, agent in enumerate(agents):
            asked = np.flatnonzero(who == number)
            if len(asked):
                waiting = rows[asked], seats[asked]
                own = streams[waiting]
                before = perf_counter()
                chosen[asked] = ask(agent, batch, *waiting, own)
                games.seconds[number] += perf_counter() - before
                games.asked[number] += len(asked)
                streams[waiting] = own
        if watching:
            watch_batch(batch.observation[rows], batch.mask[rows], chosen, who, games.counts)
        if luck is None:
            batch.step(chosen, rows)
        else:
            earlier = batch.states[rows]
            batch.step(chosen, rows)
            games.luck[rows, seats] += luck.of_cards(earlier, batch.states[rows], seats, chosen, seeds[rows])
        rows = rows[batch.seat[rows] != NOBODY]
    states = batch.states
    games.place[:] = states["place"][:, :players]
    games.truncated[:] = states["phase"] != OVER
    games.decisions[:] = states["decisions"]
    return games


def ask(
    agent: Agent, batch: Batch, rows: npt.NDArray[np.int64], seats: npt.NDArray[np.int8], streams: Streams
) -> Actions:
    """An agent's actions int64 ``[K]`` in some games of a batch; only a cheater gets to see more than the views."""
    if is_cheater(agent):
        actions = np.empty(len(rows), np.int64)
        for k, (row, seat) in enumerate(zip(rows, seats, strict=True)):
            streams[k] = advance(streams[k])
            actions[k] = agent.act_state(batch.states[row : row + 1].copy(), int(seat), int(streams[k]))
        return actions
    able = agent if isinstance(agent, BatchAgent) else OneByOne(agent)
    return able.act_batch(batch.observation[rows], batch.mask[rows], streams)


# --- what a game is worth --------------------------------------------------------------------------------------------


def lost_shares(place: npt.NDArray[np.int8], losers: int) -> npt.NDArray[np.float64]:
    """Each seat's share of being an idiot, float ``[G, P]``: 0 or 1, and in a cut-off game shared by those still in."""
    still_in = place == 0
    shared: npt.NDArray[np.float64] = still_in * np.minimum(losers / still_in.sum(axis=1, keepdims=True), 1.0)
    return shared


def losses(games: Games, losers: int) -> npt.NDArray[np.float64]:
    """:func:`lost_shares` of some games."""
    return lost_shares(games.place, losers)


def firsts(games: Games) -> npt.NDArray[np.float64]:
    """Each seat's share of being the first out, float ``[G, P]``; where nobody is out yet, shared by all."""
    nobody = (games.place == 0).all(axis=1, keepdims=True)
    shared: npt.NDArray[np.float64] = np.where(nobody, 1.0 / games.place.shape[1], games.place == 1)
    return shared


def mean_places(games: Games) -> npt.NDArray[np.float64]:
    """Each seat's place, float ``[G, P]``; those still in share the mean of the open places."""
    players = games.place.shape[1]
    still_in = games.place == 0
    open_mean = (players + (players - still_in.sum(axis=1, keepdims=True)) + 1) / 2
    return np.where(still_in, open_mean, games.place).astype(np.float64)


def scores(games: Games) -> npt.NDArray[np.float64]:
    """Each seat's place as a share, float ``[G, P]``: 1 for the first out, 0 for the last; with two players, 1 or 0."""
    players = games.place.shape[1]
    score: npt.NDArray[np.float64] = (players - mean_places(games)) / (players - 1)
    return score


@dataclass(frozen=True)
class Figures:
    """What an agent's games came to, each a share over its deals."""

    score: Estimate
    """Mean score: 1 for the first out, 0 for the last."""
    lost: Estimate
    """Share of games in which it was an idiot."""
    first: Estimate
    """Share of games in which it was the first out."""
    truncated: int
    """Games cut off by the limit of decisions."""
    decisions: float
    """Decisions a game, of all seats together."""


def figures(games: Games, own: npt.NDArray[np.bool_], players: int, losers: int) -> Figures:
    """Figures of an agent from all rotations of D deals.

    Args:
        games: D·P games, the rotations of a deal one after the other.
        own: bool ``[D·P, P]``, the seats that count: as many in every game of a deal.
        players: P.
        losers: how many idiots there are.
    """
    deals = len(own) // players
    seats = own.reshape(deals, -1).sum(axis=1)

    def over_deals(values: npt.NDArray[np.float64]) -> Estimate:
        return estimate((values * own).reshape(deals, -1).sum(axis=1) / seats)

    return Figures(
        score=over_deals(scores(games)),
        lost=over_deals(losses(games, losers)),
        first=over_deals(firsts(games)),
        truncated=int(games.truncated.sum()),
        decisions=float(games.decisions.mean()),
    )


def check_agents(agents: Sequence[Agent], rules: Rules, players: int) -> None:
    """Refuse a table that does not exist, and agents that cannot play at it.

    Raises:
        ValueError: with the reason.
    """
    rules.check_players(players)
    for agent in agents:
        check = getattr(agent, "check_players", None)
        if check is not None:
            check(players)


@dataclass(frozen=True)
class Match:
    """A focal agent among copies of another, over D deals and all P seats of the focal agent."""

    focal: str
    others: str
    players: int
    deals: int
    figures: Figures
    """Of the focal agent."""

    @property
    def games(self) -> int:
        return self.deals * self.players

    @property
    def lost(self) -> float:
        """Share of games in which the focal agent was an idiot."""
        return self.figures.lost.mean

    @property
    def truncated(self) -> int:
        return self.figures.truncated


def match_games(
    rules: Rules, players: int, deals: int, seed: int
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Seeds int64 ``[G]`` and line-ups ``[G, P]`` of a match, agent 0 among copies of 1; ``CHUNK`` deals at a time."""
    for first in range(0, deals, CHUNK):
        n = min(CHUNK, deals - first)
        yield np.repeat(deal_seeds(rules, players, n, seed, first), players), focal_lineups(0, 1, players, n)


def play_match(
    focal: Agent,
    others: Agent,
    rules: Rules,
    players: int,
    deals: int,
    *,
    seed: int = 0,
    max_decisions: int = MAX_DECISIONS,
    progress: Progress | None = None,
) -> Match:
    """Play ``focal`` among copies of ``others``: ``deals`` deals, each once for every seat of ``focal``.

    Raises:
        ValueError: for an impossible table, or an agent that cannot play at it.
    """
    check_agents([focal, others], rules, players)
    parts = []
    for seeds, lineups in match_games(rules, players, deals, seed):
        parts.append(play_games([focal, others], lineups, seeds, rules, max_decisions))
        if progress is not None:
            progress(len(seeds))
    own = focal_lineups(0, 1, players, deals) == 0
    return Match(focal.name, others.name, players, deals, figures(Games.join(parts), own, players, rules.losers))
