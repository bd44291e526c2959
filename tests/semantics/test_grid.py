"""Whole grids: sums over warps, barriers, bounds, and launches that cannot be."""

from fractions import Fraction

import pytest

from logic.source import Loc
from logic.syntax import (
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
)
from logic.typing import TypeProblem
from semantics.events import Event
from semantics.grid import BarrierDivergence, LaunchProblem, run
from semantics.lockstep import Initial, StepLimit

TID = Tid("x")


def op(a: Expr, o: str, b: Expr) -> Op:
    return Op(o, (a, b))


def k(n: int) -> Const:
    return Const(n)


def kernel(body: Stmt, *params: str) -> Kernel:
    arrays = (Array("G", "global", INT, 4), Array("S", "shared", INT, 4), Array("S4", "shared", INT, 4, length=4))
    return Kernel("k", tuple(Decl(p, INT) for p in params), arrays, (Decl("x", INT), Decl("y", INT)), body)


GLOBAL_ID = op(op(Param("blockDim.x"), "*", Param("blockIdx.x")), "+", TID)
VECTOR_ADD = Kernel(
    "vectorAdd",
    (Decl("numElements", INT, Loc("v.cu", 1, 20)),),
    tuple(Array(a, "global", FLOAT, 4) for a in "ABC"),
    (Decl("i", INT),),
    seq(
        Assign("i", GLOBAL_ID),
        If(
            op(Var("i"), "<", Param("numElements")),
            Write("C", Var("i"), op(Read("A", Var("i")), "+", Read("B", Var("i")))),
            Skip(),
        ),
    ),
)


def test_vector_add() -> None:
    """12 sectors a warp (RaCuda, POPL 2021, Table 5); 32 warps."""
    result = run(VECTOR_ADD, (256, 1, 1), (4, 1, 1), {"numElements": 1024})
    # i <- bd * bi + tid: 5 + 1; the guard: 3 + 1; the write: 1 + (1 + 4) + (1 + 4) + 1 + 4
    assert result.max_per_warp.items() >= {"sectors": 12, "conflicts": 0, "divwarps": 0, "steps": 26}.items()
    assert result.totals.items() >= {"sectors": 384, "conflicts": 0, "divwarps": 0, "steps": 832}.items()
    assert (result.warps, result.out_of_bounds) == (32, ())
    assert all(type(v) is Fraction for v in (*result.totals.values(), *result.max_per_warp.values()))


def test_vector_add_with_a_partial_last_warp() -> None:
    """1000 = 31 * 32 + 8: the last warp diverges and touches one sector of each array."""
    arrays = {"A": [float(i) for i in range(1000)], "B": [0.5] * 1000, "C": [0.0] * 1000}
    result = run(VECTOR_ADD, (256, 1, 1), (4, 1, 1), {"numElements": 1000}, arrays)
    assert result.totals["sectors"] == 31 * 12 + 3
    assert result.totals["divwarps"] == 1
    assert result.arrays["C"] == {i: i + 0.5 for i in range(1000)}
    assert result.out_of_bounds == ()


def test_a_block_that_is_no_multiple_of_a_warp() -> None:
    result = run(kernel(Write("G", TID, k(1))), (40, 1, 1), (2, 1, 1), {})
    assert result.warps == 4
    assert result.totals["sectors"] == 2 * (4 + 1)
    assert result.max_per_warp["sectors"] == 4


def test_the_builtin_parameters_and_three_dimensions() -> None:
    names = [f"{n}.{a}" for n in ("blockIdx", "blockDim", "gridDim") for a in "xyz"] + ["warpSize"]
    last = [op(Param(f"blockIdx.{a}"), "==", k(n - 1)) for a, n in zip("xyz", (2, 3, 4), strict=True)]
    writes = seq(*(Write("G", k(i), Param(name)) for i, name in enumerate(names)))
    tid = seq(*(Write("G", k(10 + i), Tid(a)) for i, a in enumerate(("x", "y", "z"))))  # type: ignore[arg-type]
    result = run(
        kernel(If(op(op(last[0], "&&", last[1]), "&&", last[2]), seq(writes, tid), Skip())), (5, 2, 3), (2, 3, 4), {}
    )
    assert [result.arrays["G"][i] for i in range(13)] == [1, 2, 3, 5, 2, 3, 2, 3, 4, 32, 4, 1, 2]


def test_blocks_run_in_order_and_share_global_memory_only() -> None:
    body = seq(
        Write("S", k(0), op(Read("S", k(0)), "+", k(1))),
        Assign("x", op(Var("x"), "+", k(1))),
        Write("G", k(0), op(Read("G", k(0)), "+", k(1))),
        Write("G", op(Param("blockIdx.x"), "+", k(1)), op(Read("S", k(0)), "+", op(Var("x"), "*", k(10)))),
    )
    assert run(kernel(body), (1, 1, 1), (3, 1, 1), {}).arrays["G"] == {0: 3, 1: 11, 2: 11, 3: 11}


def test_blocks_and_threads_are_numbered_x_first() -> None:
    block = op(op(Param("blockIdx.y"), "*", k(10)), "+", Param("blockIdx.x"))
    result = run(
        kernel(seq(Write("G", k(0), block), Write("G", op(Tid("y"), "*", k(8)), k(1)))), (4, 16, 1), (3, 2, 1), {}
    )
    assert result.max_per_warp["sectors"] == 1 + 8  # a warp holds eight rows of four
    last = run(kernel(Write("G", k(0), block)), (1, 1, 1), (3, 2, 1), {})
    assert last.arrays["G"] == {0: 12}
    order: list[tuple[int, int, int]] = []
    run(kernel(Write("G", k(0), k(1))), (1, 1, 1), (2, 2, 2), {}, observer=lambda e: order.append(e.threads[0].block))
    assert list(dict.fromkeys(order))[:3] == [(0, 0, 0), (1, 0, 0), (0, 1, 0)]


def test_an_ill_typed_kernel_is_refused_before_it_runs() -> None:
    with pytest.raises(TypeProblem, match="'x' is int, the value is bool"):
        run(kernel(If(TRUE, Skip(), Assign("x", TRUE))), (1, 1, 1), (1, 1, 1), {})


# --- barriers --------------------------------------------------------------------------------------------------------


def test_a_barrier_separates_phases() -> None:
    """Warp 0 reads what warp 1 writes before the barrier, not what it writes after it."""
    body = seq(
        Write("S", TID, op(TID, "+", k(100))),
        Sync(),
        Write("G", TID, Read("S", op(k(63), "-", TID))),
        Sync(),
        Write("S", TID, k(0)),
    )
    result = run(kernel(body), (64, 1, 1), (1, 1, 1), {})
    assert result.arrays["G"] == {i: 163 - i for i in range(64)}
    # S[tid]: 1 + 3 + 0; sync 1; 1 + (3 + 0) + 4; sync 1; 1 + 1 + 0
    steps = 4 + 1 + 8 + 1 + 2
    assert result.max_per_warp.items() >= {"sectors": 4, "conflicts": 0, "divwarps": 0, "steps": steps}.items()


def test_without_the_barrier_warp_0_runs_first() -> None:
    body = seq(Write("S", TID, op(TID, "+", k(100))), Write("G", TID, Read("S", op(k(63), "-", TID))))
    result = run(kernel(body), (64, 1, 1), (1, 1, 1), {})
    assert result.arrays["G"] == {i: 0 if i < 32 else 163 - i for i in range(64)}


def test_barriers_in_a_loop() -> None:
    """Every round moves S by one place round the block, across the edge of the warps."""
    step = seq(Assign("y", Read("S", op(op(TID, "+", k(1)), "%", k(64)))), Sync(), Write("S", TID, Var("y")), Sync())
    loop = While(op(Var("x"), "<", k(5)), seq(step, Assign("x", op(Var("x"), "+", k(1)))))
    result = run(
        kernel(seq(Write("S", TID, TID), Sync(), loop, Write("G", TID, Read("S", TID)))), (64, 1, 1), (1, 1, 1), {}
    )
    assert result.arrays["G"] == {i: (i + 5) % 64 for i in range(64)}


def test_a_warp_that_has_ended_holds_nobody_up() -> None:
    body = If(op(TID, "<", k(32)), seq(Sync(), Write("G", TID, k(1)), Sync()), Skip())
    assert run(kernel(body), (64, 1, 1), (1, 1, 1), {}).arrays["G"] == dict.fromkeys(range(32), 1)


def test_barrier_divergence_inside_a_warp() -> None:
    body = If(op(TID, "<", k(16)), seq(Skip(), Sync(Loc("f.cu", 4, 7))), Skip(), Loc("f.cu", 3, 5))
    guarded = If(op(TID, ">=", k(32)), If(op(TID, "<", k(48)), body.then, Skip(), Loc("f.cu", 3, 5)), Skip())
    message = r"16 of the 32 threads of warp 1 .*thread \(48,0,0\) does not"
    with pytest.raises(BarrierDivergence, match=message) as caught:
        run(kernel(guarded), (64, 1, 1), (1, 1, 1), {})
    assert (caught.value.loc, caught.value.split) == (Loc("f.cu", 4, 7), Loc("f.cu", 3, 5))
    with pytest.raises(BarrierDivergence, match=r"block \(0,0,0\)"):
        run(kernel(body), (32, 1, 1), (2, 1, 1), {})


def test_barrier_divergence_in_a_loop_whose_length_differs() -> None:
    loop = While(
        op(Var("x"), "<", TID), seq(Sync(Loc("f.cu", 9, 1)), Assign("x", op(Var("x"), "+", k(1)))), Loc("f.cu", 8, 1)
    )
    with pytest.raises(BarrierDivergence, match="31 of the 32") as caught:
        run(kernel(loop), (32, 1, 1), (1, 1, 1), {})
    assert caught.value.split == Loc("f.cu", 8, 1)


def test_warps_at_different_barriers_diverge() -> None:
    body = If(op(TID, "<", k(32)), Sync(Loc("f.cu", 2, 1)), Sync(Loc("f.cu", 4, 1)))
    with pytest.raises(BarrierDivergence, match=r"warp 0 waits .* warp 1 at another \(f\.cu:4:1\)") as caught:
        run(kernel(body), (64, 1, 1), (1, 1, 1), {})
    assert (caught.value.loc, caught.value.split) == (Loc("f.cu", 2, 1), Loc("f.cu", 4, 1))


# --- bounds, limits, observers ---------------------------------------------------------------------------------------


def test_out_of_bounds_is_reported_once_a_place() -> None:
    here, there = Loc("f.cu", 5, 3), Loc("f.cu", 6, 3)
    body = seq(
        Write("G", op(GLOBAL_ID, "*", k(2)), k(1), here),
        Assign("x", Read("S4", TID, there)),
        Assign("y", Read("G", op(TID, "-", k(1)))),
    )
    result = run(kernel(body), (8, 1, 1), (2, 1, 1), {}, {"G": [5] * 12})
    store, shared, negative = result.out_of_bounds
    assert (store.kind, store.array, store.index, store.length, store.thread.tid, store.loc) == (
        "store",
        "G",
        12,
        12,
        (6, 0, 0),
        here,
    )
    assert (shared.kind, shared.index, shared.length, shared.loc) == ("load", 4, 4, there)
    assert str(negative) == "load of G[-1] by thread (0,0,0) of block (0,0,0), but 'G' has 12 elements"
    assert result.arrays["G"] == {i: 5 if i % 2 else 1 for i in range(12)}


def test_arrays_without_a_length_have_no_upper_bound() -> None:
    result = run(
        kernel(Write("G", op(TID, "-", k(1)), Read("G", op(TID, "+", k(9))))), (4, 1, 1), (1, 1, 1), {}, {"G": {10: 3}}
    )
    assert result.arrays["G"] == {10: 3, 0: 3, 1: 0, 2: 0}
    assert [str(o) for o in result.out_of_bounds] == [
        "store of G[-1] by thread (0,0,0) of block (0,0,0), but 'G' starts at 0"
    ]


def test_contents_may_be_computed() -> None:
    result = run(
        kernel(Write("G", TID, op(Read("G", op(TID, "+", k(2))), "*", k(2)))),
        (4, 1, 1),
        (1, 1, 1),
        {},
        {"G": Initial(lambda i: i, 5)},
    )
    assert result.arrays["G"] == {0: 4, 1: 6, 2: 8, 3: 0}


def test_the_step_limit_is_for_a_warp() -> None:
    body = seq(Assign("x", k(1)), Assign("x", k(1)))
    assert run(kernel(body), (96, 1, 1), (2, 1, 1), {}, step_limit=3).warps == 6
    with pytest.raises(StepLimit, match=r"the loop at f\.cu:3:5 did not end within 50 steps"):
        run(kernel(While(TRUE, Skip(), Loc("f.cu", 3, 5))), (1, 1, 1), (1, 1, 1), {}, step_limit=50)


def test_an_observer_sees_every_warp() -> None:
    seen: list[Event] = []
    run(kernel(Write("G", TID, k(1))), (40, 1, 1), (2, 1, 1), {}, observer=seen.append)
    writes = [(e.threads[0].block[0], e.indices, e.count) for e in seen if e.constant == "gwrite"]
    first, second = tuple(range(32)), tuple(range(32, 40))
    assert writes == [(0, first, 4), (0, second, 1), (1, first, 4), (1, second, 1)]


# --- launches that cannot be -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "grid", "message"),
    [
        ((0, 1, 1), (1, 1, 1), "the block's x is 0"),
        ((1, -1, 1), (1, 1, 1), "the block's y is -1"),
        ((1, 1, 65), (1, 1, 1), "the block's z is 65"),
        ((32, 33, 1), (1, 1, 1), "a block of 1056 threads is too large"),
        ((1, 1, 1), (1, 65536, 1), "the grid's y is 65536"),
    ],
)
def test_dimensions_that_no_device_takes(block: tuple[int, int, int], grid: tuple[int, int, int], message: str) -> None:
    with pytest.raises(LaunchProblem, match=message):
        run(kernel(Skip()), block, grid, {})


def test_a_parameter_without_a_value() -> None:
    with pytest.raises(LaunchProblem, match="parameter 'numElements' has no value") as caught:
        run(VECTOR_ADD, (32, 1, 1), (1, 1, 1), {})
    assert caught.value.loc == Loc("v.cu", 1, 20)
    assert "--arg numElements=" in caught.value.advice


@pytest.mark.parametrize(
    ("args", "arrays", "message"),
    [
        ({"n": 1, "m": 2}, {}, "no parameter 'm'"),
        ({"n": 1, "blockDim.x": 2}, {}, "'blockDim.x' is set by the launch"),
        ({"n": 1.5}, {}, "parameter 'n' is int, 1.5 is not"),
        ({"n": 1}, {"H": [1]}, "no global array 'H'"),
        ({"n": 1}, {"S": [1]}, "no global array 'S'"),
    ],
)
def test_names_and_values_that_do_not_fit(args: dict[str, float], arrays: dict[str, list[int]], message: str) -> None:
    with pytest.raises(LaunchProblem, match=message):
        run(kernel(Skip(), "n"), (1, 1, 1), (1, 1, 1), args, arrays)
