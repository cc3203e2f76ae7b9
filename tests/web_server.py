"""The web application for tests: with a test client in this thread, or served on a port of this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.testclient import TestClient

from idiot_agents.network import save_model
from idiot_agents.web.app import Limits, Server, make_app
from idiot_agents.web.catalog import Catalog
from idiot_agents.web.guard import LARGEST_MESSAGE
from idiot_agents.web.serve import listen
from idiot_agents.web.store import Store
from idiot_agents.web.table import Seat, Table
from idiot_agents.web.thinking import Thinker
from idiot_env import Rules
from tests.moments import draw, random_table
from tests.test_network import random_network

HOST = "localhost:8000"
FAST = Limits(messages=2000.0, requests=2000.0, burst=4000.0)
PERSON, GUEST, GREEDY = {"person": "Kari"}, {"guest": True}, {"agent": "greedy"}
"""Seats of a new table."""


def make_server(folder: Path, *, specs: tuple[str, ...] = (), guests: bool = True, **limits: Any) -> Server:
    """A server that keeps its tables in ``folder``."""
    return Server(Catalog(specs), Store(folder), Thinker(1), limits=replace(FAST, **limits), guests=guests)


@contextmanager
def client_of(server: Server) -> Iterator[TestClient]:
    """A client of the application, which runs while the context lasts."""
    with TestClient(make_app(server), base_url=f"http://{HOST}", headers={"origin": f"http://{HOST}"}) as client:
        yield client


@contextmanager
def served(server: Server, port: int = 0) -> Iterator[str]:
    """The application behind a real port; yields the address."""
    sock = listen("127.0.0.1", port)
    config = uvicorn.Config(
        make_app(server),
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    runner = uvicorn.Server(config)
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not runner.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        runner.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not stop"


class Person:
    """One browser's socket, driven by a test."""

    def __init__(self, client: TestClient, seat: dict[str, Any], **hello: Any) -> None:
        self.seat = seat
        self._opened = client.websocket_connect(f"ws://{HOST}/ws", headers={"origin": f"http://{HOST}"})
        self.socket = self._opened.__enter__()
        self.send(type="hello", table=seat["table"], token=seat["token"], **{"lang": "en", **hello})
        self.state = self.until("table")
        self.notes: list[str] = []

    def close(self) -> None:
        self._opened.__exit__(None, None, None)

    def __enter__(self) -> Person:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def send(self, **message: Any) -> None:
        self.socket.send_json(message)

    def next(self) -> dict[str, Any]:
        """The next message; a view in it becomes ``state``."""
        message: dict[str, Any] = self.socket.receive_json()
        if message["type"] in ("table", "step"):
            self.state = message
        elif message["type"] == "note":
            self.notes.append(message["says"])
        return message

    def drain(self) -> None:
        """Read until the server closes the connection."""
        while True:
            self.next()

    def until(self, *kinds: str) -> dict[str, Any]:
        """The next message of one of these kinds."""
        if not hasattr(self, "notes"):
            self.notes = []
        while True:
            message = self.next()
            if message["type"] in kinds:
                return message

    def act(self, action: str, version: Any = None) -> dict[str, Any]:
        self.send(type="act", action=action, version=self.state["version"] if version is None else version)
        return self.until("step", "refused")

    def show(self) -> None:
        self.send(type="shown", version=self.state["version"])

    def wait_for_turn(self) -> bool:
        """Watch the agents until this seat is to act; false when the game is over."""
        while not self.state["choices"]:
            if self.state["view"]["result"] is not None:
                return False
            self.show()
            self.until("step")
        return True


def new_table(client: TestClient, *seats: dict[str, Any], rules: Any = None, seed: int = 1) -> dict[str, Any]:
    """A fresh table; the answer is the host's seat."""
    around = list(seats) or [{"person": "Kari"}, {"agent": "greedy"}]
    body = {"rules": rules or {"preset": "standard"}, "seats": around, "seed": seed}
    answer = client.post("/api/tables", json=body)
    assert answer.status_code == 200, answer.text
    table: dict[str, Any] = answer.json()
    return table


def join(client: TestClient, table: dict[str, Any], invite: str | None, name: str = "Ola") -> dict[str, Any]:
    """The seat that an invitation gives."""
    answer = client.post("/api/join", json={"table": table["table"], "invite": invite, "name": name})
    assert answer.status_code == 200, answer.text
    seat: dict[str, Any] = answer.json()
    return seat


def untrained_model(folder: Path) -> Path:
    """A model folder of random weights that can sit at every table."""
    save_model(folder, random_network(5), {"rules": "standard"})
    return folder


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
