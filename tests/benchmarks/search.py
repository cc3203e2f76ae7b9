"""How fast search is, and what time buys: ``python -m tests.benchmarks.search [--json FILE] [--plot FILE] …``.

Prints three tables: rollouts per CPU second from positions of real games; CPU milliseconds per decision that offers a
choice (median and 95th percentile); and strength against greedy and careful for budgets over three orders of magnitude
of time per decision, with deals, seed and 95 % intervals.  All on one thread.

Points come from the cheap to the dear ones.  Both files are written anew after each, and the points of a ``--json``
that is there already, of the same table and seed, are not played again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from idiot_agents.arena import deal_seeds, play_match
from idiot_agents.arguments import add_rules_arguments, exit_code, rules_from, seed_number
from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.guided import GuidedSearcher
from idiot_agents.network import write_file
from idiot_agents.pimc import sample_flat
from idiot_agents.protocol import Actions, Masks, Observations, Streams
from idiot_agents.registry import make_agent
from idiot_agents.result_files import check_place
from idiot_agents.rollouts import LIMIT, candidates
from idiot_agents.search import SLIP, SearchAgent
from idiot_agents.worlds import write_world_at
from idiot_env import Game, Rules, View
from idiot_env.actions import N_ACTIONS
from idiot_env.engine import STATE
from idiot_env.observation import OBSERVATION_SIZE
from tests.benchmarks.report import machine_facts

METHODS = ("pimc", "ismcts")
BUDGETS = (
    ("pimc:8", 200), ("ismcts:30", 200), ("pimc:64", 200), ("ismcts:300", 200), ("pimc:512", 50), ("ismcts:3000", 50),
    ("pimc:4096", 15), ("pimc:16384", 15), ("ismcts:20000", 15),
)  # fmt: skip
"""From tenths of a millisecond to some four hundred a decision, each with as many deals as are affordable."""
OPPONENTS = ("greedy", "careful")
GUIDED = "ppo+search:generalist,128"
TIMED = ("pimc:128", "pimc:128,careful", "ismcts:2000", "ismcts:2000,careful", GUIDED)


class Timed:
    """Passes everything on to an agent and notes what each decision with a choice costs.

    Attributes:
        milliseconds: CPU time of each decision that offered a choice.
    """

    def __init__(self, agent: SearchAgent) -> None:
        self.agent, self.name = agent, agent.name
        self.milliseconds: list[float] = []

    def act(self, view: View) -> int:
        return int(self.act_batch(view.observation[None], view.action_mask[None], np.zeros(1, np.int64))[0])

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        chosen = np.empty(len(streams), np.int64)
        for k in range(len(streams)):
            start = time.process_time()
            chosen[k : k + 1] = self.agent.act_batch(observation[k : k + 1], mask[k : k + 1], streams[k : k + 1])
            if mask[k].sum() > 1:
                self.milliseconds.append(1000 * (time.process_time() - start))
        return chosen


@dataclass(frozen=True)
class Strength:
    """One point of the plot."""

    spec: str
    against: str
    milliseconds: float
    """Mean CPU time of a decision that offered a choice."""
    lost: float
    low: float
    high: float
    games: int
    truncated: int

    def __str__(self) -> str:
        return (
            f"{self.spec:14} against {self.against:8} {self.milliseconds:8.2f} ms   not lost {1 - self.lost:6.1%} "
            f"({1 - self.high:.1%} to {1 - self.low:.1%}), {self.games} games, {self.truncated} cut off"
        )


def points_in(path: Path, facts: dict[str, Any]) -> list[Strength]:
    """The points that an earlier run left in a file; none where there is no file.

    Raises:
        InputError: for a file of another table or seed, or of something else, which is not to be lost.
    """
    if not path.exists():
        return []
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
        if any(there[name] != facts[name] for name in ("rules", "players", "seed")):
            raise InputError(f"{path} is of {there['rules']}, {there['players']} players, seed {there['seed']}: "
                             "name another file.")  # fmt: skip
        return [Strength(**point) for point in there["strength"]]
    except (OSError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} holds no figures of this benchmark: name another file.") from None


def positions(rules: Rules, players: int, games: int, seed: int) -> list[View]:
    """Every decision with a choice in some games between careful players."""
    careful, views = CompiledAgent("careful"), []
    for deal in deal_seeds(rules, players, games, seed):
        game = Game(rules, players, seed=int(deal), max_decisions=400)
        while game.turn is not None:
            view = game.view(game.turn)
            if view.action_mask.sum() > 1:
                views.append(view)
            game.apply(careful.act(view))
    return views


def rollouts_per_second(views: Sequence[View], kind: str, slip: int, worlds: int = 20) -> float:
    """Whole rollouts per CPU second, with the drawing of their worlds, over all positions."""
    root, actions = np.zeros(1, STATE), np.zeros(N_ACTIONS, np.int64)
    scratch, observation = np.zeros(2, STATE), np.zeros(OBSERVATION_SIZE, np.int8)
    mask, sums = np.zeros(N_ACTIONS, np.int8), np.zeros(N_ACTIONS)
    number = CompiledAgent(kind).kind
    played, spent = 0, 0.0
    for i, view in enumerate(views):
        n = int(candidates(view.action_mask, actions))
        write_world_at(view.observation, root, 0)
        start = time.process_time()
        sample_flat(root, actions, n, worlds, number, LIMIT, slip, slip, np.int64(i), sums, scratch, observation, mask)
        spent += time.process_time() - start
        played += n * worlds
    return played / spent


def decision_times(spec: str, views: Sequence[View]) -> tuple[float, float]:
    """Median and 95th percentile of CPU milliseconds per decision."""
    agent = make_agent(spec, 1)
    assert isinstance(agent, SearchAgent)
    timed = Timed(agent)
    agent.act(views[0])  # compiled by now
    for view in views:
        timed.act(view)
    median, late = np.percentile(timed.milliseconds, [50, 95])
    return float(median), float(late)


def strength(spec: str, against: str, rules: Rules, players: int, deals: int, seed: int) -> Strength:
    agent = make_agent(spec, 1)
    assert isinstance(agent, SearchAgent)
    timed = Timed(agent)
    match = play_match(timed, make_agent(against), rules, players, deals, seed=seed)
    lost = match.figures.lost
    mean = float(np.mean(timed.milliseconds))
    return Strength(spec, against, mean, lost.mean, lost.low, lost.high, match.games, match.truncated)


def plot(points: Sequence[Strength], path: Path, title: str) -> None:
    """Share of games not lost against milliseconds per decision, one line a method and opponent."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), constrained_layout=True)
    for against in OPPONENTS:
        for method in METHODS:
            mine = [point for point in points if point.against == against and point.spec.startswith(f"{method}:")]
            if mine:
                won = [1 - point.lost for point in mine]
                errors = [[p.high - p.lost for p in mine], [p.lost - p.low for p in mine]]
                axes.errorbar(
                    [p.milliseconds for p in mine], won, errors, marker="o", label=f"{method} against {against}"
                )
    axes.set(xscale="log", xlabel="CPU milliseconds per decision", ylabel="games not lost", title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.search", description=__doc__.split("\n")[0])
    add_rules_arguments(parser, players=2)
    parser.add_argument("--seed", type=seed_number, default=1, help="which deals (default: %(default)s)")
    parser.add_argument("--most", type=float, default=1000.0, help="leave out points of more milliseconds a decision")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw strength against time into a PNG")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures, and go on from those there")
    return parser


def run(args: argparse.Namespace) -> None:
    rules, players = rules_from(args)
    facts: dict[str, Any] = {"machine": machine_facts(), "rules": str(rules), "players": players, "seed": args.seed}
    for option, path in (("--json", args.json), ("--plot", args.plot)):
        if path:
            check_place(path, option)
    points = points_in(args.json, facts) if args.json else []
    views = positions(rules, players, 20, args.seed)
    print(f"{rules}, {players} players, {len(views)} positions of games between careful players; {facts['machine']}")

    print("\nrollouts a CPU second")
    facts["rollouts"] = {}
    for kind in ("greedy", "careful"):
        for slip in (0, SLIP):
            rollouts_per_second(views[:2], kind, slip)
            rate = rollouts_per_second(views, kind, slip)
            facts["rollouts"][f"{kind}, {slip}/1024 slips"] = rate
            print(f"  {kind:8} {slip:4} / 1024 slips {rate:10,.0f}")

    print("\nCPU milliseconds per decision: median, 95th percentile")
    facts["milliseconds"] = {}
    for spec in TIMED:
        median, late = facts["milliseconds"][spec] = decision_times(spec, views)
        print(f"  {spec:20} {median:8.2f} {late:8.2f}")
    searcher = make_agent(GUIDED)
    assert isinstance(searcher, GuidedSearcher)
    for view in views[::10]:
        searcher.act(view)
    share = searcher.recall.asked / searcher.recall.met
    print(f"  {GUIDED} asks its network for {share:.0%} of the positions of its rollouts, the others it has met")

    print(f"\nstrength: seed {args.seed}, 95 % intervals")
    for point in points:
        print(f"  {point}   (from {args.json})")
    there = {(point.spec, point.against) for point in points}
    for spec, deals in BUDGETS:
        for against in OPPONENTS:
            if (spec, against) in there or decision_times(spec, views[::40])[1] > args.most:
                continue
            points.append(strength(spec, against, rules, players, deals, args.seed))
            print(f"  {points[-1]}", flush=True)
            facts["strength"] = [asdict(point) for point in points]
            if args.json:
                write_file(args.json, (json.dumps(facts, indent=1) + "\n").encode())
            if args.plot:
                plot(points, args.plot, f"{rules}, {players} players")


def main() -> int:
    args = make_parser().parse_args()
    return exit_code(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
