"""What closed forms prove, and what they leave to others."""

from __future__ import annotations

from checker.oracles import arithmetic
from logic.assertions import Launch, conj, launch_facts
from logic.metrics import HARDWARE
from logic.potentials import const, floor_div, log2, max0, sym
from logic.syntax import BUILTINS, FALSE, INT, Const, Expr, Op, Param, Tid, Var
from logic.typing import Signature

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
