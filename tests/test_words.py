"""Words and rule card: complete in both languages, right for every action, and different for every option."""

from __future__ import annotations

import re

import numpy as np
import pytest

from idiot_env import Game, Rules, words
from idiot_env.actions import TEXTS
from idiot_env.cards import RANKS
from idiot_env.events import Event
from idiot_env.rule_card import rule_card
from idiot_env.rules import OPTIONS, PRESETS

NAMES = ["Anna", "Bo", "Cecilie", "Dag", "Eva"]
LANGS = pytest.mark.parametrize("lang", words.LANGUAGES)


def event(action: str, **facts: object) -> Event:
    values: dict[str, object] = dict(
        seat=0, action=action, phase="hand", shown="", fitted=True, took="", burned="", drew=0, skipped=None,
        place=None, turn=1,
    )  # fmt: skip
    return Event(**{**values, **facts})  # type: ignore[arg-type]


def test_both_languages_have_the_same_words() -> None:
    assert words.WORDS["no"].keys() == words.WORDS["en"].keys()
    assert all(text for table in words.WORDS.values() for text in table.values())


@LANGS
def test_every_rank_has_its_own_words(lang: str) -> None:
    singular = [words.rank_word(rank, lang) for rank in range(14)]
    plural = [words.rank_word(rank, lang, 2) for rank in range(14)]
    assert len(set(singular)) == len(set(plural)) == 14
    assert [words.rank_word(sign, lang) for sign in RANKS] == singular


def test_articles_and_plurals() -> None:
    assert words.counted("A", 1, "no") == "et ess"
    assert words.counted("6", 3, "no") == "tre seksere"
    assert words.counted("8", 1, "en") == "an eight"
    assert words.counted("K", 1, "en") == "a king"
    assert words.counted("6", 2, "en") == "two sixes"


@LANGS
def test_every_action_has_its_own_sentence(lang: str) -> None:
    sentences = [words.action_sentence(text, lang) for text in TEXTS]
    assert len(set(sentences)) == len(TEXTS)


@pytest.mark.parametrize(
    ("told", "no", "en"),
    [
        (
            event("play 6x2", drew=1),
            "Anna legger to seksere og trekker 1 kort.",
            "Anna lays two sixes and draws 1 card.",
        ),
        (
            event("play T", burned="39T", drew=2, turn=0),
            "Anna legger en tier. Bunken brenner (3 kort). Anna trekker 2 kort og har en ekstra tur.",
            "Anna lays a ten. The pile burns (3 cards). Anna draws 2 cards and has an extra turn.",
        ),
        (
            event("play 6", burned="36666", turn=0),
            "Anna legger en sekser. Fire like! Bunken brenner (5 kort). Anna har en ekstra tur.",
            "Anna lays a six. Four of a kind! The pile burns (5 cards). Anna has an extra turn.",
        ),
        (
            event("take", took="39T"),
            "Anna tar bunken: 3 kort (3 9 10).",
            "Anna takes the pile: 3 cards (3 9 10).",
        ),
        (
            event("take"),
            "Anna kan ikke legge noe på den tomme bunken og står over.",
            "Anna can lay nothing on the empty pile and passes.",
        ),
        (
            event("take K", phase="up", took="39K"),
            "Anna legger en konge fra sine åpne kort i bunken og tar bunken: 3 kort (3 9 K).",
            "Anna puts a king from their face-up cards on the pile and takes the pile: 3 cards (3 9 K).",
        ),
        (
            event("take K", phase="up", took="K"),
            "Anna tar en konge fra sine åpne kort opp på hånden.",
            "Anna takes a king from their face-up cards into their hand.",
        ),
        (
            event("flip 2", phase="down", shown="A", fitted=False, took="39A"),
            (
                "Anna snur skjult kort 2 og får et ess. Det passer ikke, og Anna må ta det og hele bunken på hånden: "
                "3 kort (3 9 A)."
            ),
            (
                "Anna turns face-down card 2 and gets an ace. It does not fit, and Anna takes it with the whole pile: "
                "3 cards (3 9 A)."
            ),
        ),
        (
            event("flip 2", phase="down", shown="2", fitted=False, took="2"),
            "Anna snur skjult kort 2 og får en toer. Den passer ikke, og Anna må ta den på hånden.",
            "Anna turns face-down card 2 and gets a two. It does not fit, and Anna takes it into their hand.",
        ),
        (
            event("flip 1", phase="down", shown="K", place=2),
            "Anna snur skjult kort 1 og får en konge. Den passer. Anna er ute som nummer 2.",
            "Anna turns face-down card 1 and gets a king. It fits. Anna is out, in place 2.",
        ),
        (
            event("chance", shown="T", burned="9T", turn=0, drew=1),
            (
                "Anna tar en sjanse på stokken og får en tier. Bunken brenner (2 kort). "
                "Anna trekker 1 kort og har en ekstra tur."
            ),
            (
                "Anna takes a chance on the stock and gets a ten. The pile burns (2 cards). "
                "Anna draws 1 card and has an extra turn."
            ),
        ),
        (
            event("play 6", skipped=1, turn=2),
            "Anna legger en sekser. Bo blir hoppet over.",
            "Anna lays a six. Bo is skipped.",
        ),
        (
            event("play 2", turn=0, drew=1),
            "Anna legger en toer, trekker 1 kort og har en ekstra tur.",
            "Anna lays a two, draws 1 card and has an extra turn.",
        ),
        (
            event("swap 4 K", phase="swap", turn=0),
            "Anna bytter en firer på hånden mot en konge fra bordet.",
            "Anna exchanges a four in hand for a king on the table.",
        ),
        (event("done", phase="swap"), "Anna er ferdig med å bytte.", "Anna is done exchanging."),
        (
            event("stack 6", drew=1, turn=0),
            "Anna legger en sekser fra hånden oppå et av sine åpne kort og trekker 1 kort.",
            "Anna lays a six from their hand on a face-up card of their own and draws 1 card.",
        ),
        (
            event("sneak x2"),
            "Anna sniker to treere inn under bunken.",
            "Anna slips two threes under the pile.",
        ),
        (event("run 5-8"), "Anna legger rekken 5–8.", "Anna lays the run 5–8."),
    ],
)
def test_what_happened(told: Event, no: str, en: str) -> None:
    assert words.event_sentence(told, "no", NAMES) == no
    assert words.event_sentence(told, "en", NAMES) == en


def two_on_a_two(rules: str, players: int) -> Event:
    """What the first 2 on a 2 that burns nothing did, in a random game."""
    rng = np.random.default_rng(1)
    for seed in range(500):
        game = Game(rules, players, seed=seed)
        for _ in range(60):
            legal = game.legal()
            on_two = game.snapshot()["pile"][-1:] == "2"
            told = game.apply("play 2" if "play 2" in legal else str(rng.choice(legal)))
            if told.action == "play 2" and on_two and not told.burned:
                return told
            if game.over:
                break
    raise AssertionError("no 2 was laid on a 2")


def test_an_extra_turn_is_no_skip() -> None:
    """With two players both come back to the same seat."""
    told = two_on_a_two("norsk", 2)
    assert told.again
    assert told.skipped is None
    assert "extra turn" in words.event_sentence(told, "en", NAMES)
    assert two_on_a_two("norsk skip_same=yes", 2).skipped is None
    told = two_on_a_two("standard skip_same=yes", 2)
    assert told.again
    assert told.skipped == 1 - told.seat
    told = two_on_a_two("standard skip_same=yes", 4)
    assert told.skipped == (told.seat + 1) % 4
    assert two_on_a_two("standard", 2).skipped is None


def test_the_reader_is_addressed() -> None:
    burn = event("play T", burned="T", drew=1, turn=0)
    assert words.event_sentence(burn, "no", NAMES, you=0) == (
        "Du legger en tier. Kortet brenner (1 kort). Du trekker 1 kort og har en ekstra tur."
    )
    assert words.event_sentence(burn, "en", NAMES, you=0) == (
        "You lay a ten. The card burns (1 card). You draw 1 card and have an extra turn."
    )
    assert words.event_sentence(event("play 6", skipped=1), "en", NAMES, you=1).endswith("You are skipped.")


@LANGS
@pytest.mark.parametrize("table", PRESETS)
def test_every_event_of_real_games_can_be_told(table: str, lang: str) -> None:
    rng = np.random.default_rng(7)
    options = " runs=yes sneak_three=yes stack=yes skip_same=yes jokers=2 last_two=forbidden"
    for seed, rules in enumerate((table, table + options)):
        game = Game(rules, 3, seed=seed, max_decisions=400)
        while not game.over:
            told = words.event_sentence(game.apply(str(rng.choice(game.legal()))), lang, NAMES)
            assert re.fullmatch(r"[A-ZÆØÅ].*[.]", told), told
            assert "  " not in told


@LANGS
def test_every_option_value_has_its_own_line(lang: str) -> None:
    lines = [words.option_line(name, value, lang) for name, values in OPTIONS.items() for value in values]
    assert len(set(lines)) == len(lines)


def test_bad_words_are_named() -> None:
    with pytest.raises(ValueError, match=r"'de'.*no, en"):
        words.word("pile", "de")
    with pytest.raises(ValueError, match="chance=maybe"):
        words.option_line("chance", "maybe", "en")
    with pytest.raises(ValueError, match="'chanse'"):
        words.option_line("chanse", True, "en")
    with pytest.raises(ValueError, match="'play 1'"):
        words.action_sentence("play 1", "en")
    with pytest.raises(ValueError, match="'de'"):
        rule_card(Rules(), "de")


def body(rules: Rules, lang: str) -> str:
    """The card without its title, which names every changed option anyway."""
    return rule_card(rules, lang).partition("\n")[2]


@LANGS
@pytest.mark.parametrize("name", OPTIONS)
def test_each_value_of_each_option_changes_the_card(name: str, lang: str) -> None:
    base = {"starter": "lowest_hand"} if name == "starter_tie" else {}
    cards = {body(Rules(**{**base, name: value}), lang) for value in OPTIONS[name]}  # type: ignore[arg-type]
    assert len(cards) == len(OPTIONS[name])


@LANGS
def test_the_card_mentions_only_what_applies(lang: str) -> None:
    plain = body(Rules(), lang).lower()
    for stranger in (
        "joker",
        "sjanse",
        "chance",
        "rekker:",
        "runs:",
        "sneak",
        "snik",
        "stack",
        "stabl",
        "skip",
        "hopp",
    ):
        assert stranger not in plain
    # Who settles a tie is read only where the lowest hand starts.
    assert body(Rules(starter_tie="most_low"), lang) == body(Rules(), lang)
    assert "2 to 5" in body(Rules(), "en")
    assert "2 to 4" in body(Rules(hand_size=6), "en")
    assert "3 til 5" in body(Rules(losers=2), "no")


@LANGS
@pytest.mark.parametrize("table", PRESETS)
def test_the_card_is_numbered_and_fits_the_screen(table: str, lang: str) -> None:
    everything = dict(runs=True, sneak_three=True, stack=True, skip_same=True, jokers=2, seven_low=True)
    for rules in (Rules.preset(table), Rules.preset(table, last_two="forbidden", **everything)):
        lines = body(rules, lang).strip("\n").split("\n")
        numbers = [int(match[1]) for line in lines if (match := re.match(r"\s{0,1}(\d+)\. ", line))]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) >= 13
        assert max(map(len, lines)) <= 88
