"""One seat's view as text, as a picture and as JSON.

Pure functions of a :class:`View` and the last :class:`Event`: what is not in those cannot be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from idiot_env.cards import NO_RANK, RANKS, counts_text
from idiot_env.events import Event
from idiot_env.picture import names_of, picture
from idiot_env.view import View
from idiot_env.words import card_count, check_lang, event_sentence, spaced, word

_HIDDEN, _GONE = "?", "·"


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
    rows = [_row(view, relative, called, lang) for relative in [*view.opponents, 0]]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]

    pile = f"{word('pile', lang)}: {word('empty', lang)}"
    if view.pile_size:
        top = f"{word('top', lang)} {RANKS[view.top]}" + (f", {view.run} {word('run', lang)}" if view.run > 1 else "")
        pile = f"{word('pile', lang)}: {card_count(view.pile_size, lang)} ({top}; {spaced(counts_text(view.pile))})"
    burned = f"{word('burned', lang)}: {int(view.burned.sum())}"
    lines += ["", f"  {pile}   {word('stock', lang)}: {view.stock_size}   {burned}"]
    lines.append(f"  {word('hand', lang)}: {spaced(counts_text(view.hand)) or '–'}")
    if view.legal_texts:
        lines.append(f"  {word('legal', lang)}: {', '.join(view.legal_texts)}")
    if event is not None:
        lines.append(f"  {word('last_action', lang)}: {event_sentence(event, lang, called, view.seat)}")
    return "\n".join(lines)


def _row(view: View, relative: int, names: Sequence[str], lang: str) -> tuple[str, str, str, str]:
    """Name, hand, face-up and face-down cards of one seat; an arrow marks whose turn it is."""
    name = names[(view.seat + relative) % view.players] + (f" ({word('you', lang)})" if relative == 0 else "")
    name = ("> " if view.turn == relative else "  ") + name + (" *" if view.dealer == relative else "")
    if view.place(relative):
        return name, f"{word('out', lang)} ({view.place(relative)})", "", ""
    hand = f"{word('hand', lang)}: {card_count(view.hand_size(relative), lang)}"
    known = spaced(counts_text(view.known(relative))) if relative else ""
    if known:
        hand += f" ({word('known', lang)}: {known})"
    up = f"{word('face_up', lang)}: {spaced(counts_text(view.up(relative))) or '–'}"
    down = " ".join(_HIDDEN if there else _GONE for there in view.down(relative))
    return name, hand, up, f"{word('face_down', lang)}: {down}"


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
