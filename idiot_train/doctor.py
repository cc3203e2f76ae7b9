"""``idiot doctor``: what this installation is, whether it will be quick, and what is missing for which extra."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path

from idiot_train.extras import extras, requirements

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
Line = tuple[str, str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print versions, cores, the folder for compiled code, whether the engine is compiled, and what is missing for "
        "which extra. By default everything is printed; there is nothing to choose."
    )
    parser.epilog = "example: idiot doctor > doctor.txt"


def run(args: argparse.Namespace) -> int:
    lines = [*versions(), *machine(), *compiled_code(), *missing()]
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        print(f"{name:<{width}}  {text}".rstrip())
    return 0


def versions() -> Iterator[Line]:
    """Idiot, Python and the libraries of the base installation."""
    import idiot_env

    yield "idiot", f"{idiot_env.__version__} in {Path(idiot_env.__file__).resolve().parent.parent}"
    yield "python", f"{platform.python_version()} on {platform.platform()}"
    here = [f"{line.name} {importlib.metadata.version(line.name)}" for line in requirements()]
    yield "libraries", ", ".join(here)


def usable_cores() -> int:
    """Cores that this process may run on, which a container may have limited."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine() -> Iterator[Line]:
    """Cores, and threads that numeric libraries were told to use."""
    yield "cores", f"{usable_cores()} of {os.cpu_count()} usable"
    told = [f"{name}={os.environ[name]}" for name in THREADS if name in os.environ]
    yield (
        "threads",
        ", ".join(told) or f"{THREADS[0]} is not set: libraries take all cores, which only slows small nets",
    )


def compiled_code() -> Iterator[Line]:
    """The folder for compiled code, and whether the engine of these sources is in it."""
    import numba

    from idiot_env._jit import cache_folder

    if numba.config.DISABLE_JIT:
        yield "engine", "plain Python, as NUMBA_DISABLE_JIT is set: some hundred times slower"
        return
    folder = cache_folder()
    yield "cache", str(folder)
    # Numba keeps an index and one file for each compiled signature of a function.
    if any(folder.rglob("engine.apply-*.nbc")):
        yield "engine", "compiled"
    elif folder.is_relative_to(tempfile.gettempdir()) and "IDIOT_CACHE_DIR" not in os.environ:
        yield "engine", "compiled anew by every process: no other folder can be written, name one in IDIOT_CACHE_DIR"
    else:
        yield "engine", "not compiled yet: the first game takes about 20 seconds longer"


def missing() -> Iterator[Line]:
    """Each extra: ready, or what it lacks and what installs it."""
    for extra in extras():
        text = f"needs {', '.join(extra.missing)}: {extra.command}" if extra.missing else "ready"
        yield f"extra {extra.name}", text
