"""``idiot study``: what the rules do, as tables, JSON and plots (``study.py`` says what the numbers are)."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from idiot_agents.arena import check_agents
from idiot_agents.arguments import players_number, positive_int, seed_number
from idiot_agents.errors import InputError
from idiot_agents.neural import NeuralAgent
from idiot_agents.protocol import Agent
from idiot_agents.registry import CHEATS, COMMON, make_agent
from idiot_agents.result_files import check_place, write_json
from idiot_agents.study import Cell, Studied, all_cells, games_of, run_study, study_json
from idiot_agents.study_tables import print_study
from idiot_env.rules import OPTIONS, PRESETS

ALL, NONE = "all", "none"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "What the rules do: for each table, each of its house rules changed alone, and 2 to 5 players, how long games "
        "are, who has a disadvantage, what happens to the pile, what exchanging is worth, how much skill counts. One "
        "agent sits in all seats. Every number has a 95 % interval over deals."
    )
    parser.epilog = """\
examples:
  idiot study                                        everything, with few deals for each house rule
  idiot study --tables norsk --players 2 --house-rules after_two chance --house-deals 2000
  idiot study --house-rules none --deals 5000 --json study.json --plots plots
"""
    parser.add_argument(
        "--agent", default="linear", metavar="AGENT", help=f"who sits in all seats: {COMMON} (default: %(default)s)"
    )
    parser.add_argument(
        "--strong",
        default="linear",
        metavar="AGENT",
        help=f"whose skill is rewarded, among greedy ones; also, marked, {', '.join(CHEATS)} (default: %(default)s)",
    )
    tables = ", ".join(PRESETS)
    parser.add_argument(
        "--tables", nargs="+", choices=PRESETS, default=list(PRESETS), metavar="NAME", help=f"{tables} (default: all)"
    )
    parser.add_argument(
        "--players",
        nargs="+",
        type=players_number,
        default=[2, 3, 4, 5],
        metavar="N",
        help="how many sit there (default: 2 3 4 5)",
    )
    parser.add_argument(
        "--house-rules",
        nargs="+",
        choices=[ALL, NONE, *OPTIONS],
        default=[ALL],
        metavar="OPTION",
        help=f"options to change, {ALL} or {NONE} (default: {ALL}; their names: idiot rules --options)",
    )
    parser.add_argument(
        "--deals", type=positive_int, default=1000, metavar="N", help="for each table (default: %(default)s)"
    )
    parser.add_argument(
        "--house-deals",
        type=positive_int,
        default=200,
        metavar="N",
        help="for each house rule, the first ones (default: %(default)s)",
    )
    parser.add_argument("--seed", type=seed_number, default=0, help="which deals (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all numbers to FILE")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="also write plots into FOLDER (needs matplotlib)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def options_from(words: Sequence[str]) -> list[str] | None:
    """The house rules that are asked for; ``None`` for all of them.

    Raises:
        InputError: for all or none beside other words.
    """
    if len(words) > 1 and {ALL, NONE} & set(words):
        raise InputError(f"--house-rules {' '.join(words)} is not possible: give {ALL}, {NONE}, or names of options.")
    if words == [ALL]:
        return None
    return [] if words == [NONE] else list(words)


def check_plots(folder: Path) -> None:
    """Refuse a place for the plots before the games instead of after them.

    Raises:
        InputError: without matplotlib, or for a folder that cannot be made.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError(
            "--plots needs matplotlib, which comes with the extra train: pip install '.[train]'."
        ) from None
    try:
        folder.mkdir(exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"--plots {folder} is not possible ({reason}): name a folder in one that exists.") from None


def check_cells(cells: Sequence[Cell], agents: Sequence[Agent]) -> None:
    """Refuse agents that cannot play somewhere, and warn of tables that are foreign to them.

    Raises:
        InputError: with the reason.
    """
    for cell in cells:
        try:
            check_agents(agents, cell.rules, cell.players)
        except ValueError as error:
            raise InputError(str(error)) from None
    for agent in agents:
        if isinstance(agent, NeuralAgent):
            for rules in dict.fromkeys(cell.rules for cell in cells if cell.option is None):
                agent.warn_of_foreign_table(rules)


def study_with_bar(
    cells: Sequence[Cell], agent: Agent, strong: Agent, greedy: Agent, seed: int, quiet: bool
) -> list[Studied]:
    """Study the cells with a progress bar on stderr."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
    )
    results = []
    with Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True) as bar:
        task = bar.add_task("studying", total=sum(games_of(cell) for cell in cells))
        for studied in run_study(cells, agent, strong, greedy, seed):
            results.append(studied)
            cell = studied.cell
            bar.update(task, advance=games_of(cell), description=f"{cell.name}, {cell.players} players")
    return results


def command_of(args: argparse.Namespace) -> str:
    """The command that gives the same numbers."""
    words = ["idiot", "study", "--agent", args.agent, "--strong", args.strong, "--tables", *args.tables, "--players"]
    words += [*map(str, args.players), "--house-rules", *args.house_rules, "--deals", str(args.deals)]
    return shlex.join([*words, "--house-deals", str(args.house_deals), "--seed", str(args.seed)])


def run(args: argparse.Namespace) -> int:
    options = options_from(args.house_rules)
    if args.json is not None:
        check_place(args.json, "--json")
    if args.plots is not None:
        check_plots(args.plots)
    agent, strong = (make_agent(spec, args.seed, cheats=True) for spec in (args.agent, args.strong))
    greedy = make_agent("greedy", args.seed)
    tables, players = list(dict.fromkeys(args.tables)), sorted(set(args.players))
    cells = all_cells(tables, players, args.deals, options, args.house_deals)
    check_cells(cells, [agent, strong])
    results = study_with_bar(cells, agent, strong, greedy, args.seed, args.quiet)
    result = study_json(results, agent, strong, args.seed, command_of(args))
    print_study(result)
    if args.json is not None:
        write_json(args.json, result)
        print(f"wrote {args.json}")
    if args.plots is not None:
        from idiot_agents.study_plots import write_plots

        for path in write_plots(result, args.plots):
            print(f"wrote {path}")
    return 0
