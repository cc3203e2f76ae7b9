"""Cards, card sets and the random numbers, against plain Python integers."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from idiot_env import cards as C

MASK = 2**64 - 1


def signed(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def splitmix(state: int) -> int:
    """The finaliser of splitmix64 as published, on Python integers."""
    z = state & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return signed(z ^ (z >> 31))


EDGES = [0, 1, -1, 2**63 - 1, -(2**63), 2**62, 0x0123456789ABCDEF, -0x0123456789ABCDEF]


def test_splitmix64_wraps_around_as_published() -> None:
    rng = np.random.default_rng(1)
    numbers = [*EDGES, *rng.integers(-(2**63), 2**63 - 1, 500).tolist()]
    gamma = 0x9E3779B97F4A7C15
    for number in numbers:
        assert int(C.mix(np.int64(number))) == splitmix(number)
        assert int(C.advance(np.int64(number))) == signed(number + gamma)
        expected = splitmix(splitmix(signed(number + gamma)) + 8 * gamma)
        assert int(C.stream(np.int64(number), np.int64(7))) == expected
    # The first output of the published generator from state 0.
    assert int(C.mix(C.advance(np.int64(0)))) & MASK == 0xE220A8397B1DCDAF


def test_sums_and_products_wrap_around() -> None:
    for a in EDGES:
        for b in EDGES:
            assert int(C.wrapping_sum(np.int64(a), np.int64(b))) == signed(a + b)
            assert int(C.wrapping_product(np.int64(a), np.int64(b))) == signed(a * b)


def test_card_sets_against_lists() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        held = sorted(rng.choice(54, rng.integers(0, 55), replace=False).tolist())
        bits = np.int64(C.card_set(held))
        assert C.cards_in(bits) == held
        assert C.size_of(bits) == len(held)
        counts = int(C.counts_of(bits))
        for rank in range(14):
            of_rank = [card for card in held if card // 4 == rank]
            assert C.count_rank(bits, rank) == counts >> 4 * rank & 15 == len(of_rank)
            assert C.cards_in(C.rank_set(bits, rank)) == of_rank
        assert C.lowest_rank(bits) == (held[0] // 4 if held else C.NO_RANK)
        k = int(rng.integers(0, 6))
        assert C.cards_in(C.lowest_cards(bits, k)) == held[:k]


def test_text_of_cards() -> None:
    texts = [C.card_text(card) for card in range(54)]
    assert len(set(texts)) == 54
    assert texts[:5] == ["3C", "3D", "3H", "3S", "4C"]
    assert texts[-2:] == ["*1", "*2"]
    assert [C.parse_card(text) for text in texts] == list(range(54))
    with pytest.raises(ValueError, match="'1S' is not a card"):
        C.parse_card("1S")


def test_uncompiled_the_same() -> None:
    code = (
        "import numpy as np; from idiot_env import cards as C; d = np.arange(52, dtype=np.int8);"
        "print(C.shuffle(d, 52, np.int64(-5)), d.tolist(), C.stream(np.int64(3), 4), C.below(np.int64(-9), 7))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disable in ("0", "1")
    ]
    assert said[0] == said[1] != ""
