"""CUB's primitives of blocks and warps: what they give in runs, in both engines, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import evaluate
from logic.typing import check_kernel
from semantics import vectorised
from semantics.cuda import Reading
from semantics.grid import run

Read = Callable[..., Reading]
Refused = Callable[[str, str], None]

THREADS: Final = 96
BEFORE: Final = """#include <cub/cub.cuh>
typedef cub::BlockReduce<int, 96> Reduce; typedef cub::WarpReduce<int> Warp; typedef cub::WarpScan<int> Scan;
typedef cub::BlockReduce<int, 96, cub::BLOCK_REDUCE_RAKING> Rakes;
typedef cub::BlockReduce<int, 96, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY> Fewer;
typedef cub::BlockHistogram<int, 96, 2, 100, cub::BLOCK_HISTO_ATOMIC> Counts;
typedef cub::BlockScan<int, 96> Raking; typedef cub::BlockScan<int, 96, cub::BLOCK_SCAN_WARP_SCANS> Warps;
typedef cub::BlockExchange<int, 96, 4> Exchange; typedef cub::BlockExchange<int, 96, 8> Padded;
typedef cub::BlockLoad<int, 96, 4, cub::BLOCK_LOAD_TRANSPOSE> LoadTurned;
typedef cub::BlockStore<int, 96, 4, cub::BLOCK_STORE_WARP_TRANSPOSE> StoreTurned;
typedef cub::BlockLoad<int, 96, 2> Load; typedef cub::BlockStore<int, 96, 2, cub::BLOCK_STORE_STRIPED> Store;
"""


def kernel(body: str) -> str:
    return f"{BEFORE}__global__ void k(const int *V, int *A, int n) {{ int t = threadIdx.x, v = V[t]; {body} }}"


Expected = Callable[[Sequence[int], int], int | None]
"""What a thread writes; None if that is not said."""


def shared(name: str) -> str:
    return f"__shared__ {name}::TempStorage s; "


def own(v: Sequence[int], t: int) -> Sequence[int]:
    return v[t // 32 * 32 : t // 32 * 32 + 32]


RUNS: Final[dict[str, tuple[Expected, int, int]]] = {
    shared("Reduce") + "v = Reduce(s).Sum(v); if (t == 0) A[0] = v;": (lambda v, t: sum(v) if t == 0 else None, 0, 3),
    shared("Reduce") + "Reduce r(s); v = r.Reduce(v, cub::Max(), n); if (t == 0) A[0] = v;": (
        lambda v, t: max(v[:40]) if t == 0 else None,
        0,
        3,
    ),
    shared("Reduce") + "int w[2] = {v, 3}; v = Reduce(s).Sum(w); if (t == 0) A[0] = v;": (
        lambda v, t: sum(v) + 3 * THREADS if t == 0 else None,
        0,
        3,
    ),
    shared("Rakes") + "v = Rakes(s).Sum(v); if (t == 0) A[0] = v;": (lambda v, t: sum(v) if t == 0 else None, 0, 2),
    shared("Rakes") + "v = Rakes(s).Reduce(v, cub::Max(), n); if (t == 0) A[0] = v;": (
        lambda v, t: max(v[:40]) if t == 0 else None,
        0,
        5,
    ),
    # parts of two elements: each of the 32 threads reads a word of one of 16 banks
    shared("Fewer") + "v = Fewer(s).Sum(v); if (t == 0) A[0] = v;": (lambda v, t: sum(v) if t == 0 else None, 2, 2),
    shared("Fewer") + "v = Fewer(s).Reduce(v, cub::Min(), n); if (t == 0) A[0] = v;": (
        lambda v, t: min(v[:40]) if t == 0 else None,
        2,
        4,
    ),
    shared("Counts") + "__shared__ unsigned c[100]; int w[2] = {t, 99 - t}; Counts(s).Histogram(w, c); "
    "__syncthreads(); A[t] = c[t];": (lambda _, t: 1 + (t > 3), 0, 1),
    "__shared__ Warp::TempStorage s[3]; v = Warp(s[t / 32]).Sum(v); if (t % 32 == 0) A[t] = v;": (
        lambda v, t: sum(own(v, t)) if t % 32 == 0 else None,
        0,
        1,
    ),
    "__shared__ Warp::TempStorage s[3]; v = Warp(s[t / 32]).Reduce(v, cub::Max(), 5); if (t % 32 == 0) A[t] = v;": (
        lambda v, t: max(own(v, t)[:5]) if t % 32 == 0 else None,
        0,
        1,
    ),
    shared("Scan") + "int w, all; Scan(s).ExclusiveSum(v, w, all); A[t] = w + all;": (
        lambda v, t: sum(own(v, t)[: t % 32]) + sum(own(v, t)),
        0,
        0,
    ),
    shared("Scan") + "Scan(s).InclusiveScan(v, v, cub::Max()); A[t] = v;": (
        lambda v, t: max(own(v, t)[: t % 32 + 1]),
        0,
        0,
    ),
    # parts of three elements: no two of 32 threads in one bank
    shared("Raking") + "int w, all; Raking(s).ExclusiveSum(v, w, all); A[t] = w + all;": (
        lambda v, t: sum(v[:t]) + sum(v),
        0,
        5,
    ),
    shared("Raking") + "Raking(s).InclusiveScan(v, v, cub::Min()); A[t] = v;": (lambda v, t: min(v[: t + 1]), 0, 5),
    shared("Warps") + "Warps(s).InclusiveSum(v, v); A[t] = v;": (lambda v, t: sum(v[: t + 1]), 0, 4),
    shared("Warps") + "int w; Warps(s).ExclusiveScan(v, w, -100, cub::Max()); A[t] = w;": (
        lambda v, t: max([-100, *v[:t]]),
        0,
        4,
    ),
    "__shared__ Load::TempStorage s; __shared__ Store::TempStorage q; int w[2]; Load(s).Load(V, w, n); "
    "w[0]++; Store(q).Store(A, w);": (lambda v, t: v[2 * t] + 1 if 2 * t < 40 else None, 0, 4),
    # what each reads of one bank is 4 words of its own
    "__shared__ Exchange::TempStorage s; int w[4] = {t, t + 96, t + 192, t + 288}; Exchange(s).StripedToBlocked(w); "
    "A[t] = w[0] + 1000 * w[3];": (lambda _, t: 4 * t + 1000 * (4 * t + 3), 4 * 3, 0),
    # of 8 there is room between them
    "__shared__ Padded::TempStorage s; int w[8]; for (int i = 0; i < 8; i++) w[i] = i * 96 + t; "
    "Padded(s).StripedToBlocked(w, w); A[t] = w[0] + 1000 * w[7];": (lambda _, t: 8 * t + 1000 * (8 * t + 7), 0, 0),
    "__shared__ LoadTurned::TempStorage s; __shared__ StoreTurned::TempStorage q; int w[4]; LoadTurned(s).Load(V, w); "
    "w[1]++; StoreTurned(q).Store(A, w);": (lambda v, t: v[t] + (t % 4 == 1), 2 * 4 * 3, 0),
}
"""Bodies, with bounds on conflicts and divergent warps."""


@pytest.mark.parametrize("body", RUNS)
def test_runs(read: Read, body: str) -> None:
    values = [(7 * i * i + 3 * i) % 41 - 20 for i in range(4 * THREADS)]
    expected, conflicts, divergent = RUNS[body]
    ran = vectorised.run(read(kernel(body)).kernel, (THREADS, 1, 1), (1, 1, 1), {"n": 40}, {"V": values})
    for t in range(THREADS):
        wanted = expected(values if "Load" in body else values[:THREADS], t)
        assert wanted is None or (int(ran.arrays["A"].get(t, 0)) + 2**31) % 2**32 - 2**31 == wanted, t
    assert ran.max_per_warp["conflicts"] <= conflicts
    assert ran.max_per_warp["divwarps"] <= divergent


BOUNDED: Final = [body for body in RUNS if "Sum(v)" in body or "(v, w, all)" in body or "Load" in body]


@pytest.mark.parametrize("body", BOUNDED)
def test_bounds(read: Read, body: str) -> None:
    kernel_ = read(kernel(body)).kernel
    metrics = [METRICS[name] for name in ("conflicts", "divwarps")]
    context = Context(check_kernel(kernel_), metrics[0], HARDWARE["nvidia"], Launch((THREADS, 1, 1), (1, 1, 1), ()))
    results = find_bounds(Outline(kernel_, context, bare(kernel_.body)), metrics, Oracles(), judge=False)
    for result, most in zip(results, RUNS[body][1:], strict=True):
        assert result.claim is not None
        assert evaluate(result.claim.pre.q, {}) <= most


def test_parts_of_an_even_length_are_apart_by_one_more(read: Read) -> None:
    """128 threads: 32 parts of 4 elements, 5 apart. The threads of a warp write over 39 words."""
    body = "typedef cub::BlockScan<int, 128> S; __shared__ S::TempStorage s; S(s).InclusiveSum(v, v); A[t] = v;"
    ran = vectorised.run(read(kernel(body)).kernel, (128, 1, 1), (1, 1, 1), {"n": 0}, {"V": [1] * 128})
    assert [ran.arrays["A"][t] for t in range(128)] == list(range(1, 129))
    assert ran.max_per_warp["conflicts"] == 2


def test_a_warp_that_is_not_whole(read: Read) -> None:
    body = "typedef cub::BlockReduce<int, 48> R; __shared__ R::TempStorage s; v = R(s).Reduce(v, cub::Max()); A[t] = v;"
    ran = run(read(kernel(body)).kernel, (48, 1, 1), (1, 1, 1), {"n": 0}, {"V": [(5 * i) % 48 for i in range(48)]})
    assert ran.arrays["A"][0] == 47


def test_refused(refused: Refused) -> None:
    vectors = "typedef cub::BlockLoad<int, 96, 2, cub::BLOCK_LOAD_VECTORIZE> L; __shared__ L::TempStorage s; int w[2];"
    load = f"{vectors} L(s).Load(V, w); A[t] = w[0];"
    refused(kernel(load), "this algorithm is not supported")
    for name in ("BlockRadixSort<int, 96, 1>", "BlockMergeSort<int, 96, 1, int>", "WarpMergeSort<int, 1>"):
        sort = f"typedef cub::{name} S; __shared__ S::TempStorage s; int w[1] = {{v}}; S(s).Sort(w); A[t] = w[0];"
        refused(kernel(sort), "sorting by CUB in a kernel is not supported, in 'Sort'")
    counts = "typedef cub::BlockHistogram<int, 96, 1, 9> H; __shared__ H::TempStorage s; __shared__ int c[9]; int w[1];"
    refused(kernel(f"{counts} H(s).Histogram(w, c);"), "sorting by CUB in a kernel is not supported")
