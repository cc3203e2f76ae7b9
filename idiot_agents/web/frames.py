"""A record step by step, as the viewer shows it."""

from __future__ import annotations

import json
from typing import Any

from idiot_agents.errors import InputError
from idiot_agents.replay import replay_record
from idiot_agents.web.insight import opinion
from idiot_agents.web.payload import open_view, seat_view, told
from idiot_env import Game

MOST_ACTIONS = 2500
"""Longer than any game that the limit of decisions leaves; a worker is busy with so many for some seconds."""
SHOWN_ACTIONS = 8
"""Actions of an opinion; the rest are as good as impossible."""


def frames(record: Any, seat: Any, lang: str, adviser: str | None, adviser_name: str | None) -> dict[str, Any]:
    """Every moment of a recorded game, with what the model thought where the shown seat (or, with all cards open, the
    seat to act) had to decide.

    Args:
        seat: from whose view; ``None``: all cards open.
        adviser: the spec of the model, if there is one.

    Raises:
        InputError: for a record that cannot be replayed, or a seat that is not at its table.
    """
    if isinstance(record, dict) and isinstance(record.get("actions"), list) and len(record["actions"]) > MOST_ACTIONS:
        raise InputError(f"the record has {len(record['actions'])} actions: at most {MOST_ACTIONS} are shown.")
    replay = replay_record(record, "the record")
    players = replay.frames[0].players
    if seat is not None and (isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < players):
        raise InputError(f"seat {str(seat)[:20]} is not at the table: seats go from 0 to {players - 1}.")
    shown = []
    for index, game in enumerate(replay.frames):
        event = replay.events[index - 1] if index else None
        shown.append(
            {
                "view": open_view(game) if seat is None else seat_view(game, seat),
                "event": None if event is None else told(event, lang, replay.names, seat),
                "opinion": _opinion(game, seat, lang, adviser),
                "action": None if event is None else event.action,
            }
        )
    return {"names": replay.names, "frames": shown, "adviser": adviser_name, "players": players, "seat": seat}


def frames_json(*args: Any) -> bytes:
    """:func:`frames` as JSON: written where it was computed, for it may be large."""
    return json.dumps(frames(*args), ensure_ascii=False, separators=(",", ":")).encode()


def _opinion(game: Game, seat: int | None, lang: str, adviser: str | None) -> dict[str, Any] | None:
    turn = game.turn
    if adviser is None or turn is None or seat not in (None, turn):
        return None
    found = opinion(adviser, game.view(turn), lang)
    return {"seat": turn, **found, "actions": found["actions"][:SHOWN_ACTIONS]}
