"""The reasons that people read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from checker.analysis.coalescing.access import allowed, capacity
from checker.analysis.coalescing.advice import Advice, advise
from checker.analysis.coalescing.exact import Analysis, analyse
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import INT, Array
from logic.typing import check_kernel
from semantics.cuda import read_cuda

Analysed = Callable[..., Analysis]
Advised = Callable[..., Advice]
GLOBAL = "int i = blockIdx.x * blockDim.x + t; "
ROW = "int y = blockIdx.y * blockDim.y + threadIdx.y; "


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("A[n] = 1;", "all threads access one element"),
        (GLOBAL + "A[i] = 1;", "consecutive threads access consecutive elements"),
        ("if (t == 3) A[n * t] = 1;", "one thread at most is active"),
        ("if (t < 0) A[n * t] = 1;", "no warp gets here"),
        ("if (t % 2) A[t] = 1;", "neighbouring active threads are 2 elements apart"),
        ("A[(n + 1) * t] = 1;", "consecutive threads are n + 1 elements apart"),
        ("A[2 * n * m * t] = 1;", "consecutive threads are 2*n*m elements apart"),
        ("A[-n * t] = 1;", "consecutive threads are -n elements apart"),
        ("A[8 * t] = 1;", "consecutive threads are 8 elements apart"),
        ("V[t].y = 1;", "4 bytes of a structure of 12"),
        ("A[t + n] = 1;", "start a line only where n is a multiple of 32"),
        ("A[t + m - n] = 1;", "start a line only for some values of m - n modulo 32"),
        ("A[t + 2] = 1;", "start 8 bytes after the start of a line"),
        ("D[t + n * m + 1] = 1;", "some values of n*m modulo 16"),
        (ROW + "A[y * n + t] = 1;", "threadIdx.y*n"),
        ("for (int k = 0; k < n; k++) A[t + k] = 1;", "what loops or branches add"),
        ("A[I[t]] = 1;", "the index comes from I[..]"),
        ("int j = t; for (int k = 0; k < n; k++) j = I[j]; A[j] = 1;", "the index comes from memory"),
        ("for (int k = t; k < n; k += t) A[k] = 1;", "no example shows that it is bad"),
        ("__shared__ float s[32][32]; s[t][0] = 1;", "32 words apart, so that 32 of them share a bank"),
        ("__shared__ float s[2048]; s[n * t] = 1;", "consecutive threads are n elements apart"),
        ("__shared__ float s[2048]; s[-n * t] = 1;", "consecutive threads are -n elements apart"),
        ("__shared__ float s[2048]; s[2 * n * t] = 1;", "2*n elements apart"),
        ("__shared__ float s[99][32]; s[n * t][0] = 1;", "32*n elements apart"),
        ("__shared__ float s[1024]; s[32 * t] = 1;", "32 of them share a bank"),
        ("__shared__ float s[1024]; s[n + 2 * t] = 1;", "2 of them share a bank"),
        ("__shared__ double s[512]; s[16 * t] = 1;", "32 of them share a bank"),
        ("__shared__ char s[4096]; s[128 * t] = 1;", "32 of them share a bank"),
        ("__shared__ float s[2048]; s[64 * t] = 1;", "64 words apart"),
        ("__shared__ float s[32][16]; s[t][1] = 1;", "16 of them share a bank"),
        ("__shared__ float s[4][8][32]; s[t / 8][t % 8][0] = 1;", "32 of them share a bank"),
        ("__shared__ float s[256]; if (t < 8) s[32 * t] = 1;", "8 of them share a bank"),
        ("__shared__ float s[256]; s[32 * t] = 1;", "so that 8 of them share a bank"),  # a run ends beyond its length
        ("__shared__ int s[256]; s[I[t] & 255] = 1;", "the index comes from I[..]"),
        ("__shared__ float4 s[256]; s[t].x = 1;", "4 of them share a bank"),
        ("__shared__ float3 s[256]; s[2 * t].x = 1;", "6 words apart"),
        ("V[t + 1].x = 1;", "4 bytes of a structure of 12"),
    ],
)
def test_words(advised: Advised, body: str, reason: str) -> None:
    found = advised(body)
    assert reason in found.reason
    assert found.mend == ()  # which `remedies` has to try


def test_rows_of_a_small_block(advised: Advised) -> None:
    found = advised(ROW + "A[y * n + t] = 1;", (8, 8, 1))
    assert found.reason == "the threads of a warp are in 4 rows of the block, whose elements lie apart"
    found = advised("__shared__ float s[8][64]; s[threadIdx.y][t] = 1;", (8, 8, 1))
    assert found.reason == "the threads of a warp are in 4 rows of the block, which share banks"


def test_rows_of_the_block_by_themselves(analysed: Analysed) -> None:
    """Of the half warps each has 16 words in a row, 64 words apart: two turns at most, whatever m is."""
    (f,) = (
        f
        for f in analysed("__shared__ float s[1024]; s[threadIdx.y * 64 + min(t, m)] = 1;", (16, 16, 1)).findings
        if f.access.kind == "store"
    )
    assert (f.verdict, f.transactions) == ("conflicting", 2)


def test_lanes_of_two_phases_do_not_meet_in_a_bank(tmp_path: Path) -> None:
    """8 lanes at once: of lanes 4 to 11 four in each of two phases."""
    path = tmp_path / "k.cu"
    body = "if (t >= 4 && t < 12) s[8 * t] = make_double2(1, 2);"
    path.write_text(f"__global__ void k() {{ __shared__ double2 s[96]; int t = threadIdx.x; {body} }}")
    kernel = read_cuda(str(path)).kernel
    phased = replace(HARDWARE["nvidia"], name="own", phase=128)
    found = analyse(kernel, Context(check_kernel(kernel), METRICS["sectors"], phased, Launch((32, 1, 1))))
    (f,) = found.findings
    assert f.transactions == 7
    assert "4 of them share a bank" in advise(f, found.view, phased).reason


@pytest.mark.parametrize(
    ("shared", "index", "most"),
    [
        ("float s[256]", "I[t]", 8),
        ("float s[256]", "n * t", 8),
        ("float s[250]", "I[t] / 2", 8),
        ("float s[32]", "n * t", 1),
        ("double s[64]", "I[t]", 4),
        ("float s[4][32]", "I[t]][I[t + 1]", 4),
        ("unsigned char s[256]", "C[t]", 2),
        ("float s[1 << 20]", "I[t]", 32),
    ],
)
def test_no_more_turns_than_a_bank_has_words(analysed: Analysed, shared: str, index: str, most: int) -> None:
    """A run ends at an index beyond an array's length: of 256 floats 8 are in a bank."""
    (f,) = (f for f in analysed(f"__shared__ {shared}; s[{index}] = 1;").findings if f.access.kind == "store")
    assert (f.transactions, f.verdict) == (most, "conflict-free" if most == 1 else "conflicting")


@pytest.mark.parametrize(
    ("array", "most"),
    [
        (Array("s", "shared", INT, 4, length=2048), 64),
        (Array("s", "shared", INT, 4, length=2049), 65),  # a bank has one word more
        (Array("s", "shared", INT, 4, length=2080), 65),
        (Array("s", "shared", INT, 4, length=2081), 66),
        (Array("s.z", "shared", INT, 12, 8, 4, length=714), 67),
        (Array("s.z", "shared", INT, 12, 8, 4, length=715), 68),  # the last one is behind two others
        (Array("s.x", "shared", INT, 256, 0, 4, length=3), 3),  # one of 64 words
        (Array("s", "shared", INT, 4), None),
    ],
)
def test_the_words_of_a_bank(array: Array, most: int | None) -> None:
    assert capacity(array, HARDWARE["nvidia"]) == most


def test_in_phases_each_may_take_as_many_turns(analysed: Analysed) -> None:
    (f,) = (f for f in analysed("__shared__ double s[64]; s[n * t] = 1;").findings if f.access.kind == "store")
    array, plain = f.met.array if f.met else None, HARDWARE["nvidia"]
    assert array is not None
    assert [capacity(array, replace(plain, name="own", phase=phase)) for phase in (plain.phase, 128)] == [4, 7]
    assert [allowed(array, 2, threshold) for threshold in ("fewest", "paper")] == [2, 2]
