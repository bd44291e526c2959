"""How long a kernel takes on a device, by the model of Kothapalli et al. (HiPC 2009, section 3): an estimate, no bound.

    T(P) = sum over kernels T(K)                                        equation 1
    T(K) = N_B * N_w * N_t * C_T / (N_C * D) / R                        equations 3 and 4
    C_T  = max(N_comp, N_memory)  or  N_comp + N_memory                 the models MAX and SUM

N_B = ceil(grid / multiprocessors) blocks come to a multiprocessor one after the other, N_w = ceil(block / warp) warps
a block, N_t threads a warp, on N_C cores with pipelines of D stages at R cycles a second. N_comp and N_memory are the
cycles of the slowest thread. They are bounds that the kernel certifies, under metrics made from the device's prices, of
what any `group` of threads pays: threads whose accesses memory serves together, half a warp on the oldest devices.

A metric has one price for all operators, a device has several. So the bounds are found for the kernel with idle
operations put in: one that costs p units has p - 1 of them beside it (`priced`), and a unit is what every operator
costs. The cost of that program under the metric is the cost of the kernel under the device's prices, to the last cycle.

An access of L cycles that is served in n transactions costs a thread (L + k)/k, k = group/n threads a transaction, and
L where every thread has a transaction to itself (section 3.2.2). That is min(L, L*n/group + 1), so bounds under the
price L and under the price L*n/group + 1 both hold, and the smaller one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import factorial, gcd, lcm
from typing import Final, Literal

from checker.analysis.idle import idle, with_idle
from checker.notation.annotations import Limit
from checker.oracles import Oracles
from checker.synthesis.bound import Result, find_bounds
from checker.synthesis.outline import Block, Branch, Item, Loop, Outline, Plain
from logic.assertions import AtLeast, Context, Proved, conj
from logic.metrics import Hardware, Linear, Metric
from logic.potentials import Leaf, Poly, evaluate, leaves, substitute, sym
from logic.syntax import FLOAT, INT, Assign, Assume, Expr, Op, Param, Skip, Stmt, Sync, Write, subterms
from logic.typing import Signature, type_of

Model = Literal["max", "sum"]

OPERATORS: Final = ("add", "multiply", "divide", "float", "float_divide", "double", "function", "convert")
"""The classes of operations that a device has prices for: `add` is every integer operator in no other class, `divide`
is the modulus, too."""

MEMORY: Final = ("global", "shared")

CYCLES: Final = (*OPERATORS, *MEMORY, "barrier", "branch")

MOST_UNITS: Final = 200
"""The dearest operator in units, the common measure of all prices: each unit is an operation of the priced program."""


class Misfit(ValueError):
    """A figure of a device does not fit, or not to others: `key` is its name."""

    def __init__(self, told: str, key: str) -> None:
        super().__init__(told)
        self.key = key


@dataclass(frozen=True, slots=True)
class Device:
    """A device profile. `clock` is in Hz, `segment` and `word` in bytes, `cycles` has a figure for each of CYCLES.

    Raises Misfit for a size below 1, an operator that is free, and prices without a common unit of a fair size.
    """

    name: str
    multiprocessors: int
    cores: int
    depth: int
    clock: int
    warp: int
    group: int
    segment: int
    banks: int
    word: int
    cycles: Mapping[str, Fraction]

    def __post_init__(self) -> None:
        for size in SIZES:
            if getattr(self, size) < 1:
                raise Misfit("the sizes of a device are positive", size)
        if self.warp % self.group:
            raise Misfit("a warp is served in whole groups, 'group' threads each", "group")
        for name in OPERATORS:
            if self.cycles[name] <= 0:
                raise Misfit(f"an operator takes time: 'cycles.{name}' has to be positive", name)
        if max(self.cycles[name] for name in OPERATORS) > MOST_UNITS * common_unit(self.cycles[n] for n in OPERATORS):
            told = f"the operators' 'cycles' are not multiples, up to {MOST_UNITS}, of one number"
            raise Misfit(told, "cycles")


SIZES: Final = ("multiprocessors", "cores", "depth", "clock", "warp", "group", "segment", "banks", "word")


def common_unit(prices: Iterable[Fraction]) -> Fraction:
    """The greatest number that all of them are multiples of; 1 for none."""

    def measure(a: Fraction, b: Fraction) -> Fraction:
        return Fraction(gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)

    found = list(prices)
    return reduce(measure, found) if found else Fraction(1)


# --- the priced program ----------------------------------------------------------------------------------------------


def operator_class(e: Op, sigma: Signature) -> str:
    """The price of OPERATORS that an operator has."""
    if e.op.startswith("call:"):
        return "function"
    operand = type_of(e.args[-1], sigma)
    if e.op.startswith("as:") or (e.op == "int" and operand.kind == "base"):
        return "convert"
    if operand.kind == "base":
        return "float_divide" if e.op == "/" else "float" if operand.size <= FLOAT.size else "double"
    return {"*": "multiply", "/": "divide", "%": "divide"}.get(e.op, "add")


def priced(outline: Outline, device: Device) -> tuple[Outline, Fraction]:
    """The outline with idle operations beside dear operators, and the cycles of one operation.

    Its conditions and hints stay. A condition's idle operations come before an `if`, before a loop and at the end of
    its body: where the condition is evaluated, on the same threads.
    """
    sigma = outline.context.sigma
    used = {device.cycles[operator_class(e, sigma)] for e in _subterms(outline.body) if isinstance(e, Op)}
    unit = common_unit(used)

    def more(*terms: Expr) -> list[Item]:
        ops = [e for term in terms for e in subterms(term) if isinstance(e, Op)]
        operators = sum(device.cycles[operator_class(e, sigma)] / unit - 1 for e in ops)
        return [idle(int(operators))] if operators else []

    def walk(block: Block) -> Block:
        items: list[Item] = []
        for item in block:
            match item:
                case Plain(stmt):
                    items += [*more(*_terms(stmt)), item]
                case Branch(cond, then, orelse):
                    items += [*more(cond), replace(item, then=walk(then), orelse=walk(orelse))]
                case Loop(cond, _, body):
                    items += [*more(cond), replace(item, body=(*walk(body), *more(cond)))]
                case _:
                    items.append(item)
        return tuple(items)

    return with_idle(outline, walk(outline.body)), unit


def _terms(s: Stmt) -> tuple[Expr, ...]:
    match s:
        case Assign(_, e):
            return (e,)
        case Write(_, i, e):
            return (i, e)
        case Skip() | Sync() | Assume():
            return ()
    raise TypeError(f"{type(s).__name__} has statements inside it")


def _subterms(block: Block) -> Iterable[Expr]:
    """Every expression in a program."""
    terms: tuple[Expr, ...]
    inner: Block
    for item in block:
        match item:
            case Plain(stmt):
                terms, inner = _terms(stmt), ()
            case Branch(cond, then, orelse):
                terms, inner = (cond,), (*then, *orelse)
            case Loop(cond, _, body):
                terms, inner = (cond,), body
            case _:
                continue
        yield from (e for term in terms for e in subterms(term))
        yield from _subterms(inner)


# --- metrics ---------------------------------------------------------------------------------------------------------


def hardware(device: Device) -> Hardware:
    """The device for the logic, whose warps are the groups that memory serves together. Raises Misfit where a
    segment is no part of an alignment."""
    alignment = lcm(256, device.word)
    if alignment % device.segment:
        raise Misfit("the alignment has to be a multiple of the sector and the word", "segment")
    return Hardware(device.name, device.segment, device.banks, device.word, device.group, alignment)


def computation(device: Device, unit: Fraction) -> Metric:
    """The cycles of N_comp in a priced program."""
    return Metric("N_comp", {"op": unit, "if": device.cycles["branch"], "sync": device.cycles["barrier"]})


def memory(device: Device, contention: Fraction | None = None) -> tuple[Metric, Metric]:
    """The cycles of N_memory by transactions, and as if every thread had its own; both are at least the model's.

    `contention` is an estimate of the threads that contend for a bank, for every access to shared memory.
    """
    latency, bank = device.cycles["global"], device.cycles["shared"]
    once = Linear(bank, Fraction(0)) if contention is None else Linear(Fraction(0), bank * contention)
    each = Linear(latency / device.group, Fraction(1))
    shared = {"sread": once, "swrite": once}
    alone = Linear(Fraction(0), latency)
    return (
        Metric("N_memory", counted={"gread": each, "gwrite": each, **shared}),
        Metric("N_memory-uncoalesced", counted={"gread": alone, "gwrite": alone, **shared}),
    )


def expected_contention(lanes: int, banks: int, bins: int) -> Fraction:
    """The expected largest number of threads at one bank, where each of `lanes` threads takes one of `bins` words that
    follow one another, all equally likely and independent (HiPC 2009, section 3.2.2, on randomised accesses)."""
    few, more = divmod(bins, banks)  # `more` banks have one word more than the others

    def at_most(m: int) -> Fraction:
        """P(no bank has more than m threads), by the product of the banks' exponential generating functions."""
        ways = [Fraction(1)] + [Fraction(0)] * lanes
        for words, count in ((few, banks - more), (few + 1, more)):
            one = [Fraction(words**j, factorial(j)) if j <= m else Fraction(0) for j in range(lanes + 1)]
            ways = _product(ways, _power(one, count))
        return ways[lanes] * Fraction(factorial(lanes), bins**lanes)

    return sum((1 - at_most(m) for m in range(lanes)), Fraction(0))


Series = list[Fraction]
"""The coefficients of a power series up to some degree."""


def _product(a: Series, b: Series) -> Series:
    return [sum((a[j] * b[n - j] for j in range(n + 1)), Fraction(0)) for n in range(len(a))]


def _power(a: Series, exponent: int) -> Series:
    found = [Fraction(1)] + [Fraction(0)] * (len(a) - 1)
    while exponent:
        if exponent % 2:
            found = _product(found, a)
        a, exponent = _product(a, a), exponent // 2
    return found


# --- the certified terms ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Terms:
    """N_comp and N_memory: a thread takes at most the least of `memory` cycles for its accesses.

    `expected` is N_memory with an estimated contention in place of the certified one; `results` are the proofs, and
    `limits` the limits that the terms rest on.
    """

    computation: Poly
    memory: tuple[Poly, ...]
    expected: tuple[Poly, ...] | None
    results: tuple[Result, ...]
    limits: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class Uncertified:
    """Why there are no terms: what became of one metric."""

    result: Result | None
    reason: str


def find_terms(
    outline: Outline, device: Device, oracle: Oracles, limits: Sequence[Limit] = (), contention: Fraction | None = None
) -> Terms | Uncertified:
    """The terms of a kernel. The context's hardware has to be that of the device; its metric is not looked at."""
    if device.group != device.warp and Param("warpSize") in _subterms(outline.body):
        return Uncertified(None, f"it mentions warpSize, but memory serves {device.group} threads of a warp at a time")
    program, unit = priced(outline, device)
    metrics = (computation(device, unit), *memory(device), *(memory(device, contention) if contention else ()))
    results = find_bounds(program, metrics, oracle, hinted="")
    polys = []
    used: list[Limit] = []
    for result in results:
        if result.claim is None or result.verdict != "certified":
            return Uncertified(result, "")
        q = result.claim.bound
        for limit in limits:
            if Param(limit.name) in leaves(q):
                limited = below(q, limit, program.context, oracle)
                if limited is None:
                    return Uncertified(None, f"{result.metric.name} is not known to grow with '{limit.name}': {q}")
                q = limited
                used += [limit] if limit not in used else []
        hidden = sorted(x.name for x in leaves(q) if x.name.startswith(("blockIdx.", "warp.")))
        if hidden:
            return Uncertified(None, f"{result.metric.name} depends on {hidden[0]}, and differs between blocks: {q}")
        polys.append(q)
    comp, *rest = polys
    mem = _smallest(rest[:2], program.context, oracle)
    expected = _smallest(rest[2:], program.context, oracle) if contention else None
    return Terms(comp, mem, expected, tuple(results), tuple(used))


def below(q: Poly, limit: Limit, context: Context, oracle: Oracles) -> Poly | None:
    """q at the most that a parameter may be, where q is proved to grow with it; None where it is not."""
    bound = Param(f"limit.{limit.name}")
    sigma = replace(context.sigma, params={**context.sigma.params, bound.name: INT})
    here = Param(limit.name)
    larger = substitute(q, {here: sym(bound)})
    p = conj((Op("<=", (here, bound)),), sigma)
    proved = oracle(AtLeast(p, frozenset(), larger, q), replace(context, sigma=sigma))
    return substitute(q, {here: limit.most}) if isinstance(proved, Proved) else None


def _smallest(polys: Sequence[Poly], context: Context, oracle: Oracles) -> tuple[Poly, ...]:
    """Those that are not proved to be at least another one."""
    kept: list[Poly] = []
    for q in polys:
        if not any(_at_least(q, r, context, oracle) for r in kept):
            kept = [r for r in kept if not _at_least(r, q, context, oracle)] + [q]
    return tuple(kept)


def _at_least(q: Poly, r: Poly, context: Context, oracle: Oracles) -> bool:
    return isinstance(oracle(AtLeast((), frozenset(), q, r), context), Proved)


# --- equations 3 and 4 -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    """The terms of the equations at a point."""

    n_b: int
    n_w: int
    n_comp: Fraction
    n_memory: Fraction
    c_t: Fraction
    seconds: Fraction


def figures(
    device: Device,
    model: Model,
    blocks: int,
    threads: int,
    comp: Poly,
    mem: Sequence[Poly],
    store: Mapping[Leaf, int],
) -> Figures:
    """The figures that the equations give for a grid of `blocks` blocks of `threads` threads. Raises KeyError for a
    missing value."""
    n_comp = evaluate(comp, store)
    n_memory = min(evaluate(q, store) for q in mem)
    c_t = max(n_comp, n_memory) if model == "max" else n_comp + n_memory
    n_b, n_w = -(-blocks // device.multiprocessors), -(-threads // device.warp)
    return Figures(n_b, n_w, n_comp, n_memory, c_t, seconds(device, Fraction(n_b), n_w, c_t))


def seconds(device: Device, n_b: Fraction, n_w: int, c_t: Fraction) -> Fraction:
    """T(K) = N_B * N_w * N_t * C_T / (N_C * D) / R, exactly (equation 4)."""
    return n_b * n_w * device.warp * c_t / (device.cores * device.depth) / device.clock
