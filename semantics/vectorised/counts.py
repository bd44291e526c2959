"""MemReads and Conflicts of many warps at once, and the prices of what warps did, in whole numbers.

What `logic.metrics` says of one warp's byte addresses, on a matrix of addresses with a row a warp.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logic.metrics import COUNTED, FIXED, Hardware, Metric, lanes_at_once
from logic.syntax import Array
from semantics.vectorised.values import LIMIT, Data, Mask, Unsupported, Val, tight

Counts = NDArray[np.int64]


def access(array: Array, index: Val, mask: Mask, hardware: Hardware) -> Counts:
    """MemReads or Conflicts of an access, by warp; one number where it is the same for all warps."""
    if max(abs(index.lo), abs(index.hi)) * array.stride + array.offset + array.width > LIMIT:
        index = tight(index, mask)
        if max(abs(index.lo), abs(index.hi)) * array.stride + array.offset + array.width > LIMIT:
            raise Unsupported
    address = index.data * array.stride + array.offset
    lanes, warp = lanes_at_once(array.width, hardware), hardware.warp
    if array.space == "global" or lanes == warp:
        return _at_once(address, mask, array, hardware)
    rows = max(len(address), 1 if mask is None else len(mask))
    address = np.broadcast_to(address, (rows, warp))
    total = np.ones(rows, np.int64)
    for first in range(0, warp, lanes):
        part = slice(first, first + lanes)
        active = None if mask is None else mask[:, part]
        n = _at_once(address[:, part], active, array, hardware)
        total += n - 1 if active is None else np.where(active.any(axis=1), n - 1, 0)
    return total


def _at_once(address: Data, mask: Mask, array: Array, hardware: Hardware) -> Counts:
    """The same where all lanes are served at once, at these byte addresses."""
    unit = hardware.sector if array.space == "global" else hardware.word
    banks = None if array.space == "global" else hardware.banks
    if address.shape[1] == 1:  # all lanes of a warp at one address
        touched: Counts = (_over(address + (array.width - 1), unit) - _over(address, unit) + 1)[:, 0]
        return touched if banks is None else -(-touched // banks)
    if mask is not None:  # an inactive lane stands where an active one does
        highest = np.where(mask, address, -2 * LIMIT).max(axis=1, keepdims=True)
        address = np.where(mask, address, highest)
    units = _units(address, array, unit)
    step = units[:, 1:] - units[:, :-1]
    if (step < 0).any():
        units = np.sort(units, axis=1)
        step = units[:, 1:] - units[:, :-1]
    if banks is None:
        changes: Counts = np.count_nonzero(step, axis=1)
        return 1 + changes
    if (units[:, -1] - units[:, 0] < banks).all():
        return np.ones(1, np.int64)
    first = np.empty(units.shape, np.bool_)
    first[:, 0] = True
    np.not_equal(step, 0, out=first[:, 1:])
    places = units & (banks - 1) if banks & (banks - 1) == 0 else units % banks
    if len(units) > 1:
        places = places + np.arange(0, len(units) * banks, banks)[:, None]
    places = places[first]
    words = np.bincount(places, minlength=len(units) * banks).reshape(-1, banks)
    worst: Counts = words.max(axis=1)
    return worst


def _over(a: Data, unit: int) -> Data:
    """floor(a / unit)"""
    return a >> (unit.bit_length() - 1) if unit & (unit - 1) == 0 else a // unit


def _units(address: Data, array: Array, unit: int) -> Data:
    """All units that the accesses of a warp touch, with repetitions."""
    first = _over(address, unit)
    if unit % array.width == array.stride % array.width == array.offset % array.width == 0:
        return first
    most = (array.width + unit - 2) // unit + 1
    last = _over(address + (array.width - 1), unit)
    spans = np.minimum(first[:, :, None] + np.arange(most), last[:, :, None])
    return spans.reshape(len(first), -1)


# --- what warps did --------------------------------------------------------------------------------------------------


class Tally:
    """The times that each of some warps executed each statement, diverged, and made accesses of each count."""

    def __init__(self, warps: int) -> None:
        self.warps = warps
        self.all: Counter[object] = Counter()  # what every warp did
        self.some: dict[object, Counts] = {}  # what some warps did, by warp
        self.accesses: Counter[tuple[str, int]] = Counter()
        self.by_count: dict[str, Counts] = {}  # a row a warp, a column a count

    def visit(self, what: object, rows: Counts | None) -> None:
        """These warps (None: all) did that."""
        if rows is None:
            self.all[what] += 1
            return
        if what not in self.some:
            self.some[what] = np.zeros(self.warps, np.int64)
        self.some[what][rows] += 1

    def access(self, constant: str, rows: Counts | None, n: Counts) -> None:
        """These warps made an access of n sectors or conflicts."""
        if len(n) > 1 and (n == n[0]).all():
            n = n[:1]
        if len(n) == 1 and rows is None:
            self.accesses[constant, int(n[0])] += 1
            return
        table = self.by_count.get(constant)
        most = int(n.max())
        if table is None or table.shape[1] <= most:
            wider = np.zeros((self.warps, max(most + 1, 34)), np.int64)
            if table is not None:
                wider[:, : table.shape[1]] = table
            table = self.by_count[constant] = wider
        table[np.arange(self.warps) if rows is None else rows, n] += 1

    def steps(self, statements: Mapping[int, Counter[str]]) -> int:
        """The most steps of a warp."""
        shared = sum(n for what, n in self.all.items() if what in statements)
        own = [counts for what, counts in self.some.items() if what in statements]
        return shared + (int(np.sum(own, axis=0).max()) if own else 0)


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """A metric's prices as whole numbers, multiples of 1 / `unit`: of what is `fixed`, and of accesses of each count so
    far, by their constants. `_statements` are those of a program's statements, the last one's that was asked about."""

    metric: Metric
    unit: int
    fixed: Mapping[str, int]
    _counted: dict[str, list[int]] = field(default_factory=dict)
    _statements: list[tuple[Mapping[int, Counter[str]], dict[object, int]]] = field(default_factory=list)

    def costs(self, tally: Tally, statements: Mapping[int, Counter[str]]) -> NDArray[Any]:
        """The cost of each warp, in units."""
        prices = self._of(statements)
        shared = sum(prices[what] * n for what, n in tally.all.items())
        shared += sum(self._counts(c, n)[n] * times for (c, n), times in tally.accesses.items())
        parts: list[tuple[NDArray[Any], list[int]]] = [
            (counts[:, None], [prices[what]]) for what, counts in tally.some.items() if prices[what]
        ]
        tables = ((table, self._counts(c, table.shape[1] - 1)[: table.shape[1]]) for c, table in tally.by_count.items())
        parts += [(table, row) for table, row in tables if any(row)]
        most = shared + sum(int(counts.max()) * sum(row) for counts, row in parts)
        kind: type[Any] = np.int64 if most < LIMIT else object
        total = np.full(tally.warps, shared, kind)
        for counts, row in parts:
            total = total + counts.astype(kind) @ np.array(row, kind)
        return total

    def exact(self, cost: int) -> Fraction:
        """A cost in units as a rational."""
        return Fraction(cost, self.unit)

    def _of(self, statements: Mapping[int, Counter[str]]) -> dict[object, int]:
        """The prices of statements, and of diverging."""
        if not self._statements or self._statements[0][0] is not statements:
            found: dict[object, int] = {
                s: sum(self.fixed[c] * n for c, n in terms.items()) for s, terms in statements.items()
            }
            self._statements[:] = [(statements, found | {"div": self.fixed["div"]})]
        return self._statements[0][1]

    def _counts(self, constant: str, most: int) -> list[int]:
        """The prices of accesses with so many sectors or conflicts, at least up to `most`."""
        known = self._counted.setdefault(constant, [])
        known += (int(self.metric.count(constant, n) * self.unit) for n in range(len(known), most + 1))
        return known


def prices(metric: Metric) -> Prices:
    """The prices of a metric over their common denominator."""
    parts = [metric.cost(c) for c in FIXED]
    parts += [part for c in COUNTED if (line := metric.counted.get(c)) for part in (line.slope, line.offset)]
    unit = math.lcm(*(p.denominator for p in parts))
    return Prices(metric, unit, {c: int(metric.cost(c) * unit) for c in FIXED})
