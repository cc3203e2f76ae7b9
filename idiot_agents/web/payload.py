"""All that one browser receives about a game.  Nothing else that comes from a game leaves the server.

A seat's payload is made from its view, from events, which everybody at the table saw, and from the order of the pile,
which everybody saw grow.  Who sees all cards (a watcher of agents, the viewer of a finished game) gets ``open_view``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from idiot_agents.web.choices import legal_choices, why_not
from idiot_env import Game
from idiot_env.events import Event
from idiot_env.render import as_json
from idiot_env.words import event_sentence


def seat_view(game: Game, seat: int) -> dict[str, Any]:
    """What ``seat`` sees: the JSON of its view with the pile in order, its options and the result."""
    view = game.view(seat)
    return as_json(view) | {"pile_order": pile_order(game), "options": view.rules.as_dict(), "result": game.result}


def open_view(game: Game) -> dict[str, Any]:
    """What somebody sees who sees all cards: seat 0 at the bottom, every hand and face-down card known.

    For watchers of agents and for finished games, never for players.
    """
    shown, snapshot = seat_view(game, 0), game.snapshot()
    for seat in shown["seats"]:
        number = seat["seat"]
        seat |= {"you": False, "known": snapshot["hand"][number], "hand_size": len(snapshot["hand"][number])}
        seat["down_cards"] = [None if rank == "." else rank for rank in snapshot["down"][number]]
    turn = game.turn
    return shown | {"seat": None, "hand": "", "unseen": "", "legal": [] if turn is None else game.legal()}


def pile_order(game: Game) -> str:
    """Ranks of the pile from bottom to top: public, as every card of it was laid in sight."""
    order: str = game.snapshot()["pile"]
    return order


def seat_choices(game: Game, seat: int, lang: str) -> dict[str, Any]:
    """What ``seat`` can do now, and why it cannot do the rest; empty when it is not to act."""
    if game.turn != seat:
        return {"choices": [], "why": None}
    view = game.view(seat)
    return {"choices": legal_choices(view, lang), "why": why_not(view, lang)}


def told(event: Event, lang: str, names: Sequence[str], seat: int | None) -> dict[str, Any]:
    """An event as data and as the sentence that a seat reads."""
    return {**asdict(event), "again": event.again, "says": event_sentence(event, lang, names, seat)}
