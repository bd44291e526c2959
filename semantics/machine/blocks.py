"""A kernel's blocks on processors that are mini-SIMT machines.

A processor runs one block at a time; a block goes to the processor that is free first, in the order of the blocks.
What blocks leave in global memory is as if they had run one after another: CUDA promises no order, so a kernel whose
blocks share cells may do otherwise on a device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from logic.metrics import HARDWARE
from logic.syntax import Kernel
from semantics import grid
from semantics.events import Dim, Thread
from semantics.grid import Contents, OutOfBounds
from semantics.lockstep import Initial
from semantics.machine.compile import ROOM, SPACING, compile_kernel
from semantics.machine.launch import Launch, LaunchProblem
from semantics.machine.simulate import STEP_LIMIT, Segment, run
from semantics.machine.trace import Observer, Outside
from semantics.values import Value

MAX_PROCESSORS = 65_536


class Place(NamedTuple):
    """The index, the processor and the first cycle of a block that runs."""

    block: Dim
    processor: int
    start: int


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a launch: cycles until the last block has ended, instructions issued by all blocks, the elements of
    global arrays that were given or written, the first access out of bounds at each place."""

    cycles: int
    issued: int
    arrays: dict[str, dict[int, Value]]
    out_of_bounds: tuple[OutOfBounds, ...]


def run_kernel(
    kernel: Kernel,
    block: Dim,
    blocks: Dim,
    args: Mapping[str, Value],
    arrays: Mapping[str, Contents] | None = None,
    warp_size: int = 32,
    latency: int = 10,
    processors: int = 1,
    step_limit: int = STEP_LIMIT,
    observer: Callable[[Place], Observer] | None = None,
) -> Result:
    """Compiles a kernel and runs its blocks. The step limit is for one block; `observer` gives each block its own.

    Raises TypeProblem, LaunchProblem (of the grid's or the machine's), RunProblem, Endless and Deadlock.
    """
    if not 1 <= processors <= MAX_PROCESSORS:
        advice = f"Choose a number from 1 to {MAX_PROCESSORS}."
        raise LaunchProblem(f"--processors {processors}: not a sensible number", advice=advice)
    grid.check_launch(block, blocks)
    plain = Launch(block[0] * block[1] * block[2], warp_size, latency)
    launch = grid.prepare(kernel, block, blocks, args, arrays or {}, replace(HARDWARE["nvidia"], warp=warp_size))
    compiled = compile_kernel(kernel, block)
    memory = {compiled.bases[a] + i: v for a, cells in launch.store.arrays.items() for i, v in cells.items()}
    cells = segments(kernel, compiled.bases, launch.initial)
    free, issued = [0] * processors, 0
    outside: dict[object, OutOfBounds] = {}
    for index, machine in grid.machines(launch, (), step_limit, None):
        place = Place(index, free.index(min(free)), min(free))
        done = run(
            compiled.program,
            replace(plain, params={x: machine.params[name] for x, name in compiled.params.items()}),
            memory,
            cells,
            step_limit,
            observer(place) if observer else None,
        )
        free[place.processor] += done.cycles
        issued += done.issued
        memory = {a: v for a, v in done.memory.items() if kernel.arrays[a // SPACING].space == "global"}
        for o in done.outside:
            outside.setdefault((o.kind, o.loc or o.address), _out_of_bounds(o, kernel, index, block, cells))
    found: dict[str, dict[int, Value]] = {a.name: {} for a in kernel.arrays if a.space == "global"}
    for address in sorted(memory):
        n, i = divmod(address, SPACING)
        found[kernel.arrays[n].name][i] = memory[address]
    return Result(max(free), issued, found, tuple(outside.values()))


def segments(kernel: Kernel, bases: Mapping[str, int], initial: Mapping[str, Initial]) -> tuple[Segment, ...]:
    """The cells of the arrays, and what they hold where nothing was written."""
    found = []
    for a in kernel.arrays:
        given = initial.get(a.name) or Initial(length=a.length)
        length = ROOM if given.length is None else given.length
        found.append(Segment(bases[a.name], length, a.elem, given.value))
    return tuple(found)


def _out_of_bounds(o: Outside, kernel: Kernel, index: Dim, block: Dim, cells: tuple[Segment, ...]) -> OutOfBounds:
    """The access in terms of the kernel's arrays."""
    n = min(max((o.address + SPACING - ROOM) // SPACING, 0), len(cells) - 1)
    x, y, _ = block
    thread = Thread(index, (o.thread % x, o.thread // x % y, o.thread // (x * y)))
    length = None if cells[n].length == ROOM else cells[n].length
    return OutOfBounds(o.kind, kernel.arrays[n].name, o.address - cells[n].base, length, thread, o.loc)
