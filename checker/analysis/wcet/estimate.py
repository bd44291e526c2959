"""A launch on the mini-SIMT machine and what it takes at most: by certified bounds, by lanes followed, by the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Final, Literal

from checker.analysis.wcet import abstract, cta, lanes, readback, sound
from checker.analysis.wcet.divergence import Chains, chains
from checker.analysis.wcet.lanes import Unbounded
from checker.analysis.wcet.sound import Prices
from checker.analysis.wcet.structure import Block, Loop, nodes, structure
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context
from logic.assertions import Launch as Blocks
from logic.metrics import HARDWARE
from logic.potentials import Poly, const, substitute
from logic.syntax import Const, Param
from logic.typing import check_kernel
from semantics.events import Dim
from semantics.machine.blocks import MAX_PROCESSORS
from semantics.machine.compile import compile_kernel
from semantics.machine.launch import Launch, LaunchProblem
from semantics.machine.program import Barrier, Program
from semantics.machine.program import Param as Declared
from semantics.values import Value

Mode = Literal["sound", "paper"]
Evidence = Literal["certified", "solver-backed", "enumerated", "paper"]

MOST_BLOCKS: Final = 65_536


@dataclass(frozen=True, slots=True)
class Job:
    """A program and its launch. `outline` is the kernel whose cost is bounded, under `prices`; `names` has what the
    program's parameters are called in it, `meet` whether every barrier waits for all threads that are left."""

    program: Program
    tree: Block
    outline: Outline
    prices: Prices
    names: Mapping[str, str]
    at: Mapping[str, Value]
    threads: int
    warp_size: int
    latency: int
    blocks: Dim = (1, 1, 1)
    processors: int = 1

    @property
    def number(self) -> int:
        """The number of blocks."""
        return prod(self.blocks)

    def indices(self) -> Iterator[Dim]:
        """The indices of the blocks, in the order in which they go to processors."""
        x, y, z = self.blocks
        return ((i, j, k) for k in range(z) for j in range(y) for i in range(x))

    @property
    def missing(self) -> tuple[str, ...]:
        """The parameters that have no value."""
        given = (*self.at, *(f"{d}.{axis}" for d in ("blockIdx", "gridDim") for axis in "xyz"))
        return tuple(sorted(set(self.names.values()) - set(given)))


def program_job(p: Program, at: Mapping[str, Value], launch: Launch, name: str) -> Job:
    """The job of a program. Raises SourceError for parameters that it does not have and shapes that have no tree."""
    names = {d.var: readback.named(d.var) for d in p.directives if isinstance(d, Declared)}
    for given in at:
        if given not in names:
            known = f"It has: {', '.join(names)}." if names else "It has none."
            raise LaunchProblem(f"the program has no parameter '{given}'", advice=known)
    tree = structure(p)
    kernel = readback.kernel(p, tree, launch.threads, launch.warp_size, name)
    hardware = replace(HARDWARE["nvidia"], name="mini-SIMT", warp=launch.warp_size)
    blocks = Blocks((launch.threads, 1, 1), (1, 1, 1))
    context = Context(check_kernel(kernel), readback.PRICES.issued, hardware, blocks)
    outline = Outline(kernel, context, bare(kernel.body))
    values = {names[var]: v for var, v in at.items()}
    return Job(p, tree, outline, readback.PRICES, names, values, launch.threads, launch.warp_size, launch.latency)


def kernel_job(
    outline: Outline, block: Dim, blocks: Dim, at: Mapping[str, Value], latency: int, processors: int
) -> Job:
    """The job of a kernel; the context's launch has its block and grid, its hardware the warp's size.

    Raises SourceError for ill-typed kernels and launches that cannot be.
    """
    if not 1 <= processors <= MAX_PROCESSORS:
        advice = f"Choose a number from 1 to {MAX_PROCESSORS}."
        raise LaunchProblem(f"--processors {processors}: not a sensible number", advice=advice)
    number = prod(blocks)
    if number > MOST_BLOCKS:
        raise LaunchProblem(f"--grid: {number} blocks", advice=f"At most {MOST_BLOCKS} are dealt to processors.")
    x, y, z = block
    launch = Launch(x * y * z, outline.context.hardware.warp, latency)
    compiled = compile_kernel(outline.kernel, block)
    return Job(
        compiled.program,
        structure(compiled.program),
        sound.visible(outline, block),
        sound.COMPILED,
        compiled.params,
        at,
        launch.threads,
        launch.warp_size,
        latency,
        blocks,
        processors,
    )


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cycles that a launch takes.

    `cycles` is the least of `bounds`, which go by their evidence, or the paper's; None where it depends on parameters
    without values. `formula` is the certified bound in the parameters: for the launch, or for each block where they
    differ; it rests on the word of `engines`, where there are any. `ends` says whether it is proved that no barrier
    waits for ever, at the values given, and `formula_ends` whatever the parameters are: else cycles and formula are for
    runs in which none does. `work_span` is W/P + S for P = 1, certified or else enumerated. `divergent` has the
    branches where warps may part. Of the paper: the abstract warp, the turns of each loop by its branch, and the
    largest convoying shift.
    """

    mode: Mode
    cycles: int | None
    evidence: Evidence
    divergent: tuple[int, ...] = ()
    bounds: Mapping[Evidence, int] = field(default_factory=dict)
    formula: Poly | None = None
    work_span: int | None = None
    span_evidence: Evidence | None = None
    ends: bool = True
    formula_ends: bool = True
    engines: tuple[str, ...] = ()
    warp: abstract.Nodes = ()
    turns: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    shift: int = 0
    problem: Unbounded | None = None


def estimate(job: Job, mode: Mode) -> Estimate:
    """The estimate. Raises Unbounded where there is none, and SourceError."""
    found = chains(job.program, job.tree)
    parting = tuple(at for at in sorted(job.program.rejoin) if found.divergent(at))
    return _paper(job, found, parting) if mode == "paper" else _sound(job, parting)


# --- the bound -------------------------------------------------------------------------------------------------------


def _sound(job: Job, parting: tuple[int, ...]) -> Estimate:
    """The least of the certified bound and that of the lanes."""
    found: list[Estimate] = []
    problems: list[Unbounded] = []
    for way in (lambda job: _certified(job, alike=not parting), _enumerated):
        try:
            found.append(replace(way(job), divergent=parting))
        except Unbounded as problem:
            problems.append(problem)
    if not found:
        first = problems[0]
        advice = "Bound its loops by parameters, as i < n does: contracts and stated potentials are not used here."
        if job.missing:
            advice = f"With values its lanes are followed, too: --at {job.missing[0]}=8."
        raise Unbounded(first.message, first.loc, first.advice or advice)
    bounds = {e.evidence: e.cycles for e in found if e.cycles is not None}
    least = min(found, key=lambda e: (e.cycles is None, e.cycles or 0))
    spans = [e for e in found if e.work_span is not None] or found
    return replace(
        least,
        bounds=bounds,
        formula=found[0].formula,
        work_span=spans[0].work_span,
        span_evidence=spans[0].span_evidence,
        ends=any(e.ends for e in found),
        formula_ends=found[0].ends,
        engines=found[0].engines,
        problem=problems[0] if problems else None,
    )


def _certified(job: Job, alike: bool) -> Estimate:
    """By the logic: a formula, and its value where the parameters have values. Raises Unbounded."""
    bounds = sound.certify(job.outline, job.prices, job.latency, _meet(job.program), alike)
    formula = bounds.cycles(job.latency)
    if job.number == 1:
        formula = substitute(formula, {Param(f"blockIdx.{axis}"): const(0) for axis in "xyz"})
    cycles = _dealt(job, formula)
    span = None if bounds.work_span is None else _dealt(job, bounds.work_span)
    if not sound.depends_on_block((formula,)):
        formula = formula * -(-job.number // job.processors)
    said: Evidence = "solver-backed" if bounds.engines else "certified"
    return Estimate(
        "sound",
        cycles,
        said,
        formula=formula,
        work_span=span,
        span_evidence=said,
        ends=bounds.ends and _one_barrier(job.program),
        engines=bounds.engines,
    )


def _meet(p: Program) -> bool:
    return all(i.count is None for i in p.instructions if isinstance(i, Barrier))


def _one_barrier(p: Program) -> bool:
    """Whether threads that are at one barrier instruction wait at one barrier, for all that are left."""
    return _meet(p) and all(isinstance(i.ident, Const) for i in p.instructions if isinstance(i, Barrier))


def _dealt(job: Job, block: Poly) -> int | None:
    """The cycles of all blocks on the processors, by a bound for each; None where a parameter has no value."""
    at = {name: int(v) for name, v in job.at.items() if not isinstance(v, float)}
    if sound.bound_at(block, at) is None:
        return None
    if not sound.depends_on_block((block,)):
        return sound.makespan([sound.bound_at(block, at) or 0] * job.number, job.processors)
    return sound.makespan([sound.bound_at(block, at, index) or 0 for index in job.indices()], job.processors)


def _launch(job: Job, index: Dim) -> Launch:
    """The launch of one block on the machine."""
    own = {f"blockIdx.{a}": n for a, n in zip("xyz", index, strict=True)}
    own |= {f"gridDim.{a}": n for a, n in zip("xyz", job.blocks, strict=True)}
    values = {**job.at, **own}
    return Launch(job.threads, job.warp_size, job.latency, {x: values[name] for x, name in job.names.items()})


def _enumerated(job: Job) -> Estimate:
    """By the lanes of every block. Raises Unbounded."""
    if job.missing:
        raise Unbounded(f"{', '.join(job.missing)} has no value", None)
    found: list[tuple[int, int]] = []
    ends = True
    alike = not any(name.startswith("blockIdx.") for name in job.names.values())
    steps = lanes.MOST_STEPS
    for index in job.indices():
        if not alike or not found:
            launch = _launch(job, index)
            warps = lanes.follow(job.program, job.tree, launch, steps)
            ends = ends and lanes.released(warps, launch)
            issued = lanes.issued(warps)
            steps -= issued
            stalls = (job.latency - 1) * lanes.stalling_loads(warps)
            found.append((issued + stalls, issued + lanes.span(warps, job.latency)))
    if alike:
        found *= job.number
    cycles, spans = (sound.makespan(each, job.processors) for each in zip(*found, strict=True))
    return Estimate("sound", cycles, "enumerated", work_span=spans, span_evidence="enumerated", ends=ends)


# --- the paper's estimate --------------------------------------------------------------------------------------------


def _paper(job: Job, found: Chains, parting: tuple[int, ...]) -> Estimate:
    if job.missing:
        missing = ", ".join(job.missing)
        raise LaunchProblem(f"--mode paper needs the values of {missing}", advice=f"--at {job.missing[0]}=N")
    if job.number > 1:
        raise LaunchProblem("--mode paper is for one block", advice="Leave out --grid or --mode.")
    warp = abstract.construct(job.program, job.tree, found)
    warps = lanes.follow(job.program, job.tree, _launch(job, (0, 0, 0)))
    loops = [n.branch for n in nodes(job.tree) if isinstance(n, Loop)]
    turns = {branch: tuple(w.turns.get(branch, 0) for w in warps) for branch in loops}
    cycles, shift = cta.simulate(warp, len(warps), job.latency, turns)
    return Estimate("paper", cycles, "paper", parting, warp=warp, turns=turns, shift=shift)
