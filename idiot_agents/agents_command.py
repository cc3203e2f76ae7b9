"""``idiot agents``: every agent that can be named, and what it is."""

from __future__ import annotations

import argparse

from idiot_agents.network import read_card
from idiot_agents.registry import AGENTS, CHEATERS
from idiot_agents.shipped import shipped_models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "List the agents: the words that play, bench, study and exploit take for AGENT."
    parser.epilog = """\
examples:
  idiot agents                            all of them (the default; there is nothing to choose)
  idiot play ppo:generalist               one by name: the shipped model
  idiot bench careful pimc:50ms,greedy    two, the second one thinks for 50 ms a decision
"""


def run(args: argparse.Namespace) -> int:
    width = max(map(len, (*AGENTS, *CHEATERS)))
    for title, agents in (("honest agents", AGENTS), ("agents that cheat", CHEATERS), ("shipped models", models())):
        print(f"{title}:")
        for spec, meaning in agents.items():
            print(f"  {spec:<{width}}  {meaning}")
    return 0


def models() -> dict[str, str]:
    """Each shipped model as it is named, and the tables that it was trained for."""
    told = {}
    for name, folder in shipped_models().items():
        card = read_card(folder)
        rules, players = (value if isinstance(value, list) else [value] for value in (card["rules"], card["players"]))
        drawn = " and drawn house rules" if card.get("house_rules") else ""
        told[f"ppo:{name}"] = f"{', '.join(rules)}{drawn}, {' or '.join(map(str, players))} players"
    return told
