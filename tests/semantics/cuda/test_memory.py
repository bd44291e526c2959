"""Bytes that are moved as they are: memcpy, memmove, memset, as a host compiler has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
struct P { int a, b; };
struct Q { P p; unsigned c; short s[2]; };
struct R { int *p; long long n; };
template <class T> struct Packed {
  static constexpr int size = 8 / sizeof(T);
  T payload[size];
  __device__ Packed() = default;
  __device__ explicit Packed(P bits) { memcpy(&payload, &bits, sizeof(bits)); }
  __device__ static Packed all(T x) { Packed r; for (int i = 0; i < size; i++) r.payload[i] = x; return r; }
  __device__ T &operator[](int i) { return payload[i]; }
  __device__ P bits() const { P bits; memcpy(&bits, &payload, sizeof(bits)); return bits; }
};
"""

BODIES = [
    "int v[4]; memcpy(v, A + threadIdx.x, sizeof v); A[0] = v[0] + 10 * v[3]; memcpy(v + 1, B, 8); A[1] = v[1] * v[2];",
    "P p; memcpy(&p, A + 5, sizeof(P)); p.b++; memcpy(B + n, &p, sizeof p); memcpy(&p.a, B, 4); A[0] = p.a;",
    "Q q; memcpy(&q, A, 12); q.s[0] = 7; q.s[1] = 9; Q r; memcpy(&r, &q, sizeof(Q)); A[0] = r.p.b + r.c + r.s[1];",
    "memmove(A + 1, A, 12); memcpy((void *)(A + 10), (const void *)&A[20], 3 * sizeof(int));",
    "memcpy(A, B, n * sizeof(int)); memset(A + 8, 0, n * 4); memset(B, 255, sizeof(int)); memcpy(A + 30, B, 0);",
    "int v[3]; memset(v, 1, sizeof v); A[0] = v[2]; P p; memset(&p, 0, sizeof(p)); A[1] = p.b;",
    "P p; memset(&p.b, 2, 4); memset(&p.a, 0, sizeof p.a); A[2] = p.a + p.b;",
    "R r = {A, 3}, s; memcpy(&s, &r, sizeof(R)); s.p[1] = s.n; memset(&s.n, 0, 8); A[2] = s.n;",
    "unsigned u = 4000000000u; int i; memcpy(&i, &u, 4); A[0] = i >> 1; memcpy(&u, &i, 4); A[1] = u >> 1;",
    "Packed<unsigned> a, b = a.all(n); for (int i = 0; i < a.size; i++) a[i] = b[i] * i; P p = a.bits(); A[0] = p.b;",
    "Packed<int> p{P{1, n}}; A[1] = p[1]; A[0] = p.bits().b;",
    "for (int i = 0; i < n; i++) { int v[2]; memcpy(v, A + 2 * i, sizeof v); v[0] += v[1]; memcpy(A + 2 * i, v, 4); }",
    "int v[40]; memset(v, 0, sizeof v); memcpy(B, v, sizeof v); __builtin_memcpy(B + 41, A, 8);",
]  # fmt: skip


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []


LOWERED = {
    "float x; int i = n; memcpy(&x, &i, 4); F[0] = x;": "x <- as_float(__int_as_float(as_double(t)));",
    "int i; memcpy(&i, F, sizeof i); A[0] = i;": "i <- int(__float_as_int(as_double(t)));",
    "float x; memcpy(&x, (char *)A + 4, 4); F[0] = x;": "x <- bytes(bytes(0.0f, t, t_1), t_2, t_3);",
    "float4 v; memcpy(&v, F, 16); F[1] = v.w;": "t_3 <- F[3];",
    "memcpy(A, A + 100, 400);": "while (i < 100) {",
}


@pytest.mark.parametrize("body", LOWERED)
def test_contents(lower: Callable[..., str], body: str) -> None:
    assert LOWERED[body] in map(str.strip, lower(body).splitlines())


REFUSED = {
    "A[0] = *(int *)memcpy(A, B, 4);": "the value of 'memcpy' is not supported",
    "struct S { int x, y; } s[2]; memcpy(A, s, 4 * n);": "'memcpy' of a number of bytes that is not known",
    "int x; memcpy(&x, A, 2); A[0] = x;": "'memcpy' of a part of a 'int' is not supported",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(f"__global__ void k(int *A, int *B, int n) {{ {body} }}", REFUSED[body])
