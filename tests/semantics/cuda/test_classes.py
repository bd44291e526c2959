"""What structures do by themselves is done where clang's tree shows it, else refused: it would be free."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.native import COMPILER, differences

Reader = Callable[..., Reading]

STORE = "__device__ int G[4096];\n"
"""Where each special function stores a sector a lane, 32 a warp."""
FREE = "{ G[threadIdx.x * 32] = 0; }"

MAKE = "__device__ V<int> make() { V<int> v; v.x = 1; return v; }"

DONE = {
    "an array of another name": (
        "typedef int V2[2]; struct S { V2 v = {32, 7}; int y; };",
        "S s{}; A[threadIdx.x * s.v[0]] = 0;",  # 32 sectors, not 1
    ),
    "a comment that ends as the length of an array begins": (
        "struct S { int x = //[\n 32; };",
        "S s{}; A[threadIdx.x * s.x] = 0;",
    ),
    "an array that a macro makes": (
        "#define THREE [3] = {1, 2, 3}\nstruct S { int v THREE; int y; };",
        "S s{}; A[threadIdx.x * s.v[0]] = 0;",
    ),
    "a constructor": (
        "template<class T> struct V { T x; __device__ V() : x(32) {} };",
        "V<int> a = V<int>(); A[threadIdx.x * a.x] = 0;",  # 32 sectors, not 1
    ),
    "an explicit instance": (
        "template<class T> struct V { T x; __device__ V() : x(32) {} };\ntemplate struct V<int>;",
        "V<int> a = V<int>(); A[threadIdx.x * a.x] = 0;",
    ),
    "an assignment": (
        "template<class T> struct V { T x; __device__ V &operator=(const V &o) { x = o.x * 32; return *this; } };",
        "V<int> a = {0}, b = {1}; a = b; A[threadIdx.x * a.x] = 0;",  # 32, not 4
    ),
    "a copy": (
        "template<class T> struct V { T x; V() = default; __device__ V(const V &o) : x(o.x * 32) {} };",
        "V<int> a; a.x = 1; V<int> b = a; A[threadIdx.x * b.x] = 0;",
    ),
    "a move": (
        "template<class T> struct V { T x; V() = default; __device__ V(V &&o) : x(o.x * 32) {} };",
        "V<int> a; a.x = 1; V<int> b = static_cast<V<int> &&>(a); A[threadIdx.x * b.x] = 0;",
    ),
    "the end of a base that depends": (
        (
            "struct Q { int q; };\ntemplate<class T> struct U { T a; __device__ ~U() { G[0] = a.q; } };\n"
            "template<class T> struct V : U<T> { T x; };"
        ),
        "{ V<Q> v; v.a.q = 7; } A[threadIdx.x] = 0;",
    ),
    "a copy of an argument": (
        "template<class T> struct V { T x; V() = default; __device__ V(const V &o) : x(o.x) " + FREE + " };\n"
        "__device__ int f(V<int> v) { return v.x; }",
        "V<int> v; v.x = 1; for (int i = 0; i < 10; i++) A[f(v)] = 0;",  # 330, not 10
    ),
    "an array of what has a member": (
        "struct D { int v; __device__ D() " + FREE + " };\nstruct C { D d; };",
        "C c[2]; A[threadIdx.x] = 1;",
    ),
    "an array with an empty list": (
        "struct C { int v; __device__ C() " + FREE + " };",
        "C c[2] = {}; A[threadIdx.x] = 1;",
    ),
    "an array whose elements read memory": (
        "struct C { int v = G[threadIdx.x * 32]; };",
        "C c[2]; A[threadIdx.x] = 1;",
    ),
    "a member that is an array, made": (
        "struct P { int x; __device__ P() " + FREE + " };\nstruct W { P p[2]; int y; };",
        "W w; w.y = 1; A[w.y] = 1;",
    ),
}  # fmt: skip
"""What they do by themselves is done: what comes before, a body, that leaves G in B."""


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
@pytest.mark.parametrize("name", DONE)
def test_what_they_do_is_done(read: Reader, name: str, tmp_path: Path) -> None:
    before, body = DONE[name]
    body = body.replace("threadIdx.x", "(int)threadIdx.x") + " for (int i = 0; i < 64; i++) B[i] = G[i];"
    assert differences(read, STORE + before + "\n", [body], tmp_path) == []


REFUSED = {
    "a destructor": (
        "template<class T> struct V { T x; __device__ ~V() " + FREE + " };",
        "V<int> v = {1}; A[threadIdx.x] = v.x;",  # 36, not 4
        "the destructor of 'V'",
    ),
    "a copy that may be left out": (
        "template<class T> struct V { T x; V() = default; __device__ V(V &&o) : x(o.x * 32) {} };\n" + MAKE,
        "V<int> v = make(); A[threadIdx.x * v.x] = 0;",
        "a function that returns a 'V<int>', whose constructor says what a copy is,",
    ),
    "the assignment of a member": (
        "template<class T> struct V { T x; __device__ V &operator=(const V &o) " + FREE + " };\n"
        "template<class T> struct W { V<T> v; T y; };",
        "__shared__ W<int> s[2]; s[0] = s[1];",
        "a copy or destructor of its own in 'W'",
    ),
    "a base": (
        "struct B { int a, b, c; };\ntemplate<class T> struct V : B { T x; };",
        "V<int> *p = (V<int> *)A; p[threadIdx.x] = p[threadIdx.x + 32];",  # 128 for 16 bytes a lane, not 32
        "one of which has a base class",
    ),
    "a base behind a first one": (
        "struct F { int h; }; struct B { int b[39]; }; struct V : F, B {};",
        "V *p = (V *)A + blockIdx.x; p->b[threadIdx.x] = 1;",
        "one of which has a base class",
    ),
    "a base behind what virtual functions need": (
        "struct B { int b[15]; }; struct V : B { __device__ virtual void f() {} };\n__device__ V *v;",
        "v->b[threadIdx.x] = 1;",
        "the base class 'B', which may begin anywhere in 'V',",
    ),
    "what is derived, from a base": (
        "struct C { int c; }; struct B { int b[15]; }; struct V : C, B { int q[8]; };\n__device__ B *v;",
        "((V *)v)->q[threadIdx.x] = 1;",
        "one of which has a base class",
    ),
    "a reference as a field": (
        "struct V { int &r; };\n__device__ V *v;",
        "A[0] = v[threadIdx.x].r;",
        "the reference 'r' in a structure",
    ),
    "a reference outside": ("__device__ int x; __device__ int &r = x;", "r = 1;", "the reference 'r'"),
    # no templates: arrays, members that are arrays, what a parameter is copied from
    "an array": (
        "struct C { int v; __device__ ~C() " + FREE + " };",
        "C c[2]; A[threadIdx.x] = 1;",  # 68, not 4
        "the destructor of 'C'",
    ),
    "a member that is an array": (
        "struct P { int x; __device__ ~P() " + FREE + " };\nstruct W { P p[2]; int y; };",
        "W w; w.y = 1; A[w.y] = 1;",  # 65, not 1
        "a copy or destructor of its own in 'W'",
    ),
    "a temporary": (
        "struct P { int x; __device__ ~P() " + FREE + " };",
        "P{1}; A[threadIdx.x] = 0;",
        "the destructor of 'P'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(read: Reader, name: str) -> None:
    before, body, message = REFUSED[name]
    with pytest.raises(CudaError) as caught:
        read(f"{STORE}{before}\n__global__ void k(int *A) {{ {body} }}")
    assert message in caught.value.message


def test_an_argument_that_is_the_kernels(read: Reader) -> None:
    """33 sectors a call, not 1: the argument is a name for the kernel's, but its copy is destroyed."""
    text = f"{STORE}struct P {{ int x; __device__ ~P() {FREE} }}; __device__ int f(P q) {{ return q.x; }}\n"
    with pytest.raises(CudaError, match="the destructor of 'P'"):
        read(text + "__global__ void k(int *A, P p) { A[f(p)] = 1; }")


READ = {
    "template<class T> struct V { T x, y; };": "V<int> v = {n, 2}, w = v; A[w.x] = 0;",
    "template<class T> struct V { T x, y; V() = default; V(const V &) = default; ~V() = default; };": (
        "V<int> v; v.x = n; V<int> w = v; w = v; A[w.x] = 0;"
    ),
    "struct V { int x, y; V() = default; V &operator=(const V &) = default; };": "V v, w; v.x = n; w = v; A[w.x] = 0;",
    "template<class T> struct V { T x; __device__ ~V(); };\ntemplate<> struct V<int> { int x; };": (
        "V<int> v = {n}; A[v.x] = 0;"
    ),
    "template<class T> struct V { T x, y; __device__ T sum() { return x + y; } };": "V<int> v[2]; A[n] = v[0].x;",
}


@pytest.mark.parametrize("before", READ)
def test_what_the_compiler_does_alone_is_read(read: Reader, before: str) -> None:
    text = f"{before}\n__global__ void k(int *A, int n) {{ {READ[before]} }}"
    assert read(text).kernel.name == "k"


def test_a_reference_that_the_kernel_is_passed(read: Reader) -> None:
    """Each use of it is one of memory."""
    with pytest.raises(CudaError, match="the reference 'x', which the kernel is passed"):
        read("__global__ void k(int &x) { x = x + 1; }")
    with pytest.raises(CudaError, match="the reference 'r' in a structure"):
        read("struct V { int &r; };\n__global__ void k(V v, int *A) { A[0] = v.r; }")


def test_only_0_is_null(read: Reader) -> None:
    with pytest.raises(CudaError, match="a number as a pointer"):
        read("__global__ void k(int *A) { if (A + threadIdx.x != (int *)64) A[0] = 1; }")
    read("__global__ void k(int *A) { if (A != (int *)0) A[0] = 1; }")


@pytest.mark.parametrize(
    ("parameter", "declared"),
    [
        ("D (*s)[32]", ""),
        ("D (*s)[4][32]", ""),
        ("int *A", "__shared__ D s[8][32];"),
        ("int *A", "extern __shared__ D d[][32]; D (*s)[32] = d + 1;"),
    ],
)
@pytest.mark.parametrize("cast", ["(B *)s", "reinterpret_cast<B *>(s)", "(C *)s", "(float *)s", "(B *)s[1]"])
def test_casts_of_rows_of_what_derives_are_refused(read: Reader, parameter: str, declared: str, cast: str) -> None:
    types = "struct C { int c; }; struct B { int b; }; struct D : C, B { float f; };\n"
    target = cast[cast.find("<") + 1 or 1 :].partition(" ")[0]
    with pytest.raises(CudaError, match=r"one of which has a base class|which may begin anywhere in"):
        read(
            f"{types}__global__ void k({parameter}) {{ {declared} {target} *p = {cast}; p[threadIdx.x] = {target}(); }}"
        )


GUIDED = """
template <class T> struct W { T v; __host__ __device__ W(T x) : v(x) {} };
namespace m { template <class T> struct U { T v; __host__ __device__ U(T x) : v(x) {} }; MARK U(int) -> U<long>; }
MARK W(int) -> W<long>;
struct S { int a; __device__ S(int n) { W w(n); a = sizeof(w); } };
"""


@pytest.mark.parametrize("body", ["W w(n); A[0] = sizeof(w);", "A[0] = sizeof(m::U(n));", "S s(n); A[0] = s.a;"])
def test_guides_that_clang_takes_for_the_hosts(read: Reader, body: str) -> None:
    """CUDA's compiler deduces 8 bytes for all of these (nvcc 13.0), clang 4 for those whose guide has no mark."""
    text = f"{GUIDED}__global__ void k(int *A, int n) {{ {body} }}"
    with pytest.raises(CudaError, match=r"'[WU]', which has deduction guides of the host alone"):
        read(text.replace("MARK", ""))
    assert "8" in show_stmt(read(text.replace("MARK", "__host__ __device__")).kernel.body)
