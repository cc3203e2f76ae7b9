"""A table with browsers around it: whose messages count, when agents act, and who stands in for whom.

Agents act at the pace of those who watch: each browser says which moment it has shown (``shown``), and an agent acts
when one of them has shown the newest.  So a slow animation is never left behind, a paused one pauses the game, and a
table that nobody looks at rests.

=============  ====================================================  ==================================================
from browser   fields                                                answer
=============  ====================================================  ==================================================
``act``        ``version``, ``action``                               ``step`` to everybody, or ``refused``
``shown``      ``version``                                           –
``insight``    ``version``                                           ``insight``
``story``      –                                                     ``story`` of the seat's finished game
``rematch``    –                                                     ``table`` to everybody
``start``      –                                                     ``table`` to everybody
``look``       ``seat`` (a number or null), ``lang``                 ``table``; only watchers of agents choose a seat
=============  ====================================================  ==================================================

``table`` is the whole table as a seat sees it, ``step`` one action with the view after it, ``people`` who is here,
``note`` a sentence.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from idiot_agents.play import DEFAULT_AGENT
from idiot_agents.web.catalog import Catalog, Offer
from idiot_agents.web.insight import opinion, story
from idiot_agents.web.store import Store
from idiot_agents.web.table import Role, Table
from idiot_agents.web.texts import Refused, say
from idiot_agents.web.thinking import Thinker
from idiot_env.words import LANGUAGES

LOG = logging.getLogger("idiot.web")
FAREWELL = 4.0
"""Seconds after which the others are told that somebody has left."""


class Browser(Protocol):
    """The other end of a connection."""

    async def send(self, message: dict[str, Any]) -> None:
        """Deliver a message; never raises when the other end is gone."""
        ...


def _tell_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        LOG.error("a table has stopped", exc_info=error)


@dataclass(eq=False)
class Connection:
    """One browser at the table.

    Attributes:
        seat: from whose view it is shown the table; ``None``: all cards open.
        version: the newest moment that it has shown.
    """

    browser: Browser
    role: Role
    lang: str
    seat: int | None
    version: list[int] = field(default_factory=lambda: [-1, -1])


class Room:
    """A table and its browsers.

    Args:
        absence: seconds after which an agent plays for a person who has left.
    """

    def __init__(self, table: Table, catalog: Catalog, thinker: Thinker, store: Store, absence: float) -> None:
        self.table, self.catalog, self.thinker, self.store = table, catalog, thinker, store
        self.absence = absence
        self.connections: set[Connection] = set()
        self.left_at: dict[int, float] = {}
        """When each person's seat was left; seats with a browser are not in it."""
        self.used = time.monotonic()
        self.owner = ""
        """The address that set the table up."""
        self.opened = False
        """Whether anybody has ever looked at the table."""
        self._standing_in: set[int] = set()
        self._missed: set[int] = set()
        self._farewells: dict[int, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._driver: asyncio.Task[None] | None = None

    # --- coming and going --------------------------------------------------------------------------------------------

    async def enter(self, connection: Connection) -> None:
        """A browser comes, or comes back."""
        self.connections.add(connection)
        self.used = time.monotonic()
        self.opened = True
        seat = connection.role.seat
        back = seat in self._missed
        if seat is not None:
            self.left_at.pop(seat, None)
            self._standing_in.discard(seat)
            self._missed.discard(seat)
        await connection.browser.send(self.whole(connection))
        await self.tell_people()
        if back and seat is not None:
            await self.note("came", except_for=connection, name=self.table.names(connection.lang)[seat])
        self.wake()

    async def leave(self, connection: Connection) -> None:
        """A browser has gone."""
        self.connections.discard(connection)
        self.used = time.monotonic()
        seat = connection.role.seat
        if seat is not None and not any(other.role.seat == seat for other in self.connections):
            self.left_at[seat] = time.monotonic()
            await self.tell_people()
            self._farewells[seat] = asyncio.create_task(self._say_farewell(seat))
        self.wake()

    async def _say_farewell(self, seat: int) -> None:
        """Say that somebody has left, unless they only loaded the page again."""
        await asyncio.sleep(min(FAREWELL, self.absence))
        if seat in self.left_at:
            self._missed.add(seat)
            await self.note("left", name=self.table.names("en")[seat])

    @property
    def idle(self) -> float:
        """Seconds for which nobody has been here."""
        return 0.0 if self.connections else time.monotonic() - self.used

    def close(self) -> None:
        """Stop the agents."""
        for task in (self._driver, *self._farewells.values()):
            if task is not None:
                task.cancel()

    # --- messages ----------------------------------------------------------------------------------------------------

    def whole(self, connection: Connection) -> dict[str, Any]:
        """The table as a browser is shown it when it comes."""
        table, seat, lang = self.table, connection.seat, connection.lang
        return {
            "type": "table",
            **table.shown(seat, lang),
            "role": {"seat": connection.role.seat, "host": connection.role.host},
            "log": table.log(seat, lang),
            "says": table.latest(seat, lang),
            "round": table.round,
            "free": table.free,
            "invite": table.invite if connection.role.host and table.free else None,
            "results": table.results,
            "adviser": None if (adviser := self.adviser()) is None else adviser.id,
        }

    def people(self) -> dict[str, Any]:
        """Who sits where and who is away."""
        return {
            "type": "people",
            "seats": [
                {
                    "agent": seat.agent,
                    "name": seat.name,
                    "away": seat.agent is None and (seat.token is None or number in self.left_at),
                }
                for number, seat in enumerate(self.table.seats)
            ],
            "free": self.table.free,
            "started": self.table.started,
        }

    async def tell_people(self) -> None:
        message = self.people()
        for connection in list(self.connections):
            await connection.browser.send(message)

    async def note(self, key: str, except_for: Connection | None = None, **values: object) -> None:
        """Say a sentence to everybody."""
        for connection in list(self.connections):
            if connection is not except_for:
                await connection.browser.send({"type": "note", "says": say(key, connection.lang, **values)})

    async def tell_step(self) -> None:
        """Tell everybody of the newest action."""
        number = len(self.table.played) - 1
        for connection in list(self.connections):
            await connection.browser.send(
                {
                    "type": "step",
                    **self.table.shown(connection.seat, connection.lang),
                    **self.table.line(number, connection.seat, connection.lang),
                }
            )

    async def tell_whole(self) -> None:
        for connection in list(self.connections):
            await connection.browser.send(self.whole(connection))
        await self.tell_people()

    async def receive(self, connection: Connection, message: dict[str, Any]) -> None:
        """Carry out what a browser asks for, or refuse it with a sentence."""
        self.used = time.monotonic()
        try:
            await self._carry_out(connection, message)
        except Refused as refused:
            await connection.browser.send(
                {
                    "type": "refused",
                    "what": message.get("type"),
                    "says": refused.sentence(connection.lang),
                    "version": self.table.version,
                }
            )

    async def _carry_out(self, connection: Connection, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "act":
            self.table.act(connection.role, message.get("action"), message.get("version"))
            await self._after_action()
        elif kind == "shown":
            version = message.get("version")
            if version == self.table.version:
                connection.version = self.table.version
                self.wake()
        elif kind == "insight":
            await self._send_insight(connection, message)
        elif kind == "story":
            await self._send_story(connection)
        elif kind == "rematch":
            self.table.rematch(connection.role)
            self.save()
            await self.tell_whole()
        elif kind == "start":
            self.table.start(connection.role)
            self.save()
            await self.tell_whole()
        elif kind == "look":
            await self._look(connection, message)
        self.wake()

    async def _look(self, connection: Connection, message: dict[str, Any]) -> None:
        """Another language; for a watcher of agents also another seat."""
        if message.get("lang") in LANGUAGES:
            connection.lang = message["lang"]
        if connection.role.seat is None and "seat" in message:
            seat = message["seat"]
            inside = isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < len(self.table.seats)
            connection.seat = seat if inside else None
        await connection.browser.send(self.whole(connection))

    async def _after_action(self) -> None:
        self.save()
        await self.tell_step()

    def save(self) -> None:
        """Keep the table; a disk that refuses is told of and does not end the game."""
        try:
            self.store.save(self.table)
        except OSError as error:
            LOG.error("table %s cannot be saved: %s", self.table.id, error)

    # --- models ------------------------------------------------------------------------------------------------------

    def adviser(self) -> Offer | None:
        """The model that gives hints at this table."""
        seated = [seat.agent for seat in self.table.seats if seat.agent is not None]
        return self.catalog.adviser(len(self.table.seats), seated)

    async def _ask(self, function: Callable[..., dict[str, Any]], *args: Any) -> dict[str, Any]:
        """What a model says; one that cannot ends no connection.

        Raises:
            Refused: if it fails.
        """
        try:
            return await self.thinker.quick(function, *args)
        except Exception:
            LOG.exception("the model of table %s could not answer", self.table.id)
            raise Refused("no_answer") from None

    async def _send_insight(self, connection: Connection, message: dict[str, Any]) -> None:
        table, adviser = self.table, self.adviser()
        seat = connection.role.seat
        if seat is None and table.may_see_open() and connection.seat in (None, table.turn):
            seat = table.turn
        if table.game.over:
            raise Refused("over")
        if seat is None or table.turn != seat:
            raise Refused("other_turn", name=table.names(connection.lang)[table.game.turn or 0])
        version, view = table.version, table.game.view(seat)
        found = await self._ask(opinion, adviser and adviser.spec, view, connection.lang)
        name = DEFAULT_AGENT if adviser is None else adviser.id
        await connection.browser.send({"type": "insight", "version": version, "seat": seat, "adviser": name, **found})

    async def _send_story(self, connection: Connection) -> None:
        table, adviser = self.table, self.adviser()
        if not table.game.over:
            raise Refused("not_over")
        if adviser is None:
            raise Refused("no_model")
        seat = connection.role.seat if connection.role.seat is not None else connection.seat or 0
        version = table.version
        found = await self._ask(story, adviser.spec, table.record(), seat, connection.lang)
        await connection.browser.send(
            {"type": "story", "version": version, "seat": seat, "adviser": adviser.id, **found}
        )

    # --- agents ------------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Look again whether an agent is to act."""
        self._changed.set()
        if self._driver is None or self._driver.done():
            self._driver = asyncio.create_task(self._drive())
            self._driver.add_done_callback(_tell_failure)

    def _absent_for(self, seat: int) -> float | None:
        """Seconds for which a person's seat has been without a browser; ``None`` if it has one."""
        if self.table.seats[seat].token is None:
            return float("inf")
        return time.monotonic() - self.left_at[seat] if seat in self.left_at else None

    def acting_agent(self) -> tuple[str, float]:
        """The agent that is to act and in how many seconds: ``("", inf)`` while it is a person's turn."""
        turn = self.table.turn
        if turn is None or not self.connections:
            return "", float("inf")
        agent = self.table.seats[turn].agent
        if agent is not None:
            return agent, 0.0
        absent = self._absent_for(turn)
        return ("", float("inf")) if absent is None else (DEFAULT_AGENT, max(0.0, self.absence - absent))

    async def _drive(self) -> None:
        """Act for agents until nothing is left for them to do; whatever changes wakes it again."""
        while True:
            agent, wait = self.acting_agent()
            if not agent:
                return
            self._changed.clear()
            shown = any(connection.version == self.table.version for connection in self.connections)
            if wait or not shown:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), wait if shown else None)
                continue
            await self._act_for(agent)

    async def _act_for(self, agent: str) -> None:
        table, version = self.table, self.table.version
        turn = table.turn
        assert turn is not None
        if table.seats[turn].agent is None and turn not in self._standing_in:
            self._standing_in.add(turn)
            await self.note("stands_in", agent=agent, name=table.names("en")[turn])
        view, seed = table.game.view(turn), table.decision_seed()
        try:
            action = await self.thinker.choose(self.catalog.offers[agent].spec, view, seed)
        except Exception:
            LOG.exception("%s could not decide at table %s", agent, table.id)
            await self.note("trouble", name=table.names("en")[turn], agent=DEFAULT_AGENT)
            action = await self.thinker.choose(DEFAULT_AGENT, view, seed)
        # A person who came back meanwhile may have acted.
        if table.version == version and self.acting_agent()[0]:
            table.apply(action)
            await self._after_action()
