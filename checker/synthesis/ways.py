"""Ways to search for bounds: by which ghosts, at which places, and the flow of each way, which all metrics share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from checker import limits
from checker.synthesis.asker import Asker
from checker.synthesis.flow import analyse
from checker.synthesis.ghosts import cycles, with_flags, with_ghosts, with_names
from checker.synthesis.nodes import Flow
from checker.synthesis.outline import Outline
from checker.synthesis.rules.transformer import Book
from checker.synthesis.turning import may_turn, turning
from checker.synthesis.zones import with_zones
from logic.assertions import P
from logic.source import Loc

Zones = Literal["ghosts", "sides"]
"""How a search looks at when branches part lanes: with ghosts that tell when loops do, or only where sides access
arrays."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to search, by the ghosts that it uses: those that count turns at places where loops are in the way, those
    of counters that begin where another one is that has a ghost, and those that keep what variables were before. Of
    loops at the places `apart` the first turn is taken apart. A solid one counts what is inside the rows of triangles,
    a sharp one looks at what branches tell, too, and one by zones at when they part lanes."""

    stuck: frozenset[Loc | None] = frozenset()
    again: bool = False
    named: bool = False
    apart: frozenset[Loc | None] = frozenset()
    solid: bool = False
    sharp: bool = False
    zones: Zones | None = None


class Ways:
    """The flows of an outline, one for each way to search and each of the cases that are known from the beginning, and
    which way is tried after which. Raises Stuck."""

    def __init__(self, outline: Outline, oracle: Asker, cases: Sequence[P], anywhere: bool, book: Book) -> None:
        """`anywhere`: bounds are for any warp, and no sums."""
        self._outline, self._oracle, self._book, self._anywhere = outline, oracle, book, anywhere
        self._cases, self._kept, self._flagged = cases, with_names(outline), with_flags(outline)
        self.plain, self.ghosted, self.flow = cache(self._plain), cache(self._ghosted), cache(self._flow)

    def _analysed(self, outline: Outline, p: P, apart: frozenset[Loc | None], sharp: bool) -> Flow:
        return analyse(outline, self._oracle, p, self._book, apart, sharp)

    @property
    def own(self) -> Flow:
        """The flow of the outline as it is."""
        return self.plain(self._cases[0], frozenset(), False)

    @property
    def flagged(self) -> bool:
        """Whether there are ghosts for flags that end loops."""
        return self._flagged is not self._outline

    def _plain(self, p: P, apart: frozenset[Loc | None], sharp: bool) -> Flow:
        return self._analysed(self._outline, p, apart, sharp)

    def _ghosted(self, way: Way) -> tuple[Outline, tuple[str, ...]]:
        """The outline with the ghosts of a way, and their names."""
        outline, oracle, first = self._outline, self._oracle, self._cases[0]
        if way.solid:
            return self.ghosted(replace(way, solid=False))
        if way.zones:
            before, ghosts = self.ghosted(whole := replace(way, zones=None))
            found = with_zones(before, self.flow(whole, first), way.zones == "ghosts")
            return found, (*(x for x in found.context.sigma.locals if x not in before.context.sigma.locals), *ghosts)
        if way.sharp and self.flagged:
            known = self._analysed(self._flagged, first, way.apart, sharp=True)
            return with_ghosts(self._flagged, known, oracle, way.stuck, more=True)
        if not way.again:
            known = self.plain(first, way.apart, way.sharp)
            if way.named:
                known = self._analysed(self._kept, first, way.apart, way.sharp)
            wider = self._kept if way.named else outline
            return with_ghosts(wider, known, oracle, way.stuck, way.named, not self._anywhere)
        once = replace(way, again=False)
        found, ghosts = self.ghosted(once)
        own = not ghosts or outline.context.sigma.locals.keys() & {*ghosts}
        return (found, ghosts) if own else with_ghosts(found, self.flow(once, first), oracle, more=True)

    def _flow(self, way: Way, p: P) -> Flow:
        """The flow of a way, where p holds at the beginning."""
        if way.solid:
            return self.flow(replace(way, solid=False), p)
        wider, ghosts = self.ghosted(way)
        if not ghosts and not way.zones:
            return self.plain(p, way.apart, way.sharp)
        return self._analysed(wider, p, way.apart, way.sharp)

    def other(self, way: Way, at: Loc, tried: bool) -> Way | None:
        """Another way where a loop is in the way of this one."""
        first = self._cases[0]
        loops = [*cycles(self.own)]
        inside = {inner.loc for cycle in loops if cycle.loc == at for inner in cycles(cycle.body)}
        more = [replace(way, stuck=way.stuck | places) for places in ({at}, {at, *inside})]
        more += [replace(w, named=True) for w in more if self._kept is not self._outline]
        ways = more if tried or len(loops) > limits.LOOPS else [replace(way, again=True), *more]
        if found := next((w for w in ways if self.ghosted(w)[1] != self.ghosted(way)[1]), None):
            return found
        parted = replace(way, apart=way.apart | {at})
        return parted if self.flow(parted, first) != self.flow(way, first) else None

    def tells_more(self, sharp: Way, refused: bool = False) -> bool:
        """Whether flags or branches, if they are not too many, tell more in a sharp way; of those that add much to the
        heads of loops only where the potentials that are found without are refused."""
        if not self.flagged and not may_turn(self._outline.body):
            return False
        found = turning(self.flow(sharp, self._cases[0]), self.ghosted(sharp)[0].context)
        few = len(found.forks) <= limits.TURNS
        added = [p for bases in found.heads.values() for p in bases]  # of some copies of one loop the same
        few = few and (refused or (len({*added}) <= limits.SHARPER and len(added) <= 2 * limits.SHARPER))
        return few and (len(found.forks) > 0 or self.flagged)
