"""Games kept as records: the four tables, and house rules in company.  Whatever changes, they must still replay.

``tests/data/records/NAME.json`` is written once, from the choices of an agent at this table, and never anew: this adds
those of :data:`GAMES` that are not there yet::

    python -m tests.records
"""

from __future__ import annotations

import json
from pathlib import Path

from idiot_agents.registry import make_agent
from idiot_env import Game

FOLDER = Path(__file__).resolve().parent / "data" / "records"
GAMES: dict[str, tuple[str, int, int]] = {
    "standard": ("standard", 4, 1),
    "norsk": ("norsk", 3, 1),
    "sjanse": ("sjanse", 2, 1),
    "familie": ("familie", 5, 1),
    "crowd": ("standard swap=never jokers=2 last_two=blind_only runs=yes stack=yes skip_same=yes losers=2", 5, 4),
    "jester": ("norsk jokers=2 ten_on=below_ten last_two=forbidden chance=yes sneak_three=yes", 3, 2),
    "thrifty": ("familie swap=anytime stack=yes seven_low=yes hand_size=6 starter=left_of_dealer", 4, 2),
}
"""Rules, players and seed of each game."""


def play(rules: str, players: int, seed: int) -> Game:
    """A game among copies of an agent that now and then does something odd, so that the rare rules come up."""
    game = Game(rules, players, seed=seed, max_decisions=1000)
    careful, odd = make_agent("careful", seed), make_agent("random", seed)
    while not game.over:
        agent = odd if len(game.actions) % 3 == 0 else careful
        game.apply(agent.act(game.view(game.turn)))
    return game


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (rules, players, seed) in GAMES.items():
        path = FOLDER / f"{name}.json"
        if not path.exists():
            record = play(rules, players, seed).record()
            path.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
