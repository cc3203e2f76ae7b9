"""MaskablePPO with a collector and an update of our own: no dictionaries, no per-row Python, a critic that may see all.

The algorithm is that of MaskablePPO: clipped surrogate, entropy bonus, squared value error, advantages normalised in
each minibatch.  With a perfect-information critic the own value head learns the same returns beside it, for the model
that is shipped.
"""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import explained_variance
from torch.nn import functional

from idiot_train.policy import IdiotPolicy
from idiot_train.vec_env import LearnerVecEnv


class SelfPlayPPO(MaskablePPO):
    """Learns with :class:`idiot_train.policy.IdiotPolicy` on :class:`idiot_train.vec_env.LearnerVecEnv`."""

    policy: IdiotPolicy

    def collect_rollouts(
        self, env: Any, callback: Any, rollout_buffer: Any, n_rollout_steps: int, use_masking: bool = True
    ) -> bool:
        """Fill the buffer with ``n_rollout_steps`` decisions of every row; False if the callback stops it."""
        if not isinstance(env, LearnerVecEnv) or not use_masking:
            raise ValueError("SelfPlayPPO learns on a LearnerVecEnv, with masks.")
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        for _ in range(n_rollout_steps):
            mask = env.action_masks()
            with torch.no_grad():
                actions, values, log_probabilities = self.policy(torch.from_numpy(self._last_obs), action_masks=mask)
            chosen = actions.numpy()
            observation, reward, done = env.advance(chosen)
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            rollout_buffer.add(
                self._last_obs,
                chosen[:, None],
                reward,
                self._last_episode_starts,
                values,
                log_probabilities,
                action_masks=mask,
            )
            self._last_obs, self._last_episode_starts = observation, done
        with torch.no_grad():
            values = self.policy.predict_values(torch.from_numpy(self._last_obs))
        rollout_buffer.compute_returns_and_advantage(last_values=values, dones=self._last_episode_starts)
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """Update the weights from the buffer."""
        policy = self.policy
        policy.set_training_mode(True)
        self._update_learning_rate(policy.optimizer)
        clip = self.clip_range(self._current_progress_remaining)
        logged: list[torch.Tensor] = []
        for _ in range(self.n_epochs):
            for batch in self.rollout_buffer.get(self.batch_size):
                seen = policy.evaluate(batch.observations, batch.actions.flatten(), batch.action_masks)
                advantages = batch.advantages
                advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
                log_ratio = seen.log_probabilities - batch.old_log_prob
                ratio = log_ratio.exp()
                surrogate = torch.min(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip)).mean()
                value_loss = functional.mse_loss(seen.judged, batch.returns)
                if policy.critic is not None:
                    value_loss = value_loss + functional.mse_loss(seen.own, batch.returns)
                entropy = seen.entropies.mean()
                loss = -surrogate - self.ent_coef * entropy + self.vf_coef * value_loss
                policy.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(policy.parameters(), self.max_grad_norm)
                policy.optimizer.step()
                with torch.no_grad():
                    divergence = (ratio - 1 - log_ratio).mean()  # http://joschu.net/blog/kl-approx.html
                    clipped = ((ratio - 1).abs() > clip).float().mean()
                    logged.append(torch.stack([loss, surrogate, value_loss, entropy, divergence, clipped]))
            self._n_updates += 1
        names = ("loss", "surrogate", "value_loss", "entropy", "approx_kl", "clip_fraction")
        for name, mean in zip(names, torch.stack(logged).mean(dim=0).tolist(), strict=True):
            self.logger.record(f"train/{name}", mean)
        explained = explained_variance(self.rollout_buffer.values.flatten(), self.rollout_buffer.returns.flatten())
        self.logger.record("train/explained_variance", float(explained))
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
