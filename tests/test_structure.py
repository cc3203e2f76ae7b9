"""Who may import whom, what compiled code must look like, and what may never be in the repository.

Sources are read, never imported.  Each check is a function of source text, and ``test_the_checks_can_fail`` shows each
of them a source that it must refuse.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("idiot_env", "idiot_agents", "idiot_train")

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
    "idiot_env.hidden": 5,
    "idiot_env.words": 6,
    "idiot_env.table_text": 7,
    "idiot_env.rule_card": 7,
    "idiot_env.picture": 7,
    "idiot_env.render": 8,
    "idiot_env.game": 8,
    "idiot_env.batched": 9,
    "idiot_env.openspiel": 9,
    "idiot_env.seats": 10,
    "idiot_env.aec": 10,
    "idiot_env.single": 11,
    "idiot_env": 12,
}
BASE = {"numpy", "numba", "gymnasium", "pettingzoo"}
"""What ``idiot_env`` may import at module level beside the standard library; within functions also Pillow."""
HEAVY = {"torch", "ray", "pyspiel", "stable_baselines3", "sb3_contrib", "matplotlib", "tensorboard"}
OPTIONAL = {
    "idiot_env.openspiel": {"pyspiel"},
    "idiot_agents.openspiel": {"pyspiel", "open_spiel"},
    "idiot_agents.web.app": {"starlette"},
    "idiot_agents.web.guard": {"starlette"},
    "idiot_agents.web.serve": {"uvicorn"},
}
"""Modules for those who have an extra, and what they may import at once; no other module imports them at its top."""
WEB = {"http", "socketserver", "wsgiref", "starlette", "uvicorn", "fastapi", "flask", "aiohttp", "websockets"}
IMPORT_NAMES = {"pillow": "PIL"}
"""Where a distribution in ``pyproject.toml`` is imported under another name."""
STDLIB = set(sys.stdlib_module_names)
DECORATORS = {"jit", "jit_inline"}
"""The decorators of ``idiot_env._jit``, the only way into Numba."""


def source_files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def base_libraries() -> set[str]:
    """Import names of what an installation without extras brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[^\w-]", requirement)[0] for requirement in project["dependencies"]]
    return {IMPORT_NAMES.get(name, name) for name in names}


# --- what a source imports -------------------------------------------------------------------------------------------


def nodes_run_at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes that run when the module is imported: not the bodies of functions, nor what only type checkers read."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            pending += node.orelse
            continue
        pending += ast.iter_child_nodes(node)


def imports(source: str, at_import_only: bool) -> set[str]:
    """Full names of imported modules, and of names imported from them where those may be modules."""
    tree = ast.parse(source)
    found = set()
    for node in nodes_run_at_import(tree) if at_import_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and re.fullmatch(
            r"(importlib\.)?import_module|__import__", ast.unparse(node.func)
        ):
            found |= {
                arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            }
    return found


def tops(names: set[str]) -> set[str]:
    """The top-level packages of module names; a relative import, which nobody may use, stays ``""``."""
    return {name.partition(".")[0] for name in names}


def forbidden_imports(module: str, source: str) -> set[str]:
    """Imports, anywhere in a source, that break the direction idiot_env <- idiot_agents <- idiot_train."""
    package = module.partition(".")[0]
    found = tops(imports(source, at_import_only=False)) - OPTIONAL.get(module, set())
    if package == "idiot_env":
        return (found - STDLIB - BASE - {"PIL", "idiot_env"}) | found & WEB
    return found & {"idiot_agents": {"", "idiot_train"}, "idiot_train": {""}}[package]


def early_imports(module: str, source: str) -> set[str]:
    """Imports at module level that a newcomer would wait for, or miss without the extras."""
    found = tops(imports(source, at_import_only=True)) - STDLIB - set(PACKAGES) - OPTIONAL.get(module, set())
    package = module.partition(".")[0]
    if package == "idiot_env":
        return found - BASE
    return found - base_libraries() if package == "idiot_agents" else set()


def upward_imports(module: str, source: str) -> set[str]:
    """Imports inside idiot_env that go up a floor or stay on it."""
    inner = {name for name in imports(source, at_import_only=False) if name in FLOORS and name != "idiot_env"}
    return {name for name in inner if FLOORS[name] >= FLOORS[module]}


def import_graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """Which of the modules each of them imports while it is imported.

    ``from idiot_agents import compiled`` names the package, too: its ``__init__`` is left out, for it is no cycle.
    """
    graph = {module: imports(source, at_import_only=True) for module, source in sources.items()}
    return {
        module: {name for name in names if name in graph and name not in PACKAGES} for module, names in graph.items()
    }


def find_cycle(graph: dict[str, set[str]]) -> tuple[str, ...]:
    """The first import cycle, or nothing."""
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> tuple[str, ...]:
        if module in path:
            return (*path[path.index(module) :], module)
        for name in () if module in done else sorted(graph[module]):
            if cycle := visit(name, (*path, module)):
                return cycle
        done.add(module)
        return ()

    return next((cycle for module in sorted(graph) if (cycle := visit(module, ()))), ())


# --- what a source says ----------------------------------------------------------------------------------------------


def full_names(tree: ast.Module) -> dict[str, str]:
    """What the imported names of a source stand for: ``np`` is ``numpy``."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def calls(source: str) -> list[tuple[str, ast.Call]]:
    """Every call by the full name of what it calls."""
    tree = ast.parse(source)
    names = full_names(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            first, dot, rest = ast.unparse(node.func).partition(".")
            found.append((names.get(first, first) + dot + rest, node))
    return found


GENERATORS = ("default_rng", "PCG64", "Philox", "SFC64", "RandomState", "MT19937")
SEEDED = {"default_rng", "Generator", "SeedSequence", "PCG64", "Philox", "SFC64", "Random", "SystemRandom"}
SEEDED |= {"RandomState", "MT19937"}  # what OpenSpiel's algorithms draw from


def global_randomness(source: str) -> list[str]:
    """Calls that draw from or seed a global generator, and generators made without a seed.

    Where somebody asks for no seed, ``SeedSequence`` or ``secrets`` draws one from the system, and it is kept.
    """
    bad = []
    for name, node in calls(source):
        module, _, function = name.rpartition(".")
        if module in ("random", "numpy.random") and function not in SEEDED:
            bad.append(name)
        elif function in GENERATORS and not (node.args or node.keywords):
            bad.append(f"{name}()")
        elif name == "random.Random" and not node.args:
            bad.append("random.Random()")
        elif name in ("torch.manual_seed", "torch.seed", "torch.random.manual_seed"):
            bad.append(name)
    return bad


def decorators(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {ast.unparse(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2] for d in function.decorator_list}


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def unsigned_literals(source: str) -> list[int]:
    """Lines that name ``uint64`` in compiled functions or in constants that these may read.

    Beside an ordinary integer it makes Numba compute with float64, or refuse to compile.  The two functions that wrap
    around need it: both operands are unsigned there, and the result is signed again.
    """
    tree = ast.parse(source)
    compiled = [
        function
        for function in functions(tree)
        if decorators(function) & DECORATORS and function.name not in ("wrapping_sum", "wrapping_product")
    ]
    if not compiled:
        return []
    constants = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    return sorted(
        {
            node.lineno
            for part in (*compiled, *constants)
            for node in ast.walk(part)
            if (isinstance(node, ast.Attribute) and node.attr in ("uint64", "uint"))
            or (isinstance(node, ast.Name) and node.id == "uint64")
            or (isinstance(node, ast.Constant) and node.value in ("uint64", "u8", "<u8"))
        }
    )


def bare_functions(source: str) -> list[str]:
    """Functions outside Numba that leave an argument or the result without a type, which mypy would then not check."""
    bad = []
    for function in functions(ast.parse(source)):
        if decorators(function) & DECORATORS:
            continue
        args = function.args
        all_args = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        typed = [a for a in all_args if a is not None and a.arg not in ("self", "cls", "mcs")]
        if function.returns is None or any(a.annotation is None for a in typed):
            bad.append(function.name)
    return bad


def foreign_compilers(source: str) -> list[str]:
    """Ways into Numba beside the one decorator: another one knows nothing of the keyed cache."""
    found = {name for name in imports(source, at_import_only=False) if name.startswith("numba.")}
    found |= {ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
    return sorted(
        name for name in found if re.fullmatch(r"(numba|nb)\.(n?jit|jitclass|vectorize|cfunc|experimental.*)", name)
    )


# --- the checks ------------------------------------------------------------------------------------------------------

every_source = pytest.mark.parametrize("path", source_files(), ids=module_name)


@every_source
def test_nothing_runs_back_up(path: Path) -> None:
    assert not forbidden_imports(module_name(path), path.read_text())


@pytest.mark.parametrize("path", [p for p in source_files() if p.parent.name == "idiot_env"], ids=module_name)
def test_the_floors_of_idiot_env(path: Path) -> None:
    module = module_name(path)
    assert module in FLOORS, f"{module} is new: give it a floor in FLOORS of tests/test_structure.py"
    assert not upward_imports(module, path.read_text())


@every_source
def test_heavy_libraries_come_late(path: Path) -> None:
    assert not early_imports(module_name(path), path.read_text())


@every_source
def test_optional_modules_come_late(path: Path) -> None:
    if module_name(path) not in OPTIONAL:
        assert not imports(path.read_text(), at_import_only=True) & OPTIONAL.keys()


def test_the_command_line_starts_without_extras() -> None:
    """Nothing that ``idiot`` imports on its way to a subcommand is heavy or missing in a base installation."""
    sources = {module_name(path): path.read_text() for path in source_files()}
    graph = import_graph(sources)
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["idiot"].partition(":")[0]
    pending, reached = [entry, *PACKAGES, "idiot_train.train_command"], set()
    while pending:
        module = pending.pop()
        if module in sources and module not in reached:
            reached.add(module)
            pending += graph[module]
            libraries = tops(imports(sources[module], at_import_only=True)) - STDLIB - set(PACKAGES)
            assert libraries <= base_libraries() - HEAVY, module
    assert entry in reached


def test_no_import_cycles() -> None:
    cycle = find_cycle(import_graph({module_name(path): path.read_text() for path in source_files()}))
    assert not cycle, f"import cycle: {' -> '.join(cycle)}"


@every_source
def test_no_global_randomness(path: Path) -> None:
    assert not global_randomness(path.read_text())


@every_source
def test_card_sets_are_signed(path: Path) -> None:
    assert not unsigned_literals(path.read_text())


@every_source
def test_only_compiled_functions_go_untyped(path: Path) -> None:
    assert not bare_functions(path.read_text())


@every_source
def test_one_decorator(path: Path) -> None:
    assert module_name(path) == "idiot_env._jit" or not foreign_compilers(path.read_text())


def wrong_files(names: list[str], sizes: list[int]) -> list[str]:
    """Files that have no place in the repository: pickles run code when they are read, large files stay for ever."""
    suffixes = (".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".joblib", ".zip", ".pyc", ".nbi", ".nbc")
    return [n for n, size in zip(names, sizes, strict=True) if n.lower().endswith(suffixes) or size > 5_000_000]


def test_tracked_files() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]
    assert "pyproject.toml" in names
    assert not wrong_files(names, [(ROOT / name).stat().st_size for name in names])


def test_the_checks_can_fail() -> None:
    assert forbidden_imports("idiot_env", "def f():\n    import torch") == {"torch"}
    late = "import importlib\nimportlib.import_module('idiot_agents.play')"
    assert forbidden_imports("idiot_env", late) == {"idiot_agents"}
    assert forbidden_imports("idiot_env", "from http import server\nimport PIL, json") == {"http"}
    assert forbidden_imports("idiot_env", "from .cards import RANKS") == {""}
    assert forbidden_imports("idiot_agents", "from idiot_train.cli import main") == {"idiot_train"}
    assert not forbidden_imports("idiot_env.openspiel", "import pyspiel")
    assert forbidden_imports("idiot_env.openspiel", "import torch") == {"torch"}
    assert early_imports("idiot_env.render", "try:\n    from PIL import Image\nexcept ImportError: pass") == {"PIL"}
    assert early_imports("idiot_agents.neural", "class A:\n    import torch\ndef f():\n    import yaml") == {"torch"}
    assert not early_imports("idiot_agents.neural", "if TYPE_CHECKING:\n    import torch")
    assert upward_imports("idiot_env.cards", "from idiot_env.game import Game") == {"idiot_env.game"}
    assert upward_imports("idiot_env.cards", "from idiot_env import engine") == {"idiot_env.engine"}
    cycle = {
        "idiot_agents.a": "import idiot_agents.b",
        "idiot_agents.b": "from idiot_agents import c",
        "idiot_agents.c": "from idiot_agents.a import x",
    }
    assert find_cycle(import_graph(cycle)) == ("idiot_agents.a", "idiot_agents.b", "idiot_agents.c", "idiot_agents.a")
    assert not find_cycle(
        import_graph(
            {"idiot_agents.a": "import idiot_agents.b", "idiot_agents.b": "def f():\n    import idiot_agents.a"}
        )
    )
    assert global_randomness("import numpy as np\nnp.random.seed(1)\nnp.random.default_rng(2)") == ["numpy.random.seed"]
    assert global_randomness("from random import shuffle as mix\nmix([])") == ["random.shuffle"]
    assert global_randomness("from numpy.random import default_rng\ndefault_rng()") == ["numpy.random.default_rng()"]
    assert global_randomness("import random\nrandom.Random()\nrandom.Random(3)") == ["random.Random()"]
    assert global_randomness("import numpy\nnumpy.random.rand()") == ["numpy.random.rand"]
    assert unsigned_literals("@jit\ndef f(a):\n    return a & np.uint64(1)") == [3]
    assert unsigned_literals("ALL = np.dtype('uint64')\n@jit_inline\ndef f(a):\n    return a") == [1]
    assert not unsigned_literals("def f(a):\n    return np.uint64(a)")
    assert bare_functions("@jit\ndef f(a):\n    return a\ndef g(a) -> int:\n    return a") == ["g"]
    assert bare_functions("class A:\n    def f(self, *args: int):\n        pass") == ["f"]
    assert foreign_compilers("from numba import njit") == ["numba.njit"]
    assert foreign_compilers("import numba\n@numba.jit\ndef f(): pass") == ["numba.jit"]
    assert wrong_files(["a.pkl", "b.py", "c.npz"], [1, 1, 6_000_000]) == ["a.pkl", "c.npz"]
    assert "PIL" in base_libraries()
    assert not base_libraries() & HEAVY
