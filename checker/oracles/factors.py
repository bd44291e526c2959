"""Factors: what products in a goal are multiplied by, and variables that stand for it.

A nest of loops costs products such as turns * (rows + columns * 3), of which a turn of the outer loop takes rows +
columns * 3. With variables for rows and columns, what they are multiplied by has to be nonnegative for each of their
products, and is shown to be so in the same cases for all. What a factor has in common with the rest is forgotten: that
can only lose a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any, Final

from logic.potentials import ZERO, Atom, Leaf, Log2, Max0, Monomial, Poly, Sym, atom, const, leaves, sym
from logic.syntax import Var
from logic.terms_as_json import potential

Json = Any

FACTOR: Final = "factor:"
"""The prefix of variables that stand for factors: no name in a program has a colon."""

Way = tuple[Poly, list[tuple[Poly, Json]]]
"""A goal with variables for factors, and these with the certificate's names of what they stand for."""


def is_factor(a: Atom) -> bool:
    """Whether an atom stands for a factor."""
    return isinstance(a, Sym) and isinstance(a.leaf, Var) and a.leaf.name.startswith(FACTOR)


def parts(goal: Poly) -> dict[Monomial, Poly]:
    """The sum that each product of factors in a goal is multiplied by."""
    found: dict[Monomial, Poly] = {}
    for m, c in goal.terms:
        key, rest = tuple(a for a in m if is_factor(a)), tuple(a for a in m if not is_factor(a))
        found[key] = found.get(key, ZERO) + Poly(((rest, c),))
    return found


def ways(goal: Poly) -> Iterator[Way]:
    """Ways to write a goal with factors: all with which a part of it has no leaf in common, directly or through others;
    and all that are in no negative term, but in what it has in common with a positive one that may outweigh it."""
    if all(len(m) < 2 for m, _ in goal.terms):
        return
    tried: set[frozenset[Atom]] = set()
    for kept in (*_apart(goal), *_outweighed(goal)):
        others = {a for m, _ in goal.terms for a in m if a not in kept}
        if others and kept not in tried and all(isinstance(a, Max0 | Log2) for a in others):
            tried.add(kept)
            yield _written(goal, sorted(others, key=str))


def shared(goal: Poly) -> Iterator[Way]:
    """Ways to write a goal whose terms without factors may be negative, so that its products have to pay for them: of
    each factor max(0, e) it is known besides that it is at least e."""
    products = Poly(tuple((m, c) for m, c in goal.terms if len(m) > 1))
    inside = {a for m, _ in products.terms for a in m}
    for kept in dict.fromkeys((*_apart(products), *_outweighed(products))):
        others = [a for a in sorted(inside - kept, key=str) if isinstance(a, Max0)]
        product, factors = _written(goal, others)
        if others and any(c < 0 for _, c in parts(product).get((), ZERO).terms):
            above = ((f - a.arg, ["above", potential(a.arg)]) for (f, _), a in zip(factors, others, strict=True))
            yield product, [*factors, *above]


def pays(known: Iterable[Poly]) -> bool:
    """Whether it is known how much a factor is at least."""
    return any(len(p.terms) > 1 and any(is_factor(a) for m, _ in p.terms for a in m) for p in known)


def _written(goal: Poly, factors: Sequence[Atom]) -> Way:
    names: dict[Atom, Poly] = {a: sym(Var(f"{FACTOR}{i}")) for i, a in enumerate(factors)}
    terms = (prod([const(c), *(names.get(a) or atom(a) for a in m)], start=const(1)) for m, c in goal.terms)
    return sum(terms, ZERO), [(names[a], named(a)) for a in factors]


def named(a: Atom) -> Json:
    """The certificate's name of an atom that is nonnegative as such."""
    return ["max0" if isinstance(a, Max0) else "log2", potential(a.arg)] if isinstance(a, Max0 | Log2) else None


def nearest(goal: Poly, have: Sequence[Poly], some: Iterable[int]) -> list[int]:
    """The numbers of facts, those first that are about what a goal, or a fact, has products of, then those about what
    these are about: of y*gx + x < gx*gy where x < gx and y < gy."""
    own = mixed([goal, *have])
    beside = own.union(*(leaves(p) for p in have if leaves(p) & own))
    return sorted(some, key=lambda i: 0 if leaves(have[i]) & own else 1 if leaves(have[i]) <= beside else 2)


def mixed(have: Iterable[Poly]) -> set[Leaf]:
    """The leaves of products in polynomials."""
    return {leaf for p in have for m, c in p.terms if len(m) > 1 for leaf in leaves(Poly(((m, c),)))}


def _apart(goal: Poly) -> Iterator[frozenset[Atom]]:
    """The parts of a goal's atoms that have no leaf in common with the others, if there are several."""
    found: list[set[Atom]] = []
    for a in dict.fromkeys(a for m, _ in goal.terms for a in m):
        near = [part for part in found if any(_leaves(a) & _leaves(b) for b in part)]
        found = [*(part for part in found if part not in near), {a}.union(*near)]
    return map(frozenset, found if len(found) > 1 else [])


def _leaves(a: Atom) -> set[Leaf]:
    return set(leaves(atom(a)))


def _outweighed(goal: Poly) -> Iterator[frozenset[Atom]]:
    """The atoms that tell each negative term from the positive ones that grow as fast, have most in common with it, and
    least besides: from the first, the last, all of them; from all where they have nothing in common."""
    up, near = [m for m, c in goal.terms if c > 0], list[list[frozenset[Atom]]]()
    for m in (m for m, c in goal.terms if c < 0):
        longer = [other for other in up if _degree(other) >= _degree(m)] or up
        common = [_common(m, other) for other in longer]
        ranks = [(-len(c), len(other)) for other, c in zip(longer, common, strict=True)]
        best = min(ranks, default=(0, 0))
        pairs = ((other, c) for other, c, rank in zip(longer, common, ranks, strict=True) if rank == best)
        rests = sorted({_rest(m, c) | _rest(other, c) for other, c in pairs}, key=lambda rest: sorted(map(str, rest)))
        near.append(rests if best[0] else [frozenset().union(*rests)])
    if near and all(near):
        for chosen in ([w[0] for w in near], [w[-1] for w in near], [rest for w in near for rest in w]):
            yield frozenset().union(*chosen)


def _degree(m: Monomial) -> int:
    """The number of atoms in a product that are not at most a number, as max(0, 1 - max(0, x)) is."""
    return sum(not isinstance(a, Max0) or any(c > 0 or not _nonnegative(n) for n, c in a.arg.terms if n) for a in m)


def _nonnegative(m: Monomial) -> bool:
    return all(isinstance(a, Max0 | Log2) for a in m)


def _common(m: Monomial, other: Monomial) -> Monomial:
    """The atoms, as often as they are in both."""
    return tuple(a for a in dict.fromkeys(m) for _ in range(min(m.count(a), other.count(a))))


def _rest(m: Monomial, common: Monomial) -> frozenset[Atom]:
    """The atoms of a product that has these atoms besides them."""
    return frozenset(a for a in m if m.count(a) > common.count(a))
