"""Functions that return a pointer or a reference: the address is that of the call, whatever changes after it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading
from tests.semantics.cuda.lowered import Lowered

Reader = Callable[..., Reading]

BEFORE = """
__device__ int total[8];
struct S { int x, y; };
__device__ int *row(int *p, int i, int n) { return p + i * n; }
__device__ int *tot() { return total; }
__device__ const int *skip(const int *p) { p++; while (*p) p++; return p; }
__device__ int *next(int *p, int *c) { int i = c[0]; c[0] = i + 1; return p + i; }
__device__ int *found(int *p) { return &p[p[0]]; }
__device__ S *at(S *s, int i) { return &s[i]; }
__device__ int *shared() { __shared__ int s[8]; return s; }
extern __shared__ int all[];
__device__ int *dynamic() { extern __shared__ int d[]; return d + 1; }
__device__ int *shadow(int *p, int A, int B) { { int A = 2; p += A; } return p + A; }
__device__ int put(int *p, int v) { p[0] = v; return 1; }
__device__ int look() { int w = total[0]; return w; }
__device__ int *mid(int *v) { return v + 1; }
__device__ int *loop(int *p) { int *q = loop(p); return q; }
__device__ int *early(int *p, int n) { if (n) return p; return p + 1; }
__device__ int *either(int *p, int n) { return n ? p : p + 1; }
__device__ int *nothing(int *p) { p++; }
__device__ int &name(int *p) { return p[1]; }
"""


def kernel(*bodies: str) -> str:
    """The kernel `k`, or of several bodies `k0`, `k1` and so on."""
    params = "int *A, int *B, S *T, int n"
    names = ["k"] if len(bodies) == 1 else [f"k{i}" for i in range(len(bodies))]
    made = (f"__global__ void {k}({params}) {{ int b = 1; {b} }}\n" for k, b in zip(names, bodies, strict=True))
    return BEFORE + "".join(made)


RUN: dict[str, dict[tuple[str, int], int]] = {
    "int *r = row(A, b, n); b = 7; n = 0; r[1] = b; *r = 8;": {("A", 4): 7, ("A", 3): 8},
    "row(A, b, n)[b] = *row(B, b + 1, 2) + row(B, 0, n)[2];": {("A", 4): 406},
    "*row(row(A, 1, n), 2, 2) = 1; row(A + 1, 0, 0)[1] = 2;": {("A", 7): 1, ("A", 2): 2},
    "int *r = found(B + 1); B[1] = 5; *r = 9;": {("B", 1): 5, ("B", 2): 9},
    "A[0] = skip(B)[1]; const int *s = skip(B); s++; A[1] = *s; A[2] = s - B;": {
        ("A", 0): 7, ("A", 1): 7, ("A", 2): 7,
    },
    # effects are where they are
    "int *q = next(A, B + 2); *q = 1; q = next(A, B + 2); *q = 2;": {("A", 2): 1, ("A", 3): 2, ("B", 2): 4},
    "next(A, B + 2); A[0] = B[2];": {("A", 0): 3, ("B", 2): 3},
    "if (b && next(A, B + 2) == A + 2) A[0] = B[2];": {("A", 0): 3, ("B", 2): 3},
    "A[0] = *next(A, B) + 1;": {("A", 0): 1, ("B", 0): 1},
    "*next(A, B) = 1;": {("A", 0): 1, ("B", 0): 1},
    "A[0] = *either(A, n) + 1; either(A, 0)[4] = 2; int *r = n ? row(A, 1, 2) : row(A, 2, 3); *r = 3;": {
        ("A", 0): 1, ("A", 5): 2, ("A", 2): 3,
    },
    "*early(A, n) = 1; *early(A, 0) = 2; early(A + 4, b)[1] = 3;": {("A", 0): 1, ("A", 1): 2, ("A", 5): 3},
    "int *r = next(A, B) + 1; *r = 4;": {("A", 1): 4, ("B", 0): 1},
    # pointers that move, before, inside and after
    "int *p = A; p++; int *r = row(p, b, n); p += 5; b = 4; *r = 1; *row(p, 0, b) = 2;": {("A", 4): 1, ("A", 6): 2},
    "int *p = A; p = row(p, 1, 2); p++; *p = 1; *(row(p, 1, 2) + 1) = 2;": {("A", 3): 1, ("A", 6): 2},
    "for (int *p = row(A, 1, 2); p < row(A, 2, n); p++) *p = 1;": {("A", i): 1 for i in range(2, 6)},
    "for (int i = 0; row(B, i, 1)[1]; i++) { b += i; row(A, i, 1)[0] = b; }": {
        ("A", 0): 1, ("A", 1): 2, ("A", 2): 4, ("A", 3): 7, ("A", 4): 11,
    },
    "A[0] = n > 5 && *row(B, 0, 0); A[1] = n ? row(B, 1, 2)[0] : *row(B, 1, 3);": {("A", 0): 0, ("A", 1): 2},
    "*shadow(A, 3, 0) = 1;": {("A", 5): 1},
    "if (row(A, 1, n) - A > 2) A[0] = 1;": {("A", 0): 1},
    # one array, however often the function is called; also one of one thread
    "tot()[3] = 1; total[4] = tot()[3] + 1;": {("total", 3): 1, ("total", 4): 2},
    "shared()[1] = 1; int *s = shared(); s[2] = shared()[1] + 1;": {("s", 1): 1, ("s", 2): 2},
    "dynamic()[1] = 1; *dynamic() = dynamic()[1] + 1;": {("d", 2): 1, ("d", 1): 2},
    "int v[3] = {1, 2, 3}; *mid(v) = 5; mid(v + 1)[0]++; A[0] = v[1] * 10 + v[2];": {("A", 0): 54},
    "at(T, n)->x = 1; at(T, 1)[1].y = at(T + n, 0)->x + 1;": {("T.x", 3): 1, ("T.y", 2): 2},
    "name(A) = 3; name(A + 1) = name(A) + name(B);": {("A", 1): 3, ("A", 2): 4},
    "int &r = row(A, b, n)[2]; b = 0; r = 1; r++;": {("A", 5): 2},
    "atomicAdd(row(A, b, n), 2); __stcs(row(A, b, 2), __ldg(row(B, b, 1)));": {("A", 3): 2, ("A", 2): 1},
}  # fmt: skip


@pytest.mark.parametrize("std", ["c++14", "c++17"])
@pytest.mark.parametrize("body", RUN)
def test_contents(read: Reader, body: str, std: str) -> None:
    """B is 0, 1, 2, .., 5, 0, 7, but for B[4], which is 404."""
    start = {("B", i): value for i, value in enumerate((0, 1, 2, 3, 404, 5, 0, 7))}
    lowered = Lowered({"n": 3})
    lowered.cells |= start
    lowered.run(read(kernel(*RUN), f"k{[*RUN].index(body)}", std=std).kernel.body)
    assert {at: value for at, value in lowered.cells.items() if start.get(at) != value} == RUN[body]


REFUSED = {
    "A[0] = *loop(A);": "the recursive function 'loop' is not supported",
    "nothing(A);": "a function that returns no pointer is not supported",
    "row(A, b++, n)[b] = 1;": "is changed and used in one expression",
    "A[0] = *row(A, b, n) + b++;": "is changed and used in one expression",
    "A[0] = tot()[0]++ + total[0];": "is changed and used in one expression",
    "A[0] = total[0] + (*tot() = 2);": "is changed and used in one expression",
    "A[0] = look() + tot()[0]++;": "is changed and used in one expression",
    "A[0] = B[0] + row(B, 0, 1)[0]++;": "is changed and used in one expression",
    "A[0] = look() - put(total, 5);": "a call changes 'total', which is also used in this expression",
    "A[0] = (n && B[0]) - put(B, 5);": "a call changes 'B', which is also used in this expression",
    "A[0] = *found(B) - put(B, 5);": "a call changes 'B', which is also used in this expression",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(kernel(body), REFUSED[body])


def test_the_address_is_saved_where_it_may_change(read: Reader) -> None:
    text = kernel("int *r = found(B), *q = row(A, b, n); r[0] = q[1];")
    assert show_stmt(read(text).kernel.body).splitlines() == [
        "b <- 1;", "found_result <- B[0];", "i <- b;", "n_1 <- n;", "B[found_result] <- A[i * n_1 + 1];",
    ]  # fmt: skip
