"""Records of every version replay, in the engine and in the twin, to the result that they hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from idiot_env import Game
from tests.records import FOLDER, GAMES
from tests.twin import DEFAULTS, Twin

RECORDS = sorted(FOLDER.glob("*.json"))


def test_every_game_is_recorded() -> None:
    assert set(GAMES) <= {path.stem for path in RECORDS}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_replay(path: Path) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    game = Game.from_record(record)
    assert game.over
    assert game.record() == record

    # An option that came after the record was written has its default in both.
    rules = DEFAULTS | game.rules.as_dict()
    twin = Twin(rules, record["players"], record["deck"], record["dealer"])
    for action in record["actions"]:
        assert action in twin.legal()
        twin.apply(action)
    assert record["result"]["truncated"] == (twin.turn is not None)
    if twin.turn is None:
        result = twin.result
        assert result is not None
        assert (result["out"], result["idiots"]) == (record["result"]["out"], record["result"]["idiots"])
