"""A table of proven endgames of two players, ``data/endgames.json``, and states that stand at them.

``python -m tests.endgames`` plays the games of :data:`SOURCES` and writes the table anew.  An entry holds the rules,
a position by ranks as the seat to act (seat 0) sees it, and for the position and each action what can be forced: the
probabilities of a win and of a loss, exact to twelve digits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from idiot_agents.endgame import Solution, Solver, live_cards_at
from idiot_agents.registry import make_agent
from idiot_agents.worlds import write_world_at
from idiot_env import Game, Rules, View, engine
from idiot_env import actions as A
from idiot_env.cards import RANKS, ranks_text
from idiot_env.engine import NO_CARD, STATE

PATH = Path(__file__).parent / "data" / "endgames.json"
SOURCES = (
    ("standard", 40),
    ("norsk", 12),
    ("sjanse", 12),
    ("familie", 12),
    ("standard jokers=2 last_two=forbidden seven_low=yes", 10),
    ("norsk sneak_three=yes runs=yes skip_same=yes stack=yes", 10),
    ("sjanse ten_on=below_ten last_two=blind_only stack=yes", 10),
)
"""Rules and how many positions to take from their games."""
MAX_POSITIONS = 4000

State = npt.NDArray[np.void]


def state_of(entry: Mapping[str, Any]) -> State:
    """A state ``[1]`` that stands at an entry, seat 0 to act and both hands known to both; suits by rank in order."""
    states = np.zeros(1, STATE)
    rules = Rules.parse(str(entry["rules"]))
    engine.deal_at(states, 0, np.arange(54, dtype=np.int8), rules.numbers(), 2, 0)
    state = states[0]
    used = [0] * 14

    def cards(text: str) -> list[int]:
        taken = []
        for letter in text:
            rank = RANKS.index(letter)
            taken.append(4 * rank + used[rank])
            used[rank] += 1
        return taken

    def as_set(taken: list[int]) -> int:
        return sum(1 << card for card in taken)

    for seat in range(2):
        state["hand"][seat] = state["known"][seat] = as_set(cards(entry["hand"][seat]))
        state["up"][seat] = as_set(cards(entry["up"][seat]))
    pile = cards(entry["pile"])
    state["pile_set"], state["pile_size"] = as_set(pile), len(pile)
    state["pile"][:] = NO_CARD
    state["pile"][: len(pile)] = pile
    state["top"] = RANKS.index(entry["pile"][-1]) if pile else -1
    state["run"] = len(entry["pile"]) - len(entry["pile"].rstrip(entry["pile"][-1])) if pile else 0
    unseen = cards(entry["unseen"])
    state["down"][:] = NO_CARD
    for seat in range(2):
        for slot in entry["down"][seat]:
            state["down"][seat, slot - 1] = unseen.pop()
    assert not unseen
    state["stock"][:] = NO_CARD
    state["stock_size"] = 0
    state["burned"] = (1 << (52 + rules.jokers)) - 1
    for rank, n in enumerate(used):
        state["burned"] &= ~(((1 << n) - 1) << (4 * rank))
    state["place"][:] = 0
    state["n_out"] = state["opening"] = 0
    state["swapped"] = 0 if rules.swap == "never" else 2
    state["turn"] = 0
    state["phase"] = engine.HAND if entry["hand"][0] else engine.UP if entry["up"][0] else engine.DOWN
    state["exchanges"] = entry["exchanges"]
    return states


def entry_of(rules: Rules, view: View, solver: Solver, solution: Solution) -> dict[str, Any]:
    """The entry of a view that ``solver`` has solved."""
    write_world_at(view.observation, solver._world, 0)
    world = solver._world[0]
    pile = "".join(RANKS[card // 4] for card in world["pile"][: world["pile_size"]])
    return {
        "rules": str(rules),
        "hand": [ranks_text(world["hand"][seat]) for seat in range(2)],
        "up": [ranks_text(world["up"][seat]) for seat in range(2)],
        "down": [[slot + 1 for slot in range(3) if world["down"][seat, slot] != NO_CARD] for seat in range(2)],
        "pile": pile,
        "exchanges": int(world["exchanges"]),
        "unseen": "".join(
            sorted((RANKS[int(c) // 4] for c in world["down"].reshape(-1) if c != NO_CARD), key=RANKS.index)
        ),
        "live": int(live_cards_at(solver._world, 0)),
        "positions": solution.positions,
        "value": [round(solution.value.win, 12), round(solution.value.lose, 12)],
        "actions": {
            A.TEXTS[action]: [round(value.win, 12), round(value.lose, 12)]
            for action, value in sorted(solution.actions.items())
        },
    }


def has_run_below_top(entry: Mapping[str, Any]) -> bool:
    """Whether the pile by ranks, its top rank gathered at the end, would tell a longer run than there is."""
    pile = str(entry["pile"])
    return bool(pile) and len(pile) - len(pile.rstrip(pile[-1])) != entry["run"]


def make_table() -> list[dict[str, Any]]:
    """Solved positions from games of careful against greedy; those in which actions differ, at most two a game."""
    table = []
    for text, wanted in SOURCES:
        rules, found, seed = Rules.parse(text), 0, 0
        solver = Solver(MAX_POSITIONS, 14)
        while found < wanted:
            seed += 1
            game, taken = Game(rules, 2, seed=seed, max_decisions=400), 0
            agents = [make_agent("careful"), make_agent("greedy")]
            while game.turn is not None and taken < 2 and found < wanted:
                view = game.view(game.turn)
                solution = solver.solve(view.observation)
                if solution is not None and len({value.balance for value in solution.actions.values()}) > 1:
                    entry = entry_of(rules, view, solver, solution)
                    if not has_run_below_top({**entry, "run": view.run}):
                        table.append(entry)
                        found, taken = found + 1, taken + 1
                game.apply(agents[game.turn].act(view))
    return table


if __name__ == "__main__":
    rows = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in make_table())
    PATH.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    print(f"wrote {PATH.relative_to(Path.cwd())}")
