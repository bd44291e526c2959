"""Parts of an expression that C++ evaluates in an order of its own choice, where one of them calls a function that
changes something. They are lowered from left to right, and refused where another order may give other values; but calls
that do the same to the same variables, `vec3(random(s), random(s), random(s))`, have the same effects and give the same
values in any order, if to other parts. A run makes them from left to right; nothing is known of what a part gets. Of
parts that do more with these variables than one call does, as `(up(s), twice(s))`, g++ makes both calls of `up` first.

That is seen in what the parts have become, whatever the functions are called for: pointers, references, the object of a
method, variables that a lambda captures. What does not count is a `__syncthreads()` in a function: a value that another
part reads could only be another one on its other side if threads raced for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar, overload

from logic.source import Loc
from logic.syntax import (
    INT,
    Assign,
    Const,
    Decl,
    Expr,
    If,
    Op,
    Read,
    Stmt,
    Sync,
    Type,
    Var,
    Write,
    evaluated,
    reads_array,
    seq,
    show_stmt,
    statements,
    subterms,
    written,
)
from logic.typing import type_of
from semantics.cuda.convert import based, called, retyped
from semantics.cuda.ctype import CType
from semantics.cuda.errors import CudaError
from semantics.cuda.modular import masked
from semantics.cuda.state import Address, Bits, Local, Replan, State, This, Use

T = TypeVar("T")


def within(use: Use) -> Use:
    """How the parts of an expression are used whose order is looked at."""
    return "part" if use == "part" else "apart"


def chosen(
    st: State,
    c: Expr,
    values: tuple[Expr, Expr],
    before: tuple[list[Stmt], list[Stmt]],
    t: Type,
    loc: Loc | None,
    target: Local | None = None,
) -> Expr:
    """The value of `c ? a : b`, where effects come before a and b: an operator where there are none and neither reads
    an array, else a variable that an `if` assigns, the target where one is given."""
    a, b = values
    if not (any(before) or reads_array(a) or reads_array(b)):
        return Op("?:", (c, a, b), loc)
    x = (target or st.declare("t", t, loc, settled=True)).name
    then = seq(*before[0], Assign(x, a, a.loc))
    st.emit(If(c, then, seq(*before[1], Assign(x, b, b.loc)), loc))
    return Var(x, loc)


def one_of(st: State, ways: Sequence[tuple[Expr, Callable[[], None]]], loc: Loc | None) -> None:
    """Emit what is done in one of several ways: an `if` for each but the last one, in order, by its test."""
    *others, (_, last) = [(test, st.block(do)) for test, do in ways]
    for test, done in reversed(others):
        last = If(test, done, last, loc)
    st.emit(last)


class Unordered:
    """The parts of an expression, in the order in which they are lowered."""

    __slots__ = ("_marks", "_st", "_values")

    def __init__(self, st: State) -> None:
        self._st = st
        self._values: list[object] = []
        self._marks = [self._now()]

    def _now(self) -> tuple[int, int, int]:
        return len(self._st.out), len(self._st.acted), len(self._st.locals)

    def part(self, value: T) -> T:
        """The value of a part, when all that it does has just been emitted."""
        self._values.append(value)
        self._marks.append(self._now())
        return value

    def check(self, loc: Loc | None, ordered: bool = False) -> None:
        """Raises where a call in one part changes what another one uses, and they are not `ordered`."""
        if ordered or self._marks[0][1] == self._marks[-1][1]:
            return
        spans = list(zip(self._marks, self._marks[1:], strict=False))
        used = [
            _names(self._st.out[a[0] : b[0]]) | _of(value) for (a, b), value in zip(spans, self._values, strict=True)
        ]
        alike = dict[tuple[int, ...], CudaError]()
        for i, ((_, begin, _), (_, end, _)) in enumerate(spans):
            changed = frozenset[str]().union(*(act.changed for act in self._st.acted[begin:end]))
            for name in sorted(changed & frozenset[str]().union(*used[:i], *used[i + 1 :])):
                what = f"a call changes '{name}', which is also used in this expression, and C++ does not say which"
                wrong = CudaError(f"{what} comes first", loc, "Use two statements.")
                users = tuple(j for j, names in enumerate(used) if name in names)
                if any(name in _of(self._values[j]) | self._around(j) for j in users):
                    raise Replan(replace(self._st.plan, keeps=True), wrong)
                if not self._alike(users):
                    raise wrong
                alike.setdefault(users, wrong)
        for users, wrong in alike.items():
            self._exchange(users, loc, wrong)

    def _done(self, part: int) -> tuple[list[Stmt], list[Decl]]:
        """The statements of a part, and the variables that it declares."""
        (a, _, first), (b, _, last) = self._marks[part : part + 2]
        return self._st.out[a:b], self._st.locals[first:last]

    def _alike(self, parts: Sequence[int]) -> bool:
        """Whether parts do the same, each with variables of its own."""
        done = [self._done(p) for p in parts]
        texts = {(len(own), _numbered(stmts, frozenset(d.name for d in own))) for stmts, own in done}
        return len(texts) == 1

    def _around(self, part: int) -> frozenset[str]:
        """The names that a part uses outside of the body of its last call: another part may come in between."""
        act = self._st.acted[self._marks[part + 1][1] - 1]
        inside = {id(s) for s in statements(seq(*act.body))}
        around = [s for s in statements(seq(*self._done(part)[0])) if id(s) not in inside]
        changed = {s.var if isinstance(s, Assign) else s.array for s in around if isinstance(s, Assign | Write)}
        return frozenset[str]().union(changed, *(_of(e) for s in around for e in evaluated(s)))

    def _exchange(self, parts: Sequence[int], loc: Loc | None, wrong: CudaError) -> None:
        """Forget which of the parts that do the same has got which values. A run goes from left to right. Raises what
        is wrong for values that a run would round."""
        st, owned = self._st, [self._done(p)[1] for p in parts]
        st.note("calls in one expression that do the same to the same variables may come in any order")
        for same in zip(*owned, strict=True):
            values = [based(Var(d.name), d.type, loc) for d in same]
            for i, (d, p) in enumerate(zip(same, parts, strict=True)):
                part, t = self._values[p], st.integers.get(d.name)
                if isinstance(part, Expr) and d.name not in _of(part):
                    continue
                if d.type == INT and (t is None or t.bits > 32):
                    raise wrong
                st.unknowns += 1
                others = [value for value, _ in values[:i] + values[i + 1 :]]
                found = retyped(
                    called("either", values[i][0], [*others, Const(st.unknowns)], loc), values[i][1], d.type, loc
                )
                st.emit(Assign(d.name, found if t is None else masked(found, t), loc))
                st.implied.pop(d.name, None)
                st.reals.pop(d.name, None)


def _numbered(stmts: Sequence[Stmt], own: frozenset[str]) -> str:
    """The text of statements with numbers for the variables that are their own, in the order of their uses."""
    numbers = dict[str, str]()
    text = show_stmt(seq(*stmts))
    return re.sub(
        r"[A-Za-z_][\w.]*", lambda m: numbers.setdefault(m[0], f"#{len(numbers)}") if m[0] in own else m[0], text
    )


@overload
def then(st: State, value: Expr, follow: Callable[[], T]) -> tuple[Expr, T]: ...
@overload
def then(st: State, value: Address, follow: Callable[[], T]) -> tuple[Address, T]: ...
def then(st: State, value: Expr | Address, follow: Callable[[], T]) -> tuple[Expr | Address, T]:
    """A value, and what follows it: where that changes what the value is made of, the value is kept before."""
    with st.captured() as stmts:
        found = follow()
    if _of(value) & changes(stmts) or any(isinstance(s, Sync) for s in statements(seq(*stmts))):
        if isinstance(value, Address):
            value = replace(value, terms=tuple((s, st.saved(e, INT)) for s, e in value.terms))
        else:
            value = st.saved(value, type_of(value, st.sigma))
    st.emit(*stmts)
    return value, found


def keep(st: State, value: Expr, t: CType, changed: frozenset[str]) -> Expr:
    """The value of a call in a variable, if it is made of what the call changes, and other calls may."""
    if not st.plan.keeps or not _of(value) & changed:
        return value
    local = st.declare("t", type_of(value, st.sigma), value.loc, settled=True, of=t)
    st.emit(Assign(local.name, value, value.loc))
    return Var(local.name, value.loc)


def changes(stmts: list[Stmt]) -> frozenset[str]:
    """The variables and arrays that statements may change."""
    whole = seq(*stmts)
    return written(whole) | {s.array for s in statements(whole) if isinstance(s, Write)}


def _names(stmts: list[Stmt]) -> frozenset[str]:
    """The variables and arrays that statements use or change."""
    found = set(changes(stmts))
    for s in statements(seq(*stmts)):
        found.update(*map(_of, evaluated(s)))
    return frozenset(found)


def _of(value: object) -> frozenset[str]:
    """The variables and arrays that the value of a part is made of, or what it takes to say which place it is."""
    if isinstance(value, Expr):
        named = (t for t in subterms(value) if isinstance(t, Var | Read))
        return frozenset(t.name if isinstance(t, Var) else t.array for t in named)
    match value:
        case Address(_, _, terms):
            return frozenset[str]().union(*(_of(e) for _, e in terms))
        case This(place) | Bits(place):
            return _of(place)
        case list() | tuple():
            return frozenset[str]().union(*map(_of, value))
    return frozenset()
