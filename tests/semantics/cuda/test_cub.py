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
typedef cub::BlockLoad<int, 96, 2, cub::BLOCK_LOAD_VECTORIZE> LoadAtOnce;
typedef cub::BlockStore<int, 96, 4, cub::BLOCK_STORE_VECTORIZE> StoreAtOnce;
typedef cub::BlockLoad<int, 96, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED> LoadSliced;
typedef cub::BlockStore<int, 96, 4, cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED> StoreSliced;
typedef cub::WarpLoad<int, 4, cub::WARP_LOAD_TRANSPOSE> WarpLoad;
typedef cub::WarpStore<int, 4, cub::WARP_STORE_TRANSPOSE> WarpStore;
typedef cub::WarpExchange<int, 2, 16> WarpExchange; typedef cub::BlockShuffle<int, 96> Shuffle;
typedef cub::BlockAdjacentDifference<int, 96> Differ; typedef cub::BlockDiscontinuity<int, 96> Flag;
typedef cub::BlockRadixSort<int, 96, 2, int> Sorts; typedef cub::BlockRadixSort<unsigned, 96, 1> Alone;
typedef cub::BlockRadixSort<float, 96, 1, cub::NullType, 6> Floats;
struct Begin { int at; __device__ int operator()(int all) { int old = at; at += all; return old; } };
typedef cub::BlockLoad<int, 96, 2> Load; typedef cub::BlockStore<int, 96, 2, cub::BLOCK_STORE_STRIPED> Store;
"""


def kernel(body: str) -> str:
    return f"{BEFORE}__global__ void k(const int *V, int *A, int n) {{ int t = threadIdx.x, v = V[t]; {body} }}"


Expected = Callable[[Sequence[int], int], int | None]
"""What a thread writes; None if that is not said."""


def shared(name: str) -> str:
    return f"__shared__ {name}::TempStorage s; "


def pairs(v: Sequence[int]) -> Sequence[int]:
    """Two items of each thread, its value and its number."""
    return [item for t in range(THREADS) for item in (v[t], t)]


def in_order(v: Sequence[int]) -> Sequence[tuple[int, int]]:
    """The values and their negations, two of each thread, with their places, as a stable sort has them."""
    return sorted(((item, i) for i, item in enumerate(x for y in v[:THREADS] for x in (y, -y))), key=lambda p: p[0])


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
    shared("Rakes") + "v = Rakes(s).Reduce(v, cuda::maximum<>(), n); if (t == 0) A[0] = v;": (
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
    shared("Raking") + "int w[2] = {v, t}, all; Raking(s).ExclusiveSum(w, w, all); A[t] = w[0] + 3 * w[1] + all;": (
        lambda v, t: sum(pairs(v)[: 2 * t]) + 3 * sum(pairs(v)[: 2 * t + 1]) + sum(pairs(v)),
        0,
        6,
    ),
    shared("Warps") + "int w[2] = {v, t}; Warps(s).InclusiveSum(w, w); A[t] = w[0] + 3 * w[1];": (
        lambda v, t: sum(pairs(v)[: 2 * t + 1]) + 3 * sum(pairs(v)[: 2 * t + 2]),
        0,
        5,
    ),
    shared("Warps") + "Begin b = {5}; int w, x; Warps(s).ExclusiveSum(v, w, b); __syncthreads(); "
    "Warps(s).InclusiveSum(v, x, b); A[t] = w + 3 * x;": (
        lambda v, t: 5 + sum(v[:t]) + 3 * (5 + sum(v) + sum(v[: t + 1])),
        0,
        11,
    ),
    shared("Raking") + "Begin b = {5}; int w[2] = {v, t}, x[2]; Raking(s).ExclusiveSum(w, x, b); __syncthreads(); "
    "Raking(s).InclusiveSum(w, w, b); A[t] = w[0] + w[1] + x[0] + x[1];": (
        lambda v, t: sum(sum(pairs(v)[: 2 * t + i]) for i in (0, 1, 1, 2)) + 4 * 5 + 2 * sum(pairs(v)),
        0,
        13,
    ),
    # a digit after another: what is counted is in banks of its own, 8 times 2 words of one bank are moved at most
    shared("Sorts")
    + "int w[2] = {v, -v}, u[2] = {2 * t, 2 * t + 1}; Sorts(s).Sort(w, u); A[t] = w[0] * 1000 + u[1];": (
        lambda v, t: in_order(v)[2 * t][0] * 1000 + in_order(v)[2 * t + 1][1],
        8 * 4 * 31,
        2 * 8,
    ),
    shared("Alone") + "unsigned w[1] = {v + 20u}; Alone(s).SortDescendingBlockedToStriped(w, 1, n / 8); A[t] = w[0];": (
        lambda v, t: sorted([x + 20 for x in v[:THREADS]], key=lambda x: -(x >> 1 & 15))[t],
        31,
        2,
    ),
    shared("Floats") + "float w[1] = {v * 0.5f}; Floats(s).Sort(w); A[t] = w[0] * 2;": (
        lambda v, t: sorted(v)[t],
        6 * 31,
        2 * 6,
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
    "__shared__ StoreAtOnce::TempStorage q; __shared__ LoadAtOnce::TempStorage s; int u[2]; LoadAtOnce(s).Load(V, u); "
    "int w[4] = {u[0], u[1], t, 0}; StoreAtOnce(q).Store(A, w);": (
        lambda v, t: v[t // 4 * 2 + t % 4] if t % 4 < 2 else (t // 4 if t % 4 == 2 else 0),
        0,
        0,
    ),
    # one warp after another, in the room of one, where of 8 items there is room between them
    "__shared__ StoreSliced::TempStorage q; __shared__ LoadSliced::TempStorage s; int u[8]; "
    "LoadSliced(s).Load(V, u, n); int w[4] = {u[0], u[1], u[7], t}; if (t > 4) w[0] = w[1] = w[2] = -1; "
    "StoreSliced(q).Store(A, w);": (
        lambda v, t: t // 4 if t % 4 == 3 else -1 if t > 19 else v[t // 4 * 8 + (0, 1, 7)[t % 4]],
        24,
        9,
    ),
    "__shared__ WarpLoad::TempStorage s[3]; __shared__ WarpStore::TempStorage q[3]; int w[4]; int at = t / 32 * 128; "
    "WarpLoad(s[t / 32]).Load(V + at, w); w[3] = -w[3]; WarpStore(q[t / 32]).Store(A + at, w);": (
        lambda v, t: -v[t] if t % 4 == 3 else v[t],
        4 * 3 + 4 * 3,
        0,
    ),
    "__shared__ WarpExchange::TempStorage s[6]; int w[2] = {t, t + 1000}; "
    "WarpExchange(s[t / 16]).StripedToBlocked(w, w); A[t] = w[0] * 10000 + w[1];": (
        lambda _, t: sum(
            f * (t // 16 * 16 + (2 * (t % 16) + i) % 16 + (2 * (t % 16) + i) // 16 * 1000)
            for i, f in enumerate((10000, 1))
        ),
        4,
        0,
    ),
    "__shared__ WarpExchange::TempStorage s[6]; int w[2] = {t, -t}, r[2] = {t % 16 * 2, t % 16 * 2 + 1}; "
    "WarpExchange(s[t / 16]).ScatterToStriped(w, r); A[t] = w[1];": (
        lambda _, t: (t // 16 * 16 + (16 + t % 16) // 2) * (1 if t % 2 == 0 else -1),
        4,
        0,
    ),
    shared("Shuffle") + "int w = 7, x; Shuffle(s).Offset(v, w, -2); __syncthreads(); Shuffle(s).Rotate(v, x, 95); "
    "A[t] = w + 1000 * x;": (lambda v, t: (7 if t < 2 else v[t - 2]) + 1000 * v[(t + 95) % 96], 0, 1),
    shared("Shuffle")
    + "int w[2] = {v, t}, a[2] = {0, 0}, b[2] = {0, 0}, l, f; Shuffle(s).Up(w, a, l); __syncthreads(); "
    "Shuffle(s).Down(w, b, f); A[t] = a[0] + 100 * a[1] + 10000 * b[0] + 1000000 * b[1] + l - f;": (
        lambda v, t: (t - 1 if t else 0) + 100 * v[t] + 10000 * t + 1000000 * (v[t + 1] if t < 95 else 0) + 95 - v[0],
        0,
        2,
    ),
    shared("Differ")
    + "int w[2] = {v, t}, a[2], b[2]; Differ(s).SubtractLeft(w, a, cub::Difference()); __syncthreads(); "
    "Differ(s).SubtractRight(w, b, cub::Difference(), 9); A[t] = a[0] + 100 * a[1] + 10000 * b[0] + 1000000 * b[1];": (
        lambda v, t: (
            (v[t] - t + 1 if t else v[0])
            + 100 * (t - v[t])
            + 10000 * (v[t] - t)
            + 1000000 * (t - (v[t + 1] if t < 95 else 9))
        ),
        0,
        2,
    ),
    shared("Differ")
    + "int w[2] = {v, t}, a[2], b[2]; Differ(s).SubtractLeftPartialTile(w, a, cub::Difference(), n + 1); "
    "__syncthreads(); Differ(s).SubtractRightPartialTile(w, b, cub::Difference(), n + 1); "
    "A[t] = a[0] + 100 * a[1] + 10000 * b[0] + 1000000 * b[1];": (
        lambda v, t: (
            (v[t] - t + 1 if 0 < t <= 20 else v[t])
            + 100 * (t - v[t] if t < 20 else t)
            + 10000 * (v[t] - t if t < 20 else v[t])
            + 1000000 * (t - v[t + 1] if t < 20 else t)
        ),
        0,
        9,
    ),
    shared("Flag") + "int w[2] = {v, t}, a[2], b[2]; Flag(s).FlagHeads(a, w, cub::Inequality()); __syncthreads(); "
    "Flag(s).FlagTails(b, w, cub::Equality(), 95); A[t] = a[0] + 10 * a[1] + 100 * b[0] + 1000 * b[1];": (
        lambda v, t: (
            (1 if t == 0 else t - 1 != v[t])
            + 10 * (v[t] != t)
            + 100 * (v[t] == t)
            + 1000 * (t == (v[t + 1] if t < 95 else 95))
        ),
        0,
        2,
    ),
    shared("Flag") + "int w[1] = {v}, a[1], b[1]; Flag(s).FlagHeadsAndTails(a, b, w, cub::Inequality()); "
    "A[t] = a[0] + 10 * b[0];": (
        lambda v, t: (t == 0 or v[t - 1] != v[t]) + 10 * (t == 95 or v[t] != v[t + 1]),
        0,
        2,
    ),
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


TOLD: Final = ("Sum(v)", "(v, w, all)", " Load(s)", "LoadTurned", "WarpLoad(", "Offset", "HeadsAndTails")
BOUNDED: Final = [body for body in RUNS if any(words in body for words in TOLD)]


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


MERGES: Final = {
    "BlockMergeSort<int, 64, 3>": (64, "S(s).Sort(w, less);", False),
    "BlockMergeSort<int, 32, 3, int, 2>": (64, "S(s).StableSort(w, x, less);", False),
    "WarpMergeSort<int, 3, 16, int>": (16, "S(s).Sort(w, x, less);", False),
    "WarpMergeSort<int, 3>": (32, "S(s).Sort(w, less, n, 99);", True),
    "BlockMergeSort<int, 64, 3, int>": (64, "S(s).Sort(w, x, less, n, 99);", True),
}
"""Sorts by merging: of how many threads, how they are called, and whether only n of the items count."""


@pytest.mark.parametrize("name", MERGES)
def test_sorts_by_merging(read: Read, name: str) -> None:
    """The values are the places that the keys had. Each key is there several times: a stable sort keeps their order."""
    threads, sorts, some = MERGES[name]
    storage = f"S::TempStorage all[{64 // threads}]; S::TempStorage &s = all[t / {threads}];"
    valued = "w, x" in sorts
    body = (
        f"typedef cub::{name} S; __shared__ {storage} "
        "auto less = [](int a, int b) { return a < b; }; int w[3], x[3]; "
        f"for (int i = 0; i < 3; i++) {{ x[i] = 3 * t + i; w[i] = V[x[i]]; }} {sorts} "
        f"for (int i = 0; i < 3; i++) A[3 * t + i] = {'x' if valued else 'w'}[i];"
    )
    values, n = [(7 * i * i + 3 * i) % 48 for i in range(192)], 80
    ran = vectorised.run(read(kernel(body)).kernel, (64, 1, 1), (1, 1, 1), {"n": n}, {"V": values})
    for first in range(0, 192, 3 * threads):
        valid = range(first, first + min(n if some else 192, 3 * threads))
        wanted = sorted(valid, key=lambda i: values[i])
        assert [ran.arrays["A"].get(i, 0) for i in valid] == [i if valued else values[i] for i in wanted]


def test_refused(refused: Refused) -> None:
    sliced = "typedef cub::BlockExchange<int, 96, 2, true> E; __shared__ E::TempStorage s; int w[2] = {t, v};"
    refused(kernel(f"{sliced} E(s).StripedToBlocked(w); A[t] = w[0];"), "this algorithm is not supported")
    shuffled = "typedef cub::WarpExchange<int, 2, 32, cub::WARP_EXCHANGE_SHUFFLE> E; __shared__ E::TempStorage s;"
    refused(kernel(f"{shuffled} int w[2] = {{t, v}}; E(s).StripedToBlocked(w, w);"), "this algorithm is not supported")
    counts = "typedef cub::BlockHistogram<int, 96, 1, 9> H; __shared__ H::TempStorage s; __shared__ int c[9]; int w[1];"
    refused(kernel(f"{counts} H(s).Histogram(w, c);"), "sorting by CUB in a kernel is not supported")
