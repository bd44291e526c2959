"""Products that are known to be nonnegative, and why: summands of a proof beside the facts themselves.

The step of a grid stride is gridDim.x * size, and the size of a block blockDim.x * blockDim.y * blockDim.z: each of
these is 1 at least, so the step is positive, and no less than any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, reduce
from itertools import permutations
from typing import Any, Final

from checker.oracles.known import Fact
from logic.polynomials import Rational
from logic.potentials import Apply, Atom, Monomial, Poly, Sym, atom, atoms, const

Rows = list[tuple[Rational, list[Any]]]
"""Coefficients, and the certificate's names of what they are multiplied by."""

Because = tuple[Poly, Rows]
"""A polynomial that is nonnegative, and why."""

Solve = Callable[[Poly, Iterable[Because]], Rows | None]
"""A combination of facts, and of what is nonnegative besides, that is a polynomial; None where there is none."""

MAX_PRODUCTS: Final = 12
"""Products of two leaves of a goal and of facts that are looked at, and as many longer ones. How many facts are
multiplied by one another is `farkas.MAX_FACTORS`."""


def products_with(goal: Poly, have: Sequence[Fact], solve: Solve) -> list[Because]:
    """The products of leaves in a goal and in facts, where each is nonnegative by the facts, or positive; the products
    of a nonnegative leaf with a fact about the other, and of a quotient's divisor with a fact about the quotient."""
    inside = dict.fromkeys(m for p in (goal, *(f.poly for f in have)) for m, _ in p.terms if len(m) > 1)
    pairs = [m for m in inside if len(m) == 2][:MAX_PRODUCTS]
    longer = [m for m in inside if len(m) > 2][:MAX_PRODUCTS]
    found: list[Because] = []

    @cache
    def why(a: Atom, least: int = 0, deep: bool = True) -> Rows | None:
        """That a leaf is at least so much: if deep, by products, too, as c == x*y*z is."""
        if not isinstance(a, Sym):
            return None
        own = solve(atom(a) - least, ())
        return solve(atom(a) - least, long()) if own is None and deep and longer else own

    @cache
    def long() -> tuple[Because, ...]:
        return tuple(one for m in longer for one in signs(m, deep=False))

    def signs(m: Monomial, deep: bool) -> Iterator[Because]:
        """That a product is nonnegative, positive, and no less than one of its leaves: x*y - y is (x - 1)*y."""
        if (rows := product_of([why(a, deep=deep) for a in m])) is None:
            return
        yield Poly(((m, 1),)), rows
        for one in (None, *dict.fromkeys(m)) if longer else ():
            rest = [*m]
            if one is not None:
                rest.remove(one)
            terms = [
                product_of([why(a, 1, deep), *(why(b, deep=deep) for b in rest[i + 1 :])]) for i, a in enumerate(rest)
            ]
            if None not in terms:
                more = [row for each in terms for row in each or ()]  # x*y - 1 is (x - 1)*y + (y - 1)
                own = more if one is None else _both(why(one, deep=deep) or [], more)
                yield Poly(((m, 1),)) - (const(1) if one is None else atom(one)), own

    def times(sure: Rows | None, p: Poly, b: Atom) -> Iterator[Because]:
        """p, which is nonnegative by these rows, times each fact about b."""
        about = (f for f in have if b in atoms(f.poly) and all(len(n) < 2 for n, _ in f.poly.terms))
        for f in about if sure is not None else ():
            yield p * f.poly, [(c, [*names, f.name]) for c, names in sure or ()]

    for m in (*pairs, *longer):
        found += signs(m, deep=True)
        for a, b in permutations(m) if len(m) == 2 else ():
            if isinstance(b, Sym):
                found += times(why(a), atom(a), b)
    for v in atoms(goal):
        if isinstance(v, Apply) and v.op == "/":
            divisor = v.args[1]
            for factors, c in divisor.terms[:1]:  # one leaf, a product of some, or a sum
                each = [why(a) for a in factors] if len(divisor.terms) == c == 1 else [solve(divisor, ())]
                found += times(product_of(each), divisor, v)
    return found


def product_of(each: Sequence[Rows | None]) -> Rows | None:
    """The rows of a product of all of these; None where one is missing."""
    sure = [rows for rows in each if rows is not None]
    return reduce(_both, sure) if len(sure) == len(each) else None


def _both(one: Rows, other: Rows) -> Rows:
    return [(c * d, [*names, *others]) for c, names in one for d, others in other]
