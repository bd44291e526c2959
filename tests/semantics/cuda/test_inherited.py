"""Base classes that depend on the arguments of a template, as a host compiler has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading, inherited
from semantics.cuda.clang import Node, Unit
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
namespace q {
template <typename T, bool B> struct Base { int last, stride;
  __device__ T next(const T *p) { last += B ? stride : 1; return p[last]; } };
template <typename T, bool B> struct Loader : protected Base<T, B> { int own;
  __device__ void init(int n) { this->last = n; this->stride = 2; own = 5; }
  __device__ T load(const T *p) { T x = this->next(p); own++; return x + own; } };
template <typename T> struct Twice : Loader<const T, true> { T more;
  __device__ T both(const T *p) { T a = this->load(p); more = this->own; T b = this->load(p); return a * 10 + b; } };
template <typename D> struct Crtp { __device__ int g() { return static_cast<D *>(this)->h() + 1; } };
template <typename T> struct Mine : Crtp<Mine<T>> { T v; __device__ T h() { return v * 3; } };
template <typename D> struct Expr { __device__ int at(int i) const { return static_cast<const D &>(*this).of(i); } };
struct View : Expr<View> { int *p; __device__ View(int *q) : p(q) {} __device__ int of(int i) const { return p[i]; } };
template <class A, class B> struct Plus : Expr<Plus<A, B>> { A a; B b; __device__ Plus(A x, B y) : a(x), b(y) {}
  __device__ int of(int i) const { return a.of(i) + b.at(i); } };
template <class... A> struct All : Expr<All<A...>> { int k; __device__ int of(int i) const { return i * k; } };
template <int N> struct Left { int l[N];
  __device__ int sum() { int s = 0; for (int i = 0; i < N; i++) s += l[i]; return s; } };
template <int N> struct Right { int r[N]; };
template <int N> struct Made { int r; __device__ Made(int x) : r(x + N) {} };
template <int N> struct Two : Left<N>, Right<N + 1> { int z;
  __device__ Two(int n) : z(n) { this->l[0] = this->l[1] = n; } };
template <int N> struct Given : Made<N> { int z; __device__ Given(int n) : Made<N>(n), z(n + this->r) {} };
}
namespace u {
template <class T> struct From { T v; int w = 3; __device__ From() : v(1) {}
  __device__ From(T x, int y = 4) : v(x), w(y) {}
  __device__ From(const int *p, T &x) : v(p[1]) { x += 2; } };
struct Plain { int v; __device__ Plain() : v(1) {} __device__ Plain(int x) : v(x) {} };
}
template <class T> struct Has : q::Left<2>, u::From<T> { using u::From<T>::From; int z = 2; };
struct Uses : u::From<short> { using u::From<short>::From;
  __device__ Uses(int a, int b, int c) : From<short>(a * b, c) {} };
struct Plain : u::Plain { using u::Plain::Plain; };
template <class T> struct From : u::From<T> { using u::From<T>::From; };
struct P { int x; };
namespace r { struct P { int x[9]; }; template <class T> struct B { T t; };
template <class T> struct F : B<T> { int y; }; template <class T> struct G : F<P> { int z; }; }
template <class T> struct E : r::F<P> { int z; };
struct Cell { int a, b; };
namespace u { struct Dot { int a; }; template <class T> struct Own { T v; }; }
template <class T> struct Owns : u::Own<T> { int k; };
template <class T> struct Ptr { T *data; };
template <class T> struct Step : Ptr<T> { int step;
  __device__ const T *row(int y) const { return (const T *)(((Ptr<T> *)this)->data + y * step); } };
template <class T> struct Sized : public Step<T> { int cols;
  __device__ Sized(T *p, int s, int c) : cols(c) { this->data = p; this->step = s; } };
template <int N> struct Holder { q::Left<N> inner; int n; };
"""

BODIES = [
    "q::Loader<int, true> x; x.init(n); A[0] = x.load(B); A[1] = x.load(B);",
    "q::Loader<int, false> x; x.init(n); A[0] = x.load(B); A[1] = x.load(B);",
    "q::Twice<int> x; x.init(n); A[0] = x.both(B); A[1] = x.more; q::Twice<int> y = x; A[2] = y.both(B);",
    "q::Mine<int> m; m.v = n; A[0] = m.g(); q::Mine<unsigned> u; u.v = 7; A[1] = u.g();",
    "q::Plus<q::View, q::Plus<q::View, q::View>> s(q::View(A), {q::View(B), q::View(A + 1)}); A[0] = s.at(n);",
    "q::All<q::View, int> a; a.k = n; A[0] = a.at(4); q::All<> b; b.k = 3; A[1] = b.at(n);",
    "q::Two<2> t(n); A[0] = t.sum() * 10 + t.z; t.r[2] = 7; A[1] = t.r[2] + t.l[1];",
    "q::Given<4> g(n); A[0] = g.r * 10 + g.z;",
    "Has<int> h(n); A[0] = h.v * 100 + h.w * 10 + h.z; Has<unsigned char> c{(unsigned char)(n + 254)}; A[1] = c.v;",
    "int m = n; Has<int> h(B, m); A[0] = h.v * 100 + h.w * 10 + h.z; A[1] = m; A[2] = Has<int>(7, n).w;",
    "Uses a(n + 65536), b(n, 5, 6); A[0] = a.v * 100 + a.w; A[1] = b.v * 10 + b.w; Has<int> h; A[2] = h.v;",
    "Plain p(n + 4); A[0] = p.v; From<int> f(n + 5, 6); A[1] = f.v * 10 + f.w; From<int> g; A[2] = g.v;",
    "Owns<Cell> c; c.v.a = n; c.k = 2; Owns<u::Dot> d; d.v.a = 4; d.k = 5; A[0] = c.v.a * 10 + d.v.a + c.k + d.k;",
    "Sized<int> s(A, 8, n); A[9] = s.row(2)[1] + s.cols; const Step<int> &r = s; A[10] = r.row(1)[0];",
    "E<int> e; e.t.x = n; e.y = 4; r::G<int> g; g.t.x[8] = 7; A[0] = e.t.x * 10 + g.t.x[8]; A[1] = sizeof g;",
    "Holder<3> h; h.inner.l[0] = n; h.inner.l[1] = 2; h.inner.l[2] = 3; h.n = 4; A[0] = h.inner.sum() + h.n;",
]  # fmt: skip


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []


def test_where_it_lies_in_memory(read: Callable[..., Reading], monkeypatch: pytest.MonkeyPatch) -> None:
    asked, find = list[tuple[Unit, int, int]](), inherited._inherited

    def watched(decl: Node, specifier: Node, i: int, of: int) -> Node | None:
        asked.append((decl.unit, decl.identity, i))
        return find(decl, specifier, i, of)

    monkeypatch.setattr(inherited, "_inherited", watched)
    reading = read(f"{BEFORE}__global__ void k(q::Twice<int> *S, int *A, int n) {{ A[0] = S[n].both(A); }}", "k")
    found = {a.name: (a.offset, a.stride) for a in reading.kernel.arrays if a.name.startswith("S.")}
    assert found == {"S.last": (0, 16), "S.stride": (4, 16), "S.own": (8, 16), "S.more": (12, 16)}
    assert len(asked) == len({*asked}) > 0, "a base class is looked for once"


def test_sizes_of_shared_objects(read: Callable[..., Reading]) -> None:
    text = "__global__ void k(int *A, int n) { __shared__ q::Twice<int> s[4]; s[n & 3].init(n); A[0] = s[1].both(A); }"
    reading = read(BEFORE + text, "k")
    assert {a.name: a.offset for a in reading.kernel.arrays if a.name.startswith("s.")} == {
        "s.last": 0, "s.stride": 4, "s.own": 8, "s.more": 12,
    }  # fmt: skip


ONE = "template <class T> struct E : B<T> { T z; };"
NOT = [
    "template <class T> struct B { T t; }; template <class T> struct W { T x; };" + ONE.replace("B<T>", "B<W<T>>"),
    "template <class T> struct B { T t; };" + ONE.replace("B<T>", "virtual B<T>"),
]


@pytest.mark.parametrize("before", NOT)
def test_refused(read: Callable[..., Reading], before: str) -> None:
    with pytest.raises(CudaError):
        read(f"{before}\n__global__ void k(int *A, int n) {{ E<int> e; A[0] = e.z; }}", "k")


@pytest.mark.parametrize("type_", ["Owns<Cell *>", "Owns<const Cell>", "Owns<Owns<int>>"])
def test_of_other_arguments_they_are_refused(refused: Callable[[str, str], None], type_: str) -> None:
    refused(f"{BEFORE}__global__ void k(int *A) {{ {type_} o{{}}; A[0] = o.k; }}", "'Owns' as a value")


def test_what_the_kernel_is_passed_has_them_by_name(read: Callable[..., Reading]) -> None:
    text = f"{BEFORE}__global__ void k(Sized<Cell> s, int *A) {{ A[0] = s.row(2)[1].b + s.cols; }}"
    reading = read(text, "k")
    assert {p.name for p in reading.kernel.params} == {"s.Step_Cell.step", "s.cols"}
    assert {a.name for a in reading.kernel.arrays} == {"s.Step_Cell.Ptr_Cell.data.b", "A"}
    two = "struct B_int { int t; }; template <class T> struct B { T t; }; struct D : B<int>, B_int {};"
    with pytest.raises(CudaError, match="beside another 'B_int'"):
        read(f"{two} __global__ void k(D d, int *A) {{ A[0] = d.B<int>::t + d.B_int::t; }}", "k")


def test_a_constructor_from_one_of_two_bases_of_one_name_is_refused(refused: Callable[[str, str], None]) -> None:
    two = "struct Both : u::From<int>, u::From<short> { using u::From<int>::From; };"
    kernel = "__global__ void k(int *A, int n) { int m = n; Both b(A, m); A[0] = m; }"
    refused(f"{BEFORE}{two}{kernel}", "the constructor that 'Both' has from 'From'")


def test_two_structures_of_one_name_have_no_base_in_common(read: Callable[..., Reading]) -> None:
    before = """
    struct S { int x; }; template <class D> struct X { __device__ int size() { return sizeof(D); } };
    template <class T> struct E : X<E<T>> { T v; };
    """
    inside, outside = (f"{s}E<S> e; A[0] = e.size();" for s in ("struct S { int y[9]; }; ", ""))
    assert "A[0] <- 4" in show_stmt(read(f"{before}__global__ void k(int *A) {{ {outside} }}", "k").kernel.body)
    with pytest.raises(CudaError, match="a base class in 'E' as a value"):
        read(f"{before}__global__ void k(int *A) {{ {inside} }}", "k")


def test_the_second_of_two_in_memory_is_refused(refused: Callable[[str, str], None]) -> None:
    both = ONE.replace("B<T>", "F<T>, B<T>")
    before = f"template <class T> struct F {{ T f; }}; template <class T> struct B {{ T t; }}; {both}"
    refused(f"{before} __global__ void k(E<int> *e) {{ e->t = 1; }}", "which may begin anywhere in 'E'")


@pytest.mark.parametrize("call", ["run", "look"])
def test_a_parameter_is_what_its_base_is_a_part_of(read: Callable[..., Reading], call: str) -> None:
    before = """
    template <class D> struct Base {
      __device__ int run(int k) { return static_cast<D *>(this)->of(k); }
      __device__ int look(int k) const { return static_cast<const D *>(this)->of(k); } };
    struct Cube : Base<Cube> { int a, b; __device__ int of(int k) const { return k * b; } };
    """
    inside, plain = (
        read(f"{before}__global__ void k(int *A, Cube s) {{ A[0] = s.{name}(A[1]); }}", "k").kernel
        for name in (call, "of")
    )
    assert "* s.b" in show_stmt(inside.body)
    assert inside.params == plain.params


HIDING = """struct B { int x; __device__ B(int x) : x(x) {} __device__ int operator-() const { return x; }
  __device__ int m() { return x; } };
struct D : B { int x; __device__ D(int q) : B(q), x(q + 10) {} };
struct E : B { int y; __device__ E(int q) : B(q), y(q + 10) {} };
"""


@pytest.mark.skipif(COMPILER is None, reason="g++ is not here")
def test_a_method_of_a_base_has_the_base_of_an_object_made_for_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    bodies = ["A[0] = -D(n);", "A[0] = D(n).m();", "A[0] = -E(n);", "A[0] = E(n).m();"]
    assert differences(read, HIDING, bodies, tmp_path) == []


CAST = """
struct P { int x; __device__ int g() { return ++x; } }; struct Q : P { int y; };
__device__ int look(const P &p, int &x) { x = 50; return p.x; }
struct Base { int x; __device__ Base(int x) : x(x) {} __device__ virtual void f() { x += 1; } };
struct D : Base { __device__ D(int x) : Base(x) {} __device__ void f() override { x *= 2; } };
struct E : D { int z = 1; __device__ E(int x) : D(x) {}
  __device__ void f() override { x *= 5; Base::f(); static_cast<D &>(*this).D::f(); z++; } };
"""
CASTS = [
    "D d(n); static_cast<Base &>(d).f(); A[0] = d.x; ((Base &)d).f(); A[1] = d.x;",
    "Q q{{n}, 1}; A[0] = static_cast<P &>(q).g(); A[1] = ((P &)(q)).g(); A[2] = static_cast<P>(q).g(); A[3] = q.x;",
    "E e(n); Base &b = e; b.f(); A[0] = e.x + 100 * e.z; static_cast<D &>(b).f(); A[1] = e.x;",
    "E e(n); static_cast<Base &>(static_cast<D &>(e)).f(); A[0] = e.x;",
]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not here")
def test_a_cast_to_a_reference_to_a_base_names_the_object(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, CAST, CASTS, tmp_path) == []
