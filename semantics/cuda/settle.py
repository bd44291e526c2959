"""The body of a kernel with only those reductions modulo 2^bits left in it that may change a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from logic.syntax import BUILTINS, INT, Assign, Const, Expr, If, Op, Param, Read, Seq, Stmt, While, Write, show
from logic.typing import Signature
from semantics.cuda.held import Held, at_start, limits, loaded
from semantics.cuda.made import Made
from semantics.cuda.modular import Integer, Reduced
from semantics.cuda.ranges import WORK, Needs, Types, Walk, left
from semantics.cuda.stores import ANY, Range, Sizes, Store, launched, negation, of_ordinary_sizes
from semantics.cuda.sums import parameter

MOST_FACTS: Final = 12
"""Of which it is asked whether the others say the same."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A body without reductions, and the propositions that it is right under."""

    body: Stmt
    facts: tuple[Expr, ...]
    spans: tuple[tuple[str, Range], ...] = ()
    """Limits of elements of arrays that contracts speak of, in which they have to be for that."""


def settled(
    body: Stmt,
    types: Types,
    sigma: Signature,
    given: Sequence[Expr] = (),
    block: Sizes = (None, None, None),
    grid: Sizes = (None, None, None),
    assume: bool = True,
    split: bool = True,
    data: Sequence[Held] = (),
    passed: Sequence[Mapping[str, int]] = (),
) -> Settled:
    """The body of a kernel without reductions that change nothing, in launches of which `given` holds and on arrays of
    which `data` do; what has to be assumed besides, if it may be: what numbers that launches have `passed` for
    parameters do not contradict. Comparisons are `split` where it helps a proof, for
    some more operators."""
    if not (reduced := _reductions(body)):
        return Settled(body, ())
    launches = _Launches(types, sigma, given, block, grid, passed)
    tried = _Attempts(body, launches, frozenset(number for number, to in reduced.items() if not to.wraps), split, data)
    known = {a: _elements(types, data, a) for a in frozenset[str]().union(*(h.arrays for h in data))}
    best = tried(known, assume=assume)
    if assume:
        best = tried.with_sizes(tried.narrowed(tried.counted(best)))
    facts = launches.needed({*best.facts, *(n.fact for n in best.needs if n.fact is not None)})
    return Settled(best.body, facts, tuple((a, span) for a, span in best.spans.items() if span != known[a]))


@dataclass(frozen=True, slots=True)
class _Launches:
    """The launches that a body is settled for: what is given of them, and of which sizes they are."""

    types: Types
    sigma: Signature
    given: Sequence[Expr]
    block: Sizes
    grid: Sizes
    passed: Sequence[Mapping[str, int]]

    def start(
        self, facts: Sequence[Expr] = (), spans: Mapping[str, Range] | None = None, data: Sequence[Held] = ()
    ) -> Store:
        """The store at the start, where facts hold, and elements of arrays are in ranges."""
        store = launched(self.block, self.grid)
        store.elements = spans or {}
        for name, t in self.sigma.params.items():
            if t == INT and name not in BUILTINS and (own := self.types.scalars.get(name)) is not None:
                store.ranges[parameter(name)] = (own.low, own.high)
        walk = Walk(self.types, Made(self.sigma), store, frozenset(), False)
        for fact in facts:
            store = walk.assumed(fact, True, store)
        for s in at_start(data):
            store.fact(s)
        return store

    def sizes(self) -> tuple[Expr, ...]:
        """That parameters of signed types are not negative which may be, and need not."""
        start = self.start(self.given)
        names = [x for x, t in self.sigma.params.items() if t == INT and x not in BUILTINS and x in self.types.scalars]
        ranges = {x: start.range(Param(x)) for x in names}
        below = {x for own in self.passed for x, n in own.items() if n < 0}
        possible = (x for x, (low, high) in ranges.items() if low < 0 <= high and x not in below)
        return tuple(Op(">=", (Param(x), Const(0))) for x in possible)

    def needed(self, facts: Iterable[Expr]) -> tuple[Expr, ...]:
        """Those of some facts that the others and what is given do not say, if they are few; else all."""
        left = sorted(facts, key=show)
        for fact in list(left) if len(left) <= MOST_FACTS else []:
            others = [f for f in left if f != fact]
            if (other := negation(fact)) and self.start([*self.given, *others, other]).dead:
                left = others
        return tuple(left)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A body without those reductions that change nothing where elements of arrays are within `spans` and some `facts`
    of sizes hold; what it needs besides."""

    body: Stmt
    needs: Needs
    walk: Walk
    spans: Mapping[str, Range]
    facts: Sequence[Expr] = ()


class _Attempts:
    """Ways to settle a body, each with other assumptions. The better of two needs less."""

    def __init__(
        self, body: Stmt, launches: _Launches, signed: frozenset[int], split: bool, data: Sequence[Held]
    ) -> None:
        self._body, self._launches, self._split, self._data = body, launches, split, tuple(data)
        self._made, self._loaded, self._fitting = Made(launches.sigma), loaded(body), signed
        if signed:
            usual = Walk(launches.types, self._made, of_ordinary_sizes(launches.start()), None, False)
            _, _, doubts = usual.run(body, usual.start.copy())
            self._fitting -= {d.unfit for d in doubts}

    def __call__(self, spans: Mapping[str, Range], facts: Sequence[Expr] = (), assume: bool = True) -> _Attempt:
        """Arrays whose elements prove to be out of range are not trusted."""
        start = self._launches.start([*self._launches.given, *facts], spans, self._data)
        start.dead = False
        types, made, split = self._launches.types, self._made, self._split
        passed = [Store({parameter(x): (n, n) for x, n in own.items()}) for own in self._launches.passed]
        loose: set[str] = set()
        while True:
            walk = Walk(
                types, made, start, self._fitting, assume, split, set(loose), self._data, {}, self._loaded, passed
            )
            found, _, needs = walk.run(self._body, start.copy())
            if not (walk.loose - loose) & walk.trusted:
                return _Attempt(found, needs, walk, spans, facts)
            loose = set(walk.loose)

    def counted(self, best: _Attempt) -> _Attempt:
        """The best attempt where elements of arrays count something, of as few arrays as that helps for."""
        known, types = best.spans, self._launches.types
        if not (left(best.needs) and known):
            return best
        other = self({a: _counted(types, a, span) for a, span in known.items()})
        if left(other.needs) >= left(best.needs):
            return best
        for array, span in known.items():
            less = self({**other.spans, array: span})
            other = less if left(less.needs) <= left(other.needs) else other
        return other

    def narrowed(self, best: _Attempt) -> _Attempt:
        """The attempt where elements are within the limits of the signed types that they are read as."""
        told = best.walk.narrows
        spans = {a: (max(s[0], told[a][0]), min(s[1], told[a][1])) for a, s in best.spans.items() if a in told}
        return self({**best.spans, **spans}) if told else best

    def with_sizes(self, best: _Attempt) -> _Attempt:
        """The best attempt where parameters are not negative, of as few parameters as that helps for."""
        if not left(best.needs) or not (sizes := self._launches.sizes()):
            return best
        other = self(best.spans, sizes)
        if left(other.needs) >= left(best.needs):
            return best
        for fact in sizes if other.walk.work <= WORK // 4 else ():
            less = self(best.spans, [f for f in other.facts if f != fact])
            other = less if left(less.needs) <= left(other.needs) else other
        return other


def _elements(types: Types, data: Sequence[Held], array: str) -> Range:
    """The limits of the elements of an array, by their types and by contracts."""
    kinds = types.arrays.get(array, frozenset())
    low, high = limits(data, array)
    own = (min(t.low for t in kinds), max(t.high for t in kinds)) if kinds else ANY
    return max(low, own[0]), min(high, own[1])


def _counted(types: Types, array: str, span: Range) -> Range:
    """The limits of elements that count something: not negative, and no more than a signed type of the size has. Those
    of a table are not assumed to be what they are declared not to be."""
    bits = min((t.bits for t in types.arrays.get(array, ())), default=32)
    low, high = max(span[0], 0), min(span[1], (1 << bits - 1) - 1)
    return (low, high) if low <= high and types.may_be(array, low, high) else span


def shortened(s: Stmt) -> bool:
    """Whether something is reduced to a signed type that an int is not."""
    return any(to.signed and to.wraps for to in _reductions(s).values())


def _reductions(s: Stmt) -> dict[int, Integer]:
    """The types that all reductions are to, by their numbers."""
    found: dict[int, Integer] = {}
    stack: list[Stmt | Expr] = [s]
    while stack:
        here = stack.pop()
        match here:
            case Seq(stmts):
                stack.extend(stmts)
            case If(c, a, b):
                stack.extend((c, a, b))
            case While(c, body):
                stack.extend((c, body))
            case Assign(_, e):
                stack.append(e)
            case Write(_, i, e):
                stack.extend((i, e))
            case Reduced():
                found[id(here)] = here.to
                stack.append(here.inner)
            case Op(_, args):
                stack.extend(args)
            case Read(_, i):
                stack.append(i)
    return found
