"""Which accesses a kernel has, and what one execution by one warp is called."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.analysis.coalescing.access import (
    LINE,
    SEVERITY,
    Seen,
    accesses,
    best_placed,
    fewest,
    judged,
    keys,
    with_lines,
    worst,
)
from logic.metrics import HARDWARE, Hardware
from logic.syntax import DOUBLE, FLOAT, Array, Kernel, Read, Seq, Write, statements
from semantics.cuda import read_cuda

LINES = with_lines(HARDWARE["nvidia"])
FLOATS, DOUBLES = Array("F", "global", FLOAT, 4), Array("D", "global", DOUBLE, 8)
FIELDS = Array("P.x", "global", FLOAT, 8, 4, 4)
SHARED, WIDE = Array("S", "shared", FLOAT, 4), Array("T", "shared", DOUBLE, 8)
ALL = range(32)


def read(tmp_path: Path, body: str) -> Kernel:
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(float *A, float *B, int *I, int n) {{\n{body}\n}}\n")
    return read_cuda(str(path)).kernel


# --- accesses ---------------------------------------------------------------------------------------------------------


def test_one_place_may_hold_a_load_and_a_store(tmp_path: Path) -> None:
    kernel = read(tmp_path, "A[I[n]] += B[n];")
    found = [(a.loc.line, a.loc.column, a.kind, a.array.name) for a in accesses(kernel)]
    assert found == [(2, 1, "load", "A"), (2, 1, "store", "A"), (2, 3, "load", "I"), (2, 12, "load", "B")]


def test_a_function_may_touch_two_arrays_from_one_place(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__device__ void put(float *p) { p[threadIdx.x] = 1; }\n"
        "__global__ void k(float *A, float *B) { put(A); put(B); }\n"
    )
    found = accesses(read_cuda(str(path)).kernel)
    assert [(a.loc.line, a.array.name) for a in found] == [(1, "A"), (1, "B")]


def test_copies_of_a_statement_are_one_access(tmp_path: Path) -> None:
    kernel = read(tmp_path, "int i = 0; do { A[i] = 1; i++; } while (i < n);")
    assert isinstance(kernel.body, Seq)
    assert sum(isinstance(s, Write) for s in statements(kernel.body)) == 2
    assert len(accesses(kernel)) == 1


def test_keys_name_every_term(tmp_path: Path) -> None:
    kernel = read(tmp_path, "if (A[n] < 0) B[n] = A[I[n]];")
    assert set(keys(kernel).values()) == {a.key for a in accesses(kernel)}
    (write,) = (s for s in statements(kernel.body) if isinstance(s, Write))
    assert keys(kernel)[id(write)][1:] == ("store", "B")
    assert isinstance(write.value, Read)
    assert keys(kernel)[id(write.value)][1:] == ("load", "A")


# --- one execution ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "address", "lanes", "verdict", "transactions", "least"),
    [
        (FLOATS, lambda i: 0 * i, ALL, "coalesced", 1, 1),  # CAV 2017, Fig. 1, example 1
        (FLOATS, lambda i: 4 * i, ALL, "coalesced", 1, 1),  # example 2
        (FLOATS, lambda i: 32 * i, ALL, "uncoalesced", 8, 1),  # example 3
        (FLOATS, lambda i: 4 * (i + 8), ALL, "misaligned", 2, 1),  # section 3.2: c0 = 8
        (FLOATS, lambda i: 4 * (31 - i), ALL, "coalesced", 1, 1),
        (FLOATS, lambda i: 4 * (i + 1), range(31), "coalesced", 1, 1),
        (FLOATS, lambda i: 128 * i, [7], "coalesced", 1, 1),
        (DOUBLES, lambda i: 8 * i, ALL, "coalesced", 2, 2),
        (DOUBLES, lambda i: 8 * (i + 1), ALL, "misaligned", 3, 2),
        (DOUBLES, lambda i: 8 * i, range(16), "coalesced", 1, 1),
        (DOUBLES, lambda i: 16 * i, ALL, "uncoalesced", 4, 2),
        (DOUBLES, lambda i: 8 * i, range(0, 32, 2), "coalesced", 2, 2),  # the lanes are far apart, not the elements
        (FIELDS, lambda i: 8 * i + 4, ALL, "uncoalesced", 2, 1),
        (SHARED, lambda i: 4 * i, ALL, "conflict-free", 1, 1),
        (SHARED, lambda i: 0 * i, ALL, "conflict-free", 1, 1),
        (SHARED, lambda i: 8 * i, ALL, "conflicting", 2, 1),
        (SHARED, lambda i: 128 * i, ALL, "conflicting", 32, 1),
        (WIDE, lambda i: 8 * i, ALL, "conflict-free", 2, 2),
        (WIDE, lambda i: 16 * i, ALL, "conflicting", 4, 2),
    ],
)
def test_verdicts(array: Array, address, lanes, verdict: str, transactions: int, least: int) -> None:  # type: ignore[no-untyped-def]
    seen = judged(array, {i: address(i) for i in lanes}, LINES)
    assert (seen.verdict, seen.transactions, seen.fewest) == (verdict, transactions, least)


def test_verdicts_in_phases() -> None:
    """Of 16 lanes each for 8 bytes: neighbours touch all banks once, every other place some twice."""
    phased = replace(LINES, phase=128)
    assert judged(WIDE, {i: 8 * i for i in ALL}, phased) == Seen(1, 1, "conflict-free")
    assert judged(WIDE, {i: 16 * i for i in ALL}, phased) == Seen(3, 1, "conflicting")


ADDRESSES = st.lists(st.integers(-600, 600), min_size=1, max_size=6)


@given(ADDRESSES, st.sampled_from([1, 2, 4, 8, 12, 16]))
def test_the_best_place_is_the_best_of_all(addresses: list[int], width: int) -> None:
    def needed(moved: int) -> int:
        return len({b // LINE for a in addresses for b in range(a + moved, a + moved + width)})

    assert best_placed(addresses, width, LINES) == min(map(needed, range(LINE)))


@given(st.frozensets(st.integers(0, 31), min_size=1), st.sampled_from([1, 4, 8, 16]))
def test_consecutive_places_are_good(lanes: frozenset[int], width: int) -> None:
    for space, good in (("global", "coalesced"), ("shared", "conflict-free")):
        array = Array("A", space, FLOAT, width)  # type: ignore[arg-type]
        seen = judged(array, {i: width * i for i in lanes}, LINES)
        assert (seen.verdict, seen.transactions) == (good, fewest(array, lanes, LINES))


def test_the_worst_verdict_counts() -> None:
    assert worst(["coalesced", "uncoalesced", "misaligned"]) == "uncoalesced"
    assert worst(["misaligned", "unknown"]) == "unknown"
    assert [worst([v]) for v in SEVERITY] == list(SEVERITY)


def test_lines_need_arrays_that_start_one() -> None:
    assert LINES.sector == LINE
    with pytest.raises(ValueError, match="alignment"):
        with_lines(Hardware("tight", alignment=32))
