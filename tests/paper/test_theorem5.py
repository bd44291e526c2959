"""Theorem 5, p. 19: bank conflicts of an access with a stride. Erratum 7: [t, t'] has t' - t + 1 lanes, not t' - t."""

from __future__ import annotations

from collections import Counter
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.oracles.counts import gcd_lemma


def formula(k: int, length: int, banks: int) -> int:
    """ceil(length / min(length, B / gcd(k, B)))"""
    return -(-length // min(length, banks // gcd(k, banks)))


def truth(k: int, lanes: int, banks: int, c: int) -> int:
    words = {k * t + c for t in range(lanes)}
    return max(Counter(w % banks for w in words).values())


@pytest.mark.parametrize("banks", [1, 2, 3, 4, 6, 8])
def test_theorem_5_is_exact_on_small_ranges(banks: int) -> None:
    for k in range(1, 2 * banks + 2):
        for lanes in range(1, 2 * banks + 2):
            for c in range(banks):
                assert formula(k, lanes, banks) == gcd_lemma(k, lanes, banks) == truth(k, lanes, banks, c)


@given(st.integers(1, 1000), st.integers(1, 64), st.integers(1, 64), st.integers(-500, 500))
def test_theorem_5_is_exact_beyond(k: int, lanes: int, banks: int, c: int) -> None:
    assert gcd_lemma(k, lanes, banks) == truth(k, lanes, banks, c)


def test_the_print_is_one_lane_short() -> None:
    """The smallest counterexample: two banks, stride 1, lanes 0 to 2: it claims 1, they need 2 turns."""
    wrong = [
        (banks, lanes, k)
        for banks in range(2, 9)
        for lanes in range(3, 9)
        for k in range(1, 9)
        if formula(k, lanes - 1, banks) < truth(k, lanes, banks, 0)
    ]
    assert min(wrong) == (2, 3, 1)
    assert (formula(1, 2, 2), truth(1, 3, 2, 0)) == (1, 2)
    assert (formula(32, 31, 32), truth(32, 32, 32, 0)) == (31, 32)
