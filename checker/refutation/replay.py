"""Refutations run in the semantics: nobody is shown a counterexample that does not happen.

An oracle's model of a side condition becomes a store, parameters and threads, and so do random states where an oracle
could not tell; `semantics.lockstep` then says what the terms are worth there, and what the statement beside it costs
against what the conditions pay. Nothing here decides anything: a state that was not found proves nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import cast

from checker import limits
from checker.certificates.claims import amount
from checker.kernel import judgement_of
from checker.oracles.terms import with_fresh
from checker.refutation.states import (
    UNFIT,
    State,
    allowed,
    hurried,
    local_at,
    machine_at,
    of_model,
    random_states,
    team,
    terms_of,
    uniform_in,
    values_at,
    worth_of,
)
from logic.assertions import AtLeast, AtMost, Condition, Context, Entails, Obligation, P, Refuted, Triple, Uniform, X
from logic.derivation import Derivation
from logic.metrics import Metric
from logic.operators import COMPARISONS
from logic.potentials import Poly
from logic.refusals import Refusal
from logic.rules import SOUND, WEAK
from logic.syntax import (
    BUILTINS,
    Const,
    Expr,
    If,
    Op,
    Param,
    Read,
    Stmt,
    While,
    show,
    show_stmt,
    subterms,
)
from semantics import lockstep
from semantics.events import Event, Thread
from semantics.lockstep import StepLimit, linear
from semantics.values import Value, default


@dataclass(frozen=True, slots=True)
class Replay:
    """A state in which a side condition is false, as the semantics has it.

    `claimed` is what the condition says of it, `actual` what is; `notes` say what the statement beside it costs, and
    `arrays` what was read.
    """

    state: State
    claimed: str
    actual: str
    arrays: dict[str, dict[int, Value]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def replayed(error: Refusal, root: Derivation | None, context: Context) -> Replay | None:
    """A state that makes the refused side condition false, and what the statement beside it costs there; None where
    none was found. `root` is the whole derivation."""
    o, verdict = error.obligation, error.verdict
    if o is None:
        return None
    try:
        found = replay(o, verdict.witness if isinstance(verdict, Refuted) else None, context)
        if found is None or not isinstance(o, AtLeast):
            return found
    except UNFIT:
        return None
    try:
        return replace(found, notes=tuple(_costs(error, o, root, found.state, context)))
    except UNFIT:
        return found


# --- a side condition ------------------------------------------------------------------------------------------------


def replay(o: Obligation, model: Mapping[str, int] | None, context: Context, seed: int = 0) -> Replay | None:
    """A state that makes the obligation false in the semantics: the model's, or else one of a few random ones."""
    scene = replace(context, sigma=with_fresh(context.sigma, terms_of(o)))
    given = of_model(o, model, scene) if model else iter(())
    drawn = random_states(o, scene, random.Random(seed))
    small = model is not None and all(abs(v) <= limits.SHOWN for v in model.values())
    for state in chain(given, drawn) if small else chain(drawn, given):
        if (found := _judged(o, state, scene)) is not None:
            return found
    return None


def _judged(o: Obligation, state: State, scene: Context) -> Replay | None:
    """The word of the semantics on an obligation in a state: a Replay where the state is one of {P; .; X} and the
    obligation is false there."""
    if not allowed(o.p, uniform_in(o), state, scene):
        return None
    match o:
        case Entails(_, goal):
            for g in goal:
                values, arrays = values_at(g, state, scene)
                for t, v in values.items():
                    if not v:
                        one = replace(state, threads=(t,))
                        return Replay(one, show(g), _sides(g, one, scene), arrays)
        case Uniform(_, _, e):
            values, _ = values_at(e, state, scene)
            first, *others = sorted(state.threads, key=lambda t: linear(t.tid, state.block))
            other = next((t for t in others if values[t] != values[first]), None)
            if other is not None:
                worth = [f"{text(values[t])} at {thread(t)}" for t in (first, other)]
                pair = replace(state, threads=(first, other))
                return Replay(
                    pair,
                    f"{show(e)} is the same for both",
                    f"it is {' and '.join(worth)}",
                    values_at(e, pair, scene)[1],
                )
        case AtMost():
            access = Read(o.array, o.index)
            seen: list[Event] = []
            lockstep.evaluate(access, state.store, state.threads, machine_at(state, scene, seen.append))
            n, indices = seen[-1].count or 0, seen[-1].indices
            if n > o.n:
                unit = "sectors" if o.what == "MemReads" else "words of one bank"
                actual = f"{len(indices)} lanes access {_listed(indices)}: {n} {unit}"
                return Replay(state, f"{o.what}({o.array}[{show(o.index)}]) <= {o.n}", actual)
        case AtLeast(_, _, q, r):
            for t in state.threads:
                have, need = (worth_of(a, state, t, scene.sigma) for a in (q, r))
                if have < need:
                    one = replace(state, threads=(t,))
                    return Replay(one, f"{q} is at least {r}", f"{have} is there, {need} is needed")
    return None


def _sides(g: Expr, state: State, scene: Context) -> str:
    """The values that a false conjunct compares, side by side."""
    match g:
        case Op(op, (a, b)) if op in COMPARISONS:
            sides = [(e, text(values_at(e, state, scene)[0][state.threads[0]])) for e in (a, b)]
            told = [f"{show(e)} is {v}" for e, v in sides if not isinstance(e, Const)]
            return " and ".join(told) or f"{show(g)} is false"
    return f"{show(g)} is false"


# --- states ----------------------------------------------------------------------------------------------------------


# --- what statements cost --------------------------------------------------------------------------------------------


def _costs(error: Refusal, o: AtLeast, root: Derivation | None, state: State, context: Context) -> Iterator[str]:
    """The cost, in the state, of the statement beside a failed comparison, against what the conditions around it
    pay."""
    values = error.substitution
    if error.name != WEAK.name:
        return
    if (o.q, o.r, o.p) == (values["Q1"], values["Q2"], values["P1"]):
        after = Condition(cast(P, values["P1'"]), cast(Poly, values["Q1'"]), cast(X, values["X1'"]))
        runs, what = [(cast(Stmt, values["s"]), after)], "this statement"
    else:
        runs, what = ([] if root is None else list(following(root, error.path, context))), "what follows"
    told: list[tuple[str, bool]] = []
    for other in _alike(o, state, context):
        crowd = _crowd(o, other, context)
        told += [note for s, post in runs if (note := _paid(s, post, o.q, crowd, context, what)) is not None]
        if any(short for _, short in told):
            break
    if told:
        yield next((text for text, short in told if short), told[0][0])


def _alike(o: AtLeast, state: State, context: Context) -> Iterator[State]:
    """The state, and others in which the parameters that the obligation does not name are 1: sizes of 0 hide costs."""
    yield state
    named = {leaf.name for e in terms_of(o) for leaf in subterms(e) if isinstance(leaf, Param)}
    free = [n for n, v in context.sigma.params.items() if v.kind == "int" and n not in BUILTINS and n not in named]
    if free:
        yield replace(state, params=state.params | dict.fromkeys(free, 1))


def _crowd(o: AtLeast, state: State, context: Context) -> State:
    """All the lanes of the state's warp that P allows, with the state's values of X; the others like its thread."""
    t = state.threads[0]
    scene = replace(context, sigma=with_fresh(context.sigma, terms_of(o)))
    uniform = {name: local_at(name, t, state, scene.sigma) for name in o.x}
    for found in team(o.p, o.x, state.block, state.grid, t.block, state.params, uniform, scene):
        if t in found.threads:
            for name, kind in scene.sigma.locals.items():
                values = found.store.locals.setdefault(name, {})
                like = state.store.locals.get(name, {}).get(t, default(kind))
                found.store.locals[name] = {u: like if u == t else values.get(u, like) for u in found.threads}
            kept = tuple(u for u in found.threads if allowed(o.p, o.x, replace(found, threads=(u,)), scene))
            return replace(found, threads=kept) if t in kept else state
    return state


def _paid(s: Stmt, post: Condition, q: Poly, state: State, context: Context, what: str) -> tuple[str, bool] | None:
    """A sentence on what s costs from a state and what {.; q; .} s `post` pays for it; whether it pays too little."""
    machine = machine_at(state, context, hurried())
    try:
        store, cost = lockstep.execute(s, state.store, state.threads, machine)
        ended = True
    except StepLimit as given_up:
        store, cost, ended = state.store, given_up.cost, False
    after = replace(state, store=store)
    here = worth_of(q, state, state.threads[0], context.sigma)
    left = {worth_of(post.q, after, t, context.sigma) for t in state.threads} if ended else {Fraction(0)}
    if len(left) > 1:
        return None
    spent, pays = cost.parts[0], here - left.pop()
    lanes = "1 thread" if len(state.threads) == 1 else f"{len(state.threads)} threads"
    one = len(show_stmt(s).splitlines()) == 1 or isinstance(s, If | While)
    what = what if one else "the code from there on"
    head = f"{what}, {brief(s)}, costs {told_cost(spent, ended, context.metric)} from there"
    if pays < 0:
        return f"{head} ({lanes}), yet the potential grows by {-pays}", True
    if spent > pays:
        return f"{head} ({lanes}); {pays} is paid for it", True
    return f"{head} ({lanes}); {pays} is paid for it: enough for this run, not for the proof", False


def following(root: Derivation, path: tuple[int, ...], context: Context) -> Iterator[tuple[Stmt, Condition]]:
    """The statement that is run after the one that a derivation's node is about, with the condition after that: the
    next statement, then longer stretches."""
    nodes = [root]
    for i in path:
        nodes.append(nodes[-1].premises[i])
    for depth in range(len(path) - 1, -1, -1):
        node, i = nodes[depth], path[depth]
        rule = SOUND.rules.get(node.rule)
        if rule is None:
            continue
        if rule.shape == "seq" and i == 0:
            stretch = [node.premises[1]]
            while stretch[-1].rule == node.rule:
                stretch.append(stretch[-1].premises[0])
            for part in reversed(stretch):
                if (found := _concluded(part, context)) is not None:
                    yield found
            return
        if rule.turns:
            if (found := _concluded(node, context)) is not None:
                yield found
            return
        if rule.shape == "if" and rule.charges("div"):
            return


def _concluded(node: Derivation, context: Context) -> tuple[Stmt, Condition] | None:
    """A node's statement and its postcondition; None where it takes more to tell."""
    rule = SOUND.rules.get(node.rule)
    if rule is None or not node.substitution.keys() >= set(rule.metavariables):
        return None
    judgement = judgement_of(rule.conclusion, node.substitution, context)
    return (judgement.stmt, judgement.post) if isinstance(judgement, Triple) else None


# --- text ------------------------------------------------------------------------------------------------------------


def thread(t: Thread) -> str:
    return f"thread ({t.tid[0]},{t.tid[1]},{t.tid[2]})"


def text(v: Value) -> str:
    return str(v).lower() if isinstance(v, bool) else str(v)


def told_cost(cost: Fraction, ended: bool, metric: Metric) -> str:
    """The cost that was spent, or had been by the time that a run was given up."""
    return amount(cost, metric) if ended else f"{cost} and more {metric.name}"


def brief(s: Stmt) -> str:
    """A statement's first line."""
    first, *more = show_stmt(s).splitlines()
    return f"`{first.rstrip(';')}{' ...' if more else ''}`"


def _listed(indices: tuple[int, ...]) -> str:
    """Indices, the long list by its ends."""
    if len(indices) <= 8:
        return ", ".join(map(str, indices))
    return f"{', '.join(map(str, indices[:4]))}, ..., {indices[-1]}"
