"""Errata that no rule of ours can show, run in the semantics (ERRATA.md, rows 4, 9, 12 and 13): what the print claims,
what it costs, and the smallest case in which the two part."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

import pytest

from checker.kernel import Ledger, check
from checker.testbed.trial import tried
from checker.testbed.world import TINY, SmallWorld, World
from logic.assertions import Context, Launch, Triple, conj
from logic.derivation import Derivation, Value
from logic.metrics import HARDWARE, METRICS, Metric
from logic.potentials import Poly, evaluate, sym
from logic.refusals import Rejected
from logic.rules import SOUND, RuleSet
from logic.schema import show
from logic.syntax import INT, Array, Assign, Const, Expr, If, Op, Param, Read, Skip, Stmt, Tid, Var, While, Write, seq
from logic.typing import Signature
from semantics.events import Thread
from semantics.lockstep import Initial, Machine, Store, execute

ARRAYS = (Array("A", "global", INT, 4), Array("B", "global", INT, 4), Array("As", "shared", INT, 4, length=32))
SIGMA = Signature(
    {"x": INT, "y": INT, "t": INT}, dict.fromkeys(("n", "blockIdx.x", "blockDim.x"), INT), {a.name: a for a in ARRAYS}
)
TICKS = Metric("tick", {"vwrite": Fraction(1)})
TICK = Assign("t", Const(0))
TID, X, N = Tid("x"), Var("x"), Param("n")


def ran(
    s: Stmt,
    threads: Iterable[int] = (0,),
    metric: Metric = TICKS,
    held: int = 0,
    n: int = 0,
    block: int = 0,
) -> tuple[Store, Fraction]:
    """The store at the end and the cost, from x = y = 0; every element holds `held`."""
    lanes = [Thread((block, 0, 0), (i, 0, 0)) for i in threads]
    names = {"warpSize": 32, "n": n, "blockIdx.x": block, "blockDim.x": 32}
    arrays = {a.name: Initial(lambda _: held) for a in ARRAYS if a.space == "global"}
    machine = Machine(SIGMA, names, (32, 1, 1), (metric,), HARDWARE["nvidia"], arrays)
    store, cost = execute(s, Store({}, {x: dict.fromkeys(lanes, 0) for x in SIGMA.locals}), lanes, machine)
    return store, cost.parts[0]


def first(i: int) -> Expr:
    return Read("A", Const(i))


# --- 4: facts about arrays --------------------------------------------------------------------------------------------


def test_4_a_fact_about_an_array_does_not_outlive_a_write() -> None:
    """`A[j] == k` is kept over `A[i] <- v`, so that the branch costs nothing by Q:If2: wrong where i = j and v != k."""
    wrong = []
    for i, j, v, k in product(range(2), repeat=4):
        body = seq(Write("A", Const(i), Const(v)), If(Op("==", (first(j), Const(k))), Skip(), TICK))
        if ran(body, held=k)[1] > 0:
            wrong.append((i, j, v, k))
    assert wrong == [(i, j, v, k) for i, j, v, k in product(range(2), repeat=4) if i == j and v != k]


def test_4_nor_a_write_of_another_lane() -> None:
    """Lane 1 writes nothing, so even a write rule that is right leaves it `A[0] == 0`; alone, it costs nothing."""
    reader = If(Op("==", (first(0), Const(0))), Skip(), TICK)
    body = If(Op("==", (TID, Const(0))), Write("A", Const(0), Const(1)), reader)
    assert [ran(body, lanes)[1] for lanes in ((0,), (1,), (0, 1))] == [0, 0, 1]


# --- 9: Fig. 5, Figs. 1 and 7 -----------------------------------------------------------------------------------------


def test_9_half_of_h_turns_are_too_few_where_h_is_odd() -> None:
    """Fig. 5's loop, `j < h`, j += 2: the first h for which h/2 is exceeded is 1."""
    loop = While(Op("<", (X, N)), seq(TICK, Assign("x", Op("+", (X, Const(2))))))
    turns = {h: ran(loop, range(32), n=h)[1] / 2 for h in range(8)}
    assert [h for h in turns if turns[h] > Fraction(h, 2)] == [1, 3, 5, 7]
    assert all(turns[h] == -(-h // 2) for h in turns)


def test_9_an_update_reads_what_it_writes() -> None:
    """`B[i] += A[i]`: 4 sectors are read from A and 4 written to B, and 4 more are those of B's old values."""
    plain = Write("B", TID, Read("A", TID))
    update = Write("B", TID, Op("+", (Read("B", TID), Read("A", TID))))
    assert [ran(s, range(32), METRICS["sectors"])[1] for s in (plain, update)] == [8, 12]


@pytest.mark.parametrize(("block", "found"), [(0, 1), (1, 0)])
def test_9_as_of_i_is_out_of_bounds_in_the_second_block(block: int, found: int) -> None:
    """i = blockIdx.x * blockDim.x + threadIdx.x, and As has blockDim.x elements: nothing of what was stored is read."""
    i = Op("+", (Op("*", (Param("blockIdx.x"), Param("blockDim.x"))), TID))
    body = seq(Write("As", TID, Const(1)), Assign("y", Read("As", i)))
    store, _ = ran(body, range(32), block=block)
    assert set(store.locals["y"].values()) == {found}


# --- 12: the artifact's matMul ----------------------------------------------------------------------------------------


FIRST = 3_421_856


def test_12_a_rounded_coefficient_is_no_bound() -> None:
    """Each tile of matMul reads 10 sectors where rows start off a sector; 0.312496 (31 + N) + 4 pays for less than 10 a
    tile of 32, so that some N exceeds it: 3,421,856 is the first multiple of 32 that does."""
    reads = [Assign("y", Read(a, Op("+", (X, Op("+", (TID, Const(1))))))) for a in "AB"]
    loop = While(Op("<", (X, N)), seq(*reads, Assign("x", Op("+", (X, Const(32))))))
    assert [ran(loop, range(32), METRICS["sectors"], n=32 * k)[1] for k in range(5)] == [0, 10, 20, 30, 40]

    def claims(n: int) -> Fraction:
        return 4 + Fraction("0.312496") * (31 + n)

    tile = FIRST // 32
    assert 10 * (tile - 1) <= claims(FIRST - 32)
    assert 10 * tile > claims(FIRST)


# --- 13: what an assignment leaves in Q -------------------------------------------------------------------------------


def test_13_a_potential_may_not_keep_what_is_assigned() -> None:
    """The printed Q:VWrite2 on `x <- 1` with Q = x, x = 0: it claims 1 + 0 - 1 = 0, and costs 1. Ours refuses."""
    body = Assign("x", Const(1))
    context = Context(SIGMA, TICKS, TINY, Launch((4, 1, 1), (1, 1, 1)), "warp")
    oracle = SmallWorld(World(), context)
    p = conj((Op("==", (X, Const(0))),), SIGMA)
    x: Poly = sym(X)
    letters: dict[str, Value] = {
        "P": p,
        "Q": x,
        "X": frozenset({"x"}),
        "e": Const(1),
        "C": Fraction(0),
        "P'": (),
        "x": "x",
    }
    price = Derivation("OQ:Const", {"P": p, "X": frozenset({"x"}), "k": Const(1)}, ())
    root = Derivation("Q:VWrite2", letters, (price,))

    def judged(rules: RuleSet) -> Triple:
        found = check(root, rules, context, oracle, Ledger()).judgement
        assert isinstance(found, Triple)
        return found

    claim = judged(tried("paper/VWrite2").rules)
    claimed = evaluate(claim.pre.q, {X: 0}) - evaluate(claim.post.q, {X: 1})
    assert claimed == 0
    assert ran(body)[1] == 1
    with pytest.raises(Rejected, match=r"^condition$") as caught:
        judged(SOUND)
    failed = caught.value.refusal.premise
    assert failed is not None
    assert show(failed).startswith("vars(")
