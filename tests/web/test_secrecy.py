"""What a seat's browser receives depends on nothing that the seat cannot know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from idiot_agents.web import app as web_app
from idiot_agents.web.insight import opinion
from idiot_agents.web.room import Connection, Room
from idiot_agents.web.table import Role, Table
from idiot_agents.web.texts import Refused
from idiot_env.observation import determinize
from idiot_env.words import LANGUAGES
from tests.web_server import (
    GREEDY,
    PERSON,
    Person,
    client_of,
    make_server,
    new_table,
    table_at,
)


def everything_told(table: Table, seat: int, server: web_app.Server) -> str:
    """All that a seat's browser could receive at this moment."""
    room = Room(table, server.catalog, server.thinker, server.store, 60.0)
    told: list[Any] = []
    for lang in LANGUAGES:
        connection = Connection(None, Role(seat, seat == 0), lang, seat)  # type: ignore[arg-type]
        told += [room.whole(connection), room.people(), table.shown(seat, lang), table.log(seat, lang)]
        told += [table.line(number, seat, lang) for number in range(len(table.played))][-3:]
        if table.turn == seat:
            told.append(opinion(None, table.game.view(seat), lang))
    return json.dumps(told, sort_keys=True)


def check_secrecy(seeds: range, server: web_app.Server, tell: Any = everything_told) -> int:
    compared = 0
    for seed in seeds:
        table = table_at(seed, int(np.random.default_rng(seed).integers(0, 120)))
        rng = np.random.default_rng(seed + 10_000)
        real = table.game._states
        for seat in range(table.game.players):
            before = tell(table, seat, server)
            table.game._states = determinize(real, seat, rng)
            # What others drew is known to them alone.
            kept = [played.drew for played in table.played]
            for played in table.played:
                if played.event.seat != seat:
                    played.drew = "A" * len(played.drew)
            assert tell(table, seat, server) == before, f"seed {seed}: the page tells seat {seat} what it cannot know"
            table.game._states = real
            for played, drew in zip(table.played, kept, strict=True):
                played.drew = drew
            compared += 1
    return compared


def test_what_a_browser_receives_depends_on_nothing_hidden(server: web_app.Server) -> None:
    assert check_secrecy(range(60), server) > 150


@pytest.mark.slow
def test_what_a_browser_receives_depends_on_nothing_hidden_anywhere(server: web_app.Server) -> None:
    assert check_secrecy(range(1000, 2000), server) > 2500


def test_a_leak_would_be_found(server: web_app.Server) -> None:
    def leaks_stock(table: Table, seat: int, server: web_app.Server) -> str:
        return table.game.snapshot()["stock"]

    def leaks_drawn(table: Table, seat: int, server: web_app.Server) -> str:
        return json.dumps([played.drew for played in table.played])

    for leaky in (leaks_stock, leaks_drawn):
        with pytest.raises(AssertionError, match="what it cannot know"):
            check_secrecy(range(20), server, leaky)


def test_a_player_is_never_shown_open_cards(client: TestClient, server: web_app.Server) -> None:
    seat = new_table(client)
    with pytest.raises(Refused):
        server.rooms[seat["table"]].table.shown(None, "en")
    with Person(client, seat) as person:
        for wanted in (None, 1):
            person.send(type="look", seat=wanted)
            view = person.until("table")["view"]
            assert view["seat"] == 0
            assert view["seats"][1]["known"] == ""
    assert client.post("/api/record", json=seat).status_code == 409, "the record of a running game shows all cards"
    watched = new_table(client, GREEDY, GREEDY)
    with Person(client, watched) as watcher:
        assert len(watcher.state["view"]["seats"][1]["down_cards"]) == 3
        assert watcher.state["choices"] == []
        assert watcher.act("take")["type"] == "refused"
        watcher.send(type="look", seat=1)
        assert watcher.until("table")["view"]["seat"] == 1
        assert "down_cards" not in watcher.state["view"]["seats"][0]


def test_a_model_path_stays_on_the_server(model: str, tmp_path: Path) -> None:
    path = model.partition(":")[2]
    server = make_server(tmp_path, specs=(model,))
    with client_of(server) as client:
        catalog = client.get("/api/catalog").text
        assert path not in catalog
        assert "tiny" in catalog
        seat = new_table(client, PERSON, {"agent": "tiny"})
        with Person(client, seat) as person:
            assert person.state["names"] == ["Kari", "tiny"]
            assert person.state["adviser"] == "tiny"
            assert path not in json.dumps(person.state)
    assert path not in (tmp_path / f"{seat['table']}.json").read_text()
