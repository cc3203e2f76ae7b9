"""Search agents: honest, repeatable, legal everywhere, and no worse than their purpose."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from idiot_agents.arena import play_match
from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.pimc import WORLDS_AT_ONCE, LockStep, sample_flat
from idiot_agents.protocol import BatchAgent, Streams
from idiot_agents.registry import make_agent
from idiot_agents.rollouts import LIMIT, candidates, roll_out, roll_out_slipping
from idiot_agents.search import SLIP, Budget, FlatSampler, SearchAgent, TreeSearcher
from idiot_agents.worlds import write_world_at
from idiot_env import Game, Rules, View
from idiot_env import actions as A
from idiot_env.engine import STATE
from idiot_env.observation import OBSERVATION_SIZE, determinize, observe
from tests.endgames import PATH, state_of
from tests.moments import TABLES, draw, moments

SPECS = ["pimc:3", "ismcts:30", "pimc:2,careful", "ismcts:20,careful", "pimc:2,random"]


def searcher(spec: str, seed: int = 0) -> SearchAgent:
    agent = make_agent(spec, seed)
    assert isinstance(agent, SearchAgent)
    return agent


def choose(agent: BatchAgent, view: View, stream: int) -> int:
    streams = np.array([stream], np.int64)
    return int(agent.act_batch(view.observation[None], view.action_mask[None], streams)[0])


def positions(seed: int, n_games: int, share: float) -> list[Game]:
    """Random moments with something to choose."""
    rng = np.random.default_rng(seed)
    return [game.copy() for game in moments(rng, n_games, share) if game.turn is not None and game.mask.sum() > 1]


@pytest.mark.parametrize("spec", SPECS)
def test_no_choice_depends_on_what_cannot_be_known(spec: str) -> None:
    agent, rng = searcher(spec), np.random.default_rng(70)
    found = positions(71, 25, 0.04)
    assert len(found) > 60
    for game in found:
        assert game.turn is not None
        view = game.view(game.turn)
        stream = int(rng.integers(2**62))
        chosen = choose(agent, view, stream)
        for _ in range(2):
            other = determinize(game.states, game.turn, rng)
            assert choose(agent, View(observe(other, game.turn), view.action_mask, game.turn), stream) == chosen


def test_a_search_that_peeks_would_be_found() -> None:
    """The same check with an agent whose worlds are the truth: the choice does change."""
    rng, changed = np.random.default_rng(72), 0
    sums, actions = np.zeros(A.N_ACTIONS), np.zeros(A.N_ACTIONS, np.int64)
    scratch, observation = np.zeros(2, STATE), np.zeros(OBSERVATION_SIZE, np.int8)
    for game in positions(73, 25, 0.04):
        if not game.turn:
            continue  # re-dealing for seat 0 would be honest where seat 0 chooses
        chosen = set()
        for _ in range(3):
            states = determinize(game.states, game.turn, rng)
            n = int(candidates(game.mask, actions))
            sums[:] = 0
            # Worlds are re-dealt for seat 0, who is not to act: they keep what seat 0 holds in truth.
            sample_flat(states, actions, n, 1, 1, LIMIT, 0, 0, np.int64(5), sums, scratch, observation,
                        np.zeros(A.N_ACTIONS, np.int8))  # fmt: skip
            chosen.add(int(actions[int(sums[:n].argmax())]))
        changed += len(chosen) > 1
    assert changed > 10


def test_seats_slip_as_they_are_told() -> None:
    """In one decision of a rollout: whoever does not slip plays as greedy, whoever always does strays from it."""
    seen, mask = np.zeros(OBSERVATION_SIZE, np.int8), np.zeros(A.N_ACTIONS, np.int8)
    strayed = {0: 0, 1: 0}
    for number, game in enumerate(positions(75, 25, 0.04)):
        assert game.turn is not None
        seat = min(game.turn, 1)
        greedy = game.states.copy()
        roll_out(greedy[0], 1, 1, seen, mask, np.int64(number))
        for slips in (0, 1024):
            state = game.states.copy()
            own, others = (slips, 1024 - slips) if seat == 0 else (1024 - slips, slips)
            roll_out_slipping(state[0], 1, 1, own, others, seen, mask, np.int64(number))
            if slips == 0:
                assert state.tobytes() == greedy.tobytes()
            else:
                strayed[seat] += state.tobytes() != greedy.tobytes()
    assert min(strayed.values()) > 5
    assert (searcher("exploit:2,greedy").slip, searcher("exploit:2,greedy").others_slip) == (SLIP, 0)
    assert searcher("pimc:2").others_slip == SLIP


@pytest.mark.parametrize("spec", SPECS)
def test_a_batch_is_single_choices(spec: str) -> None:
    games = positions(74, 12, 0.04)[:40]
    views = [game.view(game.turn) for game in games if game.turn is not None]
    start = np.arange(len(views), dtype=np.int64) * 7 + 3
    streams: Streams = start.copy()
    observation = np.stack([view.observation for view in views])
    mask = np.stack([view.action_mask for view in views])
    batch = searcher(spec).act_batch(observation, mask, streams)
    assert (streams != start).all()
    again = searcher(spec)
    assert [choose(again, view, int(stream)) for view, stream in zip(views, start, strict=True)] == batch.tolist()
    reverse = searcher(spec).act_batch(observation[::-1], mask[::-1], start[::-1].copy())
    assert (reverse[::-1] == batch).all()


def test_an_agent_draws_from_its_seed() -> None:
    views = [game.view(game.turn) for game in positions(75, 12, 0.04) if game.turn is not None]
    plays = {seed: [searcher("pimc:1", seed).act(view) for view in views] for seed in (1, 2)}
    assert plays[1] == [searcher("pimc:1", 1).act(view) for view in views]
    assert plays[1] != plays[2]


@pytest.mark.parametrize("spec", ["pimc:1", "ismcts:12"])
def test_every_table_is_played(spec: str) -> None:
    for name, players in TABLES:
        match = play_match(searcher(spec), CompiledAgent("greedy"), Rules.preset(name), players, 1, max_decisions=400)
        assert match.games == players


HOUSE = [
    ("standard jokers=2 losers=2 stack=yes runs=yes", 3),
    ("norsk last_two=forbidden seven_low=yes skip_same=yes sneak_three=yes", 2),
    ("sjanse last_two=blind_only ten_on=below_ten hand_size=6 jokers=2", 4),
    ("familie swap=anytime opening=lowest stack=yes skip_same=yes losers=2", 5),
]


@pytest.mark.parametrize(("rules", "players"), HOUSE)
@pytest.mark.parametrize("spec", ["pimc:2", "ismcts:16", "pimc:1,careful"])
def test_house_rules_are_played(spec: str, rules: str, players: int) -> None:
    agent, rng = searcher(spec), np.random.default_rng(76)
    for seed in range(3):
        game = Game(rules, players, seed=seed, max_decisions=250)
        while game.turn is not None:
            searches = game.turn == 0 or rng.random() < 0.2
            game.apply(agent.act(game.view(game.turn)) if searches else draw(rng, game.mask))


def test_both_roads_of_rollouts_agree() -> None:
    """Compiled rollouts and rollouts in lock-step: the same sums, for agents that draw and that do not."""
    root, actions = np.zeros(1, STATE), np.zeros(A.N_ACTIONS, np.int64)
    scratch, observation = np.zeros(2, STATE), np.zeros(OBSERVATION_SIZE, np.int8)
    mask = np.zeros(A.N_ACTIONS, np.int8)
    for game in positions(77, 8, 0.03):
        assert game.turn is not None
        n = int(candidates(game.mask, actions))
        write_world_at(observe(game.states, game.turn), root, 0)
        for name in ("random", "greedy", "careful"):
            agent = CompiledAgent(name)
            for limit in (LIMIT, 7):
                sums = np.zeros((2, n))
                after = sample_flat(root, actions, n, 4, agent.kind, limit, 0, 0, np.int64(9), sums[0], scratch,
                                    observation, mask)  # fmt: skip
                last = LockStep(agent).sample(root, actions, n, 4, limit, 9, sums[1])
                assert after == last
                assert sums[0] == pytest.approx(sums[1])


def test_a_large_budget_is_played_in_pieces() -> None:
    """As many worlds at once or one by one: the same sums and the same random state after them."""
    game = Game("norsk", 3, seed=4)
    assert game.turn is not None
    root, actions = np.zeros(1, STATE), np.zeros(A.N_ACTIONS, np.int64)
    n = int(candidates(game.mask, actions))
    write_world_at(observe(game.states, game.turn), root, 0)
    agent, sums, worlds = LockStep(CompiledAgent("careful")), np.zeros((2, n)), WORLDS_AT_ONCE + 3
    after = agent.sample(root, actions, n, worlds, 9, 5, sums[0])
    state = 5
    for _ in range(worlds):
        state = agent.sample(root, actions, n, 1, 9, state, sums[1])
    assert after == state
    assert sums[0] == pytest.approx(sums[1])


def test_time_is_a_budget() -> None:
    game = Game("standard", 2, seed=1)
    assert game.turn is not None
    for spec in ("pimc:2ms", "ismcts:2ms", "pimc:0.002s,careful"):
        agent = searcher(spec)
        assert not agent.reproducible
        assert game.mask[agent.act(game.view(game.turn))]
    assert searcher("pimc:2").reproducible
    assert searcher("ismcts:2,careful").reproducible


def test_budgets() -> None:
    assert Budget.parse("128") == Budget(count=128)
    assert Budget.parse("50ms") == Budget(seconds=0.05)
    assert Budget.parse("1.5s") == Budget(seconds=1.5)
    for text in ("0", "-3", "", "1.5", "12x", "0ms", "0s", "1e3", "١", "99999999999"):
        with pytest.raises(InputError, match="is no budget"):
            Budget.parse(text)
    for spec, message in (
        ("pimc:", "'' is no budget"),
        ("pimc:x", "'x' is no budget"),
        ("pimc:8,nobody", "unknown agent 'nobody'"),
        ("ismcts:8,pimc:2", "is not compiled"),
        ("pimc", "unknown agent 'pimc'"),
    ):
        with pytest.raises(InputError, match=message):
            make_agent(spec)


def test_a_full_tree_goes_on() -> None:
    game = Game("standard", 2, seed=2)
    while game.turn is None or game.phase == "swap":
        game.apply("done")
    agent = searcher("ismcts:400")
    assert isinstance(agent, TreeSearcher)
    agent._tree = agent._tree[:20].copy()
    assert game.mask[agent.act(game.view(game.turn))]
    assert agent._tree["visits"].max() > 20


WINNING = json.loads(Path(PATH).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("spec", "at_least"), [("pimc:200", 0.8), ("ismcts:2000", 0.9)])
def test_search_finds_the_winning_action(spec: str, at_least: float) -> None:
    """Proven positions in which some actions win and others do not, without the help of the solver."""
    agent, found, asked = searcher(spec), 0, 0
    agent.solver = None
    for entry in WINNING:
        good = {text for text, (win, _) in entry["actions"].items() if win == 1}
        if not good or len(good) == len(entry["actions"]):
            continue
        view = Game.view(referee(entry), 0)
        found += A.TEXTS[choose(agent, view, 1)] in good
        asked += 1
    assert asked >= 20
    assert found / asked >= at_least


def test_the_solver_takes_over() -> None:
    agent = searcher("pimc:1")
    for entry in WINNING:
        good = {text for text, (win, _) in entry["actions"].items() if win == 1}
        if good and entry["positions"] <= 5000 and entry["live"] <= 12:
            assert A.TEXTS[choose(agent, Game.view(referee(entry), 0), 1)] in good


def referee(entry: dict[str, object]) -> Game:
    """A game that stands at a position of the table."""
    game = Game(str(entry["rules"]), 2, seed=0)
    game._states[:] = state_of(entry)
    return game


@pytest.mark.slow
def test_search_beats_greedy_and_careful() -> None:
    for spec in ("pimc:32", "ismcts:1000"):
        for name, most in (("greedy", 0.25), ("careful", 0.42)):
            assert play_match(searcher(spec), CompiledAgent(name), Rules(), 2, 100).lost < most


def test_flat_samplers_need_batches() -> None:
    assert isinstance(searcher("pimc:2,careful"), FlatSampler)
    assert isinstance(searcher("ismcts:2"), BatchAgent)
