"""The web application: the page, a few requests, and one socket for each browser.

=============================  ==================================================================================
request                        answer
=============================  ==================================================================================
``GET /``, ``/static/…``       the page
``GET /api/catalog``           what may be chosen, and how the server was started
``POST /api/check``            whether a table is possible, why not, and its rules in words
``POST /api/tables``           a new table: its id, and the token of whoever made it
``POST /api/join``             a seat for whoever holds an invitation
``POST /api/record``           the record of a game that is over, for a token of its table
``POST /api/replay``           a record, step by step, from one seat's view or with all cards open
``WS /ws``                     the game: ``hello`` first, then the messages of ``room``
=============================  ==================================================================================
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from idiot_agents.errors import InputError
from idiot_agents.play import DEFAULT_AGENT
from idiot_agents.web.catalog import Catalog, obstacle, rules_from_json
from idiot_agents.web.frames import frames_json
from idiot_agents.web.guard import (
    LARGEST_BODY,
    LARGEST_MESSAGE,
    Bucket,
    Buckets,
    host_allowed,
    is_loopback,
    origin_allowed,
    parse_json,
)
from idiot_agents.web.room import Connection, Room
from idiot_agents.web.store import Store
from idiot_agents.web.table import Seat, Table, clean_name, new_token
from idiot_agents.web.texts import Refused, say
from idiot_agents.web.thinking import Thinker
from idiot_env.rule_card import rule_card
from idiot_env.words import LANGUAGES

STATIC = Path(__file__).parent / "static"
LOG = logging.getLogger("idiot.web")
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
"""No other host is asked for anything, and no other page shows this one in a frame."""
LONGEST_REFUSAL = 700
SHORT_RECORD = 400
"""Actions that are replayed in a fifth of a second: quicker than a worker starts, and no worker's low priority."""
LARGEST_SEED = 2**53 - 1
"""Larger whole numbers do not survive JavaScript."""


@dataclass(frozen=True)
class Limits:
    """How much the server takes on; times in seconds.

    Attributes:
        tables: at most so many, and ``tables_each`` that one address set up; a new one then ends one that nobody ever
            opened, or else the one that was left alone for longest, if that was for ``spare``.
        idle: a table that nobody has looked at for so long ends.
        spare: how long a table is kept that somebody has left, even where others want its place.
        absence: how long a person may be away before an agent plays for them.
        sockets: at most so many browsers, all tables together, and ``sockets_each`` from one address.
        messages: a second that are read from one browser, ``burst`` at once; more have to wait.
        requests: a second from one address, ``burst`` at once.
        hello: how long a browser may take to say who it is, and ``body`` how long to send a request.
        queue: messages that a browser may be behind before it is cut off.
    """

    tables: int = 100
    tables_each: int = 30
    idle: float = 24 * 3600.0
    spare: float = 600.0
    absence: float = 60.0
    sockets: int = 200
    sockets_each: int = 60
    messages: float = 50.0
    requests: float = 10.0
    burst: float = 100.0
    hello: float = 10.0
    body: float = 20.0
    queue: int = 100


LOCAL = Limits(idle=30 * 24 * 3600.0, tables_each=Limits.tables)
"""A person's own machine keeps their game for a month."""
WEIGHTS = {"look": 10.0, "story": 10.0, "insight": 2.0}
"""Messages that are more work for the server than others count as so many."""


@dataclass
class Server:
    """Everything that the requests share.

    Attributes:
        host: the address that the server listens on.
        defaults: what the start page proposes.
        share: the address under which others reach the page, for invitations.
    """

    catalog: Catalog
    store: Store
    thinker: Thinker
    host: str = "127.0.0.1"
    limits: Limits = field(default_factory=Limits)
    defaults: dict[str, Any] = field(default_factory=dict)
    share: str | None = None
    guests: bool | None = None
    """Whether other people may join; by default where the address is not this machine's own."""
    rooms: dict[str, Room] = field(default_factory=dict)
    sockets: Counter[str] = field(default_factory=Counter)
    """Open sockets by address."""
    replaying: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One record at a time: agents that search share the workers."""

    def __post_init__(self) -> None:
        self.requests = Buckets(self.limits.requests, self.limits.burst)
        if self.guests is None:
            self.guests = not is_loopback(self.host)

    def make_room(self, table: Table) -> Room:
        for seat in table.seats:
            if seat.agent is not None and seat.agent not in self.catalog.offers:
                LOG.warning(
                    "table %s: there is no agent %r any more, %s sits down", table.id, seat.agent, DEFAULT_AGENT
                )
                seat.agent = DEFAULT_AGENT
        room = Room(table, self.catalog, self.thinker, self.store, self.limits.absence)
        self.rooms[table.id] = room
        return room

    def load(self) -> None:
        """Take up the games that were under way when the server stopped."""
        for table, changed in self.store.load():
            room = self.make_room(table)
            room.used = time.monotonic() - max(0.0, time.time() - changed)
            room.opened = True
            for seat in table.persons:
                if table.seats[seat].token is not None:
                    room.left_at[seat] = time.monotonic()

    def add(self, table: Table, owner: str) -> Room:
        """A new table, if there is room for it.

        Args:
            owner: the address that sets it up.

        Raises:
            Refused: if there are too many, and somebody sits or sat just now at each of them.
        """
        own = [room for room in self.rooms.values() if room.owner == owner]
        if len(own) >= self.limits.tables_each:
            self._make_way(own)
        elif len(self.rooms) >= self.limits.tables:
            self._make_way(list(self.rooms.values()))
        room = self.make_room(table)
        room.owner = owner
        room.save()
        return room

    def _make_way(self, rooms: list[Room]) -> None:
        """End one of these tables, but none at which somebody sits or from which somebody may only have gone for a
        moment: whoever sets up a thousand tables shall end only their own."""
        unopened = [room for room in rooms if not room.opened]
        left = [room for room in rooms if room.idle > self.limits.spare]
        if not unopened and not left:
            raise Refused("full", 503)
        self.end(max(unopened or left, key=lambda room: room.idle))

    def end(self, room: Room) -> None:
        """Forget a table."""
        room.close()
        self.rooms.pop(room.table.id, None)
        self.store.remove(room.table)

    def end_idle(self) -> None:
        """Forget the tables that nobody has looked at for too long."""
        for room in list(self.rooms.values()):
            if room.idle > self.limits.idle:
                self.end(room)

    def room(self, table_id: Any) -> Room:
        """A table by its id.

        Raises:
            Refused: if there is none.
        """
        if not isinstance(table_id, str) or table_id not in self.rooms:
            raise Refused("no_table", 404)
        return self.rooms[table_id]


# --- requests --------------------------------------------------------------------------------------------------------


def server_of(connection: HTTPConnection) -> Server:
    server: Server = connection.app.state.server
    return server


def address_of(connection: HTTPConnection) -> str:
    """The address that a request comes from."""
    return connection.client.host if connection.client else ""


def lang_of(value: Any) -> str:
    lang = value.get("lang") if isinstance(value, dict) else None
    return lang if isinstance(lang, str) and lang in LANGUAGES else "en"


def refusal(sentence: str, status: int) -> JSONResponse:
    """A refusal in a sentence, without the middle of what somebody sent by the kilobyte."""
    if len(sentence) > LONGEST_REFUSAL:
        sentence = f"{sentence[: LONGEST_REFUSAL - 150]} … {sentence[-150:]}"
    return JSONResponse({"error": sentence}, status)


async def read_body(request: Request) -> dict[str, Any]:
    """The JSON object of a request.

    Raises:
        ValueError: if it is none; with the status in its second argument if it is too large or too slow.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(server_of(request).limits.body):
            async for chunk in request.stream():
                body += chunk
                if len(body) > LARGEST_BODY:
                    raise ValueError(f"the request is too large: at most {LARGEST_BODY} bytes.", 413)
    except TimeoutError:
        raise ValueError("the request took too long to arrive.", 408) from None
    try:
        value = parse_json(body.decode("utf-8-sig"))
    except ValueError:
        raise ValueError("the request is no JSON object.") from None
    if not isinstance(value, dict):
        raise ValueError("the request is no JSON object.")
    return value


@dataclass(frozen=True)
class Asked:
    """What a request asks of the server: its JSON object, in which language to answer, and the address it came from."""

    body: dict[str, Any]
    lang: str
    address: str


Handler = Callable[[Server, Asked], Awaitable[Any]]


def posted(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A request that sends a JSON object and receives one; whatever is wrong with it is answered in a sentence."""

    async def answer(request: Request) -> Response:
        server, address = server_of(request), address_of(request)
        if not origin_allowed(request):
            return refusal("this request comes from a page of another site.", 403)
        if not server.requests.take(address):
            return refusal(say("too_fast", "en"), 429)
        lang = "en"
        try:
            body = await read_body(request)
            lang = lang_of(body)
            found = await handler(server, Asked(body, lang, address))
            return found if isinstance(found, Response) else JSONResponse(found)
        except Refused as refused:
            return refusal(refused.sentence(lang), refused.status)
        except InputError as error:
            return refusal(str(error), 422)
        except ValueError as error:
            status = error.args[1] if len(error.args) > 1 else 422
            return refusal(str(error.args[0]), status)
        except Exception:
            LOG.exception("%s could not be answered", request.url.path)
            return refusal(say("failed", lang), 500)

    return answer


async def get_catalog(request: Request) -> Response:
    server = server_of(request)
    return JSONResponse(
        {**server.catalog.as_json(), "defaults": server.defaults, "guests": server.guests, "share": server.share}
    )


async def post_check(server: Server, asked: Asked) -> Any:
    body, lang = asked.body, asked.lang
    rules, players = rules_from_json(body.get("rules")), whole(body.get("players"), "players")
    return {
        "why_not": obstacle(rules, players, lang),
        "rules": str(rules),
        "preset": rules.base,
        "changed": sorted(rules.changes),
        "card": rule_card(rules, lang, width=10_000),
    }


async def post_table(server: Server, asked: Asked) -> Any:
    body, lang = asked.body, asked.lang
    rules = rules_from_json(body.get("rules"))
    seats = read_seats(server, body.get("seats"), lang)
    why_not = obstacle(rules, len(seats), lang)
    if why_not is not None:
        raise ValueError(why_not)
    for seat in seats:
        if seat.agent is not None and server.catalog.offers[seat.agent].players < len(seats):
            most = server.catalog.offers[seat.agent].players
            raise InputError(f"{seat.agent} was trained for at most {most} players: it cannot play with {len(seats)}.")
    given = body.get("seed")
    seed = secrets.randbelow(10**6) if given is None else whole(given, "seed")
    if abs(seed) > LARGEST_SEED:
        raise ValueError(f"seed={str(seed)[:40]} is not possible: give a whole number of at most 15 digits.")
    room = server.add(Table(rules, seats, seed), asked.address)
    host = room.table.host
    token = room.table.watch_token if host is None else room.table.seats[host].token
    return {"table": room.table.id, "token": token, "seat": host, "seed": seed}


def read_seats(server: Server, value: Any, lang: str) -> list[Seat]:
    """Seats from ``[{"person": "Kari"}, {"guest": true}, {"agent": "careful"}]``.

    Raises:
        ValueError, Refused: for anything else.
    """
    if not isinstance(value, list) or not all(isinstance(seat, dict) for seat in value) or len(value) > 5:
        raise ValueError("seats is a list of at most five, such as {'person': name}, {'guest': true}, {'agent': id}.")
    seats: list[Seat] = []
    for seat in value:
        if "person" in seat and all(other.agent is not None for other in seats):
            seats.append(Seat(name=clean_name(seat["person"] or say("person", lang)), token=new_token()))
        elif seat.get("guest") is True:
            if not server.guests:
                raise Refused("no_guests")
            if not any(other.token for other in seats):
                raise ValueError("a guest sits after the person who set the table up.")
            seats.append(Seat())
        elif isinstance(seat.get("agent"), str) and seat["agent"] in server.catalog.offers:
            seats.append(Seat(agent=seat["agent"]))
        else:
            offers = ", ".join(server.catalog.offers)
            raise ValueError(f"{str(seat)[:80]} is no seat: name one person, guests, or an agent of {offers}.")
    return seats


def whole(value: Any, name: str) -> int:
    """A whole number from a browser."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name}={str(value)[:40]!r} is not possible: give a whole number.")
    return value


async def post_join(server: Server, asked: Asked) -> Any:
    body = asked.body
    room = server.room(body.get("table"))
    seat, token = room.table.join(str(body.get("invite", "")), str(body.get("name") or say("person", asked.lang)))
    room.left_at[seat] = time.monotonic()  # the browser opens its socket next
    room.save()
    await room.tell_whole()
    room.wake()
    return {"table": room.table.id, "token": token, "seat": seat}


async def post_record(server: Server, asked: Asked) -> Any:
    table = server.room(asked.body.get("table")).table
    table.role(str(asked.body.get("token", "")))
    if not table.game.over:
        raise Refused("not_over")
    return table.record(asked.lang)


async def post_replay(server: Server, asked: Asked) -> Any:
    record = asked.body.get("record")
    players = record.get("players") if isinstance(record, dict) else None
    names = record.get("names") if isinstance(record, dict) else None
    seated = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    adviser = server.catalog.adviser(players if isinstance(players, int) else 2, seated)
    actions = record.get("actions") if isinstance(record, dict) else None
    short = not isinstance(actions, list) or len(actions) <= SHORT_RECORD
    think = server.thinker.quick if short else server.thinker.deep
    async with server.replaying:
        found: bytes = await think(
            frames_json, record, asked.body.get("seat"), asked.lang, adviser and adviser.spec, adviser and adviser.id
        )
    return Response(found, media_type="application/json")


# --- the socket ------------------------------------------------------------------------------------------------------


class SocketBrowser:
    """A browser at the other end of a WebSocket; messages wait in a queue, so that a slow one keeps nobody waiting."""

    def __init__(self, socket: WebSocket, longest: int) -> None:
        self.socket = socket
        self.queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(longest)
        self.gone = False

    async def send(self, message: dict[str, Any]) -> None:
        if self.gone:
            return
        try:
            self.queue.put_nowait(message)
        except asyncio.QueueFull:
            self.gone = True
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await self.socket.close(1013, "too slow")

    async def deliver(self) -> None:
        """Send what is in the queue until the connection ends."""
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            while (message := await self.queue.get()) is not None:
                await self.socket.send_text(json.dumps(message, ensure_ascii=False, separators=(",", ":")))
        self.gone = True


class BadMessage(Exception):
    """A browser sent something that no page of ours sends: the connection ends."""


def read_message(text: str) -> dict[str, Any]:
    """A message of a browser.

    Raises:
        BadMessage: if it is too large or no object with a ``type``.
    """
    if len(text) > LARGEST_MESSAGE:
        raise BadMessage("the message is too large")
    try:
        message = parse_json(text)
    except ValueError:
        raise BadMessage("the message is no JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise BadMessage("the message has no type")
    return message


async def socket(websocket: WebSocket) -> None:
    """One browser's connection, from ``hello`` to its end."""
    server, address = server_of(websocket), address_of(websocket)
    full = server.sockets.total() >= server.limits.sockets or server.sockets[address] >= server.limits.sockets_each
    if full or not origin_allowed(websocket):
        await websocket.close(1008)
        return
    server.sockets[address] += 1
    try:
        await websocket.accept()
        await converse(server, websocket)
    except (WebSocketDisconnect, RuntimeError):
        pass  # the browser has gone
    finally:
        server.sockets[address] -= 1
        server.sockets += Counter()  # forgets addresses without a socket


async def converse(server: Server, websocket: WebSocket) -> None:
    """Answer a browser until it leaves or misbehaves."""
    try:
        hello = read_message(await asyncio.wait_for(websocket.receive_text(), server.limits.hello))
        if hello["type"] != "hello":
            raise BadMessage("the first message is a hello")
    except (TimeoutError, BadMessage, KeyError) as error:
        await websocket.close(1008, str(error)[:100])
        return
    lang = lang_of(hello)
    try:
        room = server.room(hello.get("table"))
        role = room.table.role(str(hello.get("token", "")))
    except Refused as refused:
        await websocket.send_json({"type": "gone", "says": refused.sentence(lang)})
        await websocket.close(1008, "no seat")
        return
    browser = SocketBrowser(websocket, server.limits.queue)
    connection = Connection(browser, role, lang, role.seat)
    writer = asyncio.create_task(browser.deliver())
    bucket = Bucket(server.limits.messages, server.limits.burst)
    try:
        await room.enter(connection)
        while not browser.gone:
            message = read_message(await websocket.receive_text())
            while not bucket.take(WEIGHTS.get(message["type"], 1.0)):
                await asyncio.sleep(1 / server.limits.messages)  # whoever sends faster waits, and nobody else does
            await room.receive(connection, message)
    except (BadMessage, KeyError) as error:  # KeyError: Starlette's word for a message of bytes
        await websocket.close(1008, str(error)[:100])
    finally:
        await room.leave(connection)
        writer.cancel()


# --- the application -------------------------------------------------------------------------------------------------


class Guard:
    """Refuses foreign Hosts, and says to browsers what the page may do."""

    def __init__(self, app: ASGIApp, served: str) -> None:
        self.app, self.served = app, served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        if not host_allowed(HTTPConnection(scope).headers.get("host", ""), self.served):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                response = PlainTextResponse("This server is not called by that name.", 421)
                await response(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    (b"content-security-policy", POLICY.encode()),
                    (b"x-content-type-options", b"nosniff"),
                    (b"referrer-policy", b"no-referrer"),
                    (b"cross-origin-opener-policy", b"same-origin"),
                    (b"cache-control", b"no-cache"),
                ]
            await send(message)

        await self.app(scope, receive, send_guarded)


async def get_page(request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


def make_app(server: Server) -> Starlette:
    """The application of a server."""

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        server.load()

        async def sweep() -> None:
            while True:
                server.end_idle()
                await asyncio.sleep(60)

        sweeper = asyncio.create_task(sweep())
        yield
        sweeper.cancel()
        for room in server.rooms.values():
            room.close()
        server.thinker.close()

    app = Starlette(
        routes=[
            Route("/", get_page),
            Route("/api/catalog", get_catalog),
            Route("/api/check", posted(post_check), methods=["POST"]),
            Route("/api/tables", posted(post_table), methods=["POST"]),
            Route("/api/join", posted(post_join), methods=["POST"]),
            Route("/api/record", posted(post_record), methods=["POST"]),
            Route("/api/replay", posted(post_replay), methods=["POST"]),
            WebSocketRoute("/ws", socket),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[
            Middleware(Guard, served=server.host),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=4),
        ],
        lifespan=life,
    )
    app.state.server = server
    return app


__all__ = ["LOCAL", "Limits", "Server", "make_app"]
