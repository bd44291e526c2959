"""Knowledge of the integers of a kernel at a point: ranges, bounds over the launch, and sums that are not negative.

Facts about every launch: CUDA's limits on blocks and grids, and that a grid has no more than 2^31 threads along an axis
(of which the reports say that it is assumed).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from logic.operators import NEGATED
from logic.syntax import Axis, Const, Expr, Op, Param, Read, Tid, Var, local_vars, subterms
from semantics.cuda.sums import (
    Monomial,
    Sum,
    constant,
    leaves,
    parameter,
    plus,
    product,
    replaced,
    single,
    thread,
    variable,
)

INFINITE: Final = 1 << 300
"""Stands for no limit."""

GRID_THREADS: Final = 1 << 31
"""The most threads of a grid along an axis."""

BLOCK_THREADS: Final = 1024
_BLOCKS: Final = {"x": (1 << 31) - 1, "y": 65535, "z": 65535}
_BLOCK: Final = {"x": 1024, "y": 1024, "z": 64}

_SIZES: Final = tuple(parameter(f"blockDim.{axis}") for axis in "xyz")
_PAIRS: Final = tuple(
    (parameter(f"{name}.{axis}"), size, most)
    for axis, size in zip("xyz", _SIZES, strict=True)
    for name, most in (("gridDim", GRID_THREADS), ("blockIdx", GRID_THREADS - 1))
)
"""Quantities of which there are no more than threads in a grid."""

_NAMES: Final[frozenset[type]] = frozenset((Var, Param, Tid))
"""Expressions without others in them: most of what is known is of these."""

MOST_FACTS: Final = 32
_OF_LAUNCHES: Final = 6
"""The number of the first facts that are those of the launch."""

Range = tuple[int, int]
ANY: Final[Range] = (-INFINITE, INFINITE)
ORDINARY: Final[Range] = (1, 256)
"""The sizes of parameters and grids that every kernel has to be right for."""

Sizes = Sequence[int | None]


def cut(n: int) -> int:
    return n if -INFINITE <= n <= INFINITE else INFINITE if n > 0 else -INFINITE


def spanned(*points: int) -> Range:
    return cut(min(points)), cut(max(points))


def times(a: Range, b: Range) -> Range:
    (p, q), (r, s) = a, b
    return (cut(p * r), cut(q * s)) if p >= 0 and r >= 0 else spanned(p * r, p * s, q * r, q * s)


class Fact(dict[Monomial, int]):
    """A sum with the names of the variables in it, and the quotients by numbers, with these."""

    __slots__ = ("names", "quotients")

    def __init__(self, s: Sum) -> None:
        super().__init__(s)
        self.names = frozenset[str]().union(*(local_vars(e) for m in s for e in m))
        self.quotients = {e: k for m in s for e in m if isinstance(e, Op) and (k := _divisor(e))}


def _divisor(e: Op) -> int:
    """The positive number that an expression is a quotient by; 0 for all else."""
    match e:
        case Op("/", (_, Const(int(k)))) if k > 0:
            return k
        case Op(">>", (_, Const(int(k)))) if 0 <= k < 64:
            return 1 << k
    return 0


@dataclass(slots=True)
class Store:
    """The knowledge at a point. `ranges` has the limits of variables, parameters and of what operators give, `upper`
    sums over parameters that they are at most, `facts` sums that are at least 0, `whole` numbers by which quotients are
    at most such sums, too: 8 * (n / 8) <= n. `elements` has the limits of arrays whose elements are leaves of sums
    (`semantics.cuda.held`)."""

    ranges: dict[Expr, Range] = field(default_factory=dict)
    upper: dict[Expr, tuple[Sum, ...]] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    whole: dict[Expr, tuple[int, Sum]] = field(default_factory=dict)
    dead: bool = False
    elements: Mapping[str, Range] = field(default_factory=dict)

    def copy(self) -> Store:
        whole = dict(self.whole)
        return Store(dict(self.ranges), dict(self.upper), list(self.facts), whole, self.dead, self.elements)

    # --- ranges --------------------------------------------------------------------------------------------------

    def range(self, leaf: Expr) -> Range:
        if isinstance(leaf, Read) and leaf not in self.ranges:
            return self.elements.get(leaf.array, ANY)
        return self.ranges.get(leaf, ANY)

    def among(self, choice: Sequence[tuple[Expr, Expr | None]]) -> Range:
        """The limits of names and numbers together; with each of them those of what is known of it and those before
        it."""
        ends = INFINITE, -INFINITE
        for one, whole in choice:
            number = one.value if isinstance(one, Const) and isinstance(one.value, int) else None
            own = self.range(one) if number is None else (number, number)
            ends = min(ends[0], own[0]), max(ends[1], own[1])
            if whole is not None:
                known = self.range(whole)
                both = max(ends[0], known[0]), min(ends[1], known[1])
                ends = both if both[0] <= both[1] else known
        return ends

    def of(self, s: Sum) -> Range:
        """The limits of a sum."""
        low = high = 0
        for m, k in s.items():
            a, b = times(self._product(m), (k, k))
            low, high = low + a, high + b
        return cut(low), cut(high)

    def _product(self, m: tuple[Expr, ...]) -> Range:
        """The limits of a product; of the sizes of a block and of a grid, what they are together."""
        if len(m) < 2:
            return self.range(m[0]) if m else (1, 1)
        left = list(m)
        found: Range = (1, 1)
        for first, second, most in _PAIRS:
            if first in left and second in left:
                low, high = times(self.range(first), self.range(second))
                found = times(found, (low, max(low, min(high, most))))
                left.remove(first)
                left.remove(second)
        sizes = [p for p in _SIZES if p in left]
        if len(sizes) > 1:
            together: Range = (1, 1)
            for p in sizes:
                left.remove(p)
                together = times(together, self.range(p))
            found = times(found, (together[0], min(together[1], BLOCK_THREADS)))
        for e in set(left):
            low, high = self.range(e)
            one, n = (low, high), left.count(e)
            power = one
            for _ in range(n - 1):
                power = times(power, one)
            found = times(found, (max(power[0], 0), power[1]) if n % 2 == 0 else power)
        return found

    def bounded(self, s: Sum, up: bool, choice: int = 0) -> Sum | None:
        """A sum over parameters that a sum is at most (up) or at least; None where there is none. Of several bounds of
        a variable, `choice` is the number of the one to use."""
        total: Sum | None = {}
        for m, k in s.items():
            above = (k > 0) == up
            alone = len(m) == 1
            part: Sum | None = {(): k}
            for e in m:
                if part is None or total is None:
                    return None
                by, whole = self.whole.get(e, (0, {}))
                if above and by and part.keys() == {()} and part[()] % by == 0:
                    part = product({(): part[()] // by}, whole)
                    continue
                fine = alone or self.range(e)[0] >= 0
                part = product(part, self._limit(e, above, choice)) if fine or isinstance(e, Param) else None
            if part is None or total is None or (not alone and any(self.range(e)[0] < 0 for e in m) and not _plain(m)):
                return None
            total = plus(total, part)
        return total

    def _limit(self, e: Expr, above: bool, choice: int) -> Sum:
        low, high = self.range(e)
        if isinstance(e, Param) and e.name.startswith("blockIdx."):
            return {(Param(f"gridDim.{e.name[-1]}"),): 1, (): -1} if above else constant(low)
        if isinstance(e, Param):
            return single(e)
        if isinstance(e, Tid) and above:
            return {(Param(f"blockDim.{e.axis}"),): 1, (): -1}
        if above and (known := self.upper.get(e)):
            return known[min(choice, len(known) - 1)]
        return constant(high if above else low)

    def extremes(self, s: Sum, up: bool) -> Iterator[int]:
        """Numbers that a sum is at most (up), or at least."""
        side = int(up)
        yield self.of(s)[side]
        for fact in self.related(s, not up):
            rest = plus(s, fact, 1 if up else -1)
            yield self.of(rest)[side]
            for again in self.related(rest, not up) if self.elements else ():
                yield self.of(plus(rest, again, 1 if up else -1))[side]
        for over in self.bounds(s, up):
            yield self.of(over)[side]

    def bounds(self, s: Sum, up: bool) -> Iterator[Sum]:
        """Sums over parameters that a sum is at most (up), or at least."""
        for rest in (s, *(plus(s, fact, 1 if up else -1) for fact in self.related(s, not up))):
            for choice in range(2):
                if (over := self.bounded(rest, up, choice)) is not None:
                    yield over

    def related(self, s: Sum, alike: bool) -> Iterator[Sum]:
        """Facts that have something with a sum in common, with the same signs or the opposite ones."""
        for fact in self.facts:
            if any(m and m in s and (s[m] > 0) == ((k > 0) == alike) for m, k in fact.items()):
                yield fact

    # --- what becomes known --------------------------------------------------------------------------------------

    def fact(self, s: Sum) -> None:
        """s >= 0 holds."""
        if self.of(s)[1] < 0:
            self.dead = True
            return
        self.narrow(s)
        self.keep(s)

    def narrow(self, s: Sum) -> None:
        """Keeps the limits that s >= 0 says each of its terms alone has."""
        for m, k in s.items():
            if len(m) == 1 and abs(k) > 0:
                self._narrow(m[0], k, plus(s, {m: k}, -1))

    def quotients(self) -> dict[Op, int]:
        """The quotients by numbers that facts are about, within the limits that these give them."""
        found: dict[Op, int] = {}
        for fact in self.facts:
            if fact.quotients:
                self.narrow(fact)
                found |= fact.quotients
        return found

    def keep(self, s: Sum) -> None:
        """s >= 0 holds, and says no more of a variable alone than is known."""
        if any(s) and s not in self.facts:
            self.facts.append(s if isinstance(s, Fact) else Fact(s))
            if len(self.facts) > MOST_FACTS:
                del self.facts[_OF_LAUNCHES]

    def _narrow(self, e: Expr, k: int, rest: Sum) -> None:
        low, high = self.range(e)
        most = self.of(rest)[1]  # k * e + rest >= 0
        if most < INFINITE:
            if k > 0:
                low = max(low, -(most // k))
            else:
                high = min(high, most // -k)
        if low <= high:
            self.ranges[e] = (low, high)
        else:
            self.dead = True
        if k == -1 and not isinstance(e, Param | Tid) and (over := self.bounded(rest, True)) is not None:
            self._over(e, over)

    def _over(self, e: Expr, over: Sum) -> None:
        if any(not isinstance(x, Param) for x in leaves(over)):
            return
        self.upper[e] = (over, *(u for u in self.upper.get(e, ()) if u != over))[:2]

    def differs(self, e: Expr, value: int) -> None:
        """e != value holds."""
        low, high = self.range(e)
        if low == value == high:
            self.dead = True
        elif value in (low, high):
            self.ranges[e] = (low + (value == low), high - (value == high))

    def forget(self, names: Iterable[str], ranges: bool = True) -> None:
        """Variables have other values now; without `ranges` their limits stay."""
        changed = frozenset(names)

        known: tuple[dict[Expr, Any], ...] = (self.ranges, self.upper, self.whole)
        for table in known:
            for x in changed if ranges or table is not self.ranges else ():
                table.pop(variable(x), None)
            for gone in [e for e in table if e.__class__ not in _NAMES and not local_vars(e).isdisjoint(changed)]:
                del table[gone]
        if not all(f.names.isdisjoint(changed) for f in self.facts):
            self.facts = [f for f in self.facts if f.names.isdisjoint(changed)]

    def moved(self, x: Var, by: Sum) -> None:
        """x has been changed by a sum without x."""
        back = plus(single(x), by, -1)
        self.ranges = {e: r for e, r in self.ranges.items() if e == x or x.name not in local_vars(e)}
        self.upper = {e: u for e, u in self.upper.items() if x.name not in local_vars(e)}
        self.whole = {e: u for e, u in self.whole.items() if x.name not in local_vars(e)}
        found = []
        for f in self.facts:
            if x.name not in f.names:
                found.append(f)
            elif (
                all(e == x or x.name not in local_vars(e) for e in leaves(f))
                and (other := replaced(f, x, back)) is not None
            ):
                found.append(Fact(other))
        self.facts = found

    def equal(self, x: Var, without: frozenset[str]) -> Sum | None:
        """A sum that x is known to be equal to, in which the variables `without` do not occur."""
        low, high = self.range(x)
        if low == high:
            return constant(low)
        for f in self.facts:
            rest = plus(single(x), f, -1)
            if (
                f.get((x,)) == 1
                and plus({}, f, -1) in self.facts
                and not any(local_vars(e) & without for e in leaves(rest))
            ):
                return rest
        return None

    def join(self, other: Store) -> Store:
        """The store after either of two ways."""
        if self.dead:
            return other.copy()
        if other.dead:
            return self.copy()
        ranges = {
            e: (min(r[0], other.ranges[e][0]), max(r[1], other.ranges[e][1]))
            for e, r in self.ranges.items()
            if e in other.ranges
        }
        upper = {}
        for e, known in self.upper.items():
            both = tuple(u for u in known if u in other.upper.get(e, ()))
            if both:
                upper[e] = both
        whole = {e: u for e, u in self.whole.items() if other.whole.get(e) == u}
        facts = [f for f in self.facts if f in other.facts]
        return Store(ranges, upper, facts, whole, False, self.elements)


def _plain(m: tuple[Expr, ...]) -> bool:
    """Whether a product has nothing but parameters: it is a sum over parameters as it is."""
    return all(isinstance(e, Param) and not e.name.startswith("blockIdx.") for e in m)


def launched(block: Sizes = (None, None, None), grid: Sizes = (None, None, None)) -> Store:
    """The store of every launch with blocks and a grid of these sizes, as far as they are known."""
    store = Store()
    axes: tuple[Axis, ...] = ("x", "y", "z")
    for axis, b, g in zip(axes, block, grid, strict=True):
        size: Range = (b, b) if b is not None else (1, _BLOCK[axis])
        number: Range = (g, g) if g is not None else (1, min(_BLOCKS[axis], GRID_THREADS // size[0]))
        threads, index = parameter(f"blockDim.{axis}"), thread(axis)
        blocks, own = parameter(f"gridDim.{axis}"), parameter(f"blockIdx.{axis}")
        store.ranges[threads] = size
        store.ranges[blocks] = number
        store.ranges[index] = (0, size[1] - 1)
        store.ranges[own] = (0, number[1] - 1)
        for one, most in ((index, threads), (own, blocks)):
            store.facts.append(Fact({(most,): 1, (one,): -1, (): -1}))
    store.ranges[parameter("warpSize")] = (1, BLOCK_THREADS)
    return store


def negation(e: Expr) -> Expr | None:
    """A comparison of integers that holds exactly where another one does not."""
    match e:
        case Op(op, (a, b)) if op in NEGATED:
            return Op(NEGATED[op], (a, b), e.loc)
    return None


def steady(e: Expr) -> bool:
    """Whether a term may stand for its value: it is made of integers, and is the same whenever it is evaluated."""
    return not any(
        isinstance(t, Read) or (isinstance(t, Op) and (t.op == "int" or t.op.startswith(("call:", "as:"))))
        for t in subterms(e)
    )


def of_ordinary_sizes(at: Store) -> Store:
    """The same with ordinary sizes."""
    there = at.copy()
    for e, known in at.ranges.items():
        if isinstance(e, Param) and not e.name.startswith("blockDim."):
            first = 0 if e.name.startswith("blockIdx.") else ORDINARY[0]
            low, high = max(known[0], first), min(known[1], ORDINARY[1] - (first == 0))
            there.ranges[e] = (low, high) if low <= high else known
    return there
