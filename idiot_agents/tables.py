"""Results as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from idiot_agents.exploiters import COLUMNS, exploited_rows, exploited_title
from idiot_agents.results import Result, cross_table, legend, marked
from idiot_env import Rules

WIDTH_OF_FILES = 120
BEHAVIOUR = (
    "leads 2, T: a two or ten led where another rank was at hand; T on 1–2: tens laid on a pile of one or two; "
    "breaks 3: three of a rank on the pile, the fourth at hand and not laid; takes: the pile taken where a play was "
    "possible, cards: its size then; chance: draws where allowed"
)


EXPLOITERS = (
    "exploiters: a lower bound, for another exploiter or a larger budget may find more; –: not measured, or "
    "not possible, for no search models an agent that searches or sees all cards"
)


def console() -> Console:
    """Standard output; a file or a pipe has room for long names, where rich would assume 80 columns."""
    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=WIDTH_OF_FILES)


def _interval(estimate: dict[str, float]) -> str:
    return f"{estimate['low']:.1%} – {estimate['high']:.1%}"


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _table(title: str, names: Iterable[str], numbers: Iterable[str]) -> Table:
    """Columns of names, which may fold, and of numbers."""
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def match_table(result: Result) -> Table:
    """Every pairing: with two players the score, with more the share of games lost, of firsts, and the mean score."""
    players, matches = result["players"], result["matches"]
    title = f"{result['rules']} · {players} players · {matches[0]['games']:,} games a pairing"
    if players == 2:
        table = _table(title, ("agent", "against"), ("score", "95 % interval", "cut off", "decisions"))
    else:
        losers = Rules.parse(result["rules"]).losers
        title += f" · even is {losers / players:.1%} last, {1 / players:.1%} first, score 50 %"
        table = _table(title, ("agent", "among"), ("last", "95 % interval", "first", "score", "cut off", "decisions"))
    for match in matches:
        names = marked(result, match["focal"]), marked(result, match["others"])
        rest = f"{match['truncated']:,}", f"{match['decisions']:.1f}"
        score = f"{match['score']['mean']:.2%}"
        if players == 2:
            table.add_row(*names, score, _interval(match["score"]), *rest)
        else:
            lost = f"{match['lost']['mean']:.2%}", _interval(match["lost"])
            table.add_row(*names, *lost, f"{match['first']['mean']:.2%}", score, *rest)
    return table


def controlled_table(result: Result) -> Table:
    """Scores with luck taken away."""
    name = result["control_variate"]["name"]
    table = _table(
        f"score without the luck that {name} sees", ("agent", "against"), ("score", "95 % interval", "its length")
    )
    for match in result["matches"]:
        found = match["controlled"]
        names = marked(result, match["focal"]), marked(result, match["others"])
        table.add_row(*names, f"{found['mean']:.2%}", _interval(found), f"{found['length']:.2f} ×")
    return table


def mixed_table(result: Result) -> Table:
    """Each agent at tables of all agents mixed."""
    table = _table(
        "all agents mixed", ("agent",), ("games", "last", "95 % interval", "first", "score", "95 % interval", "cut off")
    )
    for row in result["mixed"]:
        table.add_row(
            marked(result, row["agent"]),
            f"{row['games']:,}",
            f"{row['lost']['mean']:.2%}",
            _interval(row["lost"]),
            f"{row['first']['mean']:.2%}",
            f"{row['score']['mean']:.2%}",
            _interval(row["score"]),
            f"{row['truncated']:,}",
        )
    return table


def rating_table(result: Result) -> Table:
    """Ratings, best first, and each agent's worst pairing."""
    times = {row["agent"]: row["ms_per_decision"] for row in result["timing"]}
    table = _table("ratings over all games", ("agent",), ("rating", "95 % interval", "worst score", "ms a decision"))
    table.columns[3].justify = "left"
    table.columns[3].no_wrap = False
    for row in result["ratings"]:
        worst = row["worst"]
        table.add_row(
            marked(result, row["agent"]),
            f"{row['bound']}{row['rating']:,.0f}",
            "" if row["bound"] else f"{row['low']:,.0f} – {row['high']:,.0f}",
            f"{worst['score']:.1%} {'against' if result['players'] == 2 else 'among'} {worst['against']}",
            f"{times[row['agent']]:,.2f}" if times[row["agent"]] >= 1 else f"{times[row['agent']]:.2g}",
        )
    return table


def score_table(result: Result) -> Table:
    """The cross-table: the row's mean score against, or among copies of, the column."""
    scored = cross_table(result["matches"], result["players"])
    names = [row["agent"] for row in result["ratings"]] if "ratings" in result else list(scored)
    table = _table("score of the row against the column", ("agent",), names)
    for column in table.columns[1:]:
        column.no_wrap, column.overflow = False, "fold"
    for name in names:
        cells = [f"{scored[name][other]:.1%}" if other in scored.get(name, {}) else "" for other in names]
        table.add_row(marked(result, name), *cells)
    return table


def behaviour_table(result: Result) -> Table:
    """How each agent plays; the columns are told in ``behaviour.py``."""
    table = _table(
        "how they play",
        ("agent",),
        ("decisions", "leads 2, T", "T on 1–2", "breaks 3", "takes", "cards", "chance"),
    )
    table.columns[0].min_width = 8
    table.add_column("face-up at the start", no_wrap=True)
    for row in result["behaviour"]:
        table.add_row(
            marked(result, row["agent"]),
            f"{row['decisions']:.1f}",
            *(_share(row[name]) for name in ("special_leads", "small_tens", "broken_fours", "takes")),
            "" if row["taken"] is None else f"{row['taken']:.1f}",
            _share(row["drawn"]),
            face_up_text(row["face_up"]),
        )
    return table


def exploiter_table(result: Result) -> Table:
    """What is known of each agent's weakness against somebody who plays against it alone."""
    table = _table(exploited_title(result), COLUMNS, ())
    for name, *cells in exploited_rows(result):
        table.add_row(marked(result, name), *cells)
    return table


def face_up_text(profile: dict[str, float] | None, most: int = 4) -> str:
    """The commonest ranks face-up, with their mean number of cards."""
    if not profile:
        return ""
    ranks = sorted(profile, key=lambda rank: -profile[rank])[:most]
    return ", ".join(f"{rank} {profile[rank]:.2f}" for rank in ranks)


def sentences(result: Result) -> list[str]:
    """What must be said below the tables."""
    said = [f"{sign} {meaning}" for sign, meaning in legend(result)]
    for cycle in result.get("cycles", ()):
        circle = " beats ".join([*cycle, cycle[0]])
        said.append(f"warning: the table is cyclic, surely: {circle}; one number each does not tell all")
    if "behaviour" in result:
        said.append(BEHAVIOUR)
    if "exploiters" in result:
        said.append(EXPLOITERS)
    if any(row["bound"] for row in result.get("ratings", ())):
        said.append("≥, ≤: never lost or never won, so all that is sure of the rating is a bound")
    if "sprt" in result:
        said.append(sprt_sentence(result["sprt"]))
    return said


def sprt_sentence(sprt: dict[str, Any]) -> str:
    terms = f"{sprt['p0']:g} (H0) against {sprt['p1']:g} (H1), errors {sprt['alpha']:g} and {sprt['beta']:g}"
    at = f"after {sprt['deals']:,} deals, log likelihood ratio {sprt['ratio']:.2f}"
    if sprt["verdict"] is None:
        return f"sequential test, score {terms}: undecided {at}; more --deals would decide it"
    return f"sequential test, score {terms}: {sprt['verdict']} accepted {at}; stopped there, the score leans that way"


def print_result(result: Result, *, cross: bool = False) -> None:
    """Print the tables that a result calls for.

    Args:
        cross: the cross-table, too.
    """
    out = console()
    out.print(match_table(result))
    if result["control_variate"]:
        out.print(controlled_table(result))
    if "mixed" in result:
        out.print(mixed_table(result))
    if "ratings" in result:
        out.print(rating_table(result))
    if cross:
        out.print(score_table(result))
    if "exploiters" in result:
        out.print(exploiter_table(result))
    if "behaviour" in result:
        out.print(behaviour_table(result))
    for sentence in sentences(result):
        out.print(sentence, highlight=False, markup=False, soft_wrap=True)
