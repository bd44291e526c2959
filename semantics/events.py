"""Events, which observers see of a run: one for every resource constant that is paid.

The costs of a run are the sums over its events, so a profile, the costs of a line or a report on coalescing needs no
second interpreter, only an observer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from logic.syntax import Expr, Stmt
from semantics.values import Value

Dim = tuple[int, int, int]


class Thread(NamedTuple):
    """A thread: its block's index in the grid and its own index in the block (threadIdx)."""

    block: Dim
    tid: Dim


Threads = tuple[Thread, ...]
"""A set T of active threads, in ascending order of their linear ids."""


@dataclass(frozen=True, slots=True)
class Event:
    """M.constant, or M.constant(count), is paid for a term while the threads are active.

    `indices` are what the threads, in that order, access in the array of a Read or a Write, `values` what they write
    with a Write; empty for other terms.
    """

    constant: str
    count: int | None
    term: Expr | Stmt
    threads: Threads
    indices: tuple[int, ...] = ()
    values: tuple[Value, ...] = ()


Observer = Callable[[Event], None]
