"""Why an access needs what it needs, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from checker.analysis.coalescing.access import LINE, capacity
from checker.analysis.coalescing.bounded import Judged
from checker.analysis.coalescing.exact import Finding
from checker.analysis.coalescing.lanes import Met
from checker.analysis.coalescing.vectors import at
from checker.oracles.forms import Form, Number, const_of, minus, terms_of
from checker.oracles.lanes import View
from logic.metrics import Hardware, by_phase, conflicts
from logic.syntax import Array, Param


@dataclass(frozen=True, slots=True)
class Advice:
    """`reason` says why, `mend` what to do, each certified; `unproved` is what else seemed to help in a try."""

    reason: str
    mend: tuple[Judged, ...] = ()
    unproved: tuple[Judged, ...] = ()


def advise(finding: Finding, view: View, hardware: Hardware, tried: Sequence[Judged] = ()) -> Advice:
    """The reason for a verdict, and which of the remedies that were tried are proved. `view` is the analysis's."""
    sure, others = (tuple(j for j in tried if j.certified is is_sure) for is_sure in (True, False))
    return Advice(_reason(finding, view, hardware), sure, others)


def _reason(finding: Finding, view: View, hardware: Hardware) -> str:
    m, good = finding.met, finding.verdict in ("coalesced", "conflict-free")
    if m is None:
        return "no warp gets here"
    if m.active.single:
        one = "one thread at most is active"
        return one if good else f"{one}, and the element lies across two lines"
    words = _Words(view, m)
    gap = words.gap()
    if gap == 0:
        return "all threads access one element"
    if finding.verdict == "misaligned":
        return words.alignment()
    if good:
        return words.together(gap)
    found = _Banks(view, m, hardware).conflicts(gap) if m.array.space == "shared" else words.range(gap)
    if finding.verdict == "unknown":
        return f"{found}; not proved to be good, and no example shows that it is bad"
    return found


def named(v: Number, view: View) -> str | None:
    """A value in terms of parameters: `2*N + 1`; None where other unknowns are in it."""
    names: dict[int, tuple[str, int]] = {}
    for name in view.sigma.params:
        match view.value_at(Param(name), view.nowhere):
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

    def alignment(self) -> str:
        """Elements that lie together, but not where a line starts."""
        size, stride = LINE, self.array.stride
        first = min(self.values, key=const_of)
        constant = (const_of(first) * stride + self.array.offset) % size
        moving = [Form(((monomial, c),), 0) for monomial, c in terms_of(first) if c * stride % size]
        lie = "the elements lie together"
        whole = size // gcd(size, stride)
        if not moving:
            return f"{lie}, but they start {constant} bytes after the start of a line"
        names = [name for v in moving if (name := named(v, self.view))]
        where = " + ".join([*names, *(["what loops or branches add"] if len(names) < len(moving) else [])])
        where = where.replace(" + -", " - ")
        when = f"where {where} is a multiple of {whole}" if len(moving) == 1 and not constant else ""
        return f"{lie}, but they start a line only {when or f'for some values of {where} modulo {whole}'}"

    def range(self, gap: Number | None) -> str:
        """Elements of global memory that lie too far apart."""
        array = self.array
        if array.stride > array.width and gap in (1, -1):
            structure = f"each takes {array.width} bytes of a structure of {array.stride}"
            return f"{self.who()} access consecutive structures, and {structure}"
        if isinstance(gap, int) and abs(gap) > 1:
            return f"{self.who()} are {_elements(abs(gap))} apart"
        if gap in (1, -1):
            return f"{self.who()} access consecutive elements of {array.stride} bytes"
        if gap is not None:
            distance = named(gap, self.view)
            return f"{self.who()} are {distance or 'a varying number of'} elements apart"
        if source := self.read():
            return f"the index comes from {source}, so that threads may access any elements"
        if (rows := self.rows()) > 1:
            return f"the threads of a warp are in {rows} rows of the block, whose elements lie apart"
        return "the index does not grow evenly with the thread"

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


@dataclass
class _Banks(_Words):
    """Words that share a bank."""

    hardware: Hardware

    def conflicts(self, gap: Number | None) -> str:
        """Why lanes meet in a bank."""
        word, array = self.hardware.word, self.array
        if isinstance(gap, int):
            size = abs(gap) * array.stride
            apart = f"{size // word} words" if size % word == 0 else f"{size} bytes"
            places = [array.stride * const_of(v) + array.offset for v in self.values]
            lanes = zip((self.m.cohort.numbers[i] for i in self.m.active.lanes), places, strict=True)
            phases = by_phase(lanes, array.width, self.hardware)
            turns = max(conflicts(phase, array.width, self.hardware) for phase in phases)
            n = min(turns, capacity(array, self.hardware) or self.hardware.warp)
            return f"{self.who()} are {apart} apart, so that {n} of them share a bank"
        if gap is not None:
            distance = named(gap, self.view)
            return f"{self.who()} are {distance or 'a varying number of'} elements apart"
        if source := self.read():
            return f"the index comes from {source}, so that threads may meet in a bank"
        if (rows := self.rows()) > 1:
            return f"the threads of a warp are in {rows} rows of the block, which share banks"
        return "the index does not grow evenly with the thread"


def _elements(n: int) -> str:
    return "1 element" if n == 1 else f"{n} elements"
