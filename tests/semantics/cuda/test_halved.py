"""Loops that halve a number until nothing is left of it: what they become, what they do, and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import show_stmt
from logic.typing import check_kernel
from semantics import grid, vectorised
from semantics.cuda import read_cuda

Write = Callable[[str], str]

POWER: Final = """
__device__ unsigned power(unsigned b, unsigned e) {
    unsigned r = 1;
    while (e) { if (e & 1) r *= b; b *= b; e >>= 1; }
    return r;
}
"""

LOOPS: Final = {
    "a": ("int e = E[t]; for (; e > 0; e >>= 1) A[0] = e;", "e <- min(E[t], 2147483647)", "35"),
    "b": ("unsigned e = U[t]; for (; e != 0; e /= 2) A[0] = e;", "e <- min(max(U[t], 0), 4294967295)", "36"),
    "c": ("short e = S[t]; while (e > 0) { A[0] = e; e = e / 2; }", "min(", "17"),
    "d": ("A[0] = power(2, U[t]);", "e <- min(max(U[t], 0), 4294967295)", "5"),
    "e": ("int v = E[t], e = v + 1; do A[0] = e; while (e /= 2);", "e <- min(v + 1, 2147483647)", None),  # e may be < 0
    "j": ("unsigned e = 1u << (32 - __clz(n)); for (; e; e >>= 1) A[0] = e;", "e <- min(max(e, 0), 4294967295)", "32"),
    "k": ("int e = 1 << (n - 1); for (; e != 0; e >>= 1) A[0] = e;", "e <- min(max(e, 0), 2147483647)", "31"),
    "l": ("int e = n << n; for (; e > 0; e /= 10) A[0] = e;", "e <- min(e, 2147483647)", "11"),
    # nothing is added where no loop ends by it, or it is not loaded, or has a limit, or more is done to it
    "f": ("int e = E[t]; for (int i = 0; i < 4; i++) { A[i] = e; e >>= 1; }", "", "8"),
    "g": ("int e = n; for (; e > 0; e >>= 1) A[0] = e;", "", "log2(n) + min(1, max(0, n))"),
    "h": ("int e = E[t] & 7; for (; e > 0; e >>= 1) A[0] = e;", "", "7"),
    "i": ("int e = E[t]; for (; e > 0; e >>= 1) { A[0] = 1; if (e == n) e = 3 * e; }", "", None),
}
"""Bodies, what is assigned in them, and their sectors; with a read of four, where they read E."""


def test_numbers_that_are_halved_have_the_limits_of_their_types(here: Write) -> None:
    given = "int *A, const int *E, const unsigned *U, const short *S, int n"
    head = "__global__ void {}(" + given + ") {{ int t = threadIdx.x; {} }}"
    path = here(POWER + "\n".join(head.format(k, body) for k, (body, _, _) in LOOPS.items()))
    for name, (_, assigned, sectors) in LOOPS.items():
        kernel = read_cuda(path, name).under(warp=32).kernel
        text = show_stmt(kernel.body)
        assert assigned in text if assigned else "min(" not in text, (name, text)
        context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
        (found,) = find_bounds(Outline(kernel, context, bare(kernel.body)), [METRICS["sectors"]], Oracles())
        assert (None if found.q is None else str(found.q), found.verdict == "certified") == (
            sectors,
            sectors is not None,
        ), name


def test_limits_of_types_change_nothing(here: Write) -> None:
    """Powers of 3 by exponents with the highest bit, too: as Python has them, modulo 2^32."""
    path = here(POWER + "__global__ void k(int *A, const unsigned *E) { A[threadIdx.x] = power(3, E[threadIdx.x]); }")
    exponents = [0, 1, 5, 20, -1, -(2**31), 2**31 - 1, 1000]
    kernel = read_cuda(path, "k").under(assume=False).kernel
    for run in (grid.run, vectorised.run):
        found = run(kernel, (8, 1, 1), (1, 1, 1), {}, {"A": [0] * 8, "E": [e % 2**32 for e in exponents]}).arrays["A"]
        assert [found[i] % 2**32 for i in range(8)] == [pow(3, e % 2**32, 2**32) for e in exponents], run
