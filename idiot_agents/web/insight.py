"""What a model thinks of one seat's view, and the story of a whole game.

Everything here is computed from views of the seat that asks, so it can know no more than the seat.
"""

from __future__ import annotations

from typing import Any

from idiot_agents.play import DEFAULT_AGENT, risk
from idiot_agents.protocol import Model
from idiot_agents.web.thinking import agent_of, decide
from idiot_env import Game, View
from idiot_env.actions import TEXTS
from idiot_env.words import action_sentence

COSTLY = 0.03
"""A drop of the chance that is worth marking."""
MOST_MARKED = 3


def opinion(spec: str | None, view: View, lang: str) -> dict[str, Any]:
    """What the adviser thinks of a view that is to act.

    Args:
        spec: a model; ``None``: there is none, and a rule of thumb says what it would do.

    Returns:
        ``chance`` not to become an idiot (``None`` without a model) and ``actions``, the likeliest first, each with its
        probability ``p``.
    """
    if spec is None:
        action = TEXTS[decide(DEFAULT_AGENT, view, 0)]
        return {"chance": None, "actions": [{"action": action, "says": action_sentence(action, lang), "p": None}]}
    model = agent_of(spec)
    assert isinstance(model, Model)
    probabilities = model.probabilities(view)
    order = sorted(view.legal.tolist(), key=lambda action: -float(probabilities[action]))
    return {
        "chance": round(1.0 - risk(model.value(view), view.players, view.rules.losers), 4),
        "actions": [
            {
                "action": TEXTS[action],
                "says": action_sentence(TEXTS[action], lang),
                "p": round(float(probabilities[action]), 4),
            }
            for action in order
        ],
    }


def story(spec: str, record: dict[str, Any], seat: int, lang: str) -> dict[str, Any]:
    """A seat's chance not to become an idiot at each of its decisions, and the actions that cost most.

    An action's cost is how far the chance fell until the seat's next decision (luck included); it is marked only where
    the model would rather have done something else.

    Returns:
        ``points`` with the decision's ``index`` in the record, ``chance``, ``action``, ``p`` that the model gave it,
        the model's ``best`` with its ``best_p``, and ``cost``; ``marked``, places in ``points``; ``end``, the chance
        after the last action (1 or 0, ``None`` while the result is open).
    """
    model = agent_of(spec)
    assert isinstance(model, Model)
    game = Game.start_of_record(record)
    points: list[dict[str, Any]] = []
    for index, action in enumerate(record["actions"]):
        if game.turn == seat:
            view = game.view(seat)
            probabilities = model.probabilities(view)
            best = int(probabilities.argmax())
            points.append(
                {
                    "index": index,
                    "chance": round(1.0 - risk(model.value(view), view.players, view.rules.losers), 4),
                    "action": action,
                    "says": action_sentence(action, lang),
                    "p": round(float(probabilities[TEXTS.index(action)]), 4),
                    "best": TEXTS[best],
                    "best_says": action_sentence(TEXTS[best], lang),
                    "best_p": round(float(probabilities[best]), 4),
                }
            )
        game.apply(action)
    result = game.result
    end = None if result is None or result["truncated"] else float(seat not in result["idiots"])
    after = [point["chance"] for point in points[1:]] + [end]
    for point, chance in zip(points, after, strict=True) if points else ():
        point["cost"] = None if chance is None else round(point["chance"] - chance, 4)
    costly = [
        place
        for place, point in enumerate(points)
        if point["cost"] is not None and point["cost"] >= COSTLY and point["action"] != point["best"]
    ]
    marked = sorted(sorted(costly, key=lambda place: -points[place]["cost"])[:MOST_MARKED])
    return {"points": points, "marked": marked, "end": end}
