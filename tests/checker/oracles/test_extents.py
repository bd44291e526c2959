"""Extents of clamped values, against enumeration, and the windows that both checkers see by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.certificates import evidence
from checker.certificates.judge import decided, implied
from checker.notation import parse_expr
from checker.oracles import Oracles, farkas
from checker.oracles.extents import extent
from checker.oracles.windows import windows
from logic.assertions import AtMost, Context, Launch, Proved
from logic.facts import value_where
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Leaf, Poly, const, evaluate, leaves
from logic.syntax import BUILTINS, INT, Array, Const, Expr, Op, Param, Var, show
from logic.terms_as_json import expression
from logic.typing import Signature
from tests.checker.synthesis import bounded

X, Y, N = Var("x"), Var("y"), Param("n")
ARRAYS: Final = {"A": Array("A", "global", INT, 4)}
SIGMA: Final = Signature({"x": INT, "y": INT}, dict.fromkeys((*BUILTINS, "n"), INT), ARRAYS)
CONTEXT: Final = Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))


def own(p: Poly) -> bool:
    return not leaves(p) <= {N}


def stores(values: range = range(-9, 10)) -> Iterator[dict[Leaf, int]]:
    for x, y, n in product(values, repeat=3):
        yield {X: x, Y: y, N: n}


CLAMPED: Final[Mapping[str, tuple[tuple[str, ...], int]]] = {
    "min(abs(x), 3)": ((), 3),
    "min(max(x, 0), 3)": ((), 3),
    "max(min(3, x), 0)": ((), 3),
    "min(max(x, n - 4), n - 1)": ((), 3),
    "x % 5": ((), 8),
    "abs(x % 5)": ((), 4),
    "(x % 5 + 5) % 5": ((), 4),
    "x & 3": ((), 3),
    "4 * (x & 1) + (y & 3)": ((), 7),
    "n + 2 * int(x > y)": ((), 2),
    "x < 0 ? 0 : x > 5 ? 5 : x": ((), 5),
    "x > 0 ? n : n - 2": ((), 2),
    "x": (("x >= 0", "x < 4"), 3),
    "min(x, 4)": (("x >= 2",), 2),
    "x >> 1": (("x >= 0", "x < 8"), 3),
    "x / 2 - y": (("x >= 0", "x < 8", "y == 1"), 3),
}
"""Indices with what holds of them, and how far from a sum that lanes share they are at most."""


@pytest.mark.parametrize("index", CLAMPED)
def test_extents_have_all_values_and_no_others(index: str) -> None:
    facts, span = CLAMPED[index]
    e, p = parse_expr(index, SIGMA), tuple(parse_expr(fact, SIGMA) for fact in facts)
    found = extent(e, p, own, CONTEXT)
    assert found is not None
    shared, low, high = found
    added = {
        (value_where(e, s) or 0) - int(evaluate(shared, s)) for s in stores() if all(value_where(fact, s) for fact in p)
    }
    assert min(added) == low, (show(e), shared)
    assert max(added) == high
    assert high - low == span


@pytest.mark.parametrize(
    ("index", "facts"),
    [
        ("x", ()),
        ("x", ("x >= 0",)),
        ("max(x, 3)", ()),
        ("min(max(x, 0), n)", ()),
        ("x > 0 ? n : 0", ()),
        ("x * (y & 1)", ()),
    ],
)
def test_what_has_no_end_has_no_extent(index: str, facts: tuple[str, ...]) -> None:
    p = tuple(parse_expr(fact, SIGMA) for fact in facts)
    assert extent(parse_expr(index, SIGMA), p, own, CONTEXT) is None


def test_a_case_that_cannot_be_says_nothing() -> None:
    p = parse_expr("x >= 7", SIGMA), parse_expr("y >= 0", SIGMA)
    found = extent(parse_expr("min(x, 3) + 2 * min(max(y, 1), 2)", SIGMA), p, own, CONTEXT)
    assert found is not None
    assert found[1:] == (5, 7)


_LEAVES: Final = st.sampled_from([X, Y, N, Const(0), Const(1), Const(3), Const(-2)])


def _indices(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    """Larger expressions of smaller ones."""
    two = st.tuples(inner, inner)
    by = st.sampled_from([Const(2), Const(3), Const(4)])
    test = st.builds(Op, st.sampled_from(["<", "<=", "==", "!=", ">"]), two)
    return st.one_of(
        st.builds(Op, st.sampled_from(["+", "-", "min", "max"]), two),
        st.builds(lambda a: Op("abs", (a,)), inner),
        st.builds(lambda op, a, k: Op(op, (a, k)), st.sampled_from(["/", "%", ">>"]), inner, by),
        st.builds(lambda a, k: Op("&", (a, Const(k))), inner, st.sampled_from([1, 3, 6])),
        st.builds(lambda c, args: Op("?:", (c, *args)), test, two),
        st.builds(lambda c: Op("int", (c,)), test),
        st.builds(lambda a, k: Op("min", (Op("max", (a, Const(0))), Const(k))), inner, st.integers(0, 6)),
    )


@given(
    st.recursive(_LEAVES, _indices, max_leaves=6),
    st.lists(
        st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from(["<", ">=", "=="]), _LEAVES, _LEAVES), max_size=2
    ),
)
def test_extents_of_random_expressions(e: Expr, facts: list[Expr]) -> None:
    p = tuple(facts)
    found = extent(e, p, own, CONTEXT)
    for s in stores(range(-5, 6)) if found is not None else ():
        if found is not None and all(value_where(fact, s) for fact in p):
            here = (value_where(e, s) or 0) - evaluate(found[0], s)
            assert found[1] <= here <= found[2], (show(e), s)


WIDE: Final = Context(
    Signature(SIGMA.locals, SIGMA.params, {"A": Array("A", "global", INT, 32)}),
    *(CONTEXT.metric, CONTEXT.hardware, CONTEXT.launch),
)
"""Elements are a sector each: an access touches as many as its window has."""


def _asked(index: str, less: int = 0) -> AtMost:
    facts, span = CLAMPED[index]
    p = tuple(parse_expr(fact, SIGMA) for fact in facts)
    return AtMost("MemReads", p, frozenset(), "A", parse_expr(index, SIGMA), span + 1 - less)


@pytest.mark.parametrize("index", CLAMPED)
def test_both_checkers_count_as_much_as_the_window_has(index: str) -> None:
    o, fewer = _asked(index), _asked(index, 1)
    assert isinstance(Oracles()(o, WIDE), Proved)
    proof = evidence.proof(o, WIDE)
    assert decided(o, proof, WIDE)
    assert not isinstance(Oracles()(fewer, WIDE), Proved)
    assert not decided(fewer, proof, WIDE)
    assert evidence.proof(fewer, WIDE) is None


@pytest.mark.parametrize("index", CLAMPED)
def test_windows_that_are_too_small_or_elsewhere_are_refused(index: str) -> None:
    """The second checker takes a proof of the window, and not the same with an end moved, whatever is claimed of it."""
    o = _asked(index)
    start, span = min(windows(o.index, o.p, o.x, WIDE, 32), key=lambda window: window[1])
    goals = Op(">=", (o.index, start)), Op("<=", (o.index, Op("+", (start, Const(span)))))
    proof = farkas.entails(o.p, goals, WIDE, implied)
    assert proof is not None
    window = {"is": expression(o.index), "first": expression(start), "span": span, "by": proof}
    assert decided(o, window, WIDE)
    # with one element less, fewer sectors are enough: if such a window were taken, this would be, too
    fewer = _asked(index, 1)
    later = expression(Op("+", (start, Const(1))))
    for forged in ({**window, "span": span - 1}, {**window, "first": later, "span": span - 1}):
        assert not decided(fewer, forged, WIDE)
        assert not decided(o, forged, WIDE)


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ("x <- A[tid.x]; y <- A[min(max(x, 0), 7)];", 5),
        ("y <- A[min(max(A[tid.x], 0), 7)];", 5),
        ("y <- A[n / 8 * 8 + min(abs(A[tid.x]), 7)];", 5),
        ("y <- A[n * 8 + min(abs(A[tid.x]), 7)];", 5),
        ("x <- A[tid.x]; y <- x < 0 ? 0 : min(7, x); x <- A[y];", 5),
        ("x <- A[tid.x]; if (x >= 0 && x < 100) { y <- A[x / 13]; } else { skip; }", 5),
        ("x <- A[tid.x]; y <- A[min(max(x, n - 4), n - 1)];", 6),
        ("x <- A[tid.x] & 4294967295; y <- A[(x * 2654435761 & 4294967295) >> 28];", 6),
        ("x <- A[tid.x]; y <- A[int(x < n) * 8];", 6),
    ],
)
def test_bounds_by_windows_of_what_is_read(body: str, most: int) -> None:
    assert bounded.valid(bounded.result(body)) == const(most)
