"""Calls that change something inside expressions: done where C++ has them, refused where it has no order for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading, read_cuda
from semantics.grid import run
from tests.semantics.cuda.bounds import bound
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
struct Pair { int x, y; };
__device__ int bump(int *p, int i) { p[i] += 1; return p[i]; }
__device__ int offset(int *p, int i) { int j = p[i]; p[i] = j + 2; return j; }
__device__ int next(int &state) { state = state * 5 + 3; return state & 7; }
__device__ int moved(int &s, int &i) { s = 2 * (s + i); i = 0; return s; }
__device__ int more(int &s, int v) { s = 2 * s + v; return s; }
__device__ long wide(long &s) { s = s * 5 + 3; return s; }
__device__ int *advance(int *p, int &i) { i++; return p + i; }
__device__ Pair both(int *p, int i) { Pair r = {p[i], i}; p[i] = 0; return r; }
__device__ void put(int *p, int v) { p[0] = v; }
__device__ int twice(int *p, int i) { int s = bump(p, i) * 3; s -= bump(p + 8, i); return s; }
__device__ int early(int *p, int v) { if (v < 2) { p[v] = 9; return 1; } p[v] = 8; return v; }
__device__ int sum(int a, int b) { return 10 * a + b; }
__device__ int folded(Pair a) { return 10 * a.x + a.y; }
struct Box { int *at; __device__ Box(int &r) : at(&r) { r += 3; }
  __device__ int with(Pair a) const { return *at + folded(a); } };
"""

DONE = [
    "int x = 1; x += bump(A, n) * 2; B[n] = x;",
    "int s = 5; s += offset(A, 3); s -= 2 * offset(A, 3); B[0] = s;",
    "B[bump(A, 1)] = 7; B[bump(A, 2) + 1] += 5;",
    "B[0] = bump(A, 4) + B[1] * n;",
    "B[1] = -bump(A, 3); B[2] = !offset(A, 0); B[3] = ~bump(A, 1);",
    "if (bump(A, 5) > 5 && bump(A, 5) > 7) B[0] = 1; else B[1] = 2;",
    "if (bump(A, 5) > 9 || offset(A, 5) == 6) B[0] = A[5];",
    "B[0] = n > 2 ? bump(A, 1) + 1 : offset(A, 2) + 2; B[1] = n > 5 ? bump(A, 1) : 3 * offset(A, 2);",
    "B[0] = (bump(A, 1), A[1]) + 1;",
    "int s = n; for (int i = 0; next(s) + i < 9; i++) B[i] = s;",
    "int s = n, i = 0; while (next(s) != 2 && i < 20) { B[i++] = s; }",
    "int s = 1; switch (next(s) - 1) { case 0: A[0] = 1; break; case -1: A[1] = s; break; default: A[2] = s; }",
    "int i = 0; *advance(A, i) = 5; B[0] = *advance(A, i) + 1; B[1] = i; advance(A, i)[2] += 3;",
    "int v[3] = {bump(A, 0), bump(A, 0) * 2, A[0]}; B[0] = v[0]; B[1] = v[1]; B[2] = v[2];",
    "B[0] = both(A, 3).x + 4; B[1] = A[3];",
    "int s = 5; int &r = A[next(s)]; r = 50; const int &p = B[next(s) & 3]; B[2] = 70; A[9] = p + s;",
    "B[0] = sum(bump(A, 1), 3); B[1] = sum(n, offset(A, 2)); B[2] = sum(bump(A, 3), B[3]);",
    "B[0] = twice(A, 2) + 1; B[1] = 2 * early(A, n) + early(B + 8, 1);",
    "int s = 7; A[0] = (next(s) << 2) + 1; A[1] = (short)next(s) * 2; A[2] = s;",
    "int *p = A; p += bump(B, 1); *p = 77;",
    "bool c = bump(A, 1) > 1 && n; B[0] = c;",
    "Pair u, v, w; u = v = w = both(A, 3); B[0] = folded(u) + folded(v) * folded(w);",
    "Pair p, q; p = q = Pair{n, 2}; q.x = 9; __shared__ Pair m[2]; m[0] = m[1] = p; B[0] = folded(m[0]) - folded(q);",
    "Pair p = {1, n}, q = {3, 4}; B[0] = folded(n > 2 ? p : q) + 100 * folded(threadIdx.x ? Pair{n, 1} : p);",
    "__shared__ int s[32]; s[threadIdx.x] = n; Pair p = {1, n}; B[0] = Box(s[threadIdx.x]).with(p);",
]  # fmt: skip


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
@pytest.mark.parametrize("std", ["c++14", "c++17"])
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], std: str, tmp_path: Path) -> None:
    assert differences(read, BEFORE, DONE, tmp_path, std) == []


OPEN = [
    "B[0] = bump(A, 1) + bump(A, 1) + A[1];",
    "int s = 1, i = 2, j = 3; B[0] = moved(s, i) + moved(s, j);",
    "long s = 1; B[0] = wide(s) + wide(s);",
    "int s = 1, t = 1; B[0] = (next(s), more(s, 1), t) - (next(s), more(s, 1), t);",
    "int s = 1; B[0] = more(s, s) - more(s, s);",
    "B[0] = bump(A, A[0]) - bump(A, A[0]);",
    "int i = 1; B[0] = bump(A, i++) + bump(A, i++);",
    "B[0] = A[1] * bump(A, 1);",
    "B[0] = bump(A, 4) * offset(A + 8, 4);",
    "B[0] = bump(A, 1) - A[n];",
    "int s = 1; B[0] = next(s) + (next(s) ^ s);",
    "int s = 1, t = 2; B[0] = sum(next(s), next(t) + s);",
    "int s = 1; B[0] = s * next(s);",
    "B[0] = sum(A[1], bump(A, 1));",
    "B[0] = sum(offset(A, 1), offset(A, 2));",
    "B[0] = bump(A, 1) * offset(A, 1);",
    "int s = 1; B[0] = sum(s, next(s));",
    "int i = 1; B[0] = *advance(A, i) + i;",
    "int i = 1; advance(A, i)[i] = 1;",
    "B[0] = both(A, 3).x + A[3];",
    "int *p = A; int i = 0; p += *advance(p, i) + next(i);",
    "int s = 2; auto f = [&] { s++; return s; }; B[0] = f() + s;",
    "Pair p = Pair{bump(A, 1), 2}; B[0] = p.x + bump(A, 1) * A[1];",
]


@pytest.mark.parametrize("body", OPEN)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(f"{BEFORE}__global__ void k(int *A, int *B, int n) {{ {body} }}", "")


ALIKE = [  # no order that C++ may choose makes another value of these
    "B[0] = bump(A, 1) + bump(A, 1);",
    "int s = 1; B[0] = next(s) + next(s); B[1] = s;",
    "int s = 1; B[0] = next(s) * next(s) + 3; B[1] = s; B[2] = sum(next(s) & 0, next(s) & 0); B[3] = s;",
    "B[0] = offset(A, 1) * 2 + 2 * offset(A, 1); B[1] = A[1];",
    "int s = n; B[0] = (next(s) > 2) ^ (next(s) > 2); int *p = A; B[1] = early(p, 1) - early(p, 1);",
]


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_calls_that_do_the_same_as_a_host_compiler_has_them(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, ALIKE, tmp_path) == []


def test_nothing_is_known_of_which_value_a_part_gets(read: Callable[..., Reading]) -> None:
    """A run makes the calls from left to right."""
    found = read(f"{BEFORE}__global__ void k(float *F, int s) {{ float2 v = make_float2(next(s), 2 * next(s)); }}")
    some = "(int(either(as_double({0}), as_double({1}), {2})) + 2147483648 & 4294967295) - 2147483648"
    assert show_stmt(found.kernel.body).splitlines() == [
        "s_0 <- s;", "s_0 <- s_0 * 5 + 3;", "t <- s_0 & 7;", "s_0 <- s_0 * 5 + 3;", "t_1 <- s_0 & 7;",
        f"t <- {some.format('t', 't_1', 1)};", f"t_1 <- {some.format('t_1', 't', 2)};",
        "v.x <- as_float(t);", "v.y <- as_float(2 * t_1);",
    ]  # fmt: skip
    assert "calls in one expression that do the same to the same variables may come in any order" in found.remarks


OTHER_ORDER = [  # the most turns, by an order that is not from left to right
    ("int m = mixed(up(s), up(s));", 5),
    ("int m = 2 * up(s) + up(s);", 5),
    ("int m = Pair(up(s), up(s)).x;", 2),
    ("int m = up(s) > 1 && n ? 9 : up(s) - up(s) + 1;", 9),
    ("int m = 2 * (n && up(s) > 1) + (n && up(s) > 1);", 2),
]


@pytest.mark.parametrize(("body", "turns"), OTHER_ORDER)
def test_bounds_hold_for_any_order_of_calls(body: str, turns: int, tmp_path: Path) -> None:
    """g++ takes the second one first, and `mixed` is 5 then, and 4 from left to right."""
    text = (
        "struct Pair { int x, y; __device__ Pair(int a, int b) : x(a), y(b) {} };\n"
        "__device__ int up(int &s) { s = s + 1; return s; }\n"
        "__device__ int mixed(int a, int b) { return 2 * a + b; }\n"
        f"__global__ void k(float *A, int n) {{ int s = 0; {body}\n"
        "  for (int i = 0; i < m && i < 20; i++) A[threadIdx.x + 32 * i] = 1; }"
    )
    assert bound(text, "sectors", tmp_path) >= 4 * turns


def test_the_reason_names_what_is_changed(refused: Callable[[str, str], None]) -> None:
    words = "a call changes 'A', which is also used in this expression, and C++ does not say which comes first"
    refused(f"{BEFORE}__global__ void k(int *A, int *B) {{ B[0] = A[1] * bump(A, 1); }}", words)


def test_each_access_is_paid_once(tmp_path: Path) -> None:
    file = tmp_path / "x.cu"
    file.write_text(f"{BEFORE}__global__ void k(int *A, int *B) {{ int x = 1; x += bump(A, threadIdx.x) * 2;"
                    " B[threadIdx.x] = x; }")  # fmt: skip
    result = run(read_cuda(str(file), "k").kernel, (32, 1, 1), (1, 1, 1), {}, {})
    assert result.totals["sectors"] == 16
