"""Kernels from a line of CUDA C, and what the exact analysis says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checker.analysis.coalescing.exact import Analysis, analyse
from checker.notation import parse_assumption
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.typing import check_kernel
from semantics.cuda import read_cuda

PARAMETERS = "float *A, double *D, int *I, unsigned char *C, float3 *V, int n, int m"


@pytest.fixture
def analysed(tmp_path: Path) -> Callable[..., Analysis]:
    """Analyses `__global__ void k(...) { BODY }`; without a block, blockDim.x is a multiple of 32."""

    def run(body: str, block: tuple[int, int, int] | None = None, *facts: str, before: str = "") -> Analysis:
        path = tmp_path / "k.cu"
        path.write_text(f"{before}\n__global__ void k({PARAMETERS}) {{\nint t = threadIdx.x;\n{body}\n}}\n")
        kernel = read_cuda(str(path)).kernel
        sigma = check_kernel(kernel)
        given = [*facts, *(() if block else ("blockDim.x % 32 == 0",))]
        assumptions = conj((parse_assumption(f, sigma, "--assume") for f in given), sigma)
        launch = Launch(block or (None, None, None), assumptions=assumptions)
        return analyse(kernel, Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], launch))

    return run
