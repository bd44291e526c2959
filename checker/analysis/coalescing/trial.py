"""Values for the unknowns of an analysis, tried to see whether an access can be as bad as its bound allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Final

from checker.analysis.coalescing.lanes import Met
from checker.analysis.coalescing.vectors import at, common
from checker.oracles.forms import MAX_SHIFT, Atoms, Form, Number, minus
from checker.oracles.lanes import View
from checker.oracles.terms import value_of
from logic.assertions import P
from logic.operators import denote
from logic.syntax import Param, subterms

TRIALS: Final = 120
"""Valuations at most; who asks mostly needs only one or two of them."""

TRIED: Final = (0, 1, 2, 3, 5, 7, 16, 17, 31, 32, 33, 64, 100, 128, 255, 256, 1000, 1024, 4097, 65536)
"""Values of an unknown, where its bounds allow them."""

FREE: Final = ("leaf", "quotient", "const", "turn", "tid", "row", "unset", "param", "data", "read", "base", "any")
"""Kinds of unknowns that are not computed from others."""

ANYTHING: Final = ("data", "read")
"""Those whose values are the contents of memory: anything may be there, at every lane."""

LARGE: Final = 0.5
"""The share of these that are large, in every second valuation; all are in the others."""

SCALES: Final = (1, 1, 2, 4, 32)
"""By what an index may multiply what it has from memory."""

LOWEST: Final = 0.3
"""The share of unknowns that are as small as they can be: the first block, the first turn of a loop."""


def trials(view: View, m: Met, assumptions: P) -> Iterator[dict[int, int]]:
    """The addresses of the active lanes, by their numbers, in runs that the unknowns allow, of two lanes at least.

    An unknown of which nothing but its bounds is known has one value at all lanes: they are not made to differ where
    nothing says that they do. The same runs each time.
    """
    random = Random(0)
    lanes = m.active.lanes
    path = [(common(c, lanes), c, wanted) for c, wanted in m.active.path]
    shared = [(one, wanted) for one, _, wanted in path if one is not None]
    own = [(c, wanted) for one, c, wanted in path if one is None]
    for turn in range(TRIALS):
        here = Valuation(view.atoms, random, LARGE if turn % 2 else 1, _room(m, random))
        try:
            for c, wanted in shared:
                here.satisfy(c, wanted)
            if not here.allowed(view, assumptions) or any(bool(here.drawn(c)) != wanted for c, wanted in shared):
                continue
            there = [i for i in lanes if all(bool(here.drawn(at(c, i))) == wanted for c, wanted in own)]
            indices = {m.cohort.numbers[i]: here.drawn(at(m.index, i)) for i in there}
            if m.array.length is not None and any(not 0 <= i < m.array.length for i in indices.values()):
                continue  # the run ends there
            addresses = {lane: m.array.stride * i + m.array.offset for lane, i in indices.items()}
        except (OverflowError, RecursionError):
            continue
        if len(addresses) > 1:
            yield addresses


def _room(m: Met, random: Random) -> int | None:
    """Up to what to choose values that an index into an array of known length is made of."""
    return max(1, m.array.length // random.choice(SCALES)) if m.array.length else None


class Valuation:
    """Values of unknowns, chosen when they are asked for; what is computed from others is computed. Where there is
    `room`, they stay in it, if they may."""

    def __init__(self, atoms: Atoms, random: Random, large: float, room: int | None = None) -> None:
        self.atoms, self.random, self.large, self.room = atoms, random, large, room
        self.values: dict[int, int] = {}
        self.alike: dict[object, int] = {}

    def drawn(self, v: Number) -> int:
        """Raises OverflowError for numbers too large to try."""
        if isinstance(v, int):
            return v
        total = v.const
        for monomial, c in v.terms:
            part = c
            for atom in monomial:
                part *= self.atom(atom)
            total += part
        return total

    def atom(self, number: int) -> int:
        """The value of an unknown."""
        found = self.values.get(number)
        if found is None:
            found = self.values[number] = self._atom(number)
        return found

    def _atom(self, number: int) -> int:
        match self.atoms.keys[number]:
            case (str() as kind, *_) if kind in FREE:
                return self._free(number, kind)
            case (">=0", Form() as a):
                return int(self.drawn(a) >= 0)
            case ("==0", Form() as a):
                return int(self.drawn(a) == 0)
            case ("floor", Form() | int() as a, int() as k):
                return self.drawn(a) // k
            case ("residue", Form() | int() as a, int() as k):
                return self.drawn(a) % k
            case ("?:", Form() | int() as c, Form() | int() as a, Form() | int() as b):
                return self.drawn(a if self.drawn(c) else b)
            case (str() as op, *args):
                values = tuple(self.drawn(a) for a in args if isinstance(a, Form | int))
                if op == "<<" and values[1] > MAX_SHIFT:
                    raise OverflowError
                return int(denote(op, values))
        return self._free(number, "any")

    def _free(self, number: int, kind: str) -> int:
        low, high = self.atoms.sizes[number]
        if kind == "any" and (low, high) in self.alike:
            return self.alike[low, high]
        options = [v for v in TRIED if (low is None or v >= low) and (high is None or v <= high)]
        if self.room is not None:
            options = [v for v in options if v <= self.room] or options
        found = self.random.choice(options or [low if low is not None else high if high is not None else 0])
        if low is not None and self.random.random() < LOWEST:
            found = low
        if kind in ANYTHING and high is None and self.random.random() < self.large:
            found = self.random.getrandbits(30) if self.room is None else self.random.randrange(self.room)
        if kind == "any":
            self.alike[low, high] = found
        return found

    def satisfy(self, c: Number, wanted: bool) -> None:
        """Chooses an unknown such that an equation comes out as wanted, where that is simple."""
        match c:
            case Form((((number,), 1),), 0) if wanted:
                equation = self.atoms.keys[number]
            case Form((((number,), -1),), 1) if not wanted:
                equation = self.atoms.keys[number]
            case _:
                return
        match equation:
            case ("==0", Form() as a):
                for monomial, k in a.terms:
                    if len(monomial) == 1 and abs(k) == 1 and monomial[0] not in self.values:
                        rest = self.drawn(minus(a, Form(((monomial, k),), 0)))
                        low, high = self.atoms.sizes[monomial[0]]
                        found = -k * rest
                        if (low is None or low <= found) and (high is None or found <= high):
                            self.values[monomial[0]] = found
                        return

    def allowed(self, view: View, assumptions: P) -> bool:
        """Whether the values chosen so far satisfy what the launch assumes."""
        for terms, (low, high) in self.atoms.rows.items():
            v = self.drawn(Form(terms, 0))
            if (low is not None and v < low) or (high is not None and v > high):
                return False
        for fact in assumptions:
            store = self.parameters(view, {t.name for t in subterms(fact) if isinstance(t, Param)})
            try:
                if not value_of(fact, store):
                    return False
            except KeyError:
                continue
        return True

    def parameters(self, view: View, names: set[str]) -> Mapping[str, int]:
        """The values of parameters."""
        known = {name: view.value_at(Param(name), view.nowhere) for name in names}
        return {name: self.drawn(v) for name, v in known.items() if v is not None}
