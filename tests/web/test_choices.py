"""What the page offers: every legal action, a true reason for everything else, every option and agent."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from idiot_agents.neural import NeuralAgent
from idiot_agents.shipped import shipped_models
from idiot_agents.web.catalog import Catalog, find_models, make_offer, obstacle
from idiot_agents.web.choices import cards_moved, legal_choices, why_not
from idiot_agents.web.texts import TEXTS
from idiot_env import Game, Rules
from idiot_env.cards import RANKS, cards_in
from idiot_env.rules import OPTIONS, PRESETS
from idiot_env.words import LANGUAGES
from tests import twin
from tests.decks import QUIET, deck_of
from tests.web_server import (
    table_at,
)


def test_every_action_says_which_cards_it_moves() -> None:
    seen: set[str] = set()
    for seed in range(80):
        rng = np.random.default_rng(seed)
        table = table_at(seed, int(rng.integers(0, 100)))
        turn = table.game.turn
        if turn is None:
            continue
        view = table.game.view(turn)
        choices = legal_choices(view, "no")
        assert {choice["action"] for choice in choices} == set(view.legal_texts)
        for choice in choices:
            seen.add(choice["verb"])
            assert all(view.hand[RANKS.index(rank)] >= n for rank, n in choice["hand"].items())
            assert all(view.up()[RANKS.index(rank)] >= n for rank, n in choice["up"].items())
            assert choice["slot"] is None or view.down()[choice["slot"] - 1]
    assert seen == {"play", "take", "flip", "chance", "done", "swap", "stack", "sneak", "run"}


def test_whatever_cannot_be_done_has_a_reason_that_is_true() -> None:
    keys = {text: key for key, text in TEXTS["en"].items()}
    told: set[str] = set()
    for seed in range(400):
        rng = np.random.default_rng(seed)
        table = table_at(seed, int(rng.integers(0, 90)))
        turn = table.game.turn
        if turn is None:
            continue
        view = table.game.view(turn)
        why = {lang: why_not(view, lang) for lang in LANGUAGES}
        moved = [cards_moved(text, view.phase) for text in view.legal_texts]
        zones = {"hand": view.hand, "up": view.up()}
        for zone, counts in zones.items():
            possible = {rank for action in moved for rank in action[zone]}
            held = {RANKS[rank] for rank in np.flatnonzero(counts)}
            assert set(why["en"][zone]) == held - possible
            for rank, sentence in why["en"][zone].items():
                assert why["no"][zone][rank]
                if zone != view.phase:
                    continue
                top = view.top
                key = next(k for text, k in keys.items() if _pattern(text, sentence))
                told.add(key)
                if key == "lower":
                    assert twin.height(rank) < twin.height(RANKS[top])
                    assert rank not in "2T*"
                elif key in ("seven_low", "seven_same"):
                    assert (view.rules.seven_low, RANKS[top]) == (True, "7")
                elif key == "ten_on":
                    assert (view.rules.ten_on, rank in "T*") == ("below_ten", True)
                elif key == "last_two":
                    assert (view.rules.last_two != "allowed", rank) == (True, "2")
                elif key == "opening":
                    assert view.opening
                else:
                    raise AssertionError(f"{sentence!r} for {rank} on {RANKS[top]} of {view.rules}")
        verbs = {action["verb"] for action in moved}
        assert (why["en"]["down"] is None) == ("flip" in verbs)
        assert (why["en"]["take"] is None) == ("take" in view.legal_texts)
        assert (why["en"]["chance"] is None) == ("chance" in verbs)
    assert told >= {"lower", "seven_low", "seven_same", "ten_on", "opening"}


def _pattern(text: str, sentence: str) -> bool:
    return re.fullmatch(re.sub(r"\\\{\w+\\\}", ".*", re.escape(text)), sentence) is not None


def test_a_last_two_has_its_reason() -> None:
    """Seat 1 holds a single two and nothing else: it may not lay it."""
    game = Game(Rules(**QUIET, last_two="forbidden"), 2, deck=deck_of(2, hand=["2", "345"]), dealer=1)
    state = game._states[0]
    two = next(card for card in cards_in(int(state["hand"][0])) if RANKS[card // 4] == "2")
    state["hand"][0], state["up"][0], state["down"][0], state["stock_size"] = 1 << two, 0, -1, 0
    view = game.view(0)
    assert "play 2" not in view.legal_texts
    assert why_not(view, "en")["hand"] == {"2": TEXTS["en"]["last_two"]}


def test_both_languages_say_the_same_things() -> None:
    assert TEXTS["no"].keys() == TEXTS["en"].keys()
    for key, text in TEXTS["no"].items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", TEXTS["en"][key])), key
    assert not obstacle(Rules(), 5, "no")
    for lang in LANGUAGES:
        assert "4" in str(obstacle(Rules(hand_size=6), 5, lang))
        assert obstacle(Rules(losers=2), 2, lang) == TEXTS[lang]["two_losers"]


def test_the_catalog_has_every_option(client: TestClient) -> None:
    catalog = client.get("/api/catalog").json()
    assert {name: [entry["value"] for entry in values] for name, values in catalog["options"].items()} == {
        name: list(values) for name, values in OPTIONS.items()
    }
    assert catalog["presets"] == {name: Rules.preset(name).as_dict() for name in PRESETS}
    for name, values in OPTIONS.items():
        for value in values:
            answer = client.post("/api/check", json={"rules": {name: value}, "players": 3, "lang": "no"}).json()
            assert answer["why_not"] is None
            assert str(Rules(**{name: value})) == answer["rules"]  # type: ignore[arg-type]
            assert len(answer["card"]) > 1000


def test_models_that_lie_around_are_offered(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = Path(model.partition(":")[2]).parent.parent
    (tmp_path / "broken" / "model").mkdir(parents=True)
    (tmp_path / "broken" / "model" / "model.json").write_text("{}")
    catalog = Catalog([], [*find_models(runs), *find_models(tmp_path)], shipped=True)
    assert "tiny" in catalog.offers
    assert catalog.offers["tiny"].trained == "standard"
    assert "broken" in capsys.readouterr().err
    assert catalog.adviser(5) == catalog.offers["generalist"]  # shipped, and first
    assert catalog.adviser(2, ["tiny"]) == catalog.offers["tiny"]
    assert not [name for name in catalog.offers if name.endswith(" 2")]
    kinds = [offer.kind for offer in catalog.offers.values()]
    shipped = list(shipped_models())
    assert list(catalog.offers)[: len(shipped)] == shipped, "shipped models come first, then search"
    assert kinds[len(shipped)] == "search"
    assert kinds[-1] == "rule"
    assert (catalog.first, Catalog().first, Catalog(["greedy"]).first) == ("generalist", "careful", "greedy")
    assert make_offer(model, ["tiny"]).id == "tiny 2"
    assert Catalog().adviser(2) is None
    agent = NeuralAgent.load(runs / "tiny" / "model")
    assert agent.network.encoder.players == catalog.offers["tiny"].players
