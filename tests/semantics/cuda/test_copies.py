"""Asynchronous copies, by one thread and by groups, with pipelines and barriers: what they become, give and cost."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import Final

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Leaf, evaluate
from logic.syntax import Param, show_stmt
from logic.typing import check_kernel
from semantics import vectorised
from semantics.cuda import Reading
from semantics.grid import run

Read = Callable[..., Reading]
Refused = Callable[[str, str], None]

HEAD: Final = """#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda/pipeline>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
__device__ void copy16(void *to, const void *from) { __pipeline_memcpy_async(to, from, 16); }
"""
BLOCK: Final = 64


def kernel(body: str) -> str:
    return (
        f"{HEAD}__global__ void k(int *A, const int *V, const float4 *Q, int n) {{\n"
        f"  cg::thread_block b = cg::this_thread_block(); __shared__ int s[128]; int t = threadIdx.x;\n  {body}\n}}\n"
    )


CASES: Final = {
    # one access of all its bytes on either side
    "__pipeline_memcpy_async(&s[t], V + t, sizeof(int)); __pipeline_commit(); __pipeline_wait_prior(0);": (
        "s[t] <- V[t];"
    ),
    "copy16(&s[4 * t], V + 4 * t);": """\
        t_1 <- V.as_floatx4_at_4[4 * t];
        s.as_floatx4_at_4[4 * t] <- pack(pack(t_1, part(t_1, 4), part(t_1, 8)), part(t_1, 12));""",
    "__shared__ float4 q[64]; __pipeline_memcpy_async(&q[t], Q + t, sizeof(float4), t < n ? 0 : 16);": """\
        t_1 <- t < n ? 0 : 16;
        t_2 <- Q.as_floatx4[t];
        q.as_floatx4[t] <- pack(pack(t_2, part(t_2, 4), part(t_2, 8)), part(t_2, 12));""",
    "nvcuda::experimental::pipeline p; memcpy_async(s[t], V[n], p); p.commit(); p.wait_prior<1>();": "s[t] <- V[n];",
    # a thread's own pipeline waits for nobody
    "auto p = cuda::make_pipeline(); p.producer_acquire(); cuda::memcpy_async(s + t, V, sizeof(int), p); "
    "p.producer_commit(); cuda::pipeline_consumer_wait_prior<0>(p); p.consumer_release();": """\
        bytes <- 4;
        i <- 0;
        while (i < bytes / 4) {
          s[t + i] <- V[i];
          i <- i + 1;
        }""",
    # at a block's barrier all of its threads meet
    "__shared__ cuda::barrier<cuda::thread_scope_block> bar; if (t == 0) init(&bar, 64); b.sync(); "
    "auto token = bar.arrive(); A[t] = 1; bar.wait(std::move(token)); bar.arrive_and_wait();": """\
        if (t == 0) {
          skip;
        }
        sync;
        A[t] <- 1;
        sync;
        sync;""",
}


@pytest.mark.parametrize("body", CASES)
def test_contents(read: Read, body: str) -> None:
    assert show_stmt(read(kernel(body)).kernel.body).removeprefix("t <- tid.x;\n") == dedent(CASES[body])


STAGES: Final = """__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto p = cuda::make_pipeline(b, &state);
  p.producer_acquire(); cuda::memcpy_async(b, s, V, sizeof(int) * 64, p); p.producer_commit();
  for (int i = 1; i < n; i++) {
    p.producer_acquire();
    cuda::memcpy_async(b, s + i % 2 * 64, V + 64 * i, cuda::aligned_size_t<16>(sizeof(int) * 64), p);
    p.producer_commit();
    p.consumer_wait(); A[t] += s[(i - 1) % 2 * 64 + 63 - t]; p.consumer_release();
  }"""

RUNS: Final[dict[str, tuple[Callable[[list[int], int], int], int]]] = {
    "__pipeline_memcpy_async(&s[t], V + t, 4); __syncthreads(); A[t] = s[63 - t];": (lambda v, t: v[63 - t], 8),
    "__shared__ cuda::barrier<cuda::thread_scope_block> bar; cuda::memcpy_async(b, s, V, 4 * b.size(), bar); "
    "bar.arrive_and_wait(); A[t] = s[63 - t];": (lambda v, t: v[63 - t], 8),
    STAGES: (lambda v, t: v[63 - t] + v[127 - t], 3 * 4 + 2 * 8),
}
"""What A holds after a run with n = 3, and the sectors of a warp at most."""


SIZES: Final[dict[Leaf, int]] = {Param("blockDim.x"): BLOCK, Param("blockDim.y"): 1, Param("blockDim.z"): 1}


@pytest.mark.parametrize("body", RUNS)
def test_runs_and_bounds(read: Read, body: str) -> None:
    values, (expected, sectors) = [7 * i % 31 for i in range(4 * BLOCK)], RUNS[body]
    reading = read(kernel(body)).under(block=(BLOCK, 1, 1), grid=(1, 1, 1))
    ran = [f(reading.kernel, (BLOCK, 1, 1), (1, 1, 1), {"n": 3}, {"V": values}) for f in (run, vectorised.run)]
    for result in ran:
        assert [result.arrays["A"].get(t, 0) for t in range(BLOCK)] == [expected(values, t) for t in range(BLOCK)]
    context = Context(
        check_kernel(reading.kernel), METRICS["sectors"], HARDWARE["nvidia"], Launch((BLOCK, 1, 1), (1, 1, 1), ())
    )
    (found,) = find_bounds(Outline(reading.kernel, context, bare(reading.kernel.body)), [METRICS["sectors"]], Oracles())
    assert found.verdict == "certified"
    assert found.claim is not None
    claimed = evaluate(found.claim.pre.q, SIZES | {Param("n"): 3})
    assert ran[0].max_per_warp["sectors"] <= claimed <= sectors


def test_a_source_with_concepts_has_barriers_and_pipelines(read: Read) -> None:
    """It is read a second time, with every function for host and device."""
    concept = "template <class T> concept Small = sizeof(T) < 8;\n"
    assert show_stmt(read(concept + kernel(STAGES)).kernel.body) == show_stmt(read(kernel(STAGES)).kernel.body)


NOTES: Final = {
    "__pipeline_memcpy_async(&s[t], V + t, 4);": "an asynchronous copy is a read and a write where it is started",
    "__shared__ cuda::barrier<cuda::thread_scope_block> bar; init(&bar, 64);": (
        "what barriers and pipelines do to their state in shared memory is not counted"
    ),
    "cg::memcpy_async(b, s, V, 64);": (
        "memcpy_async copies element by element, by threads in a row: wider copies may cost a warp more"
    ),
}


@pytest.mark.parametrize("body", NOTES)
def test_what_is_assumed(read: Read, body: str) -> None:
    assert NOTES[body] in read(kernel(body)).notes


def test_refused(refused: Refused) -> None:
    refused(kernel("cuda::ptx::cp_async_bulk_commit_group();"), "a copy in bulk")
    refused(kernel("__pipeline_memcpy_async(&s[t], V + t, n);"), "of a size that is not 4, 8 or 16")
    refused(kernel("__pipeline_memcpy_async(&s[t], V + t, 12);"), "of a size that is not 4, 8 or 16")
    refused(kernel("__pipeline_memcpy_async(&s[t], nullptr, 4);"), "'__pipeline_memcpy_async' of a null pointer")
    refused(kernel("__pipeline_memcpy_async(A + t, V + t, 4);"), "copies from global to shared memory")
    refused(kernel("int x; __pipeline_memcpy_async(&x, V + t, 4);"), "to a variable is not supported")
    for number in ("(void *)(size_t)n, V + t", "&s[t], (const void *)(size_t)n"):
        refused(kernel(f"__pipeline_memcpy_async({number}, 4);"), "a number as a pointer is not supported")
    state = "__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> q;"
    roles = f"{state} auto p = cuda::make_pipeline(b, &q, 32);"
    refused(kernel(roles), "a pipeline with roles for its threads is not supported, in 'make_pipeline'")
    bulk = "__shared__ cuda::barrier<cuda::thread_scope_block> r; cuda::device::memcpy_async_tx(s, V, 64, r);"
    refused(kernel(bulk), "a copy in bulk is not supported, in 'memcpy_async_tx'")
