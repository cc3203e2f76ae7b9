"""Training configurations: typed, validated YAML in ``configs/``; ``--set key=value`` changes single keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from idiot_agents.errors import InputError
from idiot_env import Rules

SELF = "self"
"""The opponent that is a frozen copy of the learner."""


class TrainConfig(BaseModel):
    """Everything that a training run depends on.  Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(pattern=r"^\w[\w.-]*$")
    seed: int = Field(0, ge=0, lt=2**32)
    threads: int = Field(1, ge=1, le=256, description="torch threads; two collapse when anything else runs")

    rules: str = "standard"
    players: int = Field(2, ge=2, le=5)
    max_decisions: int = Field(2000, ge=1)
    opponents: dict[str, float] = Field(
        default_factory=lambda: {SELF: 1.0}, description="share of opponent seats by agent; self is a frozen copy"
    )
    teach: Literal["one_seat", "all_seats"] = Field(
        "all_seats", description="who fills the buffer: one learner seat per game, or every seat that plays the policy"
    )
    refresh_rollouts: int = Field(1, ge=1, description="rollouts between refreshes of the frozen copy")

    decisions: int = Field(ge=1, description="the learner's own decisions")
    games: int = Field(256, ge=1, le=2**20, description="games side by side: rows of the vector environment")
    horizon: int = Field(64, ge=1, description="decisions of each row in a rollout")
    epochs: int = Field(3, ge=1)
    minibatch: int = Field(2048, ge=2)
    learning_rate: float = Field(5e-4, gt=0)
    final_learning_rate: float = Field(0.0, ge=0, description="reached linearly at the end")
    clip: float = Field(0.2, gt=0)
    entropy: float = Field(0.02, ge=0)
    final_entropy: float = Field(0.002, ge=0, description="reached linearly at the end")
    gamma: float = Field(0.999, gt=0, le=1)
    gae_lambda: float = Field(0.95, ge=0, le=1)
    value_weight: float = Field(0.5, ge=0)
    max_gradient: float = Field(0.5, gt=0)
    widths: list[int] = Field(default_factory=lambda: [256, 256], min_length=1)

    evaluations: int = Field(10, ge=0, description="points of the learning curve")
    evaluation_deals: int = Field(500, ge=2)
    keep_checkpoints: int = Field(3, ge=0)
    bench: list[str] = Field(default_factory=lambda: ["greedy"], description="agents that the finished model meets")
    bench_deals: int = Field(10_000, ge=2)

    @model_validator(mode="after")
    def _consistent(self) -> TrainConfig:
        Rules.parse(self.rules).check_players(self.players)
        if not self.opponents or min(self.opponents.values()) < 0 or sum(self.opponents.values()) <= 0:
            raise ValueError(f"opponents={self.opponents!r} is not possible: give shares of at least 0, one above it")
        if self.minibatch > self.games * self.horizon:
            raise ValueError(
                f"minibatch={self.minibatch} is not possible: a rollout has games × horizon = "
                f"{self.games * self.horizon} decisions"
            )
        if not 1 <= min(self.widths) <= max(self.widths) <= 2**14:
            raise ValueError(f"widths={self.widths!r} is not possible: every hidden layer has 1 to {2**14} units")
        return self


def make_config(values: dict[str, Any]) -> TrainConfig:
    """A configuration from plain values.

    Raises:
        InputError: naming the first key that is unknown or out of range.
    """
    try:
        return TrainConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        if first["type"] in ("extra_forbidden", "invalid_key"):
            raise InputError(f"unknown key {key!r}: the keys are {', '.join(TrainConfig.model_fields)}.") from None
        message = first["msg"].removeprefix("Value error, ")
        if not key:
            raise InputError(f"{message.rstrip('.')}.") from None
        got = "" if first["type"] == "missing" else f"={first['input']!r}"
        raise InputError(f"{key}{got} is not possible: {message[0].lower()}{message[1:].rstrip('.')}.") from None


def shipped_configs() -> dict[str, Path]:
    """The configurations that come with Idiot, by name: ``configs/`` in a clone, inside this package in a wheel."""
    here = Path(__file__).resolve().parent
    folder = next((f for f in (here / "configs", here.parent / "configs") if f.is_dir()), here)
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def config_path(name: str) -> Path:
    """The file that ``name`` stands for: a shipped configuration by its bare name, else a path.

    Raises:
        InputError: for a bare word that is neither.
    """
    path, shipped = Path(name), shipped_configs()
    if name in shipped:
        return shipped[name]
    if path.suffix or len(path.parts) > 1 or path.is_file():
        return path
    names = ", ".join(shipped)
    raise InputError(f"unknown configuration {name!r}: give the path of a YAML file, or the shipped {names}.")


def load_config(path: Path, changes: list[str]) -> TrainConfig:
    """A configuration from a YAML file with changes such as ``["decisions=1000", "widths=[64, 64]"]``."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the configuration {path} cannot be read ({error.strerror}).") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise InputError(f"the configuration {path} is not YAML.") from None
    if not isinstance(values, dict):
        raise InputError(f"the configuration {path} is no list of keys and values.")
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise InputError(f"{change!r} is not a changed key: write key=value, such as decisions=100000.")
        try:
            values[key] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise InputError(f"{change!r} is not a changed key: {text!r} is not YAML.") from None
    return make_config(values)
