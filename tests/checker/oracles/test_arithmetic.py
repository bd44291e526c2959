"""What closed forms prove, and what they leave to others."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.oracles import arithmetic
from checker.oracles.terms import value_of
from logic.assertions import Launch, conj, launch_facts
from logic.metrics import HARDWARE
from logic.potentials import ZERO, Leaf, Poly, const, element_of, evaluate, floor_div, log2, max0, sym
from logic.syntax import BUILTINS, FALSE, INT, TRUE, Const, Expr, Op, Param, Tid, Var
from logic.typing import Signature
from tests.examples import examples

SIGMA = Signature(dict.fromkeys(("i", "j"), INT), dict.fromkeys((*BUILTINS, "n"), INT), {})
M, J, N = Var("i"), Var("j"), Param("n")


def op(name: str, *args: Expr | int) -> Op:
    return Op(name, tuple(Const(a) if isinstance(a, int) else a for a in args))


def entails(goal: Expr, *facts: Expr) -> bool:
    return arithmetic.entails(facts, (goal,)) is not None


def test_one_fact_in_many_clothes() -> None:
    fact = op("<=", M, N)
    for goal in (
        op(">=", N, M),
        op("<", M, op("+", N, 1)),
        op("!", op(">", M, N)),
        op("<=", op("*", 2, M), op("*", N, 2)),
    ):
        assert entails(goal, fact)
    assert not entails(op("<", M, N), fact)
    assert not entails(op("<=", N, M), fact)
    assert entails(op("<=", op("*", 3, M), 6), op("<", M, 3))
    assert entails(op("<=", M, 2), op("<=", op("*", 3, M), 8))
    assert not entails(op("<=", M, 1), op("<=", op("*", 3, M), 8))
    assert entails(op("==", J, M), op("==", M, J))
    assert entails(op("!", op("==", J, M)), op("!=", M, J))
    assert not entails(op("!=", J, M), op("==", M, J))


def test_sums_of_nonnegative_terms() -> None:
    assert entails(op(">=", op("+", op("*", M, J), N), 2), op(">=", M, 1), op(">=", J, 2), op(">=", N, 0))
    assert not entails(op(">=", op("*", M, J), 3), op(">=", M, 1), op(">=", J, 2))
    assert not entails(op(">=", op("-", M, J), 0), op(">=", M, 1), op(">=", J, 0))
    assert entails(op(">", N, 0), op("<", M, N), op(">=", M, 0))
    assert entails(op("!=", N, 0), op(">", N, 0))
    assert entails(op("==", op("*", M, N), 12), op("==", M, 3), op("==", N, 4))
    assert not entails(op("==", op("*", M, N), 13), op("==", M, 3), op("==", N, 4))


def test_a_difference_has_no_sign() -> None:
    assert not entails(op(">=", N, 0), op("!=", N, 0))
    assert not entails(op(">=", M, N), op("!=", M, N))
    assert not entails(op(">=", N, M), op("!=", M, N))


def test_connectives_and_falsehood() -> None:
    assert entails(op("||", op("<", M, 0), op(">=", N, 0)), op(">=", N, 1))
    assert not entails(op("||", op("<", M, 0), op(">=", N, 2)), op(">=", N, 1))
    both = op("&&", op("<", M, 0), op(">=", N, 0))
    assert not entails(op("||", both, op("<", M, -5)), op(">=", N, 1))
    assert entails(op("||", both, op("<", M, -5)), op(">=", N, 1), op("<", M, -2))
    assert entails(op("<", M, 0), FALSE)
    assert arithmetic.entails((), ()) is not None


def test_truth_values() -> None:
    b, c = Var("b"), Var("c")
    true: list[Expr] = [b, op("==", b, TRUE)]
    false: list[Expr] = [op("!", b), op("==", b, FALSE)]
    for known, other in ((true, false), (false, true)):
        for fact, goal in product(known, known):
            assert entails(goal, fact)
            assert entails(op("||", op("<", M, 0), goal), fact)
        for fact, goal in product(known, other):
            assert not entails(goal, fact)
            assert not entails(op("||", op("<", M, 0), goal), fact)
    assert not entails(c, b)
    assert not entails(op("!", c), op("!", b))
    assert entails(op("==", FALSE, FALSE))
    assert not entails(op("==", FALSE, TRUE))


def test_the_launch_is_known() -> None:
    facts = launch_facts(Launch((32, 8, 1)), HARDWARE["nvidia"], "warp")
    assert entails(op(">=", op("*", Param("blockIdx.x"), Param("blockDim.x")), 0), *facts)
    assert entails(op("==", op("*", Param("blockDim.x"), Param("blockDim.y")), 256), *facts)
    assert entails(op("<", Tid("x"), 32), *facts)
    assert not entails(op("<", Tid("x"), 31), *facts)


def test_potentials() -> None:
    i, n = sym(M), sym(N)

    def at_least(q: object, r: object, *p: Expr) -> bool:
        return arithmetic.at_least(conj(p, SIGMA), q, r) is not None  # type: ignore[arg-type]

    assert at_least(max0(n - i) * 2 + 1, max0(n - i))
    assert not at_least(max0(n - i), max0(n - i) * 2 + 1)
    assert at_least(max0(n - i) + log2(n), const(0))
    assert at_least(n * n, n, op(">=", N, 1))
    assert not at_least(n * n, n + 1, op(">=", N, 1))
    assert at_least(floor_div(n, 32) + 1, const(1), op(">=", N, 0))
    assert not at_least(floor_div(n, 32) + 1, const(1))
    assert not at_least(floor_div(n, 32) + 1, const(1), op(">=", N, -1))
    assert at_least(n - i, const(1), op("<", M, N))
    assert not at_least(n - i, const(2), op("<", M, N))
    assert at_least(i, n, op("==", M, N))


def test_what_variables_are_by_definition() -> None:
    """An element is known by the name of its index; what it is the least of may be defined by more."""
    i, v, w = (Var(name) for name in ("i", "j", "w"))
    col = Op("elem:col", (i,))
    facts = (op("==", v, col), op(">=", col, 0), op("==", i, op("*", N, 2)))
    element = element_of("elem:col", sym(i))
    for q, r in ((sym(v), ZERO), (sym(v) + 1, ZERO), (sym(v), element)):
        assert arithmetic.at_least(facts, q, r) is not None
    assert arithmetic.at_least(facts, sym(v), const(1)) is None
    assert entails(op("==", v, op("+", w, 4)), op("==", v, op("*", N, 4)), op("==", w, op("*", op("-", N, 1), 4)))
    assert not entails(op(">=", v, op("max", w, i)), op("==", v, w))


def test_lower_bounds_by_chains_of_facts() -> None:
    """i >= j*n + 1 > 0 where j and n are not negative, and so is what is larger than i."""
    start = (op(">=", J, 0), op(">=", N, 1), op(">=", M, op("+", op("*", J, N), 1)))
    assert entails(op(">=", M, 1), *start)
    assert entails(op(">=", op("*", M, N), 1), *start)
    assert not entails(op(">=", M, 2), *start)
    assert not entails(op(">=", M, 1), *start[1:])
    assert entails(op(">=", N, 4), op(">", N, op("+", M, 1)), op("==", M, op("+", J, 2)), op(">=", J, 0))
    assert not entails(op(">=", N, 5), op(">", N, op("+", M, 1)), op("==", M, op("+", J, 2)), op(">=", J, 0))
    assert not entails(op(">=", M, 0), op("!=", M, J), op(">=", J, 0))
    assert not entails(op(">=", J, 0), op("!=", M, J), op(">=", M, 0))


def test_what_a_fact_says_is_worked_out_once_for_all_points_that_have_it() -> None:
    facts = (op(">=", M, 3), op(">=", J, 1), op(">=", N, op("+", M, J)), op("<=", op("*", M, J), 99))
    arithmetic.knowledge(facts)
    before = arithmetic._images.cache_info()
    arithmetic.knowledge((*facts, op("!=", N, 40)))
    after = arithmetic._images.cache_info()
    assert (after.misses, after.hits > before.hits) == (before.misses, True)


I_, J_, N_ = (sym(leaf) for leaf in (M, J, N))


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (max0(N_), max0(N_ - 1)),
        (max0(N_) * 2, max0(N_ - 1)),
        (max0(N_), max0(N_ - I_ * I_)),
        (max0(N_) * max0(J_), max0(N_ - 3) * max0(J_)),
        (max0(N_), max0(max0(N_) - 1)),
        (const(1), max0(const(1) - max0(N_))),
        (max0(N_) * 39 + 1, max0(const(1) - max0(N_))),
        (max0(J_), max0(J_) * max0(const(1) - max0(N_))),
    ],
)
def test_what_is_taken_from_what_is_no_less(more: Poly, less: Poly) -> None:
    facts = (op(">=", M, 0),)
    assert arithmetic.at_least(facts, more, less) is not None
    assert arithmetic.at_least(facts, less, more) is None
    assert arithmetic.at_least(facts, more, less * 3) is None


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (max0(N_), max0(N_ - 1) + max0(N_ - 2)),
        (max0(N_) * max0(J_), max0(N_ - 1) * max0(J_) * max0(J_)),
        (max0(N_), max0(N_ + I_)),
    ],
)
def test_what_is_taken_once_is_not_there_again(more: Poly, less: Poly) -> None:
    assert arithmetic.at_least((op(">=", M, 0),), more, less) is None


FACTS = (
    op(">=", M, 0),
    op(">=", J, 1),
    op(">=", N, -2),
    op(">", N, M),
    op("==", M, op("+", J, N)),
    op(">=", M, op("*", J, N)),
    op("<=", op("-", M, J), N),
    op("!=", J, 0),
    op("==", N, op("-", J, 1)),
)
BASE = st.sampled_from([I_, J_, N_, const(1), const(-2), I_ * J_, N_ - I_, J_ - 2, const(1) - N_])
NESTED = st.one_of(BASE, BASE.map(max0), st.tuples(BASE, BASE).map(lambda pq: max0(pq[0] - max0(pq[1]))))
SUMS = st.lists(st.tuples(NESTED, NESTED, st.integers(-2, 3)), min_size=1, max_size=3).map(
    lambda rows: sum((p * q * c for p, q, c in rows), const(0))
)


@pytest.mark.whole
@examples(150, 20_000)
@given(st.lists(st.sampled_from(FACTS), max_size=4, unique=True), SUMS, SUMS)
def test_what_is_proved_holds_everywhere(facts: list[Op], p: Poly, q: Poly) -> None:
    for more, less in ((p, q), (p, const(0)), (p * p, q * 0 - 1)):
        if arithmetic.at_least(tuple(facts), more, less) is not None:
            for a, b, c in product(range(-3, 5), repeat=3):
                if all(value_of(f, {"i": a, "j": b, "n": c}) for f in facts):
                    store: dict[Leaf, int] = {M: a, J: b, N: c}
                    assert evaluate(more, store) >= evaluate(less, store), (more, less, store)
