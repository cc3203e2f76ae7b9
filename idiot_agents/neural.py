"""An agent that plays a trained network, without torch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from idiot_agents.errors import InputError
from idiot_agents.network import Network, fingerprints, load_model, masked_softmax
from idiot_agents.protocol import Actions, Masks, Observations, Streams, fresh_streams, most_players
from idiot_agents.shipped import model_folder
from idiot_env import Rules, View
from idiot_env._jit import jit
from idiot_env.cards import advance, mix

SHARP = 0.25
"""The temperature of play: nearly the most probable action."""
SLIP = 0.1
"""How often a sharpened agent draws from its policy as it is: what keeps it from going round in circles for ever."""


@jit
def sample_rows(probabilities, mask, streams, actions):
    """Draw one legal action per row from its distribution; advances ``streams``."""
    for k in range(actions.shape[0]):
        streams[k] = advance(streams[k])
        threshold = ((mix(streams[k]) >> 11) & 0x1FFFFFFFFFFFFF) / 9007199254740992.0
        total = 0.0
        chosen = -1
        for action in range(probabilities.shape[1]):
            if mask[k, action] == 1 and probabilities[k, action] > 0.0:
                chosen = action
                total += probabilities[k, action]
                if threshold < total:
                    break
        actions[k] = chosen


class NeuralAgent:
    """Plays a network's policy.

    Args:
        network: the weights.
        name: as it appears in tables.
        temperature: 1 draws from the policy; less sharpens it (the probabilities to the power 1/temperature, made to
            sum to 1); 0 always takes the most probable action.
        slip: probability of drawing from the policy as it is all the same, where the temperature is above 0.
        seed: for :meth:`act` when drawing.
        card: the model folder's JSON, for whoever wants to show it.
        folder: where the model lies; ``None`` for weights in memory alone.
    """

    def __init__(
        self,
        network: Network,
        name: str,
        *,
        temperature: float = SHARP,
        slip: float = SLIP,
        seed: int = 0,
        card: dict[str, Any] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.network = network
        self.name = name
        self.temperature, self.slip = temperature, slip
        self.card = card or {}
        self.folder = folder
        self._streams = fresh_streams(seed, 1)

    @classmethod
    def load(
        cls, folder: str | Path, *, name: str | None = None, temperature: float = SHARP, seed: int = 0
    ) -> NeuralAgent:
        """The agent of a model folder, or of a shipped model by its name.

        Raises:
            InputError: if the folder is no model.
        """
        path = model_folder(folder)
        network, card = load_model(path)
        return cls(network, name or f"ppo:{folder}", temperature=temperature, seed=seed, card=card, folder=path)

    def fingerprint(self) -> dict[str, str]:
        """The hash of what it is made of beside its code."""
        return {name: value for name, value in fingerprints(self.network).items() if name == "weights_sha256"}

    def check_players(self, players: int) -> None:
        """Refuse a table with more seats than the network can read."""
        most = self.network.encoder.players
        if players > most:
            raise InputError(f"{self.name} was trained for at most {most} players: it cannot play with {players}.")

    def warn_of_foreign_table(self, rules: Rules) -> None:
        """Say on stderr when a model that learned one table is to play at another: it is weak there."""
        trained = self.card.get("rules")
        if isinstance(trained, str) and trained != str(rules):
            print(
                f"note: {self.name} was trained on {trained!r}; it plays {rules} as if it were that.", file=sys.stderr
            )

    def act(self, view: View) -> int:
        return int(self.act_batch(view.observation[None], view.action_mask[None], self._streams)[0])

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        self.check_players(most_players(observation))
        logits = self.network.logits(self.network.hidden(observation), mask)
        if self.temperature == 0:
            return logits.argmax(axis=1)
        actions = np.empty(len(streams), np.int64)
        probabilities = masked_softmax(logits, mask, self.temperature, self.slip)
        sample_rows(probabilities, mask, streams, actions)
        return actions

    def probabilities(self, view: View) -> npt.NDArray[np.float32]:
        """Probability of each action, float32 ``[A]``."""
        mask = view.action_mask[None]
        logits = self.network.logits(self.network.hidden(view.observation[None]), mask)
        probabilities: npt.NDArray[np.float32] = masked_softmax(logits, mask)[0]
        return probabilities

    def value(self, view: View) -> float:
        """Expected final reward of the seat to act, between −1 and its share of the gain."""
        return float(self.network.values(self.network.hidden(view.observation[None]))[0])
