"""The README's Python runs, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
def test_the_python_runs(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {})


def test_the_commands_parse() -> None:
    import shlex

    from idiot_train.cli import main

    commands = re.findall(r"^\.venv/bin/idiot ([^#\n]*)", TEXT, re.MULTILINE)
    assert len(commands) >= 8
    for command in commands:
        assert main([*shlex.split(command), "--help"]) == 0


def test_links_and_make_targets_exist() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / link).exists(), link
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for target in re.findall(r"\bmake ([a-z-]+)", TEXT):
        assert target in targets, target
