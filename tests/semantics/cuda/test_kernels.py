"""The kernels of Fig. 1 (POPL 2021) and vectorAdd, as they are read from proofs/."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from logic.syntax import FLOAT, INT, Array, Decl, show_stmt
from semantics.cuda import read_cuda

PROOFS = Path(__file__).parents[3] / "proofs"

KERNELS = {
    "vectorAdd": """\
        i <- blockDim.x * blockIdx.x + tid.x;
        if (i < numElements) {
          C[i] <- A[i] + B[i];
        }""",
    "addSub0": """\
        i <- 0;
        while (i < w) {
          j <- blockIdx.x * blockDim.x + tid.x;
          if (j % 2 == 0) {
            B[j * w + i] <- B[j * w + i] + A[i];
          } else {
            B[j * w + i] <- B[j * w + i] - A[i];
          }
          i <- i + 1;
        }""",
    "addSub1": """\
        i <- 0;
        while (i < w) {
          j <- blockIdx.x * blockDim.x + tid.x;
          B[2 * j * w + i] <- B[2 * j * w + i] + A[i];
          B[(2 * j + 1) * w + i] <- B[(2 * j + 1) * w + i] - A[i];
          i <- i + 1;
        }""",
    "addSub2": """\
        i <- blockIdx.x * blockDim.x + tid.x;
        j <- 0;
        while (j < h) {
          B[j * w + i] <- B[j * w + i] + A[i];
          B[(j + 1) * w + i] <- B[(j + 1) * w + i] - A[i];
          j <- j + 2;
        }""",
    "addSub3": """\
        i <- blockIdx.x * blockDim.x + tid.x;
        As[tid.x] <- A[i];
        j <- 0;
        while (j < h) {
          B[j * w + i] <- B[j * w + i] + As[tid.x];
          B[(j + 1) * w + i] <- B[(j + 1) * w + i] - As[tid.x];
          j <- j + 2;
        }""",
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(name: str) -> None:
    reading = read_cuda(str(PROOFS / name / "kernel.cu"))
    assert show_stmt(reading.kernel.body) == dedent(KERNELS[name])
    assert (reading.kernel.name, reading.block, reading.notes) == (name, None, ())


def test_signatures() -> None:
    vector = read_cuda(str(PROOFS / "vectorAdd" / "kernel.cu")).kernel
    assert vector.params == (Decl("numElements", INT),)
    assert vector.arrays == tuple(Array(a, "global", FLOAT, 4) for a in "ABC")
    shared = read_cuda(str(PROOFS / "addSub3" / "kernel.cu")).kernel
    assert shared.params == (Decl("w", INT), Decl("h", INT))
    assert shared.arrays == (
        Array("A", "global", INT, 4),
        Array("B", "global", INT, 4),
        Array("As", "shared", INT, 4),
    )
