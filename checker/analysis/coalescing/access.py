"""The accesses of a kernel, and what the verdicts on them mean (Alur et al., GPUDrano, CAV 2017, section 3.2).

An access in one execution by one warp touches some 128-byte lines of global memory. It is compared with *the same lanes
in consecutive places*: lane l at byte width * l of an array that starts a line. That takes `fewest` lines: 1 for 32
floats, 2 for 32 doubles, fewer where few lanes are active.

    coalesced      it needs no more lines than that
    misaligned     it needs more, but all lanes moved by one distance would not: only alignment adds lines
    uncoalesced    it needs more wherever it is moved to: the range of the addresses is too large

So much is the threshold `fewest`. The paper's own, `paper`, is one line: what needs more than one, however it is moved,
is uncoalesced, and 32 doubles do.

A shared access is `conflict-free` where no bank has more words to give than for the same lanes in consecutive places
(one, or two for 8-byte elements), else `conflicting`. Over several executions the worst verdict counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal

from logic.metrics import Hardware, conflicts, conflicts_by_lane, phase_count, sectors, touched
from logic.source import Loc
from logic.syntax import Array, Assign, Assume, Expr, If, Kernel, Read, Seq, Skip, Stmt, Sync, While, Write, subterms

Kind = Literal["load", "store"]

Verdict = Literal["coalesced", "misaligned", "uncoalesced", "conflict-free", "conflicting", "unknown"]

Threshold = Literal["fewest", "paper"]
"""The number of lines that an access may need: those of the same lanes in consecutive places, or one."""

LINE: Final = 128
"""Bytes of a line, what one transaction fetches (CAV 2017, section 3.2: eta)."""

FEW: Final = 64
"""Rows of banks that a shared array may fill to be looked at element by element."""

SEVERITY: Final[tuple[Verdict, ...]] = (
    "coalesced",
    "conflict-free",
    "misaligned",
    "unknown",
    "uncoalesced",
    "conflicting",
)
"""From good to bad: the verdict over several executions is the last one here."""

NOWHERE: Final = Loc("", 0, 0)

Key = tuple[Loc, Kind, str]
"""The key of an access: place, kind and array. One place can hold a load and a store (`A[i] += 1`), and a function that
is called twice may touch two arrays from one place. Copies that the front end makes of a statement are one access."""


@dataclass(frozen=True, slots=True)
class Access:
    """An access in the source; `indices` are those of its copies in the program, one unless the front end made more."""

    loc: Loc
    kind: Kind
    array: Array
    indices: tuple[Expr, ...] = field(compare=False)

    @property
    def key(self) -> Key:
        """The key of the access, in runs too."""
        return self.loc, self.kind, self.array.name


def accesses(kernel: Kernel) -> tuple[Access, ...]:
    """The accesses of a kernel to global and shared arrays, by their places."""
    arrays = {a.name: a for a in kernel.arrays}
    found: dict[Key, dict[Expr, None]] = {}
    for term, loc in _terms(kernel):
        found.setdefault(_key(term, loc), {})[term.index] = None
    ordered = sorted(found.items(), key=lambda item: (item[0][0], item[0][1], item[0][2]))
    return tuple(Access(loc, kind, arrays[name], tuple(indices)) for (loc, kind, name), indices in ordered)


def keys(kernel: Kernel) -> dict[int, Key]:
    """The key of every Read and Write of a kernel by the term's id(): events of a run carry these very terms."""
    return {id(term): _key(term, loc) for term, loc in _terms(kernel)}


def _key(term: Read | Write, loc: Loc) -> Key:
    return loc, "load" if isinstance(term, Read) else "store", term.array


def _terms(kernel: Kernel) -> Iterator[tuple[Read | Write, Loc]]:
    """The reads and writes with their places; one without a place has that of what it is part of."""
    todo: list[tuple[Stmt, Loc]] = [(kernel.body, kernel.loc or NOWHERE)]
    while todo:
        s, around = todo.pop()
        here = s.loc or around
        match s:
            case Seq(stmts):
                todo.extend((t, around) for t in reversed(stmts))
            case If(cond, then, orelse):
                yield from _reads(cond, here)
                todo.extend(((orelse, here), (then, here)))
            case While(cond, body):
                yield from _reads(cond, here)
                todo.append((body, here))
            case Assign(_, value):
                yield from _reads(value, here)
            case Write(_, index, value):
                yield from _reads(index, here)
                yield from _reads(value, here)
                yield s, here
            case Skip() | Sync() | Assume():
                pass


def _reads(e: Expr, around: Loc) -> Iterator[tuple[Read, Loc]]:
    for t in subterms(e):
        if isinstance(t, Read):
            yield t, t.loc or around


# --- one execution by one warp ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Seen:
    """One execution by one warp: lines, or words of the busiest bank; the fewest for the same lanes; the verdict."""

    transactions: int
    fewest: int
    verdict: Verdict


def with_lines(hardware: Hardware) -> Hardware:
    """The hardware model with the sectors of MemReads as large as a line. Raises ValueError where arrays need not start
    a line."""
    return replace(hardware, name=f"{hardware.name}_in_lines", sector=LINE)


@lru_cache(maxsize=4096)
def fewest(array: Array, lanes: frozenset[int], hardware: Hardware) -> int:
    """Lines, or words of the busiest bank, of these lanes in consecutive places. The hardware counts in lines."""
    places = {lane: array.width * lane for lane in lanes}
    if array.space == "global":
        return sectors(list(places.values()), array.width, hardware)
    return conflicts_by_lane(places, array.width, hardware)


@lru_cache(maxsize=4096)
def capacity(array: Array, hardware: Hardware) -> int | None:
    """The most words that one bank holds of a shared array, more than which no access takes turns for: a run ends at an
    index beyond its length. In phases each may take as many. None where that is not known."""
    if array.length is None:
        return None
    size = array.stride * max(0, array.length - 1) + array.offset + array.width
    if size > FEW * hardware.banks * hardware.word:
        n = -(-size // (hardware.banks * hardware.word))
    else:
        places = [array.stride * i + array.offset for i in range(max(1, array.length))]
        n = conflicts(places, array.width, hardware)
    return 1 + phase_count(array.width, hardware) * (n - 1)


def allowed(array: Array, least: int, threshold: Threshold) -> int:
    """The lines, or turns of a bank, of a good access whose lanes need so many in consecutive places."""
    return 1 if threshold == "paper" and array.space == "global" else least


def judged(array: Array, addresses: Mapping[int, int], hardware: Hardware, threshold: Threshold = "fewest") -> Seen:
    """The verdict on one execution: the first byte that each active lane touches, by the lane's number in its warp.

    Addresses count from the array's base; the hardware counts in lines (`with_lines`).
    """
    least = fewest(array, frozenset(addresses), hardware)
    first_bytes = sorted(set(addresses.values()))
    if array.space == "shared":
        n = conflicts_by_lane(addresses, array.width, hardware)
        return Seen(n, least, "conflict-free" if n <= least else "conflicting")
    n, most = sectors(first_bytes, array.width, hardware), allowed(array, least, threshold)
    if n <= most:
        return Seen(n, least, "coalesced")
    return Seen(n, least, "misaligned" if best_placed(first_bytes, array.width, hardware) <= most else "uncoalesced")


def best_placed(first_bytes: Collection[int], width: int, hardware: Hardware) -> int:
    """The fewest lines that the accesses can touch when all of them are moved by one distance."""
    size = hardware.sector
    return min(len(touched([a + d for a in first_bytes], width, size)) for d in {-a % size for a in first_bytes})


def worst(verdicts: Collection[Verdict]) -> Verdict:
    """The verdict over several executions, of which there is at least one."""
    return max(verdicts, key=SEVERITY.index)
