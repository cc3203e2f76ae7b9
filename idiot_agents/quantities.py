"""Intervals of quantities that are no shares: means of counts, ratios, quantiles, the longest, paired differences.

As everywhere, the deal is the unit (``intervals.py``, which knows about shares).  Means and differences have the same
bootstrap of the studentised mean; a ratio is taken as the mean of what is left over, num − ratio · den (the first term
of its Taylor series).  Quantiles have the exact interval between two of the sorted values, which assumes nothing about
how the values are spread (Wilks, "Order statistics", 1948).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idiot_agents.intervals import DRAWS, FEW, LEVEL, estimate, resampled_moments, studentised

MEDIAN_DRAWS = 1000

Numbers = npt.NDArray[np.floating] | npt.NDArray[np.integer] | npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Quantity:
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


def mean(values: Numbers, seed: int = 0) -> Quantity:
    """The mean over deals of ``[D]`` numbers.

    Where a few deals stand against the rest, the studentised mean knows no end; the plain bootstrap's stands for it.
    """
    numbers = np.asarray(values, np.float64)
    value = float(numbers.mean())
    if len(numbers) < 2 or np.ptp(numbers) == 0:
        return Quantity(value, value, value)
    low, high = studentised(numbers, seed)
    if not (math.isfinite(low) and math.isfinite(high)):
        plain_low, plain_high = np.quantile(
            resampled_moments(numbers, DRAWS, np.random.default_rng(seed))[0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        )
        low, high = (one if math.isfinite(one) else float(other) for one, other in
                     ((low, plain_low), (high, plain_high)))  # fmt: skip
    return Quantity(value, low, high)


def difference(values: Numbers, others: Numbers, seed: int = 0) -> Quantity:
    """The mean of ``values − others``, ``[D]`` each, on the same deals."""
    return mean(np.asarray(values, np.float64) - np.asarray(others, np.float64), seed)


def share_difference(values: Numbers, others: Numbers, seed: int = 0) -> Quantity:
    """:func:`difference` of shares that lie at most 1 apart: where few deals differ, from the intervals of how much is
    gained and how much is lost, which know that what was not seen may yet be."""
    apart = np.asarray(values, np.float64) - np.asarray(others, np.float64)
    if np.count_nonzero(apart) >= 2 * FEW:
        return mean(apart, seed)
    gained, lost = estimate(np.maximum(apart, 0), seed), estimate(np.maximum(-apart, 0), seed)
    return Quantity(float(apart.mean()), gained.low - lost.high, gained.high - lost.low)


def median_difference(values: Numbers, others: Numbers, seed: int = 0) -> Quantity:
    """The median of ``values`` less that of ``others``, ``[D]`` each, on the same deals: percentile bootstrap."""
    one, two = np.asarray(values, np.float64), np.asarray(others, np.float64)
    rng, apart = np.random.default_rng(seed), np.empty(MEDIAN_DRAWS)
    for draw in range(MEDIAN_DRAWS):
        deals = rng.integers(0, len(one), len(one))
        apart[draw] = np.median(one[deals]) - np.median(two[deals])
    low, high = np.quantile(apart, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Quantity(float(np.median(one) - np.median(two)), float(low), float(high))


def ratio(over: Numbers, under: Numbers, seed: int = 0) -> Quantity | None:
    """``over`` for each of ``under``, ``[D]`` each, such as cards for each take; ``None`` where there is none."""
    counts = np.asarray(under, np.float64)
    if counts.sum() == 0:
        return None
    value = float(np.asarray(over, np.float64).sum() / counts.sum())
    left_over = mean((over - value * counts) / counts.mean(), seed)
    return Quantity(value, value + left_over.low, value + left_over.high)


def _at_most(trials: int, chance: float) -> npt.NDArray[np.float64]:
    """The probability of at most k events in so many trials, float64 ``[trials + 1]``, for 0 < ``chance`` < 1."""
    k = np.arange(trials + 1)
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    log_ways = log_factorials[trials] - log_factorials - log_factorials[::-1]
    return np.cumsum(np.exp(log_ways + k * np.log(chance) + (trials - k) * np.log1p(-chance)))


def quantile(values: Numbers, share: float, largest: float) -> Quantity:
    """The value that a share of all games stays at or below.

    Args:
        values: ``[D]``, none below zero.
        share: between 0 and 1; 1 − 1/D or more is the largest of D values, which estimates the quantile 1 − 1/D.
        largest: what no value can exceed; the interval ends there if the values tell no more.
    """
    ordered = np.sort(np.asarray(values, np.float64))
    n = len(ordered)
    if n == 1:
        return Quantity(float(ordered[0]), 0.0, largest)
    share = min(share, 1 - 1 / n)
    at_most = _at_most(n, share)
    tail = (1 - LEVEL) / 2
    # The values at places low and high (from 1 on) enclose the quantile unless fewer than low, or at least high, of all
    # values lie below it.
    low = int(np.searchsorted(at_most, tail, side="right"))
    high = int(np.searchsorted(at_most, 1 - tail)) + 1
    return Quantity(
        float(ordered[int(np.ceil(share * n)) - 1 if share < 1 - 1 / n else n - 1]),
        float(ordered[low - 1]) if low > 0 else 0.0,
        float(ordered[high - 1]) if high <= n else largest,
    )
