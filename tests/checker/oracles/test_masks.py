"""Accesses whose indices have bits of threadIdx.x by masks that are not known, counted by both checkers, against all
masks and lanes.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker import oracles, recheck
from checker.certificates.judge import facts, frozen, judge
from checker.notation import parse_expr
from checker.oracles import Oracles
from checker.oracles.counts import What
from logic.assertions import Context, Dim, Launch
from logic.facts import value_where
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


def context(block: Dim, *assumed: Expr) -> Context:
    return Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch(block, assumptions=assumed))


Blocks = tuple[tuple[int, int, int], ...]


@lru_cache(maxsize=2)
def reached(e: Expr, blocks: Blocks, every: int = 1) -> frozenset[frozenset[int]]:
    """The indices of each warp of these blocks, at any of these values of parameters, or at one in so many."""
    used = {t for t in subterms(e) if isinstance(t, Param)}
    values = [(SHIFTS if p == K else MASKS) if p in used else (0,) for p in (M, N, K)]
    found = set[frozenset[int]]()
    for block, (m, n, k) in product(blocks, (*product(*values),)[::every]):
        x, y, z = block
        for first in range(0, x * y * z, 32):
            places = range(first, min(first + 32, x * y * z))
            stores: list[dict[Leaf, int]] = [
                {Tid("x"): i % x, Tid("y"): i // x % y, Tid("z"): i // (x * y), M: m, N: n, K: k} for i in places
            ]
            found.add(frozenset(int(value_where(e, store) or 0) for store in stores))
    return frozenset(found)


def dearest(array: Array, e: Expr, blocks: Blocks, every: int = 1) -> int:
    """The most that such a warp touches."""
    unit, banks = (32, 1) if array.space == "global" else (4, 32)
    touched = ({4 * i // unit for i in warp} for warp in reached(e, blocks, every))
    return max(n for units in touched for n in Counter(u % banks for u in units).values())


def counted(array: str, e: Expr, block: Dim, *assumed: Expr) -> int:
    """What the oracle says it is at most."""
    return Oracles()._count(WHAT[array], (), frozenset(), array, e, context(block, *assumed)).n


def shown(array: str, e: Expr, block: Dim, n: int, *assumed: Expr) -> bool:
    """Whether the second checker sees that it is no more than n."""
    recheck.start()
    to = judge(context(block, *assumed))
    index = frozen(e)
    return to.by_cases(
        facts(to, ()), frozenset(), index, lambda here: here.most(to.arrays[array], index, enough=n) <= n
    )


WHAT: Final[dict[str, What]] = {"G": "MemReads", "S": "Conflicts"}


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
        ("2 * tid.x - (tid.x & (6 * m + 1))", 8, 2),
        (APART, 8, 2),
        (WRAPS, 9, 2),
        ("tid.x ^ m", 4, 1),
        ("33 * (tid.x ^ m)", 32, 1),
        ("tid.x ^ (4 * m)", 4, 1),
        ("tid.x | m", 4, 1),
        ("(tid.x & m) / 2", 2, 1),
        ("(2 * tid.x) & m", 8, 2),
    ],
)
@pytest.mark.parametrize("shape", range(3))
def test_masks_that_are_not_known(index: str, sectors: int, conflicts: int, shape: int) -> None:
    e, (block, real) = parse_expr(index, SIGMA), BLOCKS[shape]
    for array, most in (("G", sectors), ("S", conflicts)):
        need = dearest(ARRAYS[array], e, real, 1 if "n" not in index else 3)
        assert need <= counted(array, e, block) <= most, f"{array}[{index}]"
        assert shown(array, e, block, most)
        assert not shown(array, e, block, need - 1)


def test_what_a_mask_leaves_may_be_as_little_as_0() -> None:
    e, (block, real) = parse_expr("min(tid.x & m, 40)", SIGMA), BLOCKS[1]
    assert dearest(ARRAYS["G"], e, real) == 4 <= counted("G", e, block)
    assert shown("G", e, block, 4)
    assert not shown("G", e, block, 3)


def test_masks_where_rows_begin_anywhere_are_not_tried() -> None:
    """They have too many cases: a certificate with some of them would be too much work."""
    e = parse_expr("2 * tid.x - (tid.x & (m - 1))", SIGMA)
    assert counted("S", e, (None, None, None)) == 32
    assert not shown("S", e, (None, None, None), 31)
    assert recheck.MAX_WORK - recheck.Work.left < recheck.MAX_WORK // 100


@pytest.mark.parametrize("size", ["32 * n + 16", "16 * n + 32", "n"])
def test_a_warp_has_ends_of_rows_unless_rows_are_whole_warps(size: str) -> None:
    """Where a row has 48 threads, the second warp has the end of one and the beginning of the next."""
    rows = parse_expr(f"blockDim.x == {size}", SIGMA)
    assert dearest(ARRAYS["G"], e := parse_expr("8 * (tid.y & 3)", SIGMA), ((48, 4, 1),)) == 2
    assert counted("G", e, (None, 4, 1), rows) >= 2
    assert not shown("G", e, (None, 4, 1), 1, rows)
    rows = parse_expr("blockDim.x == 64 * n + 32", SIGMA)
    assert counted("G", e, (None, 4, 1), rows) == 1
    assert shown("G", e, (None, 4, 1), 1, rows)


def test_a_mask_is_as_little_work_in_a_large_block() -> None:
    e = parse_expr("4 * (tid.x - (tid.x & (m - 1))) + (tid.x & (m - 1)) + m", SIGMA)
    for block in ((64, 1, 1), (1024, 1, 1)):
        assert shown("S", e, block, 4)
        assert recheck.MAX_WORK - recheck.Work.left < recheck.MAX_WORK // 15


@pytest.mark.parametrize(("index", "left_out"), [("32 * (tid.x & m)", -1), ("32 * (tid.x | m)", 0)])
@pytest.mark.parametrize("shape", range(2))
def test_a_case_that_is_left_out_shows(monkeypatch: pytest.MonkeyPatch, index: str, left_out: int, shape: int) -> None:
    e, (block, real) = parse_expr(index, SIGMA), BLOCKS[shape]
    need = dearest(ARRAYS["S"], e, real)
    assert counted("S", e, block) == need
    assert not shown("S", e, block, need - 1)
    parts, residues = recheck.Lanes.parts, oracles._residues

    def fewer(cases: list[Any]) -> list[Any]:
        del cases[left_out : left_out + 1 or None]
        return cases

    monkeypatch.setattr(recheck.Lanes, "parts", lambda self, e: map(fewer, parts(self, e)))
    monkeypatch.setattr(oracles, "_residues", lambda *args: fewer([*residues(*args)]))
    assert counted("S", e, block) < need
    assert shown("S", e, block, need - 1)


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
    if not {Tid("x"), M} <= {*subterms(e)}:
        e = Op("-", (e, Op("&", (Tid("x"), M))))
    block, real = BLOCKS[shape]
    for array in "GS":
        need = dearest(ARRAYS[array], e, real)
        assert need <= counted(array, e, block), show(e)
        try:
            assert not shown(array, e, block, need - 1), show(e)
        except recheck.TooMuch:
            continue
