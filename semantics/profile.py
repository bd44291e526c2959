"""The cost of each line of a source: an observer of a run, under either semantics.

A cost belongs to the line of its term; terms without a place have that of the statement they are part of, and
statements without one that of the statement around them. Nothing is lost: the lines add up to the totals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from logic.metrics import Metric
from logic.source import Loc
from logic.syntax import Assign, Assume, If, Kernel, Seq, Skip, Stmt, Sync, While, Write
from semantics.events import Event

Line = tuple[str, int]
"""A file and a line, from 1; ("", 0) where no place is known."""

_ONCE: Final = ("vwrite", "gwrite", "swrite", "if", "sync")
"""The constants that a statement pays once each time that a warp executes it."""


@dataclass(frozen=True, slots=True)
class LineCost:
    """The executions of a line by warps, those of its most executed statement; its cost by the metric's name."""

    file: str
    line: int
    executions: int
    costs: dict[str, Fraction]


class Lines:
    """An observer that adds up what the lines of a kernel cost."""

    def __init__(self, kernel: Kernel) -> None:
        self._homes = _homes(kernel)
        self._kernel = kernel  # keeps the statements alive, so that their ids stay their own
        self._paid: Counter[tuple[Line, str, int | None]] = Counter()
        self._executions: Counter[int] = Counter()  # by the statement's id
        self._touched: dict[int, set[Line]] = defaultdict(set)  # the lines of a statement's terms
        self._statements: dict[int, Stmt] = {}
        self._operands: Counter[tuple[Loc | None, str, int | None]] = Counter()  # of the statement under way

    def __call__(self, event: Event) -> None:
        """Notes an event. The terms of a statement come before the statement itself."""
        term = event.term
        if not isinstance(term, Stmt):
            self._operands[term.loc, event.constant, event.count] += 1
            return
        home = self._homes[id(term)]
        self._statements[id(term)] = term
        self._touched[id(term)].add(home)
        self._paid[home, event.constant, event.count] += 1
        self._executions[id(term)] += event.constant in _ONCE
        for (loc, constant, count), times in self._operands.items():
            line = _line(loc) if loc else home
            self._touched[id(term)].add(line)
            self._paid[line, constant, count] += times
        self._operands.clear()

    def table(self, metrics: Iterable[Metric]) -> list[LineCost]:
        """The lines that were executed, in order."""
        costs: dict[Line, dict[str, Fraction]] = defaultdict(dict)
        for metric in metrics:
            for (line, constant, count), times in self._paid.items():
                price = metric.cost(constant) if count is None else metric.count(constant, count)
                costs[line][metric.name] = costs[line].get(metric.name, Fraction(0)) + times * price
        copies: dict[Line, Counter[object]] = defaultdict(Counter)
        for number, times in self._executions.items():
            for line in self._touched[number]:
                copies[line][_identity(self._statements[number])] += times
        return [LineCost(*line, max(copies[line].values()), costs[line]) for line in sorted(copies)]


def _line(loc: Loc) -> Line:
    return loc.file, loc.line


def _homes(kernel: Kernel) -> dict[int, Line]:
    """The line of every statement by its id."""
    homes: dict[int, Line] = {}
    todo: list[tuple[Stmt, Line]] = [(kernel.body, _line(kernel.loc) if kernel.loc else ("", 0))]
    while todo:
        s, around = todo.pop()
        home = homes[id(s)] = _line(s.loc) if s.loc else around
        match s:
            case Seq(stmts):
                todo.extend((t, around) for t in stmts)
            case If(_, then, orelse):
                todo.extend(((then, home), (orelse, home)))
            case While(_, body):
                todo.append((body, home))
    return homes


def _identity(s: Stmt) -> object:
    """The key that copies of one statement share: the front end copies the body of `do`."""
    match s:
        case Assign() | Write():
            return s.loc, s
        case If(cond) | While(cond) | Assume(cond):
            return s.loc, type(s), cond
        case Sync() | Skip() | Seq():
            return s.loc, type(s)
