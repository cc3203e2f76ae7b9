"""The tables at which a model learns: the named ones and, in a share of games, house rules drawn at random."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from idiot_env import Rules
from idiot_env.batched import TABLE, make_tables
from idiot_env.rules import OPTIONS, parse_changes
from idiot_train.config import TrainConfig

POOL = 4096
"""Tables that are drawn beforehand; every game takes one of them."""
REDRAWN = 0.35
"""Probability that an option of a table with drawn house rules is drawn anew."""


def is_held_out(rules: Rules, held_out: list[dict[str, str | int | bool]]) -> bool:
    """Whether the rules have one of the combinations."""
    options = rules.as_dict().items()
    return any(combination.items() <= options for combination in held_out)


def draw_house_rules(rng: np.random.Generator, base: Rules) -> Rules:
    """``base`` with some options drawn at random."""
    options = base.as_dict()
    for name, values in OPTIONS.items():
        if rng.random() < REDRAWN:
            options[name] = values[int(rng.integers(len(values)))]
    return Rules(**options)  # type: ignore[arg-type]


def draw_table(
    rng: np.random.Generator, config: TrainConfig, held_out: list[dict[str, str | int | bool]], inside: bool = False
) -> tuple[Rules, int]:
    """A named table with drawn house rules: without the held-out combinations, or ``inside`` them."""
    while True:
        base, players = config.tables[int(rng.integers(len(config.tables)))]
        rules = draw_house_rules(rng, base)
        if is_held_out(rules, held_out) != inside:
            continue
        try:
            return rules, rules.check_players(players)
        except ValueError:
            continue


def make_pool(config: TrainConfig) -> npt.NDArray[np.void] | None:
    """The pool ``[P]`` of ``batched.TABLE`` for a configuration; ``None`` if it has a single table."""
    if len(config.tables) == 1 and not config.house_rules:
        return None
    rng = np.random.default_rng([config.seed, 1])
    held_out = [parse_changes(text.split()) for text in config.held_out]
    chosen = []
    for k in range(POOL):
        if rng.random() < config.house_rules:
            chosen.append(draw_table(rng, config, held_out))
        else:
            chosen.append(config.tables[k % len(config.tables)])
    pool = np.zeros(POOL, TABLE)
    pool[:] = make_tables(POOL, [rules for rules, _ in chosen], [players for _, players in chosen])
    return pool


def own_tables(config: TrainConfig) -> npt.NDArray[np.void]:
    """The tables ``[P]`` of ``batched.TABLE`` that a configuration's games draw from, be it a single one."""
    pool = make_pool(config)
    return make_tables(1, *config.tables[0]) if pool is None else pool


def held_out_tables(config: TrainConfig, count: int, seed: int) -> list[tuple[Rules, int]]:
    """``count`` drawn tables with combinations that no training game had, for measuring the gap.

    Raises:
        ValueError: if nothing is held out.
    """
    if not config.held_out:
        raise ValueError("held_out=[] is not possible here: name combinations that training leaves out")
    rng = np.random.default_rng([seed, 2])
    held_out = [parse_changes(text.split()) for text in config.held_out]
    return [draw_table(rng, config, held_out, inside=True) for _ in range(count)]
