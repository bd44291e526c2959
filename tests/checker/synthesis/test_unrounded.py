"""Tests of loops that divide what is counted."""

from __future__ import annotations

from itertools import product

import pytest

from checker.synthesis.unrounded import unrounded
from logic.facts import Facts
from logic.potentials import Leaf, Poly, evaluate, floor_div, of_expr, operated, sym, variables
from logic.syntax import Const, Op, Param, Var
from tests.checker.synthesis.bounded import result, valid
from tests.logic.rules.applications import expr, pot

X, N, M = Var("x"), Param("n"), Param("m")
EIGHT_TIMES = operated("/", sym(X), sym(M)) * 8


def _trunc(k: int) -> Poly:
    found = of_expr(Op("/", (X, Const(k))))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("distance", "told"),
    [
        (sym(N) - floor_div(sym(X), 32), "32*n - x"),
        (sym(N) - _trunc(32), "32*n - x"),
        (sym(N) - _trunc(4) * 8, "4*n - 8*x + 21"),
        (sym(N) * 8 - _trunc(4) * 8 + 16, "4*n - x + 8"),
        (sym(N) - floor_div(sym(X) * 3, 7) * 2, "7*n - 6*x + 6"),
        (floor_div(sym(X), 8) - sym(N), "x - 8*n - 7"),
        (floor_div(sym(X), 8) * 3 - sym(N), "3*x - 8*n - 7"),
        (_trunc(8) - 3, "x - 31"),
        (_trunc(8) * 2 - 3, "2*x - 31"),
        (_trunc(8) + 3 - sym(N), "x + 24 - 8*n"),
        (_trunc(8) * 2 + 3, "2*x + 31"),
        (sym(N) - floor_div(floor_div(sym(X), 3) + sym(X), 5), "15*n - 4*x"),
        (sym(N) - operated("/", sym(X), sym(M)), "m*n - x"),
        (sym(N) - EIGHT_TIMES, "m*n - 8*x + 7*m - 7"),
        (sym(N) - floor_div(sym(Param("k")), 4), ""),
        (sym(N) - sym(X), ""),
    ],
)
def test_it_is_positive_wherever_the_distance_is(distance: Poly, told: str) -> None:
    found = unrounded(distance, frozenset(["x"]), Facts(()))
    if not told:
        assert found is None
        return
    assert found == pot(told)
    some = 0
    for x, n, m in product(range(-40, 90), range(-3, 9), range(1, 6)):
        at: dict[Leaf, int] = {X: x, N: n, M: m, Param("k"): 0}
        if evaluate(distance, at) > 0:
            some += 1
            assert evaluate(found, at) > 0, (x, n, m)
    assert some


def test_a_variable_that_is_a_quotient_is_in_its_place() -> None:
    facts = Facts((expr("y == x / 32 * 8"), expr("x >= 0")))
    assert unrounded(pot("256 - y"), frozenset("xy"), facts) == pot("1024 - x")
    assert unrounded(pot("256 - y"), frozenset("y"), facts) is None  # x stays as it is
    assert unrounded(pot("256 - y"), frozenset("xy"), Facts((expr("y == x + 1"),))) == pot("255 - x")
    assert unrounded(pot("256 - y"), frozenset("xy"), Facts((expr("y == 0"),))) is None  # before the first turn


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("x <- 0; while (x / 32 < n) { A[0] <- 1; x <- x + 1; }", "max(0, 32*n)"),
        ("x <- 0; while (x >> 2 < n) { A[0] <- 1; x <- x + 64; }", "max(0, ceil(n/16))"),
        ("x <- 0; y <- 0; while (y < n) { A[0] <- 1; x <- x + 1; y <- x / 32; }", "max(0, 32*n)"),
        ("x <- 0; y <- 0; while (y * 8 < 256) { A[0] <- 1; x <- x + 3; y <- x / 32; }", "342"),
        ("x <- n; while (x / 16 > 0) { A[0] <- 1; x <- x - 3; }", "max(0, ceil((n - 15)/3))"),
        ("x <- tid.x; y <- x / 48; while (y < n) { A[0] <- 1; x <- x + 256; y <- x / 48; }", "max(0, ceil(3*n/16))"),
    ],
)
def test_loops(body: str, bound: str) -> None:
    assert valid(result(body)) == pot(bound)


@pytest.mark.parametrize("divisor", ["m", "((m + 127) / 128)"])
def test_loops_whose_limit_is_a_product(divisor: str) -> None:
    """A divisor that is known to be positive by rounding is so in proofs."""
    body = f"x <- 0; y <- 0; while (y < n) {{ A[0] <- 1; x <- x + 1; y <- x / {divisor}; }}"
    found = result(body, "m > 0")
    assert found.verdict == "certified", found.problem
    bound = valid(found)
    assert not variables(bound)
    for n, m in ((5, 3), (5, 300), (-2, 7)):
        by = m if divisor == "m" else -(-m // 128)
        assert evaluate(bound, {N: n, M: m}) == max(0, n * by)
    assert result(body).verdict != "certified"  # m may be 0, and then y stays 0
