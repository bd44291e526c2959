"""The go-between of a search and the oracles: a time that all questions of a search share.

While there is time, all oracles are asked. Then solvers are left out, and at last accesses cost what a warp can touch
at most: the search goes on with coarser answers and comes to an end. However late it is, all facts are looked for that
are seen without solvers: with less there would be no bound. Where none is found so, a plain search begins: it asks no
solver from the start, and takes no word of one that is known. What is not answered for lack of time is `Unknown`, and
nobody remembers that. The kernel and the second checker are never asked to hurry.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

from checker.oracles import SOLVER_FREE, Oracles, Pace
from checker.oracles.counts import What, one_access
from logic.assertions import Context, Obligation, P, Proved, Unknown, Verdict, X
from logic.syntax import Expr

SOLVED: Final = 0.4
"""The share of the time in which solvers are asked."""

ASKED: Final = 0.5
"""The share of the time in which anything is asked that is not known already."""

Clock = Callable[[], float]

Access = tuple[What, str, Expr]
"""What is counted, of which array, at which index."""


@dataclass(slots=True)
class Asker:
    """The oracles within so many seconds of a clock from a start; None is no limit. `plain` asks no solver at all, and
    a `blunt` one of no access either.

    `hurried` says whether a question was answered by less than all oracles. While a bound is `missing`, solvers are
    asked as long as anybody is. Accesses that are `capped` cost what a warp can touch at most, without a question; of
    others solvers are asked only where a bound may be `backed` by their word: no certificate shows it. The first flow
    took the seconds `flowed`, before the start.

    A solver's proof counts for nothing where nothing is `shown` to the second checker: a bound that rests on it is not
    certified. `unshown` says whether there was one.
    """

    oracle: Oracles
    start: float = 0.0
    seconds: float | None = None
    clock: Clock = time.process_time
    plain: bool = False
    blunt: bool = False
    backed: bool = False
    hurried: bool = False
    missing: bool = False
    capped: frozenset[Access] = frozenset()
    flowed: float = 0.0
    shown: Callable[[Obligation, Context], bool] | None = None
    unshown: bool = False
    _counting: bool = False

    def spent(self) -> float:
        """The share of the time that is over."""
        return 0.0 if self.seconds is None else (self.clock() - self.start) / self.seconds

    @property
    def late(self) -> bool:
        """Whether nothing is to be begun that is not needed for a bound: it takes as long as the first flow, which is
        over, did."""
        return self.plain or self.spent() + 2 * self.flowed / (self.seconds or inf) >= SOLVED

    @property
    def over(self) -> bool:
        """Whether nothing is to be begun any more, not even what may find the first bound."""
        return self.spent() >= ASKED

    def _pace(self, needed: bool = False) -> Pace:
        """Who answers; what is `needed` for a bound of any kind is looked at without solvers, however late it is."""
        spent = self.spent()
        pace: Pace = "known"
        if spent < (ASKED if self.missing else SOLVED) and not self.plain:
            pace = "all"
        elif needed or spent < ASKED:
            pace = "plain" if self.plain else "quick"
        self.hurried = self.hurried or pace != "all"
        return pace

    def begin(self) -> None:
        """Accesses are counted from here on, without solvers however late it gets, or they are not: potentials are
        solved for with these counts, and a derivation with higher ones would not be paid for by them."""
        self._counting = self._pace() != "known"

    def __call__(self, obligation: Obligation, context: Context) -> Verdict:
        with self.oracle.at(self._pace(needed=True)):
            said = self.oracle(obligation, context)
        solved = isinstance(said, Proved) and said.engine not in SOLVER_FREE
        if not solved or self.shown is None or self.shown(obligation, context):
            return said
        self.unshown = True
        return Unknown(said.engine, "no certificate shows it")

    def least(self, what: What, p: P, x: X, array: str, index: Expr, context: Context) -> int:
        """As the oracles' own; once there is no time, what a warp can touch at most."""
        pace = self._pace()
        if pace == "known" and self._counting:
            pace = "plain" if self.plain else "quick"
        if self.blunt or (self.plain and pace == "known") or (what, array, index) in self.capped:
            return context.hardware.warp * one_access(what, context.sigma.arrays[array], context.hardware)
        with self.oracle.at(pace if self.backed or pace != "all" else "quick"):
            return self.oracle.least(what, p, x, array, index, context)
