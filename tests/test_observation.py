"""The observation, block by block, against a slow computation from the referee's snapshot."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import numpy as np
import pytest

from idiot_env import Game, Rules, View, observation
from idiot_env.observation import LAYOUT, OBSERVATION_SIZE, layout_hash, layout_table, observe, upper_bounds
from idiot_env.rules import OPTIONS
from tests.moments import draw, games, moments

LOW_TO_HIGH = "3456789TJQKA2*"
PHASES = ["swap", "hand", "up", "down", "over"]


def counts(ranks: str) -> list[int]:
    return [ranks.count(rank) for rank in LOW_TO_HIGH]


def run_length(pile: str) -> int:
    return len(list(takewhile(lambda rank: rank == pile[-1], reversed(pile))))


class Exchanges:
    """How many exchanges are left, counted along a game from what is played and seen."""

    def __init__(self, game: Game) -> None:
        self.begin(game)

    def begin(self, game: Game) -> None:
        snapshot = game.snapshot()
        self.left = 3 if snapshot["phase"] == "swap" else 0
        if snapshot["phase"] == "hand" and game.rules.swap == "anytime" and not opening(game):
            self.left = len(snapshot["up"][snapshot["turn"]])

    def follow(self, game: Game, text: str) -> None:
        verb = text.split()[0]
        if verb == "swap":
            self.left -= 1
        elif verb != "stack":
            self.begin(game)


def opening(game: Game) -> bool:
    """Whether the first card is still to be laid, and must be the lowest."""
    texts = [game_text for game_text in game.record()["actions"] if game_text.split()[0] not in ("swap", "done")]
    return game.rules.opening == "lowest" and game.snapshot()["phase"] not in ("swap", "over") and not texts


def expected_blocks(game: Game, seat: int, exchanges: int) -> dict[str, Any]:
    """Every block from snapshot, known cards, rules and dealer; a rank string for each zone, no bit tricks."""
    snapshot, known, players = game.snapshot(), game.known, game.players
    clockwise = [(seat + step) % players for step in range(players)]
    others = clockwise[1:]
    absent = 5 - players

    def padded(rows: list[Any], empty: Any) -> list[Any]:
        return rows + [empty] * absent

    def filled(other: int) -> list[int]:
        return [int(slot != ".") for slot in snapshot["down"][other]]

    def one_hot(hot: int | None, size: int) -> list[int]:
        return [int(place == hot) for place in range(size)]

    pile, out, turn = snapshot["pile"], snapshot["out"], snapshot["turn"]
    deck = [4] * 13 + [game.rules.jokers]
    seen = snapshot["hand"][seat] + pile + snapshot["burned"] + "".join(snapshot["up"])
    seen += "".join(known[other] for other in others)
    return {
        "hand": counts(snapshot["hand"][seat]),
        "up": counts(snapshot["up"][seat]),
        "down": filled(seat),
        "opp_up": padded([counts(snapshot["up"][other]) for other in others], [0] * 14),
        "opp_known": padded([counts(known[other]) for other in others], [0] * 14),
        "opp_hand": padded([len(snapshot["hand"][other]) for other in others], 0),
        "opp_down": padded([filled(other) for other in others], [0] * 3),
        "opp_in": padded([int(other not in out) for other in others], 0),
        "pile": counts(pile),
        "top": counts(pile[-1:]),
        "run": [run_length(pile)] if pile else [0],
        "pile_size": [len(pile)],
        "burned": counts(snapshot["burned"]),
        "stock": [len(snapshot["stock"])],
        "unseen": [all_of - shown for all_of, shown in zip(deck, counts(seen), strict=True)],
        "zone": one_hot(PHASES.index(snapshot["phase"]), 5),
        "opening": [int(opening(game))],
        "exchanges": [exchanges],
        "turn": one_hot(None if turn is None else clockwise.index(turn), 5),
        "place": padded([out.index(one) + 1 if one in out else 0 for one in clockwise], 0),
        "dealer": one_hot(clockwise.index(game.dealer), 5),
        "players": [players],
        "rules": [list(values).index(getattr(game.rules, name)) for name, values in OPTIONS.items()],
    }


def test_every_block_says_what_the_table_shows() -> None:
    rng = np.random.default_rng(31)
    seen_phases, seen_exchanges, decisions = set(), set(), 0
    for game in games(rng, 60):
        exchanges = Exchanges(game)
        while not game.over and len(game.actions) < 400:
            last = rng.random() < 0.15
            if last:
                for seat in range(game.players):
                    expected = expected_blocks(game, seat, exchanges.left)
                    assert list(expected) == list(LAYOUT)
                    view = observe(game.states, seat)
                    for name, block in LAYOUT.items():
                        assert view[block.slice].reshape(block.shape).tolist() == expected[name], name
                seen_phases.add(game.phase)
                seen_exchanges.add((game.phase, exchanges.left))
                decisions += 1
            event = game.apply(draw(rng, game.mask))
            exchanges.follow(game, event.action)
        for seat in range(game.players):
            expected = expected_blocks(game, seat, 0 if game.over else exchanges.left)
            flat = np.concatenate([np.array(entry).reshape(-1) for entry in expected.values()])
            assert observe(game.states, seat).tolist() == flat.tolist()
            seen_phases.add(game.phase)
    assert seen_phases == set(PHASES)
    assert {("swap", 3), ("swap", 0), ("hand", 0), ("hand", 2), ("hand", 3)} <= seen_exchanges
    assert decisions > 500


def test_a_layer_of_threes_below_the_pile_lengthens_no_other_run() -> None:
    """The run length that the engine keeps is always what one counts on the pile, sneaked threes included."""
    rng = np.random.default_rng(4)
    sneaked = 0
    for seed in range(60):
        game = Game(Rules(sneak_three=True, swap="never", chance=True), 3, seed=seed)
        while not game.over and len(game.actions) < 300:
            event = game.apply(draw(rng, game.mask))
            sneaked += event.action.startswith("sneak")
            pile = game.snapshot()["pile"]
            assert game.view(0).run == (run_length(pile) if pile else 0)
    assert sneaked > 20


def test_the_mask_is_the_list_of_legal_actions() -> None:
    rng = np.random.default_rng(32)
    for game in moments(rng, 40, 0.2):
        for seat in range(game.players):
            view = game.view(seat)
            assert view.legal_texts == (game.snapshot()["legal"] if seat == game.turn else [])
            assert set(np.unique(view.action_mask)) <= {0, 1}


def test_the_view_reads_the_blocks() -> None:
    rng = np.random.default_rng(33)
    for game in moments(rng, 30, 0.1):
        snapshot = game.snapshot()
        for seat in range(game.players):
            view = game.view(seat)
            assert isinstance(view, View)
            assert (view.rules, view.players, view.phase) == (game.rules, game.players, snapshot["phase"])
            assert (view.top, view.run) == (
                (LOW_TO_HIGH.index(snapshot["pile"][-1]), run_length(snapshot["pile"])) if snapshot["pile"] else (-1, 0)
            )
            assert view.turn == (None if game.turn is None else (game.turn - seat) % game.players)
            assert view.dealer == (game.dealer - seat) % game.players
            assert view.opening == opening(game)
            assert (view.stock_size, view.pile_size) == (len(snapshot["stock"]), len(snapshot["pile"]))
            for relative in range(game.players):
                other = (seat + relative) % game.players
                assert view.hand_size(relative) == len(snapshot["hand"][other])
                assert view.up(relative).tolist() == counts(snapshot["up"][other])
                assert view.place(relative) == (snapshot["out"].index(other) + 1 if other in snapshot["out"] else 0)
                if relative:
                    assert view.known(relative).tolist() == counts(game.known[other])
            assert list(view.opponents) == list(range(1, game.players))


def test_observations_stay_within_their_bounds() -> None:
    rng = np.random.default_rng(34)
    high = upper_bounds()
    reached = np.zeros(OBSERVATION_SIZE, np.int8)
    for game in moments(rng, 80, 0.3):
        for seat in range(game.players):
            seen = observe(game.states, seat)
            assert (seen >= 0).all()
            assert (seen <= high).all()
            reached = np.maximum(reached, seen)
    loose = [block.name for block in LAYOUT.values() if block.high <= 4 and reached[block.slice].max() != block.high]
    assert loose == ["run"], "four burn, so that a run of four is never seen; the other bounds are reached"


def test_a_seat_that_is_not_at_the_table() -> None:
    game = Game(players=3, seed=0)
    for seat in (3, -1, 5):
        with pytest.raises(ValueError, match="seats go from 0 to 2"):
            observe(game.states, seat)


def test_the_documented_layout_is_the_real_one() -> None:
    documented = (observation.__doc__ or "").split("<layout>")[1].split("</layout>")[0].strip()
    assert documented == layout_table()


def test_blocks_follow_one_another() -> None:
    stop = 0
    for name, block in LAYOUT.items():
        assert block.name == name
        assert block.start == stop
        stop = block.stop
    assert stop == OBSERVATION_SIZE == upper_bounds().size


def test_the_layout_hash_is_that_of_version_0() -> None:
    """Trained networks carry it: when this fails, the environment needs a new version, and networks new training."""
    assert layout_hash() == "fcdbfd78af54"
