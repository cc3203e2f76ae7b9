"""What the package offers: listed in ``__all__``, documented, and its examples run."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("idiot_env", "idiot_agents", "idiot_train")
PUBLIC = (
    "idiot_env", "idiot_env.actions", "idiot_env.aec", "idiot_env.batched", "idiot_env.cards", "idiot_env.events",
    "idiot_env.game", "idiot_env.observation", "idiot_env.picture", "idiot_env.render", "idiot_env.rule_card",
    "idiot_env.rules", "idiot_env.seats", "idiot_env.single", "idiot_env.view", "idiot_env.words",
    "idiot_agents.protocol",
)  # fmt: skip
"""Modules that others may build on: what stands in their ``__all__`` changes only with a line in the changelog."""


def is_module_file(path: Path) -> bool:
    return "__pycache__" not in path.parts


def with_examples() -> list[str]:
    """Modules whose docstrings hold examples."""
    paths = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py") if is_module_file(p))
    found = []
    for path in paths:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        documented = (n for n in nodes if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef))
        if any(">>> " in (ast.get_docstring(node) or "") for node in documented):
            found.append(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    return found


def undocumented(module: ModuleType) -> list[str]:
    """Offered functions and classes without a docstring, and these classes' own public methods without one.

    A method that overrides a documented one of its base, as a library's interface asks, has that one's.
    """
    bad = []
    for name in module.__all__:
        thing: Any = getattr(module, name)
        if not (inspect.isclass(thing) or callable(thing)):
            continue
        if not thing.__doc__:
            bad.append(name)
        if inspect.isclass(thing):
            own = (member for member, value in vars(thing).items() if inspect.isfunction(value))
            bad += [f"{name}.{m}" for m in own if not m.startswith("_") and not inspect.getdoc(getattr(thing, m))]
    return bad


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_offered_is_there_and_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    assert len(set(module.__all__)) == len(module.__all__)
    assert not [entry for entry in module.__all__ if not hasattr(module, entry)]
    assert not undocumented(module)


def test_the_check_can_fail() -> None:
    module = ModuleType("module")
    code = "class A:\n    'Documented.'\n    def f(self): ...\ndef g(): ...\nLIMIT = 3\n__all__ = ['A', 'g', 'LIMIT']"
    exec(code, vars(module))
    assert undocumented(module) == ["A.f", "g"]


def test_types_are_shipped() -> None:
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").is_file(), package


@pytest.mark.parametrize("name", with_examples())
def test_examples_in_docstrings(name: str) -> None:
    """Attempted is what the module's docstrings hold; where a library is missing, as for an extra, it is said."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] in PACKAGES:
            raise
        pytest.skip(f"needs {missing.name}")
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.attempted
    assert not result.failed


def test_the_game_has_examples() -> None:
    assert {"idiot_env.game", "idiot_env.batched", "idiot_env.rules", "idiot_env.actions"} <= set(with_examples())
