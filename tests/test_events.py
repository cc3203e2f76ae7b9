"""Events against the referee's snapshots: what an event says is what happened, over thousands of random actions."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from idiot_env import Game, Rules
from idiot_env.events import Event
from tests.decks import deck_of
from tests.moments import draw, games, random_rules

LOW_TO_HIGH = "3456789TJQKA2*"
BURNING = "T*"
Snapshot = dict[str, Any]


def ordered(ranks: str) -> str:
    return "".join(sorted(ranks, key=LOW_TO_HIGH.index))


def without(ranks: str, gone: str) -> str:
    """``ranks`` less the cards ``gone``, which must all be there."""
    left = Counter(ranks)
    left.subtract(gone)
    assert min(left.values(), default=0) >= 0
    return ordered("".join(left.elements()))


def laid_by(text: str, shown: str) -> str:
    """The ranks an action puts on or under the pile."""
    verb, *rest = text.split()
    if verb == "play":
        rank, _, count = rest[0].partition("x")
        return rank * int(count or 1)
    if verb == "sneak":
        return "3" * (int(rest[0][1:]) if rest else 1)
    if verb == "run":
        low, high = rest[0].split("-")
        ordinary = "3456789JQKA"
        return ordinary[ordinary.index(low) : ordinary.index(high) + 1]
    return shown if verb in ("flip", "chance") else ""


def expected_event(rules: Rules, before: Snapshot, text: str, after: Snapshot) -> Event:
    """The event worked out from two snapshots and the rules, in a way of its own."""
    seat, players = before["turn"], len(before["hand"])
    verb = text.split()[0]
    pile = before["pile"]
    shown = ""
    if verb == "flip":
        shown = before["down"][seat][int(text.split()[1]) - 1]
    elif verb == "chance":
        shown = before["stock"][0]
    laid = laid_by(text, shown)
    burned_now = len(after["burned"]) > len(before["burned"])
    took, burned, fitted = "", "", True
    if verb == "take":
        took = pile + (text.split()[1] if " " in text else "")
    elif shown and not burned_now and after["pile"] != pile + shown:
        took, fitted = pile + shown, False
    if burned_now:
        burned = laid + pile if verb == "sneak" else pile + laid

    drew = len(before["stock"]) - len(after["stock"]) - (verb == "chance")
    place = len(after["out"]) if seat in after["out"] else None
    skipped = None
    same = laid and fitted and verb in ("play", "flip", "chance") and pile and laid[0] == pile[-1]
    extra = burned_now or (laid[:1] == "2" and rules.after_two == "again")
    if rules.skip_same and same and not extra and after["turn"] is not None:
        remaining = [(seat + step) % players for step in range(1, players + 1)]
        skipped = next(one for one in remaining if one not in after["out"])
    return Event(
        seat=seat,
        action=text,
        phase=before["phase"],
        shown=shown,
        fitted=fitted,
        took=took,
        burned=burned,
        drew=drew,
        skipped=skipped,
        place=place,
        turn=after["turn"],
    )


def check_books(before: Snapshot, event: Event, after: Snapshot) -> None:
    """The cards an event speaks of are exactly those that moved."""
    seat, verb = event.seat, event.action.split()[0]
    assert len(after["stock"]) == len(before["stock"]) - event.drew - (verb == "chance")
    assert ordered(before["burned"] + event.burned) == after["burned"]
    if event.took:
        assert ordered(before["hand"][seat] + event.took) == after["hand"][seat]
        assert after["pile"] == ""
    if event.burned:
        assert after["pile"] == ""
        assert set(event.burned[-4:]) <= set(BURNING) or len(set(event.burned[-4:])) == 1 or event.burned[-1] in BURNING
    laid = laid_by(event.action, event.shown) if event.fitted else ""
    if laid:
        zone = {"hand": "hand", "up": "up"}.get(before["phase"])
        if zone and verb != "chance":
            drawn = before["stock"][: event.drew]
            gain = ordered(without(before[zone][seat], laid) + (drawn if zone == "hand" else ""))
            assert gain == after[zone][seat]
        if not event.burned:
            assert after["pile"] == (laid + before["pile"] if verb == "sneak" else before["pile"] + laid)
    for other in range(len(before["hand"])):
        if other != seat:
            assert [before[zone][other] for zone in ("hand", "up", "down")] == [
                after[zone][other] for zone in ("hand", "up", "down")
            ]
    # Where the turn went: over the skipped seat and over those who are out, and over nobody else.
    if event.turn is not None and event.turn != seat and before["phase"] != "swap":
        passed = [(seat + step) % len(before["hand"]) for step in range(1, len(before["hand"]))]
        passed = passed[: passed.index(event.turn)]
        assert all(one in after["out"] or one == event.skipped for one in passed)


def follow(game: Game, rng: np.random.Generator, limit: int, seen: Counter[str]) -> None:
    before = game.snapshot()
    while not game.over and len(game.actions) < limit:
        event = game.apply(draw(rng, game.mask))
        after = game.snapshot()
        assert event == expected_event(game.rules, before, event.action, after)
        assert event == game.last_event
        check_books(before, event, after)
        seen["actions"] += 1
        seen[event.action.split()[0]] += 1
        seen["missed"] += not event.fitted
        seen["burned"] += bool(event.burned)
        seen["skipped"] += event.skipped is not None
        seen["skipped, two left"] += event.skipped is not None and event.turn == event.seat
        seen["out"] += event.place is not None
        seen["again after two"] += event.again and event.action.startswith("play 2") and not event.burned
        before = after


def test_events_agree_with_snapshots() -> None:
    rng = np.random.default_rng(61)
    seen: Counter[str] = Counter()
    for game in games(rng, 90):
        follow(game, rng, 400, seen)
    assert seen["actions"] > 10_000
    assert min(seen.values()) > 15
    assert {"play", "take", "flip", "chance", "done", "swap", "stack", "sneak", "run"} <= set(seen)


@pytest.mark.parametrize("players", [2, 3])
def test_skips_and_extra_turns_are_not_mixed_up(players: int) -> None:
    """With two players left both return to the same seat."""
    rng = np.random.default_rng(players)
    seen: Counter[str] = Counter()
    for _ in range(25):
        rules = Rules(
            **random_rules(rng, players).as_dict() | {"skip_same": bool(rng.random() < 0.7), "after_two": "again"}  # type: ignore[arg-type]
        )
        follow(Game(rules, players, seed=int(rng.integers(10**6))), rng, 300, seen)
    assert seen["skipped, two left"] > 10
    assert seen["again after two"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_events_agree_with_snapshots_everywhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for game in games(rng, 150):
        follow(game, rng, 1000, Counter())


QUIET = {"swap": "never", "starter": "left_of_dealer"}


@pytest.mark.parametrize("skip_same", [True, False])
def test_a_two_on_a_two_is_a_skip_only_where_the_rules_skip(skip_same: bool) -> None:
    game = Game(Rules(skip_same=skip_same, **QUIET), 2, deck=deck_of(2, hand=["245", "267"]), dealer=1)
    game.apply("play 2")
    event = game.apply("play 2")
    assert (event.seat, event.skipped, event.again) == ((1, 0, True) if skip_same else (1, None, False))


def test_an_extra_turn_by_a_two_on_a_two_skips_nobody() -> None:
    rules = Rules(skip_same=True, after_two="again", **QUIET)
    game = Game(rules, 2, deck=deck_of(2, hand=["225", "367"]), dealer=1)
    for _ in range(2):
        event = game.apply("play 2")
        assert event.again
        assert event.skipped is None


def test_an_event_is_made_of_public_words_only() -> None:
    assert [field.name for field in fields(Event)] == [
        "seat", "action", "phase", "shown", "fitted", "took", "burned", "drew", "skipped", "place", "turn",
    ]  # fmt: skip
