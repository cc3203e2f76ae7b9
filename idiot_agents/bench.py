"""``idiot bench A B …``: every pairing on shared deals with every seat rotation; a table, and JSON to a file."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import idiot_env
from idiot_agents.arena import MAX_DECISIONS, Match, deal_seeds, deals_hash, play_match
from idiot_agents.arguments import add_rules_arguments, positive_int, rules_from, seed_number
from idiot_agents.errors import InputError
from idiot_agents.network import write_file
from idiot_agents.neural import NeuralAgent
from idiot_agents.protocol import Agent
from idiot_agents.registry import SPECS, make_agent
from idiot_env import Rules

FORMAT = "idiot-bench/1"


def pairings(agents: Sequence[Agent], players: int) -> list[tuple[Agent, Agent]]:
    """Who meets whom: with two players every unordered pair; with more, each agent among copies of each other one."""
    if players == 2:
        return list(itertools.combinations(agents, 2))
    return list(itertools.permutations(agents, 2))


def run_bench(
    agents: Sequence[Agent],
    rules: Rules,
    players: int,
    deals: int,
    *,
    seed: int = 0,
    max_decisions: int = MAX_DECISIONS,
    quiet: bool = False,
    only: Iterable[tuple[Agent, Agent]] | None = None,
) -> list[Match]:
    """Play the pairings (all of them, or ``only`` some) with a progress bar on stderr."""
    pairs = list(only) if only is not None else pairings(agents, players)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True) as bar:
        task = bar.add_task("games", total=len(pairs) * deals * players)
        matches = []
        for focal, others in pairs:
            bar.update(task, description=f"{focal.name} against {others.name}")
            match = play_match(
                focal,
                others,
                rules,
                players,
                deals,
                seed=seed,
                max_decisions=max_decisions,
                progress=lambda games: bar.advance(task, games),
            )
            matches.append(match)
        return matches


def match_table(matches: Sequence[Match], rules: Rules) -> Table:
    """The matches as a table for the terminal: share of games lost, mean place, decisions of all seats per game."""
    first = matches[0]
    even = rules.losers / first.players
    table = Table(
        title=f"{rules} · {first.players} players · {first.games:,} games a pairing · even is {even:.1%}",
        title_justify="left",
    )
    table.add_column("agent", overflow="fold")
    table.add_column("against" if first.players == 2 else "among", overflow="fold")
    for name in ("lost", "95 % interval", "place", "cut off", "decisions"):
        table.add_column(name, justify="right", no_wrap=True)
    for match in matches:
        low, high = match.interval
        table.add_row(
            match.focal,
            match.others,
            f"{match.lost:.2%}",
            f"{low:.1%} – {high:.1%}",
            f"{match.mean_place:.3f}",
            f"{match.truncated:,}",
            f"{match.decisions:.1f}",
        )
    return table


def print_matches(matches: Sequence[Match], rules: Rules) -> None:
    """Print the table; a file or a pipe has room for long names, where rich would assume 80 columns."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(match_table(matches, rules))


def describe_agent(agent: Agent) -> dict[str, Any]:
    """An agent's name and, for a model, the hash of its weights."""
    described: dict[str, Any] = {"name": agent.name}
    if isinstance(agent, NeuralAgent):
        described["weights_sha256"] = agent.card.get("weights_sha256")
    return described


def result_json(
    matches: Sequence[Match], agents: Sequence[Agent], rules: Rules, deals: int, seed: int, max_decisions: int
) -> dict[str, Any]:
    """Everything that is needed to play the same matches again, and what came of them."""
    players = matches[0].players
    return {
        "format": FORMAT,
        "agents": [describe_agent(agent) for agent in agents],
        "rules": str(rules),
        "players": players,
        "deals": deals,
        "seed": seed,
        "deals_hash": deals_hash(deal_seeds(rules, players, deals, seed), rules, players),
        "max_decisions": max_decisions,
        "versions": {
            "idiot_env": idiot_env.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
        "matches": [{**asdict(match), "games": match.games} for match in matches],
    }


def check_json(path: Path) -> None:
    """Refuse a place for the result before the matches instead of after them.

    Raises:
        InputError: with the reason.
    """
    try:
        if path.is_dir() or not path.name:
            raise InputError(f"--json {path} is a folder: name a file.")
        if not path.parent.is_dir():
            raise InputError(f"{path} cannot be written: {path.parent} is no folder.")
        if not os.access(path.parent, os.W_OK):
            raise InputError(f"{path} cannot be written: the folder {path.parent} is read-only.")
    except (OSError, ValueError) as error:  # too long a name, a null byte
        if isinstance(error, InputError):
            raise
        raise InputError(f"--json is not possible: {getattr(error, 'strerror', None) or error}.") from None


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Write a result, whole or not at all.

    Raises:
        InputError: if the file cannot be written.
    """
    try:
        write_file(path, (json.dumps(result, indent=1, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): name a file in a folder that exists.") from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Matches on shared deals: every deal is played once for each seat of the agent. Two players: every pair; more: "
        "each agent among copies of every other one. Intervals are bootstrap intervals over deals."
    )
    parser.epilog = "example: idiot bench greedy careful ppo:runs/quick/model --deals 10000 --json result.json"
    parser.add_argument("agents", nargs="+", metavar="AGENT", help=f"two or more of {', '.join(SPECS)}")
    add_rules_arguments(parser, players=2)
    parser.add_argument("--deals", type=positive_int, default=2000, help="deals per pairing (default: %(default)s)")
    parser.add_argument("--seed", type=seed_number, default=0, help="which deals (default: %(default)s)")
    parser.add_argument(
        "--max-decisions", type=positive_int, default=MAX_DECISIONS, help="limit of a game (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result to FILE")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(args: argparse.Namespace) -> int:
    if len(args.agents) < 2:
        raise InputError(f"{args.agents[0]!r} alone plays nobody: name two agents or more.")
    if len(set(args.agents)) < len(args.agents):
        raise InputError("an agent is named twice: each of them once is enough.")
    rules, players = rules_from(args)
    if args.json is not None:
        check_json(args.json)
    agents = [make_agent(spec, args.seed) for spec in args.agents]
    for agent in agents:
        if isinstance(agent, NeuralAgent):
            agent.warn_of_foreign_table(rules)
    matches = run_bench(
        agents, rules, players, args.deals, seed=args.seed, max_decisions=args.max_decisions, quiet=args.quiet
    )
    print_matches(matches, rules)
    if args.json is not None:
        write_json(args.json, result_json(matches, agents, rules, args.deals, args.seed, args.max_decisions))
        print(f"wrote {args.json}")
    return 0
