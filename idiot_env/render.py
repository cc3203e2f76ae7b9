"""One seat's view as text, as a picture and as JSON.

Pure functions of a :class:`View` and the last :class:`Event`: what is not in those cannot be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from idiot_env.cards import NO_RANK, RANKS, counts_text
from idiot_env.events import Event
from idiot_env.picture import names_of, picture
from idiot_env.table_text import draw_view
from idiot_env.view import View
from idiot_env.words import check_lang, event_sentence, spaced, word


def ansi(view: View, event: Event | None = None, names: Sequence[str] | None = None, lang: str = "en") -> str:
    """The table as ``view`` sees it, as lines of text without control codes.

    Args:
        event: what the last action did.
        names: one for each absolute seat.
        lang: ``"no"`` or ``"en"``.
    """
    check_lang(lang)
    called = names_of(view, names, lang)
    lines = [f"{view.rules} · {view.players} {word('players', lang)} · {word('phase_' + view.phase, lang)}", ""]
    shown = [f"{name} ({word('you', lang)})" if seat == view.seat else name for seat, name in enumerate(called)]
    lines += draw_view(view, shown, lang)
    if view.pile_size > view.run:
        lines.append(f"  {word('pile', lang)}: {spaced(counts_text(view.pile))}")
    if view.legal_texts:
        lines.append(f"  {word('legal', lang)}: {', '.join(view.legal_texts)}")
    if event is not None:
        lines.append(f"  {word('last_action', lang)}: {event_sentence(event, lang, called, view.seat)}")
    return "\n".join(lines)


def as_json(view: View) -> dict[str, Any]:
    """The view as one JSON object; ranks are text in "lowest card" order, ``seats`` is indexed by absolute seat.

    ``known`` are the publicly known cards of an opponent's hand; the observer's own is null, as ``hand`` has them all.
    """
    players = view.players
    absolute = [(view.seat + relative) % players for relative in range(players)]
    seats: list[dict[str, Any]] = [{} for _ in absolute]
    for relative, seat in enumerate(absolute):
        seats[seat] = {
            "seat": seat,
            "you": relative == 0,
            "hand_size": view.hand_size(relative),
            "known": counts_text(view.known(relative)) if relative else None,
            "up": counts_text(view.up(relative)),
            "down": [bool(there) for there in view.down(relative)],
            "place": view.place(relative) or None,
        }
    return {
        "seat": view.seat,
        "players": players,
        "rules": str(view.rules),
        "phase": view.phase,
        "turn": None if view.turn is None else absolute[view.turn],
        "dealer": absolute[view.dealer],
        "opening": view.opening,
        "exchanges": view.exchanges,
        "hand": counts_text(view.hand),
        "seats": seats,
        "pile": counts_text(view.pile),
        "pile_size": view.pile_size,
        "top": None if view.top == NO_RANK else RANKS[view.top],
        "run": view.run,
        "burned": counts_text(view.burned),
        "stock": view.stock_size,
        "unseen": counts_text(view.unseen),
        "legal": view.legal_texts,
    }


__all__ = ["ansi", "as_json", "picture"]
