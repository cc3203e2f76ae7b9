"""Matches between agents on shared deals, with honest statistics.

* Deal k of (table, players, seed) is fixed for ever: its seed is derived from those four, its cards from the seed.
* Every deal is played once for every seat of the focal agent, the others being copies of its opponent; so luck of the
  deal cancels, and the deal is the unit of statistics.  Intervals are 95 % bootstrap intervals over deals.
* Agents draw from streams seeded by deal and seat, so no result depends on the order or the grouping of games.
* A game cut off by the limit of decisions is counted and shown; its open places are shared evenly by those still in.

Games between compiled agents run inside one compiled loop; any other agent meets the same games move by move through
``idiot_env.batched``.  Both give the same results (test).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idiot_agents.compiled import CompiledAgent, choose
from idiot_agents.protocol import Actions, Agent, BatchAgent, Masks, Observations, Streams
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
"""Deals per chunk: progress is reported between chunks."""

Progress = Callable[[int], None]


# --- deals -----------------------------------------------------------------------------------------------------------


def deal_seeds(rules: Rules, players: int, deals: int, seed: int, first: int = 0) -> npt.NDArray[np.int64]:
    """Deal seeds number ``first`` … ``first + deals − 1`` of a table, int64 ``[D]``, as ``Game(seed=…)`` takes them."""
    text = f"idiot-deals/1 {rules} players={players} seed={seed}"
    base = np.int64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True))
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


# --- games -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Games:
    """Results of G games with P players.

    Attributes:
        place: int8 ``[G, P]``, by seat: 1 for the first out, 0 for those still holding cards.
        truncated: bool ``[G]``.
        decisions: int32 ``[G]``.
    """

    place: npt.NDArray[np.int8]
    truncated: npt.NDArray[np.bool_]
    decisions: npt.NDArray[np.int32]

    @classmethod
    def empty(cls, games: int, players: int) -> Games:
        return cls(np.zeros((games, players), np.int8), np.zeros(games, np.bool_), np.zeros(games, np.int32))


@jit
def play_compiled(seeds, kinds, rules, limit, states, observation, mask, place, truncated, decisions):
    """Play G games between compiled agents; ``kinds`` int64 ``[G, P]`` is who sits where."""
    players = kinds.shape[1]
    state = states[0]
    streams = np.empty(SEATS, np.int64)
    for game in range(seeds.shape[0]):
        deal_seeded(state, rules, players, -1, seeds[game])
        for seat in range(players):
            streams[seat] = stream(seeds[game], _AGENT_STREAM + seat)
        while state["phase"] != OVER and state["decisions"] < limit:
            seat = int(state["turn"])
            write_observation(state, seat, observation)
            legal_mask(state, mask)
            streams[seat] = advance(streams[seat])
            apply(state, choose(kinds[game, seat], observation, mask, streams[seat]))
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
) -> Games:
    """Play G games.

    Args:
        agents: whoever takes part.
        lineups: int64 ``[G, P]``, the place in ``agents`` of whoever sits in each seat.
        seeds: int64 ``[G]`` deal seeds.
    """
    if all(isinstance(agent, CompiledAgent) for agent in agents):
        kinds = np.array([agent.kind for agent in agents if isinstance(agent, CompiledAgent)], np.int64)
        games = Games.empty(*lineups.shape)
        observation, mask = np.zeros(OBSERVATION_SIZE, np.int8), np.zeros(N_ACTIONS, np.int8)
        play_compiled(seeds, kinds[lineups], rules.numbers(), max_decisions, np.zeros(1, STATE), observation, mask,
                      games.place, games.truncated, games.decisions)  # fmt: skip
        return games
    return play_batched(agents, lineups, seeds, rules, max_decisions)


def play_batched(
    agents: Sequence[Agent],
    lineups: npt.NDArray[np.int64],
    seeds: npt.NDArray[np.int64],
    rules: Rules,
    max_decisions: int = MAX_DECISIONS,
) -> Games:
    """:func:`play_games` for any agents: all games side by side, each agent asked for all views that wait for it."""
    players = lineups.shape[1]
    able = [agent if isinstance(agent, BatchAgent) else OneByOne(agent) for agent in agents]
    batch = Batch(len(seeds), rules, players, max_decisions=max_decisions, autoreset="disabled")
    batch.deal(seeds)
    streams = np.array(
        [[int(stream(np.int64(seed), np.int64(_AGENT_STREAM + seat))) for seat in range(players)] for seed in seeds],
        np.int64,
    )
    rows = np.arange(len(seeds), dtype=np.int64)
    while len(rows):
        seats = batch.seat[rows]
        who = lineups[rows, seats]
        chosen = np.empty(len(rows), np.int64)
        for number, agent in enumerate(able):
            asked = np.flatnonzero(who == number)
            if len(asked):
                games, own = rows[asked], streams[rows[asked], seats[asked]]
                chosen[asked] = agent.act_batch(batch.observation[games], batch.mask[games], own)
                streams[games, seats[asked]] = own
        batch.step(chosen, rows)
        rows = rows[batch.seat[rows] != NOBODY]
    states = batch.states
    return Games(
        states["place"][:, :players].copy(), (states["phase"] != OVER).copy(), states["decisions"].astype(np.int32)
    )


# --- statistics ------------------------------------------------------------------------------------------------------


def losses(games: Games, losers: int) -> npt.NDArray[np.float64]:
    """Each seat's share of being an idiot, float ``[G, P]``: 0 or 1, and in a cut-off game shared by those still in."""
    still_in = games.place == 0
    shared: npt.NDArray[np.float64] = still_in * np.minimum(losers / still_in.sum(axis=1, keepdims=True), 1.0)
    return shared


def mean_places(games: Games) -> npt.NDArray[np.float64]:
    """Each seat's place, float ``[G, P]``; those still in share the mean of the open places."""
    players = games.place.shape[1]
    still_in = games.place == 0
    open_mean = (players + (players - still_in.sum(axis=1, keepdims=True)) + 1) / 2
    return np.where(still_in, open_mean, games.place).astype(np.float64)


def bootstrap_interval(per_deal: npt.NDArray[np.float64], seed: int = 0, draws: int = 1000) -> tuple[float, float]:
    """95 % percentile bootstrap interval of the mean over deals."""
    rng = np.random.default_rng(seed)
    n = len(per_deal)
    means = [per_deal[rng.integers(0, n, n)].mean() for _ in range(draws)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class Match:
    """A focal agent among copies of another, over D deals and all P seats of the focal agent."""

    focal: str
    others: str
    players: int
    deals: int
    lost: float
    """Share of games in which the focal agent was an idiot."""
    interval: tuple[float, float]
    mean_place: float
    truncated: int
    decisions: float
    """Decisions per game, of all seats together."""

    @property
    def games(self) -> int:
        return self.deals * self.players


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
    rules.check_players(players)
    for agent in (focal, others):
        check = getattr(agent, "check_players", None)
        if check is not None:
            check(players)
    seats = 1 - np.eye(players, dtype=np.int64)
    lost, places, truncated, decisions = [], [], 0, 0
    for first in range(0, deals, CHUNK):
        n = min(CHUNK, deals - first)
        seeds = np.repeat(deal_seeds(rules, players, n, seed, first), players)
        games = play_games([focal, others], np.tile(seats, (n, 1)), seeds, rules, max_decisions)
        own = np.arange(len(seeds)), np.tile(np.arange(players), n)
        lost.append(losses(games, rules.losers)[own].reshape(n, players).mean(axis=1))
        places.append(mean_places(games)[own])
        truncated += int(games.truncated.sum())
        decisions += int(games.decisions.sum())
        if progress is not None:
            progress(n * players)
    per_deal = np.concatenate(lost)
    return Match(
        focal=focal.name,
        others=others.name,
        players=players,
        deals=deals,
        lost=float(per_deal.mean()),
        interval=bootstrap_interval(per_deal),
        mean_place=float(np.concatenate(places).mean()),
        truncated=truncated,
        decisions=decisions / (deals * players),
    )
