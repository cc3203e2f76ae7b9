"""The network in torch: MaskablePPO's policy on the encoder and trunk that ``idiot_agents.network`` plays."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from idiot_agents.network import Encoder, Network
from idiot_env.hidden import LAYOUT as HIDDEN_LAYOUT
from idiot_env.observation import OBSERVATION_SIZE

ILLEGAL = -1e8
"""The logit of an illegal action: finite, so that its zero probability times its log is zero and not undefined."""


class Evaluation(NamedTuple):
    """What a policy says of B decisions.

    Attributes:
        own: values ``[B]`` from what the seat sees.
        judged: values ``[B]`` that advantages build on: the perfect-information critic's, else the own ones.
        log_probabilities: ``[B]``, of the actions taken.
        entropies: ``[B]``.
    """

    own: torch.Tensor
    judged: torch.Tensor
    log_probabilities: torch.Tensor
    entropies: torch.Tensor


class Inputs(nn.Module):
    """An encoder in torch: float inputs ``[B, F]`` of observations."""

    def __init__(self, index: np.ndarray, threshold: np.ndarray, scale: np.ndarray) -> None:
        super().__init__()
        at_least = torch.from_numpy(threshold).float()
        self.register_buffer("index", torch.from_numpy(index), persistent=False)
        self.register_buffer("threshold", at_least, persistent=False)
        self.register_buffer("scale", torch.from_numpy(scale), persistent=False)
        self.register_buffer("scaled", at_least < 0, persistent=False)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        entries = observation[:, self.index]
        return torch.where(self.scaled, entries * self.scale, (entries >= self.threshold).float())


def hidden_layers(inputs: int, widths: list[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size, width in zip([inputs, *widths], widths, strict=False):
        layers += [nn.Linear(size, width), nn.ReLU()]
    return nn.Sequential(*layers)


class Trunk(BaseFeaturesExtractor):
    """Encoder and hidden layers, shared by policy and value.

    Args:
        widths: units of the hidden layers.
        encoder: what the network reads; whatever follows the observation in its row stays unread.
    """

    def __init__(self, space: gymnasium.spaces.Box, widths: list[int], encoder: Encoder) -> None:
        super().__init__(space, features_dim=widths[-1])
        self.encoder = encoder
        self.inputs = Inputs(encoder.index, encoder.threshold, encoder.scale)
        self.layers = hidden_layers(encoder.size, widths)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return self.layers(self.inputs(observation))


class PerfectCritic(nn.Module):
    """The value of a state that is seen whole: reads the observation and, behind it, what the seat cannot see.

    It serves training alone and is no part of the model: advantages that know the cards are less noisy.
    """

    def __init__(self, widths: list[int], encoder: Encoder) -> None:
        super().__init__()
        index, threshold, scale = [encoder.index], [encoder.threshold], [encoder.scale]
        for block in HIDDEN_LAYOUT.values():
            for level in range(1, block.high + 1):
                index.append(OBSERVATION_SIZE + np.arange(block.start, block.stop))
                threshold.append(np.full(block.size, level, np.int8))
                scale.append(np.zeros(block.size, np.float32))
        self.inputs = Inputs(np.concatenate(index), np.concatenate(threshold), np.concatenate(scale))
        self.layers = hidden_layers(sum(map(len, index)), widths)
        self.value = nn.Linear(widths[-1], 1)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return self.value(self.layers(self.inputs(observation)))


class IdiotPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy with :class:`Trunk` and linear heads.

    The calls that training spends its time in go straight to masked log-probabilities: the stock distribution is built
    and validated three times for each batch, which costs a third of all training time.  Every other call, such as
    ``get_distribution``, stays the stock one; a test compares both.

    Args:
        widths, encoder: see :class:`Trunk`.
        perfect_critic: judge positions by a :class:`PerfectCritic` of the same widths.
    """

    def __init__(
        self, *args: Any, widths: list[int], encoder: Encoder, perfect_critic: bool = False, **kwargs: Any
    ) -> None:
        self._critic_widths = widths if perfect_critic else None
        super().__init__(
            *args,
            net_arch=dict(pi=[], vf=[]),
            features_extractor_class=Trunk,
            features_extractor_kwargs=dict(widths=widths, encoder=encoder),
            **kwargs,
        )

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.critic = None
        if self._critic_widths is not None:
            self.critic = PerfectCritic(self._critic_widths, self.features_extractor.encoder)
            rate = lr_schedule(1)
            self.optimizer = self.optimizer_class(self.parameters(), lr=rate, **self.optimizer_kwargs)

    def logits_and_values(self, observation: torch.Tensor, mask: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[B, A]`` (−1e8 where illegal) and own values ``[B, 1]``."""
        features = self.extract_features(observation)
        logits = self.action_net(features)
        if mask is not None:
            legal = torch.as_tensor(mask, device=logits.device).reshape(logits.shape) > 0
            logits = torch.where(legal, logits, ILLEGAL)
        return logits, self.value_net(features)

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions ``[B]``, judged values ``[B, 1]`` and log-probabilities ``[B]``; draws by inverse transform."""
        logits, values = self.logits_and_values(obs, action_masks)
        log_probabilities = torch.log_softmax(logits, dim=1)
        if deterministic:
            actions = logits.argmax(dim=1)
        else:
            # Cheaper than multinomial or exponential noise for every action. The threshold is never 0, so that no
            # action without probability is drawn.
            cumulative = torch.softmax(logits, dim=1).cumsum(dim=1)
            threshold = (1.0 - torch.rand(len(logits), 1)) * cumulative[:, -1:]
            actions = (cumulative < threshold).sum(dim=1)
        judged = values if self.critic is None else self.critic(obs)
        return actions, judged, log_probabilities.gather(1, actions[:, None])[:, 0]

    def evaluate(self, obs: torch.Tensor, actions: torch.Tensor, action_masks: Any = None) -> Evaluation:
        logits, values = self.logits_and_values(obs, action_masks)
        log_probabilities = torch.log_softmax(logits, dim=1)
        # softmax again, not exp of the line above: exp is far slower on the very negative logs of illegal actions.
        entropies = -(torch.softmax(logits, dim=1) * log_probabilities).sum(dim=1)
        own = values[:, 0]
        judged = own if self.critic is None else self.critic(obs)[:, 0]
        return Evaluation(own, judged, log_probabilities.gather(1, actions.long()[:, None])[:, 0], entropies)

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Judged values ``[B, 1]``, log-probabilities ``[B]`` of ``actions``, and entropies ``[B]``."""
        _, judged, log_probabilities, entropies = self.evaluate(obs, actions, action_masks)
        return judged[:, None], log_probabilities, entropies

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """Judged values ``[B, 1]``."""
        return super().predict_values(obs) if self.critic is None else self.critic(obs)

    @property
    def _layers(self) -> dict[str, nn.Linear]:
        """The layers of the model by the names they have in ``idiot_agents.network``."""
        linear = [layer for layer in self.features_extractor.layers if isinstance(layer, nn.Linear)]
        named = {f"trunk.{i}": layer for i, layer in enumerate(linear)}
        return named | {"policy": self.action_net, "value": self.value_net}

    def start_from(self, network: Network) -> None:
        """Take over the weights of a model that is built alike; not its belief, which is learned at the end."""
        with torch.no_grad():
            for layer, module in self._layers.items():
                module.weight.copy_(torch.from_numpy(network.tensors[f"{layer}.weight"]))
                module.bias.copy_(torch.from_numpy(network.tensors[f"{layer}.bias"]))

    def to_network(self) -> Network:
        """A copy of the present weights as the network that plays without torch."""
        tensors = {}
        for name, layer in self._layers.items():
            tensors[f"{name}.weight"] = layer.weight.detach().cpu().numpy().copy()
            tensors[f"{name}.bias"] = layer.bias.detach().cpu().numpy().copy()
        return Network(self.features_extractor.encoder, tensors)
