"""Our agents as OpenSpiel's bots, and OpenSpiel's searches as our agents."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from idiot_agents.arena import play_games
from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.protocol import BatchAgent, fresh_streams
from idiot_agents.registry import make_agent
from idiot_env import Game, Rules
from idiot_env import actions as A
from idiot_env.cards import cards_in
from idiot_env.engine import NO_CARD
from idiot_env.observation import observe, redeal_at
from tests.moments import moments

pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")
# These need pyspiel.
from idiot_agents.openspiel import AgentBot, OpenSpielAgent, RolloutEvaluator  # noqa: E402
from idiot_env.openspiel import undrawn  # noqa: E402
from tests.test_openspiel import SMALL, load, play, random_outcome  # noqa: E402

METHODS = ("mcts", "ismcts")


# --- ours there ------------------------------------------------------------------------------------------------------


def test_our_agents_are_bots() -> None:
    from open_spiel.python.algorithms import evaluate_bots

    class Witness(CompiledAgent):
        asked = 0

        def act(self, view: Any) -> int:
            assert view.turn == 0
            assert view.action_mask.any()
            Witness.asked += 1
            return super().act(view)

    game = load("sjanse", 3)
    bots = [AgentBot(Witness("greedy")), AgentBot(make_agent("careful")), AgentBot(make_agent("random", 4))]
    lost = np.zeros(3)
    for seed in range(12):
        returns = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(seed))
        assert sum(returns) == pytest.approx(0)
        lost += np.array(returns) < 0
    assert Witness.asked > 50
    assert lost[2] > lost[0] + lost[1], "random is the idiot nearly always"


def test_rollouts_are_an_evaluator_for_their_bots() -> None:
    from open_spiel.python.algorithms import evaluate_bots, mcts

    game, rng = load("standard", 2), np.random.RandomState(2)
    evaluator = RolloutEvaluator(CompiledAgent("greedy"), rng, 2)
    searcher = mcts.MCTSBot(game, 1.4, 20, evaluator, random_state=rng)
    returns = evaluate_bots.evaluate_bots(game.new_initial_state(), [searcher, AgentBot(make_agent("random"))], rng)
    assert returns == [1.0, -1.0]


def test_rollouts_are_worth_what_the_arena_says() -> None:
    rng = np.random.default_rng(3)
    evaluator = RolloutEvaluator(CompiledAgent("random"), np.random.RandomState(1), 3, limit=5)
    for _ in range(5):
        state = play(rng, load("norsk losers=2", 4).new_initial_state(), 80)
        values = evaluator.evaluate(state)
        assert values.shape == (4,)
        assert values.sum() == pytest.approx(0)
        assert sum(probability for _, probability in evaluator.prior(state)) == pytest.approx(1)


def public(states: Any, players: int) -> list[bytes]:
    return [observe(states, seat).tobytes() for seat in range(players)]


@pytest.mark.parametrize("text", ["python_idiot(rules=sjanse,players=3)", SMALL])
def test_worlds_draw_everything_and_change_nothing_else(text: str) -> None:
    rng = np.random.default_rng(8)
    game = pyspiel.load_game(text)
    players, waiting, orders = game.num_players(), 0, set()
    for _ in range(12):
        state = game.new_initial_state()
        with pytest.raises(ValueError, match="before the deal"):
            state.world(1)
        while not state.is_terminal() and len(state.history()) < 150:
            outcome = random_outcome(rng, state)
            if not state._dealing:
                world = state.world(int(rng.integers(2**62)))
                if state.is_chance_node():
                    waiting += 1
                    # Chance draws for the action as the world has drawn: then all that is known is the same.
                    after = state.clone()
                    for rank in drawn_in(world, state):
                        after.apply_action(rank)
                    assert not after.is_chance_node()
                    assert public(after.states, players) == public(world, players)
                else:
                    assert public(world, players) == public(state.states, players)
                    assert undrawn(world[0]) == undrawn(state.states[0])
                    orders.add(world["stock"].tobytes())
            state.apply_action(outcome)
    assert waiting > 20
    assert len(orders) > 20


def drawn_in(world: Any, state: Any) -> list[int]:
    """The ranks that a world has drawn for the action for which chance is drawing in ``state``, beyond those drawn."""
    before, after = state.states[0], world[0]
    seat, action = int(before["turn"]), state._pending
    gone = set(cards_in(int(undrawn(before)))) - set(cards_in(int(undrawn(after))))
    taken = state._drawn
    ranks = sorted(card // 4 for card in gone)
    for rank in taken:
        ranks.remove(rank)
    if A.FLIP <= action <= A.CHANCE and not taken:
        # The card turned blind comes first; it is in no hand but on the pile, burned, or taken into the hand.
        hand = [
            card for card in gone if int(after["hand"][seat]) >> card & 1 and not int(after["known"][seat]) >> card & 1
        ]
        refilled = sorted(card // 4 for card in hand)
        first = ranks[:]
        for rank in refilled:
            first.remove(rank)
        assert len(first) == 1
        return [first[0], *refilled]
    return ranks


# --- theirs here -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_their_searches_play_in_the_arena(method: str) -> None:
    agent = make_agent(f"openspiel:{method}:8", 1)
    assert isinstance(agent, BatchAgent)
    assert agent.name == f"openspiel:{method}:8"
    rules, seeds = Rules.preset("norsk"), np.array([3, 3, 8])
    lineups = np.array([[0, 1], [1, 0], [0, 1]])
    first = play_games([agent, make_agent("random")], lineups, seeds, rules, 60)
    again = play_games([make_agent(agent.name, 9), make_agent("random")], lineups[::-1], seeds[::-1], rules, 60)
    assert (first.place == again.place[::-1]).all(), "no result depends on the order of games"
    assert (first.decisions == again.decisions[::-1]).all()


@pytest.mark.parametrize("method", METHODS)
def test_their_searches_are_honest(method: str) -> None:
    """Whatever lies where the seat cannot see: the same view and random state give the same legal action."""
    rng = np.random.default_rng(12)
    agent = make_agent(f"openspiel:{method}:6")
    assert isinstance(agent, OpenSpielAgent)
    moved = 0
    for game in moments(rng, 10, 0.05, 120):
        if game.over:
            continue
        view, stream = game.view(game.turn), fresh_streams(int(rng.integers(2**60)), 1)
        chosen = agent.act_batch(view.observation[None], view.action_mask[None], stream.copy())[0]
        assert view.action_mask[chosen] == 1
        states = game.states
        redeal_at(states, 0, view.seat, int(rng.integers(2**62)))
        moved += (states != game.states).any()
        again = observe(states, view.seat)
        assert agent.act_batch(again[None], view.action_mask[None], stream.copy())[0] == chosen
    assert moved > 10


def test_a_search_finds_the_winning_action() -> None:
    """One card left to each: the two that is played last wins for whoever lays it, and taking the pile does not."""
    game = Game("norsk", 2, seed=1)
    states = game.states
    record = states[0]
    record["hand"][:] = 0
    record["known"][:] = 0
    record["up"][:] = 0
    record["down"][:] = NO_CARD
    record["stock_size"] = 0
    record["turn"], record["phase"] = 0, 1
    record["hand"][0], record["hand"][1] = 1 << 48, 1 << 0 | 1 << 4
    record["burned"] = ((1 << 52) - 1) & ~(1 << 48 | 1 << 0 | 1 << 4 | 1 << 44)
    record["pile"][0], record["pile_size"], record["pile_set"], record["top"], record["run"] = 44, 1, 1 << 44, 11, 1
    mask = np.zeros(A.N_ACTIONS, np.int8)
    mask[[A.TAKE, A.PLAY + 4 * 12]] = 1
    for method in METHODS:
        agent = make_agent(f"openspiel:{method}:30")
        assert isinstance(agent, OpenSpielAgent)
        assert agent.act_batch(observe(states, 0)[None], mask[None], fresh_streams(1, 1))[0] == A.PLAY + 4 * 12


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openspiel:", "write openspiel:METHOD:SIMULATIONS with one of mcts, ismcts"),
        ("openspiel:alphazero:3", "is no agent"),
        ("openspiel:mcts", "'' is no budget"),
        ("openspiel:mcts:0", "'0' is no budget"),
        ("openspiel:mcts:1s", "OpenSpiel's bots count simulations"),
    ],
)
def test_bad_specs_are_refused(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_agent(spec)


def test_without_openspiel_its_agents_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "idiot_agents.openspiel")
    with pytest.raises(InputError, match="needs OpenSpiel: install the extra openspiel"):
        make_agent("openspiel:mcts:8")
