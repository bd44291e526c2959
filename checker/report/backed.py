"""The facts that a solver-backed claim rests on, in words: each that the second checker did not verify, its place,
whose word it is, and what would have it verified.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from checker.kernel import Discharged, Ledger
from checker.notation.words import many
from checker.recheck import SHOWN, Report
from checker.report.terminal import excerpt, wrapped
from logic.assertions import AtLeast, AtMost, Context, Entails, P, Uniform, show_p
from logic.comparisons import as_expr
from logic.source import Loc
from logic.syntax import GHOST, WARP_INDEX, Const, Expr, Op, Param, Read, Tid, Var, show, subterms

ACCEPT: Final = "--accept solver-backed takes that word for enough."

LONGEST: Final = 160
"""The most characters of a fact, and of what is known where it holds."""

MANY: Final = 3
"""The most facts that a text names; JSON has all."""

SOLVERS: Final = ("z3", "cvc5")
"""The engines that are solvers, by how their names begin."""


@dataclass(frozen=True, slots=True)
class Backed:
    """A fact that rests on the word of an engine: where it is needed, what it says, what is known there about the
    same variables, and what would have it verified, in sentences."""

    loc: Loc | None
    engine: str
    fact: str
    given: str
    advice: str


def backed(second: Report, ledger: Ledger, context: Context) -> tuple[Backed, ...]:
    """The facts that a claim rests on besides what the second checker verified, each once."""
    found: dict[Backed, None] = {}
    for o in second.open:
        if o.entry < len(ledger.discharged):  # else the document has more entries than the kernel asked questions
            found[_backed(ledger.discharged[o.entry], o.claim, context)] = None
    return tuple(found)


def _backed(line: Discharged, claim: str, context: Context) -> Backed:
    o, outline = line.obligation, line.loc is not None and line.loc.file.endswith(".qhl")
    about: tuple[Expr, ...]
    match o:
        case AtMost(what, p, _, array, index, n):
            place = f"{array}[{show(index)}]"
            fact = f"{place} has at most {many(n, 'bank conflict')} in a warp"
            if what == "MemReads":
                fact = f"{place} touches at most {many(n, 'sector')} in a warp"
            about, advice = (index,), _of_access(index, p)
        case Uniform(p, _, e):
            fact = f"{show(e)} is the same in all threads of a {context.scope} that come here together"
            about, advice = (e,), "Compute it from what all of these threads have, or test something simpler."
        case Entails(p, goals):
            open_ = [g for g in goals if f"{show(g):.{SHOWN}}" == claim] or list(goals)
            fact, about = show_p(tuple(open_)), tuple(open_)
            advice = _assume(open_[0], outline, line.loc) if len(open_) == 1 else ""
        case AtLeast(p, _, q, r):
            fact = f"{q} >= {r}"
            at_least = as_expr(q - r)
            about = () if at_least is None else (at_least,)
            advice = "" if at_least is None else _assume(Op(">=", (at_least, Const(0))), outline, line.loc)
    sized = "Say --block: more is seen in blocks of known sizes." if None in context.launch.block else ""
    return Backed(line.loc, line.verdict.engine, _cut(fact), _known(p, about), " ".join(filter(None, (sized, advice))))


def _assume(fact: Expr, outline: bool, loc: Loc | None) -> str:
    """The advice to assume a fact: for a launch where it is about parameters, else where threads come to it, in the
    notation of outlines or of sources."""
    parts = [*subterms(fact)]
    if any(isinstance(t, Var) and t.name.startswith(GHOST) for t in parts) or len(show(fact)) > LONGEST:
        return ""
    if Param(WARP_INDEX) in parts:  # of which no source and no option can speak
        return ""
    if all(not isinstance(t, Var | Read | Tid) for t in parts) and any(isinstance(t, Param) for t in parts):
        return f'If it is true of all launches, assume it: --assume "{show(fact)}".'
    if loc is None or any(isinstance(t, Read) for t in parts):
        return ""
    return f"If it is always true, say so before this place: {'' if outline else '//@ '}assume {show(fact)};"


_STEEP: Final = ("min", "max", "%", "/", "?:", "&", "|", "^", "<<", ">>", "abs")
"""Operators through which a distance between lanes is not always seen."""


def _of_access(index: Expr, p: P) -> str:
    """The advice for an access: which operators are in the way, and how to write it without."""
    seen, todo, names = set[str](), [index], set[str]()
    while todo:
        for t in subterms(todo.pop()):
            if isinstance(t, Op) and t.op in _STEEP:
                seen.add(t.op)
            if isinstance(t, Var) and t.name not in names:
                names.add(t.name)
                todo += [f.args[1] for f in p if isinstance(f, Op) and f.op == "==" and f.args[0] == t]
    these = " or ".join(f"'{op}'" for op in _STEEP if op in seen)
    if not these:
        return "An index that is threadIdx times a number, plus what all threads of a warp have, is seen through."
    return f"An index without {these} of what differs between threads is seen through: clamp or wrap what they share."


def _known(p: P, about: Iterable[Expr]) -> str:
    """The facts about the variables that a fact mentions: other facts are left out, and those about ghosts."""
    names = {t for e in about for t in subterms(e) if isinstance(t, Var)}
    told = [f for f in p if names & {*subterms(f)} and not any(_ghost(t) for t in subterms(f))]
    kept: list[str] = []
    for f in told:
        if len(" && ".join((*kept, show(f, 4)))) > LONGEST:
            return " && ".join((*kept, ".."))
        kept.append(show(f, 4))
    return " && ".join(kept)


def _ghost(t: Expr) -> bool:
    return isinstance(t, Var) and t.name.startswith(GHOST)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2].rstrip()} .."


def rests_on(found: Iterable[Backed]) -> str:
    """The same as a sentence for pages and logs, without its full stop and the source."""
    facts = [*found]
    told = [f"{f'{b.loc}: ' if b.loc else ''}{b.fact}{f' ({b.engine})' if b.engine else ''}" for b in facts[:MANY]]
    more = f"; and {len(facts) - MANY} more" if len(facts) > MANY else ""
    return f"not verified by the second checker: {'; '.join(told)}{more}. {ACCEPT.removesuffix('.')}"


def as_text(found: Iterable[Backed], indent: str = "") -> list[str]:
    """For a person, in lines."""
    facts = [*found]
    lines = [
        wrapped(f"The second checker did not verify {many(len(facts), 'fact')}, which the bound rests on:", indent)
    ]
    for b in facts[:MANY]:
        lines += _lines(b, f"{indent}  ")
    if len(facts) > MANY:
        lines.append(f"{indent}  and {len(facts) - MANY} more: --format json names all")
    return [*lines, f"{indent}{ACCEPT}"]


def _lines(b: Backed, indent: str) -> Iterator[str]:
    yield wrapped(f"{f'{b.loc}: ' if b.loc else ''}{b.fact}", indent, f"{indent}  ")
    for line in excerpt(b.loc, None) if b.loc and b.loc.file else ():
        yield f"{indent}    {line}"
    own = f"the kernel's own search ({b.engine}), which the second checker does not follow here"
    yield wrapped(f"by the word of {f'the solver {b.engine}' if b.engine.startswith(SOLVERS) else own}", f"{indent}  ")
    if b.given:
        yield wrapped(f"known there: {b.given}", f"{indent}  ", f"{indent}    ")
    if b.advice:
        yield wrapped(b.advice, f"{indent}  ")


def as_json(found: Iterable[Backed]) -> list[Mapping[str, Any]]:
    """The facts as rows."""
    return [
        {
            "place": None if b.loc is None else {"file": b.loc.file, "line": b.loc.line, "column": b.loc.column},
            "engine": b.engine,
            "fact": b.fact,
            "known": b.given,
            "advice": b.advice or None,
        }
        for b in found
    ]
