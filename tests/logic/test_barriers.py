"""Barriers: those that whole blocks provably reach, and those that a part of one might."""

from __future__ import annotations

import pytest

from checker.notation import parse_kernel
from logic.barriers import MAX_NESTING, unproved_barriers

HEAD = "kernel k\nparam int n;\nglobal int A[];\nlocal int i, j, t;\nbegin\n"


@pytest.mark.parametrize(
    ("body", "unproved"),
    [
        ("sync;", []),
        ("if (n > 0) { sync; }", []),
        ("if (tid.x < 5) { sync; }", [0]),
        ("if (tid.x < 5) { skip; } sync;", []),
        ("sync; if (A[0] == 0) { sync; } else { sync; }", [1, 2]),
        ("i <- 0; while (i < n) { sync; i <- i + 1; }", []),
        ("while (i < n) { sync; i <- i + 1; }", [0]),
        ("i <- 0; while (i < n) { sync; i <- i + tid.x; }", [0]),
        ("i <- 0; while (i < n) { sync; if (tid.x == 0) { i <- i + 1; } }", [0]),
        ("t <- tid.x; i <- t; if (i > 3) { sync; }", [0]),
        ("t <- tid.x; t <- 3; if (t > 3) { sync; }", []),
        ("i <- 0; if (tid.x > 3) { i <- 1; } else { i <- 1; } if (i > 0) { sync; }", [0]),
        ("i <- 0; if (n > 3) { i <- 1; } else { i <- 2; } if (i > 0) { sync; }", []),
        ("i <- 0; j <- 0; while (j < n) { if (i > 0) { sync; } i <- tid.x; j <- j + 1; }", [0]),
        ("i <- 0; while (i < tid.x) { i <- i + 1; } if (i > 0) { sync; }", [0]),
        ("i <- 0; while (i < n) { j <- 0; while (j < i) { sync; j <- j + 1; } i <- i + 1; }", []),
        ("if (tid.x < 5) { i <- 0; while (i < n) { sync; i <- i + 1; } }", [0]),
        ("i <- 0; while (i < n) { i <- i + 1; } if (i > 3) { sync; }", []),
        ("while (i < n) { i <- i + 1; } if (i > 3) { sync; }", [0]),
        ("i <- 0; t <- 0; while (i < n) { if (n > i + 3) { t <- i; } i <- i + 1; } while (i < t) { sync; }", []),
        ("i <- 0; t <- 0; while (i < n) { j <- t; t <- tid.x; i <- i + 1; } if (j > 0) { sync; }", [0]),
        ("i <- 0; if (tid.x < 5) { while (i < n) { i <- i + 1; } } if (i > 0) { sync; }", [0]),
    ],
)
def test_which_barriers_are_unproved(body: str, unproved: list[int]) -> None:
    kernel = parse_kernel(f"{HEAD}{body}\nend\n", "k.txt")
    assert unproved_barriers(kernel.body, frozenset()) == unproved


def test_nests_that_are_too_deep_count_as_unproved() -> None:
    def nest(depth: int) -> str:
        return "sync;" if depth == 0 else f"while (n > {depth}) {{ {nest(depth - 1)} }}"

    for depth, unproved in ((MAX_NESTING, []), (MAX_NESTING + 1, [0])):
        kernel = parse_kernel(f"{HEAD}{nest(depth)}\nend\n", "k.txt")
        assert unproved_barriers(kernel.body, frozenset()) == unproved


def test_what_takes_too_long_counts_as_unproved() -> None:
    """What is shared shrinks by one variable a turn, anew in each turn of the loop around."""
    names = [[f"{name}{depth}" for name in "ijt"] for depth in range(MAX_NESTING)]

    def nest(depth: int) -> str:
        i, j, t = names[depth]
        inner = "" if depth == 0 else nest(depth - 1)
        return f"{i} <- 0; {t} <- 0; {j} <- 0; while (n > 0) {{ {i} <- {t}; {t} <- {j}; {j} <- tid.x; {inner} }}"

    head = HEAD.replace("i, j, t", ", ".join(name for some in names for name in some))
    for depth, unproved in ((3, []), (MAX_NESTING - 1, [0])):
        kernel = parse_kernel(f"{head}{nest(depth)} if (n > 0) {{ sync; }}\nend\n", "k.txt")
        assert unproved_barriers(kernel.body, frozenset()) == unproved


@pytest.mark.parametrize(
    ("body", "unproved"),
    [
        ("if (A[n] == 0) { sync; }", []),
        ("i <- A[A[0]]; while (i < A[1]) { sync; i <- i + 1; }", []),
        ("if (A[tid.x] == 0) { sync; }", [0]),
        ("if (A[A[tid.x]] == 0) { sync; }", [0]),
        ("i <- A[j]; if (i == 0) { sync; }", [0]),
        ("if (B[n] == 0) { sync; }", [0]),
        ("if (A[B[n]] == 0) { sync; }", [0]),
    ],
)
def test_stable_arrays_hold_the_same_for_all_threads(body: str, unproved: list[int]) -> None:
    head = HEAD.replace("global int A[];", "global int A[]; global int B[];")
    assert unproved_barriers(parse_kernel(f"{head}{body}\nend\n", "k.txt").body, frozenset("A")) == unproved
