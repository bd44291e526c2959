"""Which factors a goal is written with: variables for them, and what they are multiplied by."""

from __future__ import annotations

from typing import Final

import pytest

from checker.notation import parse_potential
from checker.oracles.factors import is_factor, named, parts, ways
from logic.potentials import Leaf, Poly, Sym, atom, const, log2, max0, substitute, sym
from logic.syntax import INT, Param, Var
from logic.typing import Signature

SIGMA: Final = Signature(dict.fromkeys(("x", "y"), INT), {"n": INT, "m": INT}, {})
ONE: Final = "max(0, 1 - max(0, x))"


def said(text: str) -> Poly:
    return parse_potential(text, SIGMA, "t")


def factors(goal: Poly) -> list[set[str]]:
    """What the factors of each way stand for: with that in their places, the goal is what it was."""
    found = []
    for written, names in ways(goal):
        back: dict[Leaf, Poly] = {}
        for factor, name in names:
            (((variable,), _),) = factor.terms
            assert is_factor(variable)
            assert isinstance(variable, Sym)
            back[variable.leaf] = next(atom(a) for m, _ in goal.terms for a in m if named(a) == name)
        assert substitute(written, back) == goal
        found.append({str(p) for p in back.values()})
    return found


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        # no leaf in common
        ("max(0, n)*max(0, x) - max(0, n)*max(0, x - 1)", {"max(0, n)"}),
        # leaves in common: the pair that differs is kept
        ("max(0, n)*max(0, n - x) - max(0, n)*max(0, n - x - 1)", {"max(0, n)"}),
        ("max(0, n)*max(0, n)*max(0, n - x) - max(0, n)*max(0, n)*max(0, n - m)", {"max(0, n)"}),
        # what is at most a number is outweighed by one, and by what it is multiplied by
        (f"1 + max(0, y)*max(0, y + x) + max(0, y + x) - {ONE} - max(0, y + x)*{ONE}", {"max(0, y)", "max(0, x + y)"}),
        ("2 + log2(y)*max(0, y) + max(0, y) - max(0, 1 - log2(y))", {"log2(y)", "max(0, y)"}),
    ],
)
def test_factors_of_a_goal(goal: str, expected: set[str]) -> None:
    assert expected in factors(said(goal))


@pytest.mark.parametrize("goal", ["max(0, n) - max(0, n - 1)", "n*x - n*y", "max(0, n)*x - max(0, n)*y - y*x"])
def test_goals_without_factors(goal: str) -> None:
    """No product, and products of what may be negative."""
    assert factors(said(goal)) == []


def test_what_factors_are_multiplied_by() -> None:
    f, g = (sym(Var(f"factor:{i}")) for i in range(2))
    n, x = sym(Param("n")), sym(Var("x"))
    found = parts(f * n - f * 2 + f * g * max0(x) + log2(n) - 3)
    assert {tuple(map(str, map(atom, key))): part for key, part in found.items()} == {
        (): log2(n) - 3,
        ("factor:0",): n - 2,
        ("factor:0", "factor:1"): max0(x),
    }
    assert parts(const(3)) == {(): const(3)}
