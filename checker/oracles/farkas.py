"""Arithmetic proofs: exact certificates for `P |- P'` and `Q >= Q'`, which a checker verifies by adding up polynomials.

A goal is a nonnegative rational combination of products of facts (Farkas, Handelman), after splitting on the sign of
what stands inside max(0, .). An LP finds the coefficients, exactly. docs/certificate.md describes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, combinations_with_replacement, takewhile
from math import ceil, floor, gcd, lcm
from typing import Any, Final

from checker.oracles import lp
from checker.oracles.factors import is_factor, mixed, named, nearest, parts, pays, shared, ways
from checker.oracles.instances import by_depth
from checker.oracles.known import Fact, Given, given, stated
from checker.oracles.laws import laws
from checker.oracles.maxima import innermost, middle, outer, replaced
from checker.oracles.products import Because, Rows, products_with
from checker.oracles.programs import Program, Row
from checker.oracles.steps import pieces, positive_divisors, termwise
from checker.oracles.terms import choosing, first_choice, numeric, truths, with_fresh
from logic.assertions import AtLeast, Context, Entails, Obligation, P, assume, conj
from logic.comparisons import differences
from logic.contracts import elements_in
from logic.polynomials import Rational, over
from logic.potentials import (
    OPERATED,
    ZERO,
    Apply,
    Atom,
    Floor,
    Log2,
    Max0,
    Poly,
    Sym,
    atom,
    atoms,
    const,
    leaves,
    log2,
)
from logic.syntax import TRUE, Const, Expr, Op, replace_part
from logic.terms_as_json import expression, potential

Json = Any

Seen = Callable[[P, Expr, Context], bool]
"""Whether the checker of proofs sees by itself that P implies a goal."""

MAX_SPLITS: Final = 5
"""Signs that are split on, one after the other, on the way to a proof."""

FEW_SPLITS: Final = 2
"""The same, for a short proof: a solver, which is asked next, takes longer than for so many, and less than for more."""

MAX_FACTORS: Final = 12
"""Facts any two of which are multiplied in one proof. How many products of leaves are looked at besides is
`products.MAX_PRODUCTS`."""

CHOICES: Final = ("?:", "||"), ("int",)
"""The choices that proofs split: a ? b : c and a || b before truth values as numbers."""

MAX_CUBED: Final = 8
"""Facts any three of which are multiplied, where the goal has products of three: 120 products."""

MAX_CHOICES: Final = 3
"""Choices that are split on, one after the other, on the way to a proof."""

NEAR: Final = 3
"""Times that facts are followed to those that they share leaves with, for what a law needs."""

MAX_RATE: Final = 6
"""Logarithms that differ by more are not compared."""

MAX_EXPONENT: Final = 50
"""Logarithms with larger numbers are not compared."""

MAX_KEPT: Final = 2**14
"""Linear programs whose solutions are kept: two of three are asked for again, by other questions."""

MAX_LISTS: Final = 2**9
"""How many lists of products of facts are kept."""

NEVER: Final = Op("<", (Const(0), Const(0)))
"""The goal of a contradiction: what the second checker is shown besides, and then sees everything."""


def _told(elements: tuple[Apply, ...], have: Iterable[Fact], shown: list[Fact]) -> Iterator[Fact]:
    """The facts by contracts on elements, as far as what is shown, and then these, puts indices in their ranges."""
    for group in by_depth(one for f in have if f.told is not None for one in f.told(elements)):
        needs = _needed({p for one in group for p in one.needs}, shown)
        rows = [(one, [needs[p] for p in one.needs]) for one in group]
        found = [Fact(one.poly, [*one.name, because]) for one, because in rows if None not in because]
        yield from found
        shown = [*shown, *found]


def _needed(needs: Iterable[Poly], have: list[Fact]) -> dict[Poly, Json]:
    """Combinations of facts, also with the products that say what is in one: y*gx >= 0 for cell == y*gx + x."""
    near = {x for f in have if mixed([f.poly]) for x in leaves(f.poly)}
    return {p: _combination(p, have, more=_products(p, have) if leaves(p) & near else ()) for p in needs}


def proof(obligation: Obligation, context: Context, seen: Seen | None = None) -> Json:
    """An arithmetic proof of the obligation, or None where there is none of this form (or none was found). What is
    `seen` anyway needs none."""
    match obligation:
        case AtLeast(p, _, q, r):
            return _trivial(q - r) or _shown(q - r, given(p, context))
        case Entails(p, goal):
            return entails(p, goal, context, seen)
    return None


def soon(obligation: AtLeast | Entails, context: Context) -> bool:
    """Whether a proof that is found within milliseconds shows an obligation: one of few cases, and for what P implies
    one without any."""
    have = given(obligation.p, context)
    match obligation:
        case AtLeast(_, _, q, r):
            facts = [f for f in have.facts if f.apart is None]
            return prove(have.with_values(q - r), facts, MAX_SPLITS - FEW_SPLITS) is not None
        case Entails(_, goal):
            each = [[have.with_values(p) for p in _sides(g, context)] for g in goal]
            return all(each) and all(_trivial(p) or _sum(p, _relevant(p, have.facts)) for p in chain(*each))


def least(poly: Poly, have: Given, again: bool = True) -> Rational | None:
    """The most that the facts show a polynomial to be at least, as a combination of them. `again` as in `lp.solve`."""
    poly = have.with_values(poly)
    return _least(poly, _relevant(poly, have.facts), again)


def plain(goal: Poly, have: Given) -> Json:
    """A proof of goal >= 0 without any cases, or None."""
    return have.without_values(prove(have.with_values(goal), have.facts, MAX_SPLITS), goal)


def absurd(have: Given) -> Json:
    """A proof that the facts contradict each other, as a combination of them, or None."""
    return have.without_values(_sum(const(-1), _relevant(ZERO, have.facts)), ZERO)


def entails(
    p: P,
    goal: P,
    context: Context,
    seen: Seen | None = None,
    choices: int = MAX_CHOICES,
    steps: Callable[[Given], Iterable[Poly]] = lambda _: (),
) -> Json:
    """Proofs of the goals that the second checker does not see by itself, or None where one has none. `steps` are what
    is shown to be nonnegative first, where that can be, for a goal that has no proof else."""

    @cache
    def have() -> Given:
        return given(p, context)

    def proved(polys: Iterable[Poly]) -> Json:
        """Proofs that all are nonnegative, of one at least; or None."""
        proofs = [_shown(poly, have()) or _stepped(poly, steps(have()), have()) for poly in polys]
        return proofs if proofs and None not in proofs else None

    told, entries = stated(p, context), []
    for g in goal:
        if g in told:
            continue
        polys = _sides(g, context)
        linear = all(isinstance(a, Sym) for poly in polys for a in atoms(poly))
        proofs = proved(polys) if linear else None
        if proofs is None and (apart := _apart(g, proved)) is not None:
            entries.append(apart)
            continue
        if proofs is None and seen is not None and seen(p, g, context):
            continue
        if proofs is None and not linear:
            proofs = proved(polys)
        entry: Json = {"goal": expression(g), "by": proofs}
        if proofs is None and (entry := _by_choices(p, g, context, seen, choices)) is None:
            if (contradiction := absurd(have())) is not None:
                return [{"goal": expression(NEVER), "by": [contradiction]}]
            either = (f for f in p if isinstance(f, Op) and f.op == "||")
            entry = _by_fact(either, p, g, context, seen, min(choices, 1))
        if entry is None:
            return None
        entries.append(entry)
    return entries


def _sides(goal: Expr, context: Context) -> list[Poly]:
    """The polynomials that are nonnegative where a comparison of numbers holds; none for another goal."""
    return [p for p, _ in differences(goal)] if goal != TRUE and numeric(goal, truths(context.sigma)) else []


def _apart(goal: Expr, proved: Callable[[Iterable[Poly]], Json]) -> Json:
    """An entry that shows that one side of a != b is less than the other; None without one."""
    match goal:
        case Op("!=", sides):
            ways = ((e, proved(p for p, _ in differences(e))) for e in (Op("<", sides), Op(">", sides)))
            return next(({"goal": expression(e), "by": proofs} for e, proofs in ways if proofs is not None), None)
    return None


def _by_choices(p: P, goal: Expr, context: Context, seen: Seen | None, left: int) -> Json:
    """An entry that shows a goal by its first choice, or by that of a fact that has to do with it; None without one."""
    if (cases := _by_choice(p, goal, context, seen, left)) is not None:
        return {"goal": expression(goal), "if": cases}
    return _by_fact(choosing(goal, p, context.sigma), p, goal, context, seen, left)


def _by_fact(facts: Iterable[Expr], p: P, goal: Expr, context: Context, seen: Seen | None, left: int) -> Json:
    """An entry that shows a goal by the first choice of one of some facts; None without one."""
    for fact in facts:
        # a choice in front of the goal: in its cases, the fact is what is left of it there
        both = Op("&&", (fact, goal))
        if (cases := _by_choice(p, both, context, seen, left)) is not None:
            return {"goal": expression(both), "if": cases}
    return None


def _by_choice(p: P, goal: Expr, context: Context, seen: Seen | None, left: int) -> Json:
    """A proof for what each outcome of the first choice in a goal, from the outside, makes of it: of a ? b : c, or of
    a || b, else of a truth value as a number. None without one, or where no more are left."""
    sigma, cases = with_fresh(context.sigma, (*p, goal)), []
    for holds, side, choice, test in first_choice(goal, *CHOICES) if left else ():
        here = conj((replace_part(goal, choice, side),), sigma)
        case_p = assume(tuple(replace_part(f, choice, side) for f in p), test, sigma, holds)
        case = entails(case_p, here, context, seen, left - 1)
        if case is None:
            return None
        cases.append(case)
    return cases or None


def _shown(goal: Poly, have: Given) -> Json:
    """An arithmetic proof of goal >= 0 from what is given, or None."""
    whole = have.with_values(goal)
    proof = have.without_values(_prove(whole, have.facts), goal) or _stepped(goal, pieces(whole), have)
    if proof is not None or (deeper := have.defined(whole)) is None:
        return proof
    return deeper.without_values(_prove(deeper.with_values(goal), deeper.facts), goal)


def _stepped(goal: Poly, steps: Iterable[Poly], given: Given) -> Json:
    """A proof of goal >= 0 that shows steps first, each as a split of which the other side cannot be; or None."""
    return given.without_values(
        _step_by_step(given.with_values(goal), map(given.with_values, steps), given.facts), goal
    )


def _step_by_step(goal: Poly, steps: Iterable[Poly], facts: list[Fact], first: int = 0) -> Json:
    """The same where all is put, in so many cases."""
    shown: list[tuple[Poly, Json]] = []
    for step in steps:
        depth, about = first + len(shown), _relevant(step, facts)
        no = prove(const(-1), [*(f for f in facts if f in about), Fact(step * -1 - 1, ["case", depth])], 0, depth + 1)
        if no is not None:
            shown.append((step, no))
    have = [*facts, *(Fact(step, ["case", first + i]) for i, (step, _) in enumerate(shown))]
    proof = prove(goal, have, depth=first + len(shown)) if shown else None
    for step, no in reversed(shown):
        proof = proof and {"split": potential(step), "yes": proof, "no": no}
    return proof


def _prove(goal: Poly, have: list[Fact]) -> Json:
    """The same where all is put: from the facts as they are, or with each max(0, .) in them whose sign they tell, as
    that of threadIdx, settled first; or that the facts contradict each other."""
    whole, wanted = have, goal
    have = [f for f in have if f.apart is None]
    # these come first: as it is, a product is split into many cases before it is given up
    tried = (prove(product, [*(Fact(*f) for f in factors), *have]) for product, factors in ways(goal))
    found = next(filter(None, tried), None) or prove(goal, have)
    if found is not None:
        return found
    first: list[tuple[Poly, str, Json]] = []
    todo = dict.fromkeys(on for f in _relevant(goal, have) for on in innermost(f.poly))
    for on in todo:
        if (sign := _sign(on, have)) is not None:
            value = on if sign[0] == "arg" else ZERO
            goal, have = replaced(goal, on, value), _after(have, on, value)
            first.append((on, *sign))
    found = _surely(first, goal, have) if first else None
    if found is None and (positive := positive_divisors((goal, *(f.poly for f in have)))):
        found = _surely(first, goal, have, positive)
    found = found or _sum(const(-1), _relevant(ZERO, whole)) or _told_apart(wanted, whole)
    tried = (prove(product, [*(Fact(*f) for f in factors), *whole]) for product, factors in shared(wanted))
    return found or next(filter(None, tried), None)


def _told_apart(goal: Poly, have: list[Fact]) -> Json:
    """The same from what differs by the facts, first of all where they tell which is the larger; None without any."""
    first: list[tuple[Poly, str, Json]] = []
    unequal = [f for f in have if f.apart is not None and not f.apart.is_constant]  # no proof splits on a number
    for f in unequal:
        on = f.apart or ZERO
        if (sign := _sign(on, have)) is not None:
            value, case = (on, on) if sign[0] == "arg" else (ZERO, on * -1)
            goal, have = replaced(goal, on, value), _after(have, on, value)
            have.append(Fact(case - 1, ["apart", f.name, len(first)]))
            first.append((on, *sign))
    return _surely(first, goal, have) if unequal else None


def _surely(first: Sequence[tuple[Poly, str, Json]], goal: Poly, have: list[Fact], steps: Sequence[Poly] = ()) -> Json:
    """A proof after signs that are settled, which goal and facts show already, and by steps, where there are some."""
    if steps:
        found = _step_by_step(goal, steps, have, len(first))
    else:
        found = prove(goal, have, depth=len(first), done=frozenset(p for on, _, _ in first for p in (on, on * -1)))
    for depth, (on, name, because) in reversed([*enumerate(first)]):
        found = found and _sure(on, name, because, found, depth)
    return found


def _named(a: Atom, have: list[Fact]) -> Json:
    """The certificate's name of a max(0, .), or a factor, of which there is a fact."""
    return named(a) or {f.poly: f.name for f in have}[atom(a)]


def prove(goal: Poly, have: list[Fact], cases: int = 0, depth: int = 0, done: frozenset[Poly] = frozenset()) -> Json:
    """An arithmetic proof of goal >= 0 from the facts, or None. `cases` are those that it is split in already, `depth`
    is the number of the next case in the proof. A max(0, on) with `on` in `done` had its value put in its place before
    it came up again: there is none of it in the proof's sums, so it is settled again."""
    if found := _trivial(goal):
        return found
    if done:
        have = [f for f in have if not any(isinstance(a, Max0) and a.arg in done for a in atoms(f.poly))]
        for on in innermost(goal):
            if on in done and (sign := _sign(on, have)) is not None:
                return _settled(on, *sign, goal, have, cases, depth, done)
        if any(isinstance(a, Max0) and a.arg in done for a in atoms(goal)):
            return None
    if termwise(goal):
        return {"sum": [[str(c), [_named(a, have) for a in m]] for m, c in goal.terms]}
    for on in outer(goal) if cases < MAX_SPLITS else ():
        if all(termwise(replaced(goal, on, value)) for value in (on, ZERO)):
            return _split(on, goal, have, cases, depth, done)
    inside = innermost(goal)
    for on in inside:
        if (sign := _sign(on, have)) is not None:
            return _settled(on, *sign, goal, have, cases, depth, done)
    if inside and cases < MAX_SPLITS:
        on = middle(inside)
        return _split(_dividend(on, done) or on, goal, have, cases, depth, done)
    relevant = _relevant(goal, have)
    if (combination := _by_factors(goal, relevant)) is not None:
        return {"sum": combination}
    if (contradiction := _sum(const(-1), relevant)) is not None:
        return contradiction
    longer = () if inside else _products(goal, relevant)
    quotients = not inside and _quotients(goal)
    for wanted in ((goal, const(-1)) if quotients else (goal,)) if longer else ():
        if (combination := _combination(wanted, relevant, more=longer)) is not None:
            return {"sum": combination}
    long = not inside and mixed(f.poly for f in relevant)
    if long and (combination := _by_factors(goal, relevant, products=True)) is not None:
        return {"sum": combination}
    if cases >= MAX_SPLITS:
        return None
    for on in dict.fromkeys(on for f in relevant for on in innermost(f.poly) if on not in done):
        sign = _sign(on, have)
        if sign is None:
            return _split(on, goal, have, cases, depth, done)
        return _settled(on, *sign, goal, have, cases, depth, done)
    for arg in dict.fromkeys(a.arg for a in atoms(goal) if isinstance(a, Log2)):
        if _combination(arg - 1, relevant) is None and _combination(arg * -1, relevant) is None:
            return _split(arg - 1, goal, have, cases, depth, done)  # log2 is 0 for all that is less than 1
    split = _rounded(goal, relevant) or _unequal_to(goal, have, done)
    if split is None and quotients:  # that it is less contradicts what a product says
        split = next((fall for fall in _falls(goal) if fall not in done), None)
    return None if split is None else _split(split, goal, have, cases, depth, done)


def _trivial(goal: Poly) -> Json:
    """A proof for a number, which needs no facts, or None."""
    whole = goal.is_constant and goal.constant >= 0
    return {"sum": [[str(goal.constant), []]] if goal.terms else []} if whole else None


def _sign(on: Poly, have: list[Fact]) -> tuple[str, Json] | None:
    """Whether the facts settle max(0, on) as its argument or as zero, and why."""
    relevant = _relevant(on, have)
    for products in (False, True) if mixed(f.poly for f in relevant) else (False,):
        for name, side in (("arg", on), ("zero", on * -1)):
            because = _combination(side, relevant, products)
            if because is not None:
                return name, because
    return None


def _unequal_to(goal: Poly, have: list[Fact], done: frozenset[Poly]) -> Poly | None:
    """A difference that is not 0 by a fact about leaves of the goal, and no case of the proof already."""
    found = (f.apart for f in have if f.apart is not None and f.apart not in done)
    return next((p for p in found if {*leaves(p)} & {*leaves(goal)} and not innermost(p)), None)


def _settled(
    on: Poly, name: str, because: Json, goal: Poly, have: list[Fact], cases: int, depth: int, done: frozenset[Poly]
) -> Json:
    """A proof that goes on with the value of max(0, on) in its place."""
    value = on if name == "arg" else ZERO
    then = prove(replaced(goal, on, value), _after(have, on, value), cases, depth + 1, done | {on, on * -1})
    return None if then is None else _sure(on, name, because, then, depth)


def _sure(on: Poly, name: str, because: Json, then: Json, depth: int) -> Json:
    """A split of which one side cannot be: with what is at most -1 there, and at least 0, the facts come to -1."""
    no = {"sum": [*because, ["1", [["case", depth]]]]}
    return {"split": potential(on if name == "arg" else on * -1), "yes": then, "no": no}


def _rounded(goal: Poly, have: list[Fact]) -> Poly | None:
    """A polynomial that the facts let be negative over the rationals only: the goal over its common factor, rounded, or
    f - n or n - f for a floor f in the goal or in the facts, or what a fact has multiples of, or f for one of
    products."""
    for part in parts(goal).values():
        whole = _whole(part)
        low = _least(whole, have) or 0
        if low.denominator != 1 and (-1 < low < 0 or pays(f.poly for f in have)):
            return whole - ceil(low)
    found: list[Atom] = [a for p in (goal, *(f.poly for f in have)) for a in atoms(p) if isinstance(a, Floor)]
    for m, c in (term for f in have for term in f.poly.terms):
        found += [a for a in m if isinstance(a, Sym) and len(m) == 1 and not -1 <= c <= 1]
    for a in dict.fromkeys(found):
        for sign in (1, -1):
            f = atom(a) * sign
            least = _least(f, have)
            if least is not None and least.denominator != 1:
                return f - ceil(least)
            if least is None and sign == 1 and isinstance(a, Floor) and _of_product(a, have):
                return f
    return None


def _quotients(p: Poly) -> bool:
    """Whether there are quotients by no number in p."""
    return any(isinstance(a, Apply) and a.op == "/" for a in atoms(p))


def _falls(goal: Poly) -> Iterator[Poly]:
    """Differences of quotients by no number in a goal, less 1, and the sums that they are in."""
    for factors, part in parts(goal).items():
        apart = Poly(tuple((m, c) for m, c in part.terms if _quotients(Poly(((m, 1),)))))
        if apart.terms and (factors or apart != part - part.constant):
            yield _whole(apart) - 1
        if apart.terms:
            yield _whole(part)


def _dividend(p: Poly, done: frozenset[Poly]) -> Poly | None:
    """The dividend of a quotient p by no number, whose sign says that of p, unless it is told already."""
    match p.terms:
        case (((Apply("/", (Poly() as dividend, _)),), 1),) if not {dividend, dividend * -1} & done:
            return dividend
    return None


def _whole(p: Poly) -> Poly:
    """p over what its coefficients have in common, its constant rounded down: nonnegative where p is."""
    size = over(lcm(*(c.denominator for m, c in p.terms if m)), gcd(*(c.numerator for m, c in p.terms if m)) or 1)
    return (p - p.constant) * size + floor(p.constant * size)


def _of_product(a: Floor, have: list[Fact]) -> bool:
    """Whether a floor of products is nonnegative as these are, and nothing says so yet, or that it is not."""
    products = any(len(m) > 1 for m, _ in a.arg.terms)
    return products and _solution(atom(a) * -1 - 1, have) is None and _solution(a.arg, have) is not None


def _least(f: Poly, have: list[Fact], again: bool = True) -> Rational | None:
    """The largest t such that f - t is a nonnegative combination of the facts. `again` as in `lp.solve`."""
    return _most(f, tuple(fact.poly for fact in have), again)


@lru_cache(maxsize=MAX_KEPT)
def _most(f: Poly, have: tuple[Poly, ...], again: bool) -> Rational | None:
    program = _program(f, (const(1), *have))
    program.objective = {"0": -1}
    program.free = {"0"}
    solution = lp.solve(program, again)
    return None if solution is None else solution.get("0", 0)


def _split(on: Poly, goal: Poly, have: list[Fact], cases: int, depth: int, done: frozenset[Poly]) -> Json:
    """Two cases: `on` is nonnegative, or not, which is at most -1; max(0, on) is replaced by its value in each. What is
    not 0 is at least 1 in the first one."""
    sides, settled = {}, done | {on, on * -1}
    for side, fact, value in (("yes", on, on), ("no", on * -1 - 1, ZERO)):
        case = [Fact(replaced(fact, on, value), ["case", depth])]
        if side == "yes":
            other = (f for f in have if f.apart in (on, on * -1))
            case += [Fact(replaced(on - 1, on, value), ["apart", f.name, depth]) for f in other]
        here = [*_after(have, on, value), *case]
        sides[side] = prove(replaced(goal, on, value), here, cases + 1, depth + 1, settled)
        if sides[side] is None:
            return None
    return {"split": potential(on), **sides}


def _after(have: list[Fact], on: Poly, value: Poly) -> list[Fact]:
    """The facts with the value of max(0, on) in its place."""
    return [f if (p := replaced(f.poly, on, value)) is f.poly else replace(f, poly=p) for f in have]


def _relevant(goal: Poly, have: list[Fact]) -> list[Fact]:
    """Facts that share leaves with the goal, directly or through others, or have none; what max, floor say of it."""
    told = (one.poly for f in have if f.told is not None for one in f.told(elements_in([goal])))
    near = {x for p in (goal, *told) for x in leaves(p)}
    chosen: dict[int, Fact] = {}
    for _ in range(4):
        for i, f in enumerate(have):
            if i not in chosen and (not near or leaves(f.poly) & near):
                chosen[i] = f
        grown = {x for f in chosen.values() for x in leaves(f.poly)}
        if grown <= near:
            break
        near |= grown
    own = [(i, f) for i, f in enumerate(have) if f.told is None and f.apart is None]
    found = [f for i, f in own if i in chosen or leaves(f.poly) <= near]
    inside = dict.fromkeys(a for p in (goal, *(f.poly for f in found)) for a in atoms(p))
    for a in inside:
        match a:
            case Max0(arg):
                found.append(Fact(atom(a), ["max0", potential(arg)]))
                found.append(Fact(atom(a) - arg, ["above", potential(arg)]))
            case Floor(arg, k):
                found.append(Fact(arg - atom(a) * k, ["low", potential(arg), k]))
                found.append(Fact(atom(a) * k - arg + (k - 1), ["high", potential(arg), k]))
            case Log2(arg):
                found.append(Fact(atom(a), ["log2", potential(arg)]))
    args = list(dict.fromkeys(a.arg for a in atoms(goal) if isinstance(a, Log2)))
    found += (law for a in inside if isinstance(a, Apply) and a.op in OPERATED for law in _lawful(a, tuple(found)))
    found += [*_told(elements_in((goal, *(f.poly for f in found))), have, found)]
    return [*found, *_logarithms(args, found)] if args else found


def _lawful(a: Apply, have: tuple[Fact, ...]) -> Iterator[Fact]:
    """The facts by laws on an operator's value, as far as other facts show what is needed: each is looked for once, and
    not that p is at most 0 where it is known to be at least that."""
    found: dict[Poly, Json] = {}

    def because_of(need: Poly) -> Json:
        if need not in found:
            found[need] = None if found.get(need * -1) is not None else _sooner(need, have)
        return found[need]

    for name, poly, needs in laws(a):
        because = [because_of(need) for need in needs]
        if None not in because:
            yield Fact(poly, ["law", a.op, name, *map(potential, a.args), because])


def _sooner(goal: Poly, have: Iterable[Fact]) -> Json:
    """A combination of the facts that share leaves with a goal; or of those that share some with these, too, as what
    says where idx and tx are, for an idx that is blockIdx.x * 256 + tx; or with products in them, as of a step that is
    gridDim.x * size."""
    near, about = {*leaves(goal)}, list[Fact]()
    for _ in range(NEAR):
        about = [f for f in have if near.intersection(leaves(f.poly))]
        if (found := _combination(goal, about)) is not None:
            return found
        if (more := {x for f in about for x in leaves(f.poly)}) <= near:
            break
        near |= more
    own = [f for f in about if not isinstance(f.name, list) or f.name[:1] != ["law"]]
    long = any(len(m) > 1 for p in (goal, *(f.poly for f in own)) for m, _ in p.terms)
    return _combination(goal, own, more=_products(goal, own)) if long else None


def _logarithms(args: list[Poly], have: list[Fact]) -> Iterator[Fact]:
    """How logarithms relate to each other and to numbers: log2(p) >= log2(q) + k where p >= 2^k*q >= 2^k, for the
    largest k, and log2(p) <= log2(q) + k where p < 2^k*(q + 1), for the least."""
    for q in (*args, const(1)):
        positive = _combination(q - 1, have)
        for p in args:
            if p == q:
                continue
            low, high = (_least(e, have, again=False) if q.is_constant else None for e in (p, p * -1))
            some = range(first := _exponent(low), first + MAX_RATE) if positive is not None else ()
            shown = takewhile(lambda found: found[1] is not None, ((k, _combination(p - q * 2**k, have)) for k in some))
            for k, because in [*shown][-1:]:
                yield Fact(log2(p) - log2(q) - k, ["least", potential(p), potential(q), k, [because, positive]])
            some = range(first := _exponent(None if high is None else -high), first + MAX_RATE)
            tried = ((k, _combination((q + 1) * 2**k - 1 - p, have)) for k in some)
            k, because = next((found for found in tried if found[1] is not None), (0, None))
            if because is not None:
                yield Fact(log2(q) + k - log2(p), ["most", potential(p), potential(q), k, [because]])


def _exponent(n: Rational | None) -> int:
    """floor(log2(n)), 0 where n is less than 1 or not known."""
    return 0 if n is None or n < 1 else min(int(n).bit_length() - 1, MAX_EXPONENT)


def _by_factors(goal: Poly, have: list[Fact], products: bool = False) -> Json:
    """The same as `_combination`, for what each product of factors in the goal is multiplied by."""
    cofactors = parts(goal)
    if cofactors.keys() <= {()}:
        return _combination(goal, have, products)
    rows: list[Json] = []
    other = [f for f in have if not any(map(is_factor, atoms(f.poly)))]
    for factors, part in cofactors.items():
        found = _combination(part, other, products)
        if found is None:
            return _combination(goal, have, products) if pays(f.poly for f in have) else None
        rows += [[c, [*names, *(_named(a, have) for a in factors)]] for c, names in found]
    return rows


def _products(goal: Poly, have: list[Fact]) -> list[Because]:
    """The finds of `products_with`, which looks at products and quotients of a goal alone."""
    asked = goal if any(len(m) > 1 for m, _ in goal.terms) or _quotients(goal) else ZERO
    found = _multiplied(asked, tuple(f.poly for f in have))
    return [(p, [(c, [have[i].name for i in by]) for c, by in rows]) for p, rows in found]


@lru_cache(maxsize=MAX_LISTS)
def _multiplied(goal: Poly, have: tuple[Poly, ...]) -> list[Because]:
    """The same, with the numbers of facts as their names."""
    facts = [Fact(p, i) for i, p in enumerate(have)]
    return products_with(goal, facts, lambda need, more: _solution(need, facts, more=more))


def _combination(goal: Poly, have: list[Fact], products: bool = False, more: Iterable[Because] = ()) -> Json:
    """The same as the certificate writes it."""
    found = _solution(goal, have, products, more)
    return None if found is None else [[str(c), names] for c, names in found]


def _sum(goal: Poly, have: list[Fact]) -> Json:
    """A proof by a combination."""
    return None if (found := _combination(goal, have)) is None else {"sum": found}


def _solution(goal: Poly, have: list[Fact], products: bool = False, more: Iterable[Because] = ()) -> Rows | None:
    """Coefficients and factors with goal = their sum, coefficients at least 0; None where the LP has no solution.

    Products of two facts, and of three, take part where the goal itself has such; with `products` those of two about
    leaves that facts multiply; `more` is what else is nonnegative, and why.
    """
    more = tuple(more)
    weights = _weights(goal, tuple(f.poly for f in have), products, tuple(p for p, _ in more))
    if weights is None:
        return None
    facts: list[Rows] = [[(1, [f.name])] for f in have]
    names: list[Rows] = [[(1, [])], *facts, *(rows for _, rows in more)]
    return [
        (c * d, named)
        for c, summand in weights
        for d, named in (names[summand] if isinstance(summand, int) else [(1, [have[i].name for i in summand])])
    ]


Weights = tuple[tuple[Rational, int | tuple[int, ...]], ...]
"""Coefficients of summands: of those that are given by their numbers, and of products of facts."""


@lru_cache(maxsize=MAX_KEPT)
def _weights(goal: Poly, have: tuple[Poly, ...], products: bool, more: tuple[Poly, ...]) -> Weights | None:
    """The solution of `_solution`, without names: 1 is summand 0, then come the facts, then `more`."""
    summands: dict[int | tuple[int, ...], Poly] = dict(enumerate((const(1), *have, *more)))
    if products or any(len(m) > 1 for m, _ in goal.terms):
        of_products = mixed(have) if products else None
        first = [i for i, p in enumerate(have) if p.terms and (of_products is None or leaves(p) <= of_products)]
        first = first[:MAX_FACTORS] if products else nearest(goal, have, first)[:MAX_FACTORS]
        summands |= {(i, k): have[i] * have[k] for i, k in combinations_with_replacement(first, 2)}
        if any(len(m) > 2 for m, _ in goal.terms):
            cubed = combinations_with_replacement(first[:MAX_CUBED], 3)
            summands |= {(i, j, k): have[i] * have[j] * have[k] for i, j, k in cubed}
    solution = lp.solve(_program(goal, summands.values()), again=False)
    if solution is None:
        return None
    return tuple((c, summand) for i, summand in enumerate(summands) if (c := solution.get(str(i), 0)))


def _program(goal: Poly, products: Iterable[Poly]) -> Program:
    rows: dict[object, Row] = {m: {} for m, _ in goal.terms}
    program = Program()
    for i, p in enumerate(products):
        program.objective[str(i)] = 1
        for m, c in p.terms:
            rows.setdefault(m, {})[str(i)] = c
    wanted: dict[object, Rational] = dict(goal.terms)
    program.equations = [(row, wanted.get(m, 0)) for m, row in rows.items()]
    return program
