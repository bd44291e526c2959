"""What changes a variable is seen however it is written: what is kept of it from before would be wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
struct P { int i, r; __device__ void add() { r += 7; } __device__ P &me() { return *this; }
  __device__ int &operator[](int k) { return k ? r : i; } __device__ P &operator++() { r++; return *this; }
  __device__ int twice() { auto f = [&]() -> int & { return r; }; f() *= 2; return r; }
  __device__ int more() { auto f = [&e = r] { e += 3; }; f(); return r; }
  __device__ int later() { auto f = [e = r++] { return e; }; return f(); } };
struct O { int a, b, c; __device__ O(int x) : a(x++), b(x * 10) { c = x * 100; } };
struct B { int k; __device__ B(int k) : k(k) {} }; struct D : B { int l; __device__ D(int x) : B(x++), l(x) {} };
struct Q : P { int v[2]; __device__ P &base() { return *this; } };
__device__ int one(P p, P q) { (p.i ? p : q).r++; return p.r * 10 + q.r; }
__device__ int other(P p) { auto f = [&]() -> P & { return p; }; f().r++; return p.r; }
__device__ int third(int x) { auto f = [e = x++] { return e; }; return f() * 10 + x; }
"""
CHANGES = [
    # a part of one of two structures
    "(n ? d : s).r++;",
    "(n ? d : s).add();",
    "(n ? d : s)[1] = 4;",
    "++(n ? d : s);",
    "(n ? d : s).me().add();",
    "Q q{d}, t = q; int z = t.v[1]; (n ? t : q).v[1] = 5; y = z + t.v[1];",
    "y = one(d, s) + d.r;",
    # what a constructor does before its body
    "O o(n); y = o.a + o.b + o.c;",
    "D e(n); y = e.k * 10 + e.l;",
    # what a lambda returns as a reference
    "auto f = [&]() -> P & { return d; }; f().r++;",
    "auto f = [&](P &e) -> auto & { return n ? e : s; }; f(d).add();",
    "auto f = [&]() -> decltype(auto) { return (y); }; f() += 5;",
    "Q q{d}, t = q; int z = t.r; auto f = [&]() -> P & { return t; }; f().r++; y = z + t.r;",
    "y = other(d) + d.r;",
    "P t = d; int z = t.r; y = t.twice(); y += z + t.r * 10;",
    # what a lambda captures by a name of its own
    "auto f = [&e = d] { e.r++; }; f();",
    "auto f = [e = &d] { e->r++; }; f();",
    "auto f = [&e = n ? d : s] { e.r++; }; f();",
    "auto f = [e = y++] { return e; }; y += f();",
    "y = third(d.r) + d.r;",
    "P t = d; int z = t.r; y = t.more(); y += z + t.r * 10;",
    "P t = d; int z = t.r; y = t.later(); y += z + t.r * 10;",
]


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    start = "P c{1, n}, d = c, s{2, 3}; int y = d.r, &x = A[d.r];"
    assert differences(read, BEFORE, [f"{start} {c} x = d.r * 10 + y + c.r;" for c in CHANGES], tmp_path) == []
