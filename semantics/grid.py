"""A kernel on a whole grid: the lock-step semantics of every warp, summed.

Blocks run one after another in the order of their indices, each with fresh locals and fresh shared arrays. The warps
of a block run in turns: each up to its next `sync`, then the next one, and none passes a barrier before all have come
to it. A warp that has ended no longer counts. Inside a warp every thread has to be there: miniCUDA has no exit (a
`return` is lowered to a guard), so a `sync` under a divergent branch is barrier divergence, as for PTX's aligned
`bar.sync`, which all threads of a warp have to execute together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from logic.metrics import HARDWARE, METRICS, Hardware, Metric
from logic.source import Loc, SourceError
from logic.syntax import BUILTINS, Kernel, Read, Write
from logic.typing import Signature, check_kernel
from semantics.events import Dim, Event, Observer, Thread, Threads
from semantics.lockstep import STEP_LIMIT, Barrier, Cost, Initial, Machine, Store, in_bounds, phases
from semantics.values import Value, converted

if TYPE_CHECKING:
    from numpy.typing import NDArray

Contents: TypeAlias = "Sequence[Value] | NDArray[Any] | Mapping[int, Value] | Initial"
"""A global array before the run: a sequence fixes the length; what a mapping leaves out is the type's default."""

MAX_BLOCK: Dim = (1024, 1024, 64)
MAX_THREADS = 1024
MAX_GRID: Dim = (2**31 - 1, 65535, 65535)


class LaunchProblem(SourceError):
    """A launch that cannot be: bad dimensions, a parameter without a value, an unknown name."""


class BarrierDivergence(SourceError):
    """A `sync` that some threads of a block reach and others don't: undefined in CUDA, refuted with this witness.

    `block` is the block's index, `split` the place of the statement, or of the other barrier, that parts the threads.
    """

    def __init__(self, message: str, loc: Loc | None, block: Dim, split: Loc | None, advice: str) -> None:
        super().__init__(f"barrier divergence in block {_dim(block)}: {message}", loc, advice)
        self.block = block
        self.split = split


@dataclass(frozen=True, slots=True)
class OutOfBounds:
    """The first access outside an array at one place in the program."""

    kind: Literal["load", "store"]
    array: str
    index: int
    length: int | None
    thread: Thread
    loc: Loc | None

    def __str__(self) -> str:
        bound = f"has {self.length} elements" if self.length is not None else "starts at 0"
        who = f"thread {_dim(self.thread.tid)} of block {_dim(self.thread.block)}"
        return f"{self.kind} of {self.array}[{self.index}] by {who}, but '{self.array}' {bound}"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a launch: what it cost, and the store that it left behind.

    `totals` sums the costs of all warps by the metric's name, `max_per_warp` is the dearest warp's. `arrays` holds
    the elements of global arrays that were given or written.
    """

    totals: dict[str, Fraction]
    max_per_warp: dict[str, Fraction]
    warps: int
    arrays: Mapping[str, Mapping[int, Value]]
    out_of_bounds: tuple[OutOfBounds, ...]
    engine: Literal["reference", "fast"] = field(default="reference", compare=False)


def run(
    kernel: Kernel,
    block: Dim,
    grid: Dim,
    args: Mapping[str, Value],
    arrays: Mapping[str, Contents] | None = None,
    metrics: Sequence[Metric] = tuple(METRICS.values()),
    hardware: Hardware = HARDWARE["nvidia"],
    step_limit: int = STEP_LIMIT,
    observer: Observer | None = None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Runs a kernel on every warp of a grid.

    `args` gives every parameter a value; arrays that `arrays` leaves out are unbounded and 0. The step limit is for
    one warp. `progress` is told how many blocks have run. Raises TypeProblem, LaunchProblem, ValueProblem, StepLimit
    and BarrierDivergence.
    """
    launch = prepare(kernel, block, grid, args, arrays or {}, hardware)
    costs: list[Cost] = []
    for done, (index, machine) in enumerate(machines(launch, metrics, step_limit, observer), 1):
        costs += _run_block(kernel, index, launch.store, machine)
        if progress:
            progress(done)
    columns = dict(zip((m.name for m in metrics), zip(*(c.parts for c in costs), strict=True), strict=False))
    return Result(
        {name: sum(column, Fraction(0)) for name, column in columns.items()},
        {name: max(column) for name, column in columns.items()},
        len(costs),
        launch.arrays(),
        tuple(launch.out_of_bounds.values()),
    )


# --- a block ---------------------------------------------------------------------------------------------------------


def _indices(extent: Dim) -> Iterator[Dim]:
    """All indices below an extent, x fastest: the order of linear ids."""
    return ((x, y, z) for z in range(extent[2]) for y in range(extent[1]) for x in range(extent[0]))


def threads_of(index: Dim, block: Dim) -> Threads:
    """All threads of a block."""
    return tuple(Thread(index, tid) for tid in _indices(block))


def warps_of(threads: Threads, size: int) -> list[Threads]:
    """The threads of a block in warps of this size, the last one maybe smaller."""
    return [threads[i : i + size] for i in range(0, len(threads), size)]


def _run_block(kernel: Kernel, index: Dim, store: Store, machine: Machine) -> list[Cost]:
    """The costs of the block's warps; the store is updated in place."""
    warps = warps_of(threads_of(index, machine.block), machine.hardware.warp)
    running = {w: phases(kernel.body, store, t, machine) for w, t in enumerate(warps)}
    costs = [machine.nothing] * len(warps)
    while running:
        waiting: dict[int, Barrier] = {}
        for w, phase in list(running.items()):
            try:
                waiting[w] = next(phase)
            except StopIteration as end:
                costs[w] = end.value
                del running[w]
        check_barrier(warps, waiting)
    return costs


def check_barrier(warps: list[Threads], waiting: dict[int, Barrier]) -> None:
    """Raises BarrierDivergence unless all warps wait at one `sync`, each with all its threads."""
    for w, barrier in waiting.items():
        missing = [t for t in warps[w] if t not in set(barrier.threads)]
        if missing:
            raise torn_warp(w, barrier, missing)
    if not waiting:
        return
    (first, here), *others = waiting.items()
    for w, barrier in others:
        if barrier.sync is not here.sync and (here.sync.loc is None or barrier.sync.loc != here.sync.loc):
            raise two_barriers(first, here, w, barrier)


def torn_warp(w: int, barrier: Barrier, missing: Sequence[Thread]) -> BarrierDivergence:
    """The threads of warp w that have come to a barrier, and those that have not."""
    here, split = len(barrier.threads), barrier.split.loc if barrier.split else None
    return BarrierDivergence(
        f"{here} of the {here + len(missing)} threads of warp {w} reach this __syncthreads(), "
        f"thread {_dim(missing[0].tid)} does not",
        barrier.sync.loc,
        missing[0].block,
        split,
        f"All threads of a block have to reach it together; they part {f'at {split}' if split else 'before'}.",
    )


def two_barriers(first: int, here: Barrier, other: int, barrier: Barrier) -> BarrierDivergence:
    """Two warps wait at two barriers, or at one barrier at two times."""
    there = barrier.sync.loc
    same = barrier.sync is here.sync
    return BarrierDivergence(
        f"warp {first} waits at this __syncthreads(), warp {other} "
        + ("comes to it only later" if same else f"at another{f' ({there})' if there else ''}"),
        here.sync.loc,
        here.threads[0].block,
        (here.split.loc if here.split else None) if same else there,
        "All threads of a block have to reach the same barrier.",
    )


# --- the launch ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Launch:
    """A checked launch: what its blocks share. The store and `out_of_bounds` grow as blocks run."""

    kernel: Kernel
    block: Dim
    grid: Dim
    hardware: Hardware
    sigma: Signature
    params: dict[str, Value]
    initial: Mapping[str, Initial]
    store: Store
    out_of_bounds: dict[object, OutOfBounds] = field(default_factory=dict)

    def arrays(self) -> dict[str, dict[int, Value]]:
        """The elements of global arrays that were given or written."""
        return {a.name: self.store.arrays.get(a.name, {}) for a in self.kernel.arrays if a.space == "global"}


def prepare(
    kernel: Kernel,
    block: Dim,
    grid: Dim,
    args: Mapping[str, Value],
    arrays: Mapping[str, Contents],
    hardware: Hardware,
) -> Launch:
    """Checks a launch. Raises TypeProblem and LaunchProblem."""
    sigma = check_kernel(kernel)
    check_launch(block, grid)
    check_names(kernel, args, arrays)
    params = _parameters(kernel, args)
    store, initial = _memory(kernel, arrays)
    return Launch(kernel, block, grid, hardware, sigma, params, initial, store)


def machines(
    launch: Launch, metrics: Sequence[Metric], step_limit: int, observer: Observer | None
) -> Iterator[tuple[Dim, Machine]]:
    """For one block after another its index and its machine; the store then has fresh locals and shared arrays."""
    arrays, initial = launch.kernel.arrays, launch.initial
    lengths = {a.name: initial[a.name].length if a.name in initial else a.length for a in arrays}
    for index in _indices(launch.grid):
        launch.store.locals = {}  # nobody reads those of an ended block
        launch.store.arrays |= {a.name: {} for a in arrays if a.space == "shared"}
        yield (
            index,
            Machine(
                launch.sigma,
                launch.params | _builtins(index, launch.block, launch.grid, launch.hardware),
                launch.block,
                tuple(metrics),
                launch.hardware,
                initial,
                step_limit,
                _watch(lengths, launch.out_of_bounds, observer),
                launch.kernel.exchanges,
            ),
        )


def _dim(d: Dim) -> str:
    return f"({d[0]},{d[1]},{d[2]})"


def check_launch(block: Dim, grid: Dim) -> None:
    """Raises LaunchProblem for dimensions that no device takes."""
    for name, given, most in (("block", block, MAX_BLOCK), ("grid", grid, MAX_GRID)):
        for axis, n, limit in zip("xyz", given, most, strict=True):
            if not 1 <= n <= limit:
                raise LaunchProblem(f"the {name}'s {axis} is {n}", advice=f"It has to be from 1 to {limit}.")
    threads = block[0] * block[1] * block[2]
    if threads > MAX_THREADS:
        raise LaunchProblem(f"a block of {threads} threads is too large", advice=f"At most {MAX_THREADS} fit.")


def check_names(kernel: Kernel, args: Iterable[str] = (), arrays: Iterable[str] = ()) -> None:
    """Raises LaunchProblem for a parameter or a global array that a kernel does not have."""
    params = [d.name for d in kernel.params]
    for name in args:
        if name in BUILTINS:
            raise LaunchProblem(f"'{name}' is set by the launch", advice="Use --block and --grid.")
        if name not in params:
            raise LaunchProblem(f"kernel {kernel.name} has no parameter '{name}'", kernel.loc, _known(params))
    memory = [a.name for a in kernel.arrays if a.space == "global"]
    for name in arrays:
        if name not in memory:
            raise LaunchProblem(f"kernel {kernel.name} has no global array '{name}'", kernel.loc, _known(memory))


def _parameters(kernel: Kernel, args: Mapping[str, Value]) -> dict[str, Value]:
    params: dict[str, Value] = {}
    for d in kernel.params:
        name = d.name
        if name not in args:
            raise LaunchProblem(f"parameter '{name}' has no value", d.loc, f"Give one: --arg {name}=VALUE.")
        value = args[name]
        if d.type.kind == "int" and isinstance(value, float):
            raise LaunchProblem(f"parameter '{name}' is {d.type}, {value} is not", d.loc, "Give a whole number.")
        params[name] = converted(value, d.type)
    return params


def _known(names: Collection[str]) -> str:
    return f"It has: {', '.join(names)}." if names else "It has none."


def _memory(kernel: Kernel, arrays: Mapping[str, Contents]) -> tuple[Store, dict[str, Initial]]:
    """The store and the initial contents of global arrays."""
    declared = {a.name: a for a in kernel.arrays if a.space == "global"}
    store, initial = Store(), dict[str, Initial]()
    for name, contents in arrays.items():
        array = declared[name]
        match contents:
            case Initial():
                initial[name] = contents
            case Mapping():
                store.arrays[name] = {i: converted(v, array.elem) for i, v in contents.items()}
            case _:
                values = contents if isinstance(contents, Sequence) else contents.tolist()
                store.arrays[name] = {i: converted(v, array.elem) for i, v in enumerate(values)}
                initial[name] = Initial(length=len(contents))
    return store, initial


def _builtins(index: Dim, block: Dim, grid: Dim, hardware: Hardware) -> dict[str, Value]:
    dims = {"blockIdx": index, "blockDim": block, "gridDim": grid}
    values: dict[str, Value] = {
        f"{name}.{axis}": n for name, d in dims.items() for axis, n in zip("xyz", d, strict=True)
    }
    return values | {"warpSize": hardware.warp}


def _watch(lengths: Mapping[str, int | None], found: dict[object, OutOfBounds], observer: Observer | None) -> Observer:
    """An observer that notes the first access out of bounds at every place, and passes all events on."""

    def see(event: Event) -> None:
        term = event.term
        if isinstance(term, Read | Write):
            length = lengths[term.array]
            for t, i in zip(event.threads, event.indices, strict=True):
                if not in_bounds(i, length):
                    kind: Literal["load", "store"] = "load" if isinstance(term, Read) else "store"
                    place = (kind, term.array, term.loc or id(term))
                    found.setdefault(place, OutOfBounds(kind, term.array, i, length, t, term.loc))
                    break
        if observer:
            observer(event)

    return see
