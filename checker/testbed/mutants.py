"""Mutants of the sound rules, which measure the testbed: one that no trial kills is a fault of the trials.

Two families. Every item above a rule's bar is dropped or weakened once, and every part of its conclusion that makes the
claim weaker is left out once: made from the rule's data. Bugs with a name and a sentence: in `checker.testbed.bugs`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from checker.testbed.bugs import BUGS, Bug, patched
from checker.testbed.cluster import Cluster, results
from checker.testbed.search import search
from checker.testbed.trial import Trial, Violation
from checker.testbed.workers import Workers
from logic.rules import SOUND, RuleSet
from logic.schema import Rule, Term, show
from logic.syntax import show_stmt

CASES: Final = 5000
"""Cases that a mutant has to survive before it counts as one that trials do not find."""
CASES_IF_EQUIVALENT: Final = 150
"""Cases that a mutant which is called equivalent is tried with all the same."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule set with one fault. `bug` is the fault in the code around the rules, where it is not in a rule."""

    name: str
    sentence: str
    rule: Rule | None = None
    bug: Bug | None = None
    focus: tuple[str, ...] = ()

    def trial(self, seed: int) -> Trial:
        """The trial that should kill it."""
        rules = RuleSet(self.name, SOUND.rules | ({self.rule.name: self.rule} if self.rule else {}))
        if self.bug is None:
            return Trial(rules, self.focus, seed)
        return Trial(rules, self.focus, seed, self.bug.wanted, self.bug.tampered)


def rebuilt(rule: Rule, items: Iterable[Term], conclusion: Term) -> Rule:
    """The rule with other items or another conclusion."""
    return Rule(rule.name, "\n".join([*map(show, items), "-----", show(conclusion)]), rule.source, rule.notes)


def automatic(rules: RuleSet = SOUND) -> Iterator[Mutant]:
    """Every item dropped, every item weakened, every conclusion strengthened, one at a time."""
    for rule in rules.rules.values():
        items = list(rule.items)
        for i, item in enumerate(items):
            yield _mutant(
                rule, f"without `{show(item)}`", rebuilt(rule, [*items[:i], *items[i + 1 :]], rule.conclusion)
            )
            for other in weaker(item):
                told = f"`{show(other)}` for `{show(item)}`"
                yield _mutant(rule, told, rebuilt(rule, [*items[:i], other, *items[i + 1 :]], rule.conclusion))
        for other in stronger(rule.conclusion):
            yield _mutant(rule, f"concludes `{show(other)}`", rebuilt(rule, items, other))


def _mutant(rule: Rule, told: str, mutated: Rule) -> Mutant:
    return Mutant(f"{rule.name} {told}", f"{rule.name} {told}.", mutated, focus=(rule.name,))


def _without(t: Term, heads: tuple[str, ...]) -> Iterator[Term]:
    """The term with one operand of a sum or a set operation left out."""
    if t.head not in heads:
        return
    if t.head != "minus":
        yield t.at(1)
    yield t.at(0)
    yield from (Term(t.head, (inner, t.at(1))) for inner in _without(t.at(0), heads))


def _replaced(t: Term, i: int, part: Term) -> Term:
    return Term(t.head, (*t.parts[:i], part, *t.parts[i + 1 :]))


def weaker(item: Term) -> Iterator[Term]:
    """Items that ask for less."""
    match item.head:
        case "triple":
            if item.at(4).head != "true":
                yield _replaced(item, 4, Term("true"))
            yield from (
                _replaced(item, 5, q)
                for q in _without(item.at(5), ("plus",))
                if q.head != "constant" and q.head != "price"
            )
            if item.at(6).head != "empty":
                yield _replaced(item, 6, Term("empty"))
        case "subset":
            yield from (_replaced(item, 1, x) for x in _without(item.at(1), ("intersect", "minus")))
        case "at-least" if item.at(3).head == "plus":
            yield from (_replaced(item, 3, q) for q in _summands_less(item.at(3)) if _pays(q))
        case "at-least" if item.at(3).head == "assign":
            yield _replaced(item, 3, item.at(3).at(0))
        case "entails" if item.at(1).head == "assign":
            yield _replaced(item, 1, item.at(1).at(0))
        case "ghost" if len(item.parts) > 2:
            for i in range(1, len(item.parts)):
                yield Term("ghost", (*item.parts[:i], *item.parts[i + 1 :]))


def stronger(conclusion: Term) -> Iterator[Term]:
    """Conclusions that claim more: they forget a price, or keep a variable uniform."""
    if conclusion.head == "cost":
        yield from (_replaced(conclusion, 3, q) for q in _summands_less(conclusion.at(3)))
        return
    yield from (_replaced(conclusion, 1, q) for q in _summands_less(conclusion.at(1)) if _pays(q))
    yield from (_replaced(conclusion, 6, x) for x in _without(conclusion.at(6), ("minus",)))


def _pays(q: Term) -> bool:
    """Whether a letter for a potential is left."""
    return (q.head == "meta" and q.name()[0] == "Q") or (q.head == "plus" and (_pays(q.at(0)) or _pays(q.at(1))))


def _summands_less(q: Term) -> Iterator[Term]:
    """The potential without one of its summands; nothing but a price becomes 0."""
    if q.head == "plus":
        yield from _without(q, ("plus",))
    elif q.head in ("price", "count"):
        yield Term("zero")


def mutants() -> tuple[Mutant, ...]:
    """All of them."""
    named = []
    for bug in BUGS:
        rule = None
        if bug.rule:
            original = SOUND.rules[bug.rule]
            text = original.bar
            for old, new in bug.edits:
                if old not in text:
                    raise ValueError(f"{bug.name}: {bug.rule} has no '{old}'")
                text = text.replace(old, new, 1)
            rule = Rule(original.name, text, original.source, original.notes)
        named.append(Mutant(bug.name, bug.sentence, rule, bug, bug.focus or ((bug.rule,) if bug.rule else ())))
    return (*automatic(), *named)


_ONE_THREAD: Final = (
    "What the premise says of X is used for `X' <= ..` and `P; X |- Q >= Q'` only, in both without need: the latter "
    "speaks of one thread, on which every set of variables is uniform; "
)
_KERNEL: Final = "The kernel asks for vars(Q) within X in every conclusion, "
EQUIVALENT: Final[dict[str, str]] = {
    "Q:If4 `{P & e; Q; X} s1 {P1; Q1; {}}` for `{P & e; Q; X} s1 {P1; Q1; X1}`": _ONE_THREAD
    + r"a variable in X \ W(s1) has the value that it had before, one for all threads, whatever X1 is.",
    "Q:If4 `{P'; Q'; X'} s2 {P2; Q2; {}}` for `{P'; Q'; X'} s2 {P2; Q2; X2}`": _ONE_THREAD
    + r"a variable in X' \ W(s2) is in X and written by neither s1 nor s2, so it keeps its one value, whatever X2 is.",
    r"Q:If4 `X' <= X \ W(s1)` for `X' <= (X & X1) \ W(s1)`": (
        "A variable in X that s1 does not write has one value for all threads before and after s1: X1 adds nothing."
    ),
    r"Q:If4 `X'' <= X' \ W(s2)` for `X'' <= (X2 & X') \ W(s2)`": (
        "X' is within X without W(s1), so what s2 does not write of X' is written by nobody and keeps the one "
        "value that it had: X2 adds nothing."
    ),
    r"Q:VWrite2 without `vars(Q) <= X \ {x}`": _KERNEL + r"which is X \ {x} here: the premise says it again.",
    r"Q:VWrite2 `vars(Q) <= X` for `vars(Q) <= X \ {x}`": _KERNEL
    + r"which is X \ {x} here: the premise says it again.",
    "Q:Weak without `c >= 0`": "c is a letter for a cost, and the kernel takes no negative number for one.",
    "Q:Ghost `x ghost in Q, P', Q'` for `x ghost in P, Q, P', Q'`": (
        "s and s1 start in one store, ghost included, so P may speak of it: it is the end that must not, where s "
        "has left it alone."
    ),
    "Q:Ghost `x ghost in P, P', Q'` for `x ghost in P, Q, P', Q'`": (
        "s and s1 start in one store, ghost included, so Q has one value for both: it is Q' that must not speak of it."
    ),
    "Q:Ghost `x ghost in P, Q, P'` for `x ghost in P, Q, P', Q'`": _KERNEL
    + r"and that of Q' is X' \ {x} here: the premise says it again.",
}
"""Mutants that are as sound as the rule they come from, and why."""


# --- score -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a mutant; `case` is the number of the case that kills it."""

    name: str
    sentence: str
    verdict: str
    cases: int
    seconds: float
    witness: str = ""


def tried_mutant(mutant: Mutant, seed: int, cases: int | None = None) -> Result:
    """One mutant on trial, in this process."""
    reason = EQUIVALENT.get(mutant.name)
    count = cases or (CASES_IF_EQUIVALENT if reason else CASES)
    started = time.monotonic()
    with patched(mutant.bug):
        report = search(
            mutant.trial(seed),
            range(count),
            small=False,
        )
    verdict = "killed" if report.violation else "equivalent" if reason else "survived"
    if report.violation and reason:
        verdict = "survived"  # what is called equivalent is not
    told = witness(report.violation) if report.violation else reason or ""
    return Result(mutant.name, mutant.sentence, verdict, report.examples, time.monotonic() - started, told)


def witness(v: Violation) -> str:
    """A violation in a line."""
    program = " ".join(show_stmt(v.case.program).split())
    told = f"`{v.told}` is false" if v.kind == "facts" else f"claims {v.claimed}, costs {v.actual}"
    return f"`{program}`: {told}"


def score(
    chosen: Iterable[Mutant],
    seed: int,
    jobs: int = 1,
    show: Callable[[int], None] | None = None,
    cluster: Cluster | None = None,
) -> list[Result]:
    """The outcome of each mutant, in their order."""
    todo = list(chosen)
    if cluster is None and jobs == 1:
        return list(_counted((tried_mutant(mutant, seed) for mutant in todo), show))
    numbers = [(i, seed) for i in _numbers(todo)]
    if cluster is not None:
        return list(_counted(results(cluster, _tried, numbers, lambda _, found: isinstance(found, Result)), show))
    with Workers(jobs) as pool:
        return list(_counted(pool.map(_tried, numbers), show))


def _counted(results: Iterable[Result], show: Callable[[int], None] | None) -> Iterator[Result]:
    """The results, each shown as it comes."""
    for number, result in enumerate(results, 1):
        yield result
        if show:
            show(number)


def _numbers(todo: list[Mutant]) -> list[int]:
    """The mutants by their place among all: functions of bugs do not travel between processes."""
    places = {m.name: i for i, m in enumerate(mutants())}
    return [places[m.name] for m in todo]


def _tried(job: tuple[int, int]) -> Result:
    return tried_mutant(mutants()[job[0]], job[1])


def summary(results: Iterable[Result]) -> dict[str, Any]:
    """Outcomes as `--format json` prints them."""
    found = list(results)
    return {
        "mutants": len(found),
        "killed": sum(r.verdict == "killed" for r in found),
        "equivalent": [r.name for r in found if r.verdict == "equivalent"],
        "survived": [r.name for r in found if r.verdict == "survived"],
        "seconds": round(sum(r.seconds for r in found), 1),
    }
