"""A run's whole state in one file, so that a stopped run goes on as if it had never stopped.

``state.safetensors`` holds arrays (weights, the optimiser's moments, the games on the tables, opponents' weights,
torch's random state) and, as its metadata, JSON (counters, the curve, the order generator).  It is written whole or not
at all and never runs code when read, unlike a pickle.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
import torch

from idiot_agents.errors import InputError
from idiot_agents.network import Network, write_file
from idiot_env.seats import LearnerSeats
from idiot_train.learner import SelfPlayPPO
from idiot_train.opponents import FrozenCopy, Opponents

FORMAT = "idiot-run/1"
STATE_FILE = "state.safetensors"
Arrays = dict[str, np.ndarray]

_SEATS = ("learner", "opponent", "streams", "met", "lost_to", "_shares")
_BATCH = ("tables", "states", "row_seeds", "episodes", "seeds", "observation", "mask", "seat")


def _bytes(array: np.ndarray) -> np.ndarray:
    """An array as plain bytes: safetensors knows no structured types."""
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


def _games(seats: LearnerSeats) -> Arrays:
    arrays = {f"seats.{name}": getattr(seats, name) for name in _SEATS}
    return arrays | {f"batch.{name}": getattr(seats.batch, name) for name in _BATCH}


def _networks(opponents: Opponents) -> dict[str, FrozenCopy]:
    return {"copy": opponents.copy} | {f"past{k}": past for k, past in enumerate(opponents.past)}


def save_state(path: Path, learner: SelfPlayPPO, opponents: Opponents, facts: Mapping[str, Any]) -> None:
    """Write the state between two rollouts; ``facts`` is what the caller wants back from :func:`load_state`."""
    arrays: Arrays = {"torch_random": torch.get_rng_state().numpy()}
    for name, tensor in learner.policy.state_dict().items():
        arrays[f"policy.{name}"] = tensor.numpy()
    for number, moments in learner.policy.optimizer.state_dict()["state"].items():
        for name, tensor in moments.items():
            arrays[f"optimizer.{number}.{name}"] = tensor.numpy()
    arrays |= {name: _bytes(array) for name, array in _games(learner.env.seats).items()}
    arrays["last_observation"], arrays["last_starts"] = learner._last_obs, learner._last_episode_starts
    for name, copy in _networks(opponents).items():
        if copy.network is not None:
            arrays |= {f"{name}.{key}": tensor for key, tensor in copy.network.tensors.items()}
    arrays["past_lost"] = opponents.lost
    header = {
        "format": FORMAT,
        "decisions": learner.num_timesteps,
        "updates": learner._n_updates,
        "taken": opponents.taken,
        "order": learner.rollout_buffer.order.bit_generator.state,
        "facts": dict(facts),
    }
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_file(path, safetensors.numpy.save(whole, {"header": json.dumps(header)}))


def load_state(path: Path, learner: SelfPlayPPO, opponents: Opponents) -> dict[str, Any]:
    """Put a state back into a learner that was made from the same configuration; returns the caller's facts.

    Raises:
        InputError: if there is no state, or one that does not fit.
    """
    try:
        with safetensors.safe_open(path, "numpy") as file:
            header = json.loads((file.metadata() or {}).get("header", "{}"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (OSError, safetensors.SafetensorError, ValueError) as error:
        raise InputError(f"{path} is no saved state ({error}): start the run anew.") from None
    if header.get("format") != FORMAT:
        raise InputError(f"{path} is not of the format {FORMAT!r}: start the run anew.")
    try:
        _restore(arrays, header, learner, opponents)
    except (KeyError, RuntimeError, ValueError) as error:
        raise InputError(f"{path} does not fit this version or configuration ({error}): start anew.") from None
    facts: dict[str, Any] = header["facts"]
    return facts


def _restore(arrays: Arrays, header: dict[str, Any], learner: SelfPlayPPO, opponents: Opponents) -> None:
    policy = learner.policy
    policy.load_state_dict({name: torch.from_numpy(arrays[f"policy.{name}"]) for name in policy.state_dict()})
    saved = policy.optimizer.state_dict()
    saved["state"] = {}
    for name, array in arrays.items():
        if name.startswith("optimizer."):
            _, number, key = name.split(".")
            saved["state"].setdefault(int(number), {})[key] = torch.from_numpy(array.copy())
    policy.optimizer.load_state_dict(saved)
    for name, array in _games(learner.env.seats).items():
        array[...] = np.frombuffer(arrays[name].tobytes(), array.dtype).reshape(array.shape)
    learner.env.seats.batch._dealt = True
    learner._last_obs, learner._last_episode_starts = arrays["last_observation"], arrays["last_starts"]
    for name, copy in _networks(opponents).items():
        prefix = f"{name}."
        tensors = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
        if tensors:
            copy.refresh(Network(policy.features_extractor.encoder, tensors))
    opponents.lost[:] = arrays["past_lost"]
    opponents.taken = header["taken"]
    learner.num_timesteps, learner._n_updates = header["decisions"], header["updates"]
    learner.rollout_buffer.order.bit_generator.state = header["order"]
    torch.set_rng_state(torch.from_numpy(arrays["torch_random"].copy()))
