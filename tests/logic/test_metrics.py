"""Metrics are Table 1, exact and monotone; counts are those of erratum 8."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logic.metrics import (
    COUNTED,
    FIXED,
    HARDWARE,
    METRICS,
    Hardware,
    Linear,
    Metric,
    conflicts,
    conflicts_by_lane,
    sectors,
)

NVIDIA = HARDWARE["nvidia"]
TABLE_1 = {
    "sectors": ("0 0 0 0 0 0 0 0", "n 0 n 0"),
    "conflicts": ("0 0 0 0 0 0 0 0", "0 n-1 0 n-1"),
    "divwarps": ("0 0 0 0 0 1 0 0", "0 0 0 0"),
    "steps": ("1 1 1 1 1 1 1 1", "n n-1 n n-1"),
}
"""Columns: var const param op if div vwrite sync, then gread sread gwrite swrite (POPL 2021, Table 1)."""


@pytest.mark.parametrize("name", TABLE_1)
def test_table_1(name: str) -> None:
    fixed, counted = (text.split() for text in TABLE_1[name])
    metric = METRICS[name]
    assert [metric.cost(c) for c in FIXED] == [Fraction(v) for v in fixed]
    for n in (0, 1, 2, 33):
        want = {"0": 0, "n": n, "n-1": max(0, n - 1)}
        assert [metric.count(c, n) for c in COUNTED] == [want[v] for v in counted]
    assert all(type(metric.cost(c)) is Fraction for c in FIXED)
    assert all(type(metric.count(c, 3)) is Fraction for c in COUNTED)


@given(st.fractions(0, 9), st.fractions(-9, 9), st.integers(0, 99), st.integers(0, 99))
def test_a_price_by_count_is_monotone_and_never_negative(slope: Fraction, offset: Fraction, n: int, m: int) -> None:
    line = Linear(slope, offset)
    assert (line(n) <= line(m)) or n > m
    assert line(n) >= 0


@pytest.mark.parametrize(
    ("fixed", "counted", "reason"),
    [
        ({"var": Fraction(-1)}, {}, "negative"),
        ({"gread": Fraction(1)}, {}, "no resource constant"),
        ({"bogus": Fraction(1)}, {}, "no resource constant"),
        ({"var": 0.5}, {}, "not a Fraction"),
        ({"var": 1}, {}, "not a Fraction"),
        ({"var": float("nan")}, {}, "not a Fraction"),
        ({"var": True}, {}, "not a Fraction"),
        ({}, {"gread": Linear(Fraction(-1), Fraction(9))}, "falls with n"),
        ({}, {"var": Linear(Fraction(1), Fraction(0))}, "no counted resource constant"),
        ({}, {"gread": Linear(1.0, Fraction(0))}, "not a Fraction"),  # type: ignore[arg-type]
        ({}, {"gread": Linear(Fraction(1), 0)}, "not a Fraction"),  # type: ignore[arg-type]
    ],
)
def test_a_metric_that_is_none(fixed: dict[str, Any], counted: dict[str, Linear], reason: str) -> None:
    with pytest.raises(ValueError, match=f"^metric own: .*{reason}"):
        Metric("own", fixed, counted)


@pytest.mark.parametrize("unit", ["sector", "banks", "word", "warp", "alignment", "phase"])
@pytest.mark.parametrize("size", [0, -4, 32.0, True, "32"])
def test_hardware_has_positive_integer_sizes(unit: str, size: Any) -> None:
    with pytest.raises(ValueError, match=f"'{unit}' has to be a positive integer"):
        Hardware("own", **{unit: size})


@pytest.mark.parametrize("sizes", [{"sector": 48}, {"word": 24}, {"alignment": 16}])
def test_the_alignment_is_one_for_sectors_and_words(sizes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="alignment has to be a multiple"):
        Hardware("own", **sizes)


def test_counts_of_erratum_8() -> None:
    """32 aligned words touch 4 sectors, not 5; one word read by all lanes is no conflict."""
    aligned = [4 * i for i in range(32)]
    assert sectors(aligned, 4, NVIDIA) == 4
    assert sectors([a + 4 for a in aligned], 4, NVIDIA) == 5
    assert conflicts([0] * 32, 4, NVIDIA) == 1
    assert conflicts([8 * i for i in range(32)], 4, NVIDIA) == 2
    assert conflicts([128 * i for i in range(32)], 4, NVIDIA) == 32


@given(st.lists(st.integers(0, 4000), min_size=1, max_size=8), st.sampled_from([1, 2, 4, 8, 16]), st.integers(0, 4000))
def test_counts_are_monotone_in_the_lanes(addresses: list[int], width: int, more: int) -> None:
    """More lanes never touch less, so the whole warp is the worst case (section 5)."""
    for count in (sectors, conflicts):
        assert 1 <= count(addresses, width, NVIDIA) <= count([*addresses, more], width, NVIDIA)


@given(st.lists(st.integers(0, 900), min_size=1, max_size=8), st.sampled_from([1, 2, 4, 8, 16]))
def test_counts_byte_by_byte(addresses: list[int], width: int) -> None:
    touched = [b for a in addresses for b in range(a, a + width)]
    assert sectors(addresses, width, NVIDIA) == len({b // 32 for b in touched})
    words = {b // 4 for b in touched}
    assert conflicts(addresses, width, NVIDIA) == max(sum(w % 32 == bank for w in words) for bank in range(32))


@given(
    st.dictionaries(st.integers(0, 31), st.integers(0, 900), min_size=1),
    st.sampled_from([1, 2, 4, 8, 12, 16, 200]),
    st.sampled_from([1, 4, 64, 128, 1024]),
)
def test_phases_lane_by_lane(lanes: dict[int, int], width: int, phase: int) -> None:
    """Each word of a bank that lanes of one phase touch, after the bank's first: those of the worst bank wait."""
    hardware = Hardware("phased", phase=phase)
    waiting = 0
    for first in range(0, 32, max(1, phase // width)):
        words = {b // 4 for lane, a in lanes.items() if 0 <= lane - first < max(1, phase // width)
                 for b in range(a, a + width)}  # fmt: skip
        waiting += max([0, *(sum(w % 32 == bank for w in words) - 1 for bank in range(32))])
    n = conflicts_by_lane(lanes, width, hardware)
    assert n == 1 + waiting
    assert conflicts_by_lane(lanes, width, NVIDIA) == conflicts([*lanes.values()], width, NVIDIA)
    for lane in set(range(32)) - lanes.keys():  # more lanes never touch less
        assert n <= conflicts_by_lane(lanes | {lane: 4 * lane}, width, hardware)


def test_the_widths_of_the_guides() -> None:
    """64 bits a lane: two half-warps; 128: four quarters. Each moves 128 bytes, so that no bank is asked twice."""
    phased = Hardware("phased", phase=128)
    for width, plain in ((4, 1), (8, 2), (16, 4)):
        lanes = {lane: width * lane for lane in range(32)}
        assert conflicts_by_lane(lanes, width, NVIDIA) == plain
        assert conflicts_by_lane(lanes, width, phased) == 1
        assert conflicts_by_lane({lane: 2 * a for lane, a in lanes.items()}, width, phased) == 1 + width // 4
