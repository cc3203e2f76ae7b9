"""Which extras are installed: read from the package's own metadata, so that no second list can differ from it."""

from __future__ import annotations

import importlib.metadata
import json
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.requirements import Requirement

from idiot_agents.errors import InputError

DISTRIBUTION = "idiot-env"


@dataclass(frozen=True)
class Extra:
    """An extra of ``pyproject.toml`` and what of it is not here.

    Attributes:
        missing: one entry for each requirement that is not installed or not in the version that is asked for.
    """

    name: str
    missing: tuple[str, ...]

    @property
    def command(self) -> str:
        """What installs it: from the folder that Idiot itself was installed from, if it was one."""
        source = json.loads(project().read_text("direct_url.json") or "{}")
        if "dir_info" not in source:
            return f"pip install '{DISTRIBUTION}[{self.name}]'"
        editable = "--editable " if source["dir_info"].get("editable") else ""
        return f"pip install {editable}'{url2pathname(urlsplit(source['url']).path)}[{self.name}]'"


def project() -> Distribution:
    """Idiot as it is installed.

    Raises:
        InputError: if it only lies somewhere on Python's path.
    """
    try:
        return importlib.metadata.distribution(DISTRIBUTION)
    except PackageNotFoundError:
        raise InputError(f"{DISTRIBUTION} is not installed here: run pip install . in its folder.") from None


def shortfall(requirement: Requirement) -> str | None:
    """What is wrong with an installed requirement, in a few words, or nothing."""
    try:
        version = importlib.metadata.version(requirement.name)
    except PackageNotFoundError:
        return requirement.name
    if requirement.specifier.contains(version, prereleases=True):
        return None
    return f"{requirement.name}{requirement.specifier} (here {version})"


def requirements(extra: str = "") -> list[Requirement]:
    """What the base installation needs, or an extra beyond it."""
    lines = map(Requirement, project().requires or ())
    base = [line for line in lines if line.marker is None or line.marker.evaluate({"extra": extra})]
    if not extra:
        return base
    known = {str(line) for line in requirements()}
    return [line for line in base if str(line) not in known]


def extras() -> list[Extra]:
    """All extras, in the order of the alphabet."""
    names = project().metadata.get_all("Provides-Extra") or []
    return [check_extra(name) for name in sorted(names)]


def check_extra(name: str) -> Extra:
    """One extra."""
    found = (shortfall(requirement) for requirement in requirements(name))
    return Extra(name, tuple(text for text in found if text))


def need_extra(name: str, purpose: str) -> None:
    """Refuse what the installation cannot do.

    Raises:
        InputError: naming what is missing and what installs it.
    """
    extra = check_extra(name)
    if extra.missing:
        raise InputError(f"{purpose} needs {', '.join(extra.missing)}: install the extra with {extra.command}.")
