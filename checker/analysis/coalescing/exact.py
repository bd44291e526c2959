"""The exact verdict on every access: how many lines, or words of one bank, a warp can need.

`lanes` says what each lane may access; the counts are those of the logic's side conditions (`checker.oracles.counts`),
upper bounds for every run. An access is called coalesced, misaligned or conflict-free only where that follows from
what is known, and uncoalesced or conflicting only where some values of the unknowns make it so (`trial`). Otherwise it
is unknown: no proof and no example.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from checker.analysis.coalescing.access import (
    Access,
    Key,
    Threshold,
    Verdict,
    accesses,
    capacity,
    fewest,
    judged,
    with_lines,
    worst,
)
from checker.analysis.coalescing.lanes import Met, followed
from checker.analysis.coalescing.trial import trials
from checker.analysis.coalescing.vectors import at, common, implied, origins, substituted
from checker.oracles.counts import What, one_access
from checker.oracles.counts import worst as most
from checker.oracles.forms import Atoms, Form, Interval, Mono, Number, const_of, minus, plus, scaled, terms_of
from checker.oracles.lanes import View
from logic.assertions import Context
from logic.metrics import by_phase, touched
from logic.syntax import Array, Kernel


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about an access: each time that a warp executes it, it needs at most `transactions` lines (words of one
    bank), where its `lanes` lanes would need `fewest` in consecutive places.

    `met` is the way to it that decided the verdict; None where no warp gets there. `inside`: it would need more, were
    an index outside of the array.
    """

    access: Access
    verdict: Verdict
    transactions: int
    fewest: int
    lanes: int
    met: Met | None
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """The findings of a kernel, by place; `view` knows what their unknowns are."""

    findings: tuple[Finding, ...]
    view: View


@dataclass(frozen=True, slots=True)
class Followed:
    """A kernel in a launch with all ways to its accesses, by which they are judged for any threshold."""

    kernel: Kernel
    context: Context
    view: View
    choices: dict[int, tuple[Number, ...]]
    ways: dict[Key, list[Met]]
    counts: dict[tuple[Array, _Shape], int] = field(default_factory=dict)
    """What was counted so far."""

    def judged(self, threshold: Threshold) -> Analysis:
        """A finding for every access."""
        judge = _Judge(self.context, self.view, self.choices, threshold, self.counts)
        return Analysis(tuple(judge.finding(a, self.ways.get(a.key, [])) for a in accesses(self.kernel)), self.view)


def follow(kernel: Kernel, context: Context) -> Followed:
    """The ways to every access of the kernel in a launch. The sectors of its hardware are not looked at.

    Raises TypeProblem for an ill-typed kernel and ValueError for hardware whose arrays need not start a line.
    """
    context = replace(context, hardware=with_lines(context.hardware))
    view = View((), frozenset(), context, context.sigma)
    met, choices = followed(kernel, context, view)
    ways: dict[Key, list[Met]] = {}
    for m in met:
        if m.active.lanes:
            ways.setdefault(m.key, []).append(m)
    return Followed(kernel, context, view, choices, ways)


def analyse(kernel: Kernel, context: Context, threshold: Threshold = "fewest") -> Analysis:
    """A finding for every access of the kernel in a launch: `follow` and `judged` at once."""
    return follow(kernel, context).judged(threshold)


_Part = tuple[str, int, tuple[Number, ...], Number]
"""A value as the result of an operator (its name, a constant, its operands) and what is added to it."""


_Shape = tuple[tuple[tuple[tuple[tuple[int, int], ...], int], ...], tuple[Interval, ...]]


def _shape(values: Iterable[Number], atoms: Atoms) -> _Shape:
    """Values up to the names of their unknowns, and the bounds of these: all that counts depend on."""
    names: dict[Mono, int] = {}
    rows = tuple((tuple((names.setdefault(m, len(names)), c) for m, c in terms_of(v)), const_of(v)) for v in values)
    return rows, tuple(atoms.bounds(Form(((m, 1),), 0)) for m in names)


def _what(array: Array) -> What:
    return "Conflicts" if array.space == "shared" else "MemReads"


def _good(array: Array) -> Verdict:
    return "conflict-free" if array.space == "shared" else "coalesced"


@dataclass(frozen=True, slots=True)
class _Opinion:
    """On one way to an access."""

    verdict: Verdict
    transactions: int
    fewest: int


@dataclass
class _Judge:
    context: Context
    view: View
    choices: dict[int, tuple[Number, ...]]
    threshold: Threshold = "fewest"
    counts: dict[tuple[Array, _Shape], int] = field(default_factory=dict)

    def finding(self, access: Access, met: Sequence[Met]) -> Finding:
        """The worst of all ways in which warps come to an access."""
        if not met:
            return Finding(access, _good(access.array), 0, 0, 0, None)
        opinions = [(self.opinion(m), m) for m in met]
        verdict = worst([o.verdict for o, _ in opinions])
        which, m = max((p for p in opinions if p[0].verdict == verdict), key=lambda p: p[0].transactions - p[0].fewest)
        lanes = 1 if m.active.single else len(m.active.lanes)
        inside = any(self.capped(way) for _, way in opinions)
        return Finding(access, verdict, max(o.transactions for o, _ in opinions), which.fewest, lanes, m, inside)

    def opinion(self, m: Met) -> _Opinion:
        numbers, lanes, hardware = m.cohort.numbers, m.active.lanes, self.context.hardware
        if m.active.single:
            least = fewest(m.array, frozenset(numbers[:1]), hardware)
            n = one_access(_what(m.array), m.array, hardware)
            return _Opinion(_good(m.array) if n <= least else "misaligned", n, least)
        least = fewest(m.array, frozenset(numbers[i] for i in lanes), hardware)
        n, verdict = self.proved(m, least)
        if verdict != _good(m.array) and (values := self.settled(m)):
            other = replace(m, index=tuple(substituted(at(m.index, i), values) for i in range(len(numbers))))
            n_settled, settled = self.proved(other, least)
            n, verdict = min(n, n_settled), settled or verdict
        return _Opinion(verdict or self.example(m) or "unknown", n, least)

    def proved(self, m: Met, least: int) -> tuple[int, Verdict | None]:
        """The most transactions, and the verdict that follows for all runs, if there is one."""
        what, lanes, good = _what(m.array), m.active.lanes, _good(m.array)
        if m.array.space == "shared":
            n = self.turns(m)
            n = min(n, capacity(m.array, self.context.hardware) or n)
            return n, good if self.conflict_free(m, n, least) else None
        if self.close(m):
            n = 1 if self.in_a_line(m) else min(2, self.count(what, m, lanes))
            return n, good if self.coalesced(m, n) else "misaligned"
        n = min(self.count(what, m, lanes), sum(self.count(what, m, group) for group in self.groups(m)))
        if self.coalesced(m, n):
            return n, good
        return n, "misaligned" if self.misaligned(m) else None

    def turns(self, m: Met) -> int:
        """The most words of a bank that the lanes can need, if the array had all of them."""
        n = self.count("Conflicts", m, m.active.lanes)
        return min(n, self.by_rows(m)) if n > 1 else n

    def capped(self, m: Met) -> bool:
        """Whether a shared array has fewer words in a bank than its lanes could want, were they outside of it."""
        if m.array.space != "shared" or m.active.single:
            return False
        most = capacity(m.array, self.context.hardware)
        return most is not None and most < self.turns(m)

    def settled(self, m: Met) -> dict[int, Number]:
        """Unknowns that the conditions on the way to an access settle: n where `n == m + 1` holds for all lanes."""
        atoms = self.view.atoms
        conditions = [(common(c, m.active.lanes), wanted) for c, wanted in m.active.path]
        true = [n for c, wanted in conditions if c is not None for n, holds in implied(c, atoms, wanted) if holds]
        values: dict[int, Number] = {}
        for equation in true:
            match atoms.keys[equation]:
                case ("==0", Form() as a):
                    solved = self._solved(substituted(a, values))
                    values = {number: substituted(v, solved) for number, v in values.items()} | solved
        return values

    def _solved(self, a: Number) -> dict[int, Number]:
        """An unknown, and its value where a == 0; none where that is not simple."""
        for monomial, c in terms_of(a):
            rest = minus(a, Form(((monomial, c),), 0))
            if len(monomial) == 1 and abs(c) == 1 and len(terms_of(rest)) <= 1:
                return {monomial[0]: scaled(rest, -c)}
        return {}

    def count(self, what: What, m: Met, lanes: tuple[int, ...]) -> int:
        """The most lines, or words of a bank, that these lanes can need."""
        hardware = self.context.hardware
        numbered = ((m.cohort.numbers[i], i) for i in lanes)
        phases = [[*lanes]] if what == "MemReads" else by_phase(numbered, m.array.width, hardware)
        total = 1
        for part in phases:
            values = dict.fromkeys(v for i in part for v in self.options(at(m.index, i)))
            key = m.array, _shape(values, self.view.atoms)
            if key not in self.counts:
                self.counts[key] = most(what, values, m.array, hardware, self.view.atoms).n
            total += min(self.counts[key], len(part) * one_access(what, m.array, hardware)) - 1
        return total

    def options(self, v: Number) -> tuple[Number, ...]:
        """The values that a value may be, where branches choose between a few."""
        for monomial, c in terms_of(v):
            if len(monomial) == 1 and monomial[0] in self.choices:
                rest = minus(v, Form(((monomial, c),), 0))
                return tuple(plus(rest, scaled(choice, c)) for choice in self.choices[monomial[0]])
        return (v,)

    # --- global memory ------------------------------------------------------------------------------------------------

    def groups(self, m: Met) -> list[tuple[int, ...]]:
        """The lanes that would start in one line in consecutive places."""
        size = self.context.hardware.sector
        groups: dict[int, list[int]] = {}
        for i in m.active.lanes:
            groups.setdefault(m.cohort.numbers[i] * m.array.width // size, []).append(i)
        return [tuple(group) for group in groups.values()]

    def coalesced(self, m: Met, n: int) -> bool:
        """Whether lanes that would start in one line lie in one: then no set of lanes needs more lines than it may."""
        fewest = self.threshold == "fewest"
        return n <= 1 or (fewest and all(self.count("MemReads", m, group) <= 1 for group in self.groups(m)))

    def misaligned(self, m: Met) -> bool:
        """Whether one distance to move all lanes by would make the access coalesced, whatever the unknowns are."""
        size, stride, width = self.context.hardware.sector, m.array.stride, m.array.width
        lanes = m.active.lanes
        if len({terms_of(at(m.index, i)) for i in lanes}) > 1 or len(self.options(at(m.index, lanes[0]))) > 1:
            return False
        first = {i: stride * const_of(at(m.index, i)) for i in lanes}
        groups = self.groups(m) if self.threshold == "fewest" else [lanes]
        return any(
            all(len(touched([first[i] + d for i in group], width, size)) == 1 for group in groups)
            for d in {-a % size for a in first.values()}
        )

    def close(self, m: Met) -> bool:
        """Whether the lanes lie so close together that one line, well placed, would hold them all."""
        stride, width = m.array.stride, m.array.width
        spread = self.spread([at(m.index, i) for i in m.active.lanes])
        return spread is not None and stride * spread + width <= self.context.hardware.sector

    def in_a_line(self, m: Met) -> bool:
        """Whether the bounds of the indices leave one line only."""
        array, size = m.array, self.context.hardware.sector
        bounds = [self.view.atoms.bounds(at(m.index, i)) for i in m.active.lanes]
        lows, highs = [low for low, _ in bounds if low is not None], [high for _, high in bounds if high is not None]
        if len(lows) < len(bounds) or len(highs) < len(bounds):
            return False
        first, last = (array.stride * i + array.offset for i in (min(lows), max(highs)))
        return first // size == (last + array.width - 1) // size

    def spread(self, values: Sequence[Number]) -> int | None:
        """The most that two of these values may differ by; None where that is not known."""
        found = [s for s in (self.spread_by_bounds(values), self.spread_by_parts(values)) if s is not None]
        return min(found, default=None)

    def spread_by_bounds(self, values: Sequence[Number]) -> int | None:
        """The values within their bounds, without the terms that they share."""
        shared = set(terms_of(values[0])).intersection(*(terms_of(v) for v in values))
        common = Form(tuple(sorted(shared)), 0) if shared else 0
        bounds = [self.view.atoms.bounds(minus(v, common)) for v in values]
        lows, highs = [low for low, _ in bounds if low is not None], [high for _, high in bounds if high is not None]
        return max(highs) - min(lows) if len(lows) == len(highs) == len(bounds) else None

    def spread_by_parts(self, values: Sequence[Number]) -> int | None:
        """Taking the smaller or larger of two, or an integer part, does not make values lie further apart."""
        parts = self.alike([self._part(v) for v in values])
        if len({(kind, k) for kind, k, _, _ in parts}) > 1 or len({terms_of(rest) for *_, rest in parts}) > 1:
            return None
        consts = [const_of(rest) for *_, rest in parts]
        apart = max(consts) - min(consts)
        kind, k, _, _ = parts[0]
        insides = [self.spread(column) for column in zip(*(inside for _, _, inside, _ in parts), strict=True)]
        if None in insides:
            return None
        known = [i for i in insides if i is not None]
        match kind:
            case "floor":
                return apart + -(-known[0] // k)
            case "min" | "max":
                return apart + max(known)
        return apart

    def alike(self, parts: list[_Part]) -> list[_Part]:
        """The parts, with `a` written as max(a, k) where a >= k is known and others are max(.., k); likewise min."""
        kinds = {kind for kind, *_ in parts} - {""}
        if len(kinds) != 1 or not kinds <= {"min", "max"}:
            return parts
        (kind,) = kinds
        limits = set.intersection(*(set(inside) for k, _, inside, _ in parts if k))
        for k in limits:
            found: list[_Part] = []
            for own, _, inside, rest in parts:
                if own:
                    found.append((kind, 0, (inside[1] if inside[0] == k else inside[0], k), rest))
                elif self.beyond(rest, k, kind):
                    found.append((kind, 0, (rest, k), 0))
            if len(found) == len(parts):
                return found
        return parts

    def beyond(self, v: Number, k: Number, kind: str) -> bool:
        """Whether v is max(v, k), or min(v, k), for all that its bounds say."""
        low, high = self.view.atoms.bounds(minus(v, k))
        return (low is not None and low >= 0) if kind == "max" else (high is not None and high <= 0)

    def _part(self, v: Number) -> _Part:
        """v as an operator's result (with its constant, and its operands) and the rest."""
        for monomial, c in terms_of(v):
            if len(monomial) == 1 and c == 1:
                rest = minus(v, Form(((monomial, c),), 0))
                match self.view.atoms.keys[monomial[0]]:
                    case ("min" | "max" as kind, Form() | int() as a, Form() | int() as b):
                        return kind, 0, (a, b), rest
                    case ("floor", Form() | int() as a, int() as k):
                        return "floor", k, (a,), rest
        return "", 0, (), v

    # --- shared memory ------------------------------------------------------------------------------------------------

    def conflict_free(self, m: Met, n: int, least: int) -> bool:
        """Whether lanes meet in a bank only where they would in consecutive places."""
        around = self.context.hardware.banks * self.context.hardware.word
        if n <= 1 or n > least or around % m.array.width:
            return n <= 1
        numbers, lanes, each = m.cohort.numbers, m.active.lanes, around // m.array.width
        return all(
            self.count("Conflicts", m, (i, j)) <= 1
            for k, i in enumerate(lanes)
            for j in lanes[k + 1 :]
            if (numbers[i] - numbers[j]) % each
        )

    def by_rows(self, m: Met) -> int:
        """The most words of a bank where the lanes, or those of each row of the block, lie in as many words as there
        are banks."""
        if self.in_banks(m, m.active.lanes):
            return 1
        rows: dict[tuple[Number, Number], list[int]] = {}
        for i in m.active.lanes:
            rows.setdefault((at(m.cohort.tid["y"], i), at(m.cohort.tid["z"], i)), []).append(i)
        return sum(1 if self.in_banks(m, row) else self.count("Conflicts", m, tuple(row)) for row in rows.values())

    def in_banks(self, m: Met, lanes: Sequence[int]) -> bool:
        """Whether the words that lanes access are so close together that no two share a bank."""
        word, array = self.context.hardware.word, m.array
        spread = self.spread([at(m.index, i) for i in lanes])
        if spread is None:
            return False
        size = array.stride * spread + array.width  # in bytes, which may begin in the middle of a word
        begin = 0 if array.stride % word == 0 and array.offset % word == 0 else word - 1
        return -(-(begin + size) // word) <= self.context.hardware.banks

    # --- examples -----------------------------------------------------------------------------------------------------

    def example(self, m: Met) -> Verdict | None:
        """The bad verdict, if some values of the unknowns give it.

        Values that lanes have because they left a loop at different turns are no evidence: they are not free.
        """
        if "any" in origins((at(m.index, i) for i in m.active.lanes), self.view.atoms):
            return None
        bad: Verdict = "conflicting" if m.array.space == "shared" else "uncoalesced"
        tried = False
        for addresses in trials(self.view, m, self.context.launch.assumptions):
            tried = True
            if judged(m.array, addresses, self.context.hardware, self.threshold).verdict == bad:
                return bad
        if not tried and len({terms_of(at(m.index, i)) for i in m.active.lanes}) == 1:
            # no run gets here as far as was tried; if one does with all lanes, their distances are known
            first = {m.cohort.numbers[i]: m.array.stride * const_of(at(m.index, i)) for i in m.active.lanes}
            return bad if judged(m.array, first, self.context.hardware, self.threshold).verdict == bad else None
        return None
