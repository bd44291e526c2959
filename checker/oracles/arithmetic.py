"""Consequences of P without a solver: facts equal up to the laws of arithmetic, and sums of nonnegative terms."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Final, Literal

from logic.assertions import P, Proved
from logic.comparisons import differences
from logic.facts import definitions, unfolded
from logic.operators import COMPARISONS
from logic.polynomials import Rational
from logic.potentials import (
    Apply,
    Atom,
    Floor,
    Leaf,
    Log2,
    Max0,
    Monomial,
    Poly,
    Sym,
    atom,
    const,
    leaves,
    substitute,
    sym,
)
from logic.syntax import FALSE, TRUE, Const, Expr, Op, Var

EXACT: Final = "closed-form"
DEEPEST: Final = 4
"""The depth to which nested max(0, .) are compared: each level takes twice as long."""

CHAIN: Final = 4
"""The number of facts that a lower bound may come from, one by one."""


@dataclass(frozen=True, slots=True)
class Relation:
    """poly >= 0, poly = 0 or poly != 0, over the integers: coefficients coprime, one sign for the last two."""

    kind: Literal[">=", "==", "!="]
    poly: Poly


@lru_cache(maxsize=65_536)
def relation(e: Expr) -> Relation | None:
    """The relation that e states, canonically, or None where potentials cannot say it."""
    match e:
        case Op("!", (Op(op, (a, b)),)) if op in COMPARISONS:
            inner = relation(Op(op, (a, b)))
            return None if inner is None else _negated(inner)
        case Op("!=", sides):
            return relation(Op("!", (Op("==", sides),)))
    match [p for p, _ in differences(e)]:
        case [p]:
            return _at_least(p)
        case [_, p]:
            return _equal(p)
    return None


def _negated(r: Relation) -> Relation:
    match r.kind:
        case ">=":
            return _at_least(r.poly * -1 - 1)
        case "==":
            return Relation("!=", r.poly)
        case "!=":
            return Relation("==", r.poly)


def _divisor(p: Poly) -> int:
    return gcd(*(c.numerator for m, c in p.terms if m)) or 1


def _at_least(p: Poly) -> Relation:
    """p >= 0 for a p with integer coefficients: divided by their common divisor, the constant rounded down."""
    g = _divisor(p)
    return Relation(">=", (p - p.constant) * Fraction(1, g) + p.constant.numerator // g)


def _equal(p: Poly) -> Relation:
    g = _divisor(p)
    if p.constant.numerator % g == 0:
        p = p * Fraction(1, g)
    return Relation("==", p * -1 if p.terms and p.terms[-1][1] < 0 else p)


Term = tuple[Monomial, Rational]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Facts as relations, and what `instead` of a leaf shows its value or lower bound.

    After that substitution, a leaf of `nonnegative` stands for what it exceeds its lower bound by; `slack` are the
    facts' polynomials after it, as what may be taken away, by their terms of any sign. `defined` is what variables are
    by equations.
    """

    relations: frozenset[Relation]
    instead: dict[Leaf, Poly]
    nonnegative: frozenset[Leaf]
    slack: dict[frozenset[Term], list[Poly]]
    defined: dict[Leaf, Poly]


@lru_cache(maxsize=4_096)
def knowledge(facts: tuple[Expr, ...]) -> Knowledge:
    """The facts about single leaves."""
    relations = frozenset(r for f in facts if (r := relation(f)) is not None)
    values: dict[Leaf, int] = {}
    lows: dict[Leaf, int] = {}
    for r in relations:
        for leaf, c, d in _single(r.poly):
            if r.kind == "==" and abs(c) == 1:
                values[leaf] = -d * c
            elif r.kind == ">=" and c == 1:
                lows[leaf] = max(-d, lows.get(leaf, -d))

    def known() -> Knowledge:
        instead = {leaf: _from(leaf, low) for leaf, low in lows.items()} | {n: const(v) for n, v in values.items()}
        return Knowledge(relations, instead, frozenset(lows), {}, {})

    chains = [(leaf, rest) for r in relations for leaf, rest in _least(r)]
    moved: Collection[Leaf] | None = None  # leaves of which more was learned the last time: at first all
    for _ in range(CHAIN):
        k, before = known(), dict(lows)
        for leaf, rest in chains:
            if moved is None or not leaves(rest).isdisjoint(moved):
                image = _image(rest, k.instead)
                if _nonnegative_terms(image - image.constant, k):
                    low = int(image.constant)
                    lows[leaf] = max(low, lows.get(leaf, low))
        moved = {leaf for leaf, low in lows.items() if before.get(leaf) != low}
        if not moved:
            break
    k = replace(known(), defined=definitions(facts))
    for r in relations:
        if r.kind != "!=":
            image = _image(r.poly, k.instead)
            for p in (image, image * -1) if r.kind == "==" else (image,):
                k.slack.setdefault(_of_any_sign(p, k), []).append(p)
    return k


def _image(p: Poly, instead: dict[Leaf, Poly]) -> Poly:
    """p with what is `instead` of leaves; at most points of a program, most of these are the same."""
    mine = tuple((leaf, instead[leaf]) for leaf in leaves(p) if leaf in instead)
    return _images(p, mine) if mine else p


@lru_cache(maxsize=16_384)
def _images(p: Poly, instead: tuple[tuple[Leaf, Poly], ...]) -> Poly:
    return substitute(p, dict(instead))


@lru_cache(maxsize=16_384)
def _from(leaf: Leaf, low: int) -> Poly:
    """The leaf, measured from its lower bound."""
    return sym(leaf) + low


def _single(p: Poly) -> Iterator[tuple[Leaf, int, int]]:
    """(leaf, c, d) for p = c * leaf + d."""
    rest = [(m, c) for m, c in p.terms if m]
    match rest:
        case [((Sym(leaf),), c)]:
            yield leaf, int(c), int(p.constant)


@lru_cache(maxsize=16_384)
def _least(r: Relation) -> tuple[tuple[Leaf, Poly], ...]:
    """(leaf, rest) for leaf >= rest."""
    found = []
    for p in {">=": [r.poly], "==": [r.poly, r.poly * -1], "!=": []}[r.kind]:
        for m, c in p.terms:
            match m:
                case (Sym(leaf),) if c == 1 and len(p.terms) > 1 and leaf not in leaves(rest := sym(leaf) - p):
                    found.append((leaf, rest))
    return tuple(found)


def _nonnegative_atom(a: Atom, k: Knowledge) -> bool:
    match a:
        case Sym(leaf):
            return leaf in k.nonnegative
        case Max0() | Log2():
            return True
        case Floor(arg, _):
            return _nonnegative_terms(arg, k)
        case Apply(op, (p, q)):  # any of them is, of operands that are; of an array's element nothing is known
            return _nonnegative_terms(p, k) and (op == ">>" or _nonnegative_terms(q, k))
    return False


def _of_any_sign(p: Poly, k: Knowledge) -> frozenset[Term]:
    """The terms of which nothing is known. They have to go: a fact's polynomial that is taken away has the same."""
    return frozenset((m, c) for m, c in p.terms if not all(_nonnegative_atom(a, k) for a in m))


def _nonnegative_terms(p: Poly, k: Knowledge, deep: int = DEEPEST) -> bool:
    """Whether every term is nonnegative, or taken away from one that is no less: max(0, q - 1) from max(0, q); so far
    inside each other."""
    if not all(_nonnegative_atom(a, k) for m, _ in p.terms for a in m):
        return False
    left = {m: c for m, c in p.terms if c > 0}
    for m, c in p.terms:
        if c < 0:
            more = next((other for other in left if left[other] >= -c and _no_less(other, m, k, deep)), None)
            if more is None:
                return False
            left[more] += c
    return True


def _no_less(m: Monomial, n: Monomial, k: Knowledge, deep: int) -> bool:
    """Whether m is n without max(0, q), where q is at most 1, or with max(0, p) in its place, where q is no more than p
    or max(0, p)."""
    match [a for a in m if a not in n], [a for a in n if a not in m]:
        case [], [Max0(q) as b] if _without(n, b) == m:
            return _nonnegative_terms(const(1) - q, k, deep)
        case [Max0(p) as a], [Max0(q) as b] if _without(m, a) == _without(n, b):
            return deep > 0 and any(_nonnegative_terms(larger - q, k, deep - 1) for larger in (p, atom(a)))
    return False


def _without(m: Monomial, a: Atom) -> Monomial:
    i = m.index(a)
    return m[:i] + m[i + 1 :]


def nonnegative(p: Poly, k: Knowledge) -> bool:
    """Whether p >= 0 because, measured from the leaves' lower bounds, it is a sum of nonnegative terms.

    Tried for p itself, and for p without one fact's polynomial; then for p with what its variables are by definition.
    """
    once = substitute(p, {leaf: k.defined[leaf] for leaf in leaves(p) if leaf in k.defined})
    forms = dict.fromkeys((p, once, unfolded(once, k.defined)))  # indices of elements may be said by names
    return any(_nonnegative(form, k) for form in forms)


def _nonnegative(p: Poly, k: Knowledge) -> bool:
    image = substitute(p, k.instead)
    same = k.slack.get(_of_any_sign(image, k), ())
    return _nonnegative_terms(image, k) or any(_nonnegative_terms(image - known, k) for known in same)


def entailed(goal: Expr, facts: frozenset[Expr], k: Knowledge) -> bool:
    """Whether the goal follows from the facts, by arithmetic that needs no search."""
    if goal == TRUE or goal in facts:
        return True
    match goal:
        case Op("||", (a, b)):
            return entailed(a, facts, k) or entailed(b, facts, k)
        case Op("&&", (a, b)):
            return entailed(a, facts, k) and entailed(b, facts, k)
        case Op("==", (Const(bool(a)), Const(bool(b)))):
            return a == b
        case Var() | Op("!", (Var(),)) | Op("==", (Var(), Const(bool()))):
            if facts & _written(goal):
                return True
    r = relation(goal)
    if r is None:
        return False
    if r in k.relations:
        return True
    match r.kind:
        case ">=":
            return nonnegative(r.poly, k)
        case "==":
            return not substitute(r.poly, k.instead).terms or not unfolded(r.poly, k.defined).terms
        case "!=":
            return nonnegative(r.poly - 1, k) or nonnegative(r.poly * -1 - 1, k)


def _written(literal: Expr) -> frozenset[Expr]:
    """The ways to write that a variable is true, or that it is false."""
    match literal:
        case Op("!", (b,)) | Op("==", (b, Const(False))):
            return frozenset((Op("!", (b,)), Op("==", (b, FALSE))))
        case Op("==", (b, Const(True))) | b:
            return frozenset((b, Op("==", (b, TRUE))))


def entails(facts: tuple[Expr, ...], goal: P) -> Proved | None:
    """P |- goal by closed forms, `facts` being P and what holds of the launch; None where that does not suffice."""
    have = frozenset(facts)
    if FALSE in have:
        return Proved("syntactic", "P is false")
    if all(g == TRUE or g in have for g in goal):
        return Proved("syntactic", "each conjunct is a fact")
    k = knowledge(facts)
    return Proved(EXACT, "linear arithmetic on single facts") if all(entailed(g, have, k) for g in goal) else None


def at_least(facts: tuple[Expr, ...], q: Poly, r: Poly) -> Proved | None:
    """q >= r by closed forms; None where that does not suffice."""
    if q == r:
        return Proved("syntactic", "the two are equal")
    difference = q - r
    if difference.is_constant and difference.constant >= 0:
        return Proved(EXACT, "they differ by a constant")
    if nonnegative(difference, knowledge(facts)):
        return Proved(EXACT, "the difference is a sum of nonnegative terms")
    return None
