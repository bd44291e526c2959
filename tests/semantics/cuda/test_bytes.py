"""Variables of one thread whose bytes are accessed as another type, as a host compiler has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

Read = Callable[..., Reading]

BEFORE: Final = """
struct P { int a, b; };
struct Q { int b, a; };
struct U { unsigned v[2]; };
struct N { P p; int c; };
struct M { int a; M(int x) : a(x) {} int more; int get() const { return a + more; } };
__device__ int halves(const int a) { const unsigned *p = (const unsigned *)&a; return p[0] / 2u; }
__device__ int first(P p) { return *(const int *)&p; }
__device__ void set(Q *q, int x) { q->a = x; }
struct I4 { int x, y, z, w; };
struct Pack { int v[4];
  int get(int i) const { return v[i]; }
  I4 bits() const { return *reinterpret_cast<const I4 *>(this); }
  void from(const int *p) { *reinterpret_cast<I4 *>(this) = I4{p[0], p[1], p[2], p[3]}; }
  void to(int *p) const { const I4 b = *(const I4 *)this; p[0] = b.x; p[1] = b.y; p[2] = b.z; p[3] = b.w; }
  void more(int k) { reinterpret_cast<I4 *>(this)->y += k; } };
"""
BEFORE_HOST = BEFORE.replace("M(int x)", "__device__ M(int x)").replace("int get()", "__device__ int get()")
for _method in ("int get(int", "I4 bits", "void from", "void to", "void more"):
    BEFORE_HOST = BEFORE_HOST.replace(_method, f"__device__ {_method}")

BODIES: Final = (
    # scalars, as one of their size
    "int x = A[n]; unsigned *p = (unsigned *)&x; *p -= 5u; A[0] = x; A[1] = *p / 2u > 1000u;",
    "int x = -n; A[0] = *reinterpret_cast<unsigned *>(&x) / 2u; x++; A[1] = x;",
    "A[0] = halves(n) + halves(-n); A[1] = first({n, 2});",
    "for (int i = 0; i < n; i++) { unsigned *p = (unsigned *)&i; A[i] = *p / 2u; if (i == 1) *p += 1u; }",
    # structures, as others with the same sizes
    "P p = {1, n}; Q *q = (Q *)&p; A[0] = q->a * 10 + q->b; q->a = 7; A[1] = p.b; set(q, 9); A[2] = p.b + p.a;",
    "P p; p.a = n; int *v = (int *)&p; v[1] = 4; v[0]++; A[0] = p.a * 100 + p.b; A[1] = v[threadIdx.x & 1];",
    "P p{n, 5}; U *u = reinterpret_cast<U *>(&p); A[0] = u->v[1] / 2u + u->v[0]; u->v[1] = 3; A[1] = p.b;",
    "P p{n, 5}, o; o = *(P *)(Q *)&p; *(Q *)&o = *(Q *)&p; A[0] = o.a * 10 + o.b; P r = p; A[1] = r.b;",
    "N m = {{1, 2}, n}; int *v = (int *)&m; int s = 0; for (int i = 0; i < 3; i++) s = 10 * s + v[i]; A[0] = s;",
    "P p = B[n] > 3 ? P{1, 2} : P{3, 4}; Q &q = *(Q *)&p; q.b = 8; A[0] = p.a * 10 + p.b;",
    "M m(n); Q *q = (Q *)&m; q->a = 5; A[0] = m.get() + q->b;",
    "P p = {}; unsigned *u = (unsigned *)&p; if (threadIdx.x > 1) u[1] = 9u; A[0] = p.a + p.b;",
    # of the object itself
    "Pack p; p.from(B + n); p.v[1] += n; I4 b = p.bits(); p.more(5); A[0] = b.x + 10 * b.y; p.to(A + 4);",
    "Pack p = {{1, 2, 3, n}}; for (int i = 0; i < n; i++) p.more(i); A[0] = p.get(1) + p.bits().y * 10; p.to(A + 4);",
    # by references
    "int x = n - 5; unsigned &u = reinterpret_cast<unsigned &>(x); u += 1u; A[0] = x; x = 3; A[1] = u * 2u;",
    "int x = -n; A[0] = reinterpret_cast<unsigned &>(x) / 2u; reinterpret_cast<unsigned &>(x) = 6u; A[1] = x;",
    "int x = 1; const unsigned &u = reinterpret_cast<const unsigned &>(x); x = n; A[0] = u;",
    "P p = {1, n}; A[0] = reinterpret_cast<Q &>(p).a; reinterpret_cast<Q &>(p) = Q{4, 5}; A[1] = p.a * 10 + p.b;",
    "P p = {n, 2}; Q q = reinterpret_cast<Q &>(p); A[0] = q.a * 10 + q.b;",
)


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Read, tmp_path: Path) -> None:
    assert differences(read, BEFORE_HOST, list(BODIES), tmp_path) == []


FREE: Final = (
    "uint4 r = U[n]; half *h = (half *)&r; F[0] = float(h[1]) + float(h[n & 7]);",
    "float x = F[n]; unsigned char *b = (unsigned char *)&x; b[0] = 1; F[1] = x;",
    "half2 h[4]; *reinterpret_cast<float4 *>(h) = *(float4 *)&F[4 * n]; F[0] = __low2float(h[3]);",
    "float4 v = *(float4 *)F; half2 *h = reinterpret_cast<half2 *>(&v); F[n] = __high2float(h[2]);",
    "double d = F[n]; int2 v = *(int2 *)&d; F[0] = v.x ^ reinterpret_cast<int2 &>(d).y;",
)


@pytest.mark.parametrize("body", FREE)
def test_bytes_of_other_sizes_may_hold_anything(read: Read, body: str) -> None:
    """All accesses of memory stand, one by one, and nothing is told of what the variable holds."""
    source = f"#include <cuda_fp16.h>\n__global__ void k(float *F, uint4 *U, int n) {{ {body} }}"
    reading = read(source, "k")
    text = show_stmt(reading.kernel.body)
    assert len(re.findall(r"\b[FU][\w.]*\[", text)) == 2
    assert any("may hold anything" in note for note in reading.notes)


def test_a_pointer_is_no_number(refused: Callable[[str, str], None]) -> None:
    source = "__global__ void k(long long *A) { long long *p = A; A[0] = *(long long *)&p; }"
    refused(source, "a variable of one thread as another type is not supported")
