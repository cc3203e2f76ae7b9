"""A few games whose every snapshot is printed, one JSON line each, to compare ways of running the engine.

``python -m tests.fixed_games``
"""

from __future__ import annotations

import json
import random

from idiot_env import Game, Rules
from tests.twin import PRESETS, RuleDict, all_cards, random_rules

MAX_ACTIONS = 250


def _tables() -> list[tuple[RuleDict, int]]:
    rng = random.Random("fixed games")
    mixes = [(random_rules(rng, players), players) for players in (2, 3, 4, 5, 2, 3, 4, 5)]
    return [(rules, players) for rules, players in zip(PRESETS.values(), (2, 3, 4, 5))] + mixes


FIXED = _tables()


def play_fixed(number: int) -> list[str]:
    """The snapshots of one game as JSON."""
    rules, players = FIXED[number]
    rng = random.Random(number)
    deck = all_cards(rules)
    rng.shuffle(deck)
    game = Game(Rules(**rules), players, deck=deck, dealer=number % players)
    lines = [json.dumps(game.snapshot())]
    for _ in range(MAX_ACTIONS):
        legal = game.legal()
        if not legal:
            break
        game.apply(rng.choice([text for text in legal if not text.startswith(("take", "swap"))] or legal))
        lines.append(json.dumps(game.snapshot() | {"known": game.known}))
    return lines


if __name__ == "__main__":
    for number in range(len(FIXED)):
        print("\n".join(play_fixed(number)))
