"""Random derivations of a program under any rule set, as bold as its rules allow.

Nothing here knows a rule by its name. A rule is text: its conclusion is matched with the statement and the condition
before it, letters that this leaves open get values that the rest of its items still allow - the strongest facts, the
largest potentials - and premises are derived in turn. A rule that lacks an item is thereby taken at its word. What
comes out is a proposal: the kernel judges it.

Potentials are relative: derivations start from 0 and fall below; `shifted` lifts them at the end.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final, TypeVar, cast

from checker import kernel
from checker.kernel import Env, Rejected
from checker.testbed.programs import GHOST_LOCAL, LOCALS, kind_of
from checker.testbed.world import SmallWorld
from logic.assertions import (
    Condition,
    Entails,
    P,
    Uniform,
    X,
    assume,
    conj,
    opaque,
)
from logic.derivation import Derivation, Value
from logic.facts import equations
from logic.potentials import ZERO, Poly, const, max0, of_expr, substitute, sym, variables
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
    Write,
    local_vars,
    same,
    seq,
    subterms,
    written,
)
from logic.syntax import substitute as substitute_expr

WRAPPED: Final = 0.3
"""How often a statement gets a rule that fits every statement, such as Q:Weak."""
APPLICATIONS: Final = (10, 20, 40)
"""Rule applications that may be tried for one derivation: one of these numbers."""
MOST_FACTS: Final = 6
LARGE: Final = 7
"""Nodes of a fact beyond which it is let go: a counter's past grows with every turn."""


class StuckError(Exception):
    """No way on from here."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A derivation with the triple that it is meant to prove."""

    pre: Condition
    stmt: Stmt
    post: Condition
    derivation: Derivation


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints from a program: facts, potentials that fall in its loops, coefficients."""

    facts: Sequence[Expr]
    measures: Sequence[Poly]
    coefficients: Sequence[int] = (1, 2, 3, 5, 8)


Costs = dict[int, Derivation]
"""Derivations of the costs above a rule's bar, by their place among the premises."""

Of = TypeVar("Of")
Found = TypeVar("Found")

Left = tuple[P, Poly, Callable[[Poly], Poly]]
"""Bounds of an unknown q from above, q |-> r: where P holds, a potential is at least r."""


class Builder:
    """Derives triples under one rule set, in one small world; `focus` names a rule to use where it can be used."""

    def __init__(
        self, rules: RuleSet, oracle: SmallWorld, rng: random.Random, hints: Hints, focus: str | None = None
    ) -> None:
        self.rules, self.oracle, self.rng, self.hints, self.focus = rules, oracle, rng, hints, focus
        self.context = oracle.context
        self.sigma = self.context.sigma
        self.left = rng.choice(APPLICATIONS)
        self.quiet = False
        self.plain = rng.random() < 0.6
        self._costs: dict[tuple[P, X, Expr], tuple[Fraction, Derivation]] = {}
        self._assignments: dict[tuple[Value, ...], P] = {}
        self._held: dict[tuple[int, ...], list[Value]] = {}
        self.anywhere: list[Rule] = []
        self.by_kind: dict[str, list[Rule]] = {}
        self.for_costs: list[Rule] = []
        for rule in rules.rules.values():
            if rule.conclusion.head == "cost":
                self.for_costs.append(rule)
            elif rule.conclusion.at(3).head == "meta":
                self.anywhere.append(rule)
            else:
                self.by_kind.setdefault(rule.conclusion.at(3).head, []).append(rule)

    # --- triples ---

    def triple(self, s: Stmt, pre: Condition, wrapped: float = WRAPPED) -> Proof:
        """Some proof of s that starts in `pre`. Raises StuckError."""
        if self.anywhere and not self.quiet:
            focused = [r for r in self.anywhere if r.name == self.focus]
            if self.rng.random() < (
                0.6 if focused and wrapped == WRAPPED else wrapped * 0.2 if self.plain else wrapped
            ):
                rule = self.rng.choice(focused or self.anywhere)
                try:
                    return self.apply(rule, s, pre)
                except StuckError:
                    pass
        rules = list(self.by_kind.get(kind_of(s), ()))
        self.rng.shuffle(rules)
        if self.quiet:
            rules.sort(key=_plainness)
        rules.sort(key=lambda r: r.name != self.focus)
        for rule in rules:
            try:
                return self.apply(rule, s, pre)
            except StuckError:
                continue
        raise StuckError

    def apply(self, rule: Rule, s: Stmt, pre: Condition) -> Proof:
        """An application of the rule to s that starts in `pre`. Raises StuckError."""
        self.left -= 1
        if self.left < 0:
            raise StuckError
        env: Env = {}
        if not self._match(rule.conclusion.at(3), s, env):
            raise StuckError
        try:
            if isinstance(s, While) and _iterates(rule):
                return self._loop(rule, s, pre, env)
            return self._solve(rule, s, pre, env)
        except (Rejected, KeyError, ValueError):
            raise StuckError from None

    def _solve(self, rule: Rule, s: Stmt, pre: Condition, env: Env) -> Proof:
        costs = self._before(rule, pre, env)
        self._check(rule, env)
        proofs, open_ = self._premises(rule, env, costs)
        for letter in _in_order(rule):
            if letter not in env:
                env[letter] = self._choose(letter, rule, env, [p.post for t, p in proofs if letter in _post(t)])
        self._check(rule, env, potentials=True)
        for i in open_:
            t, proof = proofs[i]
            proofs[i] = t, self.weakened(proof, self._condition(t, 4, env))
        return self._concluded(rule, s, pre, env, costs, [p.derivation for _, p in proofs])

    def _before(self, rule: Rule, pre: Condition, env: Env) -> Costs:
        """Values for what the condition before a statement decides; the costs above the bar."""
        c = rule.conclusion
        for i, value in ((0, pre.p), (2, pre.x)):
            if c.at(i).head == "meta":
                env.setdefault(c.at(i).name(), value)
        missing = [(m, kind(m)) for m in rule.metavariables if m not in env]
        for letter, what in missing:
            if what == "variable":
                env[letter] = GHOST_LOCAL
        for letter, what in missing:
            if what == "statement":
                env[letter] = self._ghostly(letter, rule, env)
            elif what == "expression":
                env[letter] = self._guess(letter, rule, env)
        costs: Costs = {}
        self._cost_premises(rule, env, costs)
        later = {m for i, t in enumerate(rule.premises) if t.head == "cost" and i not in costs for m in letters(t)}
        for letter, what in missing:
            if what in ("count", "cost") and letter not in env and letter not in later:
                env[letter] = self._number(letter, rule, env)
        known, unknown = ZERO, []
        for t in _summands(c.at(1)):
            if letters(t) <= env.keys():
                known = known + kernel.potential_of(t, env, self.context)
            elif t.head == "meta":
                unknown.append(t.name())
        for letter in unknown[1:]:
            env[letter] = self._frame(letter, rule, env)
            known = known + cast(Poly, env[letter])
        for letter in unknown[:1]:
            env[letter] = pre.q - known
        return costs

    def _cost_premises(self, rule: Rule, env: Env, costs: Costs) -> None:
        """Derivations of the costs above the bar where what they depend on has a value."""
        for number, t in enumerate(rule.premises):
            if t.head != "cost" or number in costs or not all(letters(t.at(i)) <= env.keys() for i in range(3)):
                continue
            p, x = kernel.assertion_of(t.at(0), env, self.context), kernel.variables_of(t.at(1), env, self.context)
            price, costs[number] = self.cost(p, x, kernel.expression_of(t.at(2), env, self.context))
            free = [m for m in metavariables(t.at(3)) if m not in env]
            if free:
                env[free[0]] = price

    def _premises(self, rule: Rule, env: Env, costs: Costs) -> tuple[list[tuple[Term, Proof]], list[int]]:
        """Proofs of the triples above the bar, and the numbers of those whose ends are still to be brought together."""
        triples = [t for t in rule.premises if t.head == "triple"]
        proofs: list[tuple[Term, Proof]] = []
        open_: list[int] = []
        watched = {m for t in rule.side_conditions if t.head == "ghost" for m in metavariables(t)}
        for i, t in enumerate(triples):
            for j in (0, 2, 1):
                for letter in sorted(letters(t.at(j))):
                    if letter not in env:
                        env[letter] = self._choose(letter, rule, env, [])
            start = self._condition(t, 0, env)
            inner = kernel.statement_of(t.at(3), env, self.context)
            proof = self.triple(inner, start, WRAPPED if rule.conclusion.at(3).head != "meta" else 0.1)
            proofs.append((t, proof))
            shared = {m for j, u in enumerate(triples) if j != i for m in _post(u)} | watched
            free = [m for m in _post(t) if m not in env]
            if free and not shared & set(free):
                self._bind_post(rule, t, proof.post, env, costs)
            open_.append(i)
        return proofs, open_

    def _bind_post(self, rule: Rule, t: Term, post: Condition, env: Env, costs: Costs) -> None:
        """Gives the letters of a premise's end what its proof has there."""
        if t.at(4).head == "meta":
            env.setdefault(t.at(4).name(), post.p)
        if t.at(6).head == "meta":
            env.setdefault(t.at(6).name(), post.x)
        self._cost_premises(rule, env, costs)
        known, unknown = ZERO, []
        for summand in _summands(t.at(5)):
            if letters(summand) <= env.keys():
                known = known + kernel.potential_of(summand, env, self.context)
            elif summand.head == "meta":
                unknown.append(summand.name())
        if len(unknown) == 1:
            env[unknown[0]] = post.q - known

    def _concluded(
        self, rule: Rule, s: Stmt, pre: Condition, env: Env, costs: Costs, triples: list[Derivation]
    ) -> Proof:
        triple = iter(triples)
        premises = tuple(costs[i] if t.head == "cost" else next(triple) for i, t in enumerate(rule.premises))
        c = rule.conclusion
        start, end = self._condition(c, 0, env), self._condition(c, 4, env)
        if not (self.rules.unrestricted or (self.lawful(start) and self.lawful(end))):
            raise StuckError
        derivation = Derivation(rule.name, {m: env[m] for m in rule.metavariables}, premises)
        proof = Proof(start, s, end, derivation)
        return proof if start == pre else self.weakened(proof, proof.post, pre)

    def lawful(self, condition: Condition) -> bool:
        """vars(Q) <= X"""
        return variables(condition.q) <= condition.x

    def _condition(self, t: Term, i: int, env: Env) -> Condition:
        context = self.context
        p, q, x = t.at(i), t.at(i + 1), t.at(i + 2)
        return Condition(
            kernel.assertion_of(p, env, context),
            kernel.potential_of(q, env, context),
            kernel.variables_of(x, env, context),
        )

    def weakened(self, proof: Proof, post: Condition, pre: Condition | None = None) -> Proof:
        """The proof with Q:Weak around it that begins and ends as wanted. Raises StuckError."""
        pre = pre or proof.pre
        if pre == proof.pre and post == proof.post:
            return proof
        env: Env = {"c": Fraction(0), "s": proof.stmt}
        for suffix, c in (("1", pre), ("2", proof.pre), ("2'", proof.post), ("1'", post)):
            env |= {f"P{suffix}": c.p, f"Q{suffix}": c.q, f"X{suffix}": c.x}
        rule = self.rules.rules.get("Q:Weak")
        if rule is None or set(env) != set(rule.metavariables):
            raise StuckError
        self._check(rule, env, potentials=True)
        return Proof(pre, proof.stmt, post, Derivation("Q:Weak", env, (proof.derivation,)))

    # --- side conditions ---

    def _check(self, rule: Rule, env: Env, potentials: bool = False) -> None:
        """Raises StuckError where a side condition whose letters all have values does not hold.

        Comparisons with 0 wait: potentials are relative here.
        """
        for t, inside in _checks(rule):
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

    def cost(self, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation]:
        """P; X |- e : C, as small as the rules allow. Raises StuckError."""
        key = (p, x, e)
        known = self._costs.get(key)
        if known is None:
            rules = [rule for rule in self.for_costs if rule.conclusion.at(2).head in ("meta", _HEADS[type(e)])]
            found = [c for rule in rules if (c := self._cost_by(rule, p, x, e))]
            if not found:
                raise StuckError
            known = self._costs[key] = min(found, key=lambda c: c[0])
        return known

    def _cost_by(self, rule: Rule, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation] | None:
        c = rule.conclusion
        env: Env = {}
        if not self._match(c.at(2), e, env):
            return None
        for i, value in ((0, p), (1, x)):
            if c.at(i).head == "meta":
                env[c.at(i).name()] = value
        try:
            costs: Costs = {}
            self._cost_premises(rule, env, costs)
            premises = tuple(costs[i] for i in range(len(rule.premises)))
            for letter in rule.metavariables:
                if letter not in env and kind(letter) in ("count", "cost"):
                    env[letter] = self._number(letter, rule, env)
            self._check(rule, env, potentials=True)
            price = kernel.potential_of(c.at(3), env, self.context)
        except (StuckError, Rejected, KeyError):
            return None
        return price.constant, Derivation(rule.name, {m: env[m] for m in rule.metavariables}, premises)

    def _number(self, letter: str, rule: Rule, env: Env) -> Value:
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

    def _choose(self, letter: str, rule: Rule, env: Env, ends: list[Condition]) -> Value:
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

    def _constraints(self, head: str, letter: str, rule: Rule, env: Env) -> list[Term]:
        """Side conditions that bound a letter from above, everything else in them known."""
        where = {"entails": 1, "at-least": 3, "subset": 0, "all-uniform": 2}[head]
        return [
            t
            for t in rule.side_conditions
            if t.head == head and letter in letters(t.at(where)) and letters(t) <= env.keys() | {letter}
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

    def _frame(self, letter: str, rule: Rule, env: Env) -> Poly:
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

    def _guess(self, letter: str, rule: Rule, env: Env) -> Expr:
        """A condition that the rule allows."""
        options = [f for f in self.hints.facts if not any(isinstance(t, Read) for t in subterms(f))]
        options += [g for f in options[:2] for k in (0, 3) if (g := _at_lane(f, k)) != f]
        guards, known = options[:2], [v for v in env.values() if isinstance(v, tuple)]
        self.rng.shuffle(options)
        for e in (*guards, *options)[:8] if self.rng.random() < 0.5 else options[:8]:
            if any(self.oracle.entails(p, f) for p in known for f in (e, Op("!", (e,)))):
                continue
            try:
                self._check(rule, {**env, letter: e})
            except (StuckError, Rejected):
                continue
            return e
        raise StuckError

    def _ghostly(self, letter: str, rule: Rule, env: Env) -> Stmt:
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

    # --- loops ---

    def _loop(self, rule: Rule, s: While, pre: Condition, env: Env) -> Proof:
        """The loop from an invariant found by trying: facts that the body keeps, a potential that it pays from."""
        invariant, spent = self._invariant(rule, s, pre)
        inner = dict(env)
        self._before(rule, invariant, inner)
        self._check(rule, inner)
        turn = _turn(rule)
        free: Env = {m: ZERO for m in letters(turn) if kind(m) == "potential"}
        price = kernel.potential_of(turn.at(5), inner | free, self.context) - kernel.potential_of(
            turn.at(1), inner | free, self.context
        )
        heads = list(self._heads(s, pre, invariant, price + spent))
        self.rng.shuffle(heads)
        for potential in heads[:3]:
            head = Condition(invariant.p, potential(), invariant.x)
            try:
                proof = self._solve(rule, s, head, dict(env))
                return proof if head == pre else self.weakened(proof, proof.post, pre)
            except StuckError:
                continue
        raise StuckError

    def _invariant(self, rule: Rule, s: While, pre: Condition) -> tuple[Condition, Poly]:
        """Facts and uniform variables that survive a turn, and what the turn costs."""
        pool = dict.fromkeys((*pre.p, *self.hints.facts))
        facts = [f for f in pool if self.oracle.entails(pre.p, f)]
        x = pre.x
        quiet, self.quiet = self.quiet, True
        try:
            for _ in range(8):
                p = conj(facts, self.sigma)
                turn = self.triple(s.body, Condition(assume(p, s.cond, self.sigma), ZERO, x))
                kept = [f for f in facts if self.oracle.entails(turn.post.p, f)]
                lost = frozenset() if _turn(rule).at(6).head == "empty" else x - turn.post.x
                if len(kept) == len(facts) and not lost:
                    break
                facts, x = kept, x - lost
            else:
                raise StuckError
        finally:
            self.quiet = quiet
        spent = turn.post.q * -1
        if variables(spent):
            spent = const(-(self.oracle.minimum(turn.post.p, turn.post.q) or Fraction(0)))
        return Condition(p, pre.q, x), spent

    def _heads(self, s: While, pre: Condition, invariant: Condition, turn: Poly) -> Iterable[Callable[[], Poly]]:
        """Potentials for the loop's head that `pre` can pay for, most never asked for; each turn costs `turn`."""
        changed = written(s.body)
        within = frozenset(self.sigma.locals) if self.rules.unrestricted else invariant.x
        stable = restricted(pre.q, within - changed)
        lost = self.oracle.minimum(pre.p, pre.q - stable)
        stable = stable + (lost if lost is not None else 0)
        if variables(pre.q) <= within:
            yield lambda: pre.q
            if variables(pre.q) & changed:
                yield lambda: pre.q
        if not turn.terms:
            yield lambda: stable
            return

        def paying(base: Poly, g: Poly) -> Poly:
            return base + (g - self._ceiling(pre.p, g)) * turn

        bases = (stable, pre.q) if variables(pre.q) <= within and stable != pre.q else (stable,)
        for g in self.hints.measures:
            if variables(g) & changed and variables(g) <= within:
                yield from (partial(paying, base, g) for base in bases)

    def _ceiling(self, p: P, g: Poly) -> Poly:
        """A potential over parameters that is at least g where p holds."""
        for x, e in equations(p):
            if isinstance(x, Var) and (v := of_expr(e)) is not None:
                g2 = substitute(g, {x: v})
                if not _thread_bound(g2):
                    return g2
        names = sorted(variables(g))
        fits: list[tuple[Fraction, Poly]] = []
        for value in (ZERO, const(1), const(2), const(3)):
            bound = substitute(g, {Var(x): value for x in names})
            least, most = self.oracle.minimum(p, bound - g), self.oracle.minimum((), bound * -1)
            if (least is None or least >= 0) and most is not None:
                fits.append((-most, bound))
        least = self.oracle.minimum(p, g * -1)
        fits.append((Fraction(0), ZERO) if least is None else (-least, const(-least)))
        return min(fits, key=lambda fit: fit[0])[1]

    # --- matching ---

    def _match(self, t: Term, value: Stmt | Expr, env: Env) -> bool:
        """Whether a term of a rule fits a statement or an expression; binds its letters."""

        def bind(letter: str, v: Value) -> bool:
            have = env.setdefault(letter, v)
            if isinstance(v, Skip | Seq | Assign | Write | If | While):
                return same(cast(Stmt, have), v)
            return have == v

        match t.head, value:
            case "meta", _:
                return bind(t.name(), cast(Value, value))
            case "skip" | "sync", _:
                return not isinstance(value, Var | Param | Const | Tid | Op | Read) and kind_of(value) == t.head
            case "seq", Seq(stmts):
                i = 1 if self.quiet else self.rng.randint(1, len(stmts) - 1)
                return self._match(t.at(0), seq(*stmts[:i]), env) and self._match(t.at(1), seq(*stmts[i:]), env)
            case "set", Assign(x, e):
                return bind(t.name(0), x) and self._match(t.at(1), e, env)
            case "write", Write(array, index, e):
                return (
                    self._array(t.name(0), array, env)
                    and self._match(t.at(1), index, env)
                    and self._match(t.at(2), e, env)
                )
            case "if", If(e, s1, s2):
                return all(self._match(t.at(i), v, env) for i, v in enumerate((e, s1, s2)))
            case "while", While(e, body):
                return self._match(t.at(0), e, env) and self._match(t.at(1), body, env)
            case "local", Var(name):
                return bind(t.name(0), name)
            case "param", Param(name):
                return bind(t.name(0), name)
            case "literal", Const():
                return bind(t.name(0), value)
            case "tid", Tid(axis):
                return bind(t.name(0), axis)
            case "op", Op(op, args) if len(args) == len(t.parts) - 1:
                return bind(t.name(0), op) and all(self._match(t.at(i), a, env) for i, a in enumerate(args, 1))
            case "read", Read(array, index):
                return self._array(t.name(0), array, env) and self._match(t.at(1), index, env)
        return False

    def _array(self, letter: str, array: str, env: Env) -> bool:
        space = kind(letter).split()[0]
        return space in ("array", self.sigma.arrays[array].space) and env.setdefault(letter, array) == array


def _once(f: Callable[[Of], Found]) -> Callable[[Of], Found]:
    """f, asked once for each rule or term: neither ever changes, and as it is kept, its id stays its own."""
    known: dict[int, tuple[Of, Found]] = {}

    def remembered(of: Of) -> Found:
        found = known.get(id(of))
        if found is None:
            found = known[id(of)] = (of, f(of))
        return found[1]

    return remembered


@_once
def letters(t: Term) -> frozenset[str]:
    """The metavariables of a term."""
    return frozenset(metavariables(t))


@_once
def _checks(rule: Rule) -> list[tuple[Term, frozenset[str]]]:
    """The side conditions of a rule but for comparisons with 0, each with its letters."""
    return [(t, letters(t)) for t in rule.side_conditions if t.head != "at-least" or t.at(3).head != "zero"]


@_once
def _plainness(rule: Rule) -> tuple[int, bool]:
    """Rules about fewer statements first, then those that make something uniform."""
    heads = [t.head for t in rule.items]
    return heads.count("triple"), "uniform" not in heads


@_once
def _iterates(rule: Rule) -> bool:
    """Whether the rule's body has to end where the rule begins."""
    c = rule.conclusion
    return any(t.head == "triple" and t.at(4) == c.at(0) for t in rule.premises)


@_once
def _turn(rule: Rule) -> Term:
    """The premise about the body of a loop."""
    return next(t for t in rule.premises if t.head == "triple" and t.at(4) == rule.conclusion.at(0))


@_once
def _post(t: Term) -> list[str]:
    """The letters of the condition at a triple's end."""
    return [m for i in (4, 5, 6) for m in metavariables(t.at(i))] if t.head == "triple" else []


@_once
def _in_order(rule: Rule) -> list[str]:
    """The letters of the conditions in a rule: within each, facts and uniform variables before potentials."""
    triples = (*(t for t in rule.premises if t.head == "triple"), rule.conclusion)
    within = (m for t in triples for i in (0, 4) for j in (i, i + 2, i + 1) for m in metavariables(t.at(j)))
    return [m for m in dict.fromkeys((*within, *rule.metavariables)) if kind(m) in _CONDITIONS]


_CONDITIONS: Final = ("assertion", "variables", "potential")
_HEADS: Final[dict[type, str]] = {
    Var: "local",
    Param: "param",
    Const: "literal",
    Tid: "tid",
    Op: "op",
    Read: "read",
}
"""The names that `logic.schema` gives to expressions."""


@_once
def _summands(t: Term) -> list[Term]:
    return [*_summands(t.at(0)), *_summands(t.at(1))] if t.head == "plus" else [t]


def kernel_potentials(env: Env) -> list[Poly]:
    """The potentials among the values of letters."""
    return [v for v in env.values() if isinstance(v, Poly)]


def _at_lane(e: Expr, k: int) -> Expr:
    """e for one lane."""
    match e:
        case Tid():
            return Const(k)
        case Op(op, args):
            return Op(op, tuple(_at_lane(a, k) for a in args))
    return e


def restricted(q: Poly, allowed: X) -> Poly:
    """The terms of q that depend on parameters and these variables only."""
    kept = [(m, c) for m, c in q.terms if variables(Poly(((m, c),))) <= allowed and not _thread_bound(Poly(((m, c),)))]
    return q if len(kept) == len(q.terms) else Poly(tuple(kept))


def _thread_bound(q: Poly) -> bool:
    from logic.potentials import leaves

    return any(isinstance(leaf, Tid) for leaf in leaves(q))


def inverted(x: str, e: Expr) -> Expr | None:
    """The old x in terms of the new one, for e = x + d or x - d."""
    match e:
        case Op("+" | "-" as op, (Var(name), d)) if name == x and x not in local_vars(d):
            if not any(isinstance(t, Read) for t in subterms(d)):
                return Op("-" if op == "+" else "+", (Var(x), d))
    return None


# --- whole derivations -----------------------------------------------------------------------------------------------


def closed(builder: Builder, s: Stmt, pre: Condition, modest: bool = False) -> Proof:
    """A proof that ends with a potential over parameters only; a modest one claims no negative cost where it begins
    with 0. Raises StuckError."""
    proof = builder.triple(s, pre)
    post = proof.post
    q = restricted(post.q, frozenset())
    least = builder.oracle.minimum(post.p, post.q - q)
    end = ZERO if least is None else q + least
    if modest:
        end = end + min(Fraction(0), builder.oracle.minimum(post.p, end * -1) or Fraction(0))
    return builder.weakened(proof, replace(post, q=end))


def tampered(root: Derivation, rng: random.Random, facts: Sequence[Expr]) -> Derivation:
    """The derivation with one letter of one application changed: the kernel has to notice, unless it stays right."""
    letters_ = [m for m in root.substitution if kind(m) in _CONDITIONS]
    if root.premises and (not letters_ or rng.random() < 0.6):
        i = rng.randrange(len(root.premises))
        inner = tampered(root.premises[i], rng, facts)
        return replace(root, premises=(*root.premises[:i], inner, *root.premises[i + 1 :]))
    if not letters_:
        return root
    letter = rng.choice(letters_)
    value: Value = root.substitution[letter]
    match value:
        case Poly():
            value = value + rng.choice([const(-2), const(-1), const(1), const(20), sym(Var(rng.choice(LOCALS)))])
        case frozenset():
            value = value ^ {rng.choice(LOCALS)}
        case tuple():
            value = value[1:] if value and rng.random() < 0.5 else cast(P, (*value, rng.choice(facts)))
    return replace(root, substitution={**root.substitution, letter: value})


def shifted(root: Derivation, by: Poly) -> Derivation:
    """The derivation with every Q raised by a potential over parameters: it stays one."""
    return Derivation(
        root.rule,
        {m: cast(Poly, v) + by if m[0] == "Q" else v for m, v in root.substitution.items()},
        tuple(shifted(p, by) for p in root.premises),
        root.loc,
    )


def rules_used(root: Derivation) -> Counter[str]:
    """How often a derivation applies each rule."""
    found: Counter[str] = Counter([root.rule])
    for premise in root.premises:
        found += rules_used(premise)
    return found
