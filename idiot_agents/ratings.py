"""Ratings by maximum likelihood over all games, on the scale of Elo, anchored at greedy = 1000.

The model is Plackett–Luce (Plackett 1975, *The analysis of permutations*): whoever goes out first is drawn with odds
``10^(rating/400)`` among all at the table, the second likewise among those left, and so on.  With two players that is
Bradley–Terry.  A game in which several are left over (two idiots, or cut off by the limit) is a draw between them:
every order of theirs counts alike, half a win each between two.

All that the likelihood needs to know of any number of games is a table of **stages**: who was still there, and who went
next.  It is concave, so Newton's method finds its top in a few steps, also for every bootstrap sample.  (``choix``, the
library for this, walks through games one by one in Python and knows no draws; the tests compare with it.)

An agent that never won or never lost has no finite rating.  A prior with a standard deviation of 2,000 points keeps the
fit finite and moves no other rating by a tenth of a point.  Such an agent gets a bound instead: the rating at which
never winning (or losing) would have had a probability of 2.5 %, if each deal had been a single game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from idiot_agents.intervals import LEVEL, normal_quantile, student_quantile

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ANCHOR, ANCHOR_RATING = "greedy", 1000.0
POINTS = 400 / math.log(10)
"""Rating points per unit of log odds."""
_PRIOR = (POINTS / 2000.0) ** 2
DRAWS = 500
"""Bootstrap samples of the ratings."""


@dataclass(frozen=True)
class Rating:
    """An agent's rating and its 95 % interval, in points."""

    agent: str
    rating: float
    low: float
    high: float
    bound: str
    """``""``; or ``"≥"`` for one that never lost, ``"≤"`` for one that never won: all three numbers are the bound."""


@dataclass(frozen=True)
class Stages:
    """What many games say about K agents.

    Attributes:
        present: float ``[M, K]``, how many seats of each agent were still there.
        deal: int64 ``[E]``, the deal that each entry comes from.
        cell: int64 ``[E]``, ``K · m + winner`` for a stage with the agents of row m.
        weight: float ``[E]``, how often; fractions come from draws.
    """

    present: Floats
    deal: Ints
    cell: Ints
    weight: Floats

    @property
    def agents(self) -> int:
        return int(self.present.shape[1])

    def wins(self, deal_weights: Floats | None = None) -> Floats:
        """How often each agent went next, float ``[M, K]``; each deal counted ``deal_weights`` (``[D]``) times."""
        weight = self.weight if deal_weights is None else self.weight * deal_weights[self.deal]
        wins = np.asarray(np.bincount(self.cell, weight, self.present.size), np.float64)
        return wins.reshape(self.present.shape)


def stages_of_pattern(out: Sequence[int], left: Sequence[int], agents: int) -> dict[tuple[tuple[int, ...], int], float]:
    """Stages of one game: counts of the agents there, winner → weight.

    Args:
        out: the agents in the order in which they went out.
        left: those left over, who drew.
        agents: K.
    """
    stages: dict[tuple[tuple[int, ...], int], float] = {}

    def add(there: Sequence[int], winner: int, weight: float) -> None:
        if len(set(there)) > 1:  # among copies of one agent nothing is decided
            counts = tuple(there.count(agent) for agent in range(agents))
            stages[counts, winner] = stages.get((counts, winner), 0.0) + weight

    for k, winner in enumerate(out):
        add([*out[k:], *left], winner, 1.0)
    for size in range(2, len(left) + 1):
        ways = math.comb(len(left), size)
        for chosen in combinations(left, size):
            for winner in chosen:
                add(chosen, winner, 1.0 / (ways * size))
    return stages


def collect_stages(
    lineups: npt.NDArray[np.integer], place: npt.NDArray[np.integer], deals: npt.NDArray[np.integer], agents: int
) -> Stages:
    """The stages of G games.

    Args:
        lineups: int ``[G, P]``, the agent in each seat.
        place: int ``[G, P]``, 1 for the first out, 0 for those left over.
        deals: int ``[G]``, the deal each game was played with.
        agents: K.
    """
    players = lineups.shape[1]
    # Sorted by place, those left over last and by number: games that say the same look the same.
    order = np.argsort(np.where(place > 0, place, players + 1) * (agents + 1) + np.where(place > 0, 0, lineups), axis=1)
    rows = np.column_stack([np.take_along_axis(lineups, order, 1), (place > 0).sum(axis=1)])
    patterns, which = np.unique(rows, axis=0, return_inverse=True)
    sets: dict[tuple[int, ...], int] = {}
    cells, weights, starts = [], [], [0]
    for *seats, out in patterns.tolist():
        for (there, winner), weight in stages_of_pattern(seats[:out], seats[out:], agents).items():
            cells.append(agents * sets.setdefault(there, len(sets)) + winner)
            weights.append(weight)
        starts.append(len(cells))
    start = np.array(starts, np.int64)
    lengths = np.diff(start)[which.ravel()]
    first = np.repeat(start[which.ravel()], lengths)
    entry = first + np.arange(len(first)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return Stages(
        np.array(list(sets) or np.zeros((0, agents)), np.float64).reshape(-1, agents),
        np.repeat(np.asarray(deals, np.int64), lengths),
        np.array(cells, np.int64)[entry],
        np.array(weights, np.float64)[entry],
    )


def log_likelihood(strength: Floats, present: Floats, wins: Floats) -> float:
    """Of strengths ``[K]`` in log odds, with the prior's share."""
    top = strength.max()
    totals = np.log(present @ np.exp(strength - top)) + top
    return float(wins.sum(axis=0) @ strength - wins.sum(axis=1) @ totals - 0.5 * _PRIOR * strength @ strength)


def fit(present: Floats, wins: Floats, start: Floats | None = None) -> Floats:
    """The strengths ``[K]`` in log odds, with mean 0, that make ``wins`` ``[M, K]`` most likely: Newton's method.

    Raises:
        ArithmeticError: if a hundred steps do not reach the top, which would be a fault of the program.
    """
    agents = present.shape[1]
    strength: Floats = np.zeros(agents) if start is None else start.copy()
    value = log_likelihood(strength, present, wins)
    stages = wins.sum(axis=1)
    for _ in range(100):
        odds = present * np.exp(strength - strength.max())
        shares = odds / odds.sum(axis=1, keepdims=True)
        gradient = wins.sum(axis=0) - stages @ shares - _PRIOR * strength
        information = np.diag(stages @ shares) - shares.T @ (stages[:, None] * shares) + _PRIOR * np.eye(agents)
        step = np.linalg.solve(information, gradient)
        size = float(gradient @ step)
        if size < 1e-16 * (1 + abs(value)):
            break
        scale = min(1.0, 3.0 / float(np.abs(step).max()))
        while True:
            following = strength + scale * step
            better = log_likelihood(following, present, wins)
            if better >= value - 1e-12 * abs(value) or scale < 1e-9:
                break
            scale /= 2
        strength, value = following, better
        if size < 1e-11 * (1 + abs(value)) and scale == 1.0:
            break
    else:
        raise ArithmeticError(f"the ratings of {agents} agents from {stages.sum():.0f} stages did not converge.")
    centred: Floats = strength - strength.mean()
    return centred


def in_points(strength: Floats, anchor: int | None) -> Floats:
    """Ratings ``[K]``: the anchor, or else the mean of all, at 1000."""
    zero = strength.mean() if anchor is None else strength[anchor]
    points: Floats = ANCHOR_RATING + POINTS * (strength - zero)
    return points


def bounds(stages: Stages, wins: Floats) -> list[str]:
    """``"≥"`` and ``"≤"`` for agents that never lost, or never won, a stage against another agent."""
    marks = []
    for agent in range(stages.agents):
        there = (stages.present[:, agent] > 0) & (wins.sum(axis=1) > 0)
        won = wins[there, agent].sum()
        lost = wins[there].sum() - won
        marks.append("≤" if won == 0 < lost else "≥" if lost == 0 < won else "")
    return marks


def bounded(strength: Floats, present: Floats, wins: Floats, agent: int, mark: str, rotations: int) -> Floats:
    """Strengths ``[K]`` with that of an agent which never won (``"≤"``) or never lost (``"≥"``) at its bound.

    Its expected wins (or losses) there are so many that none at all, a Poisson event, has the tail's probability.
    """
    stages = wins.sum(axis=1) * (present[:, agent] > 0) / rotations
    low, high = float(strength.min()) - 20.0, float(strength.max()) + 20.0
    moved = strength.copy()
    for _ in range(80):
        moved[agent] = (low + high) / 2
        odds = present * np.exp(moved - moved.max())
        share = odds[:, agent] / odds.sum(axis=1)
        expected = float(stages @ (share if mark == "≤" else 1 - share))
        too_strong = expected > -math.log((1 - LEVEL) / 2)
        if too_strong == (mark == "≤"):
            high = float(moved[agent])
        else:
            low = float(moved[agent])
    return moved


def rate(
    names: Sequence[str], stages: Stages, deals: int, *, rotations: int = 1, seed: int = 0, draws: int = DRAWS
) -> list[Rating]:
    """Ratings with bootstrap intervals over deals, in the order of ``names``.

    All cells share their deals, so a resampled deal counts in every cell alike.

    Args:
        names: of the K agents.
        stages: of all games.
        deals: how many deals there are.
        rotations: games of one deal in one cell.
        seed: of the bootstrap.
        draws: bootstrap samples.
    """
    anchor = names.index(ANCHOR) if ANCHOR in names else None
    wins = stages.wins()
    strength = fit(stages.present, wins)
    points = in_points(strength, anchor)
    rng = np.random.default_rng(seed)
    sampled = np.empty((draws, len(names)))
    for draw in range(draws):
        weights = np.bincount(rng.integers(0, deals, deals), minlength=deals).astype(np.float64)
        sampled[draw] = in_points(fit(stages.present, stages.wins(weights), strength), anchor)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(sampled, [tail, 1 - tail], axis=0)
    # The percentile interval is too narrow for few deals, as the normal is against Student's t.
    wider = (
        math.sqrt(deals / (deals - 1)) * student_quantile(LEVEL, deals - 1) / normal_quantile(LEVEL) if deals > 3 else 1
    )
    marks = bounds(stages, wins)
    moved = [
        bounded(strength, stages.present, wins, i, mark, rotations) if mark else strength
        for i, mark in enumerate(marks)
    ]
    if anchor is not None and marks[anchor]:  # then everybody's distance to it is a bound
        opposite = "≤" if marks[anchor] == "≥" else "≥"
        moved = [moved[anchor]] * len(names)
        marks = ["" if i == anchor else opposite for i in range(len(names))]
    ratings = []
    for i, (name, mark) in enumerate(zip(names, marks, strict=True)):
        if mark:
            bound = float(in_points(moved[i], anchor)[i])
            ratings.append(Rating(name, bound, bound, bound, mark))
        else:
            least, most = points[i] - wider * (points[i] - low[i]), points[i] + wider * (high[i] - points[i])
            ratings.append(Rating(name, float(points[i]), float(least), float(most), ""))
    return ratings
