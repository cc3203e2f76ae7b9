"""Tianshou (ran with 2.0.1): DQN learns one seat, with masks.

    pip install 'tianshou>=2' . && python -m tests.recipes.tianshou_dqn

Tianshou reads masks from an observation ``{"obs": …, "mask": …}``, so the Gymnasium view needs the wrapper below.  Its
DQN family honours them; its PPO has no place for a mask.  ``PettingZooEnv`` with ``MultiAgentOffPolicyAlgorithm`` runs,
too, but takes the next player's view for the state that follows one's own action, which spoils the targets here.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import idiot_env  # noqa: F401 - registers the environment
from idiot_agents.registry import make_agent


class MaskInObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The mask from ``info`` as part of the observation, where Tianshou looks for it."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        mask = gymnasium.spaces.MultiBinary(int(env.action_space.n))  # type: ignore[attr-defined]
        self.observation_space = gymnasium.spaces.Dict({"obs": env.observation_space, "mask": mask})

    def reset(self, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        observation, info = self.env.reset(**arguments)
        return {"obs": observation, "mask": info.pop("action_mask").astype(bool)}, info

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        seen = {"obs": observation, "mask": info.pop("action_mask").astype(bool)}
        return seen, float(reward), terminated, truncated, info


def make_env() -> gymnasium.Env[Any, Any]:
    """Two players, the other one at random; an illegal action would raise.

    A policy that always takes its best action may stall: a low limit of decisions ends such games.
    """
    env = gymnasium.make("idiot_env/Idiot-v0", opponents=make_agent("random"), players=2, max_decisions=400)
    return MaskInObservation(env)


def main(epochs: int = 2, steps: int = 10_000, games: int = 200) -> tuple[float, float]:
    """Train; the shares of games won and lost against ``random``, the rest being cut off."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002 - Tianshou draws its exploration from the global generator
    train, test = DummyVectorEnv([make_env for _ in range(8)]), DummyVectorEnv([make_env for _ in range(8)])
    train.seed(1)
    test.seed(2)
    space = make_env().observation_space["obs"]  # type: ignore[index]
    net = Net(state_shape=space.shape, action_shape=321, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(
        model=net, action_space=make_env().action_space, eps_training=0.1, eps_inference=0.01
    )
    algorithm = DQN(
        policy=policy, optim=AdamOptimizerFactory(lr=5e-4), gamma=0.99, n_step_return_horizon=5, target_update_freq=250
    )
    collector = Collector[CollectStats](
        algorithm, train, VectorReplayBuffer(100_000, len(train)), exploration_noise=True
    )
    collector.reset()
    collector.collect(n_step=2_000)
    judge = Collector[CollectStats](algorithm, test)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=judge,
            max_epochs=epochs,
            epoch_num_steps=steps,
            collection_step_num_env_steps=16,
            test_step_num_episodes=len(test),
            batch_size=128,
            update_step_num_gradient_steps_per_sample=0.2,
        )
    )
    judge.reset()
    returns = np.asarray(judge.collect(n_episode=games).returns)
    return float((returns > 0).mean()), float((returns < 0).mean())


if __name__ == "__main__":
    won, lost = main(*map(int, sys.argv[1:]))
    print(f"DQN won {100 * won:.1f} % and lost {100 * lost:.1f} % of its games against random")
