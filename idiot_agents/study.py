"""What the rules do: ``idiot study``.

Each cell is one set of rules with one number of players.  One agent sits in all seats of D deals, so no strength is in
play, only the rules.  House rules are changed one at a time and play the deals of their table, so what they change is a
paired difference.  Every number has a 95 % interval; the deal is the unit.

=====================  ==============================================================================================
number                 what it is
=====================  ==============================================================================================
``length_mean``        decisions a game, of all seats together; also ``length_median``, ``length_p95`` (95 of 100 games
                       are no longer) and ``length_longest`` (whose interval ends at the limit: a longer one may come)
``cut_off``            share of games that the limit cut off
``starter``            how much more often the starter is an idiot than an even share: above zero is a disadvantage
``by_start``           the same for each seat, clockwise from the starter
``by_dealer``          the same for each seat, clockwise from the dealer's left
``takes``, ``burns``   piles taken and burned, a game
``take_cards``         cards a time; also ``burn_cards``; and ``take_sizes``, ``burn_sizes``: how large these piles are
``exchanging``         how much more often an agent is an idiot that exchanges nothing, among others that do
``skilled``            how often a strong agent among greedy ones is an idiot
``skill``              the share of an even number of losses that it avoids: 0 no better than greedy, 1 never an idiot
=====================  ==============================================================================================
"""

from __future__ import annotations

import itertools
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

import idiot_env
from idiot_agents.arena import MAX_DECISIONS, deal_seeds, deals_hash, lost_shares
from idiot_agents.intervals import Estimate, estimate
from idiot_agents.protocol import Agent
from idiot_agents.quantities import Quantity, difference, mean, median_difference, quantile, ratio, share_difference
from idiot_agents.tally import (
    BURN_SIZES,
    BURNED,
    BURNS,
    SIZES,
    STARTER,
    TAKE_SIZES,
    TAKEN,
    TAKES,
    UNKNOWN,
    Tally,
    tally_games,
)
from idiot_agents.tournament import describe_agent
from idiot_env import Rules
from idiot_env.rules import OPTIONS, value_text

FORMAT = "idiot-study/1"
CHUNK = 1000
"""Games played at once."""
SIZE_NAMES = (f"1–{SIZES[0]}", *(f"{low + 1}–{high}" for low, high in itertools.pairwise(SIZES)), f"{SIZES[-1] + 1}–")
COMPARED = {
    "length_median": median_difference, "cut_off": share_difference, "starter": share_difference, "takes": difference,
    "burns": difference, "exchanging": share_difference, "skilled": share_difference,
}  # fmt: skip
"""What is compared with the table's own rules, and how."""

Floats = npt.NDArray[np.float64]
Number = Quantity | list[Quantity] | dict[str, Quantity] | None
Result = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One set of rules with one number of players."""

    table: str
    option: str | None
    """The house rule that differs from the table's, or ``None``."""
    value: str | None
    rules: Rules
    players: int
    deals: int

    @property
    def name(self) -> str:
        return self.table if self.option is None else f"{self.table} {self.option}={self.value}"

    @property
    def even(self) -> float:
        """The share of games that everybody loses where all are alike."""
        return self.rules.losers / self.players


@dataclass(frozen=True)
class Studied:
    """A cell with its numbers, and one value a deal for each that is compared, float64 ``[D]``."""

    cell: Cell
    numbers: dict[str, Number]
    per_deal: dict[str, Floats]
    against_table: dict[str, Quantity] = field(default_factory=dict)


# --- which cells -----------------------------------------------------------------------------------------------------


def house_rules(table: str) -> Iterator[tuple[str, str, Rules]]:
    """Every option changed alone: its name, the value's text and the rules; not those that nothing would read."""
    base = Rules.preset(table)
    for option, values in OPTIONS.items():
        if option == "starter_tie" and base.starter != "lowest_hand":
            continue
        for value in values:
            if value != getattr(base, option):
                yield option, value_text(value), Rules.preset(table, **{option: value})


def seats(rules: Rules, players: int) -> bool:
    """Whether so many can sit at this table."""
    try:
        rules.check_players(players)
    except ValueError:
        return False
    return True


def all_cells(
    tables: Sequence[str], players: Iterable[int], deals: int, options: Sequence[str] | None, house_deals: int
) -> list[Cell]:
    """For each table and number of players the table itself, then its house rules (``None``: all of them)."""
    cells = []
    for table in tables:
        for number in players:
            cells.append(Cell(table, None, None, Rules.preset(table), number, deals))
            for option, value, rules in house_rules(table):
                if (options is None or option in options) and seats(rules, number):
                    cells.append(Cell(table, option, value, rules, number, min(house_deals, deals)))
    return cells


def games_of(cell: Cell) -> int:
    """How many games a cell takes: each deal once, and once for each seat of two focal agents."""
    return cell.deals * (1 + 2 * cell.players)


# --- games -----------------------------------------------------------------------------------------------------------


def cell_seeds(cell: Cell, seed: int) -> npt.NDArray[np.int64]:
    """Deal seeds, int64 ``[D]``: those of the table, for its house rules as well."""
    return deal_seeds(Rules.preset(cell.table), cell.players, cell.deals, seed)


def play_alike(cell: Cell, agent: Agent, seeds: npt.NDArray[np.int64]) -> Tally:
    """One agent in all seats, every deal once."""
    shape = len(seeds), cell.players
    return tally_games([agent], np.zeros(shape, np.int64), np.ones(shape, np.bool_), seeds, cell.rules, MAX_DECISIONS)


def play_focal(
    cell: Cell, focal: Agent, others: Agent, seeds: npt.NDArray[np.int64], exchanging: bool = True
) -> Floats:
    """How often ``focal`` is an idiot among copies of ``others``, by deal, float64 ``[D]``: the mean over its seats.

    Args:
        cell: the table.
        focal: sits in each seat once.
        others: sits in all others.
        seeds: int64 ``[D]`` deal seeds.
        exchanging: whether ``focal`` may exchange.
    """
    deals, players = len(seeds), cell.players
    own = np.tile(np.eye(players, dtype=np.bool_), (deals, 1))
    alike = focal is others
    agents = [focal] if alike else [focal, others]
    lineups = np.zeros(own.shape, np.int64) if alike else (~own).astype(np.int64)
    tally = tally_games(agents, lineups, ~own | exchanging, np.repeat(seeds, players), cell.rules, MAX_DECISIONS)
    by_deal: Floats = lost_shares(tally.place, cell.rules.losers)[own].reshape(deals, players).mean(axis=1)
    return by_deal


def in_chunks(seeds: npt.NDArray[np.int64], games_a_deal: int) -> Iterator[npt.NDArray[np.int64]]:
    """Deal seeds in parts of about ``CHUNK`` games."""
    step = max(1, CHUNK // games_a_deal)
    for first in range(0, len(seeds), step):
        yield seeds[first : first + step]


def join(parts: Sequence[Tally]) -> Tally:
    """Games one after the other."""
    return Tally(*(np.concatenate([getattr(p, name) for p in parts]) for name in Tally.__dataclass_fields__))


# --- numbers ---------------------------------------------------------------------------------------------------------


def share(values: npt.NDArray[Any], less: float = 0.0) -> Quantity:
    """The mean over deals of shares between 0 and 1, less a constant."""
    found: Estimate = estimate(np.asarray(values, np.float64))
    return Quantity(found.mean - less, found.low - less, found.high - less)


def turned(lost: Floats, first: npt.NDArray[np.integer[Any]]) -> Floats:
    """``[G, P]`` by seat, turned so that seat ``first[g]`` of game g comes first."""
    games, players = lost.shape
    order = (first[:, None] + np.arange(players)) % players
    ordered: Floats = lost[np.arange(games)[:, None], order]
    return ordered


def sizes(counts: npt.NDArray[np.int64], first: int, total: int) -> dict[str, Quantity] | None:
    """The shares of takes or burns by the size of the pile; ``None`` where there was none."""
    shares = {name: ratio(counts[:, first + place], counts[:, total]) for place, name in enumerate(SIZE_NAMES)}
    return {name: one for name, one in shares.items() if one is not None} or None


def numbers_alike(cell: Cell, tally: Tally) -> tuple[dict[str, Number], dict[str, Floats]]:
    """What games among copies of one agent tell."""
    counts, lost = tally.counts, lost_shares(tally.place, cell.rules.losers)
    # A game that the limit cut off before the first turn of play has no starter; it has lost evenly.
    starter = np.where(counts[:, STARTER] == UNKNOWN, 0, counts[:, STARTER])
    by_start, by_dealer = turned(lost, starter), turned(lost, tally.dealer.astype(np.int64) + 1)
    numbers: dict[str, Number] = {
        "length_mean": mean(tally.decisions),
        "length_median": quantile(tally.decisions, 0.5, MAX_DECISIONS),
        "length_p95": quantile(tally.decisions, 0.95, MAX_DECISIONS),
        "length_longest": quantile(tally.decisions, 1.0, MAX_DECISIONS),
        "cut_off": share(tally.truncated),
        "starter": share(by_start[:, 0], cell.even),
        "by_start": [share(by_start[:, seat], cell.even) for seat in range(cell.players)],
        "by_dealer": [share(by_dealer[:, seat], cell.even) for seat in range(cell.players)],
        "takes": mean(counts[:, TAKES]),
        "take_cards": ratio(counts[:, TAKEN], counts[:, TAKES]),
        "take_sizes": sizes(counts, TAKE_SIZES, TAKES),
        "burns": mean(counts[:, BURNS]),
        "burn_cards": ratio(counts[:, BURNED], counts[:, BURNS]),
        "burn_sizes": sizes(counts, BURN_SIZES, BURNS),
    }
    per_deal: dict[str, Floats] = {
        "length_median": tally.decisions.astype(np.float64),
        "cut_off": tally.truncated.astype(np.float64),
        "starter": by_start[:, 0] - cell.even,
        "takes": counts[:, TAKES].astype(np.float64),
        "burns": counts[:, BURNS].astype(np.float64),
    }
    return numbers, per_deal


def study_cell(cell: Cell, agent: Agent, strong: Agent, greedy: Agent, seed: int, table: Studied | None) -> Studied:
    """Play a cell and work out its numbers, those that it shares with its table's also as differences."""
    seeds = cell_seeds(cell, seed)
    tally = join([play_alike(cell, agent, part) for part in in_chunks(seeds, 1)])
    numbers, per_deal = numbers_alike(cell, tally)
    if cell.rules.swap == "never":
        numbers["exchanging"] = None
    else:
        parts = [play_focal(cell, agent, agent, part, exchanging=False) for part in in_chunks(seeds, cell.players)]
        per_deal["exchanging"] = np.concatenate(parts) - cell.even
        numbers["exchanging"] = share(per_deal["exchanging"] + cell.even, cell.even)
    skilled = np.concatenate([play_focal(cell, strong, greedy, part) for part in in_chunks(seeds, cell.players)])
    lost = share(skilled)
    per_deal["skilled"] = skilled
    numbers["skilled"] = lost
    numbers["skill"] = Quantity(*(1 - one / cell.even for one in (lost.value, lost.high, lost.low)))
    against: dict[str, Quantity] = {}
    if table is not None:
        for name, compare in COMPARED.items():
            if name in per_deal and name in table.per_deal:
                against[name] = compare(per_deal[name], table.per_deal[name][: cell.deals])
    return Studied(cell, numbers, per_deal, against)


def run_study(cells: Sequence[Cell], agent: Agent, strong: Agent, greedy: Agent, seed: int) -> Iterator[Studied]:
    """Study cells one after the other; a table's own cell comes before its house rules."""
    table: Studied | None = None
    for cell in cells:
        if cell.option is None:
            table = None
        studied = study_cell(cell, agent, strong, greedy, seed, table)
        if cell.option is None:
            table = studied
        yield studied


# --- as JSON ---------------------------------------------------------------------------------------------------------


def plain(number: Number) -> Any:
    """A number as JSON: ``{"value", "low", "high"}``, or lists and mappings of these."""
    if isinstance(number, Quantity):
        return number.as_dict()
    if isinstance(number, list):
        return [one.as_dict() for one in number]
    if isinstance(number, dict):
        return {name: one.as_dict() for name, one in number.items()}
    return None


def cell_json(studied: Studied, seed: int) -> Result:
    cell = studied.cell
    return {
        "table": cell.table,
        "option": cell.option,
        "value": cell.value,
        "rules": str(cell.rules),
        "players": cell.players,
        "deals": cell.deals,
        "deals_hash": deals_hash(cell_seeds(cell, seed), cell.rules, cell.players),
        "even": cell.even,
        "numbers": {name: plain(number) for name, number in studied.numbers.items()},
        "against_table": {name: number.as_dict() for name, number in studied.against_table.items()},
    }


def study_json(results: Sequence[Studied], agent: Agent, strong: Agent, seed: int, command: str) -> Result:
    """Everything that is needed to play the same games again, and what came of them."""
    return {
        "format": FORMAT,
        "command": command,
        "agent": agent.name,
        "strong": strong.name,
        "agents": [describe_agent(one) for one in {one.name: one for one in (agent, strong)}.values()],
        "seed": seed,
        "max_decisions": MAX_DECISIONS,
        "versions": {
            "idiot_env": idiot_env.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
        "cells": [cell_json(studied, seed) for studied in results],
    }
