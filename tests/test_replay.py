"""``idiot replay``: snapshots are the game's, stepping goes both ways, bad records end in one sentence."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idiot_env import Game
from idiot_env.observation import determinize
from idiot_env.rules import PRESETS
from idiot_train.cli import main


class FakeInput(io.StringIO):
    """Typed lines of a person at a terminal, or of a pipe."""

    def __init__(self, text: str, tty: bool = False) -> None:
        super().__init__(text)
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


def random_game(rules: str, players: int, seed: int, decisions: int = 60) -> Game:
    rng = np.random.default_rng(seed)
    game = Game(rules, players, seed=seed, max_decisions=decisions)
    while not game.over:
        game.apply(str(rng.choice(game.legal())))
    return game


@pytest.fixture
def record() -> dict[str, Any]:
    return random_game("familie jokers=2", 3, 5).record()


@pytest.fixture
def path(tmp_path: Path, record: dict[str, Any]) -> Path:
    file = tmp_path / "game.json"
    file.write_text(json.dumps(record))
    return file


def run(monkeypatch: pytest.MonkeyPatch, *argv: str, typed: str = "", tty: bool = False) -> int:
    monkeypatch.setattr("sys.stdin", FakeInput(typed, tty))
    return main(["replay", *argv])


@pytest.mark.parametrize("players", [2, 5])
@pytest.mark.parametrize("table", PRESETS)
def test_snapshots_are_those_of_the_game(
    table: str, players: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = random_game(table, players, 3, 200).record()
    (tmp_path / "game.json").write_text(json.dumps(record))
    assert run(monkeypatch, str(tmp_path / "game.json"), "--snapshots") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(record["actions"]) + 1
    game = Game.start_of_record(record)
    for index, line in enumerate(lines):
        if index:
            game.apply(record["actions"][index - 1])
        if index == len(lines) - 1:
            game.check_result(record)  # a game that was cut off says so from its last action on
        assert json.loads(line) == game.snapshot()


def test_standard_input_is_read(
    record: dict[str, Any], path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "-", "--snapshots", typed=json.dumps(record)) == 0
    by_pipe = capsys.readouterr().out
    assert run(monkeypatch, str(path), "--snapshots") == 0
    assert capsys.readouterr().out == by_pipe


def test_without_a_terminal_everything_is_printed(
    path: Path, record: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, str(path), "--lang", "en") == 0
    out = capsys.readouterr().out
    last = len(record["actions"])
    assert all(f"[{index}/{last}]" in out for index in range(last + 1))
    assert "cut off without a result" in out
    assert "\x1b" not in out


def test_stepping(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typed = "\nn\nb\nB\nb\n60\n\n7\n61\n-1\nÆØÅ\n²\n" + "9" * 5000 + "\n3\nq\n"
    assert run(monkeypatch, str(path), "--lang", "en", typed=typed, tty=True) == 0
    out = capsys.readouterr().out
    shown = [int(line.partition("/")[0][1:]) for line in out.splitlines() if line.startswith("[")]
    assert shown == [0, 1, 2, 1, 0, 60, 7, 3]
    assert "This is the beginning." in out
    assert "That was the last action." in out
    assert out.count("means nothing here") == 5
    assert max(map(len, out.splitlines())) < 400  # long garbage is not echoed


@pytest.mark.parametrize("typed", ["", "\n", "3\n"])
def test_the_end_of_input_ends_the_stepping(
    typed: str, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, str(path), typed=typed, tty=True) == 0


def test_a_seat_sees_no_more_than_it_saw(
    path: Path, record: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = Game.start_of_record(record)
    hidden = "".join(game.snapshot()["down"][0])
    assert run(monkeypatch, str(path), "--seat", "1", "--lang", "en") == 0
    first = capsys.readouterr().out.partition("[1/")[0]
    assert hidden not in first.replace(" ", "")
    assert "? ? ?" in first


@pytest.mark.parametrize("seat", range(3))
def test_secrecy_of_the_drawing(seat: int) -> None:
    """Deal afresh what the seat cannot know: what it is shown stays the same."""
    from idiot_env.table_text import draw_view

    rng = np.random.default_rng(seat)
    game = Game("sjanse stack=yes jokers=2", 3, seed=11, max_decisions=150)
    while not game.over:
        twin = game.copy()
        twin._states = determinize(game.states, seat, rng)
        shown, other = (draw_view(g.view(seat), ["a", "b", "c"], "no") for g in (game, twin))
        assert shown == other
        game.apply(str(rng.choice(game.legal())))


def changed(record: dict[str, Any], **values: Any) -> str:
    return json.dumps({**record, **values})


def test_bad_records_end_in_one_sentence(
    record: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    actions, deck = record["actions"], record["deck"]
    bad: dict[str, str] = {
        "": "no game record",
        "{": "no game record",
        "[" * 100_000: "nested",
        "[]": "one JSON object",
        "null": "one JSON object",
        "{}": "format",
        changed(record, format="idiot-record/2"): "idiot-record/2",
        changed(record, preset="norks"): "norks",
        changed(record, rules={"chanse": True}): "chanse",
        changed(record, rules={"chance": "yes"}): "chance",
        changed(record, rules=3): "rules is 3",
        changed(record, rules={"name": "x"}): "name",
        changed(record, players=9): "players=9",
        changed(record, players="3"): "players='3'",
        changed(record, dealer=3): "dealer=3",
        changed(record, deck=deck[:-1]): "missing",
        changed(record, deck=[*deck[:-1], deck[0]]): "twice",
        changed(record, deck=[*deck[:-1], 7]): "7 is not a card",
        changed(record, deck="6S"): "deck",
        changed(record, actions="done"): "actions is",
        changed(record, actions=[*actions[:4], 5]): "action 4",
        changed(record, actions=[*actions[:4], "play 99"]): "action 4",
        changed(record, actions=["chance"]): "legal are",
        changed(record, names=["a"]): "names",
        changed(record, names=[1, 2, 3]): "names",
        changed(record, result={"out": [], "idiots": [0], "truncated": False}): "claims the result",
        changed(record, note="x"): "unknown key 'note'",
        json.dumps({key: value for key, value in record.items() if key != "deck"}): "no 'deck'",
    }
    for number, (text, expected) in enumerate(bad.items()):
        file = tmp_path / f"{number}.json"
        file.write_text(text)
        for flags in ([], ["--snapshots"]):
            assert run(monkeypatch, str(file), *flags) == 2, expected
            out, err = capsys.readouterr()
            assert out == ""
            assert expected in err
            assert err.count("\n") == 1
            assert "Traceback" not in err


def test_bad_files_end_in_one_sentence(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    bad = {
        (str(tmp_path / "none.json"),): "none.json",
        (str(tmp_path),): str(tmp_path),
        (str(tmp_path / "bytes"),): "bytes",
        ("a\0b",): "no game record",
        (str(path), "--seat", "3"): "from 0 to 2",
        (str(path), "--seat", "-1"): "'-1'",
        (str(path), "--seat", "x"): "'x'",
        (str(path), "--seat", "1", "--snapshots"): "--snapshots",
        (): "FILE",
    }
    for argv, expected in bad.items():
        assert run(monkeypatch, *argv) == 2, expected
        out, err = capsys.readouterr()
        assert out == ""
        assert expected in err
        assert err.count("\n") == 1


def test_names_cannot_steer_the_terminal(
    record: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = changed(record, names=["\x1b[2Jevil", "\ud800", "n" * 10_000])
    assert run(monkeypatch, "-", typed=hostile) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "n" * 100 not in out
