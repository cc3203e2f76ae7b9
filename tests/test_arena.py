"""Matches: shared deals, every seat, honest counting, the same numbers by every road."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from idiot_agents.arena import (
    MAX_DECISIONS,
    Games,
    deal_seeds,
    deals_hash,
    firsts,
    focal_lineups,
    losses,
    mean_places,
    mixed_lineups,
    play_batched,
    play_games,
    play_match,
    scores,
)
from idiot_agents.behaviour import COUNTS
from idiot_agents.compiled import NAMES, CompiledAgent
from idiot_agents.protocol import Agent, BatchAgent, is_cheater
from idiot_env import Game, Rules, View
from idiot_env.actions import N_ACTIONS, action_text
from idiot_env.cards import stream
from idiot_env.engine import legal_mask_at
from tests.twin import LOW_TO_HIGH, Twin

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
    return focal_lineups(0, 1, players, deals)


def same(a: Games, b: Games) -> bool:
    return all((getattr(a, x) == getattr(b, x)).all() for x in ("place", "truncated", "decisions", "counts"))


def games_of(place: list[list[int]]) -> Games:
    games = Games.empty(len(place), len(place[0]), 2)
    games.place[:] = place
    return games


@pytest.mark.parametrize(("rules", "players"), [("standard", 2), ("norsk", 3), ("sjanse", 4), (HOUSE, 5)])
def test_every_road_gives_the_same_games(rules: str, players: int) -> None:
    table = Rules.parse(rules)
    seeds = np.repeat(deal_seeds(table, players, 20, 3), players)
    seats = lineups(players, 20)
    for name in NAMES:
        agents: list[Agent] = [CompiledAgent(name), CompiledAgent("greedy")]
        compiled = play_games(agents, seats, seeds, table, 600, watching=True)
        assert same(compiled, play_batched(agents, seats, seeds, table, 600, watching=True))
        assert compiled.counts[:, 0].sum() == compiled.decisions.sum()
        unwatched = play_games(agents, seats, seeds, table, 600)
        assert (unwatched.place == compiled.place).all()
        assert not unwatched.counts.any()


@pytest.mark.parametrize(("rules", "players"), [("standard", 2), ("norsk", 2), ("familie", 3), (HOUSE, 4)])
def test_greedy_by_hand_plays_the_same_games(rules: str, players: int) -> None:
    table = Rules.parse(rules)
    seeds = np.repeat(deal_seeds(table, players, 15, 8), players)
    seats = lineups(players, 15)
    compiled = play_games([CompiledAgent("careful"), CompiledAgent("greedy")], seats, seeds, table, 500)
    by_hand = play_games([CompiledAgent("careful"), ByHand()], seats, seeds, table, 500)
    assert same(compiled, by_hand)


def greedy_text(legal: list[str]) -> str:
    """Greedy once more, from its description, on the twin's legal texts."""
    for rank in "3456789JQKA":
        plays = [text for text in legal if text.startswith(f"play {rank}")]
        if plays:
            return max(plays)  # "play 6" < "play 6x2" < "play 6x3"
    for text in ("play 2", "play T", "play *", "done", "take"):
        if text in legal:
            return text
    lowest_first = [f"take {rank}" for rank in LOW_TO_HIGH] + ["flip 1", "flip 2", "flip 3"]
    return next(text for text in lowest_first if text in legal)


@pytest.mark.parametrize(("rules", "players"), [("standard", 2), ("norsk", 3), ("familie chance=no", 4)])
def test_the_twin_plays_greedy_to_the_same_results(rules: str, players: int) -> None:
    """Another engine and another greedy, sharing no line with ours: equal deal by deal."""
    table = Rules.parse(rules)
    seeds = deal_seeds(table, players, 60, 11)
    games = play_games([CompiledAgent("greedy")], np.zeros((60, players), np.int64), seeds, table, 1000)
    for i, seed in enumerate(seeds):
        record = Game(table, players, seed=int(seed)).record()
        twin = Twin(table.as_dict(), players, record["deck"], record["dealer"])
        decisions = 0
        while twin.result is None and decisions < 1000:
            twin.apply(greedy_text(twin.legal()))
            decisions += 1
        assert decisions == games.decisions[i]
        result = twin.result
        assert (result is None) == games.truncated[i]
        if result is not None:
            out = sorted(np.flatnonzero(games.place[i]), key=lambda seat: games.place[i, seat])
            assert [int(seat) for seat in out] == result["out"]


def test_behaviour_is_what_a_reader_of_the_game_counts() -> None:
    """The counts once more, from the texts of the legal actions."""
    table = Rules.parse("sjanse")
    for name in ("random", "careful"):
        seeds = deal_seeds(table, 2, 12, 5)
        games = play_games([CompiledAgent(name)], np.zeros((12, 2), np.int64), seeds, table, watching=True)
        counted = dict.fromkeys(COUNTS, 0)
        left = 0
        for seed in seeds:
            game = Game(table, 2, seed=int(seed))
            streams = [stream(np.int64(seed), np.int64(3000 + seat)) for seat in range(2)]
            while game.turn is not None and len(game.actions) < MAX_DECISIONS:
                view, seat = game.view(game.turn), game.turn
                state = np.array([streams[seat]], np.int64)
                action = CompiledAgent(name).act_batch(view.observation[None], view.action_mask[None], state)[0]
                streams[seat] = state[0]
                snapshot, text, legal = game.snapshot(), action_text(int(action)), view.legal_texts
                count_by_hand(counted, snapshot, text, legal)
                if text == "done":
                    left += len(snapshot["up"][seat])
                game.apply(text)
        assert dict(zip(COUNTS, games.counts[0].tolist(), strict=False)) == counted
        assert games.counts[0, len(COUNTS) :].sum() == left == 3 * 24
        assert counted["leads"] > 5 < counted["choices"]
        assert (counted["takes"] > 0) or name == "careful"


def count_by_hand(counted: dict[str, int], snapshot: dict[str, Any], text: str, legal: list[str]) -> None:
    word, _, what = text.partition(" ")
    pile, plays = snapshot["pile"], [other.split()[1] for other in legal if other.startswith("play")]
    counted["decisions"] += 1
    counted["exchanged"] += text == "done"
    if snapshot["phase"] == "swap":
        return
    if not pile and word == "play" and len({play[0] in "2T*" for play in plays}) == 2:
        counted["leads"] += 1
        counted["special_leads"] += what[0] in "2T*"
    if pile and word == "play" and what[0] in "T*":
        counted["tens"] += 1
        counted["small_tens"] += len(pile) <= 2
    if len(pile) >= 3 and len(set(pile[-3:])) == 1 and pile[-1:] in plays:
        counted["fours"] += 1
        counted["broken_fours"] += not (word == "play" and what[0] == pile[-1])
    if pile and plays and any(other.startswith("take") for other in legal):
        counted["choices"] += 1
        if word == "take":
            counted["takes"] += 1
            counted["taken"] += len(pile)
    if "chance" in legal:
        counted["chances"] += 1
        counted["drawn"] += word == "chance"


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
    assert (match.figures.lost.low, match.figures.lost.high) == pytest.approx((1 / 3, 1 / 3))
    assert match.figures.score.mean == pytest.approx(0.5)
    assert match.figures.first.mean == pytest.approx(1 / 3)


def test_both_sides_of_a_pair_add_up() -> None:
    a, b = CompiledAgent("careful"), CompiledAgent("greedy")
    there, back = play_match(a, b, Rules(), 2, 300), play_match(b, a, Rules(), 2, 300)
    assert there.lost + back.lost == pytest.approx(1)
    assert there.figures.score.mean == there.figures.first.mean == pytest.approx(1 - there.lost)
    assert there.truncated == back.truncated
    assert there.lost < 0.45


def test_cut_off_games_are_shared_not_dropped() -> None:
    games = games_of([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 0, 0]])
    third, quarter = pytest.approx(1 / 3), pytest.approx(1 / 4)
    assert losses(games, 1).tolist() == [[0, 0.5, 0.5, 0], [third, 0, third, third], [quarter] * 4]
    assert losses(games, 2)[0].tolist() == [0, 1, 1, 0]
    assert mean_places(games).tolist() == [[1, 3.5, 3.5, 2], [3, 1, 3, 3], [2.5] * 4]
    assert firsts(games).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0.25] * 4]
    assert scores(games)[2].tolist() == [0.5] * 4
    assert scores(games).sum(axis=1) == pytest.approx([2, 2, 2])
    match = play_match(CompiledAgent("random"), CompiledAgent("random"), Rules(), 2, 20, max_decisions=10)
    assert (match.truncated, match.lost, match.figures.decisions) == (40, 0.5, 10)


@pytest.mark.parametrize(("agents", "players"), [(3, 3), (3, 5), (8, 4)])
def test_mixed_lineups(agents: int, players: int) -> None:
    """Every rotation of every line-up; nobody sits twice while another has no seat; each is fixed by its number."""
    seats = mixed_lineups(agents, Rules(), players, 40, 7, 0)
    for lineup in seats.reshape(40, players, players):
        assert all((lineup[shift] == np.roll(lineup[0], shift)).all() for shift in range(players))
        counts = np.bincount(lineup[0], minlength=agents)
        assert counts.max() - counts.min() <= 1
    assert (mixed_lineups(agents, Rules(), players, 10, 7, 30) == seats[30 * players :]).all()
    assert not (mixed_lineups(agents, Rules(), players, 40, 8, 0) == seats).all()
    assert set(np.unique(seats)) == set(range(agents))


class Peeping:
    """Knows the next card of the stock; all else it leaves to chance."""

    name = "peeping"
    cheats = True

    def __init__(self) -> None:
        self.seen: list[int] = []

    def act(self, view: View) -> int:
        raise AssertionError("the arena hands a cheater the state")

    def act_state(self, states: np.ndarray, seat: int, stream: int) -> int:
        assert states.shape == (1,)
        assert states[0]["turn"] == seat
        self.seen.append(stream)
        mask = np.zeros(N_ACTIONS, np.int8)
        legal_mask_at(states, 0, mask)
        states[0]["hand"][:] = 0  # a copy: nothing comes of it
        return int(np.flatnonzero(mask)[stream % mask.sum()])


def test_a_cheater_is_handed_a_copy_of_the_state() -> None:
    agents: list[Agent] = [Peeping(), CompiledAgent("greedy")]
    seeds = np.repeat(deal_seeds(Rules(), 2, 3, 1), 2)
    whole = play_games(agents, lineups(2, 3), seeds, Rules(), 300, watching=True)
    assert len(set(agents[0].seen)) == len(agents[0].seen) == whole.counts[0, 0] > 20  # type: ignore[attr-defined]
    alone = play_games(agents, lineups(2, 3)[:1], seeds[:1], Rules(), 300)
    assert (alone.place[0] == whole.place[0]).all()
    assert is_cheater(agents[0])
    assert not is_cheater(agents[1])


def test_no_result_depends_on_grouping() -> None:
    table = Rules()
    seeds, seats = deal_seeds(table, 2, 30, 4), np.tile([[0, 1]], (30, 1))
    agents = [CompiledAgent("random"), CompiledAgent("greedy")]
    whole = play_games(agents, seats, seeds, table)
    parts = [play_games(agents, seats[i : i + 1], seeds[i : i + 1], table) for i in range(30)]
    assert (whole.place == np.concatenate([part.place for part in parts])).all()


def test_protocols() -> None:
    assert isinstance(ByHand(), Agent)
    assert not isinstance(ByHand(), BatchAgent)
    assert isinstance(CompiledAgent("random"), BatchAgent)
