"""A derivation for a page: its applications of rules to statements, each with its side conditions, who decided them and
what the certificate has to show for it. What expressions cost is derived, too: those applications are counted, and
their side conditions stand at the statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Final

from checker.certificates.audit import Audited
from checker.kernel import Discharged, judgement_of, obligations_of
from checker.report.tree import premises_of
from logic.assertions import Context, Triple
from logic.derivation import Derivation, size
from logic.potentials import Poly
from logic.refusals import Rejected
from logic.rules import SOUND
from logic.source import Loc
from logic.syntax import If, Seq, Stmt, While, show, show_stmt

WIDEST: Final = 70
"""The most characters of a statement."""

LONGEST: Final = 240
"""The most characters of a side condition, and of a potential."""

PLAIN: Final = "syntactic"
"""The engine that decides what holds by its form: these are only counted."""

ONE: Final = ("entails", "holds", "refutes", "uniform", "at-most", "at-least")
"""The side conditions of rules that are one obligation each."""

EVIDENCE: Final = {
    "open": "rests on the solver's word",
    "proof": "with a proof in the certificate",
    "seen": "seen by both checkers",
}
"""What there is to show for a side condition."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A side condition: what it says, who decided it, and what the certificate has to show for it."""

    text: str
    engine: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Step:
    """An application of a rule at its level, 0 for the root: where, to which statement, from which potential to which.
    `costs` counts the applications to expressions, `plain` the side conditions that hold by their form, `hidden` the
    applications above it that are not shown; `closes` is how many levels end after it."""

    number: int
    level: int
    rule: str
    loc: Loc | None
    statement: str
    before: str
    after: str
    conditions: tuple[Condition, ...]
    costs: int
    plain: int
    hidden: int
    closes: int

    @property
    def sequence(self) -> bool:
        """Whether it puts statements in sequence."""
        return SOUND.rules[self.rule].shape == "seq"


def steps(a: Audited, most: int) -> list[Step]:
    """The applications in the order of a reader, each before its premises: all down to the level at which they are
    more than `most`."""
    told = _discharged(a)
    levels = _levels(a.derivation, most)
    rows = list(_walk(a.derivation, levels))
    found = []
    for i, ((node, level), after) in enumerate(zip_longest(rows, rows[1:])):
        inner = list(_costs(node))
        conditions = [c for d in inner for c in told.get(id(d), ())]
        shown = tuple(c for c in conditions if c.engine != PLAIN)
        statement, before, end = _judged(node, a.certificate.context)
        found.append(
            Step(
                i,
                level,
                node.rule,
                node.loc,
                statement,
                before,
                end,
                shown,
                sum(SOUND.rules[d.rule].shape == "cost" for d in inner),
                len(conditions) - len(shown),
                0 if level + 1 < levels else sum(size(d) for d in _statements(node)),
                level + 1 - (after[1] if after else 0),
            )
        )
    return found


def _levels(root: Derivation, most: int) -> int:
    """The levels of the tree that hold no more applications than this, one at least."""
    level, count, levels = [root], 1, 1
    while level := [d for node in level for d in _statements(node)]:
        count += len(level)
        if count > most:
            break
        levels += 1
    return levels


def _walk(root: Derivation, levels: int) -> Iterator[tuple[Derivation, int]]:
    todo = [(root, 0)]
    while todo:
        node, level = todo.pop()
        yield node, level
        if level + 1 < levels:
            todo += [(d, level + 1) for d in reversed(_statements(node))]


def _statements(node: Derivation) -> list[Derivation]:
    """The premises about statements, those of a sequence at one level."""
    return [d for d, _ in premises_of(node, SOUND) if SOUND.rules[d.rule].shape != "cost"]


def _costs(node: Derivation) -> Iterator[Derivation]:
    """The application itself, those of the sequence that it is, and those for what its expressions cost."""
    todo = [node]
    while todo:
        d = todo.pop()
        yield d
        same = SOUND.rules[node.rule].shape == "seq"
        todo += [p for p in reversed(d.premises) if SOUND.rules[p.rule].shape in ("cost", "seq" if same else "cost")]


def _judged(node: Derivation, context: Context) -> tuple[str, str, str]:
    """The statement, and the potentials before and after it."""
    told = None
    with suppress(Rejected, KeyError):
        told = judgement_of(SOUND.rules[node.rule].conclusion, node.substitution, context)
    if not isinstance(told, Triple):
        return "", "", ""
    return _cut(_head(told.stmt), WIDEST), _potential(told.pre.q), _potential(told.post.q)


def _head(s: Stmt) -> str:
    match s:
        case Seq(stmts):
            return f"{_head(stmts[0])} .."
        case If(cond):
            return f"if ({show(cond)}) .."
        case While(cond):
            return f"while ({show(cond)}) .."
    return show_stmt(s)


def _potential(q: Poly) -> str:
    return _cut(str(q), LONGEST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 2]}.."


def _discharged(a: Audited) -> dict[int, list[Condition]]:
    """The side conditions of each application, by its identity: the ledger has them in the order of the kernel, which
    looks at premises first."""
    found: dict[int, list[Condition]] = {}
    lines = iter(enumerate(a.ledger.discharged))
    for node in _in_order(a.derivation):
        n = sum(
            1 if t.head in ONE else sum(1 for _ in obligations_of(t, node.substitution, a.certificate.context))
            for t in SOUND.rules[node.rule].side_conditions
            if t.head in (*ONE, "all-uniform")
        )
        if own := [_condition(a, i, line) for i, line in islice(lines, n)]:
            found[id(node)] = own
    return found


def _in_order(root: Derivation) -> Iterator[Derivation]:
    todo: list[tuple[Derivation, bool]] = [(root, False)]
    while todo:
        node, expanded = todo.pop()
        if expanded:
            yield node
            continue
        todo.append((node, True))
        todo += [(premise, False) for premise in reversed(node.premises)]


def _condition(a: Audited, i: int, line: Discharged) -> Condition:
    entries = a.certificate.evidence
    entry = entries[i] if i < len(entries) else None
    proof = entry.get("proof") if isinstance(entry, dict) else None
    left = a.second is not None and any(i == o.entry for o in a.second.open)
    kind = "open" if left else "seen" if proof is None else "proof"
    text = "" if line.verdict.engine == PLAIN else _sequent(str(line.obligation))
    return Condition(text, line.verdict.engine, EVIDENCE[kind])


def _sequent(text: str) -> str:
    """A side condition: what it rests on gives way to what it says."""
    given, turnstile, goal = text.rpartition(" |- ")
    if len(text) <= LONGEST or not turnstile:
        return _cut(text, LONGEST)
    goal = _cut(goal, LONGEST)
    return f"{_cut(given, max(LONGEST - len(goal), 10))}{turnstile}{goal}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A rule: what stands above its bar, and what below."""

    above: tuple[str, ...]
    below: str


def bars(found: list[Step]) -> dict[str, Bar]:
    """The rules that are used, by name."""
    return {name: _bar(SOUND.rules[name].bar) for name in dict.fromkeys(s.rule for s in found)}


def _bar(text: str) -> Bar:
    """A rule of its text: premises stand in a row, three blanks between them."""
    above, below = re.split(r"^ *-{3,} *$", text.strip("\n"), maxsplit=1, flags=re.MULTILINE)
    parts = (part.strip() for line in above.splitlines() for part in re.split(r" {3,}", line))
    return Bar(tuple(filter(None, parts)), " ".join(below.split()))
