"""Intervals: what they are for easy samples, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from idiot_agents.intervals import Estimate, estimate, exact, normal_quantile, resampled_moments, student_quantile
from tests.coverage import DISTRIBUTIONS, coverage


def test_quantiles() -> None:
    assert normal_quantile(0.95) == pytest.approx(1.95996, abs=1e-5)
    assert student_quantile(0.95, 5) == pytest.approx(2.5706, abs=5e-3)
    assert student_quantile(0.95, 30) == pytest.approx(2.0423, abs=1e-4)


def test_the_exact_interval() -> None:
    """Values of tables of Clopper and Pearson's interval."""
    assert exact(0, 100) == pytest.approx((0.0, 0.0362), abs=1e-4)
    assert exact(1, 20) == pytest.approx((0.0013, 0.2487), abs=1e-4)
    assert exact(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)
    assert exact(1, 1) == pytest.approx((0.025, 1.0))
    assert exact(1.5, 20) == (exact(1, 20)[0], exact(2, 20)[1])
    assert exact(3, 50_000)[1] == pytest.approx(1.753e-4, abs=1e-6)


def test_a_large_sample_has_the_normal_interval() -> None:
    values = np.random.default_rng(1).choice([0, 0.5, 1], 20_000, p=[0.3, 0.5, 0.2])
    half = 1.96 * values.std() / np.sqrt(20_000)
    found = estimate(values)
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half), abs=half / 10)


def test_what_was_never_seen_may_yet_come() -> None:
    assert estimate(np.zeros(100)) == Estimate(0.0, 0.0, exact(0, 100)[1])
    assert estimate(np.ones(100)) == estimate(np.zeros(100)).mirrored()
    assert (estimate(np.ones(1)).low, estimate(np.zeros(3)).low) == pytest.approx((0.025, 0.0))
    assert estimate(np.full(50, 0.5)) == Estimate(0.5, 0.5, 0.5)  # an agent against itself
    with pytest.raises(ValueError, match="no deal"):
        estimate(np.zeros(0))


def test_counting_values_is_resampling_deals() -> None:
    """Few values and many values take two roads to the same distribution."""
    few = np.random.default_rng(2).choice([0, 0.25, 0.5, 1], 100)
    many = few + np.random.default_rng(3).normal(0, 1e-9, 100)
    roads = [resampled_moments(values, 20_000, np.random.default_rng(4)) for values in (few, many)]
    for a, b in zip(*roads, strict=True):
        assert a.mean() == pytest.approx(b.mean(), abs=2e-3)
        assert a.std() == pytest.approx(b.std(), rel=0.03)


def test_mirrored() -> None:
    assert Estimate(0.25, 0.125, 0.5).mirrored() == Estimate(0.75, 0.5, 0.875)


@pytest.mark.slow
@pytest.mark.parametrize("deals", [20, 50, 200, 2000])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_interval_covers(name: str, deals: int) -> None:
    """94 to 96 %, give or take three standard errors of the simulation; never less where events are few."""
    trials = 4000
    share, few = coverage(name, deals, trials, seed=deals)
    noise = 3 * np.sqrt(0.95 * 0.05 / trials)
    assert share >= 0.94 - noise
    if not few:
        assert share <= 0.96 + noise
