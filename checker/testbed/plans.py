"""In which order the letters of a rule on trial get their values, where the search for bounds applies it.

A rule's text leaves open what its letters stand for where it is applied. `plan` finds an order in which all of them
get a value, once for each rule: first those for facts and uniform variables, with the flow of the program, then
potentials, against it. What a letter may be is what stands above the bar: P' in `P1 |- P'` is what P1 says (what all
such places say, if there are several), X' in `X' <= X \\ W(s)` that set, Q in `P; X |- Q >= Q'` at least Q'. Where the
text gives a letter no value, or is about programs that the search does not look for, the rule is refused, in a
sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from checker.testbed.matching import iterates, letters, summands
from checker.testbed.rulefile import RuleFileProblem
from logic.schema import Rule, Term, kind, show

STEPS: Final = ("skip", "sync", "set", "write", "assume")
"""The shapes of rules about statements without statements inside them."""

_HOW: Final = "`warpbound trial` tries it, and `check --rules` judges a derivation that applies it (docs/own-rule.md)."


def refuse(rule: Rule, why: str) -> NoReturn:
    """Raises RuleFileProblem: the search cannot use the rule."""
    raise RuleFileProblem(f"the search cannot use {rule.name}: {why}", advice=_HOW)


@dataclass(frozen=True, slots=True)
class Bind:
    """A letter that gets its value from terms, which come first, and from what holds after premises."""

    letter: str
    terms: tuple[Term, ...] = ()
    ends: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Prove:
    """A premise about a part of the statement, by its number among the premises."""

    premise: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A rule, and how its letters get their values.

    `ahead` is for facts and uniform variables, `back` for potentials. `head` is the letter of the potential at a loop's
    head, if the rule has one; `base` that of the potential in the conclusion's precondition. `asked` are the
    side conditions that tell whether the rule applies; `least` those between potentials that give no letter a value.
    """

    rule: Rule
    base: str
    head: bool
    ahead: tuple[Bind | Prove, ...]
    back: tuple[Bind | Prove, ...]
    asked: tuple[Term, ...]
    least: tuple[Term, ...]


def of_kind(t: Term, *kinds: str) -> set[str]:
    """The letters of a term that are of some kinds."""
    return {m for m in letters(t) if kind(m) in kinds}


def is_letter(t: Term, *kinds: str) -> bool:
    """Whether a term is a letter of one of some kinds."""
    return t.head in ("meta", "constant") and kind(t.name()) in kinds


def plan(rule: Rule) -> Plan:
    """How a rule about a statement is used. Raises RuleFileProblem."""
    subject = rule.conclusion.at(3)
    if rule.shape not in (*STEPS, "if", "while"):
        refuse(rule, "it is about statements of any kind, and its text does not say to which one it is to be applied")
    given = _given(rule, letters(subject))
    ahead, known = _ahead(rule, given)
    base, head, back = _back(rule)
    bound = {b.letter: b for b in (*ahead, *back) if isinstance(b, Bind)}
    counted = {t.name(4) for t in rule.side_conditions if t.head == "at-most"}
    costs = {m for t in rule.premises if t.head == "cost" for m in letters(t.at(3))}
    zero = {t.name() for t in rule.side_conditions if t.head == "nonnegative"}
    for m in rule.metavariables:
        if kind(m) != "potential" and m not in known | counted | costs | zero:
            refuse(rule, f"{m} has no value, for nothing in its text says what it follows from")
    given_by = {t for t in rule.side_conditions if _gives(t, bound)}
    rest = [t for t in rule.side_conditions if t not in given_by]
    asked = tuple(t for t in rest if t.head not in ("at-least", "at-most", "nonnegative") and not _of_potentials(t))
    least = tuple(t for t in rest if t.head == "at-least" and t.at(3).head != "zero")
    return Plan(rule, base, head, ahead, back, asked, least)


def _gives(t: Term, bound: Mapping[str, Bind]) -> bool:
    """Whether a side condition holds by the way in which a letter got its value."""
    match t.head:
        case "entails":
            left, right = t.at(0), t.at(1)
            letter = right.at(0) if right.head == "assign" else right
        case "subset":
            left, letter = t.at(1), t.at(0)
        case "at-least":
            left, letter = t, t.at(2)
        case _:
            return False
    return letter.head == "meta" and letter.name() in bound and left in bound[letter.name()].terms


def _of_potentials(t: Term) -> bool:
    """Whether a side condition is about the variables of a potential: the kernel says whether it holds."""
    return bool(of_kind(t, "potential"))


def _given(rule: Rule, subject: frozenset[str]) -> set[str]:
    """The letters that the statement and what holds before it give a value. Raises RuleFileProblem."""
    c = rule.conclusion
    for t, kinds, other in ((c.at(0), ("assertion",), "true"), (c.at(2), ("variables",), "empty")):
        if not is_letter(t, *kinds) and t.head != other:
            refuse(rule, f"it begins with '{show(t)}', which does not say what holds before the statement")
    for t in rule.side_conditions:
        if t.head in ("erased", "ghost"):
            refuse(rule, f"'{show(t)}' is about programs that the search does not look for")
    parts = {m for m in subject if kind(m) == "statement"}
    seen: set[str] = set()
    for t in rule.items:
        free = of_kind(t, "expression", "variable", "parameter", "literal", "axis", "operator") - subject
        if free:
            refuse(rule, f"{min(free)} has no value, for it is no part of '{show(c.at(3))}'")
    for t in rule.premises:
        if t.head == "triple" and (not is_letter(t.at(3), "statement") or t.at(3).name() not in parts):
            refuse(rule, f"a premise is about '{show(t.at(3))}', which is no part of '{show(c.at(3))}' by itself")
        if t.head == "triple" and t.at(3).name() in seen:
            refuse(rule, f"two premises are about {t.at(3).name()}")
        seen |= {t.at(3).name()} if t.head == "triple" else set()
        if t.head == "cost" and t.at(3).head != "constant":
            refuse(rule, f"the cost in '{show(t)}' is no letter")
    return {*subject, *letters(c.at(0)), *letters(c.at(2))}


def _ahead(rule: Rule, given: set[str]) -> tuple[tuple[Bind | Prove, ...], set[str]]:
    """The order for facts and uniform variables; and the letters that have a value then. Raises RuleFileProblem."""
    found: list[Bind | Prove] = []
    known, done = set(given), set[int]()
    triples = {i: t for i, t in enumerate(rule.premises) if t.head == "triple"}
    open_ = [m for m in rule.metavariables if kind(m) in ("assertion", "variables") and m not in known]
    terms: dict[str, list[Term]] = {m: [] for m in open_}
    ends: dict[str, list[int]] = {m: [] for m in open_}
    for t in rule.side_conditions:
        if t.head == "entails":
            to = t.at(1).at(0) if t.at(1).head == "assign" else t.at(1)
            if to.head == "meta" and to.name() in terms:
                terms[to.name()].append(t.at(0))
        if t.head == "subset" and is_letter(t.at(0), "variables") and t.at(0).name() in terms:
            terms[t.at(0).name()].append(t.at(1))
    for i, t in triples.items():
        for end in (t.at(4), t.at(6)):
            if end.head == "meta" and end.name() in ends:
                ends[end.name()].append(i)

    def ready(t: Term) -> bool:
        return letters(t) <= known

    while True:
        runs = [i for i, t in triples.items() if i not in done and ready(t.at(0)) and ready(t.at(2))]
        if runs:
            done.add(runs[0])
            found.append(Prove(runs[0]))
            continue
        options: list[tuple[bool, Bind]] = []
        for m in open_:
            if m not in known:
                now = tuple(t for t in terms[m] if ready(t))
                after = tuple(i for i in ends[m] if i in done)
                if now or after:
                    options.append((len(now) + len(after) < len(terms[m]) + len(ends[m]), Bind(m, now, after)))
        if not options:
            break
        bind = min(options, key=lambda option: option[0])[1]  # those whose sources are all there first
        known.add(bind.letter)
        found.append(bind)
    missing = next((m for m in open_ if m not in known), None)
    if missing is not None:
        refuse(rule, f"{missing} has no value, for nothing in its text says what it follows from")
    return tuple(found), known


def _back(rule: Rule) -> tuple[str, bool, tuple[Bind | Prove, ...]]:
    """The letter of the potential before the statement, whether it is that at a loop's head, and the order for
    potentials. Raises RuleFileProblem."""
    c = rule.conclusion
    triples = {i: t for i, t in enumerate(rule.premises) if t.head == "triple"}
    before = of_kind(c.at(1), "potential")
    if len(before) != 1 or any(t.head == "assign" for t in summands(c.at(1))):
        refuse(rule, f"'{show(c.at(1))}' is not a letter with prices, so nothing says what is needed before")
    (base,) = before
    after = of_kind(c.at(5), "potential")
    if len(after) > 1 or any(t.head == "assign" for t in summands(c.at(5))):
        refuse(rule, f"'{show(c.at(5))}' is not a letter with prices, so nothing says what is left at the end")
    head = rule.shape == "while" and iterates(rule)
    found: list[Bind | Prove] = []
    known = {*after, *({base} if head else ())}
    begun: list[str] = []
    proved: set[int] = set()

    def prove(i: int) -> None:
        if i not in proved:
            for m in sorted(of_kind(triples[i].at(5), "potential")):
                settle(m)
            proved.add(i)
            found.append(Prove(i))

    def settle(m: str) -> None:
        if m in known:
            return
        if m in begun:
            refuse(rule, f"{m} depends on itself, and the rule is not about the head of a loop")
        begun.append(m)
        ends = tuple(i for i, t in triples.items() if t.at(1).head == "meta" and t.at(1).name() == m)
        for i in ends:
            prove(i)
        terms = [t for t in rule.side_conditions if t.head == "at-least" and t.at(2) == Term("meta", (m,))]
        terms = [t for t in terms if t.at(3).head != "zero"]
        for t in terms:
            for other in sorted(of_kind(t.at(3), "potential")):
                settle(other)
        known.add(m)
        found.append(Bind(m, tuple(terms), ends))

    settle(base)
    for i in triples:
        prove(i)
    for m in rule.metavariables:
        if kind(m) == "potential":
            settle(m)
    if head:
        (turn,) = triples.values()
        if turn.at(0) != Term("and", (c.at(0), c.at(3).at(0))) or turn.at(2) != c.at(2):
            refuse(rule, f"a turn of the loop begins with '{show(turn.at(0))}', and not where its test holds")
    return base, head, tuple(found)
