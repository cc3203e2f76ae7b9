"""sb3-contrib as it comes, on the fast ``VecEnv``: masks in learning, ``predict``, evaluation and the callback.

Every action is checked: ``LearnerSeats`` raises for an illegal one.  The same on the Gymnasium view: test_single.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from idiot_agents.compiled import CompiledAgent
from idiot_env.game import IllegalAction
from idiot_env.seats import LearnerSeats
from idiot_train.vec_env import LearnerVecEnv


def fast(n: int, seed: int, players: int = 3) -> LearnerVecEnv:
    seats = LearnerSeats(n, [CompiledAgent("greedy")], rules="norsk", players=players, max_decisions=300)
    return LearnerVecEnv(seats, seed)


def untrained(env: LearnerVecEnv) -> MaskablePPO:
    return MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=1, device="cpu")


def test_learning_with_masks(tmp_path: Path) -> None:
    env = fast(8, 1)
    assert is_masking_supported(env)
    model = untrained(env)
    callback = MaskableEvalCallback(fast(4, 2), n_eval_episodes=8, eval_freq=32, log_path=str(tmp_path), verbose=0)
    model.learn(1024, callback=callback)
    results = np.load(tmp_path / "evaluations.npz")["results"]
    assert results.shape[1] == 8
    assert set(np.unique(results)) <= {-1.0, 0.0, 0.5}


@pytest.mark.parametrize("deterministic", [False, True])
def test_evaluation_with_masks(deterministic: bool) -> None:
    model = untrained(fast(4, 3))
    rewards, lengths = evaluate_policy(
        model, fast(4, 4), n_eval_episodes=12, deterministic=deterministic, return_episode_rewards=True, warn=False
    )
    assert len(rewards) == 12
    assert set(rewards) <= {-1.0, 0.0, 0.5}
    assert min(lengths) > 1


def test_predictions_with_masks_are_legal_and_without_are_not() -> None:
    env = fast(64, 5)
    model, observation = untrained(env), env.reset()
    masks = get_action_masks(env)
    assert (masks == env.action_masks()).all()
    actions, _ = model.predict(observation, action_masks=masks)
    assert masks[np.arange(64), actions].all()
    env.step(actions)
    unmasked, _ = model.predict(observation)
    with pytest.raises(IllegalAction):
        env.step(unmasked)
