"""The programs of docs/benchmarks.md, which has their times.

Small ones are bounded exactly, and linear programs grow as the loops do.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest

from semantics.vectorised import run
from tests.bench.growth import branching, in_sequence, kernel_of, measured, nested, straight


def of_nest(depth: int) -> str:
    """6 to set the first counter, 14 for each turn of a loop but the innermost, 18 for its turns."""
    turns = ["*".join(f"max(0, n{k})" for k in range(d + 1)) for d in range(depth)]
    return " + ".join(["6", *(f"14*{t}" for t in turns[:-1]), f"18*{turns[-1]}"])


@pytest.mark.parametrize("count", [1, 4])
def test_sequences_are_bounded_exactly(count: int) -> None:
    found = measured("", in_sequence(count))
    assert (found.bound, found.verdict) == (f"{6 * count} + {18 * count}*max(0, n)", "certified")
    cost = run(kernel_of(in_sequence(count)), (32, 1, 1), (1, 1, 1), {"n": 7}).max_per_warp["steps"]
    assert cost == Fraction(6 * count + 18 * count * 7)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_nests_are_bounded_exactly(depth: int) -> None:
    found = measured("", nested(depth))
    assert (found.bound, found.verdict) == (of_nest(depth), "certified")
    sizes = (3, 5, 2)[:depth]
    args = {f"n{k}": n for k, n in enumerate(sizes)}
    cost = run(kernel_of(nested(depth)), (32, 1, 1), (1, 1, 1), args).max_per_warp["steps"]
    assert cost == 6 + 14 * sum(prod(sizes[: k + 1]) for k in range(depth - 1)) + 18 * prod(sizes)


def test_linear_programs_grow_with_the_loops() -> None:
    """One program for all loops: as many unknowns and equations more with each."""
    sizes = [measured("", in_sequence(count)).sizes for count in (1, 2, 3)]
    assert [len(s) for s in sizes] == [1, 1, 1]
    (a, b), (c, d), (e, f) = (s[0] for s in sizes)
    assert (c - a, d - b) == (e - c, f - d)


@pytest.mark.bench
@pytest.mark.parametrize("count", [10, 100])
def test_long_sequences_end(count: int) -> None:
    found = measured("", in_sequence(count))
    assert (found.bound, found.verdict) == (f"{6 * count} + {18 * count}*max(0, n)", "certified")


@pytest.mark.bench
def test_four_loops_are_bounded() -> None:
    found = measured("", nested(4))
    assert (found.bound, found.verdict) == (of_nest(4), "certified")


@pytest.mark.parametrize("count", [2, 5])
def test_branches_are_not_doubled(count: int) -> None:
    """Each pays for its dearer side, 6 steps for the test and 10 for eight sectors at most, whatever the others do."""
    assert measured("", branching(count)).bound == str(16 * count)


def test_statements_are_bounded_exactly() -> None:
    found = measured("", straight(8))
    cost = run(kernel_of(straight(8)), (32, 1, 1), (1, 1, 1), {"n": 7}).max_per_warp["steps"]
    assert (found.bound, found.verdict) == (str(cost), "certified")
