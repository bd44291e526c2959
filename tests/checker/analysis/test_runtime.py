"""The run-time model: priced programs cost what the device says, terms are bounds, estimates are what they claim."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from checker.analysis.device_files import device_names, find_device
from checker.analysis.runtime import (
    OPERATORS,
    Device,
    Terms,
    Uncertified,
    below,
    common_unit,
    computation,
    expected_contention,
    figures,
    find_terms,
    hardware,
    memory,
    operator_class,
    priced,
    seconds,
)
from checker.certificates.claims import known_sizes
from checker.notation import read_annotations
from checker.notation.annotations import Limit
from checker.oracles import Oracles
from checker.report.prediction import reason
from checker.synthesis.outline import Outline, bare
from checker.testbed.programs import Programs
from checker.testbed.programs import kernel as over
from logic.assertions import Context, Dim, Launch
from logic.metrics import METRICS
from logic.potentials import Leaf, const, evaluate, log2, max0, sym
from logic.syntax import Kernel, Op, Param, Skip
from logic.typing import check_kernel
from semantics.cuda import read_cuda
from semantics.events import Event
from semantics.grid import BarrierDivergence, Contents, run
from semantics.lockstep import StepLimit
from semantics.values import Value
from semantics.vectorised import run as fast
from tests.examples import LONG

ROOT = Path(__file__).parents[3] / "proofs"
GTX280 = find_device("gtx280")
PRIMES = replace(
    GTX280,
    cycles={
        **dict(zip(OPERATORS, map(Fraction, (2, 3, 5, 7, 11, 13, 17, 19)), strict=True)),
        "global": Fraction(500),
        "shared": Fraction(4),
        "barrier": Fraction(23),
        "branch": Fraction(29),
    },
)


def outline_of(kernel: Kernel, block: Dim, grid: Dim = (None, None, None), device: Device = GTX280) -> Outline:
    context = Context(check_kernel(kernel), METRICS["sectors"], hardware(device), Launch(block, grid))
    return Outline(kernel, context, bare(kernel.body))


def terms_of(source: str, tmp_path: Path, block: Dim = (64, 1, 1), device: Device = GTX280) -> Terms | Uncertified:
    path = tmp_path / "k.cu"
    path.write_text(source)
    return find_terms(outline_of(read_cuda(str(path)).kernel, block, device=device), device, Oracles())


# --- priced programs -------------------------------------------------------------------------------------------------

Sizes = tuple[int, int, int]

RUNS: dict[str, tuple[Sizes, dict[str, Value], dict[str, Contents]]] = {
    "matMul16": ((8, 4, 1), {"N": 16}, {}),
    "reduce1": ((64, 1, 1), {"n": 100}, {}),
    "reduce3": ((64, 1, 1), {"n": 100}, {}),
    "histogramShared": ((64, 1, 1), {"N": 150}, {"data": list(range(150))}),
    "listRanking": ((64, 1, 1), {"N": 60, "len": 7}, {"next": [(7 * i + 3) % 60 for i in range(60)]}),
}


Launched = tuple[Sizes, Sizes, Mapping[str, Value], Mapping[str, Contents]]


def paid(kernel: Kernel, device: Device, launch: Launched) -> Fraction:
    """What all operators, branches and barriers of a run cost by the prices of the device, one by one."""
    sigma = check_kernel(kernel)
    total = Fraction(0)

    def observe(event: Event) -> None:
        nonlocal total
        if event.constant == "op":
            assert isinstance(event.term, Op)
            total += device.cycles[operator_class(event.term, sigma)]
        total += {"if": device.cycles["branch"], "sync": device.cycles["barrier"]}.get(event.constant, Fraction(0))

    run(kernel, *launch, metrics=(METRICS["steps"],), step_limit=2000, observer=observe)
    return total


def cost_when_priced(kernel: Kernel, device: Device, launch: Launched) -> Fraction:
    program, unit = priced(outline_of(kernel, launch[0], device=device), device)
    metric = computation(device, unit)
    return run(program.kernel, *launch, metrics=(metric,)).totals[metric.name]


@pytest.mark.parametrize("name", ["matMul16", "reduce1", "reduce3", "histogramShared", "listRanking"])
def test_a_priced_kernel_costs_what_its_operators_cost(name: str) -> None:
    block, args, arrays = RUNS[name]
    kernel = read_cuda(str(ROOT / name / "kernel.cu")).kernel
    launch = (block, (1, 1, 1) if name == "matMul16" else (2, 1, 1), args, arrays)
    due = paid(kernel, PRIMES, launch)
    assert due == cost_when_priced(kernel, PRIMES, launch) > 0
    one = paid(kernel, replace(PRIMES, cycles={**PRIMES.cycles, "add": Fraction(4)}), launch)
    assert one != due, "the price of an operator counts"


def test_so_does_any_program() -> None:
    """Loops, nested branches, divergence and barriers at random, under prices without a common factor."""
    distinct = Counter[bool]()
    for seed in range(1500 if LONG else 60):
        rng = random.Random(seed)
        kernel = over(Programs(rng).program())
        launch: Launched = ((4, 1, 1), (2, 1, 1), {"n": rng.randrange(5)}, {})
        try:
            due = paid(kernel, PRIMES, launch)
        except (StepLimit, BarrierDivergence):
            continue
        assert cost_when_priced(kernel, PRIMES, launch) == due, seed
        distinct[due > 0] += 1
    assert distinct[True] > 20


def test_classes_of_operators(tmp_path: Path) -> None:
    source = """__global__ void k(int *A, float *F, double *D, int n) {
        A[0] = n + 1; A[1] = n * n; A[2] = n / 3; A[3] = n % 3; F[0] = F[1] * F[2]; F[0] = F[1] / F[2];
        D[0] = D[1] * D[2]; F[3] = sqrtf(F[4]); F[5] = n; A[4] = (int) F[6]; A[5] = n < 3 ? n : 3; }"""
    path = tmp_path / "k.cu"
    path.write_text(source)
    kernel = read_cuda(str(path)).kernel
    seen = Counter[str]()
    run(
        kernel,
        (1, 1, 1),
        (1, 1, 1),
        {"n": 5},
        observer=lambda e: seen.update(
            [operator_class(e.term, check_kernel(kernel))] if isinstance(e.term, Op) else []
        ),
    )
    assert seen == {
        "add": 3,
        "multiply": 1,
        "divide": 2,
        "float": 1,
        "float_divide": 1,
        "double": 1,
        "function": 1,
        "convert": 2,
    }


# --- prices ----------------------------------------------------------------------------------------------------------


def test_both_prices_of_an_access_are_at_least_the_model_s() -> None:
    """(500 + k)/k for k threads a transaction, 500 for one (HiPC 2009, section 3.2.2)."""
    by_transactions, alone = memory(GTX280)
    for n in range(1, 17):
        k = Fraction(16, n)
        due = (500 + k) / k if k > 1 else Fraction(500)
        assert min(by_transactions.count("gread", n), alone.count("gwrite", n)) == due
    assert [by_transactions.count("sread", k) for k in (1, 2, 16)] == [4, 8, 64]


def test_common_units() -> None:
    assert common_unit(map(Fraction, (4, 16, 48))) == 4
    assert common_unit([Fraction(1, 2), Fraction(4, 3)]) == Fraction(1, 6)
    assert common_unit([]) == 1


@pytest.mark.parametrize(("lanes", "banks", "bins"), [(1, 4, 4), (3, 2, 3), (4, 3, 7), (3, 4, 2), (5, 2, 4)])
def test_the_expected_contention_is_that_of_all_cases(lanes: int, banks: int, bins: int) -> None:
    cases = [max(Counter(b % banks for b in case).values()) for case in product(range(bins), repeat=lanes)]
    assert expected_contention(lanes, banks, bins) == Fraction(sum(cases), len(cases))


def test_the_expected_contention_of_a_half_warp() -> None:
    assert float(expected_contention(16, 16, 256)) == pytest.approx(3.078, abs=1e-3)
    assert expected_contention(16, 16, 1) == 16


# --- terms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["matMul16", "histogramShared", "listRanking", "strideSweep", "bankSweep"])
def test_terms_are_bounds_on_what_runs_pay(name: str) -> None:
    path = ROOT / name / "kernel.cu"
    kernel = read_cuda(str(path)).kernel
    hints = read_annotations(kernel, path.read_text(), check_kernel(kernel))
    x, y, z = (n or 1 for n in hints.block or (1, 1, 1))
    block = x, y, z
    outline = outline_of(kernel, block)
    outline = replace(outline, context=replace(outline.context, launch=Launch(block, (2, 2, 1), hints.assumptions)))
    args: dict[str, Value] = {
        p.name: v for p in kernel.params for v in [{"N": 32, "len": 3, "count": 32, "repeats": 5}[p.name]]
    }
    found = find_terms(outline, GTX280, Oracles())
    assert isinstance(found, Terms)
    store: dict[Leaf, int] = {**known_sizes(outline.context), **{Param(n): int(v) for n, v in args.items()}}
    result = fast(kernel, block, (2, 2, 1), args, metrics=memory(GTX280), hardware=hardware(GTX280))
    assert min(evaluate(q, store) for q in found.memory) >= min(result.max_per_warp.values()) > 0
    program, unit = priced(outline, GTX280)
    metric = computation(GTX280, unit)
    cost = fast(program.kernel, block, (2, 2, 1), args, metrics=(metric,), hardware=hardware(GTX280))
    assert evaluate(found.computation, store) >= cost.max_per_warp["N_comp"] > 0


def test_terms_of_any_program_are_bounds() -> None:
    """Groups of two in warps of four: no group of a random program pays more than its terms."""
    small = replace(PRIMES, warp=4, group=2, segment=8, banks=2)
    bounded = 0
    for seed in range(600 if LONG else 20):
        rng = random.Random(seed)
        kernel = over(Programs(rng).program())
        outline = outline_of(kernel, (4, 1, 1), (2, 1, 1), small)
        found = find_terms(outline, small, Oracles())
        if isinstance(found, Uncertified):
            continue
        n = rng.randrange(6)
        store: dict[Leaf, int] = {**known_sizes(outline.context), Param("n"): n}
        program, unit = priced(outline, small)
        metrics = (computation(small, unit), *memory(small))
        arrays: dict[str, Contents] = {"G": [rng.randrange(-2, 5) for _ in range(8)]}
        try:
            cost = run(program.kernel, (4, 1, 1), (2, 1, 1), {"n": n}, arrays, metrics, hardware(small), 2000)
        except (StepLimit, BarrierDivergence):
            continue
        paid_for = cost.max_per_warp
        assert evaluate(found.computation, store) >= paid_for["N_comp"], seed
        by_transactions, alone = paid_for["N_memory"], paid_for["N_memory-uncoalesced"]
        assert min(evaluate(q, store) for q in found.memory) >= min(by_transactions, alone), seed
        bounded += 1
    assert bounded > 5


def test_what_has_no_bound_has_no_terms(tmp_path: Path) -> None:
    found = terms_of("__global__ void k(int *A) { while (A[0] > 0) { A[1] = 0; } }", tmp_path)
    assert isinstance(found, Uncertified)
    assert found.result is not None
    assert found.result.problem is not None


def test_what_takes_a_barrier_for_granted_has_no_terms(tmp_path: Path) -> None:
    found = terms_of("__global__ void k(int *A) { if (A[0] > 0) { __syncthreads(); } A[1] = 0; }", tmp_path)
    assert isinstance(found, Uncertified)
    assert found.result is not None
    assert found.result.verdict == "holey"
    assert "a barrier is not known to be reached by all threads" in reason(found)


def test_half_warps_and_the_size_of_a_warp(tmp_path: Path) -> None:
    source = "__global__ void k(int *A) { A[threadIdx.x / warpSize] = 0; }"
    found = terms_of(source, tmp_path)
    assert isinstance(found, Uncertified)
    assert "warpSize" in found.reason
    assert isinstance(terms_of(source, tmp_path, device=find_device("h100")), Terms)


def test_blocks_that_differ(tmp_path: Path) -> None:
    last = "__global__ void k(int *A) { for (int i = 0; i < blockIdx.x; i++) A[i] = 0; }"
    found = terms_of(last, tmp_path)
    assert isinstance(found, Terms)
    assert str(found.computation) == "4 + 8*max(0, gridDim.x - 1)"
    found = terms_of(last.replace("blockIdx.x", "blockIdx.x % 7"), tmp_path)
    assert isinstance(found, Uncertified)
    assert "depends on blockIdx.x" in found.reason


def test_a_limit_needs_a_bound_that_grows() -> None:
    sigma = check_kernel(over(Skip()))
    context = Context(sigma, METRICS["sectors"], hardware(GTX280), Launch())
    n = Param("n")
    limit = Limit("n", log2(sym(Param("gridDim.x"))) * 4, "n <= 4*log2(gridDim.x)")
    growing = max0(sym(n) - 2) * 3 + const(1)
    found = below(growing, limit, context, Oracles())
    assert str(found) == "1 + 6*max(0, 2*log2(gridDim.x) - 1)"
    assert below(max0(const(7) - sym(n)), limit, context, Oracles()) is None


# --- equations -------------------------------------------------------------------------------------------------------


def test_equation_four() -> None:
    found = figures(GTX280, "max", 31, 100, const(7), (const(9), const(8)), {})
    assert (found.n_b, found.n_w, int(found.n_memory), int(found.c_t)) == (2, 4, 8, 8)
    assert found.seconds == Fraction(2 * 4 * 32 * 8, 8 * 4 * 1_300_000_000)
    both = figures(GTX280, "sum", 31, 100, const(7), (const(9), const(8)), {})
    assert both.c_t == 15


def test_time_sharing_changes_nothing() -> None:
    """b blocks at a time take b times as long, and there are a b-th as many turns (HiPC 2009, section 3.4)."""
    for b in (1, 2, 8):
        assert seconds(GTX280, Fraction(16, b), 4, b * Fraction(10)) == seconds(GTX280, Fraction(16), 4, Fraction(10))


# --- devices ---------------------------------------------------------------------------------------------------------


def test_the_figures_of_the_paper_s_device() -> None:
    """HiPC 2009: 30 multiprocessors of 8 cores, pipelines of 4 stages, 1.3 GHz; cycles of section 3.2."""
    assert (GTX280.multiprocessors, GTX280.cores, GTX280.depth, GTX280.clock) == (30, 8, 4, 1_300_000_000)
    cycles = GTX280.cycles
    assert [cycles[c] for c in ("add", "multiply", "divide", "global", "shared", "barrier")] == [4, 16, 48, 500, 4, 4]


def test_every_device_is_read_under_its_own_name() -> None:
    assert set(device_names()) >= {"gtx280", "h100"}
    assert [find_device(name).name for name in device_names()] == device_names()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"group": 12}, "whole groups"),
        ({"clock": 0}, "positive"),
        ({"cycles": {**GTX280.cycles, "float": Fraction(0)}}, "takes time"),
        ({"cycles": {**GTX280.cycles, "float": Fraction(1, 1000)}}, "multiples"),
    ],
)
def test_devices_that_cannot_be(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        replace(GTX280, **change)  # type: ignore[arg-type]
