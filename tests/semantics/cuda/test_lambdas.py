"""Lambdas: inlined where they are called, with the variables around them as they are there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.lowered import Lowered

Reader = Callable[..., Reading]

BEFORE = """
struct S { int x, y; int a[2]; };
struct W { int q; __device__ int m() const { auto h = [&](int i) { return q + i; }; return h(2); } };
template <class F> __device__ int apply(F f, int v) { return f(v); }
template <class F> __device__ int both(const F &f, int v) { return f(v) * 100 + f(v + 1); }
template <class F> __device__ void each(F &&f, int n) { for (int i = 0; i < n; i++) f(i); }
__device__ int g(int *p, int x) { auto f = [&](int i) { return p[i] + x; }; x++; return f(0) + f(1); }
template <class F> __device__ int copies(F f) { auto h = [=](int i) { return f(i); }; return h(2); }
__device__ int two(int a, int b) { return a * b; }
__device__ auto make(int i) { auto f = [=](int j) { return i + j; }; return f; }
#define OTHER s
#define LAMBDA [=](int i) { return s + i; }
#define BEFORE_LAMBDA int z = 1; auto f = [=](int i)
"""


def kernel(body: str) -> str:
    return f"{BEFORE}__global__ void k(int *A, int *B, S *P, W w, int n) {{ int s = 1; {body} }}"


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
}  # fmt: skip


@pytest.mark.parametrize("std", ["c++14", "c++17"])
@pytest.mark.parametrize("body", RUN)
def test_contents(read: Reader, body: str, std: str) -> None:
    """B is 1, 2, 3, .."""
    lowered = Lowered({"n": 3, "w.q": 100})
    lowered.cells |= {("B", i): i + 1 for i in range(9)}
    lowered.run(read(kernel(body), std=std).kernel.body)
    assert {i: value for (name, i), value in lowered.cells.items() if name == "A"} == RUN[body]


CHANGED = "is changed and used in one expression"
COPY = "a lambda with a copy of '{}', which may change, is not supported"
NAMED = "an object that is found by more than its name is not supported"
REFUSED = {
    "auto f = [&, OTHER](int i) { return s; }; s = 0; A[0] = f(3);": "a macro in what a lambda captures is not "
    "supported",
    # what finds the lambda is evaluated, and nobody lowers it
    "auto f = [&](int i) { return i; }; A[0] = (two(s, 1), f)(2);": NAMED,
    "auto f = [&](int i) { return i; }; A[0] = (s += 2, f)(2);": NAMED,
    "auto f = [&](int i) { return i; }; A[0] = (A[0] ? f : f)(3);": NAMED,
    "auto f = [&](int i) { return i; }; A[0] = (two(s, 1), f).operator()(3);": NAMED,
    "auto f = [=](int i) { return s + i; }; s = 3; A[0] = f(3);": COPY.format("s"),
    "auto f = [&, s](int i) { return s + i; }; s = 3; A[0] = f(3);": COPY.format("s"),
    "auto f = [s](int i) { return s + i; }; two(s++, 1); A[0] = f(3);": COPY.format("s"),
    "auto f = [=](int i) mutable { s++; return s; }; A[0] = f(1);": COPY.format("s"),
    "auto h = [&]() { s++; }; auto f = [=](int i) { return s; }; h(); A[0] = f(1);": COPY.format("s"),
    "int &r = s; auto f = [=](int i) { return r; }; s = 2; A[0] = f(1);": COPY.format("r"),
    "int v[2] = {1, 2}; auto f = [=](int i) { return v[1]; }; v[1] = 3; A[0] = f(1);": COPY.format("v"),
    "S t; auto f = [=](int i) { return t.a[1]; }; t.a[1] = 3; A[0] = f(1);": COPY.format("t"),
    "int *p = A; auto f = [=](int i) { return *p; }; p++; A[0] = f(1);": COPY.format("p"),
    "auto f = LAMBDA; s = 2; A[0] = f(1);": COPY.format("s"),
    "BEFORE_LAMBDA { return z + i; }; z = 2; A[0] = f(1);": COPY.format("z"),
    "auto f = [m = s](int i) { return m; }; A[0] = f(1);": "the capture 'm = s' is not supported",
    "auto f = [&](auto i) { s++; return i; }; A[0] = f(1);": "a lambda with a parameter of any type is not supported",
    "auto f = make(1); auto h = make(2); A[0] = f(1);": "a lambda that is not made here is not supported",
    "A[0] = make(1)(2);": NAMED,
    "A[0] = w.m();": "the member 'q' of this object is not supported",
    "int (*f)(int) = [](int i) { return i; }; A[0] = f(1);": "a lambda as a pointer is not supported",
    # what a lambda does is done where it is called
    "auto f = [&](int i) { return s += i; }; A[0] = s + f(3);": CHANGED,
    "auto f = [&](int i) { return s += i; }; A[s] = f(3);": CHANGED,
    "auto f = [&](int i) { s++; return i; }; A[0] = two(s, f(1));": CHANGED,
    "auto f = [&](int i) { s++; return i; }; A[s] = apply(f, 1);": CHANGED,
    "A[s] = apply([&](int i) { s++; return i; }, 1);": CHANGED,
    "auto f = [&](int i) { s++; return i; }; auto h = [&](int i) { return f(i); }; A[s] = h(1);": CHANGED,
    "auto f = [&](int i) { s++; return i; }; auto h = [=](int i) { return f(i); }; A[s] = h(1);": CHANGED,
    "auto f = [&](int i) { s++; S t = {i, s, {0, 0}}; return t; }; P[s] = f(1);": CHANGED,
    "auto f = [&](int i) { s++; return i; }; A[0] = s + (f(1), 2);": CHANGED,
    "auto f = [&](int i) { A[i]++; return i; }; A[0] = f(1) + A[1];": CHANGED,
    "auto f = [&](int i) { int m[2] = {0, 0}; m[i++] = i; return m[1]; }; A[0] = f(1);": CHANGED,
    "auto f = [&](int i) { auto g = [&](int j) { return j << j++; }; return g(i); }; A[0] = f(1);": CHANGED,
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(kernel(body), REFUSED[body])


def test_one_that_the_host_makes(read: Reader) -> None:
    text = "template <class F> __global__ void k(int *A, F f) { A[0] = f(2); }\n"
    host = "void host(int *d) { int z = 3; auto f = [=] __device__(int i) { return i + z; }; k<<<1, 32>>>(d, f); }"
    with pytest.raises(CudaError, match="a call of a lambda that is not made in the kernel"):
        read(text + host)


def test_lambdas_of_lambdas_have_an_end(read: Reader) -> None:
    """Each calls the one before it twice."""
    more = " ".join(f"auto f{i} = [&] {{ return f{i - 1}() + f{i - 1}(); }};" for i in range(1, 30))
    with pytest.raises(CudaError, match="the kernel has more than 4096 calls"):
        read(kernel(f"auto f0 = [&] {{ return s; }}; {more} A[0] = f29();"))
