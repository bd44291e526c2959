"""Contents of arrays that no thread writes, as the reading of a kernel uses it: contracts on data (docs/data.md).

A read of such an array is the same whenever it is evaluated, as long as the variables in its index are. So it is a leaf
of sums, with an index in one form, and what a contract says there is a fact: with `start = offsets[v]` and `offsets[v]
<= offsets[v + 1]` the unsigned difference `offsets[v + 1] - start` cannot wrap around.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from logic.syntax import Assign, Expr, Op, Read, Stmt, Var, arrays_read, local_vars, reads_array, statements, subterms
from semantics.cuda.stores import ANY, INFINITE, Range, Store
from semantics.cuda.sums import Sum, as_expr, constant, of_expr, plus, product, replaced, single

Ranges = tuple[tuple[Expr | None, Expr | None], ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A contract: for all values of `variables` in their ranges [low, high), None for no limit, a comparison holds. It
    reads arrays that no thread of the grid writes."""

    variables: tuple[str, ...]
    ranges: Ranges
    fact: Expr

    @property
    def arrays(self) -> frozenset[str]:
        """The arrays that it speaks of."""
        return frozenset(arrays_read(self.fact))


def limits(data: Sequence[Held], array: str) -> Range:
    """The range of all elements of an array, in numbers, by contracts.

    >>> from logic.syntax import Const
    >>> A = Read("A", Var("i"))
    >>> limits([Held(("i",), ((None, None),), Op(op, (A, Const(k)))) for op, k in ((">=", 0), ("<", 9))], "A")
    (0, 8)
    """
    low, high = ANY
    for h in data:
        if len(h.variables) == 1 and h.ranges == ((None, None),):
            leaf = Read(array, Var(h.variables[0]))
            for s in _nonnegative(h.fact):
                k = s.get((leaf,), 0)
                if abs(k) == 1 and s.keys() <= {(leaf,), ()}:
                    end = -k * s.get((), 0)
                    low, high = (max(low, end), high) if k > 0 else (low, min(high, end))
    return low, high


def at_start(data: Sequence[Held]) -> Iterator[Sum]:
    """The sums that are at least 0 by contracts without variables."""
    for h in data:
        if not h.variables:
            yield from _nonnegative(h.fact)


def told(data: Sequence[Held], array: str, index: Sum, at: Store) -> Iterator[Sum]:
    """The sums that are at least 0 by contracts of one variable, where they speak of an element and their ranges are
    known to have its index."""
    for h in data:
        if len(h.variables) != 1 or array not in h.arrays:
            continue
        x = Var(h.variables[0])
        shifts = [_sum(t.index) for t in subterms(h.fact) if isinstance(t, Read) and t.array == array]
        for shift in shifts:
            if shift is None or shift.get((x,)) != 1 or not shift.keys() <= {(x,), ()}:
                continue
            t = plus(index, constant(shift.get((), 0)), -1)
            if _within(t, *h.ranges[0], at):
                yield from (put for s in _nonnegative(h.fact) if (put := _put(s, x, t)) is not None)


def loaded(body: Stmt) -> frozenset[str]:
    """The variables with something in their values that was read from an array, wherever in a body."""
    assigned = [(s.var, s.value) for s in statements(body) if isinstance(s, Assign)]
    found: set[str] = set()
    while more := {x for x, e in assigned if reads_array(e) or local_vars(e) & found} - found:
        found |= more
    return frozenset(found)


def leaf(array: str, index: Sum) -> Read:
    """An element as a leaf of sums."""
    return Read(array, as_expr(index))


def _within(t: Sum, low: Expr | None, high: Expr | None, at: Store) -> bool:
    for end, sign in ((low, 1), (high, -1)):
        if end is not None:
            limit = _sum(end)
            if limit is None:
                return False
            over = plus(t, limit, -1) if sign > 0 else plus(plus(limit, t, -1), constant(-1))
            if max(at.extremes(over, False), default=-INFINITE) < 0:
                return False
    return True


def _put(s: Sum, x: Var, t: Sum) -> Sum | None:
    """A sum with t for x, in indices, too."""
    found: Sum | None = {}
    for m, k in s.items():
        part: Sum | None = {(): k}
        for e in m:
            if part is None:
                return None
            factor: Sum | None = t if e == x else single(e)
            if isinstance(e, Read):
                inner = _sum(e.index)
                index = None if inner is None else replaced(inner, x, t)
                factor = None if index is None else single(leaf(e.array, index))
            part = None if factor is None else product(part, factor)
        if found is None or part is None:
            return None
        found = plus(found, part)
    return found


_MORE: Final = {"<": ((1, -1),), "<=": ((1, 0),), ">": ((-1, -1),), ">=": ((-1, 0),), "==": ((1, 0), (-1, 0))}
"""Of a comparison a op b, the signs of b - a, and what is added, for what is at least 0."""


def _nonnegative(fact: Expr) -> Iterator[Sum]:
    match fact:
        case Op("&&", (a, b)):
            yield from _nonnegative(a)
            yield from _nonnegative(b)
        case Op(op, (a, b)) if op in _MORE:
            left, right = _sum(a), _sum(b)
            if left is not None and right is not None:
                for sign, more in _MORE[op]:
                    over = plus(right, left, -1)
                    yield plus(constant(more), over, sign)


def _sum(e: Expr) -> Sum | None:
    """The sum that an expression of a contract is; None where it is none."""
    return of_expr(e, _of_read)


def _of_read(e: Expr) -> Sum | None:
    """A read as a leaf with its index in one form."""
    match e:
        case Read(array, index):
            inner = _sum(index)
            return None if inner is None else single(leaf(array, inner))
        case Op("neg", (a,)):
            part = _sum(a)
            return None if part is None else plus({}, part, -1)
    return None
