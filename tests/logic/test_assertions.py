"""Assertions: negation normal form, opaque atoms, and P[x <- e]."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logic.assertions import FRESH, Launch, abstracted, assigned, assume, conj, fresh_type, launch_facts, opaque, show_p
from logic.metrics import HARDWARE
from logic.operators import denote
from logic.syntax import BOOL, FALSE, FLOAT, INT, TRUE, Array, Const, Expr, Op, Param, Read, Tid, Var, local_vars
from logic.typing import Signature

SIGMA = Signature(
    {"x": INT, "y": INT, "b": BOOL, "f": FLOAT},
    {"n": INT, "blockIdx.x": INT},
    {"A": Array("A", "global", INT, 4)},
)
X, Y, B, F, N = Var("x"), Var("y"), Var("b"), Var("f"), Param("n")


def op(name: str, *args: Expr) -> Expr:
    return Op(name, args)


LESS, READS = op("<", X, N), op("==", Read("A", X), Const(0))


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (op("!", LESS), "x >= n"),
        (op("!", op("&&", LESS, B)), "(x >= n || !b)"),
        (op("!", op("||", LESS, B)), "!b && x >= n"),
        (op("&&", LESS, READS), "x < n"),
        (op("||", LESS, READS), "true"),
        (op("!", READS), "true"),
        (op("!", op("==", F, F)), "true"),
        (op("?:", B, LESS, op("<", N, X)), "(b && x < n || !b && n < x)"),
        (op("bool", X), "x != 0"),
        (op("!", op("bool", X)), "x == 0"),
        (op("!", TRUE), "false"),
    ],
)
def test_facts_are_weakened_never_strengthened(fact: Expr, text: str) -> None:
    assert show_p(conj((fact,), SIGMA)) == text


def test_what_is_opaque_is_up_to_the_signature() -> None:
    """Whatever was asked of the same expression before, with another signature."""
    read, sum_ = Read("A", op("+", X, N)), op("+", X, N)
    known = replace(SIGMA, stable=frozenset({"A"}))
    real = (replace(SIGMA, locals={"x": FLOAT}), replace(SIGMA, params={"n": FLOAT}))
    for e, expected in ((sum_, (False, False, True, True)), (read, (True, False, True, True))):
        assert tuple(opaque(op("<", e, Y), sigma) for sigma in (SIGMA, known, *real)) == expected
    for e in (op("<", Const("1.0", FLOAT), Const("2.0", FLOAT)), op("call:f", X), op("as:float", X), Read("A", F)):
        assert opaque(e, known)


def test_a_disjunction_with_an_opaque_side_says_nothing() -> None:
    # Replacing the opaque atom by false instead would leave x < n, which does not follow.
    assert assume((), op("||", LESS, READS), SIGMA) == ()
    assert assume((), op("&&", LESS, READS), SIGMA, holds=False) == ()


def test_conjunctions_are_sets_in_one_order() -> None:
    a, b = op("<", X, N), op("<", Y, N)
    assert conj((a, b), SIGMA) == conj((op("&&", b, a), a), SIGMA)


def test_negation_of_base_typed_comparisons_is_not_their_opposite() -> None:
    # !(f < f) holds for a NaN, f >= f does not.
    assert assume((), op("<", F, F), SIGMA, holds=False) == ()


def _atoms() -> st.SearchStrategy[Expr]:
    leaf = st.sampled_from([X, Y, N, Const(0), Const(2)])
    return st.builds(op, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), leaf, leaf)


def _value(e: Expr, store: dict[str, int | bool]) -> int | bool:
    match e:
        case Const(v):
            assert not isinstance(v, str)
            return v
        case Op(o, args):
            return denote(o, tuple(_value(a, store) for a in args))
    return store[e.name]  # type: ignore[union-attr]


@given(
    st.recursive(
        st.one_of(_atoms(), st.just(B), st.sampled_from([TRUE, FALSE])),
        lambda e: st.one_of(
            st.builds(lambda a: op("!", a), e),
            st.builds(op, st.sampled_from(["&&", "||"]), e, e),
            st.builds(lambda c, a, d: op("?:", c, a, d), e, e, e),
        ),
    ),
    st.fixed_dictionaries(
        {"x": st.integers(-2, 3), "y": st.integers(-2, 3), "n": st.integers(-2, 3), "b": st.booleans()}
    ),
)
def test_normal_form_keeps_the_meaning(fact: Expr, store: dict[str, int | bool]) -> None:
    meaning = bool(_value(fact, store))
    assert all(_value(c, store) for c in conj((fact,), SIGMA)) == meaning
    assert all(_value(c, store) for c in assume((), fact, SIGMA, holds=False)) != meaning


def test_assignment_of_a_read_quantifies_over_what_it_may_return() -> None:
    fact = op("<", X, Const(16))
    assert show_p(assigned((fact,), "x", op("%", Read("A", Y), Const(16)), SIGMA)) == f"{FRESH}i0 % 16 < 16"


def test_two_reads_of_one_place_are_two_values() -> None:
    twice = abstracted(op("-", Read("A", X), Read("A", X)), SIGMA)
    assert len(local_vars(twice)) == 2


def test_a_value_made_from_floats_is_one_unknown_of_its_type() -> None:
    assert abstracted(op("<", F, F), SIGMA) == Var(f"{FRESH}b0")
    assert fresh_type(f"{FRESH}b0") == BOOL
    assert abstracted(op("+", op("int", F), X), SIGMA) == op("+", Var(f"{FRESH}i0"), X)


def test_launch_facts_bound_tid_by_the_block() -> None:
    facts = {show_p((f,)) for f in launch_facts(Launch((32, 2, 1), (None, 1, 1)), HARDWARE["nvidia"], "warp")}
    assert {"blockDim.x == 32", "tid.x < blockDim.x", "tid.y >= 0", "blockIdx.x < gridDim.x", "warpSize == 32"} <= facts
    assert show_p((op(">=", Tid("x"), Const(0)),)) in facts
