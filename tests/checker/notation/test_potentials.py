"""Potentials as text: exact numbers, base functions, and back."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

from checker.notation import SyntaxProblem, parse_potential
from logic.potentials import ZERO, Leaf, Poly, const, evaluate, floor_div, max0, sym
from logic.source import Loc
from logic.syntax import Param, Var
from tests.checker.notation.terms import POLYS, SIGMA

X, N = Var("i"), Param("n")


def read(text: str) -> Poly:
    return parse_potential(text, SIGMA, "p.qhl")


@given(POLYS)
def test_what_is_shown_is_read_back(p: Poly) -> None:
    assert read(str(p)) == p


@pytest.mark.parametrize(
    ("text", "i", "n", "value"),
    [
        ("4 + 10*|[i, n + 1]|", 3, 7, "54"),
        ("4 + 10*|[i, n + 1]|", 7, 3, "4"),
        ("0.1 + .2", 0, 0, "3/10"),
        ("3/2*n - n/4", 0, 7, "35/4"),
        ("n - i - 1", 2, 9, "6"),
        ("n - (i - 1)", 2, 9, "8"),
        ("-n*i/2/2", 3, 5, "-15/4"),
        ("--n", 0, 5, "5"),
        ("n*n*i", 2, 3, "18"),
        ("max(i, n, 4)", 5, 1, "5"),
        ("max(i, n, 4)", 1, 1, "4"),
        ("min(i, n, 4)", 7, 5, "4"),
        ("min(i, n, 4)", 7, -1, "-1"),
        ("floor(n/3)", 0, -7, "-3"),
        ("ceil(n/3)", 0, -7, "-2"),
        ("floor((n + 1)/32)*5", 0, 63, "10"),
        ("floor(7/2) + ceil(7/2)", 0, 0, "7"),
        ("ceil(n/2 + i/3)", 1, 1, "1"),
        ("log2(n)", 0, 1023, "9"),
        ("log2(n + i)", 0, 0, "0"),
        ("blockDim.x * 0 + 0x10", 0, 0, "16"),
    ],
)
def test_values_are_exact(text: str, i: int, n: int, value: str) -> None:
    store: dict[Leaf, int] = {X: i, N: n}
    assert evaluate(read(text), store) == Fraction(value)


def test_names_are_locals_and_parameters() -> None:
    assert read("i") == sym(X)
    assert read("n") == sym(N)
    assert read("w - w") == ZERO
    assert read("|[n, i]|") == max0(sym(X) - sym(N))
    assert read("floor(i/2)") == floor_div(sym(X), 2)


@pytest.mark.parametrize(
    ("text", "column", "fragment"),
    [
        ("n + tid.x", 5, "cannot speak of 'tid.x'"),
        ("n + threadIdx.y", 5, "cannot speak of 'threadIdx.y'"),
        ("2*f", 3, "'f' is float"),
        ("s.gain", 1, "'s.gain' is float"),
        ("n*b", 3, "'b' is bool"),
        ("1 + A[i]", 5, "cannot speak of array contents"),
        ("n % 8", 3, "'%' has no place in a potential"),
        ("n < 8", 3, "'<' has no place"),
        ("1 + ~n", 5, "'~' has no place"),
        ("b ? n : 0", 1, "'?:' has no place"),
        ("n / i", 5, "numbers other than 0 only"),
        ("n / (2 - 2)", 5, "numbers other than 0 only"),
        ("sqrt(n)", 1, "no function of potentials is called 'sqrt'"),
        ("max(n)", 1, "two arguments or more"),
        ("n + floor(n, 2)", 5, "takes one argument, not 2"),
        ("log2(n/2)", 1, "integer coefficients"),
        ("1.5f * n", 1, "not an exact number"),
        ("1e9", 1, "not an exact number"),
        ("true", 1, "not a number"),
        ("n + m", 5, "no variable or parameter is called 'm'"),
        ("|[i, n]", 8, "expected '|'"),
        ("|[i]|", 4, "expected ',' after 'i', not ']'"),
        ("9" * 301, 1, "more than 300 digits"),
        ("(n + i + w + 1)" + "*(n + i + w + 2)" * 40, None, "too large"),
        ("max(0, n + " * 60 + "i" + ")" * 60, None, "too large"),
        ("max(" + ", ".join(f"n*{k} + i" for k in range(1, 40)) + ")", 1, "too large"),
        ("/".join(["n", *["9" * 300] * 9]), None, "too large"),
    ],
)
def test_what_is_no_potential_is_refused_at_its_place(text: str, column: int | None, fragment: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        read(text)
    assert fragment in caught.value.message
    assert caught.value.loc is not None
    assert caught.value.loc == Loc("p.qhl", 1, column or caught.value.loc.column)


def test_long_sums_are_read() -> None:
    assert read(" + ".join(["i"] * 3000)) == sym(X) * 3000
    assert read(" - ".join(["n"] * 3001)) == sym(N) * -2999
    assert read("*".join(["2"] * 100)) == const(2**100)


def test_places_begin_at_the_origin() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse_potential("n +\n m", SIGMA, "p", Loc("k.cu", 30, 12))
    assert caught.value.loc == Loc("k.cu", 31, 2)


def test_elements_of_stable_arrays_are_read() -> None:
    from dataclasses import replace

    from logic.syntax import INT, Array
    from logic.typing import Signature

    arrays = {"A": Array("A", "global", INT, 4)}
    sigma = Signature({"i": INT}, {"n": INT}, arrays, frozenset({"A"}))
    assert str(parse_potential("|[A[i], A[n + 1]]|", sigma, "q")) == "max(0, A[1 + n] - A[i])"
    with pytest.raises(SyntaxProblem, match="integer coefficients"):
        parse_potential("A[n/2]", sigma, "q")
    with pytest.raises(SyntaxProblem, match="differs between threads"):
        parse_potential("A[tid.x]", sigma, "q")
    with pytest.raises(SyntaxProblem, match="array contents"):
        parse_potential("A[n]", replace(sigma, stable=frozenset()), "q")
