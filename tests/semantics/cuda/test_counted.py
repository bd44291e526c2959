"""Loops that count in floating-point numbers: what their tests get, and what they do."""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from logic.syntax import show_stmt
from semantics import grid, vectorised
from semantics.cuda import read_cuda
from semantics.cuda.counted import nearest
from tests.examples import examples

Write = Callable[[str], str]

SAME: Final = ""

LOOPS: Final = {
    "a": ("for (float i = -3; i <= 3; i++) c++;", "turn < 7 && i <= 3.0f", 7),
    "b": ("for (float i = 1.f; 2.5 > i; i += 0.25f) c++;", "turn < 6 && 2.5 > as_double(i)", 6),
    "c": (
        "double i = 8, s = 0; while (i >= 0.5 && c < n) { c++; i -= 0.5; s += i; }",
        "turn < 16 && (i >= 0.5 && c < n)",
        5,
    ),
    "d": ("for (float i = 0; i < 9; ++i) { if (n == 5 && i > 2) break; c++; }", "turn < 9 && (go && i < 9.0f)", 3),
    "e": ("for (float i = 0; i < 9; ++i) { if (c == n) continue; c++; }", "turn < 9 && i < 9.0f", 5),
    "f": ("for (float i = 2; i < 1; i++) c++;", "turn < 0 && i < 1.0f", 0),
    "g": (
        "float i = -4; for (int j = 0; j < n; j++) { i = -2; while (i < 1) { i += 1; c++; } }",
        "turn < 3 && i < 1.0f",
        15,
    ),
    # what is written is next to a number, and that is compared with
    "q": ("for (float i = 0; i <= 2.9999999999f; i++) c++;", "turn < 4 && i <= 2.9999999999f", 4),
    "r": ("for (float i = 0; i <= 2.9999999999; i++) c++;", "turn < 3 && as_double(i) <= 2.9999999999", 3),
    "s": ("for (float i = 8388600; i <= 8388607.75f; i++) c++;", "turn < 9 && i <= 8388607.75f", 9),
    # what may be 0, as it is too small
    "t": ("for (float i = -3; i <= -1e-50f; i++) c++;", SAME, 4),
    # what is no float, what may begin elsewhere or is moved otherwise, and what does not end by it
    "h": ("for (float i = 0; i < 1; i += 0.1f) c++;", SAME, 10),
    "i": ("for (float i = 16777216.f; i < 16777218.f; i += 2.f) c++;", SAME, 1),
    "j": ("float i = 0; do { while (i < 3) { i += 1; c++; } i = -9; } while (n-- > 0);", SAME, 63),
    "k": ("for (float i = 0; i < n; i += 1) c++;", SAME, 5),
    "l": ("for (float i = 0; i < 9; i += 1) { c++; if (c == 2) i = 7; }", SAME, 3),
    "m": ("float i = n; for (; i < 9; i += 1) c++;", SAME, 4),
    "n": ("float i = 0; if (n == 5) i = -2; for (; i < 9; i += 1) c++;", SAME, 11),
    "o": ("for (float i = 0; i < 3 || c < n; i += 1) c++;", SAME, 5),
    "p": ("for (float i = 5; i < 9; i -= 1) if (++c == 4) break;", SAME, 4),
}
"""Loops, their tests where turns are counted beforehand, and how often they turn for an n of 5."""


def test_turns_are_counted_where_all_numbers_are_exact(here: Write) -> None:
    kernels = (
        f"__global__ void {k}(int *A, int n) {{ int c = 0; {loop} A[0] = c; }}" for k, (loop, _, _) in LOOPS.items()
    )
    path = here("\n".join(kernels))
    for name, (_, test, turns) in LOOPS.items():
        kernel = read_cuda(path, name).kernel
        text = show_stmt(kernel.body)
        assert (f"while ({test})" in text) if test else "turn" not in text, (name, text)
        for run in (grid.run, vectorised.run):
            assert run(kernel, (1, 1, 1), (1, 1, 1), {"n": 5}, {"A": [9]}).arrays["A"][0] == turns, (name, run)


@examples(100, 10_000)
@given(st.floats(2.0**-99, 2.0**99), st.booleans())
def test_a_constant_is_next_to_what_is_written(x: float, below: bool) -> None:
    """As C rounds a double to a float, on both sides of 0."""
    exact = Fraction(-x if below else x)
    assert nearest(exact, 53) == exact
    assert nearest(exact, 24) == Fraction(struct.unpack("f", struct.pack("f", float(exact)))[0])
