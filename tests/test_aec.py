"""The PettingZoo environment: PettingZoo's own tests, and what its documentation promises."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

import idiot_env
from idiot_env import Game, IllegalAction, Rules, aec, truth
from idiot_env.actions import N_ACTIONS
from idiot_env.batched import Batch, game_seed
from idiot_env.observation import layout_table, observe
from tests.moments import TABLES, draw, random_table

Make = Callable[..., Any]
MAKERS = [idiot_env.raw_env, idiot_env.env]
# What the API test says of every environment with an action mask that PettingZoo does not ship itself.
EXPECTED = "Observation is not a NumPy array|Observation space for each agent probably should|Action mask is all zeros"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    EnvLogger.suppress_output()
    EnvLogger.flush()
    yield
    EnvLogger.unsuppress_output()


def play(env: Any, rng: np.random.Generator, steps: int = 10**9) -> list[tuple[str, float, bool, bool]]:
    """Play on to the end, or so many steps; what each agent got from ``last()``."""
    log = []
    for agent in env.agent_iter(steps):
        observation, reward, terminated, truncated, info = env.last()
        assert info == {}
        log.append((agent, reward, terminated, truncated))
        env.step(None if terminated or truncated else draw(rng, observation["action_mask"]))
    return log


def flat(value: Any) -> str:
    """A value with the arrays in it, as text to compare; pickles of equal values differ where objects are shared."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes().hex()}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {flat(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flat, value))}]"
    return f"{type(value).__name__} {value!r}"


def everything(env: Any) -> str:
    """All that one can see or be told of an environment."""
    raw = env.unwrapped
    seen = [env.observe(agent) for agent in env.possible_agents]
    told = (env.agents, env.agent_selection, env.rewards, env._cumulative_rewards, env.terminations, env.truncations)
    return flat((seen, told, env.infos, raw.states, env.state(), raw.deal_seed, raw.deck))


# --- PettingZoo's own tests ------------------------------------------------------------------------------------------


def run_api_test(make: Make, rules: Any, players: int, rounds: int) -> None:
    env = make(rules, players)
    for agent in env.possible_agents:
        env.action_space(agent).seed(players)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(rounds):
            api_test(env, num_cycles=1000)
    surprises = {str(one.message) for one in caught if not re.match(EXPECTED, str(one.message))}
    assert not surprises


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("rules", "players"), TABLES)
def test_pettingzoo_api_test(make: Make, rules: str, players: int) -> None:
    run_api_test(make, rules, players, 2)


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("chunk", range(20))
def test_pettingzoo_api_test_at_any_table(make: Make, chunk: int) -> None:
    rng = np.random.default_rng(chunk)
    for _ in range(5):
        run_api_test(make, *random_table(rng), 2)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("rules", "players"), TABLES)
def test_pettingzoo_seed_test(make: Make, rules: str, players: int) -> None:
    # The test itself always resets with 42; other options make other games of it.
    for changes in ({}, {"jokers": 2}, {"runs": True}):
        seed_test(partial(make, Rules.preset(rules, **changes), players), num_cycles=200)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("players", [2, 5])
def test_pettingzoo_render_test(make: Make, players: int, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode: make("familie", players, render_mode))
    assert "player_0" in capsys.readouterr().out


@pytest.mark.parametrize("make", MAKERS)
def test_pettingzoo_state_test(make: Make) -> None:
    env = make("sjanse", 3)
    env.reset(seed=5)
    assert isinstance(env.state_space, idiot_env.aec.spaces.Box)
    rng = np.random.default_rng(1)
    for agent in env.agent_iter():
        assert env.state_space.contains(env.state())
        observation, _, terminated, _, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        env.step(None if terminated else draw(rng, observation["action_mask"]))
    assert env.state_space.contains(env.state())


def test_make() -> None:
    env = pettingzoo.make("aec", "idiot/Idiot-v0", rules="norsk", players=3, render_mode="ansi", max_decisions=7)
    assert isinstance(env, pettingzoo.AECEnv)
    assert isinstance(env.unwrapped, idiot_env.raw_env)
    raw = env.unwrapped
    assert (raw.rules, raw.players, raw.render_mode, raw.max_decisions) == (Rules.preset("norsk"), 3, "ansi", 7)
    assert str(env) == str(raw) == "idiot_v0"


def test_metadata_and_documentation_agree() -> None:
    metadata = idiot_env.raw_env.metadata
    assert metadata["name"] == "idiot_v0"
    assert metadata["is_parallelizable"] is False
    assert metadata["render_modes"] == ["ansi", "human", "rgb_array"]
    text = aec.__doc__ or ""
    for said in ("idiot/Idiot-v0", 'rules="standard"', "players=4", "render_mode=None", "max_decisions=2000"):
        assert said in text
    for name in [*metadata["render_modes"], *aec._OPTIONS]:
        assert f"``{name}``" in text
    assert text.rstrip().splitlines()[-1].startswith("* v0:")
    assert str(pettingzoo.aec_registry["idiot/Idiot-v0"].version) == metadata["name"].rpartition("v")[2]


# --- rewards and the end ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_rewards_are_delivered_exactly_once(make: Make) -> None:
    rng = np.random.default_rng(2)
    for _ in range(60):
        rules, players = random_table(rng)
        env = make(rules, players)
        env.reset(seed=int(rng.integers(1000)))
        raw, acted_out = env.unwrapped, 0
        got: dict[str, list[float]] = {agent: [] for agent in env.possible_agents}
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            assert env.agents == env.possible_agents or terminated or truncated, "all agents stay to the end"
            if terminated or truncated:
                got[agent].append(reward)
                assert not observation["action_mask"].any()
                env.step(None)
                continue
            assert reward == 0
            place = raw.states[0]["place"]
            assert place[int(agent[-1])] == 0, "a player who is out is never asked"
            acted_out += int((place > 0).sum())
            env.step(draw(rng, observation["action_mask"]))
        assert all(len(rewards) == 1 for rewards in got.values())
        state = raw.states[0]
        if state["phase"] != 4:
            assert set(map(tuple, got.values())) == {(0.0,)}, "cut off"
            continue
        idiots = [agent for agent, seat in raw._seats.items() if state["place"][seat] == 0]
        assert len(idiots) == rules.losers
        for agent, (reward,) in got.items():
            expected = -1.0 if agent in idiots else rules.losers / (players - rules.losers)
            assert reward == pytest.approx(expected)


@pytest.mark.parametrize("make", MAKERS)
def test_a_game_is_cut_off_at_the_limit(make: Make) -> None:
    env = make(players=3, max_decisions=25)
    for seed in range(5):
        env.reset(seed=seed)
        log = play(env, np.random.default_rng(seed))
        assert len(log) == 25 + 3
        assert all(entry[1:] == (0, False, False) for entry in log[:25])
        assert sorted(log[25:]) == [(f"player_{seat}", 0, False, True) for seat in range(3)]
        assert env.agents == []


def test_a_game_that_ends_at_the_limit_is_not_cut_off() -> None:
    env = idiot_env.raw_env(players=2)
    env.reset(seed=3)
    decisions = len(play(env, np.random.default_rng(4))) - 2
    env = idiot_env.raw_env(players=2, max_decisions=decisions)
    env.reset(seed=3)
    *_, first, second = play(env, np.random.default_rng(4))
    assert (first[2:], second[2:]) == ((True, False), (True, False))
    assert {first[1], second[1]} == {1.0, -1.0}


# --- seeds, deals, options -------------------------------------------------------------------------------------------


def test_a_series_deals_the_games_of_its_seed() -> None:
    env = idiot_env.raw_env("sjanse", 3)
    for seed in (0, 42, -7, 2**63, 2**64 - 1):
        env.reset(seed=seed)
        for episode in range(3):
            number = (seed + 2**63) % 2**64 - 2**63
            game = Game("sjanse", 3, seed=int(game_seed(np.int64(number), np.int64(episode))))
            assert (game.deck, game.dealer) == (env.deck, env.dealer)
            assert (game.states == env.states).all()
            assert env.deal_seed == int(game_seed(np.int64(number), np.int64(episode)))
            env.reset()


def test_the_environment_equals_a_batch_and_a_game() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        rules, players = random_table(rng)
        seed = int(rng.integers(2**62))
        env, batch = idiot_env.raw_env(rules, players, max_decisions=300), Batch(1, rules, players, max_decisions=300)
        env.reset(seed=seed)
        step = batch.reset([seed])
        game = Game(rules, players, seed=env.deal_seed)
        while True:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                break
            assert (observation["observation"] == step.observation[0]).all()
            assert (observation["action_mask"] == step.mask[0]).all()
            assert game.turn == env._seats[env.agent_selection] == step.seat[0]
            action = draw(rng, observation["action_mask"])
            env.step(action)
            game.apply(action)
            step = batch.step(np.array([action]))
        assert (terminated, truncated) == (bool(step.terminated[0]), bool(step.truncated[0]))
        assert [env.rewards[agent] for agent in env.agents] == pytest.approx(list(step.reward[0, :players]))


def test_unseeded_environments_differ_and_resets_go_on() -> None:
    env, other = idiot_env.raw_env(), idiot_env.raw_env()
    env.reset()
    other.reset()
    first = env.deck
    assert first != other.deck
    env.reset()
    assert env.deck != first


def test_reset_options_change_one_game() -> None:
    env = idiot_env.env("norsk", 4)
    deck = Game("norsk", 4, seed=99).deck
    raw = env.unwrapped
    for dealer in range(4):
        env.reset(seed=1, options={"dealer": dealer, "deck": deck})
        assert raw.dealer == dealer
        assert (raw.states == Game("norsk", 4, deck=deck, dealer=dealer).states).all()
    with_jokers = Game(Rules.preset("familie", jokers=2), 4, seed=5).deck
    env.reset(options={"rules": {"preset": "familie", "jokers": 2}, "deck": with_jokers, "dealer": 2})
    assert raw.game_rules == Rules.preset("familie", jokers=2)
    assert (raw.states == Game("familie jokers=2", 4, deck=with_jokers, dealer=2).states).all()
    play(env, np.random.default_rng(0))
    env.reset(options={"rules": None, "deck": None, "dealer": None})
    assert raw.game_rules == raw.rules == Rules.preset("norsk")


BAD = [
    ({"seed": "x"}, "seed='x' is not possible"),
    ({"seed": 1.5}, "seed=1.5 is not possible"),
    ({"options": {"players": 3}}, "unknown reset option 'players': the options are dealer, deck, rules."),
    ({"options": {"dealer": 4}}, "dealer=4 is not possible: give a seat from 0 to 3."),
    ({"options": {"dealer": "me"}}, "dealer='me' is not possible"),
    ({"options": {"deck": ["6S"]}}, "the deck is wrong"),
    ({"options": {"deck": "6S"}}, "deck='6S' is not possible"),
    ({"options": {"deck": Game(seed=0).deck, "rules": "standard jokers=2"}}, r"the deck is wrong \(missing \*1, \*2\)"),
    ({"options": {"rules": "poker"}}, "unknown table 'poker'"),
    ({"options": {"rules": {"chance": "maybe"}}}, "chance='maybe' is not possible"),
    ({"options": {"rules": 3}}, "3 is no set of rules"),
    ({"options": ["deck"]}, "is not possible: give a mapping"),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("call", "message"), BAD)
def test_a_bad_reset_leaves_the_game_as_it_is(make: Make, call: dict[str, Any], message: str) -> None:
    env, twin = make(), make()
    for one in (env, twin):
        one.reset(seed=4)
        play(one, np.random.default_rng(0), 30)
    before = everything(env)
    with pytest.raises(ValueError, match=message) as caught:
        env.reset(**call)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    assert everything(env) == before
    env.reset()
    twin.reset()
    assert everything(env) == everything(twin), "nor is the next game another one"


def test_rules_for_one_game_must_seat_the_players() -> None:
    env = idiot_env.raw_env(players=5)
    with pytest.raises(ValueError, match="hand_size=6 with players=5"):
        env.reset(options={"rules": {"hand_size": 6}})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": 6}, "players=6 is not possible"),
        ({"rules": "whist"}, "unknown table 'whist'"),
        ({"rules": "standard losers=2", "players": 2}, "losers=2 with players=2"),
        ({"render_mode": "window"}, "render_mode='window' is not possible: it is one of ansi, human, rgb_array."),
        ({"max_decisions": 0}, "max_decisions=0 is not possible"),
        ({"max_decisions": True}, "max_decisions=True is not possible"),
    ],
)
def test_impossible_environments_are_refused(arguments: dict[str, Any], message: str) -> None:
    for make in MAKERS:
        with pytest.raises(ValueError, match=message):
            make(**arguments)


def test_the_configuration_survives_every_reset() -> None:
    env = idiot_env.env("standard chance=yes", 3, max_decisions=40)
    for _ in range(3):
        env.reset()
        play(env, np.random.default_rng(0))
        raw = env.unwrapped
        assert (raw.rules, raw.game_rules, raw.players, raw.max_decisions) == (
            Rules(chance=True), Rules(chance=True), 3, 40,
        )  # fmt: skip
        assert env.possible_agents == ["player_0", "player_1", "player_2"]


# --- independence, copies --------------------------------------------------------------------------------------------


def test_two_environments_share_nothing() -> None:
    alone = idiot_env.env("sjanse", 3)
    alone.reset(seed=1)
    expected = []
    rng = np.random.default_rng(0)
    for _ in range(60):
        expected.append(everything(alone))
        play(alone, rng, 1)

    one, two = idiot_env.env("sjanse", 3), idiot_env.env("norsk", 5)
    one.reset(seed=1)
    two.reset(seed=2)
    rng, other = np.random.default_rng(0), np.random.default_rng(9)
    for before in expected:
        assert everything(one) == before
        play(two, other, 1)
        if not two.agents:
            two.reset()
        play(one, rng, 1)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("copying", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_stay_exactly_where_the_game_is(make: Make, copying: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(6)
    for steps in (0, 1, 20, 75):
        env = make("sjanse", 4, render_mode="ansi")
        env.reset(seed=steps)
        play(env, rng, steps)
        twin = copying(env)
        assert everything(twin) == everything(env)
        assert twin.render() == env.render()
        before = everything(env)
        seed = int(rng.integers(1000))
        log = play(twin, np.random.default_rng(seed))
        assert everything(env) == before, "the copy plays on alone"
        assert play(env, np.random.default_rng(seed)) == log
        env.reset()
        twin.reset()
        assert everything(env) == everything(twin)
    assert copying(make(players=3)).possible_agents == ["player_0", "player_1", "player_2"]


def test_a_copy_between_the_last_rewards() -> None:
    env = idiot_env.env(players=4)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    while not env.terminations[env.agent_selection]:
        play(env, rng, 1)
    play(env, rng, 2)
    twin = pickle.loads(pickle.dumps(env))
    assert len(twin.agents) == 2
    assert play(twin, rng) == play(env, rng)


# --- illegal actions and the order of calls --------------------------------------------------------------------------

NO_ACTION = [None, -1, N_ACTIONS, 2.5, "take", 10**30, -(10**30), np.float32(1), np.array([1, 2])]


def test_raw_refuses_what_is_illegal_and_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    env = idiot_env.raw_env("sjanse runs=yes stack=yes", 4)
    for seed in range(4):
        env.reset(seed=seed)
        for _ in range(60):
            mask = env.observe(env.agent_selection)["action_mask"]
            before = everything(env)
            illegal = rng.choice(np.flatnonzero(mask == 0), 3)
            for action in [*illegal, *NO_ACTION]:
                with pytest.raises(IllegalAction, match=r"not legal for player_\d: legal are \w+.* \(\d+\)") as caught:
                    env.step(action)
                assert isinstance(caught.value, ValueError)
            assert everything(env) == before
            env.step(draw(rng, mask))
            if any(env.terminations.values()):
                break


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint8, np.array])
def test_any_whole_number_is_an_action(kind: Callable[[int], Any]) -> None:
    env = idiot_env.raw_env()
    env.reset(seed=0)
    action = int(np.flatnonzero(env.last()[0]["action_mask"])[0])
    env.step(kind(action))
    assert env.states[0]["decisions"] == 1


def test_raw_before_reset_and_after_the_end() -> None:
    env = idiot_env.raw_env(players=2)
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.state):
        with pytest.raises(RuntimeError, match="reset"):
            call()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="'player_2' is not at the table: the agents are player_0, player_1"):
        env.observe("player_2")
    play(env, np.random.default_rng(0))
    with pytest.raises(IllegalAction, match="the game is over"):
        env.step(0)


def wrapped(*arguments: Any, **keywords: Any) -> Any:
    """The raw environment in PettingZoo's own wrappers."""
    env: Any = idiot_env.raw_env(*arguments, **keywords)
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=aec.ILLEGAL_REWARD)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


def outcome(call: Callable[[], Any]) -> Any:
    """What a call answers, warns of or raises."""
    EnvLogger.flush()
    try:
        answer = call()
    except Exception as error:
        # PettingZoo's wrapper is vague about the exception for calls before reset; what counts is that there is one.
        return type(error) if isinstance(error, AssertionError | ValueError) else Exception
    return answer, tuple(EnvLogger.mqueue)


@pytest.mark.parametrize("seed", range(30))
def test_one_layer_is_as_safe_as_the_three_of_pettingzoo(seed: int) -> None:
    """Side by side: sensible calls, illegal and impossible actions, and steps after the end."""
    rng = np.random.default_rng(seed)
    rules, players = random_table(rng)
    ours, theirs = idiot_env.env(rules, players, max_decisions=60), wrapped(rules, players, max_decisions=60)
    for env in (ours, theirs):
        env.reset(seed=seed)
    steps_after_the_end = 0
    while steps_after_the_end < 2:
        assert ours.agents == theirs.agents
        assert ours.agent_selection == theirs.agent_selection
        steps_after_the_end += not ours.agents
        if ours.agents:
            mine, other = ours.last(), theirs.last()
            assert mine[1:] == other[1:]
            for name in ("terminations", "truncations", "rewards", "infos"):
                assert getattr(ours, name) == getattr(theirs, name)
            ended = mine[2] or mine[3]
            assert not ended or not mine[0]["action_mask"].any()
            if not ended:
                assert flat(mine[0]) == flat(other[0])
            action: Any = None if ended else draw(rng, mine[0]["action_mask"])
        if not ours.agents or rng.random() < 0.02:
            action = rng.choice(np.flatnonzero(ours.observe("player_0")["action_mask"] == 0))
        if rng.random() < 0.02:
            action = N_ACTIONS if action is not None else None
        assert outcome(lambda: ours.step(action)) == outcome(lambda: theirs.step(action))  # noqa: B023


def test_calls_before_reset_are_refused_as_pettingzoo_does() -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda env: env.step(0),
        lambda env: env.observe("player_0"),
        lambda env: env.render(),
        lambda env: env.state(),
        lambda env: env.agent_iter(),
    ]
    for make in (idiot_env.env, wrapped):
        env = make()
        for call in calls:
            with pytest.raises(AssertionError, match="reset"):
                call(env)
        with pytest.raises(AssertionError, match="reset") if make is idiot_env.env else pytest.raises(AttributeError):
            env.last()
        for name in ("rewards", "terminations", "truncations", "infos", "agent_selection", "num_agents", "agents"):
            with pytest.raises(AttributeError):
                getattr(env, name)
        with pytest.raises(ValueError, match="unknown reset option"):
            idiot_env.env().reset(options={"color": 1})


def test_a_reset_that_failed_is_no_reset() -> None:
    env = idiot_env.env()
    with pytest.raises(ValueError, match="unknown reset option"):
        env.reset(options={"color": 1})
    with pytest.raises(AssertionError, match="reset"):
        env.step(0)


def test_an_illegal_action_ends_the_game_for_all() -> None:
    env = idiot_env.env(players=3)
    env.reset(seed=1)
    play(env, np.random.default_rng(0), 10)
    offender = env.agent_selection
    env.step(int(np.flatnonzero(env.observe(offender)["action_mask"] == 0)[0]))
    log = play(env, np.random.default_rng(0))
    assert log == [(agent, -1.0 if agent == offender else 0.0, True, True) for agent in env.possible_agents]
    env.reset()
    assert len(play(env, np.random.default_rng(0))) > 3


def test_a_loop_that_does_not_step_is_noticed() -> None:
    env = idiot_env.env()
    env.reset()
    with pytest.raises(AssertionError, match="need to call step"):
        for _ in env.agent_iter():
            pass


# --- looking on ------------------------------------------------------------------------------------------------------


def test_anybody_can_be_observed_at_any_moment() -> None:
    rng = np.random.default_rng(12)
    for _ in range(25):
        rules, players = random_table(rng)
        env = idiot_env.raw_env(rules, players, max_decisions=200)
        env.reset(seed=int(rng.integers(1000)))
        done = False
        while not done:
            done = any(env.terminations.values()) or any(env.truncations.values())
            for seat, agent in enumerate(env.possible_agents):
                seen = env.observe(agent)
                assert env.observation_space(agent).contains(seen)
                assert (seen["observation"] == observe(env.states, seat)).all()
                on_turn = agent == env.agent_selection and not done
                assert seen["action_mask"].any() == on_turn
                assert (env.view(agent).observation == seen["observation"]).all()
            if not done:
                env.step(draw(rng, env.observe(env.agent_selection)["action_mask"]))


def test_observations_may_be_kept() -> None:
    env = idiot_env.raw_env()
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(20):
        seen = env.last()[0]
        kept.append((seen, flat(seen)))
        env.step(draw(rng, seen["action_mask"]))
    assert all(flat(seen) == before for seen, before in kept)
    seen = env.last()[0]
    seen["action_mask"][:] = 1
    seen["observation"][:] = 9
    assert (env.last()[0]["observation"] != 9).any(), "nor does scribbling on them reach the environment"
    assert not env.last()[0]["action_mask"].all()


def test_rendering_without_a_mode_only_warns() -> None:
    env = idiot_env.raw_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_render_shows_the_agent_to_act_and_what_happened() -> None:
    env = idiot_env.env("standard swap=never", 3, render_mode="ansi")
    env.reset(seed=0)
    assert env.unwrapped.last_event is None
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    event = env.unwrapped.last_event
    assert event is not None
    text = env.render()
    assert f"> {env.agent_selection} (you)" in text
    assert f"player_{event.seat}".capitalize() + " lays" in text
    env.unwrapped.render_lang = "no"
    assert "legger" in env.render()


# --- the full truth --------------------------------------------------------------------------------------------------


def test_the_documented_layout_of_the_truth_is_the_real_one() -> None:
    documented = (truth.__doc__ or "").split("<layout>")[1].split("</layout>")[0].strip()
    assert documented == layout_table(truth.LAYOUT)


def test_the_truth_tells_everything() -> None:
    """The vector read back by hand gives the referee's snapshot."""
    rng = np.random.default_rng(21)
    for _ in range(30):
        rules, players = random_table(rng)
        game = Game(rules, players, seed=int(rng.integers(1000)))
        for _ in range(120):
            if game.over:
                break
            game.apply(draw(rng, game.mask))
        vector = truth.truth(game.states)
        blocks = {name: vector[block.slice].reshape(block.shape).tolist() for name, block in truth.LAYOUT.items()}
        where, order = blocks["card_place"], blocks["card_order"]

        def ranks(place: int, where: list[int] = where, order: list[int] = order) -> str:
            cards = sorted((order[card], card) for card in range(54) if where[card] == place)
            return "".join("3456789TJQKA2*"[card // 4] for _, card in cards)

        snapshot = game.snapshot()
        assert ranks(1) == snapshot["stock"]
        assert ranks(2) == snapshot["pile"]
        assert ranks(3) == snapshot["burned"]
        assert [ranks(4 + seat) for seat in range(players)] == snapshot["hand"]
        assert [ranks(9 + seat) for seat in range(players)] == snapshot["up"]
        down = ["".join(ranks(14 + 3 * seat + slot) or "." for slot in range(3)) for seat in range(players)]
        assert down == snapshot["down"]
        turn = blocks["turn"][0]
        assert (turn - 1 if turn else None) == snapshot["turn"]
        assert ["swap", "hand", "up", "down", "over"][blocks["zone"][0]] == snapshot["phase"]
        assert [seat for _, seat in sorted(zip(blocks["place"], range(5))) if seat in snapshot["out"]] == snapshot[
            "out"
        ]
        assert [place > 0 for place in blocks["place"]] == [seat in snapshot["out"] for seat in range(5)]
        known = [card for card in range(54) if blocks["card_known"][card]]
        for seat in range(players):
            assert "".join("3456789TJQKA2*"[card // 4] for card in known if where[card] == 4 + seat) == game.known[seat]
        assert (blocks["players"][0], blocks["dealer"][0]) == (players, game.dealer)
        assert Rules.from_numbers(blocks["rules"]) == rules
        assert sum(digit * 128**place for place, digit in enumerate(blocks["decisions"])) == len(game.actions)
