"""What one network for every table costs and is worth: ``python -m tests.benchmarks.generality [--specialist RUN …]``.

Three tables, all against the same deals, with 95 % intervals over deals or, where tables are drawn, over tables:

* the generalist against specialists, each at the table that its run names, and what both lose to greedy there;
* the generalist as it is, and with the house rules blanked out: it is told that every table is ``standard``;
* the same at tables with drawn house rules, and at tables with combinations that its training left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from idiot_agents.arena import Estimate, play_match
from idiot_agents.arguments import exit_code, positive_int, training_seed
from idiot_agents.neural import NeuralAgent
from idiot_agents.protocol import Actions, Masks, Observations, Streams
from idiot_agents.registry import make_agent
from idiot_env import Rules, View
from idiot_env.observation import LAYOUT
from idiot_env.rules import parse_changes
from idiot_train.config import TrainConfig, config_of_card
from idiot_train.tables import draw_table, held_out_tables

RULES_BLOCK = slice(LAYOUT["rules"].start, LAYOUT["rules"].stop)


class Blanked:
    """An agent that is told that every table is ``standard``."""

    def __init__(self, agent: NeuralAgent) -> None:
        self.agent, self.name = agent, f"{agent.name}, rules blanked"
        self.check_players = agent.check_players
        self._told = Rules().numbers()

    def act(self, view: View) -> int:
        return int(self.act_batch(view.observation[None], view.action_mask[None], np.zeros(1, np.int64))[0])

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        told = observation.copy()
        told[:, RULES_BLOCK] = self._told
        return self.agent.act_batch(told, mask, streams)


def share(found: Estimate) -> str:
    return f"{found.mean:.1%} ({found})"


def specialists_table(model: NeuralAgent, specialists: Sequence[NeuralAgent], deals: int, seed: int) -> list[str]:
    """Lines of markdown, one for each specialist at its own table."""
    lines = [
        "| table | players | specialist's decisions | generalist loses to it | specialist to greedy | generalist |",
        "|---|---|---|---|---|---|",
    ]
    tables = [(one, table) for one in specialists for table in config_of_card(one.card, one.name).tables]
    for specialist, (rules, players) in tables:
        agents = model, specialist
        greedy = [play_match(one, make_agent("greedy"), rules, players, deals, seed=seed) for one in agents]
        match = play_match(*agents, rules, players, deals, seed=seed)
        general, special = (share(found.figures.lost) for found in greedy)
        lines.append(
            f"| {rules} | {players} | {specialist.card['decisions']:,} | {share(match.figures.lost)} | {special} "
            f"| {general} |"
        )
    return lines


def drawn_tables(config: TrainConfig, count: int, seed: int) -> list[tuple[Rules, int]]:
    """Tables with drawn house rules as in training."""
    rng = np.random.default_rng([seed, 3])
    held_out = [parse_changes(text.split()) for text in config.held_out]
    return [draw_table(rng, config, held_out) for _ in range(count)]


def blanking_table(agent: NeuralAgent, config: TrainConfig, deals: int, tables: int, seed: int) -> list[str]:
    """Lines of markdown: what the generalist loses to greedy with and without the house rules in its view."""
    lines = ["| tables | even | loses to greedy | with the rules blanked | more |", "|---|---|---|---|---|"]
    groups = {f"{rules}, {players} players": [(rules, players)] for rules, players in config.tables}
    if config.house_rules:
        groups[f"{tables} with drawn house rules"] = drawn_tables(config, tables, seed)
    if config.held_out:
        groups[f"{tables} with combinations left out of training"] = held_out_tables(config, tables, seed)
    for name, group in groups.items():
        each = deals if len(group) == 1 else max(2, deals // 10)
        shares = np.array(
            [
                [
                    play_match(one, make_agent("greedy"), rules, players, each, seed=seed).lost
                    for one in (agent, Blanked(agent))
                ]
                for rules, players in group
            ]
        )
        more = shares[:, 1] - shares[:, 0]
        margin = 1.96 * more.std(ddof=1) / np.sqrt(len(group)) if len(group) > 1 else 0.0
        interval = f" ± {margin:.1%}" if len(group) > 1 else ""
        even = np.mean([rules.losers / players for rules, players in group])
        lines.append(
            f"| {name} | {even:.1%} | {shares[:, 0].mean():.1%} | {shares[:, 1].mean():.1%} | {more.mean():+.1%}"
            f"{interval} |"
        )
    return lines


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.generality", description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="generalist", help="the generalist (default: %(default)s)")
    parser.add_argument("--specialist", nargs="*", default=[], type=Path, metavar="RUN", help="folders of their runs")
    parser.add_argument("--deals", type=positive_int, default=1000, help="of a match (default: %(default)s)")
    parser.add_argument("--tables", type=positive_int, default=50, help="drawn tables, a tenth of the deals each")
    parser.add_argument("--seed", type=training_seed, default=1)
    return parser


def run(args: argparse.Namespace) -> None:
    agent = NeuralAgent.load(args.model)
    config = config_of_card(agent.card, args.model)
    specialists = [NeuralAgent.load(run / "model" if (run / "model").is_dir() else run) for run in args.specialist]
    if specialists:
        print("\n".join([*specialists_table(agent, specialists, args.deals, args.seed), ""]))
    print("\n".join(blanking_table(agent, config, args.deals, args.tables, args.seed)))
    print(f"\n{args.deals:,} deals of seed {args.seed}, in every rotation of the seats.")


def main() -> int:
    args = make_parser().parse_args()
    return exit_code(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
