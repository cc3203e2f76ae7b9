"""The result of a tournament: one JSON object that tables, the report and ``--reproduce`` all read.

===============  =====================================================================================================
entry            meaning
===============  =====================================================================================================
agents …         all that the numbers depend on (``Tournament.describe``), and the versions of what computed them
matches          each pairing: the focal agent's figures with intervals, games cut off, lengths of games
mixed            three players or more: each agent's figures at tables of all agents mixed
ratings          by maximum likelihood over all games (``ratings.py``), with each agent's worst pairing
cycles           circles in which each beats the next, where that is sure
behaviour        how each agent plays (``behaviour.py``), if that was counted
sprt             the sequential test, if there was one
exploiters       what exploiters found against each agent (``exploiters.py``), if any did: ``found``, the files and the
                 search's budget
control_variate  the model, if there was one; each match then has its score ``controlled``, too
timing           milliseconds a decision, in batches as the arena asks: the only entry that is never the same twice
===============  =====================================================================================================
"""

from __future__ import annotations

import itertools
import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

import idiot_env
from idiot_agents.arena import Figures, Games, deal_seeds, figures, play_batched, scores
from idiot_agents.behaviour import describe
from idiot_agents.compiled import CompiledAgent
from idiot_agents.intervals import LEVEL, estimate, student_quantile
from idiot_agents.luck import controlled
from idiot_agents.ratings import collect_stages, rate
from idiot_agents.tournament import MIXED, Cell, Tournament

FORMAT = "idiot-bench/2"
LENGTHS = (20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 500, 1000)
"""Upper ends of the classes of games by their number of decisions; one more class for all longer ones."""
_TIMED_DEALS = 32

Result = dict[str, Any]
Entry = dict[str, Any]
Played = Mapping[Cell, Games]
"""All games of each cell, its deals in order."""


# --- figures ---------------------------------------------------------------------------------------------------------


def own_seats(tournament: Tournament, cell: Cell, agent: int, deals: int) -> npt.NDArray[np.bool_]:
    """Where an agent sits in the games of a cell, bool ``[D·P, P]``."""
    seats: npt.NDArray[np.bool_] = tournament.lineups(cell, 0, deals) == agent
    return seats


def lengths_of(games: Games) -> dict[str, Any]:
    """Decisions a game: median, 95th percentile, longest, and how many games there are of each class."""
    median, most = np.quantile(games.decisions, [0.5, 0.95])
    classes = np.bincount(np.searchsorted(LENGTHS, games.decisions), minlength=len(LENGTHS) + 1)
    return {
        "median": float(median),
        "p95": float(most),
        "longest": int(games.decisions.max()),
        "classes": classes.tolist(),
    }


def figures_of(tournament: Tournament, cell: Cell, agent: int, games: Games) -> Figures:
    deals = len(games.place) // tournament.players
    own = own_seats(tournament, cell, agent, deals)
    return figures(games, own, tournament.players, tournament.rules.losers)


def pairings(tournament: Tournament) -> Iterator[tuple[Cell, int, int]]:
    """Every pairing as people read it: its cell, the agent in the first column, and the other one."""
    for a, b in itertools.permutations(tournament.order, 2):
        cell = Cell(min(a, b), max(a, b)) if tournament.players == 2 else Cell(a, b)
        listed_first = tournament.order.index(a) < tournament.order.index(b)
        if cell in tournament.cells and (tournament.players > 2 or listed_first):
            yield cell, a, b


def describe_matches(tournament: Tournament, played: Played) -> list[Entry]:
    matches = []
    for cell, a, b in pairings(tournament):
        games = played[cell]
        found = asdict(figures_of(tournament, cell, cell.focal, games))
        if a != cell.focal:  # two players: what one gains, the other loses
            for name in ("score", "lost", "first"):
                low, high = found[name]["low"], found[name]["high"]
                found[name] = {"mean": 1 - found[name]["mean"], "low": 1 - high, "high": 1 - low}
        pair = {"focal": tournament.names[a], "others": tournament.names[b], "games": len(games.place)}
        matches.append(pair | found | {"lengths": lengths_of(games)})
        if tournament.luck is not None:
            matches[-1]["controlled"] = describe_controlled(tournament, played, cell, a != cell.focal)
    return matches


def describe_controlled(tournament: Tournament, played: Played, cell: Cell, mirrored: bool) -> Entry:
    """The focal agent's score with luck taken away, and the length of its interval as a share of the plain one's."""
    assert tournament.luck is not None, "no luck was measured"
    games, deals = played[cell], tournament.deals
    own = own_seats(tournament, cell, cell.focal, deals)
    cards = [(games.luck * seats).reshape(deals, -1).sum(axis=1) for seats in (own, ~own)]
    seeds = deal_seeds(tournament.rules, tournament.players, deals, tournament.seed)
    luck = np.column_stack([*cards, tournament.luck.of_deals(seeds, tournament.rules, tournament.players)])
    per_deal = deal_scores(tournament, played, cell)
    plain, found = estimate(per_deal), controlled(per_deal, luck)
    length = (found.high - found.low) / (plain.high - plain.low) if plain.high > plain.low else 1.0
    return asdict(found.mirrored() if mirrored else found) | {"length": length}


def describe_mixed(tournament: Tournament, played: Played) -> list[Entry]:
    """Each agent at the mixed tables: over the deals whose line-up it is in."""
    cell = Cell(MIXED, MIXED)
    games, players = played[cell], tournament.players
    rows = []
    for agent in tournament.order:
        own = own_seats(tournament, cell, agent, tournament.deals)
        there = np.repeat(own.reshape(-1, players * players).any(axis=1), players)
        if not there.any():
            continue
        part = Games(games.place[there], games.truncated[there], games.decisions[there],
                     games.luck[there], games.counts, games.seconds, games.asked)  # fmt: skip
        found = figures(part, own[there], players, tournament.rules.losers)
        rows.append({"agent": tournament.names[agent], "games": int(there.sum()), **asdict(found)})
    return rows


# --- ratings and circles ---------------------------------------------------------------------------------------------


def describe_ratings(tournament: Tournament, played: Played, matches: Sequence[Entry]) -> list[Entry]:
    """Ratings, best first, each with the pairing in which the agent scored least."""
    lineups = np.concatenate([tournament.lineups(cell, 0, tournament.deals) for cell in tournament.cells])
    place = np.concatenate([played[cell].place for cell in tournament.cells])
    deals = np.tile(np.repeat(np.arange(tournament.deals), tournament.players), len(tournament.cells))
    stages = collect_stages(lineups, place, deals, len(tournament.agents))
    ratings = rate(tournament.names, stages, tournament.deals, rotations=tournament.players)
    rows = []
    for rating in sorted(ratings, key=lambda rating: -rating.rating):
        scored = cross_table(matches, tournament.players)[rating.agent]
        worst = min(scored, key=lambda name: (scored[name], name))
        rows.append(asdict(rating) | {"worst": {"against": worst, "score": scored[worst]}})
    return rows


def cross_table(matches: Sequence[Entry], players: int) -> dict[str, dict[str, float]]:
    """Each agent's mean score against (or among copies of) each other."""
    table: dict[str, dict[str, float]] = {}
    for match in matches:
        table.setdefault(match["focal"], {})[match["others"]] = match["score"]["mean"]
        if players == 2:
            table.setdefault(match["others"], {})[match["focal"]] = 1 - match["score"]["mean"]
    return table


def surely_better(tournament: Tournament, played: Played) -> dict[int, set[int]]:
    """Whom each agent surely beats: at 95 % for all pairings together (Bonferroni).

    With two players by its mean score; with more, by scoring better among copies of the other than the other among
    copies of it.
    """
    pairs = list(itertools.combinations(range(len(tournament.agents)), 2))
    beats: dict[int, set[int]] = {number: set() for number in range(len(tournament.agents))}
    if tournament.deals < 5:
        return beats
    limit = student_quantile(1 - (1 - LEVEL) / len(pairs), tournament.deals - 1)
    for a, b in pairs:
        per_deal = deal_scores(tournament, played, Cell(a, b)) - 0.5
        if tournament.players > 2:
            per_deal -= deal_scores(tournament, played, Cell(b, a)) - 0.5
        edge = per_deal.mean()
        error = per_deal.std(ddof=1) / math.sqrt(tournament.deals)
        if abs(edge) > limit * error:
            winner, loser = (a, b) if edge > 0 else (b, a)
            beats[winner].add(loser)
    return beats


def deal_scores(tournament: Tournament, played: Played, cell: Cell) -> npt.NDArray[np.float64]:
    """The focal agent's mean score in each deal, float ``[D]``."""
    games = played[cell]
    deals = len(games.place) // tournament.players
    own = own_seats(tournament, cell, cell.focal, deals)
    per_deal: npt.NDArray[np.float64] = (scores(games) * own).reshape(deals, -1).sum(axis=1) / tournament.players
    return per_deal


def find_cycles(beats: Mapping[int, set[int]]) -> list[list[int]]:
    """All circles of three, each from its smallest number on; where there is none, one longer circle, or nothing."""
    threes = [
        [a, b, c] for a in beats for b in beats[a] for c in beats[b] if a in beats[c] and a == min(a, b, c)
    ]  # fmt: skip
    if threes:
        return sorted(threes)
    done: set[int] = set()

    def visit(number: int, path: list[int]) -> list[int]:
        if number in path:
            circle = path[path.index(number) :]
            start = circle.index(min(circle))
            return circle[start:] + circle[:start]
        for following in sorted(beats[number]) if number not in done else ():
            if circle := visit(following, [*path, number]):
                return circle
        done.add(number)
        return []

    longer = next((circle for number in sorted(beats) if (circle := visit(number, []))), [])
    return [longer] if longer else []


# --- behaviour and time ----------------------------------------------------------------------------------------------


def describe_behaviour(tournament: Tournament, played: Played) -> list[Entry]:
    counts = np.sum([played[cell].counts for cell in tournament.cells], axis=0)
    rows = []
    for agent in tournament.order:
        seats = sum(int(own_seats(tournament, cell, agent, tournament.deals).sum()) for cell in tournament.cells)
        if seats:
            rows.append(asdict(describe(tournament.names[agent], counts[agent], seats)))
    return rows


def describe_timing(tournament: Tournament, played: Played) -> list[Entry]:
    """Milliseconds a decision; agents of the compiled loop play some deals among themselves for it."""
    seconds = np.sum([games.seconds for games in played.values()], axis=0)
    asked = np.sum([games.asked for games in played.values()], axis=0)
    rows = []
    for number in tournament.order:
        if not asked[number] or isinstance(tournament.agents[number], CompiledAgent):
            deals = min(tournament.deals, _TIMED_DEALS)
            seeds = deal_seeds(tournament.rules, tournament.players, deals, tournament.seed)
            seats = np.zeros((deals, tournament.players), np.int64)
            quick = tournament.agents[number]
            for limit in (1, tournament.max_decisions):  # the first call may have to compile
                games = play_batched([quick], seats, seeds, tournament.rules, limit)
            seconds[number], asked[number] = games.seconds[0], games.asked[0]
        rows.append({"agent": tournament.names[number], "ms_per_decision": 1000 * seconds[number] / asked[number]})
    return rows


# --- the whole -------------------------------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    return {
        "idiot_env": idiot_env.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def make_result(tournament: Tournament, played: Played) -> Result:
    """What came of a tournament."""
    matches = describe_matches(tournament, played)
    complete = set(tournament.cells) == set(tournament.all_cells())
    result: Result = {"format": FORMAT, **tournament.describe(), "versions": versions(), "matches": matches}
    if Cell(MIXED, MIXED) in played:
        result["mixed"] = describe_mixed(tournament, played)
    if len(tournament.agents) > 2 and complete:
        result["ratings"] = describe_ratings(tournament, played, matches)
        cycles = find_cycles(surely_better(tournament, played))
        result["cycles"] = [[tournament.names[number] for number in cycle] for cycle in cycles]
    if tournament.watching:
        result["behaviour"] = describe_behaviour(tournament, played)
    result["timing"] = describe_timing(tournament, played)
    return result


def marked(result: Result, name: str) -> str:
    """An agent's name with the signs of :func:`legend`."""
    (agent,) = (agent for agent in result["agents"] if agent["name"] == name)
    return name + ("" if agent["reproducible"] else "*") + ("†" if agent["cheats"] else "")


def legend(result: Result) -> list[tuple[str, str]]:
    """The signs behind names in this result, and what they mean."""
    signs = []
    if not all(agent["reproducible"] for agent in result["agents"]):
        signs.append(("*", "thinks for a time, so its games cannot be replayed"))
    if any(agent["cheats"] for agent in result["agents"]):
        signs.append(("†", "sees all cards: no honest agent"))
    return signs
