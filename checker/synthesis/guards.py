"""The tests of loops as distances: how far each comparison is from failing, for the lanes of a warp together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import prod
from typing import Final

from checker import limits
from logic.assertions import MAX_BLOCK, Context, X, conj, opaque
from logic.contracts import elements_in
from logic.facts import MAX_CHAIN, Facts, compared, equations, unfolded, value_where
from logic.polynomials import Rational
from logic.potentials import (
    ZERO,
    Apply,
    Floor,
    Leaf,
    Log2,
    Max0,
    Monomial,
    Poly,
    Sym,
    atom,
    const,
    evaluate,
    is_closed,
    leaves,
    max0,
    of_expr,
    of_terms,
    substitute,
    sym,
    variables,
)
from logic.syntax import GHOST, WARP_INDEX, Const, Expr, Op, Param, Tid, Var, subterms
from logic.typing import Signature

NEAR: Final = limits.UNROLLED * MAX_BLOCK
"""Distances that are said as a number, where a fact does: what few turns of a block go."""


def sized(e: Expr, given: Facts) -> Expr:
    """An expression with the side of each choice that is known, and the numbers that parameters are known to be where
    potentials can say its parts only then, as a division by blockDim.x."""
    match e:
        case Op("&&" | "||" | "!" | "<" | "<=" | ">" | ">=" | "==" | "!=", args):
            return replace(e, args=tuple(sized(a, given) for a in args))
    if is_closed(of_expr(e)):
        return e
    e = _chosen(e, given.numbers)
    known: dict[Leaf, Poly] = {leaf: n for leaf, n in given.constants.items() if isinstance(leaf, Param)}
    if not any(t in known for t in subterms(e)):
        return e
    other = _filled(e, known)
    return other if is_closed(of_expr(other)) else e


def _chosen(e: Expr, known: Mapping[Leaf, int]) -> Expr:
    if not isinstance(e, Op):
        return e
    first = value_where(e.args[0], known) if e.op == "?:" else None
    if first is not None:
        return _chosen(e.args[1 if first else 2], known)
    return replace(e, args=tuple(_chosen(a, known) for a in e.args))


def _filled(e: Expr, known: Mapping[Leaf, Poly]) -> Expr:
    if isinstance(e, Param):
        return Const(int(known[e].constant)) if e in known else e
    return replace(e, args=tuple(_filled(a, known) for a in e.args)) if isinstance(e, Op) else e


def distances(cond: Expr, sigma: Signature) -> Iterator[Poly]:
    """For each integer comparison in the guard, a polynomial that is positive exactly where it holds."""
    return (distance for _, distance in gaps(cond, sigma))


def gaps(cond: Expr, sigma: Signature) -> Iterator[tuple[Expr, Poly]]:
    """The same, each as an expression and as a polynomial."""
    stack = list(conj((cond,), sigma))
    while stack:
        match stack.pop():
            case Op("&&" | "||", args):
                stack.extend(args)
            case Op(("<" | "<=" | ">" | ">=" | "!=") as op, (a, b)) if not opaque(a, sigma) and not opaque(b, sigma):
                p, q = of_expr(a), of_expr(b)
                if p is not None and q is not None:
                    if op in ("<", "<=", "!="):
                        yield _gap(b, a, op), q - p + (1 if op == "<=" else 0)
                    if op in (">", ">=", "!="):
                        yield _gap(a, b, op), p - q + (1 if op == ">=" else 0)


def added(tests: Sequence[tuple[Expr, Poly]], changed: frozenset[str]) -> Iterator[tuple[Op, Poly]]:
    """The sums of two of the gaps, by what other variables that a loop changes they are about: where each turn moves
    one of two counters, as in a merge, only that falls."""
    for (a, p), (b, q) in combinations(tests, 2):
        own, other = variables(p) & changed, variables(q) & changed
        if own and other and not own & other:
            yield Op("+", (a, b)), p + q


def _gap(a: Expr, b: Expr, op: str) -> Expr:
    gap = Op("-", (a, b))
    return Op("+", (gap, Const(1))) if op in ("<=", ">=") else gap


def relaxed(p: Poly) -> list[Poly]:
    """Polynomials that p is at most, with 0 or the argument in place of each max(0, .) that is taken away."""
    for m, c in p.terms:
        match m:
            case (Max0(arg),) if c < 0:
                rest = p - Poly(((m, c),))
                return list(dict.fromkeys((*relaxed(rest), *relaxed(rest + arg * c))))[: limits.RELAXED]
    return [p]


def by_turns(distance: Poly, x: X, facts: Facts) -> Poly | None:
    """The ghost that counts how many turns are left at most, where one does for this distance."""
    for fact in facts:
        match fact:
            case Op("<=", (e, Var(name) as ghost)) | Op("||", (_, Op("<=", (e, Var(name) as ghost)))) if (
                name.startswith(GHOST) and name in x and of_expr(e) == distance
            ):
                return sym(ghost)
    return None


def by_lane(distance: Poly, x: X, facts: Facts) -> Poly:
    """The distance with ghosts, which say what lanes share of a counter, in place of their counters."""
    names = {leaf.name for leaf in leaves(distance) if isinstance(leaf, Var)}
    shared: dict[Leaf, Poly] = {}
    for ghost, e in equations(facts):
        if ghost.name.startswith(GHOST) and ghost.name in x:
            value = of_expr(e)
            for own in sorted(names - {ghost.name}):
                if value is not None and not variables(value - sym(Var(own))):
                    shared[Var(own)] = sym(ghost) - (value - sym(Var(own)))
    return substitute(distance, shared)


def shared_elements(p: Poly, x: X) -> bool:
    """Whether all lanes have the same elements of arrays in a polynomial."""
    inside = {leaf for a in elements_in([p]) for leaf in leaves(a.args[0])}
    return all(isinstance(leaf, Param) or (isinstance(leaf, Var) and leaf.name in x) for leaf in inside)


def by_elements(distance: Poly, facts: Facts) -> Poly | None:
    """A bound of a distance by facts about the elements of arrays in it, with none of them left; None without. One fact
    may speak of all of them, as of rows of a width, or each of some, as where a begin and an end are limited apart."""
    known = [p for p in map(facts.plain, facts.nonnegative) if elements_in([p])]
    while left := elements_in([distance]):
        sums = [(len(elements_in([distance + p])), distance + p) for p in known]
        least = min((count for count, _ in sums), default=len(left))
        if least >= len(left):
            return None
        distance = next(total for count, total in sums if count == least)
    return distance


def uniform_bound(distance: Poly, x: X, facts: Facts) -> Poly | None:
    """A potential that is at least the distance at each lane: itself, or by what P and the block's size bound."""
    if (left := by_turns(distance, x, facts)) is not None:
        return left
    found = _over_lanes(distance, x, facts)
    near = [most for most in (distance + fact for fact in facts.nonnegative) if most.is_constant]
    if near and variables(distance) - x and (found is None or not variables(found)):  # else it falls with each turn
        closest = min(near, key=lambda most: most.constant)
        known = found is not None and found.is_constant and found.constant <= closest.constant
        if closest.constant <= NEAR and not known:
            return closest
    return found


def _over_lanes(distance: Poly, x: X, facts: Facts) -> Poly | None:
    """The largest distance of a lane, by what bounds its variables one by one."""
    distance = by_lane(distance, x, facts)
    plain = facts.plain(distance)
    if not shared_elements(plain, x) and not (elements_in([distance]) and shared_elements(distance, x)):
        covered = by_elements(plain, facts)
        if covered is None:
            return None
        distance = covered
    for _ in range(MAX_CHAIN):
        for name in sorted(variables(distance) - x)[:1]:
            rises = _rises(distance, Var(name))
            bound = None if rises is None else _limit(name, rises, x, facts)
            if bound is None:
                return None
            distance = substitute(distance, {Var(name): bound})
    if variables(distance) - x:
        return None
    distance = by_extremes(distance, facts, most=True)
    last: dict[Leaf, Poly] = {}
    for lane in leaves(distance):
        if isinstance(lane, Tid):
            rises = _rises(distance, lane)
            if rises is None:
                return None
            last[lane] = sym(Param(f"blockDim.{lane.axis}")) - 1 if rises else ZERO
    return substitute(distance, {lane: substitute(p, facts.constants) for lane, p in last.items()})


def by_extremes(distance: Poly, facts: Facts, most: bool) -> Poly:
    """The distance with the most, or the least, that its terms in floors of threadIdx and the like amount to together,
    if nothing else is in them, in their place."""
    known = facts.constants
    whole = substitute(distance, known)
    computed = [t for t in whole.terms if not elements_in([Poly((t,))])]
    odd = of_terms(t for t in computed if not all(isinstance(a, Sym) for a in t[0]))
    lanes = [leaf for leaf in leaves(odd) if isinstance(leaf, Tid)]
    if not lanes:
        return distance
    own = of_terms(t for t in computed if t[0] and leaves(Poly((t,))) <= {*lanes})
    sizes = [int(known.get(Param(f"blockDim.{lane.axis}"), const(MAX_BLOCK)).constant) for lane in lanes]
    if leaves(odd) - {*lanes} or prod(sizes) > MAX_BLOCK:
        return distance
    threads = product(*map(range, sizes))
    values = [evaluate(own, dict(zip(lanes, thread, strict=True))) for thread in threads]
    return whole - own + (max(values) if most else min(values))


def _rises(p: Poly, leaf: Leaf) -> bool | None:
    """Whether p rises with a leaf, or (False) falls, in each of the cases of what max(0, .) are worth where that is
    needed; None where neither. Factors beside the leaf are taken as not negative."""
    signs = {_term_rises(m, c, leaf) for m, c in p.terms if leaf in leaves(Poly(((m, c),)))}
    if len(signs) > 1:
        signs = {_rises(q, leaf) for q in _cases(p, leaf) if leaf in leaves(q)}
    return signs.pop() if len(signs) == 1 else None


def _term_rises(m: Monomial, c: Rational, leaf: Leaf) -> bool | None:
    match m:
        case (Max0(arg),) | (Floor(arg, _),) | (Log2(arg),):
            inside = _rises(arg, leaf)
            return None if inside is None else inside == (c > 0)
        case (Apply("/" | ">>", (p, q)),) if leaf not in leaves(q):
            inside = _rises(p, leaf)
            return None if inside is None else inside == (c > 0)
    return None if any(isinstance(a, Apply) and leaf in leaves(atom(a)) for a in m) else c > 0


def _cases(p: Poly, leaf: Leaf) -> list[Poly]:
    """p with 0 and with the argument in place of a max(0, .) with this leaf; none if there is none."""
    for m, c in p.terms:
        match m:
            case (Max0(arg),) if leaf in leaves(arg):
                rest = p - Poly(((m, c),))
                return [rest, rest + arg * c]
    return []


def _limit(name: str, most: bool, x: X, facts: Facts) -> Poly | None:
    """A bound of a local, from above or from below, by a fact, in terms of threadIdx and what is uniform, else of
    locals."""
    found = None
    for leaf, op, e in compared(facts):
        wanted = leaf == Var(name) and (op == "==" or (op in ("<", "<=")) is most)
        bound = of_expr(e) if wanted else None
        if bound is None or name in variables(bound):
            continue
        bound = bound - (op == "<") + (op == ">")
        if variables(bound) <= x:
            return bound
        found = found or bound
    return found


def in_rows(context: Context) -> bool:
    """Whether blocks are rows of several warps."""
    x, *others = context.launch.block
    return others == [1, 1] and (x is None or x > context.hardware.warp)


def rows_of(context: Context) -> int:
    """How many whole rows of a block each of its warps is, if more than one; else 0."""
    x, y, z = context.launch.block
    rows, rest = divmod(context.hardware.warp, x or 1)
    return rows if x is not None and z == 1 != y and rest == 0 and rows > 1 and context.scope == "warp" else 0


def lane_ends(
    cond: Expr, x: X, context: Context, facts: Facts, sigma: Signature, by_warps: bool = False
) -> list[tuple[Poly, Poly]]:
    """Of the comparisons in a test that lanes may disagree on: how far they are from failing at the lane that is the
    first to fail, and at the last, uniform both; of the lanes of a block, or of a warp where it lies in rows.
    Nothing where that is not seen of one. A guess: the test keeps a warp together while the first of
    all are positive."""
    known, found = facts.constants, list[tuple[Poly, Poly]]()
    along = context.hardware.warp if in_rows(context) else 0
    differing = {leaf: p for leaf, p in facts.definitions.items() if leaf.name not in x}
    for distance in distances(cond, sigma):
        own = unfolded(by_lane(distance, x, facts), differing)
        if variables(own) <= x and not any(isinstance(leaf, Tid) for leaf in leaves(own)):
            continue
        ends = []
        for most in (False, True):
            end = by_extremes(own, facts, most=most)
            lanes = {leaf for leaf in leaves(end) if isinstance(leaf, Tid)}
            at: dict[Leaf, Poly] = {}
            for lane in lanes:
                rate = next((c for m, c in end.terms if m == sym(lane).terms[0][0]), None)
                if rate is None:
                    return []
                size = 0 if not by_warps else {"x": along, "y": rows_of(context)}.get(lane.axis, 0)
                low = sym(Param(WARP_INDEX)) * size
                high = low + (size - 1) if size else sym(Param(f"blockDim.{lane.axis}")) - 1
                at[lane] = low if (rate > 0) != most else high
            ends.append(substitute(substitute(end, at), known))
        first, last = ends
        if not variables(first) <= x:
            return []
        found.append((first, last))
    return found


def some(distance: Poly) -> Poly:
    """1 where the distance is positive, else 0."""
    return const(1) - max0(const(1) - max0(distance))
