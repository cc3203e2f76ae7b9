"""RLlib's side of the network: a small module that plays legal actions only, and PPO's loss on it.

An observation is one row of int8: what the seat sees, then (for a critic that sees all) what it cannot see, then the
action mask.  Encoder, trunk and heads are those of ``idiot_train.policy``, so that what is learned here is the model
that plays without torch.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import ENTROPY_KEY, POLICY_LOSS_KEY, VF_LOSS_KEY
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from ray.rllib.evaluation.postprocessing import Postprocessing
from torch import nn

from idiot_agents.network import Encoder, Network
from idiot_env.actions import N_ACTIONS
from idiot_env.hidden import HIDDEN_SIZE
from idiot_env.hidden import LAYOUT as HIDDEN_LAYOUT
from idiot_env.observation import OBSERVATION_SIZE, upper_bounds
from idiot_train.policy import ILLEGAL, PerfectCritic, Trunk

OWN_VALUES = "own_values"
"""Where a module with a perfect critic puts what its own value head says, which learns beside it."""


def row_space(perfect: bool) -> gymnasium.spaces.Box:
    """The rows that :class:`MaskedModule` reads."""
    parts = [upper_bounds(), *([upper_bounds(HIDDEN_LAYOUT)] if perfect else []), np.ones(N_ACTIONS, np.int8)]
    high = np.concatenate(parts)
    assert len(high) == OBSERVATION_SIZE + perfect * HIDDEN_SIZE + N_ACTIONS
    return gymnasium.spaces.Box(0, high, high.shape, np.int8)


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """One policy for all seats; ``model_config`` holds ``players``, ``rules``, ``memory``, ``widths``, ``perfect``."""

    def setup(self) -> None:
        super().setup()
        chosen = self.model_config
        encoder = Encoder.make(chosen["players"], chosen["rules"], chosen["memory"])
        self.trunk = Trunk(self.observation_space, chosen["widths"], encoder)
        width = chosen["widths"][-1]
        self.action_net = nn.Linear(width, N_ACTIONS)
        self.value_net = nn.Linear(width, 1)
        self.critic = PerfectCritic(chosen["widths"], encoder) if chosen["perfect"] else None
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                # As Stable-Baselines3 does it: orthogonal, hardly any preference among actions at first.
                nn.init.orthogonal_(layer.weight, 0.01 if layer is self.action_net else 2**0.5)
                nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.value_net.weight, 1.0)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        row = batch[Columns.OBS]
        features = self.trunk(row)
        logits = torch.where(row[:, -N_ACTIONS:] > 0, self.action_net(features), ILLEGAL)
        out = {Columns.EMBEDDINGS: features, Columns.ACTION_DIST_INPUTS: logits}
        if self.critic is not None:
            out[OWN_VALUES] = self.value_net(features)[:, 0]
        return out

    def compute_values(self, batch: dict[str, Any], embeddings: torch.Tensor | None = None) -> torch.Tensor:
        """Judged values ``[B]``: the perfect critic's, else the own ones."""
        row = batch[Columns.OBS]
        if self.critic is not None:
            return self.critic(row)[:, 0]
        return self.value_net(self.trunk(row) if embeddings is None else embeddings)[:, 0]

    def draw(self, row: torch.Tensor, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Legal actions ``[B]`` drawn from the policy, and their log-probabilities ``[B]``."""
        with torch.no_grad():
            logits = self._forward({Columns.OBS: row})[Columns.ACTION_DIST_INPUTS]
            cumulative = torch.softmax(logits, dim=1).cumsum(dim=1)
            # Never 0, so that no action without probability is drawn.
            threshold = (1.0 - torch.rand(len(row), 1, generator=generator)) * cumulative[:, -1:]
            actions = (cumulative < threshold).sum(dim=1)
            return actions, torch.log_softmax(logits, dim=1).gather(1, actions[:, None])[:, 0]

    @property
    def _layers(self) -> dict[str, nn.Linear]:
        """The layers of the model by the names they have in ``idiot_agents.network``."""
        linear = [layer for layer in self.trunk.layers if isinstance(layer, nn.Linear)]
        named = {f"trunk.{i}": layer for i, layer in enumerate(linear)}
        return named | {"policy": self.action_net, "value": self.value_net}

    def start_from(self, network: Network) -> None:
        """Take over the weights of a network that is built alike."""
        with torch.no_grad():
            for name, layer in self._layers.items():
                layer.weight.copy_(torch.from_numpy(network.tensors[f"{name}.weight"]))
                layer.bias.copy_(torch.from_numpy(network.tensors[f"{name}.bias"]))

    def to_network(self) -> Network:
        """A copy of the present weights as the network that plays without torch."""
        tensors = {}
        for name, layer in self._layers.items():
            tensors[f"{name}.weight"] = layer.weight.detach().cpu().numpy().copy()
            tensors[f"{name}.bias"] = layer.bias.detach().cpu().numpy().copy()
        return Network(self.trunk.encoder, tensors)


class SelfPlayLearner(PPOTorchLearner):
    """PPO's loss on masked actions, without the logits of whoever played: their log-probabilities are enough."""

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> torch.Tensor:
        module = self.module[module_id].unwrapped()
        counted = batch[Columns.LOSS_MASK]  # not the observation behind a trajectory's end

        log_probabilities = torch.log_softmax(fwd_out[Columns.ACTION_DIST_INPUTS], dim=1)
        taken = log_probabilities.gather(1, batch[Columns.ACTIONS].long()[:, None])[:, 0]
        ratio = torch.exp(taken - batch[Columns.ACTION_LOGP])
        advantages = batch[Postprocessing.ADVANTAGES]
        clipped = ratio.clamp(1 - config.clip_param, 1 + config.clip_param)
        surrogate = torch.min(advantages * ratio, advantages * clipped)[counted].mean()
        # softmax again, not exp of the logarithms: exp is far slower on the very negative ones of illegal actions.
        probabilities = torch.softmax(fwd_out[Columns.ACTION_DIST_INPUTS], dim=1)
        entropy = -(probabilities * log_probabilities).sum(dim=1)[counted].mean()

        targets = batch[Postprocessing.VALUE_TARGETS]
        values = module.compute_values(batch, embeddings=fwd_out[Columns.EMBEDDINGS])
        value_loss = (values - targets).square()[counted].mean()
        if OWN_VALUES in fwd_out:
            value_loss = value_loss + (fwd_out[OWN_VALUES] - targets).square()[counted].mean()

        coefficient = self.entropy_coeff_schedulers_per_module[module_id].get_current_value()
        logged = {POLICY_LOSS_KEY: -surrogate, VF_LOSS_KEY: value_loss, ENTROPY_KEY: entropy}
        self.metrics.log_dict(logged, key=module_id, window=1)
        return -surrogate + config.vf_loss_coeff * value_loss - coefficient * entropy
