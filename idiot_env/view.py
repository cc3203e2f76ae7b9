"""A seat's view: the observation and the action mask with readable accessors.  This is all an honest agent receives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from idiot_env.actions import TEXTS
from idiot_env.cards import NO_RANK
from idiot_env.engine import PHASES
from idiot_env.observation import LAYOUT, OPPONENTS
from idiot_env.rules import Rules

Counts = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class View:
    """What one seat may see; seats are relative to it (0 itself, 1 the next clockwise).

    Attributes:
        observation: int8 ``[O]``, see ``observation.LAYOUT``.
        action_mask: int8 ``[A]``, 1 for a legal action; all zero when it is not this seat's turn.
        seat: the absolute seat number, only a name: nothing in the game depends on it.
    """

    observation: npt.NDArray[np.int8]
    action_mask: npt.NDArray[np.int8]
    seat: int

    def block(self, name: str) -> Counts:
        """A block of the observation by its name in ``LAYOUT``, in its shape."""
        block = LAYOUT[name]
        values: Counts = self.observation[block.slice].reshape(block.shape)
        return values

    def number(self, name: str) -> int:
        """A block of a single number."""
        return int(self.observation[LAYOUT[name].start])

    @cached_property
    def rules(self) -> Rules:
        return Rules.from_numbers(self.block("rules"))

    @property
    def players(self) -> int:
        return self.number("players")

    @property
    def legal(self) -> npt.NDArray[np.intp]:
        """Ids of the legal actions."""
        return np.flatnonzero(self.action_mask)

    @property
    def legal_texts(self) -> list[str]:
        """Texts of the legal actions, sorted."""
        return sorted(TEXTS[action] for action in self.legal)

    @property
    def hand(self) -> Counts:
        """Own hand by rank, ``[14]``."""
        return self.block("hand")

    def up(self, relative: int = 0) -> Counts:
        """A seat's face-up cards by rank, ``[14]``."""
        return self.block("up") if relative == 0 else self.block("opp_up")[relative - 1]

    def down(self, relative: int = 0) -> Counts:
        """A seat's face-down slots that hold a card, ``[3]`` of 0 and 1."""
        return self.block("down") if relative == 0 else self.block("opp_down")[relative - 1]

    def known(self, relative: int) -> Counts:
        """An opponent's publicly known hand cards by rank, ``[14]``."""
        known: Counts = self.block("opp_known")[relative - 1]
        return known

    def hand_size(self, relative: int = 0) -> int:
        """Cards in a hand."""
        return int(self.hand.sum()) if relative == 0 else int(self.block("opp_hand")[relative - 1])

    def place(self, relative: int = 0) -> int:
        """1 for the first who went out, 0 for a player still in."""
        return int(self.block("place")[relative])

    @property
    def opponents(self) -> range:
        """Relative seats of the opponents at the table."""
        return range(1, min(self.players, OPPONENTS + 1))

    @property
    def pile(self) -> Counts:
        """The pile by rank, ``[14]``."""
        return self.block("pile")

    @property
    def pile_size(self) -> int:
        return self.number("pile_size")

    @property
    def top(self) -> int:
        """Rank on top of the pile; −1 when it is empty."""
        top = self.block("top")
        return int(top.argmax()) if top.any() else NO_RANK

    @property
    def run(self) -> int:
        return self.number("run")

    @property
    def burned(self) -> Counts:
        return self.block("burned")

    @property
    def stock_size(self) -> int:
        return self.number("stock")

    @property
    def unseen(self) -> Counts:
        """Cards by rank that may be anywhere this seat cannot see, ``[14]``."""
        return self.block("unseen")

    @property
    def phase(self) -> str:
        """``swap``, ``hand``, ``up``, ``down`` or ``over``."""
        return PHASES[int(self.block("zone").argmax())]

    @property
    def turn(self) -> int | None:
        """Relative seat to act; ``None`` when the game is over."""
        turn = self.block("turn")
        return int(turn.argmax()) if turn.any() else None

    @property
    def dealer(self) -> int:
        return int(self.block("dealer").argmax())

    @property
    def opening(self) -> bool:
        """The first action must be a play of the starter's lowest rank."""
        return bool(self.number("opening"))

    @property
    def exchanges(self) -> int:
        """Exchanges that the seat to act may still make."""
        return self.number("exchanges")


__all__ = ["View"]
