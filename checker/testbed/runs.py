"""Runs of the semantics inside a small world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from logic.syntax import Assign, Stmt, While, Write
from semantics.events import Thread, Threads
from semantics.lockstep import Broken, Machine, Store, ordered, step

STEPS: Final = 300
"""Rules of the semantics that a run may use."""
LONG: Final = 40
"""Steps after which it is worth asking whether a run goes round in circles."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run, until it ended, came back to where it was, left the world or was cut short.

    cost        what it paid by then
    endless     it evaluates a loop's guard with the same store, threads and rest of the program as once before
    """

    store: Store
    cost: Fraction
    ended: bool
    endless: bool
    divergent: bool


def run(s: Stmt, store: Store, threads: Iterable[Thread], machine: Machine, values: range) -> Run:
    """sigma; s ||_T sigma'; C by the rules of `semantics.lockstep`, while written values stay among `values`."""
    sigma = store.copy()
    todo = [(s, ordered(threads, machine.block))]
    cost = machine.nothing
    ended = endless = divergent = False
    seen: set[object] = set()
    for count in range(STEPS):
        if not todo:
            ended = True
            break
        if count >= LONG and isinstance(todo[-1][0], While):
            here = _configuration(todo, sigma)
            if here in seen:
                endless = True
                break
            seen.add(here)
        now, t = todo.pop()
        try:
            own, rest = step(now, sigma, t, machine)
        except Broken:  # such a run is not spoken of any further
            break
        cost = cost + own
        match now:
            case Assign(x) if not all(sigma.locals[x][u] in values for u in t):
                break
            case Write(a) if not all(v in values for v in sigma.arrays[a].values()):
                break
        divergent = divergent or any(len(active) < len(t) for _, active in rest)
        todo.extend(reversed(rest))
    return Run(sigma, cost.parts[0], ended, endless, divergent)


def _configuration(todo: Sequence[tuple[Stmt, Threads]], sigma: Store) -> object:
    """The configuration, which decides how a run goes on."""
    rest = tuple((id(s), t) for s, t in todo)
    return rest, repr(sigma)
