"""The network in torch: MaskablePPO's policy on the encoder and trunk that ``idiot_agents.network`` plays in NumPy."""

from __future__ import annotations

from typing import Any

import gymnasium
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from idiot_agents.network import Encoder, Network

ILLEGAL = -1e8
"""The logit of an illegal action: finite, so that its zero probability times its log is zero and not undefined."""


class Trunk(BaseFeaturesExtractor):
    """Encoder and hidden layers, shared by policy and value.

    Args:
        widths: units of the hidden layers.
        players, rules_block: what the encoder reads, see ``idiot_agents.network.Encoder``.
    """

    def __init__(self, space: gymnasium.spaces.Box, widths: list[int], players: int, rules_block: bool) -> None:
        super().__init__(space, features_dim=widths[-1])
        self.encoder = Encoder.make(players, rules_block)
        self.register_buffer("index", torch.from_numpy(self.encoder.index), persistent=False)
        threshold = torch.from_numpy(self.encoder.threshold).float()
        self.register_buffer("threshold", threshold, persistent=False)
        self.register_buffer("scale", torch.from_numpy(self.encoder.scale), persistent=False)
        self.register_buffer("scaled", threshold < 0, persistent=False)
        layers: list[nn.Module] = []
        for inputs, width in zip([self.encoder.size, *widths], widths, strict=False):
            layers += [nn.Linear(inputs, width), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        entries = observation[:, self.index]
        inputs = torch.where(self.scaled, entries * self.scale, (entries >= self.threshold).float())
        return self.layers(inputs)


class IdiotPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy with :class:`Trunk` and linear heads.

    The calls that training spends its time in go straight to masked log-probabilities: the stock distribution is built
    and validated three times for each batch, which costs a third of all training time.  Every other call, such as
    ``get_distribution``, stays the stock one; a test compares both.
    """

    def __init__(self, *args: Any, widths: list[int], players: int, rules_block: bool, **kwargs: Any) -> None:
        super().__init__(
            *args,
            net_arch=dict(pi=[], vf=[]),
            features_extractor_class=Trunk,
            features_extractor_kwargs=dict(widths=widths, players=players, rules_block=rules_block),
            **kwargs,
        )

    def _evaluate(self, observation: torch.Tensor, mask: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[B, A]`` (−1e8 where illegal) and values ``[B, 1]``."""
        features = self.extract_features(observation)
        logits = self.action_net(features)
        if mask is not None:
            legal = torch.as_tensor(mask, device=logits.device).reshape(logits.shape) > 0
            logits = torch.where(legal, logits, ILLEGAL)
        return logits, self.value_net(features)

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions ``[B]``, values ``[B, 1]`` and log-probabilities ``[B]``; draws by inverse transform sampling."""
        logits, values = self._evaluate(obs, action_masks)
        log_probabilities = torch.log_softmax(logits, dim=1)
        if deterministic:
            actions = logits.argmax(dim=1)
        else:
            # Cheaper than multinomial or exponential noise for every action. The threshold is never 0, so that no
            # action without probability is drawn.
            cumulative = torch.softmax(logits, dim=1).cumsum(dim=1)
            threshold = (1.0 - torch.rand(len(logits), 1)) * cumulative[:, -1:]
            actions = (cumulative < threshold).sum(dim=1)
        return actions, values, log_probabilities.gather(1, actions[:, None])[:, 0]

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values ``[B, 1]``, log-probabilities ``[B]`` of ``actions``, and entropies ``[B]``."""
        logits, values = self._evaluate(obs, action_masks)
        log_probabilities = torch.log_softmax(logits, dim=1)
        # softmax again, not exp of the line above: exp is far slower on the very negative logs of illegal actions.
        entropy = -(torch.softmax(logits, dim=1) * log_probabilities).sum(dim=1)
        return values, log_probabilities.gather(1, actions.long()[:, None])[:, 0], entropy

    def to_network(self) -> Network:
        """A copy of the present weights as the NumPy network that plays without torch."""
        trunk = self.features_extractor
        linear = [layer for layer in trunk.layers if isinstance(layer, nn.Linear)]
        named = {f"trunk.{i}": layer for i, layer in enumerate(linear)}
        named |= {"policy": self.action_net, "value": self.value_net}
        tensors = {}
        for name, layer in named.items():
            tensors[f"{name}.weight"] = layer.weight.detach().cpu().numpy().copy()
            tensors[f"{name}.bias"] = layer.bias.detach().cpu().numpy().copy()
        return Network(trunk.encoder, tensors)
