"""Reads of neighbouring elements by one thread, made one read of a vector: `float4` for four floats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from checker.analysis.coalescing.access import Access, Key, keys
from logic.comparisons import as_expr
from logic.potentials import Poly, const, of_expr
from logic.stable import root
from logic.syntax import (
    Array,
    Assign,
    Assume,
    Const,
    Decl,
    Expr,
    If,
    Kernel,
    Op,
    Read,
    Seq,
    Skip,
    Stmt,
    Var,
    While,
    Write,
    statements,
    subterms,
)

VECTOR: Final = 16
"""The most bytes that a thread reads at once."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The program with one read for several, in words; `keys` says what became of these accesses."""

    text: str
    kernel: Kernel
    keys: Mapping[Key, Key]


def merged(access: Access, kernel: Kernel) -> Merged | None:
    """The program with a read and those of its neighbours made one; None where that cannot be.

    They have to stand in statements that follow each other, each run whenever the first one is, without an assignment
    to what the index is made of between them; nobody writes the array; and the first index is a multiple of their
    number, so that the vector is aligned as arrays are.
    """
    a = access.array
    same = [b for b in kernel.arrays if root(b.name) == root(a.name)]
    written = any(isinstance(s, Write) and s.array == a.name for s in statements(kernel.body))
    if access.kind != "load" or written or len(same) > 1 or (a.stride, a.offset) != (a.width, 0) or kernel.exchanges:
        return None
    if a.elem.kind != "base":
        return None
    name = next(f"{a.name}_{i}" for i in range(len(kernel.locals) + 1) if _free(f"{a.name}_{i}", kernel))
    found = _Merging(a, access, keys(kernel), name)
    body = found.within(kernel.body)
    if found.made is None:
        return None
    count, reads, wide = found.made
    both = replace(kernel, body=body, arrays=(*kernel.arrays, wide), locals=(*kernel.locals, Decl(name, a.elem)))
    gone = [found.known[id(r)] for r in reads]
    if set(gone) & set(keys(both).values()):  # the same place is read elsewhere, too
        return None
    first: Key = (gone[0][0], "load", wide.name)
    text = f"read the {count} neighbours in {a.name} at once, as {a.elem.name}{count}"
    return Merged(text, both, dict.fromkeys(gone, first))


def _free(name: str, kernel: Kernel) -> bool:
    return name not in {*(d.name for d in (*kernel.locals, *kernel.params)), *(a.name for a in kernel.arrays)}


@dataclass
class _Merging:
    array: Array
    access: Access
    known: Mapping[int, Key]
    name: str
    made: tuple[int, list[Read], Array] | None = None

    def within(self, s: Stmt) -> Stmt:
        """The statement with the reads merged, where they are in it."""
        if self.made is not None:
            return s
        match s:
            case Seq(stmts):
                done = self.row(stmts)
                return Seq(tuple(done if done is not None else map(self.within, stmts)), s.loc)
            case If(cond, then, orelse):
                return If(cond, self.within(then), self.within(orelse), s.loc)
            case While(cond, body):
                return While(cond, self.within(body), s.loc)
            case Assign() | Write() if (done := self.row((s,))) is not None:
                return Seq(tuple(done), s.loc)
        return s

    def row(self, stmts: Sequence[Stmt]) -> list[Stmt] | None:
        """Statements in a row with the reads merged; None where they are not in it."""
        for i, s in enumerate(stmts):
            if not any(self.known[id(r)] == self.access.key for r in self.reads(s)):
                continue
            for first in range(i, -1, -1):
                group = self.group(stmts[first:])
                if group is not None and any(self.known[id(r)] == self.access.key for r in group):
                    return self.replaced(stmts, first, group)
        return None

    def reads(self, s: Stmt) -> Iterator[Read]:
        """The reads of the array in a statement that runs them always."""
        if isinstance(s, Assign | Write):
            es = [s.value] if isinstance(s, Assign) else [s.index, s.value]
            yield from (t for e in es for t in subterms(e) if isinstance(t, Read) and t.array == self.array.name)

    def group(self, stmts: Sequence[Stmt]) -> list[Read] | None:
        """The reads of the elements k*e, k*e + 1, .. k*e + k - 1, in this order, by statements from the first on, one
        read of it among them."""
        found: dict[Read, Poly] = {}
        changed: set[str] = set()
        started = False
        for s in stmts:
            if not isinstance(s, Assign | Write | Skip | Assume):
                break
            for r in self.reads(s):
                p = of_expr(r.index)
                if p is None or {t.name for t in subterms(r.index) if isinstance(t, Var)} & changed:
                    return self.whole(found)
                if any(isinstance(t, Read) for t in subterms(r.index)):
                    continue
                found[r], started = p, True
            if not started:
                return None
            if isinstance(s, Assign):
                changed.add(s.var)
        return self.whole(found)

    def whole(self, found: Mapping[Read, Poly]) -> list[Read] | None:
        """Those of the reads that are a whole vector with the access among them."""
        for count in (4, 2):
            if count * self.array.width > VECTOR:
                continue
            for start in found.values():
                if any(c.denominator != 1 or c % count for _, c in start.terms):
                    continue
                wanted = [start + const(k) for k in range(count)]
                reads = [[r for r, p in found.items() if p == q] for q in wanted]
                if all(len(one) == 1 for one in reads):
                    return [r for (r,) in reads]
        return None

    def replaced(self, stmts: Sequence[Stmt], first: int, group: list[Read]) -> list[Stmt] | None:
        a, count = self.array, len(group)
        start = of_expr(group[0].index)
        index = None if start is None else as_expr(start * Fraction(1, count), bases=True)
        if index is None:
            return None
        wide = Array(f"{a.name}.as_{a.elem.name}x{count}", a.space, a.elem, a.stride * count, 0, a.width * count)
        parts: dict[int, Expr] = {id(group[0]): Var(self.name)}
        for k, r in enumerate(group[1:], 1):
            parts[id(r)] = Op("call:part", (Var(self.name), Const(k * a.width)), r.loc)
        read = Assign(self.name, Read(wide.name, index, group[0].loc), stmts[first].loc)
        self.made = (count, group, wide)
        return [*stmts[:first], read, *(_with(s, parts) for s in stmts[first:])]


def _with(s: Stmt, parts: Mapping[int, Expr]) -> Stmt:
    """A statement with other expressions for these."""
    match s:
        case Assign(x, e):
            return Assign(x, _put(e, parts), s.loc)
        case Write(array, index, e):
            return Write(array, _put(index, parts), _put(e, parts), s.loc)
    return s


def _put(e: Expr, parts: Mapping[int, Expr]) -> Expr:
    if id(e) in parts:
        return parts[id(e)]
    match e:
        case Op(op, args):
            return Op(op, tuple(_put(a, parts) for a in args), e.loc)
        case Read(array, index):
            return Read(array, _put(index, parts), e.loc)
    return e
