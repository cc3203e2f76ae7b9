"""House rules: the four tables, every option, and the rule card that tests cite by number.

Rule card
---------
====  =================  =============================================================================================
no.   about              the rule, in short
====  =================  =============================================================================================
R1    deck, ranks        52 cards (plus ``jokers``); ordinary ranks 3 4 5 6 7 8 9 J Q K A; 2, ten and joker are special
R2    deal               from the dealer's left: three rounds face-down, three face-up, ``hand_size`` to the hand
R3    zones              a turn's cards come from the hand, else the face-up cards, else the face-down ones
R4    what fits          anything on an empty pile or a 2; a 2, ten or joker on anything; else top rank or higher
R5    play, take         k cards of one rank, or take the pile; an empty pile only when nothing else can be done
R6    refill             after a play the hand is filled to three while the stock lasts; never after taking
R7    burn               a ten, a joker, or four of a rank on top remove the pile and give an extra turn
R8    twos               ``after_two``: whoever laid the 2 passes the turn on, or has an extra one
R9    next turn          clockwise to the next player who still has cards
R10   blind flip         a face-down card is turned onto the pile; one that does not fit is taken with the pile
R11   going out          a player without a card is out at once and hands any extra turn to the next player
R12   end                over when only ``losers`` players hold cards; idiots −1, the others share the gain equally
R13   exchange           ``swap``: before the start each player exchanges up to three cards, then says done
R14   starter            ``starter`` and ``starter_tie`` decide who begins
R15   opening            ``opening=lowest``: the first action is a play of the starter's lowest rank
R16   chance             from the hand, turn the top stock card and play it; if it does not fit, take it and the pile
R17   face-up take       ``with_card``: one face-up card joins the pile that is taken; ``alone``: the pile only
R18   exchange anytime   on one's own turn from the hand, as often as one had face-up cards when it began
R19   ten_on             ``below_ten``: tens and jokers fit only an empty pile, a 2, or a top card below ten
R20   last_two           whether a 2 may be the last card a player lays or flips
R21   seven_low          on a 7 an ordinary card must be lower than 7
R22   sneak_three        threes may be laid under the pile; the top stays and the turn passes
R23   runs               three or more neighbouring ordinary ranks at once; never burns, never skips
R24   skip_same          laying the rank that was on top skips the next player
R25   stack              lay a hand card on an own face-up card of its rank, then draw up to three
R26   hand_size          3 or 6 cards dealt to the hand
R27   jokers             two jokers that work as tens
R28   losers             one idiot or two
R29   knowledge          cards seen entering a hand stay known until played, and leave it first
R30   notation           actions, records and snapshots as text
====  =================  =============================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

OPTIONS: dict[str, tuple[str | int | bool, ...]] = {
    "swap": ("before", "never", "anytime"),
    "after_two": ("pass", "again"),
    "ten_on": ("any", "below_ten"),
    "chance": (False, True),
    "face_up_take": ("with_card", "alone"),
    "last_two": ("allowed", "forbidden", "blind_only"),
    "seven_low": (False, True),
    "sneak_three": (False, True),
    "runs": (False, True),
    "skip_same": (False, True),
    "stack": (False, True),
    "hand_size": (3, 6),
    "jokers": (0, 2),
    "losers": (1, 2),
    "starter": ("first_three", "lowest_hand", "left_of_dealer"),
    "starter_tie": ("nearest_left", "most_low", "left_of_dealer"),
    "opening": ("any", "lowest"),
}
"""Every option with its values, default first.  A rule's number for the engine is its value's place here."""

N_OPTIONS = len(OPTIONS)
(SWAP, AFTER_TWO, TEN_ON, CHANCE, FACE_UP_TAKE, LAST_TWO, SEVEN_LOW, SNEAK_THREE, RUNS, SKIP_SAME, STACK,
 HAND_SIZE, JOKERS, LOSERS, STARTER, STARTER_TIE, OPENING) = range(N_OPTIONS)  # fmt: skip
"""Places of the options in the engine's array of numbers."""

PRESETS: dict[str, dict[str, str | int | bool]] = {
    "standard": {},
    "norsk": {"swap": "never", "starter": "lowest_hand", "after_two": "again"},
    "sjanse": {
        "swap": "anytime",
        "starter": "lowest_hand",
        "starter_tie": "most_low",
        "chance": True,
        "face_up_take": "alone",
    },
    "familie": {
        "starter": "lowest_hand",
        "starter_tie": "left_of_dealer",
        "opening": "lowest",
        "chance": True,
        "face_up_take": "alone",
    },
}
"""The four tables as changes from the defaults."""

MIN_PLAYERS, MAX_PLAYERS = 2, 5


def value_text(value: str | int | bool) -> str:
    """An option's value as the command line writes it: booleans are yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _choices(name: str) -> str:
    return ", ".join(value_text(value) for value in OPTIONS[name])


def _check_name(name: object) -> None:
    if not isinstance(name, str) or name not in OPTIONS:
        raise ValueError(f"unknown option {name!r}: the options are {', '.join(OPTIONS)}.")


def _check_preset(name: object) -> None:
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"unknown table {name!r}: the tables are {', '.join(PRESETS)}.")


@dataclass(frozen=True)
class Rules:
    """One set of house rules; ``Rules()`` is the table ``standard``.

    Equal rules compare equal and hash equal; ``str(rules)`` is the short text that :meth:`parse` reads back and
    ``repr(rules)`` the expression that recreates them.

    Raises:
        ValueError: for a value that the option does not have, naming the values it has.
    """

    swap: str = "before"
    after_two: str = "pass"
    ten_on: str = "any"
    chance: bool = False
    face_up_take: str = "with_card"
    last_two: str = "allowed"
    seven_low: bool = False
    sneak_three: bool = False
    runs: bool = False
    skip_same: bool = False
    stack: bool = False
    hand_size: int = 3
    jokers: int = 0
    losers: int = 1
    starter: str = "first_three"
    starter_tie: str = "nearest_left"
    opening: str = "any"

    def __new__(cls, *args: Any, **options: Any) -> Rules:
        """Refuse an unknown option with the sentence that lists them all, before Python would with its own."""
        for name in options:
            _check_name(name)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, values in OPTIONS.items():
            value = getattr(self, name)
            # 1 == True in Python, so the type is compared as well.
            if not any(value == allowed and type(value) is type(allowed) for allowed in values):
                kind = " (as a boolean)" if isinstance(values[0], bool) else ""
                raise ValueError(f"{name}={value!r} is not possible: {name} is one of {_choices(name)}{kind}.")

    @classmethod
    def preset(cls, name: str, /, **changes: Any) -> Rules:
        """A table by name with changed options: ``Rules.preset("norsk", chance=True)``."""
        _check_preset(name)
        for option in changes:
            _check_name(option)
        return cls(**{**PRESETS[name], **changes})

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Rules from short text; the table's name may be left out.

        >>> Rules.parse("norsk chance=yes hand_size=6")
        Rules.preset('norsk', chance=True, hand_size=6)
        >>> str(Rules.parse("jokers=2"))
        'standard jokers=2'
        """
        words = text.split()
        name = words.pop(0) if words and "=" not in words[0] else "standard"
        _check_preset(name)
        return cls.preset(name, **parse_changes(words))

    @classmethod
    def make(cls, rules: Rules | str | Mapping[str, Any]) -> Rules:
        """Rules from what a user may hand over: rules, short text, or a mapping of changed options.

        A mapping may name its table under the key ``preset``.
        """
        if isinstance(rules, Rules):
            return rules
        if isinstance(rules, str):
            return cls.parse(rules)
        if isinstance(rules, Mapping):
            changes = dict(rules)
            for option in changes.keys() - {"preset"}:
                _check_name(option)
            return cls.preset(changes.pop("preset", "standard"), **changes)
        raise ValueError(f"{rules!r} is no set of rules: give Rules, a text such as 'norsk chance=yes', or a mapping.")

    @property
    def base(self) -> str:
        """The table from which the fewest options are changed (the earlier one on a tie)."""
        return min(PRESETS, key=lambda name: len(self._changes_from(name)))

    @property
    def changes(self) -> dict[str, str | int | bool]:
        """The options that differ from :attr:`base`."""
        return self._changes_from(self.base)

    def _changes_from(self, name: str) -> dict[str, str | int | bool]:
        table = PRESETS[name]
        return {
            option: getattr(self, option)
            for option, values in OPTIONS.items()
            if getattr(self, option) != table.get(option, values[0])
        }

    def as_dict(self) -> dict[str, str | int | bool]:
        """Every option with its value."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def numbers(self) -> npt.NDArray[np.int8]:
        """The options as the engine reads them: int8 ``[N_OPTIONS]``, each the value's place in ``OPTIONS``."""
        return np.array([OPTIONS[name].index(value) for name, value in self.as_dict().items()], dtype=np.int8)

    @classmethod
    def from_numbers(cls, numbers: npt.ArrayLike) -> Rules:
        """The inverse of :meth:`numbers`."""
        values = zip(OPTIONS, np.asarray(numbers).tolist(), strict=True)
        return cls(**{name: OPTIONS[name][place] for name, place in values})

    def check_players(self, players: int) -> int:
        """``players`` if this table seats them.

        Raises:
            ValueError: with the reason and what would be possible.
        """
        if isinstance(players, bool) or not isinstance(players, int | np.integer):
            raise ValueError(f"players={players!r} is not possible: give a whole number from 2 to 5.")
        if not MIN_PLAYERS <= players <= MAX_PLAYERS:
            raise ValueError(f"players={players} is not possible: Idiot is played by 2 to 5.")
        needed, deck = players * (6 + self.hand_size), 52 + self.jokers
        if needed > deck:
            raise ValueError(
                f"hand_size={self.hand_size} with players={players} is not possible: it needs {needed} cards and the "
                f"deck has {deck}; at most {deck // (6 + self.hand_size)} players, or hand_size=3."
            )
        if players <= self.losers:
            raise ValueError(
                f"losers={self.losers} with players={players} is not possible: two idiots need 3 players or more."
            )
        return int(players)

    def __str__(self) -> str:
        return " ".join([self.base, *(f"{name}={value_text(value)}" for name, value in self.changes.items())])

    def __repr__(self) -> str:
        changes = [f"{name}={value!r}" for name, value in self.changes.items()]
        if self.base == "standard":
            return f"Rules({', '.join(changes)})"
        return f"Rules.preset({', '.join([repr(self.base), *changes])})"


def parse_changes(words: list[str]) -> dict[str, str | int | bool]:
    """Changed options, as the command line writes them.

    >>> parse_changes(["chance=yes", "hand_size=6"])
    {'chance': True, 'hand_size': 6}
    """
    changes: dict[str, str | int | bool] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise ValueError(f"{word!r} is not a changed option: write option=value, such as chance=yes.")
        _check_name(name)
        by_text = {value_text(value): value for value in OPTIONS[name]}
        if isinstance(OPTIONS[name][0], bool):
            by_text |= {"true": True, "false": False, "True": True, "False": False}
        if text not in by_text:
            raise ValueError(f"{name}={text} is not possible: {name} is one of {_choices(name)}.")
        if name in changes:
            raise ValueError(f"{name} is given twice: once is enough.")
        changes[name] = by_text[text]
    return changes


__all__ = ["MAX_PLAYERS", "MIN_PLAYERS", "OPTIONS", "PRESETS", "Rules", "parse_changes", "value_text"]
