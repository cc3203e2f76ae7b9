"""A student takes over what a specialist knows at its table, and keeps what it was at the others."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from idiot_agents.network import Encoder, Network, expected_shapes, load_model, save_model
from idiot_agents.neural import NeuralAgent

pytest.importorskip("torch")

from idiot_train import distil as module
from idiot_train.config import make_config
from idiot_train.curve import model_facts
from idiot_train.distil import School, distil, main
from idiot_train.ship import distil_commands


def save_run(folder: Path, players: int | list[int], rules: str | list[str], seed: int, rules_block: bool) -> Path:
    """A run whose model is a random network."""
    encoder, rng = Encoder.make(3 if isinstance(players, list) else players, rules_block), np.random.default_rng(seed)
    shapes = expected_shapes(encoder, [16])
    network = Network(encoder, {name: rng.normal(0, 0.25, shape).astype(np.float32) for name, shape in shapes.items()})
    config = make_config(dict(name="r", rules=rules, players=players, decisions=1, widths=[16], max_decisions=200))
    save_model(folder / "model", network, model_facts(config, 1))
    (folder / "curve.json").write_text("[]")
    return folder


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    for name, value in dict(GAMES=32, KEPT=32, EVERY=2, MINIBATCH=128).items():
        monkeypatch.setattr(module, name, value)
    return [
        save_run(tmp_path / "student", [2, 3], ["standard", "norsk"], 1, True),
        save_run(tmp_path / "two", 2, "norsk", 2, False),
    ]


def run(monkeypatch: pytest.MonkeyPatch, *args: object) -> int:
    monkeypatch.setattr(sys, "argv", ["distil", *map(str, args)])
    return main()


def test_the_student_agrees_with_its_teachers(runs: list[Path]) -> None:
    student, specialist = (NeuralAgent.load(folder / "model") for folder in runs)
    _, told = distil(student, [specialist], 60_000, 0.6, 3e-3, seed=1, quiet=True)
    (table, before, after), (others, at_first, at_last) = sorted(told, key=lambda line: -line[1])
    assert (table, others) == ("norsk, 2 players", "the others: as it was")
    assert at_first == pytest.approx(0, abs=1e-5), "it is the teacher itself at first"
    assert after < 0.5 * before
    assert at_last < after


def test_lessons_come_from_the_teacher_of_the_table(runs: list[Path]) -> None:
    student, specialist = (NeuralAgent.load(folder / "model") for folder in runs)
    school = School(student, [specialist], 0.25, seed=3)
    lesson = school.lesson(student.network)
    own = lesson.table == -1
    assert 0.25 <= 1 - own.mean() < 0.75, "a quarter of the games, and what the student's pool has of its table"
    norsk = module.make_tables(1, "norsk", 2)[0]
    assert [bool(table == norsk) for table in school.batch.tables] == (school.table == 0).tolist()
    for rows, teacher in ((own, student), (~own, specialist)):
        logits, values = teacher.network(lesson.observation[rows])
        assert (lesson.worth[rows] == values).all()
        best = np.where(lesson.mask[rows] == 1, logits, -np.inf).argmax(axis=1)
        assert (lesson.wanted[rows].argmax(axis=1) == best).all()
    assert lesson.wanted.sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_several_specialists_of_a_table_teach_their_mean(runs: list[Path], tmp_path: Path) -> None:
    student, first = (NeuralAgent.load(folder / "model") for folder in runs)
    second = NeuralAgent.load(save_run(tmp_path / "second", 2, "norsk", 7, False) / "model")
    lessons = [
        School(student, taught, 0.5, 3).lesson(student.network) for taught in ([first], [second], [first, second])
    ]
    rows = lessons[0].table == 0
    assert rows.any()
    for name in ("wanted", "worth"):
        one, other, both = (getattr(lesson, name)[rows] for lesson in lessons)
        assert both == pytest.approx((one + other) / 2, abs=1e-6)
        assert np.abs(one - other).max() > 0.1


def test_who_learned_few_tables_teaches_there_alone(runs: list[Path]) -> None:
    """The student itself teaches the tables that the specialist does not know, each of the two in as many games."""
    student, specialist = (NeuralAgent.load(folder / "model") for folder in runs)
    school = School(student, [student, specialist], 0.9, seed=3)
    teachers = {f"{rules}, {players}": networks for (rules, players), networks in school.taught.items()}
    assert teachers == {
        "norsk, 2": [specialist.network],
        **{table: [student.network] for table in ("standard, 2", "standard, 3", "norsk, 3")},
    }
    numbers = [
        list(teachers).index("norsk, 2"),
        *(number for number, table in enumerate(teachers) if table != "norsk, 2"),
    ]
    games = [int((school.table[:28] == number).sum()) for number in numbers]
    assert games == [14, 5, 5, 4]


def test_the_same_seed_gives_the_same_network(runs: list[Path]) -> None:
    student, specialist = (NeuralAgent.load(folder / "model") for folder in runs)
    first, second, other = (
        distil(student, [specialist], 2000, 0.5, 1e-3, seed, quiet=True)[0].tensors["policy.weight"]
        for seed in (1, 1, 2)
    )
    assert (first == second).all()
    assert (first != other).any()


def test_the_command_leaves_a_run(runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    assert run(monkeypatch, runs[0], "--specialist", runs[1], "--out", out, "--decisions", 1000, "--quiet") == 0
    network, card = load_model(out / "model")
    assert card["distilled"]["specialists"] == [str(runs[1])]
    assert card["config"] == json.loads((runs[0] / "model" / "model.json").read_text())["config"]
    assert (network.tensors["policy.weight"] != load_model(runs[0] / "model")[0].tensors["policy.weight"]).any()
    assert (out / "curve.json").is_file()
    assert network.has_belief

    again = tmp_path / "again"
    assert run(monkeypatch, out, "--specialist", runs[1], "--out", again, "--decisions", 1000, "--quiet") == 0
    told = load_model(again / "model")[1]["distilled"]
    assert told["before"] == card["distilled"]
    first, second = distil_commands(told, again)
    assert first.startswith(f"python -m idiot_train.distil {runs[0]} ")
    assert first.endswith(f"--out {out}")
    assert second.startswith(f"python -m idiot_train.distil {out} ")
    assert second.endswith(f"--out {again}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--share", "1"], "--share 1.0 is not possible"),
        (["--learning-rate", "0"], "--learning-rate 0.0 is not possible"),
        (["--learning-rate", "inf"], "--learning-rate inf is not possible"),
        (["--out", "."], ". is not empty: name another folder"),
        (["--specialist", "nowhere"], "nowhere/model is not a model folder"),
        (["--decisions", "1000"], "student has no curve.json"),
    ],
)
def test_bad_input(
    runs: list[Path],
    tmp_path: Path,
    change: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    if "curve.json" in message:
        (runs[0] / "curve.json").unlink()
    arguments = [runs[0], "--specialist", runs[1], "--out", tmp_path / "out", "--quiet", *change]
    assert run(monkeypatch, *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("number", "key"), [(0, "config"), (1, "config"), (0, "versions")])
def test_a_model_that_says_too_little(
    runs: list[Path],
    tmp_path: Path,
    number: int,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    path = runs[number] / "model" / "model.json"
    card = json.loads(path.read_text())
    del card[key]
    path.write_text(json.dumps(card))
    assert run(monkeypatch, runs[0], "--specialist", runs[1], "--out", tmp_path / "out", "--quiet") == 2
    assert "does not say" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_table_that_the_student_cannot_read(runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                              capsys: pytest.CaptureFixture) -> None:  # fmt: skip
    four = save_run(tmp_path / "four", 4, "standard", 3, False)
    for student, specialist in ((runs[0], four), (four, runs[1])):
        assert run(monkeypatch, student, "--specialist", specialist, "--out", tmp_path / "out", "--quiet") == 2
        assert "cannot read" in capsys.readouterr().err
