"""Fragments of matrices: which elements a thread has, what loading and storing them costs, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from logic.syntax import Param, show_stmt
from semantics.cuda import Reading
from semantics.grid import run
from tests.semantics.cuda.bounds import bound

Read = Callable[..., Reading]
Refused = Callable[[str, str], None]

HEAD: Final = "#include <mma.h>\nusing namespace nvcuda::wmma;\n"
SIZES: Final = {"half": 2, "__nv_bfloat16": 2, "signed char": 1, "float": 4, "double": 8, "int": 4}
STORED: Final = {"precision::tf32": "float"}


def accesses(use: str, shape: tuple[int, int, int], size: int, by_rows: bool, step: int) -> Iterator[list[range]]:
    """The bytes of each lane at each access: PTX's figures for mma.m16n8k16 and its like, one register after another,
    from those of one tile."""
    m, n, k = shape
    lines, along = {"a": (m, k), "b": (n, k), "c": (m, n)}[use]
    held = 2 if use == "c" else max(1, 4 // size)
    for first in range(0, along, 4 * held):
        for line in range(0, lines, 8):
            register = [[(line + lane // 4, first + lane % 4 * held + i) for i in range(held)] for lane in range(32)]
            offsets = [
                [size * (r * step + c if by_rows != (use == "b") else c * step + r) for r, c in lane]
                for lane in register
            ]
            if all(lane[-1] - lane[0] == size * (held - 1) for lane in offsets):
                yield [range(lane[0], lane[0] + size * held) for lane in offsets]
            else:
                for i in range(held):
                    yield [range(lane[i], lane[i] + size) for lane in offsets]


def sectors(lanes: list[range]) -> int:
    return len({b // 32 for lane in lanes for b in lane})


def conflicts(lanes: list[range]) -> int:
    return max(Counter(w % 32 for w in {b // 4 for lane in lanes for b in lane}).values()) - 1


LOADED: Final = [
    ("a", (16, 16, 16), "half", True, 16),
    ("a", (16, 16, 16), "half", True, 64),
    ("a", (16, 16, 16), "half", False, 16),
    ("b", (16, 16, 16), "half", True, 24),
    ("b", (16, 16, 16), "half", False, 16),
    ("a", (32, 8, 16), "__nv_bfloat16", True, 16),
    ("b", (8, 32, 16), "__nv_bfloat16", False, 40),
    ("a", (32, 8, 16), "signed char", True, 16),
    ("b", (16, 16, 16), "signed char", True, 32),
    ("a", (16, 16, 8), "precision::tf32", True, 8),
    ("a", (8, 8, 4), "double", True, 4),
    ("c", (16, 16, 16), "float", True, 16),
    ("c", (16, 16, 16), "float", False, 20),
    ("c", (8, 32, 16), "int", True, 32),
    ("c", (8, 8, 4), "double", True, 8),
    ("c", (16, 16, 16), "half", True, 16),
]


def loaded(use: str, shape: tuple[int, int, int], name: str, by_rows: bool, step: int, space: str) -> str:
    words = {"a": "matrix_a", "b": "matrix_b", "c": "accumulator"}[use]
    order = "row_major" if by_rows else "col_major"
    of = f"{words}, {', '.join(map(str, shape))}, {name}" + ("" if use == "c" else f", {order}")
    layout = f", mem_{order}" if use == "c" else ""
    stored = STORED.get(name, name)
    array = f"__shared__ __align__(32) {stored} p[4096];" if space == "shared" else ""
    return (
        f"__global__ void k(const {stored} *{'q' if array else 'p'}) {{ {array} fragment<{of}> f; "
        f"load_matrix_sync(f, p, {step}{layout}); }}"
    )


@pytest.mark.parametrize("case", LOADED, ids=str)
def test_loads_cost_what_their_elements_touch(
    case: tuple[str, tuple[int, int, int], str, bool, int], tmp_path: Path
) -> None:
    use, shape, name, by_rows, step = case
    parts = list(accesses(use, shape, SIZES[STORED.get(name, name)], by_rows, step))
    assert bound(HEAD + loaded(*case, "global"), "sectors", tmp_path) == sum(map(sectors, parts))
    assert bound(HEAD + loaded(*case, "shared"), "conflicts", tmp_path) == sum(map(conflicts, parts))


STORED_AS: Final = [("float", "mem_row_major"), ("float", "mem_col_major"), ("half", "mem_row_major")]


@pytest.mark.parametrize(("name", "layout"), STORED_AS)
@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 8, 16), (8, 32, 16)])
def test_stores_write_all_of_a_matrix_and_cost_it(
    read: Read, name: str, layout: str, shape: tuple[int, int, int], tmp_path: Path
) -> None:
    m, n, k = shape
    step = n if layout == "mem_row_major" else m
    text = (
        f"__global__ void k({name} *p) {{ fragment<accumulator, {m}, {n}, {k}, {name}> f; "
        f"fill_fragment(f, {name}(3)); store_matrix_sync(p, f, {step}, {layout}); }}"
    )
    ran = run(read(HEAD + text).kernel, (32, 1, 1), (1, 1, 1), {})
    (written,) = [found for array, found in ran.arrays.items() if found]
    pairs = any(array != "p" for array, found in ran.arrays.items() if found)
    assert len(written) * (1 + pairs) == m * n
    assert set(written) == set(range(m * n // (1 + pairs)))
    parts = accesses("c", shape, SIZES[name], layout == "mem_row_major", step)
    assert bound(HEAD + text, "sectors", tmp_path) == ran.max_per_warp["sectors"] == sum(map(sectors, parts))


PRODUCT: Final = """
__global__ void k(const half *a, const half *b, float *c, int n, int k) {
  fragment<matrix_a, 16, 16, 16, half, row_major> fa; fragment<matrix_b, 16, 16, 16, half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> sum, old;
  fill_fragment(sum, 0.0f);
  int row = 16 * blockIdx.x, column = 16 * blockIdx.y;
  for (int i = 0; i < k; i += 16) {
    load_matrix_sync(fa, a + row * k + i, k);
    load_matrix_sync(fb, b + column * k + i, k);
    mma_sync(sum, fa, fb, sum);
  }
  load_matrix_sync(old, c + row * n + column, n, mem_row_major);
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] += 2 * old.x[i];
  store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}"""


def test_a_product_whose_sizes_are_parameters(tmp_path: Path) -> None:
    """Two loads of 32 sectors a turn, and a load and a store of an accumulator, in which every other row may begin in
    the middle of a sector."""
    assert bound(HEAD + PRODUCT, "sectors", tmp_path, {Param("n"): 64, Param("k"): 48}) == 3 * 64 + 2 * 4 * (4 + 4 * 2)
    assert bound(HEAD + PRODUCT, "divwarps", tmp_path) == 0


def test_products_are_operators_on_all_that_a_thread_has(read: Read) -> None:
    text = """__global__ void k() { fragment<matrix_a, 8, 8, 4, double, row_major> a;
      fragment<matrix_b, 8, 8, 4, double, col_major> b; fragment<accumulator, 8, 8, 4, double> c;
      fill_fragment(a, 1.0); mma_sync(c, a, b, c); }"""
    assert show_stmt(read(HEAD + text).kernel.body).splitlines() == [
        "a.x_0 <- 1.0;",
        "c.x_0 <- mma_sync(mma_sync(mma_sync(mma_sync(0.0, tid.x, tid.y), tid.z, a.x_0), b.x_0, c.x_0), c.x_1, 1);",
        "c.x_1 <- mma_sync(mma_sync(0.0, tid.x, tid.y), tid.z, 2);",
    ]


def test_halves_are_there_twice(read: Read) -> None:
    """As CUDA has it: 16 elements of 256 a thread."""
    text = """__global__ void k(int *A, const half *p) { fragment<matrix_a, 16, 16, 16, half, row_major> a;
      load_matrix_sync(a, p, 16); A[0] = a.num_elements; A[1] = a.x[8] == a.x[0]; }"""
    lines = show_stmt(read(HEAD + text).kernel.body).splitlines()
    assert "a.x_8 <- a.x_0;" in lines
    assert "A[0] <- 16;" in lines


def test_fragments_in_arrays_cost_the_same(tmp_path: Path) -> None:
    text = """__global__ void k(const half *p, half *q) { fragment<matrix_a, 16, 16, 16, half, row_major> a[2];
      for (int i = 0; i < 2; i++) load_matrix_sync(a[i], p + 256 * i, 16); q[threadIdx.x] = a[0].x[1]; }"""
    assert bound(HEAD + text, "sectors", tmp_path) == 66


def test_refused(refused: Refused) -> None:
    text = HEAD + "__global__ void k(float *p, int n) {{ fragment<accumulator, 16, 16, 16, float> f; {} }}"
    refused(
        text.format("load_matrix_sync(f, p, 16, n ? mem_row_major : mem_col_major);"), "a layout that is no constant"
    )
    refused(text.format("fragment<matrix_a, 8, 8, 32, experimental::precision::s4, row_major> a;"), "")
