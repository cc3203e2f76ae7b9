"""A trained network without torch: encoder, NumPy forward pass, and the model folder.

A model is a folder of two files: ``model.safetensors`` (float32 weights) and ``model.json`` (architecture, layout hash,
rules, config, seed, versions).  Loading runs no code from either.

The encoder turns the int8 observation into float32 inputs: for the cards that one may hold or face (``THERMOMETERS``)
one input "at least k" for k = 1 … 4, for rules and places (``STEPS``) likewise up to their largest value, for
everything else the number over its range.
A model for two players reads no empty seats, and one for a single table no rules.

=================  ======================  =======================================
tensor             shape                   layer
=================  ======================  =======================================
``trunk.i.weight`` ``[width_i, inputs_i]`` hidden layer i, followed by ReLU
``policy.weight``  ``[A, width]``          logits of all actions
``value.weight``   ``[1, width]``          expected final reward
``….bias``         ``[outputs]``           of each of them
=================  ======================  =======================================
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from idiot_agents.errors import InputError
from idiot_env._jit import jit
from idiot_env.actions import N_ACTIONS
from idiot_env.observation import LAYOUT, layout_hash
from idiot_env.rules import MAX_PLAYERS

FORMAT = "idiot-model/1"
WEIGHTS, CARD = "model.safetensors", "model.json"
Floats = npt.NDArray[np.float32]

THERMOMETERS = ("hand", "up", "opp_up", "opp_known")
STEPS = ("place", "rules")
NEED_ALL_SEATS = ("opp_up", "opp_known", "opp_hand", "opp_down", "opp_in")
TURN_IS_OWN = ("turn",)
"""Blocks that say nothing to a network that is only asked on its own turn."""
MEMORY = ("opp_known", "pile", "burned", "unseen")
"""Blocks that a person must remember; a network without memory (an ablation) does not read them."""
COUNT_SCALE = 16.0
"""Cards per unit for sizes of piles, hands and the stock."""


@dataclass(frozen=True)
class Encoder:
    """Inputs of a network from observations ``[B, O]``.

    Attributes:
        players: the largest number of players the network can read.
        rules: whether the house rules are inputs.
        memory: whether what a person must remember is.
        index: int64 ``[F]``, the entry of the observation that each input reads.
        threshold: int8 ``[F]``, an input of 1 when the entry is at least that, or −1 for a scaled number.
        scale: float32 ``[F]``, factor for scaled numbers.
    """

    players: int
    rules: bool
    memory: bool
    index: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.int8]
    scale: Floats

    @classmethod
    def make(cls, players: int, rules: bool, memory: bool = True) -> Encoder:
        rows: list[tuple[int, int, float]] = []
        for name, block in LAYOUT.items():
            if name in TURN_IS_OWN or (name == "rules" and not rules) or (name in MEMORY and not memory):
                continue
            stop = block.stop
            if name in NEED_ALL_SEATS:
                stop = block.start + block.size // (MAX_PLAYERS - 1) * (players - 1)
            elif name in ("place", "dealer"):
                stop = block.start + players
            for entry in range(block.start, stop):
                if name in THERMOMETERS or name in STEPS:
                    rows += [(entry, level, 0.0) for level in range(1, block.high + 1)]
                else:
                    rows.append((entry, -1, 1.0 / min(block.high, COUNT_SCALE)))
        index, threshold, scale = zip(*rows, strict=True)
        inputs = np.array(index, np.int64), np.array(threshold, np.int8), np.array(scale, np.float32)
        return cls(players, rules, memory, *inputs)

    @property
    def size(self) -> int:
        return len(self.index)

    def __call__(self, observation: npt.NDArray[np.int8]) -> Floats:
        """Inputs float32 ``[B, F]`` of observations int8 ``[B, O]``."""
        inputs = np.empty((len(observation), self.size), np.float32)
        encode(observation, self.index, self.threshold, self.scale, inputs)
        return inputs


@jit
def encode(observation, index, threshold, scale, inputs):
    """Write the inputs of every row."""
    for b in range(inputs.shape[0]):
        for f in range(inputs.shape[1]):
            entry = observation[b, index[f]]
            if threshold[f] < 0:
                inputs[b, f] = entry * scale[f]
            else:
                inputs[b, f] = 1.0 if entry >= threshold[f] else 0.0


def masked_softmax(logits: Floats, mask: npt.NDArray[np.int8]) -> Floats:
    """Probabilities float32 ``[B, A]`` over the legal actions; zero elsewhere."""
    legal = mask.astype(np.bool_)
    scores = np.where(legal, logits, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: Floats = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return probabilities


class Network:
    """Policy and value of a trained network, in NumPy."""

    def __init__(self, encoder: Encoder, tensors: Mapping[str, Floats]) -> None:
        self.encoder = encoder
        self.tensors = {name: np.ascontiguousarray(tensor, dtype=np.float32) for name, tensor in tensors.items()}
        depth = sum(name.startswith("trunk.") and name.endswith(".weight") for name in tensors)
        self.trunk = [self._layer(f"trunk.{i}") for i in range(depth)]
        self.policy = self._layer("policy")
        self.value = self._layer("value")

    def _layer(self, name: str) -> tuple[Floats, Floats]:
        return np.ascontiguousarray(self.tensors[f"{name}.weight"].T), self.tensors[f"{name}.bias"]

    def __call__(self, observation: npt.NDArray[np.int8]) -> tuple[Floats, Floats]:
        """Logits float32 ``[B, A]`` and values float32 ``[B]`` of observations int8 ``[B, O]``."""
        hidden = self.hidden(observation)
        return self.logits(hidden), self.values(hidden)

    def hidden(self, observation: npt.NDArray[np.int8]) -> Floats:
        """The trunk's output, float32 ``[B, width]``."""
        hidden = self.encoder(observation)
        for weight, bias in self.trunk:
            hidden = hidden @ weight
            hidden += bias
            np.maximum(hidden, 0.0, out=hidden)
        return hidden

    def logits(self, hidden: Floats) -> Floats:
        weight, bias = self.policy
        logits: Floats = hidden @ weight + bias
        return logits

    def values(self, hidden: Floats) -> Floats:
        weight, bias = self.value
        values: Floats = (hidden @ weight + bias)[:, 0]
        return values


def weights_fingerprint(network: Network) -> dict[str, str]:
    """The hash of the weights, under its name in result files: that of the model's file."""
    return {"weights_sha256": hashlib.sha256(safetensors.numpy.save(dict(network.tensors))).hexdigest()}


def expected_shapes(encoder: Encoder, widths: list[int]) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor of an architecture."""
    sizes = [encoder.size, *widths]
    shapes: dict[str, tuple[int, ...]] = {}
    for i, width in enumerate(widths):
        shapes[f"trunk.{i}.weight"], shapes[f"trunk.{i}.bias"] = (width, sizes[i]), (width,)
    shapes["policy.weight"], shapes["policy.bias"] = (N_ACTIONS, sizes[-1]), (N_ACTIONS,)
    shapes["value.weight"], shapes["value.bias"] = (1, sizes[-1]), (1,)
    return shapes


def write_file(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def save_model(folder: Path, network: Network, facts: Mapping[str, Any]) -> None:
    """Write a model folder; ``facts`` (rules, config, seed, versions, …) go into its JSON beside the architecture."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = safetensors.numpy.save(dict(network.tensors))
    card = {
        "format": FORMAT,
        "architecture": {
            "players": network.encoder.players,
            "rules_block": network.encoder.rules,
            "memory": network.encoder.memory,
            "widths": [len(bias) for _, bias in network.trunk],
        },
        "layout": layout_hash(),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        **facts,
    }
    write_file(folder / WEIGHTS, weights)
    write_file(folder / CARD, (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode())


def read_card(folder: Path) -> dict[str, Any]:
    """The JSON of a model folder.

    Raises:
        InputError: if the folder is no model of this version.
    """
    path = folder / CARD
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{folder} is not a model folder: {CARD} cannot be read ({error.strerror}).") from None
    except ValueError:
        raise InputError(f"{path} is not JSON: train the model anew or restore the file.") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise InputError(f"{path} is not of the format {FORMAT!r}.")
    if card.get("layout") != layout_hash():
        raise InputError(
            f"{folder} was trained on observation layout {card.get('layout')}, this version has {layout_hash()}: "
            "train it anew."
        )
    return card


def load_model(folder: Path) -> tuple[Network, dict[str, Any]]:
    """The network and the JSON of a model folder.

    Raises:
        InputError: if a file is missing, broken, or does not fit the architecture.
    """
    card = read_card(folder)
    try:
        weights = (folder / WEIGHTS).read_bytes()
    except OSError as error:
        raise InputError(f"{folder} is not a model folder: {WEIGHTS} cannot be read ({error.strerror}).") from None
    try:
        shape = card["architecture"]
        encoder = Encoder.make(int(shape["players"]), bool(shape["rules_block"]), bool(shape.get("memory", True)))
        expected = expected_shapes(encoder, [int(width) for width in shape["widths"]])
        tensors = safetensors.numpy.load(weights)
    except (KeyError, TypeError, ValueError, safetensors.SafetensorError) as error:
        raise InputError(f"{folder} is broken ({error}): train the model anew or restore its files.") from None
    found = {name: tensor.shape for name, tensor in tensors.items()}
    if found != expected:
        name = sorted(set(found.items()) ^ set(expected.items()))[0][0]
        raise InputError(f"{folder}: tensor {name} has shape {found.get(name)}, expected {expected.get(name)}.")
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise InputError(f"{folder} is broken (tensor {name} holds NaN or infinity): train the model anew.")
    return Network(encoder, tensors), card
