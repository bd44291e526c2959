"""What a walk does not ask about: values that are seen to differ between threads, and none that do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.oracles import Oracles
from checker.oracles.terms import value_of
from checker.synthesis import flow
from checker.synthesis.flow import analyse
from checker.synthesis.loose import loose
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch, P, Uniform
from logic.metrics import HARDWARE, METRICS
from logic.operators import Value
from logic.syntax import (
    BOOL,
    BUILTINS,
    FLOAT,
    INT,
    WARP_INDEX,
    Array,
    Assign,
    Assume,
    Const,
    Expr,
    Kernel,
    Op,
    Param,
    Read,
    Tid,
    Var,
    seq,
)
from logic.typing import Signature

SIGMA = Signature(
    {**dict.fromkeys("abcs", INT), "t": BOOL, "f": FLOAT, "g": FLOAT},
    {"n": INT},
    {"A": Array("A", "global", INT, 4), "K": Array("K", "global", INT, 4)},
    frozenset({"K"}),
)
a, b, c, s, t, f, g = map(Var, "abcstfg")
n = Param("n")
X = frozenset("s")


def op(name: str, *args: Expr | int) -> Op:
    return Op(name, tuple(Const(x) if isinstance(x, int) else x for x in args))


@pytest.mark.parametrize(
    ("p", "e", "expected"),
    [
        ((), a, True),
        ((), op("+", op("*", a, 4), s), True),
        ((op("==", b, a), op("==", c, b)), c, True),
        ((op("<", b, n),), a, True),
        ((), t, True),
        ((), op("<", a, n), True),
        ((), op("<", f, g), True),
        ((), op("?:", op("<", f, g), f, g), True),
        ((), op("+", Read("A", a), 1), True),
        ((), s, False),
        ((), op("+", s, n), False),
        ((), Tid("x"), False),
        ((op("==", a, n),), a, False),
        ((op("<=", a, n),), a, False),
        ((op("==", a, b), op("<=", b, n)), a, False),
        ((op("==", op("-", a, n), 0),), a, False),
        ((op("==", a, s),), a, False),
        ((op("==", s, a),), a, False),
        ((op("==", a, b), op("<=", a, n)), b, False),
        ((op("==", b, Tid("x")), op("<", b, n)), a, True),
        ((op("==", Tid("x"), 0),), a, False),
        ((op("<", Tid("x"), 1),), a, False),
        ((op("==", Param(WARP_INDEX), 1),), a, False),
        ((op("==", b, Tid("x")), op("==", b, n)), a, False),
        ((op("==", b, op("+", Tid("x"), n)), op("==", c, b), op("==", op("-", c, n), 3)), a, False),
        ((), op("-", a, a), False),
        ((op("==", b, op("+", a, 1)),), op("-", b, a), False),
        ((), op("*", a, 0), False),
        ((), op("&", a, 0), False),
        ((), op("|", a, -1), False),
        ((), op("<", op("&", a, 3), 4), False),
        ((), op("==", op("*", a, 2), 1), False),
        ((), op("%", a, 1), False),
        ((), op("?:", op("<", a, n), s, s), False),
        ((), Read("A", s), False),
        ((), Read("K", a), False),
    ],
)
def test_loose(p: P, e: Expr, expected: bool) -> None:
    assert loose(p, X, e, SIGMA) is expected


@pytest.mark.parametrize(
    ("p", "rows", "expected"),
    [
        ((op("==", s, op("+", n, Tid("y"))), op("==", s, Param(WARP_INDEX))), True, True),
        ((op("==", s, op("+", n, Tid("y"))), op("==", s, Param(WARP_INDEX))), False, False),
        ((op("==", Tid("x"), 0),), True, False),
    ],
)
def test_where_all_of_a_warp_are_in_a_row_no_fact_about_rows_leaves_one_alone(p: P, rows: bool, expected: bool) -> None:
    assert loose(p, X, a, SIGMA, rows) is expected


NUMBERS: st.SearchStrategy[Expr] = st.sampled_from([a, b, c, s, Const(0), Const(1), Const(2)])


@st.composite
def sums(draw: st.DrawFn) -> Expr:
    x, y = draw(NUMBERS), draw(NUMBERS)
    found: list[Expr] = [x, op("+", x, y), op("-", x, y), op("*", x, 2), op("&", x, 1), op("*", x, y)]
    return draw(st.sampled_from(found))


@st.composite
def comparisons(draw: st.DrawFn) -> Expr:
    return op(draw(st.sampled_from(["==", "<=", "<"])), draw(st.one_of(NUMBERS, sums())), draw(sums()))


def stores(p: P) -> Iterator[dict[str, Value]]:
    """The stores of small numbers in which P holds."""
    for x, y, z, shared in product(*[range(-6, 7)] * 3, (-1, 0, 2)):
        store: dict[str, Value] = {"a": x, "b": y, "c": z, "s": shared}
        if all(value_of(fact, store) for fact in p):
            yield store


@given(st.lists(comparisons(), max_size=2), st.one_of(sums(), comparisons()))
def test_what_is_loose_differs_between_two_threads(p: list[Expr], e: Expr) -> None:
    """Of all shared values for which P holds at all; those near the ends of what is looked at are left out."""
    if not loose(tuple(p), X, e, SIGMA):
        return
    seen: dict[Value, set[Value]] = {}
    inner: set[Value] = set()
    for store in stores(tuple(p)):
        seen.setdefault(store["s"], set()).add(value_of(e, store))
        if all(abs(v) <= 1 for v in store.values()):
            inner.add(store["s"])
    assert all(len(seen[shared]) > 1 for shared in inner)


def test_a_walk_asks_no_oracle_about_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a loaded value, and of what is made of it; and finds as much as one that asks about all."""
    body = seq(
        Assign("a", Read("A", Tid("x"))),
        Assign("b", op("+", a, 1)),
        Assign("c", op("-", b, a)),
        Assign("s", op("+", n, 1)),
        Assume(op("<", op("+", b, s), op("+", c, 100))),
    )
    kernel = Kernel("k", (), tuple(SIGMA.arrays.values()), (), body)
    context = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch())

    def walked() -> tuple[object, list[Expr]]:
        oracle = Oracles()
        found = analyse(Outline(kernel, context, bare(body)), oracle)
        return found, [r.asked.expr for r in oracle.log if isinstance(r.asked, Uniform)]

    found, asked = walked()
    monkeypatch.setattr(flow, "loose", lambda *_: False)
    plain, all_asked = walked()
    assert found == plain
    assert op("+", a, 1) in all_asked
    assert op("+", a, 1) not in asked
    assert op("-", b, a) in asked


def test_all_is_uniform_in_a_block_of_one_thread() -> None:
    body = seq(Assign("a", op("+", b, 1)), Assume(op("<", a, 100)))
    kernel = Kernel("k", (), tuple(SIGMA.arrays.values()), (), body)
    for block, expected in (((1, 1, 1), {"a"}), ((2, 1, 1), set())):
        sigma = replace(SIGMA, params=dict.fromkeys(BUILTINS, INT))
        context = Context(sigma, METRICS["steps"], HARDWARE["nvidia"], Launch(block))
        assert analyse(Outline(kernel, context, bare(body)), Oracles()).end.x == expected
