"""Why an access needs what it needs, in a sentence, and what would mend it where that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from typing import Final

from checker.analysis.coalescing.access import LINE, capacity, fewest
from checker.analysis.coalescing.exact import Finding
from checker.analysis.coalescing.lanes import Met
from checker.analysis.coalescing.vectors import at
from checker.oracles.forms import Form, Number, const_of, content, minus, terms_of
from checker.oracles.lanes import View
from logic.metrics import Hardware, conflicts
from logic.syntax import Array, Param


@dataclass(frozen=True, slots=True)
class Advice:
    """`reason` says why, `mend` what to do, empty where that is not known or not needed."""

    reason: str
    mend: str = ""


def advise(finding: Finding, view: View, hardware: Hardware, rows: Mapping[str, int] | None = None) -> Advice:
    """The reason for a verdict. `view` is that of the analysis, `rows` has the bytes of a row of the shared arrays with
    several dimensions. What is said to mend bank conflicts was tried on the lanes of this access."""
    m, good = finding.met, finding.verdict in ("coalesced", "conflict-free")
    if m is None:
        return Advice("no warp gets here")
    if m.active.single:
        one = "one thread at most is active"
        return Advice(one if good else f"{one}, and the element lies across two lines")
    words = _Words(view, m)
    gap = words.gap()
    if gap == 0:
        return Advice("all threads access one element")
    if finding.verdict == "misaligned":
        return words.alignment()
    if good:
        return Advice(words.together(gap))
    row = (rows or {}).get(m.array.name.partition(".")[0])
    found = _Banks(view, m, hardware, row).conflicts(gap) if m.array.space == "shared" else words.range(gap)
    if finding.verdict == "unknown":
        return Advice(f"{found.reason}; not proved to be good, and no example shows that it is bad", found.mend)
    return found


def named(v: Number, view: View) -> str | None:
    """A value in terms of parameters: `2*N + 1`; None where other unknowns are in it."""
    names: dict[int, tuple[str, int]] = {}
    for name in view.sigma.params:
        match view.value(Param(name), view.nowhere):
            case Form((((number,), factor),), 0):
                names[number] = name, factor
    text = ""
    for monomial, c in terms_of(v):
        factors = []
        for number in monomial:
            match view.atoms.keys[number]:
                case ("tid", str() as axis):
                    names[number] = f"threadIdx.{axis}", 1
            if number not in names:
                return None
            name, factor = names[number]
            factors.append(name if c % factor == 0 else f"{name}/{factor}")
            c = c // factor if c % factor == 0 else c
        product = "*".join(([str(abs(c))] if abs(c) != 1 else []) + factors)
        text += (" - " if text else "-") + product if c < 0 else (" + " if text else "") + product
    constant = const_of(v)
    if constant or not text:
        text = f"{text} {'-' if constant < 0 else '+'} {abs(constant)}" if text else str(constant)
    return text


@dataclass
class _Words:
    view: View
    m: Met

    @property
    def values(self) -> list[Number]:
        return [at(self.m.index, i) for i in self.m.active.lanes]

    @property
    def array(self) -> Array:
        return self.m.array

    def gap(self) -> Number | None:
        """The distance from an active lane to the next, in elements, where it is the same for all."""
        numbers = [self.m.cohort.numbers[i] for i in self.m.active.lanes]
        gaps = {minus(b, a) for a, b in pairwise(self.values)}
        steps = {b - a for a, b in pairwise(numbers)}
        return gaps.pop() if len(gaps) == 1 and len(steps) == 1 else None

    def who(self) -> str:
        """The lanes that the gap is between."""
        numbers = [self.m.cohort.numbers[i] for i in self.m.active.lanes[:2]]
        return "consecutive threads" if numbers[1] - numbers[0] == 1 else "neighbouring active threads"

    def together(self, gap: Number | None) -> str:
        if gap in (1, -1):
            return f"{self.who()} access consecutive elements"
        if isinstance(gap, int):
            return f"{self.who()} are {_elements(abs(gap))} apart"
        return "the threads' elements lie close together" if self.array.space == "global" else "no two share a bank"

    def alignment(self) -> Advice:
        """Elements that lie together, but not where a line starts."""
        size, stride = LINE, self.array.stride
        first = min(self.values, key=const_of)
        constant = (const_of(first) * stride + self.array.offset) % size
        moving = [Form(((monomial, c),), 0) for monomial, c in terms_of(first) if c * stride % size]
        lie = "the elements lie together"
        whole = size // gcd(size, stride)
        if not moving:
            reason = f"{lie}, but they start {constant} bytes after the start of a line"
            return Advice(reason, f"start at a multiple of {whole} elements: pad what comes before")
        names = [name for v in moving if (name := named(v, self.view))]
        where = " + ".join([*names, *(["what loops or branches add"] if len(names) < len(moving) else [])])
        when = f"where {where} is a multiple of {whole}" if len(moving) == 1 and not constant else ""
        rows = any(len(monomial) > 1 for v in moving for monomial, _ in v.terms)
        mend = f"pad rows to a multiple of {whole} elements" if rows else f"start at a multiple of {whole} elements"
        return Advice(f"{lie}, but they start a line only {when or f'for some values of {where} modulo {whole}'}", mend)

    def range(self, gap: Number | None) -> Advice:
        """Elements of global memory that lie too far apart."""
        array = self.array
        if array.stride > array.width and gap in (1, -1):
            structure = f"each takes {array.width} bytes of a structure of {array.stride}"
            return Advice(
                f"{self.who()} access consecutive structures, and {structure}", "a structure of arrays instead"
            )
        if isinstance(gap, int) and abs(gap) > 1:
            reason = f"{self.who()} are {_elements(abs(gap))} apart"
            return Advice(reason, "let consecutive threads take consecutive elements, or go through shared memory")
        if gap in (1, -1):
            return Advice(f"{self.who()} access consecutive elements of {array.stride} bytes")
        if gap is not None:
            distance = named(gap, self.view)
            reason = f"{self.who()} are {distance or 'a varying number of'} elements apart"
            return Advice(
                reason, "let threadIdx.x run along a row: swap the indices, or deal a thread's chunk out to all"
            )
        if source := self.read():
            reason = f"the index comes from {source}, so that threads may access any elements"
            return Advice(reason, "bring the elements into the threads' order, or go through shared memory")
        if (rows := self.rows()) > 1:
            reason = f"the threads of a warp are in {rows} rows of the block, whose elements lie apart"
            return Advice(reason, "make blockDim.x a multiple of the warp size")
        return Advice("the index does not grow evenly with the thread")

    def read(self) -> str | None:
        """The read that decides how lanes differ, if one does."""
        keys = self.view.atoms.keys
        todo = [a for v in self.values for monomial, _ in terms_of(minus(v, self.values[0])) for a in monomial]
        seen: set[int] = set()
        while todo:
            number = todo.pop()
            if number in seen:
                continue
            seen.add(number)
            match keys[number]:
                case ("read", _, str() as array, *_):
                    return f"{array}[..]"
                case ("data", *_):
                    return "memory"
                case (_, *parts):
                    todo.extend(a for p in parts if isinstance(p, Form) for monomial, _ in p.terms for a in monomial)
        return None

    def rows(self) -> int:
        """The number of rows of the block that the active lanes are in."""
        cohort = self.m.cohort
        return len({(at(cohort.tid["y"], i), at(cohort.tid["z"], i)) for i in self.m.active.lanes})


CONSECUTIVE: Final = "let consecutive threads take consecutive elements"


@dataclass
class _Banks(_Words):
    """Words that share a bank; `row` is the bytes of a row of the array, None for one without rows."""

    hardware: Hardware
    row: int | None

    def conflicts(self, gap: Number | None) -> Advice:
        """Why lanes meet in a bank, and what would keep them apart."""
        word, array = self.hardware.word, self.array
        if isinstance(gap, int):
            size = abs(gap) * array.stride
            apart = f"{size // word} words" if size % word == 0 else f"{size} bytes"
            n = min(self.turns(array.stride), capacity(array, self.hardware) or self.hardware.warp)
            reason = f"{self.who()} are {apart} apart, so that {n} of them share a bank"
            return Advice(reason, self.apart() or CONSECUTIVE)
        if gap is not None:
            distance = named(gap, self.view)
            reason = f"{self.who()} are {distance or 'a varying number of'} elements apart"
            return Advice(reason, self.odd(gap, distance))
        if source := self.read():
            return Advice(f"the index comes from {source}, so that threads may meet in a bank")
        if (rows := self.rows()) > 1:
            mend = self.apart() if self.row_meets() else "make blockDim.x a multiple of the warp size"
            return Advice(f"the threads of a warp are in {rows} rows of the block, which share banks", mend)
        return Advice("the index does not grow evenly with the thread")

    def turns(self, stride: int, every: int = 0, more: int = 0) -> int:
        """The words of the busiest bank for these lanes, with elements `stride` bytes apart and `more` left free after
        `every`; what all lanes add to their indices is left out."""
        places = [const_of(v) for v in self.values]
        moved = [i + i // every * more for i in places] if every else places
        return conflicts([stride * i + self.array.offset for i in moved], self.array.width, self.hardware)

    @property
    def least(self) -> int:
        """The words of the busiest bank for the same lanes in consecutive places."""
        return fewest(self.array, frozenset(self.m.cohort.numbers[i] for i in self.m.active.lanes), self.hardware)

    def apart(self) -> str:
        """Advice on how to keep lanes apart whose distances are known, tried on them; "" where nothing is found."""
        array, least = self.array, self.least
        if len({terms_of(v) for v in self.values}) > 1:
            return ""
        if array.stride > array.width and self.turns(array.width) <= least:
            return "a structure of arrays instead"
        if self.row is not None and self.row % array.stride == 0:
            wide = self.row // array.stride
            for more in range(1, self.hardware.banks):
                if self.turns(array.stride, wide, more) <= least:
                    return f"pad the rows of {array.name} by {_free(more)}"
            return ""
        around, name = self.hardware.banks * self.hardware.word, array.name
        wide = around // array.stride if self.row is None and around % array.stride == 0 else 0
        for more in dict.fromkeys((1, self.hardware.word // array.stride)) if wide else ():
            if more and self.turns(array.stride, wide, more) <= least:
                index = f"{name}[i + i / {wide}{f' * {more}' if more > 1 else ''}]"
                return f"leave {_free(more)} free after every {wide}: {index} for {name}[i]"
        return ""

    def odd(self, gap: Number, distance: str | None) -> str:
        """Advice on how to keep lanes apart whose distance, in elements, is not known."""
        array = self.array
        least, numbers = self.least, [self.m.cohort.numbers[i] for i in self.m.active.lanes]
        steps = [n - numbers[0] for n in numbers]
        can = isinstance(gap, Form) and gcd(content(gap), gap.const) % 2  # else it is even whatever is unknown

        def turns(stride: int) -> int:
            return conflicts([stride * i + array.offset for i in steps], array.width, self.hardware)

        wide = self.row // array.stride if self.row is not None and self.row % array.stride == 0 else 0
        if (
            isinstance(gap, Form)
            and wide
            and content(gap) % wide == 0
            and const_of(gap) % wide == 0
            and turns((wide + 1) * array.stride) <= least
        ):
            return f"pad the rows of {array.name} by one element"
        if can and array.stride % self.hardware.word == 0 and turns(array.stride) <= least:
            if distance and distance.startswith("-"):
                distance = named(minus(0, gap), self.view)
            return f"let {distance or 'their distance'} be odd"
        return "a structure of arrays instead" if array.stride > array.width else CONSECUTIVE

    def row_meets(self) -> bool:
        """Whether the lanes of one row of the block are evenly apart, and share banks among themselves."""
        tid, lanes = self.m.cohort.tid, self.m.active.lanes
        row = [i for i in lanes if all(at(tid[a], i) == at(tid[a], lanes[0]) for a in ("y", "z"))]
        gaps = {minus(at(self.m.index, b), at(self.m.index, a)) for a, b in pairwise(row)}
        gap = gaps.pop() if len(gaps) == 1 else None
        words = abs(gap) * self.array.stride // self.hardware.word if isinstance(gap, int) else 1
        return words > 0 and self.hardware.banks // gcd(words, self.hardware.banks) < len(row)


def _free(n: int) -> str:
    return "one element" if n == 1 else f"{n} elements"


def _elements(n: int) -> str:
    return "1 element" if n == 1 else f"{n} elements"
