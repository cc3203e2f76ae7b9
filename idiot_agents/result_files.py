"""Result files: read, written whole or not at all, and compared with a replay."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from idiot_agents.errors import InputError
from idiot_agents.network import write_file
from idiot_agents.results import FORMAT, Result

_NOT_COMPARED = ("agents", "command", "engine_sha256", "timing", "versions")


def check_place(path: Path, option: str) -> None:
    """Refuse a place for a file before the matches instead of after them.

    Raises:
        InputError: with the reason.
    """
    try:
        if path.is_dir() or not path.name:
            raise InputError(f"{option} {path} is a folder: name a file.")
        if not path.parent.is_dir():
            raise InputError(f"{path} cannot be written: {path.parent} is no folder.")
        if not os.access(path.parent, os.W_OK):
            raise InputError(f"{path} cannot be written: the folder {path.parent} is read-only.")
    except (OSError, ValueError) as error:  # too long a name, a null byte
        if isinstance(error, InputError):
            raise
        raise InputError(f"{option} is not possible: {getattr(error, 'strerror', None) or error}.") from None


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all.

    Raises:
        InputError: if it cannot be written.
    """
    try:
        write_file(path, text.encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): name a file in a folder that exists.") from None


def write_json(path: Path, result: Result) -> None:
    """Write a result, whole or not at all.

    Raises:
        InputError: if the file cannot be written.
    """
    write_text(path, json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Result:
    """Read a result.

    Raises:
        InputError: if the file is none.
    """
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}).") from None
    except ValueError:
        raise InputError(f"{path} is not JSON: name a file that idiot bench --json wrote.") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise InputError(f"{path} is not of the format {FORMAT!r}: name a file that idiot bench --json wrote.")
    missing = [
        name
        for name, kind in (("agents", list), ("rules", str), ("players", int), ("deals", int), ("seed", int),
                           ("max_decisions", int), ("matches", list))
        if not isinstance(result.get(name), kind)
    ]  # fmt: skip
    if missing or not all(isinstance(a, dict) and isinstance(a.get("name"), str) for a in result["agents"]):
        raise InputError(f"{path} is broken: its entry {(missing or ['agents'])[0]!r} is missing or of a wrong kind.")
    return result


# --- comparing -------------------------------------------------------------------------------------------------------


def _name_of(entry: Mapping[str, Any], place: int) -> str:
    if "focal" in entry:
        return f"{entry['focal']} against {entry['others']}"
    return str(entry.get("agent", entry.get("name", place + 1)))


def differences(there: Any, here: Any, path: str = "", skipped: frozenset[str] = frozenset()) -> Iterator[str]:
    """Where two results differ, in words.

    Whole numbers, texts and the presence of entries must be the same; fractions to nine digits, for the order in which
    a processor adds may change the last ones.  Entries about an agent in ``skipped`` are left out.
    """
    if isinstance(there, dict) and isinstance(here, dict):
        for name in (*there, *(name for name in here if name not in there)):
            inner = f"{path}{'.' if path and not path.endswith(' ') else ''}{name}"
            if name not in there or name not in here:
                yield f"{inner} is {'only in the file' if name in there else 'missing in the file'}"
            else:
                yield from differences(there[name], here[name], inner, skipped)
    elif isinstance(there, list) and isinstance(here, list):
        if len(there) != len(here):
            yield f"{path} has {len(there)} entries in the file, {len(here)} replayed"
            return
        for place, (a, b) in enumerate(zip(there, here, strict=True)):
            if isinstance(b, dict) and skipped & {b.get("focal"), b.get("others"), b.get("agent")}:
                continue
            name = _name_of(b, place) if isinstance(b, dict) else str(place + 1)
            yield from differences(a, b, f"{path}: {name}{': ' if isinstance(b, dict) else ''}", skipped)
    elif isinstance(there, int | float) and isinstance(here, int | float) and not isinstance(there, bool):
        exact = isinstance(there, int) and isinstance(here, int)
        if there != here if exact else not math.isclose(there, here, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{path} is {there} in the file, {here} replayed"
    elif there != here or type(there) is not type(here):
        yield f"{path} is {there!r} in the file, {here!r} replayed"


def _without_timed_exploiters(result: Result) -> Result:
    """The same result without what searches found that think for a time."""
    told = result.get("exploiters")
    if not isinstance(told, dict):
        return result
    found = [entry for entry in told.get("found", ()) if entry.get("reproducible", True)]
    return {**result, "exploiters": {**told, "found": found}}


def compare(there: Result, here: Result) -> Iterator[str]:
    """Differences of a result file and its replay, without those that say nothing of the games.

    With agents whose games cannot be replayed, nothing that rests on their games is compared.
    """
    unsure = frozenset(agent["name"] for agent in here["agents"] if not agent["reproducible"])
    there, here = _without_timed_exploiters(there), _without_timed_exploiters(here)
    left_out = set(_NOT_COMPARED) | ({"ratings", "cycles", "mixed"} if unsure else set())
    kept = [{name: entry for name, entry in result.items() if name not in left_out} for result in (there, here)]
    if unsure and len(kept[0].get("behaviour", ())):
        for result in kept:  # counted over all games of an agent
            del result["behaviour"]
    yield from differences(kept[0], kept[1], skipped=unsure)


def check_fingerprints(there: Result, here: Result) -> tuple[list[str], list[str]]:
    """What changed since a result was written: models and weights, which make a replay pointless; and code."""
    pointless: list[str] = []
    noted: list[str] = []
    by_name = {agent["name"]: agent for agent in here["agents"]}
    models = [there["control_variate"]] if there.get("control_variate") else []
    for agent in models:
        by_name[agent["name"]] = here["control_variate"]
    for agent in there["agents"] + models:
        for name, value in by_name[agent["name"]].items():
            if name.endswith("sha256") and agent.get(name) != value:
                changed = noted if name == "code_sha256" else pointless
                changed.append(f"{agent['name']}: {name} was {str(agent.get(name))[:12]}, is {str(value)[:12]}")
    if there.get("engine_sha256") != here["engine_sha256"]:
        noted.append(f"the engine: sha256 was {str(there.get('engine_sha256'))[:12]}, is {here['engine_sha256'][:12]}")
    return pointless, noted
