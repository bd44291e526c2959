"""F - F[i <- i+1] = q, for costs as the search finds them; what does not telescope has no F."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.synthesis.sums import antidifference, in_steps
from logic.potentials import Leaf, Poly, const, evaluate, floor_div, max0, minimum, substitute, sym
from logic.syntax import Param

BLOCK, N, W = Param("blockIdx.x"), Param("n"), Param("w")
i, n, w = sym(BLOCK), sym(N), sym(W)


def clipped(y: Poly, size: int, k: int) -> Poly:
    """ceil(min(size, max(0, y)) / k) for a k that divides size."""
    return floor_div(max0(y) + (k - 1), k) - floor_div(max0(y - size) + (k - 1), k)


SHAPES = (
    const(3) + w * 2,
    clipped(n - i * 32, 32, 8),
    clipped(n - i * 64, 32, 8) + clipped(n - i * 64 - 32, 32, 8),
    (max0(const(4) - i) - max0(const(3) - i)) * 7,
    (max0(const(4) - i) - max0(const(3) - i)) * 7 + (max0(const(2) - i) - max0(const(1) - i)) * -2 + w,
    clipped(n - i * 32, 32, 8) * w,
    i * 12 + i * w,
    i * i * i - i * i * n,
    i * i * i * i * i,
)


@given(st.lists(st.tuples(st.sampled_from(SHAPES), st.integers(-3, 5)), min_size=1, max_size=4))
def test_the_difference_of_f_is_q(parts: list[tuple[Poly, int]]) -> None:
    q = sum((p * c for p, c in parts), const(0))
    f = antidifference(q, BLOCK.name)
    assert f is not None
    assert f - substitute(f, {BLOCK: i + 1}) == q


def test_a_sum_in_closed_form() -> None:
    f = antidifference(clipped(n - i * 32, 32, 8) * 3 + 1, BLOCK.name)
    assert f is not None
    total = substitute(f, {BLOCK: const(0)}) - substitute(f, {BLOCK: const(5)})
    for size in (-3, 0, 1, 8, 9, 33, 100, 160, 161, 1000):
        worth = 5 + 3 * sum(-(-min(32, max(0, size - 32 * b)) // 8) for b in range(5))
        assert evaluate(total, {N: size}) == worth


def test_sums_of_powers() -> None:
    for k in range(7):
        power = const(1)
        for _ in range(k):
            power = power * i
        f = antidifference(power, BLOCK.name)
        assert f is not None
        for size in range(9):
            total = substitute(f, {BLOCK: const(0)}) - substitute(f, {BLOCK: const(size)})
            assert total == const(sum(j**k for j in range(size)))


def test_what_does_not_telescope() -> None:
    for q in (max0(n - i), max0(n - i) * i, floor_div(i, 2), max0(n - i) - max0(n - i - 1) * 2):
        assert antidifference(q, BLOCK.name) is None


LEFT = n - i * 32


@pytest.mark.parametrize(
    "q",
    [
        max0(minimum(LEFT, const(32))),
        max0(minimum(const(32), LEFT)),
        minimum(max0(LEFT), const(32)),
        minimum(const(32), max0(LEFT)) * 3 + 1,
        max0(minimum(LEFT, const(32))) * w,
    ],
    ids=str,
)
def test_what_is_cut_to_a_range_telescopes_in_steps(q: Poly) -> None:
    assert antidifference(q, BLOCK.name) is None
    steps = in_steps(q)
    for block in range(4):
        for size in range(-9, 140):
            at: dict[Leaf, int] = {BLOCK: block, N: size, W: 5}
            assert evaluate(steps, at) == evaluate(q, at), at
    assert antidifference(steps, BLOCK.name) is not None


@pytest.mark.parametrize(
    "p", [max0(LEFT - max0(LEFT + 1)), max0(LEFT - max0(w)), max0(LEFT - max0(w) * 2), max0(max0(w) + 1)], ids=str
)
def test_what_is_not_cut_to_a_range_stays(p: Poly) -> None:
    assert in_steps(p) == p
