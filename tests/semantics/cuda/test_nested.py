"""Kernels that kernels launch: a launch is one operator on its arguments, and what is launched is read by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading

Reader = Callable[..., Reading]

BEFORE = """struct P { int x; float y; };
__global__ void plain(int *A, int n) { int i = threadIdx.x; if (i < n) A[i] = i; }
__global__ void of(P p, int *A) { A[0] = p.x; }
__global__ void none() { }
template <class T> __global__ void fill(T *A, T v) { A[threadIdx.x] = v; }
__device__ void start(int *A, int n) { if (n > 3) plain<<<1, n>>>(A, n); }
"""

LOWERED = {
    "if (threadIdx.x == 0) plain<<<1, 32>>>(A, n); A[n] = 1;": [
        "if (tid.x == 0) {", "  t <- int(launch(launch(0.0, 1, 32), n));", "}", "A[n] <- 1;",
    ],
    "plain <<< n , dim3(8, 2), 0, s >>> ( A + n, n - 1 );": [
        "t <- int(launch(launch(launch(launch(0.0, n, 8), 2, 1), 0, n), n - 1));",
    ],
    "P p = {n, 1.f}; of<<<1, 1>>>(p, A); none<<<1, 2>>>(); none<<<1, 2>>>( );": [
        "p.x <- n;", "p.y <- 1.f;", "t <- int(launch(launch(0.0, 1, 1), p.x, p.y));",
        "t_1 <- int(launch(0.0, 1, 2));", "t_2 <- int(launch(0.0, 1, 2));",
    ],
    "fill<float><<<n, 64>>>(F, 2.f); fill<<<1, 1>>>(F, 2.f);": [
        "t <- int(launch(launch(0.0, n, 64), 2.f));", "t_1 <- int(launch(launch(0.0, 1, 1), 2.f));",
    ],
    "start(A, n); cudaDeviceSynchronize();": [
        "n_1 <- n;", "if (n_1 > 3) {", "  t <- int(launch(launch(0.0, 1, n_1), n_1));", "}",
    ],
    "cudaStream_t q; cudaStreamCreateWithFlags(&q, 1); none<<<1, 1, 0, q>>>(); cudaStreamDestroy(q);": [
        "t <- int(launch(launch(0.0, 1, 1), 0));",
    ],
    "for (int i = 0; i < n; i++) plain<<<A[i], 32>>>(A, i);": [
        "i <- 0;", "while (i < n) {", "  t <- int(launch(launch(0.0, A[i], 32), i));", "  i <- i + 1;", "}",
    ],
}  # fmt: skip


def kernel(body: str) -> str:
    return f"{BEFORE}__global__ void k(int *A, float *F, int n, cudaStream_t s) {{ {body} }}\n"


@pytest.mark.parametrize("body", LOWERED)
def test_contents(read: Reader, body: str) -> None:
    found = read(kernel(body), "k")
    assert show_stmt(found.kernel.body).splitlines() == LOWERED[body]
    assert any("the kernel that is launched is one of its own" in note for note in found.notes)


def test_a_kernel_that_launches_itself(read: Reader) -> None:
    text = "__global__ void k(int *A, int n) { if (n > 0) k<<<1, 32>>>(A + n, n / 2); A[threadIdx.x] = n; }"
    assert show_stmt(read(text, "k").kernel.body).splitlines() == [
        "if (n > 0) {", "  t <- int(launch(launch(0.0, 1, 32), n, n / 2));", "}", "A[tid.x] <- n;",
    ]  # fmt: skip


def test_the_block_of_a_kernel_that_another_one_launches_is_not_that_of_the_host(read: Reader) -> None:
    host = "void host(int *A) { k<<<1, 64>>>(A, 0, 3, 0); plain<<<3, 64>>>(A, 3); }\n"
    found = read(f"{kernel('plain<<<1, 32>>>(A, n);')}{host}", "plain")
    assert found.block is None
    assert read(f"{kernel('plain<<<1, 32>>>(A, n);')}{host}", "k").block == (64, 1, 1)
    apart = BEFORE.replace("plain<<<1, n>>>(A, n)", "A[0] = 1")
    assert read(f"{apart}void host(int *A) {{ plain<<<3, 64>>>(A, 3); }}\n", "plain").block == (64, 1, 1)


REFUSED = {
    "plain<<<1, 32>>>(A, n) + 1;": "",
    "plain<<<1, 32>>>(A;": "",
    "missing<<<1, 32>>>(A, n);": "use of undeclared identifier 'missing'",
    "A[0] = n++ - (none<<<n, n>>>(), n++);": "",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    declared = "static __global__ void none(); static __global__ void plain(int *, int);"
    refused(f"{declared}\n__global__ void k(int *A, int n) {{ {body} }}", REFUSED[body])
