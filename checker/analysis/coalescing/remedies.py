"""Remedies that were tried: each is made on the program as it was lowered, which is then analysed again.

A remedy lays an array out otherwise, or numbers threads otherwise: the program computes the same. What an access then
needs is bounded as before, for all runs; so "31 -> 0" is as good as what it says of the program as it is. Of remedies
that help, and make no other access dearer, the one after which the access needs least comes first, the simplest of
these. `bounded` has both checkers judge them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from checker.analysis.coalescing.access import Key, Threshold
from checker.analysis.coalescing.exact import Analysis, Finding, analyse
from checker.analysis.coalescing.layouts import Remedy, layouts
from checker.oracles import Oracles
from logic.assertions import Context, Entails, Proved
from logic.syntax import FALSE, Kernel

MOST: Final = 16
"""The most remedies that are tried for an access."""

BAD: Final = ("conflicting", "uncoalesced", "misaligned")


@dataclass(frozen=True, slots=True)
class Tried:
    """A remedy that helps, and what accesses need at most before and after it, each time: `lines` of global memory, or
    `conflicts`, the turns of a bank after the first. `accesses` are those that it makes one of, together; else the one
    that it is for. `key` is what that is after it."""

    remedy: Remedy
    what: str
    before: int
    after: int
    accesses: tuple[Key, ...]
    key: Key

    @property
    def text(self) -> str:
        """The remedy and by how much it helps."""
        many = len(self.accesses)
        return f"{self.remedy.text}: {self.what} {self.before} -> {self.after} " + (
            "an access" if many == 1 else f"for the {many} accesses"
        )


def remedies(
    found: Analysis, kernel: Kernel, context: Context, rows: Mapping[str, int], threshold: Threshold = "fewest"
) -> dict[Key, list[Tried]]:
    """For each bad access the remedies that help, of those that are tried, the best one of each kind. `rows` has the
    bytes of a row of the shared arrays with several dimensions."""
    told: dict[Key, list[Tried]] = {}
    known: dict[str, Analysis | None] = {}
    for f in found.findings:
        if f.verdict not in BAD:
            continue
        best: dict[str, Tried] = {}
        for n, remedy in enumerate(layouts(f, kernel, context, rows)):
            if n >= MOST:
                break
            old = best.get(remedy.kind)
            if old is not None and old.after == _needs(f, f.fewest):
                continue
            if remedy.text not in known:
                known[remedy.text] = _analysed(remedy, threshold)
            tried = _tried(f, found, known[remedy.text], remedy)
            if tried is not None and (old is None or tried.after < old.after):
                best[remedy.kind] = tried
        if best:
            told[f.access.key] = sorted(best.values(), key=lambda t: t.after)
    return told


def _analysed(remedy: Remedy, threshold: Threshold) -> Analysis | None:
    if isinstance(Oracles()(Entails((), (FALSE,)), remedy.context), Proved):  # there is no such launch
        return None
    try:
        return analyse(remedy.kernel, remedy.context, threshold)
    except (ValueError, RecursionError):  # too large, or hardware without lines
        return None


def _needs(f: Finding, n: int) -> int:
    """The number that stands for a count in reports: the lines, or the turns of a bank after the first."""
    return max(n - 1, 0) if f.access.array.space == "shared" else n


def _tried(f: Finding, before: Analysis, after: Analysis | None, remedy: Remedy) -> Tried | None:
    """A remedy as it turned out; None where it does not help, or makes another access dearer."""
    if after is None:
        return None
    now = {g.access.key: g for g in after.findings}
    key = remedy.merged.get(f.access.key, f.access.key)
    mine = [g for g in before.findings if remedy.merged.get(g.access.key, g.access.key) == key]
    for g in before.findings:
        other = remedy.merged.get(g.access.key, g.access.key)
        if other not in now or (g not in mine and other == g.access.key and now[other].transactions > g.transactions):
            return None
    was = sum(g.transactions for g in mine)
    if now[key].transactions >= was:
        return None
    what = "conflicts" if f.access.array.space == "shared" else "lines"
    keys = tuple(g.access.key for g in mine)
    return Tried(remedy, what, _needs(f, was), _needs(f, now[key].transactions), keys, key)
