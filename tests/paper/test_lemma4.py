"""Lemma 4, p. 19: |{i a mod n | i in {k, .., k + m - 1}}| = min(m, n / gcd(a, n)), m <= n; its proof is wrong."""

from __future__ import annotations

from math import gcd, lcm

from hypothesis import given
from hypothesis import strategies as st


def classes(a: int, n: int, k: int, m: int) -> int:
    return len({i * a % n for i in range(k, k + m)})


def test_lemma_4_on_small_ranges() -> None:
    for n in range(1, 15):
        for a in range(1, 20):
            for k in range(n):
                for m in range(1, n + 1):
                    assert classes(a, n, k, m) == min(m, n // gcd(a, n))


@given(
    st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)
def test_lemma_4_beyond(sizes: tuple[int, int], a: int, k: int) -> None:
    n, m = sizes
    assert classes(a, n, k, m) == min(m, n // gcd(a, n)) == min(m, lcm(a, n) // a if a else 1)
