"""Which memory instructions an access of the source became: by the array, by the line that the compiler names, and by
what both access in a run.

    as written      one instruction, executed as often
    unrolled        several instructions
    made wide       an instruction for more bytes of a lane than the access has
    hoisted         executed less often than in the source: moved out of a loop, or its value is kept
    repeated        executed more often: lanes that meet in the source are apart, or code was copied
    merged          it has no instruction of its own: another access's instruction gets, or leaves, the same bytes
    gone            it has none, and no other one accesses these bytes
    not executed    no warp of the run executes it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from checker.analysis.coalescing.access import Key
from checker.analysis.compiled.sites import Bytes, Site
from logic.source import Loc
from semantics.ptx.program import Instruction

CLASSES: Final = ("as written", "unrolled", "made wide", "hoisted", "repeated", "merged", "gone", "not executed")


@dataclass(frozen=True, slots=True)
class Fate:
    """The fate of an access: the instructions that are its own, by address and kind, the access that it was merged
    with, and the classes above that it is in."""

    key: Key
    own: tuple[tuple[int, str], ...]
    merged_with: Key | None
    classes: tuple[str, ...]


def fates(
    source: Mapping[Key, Site], compiled: Mapping[tuple[int, str], Site], code: Sequence[Instruction]
) -> tuple[list[Fate], list[tuple[int, str]]]:
    """The fates of accesses, in the order of the source; and the instructions that are nobody's, such as those on
    a thread's own memory and on tables of the compiler's."""
    covered = {at: site.covered for at, site in compiled.items()}
    owners: dict[Key, list[tuple[int, str]]] = {key: [] for key in source}
    nobody = []
    for at, site in sorted(compiled.items()):
        owner = _owner(site, covered[at], code[at[0]].places, source)
        if owner is None:
            nobody.append(at)
        else:
            owners[owner].append(at)
    found = []
    for key, site in sorted(source.items(), key=lambda item: (item[0][0], item[0][1], item[0][2])):
        own = tuple(owners[key])
        other = None if own or not site.times else _provider(key, site, source, owners, covered)
        found.append(Fate(key, own, other, _classes(site, [compiled[at] for at in own], other)))
    return found, nobody


def _owner(site: Site, covered: Bytes, places: Sequence[Loc], source: Mapping[Key, Site]) -> Key | None:
    """The access that an instruction is of: one of the same kind on the same array, by its line and by what both
    access."""
    best: tuple[tuple[float, float, bool], Key] | None = None
    for key, s in source.items():
        if (s.kind, s.space, s.array) != (site.kind, site.space, site.array):
            continue
        shared = len(s.bytes & covered) / max(1, len(site.bytes))
        here = any(_same_line(key[0], p) for p in places)
        score = ((shared > 0) + here, min(shared, 1.0), s.times >= site.times)
        if (shared > 0 or here) and (best is None or score > best[0]):
            best = (score, key)
    return best[1] if best else None


def _same_line(a: Loc, b: Loc) -> bool:
    return a.line == b.line and PurePath(a.file).name == PurePath(b.file).name


def _provider(
    key: Key,
    site: Site,
    source: Mapping[Key, Site],
    owners: Mapping[Key, Sequence[tuple[int, str]]],
    covered: Mapping[tuple[int, str], Bytes],
) -> Key | None:
    """The access whose instructions get, or leave, what one without any of its own accesses; of several one of the same
    kind, and that with the most of it."""
    best: tuple[tuple[bool, int], Key] | None = None
    for other, s in source.items():
        if other == key or (s.space, s.array) != (site.space, site.array) or not owners[other]:
            continue
        shared = len(site.bytes & Bytes().union(*(covered[at] for at in owners[other])))
        score = (s.kind == site.kind, shared)
        if shared and (best is None or score > best[0]):
            best = (score, other)
    return best[1] if best else None


def _classes(site: Site, own: Sequence[Site], other: Key | None) -> tuple[str, ...]:
    if not own:
        return ("merged",) if other else ("gone",) if site.times else ("not executed",)
    found = []
    if len(own) > 1:
        found.append("unrolled")
    if any(s.width > site.width for s in own):
        found.append("made wide")
    times = sum(s.times for s in own)
    if times < site.times:
        found.append("hoisted")
    if times > site.times:
        found.append("repeated")
    return tuple(found) or ("as written",)
