"""Loops that count an unsigned number down until it wraps around: what they become, and what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from logic.syntax import show_stmt
from semantics import grid, vectorised
from semantics.cuda import read_cuda

Write = Callable[[str], str]

SAME: Final = ""

LOOPS: Final = {
    "a": ("for (unsigned i = n - 1; i < n; i--) A[i] = 1;", "i >= 0 && i < n", [0, 1, 2, 3, 4]),
    "b": (
        "size_t i; for (i = n - 1ull; i != ~0ull; --i) A[i] = 1;",
        "i >= 0 && i != 18446744073709551615",
        [0, 1, 2, 3, 4],
    ),
    "c": (
        "for (unsigned i = n - 1, j = 9; n > i && i != 1; i -= 1, j++) A[i] = j;",
        "i >= 0 && (n > i && i != 1)",
        [2, 3, 4],
    ),
    "d": (
        "for (unsigned i = n - 1; i < n; i--) { if (A[i] == 7) break; A[i] = 1; }",
        "i >= 0 && (go && i < n)",
        [3, 4],
    ),
    # what may go on after the number wrapped around, or where it is seen or changed otherwise
    "e": ("for (unsigned i = n - 1; i < n + 0ull; i--) { A[i] = 1; if (A[0] == 6) i = n; }", SAME, [0, 1, 2, 3, 4]),
    "f": ("for (unsigned i = n - 1; i < 5; i -= 2) A[i] = 1;", SAME, [0, 2, 4]),
    "g": ("unsigned i; for (i = n - 1; i < n; i--) A[i] = 1; A[7] = i >> 31;", SAME, [0, 1, 2, 3, 4, 7]),
    "h": ("for (unsigned i = n - 1; i < m; i--) { A[i & 7] = 1; if (i > 9) break; }", SAME, [0, 1, 2, 3, 4, 7]),
    "i": ("for (unsigned i = n - 1, j = i; i < n; i--, j = i) A[j] = 1;", SAME, [0, 1, 2, 3, 4]),
    "j": ("for (unsigned i = n - 1; i != 4294967294u; i--) A[i & 7] = 1;", SAME, [0, 1, 2, 3, 4, 7]),
    "k": ("for (unsigned i = n - 1; i - 1 < n; i--) A[i] = 1;", SAME, [1, 2, 3, 4]),
    "l": ("for (unsigned char i = n - 1; i < n; i--) A[i] = 1;", SAME, [0, 1, 2, 3, 4]),
}
"""Loops, their tests where -1 stands for what the number wraps around to, and which elements they change."""


def test_a_number_that_wraps_around_ends_its_loop_as_minus_one(here: Write) -> None:
    kernels = (f"__global__ void {k}(int *A, unsigned n, size_t m) {{ {loop} }}" for k, (loop, _, _) in LOOPS.items())
    path = here("\n".join(kernels))
    for name, (_, test, changed) in LOOPS.items():
        reading = read_cuda(path, name)
        text = show_stmt(reading.kernel.body)
        assert (f"while ({test})" in text and "i <- i - 1;" in text) if test else "i >= 0" not in text, name
        start = [5, 0, 7, 0, 0, 0, 0, 0]
        for n, own, wanted in (5, reading, changed), (0, reading.under(assume=False), [*({7} & {*changed})]):
            for run in (grid.run, vectorised.run):
                found = run(own.kernel, (1, 1, 1), (1, 1, 1), {"n": n, "m": 1 << 40}, {"A": start}).arrays["A"]
                assert [i for i in range(8) if found[i] != start[i]] == wanted, (name, n, run)
