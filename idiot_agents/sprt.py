"""Is A better than B?  A sequential test that stops as soon as it knows, with error rates fixed before the match.

The generalised sequential probability ratio test on deals: all rotations of a deal make one number, A's mean score in
them (with two players 0, ½ or 1, and quarters where games were cut off).  Hypotheses are values of its mean, nothing is
assumed of its spread: each hypothesis gets the distribution over the values seen that explains them best (Owen 1988,
*Empirical likelihood ratio confidence intervals for a single functional*; for pairs of games: M. Van den Bergh, *The
generalized sequential probability ratio test*, which chess engines are tested with).  The test looks after every
``LOOK`` deals, the first time after ``FIRST_LOOK``, and accepts H1 when the log likelihood ratio reaches
log((1 − β) / α), H0 when it falls to log(β / (1 − α)).  The tests simulate both error rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LOOK = 32
"""Deals between two looks."""
FIRST_LOOK = 64
"""With fewer, the spread of the scores is anybody's guess."""
_UNSEEN = 1e-3
"""Weight of the scores 0 and 1 before any was seen: both hypotheses must be possible."""


@dataclass(frozen=True)
class Sprt:
    """The test's terms: mean scores under H0 and H1, and the chances of accepting the wrong one of them."""

    p0: float
    p1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.p0 < self.p1 < 1:
            raise ValueError(f"p0={self.p0:g}, p1={self.p1:g} is not possible: give 0 < p0 < p1 < 1, such as 0.5,0.52.")
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < chance < 0.5:
                raise ValueError(f"{name}={chance:g} is not possible: give a chance of error between 0 and 0.5.")

    @property
    def bounds(self) -> tuple[float, float]:
        """Log likelihood ratios at which H0 and H1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, per_deal: Floats) -> float:
        """The log likelihood ratio of H1 to H0 for scores ``[D]``."""
        values, counts = np.unique(per_deal, return_counts=True)
        return float(log_ratio(values, counts.astype(np.float64), self.p0, self.p1))

    def verdict(self, ratio: float) -> str | None:
        """``"H0"``, ``"H1"``, or ``None``: go on."""
        low, high = self.bounds
        return "H1" if ratio >= high else "H0" if ratio <= low else None


def best_weights(values: Floats, counts: Floats, mean: float) -> Floats:
    """Log probabilities ``[…, V]`` of ``values`` ``[V]`` with a given mean that make ``counts`` ``[…, V]`` most likely.

    They are counts / (n (1 + t (value − mean))) for the t that gives the mean: found by bisection, the mean being
    monotone in t between the poles.
    """
    away = values - mean
    low = np.full((*counts.shape[:-1], 1), -1.0 / away.max())
    high = np.full_like(low, -1.0 / away.min())
    for _ in range(60):
        t = (low + high) / 2
        above = (counts * away / (1 + t * away)).sum(axis=-1, keepdims=True) > 0
        low, high = np.where(above, t, low), np.where(above, high, t)
    logs: Floats = np.log(counts / counts.sum(axis=-1, keepdims=True)) - np.log1p((low + high) / 2 * away)
    return logs


def log_ratio(values: Floats, counts: Floats, p0: float, p1: float) -> Floats:
    """Log likelihood ratio of mean ``p1`` to mean ``p0``, ``[…]``, of ``counts`` ``[…, V]`` of ``values`` ``[V]``."""
    ends = np.zeros((*counts.shape[:-1], 2))
    padded = np.concatenate([values, [0.0, 1.0]])
    weights = np.concatenate([counts, ends], axis=-1) + _UNSEEN
    difference = best_weights(padded, weights, p1) - best_weights(padded, weights, p0)
    ratio: Floats = (weights * difference).sum(axis=-1)
    return ratio
