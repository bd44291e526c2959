"""Unions: the members of one are the same bytes, as a host compiler has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
struct P { int a; unsigned b; };
union U { int i; unsigned u; };
union W { P p; int v[2]; unsigned m[2][1]; };
struct S { int kind; U u; W w; };
struct V { int kind; union { int x; unsigned y; }; __device__ int get() const { return x; } };
struct N { int a; struct { int b; union { int i; unsigned j; struct { int k; }; }; }; int c;
  __device__ unsigned low(int x) { i = x; return j & 255u; } };
struct M { int a; struct { int b, c; struct { int d; }; }; };
struct Parted { unsigned lo : 9, mid : 14; int top : 9; };
union F { int i; unsigned u; Parted b; };
union G { unsigned v[2]; struct { Parted b; int n : 20; unsigned z : 12; } p; };
union Y { struct { unsigned char lo : 4, hi : 4; } n; unsigned char w; };
union C { int i; unsigned u;
  __device__ C(int x) : i(-x) {} __device__ C(unsigned x) { u = x >> 1; ++i; } C() = default; };
__device__ int mids(F f) { f.b.mid++; return f.b.mid * 2 + f.b.top; }
__device__ U made(int x) { U u; u.i = x; return u; }
__device__ W either(const W *p, int x) { if (x > 3) { W w = {{x, 5}}; return w; } return *p; }
__device__ U passed(U u) { u.u >>= 1; return u; }
struct Has { U u; int k; __device__ U get() const { return u; } };
__device__ Has has(int x) { Has h; h.u = made(x); h.k = 3; return h; }
__device__ int top(U u) { u.i = -u.i; return u.u >> 28; }
__device__ void fill(W &w, int x) { for (int &y : w.v) y = x++; }
"""

BODIES = [
    "U u; u.i = -1; A[0] = u.u >> 20; u.u = 4000000000u; A[1] = u.i / 1000; u.u++; A[2] = u.i;",
    "W w; w.v[0] = 5; w.p.b = 7; A[0] = w.p.a * 10 + w.v[1]; w.v[threadIdx.x & 1] = 9; A[1] = w.p.a * 10 + w.p.b;",
    "U u = {n}, v = u, w = {.u = 4294967295u}; v.u <<= 1; A[0] = u.i * 10 + v.i; u = w; A[1] = u.i; A[2] = top(u);",
    "U u{}; A[0] = u.i + 3; u.i = n; W w{}, z{}; A[1] = w.p.a + w.p.b; z.v[1] = n; A[2] = z.p.a + z.p.b;",
    "W w = {{n, 8}}; W z = w; z.p.a = 1; P p = z.p; p.a += w.m[1][0]; w.p = p; A[0] = w.v[0] * 10 + z.v[0];",
    "S s; s.kind = 1; s.u.i = -2; s.w.p.a = n; s.w.v[1] = 6; S t = s; t.u.u >>= 30; A[0] = s.u.i + t.u.i * t.w.p.b;",
    "W w; fill(w, n); A[0] = w.p.a + w.p.b; W *q = &w; q->v[1] = 2; A[1] = w.m[1][0];",
    "union { int x; unsigned y; } o; o.x = -1; A[2] = o.y >> 30;",
    "__shared__ union { int v[4]; unsigned m[4]; } s; s.v[threadIdx.x] = n; A[0] = s.v[threadIdx.x];",
    "V v; v.kind = 3; v.x = -1; A[0] = v.y >> 28; A[1] = v.get() * v.kind; V w = v; w.y = 9; A[2] = v.x * 10 + w.x;",
    "N m; m.a = 1; m.b = n; m.k = -5; m.c = 4; A[0] = (m.j >> 30) + m.b * 10; N z = m; A[1] = z.i + z.b * z.c;",
    "N m; m.a = 1; m.c = 2; A[2] = m.low(-3) + m.a * m.c;",
    "M m = {1, {n, 3, {4}}}; m.c += m.d; M z = m; M *q = &z; q->b = 7; A[0] = m.b * 100 + m.c * 10 + z.b; A[1] = q->d;",
    "struct { int q; struct { int x; struct { int y; }; }; } s[2]; s[n & 1].y = n; A[0] = 1;",
    "C c(n), d = C(7u), e{4000000000u}; A[0] = c.u >> 28; A[1] = d.i + (e.u >> 20); C f = e; f.i = n; A[3] = f.u;",
    # as values
    "U u = made(-n); A[0] = u.u >> 28; u = made(n * 9); A[1] = u.i; A[2] = made(n - 5).u >> 30; A[3] = top(made(n));",
    "W w; w.p.a = n; w.v[1] = 7; W z = either(&w, n); A[0] = z.p.a + z.m[1][0]; w = either(&z, 2); A[1] = w.v[0];",
    "U u = passed(passed(made(-n))); A[0] = u.i; Has h = has(n); A[1] = h.get().i * h.k; A[2] = has(-1).u.u >> 20;",
    # bit-fields
    "F f; f.i = -n * 1003; A[0] = f.b.lo; A[1] = f.b.mid; A[2] = f.b.top; f.b.mid = n; A[3] = f.u >> 8;",
    "F f = {n * 77777}; f.b.top -= 300; f.b.lo += 500; A[0] = f.i >> 4; A[1] = f.b.lo; A[2] = mids(f); A[3] = f.b.mid;",
    "F f; f.u = 4000000000u + n; Parted t = f.b; t.mid = 3; A[0] = t.lo + t.top; F g = f; g.b = t; A[1] = g.i >> 3;",
    "G g; g.v[0] = n * 12345; g.v[1] = ~0u - n; A[0] = g.p.n + g.p.z; g.p.n = -n; g.p.b.top = 7; A[2] = g.v[0] >> 9;",
    "G g; g.v[1] = 7u; g.v[0] = n; g.p.z = n; A[0] = g.p.n; g.v[threadIdx.x & 1] = 5; A[1] = g.p.b.lo * 10 + g.p.z;",
    "Y y; y.w = n * 37; A[0] = y.n.lo * 100 + y.n.hi; y.n.hi += 3; A[1] = y.w; y.n.lo = n + 14; A[2] = y.w;",
    "F f, *q = &f; q->i = n; q->b.top = -1; for (int i = 0; i < n; i++) q->b.lo = f.b.lo * 5 + i; A[1] = f.i >> 1;",
]  # fmt: skip


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []


LOWERED = {
    "union H { unsigned u; unsigned char b[4]; __device__ H(unsigned x) : u(x) {} } h(n + A[3]); A[0] = 2 * A[1];": [
        "x <- n + A[3] & 4294967295;", "A[0] <- 2 * A[1];",
    ],
    "union { float f; unsigned u; } x; x.f = F[n]; x.u &= 2147483647u; F[0] = x.f;": [
        "x_0 <- int(__float_as_uint(as_double(F[n])));", "x_0 <- x_0 & 2147483647;",
        "F[0] <- as_float(__uint_as_float(as_double(x_0)));",
    ],
    "union { float4 v; float a[4]; } x; x.v = ((float4 *)F)[n]; F[0] = x.a[0] + x.a[3];": [
        "t <- F.as_float4[n * 4];", "x_0 <- t;", "x_1 <- part(t, 4);", "x_2 <- part(t, 8);", "x_3 <- part(t, 12);",
        "F[0] <- x_0 + x_3;",
    ],
    # of members of several sizes nothing is known; what is evaluated is paid for
    "union { int i; unsigned char c[4]; } x; x.i = A[n]; A[0] = x.c[1];": [
        "t <- A[n];", "A[0] <- int(local(local(0.0, tid.x, tid.y), tid.z, 1));",
    ],
}  # fmt: skip


@pytest.mark.parametrize("body", LOWERED)
def test_contents(lower: Callable[..., str], body: str) -> None:
    assert lower(body).splitlines() == LOWERED[body]


PLACES = [("M", "c", 8), ("M", "d", 12), ("N", "b", 4), ("N", "i", 8), ("N", "k", 8), ("N", "c", 12), ("V", "y", 4)]
"""Members that are in something without a name, and where a host's compiler has them."""


@pytest.mark.parametrize(("name", "field", "offset"), PLACES)
def test_members_of_what_has_no_name_lie_in_it(
    read: Callable[..., Reading], name: str, field: str, offset: int
) -> None:
    reading = read(f"{BEFORE}__global__ void k({name} *S, int n) {{ S[n].{field} = 1; }}", "k")
    array = next(a for a in reading.kernel.arrays if a.name == f"S.{field}")
    assert (array.offset, array.stride) == (offset, {"M": 16, "N": 16, "V": 8}[name])


REFUSED = {
    "union { int i; short s[2]; } u, v; u.i = 1; v = u;": "a copy of the union",
    "union { struct { unsigned a : 4; } p; unsigned char w; } u; u.w = n; A[0] = u.p.a;": "the bit-field 'a' is not",
    "union { int i; double d; } u = {1}; A[0] = G.i;": "the union member 'i' is not supported",
    "union { int i; struct { short lo, hi; }; } u, v; u.lo = 1; v = u;": "a copy of the union",
    "A[0] = H.x;": "the union member 'x' is not supported",
    "union { int i; unsigned u; } v[2]; v[0].i = n; A[0] = v[n].u;": "an array of the union",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(f"{BEFORE}__global__ void k(int *A, U G, V H, int n) {{ {body} }}", REFUSED[body])
