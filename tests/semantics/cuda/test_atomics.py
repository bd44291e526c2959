"""Atomic functions, and atomics as objects: what they become, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest

from checker.cli import main
from logic.syntax import show_stmt
from semantics.cuda import Reading

Read = Callable[..., Reading]
Refused = Callable[[str, str], None]

HEAD: Final = """#include <cuda/atomic>
#include <cuda/std/atomic>
#include <cuda_fp16.h>
"""


def kernel(body: str) -> str:
    parameters = (
        "int *A, unsigned *U, cuda::atomic<int, cuda::thread_scope_device> *P, half2 *H, float2 *F, half *G, int n"
    )
    return f"{HEAD}__global__ void k({parameters}) {{ {body} }}"


CASES: Final = {
    "atomicAdd_block(&A[n], 1); atomicMax_system(A, n); atomicExch_block(A, 3); atomicCAS_system(U, 1, 2);": """\
        A[n] <- A[n] + 1;
        A[0] <- max(A[0], n);
        A[0] <- 3;
        U[0] <- int(atomicCAS_system(as_double(U[0]), 1, 2));""",
    "atomicAdd(H, __float2half2_rn(2.f)); atomicAdd(&F[n], make_float2(1, 2)); atomicAdd(G, half(1));": """\
        t.x <- half(2.f);
        t.y <- half(2.f);
        t_1 <- H[0];
        H[0] <- pack(t_1 + t.x, part(t_1, 2) + t.y);
        t_2 <- F[n];
        F[n] <- pack(t_2 + 1.0f, part(t_2, 4) + 2.0f);
        G[0] <- half(G[0] + 1.0f);""",
    "float2 old = atomicAdd(F, make_float2(1, 2)); A[0] = old.y > 2;": """\
        t <- F[0];
        F[0] <- pack(t + 1.0f, part(t, 4) + 2.0f);
        t_1.x <- atomicAdd(atomicAdd(0.0f, tid.x, tid.y), tid.z, 1);
        t_1.y <- atomicAdd(atomicAdd(0.0f, tid.x, tid.y), tid.z, 2);
        old.x <- t_1.x;
        old.y <- t_1.y;
        A[0] <- int(old.y > 2.0f);""",
    # what a reference is made to is no use of it
    "cuda::atomic_ref<unsigned, cuda::thread_scope_device>(U[n]).fetch_add(A[n]);": """\
        v <- A[n] & 4294967295;
        U[n] <- U[n] + v;""",
    # an access each, also where nobody uses the value
    "cuda::atomic_ref<int, cuda::thread_scope_block> r(A[n]); r.fetch_add(2, cuda::memory_order_relaxed); r.load(); "
    "r.store(n); int x = r; r = 5; r.exchange(7); ++r; A[1] = x;": """\
        v <- 2;
        A[n] <- A[n] + v;
        t <- A[n];
        v_1 <- n;
        A[n] <- v_1;
        x <- A[n];
        v_2 <- 5;
        A[n] <- v_2;
        v_3 <- 7;
        A[n] <- v_3;
        A[n] <- A[n] + 1;
        A[1] <- x;""",
    "P->fetch_max(n); P[n] += 3; if (P->load() > 3) (*P)--;": """\
        v <- n;
        P.__w_value[0] <- max(P.__w_value[0], v);
        v_1 <- 3;
        P.__w_value[n] <- P.__w_value[n] + v_1;
        if (P.__w_value[0] > 3) {
          P.__w_value[0] <- P.__w_value[0] - 1;
        }""",
    "__shared__ cuda::atomic<unsigned, cuda::thread_scope_block> s; s.fetch_or(1u); "
    "cuda::std::atomic_ref<int> r{A[2]}; r.fetch_sub(1); "
    "cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);": """\
        v <- 1;
        s.__w_value[0] <- s.__w_value[0] | v;
        v_1 <- 1;
        A[2] <- A[2] - v_1;""",
    # a weak exchange that fails says what was there
    "int old = 3; cuda::atomic_ref<int> r(A[0]); if (r.compare_exchange_weak(old, n)) A[1] = old;": """\
        old <- 3;
        v <- n;
        v_1 <- v;
        A[0] <- int(__w_atomic_cas(as_double(A[0]), old, v_1));
        old_1 <- int(__w_atomic_cas(__w_atomic_cas(0.0, tid.x, tid.y), tid.z, 1));
        same <- old_1 == old;
        old <- old_1;
        if (same) {
          A[1] <- old;
        }""",
    "__nv_atomic_fetch_add(A, n, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); "
    "A[1] = __nv_atomic_load_n(A + n, __NV_ATOMIC_RELAXED);": """\
        v <- n;
        A[0] <- A[0] + v;
        A[1] <- A[n];""",
}


@pytest.mark.parametrize("body", CASES)
def test_contents(read: Read, body: str) -> None:
    assert show_stmt(read(kernel(body)).kernel.body) == dedent(CASES[body])


def test_what_is_assumed(read: Read) -> None:
    collisions = "is a read and a write of one lock-step instruction: collisions of lanes are not counted"
    assert read(kernel("atomicAdd_block(A, 1);")).notes == (f"atomicAdd_block {collisions}",)
    assert f"an atomic function {collisions}" in read(kernel("P->fetch_add(1);")).notes


def test_refused(refused: Refused) -> None:
    refused(kernel("int x = 0; cuda::atomic_ref<int> r(x);"), "of a variable of one thread is not supported")
    refused(kernel("P->wait(3);"), "waiting for an atomic to change is not supported, in 'wait'")


@pytest.mark.parametrize(
    ("call", "each"), [("atomicAdd(c, 1)", 2), ("clock64()", 0), ("__shfl_down_sync(~0u, i, 1)", 0)]
)
def test_two_turns_may_give_different_values(
    call: str, each: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A value of which nothing is known is one term in the program: no condition may say that it is the same again. The
    write in the second turn takes a sector a lane, and is paid for."""
    source = f"""__global__ void k(int *A, int *c) {{
        long long before = 0;
        for (int i = 0; i < 2; i++) {{
            long long v = {call};
            if (i == 1 && v != before) A[64 * threadIdx.x] = 1;
            before = v;
        }}
    }}"""
    (tmp_path / "k.cu").write_text(source)
    assert main(["bound", str(tmp_path / "k.cu"), "--metric", "sectors", "--block", "32", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert int(row["bound"]) >= 32 + 2 * each


def test_a_function_for_devices_without_one_is_left_out(read: Read) -> None:
    """Those of the half precision came later than sources that have their own."""
    own = "__device__ void atomicAdd(half *p, half v) { while (*p != v) *p = v; }"
    text = f"{HEAD}#if __CUDA_ARCH__ < 700\n{own}\n#endif\n__global__ void k(half *H) {{ atomicAdd(H, half(2)); }}"
    assert "while" not in show_stmt(read(text).kernel.body)
