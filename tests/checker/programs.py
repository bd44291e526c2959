"""Random well-typed kernels for end-to-end tests, most of whose loops end."""

from __future__ import annotations

from hypothesis import strategies as st

from logic.metrics import Hardware
from logic.syntax import (
    BOOL,
    INT,
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
    Tid,
    Var,
    While,
    Write,
    seq,
)

TINY = Hardware("tiny", sector=8, banks=4, word=4, warp=4, alignment=64)
"""Small enough that a handful of threads shows every effect of a warp."""

LOCALS = ("i", "j", "a", "b")
FLAGS = ("p", "q")
PARAMS = ("n", "m")
ARRAYS = (Array("G", "global", INT, 4), Array("H", "global", INT, 1), Array("S", "shared", INT, 4))


def one_of(*options: Expr) -> st.SearchStrategy[Expr]:
    """One of these expressions."""
    return st.sampled_from(options)


_CONSTANTS: st.SearchStrategy[Expr] = st.integers(-3, 9).map(Const)
_LEAVES: st.SearchStrategy[Expr] = st.one_of(
    _CONSTANTS,
    one_of(*(Var(x) for x in LOCALS)),
    one_of(*(Param(p) for p in PARAMS), Param("blockIdx.x"), Param("blockDim.x")),
    one_of(Tid("x"), Tid("x"), Tid("y")),
)


def _compound(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from(["+", "-", "*", "+", "min", "max"]), inner, inner),
        st.builds(
            lambda op, a, k: Op(op, (a, Const(k))), st.sampled_from(["/", "%", "&", ">>"]), inner, st.integers(1, 8)
        ),
        st.builds(Read, st.sampled_from(["G", "H", "S"]), inner),
    )


EXPRESSIONS: st.SearchStrategy[Expr] = st.recursive(_LEAVES, _compound, max_leaves=4)
COMPARISONS: st.SearchStrategy[Expr] = st.builds(
    lambda op, a, b: Op(op, (a, b)), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), EXPRESSIONS, EXPRESSIONS
)
CONDITIONS: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(COMPARISONS, COMPARISONS, one_of(*(Var(p) for p in FLAGS))),
    lambda e: st.one_of(
        st.builds(lambda a: Op("!", (a,)), e),
        st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from(["&&", "||"]), e, e),
    ),
    max_leaves=2,
)


@st.composite
def _counted(draw: st.DrawFn, body: st.SearchStrategy[Stmt]) -> Stmt:
    """x <- start; while (x < bound) { body; x <- x + step }, upward or downward, sometimes with x touched in the
    body."""
    x = draw(st.sampled_from(["i", "j"]))
    start = draw(st.one_of(_CONSTANTS, one_of(Param("n"), Tid("x"))))
    bound = draw(st.one_of(_CONSTANTS, one_of(Param("n"), Param("m"), Tid("x")), EXPRESSIONS))
    step = draw(st.integers(1, 3))
    inside = draw(body)
    if draw(st.booleans()):
        cond, move = Op(draw(st.sampled_from(["<", "<="])), (Var(x), bound)), Op("+", (Var(x), Const(step)))
    else:
        cond, move = Op(draw(st.sampled_from([">", ">="])), (Var(x), bound)), Op("-", (Var(x), Const(step)))
    return seq(Assign(x, start), While(cond, seq(inside, Assign(x, move))))


@st.composite
def _left_early(draw: st.DrawFn, body: st.SearchStrategy[Stmt]) -> Stmt:
    """A counted loop with a `break`, as the front end makes it: a flag in the guard, the rest under the flag."""
    x, stop, bound = draw(st.sampled_from(["i", "j"])), draw(CONDITIONS), draw(one_of(Param("n"), Const(5)))
    rest = seq(draw(body), Assign(x, Op("+", (Var(x), Const(1)))))
    guard = Op("&&", (Var("p"), Op("<", (Var(x), bound))))
    inside = seq(If(stop, Assign("p", Const(False, BOOL)), Skip()), If(Var("p"), rest, Skip()))
    return seq(Assign(x, Const(0)), Assign("p", Const(True, BOOL)), While(guard, inside))


def _statements(inner: st.SearchStrategy[Stmt]) -> st.SearchStrategy[Stmt]:
    return st.one_of(
        st.builds(seq, inner, inner),
        st.builds(If, CONDITIONS, inner, st.one_of(st.just(Skip()), inner)),
        _counted(inner),
        _left_early(inner),
        st.builds(While, CONDITIONS, inner),
    )


_SIMPLE: st.SearchStrategy[Stmt] = st.one_of(
    st.builds(Assign, st.sampled_from(LOCALS), EXPRESSIONS),
    st.builds(Assign, st.sampled_from(FLAGS), CONDITIONS),
    st.builds(Write, st.sampled_from(["G", "H", "S"]), EXPRESSIONS, EXPRESSIONS),
)
BODIES: st.SearchStrategy[Stmt] = st.recursive(_SIMPLE, _statements, max_leaves=6)


def kernel(body: Stmt) -> Kernel:
    """A kernel with this body over the names above."""
    locals_ = (*(Decl(x, INT) for x in LOCALS), *(Decl(p, BOOL) for p in FLAGS))
    return Kernel("k", tuple(Decl(p, INT) for p in PARAMS), ARRAYS, locals_, body)
