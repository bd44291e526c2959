"""Instances of contracts: what they say of the elements of arrays that terms speak of, and between two of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice, permutations
from typing import Any, Final, NamedTuple

from logic.assertions import P, Proved, Verdict
from logic.comparisons import as_expr, differences
from logic.contracts import BOUND, Contract, elements, elements_in, nested
from logic.facts import equations
from logic.polynomials import over
from logic.potentials import ELEMENT, Apply, Floor, Leaf, Log2, Max0, Monomial, Poly, Sym, leaves, of_expr, sym
from logic.syntax import Const, Expr, Op, Var, local_vars, subterms
from logic.terms_as_json import potential

MOST: Final = 48
"""The most instances that are looked at."""


LARGEST: Final = 1 << 53
"""Contracts with larger numbers are not looked at: linear programs are solved in floats first. What is to be below 2^63
is so that no sum wraps around, and no bound is made of it."""


Ask = Callable[[P, Poly], Verdict]
"""Whether P shows that a polynomial is nonnegative."""


class Instance(NamedTuple):
    """A polynomial that is nonnegative where all that it needs is, and how a certificate names it, without why."""

    poly: Poly
    needs: tuple[Poly, ...]
    name: tuple[Any, ...]


def instances(contracts: Sequence[Contract], spoken: Iterable[Apply]) -> Iterator[Instance]:
    """The facts that contracts give of elements, and of nothing but these."""
    return iter(_known(tuple(contracts), tuple(spoken)))


@lru_cache(1 << 10)  # asked of the same elements at each point of a program
def _known(contracts: tuple[Contract, ...], spoken: tuple[Apply, ...]) -> tuple[Instance, ...]:
    own = {*spoken}
    return tuple(islice((one for one in _instances(contracts, spoken) if {*elements_in([one.poly])} <= own), MOST))


def with_ends(contracts: Sequence[Contract], spoken: Iterable[Apply]) -> tuple[Apply, ...]:
    """Elements with those of the same arrays of which contracts without ranges speak: no row begins before
    rowptr[0]."""
    known = dict.fromkeys(spoken)
    arrays = {a.op for a in known}
    ends = elements_in(q for c in contracts if not c.ranges for q in c.quantities.values())
    return (*dict.fromkeys((*known, *(a for a in ends if a.op in arrays))),)


def by_depth(some: Iterable[Instance]) -> list[list[Instance]]:
    """Instances in groups, those first whose elements are nested less deep: what they say may show what others need."""
    groups: dict[int, list[Instance]] = {}
    for one in some:
        groups.setdefault(max(map(nested, elements_in([one.poly])), default=0), []).append(one)
    return [groups[depth] for depth in sorted(groups)]


def shown(contracts: Sequence[Contract], spoken: Iterable[Apply], p: P, ask: Ask) -> tuple[Expr, ...]:
    """The instances as facts, where it is proved that all that they need is nonnegative; without those in P."""
    found, proves = dict[Expr, None](), _of_indices(p, ask)
    for one in instances(contracts, with_ends(contracts, spoken)):
        e = as_expr(one.poly, bases=True)
        fact = None if e is None else Op(">=", (e, Const(0)))
        if fact is not None and fact not in p and fact not in found and all(map(proves, one.needs)):
            found[fact] = None
    return tuple(found)


def _of_indices(p: P, ask: Ask) -> Callable[[Poly], bool]:
    """Whether P shows that something about indices is nonnegative. It is asked first without what P says of elements,
    which is the same question at many points, and often refuted; that is all that is asked of what is not related to
    elements."""
    without, near = plain(p)
    named = _products(p)

    @cache
    def proves(need: Poly) -> bool:
        for m, q in named:  # an index by its name: solvers know little of products, and much time goes into them
            need += q * dict(need.terms).get(m, 0)
        if need.is_constant:
            return need.constant >= 0
        if not elements_in([need]):
            proved = isinstance(ask(_about(need, without), need), Proved)
            if proved or len(without) == len(p) or not leaves(need) & near:
                return proved
        return isinstance(ask(p, need), Proved)

    return proves


@lru_cache(1 << 8)
def _products(p: P) -> tuple[tuple[Monomial, Poly], ...]:
    """The products in what P says that variables are, and what is 0 with 1 of such a product taken away."""
    found = []
    for x, e in equations(p):
        q = of_expr(e)
        first = None if q is None else next(((m, c) for m, c in q.terms if len(m) > 1), None)
        if q is not None and first is not None and x not in leaves(q):
            found.append((first[0], (sym(x) - q) * over(1, first[1])))
    return tuple(found)


@lru_cache(1 << 8)
def plain(p: P) -> tuple[P, frozenset[Leaf]]:
    """The facts of P without elements of arrays, and the leaves of which P says more than that: those beside elements,
    and what is compared with these."""
    without = tuple(f for f in p if not elements(f))
    near = frozenset[Leaf]().union(*(_beside(q) for f in p if elements(f) for q, _ in differences(f)))
    compared = (leaves(q) for f in without for q, _ in differences(f))
    return without, near.union(*(found for found in compared if found & near))


def _about(need: Poly, p: P) -> P:
    """The facts of P without variables, or with such as have to do with a need, directly or through other facts."""
    own, asked = _parts(p), leaves(need)
    names = {x.name for x in asked if isinstance(x, Var)}
    names.update(*(found for _, found, inside in own if inside & asked))
    while more := [found for _, found, _ in own if found & names and not found <= names]:
        names.update(*more)
    return tuple(f for f, found, _ in own if not found or found & names)


@lru_cache(1 << 8)
def _parts(p: P) -> tuple[tuple[Expr, frozenset[str], frozenset[Expr]], ...]:
    """The facts of P, with the variables and the terms in each."""
    return tuple((f, local_vars(f), frozenset(subterms(f))) for f in p)


def _beside(p: Poly) -> frozenset[Leaf]:
    """The leaves of a polynomial but for those in indices alone, and in products: what is known of elements by several
    instances of a contract."""
    found: set[Leaf] = set()
    for a in (m[0] for m, _ in p.terms if len(m) == 1):
        match a:
            case Sym(leaf):
                found.add(leaf)
            case Apply(op, args):
                found.update(*(map(_beside, args) if not op.startswith(ELEMENT) else ()))
            case Max0(arg) | Floor(arg, _) | Log2(arg):
                found |= _beside(arg)
    return frozenset(found)


def _instances(contracts: Sequence[Contract], spoken: tuple[Apply, ...]) -> Iterator[Instance]:
    wanted = [
        (k, c, sign, q)
        for k, c in enumerate(contracts)
        for sign, q in c.quantities.items()
        if all(-LARGEST < factor < LARGEST for _, factor in q.terms)
    ]
    for k, c, sign, q in wanted:
        if not c.ranges:
            yield Instance(q, (), ("instance", k, sign, []))
        for t in _indices(q, spoken) if len(c.ranges) == 1 else ():
            poly, *needs = c.instance(sign, [t])
            yield Instance(poly, tuple(needs), ("instance", k, sign, [potential(t)]))
    for k, c, sign, q in wanted:
        arrays = {a.op for a in elements_in([q])}
        for s, t in permutations(dict.fromkeys(a.args[0] for a in spoken if a.op in arrays), 2):
            if (t - s).is_constant and (t - s).constant < 2:
                continue  # backwards, or an instance
            if parts := c.telescope(sign, s, t):
                yield Instance(parts[0], parts[1:], ("telescope", k, sign, [potential(s), potential(t)]))


def _indices(q: Poly, spoken: Iterable[Apply]) -> list[Poly]:
    """The values of a contract's variable at which one of its elements is one of these."""
    i = sym(Var(f"{BOUND}0"))
    shifts = {(a.op, a.args[0] - i) for a in elements_in([q]) if (a.args[0] - i).is_constant}
    return list(dict.fromkeys(a.args[0] - shift for a in spoken for op, shift in shifts if op == a.op))
