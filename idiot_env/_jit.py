"""The one Numba decorator: compiler flags, a safe cache folder, and one line on stderr for a cold compile.

Numba's own cache checks only the file of the function it compiles and never its callees, so a stale engine could be
called from a fresh observation.  Here every package compiles into a folder named after a hash of its own sources and of
``idiot_env``'s: any edit anywhere opens a new folder.  JSON beside the sources counts as one: compiled code holds what
was read from it as constants.

=====================  ==============================================================================================
environment variable   effect
=====================  ==============================================================================================
``IDIOT_CACHE_DIR``    folder for compiled code (default: ``__pycache__`` of ``idiot_env``; where that is read-only,
                       the user's cache directory)
``NUMBA_DISABLE_JIT``  ``1`` runs the same functions as plain Python: for debugging and coverage
``NUMBA_BOUNDSCHECK``  ``1`` checks every array index of compiled code
=====================  ==============================================================================================
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event as numba_event

HERE = Path(__file__).resolve().parent
F = TypeVar("F", bound=Callable[..., Any])
# Numba fills this module with its settings when it is imported; type checkers cannot see them.
config: Any = importlib.import_module("numba.core.config")

_ours: set[int] = set()


@cache
def sources_hash(package: Path) -> str:
    """Hash of all Python and JSON files of ``package`` and of ``idiot_env``, with Numba's version and flags."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {config.BOUNDSCHECK}".encode())
    for folder in sorted({package, HERE}):
        for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.json"))):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_root() -> Path:
    """The first writable folder of ``IDIOT_CACHE_DIR``, the package's own, the user's, a temporary one."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    named = os.environ.get("IDIOT_CACHE_DIR")
    choices = [HERE / "__pycache__" / "numba", user / "idiot_env"]
    if named:
        choices.insert(0, Path(named))
    for folder in choices:
        if _writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="idiot_env_"))


def cache_folder(package: Path = HERE) -> Path:
    """Where ``package``'s compiled functions live; the name changes with every edit of the sources."""
    return cache_root() / f"{package.name}-{sources_hash(package)}"


class _Announcer(numba_event.Listener):
    """Says once that compiling takes a moment; loading from the cache raises no such event."""

    said = False

    def on_start(self, event: Any) -> None:
        if not _Announcer.said and id(event.data["dispatcher"]) in _ours:
            _Announcer.said = True
            print("idiot_env: compiling the engine, once (about 20 seconds) ...", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


numba_event.register("numba:compile", _Announcer())


def _package_of(function: Callable[..., Any]) -> Path:
    """The folder of the outermost package that a function's file lies in."""
    folder = Path(function.__code__.co_filename).resolve().parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder if (folder / "__init__.py").exists() else HERE


def _compile(function: F, **flags: Any) -> F:
    if config.DISABLE_JIT:
        return function
    # Numba reads CACHE_DIR while it decorates; other users of Numba in this process keep theirs.
    before, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder(_package_of(function)))
    try:
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy", **flags)(function)
    finally:
        config.CACHE_DIR = before
    _ours.add(id(compiled))
    return compiled  # type: ignore[no-any-return]


def jit(function: F) -> F:
    """Compile ``function`` in nopython mode, without the interpreter lock, into the keyed cache."""
    return _compile(function)


def jit_inline(function: F) -> F:
    """As :func:`jit`, for small helpers that LLVM should always inline into their caller."""
    return _compile(function, forceinline=True)
