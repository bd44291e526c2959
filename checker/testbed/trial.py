"""Trials: random derivations that the kernel accepts, held against runs of their programs (Theorem 1, p. 14)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Final, Literal

import numpy as np

from checker.kernel import Ledger, check
from checker.testbed.choices import Hints, StuckError
from checker.testbed.data import DATA, held_at, told, with_data
from checker.testbed.derivations import Builder, Proof, closed, rules_used, shifted, tampered
from checker.testbed.matching import absolute
from checker.testbed.programs import GHOST_LOCAL, LOCALS, Programs, Wanted, facts, kernel, measures
from checker.testbed.runs import Run, run
from checker.testbed.world import CHOSEN, SmallWorld, World
from logic.assertions import AtLeast, Condition, Context, P, Triple, X, conj
from logic.comparisons import differences
from logic.contracts import as_reads, elements, elements_in
from logic.derivation import Derivation
from logic.potentials import ZERO, Leaf, Poly, const, evaluate, variables
from logic.refusals import Rejected
from logic.rules import PAPER, SOUND, RuleSet
from logic.schema import Rule, metavariables
from logic.stable import unwritten
from logic.syntax import Param, Stmt, Tid, Var, While, statements
from semantics.events import Thread
from semantics.lockstep import Initial, Machine, Store
from semantics.lockstep import evaluate as value_of

POINTED: Final = 4
"""Of so many cases of a trial of one rule, one is a program that is about that rule and little else."""
MOST: Final = 128
"""The potential from which a derivation is tried first whose potentials cannot be raised afterwards."""
STATES: Final = 10
"""Runs for each derivation."""
CONTRACTS: Final = "contracts"
"""The name of the trial of the sound rules over an array of which contracts say what it holds."""
DERIVATIONS: Final = 3
"""Tries to derive something for each program."""


@dataclass(frozen=True, slots=True)
class Start:
    """A state and the threads that start in it: n, locals by thread, contents of the arrays, repeated for ever, and of
    the array that contracts are about."""

    n: int
    threads: tuple[int, ...]
    locals: dict[str, dict[int, int]]
    contents: tuple[int, ...]
    data: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A derivation that the kernel accepted, and where."""

    program: Stmt
    world: World
    context: Context
    claim: Triple
    derivation: Derivation


@dataclass(frozen=True, slots=True)
class Violation:
    """A run that a claim does not cover.

    kind    cost: it costs more than Q - Q'; prefix: more than Q, and it never ends; facts: P' or X' is false at its end
    """

    kind: Literal["cost", "prefix", "facts"]
    case: Case
    start: Start
    claimed: Fraction
    actual: Fraction
    told: str = ""


@dataclass(slots=True)
class Coverage:
    """The coverage of a trial: what it has seen; `elements` counts derivations that speak of those of an array."""

    programs: int = 0
    derivations: int = 0
    runs: int = 0
    divergent: int = 0
    unended: int = 0
    elements: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    depths: Counter[int] = field(default_factory=Counter)

    def add(self, other: Coverage) -> None:
        for name in ("programs", "derivations", "runs", "divergent", "unended", "elements"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rules += other.rules
        self.depths += other.depths


@dataclass(frozen=True, slots=True)
class Trial:
    """The setting of a trial: a rule set, the rules in it that are looked at most (none: all alike), a seed."""

    rules: RuleSet
    focus: tuple[str, ...]
    seed: int
    wanted: Wanted | None = None
    """The needs of programs, if other than those of the rules in focus."""
    tampered: float = 0.12
    """The share of derivations that are changed somewhere before the kernel sees them."""
    data: bool = False
    """Whether programs read an array that contracts speak of."""
    written: float = 0.05
    """With data, the share of programs that may write to that array, too: of which no contract may be assumed then."""


def tried(name: str, trust: bool = False) -> Trial:
    """The trial that a name stands for: `sound`, `contracts`, `paper`, `paper/If4`, `file.rules`, `file.py`; its seed
    is 0.

    Raises RuleFileProblem.
    """
    from checker.testbed.rulefile import RuleFileProblem, rule_set

    if name == CONTRACTS:
        return Trial(SOUND, (), 0, data=True)
    family, slash, rule = name.partition("/")
    if slash and family in ("paper", "sound"):
        rules = PAPER.rules if family == "paper" else SOUND.rules
        found = [r for r in rules if rule in (r, r.partition(":")[2])]
        if not found:
            raise RuleFileProblem(f"no rule is called '{rule}' in '{family}'", advice=f"Known: {', '.join(rules)}.")
        mixed = RuleSet(name, {**SOUND.rules, found[0]: rules[found[0]]}, unrestricted=family == "paper")
        return Trial(mixed, (found[0],), 0)
    rules_ = rule_set(name, trust)
    return Trial(rules_, tuple(n for n, r in rules_.rules.items() if SOUND.rules.get(n) is not r), 0)


# --- cases -----------------------------------------------------------------------------------------------------------


def wanted(rule: Rule | None) -> Wanted:
    """The need of a program so that the rule can be used on it."""
    if rule is None:
        return Wanted()
    c = rule.conclusion
    if c.head == "triple":
        head = c.at(3).head
        heads = [t.head for t in rule.side_conditions]
        kept = set(metavariables(c.at(5))) <= set(metavariables(c.at(1))) and "uniform" not in heads
        return Wanted("" if head == "meta" else head, ghost="erased" in heads, early=head == "while" and kept)
    return Wanted(expression=rule.form)


def derive(trial: Trial, index: int) -> tuple[Case | None, random.Random]:
    """The derivation with this number, if its tries came to one that the kernel accepts, and what chance is left."""
    rng = random.Random(f"{trial.seed}/{index}")
    names = trial.focus or (tuple(trial.rules.rules) if rng.random() < 0.7 else ())
    focus = rng.choice(names) if names else None
    need = trial.wanted or wanted(trial.rules.rules.get(focus) if focus else None)
    programs = Programs(rng, replace(need, data=True) if trial.data else need)
    if trial.data and rng.random() < trial.written:
        programs.written = (DATA,)
    pointed = bool(trial.focus) and index % POINTED == POINTED - 1
    return derived(programs.pointed() if pointed else programs.program(), programs, trial, focus, rng), rng


def derived(
    body: Stmt,
    programs: Programs,
    trial: Trial,
    focus: str | None,
    rng: random.Random,
    surroundings: tuple[World, Context] | None = None,
    start: tuple[P, X] | None = None,
    modest: bool = False,
) -> Case | None:
    """A derivation about a program, in surroundings and from facts of the dice's choice where none are given."""
    rules = trial.rules
    for _ in range(DERIVATIONS):
        world, context = surroundings or programs.context()
        if trial.data and not surroundings and DATA in unwritten(kernel(body, data=True)):
            world, context = with_data(world, context, rng)
        stable = context.sigma.stable
        hints = Hints(facts(body, rng, stable), measures(body, world.lanes, stable))
        spoken = (*hints.measures, *(q for f in hints.facts for q, _ in differences(f))) if stable else ()
        oracle = SmallWorld(world, context, told(context, spoken))
        p = conj(rng.sample(hints.facts, min(len(hints.facts), rng.choice([0, 1, 1, 2, 3]))), context.sigma)
        if rng.random() < 0.4:
            p = conj((*p, *programs.beginning(body)), context.sigma)
        x = frozenset(v for v in LOCALS if rng.random() < 0.5)
        if programs.begun and rng.random() < 0.9:
            p, x = conj((*p, *programs.beginning(body)), context.sigma), x | programs.begun
        p, x = start or (p, x)
        q = ZERO if rules.unrestricted else beginning(x, hints, rng)
        if not oracle.satisfiable(p):
            continue
        rule = rules.rules.get(focus or "")
        try:
            if rule is not None and absolute(rule):
                builder = partial(Builder, rules, oracle, hints=hints, focus=focus)
                proof = tight(Condition(p, q, x), body, builder, rng)
            elif rules.unrestricted or modest or rng.random() < 0.6:
                proof = closed(Builder(rules, oracle, rng, hints, focus), body, Condition(p, q, x), modest)
            else:
                proof = Builder(rules, oracle, rng, hints, focus).triple(body, Condition(p, q, x))
        except StuckError:
            continue
        root = tampered(proof.derivation, rng, hints.facts) if rng.random() < trial.tampered else proof.derivation
        case = accepted(Case(body, world, context, Triple(proof.pre, body, proof.post), root), rules, oracle)
        if case:
            return case
    return None


def tight(pre: Condition, body: Stmt, builder: Callable[..., Builder], rng: random.Random) -> Proof:
    """A proof under a rule that says how much is left: from the least whole potential that suffices, with the same
    dice. (Elsewhere potentials are raised afterwards.) Raises StuckError."""
    dice, low, high = rng.random(), 0, MOST

    def tried(n: int) -> Proof:
        return closed(builder(rng=random.Random(dice)), body, replace(pre, q=const(n)))

    found = tried(high)
    while low < high:
        middle = (low + high) // 2
        try:
            found, high = tried(middle), middle
        except StuckError:
            low = middle + 1
    return found


def beginning(x: X, hints: Hints, rng: random.Random) -> Poly:
    """A potential to begin with: most of the time none."""
    kind = rng.random()
    if kind < 0.7:
        return ZERO
    over = [q for q in hints.measures if variables(q) <= x]
    return rng.choice(over) * rng.choice([1, 1, 2, 8]) if over and kind < 0.9 else const(rng.choice([4, 60]))


def accepted(case: Case, rules: RuleSet, oracle: SmallWorld) -> Case | None:
    """The case, its potentials raised until nothing is owed at the end and no loop head is below 0, if the kernel
    accepts it."""
    end = case.claim.post
    if end.q.is_constant and end.q.constant >= 0:
        lift = ZERO
    else:
        lift = const(-(oracle.minimum(end.p, end.q) or 0)) if variables(end.q) else end.q * -1
    for _ in range(4):
        root = shifted(case.derivation, lift)
        try:
            theorem = check(root, rules, case.context, oracle, Ledger())
        except Rejected as error:
            o = error.refusal.obligation
            if isinstance(o, AtLeast) and not o.r.terms:
                least = oracle.minimum(o.p, o.q)
                if least is not None and least < 0:
                    lift = lift + const(-least)
                    continue
            return None
        judgement = theorem.judgement
        return replace(case, claim=judgement, derivation=root) if isinstance(judgement, Triple) else None
    return None


# --- runs ------------------------------------------------------------------------------------------------------------


def machine(case: Case, start: Start) -> Machine:
    """The machine for one block."""
    context = case.context
    names = {"warpSize": context.hardware.warp, "n": start.n}
    for name, dim in (("blockDim", context.launch.block), ("gridDim", context.launch.grid), ("blockIdx", (0, 0, 0))):
        names |= {f"{name}.{a}": d for a, d in zip("xyz", dim, strict=True) if d is not None}
    held = {a: Initial(lambda i: start.contents[i % len(start.contents)]) for a in context.sigma.arrays}
    if start.data:
        held[DATA] = Initial(lambda i: held_at(start.data, i))
    block = tuple(d or 1 for d in context.launch.block)
    return Machine(context.sigma, names, block, (context.metric,), context.hardware, held)  # type: ignore[arg-type]


def thread(i: int) -> Thread:
    return Thread((0, 0, 0), (i, 0, 0))


def performed(case: Case, start: Start) -> Run:
    """The program's run from a state."""
    store = Store({}, {x: {thread(i): v for i, v in values.items()} for x, values in start.locals.items()})
    return run(case.program, store, map(thread, start.threads), machine(case, start), case.world.values)


def starts(case: Case, rng: random.Random, count: int) -> Iterator[Start]:
    """States of the small world that satisfy the claim's precondition."""
    oracle = SmallWorld(case.world, case.context)
    pre = case.claim.pre
    leaves: list[Leaf] = [Param("n"), Tid("x"), *(Var(x) for x in LOCALS)]
    names = list(LOCALS)
    if any(x == GHOST_LOCAL for e in pre.p for x in _names(e)) or GHOST_LOCAL in pre.x:
        names.append(GHOST_LOCAL)
        leaves.append(Var(GHOST_LOCAL))
    data = case.world.data
    mask = oracle.table(pre.p, [CHOSEN, *leaves] if data else leaves)
    values, sizes = case.world.values, case.world.sizes
    small = [i for i, v in enumerate(values) if 0 <= v <= 4]
    for _ in range(count):
        warp = rng.choice(oracle.warps())
        n = rng.randrange(len(sizes))
        held = rng.randrange(len(data[n])) if data else 0
        of_size = mask[held, n] if data else mask[n]
        chosen: dict[int, tuple[int, ...]] = {}
        common: tuple[int, ...] | None = None
        lanes = list(warp) if rng.random() < 0.75 else [i for i in warp if rng.random() < 0.6]
        same = rng.random() < 0.3
        for lane in rng.sample(lanes, len(lanes)):
            table = of_size[lane]
            pick = common if same and common is not None and table[common] else None
            for attempt in range(6):
                if pick is not None:
                    break
                at = [rng.choice(small) if attempt < 4 else rng.randrange(len(values)) for _ in names]
                if common is not None:
                    at = [common[i] if x in pre.x else v for i, (x, v) in enumerate(zip(names, at, strict=True))]
                if table[tuple(at)]:
                    pick = tuple(at)
            if pick is None:
                options = np.argwhere(table)
                if common is not None:
                    for i, x in enumerate(names):
                        if x in pre.x:
                            options = options[options[:, i] == common[i]]
                if not len(options):
                    continue
                pick = tuple(int(v) for v in options[rng.randrange(len(options))])
            chosen[lane] = pick
            common = common or pick
        if not chosen:
            continue
        threads = tuple(sorted(chosen))
        locals_ = {x: {t: values[chosen[t][i]] for t in threads} for i, x in enumerate(names)}
        if GHOST_LOCAL not in names:
            g = rng.choice(values)
            locals_[GHOST_LOCAL] = {t: g if GHOST_LOCAL in pre.x else rng.choice(values) for t in threads}
        contents = tuple(rng.randint(0, 3) for _ in range(4))
        yield Start(sizes[n], threads, locals_, contents, data[n][held] if data else ())


def _names(e: object) -> Iterable[str]:
    from logic.syntax import local_vars

    return local_vars(e)  # type: ignore[arg-type]


def judged(case: Case, start: Start, unrestricted: bool, found: Run | None = None) -> Violation | None:
    """The fault of a claim: what the run from this state does that it does not cover."""
    found = found or performed(case, start)
    pre, post = case.claim.pre, case.claim.post
    params: dict[Leaf, int] = {Param(x): int(v) for x, v in machine(case, start).params.items()}

    def element(_: str, i: int) -> int:
        return held_at(start.data, i)

    before = min(
        evaluate(pre.q, params | {Var(x): start.locals.get(x, {}).get(i, 0) for x in variables(pre.q)}, element)
        for i in start.threads
    )
    if found.ended:
        after = max(evaluate(post.q, params | at_end(post.q, found, i), element) for i in start.threads)
        if unrestricted and min(before, after) < 0:
            return None  # the print wants potentials that are not negative
        if found.cost > before - after:
            return Violation("cost", case, start, before - after, found.cost)
    if found.endless and not unrestricted and found.cost > before:
        return Violation("prefix", case, start, before, found.cost)
    if found.ended and not unrestricted:
        told = unmet(case, start, found)
        if told:
            return Violation("facts", case, start, before - after, found.cost, told)
    return None


def at_end(q: Poly, found: Run, lane: int) -> dict[Leaf, int]:
    """The values that q depends on, as a lane sees them when a run has ended."""
    return {Var(x): int(found.store.locals.get(x, {}).get(thread(lane), 0)) for x in variables(q)}


def unmet(case: Case, start: Start, found: Run) -> str:
    """The part of the postcondition, a fact or a uniform variable, that is false at the end of a run; else empty."""
    post, threads = case.claim.post, [thread(i) for i in start.threads]
    here = machine(case, start)
    for fact in post.p:
        values, _ = value_of(as_reads(fact), found.store, threads, here)
        if not all(values.values()):
            from logic.syntax import show

            return show(fact)
    for x in sorted(post.x):
        if len({found.store.locals.get(x, {}).get(t, 0) for t in threads}) > 1:
            return f"{x} unif"
    return ""


def used_by(trial: Trial, case: Case) -> bool:
    """Whether the derivation is about the rules on trial."""
    return not trial.focus or bool(rules_used(case.derivation).keys() & set(trial.focus))


def run_case(trial: Trial, index: int, coverage: Coverage, states: int = STATES) -> Violation | None:
    """One case: a derivation and some runs."""
    coverage.programs += 1
    case, rng = derive(trial, index)
    if case is None:
        return None
    if not used_by(trial, case):
        return None
    coverage.derivations += 1
    coverage.rules.update(rules_used(case.derivation).keys())
    coverage.depths[depth(case.program)] += 1
    coverage.elements += bool(case.context.sigma.stable) and speaks(case.derivation)
    for start in starts(case, rng, states):
        found = performed(case, start)
        coverage.runs += 1
        coverage.divergent += found.divergent
        coverage.unended += not found.ended
        violation = judged(case, start, trial.rules.unrestricted, found)
        if violation:
            return violation
    return None


def speaks(root: Derivation) -> bool:
    """Whether a derivation speaks of elements of arrays, in P or in Q."""
    values = root.substitution.values()
    here = any(isinstance(v, Poly) and elements_in([v]) for v in values)
    return (
        here or any(isinstance(v, tuple) and any(map(elements, v)) for v in values) or any(map(speaks, root.premises))
    )


def depth(s: Stmt) -> int:
    """The depth to which loops are nested."""
    match s:
        case While(_, body):
            return 1 + depth(body)
    inner = [t for t in statements(s) if isinstance(t, While)]
    return max((depth(t) for t in inner), default=0)
