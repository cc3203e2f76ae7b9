"""A trained network without torch: encoder, compiled forward pass, and the model folder.

A model is a folder of two files: ``model.safetensors`` (float32 weights) and ``model.json`` (architecture, layout hash,
rules, config, seed, versions).  Loading runs no code from either.

The encoder turns the int8 observation into float32 inputs: for the cards that one may hold or face (``THERMOMETERS``)
one input "at least k" for k = 1 … 4, for rules and places (``STEPS``) likewise up to their largest value, for
everything else the number over its range.
A model for two players reads no empty seats, and one for a single table no rules.

=================  ============================  ====================================================
tensor             shape                         layer
=================  ============================  ====================================================
``trunk.i.weight`` ``[width_i, inputs_i]``       hidden layer i, followed by ReLU
``policy.weight``  ``[A, width]``                logits of all actions
``value.weight``   ``[1, width]``                expected final reward
``belief.weight``  ``[(players − 1)·14, width]`` log odds of :mod:`idiot_agents.beliefs`; may be missing
``….bias``         ``[outputs]``                 of each of them
=================  ============================  ====================================================
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
from idiot_agents.protocol import Masks, Observations
from idiot_env._jit import jit, jit_inline
from idiot_env.actions import N_ACTIONS
from idiot_env.cards import N_RANKS
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
BELIEF = "belief."
"""What the names of the tensors begin with that only a search reads."""
SUREST = 8.0
"""Log odds beyond which no belief goes."""
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

    def __call__(self, observation: Observations) -> Floats:
        """Inputs float32 ``[B, F]`` of observations int8 ``[B, O]``."""
        entries = observation[:, self.index]
        return np.where(self.threshold < 0, entries * self.scale, entries >= self.threshold).astype(np.float32)


# --- the forward pass ------------------------------------------------------------------------------------------------
#
# Most inputs are zero, many hidden units too, and few actions are legal: to skip the rest beats dense products.
# A row gives the same bits in every batch, and no thread of a BLAS is woken.


@jit
def read_rows(observation, index, threshold, scale, weight, bias, hidden):
    """The first layer, float32 ``[B, width]``, straight from the observation: :class:`Encoder` says what it reads."""
    which, factor = np.empty(index.shape[0], np.int64), np.empty(index.shape[0], np.float32)
    for b in range(hidden.shape[0]):
        n = 0
        for f in range(index.shape[0]):
            entry = observation[b, index[f]]
            if threshold[f] < 0 and entry != 0:
                which[n], factor[n] = f, entry * scale[f]
                n += 1
            elif threshold[f] >= 0 and entry >= threshold[f]:
                which[n], factor[n] = f, 1
                n += 1
        hidden[b] = bias
        add_scaled(weight, which, factor, n, hidden[b])
        rectify(hidden[b])


@jit
def layer_rows(inputs, weight, bias, hidden):
    """A further layer, float32 ``[B, width]``."""
    which, factor = np.empty(inputs.shape[1], np.int64), np.empty(inputs.shape[1], np.float32)
    for b in range(hidden.shape[0]):
        n = 0
        for i in range(inputs.shape[1]):
            if inputs[b, i] != 0:
                which[n], factor[n] = i, inputs[b, i]
                n += 1
        hidden[b] = bias
        add_scaled(weight, which, factor, n, hidden[b])
        rectify(hidden[b])


@jit_inline
def add_scaled(weight, which, factor, n, row):
    """Add ``factor[k] · weight[which[k]]`` for k < n; eight at a time, since to load and store the row costs most."""
    k = 0
    while k + 8 <= n:
        w0, w1, w2, w3 = weight[which[k]], weight[which[k + 1]], weight[which[k + 2]], weight[which[k + 3]]
        w4, w5, w6, w7 = weight[which[k + 4]], weight[which[k + 5]], weight[which[k + 6]], weight[which[k + 7]]
        f0, f1, f2, f3 = factor[k], factor[k + 1], factor[k + 2], factor[k + 3]
        f4, f5, f6, f7 = factor[k + 4], factor[k + 5], factor[k + 6], factor[k + 7]
        for j in range(row.shape[0]):
            first = (f0 * w0[j] + f1 * w1[j]) + (f2 * w2[j] + f3 * w3[j])
            row[j] += first + ((f4 * w4[j] + f5 * w5[j]) + (f6 * w6[j] + f7 * w7[j]))
        k += 8
    while k < n:
        w0, f0 = weight[which[k]], factor[k]
        for j in range(row.shape[0]):
            row[j] += f0 * w0[j]
        k += 1


@jit_inline
def rectify(row):
    for j in range(row.shape[0]):
        row[j] = max(row[j], np.float32(0))


@jit_inline
def dot(a, b):
    """The sum of products, in eight parts that do not wait for each other."""
    zero = np.float32(0)
    s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
    i = 0
    while i + 8 <= a.shape[0]:
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        s4 += a[i + 4] * b[i + 4]
        s5 += a[i + 5] * b[i + 5]
        s6 += a[i + 6] * b[i + 6]
        s7 += a[i + 7] * b[i + 7]
        i += 8
    while i < a.shape[0]:
        s0 += a[i] * b[i]
        i += 1
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@jit
def head_rows(hidden, mask, weight, bias, outputs):
    """A linear head, float32 ``[B, n]``, where ``mask`` (int8 ``[B, n]``) is 1; other entries are left as they are."""
    for b in range(outputs.shape[0]):
        for k in range(outputs.shape[1]):
            if mask[b, k] == 1:
                outputs[b, k] = bias[k] + dot(hidden[b], weight[k])


@jit
def softmax_rows(logits, mask, temperature, slip, probabilities):
    """See :func:`masked_softmax`; reads the logits of legal actions alone."""
    for b in range(logits.shape[0]):
        best = np.float32(-np.inf)
        for action in range(mask.shape[1]):
            probabilities[b, action] = 0
            if mask[b, action] == 1:
                best = max(best, logits[b, action])
        sharp, plain = 0.0, 0.0
        for action in range(mask.shape[1]):
            if mask[b, action] == 1:
                sharp += np.exp((logits[b, action] - best) / temperature)
                plain += np.exp(logits[b, action] - best)
        for action in range(mask.shape[1]):
            if mask[b, action] == 1:
                below = logits[b, action] - best
                probabilities[b, action] = (1 - slip) * np.exp(below / temperature) / sharp + slip * np.exp(
                    below
                ) / plain


def masked_softmax(logits: Floats, mask: Masks, temperature: float = 1.0, slip: float = 0.0) -> Floats:
    """Probabilities float32 ``[B, A]`` over the legal actions; zero elsewhere.

    Args:
        logits: float32 ``[B, A]``.
        mask: int8 ``[B, A]``, 1 for a legal action.
        temperature: above 0; less than 1 sharpens.
        slip: the share of the distribution at temperature 1 that is mixed in.
    """
    probabilities = np.empty(logits.shape, np.float32)
    softmax_rows(logits, mask, float(temperature), float(slip), probabilities)
    return probabilities


class Network:
    """Policy and value of a trained network, without torch.

    A row's results are the same bits alone and in any batch, on any processor but for the softmax's exponentials.
    """

    def __init__(self, encoder: Encoder, tensors: Mapping[str, Floats]) -> None:
        self.encoder = encoder
        self.tensors = {name: np.ascontiguousarray(tensor, dtype=np.float32) for name, tensor in tensors.items()}
        depth = sum(name.startswith("trunk.") and name.endswith(".weight") for name in tensors)
        # Rows of a hidden layer's weights belong to its inputs, rows of a head's to its outputs.
        self.trunk = [
            (np.ascontiguousarray(self.tensors[f"trunk.{i}.weight"].T), self.tensors[f"trunk.{i}.bias"])
            for i in range(depth)
        ]

    def __call__(self, observation: Observations) -> tuple[Floats, Floats]:
        """Logits float32 ``[B, A]`` and values float32 ``[B]`` of observations int8 ``[B, O]``."""
        hidden = self.hidden(observation)
        return self.logits(hidden), self.values(hidden)

    def hidden(self, observation: Observations) -> Floats:
        """The trunk's output, float32 ``[B, width]``."""
        encoder, (weight, bias) = self.encoder, self.trunk[0]
        hidden = np.empty((len(observation), len(bias)), np.float32)
        read_rows(observation, encoder.index, encoder.threshold, encoder.scale, weight, bias, hidden)
        for weight, bias in self.trunk[1:]:
            inputs, hidden = hidden, np.empty((len(observation), len(bias)), np.float32)
            layer_rows(inputs, weight, bias, hidden)
        return hidden

    def logits(self, hidden: Floats, mask: Masks | None = None) -> Floats:
        """Logits float32 ``[B, A]`` of all actions, or, with a mask, of the legal ones and −∞ elsewhere."""
        return self._head("policy", hidden, mask)

    def values(self, hidden: Floats) -> Floats:
        """Expected final rewards of the seats to act, float32 ``[B]``."""
        return self._head("value", hidden)[:, 0]

    @property
    def weights(self) -> dict[str, Floats]:
        """The tensors of policy and value: all but the belief's."""
        return {name: tensor for name, tensor in self.tensors.items() if not name.startswith(BELIEF)}

    @property
    def has_belief(self) -> bool:
        """Whether it was taught what the others tend to hold."""
        return f"{BELIEF}weight" in self.tensors

    def odds(self, hidden: Floats) -> npt.NDArray[np.float64]:
        """What :func:`~idiot_agents.beliefs.deal_by_belief` reads, float64 ``[B, players − 1, 14]``.

        Without a belief ``[B, 0, 14]``: all worlds are alike.
        """
        if not self.has_belief:
            return np.zeros((len(hidden), 0, N_RANKS))
        logits = self._head("belief", hidden).astype(np.float64)
        return np.exp(np.clip(logits, -SUREST, SUREST)).reshape(len(hidden), -1, N_RANKS)

    def with_belief(self, weight: Floats, bias: Floats) -> Network:
        """The same network with these tensors as its belief."""
        return Network(self.encoder, {**self.tensors, f"{BELIEF}weight": weight, f"{BELIEF}bias": bias})

    def _head(self, name: str, hidden: Floats, mask: Masks | None = None) -> Floats:
        weight, bias = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]
        outputs = np.full((len(hidden), len(bias)), -np.inf, np.float32)
        head_rows(hidden, np.ones(outputs.shape, np.int8) if mask is None else mask, weight, bias, outputs)
        return outputs


def fingerprints(network: Network) -> dict[str, str]:
    """Hashes under their names in cards and result files: of the weights that play, and of the belief if there is one.

    Who does not search plays the same with any belief and with none.
    """
    weights = network.weights
    belief = {name: tensor for name, tensor in network.tensors.items() if name not in weights}
    parts = {"weights_sha256": weights, "belief_sha256": belief}
    return {name: hashlib.sha256(safetensors.numpy.save(part)).hexdigest() for name, part in parts.items() if part}


def expected_shapes(encoder: Encoder, widths: list[int], belief: bool = False) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor of an architecture."""
    sizes = [encoder.size, *widths]
    shapes: dict[str, tuple[int, ...]] = {}
    for i, width in enumerate(widths):
        shapes[f"trunk.{i}.weight"], shapes[f"trunk.{i}.bias"] = (width, sizes[i]), (width,)
    shapes["policy.weight"], shapes["policy.bias"] = (N_ACTIONS, sizes[-1]), (N_ACTIONS,)
    shapes["value.weight"], shapes["value.bias"] = (1, sizes[-1]), (1,)
    if belief:
        rows = (encoder.players - 1) * N_RANKS
        shapes[f"{BELIEF}weight"], shapes[f"{BELIEF}bias"] = (rows, sizes[-1]), (rows,)
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
    """Write a model folder; ``facts`` (rules, config, seed, versions, …) go into its JSON beside the architecture.

    Facts may be the card of another model: what it says of the network itself is not taken over.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own = {
        "format": FORMAT,
        "architecture": {
            "players": network.encoder.players,
            "rules_block": network.encoder.rules,
            "memory": network.encoder.memory,
            "widths": [len(bias) for _, bias in network.trunk],
            "belief": network.has_belief,
        },
        "layout": layout_hash(),
        **fingerprints(network),
    }
    write_file(folder / WEIGHTS, safetensors.numpy.save(dict(network.tensors)))
    foreign = {key: fact for key, fact in facts.items() if key not in own and not key.endswith("_sha256")}
    write_file(folder / CARD, (json.dumps({**own, **foreign}, indent=2, ensure_ascii=False) + "\n").encode())


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
        widths = [int(width) for width in shape["widths"]]
        expected = expected_shapes(encoder, widths, bool(shape.get("belief", False)))
        tensors = safetensors.numpy.load(weights)
    except (KeyError, TypeError, ValueError, OverflowError, safetensors.SafetensorError) as error:
        raise InputError(f"{folder} is broken ({error}): train the model anew or restore its files.") from None
    found = {name: tensor.shape for name, tensor in tensors.items()}
    if found != expected:
        name = sorted(set(found.items()) ^ set(expected.items()))[0][0]
        raise InputError(f"{folder}: tensor {name} has shape {found.get(name)}, expected {expected.get(name)}.")
    for name, tensor in tensors.items():
        if tensor.dtype != np.float32:
            raise InputError(f"{folder}: tensor {name} holds {tensor.dtype}, expected float32.")
        if not np.isfinite(tensor).all():
            raise InputError(f"{folder} is broken (tensor {name} holds NaN or infinity): train the model anew.")
    return Network(encoder, tensors), card
