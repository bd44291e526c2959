"""Accesses whose indices have bits of threadIdx.x by masks, or shifts, that are not known, counted by both checkers,
against all masks and lanes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checker import recheck
from checker.certificates.judge import facts, frozen, judge
from checker.notation import parse_expr
from checker.oracles import Oracles, counts
from checker.oracles.counts import What
from logic.assertions import Context, Dim, Launch
from logic.facts import value
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Leaf
from logic.syntax import BUILTINS, INT, Array, Const, Expr, Op, Param, Tid, show, subterms
from logic.typing import Signature

M, N, K = Param("m"), Param("n"), Param("k")
ARRAYS: Final = {"G": Array("G", "global", INT, 4), "S": Array("S", "shared", INT, 4)}
SIGMA: Final = Signature({}, dict.fromkeys((*BUILTINS, "m", "n", "k"), INT), ARRAYS)
BLOCKS: Final[tuple[tuple[Dim, tuple[tuple[int, int, int], ...]], ...]] = (
    ((64, 1, 1), ((64, 1, 1),)),
    ((None, 1, 1), ((17, 1, 1), (32, 1, 1), (96, 1, 1))),
    ((32, None, None), ((32, 2, 2),)),
    ((17, 5, 1), ((17, 5, 1),)),
)
"""Sizes that are known of blocks, and blocks of these sizes."""

MASKS: Final = (*range(-2, 32), 32, 45, 63, 64, 96, 127, 1 << 20, -33, -64)
SHIFTS: Final = (-1, *range(9), 31, 70)


def context(block: Dim) -> Context:
    return Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch(block))


def dearest(array: Array, e: Expr, blocks: tuple[tuple[int, int, int], ...], every: int = 1) -> int:
    """The most that a warp of these blocks touches, at any of these values of parameters, or of one in so many."""
    unit, banks = (32, 1) if array.space == "global" else (4, 32)
    used = {t for t in subterms(e) if isinstance(t, Param)}
    values = [(SHIFTS if p == K else MASKS) if p in used else (0,) for p in (M, N, K)]
    most = 0
    for block, (m, n, k) in product(blocks, (*product(*values),)[::every]):
        x, y, z = block
        for first in range(0, x * y * z, 32):
            places = range(first, min(first + 32, x * y * z))
            stores: list[dict[Leaf, int]] = [
                {Tid("x"): i % x, Tid("y"): i // x % y, Tid("z"): i // (x * y), M: m, N: n, K: k} for i in places
            ]
            units = {4 * int(value(e, store) or 0) // unit for store in stores}
            most = max(most, *Counter(u % banks for u in units).values())
    return most


def counted(array: str, e: Expr, block: Dim) -> tuple[int, int]:
    """What both checkers say it is at most."""
    what: What = "MemReads" if array == "G" else "Conflicts"
    to = judge(context(block))
    first = Oracles()._count(what, (), frozenset(), array, e, context(block)).n
    return first, to.lanes(facts(to, ()), frozenset()).most(to.arrays[array], frozen(e))


APART: Final = "((tid.x & ~(m - 1)) << 1) | (tid.x & (m - 1))"
"""A bit is put in, as in sorting networks."""

WRAPS: Final = "(2 * tid.x - (tid.x & (m - 1)) + n) & 4294967295"


@pytest.mark.parametrize(
    ("index", "sectors", "conflicts"),
    [
        ("tid.x & m", 4, 1),
        ("(tid.x & m) + n", 5, 1),
        ("2 * tid.x - (tid.x & (m - 1))", 8, 2),
        ("2 * tid.x - (tid.x & (m - 1)) + m", 8, 2),
        ("4 * (tid.x - (tid.x & (m - 1))) + (tid.x & (m - 1))", 16, 4),
        ("2 * tid.x - (tid.x & (m / 4 - 1))", 8, 2),
        ("2 * tid.x - (tid.x & ((1 << k) - 1))", 8, 2),
        ("2 * tid.x - (tid.x & (6 * m + 1))", 8, 2),
        (APART, 8, 2),
        (WRAPS, 9, 2),
        ("tid.x ^ m", 4, 1),
        ("33 * (tid.x ^ m)", 32, 1),
        ("tid.x ^ (4 * m)", 4, 1),
        ("tid.x | m", 4, 1),
        ("(tid.x & m) / 2", 2, 1),
        ("tid.x >> k", 5, 1),
        ("2 * tid.x - (tid.x >> k)", 9, 2),
        ("tid.x + (tid.x >> k) + n", 9, 2),
    ],
)
@pytest.mark.parametrize("shape", range(3))
def test_masks_that_are_not_known(index: str, sectors: int, conflicts: int, shape: int) -> None:
    e, (block, real) = parse_expr(index, SIGMA), BLOCKS[shape]
    for array, most in (("G", sectors), ("S", conflicts)):
        both = counted(array, e, block)
        assert dearest(ARRAYS[array], e, real, 1 if "n" not in index else 3) <= min(both), f"{array}[{index}]"
        assert max(both) <= most + (index == APART and block[0] == 64)  # the last lane of a warp has 64 ones


@pytest.mark.parametrize(
    ("index", "left_out"), [("32 * (tid.x & m)", -1), ("32 * (tid.x | m)", 0), ("32 * (tid.x >> k)", 0)]
)
def test_a_case_that_is_left_out_shows(monkeypatch: pytest.MonkeyPatch, index: str, left_out: int) -> None:
    e, (block, real) = parse_expr(index, SIGMA), BLOCKS[1]
    need = dearest(ARRAYS["S"], e, real)
    assert counted("S", e, block) == (need, need)
    chosen, ways = recheck.Lanes._chosen, counts._chosen

    def fewer(*args: Any) -> Iterator[Any]:
        found = [*chosen(*args)] if isinstance(args[0], recheck.Lanes) else [*ways(*args)]
        del found[left_out : left_out + 1 or None]
        yield from found

    monkeypatch.setattr(recheck.Lanes, "_chosen", fewer)
    monkeypatch.setattr(counts, "_chosen", fewer)
    assert max(counted("S", e, block)) < need


_LEAVES: Final = st.sampled_from([Tid("x"), Tid("x"), Tid("x"), M, M, K, Const(1), Const(7), Const(40)])


def _indices(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    """Larger indices of smaller ones."""
    two, by = st.tuples(inner, inner), st.sampled_from([Const(2), Const(3), Const(8), Const(32), K])
    return st.one_of(
        st.builds(Op, st.sampled_from(["&", "|", "^", "&", "+", "-", "min"]), two),
        st.builds(lambda op, a, k: Op(op, (a, k)), st.sampled_from(["/", "%", "*", ">>"]), inner, by),
        st.builds(lambda a: Op("~", (a,)), inner),
    )


@settings(max_examples=25)
@given(st.recursive(_LEAVES, _indices, max_leaves=6), st.integers(0, len(BLOCKS) - 1))
def test_random_indices(e: Expr, shape: int) -> None:
    used = {*subterms(e)}
    assume(Tid("x") in used and (M in used or K in used))
    block, real = BLOCKS[shape]
    for array in "GS":
        need = dearest(ARRAYS[array], e, real)
        try:
            assert need <= min(counted(array, e, block)), show(e)
        except recheck.TooMuch:
            continue
