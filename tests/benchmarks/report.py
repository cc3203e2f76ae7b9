"""The table, the JSON and the plot of ``make bench``."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One figure of ours and what it should reach."""

    what: str
    value: float
    unit: str
    target: float | None = None
    at_most: bool = False

    @property
    def ratio(self) -> float | None:
        """1 or more: the target is reached."""
        if self.target is None:
            return None
        return self.target / self.value if self.at_most else self.value / self.target


@dataclass(frozen=True)
class Point:
    """One point of the plot: decisions per second of wall time."""

    batch: int
    players: int
    threads: int
    rate: float


def machine_facts() -> dict[str, Any]:
    """What the figures depend on beside the code."""
    import numba
    import numpy

    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "load when started": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
    }


def number(value: float) -> str:
    """Three digits and thousands separators."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def markdown(rows: Sequence[Row], peers: Sequence[dict[str, Any]], facts: dict[str, Any]) -> str:
    """Everything as text."""
    lines = [", ".join(f"{name}: {value}" for name, value in facts.items()), ""]
    lines += ["| what | here | unit | to reach | ratio |", "|---|---:|---|---:|---:|"]
    for row in rows:
        target = ratio = ""
        if row.target is not None and row.ratio is not None:
            target = f"{'≤' if row.at_most else '≥'} {number(row.target)}"
            ratio = f"{row.ratio:.2f}" + ("" if row.ratio >= 1 else " (short)")
        lines.append(f"| {row.what} | {number(row.value)} | {row.unit} | {target} | {ratio} |")
    if peers:
        lines += ["", "| peer | game | what | decisions per CPU second |", "|---|---|---|---:|"]
        for peer in peers:
            found = number(peer["rate"]) if "rate" in peer else f"not measured: {peer['missing']}"
            lines.append(f"| {peer['system']} | {peer['game']} | {peer['what']} | {found} |")
    return "\n".join(lines) + "\n"


def write(
    folder: Path, rows: Sequence[Row], peers: Sequence[dict[str, Any]], points: Sequence[Point], facts: dict[str, Any]
) -> None:
    """``speed.json``, ``speed.md`` and, where there are points, ``speed.png``."""
    folder.mkdir(parents=True, exist_ok=True)
    ours = [{**asdict(row), "ratio": row.ratio} for row in rows]
    everything = {"facts": facts, "ours": ours, "peers": list(peers), "points": [asdict(point) for point in points]}
    (folder / "speed.json").write_text(json.dumps(everything, indent=1, ensure_ascii=False), encoding="utf-8")
    (folder / "speed.md").write_text(markdown(rows, peers, facts), encoding="utf-8")
    if points:
        draw(points, folder / "speed.png")


def draw(points: Sequence[Point], path: Path) -> None:
    """Decisions a second over batch size, a line for each number of players and threads."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for players, threads in sorted({(point.players, point.threads) for point in points}):
        line = [point for point in points if (point.players, point.threads) == (players, threads)]
        label = f"{players} players" + (f", {threads} threads" if threads > 1 else "")
        axes.plot(
            [p.batch for p in line], [p.rate / 1e6 for p in line], "o--" if threads > 1 else "o-", ms=4, label=label
        )
    axes.set_xscale("log", base=2)
    axes.set(
        xlabel="games a batch",
        ylabel="million decisions a second",
        title="Batch.step from Python, random play, table standard",
        ylim=(0, None),
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=100)
