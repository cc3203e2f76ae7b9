"""Search with a network: honest, deterministic by worlds, stronger than the network alone; and who models a victim."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from idiot_agents import guided
from idiot_agents.errors import InputError
from idiot_agents.guided import GuidedSearcher, evaluate, likeliest, make_guided, split_budget
from idiot_agents.network import Encoder, Network, expected_shapes, save_model
from idiot_agents.recall import Recall
from idiot_agents.registry import make_agent
from idiot_agents.search import Budget, FlatSampler
from idiot_env import Game, Rules
from idiot_env import actions as A
from idiot_env.engine import OVER, STATE
from idiot_env.observation import determinize, observe
from tests.moments import draw, moments


def network(players: int, seed: int = 0, scale: float = 0.2) -> Network:
    """A random one, with a belief."""
    encoder, rng = Encoder.make(players, True), np.random.default_rng(seed)
    shapes = expected_shapes(encoder, [16], belief=True)
    return Network(encoder, {name: rng.normal(0, scale, shape).astype(np.float32) for name, shape in shapes.items()})


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "m", network(5), {"rules": ["standard", "norsk"], "players": [2, 3]})
    return tmp_path / "m"


def test_no_hidden_card_changes_the_choice(model: Path) -> None:
    """The same view and random state give the same legal action, whatever lies where the seat cannot see."""
    rng = np.random.default_rng(1)
    agents = [
        make_guided(f"ppo+search:{model},2"),
        make_agent(f"exploit:2,ppo:{model}"),
        make_agent("exploit:2,careful"),
    ]
    checked = 0
    for game in moments(rng, 5, 0.02, limit=120):
        if game.over:
            continue
        seat = game.turn
        again = determinize(game.states, seat, rng)
        assert (observe(again, seat) == game.view(seat).observation).all()
        for agent in agents:
            chosen = [
                int(agent.act_batch(observe(states, seat)[None], game.mask[None], np.array([7]))[0])
                for states in (game.states, again)
            ]
            assert chosen[0] == chosen[1]
            assert game.mask[chosen[0]] == 1
        checked += 1
    assert checked > 5


def test_batches_change_nothing(model: Path) -> None:
    agent = make_guided(f"ppo+search:{model},3")
    views = [game.view(game.turn) for game in moments(np.random.default_rng(2), 2, 0.05, limit=100) if not game.over]
    observation = np.stack([view.observation for view in views])
    mask = np.stack([view.action_mask for view in views])
    streams = np.arange(len(views), dtype=np.int64)
    whole = agent.act_batch(observation, mask, streams.copy())
    single = [
        agent.act_batch(observation[k : k + 1], mask[k : k + 1], streams[k : k + 1].copy()) for k in range(len(views))
    ]
    assert whole.tolist() == np.concatenate(single).tolist()


def test_a_state_is_worth_its_reward_where_it_is_settled_and_the_value_where_not() -> None:
    net = network(3)
    games = [Game("standard", 3, seed=seed) for seed in range(40)]
    rng = np.random.default_rng(0)
    for number, game in enumerate(games):
        while not game.over and len(game.actions) < 40 * number:
            game.apply(draw(rng, game.mask))
    states = np.concatenate([game.states for game in games])
    # Relative seat 0 is the searcher: these worlds are looked at from seat 0.
    before = states.copy()
    worth = evaluate(states, np.arange(40, dtype=np.int64), Recall(net, 0.25), depth=0)
    for number, game in enumerate(games):
        if game.over:
            assert worth[number] == pytest.approx(game.rewards()[0])
        elif game.turn == 0 and before[number]["place"][0] == 0:
            assert worth[number] == pytest.approx(float(net(game.view(0).observation[None])[1][0]), abs=1e-5)
    assert sum(game.over for game in games) > 0
    assert any(not game.over and game.turn == 0 for game in games)


def test_rollouts_go_on_to_the_end_once_the_stock_is_empty(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    depths: list[int] = []

    def recorded(states: np.ndarray, streams: np.ndarray, recall: Recall, depth: int) -> np.ndarray:
        depths.append(depth)
        return np.zeros(len(states))

    monkeypatch.setattr(guided, "evaluate", recorded)
    agent = make_guided(f"ppo+search:{model},1")
    agent.solver = None
    asked = set()
    for game in moments(np.random.default_rng(4), 4, 0.2, limit=200):
        if game.turn is None:
            continue
        view = game.view(game.turn)
        depths.clear()
        agent.act(view)
        assert set(depths) <= {guided.ENDGAME_DEPTH if view.stock_size == 0 else guided.DEPTH}
        asked |= {view.stock_size == 0} if depths else set()
    assert asked == {True, False}


def test_the_policy_decides_where_rollouts_do_not(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no opinion of the policy outweighs what is clear."""
    agent = make_guided(f"ppo+search:{model},4")
    agent.solver = None
    good: set[int] = set()

    def paid(states: np.ndarray, *_: object) -> np.ndarray:
        """1 for the hands of seat 0 that hold a good number of cards, 0 for others."""
        return np.array([float(int(hand).bit_count() in good) for hand in states["hand"][:, 0]])

    monkeypatch.setattr(guided, "evaluate", paid)
    agreed = overruled = 0
    for game in moments(np.random.default_rng(6), 6, 0.1, limit=150):
        if game.turn is None:
            continue
        view = game.view(game.turn)
        likeliest_of_all = int(agent.model.probabilities(view).argmax())
        if A.FLIP not in view.legal:  # face-down slots are all alike, and one of them stands for all
            good.clear()
            assert agent.act(view) == likeliest_of_all
            agreed += len(view.legal) > 1
        if A.TAKE in view.legal and view.number("pile_size") > 3 and len(view.legal) <= guided.MOST:
            good.add(view.hand_size() + view.number("pile_size"))
            assert agent.act(view) == A.TAKE
            overruled += likeliest_of_all != A.TAKE
    assert min(agreed, overruled) > 3


def test_rollouts_end_when_the_game_does() -> None:
    states = np.zeros(10, STATE)
    for k in range(10):
        states[k] = Game("standard", 2, seed=k).states[0]
    worth = evaluate(states, np.arange(10, dtype=np.int64), Recall(network(2), 1.0), depth=3000)
    assert (states["phase"] == OVER).sum() > 5
    assert set(worth[states["phase"] == OVER]) == {-1.0, 1.0}


def test_the_likeliest_candidates_are_searched() -> None:
    assert likeliest(np.array([0.5, 0.005, 0.49, 0.005]), 2).tolist() == [0, 2]
    assert likeliest(np.array([0.1, 0.5, 0.4]), 8).tolist() == [0, 1, 2]
    assert likeliest(np.array([0.2, 0.4, 0.2, 0.2]), 3).tolist() == [0, 1, 2], "equals: the first"


def test_specs(model: Path) -> None:
    assert split_budget("64,ppo:x", Budget(5)) == (Budget(64), "ppo:x")
    assert split_budget("pimc:8,careful", Budget(5)) == (Budget(5), "pimc:8,careful")
    agent = make_agent(f"ppo+search:{model},20ms")
    assert isinstance(agent, GuidedSearcher)
    assert not agent.reproducible
    assert make_guided(f"ppo+search:{model}").budget == Budget(32)
    exploiter = make_agent("exploit:greedy")
    assert isinstance(exploiter, FlatSampler)
    assert exploiter.budget == Budget(64)
    for spec, message in (
        (f"ppo+search:{model},many", "'many' is no budget"),
        ("ppo+search:nowhere", "nowhere is not a model folder"),
        ("exploit:nobody", "unknown agent 'nobody'"),
    ):
        with pytest.raises(InputError, match=message):
            make_agent(spec)


def test_who_knows_its_victim_beats_it() -> None:
    from idiot_agents.arena import play_match

    match = play_match(make_agent("exploit:24,careful"), make_agent("careful"), Rules(), 2, 60, seed=3)
    assert match.figures.lost.high < 0.5


def test_nobody_searches_at_a_table_that_its_network_cannot_read(tmp_path: Path) -> None:
    """The search itself would read memory that is not the network's."""
    save_model(tmp_path / "two", network(2), {})
    view = Game("standard", 4, seed=1).view(0)
    for spec in (
        f"ppo+search:{tmp_path}/two,2",
        f"pimc:2,ppo:{tmp_path}/two",
        f"exploit:2,ppo+search:{tmp_path}/two,1",
    ):
        with pytest.raises(InputError, match="trained for at most 2 players"):
            make_agent(spec).act(view)
        with pytest.raises(InputError, match="trained for at most 2 players"):
            make_agent(spec).check_players(3)


def test_a_budget_of_many_worlds_is_played_in_pieces(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = Game("standard", 3, seed=2).view(0)
    scores = []
    for at_once in (1, 3, 256):
        monkeypatch.setattr(guided, "WORLDS_AT_ONCE", at_once)
        agent = make_guided(f"ppo+search:{model},8")
        agent.act(view)
        n = int(view.action_mask.sum())
        scores.append(agent.scores(n, 5))
    assert scores[0] == pytest.approx(scores[2])
    assert scores[1] == pytest.approx(scores[2])


def test_a_budget_that_is_none_is_named() -> None:
    for spec, budget in (("exploit:0,greedy", "'0'"), ("exploit:5m,greedy", "'5m'")):
        with pytest.raises(InputError, match=f"{budget} is no budget"):
            make_agent(spec)
