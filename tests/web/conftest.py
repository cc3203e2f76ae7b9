"""A server, a client of it and a model, for the tests of the web application."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from idiot_agents.web.app import Server


@pytest.fixture
def server(tmp_path: Path) -> Server:
    from tests.web_server import make_server

    return make_server(tmp_path / "tables")


@pytest.fixture
def client(server: Server) -> Iterator[TestClient]:
    from tests.web_server import client_of

    with client_of(server) as client:
        yield client


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The spec of an untrained model."""
    from tests.web_server import untrained_model

    return f"ppo:{untrained_model(tmp_path_factory.mktemp('runs') / 'tiny' / 'model')}"
