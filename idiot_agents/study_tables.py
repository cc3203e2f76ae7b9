"""A study as tables for the terminal: read from its JSON, so that a file shows the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from idiot_agents.results import legend, marked
from idiot_agents.tables import console

Entry = dict[str, Any]
Result = dict[str, Any]
Row = tuple[str, str, Callable[[float], str]]
"""Name of a number, its heading, and how it is written."""


def _whole(number: float) -> str:
    return f"{number:.0f}"


def _one(number: float) -> str:
    return f"{number:.1f}"


def _percent(number: float) -> str:
    return f"{number:.1%}"


def _points(number: float) -> str:
    return f"{100 * number:+.1f}"


def _signed(number: float) -> str:
    return f"{number:+.1f}"


GAMES: tuple[Row, ...] = (
    ("length_median", "decisions", _whole), ("length_p95", "95 of 100", _whole), ("length_longest", "longest", _whole),
    ("cut_off", "cut off", _percent),
)  # fmt: skip
PILE: tuple[Row, ...] = (
    ("takes", "takes a game", _one), ("take_cards", "cards a take", _one), ("burns", "burns a game", _one),
    ("burn_cards", "cards a burn", _one),
)  # fmt: skip
FAIRNESS: tuple[Row, ...] = (
    ("starter", "starter", _points), ("exchanging", "no exchange", _points), ("skilled", "strong lost", _percent),
    ("skill", "skill", _percent),
)  # fmt: skip
CHANGES: tuple[Row, ...] = (
    ("length_median", "decisions", _signed), ("cut_off", "cut off", _points), ("starter", "starter", _points),
    ("takes", "takes", _signed), ("skilled", "strong lost", _points),
)  # fmt: skip
NOTES = (
    "decisions: of all seats together, in the median game. starter, seats: percentage points by which the starter, and "
    "each seat clockwise from it, is an idiot more often than an even share. no exchange: the same for one who "
    "exchanges nothing among others who do. strong lost: how often the strong agent among greedy ones is an idiot; "
    "skill: the share of an even number of losses that it avoids."
)


def with_interval(number: Entry | None, write: Callable[[float], str]) -> str:
    """``84`` and, below it, ``82 to 86``; a dash where there is no such number."""
    if number is None:
        return "–"
    return f"{write(number['value'])}\n{write(number['low'])} to {write(number['high'])}"


def _table(title: str, names: Sequence[str], headings: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def table_of(result: Result, rows: Sequence[Row], title: str) -> Table:
    """The tables themselves, a row for each number of players."""
    table = _table(title, ("table", "players"), [heading for _, heading, _ in rows])
    for cell in own_cells(result):
        numbers = [with_interval(cell["numbers"][name], write) for name, _, write in rows]
        table.add_row(cell["table"], str(cell["players"]), *numbers)
    return table


def own_cells(result: Result) -> Iterator[Entry]:
    """The tables without a house rule."""
    return (cell for cell in result["cells"] if cell["option"] is None)


def seats_table(result: Result) -> Table:
    """Each seat's disadvantage, clockwise from the starter."""
    most = max(cell["players"] for cell in own_cells(result))
    table = _table("Seats, clockwise from the starter", ("table", "players"), [f"seat {k + 1}" for k in range(most)])
    for cell in own_cells(result):
        seats = [with_interval(seat, _points) for seat in cell["numbers"]["by_start"]]
        table.add_row(cell["table"], str(cell["players"]), *seats)
    return table


def house_table(result: Result, name: str, players: int) -> Table | None:
    """What each house rule changes at one table, what is clear in bold; ``None`` without house rules."""
    cells = [c for c in result["cells"] if c["option"] and (c["table"], c["players"]) == (name, players)]
    if not cells:
        return None
    title = f"{name}, {players} players: what each house rule changes ({cells[0]['deals']:,} deals; bold: sure)"
    table = _table(title, ("house rule",), [heading for _, heading, _ in CHANGES])
    for cell in cells:
        row = []
        for number, _, write in CHANGES:
            change = cell["against_table"].get(number)
            sure = change is not None and (change["low"] > 0 or change["high"] < 0)
            row.append(Text(with_interval(change, write), style="bold" if sure else ""))
        table.add_row(f"{cell['option']}={cell['value']}", *row)
    return table


def print_study(result: Result) -> None:
    """Print the tables; of the house rules, those with the fewest players that were asked for."""
    out = console()
    agent, strong = (marked(result, result[who]) for who in ("agent", "strong"))
    deals = next(own_cells(result))["deals"]
    out.print(table_of(result, GAMES, f"Games of {agent} in all seats, {deals:,} deals, with 95 % intervals"))
    out.print(table_of(result, PILE, "The pile in these games"))
    out.print(table_of(result, FAIRNESS, f"Who loses: {agent} in all seats; the strong agent is {strong}"))
    out.print(seats_table(result))
    players = sorted({cell["players"] for cell in result["cells"]})
    shown = False
    for name in dict.fromkeys(cell["table"] for cell in result["cells"]):
        fewest = min(cell["players"] for cell in result["cells"] if cell["table"] == name)
        table = house_table(result, name, fewest)
        if table is not None:
            out.print(table)
            shown = True
    if shown and len(players) > 1:
        rest = ", ".join(map(str, players[1:]))
        out.print(f"House rules with {rest} players: --players {players[1]} prints them, --json FILE holds all.")
    out.print(NOTES)
    for sign, meaning in legend(result):
        out.print(f"{sign} {meaning}")
