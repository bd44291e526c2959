"""`switch`: every section is lowered once, since the lanes that fall into it meet those that jump to its label there.

Sections that none falls into, and that fall into none, are the branches of a chain of `if`. Those that some lanes fall
through are one branch together, in which each has a test of its own: that the value is that of its label, or of one
before it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Final

from logic.source import Loc
from logic.syntax import INT, TRUE, Assign, Const, Expr, If, Op, Read, Skip, Stmt, Var, seq
from semantics.cuda.flags import opposite, staying
from semantics.cuda.jumps import Kinds, Part, ends, of_row
from semantics.cuda.sections import Section, following
from semantics.cuda.state import Loop, State

Block = Callable[[State, tuple[Part, ...], Kinds], None]
"""`semantics.cuda.statements.block`"""

Ranges = tuple[tuple[int, int], ...]

_FEW: Final = 2
"""So many values in a row are tested one by one."""


def switch(st: State, found: list[Section], value: Expr, tail: Kinds, loc: Loc | None, block: Block) -> None:
    """Emit the sections of a `switch` on a value, of which the first has no label. `tail` as for a block."""
    found = found[1:]
    if isinstance(value, Const):
        start = _chosen(found, int(value.value))
        st.loops.append(Loop(len(st.alive), switch=True))
        with st.captured() as stmts:
            if start is not None:
                block(st, following(found, start), tail | {"break"})
        _close(st, stmts, loc)
        return
    groups = _groups(found)
    if not any(section.default for section in found):
        groups = [g for g in map(_named, groups) if g]
    if isinstance(value, Op | Read) or (any(len(g) > 1 for g in groups) and not st.is_settled(value)):
        t = st.declare("t", INT, loc, settled=True)
        st.emit(Assign(t.name, value, loc))
        value = Var(t.name, value.loc)
    st.loops.append(Loop(len(st.alive), switch=True))
    lowered = [(g, st.block(lambda g=g: _group(st, value, g, tail, block))) for g in groups]  # type: ignore[misc]
    _close(st, [_chain(st, value, lowered)], loc)


def _close(st: State, stmts: list[Stmt], loc: Loc | None) -> None:
    flag = st.loops.pop().go
    st.emit(*([Assign(flag, TRUE, loc)] if flag else []), *stmts)


def _chosen(found: list[Section], value: int) -> int | None:
    """The number of the section that a value leads to."""
    named = (i for i, s in enumerate(found) if any(low <= value <= high for low, high in s.cases))
    return next(named, next((i for i, s in enumerate(found) if s.default), None))


def _groups(found: list[Section]) -> list[list[Section]]:
    """The sections, those together that one may fall from into the next."""
    groups: list[list[Section]] = [[]]
    for section in found:
        groups[-1].append(section)
        if "through" not in ends(section.parts):
            groups.append([])
    return [g for g in groups if g]


def _named(group: list[Section]) -> list[Section]:
    """The sections of a group without those at its end that do nothing: where no default is, they need no branch."""
    while group and _idle(group, len(group) - 1):
        group = group[:-1]
    return group


def _idle(group: list[Section], i: int) -> bool:
    """Whether the sections from one on do nothing."""
    return all(part.kind == "NULL_STMT" for part in following(group, i))


def _cases(group: list[Section]) -> Ranges:
    return tuple(case for section in group for case in section.cases)


def _chain(st: State, value: Expr, groups: list[tuple[list[Section], Stmt]]) -> Stmt:
    """The groups as branches, the one with the default last."""
    named = [(g, s) for g, s in groups if not any(section.default for section in g)]
    found = seq(*(s for g, s in groups if any(section.default for section in g)))
    for group, inside in reversed(named):
        loc = group[0].loc
        c, then, orelse = _among(value, _cases(group), loc), inside, found
        if then == Skip() and orelse != Skip():
            c, then, orelse = opposite(st, c), orelse, then
        found = If(c, then, orelse, loc)
    return found


def _group(st: State, value: Expr, group: list[Section], tail: Kinds, block: Block) -> None:
    """The sections of a group, each once, for lanes whose value leads to one of them."""
    left: Kinds = frozenset()
    for i, section in enumerate(group):
        last = _idle(group, i + 1)
        body = st.block(lambda s=section, t=tail | {"break"} if last else frozenset(): block(st, s.parts, t))  # type: ignore[misc]
        if body != Skip():
            tests = [staying(st, left)] if left else []
            tests += _entered(value, group, i, section.loc)
            test = reduce(lambda a, b: Op("&&", (a, b), a.loc), tests) if tests else None
            st.emit(body if test is None else If(test, body, Skip(), section.loc))
        if last:
            return
        left |= of_row(section.parts)


def _entered(value: Expr, group: list[Section], i: int, loc: Loc | None) -> list[Expr]:
    """The condition that a value of a group leads to its section with a number or to one before that; empty where all
    do."""
    later = group[i + 1 :]
    if any(section.default for section in later):
        return [_among(value, _cases(group[: i + 1]), loc)]
    if any(section.default for section in group):
        return [_apart(value, _cases(later), loc)] if _cases(later) else []
    return [_among(value, _cases(group[: i + 1]), loc)] if _cases(later) else []


def _joined(cases: Ranges) -> Ranges:
    """Ranges in order, with more than a few values in a row as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(cases):
        if found and low == found[-1][1] + 1:
            low = found.pop()[0]
        found.append((low, high))
    given = {*cases}
    return tuple(
        part
        for low, high in found
        for part in ([(low, high)] if high - low >= _FEW or (low, high) in given else [(low, low), (high, high)])
    )


def _among(value: Expr, cases: Ranges, loc: Loc | None) -> Expr:
    """Whether a value is in one of the ranges."""
    tests = [
        Op("==", (value, Const(low)), loc)
        if low == high
        else Op("&&", (Op(">=", (value, Const(low)), loc), Op("<=", (value, Const(high)), loc)), loc)
        for low, high in _joined(cases)
    ]
    return reduce(lambda a, b: Op("||", (a, b), loc), tests)


def _apart(value: Expr, cases: Ranges, loc: Loc | None) -> Expr:
    """Whether a value is in none of the ranges."""
    tests = [
        Op("!=", (value, Const(low)), loc)
        if low == high
        else Op("||", (Op("<", (value, Const(low)), loc), Op(">", (value, Const(high)), loc)), loc)
        for low, high in _joined(cases)
    ]
    return reduce(lambda a, b: Op("&&", (a, b), loc), tests)
