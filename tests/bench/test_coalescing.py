"""How the coalescing analyses grow with a kernel: 30, 300 and 3,000 lines of accesses, branches and loops."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from checker.analysis.coalescing.exact import analyse
from checker.analysis.coalescing.gpudrano import reported
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.typing import check_kernel
from semantics.cuda import read_cuda

pytestmark = pytest.mark.bench

PART = """
    int j{k} = i + {k};
    if (j{k} < n) {{
        A[j{k}] = B[w * i + {k}] + C[i];
    }}
    for (int y = 0; y < w; y++) {{
        s += C[y * w + i] * B[y];
        for (int z = threadIdx.y; z < y; z += 2) {{
            if (z == i) break;
            A[z * w + i] += s;
        }}
    }}
    int q{k} = I[i];
    B[q{k}] = s;
    if (threadIdx.x == {k} % 32) {{
        A[{k} * n] = s;
    }}"""
LIMITS = {(256, 1, 1): 10, (16, 16, 1): 10, (7, 5, 1): 12}
"""Seconds of a processor, for 3,000 lines."""


def source(lines: int) -> str:
    parts = "".join(PART.format(k=k) for k in range(lines // (PART.count("\n") + 1)))
    arguments = "float *A, float *B, const float *C, const int *I, int n, int w"
    return (
        f"__global__ void k({arguments}) {{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"    float s = 0.0f;{parts}\n}}\n"
    )


@pytest.mark.parametrize("block", list(LIMITS))
@pytest.mark.parametrize("lines", [30, 300, 3000])
def test_both_analyses(lines: int, block: tuple[int, int, int], tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(source(lines))
    start = time.process_time()
    kernel = read_cuda(str(path)).kernel
    sigma = check_kernel(kernel)
    read = time.process_time()
    found = analyse(kernel, Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], Launch(block))).findings
    exact = time.process_time()
    lattice = reported(kernel)
    end = time.process_time()
    print(
        f"{lines} lines, block {block}, {len(found)} accesses: read {read - start:.2f} s, exact {exact - read:.2f} s, "
        f"lattice {end - exact:.2f} s"
    )
    assert len(found) >= lines // 3
    assert lattice
    assert end - start < LIMITS[block]
