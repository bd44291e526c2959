"""Budgets: the most that kernels may cost, and whether what is certified keeps to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from checker.certificates.claims import excluded, value_at, with_facts
from checker.fleet.config import Budget
from checker.fleet.desk import Desk, Key
from checker.fleet.rows import Read, Row, shown
from checker.notation import parse_potential
from checker.notation.problem import OptionProblem
from checker.notation.words import number
from checker.oracles import Oracles
from logic.assertions import AtLeast, Proved, Refuted
from logic.potentials import Leaf, Poly, evaluate, leaves
from logic.source import SourceError
from logic.syntax import Param

Point = Callable[[Sequence[str]], Mapping[str, int]]
"""What reads `n=1000,m=3`."""

Line = Callable[[Key], int | None]
"""What finds the line of a kernel that costs most."""

GOOD: Final = ("certified",)


class NoKernel(Exception):
    """A budget is for a kernel that was not found."""


def judged(
    budgets: Sequence[Budget],
    desk: Desk,
    point: Point,
    line: Line,
) -> list[Row]:
    """A row for each budget, and each kernel and instance that it is for; `line` says where most of a bound is
    spent. Raises SourceError for a budget that cannot be about its kernel, and NoKernel for one whose kernel is not
    there."""
    found = list[Row]()
    for b in budgets:
        keys = [key for key, row in desk.rows.items() if _is_for(b, row) and key[1] >= 0]
        if not keys:
            raise NoKernel(b.kernel)
        metrics = {m.name for m in desk.metrics}
        if b.metric not in metrics or b.per != desk.per:
            asked = "other metrics" if b.metric not in metrics else f"bounds per {desk.per}: say --per {b.per}"
            found.append(_row(b, None, "not looked at", None, f"the command asks for {asked}"))
            continue
        for key in keys:
            if desk.rows[key]["metric"] == b.metric:
                found.append(_one(b, key, desk, point, line))
    return found


def _is_for(b: Budget, row: Row) -> bool:
    name = str(row["kernel"])
    if b.file and Path(b.file).resolve() != Path(row["file"]).resolve():
        return False
    return b.kernel in (name, name.partition("<")[0]) or b.kernel.replace(" ", "") == name.replace(" ", "")


def _row(b: Budget, row: Row | None, verdict: str, value: Fraction | None, problem: str = "") -> Row:
    return {
        "kernel": row["kernel"] if row else b.kernel,
        "metric": b.metric,
        "per": b.per,
        "at": b.at or None,
        "most": int(b.most) if b.most.isdecimal() else b.most,
        "value": None if value is None else number(value),
        "verdict": verdict,
        "problem": problem or None,
        "file": row["file"] if row else None,
        "line": row["line"] if row else None,
    }


def _one(
    b: Budget,
    key: Key,
    desk: Desk,
    point: Point,
    line: Line,
) -> Row:
    row, bound, read = desk.rows[key], desk.bound(key), desk.read(key)
    good = row["verdict"] in (*GOOD, *desk.accepted)
    if bound is None or read is None or not good:
        return _row(b, row, "not proved", None, f"{row['verdict']}: {row.get('problem', 'it is not certified')}")
    most = _most(b, read)
    if not b.at:
        return _with_line(_everywhere(b, row, read, bound, most), line(key))
    try:
        at = point([b.at])
        unknown = sorted(x for x in at if x not in read.context.sigma.params and "[" not in x)
        if unknown:
            raise OptionProblem(f"'{unknown[0]}' is no parameter of {read.name}")
        if (fact := excluded(at, with_facts(read.context, read.facts))) is not None:
            raise OptionProblem(f"{fact} is assumed, and does not hold there")
    except SourceError as problem:
        told = f"at: {problem.message}"
        advice = problem.advice and 'Write it like at = "n=1000,m=16".'
        raise OptionProblem(told, b.places.get("at"), advice) from None
    (value, lacking), (limit, more) = (value_at(p, read.context, at) for p in (bound, most))
    if value is None or limit is None:
        told = f"a budget at {b.at}: the bound also depends on {', '.join(dict.fromkeys((*lacking, *more)))}"
        raise OptionProblem(told, b.places.get("at"), 'Give all of them: at = "n=1000,m=16".')
    if value <= limit:
        return _row(b, row, "kept", value)
    return _with_line(_row(b, row, "exceeded", value), line(key))


def _with_line(found: Row, line: int | None) -> Row:
    """The row of a budget, with the line that costs most where it is exceeded."""
    return found | {"line": line} if line and found["verdict"] == "exceeded" else found


def _most(b: Budget, read: Read) -> Poly:
    try:
        own = [name for name in re.findall(r"[A-Za-z_]\w*", b.most) if name in read.context.sigma.locals]
        if own:
            known = ", ".join(sorted(d.name for d in read.bare.params)) or "none"
            raise OptionProblem(f"'{own[0]}' is no parameter of {read.name}", advice=f"Its parameters: {known}.")
        return shown(read, parse_potential(b.most, replace(read.context.sigma, locals={}), "most"))
    except SourceError as problem:
        told = f"'most' is no number or formula here: {problem.message}"
        raise OptionProblem(told, b.places.get("most"), problem.advice) from None


def _value(bound: Poly) -> int | str:
    """A bound for JSON: a number where it is one."""
    return number(bound.constant) if bound.is_constant else str(bound)


def _everywhere(b: Budget, row: Row, read: Read, bound: Poly, most: Poly) -> Row:
    """A budget that is a formula, or a number at all points: proved, or not."""
    context = replace(read.context)
    verdict: Any = Oracles()(AtLeast((), frozenset(), most, bound), context)
    if isinstance(verdict, Proved):
        return _row(b, row, "kept", None, f"the bound {bound} is never more") | {"value": _value(bound)}
    at = verdict.witness if isinstance(verdict, Refuted) else {}
    names = {leaf.name for leaf in (*leaves(bound), *leaves(most))}
    if names <= at.keys():
        store: dict[Leaf, int] = {Param(name): int(at[name]) for name in names}
        where = ", ".join(f"{name}={at[name]}" for name in sorted(names))
        value, limit = (evaluate(p, store) for p in (bound, most))
        if value > limit:
            told = f"{value} at {where}, of at most {limit}" if where else f"{value} of at most {limit}"
            return _row(b, row, "exceeded", None, told) | {"value": _value(bound)}
    return _row(b, row, "not proved", None, f"it is not known whether {bound} is at most {most}")
