"""Small worlds: a few threads, a few values, and side conditions decided by going through all of them.

Every answer is about the world only: a variable holds one of `World.values`, a parameter one of `World.sizes`. That is
enough for a trial, because a run in which a variable leaves the world is cut short there (see `checker.testbed.runs`),
and the proof of Theorem 1 asks for side conditions in visited states only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Final

import numpy as np

from logic.assertions import (
    FRESH,
    AtLeast,
    AtMost,
    Context,
    Entails,
    Obligation,
    P,
    Proved,
    Refuted,
    Uniform,
    Unknown,
    Verdict,
    X,
    fresh_type,
    opaque,
)
from logic.contracts import settled
from logic.metrics import Hardware
from logic.potentials import ELEMENT, Apply, Floor, Leaf, Log2, Max0, Poly, Sym
from logic.syntax import BOOL, Array, Const, Expr, Op, Param, Read, Tid, Var, subterms

Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

TINY: Final = Hardware("tiny", sector=8, banks=2, word=4, warp=4, alignment=64)
"""Four lanes, two elements a sector, two banks: a handful of threads shows every effect of a warp."""


@dataclass(frozen=True, slots=True)
class World:
    """The world of enumeration: `values` of locals and array elements, `sizes` of parameters, `lanes` threads in one
    row, and for each size what the stable array may hold at the indices `HELD`."""

    values: range = range(-3, 7)
    sizes: range = range(-1, 5)
    lanes: int = 4
    data: tuple[tuple[tuple[int, ...], ...], ...] = ()


ENGINE: Final = "enumeration"

HELD: Final = range(9)
"""The indices at which a stable array holds what its world says; elsewhere it holds 0, as out of bounds."""
CHOSEN: Final = Param("data")
"""The number of what a stable array holds, among all that it may hold: no program has such a parameter."""


class SmallWorld:
    """An oracle that goes through a small world; it answers Proved or Refuted, Unknown only for what it cannot read.

    Expressions are evaluated in all states at once, as arrays with an axis for each leaf: the last axis is that of n.
    A leaf that comes later gets an axis before all others, so an array that is remembered stays right.
    """

    def __init__(self, world: World, context: Context, given: Sequence[tuple[Poly, ...]] = ()) -> None:
        """Taken for true everywhere is what is given: the first of some potentials is nonnegative where the others
        are."""
        self.world, self.context = world, context
        self.leaves: list[Leaf] = []
        self._axes: dict[Leaf, Ints] = {}
        self._masks: dict[P, Any] = {}
        self._facts: dict[Expr, Any] = {}
        self._seen: dict[int, tuple[P | Expr, Any]] = {}
        # answers depend on P by its mask alone, and `_masks` keeps that, so its id stands for it
        self._minima: dict[tuple[int, Poly], Fraction | None] = {}
        self._counts: dict[tuple[str, int, X, str, Expr], int] = {}
        self._uniforms: dict[tuple[int, X, Expr], bool] = {}
        for leaf in (Param("n"), Tid("x"), Var("x"), Var("y")):
            self._axis(leaf)
        self._possible: Any = np.bool_(True)
        for said, *needs in given:
            self._possible = self._possible & ~(self._all_nonnegative(needs) > self._all_nonnegative([said]))
        if bool(np.all(self._possible)):
            self._possible = np.bool_(True)

    def __call__(self, o: Obligation, context: Context) -> Verdict:
        if context is not self.context:
            return Unknown(ENGINE, "another context than the world's")
        try:
            return Proved(ENGINE) if self._holds(o) else Refuted(ENGINE)
        except _UnreadableError as error:
            return Unknown(ENGINE, str(error))

    def proves(self, o: Obligation) -> bool:
        """Whether it holds in this world."""
        try:
            return self._holds(o)
        except _UnreadableError:
            return False

    def entails(self, p: P, fact: Expr) -> bool:
        """P |- fact"""
        return self.all_entail((p,), fact)

    def all_entail(self, ps: Sequence[P], fact: Expr) -> bool:
        """P |- fact for each P"""
        try:
            holds = self._meets_one(fact)
            return not any(bool((self.meets(p) > holds).any()) for p in ps)
        except _UnreadableError:
            return False

    def _holds(self, o: Obligation) -> bool:
        match o:
            case Entails(p, goal):
                return not (self.meets(p) > self.meets(goal)).any()
            case AtLeast(p, _, q, r):
                least = self.minimum(p, q - r)
                return least is None or least >= 0
            case Uniform(p, x, e):
                key = (id(self.meets(p)), x, e)
                found = self._uniforms.get(key)
                if found is None:
                    found = self._uniforms[key] = self._uniform(p, x, e)
                return found
            case AtMost(what, p, x, array, index, n):
                return self.least(what, p, x, array, index) <= n

    # --- states of one thread ---

    def _axis(self, leaf: Leaf) -> Ints:
        found = self._axes.get(leaf)
        if found is None:
            values = np.array(self._range(leaf), dtype=np.int64)
            if len(values) > 1:
                values = values.reshape(-1, *(1 for _ in self.leaves))
                self.leaves.append(leaf)
            found = self._axes[leaf] = values
        return found

    def _range(self, leaf: Leaf) -> Sequence[int]:
        """The values that a leaf may have."""
        world, launch = self.world, self.context.launch
        match leaf:
            case Tid("x"):
                return range(world.lanes)
            case Tid():
                return (0,)
            case Param("warpSize"):
                return (self.context.hardware.warp,)
            case Param() if leaf == CHOSEN and world.data:
                return range(len(world.data[0]))
            case Param(name) if name.startswith(("blockDim", "gridDim", "blockIdx")):
                sizes = dict(zip("xyz", launch.block, strict=True)) if name.startswith("blockDim") else {}
                return (sizes.get(name[-1]) or int(not name.startswith("blockIdx")),)
            case Param(name):
                if name not in self.context.sigma.params or "." in name:
                    raise _UnreadableError(name)
                return world.sizes
            case Var(name):
                kind = fresh_type(name) if name.startswith(FRESH) else self.context.sigma.locals[name]
                return (0, 1) if kind == BOOL else world.values

    def in_every_state(self, e: Expr) -> Any:
        """e in every state. Raises _UnreadableError."""
        match e:
            case Var() | Param() | Tid():
                return self._axis(e)
            case Const(value) if not isinstance(value, str):
                return np.bool_(value) if isinstance(value, bool) else np.int64(value)
            case Op(op, args) if op in OPERATIONS:
                return OPERATIONS[op](*(self.in_every_state(a) for a in args))
            case Op(op, (index,)) if op.startswith(ELEMENT):
                return self._element(self.in_every_state(index))
        raise _UnreadableError(str(e))

    def _element(self, index: Any) -> Any:
        """The elements of the stable array at indices. Raises _UnreadableError where there is none."""
        if not self.world.data:
            raise _UnreadableError("an element of an array")
        held = np.array(self.world.data, dtype=np.int64)
        inside = (index >= HELD[0]) & (index <= HELD[-1])
        place = np.clip(index, HELD[0], HELD[-1]) - HELD[0]
        of_size = self._axis(Param("n")) - self.world.sizes[0]
        return np.where(inside, held[of_size, self._axis(CHOSEN), place], 0)

    def _all_nonnegative(self, polys: Sequence[Poly]) -> Any:
        holds: Any = np.bool_(True)
        for q in polys:
            holds = holds & (self.potential(q)[0] >= 0)
        return holds

    def _meets_one(self, fact: Expr) -> Any:
        seen = self._seen.get(id(fact))
        if seen is None:
            mask = self._facts.get(fact)
            if mask is None:
                mask = self._facts[fact] = self.in_every_state(fact) != 0
            seen = self._seen[id(fact)] = (fact, mask)
        return seen[1]

    def meets(self, p: P) -> Any:
        """The places at which every conjunct holds."""
        seen = self._seen.get(id(p))
        if seen is None:
            mask = self._masks.get(p)
            if mask is None:
                mask = self._possible
                for fact in p:
                    mask = mask & self._meets_one(fact)
                self._masks[p] = mask
            seen = self._seen[id(p)] = (p, mask)
        return seen[1]

    def potential(self, q: Poly) -> tuple[Any, int]:
        """q times a positive integer, and that integer: whole numbers throughout."""
        scale = lcm(*(c.denominator for _, c in q.terms)) if q.terms else 1
        total: Any = np.int64(0)
        for monomial, c in q.terms:
            term: Any = np.int64(int(c * scale))
            for a in monomial:
                match a:
                    case Sym(leaf):
                        term = term * self._axis(leaf)
                    case Max0(arg):
                        inner, k = self.potential(arg)
                        term = term * np.maximum(0, inner // k)
                    case Floor(arg, d):
                        inner, k = self.potential(arg)
                        term = term * (inner // (k * d))
                    case Log2(arg):
                        inner, _ = self.potential(arg)
                        logs = [0, *(n.bit_length() - 1 for n in range(1, max(1, int(np.max(inner))) + 1))]
                        term = term * np.array(logs)[np.maximum(0, inner)]
                    case Apply(op, (arg,)) if op.startswith(ELEMENT):
                        term = term * self._element(self.potential(arg)[0])
                    case Apply(op, args):
                        term = term * OPERATIONS[op](*(self.potential(p)[0] for p in args))
            total = total + term
        return total, scale

    def minimum(self, p: P, q: Poly) -> Fraction | None:
        """The least value of q in states that satisfy p; None where there is no such state."""
        mask = self.meets(p)
        key = (id(mask), q)
        if key not in self._minima:
            values, scale = self.potential(q)
            least = int(np.where(mask, values, _FAR).min())
            self._minima[key] = None if least == int(_FAR) else Fraction(least, scale)
        return self._minima[key]

    def satisfiable(self, p: P) -> bool:
        """Whether some thread may be in a state like this."""
        return bool(np.any(self.meets(p)))

    def table(self, p: P, leaves: Sequence[Leaf]) -> Bools:
        """Where p holds, an axis for each of these leaves; what else p mentions may be anything."""
        mask = self.meets(p)
        for leaf in leaves:
            self._axis(leaf)
        shape = tuple(len(self._range(leaf)) for leaf in reversed(self.leaves))
        order = [len(shape) - 1 - self.leaves.index(leaf) for leaf in leaves]
        rest = [i for i in range(len(shape)) if i not in order]
        full = np.broadcast_to(mask, shape).transpose((*order, *rest))
        return np.asarray(full.reshape(*(shape[i] for i in order), -1).any(axis=-1))

    # --- several threads ---

    def warps(self) -> list[range]:
        """The threads that a T may be taken from: those of one warp, or of the block."""
        lanes, warp = self.world.lanes, self.context.hardware.warp
        if self.context.scope == "block":
            return [range(lanes)]
        return [range(first, min(first + warp, lanes)) for first in range(0, lanes, warp)]

    def _groups(self, p: P, x: X, e: Expr, shared: frozenset[str]) -> Iterator[tuple[Ints, Bools]]:
        """For each warp: values of e and whether p holds, a row for each choice of what its threads agree on."""
        values, mask, tids = self.in_every_state(e), self.meets(p), self._axis(Tid("x"))
        values, mask, _ = np.broadcast_arrays(values, mask, tids)
        dims = [len(values.shape) - 1 - i for i in range(len(values.shape))]  # the leaf of each dimension
        tid = dims.index(self.leaves.index(Tid("x")))
        agreed = [i for i, leaf in enumerate(dims) if self._agreed(self.leaves[leaf], x | shared)]
        order = (*agreed, tid, *(i for i in range(len(dims)) if i not in agreed and i != tid))
        rows = math.prod(values.shape[i] for i in agreed)
        values, mask = (a.transpose(order).reshape(rows, self.world.lanes, -1) for a in (values, mask))
        for warp in self.warps():
            yield values[:, warp.start : warp.stop], mask[:, warp.start : warp.stop]

    def _varies(self, values: Any, x: X) -> bool:
        """Whether values depend on anything that threads need not agree on."""
        leaves = zip(self.leaves, reversed(values.shape), strict=False)
        return any(size > 1 and not self._agreed(leaf, x) for leaf, size in leaves)

    @staticmethod
    def _agreed(leaf: Leaf, x: X) -> bool:
        return isinstance(leaf, Param) or (isinstance(leaf, Var) and leaf.name in x)

    def _uniform(self, p: P, x: X, e: Expr) -> bool:
        """Each occurrence of a read is a value of its own: one for the warp where its index is uniform, else one for
        each thread, which is more than section 5 allows threads to differ."""
        shared: set[str] = set()
        count = 0

        def without_reads(t: Expr) -> Expr:
            nonlocal count
            match t:
                case Read(array, index) if array in self.context.sigma.stable:
                    return Op(f"{ELEMENT}{array}", (without_reads(index),))
                case Read(array, index):
                    count += 1
                    kind = self.context.sigma.arrays[array].elem
                    if kind.kind == "base":
                        raise _UnreadableError(str(kind))
                    name = f"{FRESH}{'b' if kind == BOOL else 'i'}u{count}"
                    inner = without_reads(index)
                    if self._agree(p, x, inner, frozenset(shared)):
                        shared.add(name)
                    return Var(name)
                case Op(op, args):
                    return Op(op, tuple(without_reads(a) for a in args))
            return t

        return self._agree(p, x, without_reads(e), frozenset(shared))

    def _agree(self, p: P, x: X, e: Expr, shared: frozenset[str]) -> bool:
        if not self._varies(self.in_every_state(e), x | shared):
            return True
        for values, mask in self._groups(p, x, e, shared):
            numbers = values.astype(np.int64)
            most = np.where(mask, numbers, -_FAR).max(axis=(1, 2))
            least = np.where(mask, numbers, _FAR).min(axis=(1, 2))
            if bool(np.any(most > least)):
                return False
        return True

    def least(self, what: str, p: P, x: X, array: str, index: Expr) -> int:
        """MemReads or Conflicts of an access in the worst case that {p; x} allows."""
        key = (what, id(self.meets(p)), x, array, index)
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = self._least(what, p, x, array, index)
        return found

    def _least(self, what: str, p: P, x: X, array: str, index: Expr) -> int:
        hardware = self.context.hardware
        lanes = min(self.world.lanes, hardware.warp)
        if not opaque(index, self.context.sigma):
            index = settled(index)
        if any(isinstance(t, Read) for t in subterms(index)):
            return lanes
        worst = 0
        for values, mask in self._groups(p, x, index, frozenset()):
            for first in range(0, values.shape[1], hardware.warp):
                part = slice(first, first + hardware.warp)
                for row, here in zip(values[:, part], mask[:, part], strict=True):
                    per_lane = [set(lane[ok].tolist()) for lane, ok in zip(row, here, strict=True)]
                    units = most_units(what, [s for s in per_lane if s], self.context.sigma.arrays[array], hardware)
                    worst = max(worst, units)
                    if worst == lanes:
                        return worst
        return worst


class _UnreadableError(Exception):
    """Something that the small world does not have."""


_FAR: Final = np.int64(1) << 40


def most_units(what: str, per_lane: list[set[int]], array: Array, hardware: Hardware) -> int:
    """The most sectors, or words of one bank, that lanes touch that each choose one of these indices.

    Elements are no larger than a word and aligned, so each touches one sector and one word.
    """
    unit = hardware.sector if what == "MemReads" else hardware.word
    units = [frozenset((array.stride * i + array.offset) // unit for i in lane) for lane in per_lane]
    if what == "MemReads":
        return matching(units)
    banks = {u % hardware.banks for lane in units for u in lane}
    return max(
        (matching([frozenset(u for u in lane if u % hardware.banks == b) for lane in units]) for b in banks), default=0
    )


def matching(choices: list[frozenset[int]]) -> int:
    """The most lanes that can be given numbers of their own, each one of its choices."""
    owner: dict[int, int] = {}

    def place(lane: int, seen: set[int]) -> bool:
        for unit in choices[lane]:
            if unit not in seen:
                seen.add(unit)
                if unit not in owner or place(owner[unit], seen):
                    owner[unit] = lane
                    return True
        return False

    return sum(place(lane, set()) for lane in range(len(choices)))


# --- expressions over all states at once -----------------------------------------------------------------------------


def c_div(a: Ints, b: Ints) -> Ints:
    """C's division, 0 where b is 0."""
    quotient = np.abs(a) // np.where(b == 0, 1, np.abs(b))
    return np.where(b == 0, 0, np.where((a < 0) == (b < 0), quotient, -quotient))


def c_mod(a: Ints, b: Ints) -> Ints:
    """C's remainder, a where b is 0."""
    return a - b * c_div(a, b)


OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": c_div,
    "%": c_mod,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
    "&&": np.logical_and,
    "||": np.logical_or,
    "!": np.logical_not,
    "neg": np.negative,
    "min": np.minimum,
    "max": np.maximum,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    ">>": lambda a, b: np.where(b < 0, 0, np.right_shift(a, np.maximum(b, 0))),
    "?:": np.where,
}
