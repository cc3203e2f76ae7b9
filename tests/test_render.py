"""Text, JSON and pictures of a view."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from idiot_env import Game, Rules, View, engine, render
from idiot_env.cards import card_set
from idiot_env.engine import NO_CARD, STATE
from idiot_env.observation import observe
from idiot_env.picture import HEIGHT, WIDTH, slots_of, writable
from idiot_env.words import LANGUAGES
from tests.decks import deck_of
from tests.moments import draw, moments

LOW_TO_HIGH = "3456789TJQKA2*"


def counts_to_text(counts: Any) -> str:
    return "".join(rank * int(count) for rank, count in zip(LOW_TO_HIGH, counts, strict=True))


def a_game(players: int, rules: str = "sjanse", decisions: int = 30, seed: int = 1) -> Game:
    game = Game(rules, players, seed=seed)
    rng = np.random.default_rng(seed)
    while not game.over and len(game.actions) < decisions:
        game.apply(draw(rng, game.mask))
    return game


# --- text ------------------------------------------------------------------------------------------------------------


def test_ansi_tells_what_one_needs_to_play() -> None:
    deck = deck_of(3, hand=["3T*", "456", "77A"], up=["99K", "223", "4JQ"], stock="8", jokers=2)
    game = Game("standard swap=never starter=left_of_dealer jokers=2", 3, deck=deck, dealer=2)
    event = game.apply("play 3")
    text = render.ansi(game.view(1), event, names=["Anna", "Bo", "Cid"])
    lines = text.splitlines()
    assert "3 players" in lines[0]
    assert "jokers=2" in lines[0]
    anna, bo, cid = (next(line for line in lines if name in line) for name in ("Anna", "Bo (you)", "Cid"))
    assert bo.startswith("> "), "whose turn it is"
    assert "Cid (dealer)" in cid
    assert "9 9  K" in anna
    assert anna.rstrip().endswith("? ? ?")
    assert "hand: 4  5  6" in text
    assert "pile: [ 3 ] on top, 1 card" in text
    assert "legal now: play 4, play 5, play 6, take" in text
    assert "last: Anna lays a three and draws 1 card." in text.replace("three. Anna draws", "three and draws")
    assert "*" not in text, "a joker in somebody else's hand is not shown"
    assert "\x1b" not in text


def test_ansi_speaks_two_languages() -> None:
    game = a_game(4)
    norwegian, english = (render.ansi(game.view(0), game.last_event, lang=lang) for lang in ("no", "en"))
    assert "bunke" in norwegian
    assert "stokk" in norwegian
    assert "pile" in english
    assert "stock" in english
    assert not {"pile", "stock", "burned", "hand:"} & set(norwegian.split())
    with pytest.raises(ValueError, match="unknown language 'de'"):
        render.ansi(game.view(0), lang="de")


def test_ansi_shows_known_cards_and_who_is_out() -> None:
    rng = np.random.default_rng(5)
    known = out = 0
    for game in moments(rng, 25, 0.05):
        for seat in range(game.players):
            text = render.ansi(game.view(seat), game.last_event)
            snapshot = game.snapshot()
            for other in range(game.players):
                line = next(one for one in text.splitlines() if f"player {other}" in one.lower())
                if other in snapshot["out"]:
                    assert f"out, place {snapshot['out'].index(other) + 1}" in line
                    out += 1
                elif game.over:
                    assert line.endswith("idiot") == (not game.truncated)
                elif other != seat and game.known[other]:
                    assert f"known: {' '.join(game.known[other]).replace('T', '10')}" in line
                    known += 1
            assert ("legal now" in text) == (seat == game.turn)
    assert known > 20
    assert out > 20


@pytest.mark.parametrize("draws", [render.ansi, render.picture])
def test_names_must_be_as_many_as_players(draws: Any) -> None:
    with pytest.raises(ValueError, match="names has 3 entries: give one for each of the 4 players"):
        draws(a_game(4).view(0), None, ["a", "b", "c"])


# --- JSON ------------------------------------------------------------------------------------------------------------


def test_json_says_what_the_snapshot_says_as_far_as_the_seat_may_know() -> None:
    rng = np.random.default_rng(6)
    for game in moments(rng, 25, 0.05):
        snapshot = game.snapshot()
        for seat in range(game.players):
            shown = render.as_json(game.view(seat))
            assert json.loads(json.dumps(shown)) == shown
            assert (shown["seat"], shown["players"], shown["dealer"]) == (seat, game.players, game.dealer)
            assert Rules.parse(shown["rules"]) == game.rules
            assert (shown["turn"], shown["phase"]) == (snapshot["turn"], snapshot["phase"])
            assert shown["hand"] == snapshot["hand"][seat]
            assert shown["burned"] == snapshot["burned"]
            assert shown["stock"] == len(snapshot["stock"])
            assert shown["pile_size"] == len(snapshot["pile"])
            assert sorted(shown["pile"]) == sorted(snapshot["pile"])
            assert shown["top"] == (snapshot["pile"][-1] if snapshot["pile"] else None)
            assert shown["legal"] == (snapshot["legal"] if seat == game.turn else [])
            for other, entry in enumerate(shown["seats"]):
                assert entry["seat"] == other
                assert entry["you"] == (other == seat)
                assert entry["hand_size"] == len(snapshot["hand"][other])
                assert entry["known"] == (None if other == seat else game.known[other])
                assert entry["up"] == snapshot["up"][other]
                assert entry["down"] == [slot != "." for slot in snapshot["down"][other]]
                assert entry["place"] == (snapshot["out"].index(other) + 1 if other in snapshot["out"] else None)


# --- pictures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_picture_is_an_image_of_the_table(players: int) -> None:
    game = a_game(players)
    image = render.picture(game.view(0), game.last_event)
    assert image.shape == (HEIGHT, WIDTH, 3)
    assert image.dtype == np.uint8
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 1000, "felt, wood and cards, not one colour"
    assert (render.picture(game.view(0), game.last_event) == image).all(), "pure"


def test_a_picture_shows_every_change() -> None:
    """What differs between two moments differs in the picture: turn, hand, pile, event, names, language, observer."""
    game = a_game(3, "standard swap=never", 8)
    view = game.view(0)
    names = ["Anna", "Bo", "Cid"]
    pictures = [
        render.picture(view),
        render.picture(view, game.last_event),
        render.picture(view, game.last_event, names),
        render.picture(view, game.last_event, names, "no"),
        render.picture(game.view(1), game.last_event, names, "no"),
    ]
    game.apply(draw(np.random.default_rng(0), game.mask))
    pictures.append(render.picture(game.view(1), game.last_event, names, "no"))
    for one in range(len(pictures)):
        for other in range(one):
            assert (pictures[one] != pictures[other]).any()


def test_crowded_tables_are_drawn() -> None:
    """Forty cards in a hand, stacked face-up cards, long names: drawn without an error and within the felt."""
    states = np.zeros(1, STATE)
    engine.deal_at(states, 0, np.arange(54, dtype=np.int8), Rules(swap="never", stack=True, jokers=2).numbers(), 5, 0)
    state = states[0]
    state["hand"][:] = 0
    state["known"][:] = 0
    state["up"][:] = 0
    state["stock"][:] = NO_CARD
    state["stock_size"] = 0
    state["hand"][0] = card_set(range(40))
    state["up"][0] = card_set(range(40, 48))
    state["hand"][1] = state["known"][1] = card_set(range(48, 54))
    names = ["Åge-Øystein Ærlighetssønn von und zu", "名前", "", "x" * 200, "Émile"]
    for seat in range(5):
        for lang in LANGUAGES:
            image = render.picture(View(observe(states, seat), np.zeros(1, np.int8), seat), None, names, lang)
            corner = image[:10, :10].reshape(-1, 3)
            assert (corner == corner[0]).all(), "nothing is drawn outside the table"


def test_text_is_written_with_the_letters_there_are() -> None:
    assert writable("Åse Bjørn – Æ × é 名 ’") == "Åse Bjørn - Æ x e ? '"
    assert writable("A\u030ase") == "Åse", "a ring typed on its own, too"
    assert writable("tab\tnew\nline") == "tab?new?line"


@pytest.mark.parametrize(
    ("up", "lying"),
    [
        ("", ["", "", ""]),
        ("5", ["5", "", ""]),
        ("55K", ["5", "5", "K"]),
        ("555K", ["555", "K", ""]),
        ("3355779", ["339", "55", "77"]),
    ],
)
def test_face_up_cards_lie_on_their_slots(up: str, lying: list[str]) -> None:
    assert slots_of(up, 3) == lying


def test_pillow_is_imported_for_pictures_only() -> None:
    code = (
        "import sys, idiot_env, idiot_env.render as render; game = idiot_env.Game(seed=1);"
        "render.ansi(game.view(0)); assert 'PIL' not in sys.modules;"
        "render.picture(game.view(0)); assert 'PIL' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
