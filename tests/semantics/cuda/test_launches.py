"""Launches and template instances."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading

Read = Callable[..., Reading]

K = "__global__ void k(int *A) { A[0] = 1; }\n__global__ void k2(int *A) { A[0] = 1; }\n"


@pytest.mark.parametrize(
    ("host", "block"),
    [
        ("k<<<1, 256>>>(0);", (256, 1, 1)),
        ("k<<<n, N * 2>>>(0);", (6, 1, 1)),
        ("dim3 b(8, N); k<<<g, b>>>(0);", (8, 3, 1)),
        ("k<<<g, dim3(4, 5, 6), 128>>>(0);", (4, 5, 6)),
        ("dim3 b = dim3(3, 3); foo(); std::cout << 1; k<<<1, b>>>(0);", (3, 3, 1)),
        ("dim3 b; b.x = 4; b.y = 2; k<<<1, b>>>(0);", (4, 2, 1)),
        ("dim3 b(3), c(b); k<<<1, c>>>(0);", (3, 1, 1)),
        ("const int t = 32; k<<<1, t>>>(0);", (32, 1, 1)),
        ("k<<<1, 32>>>(0); k<<<2, 32>>>(0); k2<<<1, 64>>>(0);", (32, 1, 1)),
        ("k<<<1, 32>>>(0); k<<<1, 64>>>(0);", None),
        ("k2<<<1, 64>>>(0);", None),
        ("k<<<1, n>>>(0);", None),
        ("int t = 32; k<<<1, t>>>(0);", None),
        ("dim3 b(n); k<<<1, b>>>(0);", None),
        ("dim3 b(0); k<<<1, b>>>(0);", None),
        ("dim3 b(4); if (n) b.x = 5; k<<<1, b>>>(0);", None),
        ("dim3 b(4); k<<<1, b>>>(0); b.x = 5;", None),
        ("dim3 b(4); b.x = 2; b.x = 3; k<<<1, b>>>(0);", None),
        ("dim3 b(4); b.x *= 2; k<<<1, b>>>(0);", None),
        ("dim3 b(4); b = dim3(5); k<<<1, b>>>(0);", None),
        ("dim3 b(4); set(b); k<<<1, b>>>(0);", None),
        ("dim3 b(4); point(&b); k<<<1, b>>>(0);", None),
        ("k<<<1, unknown>>>(0);", None),
        ("dim3 b = 64; k<<<1, (b)>>>(0);", (64, 1, 1)),
        ("dim3 a(1), c(32); k<<<1, n ? a : c>>>(0);", None),
        ("dim3 b = n ? dim3(1) : dim3(64); k<<<1, b>>>(0);", None),
        ("k<<<1, twice(dim3(1))>>>(0);", None),
        ("k<<<1, shared>>>(0);", None),
        ("k<<<1, given>>>(0);", None),
        ("dim3 b(1); dim3 &r = b; r.x = 32; k<<<1, b>>>(0);", None),
        ("dim3 b(1); dim3 *p = &b; p->x = 32; k<<<1, b>>>(0);", None),
        ("dim3 b(1); auto l = [&]() { b.x = 64; }; l(); k<<<1, b>>>(0);", None),
        ("static dim3 b(1); k<<<1, b>>>(0);", None),
        ("dim3 b(4); (b).x = 5; k<<<1, b>>>(0);", (5, 1, 1)),
        ("dim3 b(4); set((b)); k<<<1, b>>>(0);", None),
        ("dim3 b(4); if (n) goto l; b.x = 8; l: k<<<1, b>>>(0);", None),
        ("k<<<1, 1>>>(0); (k)<<<1, 64>>>(0);", None),
        ("k<<<1, 1>>>(0); auto f = k; f<<<1, 64>>>(0);", None),
        ("auto l = []() { k<<<1, 64>>>(0); }; k<<<1, 1>>>(0); l();", None),
        ("struct S { void go() { k<<<1, 64>>>(0); } }; k<<<1, 1>>>(0);", None),
    ],
)
def test_block(read: Read, host: str, block: tuple[int, int, int] | None) -> None:
    head = "#include <iostream>\n#define N 3\nvoid set(dim3 &);\nvoid point(dim3 *);\n"
    head += "dim3 twice(dim3 d) { d.x *= 2; return d; }\ndim3 shared(1);\n"
    assert read(f"{head}{K}void h(int n, dim3 g, dim3 given = dim3(1)) {{ {host} }}\n", "k").block == block


@pytest.mark.parametrize(
    "more", ["struct S { void go() { k<<<1, 64>>>(0); } };", "struct S { S() { k<<<1, 64>>>(0); } };"]
)
def test_launches_in_methods_count(read: Read, more: str) -> None:
    assert read(f"{K}void h() {{ k<<<1, 1>>>(0); }}\n{more}\n", "k").block is None


@pytest.mark.parametrize(
    ("host", "grid"),
    [
        ("k<<<12, 256>>>(0);", (12, 1, 1)),
        ("dim3 g(8, N); k<<<g, 32>>>(0);", (8, 3, 1)),
        ("k<<<1, 32>>>(0); k<<<1, 64>>>(0);", (1, 1, 1)),
        ("k<<<1, 32>>>(0); k<<<2, 32>>>(0);", None),
        ("k<<<n, 32>>>(0);", None),
        ("k2<<<4, 64>>>(0);", None),
    ],
)
def test_grid(read: Read, host: str, grid: tuple[int, int, int] | None) -> None:
    assert read(f"#define N 3\n{K}void h(int n) {{ {host} }}\n", "k").grid == grid


T = "template <class T, int K> __global__ void k(T *a, int n) { a[n] = K * 2; if (K >= 512) a[0] = n; }\n"


def test_instances(read: Read) -> None:
    assert show_stmt(read(T, instantiate="k<float,256>").kernel.body) == "a[n] <- 512.0f;"
    assert show_stmt(read(T, instantiate="k<int, 512>").kernel.body) == "a[n] <- 1024;\na[0] <- n;"
    used = read(T + "void h() { k<double, 4><<<1, dim3(16, 16)>>>(0, 1); }")
    assert show_stmt(used.kernel.body) == "a[n] <- 8.0;"
    assert used.block == (16, 16, 1)
    assert used.notes[0] == "the kernel is the instance k<double, 4> of a template"
    assert used.kernel.name == "k"
    for written in ("k<float, 8>", "k < float, 8 >"):
        told = read(T + f"template __global__ void {written}(float *, int);")
        assert show_stmt(told.kernel.body) == "a[n] <- 16.0f;"
        assert told.notes[0] == f"the kernel is the instance {written} of a template"


@pytest.mark.parametrize(
    ("text", "instance", "message"),
    [
        (T, None, "the kernel 'k' is a template with no instance in this file"),
        (
            T
            + "// template __global__ void k<int, 4>(int *, int);\n"
            + "/*\ntemplate __global__ void k<int, 4>(int *, int);*/",
            None,
            "the kernel 'k' is a template with no instance in this file",
        ),
        (
            T + "#if 0\ntemplate __global__ void k<int, 4>(int *, int);\n#endif\n",
            None,
            "the kernel 'k' is a template with no instance in this file",
        ),
        (
            T + "template __global__ void k<int, 4>(int *, int); template __global__ void k<int, 5>(int *, int);",
            None,
            "the kernel 'k' is a template with several instances in this file",
        ),
        (
            T + "void h() { k<int, 4><<<1, 1>>>(0, 1); k<int, 5><<<1, 1>>>(0, 1); }",
            None,
            "the kernel 'k' is a template with several instances in this file",
        ),
        (
            T + "template __global__ void k<int, 4>(int *, int);\n  template __global__ void k<int, 5>(int *, int);\n",
            None,
            "the kernel 'k' is a template with several instances in this file",
        ),
        (
            T
            + "template <int K> void go() { k<int, K><<<1, 1>>>(0, 1); }\n"
            + "void h() { k<int, 4><<<1, 1>>>(0, 1); go<5>(); }",
            None,
            "the kernel 'k' is a template with several instances in this file",
        ),
        (
            T
            + "namespace m { struct C { void h() { k<int, 5><<<1, 1>>>(0, 1); } }; }\n"
            + "void h() { k<int, 4><<<1, 1>>>(0, 1); }",
            None,
            "the kernel 'k' is a template with several instances in this file",
        ),
        (T, "j<float>", "there is no kernel 'j' in"),
        (T, "k<float>", "cannot instantiate 'k<float>'"),
        (T, "k<float,2>; int z", "'k<float,2>; int z' is no template instance"),
    ],
)
def test_bad_instance(read: Read, text: str, instance: str | None, message: str) -> None:
    with pytest.raises(CudaError) as caught:
        read(text, instantiate=instance)
    assert caught.value.message.startswith(message)


def test_the_instance_that_is_advised_can_be_read(read: Read) -> None:
    text = "template <typename T, int K, bool B> __global__ void k(T *a) { if (B) a[0] = K; }"
    with pytest.raises(CudaError) as caught:
        read(text)
    assert caught.value.advice == "Choose one, such as --instantiate 'k<float,256,true>'."
    assert read(text, instantiate="k<float,256,true>").kernel.name == "k"
