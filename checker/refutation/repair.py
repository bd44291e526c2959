"""The smallest change that would make a refused outline pass, where one is found: a constant that a potential is short
by, a potential, an invariant, a variable to be listed or not. Each is judged before it is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from checker import limits
from checker.kernel import Claim, Theorem
from checker.oracles import Oracles
from checker.synthesis.flow import analyse
from checker.synthesis.nodes import Cycle, Flow, Fork, Step
from checker.synthesis.outline import Block, Branch, Item, Loop, Outline, Partial, strip
from checker.synthesis.walk import Stuck
from logic.assertions import AtLeast, AtMost, Entails, P, Proved, Refuted, Uniform, conj, opaque, show_p, show_x
from logic.derivation import Derivation, applications
from logic.potentials import Leaf, Poly, const, evaluate, leaves, max0
from logic.refusals import Refusal
from logic.rules import SOUND
from logic.source import Loc
from logic.syntax import INT, Const, Expr, Op, Param, Var, local_vars, show, subterms, written

Outcome = Claim | Theorem | Refusal | Stuck
Judge = Callable[[Outline], tuple[Outcome, Derivation | None]]
"""The outcome of an outline, and the derivation that it was completed to."""


@dataclass(slots=True)
class Repairs:
    """The search for a change: how outlines are judged, and until when."""

    outline: Outline
    judge: Judge
    oracle: Oracles
    end: float
    halfway: str = ""
    """A change that would only do for the side condition that is refused now."""

    def accepts(self, body: Block) -> tuple[Outcome | None, Derivation | None]:
        """The outcome of the outline with another body; None where there is no time left."""
        if time.thread_time() > self.end:
            return None, None
        return self.judge(replace(self.outline, body=body))


def advice(outline: Outline, problem: Refusal | Stuck, judge: Judge, oracle: Oracles) -> str:
    """A sentence with the smallest change that was found to do, and why a variable is not uniform; else nothing."""
    work = Repairs(outline, judge, oracle, time.thread_time() + limits.REPAIR_SECONDS)
    if isinstance(problem, Stuck):
        return next((told for where in partials(outline.body) if (told := _left_out(work, where))), "")
    tries: list[Callable[[], str]] = []
    match problem.obligation:
        case AtLeast() as short:
            tries = [lambda: _more_potential(work, short, problem), lambda: _invariant(work, problem, ())]
        case Entails(_, goal):
            tries = [
                lambda: _other_rule(work, problem),
                lambda: _invariant(work, problem, goal),
                lambda: _without_conjunct(work, goal, problem),
            ]
        case AtMost() as o:
            n = oracle.least(o.what, o.p, o.x, o.array, o.index, outline.context)
            return f"{o.what} <= {n} can be shown here." if n > o.n else ""
        case None if told := _uniform(work, problem):
            return told
        case _:
            tries = [lambda: _other_rule(work, problem), lambda: _uniform(work, problem)]
            tries.append(lambda: _invariant(work, problem, ()))
    told = next((found for attempt in tries if (found := attempt())), "")
    return told or work.halfway or _why_not_uniform(work, problem)


# --- potentials ------------------------------------------------------------------------------------------------------


def _more_potential(work: Repairs, o: AtLeast, problem: Refusal) -> str:
    """Raise a potential that the outline states, by a constant or by what is missing, or let the tool find it."""
    stated = _nearest((p for p in partials(work.outline.body) if p.q is not None), o.q, problem.loc)
    short = _short_by(o, work)
    for where in stated:
        outcome, _ = work.accepts(_at(work.outline.body, where, lambda p: _raised(p, short)))
        if isinstance(outcome, Claim | Theorem):
            return f"Adding {short} to the potential {_at_loc(where.q_loc or where.loc)} would do."
        if isinstance(outcome, Refusal | Stuck) and _about(outcome) != _about(problem) and where.q == o.q:
            then = _at_loc(outcome.loc) if outcome.loc else "elsewhere"
            there = _at_loc(where.q_loc or where.loc)
            work.halfway = f"Adding {short} to the potential {there} would do here; then something fails {then}."
        if told := _left_out(work, where):
            return told
    return ""


def _left_out(work: Repairs, where: Partial) -> str:
    """The potential that the tool finds where one that is stated is left out."""
    if where.q is None:
        return ""
    outcome, derivation = work.accepts(_at(work.outline.body, where, lambda p: replace(p, q=None)))
    if isinstance(outcome, Claim | Theorem) and (q := _found_potential(work, where, outcome, derivation)):
        return f"The potential {q} {_at_loc(where.q_loc or where.loc)} would do."
    return ""


def _about(problem: Refusal | Stuck) -> tuple[object, ...]:
    """The subject of a problem: two with the same are one."""
    if isinstance(problem, Stuck):
        return problem.loc, problem.message
    failed = problem.obligation or (problem.fault, problem.premise, problem.letter, problem.about)
    return problem.loc, problem.name, failed


def _raised(p: Partial, d: Poly) -> Partial:
    return p if p.q is None else replace(p, q=p.q + d)


def _nearest(stated: Iterable[Partial], q: Poly, loc: Loc | None) -> list[Partial]:
    """Conditions in the order in which they are to be tried: the one that is short, then those before and after."""

    def rank(p: Partial) -> tuple[int, int]:
        away = p.loc.line - loc.line if p.loc and loc else 0
        short = p.q is not None and (p.q == q or (p.q - q).is_constant)
        return 0 if short else 1 if away <= 0 else 2, abs(away)

    return sorted(stated, key=rank)


def _short_by(o: AtLeast, work: Repairs) -> Poly:
    """The amount that q may be short of r by: the least constant that would do, else the difference."""
    context, gap = work.outline.context, o.r - o.q
    c = Fraction(0)
    for _ in range(limits.RAISED):
        verdict = work.oracle(AtLeast(o.p, o.x, o.q + c, o.r), context)
        if isinstance(verdict, Proved):
            return const(c)
        if not isinstance(verdict, Refuted):
            break
        store: dict[Leaf, int] = {
            leaf: verdict.witness[leaf.name] for leaf in leaves(gap) if leaf.name in verdict.witness
        }
        if len(store) < len(leaves(gap)) or (here := evaluate(gap, store)) <= c:
            break
        c = here
    nonnegative = isinstance(work.oracle(AtLeast(o.p, o.x, gap, const(0)), context), Proved)
    return gap if nonnegative else max0(gap)


def _found_potential(
    work: Repairs, where: Partial, outcome: Claim | Theorem, derivation: Derivation | None
) -> Poly | None:
    """The potential that was put where the outline was made to leave it out: at a loop, or at the beginning."""
    loop = next((item for item in _loops(work.outline.body) if item.invariant is where), None)
    if loop is None:
        first = work.outline.body[0]
        return outcome.pre.q if isinstance(outcome, Claim) and first is where else None
    metric = work.outline.context.metric
    for node in applications(derivation) if derivation else ():
        rule = SOUND.rules.get(node.rule)
        if rule is not None and rule.turns and node.loc == loop.loc:
            q, c = node.substitution["Q"], node.substitution["C"]
            if isinstance(q, Poly) and isinstance(c, Fraction):
                return q + c + metric.cost("if") + (metric.cost("div") if rule.charges("div") else 0)
    return None


# --- invariants ------------------------------------------------------------------------------------------------------


def _invariant(work: Repairs, problem: Refusal, goal: P) -> str:
    """A fact that holds at a loop and makes the outline pass once it is stated there."""
    loops = sorted(_loops(work.outline.body), key=lambda item: _distance(item, problem.loc))
    for loop in loops[:3]:
        facts = _inductive(work, loop, goal)
        for chosen in (*((c,) for c in facts), *((tuple(facts),) if len(facts) > 1 else ())):
            outcome, _ = work.accepts(_stated(work.outline.body, loop, chosen))
            if outcome is None:
                return ""
            if isinstance(outcome, Claim | Theorem):
                return f"The invariant {show_p(chosen)} at the loop {_at_loc(loop.loc)} would do."
    return ""


def _distance(loop: Loop, loc: Loc | None) -> int:
    return abs(loop.loc.line - loc.line) if loop.loc and loc else 0


def _stated(body: Block, loop: Loop, facts: P) -> Block:
    def change(item: Item) -> Item:
        if item is not loop or not isinstance(item, Loop):
            return item
        return replace(item, invariant=replace(item.invariant, p=(*(item.invariant.p or ()), *facts)))

    return edited(body, change)


def _inductive(work: Repairs, loop: Loop, goal: P) -> list[Expr]:
    """Candidates that hold before a loop and are kept by its body, all together (Houdini)."""
    flow = analyse(work.outline, work.oracle)
    cycle = _cycle(flow, loop)
    if cycle is None:
        return []
    known = set(cycle.invariant.p)
    facts = [c for c in _candidates(work, loop, goal) if c not in known and _entails(work, cycle.before.p, c)]
    while facts and time.thread_time() < work.end:
        there = replace(work.outline, body=_stated(work.outline.body, loop, tuple(facts)))
        cycle = _cycle(analyse(there, work.oracle), loop)
        end = () if cycle is None else cycle.body.end.p
        kept = [c for c in facts if _entails(work, end, c)]
        if kept == facts:
            return facts
        facts = kept
    return []


def _entails(work: Repairs, p: P, c: Expr) -> bool:
    sigma = work.outline.context.sigma
    return time.thread_time() < work.end and isinstance(
        work.oracle(Entails(p, conj((c,), sigma)), work.outline.context), Proved
    )


def _candidates(work: Repairs, loop: Loop, goal: P) -> list[Expr]:
    """Facts that a person might have left out: what is asked for, what is stated elsewhere, and comparisons of what
    the loop changes with parameters, variables and numbers."""
    sigma, changed = work.outline.context.sigma, written(strip(loop.body))
    ints = [n for n in sorted(changed) if sigma.locals.get(n) == INT]
    params = [Param(d.name) for d in work.outline.kernel.params if d.type == INT]
    others: list[Expr] = [*params, *(Var(n) for n in ints), Param("blockDim.x")]
    found: dict[Expr, None] = dict.fromkeys(goal)
    for p in partials(work.outline.body):
        found |= dict.fromkeys(c for c in p.p or () if local_vars(c) & changed)
    for n in ints:
        v = Var(n)
        found |= {Op(">=", (v, Const(0))): None, Op(">=", (v, Const(1))): None}
        for other in others:
            if other != v:
                found |= {Op(op, (v, other)): None for op in ("<=", "==", ">=")}
    return [c for c in found if not opaque(c, sigma) and not any(x.name.startswith("?") for x in _variables(c))]


def _variables(e: Expr) -> Iterator[Var]:
    return (t for t in subterms(e) if isinstance(t, Var))


def _without_conjunct(work: Repairs, goal: P, problem: Refusal) -> str:
    """Leave out what is stated and cannot be shown."""
    for where in _nearest((p for p in partials(work.outline.body) if p.p), const(0), problem.loc):
        for c in where.p or ():
            if c in goal:
                rest = tuple(d for d in where.p or () if d != c)
                outcome, _ = work.accepts(_at(work.outline.body, where, lambda p, rest=rest: replace(p, p=rest)))  # type: ignore[misc]
                if isinstance(outcome, Claim | Theorem):
                    return f"Without {show(c)} {_place(where)} the outline would pass."
    return ""


# --- rules, uniform variables ----------------------------------------------------------------------------------------


def _other_rule(work: Repairs, problem: Refusal) -> str:
    """Leave the choice of the rule to the tool, where the writer chose one."""

    def free(item: Item) -> Item:
        chosen = isinstance(item, Branch | Loop) and item.rule == problem.name and item.loc == problem.loc
        return replace(item, rule=None) if chosen and isinstance(item, Branch | Loop) else item

    body = edited(work.outline.body, free)
    if body == work.outline.body:
        return ""
    outcome, derivation = work.accepts(body)
    if not isinstance(outcome, Claim | Theorem):
        return ""
    used = next(
        (n.rule for n in (applications(derivation) if derivation else ()) if n.loc == problem.loc and _chosen(n.rule)),
        "",
    )
    return f"Without [{problem.name}] it would pass, by {used}."


def _chosen(name: str) -> bool:
    """Whether an outline may choose the rule for a branch or a loop."""
    rule = SOUND.rules.get(name)
    return rule is not None and (rule.shape == "if" or rule.turns)


def _uniform(work: Repairs, problem: Refusal) -> str:
    """List another set of uniform variables at one place."""
    missing, extra = _stray(problem)
    for where in _nearest((p for p in partials(work.outline.body) if p.x is not None), const(0), problem.loc):
        if where.x is None:
            continue
        for x, words in (
            (where.x | missing, f"Listing {', '.join(sorted(missing))} as uniform"),
            (where.x - extra, f"Not listing {', '.join(sorted(extra))} as uniform"),
        ):
            if x != where.x:
                outcome, _ = work.accepts(_at(work.outline.body, where, lambda p, x=x: replace(p, x=x)))  # type: ignore[misc]
                if isinstance(outcome, Claim | Theorem):
                    why = "" if x > where.x else _why_not_uniform(work, problem)
                    return f"{why} {words} {_at_loc(where.x_loc or where.loc)} would do: {show_x(x)}.".strip()
    return ""


def _stray(problem: Refusal) -> tuple[frozenset[str], frozenset[str]]:
    """Variables that a condition lists too few of, and too many."""
    if isinstance(problem.obligation, Uniform):
        e = problem.obligation.expr
        return frozenset(), frozenset((e.name,)) if isinstance(e, Var) else frozenset()
    match problem.expected, problem.got:
        case frozenset() as allowed, frozenset() as listed:
            return frozenset(), frozenset(listed) - frozenset(allowed)
        case frozenset(), Poly() as q:
            return frozenset(x.name for x in leaves(q) if isinstance(x, Var)), frozenset()
    return frozenset(), frozenset()


def _why_not_uniform(work: Repairs, problem: Refusal) -> str:
    """For the variables that are not uniform though they should be: where they stop being it."""
    match problem.obligation:
        case Uniform(_, x, e):
            names = sorted(local_vars(e) - x)
        case None:
            names = sorted(frozenset().union(*_stray(problem)))
        case _:
            return ""
    if not names:
        return ""
    flow = analyse(work.outline, work.oracle)
    told = [f"{name} is not known to be uniform here: {why}." for name in names if (why := _divides(flow, name))]
    return " ".join(told)


def _divides(flow: Flow, name: str, around: str = "") -> str:
    """The first place where threads may come to differ on a variable."""
    for node in flow.nodes:
        match node:
            case Step(stmt) if name in written(stmt):
                place = _at_loc(stmt.loc)
                if around:
                    return f"it is assigned {place} {around}"
                if not node.uniform:
                    return f"the value that it is assigned {place} may differ between threads"
            case Fork():
                parts = SOUND.rules[node.rule].charges("div")
                inner = around or (f"in a branch that may diverge, {_at_loc(node.loc)}" if parts else "")
                for side in (node.then, node.orelse):
                    if isinstance(side, Flow) and (why := _divides(side, name, inner)):
                        return why
            case Cycle():
                parts = not SOUND.rules[node.rule].keeps_x
                inner = around or (f"in a loop that may diverge, {_at_loc(node.loc)}" if parts else "")
                if why := _divides(node.body, name, inner):
                    return why
    return ""


# --- outlines --------------------------------------------------------------------------------------------------------


def partials(body: Block) -> Iterator[Partial]:
    """Every condition of an outline, those of loops included."""
    for item in body:
        match item:
            case Partial():
                yield item
            case Branch():
                yield from partials(item.then)
                yield from partials(item.orelse)
            case Loop():
                yield item.invariant
                yield from partials(item.body)


def edited(body: Block, change: Callable[[Item], Item]) -> Block:
    """The outline with `change` made at every item, outer ones first."""
    items: list[Item] = []
    for old in body:
        new = change(old)
        match new:
            case Branch():
                new = replace(new, then=edited(new.then, change), orelse=edited(new.orelse, change))
            case Loop():
                new = replace(new, body=edited(new.body, change))
        items.append(new)
    return tuple(items)


def _at(body: Block, where: Partial, change: Callable[[Partial], Partial]) -> Block:
    def there(item: Item) -> Item:
        if item is where and isinstance(item, Partial):
            return change(item)
        if isinstance(item, Loop) and item.invariant is where:
            return replace(item, invariant=change(item.invariant))
        return item

    return edited(body, there)


def _loops(body: Block) -> Iterator[Loop]:
    for item in body:
        match item:
            case Branch():
                yield from _loops(item.then)
                yield from _loops(item.orelse)
            case Loop():
                yield item
                yield from _loops(item.body)


def _cycle(flow: Flow, loop: Loop) -> Cycle | None:
    """The cycle of a flow that a loop has become."""
    for node in flow.nodes:
        match node:
            case Cycle() if node.loc == loop.loc:
                return node
            case Cycle():
                inner = [node.body]
            case Fork():
                inner = [side for side in (node.then, node.orelse) if isinstance(side, Flow)]
            case _:
                continue
        for part in inner:
            if (found := _cycle(part, loop)) is not None:
                return found
    return None


def _place(where: Partial) -> str:
    return _at_loc(where.loc) if where.loc else "there"


def _at_loc(loc: Loc | None) -> str:
    return f"in line {loc.line}" if loc else "there"
