"""Kernels for blocks of ten threads in warps of 4, 4 and 2, with barriers; some of them without races."""

from __future__ import annotations

from hypothesis import strategies as st

from logic.syntax import (
    INT,
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
)
from semantics.events import Dim
from tests.checker.programs import kernel as plain

DIM: Dim = (5, 2, 1)
TID = Tid("x")


def k(n: int) -> Const:
    return Const(n)


def op(a: Expr, o: str, b: Expr) -> Op:
    return Op(o, (a, b))


def kernel(body: Stmt) -> Kernel:
    """A kernel with one local more, which no random body touches."""
    base = plain(body)
    return Kernel(base.name, base.params, base.arrays, (*base.locals, Decl("r", INT)), body)


ROUND = Assign("r", op(Var("r"), "+", k(1)))
ROUNDS = op(Var("r"), "<", op(Param("n"), "%", k(3)))


def with_barriers(parts: list[Stmt], looped: bool) -> Stmt:
    """Barriers between the parts, all of it in a loop that all threads go round as often; or not."""
    between = [x for part in parts for x in (part, Sync())]
    body = seq(*between[: len(between) if looped else -1])
    return seq(Assign("r", k(0)), While(ROUNDS, seq(body, ROUND)), parts[0]) if looped else body


OWN = op(op(Tid("y"), "*", Param("blockDim.x")), "+", TID)
GLOBAL = op(OWN, "+", op(Param("blockIdx.x"), "*", k(10)))
LOCAL = st.sampled_from([Var("i"), Var("j"), TID, Tid("y"), OWN, Param("n"), k(0), k(1), k(3), Param("blockIdx.x")])


def phase(mine: bool) -> st.SearchStrategy[Stmt]:
    """Statements that write S at their own index and read it there, or read it anywhere and write G at their own."""
    shared = st.just(Read("S", OWN)) if mine else st.builds(Read, st.just("S"), LOCAL)
    value = st.recursive(
        LOCAL | shared | st.builds(Read, st.just("H"), LOCAL),
        lambda e: st.builds(op, e, st.sampled_from("+-*%"), e),
        max_leaves=3,
    )
    cond = st.builds(op, value, st.sampled_from(["<", ">=", "==", "!="]), value)
    simple = st.builds(Assign, st.sampled_from(["i", "j"]), value) | st.builds(
        Write, st.just("S" if mine else "G"), st.just(OWN if mine else GLOBAL), value
    )
    loop = st.builds(
        lambda bound, body: seq(
            Assign("a", k(0)),
            While(op(Var("a"), "<", op(bound, "%", k(4))), seq(body, Assign("a", op(Var("a"), "+", k(1))))),
        ),
        LOCAL | shared,
        simple,
    )
    return st.recursive(simple | loop, lambda s: st.builds(If, cond, s, s) | st.builds(seq, s, s), max_leaves=4)


SEPARATED = st.builds(
    lambda phases, looped: with_barriers([x for pair in phases for x in pair], looped),
    st.lists(st.tuples(phase(True), phase(False)), min_size=1, max_size=2),
    st.booleans(),
)
ENDING_EARLY = st.builds(
    lambda o, warp, s, rest: If(op(op(OWN, "/", k(4)), o, k(warp)), s, rest),
    st.sampled_from(["==", "!=", "<"]),
    st.integers(0, 2),
    SEPARATED,
    st.just(Skip()) | st.builds(Assign, st.just("i"), LOCAL),
)
RACE_FREE = SEPARATED | ENDING_EARLY
