"""Training configurations: typed, validated YAML in ``configs/``; ``--set key=value`` changes single keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from idiot_agents.errors import InputError
from idiot_env import Rules
from idiot_env.rules import parse_changes

SELF, PAST = "self", "past"
"""Opponents that are no agents by name: a frozen copy of the learner, and snapshots of what it was."""


class TrainConfig(BaseModel):
    """Everything that a training run depends on.  Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(pattern=r"^\w[\w.-]*$")
    seed: int = Field(0, ge=0, lt=2**32)
    threads: int = Field(1, ge=1, le=256, description="torch threads; two collapse when anything else runs")

    rules: str | list[str] = Field("standard", description="a table, or several, of which every game draws one")
    players: int | list[int] = Field(2, description="2 to 5, or several numbers, of which every game draws one")
    house_rules: float = Field(0.0, ge=0, le=1, description="share of games whose table has options drawn at random")
    held_out: list[str] = Field(
        default_factory=list, description="combinations of options that no game has, such as 'jokers=2 stack=yes'"
    )
    max_decisions: int = Field(2000, ge=1)
    opponents: dict[str, float] = Field(
        default_factory=lambda: {SELF: 1.0},
        description="share of opponent seats by agent; self is a frozen copy, past are snapshots on the way",
    )
    past_slots: int = Field(8, ge=1, le=64, description="snapshots kept as opponents, the oldest replaced first")
    past_rollouts: int = Field(20, ge=1, description="rollouts between snapshots")
    past_priority: float = Field(
        1.0, ge=0, description="a snapshot is met in proportion to the learner's loss rate to this power; 0: evenly"
    )
    teach: Literal["one_seat", "all_seats"] = Field(
        "all_seats", description="who fills the buffer: one learner seat per game, or every seat that plays the policy"
    )
    place_reward: float = Field(
        0.0, ge=0, le=1, description="weight of one's place in the reward, beside not being the idiot; for all_seats"
    )
    cut_off_reward: float = Field(
        0.0,
        ge=-1,
        le=0,
        description="of seats still in where the limit cut the game off; below 0 stalling is no refuge",
    )
    practice: float = Field(
        0.0, ge=0, le=1, description="share of games that begin as endgames, with an empty stock; for all_seats"
    )
    refresh_rollouts: int = Field(1, ge=1, description="rollouts between refreshes of the frozen copy")

    start: str = Field(
        "", description="a model's folder, or a shipped one's name, whose weights and inputs the learner takes over"
    )
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
    memory: bool = Field(True, description="read what a person must remember; no only to see what it is worth")
    critic: Literal["own", "perfect"] = Field(
        "own", description="who judges positions in training: the model's value, or a critic that sees all cards"
    )

    evaluations: int = Field(10, ge=0, description="points of the learning curve")
    evaluation_deals: int = Field(500, ge=2, description="at every table, against every reference")
    references: list[str] = Field(
        default_factory=lambda: ["greedy"], min_length=1, description="agents that the curve is measured against"
    )
    keep_checkpoints: int = Field(3, ge=0)
    keep: Literal["best", "last"] = Field("last", description="which model is the result: the best evaluated, the last")
    save_rollouts: int = Field(20, ge=1, description="rollouts between saved states, from which --resume goes on")
    bench: list[str] = Field(default_factory=lambda: ["greedy"], description="agents that the finished model meets")
    bench_deals: int = Field(10_000, ge=2)

    @model_validator(mode="after")
    def _consistent(self) -> TrainConfig:
        if not self.table_names or not self.player_numbers:
            raise ValueError("rules=[] or players=[] is not possible: name at least one table and one number")
        held_out = [parse_changes(text.split()) for text in self.held_out]
        for rules, players in self.tables:
            rules.check_players(players)
            for text, options in zip(self.held_out, held_out, strict=True):
                if options.items() <= rules.as_dict().items():
                    raise ValueError(f"held_out={text!r} is not possible: the table {str(rules)!r} has it")
        if self.keep == "best" and not (self.evaluations and self.keep_checkpoints):
            raise ValueError("keep='best' is not possible without evaluations and keep_checkpoints of at least 1")
        if not self.opponents or min(self.opponents.values()) < 0 or sum(self.opponents.values()) <= 0:
            raise ValueError(f"opponents={self.opponents!r} is not possible: give shares of at least 0, one above it")
        for key in ("place_reward", "cut_off_reward", "practice"):
            if getattr(self, key) and self.teach != "all_seats":
                raise ValueError(f"{key}={getattr(self, key)!r} is not possible with teach={self.teach!r}: set 0")
        if self.minibatch > self.games * self.horizon:
            raise ValueError(
                f"minibatch={self.minibatch} is not possible: a rollout has games × horizon = "
                f"{self.games * self.horizon} decisions"
            )
        if PAST in self.opponents and self.opponents[PAST] == sum(self.opponents.values()):
            raise ValueError(f"opponents={self.opponents!r} is not possible: snapshots alone leave nobody at the start")
        if not 1 <= min(self.widths) <= max(self.widths) <= 2**14:
            raise ValueError(f"widths={self.widths!r} is not possible: every hidden layer has 1 to {2**14} units")
        return self

    @property
    def table_names(self) -> list[str]:
        return [self.rules] if isinstance(self.rules, str) else self.rules

    @property
    def player_numbers(self) -> list[int]:
        return [self.players] if isinstance(self.players, int) else self.players

    @property
    def tables(self) -> list[tuple[Rules, int]]:
        """Every named table with every number of players, the main one first."""
        return [(Rules.parse(name), players) for name in self.table_names for players in self.player_numbers]


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


def config_of_card(card: dict[str, Any], name: object) -> TrainConfig:
    """What a model was trained on, as its card says; ``name`` is what an error calls the model.

    Raises:
        InputError: if the card does not say it, or not as this version would.
    """
    values = card.get("config")
    if not isinstance(values, dict):
        raise InputError(f"{name} does not say what it was trained on: name a model of idiot train.")
    try:
        return make_config(values)
    except InputError as error:
        raise InputError(f"{name} was trained otherwise than this version trains: {error}") from None


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
