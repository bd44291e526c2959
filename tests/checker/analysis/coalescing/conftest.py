"""Kernels from a line of CUDA C, and what the exact analysis says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from checker.analysis.coalescing.advice import Advice, advise
from checker.analysis.coalescing.exact import Analysis, analyse
from checker.notation import parse_assumption
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.typing import check_kernel
from semantics.cuda import Reading, read_cuda

Read = tuple[Analysis, Reading]
PARAMETERS = "float *A, double *D, int *I, unsigned char *C, float3 *V, int n, int m"


def read(tmp_path: Path, body: str, block: tuple[int, int, int] | None, facts: Sequence[str], before: str) -> Read:
    """The analysis of `__global__ void k(...) { BODY }`, and the kernel as it was read. Without a block, blockDim.x is
    a multiple of 32."""
    path = tmp_path / "k.cu"
    path.write_text(f"{before}\n__global__ void k({PARAMETERS}) {{\nint t = threadIdx.x;\n{body}\n}}\n")
    reading = read_cuda(str(path))
    sigma = check_kernel(reading.kernel)
    given = [*facts, *(() if block else ("blockDim.x % 32 == 0",))]
    assumptions = conj((parse_assumption(f, sigma, "--assume") for f in given), sigma)
    launch = Launch(block or (None, None, None), assumptions=assumptions)
    return analyse(reading.kernel, Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], launch)), reading


@pytest.fixture
def analysed(tmp_path: Path) -> Callable[..., Analysis]:
    """Analyses the body of a kernel."""

    def run(body: str, block: tuple[int, int, int] | None = None, *facts: str, before: str = "") -> Analysis:
        return read(tmp_path, body, block, facts, before)[0]

    return run


@pytest.fixture
def advised(tmp_path: Path) -> Callable[..., Advice]:
    """What is said of the one store of a kernel's body."""

    def run(body: str, block: tuple[int, int, int] | None = None, *facts: str, before: str = "") -> Advice:
        found, _ = read(tmp_path, body, block, facts, before)
        (f,) = (f for f in found.findings if f.access.kind == "store")
        return advise(f, found.view, HARDWARE["nvidia"])

    return run
