"""States of a launch in the semantics: threads of a block with the values of parameters and locals; by a model, or at
random."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, cast

from checker import limits
from checker.oracles.lanes import View
from checker.oracles.terms import facts_of, value_of
from logic.assertions import AtLeast, AtMost, Context, Entails, Obligation, P, Uniform, X
from logic.operators import Value as Exact
from logic.potentials import Leaf, Poly, evaluate, leaves
from logic.source import SourceError
from logic.syntax import (
    BUILTINS,
    WARP_INDEX,
    Const,
    Expr,
    Op,
    Param,
    Read,
    Tid,
    Type,
    Var,
    subterms,
)
from logic.typing import Signature
from semantics import lockstep
from semantics.events import Dim, Event, Observer, Thread, Threads
from semantics.grid import check_launch
from semantics.lockstep import Initial, Machine, Store, linear
from semantics.values import Value, default

UNFIT: Final = (SourceError, RecursionError, KeyError, ValueError, ArithmeticError, MemoryError)
"""Errors that the semantics may end in, given a state that nobody chose: it is then shown to nobody."""


class OutOfTime(SourceError):
    """A run that nobody asked for takes too long: its numbers have grown too large."""


def hurried() -> Observer:
    """An observer that stops a run when patience ends."""
    end = time.thread_time() + limits.REPLAY_SECONDS

    def see(_: Event) -> None:
        if time.thread_time() > end:
            raise OutOfTime("the run takes too long")

    return see


_SIZES: Final = (0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 64, 100, -1)


_BLOCKS: Final = (32, 64, 33, 1, 256)


Launched = tuple[Dim, Dim, Dim, dict[str, Value]]
"""Sizes of a block and of the grid, the block that is looked at, and the values of parameters."""


@dataclass(frozen=True, slots=True)
class State:
    """Threads of one block, the parameters' values with the built-in ones, and a store.

    `seed` decides what arrays hold where the store says nothing; None: zeros.
    """

    block: Dim
    grid: Dim
    params: dict[str, Value]
    threads: Threads
    store: Store
    seed: int | None = None


# --- terms in a state -------------------------------------------------------------------------------------------------


def terms_of(o: Obligation) -> tuple[Expr, ...]:
    """The expressions of an obligation."""
    match o:
        case Entails(p, goal):
            return (*p, *goal)
        case Uniform(p, _, e):
            return (*p, e)
        case AtMost():
            return (*o.p, Read(o.array, o.index))
        case AtLeast(p, _, q, r):
            return (*p, *leaves(q), *leaves(r))


def uniform_in(o: Obligation) -> X:
    return frozenset() if isinstance(o, Entails) else o.x


def allowed(p: P, x: X, state: State, scene: Context) -> bool:
    """Whether a state is one of {P; .; X} in the launch: by the semantics' word on every conjunct."""
    try:
        check_launch(state.block, state.grid)
    except SourceError:
        return False
    size = scene.hardware.warp
    if not state.threads or any(not 0 <= i < n for t in state.threads for i, n in zip(t.tid, state.block, strict=True)):
        return False
    if scene.scope == "warp" and len({linear(t.tid, state.block) // size for t in state.threads}) > 1:
        return False
    if any(len({local_at(name, t, state, scene.sigma) for t in state.threads}) > 1 for name in x):
        return False
    return all(all(values_at(f, state, scene)[0].values()) for f in facts_of(p, scene, scene.sigma))


def values_at(e: Expr, state: State, scene: Context) -> tuple[dict[Thread, Value], dict[str, dict[int, Value]]]:
    """The value of e at each thread, and what was read for it."""
    read: dict[str, dict[int, Value]] = {}
    machine = machine_at(state, scene, lambda event: _note(event, state, machine, read))
    return lockstep.evaluate(e, state.store, state.threads, machine)[0], read


def _note(event: Event, state: State, machine: Machine, read: dict[str, dict[int, Value]]) -> None:
    if isinstance(event.term, Read):
        array = machine.sigma.arrays[event.term.array]
        for i in event.indices:
            read.setdefault(array.name, {})[i] = lockstep.load(array, i, state.store, machine)


def machine_at(state: State, scene: Context, observer: Observer | None = None) -> Machine:
    initial: dict[str, Initial] = {}
    for name, array in scene.sigma.arrays.items():
        value: Callable[[int], Value] | None = None
        if state.seed is not None:
            value = _contents(f"{state.seed}:{name}", array.elem)
        initial[name] = Initial(value, array.length)
    return Machine(
        scene.sigma, state.params, state.block, (scene.metric,), scene.hardware, initial, limits.STEPS, observer
    )  # fmt: skip


def _contents(seed: str, elem: Type) -> Callable[[int], Value]:
    return lambda i: _random_value(random.Random(f"{seed}:{i}"), elem, (0, 1, 2, 3, 5, 8))


def local_at(name: str, t: Thread, state: State, sigma: Signature) -> Value:
    return state.store.locals.get(name, {}).get(t, default(sigma.locals[name]))


def worth_of(q: Poly, state: State, t: Thread, sigma: Signature) -> Fraction:
    """Q at a thread of a state. Raises KeyError for a leaf that the program lacks."""
    store: dict[Leaf, int] = {}
    for leaf in leaves(q):
        match leaf:
            case Var(name):
                store[leaf] = int(local_at(name, t, state, sigma))
            case Param(name):
                store[leaf] = int(state.params[name])
            case Tid(axis):
                store[leaf] = t.tid["xyz".index(axis)]
    return evaluate(q, store)


# --- states -----------------------------------------------------------------------------------------------------------


def of_model(o: Obligation, model: Mapping[str, int], scene: Context) -> Iterator[State]:
    """The states that a model describes. Two threads that it gives one place are put on different lanes."""
    pair = isinstance(o, Uniform)

    def of(name: str, n: int, otherwise: int = 0) -> int:
        return model.get(name, model.get(f"{name}@{n}", otherwise))

    def dims(name: str, known: tuple[int | None, ...]) -> Dim:
        x, y, z = (of(f"{name}.{axis}", 1, size or 1) for axis, size in zip("xyz", known, strict=True))
        return x, y, z

    named = {leaf.name for e in terms_of(o) for leaf in subterms(e) if isinstance(leaf, Param)}
    named |= {leaf.name for f in scene.launch.assumptions for leaf in subterms(f) if isinstance(leaf, Param)}
    block = dims("blockDim", scene.launch.block)
    at = [model.get(f"blockIdx.{axis}", 0) if f"blockIdx.{axis}" in named else 0 for axis in "xyz"]
    index = (at[0], at[1], at[2])
    most = [
        n or (model.get(name, i + 1) if name in named else i + 1)
        for n, i, name in zip(scene.launch.grid, index, ("gridDim.x", "gridDim.y", "gridDim.z"), strict=True)
    ]
    grid = (most[0], most[1], most[2])
    params = {name: _typed(model.get(name, 0), t) for name, t in scene.sigma.params.items()}
    params |= built_in(index, block, grid, scene)
    who = (1, 2) if pair else (0,)
    tids: list[Dim] = [(of("tid.x", n), of("tid.y", n), of("tid.z", n)) for n in who]
    for places in _apart(tids, block, scene.hardware.warp) if pair and tids[0] == tids[1] else (tids,):
        threads = tuple(Thread(index, tid) for tid in places)
        values = {
            name: {t: _typed(of(name, n), kind) for t, n in zip(threads, who, strict=True)}
            for name, kind in scene.sigma.locals.items()
        }
        yield State(block, grid, params | warp_number(threads[0], block, scene), threads, Store(locals=values))


def warp_number(t: Thread, block: Dim, scene: Context) -> dict[str, Value]:
    """The number of a thread's warp, under its name."""
    return {WARP_INDEX: linear(t.tid, block) // scene.hardware.warp}


def _apart(tids: list[Dim], block: Dim, warp: int) -> Iterator[list[Dim]]:
    """The first thread with each other one of its warp."""
    if not all(1 <= n <= 1024 for n in block):
        return
    first = linear(tids[0], block)
    for n in range(first // warp * warp, min(first // warp * warp + warp, block[0] * block[1] * block[2])):
        if n != first:
            yield [tids[0], (n % block[0], n // block[0] % block[1], n // (block[0] * block[1]))]


def _typed(v: int, kind: Type) -> Value:
    return bool(v) if kind.kind == "bool" else float(v) if kind.kind == "base" else int(v)


def built_in(index: Dim, block: Dim, grid: Dim, scene: Context) -> dict[str, Value]:
    """The values of the built-in parameters."""
    dims = {"blockIdx": index, "blockDim": block, "gridDim": grid}
    values: dict[str, Value] = {f"{n}.{axis}": v for n, d in dims.items() for axis, v in zip("xyz", d, strict=True)}
    return {**values, "warpSize": scene.hardware.warp}


def random_states(o: Obligation, scene: Context, rng: random.Random) -> Iterator[State]:
    """States of {P; .; X} with as many threads of a warp as P allows there, the small ones first, until patience
    ends."""
    end = time.thread_time() + limits.REPLAY_SECONDS / 2
    x, sigma = uniform_in(o), scene.sigma
    mentioned = {t.name for e in terms_of(o) for t in subterms(e) if isinstance(t, Var)}
    pool = tuple(
        dict.fromkeys(
            [*_SIZES, *(v + d for e in terms_of(o) for v in _numbers(e) for d in (-1, 0, 1))]  # where comparisons tip
        )
    )
    for attempt in range(limits.STATES):
        here = pool if attempt % 2 else _SIZES[:6]
        launched = random_launch(scene, rng)
        if time.thread_time() > end:  # even where no state comes up
            return
        if launched is None:
            continue
        block, grid, index, params = launched
        uniform = {n: _random_value(rng, sigma.locals[n], (*here, *_ints(params.values()))) for n in sorted(x)}
        for state in team(o.p, x, block, grid, index, params, uniform, scene):
            if time.thread_time() > end:
                return
            free = {n: sigma.locals[n] for n in sorted(mentioned - x) if n not in state.store.locals}
            for name, kind in free.items():
                state.store.locals[name] = {t: _random_value(rng, kind, here) for t in state.threads}
            kept = tuple(t for t in state.threads if allowed(o.p, x, replace(state, threads=(t,)), scene))
            if kept:
                yield replace(state, threads=kept, seed=rng.getrandbits(16))


def _numbers(e: Expr) -> Iterator[int]:
    return (t.value for t in subterms(e) if isinstance(t, Const) and type(t.value) is int and abs(t.value) < 10**6)


def _ints(values: Iterable[Value]) -> list[int]:
    return [v for v in values if type(v) is int]


def _random_value(rng: random.Random, kind: Type, pool: tuple[int, ...]) -> Value:
    return _typed(rng.getrandbits(1) if kind.kind == "bool" else rng.choice(pool), kind)


def random_launch(scene: Context, rng: random.Random) -> Launched | None:
    """A launch with values for the parameters that the context allows; None where none was hit on."""
    launch = scene.launch
    sizes = [n or (rng.choice(_BLOCKS) if i == 0 else 1) for i, n in enumerate(launch.block)]
    grid = [n or (rng.choice((1, 1, 2, 3)) if i == 0 else 1) for i, n in enumerate(launch.grid)]
    block_, grid_ = (sizes[0], sizes[1], sizes[2]), (grid[0], grid[1], grid[2])
    index = (rng.randrange(min(grid[0], 4)), rng.randrange(min(grid[1], 4)), rng.randrange(min(grid[2], 4)))
    numbers = tuple(dict.fromkeys((*_SIZES, *(n for f in launch.assumptions for n in _numbers(f)))))
    for _ in range(50):
        params: dict[str, Value] = {
            name: _random_value(rng, kind, numbers) for name, kind in scene.sigma.params.items() if name not in BUILTINS
        } | built_in(index, block_, grid_, scene)
        if all(holds(f, params) for f in launch.assumptions):
            return block_, grid_, index, params
    return None


def holds(fact: Expr, params: Mapping[str, Value]) -> bool:
    try:
        return bool(value_of(fact, cast(Mapping[str, Exact], params)))
    except KeyError:
        return False


def team(
    p: P,
    x: X,
    block: Dim,
    grid: Dim,
    index: Dim,
    params: dict[str, Value],
    uniform: dict[str, Value],
    scene: Context,
) -> Iterator[State]:
    """For each warp a state with the lanes that P may allow, given the parameters and the uniform variables. Locals
    that P does not define there are left out."""
    pins: list[Expr] = []
    known: list[tuple[Expr, Value]] = [*((Param(n), v) for n, v in params.items())]
    known += [(Var(n), v) for n, v in uniform.items()]
    for leaf, v in known:
        if leaf == Param(WARP_INDEX):
            continue
        if isinstance(v, bool):
            pins.append(leaf if v else Op("!", (leaf,)))
        elif isinstance(v, int):
            pins.append(Op("==", (leaf, Const(v))))
    view = View((*pins, *p), x, scene, scene.sigma)
    for warp in view.warps:
        locals_: dict[str, dict[Thread, Value]] = {}
        threads: list[Thread] = []
        for lane in warp:
            tid = tuple(n for n in lane.tid.values() if isinstance(n, int))
            if len(tid) != 3:
                break
            t = Thread(index, (tid[0], tid[1], tid[2]))
            threads.append(t)
            for name, kind in scene.sigma.locals.items():
                if name in uniform:
                    locals_.setdefault(name, {})[t] = uniform[name]
                elif isinstance(value := view.value_at(Var(name), lane), int):
                    locals_.setdefault(name, {})[t] = _typed(value, kind)
        if threads:
            whole = {name: v for name, v in locals_.items() if len(v) == len(threads)}
            yield State(
                block, grid, params | warp_number(threads[0], block, scene), tuple(threads), Store(locals=whole)
            )
