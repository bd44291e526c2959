"""Programs of certificates as CUDA-like text: read as CUDA, it is the same program again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from checker.certificates import document
from checker.report.program import as_cuda
from logic.syntax import FLOAT, INT, Array, Const, Kernel, Read, Skip, Write, same
from semantics.cuda import read_cuda

PROOFS: Final = Path(__file__).resolve().parents[3] / "proofs"

UNLIKE: Final = {
    "mandelbrot0": "variables of structures have dots in their names",
    "data": "what the front end makes of shuffles is not what is written",
    "features": "made by hand",
}
CERTIFICATES: Final = [path for path in sorted(PROOFS.glob("*/sectors.json")) if path.parent.name not in UNLIKE]


@pytest.mark.parametrize("path", CERTIFICATES, ids=lambda path: path.parent.name)
def test_reading_the_text_gives_the_program(path: Path, tmp_path: Path) -> None:
    kernel = document.read(path.read_text(), str(path)).kernel
    source = tmp_path / "k.cu"
    source.write_text(as_cuda(kernel))
    again = read_cuda(str(source)).kernel
    assert same(again.body, kernel.body)
    assert {(d.name, d.type) for d in again.params} == {(d.name, d.type) for d in kernel.params}
    assert {a.name: a.space for a in again.arrays} == {a.name: a.space for a in kernel.arrays}


def test_layouts_that_are_not_those_of_plain_arrays_are_said() -> None:
    arrays = (
        Array("p.y", "global", FLOAT, 12, 4, 4),
        Array("b", "shared", INT, 4, 0, 4, 64),
        Array("c", "shared", INT, 1, 0, 1),
    )
    text = as_cuda(Kernel("k", (), arrays, (), Write("b", Const(0), Read("c", Const(1)))))
    assert text.splitlines() == [
        "__global__ void k(float *p.y) {",
        "  // p.y[i]: 4 bytes at byte 12 * i + 4",
        "  __shared__ int b[64];",
        "  extern __shared__ int c[];  // c[i]: 1 bytes at byte 1 * i",
        "  b[0] = c[1];",
        "}",
    ]


def test_an_empty_kernel() -> None:
    assert as_cuda(Kernel("k", (), (), (), Skip())) == "__global__ void k() {\n  ;\n}\n"
