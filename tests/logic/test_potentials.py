"""Potentials: canonical form, substitution and C's division, against plain evaluation."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logic import potentials
from logic.operators import c_div, c_mod, denote
from logic.potentials import (
    Leaf,
    Poly,
    ceil_div,
    const,
    evaluate,
    floor_div,
    interval,
    is_canonical,
    log2,
    max0,
    maximum,
    minimum,
    operated,
    substitute,
    sym,
)
from logic.syntax import Const, Expr, Op, Param, Var

H, J = sym(Param("h")), sym(Var("j"))
LEAVES: tuple[Leaf, ...] = (Param("h"), Param("w"), Var("j"))


def polys() -> st.SearchStrategy[Poly]:
    """Random potentials, with the value that plain arithmetic gives them kept out: only the constructors build them."""
    base = st.one_of(st.integers(-9, 9).map(const), st.sampled_from([sym(x) for x in LEAVES]))
    return st.recursive(
        base,
        lambda p: st.one_of(
            st.builds(lambda a, b: a + b, p, p),
            st.builds(lambda a, b: a - b, p, p),
            st.builds(lambda a, c: a * c, p, st.fractions(-4, 4, max_denominator=6)),
            st.builds(max0, p),
            st.builds(lambda a, k: floor_div(integral(a), k), p, st.integers(1, 9)),
        ),
        max_leaves=5,
    )


def integral(p: Poly) -> Poly:
    """p scaled until its coefficients are integers."""
    for _, c in p.terms:
        p = p * c.denominator
    return p


STORES = st.fixed_dictionaries({x: st.integers(-20, 20) for x in LEAVES})


@given(polys(), polys(), STORES)
def test_sums_and_products_evaluate_as_such(p: Poly, q: Poly, store: dict[Leaf, int]) -> None:
    assert evaluate(p + q, store) == evaluate(p, store) + evaluate(q, store)
    assert evaluate(p - q, store) == evaluate(p, store) - evaluate(q, store)
    assert evaluate(p * q, store) == evaluate(p, store) * evaluate(q, store)


@given(polys(), polys(), STORES)
def test_max_and_min_evaluate_as_such(p: Poly, q: Poly, store: dict[Leaf, int]) -> None:
    a, b = evaluate(p, store), evaluate(q, store)
    assert evaluate(max0(p), store) == max(0, a)
    assert evaluate(maximum(p, q), store) == max(a, b)
    assert evaluate(minimum(p, q), store) == min(a, b)
    assert evaluate(interval(p, q), store) == max(0, b - a)


@given(polys().map(integral), st.integers(1, 40), STORES)
def test_floor_and_ceiling_evaluate_as_such(p: Poly, k: int, store: dict[Leaf, int]) -> None:
    value = evaluate(p, store)
    assert evaluate(floor_div(p, k), store) == value // k
    assert evaluate(ceil_div(p, k), store) == -(-value // k)


@given(polys(), polys().map(integral), STORES)
def test_substitution_commutes_with_evaluation(p: Poly, value: Poly, store: dict[Leaf, int]) -> None:
    inner = evaluate(value, store)
    assert inner.denominator == 1
    changed = {**store, Var("j"): int(inner)}
    assert evaluate(potentials.substitute(p, {Var("j"): value}), store) == evaluate(p, changed)


def test_canonical_form_identifies_equal_potentials() -> None:
    assert ceil_div(H - 32, 32) == ceil_div(H, 32) - 1
    assert max0(H * 4 - J * 2) == max0(H * 2 - J) * 2
    assert floor_div(H * 6 + 4, 4) == floor_div(H * 3 + 2, 2)
    assert max0(max0(H)) == max0(H)
    assert max0(max0(H) * -1) == const(0)
    assert floor_div(const(-7), 2) == const(-4)
    assert (H - H).terms == ()


def test_floor_of_rational_coefficients_scales_up_first() -> None:
    half = H * Fraction(1, 2)
    assert floor_div(half, 3) == floor_div(H, 6)


@pytest.mark.parametrize("n", range(-3, 70))
def test_log2_is_the_floor_of_the_logarithm(n: int) -> None:
    expected = 0 if n < 1 else max(k for k in range(8) if 2**k <= n)
    assert evaluate(log2(H), {Param("h"): n}) == expected
    assert log2(const(n)) == const(expected)


def test_floor_refuses_a_divisor_below_one() -> None:
    with pytest.raises(ValueError, match="positive"):
        floor_div(H, 0)


@pytest.mark.parametrize("op", ["/", "%", ">>", "&", "<<", "min", "max", "+", "-", "*"])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 8])
def test_expressions_become_potentials_with_c_semantics(op: str, k: int) -> None:
    e: Expr = Op(op, (Param("h"), Const(k)))
    p = potentials.of_expr(e)
    if p is None:
        assert op == "&"
        assert k & (k + 1)
        return
    for n in range(-40, 41):
        assert evaluate(p, {Param("h"): n}) == denote(op, (n, k))


def test_division_by_an_unknown_is_a_base_function() -> None:
    """It is said as the operator's value on what stands there, whatever that is."""
    p = potentials.of_expr(Op("/", (Param("h"), Param("w"))))
    assert p == potentials.operated("/", H, sym(Param("w")))
    assert potentials.substitute(p, {Param("w"): const(4)}) == potentials.of_expr(Op("/", (Param("h"), Const(4))))
    assert potentials.is_canonical(p)
    assert not potentials.is_canonical(potentials.atom(potentials.Apply("/", (H, const(4)))))
    assert not potentials.is_canonical(potentials.atom(potentials.Apply("%", (H, H))))
    assert not potentials.is_canonical(potentials.atom(potentials.Apply("/", (H * Fraction(1, 2), H))))


def test_shifts_by_less_than_a_word() -> None:
    """Others, which C leaves open, are no potential to the left, and what `denote` says to the right."""
    for shift in (63, 64, -1):
        left = potentials.of_expr(Op("<<", (Param("h"), Const(shift))))
        assert (left is None) == (shift != 63)
        right = potentials.of_expr(Op(">>", (Param("h"), Const(shift))))
        assert right is not None
        for n in range(-9, 10):
            assert evaluate(right, {Param("h"): n}) == denote(">>", (n, shift))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (max0(H + 1 - J) * 10 + 4, "4 + 10*max(0, 1 + h - j)"),
        (ceil_div(H, 2) * 20 + 4, "4 + 20*ceil(h/2)"),
        (ceil_div(H + 31, 32), "ceil((31 + h)/32)"),
        (H * Fraction(1, 3) - 2, "1/3*h - 2"),
        (H * J * 2 - H, "2*h*j - h"),
        (const(1) - max0(const(1) - max0(H)), "min(1, max(0, h))"),
        (const(7) - max0(const(2) - H - J) * 3, "1 + 3*min(2, h + j)"),
        (H - max0(H - J), "min(h, j)"),
        (H * 5 + J - max0(H * 2 - J) * 2, "h + j + 2*min(2*h, j)"),
        (H - max0(H - J) * 2, "h - 2*max(0, h - j)"),
        (max0(ceil_div(H - max0(H - J), 4)), "max(0, ceil(min(h, j)/4))"),
        (H - max0(H - 8), "min(h, 8)"),
        (H + 9 - max0(H + 2 - J), "7 + min(2 + h, j)"),
        (const(5) - max0(const(2) - H) * 3, "5 - 3*max(0, 2 - h)"),
        (const(1) - max0(const(1) - H + J), "1 - max(0, 1 - h + j)"),
        (const(0), "0"),
        (const(Fraction(-1, 2)), "-1/2"),
        (operated("/", H, const(4)) * 3 + J, "j + 3*trunc(h/4)"),
        (operated("%", H - J, const(4)), "h - j - 4*trunc((h - j)/4)"),
        (floor_div(max0(H), 4) - floor_div(max0(J), 4), "floor(max(0, h)/4) - floor(max(0, j)/4)"),
        (floor_div(max0(H), 4) - floor_div(max0(H * -1), 8), "floor(max(0, h)/4) - floor(max(0, -h)/8)"),
        (floor_div(max0(H), 4) * 2 - floor_div(max0(H * -1), 4), "2*floor(max(0, h)/4) - floor(max(0, -h)/4)"),
    ],
)
def test_text(p: Poly, text: str) -> None:
    assert str(p) == text


def test_c_division_truncates_and_the_remainder_has_the_dividends_sign() -> None:
    # C11 6.5.5: (a/b)*b + a%b == a, truncation toward zero; 0 is our definition where C has none.
    assert [c_div(a, 2) for a in (-3, -1, 1, 3)] == [-1, 0, 0, 1]
    assert [c_mod(a, 3) for a in (-4, -3, -1, 4)] == [-1, 0, -1, 1]
    assert (c_div(5, -2), c_mod(5, -2)) == (-2, 1)
    assert (c_div(5, 0), c_mod(5, 0)) == (0, 5)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (floor_div(H, 2), "floor(h/2)"),
        (floor_div(H + 1, 2), "floor((1 + h)/2)"),
        (floor_div(H * 3, 4), "floor((3*h)/4)"),
        (floor_div(H * J, 4), "floor((h*j)/4)"),
        (floor_div(H * J + J, 4), "floor((j + h*j)/4)"),
        (floor_div(max0(H), 2), "floor(max(0, h)/2)"),
        (floor_div(max0(H) + J, 2), "floor((j + max(0, h))/2)"),
        (floor_div(max0(H) * 3, 5) + 1, "1 + floor((3*max(0, h))/5)"),
        (ceil_div(minimum(J, H), 3), "ceil(min(j, h)/3)"),
        (ceil_div(minimum(J, H) * 2, 3), "ceil((2*min(j, h))/3)"),
        (ceil_div(minimum(J, H) + J, 3), "ceil((j + min(j, h))/3)"),
        (floor_div(floor_div(H, 2), 3), "floor(floor(h/2)/3)"),
        (ceil_div(H, 2), "ceil(h/2)"),
        (ceil_div(H - J, 2), "ceil((h - j)/2)"),
        (ceil_div(H * 3, 4) * 5, "5*ceil((3*h)/4)"),
        (ceil_div(max0(H - J), 32), "ceil(max(0, h - j)/32)"),
        (log2(H + 1), "log2(1 + h)"),
    ],
)
def test_what_is_divided_stands_in_parentheses(p: Poly, text: str) -> None:
    """All of a sum or a product is divided, not its last part."""
    assert str(p) == text


def test_what_is_too_long_to_write_is_no_potential() -> None:
    """Each minimum of a chain has the one before in it twice."""
    e: Expr = Param("n")
    for i in range(200):
        e = Op("min", (e, Const(i)))
    assert potentials.of_expr(e) is None
    wide: Expr = Param("n0")
    for i in range(1, 100):
        wide = Op("+", (wide, Param(f"n{i}")))
    assert potentials.of_expr(wide) is not None
    assert potentials.of_expr(Op("*", (wide, wide))) is None


def test_a_potential_is_the_same_in_a_process_that_hashes_otherwise() -> None:
    """Hashes of strings differ between processes: none goes from one to another."""
    q = sym(Param("n")) * 2 + max0(sym(Param("m")))
    assert hash(q) == hash(Poly(q.terms))  # it is known now
    program = "import pickle, sys; q = pickle.load(sys.stdin.buffer); sys.exit(q not in {type(q)(q.terms)})"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    found = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(q), env=environment, check=False)
    assert found.returncode == 0


def test_a_substitution_is_of_its_values() -> None:
    """Also a second time, and inside of atoms."""
    i, n = Var("i"), Param("n")
    p = sym(i) * sym(n) + max0(sym(i) - 3) + sym(n) + 1
    for _ in range(2):
        for k in (0, 5, 9):
            q = substitute(p, {i: const(k)})
            assert q == sym(n) * (k + 1) + max(0, k - 3) + 1
            assert is_canonical(q)
        assert substitute(p, {i: const(5), n: const(2)}) == const(15)
        assert substitute(p, {n: const(2)}) == sym(i) * 2 + max0(sym(i) - 3) + 3
        assert substitute(p, {Var("j"): const(2)}) == p
