"""``idiot doctor`` tells what is so: the engine compiled or not, an extra that is missing, one that is too old."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from idiot_agents.errors import InputError
from idiot_env import __version__
from idiot_train import extras
from idiot_train.cli import main
from idiot_train.extras import Extra, check_extra, need_extra, shortfall

ROOT = Path(__file__).resolve().parent.parent


def doctor(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    lines = [line.split("  ", 1) for line in out.splitlines()]
    return {name.strip(): text.strip() for name, text in lines}


def test_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    said = doctor(capsys)
    assert said["idiot"] == f"{__version__} in {ROOT}"
    assert said["python"].startswith("{}.{}.".format(*sys.version_info))
    assert f"numba {importlib.metadata.version('numba')}" in said["libraries"]
    assert str(len(os.sched_getaffinity(0))) in said["cores"]
    assert {"extra dev", "extra train"} <= set(said)


def test_the_engine_is_compiled_or_not(tmp_path: Path) -> None:
    env = {**os.environ, "IDIOT_CACHE_DIR": str(tmp_path)}
    env.pop("NUMBA_DISABLE_JIT", None)

    def ask(code: str, **more: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={**env, **more}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    look = "from idiot_train.cli import main; main(['doctor'])"
    cold = ask(look)
    assert "not compiled yet" in cold
    assert str(tmp_path) in cold
    ask("from idiot_env import Game; game = Game(seed=1); game.apply(game.legal()[0])")
    warm = ask(look)
    assert "\nengine" in warm
    assert "compiled yet" not in warm
    assert "plain Python" in ask(look, NUMBA_DISABLE_JIT="1")


def test_what_an_extra_lacks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert shortfall(Requirement("numpy>=1")) is None
    assert shortfall(Requirement("numpy<1")) == f"numpy<1 (here {importlib.metadata.version('numpy')})"
    assert shortfall(Requirement("no-such-package>=2")) == "no-such-package"

    real = importlib.metadata.version

    def version(name: str) -> str:
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError(name)
        return "0.1" if name == "pyyaml" else real(name)

    monkeypatch.setattr(extras.importlib.metadata, "version", version)
    assert {"torch", "pyyaml>=6 (here 0.1)"} <= set(check_extra("train").missing)
    said = doctor(capsys)["extra train"]
    assert said.startswith("needs ")
    assert "torch" in said
    assert "[train]'" in said
    with pytest.raises(InputError, match=r"training needs .*torch.*pip install"):
        need_extra("train", "training")
    assert main(["train", "--config", "quick"]) == 2


def test_how_an_extra_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the folder that Idiot came from, else by name."""

    class Installed:
        text: str | None = None

        def read_text(self, name: str) -> str | None:
            return self.text

    monkeypatch.setattr(extras, "project", Installed)
    assert Extra("web", ()).command == "pip install 'idiot-env[web]'"
    Installed.text = '{"url": "file:///a%20b/c", "dir_info": {"editable": true}}'
    assert Extra("web", ()).command == "pip install --editable '/a b/c[web]'"
    Installed.text = '{"url": "file:///a/c", "dir_info": {}}'
    assert Extra("web", ()).command == "pip install '/a/c[web]'"


def test_sources_without_an_installation(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(extras, "DISTRIBUTION", "idiot-that-nobody-installed")
    assert main(["doctor"]) == 2
    assert "pip install ." in capsys.readouterr().err
