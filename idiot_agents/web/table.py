"""One table: who sits where, the games that are played there one after the other, and who may do what.

Knows nothing of networks and clocks.  Whatever is not allowed raises :class:`Refused` and changes nothing.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from idiot_agents.play import MAX_DECISIONS, drawn_cards, numbered
from idiot_agents.terminal import clean
from idiot_agents.web.payload import open_view, seat_choices, seat_view, told
from idiot_agents.web.texts import Refused, say
from idiot_env import Game, Rules
from idiot_env.actions import TEXTS
from idiot_env.events import Event
from idiot_env.words import spaced

FORMAT = "idiot-table/1"
LONGEST_NAME = 20
LONGEST_LOG = 300
"""Actions that are told again to whoever comes."""
MASK64 = 2**64 - 1


def new_token() -> str:
    """A word that cannot be guessed: 192 bits."""
    return secrets.token_urlsafe(24)


def same(token: str | None, given: str) -> bool:
    """Whether a token was given, in a time that does not tell how much of it is right."""
    return token is not None and hmac.compare_digest(token.encode(), given.encode("utf-8", "replace"))


@dataclass
class Seat:
    """Who sits in one seat.

    Attributes:
        agent: the id of an agent; ``None`` for a person.
        name: what a person is called.
        token: proves that a browser is this person; ``None`` until somebody has come.
    """

    agent: str | None = None
    name: str = ""
    token: str | None = None


@dataclass(frozen=True)
class Role:
    """What a token allows: to play a seat, or to watch (``seat`` is ``None``)."""

    seat: int | None
    host: bool


@dataclass
class Played:
    """One action that was carried out, with what only its own seat may be told."""

    event: Event
    drew: str


class Table:
    """Seats around a game.

    Args:
        seats: in clockwise order from seat 0; the first person is the host.
        seed: of the first game's deal, as ``idiot play --seed`` deals it; later games follow from it.

    Raises:
        ValueError: for a table that does not exist.
    """

    def __init__(self, rules: Rules, seats: Sequence[Seat], seed: int, *, id: str | None = None) -> None:
        self.id = id or secrets.token_urlsafe(9)
        self.rules = rules
        self.seats = list(seats)
        self.seed = seed
        self.round = 0
        self.watch_token: str | None = None if self.persons else new_token()
        self.invite: str | None = new_token() if any(s.agent is None and s.token is None for s in seats) else None
        self.started = self.invite is None
        self.results: list[dict[str, Any]] = []
        self._deal(None)

    # --- who is here -------------------------------------------------------------------------------------------------

    @property
    def persons(self) -> list[int]:
        """Seats that persons have or may take."""
        return [number for number, seat in enumerate(self.seats) if seat.agent is None]

    @property
    def free(self) -> list[int]:
        """Persons' seats to which nobody has come yet."""
        return [number for number in self.persons if self.seats[number].token is None]

    @property
    def host(self) -> int | None:
        """The seat whose person set the table up."""
        return self.persons[0] if self.persons else None

    def names(self, lang: str) -> list[str]:
        """A name for each seat."""
        person = say("person", lang)
        return numbered([s.agent if s.agent is not None else s.name or person for s in self.seats])

    def role(self, token: str) -> Role:
        """What a token allows at this table.

        Raises:
            Refused: if it allows nothing.
        """
        for number in self.persons:
            if same(self.seats[number].token, token):
                return Role(number, number == self.host)
        if same(self.watch_token, token):
            return Role(None, True)
        raise Refused("no_seat", 403)

    def join(self, invite: str, name: str) -> tuple[int, str]:
        """Give the first free seat to whoever holds the invitation; returns the seat and its token.

        Raises:
            Refused: for a wrong invitation, or when every seat is taken.
        """
        if not same(self.invite, invite):
            raise Refused("no_seat", 403)
        if not self.free:
            raise Refused("no_free_seat")
        number = self.free[0]
        token = new_token()
        self.seats[number].token, self.seats[number].name = token, clean_name(name)
        if not self.free:
            self.started = True
        return number, token

    def start(self, role: Role) -> None:
        """Begin although seats are free: agents play for them until somebody comes."""
        if not role.host:
            raise Refused("no_seat", 403)
        self.started = True

    # --- the game ----------------------------------------------------------------------------------------------------

    def _deal(self, dealer: int | None) -> None:
        seed = self.seed if self.round == 0 else mixed(self.seed, 1, self.round)
        self.game = Game(self.rules, len(self.seats), dealer=dealer, seed=seed, max_decisions=MAX_DECISIONS)
        self.played: list[Played] = []
        self.began_at: tuple[int, int] | None = None
        self._note_beginning()

    @property
    def version(self) -> list[int]:
        """Changes with every action and every new game: which moment a message is about."""
        return [self.round, len(self.game.actions)]

    @property
    def turn(self) -> int | None:
        """The seat to act; ``None`` before the start and after the end."""
        return self.game.turn if self.started else None

    def decision_seed(self) -> int:
        """The seed of whatever an agent decides now: the same after a restart, another one for the next decision."""
        return mixed(self.seed, 2, *self.version)

    def act(self, role: Role, action: Any, version: Any) -> Played:
        """Carry out a person's action.

        Raises:
            Refused: for a watcher, out of turn, for another moment than now, or for an action that is not legal.
        """
        if role.seat is None:
            raise Refused("watching", 403)
        if not self.started:
            raise Refused("not_started")
        if self.game.over:
            raise Refused("over")
        if version != self.version:
            raise Refused("stale")
        if self.game.turn != role.seat:
            raise Refused("other_turn", name=self.names("en")[self.game.turn or 0])
        if not isinstance(action, str) or action not in self.game.legal():
            raise Refused("illegal", action=clean(str(action), 30))
        return self.apply(action)

    def apply(self, action: str | int) -> Played:
        """Carry out a legal action of the seat to act."""
        turn = self.game.turn
        assert turn is not None
        before = self.game.view(turn)
        event = self.game.apply(action)
        drew = drawn_cards(before, self.game.view(turn), event) if event.drew else ""
        played = Played(event, drew)
        self.played.append(played)
        self._note_beginning()
        if self.game.over:
            self.results.append({"round": self.round, **(self.game.result or {})})
        return played

    def _note_beginning(self) -> None:
        """Remember who begins, when the exchange is over."""
        turn = self.game.turn
        if self.began_at is None and turn is not None and self.game.phase != "swap":
            self.began_at = (len(self.played), turn)

    def rematch(self, role: Role) -> None:
        """Deal the next game; the loser deals.

        Raises:
            Refused: while a game goes on, or for somebody who only watches other people.
        """
        if not self.game.over:
            raise Refused("not_over")
        result = self.game.result or {}
        idiots = result.get("idiots") or [self.game.dealer]
        self.round += 1
        self._deal(idiots[0])

    def record(self, lang: str = "en") -> dict[str, Any]:
        """The game so far as a record, which shows all cards."""
        self.game.names = self.names(lang)
        return self.game.record()

    # --- what browsers are told --------------------------------------------------------------------------------------

    def may_see_open(self) -> bool:
        """Whether all cards may be shown: agents do not mind."""
        return not self.persons

    def shown(self, seat: int | None, lang: str) -> dict[str, Any]:
        """The table as ``seat`` sees it, or with all cards open (``None``, where that is allowed)."""
        if seat is None and not self.may_see_open():
            raise Refused("no_seat", 403)
        view = open_view(self.game) if seat is None else seat_view(self.game, seat)
        choices = seat_choices(self.game, seat, lang) if seat is not None and self.started and self.persons else {}
        return {
            "version": self.version,
            "view": view,
            "names": self.names(lang),
            "started": self.started,
            "choices": [],
            "why": None,
            **choices,
        }

    def line(self, number: int, seat: int | None, lang: str) -> dict[str, Any]:
        """Action ``number`` of the game as ``seat`` is told of it."""
        played, names = self.played[number], self.names(lang)
        seat = seat if self.persons else None  # nobody among agents is "you"
        line = told(played.event, lang, names, seat)
        own = played.drew if seat == played.event.seat and seat is not None else ""
        lines = [line["says"]]
        if own:
            lines.append(say("drew", lang, cards=spaced(own)))
        if self.began_at is not None and self.began_at[0] == number + 1:
            lines.append(self.beginning(seat, lang))
        return {"event": line, "lines": lines}

    def beginning(self, seat: int | None, lang: str) -> str:
        """Who begins."""
        assert self.began_at is not None
        starter = self.began_at[1]
        return say("you_begin", lang) if starter == seat else say("begins", lang, name=self.names(lang)[starter])

    def latest(self, seat: int | None, lang: str) -> str | None:
        """What the last action was, in words, as ``seat`` is told of it; ``None`` before the first."""
        if not self.played:
            return None
        says: str = self.line(len(self.played) - 1, seat, lang)["event"]["says"]
        return says

    def log(self, seat: int | None, lang: str) -> list[str]:
        """What has happened lately in this game, in words, as ``seat`` is told of it."""
        seat = seat if self.persons else None
        first = max(0, len(self.played) - LONGEST_LOG)
        lines = []
        if first == 0 and self.began_at is not None and self.began_at[0] == 0:
            lines.append(self.beginning(seat, lang))
        for number in range(first, len(self.played)):
            lines += self.line(number, seat, lang)["lines"]
        return lines

    # --- as a file ---------------------------------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """All of the table, secrets and tokens included: for the server's own files."""
        return {
            "format": FORMAT,
            "id": self.id,
            "seats": [asdict(seat) for seat in self.seats],
            "seed": self.seed,
            "round": self.round,
            "watch_token": self.watch_token,
            "invite": self.invite,
            "started": self.started,
            "results": self.results,
            "record": self.record(),
        }

    @classmethod
    def from_json(cls, value: Any) -> Table:
        """The table that :meth:`as_json` described.

        Raises:
            ValueError: if it is none, or its game cannot be replayed.
        """
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise ValueError(f"this is no table of the format {FORMAT!r}.")
        try:
            game = Game.start_of_record(value["record"])
            seats = [Seat(**seat) for seat in value["seats"]]
            table = cls(game.rules, seats, int(value["seed"]), id=str(value["id"]))
            table.round, table.started = int(value["round"]), bool(value["started"])
            table.watch_token, table.invite = value["watch_token"], value["invite"]
            actions = value["record"]["actions"]
            results = list(value["results"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"the table is broken: {error!r}.") from None
        game.max_decisions = MAX_DECISIONS
        table.game, table.played, table.began_at = game, [], None
        table._note_beginning()
        for index, action in enumerate(actions):
            if not isinstance(action, str) or action not in TEXTS or game.over or not game.mask[TEXTS.index(action)]:
                raise ValueError(f"the table is broken: action {index} of its record, {action!r}, is not legal.")
            table.apply(action)
        table.results = results
        return table


def clean_name(name: Any) -> str:
    """A person's name, made harmless and short."""
    return clean(" ".join(str(name).split()), LONGEST_NAME)


def mixed(*numbers: int) -> int:
    """A seed of several numbers that has nothing to do with that of others."""
    state = np.random.SeedSequence([number & MASK64 for number in numbers]).generate_state(1, np.uint64)
    return int(state[0])
