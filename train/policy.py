"""The network in torch: MaskablePPO's policy on the encoder and trunk that ``agents.network`` plays in NumPy."""

from __future__ import annotations

from typing import Any

import gymnasium
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from agents.network import Encoder, Network


class Trunk(BaseFeaturesExtractor):
    """Encoder and hidden layers, shared by policy and value.

    Args:
        widths: units of the hidden layers.
        players, rules_block: what the encoder reads, see ``agents.network.Encoder``.
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
    """MaskablePPO's policy with :class:`Trunk` and linear heads."""

    def __init__(self, *args: Any, widths: list[int], players: int, rules_block: bool, **kwargs: Any) -> None:
        super().__init__(
            *args,
            net_arch=dict(pi=[], vf=[]),
            features_extractor_class=Trunk,
            features_extractor_kwargs=dict(widths=widths, players=players, rules_block=rules_block),
            **kwargs,
        )

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
