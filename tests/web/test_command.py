"""``idiot play --web`` as a command, and the files that it serves."""

from __future__ import annotations

import builtins
import socket as sockets
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from idiot_agents.web import app as web_app
from idiot_train.cli import main


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
