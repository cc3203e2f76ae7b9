"""The server is the only authority: whatever is not allowed, or no page sends, is refused and changes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from idiot_agents.web import app as web_app
from idiot_agents.web.catalog import Catalog
from idiot_agents.web.guard import LARGEST_MESSAGE, host_allowed
from idiot_agents.web.store import Store
from idiot_agents.web.table import Seat, Table
from idiot_agents.web.thinking import Thinker
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
)


def test_who_may_not_act_changes_nothing(client: TestClient, server: web_app.Server) -> None:
    host = new_table(client, PERSON, GUEST, rules={"swap": "never", "starter": "left_of_dealer"})
    room = server.rooms[host["table"]]
    invite = room.table.invite
    with Person(client, host) as kari:
        early = kari.act("take")
        assert (early["type"], "has not begun" in early["says"]) == ("refused", True)
        guest = join(client, host, invite)
        again = client.post("/api/join", json={"table": host["table"], "invite": invite, "name": "Per"})
        assert again.status_code == 409
        with Person(client, guest) as ola:
            kari.until("table")
            first, other = (kari, ola) if room.table.turn == 0 else (ola, kari)
            before = json.dumps(room.table.as_json())
            legal = room.table.game.legal()
            refused = [
                (other, legal[0], None),  # out of turn
                (first, "play 9x4", None),
                (first, "swap 3 4", None),
                (first, legal[0], [0, 7]),
                (first, legal[0], [9, 0]),
                (first, legal[0], "x"),
                (first, None, None),
                (first, ["take"], None),
                (first, {"a": 1}, None),
                (first, 0, None),
            ]
            for person, action, version in refused:
                answer = person.act(action, version)  # type: ignore[arg-type]
                assert answer["type"] == "refused"
                assert answer["says"].endswith(".")
                assert json.dumps(room.table.as_json()) == before
            version = first.state["version"]
            assert first.act(legal[0])["type"] == "step"
            after = json.dumps(room.table.as_json())
            assert after != before
            assert first.act(legal[0], version)["type"] == "refused"  # the same message again
            first.send(type="rematch")
            assert first.until("refused")["what"] == "rematch"
            first.send(type="story")
            first.until("refused")
            assert json.dumps(room.table.as_json()) == after


def test_a_refusal_is_in_the_language_of_its_reader(client: TestClient) -> None:
    with Person(client, new_table(client), lang="no") as person:
        person.wait_for_turn()
        assert person.act("play 9x4")["says"] == "Det går ikke nå: play 9x4."


@pytest.mark.parametrize("token", ["", "x", "token", "æ" * 32, "a" * 4000])
def test_a_wrong_token_gives_no_seat(client: TestClient, token: str) -> None:
    seat = new_table(client)
    for table in (seat["table"], "nowhere", "../../etc"):
        with client.websocket_connect(f"ws://{HOST}/ws", headers={"origin": f"http://{HOST}"}) as socket:
            socket.send_json({"type": "hello", "table": table, "token": token})
            assert socket.receive_json()["type"] == "gone"
            with pytest.raises(WebSocketDisconnect):
                socket.receive_json()
    assert client.post("/api/record", json={"table": seat["table"], "token": token}).status_code == 403


def test_tokens_cannot_be_guessed() -> None:
    tables = [Table(Rules(), [Seat(name="a"), Seat()], 1) for _ in range(50)]
    invites = {table.invite for table in tables}
    assert len(invites) == 50
    assert min(len(invite or "") for invite in invites) >= 32
    assert len({table.id for table in tables}) == 50


BAD_MESSAGES = [
    "", "null", "[]", "3", '"act"', "{", "{}", '{"type": 3}', '{"type": null}', "[" * 5000, "\x00", "ÆØÅ",
    '{"type": "' + "a" * LARGEST_MESSAGE + '"}',
]  # fmt: skip
ODD_MESSAGES: list[dict[str, Any]] = [
    {"type": "nothing"}, {"type": "act"}, {"type": "act", "version": {}}, {"type": "act", "seat": 1, "action": "take"},
    {"type": "shown"}, {"type": "shown", "version": [[[]]]}, {"type": "look", "seat": 1}, {"type": "look", "seat": "x"},
    {"type": "look", "lang": ["no"]}, {"type": "hello", "table": "x", "token": "y"}, {"type": "story", "seat": 1},
    {"type": "start"}, {"type": "insight", "seat": 1, "version": None},
]  # fmt: skip


def test_messages_that_no_page_sends_change_nothing(client: TestClient, server: web_app.Server) -> None:
    seat = new_table(client)
    room = server.rooms[seat["table"]]
    before = json.dumps(room.table.as_json())
    for text in BAD_MESSAGES:
        with Person(client, seat) as person:
            person.socket.send_text(text)
            with pytest.raises(WebSocketDisconnect):
                person.drain()
    with Person(client, seat) as person:
        person.socket.send_bytes(b"\xff\x00")
        with pytest.raises(WebSocketDisconnect):
            person.drain()
    for text in BAD_MESSAGES[:8]:  # instead of a hello
        with client.websocket_connect(f"ws://{HOST}/ws", headers={"origin": f"http://{HOST}"}) as socket:
            socket.send_text(text)
            with pytest.raises(WebSocketDisconnect):
                socket.receive_json()
    with Person(client, seat) as person:
        for message in ODD_MESSAGES:
            person.send(**message)
        person.act("play 9x4")
        assert person.state["view"]["seat"] == 0, "a player looks from its own seat only"
    assert json.dumps(room.table.as_json()) == before
    assert not server.sockets


ORIGINS = ["http://evil.example", "http://localhost:9999", "null", "", "https://localhost:8000.evil.example"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_of_another_site_is_refused(client: TestClient, server: web_app.Server, origin: str) -> None:
    seat = new_table(client)
    before = len(server.rooms)
    body = {"rules": {}, "seats": [PERSON, GREEDY]}
    assert client.post("/api/tables", json=body, headers={"origin": origin}).status_code == 403
    assert client.post("/api/record", json=seat, headers={"origin": origin}).status_code == 403
    with pytest.raises(WebSocketDisconnect):
        client.websocket_connect(f"ws://{HOST}/ws", headers={"origin": origin}).__enter__()
    assert len(server.rooms) == before


def test_a_server_is_called_by_its_own_name(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    assert client.get("/api/catalog", headers={"host": "127.0.0.1:8000"}).status_code == 200
    assert not host_allowed("192.168.1.5:8000", "127.0.0.1")
    assert host_allowed("[::1]:8000", "::1")
    assert host_allowed("192.168.1.5:8000", "0.0.0.0")
    assert not host_allowed("evil.example:8000", "0.0.0.0")
    assert not host_allowed("", "0.0.0.0")


BAD_TABLES: list[tuple[Any, str]] = [
    ({"seats": "x"}, "seats is a list"),
    ({"seats": [1, 2]}, "seats is a list"),
    ({"seats": [PERSON] * 6}, "seats is a list"),
    ({"seats": [PERSON]}, "Two idiots|2 to 5|at least"),
    ({"seats": [PERSON, PERSON]}, "is no seat"),
    ({"seats": [GUEST, PERSON]}, "guest sits after"),
    ({"seats": [PERSON, {"agent": "ppo:/etc"}]}, "is no seat"),
    ({"seats": [PERSON, {"agent": "greedy"}], "rules": 3}, "rules=3"),
    ({"seats": [PERSON, GREEDY], "rules": {"swap": "often"}}, "swap"),
    ({"seats": [PERSON, GREEDY], "rules": {"fast": True}}, "unknown option"),
    ({"seats": [PERSON, GREEDY], "rules": {"losers": 2}}, "Two idiots"),
    ({"seats": [PERSON, *[GREEDY] * 4], "rules": {"hand_size": 6}}, "Six cards"),
    ({"seats": [PERSON, GREEDY], "seed": "7"}, "seed="),
    ({"seats": [PERSON, GREEDY], "seed": 1.5}, "seed="),
    ({"seats": [PERSON, GREEDY], "seed": True}, "seed="),
    ({"seats": [PERSON, GREEDY], "seed": 10**20}, "15 digits"),
]


@pytest.mark.parametrize(("body", "says"), BAD_TABLES)
def test_an_impossible_table_is_explained(client: TestClient, server: web_app.Server, body: Any, says: str) -> None:
    answer = client.post("/api/tables", json={"rules": {}, **body})
    assert answer.status_code == 422
    assert re.search(says, answer.json()["error"]), answer.json()
    assert not server.rooms


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'"x"'])
def test_a_body_that_is_no_object(client: TestClient, content: bytes) -> None:
    for path in ("/api/check", "/api/tables", "/api/join", "/api/record", "/api/replay"):
        assert client.post(path, content=content).status_code == 422


def test_guests_only_where_others_reach_the_server(tmp_path: Path) -> None:
    with client_of(make_server(tmp_path, guests=False)) as client:
        answer = client.post("/api/tables", json={"rules": {}, "seats": [PERSON, GUEST]})
        assert "--host" in answer.json()["error"]
    assert web_app.Server(Catalog(), Store(tmp_path), Thinker(1), host="0.0.0.0").guests is True
    assert web_app.Server(Catalog(), Store(tmp_path), Thinker(1)).guests is False
