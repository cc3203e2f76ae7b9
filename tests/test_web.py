"""The table in the browser without a browser: protocol, authority, secrecy, restarts, limits."""

from __future__ import annotations

import asyncio
import builtins
import json
import os
import re
import signal
import socket as sockets
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from idiot_agents.neural import NeuralAgent
from idiot_agents.web import app as web_app
from idiot_agents.web.catalog import Catalog, find_models, make_offer, obstacle
from idiot_agents.web.choices import cards_moved, legal_choices, why_not
from idiot_agents.web.frames import frames
from idiot_agents.web.guard import LARGEST_BODY, LARGEST_MESSAGE, Bucket, Buckets, host_allowed
from idiot_agents.web.insight import opinion, story
from idiot_agents.web.room import Connection, Room
from idiot_agents.web.store import Store
from idiot_agents.web.table import Role, Seat, Table, mixed
from idiot_agents.web.texts import TEXTS, Refused
from idiot_agents.web.thinking import Thinker, decide
from idiot_env import Game, Rules
from idiot_env.cards import RANKS, cards_in
from idiot_env.observation import determinize
from idiot_env.rules import OPTIONS, PRESETS
from idiot_env.words import LANGUAGES
from idiot_train.cli import main
from tests import twin
from tests.decks import QUIET, deck_of
from tests.moments import draw, random_table
from tests.web_server import HOST, Person, client_of, join, make_server, new_table, untrained_model

PERSON, GUEST, GREEDY = {"person": "Kari"}, {"guest": True}, {"agent": "greedy"}


@pytest.fixture
def server(tmp_path: Path) -> web_app.Server:
    return make_server(tmp_path / "tables")


@pytest.fixture
def client(server: web_app.Server) -> Iterator[TestClient]:
    with client_of(server) as client:
        yield client


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The spec of an untrained model."""
    return f"ppo:{untrained_model(tmp_path_factory.mktemp('runs') / 'tiny' / 'model')}"


def table_at(seed: int, steps: int, players: int = 0) -> Table:
    """A table of persons at a random moment of a random game."""
    rng = np.random.default_rng(seed)
    rules, drawn = random_table(rng)
    if players:
        rules, drawn = Rules(), players
    table = Table(rules, [Seat(token=f"token-{n}", name=f"P{n}") for n in range(drawn)], seed)
    for _ in range(steps):
        if table.game.over:
            break
        table.apply(draw(rng, table.game.mask))
    return table


# --- whole games -----------------------------------------------------------------------------------------------------


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


# --- authority -------------------------------------------------------------------------------------------------------


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
    assert server.sockets == 0


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


# --- secrecy ---------------------------------------------------------------------------------------------------------


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


# --- what can be done, and why not -----------------------------------------------------------------------------------


def test_every_action_says_which_cards_it_moves() -> None:
    seen: set[str] = set()
    for seed in range(80):
        rng = np.random.default_rng(seed)
        table = table_at(seed, int(rng.integers(0, 100)))
        turn = table.game.turn
        if turn is None:
            continue
        view = table.game.view(turn)
        choices = legal_choices(view, "no")
        assert {choice["action"] for choice in choices} == set(view.legal_texts)
        for choice in choices:
            seen.add(choice["verb"])
            assert all(view.hand[RANKS.index(rank)] >= n for rank, n in choice["hand"].items())
            assert all(view.up()[RANKS.index(rank)] >= n for rank, n in choice["up"].items())
            assert choice["slot"] is None or view.down()[choice["slot"] - 1]
    assert seen == {"play", "take", "flip", "chance", "done", "swap", "stack", "sneak", "run"}


def test_whatever_cannot_be_done_has_a_reason_that_is_true() -> None:
    keys = {text: key for key, text in TEXTS["en"].items()}
    told: set[str] = set()
    for seed in range(400):
        rng = np.random.default_rng(seed)
        table = table_at(seed, int(rng.integers(0, 90)))
        turn = table.game.turn
        if turn is None:
            continue
        view = table.game.view(turn)
        why = {lang: why_not(view, lang) for lang in LANGUAGES}
        moved = [cards_moved(text, view.phase) for text in view.legal_texts]
        zones = {"hand": view.hand, "up": view.up()}
        for zone, counts in zones.items():
            possible = {rank for action in moved for rank in action[zone]}
            held = {RANKS[rank] for rank in np.flatnonzero(counts)}
            assert set(why["en"][zone]) == held - possible
            for rank, sentence in why["en"][zone].items():
                assert why["no"][zone][rank]
                if zone != view.phase:
                    continue
                top = view.top
                key = next(k for text, k in keys.items() if _pattern(text, sentence))
                told.add(key)
                if key == "lower":
                    assert twin.height(rank) < twin.height(RANKS[top])
                    assert rank not in "2T*"
                elif key in ("seven_low", "seven_same"):
                    assert (view.rules.seven_low, RANKS[top]) == (True, "7")
                elif key == "ten_on":
                    assert (view.rules.ten_on, rank in "T*") == ("below_ten", True)
                elif key == "last_two":
                    assert (view.rules.last_two != "allowed", rank) == (True, "2")
                elif key == "opening":
                    assert view.opening
                else:
                    raise AssertionError(f"{sentence!r} for {rank} on {RANKS[top]} of {view.rules}")
        verbs = {action["verb"] for action in moved}
        assert (why["en"]["down"] is None) == ("flip" in verbs)
        assert (why["en"]["take"] is None) == ("take" in view.legal_texts)
        assert (why["en"]["chance"] is None) == ("chance" in verbs)
    assert told >= {"lower", "seven_low", "seven_same", "ten_on", "opening"}


def _pattern(text: str, sentence: str) -> bool:
    return re.fullmatch(re.sub(r"\\\{\w+\\\}", ".*", re.escape(text)), sentence) is not None


def test_a_last_two_has_its_reason() -> None:
    """Seat 1 holds a single two and nothing else: it may not lay it."""
    game = Game(Rules(**QUIET, last_two="forbidden"), 2, deck=deck_of(2, hand=["2", "345"]), dealer=1)
    state = game._states[0]
    two = next(card for card in cards_in(int(state["hand"][0])) if RANKS[card // 4] == "2")
    state["hand"][0], state["up"][0], state["down"][0], state["stock_size"] = 1 << two, 0, -1, 0
    view = game.view(0)
    assert "play 2" not in view.legal_texts
    assert why_not(view, "en")["hand"] == {"2": TEXTS["en"]["last_two"]}


def test_both_languages_say_the_same_things() -> None:
    assert TEXTS["no"].keys() == TEXTS["en"].keys()
    for key, text in TEXTS["no"].items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", TEXTS["en"][key])), key
    assert not obstacle(Rules(), 5, "no")
    for lang in LANGUAGES:
        assert "4" in str(obstacle(Rules(hand_size=6), 5, lang))
        assert obstacle(Rules(losers=2), 2, lang) == TEXTS[lang]["two_losers"]


def test_the_catalog_has_every_option(client: TestClient) -> None:
    catalog = client.get("/api/catalog").json()
    assert {name: [entry["value"] for entry in values] for name, values in catalog["options"].items()} == {
        name: list(values) for name, values in OPTIONS.items()
    }
    assert catalog["presets"] == {name: Rules.preset(name).as_dict() for name in PRESETS}
    for name, values in OPTIONS.items():
        for value in values:
            answer = client.post("/api/check", json={"rules": {name: value}, "players": 3, "lang": "no"}).json()
            assert answer["why_not"] is None
            assert str(Rules(**{name: value})) == answer["rules"]  # type: ignore[arg-type]
            assert len(answer["card"]) > 1000


def test_models_that_lie_around_are_offered(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = Path(model.partition(":")[2]).parent.parent
    (tmp_path / "broken" / "model").mkdir(parents=True)
    (tmp_path / "broken" / "model" / "model.json").write_text("{}")
    catalog = Catalog([], [*find_models(runs), *find_models(tmp_path)])
    assert "tiny" in catalog.offers
    assert catalog.offers["tiny"].trained == "standard"
    assert "broken" in capsys.readouterr().err
    assert catalog.adviser(5) == catalog.offers["generalist"]  # shipped, and first
    assert catalog.adviser(2, ["tiny"]) == catalog.offers["tiny"]
    assert not [name for name in catalog.offers if name.endswith(" 2")]
    assert make_offer(model, ["tiny"]).id == "tiny 2"
    assert Catalog().adviser(2) is None
    agent = NeuralAgent.load(runs / "tiny" / "model")
    assert agent.network.encoder.players == catalog.offers["tiny"].players


# --- the model -------------------------------------------------------------------------------------------------------


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


# --- restarts --------------------------------------------------------------------------------------------------------


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


# --- people ----------------------------------------------------------------------------------------------------------


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


# --- limits ----------------------------------------------------------------------------------------------------------


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


def test_seeds_are_mixed() -> None:
    seeds = {mixed(a, b, c) for a in range(10) for b in range(10) for c in range(10)}
    assert len(seeds) == 1000
    assert mixed(-3, 1) == mixed(-3, 1)


# --- the command -----------------------------------------------------------------------------------------------------


def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "uvicorn":
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "idiot_agents.web.serve", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["play", "--web"]) == 2
    assert "idiot-env[web]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--port", "70000"], "--port 70000"),
        (["--host", "256.1.1.1"], "--host 256.1.1.1"),
        (["--host", "192.0.2.77"], "--host 192.0.2.77"),
        (["nobody"], "unknown agent"),
        (["--rules", "house"], "unknown table"),
    ],
)
def test_what_cannot_be_served(words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--web", "--no-open", "--games", str(tmp_path), *words]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert "\n" not in error


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sockets.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["play", "--web", "--no-open", "--games", str(tmp_path), "--port", str(port)]) == 2
    assert f"--port {port} is taken" in capsys.readouterr().err


def test_static_files_ask_no_other_host(client: TestClient) -> None:
    page = client.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for path in sorted(web_app.STATIC.iterdir()):
        answer = client.get(f"/static/{path.name}")
        assert answer.status_code == 200
        text = answer.text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text.replace('"https:"', "")
    assert client.get("/static/../app.py").status_code == 404
