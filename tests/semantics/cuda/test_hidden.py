"""What a range-based `for` over an object calls, and the constructors of instances of templates that are not written
where they are called: the same as a host compiler has it, or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences
from tests.semantics.cuda.test_heap import Allocating

BEFORE = """
struct At { int i; __device__ int operator*() const { return i; } __device__ At &operator++() { i++; return *this; }
  __device__ bool operator!=(const At &o) const { return i < o.i; } };
struct Free { int i; __device__ int operator*() const { return i; } };
__device__ Free &operator++(Free &x) { x.i += 2; return x; }
__device__ bool operator!=(const Free &a, const Free &b) { return a.i < b.i; }
namespace m {
struct M { int *b; };
__device__ int *begin(const M &v) { return v.b; }
__device__ int *end(const M &v) { return v.b + 3; }
struct It { int i; __device__ int operator*() const { return i; } };
__device__ It &operator++(It &x) { x.i++; return x; }
__device__ bool operator!=(const It &a, const It &b) { return a.i < b.i; }
struct N { int n; __device__ It begin() { return {0}; } __device__ It end() { return {n}; } };
__device__ int own(N v) { int s = 0; for (int x : v) s = s * 10 + x; return s; }
}
struct L { int n; __device__ At begin() { return {0}; } __device__ At end() { return {n}; } };
struct F { int n; __device__ Free begin() { return {0}; } __device__ Free end() { return {n}; } };
namespace around { __device__ int all(F v) { int s = 0; for (int x : v) s = s * 10 + x; return s; } }
"""

BODIES = [
    "m::M v{A + 1}; for (int &x : v) x += 4;",
    "A[0] = m::own({4}); for (int x : m::N{n}) A[x + 1]++;",
    "L l{5}; for (int x : l) A[x] = 1; F f{n}; for (int x : f) A[x]++; A[9] = around::all(F{6});",
]


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []


MADE = """
template <int N> struct Vec { int d[N]; __device__ Vec() { for (int i = 0; i < N; i++) d[i] = i + 7; }
  __device__ Vec(int x) { for (int i = 0; i < N; i++) d[i] = x; } };
struct Plain { Vec<2> a; int k; };
template <int N> struct Wrap { Vec<N> v; int k; };
struct Body { Vec<3> pos, vel; int id; __device__ Body(int i) : vel(i), id(i) { id += pos.d[2]; } };
template <class T> struct Pair { T a, b; __device__ Pair() : a(), b(5) {} };
template <class T> struct Deep { Pair<T> p; T q; __device__ Deep(T x) : q(x) {} };
namespace m { template <class T> struct Root { T v; int w = 4; __device__ Root() : v(3) {} }; }
template <class T> struct Leaf : m::Root<T> { T u; __device__ Leaf(T x) : u(x + this->v) {} };
template <class T> struct Inner { m::Root<T> r; __device__ Inner() { Wrap<4> w; r.v += w.v.d[1]; } };
template <class T> struct Outer { Inner<T> i; int k; };
template <class T> struct Given { T v; __device__ Given(T x = 9, int y = 2) : v(x * y) {} };
struct Has { Given<int> g; int z; };
template <class T> struct Left { T v; __device__ Left() = default; __device__ Left(T x) : v(x) {} };
struct Opens { Left<int> l; int z; __device__ Opens() : l(), z(1) {} };
template <class T> struct Says { T v; __device__ Says() : v(1) {} __device__ virtual T say() const { return v; } };
struct Loud : Says<int> { __device__ int say() const override { return 2 * v; } };
struct Seven { int v; __device__ Seven() : v(7) {} __device__ Seven(int x) : v(x) {} };
struct Half { int a, b = 4; Half() = default; __device__ Half(int x) : a(x) {} };
struct Both { int k; Half h; Seven s; Plain p; };
struct Based : Seven { int k; };
__device__ int all(const Both &b) { return b.k + b.h.a * 10 + b.h.b * 20 + b.s.v * 100 + b.p.a.d[0] * 1000 + b.p.k; }
"""

MAKES = [
    "Plain p; p.k = n; A[0] = p.a.d[1] * 10 + p.k;",
    "Body b(n); A[0] = b.pos.d[1] + b.vel.d[2] * 10 + b.id * 100;",
    "Deep<int> d(n); A[0] = d.p.b + d.p.a; Deep<Vec<2>> e(n); A[1] = e.p.a.d[1] * 10 + e.p.b.d[0] + e.q.d[1];",
    "Leaf<int> l(n); A[0] = l.u * 10 + l.v + l.w; Outer<int> o; o.k = 2; A[1] = o.i.r.v + o.k;",
    "Plain *p = new Plain; A[0] = p->a.d[1]; Outer<int> *q = new Outer<int>(); A[1] = q->i.r.v;",
    "Plain p = Plain(); A[0] = p.a.d[1] * 10 + p.k; Wrap<2> w = Wrap<2>(); A[1] = w.k + w.v.d[1];",
    "Has h; h.z = n; A[0] = h.g.v + h.z; Opens o; A[1] = o.l.v + o.z;",
    "Says<int> *s = new Loud; A[0] = s->say(); Loud l; A[1] = l.say() + l.Says<int>::say();",
    "Both b{}; A[0] = all(b); Both c = {n, {}, {}}; A[1] = all(c); Both d{n, Half(2), Seven(n)}; A[2] = all(d);",
    "A[0] = all({}) + all(Both{}); Both b; b = {n}; A[1] = all(b); Based c{}, d{{}, n}; A[2] = c.v + d.v + d.k;",
    "Both *p = new Both{n}; A[0] = all(*p); Wrap<3> w{}; A[1] = w.v.d[2] + w.k; Wrap<3> v{{}, n}; A[2] = v.k;",
]  # fmt: skip


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_constructors_that_are_called_where_nothing_is_written(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, MADE, MAKES, tmp_path, machine=Allocating) == []


def test_what_makes_an_object_is_no_class_that_it_may_be_of(read: Callable[..., Reading]) -> None:
    """The hidden structure derives from the same base as `Loud` does."""
    kernel = "__global__ void k(Says<int> *s, int *A) { Loud l; A[0] = s->say() + l.v; }"
    notes = read(f"{MADE}{kernel}", "k").notes
    assert [note for note in notes if "is one of" in note] == [
        "an object in memory that is used as a 'Says<int>' is one of: Says<int>, Loud"
    ]


def test_a_constructor_of_what_only_a_function_can_name(refused: Callable[[str, str], None]) -> None:
    kernel = "__global__ void k(int *A) { struct S { int x; }; struct H { Pair<S> p; }; H h; A[0] = h.p.b.x; }"
    before = "template <class T> struct Pair { T a, b; __device__ Pair() { b.x = 3; } };"
    refused(f"{before} {kernel}", "the constructor of 'Pair' that is not written here is not supported")


V = "namespace v { struct V { int *b; };"
FREE = (
    f"{V} __device__ int *begin(const V &x) {{ return x.b; }} __device__ int *end(const V &x) {{ return x.b + 9; }} }}"
)
USES = "__device__ int all(v::V x) { int s = 0; for (int y : x) s += y; return s; }"
FEW = "__device__ int *begin(v::V &x) { return x.b + 8; }"
STEP = "__device__ Free &operator++(Free &x) { x.i++; return x; }"
LESS = "__device__ bool operator!=(const Free &a, const Free &b) { return a.i < b.i; }"
FREES = "struct F { int n; __device__ Free begin() { return {0}; } __device__ Free end() { return {n}; } };"
OVER = "__device__ int all(F x) { int s = 0; for (int y : x) s += y; return s; }"
WIDE = "__device__ Free &operator++(Free &x) { x.i += 9; return x; }"
ANY = "template <class T> __device__ T &operator++(T &x) { x.i += 9; return x; }"
ITEM = "struct Free { int i; __device__ int operator*() const { return i; } };"

ELSEWHERE = {
    "a function of no namespace": f"{FREE} {FEW} {USES}",
    "a function that is declared later": f"{FREE} {USES} namespace v {{ {FEW} }}",
    "an object that is called": (
        f"{FREE} struct Call {{ __device__ int *operator()(v::V &x) const {{ return x.b + 8; }} }};"
        f"__device__ Call begin; {USES}"
    ),
    "methods that only a friend may call": (
        "struct V { int *b; friend __device__ int all(V); private: __device__ int *begin() { return b; }"
        "__device__ int *end() { return b + 9; } }; __device__ int *begin(V &x); __device__ int *end(V &x);"
        "__device__ int all(V x) { int s = 0; for (int y : x) s += y; return s; }"
    ),
    "a macro that is defined later": (
        "struct V { int *b; __device__ int *begin() { return b; } __device__ int *end() { return b + 9; }"
        "__device__ int *few() { return b + 8; } };"
        "__device__ int all(V x) { int s = 0; for (int y : x) s += y; return s; }\n#define begin few\n"
    ),
    "an operator that is declared later": (
        "struct Free { int i; __device__ int operator*() const { return i; } __device__ Free(int k) : i(k) {} };"
        "template <class T> __device__ T &operator++(T &x) { x.i++; return x; }"
        f"{LESS} {FREES} {OVER} {WIDE}"
    ),
    "an operator of a namespace around": f"{ITEM} {ANY} {LESS} {FREES} namespace w {{ {STEP} {OVER} }}",
    "an operator of a namespace that is used there": (
        f"{ITEM} {ANY} {LESS} {FREES}namespace w {{ {STEP} }} namespace u {{ using namespace w; {OVER} }}"
    ),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_looked_for_elsewhere(refused: Callable[[str, str], None], name: str) -> None:
    """A hidden function at the end of the text sees other functions than the `for`: a bound would be false."""
    text = ELSEWHERE[name]
    space = "u::" if "namespace u" in text else "w::" if "namespace w" in text else ""
    made = "F{9}" if FREES in text else "v::V{A}" if "v::V" in text else "V{A}"
    kernel = f"__global__ void k(int *A) {{ A[0] = {space}all({made}); }}"
    refused(f"{text} {kernel}", "a range-based 'for' over what is no array is not supported")
