"""The shipped models: small, documented, found by name, and as good as their cards say."""

from __future__ import annotations

from pathlib import Path

import pytest

from idiot_agents.arena import play_match
from idiot_agents.neural import NeuralAgent
from idiot_agents.registry import make_agent
from idiot_agents.shipped import FOLDER, MODEL_CARD, model_folder, shipped_models
from idiot_env import Rules
from idiot_train.config import config_path, load_config, make_config

MODELS = sorted(shipped_models())


def test_there_are_models_and_they_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "generalist" in MODELS
    monkeypatch.chdir(tmp_path)
    assert model_folder("generalist") == FOLDER / "generalist"
    (tmp_path / "generalist").mkdir()  # a folder of one's own comes first
    assert model_folder("generalist") == Path("generalist")
    assert model_folder("nowhere/model") == Path("nowhere/model")


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_small_and_documented(name: str) -> None:
    folder = shipped_models()[name]
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3_000_000
    card = (folder / MODEL_CARD).read_text(encoding="utf-8")
    for part in (f"# {name}", "decisions", "idiot train", "95 % interval", "## Known weaknesses", "idiot_train.ship"):
        assert part in card
    agent = make_agent(f"ppo:{name}")
    assert isinstance(agent, NeuralAgent)
    trained = make_config(agent.card["config"])
    assert trained == load_config(config_path(trained.name), []), "its configuration is there to be run again"


@pytest.mark.parametrize("name", MODELS)
def test_a_model_beats_greedy_as_clearly_as_its_card_says(name: str) -> None:
    lines = (shipped_models()[name] / MODEL_CARD).read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith("| standard | "))
    _, table, players, opponent, _, said, *_ = (cell.strip() for cell in row.split("|"))
    assert opponent == "greedy"
    match = play_match(make_agent(f"ppo:{name}"), make_agent("greedy"), Rules.parse(table), int(players), 400, seed=77)
    lost = match.figures.lost
    assert lost.high < 0.6 / int(players)
    assert abs(lost.mean - float(said.rstrip("%")) / 100) < 0.06


def test_the_generalist_plays_at_every_table() -> None:
    agent = make_agent("ppo:generalist")
    for rules, players in ((Rules.preset("sjanse"), 5), (Rules.parse("norsk stack=yes runs=yes jokers=2"), 3)):
        match = play_match(agent, make_agent("greedy"), rules, players, 40, seed=5)
        assert match.figures.lost.high < rules.losers / players
