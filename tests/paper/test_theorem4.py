"""Theorem 4, p. 18: sectors of an access with a stride. Erratum 7: it is stated for every stride, and holds for |k|."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.oracles.counts import stride_lemma


def printed(k: int, first: int, last: int, m: int) -> int:
    """ceil(k (t' - t) / m) + 1, lanes t to t', m elements a sector."""
    return -(-k * (last - first) // m) + 1


def truth(k: int, first: int, last: int, m: int, c: int) -> int:
    return len({(k * t + c) // m for t in range(first, last + 1)})


@pytest.mark.parametrize("m", range(1, 9))
def test_theorem_4_on_small_ranges(m: int) -> None:
    for k in range(-9, 10):
        for lanes in range(1, 12):
            worst = max(truth(k, 0, lanes - 1, m, c) for c in range(m))
            assert worst <= stride_lemma(k, lanes, m) <= printed(abs(k), 0, lanes - 1, m)


@given(st.integers(-300, 300), st.integers(0, 2000), st.integers(0, 40), st.integers(1, 64), st.integers(-500, 500))
def test_theorem_4_beyond(k: int, first: int, more: int, m: int, c: int) -> None:
    assert (
        truth(k, first, first + more, m, c) <= stride_lemma(k, more + 1, m) <= printed(abs(k), first, first + more, m)
    )


def test_the_print_fails_for_negative_strides_only() -> None:
    """The smallest counterexample: stride -1, one element a sector, two lanes: it claims 0, they touch 2."""
    wrong = [
        (abs(k), m, lanes, k)
        for k in range(-4, 5)
        for m in range(1, 5)
        for lanes in range(1, 6)
        if any(truth(k, 0, lanes - 1, m, c) > printed(k, 0, lanes - 1, m) for c in range(m))
    ]
    assert min(wrong) == (1, 1, 2, -1)
    assert all(k < 0 for *_, k in wrong)
    assert (printed(-1, 0, 1, 1), truth(-1, 0, 1, 1, 0)) == (0, 2)
