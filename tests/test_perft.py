"""The number of action sequences from fixed positions, counted by the engine and, less deep, by the slow twin."""

from __future__ import annotations

from typing import Any

import pytest

from idiot_env import Game, Rules
from tests.perft import FORMAT, MIXES, load, perft, replay
from tests.twin import PRESETS, Twin

ROWS = load()
NAMES = [*PRESETS, *MIXES]
TWIN_LIMIT, TWIN_LIMIT_SLOW = 120, 10_000


def rows_of(name: str) -> list[dict[str, Any]]:
    return [row for row in ROWS if row["table"] == name]


def game_at(row: dict[str, Any]) -> Game:
    game = Game(Rules(**row["rules"]), row["players"], deck=row["deck"].split(), dealer=row["dealer"])
    replay(game, row["actions"])
    return game


def twin_at(row: dict[str, Any]) -> Twin:
    twin = Twin(row["rules"], row["players"], row["deck"].split(), row["dealer"])
    replay(twin, row["actions"])
    return twin


def twin_agrees(name: str, limit: int) -> None:
    for row in rows_of(name):
        for depth, count in enumerate(row["counts"], start=1):
            if count <= limit:
                assert perft(twin_at(row), depth) == count, (row["players"], row["actions"], depth)


def test_every_table_is_there_for_two_to_five_players() -> None:
    assert FORMAT == "idiot-perft/1"
    assert {(row["table"], row["players"]) for row in ROWS} == {(n, p) for n in NAMES for p in (2, 3, 4, 5)}
    assert {game_at(row).phase for row in ROWS} >= {"swap", "hand", "up", "down"}


@pytest.mark.parametrize("name", NAMES)
def test_perft_of_the_engine(name: str) -> None:
    for row in rows_of(name):
        game = game_at(row)
        for depth, count in enumerate(row["counts"], start=1):
            assert perft(game, depth) == count, (row["players"], row["actions"], depth)


@pytest.mark.parametrize("name", NAMES)
def test_perft_of_the_twin(name: str) -> None:
    twin_agrees(name, TWIN_LIMIT)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_perft_of_the_twin_in_full(name: str) -> None:
    twin_agrees(name, TWIN_LIMIT_SLOW)
