"""Contracts on data: what arrays that no thread writes hold, for all indices in ranges. A departure from the paper,
where P never speaks of array contents.

An array of global memory that no statement of the kernel writes, and that shares no memory with one that is written,
holds the same through the whole grid, whatever the order of its threads: `elem:A(i)` is what A holds at i, a function
like any other, so P and Q may speak of it. Nothing is known of it but what contracts say, of single indices and, by
adding up, of two that lie apart.

>>> from logic.potentials import const
>>> from logic.syntax import Const, Param
>>> i, n = Var("?i0"), Param("n")
>>> rows = [element("row", i), element("row", Op("+", (i, Const(1))))]
>>> rising = Contract(((Const(0), n),), Op("<=", tuple(rows)))
>>> print(rising)
forall i in [0, n): row[i] <= row[i + 1]
>>> [str(q) for q in rising.instance("+", [sym(Param("r"))])]
['row[1 + r] - row[r]', 'r', 'n - 1 - r']
>>> [str(q) for q in rising.telescope("+", const(0), sym(n))]
['row[n] - row[0]', '0', 'n', 'n', 'n', '0']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final

from logic.comparisons import differences
from logic.potentials import ELEMENT, Apply, Leaf, Poly, atom, atoms, element_of, leaves, of_expr, substitute, sym
from logic.syntax import Expr, Op, Read, Var, show, subterms
from logic.syntax import substitute as substitute_expr

BOUND: Final = "?i"
"""Names of the variables of contracts: this and their numbers."""


def element(array: str, index: Expr) -> Op:
    """The element of a stable array at an index."""
    return Op(f"{ELEMENT}{array}", (index,))


def settled(e: Expr) -> Expr:
    """e with the elements of stable arrays in place of reads."""
    match e:
        case Read(array, index):
            return element(array, settled(index))
        case Op(op, args):
            return Op(op, tuple(map(settled, args)), e.loc)
    return e


def as_reads(e: Expr) -> Expr:
    """e with reads in place of the elements of stable arrays."""
    match e:
        case Op(op, (index,)) if op.startswith(ELEMENT):
            return Read(op.removeprefix(ELEMENT), as_reads(index))
        case Op(op, args):
            return Op(op, tuple(map(as_reads, args)), e.loc)
        case Read(array, index):
            return Read(array, as_reads(index), e.loc)
    return e


@lru_cache(maxsize=1 << 14)
def elements(e: Expr) -> frozenset[str]:
    """The stable arrays that an expression speaks of."""
    return frozenset(t.op.removeprefix(ELEMENT) for t in subterms(e) if isinstance(t, Op) and t.op.startswith(ELEMENT))


def elements_in(polys: Iterable[Poly]) -> tuple[Apply, ...]:
    """The elements of stable arrays in polynomials."""
    found = dict.fromkeys(a for p in polys for a in atoms(p))
    return tuple(a for a in found if isinstance(a, Apply) and a.op.startswith(ELEMENT))


def nested(a: Apply) -> int:
    """The depth to which elements are nested in an element: 1 in A[i], 2 in A[B[i] + 1].

    >>> x = element_of(f"{ELEMENT}B", sym(Var("i")))
    >>> [nested(a) for a in elements_in([x, element_of(f"{ELEMENT}A", x + 1)])]
    [1, 2]
    """
    return 1 + max(map(nested, elements_in(a.args)), default=0)


@dataclass(frozen=True)
class Contract:
    """For all ?i0, ?i1, .. in their ranges [low, high), with None for no limit, a comparison of integers holds. It is
    over these variables, parameters and stable arrays, the ranges over parameters."""

    ranges: tuple[tuple[Expr | None, Expr | None], ...]
    fact: Expr

    def __str__(self) -> str:
        texts = [show(e) for e in (self.fact, *(e for ends in self.ranges for e in ends if e is not None))]
        used = set(re.findall(r"\w+", " ".join(texts)))
        letters = [letter for letter in "ijklmpqrstuvwxyz" if letter not in used]
        names = {f"{BOUND}{i}": letters[i] if i < len(letters) else f"{BOUND}{i}" for i in range(len(self.ranges))}
        fact = show(substitute_expr(self.fact, {name: Var(text) for name, text in names.items()}))
        told = []
        for name, (low, high) in zip(names.values(), self.ranges, strict=True):
            ends = ("" if e is None else show(e) for e in (low, high))
            told.append(name if low is None and high is None else f"{name} in [{', '.join(ends)})")
        return f"forall {', '.join(told)}: {fact}" if told else fact

    @cached_property
    def quantities(self) -> dict[str, Poly]:
        """The differences that the comparison makes nonnegative, by sign."""
        return {sign: p for p, sign in differences(self.fact)}

    @property
    def arrays(self) -> frozenset[str]:
        """The arrays that it speaks of."""
        return elements(self.fact)

    @cached_property
    def lasts(self) -> tuple[tuple[str, Poly], ...]:
        """The arrays, each with the last index at which the contract speaks of it, where there is one."""
        high = of_expr(self.ranges[0][1]) if len(self.ranges) == 1 and self.ranges[0][1] is not None else None
        shifts = (
            (a.op.removeprefix(ELEMENT), a.args[0] - sym(Var(f"{BOUND}0")))
            for q in self.quantities.values()
            for a in elements_in([q])
        )
        found: dict[str, Fraction] = {}
        for name, shift in shifts:
            if shift.is_constant:
                found[name] = max(shift.constant, found.get(name, shift.constant))
        return () if high is None else tuple((name, high - 1 + last) for name, last in found.items())

    def _within(self, i: int, t: Poly, last: int) -> tuple[Poly, ...]:
        """The potentials that are nonnegative where t is in the i-th range, or one past it where `last` is 0."""
        p, q = (None if e is None else of_expr(e) for e in self.ranges[i])
        return (*(() if p is None else (t - p,)), *(() if q is None else (q - last - t,)))

    def instance(self, sign: str, terms: Sequence[Poly]) -> tuple[Poly, ...]:
        """A potential that is nonnegative at some indices, and those that have to be for that."""
        at: dict[Leaf, Poly] = {Var(f"{BOUND}{i}"): t for i, t in enumerate(terms)}
        needs = (q for i, t in enumerate(terms) for q in self._within(i, t, 1))
        return (substitute(self.quantities[sign], at), *needs)

    def telescope(self, sign: str, s: Poly, t: Poly) -> tuple[Poly, ...]:
        """The sum of what is nonnegative at s, s+1, .. t-1, where that is c*(A[i+1] - A[i]) + w, and then what has to
        be nonnegative for that; () where it is not of this form."""
        i, q = sym(Var(f"{BOUND}0")), self.quantities[sign]
        for m, c in q.terms if len(self.ranges) == 1 else ():
            match m:
                case (Apply(op, (index,)) as after,) if op.startswith(ELEMENT) and index == i + 1:
                    w = q - (atom(after) - element_of(op, i)) * c
                    if Var(f"{BOUND}0") not in leaves(w):
                        rise = element_of(op, t) - element_of(op, s)
                        return (rise * c + w * (t - s), *self._within(0, s, 0), t - s, *self._within(0, t, 0))
        return ()


def unchanging(array: str) -> Contract:
    """The contract that says of an array no more than that it is stable: each of its elements is what it is.

    >>> print(unchanging("A"))
    forall i: A[i] <= A[i]
    """
    item = element(array, Var(f"{BOUND}0"))
    return Contract(((None, None),), Op("<=", (item, item)))


def arrays_of(contracts: Iterable[Contract]) -> frozenset[str]:
    """The arrays that contracts speak of."""
    return frozenset[str]().union(*(c.arrays for c in contracts))
