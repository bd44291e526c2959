"""Bounds of whole kernels: what is found, that it is tight, and that no run costs more."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from checker import kernel as trusted
from checker.certificates.evidence import proof as arithmetic_proof
from checker.notation import parse_kernel, parse_outline, parse_potential
from checker.oracles import Oracles
from checker.recheck import Report, recheck
from checker.synthesis.bound import Finder, Per, Result, charges, find_bounds
from checker.synthesis.outline import Outline, bare
from checker.synthesis.stated import told_by_contracts, wherever
from checker.synthesis.walk import Point, Proof, Stuck
from checker.synthesis.warps import END
from checker.synthesis.ways import Way
from logic.assertions import AtLeast, Context, Launch, Unknown, conj
from logic.derivation import Derivation
from logic.metrics import HARDWARE, METRICS, Linear, Metric
from logic.potentials import Leaf, Poly, const, evaluate
from logic.syntax import Const, Kernel, Op, Param, Skip
from logic.typing import check_kernel
from semantics.cuda import read_cuda
from semantics.grid import run
from semantics.lockstep import Initial
from tests.checker.synthesis import bounded
from tests.checker.synthesis import test_flags as flags
from tests.checker.synthesis.bounded import bounds, of_body, storing

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
ALL = tuple(METRICS.values())


@cache
def kernel(name: str) -> Kernel:
    return read_cuda(str(PROOFS / name / "kernel.cu")).kernel


@cache
def found(name: str, block: tuple[int, int, int]) -> dict[str, Result]:
    return {r.metric.name: r for r in bounds(kernel(name), block)}


EXPECTED = {
    ("vectorAdd", "sectors"): "12",
    ("vectorAdd", "conflicts"): "0",
    ("vectorAdd", "divwarps"): "1",
    ("vectorAdd", "steps"): "27",
    ("addSub0", "sectors"): "66*max(0, w)",
    ("addSub0", "conflicts"): "0",
    ("addSub0", "divwarps"): "max(0, w)",
    ("addSub1", "sectors"): "130*max(0, w)",
    ("addSub1", "divwarps"): "0",
    ("addSub2", "sectors"): "28*max(0, ceil(h/2))",
    ("addSub2", "divwarps"): "0",
    ("addSub3", "sectors"): "4 + 20*max(0, ceil(h/2))",
    ("addSub3", "conflicts"): "0",
}
BLOCK = {"vectorAdd": (256, 1, 1)}


def block_of(name: str) -> tuple[int, int, int]:
    return BLOCK.get(name, (32, 1, 1))


def test_metrics_that_charge_little_come_first() -> None:
    """The time is for all of them: steps, which charges most, has what is left. Lower bounds are looked for when each
    has one. Results are in the order asked for."""
    k, asked = kernel("vectorAdd"), [METRICS[name] for name in ("steps", "sectors", "divwarps")]
    context = Context(check_kernel(k), METRICS["steps"], HARDWARE["nvidia"], Launch((256, 1, 1)))
    told: list[str] = []
    results = find_bounds(Outline(k, context, bare(k.body)), asked, Oracles(), show=told.append)
    assert told == ["divwarps", "sectors", "steps"] * 2
    assert [r.metric for r in results] == asked


@pytest.mark.parametrize(("name", "metric"), EXPECTED)
def test_the_bound_that_is_found(name: str, metric: str) -> None:
    result = found(name, block_of(name))[metric]
    assert (result.verdict, result.problem) == ("certified", None)
    assert result.claim is not None
    assert str(result.claim.pre.q) == EXPECTED[name, metric]
    assert result.claim.unconditional
    assert result.claim.context.metric is METRICS[metric]
    assert result.seconds > 0


POINTS = {
    "vectorAdd": [{"numElements": n} for n in (0, 1, 31, 250, 256, 1000)],
    **{
        f"addSub{i}": [{"w": w, "h": h} for w, h in ((0, 0), (1, 1), (37, 3), (40, 4), (33, 5), (-2, -3))]
        for i in range(4)
    },
}
TIGHT = {
    ("vectorAdd", "sectors"): {"numElements": 256},
    ("vectorAdd", "steps"): {"numElements": 250},
    ("vectorAdd", "divwarps"): {"numElements": 250},
    ("addSub0", "divwarps"): {"w": 37, "h": 3},
    ("addSub0", "sectors"): {"w": 40, "h": 4},
    ("addSub1", "sectors"): {"w": 40, "h": 4},
    ("addSub2", "sectors"): {"w": 33, "h": 5},
    ("addSub3", "sectors"): {"w": 33, "h": 5},
}
"""Where a warp really costs that much."""


def value(result: Result, at: dict[str, int], block: tuple[int, int, int]) -> Fraction:
    store: dict[Leaf, int] = {Param(n): v for n, v in at.items()}
    store |= {Param(f"blockDim.{axis}"): d for axis, d in zip("xyz", block, strict=True)}
    assert result.claim is not None
    return evaluate(result.claim.pre.q, store)


@pytest.mark.parametrize("name", POINTS)
def test_no_run_costs_more(name: str) -> None:
    block = block_of(name)
    for at in POINTS[name]:
        cost = run(kernel(name), block, (2, 1, 1), at).max_per_warp
        for metric, result in found(name, block).items():
            assert cost[metric] <= value(result, at, block), (at, metric)


@pytest.mark.parametrize(("name", "metric"), TIGHT)
def test_the_bound_is_reached(name: str, metric: str) -> None:
    """The row 0 begins at a multiple of 32 bytes whatever w is, so its read and its write take a sector less."""
    block, at = block_of(name), TIGHT[name, metric]
    cost = run(kernel(name), block, (2, 1, 1), at, metrics=(METRICS[metric],)).max_per_warp[metric]
    row_0 = 2 if name in ("addSub2", "addSub3") else 0
    assert cost == value(found(name, block)[metric], at, block) - row_0


# --- what has no bound ------------------------------------------------------------------------------------------------


def source(body: str, declarations: str = "") -> Kernel:
    return parse_kernel(f"kernel k\nparam int n;\nlocal int x;\n{declarations}\nbegin\n{body}\nend", "k")


@pytest.mark.parametrize(
    "body", ["while (true) { x <- x; }", "while (x < n) { x <- x; }", "while (x != 7) { x <- x + 2; }"]
)
def test_a_loop_that_may_never_end_has_no_bound(body: str) -> None:
    (result,) = bounds(source(body), (32, 1, 1), ["steps"])
    assert (result.verdict, result.claim) == ("not-proved", None)
    assert isinstance(result.problem, Stuck)
    assert result.problem.loc is not None
    assert (result.problem.loc.line, result.problem.loc.column) == (6, 1)


def test_a_free_loop_that_never_ends_has_one() -> None:
    (result,) = bounds(source("while (true) { x <- x; }"), (32, 1, 1), ["sectors"])
    assert (result.verdict, str(result.claim.pre.q)) == ("certified", "0")  # type: ignore[union-attr]


def test_a_bound_over_the_locals_at_the_start_is_none() -> None:
    """What is uniform in x at the start nobody knows: the bound may not mention it."""
    for r in bounds(source("while (x > 0) { x <- x - 1; }"), (32, 1, 1)):
        assert (r.verdict == "certified") == (not r.metric.fixed)


@pytest.mark.parametrize("test", ["x == m", "!(x > m)"])
def test_what_the_first_turn_alone_does_is_paid_once(test: str) -> None:
    """32 sectors in the first turn, 4 in each: the loop's first turn is taken apart (Q:Unroll)."""
    body = f"x <- m; while (x < n) {{ if ({test}) {{ A[8*tid.x] <- 1; }} A[32*x + tid.x] <- 2; x <- x + 1; }}"
    (result,) = bounds(source(body, "param int m; global int A[];"), (32, 1, 1), ["sectors"])
    assert (result.verdict, str(result.claim.pre.q)) == ("certified", "36 + 4*max(0, n - 1 - m)")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("per", "bound"),
    [("block", "24*max(0, ceil((n - blockDim.x*blockIdx.x)/256))"), ("grid", "96*max(0, ceil(n/256))")],
)
def test_where_warps_have_no_sum_the_dearest_counts(per: Per, bound: str, tmp_path: Path) -> None:
    """A grid-stride loop: 12 sectors a turn, 2 warps, 4 blocks."""
    file = tmp_path / "k.cu"
    start, step = "blockIdx.x * blockDim.x + threadIdx.x", "blockDim.x * gridDim.x"
    file.write_text(
        "__global__ void saxpy(const float *x, float *y, float a, int n) {"
        f" for (int i = {start}; i < n; i += {step}) y[i] = a * x[i] + y[i]; }}"
    )
    k = read_cuda(str(file)).kernel
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch((64, 1, 1), (4, 1, 1)))
    (result,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["sectors"]], Oracles(), per=per)
    assert (result.verdict, str(result.claim.bound)) == ("certified", bound)  # type: ignore[union-attr]


def test_warps_that_cost_less_have_a_sum() -> None:
    """More conflicts in the first warp of reduce1 than in the next one: what a run pays."""
    k = kernel("reduce1")
    context = Context(check_kernel(k), METRICS["conflicts"], HARDWARE["nvidia"], Launch((64, 1, 1)))
    (result,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["conflicts"]], Oracles(), per="block")
    paid = run(k, (64, 1, 1), (1, 1, 1), {"n": 64}).totals["conflicts"]
    assert (result.verdict, result.claim.bound) == ("certified", const(paid))  # type: ignore[union-attr]
    assert 0 < paid < 2 * run(k, (64, 1, 1), (1, 1, 1), {"n": 64}).max_per_warp["conflicts"]


STRIDES = {
    "for (int i = threadIdx.x; i < n; i += blockDim.x) A[i] = m;": ("min(1, max(0, n))", 1),
    "for (int i = 2 * threadIdx.x; i <= n; i += 2 * blockDim.x) A[i] = m;": ("min(1, max(0, 1 + n))", 1),
    "for (int i = n - threadIdx.x; i > 0; i -= blockDim.x) A[i] = m;": ("min(1, max(0, n))", 1),
    "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) A[i] = m;": (
        "min(1, max(0, n))",
        1,
    ),
    "for (int j = 0; j < m; j++) for (int i = threadIdx.x; i < n; i += blockDim.x) A[i] = j;": ("max(0, m)", 7),
    # a limit that C divides, and one that it shifts
    "for (int i = threadIdx.x; i < n / 3; i += blockDim.x) A[i] = m;": ("min(1, max(0, floor(n/3)))", 1),
    "for (int i = threadIdx.x; i < n >> 2; i += blockDim.x) A[i] = m;": ("min(1, max(0, floor(n/4)))", 1),
    # half a warp is as far as lanes of one leave together: it is split twice at most
    "for (int i = threadIdx.x; i < n; i += 16) A[i] = m;": ("min(2, max(0, ceil(n/16)))", 2),
    # turns that differ by lanes: each lane leaves in a turn of its own, whatever the turns of all
    "for (int j = 0; j <= n + threadIdx.x; j++) A[j] = m;": ("min(31, max(0, 64 + n))", 31),
    # lanes that leave by themselves, with a counter that goes on
    "for (int i = threadIdx.x; i < n; i += blockDim.x) { if (A[i] > 3) break; A[i] = m; }": (
        "1 + 2*max(0, ceil(n/64))",
        2,
    ),
}


@pytest.mark.parametrize("body", STRIDES)
def test_a_strided_loop_splits_a_warp_where_it_ends(body: str, tmp_path: Path) -> None:
    """Q:WhileCase; what the dearest run at n = 37, m = 7 costs at least."""
    bound, least = STRIDES[body]
    file = tmp_path / "k.cu"
    file.write_text(f"__global__ void k(int *A, int n, int m) {{ {body} }}")
    k = read_cuda(str(file)).kernel
    context = Context(check_kernel(k), METRICS["divwarps"], HARDWARE["nvidia"], Launch((64, 1, 1)))
    (result,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["divwarps"]], Oracles())
    assert result.claim is not None
    assert (result.verdict, str(result.claim.bound)) == ("certified", bound)
    costs = [
        run(k, (64, 1, 1), (2, 1, 1), {"n": 37, "m": 7}, {"A": Initial(fill)}).max_per_warp["divwarps"]
        for fill in (lambda _: 0, lambda i: 9 * (i % 2))
    ]
    here = evaluate(result.claim.bound, {Param("n"): 37, Param("m"): 7})
    assert least <= max(costs) <= here


TURNS = "max(0, trunc((blockDim.x + n - 1)/blockDim.x))"
UNKNOWN = {
    # steps that are no number: 4 sectors for each store, and one more for those that are not aligned
    "for (int i = threadIdx.x; i < n; i += blockDim.x) A[i] = m;": f"5*{TURNS}",
    "for (int i = n - 1 - (int)threadIdx.x; i >= 0; i -= blockDim.x) A[i] = m;": f"5*{TURNS}",
    "for (int i = threadIdx.x; i < n; i += blockDim.x) for (int j = 0; j < m; j++) A[j] = i;": f"max(0, m)*{TURNS}",
    "if (m > 0) for (int i = threadIdx.x; i < n; i += m) A[i] = m;": "5*max(0, trunc((m + n - 1)/m))",
    "int s = blockDim.x * gridDim.x; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += s) A[i] = m;": (
        "5*max(0, trunc((n + blockDim.x*gridDim.x - 1)/(blockDim.x*gridDim.x)))"
    ),
}


@pytest.mark.parametrize("body", UNKNOWN)
def test_steps_that_are_no_number(body: str, tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(f"__global__ void k(int *A, int n, int m) {{ {body} }}")
    k = read_cuda(str(file)).kernel
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch((None, 1, 1)))
    (result,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["sectors"]], Oracles())
    assert result.claim is not None
    assert (result.verdict, str(result.claim.bound)) == ("certified", UNKNOWN[body])
    slack = []
    for block, n, m in product((32, 40, 64), (0, 1, 100, 130), (1, 3)):
        at: dict[Leaf, int] = {Param("n"): n, Param("m"): m, Param("blockDim.x"): block, Param("gridDim.x"): 2}
        cost = run(k, (block, 1, 1), (2, 1, 1), {"n": n, "m": m}).max_per_warp["sectors"]
        slack.append(evaluate(result.claim.bound, at) - cost)
    assert 0 in slack[6:]
    assert min(slack) >= 0


KNOWN_AT_FIRST = (
    "for (int i = t; i < n; i += 64) { if (x > 9) break; x += A[i]; }",
    "for (int i = t; i < n; i += 64) { if (x > 9) continue; x += A[i]; }",
    "for (int i = 64 * blockIdx.x + t; i < n; i += 64 * gridDim.x) if (x < 9) x += A[i];",
)


@pytest.mark.parametrize("body", KNOWN_AT_FIRST)
def test_a_first_turn_apart_leaves_a_strided_loop_its_measure(body: str, tmp_path: Path) -> None:
    """The test's outcome is known in the first turn alone, which is taken apart; the ghost of i is a number there."""
    k = storing(tmp_path, body)
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch((64, 1, 1)))
    (result,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["sectors"]], Oracles())
    assert result.verdict == "certified"
    assert result.claim is not None
    slack = []
    for n, grid, fill in product((0, 1, 64, 300), (1, 3), (lambda _: 0, lambda i: i)):
        at: dict[Leaf, int] = {Param("n"): n, Param("gridDim.x"): grid, Param("blockIdx.x"): 0}
        ran = run(k, (64, 1, 1), (grid, 1, 1), {"n": n, "m": 9}, {"A": Initial(fill)})
        slack.append(evaluate(result.claim.bound, at) - ran.max_per_warp["sectors"])
    assert min(slack) == 0


LOOPS = {
    # the rows of a triangle: 4 sectors for each of n(n-1)/2 or n(n+1)/2 turns
    "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) A[threadIdx.x] = j;": ("2*max(0, n - 1)*max(0, n)", 40),
    "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) A[threadIdx.x] = j;": (
        "2*max(0, n) + 2*max(0, n)*max(0, n)",
        60,
    ),
    # a row that pays for a loop at each of its elements: 4 sectors for each of m n(n+1)/2 turns; and n(n+1)(n+2)/6
    "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < m; k++) A[threadIdx.x] = j;": (
        "2*max(0, m)*max(0, n) + 2*max(0, m)*max(0, n)*max(0, n)",
        420,
    ),
    "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k <= j; k++) A[threadIdx.x] = j;": (
        "4/3*max(0, n) + 2*max(0, n)*max(0, n) + 2/3*max(0, n)*max(0, n)*max(0, n)",
        140,
    ),
    # an inner loop that goes on where it stopped, and one whose turns are paid for when k grows
    "int k = 0; for (int i = 0; i < n; i++) while (k < m && A[k] > 0) k++;": ("max(0, m) + max(0, n)", 12),
    "int k = 0; for (int i = 0; i < n; i++) { if (A[i] > 0) while (k > 0) { A[threadIdx.x] = k; k--; } k++; }": (
        "5*max(0, n)",
        25,
    ),
    # lanes that leave a loop one by one, and a test that reads
    "for (int i = 0; i < n; i++) if (A[32 * i + threadIdx.x] == m) { A[i] = 0; break; }": ("5*max(0, n)", 25),
    "for (int i = 0; i < n && A[i] != m; i++) A[threadIdx.x] = i;": (None, 26),
}


LIMITS = {
    # limits that differ between lanes: turns 0 .. the most, each a read of one sector, and 4 sectors for the store
    "for (int i = 0; i < t % 5; i++) x += A[0];": ("8", 8),
    "for (int i = 0; i < (t & 3); i++) x += A[0];": ("7", 7),
    "for (int i = 0; i < (n >> (t & 1)); i++) x += A[0];": ("4 + max(0, n)", 9),
    "for (int i = 0; i <= t % m; i++) x += A[0];": ("4 + max(0, m)", 11),
    "for (int i = 0; i < t % 7 + n; i++) x += A[0];": ("4 + max(0, 6 + n)", 15),
    "int h = t % m; for (int i = h; i > 0; i--) x += A[0];": ("4 + max(0, m - 1)", 10),
    "for (int i = t % 3; i < n; i++) x += A[0];": ("4 + max(0, n)", 9),
    # quotients of two parameters
    "for (int i = 0; i < n / m; i++) x += A[0];": ("4 + max(0, trunc(n/m))", 4),
    "int h = (n + m - 1) / m; for (int i = 0; i < h; i++) x += A[0];": ("4 + max(0, trunc((m + n - 1)/m))", 5),
    "for (int j = 0; j < n / m; j++) for (int i = 0; i < m; i++) x += A[0];": (None, 4),
    # a loop that ends in its body
    "int i = n; while (true) { i -= 2; if (i <= 0) break; x += A[0]; }": (None, 6),
}


@pytest.mark.parametrize("body", LIMITS)
def test_limits_that_differ_between_lanes_and_quotients(body: str, tmp_path: Path) -> None:
    """The bound at n = 5, m = 7, given m > 0, is what the run there costs, or that with 1 more turn."""
    k = storing(tmp_path, body)
    positive = Op(">", (Param("m"), Const(0)))
    (result,) = bounds(k, (32, 1, 1), ["sectors"], Launch((32, 1, 1), assumptions=(positive,)))
    text, least = LIMITS[body]
    assert (result.verdict, result.problem) == ("certified", None)
    assert result.claim is not None
    if text:
        assert str(result.claim.pre.q) == text
    at = {"n": 5, "m": 7}
    cost = run(k, (32, 1, 1), (1, 1, 1), at, {}).max_per_warp["sectors"]
    assert cost == least
    assert cost <= evaluate(result.claim.pre.q, {Param(name): v for name, v in at.items()}) <= cost + 1


@pytest.mark.parametrize("body", LOOPS)
def test_loops_as_people_write_them(body: str, tmp_path: Path) -> None:
    """The bound at n = 5, m = 7 is compared with the dearest of some runs, too."""
    file = tmp_path / "k.cu"
    file.write_text(f"__global__ void k(int *A, int n, int m) {{ {body} }}")
    k = read_cuda(str(file)).kernel
    (result,) = bounds(k, (32, 1, 1), ["sectors"])
    text, value = LOOPS[body]
    assert result.verdict == "certified"
    assert result.claim is not None
    if text:
        assert str(result.claim.pre.q) == text
    at = {"n": 5, "m": 7}
    bound = evaluate(result.claim.pre.q, {Param(name): v for name, v in at.items()})
    assert bound == value
    for fill in (lambda _: 1, lambda i: i % 3, lambda i: 7 * (i % 2)):
        cost = run(k, (32, 1, 1), (1, 1, 1), at, {"A": Initial(fill)}).max_per_warp["sectors"]
        assert cost <= bound


def test_a_solid_bound_that_is_not_followed_is_left(tmp_path: Path) -> None:
    """Of three loops, each to the counter of the one around it, where the second checker does not follow the first
    proof, n^3/6 for large n: n^3/2 stays, from the innermost triangle alone. Of four it is so by itself."""
    rest = "for (int j = 0; j <= i; j++) for (int k = 0; k <= j; k++) A[0] = k;"
    file = tmp_path / "k.cu"
    file.write_text(f"__global__ void k(int *A, int n) {{ for (int i = 0; i < n; i++) {rest} }}")
    k, judged = read_cuda(str(file)).kernel, list[str]()
    context = Context(check_kernel(k), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1)))

    def check(document: dict[str, object]) -> Report:
        report = recheck(document)
        judged.append(report.claim)
        return replace(report, verdict="invalid") if len(judged) == 1 else report

    (result,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["sectors"]], Oracles(), check=check)
    assert "1/6*max(0, n)*max(0, n)*max(0, n)" in judged[0]
    assert (result.verdict, len(judged)) == ("certified", 2)
    assert result.claim is not None
    assert [evaluate(result.claim.pre.q, {Param("n"): n}) for n in (0, 1, 10)] == [0, 1, 505]


def test_assumptions_sharpen_a_bound() -> None:
    k = kernel("addSub2")
    w = Op("==", (Op("%", (Param("w"), Const(8))), Const(0)))
    launch = Launch((32, 1, 1), assumptions=conj((w,), check_kernel(k)))
    (result,) = bounds(k, (32, 1, 1), ["sectors"], launch)
    assert str(result.claim.pre.q) == "24*max(0, ceil(h/2))"  # type: ignore[union-attr]
    assert result.claim.context.launch.assumptions == launch.assumptions  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("body", "block", "verdict"),
    [
        ("sync;", (64, 1, 1), "certified"),
        ("if (n > 0) { sync; }", (64, 1, 1), "certified"),
        ("if (tid.x < 16) { sync; }", (64, 1, 1), "holey"),
        ("if (tid.x < 32) { sync; }", (64, 1, 1), "holey"),
        ("x <- 0; while (x < tid.x) { sync; x <- x + 1; }", (32, 1, 1), "holey"),
    ],
)
def test_a_barrier_that_a_part_of_a_block_may_reach_is_a_hole(
    body: str, block: tuple[int, int, int], verdict: str
) -> None:
    """Though each warp of a block of 64 agrees on `tid.x < 32`, the block does not."""
    (result,) = bounds(source(body), block, ["divwarps" if "while" in body else "steps"])
    if verdict == "certified":
        assert (result.verdict, result.ledger.barriers) == ("certified", [])
    else:
        assert result.verdict in ("holey", "not-proved")
        assert result.verdict == "not-proved" or len(result.ledger.barriers) == 1


def test_an_oracle_that_knows_nothing_certifies_nothing_but_the_obvious() -> None:
    class Silent(Oracles):
        def __call__(self, obligation: object, context: Context) -> Unknown:
            return Unknown("silent", f"{obligation} {context.scope}")

    k = kernel("addSub3")
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    for result in find_bounds(Outline(k, context, bare(k.body)), ALL, Silent()):
        assert (result.verdict, result.claim) == ("not-proved", None)
        assert result.problem is not None


def test_each_metric_has_its_own_ledger_and_context() -> None:
    results = list(found("addSub3", (32, 1, 1)).values())
    assert [r.metric for r in results] == list(ALL)
    assert len({id(r.ledger) for r in results}) == len(results)
    for r in results:
        assert r.claim is not None
        assert r.claim.context == replace(r.claim.context, metric=r.metric)
        assert all(line.verdict.engine for line in r.ledger.discharged)


@pytest.mark.parametrize(
    ("kind", "at", "conflicts"),
    [
        ("int", "v * 64 + t", 0),  # a column of bins a lane
        ("unsigned char", "v * 64 + t", 3),  # four lanes side by side in a word
        ("unsigned char", "v * 64 + ((t & 15) << 2 | t >> 4)", 1),  # two lanes a bank: a usual layout of 64 bins
        ("int", "t * 64 + v", 31),  # a row of bins a lane
    ],
)
def test_histograms_of_a_lane(tmp_path: Path, kind: str, at: str, conflicts: int) -> None:
    """What is read picks the bin: the worst that it can pick, for the read and the write of each turn, is exact."""
    body = f"__shared__ {kind} c[64 * 64]; for (int i = t; i < n; i += 32) {{ int v = A[i] & 63; c[{at}]++; }}"
    found = flags.bounded(tmp_path, body, "conflicts")
    assert [flags.valid(found, n, 0) for n in (0, 32, 640)] == [2 * conflicts * turns for turns in (0, 1, 20)]


@pytest.mark.parametrize(
    ("facts", "index", "found"),
    [
        ("row[0] == 0", "0", "0"),
        ("row[0] == 0 && row[n] == m", "min(4*gridDim.x, n)", "m"),
        ("row[n] == m", "n", "m"),
        ("row[n] == m", "min(4*gridDim.x, max(0, n))", "m"),
        ("row[n] == m", "min(4*blockIdx.x, n)", "row[min(4*blockIdx.x, n)]"),  # telescopes as it is
        ("row[n] == m", "max(0, n)", "m"),
        ("row[n - 1] == m", "min(4*gridDim.x, n)", "row[min(4*gridDim.x, n)]"),
    ],
)
def test_elements_that_contracts_tell(facts: str, index: str, found: str) -> None:
    """With row rising on [0, n), n >= 0."""
    outline = parse_outline(
        f"""kernel k
metric steps
requires n >= 0;
requires forall i in [0, n): row[i] <= row[i + 1];
requires {facts};
param int n, m;
global int row[];
begin
skip;
end""",
        "k",
    )
    q = parse_potential(f"row[{index}]", outline.context.sigma, "q")
    assert str(told_by_contracts(q, outline.context, Oracles())) == found


def test_what_charges_nothing_is_bounded_without_facts() -> None:
    """A matrix with a thread for each row, in blocks of any size: without shared memory there are no conflicts,
    whatever else is known, and no solver is asked."""
    k = read_cuda(str(PROOFS / "data" / "spmv_scalar.cu")).kernel
    pers: tuple[Per, ...] = ("warp", "grid")
    for per in pers:
        outline = Outline(k, Context(check_kernel(k), METRICS["steps"], HARDWARE["nvidia"], Launch()), bare(k.body))
        (found,) = find_bounds(outline, [METRICS["conflicts"]], Oracles(), per=per)
        assert found.claim is not None
        assert (found.verdict, str(found.claim.bound)) == ("certified", "0")
        assert {d.verdict.engine for d in found.ledger.discharged} <= {"closed-form", "syntactic"}


@pytest.mark.parametrize(
    ("name", "metric", "charged"),
    [
        ("vectorAdd", METRICS["conflicts"], False),
        ("vectorAdd", METRICS["sectors"], True),
        ("vectorAdd", METRICS["divwarps"], True),
        ("vectorAdd", Metric("writes", counted={"swrite": Linear(Fraction(0), Fraction(1))}), False),
        ("reduce0", Metric("writes", counted={"swrite": Linear(Fraction(0), Fraction(1))}), True),
        ("reduce0", METRICS["conflicts"], True),
        ("reduce0", Metric("none", {"op": Fraction(0)}), False),
    ],
)
def test_what_a_metric_may_charge(name: str, metric: Metric, charged: bool) -> None:
    assert charges(metric, kernel(name)) == charged


@pytest.mark.parametrize("index", ["min(i, n - 1)", "max(min(i, n - 1), 0)", "max(i, n)"])
def test_a_clamped_row_takes_no_more_than_a_row(index: str) -> None:
    """In both checkers."""
    found = bounded.result(f"x <- A[{index.replace('i,', '32 * blockIdx.x + tid.x,')}];")
    assert str(bounded.valid(found)) == "4"


@pytest.mark.parametrize(
    ("metric", "start", "bound", "tried"), [("divwarps", "0", "0", 1), ("sectors", "tid.x", "4*max(0, ceil(n/32))", 2)]
)
def test_no_way_is_followed_below_0_and_nothing_is_checked_that_is_no_lower(
    metric: str, start: str, bound: str, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways, checks, bounded_, check = list[Way](), list[Derivation](), Finder._bounded, trusted.check

    def counted(self: Finder, metric: Metric, way: Way, *more: Any) -> Result:
        ways.append(way)
        return bounded_(self, metric, way, *more)

    def checked(derivation: Derivation, *rest: Any) -> trusted.Theorem:
        checks.append(derivation)
        return check(derivation, *rest)

    monkeypatch.setattr(Finder, "_bounded", counted)
    monkeypatch.setattr(trusted, "check", checked)
    turn = f"x <- x + {'1' if start == '0' else '32'};"
    body = f"x <- {start}; while (x < n) {{ if (x < m) {{ y <- A[x]; }} else {{ y <- 3; }} {turn} }}"
    found = bounded.result(body, metric=metric)
    assert found.claim
    assert (str(found.claim.pre.q), len(ways), len(checks)) == (bound, tried, 1)


def test_what_an_unrolled_loop_leaves_is_as_much_as_it_may_leave(tmp_path: Path) -> None:
    """Less than two turns: not as many as there are elements."""
    k = of_body(tmp_path, "int i = t; for (; i + 32 < n; i += 64) B[i] = A[i + 32]; for (; i < n; i += 32) B[i] = 1;")
    (found,) = bounds(k, (32, 1, 1), ["divwarps"])
    assert found.verdict == "certified"
    assert found.q is not None
    for n in (0, 1, 31, 32, 33, 64, 65, 100, 128, 1000):
        cost = run(k, (32, 1, 1), (1, 1, 1), {"n": n, "m": 0}).max_per_warp["divwarps"]
        assert cost <= evaluate(found.q, {Param("n"): n}) <= 4


@pytest.mark.parametrize(("metric", "most"), [("divwarps", 4), ("steps", 263 + 81 * 8)])
def test_what_an_unrolled_loop_leaves_of_a_grid(tmp_path: Path, metric: str, most: int) -> None:
    """Less than four turns of the same step, whatever that is; and the loop before it ends once."""
    step = "int s = blockDim.x * gridDim.x, i = blockIdx.x * blockDim.x + t;"
    body = "{ B[i] = A[i]; B[i + s] = A[i + s]; B[i + 2 * s] = A[i + 2 * s]; B[i + 3 * s] = A[i + 3 * s]; }"
    loops = f"for (; i + 3 * s < n; i += 4 * s) {body} for (; i < n; i += s) B[i] = A[i];"
    (found,) = bounds(of_body(tmp_path, f"{step} {loops}"), (32, 1, 1), [metric])
    assert found.verdict == "certified"
    assert found.q is not None
    k = of_body(tmp_path, f"{step} {loops}")
    for n, grid in product((0, 1, 31, 33, 64, 97, 127, 128, 129, 257, 1000), (1, 2, 3)):
        cost = run(k, (32, 1, 1), (grid, 1, 1), {"n": n, "m": 0}).max_per_warp[metric]
        at: dict[Leaf, int] = {Param("n"): n, Param("gridDim.x"): grid, Param("blockDim.x"): 32}
        assert cost <= evaluate(found.q, at) <= most


def test_rows_of_a_triangle_that_a_grid_strides_over(tmp_path: Path) -> None:
    """How many blocks there are is not known: each turn has at most n more."""
    stride = "for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)"
    k = of_body(tmp_path, f"{stride} for (int j = 0; j <= i; j++) B[t] = 1;")
    (found,) = bounds(k, (32, 1, 1), ["sectors"])
    assert found.verdict == "certified"
    assert found.q is not None
    assert str(found.q) == "4*max(0, trunc((32*gridDim.x + n - 1)/(32*gridDim.x)))*max(0, 31 + n)"
    for n, grid in product((0, 1, 31, 32, 33, 64, 65, 100), (1, 2, 3)):
        cost = run(k, (32, 1, 1), (grid, 1, 1), {"n": n, "m": 0}).max_per_warp["sectors"]
        assert cost <= evaluate(found.q, {Param("n"): n, Param("gridDim.x"): grid})


def test_tiles_of_a_grid_are_summed_up_to_the_last_one(tmp_path: Path) -> None:
    """Of 8 blocks, not each with a whole tile."""
    k = storing(tmp_path, "int b = blockIdx.x, e = min(32, n - b * 32); for (int j = 0; j < e; j++) x += A[j];")
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1), (8, 1, 1)))
    (found,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["sectors"]], Oracles(), per="grid")
    assert found.verdict == "certified"
    assert found.claim is not None
    assert str(found.claim.bound) == "32 - max(0, n - 256) + max(0, n)"


def test_a_bound_for_every_block_is_shown_an_axis_at_a_time() -> None:
    """Each axis has a proof that the second checker can read; of all at once it may have none."""
    outline = parse_outline(f"{bounded.HEADER.replace('block 32', 'block 16, 8')}skip; end", "k")
    rows = "max(0, ceil((n - blockDim.y*blockIdx.y)/8))"
    text = f"31*{rows} + 40*max(0, ceil(m/16) - blockIdx.x)*{rows} + min(1, max(0, n - blockDim.y*blockIdx.y))"
    q = parse_potential(text, outline.context.sigma, "q")
    proof = Proof(Point((), q, frozenset()), Skip(), END, Derivation("Q:Skip", {}, ()))
    found = wherever(proof, outline.context, Oracles())
    assert str(found.pre.q) == "31*max(0, ceil(n/8)) + 40*max(0, ceil(m/16))*max(0, ceil(n/8)) + min(1, max(0, n))"
    step, steps = found.derivation, 0
    while step.premises:
        more, less = (step.substitution[name] for name in ("Q1", "Q2"))
        assert isinstance(more, Poly)
        assert isinstance(less, Poly)
        assert arithmetic_proof(AtLeast((), frozenset(), more, less), outline.context) is not None
        (step,), steps = step.premises, steps + 1
    assert steps == 2


def test_a_counter_may_be_a_field(tmp_path: Path) -> None:
    """Its ghost has a name that certificates take."""
    struct = "struct S { int at, by; } b__at = {n, 0}, b = {t, 32}; for (; b.at < n; b.at += b.by) B[b.at] = b__at.by;"
    (found,) = bounds(of_body(tmp_path, struct), (32, 1, 1), ["sectors"])
    assert found.verdict == "certified"
    assert found.q is not None
    assert str(found.q) == "4*max(0, ceil(n/32))"


ROW = "int w = blockIdx.x * 2 + t / 32, p = w % n; for (int i = t % 32; i <= p; i += 32) B[i] = 1;"


@pytest.mark.parametrize(
    ("given", "metric", "expected"),
    [
        (Op(">", (Param("n"), Const(0))), "sectors", "4*max(0, ceil(n/32))"),
        (Op(">", (Param("n"), Const(0))), "divwarps", "min(1, n)"),
        (Op(">", (Param("n"), Const(-4))), "sectors", ""),  # then it may be less than n - 1
    ],
)
def test_rests_that_tell_warps_apart_are_what_they_are_at_most(
    given: Op, metric: str, expected: str, tmp_path: Path
) -> None:
    k = of_body(tmp_path, ROW)
    (result,) = bounds(k, (64, 1, 1), [metric], Launch((64, 1, 1), assumptions=(given,)))
    assert result.verdict == "certified"
    assert (str(result.q) == expected) == bool(expected), str(result.q)
    assert bool(expected) or "blockIdx.x" in str(result.q)


ROWS = "for (int y = 0; y < m; y++) {{ B[x] = 1; x += n; }} "


@pytest.mark.parametrize(
    ("body", "expected", "apart"),
    [
        (ROWS + "{then} B[x] = 1;", "5 + 5*max(0, m)", "32 + 5*max(0, m)"),
        ("for (int y = 0; y < 4; y++) {{ if (t < n) B[x] = 1; x += n; }} {then} if (t < n) B[x] = 1;", "25", "52"),
        (
            ROWS + "x -= n; {then} for (int y = m - 1; y >= 0; y--) {{ B[x] = 1; x -= n; }}",
            "10*max(0, m)",
            "37*max(0, m)",
        ),
        (
            ROWS + "{then} int o = x; x += n; for (int y = 0; y < 4; y++) {{ B[x] = 1; x += n; }} B[o] = 1;",
            "25 + 5*max(0, m)",
            "160 + 5*max(0, m)",
        ),
    ],
)
def test_indices_that_march_on_after_their_loop(body: str, expected: str, apart: str, tmp_path: Path) -> None:
    """What an index is by the turns of a loop is known behind it, and by other names; a sector a lane where lanes then
    go apart."""
    found = [
        str(bounds(of_body(tmp_path, "x = t; " + body.format(then=then)), (32, 1, 1), ["sectors"])[0].q)
        for then in ("", "x += n * t;")
    ]
    assert found == [expected, apart]
