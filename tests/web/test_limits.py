"""How much the server takes on: tables, sockets, messages, and browsers that do not read."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
from starlette.websockets import WebSocketDisconnect

from idiot_agents.web import app as web_app
from idiot_agents.web.guard import LARGEST_BODY, Bucket, Buckets
from idiot_agents.web.thinking import Thinker
from tests.web_server import (
    GREEDY,
    HOST,
    PERSON,
    Person,
    client_of,
    make_server,
    new_table,
)


def test_large_and_many_requests_are_refused(tmp_path: Path) -> None:
    with client_of(make_server(tmp_path, requests=1.0, burst=8.0)) as client:
        answer = client.post("/api/check", content=b" " * (LARGEST_BODY + 1))
        assert (answer.status_code, "too large" in answer.json()["error"]) == (413, True)
        statuses = [client.post("/api/check", json={"rules": {}, "players": 2}).status_code for _ in range(20)]
        assert statuses[0] == 200
        assert statuses[-1] == 429
    bucket = Bucket(1000.0, 2.0)
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    time.sleep(0.01)
    assert bucket.take()
    buckets = Buckets(0.001, 1.0, most=2)
    assert [buckets.take(name) for name in ("a", "a", "b", "c")] == [True, False, True, True]
    assert len(buckets._buckets) == 2


def test_tables_are_bounded_and_idle_ones_end(tmp_path: Path) -> None:
    server = make_server(tmp_path, tables=3, idle=1000.0)
    with client_of(server) as client:
        seats = [new_table(client) for _ in range(3)]
        with Person(client, seats[0]):
            fourth = new_table(client)
            assert seats[0]["table"] in server.rooms
            assert seats[1]["table"] not in server.rooms, "the one that was left alone for longest ends"
            assert not (tmp_path / f"{seats[1]['table']}.json").exists()
            with Person(client, seats[2]), Person(client, fourth):
                refused = client.post("/api/tables", json={"rules": {}, "seats": [PERSON, GREEDY]})
                assert refused.status_code == 503
            server.rooms[fourth["table"]].used -= 2000.0
            server.end_idle()
            assert set(server.rooms) == {seats[0]["table"], seats[2]["table"]}


def test_sockets_are_bounded(tmp_path: Path) -> None:
    server = make_server(tmp_path, sockets=2)
    with client_of(server) as client:
        seat = new_table(client)
        with Person(client, seat), Person(client, seat), pytest.raises(WebSocketDisconnect):
            client.websocket_connect(f"ws://{HOST}/ws", headers={"origin": f"http://{HOST}"}).__enter__()
        with Person(client, seat):
            pass


def test_a_browser_that_reads_nothing_keeps_nobody_waiting() -> None:
    class Socket:
        closed: tuple[int, str] | None = None

        async def send_text(self, text: str) -> None:
            await asyncio.sleep(3600)

        async def close(self, code: int, reason: str) -> None:
            self.closed = (code, reason)

    async def flood() -> Socket:
        socket = Socket()
        browser = web_app.SocketBrowser(socket, 5)  # type: ignore[arg-type]
        writer = asyncio.create_task(browser.deliver())
        for _ in range(20):
            await asyncio.wait_for(browser.send({"type": "note"}), 1)
            await asyncio.sleep(0)
        writer.cancel()
        assert browser.gone
        return socket

    assert asyncio.run(flood()).closed == (1013, "too slow")


def test_a_flood_of_messages_is_slowed_down(tmp_path: Path) -> None:
    server = make_server(tmp_path, messages=100.0, burst=100.0)
    with client_of(server) as client, Person(client, new_table(client)) as person:
        began = time.monotonic()
        for _ in range(150):
            person.send(type="act", action="play 9x4", version=[0, 0])
        for _ in range(150):
            person.until("refused")
        assert time.monotonic() - began > 0.4


def test_a_worker_that_dies_is_replaced() -> None:
    async def die_and_ask() -> list[int]:
        thinker = Thinker(1)
        pids = [await thinker.deep(os.getpid)]
        os.kill(pids[0], signal.SIGKILL)
        while True:  # the pool notices in its own time
            try:
                pids.append(await thinker.deep(os.getpid))
            finally:
                await asyncio.sleep(0.05)
            if pids[-1] != pids[0]:
                break
        thinker.close()
        return pids

    pids = asyncio.run(die_and_ask())
    assert os.getpid() not in pids
