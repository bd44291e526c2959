"""Formulas as text: what they mean, that printing loses nothing, and what is said of bad ones."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.notation import SyntaxProblem
from checker.notation.formulas import parse_formula
from logic.formulas import BINARY, Apply, Formula, Name, Number, Undefined, evaluate, names, show

AT = {"n": 100, "m": 7, "gridDim.x": 3}


def value(text: str) -> Fraction:
    return evaluate(parse_formula(text, AT, "text"), AT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n/m", Fraction(100, 7)),
        ("ceil(n/m)*2", 30),
        ("floor(-n/m)", -15),
        ("n - m - 1", 92),
        ("n/m/2", Fraction(50, 7)),
        ("2*(n + m)", 214),
        ("log2(n) + log2(0) + log2(1)", 6),
        ("log2(2*n/m)", 4),
        ("min(n, m, 3) + max(n, m)", 103),
        ("-m + 0.5", Fraction(-13, 2)),
        ("gridDim.x*1.25", Fraction(15, 4)),
    ],
)
def test_values(text: str, expected: Fraction | int) -> None:
    assert value(text) == expected


def test_a_division_by_zero_has_its_place() -> None:
    with pytest.raises(Undefined) as caught:
        value("1 + n/(m - 7)")
    assert caught.value.loc is not None
    assert (caught.value.loc.line, caught.value.loc.column) == (1, 6)


@pytest.mark.parametrize(
    ("text", "column", "sentence"),
    [
        ("n % 2", 3, "'%' has no place in a formula"),
        ("k + 1", 1, "no parameter is called 'k'"),
        ("sqrt(n)", 1, "no function of formulas is called 'sqrt'"),
        ("ceil(n, m)", 1, "'ceil' takes one argument, not 2"),
        ("min(n)", 1, "'min' takes two arguments or more, not 1"),
        ("n < m", 3, "'<' has no place in a formula"),
        ("A[n]", 1, "this has no place in a formula"),
        ("1e3", 1, "'1e3' has no place in a formula"),
        ("true", 1, "'true' has no place in a formula"),
        ("(n", 3, "expected ')'"),
        ("", 1, "expected an expression"),
    ],
)
def test_bad_ones(text: str, column: int, sentence: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse_formula(text, AT, "text")
    assert sentence in caught.value.message
    assert caught.value.loc is not None
    assert caught.value.loc.column == column


def formulas() -> st.SearchStrategy[Formula]:
    leaf = st.one_of(
        st.builds(Number, st.integers(0, 9).map(Fraction)), st.sampled_from(["n", "m", "gridDim.x"]).map(Name)
    )

    def grow(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        two = st.tuples(inner, inner)
        one = st.tuples(inner)
        return st.one_of(
            st.builds(Apply, st.sampled_from((*BINARY, "min", "max")), two),
            st.builds(Apply, st.sampled_from(("neg", "ceil", "floor", "log2")), one),
        )

    return st.recursive(leaf, grow, max_leaves=12)


@given(formulas())
def test_what_is_printed_reads_back(f: Formula) -> None:
    again = parse_formula(show(f), AT, "text")
    assert names(again) == names(f)
    try:
        expected = evaluate(f, AT)
    except Undefined:
        with pytest.raises(Undefined):
            evaluate(again, AT)
        return
    assert evaluate(again, AT) == expected


@given(st.integers(1, 10**6))
def test_log2_is_the_floor_of_the_logarithm(n: int) -> None:
    assert evaluate(Apply("log2", (Number(Fraction(n)),)), {}) == math.floor(math.log2(n))
