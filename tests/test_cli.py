"""The frame of the command line: help, version, exit codes, and one sentence for every bad input."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from idiot_agents.arguments import language_of
from idiot_agents.errors import InputError
from idiot_agents.registry import CHEATS, SPECS, make_agent
from idiot_agents.shipped import shipped_models
from idiot_env import Rules, __version__
from idiot_env.rule_card import rule_card
from idiot_train import cli
from idiot_train.cli import main, split_changes

ROOT = Path(__file__).resolve().parent.parent


def idiot(*argv: str, env: dict[str, str] | None = None, **kwargs: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "idiot_train.cli", *argv],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, **(env or {})}, **kwargs,
    )  # type: ignore[call-overload, no-any-return]  # fmt: skip


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert main([]) == 0
    assert capsys.readouterr().out == out
    for command in cli.COMMANDS:
        assert f"\n    {command} " in out
        assert f"idiot {command}" in out  # an example


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_each_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    if command == "train":
        pytest.importorskip("torch")
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"idiot {command}" in out.partition("example")[2]
    assert "default" in out or command == "replay"


def test_all_agents_are_listed_and_what_is_said_of_them_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents"]) == 0
    out = capsys.readouterr().out
    listed = {line.split()[0]: line for line in out.splitlines() if line.startswith("  ")}
    assert set(listed) == {*SPECS, *CHEATS, *(f"ppo:{name}" for name in shipped_models())}
    assert max(map(len, out.splitlines())) <= 120
    for spec in [spec for spec in listed if spec == spec.lower()]:
        make_agent(spec, cheats=True)
    examples = [example for line in listed.values() for example in re.findall(r"[a-z+]+:[a-z0-9][-a-z0-9,:]*", line)]
    assert len(examples) > 8
    for example in examples:
        if not example.startswith("openspiel") or importlib.util.find_spec("pyspiel"):
            make_agent(example.rstrip(":,"), cheats=True)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"idiot {__version__}\n"


def test_help_and_rules_need_neither_torch_nor_a_compiled_engine() -> None:
    code = (
        "import sys; from idiot_train.cli import main; main(['--help']); main(['train', '--help'])\n"
        "assert not {'torch', 'stable_baselines3', 'matplotlib'} & set(sys.modules), 'heavy modules were imported'"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("lang", ["no", "en"])
def test_rules_prints_the_card(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["rules", "--rules", "norsk", "--set", "chance=yes", "jokers=2", "--set", "losers=2", "--lang", lang]
    assert main(argv) == 0
    rules = Rules.preset("norsk", chance=True, jokers=2, losers=2)
    assert capsys.readouterr().out == rule_card(rules, lang) + "\n"


def test_rules_reads_the_short_text_of_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--rules", "norsk chance=yes", "--set", "chance=no", "--lang", "en"]) == 0
    assert capsys.readouterr().out == rule_card(Rules.preset("norsk"), "en") + "\n"


def test_rules_lists_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--options", "--lang", "en"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name}=" in out for name in Rules().as_dict())


@pytest.mark.parametrize(
    ("environment", "lang"),
    [
        ({}, "en"),
        ({"LANG": "nb_NO.UTF-8"}, "no"),
        ({"LANG": "nn_NO"}, "no"),
        ({"LANG": "no"}, "no"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LC_ALL": "en_GB.UTF-8", "LANG": "nb_NO.UTF-8"}, "en"),
        ({"LC_ALL": "C.UTF-8", "LANG": "nb_NO.UTF-8"}, "no"),
    ],
)
def test_language_of_the_environment(environment: dict[str, str], lang: str) -> None:
    assert language_of(environment) == lang


def test_changed_options_do_not_swallow_what_follows() -> None:
    assert split_changes(["play", "--set", "a=1", "b=2", "greedy"]) == (
        ["play", "--set", "a=1", "--set", "b=2", "greedy"]
    )
    assert split_changes(["--set", "greedy", "a=1"]) == ["--set", "greedy", "a=1"]
    assert split_changes(["--set", "a=1", "ppo:runs/x=1"]) == ["--set", "a=1", "ppo:runs/x=1"]
    assert split_changes(["--set"]) == ["--set"]


BAD = {
    ("plya",): "'plya'",
    ("--verison",): "--verison",
    ("rules", "norsk"): "norsk",
    ("rules", "--rules", "norks"): "'norks'",
    ("rules", "--set", "chanse=yes"): "'chanse'",
    ("rules", "--set", "chance=maybe"): "chance=maybe",
    ("rules", "--set", "chance"): "'chance'",
    ("rules", "--set", "chance=yes", "chance=no"): "twice",
    ("rules", "--set"): "--set",
    ("rules", "--lang", "de"): "'de'",
    ("play", "gredy"): "'gredy'",
    ("play", "ppo:"): "'ppo:'",
    ("play", "ppo:/no/such/model"): "/no/such/model",
    ("play", "greedy", "--players", "6"): "'6'",
    ("play", "greedy", "--players", "two"): "'two'",
    ("play", "greedy", "greedy", "--players", "2"): "--players 3",
    ("play", "greedy", "--seat", "2"): "from 0 to 1",
    ("play", "greedy", "--seat", "-1"): "'-1'",
    ("play", "greedy", "--seed", "1.5"): "'1.5'",
    ("play", "greedy", "--set", "losers=2", "--players", "2"): "two idiots need 3",
    ("play", "--players", "5", "--set", "hand_size=6"): "hand_size",
    ("play", "greedy", "--save", "/no/such/folder/game.json"): "/no/such/folder",
    ("play", "greedy", "--save", "."): "is a folder",
    ("play", "--sed", "3"): "--sed",
    ("bench", "greedy", "nobody"): "'nobody'",
    ("bench",): "AGENT",
    ("bench", "greedy", "random", "--deals", "0"): "'0'",
    ("bench", "greedy", "random", "--rules", "x"): "'x'",
    ("bench", "greedy", "random", "--seed", "abc"): "'abc' is not possible",
    ("bench", "greedy", "random", "--max-decisions", "9" * 20): "from 1 to 2147483647",
    ("bench", "greedy", "random", "--deals", "9" * 20): "from 1 to 2147483647",
    ("bench", "greedy", "random", "--json", "."): "is a folder",
    ("bench", "greedy", "random", "--json", ""): "is a folder",
    ("bench", "greedy", "random", "--json", "/no/such/folder/x.json"): "/no/such/folder",
    ("replay", "/no/such/file.json"): "/no/such/file.json",
}


@pytest.mark.parametrize("argv", BAD)
def test_bad_input_is_one_sentence_and_code_2(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(list(argv)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("idiot")
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    assert BAD[argv] in err


def test_faults_of_the_program_are_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(words: list[str]) -> int:
        raise ValueError("a fault, not an input")

    monkeypatch.setattr(cli, "run", broken)
    with pytest.raises(ValueError, match="a fault"):
        main(["rules"])


def test_interrupt_and_input_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def raising(error: BaseException) -> None:
        def run(words: list[str]) -> int:
            raise error

        monkeypatch.setattr(cli, "run", run)

    raising(KeyboardInterrupt())
    assert main(["rules"]) == 130
    raising(InputError("two\nlines."))
    assert main(["rules"]) == 2
    assert capsys.readouterr().err == "idiot rules: two lines.\n"


def test_as_a_program() -> None:
    """The real process: exit code, a closed pipe, and a terminal that knows no Norwegian letters."""
    done = idiot("rules", "--rules", "norks")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    ascii_only = idiot("rules", "--lang", "no", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert ascii_only.returncode == 0
    assert "h?nden" in ascii_only.stdout
    code = f"{sys.executable} -m idiot_train.cli rules --options | head -n 1"
    piped = subprocess.run(["bash", "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert piped.stdout == "The tables:\n" or piped.stdout == "Bordene:\n"
    assert piped.stderr == ""
    for line, exit_code in (("rules >&-", 0), ("play --seed 1 <&-", 0), ("rules > /dev/full", 2)):
        code = f"{sys.executable} -m idiot_train.cli {line}"
        done = subprocess.run(["bash", "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == exit_code, done.stderr
        assert "Traceback" not in done.stderr
