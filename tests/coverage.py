"""How often the 95 % interval holds the truth: ``python -m tests.coverage`` prints the table.

The distributions of a deal's mean are those that matches gave (20,000 deals each): careful against greedy and greedy
against random for two players, careful among greedys for four, and an even pair.
"""

from __future__ import annotations

import argparse

import numpy as np

from idiot_agents.intervals import FEW, estimate, resampled_moments

DISTRIBUTIONS = {
    "careful against greedy": ([0, 0.25, 0.5, 0.75, 1], [0.325, 0.003, 0.571, 0.002, 0.099]),
    "two even agents": ([0, 0.5, 1], [0.2, 0.6, 0.2]),
    "careful among greedys, four": ([0, 0.125, 0.25, 0.5, 0.75], [0.374, 0.005, 0.467, 0.138, 0.016]),
    "nearly always one of them": ([0, 0.5, 1], [0.9, 0.095, 0.005]),
    "greedy against random": ([0, 0.5], [0.99545, 0.00455]),
}
DEALS = (20, 50, 200, 2000)


def coverage(name: str, deals: int, trials: int, seed: int) -> tuple[float, bool]:
    """Share of ``trials`` samples of ``deals`` deals whose interval holds the true mean; whether events are few."""
    values, chances = (np.array(column, np.float64) for column in DISTRIBUTIONS[name])
    truth = float(values @ chances / chances.sum())
    rng = np.random.default_rng(seed)
    hits = 0
    for trial in range(trials):
        found = estimate(rng.choice(values, deals, p=chances / chances.sum()), seed=trial, draws=1000)
        hits += found.low <= truth <= found.high
    decided = deals * min(chances[values > 0].sum(), chances[values < 1].sum())
    return hits / trials, bool(decided < 3 * FEW and decided < deals / 2)


def percentile_coverage(name: str, deals: int, trials: int, seed: int) -> float:
    """The same of the plain percentile bootstrap, for comparison."""
    values, chances = (np.array(column, np.float64) for column in DISTRIBUTIONS[name])
    truth = float(values @ chances / chances.sum())
    rng = np.random.default_rng(seed)
    hits = 0
    for trial in range(trials):
        sample = rng.choice(values, deals, p=chances / chances.sum())
        low, high = np.quantile(resampled_moments(sample, 1000, np.random.default_rng(trial))[0], [0.025, 0.975])
        hits += low <= truth <= high
    return hits / trials


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=4000)
    trials = parser.parse_args().trials
    print("| a deal's mean | deals | arena's interval | percentile bootstrap |\n|---|---|---|---|")
    for name in DISTRIBUTIONS:
        for deals in DEALS:
            share, few = coverage(name, deals, trials, seed=deals)
            plain = percentile_coverage(name, deals, trials, seed=deals)
            print(f"| {name} | {deals:,} | {share:.1%}{' (few events)' if few else ''} | {plain:.1%} |", flush=True)


if __name__ == "__main__":
    main()
