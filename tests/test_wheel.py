"""The wheel, installed in an empty environment from a folder of wheels, without network: everything is there and runs.

Slow; CI runs it in full (``.ci/run``).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

from idiot_env import Game, __version__
from tests.wheelhouse import needed, pack

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = ("idiot_env", "idiot_agents", "idiot_train")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="needs the extra 'dev'")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of an environment that holds the wheel and what it needs, nothing else."""
    house = tmp_path_factory.mktemp("wheelhouse")
    for distribution in needed(PROJECT["dependencies"]).values():
        pack(distribution, house)
    shutil.copy(wheel, house)
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    own["PIP_CONFIG_FILE"] = os.devnull
    install = [venv / "bin" / "pip", "install", "-q", "--no-index", "--no-cache-dir", "--find-links", house]
    done = subprocess.run([*install, PROJECT["name"]], env=own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return venv / "bin"


def run(*command: str | Path, cwd: Path, typed: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """A command that must succeed, run in ``cwd`` and out of reach of this clone."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(list(command), cwd=cwd, input=typed, capture_output=True, text=True, env={**clean, **env})
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done


def test_all_that_is_tracked_is_in_the_wheel(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *PACKAGES, "configs"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    expected = {f"idiot_train/{name}" if name.startswith("configs/") else name for name in tracked}
    inside = set(zipfile.ZipFile(wheel).namelist())
    assert {"idiot_env/py.typed", "idiot_train/configs/quick.yaml"} <= expected
    assert expected <= inside
    top = {name.partition("/")[0] for name in inside}
    assert top == {*PACKAGES, f"idiot_env-{__version__}.dist-info"}
    assert not [name for name in inside if "__pycache__" in name or name.endswith((".nbi", ".nbc", ".pyc"))]


def test_the_commands_run_without_extras(installed: Path, tmp_path: Path) -> None:
    idiot = installed / "idiot"
    game = Game("norsk", 2, seed=1, max_decisions=400)
    while not game.over:
        game.apply(game.legal()[0])
    (tmp_path / "game.json").write_text(json.dumps(game.record()))

    code = "import importlib.util as u, idiot_env, idiot_agents; print(u.find_spec('torch'), idiot_env.__file__)"
    nothing, where = run(installed / "python", "-c", code, cwd=tmp_path).stdout.split()
    assert nothing == "None"
    assert Path(where).is_relative_to(installed.parent)

    assert __version__ in run(idiot, "--version", cwd=tmp_path).stdout
    assert "idiot play" in run(idiot, "--help", cwd=tmp_path).stdout
    assert "idiot" in run(idiot, "rules", "--rules", "norsk", "--lang", "en", cwd=tmp_path).stdout
    bench = ("bench", "greedy", "random", "--deals", "50", "--quiet", "--json", "result.json")
    assert "greedy" in run(idiot, *bench, cwd=tmp_path).stdout
    assert json.loads((tmp_path / "result.json").read_text())["matches"][0]["games"] == 100
    snapshots = run(idiot, "replay", "--snapshots", "game.json", cwd=tmp_path).stdout
    assert snapshots.count('"turn"') > 10
    assert "seed" in run(idiot, "play", "careful", "--seed", "1", "--lang", "en", cwd=tmp_path, typed="?\n").stdout

    refused = subprocess.run([idiot, "train", "--config", "quick"], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "torch" in refused.stderr
    assert "[train]" in refused.stderr


def test_training_by_name(installed: Path, tmp_path: Path) -> None:
    """With this environment's libraries lent to the installed wheel: its own package, its own configurations."""
    pytest.importorskip("sb3_contrib", reason="needs the extra 'train'")
    libraries = sysconfig.get_paths()["purelib"]
    small = ("decisions=1024", "games=8", "horizon=16", "minibatch=64", "evaluations=0", "bench=[]")
    changes = [word for change in small for word in ("--set", change)]
    idiot = installed / "idiot"
    run(idiot, "train", "--config", "smoke", *changes, "--quiet", cwd=tmp_path, PYTHONPATH=libraries)
    model = "ppo:runs/smoke/model"
    assert model in run(idiot, "bench", "random", model, "--deals", "20", "--quiet", cwd=tmp_path).stdout
