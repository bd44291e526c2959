"""The lanes of warps: shapes of blocks, narrowing by P, and the index patterns of section 10."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from checker.certificates.evidence import proof
from checker.certificates.judge import decided, frozen, judge
from checker.oracles import Oracles, lanes, samples
from checker.oracles.terms import prepared, value_of
from logic.assertions import AtMost, Context, Dim, Entails, Launch, Proved, Refuted, Uniform, Unknown, conj
from logic.metrics import HARDWARE, METRICS, conflicts_by_lane, sectors
from logic.metrics import conflicts as words
from logic.syntax import BUILTINS, DOUBLE, FLOAT, INT, Array, Const, Expr, Op, Param, Read, Tid, Var
from logic.typing import Signature

ROOT: Final = Path(__file__).resolve().parents[3]
NVIDIA = HARDWARE["nvidia"]
SIGMA = Signature(
    dict.fromkeys(("i", "j", "k", "x"), INT) | {"f": FLOAT},
    dict.fromkeys((*BUILTINS, "n", "s", "wA"), INT) | {"alpha": FLOAT},
    {
        a.name: a
        for a in (
            Array("A", "global", FLOAT, 4),
            Array("D", "global", DOUBLE, 8),
            Array("C", "global", INT, 1),
            Array("Fx", "global", FLOAT, 12, 4, 4),
            Array("Fxy", "global", FLOAT, 12, 0, 8),
            Array("S", "shared", FLOAT, 4),
            Array("T", "shared", DOUBLE, 8),
            Array("N", "global", INT, 4),
        )
    },
)
TX, TY = Tid("x"), Tid("y")
K, N, S, WA = Var("k"), Param("n"), Param("s"), Param("wA")


def op(name: str, *args: Expr | int) -> Op:
    return Op(name, tuple(Const(a) if isinstance(a, int) else a for a in args))


GID = op("+", op("*", Param("blockDim.x"), Param("blockIdx.x")), TX)


def context(block: Dim, *assumptions: Expr, scope: str = "warp") -> Context:
    launch = Launch(block, assumptions=conj(assumptions, SIGMA))
    return Context(SIGMA, METRICS["sectors"], NVIDIA, launch, "block" if scope == "block" else "warp")


def reads(array: str, index: Expr, block: Dim, *p: Expr, assume: tuple[Expr, ...] = ()) -> int:
    ctx = context(block, *assume)
    return Oracles(limit=0.5).least("MemReads", conj(p, SIGMA), frozenset({"k"}), array, index, ctx)


def banks(array: str, index: Expr, block: Dim, *p: Expr, assume: tuple[Expr, ...] = ()) -> int:
    ctx = context(block, *assume)
    return Oracles(limit=0.5).least("Conflicts", conj(p, SIGMA), frozenset({"k"}), array, index, ctx)


def verdict(e: Expr, block: Dim, *p: Expr, scope: str = "warp", assume: tuple[Expr, ...] = ()) -> object:
    ctx = context(block, *assume, scope=scope)
    return Oracles(limit=1.0)(Uniform(conj(p, SIGMA), frozenset({"k"}), e), ctx)


def uniform(e: Expr, block: Dim, *p: Expr, scope: str = "warp", assume: tuple[Expr, ...] = ()) -> bool:
    return isinstance(verdict(e, block, *p, scope=scope, assume=assume), Proved)


@pytest.mark.parametrize("a", [*range(-33, 34, 3), -8, -1, 1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("lanes", [1, 2, 7, 16, 31, 32])
def test_strided_reads_at_an_unknown_offset_are_exact(a: int, lanes: int) -> None:
    truth = max(sectors([4 * (a * t + c) for t in range(lanes)], 4, NVIDIA) for c in range(8))
    assert reads("A", op("+", op("*", TX, a), K), (lanes, 1, 1)) == truth


@pytest.mark.parametrize(("array", "aligned", "shifted"), [("A", 4, 5), ("D", 8, 9), ("C", 1, 2), ("Fx", 12, 13)])
def test_consecutive_elements(array: str, aligned: int, shifted: int) -> None:
    assert reads(array, GID, (256, 1, 1)) == aligned
    assert reads(array, op("+", GID, N), (256, 1, 1)) == shifted


def test_facts_about_parameters_align_rows() -> None:
    row = op("+", op("*", WA, TY), TX)
    eights = op("==", op("%", WA, 8), 0)
    assert reads("A", row, (32, 32, 1)) == 5
    assert reads("A", row, (32, 32, 1), assume=(eights,)) == 4
    assert reads("A", row, (32, 32, 1), op("==", op("&", WA, 7), 0)) == 4
    assert reads("A", row, (16, 16, 1)) == 6
    assert reads("A", row, (16, 16, 1), assume=(eights,)) == 4
    assert reads("A", row, (16, 16, 1), assume=(op("==", op("%", WA, 4), 0),)) == 5
    assert reads("A", row, (16, 16, 1), assume=(op("==", op("%", WA, 4), 0), op("==", op("%", WA, 6), 2))) == 5
    assert reads("A", row, (16, 16, 1), assume=(op("==", op("%", WA, 4), 0), op("==", op("%", WA, 3), 2))) == 5
    assert reads("A", row, (16, 16, 1), assume=(op("==", op("%", WA, 4), 0), op("==", op("%", WA, 24), 16))) == 4
    assert reads("A", row, (16, 16, 1), op("==", WA, op("*", K, 8))) == 4


def test_a_remainder_that_is_not_zero_aligns_too() -> None:
    assert reads("A", op("+", TX, N), (32, 1, 1), op("==", op("%", N, 8), 0)) == 4
    assert reads("A", op("+", TX, N), (32, 1, 1), op("==", op("%", N, 8), 3)) == 5
    assert reads("A", op("+", op("+", TX, N), 5), (32, 1, 1), op("==", op("%", N, 8), 3)) == 4
    assert reads("A", op("+", op("+", TX, N), 5), (32, 1, 1), op("==", op("%", N, -8), 3)) == 4
    assert reads("A", op("+", op("+", TX, N), 3), (32, 1, 1), op("==", op("%", N, 8), -3)) == 4
    assert not uniform(op("*", TX, op("%", WA, 5)), (32, 1, 1), op("==", op("&", WA, 4), 0), op(">=", WA, 0))
    some = (op("==", op("%", N, 8), 3), op(">=", N, 3), op("<=", N, 12))
    assert reads("A", op("*", TX, 8), (32, 1, 1), op(">=", TX, N), *some) == 29


def test_lanes_that_facts_exclude_though_the_first_may_be_there() -> None:
    few = op("<", op("+", N, TX), 8)
    assert reads("A", TX, (32, 1, 1), few, op(">=", N, 0)) == 1
    assert reads("A", TX, (32, 1, 1), few) == 4
    assert reads("A", TX, (32, 1, 1), op("||", op("<", TX, 8), op("<", op("+", N, TX), 3)), op(">=", N, 0)) == 1


def test_rows_of_100() -> None:
    index = op("+", op("*", TY, 100), TX)
    assert reads("A", index, (32, 32, 1)) == 5
    assert reads("A", index, (48, 2, 1)) == 5  # the second warp: 16 lanes of row 0, 16 of row 1


def test_warps_that_straddle_rows() -> None:
    assert not uniform(TY, (48, 2, 1))
    assert uniform(TY, (32, 32, 1))
    assert uniform(TY, (64, 4, 1))
    assert not uniform(TY, (32, 32, 1), scope="block")
    assert not uniform(TY, (16, 16, 1))
    assert uniform(TY, (48, 2, 1), op("<", GID, 32), op("==", Param("blockIdx.x"), 0), op("==", TY, 0))
    assert uniform(op("/", TX, 32), (256, 1, 1))
    assert not uniform(op("/", TX, 16), (256, 1, 1))
    assert uniform(op("/", TX, 16), (16, 16, 1))


def test_tiles_of_a_matrix_product() -> None:
    assert banks("S", op("+", op("*", TY, 32), K), (32, 32, 1)) == 1
    assert banks("S", op("+", op("*", K, 32), TX), (32, 32, 1)) == 1
    assert banks("S", op("+", op("*", TX, 32), TY), (32, 32, 1)) == 32
    assert banks("S", op("+", op("*", TX, 33), TY), (32, 32, 1)) == 1
    assert banks("S", op("+", op("*", TX, 32), K), (32, 32, 1), op("==", op("%", TX, 2), 0)) == 16
    assert banks("T", TX, (32, 32, 1)) == 2
    assert banks("S", op("+", op("*", TY, 32), TX), (16, 16, 1)) == 2
    assert banks("S", op("+", op("*", TY, 16), TX), (16, 16, 1)) == 1
    assert reads("A", op("+", op("+", op("*", TY, 100), TX), N), (16, 16, 1)) == 6


def test_symbolic_strides_are_as_bad_as_their_worst_class() -> None:
    index = op("*", TX, N)
    assert banks("S", index, (32, 1, 1)) == 32
    assert banks("S", index, (32, 1, 1), op("==", op("%", N, 2), 1)) == 1
    assert banks("S", index, (32, 1, 1), op("==", op("%", N, 4), 2)) == 2
    assert banks("S", index, (8, 1, 1)) == 8
    assert reads("A", index, (32, 1, 1)) == 32


def test_a_small_unknown_is_tried_value_by_value() -> None:
    index = op("*", op("*", K, 2), TX)
    guard = (op(">=", K, 1), op("<", K, 64), op("<", index, 64))
    truth = max(
        max(sum(2 * k * t < 64 and 2 * k * t % 32 == bank for t in range(32)) for bank in range(32))
        for k in range(1, 64)
    )
    assert banks("S", index, (64, 1, 1), *guard) == truth == 2


def test_a_small_divisor_is_tried_value_by_value() -> None:
    assert reads("A", op("/", TX, K), (32, 1, 1), op(">=", K, 1), op("<=", K, 3)) == 4
    assert reads("A", op("/", TX, K), (32, 1, 1), op(">=", K, 2), op("<=", K, 3)) == 2
    assert reads("A", op("/", TX, K), (32, 1, 1), op(">=", K, 0), op("<=", K, 3)) == 4
    assert reads("A", op("/", op("*", TX, 8), K), (32, 1, 1), op(">=", K, 1), op("<=", K, 3)) == 32


def test_narrowing_by_p() -> None:
    assert reads("A", GID, (256, 1, 1), op("<", TX, 8)) == 1
    assert reads("A", op("*", TX, 8), (32, 1, 1), op("==", op("%", TX, 2), 0)) == 16
    even = op("==", op("%", op("+", op("*", Param("blockIdx.x"), 32), TX), 2), 0)
    assert reads("A", op("*", TX, 8), (32, 1, 1), even) == 16
    assert reads("A", op("*", TX, 8), (32, 1, 1), op("==", op("%", op("+", op("*", N, 32), TX), 2), 0)) == 16
    # n may be negative: (32 * n + tid.x) % 2 == 1 keeps odd lanes only, but all of them
    assert reads("A", op("*", TX, 8), (32, 1, 1), op("==", op("%", op("+", op("*", N, 32), TX), 2), 1)) == 16
    assert reads("A", op("*", TX, 8), (32, 1, 1), op("||", op("<", TX, 4), op(">", TX, 29))) == 6
    assert reads("A", op("*", TX, 8), (32, 1, 1), op("<", TX, N)) == 32


@pytest.mark.parametrize("block", [(64, 1, 1), (None, 1, 1), (16, 16, 1)])
def test_banks_of_rows_that_nothing_is_known_of(block: Dim) -> None:
    """A row of 32 words leaves the bank as it is; two lanes' rows are two, and what is read at i not what is at j."""
    tiled = int(block == (16, 16, 1))
    rows, read = op("*", 32, Var("i")), op("*", 64, Read("N", Var("j")))
    assert banks("S", op("+", rows, op("+", TX, op("*", 16, TY))), block) == (1 if block[1] == 1 or tiled else 32)
    assert banks("S", op("+", TX, rows), block) == 1 + tiled
    assert banks("S", op("+", TX, read), block) == 1 + tiled
    assert banks("S", op("+", op("*", 32, K), TX), block) == 1
    assert banks("S", op("+", TX, op("*", 31, Var("i"))), block) == banks("S", rows, block) == 32
    assert reads("A", op("+", TX, rows), block) == 32


@pytest.mark.parametrize("block", [(256, 1, 1), (None, 1, 1), (16, 16, 1)])
def test_one_lane_by_an_equation(block: Dim) -> None:
    """What says where the thread is leaves out all others, also where it is a definition of threadIdx."""
    rows = 2 if block == (16, 16, 1) else 1
    assert reads("A", op("*", TX, 8), block, op("==", TX, 0)) == 1
    assert reads("A", Var("i"), block, op("==", TX, 5), op("<", TX, N)) == rows
    assert banks("S", op("*", TX, 32), block, op("==", 3, TX)) == 1
    assert reads("A", op("*", TX, 8), block, op("==", TX, N), op("==", TX, 3)) == 1
    assert reads("A", op("*", TX, 8), block, op("==", TX, Var("j"))) == (16 if rows == 2 else 32)


def test_lanes_that_are_not_active_together() -> None:
    """An equation in what lanes share holds at those of one number, whichever that is."""
    whole = (256, 1, 1)
    assert reads("A", op("*", TX, 8), whole, op("==", TX, N)) == 1
    assert reads("A", op("*", Var("i"), 8), whole, op("==", Var("i"), GID), op("==", Var("i"), op("-", N, 1))) == 1
    assert reads("A", op("*", TX, 8), whole, op("==", op("/", TX, 8), N)) == 8
    assert reads("A", op("*", TX, 8), whole, op("==", op("*", K, K), TX)) == 1
    assert reads("A", op("*", TX, 8), whole, op("==", op("*", Var("j"), Var("j")), TX)) == 32
    assert reads("A", op("*", TX, 8), whole, op("==", op("*", TX, op("+", N, 1)), S)) == 32
    assert reads("A", op("*", TX, 8), whole, op("<=", TX, N)) == 32


def test_one_active_lane_agrees_with_itself() -> None:
    own = Var("j")
    assert uniform(own, (256, 1, 1), op("==", TX, 0))
    assert uniform(own, (256, 1, 1), op("==", TX, N))
    assert uniform(own, (256, 1, 1), op("==", Var("i"), TX), op("==", Var("i"), 0))
    assert not uniform(own, (256, 1, 1), op("<=", TX, 1))
    assert uniform(own, (256, 1, 1), op("==", TX, 0), scope="block")
    assert not uniform(own, (256, 1, 1), op("==", op("%", TX, 32), 0), scope="block")
    assert not uniform(own, (256, 1, 1), op("==", op("%", TX, 32), N), scope="block")
    assert not uniform(own, (None, None, 1), op("==", TX, 0))


@pytest.mark.whole
def test_rows_of_what_is_clamped() -> None:
    """A warp of 16 x 16 has two rows, and in each of them x is next to x, or both are at the border."""
    x, y = op("+", op("*", 16, Param("blockIdx.x")), TX), op("+", op("*", 16, Param("blockIdx.y")), TY)
    clamped = op("min", op("max", op("+", x, 1), 0), op("-", WA, 1))
    assert reads("A", op("+", op("*", y, WA), clamped), (16, 16, 1)) == 6
    assert reads("A", op("+", op("*", y, WA), op("*", clamped, 8)), (16, 16, 1)) == 32
    assert reads("A", op("/", op("/", op("/", TX, N), S), WA), (256, 1, 1)) == 5
    assert reads("A", op("+", op("/", TX, N), op("*", 9, op("/", TX, S))), (256, 1, 1)) == 32
    assert reads("A", op("-", TX, op("/", TX, N)), (256, 1, 1)) == 9  # for n == -1


def test_remainders_of_what_may_be_negative_are_not_residues() -> None:
    index = op("%", op("+", op("*", N, 16), TX), 16)
    assert reads("A", index, (16, 1, 1), op(">=", N, 0)) == 2
    # n = -1: the values are -0, -15 .. -1 and 0, so two rows of sectors, below and above 0
    assert reads("A", index, (16, 1, 1)) >= 3 - 1
    assert not uniform(op("<", index, 0), (16, 1, 1), op("<", N, 1))
    assert uniform(op("<", index, 0), (16, 1, 1), op(">=", N, 0))
    assert uniform(op(">>", op("+", op("*", N, 32), TX), 5), (32, 1, 1))
    assert not uniform(op("/", op("+", op("*", N, 32), TX), 32), (32, 1, 1))


def test_definitions_are_followed_in_chains_and_not_in_circles() -> None:
    i, j = Var("i"), Var("j")
    assert reads("A", j, (256, 1, 1), op("==", i, GID), op("==", op("-", j, 8), i)) == 4
    assert reads("A", j, (256, 1, 1), op("==", i, j), op("==", j, i)) == 32
    assert reads("A", j, (256, 1, 1), op("==", i, j), op("==", i, GID)) == 4
    assert reads("A", j, (256, 1, 1), op("==", i, op("+", j, 1)), op("==", j, op("-", i, 1))) == 32
    assert reads("A", K, (256, 1, 1), op("==", i, op("+", j, 1)), op("==", j, op("-", i, 1))) == 1
    assert reads("A", i, (32, 1, 1), op("==", op("-", 32, i), TX)) == 5
    assert reads("A", op("*", K, 8), (256, 1, 1), op("==", K, op("/", TX, 32))) == 1
    # one lane, and any one of them: lane 0's element lies in one sector, lane 5's in two
    assert reads("Fxy", K, (32, 1, 1), op("==", K, TX)) == 2
    assert reads("A", op("+", TX, op("*", K, 4)), (256, 1, 1), op("==", K, op("*", op("/", TX, 32), 2))) == 4


CHAINED = """
from tests.checker.oracles.test_lanes import *
facts = conj((op("==", Var("i"), op("/", TX, 32)), op("==", Var("x"), op("*", Var("i"), 3))), SIGMA)
print(Oracles().least("MemReads", facts, frozenset({"i", "x"}), "A", op("+", Var("x"), TX), context((32, 1, 1))))
"""


@pytest.mark.parametrize("seed", range(6))
def test_definitions_are_followed_in_their_order(seed: int) -> None:
    """i == tid.x/32, x == 3*i: sets of names come in another order in each process, which must not matter."""
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", CHAINED]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "4\n"


def test_what_is_unknown_of_a_lane_stays_unknown_under_connectives() -> None:
    known, unknown = op("<", N, 5), op("<", Var("i"), 3)
    for connective in ("&&", "||"):
        assert not uniform(op(connective, known, unknown), (32, 1, 1))
        assert not uniform(op(connective, unknown, known), (32, 1, 1))
    assert uniform(op("&&", op("<", TX, 0), unknown), (32, 1, 1))
    assert uniform(op("||", unknown, op("<", TX, 32)), (32, 1, 1))
    assert not uniform(op("?:", unknown, N, 0), (32, 1, 1))
    assert not uniform(op("?:", known, Var("i"), 0), (32, 1, 1))


def test_reads_in_an_index() -> None:
    assert reads("A", Read("N", K), (32, 1, 1)) == 1
    assert reads("A", Read("N", TX), (32, 1, 1)) == 32
    assert reads("A", Read("N", op("/", TX, 8)), (32, 1, 1)) == 4
    assert reads("A", op("+", Read("N", K), TX), (32, 1, 1)) == 5
    twice = Read("N", K)
    assert not uniform(op("*", TX, op("-", twice, twice)), (32, 1, 1))


def test_reads_are_shared_within_a_warp_only() -> None:
    assert uniform(Read("N", K), (64, 1, 1))
    assert not uniform(Read("N", K), (64, 1, 1), scope="block")
    assert uniform(Read("N", K), (32, 1, 1), scope="block")
    assert not uniform(Read("N", K), (None, 1, 1), scope="block")


def test_base_typed_values() -> None:
    product = op("*", Read("A", K), Param("alpha"))
    assert uniform(op("<", product, Const("1.0f", FLOAT)), (32, 1, 1))
    assert uniform(Op("call:sqrtf", (Op("as:float", (op("/", TX, 32),)),)), (64, 1, 1))
    assert not uniform(op("==", Read("A", TX), Read("A", TX)), (32, 1, 1))
    assert not uniform(Var("f"), (32, 1, 1))
    root = Op("call:sqrtf", (Op("as:float", (op("-", 5, TX),)),))
    assert not uniform(op("==", root, root), (32, 1, 1))  # a NaN at some lanes
    # a NaN is not even equal to itself, but it is so at every lane
    assert uniform(op("==", Param("alpha"), Param("alpha")), (32, 1, 1))


def test_symbolic_blocks() -> None:
    one_row = (op("==", Param("blockDim.y"), 1), op("==", Param("blockDim.z"), 1))
    assert reads("A", TX, (None, None, None), assume=one_row) == 4
    assert reads("A", TX, (None, 1, 1)) == 4
    assert reads("A", GID, (None, 1, 1)) == 5
    full = op("==", op("%", Param("blockDim.x"), 32), 0)
    assert reads("A", GID, (None, None, None), assume=(full,)) == 4
    assert reads("A", op("+", op("*", TY, 3), GID), (None, None, None), assume=(full,)) == 5
    assert reads("A", TX, (64, None, None), op(">=", TX, 32)) == 4
    assert reads("A", TX, (64, None, None), op(">=", TX, 64)) == 1
    assert uniform(TY, (None, None, None), assume=(full,))
    assert uniform(op("/", TX, 32), (None, 1, 1))
    assert not uniform(op("/", TX, 32), (None, 1, 1), scope="block")
    assert not uniform(TY, (None, None, 1))
    assert reads("A", op("*", K, 7), (None, None, None)) == 1
    assert reads("D", K, (None, None, None)) == 1
    assert reads("A", TX, (None, None, None)) == 6
    assert reads("A", op("+", TX, TY), (None, None, None)) == 32
    assert reads("A", TX, (None, None, None), op("==", TX, 0)) == 1
    linear = op("+", TX, op("*", Param("blockDim.x"), op("+", TY, op("*", Param("blockDim.y"), Tid("z")))))
    assert reads("A", linear, (None, None, None)) == 4


def test_blocks_that_are_no_multiple_of_a_warp() -> None:
    assert reads("A", op("*", TX, 8), (40, 1, 1), op(">=", TX, 32)) == 8
    assert uniform(op("<", TX, 32), (40, 1, 1))
    assert not uniform(op("<", TX, 32), (40, 1, 1), scope="block")


def test_span_of_indices_by_the_solver() -> None:
    assert reads("A", op("/", GID, S), (256, 1, 1), op(">=", S, 1)) == 5


def test_not_below_what_lanes_may_touch() -> None:
    oracles, ctx = Oracles(), context((32, 1, 1))
    assert isinstance(oracles(AtMost("MemReads", (), frozenset(), "A", TX, 4), ctx), Proved)
    assert isinstance(oracles(AtMost("MemReads", (), frozenset(), "A", TX, 3), ctx), Unknown)
    assert isinstance(oracles(AtMost("MemReads", (), frozenset(), "A", Var("i"), 32), ctx), Proved)
    assert isinstance(oracles(AtMost("MemReads", (), frozenset(), "A", Var("i"), 31), ctx), Unknown)
    assert isinstance(oracles(AtMost("MemReads", (), frozenset(), "nowhere", TX, 32), ctx), Unknown)
    assert isinstance(oracles(AtMost("MemReads", (), frozenset(), "A", Var("nobody"), 31), ctx), Unknown)


def test_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    oracles, ctx = Oracles(), context((32, 1, 1))
    x = frozenset({"k"})
    questions = (
        (AtMost("Conflicts", (), x, "S", op("+", TX, K), 1), "gcd-lemma"),
        (AtMost("MemReads", (), x, "A", op("+", TX, K), 5), "closed-form"),
        (AtMost("MemReads", (), x, "A", TX, 4), "lanes"),
        (Uniform((), x, op("<", K, N)), "syntactic"),
        (Uniform((), x, TY), "lanes"),
    )
    for question, engine in questions:
        answer = oracles(question, ctx)
        assert isinstance(answer, Proved)
        assert answer.engine == engine
    for tries, engine in ((samples.TRIES, "examples"), (0, "z3 ")):
        monkeypatch.setattr(samples, "TRIES", tries)
        refuted = Oracles()(Uniform((), x, op("<", TX, N)), ctx)
        assert isinstance(refuted, Refuted)
        assert refuted.engine.startswith(engine)
        w = refuted.witness
        assert (w["tid.x@1"] < w["n"]) != (w["tid.x@2"] < w["n"])


def test_answers_are_kept_whatever_the_metric_and_asked_anew_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "TRIES", 0)
    monkeypatch.setattr(samples, "MANY", 0)
    oracles, ctx = Oracles(), context((256, 1, 1))
    question = Uniform((), frozenset(), TY)
    assert isinstance(oracles(question, ctx), Proved)
    assert oracles(question, replace(ctx, metric=METRICS["steps"])) is oracles(question, ctx)
    assert isinstance(oracles(question, context((16, 16, 1))), Refuted)
    assert [r.kind for r in oracles.log] == ["Uniform"] * 4
    assert oracles.log[0].claim == "true; {} |- tid.y unif"
    assert oracles.log[0].engine == "lanes"
    assert oracles.log[0].queries == ()
    (query,) = oracles.log[3].queries
    assert "(check-sat)" in query.text
    assert query.engine == oracles.log[3].engine


def test_answers_for_one_launch_are_not_taken_for_another() -> None:
    oracles, shape = Oracles(), context((32, 1, 1))
    goal = Op(">=", (N, Const(7)))
    for k in range(26):
        launch = Launch((32, 1, 1), assumptions=(Op(">=", (N, Const(k % 13))),))
        verdict = oracles(Entails((), (goal,)), replace(shape, launch=launch))
        assert isinstance(verdict, Proved) == (k % 13 >= 7), k


def test_answers_depend_on_types_arrays_hardware_and_scope() -> None:
    oracles, usual = Oracles(), context((64, 1, 1))
    lane = AtMost("MemReads", (), frozenset(), "C", TX, 1)
    wide = Signature(SIGMA.locals, SIGMA.params, SIGMA.arrays | {"C": Array("C", "global", INT, 4)})
    small = replace(NVIDIA, name="small", warp=8)
    assert [isinstance(oracles(lane, replace(usual, sigma=s)), Proved) for s in (SIGMA, wide, SIGMA)] == [
        True, False, True,
    ]  # fmt: skip
    words = AtMost("MemReads", (), frozenset(), "A", TX, 1)
    assert [isinstance(oracles(words, replace(usual, hardware=h)), Proved) for h in (NVIDIA, small)] == [False, True]
    warp = Uniform((), frozenset(), Op("/", (TX, Const(32))))
    assert [isinstance(oracles(warp, replace(usual, scope=s)), Proved) for s in ("warp", "block")] == [
        True, False,
    ]  # fmt: skip
    floats = Signature(SIGMA.locals, SIGMA.params | {"n": FLOAT}, SIGMA.arrays)
    truth = Entails((), (Op(">=", (Op("*", (N, N)), Op("*", (N, N)))),))
    assert [isinstance(oracles(truth, replace(usual, sigma=s)), Proved) for s in (SIGMA, floats)] == [True, False]


RANK: Final = op("+", op("*", op("+", op("*", Tid("z"), Param("blockDim.y")), TY), Param("blockDim.x")), TX)
ROWS: Final = op("+", op("*", TY, Param("blockDim.x")), TX)


@pytest.mark.parametrize(
    ("index", "block", "conflicts"),
    [
        (RANK, (None, None, None), 1),
        (op("+", op("*", RANK, 2), K), (None, None, None), 2),
        (ROWS, (None, None, 1), 1),
        (op("+", op("*", TY, 12), TX), (12, None, 1), 1),
    ],
)
def test_threads_of_a_warp_are_next_to_each_other_in_any_block(index: Expr, block: Dim, conflicts: int) -> None:
    ctx = context(block)
    found = lanes.View(conj((), SIGMA), frozenset({"k"}), ctx, SIGMA).count("Conflicts", "S", index)
    assert found.n == conflicts


def test_a_number_of_a_warp_is_uniform_in_any_block() -> None:
    view = lanes.View(conj((), SIGMA), frozenset(), context((None, None, None)), SIGMA)
    assert view.uniform(op("/", RANK, 32))
    assert not view.uniform(op("/", RANK, 16))
    of_block = lanes.View(conj((), SIGMA), frozenset(), context((None, None, None), scope="block"), SIGMA)
    assert not of_block.uniform(op("/", RANK, 32))


LOADED: Final = Read("N", op("+", op("*", Param("blockIdx.x"), 128), TX))
MASKED: Final = [
    (op("&", op("+", op("*", LOADED, 32), TX), 2**32 - 1), 1),
    (op("&", op("+", op("*", LOADED, 32), TX), 1023), 1),
    (op("%", op("+", op("*", op("&", LOADED, 15), 32), TX), 512), 1),
    (op("&", op("+", op("*", LOADED, 32), op("*", TX, 2)), 1023), 2),
    (op("&", op("+", op("*", LOADED, 16), TX), 1023), 2),
    (op("&", op("+", op("*", LOADED, 31), TX), 255), 8),
    (op("&", op("+", op("*", LOADED, 32), TX), 15), 1),
]


@pytest.mark.parametrize(("index", "conflicts"), MASKED)
def test_what_is_loaded_and_masked_is_priced_by_what_lanes_add(index: Expr, conflicts: int) -> None:
    """No draw of what is loaded is dearer than the count."""
    rng = random.Random(7)
    found = lanes.View(conj((), SIGMA), frozenset(), context((128, 1, 1)), SIGMA)
    count = found.count("Conflicts", "S", prepared(index, SIGMA)[0]).n
    most = 0
    for draw in range(400):
        values = [rng.randrange(-(2**9), 2**9) if draw % 2 else rng.choice((k, 2 * k, 33)) for k in range(32)]
        addresses = [4 * int(value_of(_with(index, v), {"tid.x": lane})) for lane, v in enumerate(values)]
        most = max(most, words(addresses, 4, NVIDIA))
    assert most <= count == conflicts


def _with(e: Expr, value: int) -> Expr:
    """e with a number in place of what it reads."""
    match e:
        case Read():
            return Const(value)
        case Op(name, args):
            return Op(name, tuple(_with(a, value) for a in args))
    return e


def test_indices_near_each_other_in_phases() -> None:
    """Each of two phases may take two words of one bank where all lanes are in 32 doubles: one waits in each."""
    near = conj((op("<=", K, Var("x")), op("<=", Var("x"), op("+", K, 31))), SIGMA)
    for phase, least in ((None, 2), (128, 3), (64, 5)):
        ctx = replace(context((64, 1, 1)), hardware=replace(NVIDIA, name="own", phase=phase))
        claims = (AtMost("Conflicts", near, frozenset({"k"}), "T", Var("x"), n) for n in (least - 1, least))
        assert [isinstance(Oracles()(claim, ctx), Proved) for claim in claims] == [False, True]


SOME: Final[dict[str, tuple[Expr, ...]]] = {
    "all": (),
    "odd": (op("==", op("%", TX, 2), 1),),
    "first": (op("<", TX, 11),),
    "last": (op(">=", op("%", TX, 32), 20),),
    "two": (op("==", op("%", TX, 9), 7),),
}
INDICES: Final = (
    *(op("+", op("*", TX, stride), N) for stride in (0, 1, 2, 3, 8)),
    op("^", TX, op("/", TX, 8)),
    op("%", op("*", TX, 5), 32),
    op("+", op("%", TX, 8), op("*", N, 4)),
    op("*", op("/", TX, 8), 8),
)


@pytest.mark.parametrize("block", [(40, 1, 1), (8, 5, 1), (None, 1, 1)])
@pytest.mark.parametrize(("width", "phase"), [(8, 128), (16, 128), (4, 64), (12, 128)])
def test_phases_lane_by_lane(width: int, phase: int, block: Dim) -> None:
    """What both checkers count of a warp in phases is what the dearest warp pays, with the dearest n, or no less where
    the block's size is not known."""
    array, hardware = Array("Q", "shared", FLOAT, width), replace(NVIDIA, name="own", phase=phase)
    sigma = replace(SIGMA, arrays={"Q": array})
    ctx = Context(sigma, METRICS["conflicts"], hardware, Launch(block))
    (x, y, _) = (64 if size is None else size for size in block)
    for facts, index in ((p, e) for p in SOME.values() for e in INDICES):
        truth, someone = 1, False
        for n, warp in ((n, warp) for n in (0, 1) for warp in range(-(-x * y // 32))):
            lanes_ = {i - 32 * warp: {"tid.x": i % x, "n": n} for i in range(32 * warp, min(32 * warp + 32, x * y))}
            active = {i: s for i, s in lanes_.items() if all(value_of(f, s) for f in facts)}
            places = {i: width * int(value_of(index, s)) for i, s in active.items()}
            someone = someone or bool(places)
            truth = max(truth, conflicts_by_lane(places, width, hardware) if places else 1)
        p = conj(facts, sigma)
        found = lanes.View(p, frozenset(), ctx, sigma).count("Conflicts", "Q", index)
        to = judge(ctx)
        second = to.lanes(to.conj(map(frozen, p)), frozenset()).most(to.arrays["Q"], frozen(index))
        assert min(found.n, second) >= truth or not someone, (facts, index)
        assert max(found.n, second) == truth or block[0] is None, (facts, index)


@pytest.mark.parametrize(
    ("index", "reads"),
    [
        (op("^", op("+", TX, N), 1), 5),
        (op("^", op("-", N, TX), 5), 5),
        (op("&", op("+", TX, N), -4), 5),
        (op("+", op("&", op("+", TX, N), 12), N), 3),
        (op("%", op("+", TX, N), 64), 6),
        (op("%", op("-", N, TX), 48), 6),
        (op("/", op("+", TX, N), 4), 2),
        (op("/", op("-", N, TX), 3), 3),
    ],
)
def test_indices_of_an_unknown_part_are_exact(index: Expr, reads: int) -> None:
    """By cases of n, as a ring with one element more, or as quotients: what the worst n touches, in both checkers."""
    sigma = replace(SIGMA, arrays={"G": Array("G", "global", FLOAT, 4)})
    ctx = Context(sigma, METRICS["sectors"], NVIDIA, Launch((32, 1, 1)))
    places = [[int(value_of(index, {"tid.x": t, "n": n})) for t in range(32)] for n in range(-200, 200)]
    assert max(len({i // 8 for i in row}) for row in places) == reads
    o = AtMost("MemReads", (), frozenset(), "G", index, reads)
    assert isinstance(Oracles(limit=0)(o, ctx), Proved)
    assert decided(o, proof(o, ctx), ctx)
    assert Oracles(limit=0).least("MemReads", (), frozenset(), "G", index, ctx) == reads


def test_a_loose_count_is_made_sharper_while_there_is_time_for_solvers() -> None:
    """16 neighbours that a modulus may part into two runs: 4 sectors by their rows, and 3 if asked. Nobody is asked at
    another pace, of a count that is exact, or whether there are fewer than 1."""
    parted = op("%", op("+", op("*", N, 16), TX), 16)
    oracle = Oracles(limit=20)
    with oracle.at("quick"):
        assert oracle.least("MemReads", (), frozenset(), "A", parted, context((16, 1, 1))) == 4
    assert not oracle.log
    assert oracle.least("MemReads", (), frozenset(), "A", parted, context((16, 1, 1))) == 3
    asked = [(r.asked.n, isinstance(r.verdict, Proved)) for r in oracle.log if isinstance(r.asked, AtMost)]
    assert asked == [(3, True), (2, False)]
