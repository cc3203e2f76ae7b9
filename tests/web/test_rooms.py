"""Tables over the wire: whole games, who comes and goes, agents that stand in or fail."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from idiot_agents.web import app as web_app
from idiot_agents.web.table import mixed
from idiot_agents.web.thinking import decide
from idiot_env import Game, Rules
from tests.web_server import (
    GREEDY,
    GUEST,
    PERSON,
    Person,
    client_of,
    join,
    make_server,
    new_table,
)


@pytest.mark.parametrize(("preset", "players"), [("standard", 2), ("norsk", 3), ("sjanse", 4), ("familie", 5)])
def test_a_whole_game(client: TestClient, server: web_app.Server, preset: str, players: int) -> None:
    seat = new_table(client, PERSON, *[GREEDY] * (players - 1), rules={"preset": preset}, seed=5)
    with Person(client, seat, lang="no") as person:
        log = list(person.state["log"])
        while person.wait_for_turn():
            assert [choice["action"] for choice in person.state["choices"]]
            action = person.state["choices"][0]["action"]
            step = person.act("take" if "take" in person.state["view"]["legal"] and len(log) % 3 == 0 else action)
            assert step["type"] == "step"
            assert step["event"]["seat"] == 0
            log += step["lines"]
        result = person.state["view"]["result"]
    record = client.post("/api/record", json=seat).json()
    game = Game.from_record(record)
    assert game.result == result
    assert game.rules == Rules.preset(preset)
    assert record["names"][0] == "Kari"
    shown = client.post("/api/replay", json={"record": record, "seat": 0, "lang": "no"}).json()
    assert len(shown["frames"]) == len(record["actions"]) + 1
    assert server.rooms[seat["table"]].table.log(0, "no")[-1] == shown["frames"][-1]["event"]["says"] or players > 2


def test_the_same_seed_is_the_deal_of_the_terminal(client: TestClient) -> None:
    seat = new_table(client, seed=77)
    with Person(client, seat) as person:
        deal = Game("standard", 2, seed=77)
        assert person.state["view"]["dealer"] == deal.dealer
        assert sorted(person.state["view"]["hand"]) == sorted(deal.snapshot()["hand"][0])


def test_an_agent_decides_the_same_again(model: str) -> None:
    game = Game("standard", 3, seed=3)
    for spec in ("random", "careful", model):
        actions = [decide(spec, game.view(game.turn or 0), seed) for seed in (1, 1, 2, 3, 4, 5, 6, 7)]
        assert actions[0] == actions[1]
        assert all(game.mask[action] for action in actions)
    assert len({decide("random", game.view(game.turn or 0), seed) for seed in range(20)}) > 3


def test_after_the_end_nothing_is_played(client: TestClient, server: web_app.Server) -> None:
    seat = new_table(client)
    room = server.rooms[seat["table"]]
    with Person(client, seat) as person:
        while person.wait_for_turn():
            person.act(person.state["choices"][0]["action"])
        before = json.dumps(room.table.as_json())
        for action in ("take", "play 3", "done"):
            assert "over" in person.act(action)["says"]
        assert json.dumps(room.table.as_json()) == before
        result = person.state["view"]["result"]
        person.send(type="rematch")
        fresh = person.until("table")
        assert fresh["version"] == [1, 0]
        assert fresh["view"]["dealer"] == result["idiots"][0], "the loser deals"
        assert room.table.game.deck != Game.from_record(json.loads(before)["record"]).deck
        assert fresh["results"][0]["idiots"] == result["idiots"]


def test_who_leaves_is_stood_in_for_and_can_come_back(tmp_path: Path) -> None:
    server = make_server(tmp_path, absence=0.3)
    with client_of(server) as client:
        host = new_table(client, PERSON, GUEST, GREEDY, rules={"preset": "norsk"})
        room = server.rooms[host["table"]]
        guest = join(client, host, room.table.invite)
        kari, ola = Person(client, host), Person(client, guest)
        ola.close()
        while room.table.game.turn != 1:
            if kari.state["choices"]:
                kari.act("take" if "take" in kari.state["view"]["legal"] else kari.state["choices"][0]["action"])
            else:
                kari.show()
                kari.until("step")
        kari.show()
        began = time.monotonic()
        step = kari.until("step")
        assert step["event"]["seat"] == 1
        assert time.monotonic() - began < 10
        assert any("plays for Ola" in note for note in kari.notes)
        assert any("Ola is away" in note for note in kari.notes)
        ola = Person(client, guest)
        assert ola.state["view"]["seat"] == 1
        assert not room.people()["seats"][1]["away"]
        while "Ola is at the table." not in kari.notes:
            kari.next()
        ola.close()
        kari.close()


def test_a_table_that_nobody_looks_at_rests(tmp_path: Path) -> None:
    server = make_server(tmp_path, absence=0.05)
    with client_of(server) as client:
        seat = new_table(client, PERSON, GREEDY)
        room = server.rooms[seat["table"]]
        with Person(client, seat):
            pass
        version = room.table.version
        time.sleep(0.3)
        assert room.table.version == version
        watched = new_table(client, GREEDY, GREEDY)
        with Person(client, watched) as watcher:
            time.sleep(0.2)
            assert server.rooms[watched["table"]].table.version == [0, 0], "agents wait for whoever watches"
            watcher.show()
            watcher.until("step")
            time.sleep(0.1)
            assert server.rooms[watched["table"]].table.version == [0, 1]


def test_the_host_may_begin_before_all_are_here(client: TestClient, server: web_app.Server) -> None:
    host = new_table(client, PERSON, GUEST, GUEST, rules={"preset": "norsk"})
    room = server.rooms[host["table"]]
    guest = client.post("/api/join", json={"table": host["table"], "invite": room.table.invite}).json()
    assert client.post("/api/join", json={"table": host["table"], "invite": "x"}).status_code == 403
    with Person(client, host) as kari, Person(client, guest) as ola:
        assert kari.state["invite"] == room.table.invite
        assert ola.state["invite"] is None
        ola.send(type="start")
        assert ola.until("refused")["what"] == "start"
        kari.send(type="start")
        while not kari.until("table")["started"]:
            pass
        late = join(client, host, room.table.invite, "Per")
        assert late["seat"] == 2
        assert room.table.names("en") == ["Kari", "player", "Per"]


def test_an_agent_that_fails_does_not_stop_the_table(
    client: TestClient, server: web_app.Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    choose = server.thinker.choose

    async def sometimes(spec: str, view: Any, seed: int) -> int:
        if spec == "greedy":
            raise RuntimeError("out of ideas")
        return await choose(spec, view, seed)

    monkeypatch.setattr(server.thinker, "choose", sometimes)
    with Person(client, new_table(client, PERSON, GREEDY, rules={"preset": "norsk"})) as person:
        for _ in range(3):
            assert person.wait_for_turn()
            person.act(person.state["choices"][0]["action"])
        assert any("because of an error" in note for note in person.notes)
    assert "out of ideas" in caplog.text


def test_seeds_are_mixed() -> None:
    seeds = {mixed(a, b, c) for a in range(10) for b in range(10) for c in range(10)}
    assert len(seeds) == 1000
    assert mixed(-3, 1) == mixed(-3, 1)
