"""Barriers that all threads of a block provably reach together, by a taint analysis of the program text.

A local is *shared* when every thread of the block holds the same value in it: it was last assigned from constants,
parameters, shared locals and what stable arrays hold at such indices, where all threads of the block went the same way.
A `sync` is safe when every branch and loop around it tests an expression over those only. `sync` reached by some
threads of a block is undefined in CUDA (section 5, p. 15, takes all threads to arrive), so a bound on a kernel with an
unsafe `sync` rests on an assumption.
"""

from __future__ import annotations

from itertools import repeat
from typing import Final

from logic.syntax import Assign, Expr, If, Read, Seq, Stmt, Sync, Tid, Var, While, statements, subterms, written

Shared = frozenset[str]

MAX_NESTING: Final = 8
"""Loops nested deeper than this are not analysed: their barriers count as unproved, what they write as not shared."""

MAX_WORK: Final = 100_000
"""Statements that are looked at, one in a loop as often as that takes: past these a part of a block may go any way."""


def unproved_barriers(body: Stmt, stable: frozenset[str]) -> list[int]:
    """The numbers, from 0 in program order, of the barriers in a body that a part of a block may reach alone. What
    stable arrays hold is the same for all threads: nothing writes to them while the kernel runs."""
    unsafe: set[int] = set()
    left = repeat(True, MAX_WORK)

    def walk(s: Stmt, shared: Shared, together: bool, first: int, depth: int) -> Shared:
        """The variables that all threads of the block agree on after s; `unsafe` gets the numbers of barriers in s that
        are not proved.

        together: whether all threads of the block are here;  first: the number of the first barrier in s.
        A loop's body is walked until what is shared at its head no longer shrinks.
        """
        together = next(left, False) and together
        match s:
            case Seq(stmts):
                for t in stmts:
                    shared = walk(t, shared, together, first, depth)
                    first += _barriers(t)
            case Assign(x, e):
                return shared | {x} if together and _agreed(e, shared, stable) else shared - {x}
            case Sync():
                if not together:
                    unsafe.add(first)
            case If(cond, then, orelse):
                agreed = together and _agreed(cond, shared, stable)
                after = walk(then, shared, agreed, first, depth)
                after &= walk(orelse, shared, agreed, first + _barriers(then), depth)
                return after if agreed else after - written(then) - written(orelse)
            case While(cond, body):
                while together and depth < MAX_NESTING and _agreed(cond, shared, stable):
                    after = shared & walk(body, shared, True, first, depth + 1)
                    if after == shared:
                        return shared
                    shared, together = after, next(left, False)
                unsafe.update(range(first, first + _barriers(body)))
                return shared - written(body)
        return shared

    if _barriers(body):
        walk(body, frozenset(), True, 0, 0)
    return sorted(unsafe)


def _barriers(s: Stmt) -> int:
    return sum(isinstance(t, Sync) for t in statements(s))


def _agreed(e: Expr, shared: Shared, stable: frozenset[str]) -> bool:
    """Whether all threads of the block agree on e."""
    return not any(
        isinstance(t, Tid)
        or (isinstance(t, Read) and t.array not in stable)
        or (isinstance(t, Var) and t.name not in shared)
        for t in subterms(e)
    )
