"""Matches: shared deals, every seat, honest counting, the same numbers by every road."""

from __future__ import annotations

import numpy as np
import pytest

from idiot_agents.arena import (
    Games,
    bootstrap_interval,
    deal_seeds,
    deals_hash,
    losses,
    mean_places,
    play_batched,
    play_games,
    play_match,
)
from idiot_agents.compiled import NAMES, CompiledAgent
from idiot_agents.protocol import Agent, BatchAgent
from idiot_env import Game, Rules, View

HOUSE = "familie sneak_three=yes runs=yes skip_same=yes stack=yes jokers=2 losers=2"


class ByHand:
    """Greedy, written from its description on the readable view alone."""

    name = "greedy by hand"

    def act(self, view: View) -> int:
        legal = view.legal_texts
        for rank in "3456789JQKA":
            plays = [text for text in legal if text.startswith(f"play {rank}")]
            if plays:
                return self.number(plays[-1])
        for text in ("play 2", "play T", "play *", "done"):
            if text in legal:
                return self.number(text)
        others = [text for text in legal if text.split()[0] in ("take", "flip")]
        return self.number(others[0]) if len(others) == 1 else min(self.number(text) for text in others or legal)

    @staticmethod
    def number(text: str) -> int:
        from idiot_env.actions import parse_action

        return parse_action(text)


def lineups(players: int, deals: int) -> np.ndarray:
    return np.tile(1 - np.eye(players, dtype=np.int64), (deals, 1))


def same(a: Games, b: Games) -> bool:
    return all((x == y).all() for x, y in ((a.place, b.place), (a.truncated, b.truncated), (a.decisions, b.decisions)))


@pytest.mark.parametrize(("rules", "players"), [("standard", 2), ("norsk", 3), ("sjanse", 4), (HOUSE, 5)])
def test_every_road_gives_the_same_games(rules: str, players: int) -> None:
    table = Rules.parse(rules)
    seeds = np.repeat(deal_seeds(table, players, 20, 3), players)
    seats = lineups(players, 20)
    for name in NAMES:
        agents: list[Agent] = [CompiledAgent(name), CompiledAgent("greedy")]
        assert same(play_games(agents, seats, seeds, table, 600), play_batched(agents, seats, seeds, table, 600))


@pytest.mark.parametrize(("rules", "players"), [("standard", 2), ("norsk", 2), ("familie", 3), (HOUSE, 4)])
def test_greedy_by_hand_plays_the_same_games(rules: str, players: int) -> None:
    table = Rules.parse(rules)
    seeds = np.repeat(deal_seeds(table, players, 15, 8), players)
    seats = lineups(players, 15)
    compiled = play_games([CompiledAgent("careful"), CompiledAgent("greedy")], seats, seeds, table, 500)
    by_hand = play_games([CompiledAgent("careful"), ByHand()], seats, seeds, table, 500)
    assert same(compiled, by_hand)


def test_games_are_those_that_game_deals() -> None:
    table = Rules.parse("sjanse")
    seeds = deal_seeds(table, 3, 10, 1)
    games = play_games([CompiledAgent("greedy")], np.zeros((10, 3), np.int64), seeds, table)
    agent = CompiledAgent("greedy")
    for i, seed in enumerate(seeds):
        game = Game(table, 3, seed=int(seed))
        while game.turn is not None:
            game.apply(agent.act(game.view(game.turn)))
        assert len(game.actions) == games.decisions[i]
        assert [int(games.place[i, seat]) for seat in game.out] == [1, 2]


def test_deals_are_fixed() -> None:
    table = Rules()
    seeds = deal_seeds(table, 2, 5, 0)
    assert (deal_seeds(table, 2, 3, 0, first=2) == seeds[2:]).all()
    assert deals_hash(seeds, table, 2) == "07f9f7f5691add31"
    others = [deal_seeds(table, 3, 5, 0), deal_seeds(table, 2, 5, 1), deal_seeds(Rules.parse("norsk"), 2, 5, 0)]
    assert all(not (other == seeds).any() for other in others)


def test_shared_deals_cancel_luck() -> None:
    match = play_match(CompiledAgent("greedy"), CompiledAgent("greedy"), Rules(), 3, 200)
    assert match.lost == pytest.approx(1 / 3)
    assert match.games == 600
    assert match.interval == pytest.approx((1 / 3, 1 / 3))
    assert match.mean_place == pytest.approx(2)


def test_both_sides_of_a_pair_add_up() -> None:
    a, b = CompiledAgent("careful"), CompiledAgent("greedy")
    there, back = play_match(a, b, Rules(), 2, 300), play_match(b, a, Rules(), 2, 300)
    assert there.lost + back.lost == pytest.approx(1)
    assert there.truncated == back.truncated
    assert there.lost < 0.45


def test_cut_off_games_are_shared_not_dropped() -> None:
    place = np.array([[1, 0, 0, 2], [0, 1, 0, 0]], np.int8)
    games = Games(place, np.array([True, True]), np.array([5, 5], np.int32))
    assert losses(games, 1).tolist() == [[0, 0.5, 0.5, 0], pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])]
    assert losses(games, 2)[0].tolist() == [0, 1, 1, 0]
    assert mean_places(games).tolist() == [[1, 3.5, 3.5, 2], [3, 1, 3, 3]]
    match = play_match(CompiledAgent("random"), CompiledAgent("random"), Rules(), 2, 20, max_decisions=10)
    assert (match.truncated, match.lost, match.decisions) == (40, 0.5, 10)


def test_no_result_depends_on_grouping() -> None:
    table = Rules()
    seeds, seats = deal_seeds(table, 2, 30, 4), np.tile([[0, 1]], (30, 1))
    agents = [CompiledAgent("random"), CompiledAgent("greedy")]
    whole = play_games(agents, seats, seeds, table)
    parts = [play_games(agents, seats[i : i + 1], seeds[i : i + 1], table) for i in range(30)]
    assert (whole.place == np.concatenate([part.place for part in parts])).all()


@pytest.mark.slow
def test_the_interval_covers() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(400):
        low, high = bootstrap_interval(rng.binomial(2, 0.4, 300) / 2, seed=trial, draws=400)
        hits += low <= 0.4 <= high
    assert 0.91 <= hits / 400 <= 0.98


def test_protocols() -> None:
    assert isinstance(ByHand(), Agent)
    assert not isinstance(ByHand(), BatchAgent)
    assert isinstance(CompiledAgent("random"), BatchAgent)
