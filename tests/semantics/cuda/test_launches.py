"""Launches and template instances."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading

Read = Callable[..., Reading]

ROW = (None, 1, 1)
"""The block of a launch with an integer that is no constant."""

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
        ("dim3 b, g; b.x = 4; b.y = b.z = g.x = 2; k<<<g, b>>>(0);", (4, 2, 2)),
        ("dim3 b(4); unsigned u; u = b.x = 5; k<<<1, b>>>(0);", (5, 1, 1)),
        ("dim3 b(4, 4); char c; b.x = c = 300; k<<<1, b>>>(0);", (None, 4, 1)),
        ("dim3 b(4, 4); struct { unsigned v : 4; } s; b.x = s.v = 300; k<<<1, b>>>(0);", None),
        ("dim3 b(4, 4); struct { unsigned v; } s; b.x = s.v = 300; k<<<1, b>>>(0);", (300, 4, 1)),
        ("dim3 b(4); struct { unsigned v : 4; } s; auto &[v] = s; b.x = v = 300; k<<<1, b>>>(0);", None),
        ("dim3 b(4); struct { unsigned v : 4; } s; b.x = (n ? s.v : s.v) = 300; k<<<1, b>>>(0);", None),
        ("dim3 b(4); (b.x = 5) = 6; k<<<1, b>>>(0);", None),
        ("dim3 b(4), g; if (n) g.x = b.x = 5; k<<<1, b>>>(0);", None),
        ("dim3 b(4); b.x = b.x = 5; k<<<1, b>>>(0);", None),
        ("dim3 b(4); int v[9]; v[b.x = 5] = b.y = 2; k<<<1, b>>>(0);", None),
        ("dim3 b(3), c(b); k<<<1, c>>>(0);", (3, 1, 1)),
        ("const int t = 32; k<<<1, t>>>(0);", (32, 1, 1)),
        ("k<<<1, 32>>>(0); k<<<2, 32>>>(0); k2<<<1, 64>>>(0);", (32, 1, 1)),
        ("k<<<1, 32>>>(0); k<<<1, 64>>>(0);", ROW),
        ("dim3 g(2), b(8, N); void *a[1]; cudaLaunchKernel((const void *)k, g, b, a, 0, 0);", (8, 3, 1)),
        ("cudaLaunchCooperativeKernel((void *)&k, 4, 128, 0, 0, 0); k2<<<1, 64>>>(0);", (128, 1, 1)),
        ("cudaLaunchKernel(reinterpret_cast<void *>(k), n, dim3(64), 0, 0, 0); k<<<1, 64>>>(0);", (64, 1, 1)),
        ("cudaLaunchKernel((void *)k2, 4, 32, 0, 0, 0); k<<<1, 64>>>(0);", (64, 1, 1)),
        ("cudaLaunchKernel((void *)k, 4, 32, 0, 0, 0); k<<<1, 64>>>(0);", ROW),
        ("cudaLaunchKernel((void *)k, 4, n, 0, 0, 0);", ROW),
        ("cudaLaunchKernel((void *)k, 4, 32, 0, 0, unknown);", None),
        ("void *p = (void *)k; cudaLaunchKernel(p, 4, 32, 0, 0, 0); k<<<1, 64>>>(0);", ROW),
        ("cudaLaunchKernel(n ? (void *)k : (void *)k2, 4, 32, 0, 0, 0); k<<<1, 64>>>(0);", None),
        ("dim3 b(4); cudaLaunchKernel((void *)k, b, b, 0, 0, 0); b.x = 5;", None),
        ("k2<<<1, 64>>>(0);", None),
        ("k<<<1, n>>>(0);", ROW),
        ("int t = 32; k<<<1, t>>>(0);", (32, 1, 1)),
        ("int t = t; k<<<1, t>>>(0);", ROW),
        ("dim3 b = b; k<<<1, b>>>(0);", None),
        ("int t = 32; k<<<1, dim3(t, t / t)>>>(0);", (32, None, 1)),
        ("dim3 b(n, 4); k<<<1, b>>>(0); k<<<1, dim3(16, 4, n)>>>(0);", (None, 4, None)),
        ("char t = 32; k<<<1, t>>>(0);", ROW),
        ("static int t = 32; k<<<1, t>>>(0);", ROW),
        ("dim3 b(n); k<<<1, b>>>(0);", ROW),
        ("dim3 b(0); k<<<1, b>>>(0);", ROW),
        ("dim3 b(4); if (n) b.x = 5; k<<<1, b>>>(0);", None),
        ("dim3 b(4); k<<<1, b>>>(0); b.x = 5;", None),
        ("dim3 b(4); b.x = 2; b.x = 3; k<<<1, b>>>(0);", None),
        ("dim3 b(4); b.x *= 2; k<<<1, b>>>(0);", None),
        ("dim3 b; b.x = N; b.y = n ? 2 : lost(n); k<<<1, b>>>(0);", (3, None, 1)),
        ("dim3 b(4); b.x = n; b.x = 5; k<<<1, b>>>(0);", None),
        ("dim3 b(N); cudaLaunchConfig_t c; c.blockDim = b; k<<<1, b>>>(0);", (3, 1, 1)),
        ("dim3 b(N), c; c = b; (c = b).x = 5; k<<<1, b>>>(0);", (3, 1, 1)),
        ("dim3 b(N), c;\n#define SET b = c\nSET; k<<<1, b>>>(0);", None),
        ("dim3 b(N), c; (b = c).x = 5; k<<<1, b>>>(0);", None),
        ("dim3 b(4); b = dim3(5); k<<<1, b>>>(0);", (5, 1, 1)),
        ("dim3 b(N);\n#define GO(g) k<<<g, b>>>(0)\nGO(1); if (n) GO(2);", (3, 1, 1)),
        ("int t = 32;\n#define GO k<<<t / n, t>>>(0)\nGO;", (32, 1, 1)),
        ("dim3 b(N);\n#define TO b\nk<<<1, TO>>>(0);", (3, 1, 1)),
        ("dim3 b(N);\n#define TO b\n#define ON k<<<1, TO>>>(0)\nON;", None),
        ("dim3 b(N);\n#define GO k<<<1, b>>>(0); lost::f(b)\nGO;", None),
        ("dim3 b(N);\n#define GO k<<<1, b>>>(0); set(b)\nGO;", None),
        ("dim3 b(N);\n#define GO b.x = 4\nGO; k<<<1, b>>>(0);", None),
        ("dim3 b(N);\n#define GO lost::dim b(5); k<<<1, b>>>(0)\n{ GO; }", None),
        ("dim3 b; b.z = 2; b = dim3(4, N); b.x = 3; k<<<1, b>>>(0);", None),
        ("dim3 b; b = dim3(4, N); b.z = 2; k<<<1, b>>>(0);", (4, 3, 2)),
        ("dim3 b; if (n) b = dim3(4, N); k<<<1, b>>>(0);", None),
        ("dim3 b; k<<<1, b>>>(0); b = dim3(4, N);", None),
        ("dim3 b, c; (n ? b : c) = dim3(4); k<<<1, b>>>(0);", None),
        ("k<<<1, Size::most>>>(0);", (32, 1, 1)),
        ("int t = std::min(n, 64); k<<<1, t>>>(0);", ROW),
        ("auto t = unknown(n); k<<<1, t>>>(0);", None),
        ("auto f = k; cudaFuncSetAttribute((void *)f, cudaFuncAttribute(8), 9); f<<<1, 64>>>(0);", (64, 1, 1)),
        ("auto f = k; f<<<1, 64>>>(0); auto q = k2; q<<<1, 32>>>(0);", (64, 1, 1)),
        ("auto f = k; f = k2; f<<<1, 64>>>(0); k<<<1, 32>>>(0);", None),
        ("auto f = n ? k : k2; f<<<1, 64>>>(0); k<<<1, 32>>>(0);", None),
        ("auto f = k; auto p = &f; *p = k2; f<<<1, 64>>>(0); k<<<1, 32>>>(0);", None),
        ("cudaLaunchConfig_t c = {}; c.gridDim = n; c.blockDim = dim3(4, N); cudaLaunchKernelEx(&c, k, 0);", (4, 3, 1)),
        ("cudaLaunchConfig_t c{dim3(n), dim3(64)}; c.numAttrs = 0; RUN(cudaLaunchKernelEx(&c, k, 0));", (64, 1, 1)),
        ("cudaLaunchConfig_t c; c.gridDim = 1; c.blockDim = 64; c.blockDim.x = n; cudaLaunchKernelEx(&c, k, 0);", None),
        ("cudaLaunchConfig_t c{1, 64}; if (n) c.blockDim = 32; cudaLaunchKernelEx(&c, k, 0);", None),
        ("cudaLaunchConfig_t c{1, 64}; auto &r = c; r.blockDim = 32; cudaLaunchKernelEx(&c, k, 0);", None),
        ("cudaLaunchConfig_t c{1, 64}; foo(&c); cudaLaunchKernelEx(&c, k, 0);", None),
        ("cudaLaunchConfig_t c{1, 64}; cudaLaunchKernelEx(&c, k, 0); c.blockDim = 32;", None),
        ("cudaLaunchConfig_t c{1, 64}; l: cudaLaunchKernelEx(&c, k, 0); goto l;", None),
        ("void *a[1]; RUN(cudaLaunchKernel(k, dim3(n), dim3(N), a, 0, 0));", (3, 1, 1)),
        ("dim3 b(N); void *a[1]; RUN(cudaLaunchKernel(k, b, b, a, 0, 0));", (3, 1, 1)),
        ("dim3 b(N); void *a[1]; TWICE(cudaLaunchKernel(k, b, b, a, 0, 0));", None),
        ("dim3 b(4); set(b); k<<<1, b>>>(0);", None),
        ("dim3 b(4); point(&b); k<<<1, b>>>(0);", None),
        ("k<<<1, unknown>>>(0);", None),
        ("dim3 b = 64; k<<<1, (b)>>>(0);", (64, 1, 1)),
        ("dim3 a(1), c(32); k<<<1, n ? a : c>>>(0);", None),
        ("dim3 b = n ? dim3(1) : dim3(64); k<<<1, b>>>(0);", None),
        ("k<<<1, twice(dim3(1))>>>(0);", None),
        ("k<<<1, shared>>>(0);", None),
        ("k<<<1, given>>>(0);", None),
        ("\n#define UP(a, b) (((a) + (b) - 1) / (b))\ndim3 b(8), c(UP(n, b.x)); k<<<c, b>>>(0);", (8, 1, 1)),
        ("dim3 b(1); dim3 &r = b; r.x = 32; k<<<1, b>>>(0);", None),
        ("dim3 b(1); dim3 *p = &b; p->x = 32; k<<<1, b>>>(0);", None),
        ("dim3 b(1); auto l = [&]() { b.x = 64; }; l(); k<<<1, b>>>(0);", None),
        ("static dim3 b(1); k<<<1, b>>>(0);", None),
        ("dim3 b(4); (b).x = 5; k<<<1, b>>>(0);", (5, 1, 1)),
        ("dim3 b(4); set((b)); k<<<1, b>>>(0);", None),
        ("dim3 b(4); if (n) goto l; b.x = 8; l: k<<<1, b>>>(0);", None),
        ("k<<<1, 1>>>(0); (k)<<<1, 64>>>(0);", None),
        ("k<<<1, 1>>>(0); auto f = k; f<<<1, 64>>>(0);", ROW),
        ("auto l = []() { k<<<1, 64>>>(0); }; k<<<1, 1>>>(0); l();", ROW),
        ("struct S { void go() { k<<<1, 64>>>(0); } }; k<<<1, 1>>>(0);", ROW),
    ],
)
def test_block(read: Read, host: str, block: tuple[int, int, int] | None) -> None:
    head = "#include <iostream>\n#define N 3\nvoid set(dim3 &);\nvoid point(dim3 *);\n"
    head += "dim3 twice(dim3 d) { d.x *= 2; return d; }\ndim3 shared(1);\n"
    head += "template <class K> void on(K f, int n, dim3 b) { f<<<n, b>>>(0); f<<<n, 7>>>(0); }\n"
    head += "struct Size { static constexpr int most = 32; };\n#define TWICE(x) { int e = (x); use(lost, x); }\n"
    head += "#define RUN(x) { int e = (x); if (e) fprintf(lost, #x); }\n"
    assert read(f"{head}{K}void h(int n, dim3 g, dim3 given = dim3(1)) {{ {host} }}\n", "k").block == block


@pytest.mark.parametrize(
    "more", ["struct S { void go() { k<<<1, 64>>>(0); } };", "struct S { S() { k<<<1, 64>>>(0); } };"]
)
def test_launches_in_methods_count(read: Read, more: str) -> None:
    assert read(f"{K}void h() {{ k<<<1, 1>>>(0); }}\n{more}\n", "k").block in (None, ROW)


def test_launches_in_methods_and_templates(read: Read) -> None:
    host = """
        struct S { int *p; void go(int n); void two(int n) { k2<<<n, 64>>>(p); } };
        void S::go(int n) { k<<<n, 128>>>(p); }
        template <class T> __global__ void t(T *x) { x[0] = 1; }
        template <class T> struct Q { T *p; void go(int n); };
        template <class T> void Q<T>::go(int n) { int size = 96; t<<<n, size>>>(p); }
        void f(Q<float> q, Q<int> r) { q.go(3); r.go(4); }"""
    sizes = {name: read(f"{K}{host}\n", name).block for name in ("k", "k2", "t<float>", "t<int>")}
    assert sizes == {"k": (128, 1, 1), "k2": (64, 1, 1), "t<float>": (96, 1, 1), "t<int>": (96, 1, 1)}


@pytest.mark.parametrize(
    "launch",
    [
        "t<<<1, sizeof(T) * 8>>>(p);",
        "int size = sizeof(T) * 8; t<<<1, size>>>(p);",
        "int size = N; t<<<1, size>>>(p);",
        "t<<<1, N>>>(p);",
        "t<T><<<1, Size<T>::is>>>(p);",
        "const int size = Size<T>::is; t<<<1, size>>>(p);",
        "if constexpr (sizeof(T) == 4) t<<<1, 32>>>(p); else t<<<1, 64>>>(p);",
        "auto f = &t<T>; f<<<1, N>>>(p);",
        "cudaLaunchConfig_t c{1, N}; cudaLaunchKernelEx(&c, t<T>, p);",
    ],
)
def test_sizes_that_depend_on_the_arguments_of_a_template(read: Read, launch: str) -> None:
    """They are known where the file has the instance of what launches."""
    head = """
        template <class T> struct Size { static const int is = 32; };
        template <> struct Size<double> { static const int is = 64; };
        template <class T> __global__ void t(T *x) { x[0] = 1; }
        """
    host = f"template <int N, class T> void go(T *p) {{ {launch} }}\n"
    use = "void f(float *a, double *b) { go<32>(a); go<64>(b); }\n"
    for name, most in (("float", 32), ("double", 64)):
        assert read(head + host + use, f"t<{name}>").block == (most, 1, 1)
    again = read(f"{head}{host}{use}void g(float *a) {{ go<96>(a); }}\n", "t<float>")
    assert again.block in (ROW, (32, 1, 1))
    if again.block == ROW:
        assert again.launches[0] == ((1, 1, 1), None)
    assert read(head + host, "t", instantiate="t<float>").block in (None, ROW)


def test_sizes_of_a_type_that_a_template_is_given(read: Read) -> None:
    host = """
        struct Wide { static constexpr int threads = 128; };
        template <class S> __global__ void t(int *A) { A[threadIdx.x] = S::threads; }
        template <class S> void go(int *A) {
          auto f = &t<S>; cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 8);
          f<<<7, S::threads>>>(A); }
        void h(int *A) { go<Wide>(A); }"""
    assert read(host, "t<Wide>").launches == (((7, 1, 1), (128, 1, 1)),)


def test_launches_that_do_not_agree(read: Read) -> None:
    """Each pair of sizes once, in the order of the text; what is no constant has none."""
    host = "k<<<1, dim3(8, 8)>>>(0); k<<<n, 32>>>(0); k<<<2, n>>>(0); k<<<1, dim3(8, 8)>>>(0); k<<<n, n>>>(0);"
    found = read(f"{K}void h(int n) {{ {host} k2<<<1, 5>>>(0); }}\n", "k")
    assert found.launches == (((1, 1, 1), (8, 8, 1)), (ROW, (32, 1, 1)), ((2, 1, 1), ROW), (ROW, ROW))
    assert read(K, "k").launches == ()


def test_launches_of_instances(read: Read) -> None:
    host = (
        "template <int N> __global__ void t(int *A) { A[0] = N; }\nvoid h() { t<8><<<1, 8>>>(0); t<16><<<2, 16>>>(0); }"
    )
    assert read(host, "t", instantiate="t<16>").launches == (((2, 1, 1), (16, 1, 1)),)


ODD = """#include <iostream>
#include "helper.h"
#include <vector>
#define N 3
#define CFG b.y = 1; if (n) b.x = 16
#define SET b.x = 64
#define SWAP lib::swap(b, d)
#define RUN(launch) launch; lib::swap(b, d)
#define HIDE lib::size T = 64
#define LAUNCH(f, ...) f<<<1, 64>>>(__VA_ARGS__)
#define TWO(f, a) f<<<1, 32>>>(0); f<<<1, 64>>>(a)
#define BOTH(size) k<<<1, size>>>(0); lib::swap(size, d)
#define MORE(size) k<<<1, size>>>(0); std::cin >> size.x; lost
#define PASTE(p, q) p##q
namespace std { template <class T> struct box { T &r; }; }
typedef std::complex<float> pair;
struct Pair { std::complex<float> x; };
enum { WIDTH = lib::WIDTH, HALF };
struct From : dim3 { From(dim3 d) : dim3(64) {} };
const int T = 32;
void put(int &);
void see(const int &);
"""


@pytest.mark.parametrize(
    "host",
    [
        # what clang leaves out
        "std::cin >> b.x; k<<<1, b>>>(0);",
        "std::cin >> b.x >> b.y; k<<<1, b>>>(0);",
        "lib::swap(b, d); k<<<1, b>>>(0);",
        "std::tie(b.x, b.y) = std::pair(64, 1); k<<<1, b>>>(0);",
        "configure(b); k<<<1, b>>>(0);",
        "configure(b.x); k<<<1, b>>>(0);",
        "std::vector<int> v; k<<<1, 64>>>(v.data()); k<<<1, 32>>>(0);",
        "std::vector<int> v; for (int t : v) k<<<1, t>>>(0); k<<<1, 32>>>(0);",
        "std::vector<int> v; (k)<<<1, 64>>>(v.data()); k<<<1, 32>>>(0);",
        "lib::vector<int> v; LAUNCH(k, v.data()); k<<<1, 32>>>(0);",
        "lib::vector<int> v; TWO(k, v.data()); k<<<1, 32>>>(0);",
        "std::vector<int> v; lib::fn f = k; f<<<1, 64>>>(v.data()); k<<<1, 32>>>(0);",
        "auto f = std::ref(k); k<<<1, 32>>>(0);",
        "k<<<1, 32>>>(0); lib::launch(k, 1, 64);",
        "lib::size T = 64; k<<<1, T>>>(0);",
        "lib::size T = 64; dim3 c(T); k<<<1, c>>>(0);",
        "lib::size T = 64; dim3 c; c.x = T; k<<<1, c>>>(0);",
        "lib::size T = 64; const int t = T; k<<<1, t>>>(0);",
        "HIDE; k<<<1, T>>>(0);",
        "k<<<1, 8 * sizeof(pair)>>>(0);",
        "k<<<1, 8 * sizeof(Pair)>>>(0);",
        "k<<<1, HALF>>>(0);",
        "const int t = 8 * sizeof(pair); k<<<1, t>>>(0);",
        "{ lib::dim b(64); k<<<1, b>>>(0); }",
        "SWAP; k<<<1, b>>>(0);",
        "RUN(k<<<1, b>>>(0)); k<<<1, b>>>(0);",
        "BOTH(b); k<<<1, b>>>(0);",
        "for (;;) { MORE(b); }",
        "\n#define ALSO(b) k<<<1, b>>>(0); lib::swap(b, d)\nALSO(b); k<<<1, b>>>(0);",
        "\n#define LOST(b) lib::swap(b, d)\nLOST(b); k<<<1, b>>>(0);",
        "\n#define L(b) (b)\n#undef L\n#define L(c) lib::swap(b, c)\nL(d); k<<<1, b>>>(0);",
        "\n#define L (b)\nlib::swap L; k<<<1, b>>>(0);",
        "\n#define L(c) lib::swap(b, c)\nL(d); k<<<1, b>>>(0);",
        "lib::swap(PASTE(, b), d); k<<<1, b>>>(0);",
        'dim3 c(32);\n#include "sizes.h"\nk<<<1, c>>>(0);',
        '_Pragma("omp parallel for") EACH(i, n) b.x = 64; k<<<1, b>>>(0);',
        "UNLESS(n) b.x = 64; k<<<1, b>>>(0);",
        "UNLESS(n) b = dim3(64); k<<<1, b>>>(0);",
        # what changes a variable by another name
        "auto &[x, y, z] = b; x = 64; k<<<1, b>>>(0);",
        "(n > 1 ? b : d).x = 64; k<<<1, b>>>(0);",
        "(n > 1 ? b.x : d.x) = 64; k<<<1, b>>>(0);",
        "static_cast<dim3 &>(b).x = 64; k<<<1, b>>>(0);",
        "((dim3 &)b).x = 64; k<<<1, b>>>(0);",
        "(n, b).x = 64; k<<<1, b>>>(0);",
        "struct S { dim3 &r; } t{b}; t.r.x = 64; k<<<1, b>>>(0);",
        "std::box<dim3> t{b}; t.r.x = 64; k<<<1, b>>>(0);",
        "dim3 &&r = (dim3 &&)b; r.x = 64; k<<<1, b>>>(0);",
        "const dim3 &r = b; const_cast<dim3 &>(r).x = 64; k<<<1, b>>>(0);",
        "const unsigned &r = b.x; const_cast<unsigned &>(r) = 64; k<<<1, b>>>(0);",
        "volatile unsigned &r = b.x; r = 64; k<<<1, b>>>(0);",
        "new (&b) dim3(64); k<<<1, b>>>(0);",
        'asm("" : "=r"(b.x)); k<<<1, b>>>(0);',
        # statements that macros make
        "CFG; k<<<1, b>>>(0);",
        "SET; k<<<1, b>>>(0);",
        # numbers that are not what they are declared as
        "int t = 32; t++; k<<<1, t>>>(0);",
        "int t = 32; t += 32; k<<<1, t>>>(0);",
        "int t = 32; put(t); k<<<1, t>>>(0);",
        "int t = 32; see(t); k<<<1, t>>>(0);",
        "int t = 32; lost(t); k<<<1, t>>>(0);",
        "int t = 32; std::cin >> t; k<<<1, t>>>(0);",
        "int t = 32, *p = &t; k<<<1, t>>>(0);",
        "int t = 32; int &r = t; k<<<1, t>>>(0);",
        "int t = 32; auto f = [&t] { t = 64; }; k<<<1, t>>>(0);",
        "int t = 32; auto f = [&] { t = 64; }; k<<<1, t>>>(0);",
        "int t = 32; { lib::size t = 64; k<<<1, t>>>(0); }",
        "volatile int t = 32; k<<<1, t>>>(0);",
        "int t = n; k<<<1, t>>>(0);",
        # values of another time or type
        "dim3 c(b); b.x = 64; k<<<1, c>>>(0);",
        "k<<<1, From(dim3(32))>>>(0);",
        "#ifdef __CUDA_ARCH__\nk<<<1, 32>>>(0);\n#else\nk<<<1, 64>>>(0);\n#endif\n",
    ],
)
def test_a_block_that_may_be_another(read: Read, host: str) -> None:
    found = read(f"{ODD}{K}void h(int n) {{ dim3 b(32), d(64);\n{host} }}\n", "k", std="c++17")
    assert found.block in (None, ROW)
    plain = {(int(n), 1, 1) for n in re.findall(r"k<<<1, (\d+)>>>", host)}
    assert {block for _, block in found.launches} - {None, ROW} <= plain


def test_the_same_block_where_nothing_is_odd(read: Read) -> None:
    assert read(f"{ODD}{K}void h(int n) {{ dim3 b(T), d(64); k<<<1, b>>>(0); }}", "k", std="c++17").block == (32, 1, 1)


@pytest.mark.parametrize(
    "other",
    [
        "#ifdef __CUDA_ARCH__\n#define T 8\n#else\n#define T 64\n#endif\n",
        "#if !__CUDA_ARCH__\nconst int T = 64;\n#else\nconst int T = 8;\n#endif\n",
        "#define DEVICE defined(__CUDA_ARCH__)\n#if DEVICE\nenum { T = 8 };\n#else\nenum { T = 64 };\n#endif\n",
        "const int T = sizeof(long  double);\n",
        "const int T = __SIZEOF_LONG_DOUBLE__;\n",
        "const int T = sizeof(1.0L);\n",
        "#define L long\nconst int T = sizeof(L double);\n",
        '#define I "t.cuh"\n#include I\n',
        "auto q = 1e0l;\nconst int T = sizeof(q);\n",
        "typedef double long ld;\nconst int T = sizeof(ld);\n",
        "const int T = sizeof(long/**/double);\n",
        "const int T = sizeof(long \\\ndouble);\n",
        "const int T = __BIGGEST_ALIGNMENT__;\n",
        "const int T = __DECIMAL_DIG__ > 17 ? 128 : 64;\n",
        "#define CAT(a, b) a##b\n#define C2(a, b) CAT(a, b)\nconst int T = C2(__CUDA_, ARCH__) + 0 ? 64 : 128;\n",
        "#ifdef __NVPTX__\nconst int T = 64;\n#else\nconst int T = 128;\n#endif\n",
        "#ifdef __PTX__\nconst int T = 64;\n#else\nconst int T = 128;\n#endif\n",
        "#ifdef __SIZEOF_FLOAT80__\nconst int T = 128;\n#else\nconst int T = 64;\n#endif\n",
        '#include "t.cuh"\n',
    ],
)
def test_constants_that_are_others_on_the_host(read: Read, other: str, tmp_path: Path) -> None:
    (tmp_path / "t.cuh").write_text("#ifdef __CUDA_ARCH__\n#define T 8\n#else\n#define T 64\n#endif\n")
    other = other.replace("t.cuh", f"{tmp_path}/t.cuh")
    assert read(f"{other}{K}void h() {{ k<<<1, T>>>(0); }}\n", "k").block in (None, ROW)


@pytest.mark.parametrize("launched", ["__device__ void g", "__host__ __device__ void g", "__global__ void k2"])
def test_a_launch_by_the_device(read: Read, launched: str) -> None:
    other = f"{launched}() {{\n#ifdef __CUDA_ARCH__\nk<<<1, 32>>>(0);\n#endif\n}}\n"
    assert read(f"{K}{other}void h() {{ k<<<1, 64>>>(0); }}\n", "k").block is None


def test_constants_that_are_the_same_on_the_host(read: Read) -> None:
    told = "#ifdef __CUDA_ARCH__\n#define T 64\n#else\nconst int T = 64;\n#endif\nconst long double pi = 3.14L;\n"
    assert read(f"{told}{K}void h() {{ k<<<1, T>>>(0); }}\n", "k").block == (64, 1, 1)


@pytest.mark.parametrize(
    ("before", "size"),
    [
        # another specialisation or overload, left out for want of a header
        ("template <> struct C<MB_LEN_MAX> { static const int X = 8; };", "C<255>::X"),
        ("constexpr int f(int_fast8_t) { return 8; }", "f(1)"),
        ("constexpr int f(cudaDeviceProp *) { return 8; }", "f(0)"),
        # what is the compiler's, or is larger than in the shim
        ("", "32 * __GNUC__"),
        ("#define G __CUDACC_VER_MAJOR__", "G"),
        ("", "sizeof(texture<float>)"),
    ],
)
def test_sizes_that_are_others_elsewhere(read: Read, before: str, size: str) -> None:
    known = "template <int N> struct C { static const int X = 32; };\nconstexpr int f(long) { return 32; }\n"
    assert read(f"#include <limits.h>\n{known}{before}\n{K}void h() {{ k<<<1, {size}>>>(0); }}\n", "k").block is None
    assert read(f"#include <limits.h>\n{known}{K}void h() {{ k<<<1, C<255>::X>>>(0); }}\n", "k").block == (32, 1, 1)


def test_a_size_of_the_command_line(read: Read) -> None:
    assert read(f"{K}void h() {{ k<<<1, T>>>(0); }}\n", "k", defines=("T=64",)).block == (64, 1, 1)
    text = f"{K}void h() {{ k<<<1, 32 * __GNUC__>>>(0); }}\n"
    assert read(text, "k", defines=("__GNUC__=12",)).block == (384, 1, 1)


@pytest.mark.parametrize(
    "more",
    [
        "#define X MB_LEN_MAX\n#include GO\n",  # one place in a file, two launches
        'cuModuleGetFunction(&f, module, "k");',
        'cuModuleGetFunction(&f, module, "_Z1kPi");',
        "P(k,) P(<<,<) 1, MB_LEN_MAX P(>>,>)(0);",
    ],
)
def test_a_launch_that_is_hidden(read: Read, more: str, tmp_path: Path) -> None:
    (tmp_path / "go.h").write_text("k<<<1, X>>>(0);\n")
    start = f'#define P(a, b) a##b\n#define GO "{tmp_path}/go.h"\n'
    text = start + "%svoid h() {\n#define X 32\n#include GO\n#undef X\n%s\n}\n"
    assert read(text % (K, more), "k").block is None
    assert read(text % (K, 'printf("k runs");'), "k").block == (32, 1, 1)


def test_another_launch_is_missing(read: Read) -> None:
    lost = "void g() { std::vector<int> v; %s<<<1, 64>>>(v.data()); }\n"
    both = "void h() { k<<<1, 32>>>(0); k2<<<1, 16>>>(0); }\n"
    assert read(K + lost % "k" + both, "k").block == ROW
    assert read(K + lost % "k" + both, "k2").block == (16, 1, 1)
    assert read(K + lost % "k2" + both, "k").block == (32, 1, 1)
    assert read(K + lost % "m::k" + both, "k").block is None
    assert read(f"{K}#if 0\n{lost % 'k'}\n#endif\n// {lost % 'k'}/* {lost % 'k'} */{both}", "k").block == (32, 1, 1)


REAL = """#include <stdio.h>
#include <iostream>
#include <vector>
#include "helper_cuda.h"
#define TILE 16
#define CHECK(call) do { cudaError_t err = (call); if (err != cudaSuccess) { \\
    fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, cudaGetErrorString(err)); exit(1); } } while (0)
#define SAY(call) if ((call) != cudaSuccess) { printf("%s:%d\\n", __FILE__, __LINE__); exit(1); }
#define UP(a, b) (((a) + (b) - 1) / (b))
#define GO(f, size) f<<<4, size>>>(0)
const int WIDTH = 8, n0 = 50;
typedef struct { float x, y; } pair;
enum { HALF = 16, WARP = HALF * 2 };
constexpr int up(int a, int b) { return (a + b - 1) / b * b; }
"""


@pytest.mark.parametrize(
    ("host", "block"),
    [
        ("dim3 block(16, 16); dim3 grid((n + 15) / 16, n / 16); k<<<grid, block>>>(a);", (16, 16, 1)),
        (
            "dim3 block(TILE, TILE); dim3 grid(n / block.x, (n + block.y - 1) / block.y); k<<<grid, block>>>(a);",
            (16,) * 2,
        ),
        ("const dim3 block(WIDTH * 2); const dim3 grid(n / block.x); k<<<grid, block>>>(a);", (16,)),
        ("dim3 block = dim3(TILE); block.y = WIDTH; k<<<n, block>>>(a); k<<<1, block>>>(a);", (16, 8)),
        ('dim3 b(32); printf("%d %d\\n", b.x, b.x * b.y); k<<<1, b>>>(a);', (32,)),
        ('dim3 b(32); std::cout << "block " << b.x << ", " << b.y << std::endl; k<<<1, b>>>(a);', (32,)),
        ("dim3 b(32); SAY(cudaMalloc(&a, n * b.x * sizeof(int))); k<<<1, b>>>(a);", (32,)),
        ("dim3 block(32), grid(UP(n, block.x)); k<<<grid, block>>>(a);", (32,)),
        ("dim3 b(32); int threads = b.x * b.y; k<<<n, b, threads * sizeof(int)>>>(a);", (32,)),
        ("dim3 b(32), c = b; for (int i = 0; i < n; i++) { k<<<n, c>>>(a); CHECK(cudaGetLastError()); }", (32,)),
        ("dim3 b(32); SAY((k<<<1, b>>>(a), cudaGetLastError()));", (32,)),
        ("dim3 b(32); { dim3 b(8); k2<<<1, b>>>(a); } k<<<1, b>>>(a);", (32,)),
        ("k<<<1, 8 * sizeof(pair)>>>(a);", (64,)),
        ('int t = 256; int g = (n + t - 1) / t; printf("%d of %d\\n", g, t); k<<<g, t>>>(a);', (256,)),
        ("unsigned side = TILE; dim3 q(side, side), g(UP(n, q.x)); k<<<g, q, side * sizeof(int)>>>(a);", (16, 16)),
        ("k<<<1, up(n0, WARP)>>>(a);", (64,)),
        ("GO(k, 32); GO(k2, 64);", (32,)),
        ("dim3 b(32); k << <n, b >> >(a); k2 <<< n, 64 >> > (a); k<< < n >> 1, b>>>(a);", (32,)),
        ("cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1); k<<<1, 32>>>(a);", (32,)),
        ("CHECK(cudaFuncSetAttribute((const void *)k, 8, 65536)); k<<<1, 32>>>(a);", (32,)),
        ("struct { int k; } s; s.k = n; std::vector<int> v; v.k(); std::k(); k<<<1, 32>>>(a);", (32,)),
        ("int k = n; k += 2; ::k<<<1, 32>>>(a);", (32,)),
        ("k2<<<1, v.size()>>>(v.data()); k<<<1, 32>>>(a);", (32,)),
    ],
)
def test_real_host_code(read: Read, host: str, block: tuple[int, ...]) -> None:
    before = "std::vector<int> v(n); int *a; checkCudaErrors(cudaMalloc((void **)&a, n * sizeof(int)));\n"
    before += "CHECK(cudaMemcpy(a, v.data(), n * 4, cudaMemcpyHostToDevice)); cudaEvent_t e; cudaEventCreate(&e);\n"
    after = "CHECK(cudaDeviceSynchronize()); for (auto i : v) std::cout << i; cudaFree(a); return 0;"
    text = f"{REAL}{K}int main(int argc, char **argv) {{ int n = atoi(argv[1]);\n{before}{host}\n{after} }}\n"
    assert read(text, "k").block == (*block, 1, 1)[:3]


def test_bytes_that_are_no_utf_8(read: Read) -> None:
    odd = b'// \xe9 k<<<\n#if 0\n\xe9\n#endif\nvoid h() { const char *s = "\xe9"; dim3 b(32); \xe9; k<<<1, b>>>(0); }\n'
    assert read(K.encode() + odd, "k").block == (32, 1, 1)


def test_a_launch_in_a_file_that_is_included_twice(read: Read, tmp_path: Path) -> None:
    """Of two launches at one place clang may have left out one."""
    (tmp_path / "run.inc").write_text("void F() { k<<<1, SIZE>>>(ARGUMENT); }\n")
    (tmp_path / "names.inc").write_text("int NAME();\n")
    once = '#define F f\n#define SIZE 32\n#define ARGUMENT 0\n#include "run.inc"\n'
    undone = "#undef F\n#undef SIZE\n#undef ARGUMENT\n"
    again = '#define F g\n#define SIZE 64\n#define ARGUMENT unknown()\n#include "run.inc"\n'
    named = '#define NAME a\n#include "names.inc"\n#undef NAME\n#define NAME b\n#include "names.inc"\n'
    assert read(f"{K}{named}{once}", "k", includes=[str(tmp_path)]).block == (32, 1, 1)
    assert read(f"{K}{once}{undone}{again}", "k", includes=[str(tmp_path)]).block is None


def test_an_instance_by_a_number_that_a_function_launches(read: Read) -> None:
    text = "template <int N> __global__ void k(int *A) { A[0] = N; }\nvoid h() { HOW }\n"
    how = "cudaLaunchKernel((const void *)k<3>, 4, 32, 0, 0, 0);"
    assert read(text.replace("HOW", how), "k").block == (32, 1, 1)


def test_launches_in_included_files(read: Read, tmp_path: Path) -> None:
    (tmp_path / "run.cuh").write_text("void g() { dim3 b(32); k<<<1, b>>>(0); }\n")
    (tmp_path / "lost.cuh").write_text("void g2() { std::vector<int> v; k<<<1, 64>>>(v.data()); }\n")
    run = f'{K}#include "run.cuh"\n'
    assert read(run, "k", includes=[str(tmp_path)]).block == (32, 1, 1)
    assert read(f'{run}#include "lost.cuh"\n', "k", includes=[str(tmp_path)]).block == ROW


@pytest.mark.parametrize(
    ("host", "grid"),
    [
        ("k<<<12, 256>>>(0);", (12, 1, 1)),
        ("dim3 g(8, N); k<<<g, 32>>>(0);", (8, 3, 1)),
        ("k<<<1, 32>>>(0); k<<<1, 64>>>(0);", (1, 1, 1)),
        ("k<<<1, 32>>>(0); k<<<2, 32>>>(0);", ROW),
        ("k<<<n, 32>>>(0);", ROW),
        ("k2<<<4, 64>>>(0);", None),
        ("dim3 b(8, 4), g((n + b.x - 1) / b.x, (n + b.y - 1) / b.y); k<<<g, b>>>(0);", (None, None, 1)),
        ("dim3 b(n, n), g(n / b.x, 2); k<<<g, b>>>(0);", (None, 2, 1)),
        ("dim3 b(n); n += b.x; k<<<b.y, b>>>(0);", ROW),
        ("dim3 b(32); point(&b); k<<<n / b.x, b>>>(0);", ROW),
        ("dim3 b(32); { lib::size b(8); k<<<n / b.x, 32>>>(0); }", None),
        ("dim3 b(32), g((unsigned)ceil(n / (double)b.x), 1, 1); k<<<g, b>>>(0);", ROW),
        ("dim3 g(ceilf(n / 32.f), floor(n / 2.0), 4); k<<<g, 32>>>(0);", (None, None, 4)),
        ("dim3 g(lost(n / 32.f), 4); k<<<g, 32>>>(0);", None),
        ("int i = atoi(0), m = atoi(0); k<<<(m + i) / 32, 32>>>(0);", ROW),
        ("const unsigned long i = 7, m = i * n; k<<<m, 32>>>(0);", ROW),
        ("lib::size i = 1, m = n; dim3 g(m, 4); k<<<g, 32>>>(0);", None),
    ],
)
def test_grid(read: Read, host: str, grid: tuple[int, int, int] | None) -> None:
    head = "#include <cmath>\n#define N 3\nint atoi(const char *);\nvoid point(dim3 *);\n"
    assert read(f"{head}{K}void h(int n) {{ {host} }}\n", "k").grid == grid


T = "template <class T, int K> __global__ void k(T *a, int n) { a[n] = K * 2; if (K >= 512) a[0] = n; }\n"


def test_instances(read: Read) -> None:
    assert show_stmt(read(T, instantiate="k<float,256>").kernel.body) == "a[n] <- 512.0f;"
    assert show_stmt(read(T, instantiate="k<int, 512>").kernel.body) == "a[n] <- 1024;\na[0] <- n;"
    used = read(T + "void h() { k<double, 4><<<1, dim3(16, 16)>>>(0, 1); }")
    assert show_stmt(used.kernel.body) == "a[n] <- 8.0;"
    assert used.block == (16, 16, 1)
    assert used.notes[0] == "the kernel is the instance k<double, 4> of a template"
    assert used.kernel.name == "k<double, 4>"
    for written in ("k<float, 8>", "k < float, 8 >"):
        told = read(T + f"template __global__ void {written}(float *, int);")
        assert show_stmt(told.kernel.body) == "a[n] <- 16.0f;"
        assert told.notes[0] == "the kernel is the instance k<float, 8> of a template"


@pytest.mark.parametrize(
    ("text", "instance", "message"),
    [
        (T, None, "the kernel 'k' is a template with no instance in this file"),
        (T.replace("{", "{ Lost x; ", 1), None, "unknown type name 'Lost'"),
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
        (T, "k<float>", "cannot instantiate 'k<float>': the template takes other arguments"),
        (T, "k<float,2>; int z", "'k<float,2>; int z' is no template instance"),
    ],
)
def test_bad_instance(read: Read, text: str, instance: str | None, message: str) -> None:
    with pytest.raises(CudaError) as caught:
        read(text, instantiate=instance)
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize("instance", ["k<float,4>", "k<float,5>", "n::k<int,4>", "j"])
def test_an_instance_of_another_kernel_is_refused(read: Read, instance: str) -> None:
    """Whether the file uses that instance or not."""
    text = T + "__global__ void own(float *a) { a[0] = 1; }\nvoid h() { k<float, 4><<<1, 1>>>(0, 1); }"
    with pytest.raises(CudaError) as caught:
        read(text, name="own", instantiate=instance)
    assert caught.value.message == f"--instantiate '{instance}' is no instance of the kernel 'own'"
    for name in ("k", "k<float, 4>"):
        assert read(text, name=name, instantiate="k<float,4>").kernel.name == "k<float, 4>"


def test_the_instance_that_is_advised_can_be_read(read: Read) -> None:
    text = "template <typename T, int K, bool B> __global__ void k(T *a) { if (B) a[0] = K; }"
    with pytest.raises(CudaError) as caught:
        read(text)
    assert caught.value.advice == "Choose one, such as --instantiate 'k<float,256,true>'."
    with pytest.raises(CudaError) as caught:
        read(text, instantiate="k<float>")
    assert caught.value.advice == "Write it as --instantiate 'k<float,256,true>'."
    assert read(text, instantiate="k<float,256,true>").kernel.name == "k<float, 256, true>"


SPACES = """namespace a { namespace {
template <int N> __global__ void g(float *A) { A[threadIdx.x] = N; }
} namespace b { template <class T, T V> __global__ void h(T *A) { static_assert(V < 20, ""); A[V] = V; } } }
"""


@pytest.mark.parametrize(
    ("name", "more", "instance", "stored"),
    [
        ("g", "", "a::g<256>", "A[tid.x] <- 256.0f;"),
        ("h", "", "a::b::h<int,16>", "A[16] <- 16;"),
        ("g", "void f(float *a) { a::g<7><<<1, 32>>>(a); a::g<8><<<1, 64>>>(a); }", "a::g<7>", "A[tid.x] <- 7.0f;"),
    ],
)
def test_what_is_advised_in_namespaces_can_be_read(
    read: Read, name: str, more: str, instance: str, stored: str
) -> None:
    with pytest.raises(CudaError) as caught:
        read(SPACES + more, name)
    assert caught.value.advice == f"Choose one, such as --instantiate '{instance}'."
    assert show_stmt(read(SPACES + more, instantiate=instance).kernel.body) == stored
    short = instance.rpartition("::")[2]
    assert show_stmt(read(SPACES + more, instantiate=short).kernel.body) == stored


def test_an_instance_of_one_of_two_namespaces(read: Read) -> None:
    text = "template <int N> __global__ void k(int *A) { A[0] = N; }\n"
    both = f"namespace a {{ {text} }} namespace b {{ {text.replace('A[0]', 'A[1]')} }}\n"
    assert show_stmt(read(both, instantiate="b::k<3>").kernel.body) == "A[1] <- 3;"
    with pytest.raises(CudaError, match="there are 2 kernels called 'k'"):
        read(both, instantiate="k<3>")


def test_a_launch_of_another_instance_says_no_sizes(read: Read) -> None:
    text = T + "void h() { k<int, 16><<<4, 16>>>(0, 1); k<int, 32><<<8, 32>>>(0, 1); k<float, 16><<<2, 64>>>(0, 1); }"
    for instance, block in (("k<int,16>", 16), ("k<int, 32>", 32), ("k<float,16>", 64), ("k<int, 16 + 16>", 32)):
        assert read(text, instantiate=instance).block == (block, 1, 1)
    assert read(text, instantiate="k<int,8>").block is None
    assert read(text, instantiate="k<int, 16>").grid == (4, 1, 1)


@pytest.mark.parametrize(
    "more",
    [
        "template <int N> void go(int *a) { k<int, N><<<1, 32>>>(a, 1); } void h(int *a) { go<4>(a); }",
        "template <int N> void g() { k<int, N><<<1, 2>>>(0, 1); } template <int N> void f() { g<N>(); } auto h = f<4>;",
        "template <int N> struct L { void go(int *a) { k<int, N><<<1, 32>>>(a, 1); } }; void h(L<4> l) { l.go(0); }",
        "template <int N> void go() { k<int, N><<<1, 32>>>(0, 1); } void h() { k<int, 4><<<1, 32>>>(0, 1); }",
    ],
)
def test_the_only_instance_is_the_one_that_templates_make(read: Read, more: str) -> None:
    reading = read(T + more)
    assert show_stmt(reading.kernel.body) == "a[n] <- 8;"
    assert reading.notes[0] == "the kernel is the instance k<int, 4> of a template"


def test_a_specialisation_is_an_instance(read: Read) -> None:
    text = "template <int N> __global__ void k(int *A) { A[0] = N; }\n"
    text += "template <> __global__ void k<4>(int *A) { A[1] = 5; }\n"
    assert show_stmt(read(text, instantiate="k<4>").kernel.body) == "A[1] <- 5;"
    assert show_stmt(read(text, instantiate="k<3>").kernel.body) == "A[0] <- 3;"
