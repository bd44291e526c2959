"""Bit-fields, as a host compiler has them: in a structure of one thread, and in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
struct F { unsigned a : 3; unsigned b : 7; int c : 5; unsigned : 4; bool d : 1; int : 0; unsigned e : 32; };
struct M { unsigned short x : 9; unsigned short y : 7; int z; long long w : 40; };
struct W { unsigned x : 12, y : 12; int n; __device__ W(int q) : x(q * 1000), y(7), n(x + y) {}
  __device__ unsigned both() const { return x * 4096u + y; } };
struct One { unsigned low : 20; unsigned high : 12; };
__device__ int sum(const F &s) { return s.a + s.b + s.c + s.d; }
__device__ int by(const unsigned &x, F &s) { s.a = 1; return x; }
"""

BODIES = [
    "F s; s.a = n + 6; s.b = -1; s.c = 20; s.d = n; A[0] = s.a * 1000 + s.b; A[1] = s.c; A[2] = s.d;",
    "F s = {5, 100, -7, true, 4000000000u}; A[4] = s.e >> 28;",
    "F s = {5, 100, -7, true, 4}; s.a += 3; s.b++; --s.c; A[0] = s.a; A[1] = s.b; A[2] = s.c; A[3] = sum(s);",
    "F s = {1}; A[0] = (s.a = 13); A[1] = s.a++; A[2] = ++s.a; A[3] = (s.c = 16) + 1; A[4] = (s.a += 5);",
    "M m; m.x = 70000 + n; m.y = m.x; m.z = m.y; m.w = (long long)n << 38; A[0] = m.x; A[1] = m.z; A[2] = m.w >> 36;",
    "W w(n); A[0] = w.n; A[1] = w.both(); w.x -= 1; W v = w; v.y = 5000; A[2] = v.both();",
    "F s = {5}; int x = by(s.a, s); A[0] = x * 10 + s.a; const int &r = s.c; s.c = 4; A[1] = r;",
    "for (F s = {0}; s.b < 100; s.b += 40) { A[s.b & 7]++; if (s.d) break; s.d = s.b > 30; }",
    "F s; s.a = 6; F *p = &s; p->b = p->a * 30; auto &q = s; q.c = -p->b; A[0] = s.b; A[1] = s.c; A[2] = s.a == 6u;",
    "struct { int f : 1; int g : 2; } s = {-1, 1}; A[0] = s.f; A[1] = s.g; s.g ^= 1; A[2] = s.g;",
]  # fmt: skip

MEMORY = [
    "b.a = n + 6; b.b = 255; b.c = -3; b.d = 1; b.a++; A[0] = b.a; A[1] = b.b; A[2] = b.c; A[3] = b.d;",
    "b.c = 15; b.b = 3; b.c += 1; A[0] = b.c * 100 + b.b; A[1] = (b.a = 9); A[2] = b.a-- * 10; A[3] = b.a;",
    "b.a = 5; b.e = 7; b.b = b.a * 9; b.a = 0; F t = b; t.b += 1; b = t; A[0] = b.b; A[1] = b.e; A[2] = t.a;",
]


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    memory = [f"__shared__ F s[2]; F &b = s[1]; b.a = b.b = b.c = b.d = b.e = 0; {body}" for body in MEMORY]
    assert differences(read, BEFORE, [*BODIES, *memory], tmp_path) == []


LOWERED = {
    # what is written is read before: the other bits stay
    "S[n].a = 5;": ["S.bits0[n] <- S.bits0[n] & 4294967288 | 5;"],
    "A[0] = S[n].b;": ["A[0] <- S.bits0[n] >> 3 & 127;"],
    "A[0] = S[n].c;": ["A[0] <- ((S.bits0[n] >> 10) + 16 & 31) - 16;"],
    "A[0] = S[n].d;": ["A[0] <- int(((S.bits2_1[n] & 255) >> 3 & 1) != 0);"],
    "A[0] = S[n].e;": ["A[0] <- ((S.bits4[n] & 4294967295) + 2147483648 & 4294967295) - 2147483648;"],
}


@pytest.mark.parametrize("body", LOWERED)
def test_contents(read: Callable[..., Reading], body: str) -> None:
    from logic.syntax import show_stmt

    reading = read(f"{BEFORE}__global__ void k(F *S, int *A, int n) {{ {body} }}", "k")
    assert show_stmt(reading.kernel.body).splitlines() == LOWERED[body]


@pytest.mark.parametrize(
    ("name", "field", "array", "offset", "width"),
    [("F", "a", "bits0", 0, 4), ("F", "e", "bits4", 4, 4), ("M", "y", "bits0_2", 0, 2), ("M", "w", "bits8_8", 8, 8)],
)
def test_an_access_is_of_the_number_that_it_is_in(
    read: Callable[..., Reading], name: str, field: str, array: str, offset: int, width: int
) -> None:
    reading = read(f"{BEFORE}__global__ void k({name} *S, int n) {{ S[n].{field} = n; }}", "k")
    found = next(a for a in reading.kernel.arrays if a.name == f"S.{array}")
    assert (found.offset, found.width, found.stride) == (offset, width, {"F": 8, "M": 16}[name])


def test_a_copy_at_once_knows_no_bits(read: Callable[..., Reading]) -> None:
    from logic.syntax import show_stmt

    text = "struct __align__(4) O { unsigned low : 20; unsigned high : 12; };"
    body = "O o = S[n]; A[0] = o.low; A[1] = o.high;"
    shown = show_stmt(read(f"{text}__global__ void k(O *S, int *A, int n) {{ {body} }}", "k").kernel.body)
    assert shown.count("S[n]") == 1
    assert "part(as_double(" in shown


def test_those_of_large_arrays_of_one_thread_may_be_anything(read: Callable[..., Reading]) -> None:
    reading = read(f"{BEFORE}__global__ void k(int *A, int n) {{ F s[40]; s[n].a = A[n]; A[s[n].c & 1] = 1; }}", "k")
    assert "the elements of the array 's' of one thread may hold anything, and cost nothing" in reading.notes
    assert show_stmt(reading.kernel.body).count("A[") == 2


REFUSED = {
    "A[0] = P->y;": "the bit-field 'y' is not supported",
    "L l{}; A[0] = l.x + (l.x = 3);": "is changed and used in one expression",
    "L l{}; l.x = l.x & (l.x = 3);": "is changed and used in one expression",
    "L l{}; int x = l.x++ + l.x; A[0] = x;": "is changed and used in one expression",
    # libclang does not show what they are given
    "struct { int a : 4 = 3; int b; } s; A[0] = s.a;": "a field with this initialiser",
    "struct S { int b; unsigned a : sizeof(int) {3}; }; S s{n}; A[0] = s.a;": "a field with this initialiser",
    "\n#define BITS(x) int x : 4 = 3\nstruct S { BITS(a); int b; }; S s{};": "a field with this initialiser",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    plain = "struct L { unsigned x : 3; };"
    packed = "struct __attribute__((packed)) K { unsigned x : 20; unsigned y : 20; };"
    refused(f"{BEFORE}{plain}{packed}__global__ void k(int *A, K *P, int n) {{ {body} }}", REFUSED[body])
