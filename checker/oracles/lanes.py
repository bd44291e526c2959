"""Exact enumeration of the lanes of a warp: what an expression is worth at each, and which lanes are active.

Where the block's shape is known, every lane of every warp has its own threadIdx. Where it is not, but every warp lies
in one row of the block, one warp stands for all: threadIdx.x = warp * w + lane with w unknown. Otherwise all that is
known of a lane is what it shares with the others, and that (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x +
threadIdx.x = warp * w + lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import product
from math import gcd, inf, prod

from checker.oracles.counts import Count, What, span_count, worst
from checker.oracles.forms import Atoms, Form, Number, const_of, minus, plus, scaled, split, terms_of
from checker.oracles.terms import facts_of, is_function, is_predicate, leaf_name, leaves_in
from logic.assertions import Context, P, X, opaque
from logic.facts import congruences
from logic.metrics import by_phase, lanes_at_once
from logic.operators import COMPARISONS
from logic.potentials import ELEMENT
from logic.syntax import BOOL, FALSE, GHOST, TRUE, WARP_INDEX, Array, Const, Expr, Op, Param, Read, Tid, Var, subterms
from logic.typing import Signature

MAX_THREADS = 4096
"""Blocks with more threads than this (CUDA allows 1024) are not enumerated."""

LOOKED_AT = (0, 1, 2, 3, 7, 8, 15, 16, 30, 31)
"""Lanes of the first and the last warp at which a fact is tried: one that is known at none of them is not looked at. A
guess, of ends, middles and powers of two, that can only let more lanes pass."""

Leaf = Var | Param | Tid


@dataclass(slots=True, eq=False)
class Lane:
    """A thread: its index in the block (None: unknown), its warp, and the values of locals found so far.

    `warp` keys what reads return: lanes of one warp read together. None: no read is the same as another lane's. `own`
    keys values that are only known to be one of this lane; None: there are none. `number` is the lane's in its warp,
    where the hardware has phases.
    """

    tid: dict[str, Number | None]
    warp: int | None
    known: dict[str, Number | None] = field(default_factory=dict)
    own: int | None = None
    number: int = 0


At = Callable[[Lane], Number | None]


def _solved(a: Expr, b: Expr) -> Iterator[tuple[Leaf, Expr]]:
    """Ways to read a == b as leaf == expression, by undoing +, - and unary minus."""
    match a:
        case Var() | Param() | Tid():
            yield a, b
        case Op("+", (u, v)):
            yield from _solved(u, Op("-", (b, v)))
            yield from _solved(v, Op("-", (b, u)))
        case Op("-", (u, v)):
            yield from _solved(u, Op("+", (b, v)))
            yield from _solved(v, Op("-", (u, b)))
        case Op("neg", (u,)):
            yield from _solved(u, Op("neg", (b,)))


def _definitions(facts: Iterable[Expr], x: X) -> dict[str, list[Expr]]:
    """Expressions that each leaf is equal to by the facts, without cycles."""
    found: dict[str, list[Expr]] = {}
    uses: dict[str, set[str]] = {}

    def rank(leaf: Leaf) -> int:
        match leaf:
            case Var(name):
                return int(name in x) + name.startswith(GHOST)  # what is known of a ghost is of what lanes share
            case Param():
                return 3
            case Tid():
                return 4

    def add(leaf: Leaf, e: Expr) -> bool:
        name = leaf_name(leaf)
        seen: set[str] = set()
        todo = [*map(leaf_name, leaves_in(e))]
        while todo:
            other = todo.pop()
            if other == name:
                return False
            if other not in seen:
                seen.add(other)
                todo.extend(uses.get(other, ()))
        for old in found.get(name, ()):
            if isinstance(old, Var):
                add(old, e)
        found.setdefault(name, []).append(e)
        uses.setdefault(name, set()).update(seen)
        return True

    for fact in facts:
        match fact:
            case Var():
                add(fact, TRUE)
            case Op("!", (Var() as flag,)):
                add(flag, FALSE)
            case Op("==", (a, b)):
                ways = sorted(
                    (*_solved(a, b), *_solved(b, a)), key=lambda way: (leaf_name(way[0]) in found, rank(way[0]))
                )
                any(add(leaf, e) for leaf, e in ways)
    return found


def _held(facts: Iterable[Expr]) -> Iterator[tuple[tuple[str, tuple[Number, ...]], int]]:
    """The elements of stable arrays, at indices that are numbers, that are numbers by the facts."""
    for fact in facts:
        match fact:
            case Op("==", (Op(op, (Const(int(i)),)), Const(int(v)))) | Op(
                "==", (Const(int(v)), Op(op, (Const(int(i)),)))
            ):
                if op.startswith(ELEMENT):
                    yield (op, (i,)), v


class View:
    """The lanes that {P; .; X} allows, in one launch. Every value it gives is one that P implies.

    With `alone`, one thread that P allows, of which everything is known alike: X does not matter then.

    Raises KeyError and TypeProblem for names that the signature lacks.
    """

    def __init__(self, p: P, x: X, context: Context, sigma: Signature, alone: bool = False) -> None:
        self.x = frozenset(sigma.locals) if alone else x
        self.alone = alone
        self.sigma = sigma
        self.hardware = context.hardware
        self.block_scope = context.scope == "block"
        self.atoms = Atoms()
        self._runs: dict[bool, list[list[Lane]]] = {}
        self._placed: dict[tuple[Number, bool], Lane] = {}
        self._passing: dict[Lane, bool] = {}
        self._instead: dict[str, Number] = {}
        facts = facts_of(p, context, sigma)
        self._defs = _definitions(facts, self.x)
        self._held = dict(_held(facts))
        self.nowhere = _nowhere(None)
        """A lane without an index: what is known here is known of all lanes alike."""
        self._learn(facts)
        self.ranges = {name: self.atoms.sizes[number] for number, name in self._leaves()}
        """Bounds of the uniform unknowns, by name."""
        self._reduce_leaves(facts)
        self.nowhere = _nowhere(None)
        self._learn(facts)
        self.dims = tuple(self.value_at(Param(f"blockDim.{axis}"), self.nowhere) for axis in "xyz")
        sizes = [d for d in self.dims if isinstance(d, int)]
        self.threads = prod(sizes) if len(sizes) == 3 else None
        """The number of threads of the block, None where unknown."""
        self.in_rows = self._in_rows()
        self._facts = tuple(f for f in p if not opaque(f, sigma) and not self._same_everywhere(f))
        self._all_known = not any(opaque(f, sigma) for f in p)

    # --- what P says of the uniform unknowns ----------------------------------------------------------------------

    def _leaves(self) -> Iterator[tuple[int, str]]:
        for number, key in enumerate(self.atoms.keys):
            match key:
                case ("leaf", str() as name):
                    yield number, name

    def _array(self, name: str) -> Array:
        return self.sigma.arrays[name.partition("#")[0]]

    def _learn(self, facts: Iterable[Expr]) -> None:
        """Bounds of atoms, from comparisons that do not depend on the lane. Twice: bounds give further bounds."""
        told = [self._alternative(f) for f in facts]
        for op, (a, b) in [(f.op, f.args) for f in told if isinstance(f, Op) and f.op in COMPARISONS] * 2:
            u, v = self.value_at(a, self.nowhere), self.value_at(b, self.nowhere)
            if u is None or v is None:
                continue
            if op in (">", ">=", "=="):
                self.atoms.at_least(plus(minus(u, v), -int(op == ">")))
            if op in ("<", "<=", "=="):
                self.atoms.at_least(plus(minus(v, u), -int(op == "<")))
            if op == "!=":
                low, high = self.atoms.bounds(minus(u, v))
                if 0 in (low, high):
                    self.atoms.at_least(plus(minus(u, v) if low == 0 else minus(v, u), -1))

    def _alternative(self, fact: Expr) -> Expr:
        """The alternative of a fact that is left where all others are false."""
        match fact:
            case Op("||", (a, b)) if self.value_at(a, self.nowhere) == 0:
                return self._alternative(b)
            case Op("||", (a, b)) if self.value_at(b, self.nowhere) == 0:
                return self._alternative(a)
        return fact

    def _reduce_leaves(self, facts: Iterable[Expr]) -> None:
        """Put k * q + r in place of each leaf that P says to be that for some q: divisibility then shows."""
        names = dict(self._leaves())
        classes: dict[str, tuple[int, int]] = {}
        for e, modulus, residue in (c for f in facts for c in congruences(f)):
            a, k, r = (self.value_at(t, self.nowhere) for t in (e, modulus, residue))
            if isinstance(a, Form) and isinstance(k, int) and isinstance(r, int) and k:
                match split(plus(a, -r), abs(k))[1]:
                    case Form(((((number,), c),)), d) if number in names:
                        _meet(classes, names[number], c, d, abs(k))
        for name, (k, r) in classes.items():
            low, high = self.ranges[name]
            low, high = None if low is None else -((r - low) // k), None if high is None else (high - r) // k
            self._instead[name] = plus(scaled(self.atoms.atom(("quotient", name), low, high), k), r)

    # --- the shape of the block -----------------------------------------------------------------------------------

    @cached_property
    def warps(self) -> list[list[Lane]]:
        """Lanes that may be active together: those of a warp at which no conjunct of P is false, in parts by the
        equations that hold in one part alone, such as i == n - 1."""
        return self._active(self._shape())

    def _active(self, shape: list[list[Lane]]) -> list[list[Lane]]:
        """The same of some warps."""
        if self.hardware.phase is not None:
            shape = [[replace(lane, known={**lane.known}, number=i) for i, lane in enumerate(warp)] for warp in shape]
        for warp in shape:
            self._tell(warp)
        seen = [warp[i] for warp in (shape[0], shape[-1]) for i in LOOKED_AT if i < len(warp)] if shape else []
        facts = [f for f in self._facts if self._restricts(f, seen)]
        active = [[lane for lane in warp if all(self.value_at(f, lane) != 0 for f in facts)] for warp in shape]
        for f in self._facts:
            if isinstance(f, Op) and f.op == "==":
                active = [part for warp in active for part in self._parts(f, warp)]
        return [warp for warp in active if warp]

    def runs(self, plane: bool) -> list[list[Lane]]:
        """Threads that have the places in a row of threads which those of a warp may have, or with `plane` the places
        threadIdx.y * blockDim.x + threadIdx.x, whatever else threadIdx is: in a block of any size a warp has the end of
        one row, or plane, and the beginning of the next, or a part of one; or, where these are short, a part of such a
        part, more than once. There are none where more is known of the rows."""
        (x, y, _), size = self.dims, self.hardware.warp
        if self.threads is not None or self.in_rows or x is None or y is None:
            return []
        if plane not in self._runs:
            end, first = self.atoms.apply("*", (x, y)) if plane else x, self.atoms.atom(("run", 1), 0)
            found = [[plus(first, i) for i in range(size)]]
            found += [[plus(end, i - n) if i < n else i - n for i in range(size)] for n in range(1, size)]
            rows = [[self._at_place(place, plane) for place in row] for row in found]
            self._runs[plane] = [row for row in map(self._allowed, rows) if row]
        return self._runs[plane]

    def _at_place(self, place: Number, plane: bool) -> Lane:
        """A thread at a place in a row, or a plane; most are in many runs, and are found once."""
        if (place, plane) not in self._placed:
            y = self.atoms.atom(("tid", "y", place), 0) if plane else None
            x = place if y is None else minus(place, self.atoms.apply("*", (self.dims[0] or 0, y)))
            self._placed[place, plane] = Lane({"x": x, "y": y, "z": None}, 0)
        return self._placed[place, plane]

    def _allowed(self, lanes: list[Lane]) -> list[Lane]:
        """The lanes at which no conjunct of P is false."""
        for lane in lanes:
            if lane not in self._passing:
                self._passing[lane] = all(self.value_at(f, lane) != 0 for f in self._facts)
        return [lane for lane in lanes if self._passing[lane]]

    def outside(self, index: Expr, length: int) -> tuple[Lane, int] | None:
        """A lane at which all of P is known to hold, and its index, if that is a number outside of an array of so many
        elements; None where there is no such lane, or that is not known. What P leaves out may keep it from there."""
        for lane in (lane for warp in self.warps for lane in warp if self._all_known):
            i = self.value_at(index, lane)
            if isinstance(i, int) and not 0 <= i < length:
                known = [self.value_at(f, lane) for f in self._facts]
                if all(isinstance(v, int) and v != 0 for v in known):
                    return lane, i
        return None

    def _parts(self, equation: Op, warp: list[Lane]) -> list[list[Lane]]:
        """Lanes by what the sides of an equation differ by, if only constants tell them apart."""
        parts: dict[int, list[Lane]] = {}
        rests = set()
        for lane in warp:
            a, b = (self.value_at(side, lane) for side in equation.args)
            if a is None or b is None:
                return [warp]
            rests.add(terms_of(minus(a, b)))
            parts.setdefault(const_of(minus(a, b)), []).append(lane)
        return list(parts.values()) if len(rests) == 1 else [warp]

    def _restricts(self, fact: Expr, seen: Iterable[Lane]) -> bool:
        """Whether a fact may be false at some lanes: it does not hold whatever threadIdx is, and it is known at some
        of those that are looked at. One that is left out is one that lets all lanes pass."""
        here = self.value_at(fact, self._anyone)
        holds = isinstance(here, int) and here != 0
        return not holds and any(isinstance(self.value_at(fact, lane), int) for lane in seen)

    @cached_property
    def _anyone(self) -> Lane:
        """A thread with any threadIdx that is in the block."""
        tops = (None if d is None else self.atoms.bounds(d)[1] for d in self.dims)
        ends = {axis: None if top is None else top - 1 for axis, top in zip("xyz", tops, strict=True)}
        return Lane({axis: self.atoms.atom(("any", axis), 0, end) for axis, end in ends.items()}, None)

    def _in_rows(self) -> bool:
        """Whether every warp has threadIdx.x = warp * w + lane, and one threadIdx.y and threadIdx.z."""
        x, y, z = self.dims
        return (x is not None and split(x, self.hardware.warp)[1] == 0) or y == z == 1

    def _shape(self) -> list[list[Lane]]:
        size = self.hardware.warp
        if self.threads is not None and self.threads <= MAX_THREADS:
            x, y, z = (range(d) for d in self.dims if isinstance(d, int))
            threads = [(i, j, k) for k, j, i in product(z, y, x)]
            pinned = None if self.block_scope else self.value_at(Param(WARP_INDEX), self.nowhere)
            return [
                [self._lane(i, j, k, first // size) for i, j, k in threads[first : first + size]]
                for first in range(0, len(threads), size)
                if not isinstance(pinned, int) or pinned == first // size
            ]
        if not self.in_rows:
            return [self._ranked()]
        return [self._row()]

    def _row(self) -> list[Lane]:
        """A warp in a row of threads, whichever it is."""
        size = self.hardware.warp
        widest = None if self.dims[0] is None else self.atoms.bounds(self.dims[0])[1]
        row_of_one = self.dims[1:] == (1, 1) and not self.block_scope
        key = ("leaf", WARP_INDEX) if row_of_one else ("w",)
        w = self.atoms.atom(key, 0, None if widest is None else (widest - 1) // size)
        row: dict[str, Number | None] = {
            axis: 0 if d == 1 else self.atoms.atom(("tid", axis), 0)
            for axis, d in zip("yz", self.dims[1:], strict=True)
        }
        return [Lane({"x": plus(scaled(w, size), i), **row}, 0) for i in range(size)]

    def _ranked(self) -> list[Lane]:
        """A warp of which no more is known than that its threads are next to each other in the block."""
        size, (x, y, z) = self.hardware.warp, self.dims
        if x is None or y is None:
            return [_nowhere(0)] * size
        first = scaled(self.atoms.atom(("w",) if self.block_scope else ("leaf", WARP_INDEX), 0), size)
        found = []
        for i in range(size):
            ty, tz = (
                0 if d == 1 else self.atoms.atom(("tid", axis, i), 0) for axis, d in zip("yz", (y, z), strict=True)
            )
            rest = self.atoms.apply("*", (x, plus(ty, self.atoms.apply("*", (y, tz)))))
            found.append(Lane({"x": minus(plus(first, i), rest), "y": ty, "z": tz}, 0))
        return found

    def _lane(self, x: int, y: int, z: int, warp: int) -> Lane:
        return Lane({"x": x, "y": y, "z": z}, warp, {} if self.block_scope else {WARP_INDEX: warp})

    def _tell(self, warp: list[Lane]) -> None:
        """Puts what P says of uniform locals at the lanes of a warp, where they agree on it, in the lanes."""
        for name, at_lanes in self._defined_alike.items():
            here = {self._defined(name, lane) for lane in (warp if at_lanes else warp[:1])}
            if len(here) == 1 and (value := here.pop()) is not None:
                for lane in warp:
                    lane.known[name] = value

    @cached_property
    def _defined_alike(self) -> dict[str, bool]:
        """The uniform locals that P defines, each after those in its definitions: at a lane, values are kept. With
        each, whether its definitions speak of what lanes have of their own."""
        found: dict[str, bool] = {}

        def visit(name: str) -> bool:
            if name not in found:
                parts = [t for e in self._defs.get(name, ()) for t in subterms(e)]
                own = [visit(t.name) or t.name not in self.x for t in parts if isinstance(t, Var)]
                found[name] = any(own) or any(isinstance(t, Tid) for t in parts)
            return found[name]

        for name in sorted(self.x & self._defs.keys()):
            visit(name)
        return {name: own for name, own in found.items() if name in self.x and name in self._defs}

    def _same_everywhere(self, fact: Expr) -> bool:
        """Whether a fact cannot be false at some lanes only: nothing in it depends on the lane, or it just names e."""
        if any(isinstance(t, Tid) and leaf_name(t) in self._defs for t in subterms(fact)):
            return False  # it may be what says where the thread is
        match fact:
            case Op("==", (Var(name), e)) | Op("==", (e, Var(name))) if name not in self.x:
                return self._defs.get(name) == [e]
        known = self.value_at(fact, self.nowhere)
        return known is not None and known != 0

    # --- values ---------------------------------------------------------------------------------------------------

    def value_at(self, e: Expr, lane: Lane) -> Number | None:
        """The value of e at a lane, booleans as 0 and 1; None where it may depend on the lane in an unknown way."""
        match e:
            case Const(value, type_):
                literal = isinstance(value, str) or type_.kind == "base"
                return self.atoms.atom(("const", type_.name, value)) if literal else int(value)
            case Tid(axis):
                known = lane.tid[axis]
                if known is None:
                    known = self._defined(f"tid.{axis}", lane)
                return self.atoms.atom(("leaf", f"tid.{axis}")) if known is None and self.alone else known
            case Var(name) | Param(name):
                if name not in lane.known:
                    lane.known[name] = self._leaf(e, lane)
                return lane.known[name]
            case Read(array, index):
                i = self.value_at(index, lane)
                if i is None or lane.warp is None:
                    return None
                boolean = self._array(array).elem == BOOL
                return self.atoms.atom(("read", array, i, lane.warp), *((0, 1) if boolean else (None, None)))
            case Op(op, args):
                return self._operator(op, args, lane)

    def _leaf(self, leaf: Var | Param, lane: Lane) -> Number | None:
        shared = isinstance(leaf, Param) or leaf.name in self.x
        if not shared:
            known = self._defined(leaf.name, lane)
            return known if known is not None or lane.own is None else self.atoms.atom(("own", leaf.name, lane.own))
        if (value := self._defined(leaf.name, self.nowhere)) is not None:
            return value
        instead = self._instead.get(leaf.name)
        return self.atoms.atom(("leaf", leaf.name)) if instead is None else instead

    def _defined(self, name: str, lane: Lane) -> Number | None:
        return next((v for e in self._defs.get(name, ()) if (v := self.value_at(e, lane)) is not None), None)

    def _operator(self, op: str, args: tuple[Expr, ...], lane: Lane) -> Number | None:
        first = self.value_at(args[0], lane)
        match op:
            case "&&" | "||" if isinstance(first, int):
                return self.value_at(args[1], lane) if first == (op == "&&") else first
            case "&&" | "||":
                second = self.value_at(args[1], lane)
                if isinstance(second, int):
                    return first if second == (op == "&&") else second
                return None if first is None or second is None else self.atoms.apply(op, (first, second))
            case "?:":
                if isinstance(first, int):
                    return self.value_at(args[1] if first else args[2], lane)
                yes, no = self.value_at(args[1], lane), self.value_at(args[2], lane)
                if yes is not None and yes == no:
                    return yes
                return None if first is None or yes is None or no is None else self.atoms.apply(op, (first, yes, no))
        values = [first, *(self.value_at(a, lane) for a in args[1:])]
        operands = tuple(v for v in values if v is not None)
        if len(operands) < len(values):
            return None
        if (op, operands) in self._held:
            return self._held[op, operands]
        if is_function(op):
            return self.atoms.atom((op, *operands), *((0, 1) if is_predicate(op) else (None, None)))
        return self.atoms.apply(op, operands)

    # --- what the oracles ask -------------------------------------------------------------------------------------

    def implies(self, goal: Expr) -> bool:
        """Whether P implies the goal at each thread, in a view of one thread."""
        return self.alone and self.value_at(goal, self.nowhere) == 1

    def uniform(self, e: Expr) -> bool:
        """Whether e has one value over the active lanes of every warp (or of the block, at scope block)."""
        if not self.block_scope:
            return all(self._agree(e, warp) for warp in self.warps)
        if self.threads is None or self.threads > MAX_THREADS:
            return self.value_at(e, self.nowhere) is not None
        return self._agree(e, [lane for warp in self.warps for lane in warp])

    def _agree(self, e: Expr, lanes: Sequence[Lane]) -> bool:
        """Whether e is known to have one value at some lanes; at one alone it has."""
        values = {self.value_at(e, lane) for lane in lanes} if len(lanes) > 1 else set()
        return len(values) <= 1 and None not in values

    def hidden(self, e: Expr) -> tuple[str, int]:
        """A uniform unknown inside of operators in e, and a power of two, at most LOW: what e is at each lane is told
        better if the residue of the unknown is known. "" and 1 where there is none."""
        found: dict[str, int] = {}
        values = (self.value_at(e, warp[i]) for warp in self.warps[:1] for i in (0, len(warp) - 1))
        for name, k in (inside for v in values if v is not None for inside in self.atoms.hidden(v)):
            found[name] = max(k, found.get(name, 1))
        names = {name for _, name in self._leaves()} & {*self.sigma.locals, *self.sigma.params}
        return min(((name, k) for name, k in found.items() if name in names), default=("", 1))

    def count(self, what: What, array: str, index: Expr, span: int = 0, less: float = inf) -> Count:
        """The most sectors, or words in one bank, that one warp can touch in A[index], or up to `span` beyond it; what
        is no `less` may be more, and is found with less work."""
        at = self._at(index)
        found = self._count(self.warps, what, array, at, span, less)
        at_once = what == "MemReads" or lanes_at_once(self._array(array).width, self.hardware) >= self.hardware.warp
        for plane in (False, True) if at_once else ():
            runs = self.runs(plane) if found.n > 1 else []
            values = [at(lane) for run in runs for lane in run]
            if values and None not in values and not any(map(self._is_masked, self._keys(values[0]))):
                whole = self._count(runs, what, array, at, span, min(found.n, less))
                parts = self._in_parts(plane, what, array, at, span, min(found.n, whole.n))
                return min(found, whole, parts, key=lambda count: count.n)
        return found

    def _at(self, index: Expr) -> At:
        """The value of an index at a lane, found once."""
        return cache(lambda lane: self.value_at(index, lane))

    def count_case(self, what: What, array: str, index: Expr) -> Count:
        """The same for A[index], with less work where one warp of a row, whichever it is, touches no more than the
        first."""
        if self.in_rows and self.threads is not None:
            at = self._at(index)
            some = self._shape()[:1], [self._row()]
            first, row = (self._count(self._active(warps), what, array, at, 0) for warps in some)
            if row.n <= first.n:
                return first
        return self.count(what, array, index)

    def _keys(self, a: object) -> Iterator[tuple[object, ...]]:
        """The keys of the atoms in a value, at every depth."""
        for key in (self.atoms.keys[n] for m, _ in (a.terms if isinstance(a, Form) else ()) for n in m):
            if isinstance(key, tuple):
                yield key
                yield from (inner for part in key for inner in self._keys(part))

    def _is_masked(self, key: tuple[object, ...]) -> bool:
        """Whether this is a & b of a place in a row and what is not known: these have too many cases for runs."""
        parts = [part for part in key if isinstance(part, Form)]
        return key[0] == "&" and len(parts) == 2 and any(("run", 1) in self._keys(part) for part in parts)

    def _in_parts(self, plane: bool, what: What, array: str, at: At, span: int, less: int) -> Count:
        """The same, by what the end of a row and the beginning of the next touch, each by itself: the end begins at a
        place of which all rests modulo a power of two are looked at, as far as the index tells them apart."""
        size, some = self.hardware.warp, self.atoms.atom(("run", 1), 0)
        values = [at(self._at_place(plus(some, i), plane)) for i in (0, size - 1)]
        modulus = max((k for v in values for name, k in self.atoms.hidden(v or 0) if name == "run"), default=1)
        first = scaled(self.atoms.atom(("run", modulus), 0), modulus)
        begin = [self._at_place(i, plane) for i in range(size)]
        ends = [[self._at_place(plus(first, rest + i), plane) for i in range(size)] for rest in range(modulus)]

        def touched(lanes: list[Lane]) -> int:
            return self._count([active], what, array, at, span).n if (active := self._allowed(lanes)) else 0

        most, last = 0, -1
        for n in range(size, 0, -1):
            other = touched(begin[: size - n])
            if other > last and most < less:  # where it is the same, a longer end touches no less
                most, last = max(most, other + max(touched(end[:n]) for end in ends)), other
        return Count(most, "lanes", True)

    def _count(self, warps: list[list[Lane]], what: What, array: str, at: At, span: int, less: float = inf) -> Count:
        """The same in some warps, of an index that is `at` lanes; whatever is no `less` may be more."""
        seen: set[object] = set()
        most = Count(1, "lanes", False)
        here = self._array(array)
        each = span_count(what, here, self.hardware, span)
        for warp in warps:
            values = [at(lane) for lane in warp]
            if None in values:
                values = [at(_single(lane, i)) for i, lane in enumerate(warp)]
            numbered = ((lane.number, v) for lane, v in zip(warp, values, strict=True))
            phases = [values] if what == "MemReads" else by_phase(numbered, here.width, self.hardware)
            pattern = tuple((frozenset(part), part.count(None)) for part in phases)
            if pattern in seen:
                continue
            seen.add(pattern)
            if len({terms_of(v) for v in values if v is not None}) > 1 and len(values) * each <= most.n:
                continue  # loose, and no more
            rows = [([plus(v, i) for v in row if v is not None for i in range(span + 1)], n) for row, n in pattern]
            parts = [worst(what, [*row, *[None] * n], here, self.hardware, self.atoms) for row, n in rows]
            found = parts[0] if len(parts) == 1 else _in_turn(parts)
            if found.n > most.n or (found.n == most.n and found.loose <= most.loose):
                most = found
            if most.n >= less:
                break
        return most


def _in_turn(phases: Sequence[Count]) -> Count:
    """Conflicts of an access in phases: 1, and what each phase may have beyond 1. Not each has its most in one run."""
    n = 1 + sum(phase.n - 1 for phase in phases)
    return Count(n, max(phases, key=lambda phase: phase.n).engine, n > 1)


def _nowhere(warp: int | None) -> Lane:
    return Lane({"x": None, "y": None, "z": None}, warp)


def _single(lane: Lane, own: int) -> Lane:
    """The lane, with values of its own for what is not known."""
    return Lane(lane.tid, lane.warp, {name: v for name, v in lane.known.items() if v is not None}, own)


def _meet(classes: dict[str, tuple[int, int]], name: str, c: int, d: int, k: int) -> None:
    """Take in that k divides c * leaf + d, together with what is known of the leaf's class (modulus, residue)."""
    if k < 2:
        return
    old_k, old_r = classes.get(name, (1, 0))
    # leaf = old_k * q + old_r: solve c * old_k * q = -(d + c * old_r) (mod k) for q
    a, b = c * old_k, -(d + c * old_r)
    g = gcd(a, k)
    if b % g or k // g == 1:
        return
    q = b // g * pow(a // g, -1, k // g) % (k // g)
    classes[name] = old_k * (k // g), old_r + old_k * q
