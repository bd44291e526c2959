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
from typing import Final, cast

from checker import kernel
from checker.kernel import Env
from checker.testbed.choices import Choices, Costs, Hints, StuckError, restricted, thread_bound
from checker.testbed.matching import (
    CONDITIONS,
    ends_in,
    fits,
    in_order,
    iterates,
    letters,
    plainness,
    summands,
    turn_of,
)
from checker.testbed.programs import GHOST_LOCAL, LOCALS, kind_of
from checker.testbed.world import SmallWorld
from logic.assertions import (
    Condition,
    P,
    assume,
    conj,
)
from logic.derivation import Derivation, Value
from logic.facts import equations
from logic.potentials import ZERO, Poly, const, of_expr, substitute, sym, variables
from logic.refusals import Rejected
from logic.rules import WEAK, RuleSet
from logic.schema import Rule, Term, kind, metavariables
from logic.syntax import (
    Expr,
    Stmt,
    Var,
    While,
    written,
)

WRAPPED: Final = 0.3
"""The share of statements that get a rule that fits every statement, such as Q:Weak."""
APPLICATIONS: Final = (10, 20, 40)
"""Rule applications that may be tried for one derivation: one of these numbers."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A derivation with the triple that it is meant to prove."""

    pre: Condition
    stmt: Stmt
    post: Condition
    derivation: Derivation


class Builder:
    """Derives triples under one rule set, in one small world; `focus` names a rule to use where it can be used."""

    def __init__(
        self, rules: RuleSet, oracle: SmallWorld, rng: random.Random, hints: Hints, focus: str | None = None
    ) -> None:
        self.rules, self.oracle, self.rng, self.hints, self.focus = rules, oracle, rng, hints, focus
        self.context = oracle.context
        self.sigma = self.context.sigma
        self.left = rng.choice(APPLICATIONS)
        self.choices = Choices(rules, oracle, rng, hints)
        self.anywhere: list[Rule] = []
        self.by_kind: dict[str, list[Rule]] = {}
        for rule in rules.rules.values():
            if rule.conclusion.head == "cost":
                continue
            if rule.conclusion.at(3).head == "meta":
                self.anywhere.append(rule)
            else:
                self.by_kind.setdefault(rule.conclusion.at(3).head, []).append(rule)

    # --- triples ---

    def triple(self, s: Stmt, pre: Condition, wrapped: float = WRAPPED) -> Proof:
        """Some proof of s that starts in `pre`. Raises StuckError."""
        if self.anywhere and not self.choices.quiet:
            focused = [r for r in self.anywhere if r.name == self.focus]
            if self.rng.random() < (
                0.6 if focused and wrapped == WRAPPED else wrapped * 0.2 if self.choices.plain else wrapped
            ):
                rule = self.rng.choice(focused or self.anywhere)
                try:
                    return self.apply(rule, s, pre)
                except StuckError:
                    pass
        rules = list(self.by_kind.get(kind_of(s), ()))
        self.rng.shuffle(rules)
        if self.choices.quiet:
            rules.sort(key=plainness)
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
        if not fits(rule.conclusion.at(3), s, env, self.sigma, self._cut):
            raise StuckError
        try:
            if isinstance(s, While) and iterates(rule):
                return self._loop(rule, s, pre, env)
            return self._solve(rule, s, pre, env)
        except (Rejected, KeyError, ValueError):
            raise StuckError from None

    def _cut(self, n: int) -> int:
        return 1 if self.choices.quiet else self.rng.randint(1, n - 1)

    def _solve(self, rule: Rule, s: Stmt, pre: Condition, env: Env) -> Proof:
        costs = self._before(rule, pre, env)
        self.choices.check(rule, env)
        proofs, open_ = self._premises(rule, env, costs)
        open_letters = [letter for letter in in_order(rule) if letter not in env]
        while open_letters:
            letter = next((m for m in open_letters if self.choices.bounded(m, rule, env)), open_letters[0])
            open_letters.remove(letter)
            ends = [p.post for t, p in proofs if letter in ends_in(t)]
            env[letter] = self.choices.choose(letter, rule, env, ends)
        self.choices.check(rule, env, potentials=True)
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
                env[letter] = self.choices.ghostly(letter, rule, env)
            elif what == "expression":
                env[letter] = self.choices.guess(letter, rule, env)
        costs: Costs = {}
        self.choices.cost_premises(rule, env, costs)
        later = {m for i, t in enumerate(rule.premises) if t.head == "cost" and i not in costs for m in letters(t)}
        for letter, what in missing:
            if what in ("count", "cost") and letter not in env and letter not in later:
                env[letter] = self.choices.number(letter, rule, env)
        known, unknown = ZERO, []
        for t in summands(c.at(1)):
            if letters(t) <= env.keys():
                known = known + kernel.potential_of(t, env, self.context)
            elif t.head == "meta":
                unknown.append(t.name())
        for letter in unknown[1:]:
            env[letter] = self.choices.frame(letter, rule, env)
            known = known + cast(Poly, env[letter])
        for letter in unknown[:1]:
            env[letter] = pre.q - known
        return costs

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
                        env[letter] = self.choices.choose(letter, rule, env, [])
            start = self._condition(t, 0, env)
            inner = kernel.statement_of(t.at(3), env, self.context)
            proof = self.triple(inner, start, WRAPPED if rule.conclusion.at(3).head != "meta" else 0.1)
            proofs.append((t, proof))
            shared = {m for j, u in enumerate(triples) if j != i for m in ends_in(u)} | watched
            free = [m for m in ends_in(t) if m not in env]
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
        self.choices.cost_premises(rule, env, costs)
        known, unknown = ZERO, []
        for summand in summands(t.at(5)):
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
        rule = self.rules.rules.get(WEAK.name)
        if rule is None or set(env) != set(rule.metavariables):
            raise StuckError
        self.choices.check(rule, env, potentials=True)
        return Proof(pre, proof.stmt, post, Derivation(WEAK.name, env, (proof.derivation,)))

    # --- loops ---

    def _loop(self, rule: Rule, s: While, pre: Condition, env: Env) -> Proof:
        """The loop from an invariant found by trying: facts that the body keeps, a potential that it pays from."""
        invariant, spent = self._invariant(rule, s, pre)
        inner = dict(env)
        self._before(rule, invariant, inner)
        self.choices.check(rule, inner)
        turn = turn_of(rule)
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
        quiet, self.choices.quiet = self.choices.quiet, True
        try:
            for _ in range(8):
                p = conj(facts, self.sigma)
                turn = self.triple(s.body, Condition(assume(p, s.cond, self.sigma), ZERO, x))
                kept = [f for f in facts if self.oracle.entails(turn.post.p, f)]
                lost = frozenset() if turn_of(rule).at(6).head == "empty" else x - turn.post.x
                if len(kept) == len(facts) and not lost:
                    break
                facts, x = kept, x - lost
            else:
                raise StuckError
        finally:
            self.choices.quiet = quiet
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
                if not thread_bound(g2):
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
    letters_ = [m for m in root.substitution if kind(m) in CONDITIONS]
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
    """The number of times that a derivation applies each rule."""
    found: Counter[str] = Counter([root.rule])
    for premise in root.premises:
        found += rules_used(premise)
    return found
