"""The versions that the tests ran with, as pip's constraints: ``python -m tests.constraints`` writes them.

``pip install -c constraints.txt '.[train]'`` gets the same ones.  The file lists what the extras below need, all the
way down, as it is installed here.  ``ray`` is missing: it pins an older Gymnasium and has an environment of its own.
"""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

FILE = Path(__file__).resolve().parent.parent / "constraints.txt"
EXTRAS = ("train", "web", "openspiel", "torchrl", "notebooks", "dev")
HEAD = "# The versions that the tests ran with; `python -m tests.constraints` writes this file.\n"


def needed(name: str, extras: frozenset[str], found: dict[str, str]) -> None:
    """Add the installed version of everything that a distribution needs, and of what those need, to ``found``."""
    distribution = importlib.metadata.distribution(name)
    for line in distribution.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in extras | {""}):
            continue
        key, own = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key == canonicalize_name("idiot-env"):
            continue  # an extra that names another one of ours: the caller asks for both
        seen = f"{key}[{','.join(sorted(own))}]"
        if seen not in found:
            found[seen] = Version(importlib.metadata.version(key)).public
            needed(key, own, found)


def constraints() -> str:
    """The text of the file, for what is installed here."""
    found: dict[str, str] = {}
    needed("idiot-env", frozenset(EXTRAS), found)
    versions = {re.sub(r"\[.*", "", name): version for name, version in found.items()}
    return HEAD + "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))


if __name__ == "__main__":
    FILE.write_text(constraints())
    print(FILE)
