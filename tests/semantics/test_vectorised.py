"""The fast engine says what the reference says: costs of every warp, stores, errors, on programs with races too."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from logic.metrics import COUNTED, FIXED, METRICS, Hardware, Linear, Metric
from logic.source import Loc, SourceError
from logic.syntax import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    TRUE,
    Array,
    Assign,
    Const,
    Decl,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    seq,
    show_stmt,
)
from semantics import grid, vectorised
from semantics.cuda import read_cuda
from semantics.grid import BarrierDivergence, LaunchProblem
from semantics.lockstep import Initial, StepLimit
from semantics.values import ValueProblem
from tests.examples import examples

ROOT = Path(__file__).resolve().parents[2]

TINY = Hardware("tiny", sector=8, banks=4, word=4, warp=4, alignment=64)
ODD = Hardware("odd", sector=12, banks=3, word=6, warp=5, alignment=12)
ONE = Hardware("one", warp=1)
METRIC = Metric(
    "mixed",
    {c: Fraction(k + 1, k + 2) for k, c in enumerate(FIXED)},
    {c: Linear(Fraction(k + 1, 7), Fraction(-k, 3)) for k, c in enumerate(COUNTED)},
)
ALL = (*METRICS.values(), METRIC)

ARRAYS = (
    Array("G", "global", INT, 4),
    Array("H", "global", INT, 1),
    Array("F", "global", FLOAT, 12, 4, 4),
    Array("D", "global", DOUBLE, 8),
    Array("P", "global", BOOL, 1),
    Array("S", "shared", INT, 4),
    Array("T", "shared", INT, 16, 2, 9, length=6),
    Array("E", "shared", DOUBLE, 8),
)
INTS, FLAGS, FLOATS, DOUBLES = ("i", "j", "a", "b"), ("p", "q"), ("x",), ("y",)
LOCALS = (
    *(Decl(n, INT) for n in INTS),
    *(Decl(n, BOOL) for n in FLAGS),
    *(Decl(n, FLOAT) for n in FLOATS),
    *(Decl(n, DOUBLE) for n in DOUBLES),
)


def kernel(body: Stmt) -> Kernel:
    return Kernel("k", (Decl("n", INT), Decl("m", INT), Decl("z", DOUBLE)), ARRAYS, LOCALS, body)


# --- the comparison --------------------------------------------------------------------------------------------------


def outcome(run: Callable[..., grid.Result], *args: Any, **options: Any) -> Any:
    """Everything that a run says; NaN equal to itself, 0.0 unlike -0.0."""
    try:
        r = run(*args, **options)
    except SourceError as e:
        return type(e), str(e), e.advice, getattr(e, "cost", None), getattr(e, "block", None), getattr(e, "split", None)
    arrays = {a: {i: (type(v), repr(v)) for i, v in c.items()} for a, c in r.arrays.items()}
    return r.totals, r.max_per_warp, r.warps, arrays, r.out_of_bounds


def warps_of(monkeypatch: pytest.MonkeyPatch, *args: Any, **options: Any) -> tuple[list[Any], list[Any]]:
    """The costs of every warp by the reference, and by the fast engine; none where it left the run to the reference."""
    slow: list[Any] = []
    fast: list[Any] = []
    block, attempt = grid._run_block, vectorised._attempt

    def watched_block(*a: Any) -> Any:
        costs = block(*a)
        slow.extend(c.parts for c in costs)
        return costs

    def watched_attempt(chunk: Any, warps: int) -> Any:
        costs = attempt(chunk, warps)
        units = [p.unit for p in chunk.prices]
        fast.extend(zip(*([Fraction(int(n), u) for n in c] for c, u in zip(costs, units, strict=True)), strict=True))
        return costs

    monkeypatch.setattr(grid, "_run_block", watched_block)
    grid.run(*args, **options)
    monkeypatch.undo()
    monkeypatch.setattr(vectorised, "_attempt", watched_attempt)
    engine = vectorised.run(*args, **options).engine
    monkeypatch.undo()
    return slow, fast if engine == "fast" else []


def agree(*args: Any, **options: Any) -> None:
    assert outcome(vectorised.run, *args, **options) == outcome(grid.run, *args, **options)


# --- random programs -------------------------------------------------------------------------------------------------


def pick(*options: Expr) -> st.SearchStrategy[Expr]:
    return st.sampled_from(options)


CONSTANTS: st.SearchStrategy[Expr] = st.integers(-3, 9).map(Const)
LEAVES: st.SearchStrategy[Expr] = st.one_of(
    CONSTANTS,
    pick(*(Var(x) for x in INTS)),
    pick(Param("n"), Param("m"), Param("blockIdx.x"), Param("blockIdx.y"), Param("blockDim.x"), Param("gridDim.x")),
    pick(Tid("x"), Tid("x"), Tid("y"), Tid("z")),
)
LOC = st.one_of(st.none(), st.integers(1, 3).map(lambda n: Loc("f.cu", n, 1)))
NUMBER = {"int": ("G", "H", "S", "T"), "float": ("F",), "double": ("D", "E"), "bool": ("P",)}


def _compound(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    binary = ["+", "-", "*", "+", "min", "max", "/", "%", "<<", ">>", "&", "|", "^"]
    return st.one_of(
        st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from(binary), inner, inner),
        st.builds(lambda op, a, k: Op(op, (a, Const(k))), st.sampled_from(["/", "%", "&"]), inner, st.integers(1, 8)),
        st.builds(lambda op, a: Op(op, (a,)), st.sampled_from(["neg", "~", "abs"]), inner),
        st.builds(Read, st.sampled_from(["G", "H", "S", "S", "T"]), inner, LOC),
        st.builds(lambda c, a, b: Op("?:", (c, a, b)), st.deferred(lambda: CONDITIONS), inner, inner),
        st.deferred(lambda: REALS).map(lambda e: Op("int", (e,))),
    )


EXPRESSIONS: st.SearchStrategy[Expr] = st.recursive(LEAVES, _compound, max_leaves=4)
REALS: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(
        pick(Var("y"), Param("z"), Const("0.0", DOUBLE), Const("-1.5", DOUBLE), Const("0.1", DOUBLE)),
        LEAVES.map(lambda e: Op("as:double", (e,))),
        st.builds(Read, st.sampled_from(["D", "E"]), LEAVES),
        st.deferred(lambda: SINGLES).map(lambda e: Op("as:double", (e,))),
    ),
    lambda e: st.one_of(
        st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from(["+", "-", "*", "/", "min", "max"]), e, e),
        st.builds(
            lambda op, a: Op(op, (a,)),
            st.sampled_from(["neg", "abs", "call:sqrt", "call:exp", "call:round", "call:floor", "call:sin"]),
            e,
        ),
        st.builds(lambda a, b: Op("call:pow", (a, b)), e, e),
    ),
    max_leaves=3,
)
SINGLES: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(
        pick(Var("x"), Const("0.1f", FLOAT), Const("3e38f", FLOAT)),
        LEAVES.map(lambda e: Op("as:float", (e,))),
        st.builds(Read, st.just("F"), LEAVES),
    ),
    lambda e: st.one_of(
        st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from(["+", "-", "*", "/", "min", "max"]), e, e),
        st.builds(lambda op, a: Op(op, (a,)), st.sampled_from(["neg", "call:sqrtf", "call:__expf", "call:rsqrtf"]), e),
    ),
    max_leaves=3,
)
COMPARISONS = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
CONDITIONS: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(
        st.builds(lambda op, a, b: Op(op, (a, b)), COMPARISONS, EXPRESSIONS, EXPRESSIONS),
        st.builds(lambda op, a, b: Op(op, (a, b)), COMPARISONS, LEAVES, LEAVES),
        st.builds(lambda op, a, b: Op(op, (a, b)), COMPARISONS, REALS, REALS),
        st.builds(Read, st.just("P"), LEAVES),
        LEAVES.map(lambda e: Op("bool", (e,))),
        pick(*(Var(p) for p in FLAGS)),
    ),
    lambda e: st.one_of(
        st.builds(lambda a: Op("!", (a,)), e),
        st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from(["&&", "||", "==", "!="]), e, e),
    ),
    max_leaves=2,
)


@st.composite
def counted(draw: st.DrawFn, body: st.SearchStrategy[Stmt]) -> Stmt:
    """A loop that mostly ends, as often for all threads as for each its own number of times."""
    x = draw(st.sampled_from(["i", "j"]))
    bound = draw(st.one_of(CONSTANTS, pick(Param("n"), Param("m"), Tid("x"), Tid("y")), EXPRESSIONS))
    cond = Op(draw(st.sampled_from(["<", "<="])), (Var(x), bound))
    move = Assign(x, Op("+", (Var(x), Const(draw(st.integers(1, 3))))))
    return seq(Assign(x, draw(LEAVES)), While(cond, seq(draw(body), move), draw(LOC)))


def _statements(inner: st.SearchStrategy[Stmt]) -> st.SearchStrategy[Stmt]:
    return st.one_of(
        st.builds(seq, inner, inner),
        st.builds(seq, inner, inner, inner),
        st.builds(If, CONDITIONS, inner, st.one_of(st.just(Skip()), inner), LOC),
        counted(inner),
        counted(inner),
        st.builds(While, CONDITIONS, inner, LOC),
    )


SIMPLE: st.SearchStrategy[Stmt] = st.one_of(
    st.builds(Assign, st.sampled_from(INTS), EXPRESSIONS),
    st.builds(Assign, st.sampled_from(FLAGS), CONDITIONS),
    st.builds(Assign, st.just("x"), SINGLES),
    st.builds(Assign, st.just("y"), REALS),
    st.builds(Write, st.sampled_from(["G", "H", "S", "S", "T"]), EXPRESSIONS, EXPRESSIONS, LOC),
    st.builds(Write, st.sampled_from(["S", "G"]), LEAVES, LEAVES, LOC),
    st.builds(Write, st.just("F"), LEAVES, SINGLES),
    st.builds(Write, st.sampled_from(["D", "E"]), LEAVES, REALS),
    st.builds(Write, st.just("P"), LEAVES, CONDITIONS),
    st.builds(Sync, LOC),
)
PARTS: st.SearchStrategy[Stmt] = st.recursive(SIMPLE, _statements, max_leaves=5)
BODIES: st.SearchStrategy[Stmt] = st.lists(PARTS, min_size=1, max_size=6).map(lambda parts: seq(*parts))
"""Most programs race: they have few places to write to."""
BLOCKS = ((4, 1, 1), (6, 1, 1), (9, 1, 1), (2, 2, 1), (3, 2, 2), (16, 1, 1), (4, 4, 1), (1, 1, 1))
GRIDS = ((1, 1, 1), (2, 1, 1), (3, 2, 1), (5, 1, 2))


@pytest.mark.whole
@examples(25, 5000)
@given(
    BODIES,
    st.sampled_from(BLOCKS),
    st.sampled_from(GRIDS),
    st.sampled_from((TINY, TINY, ODD, ONE)),
    st.sampled_from((1, 16, 2**18)),
    st.sampled_from((20, 300, 2000)),
    st.data(),
)
def test_random_programs(
    body: Stmt,
    block: tuple[int, int, int],
    extent: tuple[int, int, int],
    hardware: Hardware,
    lanes: int,
    limit: int,
    data: st.DataObject,
) -> None:
    number = st.integers(-4, 9)
    args = {"n": data.draw(number), "m": data.draw(number), "z": data.draw(st.sampled_from((0.0, -0.0, 2.5, math.nan)))}
    contents = {
        "G": data.draw(st.sampled_from(([], [1, 5, 2, 0, 3, 9, 4, 7], {0: 3, 7: -2}, Initial(lambda i: 2 * i, 9)))),
        "H": data.draw(st.sampled_from((np.arange(6, dtype=np.uint8), Initial(lambda i: i % 5), Initial(None, 3)))),
        "D": data.draw(st.sampled_from(([0.5, -1.0, math.inf], np.linspace(0, 1, 7), Initial(lambda i: i / 8)))),
        "F": data.draw(st.sampled_from((np.array([0.1, 1e30, -2], np.float32), Initial(), {2: 0.3}))),
    }
    note(f"{show_stmt(body)}\n{block} {extent} {hardware.name} {args} {contents}")
    k = kernel(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectorised, "LANES", lanes)
        options = {"metrics": ALL, "hardware": hardware, "step_limit": limit}
        expected = outcome(grid.run, k, block, extent, args, contents, **options)
        assert outcome(vectorised.run, k, block, extent, args, contents, **options) == expected
        if not isinstance(expected[0], type):
            slow, fast = warps_of(patch, k, block, extent, args, contents, **options)
            assert fast in (slow, [])


# --- the kernels of the suite ----------------------------------------------------------------------------------------

WORDS = np.random.default_rng(7).integers(0, 2**32, 300)


@pytest.mark.parametrize(
    ("name", "block", "extent", "args", "arrays"),
    [
        ("vectorAdd", (64, 1, 1), (5, 1, 1), {"numElements": 300}, {"A": np.linspace(0, 1, 300)}),
        ("matMul", (32, 4, 1), (2, 2, 1), {"wA": 40, "wB": 33}, {}),
        ("matMulTrans", (8, 8, 1), (2, 1, 1), {"wA": 33, "wB": 34}, {}),
        ("matMulBad", (8, 8, 1), (2, 1, 1), {"wA": 9, "wB": 16}, {}),
        *((f"reduce{i}", (64, 1, 1), (3, 1, 1), {"n": 150}, {"g_idata": Initial(lambda i: i)}) for i in "0123"),
        *((f"reduce{i}a", (64, 1, 1), (3, 1, 1), {"n": 150}, {"g_idata": Initial(lambda i: i)}) for i in "23"),
        *((f"addSub{i}", (40, 1, 1), (2, 1, 1), {"w": 37, "h": 60}, {}) for i in range(4)),
        ("histogram256", (64, 1, 1), (3, 1, 1), {"dataCount": 300}, {"d_Data": WORDS}),
        ("synBrdis", (40, 1, 1), (1, 1, 1), {"N": 3, "M": 4}, {}),
        ("synBrdisOpt", (40, 1, 1), (1, 1, 1), {"N": 3, "M": 4}, {}),
        (
            "mandelbrot",
            (8, 8, 1),
            (2, 1, 1),
            {"width": 20, "height": 14, "crunch": 12, "left": -2.0, "top": -1.0, "scale": 0.15}
            | {"across": 3, "numBlocks": 6},
            {},
        ),
        ("fan2", (40, 1, 1), (1, 1, 1), {"N": 30, "t": 2}, {"M": np.linspace(0, 3, 900)}),
        ("listRanking", (8, 1, 1), (4, 1, 1), {"N": 60, "len": 7}, {"next": (np.arange(60) * 7 + 3) % 60}),
    ],
)
def test_the_suite(name: str, block: Any, extent: Any, args: Any, arrays: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    k = read_cuda(str(ROOT / "proofs" / name / "kernel.cu"), None).kernel
    agree(k, block, extent, args, arrays)
    slow, fast = warps_of(monkeypatch, k, block, extent, args, arrays)
    assert fast == slow


# --- order -----------------------------------------------------------------------------------------------------------

TID = Tid("x")
ZERO, ARGS = Const(0), {"n": 0, "m": 0, "z": 0.0}
GLOBAL = Op("+", (Op("*", (Param("blockIdx.x"), Param("blockDim.x"))), TID))


def op(a: Expr, o: str, b: Expr) -> Expr:
    return Op(o, (a, b))


def modes(monkeypatch: pytest.MonkeyPatch, *args: Any, **options: Any) -> list[tuple[int, int, bool, bool]]:
    """First block, blocks, taking turns and exactness of the chunks that the fast engine kept."""
    kept: list[tuple[int, int, bool, bool]] = []
    attempt = vectorised._attempt

    def watched(chunk: Any, warps: int) -> Any:
        costs = attempt(chunk, warps)
        kept.append((chunk.first, chunk.blocks, chunk.columns, chunk.exact))
        return costs

    with monkeypatch.context() as patch:
        patch.setattr(vectorised, "_attempt", watched)
        agree(*args, **options)
    return kept


@pytest.mark.parametrize("index", [GLOBAL, TID])
def test_no_race_all_warps_at_once(index: Expr, monkeypatch: pytest.MonkeyPatch) -> None:
    """One write of all warps is in order, wherever they write; the order starts anew with every chunk."""
    body = Write("G", index, op(GLOBAL, "*", Const(3)))
    assert modes(monkeypatch, kernel(body), (64, 1, 1), (20, 1, 1), ARGS) == [
        (0, 1, False, False),
        (1, 8, False, False),
        (9, 11, False, False),
    ]


def test_a_race_in_a_block_lets_its_warps_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    add = Write("S", ZERO, op(Read("S", ZERO), "+", Const(1)))
    body = seq(add, Sync(), add, Sync(), Write("G", GLOBAL, Read("S", ZERO)))
    kept = modes(monkeypatch, kernel(body), (96, 1, 1), (20, 1, 1), ARGS)
    assert kept == [(0, 1, True, True), (1, 8, True, False), (9, 11, True, False)]


def test_a_race_between_blocks_runs_them_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    body = seq(
        Write("S", TID, TID),
        If(op(TID, "==", ZERO), Write("G", ZERO, op(Read("G", ZERO), "+", Const(1))), Skip()),
        Write("G", op(GLOBAL, "+", Const(5)), Read("G", ZERO)),
    )
    # warp 1 reads G[0] after warp 0 wrote it: in order inside a block
    kept = modes(monkeypatch, kernel(body), (64, 1, 1), (12, 1, 1), ARGS)
    assert kept == [(b, 1, False, False) for b in range(12)]


def test_turns_do_not_help_where_blocks_stop_at_different_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Odd blocks have no barrier; together with even ones they would stop at theirs."""
    odd = op(op(Param("blockIdx.x"), "%", Const(2)), "==", Const(1))
    add = Write("S", ZERO, op(Read("S", ZERO), "+", Const(1)))
    body = seq(add, If(odd, Skip(), Sync()), Write("G", GLOBAL, Read("S", ZERO)))
    kept = modes(monkeypatch, kernel(body), (96, 1, 1), (20, 1, 1), ARGS)
    assert kept == [(b, 1, True, True) for b in range(20)]


@pytest.mark.parametrize("value", [TID, GLOBAL, Read("G", op(GLOBAL, "+", Const(7)))])
@pytest.mark.parametrize("index", [ZERO, op(TID, "%", Const(3)), op(TID, "/", Const(40)), op(GLOBAL, "/", Const(2))])
def test_the_last_writer_wins(index: Expr, value: Expr) -> None:
    agree(kernel(Write("G", index, value)), (70, 1, 1), (3, 1, 1), ARGS, {"G": Initial(lambda i: i * i)})
    agree(kernel(seq(Write("S", index, value), Write("G", GLOBAL, Read("S", index)))), (70, 1, 1), (3, 1, 1), ARGS)


@pytest.mark.parametrize("array", ["G", "S"])
def test_what_an_access_costs_is_remembered_for_its_lanes_and_layout(array: str) -> None:
    """The same index at fewer lanes, in other warps and of an array with other elements costs something else."""
    far, index = Assign("a", op(TID, "*", Const(8))), Var("a")
    other = {"G": "D", "S": "T"}[array]
    some = If(op(op(TID, "%", Const(32)), "<", Const(3)), Assign("b", Read(array, index)), Skip())
    most = If(op(TID, ">", Const(33)), Assign("b", Read(array, index)), Assign("b", Read(array, index)))
    wide = Write("G", index, Const(1)) if array == "G" else Write("T", index, Const(1))
    body = seq(far, Assign("b", Read(array, index)), some, Write(other, index, Read(array, index)), most, wide)
    typed = body if array == "S" else seq(far, Assign("b", Read(array, index)), some, most, wide)
    agree(kernel(typed), (70, 1, 1), (2, 1, 1), ARGS)


def test_a_later_warp_that_writes_first() -> None:
    """All warps but the last are at the loop when the last writes: in the reference it writes after they read."""
    loop = seq(Assign("i", ZERO), While(op(Var("i"), "<", Const(3)), Assign("i", op(Var("i"), "+", Const(1)))))
    for array in ("G", "S"):
        early = If(op(TID, ">=", Const(64)), Write(array, ZERO, Const(9)), loop)
        agree(kernel(seq(early, Write("G", op(TID, "+", Const(1)), Read(array, ZERO)))), (96, 1, 1), (2, 1, 1), ARGS)


def test_a_warp_that_passes_barriers_alone() -> None:
    """Warp 0 passes two barriers while warp 1 ends early; before that warp 1 reads what warp 0 writes."""
    first = op(TID, "<", Const(32))
    then = seq(Write("S", ZERO, Const(1)), Sync(), Write("S", ZERO, Const(2)), Sync())
    agree(kernel(seq(If(first, then, Skip()), Write("G", TID, Read("S", ZERO)))), (64, 1, 1), (3, 1, 1), ARGS)
    other = seq(Sync(Loc("f.cu", 1, 1)), Assign("a", Read("S", ZERO)), Sync(Loc("f.cu", 2, 1)))
    agree(kernel(If(first, then, seq(other, Write("G", TID, Var("a"))))), (64, 1, 1), (3, 1, 1), ARGS)
    here = Sync(Loc("f.cu", 1, 1))
    one = seq(Write("S", ZERO, Const(1)), here, Write("S", ZERO, Const(2)), here, Write("G", TID, Read("S", ZERO)))
    two = seq(Assign("a", Read("S", ZERO)), here, Assign("b", Read("S", ZERO)), here, Write("G", TID, Var("b")))
    agree(kernel(If(first, one, two)), (64, 1, 1), (3, 1, 1), ARGS)


def test_the_last_reader_is_not_the_highest() -> None:
    """Warp 2 reads, then warp 0, then warp 1 writes: in the reference warp 2 reads what it wrote."""
    read = [If(c, Assign("a", Read("S", ZERO)), Skip()) for c in (op(TID, ">=", Const(64)), op(TID, "<", Const(32)))]
    middle = op(op(TID, ">=", Const(32)), "&&", op(TID, "<", Const(64)))
    write = If(middle, Write("S", ZERO, Const(5)), Skip())
    agree(kernel(seq(*read, write, Write("G", GLOBAL, Var("a")))), (96, 1, 1), (3, 1, 1), ARGS)


@pytest.mark.parametrize("contents", [{}, {"G": Initial(lambda i: 3 * i)}, {"G": {100: 4}}])
def test_what_was_written_out_of_order_is_taken_back(contents: Any) -> None:
    """Before the race shows, warp 1 has written G[100]; in the reference it writes G[107]."""
    early = seq(Assign("a", Read("S", ZERO)), Write("G", op(Var("a"), "+", Const(100)), Const(1)))
    body = seq(
        If(op(TID, ">=", Const(32)), early, Skip()), If(op(TID, "<", Const(32)), Write("S", ZERO, Const(7)), Skip())
    )
    agree(
        kernel(seq(body, Assign("b", Read("G", Const(100))), Write("G", TID, Var("b")))),
        (64, 1, 1),
        (3, 1, 1),
        ARGS,
        contents,
    )


# --- errors ----------------------------------------------------------------------------------------------------------


def test_a_loop_without_end_in_a_late_block() -> None:
    spin = While(TRUE, Assign("a", op(Var("a"), "+", Const(1))), Loc("f.cu", 3, 5))
    late = op(op(Param("blockIdx.x"), "==", Const(37)), "&&", op(TID, ">", Const(40)))
    body = seq(Write("G", GLOBAL, TID), If(late, spin, Skip()))
    with pytest.raises(StepLimit, match=r"the loop at f\.cu:3:5 did not end within 500 steps"):
        vectorised.run(kernel(body), (64, 1, 1), (60, 1, 1), ARGS, step_limit=500)
    agree(kernel(body), (64, 1, 1), (60, 1, 1), ARGS, step_limit=500)


def test_the_step_limit_is_for_a_warp() -> None:
    """Warps that part take more statements together than each of them alone."""
    loop = While(op(Var("i"), "<", TID), Assign("i", op(Var("i"), "+", Const(4))))
    body = seq(loop, If(op(TID, "<", Const(32)), seq(*[Assign("a", ZERO)] * 20), seq(*[Assign("b", ZERO)] * 20)))
    for limit in range(40, 60):
        agree(kernel(body), (64, 1, 1), (2, 1, 1), ARGS, step_limit=limit)


def test_barrier_divergence_in_a_late_block() -> None:
    half = If(op(TID, "<", Const(40)), seq(Skip(), Sync(Loc("f.cu", 4, 7))), Skip(), Loc("f.cu", 3, 5))
    body = If(op(Param("blockIdx.x"), ">", Const(30)), half, Sync(Loc("f.cu", 9, 1)))
    with pytest.raises(BarrierDivergence, match=r"block \(31,0,0\): 8 of the 32 threads of warp 1"):
        vectorised.run(kernel(body), (64, 1, 1), (40, 1, 1), ARGS)
    agree(kernel(body), (64, 1, 1), (40, 1, 1), ARGS)
    two = If(op(TID, "<", Const(32)), Sync(Loc("f.cu", 2, 1)), Sync(Loc("f.cu", 4, 1)))
    agree(kernel(two), (64, 1, 1), (40, 1, 1), ARGS)
    uneven = While(op(Var("i"), "<", op(TID, "/", Const(32))), seq(Sync(), Assign("i", op(Var("i"), "+", Const(1)))))
    agree(kernel(seq(uneven, Write("G", TID, Var("i")))), (96, 1, 1), (4, 1, 1), ARGS)
    agree(kernel(seq(uneven, Sync())), (96, 1, 1), (4, 1, 1), ARGS)


def test_what_has_no_value() -> None:
    for bad in (Op("call:frob", (Read("D", TID),)), Const("one", DOUBLE)):
        body = If(op(TID, ">", Param("n")), Write("D", TID, bad), Skip())
        with pytest.raises(ValueProblem):
            vectorised.run(kernel(body), (64, 1, 1), (2, 1, 1), ARGS)
        for n in (0, 100):
            agree(kernel(body), (64, 1, 1), (2, 1, 1), ARGS | {"n": n})


@pytest.mark.parametrize(
    ("args", "arrays", "message"),
    [
        (ARGS | {"k": 1}, {}, "no parameter 'k'"),
        ({"n": 1}, {}, "parameter 'm' has no value"),
        (ARGS, {"S": [1]}, "no global array 'S'"),
    ],
)
def test_launches_that_cannot_be(args: Any, arrays: Any, message: str) -> None:
    with pytest.raises(LaunchProblem, match=message):
        vectorised.run(kernel(Skip()), (32, 1, 1), (1, 1, 1), args, arrays)


def test_out_of_bounds_as_the_reference_meets_it() -> None:
    """Warp 1 meets the second place before the first; a later phase of warp 0 counts for less than warp 1 now."""
    one, two = Loc("f.cu", 1, 1), Loc("f.cu", 2, 1)
    body = seq(
        If(op(TID, "<", Const(32)), Skip(), Write("T", op(TID, "+", Const(9)), TID, two)),
        Sync(),
        Write("T", op(TID, "-", Const(3)), TID, one),
        Assign("a", Read("G", op(GLOBAL, "*", Const(2)), one)),
        Write("G", op(Const(9), "-", GLOBAL), TID, two),
    )
    agree(kernel(body), (64, 1, 1), (12, 1, 1), ARGS, {"G": [1] * 50})
    found = vectorised.run(kernel(body), (64, 1, 1), (12, 1, 1), ARGS, {"G": [1] * 50}).out_of_bounds
    assert [(o.kind, o.array, o.index, o.thread.tid[0]) for o in found] == [
        ("store", "T", 41, 32),
        ("store", "T", -3, 0),
        ("load", "G", 50, 25),
        ("store", "G", -1, 10),
    ]


def test_the_first_access_out_of_bounds_of_the_first_warp() -> None:
    """Warp 1 comes first to both places; in the reference warp 0 does, and its second access is not reported."""
    one, two = Loc("f.cu", 1, 1), Loc("f.cu", 2, 1)
    again = seq(
        Write("T", op(TID, "+", op(Var("i"), "+", Const(50))), TID, one), Assign("i", op(Var("i"), "+", Const(1)))
    )
    body = seq(
        If(op(TID, ">=", Const(32)), seq(Write("T", Const(90), TID, two), Write("T", Const(91), TID, one)), Skip()),
        While(op(Var("i"), "<", Const(3)), again),
        Write("T", op(Const(-1), "-", TID), TID, Loc("f.cu", 3, 1)),
    )
    agree(kernel(body), (64, 1, 1), (3, 1, 1), ARGS)
    found = vectorised.run(kernel(body), (64, 1, 1), (3, 1, 1), ARGS).out_of_bounds
    assert [(o.index, o.thread.tid[0]) for o in found] == [(50, 0), (-1, 0), (90, 32)]


# --- values ----------------------------------------------------------------------------------------------------------


def test_integers_that_do_not_fit_are_left_to_the_reference() -> None:
    body = seq(
        Assign("a", op(TID, "+", Const(2))),
        *[Assign("a", op(Var("a"), "*", Var("a")))] * 7,
        Write("G", GLOBAL, Var("a")),
    )
    result = vectorised.run(kernel(body), (32, 1, 1), (2, 1, 1), ARGS)
    assert (result.engine, result.arrays["G"][1]) == ("reference", 3**128)
    agree(kernel(body), (32, 1, 1), (2, 1, 1), ARGS)


def test_bounds_that_are_too_wide_are_taken_anew() -> None:
    """i doubles and is brought back: its bounds alone would leave 64 bits after 60 rounds."""
    loop = While(
        op(Var("i"), "<", Const(200)),
        seq(
            Assign("a", op(op(Var("a"), "*", Const(2)), "+", TID)),
            If(op(Var("a"), ">", Const(1000)), Assign("a", op(Var("a"), "-", Const(999))), Skip()),
            If(op(Var("a"), ">", Const(1000)), Assign("a", op(Var("a"), "%", Const(7))), Skip()),
            Assign("i", op(Var("i"), "+", Const(1))),
        ),
    )
    body = seq(loop, Write("G", GLOBAL, Var("a")))
    assert vectorised.run(kernel(body), (40, 1, 1), (2, 1, 1), ARGS).engine == "fast"
    agree(kernel(body), (40, 1, 1), (2, 1, 1), ARGS)


def test_an_inactive_lane_does_not_overflow() -> None:
    body = seq(
        Assign("a", TID),
        *[If(op(TID, "<", Const(2)), Assign("a", op(Var("a"), "*", Op("+", (Var("a"), Var("a"))))), Skip())] * 3,
        *[If(op(TID, "==", ZERO), Assign("b", op(op(Var("b"), "*", Const(2**40)), "*", Var("a"))), Skip())] * 9,
        Write("G", TID, op(Var("a"), "+", Var("b"))),
    )
    assert vectorised.run(kernel(body), (32, 1, 1), (1, 1, 1), ARGS).engine == "fast"
    agree(kernel(body), (32, 1, 1), (1, 1, 1), ARGS)


def test_a_copy_of_a_local_is_its_own() -> None:
    """Some warps write a, all copy it, some write it again and copy it twice."""
    late = op(TID, ">=", Const(32))
    body = seq(
        If(late, Assign("a", Const(1)), Skip()),
        Assign("b", Var("a")),
        If(late, seq(Assign("a", op(Var("a"), "+", Const(2))), Assign("j", Var("a")), Assign("a", Const(4))), Skip()),
        *(Write("G", op(op(GLOBAL, "*", Const(3)), "+", Const(k)), Var(x)) for k, x in enumerate("abj")),
    )
    agree(kernel(body), (64, 1, 1), (3, 1, 1), ARGS)
    found = vectorised.run(kernel(body), (64, 1, 1), (3, 1, 1), ARGS).arrays["G"]
    assert [found[3 * 40 + k] for k in range(3)] == [4, 1, 3]


def integers(most: int) -> st.SearchStrategy[tuple[list[int], list[int]]]:
    numbers = st.lists(st.one_of(st.integers(-most, most), st.integers(-3, 3)), min_size=8, max_size=8)
    return st.tuples(numbers, numbers)


OPERATORS = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "min", "max", "<", "==")


@pytest.mark.parametrize("o", OPERATORS)
@examples(8, 2000)
@given(operands=st.sampled_from((9, 2**33, 2**70)).flatmap(integers))
def test_operators_on_integers(o: str, operands: tuple[list[int], list[int]]) -> None:
    left, right = operands
    if o == "<<":
        right = [min(b, 80) for b in right]
    value = op(Read("G", TID), o, Read("H", TID))
    body = Write("P", TID, value) if o in ("<", "==") else Write("G", TID, value)
    agree(kernel(body), (8, 1, 1), (1, 1, 1), ARGS, {"G": left, "H": right})


REAL = st.one_of(st.floats(), st.sampled_from((0.0, -0.0, 1e-45, 1e-320, 3e38, 2**63, math.nan)))


@given(
    st.sampled_from(["+", "-", "*", "/", "min", "max", "<", "!=", "call:fmod", "call:atan2f", "call:hypot"]),
    st.sampled_from(["neg", "abs", "call:sqrtf", "call:rint", "call:log", "call:roundf", "call:tanh", "call:erf"]),
    st.sampled_from(("F", "D")),
    st.lists(REAL, min_size=2, max_size=6),
    st.lists(REAL, min_size=2, max_size=6),
)
def test_operators_on_floats(o: str, function: str, array: str, left: list[float], right: list[float]) -> None:
    value = op(Read(array, TID), o, Op(function, (Read(array, op(TID, "+", Const(len(left)))),)))
    write = Write("P", TID, value) if o in ("<", "!=") else Write(array, TID, value)
    whole = Write("G", TID, Op("int", (Read(array, TID),)))
    agree(kernel(seq(write, whole)), (8, 1, 1), (1, 1, 1), ARGS, {array: left + right})


@given(
    st.lists(st.integers(-40, 200), min_size=5, max_size=5),
    st.integers(1, 9),
    st.integers(0, 20),
    st.integers(1, 40),
    st.sampled_from(
        (
            TINY,
            ODD,
            Hardware("n"),
            Hardware("w", warp=5, banks=5, word=2),
            replace(ODD, phase=12),
            replace(TINY, phase=8),
        )
    ),
    st.integers(0, 6),
)
def test_accesses_of_every_layout(
    indices: list[int], stride: int, offset: int, width: int, hardware: Hardware, active: int
) -> None:
    arrays = (Array("G", "global", INT, stride, offset, width), Array("S", "shared", INT, stride, offset, width))
    where = Read("I", TID)
    body = If(op(TID, "<", Const(active)), seq(Write("G", where, Read("S", where)), Write("S", where, ZERO)), Skip())
    k = Kernel("k", (), (*arrays, Array("I", "global", INT, 4)), (), body)
    agree(k, (5, 1, 1), (2, 1, 1), {}, {"I": indices}, hardware=hardware)


# --- memory ----------------------------------------------------------------------------------------------------------


def test_elements_that_were_given_or_written() -> None:
    body = Write("G", op(GLOBAL, "*", Const(1000)), TID)
    found = vectorised.run(kernel(body), (32, 1, 1), (6, 1, 1), ARGS, {"D": np.array([0.5, 2])}).arrays
    assert (len(found["G"]), found["G"][33_000], list(found["G"])[-1]) == (192, 1, 191_000)
    assert found["D"] == {0: 0.5, 1: 2.0}
    for absent in (1, -1, 10**9):
        assert absent not in found["G"]
    assert found["H"] == {}


def test_indices_beyond_memory_are_left_to_the_reference() -> None:
    body = Write("G", op(GLOBAL, "*", Const(10**12)), TID)
    result = vectorised.run(kernel(body), (32, 1, 1), (2, 1, 1), ARGS)
    assert (result.engine, result.arrays["G"][33 * 10**12]) == ("reference", 1)


def test_progress_is_told() -> None:
    for run in (vectorised.run, grid.run):
        told: list[int] = []
        run(kernel(Write("G", TID, ZERO)), (8, 1, 1), (20, 1, 1), ARGS, progress=told.append)
        assert told == sorted(set(told))
        assert told[-1] == 20
