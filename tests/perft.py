"""Perft: how many action sequences of each length begin at fixed positions.

A change of the rules changes these numbers, wherever it hides.  ``tests/data/perft.json`` holds them; this writes it
anew, with the engine's counts, and is run only when the rules are meant to change::

    python -m tests.perft
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from idiot_env import Game, Rules
from tests.twin import DEFAULTS, PRESETS, RuleDict, Twin, all_cards

DATA = Path(__file__).resolve().parent / "data" / "perft.json"
FORMAT = "idiot-perft/1"
SEEDS = (1, 2)
MAX_DEPTH = 7
NODES = 15_000
"""A position's depth grows until this many sequences are exceeded."""

MIXES: dict[str, RuleDict] = {
    "thrifty": {
        "swap": "anytime",
        "chance": True,
        "stack": True,
        "sneak_three": True,
        "starter": "lowest_hand",
        "starter_tie": "most_low",
        "opening": "lowest",
    },
    "runner": {
        "swap": "never",
        "runs": True,
        "skip_same": True,
        "seven_low": True,
        "after_two": "again",
        "face_up_take": "alone",
        "starter": "left_of_dealer",
    },
    "jester": {"jokers": 2, "ten_on": "below_ten", "last_two": "forbidden", "chance": True, "sneak_three": True},
    "crowd": {
        "swap": "never",
        "jokers": 2,
        "last_two": "blind_only",
        "runs": True,
        "stack": True,
        "skip_same": True,
        "starter": "lowest_hand",
    },
}
"""Changes from the defaults; :func:`table` adds six hand cards or two idiots where the seats allow it."""


def table(name: str, players: int) -> RuleDict:
    """The complete options of a preset or a mix."""
    if name in PRESETS:
        return dict(PRESETS[name])
    rules = DEFAULTS | MIXES[name]
    if name == "runner" and players <= 4:
        rules["hand_size"] = 6
    if name == "crowd" and players >= 3:
        rules["losers"] = 2
    return rules


def shuffled(rules: RuleDict, seed: int) -> list[str]:
    deck = all_cards(rules)
    random.Random(seed).shuffle(deck)
    return deck


def walk(rules: RuleDict, players: int, deck: list[str], length: int, seed: int) -> list[str]:
    """The beginning of a game that rarely takes, stopping short of the end."""
    game, rng = Game(Rules(**rules), players, deck=deck, dealer=0), random.Random(seed)
    actions: list[str] = []
    for _ in range(length):
        legal = game.legal()
        text = rng.choice([text for text in legal if not text.startswith(("take", "swap"))] or legal)
        game.apply(text)
        if game.turn is None:
            break
        actions.append(text)
    return actions


def perft(game: Game | Twin, depth: int) -> int:
    """Number of action sequences of length ``depth``; the last action is counted, not carried out."""
    legal = game.legal()
    if depth <= 1:
        return len(legal) if depth else 1
    total = 0
    for text in legal:
        after = game.copy()
        after.apply(text)
        total += perft(after, depth - 1)
    return total


def counts(game: Game | Twin) -> list[int]:
    """Counts for depth 1, 2, … as far as the limits allow."""
    found: list[int] = []
    while len(found) < MAX_DEPTH and (not found or found[-1] * _growth(found) <= NODES):
        found.append(perft(game, len(found) + 1))
        if found[-1] == 0:
            break
    return found


def _growth(found: list[int]) -> float:
    """By what factor the next count is likely to be larger."""
    return found[-1] / (found[-2] if len(found) > 1 else 1)


def positions() -> list[dict[str, Any]]:
    """Every fixed position with its counts: each table at its deal, in the middle and late in a game."""
    rows = []
    for name in [*PRESETS, *MIXES]:
        for players in (2, 3, 4, 5):
            rules = table(name, players)
            for seed in SEEDS:
                deck = shuffled(rules, seed)
                for length in (0, 25 * players if seed == 1 else 12 * players):
                    actions = walk(rules, players, deck, length, seed)
                    game = replay(Game(Rules(**rules), players, deck=deck, dealer=0), actions)
                    row = {"table": name, "rules": rules, "players": players, "dealer": 0, "deck": deck}
                    rows.append(row | {"actions": actions, "counts": counts(game)})
    return rows


def replay(game: Any, actions: list[str]) -> Any:
    for text in actions:
        game.apply(text)
    return game


def load() -> list[dict[str, Any]]:
    content = json.loads(DATA.read_text(encoding="utf-8"))
    assert content["format"] == FORMAT
    rows: list[dict[str, Any]] = content["positions"]
    return rows


def write() -> None:
    """One position a line, so that a change shows as the lines it touches."""
    lines = ",\n".join(json.dumps(row | {"deck": " ".join(row["deck"])}) for row in positions())
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_text(f'{{"format": "{FORMAT}", "positions": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    write()
