"""A result as one HTML page that needs nothing else: no network, no scripts; light and dark as the reader's screen is.

Heat map of the cross-table, ratings with intervals, lengths of games, strength against time, behaviour.  Plots are SVG
written here, a few shapes each: a plotting library would bring more into the page than it draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from idiot_agents.exploiters import COLUMNS, exploited_rows, exploited_title
from idiot_agents.results import LENGTHS, Result, cross_table, marked
from idiot_agents.tables import face_up_text, sentences
from idiot_env import Rules

WIDTH = 720
_STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --paper: #fcfcfa; --faint: #6b6b70; --line: #d8d8d4;
        --good: #1a7f5a; --bad: #b3471d; --mark: #2b5fb8; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --paper: #17181a; --faint: #a0a0a6; --line: #3a3b3f;
        --good: #4cc38a; --bad: #f0814a; --mark: #7ab0ff; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
       margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child, td.text { text-align: left; white-space: nowrap; }
thead th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
svg { max-width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .faint { fill: var(--faint); } svg .line { stroke: var(--line); }
.note { color: var(--faint); font-size: .9rem; } .warning { border-left: 4px solid var(--bad); padding-left: .8rem; }
code { font-size: .85rem; overflow-wrap: anywhere; }
"""


def html_report(result: Result) -> str:
    """The whole page."""
    title = f"Idiot: {result['rules']}, {result['players']} players"
    parts = [f"<h1>{escape(title)}</h1>", _facts(result)]
    parts += [
        f'<p class="{"warning" if "warning" in line else "note"}">{escape(line)}</p>' for line in sentences(result)
    ]
    if "ratings" in result:
        parts += [_section("Ratings", rating_plot(result)), _ratings(result)]
    parts.append(_section("Who beats whom", heat_map(result)))
    parts.append(_section("All pairings", _matches(result)))
    if result["control_variate"]:
        title = f"Without the luck that {result['control_variate']['name']} sees"
        parts.append(_section(title, _controlled(result)))
    if "mixed" in result:
        parts.append(_section("All agents mixed", _mixed(result)))
    if "exploiters" in result:
        title = exploited_title(result)
        parts.append(_section(title[0].upper() + title[1:], _exploiters(result)))
    parts.append(_section("Length of games", length_plot(result)))
    parts.append(_section("Strength against time", time_plot(result)))
    if "behaviour" in result:
        parts.append(_section("How they play", _behaviour(result)))
    parts.append(_section("How to get these numbers again", _origin(result)))
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _section(title: str, content: str) -> str:
    return f'<h2>{escape(title)}</h2>\n<div class="scroll">{content}</div>'


def _facts(result: Result) -> str:
    games = sum(match["games"] for match in result["matches"])
    cut = sum(match["truncated"] for match in result["matches"])
    text = (
        f"{len(result['agents'])} agents, {result['deals']:,} deals a pairing, each in every rotation of the seats: "
        f"{games:,} games in pairings, {cut:,} of them cut off after {result['max_decisions']:,} decisions and shared "
        "by those still in. Intervals are 95 %, over deals. A score is 1 for the first out, 0 for the last."
    )
    return f"<p>{escape(text)}</p>"


def _rows(header: Sequence[str], rows: Sequence[Sequence[str]], texts: frozenset[int] = frozenset({1})) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "\n".join(
        "<tr>"
        + "".join(
            f'<td class="text">{escape(cell)}</td>' if place in texts else f"<td>{escape(cell)}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


def _estimate(estimate: dict[str, float]) -> str:
    return f"{estimate['mean']:.2%} ({estimate['low']:.1%} – {estimate['high']:.1%})"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _matches(result: Result) -> str:
    header = ["agent", "against", "score", "cut off", "decisions", "95th percentile", "longest"]
    if result["players"] > 2:
        header[1:3] = ["among", "score", "last", "first"]
    rows = []
    for match in result["matches"]:
        shares = [match["score"]] if result["players"] == 2 else [match["score"], match["lost"], match["first"]]
        lengths = match["lengths"]
        rows.append(
            [
                marked(result, match["focal"]),
                marked(result, match["others"]),
                *(_estimate(share) for share in shares),
                f"{match['truncated']:,}",
                f"{match['decisions']:.1f}",
                f"{lengths['p95']:,.0f}",
                f"{lengths['longest']:,}",
            ]
        )
    return _rows(header, rows)


def _controlled(result: Result) -> str:
    rows = [
        [
            marked(result, match["focal"]),
            marked(result, match["others"]),
            _estimate(match["controlled"]),
            f"{match['controlled']['length']:.2f} ×",
        ]
        for match in result["matches"]
    ]
    return _rows(["agent", "against", "score", "length of the interval"], rows)


def _mixed(result: Result) -> str:
    even = Rules.parse(result["rules"]).losers / result["players"]
    header = ["agent", "games", "score", f"last (even: {even:.1%})", "first", "cut off"]
    rows = [
        [
            marked(result, row["agent"]),
            f"{row['games']:,}",
            *(_estimate(row[name]) for name in ("score", "lost", "first")),
            f"{row['truncated']:,}",
        ]
        for row in result["mixed"]
    ]
    return _rows(header, rows, frozenset())


def _exploiters(result: Result) -> str:
    rows = [[marked(result, name), *(cell or "–" for cell in cells)] for name, *cells in exploited_rows(result)]
    return _rows(COLUMNS, rows, frozenset({2, 4}))


def _ratings(result: Result) -> str:
    rows = [
        [
            marked(result, row["agent"]),
            f"{row['bound']}{row['rating']:,.0f}",
            "–" if row["bound"] else f"{row['low']:,.0f} – {row['high']:,.0f}",
            f"{row['worst']['score']:.1%} {'against' if result['players'] == 2 else 'among'} {row['worst']['against']}",
        ]
        for row in result["ratings"]
    ]
    table = _rows(["agent", "rating", "95 % interval", "worst pairing"], rows, frozenset({3}))
    return f'<div class="scroll">{table}</div>'


def _behaviour(result: Result) -> str:
    header = ["agent", "decisions a game", "leads a two or ten, having another", "tens on piles of one or two",
              "three on the pile, fourth not laid", "takes though it could play", "cards taken then",
              "chance drawn", "face-up when play starts"]  # fmt: skip
    rows = [
        [
            marked(result, row["agent"]),
            f"{row['decisions']:.1f}",
            *(_share(row[name]) for name in ("special_leads", "small_tens", "broken_fours", "takes")),
            "–" if row["taken"] is None else f"{row['taken']:.1f}",
            _share(row["drawn"]),
            face_up_text(row["face_up"]) or "–",
        ]
        for row in result["behaviour"]
    ]
    return _rows(header, rows, frozenset({8}))


def _origin(result: Result) -> str:
    agents = [
        [agent["name"], *(str(agent.get(name) or "–")[:16] for name in ("code_sha256", "weights_sha256"))]
        for agent in result["agents"]
    ]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    return (
        f"<p><code>{escape(result.get('command', ''))}</code></p>"
        f"<p>Deals {escape(result['deals_hash'])}, engine {result['engine_sha256'][:16]}; {escape(versions)}.</p>"
        + _rows(["agent", "code", "weights"], agents, frozenset({1, 2}))
    )


# --- plots -----------------------------------------------------------------------------------------------------------


def _svg(height: float, label: str, shapes: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" role="img" aria-label="{escape(label)}">'
        + "".join(shapes)
        + "</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(text)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="line"/>'


def _shown(title: str, shape: str) -> str:
    """A shape that says what it is when it is pointed at."""
    return f"<g><title>{escape(title)}</title>{shape}</g>"


def _scale(low: float, high: float, start: float, stop: float) -> Callable[[float], float]:
    width = (high - low) or 1.0
    return lambda value: start + (value - low) / width * (stop - start)


def _steps(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most so many."""
    raw = (high - low) / most or 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * (1 - 1e-9))
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _name_width(names: Sequence[str]) -> float:
    return min(14.0 + 7.2 * max(map(len, names)), WIDTH * 0.4)


def _short(name: str, most: int = 36) -> str:
    """The end of a long name tells more than its beginning."""
    return name if len(name) <= most else "…" + name[-(most - 1) :]


def rating_plot(result: Result) -> str:
    """A dot for each rating, a line for its interval."""
    ratings = result["ratings"]
    names = [_short(marked(result, row["agent"])) for row in ratings]
    left = _name_width(names)
    x = _scale(min(row["low"] for row in ratings) - 10, max(row["high"] for row in ratings) + 10, left, WIDTH - 70)
    bottom = 10 + 26 * len(ratings)
    shapes = []
    for value in _steps(min(row["low"] for row in ratings), max(row["high"] for row in ratings)):
        shapes += [
            _rule(x(value), 6, x(value), bottom),
            _text(x(value), bottom + 18, f"{value:,.0f}", "middle", "faint"),
        ]
    for place, (row, name) in enumerate(zip(ratings, names, strict=True)):
        y = 22 + 26 * place
        bar = (
            f'<line x1="{x(row["low"]):.1f}" y1="{y}" x2="{x(row["high"]):.1f}" y2="{y}" stroke="var(--mark)" '
            f'stroke-width="7" stroke-opacity=".4" stroke-linecap="round"/>'
            f'<circle cx="{x(row["rating"]):.1f}" cy="{y}" r="5" fill="var(--mark)"/>'
        )
        number = f"{row['bound']}{row['rating']:,.0f}"
        shapes += [
            _text(left - 10, y + 4, name, "end"),
            _shown(f"{row['agent']}: {number} ({row['low']:,.0f} – {row['high']:,.0f})", bar),
            _text(x(row["high"]) + 10, y + 4, number, "start", "faint"),
        ]
    return _svg(bottom + 28, "ratings with 95 % intervals", shapes)


def heat_map(result: Result) -> str:
    """The cross-table: the row's score against the column, green above one half, red below."""
    scored = cross_table(result["matches"], result["players"])
    order = [row["agent"] for row in result.get("ratings", ())] or list(scored)
    names = [name for name in order if name in scored or any(name in row for row in scored.values())]
    head = "".join(f"<th>{escape(_short(marked(result, name), 18))}</th>" for name in names)
    rows = []
    for name in names:
        cells = []
        for other in names:
            score = scored.get(name, {}).get(other)
            if score is None:
                cells.append("<td></td>")
                continue
            strength = round(min(abs(score - 0.5) * 2, 1.0) * 70)
            colour = "good" if score > 0.5 else "bad"
            cells.append(
                f'<td style="background: color-mix(in srgb, var(--{colour}) {strength}%, transparent)" '
                f'title="{escape(name)} against {escape(other)}">{score:.1%}</td>'
            )
        rows.append(f"<tr><th>{escape(marked(result, name))}</th>{''.join(cells)}</tr>")
    return f"<table><thead><tr><th></th>{head}</tr></thead>\n<tbody>{''.join(rows)}</tbody></table>"


def length_plot(result: Result) -> str:
    """Share of all games by their number of decisions, in classes of growing width."""
    counts = [
        sum(match["lengths"]["classes"][place] for match in result["matches"]) for place in range(len(LENGTHS) + 1)
    ]
    total = sum(counts)
    left, bottom, top = 50.0, 210.0, 14.0
    width = (WIDTH - left - 10) / len(counts)
    y = _scale(0, max(counts) / total, bottom, top)
    shapes = []
    for value in _steps(0, max(counts) / total, 4):
        shapes += [
            _rule(left, y(value), WIDTH - 10, y(value)),
            _text(left - 8, y(value) + 4, f"{value:.0%}", "end", "faint"),
        ]
    for place, count in enumerate(counts):
        over = place == len(LENGTHS)
        name = f"more than {LENGTHS[-1]:,} decisions" if over else f"up to {LENGTHS[place]:,} decisions"
        share = count / total
        bar = (
            f'<rect x="{left + place * width + 1:.1f}" y="{y(share):.1f}" width="{width - 2:.1f}" '
            f'height="{bottom - y(share):.1f}" fill="var(--{"bad" if over else "mark"})"/>'
        )
        label = "more" if over else f"{LENGTHS[place]:,}"
        shapes += [
            _shown(f"{name}: {count:,} games, {share:.2%}", bar),
            _text(left + (place + 0.5) * width, bottom + 18, label, "middle", "faint"),
        ]
    shapes.append(_text(left, bottom + 38, "decisions a game, upper end of each class", "start", "faint"))
    return _svg(bottom + 46, "length of games", shapes)


def strengths(result: Result) -> tuple[str, dict[str, tuple[float, float, float]]]:
    """What strength is called here, and each agent's with its interval: its rating, or with two agents its score."""
    if "ratings" in result:
        return "rating", {row["agent"]: (row["rating"], row["low"], row["high"]) for row in result["ratings"]}
    found: dict[str, tuple[float, float, float]] = {}
    for match in result["matches"]:
        score = match["score"]
        found.setdefault(match["focal"], (score["mean"], score["low"], score["high"]))
        if result["players"] == 2:
            found.setdefault(match["others"], (1 - score["mean"], 1 - score["high"], 1 - score["low"]))
    return "score", found


def time_plot(result: Result) -> str:
    """Strength over milliseconds a decision, on a logarithmic scale."""
    what, strength = strengths(result)
    times: dict[str, Any] = {row["agent"]: row["ms_per_decision"] for row in result["timing"]}
    agents = [name for name in times if name in strength and times[name] > 0]
    left, bottom, top = 60.0, 280.0, 20.0
    first = math.floor(min(math.log10(times[name]) for name in agents))
    last = max(math.ceil(max(math.log10(times[name]) for name in agents)), first + 1)
    x = _scale(first, last, left + 10, WIDTH - 110)
    low, high = min(strength[name][1] for name in agents), max(strength[name][2] for name in agents)
    y = _scale(low, high, bottom - 10, top)
    shapes = [_rule(left, bottom, WIDTH - 10, bottom)]
    for value in _steps(low, high, 6):
        label = f"{value:,.0f}" if what == "rating" else f"{value:.0%}"
        shapes += [_rule(left, y(value), WIDTH - 10, y(value)), _text(left - 8, y(value) + 4, label, "end", "faint")]
    for power in range(first, last + 1):
        shapes += [_rule(x(power), bottom, x(power), bottom + 5)]
        shapes.append(_text(x(power), bottom + 20, f"{10.0**power:g} ms", "middle", "faint"))
    for name in agents:
        here, (mean, least, most) = x(math.log10(times[name])), strength[name]
        dot = (
            f'<line x1="{here:.1f}" y1="{y(least):.1f}" x2="{here:.1f}" y2="{y(most):.1f}" stroke="var(--mark)" '
            f'stroke-width="2"/><circle cx="{here:.1f}" cy="{y(mean):.1f}" r="5" fill="var(--mark)"/>'
        )
        shapes += [
            _shown(f"{name}: {times[name]:.3g} ms a decision", dot),
            _text(here + 9, y(mean) + 4, _short(marked(result, name), 22)),
        ]
    shapes.append(
        _text(left, bottom + 40, f"{what} over time a decision, in batches as the arena asks", "start", "faint")
    )
    return _svg(bottom + 48, "strength against time", shapes)
