"""Accesses in blocks whose sizes are not known, counted by both checkers, against the warps of blocks of many sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Final, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checker.certificates.judge import facts, frozen, judge
from checker.notation import parse_expr
from checker.oracles import Oracles
from checker.oracles.counts import What
from checker.oracles.lanes import View
from checker.oracles.terms import prepared
from logic.assertions import Context, Launch, P
from logic.facts import value_where
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Leaf
from logic.syntax import BUILTINS, INT, Array, Const, Expr, Op, Param, Tid, Var, show, subterms
from logic.typing import Signature

N: Final = Param("n")
WIDE, TALL, DEEP = (Param(f"blockDim.{axis}") for axis in "xyz")
ARRAYS: Final = {"G": Array("G", "global", INT, 4), "S": Array("S", "shared", INT, 4)}
SIGMA: Final = Signature({"x": INT, "y": INT}, dict.fromkeys((*BUILTINS, "n"), INT), ARRAYS)
CONTEXT: Final = Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch((None, None, None)))

BLOCKS: Final = (
    *product((1, 2, 5, 17, 31), (1, 3, 7), (1, 3)),
    *((33, 2, 1), (40, 3, 2), (63, 2, 2), (64, 1, 2), (65, 2, 2), (16, 17, 2), (1, 40, 2), (32, 2, 2), (62, 8, 1)),
)
"""Sizes of blocks, with rows and planes that are shorter than a warp and longer."""


Warp = list[dict[Leaf, int]]


@cache
def warps(block: tuple[int, int, int], n: int) -> list[Warp]:
    x, y, _ = block
    leaves: tuple[Leaf, ...] = (Tid("x"), Tid("y"), Tid("z"), WIDE, TALL, DEEP, N)
    tids = [(i % x, i // x % y, i // (x * y)) for i in range(x * y * block[2])]
    threads = [dict(zip(leaves, (*tid, *block, n), strict=True)) for tid in tids]
    return [threads[i : i + 32] for i in range(0, len(threads), 32)]


def told(e: Expr, thread: Mapping[Leaf, int]) -> int:
    return int(value_where(e, thread) or 0)


def indices(e: Expr, p: P, every: int = 1) -> list[set[int]]:
    """What e is in each warp of these blocks, or of one in so many of them, where variables are what P says."""
    found = []
    numbers = (0, 3, 8, 64)[::every] if any(N in subterms(f) for f in (e, *p)) else (0,)
    pairs = [f.args for f in p if isinstance(f, Op) and f.op == "=="]
    known = [(v, d) for v, d in pairs if isinstance(v, Var)]
    for block, n in product(BLOCKS[::every], numbers):
        for warp in warps(block, n):
            stores = [t | {v: told(d, t) for v, d in known} for t in warp] if known else warp
            found.append({told(e, t) for t in stores if all(told(f, t) for f in p)})
    return found


def dearest(array: Array, warps: Iterable[set[int]]) -> int:
    """The most that a warp with these indices touches."""
    unit, banks = (32, 1) if array.space == "global" else (4, 32)
    touched = ({4 * i // unit for i in warp} for warp in warps)
    return max((n for units in touched for n in Counter(u % banks for u in units).values()), default=0)


def counted(array: str, e: Expr, p: P) -> tuple[int, int]:
    """What both checkers say it is at most."""
    what: What = "MemReads" if array == "G" else "Conflicts"
    to = judge(CONTEXT)
    first = Oracles()._count(what, p, frozenset(), array, e, CONTEXT).n
    return first, to.lanes(facts(to, p), frozenset()).most(to.arrays[array], frozen(e))


PLANE: Final = "tid.y * blockDim.x + tid.x"


@pytest.mark.parametrize(
    ("index", "facts_", "sectors", "conflicts"),
    [
        ("tid.x", (), 6, 2),
        (PLANE, (), 6, 2),
        (f"n + 2 * ({PLANE})", (), 11, 3),
        ("tid.x ^ 1", (), 6, 2),
        (f"({PLANE}) ^ 5", (), 6, 2),
        ("tid.x | 3", (), 6, 3),
        ("tid.x / 2", (), 4, 2),
        ("tid.x & ~1", (), 6, 2),
        ("8 * (tid.x / 4)", (), 10, 4),
        ("tid.x >> 5", (), 3, 2),
        ("8 * ((tid.x + 3) / 16)", (), 5, 2),  # 18 places at the end, and 14 at the beginning: none less
        ("33 * x + y", ("x == tid.x % 32", "y == tid.x / 32"), 32, 2),
        (f"({PLANE}) / 8", ("tid.x < 20",), 3, 2),
        ("blockDim.x - 1 - tid.x", (), 6, 2),
        ("max(tid.x - 1, 0)", (), 6, 2),
        ("min(max(tid.x - 1, 0), n - 1)", (), 7, 3),
        ("tid.x == 0 ? blockDim.x - 1 : tid.x - 1", (), 8, 4),
        (f"{PLANE} + tid.z", (), 32, 32),
        ("tid.x + tid.y", (), 32, 32),
        ("tid.y * n + tid.x", (), 32, 32),
    ],
)
def test_places_of_the_threads_of_a_warp(index: str, facts_: tuple[str, ...], sectors: int, conflicts: int) -> None:
    e, p = parse_expr(index, SIGMA), tuple(parse_expr(f, SIGMA) for f in facts_)
    reached = indices(e, p)
    for array, most in (("G", sectors), ("S", conflicts)):
        both = counted(array, e, p)
        assert max(both) == most
        real = dearest(ARRAYS[array], reached)
        assert real <= min(both), f"{array}[{index}]"
        assert real == most or "/ 16" not in index or array == "S", "the places are as the comment says"


_LEAVES: Final = st.sampled_from(
    [Tid("x"), Tid("x"), Tid("y"), N, WIDE, Const(1), Const(7), parse_expr(PLANE, SIGMA), parse_expr(PLANE, SIGMA)]
)


def _indices(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    """Larger indices of smaller ones."""
    two, by = st.tuples(inner, inner), st.sampled_from([Const(2), Const(3), Const(4), Const(32)])
    return st.one_of(
        st.builds(Op, st.sampled_from(["+", "-", "min", "max"]), two),
        st.builds(lambda op, a, k: Op(op, (a, k)), st.sampled_from(["/", "%", "*"]), inner, by),
        st.builds(lambda op, a, k: Op(op, (a, Const(k))), st.sampled_from(["&", "^", "|"]), inner, st.integers(-2, 9)),
        st.builds(lambda a, k: Op(">>", (a, Const(k))), inner, st.integers(1, 5)),
    )


@settings(max_examples=10)
@given(st.recursive(_LEAVES, _indices, max_leaves=4), st.booleans())
def test_random_indices(e: Expr, few: bool) -> None:
    p = (Op("<", (Tid("x"), Const(20))),) if few else ()
    assume(any(isinstance(leaf, Tid) for leaf in _leaves(e)))
    reached = indices(e, p, 3)
    for array in "GS":
        both = counted(array, e, p)
        assert dearest(ARRAYS[array], reached) <= min(both), show(e)


def _leaves(e: Expr) -> list[Expr]:
    return [part for a in e.args for part in _leaves(a)] if isinstance(e, Op) else [e]


@pytest.mark.parametrize("block", [(None, None, 1), (64, 1, 1)])
@pytest.mark.parametrize("index", ["tid.x", "3 * tid.x + n", "8 * (tid.x / 4)"])
def test_a_count_that_is_no_less_may_stop_early(index: str, block: tuple[int | None, int | None, int | None]) -> None:
    """Of less than was asked for it is the count; else it is as much as that, or more, and not the count."""
    e, context = prepared(parse_expr(index, SIGMA), SIGMA)[0], replace(CONTEXT, launch=Launch(block))
    for what, array, span in product(get_args(What), "GS", (0, 5)):
        view = View((), frozenset(), context, SIGMA)
        most = view.count(what, array, e, span).n
        for less in {2, most, most + 1}:
            found = view.count(what, array, e, span, less).n
            assert found == most if most < less else found >= less
