"""Pointers that are assigned another array: each use is of the one array that it can lead to there, or refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading
from tests.semantics.cuda.lowered import Lowered

Reader = Callable[..., Reading]

BEFORE = """
__device__ int sum(const int *p, const int *q, int n) { int s = p[n]; p = q; s += 10 * p[n]; p++; return s + 100 * *p; }
__device__ int *late(int *p, int *q, int n) { if (n) { p[n] = 1; } p = q + n; return p; }
"""


def kernel(body: str) -> str:
    return f"{BEFORE}__global__ void k(int *A, int *B, int n) {{ {body} }}"


RUN: dict[str, dict[tuple[str, int], int]] = {
    "int *p = A + n; p[0] = 1; p = B + 1; p[n] = p[0] + 1;": {("A", 2): 1, ("B", 3): 12},
    "int *p = A; *p++ = 1; *p++ = 2; p = B; *p++ = 3; *p = 4;": {("A", 0): 1, ("A", 1): 2, ("B", 0): 3, ("B", 1): 4},
    "int *p = A, *q = p + 1; p = B; q[0] = 1; *p = 2;": {("A", 1): 1, ("B", 0): 2},
    "int *p = A, *q = B, *t = p; p = q; q = t; p[0] = 1; q[0] = 2;": {("B", 0): 1, ("A", 0): 2},
    "A[n] = 1; A = B; A[n] = 2;": {("A", 2): 1, ("B", 2): 2},
    "A[0] = sum(B, A, n) + sum(A, B, n);": {("A", 0): 12 + 10 * 12 + 100 * 11},
    "int *p = late(A, B, n); *p = 5;": {("A", 2): 1, ("B", 2): 5},
    # on every way to a use the last assignment is the same
    "int *p = A; if (n > 5) return; p = B; p[0] = 1;": {("B", 0): 1},
    "int *p = A; if (n) { p = B; p[1] = 1; } p = A + 1; *p = 2;": {("B", 1): 1, ("A", 1): 2},
    "int *p; if (n) { p = A; *p = 1; } else { p = B; *p = 2; } p = B + 1; *p = 3;": {("A", 0): 1, ("B", 1): 3},
    "int *p = A; if (n) { p = B; *p = 3; return; } B[7] = 1;": {("B", 0): 3},
    "int *p = A; { p = B; } p = A; p[0] = 1;": {("A", 0): 1},
    "for (int i = 0; i < n; i++) { int *p = A + i; *p = 1; p = B + i; if (i) continue; *p = 2; p = A + 4; *p = 3; }": {
        ("A", 0): 1, ("A", 1): 1, ("A", 4): 3, ("B", 0): 2,
    },
    "int *p = A; for (int i = 0; i < n; i++) p[i] = 1; p = B; for (int i = 0; i < n; i++) *p++ = 2;": {
        ("A", 0): 1, ("A", 1): 1, ("B", 0): 2, ("B", 1): 2,
    },
    "int *p = A; do { int *p = B; *p = 1; p = A; *p = 2; } while (n > 5); p[1] = 3;": {
        ("B", 0): 1, ("A", 0): 2, ("A", 1): 3,
    },
    "int *p = A; auto f = [&](int i) { p[i] = i; }; f(1); p = B; f(2);": {("A", 1): 1, ("B", 2): 2},
}  # fmt: skip


@pytest.mark.parametrize("body", RUN)
def test_contents(read: Reader, body: str) -> None:
    """B is 10, 11, 12, .. and A is 0; n is 2."""
    start = {("B", i): 10 + i for i in range(8)}
    lowered = Lowered({"n": 2})
    lowered.cells |= start
    lowered.run(read(kernel(body)).kernel.body)
    assert {at: value for at, value in lowered.cells.items() if start.get(at, 0) != value} == RUN[body]


UNORDERED = (
    "int *p = A; while ((p = B)[n--]) ;",
    "int *p = B; A[(p = A, p[0])] = (A[0] = 5, 1);",
)


@pytest.mark.parametrize("body", UNORDERED)
def test_an_order_that_not_every_standard_has(refused: Callable[[str, str], None], body: str) -> None:
    """Where a pointer leads is not known before it is assigned."""
    refused(kernel(body), "not every C++ says which comes first")


def test_a_pointer_may_lead_elsewhere_after_a_jump_back(read: Reader) -> None:
    body = "int *p = A, i = 0; l: *p = i; p = B; if (++i == 3) goto l; A[9] = i; if (i < 6) goto l;"
    text = show_stmt(read(f"__global__ void k(int *A, int *B) {{ {body} }}").kernel.body)
    assert "memory.int32[p] <- i;" in text, text
