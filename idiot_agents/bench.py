"""``idiot bench A B …``: every pairing on shared deals with every seat rotation; tables, JSON and a report."""

from __future__ import annotations

import argparse
import itertools
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from idiot_agents.arena import MAX_DECISIONS, Games
from idiot_agents.arguments import add_rules_arguments, positive_int, rules_from, seed_number
from idiot_agents.errors import InputError
from idiot_agents.exploiters import PROBE_DEALS, Probe, best_responses, can_be_modelled, found_by_search, probing_match
from idiot_agents.neural import NeuralAgent
from idiot_agents.protocol import Agent
from idiot_agents.registry import CHEATS, COMMON, EXPLOIT_WORLDS, make_agent
from idiot_agents.report import html_report
from idiot_agents.result_files import check_fingerprints, check_place, compare, read_json, write_json, write_text
from idiot_agents.results import Entry, Result, deal_scores, make_result
from idiot_agents.sprt import FIRST_LOOK, LOOK, Sprt
from idiot_agents.tables import print_result
from idiot_agents.tournament import Cell, Partial, Task, Tournament, Where, make_control, play_tasks
from idiot_env import Rules

DEALS = 2000
TIERS = {"smoke": 200, "standard": 5000, "record": 50_000}
"""Deals a pairing: about a minute with searching agents, what a table should rest on, what a record should."""
MOST_DEALS_OF_SPRT = 50_000


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
) -> Result:
    """Play the pairings (all of them, or ``only`` some) in this process, with a progress bar on stderr."""
    tournament = Tournament(agents, rules, players, deals, seed=seed, max_decisions=max_decisions, pairs=only)
    return make_result(tournament, play_tournament(tournament, quiet=quiet))


def play_tournament(
    tournament: Tournament, *, jobs: Where = 1, quiet: bool = False, partial: Partial | None = None
) -> dict[Cell, Games]:
    """Play what ``partial`` does not hold yet, and return all games by cell."""
    done = partial.load() if partial is not None else {}
    tasks = tournament.tasks()
    todo = [task for task in tasks if task not in done]
    with _Bar(tournament, quiet) as bar, closing(play_tasks(tournament, todo, jobs)) as playing:
        for task in done:
            bar.count(task)
        try:
            for task, games in playing:
                done[task] = games
                bar.count(task)
                if partial is not None:
                    partial.add(task, games)
        except KeyboardInterrupt:
            _say_what_is_kept(partial, len(done) / len(tasks))
            raise
    return _by_cell(tournament, done)


def play_sprt(
    tournament: Tournament, sprt: Sprt, *, jobs: Where = 1, quiet: bool = False, partial: Partial | None = None
) -> Result:
    """Play the first agent against the second until the test has decided or the deals are used up.

    The result holds the deals up to the deciding look and no others, whatever was played beyond it.
    """
    first, second = tournament.order[:2]
    mirrored = tournament.players == 2 and first > second
    cell = Cell(second, first) if mirrored else Cell(first, second)
    tournament.cells = [cell]
    done = partial.load() if partial is not None else {}
    todo = [task for task in tournament.tasks() if task not in done]
    look, ratio, verdict = FIRST_LOOK, 0.0, None
    parts: list[Games] = []
    with _Bar(tournament, quiet) as bar, closing(play_tasks(tournament, todo, jobs)) as playing:
        try:
            for task, games in itertools.chain(sorted(done.items(), key=lambda item: item[0]), playing):
                bar.count(task)
                parts.append(games)
                if partial is not None and task not in done:
                    partial.add(task, games)
                per_deal = deal_scores(tournament, {cell: Games.join(parts)}, cell)
                per_deal = 1 - per_deal if mirrored else per_deal
                while verdict is None and look <= len(per_deal):
                    ratio = sprt.ratio(per_deal[:look])
                    verdict = sprt.verdict(ratio)
                    look += LOOK
                if verdict is not None:
                    break
        except KeyboardInterrupt:
            _say_what_is_kept(partial, None)
            raise
    deals = look - LOOK if verdict is not None else len(per_deal)
    if verdict is None:
        ratio = sprt.ratio(per_deal)
    shortened = tournament.shortened(deals)
    games = Games.join(parts)
    kept = slice(0, deals * tournament.players)
    played = {cell: Games(games.place[kept], games.truncated[kept], games.decisions[kept], games.luck[kept],
                          games.counts, games.seconds, games.asked)}  # fmt: skip
    result = make_result(shortened, played)
    result["sprt"] = {
        **asdict(sprt), "agent": tournament.names[first], "most_deals": tournament.deals, "deals": deals,
        "ratio": ratio, "verdict": verdict,
    }  # fmt: skip
    return result


def probe_partial(partial: Path, number: int) -> Path:
    """The file beside a tournament's that keeps what is finished of the match against its agent ``number``."""
    return partial.with_name(f"{partial.name}-{number}")


def play_probes(
    tournament: Tournament, probe: Probe, *, jobs: Where = 1, quiet: bool = False, kept_in: Path | None = None
) -> list[Entry]:
    """What a search that models each agent finds against it, among copies of it; of agents that can be modelled.

    Args:
        kept_in: the file that keeps what is finished of the tournament; that of each match lies beside it.
    """
    rows = []
    for number in tournament.order:
        victim = tournament.agents[number]
        if can_be_modelled(victim):
            match = probing_match(tournament, victim, probe)
            partial = Partial(probe_partial(kept_in, number), match.describe()) if kept_in is not None else None
            played = play_tournament(match, jobs=jobs, quiet=quiet, partial=partial)
            if partial is not None:
                partial.write()
            rows.append(found_by_search(match, played, victim, probe))
    return rows


def _by_cell(tournament: Tournament, done: dict[Task, Games]) -> dict[Cell, Games]:
    parts: dict[Cell, list[Games]] = {cell: [] for cell in tournament.cells}
    for task in sorted(done):
        parts[tournament.cells[task.cell]].append(done[task])
    return {cell: Games.join(games) for cell, games in parts.items()}


def _say_what_is_kept(partial: Partial | None, share: float | None) -> None:
    if partial is None:
        print("stopped; with --json FILE, what is finished would have been kept", file=sys.stderr)
        return
    partial.write()
    how_much = "what was finished" if share is None else f"{share:.0%}"
    print(f"stopped; {how_much} is kept in {partial.path}: the same command goes on from there", file=sys.stderr)


class _Bar(Progress):
    """Games played, and when the rest will be, on stderr."""

    def __init__(self, tournament: Tournament, quiet: bool) -> None:
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        super().__init__(
            TextColumn("{task.description}"), *columns, console=Console(stderr=True), disable=quiet, transient=True
        )
        self._tournament = tournament
        self._task = self.add_task("games", total=tournament.games)

    def count(self, task: Task) -> None:
        members = self._tournament.members(self._tournament.cells[task.cell])
        name = " against ".join(agent.name for agent in members) if len(members) == 2 else "all agents mixed"
        self.update(self._task, description=name, advance=task.deals * self._tournament.players)


# --- the command -----------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Matches on shared deals: every deal is played once for each seat of the agent. Two players: every pair; more: "
        "each agent among copies of every other one, and tables of all agents mixed. Intervals are over deals."
    )
    parser.epilog = """\
examples:
  idiot bench greedy careful                                   who is better, with an interval
  idiot bench greedy careful ppo:generalist --deals 10000 --json result.json
  idiot bench linear pimc:50ms --rules norsk --players 4 --tier smoke
  idiot bench linear careful --sprt 0.5,0.52                   stops as soon as it is clear
  idiot bench --reproduce result.json                          the same numbers again?
"""
    parser.add_argument(
        "agents", nargs="*", metavar="AGENT", help=f"two or more of {COMMON}; marked: {', '.join(CHEATS)}"
    )
    add_rules_arguments(parser, players=2)
    how_many = parser.add_mutually_exclusive_group()
    how_many.add_argument("--deals", type=positive_int, metavar="N", help=f"deals per pairing (default: {DEALS})")
    tiers = ", ".join(f"{name} {deals:,}" for name, deals in TIERS.items())
    how_many.add_argument("--tier", choices=TIERS, help=f"deals per pairing by name: {tiers}")
    parser.add_argument("--seed", type=seed_number, default=0, metavar="S", help="which deals (default: %(default)s)")
    parser.add_argument(
        "--max-decisions",
        type=positive_int,
        default=MAX_DECISIONS,
        metavar="N",
        help="decisions after which a game is cut off (default: %(default)s)",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs",
        type=positive_int,
        metavar="N",
        help="processes; the numbers are the same (default: 1, or one for each core for --tier standard and record)",
    )
    where.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play on a Ray cluster, for the same numbers: local (started here), auto (this machine's) or HOST:PORT",
    )
    parser.add_argument("--behaviour", action="store_true", help="also count how the agents play")
    parser.add_argument("--cross-table", action="store_true", help="also print the scores as a cross-table")
    parser.add_argument(
        "--sprt",
        type=_two_scores,
        metavar="P0,P1",
        help="is the first agent's score P0 or P1? Stop when it is clear (two agents), such as 0.5,0.52",
    )
    for name, what in (("alpha", "P1 accepted where P0 is true"), ("beta", "P0 accepted where P1 is true")):
        parser.add_argument(
            f"--{name}", type=float, metavar="CHANCE", help=f"with --sprt, the chance of {what} (default: 0.05)"
        )
    parser.add_argument(
        "--control-variate",
        metavar="ppo:PATH",
        help="shorten the intervals by what this model's value network says of luck; slower, for slow agents",
    )
    parser.add_argument(
        "--exploit",
        nargs="?",
        const=str(EXPLOIT_WORLDS),
        metavar="BUDGET",
        help="also play exploit:AGENT, a search that models its opponent, against every agent that can be modelled, "
        "with so many worlds a decision, or for a time such as 50ms (default budget: %(const)s)",
    )
    parser.add_argument(
        "--exploit-deals",
        type=positive_int,
        metavar="N",
        help=f"with --exploit, the deals of each of these matches, the first ones (default: {PROBE_DEALS})",
    )
    parser.add_argument(
        "--exploiters",
        nargs="+",
        action="extend",
        type=Path,
        default=[],
        metavar="FILE",
        help="also show what idiot exploit found against these agents, from its exploiter.json at this table; what "
        "lies beside a model is found by itself",
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="also write the result to FILE; until it is finished, FILE.partial keeps what is, for the same command",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a report to FILE, a single page")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.add_argument(
        "--reproduce",
        type=Path,
        metavar="FILE",
        help="play again what a --json file tells of and compare: exit code 1 and the difference, if there is one",
    )


def _two_scores(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not possible: give two scores such as 0.5,0.52.") from None
    return low, high


def sprt_from(args: argparse.Namespace) -> Sprt | None:
    """The test that the arguments describe.

    Raises:
        InputError: for an impossible one.
    """
    if args.sprt is None:
        for name in ("alpha", "beta"):
            if getattr(args, name) is not None:
                raise InputError(f"--{name} belongs to a sequential test: give --sprt P0,P1, too.")
        return None
    if len(args.agents) != 2:
        raise InputError(f"--sprt compares two agents: {len(args.agents)} are named.")
    errors = (0.05 if chance is None else chance for chance in (args.alpha, args.beta))
    try:
        return Sprt(*args.sprt, *errors)
    except ValueError as error:
        raise InputError(str(error)) from None


def probe_from(args: argparse.Namespace) -> Probe | None:
    """The exploiting search that the arguments ask for.

    Raises:
        InputError: for an impossible one.
    """
    if args.exploit is None:
        if args.exploit_deals is not None:
            raise InputError("--exploit-deals belongs to an exploiting search: give --exploit, too.")
        return None
    if args.sprt is not None:
        raise InputError("--exploit measures the agents of a table: leave out --sprt.")
    return Probe(args.exploit, args.exploit_deals or PROBE_DEALS)


def run(args: argparse.Namespace) -> int:
    for option, path in (("--json", args.json), ("--html", args.html)):
        if path is not None:
            check_place(path, option)
    if args.reproduce is not None:
        return reproduce(args)
    if not args.agents:
        raise InputError("the following arguments are required: AGENT, two or more of them.")
    if len(args.agents) < 2:
        raise InputError(f"{args.agents[0]!r} alone plays nobody: name two agents or more.")
    if len(set(args.agents)) < len(args.agents):
        raise InputError("an agent is named twice: each of them once is enough.")
    rules, players = rules_from(args)
    sprt, probe = sprt_from(args), probe_from(args)
    agents = [make_agent(spec, args.seed, cheats=True) for spec in args.agents]
    for agent in agents:
        if isinstance(agent, NeuralAgent):
            agent.warn_of_foreign_table(rules)
    deals = args.deals or TIERS.get(args.tier) or (DEALS if sprt is None else MOST_DEALS_OF_SPRT)
    jobs: Where = args.ray or args.jobs or (os.cpu_count() or 1 if args.tier in ("standard", "record") else 1)
    tournament = Tournament(
        agents,
        rules,
        players,
        deals,
        seed=args.seed,
        max_decisions=args.max_decisions,
        watching=args.behaviour,
        control=make_control(args.control_variate) if args.control_variate is not None else None,
    )
    trained = best_responses(agents, rules, players, args.exploiters)
    partial = None
    if args.json is not None:
        setup = {**tournament.describe(), "sequential test": asdict(sprt) if sprt else None}
        partial = Partial(args.json.with_name(args.json.name + ".partial"), setup)
    result = play(tournament, sprt, jobs, args.quiet, partial, probe, trained, args.exploiters)
    show(result, args)
    if partial is not None:
        partial.remove()
        for number in range(len(agents)):
            probe_partial(partial.path, number).unlink(missing_ok=True)
    return 0


def play(
    tournament: Tournament,
    sprt: Sprt | None,
    jobs: Where,
    quiet: bool,
    partial: Partial | None = None,
    probe: Probe | None = None,
    trained: Sequence[Entry] = (),
    files: Sequence[Path | str] = (),
) -> Result:
    """The result of a tournament, or of a sequential test.

    Args:
        probe: the search that is to exploit each agent, too.
        trained: what best responses found, from ``files`` and from beside the models.
    """
    if sprt is not None:
        result = play_sprt(tournament, sprt, jobs=jobs, quiet=quiet, partial=partial)
    else:
        result = make_result(tournament, play_tournament(tournament, jobs=jobs, quiet=quiet, partial=partial))
    if probe is not None or trained:
        found = list(trained)
        if probe is not None:
            if partial is not None:
                partial.write()
            kept_in = partial.path if partial is not None else None
            found += play_probes(tournament, probe, jobs=jobs, quiet=quiet, kept_in=kept_in)
        result["exploiters"] = {
            "search": asdict(probe) if probe is not None else None,
            "files": [str(path) for path in files],
            "found": found,
        }
    return {"format": result.pop("format"), "command": command_of(result), **result}


def command_of(result: Result) -> str:
    """The command that gives a result."""
    words = ["idiot", "bench", *(agent["name"] for agent in result["agents"]), "--rules", result["rules"]]
    sprt = result.get("sprt")
    deals = sprt["most_deals"] if sprt else result["deals"]
    for name in ("players", "seed", "max_decisions"):
        words += [f"--{name.replace('_', '-')}", str(result[name])]
    words += ["--deals", str(deals)] + (["--behaviour"] if result["behaviour_counted"] else [])
    if result["control_variate"]:
        words += ["--control-variate", result["control_variate"]["name"]]
    exploiters = result.get("exploiters", {})
    if exploiters.get("search"):
        words += ["--exploit", exploiters["search"]["budget"], "--exploit-deals", str(exploiters["search"]["deals"])]
    if exploiters.get("files"):
        words += ["--exploiters", *exploiters["files"]]
    if sprt:
        words += ["--sprt", f"{sprt['p0']},{sprt['p1']}", "--alpha", str(sprt["alpha"]), "--beta", str(sprt["beta"])]
    return shlex.join(words)


def show(result: Result, args: argparse.Namespace) -> None:
    """Print the tables and write the files that were asked for."""
    print_result(result, cross=args.cross_table)
    if args.json is not None:
        write_json(args.json, result)
        print(f"wrote {args.json}")
    if args.html is not None:
        write_text(args.html, html_report(result))
        print(f"wrote {args.html}")


def reproduce(args: argparse.Namespace) -> int:
    """Play again what a file tells of; 0 where the numbers are the same, 1 where one is not.

    Raises:
        InputError: for a file that is no result, agents that are gone, or models that have changed.
    """
    if args.agents or args.sprt is not None or args.json is not None or args.exploit is not None or args.exploiters:
        raise InputError("--reproduce plays what the file says: leave out agents, --sprt, --exploit… and --json.")
    there = read_json(args.reproduce)
    try:
        rules = Rules.parse(there["rules"])
        agents = [make_agent(agent["name"], there["seed"], cheats=True) for agent in there["agents"]]
        sprt = Sprt(*(there["sprt"][name] for name in ("p0", "p1", "alpha", "beta"))) if "sprt" in there else None
        deals = there["sprt"]["most_deals"] if sprt else there["deals"]
        told = there.get("exploiters") or {"search": None, "files": [], "found": []}
        probe = Probe(**told["search"]) if told["search"] else None
        trained = [entry for entry in told["found"] if entry["by"] == "ppo"]
        tournament = Tournament(
            agents,
            rules,
            there["players"],
            deals,
            seed=there["seed"],
            max_decisions=there["max_decisions"],
            watching=there.get("behaviour_counted") is True,
            control=make_control(there["control_variate"]["name"]) if there.get("control_variate") else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        reason = error if isinstance(error, ValueError) else f"its entry {error} is missing or wrong"
        raise InputError(f"{args.reproduce} cannot be played again: {reason}") from None
    changed, noted = check_fingerprints(there, tournament.describe())
    if changed:
        raise InputError(f"{args.reproduce} cannot be played again: {'; '.join(changed)}.")
    for line in noted:
        print(f"note: the code has changed since; {line}", file=sys.stderr)
    here = play(tournament, sprt, args.ray or args.jobs or 1, args.quiet, None, probe, trained, told["files"])
    print_result(here, cross=args.cross_table)
    if args.html is not None:
        write_text(args.html, html_report(here))
    unsure = [agent["name"] for agent in here["agents"] if not agent["reproducible"]]
    if unsure:
        print(f"not compared: the games of {', '.join(unsure)}, who think for a time, and what rests on them")
    if trained:
        print("taken over, for it is training and no match: what best responses found")
    if probe is not None and any(not entry["reproducible"] for entry in here["exploiters"]["found"]):
        print(f"not compared: what exploit:{probe.budget},… found, which thinks for a time")
    difference = next(compare(there, here), None)
    if difference is not None:
        print(f"{args.reproduce} is not reproduced: {difference}")
        return 1
    print(f"{args.reproduce} is reproduced: {'all else is' if unsure else 'the numbers are'} the same")
    return 0
