"""Reloads, restarts, several people at one table, and a hostile client beside them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.page.browsing import (
    PHONE,
    WAIT,
    Site,
    by_mouse,
    do,
    expect,
    hand,
    moved_on,
    quiet_table,
    wait_turn,
)
from tests.web_server import make_server, served

pytestmark = pytest.mark.browser


def test_a_reload_and_a_restart_in_mid_game(chromium: Any, tmp_path: Path) -> None:
    server = make_server(tmp_path)
    with served(server) as address:
        port = int(address.rpartition(":")[2])
        site = Site(server, address, chromium)
        page = site.open(site.browser())
        page.select_option("#seat-1", "greedy")
        page.click("#begin")
        page.wait_for_selector(".board .group")
        table = site.table(page)
        for _ in range(8):
            wait_turn(page)
            version = table.version
            by_mouse(page)
            moved_on(page, table, version)
        wait_turn(page)
        before = page.locator(".board").inner_text(), page.locator(".log").inner_text()
        page.reload()
        wait_turn(page)
        assert (page.locator(".board").inner_text(), page.locator(".log").inner_text()) == before
    expect(page.locator("body.offline")).to_be_attached()
    again = make_server(tmp_path)
    with served(again, port):
        expect(page.locator("body:not(.offline)")).to_be_attached()
        wait_turn(page)
        assert page.locator(".board").inner_text() == before[0]
        table = again.rooms[table.id].table
        version = table.version
        by_mouse(page)
        moved_on(page, table, version)
        site.contexts[0].close()
    assert [fault for fault in site.faults if "WebSocket" not in fault and "ERR_" not in fault] == []


def test_two_people_at_one_table(site: Site) -> None:
    kari = site.open(site.browser())
    kari.click(".more > summary")
    kari.fill("#name", "Kari")
    kari.check("#preset-norsk", force=True)
    kari.check("#players-3", force=True)
    kari.select_option("#seat-1", "guest")
    kari.select_option("#seat-2", "greedy")
    kari.click("#begin")
    link = kari.locator(".lobby input").input_value()
    assert link.startswith(site.address)
    ola = site.browser(PHONE)
    ola.goto(link)
    ola.fill("#name", "Ola <b>")
    ola.tap("#begin")
    ola.wait_for_selector(".board .plate")
    kari.wait_for_selector(".lobby[hidden]", state="attached")
    expect(kari.locator(".board")).to_contain_text("Ola <b>")
    table = site.table(kari)
    pages = {0: kari, 1: ola}
    for _ in range(12):
        kari.wait_for_function("() => true")
        deadline = time.monotonic() + WAIT / 1000
        while table.turn == 2:
            assert time.monotonic() < deadline
            kari.wait_for_timeout(10)
            ola.wait_for_timeout(10)
        turn = table.turn
        if turn is None:
            break
        other = pages[1 - turn]
        assert wait_turn(pages[turn])
        expect(other.locator(".my-turn")).to_have_count(0)
        version = table.version
        by_mouse(pages[turn])
        moved_on(pages[turn], table, version)
    view = table.game.view(0)
    expect(ola.locator("[data-rank]")).to_have_count(len(set(table.shown(1, "en")["view"]["hand"])))  # nobody else's
    assert view.seat == 0
    ola.close()  # an agent takes over after a second
    expect(kari.locator(".player[data-seat='1'] .tag")).to_have_text("away")
    deadline = time.monotonic() + WAIT / 1000
    actions = len(table.played)
    while not any(played.event.seat == 1 for played in table.played[actions:]):
        assert time.monotonic() < deadline, "nobody stands in"
        if table.game.over:
            break
        if table.turn == 0 and wait_turn(kari):
            version = table.version
            by_mouse(kari)
            moved_on(kari, table, version)
        kari.wait_for_timeout(50)


def send_and_drain(socket: Any, attack: str | bytes) -> None:
    """Send something and read until the server hangs up."""
    socket.send(attack)
    while True:
        socket.recv(timeout=WAIT / 1000)


def test_a_hostile_client_on_the_wire(site: Site) -> None:
    """The real server in front: huge frames, other origins, other hosts; the game goes on beside it."""
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect

    page = site.browser()
    table = quiet_table(site, dict(hand=["449"]))
    site.sit(page, table)
    before = json.dumps(table.as_json())
    address = site.address.replace("http", "ws") + "/ws"
    hello = json.dumps({"type": "hello", "table": table.id, "token": "t0"})
    for origin in ("http://evil.example", None):
        with pytest.raises(WebSocketException):
            connect(address, origin=origin)  # type: ignore[arg-type]
    with pytest.raises(WebSocketException):
        connect(address, origin=site.address, additional_headers={"Host": "evil.example"})  # type: ignore[arg-type]
    for attack in ("x" * 1_000_000, b"\x00" * 1_000_000, "{" * 15_000, b"\xff"):
        with connect(address, origin=site.address) as socket:  # type: ignore[arg-type]
            socket.send(hello)
            with pytest.raises(WebSocketException):
                send_and_drain(socket, attack)
    with connect(address, origin=site.address) as socket:  # type: ignore[arg-type]
        socket.send(json.dumps({"type": "hello", "table": table.id, "token": "guess"}))
        assert json.loads(socket.recv(timeout=WAIT / 1000))["type"] == "gone"
    assert json.dumps(table.as_json()) == before
    hand(page, "9").click()
    do(page, "play 9")
    moved_on(page, table, [0, 0])
