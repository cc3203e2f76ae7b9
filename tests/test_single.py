"""Gymnasium's view: its own checker is content, the games are those of Game, and no mask fails a sampler."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from idiot_agents.compiled import CompiledAgent
from idiot_env import Game, IllegalAction, Rules, View
from idiot_env.actions import N_ACTIONS
from idiot_env.batched import game_seed, show_row
from idiot_env.observation import OBSERVATION_SIZE, determinize, observe
from idiot_env.seats import LearnerSeats, show_ends
from idiot_env.single import IdiotEnv, IdiotVectorEnv
from tests.moments import TABLES

GREEDY = CompiledAgent("greedy")


def make(**arguments: Any) -> IdiotEnv:
    return gymnasium.make("idiot_env/Idiot-v0", **arguments)  # type: ignore[return-value]


def play(env: IdiotEnv, seed: int, episodes: int = 1) -> Iterator[tuple[Any, ...]]:
    """Everything that resets and steps hand out while the action space draws the learner's actions."""
    env.action_space.seed(int(seed))
    for episode in range(episodes):
        observation, info = env.reset(seed=seed if episode == 0 else None)
        yield observation, info
        ended = False
        while not ended:
            step = env.step(env.action_space.sample(mask=info["action_mask"]))
            _, _, terminated, truncated, info = step
            ended = terminated or truncated
            yield step


# --- Gymnasium's own checks ------------------------------------------------------------------------------------------


class FirstLegal(IdiotEnv):
    """For the checker, which draws without a mask: an illegal id stands for the first legal one, so that it plays."""

    def step(self, action: Any) -> tuple[Any, ...]:
        return super().step(action if self._mask[action] else int(self._mask.argmax()))


@pytest.mark.parametrize(("rules", "players"), TABLES)
def test_check_env(rules: str, players: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        check_env(make(rules=rules, players=players, illegal="forfeit"), skip_render_check=True)
        warnings.filterwarnings("ignore", message=".*does not have a spec|.*not having a spec")
        for _ in range(3):
            check_env(FirstLegal(GREEDY, rules=rules, players=players), skip_render_check=True)


def test_check_env_with_every_render_mode(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        check_env(make(illegal="forfeit", render_mode="ansi"))
    assert "player" in capsys.readouterr().out


def test_made_bare() -> None:
    env = make(opponents=GREEDY)
    assert type(env) is IdiotEnv, "a wrapper would hide action_masks()"
    assert env.observation_space.shape == (OBSERVATION_SIZE,)
    wrapped = gymnasium.wrappers.RecordEpisodeStatistics(env)
    _, info = wrapped.reset(seed=1)
    assert (wrapped.get_wrapper_attr("action_masks")() == info["action_mask"]).all()
    vector = gymnasium.make_vec("idiot_env/Idiot-v0", 3, opponents=GREEDY, rules="norsk", players=2)
    assert type(vector) is IdiotVectorEnv
    assert vector.num_envs == 3
    assert gymnasium.spec("idiot_env/Idiot-v0").make(players=2).players == 2


def test_registering_costs_no_import() -> None:
    code = "import sys, idiot_env, gymnasium; gymnasium.spec('idiot_env/Idiot-v0')"
    code += "; print('idiot_env.single' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# --- the same games as everywhere else -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "players", "limit"),
    [("standard", 2, 2000), ("norsk", 4, 2000), ("familie losers=2 skip_same=yes", 5, 2000), ("standard", 3, 30)],
)
def test_as_in_game_and_learner_seats(rules: str, players: int, limit: int) -> None:
    """Nobody plays at random, so a single game and a batch of one need no stream."""
    careful = CompiledAgent("careful")
    table: dict[str, Any] = {"rules": rules, "players": players, "max_decisions": limit}
    env = IdiotEnv(careful, **table)
    seats = LearnerSeats(1, [careful], **table)
    losers = Rules.parse(rules).losers
    ends = {"out": 0, "lost": 0, "cut": 0}
    for episode in range(25):
        observation, info = env.reset(seed=11 if episode == 0 else None)
        batch = seats.reset([11]) if episode == 0 else seats._outputs()
        if limit == 2000:
            assert env.deal_seed == int(game_seed(np.int64(11), np.int64(episode)))
        game, me = Game(rules, players, seed=env.deal_seed, max_decisions=limit), env.seat
        ended, reward = False, 0.0
        while True:
            while game.turn not in (None, me) and me not in game.out:
                game.apply(careful.act(game.view(game.turn)))
            assert (observation == observe(game.states, me)).all()
            settled = game.over or me in game.out
            assert ended == settled
            if settled:
                break
            assert (info["action_mask"] == game.mask).all()
            assert (batch.observation[0] == observation).all()
            assert (batch.mask[0] == info["action_mask"]).all()
            action = GREEDY.act(View(observation, info["action_mask"], me))
            game.apply(action)
            observation, reward, terminated, truncated, info = env.step(action)
            batch = seats.step(np.array([action]))
            assert (reward, terminated, truncated) == (batch.reward[0], batch.terminated[0], batch.truncated[0])
            ended = terminated or truncated
        kind = "out" if me in game.out else "cut" if game.truncated else "lost"
        ends[kind] += 1
        assert (terminated, truncated) == (kind != "cut", kind == "cut")
        assert reward == pytest.approx({"out": losers / (players - losers), "lost": -1.0, "cut": 0.0}[kind])
    assert ends["cut"] > 5 if limit == 30 else min(ends["out"], ends["lost"]) > 1


def sync(n: int, **arguments: Any) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: IdiotEnv(**arguments) for _ in range(n)], autoreset_mode=AutoresetMode.SAME_STEP)


@pytest.mark.parametrize(
    "arguments",
    [
        {"opponents": None, "players": 2},
        {"opponents": [GREEDY, CompiledAgent("random")], "shares": [1, 2], "rules": "norsk", "max_decisions": 60},
        {"opponents": lambda observation, mask: int(mask.argmax()), "players": 3, "seat": 1, "max_decisions": 100},
    ],
)
def test_the_vector_env_is_many_single_ones(arguments: dict[str, Any]) -> None:
    """Equal to Gymnasium's own vector of single environments in everything it hands out, infos and dtypes included."""
    ours, theirs = IdiotVectorEnv(5, **arguments), sync(5, **arguments)
    assert ours.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    streams = np.arange(5, dtype=np.int64)
    finals = 0
    for reset in (3, [9, 8, 7, 6, 5], None):
        mine, other = ours.reset(seed=reset), theirs.reset(seed=reset)
        assert data_equivalence(mine, other, exact=True)
        for _ in range(120):
            actions = GREEDY.act_batch(mine[0], ours.action_masks(), streams)
            mine, other = ours.step(actions), theirs.step(actions)
            infos, expected = mine[4], other[4]
            assert infos.keys() == expected.keys()
            for key in ("final_obs", "_final_obs"):
                assert key in infos or not (mine[2] | mine[3]).any()
                for a, b in zip(infos.pop(key, ()), expected.pop(key, ())):
                    assert a is b is None or (a == b).all()
                    finals += key == "final_obs" and a is not None
            assert data_equivalence(mine, other, exact=True)
            assert ours.observation_space.contains(mine[0])
            assert mine[4]["action_mask"].any(axis=1).all()
    assert finals > 10


def test_rows_may_have_their_own_tables() -> None:
    env = IdiotVectorEnv(3, GREEDY, rules=["standard", "norsk", "familie"], players=[2, 3, 5])
    env.reset(seed=4)
    seen = [View(row, mask, 0) for row, mask in zip(env.seats.observation, env.action_masks())]
    assert [view.players for view in seen] == [2, 3, 5]
    assert [str(view.rules) for view in seen] == ["standard", "norsk", "familie"]


def test_gymnasiums_vector_wrappers() -> None:
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(IdiotVectorEnv(8, players=2))
    _, infos = env.reset(seed=1)
    episodes = 0
    for _ in range(150):
        _, _, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        if terminated.any():
            assert set(infos["episode"]["r"][terminated]) <= {-1.0, 1.0}
            episodes += int(terminated.sum())
    assert episodes > 3


def test_nobody_named_is_random_play() -> None:
    for named, nobody in zip(play(make(opponents=CompiledAgent("random")), 5, 3), play(make(), 5, 3)):
        assert data_equivalence(named, nobody, exact=True)


# --- masks and actions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [2000, 40])
def test_masks_never_fail_a_sampler(limit: int) -> None:
    env = make(opponents=GREEDY, rules="norsk", players=3, max_decisions=limit)
    for seed in range(8):
        last = None
        for observation, *rest in play(env, seed, 3):
            mask = rest[-1]["action_mask"]
            assert mask.dtype == np.int8
            assert mask.any(), "all zeros turn a softmax into NaN"
            assert (env.action_masks() == mask).all()
            assert env.observation_space.contains(observation)
            if len(rest) > 1 and (rest[1] or rest[2]):
                assert (mask == last).all(), "the end repeats the last decision's mask"
                assert not env.view().action_mask.any()
                with pytest.raises(ResetNeeded):
                    env.step(int(mask.argmax()))
            last = mask


@pytest.mark.parametrize("action", [-1, N_ACTIONS, "illegal", None, 0.0, "play 3", True, np.array([1, 2]), 10**30])
def test_an_illegal_action_changes_nothing(action: Any) -> None:
    env = make()
    env.reset(seed=2)
    if isinstance(action, str) and action == "illegal":
        action = int(np.flatnonzero(env.action_masks() == 0)[0])
    before, twin = pickle.dumps(env), copy.deepcopy(env)
    with pytest.raises(IllegalAction, match=r"is not legal for seat \d: legal are "):
        env.step(action)
    assert pickle.dumps(env) == before
    legal = int(env.action_masks().argmax())
    assert data_equivalence(env.step(legal), twin.step(np.int64(legal)), exact=True)


def test_an_illegal_action_may_forfeit() -> None:
    env = make(illegal="forfeit")
    first, info = env.reset(seed=2)
    observation, reward, terminated, truncated, after = env.step(int(info["action_mask"].argmin()))
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (observation == first).all()
    assert (after["action_mask"] == info["action_mask"]).all()
    with pytest.raises(ResetNeeded):
        env.step(int(info["action_mask"].argmax()))
    env.reset()


def test_an_illegal_row_stops_all_rows() -> None:
    env = IdiotVectorEnv(3, GREEDY)
    _, infos = env.reset(seed=1)
    before = pickle.dumps(env)
    actions = infos["action_mask"].argmax(axis=1)
    actions[1] = infos["action_mask"][1].argmin()
    with pytest.raises(IllegalAction, match="game 1"):
        env.step(actions)
    with pytest.raises(ValueError, match="whole numbers"):
        env.step(actions.astype(float))
    assert pickle.dumps(env) == before


def test_before_the_first_reset() -> None:
    for env in (make(), IdiotVectorEnv(2)):
        with pytest.raises(ResetNeeded):
            env.step(0)
    with pytest.raises(ResetNeeded):
        make(render_mode="ansi").render()


# --- opponents -------------------------------------------------------------------------------------------------------


class Passive:
    """An agent of one view at a time."""

    name = "passive"

    def act(self, view: View) -> int:
        return int(view.legal[-1])


def test_kinds_of_opponents() -> None:
    def last_legal(observation: Any, mask: Any) -> Any:
        action = np.flatnonzero(mask)[-1]
        observation[:], mask[:] = 0, 0  # its own copies
        return action

    kinds: list[Any] = [Passive(), last_legal, [Passive()], (last_legal, Passive())]
    runs = [list(play(make(opponents=kind, players=3, seat=1), 6, 2)) for kind in kinds[:3]]
    for other in runs[1:]:
        assert data_equivalence(runs[0], other, exact=True)
    assert len(list(play(make(opponents=kinds[3]), 1))) > 1


@pytest.mark.parametrize("failure", [ZeroDivisionError, IllegalAction])
def test_an_opponent_fails(failure: type[Exception]) -> None:
    calls = []

    def opponent(observation: Any, mask: Any) -> int:
        calls.append(1)
        if len(calls) == 20:
            return int(mask.argmin()) if failure is IllegalAction else 1 // 0
        return int(mask.argmax())

    env, vector = make(opponents=opponent, seat=0), IdiotVectorEnv(2, opponent)
    env.reset(seed=1)
    seen: list[Any] = []

    def learner() -> None:
        for _ in range(100):
            seen.append(env.view().observation)
            env.step(int(env.action_masks().argmax()))

    def learners() -> None:
        for _ in range(100):
            vector.step(vector.action_masks().argmax(axis=1))

    with pytest.raises(failure):
        learner()
    assert (env.view().observation == seen[-1]).all(), "what the failed opponent saw stays its own"
    with pytest.raises(ResetNeeded):
        env.step(int(env.action_masks().argmax()))
    env.reset()
    env.step(int(env.action_masks().argmax()))
    calls.clear()
    vector.reset(seed=1)
    with pytest.raises(failure):
        learners()
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        vector.step(vector.action_masks().argmax(axis=1))
    vector.reset()
    vector.step(vector.action_masks().argmax(axis=1))


# --- reset, copies, rendering ----------------------------------------------------------------------------------------


def test_seeds() -> None:
    def run(env: IdiotEnv, seed: int) -> list[Any]:
        return list(play(env, seed, 3))

    env = make(players=5)
    first = run(env, 4)
    assert data_equivalence(first, run(env, 4), exact=True)
    assert data_equivalence(first, run(make(players=5), np.int64(4)), exact=True)
    assert not data_equivalence(first[0], run(env, 5)[0], exact=True)
    unseeded = [make(), make()]
    for env in unseeded:
        env.reset()
    assert unseeded[0].deal_seed != unseeded[1].deal_seed


def test_a_reset_in_mid_game_deals_the_next() -> None:
    env = make()
    env.reset(seed=7)
    env.step(int(env.action_masks().argmax()))
    env.reset()
    assert env.deal_seed == int(game_seed(np.int64(7), np.int64(1)))


def test_reset_options() -> None:
    env = make(opponents=GREEDY, players=3, rules="standard swap=never")
    deck = Game("standard swap=never", 3, seed=99).deck
    env.reset(seed=1, options={"dealer": 2, "deck": deck})
    game = Game("standard swap=never", 3, deck=deck, dealer=2)
    while game.turn != env.seat:
        game.apply(GREEDY.act(game.view(game.turn)))
    assert (env.view().observation == observe(game.states, env.seat)).all()
    plain = make(opponents=GREEDY, players=3, rules="standard swap=never")
    plain.reset(seed=1)
    assert data_equivalence(env.reset(), plain.reset(), exact=True), "options are for one game"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"options": {"rules": "norsk"}}, "unknown reset option 'rules': the options are dealer, deck"),
        ({"options": {"dealer": 4}}, "dealer=4"),
        ({"options": {"deck": ["6S"]}}, "the deck is wrong"),
        ({"options": "deck"}, "options='deck'"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"seed": True}, "seed=True"),
    ],
)
def test_bad_resets_are_refused(arguments: dict[str, Any], message: str) -> None:
    env = make()
    env.reset(seed=1)
    before = pickle.dumps(env)
    with pytest.raises(ValueError, match=message):
        env.reset(**arguments)
    assert pickle.dumps(env) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"options": {"reset_mask": np.ones(2, bool)}}, "unknown reset option 'reset_mask': there are none"),
        ({"seed": [1]}, "1 seeds"),
        ({"seed": [1, -2]}, "seed=-2"),
        ({"seed": "ab"}, "seed='a'"),
    ],
)
def test_bad_resets_of_the_vector_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IdiotVectorEnv(2).reset(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": "greedy"}, r'pass idiot_agents\.registry\.make_agent\("greedy"\)'),
        ({"opponents": ["greedy"]}, r'make_agent\("greedy"\)'),
        ({"opponents": []}, "name at least one"),
        ({"opponents": 3}, "3 is no opponent"),
        ({"opponents": [None]}, "None is no opponent"),
        ({"opponents": Passive}, "pass an instance"),
        ({"opponents": GREEDY, "shares": [1, 2]}, "shares="),
        ({"rules": "nosuch"}, "nosuch"),
        ({"players": 6}, "6"),
        ({"players": 2, "seat": 2}, "seat=2"),
        ({"seat": True}, "seat=True"),
        ({"seat": 1.0}, "seat=1.0"),
        ({"max_decisions": 0}, "max_decisions=0"),
        ({"render_mode": "svg"}, "ansi, human, rgb_array"),
        ({"illegal": "ignore"}, "raise, forfeit"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IdiotEnv(**arguments)
    if arguments.keys().isdisjoint({"render_mode", "illegal"}):
        with pytest.raises(ValueError, match=message):
            IdiotVectorEnv(2, **arguments)


@pytest.mark.parametrize("n", [0, -1, True, 1.0])
def test_bad_numbers_of_games_are_refused(n: Any) -> None:
    with pytest.raises(ValueError, match=f"num_envs={n}"):
        IdiotVectorEnv(n)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_alone(copied: Any) -> None:
    env = make(players=3, opponents=[CompiledAgent("random"), GREEDY])
    env.reset(seed=3)
    for _ in range(4):
        env.step(int(env.action_masks().argmax()))
    twins = [copied(env), copied(env)]
    runs = []
    for one in (*twins, env):
        info = {"action_mask": one.action_masks()}
        run: list[Any] = [one.view().observation]
        for _ in range(60):
            step = one.step(int(info["action_mask"].argmax()))
            run.append(step)
            info = step[4]
            if step[2] or step[3]:
                _, info = one.reset()
        runs.append(run)
    assert data_equivalence(runs[0], runs[1], exact=True)
    assert data_equivalence(runs[0], runs[2], exact=True)
    vector = IdiotVectorEnv(4, GREEDY, max_decisions=40)
    vector.reset(seed=1)
    twin = copied(vector)
    for _ in range(20):
        actions = vector.action_masks().argmax(axis=1)
        assert data_equivalence(vector.step(actions)[:4], twin.step(actions)[:4], exact=True)


def test_games_cut_off_before_the_learner_acts_are_not_shown() -> None:
    env = make(players=5, rules="standard swap=never", max_decisions=2, seat=3)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        assert info["action_mask"].any()
        steps = 0
        while True:
            _, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            steps += 1
            if terminated or truncated:
                break
        assert truncated
        assert reward == 0
        assert steps <= 2


def test_rows_wait_for_the_next_game_on_request() -> None:
    seats = LearnerSeats(6, [GREEDY], players=2, autoreset=False)
    seats.reset(5)
    done = np.zeros(6, bool)
    for _ in range(2000):
        shown, dealt = seats.observation.copy(), seats.batch.seeds.copy()
        step = seats.step(seats.mask.argmax(axis=1))
        assert not (done & (step.terminated | step.truncated)).any(), "an end is told once"
        assert not step.reward[done].any()
        assert (step.observation[done] == shown[done]).all()
        assert (seats.batch.seeds == dealt).all()
        done |= step.terminated | step.truncated
        assert (step.mask.any(axis=1) == ~done).all()
        if done.all():
            break
    assert done.all()
    again = np.array([1, 4])
    step = seats.next_games(again)
    assert np.flatnonzero(step.mask.any(axis=1)).tolist() == again.tolist()


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    env = make(render_mode="ansi", seat=2)
    env.reset(seed=1)
    assert "player 2 (you)" in env.render()
    assert "legal" in env.render()
    env.render_lang = "no"
    assert "(du)" in env.render()
    picture = make(render_mode="rgb_array")
    picture.reset(seed=1)
    assert picture.render().dtype == np.uint8
    assert capsys.readouterr().out == ""
    human = make(render_mode="human", illegal="forfeit")
    human.reset(seed=1)
    assert human.render() is None
    human.step(-1)
    assert capsys.readouterr().out.count("stock") == 3
    with pytest.warns(UserWarning, match="render"):
        make().render()


# --- secrecy ---------------------------------------------------------------------------------------------------------


def handed_out(env: IdiotEnv) -> list[Any]:
    """What the learner can get from an environment as it stands, computed afresh from the game's state."""
    batch = env.seats.batch
    if env._ended:
        show_ends(env._rows, batch.states, env.seats.learner, batch.observation)
    else:
        show_row(batch.states, 0, batch.observation, batch.mask, batch.seat)
        env._mask[:] = batch.mask[0]
    env._observation[:] = batch.observation[0]
    observation, info = env._show()
    given = [observation, info, env.action_masks(), env.view().observation, env.view().action_mask, env.render()]
    with pytest.raises((IllegalAction, ResetNeeded)) as refused:
        env.step(-1)
    return [*given, str(refused.value), env.seat]


def worlds_apart(env: IdiotEnv, rng: np.random.Generator) -> bool:
    """Whether anything that is handed out changes when all that the learner cannot know is dealt afresh."""
    other = copy.deepcopy(env)
    other.seats.batch.states[:] = determinize(env.seats.batch.states, env.seat, rng)
    return not data_equivalence(handed_out(copy.deepcopy(env)), handed_out(other), exact=True)


def test_nothing_tells_what_the_learner_cannot_know() -> None:
    rng = np.random.default_rng(8)
    checked = 0
    for rules, players in TABLES[::3]:
        env = make(opponents=GREEDY, rules=rules, players=players, render_mode="ansi")
        for step in play(env, players, 2):
            if rng.random() < 0.1 or env._ended:
                checked += 1
                assert not worlds_apart(env, rng)
                assert set(step[-1]) == {"action_mask"}
    assert checked > 30


def test_a_leak_would_be_found() -> None:
    class Leaks(IdiotEnv):
        def _show(self) -> tuple[Any, dict[str, Any]]:
            observation, info = super()._show()
            return observation, info | {"next": int(self.seats.batch.states[0]["stock"][0])}

    env = Leaks(render_mode="ansi")
    env.reset(seed=1)
    assert any(worlds_apart(env, np.random.default_rng(seed)) for seed in range(3))


def test_what_is_handed_out_may_be_kept_and_changed() -> None:
    env, clean = IdiotVectorEnv(4, GREEDY, max_decisions=30), IdiotVectorEnv(4, GREEDY, max_decisions=30)
    env.reset(seed=1), clean.reset(seed=1)
    for _ in range(30):
        actions = clean.action_masks().argmax(axis=1)
        dirty, kept = env.step(actions), clean.step(actions)
        assert data_equivalence(dirty[:4], kept[:4], exact=True)
        for array in (*dirty[:4], dirty[4]["action_mask"], env.action_masks()):
            array[:] = 0
        for last in dirty[4].get("final_obs", ()):
            if last is not None:
                last[:] = 0


# --- sb3-contrib -----------------------------------------------------------------------------------------------------


def test_maskable_ppo() -> None:
    """It plays legal actions only: the environment raises for any other."""
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.evaluation import evaluate_policy
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    env = make(opponents=GREEDY, players=2)
    assert is_masking_supported(env)
    model = sb3_contrib.MaskablePPO("MlpPolicy", env, n_steps=128, batch_size=64, n_epochs=1, seed=1, device="cpu")
    model.learn(384)
    fresh = make(opponents=GREEDY, players=2)
    rewards, lengths = evaluate_policy(
        model, fresh, n_eval_episodes=8, deterministic=False, return_episode_rewards=True, warn=False
    )
    assert set(rewards) <= {-1.0, 1.0}
    assert min(lengths) > 3
    observation, _ = fresh.reset(seed=2)
    action, _ = model.predict(observation, action_masks=get_action_masks(fresh))
    assert fresh.action_masks()[action] == 1
