"""Tables in files: a restart of the server loses nothing."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from idiot_agents.web import app as web_app
from idiot_agents.web.store import Store
from idiot_agents.web.table import Table
from tests.web_server import (
    GREEDY,
    PERSON,
    Person,
    client_of,
    make_server,
    new_table,
    table_at,
)


def test_a_table_survives_as_a_file() -> None:
    for seed in range(60):
        table = table_at(seed, seed)
        table.results = [{"round": 0, "out": [1], "idiots": [0], "truncated": False}]
        again = Table.from_json(json.loads(json.dumps(table.as_json())))
        assert again.as_json() == table.as_json()
        assert again.version == table.version
        assert again.decision_seed() == table.decision_seed()
        for seat in range(table.game.players):
            assert again.shown(seat, "no") == table.shown(seat, "no")
            assert again.log(seat, "no") == table.log(seat, "no")
            assert again.latest(seat, "no") == table.latest(seat, "no")
            assert again.role(f"token-{seat}") == table.role(f"token-{seat}")


def test_a_game_goes_on_after_a_restart(tmp_path: Path) -> None:
    with client_of(make_server(tmp_path)) as client:
        seat = new_table(client, PERSON, {"agent": "random"}, GREEDY, seed=9)
        with Person(client, seat) as person:
            for _ in range(6):
                assert person.wait_for_turn()
                person.act(person.state["choices"][0]["action"])
            person.wait_for_turn()
            before = person.state
        log = before
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    with client_of(make_server(tmp_path)) as client, Person(client, seat) as person:
        for key in ("version", "view", "choices", "why", "names"):
            assert person.state[key] == before[key], key
        assert person.state["log"][-1] in log["lines"]
        assert person.state["says"] == before["event"]["says"], "what the last step said"
        while person.wait_for_turn():
            person.act(person.state["choices"][0]["action"])


def test_agents_go_on_as_they_would_have(tmp_path: Path) -> None:
    """A game with a restart in the middle is the same game."""

    def play_on(seat: dict[str, Any], client: TestClient, steps: int) -> None:
        with Person(client, seat) as person:
            for _ in range(steps):
                person.show()
                person.until("step")

    records = []
    for restart in (False, True):
        folder = tmp_path / str(restart)
        with client_of(make_server(folder)) as client:
            seat = new_table(client, {"agent": "random"}, {"agent": "random"}, {"agent": "greedy"}, seed=4)
            play_on(seat, client, 15)
            if not restart:
                play_on(seat, client, 15)
        if restart:
            with client_of(make_server(folder)) as client:
                play_on(seat, client, 15)
        record = json.loads((folder / f"{seat['table']}.json").read_text())["record"]
        records.append(record["actions"][:30])
    assert records[0] == records[1]


def test_files_that_are_no_tables_are_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path)
    good = table_at(1, 10)
    store.save(good)
    broken = good.as_json() | {"id": "brokenone"}
    broken["record"]["actions"].append("play 9x4")
    contents = {"empty": "", "list": "[]", "deep": "[" * 100_000, "brokenone": json.dumps(broken)}
    contents |= {"renamed": json.dumps(good.as_json()), "nothing": "{}"}
    contents["noseats"] = json.dumps(good.as_json() | {"seats": [{"x": 1}], "id": "noseats"})
    for name, content in contents.items():
        (tmp_path / f"{name}.json").write_text(content)
    assert [table.id for table, _ in store.load()] == [good.id]
    notes = capsys.readouterr().err
    for name in contents:
        assert name in notes
        assert (tmp_path / f"{name}.json").exists()


def test_a_folder_that_cannot_keep_games(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="--games"):
        Store(tmp_path / "file" / "tables")


def test_a_disk_that_refuses_does_not_end_the_game(client: TestClient, server: web_app.Server) -> None:
    seat = new_table(client)
    with Person(client, seat) as person:
        person.wait_for_turn()
        for path in server.store.folder.iterdir():
            path.unlink()
        server.store.folder.rmdir()
        assert person.act(person.state["choices"][0]["action"])["type"] == "step"
