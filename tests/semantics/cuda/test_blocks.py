"""Parameters that are the size of the block that they are launched with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logic.syntax import show
from semantics.cuda import Reading

Read = Callable[..., Reading]

KERNEL = """
__global__ void k(float *A, int C, int n) {
    for (int i = threadIdx.x; i < C; i += n) A[i] = 0;
}
"""


def sized(read: Read, host: str, kernel: str = KERNEL) -> list[str]:
    return [show(e) for e in read(f"{kernel}{host}", "k").sized]


@pytest.mark.parametrize(
    "host",
    [
        "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, b); }",
        "void f(float *A, int C, const int b) { k<<<C, (b)>>>(A, C, (int)b); }",
        "void f(float *A, int C, unsigned b) { dim3 B(b); k<<<dim3(C), B>>>(A, C, b); }",
        "void f(float *A, int C, int b) { dim3 B(b, 4); k<<<dim3(C), B>>>(A, C, B.x); }",
        "void f(float *A, int C, int b) { const int t = b; k<<<C, t>>>(A, C, b); k<<<1, C>>>(A, 8, C); }",
        "void f(float *A, int C, dim3 B) { k<<<C, B>>>(A, C, B.x); }",
    ],
)
def test_a_variable_that_is_passed_as_the_block_and_as_an_argument(read: Read, host: str) -> None:
    assert sized(read, host) == ["n == blockDim.x"]


def test_the_axis_is_that_of_the_block(read: Read) -> None:
    host = "void f(float *A, int C, int b) { dim3 B(4, b); k<<<C, B>>>(A, C, B.y); }"
    assert sized(read, host) == ["n == blockDim.y"]


@pytest.mark.parametrize(
    "host",
    [
        "",
        "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, 2 * b); }",
        "void f(float *A, int C, int b) { k<<<b, C>>>(A, C, b); }",
        "void f(float *A, int C, int b) { dim3 B(b); b /= 2; k<<<C, B>>>(A, C, b); }",
        "void f(float *A, int C, int b) { dim3 B(b); B.x *= 2; k<<<C, B>>>(A, C, b); }",
        "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, b++); }",
        "void g(int &); void f(float *A, int C, int b) { dim3 B(b); g(b); k<<<C, B>>>(A, C, b); }",
        "void f(float *A, int C, int &b) { k<<<C, b>>>(A, C, b); }",
        "void f(float *A, int C, volatile int b) { k<<<C, b>>>(A, C, b); }",
        "void f(float *A, int C, long long b) { k<<<C, b>>>(A, C, b); }",
        "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, (char)b); }",
        "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, b); k<<<C, b>>>(A, C, 32); }",
        "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, b); k<<<C, 64>>>(A, C, b); }",
        "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, b); auto p = &k; use(p); }",
        "int b; void f(float *A, int C) { k<<<C, b>>>(A, C, b); }",
        "void f(float *A, int C) { static int b; b = C; k<<<C, b>>>(A, C, b); }",
        "void f(float *A, int C, int b) { static int t = b; k<<<C, t>>>(A, C, b); }",
        "void f(float *A, int C, int b) { thread_local int t = b; k<<<C, t>>>(A, C, b); }",
        "void f(float *A, int C, int b) { thread_local dim3 B(b); k<<<C, B>>>(A, C, b); }",
    ],
)
def test_what_may_be_another_size(read: Read, host: str) -> None:
    assert sized(read, host) == []


def test_a_parameter_that_no_loop_counts_by_is_any_number(read: Read) -> None:
    """A claim about it would say less."""
    kernel = "__global__ void k(float *A, int n) { if (threadIdx.x < n) A[threadIdx.x] = 0; }\n"
    assert sized(read, "void f(float *A, int n) { k<<<1, n>>>(A, n); }", kernel) == []
