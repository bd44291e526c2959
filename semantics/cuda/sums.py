"""Sums of products of what expressions are made of, with whole coefficients: how `semantics.cuda.ranges` counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from logic.syntax import BUILTINS, INT, Const, Expr, Op, Param, Tid, Var, show

Leaf = Var | Param | Tid
Monomial = tuple[Expr, ...]
Sum = Mapping[Monomial, int]

MOST_TERMS: Final = 48
MOST_FACTORS: Final = 6


@lru_cache(maxsize=4096)
def _key(e: Expr) -> str:
    return show(e)


def constant(k: int) -> Sum:
    return {(): k} if k else {}


def single(e: Expr) -> Sum:
    return {(e,): 1}


variable = lru_cache(maxsize=4096)(Var)
"""The variable with a name: one object for each, which tables find fastest; so with the next two."""
parameter = lru_cache(maxsize=4096)(Param)
thread = lru_cache(maxsize=4096)(Tid)


def leaf_of(e: Leaf) -> Leaf:
    """The same, as these have it."""
    return variable(e.name) if isinstance(e, Var) else parameter(e.name) if isinstance(e, Param) else thread(e.axis)


def plus(a: Sum, b: Sum, times: int = 1) -> Sum:
    """a + times * b"""
    found = dict(a)
    for m, k in b.items():
        total = found.get(m, 0) + times * k
        if total:
            found[m] = total
        else:
            found.pop(m, None)
    return found


def product(a: Sum, b: Sum) -> Sum | None:
    """a * b, None where that grows too large."""
    found: dict[Monomial, int] = {}
    for m, k in a.items():
        for n, j in b.items():
            if len(m) + len(n) > MOST_FACTORS:
                return None
            both = tuple(sorted((*m, *n), key=_key)) if m and n else m or n
            found[both] = found.get(both, 0) + k * j
    return {m: k for m, k in found.items() if k} if len(found) <= MOST_TERMS else None


def replaced(a: Sum, leaf: Expr, b: Sum) -> Sum | None:
    """a with b in place of a leaf."""
    found: Sum | None = {}
    for m, k in a.items():
        part: Sum | None = {(): k}
        for e in m:
            if part is not None:
                part = product(part, b if e == leaf else single(e))
        if part is None or found is None:
            return None
        found = plus(found, part)
    return found


def of_expr(e: Expr, other: Callable[[Expr], Sum | None]) -> Sum | None:
    """The sum that an expression is, where `other`, which is asked first, does not say what it is; None where it is
    none."""
    if (own := other(e)) is not None:
        return own
    match e:
        case Const(int(k)) if e.type == INT:
            return constant(k)
        case Var() | Param() | Tid():
            return single(e)
        case Op("+" | "-" | "*" as op, (a, b)):
            x, y = of_expr(a, other), of_expr(b, other)
            if x is None or y is None:
                return None
            return product(x, y) if op == "*" else plus(x, y, 1 if op == "+" else -1)
    return None


def leaves(a: Sum) -> set[Expr]:
    return {e for m in a for e in m}


def as_expr(a: Sum) -> Expr:
    """A sum as an expression."""
    total: Expr | None = None
    for m, k in sorted(a.items(), key=lambda t: (t[1] < 0, not t[0], [_key(e) for e in t[0]])):
        size = abs(k)
        factors: list[Expr] = [*([Const(size)] if size != 1 or not m else []), *m]
        term = factors[0]
        for f in factors[1:]:
            term = Op("*", (term, f))
        if total is None:
            total = term if k > 0 else Const(k) if not m else Op("neg", (term,))
        else:
            total = Op("+" if k > 0 else "-", (total, term))
    return total or Const(0, INT)


def over_parameters(s: Sum) -> bool:
    """Whether a sum is one over what a launch is given."""
    return all(isinstance(e, Param) and not e.name.startswith("blockIdx.") for e in leaves(s))


def over_launch(s: Sum) -> bool:
    """Whether a sum is over sizes and indices that CUDA gives."""
    return all(isinstance(e, Tid) or (isinstance(e, Param) and e.name in BUILTINS) for e in leaves(s))


def at_most(s: Sum) -> Expr:
    """s <= 0, with its parts on the sides where they are added."""
    left = {m: k for m, k in s.items() if k > 0 and m}
    right = {m: -k for m, k in s.items() if k < 0 and m}
    k = -s.get((), 0)
    if not left:
        return Op(">=", (as_expr(right), Const(-k)))
    if k >= 0 or right:
        return Op("<=", (as_expr(left), as_expr(plus(right, constant(k)))))
    return Op("<=", (as_expr(plus(left, constant(-k))), as_expr(right)))
