"""Cooperative groups: what their collectives give in runs, in both engines, and that bounds hold for these."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Final

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import evaluate
from logic.syntax import Param, show_stmt
from logic.typing import check_kernel
from semantics import vectorised
from semantics.cuda import CudaError, Reading
from semantics.grid import run

Read = Callable[..., Reading]

HEAD: Final = """#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
"""

BLOCK: Final = 64


def kernel(body: str, before: str = "") -> str:
    return (
        f"{HEAD}{before}\n__global__ void k(int *A, const int *V, int n) {{\n"
        f"  cg::thread_block b = cg::this_thread_block(); int t = b.thread_rank();\n  {body}\n}}\n"
    )


def contents(seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(-9, 10) for _ in range(BLOCK)]


def found(
    reading: Reading,
    values: Sequence[int],
    n: int = 0,
    block: tuple[int, int, int] = (BLOCK, 1, 1),
    elements: int = BLOCK,
    again: bool = True,
) -> list[int]:
    """What A holds after a run, the same in both engines where it runs `again`."""
    engines = (run, vectorised.run) if again else (vectorised.run,)
    results = [engine(reading.kernel, block, (1, 1, 1), {"n": n}, {"V": values}) for engine in engines]
    assert results[0].arrays == results[-1].arrays
    assert results[0].max_per_warp == results[-1].max_per_warp
    return [whole(int(results[0].arrays["A"].get(i, 0))) for i in range(elements)]


def whole(v: int) -> int:
    """An int of 32 bits."""
    return (v + 2**31) % 2**32 - 2**31


Group = Callable[[Sequence[int], int], list[int]]
"""The threads of the group that a thread is in, in their order."""


def tile(size: int) -> Group:
    return lambda _, t: list(range(t // size * size, t // size * size + size))


def positive(v: Sequence[int], t: int) -> list[int]:
    """The lanes of its warp with a positive value; none for others."""
    lanes = [u for u in tile(32)(v, t) if v[u] > 0]
    return lanes if t in lanes else []


def labelled(v: Sequence[int], t: int) -> list[int]:
    return [u for u in tile(32)(v, t) if v[u] % 3 == v[t] % 3]


GROUPS: Final[dict[str, tuple[str, Group]]] = {
    "tile of 32": ("auto g = cg::tiled_partition<32>(b); {}", tile(32)),
    "tile of 8": ("cg::thread_block_tile<8> g = cg::tiled_partition<8>(cg::tiled_partition<32>(b)); {}", tile(8)),
    "one thread": ("auto g = cg::tiled_partition<1>(b); {}", tile(1)),
    "coalesced": ("if (V[t] > 0) {{ cg::coalesced_group g = cg::coalesced_threads(); {} }}", positive),
    "labelled": (
        "auto w = cg::tiled_partition<32>(b); auto g = cg::labeled_partition(w, (V[t] + 9) % 3); {}",
        labelled,
    ),
    "binary": (
        "auto w = cg::tiled_partition<32>(b); auto g = cg::binary_partition(w, V[t] % 2 == 0); {}",
        lambda v, t: [u for u in tile(32)(v, t) if v[u] % 2 == v[t] % 2],
    ),
    "part of a coalesced one": (
        "if (V[t] > 0) {{ auto c = cg::coalesced_threads(); auto g = cg::tiled_partition<4>(c); {} }}",
        lambda v, t: [u for i, u in enumerate(positive(v, t)) if i // 4 == positive(v, t).index(t) // 4],
    ),
}

Asked = Callable[[list[int], int], int]
"""What the r-th thread of a group gets, whose threads have these values."""


def scan(v: list[int], r: int) -> int:
    return sum(v[: r + 1])


COLLECTIVES: Final[dict[str, Asked]] = {
    "A[t] = g.size() * 100 + g.thread_rank();": lambda v, r: len(v) * 100 + r,
    "A[t] = cg::group_size(g) + cg::thread_rank(g) + g.num_threads();": lambda v, r: 2 * len(v) + r,
    "A[t] = g.shfl(V[t], 0);": lambda v, _: v[0],
    "A[t] = g.shfl(V[t], g.size() - 1 - g.thread_rank());": lambda v, r: v[len(v) - 1 - r],
    "A[t] = g.shfl_down(V[t], 2);": lambda v, r: v[r + 2] if r + 2 < len(v) else v[r],
    "A[t] = g.shfl_up(V[t], 3);": lambda v, r: v[r - 3] if r >= 3 else v[r],
    "A[t] = g.any(V[t] > 7) + 2 * g.all(V[t] > -7);": lambda v, _: any(x > 7 for x in v) + 2 * all(x > -7 for x in v),
    "A[t] = g.ballot(V[t] % 2 == 0);": lambda v, _: whole(sum((x % 2 == 0) << i for i, x in enumerate(v))),
    "A[t] = g.match_any(V[t]);": lambda v, r: whole(sum((x == v[r]) << i for i, x in enumerate(v))),
    "int p; A[t] = g.match_all(V[t] > -20, p); A[t] += p;": lambda v, _: whole((1 << len(v)) - 1) + 1,
    "int p; unsigned m = g.match_all(V[t], p); A[t] = (m ? 5 : 3) + p;": lambda v, _: 6 if len(set(v)) == 1 else 3,
    "A[t] = cg::reduce(g, V[t], cg::plus<int>());": lambda v, _: sum(v),
    "A[t] = cg::reduce(g, V[t], cg::less<int>{});": lambda v, _: min(v),
    "A[t] = cg::reduce(g, V[t], cg::greater<int>());": lambda v, _: max(v),
    "A[t] = cg::reduce(g, V[t], cg::bit_and<int>());": lambda v, _: reduce(lambda a, c: a & c, v),
    "A[t] = cg::reduce(g, V[t], cg::bit_or<int>());": lambda v, _: reduce(lambda a, c: a | c, v),
    "A[t] = cg::reduce(g, V[t], cg::bit_xor<int>());": lambda v, _: reduce(lambda a, c: a ^ c, v),
    "A[t] = cg::reduce(g, V[t], [](int x, int y) { return x > y ? x : y; });": lambda v, _: max(v),
    "A[t] = cg::reduce(g, V[t], largest);": lambda v, _: max(v),
    "Pair p = {V[t], t}; A[t] = cg::reduce(g, p, add).x;": lambda v, _: sum(v),
    "A[t] = cg::inclusive_scan(g, V[t]);": scan,
    "A[t] = cg::inclusive_scan(g, V[t], cg::greater<int>());": lambda v, r: max(v[: r + 1]),
    "A[t] = cg::exclusive_scan(g, V[t], cg::plus<int>());": lambda v, r: scan(v, r) - v[r],
    "A[t] = added(g, V[t]);": lambda v, _: sum(v),
    "cg::invoke_one(g, [&]() { A[t] = 7; });": lambda _, r: 7 if r == 0 else 0,
    "cg::thread_group h = g; h.sync(); A[t] = h.size() + 100 * h.thread_rank();": lambda v, r: len(v) + 100 * r,
}  # fmt: skip

BEFORE: Final = """
__device__ int largest(int a, int b) { return a > b ? a : b; }
struct Pair { int x, y; };
__device__ Pair add(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }
template <class G> __device__ int added(const G &g, int v) { return cg::reduce(g, v, cg::plus<int>()); }
"""


@pytest.mark.parametrize("group", GROUPS)
def test_what_collectives_give(read: Read, group: str) -> None:
    frame, threads = GROUPS[group]
    parts = (f"{{ {text.replace('A[t]', f'A[t + {k * BLOCK}]')} }}" for k, text in enumerate(COLLECTIVES))
    reading = read(kernel(frame.format(" ".join(parts)), BEFORE))
    values = contents(1)
    got = found(reading, values, elements=BLOCK * len(COLLECTIVES), again=group == "part of a coalesced one")
    for k, (text, given) in enumerate(COLLECTIVES.items()):
        for t in range(BLOCK):
            lanes = threads(values, t)
            expected = given([values[u] for u in lanes], lanes.index(t)) if lanes else 0
            assert got[k * BLOCK + t] == expected, (text, t, lanes)


BLOCKS: Final[dict[str, Callable[[list[int], int], int]]] = {
    "A[t] = b.size() + b.num_threads() + cg::this_thread_block().thread_rank();": lambda _, t: 2 * BLOCK + t,
    "A[t] = b.group_dim().x * 100 + b.thread_index().y + b.dim_threads().y;": lambda _, t: 1600 + t // 16 + 4,
    "dim3 d = b.group_index(); A[t] = d.x + 10 * b.group_index().y;": lambda _v, _t: 0,
    "A[t] = cg::this_grid().size() + cg::this_grid().thread_rank() + cg::this_grid().num_blocks();": (
        lambda _, t: BLOCK + t + 1
    ),
    "auto w = cg::tiled_partition<16>(b); A[t] = w.meta_group_rank() + 10 * w.meta_group_size();": (
        lambda _, t: t // 16 + 40
    ),
    "auto w = cg::tiled_partition<4>(cg::tiled_partition<16>(b)); A[t] = w.meta_group_rank() + w.meta_group_size();": (
        lambda _, t: t % 16 // 4 + 4
    ),
    "auto w = cg::tiled_partition(b, 16); A[t] = w.thread_rank() + 100 * w.size();": lambda _, t: t % 16 + 1600,
    "auto w = cg::tiled_partition(cg::tiled_partition<32>(b), n); A[t] = w.thread_rank();": lambda _, t: t % 4,
    "auto w = cg::tiled_partition<64>(b); A[t] = cg::reduce(w, V[t], cg::plus<int>());": lambda v, _: sum(v[:BLOCK]),
    "__shared__ int s[64]; cg::memcpy_async(b, s, V, sizeof(int) * 60); cg::wait(b); A[t] = s[(t + 1) % 60];": (
        lambda v, t: v[(t + 1) % 60]
    ),
    "__shared__ int s[64]; cg::memcpy_async(b, s, 64, V, n); cg::wait_prior<1>(b); A[t] = t < n ? s[t] : 0;": (
        lambda v, t: v[t] if t < 4 else 0
    ),
    "__shared__ int s[64]; A[t] = sum(b, s, V[t]);": lambda v, t: sum(v[:BLOCK]) if t == 0 else -1,
    "__shared__ int s[64]; A[t] = sum(cg::tiled_partition<16>(b), s + t / 16 * 16, V[t]);": (
        lambda v, t: sum(v[t : t + 16]) if t % 16 == 0 else -1
    ),
}  # fmt: skip

SUM: Final = """__device__ int sum(cg::thread_group g, int *x, int v) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    x[lane] = v;
    g.sync();
    if (lane < i) v += x[lane + i];
    g.sync();
  }
  return lane == 0 ? v : -1;
}"""


@pytest.mark.parametrize("body", BLOCKS)
def test_what_threads_are_told(read: Read, body: str) -> None:
    values = contents(3)
    got = found(read(kernel(body, SUM)), values, 4, (16, 4, 1))
    assert got == [BLOCKS[body](values, t) for t in range(BLOCK)]


BOUNDED: Final = {
    "auto g = cg::tiled_partition<32>(b); int v = cg::reduce(g, V[t], cg::plus<int>()); if (g.thread_rank() == 0) "
    "A[g.meta_group_rank()] = v;": (5, 0, 1),
    "if (V[t] > 0) { auto g = cg::coalesced_threads(); if (g.thread_rank() == 0) A[0] = g.size(); }": (5, 0, 2),
    "auto g = cg::tiled_partition<32>(b); A[t] = cg::exclusive_scan(g, V[t]);": (8, 0, 0),
    "__shared__ int s[64]; cg::memcpy_async(b, s, V, sizeof(s)); cg::wait(b); A[t] = s[63 - t];": (8, 0, 0),
    "auto g = cg::tiled_partition<64>(b); A[t] = cg::reduce(g, V[t], cg::plus<int>());": (8, 0, 1),
    "auto g = cg::this_grid(); for (int i = g.thread_rank(); i < n; i += g.size()) A[i] = V[i]; g.sync();": (16, 0, 3),
}  # fmt: skip
"""Bodies, with bounds on sectors, conflicts and divergent warps for n = 100, which the search is to keep to."""


@pytest.mark.parametrize("body", BOUNDED)
def test_bounds_hold_in_runs(read: Read, body: str) -> None:
    reading = read(kernel(body)).under(block=(BLOCK, 1, 1), grid=(None, 1, 1))
    launch = Launch((BLOCK, 1, 1), (None, 1, 1), ())
    metrics = [*METRICS.values()]
    context = Context(check_kernel(reading.kernel), metrics[0], HARDWARE["nvidia"], launch)
    results = find_bounds(Outline(reading.kernel, context, bare(reading.kernel.body)), metrics, Oracles())
    most = dict(zip(("sectors", "conflicts", "divwarps"), BOUNDED[body], strict=True))
    for blocks in (1, 2):
        claimed = dict[str, Fraction]()
        for result in results:
            assert result.verdict == "certified"
            assert result.claim is not None
            q = result.claim.pre.q
            claimed[result.metric.name] = Fraction(evaluate(q, {Param("n"): 100, Param("gridDim.x"): blocks}))
        assert all(claimed[name] <= most[name] for name in most)
        values = [v % 3 - 1 for v in range(BLOCK)] * 4
        ran = vectorised.run(reading.kernel, (BLOCK, 1, 1), (blocks, 1, 1), {"n": 100}, {"V": values})
        assert all(ran.max_per_warp[name] <= claimed[name] for name in claimed)


def test_a_barrier_of_a_block_is_one_and_that_of_a_tile_is_not(read: Read) -> None:
    text = show_stmt(read(kernel("b.sync(); cg::sync(b); cg::tiled_partition<32>(b).sync(); A[0] = 1;")).kernel.body)
    assert text.count("sync;") == 2
    assert show_stmt(read(kernel("cg::thread_group g = b; g.sync();")).kernel.body).count("sync;") == 1
    grid = read(kernel("cg::this_grid().sync();"))
    assert show_stmt(grid.kernel.body).count("sync;") == 1
    assert any("barrier of the whole grid" in note for note in grid.notes)


def test_a_stride_by_the_grid_assumes_a_row_of_blocks_unless_the_grid_is_known(read: Read) -> None:
    text = kernel("A[cg::this_grid().thread_rank()] = 1;")
    assert read(text).usual_grid == (None, 1, 1)
    launched = "void f(int *a) {{ k<<<{}, 64>>>(a, a, 1); }}"
    assert read(text + launched.format("9")).usual_grid == (None, 1, 1)
    assert read(text + launched.format("dim3(2, 2)")).usual_grid is None
    assert read(kernel("A[b.thread_rank()] = 1;")).usual_grid is None


LARGE: Final = "this function on a tile of more than 32 threads is not supported"
REFUSED: Final = {
    "auto c = cg::this_cluster(); c.sync();": "a cluster of blocks is not supported, in 'this_cluster'",
    "auto g = cg::tiled_partition<64>(b); A[t] = g.shfl(t, 0);": f"{LARGE}, in 'shfl'",
    "auto g = cg::tiled_partition<64>(b); A[t] = g.any(t);": f"{LARGE}, in 'any'",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused_is_named_at_its_place(read: Read, body: str) -> None:
    with pytest.raises(CudaError) as caught:
        read(kernel(body))
    assert REFUSED[body] in str(caught.value)
    assert caught.value.loc is not None
    assert caught.value.loc.file.endswith("x.cu")
    assert caught.value.loc.line == kernel(body).count("\n") - 1
