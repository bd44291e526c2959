"""Kernels that cost the same wherever arrays begin in shared memory, some words further or not.

No access costs another number of words a bank if all of its addresses are some words further, and nothing is proved of
what shared memory holds. So two readings that differ in no more than that are of one kernel.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import gcd
from typing import Final

from logic.syntax import (
    Array,
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Read,
    Seq,
    Stmt,
    While,
    Write,
    evaluated,
    statements,
    subterms,
)

WORD: Final = 4
"""The bytes of a word of shared memory, by which alone what is in it may be apart."""


def anywhere(kernel: Kernel) -> Kernel:
    """A kernel with its arrays in shared memory at no known word, and with the constants in sums that are indices of
    these as far as they are no words. No address depends on a stride if all indices are 0."""
    shared = {a.name: a for a in kernel.arrays if a.space == "shared"}
    if not shared:
        return kernel
    used: dict[str, set[Expr]] = {}
    for s in statements(kernel.body):
        if isinstance(s, Write):
            used.setdefault(s.array, set()).add(s.index)
        for e in (t for own in evaluated(s) for t in subterms(own)):
            if isinstance(e, Read):
                used.setdefault(e.array, set()).add(e.index)
    first = {name for name in shared if used.get(name, set()) <= {Const(0)}}
    arrays = tuple(_at_no_place(a, a.name in first) if a.name in shared else a for a in kernel.arrays)
    return replace(kernel, arrays=arrays, body=_statement(kernel.body, shared))


def _at_no_place(array: Array, first: bool) -> Array:
    """An array without the word it begins in, and without its stride if only the first element is used."""
    return replace(array, stride=array.width if first else array.stride, offset=array.offset % WORD, length=None)


def _statement(s: Stmt, shared: dict[str, Array]) -> Stmt:
    of = partial(_expr, shared=shared)
    match s:
        case Seq(stmts):
            return replace(s, stmts=tuple(_statement(t, shared) for t in stmts))
        case If(c, then, orelse):
            return replace(s, cond=of(c), then=_statement(then, shared), orelse=_statement(orelse, shared))
        case While(c, body):
            return replace(s, cond=of(c), body=_statement(body, shared))
        case Assign(_, e):
            return replace(s, value=of(e))
        case Write(array, index, e):
            return replace(s, index=_index(array, of(index), shared), value=of(e))
        case Assume(e):
            return replace(s, cond=of(e))
    return s


def _expr(e: Expr, shared: dict[str, Array]) -> Expr:
    match e:
        case Op(_, args):
            return replace(e, args=tuple(_expr(a, shared) for a in args))
        case Read(array, index):
            return replace(e, index=_index(array, _expr(index, shared), shared))
    return e


def _index(array: str, index: Expr, shared: dict[str, Array]) -> Expr:
    """An index with what remains of constants once whole words are taken away."""
    return _rest(index, WORD // gcd(WORD, shared[array].stride)) if array in shared else index


def _rest(e: Expr, size: int) -> Expr:
    match e:
        case Op("+", (a, b)):
            return replace(e, args=(_rest(a, size), _rest(b, size)))
        case Const(int() as n):
            return replace(e, value=n % size)
    return e
