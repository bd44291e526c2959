"""Table 2: the benchmarks. A folder under proofs for each, with the parameters that the tables name."""

import pytest

from semantics.cuda import read_cuda
from tests.paper.where import TESTS

SUITE = {
    "matMul": ("wA", "wB"), "matMulBad": ("wA", "wB"), "matMulTrans": ("wA", "wB"), "mandelbrot": ("numBlocks",),
    "mandelbrot0": ("numBlocks",),
    "vectorAdd": ("numElements",), "reduce0": ("n",), "reduce1": ("n",), "reduce2": ("n",), "reduce3": ("n",),
    "histogram256": ("dataCount",), "addSub0": ("w", "h"), "addSub1": ("w", "h"), "addSub2": ("w", "h"),
    "addSub3": ("w", "h"), "synBrdis": ("N", "M"), "synBrdisOpt": ("N", "M"),
}  # fmt: skip


@pytest.mark.parametrize("name", SUITE)
def test_benchmark(name: str) -> None:
    kernel = read_cuda(str(TESTS.parent / "proofs" / name / "kernel.cu")).kernel
    assert set(SUITE[name]) <= {declared.name for declared in kernel.params}
