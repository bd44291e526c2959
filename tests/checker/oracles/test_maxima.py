"""A max(0, .) is replaced wherever it is, and potentials without it stay the same objects."""

from __future__ import annotations

import pytest

from checker.notation import parse_potential
from checker.oracles.maxima import replaced
from logic.potentials import const, sym
from logic.syntax import INT, Param
from logic.typing import Signature

SIGMA = Signature({"x": INT}, {"n": INT}, {})
N = sym(Param("n"))


@pytest.mark.parametrize("text", ["n", "x + 3", "max(0, x)*n", "floor(max(0, n - 1)/4)", "max(0, n - x)", "log2(n)"])
def test_what_has_none_of_it_is_the_same_object(text: str) -> None:
    p = parse_potential(text, SIGMA, "")
    assert replaced(p, N, const(0)) is p


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("max(0, n)", "n"),
        ("max(0, -n)", "0"),
        ("x*max(0, n) + 2", "x*n + 2"),
        ("max(0, max(0, n) - x)", "max(0, n - x)"),
        ("floor(max(0, n)/4)", "floor(n/4)"),
        ("log2(1 + max(0, -n))", "0"),
    ],
)
def test_it_is_replaced_inside_others_too(text: str, then: str) -> None:
    assert replaced(parse_potential(text, SIGMA, ""), N, N) == parse_potential(then, SIGMA, "")
