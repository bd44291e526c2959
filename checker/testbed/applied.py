"""Rules on trial in the search for bounds: how each is used is read off its text, by its plan.

Nothing here is trusted: the kernel judges each application by the rule's text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Any, Final, TypeVar, cast

from checker.kernel import (
    Env,
    Oracle,
    assertion_of,
    expression_of,
    obligations_of,
    potential_of,
    statement_of,
    variables_of,
)
from checker.synthesis.nodes import Cycle, Flow, Fork, Node, State, Step, begun
from checker.synthesis.outline import Block, Branch, Loop, bare, strip
from checker.synthesis.rules import SOUND
from checker.synthesis.rules.transformer import Analysis, Book, Cost, Transformer
from checker.synthesis.walk import Amount, Parts, Point, Proof, Walk, named, told
from checker.testbed.matching import fits, letters, summands
from checker.testbed.plans import Bind, Plan, Prove, is_letter, of_kind, plan, refuse
from checker.testbed.rulefile import RuleFileProblem
from logic import rules as logic
from logic.assertions import P, Proved, X
from logic.derivation import Derivation
from logic.potentials import Poly, variables
from logic.refusals import Rejected
from logic.rules import FRAME, GHOST, SEQ, SKIP, SPLIT, UNROLL, WEAK, RuleSet
from logic.schema import Rule, Term, kind, show
from logic.source import Loc
from logic.syntax import Expr, If, Op, Read, Stmt, Var, While, written

A = TypeVar("A", bound=Amount)

Blocked = Collection[tuple[str, Loc | None]]
"""Rules, and places where they are not to be used."""


# --- with the flow: facts and uniform variables -----------------------------------------------------------------------


def _values(plan: Plan, a: Analysis, stmt: Stmt, state: State) -> Env | None:
    """The letters that a statement and what holds before it give a value; None where the rule is not about it."""
    env: Env = {}
    c = plan.rule.conclusion
    if not fits(c.at(3), stmt, env, a.sigma, lambda _: 1):
        return None
    env |= {c.at(0).name(): state.p} if c.at(0).head == "meta" else {}
    return env | ({c.at(2).name(): state.x} if c.at(2).head == "meta" else {})


Joined = Callable[[Sequence[P]], P]
"""What several places have in common."""


def _found(
    plan: Plan, a: Analysis, env: Env, body: Callable[[int, State], Flow], joined: Joined, forced: bool
) -> tuple[Env, dict[int, Flow], State] | None:
    """The letters for facts and uniform variables, the flows of the premises, and what holds at the end; None where a
    side condition that can be asked for does not hold."""
    flows: dict[int, Flow] = {}
    rule, context = plan.rule, a.context
    for step in plan.ahead:
        if isinstance(step, Prove):
            t = rule.premises[step.premise]
            start = State(assertion_of(t.at(0), env, context), variables_of(t.at(2), env, context))
            flows[step.premise] = body(step.premise, start)
        elif kind(step.letter) == "variables":
            sets = [variables_of(t, env, context) for t in step.terms]
            env[step.letter] = reduce(X.intersection, [*(flows[i].end.x for i in step.ends), *sets])
        else:
            here = [assertion_of(t, env, context) for t in step.terms]
            if (update := _update(rule, step.letter)) is not None:
                x, e = cast(str, env[update.name(1)]), expression_of(update.at(2), env, context)
                here = [a.after_assignment(p, x, e) for p in here]
            env[step.letter] = joined([*(flows[i].end.p for i in step.ends), *here])
    if not all(_holds(t, env, a, forced) for t in plan.asked) or not all(
        _ends(rule.premises[i], flow.end, env, a) for i, flow in flows.items()
    ):
        return None
    c = rule.conclusion
    return env, flows, State(assertion_of(c.at(4), env, context), variables_of(c.at(6), env, context))


def _update(rule: Rule, letter: str) -> Term | None:
    """P'[x <- e], where that follows from what is known before an assignment."""
    sides = (t.at(1) for t in rule.side_conditions if t.head == "entails")
    return next((t for t in sides if t.head == "assign" and t.at(0) == Term("meta", (letter,))), None)


def _holds(t: Term, env: Env, a: Analysis, forced: bool) -> bool:
    """Whether a side condition holds, as far as the walk forward can tell; of a rule that an outline names, only what
    is not for an oracle to say."""
    if t.head == "subset":
        return variables_of(t.at(0), env, a.context) <= variables_of(t.at(1), env, a.context)
    if forced:
        return True
    p = assertion_of(t.at(0), env, a.context)
    match t.head:
        case "holds":
            return a.entails(p, expression_of(t.at(1), env, a.context))
        case "refutes":
            return a.entails(p, Op("!", (expression_of(t.at(1), env, a.context),)))
        case "entails":
            return all(a.entails(p, c) for c in assertion_of(t.at(1), env, a.context))
        case "uniform":
            return a.uniform(p, variables_of(t.at(1), env, a.context), expression_of(t.at(2), env, a.context))
        case "all-uniform":
            x = variables_of(t.at(1), env, a.context)
            return all(a.uniform(p, x, Var(name)) for name in sorted(variables_of(t.at(2), env, a.context) - x))
    return True


def _ends(t: Term, end: State, env: Env, a: Analysis) -> bool:
    """Whether a premise ends as its text says, where that is not what was found there."""
    if not variables_of(t.at(6), env, a.context) <= end.x:
        return False
    return all(c in end.p or a.entails(end.p, c) for c in assertion_of(t.at(4), env, a.context))


def _step(plan: Plan, blocked: Blocked) -> Callable[[Analysis, Any, State, bool], Node | None]:
    def forward(a: Analysis, stmt: Any, state: State, forced: bool) -> Node | None:
        if (plan.rule.name, stmt.loc) in blocked or (env := _values(plan, a, stmt, state)) is None:
            return None
        found = _found(plan, a, env, _no_body, lambda ps: reduce(a.join, ps), forced)
        return None if found is None else Step(stmt, state, found[2], plan.rule.name, found[0])

    return forward


def _no_body(_: int, __: State) -> Flow:
    raise TypeError("a statement without statements inside it has no body")


def _fork(plan: Plan, blocked: Blocked) -> Callable[[Analysis, Any, State, bool], Node | None]:
    rule, subject = plan.rule, plan.rule.conclusion.at(3)

    def forward(a: Analysis, item: Any, state: State, forced: bool) -> Node | None:
        loop = isinstance(item, Loop)
        if (rule.name, item.loc) in blocked or (env := _values(plan, a, strip((item,)), state)) is None:
            return None
        sides: list[Block] = [item.body, ()] if loop else [item.then, item.orelse]
        own = {t.name(): side for t, side in zip(_parts(subject), sides, strict=False) if t.head == "meta"}

        def body(i: int, start: State) -> Flow:
            letter = rule.premises[i].at(3).name()
            return a.block(own[letter] if letter in own else bare(cast(Stmt, env[letter])), start)

        def joined(ps: Sequence[P]) -> P:
            if isinstance(item, Branch) and len(ps) == 2:
                return a.merged(item, state.p, ps[0], ps[1])
            return reduce(a.join, ps)

        found = _found(plan, a, env, body, joined, forced)
        if found is None:
            return None
        letters_, flows, after = found
        by_letter = {rule.premises[i].at(3).name(): flow for i, flow in flows.items()}
        then, orelse = (
            by_letter.get(t.name(), strip(side)) if t.head == "meta" else strip(side)
            for t, side in zip((*_parts(subject), Term("skip")), sides, strict=False)
        )
        repeated = While(item.cond, strip(item.body), item.loc) if loop else None
        agreed = rule.agrees and not loop
        return Fork(
            rule.name, item.cond, then, orelse, state, after, item.loc, repeated, agreed=agreed, letters=letters_
        )

    return forward


def _parts(subject: Term) -> list[Term]:
    """The statements inside a branch or a loop."""
    return [subject.at(i) for i in range(1, len(subject.parts))]


def _cycle(plan: Plan, blocked: Blocked) -> Callable[[Analysis, Any, State, bool], Node | None]:
    rule = plan.rule

    def forward(a: Analysis, node: Any, _: State, forced: bool) -> Node | None:
        whole = While(node.cond, node.body.stmt, node.loc)
        if (rule.name, node.loc) in blocked or (env := _values(plan, a, whole, node.invariant)) is None:
            return None
        found = _found(plan, a, env, lambda _, __: node.body, lambda ps: reduce(a.join, ps), forced)
        return None if found is None else replace(node, rule=rule.name, after=found[2], letters=found[0])

    return forward


# --- against the flow: potentials -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Back:
    """An application, while its potentials are found; `env` has all that is no potential."""

    plan: Plan
    walk: Walk[Any]
    node: Any
    env: Env
    amounts: dict[str, Any] = field(default_factory=dict)
    costs: dict[int, Derivation] = field(default_factory=dict)
    proofs: dict[int, Proof[Any]] = field(default_factory=dict)

    def state(self, t: Term, p: int = 0, x: int = 2) -> State:
        context = self.walk.context
        return State(assertion_of(t.at(p), self.env, context), variables_of(t.at(x), self.env, context))

    def priced(self) -> None:
        """Gives letters for costs and counts their values."""
        rule, w = self.plan.rule, self.walk
        for t in rule.side_conditions:
            if t.head == "at-most":
                here, access = self.state(t, 1, 2), expression_of(t.at(3), self.env, w.context)
                price = _price(rule, t)
                self.env[t.name(4)] = w.count(price, here.p, here.x, access.array, access.index)  # type: ignore[union-attr]
            elif t.head == "nonnegative":
                self.env[t.name()] = Fraction(0)
        for i, t in enumerate(rule.premises):
            if t.head == "cost":
                here = self.state(t, 0, 1)
                c, self.costs[i] = w.cost(here.p, here.x, expression_of(t.at(2), self.env, w.context))
                self.env.setdefault(t.at(3).name(), c)

    def price(self, t: Term) -> Fraction:
        """The sum of a potential's summands besides letters."""
        context = self.walk.context
        fixed = (potential_of(s, self.env, context) for s in summands(t) if not of_kind(s, "potential"))
        return sum((q.constant for q in fixed), Fraction(0))

    def amount(self, t: Term, nothing: Any) -> Any:
        """A potential, once its letters have values."""
        total, fixed = nothing, self.price(t)
        for s in summands(t):
            if s.head == "assign":
                total = total + self.walk.assigned(self.node, self.node.stmt, self.amounts[s.at(0).name()])
            elif of_kind(s, "potential"):
                total = total + self.amounts[s.name()]
        return total + fixed


def _price(rule: Rule, t: Term) -> str:
    """The price that a number of accesses is for."""

    def counts(s: Term) -> Iterator[str]:
        if s.head == "count" and s.name(1) == t.name(4):
            yield s.name(0)
        for part in s.parts:
            if isinstance(part, Term):
                yield from counts(part)

    return next(counts(rule.conclusion), "gread" if t.name(0) == "MemReads" else "sread")


def _before(plan: Plan) -> Callable[[Walk[Any], Any, Point[Any]], Proof[Any]]:
    rule, c = plan.rule, plan.rule.conclusion

    def before(w: Walk[Any], node: Any, post: Point[Any]) -> Proof[Any]:
        nothing = post.q - post.q
        here = node.invariant if isinstance(node, Cycle) else node.before
        work = _Back(plan, w, node, dict(node.letters))
        work.priced()
        wanted = post.q
        if rule.shape == "set" and node.uniform:
            wanted = w.renamed(node, node.stmt, post.q)
        work.amounts |= dict.fromkeys(of_kind(c.at(5), "potential"), wanted)
        if plan.head:
            work.amounts[plan.base] = w.head(node, work.price(c.at(1)), wanted) - work.price(c.at(1))
        for step in plan.back:
            if isinstance(step, Prove):
                work.proofs[step.premise] = _premise(work, step.premise, nothing)
            else:
                work.amounts[step.letter] = _needed(work, step, here, nothing)
        for i, proof in work.proofs.items():
            work.proofs[i] = _begun(work, i, proof, nothing)
        for t in plan.least:
            x = variables_of(t.at(1), work.env, w.context)
            at = State(assertion_of(t.at(0), work.env, w.context), x)
            w.covers(at, work.amount(t.at(2), nothing), work.amount(t.at(3), nothing))
        work.env |= {t.at(3).name(): work.proofs[i].stmt for i, t in enumerate(rule.premises) if i in work.proofs}
        stmt, loc = _rebuilt(node, work), node.stmt.loc if isinstance(node, Step) else node.loc
        start, end = work.state(c), work.state(c, 4, 6)
        pre = Point(start.p, work.amount(c.at(1), nothing), start.x)
        left = Point(end.p, work.amount(c.at(5), nothing), end.x)
        framed = not of_kind(c.at(5), "potential")
        if not framed:
            w.covers(end, left.q, post.q)

        def parts() -> Parts:
            values = {**work.env, **{m: told(q) for m, q in work.amounts.items()}}
            inner = (work.costs[i] if i in work.costs else work.proofs[i].derivation for i in range(len(rule.premises)))
            return {m: values[m] for m in rule.metavariables}, tuple(inner)

        proof = w.conclude(rule.name, pre, stmt, left, loc, parts)
        if framed:
            proof = _framed(w, proof, post.q, nothing)
        return w.weaken(proof, Point(node.before.p, proof.pre.q, node.before.x), post)

    return before


def _framed(w: Walk[Any], proof: Proof[Any], q: Any, nothing: Any) -> Proof[Any]:
    """The proof with Q:Frame around it: what is wanted afterwards of a rule whose text leaves a number."""
    pre, post = proof.pre, proof.post
    q = w.within(State(pre.p, pre.x - written(proof.stmt)), q)
    w.covers(State(pre.p, pre.x), q, nothing)

    def parts() -> Parts:
        values = named("", pre) | named("'", post) | {"s": proof.stmt, "F": told(q)}
        return values, (proof.derivation,)

    more = variables(q) if isinstance(q, Poly) else frozenset()
    after = Point(post.p, post.q + q, post.x | more)
    return w.conclude(FRAME.name, Point(pre.p, pre.q + q, pre.x), proof.stmt, after, proof.derivation.loc, parts)


def _rebuilt(node: Any, work: _Back) -> Stmt:
    """The statement of a node, with its parts as they were proved."""
    rebuilt = statement_of(work.plan.rule.conclusion.at(3), work.env, work.walk.context)
    return node.stmt if isinstance(node, Step) else replace(cast(If | While, rebuilt), loc=node.loc)


def _flow(node: Any, plan: Plan, i: int) -> Flow:
    """The flow of a premise."""
    if isinstance(node, Cycle):
        return node.body
    subject, letter = plan.rule.conclusion.at(3), plan.rule.premises[i].at(3)
    sides = [side for t, side in zip(_parts(subject), (node.then, node.orelse), strict=False) if t == letter]
    if len(sides) != 1 or not isinstance(sides[0], Flow):
        raise TypeError(f"{plan.rule.name} needs a flow of {letter.name()}")
    return sides[0]


def _premise(work: _Back, i: int, nothing: Any) -> Proof[Any]:
    """A proof of a premise that ends as it should."""
    plan, w, t = work.plan, work.walk, work.plan.rule.premises[i]
    end = work.state(t, 4, 6)
    post = Point(end.p, work.amount(t.at(5), nothing), end.x)
    if plan.head and t.at(1) == Term("meta", (plan.base,)):
        return w.turn(work.node, work.amounts[plan.base], post)
    flow = _flow(work.node, plan, i)
    return w.body(flow, post) if plan.head else w.block(flow, post)


def _needed(work: _Back, step: Bind, here: State, nothing: Any) -> Any:
    """The potential that is enough wherever a letter is needed; 0 where it is needed nowhere."""
    w, plan = work.walk, work.plan
    first = step.letter == plan.base
    found: list[tuple[State, Any]] = []
    for i in step.ends:
        flow, q = _flow(work.node, plan, i), work.proofs[i].pre.q
        found.append((begun(flow, flow.start), w.clamped(flow.start, q) if first else q))
    for t in step.terms:
        context = w.context
        at = State(assertion_of(t.at(0), work.env, context), variables_of(t.at(1), work.env, context))
        q = work.amount(t.at(3), nothing)
        found.append((at, w.clamped(at, q) if first and isinstance(work.node, Fork) else q))
    if not found:
        return nothing
    state, q = found[0]
    agreed = work.node if isinstance(work.node, Fork) and work.node.agreed and first else None
    for other, r in found[1:]:
        q = w.larger(state, q, other, r, agreed) if agreed else w.larger(state, q, other, r)
        state = other
    return w.within(here if first else found[-1][0], q)


def _begun(work: _Back, i: int, proof: Proof[Any], nothing: Any) -> Proof[Any]:
    """The proof of a premise, from the potential that its text begins with."""
    w, t = work.walk, work.plan.rule.premises[i]
    start, q = work.state(t), work.amount(t.at(1), nothing)
    if isinstance(work.node, Fork):
        proof = w.paid(_flow(work.node, work.plan, i), q, proof)
    w.covers(start, q, proof.pre.q) if t.at(1).head != "meta" else None
    return w.weaken(proof, Point(start.p, q, start.x), proof.post)


# --- expressions ------------------------------------------------------------------------------------------------------


def _cost(rule: Rule, blocked: Blocked) -> Cost:
    """How a rule for the cost of an expression is used. Raises RuleFileProblem."""
    c = rule.conclusion
    if not rule.form:
        refuse(rule, "it is about expressions of any kind, and its text does not say to which one it is to be applied")
    if not is_letter(c.at(0), "assertion") or c.at(1).head not in ("meta", "empty"):
        refuse(rule, f"it begins with '{show(c.at(0))}; {show(c.at(1))}', which does not say what holds before")
    known = {*letters(c.at(0)), *letters(c.at(1)), *letters(c.at(2))}
    for t in rule.premises:
        if t.head != "cost" or t.at(3).head != "constant":
            refuse(rule, f"'{show(t)}' does not give the cost of a part as a letter")
        known |= letters(t.at(3))
    known |= {t.name(4) for t in rule.side_conditions if t.head == "at-most"}
    known |= {t.name() for t in rule.side_conditions if t.head == "nonnegative"}
    missing = next((m for m in rule.metavariables if m not in known), None)
    if missing is not None:
        refuse(rule, f"{missing} has no value, for it is no part of '{show(c.at(2))}'")

    def priced(w: Walk[Any], oracle: Oracle, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation] | None:
        env: Env = {}
        if (rule.name, e.loc) in blocked or not fits(c.at(2), e, env, w.context.sigma, lambda _: 1):
            return None
        env |= {c.at(0).name(): p} | ({c.at(1).name(): x} if c.at(1).head == "meta" else {})
        derivations = []
        for t in rule.side_conditions:
            if t.head == "nonnegative":
                env[t.name()] = Fraction(0)
            if t.head == "at-most" and isinstance(access := expression_of(t.at(3), env, w.context), Read):
                here = assertion_of(t.at(1), env, w.context), variables_of(t.at(2), env, w.context)
                env[t.name(4)] = w.count(_price(rule, t), *here, access.array, access.index)
        for t in rule.premises:
            here = assertion_of(t.at(0), env, w.context), variables_of(t.at(1), env, w.context)
            cost, derivation = w.cost(*here, expression_of(t.at(2), env, w.context))
            env.setdefault(t.at(3).name(), cost)
            derivations.append(derivation)
        try:
            asked = [o for t in rule.side_conditions for o in obligations_of(t, env, w.context)]
        except Rejected:
            return None
        if not all(isinstance(oracle(o, w.context), Proved) for o in asked):
            return None
        total = potential_of(c.at(3), env, w.context).constant
        return total, Derivation(rule.name, {m: env[m] for m in rule.metavariables}, tuple(derivations), e.loc)

    return priced


# --- all of them ------------------------------------------------------------------------------------------------------

KEPT: Final = frozenset(rule.name for rule in (SKIP, SEQ, WEAK, GHOST, SPLIT, FRAME, UNROLL))
"""Rules that hold derivations together: there is no place at which one of them is tried before others."""


def own_rules(rules: RuleSet) -> list[Rule]:
    """The rules of a set that are not those of the sound one."""
    return [rule for name, rule in rules.rules.items() if logic.SOUND.rules.get(name) is not rule]


def unusable(rules: RuleSet) -> dict[str, RuleFileProblem]:
    """The rules on trial in a set whose use their text leaves open, with the reason."""
    found: dict[str, RuleFileProblem] = {}
    for rule in own_rules(rules):
        try:
            book_of(RuleSet(rules.name, {**logic.SOUND.rules, rule.name: rule}))
        except RuleFileProblem as problem:
            found[rule.name] = problem
    return found


def book_of(rules: RuleSet, blocked: Blocked = (), last: bool = False, without: Collection[str] = ()) -> Book:
    """The book of the sound rules and those on trial. A rule with the name of a sound one is tried where that one was;
    others are tried first, or with `last` only where else the sound rule for all that is left would be. None is used
    where it is `blocked`, and those in `without` nowhere. Raises RuleFileProblem for a rule whose use its text leaves
    open."""
    found, costs, straight = dict(SOUND.rules), list[Cost](), list[str]()
    steps, branches, loops = list(SOUND.steps), list(SOUND.branches), list(SOUND.loops)
    for rule in own_rules(rules):
        if rule.name in without:
            continue
        if rule.name in KEPT:
            refuse(rule, "derivations are held together by the sound rule of that name, which it would replace")
        if rule.shape == "cost":
            costs.append(_cost(rule, blocked))
            continue
        made = plan(rule)
        family = branches if rule.shape == "if" else loops if rule.shape == "while" else steps
        for other in (steps, branches, loops):
            if rule.name in other and other is not family:
                other.remove(rule.name)
        forward = (_fork if rule.shape in ("if", "while") else _step)(made, blocked)
        if made.head:
            forward = _cycle(made, blocked)
        found[rule.name] = Transformer(rule.name, forward, _before(made))
        if rule.shape == "while" and not made.head:
            straight.append(rule.name)
        elif rule.name not in family:
            family.insert(_rest(family) if last else 0, rule.name)
    return Book(rules, found, tuple(steps), tuple(branches), tuple(loops), tuple(straight), tuple(costs))


def _rest(family: Sequence[str]) -> int:
    """Where the rule for all that is left stands; of statements without others inside, that for assignments."""
    rules = [logic.SOUND.rules.get(name) for name in family]
    sets = [i for i, rule in enumerate(rules) if rule is not None and rule.shape == "set" and not rule.agrees]
    return sets[0] if sets else len(family) - 1


def always(rule: Rule) -> bool:
    """Whether a rule asks for nothing before it is used, so that others may be better where they apply."""
    return rule.shape != "cost" and not plan(rule).asked
