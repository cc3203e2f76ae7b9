"""Variants are trained from several seeds and compared; what cannot be compared is refused before the first one."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra 'train'")

from idiot_train import sweep
from idiot_train.sweep import Trial, mean_and_margin, table

SMALL = ["decisions=512", "games=16", "horizon=16", "minibatch=64", "widths=[8]", "keep=best", "evaluations=1"]


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    changes = [word for change in SMALL for word in ("--set", change)]
    monkeypatch.setattr(sys, "argv", ["sweep", "--config", "smoke", *changes, *words])
    return sweep.main()


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Also for a configuration that keeps its best model: here the last one is measured."""
    out = tmp_path / "trials.json"
    assert run(monkeypatch, "--try", "clip=0.1", "--seeds", "2", "--deals", "5", "--json", str(out)) == 0
    trials = json.loads(out.read_text())
    assert [(trial["variant"], trial["seed"]) for trial in trials] == [("", 1), ("", 2), ("clip=0.1", 1),
                                                                      ("clip=0.1", 2)]  # fmt: skip
    assert [trial["decisions"] for trial in trials] == [512] * 4
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| variant | seeds | decisions | CPU s | lost to greedy |"
    assert lines[2].startswith("| as it stands | 2 | 512 | ")
    assert lines[3].startswith("| clip=0.1 | 2 | 512 | ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seconds", "inf"], "--seconds inf is not possible"),
        (["--try", "references=[careful]"], "all variants meet the same references"),
        (["--try", ""], "--try '' is not possible"),
        (["--try", "clip=0.1", "--try", "clip=0.1"], "--try 'clip=0.1' is not possible"),
        (["--try", "clap=0.1"], "unknown key 'clap'"),
        (["--json", "nowhere/trials.json"], "nowhere is no folder"),
    ],
)
def test_bad_input(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sweep, "run_trial", lambda *_: pytest.fail("something was trained"))
    assert run(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err


def test_the_interval_is_over_seeds() -> None:
    trials = [Trial("", seed, 10, 1.0, {"greedy": lost}) for seed, lost in enumerate((0.1, 0.2, 0.3))]
    mean, margin = mean_and_margin([0.1, 0.2, 0.3])
    assert mean == pytest.approx(0.2)
    assert margin == pytest.approx(4.303 * 0.1 / math.sqrt(3))
    assert table(trials, ["greedy"]).splitlines()[-1] == "| as it stands | 3 | 10 | 1 | 20.0% ± 24.8% |"
    assert math.isnan(mean_and_margin([0.1])[1])
