"""Potentials for loop heads by linear programming (section 6, p. 18; Absynth's scheme, with exact arithmetic).

Every loop head gets a template: unknown coefficients times base functions made from the loop's guard, plus what the
code after the loop needs. Going backward as the elaborator does, each place where one potential has to cover another
gives a constraint `P |- Q - Q' >= 0`; it is met when Q - Q' is a nonnegative combination of quantities known to be
nonnegative there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count, permutations, product
from typing import Final, Literal

from checker import limits
from checker.kernel import INDICES, extent, updated
from checker.oracles import lp, lra
from checker.oracles.programs import Program, Row
from checker.synthesis.asker import Asker
from checker.synthesis.elaborate import Elaborator
from checker.synthesis.ghosts import cycles
from checker.synthesis.guards import relaxed, uniform_bound
from checker.synthesis.hindrance import hindrance
from checker.synthesis.linear import MAX_DEGREE, ONE, Affine, Linear, degree, lift, monomial, unknown
from checker.synthesis.measures import USUAL, Sort, falls, measures
from checker.synthesis.nodes import Cut, Cycle, Flow, Fork, Node, State, Step, opening
from checker.synthesis.partial import Ranges
from checker.synthesis.turning import NOWHERE, Turn, Turning, turning
from checker.synthesis.walk import Parts, Point, Proof, Stuck, Walk
from logic.assertions import AtLeast, Context, P, Proved, X, assume, opaque
from logic.derivation import Derivation
from logic.facts import Facts, compared, definitions, said, value_where
from logic.polynomials import Rational, total
from logic.potentials import (
    ZERO,
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
    atoms,
    const,
    evaluate,
    leaves,
    log2,
    mapped,
    max0,
    of_expr,
    substitute,
    variables,
)
from logic.source import Loc
from logic.syntax import Assign, Expr, Op, Param, Stmt, Tid, Var, written

Engine = Literal["lp", "smt"]
"""The solver of the linear program: `checker.oracles.lp` or `checker.oracles.lra`."""

NO_ENDS: Final[Mapping[int, tuple[Poly, ...]]] = {}

_NONE: Final = Derivation("", {})
"""In place of the derivations that a search does not make."""


class Search(Walk[Linear]):
    """One linear program: the walk over a flow fills it. A wide one has |[a, b]| and |[a, b + step - 1]|
    among its base functions wherever steps are counted too. What branches add to it is said by `turns`. With `read`, a
    potential may be about a value that was read, as far as facts bound that; `asked` says that one had to be. A `solid`
    one has what loops inside the rows of triangles cost."""

    def __init__(
        self,
        elaborator: Elaborator,
        wide: bool = False,
        turns: Turning = NOWHERE,
        read: bool = False,
        solid: bool = False,
    ) -> None:
        super().__init__(elaborator.context, {name: rule.before for name, rule in elaborator.book.rules.items()})
        self.elaborator = elaborator
        oracle = elaborator.oracle
        self.sort = Sort(wide, quotients=not (isinstance(oracle, Asker) and oracle.plain))
        self.turns = turns
        self.read = read
        self.solid = solid
        self.asked = False
        self.program = Program()
        self.heads: dict[int, Linear] = {}
        """The potentials at the heads of loops and, where `turns` has them, in front of branches."""
        self.falls: dict[Poly, None] = {}
        """A polynomial that is nonnegative where a loop's logarithm, or quotient, falls by 1."""
        self.names = count()

    def facts(self, state: State) -> Facts:
        return said(state.p, self.context)

    def fresh(self, prefix: str, free: bool = False) -> str:
        """The name of a new unknown; one that is not free is nonnegative."""
        name = f"{prefix}{next(self.names)}"
        if free:
            self.program.free.add(name)
        return name

    def before(self, flow: Flow) -> Linear:
        """The potential that is needed before a flow."""
        return self.block(flow, Point(flow.end.p, lift(ZERO), flow.end.x)).pre.q

    # --- what the walk asks ---

    def cost(self, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation]:
        return self.elaborator.cost(p, x, e)

    def count(self, price: str, p: P, x: X, array: str, index: Expr) -> int:
        return self.elaborator.count(price, p, x, array, index)

    def conclude(
        self, _: str, pre: Point[Linear], stmt: Stmt, post: Point[Linear], __: Loc | None, ___: Callable[[], Parts], /
    ) -> Proof[Linear]:
        return Proof(pre, stmt, post, _NONE)

    def weaken(self, proof: Proof[Linear], pre: Point[Linear], post: Point[Linear]) -> Proof[Linear]:
        return Proof(pre, proof.stmt, post, _NONE)

    def stated(self, node: Cut, q: Linear) -> Linear:
        if node.q is None:
            return q
        self.require(node.state, lift(node.q) - q, atoms(node.q))
        return lift(node.q)

    def renamed(self, _: Step, __: Assign, q: Linear, /) -> Linear:
        return q

    def equated(self, node: Step, q: Linear, /) -> Linear:
        known = self.elaborator.equal(node)
        return q.mapped(lambda m: substitute(monomial(m), known)) if known else q

    def assigned(self, node: Step, stmt: Assign, q: Linear) -> Linear:
        """q[x <- e]; what would depend on anything but X and parameters gets the coefficient 0."""
        if known := self.elaborator.told(node, stmt):
            q = q.mapped(lambda m: substitute(monomial(m), known))
        unsaid = opaque(stmt.value, self.context.sigma) or of_expr(stmt.value) is None
        if unsaid and any(stmt.var in variables(monomial(m)) for m in q.terms):
            self.asked = True
            if self.read:
                return self.without(node, stmt.var, q)
        return self.within(node.before, q.mapped(lambda m: updated(monomial(m), stmt.var, stmt.value, self.context)))

    def without(self, node: Step, name: str, q: Linear) -> Linear:
        """A potential after an assignment that covers q and is not about the variable, of which only limits are known:
        it was read."""
        x, facts, larger = node.before.x - {name}, self.facts(node.after), dict[Poly, None]()
        top = Linear({})
        bases: dict[Poly, None] = {const(1): None}
        for m in q.terms:
            if name not in variables(monomial(m)):
                bases[monomial(m)] = None
            for a in atoms(monomial(m)):
                if isinstance(a, Max0 | Log2) and name in variables(a.arg):
                    limits_ = (p for p in (uniform_bound(a.arg, x, facts), *relaxed(a.arg)) if p is not None)
                    if (limit := next((p for p in limits_ if name not in variables(p)), None)) is not None:
                        most = max0(limit) if isinstance(a, Max0) else log2(limit)
                        bases[most] = larger[most - atom(a)] = None
        for base in bases:
            top = top + unknown(self.fresh("r", free=True), base)
        self.require(node.after, top - q, more=larger)
        self.heads[id(node)] = top
        return self.within(node.before, top)

    def within(self, state: State, q: Linear, /) -> Linear:
        """q without the monomials that {P; .; X} may not mention, or a certificate; their coefficients have to be 0."""
        kept: dict[Monomial, Affine] = {}
        for m, a in q.terms.items():
            if degree(m) <= MAX_DEGREE and all(
                isinstance(x, Param) or (isinstance(x, Var) and x.name in state.x) for x in leaves(monomial(m))
            ):
                kept[m] = a
            else:
                self.equate(a)
        return Linear(kept)

    def clamped(self, state: State, q: Linear, /) -> Linear:
        return q.mapped(lambda m: self.elaborator.clamped(state, monomial(m)))

    def equate(self, a: Affine) -> None:
        """The affine form has to be 0."""
        row = {u: c for u, c in a.items() if u != ONE and c}
        if row or a.get(ONE):
            self.program.equations.append((row, -a.get(ONE, Fraction(0))))

    def larger(self, a: State, q: Linear, b: State, r: Linear, at: Fork | None = None) -> Linear:
        """A potential that covers q in a's states and r in b's; of nothing that has one value in all of them, whose
        multiples could grow for ever as the constant falls: no such variable, and no max(0, p) that is 0."""
        turn = None if at is None else self.turns.forks.get(id(at.then))
        known, there = self.facts(a).constants, self.facts(b).constants
        same = {leaf: p for leaf, p in known.items() if leaf.name in self.context.sigma.locals and there.get(leaf) == p}
        q, r = (side.mapped(lambda m: substitute(monomial(m), same)) for side in (q, r))
        gap = (q - r).known()
        if gap is not None and gap.is_constant and (turn is None or not gap.terms):
            return q if gap.constant >= 0 else r
        top = Linear({})
        more = () if turn is None else (m for base in self.before_branch(turn) for m, _ in substitute(base, same).terms)
        for m in dict.fromkeys((*q.terms, *r.terms, *more)):
            if not self.vanishes(m, a, b):
                top = top + unknown(self.fresh("j", free=True), monomial(m))
        self.require(a, top - q)
        self.require(b, top - r)
        if at is not None and turn is not None:
            self.heads[id(at.then)] = top
        return top

    def vanishes(self, m: Monomial, *states: State) -> bool:
        """Whether a product has a factor max(0, p) that is shown to be 0 in all states."""
        factors = (a for a in m if isinstance(a, Max0))
        return any(all(self.proves(state, a.arg * -1) for state in states) for a in factors)

    def before_branch(self, turn: Turn) -> Iterator[Poly]:
        """The base functions that a branch adds to the potential in front of it: also those at the head of its loop."""
        yield from turn.bases
        head = None if turn.loop is None else self.heads.get(id(turn.loop))
        for m in head.terms if head is not None else ():
            if not variables(monomial(m)) & turn.unsaid:
                yield substitute(monomial(m), turn.earlier)

    def head(self, node: Cycle, price: Fraction, post: Linear) -> Linear:
        own = measures(node, self.context, self.sort)
        if node.q is not None:
            head = lift(node.q)
        else:
            changed = written(node.body.stmt)
            frame = Linear({m: a for m, a in post.terms.items() if not variables(monomial(m)) & changed})
            head = frame
            later = (monomial(m) for m in post.terms if variables(monomial(m)) & changed)
            found = (*bases(node, own, self.context, self.sort, self.solid), *self.turned(node, own), *later)
            # with known numbers in place of parameters: of two that are the same, one could grow as the other falls
            for base in dict.fromkeys(substitute(b, said((), self.context).constants) for b in found):
                head = head + unknown(self.fresh("q", free=True), base)
        self.heads[id(node)] = head
        self.falls |= dict.fromkeys(falls(node, own, self.context))
        self.require(self.opposite(node.invariant, node.cond), head - price - post)
        self.require(node.invariant, head)
        return head

    def turned(self, node: Cycle, own: Sequence[Poly]) -> Iterator[Poly]:
        """The base functions that branches add to the potential at a loop's head: also the turns until the loop ends
        early, times what inner loops measure as they are entered."""
        yield from self.turns.heads.get(id(node), ())
        changed, ends = written(node.body.stmt), self.turns.ends
        if not ends:
            return
        inner = _inner(node.body, self.context, changed, self.sort)
        early = _inner(node.body, self.context, changed, self.sort, ends)
        yield from (p for p in early if p not in inner)
        yield from (a * b for a in ends.get(id(node), ()) for b in early)
        yield from (a * b for a in own for b in early if b not in inner)
        if rows := _rows(node, self.context, self.sort)[0]:  # of a triangle, up to where it ends early
            first = ends.get(id(node), ())
            yield from (a * b for i, a in enumerate(first) for b in (*first[i:], *rows))

    def turn(self, node: Cycle, q: Linear, head: Point[Linear]) -> Proof[Linear]:
        body, start = self.body(node.body, head), node.body.start
        for first in opening(node.body):
            start = first.state if isinstance(first, Cut) else first.after
        self.require(start, q - body.pre.q)
        return body

    def ranges(self, node: Fork, /) -> Ranges | None:
        return self.elaborator.ranges(node)

    def paid(self, _: Flow, __: Linear, proof: Proof[Linear], /) -> Proof[Linear]:
        return proof

    def covers(self, state: State, q: Linear, r: Linear, /) -> None:
        self.require(state, q - r)

    # --- constraints ---

    def proves(self, state: State, q: Poly) -> bool:
        """Whether the oracle proves q >= 0 in the state."""
        obligation = AtLeast(state.p, state.x, q, ZERO)
        return isinstance(self.elaborator.oracle(obligation, self.context), Proved)

    def require(self, state: State, q: Linear, stated: Iterable[Atom] = (), more: Iterable[Poly] = ()) -> None:
        """P |- q >= 0, as an equation between q and a nonnegative combination of what is nonnegative under P; `stated`
        are atoms that may be more than others of q: a person's |[0, n]| is more than |[i, n]| is. `more` is nonnegative
        where that is proved."""
        for differ in self.differing(state, q):
            rest = tuple(c for c in state.p if c != differ)
            for op in "<>":
                side = State(assume(rest, Op(op, differ.args), self.context.sigma), state.x)
                if not self.proves(side, const(-1)):
                    self.require(side, q, stated, more)
            return
        q, positive, products = self.resolved(state, q)
        inside = {a: None for m in q.terms for a in atoms(monomial(m)) if isinstance(a, Max0)}
        pairs = ((a, b) for a in stated if isinstance(a, Max0) and a in inside for b in inside if a != b)
        larger = [atom(a) - atom(b) for a, b in pairs if self.proves(state, a.arg - b.arg)]
        larger += [p for p in more if self.proves(state, p)]
        known = enumerate([*self.nonnegative(state, q, positive, larger), *positive, *products])
        parts = (q, *(unknown(self.fresh(f"l{i}_"), g * -1) for i, g in known))
        for a in total(term for part in parts for term in part.terms.items()).values():
            self.equate(a)

    def rises(self, state: State, m: Monomial) -> bool:
        """Whether a product is shown to be nonnegative: each factor is, or P speaks of a product in it. Of other
        factors the sign is asked together with those that are 0 where they may be negative: max(0, n) of n."""
        if len(m) == 1:
            return self.proves(state, monomial(m))
        products = (other for g in self.facts(state).nonnegative for other, _ in g.terms if len(other) > 1)
        if any({*other} <= {*m} for other in products):
            return self.proves(state, monomial(m))
        weak = {a for a in m if not isinstance(a, Max0) and not self.proves(state, atom(a))}
        left = tuple(a for a in m if a in weak or isinstance(a, Max0))
        return not weak or (len(left) > 1 and self.proves(state, monomial(left)))

    def differing(self, state: State, q: Linear) -> list[Op]:
        """The facts a != b of P, where a branch's test tells what q is by which of them is the larger."""
        inside = {a.arg for m in q.terms for a in atoms(monomial(m)) if isinstance(a, Max0)} if self.turns.forks else ()
        found: list[Op] = []
        for fact in state.p if inside else ():
            match fact:
                case Op("!=", (a, b)) if (p := of_expr(a)) is not None and (r := of_expr(b)) is not None:
                    if any((arg - d).is_constant for arg in inside for d in (p - r, r - p)):
                        found.append(fact)
        return found

    def resolved(self, state: State, q: Linear) -> tuple[Linear, list[Poly], list[Poly]]:
        """q with what variables are known to be, if that is a number or a sum of parameters, and p or 0 for each
        max(0, p) whose sign P decides.

        Also each such p, or p - 1 where that is nonnegative: a combination of facts may say less, over the rationals.
        And the products of such p, which are nonnegative and may be of more factors than products of two facts have.
        """
        positive: dict[Poly, None] = {}
        known = self.facts(state).settled
        q = q.mapped(lambda m: substitute(monomial(m), known))

        def decide(a: Atom) -> Poly:
            if not isinstance(a, Max0):
                return atom(a)
            above = self.proves(state, a.arg)
            strict = above and self.proves(state, a.arg - 1)
            if not strict and self.proves(state, a.arg * -1):
                return ZERO
            if above:
                positive[a.arg - 1 if strict else a.arg] = None
            return a.arg if above else atom(a)

        products = [mapped(monomial(m), decide) for m in q.terms if len(m) > 2 and all(isinstance(a, Max0) for a in m)]
        return q.mapped(lambda m: mapped(monomial(m), decide)), list(positive), products

    def nonnegative(
        self, state: State, q: Linear, positive: Sequence[Poly] = (), more: Sequence[Poly] = ()
    ) -> list[Poly]:
        """Polynomials that are nonnegative under P: the generators of a Handelman certificate for q >= 0. `positive`
        and `more` are some that are so already; the former may exceed a max(0, .)."""
        found: dict[Poly, None] = {const(1): None}
        inside: dict[Atom, None] = {}
        for m in q.terms:
            for a in atoms(monomial(m)):
                inside[a] = None
            if m and self.rises(state, m):
                found[monomial(m)] = None
        facts: dict[Poly, None] = dict.fromkeys(more)
        logarithms: list[Log2 | Max0] = [a for a in inside if isinstance(a, Log2)]
        quotients = any(isinstance(a, Apply) and a.op == "/" for a in inside)
        for fall in self.falls if logarithms or quotients else ():
            fall = self.resolved(state, lift(fall))[0].known() or ZERO
            if {a for a in atoms(fall) if isinstance(a, Log2 | Apply)} <= inside.keys() and self.proves(state, fall):
                facts[fall] = None
        nested: list[Log2 | Max0] = [
            a for a in inside if isinstance(a, Max0) and any(isinstance(b, Max0) for b in atoms(a.arg))
        ]
        for one, other in (*permutations(logarithms, 2), *permutations(nested, 2)):
            if self.proves(state, one.arg - other.arg):
                facts[atom(one) - atom(other)] = None
        here = frozenset(x for m in q.terms for x in leaves(monomial(m)))
        known = self.facts(state)
        for one, other in permutations([a for a in inside if isinstance(a, Max0)], 2):
            gap = one.arg - other.arg
            if gap.is_constant and gap.constant > 0:
                facts[atom(one) - atom(other)] = None
                if self.turns.zones:  # what is paid for in one needs an end
                    facts[gap - atom(one) + atom(other)] = None
            elif not gap.is_constant and (least := known.least(gap)) is not None and least >= 0:
                facts[atom(one) - atom(other)] = None
        for g in (substitute(p, known.settled) for p in known.nonnegative):
            if leaves(g) and leaves(g) <= here:
                facts[g] = None
        for a in inside:
            match a:
                case Max0(arg):
                    facts[atom(a) - arg] = None
                    for p in (*positive, const(1)) if a in nested else positive:
                        if self.proves(state, p - arg):
                            facts[p - atom(a)] = None
                case Floor(arg, k):
                    facts[arg - atom(a) * k] = None
                    facts[atom(a) * k - arg + (k - 1)] = None
        degree = max((len(m) for m in q.terms), default=0)
        if degree > 1:
            outer = {a for m in q.terms for a in m}
            factors = [a for a in inside if a in outer and self.proves(state, atom(a))]
            others = [*map(atom, factors[: limits.FACTORS]), *map(monomial, _without_one(q, factors))]
            small, smallest = _least([*facts, *positive]), _least(positive)
            for g, b in product(small, [*others, *smallest]):
                found[g * b] = None
        return [*found, *facts]


def _least(found: Sequence[Poly]) -> list[Poly]:
    """Polynomials without those that are one of the others and a number: products with them say no more."""
    least: dict[Poly, Poly] = {}
    for p in found:
        rest = p - p.constant
        if rest not in least or p.constant < least[rest].constant:
            least[rest] = p
    return list(least.values())


def _without_one(q: Linear, factors: Sequence[Atom]) -> Iterator[Monomial]:
    """The remainders of products of three factors and more without one of them: what a fact about that one is
    multiplied by."""
    long = (m for m in q.terms if len(m) > 2 and all(a in factors for a in m))
    return iter(dict.fromkeys(m[:i] + m[i + 1 :] for m in long for i in range(len(m))))


def bases(node: Cycle, own: Sequence[Poly], context: Context, sort: Sort, solid: bool = False) -> list[Poly]:
    """The template of a loop head: 1, its own measures, and their products with what inner loops measure at
    entry, and the products of these along a nest; what inner loops measure now, for turns that are paid in advance.

    Where inner loops measure what this one changes, as the rows of a triangle, also the products of its own measures
    with that and with each other: sums of the first n numbers are of this form. If solid, each times what loops inside
    these measure: a row may cost so much at each of its elements.
    """
    inner = _inner(node.body, context, written(node.body.stmt), sort)
    rows, inside = _rows(node, context, sort)
    deep = [] if not solid else [*inside, *own, *rows] if rows and _has_rows(node.body, context, sort) else inside
    squares = [a * b for i, a in enumerate(own) for b in own[i:]] if rows else []
    solids = [a * b for a in (*own, *squares, *(a * b for a in own for b in rows)) for b in deep]
    changed, x = written(node.body.stmt), node.invariant.x
    measured = (p for cycle in cycles(node.body) for p in measures(cycle, context, sort))
    now = [p for p in measured if variables(p) & changed and variables(p) <= x]
    products = (a * b for a in own for b in (*inner, *rows))
    return list(dict.fromkeys((const(1), *own, *products, *squares, *solids, *inner, *now, *node.bases)))


def is_solid(flow: Flow, context: Context) -> bool:
    """Whether the rows of a triangle have loops inside them, or are triangles themselves."""
    found = ((_rows(cycle, context, USUAL), cycle.body) for cycle in cycles(flow))
    return any(inside or (rows and _has_rows(body, context, USUAL)) for (rows, inside), body in found)


def _has_rows(flow: Flow, context: Context, sort: Sort) -> bool:
    """Whether a loop in it goes through the rows of a triangle."""
    return any(_rows(cycle, context, sort)[0] for cycle in cycles(flow))


def _rows(node: Cycle, context: Context, sort: Sort) -> tuple[list[Poly], list[Poly]]:
    """The measures of the loops inside a loop as they are entered, where that is in terms of what it changes; and the
    measures, at entry, of the loops inside these."""
    changed = written(node.body.stmt)
    found: dict[Poly, None] = {}
    deep: dict[Poly, None] = {}
    for cycle in cycles(node.body):
        starts = _starts(cycle)
        for p in measures(cycle, context, sort):
            at = substitute(p, starts)
            if variables(at) & changed and variables(at) <= node.invariant.x:
                found[at] = None
                deep |= dict.fromkeys(_inner(cycle.body, context, changed, sort))
    return list(found), list(deep)


def _starts(cycle: Cycle) -> dict[Leaf, Poly]:
    """The values of a loop's variables as it is entered."""
    changed = written(cycle.body.stmt)
    return {x: p for x, p in definitions(cycle.before.p).items() if x.name in changed}


def _inner(
    flow: Flow, context: Context, changed: frozenset[str], sort: Sort, ends: Mapping[int, tuple[Poly, ...]] = NO_ENDS
) -> list[Poly]:
    """The measures of loops at entry, and their products with those of loops inside them; among them the turns
    until they end early, by their identities."""
    found: dict[Poly, None] = {}
    for cycle in cycles(flow):
        measured = (*measures(cycle, context, sort), *ends.get(id(cycle), ()))
        own, inner = at_entry(cycle, measured, changed), _inner(cycle.body, context, changed, sort, ends)
        found |= dict.fromkeys((*own, *(a * b for a in own for b in inner)))
    return list(found)


def at_entry(cycle: Cycle, measured: Sequence[Poly], changed: frozenset[str]) -> list[Poly]:
    """Measures of a loop with its variables replaced by bounds over things that the loop around it does not change."""
    least: dict[Leaf, Poly] = {}
    most: dict[Leaf, Poly] = {}

    def bounded(p: Poly, above: bool) -> Poly | None:
        """A bound of p, from above or from below, in terms of what does not change."""
        swap: dict[Leaf, Poly] = {}
        for x in leaves(p):
            if isinstance(x, Tid) or x.name in changed:
                known = most if _rises(p, x) is above else least
                if x not in known:
                    return None
                swap[x] = known[x]
        return substitute(p, swap)

    for x, op, bound in compared(cycle.invariant.p * 2):  # a bound of one may be a bound of another
        p = of_expr(bound) if isinstance(x, Var) and x.name in changed else None
        for above, known in ((False, least), (True, most)):
            limit = None if p is None or op in (("<=", "<"), (">=", ">"))[above] else bounded(p, above)
            if limit is not None:
                known.setdefault(x, limit + (op == ">") - (op == "<"))
    starts = _starts(cycle)
    found = (bounded(p, above=True) for p in (*measured, *(substitute(p, starts) for p in measured)))
    return list(dict.fromkeys(p for p in found if p is not None and not p.is_constant))


def _rises(p: Poly, x: Leaf) -> bool:
    """Whether a measure, which is monotone, rises with a leaf."""
    low, high = (evaluate(p, dict.fromkeys(leaves(p), 0) | {x: value}, risen) for value in (-_FAR, _FAR))
    return low < high


def risen(_: str, index: int) -> int:
    """The element of an array that rises from element to element, as one that says where rows begin."""
    return ROW * index


ROW: Final = 5
"""The distance that it rises: the rows of a sparse matrix have so many elements."""

_FAR: Final = 10**9


def with_potentials(flow: Flow, potentials: dict[int, Poly]) -> Flow:
    """The flow with a potential at each loop head, and in front of branches, by the identity of loops and of
    first sides."""

    def with_own(node: Node) -> Node:
        match node:
            case Cycle():
                body, q = with_potentials(node.body, potentials), potentials.get(id(node), node.q)
                return replace(node, q=q, framed=id(node) in potentials, body=body)
            case Step() if id(node) in potentials:
                return replace(node, q=potentials[id(node)])
            case Fork():
                sides = [with_potentials(s, potentials) if isinstance(s, Flow) else s for s in (node.then, node.orelse)]
                return replace(node, then=sides[0], orelse=sides[1], q=potentials.get(id(node.then)))
        return node

    return replace(flow, nodes=tuple(with_own(node) for node in flow.nodes))


def without_potentials(flow: Flow) -> Flow:
    """The flow with no potential stated anywhere."""

    def bare(node: Node) -> Node:
        match node:
            case Cut() | Step():
                return replace(node, q=None)
            case Cycle():
                return replace(node, q=None, body=without_potentials(node.body))
            case Fork():
                then, orelse = (without_potentials(s) if isinstance(s, Flow) else s for s in (node.then, node.orelse))
                return replace(node, then=then, orelse=orelse)

    return replace(flow, nodes=tuple(bare(node) for node in flow.nodes))


def find_potentials(
    flow: Flow, elaborator: Elaborator, engine: Engine = "lp", turns: bool = False, solid: bool = False
) -> Flow:
    """The flow with potentials at its loop heads such that the bound is least at sample points; with `turns` also in
    front of branches, and if solid, of loops inside the rows of triangles. Raises Stuck."""
    loops = list(cycles(flow))
    more = turning(flow, elaborator.context).cut() if turns else NOWHERE
    if all(loop.q is not None for loop in loops) and not more.forks:
        return flow
    asked = False
    for wide, read in ((False, False), (True, False), (True, True)):
        if read and not asked:
            break
        search = Search(elaborator, wide, more, read, solid)
        entry = search.within(flow.start, search.before(flow))
        search.program.objective = _objective(entry, elaborator.context, bool(more.forks))
        solution, asked = _solved(search, engine), search.asked
        if solution is not None:
            return with_potentials(flow, {key: head.at(solution) for key, head in search.heads.items()})
    raise Stuck(
        lambda: hindrance(flow, elaborator.context, lambda part, entered: _solvable(part, entered, elaborator, engine))
    )


def _solved(search: Search, engine: Engine) -> dict[str, Rational] | None:
    return lra.solve(search.program) if engine == "smt" else lp.solve(search.program)


def _solvable(part: Flow, entered: bool, elaborator: Elaborator, engine: Engine) -> bool:
    """Whether there are potentials for a part of a flow alone, and ones that its beginning can speak of."""
    search = Search(elaborator, wide=True)
    entry = search.before(part)
    if entered:
        search.within(part.start, entry)
    return _solved(search, engine) is not None


_SAMPLES: Final = (1000, 37, 5, 1, 0, -3)
"""Sizes at which the bound is made small; each parameter gets its own value near them."""

_FARTHEST: Final = 15 << 16
"""A size beyond the steps of loops, where nothing is assumed that excludes it: a multiple of what sizes often are."""

_LARGEST: Final = 10**9
"""Of the values in an objective: those at larger sizes are scaled down to it."""


def _objective(entry: Linear, context: Context, turns: bool = False) -> Row:
    """The bound at all sample points together; with `turns` also where its terms begin to count."""
    names = sorted({x.name for m in entry.terms for x in leaves(monomial(m))})
    row: Row = {}
    inside = {b for m in entry.terms for a in m if isinstance(a, Max0) for b in atoms(a.arg) if isinstance(b, Max0)}
    orders = (names, names[::-1]) if any(len(leaves(b.arg)) > 1 for b in inside) else (names,)  # which is less of two
    stores = [store for order in orders for store in _stores(order, context, _turns(entry) if turns else ())]
    parts = {a for m in entry.terms for a in atoms(monomial(m))}
    divisors = {x for a in parts if isinstance(a, Apply) and a.op == "/" for x in leaves(a.args[1])}
    told = said((), context).numbers if divisors else {}
    sizes = {x: told.get(x, 1) for n in names if (x := Param(n)) in divisors or n.startswith(("blockDim.", "gridDim."))}
    args = {a.arg for a in parts if isinstance(a, Max0)} if sizes else ()
    # none of them is above 0, as n - 96*gridDim.x in large grids
    if divisors or any(all(evaluate(p, store, risen) <= 0 for store in stores) for p in args):
        stores += [_inside(store | sizes, context) for store in stores]
    for store in stores:
        values = {m: evaluate(monomial(m), store, risen) for m in entry.terms}
        scale = Fraction(_LARGEST, max((_LARGEST, *(int(abs(v)) for v in values.values()))))
        for m, a in entry.terms.items():
            for u, c in a.items():
                if u != ONE:
                    row[u] = row.get(u, Fraction(0)) + c * values[m] * scale
    return row


def _inside(store: dict[Leaf, int], context: Context) -> dict[Leaf, int]:
    """The point with indices of block and warp that there are: of others a bound may say anything."""
    indices = [x for x in map(Param, INDICES) if x in store]
    extents = ((x, extent(x.name, context)) for x in indices)
    ends = {x: int(evaluate(p, store, risen)) - 1 for x, p in extents if leaves(p) <= store.keys()}
    return store | {x: max(0, min(store[x], ends.get(x, store[x]))) for x in indices}


def _turns(entry: Linear) -> list[tuple[Poly, Leaf, int]]:
    """The p of each max(0, p) in a bound, with a parameter that p rises (1) or falls (-1) with by 1: by that p can be
    made any number."""
    found: dict[Poly, tuple[Poly, Leaf, int]] = {}
    for a in dict.fromkeys(a for m in entry.terms for a in atoms(monomial(m)) if isinstance(a, Max0)):
        for m, c in a.arg.terms:
            if len(m) == 1 and isinstance(m[0], Sym) and abs(c) == 1:
                rest = a.arg - Poly(((m, c),))
                if m[0].leaf not in leaves(rest):
                    found.setdefault(a.arg, (a.arg, m[0].leaf, int(c)))
    return [*found.values()][: limits.TURNS]


def _stores(
    names: Sequence[str], context: Context, turns: Sequence[tuple[Poly, Leaf, int]] = ()
) -> Iterator[dict[Leaf, int]]:
    """The points at which a bound is made small, of those that are not excluded: where it says nothing it may say
    anything. Where it depends on the block or warp, for the first one, too."""
    facts = said((), context)
    first = [n for n in names if n in INDICES]
    far: dict[Leaf, int] = {Param(n): _FARTHEST + (i << 16) for i, n in enumerate(names)}
    sizes = {Param(n): 1 for n in names if n.startswith(("blockDim.", "gridDim."))}
    near: list[dict[Leaf, int]] = []
    for sample in _SAMPLES:
        point: dict[Leaf, int] = {Param(n): sample + 2 * i if sample > 1 else sample for i, n in enumerate(names)}
        near.append(point | (sizes if sample < 1 else {}))

    known = facts.numbers | {Param(n): 0 for n in first}

    def excluded(store: dict[Leaf, int]) -> bool:
        return any(value_where(e, store | known) is False for e in facts)

    turned = [
        store | {leaf: store[leaf] - sign * int(evaluate(p, store, risen))}
        for p, leaf, sign in turns
        for store in (far, *near)
        if evaluate(p, store, risen).denominator == 1
    ]
    turned = [store for store in turned if abs(max(store.values(), key=abs)) <= 2 * _FARTHEST]
    for store in [s for s in (far, *near, *turned) if not excluded(s)] or near:
        yield _inside(store, context)
        if first:
            yield store | {Param(n): 0 for n in first}
