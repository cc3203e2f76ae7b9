"""Random tables and random moments of games, for tests that must hold everywhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from idiot_env import Game, Rules
from idiot_env import actions as A
from idiot_env.rules import OPTIONS, PRESETS

TABLES = [(name, players) for name in PRESETS for players in (2, 3, 4, 5)]


def random_rules(rng: np.random.Generator, players: int) -> Rules:
    """Any possible combination of options for so many players."""
    while True:
        rules = Rules(**{name: values[int(rng.integers(len(values)))] for name, values in OPTIONS.items()})  # type: ignore[arg-type]
        try:
            rules.check_players(players)
        except ValueError:
            continue
        return rules


def random_table(rng: np.random.Generator) -> tuple[Rules, int]:
    """Half of the time one of the four tables, else any combination of options."""
    players = int(rng.integers(2, 6))
    if rng.random() < 0.5:
        return Rules.preset(str(rng.choice(list(PRESETS)))), players
    return random_rules(rng, players), players


def draw(rng: np.random.Generator, mask: npt.NDArray[np.int8]) -> int:
    """A random legal action; exchanges, of which there are so many, and taking are rarer than the rest."""
    legal = np.flatnonzero(mask)
    weights = np.ones(len(legal))
    weights[(legal >= A.SWAP) & (legal < A.STACK)] = 0.1
    weights[(legal >= A.TAKE) & (legal < A.FLIP)] = 0.3
    return int(rng.choice(legal, p=weights / weights.sum()))


def games(rng: np.random.Generator, n: int) -> Iterator[Game]:
    """``n`` freshly dealt games at random tables."""
    for _ in range(n):
        rules, players = random_table(rng)
        yield Game(rules, players, seed=int(rng.integers(2**62)))


def moments(rng: np.random.Generator, n_games: int, share: float, limit: int = 400) -> Iterator[Game]:
    """Games at random moments of random tables, one after the other; about ``share`` of all decisions, and each end."""
    for game in games(rng, n_games):
        while not game.over and len(game.actions) < limit:
            if rng.random() < share:
                yield game
            game.apply(draw(rng, game.mask))
        yield game
