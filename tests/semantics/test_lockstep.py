"""Fig. 3, rule by rule: stores and costs worked out by hand from the figure and Table 1."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logic.metrics import METRICS, Linear, Metric
from logic.source import Loc
from logic.syntax import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    TRUE,
    Array,
    Assign,
    Const,
    Expr,
    If,
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
from logic.typing import Signature
from semantics.events import Dim, Event, Thread, Threads
from semantics.lockstep import Barrier, Initial, Machine, StepLimit, Store, evaluate, execute, linear, phases
from semantics.values import Value

POINT = Type("base", "point", 8)
ARRAYS = (
    Array("G", "global", INT, 4),
    Array("F", "global", FLOAT, 4),
    Array("C", "global", INT, 1),
    Array("D", "global", DOUBLE, 8),
    Array("P", "global", FLOAT, 12, 4, 4),
    Array("W", "global", POINT, 32, 28, 8),
    Array("S", "shared", INT, 4),
    Array("SC", "shared", INT, 1),
    Array("SD", "shared", DOUBLE, 8),
    Array("S8", "shared", INT, 4, length=8),
)
SIGMA = Signature(
    {"x": INT, "y": INT, "i": INT, "b": BOOL, "f": FLOAT, "d": DOUBLE},
    {"n": INT},
    {a.name: a for a in ARRAYS},
)
TID = Tid("x")


def machine(block: Dim = (32, 1, 1), **more: object) -> Machine:
    return Machine(SIGMA, {"n": 7}, block, **{"metrics": TABLE_1} | more)  # type: ignore[arg-type]


def lanes(*xs: int) -> Threads:
    return tuple(Thread((0, 0, 0), (x, 0, 0)) for x in xs)


def rows(block: Dim) -> Threads:
    tids = [(x, y, z) for z in range(block[2]) for y in range(block[1]) for x in range(block[0])]
    return tuple(Thread((0, 0, 0), tid) for tid in tids)


WARP = lanes(*range(32))


def k(n: int) -> Const:
    return Const(n)


def op(a: Expr, o: str, b: Expr) -> Op:
    return Op(o, (a, b))


def costs(sectors: int = 0, conflicts: int = 0, divwarps: int = 0, steps: int = 0) -> dict[str, Fraction]:
    parts = {"sectors": sectors, "conflicts": conflicts, "divwarps": divwarps, "steps": steps}
    return {name: Fraction(n) for name, n in parts.items()}


TABLE_1 = tuple(METRICS[name] for name in costs())


def value_of(e: Expr, store: Store | None = None, threads: Threads = WARP, m: Machine | None = None) -> list[Value]:
    r, _ = evaluate(e, store or Store(), threads, m or machine())
    return [r[t] for t in threads]


def cost_of(
    e: Expr, store: Store | None = None, threads: Threads = WARP, m: Machine | None = None
) -> dict[str, Fraction]:
    m = m or machine()
    return m.named(evaluate(e, store or Store(), threads, m)[1])


def run(
    s: Stmt, store: Store | None = None, threads: Threads = WARP, m: Machine | None = None
) -> tuple[Store, dict[str, Fraction]]:
    m = m or machine()
    after, cost = execute(s, store or Store(), threads, m)
    return after, m.named(cost)


# --- operands and operators ------------------------------------------------------------------------------------------


def test_oc_var() -> None:
    store = Store(locals={"x": {WARP[1]: 5}})
    assert value_of(Var("x"), store, WARP[:3]) == [0, 5, 0]
    assert cost_of(Var("x"), store) == costs(steps=1)


@pytest.mark.parametrize(("name", "absent"), [("x", 0), ("b", False), ("f", 0.0)])
def test_a_local_never_written_has_the_default_of_its_type(name: str, absent: Value) -> None:
    (got,) = value_of(Var(name), threads=WARP[:1])
    assert (got, type(got)) == (absent, type(absent))


def test_oc_const() -> None:
    assert value_of(k(3), threads=WARP[:2]) == [3, 3]
    assert value_of(TRUE, threads=WARP[:1]) == [True]
    assert value_of(Const("0.5f", FLOAT), threads=WARP[:1]) == [0.5]
    assert cost_of(k(3)) == costs(steps=1)


def test_oc_param() -> None:
    assert value_of(Param("n"), threads=WARP[:2]) == [7, 7]
    assert cost_of(Param("n")) == costs(steps=1)


def test_each_operand_has_its_own_price() -> None:
    """Erratum 8: the print's OQ:Param charges M.const; Fig. 3 charges M.var for tid."""
    prices = {"var": 2, "const": 3, "param": 5, "op": 7}
    m = machine(metrics=(Metric("own", {c: Fraction(p) for c, p in prices.items()}),))
    got = [cost_of(e, m=m)["own"] for e in (Var("x"), TID, k(1), Param("n"), op(TID, "+", Param("n")))]
    assert got == [2, 2, 3, 5, 2 + 5 + 7]


def test_oc_tid() -> None:
    m = machine((4, 3, 2))
    threads = (Thread((9, 9, 9), (1, 2, 0)), Thread((9, 9, 9), (3, 0, 1)))
    assert [value_of(Tid(a), threads=threads, m=m) for a in ("x", "y", "z")] == [[1, 3], [2, 0], [0, 1]]
    assert cost_of(TID) == costs(steps=1)


def test_ec_op() -> None:
    e = op(op(TID, "*", k(2)), "+", Param("n"))
    assert value_of(e, threads=WARP[:3]) == [7, 9, 11]
    assert cost_of(e) == costs(steps=5)  # tid 1, 2 1, * 1, n 1, + 1
    assert cost_of(Op("neg", (TID,))) == costs(steps=2)
    assert cost_of(Op("?:", (op(TID, "<", k(1)), k(1), k(2)))) == costs(steps=6)


def test_division_truncates_toward_zero_and_modulo_has_the_sign_of_the_dividend() -> None:
    store = Store(
        locals={"x": dict(zip(WARP, (-7, 7, -7, 7), strict=False)), "y": dict(zip(WARP, (2, -2, -2, 2), strict=False))}
    )
    assert value_of(op(Var("x"), "/", Var("y")), store, WARP[:4]) == [-3, -3, 3, 3]
    assert value_of(op(Var("x"), "%", Var("y")), store, WARP[:4]) == [-1, 1, -1, 1]


def test_float_arithmetic_is_rounded_to_its_type() -> None:
    third = op(Const("1.0", FLOAT), "/", Const("3.0", FLOAT))
    assert value_of(third, threads=WARP[:1]) == [0.3333333432674408]  # the single nearest to 1/3
    assert value_of(op(Const("1.0", DOUBLE), "/", Const("3.0", DOUBLE)), threads=WARP[:1]) == [1 / 3]


def test_the_empty_set_of_threads_has_no_judgement() -> None:
    with pytest.raises(ValueError, match="empty"):
        evaluate(k(1), Store(), (), machine())
    with pytest.raises(ValueError, match="empty"):
        execute(Skip(), Store(), (), machine())


# --- reads -----------------------------------------------------------------------------------------------------------


def test_ec_garr() -> None:
    store = Store({"G": {0: 10, 2: 12}})
    assert value_of(Read("G", TID), store, WARP[:3]) == [10, 0, 12]
    assert cost_of(Read("G", TID)) == costs(sectors=4, steps=5)


@pytest.mark.parametrize(
    ("index", "reads", "operands"),
    [
        (k(3), 1, 1),  # uniform
        (TID, 4, 1),  # 128 bytes from 0
        (op(TID, "+", k(8)), 4, 3),  # from 32: aligned
        (op(TID, "+", k(1)), 5, 3),  # from 4 to 131: a fifth sector (erratum 8, floor)
        (op(TID, "-", k(1)), 5, 3),  # from -4
        (op(TID, "*", k(2)), 8, 3),
        (op(TID, "*", k(8)), 32, 3),
        (op(TID, "*", k(100)), 32, 3),
        (op(TID, "/", k(8)), 1, 3),  # 4 elements, one sector
    ],
)
def test_memreads_of_a_warp(index: Expr, reads: int, operands: int) -> None:
    assert cost_of(Read("G", index)) == costs(sectors=reads, steps=operands + reads)


@pytest.mark.parametrize(
    ("array", "reads"),
    [
        ("C", 1),  # 32 bytes
        ("D", 8),  # 256 bytes
        ("P", 12),  # 12 * lane + 4: bytes 4 to 379
    ],
)
def test_memreads_depends_on_the_size_of_elements(array: str, reads: int) -> None:
    assert cost_of(Read(array, TID))["sectors"] == reads


def test_one_lane_may_touch_two_sectors() -> None:
    assert cost_of(Read("W", k(0)), threads=WARP[:1])["sectors"] == 2  # bytes 28 to 35


def test_reads_nest() -> None:
    store = Store({"G": {i: 8 * i for i in range(32)}})
    e = Read("G", Read("G", TID))
    assert value_of(e, store, WARP[:4]) == [0, 64, 128, 192]
    assert cost_of(e, store) == costs(sectors=4 + 32, steps=1 + 4 + 32)
    assert cost_of(e, Store()) == costs(sectors=4 + 1, steps=1 + 4 + 1)


def test_ec_sarr() -> None:
    store = Store({"S": {0: 10, 2: 12}})
    assert value_of(Read("S", TID), store, WARP[:3]) == [10, 0, 12]
    assert cost_of(Read("S", TID)) == costs(conflicts=0, steps=1)


@pytest.mark.parametrize(
    ("array", "index", "words", "operands"),
    [
        ("S", k(3), 1, 1),  # broadcast: one word, whatever the number of lanes (erratum 8)
        ("S", op(TID, "*", k(2)), 2, 3),
        ("S", op(TID, "*", k(3)), 1, 3),
        ("S", op(TID, "*", k(32)), 32, 3),
        ("S", op(TID, "/", k(2)), 1, 3),
        ("S", op(op(TID, "%", k(2)), "*", k(32)), 2, 5),  # two words in bank 0, sixteen lanes at each
        ("SC", TID, 1, 1),  # four lanes a word
        ("SC", op(TID, "*", k(4)), 1, 3),
        ("SD", TID, 2, 1),  # 64 words in 32 banks
    ],
)
def test_conflicts_of_a_warp(array: str, index: Expr, words: int, operands: int) -> None:
    assert cost_of(Read(array, index)) == costs(conflicts=words - 1, steps=operands + words - 1)


def test_several_warps_pay_the_maximum() -> None:
    two = rows((64, 1, 1))
    m = machine((64, 1, 1))
    index = Op("?:", (op(TID, "<", k(32)), k(0), op(TID, "*", k(32))))  # warp 0: uniform; warp 1: 32 apart
    assert cost_of(Read("G", index), threads=two, m=m)["sectors"] == 32
    assert cost_of(Read("S", index), threads=two, m=m)["conflicts"] == 31
    assert cost_of(Read("G", TID), threads=two, m=m)["sectors"] == 4


def test_warps_are_cut_by_the_linear_id() -> None:
    index = op(Tid("y"), "*", k(8))  # one sector a row
    two_rows_a_warp = (16, 4, 1)
    assert cost_of(Read("G", index), threads=rows(two_rows_a_warp), m=machine(two_rows_a_warp))["sectors"] == 2
    straddling = (48, 2, 1)
    per_warp = [
        cost_of(Read("G", index), threads=rows(straddling)[w : w + 32], m=machine(straddling))["sectors"]
        for w in (0, 32, 64)
    ]
    assert per_warp == [1, 2, 1]
    assert linear((1, 2, 3), (4, 5, 6)) == 1 + 4 * (2 + 5 * 3)


def test_only_active_lanes_count() -> None:
    assert cost_of(Read("G", op(TID, "*", k(8))), threads=lanes(0, 5, 9))["sectors"] == 3


def test_out_of_bounds_reads_the_default_and_pays() -> None:
    m = machine(initial={"G": Initial(lambda i: i + 100, 3)})
    e = Read("G", op(TID, "-", k(1)))
    assert value_of(e, Store({"G": {1: 7}}), WARP[:5], m) == [0, 100, 7, 102, 0]
    assert cost_of(e, threads=WARP[:1], m=m)["sectors"] == 1


# --- simple statements -----------------------------------------------------------------------------------------------


def test_sc_skip() -> None:
    assert run(Skip()) == (Store(), costs())


def test_sc_vwrite() -> None:
    after, cost = run(Assign("x", op(TID, "+", k(1))), Store(locals={"x": {WARP[3]: 9}}), WARP[:2])
    assert after.locals["x"] == {WARP[0]: 1, WARP[1]: 2, WARP[3]: 9}
    assert cost == costs(steps=4)


def test_sc_gwrite() -> None:
    after, cost = run(Write("G", op(TID, "+", k(1)), TID), threads=WARP)
    assert after.arrays["G"] == {i + 1: i for i in range(32)}
    assert cost == costs(sectors=5, steps=3 + 1 + 5)


def test_sc_swrite() -> None:
    after, cost = run(Write("S", op(TID, "*", k(2)), k(1)))
    assert after.arrays["S"] == {2 * i: 1 for i in range(32)}
    assert cost == costs(conflicts=1, steps=3 + 1 + 1)


def test_a_write_reads_before_it_writes() -> None:
    """G[tid] <- G[tid + 1] shifts by one: all lanes read sigma, not what another lane has just written."""
    store = Store({"G": {i: i for i in range(5)}})
    after, cost = run(Write("G", TID, Read("G", op(TID, "+", k(1)))), store, WARP[:4])
    assert after.arrays["G"] == {0: 1, 1: 2, 2: 3, 3: 4, 4: 4}
    assert cost == costs(sectors=2, steps=1 + 3 + 1 + 1)


@pytest.mark.parametrize("array", ["G", "S"])
def test_of_colliding_writes_the_highest_linear_id_wins(array: str) -> None:
    block = (4, 2, 1)
    value = op(op(Tid("y"), "*", k(10)), "+", TID)
    after, _ = run(Write(array, k(0), value), threads=tuple(reversed(rows(block))), m=machine(block))
    assert after.arrays[array] == {0: 13}


def test_colliding_writes_touch_one_sector() -> None:
    assert run(Write("G", k(0), TID))[1] == costs(sectors=1, steps=3)


def test_a_write_out_of_bounds_is_lost_and_pays() -> None:
    after, cost = run(Write("S8", op(TID, "-", k(1)), k(5)), threads=lanes(0, 1, 8, 9))
    assert after.arrays["S8"] == {0: 5, 7: 5}
    assert cost == costs(steps=4)


def test_sc_sync() -> None:
    assert run(Sync()) == (Store(), costs(steps=1))


def test_sc_seq() -> None:
    after, cost = run(seq(Assign("x", TID), Assign("y", op(Var("x"), "+", k(1)))), threads=WARP[:2])
    assert after.locals["y"] == {WARP[0]: 1, WARP[1]: 2}
    assert cost == costs(steps=2 + 4)


def test_execute_leaves_the_given_store_alone() -> None:
    store = Store({"G": {0: 1}}, {"x": {WARP[0]: 1}})
    run(seq(Write("G", k(0), k(2)), Assign("x", k(2))), store)
    assert store == Store({"G": {0: 1}}, {"x": {WARP[0]: 1}})


# --- if --------------------------------------------------------------------------------------------------------------


def branch(bound: int) -> If:
    return If(op(TID, "<", k(bound)), Assign("x", k(1)), Assign("x", k(2)))


def test_sc_if_t() -> None:
    after, cost = run(branch(32))
    assert after.locals["x"] == dict.fromkeys(WARP, 1)
    assert cost == costs(steps=3 + 1 + 2)


def test_sc_if_f() -> None:
    after, cost = run(branch(0))
    assert after.locals["x"] == dict.fromkeys(WARP, 2)
    assert cost == costs(steps=3 + 1 + 2)


def test_sc_if_d() -> None:
    after, cost = run(branch(1), threads=WARP[:3])
    assert after.locals["x"] == {WARP[0]: 1, WARP[1]: 2, WARP[2]: 2}
    assert cost == costs(divwarps=1, steps=3 + 1 + 1 + 2 + 2)


def test_in_sc_if_d_the_else_branch_sees_the_store_of_the_then_branch() -> None:
    s = If(op(TID, "<", k(16)), Write("G", k(0), k(7)), Assign("x", Read("G", k(0))))
    after, cost = run(s)
    assert after.locals["x"] == dict.fromkeys(WARP[16:], 7)
    assert cost == costs(sectors=2, divwarps=1, steps=3 + 1 + 1 + (1 + 1 + 1) + (1 + 1 + 1))


def test_the_branches_of_sc_if_d_run_on_their_own_lanes() -> None:
    s = If(op(TID, "<", k(4)), Assign("x", Read("G", op(TID, "*", k(8)))), Skip())
    assert run(s)[1]["sectors"] == 4


# --- while -----------------------------------------------------------------------------------------------------------

COUNT = Assign("i", op(Var("i"), "+", k(1)))


def test_sc_while_all_and_none() -> None:
    after, cost = run(While(op(Var("i"), "<", k(3)), COUNT))
    assert after.locals["i"] == dict.fromkeys(WARP, 3)
    assert cost == costs(steps=3 * (3 + 1 + 4) + (3 + 1))


def test_sc_while_none() -> None:
    assert run(While(op(Var("i"), "<", k(0)), COUNT)) == (Store(), costs(steps=3 + 1))


def test_sc_while_some() -> None:
    """Lanes 0, 1, 2 go round 0, 1, 2 times: some, some, none."""
    after, cost = run(While(op(Var("i"), "<", TID), COUNT), threads=WARP[:3])
    assert after.locals["i"] == {WARP[1]: 1, WARP[2]: 2}
    assert cost == costs(divwarps=2, steps=2 * (3 + 1 + 1 + 4) + (3 + 1))


def test_sc_while_some_goes_on_with_the_lanes_that_were_true() -> None:
    """The guard reads one sector for each lane that is still in the loop: 3, 2, 1."""
    store = Store({"G": {0: 0, 8: 1, 16: 2}})
    s = While(op(Var("i"), "<", Read("G", op(TID, "*", k(8)))), COUNT)
    assert run(s, store, WARP[:3])[1]["sectors"] == 3 + 2 + 1


def test_a_lane_that_left_a_loop_stays_out() -> None:
    """Erratum 3's loop: lane 1's guard becomes true again when lane 0 writes it."""
    store = Store({"G": {0: 1}})
    cond = op(Read("G", TID), "!=", k(0))
    body = seq(Write("G", k(1), k(1)), Write("G", TID, k(0)))
    after, cost = run(While(cond, body), store, WARP[:2])
    assert after.arrays["G"] == {0: 0, 1: 1}
    assert cost["divwarps"] == 1


def test_long_sequences_long_loops_and_deep_branches_nest_nothing() -> None:
    one = WARP[:1]
    assert run(seq(*[COUNT] * 10_000), threads=one)[1] == costs(steps=40_000)
    assert run(While(op(Var("i"), "<", k(20_000)), COUNT), threads=one)[1] == costs(steps=20_000 * 8 + 4)
    deep: Stmt = Skip()
    for _ in range(5_000):
        deep = If(TRUE, deep, Skip())
    assert run(deep, threads=one)[1] == costs(steps=10_000)


def test_the_step_limit_names_the_outermost_loop_that_runs() -> None:
    inner = While(op(Var("i"), "<", k(3)), COUNT, Loc("f.cu", 4, 9))
    outer = While(TRUE, seq(Assign("i", k(0)), inner), Loc("f.cu", 3, 5))
    ended = While(op(Var("i"), "<", k(1)), COUNT, Loc("f.cu", 1, 1))
    to_come = While(TRUE, Skip(), Loc("f.cu", 9, 1))
    for limit in range(100, 110):  # whatever part of the outer loop is reached
        with pytest.raises(StepLimit, match=rf"the loop at f\.cu:3:5 did not end within {limit} steps") as caught:
            run(seq(ended, outer, to_come), m=machine(step_limit=limit))
        assert caught.value.loc == outer.loc


def test_the_step_limit_counts_rules_and_tells_the_cost_of_the_prefix() -> None:
    s = seq(Assign("x", k(1)), While(TRUE, Assign("x", k(2))))
    m = machine(step_limit=4)  # seq, vwrite, while-all, vwrite
    with pytest.raises(StepLimit) as caught:
        run(s, m=m)
    assert m.named(caught.value.cost) == costs(steps=2 + 2 + 2)
    assert run(Assign("x", k(1)), m=machine(step_limit=1))[1] == costs(steps=2)
    with pytest.raises(StepLimit, match="the program did not end within 1 steps"):
        run(seq(Skip(), Skip()), m=machine(step_limit=1))


# --- metrics, events, phases -----------------------------------------------------------------------------------------


def test_costs_are_exact_rationals() -> None:
    third = Metric("third", {"var": Fraction(1, 3)}, {"gread": Linear(Fraction(1, 7), Fraction(-1, 2))})
    m = machine(metrics=(third, METRICS["sectors"]))
    assert cost_of(Read("G", TID), m=m) == {"third": Fraction(1, 3) + Fraction(1, 14), "sectors": 4}


def test_the_cost_is_the_sum_of_the_events() -> None:
    seen: list[Event] = []
    m = machine(observer=seen.append)
    loop = While(op(Var("i"), "<", TID), seq(Assign("x", Read("G", TID)), Write("S", op(TID, "*", k(2)), k(1)), COUNT))
    _, cost = run(loop, threads=WARP[:3], m=m)
    for metric in TABLE_1:
        prices = [metric.cost(e.constant) if e.count is None else metric.count(e.constant, e.count) for e in seen]
        assert sum(prices) == cost[metric.name]
    first = next(e for e in seen if e.constant == "gread")
    assert (first.term, first.threads, first.indices, first.count) == (Read("G", TID), WARP[1:3], (1, 2), 1)
    assert first.values == ()
    assert {e.values for e in seen if e.constant == "swrite"} == {(1,) * 2, (1,)}


def test_phases_stop_before_a_sync_and_tell_what_parted_the_threads() -> None:
    part = If(op(TID, "<", k(2)), seq(Assign("x", k(1)), Sync()), Skip())
    store = Store()
    m = machine()
    run_ = phases(seq(Assign("y", k(1)), Sync(), part), store, WARP[:4], m)
    assert next(run_) == Barrier(Sync(), WARP[:4], None)
    assert "x" not in store.locals
    assert next(run_) == Barrier(Sync(), WARP[:2], part)
    with pytest.raises(StopIteration) as end:
        next(run_)
    assert m.named(end.value.value) == costs(divwarps=1, steps=2 + 1 + (3 + 1 + 1) + 2 + 1)


# --- laws ------------------------------------------------------------------------------------------------------------

INTS = st.recursive(
    st.sampled_from([Var("x"), Var("i"), TID, Param("n")]) | st.integers(-3, 40).map(k),
    lambda e: st.builds(op, e, st.sampled_from("+-*/%"), e) | st.builds(Read, st.sampled_from(["G", "S", "C"]), e),
    max_leaves=4,
)
BOOLS = st.builds(op, INTS, st.sampled_from(["<", ">=", "==", "!="]), INTS)
STMTS = st.recursive(
    st.builds(Assign, st.sampled_from(["x", "i"]), INTS)
    | st.builds(Write, st.sampled_from(["G", "S"]), INTS, INTS)
    | st.sampled_from([Skip(), Sync()]),
    lambda s: st.builds(If, BOOLS, s, s) | st.builds(seq, s, s),
    max_leaves=5,
)
THREADS = st.sets(st.integers(0, 63), min_size=1, max_size=12).map(lambda xs: lanes(*sorted(xs)))


@given(STMTS, STMTS, THREADS)
def test_cost_is_additive_over_seq(s1: Stmt, s2: Stmt, threads: Threads) -> None:
    m = machine((64, 1, 1))
    middle, c1 = execute(s1, Store({"G": {1: 2}, "S": {3: 4}}), threads, m)
    after, c2 = execute(s2, middle, threads, m)
    assert execute(seq(s1, s2), Store({"G": {1: 2}, "S": {3: 4}}), threads, m) == (after, c1 + c2)


@given(
    st.sampled_from([a.name for a in ARRAYS]),
    st.lists(st.integers(-50, 200), min_size=64, max_size=64),
    THREADS,
    THREADS,
)
def test_memreads_and_conflicts_are_monotone_in_t(
    array: str, indices: list[int], some: Threads, others: Threads
) -> None:
    m = machine((64, 1, 1))
    store = Store(locals={"x": dict(zip(rows((64, 1, 1)), indices, strict=True))})
    few, many = (evaluate(Read(array, Var("x")), store, t, m)[1].parts for t in (some, (*some, *others)))
    assert all(a <= b for a, b in zip(few, many, strict=True))
