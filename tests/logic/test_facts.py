"""What is read off conditions holds wherever they do: against all stores of small numbers."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logic.assertions import Context, Launch
from logic.comparisons import differences
from logic.facts import Facts, compared, congruences, said, value_where
from logic.metrics import HARDWARE, METRICS
from logic.operators import FLIPPED
from logic.potentials import Leaf, evaluate, sym
from logic.syntax import Const, Expr, Op, Param, Tid, Var
from logic.typing import Signature

X, Y, N = Var("x"), Var("y"), Param("n")
STORES: Final[list[dict[Leaf, int]]] = [
    dict(zip((X, Y, N), values, strict=True)) for values in product((-3, -1, 0, 1, 2, 7), repeat=3)
]
LEAVES = st.one_of(st.sampled_from([X, Y, N]), st.integers(-3, 9).map(Const))
SIDES: st.SearchStrategy[Expr] = st.one_of(
    LEAVES, st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from(["+", "-", "*", "%", "&"]), LEAVES, LEAVES)
)
CONDITIONS = st.lists(
    st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from([*FLIPPED, "!=", "=="]), SIDES, SIDES), max_size=4
)


@given(CONDITIONS, SIDES)
def test_facts_hold_where_conditions_do(conditions: list[Op], e: Expr) -> None:
    facts = Facts(tuple(conditions))
    about = [sym(X), sym(Y) * 2 + sym(N), sym(X) * sym(N), sym(X) * -1]
    for store in (s for s in STORES if all(value_where(c, s) is True for c in conditions)):
        assert all(store[leaf] == n for leaf, n in facts.numbers.items())
        assert all(store[leaf] == evaluate(p, store) for leaf, p in facts.definitions.items())
        assert all(evaluate(p, store) >= 0 for p in facts.nonnegative)
        assert all(store[leaf] >= low for leaf, low in facts.lows.items())
        for p in about:
            low, far = facts.least(p), facts.moved(p)
            assert low is None or evaluate(p, store) >= low
            assert far is None or abs(evaluate(p, store)) >= far
            assert evaluate(facts.plain(p), store) == evaluate(p, store)
        for fact in conditions:
            for whole, modulus, rest in congruences(fact):
                k, a, b = (value_where(t, store) for t in (modulus, whole, rest))
                assert k == 0 or k is None or a is None or b is None or (a - b) % k == 0
            assert all(value_where(Op(op, (leaf, side)), store) for leaf, op, side in compared((fact,), either=True))


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "=="])
def test_a_comparison_is_that_its_differences_are_nonnegative(op: str) -> None:
    fact = Op(op, (Op("+", (X, Y)), Op("*", (N, Const(2)))))
    polys = [p for p, _ in differences(fact)]
    assert [sign for _, sign in differences(fact)] == {"<": ["+"], ">": ["-"], "==": ["+", "-"]}[
        op if op == "==" else op[0]
    ]
    for store in STORES:
        assert value_where(fact, store) == all(evaluate(p, store) >= 0 for p in polys)


def test_without_what_has_changed_nothing_is_said_of_it() -> None:
    facts = Facts((Op("==", (X, Const(3))), Op("==", (Y, N)), Op(">=", (N, Const(2))), Op(">=", (Y, Const(4)))))
    kept = facts.without({"y"}).without({"x"})
    assert (facts.numbers, kept.numbers) == ({X: 3}, {})
    assert set(facts.definitions) == {X, Y}
    assert kept.definitions == {}
    assert (facts.lows, kept.lows) == ({X: 3, N: 4, Y: 4}, {N: 2})
    assert kept.plain(sym(X) + sym(Y)) == sym(X) + sym(Y)


def test_what_a_launch_says_besides() -> None:
    sizes = Launch((64, 1, 1), assumptions=(Op("==", (N, Const(7))),))
    context = Context(Signature({}, {}, {}), METRICS["steps"], HARDWARE["nvidia"], sizes)
    facts = said((Op("==", (X, Param("blockDim.x"))),), context)
    assert {X: 64, N: 7, Param("blockDim.x"): 64}.items() <= facts.numbers.items()
    assert facts.least(sym(Tid("x"))) == 0
    assert facts is said((Op("==", (X, Param("blockDim.x"))),), context)


def test_what_is_no_less_than_others_is_no_less_than_the_least_of_these() -> None:
    """Also where a difference is said to be no more than a number; one that may be less than 0 says nothing."""
    at_most = Op(">=", (Op("*", (X, Const(2))), Op("+", (Op("*", (N, Const(3))), Const(2)))))
    facts = Facts((Op("==", (Y, N)), Op(">=", (N, Const(3))), at_most))
    assert facts.lows == {N: 3, Y: 3, X: 6}
    assert Facts((Op(">=", (X, N)), Op(">=", (N, Const(-1))))).lows == {N: -1}
    assert Facts((Op("==", (X, Op("-", (Const(4), N)))), Op(">=", (N, Const(1))))).lows == {N: 1}
    assert Facts((Op(">=", (N, Const(0))),)).moved(sym(N) - 5) is None
