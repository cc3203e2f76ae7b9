"""The table as lines of text: from one seat's view, or with all cards open for a referee.

Pure functions.  The drawing from a view gets nothing else, so it cannot show what the seat may not know.  Whoever shows
the lines may pass a ``style`` that makes words bold or dim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from idiot_env.cards import NO_RANK, RANKS, counts_text
from idiot_env.view import View
from idiot_env.words import card_count, spaced, word

_HIDDEN = "?"
_GONE = "·"


class Style(Protocol):
    """Dresses a text in styles by name: ``bold``, ``dim``, ``green``."""

    def __call__(self, text: str, *names: str) -> str: ...


def plain(text: str, *names: str) -> str:
    """The style of plain text: none."""
    return text


@dataclass(frozen=True)
class Row:
    """One seat at the table, as text."""

    name: str
    hand: str
    up: str
    down: str
    acts: bool
    dealer: bool
    status: str
    """Empty while the player is in the game."""


def grouped(ranks: str) -> str:
    """Ranks in groups of equals: ``3  6 6  10``."""
    return "  ".join(spaced(rank * ranks.count(rank)) for rank in dict.fromkeys(ranks))


def _status(place: int, over: bool, lang: str) -> str:
    if place:
        return f"{word('out', lang)}, {word('place', lang)} {place}"
    return word("idiot", lang) if over else ""


def rows_of_view(view: View, names: Sequence[str], lang: str) -> list[Row]:
    """The seats from the observer's left on, the observer last; ``names`` by absolute seat."""
    rows = []
    for relative in [*view.opponents, 0]:
        if relative:
            known = counts_text(view.known(relative))
            hand = card_count(view.hand_size(relative), lang)
            hand += f" ({word('known', lang)}: {spaced(known)})" if known else ""
        else:
            hand = card_count(view.hand_size(), lang)
        rows.append(
            Row(
                name=names[(view.seat + relative) % view.players],
                hand=hand,
                up=grouped(counts_text(view.up(relative))),
                down=" ".join(_HIDDEN if there else _GONE for there in view.down(relative)),
                acts=view.turn == relative,
                dealer=view.dealer == relative,
                status=_status(view.place(relative), view.phase == "over", lang),
            )
        )
    return rows


def rows_of_snapshot(snapshot: dict[str, Any], names: Sequence[str], dealer: int, lang: str) -> list[Row]:
    """All seats from 0 on with every card open: for referees."""
    out = snapshot["out"]
    over = snapshot["phase"] == "over"
    return [
        Row(
            name=name,
            hand=grouped(snapshot["hand"][seat]),
            up=grouped(snapshot["up"][seat]),
            down=spaced(snapshot["down"][seat]).replace(".", _GONE),
            acts=snapshot["turn"] == seat,
            dealer=dealer == seat,
            status=_status(out.index(seat) + 1 if seat in out else 0, over, lang),
        )
        for seat, name in enumerate(names)
    ]


def draw_rows(rows: Sequence[Row], lang: str, style: Style = plain) -> list[str]:
    """The seats as aligned columns; the one to act is marked."""
    heads = ("", *(word(key, lang) for key in ("hand", "face_up", "face_down")))
    cells = []
    for row in rows:
        name = row.name + (f" ({word('dealer', lang)})" if row.dealer else "")
        if row.status:
            cells.append((name, row.status, "", ""))
        else:
            cells.append((name, row.hand or "–", row.up or "–", row.down))
    widths = [max(len(head), *(len(line[column]) for line in cells)) for column, head in enumerate(heads)]
    lines = ["  " + _columns(heads, widths)]
    for row, line in zip(rows, cells, strict=True):
        text = ("> " if row.acts else "  ") + _columns(line, widths)
        lines.append(style(text, "bold") if row.acts else style(text, "dim") if row.status else text)
    return [style(lines[0], "dim"), *lines[1:]]


def _columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "   ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def pile_line(view: View, lang: str) -> str:
    """What lies on the pile, and how many cards are left and gone."""
    pile = word("empty", lang)
    if view.top != NO_RANK:
        top = spaced(RANKS[view.top] * view.run)
        pile = f"[ {top} ] {word('on_top', lang)}, {card_count(view.pile_size, lang)}"
    return _pile_stock_burned(pile, view.stock_size, int(view.burned.sum()), lang)


def pile_line_open(snapshot: dict[str, Any], lang: str) -> str:
    """The same for referees, with the whole pile."""
    pile = f"{spaced(snapshot['pile'])} ({card_count(len(snapshot['pile']), lang)})" if snapshot["pile"] else ""
    return _pile_stock_burned(pile or word("empty", lang), len(snapshot["stock"]), len(snapshot["burned"]), lang)


def _pile_stock_burned(pile: str, stock: int, burned: int, lang: str) -> str:
    return f"{word('pile', lang)}: {pile}   {word('stock', lang)}: {stock}   {word('burned', lang)}: {burned}"


def draw_view(view: View, names: Sequence[str], lang: str, style: Style = plain) -> list[str]:
    """The table as one seat sees it."""
    hand = grouped(counts_text(view.hand)) or "–"
    return [
        *draw_rows(rows_of_view(view, names, lang), lang, style),
        "",
        "  " + pile_line(view, lang),
        f"  {word('hand', lang)}: {style(hand, 'bold', 'green')}",
    ]


def draw_open(
    snapshot: dict[str, Any], names: Sequence[str], dealer: int, lang: str, style: Style = plain
) -> list[str]:
    """The table with every card open: for referees."""
    return [
        *draw_rows(rows_of_snapshot(snapshot, names, dealer, lang), lang, style),
        "",
        "  " + pile_line_open(snapshot, lang),
        f"  {word('stock', lang)}: {spaced(snapshot['stock']) or '–'}",
    ]
