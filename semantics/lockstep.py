"""The lock-step cost semantics (Muller and Hoffmann, POPL 2021, Fig. 3, p. 8): the reference engine.

    sigma; e |_T R; C          evaluate(e, store, T, machine) = (R, C)
    sigma; s ||_T sigma'; C    execute(s, store, T, machine)  = (sigma', C)

Each rule is one function with its cost on its last line. A rule for a statement returns the cost that it adds itself
and what is left to run, `(s, T)` pairs in order, whose own costs (C2 and C3 in the print) are added when they run:
so neither a long sequence nor a long loop nests anything. Costs are exact and kept for several metrics at once.

Choices where the paper leaves one:
- MemReads and Conflicts are those of `logic.metrics`, on byte addresses from a base of 0 (aligned: an assumption);
  a T of several warps pays the maximum over its warps.
- If the threads of T write one element at once, the one with the highest linear id wins.
- A negative index, and one at or beyond a known length, is out of bounds: the read gives the type's default, the
  write is lost. Elsewhere an array has its initial contents.
- `sync` costs M.sync and does nothing (section 3); `phases` lets a caller stop there, which is how `semantics.grid`
  runs a block's warps from barrier to barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from logic.metrics import HARDWARE, METRICS, Hardware, Metric, conflicts_by_lane, sectors
from logic.source import SourceError
from logic.syntax import (
    Array,
    Assign,
    Assume,
    Const,
    Exchange,
    Expr,
    If,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Sync,
    Tid,
    Type,
    Var,
    While,
    Write,
    show,
)
from logic.typing import Signature, type_of
from semantics import exchange
from semantics.events import Dim, Event, Observer, Thread, Threads
from semantics.values import Value, converted, default, literal, operation, unknown

STEP_LIMIT = 1_000_000


class StepLimit(SourceError):
    """A warp ran longer than the step limit; `cost` is what it had paid by then."""

    def __init__(self, limit: int, loop: While | None, cost: Cost) -> None:
        where = f" at {loop.loc}" if loop and loop.loc else ""
        message = f"the {'loop' if loop else 'program'}{where} did not end within {limit} steps"
        super().__init__(message, loop.loc if loop else None, "Raise --step-limit if it does end.")
        self.cost = cost


class Broken(SourceError):
    """An `assume` that is false at an active thread: the run is not one of those that a claim speaks of."""

    def __init__(self, s: Assume, thread: Thread) -> None:
        x, y, z = thread.tid
        told = f"the assumption {show(s.cond)} does not hold at thread ({x}, {y}, {z})"
        super().__init__(f"{told} of block {thread.block}", s.loc, "A bound says nothing of such a run.")
        self.block, self.split = thread.block, None


# --- the store sigma, the machine, costs -----------------------------------------------------------------------------


@dataclass(slots=True)
class Store:
    """sigma: (Arrays x Z) and (LocalVars x Threads) to values. What was never written is absent.

    `execute` leaves its argument as it was and returns a new store; inside, and in `phases`, one is updated in place.
    """

    arrays: dict[str, dict[int, Value]] = field(default_factory=dict)
    locals: dict[str, dict[Thread, Value]] = field(default_factory=dict)

    def copy(self) -> Store:
        return Store({a: dict(c) for a, c in self.arrays.items()}, {x: dict(v) for x, v in self.locals.items()})


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost in each of a machine's metrics, in their order."""

    parts: tuple[Fraction, ...]

    def __add__(self, other: Cost) -> Cost:
        return Cost(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


@dataclass(frozen=True, slots=True)
class Initial:
    """An array before the run: `value(i)` at index i (absent: the type's default), `length` elements where known."""

    value: Callable[[int], Value] | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """The setting of a judgement: all that it depends on besides sigma, T and the term.

    `params` gives every parameter that the program reads its value, the built-in ones included; `block` is blockDim,
    which numbers the threads and divides them into warps; `initial` is what arrays hold where nothing was written.
    """

    sigma: Signature
    params: Mapping[str, Value]
    block: Dim
    metrics: tuple[Metric, ...] = tuple(METRICS.values())
    hardware: Hardware = HARDWARE["nvidia"]
    initial: Mapping[str, Initial] = field(default_factory=dict)
    step_limit: int = STEP_LIMIT
    observer: Observer | None = None
    exchanges: Mapping[int, Exchange] = field(default_factory=dict)
    _prices: dict[tuple[str, int | None], Cost] = field(default_factory=dict, init=False, repr=False, compare=False)
    _types: dict[int, tuple[Expr, Type]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def nothing(self) -> Cost:
        return Cost((Fraction(0),) * len(self.metrics))

    def pay(self, constant: str, term: Expr | Stmt, threads: Threads, access: Access | None = None) -> Cost:
        """M.constant, or M.constant(n) for an access of n sectors or conflicts; the observer sees it."""
        count = access.n if access else None
        price = self._prices.get((constant, count))
        if price is None:
            price = Cost(tuple(m.cost(constant) if count is None else m.count(constant, count) for m in self.metrics))
            self._prices[constant, count] = price
        if self.observer:
            seen = (access.indices, access.values) if access else ()
            self.observer(Event(constant, count, term, threads, *seen))
        return price

    def named(self, cost: Cost) -> dict[str, Fraction]:
        """A cost by the names of the metrics."""
        return {m.name: part for m, part in zip(self.metrics, cost.parts, strict=True)}

    def type_of(self, e: Expr) -> Type:
        """tau with Sigma |- e : tau, remembered for the term (the entry keeps it alive, so its id stays its own)."""
        found = self._types.get(id(e))
        if found is None:
            found = self._types[id(e)] = (e, type_of(e, self.sigma))
        return found[1]

    def length(self, array: Array) -> int | None:
        """The number of elements, where it is known."""
        return self.initial[array.name].length if array.name in self.initial else array.length


def linear(tid: Dim, block: Dim) -> int:
    """A thread's number in its block: x + blockDim.x * (y + blockDim.y * z)."""
    return tid[0] + block[0] * (tid[1] + block[1] * tid[2])


def ordered(threads: Iterable[Thread], block: Dim) -> Threads:
    """T, each thread once, in ascending order. Raises ValueError for an empty one: no judgement is about it."""
    found = tuple(sorted(set(threads), key=lambda t: (t.block, linear(t.tid, block))))
    if not found:
        raise ValueError("the set T of active threads is empty")
    return found


# --- reads and writes ------------------------------------------------------------------------------------------------


Warp = tuple[Dim, int]
"""A warp: its block's index, its number in the block."""


def warp_of(t: Thread, machine: Machine) -> Warp:
    """WarpOf(t)"""
    return t.block, linear(t.tid, machine.block) // machine.hardware.warp


class Access(NamedTuple):
    """The indices of one access, its MemReads (global) or Conflicts (shared) in each warp of T, and what it writes."""

    indices: tuple[int, ...]
    counts: dict[Warp, int]
    values: tuple[Value, ...] = ()

    @property
    def n(self) -> int:
        """MemReads(R) or Conflicts(R): the maximum over the warps of T (section 2)."""
        return max(self.counts.values())


def _access(
    array: Array, r: Mapping[Thread, Value], machine: Machine, written: Mapping[Thread, Value] | None = None
) -> Access:
    warps: dict[Warp, dict[int, int]] = {}
    for t, i in r.items():
        lane = linear(t.tid, machine.block) % machine.hardware.warp
        warps.setdefault(warp_of(t, machine), {})[lane] = array.stride * int(i) + array.offset
    if array.space == "global":
        counts = {w: sectors(list(at.values()), array.width, machine.hardware) for w, at in warps.items()}
    else:
        counts = {w: conflicts_by_lane(at, array.width, machine.hardware) for w, at in warps.items()}
    return Access(tuple(int(i) for i in r.values()), counts, tuple(written.values()) if written else ())


def in_bounds(i: int, length: int | None) -> bool:
    return i >= 0 and (length is None or i < length)


def load(array: Array, i: int, store: Store, machine: Machine) -> Value:
    """sigma(A, i)"""
    if not in_bounds(i, machine.length(array)):
        return default(array.elem)
    contents = store.arrays.get(array.name, {})
    if i in contents:
        return contents[i]
    value = machine.initial[array.name].value if array.name in machine.initial else None
    return value(i) if value else default(array.elem)


def _update(array: Array, r1: dict[Thread, Value], r2: dict[Thread, Value], store: Store, machine: Machine) -> None:
    """sigma[(A, R1(t)) |-> R2(t) | t in T], in ascending order of threads: the last one wins."""
    contents = store.arrays.setdefault(array.name, {})
    length = machine.length(array)
    for t, i in r1.items():
        if in_bounds(int(i), length):
            contents[int(i)] = r2[t]


# --- expressions -----------------------------------------------------------------------------------------------------

Result = tuple[dict[Thread, Value], Cost]


def evaluate(e: Expr, store: Store, threads: Iterable[Thread], machine: Machine) -> Result:
    """sigma; e |_T R; C. Raises ValueError for an empty T."""
    return expression(e, store, ordered(threads, machine.block), machine)


def expression(e: Expr, sigma: Store, t: Threads, m: Machine) -> Result:
    """The rule for e, on threads in ascending order."""
    match e:
        case Var():
            return oc_var(e, sigma, t, m)
        case Const():
            return oc_const(e, sigma, t, m)
        case Param():
            return oc_param(e, sigma, t, m)
        case Tid():
            return oc_tid(e, sigma, t, m)
        case Op():
            return ec_op(e, sigma, t, m)
        case Read(array):
            return (ec_garr if m.sigma.arrays[array].space == "global" else ec_sarr)(e, sigma, t, m)


def oc_var(e: Var, sigma: Store, t: Threads, m: Machine) -> Result:
    """OC:Var    sigma; x |_T (sigma(x, t)); M.var"""
    values = sigma.locals.get(e.name, {})
    absent = default(m.sigma.locals[e.name])
    r = {u: values.get(u, absent) for u in t}
    return r, m.pay("var", e, t)


def oc_const(e: Const, sigma: Store, t: Threads, m: Machine) -> Result:
    """OC:Const    sigma; c |_T (c); M.const"""
    r = dict.fromkeys(t, literal(e))
    return r, m.pay("const", e, t)


def oc_param(e: Param, sigma: Store, t: Threads, m: Machine) -> Result:
    """OC:Param    sigma; p |_T (p); M.param"""
    r = dict.fromkeys(t, m.params[e.name])
    return r, m.pay("param", e, t)


def oc_tid(e: Tid, sigma: Store, t: Threads, m: Machine) -> Result:
    """OC:Tid    sigma; tid |_T (Tid(t)); M.var"""
    axis = "xyz".index(e.axis)
    r: dict[Thread, Value] = {u: u.tid[axis] for u in t}
    return r, m.pay("var", e, t)


def ec_op(e: Op, sigma: Store, t: Threads, m: Machine) -> Result:
    """EC:Op    sigma; e1 op e2 |_T (R1(t) op R2(t)); C1 + C2 + M.op"""
    rs, cs = zip(*(expression(a, sigma, t, m) for a in e.args), strict=True)
    if exchange.kind(e):
        return exchanged(e, sigma, t, m), sum(cs, m.pay("op", e, t))
    op = operation(e.op, m.type_of(e.args[-1]), m.type_of(e), e.loc)
    r = {u: op(tuple(ri[u] for ri in rs)) for u in t}
    return r, sum(cs, m.pay("op", e, t))


def exchanged(e: Op, sigma: Store, t: Threads, m: Machine) -> dict[Thread, Value]:
    """The values that the threads of T get from others of their warp, by a shuffle or a vote. Raises ValueProblem for
    what PTX leaves undefined, and where the kernel does not say what is passed."""
    k = exchange.number(e)
    if k is None:
        return dict.fromkeys(t, 0.0)
    if k not in m.exchanges:
        raise unknown(e, "")
    warps: dict[Warp, dict[int, Thread]] = {}
    for u in t:
        warps.setdefault(warp_of(u, m), {})[linear(u.tid, m.block) % m.hardware.warp] = u
    found: dict[Thread, Value] = {}
    for lanes in warps.values():
        got = _passed(e, m.exchanges[k], lanes, sigma, m)
        found |= {u: converted(got[lane], m.type_of(e)) for lane, u in lanes.items()}
        if any(isinstance(got[lane], int) and found[u] != got[lane] for lane, u in lanes.items()):
            raise unknown(e, ", a number of more than 53 bits")
    return {u: found[u] for u in t}


def _passed(e: Op, x: Exchange, lanes: Mapping[int, Thread], sigma: Store, m: Machine) -> dict[int, Value]:
    """The values that the active lanes of one warp get."""
    value, by, width, mask = (
        {lane: 0 if part is None else _leaf(part, u, sigma, m) for lane, u in lanes.items()}
        for part in (x.value, x.by, x.width, x.mask)
    )
    name, got = exchange.kind(e), dict[int, Value]()
    for lane in lanes:
        if name not in exchange.SHUFFLES:
            got[lane] = exchange.voted(name, lane, value, None if x.mask is None else int(mask[lane]))
            continue
        other = exchange.source(name, lane, int(by[lane]), int(width[lane]), m.hardware.warp)
        if other is None:
            raise unknown(e, f" with a width of {width[lane]}")
        if other not in lanes:
            raise unknown(e, f" from lane {other}, which is not active")
        got[lane] = value[other]
    return got


def _leaf(e: Expr, u: Thread, sigma: Store, m: Machine) -> Value:
    """The value of a name or a literal, for nothing."""
    match e:
        case Var(name):
            return sigma.locals.get(name, {}).get(u, default(m.sigma.locals[name]))
        case Param(name):
            return m.params[name]
        case Tid(axis):
            return u.tid["xyz".index(axis)]
        case Const():
            return literal(e)
    raise ValueError("an exchange of more than names and literals")


def ec_garr(e: Read, sigma: Store, t: Threads, m: Machine) -> Result:
    """EC:GArr    sigma; G[e] |_T (sigma(G, R(t))); C + M.gread(MemReads(R))"""
    g = m.sigma.arrays[e.array]
    r1, c1 = expression(e.index, sigma, t, m)
    r = {u: load(g, int(i), sigma, m) for u, i in r1.items()}
    return r, c1 + m.pay("gread", e, t, _access(g, r1, m))


def ec_sarr(e: Read, sigma: Store, t: Threads, m: Machine) -> Result:
    """EC:SArr    sigma; S[e] |_T (sigma(S, R(t))); C + M.sread(Conflicts(R))"""
    s = m.sigma.arrays[e.array]
    r1, c1 = expression(e.index, sigma, t, m)
    r = {u: load(s, int(i), sigma, m) for u, i in r1.items()}
    return r, c1 + m.pay("sread", e, t, _access(s, r1, m))


# --- statements ------------------------------------------------------------------------------------------------------

Rest = tuple[tuple[Stmt, Threads], ...]
"""The statements left to run after a rule: statements, each with its active threads, in order."""

Step = tuple[Cost, Rest]


def execute(s: Stmt, store: Store, threads: Iterable[Thread], machine: Machine) -> tuple[Store, Cost]:
    """sigma; s ||_T sigma'; C. The store given stays as it was.

    Raises ValueError for an empty T and StepLimit where s runs for more than the machine's step limit.
    """
    after = store.copy()
    run = phases(s, after, threads, machine)
    while True:
        try:
            next(run)
        except StopIteration as end:
            return after, end.value


class Barrier(NamedTuple):
    """A `sync` about to be executed: by these threads; `split` is the statement that parted them from others."""

    sync: Sync
    threads: Threads
    split: Stmt | None


class _Frame(NamedTuple):
    stmt: Stmt
    threads: Threads
    split: Stmt | None
    again: bool  # a loop that has run its body before


def phases(s: Stmt, store: Store, threads: Iterable[Thread], machine: Machine) -> Generator[Barrier, None, Cost]:
    """Runs s, updating the store in place, and stops before each `sync`; returns the cost.

    A step is one use of a rule for statements. Raises as `execute` does.
    """
    todo = [_Frame(s, ordered(threads, machine.block), None, False)]
    cost = machine.nothing
    steps = 0
    while todo:
        stmt, t, split, _ = frame = todo.pop()
        if isinstance(stmt, Sync):
            yield Barrier(stmt, t, split)
        steps += 1
        if steps > machine.step_limit:
            loops = (f.stmt for f in (*todo, frame) if f.again and isinstance(f.stmt, While))
            raise StepLimit(machine.step_limit, next(loops, None), cost)
        own, rest = step(stmt, store, t, machine)
        cost = cost + own
        todo.extend(
            _Frame(after, active, split if len(active) == len(t) else stmt, after is stmt)
            for after, active in reversed(rest)
        )
    return cost


def step(s: Stmt, sigma: Store, t: Threads, m: Machine) -> Step:
    """The rule for s, on threads in ascending order; the store is updated in place."""
    match s:
        case Skip():
            return sc_skip(s, sigma, t, m)
        case Seq():
            return sc_seq(s, sigma, t, m)
        case Sync():
            return sc_sync(s, sigma, t, m)
        case Assume():
            return sc_assume(s, sigma, t, m)
        case Assign():
            return sc_vwrite(s, sigma, t, m)
        case Write(array):
            return (sc_gwrite if m.sigma.arrays[array].space == "global" else sc_swrite)(s, sigma, t, m)
        case If(cond):
            r, c1 = expression(cond, sigma, t, m)
            match sides(t, r):
                case _, ():
                    return sc_if_t(s, c1, t, m)
                case (), _:
                    return sc_if_f(s, c1, t, m)
                case t_true, t_false:
                    return sc_if_d(s, c1, t, t_true, t_false, m)
        case While(cond):
            r, c1 = expression(cond, sigma, t, m)
            match sides(t, r):
                case _, ():
                    return sc_while_all(s, c1, t, m)
                case (), _:
                    return sc_while_none(s, c1, t, m)
                case t_true, _:
                    return sc_while_some(s, c1, t, t_true, m)


def sides(t: Threads, r: Mapping[Thread, Value]) -> tuple[Threads, Threads]:
    """T_true and T_false"""
    return tuple(u for u in t if r[u]), tuple(u for u in t if not r[u])


def sc_skip(s: Skip, sigma: Store, t: Threads, m: Machine) -> Step:
    """SC:Skip    sigma; skip ||_T sigma; 0"""
    return m.nothing, ()


def sc_seq(s: Seq, sigma: Store, t: Threads, m: Machine) -> Step:
    """SC:Seq    C(s1) + C(s2) + ...: nothing of its own"""
    return m.nothing, tuple((si, t) for si in s.stmts)


def sc_sync(s: Sync, sigma: Store, t: Threads, m: Machine) -> Step:
    """SC:Sync (ours, after Fig. 6)    sigma; sync ||_T sigma; M.sync"""
    return m.pay("sync", s, t), ()


def sc_assume(s: Assume, sigma: Store, t: Threads, m: Machine) -> Step:
    """SC:Assume (ours)    sigma; assume e ||_T sigma; 0 where R is true at all of T. Raises Broken where it is not."""
    r, _ = expression(s.cond, sigma, t, replace(m, observer=None))
    broken = next((u for u in t if not r[u]), None)
    if broken is not None:
        raise Broken(s, broken)
    return m.nothing, ()


def sc_vwrite(s: Assign, sigma: Store, t: Threads, m: Machine) -> Step:
    """SC:VWrite    sigma; x <- e ||_T sigma[(x, t) |-> R(t)]; C + M.vwrite"""
    r, c = expression(s.value, sigma, t, m)
    sigma.locals.setdefault(s.var, {}).update(r)
    return c + m.pay("vwrite", s, t), ()


def sc_gwrite(s: Write, sigma: Store, t: Threads, m: Machine) -> Step:
    """SC:GWrite    sigma; G[o] <- e ||_T sigma[(G, R1(t)) |-> R2(t)]; C1 + C2 + M.gwrite(MemReads(R1))"""
    g = m.sigma.arrays[s.array]
    r1, c1 = expression(s.index, sigma, t, m)
    r2, c2 = expression(s.value, sigma, t, m)
    _update(g, r1, r2, sigma, m)
    return c1 + c2 + m.pay("gwrite", s, t, _access(g, r1, m, r2)), ()


def sc_swrite(s: Write, sigma: Store, t: Threads, m: Machine) -> Step:
    """SC:SWrite    sigma; S[o] <- e ||_T sigma[(S, R1(t)) |-> R2(t)]; C1 + C2 + M.swrite(Conflicts(R1))"""
    a = m.sigma.arrays[s.array]
    r1, c1 = expression(s.index, sigma, t, m)
    r2, c2 = expression(s.value, sigma, t, m)
    _update(a, r1, r2, sigma, m)
    return c1 + c2 + m.pay("swrite", s, t, _access(a, r1, m, r2)), ()


def sc_if_t(s: If, c1: Cost, t: Threads, m: Machine) -> Step:
    """SC:IfT    C1 + M.if + C(s1 on T)"""
    return c1 + m.pay("if", s, t), ((s.then, t),)


def sc_if_f(s: If, c1: Cost, t: Threads, m: Machine) -> Step:
    """SC:IfF    C1 + M.if + C(s2 on T)"""
    return c1 + m.pay("if", s, t), ((s.orelse, t),)


def sc_if_d(s: If, c1: Cost, t: Threads, t_true: Threads, t_false: Threads, m: Machine) -> Step:
    """SC:IfD    C1 + M.if + C(s1 on T_true) + C(s2 on T_false, from s1's store) + M.div"""
    return c1 + m.pay("if", s, t) + m.pay("div", s, t), ((s.then, t_true), (s.orelse, t_false))


def sc_while_all(s: While, c1: Cost, t: Threads, m: Machine) -> Step:
    """SC:WhileAll    C1 + C(body on T) + M.if + C(loop on T)"""
    return c1 + m.pay("if", s, t), ((s.body, t), (s, t))


def sc_while_some(s: While, c1: Cost, t: Threads, t_true: Threads, m: Machine) -> Step:
    """SC:WhileSome    C1 + C(body on T_true) + M.if + M.div + C(loop on T_true)"""
    return c1 + m.pay("if", s, t) + m.pay("div", s, t), ((s.body, t_true), (s, t_true))


def sc_while_none(s: While, c1: Cost, t: Threads, m: Machine) -> Step:
    """SC:WhileNone    C1 + M.if"""
    return c1 + m.pay("if", s, t), ()
