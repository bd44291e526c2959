"""The most that an expression which differs between lanes is at any of them, by what its operators say: t % 5 is 4 at
most, whatever t is, and n >> (t & 1) is max(0, n).

It is a guess at a potential for a loop that runs up to such a limit: the checkers see whether it pays.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from logic.assertions import Context, X
from logic.facts import Facts, compared
from logic.potentials import (
    ELEMENT,
    ZERO,
    Max0,
    Poly,
    atom,
    const,
    element_of,
    max0,
    maximum,
    minimum,
    of_expr,
    operated,
    substitute,
    sym,
    variables,
)
from logic.syntax import WARP_INDEX, Expr, Op, Param, Tid, Var, mentions_tid

MAX_SHIFT: Final = 32
"""A shift to the left by more is not looked at."""

DEEPEST: Final = 12
"""The depth to which expressions are looked into, and what facts say of variables in them."""


def most(e: Expr, x: X, facts: Facts, context: Context | None = None) -> Poly | None:
    """The most that e can be, in terms of parameters and of what is in X; None where that is not seen. With a context,
    also by what its contracts say of the elements of arrays in e.

    >>> from logic.syntax import Const
    >>> facts = Facts((Op("==", (Var("t"), Tid("x"))), Op(">", (Param("m"), Const(0)))))
    >>> t, m = Var("t"), Param("m")
    >>> [str(most(Op("%", (t, k)), frozenset(), facts)) for k in (Const(5), m)]
    ['4', 'm - 1']
    >>> print(most(Op("-", (m, Op("&", (t, Const(3))))), frozenset(), facts))
    m
    """
    return _Lanes(x, facts, context).end(e, True, DEEPEST)


def cut_to(p: Poly, end: Poly, up: bool = True) -> Poly | None:
    """The q of which p says that it is the smaller of q and the end, or with not `up` the larger.

    >>> from logic.potentials import minimum
    >>> m, n = sym(Param("m")), sym(Param("n"))
    >>> print(cut_to(minimum(m, n), n), cut_to(minimum(m, n), m + 1))
    m None
    """
    sign = 1 if up else -1
    wholes = (p + atom(m[0]) * sign for m, c in p.terms if len(m) == 1 and isinstance(m[0], Max0) and c == -sign)
    return next((q for q in wholes if p == q - max0((q - end) * sign) * sign), None)


class _Lanes:
    """`within` the index of an element, threadIdx.x is where the warp is, if blocks have one dimension."""

    def __init__(self, x: X, facts: Facts, context: Context | None, within: bool = False) -> None:
        self.x, self.facts, self.context, self.within = x, facts, context, within
        self.asked: set[Var] = set()

    def end(self, e: Expr, up: bool, left: int) -> Poly | None:
        """The most (up) or least value of e."""
        whole = None if mentions_tid(e) else of_expr(e)
        if whole is not None and variables(whole) <= self.x:
            return whole
        if left == 0:
            return None
        match e:
            case Var():
                return self.known(e, up, left)
            case Tid("x") if self.within and self.context and self.context.launch.block[1:] == (1, 1):
                warp = self.context.hardware.warp
                return sym(Param(WARP_INDEX)) * warp + (warp - 1 if up else 0)
            case Tid(axis):
                size = sym(Param(f"blockDim.{axis}")) - 1 if up else const(0)
                return self.plain(size)
            case Op("neg", (a,)):
                p = self.end(a, not up, left - 1)
                return None if p is None else p * -1
            case Op(op, (index,)) if op.startswith(ELEMENT):
                return self.element(op, index, up, left - 1)
            case Op("?:", (_, a, b)):
                return self.either(a, b, up, up, left)
            case Op(op, (a, b)):
                return self.binary(op, a, b, up, left - 1)
        return None

    def plain(self, p: Poly) -> Poly:
        return self.facts.plain(p)

    def known(self, e: Var, up: bool, left: int) -> Poly | None:
        """The most or least value of a variable by facts: in an index by all of them together."""
        all_, said = None, compared(self.facts, either=True)
        if e in self.asked:
            return None
        self.asked.add(e)
        for leaf, op, bound in sorted(said, key=lambda fact: fact[1] != "==") if self.within else said:
            if leaf == e and (op == "==" or op in (("<", "<=") if up else (">", ">="))) and bound != e:
                found = self.end(bound, up, left - 1 if op == "==" else left // 2)
                if found is not None:
                    found = found - (op == "<") + (op == ">")
                    all_ = found if all_ is None else minimum(all_, found) if up else maximum(all_, found)
                    if not self.within:
                        break
        self.asked.remove(e)
        return all_

    def element(self, op: str, index: Expr, up: bool, left: int) -> Poly | None:
        """Of an array of which a contract says that it rises, or falls, where the index is within the contract's range
        for all lanes or cut to it."""
        inner = _Lanes(self.x, self.facts, self.context, within=True)
        rise = element_of(op, const(1)) - element_of(op, ZERO)
        for c in () if self.context is None else self.context.launch.contracts:
            for sign, way in product(c.quantities, (1, -1)):
                steps = c.telescope(sign, ZERO, const(1))[:1]
                if not any((p - rise * way).is_constant and (p - rise * way).constant <= 0 for p in steps):
                    continue
                last = up == (way > 0)
                found = inner.end(index, last, left)
                limit = c.ranges[0][last]
                end = None if limit is None else of_expr(limit)
                if found is not None and end is not None and (whole := self.uncut(found, end, last)) is not None:
                    found = minimum(whole, max0(end)) if last else maximum(whole, end)
                return None if found is None else element_of(op, substitute(found, self.facts.constants))
        return None

    def uncut(self, p: Poly, end: Poly, up: bool) -> Poly | None:
        """An index that is to be cut to an end: p, or what p is the smaller of the end and; None where p is known to be
        no farther. The end of a range that has no index is 0, so that row[min(0, max(0, n))] is row[0]."""
        if self.sure((end - p) * (1 if up else -1), 0):
            return None
        whole = cut_to(p, end, up)
        return p if whole is None else whole

    def either(self, a: Expr, b: Expr, up: bool, larger: bool, left: int) -> Poly | None:
        """The end of the larger of two, or of the smaller: of what both are, or of what one is that is known."""
        p, q = self.end(a, up, left - 1), self.end(b, up, left - 1)
        if p is None or q is None:
            return None if up == larger else p if q is None else q
        return maximum(p, q) if larger else minimum(p, q)

    def sure(self, p: Poly | None, low: int) -> bool:
        """Whether p is known to be so much at least."""
        least = None if p is None else self.facts.least(self.plain(p))
        return least is not None and least >= low

    def binary(self, op: str, a: Expr, b: Expr, up: bool, left: int) -> Poly | None:
        match op:
            case "min" | "max":
                return self.either(a, b, up, op == "max", left)
            case "+" | "-":
                p, q = self.end(a, up, left), self.end(b, up == (op == "+"), left)
                return None if p is None or q is None else p + q if op == "+" else p - q
            case "*":
                return self.product(a, b, up, left) or self.product(b, a, up, left)
            case "/" | ">>":
                return self.quotient(op, a, b, up, left)
            case "%":
                return self.rest(a, b, up, left)
            case "<<":
                p, q = self.end(a, up, left), self.end(b, up, left)
                if p is None or q is None or not up or not self.sure(p, 0):
                    return None
                return p * (1 << int(q.constant)) if q.is_constant and 0 <= q.constant < MAX_SHIFT else None
            case "&":
                sides = [self.end(e, True, left) for e in (a, b) if self.sure(self.end(e, False, left), 0)]
                known = [p for p in sides if p is not None]
                constants = [p for p in known if p.is_constant]
                if not up:
                    return const(0) if sides else None
                return min(constants, key=lambda p: p.constant) if constants else known[0] if known else None
            case "|" | "^" if self.sure(self.end(a, False, left), 0) and self.sure(self.end(b, False, left), 0):
                p, q = self.end(a, True, left), self.end(b, True, left)
                return const(0) if not up else None if p is None or q is None else p + q
        return None

    def product(self, a: Expr, b: Expr, up: bool, left: int) -> Poly | None:
        """Of a by what is the same at all lanes and has a known sign."""
        by = None if mentions_tid(b) else of_expr(b)
        if by is None or not variables(by) <= self.x:
            return None
        for sign in (1, -1):
            if self.sure(by * sign, 0):
                p = self.end(a, up == (sign > 0), left)
                return None if p is None else p * by
        return None

    def quotient(self, op: str, a: Expr, b: Expr, up: bool, left: int) -> Poly | None:
        """Of a by what is positive, or shifted by what is not negative: no farther from 0 than a."""
        p, low = self.end(a, up, left), self.end(b, False, left)
        if p is None:
            return None
        same = None if mentions_tid(b) else of_expr(b)
        if same is not None and variables(same) <= self.x and self.sure(same, 1 if op == "/" else 0):
            return operated(op, p, same)
        if op == "/" and not self.sure(low, 1):
            return None
        if up:
            return max0(p)
        return const(0) if self.sure(p, 0) else None

    def rest(self, a: Expr, b: Expr, up: bool, left: int) -> Poly | None:
        """Of a by what is positive at each lane."""
        low = self.end(a, False, left)
        if self.sure(low, 0) and not up:
            return const(0)
        most = self.end(b, True, left)
        if most is None or not self.sure(self.end(b, False, left), 1):
            return self.end(a, True, left) if up and self.sure(low, 0) else None
        return most - 1 if up else const(1) - most
