"""Derivations from flows: the walk over known potentials.

Potentials go backward from the end, each statement adding what it costs; where two ways meet, the larger one is
needed, or max(., .) where neither is known to be; loops carry the potential that the outline states, with a frame added
where the code after the loop needs one; Q:Weak goes in wherever conditions have to be brought together. Where no
derivation can be completed, Stuck is raised. The result is judged by the kernel like anyone's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

from checker.kernel import Oracle, updated
from checker.oracles.counts import What, one_access
from checker.synthesis.lanewise import cut_to
from checker.synthesis.nodes import Cut, Cycle, Flow, Fork, Node, State, Step, opening
from checker.synthesis.partial import Ranges, ranges_of, steps_of, under
from checker.synthesis.rules import SOUND
from checker.synthesis.rules.transformer import Book
from checker.synthesis.walk import Parts, Point, Proof, Stuck, Walk, named
from logic.assertions import AtLeast, Context, P, Proved, Uniform, X, assume
from logic.contracts import elements_in
from logic.derivation import Derivation, Value
from logic.facts import definitions, said, unfolded
from logic.potentials import (
    ELEMENT,
    Apply,
    Atom,
    Leaf,
    Poly,
    atom,
    element_of,
    is_closed,
    leaves,
    mapped,
    max0,
    maximum,
    minimum,
    substitute,
    sym,
    variables,
    within,
)
from logic.rules import RULE_SETS, SPLIT, WEAK
from logic.source import Loc
from logic.syntax import Assign, Const, Expr, Op, Param, Read, Stmt, Tid, Var, Write, subterms, written

Least = Callable[[What, P, X, str, Expr, Context], int]


class Elaborator(Walk[Poly]):
    """Builds derivations for one context. `least` proposes n for MemReads and Conflicts; `oracle` helps to choose.

    With `warp`, for that warp only: what a guarded statement costs may then depend on how many lanes take it. By the
    rules of a `book`, for a flow that was made for them.
    """

    def __init__(
        self, context: Context, oracle: Oracle, least: Least, warp: int | None = None, book: Book = SOUND
    ) -> None:
        super().__init__(context, {name: rule.before for name, rule in book.rules.items()})
        self.oracle = oracle
        self.least = least
        self.warp = warp
        self.book = book
        self.for_costs = RULE_SETS["paper" if book.printed else "sound"].for_costs()
        self._costs: dict[tuple[P, X, Expr], tuple[Fraction, Derivation]] = {}
        self._ranges: dict[tuple[State, Expr, Loc | None], Ranges | None] = {}

    # --- expressions ---

    def cost(self, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation]:
        """The cost of e and its derivation, P; X |- e : C."""
        key = (p, x, e)
        if key not in self._costs:
            self._costs[key] = self._cost(p, x, e)
        return self._costs[key]

    def _cost(self, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation]:
        for own in self.book.costs:
            if (found := own(self, self.oracle, p, x, e)) is not None:
                return found
        metric = self.context.metric
        here: dict[str, Value] = {"P": p, "X": x}

        def leaf(form: str, value: Value) -> tuple[Fraction, Derivation]:
            rule = self.for_costs[form]
            letter, price = rule.conclusion.at(2).name(), rule.conclusion.at(3).name()
            return metric.cost(price), Derivation(rule.name, {**here, letter: value}, (), e.loc)

        match e:
            case Var(name):
                return leaf("local", name)
            case Param(name):
                return leaf("param", name)
            case Const():
                return leaf("literal", e)
            case Tid(axis):
                return leaf("tid", axis)
            case Op(op, args):
                parts = [self.cost(p, x, a) for a in args]
                total = sum((c for c, _ in parts), metric.cost("op"))
                substitution: dict[str, Value] = {**here, "op": op}
                for i, (a, (c, _)) in enumerate(zip(args, parts, strict=True), start=1):
                    substitution |= {f"e{i}": a, f"C{i}": c}
                rule = self.for_costs[f"op {len(args)}"]
                return total, Derivation(rule.name, substitution, tuple(d for _, d in parts), e.loc)
            case Read(array, index):
                c, derivation = self.cost(p, x, index)
                letter, price = ("G", "gread") if self.is_global(array) else ("S", "sread")
                rule = self.for_costs[f"read {self.context.sigma.arrays[array].space}"]
                n = self.count(price, p, x, array, index)
                substitution = {**here, "o": index, "C": c, letter: array, "n": n}
                return c + metric.count(price, n), Derivation(rule.name, substitution, (derivation,), e.loc)

    def count(self, price: str, p: P, x: X, array: str, index: Expr) -> int:
        """The smallest n that can be shown for an access, or the trivial one where the metric does not price it."""
        what: What = "MemReads" if self.is_global(array) else "Conflicts"
        if price not in self.context.metric.counted:
            return self.context.hardware.warp * one_access(
                what, self.context.sigma.arrays[array], self.context.hardware
            )
        return self.least(what, p, frozenset() if self.book.printed else x, array, index, self.context)

    # --- known potentials ---

    def at_least(self, state: State, q: Poly, r: Poly) -> bool:
        """Whether the oracle proves q >= r in the state."""
        return isinstance(self.oracle(AtLeast(state.p, state.x, q, r), self.context), Proved)

    def larger(self, a: State, q: Poly, b: State, r: Poly, at: Fork | None = None) -> Poly:
        """A potential that is at least q in a's states and at least r in b's, as small as can be told: the one that was
        found for a branch, where either needs it."""
        found = None if at is None else at.q
        if found is not None and self.at_least(a, found, q) and self.at_least(b, found, r):
            return found
        if self.at_least(b, q, r):
            return q
        return r if self.at_least(a, r, q) else maximum(q, r)

    def clamped(self, state: State, q: Poly, /) -> Poly:
        if not elements_in([q]):
            return q
        ends = {(f"{ELEMENT}{name}", max0(p)) for c in self.context.launch.contracts for name, p in c.lasts}

        def clamp(a: Atom) -> Poly:
            match a:
                case Apply(op, (index,)) if op.startswith(ELEMENT):
                    known = (end for array, end in ends if array == op and self.at_least(state, end, index))
                    cut = (index if cut_to(index, end) is not None else minimum(index, end) for end in known)
                    return element_of(op, min(cut, key=str, default=index))
                case Apply():
                    return atom(a)
            return within(a, lambda p: mapped(p, clamp))

        return mapped(q, clamp)

    def within(self, _: State, q: Poly, /) -> Poly:
        """q: the kernel says whether it mentions what it may not."""
        return q

    def stated(self, node: Cut, q: Poly) -> Poly:
        return q if node.q is None else node.q

    def conclude(
        self, rule: str, pre: Point[Poly], stmt: Stmt, post: Point[Poly], loc: Loc | None, parts: Callable[[], Parts], /
    ) -> Proof[Poly]:
        return Proof(pre, stmt, post, Derivation(rule, *parts(), loc))

    def weaken(self, proof: Proof[Poly], pre: Point[Poly], post: Point[Poly]) -> Proof[Poly]:
        return weaken(proof, pre, post)

    # --- assignments ---

    def renamed(self, node: Step, stmt: Assign, q: Poly, /) -> Poly:
        if stmt.var not in variables(q):
            return q
        return substitute(q, self.told(node, stmt)) if node.q is None else node.q

    def told(self, node: Step, stmt: Assign) -> dict[Leaf, Poly]:
        """The value of the variable by P after an assignment, if potentials cannot say it otherwise."""
        here = {*map(Var, node.before.x)}
        own = Var(stmt.var)

        def sayable(p: Poly | None) -> bool:
            return p is not None and all(isinstance(t, Param) or t in here - {own} for t in leaves(p))

        direct = updated(sym(own), stmt.var, stmt.value, self.context)
        if sayable(direct) and is_closed(direct):
            return {}
        known = (definitions((fact,)).get(own) for fact in node.after.p)
        found = [told for told in known if told is not None and sayable(told)]
        if not found and not sayable(direct):
            facts = said(node.after.p, self.context)
            found = [*filter(sayable, (unfolded(sym(own), facts.definitions | facts.constants),))]
        found = [*filter(is_closed, found), *([] if sayable(direct) else found)]
        return {own: found[0]} if found else {}

    def equated(self, node: Step, q: Poly, /) -> Poly:
        return substitute(q, self.equal(node))

    def equal(self, node: Step) -> dict[Leaf, Poly]:
        """The values of variables by an assumption, those that potentials before it can say."""
        here = {*map(Var, node.before.x)}
        assumed = (c for c in node.after.p if c not in node.before.p)
        known = definitions(assumed).items()
        return {
            x: p for x, p in known if is_closed(p) and all(isinstance(t, Param) or t in here - {x} for t in leaves(p))
        }

    def assigned(self, node: Step, stmt: Assign, q: Poly) -> Poly:
        """Q[x <- e] as a potential over X and parameters. Raises Stuck where it is none."""
        if stmt.var not in variables(q):
            return q
        before = updated(q, stmt.var, stmt.value, self.context)
        stray = [
            x.name for x in leaves(before) if isinstance(x, Tid) or (isinstance(x, Var) and x.name not in node.before.x)
        ]
        if stray:
            raise Stuck(
                f"the potential depends on '{stmt.var}' after this, and so on {', '.join(sorted(stray))} before",
                stmt.loc,
                "Bound the value by parameters first, in a condition before the loop that uses it.",
                node.rule,
            )
        return before

    # --- accesses by part of a warp ---

    def node(self, node: Node, post: Point[Poly]) -> Proof[Poly]:
        """By the number of active lanes, where that is told and matters."""
        if isinstance(node, Fork) and node.rule in self.book.branches:
            self.cost(node.before.p, node.before.x, node.cond)  # equals share a derivation, with the first one's place
        if self.warp is None or not isinstance(node, Step) or next(accesses(node.stmt), None) is None:
            return super().node(node, post)
        return self.partial(node, post, self.warp)

    def whole(self, node: Step, post: Point[Poly]) -> Proof[Poly]:
        """A proof of a statement, whatever the number of active lanes."""
        return super().node(node, post)

    def partial(self, node: Step, post: Point[Poly], warp: int) -> Proof[Poly]:
        """A proof of a statement in one warp, a case for each interval of the number of active lanes."""
        p, x = node.before.p, node.before.x

        def at(*facts: Expr) -> Proof[Poly]:
            here = p
            for fact in facts:
                here = assume(here, fact, self.context.sigma)
            after = post if isinstance(node.stmt, Assign) else replace(post, p=here)
            return self.whole(replace(node, before=State(here, x)), after)

        base = self.whole(node, post).pre.q
        split = steps_of(p, x, lambda fact: (at(fact).pre.q - base).constant, self.context, warp)
        if split is None:
            return self.whole(node, post)
        bounds = [Op("<=", (split.active, Const(end))) for end in split.ends]
        q = at(Op("==", (split.active, Const(1)))).pre.q + split.cost
        rest = at(*(Op("!", (b,)) for b in bounds))
        for i in reversed(range(len(bounds))):
            here = p
            for b in bounds[:i]:
                here = assume(here, b, self.context.sigma, False)
            sides = at(*(Op("!", (b,)) for b in bounds[:i]), bounds[i]), rest
            yes, no = (self.weaken(side, Point(side.pre.p, q, x), post) for side in sides)
            rest = by_cases(Point(here, q, x), bounds[i], yes, no, node.stmt.loc)
        return rest

    def ranges(self, node: Fork, /) -> Ranges | None:
        if self.warp is not None or not self.context.metric.counted:
            return None
        key = node.before, node.cond, node.loc
        if key not in self._ranges:
            p, x = node.before.p, node.before.x

            def alike(e: Expr) -> bool:
                return isinstance(self.oracle(Uniform(p, x, e), self.context), Proved)

            self._ranges[key] = ranges_of(node, partial(self._side, node), alike, self.context)
        return self._ranges[key]

    def _side(self, node: Fork, then: bool, more: P) -> Fraction:
        """The cost of the statements on a side of a branch where more is known, whichever of them are executed."""
        side = node.then if then else node.orelse
        return self._price(under(side, more, self.context)) if isinstance(side, Flow) else Fraction(0)

    def _price(self, flow: Flow) -> Fraction:
        """The cost of the statements of a flow without loops, those on both sides of its branches included."""
        total = Fraction(0)
        for node in flow.nodes:
            match node:
                case Step(Assign(_, e), State(p, x)):
                    total += self.cost(p, x, e)[0]
                case Step(Write(array, index, e), State(p, x)):
                    price = "gwrite" if self.is_global(array) else "swrite"
                    total += self.context.metric.count(price, self.count(price, p, x, array, index))
                    total += self.cost(p, x, index)[0] + self.cost(p, x, e)[0]
                case Fork(_, cond, then, orelse, State(p, x)):
                    total += self.cost(p, x, cond)[0]
                    total += sum(self._price(side) for side in (then, orelse) if isinstance(side, Flow))
        return total

    # --- loops ---

    def head(self, node: Cycle, price: Fraction, post: Poly) -> Poly:
        """The potential that was found, or that the outline states, with a frame where that leaves too little. Raises
        Stuck."""
        if node.q is None:
            raise Stuck(
                "the loop has no potential", node.loc, "State one: while (e) invariant {P; Q; X} { ... }", node.rule
            )
        left = self.opposite(node.invariant, node.cond)
        if node.framed or self.at_least(left, node.q - price, post) or variables(post) & written(node.body.stmt):
            return node.q
        return node.q + post

    def turn(self, node: Cycle, q: Poly, head: Point[Poly]) -> Proof[Poly]:
        body = self.body(_paying(node.body, q), head)
        return self.weaken(body, Point(node.body.start.p, q, head.x), body.post)

    def paid(self, flow: Flow, q: Poly, proof: Proof[Poly], /) -> Proof[Poly]:
        told = any(isinstance(node, Cut) for node in opening(flow)) and q != proof.pre.q
        return self.block(_paying(flow, q), proof.post) if told else proof

    def body(self, flow: Flow, head: Point[Poly]) -> Proof[Poly]:
        warp, self.warp = self.warp, None  # the loop's potential covers a whole warp
        body = self.block(flow, head)
        self.warp = warp
        return body

    def covers(self, state: State, q: Poly, r: Poly, /) -> None:
        """Nothing: the kernel says whether it is."""


def accesses(s: Stmt) -> Iterator[Expr]:
    """The reads in a statement without statements inside it, and the write as if it were one."""
    match s:
        case Assign(_, e):
            yield from (t for t in subterms(e) if isinstance(t, Read))
        case Write(array, index, e):
            yield from (t for part in (Read(array, index), e) for t in subterms(part) if isinstance(t, Read))


def _paying(body: Flow, q: Poly) -> Flow:
    """A loop's body in which facts that begin it, and what is assumed there, are known before its potential is used:
    all that is left of q is."""
    first = [*opening(body)]
    if first and isinstance(first[-1], Step):
        cut = Cut(first[-1].after, q, first[-1].stmt.loc)
        return replace(body, nodes=(*first, cut, *body.nodes[len(first) :]))
    match body.nodes:
        case (Cut(q=None) as stated, *rest):
            return replace(body, nodes=(replace(stated, q=q), *rest))
    return body


def by_cases(pre: Point[Poly], cond: Expr, yes: Proof[Poly], no: Proof[Poly], loc: Loc | None = None) -> Proof[Poly]:
    """One proof from two of a program, where a condition holds and where it does not."""
    substitution = named("", pre) | named("'", yes.post) | {"e": cond, "s": yes.stmt}
    return Proof(pre, yes.stmt, yes.post, Derivation(SPLIT.name, substitution, (yes.derivation, no.derivation), loc))


def weaken(proof: Proof[Poly], pre: Point[Poly], post: Point[Poly]) -> Proof[Poly]:
    """The proof with Q:Weak around it that gives these conditions; itself where they are the same already."""
    if pre == proof.pre and post == proof.post:
        return proof
    substitution = named("1", pre) | named("2", proof.pre) | named("2'", proof.post) | named("1'", post)
    substitution |= {"c": Fraction(0), "s": proof.stmt}
    loc = proof.derivation.loc
    return Proof(pre, proof.stmt, post, Derivation(WEAK.name, substitution, (proof.derivation,), loc))
