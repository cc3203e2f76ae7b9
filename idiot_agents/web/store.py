"""Tables in files, one each, written whole or not at all after every action: a restart of the server loses nothing."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from idiot_agents.errors import InputError
from idiot_agents.network import write_file
from idiot_agents.web.table import Table


def default_folder() -> Path:
    """Where games under way are kept unless another folder is named."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "idiot" / "tables"


class Store:
    """A folder of tables; only its owner may read it, for it holds tokens and cards.

    Raises:
        InputError: if the folder cannot be made or written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.chmod(0o700)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{folder} cannot keep games ({reason}): name another folder with --games.") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"{folder} cannot be written: name another folder with --games.")

    def _path(self, table_id: str) -> Path:
        return self.folder / f"{table_id}.json"

    def save(self, table: Table) -> None:
        """Write a table.

        Raises:
            OSError: if it cannot be written.
        """
        write_file(self._path(table.id), (json.dumps(table.as_json(), ensure_ascii=False) + "\n").encode())

    def remove(self, table: Table) -> None:
        """Forget a table."""
        self._path(table.id).unlink(missing_ok=True)

    def load(self) -> list[tuple[Table, float]]:
        """Every table with the time of its last change; a file that is none is left alone, with a note on stderr."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                table = Table.from_json(json.loads(path.read_text(encoding="utf-8")))
                if not re.fullmatch(r"[\w-]{6,40}", table.id) or self._path(table.id) != path:
                    raise ValueError("its name is not that of its table.")
                found.append((table, path.stat().st_mtime))
            except (OSError, ValueError, RecursionError) as error:
                print(f"note: {path} is no game under way: {error}", file=sys.stderr)
        return found
