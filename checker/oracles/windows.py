"""Windows: an index that differs between lanes is at most so much more than one that they share, as facts and contracts
on data say: x[col[j]] where col[j] is in a tile, or where neighbours in col are at most 1 apart; or as it is clamped:
h[min(max(v, 0), 3)].
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice, product
from math import ceil, floor, gcd
from typing import Final

from checker.oracles import farkas, known
from checker.oracles.extents import extent
from checker.oracles.instances import instances, with_ends
from checker.oracles.terms import with_fresh
from logic.assertions import Context, P, X, abstracted
from logic.comparisons import as_expr, differences
from logic.contracts import elements_in
from logic.polynomials import Rational, over
from logic.potentials import (
    ZERO,
    Atom,
    Floor,
    Leaf,
    Poly,
    Sym,
    atom,
    const,
    floor_div,
    leaves,
    of_expr,
    substitute,
    sym,
)
from logic.syntax import WARP_INDEX, Const, Expr, Op, Param, Tid, Var, reads_array, replace_part, subterms

MOST: Final = 6
"""The most beginnings that are looked at, of the most ways to write an index."""

QUOTIENT: Final = "quotient:"
"""The prefix of variables that stand for quotients: no name in a program has a colon."""

ROUNDS: Final = 4
"""Variables in an index, one after the other, in whose place stands what they are."""


def windows(index: Expr, p: P, x: X, context: Context, most: int, part: bool = False) -> Iterator[tuple[Expr, int]]:
    """Indices that lanes share, each with how much more theirs may be at most; no more than `most`. Where threadIdx
    alone tells an index, lanes see through it, but not through a sum that it is a `part` of."""
    yield from _near(index, p, x, context, most, part)
    yield from _clamped(index, p, x, context, most)


def _near(index: Expr, p: P, x: X, context: Context, most: int, part: bool) -> Iterator[tuple[Expr, int]]:
    """Those that begin with what lanes share of an index, and the ends of what else there is in it."""
    match index:
        case Op("/", (dividend, Const(int() as k, _) as divisor)) if k > 0:
            # quotients are no farther apart, or closer
            for e, span in _near(dividend, p, x, context, most * k, part):
                yield Op("/", (e, divisor)), -(-span // k)
            return
    if (found := _in_parts(index, p, x, context, most)) is not None:
        yield found
    have = None
    for whole, start in beginnings(index, p, x, context, part):
        have = have or known.given(p, context)
        low, beyond = as_expr(start, bases=True), _least(start - whole, have)
        if low is None or beyond is None or ceil(-beyond) > most:
            continue
        below = _least(whole - start, have)
        if below is not None and below >= 0:
            yield low, floor(-beyond)


def _clamped(index: Expr, p: P, x: X, context: Context, most: int) -> Iterator[tuple[Expr, int]]:
    """The windows of an index, and of the same with what P says that one of its variables is, by what lanes have of
    their own in it."""
    whole = abstracted(index, with_fresh(context.sigma, (*p, index)))
    told = ((f.args[0], f.args[1]) for f in p if isinstance(f, Op) and f.op == "==" and isinstance(f.args[1], Op))
    same = [replace_part(whole, v, e) for v, e in told if isinstance(v, Var) and v.name not in x]
    sized = None not in context.launch.block  # then lanes see through what threadIdx alone tells
    seen = sized and any(_of_threads(e, x) for e in same)
    for e in () if seen else dict.fromkeys((whole, *same)):
        if any((isinstance(t, Var) and t.name not in x) or (isinstance(t, Tid) and not sized) for t in subterms(e)):
            found = extent(e, p, partial(_own, x=x), context)
            if found is not None and found[2] - found[1] <= most:
                shared, low, high = found
                start = as_expr(shared + low, bases=True)
                if start is not None:
                    yield start, high - low


def _of_threads(e: Expr, x: X) -> bool:
    """Whether an expression says what an index is by threadIdx and what lanes share."""
    return not reads_array(e) and all(t.name in x for t in subterms(e) if isinstance(t, Var))


def _in_parts(index: Expr, p: P, x: X, context: Context, most: int) -> tuple[Expr, int] | None:
    """The window of a sum of quotients, rests and what else there is, from those of its parts: of 36 * (i / 32) +
    i % 32, which is 4 * (i / 32) + i. None where a part has none."""
    quotients: dict[Expr, Var] = {}
    whole = of_expr(_without(index, quotients))
    if whole is None or not quotients:
        return None
    shares = {v: dict(whole.terms).get((Sym(v),), 0) for v in quotients.values()}
    rest = whole - sum((sym(v) * c for v, c in shares.items()), ZERO)
    other = as_expr(rest, bases=True)
    if other is None or leaves(rest) & shares.keys():
        return None
    start, total = None, 0
    for e, c in ((other, 1), *((e, int(shares[v])) for e, v in quotients.items())):
        found = _narrowest(e, p, x, context, most)
        if found is None:
            return None
        low, span = found
        term: Expr = low if c == 1 else Op("*", (Const(c), low))
        term = Op("-", (term, Const(-c * span))) if c * span < 0 else term
        start, total = term if start is None else Op("+", (start, term)), total + abs(c) * span
    return None if start is None or total > most else (start, total)


def _narrowest(e: Expr, p: P, x: X, context: Context, most: int) -> tuple[Expr, int] | None:
    """The first window of e; e itself where lanes share it."""
    whole = of_expr(abstracted(e, with_fresh(context.sigma, (*p, e))))
    if whole is not None and not _own(whole, x):
        return e, 0
    return next(windows(e, p, x, context, most, part=True), None)


def _without(e: Expr, quotients: dict[Expr, Var]) -> Expr:
    """e with variables for quotients by numbers, which are added: a / k is one, and a % k is a - k * (a / k)."""
    match e:
        case Op("/" | "%" as op, (a, Const(int() as k, _) as divisor)) if k > 0:
            v = quotients.setdefault(Op("/", (a, divisor)), Var(f"{QUOTIENT}{len(quotients)}"))
            return v if op == "/" else Op("-", (a, Op("*", (divisor, v))))
        case Op("+" | "-" | "*" as op, args):
            return Op(op, tuple(_without(a, quotients) for a in args))
    return e


def _least(p: Poly, have: known.Given) -> Rational | None:
    """The least that a polynomial may be, by facts and as all of its terms are multiples of a number."""
    found, rest = farkas.least(p, have), p - p.constant
    apart = gcd(*(c.numerator for _, c in rest.terms)) if _whole(rest) else 1
    if found is None or apart < 2:
        return found
    return ceil(over(found - p.constant, apart)) * apart + p.constant


def _whole(p: Poly) -> bool:
    return all(c.denominator == 1 for _, c in p.terms)


def beginnings(index: Expr, p: P, x: X, context: Context, part: bool = False) -> Iterator[tuple[Poly, Poly]]:
    """The index, each time with what lanes share and may be the least that it is: with the first of threadIdx.x in the
    warp in its place, and the ends of what else differs."""
    whole = of_expr(abstracted(index, with_fresh(context.sigma, (*p, index))))
    if whole is None or not _own(whole, x):
        return
    told = [q for e in p for q, _ in differences(e)]
    equal = [q for e in p if isinstance(e, Op) and e.op == "==" for q, _ in islice(differences(e), 1)]
    found: dict[Poly, None] = {}
    for q in _written(whole, equal, x):
        spoken = with_ends(context.launch.contracts, (*elements_in([q]), *elements_in(told)))
        said = [*told, *(one.poly for one in instances(context.launch.contracts, spoken))]
        ways = (_least_of(a, c, said, x, context) for m, c in q.terms for a in m[:1] if _own(atom(a), x))
        mine = [m for m, _ in q.terms if any(_own(atom(a), x) for a in m)]
        if any(len(m) != 1 for m in mine):
            continue
        if not (part or _named(q, x) or any(_own(atom(a), x) for a in elements_in([q]))):
            continue  # lanes see through what threadIdx alone tells
        for chosen in islice(product(*ways), MOST):
            start = q
            for m, end in zip(mine, chosen, strict=True):
                start += (end - atom(m[0])) * dict(q.terms)[m]
            found[start] = None
    yield from ((whole, start) for start in islice(found, MOST))


def _own(p: Poly, x: X) -> set[Leaf]:
    """The leaves that lanes have of their own."""
    return {leaf for leaf in leaves(p) if isinstance(leaf, Tid) or (isinstance(leaf, Var) and leaf.name not in x)}


def _named(p: Poly, x: X) -> set[Leaf]:
    """Of these, the variables."""
    return {leaf for leaf in _own(p, x) if isinstance(leaf, Var)}


def _written(p: Poly, equal: list[Poly], x: X) -> Iterator[Poly]:
    """p, and p with what variables of lanes' own are by equations, one after the other."""
    yield p
    done: set[Leaf] = set()
    for _ in range(ROUNDS):
        mine = _named(p, x) - done
        ways = ((leaf, value) for leaf in sorted(mine, key=str) for value in _values(leaf, equal, x))
        # what says it by threadIdx alone comes first, then what has no variable of lanes' own
        best = min(ways, key=lambda way: len(_named(way[1], x)), default=None)
        if best is None:
            return
        done.add(best[0])
        p = substitute(p, {best[0]: best[1]})
        yield p


def _values(leaf: Leaf, equal: list[Poly], x: X) -> Iterator[Poly]:
    """The values of a variable by equations."""
    for q in equal:
        c = dict(q.terms).get((Sym(leaf),), 0)
        value = sym(leaf) - q * c if abs(c) == 1 else sym(leaf)
        if leaf not in leaves(value):
            yield value


def _least_of(a: Atom, sign: Rational, said: list[Poly], x: X, context: Context) -> list[Poly]:
    """The ends that lanes share of an atom, the lower ones; the upper ones for a negative sign."""
    at_first = substitute(atom(a), {Tid("x"): _first(context)})
    ends = [] if _named(at_first, x) or (sign < 0 and isinstance(a, Sym)) else [at_first]
    for q in said:
        c = dict(q.terms).get((a,), 0)
        if c * sign > 0 and not _own(rest := q - atom(a) * c, x):
            if c in (1, -1):
                ends.append(rest * -c)
            elif isinstance(a, Sym) and _whole(q):
                step = abs(c.numerator)  # of c * i >= n, rounded
                ends.append(floor_div(const(step - 1) - rest, step) if c > 0 else floor_div(rest, step))
    return [*dict.fromkeys(ends)]


def _first(context: Context) -> Poly:
    """The first threadIdx.x in a row of a warp's threads."""
    size, (x, *others) = context.hardware.warp, context.launch.block
    if x is not None and x <= size:
        return const(0)
    if others == [1, 1] and context.scope == "warp":
        return sym(Param(WARP_INDEX)) * size
    return atom(Floor(sym(Tid("x")), size)) * size
