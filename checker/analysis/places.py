"""Where the accesses of a derivation stand in the source: the places that `coalesce` and runs have for them, too.

An access stands where its text begins: at `A` of `A[i]`, at `*` of `*p`, at the call of an atomic function. One that
has no place of its own stands where the statement does that it is part of. Equal expressions may share a derivation,
and a certificate holds no places of expressions: so places are those of the program, where there is one to look in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol, cast

from checker.kernel import Ledger, judgement_of
from checker.oracles import Oracles
from logic.assertions import AtMost, Context, P, Triple, X
from logic.derivation import Derivation
from logic.metrics import Metric
from logic.rules import SOUND
from logic.source import Loc
from logic.syntax import (
    Assign,
    Expr,
    If,
    Kernel,
    Op,
    Read,
    Stmt,
    While,
    Write,
    evaluated,
    show,
    statements,
    subterms,
)


class Explained(Protocol):
    """A bound's derivation, and what was discharged for it."""

    @property
    def metric(self) -> Metric: ...
    @property
    def ledger(self) -> Ledger: ...
    @property
    def derivation(self) -> Derivation | None: ...


Here = tuple[Derivation, Loc | None]
"""An application of a rule to an access, and its place."""

_Heads = dict[tuple[int, int, Expr], tuple[Loc, Expr] | None]
"""The expressions of a program with their places and that of their statement, by its line and column; None where two
files have one there. A write is an expression, too: that which reads what it writes."""


def accesses(
    results: Iterable[Explained], context: Context, program: Kernel | None = None
) -> list[tuple[Loc | None, str, str]]:
    """The accesses that have a price, by place: where, what, and how many of what one execution counts at most.

    `program` is the kernel as it was read; none is known of a certificate without its source.
    """
    start = program.loc if program else None
    found: dict[tuple[Loc | None, str], tuple[int, str]] = {}
    for _, loc, array, index, n, what, engine in _proved(results, context, program):
        text = f"{what} <= {n}" + (f"  ({engine})" if engine else "")
        key = (loc, f"{array}[{show(index)}]")
        found[key] = max(found.get(key, (-1, "")), (n, text))

    def order(row: tuple[tuple[Loc | None, str], object]) -> tuple[bool, str, int, int]:
        loc = row[0][0]
        if loc is None:
            return True, "", 0, 0
        return False, loc.file or (start.file if start else ""), loc.line, loc.column

    rows = sorted(found.items(), key=order)
    return [(loc, name, text) for (loc, name), (_, text) in rows]


def located(root: Derivation, program: Kernel, context: Context) -> Derivation:
    """A derivation of a certificate, which has lines and columns, with the files of its places: those in which the
    program has something there; of several the one in which it is what is judged. "" where that does not tell."""
    files: dict[tuple[int, int], set[str]] = {}
    heads: dict[tuple[int, int, Stmt], set[str]] = {}
    for s in statements(program.body):
        if s.loc:
            heads.setdefault((s.loc.line, s.loc.column, s), set()).add(s.loc.file)
        for loc in (s.loc, *(t.loc for e in evaluated(s) for t in subterms(e))):
            if loc:
                files.setdefault((loc.line, loc.column), set()).add(loc.file)

    def place(node: Derivation) -> Loc | None:
        if (at := node.loc) is None or at.file:
            return at
        known = files.get((at.line, at.column), set())
        if len(known) > 1:
            told = judgement_of(SOUND.rules[node.rule].conclusion, node.substitution, context)
            known = heads.get((at.line, at.column, told.stmt), set()) if isinstance(told, Triple) else set()
        return replace(at, file=next(iter(known))) if len(known) == 1 else at

    made: dict[int, Derivation] = {}  # equal parts of a derivation are one
    todo = [root]
    while todo:
        node = todo[-1]
        if left := [d for d in node.premises if id(d) not in made]:
            todo += left
            continue
        todo.pop()
        made[id(node)] = replace(node, premises=tuple(made[id(d)] for d in node.premises), loc=place(node))
    return made[id(root)]


def outside(
    results: Iterable[Explained], context: Context, program: Kernel, oracle: Oracles
) -> dict[tuple[Loc | None, str], str]:
    """By place, and as it is written, the accesses that may be outside of their arrays, with who is; of what is known
    without a search. Bounds count such an access where it would be: CUDA leaves undefined what happens."""
    heads, found = _heads(program), dict[tuple[Loc | None, str], str]()
    for r in results:
        for node, loc in _placed(r.derivation, heads, program.loc):
            values = node.substitution
            array, index = cast(str, values[_letter(node)]), cast(Expr, values["o"])
            key = loc, f"{array}[{show(index)}]"
            if key not in found:
                found[key] = oracle.outside(cast(P, values["P"]), cast(X, values["X"]), array, index, context)
    return {key: told for key, told in found.items() if told}


def counts(results: Iterable[Explained], context: Context, program: Kernel) -> dict[tuple[Loc | None, str, str], int]:
    """By place, array and metric what one execution of an access counts at most, as the derivations have it proved."""
    found: dict[tuple[Loc | None, str, str], int] = {}
    for metric, loc, array, _, n, _, _ in _proved(results, context, program):
        found[loc, array, metric] = max(n, found.get((loc, array, metric), 0))
    return found


def _proved(
    results: Iterable[Explained], context: Context, program: Kernel | None
) -> Iterator[tuple[str, Loc | None, str, Expr, int, str, str]]:
    """The applications of rules to accesses whose count was discharged: the metric, the place, the array, the
    index, the count, of what it is, and the engine that showed it."""
    heads = _heads(program) if program else {}
    start = program.loc if program else None
    for r in results:
        proved = {
            (o.array, o.index, o.n, o.p): (o.what, line.verdict.engine)
            for line in r.ledger.discharged
            if isinstance(o := line.obligation, AtMost) and _priced(o.array, r.metric, context)
        }
        for node, loc in _placed(r.derivation, heads, start):
            values = node.substitution
            array, index = cast(str, values[_letter(node)]), cast(Expr, values["o"])
            n, p = cast(int, values["n"]), cast(P, values["P"])
            if said := proved.get((array, index, n, p)):
                yield r.metric.name, loc, array, index, n, *said


def _letter(node: Derivation) -> str:
    """The letter by which a rule names the array that it is about; "" where it is about none."""
    return next((letter for letter in ("G", "S") if letter in node.substitution and "o" in node.substitution), "")


def _placed(root: Derivation | None, heads: _Heads, around: Loc | None) -> Iterator[Here]:
    """The applications to accesses with their places, in program order."""
    todo: list[tuple[Derivation, Loc | None]] = [(root, around)] if root else []
    while todo:
        node, around = todo.pop()
        here = node.loc or around
        values = node.substitution

        def known(e: Expr, loc: Loc | None = node.loc, here: Loc | None = here) -> tuple[Loc | None, Expr]:
            return (heads.get((loc.line, loc.column, e)) if loc else None) or (here, e)

        if array := _letter(node):
            yield node, known(Read(cast(str, values[array]), cast(Expr, values["o"])))[0]
        own = (cast(Expr, values[x]) for x in ("o", "e") if x in values)
        costs = [d for d in node.premises if _is_cost(d)]
        for e, derivation in zip(own, costs, strict=False):
            loc, whole = known(e)
            yield from _reads(whole, derivation, loc, any(t.loc for t in subterms(whole)))
        inner = here if SOUND.rules[node.rule].shape in ("if", "while") else around
        todo.extend((d, inner) for d in reversed(node.premises) if not _is_cost(d))


def _is_cost(d: Derivation) -> bool:
    return SOUND.rules[d.rule].shape == "cost"


def _reads(whole: Expr, derivation: Derivation, here: Loc | None, known: bool) -> Iterator[Here]:
    """The reads in an expression, of which the derivation is that of its cost; `known` is whether it has places."""
    todo: list[tuple[Expr, Derivation]] = [(whole, derivation)]
    while todo:
        e, d = todo.pop()
        match e:
            case Read(_, index):
                yield d, e.loc or (here if known else d.loc or here)
                todo.extend((index, premise) for premise in d.premises)
            case Op(_, args):
                todo.extend(reversed(list(zip(args, d.premises, strict=False))))


def _heads(kernel: Kernel) -> _Heads:
    found: _Heads = {}
    for s in statements(kernel.body):
        loc = s.loc
        if loc is None:
            continue
        match s:
            case Assign(_, e) | If(e, _, _) | While(e, _):
                es = [e]
            case Write(array, index, e):
                es = [Read(array, index, loc), index, e]
            case _:
                es = []
        for e in es:
            key = (loc.line, loc.column, e)
            found[key] = (loc, e) if key not in found or _places(found[key]) == _places((loc, e)) else None
    return found


def _places(head: tuple[Loc, Expr] | None) -> list[Loc | None]:
    """The places of an expression's parts, and of its statement."""
    return [head[0], *(t.loc for t in subterms(head[1]))] if head else []


def _priced(array: str, metric: Metric, context: Context) -> bool:
    kind = "g" if context.sigma.arrays[array].space == "global" else "s"
    return f"{kind}read" in metric.counted or f"{kind}write" in metric.counted
