"""``Rules``: values, presets, short texts, and a sentence for everything that is not possible."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest

from idiot_env import Rules
from idiot_env.rules import OPTIONS, PRESETS
from tests.twin import random_rules


def test_equal_rules_are_one() -> None:
    rng = random.Random(1)
    for _ in range(300):
        rules = Rules(**random_rules(rng, 3))
        again = [Rules.parse(str(rules)), eval(repr(rules), {"Rules": Rules}), Rules.from_numbers(rules.numbers())]
        again += [pickle.loads(pickle.dumps(rules)), copy.deepcopy(rules), Rules(**rules.as_dict())]
        for other in again:
            assert other == rules
            assert hash(other) == hash(rules)
            assert (str(other), repr(other)) == (str(rules), repr(rules))


def test_presets_and_their_short_texts() -> None:
    assert str(Rules()) == "standard"
    assert repr(Rules()) == "Rules()"
    for name in PRESETS:
        assert str(Rules.preset(name)) == name
    assert str(Rules.preset("norsk", chance=True)) == "norsk chance=yes"
    assert repr(Rules.preset("norsk", chance=True)) == "Rules.preset('norsk', chance=True)"
    assert Rules.make({"preset": "familie", "jokers": 2}) == Rules.parse("familie jokers=2")
    assert Rules.preset("norsk") != Rules()


def test_rules_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Rules().chance = True  # type: ignore[misc]


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_names_its_values(name: str) -> None:
    for wrong in ("maybe", 17, None, [], 1.5):
        with pytest.raises(ValueError, match=f"^{name}=") as caught:
            Rules(**{name: wrong})
        assert "\n" not in str(caught.value)
    if isinstance(OPTIONS[name][0], bool):
        with pytest.raises(ValueError, match="as a boolean"):
            Rules(**{name: 1})


@pytest.mark.parametrize(
    "make", [lambda: Rules(lunch=True), lambda: Rules.preset("norsk", lunch=True), lambda: Rules.parse("lunch=yes")]
)
def test_unknown_options_are_named(make) -> None:
    with pytest.raises(ValueError, match="unknown option 'lunch': the options are swap, after_two"):
        make()


@pytest.mark.parametrize(
    ("text", "players", "message"),
    [
        ("standard hand_size=6", 5, "at most 4 players"),
        ("standard hand_size=6 jokers=2", 5, "needs 60 cards and the deck has 54"),
        ("standard losers=2", 2, "two idiots need 3 players or more"),
        ("standard", 1, "played by 2 to 5"),
        ("standard", 6, "played by 2 to 5"),
        ("standard", True, "a whole number from 2 to 5"),
        ("standard", 2.0, "a whole number from 2 to 5"),
    ],
)
def test_impossible_tables(text: str, players: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rules.parse(text).check_players(players)
    assert Rules.parse("standard hand_size=6").check_players(np.int64(4)) == 4
