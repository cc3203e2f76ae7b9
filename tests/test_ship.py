"""A model is put into the package whole or not at all, and a bad command line is found before anything is written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra 'train'")

from idiot_agents import shipped
from idiot_agents.neural import NeuralAgent
from idiot_train import ship
from idiot_train.config import make_config
from idiot_train.ppo import train

TINY = {"name": "v", "decisions": 512, "games": 16, "horizon": 16, "minibatch": 64, "widths": [8], "evaluations": 1,
        "evaluation_deals": 2}  # fmt: skip
QUICK = ["--deals", "3", "--endgame-deals", "1", "--own-deals", "2"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run, and a package without models."""
    train(make_config(TINY), tmp_path / "run", quiet=True)
    folder = tmp_path / "package" / "models"
    folder.mkdir(parents=True)
    monkeypatch.setattr(ship, "FOLDER", folder)
    monkeypatch.setattr(shipped, "FOLDER", folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["ship", *words])
    return ship.main()


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_model_takes_the_place_of_another(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = place / "package/models/two"
    old.mkdir()
    for name in ("README.md", "exploiter-1.json"):
        (old / name).write_text("of other weights")
    assert run(monkeypatch, "run", "--name", "two", "--slow", "random", "--slow-deals", "2", *QUICK) == 0
    assert files(place / "package") == {
        "models", "models/two", *(f"models/two/{name}" for name in ("README.md", "model.json", "model.safetensors"))
    }  # fmt: skip
    card = (old / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# two\n")
    assert card.count("| standard | 2 | ") == 4
    assert "| standard | 2 | random | 4 |" in card
    assert "- with itself, of 4 games so many are cut off: " in card
    agent = NeuralAgent.load("two")
    assert agent.card == json.loads((place / "run/model/model.json").read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere/model is not a model folder"),
        (["run", "--opponents", "nobody"], "unknown agent 'nobody'"),
        (["run", "--exploiter", "nowhere.json"], "nowhere.json cannot be read"),
        (["run", "--name", "../two"], "--name ../two is not possible"),
        (["bare"], "bare does not say what it was trained on"),
        (["short"], "short/curve.json is no learning curve"),
    ],
)
def test_bad_input(
    place: Path,
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("bare", "short"):
        (place / name / "model").mkdir(parents=True)
        for path in (place / "run/model").iterdir():
            (place / name / "model" / path.name).write_bytes(path.read_bytes())
    card = json.loads((place / "bare/model/model.json").read_text())
    del card["config"]
    (place / "bare/model/model.json").write_text(json.dumps(card))
    (place / "short/curve.json").write_text("[]")
    assert run(monkeypatch, words[0], "--name", "two", *QUICK, *words[1:]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert files(place / "package") == {"models"}


def test_the_old_folder_stays_where_the_new_one_cannot_come(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "card").write_text("old")
    with pytest.raises(OSError, match="new"):
        ship.replace_folder(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old" / "card").read_text() == "old"
    assert files(tmp_path) == {"old", "old/card"}


def test_a_card_tells_wins_from_games_without_an_end(tmp_path: Path) -> None:
    """Who only stalls escapes often and wins nothing."""
    path, told = tmp_path / "exploiter.json", json.loads((shipped.FOLDER / "standard-2/exploiter-2.json").read_text())
    told["found"] = [
        told["found"][0] | {"games": 1000, "truncated": 600, "lost": {"mean": 0.6, "low": 0.5, "high": 0.7}}
    ]
    path.write_text(json.dumps(told))
    (line,) = ship.exploiter_lines([path])
    assert line.endswith("escapes in 40.0% (30.0% – 50.0%) of 1,000 games; 600 were cut off, 100 won")
