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
        "void f(float *A, int C, int b) { dim3 B(b); k<<<C, b>>>(A, C, B.x); }",
        "void f(float *A, int C) { int t = t; k<<<C, t>>>(A, C, t); }",
        "void f(float *A, int C) { dim3 B = B; k<<<C, B>>>(A, C, B.x); }",
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
        "void f(float *A, int C, int b) { goto here; here: k<<<C, b>>>(A, C, b); }",
        "dim3 g(int, int, int); void f(float *A, int C, int b) { k<<<C, g(b, 1, 1)>>>(A, C, b); }",
        "struct S { int &x; }; void f(float *A, int C, int &b) { S s{b}; dim3 B(s.x); b = 2; k<<<C, B>>>(A, C, s.x); }",
        "typedef lost T; void f(float *A, int C, int b) { k<<<C, (T)b>>>(A, C, b); }",
        "void f(float *A, int C) { extern int b; dim3 B(b); g(); k<<<C, B>>>(A, C, b); }",
        "void f(void **p, int C, int b) { cudaLaunchKernel((void *)k, C, b, p, 0, 0); }",
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


def test_nor_is_one_whose_value_no_loop_asks_for(read: Read) -> None:
    kernel = "__global__ void k(float *A, int C, int n) { int s = n; for (int i = 0; i < C; i++) A[i] = s; }\n"
    assert sized(read, "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, b); }", kernel) == []


def test_an_argument_that_is_left_to_its_default(read: Read) -> None:
    launches = "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, b); k<<<C, b>>>(A, C); }"
    assert sized(read, launches, KERNEL.replace("int n)", "int n = 8)")) == []


def test_a_launch_that_is_another_one_for_the_host(read: Read) -> None:
    """Which launches it: what the file is for the device says nothing of that."""
    sizes = "#ifdef __CUDA_ARCH__\n#define SIZE b\n#else\n#define SIZE 2 * b\n#endif\n"
    assert sized(read, f"{sizes}void f(float *A, int C, int b) {{ k<<<C, SIZE>>>(A, C, b); }}") == []


def test_one_of_several_parameters_of_one_name(read: Read) -> None:
    """Those of a pack."""
    kernel = KERNEL.replace("__global__", "template <class... T> __global__").replace("int n", "T... n")
    host = "void f(float *A, int C, int b) { k<<<C, b>>>(A, C, 2, b); }"
    assert sized(read, host, kernel.replace("i += n", "i += (n + ...)")) == []
