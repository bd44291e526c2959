"""Lambdas: inlined where they are called, with the variables around them as they are there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading, state
from tests.semantics.cuda.lowered import Lowered
from tests.semantics.cuda.native import COMPILER, differences

Reader = Callable[..., Reading]

BEFORE = """
struct M { int x = 3;
  __device__ int own() { auto f = [*this]() mutable { return x++; }; return f(); }
  template <class F> __device__ int on(F f, int) { return f(); }
  __device__ int both(int i) { return on([*this] { return x; }, x = i); } };
struct S { int x, y; int a[2]; };
struct W { int q; __device__ int m() const { auto h = [&](int i) { return q + i; }; return h(2); } };
template <class F> __device__ int apply(F f, int v) { return f(v); }
template <class F> __device__ int on(F &&f, int v) { return static_cast<F &&>(f)(v); }
template <class F> __device__ int both(const F &f, int v) { return f(v) * 100 + f(v + 1); }
template <class F> __device__ void each(F &&f, int n) { for (int i = 0; i < n; i++) f(i); }
__device__ int g(int *p, int x) { auto f = [&](int i) { return p[i] + x; }; x++; return f(0) + f(1); }
template <class F> __device__ int copies(F f) { auto h = [=](int i) { return f(i); }; return h(2); }
__device__ int two(int a, int b) { return a * b; }
__device__ auto make(int i) { auto f = [=](int j) { return i + j; }; return f; }
#define OTHER s
#define LAMBDA [=](int i) { return s + i; }
#define BEFORE_LAMBDA int z = 1; auto f = [=](int i)
#define MUTABLE [=](auto i) mutable { s += i; return s; }
"""


COPIES = """
struct T { int x; int a[2]; };
struct Pt { int x, y; };
struct W { int q;
  __device__ int m() const { auto h = [&](int i) { return q + i; }; return h(2); }
  __device__ int c() const { auto h = [=](int i) { return q * i + this->q; }; return h(2); }
  __device__ void inc(int k) { auto h = [this, k]() { q += k; twice(); }; h(); h(); }
  __device__ void grow(int k) { auto h = [&](auto x) { q += x; return q; }; h(k); h(short(1)); }
  __device__ void twice() { q *= 2; } };
template <class F> __device__ void each(F f, int n) { for (int i = 0; i < n; i++) f(i); }
template <class F, class... T> __device__ int on(F &&f, T &&...x) {
  return static_cast<F &&>(f)(static_cast<T &&>(x)...); }
template <class F> __device__ int moved(F f, int x) {
  return static_cast<F &&>((f))(x) + (static_cast<const F &>(f))(x); }
__device__ int two(int a, int b) { return a * b; }
struct O { int x = 3;
  __device__ int twice() const { return x * 2; }
  template <class F> __device__ int on(F f, int k) { x++; return f(k); }
  __device__ int own(int i) { auto f = [=, *this](int k) { return x + i + this->x * k + twice(); }; x = 7;
    return f(5) + on([*this](int k) { return k + x; }, 4); }
  __device__ int inner(int i) { auto f = [*this, i] { auto g = [&] { return x + i; }; return g(); }; x++; return f(); }
};
#define LAMBDA [=](int i) { return s + i; }
#define BEFORE_LAMBDA int z = 1; auto g = [=](int i)
"""


def kernel(*bodies: str) -> str:
    """The kernel `k`, or of several bodies `k0`, `k1` and so on."""
    params = "int *A, int *B, S *P, W w, int n"
    names = ["k"] if len(bodies) == 1 else [f"k{i}" for i in range(len(bodies))]
    made = (f"__global__ void {k}({params}) {{ int s = 1; {b} }}\n" for k, b in zip(names, bodies, strict=True))
    return BEFORE + "".join(made)


RUN: dict[str, dict[int, int]] = {
    "auto f = [&](int i) { return B[i] * s; }; A[0] = f(3) + f(4); s = 10; A[1] = f(3);": {0: 9, 1: 40},
    "auto f = [=](int i) { return B[i] * n; }; A[0] = f(3);": {0: 12},
    # the loop of the lambda runs inside the other one, with its counter
    "int i; auto f = [&] { for (i = 0; i < 9; i++) { if (i == 0) break; } };"
    " for (i = 0; i < 1; i++) { f(); if (i == 0) A[1] = 70; i = 5; }": {1: 70},
    "auto f = [](int i) { return 2 * i; }; A[0] = f(n) + [&](int i) { return s + i; }(4);": {0: 11},
    "auto f = [&, n](int i) { s += i * n; }; f(1); f(s); A[0] = s;": {0: 16},
    "auto f = [n, &s](int i) { s = n; return i; }; int r = f(5); A[0] = s * 10 + r;": {0: 35},
    "auto f = [&](int i) -> int { n++; return i * n; }; A[0] = f(n); A[1] = n;": {0: 12, 1: 4},
    "auto f = [&](int i) { return i * n; }; A[0] = f(n++);": {0: 12},
    "auto f = [&](int n) { int s = n; { int n = 2; s += n; } return s + n; }; A[0] = f(5) + n + s;": {0: 16},
    "auto f = [&](int i) { for (int j = 0; j < i; j++) if (B[j] > 2) return j; return -1; };"
    "for (int i = 0; i < 4; i++) { if (f(i) > 1) break; A[i] = f(i); }": {0: -1, 1: -1, 2: -1},
    "auto f = [&](int i) { auto h = [&](int j) { return i * j + n; }; return h(2) + h(3); }; A[0] = f(1) + f(2);"
    "A[1] = f(1) + f(2);": {0: 27, 1: 27},
    "auto f = [&](int i) { return s + i; }; auto h = f; auto &r = f; s = 4; A[0] = f(1) + h(1) + r(1);": {0: 15},
    "A[0] = apply([&](int i) { int r = s; r += i; return r; }, 4) + apply([=](int i) { return i * n; }, 2);": {0: 11},
    "auto f = [&](int i) { return i + s; }; s = 2; A[0] = both(f, 1) + apply(f, 1);": {0: 307},
    "int t = 0; each([&](int i) { t += B[i]; A[i] = t; }, n); A[3] = t;": {0: 1, 1: 3, 2: 6, 3: 6},
    "auto f = [&](int i) { A[i] = s++; }; each(f, 2); each(f, 3);": {0: 3, 1: 4, 2: 5},
    "A[0] = g(B, s) + g(B + 1, g(B, 2));": {0: 7 + 5 + 20},
    "int i; auto f = [&]() { return i; }; for (i = 0; i < n; i++) { if (B[i] > 1) break; } A[0] = f();": {0: 1},
    "for (int i = 0; i < n; i++) { auto f = [&](int j) { return i + j; }; if (f(1) > 1 && f(2) < 9) A[i] = f(3); }": {
        1: 4, 2: 5,
    },
    "while ([&]() { return s < n; }()) { s++; A[s] = 1; }": {2: 1, 3: 1},
    "int v[3] = {1, 2, 3}; auto f = [&](int i) { v[1] += i; return v[2]; }; int r = f(4); A[0] = v[1] * 10 + r;": {
        0: 63,
    },
    "S t = {1, 2}; auto f = [&]() { t.x = 7; S u = {t.x, 1}; return u; }; S v = f(); A[0] = t.x * 10 + v.y;": {0: 71},
    "__shared__ int m[4]; auto f = [=](int i) { m[i] = i + 1; return m[i]; }; int r = f(2); A[0] = r;": {0: 3},
    "auto f = [&](int i) { return s + i; }; s = 2; A[0] = copies(f);": {0: 4},
    "if (apply([&](int i) { int r = s; return r + i; }, 2) == 3) A[0] = 1;": {0: 1},
    "int *p = B + 1; auto f = [=](int i) { return p[i] + w.q; }; A[0] = f(1);": {0: 103},
    "auto f = [&](int i) { s++; return i; }; A[0] = n && f(1); A[1] = s;": {0: 1, 1: 2},
    # what is captured by reference is not looked at until the call
    "A[0] = apply([&](int i) { return 10 * s + i; }, s++);": {0: 21},
}  # fmt: skip


@pytest.mark.parametrize("std", ["c++14", "c++17"])
@pytest.mark.parametrize("body", RUN)
def test_contents(read: Reader, body: str, std: str) -> None:
    """B is 1, 2, 3, .."""
    lowered = Lowered({"n": 3, "w.q": 100})
    lowered.cells |= {("B", i): i + 1 for i in range(9)}
    lowered.run(read(kernel(*RUN), f"k{[*RUN].index(body)}", std=std).kernel.body)
    assert {i: value for (name, i), value in lowered.cells.items() if name == "A"} == RUN[body]


CHANGED = "is changed and used in one expression"
OWN = "a copy of a lambda that changes what it captured is not supported"
NAMED = "an object that is found by more than its name is not supported"
REFUSED = {
    "auto f = [&, OTHER](int i) { return s; }; s = 0; A[0] = f(3);": "a macro in what a lambda captures is not "
    "supported",
    # one lambda has a copy of s, and the one that it calls means s itself
    "auto f = [=](auto g) { return g(s) + s; }; s = 5; A[0] = f([&](int x) { return x * 10 + s; });": "a lambda that "
    "another one calls which has a copy of the same variable is not supported",
    # what finds the lambda is evaluated, and nobody lowers it
    "auto f = [&](int i) { return i; }; A[0] = (two(s, 1), f)(2);": NAMED,
    "auto f = [&](int i) { return i; }; A[0] = (s += 2, f)(2);": NAMED,
    "auto f = [&](int i) { return i; }; A[0] = (A[0] ? f : f)(3);": NAMED,
    "auto f = [&](int i) { return i; }; A[0] = (two(s, 1), f).operator()(3);": NAMED,
    "auto f = MUTABLE; A[0] = f(1);": "a copy of 'i' in a lambda is not supported",
    "auto f = [=](int i) mutable { s++; return s; }; auto g = f; A[0] = g(1);": OWN,
    "auto f = [=](int i) mutable { s++; return s; }; auto g = [=](int i) mutable { return f(1); }; A[0] = g(1);": OWN,
    "auto f = [k = s](int i) mutable { return k++; }; auto g = f; A[0] = g(1);": OWN,
    "auto f = [=](auto i) mutable { s += i; return s; }; A[0] = apply(f, 2);": OWN,
    "int v[2]; auto f = [v](int i) mutable { v[i]++; }; f(1);": "a lambda that changes its copy of 'v' is",
    "auto f = [=](int i) mutable { return s++; }; A[0] = f(1) * 2 + f(2);": CHANGED,
    "M m; A[0] = m.own();": "the capture '*this' of this object is not supported",
    "M m; A[0] = m.both(8);": CHANGED,
    "auto f = make(1); auto h = make(2); A[0] = f(1);": "a lambda that is not made here is not supported",
    "A[0] = make(1)(2);": NAMED,
    "auto f = [](int i) { return i; }; int (*g)(int) = f; A[0] = g(1);": "a lambda as a pointer is not supported",
    "A[0] = apply([=](int i) { return s + i; }, s++);": CHANGED,
    "auto h = [&]() { return s++; }; A[0] = apply([=](int i) { return s + i; }, h());": CHANGED,
    # what a lambda does is done where it is called
    "auto f = [&](int i) { return s += i; }; A[0] = s + f(3);": CHANGED,
    "auto f = [&](int i) { s++; return i; }; A[0] = two(s, f(1));": CHANGED,
    "auto f = [&](int i) { s++; return i; }; A[0] = s + apply(f, 1);": CHANGED,
    "auto f = [&](int i) { s++; return i; }; A[0] = s + on(f, 1);": CHANGED,
    "A[0] = s + on([&](int i) { s++; return i; }, 1);": CHANGED,
    "A[0] = s + apply([&](int i) { s++; return i; }, 1);": CHANGED,
    "auto f = [&](int i) { s++; return i; }; auto h = [&](int i) { return f(i); }; A[0] = s - h(1);": CHANGED,
    "auto f = [&](int i) { s++; return i; }; auto h = [=](int i) { return f(i); }; A[0] = s - h(1);": CHANGED,
    "auto f = [&](int i) { s++; S t = {i, s, {0, 0}}; return t; }; A[0] = s - f(1).x;": CHANGED,
    "auto f = [&](int i) { s++; return i; }; A[0] = s + (f(1), 2);": CHANGED,
    "auto f = [&](int i) { A[i]++; return i; }; A[0] = f(1) + A[1];": CHANGED,
    "auto f = [&](int i) { int m[2] = {0, 0}; m[0] = i++ + i; return m[0]; }; A[0] = f(1);": CHANGED,
    "auto f = [&](int i) { auto g = [&](int j) { return j * j++; }; return g(i); }; A[0] = f(1);": CHANGED,
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(kernel(body), REFUSED[body])


BODIES = [
    "int s = 1; auto f = LAMBDA; s = 2; A[0] = f(1); BEFORE_LAMBDA { return z + i; }; z = 2; A[1] = g(1);",
    "int s = 1; auto f = [=](int i) { return s + i; }; s = 3; A[0] = f(3); auto h = f; s = 9; A[1] = h(1) + s;",
    "int s = 1; auto f = [&, s](int i) { n++; return s + i; }; s = 3; n = 7; A[0] = f(3); A[1] = n;",
    "int s = 1; auto f = [s](int i) { return s + i; }; two(s++, 1); A[0] = f(3) * 10 + s;",
    "int s = 1; auto h = [&]() { s++; }; auto f = [=](int i) { return s; }; h(); A[0] = f(1) * 10 + s;",
    "int s = 1; int &r = s; auto f = [=](int i) { return r; }; s = 2; A[0] = f(1) * 10 + r;",
    "int v[2] = {1, n}; auto f = [=](int i) { return v[i]; }; v[1] = 7; A[0] = f(1) * 10 + v[1];",
    "T t = {1, {2, n}}; auto f = [=](int i) { return t.a[i] + t.x; }; t.a[1] = 30; t.x = 5; A[0] = f(1); A[1] = f(0);",
    "int *p = A; auto f = [=](int i) { return p[i]; }; p++; A[3] = f(1) + *p;",
    "for (int i = 0; i < n; i++) { auto f = [=](int j) { return i * 10 + j; }; i++; A[i] = f(i); }",
    "int s = n; auto f = [m = s * 2, &r = s, p = A + 1](int i) { r += i; p[i] = m; return m; }; s = 5; A[0] = f(2);",
    "auto f = [m = n](auto i, int j) { return m * i + j; }; n = 5; A[0] = f(2, n); short h = 3; A[1] = f(h, 1);",
    "int s = 0; auto f = [&](auto x) { s += x; return x; }; f(3); A[0] = s; f(n); A[1] = s; A[2] = s;",
    "int s = 0; each([&](auto i) { s += i; }, n); A[2] = s;",
    "int s = 2; auto f = [=](auto x) { return x + s; }; s = 5; A[0] = f(1);",
    "W w = {n}; A[0] = w.m() + w.c(); w.inc(4); A[1] = w.q; w.grow(2); A[2] = w.q;",
    "int s = 1; auto f = [=](int i) { auto h = [=](int j) { return s + j + i; }; return h(i); }; s = 5; A[0] = f(2);",
    "int s = 1; each([=](int i) { A[i] = s * 10 + i; }, s + 2); s = 2;",
    "Pt q = {n, 1}; q.x++; auto f = [q](int i) { return q.x * i + q.y; }; q.y = 9; A[0] = f(2);",
    "Pt q = {n, 1}; auto g = [=] { return q; }; q.x = 0; A[1] = g().x;",
    "int s = 1; auto f = [&](int i, int j) { s += i; return s * j; }; A[0] = on(f, 3, n); A[1] = on(f, s, s) + n;",
    "int s = 1; A[0] = on([=](int i) { return s + i; }, n) * 2; A[1] = moved([&](int i) { return i * n; }, 4);",
    "int c = 3; auto f = [c, n]() mutable { c += n; return c; }; A[0] = f(); c = 7; A[1] = f(); A[2] = c;",
    "int c = 3; auto f = [=](int x) mutable { return c += x; }; for (int i = 0; i < n; i++) A[i] = f(i); A[8] = f(c);",
    "auto f = [n]() mutable { return n++; }; A[0] = f(); int x = f(); A[1] = f() * 10 + x; A[2] = n;",
    "int c = 1; auto f = [c](auto x) mutable { c *= 2; return c + x; }; A[0] = f(1); A[1] = f(2); A[2] = c;",
    "auto f = [k = n]() mutable { return k++; }; int x = f(); A[0] = f() * 10 + x; auto &g = f; A[1] = g();",
    "for (int i = 0; i < 3; i++) { int c = i; auto f = [c]() mutable { return c += 2; }; f(); A[i] = f(); }",
    "int c = 2; auto f = [c]() mutable { return c += c > 2; }; auto g = [&] { return f(); }; A[0] = g(); A[1] = g();",
    "O o; A[0] = o.own(n); A[1] = o.x; A[2] = o.inner(n);",
    "int c = 2; auto f = [=](int i) mutable { return A[c++] + i; }; A[0] = f(0); int &r = A[c]; r = 50; A[1] = f(1);",
]  # fmt: skip


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_copies_as_a_host_compiler_has_them(read: Reader, tmp_path: Path) -> None:
    assert differences(read, COPIES, BODIES, tmp_path) == []


def test_one_that_is_forwarded(read: Reader) -> None:
    text = "template <class F> __device__ int on(F &&f, int v) { return std::forward<F>(f)(v) + std::move(f)(v); }\n"
    text += "__global__ void k(int *A, int n) { A[0] = on([=](int i) { return i * n; }, 4); }\n"
    assert show_stmt(read("#include <utility>\n" + text).kernel.body).count("* n") == 2


def test_one_that_the_host_makes(read: Reader) -> None:
    """Its copies are parameters, of each kernel's own."""
    text = "template <class F, class G> __global__ void k(int *A, F f, G g) { A[0] = f(2) * g(1); }\n"
    host = (
        "void host(int *d, P p) { int z = 3; auto f = [=] __device__(int i) { return i + z + p.v[i]; }; z = 4;"
        " k<<<1, 32>>>(d, f, [=] __device__(int i) { return d[i] - z; }); }"
    )
    found = read(f"struct P {{ int *v; int n; }};\n{text}{host}")
    assert show_stmt(found.kernel.body).splitlines() == [
        "i <- 2;", "i_1 <- 1;", "A[0] <- (i + f.z + f.p.v[i]) * (g.d[i_1] - g.z);",
    ]  # fmt: skip
    with pytest.raises(CudaError, match="capture host variable 'd' by reference"):
        read(f"struct P {{ int *v; int n; }};\n{text}{host.replace('f, [=]', 'f, [&]')}")


def test_one_that_the_host_makes_of_another_one(read: Reader) -> None:
    """As libraries of tensors do: the functions that make them are templates, which name them by references."""
    text = "struct Rows { char *p[3]; __host__ __device__ char *&operator[](int i) { return p[i]; } };\n"
    text += "template <class F> __global__ void k(int n, F f) { if (threadIdx.x < n) f(threadIdx.x); }\n"
    text += "template <class F> void launch(int n, const F &f) { k<F><<<1, 64>>>(n, f); }\n"
    text += "template <class F> void all(int n, Rows r, const F &f) {"
    text += " launch(n, [=] __device__(int i) mutable { ((int *)r[0])[i] = f(((int *)r[1])[i]); }); }\n"
    text += "void host(int n, Rows r, int z) { all(n, r, [=] __device__(int x) { return x + z; }); }\n"
    found = show_stmt(read(text).kernel.body)
    assert "x <- memory.int32[t + i];" in found, found
    assert "memory.int32[t_1 + i] <- x + f.f.z;" in found, found
    twice = text.replace("(int n, F f)", "(int n, F f, F g)").replace("(n, f);", "(n, f, f);", 1)
    with pytest.raises(CudaError, match="one lambda of the host twice"):
        read(twice)


def test_one_in_a_field_of_what_the_host_passes(read: Reader) -> None:
    """The kernel has one of its type: another object of that, in memory, has other copies."""
    text = "template <class F> struct Op { F f; int s;\n"
    text += "  __device__ int operator()(int x) const { return this->f(x) * s; } };\n"
    text += "template <class F, class G> struct Both { F a; G b;\n"
    text += "  __device__ int operator()(int x) const { return this->a((*this).b(x)); } };\n"
    text += "template <class F> __device__ int call(F f, int x) { return f(x); }\n"
    text += "template <class F> __global__ void k(int *A, F op, const F *more) { A[threadIdx.x] = BODY; }\n"
    text += "void host(int *A, int n) { auto f = [=] __device__(int x) { return A[x + n]; };\n"
    text += "  auto g = [=] __device__(int x) { return x ^ n; };\n"
    text += "  Both<Op<decltype(f)>, Op<decltype(g)>> c{{f, 2}, {g, 3}}; k<<<1, 64>>>(A, c, &c); }\n"
    for body in ("op(7)", "call(op, 7)", "op.a(op.b(7))", "(op.a).f((op.b.f)(7) * op.b.s) * op.a.s"):
        found = show_stmt(read(text.replace("BODY", body)).kernel.body)
        assert " ^ op.b.f.n" in found, found
        assert "op.a.f.A[" in found, found
        assert "op.a.f.n]" in found, found
    for body in ("more[1](7)", "more->a.f(7)", "more[0].b(7) + op(7)"):
        with pytest.raises(CudaError, match=NAMED):
            read(text.replace("BODY", body))


def test_lambdas_of_lambdas_have_an_end(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each calls the one before it twice."""
    monkeypatch.setattr(state, "MOST_PARTS", 256)
    more = " ".join(f"auto f{i} = [&] {{ return f{i - 1}() + f{i - 1}(); }};" for i in range(1, 30))
    with pytest.raises(CudaError, match="the kernel has more than 256 calls"):
        read(kernel(f"auto f0 = [&] {{ return s; }}; {more} A[0] = f29();"))


COPYING = """
struct C { int *p; int q; __device__ C(int *a) : p(a), q(1) {}
  __device__ C(const C &o) : p(o.p), q(o.q) { p[8 * threadIdx.x] = 2; }
  __device__ int own() { auto f = [*this] { return q; }; return f(); }
  __device__ int lent() { auto f = [this] { return q; }; return f(); } };
struct M { int q[4]; int r; };
template <class F> __device__ int call(F f) { return f(); }
template <class F> __device__ int lend(const F &f) { return f(); }
"""


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("auto f = [c] { return 1; };", "copies 'c', whose type says itself what a copy is"),
        ("auto f = [c] { return c.q; };", "copies 'c', whose type"),
        ("auto f = [=] { return c.q; }; f();", "copies 'c', whose type"),
        ("const C &d = c; auto f = [d] { return d.q; };", "copies 'd', whose type"),
        ("call([c] { return c.q; });", "copies 'c', whose type"),
        ("c.own();", "copies 'C', whose type"),
        ("auto f = [d = c] { return d.q; }; auto g = f;", "copies 'd', whose type"),
        ("auto f = [d = c] { return d.q; }; call(f);", "copies 'd', whose type"),
        ("auto f = [d = c] { return d.q; }; auto g = [f] { return 1; };", "copies 'd', whose type"),
        ("M &m = ms[2 * threadIdx.x]; auto f = [m] { return 1; };", "copies 'm' and does not use it"),
        ("int &r = ms[2 * threadIdx.x].r; auto f = [r] { return 1; };", "copies 'r' and does not use it"),
        ("auto &[q, r] = ms[2 * threadIdx.x]; auto f = [r] { return 1; };", "copies 'r' and does not use it"),
    ],
)
def test_a_copy_that_does_something_is_not_left_out(read: Reader, body: str, word: str) -> None:
    """A lambda is no object here: what its captures would call or read, as they are made or as it is copied, would
    cost nothing."""
    text = f"{COPYING}__global__ void k(int *a, M *ms) {{ C c(a); {body} }}"
    with pytest.raises(CudaError, match=word):
        read(text, std="c++17")


@pytest.mark.parametrize(
    ("body", "writes"),
    [
        ("auto f = [&c] { return c.q; }; call(f); auto g = f;", 0),
        ("auto f = [&d = c] { return d.q; }; call(f);", 0),
        ("auto f = [d = c] { return d.q; }; f(); lend(f);", 1),
        ("auto f = [d = C(a)] { return d.q; };", 0),
        ("auto f = [i] { return 1; }; auto g = [f] { return f(); }; auto h = [g] { return 2; };", 0),
        ("c.lent();", 0),
        ("C d = c, e(d);", 2),
    ],
)
def test_copies_that_are_made_elsewhere_are_counted(read: Reader, body: str, writes: int) -> None:
    text = f"{COPYING}__global__ void k(int *a, int i) {{ C c(a); {body} }}"
    assert show_stmt(read(text, std="c++17").kernel.body).count("] <- 2;") == writes


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("auto g = f; o[0] = g();", "copies 'c', whose type"),
        ("o[0] = call(f);", "copies 'c', whose type"),
        ("auto g = [=] { return f(); }; o[0] = g();", "copies 'c', whose type"),
        ("auto g = [f] { return 1; }; o[0] = g();", "copies 'c', whose type"),
        ("auto g = [&] { return f(); }; o[0] = g() + f() + lend(f);", ""),
    ],
)
def test_a_copy_of_one_that_the_host_makes_calls_what_it_holds(read: Reader, body: str, word: str) -> None:
    text = COPYING.replace("__device__ C(", "__host__ __device__ C(")
    text += f"template <class F> __global__ void k(F f, int *o) {{ {body} }}\n"
    host = "auto f = [=] __device__() { return c.q; };"
    for made in (host, f"auto e = [=] __device__() {{ return c.q; }}; {host.replace('c.q', 'e()')}"):
        whole = f"{text}void host(int *o) {{ C c(o); {made} k<<<1, 32>>>(f, o); }}"
        if not word:
            read(whole, std="c++17")
            continue
        with pytest.raises(CudaError, match=word):
            read(whole, std="c++17")
