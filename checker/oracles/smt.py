"""Z3 as an oracle, over mathematical integers, and cvc5 where Z3 cannot tell. A yes is the solver's word; a no counts
once its model was checked.

What integers cannot say (reads, base types, shifts by unknown counts) becomes uninterpreted functions: what is proved
for every function holds for the real one. z3 is imported at the first query.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, partial, reduce
from importlib import import_module
from itertools import permutations
from math import inf, lcm
from typing import Any, Final

from checker.oracles import second
from checker.oracles.counts import span_count
from checker.oracles.desk import KNOWN, Answer, Desk, Real, refuted
from checker.oracles.lanes import View
from checker.oracles.samples import Sampler, Store
from checker.oracles.terms import (
    DIRECT,
    WAY,
    contents,
    facts_of,
    is_function,
    is_made_up,
    is_predicate,
    leaf_name,
    leaf_type,
    leaves_in,
    prepared,
    value_of,
)
from logic.assertions import AtLeast, AtMost, Context, Entails, P, Proved, Refuted, Uniform, Unknown, Verdict, X
from logic.contracts import elements_in
from logic.metrics import phase_count
from logic.operators import COMPARISONS, Value
from logic.potentials import ELEMENT, Apply, Atom, Floor, Leaf, Log2, Max0, Poly, Sym, atoms, evaluate, leaves
from logic.syntax import BOOL, Const, Expr, Op, Param, Read, Tid, Var, subterms
from logic.typing import Signature

MAX_SHIFT: Final = 64
MAX_SPAN: Final = 4096
MEMORY: Final = 192
"""MiB that Z3 may have, past which it does not know: with what it is about to take, some 350 in all."""
QUICK: Final = 0.2
"""The seconds that Z3's plain solver may take."""
STEPS: Final = 1_000_000
"""Z3's steps in a second of a processor. Queries are limited by steps, so that a busy machine decides as much."""
SOON: Final = 8
"""The stores that are drawn before lanes are looked at: more would delay what is true, which is asked as often."""
MORE: Final = 64
"""The same for a claim with quotients by no number: an arithmetic proof of one takes a hundred times as long."""
LOG_STEPS: Final = 12
"""log2's value is spelled out up to 2**LOG_STEPS; beyond, only how it grows."""

PLAIN: Final[tuple[Store, ...]] = ({},)
MADE_UP: Final[tuple[Store, ...]] = tuple({WAY: i} for i in range(4))
"""What stores have besides: nothing, or a way in which what is read is made up, each of these in turn."""


@cache
def _z3() -> Any:
    """The library, which leaves Ctrl-C alone: else it takes one for itself, and says that it does not know."""
    z3 = import_module("z3")
    z3.set_param("ctrl_c", False)
    return z3


@cache
def engine() -> str:
    """The engine's name for verdicts."""
    return f"z3 {_z3().get_version_string()}"


@dataclass
class Encoding:
    """Z3 terms for expressions of one thread or of two.

    Thread 1 and 2 have leaves of their own (`x@1`) except the shared ones; thread 0 stands for itself.
    `common_reads` says that both threads read the same values at the same indices.
    """

    sigma: Signature
    shared: frozenset[str] = frozenset()
    common_reads: bool = True
    context: Any = field(default_factory=lambda: _z3().Context())
    leaves: dict[str, Any] = field(default_factory=dict)
    axioms: list[Any] = field(default_factory=list)
    logs: list[tuple[Any, Any]] = field(default_factory=list)

    def integer(self, name: str) -> Any:
        return _z3().Int(name, self.context)

    def number(self, value: int) -> Any:
        return _z3().IntVal(value, self.context)

    def name(self, leaf: Leaf, thread: int) -> str:
        own = leaf_name(leaf)
        return own if thread == 0 or isinstance(leaf, Param) or own in self.shared else f"{own}@{thread}"

    def leaf(self, leaf: Leaf, thread: int) -> Any:
        name = self.name(leaf, thread)
        if name not in self.leaves:
            boolean = leaf_type(leaf, self.sigma) == BOOL
            self.leaves[name] = _z3().Bool(name, self.context) if boolean else self.integer(name)
        return self.leaves[name]

    def function(self, name: str, args: Sequence[Any], boolean: bool = False) -> Any:
        """An uninterpreted function of the arguments."""
        z3 = _z3()
        result = z3.BoolSort(self.context) if boolean else z3.IntSort(self.context)
        sorts = "".join("b" if z3.is_bool(a) else "i" for a in args)
        return z3.Function(f"{name}/{sorts}", *(a.sort() for a in args), result)(*args)

    # --- expressions ----------------------------------------------------------------------------------------------

    def term(self, e: Expr, thread: int = 0) -> Any:
        """e, prepared, at a thread."""
        match e:
            case Const(value, type_):
                if isinstance(value, str) or type_.kind == "base":
                    return self.integer(f"const:{type_.name}:{value}")
                return _z3().BoolVal(value, self.context) if type_ == BOOL else self.number(int(value))
            case Var() | Param() | Tid():
                return self.leaf(e, thread)
            case Read(array, index):
                boolean = self.sigma.arrays[array].elem == BOOL
                name = f"read:{array}" if self.common_reads else f"read:{array}@{thread}"
                return self.function(name, [self.term(index, thread)], boolean)
            case Op(op, args):
                terms = [self.term(a, thread) for a in args]
                if is_function(op):
                    return self.function(op, terms, is_predicate(op))
                return self._operator(op, terms)

    def _operator(self, op: str, args: list[Any]) -> Any:
        z3 = _z3()
        a, b = args[0], args[-1]
        match op:
            case "?:":
                return z3.If(args[0], args[1], args[2])
            case "neg":
                return -a
            case "~":
                return -a - 1
            case "abs":
                return z3.If(a >= 0, a, -a)
            case "!":
                return z3.Not(a)
            case "int":
                return z3.If(a, self.number(1), self.number(0)) if z3.is_bool(a) else a
            case "bool":
                return a if z3.is_bool(a) else a != 0
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return self._quotient(a, b)
            case "%":
                return self._remainder(a, b)
            case "min":
                return z3.If(a <= b, a, b)
            case "max":
                return z3.If(a >= b, a, b)
            case "&&":
                return z3.And(a, b)
            case "||":
                return z3.Or(a, b)
            case _ if op in COMPARISONS:
                return DIRECT[op](a, b)
        return self._bits(op, a, b)

    def _quotient(self, a: Any, b: Any) -> Any:
        z3 = _z3()
        k = _literal(b)
        if k is None:
            size = z3.If(a >= 0, a, -a) / z3.If(b >= 0, b, -b)
            return z3.If(b == 0, 0, z3.If((a >= 0) == (b > 0), size, -size))
        if k == 0:
            return self.number(0)
        toward_zero = z3.If(a >= 0, a / abs(k), -((-a) / abs(k)))
        return toward_zero if k > 0 else -toward_zero

    def _remainder(self, a: Any, b: Any) -> Any:
        z3 = _z3()
        k = _literal(b)
        if k is None:
            size = z3.If(b >= 0, b, -b)
            return z3.If(b == 0, a, z3.If(a >= 0, a % size, -((-a) % size)))
        if k == 0:
            return a
        return z3.If(a >= 0, a % abs(k), -((-a) % abs(k)))

    def _bits(self, op: str, a: Any, b: Any) -> Any:
        """Shifts, `&`, `|`, `^`: exact where a constant makes them arithmetic."""
        k = _literal(b)
        if op in ("<<", ">>"):
            if k is None or k > MAX_SHIFT:
                return self._shifted(op, a, b)
            if k < 0:
                return self.number(0)
            return a * (1 << k) if op == "<<" else a / (1 << k)
        if k is None:
            a, b, k = b, a, _literal(a)
        if k is not None and k >= 0 and k & (k + 1) == 0:
            low = a % (k + 1)
            return {"&": low, "|": a - low + k, "^": a - low + (k - low)}[op]
        result = self.function("or" if op == "|" else op, [a, b])  # "|" would need quoting in a quoted name
        if op == "&":
            z3 = _z3()
            for x in (a, b):
                self.axioms.append(z3.Implies(x >= 0, z3.And(result >= 0, result <= x)))
        return result

    def _shifted(self, op: str, a: Any, b: Any) -> Any:
        """A shift by what is no number: to the right no farther from 0 than before."""
        z3 = _z3()
        result = self.function(op, [a, b])
        self.axioms.append(z3.Implies(a >= 0, result >= 0))
        if op == ">>":
            self.axioms.append(result <= z3.If(a >= 0, a, 0))
        return result

    # --- potentials -----------------------------------------------------------------------------------------------

    def scaled(self, p: Poly) -> tuple[Any, int]:
        """(t, k) with t = k * p, an integer term, and k > 0."""
        k = lcm(*(c.denominator for _, c in p.terms)) if p.terms else 1
        products = [
            reduce(operator.mul, [*([] if c * k == 1 and m else [self.number(int(c * k))]), *map(self._atom, m)])
            for m, c in p.terms
        ]
        return reduce(operator.add, products) if products else self.number(0), k

    def _atom(self, a: Atom) -> Any:
        z3 = _z3()
        if isinstance(a, Sym):
            return self.leaf(a.leaf, 0)
        if isinstance(a, Apply):
            sides = [self.scaled(side) for side in a.args]  # an element is a function of its index
            if any(k != 1 for _, k in sides):
                raise ValueError(f"{a} is not a base function over the integers")
            terms = [side for side, _ in sides]
            return self.function(a.op, terms) if a.op.startswith(ELEMENT) else self._operator(a.op, terms)
        inside, k = self.scaled(a.arg)
        match a:
            case Max0() if k == 1:
                return z3.If(inside >= 0, inside, 0)
            case Floor(_, divisor):
                return inside / (k * divisor)
            case Log2() if k == 1:
                return self._log2(inside)
        raise ValueError(f"{a} is not a base function over the integers")

    def _log2(self, a: Any) -> Any:
        z3 = _z3()
        value = self.function("log2", [a])
        if not any(a.eq(b) for b, _ in self.logs):
            self.logs.append((a, value))
            self.axioms += [value >= 0, z3.Implies(a <= 1, value == 0), z3.Implies(a >= 1, value <= a - 1)]
            for step in range(1, LOG_STEPS + 1):
                self.axioms.append((a >= 2**step) == (value >= step))
        return value

    def growth(self) -> list[Any]:
        """How the logarithms met so far relate: monotone, and one more for twice the argument."""
        z3 = _z3()
        return [
            axiom
            for (a, u), (b, v) in permutations(self.logs, 2)
            for axiom in (
                z3.Implies(a <= b, u <= v),
                z3.Implies(z3.And(a >= 1, b >= 2 * a), v >= u + 1),
                z3.Implies(z3.And(a >= 1, b <= 2 * a + 1), v <= u + 1),
            )
        ]


def _literal(t: Any) -> int | None:
    z3 = _z3()
    t = z3.simplify(t)
    return int(t.as_long()) if z3.is_int_value(t) else None


def _ask(encoding: Encoding, claims: Iterable[Any], desk: Desk) -> Answer:
    """The answer of Z3: its plain solver, which decides most of what it decides in half the time, or else all of it."""
    z3 = _z3()
    plain = z3.SimpleSolver(ctx=encoding.context)
    asked = [*claims, *encoding.axioms, *encoding.growth()]
    plain.add(*asked)
    text = plain.to_smt2()

    def ask(limit: float) -> Answer:
        quick = _checked(plain, encoding, text, min(limit, QUICK))
        if quick.said != "unknown" or limit <= QUICK:
            return quick
        whole = z3.Solver(ctx=encoding.context)
        whole.add(*asked)  # of what the plain solver keeps, it may have made many
        return _checked(whole, encoding, text, limit - QUICK)

    return desk.answer(text, engine(), ask)


def _checked(solver: Any, encoding: Encoding, text: str, limit: float) -> Answer:
    z3 = _z3()
    solver.set("random_seed", 0)
    solver.set("max_memory", MEMORY)
    solver.set("rlimit", max(1, int(limit * STEPS)))  # 0 would be no limit
    solver.set("timeout", max(1, int(second.LONGER * limit * 1000)))
    said = str(solver.check())
    store: dict[str, Value] = {}
    if said == "sat":
        model = solver.model()
        for name, leaf in encoding.leaves.items():
            value = model.eval(leaf, model_completion=True)
            store[name] = z3.is_true(value) if z3.is_bool(value) else value.as_long()
    return Answer(said, store, text)


def _told(found: Refuted, sampler: Sampler) -> Refuted | Unknown:
    """The verdict by a store that refutes a claim: unknown where it made up what arrays hold, which need not keep
    contracts (claims have no more of these than is asked for); but no solver would prove it either."""
    return Unknown(found.engine, "what is known of the elements of arrays does not tell") if sampler.made_up else found


@dataclass
class Question:
    """A question to a solver: proved when no values satisfy the claims, refuted when some do and `real` finds the same,
    exactly.

    The sampler knows the names that `real` looks at. `free` is `real` where what is read, and what base types make of
    values, is made up: where a store shows that, a solver would find a model too, which nothing confirms. What is `far`
    may be refuted by values that are far apart.
    """

    sigma: Signature
    shared: X
    common_reads: bool
    sampler: Sampler
    claims: Callable[[Encoding], list[Any]]
    real: Real
    desk: Desk
    free: Real | None = None
    far: bool = False

    def told(self, most: float = inf) -> Verdict | None:
        """The verdict by stores, where one of the examples or of so many that are drawn tells."""
        desk, sampler = self.desk, self.sampler
        if known := desk.known(sampler, self.real, most):
            return _told(known, sampler)
        stores = partial(desk.fitting, sampler, most)
        if self.far and any(refuted(far, self.real) for store in stores() for far in sampler.apart(store)):
            return Unknown(KNOWN, "values may be far apart")
        if self.free is not None and any(refuted(store, self.free) for store in stores()):
            return Unknown(KNOWN, "it depends on what arrays hold, or on values of base types")
        return None

    @cached_property
    def hopeless(self) -> Verdict | None:
        """The verdict where a store that is found soon shows that nothing proves it."""
        return self.told(MORE if self.sampler.divided else SOON)

    def answer(self) -> Verdict:
        """The verdict, by a solver where no store tells."""
        return self.hopeless or self.told() or self._solved(self.desk)

    def _solved(self, desk: Desk) -> Verdict:
        z3 = _z3()
        encoding = Encoding(self.sigma, self.shared, self.common_reads)
        try:
            answer = _ask(encoding, self.claims(encoding), desk)
        except (z3.Z3Exception, ValueError) as problem:
            return Unknown(engine(), f"the solver failed: {problem}")
        name, said, store = engine(), answer.said, answer.store
        if said not in ("unsat", "sat"):
            name = second.engine()
            other = desk.answer(answer.text, name, lambda limit: Answer(*second.ask(answer.text, limit), answer.text))
            said = other.said
            store = {leaf: other.store.get(leaf, False if z3.is_bool(t) else 0) for leaf, t in encoding.leaves.items()}
        if said == "unsat":
            return Proved(name, "the negation has no model")
        if said != "sat":
            return Unknown(f"{engine()}, {name}", "no solver could decide it in time")
        store = {**self.sampler.zeros, **store}
        if known := refuted(store, self.real):
            desk.learn(store)
            return _told(replace(known, engine=name), self.sampler)
        if self.free is not None and self.sampler.fits(store):
            desk.learn(store)
        return Unknown(name, "the solver's model could not be confirmed")


def entails(o: Entails, facts: P, sigma: Signature, desk: Desk) -> Question:
    """P |- goal, for one arbitrary thread; the goal is not opaque, `facts` are P and what the launch says."""

    def claims(encoding: Encoding) -> list[Any]:
        return [*(encoding.term(f) for f in facts), _z3().Not(_z3().And(*(encoding.term(g) for g in o.goal)))]

    def real(store: Mapping[str, Value]) -> bool:
        return not all(value_of(g, store) for g in o.goal) and all(value_of(f, store) for f in facts)

    return Question(sigma, frozenset(), True, Sampler(facts, o.goal, sigma), claims, real, desk)


def at_least(o: AtLeast, facts: P, sigma: Signature, desk: Desk) -> Question:
    """q >= r, for one arbitrary thread; `facts` are P and what the launch says."""
    difference = o.q - o.r
    unknowns = leaves(difference) | {
        leaf for a in elements_in([difference]) for leaf in contents(a.op.removeprefix(ELEMENT))
    }

    def claims(encoding: Encoding) -> list[Any]:
        return [*(encoding.term(f) for f in facts), encoding.scaled(difference)[0] < 0]

    def real(store: Mapping[str, Value]) -> bool:
        values = {leaf: int(store[leaf_name(leaf)]) for leaf in unknowns}

        def element(array: str, i: int) -> int:
            rise, drop = contents(array)
            return values[rise] * i - values[drop]

        return evaluate(difference, values, element) < Fraction(0) and all(value_of(f, store) for f in facts)

    divided = any(isinstance(a, Apply) and a.op == "/" for a in atoms(difference))
    sampler = Sampler(facts, unknowns, sigma, divided=divided)
    return Question(sigma, frozenset(), True, sampler, claims, real, desk)


# --- two threads -----------------------------------------------------------------------------------------------------


_PLACE: Final[tuple[Leaf, ...]] = (Tid("x"), Tid("y"), Tid("z"), *(Param(f"blockDim.{axis}") for axis in "xyz"))
"""The leaves that a thread's number in its block is made of."""


@dataclass(frozen=True)
class Pair:
    """Two threads of one warp, or of one block: what is shared, and how the block is shaped."""

    context: Context
    sigma: Signature
    p: P
    x: X
    view: Callable[[], View]

    @property
    def in_rows(self) -> bool:
        return self.view().in_rows

    def same_warp(self) -> bool:
        """Whether they are, as their scope is a warp or the block is known to be one."""
        if self.context.scope == "warp":
            return True
        threads = self.view().threads
        return threads is not None and threads <= self.context.hardware.warp

    @cached_property
    def facts(self) -> P:
        """P and what the launch says."""
        return facts_of(self.p, self.context, self.sigma)

    @cached_property
    def needed(self) -> set[str]:
        """The names of what they mention, and of what a thread's number is made of."""
        return {leaf_name(leaf) for leaf in leaves_in(*self.facts).union(_PLACE)}

    def sampler(self, e: Expr, sigma: Signature) -> Sampler:
        """Stores for what P, the launch and e mention."""
        shared = (
            self.x
            | self.context.sigma.params.keys()
            | {leaf.name for a in self.context.sigma.stable for leaf in contents(a)}
        )
        return Sampler(self.facts, (*_PLACE, e), sigma, shared, (1, 2), self.context.hardware.warp)


def _linear(of: Callable[[Leaf], Any]) -> Any:
    """A thread's number in its block: x fastest, then y, then z."""
    x, y, z = (of(Tid(axis)) for axis in ("x", "y", "z"))
    return x + of(Param("blockDim.x")) * (y + of(Param("blockDim.y")) * z)


def _two_threads(pair: Pair, encoding: Encoding, together: bool) -> list[Any]:
    """P and the launch for both threads, which are of one warp, and not the same, where `together`."""
    claims = [encoding.term(f, t) for t in (1, 2) for f in pair.facts]
    if not together:
        return claims
    warp, size = encoding.integer("?warp"), pair.context.hardware.warp
    claims.append(encoding.integer("?lane@1") != encoding.integer("?lane@2"))
    for t in (1, 2):
        lane = encoding.integer(f"?lane@{t}")
        number = _linear(lambda leaf, t=t: encoding.leaf(leaf, t))  # type: ignore[misc]
        claims += [lane >= 0, lane < size, number == size * warp + lane]
        if pair.in_rows:
            row = encoding.integer("?row")
            claims.append(encoding.leaf(Tid("x"), t) == size * row + lane)
    if pair.in_rows:
        claims += [encoding.leaf(Tid(axis), 1) == encoding.leaf(Tid(axis), 2) for axis in ("y", "z")]
    return claims


def _both(store: Mapping[str, Value]) -> list[dict[str, Value]]:
    """The stores of the two threads."""
    base = {name.partition("@")[0] for name in store}
    return [
        {name: store[key] for name in base if (key := name if name in store else f"{name}@{t}") in store}
        for t in (1, 2)
    ]


def _really_two_threads(pair: Pair, stores: Sequence[Mapping[str, Value]]) -> bool:
    """Whether two stores are of two threads: they satisfy P, the launch and the scope, checked exactly."""
    for one in stores:
        if not pair.needed <= one.keys() or not all(value_of(f, one) for f in pair.facts):
            return False
    if pair.same_warp():
        first, second = (int(_linear(lambda leaf, s=s: int(s[leaf_name(leaf)]))) for s in stores)  # type: ignore[misc]
        return first != second and first // pair.context.hardware.warp == second // pair.context.hardware.warp
    return True


def uniform(o: Uniform, pair: Pair, desk: Desk) -> Question:
    """P; X |- e unif: two threads that differ on e do not exist."""
    e, sigma = prepared(o.expr, pair.sigma)

    def claims(encoding: Encoding) -> list[Any]:
        threads = _two_threads(pair, encoding, pair.same_warp())
        return [*threads, encoding.term(e, 1) != encoding.term(e, 2)]

    def real(store: Mapping[str, Value], ways: Iterable[Mapping[str, Value]] = PLAIN) -> bool:
        stores = _both(store)
        differ = any(value_of(e, {**stores[0], **way}) != value_of(e, {**stores[1], **way}) for way in ways)
        return differ and _really_two_threads(pair, stores)

    return Question(sigma, o.x, pair.same_warp(), pair.sampler(e, sigma), claims, real, desk, _free(e, real))


def _free(e: Expr, real: Callable[[Mapping[str, Value], Iterable[Mapping[str, Value]]], bool]) -> Real | None:
    """`real` with values made up in some ways, where e needs some."""
    return (lambda store: real(store, MADE_UP)) if any(map(is_made_up, subterms(e))) else None


def at_most(o: AtMost, pair: Pair, desk: Desk) -> Verdict:
    """A count by the span of the indices: as many units as that many neighbouring elements can touch."""
    array, hardware = pair.sigma.arrays[o.array], pair.context.hardware
    phases = phase_count(array.width, hardware) if o.what == "Conflicts" else 1
    each = (o.n - 1) // phases + 1  # of a phase, each of which may have as many
    span = bisect_right(range(MAX_SPAN), each, key=lambda d: span_count(o.what, array, hardware, d)) - 1
    if span < 0:
        return Unknown(engine(), "one element may touch more")
    index, sigma = prepared(o.index, pair.sigma)

    def claims(encoding: Encoding) -> list[Any]:
        threads = _two_threads(pair, encoding, True)
        return [*threads, encoding.term(index, 1) - encoding.term(index, 2) > span]

    def real(store: Mapping[str, Value], ways: Iterable[Mapping[str, Value]] = PLAIN) -> bool:
        stores = _both(store)
        far = any(
            int(value_of(index, {**stores[0], **way})) - int(value_of(index, {**stores[1], **way})) > span
            for way in ways
        )
        return far and _really_two_threads(pair, stores)

    free = _free(index, real)
    verdict = Question(sigma, o.x, True, pair.sampler(index, sigma), claims, real, desk, free, far=True).answer()
    return verdict if isinstance(verdict, Proved) else Unknown(engine(), f"indices may be more than {span} apart")
