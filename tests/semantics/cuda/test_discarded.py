"""Values that nobody uses: what they read is read, and costs. Of an element as a statement C++ reads nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from logic.metrics import METRICS
from semantics.cuda import read_cuda
from semantics.vectorised import run

BEFORE: Final = """#include <cassert>
#include <cstdio>
__device__ int three(int) { return 3; }
__device__ void nothing(int) {}
__device__ void address(const int *) {}
__device__ void pair(float2) {}
"""
PARAMETERS: Final = "const int *A, int *B, int **P, const float2 *F, int n, cudaSurfaceObject_t S"

SECTORS: Final = {
    # known whatever is read
    "if (A[8*l] == 1 || 3 < 5) return; B[0] = 1;": 32,
    "if (A[8*l] != 0 && false) B[l] = 1;": 32,
    "while (A[8*l] > 3 && 0) B[l] = 2;": 32,
    "for (int i = 0; A[8*l] > 3 && 0; i++) B[l] = 2;": 32,
    "do { } while (A[8*l] > 3 && 0);": 32,
    "while (true) { if (A[8*l] || true) break; B[1] = 1; }": 32,
    "B[0] = (A[8*l] || 1) ? 2 : 3;": 33,
    "bool c = A[8*l] != 0 && false; B[0] = c;": 33,
    "B[0] = !(A[8*l] || true);": 33,
    "B[0] = (A[8*l] && 0) || n == 5;": 33,
    "B[0] = P[4*l] != nullptr || true;": 33,
    "B[0] = A[8*l] * 0;": 33,
    "B[0] = A[8*l] & 0;": 33,
    "B[0] = A[8*l] ? 3 : 3;": 33,
    "const int *p = A[8*l] ? A : A; B[0] = *p;": 34,
    "if ((unsigned char)A[8*l] < 256) B[0] = 1;": 33,
    # as statements, and before a comma
    "A[8*l];": 0,
    "*(A + 8*l);": 0,
    "(void)A[8*l];": 0,
    "A[8*A[8*l]];": 32,
    "(float)A[8*l];": 32,
    "A[8*l] + 1;": 32,
    "(void)(A[8*l] * 2);": 32,
    "A[8*l] ? 3 : 3;": 32,
    "B[0] = (A[8*l], 3);": 1,
    "B[0] = (A[8*l] + 0, 3);": 33,
    "int t = A[8*l];": 32,
    "if (A[8*l]) ; else {}": 32,
    "switch (A[8*l]) { }": 32,
    # as arguments
    "nothing(A[8*l]);": 32,
    "B[0] = three(A[8*l]);": 33,
    "address(A + A[8*l]);": 32,
    "pair(F[4*l]);": 32,
    "surf1Dwrite(A[8*l], S, 4*l);": 32,
    "surf1Dwrite(1, S, A[8*l]);": 32,
    "__nanosleep(A[8*l]);": 32,
    "free(P[4*l]);": 32,
    "__builtin_expect(A[8*l], 1);": 32,
    "__builtin_assume(A[8*l] > 0);": 0,
    # not evaluated
    "B[0] = (1 || A[8*l]);": 1,
    "B[0] = (0 && A[8*l]);": 1,
    "B[0] = sizeof(A[8*l]);": 1,
}  # fmt: skip
"""What a warp of 32 threads touches, where each read of A[8*l] is 32 sectors."""


def test_sectors(tmp_path: Path) -> None:
    path = tmp_path / "discarded.cu"
    kernels = "\n".join(
        f"__global__ void k{i}({PARAMETERS}) {{ int l = threadIdx.x; {body} }}" for i, body in enumerate(SECTORS)
    )
    path.write_text(BEFORE + kernels)
    wrong = []
    for i, (body, sectors) in enumerate(SECTORS.items()):
        kernel = read_cuda(str(path), f"k{i}").kernel
        found = run(kernel, (32, 1, 1), (1, 1, 1), {"n": 4, "S": 0}, {}, [METRICS["sectors"]]).totals["sectors"]
        if found != sectors:
            wrong.append(f"{body} touches {found}, not {sectors}")
    assert wrong == []
