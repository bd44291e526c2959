"""Values for the letters of a rule that a program leaves open: as bold as its side conditions allow."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast

from checker import kernel
from checker.kernel import Env
from checker.testbed.matching import HEADS, checks, fits, letters
from checker.testbed.programs import GHOST_LOCAL, LOCALS, TID
from checker.testbed.world import SmallWorld
from logic.assertions import (
    Condition,
    Entails,
    P,
    Uniform,
    X,
    conj,
    opaque,
)
from logic.derivation import Derivation, Value
from logic.potentials import ZERO, Poly, const, leaves, max0, of_expr, substitute, sym, variables
from logic.refusals import Rejected
from logic.rules import RuleSet
from logic.schema import Rule, Term, kind, metavariables
from logic.syntax import (
    FALSE,
    Assign,
    Const,
    Expr,
    If,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Tid,
    Var,
    While,
    local_vars,
    replace_part,
    seq,
    subterms,
)
from logic.syntax import substitute as substitute_expr

MOST_FACTS: Final = 6


LARGE: Final = 7
"""Nodes of a fact beyond which it is let go: a counter's past grows with every turn."""


class StuckError(Exception):
    """No way on from here."""


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints from a program: facts, potentials that fall in its loops, coefficients."""

    facts: Sequence[Expr]
    measures: Sequence[Poly]
    coefficients: Sequence[int] = (1, 2, 3, 5, 8)


BOUNDED: Final = {"entails": 1, "at-least": 3, "subset": 0, "all-uniform": 2}
"""The place, in each kind of side condition, of what it bounds from above."""

Costs = dict[int, Derivation]
"""Derivations of the costs above a rule's bar, by their place among the premises."""


Left = tuple[P, Poly, Callable[[Poly], Poly]]
"""Bounds of an unknown q from above, q |-> r: where P holds, a potential is at least r."""


class Choices:
    """Chooses under one rule set, in one small world; a quiet one takes no chances."""

    def __init__(self, rules: RuleSet, oracle: SmallWorld, rng: random.Random, hints: Hints) -> None:
        self.rules, self.oracle, self.rng, self.hints = rules, oracle, rng, hints
        self.context = oracle.context
        self.sigma = self.context.sigma
        self.quiet = False
        self.plain = rng.random() < 0.6
        self.for_costs = [rule for rule in rules.rules.values() if rule.conclusion.head == "cost"]
        self._costs: dict[tuple[P, X, Expr], tuple[Fraction, Derivation]] = {}
        self._assignments: dict[tuple[Value, ...], P] = {}
        self._held: dict[tuple[int, ...], list[Value]] = {}

    # --- side conditions ---

    def check(self, rule: Rule, env: Env, potentials: bool = False) -> None:
        """Raises StuckError where a side condition whose letters all have values does not hold.

        Comparisons with 0 wait: potentials are relative here.
        """
        for t, inside in checks(rule):
            if not inside <= env.keys() or (t.head == "at-least" and not potentials):
                continue
            values = [env[m] for m in inside]
            key = (id(t), *map(id, values))
            if key in self._held:
                continue
            for obligation in kernel.obligations_of(t, env, self.context):
                if not self.oracle.proves(obligation):
                    raise StuckError
            self._held[key] = values  # which keeps them alive, so that no other value gets such an id

    # --- costs ---

    def cost_premises(self, rule: Rule, env: Env, costs: Costs) -> None:
        """Derivations of the costs above the bar where what they depend on has a value."""
        for number, t in enumerate(rule.premises):
            if t.head != "cost" or number in costs or not all(letters(t.at(i)) <= env.keys() for i in range(3)):
                continue
            p, x = kernel.assertion_of(t.at(0), env, self.context), kernel.variables_of(t.at(1), env, self.context)
            price, costs[number] = self.cost(p, x, kernel.expression_of(t.at(2), env, self.context))
            free = [m for m in metavariables(t.at(3)) if m not in env]
            if free:
                env[free[0]] = price

    def cost(self, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation]:
        """P; X |- e : C, as small as the rules allow. Raises StuckError."""
        key = (p, x, e)
        known = self._costs.get(key)
        if known is None:
            rules = [rule for rule in self.for_costs if rule.conclusion.at(2).head in ("meta", HEADS[type(e)])]
            found = [c for rule in rules if (c := self._cost_by(rule, p, x, e))]
            if not found:
                raise StuckError
            known = self._costs[key] = min(found, key=lambda c: c[0])
        return known

    def _cost_by(self, rule: Rule, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation] | None:
        c = rule.conclusion
        env: Env = {}
        if not fits(c.at(2), e, env, self.sigma, lambda _: 1):
            return None
        for i, value in ((0, p), (1, x)):
            if c.at(i).head == "meta":
                env[c.at(i).name()] = value
        try:
            costs: Costs = {}
            self.cost_premises(rule, env, costs)
            premises = tuple(costs[i] for i in range(len(rule.premises)))
            for letter in rule.metavariables:
                if letter not in env and kind(letter) in ("count", "cost"):
                    env[letter] = self.number(letter, rule, env)
            self.check(rule, env, potentials=True)
            price = kernel.potential_of(c.at(3), env, self.context)
        except (StuckError, Rejected, KeyError):
            return None
        return price.constant, Derivation(rule.name, {m: env[m] for m in rule.metavariables}, premises)

    def number(self, letter: str, rule: Rule, env: Env) -> Value:
        """The least count that the rule allows; for a cost, 0 or a bit more."""
        if kind(letter) == "cost":
            return Fraction(0 if self.quiet or self.rng.random() < 0.8 else 1)
        least = 0
        for t in rule.side_conditions:
            if t.head == "at-most" and t.name(4) == letter:
                p, x = kernel.assertion_of(t.at(1), env, self.context), kernel.variables_of(t.at(2), env, self.context)
                access = kernel.expression_of(t.at(3), env, self.context)
                if isinstance(access, Read):
                    least = max(least, self.oracle.least(t.name(0), p, x, access.array, access.index))
        return least

    # --- choices ---

    def choose(self, letter: str, rule: Rule, env: Env, ends: list[Condition]) -> Value:
        """The most that the rule lets a letter be; `ends` are what premises prove of it."""
        banned: frozenset[str] = frozenset()
        for t in rule.side_conditions:
            if t.head == "ghost" and letter in [t.name(i) for i in range(1, len(t.parts))]:
                banned |= {cast(str, env.get(t.name(), GHOST_LOCAL))}
        match kind(letter):
            case "assertion":
                return self._assertion(letter, rule, env, [c.p for c in ends], banned)
            case "variables":
                return self._variables(letter, rule, env, [c.x for c in ends])
            case "potential":
                return self._potential(letter, rule, env, ends, banned)
        raise StuckError

    def bounded(self, letter: str, rule: Rule, env: Env) -> bool:
        """Whether everything that bounds a letter from above is known."""
        return all(
            letters(t) <= env.keys() | {letter}
            for t in rule.side_conditions
            if t.head in BOUNDED and letter in letters(t.at(BOUNDED[t.head]))
        )

    def _constraints(self, head: str, letter: str, rule: Rule, env: Env) -> list[Term]:
        """Side conditions that bound a letter from above, everything else in them known."""
        return [
            t
            for t in rule.side_conditions
            if t.head == head and letter in letters(t.at(BOUNDED[head])) and letters(t) <= env.keys() | {letter}
        ]

    def _assertion(self, letter: str, rule: Rule, env: Env, ends: list[P], banned: frozenset[str]) -> P:
        constraints = self._constraints("entails", letter, rule, env)
        lefts = [(t, kernel.assertion_of(t.at(0), env, self.context)) for t in constraints]

        moved = any(t.at(1).head == "assign" for t in constraints)

        def allowed(fact: Expr) -> bool:
            inside = local_vars(fact) if banned or moved else frozenset[str]()
            if inside & banned:
                return False
            for t, p in lefts:
                goal = t.at(1)
                if goal.head == "assign" and env[goal.name(1)] in inside:
                    if not self.oracle.proves(Entails(p, self._assigned(goal, {**env, letter: (fact,)}))):
                        return False
                elif not self.oracle.entails(p, fact):
                    return False
            return self.oracle.all_entail(ends, fact)

        if (constraints or not ends) and allowed(FALSE):
            return conj((FALSE,), self.sigma)
        pool: dict[Expr, None] = dict.fromkeys(f for p in ends for f in p)
        for value in env.values():
            if isinstance(value, tuple):
                pool |= dict.fromkeys(value)
        for t in constraints:
            if t.at(1).head == "assign":
                x, e = cast(str, env[t.at(1).name(1)]), kernel.expression_of(t.at(1).at(2), env, self.context)
                pool |= dict.fromkeys(self._after(x, e, list(pool)))
        pool |= dict.fromkeys(self.hints.facts)
        kept = [f for f in pool if allowed(f)]
        if len(kept) > MOST_FACTS:
            kept = self.rng.sample(kept, MOST_FACTS) if not self.quiet else kept[:MOST_FACTS]
        return conj(kept, self.sigma)

    def _assigned(self, t: Term, env: Env) -> P:
        """P[x <- e], remembered: it depends on nothing but the values of its letters. (`letters` keeps t alive.)"""
        key = (id(t), *(env[m] for m in letters(t)))
        found = self._assignments.get(key)
        if found is None:
            found = self._assignments[key] = kernel.assertion_of(t, env, self.context)
        return found

    def _after(self, x: str, e: Expr, facts: list[Expr]) -> Iterable[Expr]:
        """Facts that x <- e may bring about."""
        if not opaque(e, self.sigma) and x not in local_vars(e):
            yield Op("==", (Var(x), e))
        inverse = inverted(x, e)
        if inverse is not None:
            moved = (substitute_expr(f, {x: inverse}) for f in facts if x in local_vars(f))
            yield from (f for f in moved if sum(1 for _ in subterms(f)) <= LARGE)

    def _variables(self, letter: str, rule: Rule, env: Env, ends: list[X]) -> X:
        most = frozenset(self.sigma.locals).intersection(*ends)
        for t in self._constraints("subset", letter, rule, env):
            if t.at(0).head == "meta":
                most &= kernel.variables_of(t.at(1), env, self.context)
        for t in self._constraints("all-uniform", letter, rule, env):
            p, x = kernel.assertion_of(t.at(0), env, self.context), kernel.variables_of(t.at(1), env, self.context)
            most &= frozenset(v for v in most if v in x or self.oracle.proves(Uniform(p, x, Var(v))))
        if not self.quiet and self.rng.random() < 0.05:
            most = frozenset(v for v in sorted(most) if self.rng.random() < 0.5)
        return most

    def _potential(self, letter: str, rule: Rule, env: Env, ends: list[Condition], banned: frozenset[str]) -> Poly:
        """A shape, lowered by the constant that makes it fit."""
        at_least = self._constraints("at-least", letter, rule, env)
        lefts: list[Left] = [(c.p, c.q, lambda q: q) for c in ends]
        for t in at_least:
            left = kernel.potential_of(t.at(2), env, self.context)
            lefts.append((kernel.assertion_of(t.at(0), env, self.context), left, self._right(t.at(3), letter, env)))
        allowed = self._allowed(letter, rule, env) - banned
        if not lefts:
            known = kernel_potentials(env)
            bonus = const(self.rng.choice([0, 2, 5]))
            return restricted(self.rng.choice(known), allowed) + bonus if known else const(3)
        fitted: list[Poly] = []
        for shape in self._shapes(lefts, at_least, env):
            q = restricted(shape, allowed)
            room = [self.oracle.minimum(p, left - right(q)) for p, left, right in lefts]
            found = [m for m in room if m is not None]
            fitted.append(q + (min(found) if found else Fraction(self.rng.choice([0, 3]))))
        return fitted[0] if len(fitted) == 1 else max(fitted, key=lambda q: self._worth(q, lefts))

    def _worth(self, q: Poly, lefts: list[Left]) -> Fraction:
        """The least value of a potential where it is wanted."""
        return min((m for p, _, _ in lefts if (m := self.oracle.minimum(p, q)) is not None), default=Fraction(0))

    def _right(self, t: Term, letter: str, env: Env) -> Callable[[Poly], Poly]:
        return lambda q: kernel.potential_of(t, {**env, letter: q}, self.context)

    def _allowed(self, letter: str, rule: Rule, env: Env) -> X:
        """The variables that may be in a potential, by the X that stands beside it."""
        everything = frozenset(self.sigma.locals)
        if self.rules.unrestricted:
            return everything
        for t in (rule.conclusion, *rule.premises):
            for i in (0, 4) if t.head == "triple" else ():
                if letter in letters(t.at(i + 1)) and letters(t.at(i + 2)) <= env.keys():
                    everything &= kernel.variables_of(t.at(i + 2), env, self.context)
        return everything

    def _shapes(self, lefts: list[Left], constraints: list[Term], env: Env) -> Iterable[Poly]:
        """Potentials to try, one or several to choose from."""
        base = lefts[0][1]
        for t in constraints:
            if t.at(3).head == "assign":
                x, e = cast(str, env[t.at(3).name(1)]), kernel.expression_of(t.at(3).at(2), env, self.context)
                inverse = inverted(x, e)
                q = None if inverse is None else of_expr(inverse)
                if q is not None:
                    base = substitute(base, {Var(x): q})
        roll, rng = self.rng.random(), self.rng
        if self.quiet or (self.plain and roll < 0.6):
            yield base
            if len(lefts) > 1:
                yield restricted(base, frozenset())
                yield from (left for _, left, _ in lefts[1:])
        elif roll < 0.45:
            yield base
        elif roll < 0.55:
            yield rng.choice(lefts)[1]
        elif roll < 0.75:
            yield restricted(base, frozenset())
        elif roll < 0.83:
            x = rng.choice(LOCALS)
            yield substitute(base, {Var(x): rng.choice([ZERO, const(1), sym(Param("n"))])})
        elif self.hints.measures:
            yield base + rng.choice(self.hints.measures) * rng.choice(self.hints.coefficients)
        else:
            yield base

    def frame(self, letter: str, rule: Rule, env: Env) -> Poly:
        """A potential beside another one in the conclusion's beginning."""
        n, x, y = sym(Param("n")), sym(Var("x")), sym(Var("y"))
        options = [
            max0(n),
            const(2),
            max0(x),
            max0(const(2) - y),
            x * x,
            max0(n - x),
            n,
            x,
            const(-2),
            y,
            *self.hints.measures,
        ]
        self.rng.shuffle(options)
        for q in (const(-2), *options) if self.rng.random() < 0.5 else options:
            if self._permits(rule, letter, {**env, letter: q}):
                return q
        raise StuckError

    def _permits(self, rule: Rule, letter: str, env: Env) -> bool:
        """Whether the side conditions about a letter hold, those at least that have values."""
        about = [t for t in rule.side_conditions if letter in letters(t) and letters(t) <= env.keys()]
        try:
            return all(self.oracle.proves(o) for t in about for o in kernel.obligations_of(t, env, self.context))
        except Rejected:
            return False

    def guess(self, letter: str, rule: Rule, env: Env) -> Expr:
        """A condition that the rule allows."""
        options = [f for f in self.hints.facts if not any(isinstance(t, Read) for t in subterms(f))]
        options += [g for f in options[:2] for k in (0, 3) if (g := replace_part(f, TID, Const(k))) != f]
        guards, known = options[:2], [v for v in env.values() if isinstance(v, tuple)]
        self.rng.shuffle(options)
        for e in (*guards, *options)[:8] if self.rng.random() < 0.5 else options[:8]:
            if any(self.oracle.entails(p, f) for p in known for f in (e, Op("!", (e,)))):
                continue
            try:
                self.check(rule, {**env, letter: e})
            except (StuckError, Rejected):
                continue
            return e
        raise StuckError

    def ghostly(self, letter: str, rule: Rule, env: Env) -> Stmt:
        """The statement with assignments to the ghost, where the rule speaks of one. It never leaves the world."""
        for t in rule.side_conditions:
            if t.head == "erased" and t.name(1) == letter and t.name(0) in env:
                return self._with_ghost(cast(Stmt, env[t.name(0)]), cast(str, env[t.name(2)]))
        return Skip()

    def _with_ghost(self, s: Stmt, x: str) -> Stmt:
        more = Op("min", (Op("+", (Var(x), Const(1))), Const(self.oracle.world.values[-1])))
        values: list[Expr] = [Const(0), more, Var("x"), Tid("x")]
        set_ = Assign(x, self.rng.choice(values))
        match s:
            case Seq(stmts):
                i = self.rng.randint(0, len(stmts))
                return seq(*stmts[:i], set_, *stmts[i:])
            case If(e, s1, s2) if self.rng.random() < 0.5:
                return If(e, self._with_ghost(s1, x), s2)
            case While(e, body) if self.rng.random() < 0.7:
                return While(e, self._with_ghost(body, x))
            case Skip() if self.rng.random() < 0.5:
                return set_
        return seq(set_, s) if self.rng.random() < 0.5 else seq(s, set_)


def kernel_potentials(env: Env) -> list[Poly]:
    """The potentials among the values of letters."""
    return [v for v in env.values() if isinstance(v, Poly)]


def restricted(q: Poly, allowed: X) -> Poly:
    """The terms of q that depend on parameters and these variables only."""
    kept = [(m, c) for m, c in q.terms if variables(Poly(((m, c),))) <= allowed and not thread_bound(Poly(((m, c),)))]
    return q if len(kept) == len(q.terms) else Poly(tuple(kept))


def thread_bound(q: Poly) -> bool:
    return any(isinstance(leaf, Tid) for leaf in leaves(q))


def inverted(x: str, e: Expr) -> Expr | None:
    """The old x in terms of the new one, for e = x + d or x - d."""
    match e:
        case Op("+" | "-" as op, (Var(name), d)) if name == x and x not in local_vars(d):
            if not any(isinstance(t, Read) for t in subterms(d)):
                return Op("-" if op == "+" else "+", (Var(x), d))
    return None
