"""The potential that a proof states: from the one that was found another that is worth no less and says more, as one
for every block, one in which elements of arrays are told by contracts, one in fewer words, or one that has a sum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Final

from checker import kernel as trusted
from checker import limits
from checker.certificates.evidence import proof as arithmetic_proof
from checker.kernel import INDICES, Oracle
from checker.oracles.maxima import replaced
from checker.synthesis.elaborate import weaken
from checker.synthesis.lanewise import cut_to
from checker.synthesis.sums import in_steps
from checker.synthesis.walk import Point, Proof
from logic.assertions import AtLeast, Context, Proved
from logic.contracts import Contract, elements_in
from logic.facts import said
from logic.polynomials import Rational
from logic.potentials import (
    ELEMENT,
    ZERO,
    Apply,
    Atom,
    Floor,
    Leaf,
    Log2,
    Max0,
    Monomial,
    Poly,
    atom,
    atoms,
    const,
    element_of,
    leaves,
    mapped,
    max0,
    minimum,
    of_expr,
    of_terms,
    substitute,
    sym,
    within,
)
from logic.syntax import BUILTINS, Op, Param


def wherever(proof: Proof[Poly], context: Context, oracle: Oracle) -> Proof[Poly]:
    """The proof with a potential that holds for every warp and block, where one is as easily said: that of the first or
    last."""

    def shown(path: Sequence[Poly]) -> bool:
        steps = (AtLeast((), frozenset(), less, q) for q, less in pairwise(path))
        return all(isinstance(oracle(step, context), Proved) for step in steps)

    def by_terms(q: Poly, there: Mapping[Leaf, Poly]) -> list[Poly]:
        """Each term by itself may be shown where all together are not."""
        changes = (substitute(term, there) - term for term in (Poly((t,)) for t in q.terms))
        return [*accumulate((change for change in changes if change != ZERO), initial=q)][1:]

    q = proof.pre.q
    for name in INDICES:
        index, size = Param(name), trusted.extent(name, context)
        for at in () if index in {leaf for a in elements_in([q]) for leaf in leaves(a.args[0])} else (ZERO, size - 1):
            there: dict[Leaf, Poly] = {index: at}
            ways = ([substitute(q, there)], by_terms(q, there))
            path = next((way for way in ways if way[-1:] not in ([], [q]) and shown([q, *way])), [])
            for q in path:
                proof = weaken(proof, Point(proof.pre.p, q, proof.pre.x), proof.post)
            if path:
                break
    return proof


def without_rests(proof: Proof[Poly], context: Context, oracle: Oracle) -> Proof[Poly]:
    """The proof with what rests of divisions are at most, where they tell warps or blocks apart: m % n is n - 1 at
    most, if n is positive, which says more than what rest each warp has. Where that is not seen, as in min(1, m % n),
    what is taken away by such terms is left out."""
    for term in (Poly((t,)) for t in proof.pre.q.terms):
        found = _without_rests(term)
        for other in (found, ZERO) if found != term else ():
            q, most = proof.pre.q, proof.pre.q - term + other
            enough = AtLeast((), frozenset(), most, q)
            if arithmetic_proof(enough, context) and isinstance(oracle(enough, context), Proved):
                proof = weaken(proof, Point(proof.pre.p, most, proof.pre.x), proof.post)
                break
    return proof


def _without_rests(q: Poly) -> Poly:
    """A potential with n - 1 for m - n*trunc(m/n), inside others first."""
    whole = mapped(q, lambda a: within(a, _without_rests))
    for m, c in whole.terms:
        for a in m:
            match a:
                case Apply("/", (dividend, divisor)) if leaves(dividend) & NUMBERED:
                    taken = divisor * atom(a)
                    if taken.terms == ((m, 1),):
                        whole = whole + (dividend - divisor + 1 - taken) * c
    return whole


def told_by_contracts(q: Poly, context: Context, oracle: Oracle) -> Poly:
    """A potential that has what elements of arrays are, by contracts such as row[0] == 0, in place of these elements,
    where that is shown to be no less. Where an array rises to an element that is known, as row[n] == nnz, that is what
    row[min(m, n)] is at most; an index with a warp's or block's number in it stays, as it telescopes."""
    if not elements_in([q]):
        return q
    given = said((), context)
    values: dict[Atom, Poly] = {}
    for c in context.launch.contracts:
        match c:
            case Contract((), Op("==", (a, b))):
                p, other = of_expr(a), of_expr(b)
                for one, value in ((p, other), (other, p)):
                    if one is not None and value is not None and not elements_in([value]):
                        values |= {x: value for x in elements_in([one]) if one == atom(x)}

    def image(a: Atom) -> Poly:
        match a:
            case Apply(op, args) if op.startswith(ELEMENT):
                if leaves(args[0]) & NUMBERED:
                    return values.get(a, atom(a))
                element = element_of(op, mapped(args[0], image))
                return next((value for known, value in values.items() if element == atom(known)), element)
            case Max0(arg):
                inside = mapped(arg, image)
                return max0(inside) if given.least(inside) is None else inside
        return within(a, lambda p: mapped(p, image))

    def most(m: Monomial, c: Rational) -> Poly:
        """A term, or what it is at most where it is an element up to one that is known."""
        for i, a in enumerate(m if c > 0 else ()):
            for known, value in values.items():
                match a, known:
                    case Apply(op, (index,)), Apply(array, (end,)) if (
                        op == array and cut_to(index, end) is not None and not leaves(index) & NUMBERED
                    ):
                        return value * Poly((((*m[:i], *m[i + 1 :]), c),))
        return Poly(((m, c),))

    stands = mapped(q, image)
    for other in (sum((most(m, c) for m, c in stands.terms), ZERO), stands):
        enough = AtLeast((), frozenset(), other, q)
        if other != q and arithmetic_proof(enough, context) is not None and isinstance(oracle(enough, context), Proved):
            return other
    return q


NUMBERED: Final = frozenset[Leaf](map(Param, INDICES))
"""What tells warps and blocks apart."""


def shortened(proof: Proof[Poly], context: Context, oracle: Oracle, summed: bool) -> Proof[Poly]:
    """The proof with a potential that is worth the same and is said in fewer words: without the cases that make no
    difference, as that of a negative n in |[0, n/2]|, where C rounds up. In what is to be summed, indices of elements
    stay: at row[min(0, max(0, n))] a sum begins with row[0]."""
    q = proof.pre.q
    indices = {b for a in elements_in([q] if summed else []) for b in atoms(a.args[0])}

    def plainer(other: Poly) -> bool:
        more, less = (AtLeast((), frozenset(), a, b) for a, b in ((other, q), (q, other)))
        shorter = _length(other) < _length(q)
        return shorter and arithmetic_proof(more, context) is not None and isinstance(oracle(less, context), Proved)

    outer = {a for m, _ in q.terms for a in m}
    cases = dict.fromkeys(a for a in atoms(q) if isinstance(a, Max0) and a not in indices)
    if len(cases) > limits.CASES:
        return proof
    for a in cases:
        known = a.arg in (sym(Param(name)) for name in BUILTINS)
        if known or a not in outer or any(isinstance(b, Max0 | Log2) for b in atoms(a.arg)):
            others = (replaced(q, a.arg, a.arg), replaced(q, a.arg, ZERO))
            q = next(filter(plainer, others), q)
    for capped in () if summed else _capped(q):
        q = next(filter(plainer, (q + more for more in capped)), q)
    return weaken(proof, Point(proof.pre.p, q, proof.pre.x), proof.post)


def _length(q: Poly) -> tuple[int, int]:
    """The letters of a potential, then its parts: trunc(n/4) has more of these than floor(n/4)."""
    return len(str(q)), sum(1 for _ in atoms(q))


def _capped(q: Poly) -> Iterator[tuple[Poly, ...]]:
    """For each pair of terms such as max(0, p) - max(0, p - 2) what is to be added to have min(2, max(0, p)) instead;
    where that is 1 or 0 also by what p is a part of, rounded up. It would not telescope."""
    own = [(m[0].arg, c) for m, c in q.terms if len(m) == 1 and isinstance(m[0], Max0)]
    for p, c in own:
        for other, d in own:
            gap = p - other
            if c > 0 and c == -d and gap.is_constant and gap.constant > 0:
                whole = of_terms(t for t in p.terms if not any(isinstance(a, Floor) for a in t[0]))
                wholes = (whole, p) if gap == const(1) else (p,)
                yield tuple((minimum(gap, max0(whole)) - max0(p) + max0(other)) * c for whole in wholes)


def summable(proof: Proof[Poly], context: Context, oracle: Oracle) -> Proof[Poly]:
    """The proof with a potential in which elements of arrays stand by themselves, where it is no less, and what is cut
    to a range is said in steps: then it telescopes, as the lengths of rows do."""

    def known(p: Poly) -> bool:
        return isinstance(oracle(AtLeast((), frozenset(), p, ZERO), context), Proved)

    def end(a: Atom, up: bool) -> Poly:
        """The most (up) or least value of an atom."""
        match a:
            case Max0(arg) if known(arg):
                return ends(arg, up)
            case Max0(arg) if up and known(const(1) - arg):
                return const(1)
            case Max0(_) if not up:
                return ZERO
            case Floor(arg, k) if all(c.denominator == 1 for _, c in arg.terms):
                return ends((arg if up else arg - (k - 1)) * Fraction(1, k), up)
        return atom(a)

    def ends(p: Poly, up: bool) -> Poly:
        total = ZERO
        for m, c in p.terms:
            term = Poly(((m, 1),))
            own = len(m) == 1 and elements_in([term]) and not isinstance(m[0], Apply)
            total = total + (end(m[0], up == (c > 0)) if own else term) * c
        return total

    q = ends(proof.pre.q, True)
    proof = weaken(proof, Point(proof.pre.p, q, proof.pre.x), proof.post)
    steps = in_steps(q)
    if steps != q and arithmetic_proof(AtLeast((), frozenset(), steps, q), context) is not None:
        proof = weaken(proof, Point(proof.pre.p, steps, proof.pre.x), proof.post)
    return proof
