"""Tiles with a halo: the loads of a loop over more elements than threads, at indices that are clamped."""

from __future__ import annotations

from checker.certificates.evidence import proof
from checker.certificates.judge import decided
from logic.assertions import AtMost, Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import INT, Array, Const, Expr, Op, Param, Tid, Var
from logic.typing import Signature

W, X0, COLUMN, GX, GY, FIRST = Param("w"), Var("x0"), Var("i"), Var("gx"), Var("gy"), Var("ghost:i")


def clamped(e: Expr) -> Expr:
    return Op("min", (Op("max", (e, Const(0))), Op("-", (W, Const(1)))))


INDEX = Op("+", (Op("*", (GY, W)), GX))
NAMES = ("x0", "i", "gx", "gy", "ghost:i")
SIGMA = Signature(dict.fromkeys(NAMES, INT), {"w": INT}, {"A": Array("A", "global", INT, 4)})
CONTEXT = Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch((16, 16, 1)))
TURN = Op("==", (FIRST, Op("-", (COLUMN, Tid("x")))))
"""Before the turn of a loop that begins at threadIdx.x."""


def at_most(n: int, *facts: Expr) -> AtMost:
    """A row of the tile a row of threads: 16 elements from where the first one is clamped to."""
    given = (TURN, Op("==", (GX, clamped(Op("+", (X0, COLUMN))))), Op("==", (GY, Tid("y"))), *facts)
    return AtMost("MemReads", given, frozenset(("x0", "ghost:i")), "A", INDEX, n)


def test_a_clamped_index_of_a_loop_is_a_window() -> None:
    """Two rows of a warp, each of 64 bytes that begin anywhere."""
    found = proof(at_most(6), CONTEXT)
    assert found is not None
    assert found["span"] >= 15
    assert decided(at_most(6), found, CONTEXT)
    assert not decided(at_most(5), found, CONTEXT)
    assert not decided(at_most(6), None, CONTEXT), "the lanes do not show it by themselves"


def test_without_the_ghosts_equation_there_is_none() -> None:
    o = at_most(6)
    assert proof(AtMost(o.what, o.p[1:], o.x, o.array, o.index, o.n), CONTEXT) is None
