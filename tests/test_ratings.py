"""Ratings: planted strengths come back, draws count half, intervals cover, and a library agrees."""

from __future__ import annotations

import numpy as np
import pytest

from idiot_agents.ratings import POINTS, collect_stages, fit, in_points, rate, stages_of_pattern


def plackett_luce(rng: np.random.Generator, strength: np.ndarray, lineups: np.ndarray, out: int) -> np.ndarray:
    """Places ``[G, P]`` of games in which ``out`` players go out: the largest of strength + Gumbel noise first."""
    order = np.argsort(-(strength[lineups] + rng.gumbel(size=lineups.shape)), axis=1)
    place = np.zeros(lineups.shape, np.int64)
    np.put_along_axis(place, order[:, :out], np.arange(1, out + 1)[None], axis=1)
    return place


def pairs_and_places(rng: np.random.Generator, strength: np.ndarray, deals: int) -> tuple[np.ndarray, ...]:
    agents = len(strength)
    pairs = [(a, b) for a in range(agents) for b in range(a + 1, agents)]
    lineups = np.array([pair for pair in pairs for _ in range(deals)])
    return lineups, plackett_luce(rng, strength, lineups, 1), np.tile(np.arange(deals), len(pairs))


def test_bradley_terry_recovers_planted_ratings() -> None:
    rng = np.random.default_rng(1)
    planted = np.array([-0.8, 0.0, 0.3, 1.4])
    lineups, place, deals = pairs_and_places(rng, planted, 20_000)
    ratings = rate(["weak", "greedy", "better", "best"], collect_stages(lineups, place, deals, 4), 20_000, draws=100)
    for rating, truth in zip(ratings, 1000 + POINTS * planted, strict=True):
        assert rating.rating == pytest.approx(truth, abs=12)
        assert rating.low <= rating.rating <= rating.high < rating.low + 25
        assert rating.bound == ""
    assert (ratings[1].rating, ratings[1].low, ratings[1].high) == (1000, 1000, 1000)


@pytest.mark.parametrize("out", [1, 2, 3])
def test_plackett_luce_recovers_planted_ratings(out: int) -> None:
    """Four at a table, also with copies of one agent; fully ranked, or with two or three left over."""
    rng = np.random.default_rng(out)
    planted = np.array([-0.5, 0.0, 0.9])
    lineups = rng.integers(0, 3, (60_000, 4))
    place = plackett_luce(rng, planted, lineups, out)
    strength = fit((stages := collect_stages(lineups, place, np.arange(60_000), 3)).present, stages.wins())
    found = strength - strength[1]
    if out == 3:
        assert found == pytest.approx(planted, abs=0.03)
    else:  # draws among those left over draw the ratings together; the order stays
        assert found[0] < -0.1 < 0.2 < found[2] < 0.9


def test_the_library_agrees() -> None:
    """Up to the prior, which the library lacks."""
    choix = pytest.importorskip("choix")
    rng = np.random.default_rng(3)
    planted = np.array([-1.0, 0.2, 0.0, 0.8, 0.4])
    lineups, place, deals = pairs_and_places(rng, planted, 60)
    winners = np.take_along_axis(lineups, place.argmax(1)[:, None], 1)[:, 0]
    losers = lineups.sum(1) - winners
    theirs = choix.opt_pairwise(5, list(zip(winners.tolist(), losers.tolist(), strict=True)), tol=1e-10)
    stages = collect_stages(lineups, place, deals, 5)
    assert fit(stages.present, stages.wins()) == pytest.approx(theirs, abs=5e-4)

    lineups = np.array([rng.permutation(5)[:4] for _ in range(300)])
    place = plackett_luce(rng, planted, lineups, 3)
    ranked = np.take_along_axis(lineups, np.argsort(np.where(place > 0, place, 9), axis=1), 1)
    theirs = choix.opt_rankings(5, ranked.tolist(), tol=1e-10)
    stages = collect_stages(lineups, place, np.arange(300), 5)
    assert fit(stages.present, stages.wins()) == pytest.approx(theirs, abs=5e-4)


def test_stages_by_hand() -> None:
    assert stages_of_pattern([0], [1], 2) == {((1, 1), 0): 1.0}
    assert stages_of_pattern([], [0, 1], 2) == {((1, 1), 0): 0.5, ((1, 1), 1): 0.5}
    assert stages_of_pattern([1, 0], [0], 2) == {((2, 1), 1): 1.0}  # then copies of one agent: nothing is decided
    drawn = stages_of_pattern([2], [0, 1, 1], 3)
    assert drawn[(1, 2, 1), 2] == 1.0
    assert drawn[(1, 2, 0), 0] == pytest.approx(1 / 3)
    assert drawn[(1, 2, 0), 1] == pytest.approx(2 / 3)
    assert drawn[(1, 1, 0), 0] == pytest.approx(2 / 3 / 2)  # two of the three pairs are of both agents


def test_drawn_games_are_half_a_win_each() -> None:
    lineups = np.tile([[0, 1]], (10, 1))
    place = np.array([[1, 0]] * 6 + [[0, 0]] * 4)
    stages = collect_stages(lineups, place, np.arange(10), 2)
    strength = fit(stages.present, stages.wins())
    assert strength[0] - strength[1] == pytest.approx(np.log(8 / 2), abs=0.02)


def test_one_who_never_lost_has_a_bound() -> None:
    """a beat b 150 times, b and c are even: a's bound is where its 150 wins had a chance of 2.5 %."""
    lineups = np.tile([[0, 1], [0, 1], [0, 1], [1, 2], [1, 2]], (50, 1))
    place = np.tile([[1, 0], [1, 0], [1, 0], [0, 1], [1, 0]], (50, 1))
    stages = collect_stages(lineups, place, np.repeat(np.arange(50), 5), 3)
    best, middle, last = rate(["a", "greedy", "c"], stages, 50, draws=50)
    assert [rating.bound for rating in (best, middle, last)] == ["≥", "", ""]
    assert best.rating == best.low == best.high
    odds = 10 ** ((best.rating - middle.rating) / 400)
    assert (odds / (1 + odds)) ** 150 == pytest.approx(0.025, rel=0.05)
    assert last.rating == pytest.approx(1000, abs=1)
    # With two rotations a deal counts once, so less is sure.
    assert rate(["a", "greedy", "c"], stages, 50, rotations=2, draws=5)[0].rating < best.rating - 100
    # The same told of the one who always lost, and of all others where the anchor is the one.
    mirrored = rate(
        ["a", "greedy", "c"], collect_stages(lineups, 1 - place, np.repeat(np.arange(50), 5), 3), 50, draws=5
    )
    assert mirrored[0].bound == "≤"
    assert mirrored[0].rating == pytest.approx(2000 - best.rating)
    anchored = rate(["greedy", "b", "c"], stages, 50, draws=5)
    assert [(rating.bound, round(rating.rating)) for rating in anchored] == [
        ("", 1000),
        ("≤", round(2000 - best.rating)),
        ("≤", round(2000 - best.rating)),
    ]


def test_the_order_of_games_and_agents_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    lineups, place, deals = pairs_and_places(rng, np.array([0.0, 0.5, 1.0]), 200)
    mixed = rng.permutation(len(lineups))
    swapped = np.array([2, 0, 1])
    names = ["greedy", "b", "c"]
    there = rate(names, collect_stages(lineups, place, deals, 3), 200, draws=30)
    back = rate(
        [names[i] for i in np.argsort(swapped)],
        collect_stages(swapped[lineups[mixed]], place[mixed], deals[mixed], 3), 200, draws=30,
    )  # fmt: skip
    for rating in there:
        (other,) = (r for r in back if r.agent == rating.agent)
        assert (other.rating, other.low, other.high) == pytest.approx((rating.rating, rating.low, rating.high))


def test_without_greedy_the_mean_is_the_anchor() -> None:
    assert in_points(np.array([-1.0, 1.0]), None).mean() == pytest.approx(1000)


@pytest.mark.slow
@pytest.mark.parametrize("deals", [40, 400])
def test_rating_intervals_cover(deals: int) -> None:
    """Both seats of a deal share its luck, as in the arena."""
    rng = np.random.default_rng(deals)
    truth, trials, hits = np.array([0.0, 0.4]), 400, 0
    for trial in range(trials):
        lineups = np.tile([[0, 1], [0, 1]], (deals, 1))
        luck = np.repeat(rng.normal(0, 1.5, deals), 2) * np.tile([1, -1], deals)
        chance = 1 / (1 + np.exp(truth[1] - truth[0] + luck))
        won = rng.random(2 * deals) < chance
        place = np.column_stack([won, ~won]).astype(np.int64)
        if trial == 0:  # the rating that this luck leaves, from very many deals
            many = rng.normal(0, 1.5, 2_000_000)
            share = np.mean(1 / (1 + np.exp(truth[1] - truth[0] + many)))
            target = 1000 + POINTS * np.log((1 - share) / share)
        stages = collect_stages(lineups, place, np.repeat(np.arange(deals), 2), 2)
        rating = rate(["greedy", "other"], stages, deals, seed=trial, draws=300)[1]
        hits += rating.low <= target <= rating.high
    assert 0.92 <= hits / trials <= 0.98
