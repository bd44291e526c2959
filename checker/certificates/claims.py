"""A claim in words; its launch's sizes filled in, evaluated at points that its launch allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, product
from math import prod
from typing import Final

from checker.kernel import Claim
from checker.oracles.instances import instances
from checker.oracles.terms import value_of
from logic.assertions import Context, Dim, conj, launch_facts, show_p
from logic.contracts import Contract, elements_in
from logic.metrics import HARDWARE, METRICS, Hardware, Metric, sizes_of
from logic.potentials import ELEMENT, Apply, Leaf, Poly, const, evaluate, leaves, of_expr, substitute
from logic.syntax import WARP_INDEX, Assume, Const, Expr, Kernel, Op, Param, mentions_tid, show, statements, subterms

_ELEMENT: Final = re.compile(r"(.+)\[(-?\d+)\]")
"""The name of an element of an array at a point."""


def extent(sizes: Dim) -> str:
    """The size of a block or grid as text: 32 x 8, `any` where it is symbolic, ones at the end left out: `any x 1` is a
    row of any length.

    >>> extent((32, 8, 1)), extent((None, 1, 1)), extent((None, None, None))
    ('32 x 8', 'any x 1', 'any x any x any')
    """
    last = max((i for i, n in enumerate(sizes) if n != 1), default=0)
    last = 1 if last == 0 and sizes[0] is None else last
    return " x ".join("any" if n is None else str(n) for n in sizes[: last + 1])


def amount(n: Poly | Fraction | str, metric: Metric) -> str:
    """An amount of what is counted: 1 sector, 2 sectors, n sectors; metrics of a user's own have names that stay as
    they are."""
    return f"{n} {metric.name.removesuffix('s') if str(n) == '1' and metric.name in METRICS else metric.name}"


SUBJECTS: Final = {
    "warp": ("every warp", "costs"),
    "block": ("the warps of a block", "together cost"),
    "grid": ("all warps of a grid", "together cost"),
    "span": ("the span of a block", "is"),
}
"""The subjects of bounds, each with its verb. The span is the cost of the longest way through a block, which waits at
barriers (Fig. 6): what its warps cost together may be more."""


def subject(context: Context, per: str) -> str:
    """The subject of a bound, a key of SUBJECTS; `per` is what costs are summed over at scope warp."""
    return "span" if context.scope == "block" else per


def wording(kernel: str, what: str, bound: Poly | Fraction | str, metric: Metric, hardware: Hardware) -> str:
    """A claim as a sentence, with the prices and sizes of a metric or hardware that is not a built-in one: the one way
    in which all commands word it. `what` is a key of SUBJECTS."""
    whole, verb = SUBJECTS[what]
    cost = amount(bound, metric) if is_known(metric) else f"{bound} of the {described(metric)}"
    where = "" if is_known(hardware) else f" on the {described(hardware)}"
    return f"{whole} of {kernel} {verb} at most {cost}{where}"


def assumed_inside(kernel: Kernel) -> tuple[str, ...]:
    """The assumptions inside a kernel, which hold wherever a thread comes to them, as texts, each once."""
    found = (s for s in statements(kernel.body) if isinstance(s, Assume))
    told = ((show(s.cond), f"at {s.loc}" if s.loc else "wherever a thread comes to it") for s in found)
    return tuple(dict.fromkeys(f"given: {fact}, {where}" for fact, where in told))


def claimed(claim: Claim) -> str:
    """A claim as a sentence."""
    context = claim.context
    return wording(claim.kernel.name, subject(context, claim.per), shown(claim), context.metric, context.hardware)


def is_known(what: Metric | Hardware) -> bool:
    """Whether it is a built-in one."""
    return what in (*METRICS.values(), *HARDWARE.values())


def named(what: Metric | Hardware) -> str:
    """The name, which says whether it is a built-in one."""
    return what.name if is_known(what) else f"custom {what.name}"


def called(metric: str) -> str:
    """The name of a metric, which says whether it is a built-in one: no other may have the name of one.

    >>> called("sectors"), called("Sectors")
    ('sectors', 'custom Sectors')
    """
    return metric if metric in METRICS else f"custom {metric}"


def hardware_called(name: str) -> str:
    """The same of hardware.

    >>> hardware_called("nvidia"), hardware_called("own")
    ('hardware nvidia', 'custom hardware own')
    """
    return f"hardware {name}" if name in HARDWARE else f"custom hardware {name}"


def described(what: Metric | Hardware) -> str:
    """A metric or hardware of a user's own, with its prices and sizes."""
    if isinstance(what, Hardware):
        sizes = ", ".join(f"{unit} {getattr(what, unit)}" for unit in sizes_of(what))
        return f"custom hardware {what.name} ({sizes})"
    prices = [f"{constant} {c}" for constant, c in sorted(what.fixed.items())]
    prices += [f"{constant}(n) max(0, {f.slope}*n + {f.offset})" for constant, f in sorted(what.counted.items())]
    return f"custom metric {what.name} ({', '.join(prices) or 'all is free'})"


def known_sizes(context: Context) -> dict[Leaf, int]:
    """The parameters that the launch gives a value."""
    known: dict[Leaf, int] = {Param("warpSize"): context.hardware.warp}
    for axis, block, grid in zip("xyz", context.launch.block, context.launch.grid, strict=True):
        for name, size in (("blockDim", block), ("gridDim", grid)):
            if size is not None:
                known[Param(f"{name}.{axis}")] = size
    return known


@dataclass(frozen=True, slots=True)
class Excluded:
    """An assumption that is false at a point, as text, and the parameters that it is about."""

    text: str
    names: frozenset[str]

    def __str__(self) -> str:
        return self.text


def excluded(at: Mapping[str, int], context: Context) -> Excluded | None:
    """A fact about the launch, an assumption, a contract or one of CUDA's, that is false at a point; None
    where every one holds or says something of other names."""
    return excluder(context)(at)


def with_facts(context: Context, facts: Sequence[Expr]) -> Context:
    """The context, with more that is assumed of the launch."""
    launch = context.launch
    return replace(context, launch=replace(launch, assumptions=conj((*launch.assumptions, *facts), context.sigma)))


def excluder(context: Context) -> Callable[[Mapping[str, int]], Excluded | None]:
    """`excluded` for many points of one launch."""
    sizes = {leaf.name: n for leaf, n in known_sizes(context).items()}
    facts = [
        (fact, _named(fact))
        for fact in launch_facts(context.launch, context.hardware, context.scope)
        if not mentions_tid(fact)
    ]

    def excluded(at: Mapping[str, int]) -> Excluded | None:
        for name in sorted(at.keys() & sizes.keys()):
            if at[name] != sizes[name]:
                return Excluded(f"{name} == {sizes[name]}", frozenset({name}))
        store = {**at, **sizes}
        for fact, names in facts:
            if names <= store.keys() and not _true(fact, store):
                return Excluded(show_p((fact,)), names)
        block = [store.get(f"blockDim.{axis}") for axis in "xyz"]
        threads = None if None in block else prod(n for n in block if n is not None)
        if threads is not None and WARP_INDEX in store and store[WARP_INDEX] * context.hardware.warp >= threads:
            return Excluded(f"{WARP_INDEX} < {-(-threads // context.hardware.warp)}", frozenset({WARP_INDEX}))
        broken = next((c for c in context.launch.contracts if _breaks(c, store)), None)
        return None if broken is None else Excluded(str(broken), _named(broken.fact, *chain(*broken.ranges)))

    return excluded


def _named(*parts: Expr | None) -> frozenset[str]:
    return frozenset(t.name for e in parts if e is not None for t in subterms(e) if isinstance(t, Param))


def _breaks(c: Contract, store: Mapping[str, int]) -> bool:
    """Whether elements of arrays at a point break a contract, by what it says of them or of two that lie apart."""
    given = [(m[1], int(m[2])) for m in map(_ELEMENT.fullmatch, store) if m is not None]
    if not given:
        return False
    ends = tuple((low and _at(low, store), high and _at(high, store)) for low, high in c.ranges)
    here = Contract(ends, _at(c.fact, store))
    spoken = [Apply(f"{ELEMENT}{name}", (const(i),)) for name, i in given]
    return any(
        all(_worth(p, store) >= 0 for p in one.needs) and _worth(one.poly, store) < 0
        for one in instances((here,), spoken)
        if not any(leaves(p) for p in (one.poly, *one.needs))
    )


def _worth(p: Poly, store: Mapping[str, int]) -> Fraction:
    return evaluate(p, {}, lambda array, i: store[f"{array}[{i}]"])


def _at(e: Expr, store: Mapping[str, int]) -> Expr:
    """e with the values of parameters at a point in their place."""
    match e:
        case Param(name) if name in store:
            return Const(store[name])
        case Op(op, args):
            return Op(op, tuple(_at(a, store) for a in args), e.loc)
    return e


def _true(fact: Expr, store: Mapping[str, int]) -> bool:
    """Whether a fact holds; what has no value here counts as true."""
    try:
        return bool(value_of(fact, store))
    except KeyError:
        return True


def excluded_in_run(
    at: Mapping[str, int], block: tuple[int, int, int], blocks: tuple[int, int, int], context: Context
) -> Excluded | None:
    """An assumption that is false of some warp of a run with these parameters, as text."""
    facts = context.launch.assumptions
    own = {WARP_INDEX, *(f"blockIdx.{axis}" for axis in "xyz")}
    if not any(isinstance(t, Param) and t.name in own for fact in facts for t in subterms(fact)):
        return excluded(at, context)
    false = excluder(context)
    warps = range(-(-prod(block) // context.hardware.warp))
    for x, y, z, warp in product(*map(range, blocks), warps):
        here = {"blockIdx.x": x, "blockIdx.y": y, "blockIdx.z": z, WARP_INDEX: warp}
        if (fact := false({**at, **here})) is not None:
            return fact
    return None


def shown(claim: Claim) -> Poly:
    """A claim's bound with the launch's known sizes filled in."""
    return substitute(claim.bound, {leaf: const(n) for leaf, n in known_sizes(claim.context).items()})


def _elements(context: Context, store: Mapping[Leaf, int]) -> dict[str, int]:
    """The elements of arrays that contracts such as `row[n] == nnz` give at a point."""
    found: dict[str, int] = {}
    for c in context.launch.contracts:
        match c:
            case Contract((), Op("==", (a, b))):
                for one, other in ((a, b), (b, a)):
                    if isinstance(one, Op) and one.op.startswith(ELEMENT):
                        i, value = of_expr(one.args[0]), of_expr(other)
                        if i is None or value is None or elements_in([i, value]):
                            continue
                        if leaves(i) | leaves(value) <= store.keys():
                            found[f"{one.op.removeprefix(ELEMENT)}[{evaluate(i, store)}]"] = int(evaluate(value, store))
    return found


def value_at(bound: Poly, context: Context, at: Mapping[str, int]) -> tuple[Fraction | None, list[str]]:
    """The bound's value at a point, with the launch's known sizes filled in; else None and the names missing. Elements
    of arrays have names such as `row[64]`; what contracts without variables say that one is it need not be told."""
    store: dict[Leaf, int] = {**{Param(name): v for name, v in at.items()}, **known_sizes(context)}
    at = {**_elements(context, store), **at}
    missing = sorted(x.name for x in leaves(bound) if x not in store)
    lacking: dict[str, None] = dict.fromkeys(missing)

    def element(array: str, i: int) -> int:
        name = f"{array}[{i}]"
        if name not in at:
            lacking[name] = None
        return at.get(name, 0)

    value = None if missing else evaluate(bound, store, element)
    return (None, [*lacking]) if lacking else (value, [])
