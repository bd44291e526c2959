"""Contracts on data, tested on what arrays hold before a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import islice, product
from math import prod
from typing import Final

from logic.assertions import Launch
from logic.contracts import BOUND, Contract, arrays_of, as_reads, elements, unchanging
from logic.contracts import element as at_index
from logic.metrics import Hardware
from logic.operators import denote
from logic.potentials import ELEMENT
from logic.stable import root, unwritten
from logic.syntax import (
    Assign,
    Const,
    Expr,
    Op,
    Param,
    Read,
    Stmt,
    Var,
    While,
    Write,
    arrays_read,
    evaluated,
    local_vars,
    made_of,
    show,
    sources,
    statements,
    subterms,
)
from semantics.cuda import Reading
from semantics.cuda.held import Held
from semantics.grid import Contents
from semantics.lockstep import Initial
from semantics.values import Value

HELD: Final = 64
"""The most elements of constant tables that are contracts of their own."""

MOST: Final = 10_000_000
"""Indices that one contract is tested at."""

Arrays = Mapping[str, Contents]


class Missing(Exception):
    """A parameter that a contract needs has no value."""


class Outside(Exception):
    """A contract speaks of an element that an array that is given does not have."""

    def __init__(self, array: str, index: int) -> None:
        super().__init__(f"'{array}' has no element {index}")


class Untested(Exception):
    """There is no end to the indices of a contract, or there are too many."""


def broken(
    contract: Contract, params: Mapping[str, Value], arrays: Arrays, whole: bool = False
) -> tuple[int, ...] | None:
    """The first indices at which a contract does not hold; None where it holds at all of them. Outside of what arrays
    are given they hold 0; or else, where they are `whole`, there is nothing that a contract could hold of. Raises
    Missing and Untested.

    >>> from logic.contracts import element
    >>> i = Var("?i0")
    >>> rising = Contract(((Const(0), Param("n")),), Op("<=", (element("A", i), element("A", Op("+", (i, Const(1)))))))
    >>> broken(rising, {"n": 3}, {"A": [1, 4, 4, 3]}), broken(rising, {"n": 2}, {"A": [1, 4, 4, 3]})
    ((2,), None)
    >>> broken(rising, {"n": 2}, {"A": [-2, -1]}), broken(rising, {"n": 2}, {"A": [-2, -1]}, whole=True)
    (None, (1,))
    """
    ranges = [_range(contract, low, high, params, arrays) for low, high in contract.ranges]
    if prod(map(len, ranges)) > MOST:
        raise Untested
    for at in product(*ranges):
        try:
            if not _value(contract.fact, _at(at, params), arrays, whole):
                return at
        except Outside:
            return at
    return None


def outside(contract: Contract, at: tuple[int, ...], params: Mapping[str, Value], arrays: Arrays) -> Outside | None:
    """The element outside of its array that a contract speaks of at these indices. Raises Missing."""
    try:
        _value(contract.fact, _at(at, params), arrays, whole=True)
    except Outside as found:
        return found
    return None


def _at(at: tuple[int, ...], params: Mapping[str, Value]) -> dict[str, Value]:
    """The values of parameters, and of a contract's variables."""
    return {**params, **{f"{BOUND}{k}": i for k, i in enumerate(at)}}


def misdeclared(contract: Contract, tables: Mapping[str, Sequence[int]]) -> dict[tuple[str, int], int] | None:
    """The elements of constant tables that break a contract as they are declared, at the first indices where they do;
    None where none is seen to. Where a range ends with a parameter it is taken to go on.

    >>> from logic.contracts import element
    >>> small = Contract(((Const(0), Param("n")),), Op("<=", (element("A", Var("?i0")), Const(2))))
    >>> misdeclared(small, {"A": [1, 4]}), misdeclared(small, {"A": [1, 2]}), misdeclared(small, {"B": [4]})
    ({('A', 1): 4}, None, None)
    """
    if not contract.arrays or not contract.arrays <= tables.keys():
        return None
    end = Const(min(len(tables[name]) for name in contract.arrays))
    ranges = [(low, high if high is None or isinstance(high, Const) else end) for low, high in contract.ranges]
    whole = replace(contract, ranges=tuple(ranges))
    with suppress(Missing, Untested):
        at = broken(whole, {}, tables, whole=True)
        if at is not None and outside(whole, at, {}, tables) is None:
            reads = [t for t in subterms(contract.fact) if isinstance(t, Op) and t.op.startswith(ELEMENT)]
            places = [(t.op.removeprefix(ELEMENT), int(_value(t.args[0], _at(at, {}), tables))) for t in reads]
            return {(name, i): tables[name][i] for name, i in places}
    return None


def missing(contract: Contract, params: Mapping[str, Value], arrays: Arrays) -> dict[str, int]:
    """How many elements too few arrays have for a contract, by name: those that are given, at the ends of ranges.
    Raises Missing and Untested.

    >>> from logic.contracts import element
    >>> i = Var("?i0")
    >>> rising = Contract(((Const(0), Param("n")),), Op("<=", (element("A", i), element("A", Op("+", (i, Const(1)))))))
    >>> missing(rising, {"n": 3}, {"A": [1, 4]}), missing(rising, {"n": 3}, {"A": [1, 4, 4, 5]})
    ({'A': 2}, {})
    """
    ranges = [_range(contract, low, high, params, arrays) for low, high in contract.ranges if low and high]
    if len(ranges) < len(contract.ranges) or not all(ranges):
        return {}
    found: dict[str, int] = {}
    for at in product(*((r[0], r[-1]) for r in ranges)):
        here = _at(at, params)
        for t in subterms(contract.fact):
            if isinstance(t, Op) and t.op.startswith(ELEMENT) and (name := t.op.removeprefix(ELEMENT)) in arrays:
                length = _length(arrays[name])
                beyond = 0 if length is None else int(_value(t.args[0], here, arrays)) + 1 - length
                if beyond > 0:
                    found[name] = max(beyond, found.get(name, 0))
    return found


def stable(reading: Reading) -> frozenset[str]:
    """The arrays that contracts may speak of: nothing in the kernel writes to them, and it reads none of them as what
    others may change meanwhile."""
    return frozenset(a for a in unwritten(reading.kernel) if not changing(a, reading))


def changing(array: str, reading: Reading) -> bool:
    """Whether a kernel reads an array, or the memory that it is a view of, as what others may change meanwhile."""
    return root(array) in map(root, reading.unsteady)


def for_reading(contracts: Sequence[Contract]) -> tuple[Held, ...]:
    """Contracts as the reading of a kernel uses them."""
    return tuple(
        Held(tuple(f"{BOUND}{i}" for i in range(len(c.ranges))), c.ranges, as_reads(c.fact)) for c in contracts
    )


def in_launches(reading: Reading, launch: Launch, hardware: Hardware, assume: bool = True) -> Reading:
    """A kernel as it is in the launches of a context; unless it may `assume` facts, in all of them."""
    data = for_reading(launch.contracts)
    return reading.under(launch.assumptions, launch.block, launch.grid, assume, data=data, warp=hardware.warp)


def of_reading(contracts: Sequence[Contract], reading: Reading) -> tuple[Contract, ...]:
    """The contracts that a reading takes for granted besides these, of the same arrays: the limits of elements that it
    rests on, and that unsigned ones are not negative."""
    return tuple(c for c in implied(contracts, reading) if c not in contracts)


def granted(contracts: Sequence[Contract], reading: Reading) -> tuple[Contract, ...]:
    """Contracts, with those that a reading takes for granted, and what the types of elements say."""
    return tuple(dict.fromkeys((*contracts, *of_reading(contracts, reading), *of_types(contracts, reading))))


def implied(contracts: Sequence[Contract], reading: Reading) -> tuple[Contract, ...]:
    """The same, with those that are stated, too."""
    spans, types = dict(reading.spans), reading.types.arrays
    unsigned = (a for a in sorted(arrays_of(contracts)) if a not in spans and not any(t.signed for t in types[a]))
    more = [*(c for a, span in spans.items() for c in within(a, span)), *(within(a, (0, 0))[0] for a in unsigned)]
    return tuple(dict.fromkeys(more))


def within(array: str, span: tuple[int, int]) -> tuple[Contract, ...]:
    """The contracts that say that all elements of an array are within limits.

    >>> print(*within("A", (0, 2147483647)), sep="; ")
    forall i: 0 <= A[i]; forall i: A[i] <= 2147483647
    """
    item, (low, high) = at_index(array, Var(f"{BOUND}0")), span
    both = (Op("<=", (Const(low), item)), Op("<=", (item, Const(high))))
    return tuple(Contract(((None, None),), fact) for fact in both)


def of_tables(reading: Reading) -> tuple[Contract, ...]:
    """The contracts on constant tables, as they are declared: limits of the elements of tables that tests of loops are
    made of, and the elements themselves of those that indices are made of, if they are few."""
    types, body = reading.types.arrays, reading.kernel.body
    plain = {a for a in stable(reading) & reading.tables.keys() if len(types.get(a, ())) == 1}
    if not plain:
        return ()
    of = _made_of(body, arrays_read)
    writes = (s.index for s in statements(body) if isinstance(s, Write))
    tested = set[str]().union(*map(of, _tests(body)))
    indices = set[str]().union(*map(of, (*(t.index for t in _reads(body)), *writes)))
    found: list[Contract] = []
    for array in sorted(plain & tested):
        values, item = reading.tables[array], at_index(array, Var(f"{BOUND}0"))
        within_ = Op("<=", (Const(min(values)), item)), Op("<=", (item, Const(max(values))))
        found += [Contract(((Const(0), Const(len(values))),), fact) for fact in within_]
    known = [(array, i, v) for array in sorted(plain & indices) for i, v in enumerate(reading.tables[array])]
    for array, i, v in known if len(known) <= HELD else ():
        found.append(Contract((), Op("==", (at_index(array, Const(i)), Const(v)))))
    return tuple(found)


NARROW: Final = 16
"""The bits of types whose limits are told of elements; of wider ones, where a mask, a shift or a remainder is taken."""


def of_types(contracts: Sequence[Contract], reading: Reading) -> tuple[Contract, ...]:
    """The limits that elements have by their types, as contracts on arrays that no thread writes: on narrow ones, where
    they lead to elements that contracts speak of, or loops are counted by them; on any, where loops are counted by what
    they lead to, and all elements of that have contracts. Of other wide ones that loops are tested by no more is told
    than that they are stable, so that bounds may speak of their elements."""
    types, body, about = reading.types.arrays, reading.kernel.body, arrays_of(contracts)
    plain = {a for a in stable(reading) - reading.tables.keys() if len(types.get(a, ())) == 1}

    def narrow(e: Expr) -> set[str]:
        cut = (t.args for t in subterms(e) if isinstance(t, Op) and t.op in ("&", ">>", "%"))
        parts = (args[0] for args in cut if isinstance(args[1], Const))
        found = set[str]().union(*map(arrays_read, parts))
        return found & plain | {a for a in arrays_read(e) if a in plain and all(t.bits <= NARROW for t in types[a])}

    of = _made_of(body, narrow)
    tested = set[str]().union(*map(of, _tests(body)))
    counted = [s.value for s in statements(body) if isinstance(s, Assign) and s.var in tested & local_vars(s.value)]
    leading = (t.index for t in _reads(body) if t.array in about)
    whole = {a for c in contracts if not any(map(any, c.ranges)) for a in c.arrays}
    told = set[str]().union(*map(of, (*counted, *leading)))
    every = _made_of(body, arrays_read)
    anywhere = (t.index for e in counted for t in subterms(e) if isinstance(t, Read) and t.array in whole)
    told = told.union(*map(every, anywhere))
    told &= plain
    limits = set[str]().union(*map(every, _tests(body))) & plain - about - told
    steady = (a for a in sorted(limits) if all(t.bits > NARROW for t in types[a]))
    return (*(c for a in sorted(told) for t in types[a] for c in within(a, (t.low, t.high))), *map(unchanging, steady))


def _made_of(body: Stmt, arrays: Callable[[Expr], Iterable[str]]) -> Callable[[Expr], set[str]]:
    """The variables that expressions of a body are made of, directly or through others, and some of the arrays read."""
    used = sources(statements(body))
    own: defaultdict[str, set[str]] = defaultdict(set)
    for s in statements(body):
        if isinstance(s, Assign):
            own[s.var].update(arrays(s.value))

    def of(e: Expr) -> set[str]:
        found = made_of(local_vars(e), used)
        return {*found}.union(arrays(e), *(own[x] for x in found & own.keys()))

    return of


def _tests(body: Stmt) -> Iterator[Expr]:
    return (s.cond for s in statements(body) if isinstance(s, While))


def _reads(body: Stmt) -> Iterator[Read]:
    return (t for s in statements(body) for e in evaluated(s) for t in subterms(e) if isinstance(t, Read))


def _range(
    contract: Contract, low: Expr | None, high: Expr | None, params: Mapping[str, Value], arrays: Arrays
) -> range:
    """The indices of a variable: those of the shortest array that is given, where the contract has no limits."""
    if low is not None and high is not None:
        return range(int(_value(low, params, arrays)), int(_value(high, params, arrays)))
    lengths = [_length(arrays[name]) for name in contract.arrays if name in arrays]
    known = [n for n in lengths if n is not None]
    if not known:
        raise Untested
    return range(min(known))


def _length(contents: Contents) -> int | None:
    return contents.length if isinstance(contents, Initial) else len(contents)


def _value(e: Expr, values: Mapping[str, Value], arrays: Arrays, whole: bool = False) -> int | bool:
    """The value of an expression; of what && and || and ?: do not need, nothing is asked. Raises Missing and, where
    arrays are `whole`, Outside."""
    match e:
        case Const(int() as value):
            return value
        case Var(name) | Param(name):
            if name not in values:
                raise Missing(name)
            return int(values[name])
        case Op(op, (index,)) if op.startswith(ELEMENT):
            name, i = op.removeprefix(ELEMENT), int(_value(index, values, arrays, whole))
            if whole and name in arrays and not _has(arrays[name], i):
                raise Outside(name, i)
            return element(arrays.get(name, ()), i)
        case Op("&&" | "||" as op, (a, b)):
            return _value(b if bool(_value(a, values, arrays, whole)) == (op == "&&") else a, values, arrays, whole)
        case Op("?:", (a, b, c)):
            return _value(b if _value(a, values, arrays, whole) else c, values, arrays, whole)
        case Op(op, args):
            return denote(op, tuple(_value(a, values, arrays, whole) for a in args))
    raise Missing(show(e))


def element(contents: Contents, i: int) -> int:
    """The element of an array at an index: 0 outside of it, and where nothing is given."""
    if not _has(contents, i):
        return 0
    if isinstance(contents, Initial):
        return int(contents.value(i)) if contents.value else 0
    return int(contents[i])


def _has(contents: Contents, i: int) -> bool:
    """Whether an array has an element of an index."""
    length = _length(contents)
    return i >= 0 and (length is None or i < length)


SIZES: Final = (0, 1, 2, 3, 5, 8)
"""Values of parameters for which data are looked for that keep contracts."""

RAMPS: Final = tuple((first, step) for step in (0, 1, 2, 3) for first in (0, 1, -1, 2, 5))
"""The first elements of arrays, and by how much they rise."""

LENGTH: Final = 9
LONGEST: Final = 1 << 16
TRIES: Final = 20_000


def some_data(contracts: Sequence[Contract], assumed: Sequence[Expr] = ()) -> bool:
    """Whether some small data keep all contracts: arrays that rise by the same from element to element, from a first
    one on, where sizes are as assumed, if some small ones are. Where none do, the contracts may contradict each other,
    and then anything follows from them.

    >>> from logic.contracts import element
    >>> i, n = Var("?i0"), Param("n")
    >>> positive = Contract(((Const(0), n),), Op("<", (Const(0), element("A", i))))
    >>> some_data([positive]), some_data([positive, Contract((), Op("==", (element("A", Const(0)), Const(-1))))])
    (True, True)
    >>> some_data([Contract((), Op("==", (element("A", n), Const(k)))) for k in (2, 3)])
    False
    >>> negative = Contract(((Const(0), n),), Op("<", (element("A", i), Const(0))))
    >>> some_data([positive, negative]), some_data([positive, negative], [Op("<", (Const(0), n))])
    (True, False)
    """
    names = sorted({t.name for c in contracts for e in _expressions(c) for t in subterms(e) if isinstance(t, Param)})
    arrays = sorted(frozenset[str]().union(*(c.arrays for c in contracts)))
    about = [e for e in assumed if {t.name for t in subterms(e) if isinstance(t, Param)} <= {*names}]
    sizes = [dict(zip(names, values, strict=True)) for values in islice(product(SIZES, repeat=len(names)), TRIES)]
    sizes = [params for params in sizes if all(_value(e, params, {}) for e in about)] or sizes
    few = max(1, TRIES // len(RAMPS) ** len(arrays))
    return any(_ramps_keep(contracts, params, arrays) for params in sizes[:few])


def _ramps_keep(contracts: Sequence[Contract], params: Mapping[str, Value], arrays: Sequence[str]) -> bool:
    """Whether some of the arrays that are tried keep contracts, for these values of parameters."""
    lengths = _lengths(contracts, params, arrays)

    @cache
    def keeps(c: Contract, chosen: tuple[tuple[str, int, int], ...]) -> bool:
        held = {a: [first + step * i for i in range(lengths[a])] for a, first, step in chosen}
        return broken(c, params, held) is None

    for values in islice(product(RAMPS, repeat=len(arrays)), TRIES):
        data = [(a, *ramp) for a, ramp in zip(arrays, values, strict=True)]
        if all(keeps(c, tuple(one for one in data if one[0] in c.arrays)) for c in contracts):
            return True
    return False


def _lengths(contracts: Sequence[Contract], params: Mapping[str, Value], arrays: Sequence[str]) -> dict[str, int]:
    """The elements that data have: as many as the ranges of contracts ask for, unless these are too many."""
    short = {a: range(LENGTH) for a in arrays}
    more = [missing(c, params, short) for c in contracts]
    found = {a: LENGTH + max((m.get(a, 0) for m in more), default=0) for a in arrays}
    return {a: n if n <= LONGEST else LENGTH for a, n in found.items()}


def unfounded(contracts: Sequence[Contract], reading: Reading) -> str:
    """A sentence on why a source does not keep contracts: others may change an array meanwhile, or a constant table
    holds something else; "" where it says nothing against them."""
    for c in contracts:
        for array in sorted(c.arrays):
            if changing(array, reading):
                return f"the source reads '{array}' as what others may change meanwhile, so nothing is given of it: {c}"
        with suppress(Missing, Untested):
            at = broken(c, {}, reading.tables, whole=True) if c.arrays <= reading.tables.keys() else None
            if at is not None and outside(c, at, {}, reading.tables) is None:
                return f"the constant tables of the source do not keep what is given: {c}"
    return ""


def doubt(contracts: Sequence[Contract], assumed: Sequence[Expr]) -> str:
    """Why anything may follow from contracts: no small data keep them, or none where their ranges have an index."""
    ranges = _filled(contracts)
    if not some_data(contracts, assumed):
        return "no small data keep the contracts: if they contradict each other, anything follows from them"
    if ranges and not some_data(contracts, (*assumed, *ranges)):
        told = (
            "no small data keep the contracts where their ranges have an index: if they contradict each other there, "
        )
        return told + "anything follows from them"
    return ""


def contradicted(contracts: Sequence[Contract], reading: Reading, assumed: Sequence[Expr]) -> bool:
    """Whether limits of elements that a reading rests on seem to contradict contracts, where their ranges have an index
    and sizes are as assumed."""
    more, there = of_reading(contracts, reading) if reading.spans else (), (*assumed, *_filled(contracts))
    return bool(more) and some_data(contracts, there) and not some_data((*contracts, *more), there)


def _filled(contracts: Sequence[Contract]) -> tuple[Expr, ...]:
    """Facts that say that the ranges of contracts have an index, as far as parameters alone say it.

    >>> [show(e) for e in _filled([Contract(((Const(0), Param("n")), (None, None)), Const(True))])]
    ['0 < n']
    """
    ends = (e for c in contracts for e in c.ranges)
    found = dict.fromkeys(Op("<", (low, high)) for low, high in ends if low is not None and high is not None)
    return tuple(e for e in found if not elements(e) and not any(isinstance(t, Var) for t in subterms(e)))


def _expressions(c: Contract) -> tuple[Expr, ...]:
    return (c.fact, *(e for ends in c.ranges for e in ends if e is not None))
