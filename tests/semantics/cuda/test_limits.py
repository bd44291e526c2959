"""Limits of operators, held against all values of their operands."""

from __future__ import annotations

import random
from itertools import product

import pytest

from logic.operators import ARITHMETIC, denote
from semantics.cuda.limits import ALWAYS, limits
from semantics.cuda.stores import INFINITE, Range

UNARY = ("neg", "~", "abs")
ENDS = (-7, -4, -1, 0, 1, 2, 3, 5, 8)


def pairs(rng: random.Random) -> list[tuple[Range, ...]]:
    """Ranges of two operands."""
    found = [(low, high) for low in ENDS for high in ENDS if low <= high]
    return [(a, b) for a in found for b in rng.sample(found, 12)]


@pytest.mark.parametrize("op", [*ARITHMETIC, *UNARY])
def test_every_value_is_within_them(op: str) -> None:
    """Also where a range has no end."""
    for ranges in pairs(random.Random(op)):
        own = ranges[: 1 if op in UNARY else 2]
        values = [int(denote(op, at)) for at in product(*(range(low, high + 1) for low, high in own))]
        for opened in product((False, True), repeat=2 * len(own)):
            ends = [
                (-INFINITE if opened[2 * i] else low, INFINITE if opened[2 * i + 1] else high)
                for i, (low, high) in enumerate(own)
            ]
            low, high = limits(op, ends)
            assert low <= min(values), ends
            assert max(values) <= high, ends
            exact = op in ("+", "-", "*", "min", "max", *UNARY) or (op == "/" and ends[0][0] >= 0 and ends[1][0] >= 1)
            if exact and not any(opened):
                assert (low, high) == (min(values), max(values)), ends


@pytest.mark.parametrize("op", ALWAYS)
def test_what_is_always_so_is_so_at_every_value(op: str) -> None:
    for a, b in pairs(random.Random(op)):
        values = {bool(denote(op, at)) for at in product(range(a[0], a[1] + 1), range(b[0], b[1] + 1))}
        told = ALWAYS[op](a, b)
        assert told is None or {told} == values
        assert told is not None or len(values) == 2 or (op in ("==", "!=") and a[0] <= b[1] and b[0] <= a[1])


SHIFTS = [
    ("<<", (1, 5), (0, 3), (0, 40)),
    ("<<", (-3, 2), (4, 4), (-48, 32)),
    ("<<", (1, 5), (-9, -1), (0, 5)),  # by a negative count, which gives 0
    ("<<", (0, 5), (0, 1 << 40), (0, INFINITE)),
    ("<<", (-1, 5), (0, 1 << 40), (-INFINITE, INFINITE)),
    (">>", (16, 64), (2, 3), (2, 16)),
    (">>", (-64, 64), (2, 3), (-16, 16)),
    (">>", (16, 64), (0, 1 << 40), (0, 64)),
    (">>", (-64, -16), (0, 1 << 40), (-64, -1)),
    (">>", (16, 64), (-1, 3), (0, 64)),
    (">>", (-64, -16), (-1, 3), (-64, 0)),
]


@pytest.mark.parametrize(("op", "a", "b", "wanted"), SHIFTS)
def test_shifts(op: str, a: Range, b: Range, wanted: Range) -> None:
    assert limits(op, (a, b)) == wanted
