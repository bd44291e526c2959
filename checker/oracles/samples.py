"""Stores that may refute a claim, tried before a solver is asked.

Most claims that a search makes are wrong, and few values show it: those that refuted something else before, or some
drawn at random. What equations of P define is computed from the rest, so that most of P holds. Whether a store refutes
a claim is for the caller to find out.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from heapq import heapify, heappop, heappush
from itertools import chain, islice
from random import Random
from typing import Final, NamedTuple

from checker.oracles.terms import FAR, Valued, contents, evaluator, is_content, is_drop, leaf_name, leaf_type, leaves_in
from logic.comparisons import as_expr, differences
from logic.contracts import elements
from logic.facts import compared, congruences
from logic.operators import NEGATED, Value
from logic.potentials import ZERO, Leaf, Poly, Sym, atom, of_expr
from logic.syntax import BOOL, FALSE, TRUE, WARP_INDEX, Const, Expr, Op, Param, Tid, Var, replace_part, subterms
from logic.typing import Signature

Store = dict[str, Value]

TRIES: Final = 16
"""The number of stores that are drawn for one claim."""
MANY: Final = 256
"""Stores that are drawn for a claim with divisions by what is not known, on which solvers spend all of their time."""
USUAL: Final = (0, 1, 2, 3, 5, 8, 31, 32, 33, 64, 100, 1000, 20_000)
"""Distances from a limit, and values of what has none."""
BLOCKS: Final = ((32, 1, 1), (64, 1, 1), (8, 8, 1), (16, 16, 1), (32, 4, 2), (96, 1, 3))
"""Sizes of blocks, where they are not known."""
MAX_FACTS: Final = 1 << 14
"""Facts of which it is kept what they say: most are asked of at many points of a program."""
PLACE: Final = (WARP_INDEX, *(f"{name}.{axis}" for name in ("tid", "blockDim") for axis in "xyz"))
"""The leaves that say where a thread is."""


class Residue(NamedTuple):
    """A value that a leaf is a part of, once or once less, its modulus, and what it is modulo that."""

    value: Valued
    rate: int
    modulus: Valued
    rest: Valued


class Step(NamedTuple):
    """A leaf, what it is by definition, what it is compared with, and what is known modulo some number of it."""

    name: str
    definition: Valued | None
    limits: tuple[tuple[str, Valued], ...]
    residues: tuple[Residue, ...] = ()


@dataclass
class Sampler:
    """Stores for the leaves of some facts and further terms, of one thread, or of two: then their leaves are `x@1` and
    `x@2`, but for those that are shared. `divided` says that the claim divides by what is no literal."""

    facts: Iterable[Expr]
    terms: Iterable[Expr]
    sigma: Signature
    shared: frozenset[str] = frozenset()
    threads: tuple[int, ...] = (0,)
    warp: int = 32
    random: Random = field(default_factory=lambda: Random(0))
    divided: bool = False

    @cached_property
    def leaves(self) -> dict[str, Leaf]:
        """The leaves, by name, those first that say where a thread is, then parameters."""
        named = {leaf_name(leaf): leaf for leaf in _leaves(*self.facts, *self.terms)}
        return {n: named[n] for n in sorted(named, key=lambda n: (n not in PLACE, not isinstance(named[n], Param), n))}

    @cached_property
    def divides(self) -> bool:
        """Whether something is divided by what is no literal."""
        parts = (t for e in (*self.facts, *self.terms) for t in subterms(e))
        return self.divided or any(
            isinstance(t, Op) and t.op in ("/", "%") and not isinstance(t.args[1], Const) for t in parts
        )

    @cached_property
    def zeros(self) -> Store:
        """All names with the value 0 or false."""
        zero: Store = {n: False if leaf_type(leaf, self.sigma) == BOOL else 0 for n, leaf in self.leaves.items()}
        return self._joined([zero] * len(self.threads))

    @cached_property
    def made_up(self) -> bool:
        """Whether stores make up what arrays hold."""
        return any(map(is_content, self.leaves))

    @property
    def key(self) -> Hashable:
        """The part of a sampler that its stores depend on."""
        types = tuple((name, type(zero)) for name, zero in self.zeros.items())
        return tuple(self.facts), types, frozenset(self.shared), self.threads, self.warp, self.divides

    @cached_property
    def steps(self) -> list[Step]:
        """The leaves in an order in which definitions come after what they mention, and others after most of what they
        are compared with: first those that say where a thread is. Of leaves that are the same, the first has what is
        known of all."""
        facts = (*self.facts, *implied(self.facts))
        same = self._same(facts)
        sides: dict[str, list[tuple[str, Expr]]] = {name: [] for name in self.leaves}
        defined: dict[str, list[Expr]] = {name: [self.leaves[first]] for name, first in same.items()}
        equations: list[dict[str, Expr]] = []
        told = [_sides(fact) for fact in facts]
        for a, op, other in chain.from_iterable(apart for apart, _ in told):
            b = leaf_name(other) if isinstance(other, Var | Param | Tid) else ""
            if op != "==" or same.get(a, a) != same.get(b, b):
                sides[same.get(a, a)].append((op, other))
                if op == "==":
                    defined.setdefault(same.get(a, a), []).append(other)
        for _, solved_for in told:
            ways = [(same.get(a, a), op, other) for a, op, other in solved_for]
            for name, op, other in ways:
                sides[name].append((op, other))
            equations.append({name: other for name, op, other in ways if op == "=="})
        for equation in equations:  # each defines what is compared the least, of what nothing else does
            alone = len(equation) == 1
            undefined = [n for n in equation if n not in defined and (alone or not isinstance(self.leaves[n], Param))]
            if undefined:
                name = min(undefined, key=lambda n: len(sides[n]))
                defined[name] = [equation[name]]
        inside = {e: _names(e) for some in defined.values() for e in some}
        inside |= {e: _names(e) for some in sides.values() for _, e in some}
        found: list[Step] = []
        left, known = set(self.leaves), [*_congruent(facts, defined)]
        for name, definition in _ordered(self.leaves, same, defined, sides, inside):
            limits = tuple((op, evaluator(e)) for op, e in sides[name])
            left.remove(name)
            own = [c for c in known if name in c.rates and c.names.isdisjoint(left)] if definition is None else ()
            residues = tuple(Residue(evaluator(c.e), c.rates[name], evaluator(c.k), evaluator(c.rest)) for c in own)
            found.append(Step(name, None if definition is None else evaluator(definition), limits, residues))
        return found

    def _same(self, facts: Iterable[Expr]) -> dict[str, str]:
        """The leaves that facts equate with another one, by name, with the first in order of those that are the
        same."""
        order, first = {name: i for i, name in enumerate(self.leaves)}, dict[str, str]()
        for fact in facts:
            match fact:
                case Op("==", (Var() | Param() | Tid() as one, Var() | Param() | Tid() as other)):
                    a, b = (first.get(name, name) for name in map(leaf_name, (one, other)))
                    if a != b:
                        kept, gone = sorted((a, b), key=order.__getitem__)
                        first = {name: kept if to == gone else to for name, to in first.items()} | {gone: kept}
        return first

    @cached_property
    def _checks(self) -> list[Valued]:
        """The facts, as functions of stores."""
        return [evaluator(f) for f in self.facts]

    @cached_property
    def _sources(self) -> list[tuple[str, Value, tuple[str, ...]]]:
        """The names, in order, with 0 or false, and what has the value of each in a store for others: the same name,
        that of a leaf that is shared there, or that of the first thread."""
        found = []
        for name, zero in sorted(self.zeros.items()):
            own, _, _ = name.partition("@")
            found.append((name, zero, tuple(dict.fromkeys((name, own, f"{own}@1")))))
        return found

    def taken(self, example: Mapping[str, Value]) -> Store:
        """The values of an example, a store for other leaves; 0 or false for what it has none of."""
        found: Store = {}
        for name, zero, sources in self._sources:
            known = next((example[n] for n in sources if n in example), zero)
            found[name] = known if type(known) is type(zero) else type(zero)(known)
        return found

    def refitted(self, store: Mapping[str, Value]) -> Store:
        """The store with what is defined computed from the rest."""
        found: list[Store] = []
        for keys in self._keys:
            own = {name: store[key] for name, key in keys}
            own |= {name: found[0][name] for name in self.shared & own.keys() if found}
            for name, definition, *_ in self.steps:
                value = None if definition is None or (found and name in self.shared) else _value(definition, own)
                own[name] = own[name] if value is None else value
            found.append(own)
        return self._joined(found)

    def apart(self, store: Mapping[str, Value]) -> Iterator[Store]:
        """Stores like one at which the facts hold, for two threads, where these hold, too, and something that the first
        thread has of its own is far from what the second one has."""
        for name, definition, *_ in self.steps:
            own = self._name(name, 1)
            if definition is None and name not in self.shared and name not in PLACE and type(store[own]) is int:
                far = self.refitted({**store, own: store[own] + FAR})
                if self.fits(far):
                    yield far

    def fits(self, store: Mapping[str, Value]) -> bool:
        """Whether the facts hold at a store, for each thread."""
        for t, keys in zip(self.threads, self._keys, strict=True):
            own = {name: store[key] for name, key in keys} if t else store
            if not all(_value(f, own) for f in self._checks):
                return False
        return True

    def draws(self) -> Iterator[Store]:
        """Stores drawn at random, always the same ones; small numbers first, which say more to a reader."""
        for size in range(MANY if self.divides else TRIES):
            found: list[Store] = []
            usual = USUAL[: 2 + size]
            for place in self._places():
                own = {name: found[0][name] for name in self.shared if found and name in found[0]} | place
                for step in self.steps:
                    if step.name not in own:
                        own[step.name] = self._drawn(step, own, self.random.choice(usual))
                found.append(own)
            yield self._joined(found)

    @cached_property
    def _keys(self) -> list[list[tuple[str, str]]]:
        """The leaves, and what they are called in stores, for each thread."""
        return [[(name, self._name(name, t)) for name in self.leaves] for t in self.threads]

    def _name(self, name: str, thread: int) -> str:
        return name if thread == 0 or name in self.shared else f"{name}@{thread}"

    def _joined(self, stores: Iterable[Store]) -> Store:
        pairs = zip(self.threads, stores, strict=True)
        return {self._name(name, t): value for t, own in pairs for name, value in own.items()}

    def _places(self) -> list[Store]:
        """The indices of the threads, which are often of one warp."""
        sizes = {name: _value(e, {}) for name, e, *_ in self.steps if name.startswith("blockDim.") and e is not None}
        guess = self.random.choice(BLOCKS)
        x, y, z = (int(sizes.get(f"blockDim.{a}") or n) for a, n in zip("xyz", guess, strict=True))
        first = self.random.choice((0, 1, 2, 31, 32, self.random.randrange(x * y * z)))
        near = first // self.warp * self.warp + self.random.randrange(self.warp)
        second = self.random.choice((first + 1, near, self.random.randrange(x * y * z)))
        places = []
        for n in (first % (x * y * z), second % (x * y * z))[: len(self.threads)]:
            numbers = (n // self.warp, n % x, n // x % y, n // (x * y), x, y, z)
            places.append(dict(zip(PLACE, numbers, strict=True)))
        return places

    def _drawn(self, step: Step, store: Mapping[str, Value], far: int) -> Value:
        defined = None if step.definition is None else _value(step.definition, store)
        if leaf_type(self.leaves[step.name], self.sigma) == BOOL:
            return self.random.random() < 0.5 if defined is None else bool(defined)
        if defined is not None:
            return int(defined)
        if is_drop(step.name) and self.random.random() < 0.75:
            return 0
        low, high = [], []
        for op, other in step.limits:
            limit = _value(other, store)
            if limit is not None and op in (">", ">=", "=="):
                low.append(int(limit) + (op == ">"))
            if limit is not None and op in ("<", "<=", "=="):
                high.append(int(limit) - (op == "<"))
        if not low:
            n = min(high) - far if high else far
        elif not high:
            n = max(low) + far
        else:
            size = max(1, min(high) - max(low) + 1)
            n = max(low) + self.random.choice((0, size - 1, far % size))
        for residue in step.residues:
            own = {**store, step.name: n}
            value, k, rest = (_value(e, own) for e in (residue.value, residue.modulus, residue.rest))
            if value is not None and k is not None and rest is not None and k > 0:
                n -= residue.rate * ((value - rest) % k)
                if low and n < max(low):
                    n += -(-(max(low) - n) // k) * k
                elif high and n > min(high):
                    n -= -(-(n - min(high)) // k) * k
        return n


def _ordered(
    leaves: Iterable[str],
    same: Mapping[str, str],
    defined: Mapping[str, Sequence[Expr]],
    sides: Mapping[str, Sequence[tuple[str, Expr]]],
    inside: Mapping[Expr, Collection[str]],
) -> Iterator[tuple[str, Expr | None]]:
    """The leaves in the order of `Sampler.steps`, each with a definition of which all is known, if it has one: those
    that say where a thread is, as they come; then the first that is defined, or else one of which most of what it is
    compared with is known."""
    ranks = {name: i for i, name in enumerate(leaves)}
    missing = {e: len(names) for e, names in inside.items()}
    mentioned: dict[str, list[Expr]] = {}
    for e, names in inside.items():
        for name in names:
            mentioned.setdefault(name, []).append(e)
    defines: dict[Expr, list[str]] = {}
    limits: dict[Expr, list[str]] = {}
    for name in ranks:
        for e in defined.get(name, ()):
            defines.setdefault(e, []).append(name)
        for _, e in sides[name]:
            limits.setdefault(e, []).append(name)
    unknown = {name: sum(missing[e] > 0 for _, e in sides[name]) for name in ranks}
    ready = [ranks[name] for e, names in defines.items() if not missing[e] for name in names]
    free = [(unknown[name], i) for name, i in ranks.items() if name not in defined]
    tied = [(unknown[name], i) for name, i in ranks.items() if name in defined and name not in same]
    heapify(ready)
    for heap in (free, tied):
        heapify(heap)
    order, left = list(ranks), set(ranks)
    places = sum(name in PLACE for name in order)  # which come first
    while left:
        name, rank = "", len(order) - len(left)
        if rank < places:
            name = order[rank]
        while not name and ready:
            name = taken if (taken := order[heappop(ready)]) in left else ""
        definition = next((e for e in defined.get(name, ()) if not missing[e]), None)
        while not name:
            amount, rank = heappop(free or tied)
            name = taken if (taken := order[rank]) in left and unknown[taken] == amount else ""
        yield name, definition
        left.remove(name)
        for e in mentioned.get(name, ()):
            missing[e] -= 1
            if not missing[e]:
                for other in defines.get(e, ()):
                    heappush(ready, ranks[other])
                for other in limits.get(e, ()):
                    unknown[other] -= 1
                    if other not in same:
                        heappush(tied if other in defined else free, (unknown[other], ranks[other]))


def _leaves(*exprs: Expr) -> set[Var | Param | Tid]:
    """The leaves in expressions, with what stands for the contents of the arrays whose elements these speak of."""
    return set[Leaf]().union(*map(_leaves_of, exprs))


@lru_cache(maxsize=MAX_FACTS)
def _leaves_of(e: Expr) -> frozenset[Leaf]:
    return frozenset(leaves_in(e)).union(leaf for array in elements(e) for leaf in contents(array))


@lru_cache(maxsize=MAX_FACTS)
def _names(e: Expr) -> frozenset[str]:
    """The names of these leaves."""
    return frozenset(map(leaf_name, _leaves_of(e)))


Comparison = tuple[str, str, Expr]
"""The name of a leaf, how it compares, and with what."""


@lru_cache(maxsize=MAX_FACTS)
def _sides(fact: Expr) -> tuple[tuple[Comparison, ...], tuple[Comparison, ...]]:
    """The comparisons by a fact of a leaf that stands on one of its sides alone, and of others."""
    apart = tuple((leaf_name(leaf), op, other) for leaf, op, other in compared((fact,), either=True))
    return apart, tuple((leaf_name(leaf), op, other) for leaf, op, other in solved((fact,)))


class Congruent(NamedTuple):
    """An expression that k divides but for a rest: the leaves that are added in it, or subtracted, by their names, and
    all that it takes to tell."""

    e: Expr
    k: Expr
    rest: Expr
    rates: Mapping[str, int]
    names: frozenset[str]


def _congruent(facts: Iterable[Expr], defined: Mapping[str, Sequence[Expr]]) -> Iterator[Congruent]:
    """The congruences that facts tell, as they are and with a leaf's definition in its place."""
    for plain, k, rest in (c for fact in facts for c in congruences(fact)):
        leaves = sorted(leaves_in(plain), key=leaf_name)
        for e in (
            plain,
            *(replace_part(plain, leaf, value) for leaf in leaves for value in defined.get(leaf_name(leaf), ())),
        ):
            p = of_expr(e) or ZERO
            alone = {m[0].leaf: int(c) for m, c in p.terms if len(m) == 1 and isinstance(m[0], Sym) and abs(c) == 1}
            rates = {leaf_name(leaf): c for leaf, c in alone.items()}
            yield Congruent(e, k, rest, rates, frozenset(map(leaf_name, _leaves(e, k, rest))))


def solved(facts: Iterable[Expr]) -> Iterator[tuple[Leaf, str, Expr]]:
    """The comparisons by facts of a leaf that stands on neither side alone, or that is a truth value.

    >>> from logic.syntax import show
    >>> x, n, b = Var("x"), Param("n"), Var("b")
    >>> [(leaf.name, op, show(e)) for leaf, op, e in solved([Op("==", (Op("-", (x, n)), Const(0))), b])]
    [('n', '==', 'x'), ('x', '==', 'n'), ('b', '==', 'true')]
    """
    for c in facts:
        match c:
            case Op("!", (Var() | Param() as leaf,)):
                yield leaf, "==", FALSE
            case Var() | Param():
                yield c, "==", TRUE
            case Op("<" | "<=" | ">" | ">=" | "==", (a, b)) if not isinstance(a, Var | Param | Tid):
                for p, _ in islice(differences(c), 1):
                    yield from (one for one in _alone(p, c.op == "==") if one[0] != b)  # `compared` has what b is


def implied(facts: Iterable[Expr]) -> Iterator[Expr]:
    """The comparisons that facts equate with a truth value which they tell, or their negations.

    >>> from logic.syntax import show
    >>> b, c, less = Var("b"), Var("c"), Op("<", (Var("x"), Param("n")))
    >>> [show(e) for e in implied([b, Op("!", (c,)), Op("==", (b, less)), Op("==", (c, less))])]
    ['x < n', 'x >= n']
    """
    facts = tuple(facts)
    told = frozenset(facts)
    for fact in facts:
        match fact:
            case Op("==", (Var() as b, Op(op, sides) as e)) if op in NEGATED and b in told:
                yield e
            case Op("==", (Var() as b, Op(op, sides))) if op in NEGATED and Op("!", (b,)) in told:
                yield Op(NEGATED[op], sides)


def _alone(p: Poly, zero: bool) -> Iterator[tuple[Leaf, str, Expr]]:
    """The comparisons by p >= 0, or p == 0, of each leaf that is only added or subtracted in it."""
    for m, c in p.terms:
        if len(m) == 1 and isinstance(m[0], Sym) and abs(c) == 1:
            rest = as_expr((p - atom(m[0]) * c) * -c, bases=True)
            if rest is not None and m[0].leaf not in leaves_in(rest):
                yield m[0].leaf, "==" if zero else ">=" if c > 0 else "<=", rest


def _value(of: Valued, store: Mapping[str, Value]) -> Value | None:
    try:
        return of(store)
    except KeyError:
        return None
