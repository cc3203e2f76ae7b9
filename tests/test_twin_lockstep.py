"""The engine and the slow twin in lock-step, and what must hold in every game whatever its rules."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from idiot_env import Game, IllegalAction, Rules
from tests.fixed_games import FIXED, play_fixed
from tests.twin import LOW_TO_HIGH, OPTIONS, ORDINARY, PRESETS, RuleDict, Twin, all_cards, random_rules

ROOT = Path(__file__).resolve().parent.parent
MAX_ACTIONS = 400
QUICK_RANDOM_GAMES, SLOW_GAMES = 90, 3000
ACTION_KINDS = {"play", "take", "take with a card", "flip", "chance", "swap", "done", "stack", "run", "sneak"}
PHASES = {"swap", "hand", "up", "down", "over"}


# --- playing ---------------------------------------------------------------------------------------------------------


def shuffled(rules: RuleDict, rng: random.Random) -> list[str]:
    deck = all_cards(rules)
    rng.shuffle(deck)
    return deck


def choose(legal: list[str], rng: random.Random, eagerness: float = 0.9) -> str:
    """Mostly something other than taking or exchanging, so that games come to the table cards and to an end."""
    forward = [text for text in legal if not text.startswith(("take", "swap"))]
    return rng.choice(forward if forward and rng.random() < eagerness else legal)


def action_kind(text: str) -> str:
    word, *rest = text.split()
    return "take with a card" if word == "take" and rest else word


def card_count(snapshot: dict[str, Any]) -> Counter[str]:
    """Every card that a snapshot shows, by rank."""
    parts = [*snapshot["hand"], *snapshot["up"], *snapshot["down"], snapshot["pile"], snapshot["burned"]]
    return Counter("".join([*parts, snapshot["stock"]]).replace(".", ""))


def check_state(snapshot: dict[str, Any], known: list[str], deck: Counter[str], losers: int) -> None:
    """What holds in every state of every table."""
    assert card_count(snapshot) == deck
    players = len(snapshot["hand"])
    if snapshot["phase"] == "over":
        assert snapshot["legal"] == []
        assert len(snapshot["out"]) == players - losers
    else:
        assert snapshot["legal"]
        assert len(set(snapshot["legal"])) == len(snapshot["legal"])
        assert snapshot["turn"] not in snapshot["out"]
    assert len(set(snapshot["out"])) == len(snapshot["out"])
    for seat in range(players):
        assert not Counter(known[seat]) - Counter(snapshot["hand"][seat])
        without = not (snapshot["hand"][seat] + snapshot["up"][seat] + snapshot["down"][seat].replace(".", ""))
        assert without == (seat in snapshot["out"])


def check_end(game: Game, losers: int) -> None:
    """Places are a permutation and the rewards sum to nothing."""
    result = game.result
    assert result is not None
    assert sorted(result["out"] + result["idiots"]) == list(range(game.players))
    rewards = game.rewards()
    assert abs(float(rewards.sum())) < 1e-6
    assert [float(rewards[seat]) for seat in result["idiots"]] == [-1.0] * losers


def lockstep(rules: RuleDict, players: int, seed: int, seen: Counter[str]) -> None:
    """One game on both; ``seen`` counts action kinds, phases and option values that occurred."""
    rng = random.Random(seed)
    deck, dealer = shuffled(rules, rng), rng.randrange(players)
    game, twin = Game(Rules(**rules), players, deck=deck, dealer=dealer), Twin(rules, players, deck, dealer)
    actions: list[str] = []
    eagerness = rng.choice((0.5, 0.9, 0.97))
    ranks = Counter(card[0] for card in deck)
    seen.update(f"{name}={value}" for name, value in rules.items())
    seen[f"players={players}"] += 1
    for _ in range(MAX_ACTIONS):
        snapshot, expected = game.snapshot(), twin.snapshot()
        story = f"rules={rules} players={players} dealer={dealer} deck={deck} actions={actions}"
        assert snapshot == expected, story
        assert game.known == twin.known, story
        assert game.result == twin.result, story
        check_state(snapshot, game.known, ranks, rules["losers"])
        seen[snapshot["phase"]] += 1
        if twin.turn is None:
            check_end(game, rules["losers"])
            return
        text = choose(snapshot["legal"], rng, eagerness)
        seen[action_kind(text)] += 1
        game.apply(text)
        twin.apply(text)
        actions.append(text)


def random_tables(games: int, start: int) -> Iterator[tuple[RuleDict, int, int]]:
    for seed in range(start, start + games):
        rng = random.Random(f"table {seed}")
        players = rng.randint(2, 5)
        yield random_rules(rng, players), players, seed


def everything_occurred(seen: Counter[str]) -> None:
    values = {f"{name}={value}" for name, choices in OPTIONS.items() for value in choices}
    wanted = ACTION_KINDS | PHASES | values | {f"players={players}" for players in (2, 3, 4, 5)}
    assert wanted <= set(seen), sorted(wanted - set(seen))


# --- lock-step -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("preset", PRESETS)
def test_lockstep_at_the_four_tables(preset: str, players: int) -> None:
    for seed in range(4):
        lockstep(PRESETS[preset], players, seed, Counter())


def test_lockstep_with_any_options_and_everything_occurs() -> None:
    seen: Counter[str] = Counter()
    for rules, players, seed in random_tables(QUICK_RANDOM_GAMES, start=1000):
        lockstep(rules, players, seed, seen)
    everything_occurred(seen)
    assert seen["over"] > QUICK_RANDOM_GAMES // 3


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_lockstep_over_thousands_of_games(part: int) -> None:
    seen: Counter[str] = Counter()
    games = SLOW_GAMES // 10
    for rules, players, seed in random_tables(games, start=10_000 + part * games):
        lockstep(rules, players, seed, seen)
        preset = random.Random(seed).choice(list(PRESETS))
        lockstep(PRESETS[preset], players, seed, Counter())
    everything_occurred(seen)


def every_text() -> set[str]:
    """Every action that can be written."""
    plays = {f"play {rank}{times}" for rank in LOW_TO_HIGH for times in ("", "x2", "x3", "x4")}
    swaps = {f"swap {given} {got}" for given in LOW_TO_HIGH for got in LOW_TO_HIGH if given != got}
    runs = {f"run {low}-{high}" for place, low in enumerate(ORDINARY) for high in ORDINARY[place + 2 :]}
    others = {"take", "chance", "done", "flip 1", "flip 2", "flip 3", "sneak", "sneak x2", "sneak x3", "sneak x4"}
    return plays | swaps | runs | others | {f"{word} {rank}" for word in ("take", "stack") for rank in LOW_TO_HIGH}


def test_what_the_twin_does_not_list_is_refused_and_changes_nothing() -> None:
    texts = every_text()
    for rules, players, seed in random_tables(12, start=7000):
        rng = random.Random(seed)
        deck = shuffled(rules, rng)
        game, twin = Game(Rules(**rules), players, deck=deck, dealer=0), Twin(rules, players, deck, 0)
        for _ in range(150):
            before, legal = game.snapshot(), twin.legal()
            assert texts.issuperset(legal)
            for text in rng.sample(sorted(texts.difference(legal)), 3):
                with pytest.raises(IllegalAction):
                    game.apply(text)
            assert game.snapshot() == before
            if twin.turn is None:
                break
            text = choose(legal, rng)
            game.apply(text)
            twin.apply(text)


# --- the same game in other clothes ----------------------------------------------------------------------------------


def tables_for_symmetry() -> list[tuple[RuleDict, int, int]]:
    presets = [(rules, players, players) for rules in PRESETS.values() for players in (2, 3, 4, 5)]
    return presets + list(random_tables(24, start=5000))


def test_suits_permuted_it_is_the_same_game() -> None:
    for rules, players, seed in tables_for_symmetry():
        rng = random.Random(seed)
        deck = shuffled(rules, rng)
        suits = dict(zip("CDHS", rng.sample("CDHS", 4)))
        other = [card[0] + suits.get(card[1], card[1]) for card in deck]
        first, second = (Game(Rules(**rules), players, deck=cards, dealer=0) for cards in (deck, other))
        for _ in range(150):
            assert first.snapshot() == second.snapshot()
            assert first.known == second.known
            if first.turn is None:
                break
            text = choose(first.legal(), rng)
            first.apply(text)
            second.apply(text)


def rotated(snapshot: dict[str, Any], by: int) -> dict[str, Any]:
    """The snapshot as it looks when everybody sits ``by`` seats further on."""
    players = len(snapshot["hand"])

    def seats(values: list[str]) -> list[str]:
        return [values[(seat - by) % players] for seat in range(players)]

    turn = snapshot["turn"]
    return snapshot | {
        "turn": None if turn is None else (turn + by) % players,
        "out": [(seat + by) % players for seat in snapshot["out"]],
        **{zone: seats(snapshot[zone]) for zone in ("hand", "up", "down")},
    }


def test_seats_rotated_it_is_the_same_game() -> None:
    for rules, players, seed in tables_for_symmetry():
        rng = random.Random(seed)
        deck, by = shuffled(rules, rng), rng.randrange(1, players)
        first = Game(Rules(**rules), players, deck=deck, dealer=0)
        second = Game(Rules(**rules), players, deck=deck, dealer=by)
        for _ in range(150):
            assert rotated(first.snapshot(), by) == second.snapshot()
            if first.turn is None:
                break
            text = choose(first.legal(), rng)
            first.apply(text)
            second.apply(text)


# --- compiled and not ------------------------------------------------------------------------------------------------


def play_elsewhere(**environment: str) -> list[str]:
    """The fixed games, played in a fresh interpreter with these variables set."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fixed_games"],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def fixed_lines() -> list[str]:
    return [line for number in range(len(FIXED)) for line in play_fixed(number)]


def test_uncompiled_code_plays_the_same_games() -> None:
    lines = play_elsewhere(NUMBA_DISABLE_JIT="1")
    assert lines == fixed_lines()
    assert len({json.loads(line)["phase"] for line in lines}) == len(PHASES)


def test_with_checked_bounds_it_plays_the_same_games() -> None:
    # Checked code has a cache of its own, so only the first run on a machine compiles.
    assert play_elsewhere(NUMBA_BOUNDSCHECK="1") == fixed_lines()
