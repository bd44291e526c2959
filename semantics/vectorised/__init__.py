"""The fast engine: the lock-step semantics of a whole grid, many warps at once, equal to `semantics.grid`.

Chunks of consecutive blocks run one after another, so memory does not grow with the grid. All warps of a chunk execute
a statement together (`machine`). That is the reference's order wherever it matters unless `memory` says otherwise; then
the chunk is undone and runs again in a narrower way, and the rest of the grid so as well:

- warps of one block met in another order: the warps of a block take turns from barrier to barrier, those of all blocks
  of the chunk together;
- blocks met in another order: fewer blocks at once, at last one;
- an error: fewer blocks, at last one whose warps take turns. That is the reference's order; there errors are raised.

What does not fit into numpy's types is left to the reference engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from logic.metrics import HARDWARE, METRICS, Hardware, Metric
from logic.source import SourceError
from logic.syntax import Kernel
from semantics import grid as reference
from semantics.events import Dim
from semantics.grid import Contents, Launch, Result, check_barrier, prepare, threads_of, warps_of
from semantics.lockstep import STEP_LIMIT, Initial
from semantics.values import Value
from semantics.vectorised.counts import prices
from semantics.vectorised.machine import Chunk, Narrow, Unit, program
from semantics.vectorised.memory import Cells, OutOfOrder
from semantics.vectorised.values import Unsupported

LANES: Final = 2**18
"""As many lanes run at once: a matrix of that size stays in a cache."""

GROWTH: Final = 8
"""A chunk has that many times the blocks of the last one, or is cut to one part in so many."""


def run(
    kernel: Kernel,
    block: Dim,
    grid: Dim,
    args: Mapping[str, Value],
    arrays: Mapping[str, Contents] | None = None,
    metrics: Sequence[Metric] = tuple(METRICS.values()),
    hardware: Hardware = HARDWARE["nvidia"],
    step_limit: int = STEP_LIMIT,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Runs a kernel on every warp of a grid; the result and the errors are those of `semantics.grid.run`.

    `progress` is told how many blocks have run.
    """
    given = arrays or {}
    launch = prepare(kernel, block, grid, args, dict.fromkeys(given, Initial()), hardware)
    try:
        with np.errstate(all="ignore"):
            return _run(launch, given, tuple(metrics), step_limit, progress)
    except Unsupported:
        return reference.run(kernel, block, grid, args, given, metrics, hardware, step_limit, progress=progress)


def _run(
    launch: Launch,
    given: Mapping[str, Contents],
    metrics: tuple[Metric, ...],
    step_limit: int,
    progress: Callable[[int], None] | None,
) -> Result:
    code = program(launch.kernel, launch.sigma)
    cells = {a.name: Cells(a, a.name in code.written, a.name in code.read) for a in launch.kernel.arrays}
    for name, contents in given.items():
        cells[name].give(contents)
    count = launch.grid[0] * launch.grid[1] * launch.grid[2]
    warps = -(-launch.block[0] * launch.block[1] * launch.block[2] // launch.hardware.warp)
    most = max(1, LANES // (warps * launch.hardware.warp))
    first, blocks, columns, exact = 0, 1, False, False
    totals, dearest = [0] * len(metrics), [0] * len(metrics)
    priced = tuple(prices(m) for m in metrics)
    while first < count:
        exact = exact or blocks * (1 if columns else warps) == 1
        chunk = Chunk(
            code,
            launch.sigma,
            launch.params,
            launch.block,
            launch.grid,
            launch.hardware,
            priced,
            step_limit,
            cells,
            first,
            blocks,
            columns or exact,
            exact,
        )
        try:
            costs = _attempt(chunk, warps)
        except (OutOfOrder, Narrow, SourceError, Unsupported) as trouble:
            if exact:
                raise
            if isinstance(trouble, OutOfOrder) and not trouble.across and not columns:
                columns = True
            else:
                exact = blocks == 1
                blocks = most = max(1, blocks // GROWTH)
            continue
        for m, paid in enumerate(costs):
            totals[m] += sum(paid.tolist()) if paid.dtype == object else int(paid.sum())
            dearest[m] = max(dearest[m], int(paid.max()))
        for place, (_, _, found) in sorted(chunk.outside.items(), key=lambda item: item[1][:2]):
            launch.out_of_bounds.setdefault(place, found)
        first, exact = first + blocks, False
        blocks = min(most, GROWTH * blocks, max(1, count - first))
        if progress:
            progress(first)
    return Result(
        {m.name: p.exact(total) for m, p, total in zip(metrics, priced, totals, strict=True)},
        {m.name: p.exact(cost) for m, p, cost in zip(metrics, priced, dearest, strict=True)},
        count * warps,
        {name: c.elements() for name, c in cells.items() if c.array.space == "global"},
        tuple(launch.out_of_bounds.values()),
        "fast",
    )


def _attempt(chunk: Chunk, warps: int) -> list[np.ndarray[Any, np.dtype[Any]]]:
    """Runs a chunk; for each metric what its warps paid, in their order.

    Where it raises, global memory is as it was before.
    """
    done = False
    for c in chunk.cells.values():
        alone = chunk.exact or (c.array.space == "shared" and warps == 1)
        c.begin(chunk.blocks, tracked=not alone)
    try:
        units = [Unit(chunk, range(w, w + 1)) for w in range(warps)] if chunk.columns else [Unit(chunk, range(warps))]
        _turns(chunk, units)
        done = True
    finally:
        for c in chunk.cells.values():
            c.end(keep=done)
    paid = [[costs for _, costs in u.costs()] for u in units]
    return [np.stack(column, axis=1).reshape(-1) for column in zip(*paid, strict=True)]


def _turns(chunk: Chunk, units: list[Unit]) -> None:
    """Each unit up to its next barrier, then the next one, until all have ended."""
    of_warps = warps_of(threads_of(chunk.index(0), chunk.block) if chunk.exact else (), chunk.hardware.warp)
    running = {w: unit.run() for w, unit in enumerate(units)}
    while running:
        waiting = {}
        for w, turns in list(running.items()):
            barrier = next(turns, None)
            if barrier is None:
                del running[w]
            else:
                waiting[w] = barrier
        if chunk.exact:
            check_barrier(of_warps, waiting)
        passed = min((int(units[w].phase.min()) for w in running), default=0)
        for phase in [p for p in chunk.barriers if p < passed]:
            del chunk.barriers[phase]
