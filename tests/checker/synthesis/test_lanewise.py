"""What expressions are at most at every lane."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from checker.synthesis.lanewise import most
from logic.facts import Facts
from logic.operators import denote
from logic.potentials import Leaf, evaluate
from logic.syntax import Const, Expr, Op, Param, Tid, Var

T, S, N, M = Var("t"), Var("s"), Param("n"), Param("m")


def op(name: str, *args: Expr | int) -> Expr:
    return Op(name, tuple(Const(a) if isinstance(a, int) else a for a in args))


FACTS = Facts(
    (op("==", T, Tid("x")), op("==", Param("blockDim.x"), 8), op(">=", Tid("x"), 0), op("<", S, 3), op("<", 0, M))
)
BOUNDS = {
    op("%", T, 5): "4",
    op("&", T, 3): "3",
    op(">>", N, op("&", T, 1)): "max(0, n)",
    op("%", T, M): "m - 1",
    op("+", op("%", T, 7), N): "6 + n",
    op("-", N, op("/", T, 2)): "n",
    op("/", T, op("+", op("&", T, 1), 1)): "7",
    op("min", T, N): "min(7, n)",
    op("max", op("%", T, 2), N): "1 + max(0, n - 1)",
    op("?:", op("<", T, N), op("&", T, 3), M): "3 + max(0, m - 3)",
    op("*", op("&", T, 3), op("-", 2, M)): None,
    op("*", M, op("-", 4, T)): "4*m",
    op("*", -2, T): "0",
    op("neg", T): "0",
    op("|", T, op("&", T, 3)): "10",
    op("^", T, op("&", T, 3)): "10",
    op("<<", op("&", T, 1), op("&", T, 3)): "8",
    op("%", S, 4): "3",
    op("%", T, N): "7",
    op("%", op("-", T, 9), N): None,
    op("&", T, -4): "7",
    S: "2",
    op("-", N, S): None,
    Var("u"): None,
}


def value(e: Expr, store: dict[Leaf, int]) -> int:
    match e:
        case Const(int() as number):
            return number
        case Var() | Param() | Tid():
            return store[e]
        case Op(name, args):
            return int(denote(name, tuple(value(a, store) for a in args)))
    raise TypeError(e)


@pytest.mark.parametrize("e", BOUNDS, ids=str)
def test_no_lane_has_more(e: Expr) -> None:
    found = most(e, frozenset(), FACTS)
    wanted = BOUNDS[e]
    if found is None or wanted is None:
        assert found is None
        assert wanted is None
        return
    assert str(found) == wanted
    for lane, s, n, m in product(range(8), (-5, 2), (-3, 0, 1, 6, 40), (1, 2, 9)):
        store: dict[Leaf, int] = {T: lane, Tid("x"): lane, S: s, N: n, M: m}
        assert evaluate(found, store) >= value(e, store), store


def test_what_is_uniform_is_said_as_it_is() -> None:
    assert str(most(op("*", T, S), frozenset({"t", "s"}), FACTS)) == "s*t"


def test_definitions_in_a_circle_say_nothing() -> None:
    circle = Facts((op("==", T, op("+", S, 1)), op("==", S, op("-", T, 1))))
    assert most(T, frozenset(), circle) is None


def test_what_is_said_of_variables_is_followed_from_one_to_the_next() -> None:
    """Also where an equation leads back, and where equations are many."""
    names = [Var(f"v{k}") for k in range(8)]
    chain = [op("==", a, b) for a, b in pairwise(names)]
    facts = Facts((*reversed(chain), op("==", names[-1], op("&", Tid("x"), 3))))
    assert str(most(names[0], frozenset(), facts)) == "3"
    assert most(names[0], frozenset(), Facts((*chain, op("==", names[-1], names[0])))) is None
