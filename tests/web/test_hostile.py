"""A client that tries to break the server: every field of every message with what no page sends, floods, lost moments.

Nothing may answer with an error of the server's own, end somebody else's game, or change a table.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from idiot_agents.errors import InputError
from idiot_agents.web import app as web_app
from idiot_agents.web.app import WEIGHTS
from idiot_agents.web.frames import MOST_ACTIONS, frames, frames_json
from idiot_agents.web.guard import parse_json
from idiot_agents.web.table import Seat, Table
from idiot_env import Rules
from tests.web_server import (
    GREEDY,
    GUEST,
    HOST,
    PERSON,
    Person,
    client_of,
    join,
    make_server,
    new_table,
    table_at,
)

ODD: list[Any] = [
    None, True, 0, -1, 3, 2.5, 10**30, "", "../../../etc/passwd", "\x00\u202e", "a" * 5000, [[]], [None] * 50, {},
    {"a": {"b": []}}, [{"agent": "greedy"}],
]  # fmt: skip
FIELDS = {
    "/api/check": ["rules", "players", "lang"],
    "/api/tables": ["rules", "seats", "seed", "lang"],
    "/api/join": ["table", "invite", "name", "lang"],
    "/api/record": ["table", "token", "lang"],
}
MESSAGES = {
    "act": ["version", "action"],
    "shown": ["version"],
    "look": ["lang", "seat"],
    "insight": ["version"],
    "story": ["seat"],
    "rematch": ["seat"],
    "start": ["seat"],
}


def sentence(answer: Any) -> str:
    """What a refused request is told: one sentence."""
    said = str(answer.json()["error"])
    assert said.endswith(".")
    assert "Traceback" not in said
    assert len(said) < 1200
    return said


@pytest.mark.parametrize("path", FIELDS)
def test_every_field_of_a_request_with_anything_in_it(client: TestClient, server: web_app.Server, path: str) -> None:
    host = new_table(client, PERSON, GUEST)
    right = {"rules": {}, "players": 2, "seats": [PERSON, GREEDY], **host, "invite": "no", "name": "x", "lang": "en"}
    before = json.dumps(server.rooms[host["table"]].table.as_json())
    for field in FIELDS[path]:
        for odd in ODD:
            answer = client.post(path, json=right | {field: odd})
            assert answer.status_code in (200, 403, 404, 409, 422), (field, odd, answer.text)
            if answer.status_code != 200:
                sentence(answer)
    assert json.dumps(server.rooms[host["table"]].table.as_json()) == before


def test_every_part_of_rules_and_seats_with_anything_in_it(client: TestClient) -> None:
    for odd in ODD[::3]:
        for option in (*Rules().as_dict(), "preset", "unknown"):
            answer = client.post("/api/check", json={"rules": {option: odd}, "players": 3})
            assert answer.status_code == 200 or sentence(answer)
        for seat in ({"person": odd}, {"agent": odd}, {"guest": odd}, {"token": odd}, odd):
            answer = client.post("/api/tables", json={"rules": {}, "seats": [seat, GREEDY]})
            assert answer.status_code == 200 or sentence(answer)


def test_half_a_character_is_no_text(client: TestClient, server: web_app.Server) -> None:
    """A lone surrogate can be sent in JSON, but neither saved nor sent on."""
    half = '{"rules": {}, "seats": [{"person": "\\ud800"}, {"agent": "greedy"}]}'
    assert client.post("/api/tables", content=half).status_code == 422
    assert not server.rooms
    seat = new_table(client)
    with Person(client, seat) as person:
        person.socket.send_text('{"type": "act", "action": "\\ud800", "version": [0, 0]}')
        with pytest.raises(WebSocketDisconnect):
            person.drain()
    for text in ("[" * 100_000, '{"a": ' * 3000 + "1" + "}" * 3000, '"\\udfff"', "{", "9" * 5000):
        with pytest.raises(ValueError, match=r"."):
            parse_json(text)


@pytest.mark.parametrize("kind", MESSAGES)
def test_every_field_of_a_message_with_anything_in_it(client: TestClient, server: web_app.Server, kind: str) -> None:
    seat = new_table(client)
    room = server.rooms[seat["table"]]
    before = json.dumps(room.table.as_json())
    with Person(client, seat) as person:
        for field in MESSAGES[kind]:
            for odd in ODD:
                person.send(type=kind, **{"version": person.state["version"], field: odd})
        assert person.act("play 9x4")["type"] == "refused"
    assert json.dumps(room.table.as_json()) == before


def test_every_field_of_a_hello_with_anything_in_it(client: TestClient) -> None:
    seat = new_table(client)
    for field in ("table", "token"):
        for odd in ODD:
            with client.websocket_connect(f"ws://{HOST}/ws", headers={"origin": f"http://{HOST}"}) as socket:
                socket.send_json({"type": "hello", **seat, field: odd})
                assert socket.receive_json()["type"] == "gone"


def test_every_field_of_a_record_with_anything_in_it() -> None:
    record = table_at(4, 30, players=3).record()
    for field in (*record, "unknown"):
        for odd in ODD:
            error: InputError | None = None
            try:
                frames(record | {field: odd}, None, "en", None, None)
            except InputError as caught:
                error = caught
            if error is not None:
                assert str(pickle.loads(pickle.dumps(error))) == str(error), "it comes from a worker"
                assert str(error).startswith("the record")
    for seat in [odd for odd in ODD if odd is not None and odd != 0] + [False, True, 3]:
        with pytest.raises(InputError):
            frames(record, seat, "en", None, None)
    longer = record | {"actions": ["take"] * (MOST_ACTIONS + 1)}
    with pytest.raises(InputError, match=str(MOST_ACTIONS)):
        frames(longer, None, "en", None, None)
    assert json.loads(frames_json(record, 1, "no", None, None)) == frames(record, 1, "no", None, None)


@pytest.mark.parametrize("names", [5, True, {"a": 1}, "greedy", [[]], [None, 1, {}]])
def test_odd_names_in_a_record(client: TestClient, names: Any) -> None:
    record = table_at(4, 3, players=3).record() | {"names": names}
    answer = client.post("/api/replay", json={"record": record})
    assert answer.status_code == 200 or sentence(answer)


@pytest.mark.parametrize(
    "path", ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "%2fetc/passwd", "....//app.py", "\\..\\app.py"]
)
def test_no_path_leads_out_of_the_static_files(client: TestClient, server: web_app.Server, path: str) -> None:
    seat = new_table(client)
    for start in ("/static/", "/api/", "/"):
        for wanted in (path, f"../../{path}", f"{server.store.folder}/{seat['table']}.json"):
            answer = client.get(start + wanted)
            assert answer.status_code in (404, 405)
            assert "token" not in answer.text


def test_a_flood_of_tables_ends_nobodys_game(tmp_path: Path) -> None:
    """A flood of tables, opened or not, ends tables of the flood alone."""
    server = make_server(tmp_path, tables=12, tables_each=8)
    with client_of(server) as client:
        victim = new_table(client)
        room = server.rooms[victim["table"]]
        room.owner = "somebody else"
        with Person(client, victim) as person:
            person.wait_for_turn()
        for _ in range(60):
            new_table(client)
        assert len(server.rooms) == 9
        assert len(list(tmp_path.glob("*.json"))) == 9
        for seat in [entry for entry in server.rooms.values() if entry is not room]:
            seat.opened = True
        for _ in range(3):
            answer = client.post("/api/tables", json={"rules": {}, "seats": [PERSON, GREEDY]})
            assert answer.status_code == 503
            assert sentence(answer)
        assert server.rooms[victim["table"]] is room
        for entry in server.rooms.values():
            entry.used -= 700.0  # left for longer than a moment
        new_table(client)
        assert server.rooms[victim["table"]] is room, "whoever has too many gives up one of their own"
        with Person(client, victim) as person:
            assert person.state["version"] == room.table.version


def test_all_tables_taken_by_many(tmp_path: Path) -> None:
    server = make_server(tmp_path, tables=3)
    for number in range(3):
        server.add(Table(Rules(), [Seat(token="t"), Seat(agent="greedy")], number), f"address {number}").opened = True
    with client_of(server) as client:
        body = {"rules": {}, "seats": [PERSON, GREEDY]}
        assert client.post("/api/tables", json=body).status_code == 503
        oldest = next(iter(server.rooms.values()))
        oldest.used -= 700.0
        assert client.post("/api/tables", json=body).status_code == 200
        assert oldest.table.id not in server.rooms


def test_one_address_cannot_take_every_socket(tmp_path: Path) -> None:
    server = make_server(tmp_path, sockets=10, sockets_each=2)
    with client_of(server) as client:
        seat = new_table(client)
        with Person(client, seat), Person(client, seat), pytest.raises(WebSocketDisconnect):
            client.websocket_connect(f"ws://{HOST}/ws", headers={"origin": f"http://{HOST}"}).__enter__()
        server.sockets["elsewhere"] = 9
        with Person(client, seat), pytest.raises(WebSocketDisconnect):
            client.websocket_connect(f"ws://{HOST}/ws", headers={"origin": f"http://{HOST}"}).__enter__()


def test_two_tabs_of_one_seat(client: TestClient, server: web_app.Server) -> None:
    seat = new_table(client, rules={"swap": "never", "starter": "left_of_dealer"})
    room = server.rooms[seat["table"]]
    with Person(client, seat) as first, Person(client, seat) as second:
        first.wait_for_turn()
        while second.state["version"] != first.state["version"]:
            second.next()
        version, action = first.state["version"], first.state["choices"][0]["action"]
        assert first.act(action)["type"] == "step"
        second.send(type="act", action=action, version=version)
        assert second.until("step")["version"] == first.state["version"], "both tabs see what one of them did"
        assert second.until("refused")["what"] == "act"
        assert [played.event.seat for played in room.table.played].count(0) == 1
        assert 0 not in room.left_at
    third, fourth = Person(client, seat), Person(client, seat)
    third.close()
    fourth.send(type="look")
    fourth.until("table")
    assert 0 not in room.left_at, "the other tab is still here"
    fourth.close()


def test_whoever_joins_after_the_end_is_there_for_the_next_game(client: TestClient, server: web_app.Server) -> None:
    host = new_table(client, PERSON, GUEST, GREEDY, rules={"preset": "norsk"})
    room = server.rooms[host["table"]]
    with Person(client, host) as kari:
        kari.send(type="start")
        while not kari.until("table")["started"]:
            pass
        while not room.table.game.over:
            room.table.apply(room.table.game.legal()[0])
        ola_seat = join(client, host, room.table.invite)
        with Person(client, ola_seat) as ola:
            assert ola.state["view"]["result"] is not None
            assert "over" in ola.act("take")["says"]
            ola.send(type="rematch")
            assert ola.until("table")["version"] == [1, 0]
        assert client.post("/api/join", json={"table": host["table"], "invite": room.table.invite}).status_code == 409


def test_tokens_are_of_one_table_and_one_seat(client: TestClient, server: web_app.Server) -> None:
    mine, other = new_table(client), new_table(client, PERSON, GUEST)
    invite = server.rooms[other["table"]].table.invite
    for token in (mine["token"], invite, other["table"]):
        with client.websocket_connect(f"ws://{HOST}/ws", headers={"origin": f"http://{HOST}"}) as socket:
            socket.send_json({"type": "hello", "table": other["table"], "token": token})
            assert socket.receive_json()["type"] == "gone"
    assert client.post("/api/join", json={"table": mine["table"], "invite": invite}).status_code == 403
    assert client.post("/api/join", json={"table": other["table"], "invite": other["token"]}).status_code == 403


def test_dear_messages_count_for_more(tmp_path: Path) -> None:
    server = make_server(tmp_path, messages=100.0, burst=WEIGHTS["look"])
    with client_of(server) as client, Person(client, new_table(client)) as person:
        began = time.monotonic()
        for _ in range(6):
            person.send(type="look")
        for _ in range(6):
            person.until("table")
        assert time.monotonic() - began > 0.3, "six of them are fifty messages more than the ten that may come at once"


def test_a_very_long_game_is_told_from_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_at(4, 60, players=3)
    told = table.log(0, "en")
    assert len(told) >= len(table.played) == 60
    monkeypatch.setattr("idiot_agents.web.table.LONGEST_LOG", 20)
    shorter = table.log(0, "en")
    assert 20 <= len(shorter) < 60
    assert told[-len(shorter) :] == shorter


def test_a_model_that_fails_ends_no_connection(
    client: TestClient, server: web_app.Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*args: Any) -> Any:
        raise KeyError("weights")

    seat = new_table(client, rules={"swap": "never"})
    with Person(client, seat) as person:
        person.wait_for_turn()
        monkeypatch.setattr(server.thinker, "quick", broken)
        person.send(type="insight")
        assert person.until("refused")["says"] == "The model could not answer because of an error."
        person.send(type="look", lang="no")
        assert person.until("table")["view"]["seat"] == 0
        monkeypatch.setattr(server.thinker, "deep", broken)
        answer = client.post("/api/replay", json={"record": {}})
        assert (answer.status_code, "went wrong" in sentence(answer)) == (500, True)
    assert "weights" in caplog.text


def test_a_request_that_never_ends_is_given_up(tmp_path: Path) -> None:
    """Byte after byte, so slowly that no body is ever whole."""
    server = make_server(tmp_path, body=0.2)

    async def trickle() -> dict[str, Any]:
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def read() -> None:
        app = web_app.make_app(server)
        scope = {"type": "http", "app": app, "headers": [], "method": "POST", "path": "/api/check"}
        await asyncio.wait_for(web_app.read_body(Request(scope, trickle)), 10)

    with pytest.raises(ValueError, match="too long") as caught:
        asyncio.run(read())
    assert caught.value.args[1] == 408


def test_tables_restored_from_files_count_as_opened(tmp_path: Path) -> None:
    with client_of(make_server(tmp_path)) as client:
        seats = [new_table(client) for _ in range(2)]
    again = make_server(tmp_path)
    with client_of(again):
        assert all(again.rooms[seat["table"]].opened for seat in seats)
