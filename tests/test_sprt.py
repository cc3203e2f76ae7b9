"""The sequential test keeps its word: error rates by simulation, bounds, and honest bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from idiot_agents.sprt import FIRST_LOOK, LOOK, Sprt, best_weights, log_ratio


def tilted(values: np.ndarray, shape: np.ndarray, mean: float) -> np.ndarray:
    """A distribution of ``shape`` moved to ``mean``: what the truth may look like under a hypothesis."""
    return np.exp(best_weights(values, shape, mean))


def share_accepting_h1(
    sprt: Sprt, values: np.ndarray, truth: np.ndarray, matches: int, seed: int
) -> tuple[float, float]:
    """Share of simulated matches that accept H1, and mean number of deals; all of them go on until they are decided."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((matches, len(values)))
    open_, won, deals = np.ones(matches, bool), np.zeros(matches, bool), np.zeros(matches)
    low, high = sprt.bounds
    played = 0
    while open_.any():
        step = FIRST_LOOK if not played else LOOK
        counts[open_] += rng.multinomial(step, truth, open_.sum())
        played += step
        deals[open_] = played
        ratio = log_ratio(values, counts[open_], sprt.p0, sprt.p1)
        at = np.flatnonzero(open_)
        won[at[ratio >= high]] = True
        open_[at[(ratio >= high) | (ratio <= low)]] = False
        assert played < 200_000
    return float(won.mean()), float(deals.mean())


# Spreads as measured: careful against greedy; two even agents; one that nearly always wins; games cut off.
SHAPES = {
    "pairs": (0.5, 0.55, [0, 0.5, 1], [0.3, 0.55, 0.15]),
    "close": (0.5, 0.52, [0, 0.5, 1], [0.2, 0.6, 0.2]),
    "lopsided": (0.9, 0.93, [0, 0.5, 1], [0.01, 0.18, 0.81]),
    "cut off": (0.45, 0.5, [0, 0.25, 0.5, 0.75, 1], [0.2, 0.15, 0.35, 0.1, 0.2]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_error_rates_hold(name: str) -> None:
    p0, p1, values, shape = SHAPES[name]
    sprt, matches = Sprt(p0, p1, alpha=0.05, beta=0.1), 1500
    scores = np.array(values, np.float64)
    wrong, deals = share_accepting_h1(sprt, scores, tilted(scores, np.array(shape), p0), matches, 1)
    right, _ = share_accepting_h1(sprt, scores, tilted(scores, np.array(shape), p1), matches, 2)
    noise = 3 * math.sqrt(0.1 * 0.9 / matches)
    assert wrong <= 0.05 + noise * 0.73
    assert 1 - right <= 0.1 + noise
    assert wrong > 0.005  # not by never deciding
    assert deals > FIRST_LOOK


def test_far_truths_are_decided_at_once() -> None:
    sprt, values = Sprt(0.5, 0.55), np.array([0, 0.5, 1.0])
    assert share_accepting_h1(sprt, values, np.array([0.05, 0.2, 0.75]), 200, 3) == (1.0, FIRST_LOOK)
    assert share_accepting_h1(sprt, values, np.array([0.75, 0.2, 0.05]), 200, 4) == (0.0, FIRST_LOOK)


def test_the_weights_have_the_mean_and_are_the_likeliest() -> None:
    values, counts = np.array([0, 0.5, 1.0]), np.array([30.0, 50, 20])
    logs = best_weights(values, counts, 0.55)
    weights = np.exp(logs)
    assert weights.sum() == pytest.approx(1)
    assert weights @ values == pytest.approx(0.55)
    likely = counts @ logs
    for shift in (-0.01, 0.01):  # any other distribution with this mean
        other = weights + shift * np.array([1, -2, 1])
        assert counts @ np.log(other) < likely


def test_ratio_by_hand() -> None:
    """With scores 0 and 1 only, the best distribution with mean p is p itself: a plain binomial ratio."""
    scores = np.array([0.0] * 40 + [1.0] * 60)
    expected = 60 * math.log(0.6 / 0.5) + 40 * math.log(0.4 / 0.5)
    assert Sprt(0.5, 0.6).ratio(scores) == pytest.approx(expected, rel=1e-3)
    assert Sprt(0.5, 0.6).bounds == pytest.approx((math.log(0.05 / 0.95), math.log(0.95 / 0.05)))
    assert [Sprt(0.5, 0.6).verdict(x) for x in (-3, 0, 3)] == ["H0", None, "H1"]


@pytest.mark.parametrize(
    "terms", [(0.5, 0.5), (0.6, 0.5), (0.0, 0.5), (0.5, 1.0), (0.5, 0.6, 0.5), (0.5, 0.6, 0.1, 0.0)]
)
def test_impossible_terms(terms: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="is not possible"):
        Sprt(*terms)
