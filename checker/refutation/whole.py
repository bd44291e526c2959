"""Runs of a whole program that cost more than is claimed. That none was found proves nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Final

from checker import limits
from checker.refutation.states import (
    UNFIT,
    Launched,
    State,
    holds,
    hurried,
    random_launch,
    values_at,
    warp_number,
    worth_of,
)
from logic.assertions import Condition, Context
from logic.potentials import Poly, leaves
from logic.syntax import (
    WARP_INDEX,
    Expr,
    Kernel,
    Param,
    subterms,
)
from semantics.events import Dim, Thread
from semantics.grid import Contents, run
from semantics.lockstep import StepLimit, Store
from semantics.values import Value

PATIENT: Final = 4
"""The launches that are tried even where no time is left: the interpreter may pause for longer than that."""


@dataclass(frozen=True, slots=True)
class Dearer:
    """A run of the whole program of which a warp costs more than was claimed; `arrays` as `run --array` has them.

    `ended` is false where the warp was given up: `actual` is what it had paid by then.
    """

    block: Dim
    grid: Dim
    args: dict[str, Value]
    arrays: dict[str, str]
    claimed: Fraction
    actual: Fraction
    ended: bool


def dearer(
    kernel: Kernel,
    context: Context,
    pre: Condition,
    arrays: Callable[[dict[str, str]], Mapping[str, Contents]],
    seed: int = 0,
    near: State | None = None,
) -> Dearer | None:
    """A run from a state of `pre` of which a warp costs more than `pre.q`, sought with the parameters of `near` and
    among a few small random launches.

    `arrays` makes contents of texts such as `run --array` takes. Locals are 0 in the beginning.
    """
    if context.launch.contracts:  # its arrays would have to keep them
        return None
    rng, end = random.Random(seed), time.thread_time() + limits.REPLAY_SECONDS
    globals_ = [a.name for a in kernel.arrays if a.space == "global"]
    fills = ("zeros", "zeros", "ones", "iota", "random:1", "random:2")

    def tried(launched: Launched, fill: Callable[[], str]) -> Dearer | None:
        block, grid, index, params = launched
        threads = tuple(_threads(block, index))
        state = State(block, grid, params | warp_number(threads[0], block, context), threads, Store())
        if any(not all(values_at(f, state, context)[0].values()) for f in pre.p) or not _everywhere(
            context, grid, params
        ):
            return None
        kind = fill()
        texts = {} if kind == "zeros" else dict.fromkeys(globals_, kind)
        args = {d.name: params[d.name] for d in kernel.params}
        claimed = _claimed(pre.q, state, context)
        actual, ended = _most(kernel, context, block, grid, args, arrays(texts))
        if actual is None or actual <= claimed:
            return None
        return Dearer(block, grid, args, texts, claimed, actual, ended)

    if (there := _launched_at(near, kernel, context)) and (found := tried(there, lambda: "zeros")):
        return found
    for n in range(limits.RUNS):
        if n >= PATIENT and time.thread_time() > end:
            break
        launched = random_launch(context, rng)
        if launched is not None and (found := tried(launched, lambda: rng.choice(fills))):
            return found
    return None


def _launched_at(state: State | None, kernel: Kernel, context: Context) -> Launched | None:
    """The launch that a state is of, where it is a small one that the context allows."""
    if state is None or prod(state.grid) > limits.BLOCKS or any(d.name not in state.params for d in kernel.params):
        return None
    if not all(holds(f, state.params) for f in context.launch.assumptions):
        return None
    return state.block, state.grid, state.threads[0].block, state.params


def _claimed(q: Poly, state: State, context: Context) -> Fraction:
    """The most that q allows any warp of the grid."""
    local = any(leaf.name.startswith(("blockIdx.", WARP_INDEX)) for leaf in leaves(q))
    blocks = list(_threads(state.grid, (0, 0, 0))) if local else []
    worth = [worth_of(q, state, state.threads[0], context.sigma)]
    for where in blocks:
        index = {f"blockIdx.{axis}": n for axis, n in zip("xyz", where.tid, strict=True)}
        for t in state.threads[:: context.hardware.warp]:
            there = replace(state, params=state.params | index | warp_number(t, state.block, context))
            worth.append(worth_of(q, there, t, context.sigma))
    return max(worth)


def _everywhere(context: Context, grid: Dim, params: dict[str, Value]) -> bool:
    """Whether the assumptions hold in every block; those that do not speak of blockIdx were looked at before."""
    facts = [f for f in context.launch.assumptions if any(n.startswith("blockIdx.") for n in _params(f))]
    return not facts or all(
        all(holds(f, params | {f"blockIdx.{axis}": n for axis, n in zip("xyz", t.tid, strict=True)}) for f in facts)
        for t in _threads(grid, (0, 0, 0))
    )


def _params(e: Expr) -> Iterator[str]:
    return (t.name for t in subterms(e) if isinstance(t, Param))


def _threads(block: Dim, index: Dim) -> Iterator[Thread]:
    return (Thread(index, (x, y, z)) for z in range(block[2]) for y in range(block[1]) for x in range(block[0]))


def _most(
    kernel: Kernel,
    context: Context,
    block: Dim,
    grid: Dim,
    args: Mapping[str, Value],
    arrays: Mapping[str, Contents],
) -> tuple[Fraction | None, bool]:
    """The cost of the dearest warp of a run, and whether it ended; None where there is no such run."""
    try:
        result = run(kernel, block, grid, args, arrays, (context.metric,), context.hardware, limits.STEPS, hurried())
    except StepLimit as given_up:
        return given_up.cost.parts[0], False
    except UNFIT:  # a diverging barrier, or a function whose value is not known
        return None, False
    return result.max_per_warp[context.metric.name], True
