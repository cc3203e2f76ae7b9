"""Worlds hold all that a view tells and nothing else; greedy on a state is greedy."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest

from idiot_agents.compiled import CompiledAgent
from idiot_agents.rollouts import greedy_at, payoff_at
from idiot_agents.worlds import draw_world, write_world_at
from idiot_env import Game, Rules, engine
from idiot_env import actions as A
from idiot_env.cards import card_set, cards_in, ranks_text
from idiot_env.engine import NO_CARD, STATE
from idiot_env.observation import determinize, observe
from tests.moments import draw, moments
from tests.test_secrecy import small_world, whole_deck

States = npt.NDArray[np.void]
PUBLIC_NUMBERS = ["stock_size", "pile_size", "top", "run", "phase", "players", "n_out", "exchanges", "opening"]


def mask_of(states: States) -> npt.NDArray[np.int8]:
    mask = np.zeros(A.N_ACTIONS, np.int8)
    engine.legal_mask_at(states, 0, mask)
    return mask


def snapshot(state: np.void, first: int = 0) -> list[object]:
    """A state by ranks, its seats counted from ``first`` on; everything that play can depend on."""
    players = int(state["players"])
    seats = [(first + step) % players for step in range(players)]
    turn = int(state["turn"])
    return [
        [ranks_text(state[zone][seat]) for zone in ("hand", "up") for seat in seats],
        [[int(card) // 4 for card in state["down"][seat]] for seat in seats],
        [int(state["place"][seat]) for seat in seats],
        [int(card) // 4 for card in state["stock"][: state["stock_size"]]],
        ranks_text(state["pile_set"]),
        ranks_text(state["burned"]),
        [int(state[name]) for name in PUBLIC_NUMBERS],
        (turn - first) % players if turn >= 0 else None,
    ]


def check_worlds(seed: int, n_games: int, share: float) -> int:
    rng = np.random.default_rng(seed)
    seen = 0
    for game in moments(rng, n_games, share):
        for seat in range(game.players):
            observation = observe(game.states, seat)
            world = draw_world(observation, int(rng.integers(2**62)))
            assert observe(world, 0).tobytes() == observation.tobytes()
            assert whole_deck(world[0]) == list(range(52 + game.rules.jokers))
            assert sorted(world[0]["pile"][: world[0]["pile_size"]]) == cards_in(world[0]["pile_set"])
            if game.turn == seat:
                assert (mask_of(world) == game.mask).all()
            seen += 1
    return seen


def test_a_world_looks_the_same_from_its_seat() -> None:
    assert check_worlds(60, 60, 0.1) > 5000


@pytest.mark.slow
def test_a_world_looks_the_same_from_its_seat_everywhere() -> None:
    check_worlds(61, 1500, 0.2)


def test_a_world_knows_nothing_of_the_hidden_cards() -> None:
    rng = np.random.default_rng(62)
    for game in moments(rng, 30, 0.05):
        for seat in range(game.players):
            other = determinize(game.states, seat, rng)
            seed = int(rng.integers(2**62))
            worlds = [draw_world(observe(states, seat), seed) for states in (game.states, other)]
            assert worlds[0].tobytes() == worlds[1].tobytes()


def world_of_truth(states: States, seat: int) -> States:
    """The world of a seat's view, its hidden places holding the ranks that they hold in truth."""
    world = np.zeros(1, STATE)
    write_world_at(observe(states, seat), world, 0)
    real, built = states[0], world[0]
    players = int(real["players"])
    spare: dict[int, list[int]] = {}
    hidden = [card for card in built["down"].reshape(-1) if card != NO_CARD]
    hidden += list(built["stock"][: built["stock_size"]])
    for relative in range(1, players):
        hidden += cards_in(int(built["hand"][relative]) & ~int(built["known"][relative]))
    for card in hidden:
        spare.setdefault(int(card) // 4, []).append(int(card))
    for relative in range(players):
        other = (seat + relative) % players
        for slot in range(3):
            if real["down"][other, slot] != NO_CARD:
                built["down"][relative, slot] = spare[int(real["down"][other, slot]) // 4].pop()
        if relative:
            unknown = cards_in(int(real["hand"][other]) & ~int(real["known"][other]))
            drawn = card_set(spare[card // 4].pop() for card in unknown)
            built["hand"][relative] = int(built["known"][relative]) | drawn
    for i in range(int(real["stock_size"])):
        built["stock"][i] = spare[int(real["stock"][i]) // 4].pop()
    assert not any(spare.values())
    return world


def test_a_world_with_the_right_cards_goes_on_as_the_game_does() -> None:
    """Nothing that play depends on is missing from a world: the same actions lead to the same ranks, to the end."""
    rng = np.random.default_rng(63)
    decisions = 0
    for game in moments(rng, 40, 0.02):
        if game.over or (game.phase == "swap" and game.rules.starter == "first_three"):
            continue  # an observation does not tell who was dealt the lowest card
        seat = int(rng.integers(game.players))
        real, world = game.states, world_of_truth(game.states, seat)
        for _ in range(300):
            assert snapshot(world[0]) == snapshot(real[0], seat)
            if real[0]["phase"] == engine.OVER:
                break
            mask = mask_of(real)
            assert (mask == mask_of(world)).all()
            action = draw(rng, mask)
            engine.apply_at(real, 0, action)
            engine.apply_at(world, 0, action)
            decisions += 1
    assert decisions > 5000


def test_unseen_cards_are_dealt_uniformly() -> None:
    """Chi-square over the 24 ways in which four hidden cards can lie: 23 degrees of freedom, 0.1 % are above 49.7."""
    states, draws = small_world(), 24_000
    observation = observe(states, 0)
    ways: Counter[tuple[int, ...]] = Counter()
    for seed in range(draws):
        world = draw_world(observation, seed)[0]
        hidden = int(world["hand"][1]) & ~int(world["known"][1])
        ways[tuple(card // 4 for card in (*cards_in(hidden), world["down"][0, 1], world["down"][1, 2],
                                          world["stock"][0]))] += 1  # fmt: skip
    assert len(ways) == 24
    assert set(ways) == {way for way in ways if set(way) == {3, 4, 5, 6}}
    expected = draws / 24
    assert sum((count - expected) ** 2 / expected for count in ways.values()) < 49.7


def test_worlds_are_dealt_as_the_referee_re_deals() -> None:
    """A fresh table of four: the next player's hidden hand by rank, from the view and from the state: chi-square."""
    rng = np.random.default_rng(64)
    game = Game("sjanse", 4, seed=5)
    observation, draws = observe(game.states, 1), 6000
    ranks = np.zeros((2, 14))
    for _ in range(draws):
        worlds = draw_world(observation, int(rng.integers(2**62)))[0], determinize(game.states, 1, rng)[0]
        for i, (world, seat) in enumerate(zip(worlds, (1, 2), strict=True)):
            for card in cards_in(int(world["hand"][seat])):
                ranks[i, card // 4] += 1
    pooled = ranks.sum(axis=0)
    pooled = pooled[pooled > 0] / 2
    difference = (ranks[0] - ranks[1])[ranks.sum(axis=0) > 0]
    # Twice a difference of counts with about this expectation; 13 degrees of freedom: 0.1 % are above 34.5.
    assert (difference**2 / (2 * pooled)).sum() < 34.5


def test_before_the_start_the_turn_comes_to_everybody() -> None:
    for players in (2, 3, 4, 5):
        game = Game("standard", players, seed=players)
        for done in range(players):
            world = draw_world(observe(game.states, int(game.states[0]["turn"])), 1)
            assert int(world[0]["swapped"]) == done
            for _ in range(players - done):
                assert world[0]["phase"] == engine.SWAPPING
                engine.apply_at(world, 0, A.DONE)
            assert world[0]["phase"] == engine.HAND
            game.apply("done")


def test_greedy_on_a_state_is_greedy() -> None:
    rng = np.random.default_rng(65)
    greedy = CompiledAgent("greedy")
    phases: Counter[str] = Counter()
    for game in moments(rng, 150, 0.2):
        if game.turn is not None:
            assert greedy_at(game.states, 0) == greedy.act(game.view(game.turn))
            phases[game.phase] += 1
    assert min(phases[name] for name in ("swap", "hand", "up", "down")) > 100


def test_payoffs() -> None:
    states = np.zeros(1, STATE)
    deck = np.arange(54, dtype=np.int8)
    engine.deal_at(states, 0, deck, Rules.parse("standard").numbers(), 4, 0)
    assert [payoff_at(states, 0, seat) for seat in range(4)] == [0, 0, 0, 0]
    states[0]["place"][2] = states[0]["n_out"] = 1
    third = pytest.approx(1 / 3)
    ninth = pytest.approx(-1 / 9)
    assert [payoff_at(states, 0, seat) for seat in range(4)] == [ninth, ninth, third, ninth]
    states[0]["place"][:2] = [2, 3]
    states[0]["phase"] = engine.OVER
    assert [payoff_at(states, 0, seat) for seat in range(4)] == [third, third, third, -1]
