"""Who may import whom, and what may never be in the repository."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("idiot_env", "agents", "train")

# A module may import modules of a lower floor of its own package; a new module needs a line here.
FLOORS = {
    "idiot_env.version": 0,
    "idiot_env._jit": 0,
    "idiot_env.cards": 1,
    "idiot_env.rules": 1,
    "idiot_env.actions": 2,
    "idiot_env.engine": 3,
    "idiot_env.observation": 4,
    "idiot_env.events": 4,
    "idiot_env.view": 5,
    "idiot_env.truth": 5,
    "idiot_env.words": 6,
    "idiot_env.rule_card": 7,
    "idiot_env.render": 7,
    "idiot_env.game": 8,
    "idiot_env.batched": 9,
    "idiot_env.seats": 10,
    "idiot_env.aec": 10,
    "idiot_env.single": 11,
    "idiot_env": 12,
}
BASE = {"numpy", "numba", "gymnasium", "pettingzoo"}
"""What ``idiot_env`` may import at module level beside the standard library."""
HEAVY = {"torch", "ray", "pyspiel", "stable_baselines3", "sb3_contrib", "matplotlib", "tensorboard"}


def source_files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, top_level_only: bool) -> set[str]:
    """Full names of imported modules, and of names imported from them where those may be modules."""
    tree = ast.parse(source)
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def tops(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def forbidden_imports(package: str, source: str) -> set[str]:
    """Imports that break the direction idiot_env <- agents <- train, anywhere in a source."""
    above = {"idiot_env": {"agents", "train", "torch", "starlette"}, "agents": {"train"}, "train": set()}[package]
    return tops(imports(source, top_level_only=False)) & above


def upward_imports(module: str, source: str) -> set[str]:
    """Imports inside idiot_env that go up a floor or stay on it."""
    inner = {name for name in imports(source, top_level_only=False) if name in FLOORS and name != "idiot_env"}
    return {name for name in inner if FLOORS[name] >= FLOORS[module]}


def global_randomness(source: str) -> list[str]:
    """Calls that draw from a global generator."""
    calls = [ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    allowed = {"np.random.default_rng", "random.Random"}
    return [call for call in calls if re.fullmatch(r"(np\.)?random\.\w+", call) and call not in allowed]


@pytest.mark.parametrize("path", source_files(), ids=module_name)
def test_nothing_runs_back_up(path: Path) -> None:
    assert not forbidden_imports(module_name(path).partition(".")[0], path.read_text())


@pytest.mark.parametrize("path", [p for p in source_files() if p.parts[-2] == "idiot_env"], ids=module_name)
def test_the_floors_of_idiot_env(path: Path) -> None:
    module = module_name(path)
    assert module in FLOORS, f"{module} is new: give it a floor in this test"
    assert not upward_imports(module, path.read_text())


@pytest.mark.parametrize("path", source_files(), ids=module_name)
def test_heavy_libraries_come_late(path: Path) -> None:
    import sys

    found = tops(imports(path.read_text(), top_level_only=True))
    package = module_name(path).partition(".")[0]
    if package == "idiot_env":
        assert found <= set(sys.stdlib_module_names) | BASE | {"idiot_env", "__future__"}
    if package != "train" or path.name in ("cli.py", "train_command.py", "__init__.py"):
        assert not found & HEAVY


@pytest.mark.parametrize("path", source_files(), ids=module_name)
def test_no_global_randomness(path: Path) -> None:
    assert not global_randomness(path.read_text())


def test_no_import_cycles() -> None:
    graph = {module_name(path): imports(path.read_text(), top_level_only=True) for path in source_files()}
    graph = {module: {name for name in names if name in graph} for module, names in graph.items()}
    for package in PACKAGES:  # "from agents import compiled" names the package, too; its __init__ is no cycle
        for names in graph.values():
            names.discard(package)
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"import cycle: {' -> '.join((*path, module))}"
        if module not in done:
            for name in sorted(graph[module]):
                visit(name, (*path, module))
            done.add(module)

    for module in sorted(graph):
        visit(module, ())


def test_tracked_files() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    files = [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    assert files
    assert not [f for f in files if f.suffix in (".pkl", ".pickle", ".pt", ".pth", ".zip")]
    assert not [f for f in files if f.stat().st_size > 5_000_000]


def test_the_checks_can_fail() -> None:
    assert forbidden_imports("idiot_env", "def f():\n    import torch") == {"torch"}
    assert forbidden_imports("agents", "from train.cli import main") == {"train"}
    assert upward_imports("idiot_env.cards", "from idiot_env.game import Game") == {"idiot_env.game"}
    assert upward_imports("idiot_env.cards", "from idiot_env import engine") == {"idiot_env.engine"}
    assert global_randomness("np.random.seed(1)\nnp.random.default_rng(2)") == ["np.random.seed"]
