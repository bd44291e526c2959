"""What C has, too: operators, assignments, calls, records, tables and pointers, as a host compiler has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
struct P { int a, b; };
struct Deep { int a; struct { short b; char c[3]; } d; P h, g; };
enum E : unsigned char { none, some = 250, more };
__device__ int cell = 5;
__constant__ int table[4] = {3, 1, 4, 1};
__device__ int f(char c, unsigned char u, bool b, short s) { return c + u * 1000 + b * 7 + s; }
__device__ unsigned char low(int v) { return v; }
__device__ bool truth(int v) { return v; }
__device__ int scaled(int a, int b = 3, int c = sizeof(short)) { return a * b + c; }
template <class T, int N = 3> __device__ int counted(T v = T(5), int k = N * 2) { return v + k; }
__device__ int changed(P p) { p.a = 9; p.b++; return p.a + p.b; }
__device__ P made(P p, int k) { p.b = k; return p; }
__device__ void put(P &p, P *q) { p.a += 4; q->b = p.a; }
__device__ int *found(int *p, int n) { for (int i = 0; i < n; i++) if (p[i] > 4) return p + i; return p; }
__device__ int *&first(int *&p, int *&q) { p++; return q; }
__device__ void moved(int *&p, int k) { p += k; *p = k; }
__device__ void swapped(int *&a, int *&b) { int *t = a; a = b; b = t; }
__device__ int deep(int *p, int k) {
  for (int i = 0; i < 5; i++) {
    if (p[i] == k) return i;
    for (int j = 0; j < 2; j++) { if (p[i + j] > 8) return 50 + i; p[i]++; }
  }
  p[6] = 1; return -1;
}
"""

BODIES = [
    # operators, and conversions between integers
    (
        "char c = n * 100; short h = c * 1000; unsigned char u = c - 5; bool b = c; signed char d = u + 3; A[0] = "
        "c; A[1] = h; A[2] = u; A[3] = b; A[4] = d; A[5] = (char)(u << 3) >> 1; A[6] = -7 % n; A[7] = -n / 2; A[8] "
        "= ~n; A[9] = (-n - 5) >> 1; A[10] = (unsigned)-n > 3; A[11] = -1L < 1UL; A[12] = ~u; A[13] = -(unsigned "
        "short)n;"
    ),
    (
        "unsigned u = n; int i = -1; long long l = -1; short s = -1; char c = -1; A[0] = i < u; A[1] = i + u > 0; "
        "A[2] = l < u; A[3] = (u - 4) / 2 > 100; A[4] = (u - 10) % 7; A[5] = 7u % i; A[6] = (unsigned)i >> 28; "
        "A[7] = s == (unsigned short)65535; A[8] = (s & 65535) == 65535; A[9] = c == 255; A[10] = n > 2 ? i : u; "
        "A[11] = (n > 2 ? i : 0u) > 5; A[12] = (1ull << 40) > 1000; A[13] = (int)(3000000000LL + n); A[14] = !n - "
        "!u;"
    ),
    (
        "unsigned char u = 250; u += 10; A[0] = u; u *= 7; A[1] = u; u <<= 3; A[2] = u; u = 0; u--; A[3] = u; "
        "short h = 32767; h++; A[4] = h; h >>= 4; A[5] = h; char c = -128; c = -c; A[6] = c; bool b = n; b += 5; "
        "A[7] = b; b ^= 1; A[8] = b; int m = -7; m /= 2; m %= 3; A[9] = m; unsigned w = 5; w -= 6; w /= 2; A[10] = "
        "w >> 1; int z = c = 300; A[11] = z + c; A[12] = (c = 200) + 1; long long L = 1; L <<= 40; A[13] = L >> 35;"
    ),
    "E e = some; A[0] = e + 10; e = (E)(e + 10); A[1] = e; A[2] = sizeof(Deep) + sizeof e + alignof(P); A[3] = more;",
    (
        "A[0] = n > 2 && B[n] ? B[1] : -B[2]; A[1] = n > 5 || (A[2] = 7); n < 2 && A[3]++; A[4] = (A[5] = 3, n) ? "
        "n++ : --n;"
    ),
    "int a, b; a = b = n; b += 2; a -= b; A[0] = a; A[1] = b--; A[2] = b; A[3] = A[4] = a + b;",
    (
        '1 + n; A[n]; (void)A[0]; A[1] == 2; A[1]++; int s = 0; _Pragma("unroll") for (int i = 0; i < 4; i++) s += '
        "i; A[2] = s;"
    ),
    # calls
    "A[0] = f(n + 200, n + 300, n, n * 70000); A[1] = low(n + 255); A[2] = truth(4) + truth(0); A[3] = deep(B, 3);",
    (
        "A[0] = scaled(n) + scaled(n, 2) + scaled(1, 2, 3); A[1] = counted<int>() + counted<char>(); A[2] = "
        "counted<short, 9>(7);"
    ),
    "int (*g)(int, int, int) = scaled; A[0] = g(n, 1, 2); A[1] = deep(B + 20, 0); A[2] = deep(A + 40, threadIdx.x);",
    # records
    (
        "P p = {1, 2}, q; A[0] = changed(p); A[1] = p.a + p.b; q = made(p, n); A[2] = q.b * 10 + p.b; put(p, &q); "
        "A[3] = q.b;"
    ),
    (
        "Deep x; x.a = 1; x.h.a = n; x.d.b = 70000; x.d.c[1] = 200; x.g.a = 5; x.h = x.g; Deep y = x; y.h.a++; "
        "y.d.c[1]++; P &r = y.g; r.a = 77; A[0] = x.d.b; A[1] = x.h.a * 10 + y.h.a; A[2] = y.g.a + y.d.c[1];"
    ),
    (
        "P v = {n, 4}, w = v, *p = &w; P &r = v; r.b++; (*p).a += r.b; p->b = w.a; v = *p; r.a -= 5; A[0] = v.a + "
        "w.b; A[1] = w.a;"
    ),
    # tables, shared memory and variables outside of the kernel
    "A[0] = table[2]; A[1] = table[n]; int s = 0; for (int x : table) s = s * 10 + x; A[2] = s; A[n] = table[n & 1];",
    "static const short t[2][2] = {{1, -2}, {3}}; A[0] = t[0][1] + t[1][1]; A[1] = t[n & 1][0];",
    "cell = n; cell += 2; int old = cell, *p = &cell; *p *= 2; A[0] = cell; cell = 5; A[1] = old++;",
    (
        "__shared__ int s[3][4]; int *p = &s[0][0]; for (int i = 0; i < 12; i++) p[i] = i; int *row = s[1]; row[2] "
        "= 77; int (*q)[4] = s; q++; (*q)[0] = 9; q[1][1] = 8; A[0] = s[1][2]; A[1] = *(*(s + 1) + 1); A[2] = "
        "s[1][0] + s[2][1];"
    ),
    # arrays of one thread, and pointers that move
    (
        "int m[2][3] = {{1, 2, 3}, {4, 5, n}}; int (*p)[3] = m; p[1][0] = 9; int *z = &m[1][1]; *z = 6; z[1]++; "
        "A[0] = m[1][2];"
    ),
    (
        "int v[6] = {0}; for (int i = 0; i < 6; i++) v[(i * 5 + n) % 6] += i; v[n] = 7; for (int i = 0; i < 6; "
        "i++) A[i] = v[i];"
    ),
    (
        "int *p = A + 10; p[-1] = 5; *(p - 2) = 6; int *e = p + 3; while (e != p) { --e; *e = e - p; } A[0] = (e < "
        "p) + (p >= e);"
    ),
    (
        "int *p = A, *q = A + 20; for (int i = 0; i < 4; i++) { p[i] = q[i + 1] + 1; swapped(p, q); } A[50] = p - "
        "q; *p = 3;"
    ),
    (
        "int *p = A; moved(p, 2); int *&r = p; r += 3; *r++ = 7; int **w = &p; **w = n; *w -= 4; moved(*w, 1); "
        "A[30] = p - A;"
    ),
    "int *p = n > 5 ? A + 9 : A; (threadIdx.x ? p : p + 1)[2] = 9; int **w = &p; (*w)++; *p = 3;",
    "*found(A, 9) = 70; int *p = found(B, n), *q = found(A + 1, 7); A[0] = q - A; *++q = p[0]; found(A, 3)[2]++;",
]


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []
