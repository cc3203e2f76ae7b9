"""Wheels of what is installed here, packed again: an installation from them needs no network and no registry.

An installed distribution lists its files in RECORD; these, without what the installer added, are its wheel.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def needed(requirements: list[str]) -> dict[str, Distribution]:
    """What the requirements bring, by normal name, and what that needs, as installed here."""
    found: dict[str, Distribution] = {}
    pending = [Requirement(line) for line in requirements]
    while pending:
        requirement = pending.pop()
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if name not in found:
            found[name] = distribution(name)
            pending += [Requirement(line) for line in found[name].requires or ()]
    return found


def pack(installed: Distribution, folder: Path) -> Path:
    """The wheel of an installed distribution."""
    tags = re.findall(r"^Tag: (.*)$", installed.read_text("WHEEL") or "", re.MULTILINE)
    python, abi, _ = tags[0].split("-")
    platforms = ".".join(dict.fromkeys(tag.split("-")[2] for tag in tags))
    name = re.sub(r"[-_.]+", "_", installed.metadata["Name"])
    path = folder / f"{name}-{installed.version}-{python}-{abi}-{platforms}.whl"
    record = ""
    with zipfile.ZipFile(path, "w") as wheel:
        for file in installed.files or ():
            added = file.suffix == ".pyc" or file.name in ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD")
            if ".." in file.parts or added:
                continue
            content = Path(str(file.locate())).read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{file.as_posix()},sha256={digest},{len(content)}\n"
            wheel.writestr(file.as_posix(), content)
            if file.name == "WHEEL":
                info = file.parent.as_posix()
        wheel.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return path
