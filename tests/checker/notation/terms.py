"""Random well-typed expressions, programs, potentials and outlines over one signature."""

from __future__ import annotations

from functools import lru_cache
from math import lcm

from hypothesis import strategies as st

from checker.synthesis.outline import Block, Branch, Loop, Outline, Partial, Plain, strip
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Poly, ceil_div, const, floor_div, interval, log2, maximum, minimum, sym
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
    Type,
    Var,
    While,
    Write,
    seq,
)
from logic.typing import check_kernel, signature

PARAMS = (Decl("n", INT), Decl("w", INT), Decl("flag", BOOL), Decl("s.gain", FLOAT))
ARRAYS = (
    Array("A", "global", INT, 4),
    Array("bytes", "global", INT, 1),
    Array("F", "global", FLOAT, 4),
    Array("P.x", "global", INT, 16, 4, 4),
    Array("odd", "global", BOOL, 8, 0, 4),
    Array("V", "global", Type("base", "float4", 16), 16),
    Array("S", "shared", INT, 4, length=33),
    Array("D", "shared", DOUBLE, 8),
)
LOCALS = (Decl("i", INT), Decl("end", INT), Decl("tid", INT), Decl("b", BOOL), Decl("f", FLOAT), Decl("d", DOUBLE))
SIGMA = signature(Kernel("k", PARAMS, ARRAYS, LOCALS, Skip()))

_INT_NAMES: list[Expr] = [
    Var("i"),
    Var("end"),
    Var("tid"),
    Param("n"),
    Param("w"),
    Param("blockIdx.x"),
    Param("warpSize"),
]
_TIDS: list[Expr] = [Tid("x"), Tid("y"), Tid("z")]
_ARITHMETIC = ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "min", "max"]
_COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]

Exprs = st.SearchStrategy[Expr]


def _op(ops: list[str], *args: Exprs) -> Exprs:
    return st.builds(lambda op, *rest: Op(op, rest), st.sampled_from(ops), *args)


@st.composite
def ints(draw: st.DrawFn, depth: int, *, pure: bool = False) -> Expr:
    """Integer expressions; pure ones have no array in them and no base type."""
    return draw(_ints(depth, pure=pure))


@st.composite
def bools(draw: st.DrawFn, depth: int, *, pure: bool = False) -> Expr:
    return draw(_bools(depth, pure=pure))


@st.composite
def floats(draw: st.DrawFn, depth: int) -> Expr:
    return draw(_floats(depth))


@lru_cache
def _ints(depth: int, *, pure: bool) -> Exprs:
    leaves = st.one_of(st.integers(-4, 40).map(Const), st.sampled_from([*_INT_NAMES, *_TIDS]))
    if depth == 0:
        return leaves
    e, b = ints(depth - 1, pure=pure), bools(depth - 1, pure=pure)
    inner = [leaves, _op(_ARITHMETIC, e, e), _op(["neg", "~", "abs"], e), _op(["?:"], b, e, e), _op(["int"], b)]
    if not pure:
        inner += [st.builds(Read, st.sampled_from(["A", "bytes", "P.x", "S"]), e), _op(["int"], floats(depth - 1))]
    return st.one_of(inner)


@lru_cache
def _bools(depth: int, *, pure: bool) -> Exprs:
    leaves: Exprs = st.sampled_from([TRUE, Const(False, BOOL), Var("b"), Param("flag")])
    if depth == 0:
        return leaves
    e, b = ints(depth - 1, pure=pure), bools(depth - 1, pure=pure)
    inner = [leaves, _op(_COMPARISONS, e, e), _op(["&&", "||", "==", "!="], b, b), _op(["!"], b), _op(["bool"], e)]
    if not pure:
        inner += [_op(["?:"], b, b, b), _op(_COMPARISONS, floats(depth - 1), floats(depth - 1))]
        inner += [st.builds(Read, st.just("odd"), e)]
    return st.one_of(inner)


@lru_cache
def _floats(depth: int) -> Exprs:
    literals: list[Expr] = [Const(text, FLOAT) for text in ("1.5f", "-2.0f", ".5f", "3f", "1e-5f", "2.f")]
    leaves: Exprs = st.sampled_from([*literals, Var("f"), Param("s.gain")])
    if depth == 0:
        return leaves
    f, e = floats(depth - 1), ints(depth - 1)
    calls = [_op(["call:sqrtf"], f), _op(["call:fmaf"], f, f, f), _op(["as:float"], e)]
    return st.one_of(
        leaves,
        _op(["+", "-", "*", "/", "min", "max"], f, f),
        _op(["neg", "abs"], f),
        _op(["?:"], bools(depth - 1), f, f),
        st.builds(Read, st.just("F"), e),
        *calls,
    )


def doubles() -> Exprs:
    return st.one_of(
        st.sampled_from([Const("0.1", DOUBLE), Const("-1e10", DOUBLE), Var("d")]), _op(["as:double"], floats(1))
    )


SIMPLE: st.SearchStrategy[Stmt] = st.one_of(
    st.just(Skip()),
    st.just(Sync()),
    st.builds(Assign, st.sampled_from(["i", "end", "tid"]), ints(3)),
    st.builds(Assign, st.just("b"), bools(2)),
    st.builds(Assign, st.just("f"), floats(2)),
    st.builds(Assign, st.just("d"), doubles()),
    st.builds(Write, st.sampled_from(["A", "bytes", "P.x", "S"]), ints(2), ints(1)),
    st.builds(Write, st.just("odd"), ints(1), bools(1)),
)

PROGRAMS: st.SearchStrategy[Stmt] = st.recursive(
    SIMPLE,
    lambda s: st.one_of(
        st.builds(seq, s, s),
        st.builds(If, bools(2), s, st.one_of(st.just(Skip()), s)),
        st.builds(While, bools(2), s),
    ),
    max_leaves=6,
)


def kernel(body: Stmt) -> Kernel:
    return Kernel("k", PARAMS, ARRAYS, LOCALS, body)


# --- potentials ------------------------------------------------------------------------------------------------------

_NUMBERS = st.fractions(-7, 7, max_denominator=6)
_SYMBOLS = st.sampled_from([sym(Var("i")), sym(Var("end")), sym(Param("n")), sym(Param("blockDim.x"))])


def _logarithm(p: Poly) -> Poly:
    return log2(p * lcm(*(c.denominator for _, c in p.terms)))


POLYS: st.SearchStrategy[Poly] = st.recursive(
    st.one_of(_NUMBERS.map(const), _SYMBOLS, _SYMBOLS),
    lambda p: st.one_of(
        st.builds(lambda a, b: a + b, p, p),
        st.builds(lambda a, b: a - b, p, p),
        st.builds(lambda a, b: a * b, p, p),
        st.builds(lambda a, c: a * c, p, _NUMBERS),
        st.builds(interval, p, p),
        st.builds(maximum, p, p),
        st.builds(minimum, p, p),
        st.builds(floor_div, p, st.integers(1, 9)),
        st.builds(ceil_div, p, st.integers(1, 9)),
        st.builds(_logarithm, p),
    ),
    max_leaves=8,
)

# --- outlines --------------------------------------------------------------------------------------------------------

FACTS = st.lists(bools(2, pure=True), max_size=3).map(lambda facts: conj(facts, SIGMA))
PARTIALS = st.builds(
    Partial,
    st.one_of(st.none(), FACTS),
    st.one_of(st.none(), POLYS),
    st.one_of(st.none(), st.frozensets(st.sampled_from([d.name for d in LOCALS]))),
)


def _blocks(inner: st.SearchStrategy[Block]) -> st.SearchStrategy[Block]:
    branches = st.builds(Branch, bools(1), inner, inner, st.sampled_from([None, "Q:If1", "Q:If4"]))
    loops = st.builds(Loop, bools(1), PARTIALS, inner, st.sampled_from([None, "Q:While2"]))
    return st.lists(st.one_of(PARTIALS, branches, loops), max_size=3).map(tuple)


_PLAIN = st.lists(st.one_of(PARTIALS, SIMPLE.map(Plain)), max_size=3).map(tuple)  # type: ignore[arg-type]
BLOCKS: st.SearchStrategy[Block] = st.recursive(_PLAIN, _blocks, max_leaves=4)

_SIZES = st.one_of(st.none(), st.sampled_from([1, 2, 8]))
_DIMS = st.tuples(_SIZES, _SIZES, _SIZES)
_ASSUMPTIONS = st.lists(
    st.sampled_from(
        [
            Op("==", (Op("%", (Param("w"), Const(8))), Const(0))),
            Op("!", (Param("flag"),)),
            Op("||", (Op("<", (Param("n"), Const(-1))), Op(">", (Param("blockDim.x"), Param("w"))))),
        ]
    )
).map(lambda facts: conj(facts, SIGMA))


@st.composite
def outlines(draw: st.DrawFn) -> Outline:
    body = draw(BLOCKS)
    whole = kernel(strip(body))
    launch = Launch(draw(_DIMS), draw(_DIMS), draw(_ASSUMPTIONS))
    metric = METRICS[draw(st.sampled_from(sorted(METRICS)))]
    context = Context(check_kernel(whole), metric, HARDWARE["nvidia"], launch, draw(st.sampled_from(["warp", "block"])))
    return Outline(whole, context, body)
