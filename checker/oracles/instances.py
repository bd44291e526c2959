"""Instances of contracts: what they say of the elements of arrays that terms speak of, and between two of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, permutations
from typing import Any, Final, NamedTuple

from logic.comparisons import as_expr
from logic.contracts import BOUND, Contract, elements_in
from logic.potentials import Apply, Poly, sym
from logic.syntax import Const, Expr, Op, Var
from logic.terms_as_json import potential

MOST: Final = 48
"""The most instances that are looked at."""


LARGEST: Final = 1 << 53
"""Contracts with larger numbers are not looked at: linear programs are solved in floats first. What is to be below 2^63
is so that no sum wraps around, and no bound is made of it."""


class Instance(NamedTuple):
    """A polynomial that is nonnegative where all that it needs is, and how a certificate names it, without why."""

    poly: Poly
    needs: tuple[Poly, ...]
    name: tuple[Any, ...]


def instances(contracts: Sequence[Contract], elements: Iterable[Apply]) -> Iterator[Instance]:
    """The facts that contracts give of elements, and of nothing but these."""
    known = tuple(elements)
    return islice((one for one in _instances(contracts, known) if {*elements_in([one.poly])} <= {*known}), MOST)


def shown(contracts: Sequence[Contract], elements: Iterable[Apply], proves: Callable[[Poly], bool]) -> tuple[Expr, ...]:
    """The instances as facts, where it is proved that all that they need is nonnegative."""
    found = dict[Expr, None]()
    for one in instances(contracts, elements):
        e = as_expr(one.poly, bases=True)
        if e is not None and all(map(proves, one.needs)):
            found[Op(">=", (e, Const(0)))] = None
    return tuple(found)


def _instances(contracts: Sequence[Contract], elements: tuple[Apply, ...]) -> Iterator[Instance]:
    wanted = [
        (k, c, sign, q)
        for k, c in enumerate(contracts)
        for sign, q in c.quantities.items()
        if c.ranges and all(abs(factor) < LARGEST for _, factor in q.terms)
    ]
    for k, c, sign, q in wanted:
        for t in _indices(q, elements) if len(c.ranges) == 1 else ():
            poly, *needs = c.instance(sign, [t])
            yield Instance(poly, tuple(needs), ("instance", k, sign, [potential(t)]))
    for k, c, sign, q in wanted:
        arrays = {a.op for a in elements_in([q])}
        for s, t in permutations(dict.fromkeys(a.args[0] for a in elements if a.op in arrays), 2):
            if parts := c.telescope(sign, s, t):
                yield Instance(parts[0], parts[1:], ("telescope", k, sign, [potential(s), potential(t)]))


def _indices(q: Poly, elements: Iterable[Apply]) -> list[Poly]:
    """The values of a contract's variable at which one of its elements is one of these."""
    i = sym(Var(f"{BOUND}0"))
    shifts = {(a.op, a.args[0] - i) for a in elements_in([q]) if (a.args[0] - i).is_constant}
    return list(dict.fromkeys(a.args[0] - shift for a in elements for op, shift in shifts if op == a.op))
