"""The constraints agree with what the project asks for, and name nothing but versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.constraints import EXTRAS, FILE

ROOT = Path(__file__).resolve().parent.parent


def pinned() -> dict[str, str]:
    lines = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in lines), "names and versions only"
    return dict(line.split("==") for line in lines)


def test_every_requirement_has_a_version_that_it_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions, extras = pinned(), project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    checked = 0
    for requirement in map(Requirement, lines):
        if requirement.name != project["name"]:
            assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), str(requirement)
            checked += 1
    assert checked > 30
    assert set(extras) - {"ray"} == set(EXTRAS), "an extra is in tests/constraints.py, or in an environment of its own"
