"""The model's hints, the story of a game, and records step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from idiot_agents.web import app as web_app
from idiot_agents.web.frames import frames
from idiot_agents.web.insight import story
from tests.web_server import (
    PERSON,
    Person,
    client_of,
    make_server,
    new_table,
    table_at,
)


def test_hints_come_from_the_model(client: TestClient, model: str, tmp_path: Path) -> None:
    with client_of(make_server(tmp_path / "b", specs=(model,))) as client:
        seat = new_table(client, PERSON, {"agent": "tiny"}, rules={"preset": "norsk"}, seed=2)
        with Person(client, seat) as person:
            assert person.wait_for_turn()
            person.send(type="insight")
            hint = person.until("insight")
            assert hint["version"] == person.state["version"]
            assert sum(action["p"] for action in hint["actions"]) == pytest.approx(1.0, abs=0.01)
            assert {action["action"] for action in hint["actions"]} == set(person.state["view"]["legal"])
            assert 0.0 <= hint["chance"] <= 1.0
            assert hint["actions"] == sorted(hint["actions"], key=lambda action: -action["p"])
            while person.wait_for_turn():
                person.act(person.state["choices"][-1]["action"])
            person.send(type="story")
            told = person.until("story")
            result = person.state["view"]["result"]
            assert told["end"] == (None if result["truncated"] else float(0 in result["out"]))
            assert told["points"]
            person.send(type="insight")
            person.until("refused")


def test_the_story_of_a_game(model: str) -> None:
    table = table_at(4, 2000, players=3)
    assert table.game.over
    record = table.record()
    for seat in range(3):
        told = story(model, record, seat, "no")
        own = [n for n, played in enumerate(table.played) if played.event.seat == seat]
        assert [point["index"] for point in told["points"]] == own
        for place in told["marked"]:
            point = told["points"][place]
            after = told["points"][place + 1]["chance"] if place + 1 < len(own) else told["end"]
            assert point["cost"] == pytest.approx(point["chance"] - after)
            assert point["cost"] > 0
            assert point["best"] != point["action"]
        assert told["marked"] == sorted(told["marked"])
        assert len(told["marked"]) <= 3


def test_without_a_model_a_rule_of_thumb_answers(client: TestClient) -> None:
    with Person(client, new_table(client)) as person:
        person.wait_for_turn()
        person.send(type="insight")
        hint = person.until("insight")
        assert (hint["adviser"], hint["chance"], len(hint["actions"])) == ("careful", None, 1)
        assert hint["actions"][0]["action"] in person.state["view"]["legal"]


def test_frames_of_a_record(model: str) -> None:
    record = table_at(4, 60, players=3).record()
    open_frames = frames(record, None, "en", model, "tiny")
    assert len(open_frames["frames"]) == len(record["actions"]) + 1
    assert sum(frame["opinion"] is not None for frame in open_frames["frames"]) == 61
    own = frames(record, 1, "en", model, "tiny")
    for frame in own["frames"]:
        assert (frame["opinion"] is not None) == (frame["view"]["turn"] == 1)
        assert frame["view"]["seat"] == 1
        assert "down_cards" not in json.dumps(frame["view"])


@pytest.mark.parametrize("record", [None, 3, {}, [], {"format": "idiot-record/1"}, {"actions": ["x"] * 6000}])
def test_a_record_that_cannot_be_shown(record: Any, client: TestClient) -> None:
    answer = client.post("/api/replay", json={"record": record})
    assert answer.status_code == 422
    assert answer.json()["error"].endswith(".")


def test_a_viewer_seat_that_is_not_there(client: TestClient) -> None:
    record = table_at(4, 10, players=3).record()
    for seat in (3, -1, "x", True, 1.5):
        assert (
            "seats go from 0 to 2" in client.post("/api/replay", json={"record": record, "seat": seat}).json()["error"]
        )


def test_a_long_record_is_replayed_by_a_worker(
    client: TestClient, server: web_app.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {"record": table_at(4, 10, players=3).record(), "seat": 1, "lang": "no"}
    here = client.post("/api/replay", json=wanted).json()
    assert len(here["frames"]) == 11
    assert server.thinker._processes is None, "a short one needs no worker"
    monkeypatch.setattr(web_app, "SHORT_RECORD", 9)
    assert client.post("/api/replay", json=wanted).json() == here
    assert server.thinker._processes is not None
