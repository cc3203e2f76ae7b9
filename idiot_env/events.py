"""What an action did, as everybody at the table saw it.

An :class:`Event` is read off the two states around an action and holds public facts only: the page, the terminal, the
picture and the log all tell the game from events.  No rule is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idiot_env import actions as A
from idiot_env import rules as R
from idiot_env.cards import NO_RANK, RANKS, TWO, cards_in
from idiot_env.engine import OVER, PHASES


@dataclass(frozen=True)
class Event:
    """One action and its public consequences; ranks are text such as ``"66"``."""

    seat: int
    action: str
    phase: str
    """Zone of the turn in which it was chosen: ``swap``, ``hand``, ``up`` or ``down``."""
    shown: str
    """The card that a flip or a chance draw turned up, else empty."""
    fitted: bool
    """Whether that card stayed on the pile (true for every other action)."""
    took: str
    """Ranks taken into the hand from the table, from the bottom of the pile up; empty if nothing was taken."""
    burned: str
    """Ranks of the burned pile from bottom to top, the cards just laid included; empty if nothing burned."""
    drew: int
    """Cards drawn from the stock into the hand; which ones is the player's secret."""
    skipped: int | None
    """The seat that was skipped."""
    place: int | None
    """The place of the player if it went out."""
    turn: int | None
    """Seat to act next; ``None`` when the game is over."""

    @property
    def again(self) -> bool:
        """Whether the same seat acts again."""
        return self.turn == self.seat


def _ranks(cards: list[int]) -> str:
    return "".join(RANKS[card // 4] for card in cards)


def _next_in(place: npt.NDArray[np.int8], players: int, seat: int) -> int:
    for step in range(1, players + 1):
        other = (seat + step) % players
        if place[other] == 0:
            return other
    raise ValueError("nobody is left in the game.")


def describe(before: np.void, action: int, after: np.void) -> Event:
    """The event between two states (records of ``STATE``)."""
    seat, players = int(before["turn"]), int(before["players"])
    pile_before = before["pile"][: before["pile_size"]].tolist()
    new_burned = int(after["burned"]) & ~int(before["burned"])
    shown, blind = "", A.FLIP <= action <= A.CHANCE
    blind_card = -1
    if blind:
        slot = action - A.FLIP
        blind_card = int(before["down"][seat, slot] if slot < 3 else before["stock"][before["stock_size"] - 1])
        shown = RANKS[blind_card // 4]

    gained = int(after["hand"][seat]) & ~int(before["hand"][seat])
    taken = int(after["known"][seat]) & gained if int(after["pile_size"]) == 0 and not new_burned else 0
    took = ""
    if taken and not A.SWAP <= action < A.STACK:
        from_pile = [card for card in pile_before if taken >> card & 1]
        took = _ranks(from_pile + cards_in(taken & ~sum(1 << card for card in from_pile)))
    fitted = not (blind and taken >> blind_card & 1)

    burned = ""
    if new_burned:
        laid = cards_in(new_burned & ~sum(1 << card for card in pile_before))
        burned = _ranks(laid + pile_before if A.SNEAK <= action < A.RUN else pile_before + laid)

    over = int(after["phase"]) == OVER
    turn = None if over else int(after["turn"])
    went_out = int(after["place"][seat]) if int(before["place"][seat]) == 0 and int(after["place"][seat]) else None
    skipped = None
    if not over and not burned and (action < A.TAKE or A.FLIP <= action <= A.CHANCE) and _skips(before, after):
        skipped = _next_in(after["place"], players, seat)
    drew = int(before["stock_size"]) - int(after["stock_size"]) - (action == A.CHANCE)
    return Event(
        seat=seat,
        action=A.TEXTS[action],
        phase=PHASES[int(before["phase"])],
        shown=shown,
        fitted=fitted,
        took=took,
        burned=burned,
        drew=drew,
        skipped=skipped,
        place=went_out,
        turn=turn,
    )


def _skips(before: np.void, after: np.void) -> bool:
    """Whether cards that burned nothing skipped a player: told by the tops, since with two players left a skip and the
    extra turn of a 2 both return to the same seat."""
    top, rules = int(after["top"]), before["rules"]
    extra = top == TWO and rules[R.AFTER_TWO] == 1
    return bool(rules[R.SKIP_SAME] == 1 and top == int(before["top"]) != NO_RANK and not extra)


__all__ = ["Event", "describe"]
