"""TorchRL: its wrappers and collectors on both environments; an illegal action would raise."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import idiot_env
from idiot_agents.compiled import CompiledAgent
from idiot_env import View
from idiot_env.observation import LAYOUT
from tests.moments import TABLES

torchrl = pytest.importorskip("torchrl", reason="needs the extra torchrl")
# These need torchrl.
import torch  # noqa: E402
from torchrl.collectors import Collector  # noqa: E402
from torchrl.envs import (  # noqa: E402
    ActionMask,
    Compose,
    DTypeCastTransform,
    GymWrapper,
    PettingZooWrapper,
    TransformedEnv,
)
from torchrl.envs.libs.gym import default_info_dict_reader  # noqa: E402
from torchrl.envs.utils import check_env_specs  # noqa: E402

# TorchRL says so of every release of PettingZoo but one.
pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version")


PLACE = LAYOUT["place"].start


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def table(rules: str, players: int, **arguments: Any) -> Any:
    """All seats; the raw environment raises for an illegal action, where the wrapped one ends the game."""
    return PettingZooWrapper(idiot_env.raw_env(rules=rules, players=players, **arguments), use_mask=True, seed=1)


def act(agent: CompiledAgent, players: int) -> Any:
    """A TorchRL policy that lets an agent act for whichever player is asked."""

    def policy(tensordict: Any) -> Any:
        for seat in range(players):
            asked = tensordict.get(f"player_{seat}")
            action = torch.zeros(1, dtype=torch.int64)
            if asked["mask"].item():
                observation, mask = asked["observation", "observation"][0].numpy(), asked["action_mask"][0].numpy()
                action[0] = agent.act(View(observation, mask.astype(np.int8), seat))
            asked["action"] = action
        return tensordict

    return policy


@pytest.mark.parametrize(("rules", "players"), TABLES[::3])
def test_specs(rules: str, players: int) -> None:
    check_env_specs(table(rules, players))


def collect_games(rules: str, players: int, games: int, policy: str, **arguments: Any) -> None:
    """Collect so many games: one player is asked at a time, rewards come at the end and sum to 0."""
    env = table(rules, players, **arguments)
    collector = Collector(env, act(CompiledAgent(policy), players), frames_per_batch=100, total_frames=-1)
    ended = went_out_before = 0
    for batch in collector:
        asked = torch.cat([batch[f"player_{seat}", "mask"] for seat in range(players)], dim=1)
        assert (asked.sum(dim=1) == 1).all()
        done = batch["next", "done"][:, 0]
        rewards = torch.cat([batch["next", f"player_{seat}", "reward"][..., 0] for seat in range(players)], dim=1)
        assert (rewards[~done] == 0).all()
        assert torch.allclose(rewards[done].sum(dim=1), torch.zeros(int(done.sum())), atol=1e-6)
        for seat in range(players):
            place = batch[f"player_{seat}", "observation", "observation"][:, 0, PLACE]
            went_out_before += int((place > 0).sum())
            assert not (asked[:, seat] & (place > 0)).any(), "who is out is not asked"
            assert (batch["next", f"player_{seat}", "done"][:, 0, 0] == done).all(), "all end together"
        ended += int(done.sum())
        if ended >= games:
            break
    collector.shutdown()
    assert (went_out_before > 0) == (players > 2)


@pytest.mark.parametrize("players", [2, 4])
def test_a_few_games_in_a_collector(players: int) -> None:
    collect_games("norsk", players, 3, "greedy")


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_two_hundred_games_in_a_collector(players: int) -> None:
    collect_games("sjanse", players, 50, "careful")


def test_random_actions_keep_to_the_masks_and_cut_games_end() -> None:
    env = table("familie", 3, max_decisions=40)
    rollout = env.rollout(100, break_when_any_done=False)
    assert int(rollout["next", "truncated"].sum()) == 2
    assert not rollout["next", "terminated"].any()
    assert all(float(rollout["next", f"player_{seat}", "reward"].abs().sum()) == 0 for seat in range(3))


def learner(**arguments: Any) -> Any:
    """One seat, as TorchRL's losses and collectors expect an environment."""
    from torchrl.data import Binary

    env = GymWrapper(gymnasium.make("idiot_env/Idiot-v0", **arguments), categorical_action_encoding=True)
    mask = {"action_mask": Binary(env.action_spec.n, dtype=torch.int8)}
    env.set_info_dict_reader(default_info_dict_reader(["action_mask"], spec=mask))
    as_bool = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    env = TransformedEnv(env, Compose(as_bool, ActionMask()))
    env.set_seed(1)
    return env


def test_one_seat() -> None:
    env = learner(opponents=CompiledAgent("greedy"), players=2)
    check_env_specs(env)
    rollout = env.rollout(300, break_when_any_done=False)
    done = rollout["next", "done"][:, 0]
    assert done.sum() > 1
    assert (rollout["next", "reward"][done].abs() == 1).all()
    assert (rollout["next", "reward"][~done] == 0).all()
    assert rollout["action_mask"].any(dim=1).all()
    assert rollout["action_mask"].gather(1, rollout["action"].reshape(-1, 1)).all()
