"""One game for people and tools: a given deck, actions as text, snapshots, records, undo by copy.

A :class:`Game` sees everything: it is for referees.  Whoever plays gets :meth:`Game.view`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from idiot_env import actions, engine
from idiot_env.cards import RANKS, card_text, parse_card, ranks_text
from idiot_env.engine import NO_CARD, OVER, PHASES, STATE
from idiot_env.events import Event, describe
from idiot_env.observation import observe
from idiot_env.rules import Rules
from idiot_env.view import View

RECORD_FORMAT = "idiot-record/1"


class IllegalAction(ValueError):
    """An action that the rules do not allow now; the message names what was legal."""


class RecordError(ValueError):
    """A game record that cannot be replayed; the message says where and why."""


def seed_number(seed: int) -> int:
    """A seed as the engine takes it: any whole number, folded to 64 bits with sign."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise ValueError(f"seed={seed!r} is not possible: give a whole number.")
    return (int(seed) + 2**63) % 2**64 - 2**63


def check_limit(max_decisions: int) -> int:
    """``max_decisions`` if it lets a game begin."""
    whole = isinstance(max_decisions, int | np.integer) and not isinstance(max_decisions, bool)
    if not whole or max_decisions < 1:
        raise ValueError(f"max_decisions={max_decisions!r} is not possible: give a whole number from 1 on.")
    return int(max_decisions)


def check_dealer(dealer: int, players: int) -> int:
    """``dealer`` if it is a seat at the table."""
    if isinstance(dealer, bool) or not isinstance(dealer, int | np.integer) or not 0 <= dealer < players:
        raise ValueError(f"dealer={dealer!r} is not possible: give a seat from 0 to {players - 1}.")
    return int(dealer)


def check_deck(deck: Sequence[str], rules: Rules) -> npt.NDArray[np.int8]:
    """A deck of card texts as the engine takes it, int8 ``[52 or 54]``.

    Raises:
        ValueError: for a text that is no card, a card that is missing, doubled or not in this deck.
    """
    if isinstance(deck, str) or not isinstance(deck, Sequence | np.ndarray):
        raise ValueError(f"deck={deck!r} is not possible: give a list of card texts such as '6S'.")
    cards = [parse_card(text) for text in deck]
    size = 52 + rules.jokers
    expected = set(range(size))
    doubled = sorted({card_text(card) for card in cards if cards.count(card) > 1})
    foreign = sorted(card_text(card) for card in set(cards) - expected)
    missing = [card_text(card) for card in sorted(expected - set(cards))]
    if doubled or foreign or missing:
        faults = [
            f"{what} {', '.join(found[:5])}{' …' if len(found) > 5 else ''}"
            for what, found in (("twice", doubled), ("not in this deck", foreign), ("missing", missing))
            if found
        ]
        raise ValueError(f"the deck is wrong ({'; '.join(faults)}): it lists each of the {size} cards once.")
    return np.array(cards, dtype=np.int8)


def _action_id(action: Any) -> int:
    """An action id as a plain number; a truth value or a fraction is none."""
    if isinstance(action, bool) or not isinstance(action, int | np.integer):
        raise ValueError(f"{action!r} is not an action: give its text or its id, a whole number.")
    return int(action)


class Game:
    """One game of Idiot.

    Args:
        rules: ``Rules``, a short text such as ``"norsk chance=yes"``, or a mapping of changed options.
        players: 2 to 5.
        deck: card texts in dealing order; shuffled from ``seed`` unless given.
        dealer: a seat; drawn from ``seed`` unless given.
        seed: for the deck and the dealer; fresh from the system unless given.
        max_decisions: after that many decisions the game is cut off without a result; ``None``: never.

    >>> game = Game("norsk", players=2, seed=7)
    >>> game.legal()
    ['play 3', 'play K', 'play Q']
    >>> event = game.apply("play 3")
    >>> event.drew, event.turn
    (1, 1)
    >>> game.view(game.turn).pile_size
    1

    Raises:
        ValueError: for an impossible table, deck, dealer or seed.
    """

    def __init__(
        self,
        rules: Rules | str | Mapping[str, Any] = "standard",
        players: int = 4,
        deck: Sequence[str] | None = None,
        dealer: int | None = None,
        seed: int | None = None,
        max_decisions: int | None = None,
    ) -> None:
        self.rules = Rules.make(rules)
        self.players = self.rules.check_players(players)
        self.max_decisions = None if max_decisions is None else check_limit(max_decisions)
        number = seed_number(secrets.randbits(63) if seed is None else seed)
        numbers = self.rules.numbers()
        order = np.zeros(54, np.int8)
        fixed = -1 if dealer is None else check_dealer(dealer, self.players)
        self.dealer = int(engine.draw_deal(order, numbers, self.players, fixed, number))
        if deck is not None:
            order[: 52 + self.rules.jokers] = check_deck(deck, self.rules)
        self.deck: list[str] = [card_text(card) for card in order[: 52 + self.rules.jokers]]
        self.actions: list[int] = []
        self.last_event: Event | None = None
        self.names: list[str] | None = None
        self._states = np.zeros(1, STATE)
        engine.deal_at(self._states, 0, order, numbers, self.players, self.dealer)

    # --- where the game stands ---------------------------------------------------------------------------------------

    @property
    def states(self) -> npt.NDArray[np.void]:
        """A copy of the full truth as an array ``[1]`` of ``STATE``: for referees and tools, never for players."""
        return self._states.copy()

    @property
    def truncated(self) -> bool:
        """Whether the limit of decisions has cut the game off."""
        limit = self.max_decisions
        return limit is not None and len(self.actions) >= limit and int(self._states[0]["phase"]) != OVER

    @property
    def over(self) -> bool:
        return self.truncated or int(self._states[0]["phase"]) == OVER

    @property
    def turn(self) -> int | None:
        """Seat to act; ``None`` when the game is over."""
        return None if self.over else int(self._states[0]["turn"])

    @property
    def phase(self) -> str:
        return PHASES[OVER if self.over else int(self._states[0]["phase"])]

    @property
    def mask(self) -> npt.NDArray[np.int8]:
        """The action mask of the seat to act, int8 ``[A]``; zeros when the game is over."""
        mask = np.zeros(actions.N_ACTIONS, np.int8)
        if not self.over:
            engine.legal_mask_at(self._states, 0, mask)
        return mask

    def legal(self) -> list[str]:
        """Texts of the legal actions, sorted; empty when the game is over."""
        return sorted(actions.TEXTS[action] for action in np.flatnonzero(self.mask))

    def view(self, seat: int) -> View:
        """What ``seat`` may see; its mask is zero unless it is to act.

        Raises:
            ValueError: for a seat that is not at the table.
        """
        if isinstance(seat, bool) or not isinstance(seat, int | np.integer):
            raise ValueError(f"seat {seat!r} is not at the table: seats go from 0 to {self.players - 1}.")
        observation = observe(self._states, seat)
        mask = self.mask if self.turn == seat else np.zeros(actions.N_ACTIONS, np.int8)
        return View(observation, mask, seat)

    @property
    def known(self) -> list[str]:
        """Publicly known hand cards of each seat, as ranks in "lowest card" order."""
        return [ranks_text(self._states[0]["known"][seat]) for seat in range(self.players)]

    @property
    def out(self) -> list[int]:
        """Seats in the order in which they went out."""
        place = self._states[0]["place"][: self.players]
        return sorted(np.flatnonzero(place).tolist(), key=lambda seat: int(place[seat]))

    @property
    def result(self) -> dict[str, Any] | None:
        """``{"out": …, "idiots": …, "truncated": …}``, or ``None`` while the game goes on."""
        if not self.over:
            return None
        out = self.out
        idiots = [] if self.truncated else [seat for seat in range(self.players) if seat not in out]
        return {"out": out, "idiots": idiots, "truncated": self.truncated}

    def rewards(self) -> npt.NDArray[np.float32]:
        """Reward by seat, float32 ``[S]``; zeros while the game goes on and when it was cut off."""
        rewards = np.zeros(engine.SEATS, np.float32)
        engine.rewards_at(self._states, 0, rewards)
        return rewards[: self.players]

    # --- acting ------------------------------------------------------------------------------------------------------

    def apply(self, action: str | int) -> Event:
        """Carry out an action, as text or id, and return what happened.

        Raises:
            IllegalAction: if it is not legal now; nothing has changed then.
        """
        if self.over:
            raise IllegalAction(f"{action!r} is not legal: the game is over.")
        try:
            number = actions.parse_action(action) if isinstance(action, str) else _action_id(action)
            text = actions.action_text(number)
        except ValueError as error:
            raise IllegalAction(f"{error} Legal now: {', '.join(self.legal())}.") from None
        if not self.mask[number]:
            raise IllegalAction(f"{text!r} is not legal for seat {self.turn}: legal are {', '.join(self.legal())}.")
        before = self._states.copy()
        engine.apply_at(self._states, 0, number)
        self.actions.append(number)
        self.last_event = describe(before[0], number, self._states[0])
        return self.last_event

    def copy(self) -> Game:
        """An independent copy: keep one to undo."""
        twin = object.__new__(Game)
        twin.__dict__.update(self.__dict__)
        twin.deck, twin.actions = list(self.deck), list(self.actions)
        twin.names = None if self.names is None else list(self.names)
        twin._states = self._states.copy()
        return twin

    # --- snapshots and records (R30) ---------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """The whole state in words and ranks: for referees, never for players."""
        state = self._states[0]
        seats = range(self.players)
        return {
            "turn": self.turn,
            "phase": self.phase,
            "hand": [ranks_text(state["hand"][seat]) for seat in seats],
            "up": [ranks_text(state["up"][seat]) for seat in seats],
            "down": ["".join("." if c == NO_CARD else RANKS[c // 4] for c in state["down"][seat]) for seat in seats],
            "pile": "".join(RANKS[card // 4] for card in state["pile"][: state["pile_size"]]),
            "burned": ranks_text(state["burned"]),
            "stock": "".join(RANKS[card // 4] for card in state["stock"][: state["stock_size"]][::-1]),
            "out": self.out,
            "legal": self.legal(),
        }

    def record(self) -> dict[str, Any]:
        """The game so far as an ``idiot-record/1`` object."""
        record: dict[str, Any] = {
            "format": RECORD_FORMAT,
            "preset": self.rules.base,
            "rules": dict(self.rules.changes),
            "players": self.players,
            "dealer": self.dealer,
            "deck": list(self.deck),
            "actions": [actions.TEXTS[action] for action in self.actions],
        }
        if self.names is not None:
            record["names"] = list(self.names)
        if self.over:
            record["result"] = self.result
        return record

    @classmethod
    def start_of_record(cls, record: Any) -> Game:
        """The deal of a record, before its first action.

        Raises:
            RecordError: for anything that is not a record.
        """
        if not isinstance(record, Mapping):
            raise RecordError("a record is one JSON object.")
        if record.get("format") != RECORD_FORMAT:
            raise RecordError(f"format is {record.get('format')!r}: this reads {RECORD_FORMAT!r}.")
        unknown = sorted(set(record) - _RECORD_KEYS)
        if unknown:
            raise RecordError(f"unknown key {unknown[0]!r}: a record has {', '.join(sorted(_RECORD_KEYS))}.")
        missing = sorted(_RECORD_KEYS - _OPTIONAL_KEYS - set(record))
        if missing:
            raise RecordError(f"the record has no {missing[0]!r}.")
        changes, names = record.get("rules", {}), record.get("names")
        if not isinstance(changes, Mapping):
            raise RecordError(f"rules is {changes!r}: it maps changed options to their values.")
        if not isinstance(record["actions"], list):
            raise RecordError(f"actions is {record['actions']!r}: it is a list of texts.")
        # ``None`` would mean a fresh one to :class:`Game`.
        for key, what in (("deck", "a list of card texts"), ("dealer", "a seat")):
            if record[key] is None:
                raise RecordError(f"{key} is None: a record names {what}.")
        try:
            rules = Rules.preset(str(record.get("preset", "standard")), **changes)
            game = cls(rules, record["players"], record["deck"], record["dealer"])
        except (ValueError, TypeError) as error:
            raise RecordError(str(error)) from None
        if names is not None:
            if not isinstance(names, list) or len(names) != game.players or not all(isinstance(n, str) for n in names):
                raise RecordError(f"names is {names!r}: it lists one text for each of the {game.players} players.")
            game.names = list(names)
        return game

    @classmethod
    def from_record(cls, record: Any) -> Game:
        """Replay a record to its last action.

        Raises:
            RecordError: for an unknown option, a wrong deck, an illegal action (with its index and what was legal), or
                a result that the actions do not lead to.
        """
        game = cls.start_of_record(record)
        for index, action in enumerate(record["actions"]):
            game.apply_recorded(index, action)
        return game.check_result(record)

    def apply_recorded(self, index: int, action: Any) -> Event:
        """Carry out action number ``index`` of a record."""
        if not isinstance(action, str):
            raise RecordError(f"action {index}: {action!r} is not a text.")
        try:
            return self.apply(action)
        except IllegalAction as error:
            raise RecordError(f"action {index}: {error}") from None

    def check_result(self, record: Mapping[str, Any]) -> Game:
        """Compare a replayed game with the result that its record claims, and return the game."""
        claimed = record.get("result")
        if claimed is None:
            return self
        if isinstance(claimed, Mapping) and claimed.get("truncated") is True:
            self.max_decisions = len(self.actions)
        if claimed != self.result:
            raise RecordError(f"the record claims the result {claimed!r}, but its actions lead to {self.result!r}.")
        return self


_RECORD_KEYS = {"format", "preset", "rules", "players", "dealer", "deck", "actions", "names", "result"}
_OPTIONAL_KEYS = {"preset", "rules", "names", "result"}


__all__ = ["RECORD_FORMAT", "Game", "IllegalAction", "RecordError"]
