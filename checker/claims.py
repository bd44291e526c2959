"""What a claim says: its launch's sizes filled in, evaluated at points that its launch allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from math import prod

from checker.kernel import Claim
from checker.oracles.terms import value_of
from logic.assertions import Context, Dim, launch_facts, show_p
from logic.metrics import METRICS, Metric
from logic.potentials import Leaf, Poly, const, evaluate, leaves, substitute
from logic.syntax import WARP_INDEX, Expr, Param, mentions_tid, subterms


def extent(sizes: Dim) -> str:
    """The size of a block or grid as text: 32 x 8, `any` where it is symbolic, ones at the end left out."""
    last = max((i for i, n in enumerate(sizes) if n != 1), default=0)
    return " x ".join("any" if n is None else str(n) for n in sizes[: last + 1])


def amount(n: Poly | Fraction, metric: Metric) -> str:
    """What is counted: 1 sector, 2 sectors, n sectors; metrics of a user's own have names that stay as they are."""
    return f"{n} {metric.name.removesuffix('s') if str(n) == '1' and metric.name in METRICS else metric.name}"


def known_sizes(context: Context) -> dict[Leaf, int]:
    """The parameters that the launch gives a value."""
    known: dict[Leaf, int] = {Param("warpSize"): context.hardware.warp}
    for axis, block, grid in zip("xyz", context.launch.block, context.launch.grid, strict=True):
        for name, size in (("blockDim", block), ("gridDim", grid)):
            if size is not None:
                known[Param(f"{name}.{axis}")] = size
    return known


def excluded(at: Mapping[str, int], context: Context) -> str | None:
    """A fact about the launch, an assumption or one of CUDA's, that is false at a point, as text; None where every one
    holds or says something of other names."""
    return excluder(context)(at)


def excluder(context: Context) -> Callable[[Mapping[str, int]], str | None]:
    """`excluded` for many points of one launch."""
    sizes = {leaf.name: n for leaf, n in known_sizes(context).items()}
    facts = [
        (fact, {t.name for t in subterms(fact) if isinstance(t, Param)})
        for fact in launch_facts(context.launch, context.hardware, context.scope)
        if not mentions_tid(fact)
    ]

    def excluded(at: Mapping[str, int]) -> str | None:
        for name in sorted(at.keys() & sizes.keys()):
            if at[name] != sizes[name]:
                return f"{name} == {sizes[name]}"
        store = {**at, **sizes}
        for fact, names in facts:
            if names <= store.keys() and not _true(fact, store):
                return show_p((fact,))
        block = [store.get(f"blockDim.{axis}") for axis in "xyz"]
        threads = None if None in block else prod(n for n in block if n is not None)
        if threads is not None and WARP_INDEX in store and store[WARP_INDEX] * context.hardware.warp >= threads:
            return f"{WARP_INDEX} < {-(-threads // context.hardware.warp)}"
        return None

    return excluded


def _true(fact: Expr, store: Mapping[str, int]) -> bool:
    """Whether a fact holds; what has no value here counts as true."""
    try:
        return bool(value_of(fact, store))
    except KeyError:
        return True


def excluded_in_run(
    at: Mapping[str, int], block: tuple[int, int, int], blocks: tuple[int, int, int], context: Context
) -> str | None:
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


def value_at(bound: Poly, context: Context, at: Mapping[str, int]) -> tuple[Fraction | None, list[str]]:
    """The bound's value at a point, with the launch's known sizes filled in; else None and the names missing."""
    store: dict[Leaf, int] = {**{Param(name): v for name, v in at.items()}, **known_sizes(context)}
    missing = sorted(x.name for x in leaves(bound) if x not in store)
    return (None, missing) if missing else (evaluate(bound, store), [])
