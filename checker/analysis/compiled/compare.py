"""Certified bounds of a source, a run of it, and a run of what a compiler makes of it, side by side.

A bound speaks of the source. Whether the compiled code keeps to it is looked at in a run, for every warp: in all, and
for every access by itself, where what it may cost is its certified count times how often the warp executes it in the
source. Where the compiler merges accesses, they are looked at together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod

from checker.analysis.coalescing.access import Key
from checker.analysis.compiled.launch import Difference, Fields, before, differences, entry, mixed, placed
from checker.analysis.compiled.matched import Fate, fates
from checker.analysis.compiled.sites import Compiled, Site, Source, Warp, cost_of, metric_of
from checker.certificates.claims import shown, value_at
from checker.synthesis.bound import Result
from logic.metrics import Hardware, Metric
from logic.source import Loc
from logic.syntax import WARP_INDEX, Kernel
from semantics import grid
from semantics.events import Dim
from semantics.grid import Contents
from semantics.lockstep import STEP_LIMIT
from semantics.ptx import simulate
from semantics.ptx.program import Function, Module
from semantics.values import Value


@dataclass(frozen=True, slots=True)
class Both:
    """A launch run twice: what the accesses of the source did, those of the compiled code, what became of each, what is
    nobody's, and what the two leave different, which is not looked at where a run of the source holds the same memory
    as two arrays (`mixed`). `undefined` are notes on what PTX leaves open; `collided` says that
    lanes met in an atomic instruction, of which the semantics of the source keeps one, so that values differ."""

    kernel: Kernel
    function: Function
    source: Source
    compiled: Compiled
    fates: Sequence[Fate]
    nobody: Sequence[tuple[int, str]]
    differences: Sequence[Difference]
    mixed: tuple[str, str] | None
    parted: Mapping[Warp, int]
    executed: Sequence[int]
    result: grid.Result
    undefined: Sequence[str]
    collided: bool


@dataclass(frozen=True, slots=True)
class Launched:
    """A launch of a source that was run: the kernel, what it is passed, in order, and what its accesses did. `symbol`
    is the kernel's name in compiled code, `numbers` the bytes of an integer in each array: of the first one where
    structures are accessed at once."""

    kernel: Kernel
    passed: Sequence[str]
    fields: Fields
    block: Dim
    blocks: Dim
    values: Mapping[str, Value]
    arrays: Mapping[str, Contents]
    hardware: Hardware
    source: Source
    result: grid.Result
    symbol: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)

    def prepared(self) -> grid.Launch:
        """The launch, with its data as they are before the run."""
        return grid.prepare(self.kernel, self.block, self.blocks, self.values, self.arrays, self.hardware)


def run_source(
    kernel: Kernel,
    passed: Sequence[str],
    fields: Fields,
    block: Dim,
    blocks: Dim,
    values: Mapping[str, Value],
    arrays: Mapping[str, Contents],
    metrics: Sequence[Metric],
    hardware: Hardware,
    step_limit: int = STEP_LIMIT,
) -> Launched:
    """Runs the source, by the reference semantics. Raises SourceError for what cannot be run."""
    source = Source(kernel, block, hardware.warp)
    result = grid.run(kernel, block, blocks, values, arrays, metrics, hardware, step_limit, source)
    return Launched(kernel, passed, fields, block, blocks, values, arrays, hardware, source, result)


def run_both(module: Module, launched: Launched) -> Both:
    """Runs the compiled code on the launch of a source that was run. Raises SourceError for what cannot be run."""
    kernel, source = launched.kernel, launched.source
    f = entry(module, kernel.name, launched.symbol)
    launch = launched.prepared()
    memory = placed(module, f, launch, launched.passed, launched.fields, launched.numbers)
    compiled = Compiled([a.name for a in kernel.arrays if a.space == "shared"])
    ran = simulate.run(
        module, f, launched.block, launched.blocks, memory.arguments, memory.regions, launched.hardware, compiled
    )
    became, nobody = fates(source.sites, compiled.sites, f.code)
    used = {
        kind: {key[2] for key, s in source.sites.items() if s.kind == kind and s.times} for kind in ("load", "store")
    }
    twice = mixed(launch, used["load"], used["store"])
    apart = (
        []
        if twice
        else differences(memory, launched.result.arrays, ran.windows, launch, used["store"], launched.numbers)
    )
    undefined = sorted(ran.undefined)
    undefined += [f"'{name}' is accessed out of bounds, at byte {at}" for name, at in ran.windows.outside.items()]
    return Both(
        kernel,
        f,
        source,
        compiled,
        became,
        nobody,
        apart,
        twice,
        ran.parted,
        ran.executed,
        launched.result,
        undefined,
        compiled.collided,
    )


@dataclass(frozen=True, slots=True)
class Row:
    """An access beside its instructions: `each` is the most that one execution costs by its certified bound, `allowed`
    what the bound allows in the run, of it and all that is merged with it, and `exceeded` whether some warp pays more
    in the compiled code."""

    fate: Fate
    site: Site
    own: tuple[Site, ...]
    each: int | None
    allowed: int | None
    exceeded: bool


@dataclass(frozen=True, slots=True)
class Whole:
    """A metric: the bound and its value in the launch, where it is greatest, the dearest warp of the run and of the
    compiled code, the sums over all warps; and, where that is more, what is certified of a warp beside what it pays in
    the compiled code (`over`) and in the source (`under`)."""

    metric: str
    verdict: str
    bound: str | None
    value: Fraction | None
    run: Fraction
    compiled: int
    run_total: Fraction
    compiled_total: int
    problem: str
    over: tuple[Fraction, int] | None
    under: tuple[Fraction, int] | None

    @property
    def exceeded(self) -> bool:
        return self.over is not None

    @property
    def refuted(self) -> bool:
        """Whether the source itself pays more: then nothing here is to be relied on."""
        return self.under is not None


def certified(both: Both, counts: Mapping[tuple[Loc | None, str, str], int]) -> dict[Key, int]:
    """The most that one execution of each access costs, from the counts that are proved of its place, its array and its
    metric."""
    found: dict[Key, int] = {}
    for key, site in both.source.sites.items():
        n = counts.get((key[0], key[2], metric_of(site.space)))
        if n is not None:
            found[key] = n if site.space == "global" else max(0, n - 1)
    return found


def rows(both: Both, known: Mapping[Key, int]) -> list[Row]:
    """The accesses of a source beside what became of them; `known` is what each costs at most."""
    groups: dict[Key, list[Fate]] = {}
    for fate in both.fates:
        groups.setdefault(fate.merged_with or fate.key, []).append(fate)
    found = []
    for fate in both.fates:
        together = groups.get(fate.key, []) if fate.own else [fate]
        each = [known.get(f.key) for f in together]
        allowed: Counter[Warp] | None = Counter() if None not in each else None
        if allowed is not None:
            for f, n in zip(together, each, strict=True):
                for warp, times in both.source.sites[f.key].executions.items():
                    allowed[warp] += (n or 0) * times
        own = tuple(both.compiled.sites[at] for at in fate.own)
        paid: Counter[Warp] = Counter()
        for s in own:
            paid += s.costs
        exceeded = allowed is not None and any(cost > allowed[warp] for warp, cost in paid.items())
        total = None if allowed is None else allowed.total()
        found.append(Row(fate, both.source.sites[fate.key], own, known.get(fate.key), total, exceeded))
    return found


def wholes(both: Both, results: Sequence[Result], at: Mapping[str, int], launch: grid.Launch) -> list[Whole]:
    """The metrics of a source beside its compiled code. `at` has the launch's parameters, `launch` its data."""
    found = []
    for r in results:
        name = r.metric.name
        values = None if r.claim is None else _values(r, at, launch)
        costs, paid = (
            cost_of(list(of.sites.values()), r.metric) if name != "divwarps" else Counter(parted)
            for of, parted in ((both.compiled, both.parted), (both.source, both.source.parted))
        )
        found.append(
            Whole(
                name,
                r.verdict,
                None if r.claim is None else str(shown(r.claim)),
                None if values is None else max(values.values()),
                both.result.max_per_warp[name],
                max(costs.values(), default=0),
                both.result.totals[name],
                costs.total(),
                "" if r.problem is None else r.problem.message if hasattr(r.problem, "message") else str(r.problem),
                _over(values, costs),
                _over(values, paid),
            )
        )
    return found


def _over(values: Mapping[Warp, Fraction] | None, costs: Mapping[Warp, int]) -> tuple[Fraction, int] | None:
    """The bound on the warp that pays most beyond it, and what it pays; None where none does."""
    beyond = [(paid - values[w], values[w], paid) for w, paid in costs.items() if paid > values[w]] if values else []
    return max(beyond)[1:] if beyond else None


def _values(r: Result, at: Mapping[str, int], launch: grid.Launch) -> dict[Warp, Fraction] | None:
    """The bound of each warp in the launch; None where something is not known."""
    found: dict[Warp, Fraction] = {}
    warps = -(-prod(launch.block) // launch.hardware.warp)
    for x, y, z in product(*map(range, launch.grid)):
        for w in range(warps):
            own = {WARP_INDEX: w, "blockIdx.x": x, "blockIdx.y": y, "blockIdx.z": z}
            if (value := _value(r, {**at, **own}, launch)) is None:
                return None
            found[(x, y, z), w] = value
    return found


def _value(r: Result, at: Mapping[str, int], launch: grid.Launch) -> Fraction | None:
    """The bound of a warp in the launch, with what its arrays hold; None where something is not known."""
    if r.claim is None:
        return None
    known = dict(at)
    arrays = {a.name: a for a in launch.kernel.arrays}
    for _ in range(1000):
        value, missing = value_at(shown(r.claim), r.claim.context, known)
        elements = [m for m in missing if m not in known and m.partition("[")[0] in arrays and "[" in m]
        if not elements:
            return value
        for name in elements:
            array, _, index = name.removesuffix("]").partition("[")
            known[name] = int(before(launch, arrays[array], int(index)))
    return None
