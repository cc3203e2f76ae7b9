"""Plots of a study, read from its JSON; matplotlib is imported when somebody asks for them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from idiot_agents.errors import InputError
from idiot_agents.network import write_file
from idiot_agents.study_tables import own_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Entry = dict[str, Any]
Result = dict[str, Any]
EFFECTS = (("length_median", "median game, decisions", 1.0), ("cut_off", "cut off, points", 100.0),
           ("skilled", "strong agent lost, points", 100.0))  # fmt: skip
DPI = 110


def errors(numbers: Sequence[Entry], scale: float = 1.0) -> tuple[list[float], list[list[float]]]:
    """Values, and how far their intervals reach below and above them, as ``errorbar`` takes both."""
    values = [scale * number["value"] for number in numbers]
    below = [scale * (number["value"] - number["low"]) for number in numbers]
    above = [scale * (number["high"] - number["value"]) for number in numbers]
    return values, [np.maximum(below, 0).tolist(), np.maximum(above, 0).tolist()]


def length_plot(result: Result) -> Figure:
    """Decisions a game by players: the median and the 95th of 100, for each table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    cells = list(own_cells(result))
    names = list(dict.fromkeys(cell["table"] for cell in cells))
    for place, (number, title) in enumerate(
        (("length_median", "median game"), ("length_p95", "95 of 100 are shorter"))
    ):
        axes = figure.add_subplot(1, 2, place + 1)
        for k, name in enumerate(names):
            own = [cell for cell in cells if cell["table"] == name]
            players = [cell["players"] + 0.06 * (k - len(names) / 2) for cell in own]
            values, reach = errors([cell["numbers"][number] for cell in own])
            axes.errorbar(players, values, yerr=reach, marker="o", capsize=3, label=name)
        axes.set(title=title, xlabel="players", ylabel="decisions", xticks=sorted({c["players"] for c in cells}))
        if number == "length_p95":
            axes.set_yscale("log")  # where one game in twenty is cut off, it is the limit: twenty times the median
        else:
            axes.set_ylim(bottom=0)
        axes.legend()
    return figure


def seats_plot(result: Result) -> Figure:
    """Each seat's disadvantage, clockwise from the starter: a panel for each table and number of players."""
    from matplotlib.figure import Figure

    cells = list(own_cells(result))
    names = list(dict.fromkeys(cell["table"] for cell in cells))
    counts = sorted({cell["players"] for cell in cells})
    figure = Figure(figsize=(2.6 * len(counts) + 1, 2.2 * len(names) + 0.6), layout="constrained")
    panels = figure.subplots(len(names), len(counts), squeeze=False, sharey=True)
    for cell in cells:
        axes = panels[names.index(cell["table"]), counts.index(cell["players"])]
        values, reach = errors(cell["numbers"]["by_start"], 100)
        axes.bar(range(1, len(values) + 1), values, yerr=reach, capsize=3, color="#7aa6c2")
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set(title=f"{cell['table']}, {cell['players']} players", xticks=range(1, len(values) + 1))
    figure.supxlabel("seat, clockwise from the starter")
    figure.supylabel("idiot more often than even, points")
    return figure


def house_plot(result: Result, table: str, players: int) -> Figure | None:
    """What each house rule changes at one table; ``None`` without house rules."""
    from matplotlib.figure import Figure

    cells = [c for c in result["cells"] if c["option"] and (c["table"], c["players"]) == (table, players)]
    if not cells:
        return None
    figure = Figure(figsize=(11, 0.32 * len(cells) + 1.6), layout="constrained")
    panels = figure.subplots(1, len(EFFECTS), squeeze=False, sharey=True)[0]
    rows = np.arange(len(cells))[::-1]
    for axes, (number, title, scale) in zip(panels, EFFECTS, strict=True):
        values, reach = errors([cell["against_table"][number] for cell in cells], scale)
        axes.errorbar(values, rows, xerr=reach, fmt="o", capsize=3, color="#2f6f95")
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set(xlabel=title)
        axes.grid(axis="y", alpha=0.3)
    panels[0].set_yticks(rows, [f"{cell['option']}={cell['value']}" for cell in cells])
    figure.suptitle(f"{table}, {players} players: what each house rule changes, with 95 % intervals")
    return figure


def write_plots(result: Result, folder: Path) -> list[Path]:
    """Write all plots as PNG, each whole or not at all, and return their places.

    Raises:
        InputError: if one cannot be written.
    """
    figures: dict[str, Figure | None] = {"length": length_plot(result), "seats": seats_plot(result)}
    for cell in own_cells(result):
        name = f"house-rules-{cell['table']}-{cell['players']}"
        figures[name] = house_plot(result, cell["table"], cell["players"])
    paths = []
    for name, figure in figures.items():
        if figure is not None:
            picture = io.BytesIO()
            figure.savefig(picture, format="png", dpi=DPI)
            path = folder / f"{name}.png"
            try:
                write_file(path, picture.getvalue())
            except OSError as error:
                raise InputError(f"{path} cannot be written ({error.strerror}).") from None
            paths.append(path)
    return paths
