"""A seat's view drawn as a picture of the table, by Pillow, without a window and without fonts of the system.

Everything is laid out on a plane of ``WIDTH`` × ``HEIGHT`` points and drawn ``SCALE`` times as large, then shrunk: that
smooths every edge.  Pillow is imported late, because only pictures need it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from idiot_env.cards import JOKER, N_RANKS, RANKS, TEN, TWO, counts_text
from idiot_env.events import Event
from idiot_env.view import View
from idiot_env.words import card_count, check_lang, event_sentence, word

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

WIDTH, HEIGHT = 1280, 900
SCALE = 2

Color = tuple[int, int, int] | tuple[int, int, int, int]

_ROOM: Color = (24, 28, 27)
_WOOD, _WOOD_EDGE = (92, 62, 40), (58, 38, 24)
_FELT_LIGHT, _FELT_DARK = (47, 116, 84), (20, 66, 47)
_FELT_LINE: Color = (255, 255, 255, 26)
_PAPER, _PAPER_EDGE = (250, 247, 240), (176, 168, 150)
_INK, _SPECIAL = (38, 50, 72), (158, 43, 52)
_BACK, _BACK_LINE = (42, 70, 118), (117, 146, 196)
_GOLD = (240, 196, 92)
_TEXT, _QUIET = (242, 240, 230), (176, 200, 186)
_PLATE, _PLATE_IDIOT = (15, 44, 33), (120, 36, 40)
_SHADOW: Color = (0, 0, 0, 90)

_TINY, _SMALL, _MIDDLE, _LARGE = (46, 64), (58, 81), (66, 92), (82, 115)
"""Sizes of cards in points, from opponents' hands at a full table to the pile and the own hand."""
_DROP = 20
"""How far a face-up card lies below the face-down card it covers."""

Box = tuple[float, float, float, float]


def picture(
    view: View, event: Event | None = None, names: Sequence[str] | None = None, lang: str = "en"
) -> npt.NDArray[np.uint8]:
    """The table as ``view`` sees it, uint8 ``[HEIGHT, WIDTH, 3]``.

    Args:
        event: what the last action did.
        names: one for each absolute seat.
        lang: ``"no"`` or ``"en"``.
    """
    check_lang(lang)
    table = _Table(view, names_of(view, names, lang), lang)
    table.draw(event)
    return table.canvas.pixels()


def names_of(view: View, names: Sequence[str] | None, lang: str) -> list[str]:
    """The given names, or plain ones, by absolute seat.

    Raises:
        ValueError: for a number of names that is not the number of players.
    """
    if names is None:
        return [f"{word('player', lang)} {seat}" for seat in range(view.players)]
    if len(names) != view.players:
        raise ValueError(f"names has {len(names)} entries: give one for each of the {view.players} players.")
    return [str(name) for name in names]


def slots_of(up: str, slots: int) -> list[str]:
    """Face-up ranks as they lie on the slots; equal ranks share one where there are more cards than slots (R25)."""
    lying = [""] * slots
    if len(up) <= slots:
        lying[: len(up)] = up
        return lying
    for place, rank in enumerate(dict.fromkeys(up)):
        lying[place % slots] += rank * up.count(rank)
    return lying


# --- letters ---------------------------------------------------------------------------------------------------------


@cache
def _font(size: int) -> FreeTypeFont:
    from PIL import ImageFont

    font = ImageFont.load_default(size=size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("this Pillow was built without FreeType: pictures need it to write text.")
    return font


_PLAIN = {"–": "-", "—": "-", "×": "x", "’": "'", "−": "-"}
_COMPOSED = {"å": "a", "Å": "A", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE"}
"""Letters that Pillow's own font lacks, and what they are drawn from."""
_OVERLAP = {"æ": 0.09, "Æ": 0.14}


def writable(text: str) -> str:
    """``text`` without what neither the font nor a composed letter can show: accents fall off, the rest is ``?``."""
    out = ""
    for sign in unicodedata.normalize("NFC", text):
        if " " <= sign <= "~" or sign in _COMPOSED or sign in "·…":
            out += sign
        elif sign in _PLAIN:
            out += _PLAIN[sign]
        else:
            base = unicodedata.normalize("NFKD", sign)[0]
            out += base if " " <= base <= "~" else "?"
    return out


def _pieces(text: str, font: FreeTypeFont) -> list[tuple[str, str, float]]:
    """Runs of letters the font has, and single composed ones: ``(letter or "", what to write, width)``."""
    runs: list[tuple[str, str]] = []
    for sign in writable(text):
        if sign in _COMPOSED:
            runs.append((sign, _COMPOSED[sign]))
        elif runs and not runs[-1][0]:
            runs[-1] = ("", runs[-1][1] + sign)
        else:
            runs.append(("", sign))
    return [(sign, base, font.getlength(base) - _OVERLAP.get(sign, 0) * font.size) for sign, base in runs]


def _compose(draw: ImageDraw, x: float, y: float, sign: str, base: str, font: FreeTypeFont, fill: Color) -> None:
    """One Norwegian letter with its baseline at ``y``, from letters the font has."""
    em = font.size
    width = font.getlength(base)
    stroke = max(1, round(em * 0.065))
    draw.text((x, y), base[0], font=font, fill=fill, anchor="ls")
    if sign in "æÆ":
        draw.text((x + font.getlength(base[0]) - _OVERLAP[sign] * em, y), base[1], font=font, fill=fill, anchor="ls")
    elif sign in "åÅ":
        middle, radius = x + width / 2, em * 0.095
        center = y - em * (0.68 if sign == "å" else 0.83)
        draw.ellipse((middle - radius, center - radius, middle + radius, center + radius), outline=fill, width=stroke)
    else:
        height = em * (0.56 if sign == "ø" else 0.76)
        inset = width * 0.1
        draw.line((x + inset, y + em * 0.04, x + width - inset, y - height), fill=fill, width=stroke)


# --- a canvas in points ----------------------------------------------------------------------------------------------


class _Canvas:
    """A picture with drawing in points."""

    def __init__(self) -> None:
        from PIL import ImageDraw

        self.image = _background().copy()
        self.brush = ImageDraw.Draw(self.image, "RGBA")

    def pixels(self) -> npt.NDArray[np.uint8]:
        return np.asarray(self.image.reduce(SCALE), dtype=np.uint8).copy()

    def box(
        self, box: Box, fill: Color | None, radius: float = 8, outline: Color | None = None, line: float = 1
    ) -> None:
        scaled = [round(edge * SCALE) for edge in box]
        self.brush.rounded_rectangle(scaled, round(radius * SCALE), fill, outline, round(line * SCALE))

    def disc(self, x: float, y: float, radius: float, fill: Color, outline: Color | None = None) -> None:
        ends = [round(edge * SCALE) for edge in (x - radius, y - radius, x + radius, y + radius)]
        self.brush.ellipse(ends, fill, outline, SCALE)

    def shape(self, points: Sequence[tuple[float, float]], fill: Color) -> None:
        self.brush.polygon([(x * SCALE, y * SCALE) for x, y in points], fill)

    def width_of(self, text: str, size: float) -> float:
        return sum(width for _, _, width in _pieces(text, _font(round(size * SCALE)))) / SCALE

    def text(
        self, x: float, y: float, text: str, size: float, fill: Color = _TEXT, align: str = "middle", bold: bool = False
    ) -> None:
        """Text whose middle height is at ``y``; ``align`` says what ``x`` is: left, middle or right."""
        font = _font(round(size * SCALE))
        width = self.width_of(text, size)
        left = (x - {"left": 0.0, "middle": width / 2, "right": width}[align]) * SCALE
        baseline = y * SCALE + font.size * 0.355
        for sign, letters, advance in _pieces(text, font):
            for shift in (0.0, font.size * 0.035) if bold else (0.0,):
                if sign:
                    _compose(self.brush, left + shift, baseline, sign, letters, font, fill)
                else:
                    self.brush.text((left + shift, baseline), letters, font=font, fill=fill, anchor="ls")
            left += advance

    def shortened(self, text: str, size: float, room: float) -> str:
        """``text`` cut to ``room`` points."""
        if len(text) * size < room or self.width_of(text, size) <= room:
            return text
        text = text[: round(6 * room / size)]  # no letter is narrower than a sixth of its height
        while text and self.width_of(text + "…", size) > room:
            text = text[:-1]
        return text.rstrip() + "…"

    def wrapped(self, text: str, size: float, room: float, lines: int) -> list[str]:
        """``text`` in lines of at most ``room`` points, the last one shortened."""
        found = [""]
        words = text.split()
        for place, one in enumerate(words):
            longer = f"{found[-1]} {one}".strip()
            if self.width_of(longer, size) <= room or not found[-1]:
                found[-1] = longer
            elif len(found) < lines:
                found.append(one)
            else:
                found[-1] = self.shortened(" ".join([found[-1], *words[place:]]), size, room)
                break
        return found

    def stamp(self, card: Image, x: float, y: float, angle: float = 0.0) -> None:
        """A card with its upper left corner at ``(x, y)``, turned around its middle."""
        from PIL import Image

        if angle:
            turned = card.rotate(angle, Image.Resampling.BICUBIC, expand=True)
            x -= (turned.width - card.width) / 2 / SCALE
            y -= (turned.height - card.height) / 2 / SCALE
            card = turned
        self.image.paste(card, (round(x * SCALE), round(y * SCALE)), card)


@cache
def _background() -> Image:
    """The room, the wooden rim and the felt."""
    from PIL import Image, ImageDraw, ImageFilter

    width, height = WIDTH * SCALE, HEIGHT * SCALE
    down, across = np.mgrid[0:HEIGHT, 0:WIDTH]
    distance = np.hypot((across - WIDTH / 2) / (WIDTH * 0.62), (down - HEIGHT * 0.47) / (HEIGHT * 0.68))
    fade = np.clip(distance, 0, 1)[..., None] ** 1.6
    felt = np.array(_FELT_LIGHT) * (1 - fade) + np.array(_FELT_DARK) * fade
    # A fixed grain keeps the felt from looking like plastic and the gradient from banding.
    felt += np.random.default_rng(7).normal(0, 2.2, (HEIGHT, WIDTH, 1))
    image = Image.new("RGB", (width, height), _ROOM)
    rim = [round(edge * SCALE) for edge in (14, 14, WIDTH - 14, HEIGHT - 14)]
    inner = [rim[0] + 20 * SCALE, rim[1] + 20 * SCALE, rim[2] - 20 * SCALE, rim[3] - 20 * SCALE]
    ImageDraw.Draw(image).rounded_rectangle(rim, 96 * SCALE, _WOOD, _WOOD_EDGE, 3 * SCALE)
    mask = Image.new("L", (width, height), 0)
    ImageDraw.Draw(mask).rounded_rectangle(inner, 78 * SCALE, 255)
    cloth = Image.fromarray(np.clip(felt, 0, 255).astype(np.uint8))
    image.paste(cloth.resize((width, height), Image.Resampling.BICUBIC), (0, 0), mask)
    shade = Image.new("L", (width, height), 0)
    ImageDraw.Draw(shade).rounded_rectangle(inner, 78 * SCALE, None, 255, 7 * SCALE)
    shade = shade.filter(ImageFilter.GaussianBlur(5 * SCALE)).point([level * 6 // 10 for level in range(256)])
    image.paste(Image.new("RGB", (width, height), (0, 0, 0)), (0, 0), shade)
    ring = [inner[0] + 10 * SCALE, inner[1] + 10 * SCALE, inner[2] - 10 * SCALE, inner[3] - 10 * SCALE]
    ImageDraw.Draw(image, "RGBA").rounded_rectangle(ring, 68 * SCALE, None, _FELT_LINE, 2 * SCALE)
    return image


# --- cards -----------------------------------------------------------------------------------------------------------


def _blank(size: tuple[int, int], fill: Color, edge: Color) -> tuple[Image, Any]:
    """A card without a face, with the room around it for its shadow."""
    from PIL import Image, ImageDraw, ImageFilter

    width, height = size[0] * SCALE, size[1] * SCALE
    radius = round(size[0] * 0.1) * SCALE
    image = Image.new("RGBA", (width + 4 * SCALE, height + 4 * SCALE), (0, 0, 0, 0))
    shadow = Image.new("RGBA", image.size, (0, 0, 0, 0))
    ImageDraw.Draw(shadow).rounded_rectangle((SCALE, SCALE, width + SCALE, height + 2 * SCALE), radius, _SHADOW)
    image.alpha_composite(shadow.filter(ImageFilter.GaussianBlur(1.3 * SCALE)))
    brush = ImageDraw.Draw(image)
    brush.rounded_rectangle((0, 0, width - 1, height - 1), radius, fill, edge, SCALE // 2 or 1)
    return image, brush


def _star(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    turns = [(math.pi * point / 5 - math.pi / 2, radius if point % 2 == 0 else radius * 0.42) for point in range(10)]
    return [(x + far * math.cos(turn), y + far * math.sin(turn)) for turn, far in turns]


@cache
def _face(rank: int, size: tuple[int, int]) -> Image:
    """A face-up card: views know ranks and no suits, so the ornament is the same for all."""
    image, brush = _blank(size, _PAPER, _PAPER_EDGE)
    width, height = size[0] * SCALE, size[1] * SCALE
    color = _SPECIAL if rank in (TEN, TWO, JOKER) else _INK
    pale, softer = (
        tuple(round((1 - share) * paper + share * ink) for paper, ink in zip(_PAPER, color)) for share in (0.12, 0.4)
    )
    middle = (width / 2, height * 0.54)
    reach = width * 0.34
    brush.ellipse((middle[0] - reach, middle[1] - reach, middle[0] + reach, middle[1] + reach), pale)
    for turn in range(8):
        angle = math.pi * turn / 4 + math.pi / 8
        x, y = middle[0] + reach * math.cos(angle), middle[1] + reach * math.sin(angle)
        dot = width * 0.026
        brush.ellipse((x - dot, y - dot, x + dot, y + dot), softer)
    _sign(brush, rank, middle, width * 0.52, color)
    _sign(brush, rank, (width * (0.21 if rank == TEN else 0.185), height * 0.13), width * 0.29, color)
    corner = image.crop((SCALE, SCALE, round(width * 0.36), round(height * 0.22)))
    image.paste(corner.rotate(180), (width - SCALE - corner.width, height - SCALE - corner.height))
    return image


def _sign(brush: Any, rank: int, middle: tuple[float, float], size: float, color: Color) -> None:
    """A rank's sign around ``middle``, a little bold; the joker's is a star."""
    if rank == JOKER:
        brush.polygon(_star(*middle, size * 0.46), color)
        return
    font = _font(round(size * (0.86 if rank == TEN else 1)))
    for shift in (-0.02, 0.02):
        place = (middle[0] + shift * font.size, middle[1])
        brush.text(place, "10" if rank == TEN else RANKS[rank], font=font, fill=color, anchor="mm")


@cache
def _back(size: tuple[int, int], quiet: bool = False) -> Image:
    """The back of a card; ``quiet``: of a burned one."""
    fill, line = ((70, 62, 58), (112, 100, 92)) if quiet else (_BACK, _BACK_LINE)
    paper: Color = (150, 142, 132) if quiet else _PAPER
    image, brush = _blank(size, paper, _PAPER_EDGE)
    width, height = size[0] * SCALE, size[1] * SCALE
    inset = round(size[0] * 0.075) * SCALE
    brush.rounded_rectangle((inset, inset, width - inset, height - inset), inset, fill)
    across = 5
    step = (width - 2 * inset) / across
    rows = round((height - 2 * inset) / step)
    step_down = (height - 2 * inset) / rows
    for row in range(rows):
        for column in range(across):
            x, y = inset + (column + 0.5) * step, inset + (row + 0.5) * step_down
            reach, high = step * 0.34, step_down * 0.34
            points = [(x, y - high), (x + reach, y), (x, y + high), (x - reach, y)]
            brush.polygon(points, None, line, max(1, SCALE // 2))
    return image


# --- the table -------------------------------------------------------------------------------------------------------


class _Table:
    """Puts one view on a canvas."""

    def __init__(self, view: View, names: list[str], lang: str) -> None:
        self.view = view
        self.names = names
        self.lang = lang
        self.canvas = _Canvas()

    def word(self, key: str) -> str:
        return word(key, self.lang)

    def name(self, relative: int) -> str:
        return self.names[(self.view.seat + relative) % self.view.players]

    def draw(self, event: Event | None) -> None:
        opponents = list(self.view.opponents)
        room = (WIDTH - 120) / len(opponents)
        for place, relative in enumerate(opponents):
            # The seats bend around the table: the outer ones sit a little lower.
            bend = abs(place - (len(opponents) - 1) / 2) / max(1, len(opponents) - 1)
            self.opponent(relative, 60 + room * (place + 0.5), 54 + 26 * bend, min(room - 24, 330))
        self.stock(WIDTH / 2 - 330, 340)
        self.pile(WIDTH / 2, 340)
        self.burned(WIDTH / 2 + 330, 340)
        self.observer()
        self.banner(event)

    # --- seats ---

    def plate(self, relative: int, x: float, y: float, room: float, align: str = "middle") -> None:
        """The name of a player with its hand's size; gold while it is to act."""
        view, canvas = self.view, self.canvas
        acts, place = view.turn == relative, view.place(relative)
        idiot = view.phase == "over" and not place
        name = self.name(relative) + (f" ({self.word('you')})" if relative == 0 else "")
        if place:
            note = f"{self.word('out')} · {place}."
        elif idiot:
            note = self.word("idiot")
        else:
            note = card_count(view.hand_size(relative), self.lang)
        note_width = canvas.width_of(note, 14)
        dealer = 30 if view.dealer == relative else 0
        name = canvas.shortened(name, 18, room - note_width - dealer - 50)
        width = canvas.width_of(name, 18) + note_width + dealer + 46
        left = x - (width if align == "right" else width / 2)
        right = left + width
        fill = _PLATE_IDIOT if idiot else _PLATE
        if acts:
            canvas.box((left - 4, y - 20, right + 4, y + 20), (*_GOLD, 70), 20)
        edge: Color = _GOLD if acts else (255, 255, 255, 40)
        canvas.box((left, y - 16, right, y + 16), (*fill, 235), 16, edge, 2 if acts else 1)
        if acts:
            canvas.shape([(left - 20, y - 8), (left - 8, y), (left - 20, y + 8)], _GOLD)
        canvas.text(left + 16, y, name, 18, _QUIET if place else _TEXT, "left", bold=True)
        canvas.text(right - 16 - dealer, y, note, 14, _GOLD if acts else _QUIET, "right")
        if dealer:
            canvas.disc(right - 20, y, 11, _PAPER, _PAPER_EDGE)
            canvas.text(right - 20, y, self.word("dealer")[0].upper(), 13, _INK, bold=True)

    def fan(self, faces: Sequence[int | None], x: float, y: float, size: tuple[int, int], room: float) -> None:
        """Cards side by side around ``x``, closer where there are many; ``None`` is a back."""
        if not faces:
            return
        step = min(size[0] + 6.0, (room - size[0]) / max(1, len(faces) - 1))
        left = x - (step * (len(faces) - 1) + size[0]) / 2
        for place, rank in enumerate(faces):
            card = _back(size) if rank is None else _face(rank, size)
            self.canvas.stamp(card, left + place * step, y)

    def slots(self, relative: int, x: float, y: float, size: tuple[int, int], gap: float) -> None:
        """The face-down cards with the face-up cards on them."""
        down = self.view.down(relative)
        ups = slots_of(counts_text(self.view.up(relative)), len(down))
        left = x - (len(down) * size[0] + (len(down) - 1) * gap) / 2
        for slot, there in enumerate(down):
            corner = left + slot * (size[0] + gap)
            if there:
                self.canvas.stamp(_back(size), corner, y)
            else:
                self.canvas.box((corner, y, corner + size[0], y + size[1]), None, size[0] * 0.1, _FELT_LINE, 1.5)
            for depth, rank in enumerate(ups[slot]):
                self.canvas.stamp(_face(RANKS.index(rank), size), corner + 3 * depth, y + _DROP + 14 * depth)

    def opponent(self, relative: int, x: float, y: float, room: float) -> None:
        view = self.view
        self.plate(relative, x, y + 12, room)
        if view.place(relative):
            return
        known = [rank for rank in range(N_RANKS) for _ in range(int(view.known(relative)[rank]))]
        hidden = view.hand_size(relative) - len(known)
        hand_size, slot_size = (_TINY, _SMALL) if view.players > 3 else (_SMALL, _MIDDLE)
        self.fan([None] * hidden + list(known), x, y + 38, hand_size, room)
        self.slots(relative, x, y + 50 + hand_size[1], slot_size, 10)

    def observer(self) -> None:
        view = self.view
        self.plate(0, WIDTH / 2 - 150, 592, 340, "right")
        self.canvas.text(WIDTH / 2 + 150, 592, self.canvas.shortened(str(view.rules), 14, 400), 14, _QUIET, "left")
        if view.place():
            return
        self.slots(0, WIDTH / 2, 534, _MIDDLE, 12)
        hand = [rank for rank in range(N_RANKS) for _ in range(int(view.hand[rank]))]
        self.fan(hand, WIDTH / 2, 660, _LARGE, WIDTH - 220)

    # --- the middle ---

    def label(self, x: float, y: float, title: str, note: str) -> None:
        self.canvas.text(x, y, title, 16, _TEXT, bold=True)
        self.canvas.text(x, y + 20, note, 14, _QUIET)

    def stock(self, x: float, y: float) -> None:
        size = self.view.stock_size
        left, top = x - _LARGE[0] / 2, y
        if size:
            for layer in range(1 + size // 6):
                self.canvas.stamp(_back(_LARGE), left - 2 * layer, top - 2 * layer)
        else:
            self.canvas.box((left, top, left + _LARGE[0], top + _LARGE[1]), None, 8, _FELT_LINE, 2)
        self.label(x, y + _LARGE[1] + 20, self.word("stock"), card_count(size, self.lang))

    def burned(self, x: float, y: float) -> None:
        size = int(self.view.burned.sum())
        left, top = x - _LARGE[0] / 2, y
        if size:
            for layer in range(1 + size // 8):
                turn = (17 * layer + 5) % 23 - 11
                self.canvas.stamp(_back(_LARGE, quiet=True), left + (5 * layer) % 9 - 4, top - layer, turn)
            self.flame(x, top + _LARGE[1] * 0.62, 26)
        else:
            self.canvas.box((left, top, left + _LARGE[0], top + _LARGE[1]), None, 8, _FELT_LINE, 2)
        self.label(x, y + _LARGE[1] + 20, self.word("burned"), card_count(size, self.lang))

    def flame(self, x: float, y: float, size: float) -> None:
        for reach, color in ((1.0, (206, 88, 44)), (0.66, (236, 150, 62)), (0.36, (250, 218, 132))):
            points = []
            for step in range(41):
                turn = 2 * math.pi * step / 40
                # A drop: a circle that narrows to a tip at the top, bent a little to one side.
                wide = size * reach * math.sin(turn) * (0.5 - 0.5 * math.cos(turn)) ** 0.75
                high = -size * 1.15 * reach * math.cos(turn)
                points.append((x + wide - 0.12 * high * math.sin(high / size), y + (1 - reach) * 0.8 * size + high))
            self.canvas.shape(points, color)

    def pile(self, x: float, y: float) -> None:
        view = self.view
        size, run = view.pile_size, view.run
        left = x - _LARGE[0] / 2
        if not size:
            self.canvas.box((left, y, left + _LARGE[0], y + _LARGE[1]), None, 8, _FELT_LINE, 2)
            self.label(x, y + _LARGE[1] + 20, self.word("pile"), self.word("empty"))
            return
        # The order below the run is not part of a view: those cards show only that they are there.
        for layer in range(min(size - run, 7)):
            turn = (29 * layer + 11) % 37 - 18
            self.canvas.stamp(_blank(_LARGE, _PAPER, _PAPER_EDGE)[0], left + (11 * layer) % 17 - 8, y - layer, turn)
        for place in range(run):
            aside = place - (run - 1) / 2
            self.canvas.stamp(_face(view.top, _LARGE), left + 30 * aside, y + 3 * abs(aside), -5 * aside)
        note = card_count(size, self.lang) + (f", {run} {self.word('run')}" if run > 1 else "")
        self.label(x, y + _LARGE[1] + 20, self.word("pile"), note)
        if size > run:
            ranks = " ".join("10" if rank == "T" else rank for rank in counts_text(view.pile))
            self.canvas.text(x, y + _LARGE[1] + 60, self.canvas.shortened(ranks, 13, 470), 13, _QUIET)

    # --- words ---

    def banner(self, event: Event | None) -> None:
        """What happened last, and whose turn it is."""
        view, canvas = self.view, self.canvas
        top, bottom = HEIGHT - 112, HEIGHT - 56
        canvas.box((96, top, WIDTH - 96, bottom), (8, 26, 19, 215), 16)
        if view.turn is None:
            status = self.word("over")
        elif view.turn == 0:
            status = f"{self.word('your_turn')}: {self.word('phase_' + view.phase)}"
        else:
            status = f"{self.name(view.turn)}: {self.word('phase_' + view.phase)}"
        status = canvas.shortened(status[:1].upper() + status[1:], 16, 380)
        room = WIDTH - 280 - canvas.width_of(status, 16)
        canvas.text(WIDTH - 120, (top + bottom) / 2, status, 16, _GOLD, "right")
        sentence = event_sentence(event, self.lang, self.names, view.seat) if event else ""
        lines = canvas.wrapped(sentence, 16, room, 2)
        for place, line in enumerate(lines):
            canvas.text(120, (top + bottom) / 2 + (place - (len(lines) - 1) / 2) * 22, line, 16, _TEXT, "left")


__all__ = ["picture"]
