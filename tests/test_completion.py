"""The Tab key: each shell's own code asks the real program, and each kind of argument has its candidates."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from idiot_train.cli import main
from idiot_train.completion import SHELLS, asked

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose only file is the command ``idiot`` of these sources."""
    folder = tmp_path_factory.mktemp("bin")
    file = folder / "idiot"
    file.write_text(f"#!{sys.executable}\nimport sys\nfrom idiot_train.cli import main\nsys.exit(main())\n")
    file.chmod(0o755)
    return folder


def complete(program: Path, line: str, cwd: Path) -> list[str]:
    """Candidates as argcomplete's protocol brings them: the program writes them to file 8."""
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "_ARGCOMPLETE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line.encode())),
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_DFS": "\t",
    }
    command = ["bash", "-c", f"{program}/idiot 8>&1 9>&2 1>/dev/null"]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=True)
    return [candidate.partition("\t")[0].strip() for candidate in done.stdout.split("\n") if candidate]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place with a model, a folder that is none, and a configuration."""
    from idiot_agents.network import CARD

    (tmp_path / "runs" / "good" / "model").mkdir(parents=True)
    (tmp_path / "runs" / "good" / "model" / CARD).touch()
    (tmp_path / "runs" / "good" / "checkpoints").mkdir()
    (tmp_path / "own.yaml").touch()
    (tmp_path / "notes.txt").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("line", "all_of", "none_of"),
    [
        ("idiot ", {"play", "bench", "doctor", "--version"}, {"greedy"}),
        ("idiot be", {"bench"}, {"play"}),
        ("idiot bench gr", {"greedy"}, {"random"}),
        ("idiot bench greedy --rules ", {"standard", "norsk", "sjanse", "familie"}, {"greedy"}),
        ("idiot play --lang ", {"no", "en"}, set()),
        ("idiot play --players ", {"2", "5"}, {"1", "6"}),
        ("idiot rules --set ", {"chance=yes", "jokers=2"}, {"chance=True"}),
        ("idiot play greedy --se", {"--seat", "--seed", "--set"}, {"--lang"}),
        ("idiot play ppo:runs/good/", {"ppo:runs/good/model", "ppo:runs/good/checkpoints/"}, {"ppo:runs/"}),
        ("idiot bench ppo:", {"ppo:generalist", "ppo:runs/"}, {"greedy"}),
        ("idiot exploit ca", {"careful"}, {"greedy"}),
        ("idiot study --strong li", {"linear"}, {"greedy"}),
        ("idiot completion ", set(SHELLS), {"idiot"}),
    ],
)
def test_candidates(program: Path, folder: Path, line: str, all_of: set[str], none_of: set[str]) -> None:
    found = set(complete(program, line, folder))
    assert all_of <= found
    assert not none_of & found


def test_candidates_for_training(program: Path, folder: Path) -> None:
    pytest.importorskip("pydantic", reason="needs the extra 'train'")
    found = complete(program, "idiot train --config ", folder)
    assert {"quick", "own.yaml"} <= set(found)
    assert "notes.txt" not in found
    assert "decisions=" in complete(program, "idiot train --config quick --set de", folder)


BASH = """
eval "$(idiot completion bash)"
COMP_LINE='idiot bench ca' COMP_POINT=14 COMP_TYPE=9 COMP_WORDS=(idiot bench ca) COMP_CWORD=2
_python_argcomplete idiot
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = "idiot completion fish | source; complete --do-complete 'idiot bench ca'"
# The line editor cannot be had without a terminal; its function is called as the editor would.
ZSH = """
autoload -Uz compinit is-at-least && compinit -u -D
eval "$(idiot completion zsh)"
_describe() { print -l "${(@P)2}" }
words=(idiot bench ca) CURRENT=3 BUFFER='idiot bench ca' CURSOR=14
_python_argcomplete idiot
[[ ${_comps[idiot]} == _python_argcomplete* ]] && print registered
"""


@pytest.mark.parametrize(("shell", "script"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_in_the_shell(program: Path, tmp_path: Path, shell: str, script: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    env = {**os.environ, "PATH": f"{program}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run([shell, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert any(word.startswith("careful") for word in words), done
    assert "greedy" not in words
    assert shell != "zsh" or "registered" in words


def test_only_a_shell_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked({}) is None
    assert asked({"_ARGCOMPLETE": "1", "COMP_LINE": "idiot bench gr", "COMP_POINT": "11"}) == ["bench"]
    assert main(["completion", "tcsh"]) == 2
    assert "'tcsh'" in capsys.readouterr().err
