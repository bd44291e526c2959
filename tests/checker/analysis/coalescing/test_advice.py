"""The reasons that people read, and what is said to mend."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checker.analysis.coalescing.advice import Advice, advise
from checker.analysis.coalescing.exact import Analysis
from logic.metrics import HARDWARE

Analysed = Callable[..., Analysis]
GLOBAL = "int i = blockIdx.x * blockDim.x + t; "
ROW = "int y = blockIdx.y * blockDim.y + threadIdx.y; "


def store(found: Analysis) -> Advice:
    (f,) = (f for f in found.findings if f.access.kind == "store")
    return advise(f, found.view, HARDWARE["nvidia"])


@pytest.mark.parametrize(
    ("body", "reason", "mend"),
    [
        ("A[n] = 1;", "all threads access one element", ""),
        (GLOBAL + "A[i] = 1;", "consecutive threads access consecutive elements", ""),
        ("if (t == 3) A[n * t] = 1;", "one thread at most is active", ""),
        ("if (t < 0) A[n * t] = 1;", "no warp gets here", ""),
        ("if (t % 2) A[t] = 1;", "neighbouring active threads are 2 elements apart", ""),
        ("A[(n + 1) * t] = 1;", "consecutive threads are n + 1 elements apart", "threadIdx.x run along a row"),
        ("A[2 * n * m * t] = 1;", "consecutive threads are 2*n*m elements apart", "threadIdx.x run along a row"),
        ("A[-n * t] = 1;", "consecutive threads are -n elements apart", "threadIdx.x run along a row"),
        ("A[8 * t] = 1;", "consecutive threads are 8 elements apart", "consecutive elements"),
        ("V[t].y = 1;", "4 bytes of a structure of 12", "a structure of arrays"),
        ("A[t + n] = 1;", "start a line only where n is a multiple of 32", "start at a multiple of 32 elements"),
        ("A[t + 2] = 1;", "start 8 bytes after the start of a line", "pad what comes before"),
        ("D[t + n * m + 1] = 1;", "some values of n*m modulo 16", "pad rows to a multiple of 16"),
        (ROW + "A[y * n + t] = 1;", "threadIdx.y*n", "pad rows to a multiple of 32"),
        ("for (int k = 0; k < n; k++) A[t + k] = 1;", "what loops or branches add", "start at a multiple"),
        ("A[I[t]] = 1;", "the index comes from I[..]", "threads' order"),
        ("int j = t; for (int k = 0; k < n; k++) j = I[j]; A[j] = 1;", "the index comes from memory", "order"),
        ("for (int k = t; k < n; k += t) A[k] = 1;", "no example shows that it is bad", ""),
        (
            "__shared__ float s[32][32]; s[t][0] = 1;",
            "32 words apart, so that 32 of them share a bank",
            "pad the rows of s",
        ),
        ("__shared__ float s[32]; s[n * t] = 1;", "consecutive threads are n elements apart", "pad the rows of s"),
        ("__shared__ int s[256]; s[I[t] & 255] = 1;", "the index comes from I[..]", ""),
        ("__shared__ float3 s[256]; s[2 * t].x = 1;", "6 words apart", "a structure of arrays"),
    ],
)
def test_words(analysed: Analysed, body: str, reason: str, mend: str) -> None:
    found = store(analysed(body))
    assert reason in found.reason
    assert mend in found.mend
    assert bool(mend) == bool(found.mend)


def test_rows_of_a_small_block(analysed: Analysed) -> None:
    found = store(analysed(ROW + "A[y * n + t] = 1;", (8, 8, 1)))
    assert found.reason == "the threads of a warp are in 4 rows of the block, whose elements lie apart"
    assert "blockDim.x" in found.mend
    found = store(analysed("__shared__ float s[8][64]; s[threadIdx.y][t] = 1;", (8, 8, 1)))
    assert found.reason == "the threads of a warp are in 4 rows of the block, which share banks"
    assert found.mend == "make blockDim.x a multiple of the warp size"


def test_rows_of_the_block_by_themselves(analysed: Analysed) -> None:
    """Of the half warps each has 16 words in a row, 64 words apart: two turns at most, whatever m is."""
    (f,) = (
        f
        for f in analysed("__shared__ float s[1024]; s[threadIdx.y * 64 + min(t, m)] = 1;", (16, 16, 1)).findings
        if f.access.kind == "store"
    )
    assert (f.verdict, f.transactions) == ("conflicting", 2)


@pytest.mark.parametrize(("width", "mend"), [(16, "pad the rows of s"), (17, "blockDim.x")])
def test_rows_that_are_padded_are_not_to_be_padded_again(analysed: Analysed, width: int, mend: str) -> None:
    found = store(analysed(f"__shared__ float s[16][{width}]; s[t][threadIdx.y] = 1;", (16, 16, 1)))
    assert found.reason == "the threads of a warp are in 2 rows of the block, which share banks"
    assert mend in found.mend
