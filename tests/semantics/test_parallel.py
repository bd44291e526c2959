"""Work and span of blocks: each rule by example, barriers that not everybody reaches, grids, pairs of metrics.

Blocks here have two warps of four threads; costs are worked out by hand from Fig. 6 and Table 1.
"""

from fractions import Fraction
from typing import Any

import pytest

from logic.metrics import METRICS, Hardware, Linear, Metric
from logic.source import Loc
from logic.syntax import (
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
)
from logic.typing import check_kernel
from semantics.events import Event, Thread, Threads
from semantics.grid import BarrierDivergence, LaunchProblem
from semantics.lockstep import Cost, StepLimit, Store, evaluate
from semantics.parallel import (
    ISSUE,
    LATENCY,
    TIME,
    BlockMachine,
    Profile,
    alone,
    execute,
    pairs,
    run,
    time_bound,
    work_and_span,
)

TINY = Hardware("tiny", sector=8, banks=4, word=4, warp=4, alignment=64)
STEPS = alone(METRICS["steps"])
LONG = Profile(
    "long", METRICS["steps"], Metric("slow", dict.fromkeys(METRICS["steps"].fixed, Fraction(3)), LATENCY.counted)
)
TID = Tid("x")


def k(n: int) -> Const:
    return Const(n)


def op(a: Expr, o: str, b: Expr) -> Op:
    return Op(o, (a, b))


def kernel(body: Stmt) -> Kernel:
    arrays = (Array("G", "global", INT, 4), Array("S", "shared", INT, 4), Array("S2", "shared", INT, 4, length=2))
    return Kernel("k", (Decl("n", INT),), arrays, (Decl("x", INT), Decl("y", INT)), body)


def machine(**more: object) -> BlockMachine:
    return BlockMachine(check_kernel(kernel(Skip())), {"n": 3}, (8, 1, 1), hardware=TINY, **more)  # type: ignore[arg-type]


def lanes(*xs: int) -> Threads:
    return tuple(Thread((0, 0, 0), (x, 0, 0)) for x in xs)


BLOCK = lanes(*range(8))


def costs(s: Stmt, threads: Threads = BLOCK, profile: Profile = STEPS, store: Store | None = None) -> list[Any]:
    """(work, span) of both warps."""
    m = machine(profiles=(profile,))
    _, c = execute(s, store or Store(), threads, m)
    return [w[profile.name] for w in table(c, m)]


def table(c: Cost, m: BlockMachine) -> Any:
    """`pairs`, to be compared with plain numbers."""
    return pairs(c, m)


ADD = Assign("x", op(Var("x"), "+", k(1)))  # var, const, op, vwrite: four steps


# --- statements ------------------------------------------------------------------------------------------------------


def test_an_operation_costs_every_warp_with_an_active_thread() -> None:
    assert costs(ADD) == [(4, 4), (4, 4)]
    assert costs(ADD, lanes(1, 2)) == [(4, 4), (0, 0)]
    assert costs(ADD, lanes(7)) == [(0, 0), (4, 4)]
    assert costs(Skip()) == [(0, 0), (0, 0)]


def test_work_and_span_have_their_own_prices() -> None:
    assert costs(ADD, profile=LONG) == [(4, 12), (4, 12)]


def test_every_warp_pays_for_its_own_sectors_and_conflicts() -> None:
    """Threads 0 to 3 read one sector, threads 4 to 7 one each; and so with banks."""
    index = op(op(TID, "/", k(4)), "*", op(TID, "*", k(4)))
    read = [cost for cost, _ in costs(Assign("x", Read("G", index)))]
    assert [n - read[0] for n in read] == [0, 3]
    shared = [cost for cost, _ in costs(Write("S", index, k(1)))]
    assert [n - shared[0] for n in shared] == [0, 3]


def test_expressions_are_those_of_the_lock_step_semantics() -> None:
    m = machine(profiles=(LONG,))
    store = Store({"G": {i: 7 * i for i in range(8)}})
    r, c = evaluate(Read("G", TID), store, BLOCK[2:], m)
    assert [r[t] for t in BLOCK[2:]] == [7 * i for i in range(2, 8)]
    # var + gread: lanes 2 and 3 share a sector of 8 bytes, lanes 4 to 7 touch two
    assert [w["long"] for w in table(c, m)] == [(1 + 1, 3 + 401), (1 + 2, 3 + 402)]


def test_sc_seq_goes_on_from_the_collection_it_is_given() -> None:
    m = machine(profiles=(STEPS,))
    store, c = execute(ADD, Store(), lanes(0), m)
    store, c = execute(ADD, store, BLOCK, m, c)
    assert table(c, m) == [{"steps": (8, 8)}, {"steps": (4, 4)}]
    assert [store.locals["x"][t] for t in BLOCK[:2]] == [2, 1]


def test_sc_sync_levels_the_spans_and_leaves_the_works() -> None:
    one = If(op(TID, "<", k(4)), ADD, Skip())  # each warp pays the guard: 3 + 1
    assert costs(one) == [(8, 8), (4, 4)]
    assert costs(seq(one, Sync())) == [(9, 9), (5, 9)]
    assert costs(seq(one, Sync(), ADD)) == [(13, 13), (9, 13)]


def test_sc_sync_levels_each_profile_by_itself() -> None:
    """One write takes warp 0 longer than three additions take warp 1, in fewer steps."""
    m = machine(profiles=(STEPS, TIME))
    s = seq(If(op(TID, "<", k(4)), Write("G", TID, k(1)), seq(ADD, ADD, ADD)), Sync())
    _, c = execute(s, Store(), BLOCK, m)
    slow, last = 8 + 402 + 4, 4 + 12 + 1
    assert table(c, m) == [
        {"steps": (4 + 4 + 1, last), TIME.name: (2 + 2 + 1, slow)},
        {"steps": (last, last), TIME.name: (2 + 3 + 1, slow)},
    ]
    whole: Any = work_and_span(c, m)
    assert whole == {"steps": (9 + 17, last), TIME.name: (5 + 6, slow)}


def test_sc_if_where_no_warp_diverges() -> None:
    """Warp 0 takes one side, warp 1 the other: nobody pays M.div, and each pays for its side alone."""
    s = If(op(TID, "<", k(4)), ADD, Assign("y", k(2)))
    assert costs(s) == [(4 + 4, 4 + 4), (4 + 2, 4 + 2)]
    assert costs(s, profile=alone(METRICS["divwarps"])) == [(0, 0), (0, 0)]


def test_sc_if_is_dearer_for_the_warp_that_diverges() -> None:
    s = If(op(TID, "<", k(2)), ADD, Assign("y", k(2)))
    assert costs(s) == [(4 + 1 + 4 + 2, 11), (4 + 2, 6)]
    assert costs(s, profile=alone(METRICS["divwarps"])) == [(1, 1), (0, 0)]


def test_in_sc_if_the_else_branch_sees_the_store_of_the_then_branch() -> None:
    s = If(op(TID, "<", k(4)), Write("G", k(0), k(7)), Assign("x", Read("G", k(0))))
    after, _ = execute(s, Store(), BLOCK, machine())
    assert after.locals["x"] == dict.fromkeys(BLOCK[4:], 7)


def test_sc_while_counts_each_warp_as_long_as_it_goes_round() -> None:
    """Threads 0 to 3 go round once, threads 4 to 7 twice: no divergence, no cost for who has left."""
    s = While(op(Var("x"), "<=", op(TID, "/", k(4))), ADD)
    guard = 1 + 1 + 1 + 1 + 1 + 1
    assert costs(s) == [(2 * guard + 4,) * 2, (3 * guard + 2 * 4,) * 2]


def test_sc_while_is_dearer_for_the_warp_that_diverges() -> None:
    """Threads 0 and 1 leave at once, 2 and 3 after a round, 4 to 7 after two."""
    s = While(op(Var("x"), "<", op(TID, "/", k(2))), ADD)
    assert costs(s, lanes(0, 1, 2, 3, 4, 5), alone(METRICS["divwarps"])) == [(1, 1), (0, 0)]
    guard = 1 + 1 + 1 + 1 + 1 + 1
    assert costs(s, lanes(0, 1, 2, 3, 4, 5)) == [(2 * guard + 1 + 4,) * 2, (3 * guard + 2 * 4,) * 2]


def test_nothing_runs_without_a_thread() -> None:
    """As printed, Fig. 6 runs endless loops on no threads, and levels the spans at barriers that nobody reaches."""
    never = If(op(TID, "<", k(0)), seq(Sync(), While(TRUE, Skip())), Skip())
    assert costs(seq(If(op(TID, "<", k(4)), ADD, Skip()), never)) == [(12, 12), (8, 8)]


def test_a_cost_may_be_a_fraction() -> None:
    third = alone(Metric("third", {"vwrite": Fraction(1, 3)}, {"gwrite": Linear(Fraction(1, 7), Fraction(0))}))
    assert costs(seq(ADD, Write("G", k(0), k(1))), profile=third) == [(Fraction(10, 21),) * 2] * 2


def test_a_set_of_threads_that_no_judgement_is_about() -> None:
    with pytest.raises(ValueError, match="empty"):
        execute(Skip(), Store(), (), machine())
    with pytest.raises(ValueError, match="several blocks"):
        execute(Skip(), Store(), (*BLOCK, Thread((1, 0, 0), (0, 0, 0))), machine())


# --- barriers --------------------------------------------------------------------------------------------------------

HERE, THERE, GUARD = Loc("f.cu", 4, 7), Loc("f.cu", 6, 7), Loc("f.cu", 3, 5)


def diverges(s: Stmt, message: str) -> tuple[Loc | None, Loc | None]:
    with pytest.raises(BarrierDivergence, match=message) as caught:
        execute(s, Store(), BLOCK, machine())
    return caught.value.loc, caught.value.split


def test_a_barrier_under_a_branch_that_all_threads_take() -> None:
    assert costs(If(op(Param("n"), "<", k(4)), seq(ADD, Sync()), Skip())) == [(4 + 4 + 1,) * 2] * 2


def test_a_barrier_that_a_part_of_a_warp_reaches() -> None:
    s = If(op(TID, "<", k(6)), seq(Skip(), Sync(HERE)), Skip(), GUARD)
    assert diverges(s, r"2 of the 4 threads of warp 1 .* thread \(6,0,0\) does not") == (HERE, GUARD)


def test_a_barrier_in_a_loop_that_threads_leave_one_by_one() -> None:
    s = While(op(Var("x"), "<", TID), seq(Sync(HERE), ADD), GUARD)
    assert diverges(s, "3 of the 4 threads of warp 0") == (HERE, GUARD)


def test_two_warps_at_two_barriers() -> None:
    s = If(op(TID, "<", k(4)), Sync(HERE), Sync(THERE), GUARD)
    assert diverges(s, r"warp 0 waits .* warp 1 at another \(f\.cu:6:7\)") == (HERE, THERE)


def test_two_warps_at_one_barrier_at_two_times() -> None:
    now = op(Var("x"), "==", op(TID, "/", k(4)))
    s = While(op(Var("x"), "<", k(2)), seq(If(now, Sync(HERE), Skip(), GUARD), ADD))
    assert diverges(s, "warp 0 waits at this __syncthreads.., warp 1 comes to it only later") == (HERE, GUARD)


def test_a_barrier_waits_for_the_end_of_warps_that_come_to_none() -> None:
    """As for a kernel whose second warp returns early; whether its branch is written first or second."""
    stays, leaves = seq(ADD, Sync(), ADD), seq(ADD, ADD, ADD)
    for s in (
        If(op(TID, "<", k(4)), stays, leaves),
        If(op(TID, ">=", k(4)), leaves, stays),
    ):
        assert costs(s) == [(4 + 4 + 1 + 4, 4 + 12 + 1 + 4), (4 + 12, 4 + 12)]


def test_who_has_ended_is_not_waited_for_again() -> None:
    s = If(op(TID, "<", k(4)), seq(Sync(), ADD, Sync(), ADD, Sync()), ADD)
    # the last barrier raises the span of who has ended, too: it is the largest anyway
    assert costs(s) == [(4 + 3 + 8, 8 + 3 + 8), (8, 8 + 2 + 8)]


def test_threads_outside_of_t_are_not_waited_for() -> None:
    assert costs(seq(ADD, Sync()), lanes(0, 1)) == [(5, 5), (0, 4)]


# --- grids -----------------------------------------------------------------------------------------------------------

LATER_BLOCKS_ARE_DEARER = seq(Write("G", TID, k(1)), While(op(Var("x"), "<", Param("blockIdx.x")), ADD))


def test_a_grid_is_the_sum_of_the_works_and_the_largest_span() -> None:
    result = run(kernel(LATER_BLOCKS_ARE_DEARER), (8, 1, 1), (3, 1, 1), {"n": 0}, profiles=(STEPS, TIME), hardware=TINY)
    # the write: 1 + 1 + 2 sectors; the guard: 3 + 1
    of_a_warp = [4 + 4 + i * (4 + 4) for i in range(3)]
    blocks: list[Any] = [b["steps"] for b in result.blocks]
    assert blocks == [(2 * n, n) for n in of_a_warp]
    assert result.whole.totals["steps"] == 2 * sum(of_a_warp)
    assert result.span("steps") == of_a_warp[2]
    assert result.whole.max_per_warp["steps"] == of_a_warp[2]
    assert (result.whole.warps, result.whole.arrays["G"]) == (6, dict.fromkeys(range(8), 1))
    # issue slots: 2 sectors, two a guard, one an addition; latency 400 more for the write, 3 for each of the others
    last: Any = result.blocks[2]["issue,latency"]
    assert last == (2 * (2 + 3 * 2 + 2), 402 + 4 * (3 * 2 + 2))


def test_a_partial_warp_and_three_dimensions() -> None:
    result = run(kernel(ADD), (3, 2, 1), (1, 2, 2), {"n": 0}, profiles=(STEPS,), hardware=TINY)
    assert result.whole.warps == 8
    assert result.whole.totals["steps"] == 32
    assert result.span("steps") == 4


def test_a_grid_reports_accesses_out_of_bounds_and_tells_observers_of_every_warp() -> None:
    seen: list[Event] = []
    result = run(
        kernel(Write("S2", op(TID, "-", k(4)), TID)),
        (8, 1, 1),
        (2, 1, 1),
        {"n": 0},
        hardware=TINY,
        observer=seen.append,
    )
    assert [str(o).partition(" by")[0] for o in result.whole.out_of_bounds] == ["store of S2[-4]"]
    writes = [(e.threads[0].block[0], e.indices, e.values, e.count) for e in seen if e.constant == "swrite"]
    each = (((-4, -3, -2, -1), (0, 1, 2, 3)), ((0, 1, 2, 3), (4, 5, 6, 7)))
    assert writes == [(b, *w, 1) for b in (0, 1) for w in each]


def test_events_of_divergence_name_the_warp_that_diverges() -> None:
    seen: list[Event] = []
    execute(If(op(TID, "<", k(6)), Skip(), Skip()), Store(), BLOCK, machine(observer=seen.append))
    assert [(e.constant, e.threads) for e in seen if e.constant in ("if", "div")] == [
        ("if", BLOCK[:4]),
        ("if", BLOCK[4:]),
        ("div", BLOCK[4:]),
    ]


def test_blocks_share_global_memory_only() -> None:
    body = seq(
        Write("S", k(0), op(Read("S", k(0)), "+", k(1))),
        Write("G", Param("blockIdx.x"), op(op(Read("S", k(0)), "+", Read("G", k(0))), "+", Var("x"))),
        ADD,
    )
    assert run(kernel(body), (8, 1, 1), (3, 1, 1), {"n": 0}).whole.arrays["G"] == {0: 1, 1: 2, 2: 2}


def test_a_launch_that_cannot_be() -> None:
    with pytest.raises(LaunchProblem, match="parameter 'n' has no value"):
        run(kernel(Skip()), (8, 1, 1), (1, 1, 1), {})


def test_the_step_limit_is_for_the_threads_of_a_block_together() -> None:
    loop = While(TRUE, Skip(), GUARD)
    with pytest.raises(StepLimit, match=r"the loop at f\.cu:3:5 did not end within 50 steps") as caught:
        run(kernel(loop), (8, 1, 1), (1, 1, 1), {"n": 0}, profiles=(STEPS,), hardware=TINY, step_limit=50)
    assert caught.value.cost == Cost((Fraction(50),) * 4)  # 25 rounds of two steps, in two warps
    late = If(op(TID, "<", k(4)), Sync(), While(TRUE, Skip(), GUARD))  # who runs before a barrier counts, too
    with pytest.raises(StepLimit, match=r"f\.cu:3:5"):
        run(kernel(late), (8, 1, 1), (1, 1, 1), {"n": 0}, hardware=TINY, step_limit=50)
    assert run(kernel(seq(ADD, ADD)), (8, 1, 1), (9, 1, 1), {"n": 0}, hardware=TINY, step_limit=3).whole.warps == 18


# --- pairs of metrics ------------------------------------------------------------------------------------------------


def test_nothing_is_done_before_it_was_issued() -> None:
    one, two = (Metric("m", {"op": Fraction(n)}) for n in (1, 2))
    assert Profile("p", one, two).span is two
    with pytest.raises(ValueError, match="profile p: the span of 'op' is less than its work"):
        Profile("p", two, one)


@pytest.mark.parametrize(
    ("work", "span", "good"),
    [
        (None, None, True),
        (None, (0, 5), True),
        ((1, 0), (1, 0), True),
        ((1, -1), (1, 0), True),
        ((0, -3), None, True),
        ((1, 0), None, False),
        ((1, 0), (1, -1), False),
        ((2, -2), (1, 0), False),
        ((1, -1), (2, -3), False),  # harmless, and refused: at n = 1 the lines are the wrong way round
    ],
)
def test_nor_is_an_access(work: tuple[int, int] | None, span: tuple[int, int] | None, good: bool) -> None:
    def metric(line: tuple[int, int] | None) -> Metric:
        return Metric("m", counted={"sread": Linear(Fraction(line[0]), Fraction(line[1]))} if line else {})

    if good:
        pair = Profile("p", metric(work), metric(span))
        assert all(pair.work.count("sread", n) <= pair.span.count("sread", n) for n in range(1, 33))
    else:
        with pytest.raises(ValueError, match="'sread'"):
            Profile("p", metric(work), metric(span))


def test_the_default_pair() -> None:
    assert (TIME.work, TIME.span) == (ISSUE, LATENCY)
    assert all(ISSUE.cost(c) <= LATENCY.cost(c) for c in ("op", "if", "div", "sync"))
    assert ISSUE.count("gread", 4) == 4
    assert LATENCY.count("gread", 4) == 404


def test_the_bound_of_theorem_2() -> None:
    assert time_bound(Fraction(10), Fraction(3), 4) == Fraction(11, 2)
    with pytest.raises(ValueError, match="cannot issue 0 instructions"):
        time_bound(Fraction(10), Fraction(3), 0)
