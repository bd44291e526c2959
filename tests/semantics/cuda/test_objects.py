"""Objects: constructors, methods that change them, operators, base classes, references that functions return."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
template <class T> struct Span { T low, up;
  __device__ Span() {}
  __device__ Span(T const &v) : low(v), up(v + 1) {}
  __device__ Span(T const &l, T const &u) : low(l), up(u) {} };
template <class T> __device__ Span<T> operator+(Span<T> const &x, Span<T> const &y) {
  return Span<T>(x.low + y.low, x.up + y.up); }
struct Kept { int v; __device__ Kept(const int &x) : v(2 * x) {} };
__device__ Kept kept(int n) { return Kept(n + 1); }
struct Two { int a, b; };
template <class T, int N> struct Vec {
  T v[N];
  __device__ Vec(T x) { for (int i = 0; i < N; i++) v[i] = x; }
  __device__ Vec() {}
  __device__ T &operator[](int i) { return v[i]; }
  __device__ const T &operator[](int i) const { return v[i]; }
  __device__ Vec &operator+=(const Vec &o) { for (int i = 0; i < N; i++) v[i] += o.v[i]; return *this; }
  __device__ T sum() const { T s = 0; for (int i = 0; i < N; i++) s += v[i]; return s; }
};
template <class T, int N> __device__ Vec<T, N> operator+(const Vec<T, N> &a, const Vec<T, N> &b) {
  Vec<T, N> r; for (int i = 0; i < N; i++) r[i] = a[i] + b[i]; return r;
}
struct Base { int a; int b = 3; __device__ Base(int q) : a(q) {} __device__ int both() const { return 10 * a + b; }
  __device__ void add(int x) { a += x; } };
struct Agg { int a; int b = 3; };
struct Listed : Agg { int z; __device__ Listed(int *p, int n) : z(n), Agg{p[n], n * 2} {} };
struct Some : Agg { int z; __device__ Some(int n) : Agg{n}, z(b) {} };
struct Zero : Agg { int z; __device__ Zero(int n) : Agg(), z(n) {} };
struct Copied : Agg { int z; __device__ Copied(const Agg &o) : Agg(o), z(o.a) {} };
struct P : Base {
  int *p; int n;
  __device__ P(int *q, int m) : Base(m), p(q), n{m + 1} {}
  __device__ P(int *q) : P(q, 3) { n++; }
  __device__ void inc() { n++; this->a += 2; add(1); Base::add(b); }
  __device__ int get(int i) { return p[i] + a; }
  __device__ P &set(int i, int x) { p[i] = x; n = i; return *this; }
};
struct Rng { unsigned s; __device__ Rng(unsigned seed) : s(seed) {}
  __device__ int next() { s = s * 5 + 3; return s & 15; } };
struct Add { int k; __device__ int operator()(int a, int b) const { return a + b + k; } };
template <class Op> __device__ int reduce(const int *p, int n, Op op) {
  int s = 0; for (int i = 0; i < n; i++) s = op(s, p[i]); return s;
}
template <class T> struct Tensor {
  T *data; int stride;
  __device__ Tensor(T *d, int s) : data(d), stride(s) {}
  __device__ T &operator()(int i, int j) { return data[i * stride + j]; }
  __device__ T at(int i, int j) const { return data[i * stride + j]; }
  __device__ Tensor row(int i) { return Tensor(data + i * stride, stride); }
};
struct Consts { static const int N = 4; static constexpr int twice(int x) { return 2 * x; } };
constexpr int sq(int x) { return x * x; }
struct Counter {
  int n;
  __device__ Counter &operator++() { n++; return *this; }
  __device__ Counter operator++(int) { Counter c = *this; n++; return c; }
  __device__ operator int() const { return n; }
};
struct Complex {
  int re, im;
  __device__ Complex(int r, int i = 0) : re(r), im(i) {}
  __device__ Complex operator*(const Complex &o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
  __device__ Complex &operator*=(const Complex &o) { *this = *this * o; return *this; }
};
__device__ int given(int n, Complex z = Complex(2, 3), Two t = {4}) { z *= z; return z.re * n + z.im + t.a + t.b; }
template <class T> __device__ int later(T n, const Complex &z = T(5), Two t = Two{6, 7}) { return n + z.re + t.b; }
class Stack {
  int data[8]; int top;
public:
  __device__ Stack() : top(0) {}
  __device__ void push(int x) { data[top++] = x; }
  __device__ int pop() { return data[--top]; }
  __device__ bool empty() const { return top == 0; }
};
struct Ways { int k; template <bool B> __device__ int way(int x) const { return B ? x + k : x * k; }
  template <int N, class T> __device__ T more(T x) { k += N; return x + way<true>(x) * 10 + this->way<false>(x); }
  __device__ int all(int x) { int a = more<3>(x); a += more<4, int>(x + 1); return a; } };
struct In { int q; __device__ In(int z) : q(z) {} __device__ In() : q(7) {} };
struct Z { int a, b[3]; int *p; In i; In j; int c = 5;
  __device__ Z(int m) : a(), b{1, 2}, p(nullptr), i(m + 1) { c += m; } };
struct Defaults { int x = 4; int y; In z; };
struct Outer { Complex c; Vec<int, 2> v; int k; __device__ Outer(int m) : c(m, 2), v(m), k(c.re + v[1]) {} };
struct Plain { int a, b; };
struct Deep : Plain { int c = 4; };
struct Deeper : Plain { int c; In i; };
struct Less : Plain {};
struct Again : Less { int a; };
struct Built : Less { int a; __device__ Built(int n) : Less(), a(n) { Plain::a = 4; b = 5; } };
struct Inside { int p; struct { int q = 4, r; }; int t = 6; };
struct Put { struct { int a; struct { int b; }; int c = 7; }; int d;
  __device__ Put(int n) : a(n), b(a + 1), d(b + c) {} };
struct Either { union { int a = 5; unsigned u; }; int c = 2; __device__ Either() {}
  __device__ Either(unsigned n) : u(n) {} };
struct Own { int x; __device__ Own(int a) : x(a) {} __device__ Own(const Own &o) : x(o.x + 1) {}
  __device__ Own &operator=(const Own &o) { x = o.x * 2; return *this; } };
struct Owned : Own { __device__ Owned(int a) : Own(a) {} };
__device__ Own give(int x) { Own o(x); return o; }
__device__ int &larger(int &a, int &b, int *p) { int i = a > b; return p[i]; }
__device__ int take(Stack &s) { s.push(3); return s.pop() + 1; }
__device__ int make(Complex c, const Complex &d) { return c.re * d.im; }
"""

BODIES = [
    "Ways w = {n}; A[0] = w.more<2>(4); A[1] = w.all(1); A[2] = w.k + 100 * w.way<true>(n);",
    "Span<int> s(n, 9); s = s + Span<int>(2); A[0] = s.low * 100 + s.up;",
    "Kept k = kept(n); A[0] = k.v + kept(5).v;",
    "Vec<int, 4> v(2), w; v[1] = n; w = v; w += v; Vec<int, 4> u = v + w; A[n] = u[2] + w[1]; A[0] = u.sum();",
    "Vec<int, 3> v(n); for (int i = 0; i < 3; i++) v[i] += A[i]; A[0] = v[0] + v[1] * v[2]; v[v[0] - 3]++;",
    "P p(A, n), q{A}; p.inc(); p.n += 4; A[p.n] = q.n + p.both() + p.get(3); auto r = P(A, 2); A[r.b] = r.a;",
    "P p(A, 1); p.set(2, 7).set(3, 8).inc(); A[0] = p.n * 100 + p.a; const P &r = p; A[1] = r.both();",
    "P p(A, 1); Base &b = p; b.a = 6; Base *c = &p; c->add(2); c->b = 1; A[0] = p.both();",
    "Rng r(threadIdx.x); int s = 0; for (int i = 0; i < n; i++) s += r.next() * 2; A[0] = s; A[1] = r.s & 255;",
    "Add op{n}; A[0] = reduce(B, n, op) + reduce(B, n, [=](int a, int b) { return a * 3 + b + n; });",
    "Tensor<int> t(A, n); t(1, threadIdx.x) = 3; t(0, 2) += t.at(2, 1); t.row(2)(1, 0) = 8;",
    "Tensor<int> t(A, n), u = t.row(1); u.data[2] = u.stride; u.at(0, 1); t.row(1).row(1).data[1] = 7;",
    "A[0] = Consts::N + Consts::twice(n) + sq(3); constexpr int m = sq(4); A[m] = 1;",
    "Counter c = {n}; ++c; c++; A[c] = 30; ++ ++c; A[1] = c++; A[2] = c.n; A[3] = c + 1;",
    "Complex z(A[1], B[1]), c(2); for (int i = 0; i < n; i++) z *= c; z = z * z; z = z; A[0] = z.re; A[1] = z.im;",
    "Complex z = 5; A[0] = make(z, 3) + make(2, z) + make(Complex(1, 2), Complex{3, 4}) + (z * Complex(0, 1)).im;",
    "Stack s; s.push(n); s.push(5); int x = 0; while (!s.empty()) x = 10 * x + s.pop(); A[0] = x; A[1] = take(s);",
    "Z z(n); A[0] = z.a * 1000 + z.b[1] * 100 + z.b[2] * 10 + z.i.q; A[1] = z.j.q + z.c; if (z.p) A[2] = 1;",
    "Defaults d; d.y = 1; A[0] = d.x + d.y + d.z.q; Outer o(n); A[1] = o.c.re + 10 * o.v[0] + 100 * o.k;",
    "In v[3]; In w[2]; A[0] = 1;",
    "int a[2][2] = {{Add{2}(n, Kept(n).v), n}, {reduce(B, 2, Add(Add{n}))}}; A[0] = a[0][0]; A[1] = a[1][0];",
    "Listed l(A, n); A[0] = l.a * 100 + l.b * 10 + l.z; Some s(n); A[1] = s.a * 100 + s.b * 10 + s.z;",
    "Zero o(n); A[0] = o.a * 100 + o.b * 10 + o.z; Listed l(B, 4); Copied c(l); A[1] = c.a * 100 + c.b * 10 + c.z;",
    "Deeper d = Deeper(); A[0] = d.a + d.b + d.c + d.i.q + Deeper().i.q; A[1] = Plain().b; Deep e{}; A[2] = e.a + e.c;",
    "Again t; t.a = 1; t.Plain::a = 2; t.b = 3; Plain &p = t; p.a += 5; A[0] = t.a * 100 + t.Less::a * 10 + p.b;",
    "Again t; t.a = 6; t.Less::a = 4; Again u = t; u.Plain::a++; A[0] = t.a * 10 + t.Plain::a; Built b(n); A[1] = b.a;",
    "Inside s; A[0] = s.q * 10 + s.t; Inside t{1, {2, 3}}; A[1] = t.q * 100 + t.r * 10 + t.t;",
    "Put p(n); A[0] = p.a * 1000 + p.b * 100 + p.c * 10 + p.d; Either e, f(9u); A[1] = e.a * 100 + f.u * 10 + f.c;",
    "Own a(3), b(a); Own c = b; c = a; A[0] = a.x + 10 * b.x + 100 * c.x;",
    "int x = n, y = 2; larger(x, y, A + 1) = 70; larger(y, x, A)++; int &r = larger(x, y, A); r += 5;",
    "int i = 0; for (; i < n; i++) { Complex c(i, 1); c *= c; A[i] = c.re; } A[i] = Complex(4).re;",
    "__shared__ Vec<int, 4> s[2]; s[1][n] = 5; s[0] = s[1]; s[0] += s[1]; A[0] = s[0][n]; A[1] = s[1].v[n];",
    "auto f = [&](Complex c) { c *= Complex(2); return c.re + n; }; Complex z(3); A[0] = f(z) + z.re;",
    "Complex z(1), t(2); const Complex &r = (t = z); t.re = 9; A[0] = r.re;",
    "Stack s; auto f = [&](int x) { s.push(x); s.push(x + 1); }; f(1); f(n); A[0] = s.pop() * 10; A[1] = s.pop();",
    "Complex z(1, 2); Complex *p = &z; p->re = 4; *p *= Complex(0, 1); A[0] = z.re + 10 * (*p).im;",
    "A[0] = given(n) + given(n, Complex(4), {1}) * 10; Complex z(3); A[1] = given(1, z) + later(n) * 10 + later(1, 2);",
]  # fmt: skip


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
@pytest.mark.parametrize("std", ["c++14", "c++17"])
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], std: str, tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path, std) == []


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_a_copy_that_is_none_since_cpp17(read: Callable[..., Reading], tmp_path: Path) -> None:
    body = "Own a = Own(3); A[0] = a.x;"
    assert differences(read, BEFORE, [body], tmp_path, "c++17") == []
    with pytest.raises(CudaError, match="a copy of 'Own' that a compiler may leave out"):
        read(f"{BEFORE}__global__ void k(int *A) {{ {body} }}", std="c++14")


KEEPS = """struct Self { int v, *p; __device__ Self() : v(1), p(&v) {} };
struct Refers { int v, &r; __device__ Refers() : v(1), r(v) {} };
struct Row { int v[3], *p; __device__ Row() : p(v + 1) {} };
template <class T> struct In { T s; int k; }; __device__ Self self() { return Self(); }
__device__ Self local() { Self s; return s; }
__device__ In<Row> row() { In<Row> t{}; t.k = 3; return (t); }
"""


@pytest.mark.parametrize(
    "body",
    [
        "In<Self> t{}; *t.s.p = 5;",
        "In<Self> t{Self(), 3};",
        "In<Refers> t{};",
        "In<Row> t{Row(), 3};",
        "Self s = self();",
        "Self s = local(); *s.p = 5;",
        "In<Row> t = row();",
    ],
)
def test_an_object_that_is_made_elsewhere_keeps_no_address_of_its_own(
    refused: Callable[[str, str], None], body: str
) -> None:
    refused(f"{KEEPS}__global__ void k(int *A) {{ {body} A[0] = 1; }}", "an object that keeps its own address")


REFUSED = {
    "Own a = give(3); A[0] = a.x;": "a function that returns a 'Own', whose constructor says what a copy is,",
    "Owned o(3), p = o; A[0] = p.x;": "a base class with a copy of its own in 'Owned' as a value",
    "Rng r(1); A[0] = r.next() + r.next() * 2 + r.next();": "C++ does not say which comes first",
    "Complex z(1); A[0] = z.re + (z *= Complex(2)).re;": "",
    "Counter c = {1}; A[0] = c - c++;": "",
    "Vec<int, 2> v(1); A[0] = v[0] + (v += v)[1];": "",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(f"{BEFORE}__global__ void k(int *A, int *B, int n) {{ {body} }}", REFUSED[body])
