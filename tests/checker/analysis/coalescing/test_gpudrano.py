"""The published lattice: its order, its transfer functions, monotone one and all, and its rules for statements."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from checker.analysis.coalescing.gpudrano import (
    BOOLS,
    INTS,
    abstract_value,
    add,
    among,
    below,
    both,
    either,
    equal,
    join,
    merged,
    mixed,
    negated,
    ordered,
    reported,
    selected,
)
from logic.syntax import Assign, statements
from logic.typing import check_kernel
from semantics.cuda import read_cuda

# --- the lattice ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [INTS, BOOLS], ids=["integers", "booleans"])
def test_it_is_a_lattice(values: tuple[str, ...]) -> None:
    for a, b in product(values, repeat=2):
        upper = [c for c in values if below(a, c) and below(b, c)]
        assert join(a, b) in upper
        assert all(below(join(a, b), c) for c in upper)
        assert (below(a, b) and below(b, a)) == (a == b)


def test_the_order_is_that_of_the_paper() -> None:
    assert {b for b in BOOLS if below("T", b)} == {"T", "TF", "TT-", "TOP"}
    assert {b for b in BOOLS if below("F-", b)} == {"F-", "FF-", "TOP"}
    assert {i for i in INTS if below("1", i)} == {"1", "top"}
    assert [join("0", "1"), join("1", "1"), join("TF", "FF-"), join("T", "T-")] == ["top", "1", "TOP", "TT-"]


BINARY: list[tuple[Callable[..., str], tuple[str, ...], tuple[str, ...]]] = [
    (add, INTS, INTS),
    (lambda a, b: add(a, b, -1), INTS, INTS),
    (mixed, INTS, INTS),
    (equal, INTS, INTS),
    (ordered, INTS, INTS),
    (both, BOOLS, BOOLS),
    (either, BOOLS, BOOLS),
    (among, ("FF-", "TOP"), BOOLS),
    (join, INTS, INTS),
    (join, BOOLS, BOOLS),
]


@pytest.mark.parametrize(("f", "first", "second"), BINARY)
def test_binary_functions_are_monotone(f: Callable[..., str], first: tuple[str, ...], second: tuple[str, ...]) -> None:
    for a, c in product(first, repeat=2):
        for b, d in product(second, repeat=2):
            if below(a, c) and below(b, d):
                assert below(f(a, b), f(c, d)), (a, b, c, d)


def test_the_others_are_monotone() -> None:
    for a, b in product(BOOLS, repeat=2):
        if below(a, b):
            assert below(negated(a), negated(b))
            for values in (INTS, BOOLS):
                for v, w in product(values, repeat=2):
                    for v2, w2 in product(values, repeat=2):
                        if below(v, v2) and below(w, w2):
                            assert below(selected(a, v, w), selected(b, v2, w2))


def test_the_merge_is_monotone() -> None:
    for c, d in product(BOOLS, repeat=2):
        for a, b in product(INTS, repeat=2):
            if below(c, d):
                one, two = (merged(x, {"l": a}, {"l": b}, frozenset("l")) for x in (c, d))
                assert below(one["l"], two["l"])


# --- what they mean: on four threads ----------------------------------------------------------------------------------

THREADS = range(4)
Row = tuple[int, ...]


def rows_of(v: str) -> set[Row]:
    """Values at four threads that an abstract integer stands for; TOP is one row out of many."""
    slope = {"0": 0, "1": 1, "-1": -1}
    if v == "top":
        return {(3, 0, 0, 7), (0, 2, 4, 6)}
    return set() if v == "bot" else {tuple(slope[v] * t + c for t in THREADS) for c in range(-4, 5)}


def truths_of(b: str) -> set[tuple[bool, ...]]:
    counts = {"BOT": (), "T": (4,), "T-": (3,), "F": (0,), "F-": (1,), "TF": (0, 4), "TT-": (3, 4), "FF-": (0, 1)}
    return {row for row in product([True, False], repeat=4) if sum(row) in counts.get(b, range(5))}


def covers_row(v: str, row: Row) -> bool:
    return v == "top" or (v != "bot" and all(x == row[0] + int(v) * t for t, x in enumerate(row)))


def test_arithmetic_covers_what_threads_compute() -> None:
    for a, b in product(INTS, repeat=2):
        for x, y in product(rows_of(a), rows_of(b)):
            assert covers_row(add(a, b), tuple(p + q for p, q in zip(x, y, strict=True)))
            assert covers_row(add(a, b, -1), tuple(p - q for p, q in zip(x, y, strict=True)))
            assert covers_row(mixed(a, b), tuple(p * q for p, q in zip(x, y, strict=True)))
            assert tuple(p == q for p, q in zip(x, y, strict=True)) in truths_of(equal(a, b))
            assert tuple(p < q for p, q in zip(x, y, strict=True)) in truths_of(ordered(a, b))


def test_connectives_cover_what_threads_compute() -> None:
    for a in BOOLS:
        for x in truths_of(a):
            assert tuple(not p for p in x) in truths_of(negated(a))
            for b in BOOLS:
                for y in truths_of(b):
                    assert tuple(p and q for p, q in zip(x, y, strict=True)) in truths_of(both(a, b))
                    assert tuple(p or q for p, q in zip(x, y, strict=True)) in truths_of(either(a, b))


# --- the text of section 4.2 ------------------------------------------------------------------------------------------


def test_arithmetic_of_the_text() -> None:
    assert add("1", "1") == "top"
    assert add("1", "-1") == "0"
    assert add("0", "1") == "1"
    assert mixed("0", "1") == "top"  # N * x
    assert mixed("0", "0") == "0"


def test_comparisons_of_the_text() -> None:
    assert equal("1", "0") == equal("0", "-1") == "FF-"
    assert negated(equal("1", "0")) == "TT-"
    assert equal("0", "0") == ordered("0", "0") == "TF"
    assert ordered("1", "0") == "TOP"


def test_connectives_of_the_text() -> None:
    assert negated("TT-") == "FF-"
    for b in ("TF", "FF-", "TT-", "TOP"):
        assert both("FF-", b) == "FF-"
        assert either("TT-", b) == "TT-"


def test_the_merge_of_the_text() -> None:
    """y := (tid < N)? 10 : 20 is a non-linear function of tid, though both values are 0."""
    assert selected("TOP", "0", "0") == "top"
    assert selected("TF", "0", "0") == "0"
    assert merged("TOP", {"x": "1", "y": "0"}, {"x": "1", "y": "0"}, frozenset("y")) == {"x": "1", "y": "top"}


# --- kernels ----------------------------------------------------------------------------------------------------------


def report(tmp_path: Path, body: str, arrays: str = "float *A, double *D, int *I") -> set[tuple[str, str]]:
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k({arrays}, int n) {{\n int tid = threadIdx.x;\n{body}\n}}\n")
    return {(kind, array) for _, kind, array in reported(read_cuda(str(path)).kernel)}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("A[n] = 1;", set()),
        ("A[tid] = 1;", set()),
        ("A[n - tid] = 1;", set()),
        ("A[tid + -tid] = 1;", set()),
        ("A[8 * tid] = 1;", {("store", "A")}),
        ("D[tid] = 1;", {("store", "D")}),
        ("D[n] = 1;", set()),
        ("if (tid == n) A[8 * tid] = 1;", set()),
        ("if (tid != n) { } else A[8 * tid] = 1;", set()),
        ("if (tid != n) A[8 * tid] = 1;", {("store", "A")}),
        ("if (tid == 0 && n > 3) A[8 * tid] = 1;", set()),
        ("if (tid == 0 || n > 3) A[8 * tid] = 1;", {("store", "A")}),
        ("int y = n; if (tid < n) y = 10; A[y] = 1;", {("store", "A")}),
        ("int y = n; if (tid < n) { } else y = 10; A[y] = 1;", {("store", "A")}),
        ("int y = n; if (n > 3) y = 10; A[y] = 1;", set()),
        ("if (tid) { } else A[8 * tid] = 1;", set()),
        ("int y = tid < n ? 10 : 20; A[y] = 1;", {("store", "A")}),
        ("int y = 0; while (n > y) y += 1; A[y + tid] = 1;", set()),
        ("int y = 0; while (A[8 * tid] > y) y += 1;", {("load", "A")}),
        ("int y = 0; while (tid > y) y += 1; A[y] = 1;", {("store", "A")}),
        ("int y = 0; for (int i = 0; i < n; i++) { A[y] = 1; y += tid; }", {("store", "A")}),
        ("A[I[n]] = 1;", set()),
        ("A[I[tid]] = 1;", {("store", "A")}),
        ("A[threadIdx.y * n + tid] = 1;", set()),
        ("__shared__ float s[64]; s[2 * tid] = 1;", set()),
        ("int j = 8 * tid; j = tid; A[j] = 1;", set()),
    ],
)
def test_reports(tmp_path: Path, body: str, found: set[tuple[str, str]]) -> None:
    assert report(tmp_path, body) == found


def test_a_field_counts_as_large_as_its_structure(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("struct P { float x, y; };\n__global__ void k(P *p) { p[threadIdx.x].y = 1; }\n")
    assert len(reported(read_cuda(str(path)).kernel)) == 1


def test_values_of_fig_2(tmp_path: Path) -> None:
    """The comments of Fig. 2a: x is 1, y 0, xt and xy are TOP, ty is 0."""
    kernel = read_cuda(str(Path(__file__).parents[4] / "proofs/fan2/kernel.cu")).kernel
    sigma = check_kernel(kernel)
    state = {"tid": "1", "x": "1", "y": "0", "xt": "0", "xy": "0", "ty": "0"}
    found = {s.var: abstract_value(s.value, state, sigma) for s in statements(kernel.body) if isinstance(s, Assign)}
    assert found == {"tid": "1", "x": "1", "y": "0", "xt": "top", "xy": "top", "ty": "0"}
