"""Refutations run in the semantics: nobody is shown a counterexample that does not happen.

An oracle's model of a side condition becomes a store, parameters and threads, and so do random states where an oracle
could not tell; `semantics.lockstep` then says what the terms are worth there, and what the statement beside it costs
against what the conditions pay. `dearer` looks for a whole run that costs more than an outline claims. Nothing here
decides anything: a state that was not found proves nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, takewhile
from math import prod
from typing import Final, cast

from checker.certificates.claims import amount
from checker.kernel import Rejected, judgement_of
from checker.oracles.lanes import View
from checker.oracles.terms import facts_of, value_of, with_fresh
from logic.assertions import AtLeast, AtMost, Condition, Context, Entails, Obligation, P, Refuted, Triple, Uniform, X
from logic.derivation import Derivation
from logic.metrics import Metric
from logic.operators import COMPARISONS
from logic.operators import Value as Exact
from logic.potentials import Leaf, Poly, evaluate, leaves
from logic.rules import SOUND
from logic.source import SourceError
from logic.syntax import (
    BUILTINS,
    WARP_INDEX,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Stmt,
    Tid,
    Type,
    Var,
    While,
    show,
    show_stmt,
    subterms,
)
from logic.typing import Signature
from semantics import lockstep
from semantics.events import Dim, Event, Observer, Thread, Threads
from semantics.grid import Contents, check_launch, run
from semantics.lockstep import Initial, Machine, StepLimit, Store, linear
from semantics.values import Value, default

STEPS: Final = 4_000
"""The most steps of a statement or of a warp that is run."""

STATES: Final = 60
RUNS: Final = 40
PATIENCE: Final = 1.0
"""The most seconds of processor time that one search may take: a busy machine finds as much."""

LARGE: Final = 300
"""A model with larger numbers than this is shown only where no state with smaller ones was found."""

UNFIT: Final = (SourceError, RecursionError, KeyError, ValueError, ArithmeticError, MemoryError)
"""Errors that the semantics may end in, given a state that nobody chose: it is then shown to nobody."""


class OutOfTime(SourceError):
    """A run that nobody asked for takes too long: its numbers have grown too large."""


def _hurried() -> Observer:
    """An observer that stops a run when patience ends."""
    end = time.process_time() + PATIENCE

    def see(_: Event) -> None:
        if time.process_time() > end:
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


@dataclass(frozen=True, slots=True)
class Replay:
    """A state in which a side condition is false, as the semantics has it.

    `claimed` is what the condition says of it, `actual` what is; `notes` say what the statement beside it costs, and
    `arrays` what was read.
    """

    state: State
    claimed: str
    actual: str
    arrays: dict[str, dict[int, Value]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


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


def replayed(error: Rejected, root: Derivation | None, context: Context) -> Replay | None:
    """A state that makes the refused side condition false, and what the statement beside it costs there; None where
    none was found. `root` is the whole derivation."""
    o, verdict = error.obligation, error.verdict
    if o is None:
        return None
    try:
        found = replay(o, verdict.witness if isinstance(verdict, Refuted) else None, context)
        if found is None or not isinstance(o, AtLeast):
            return found
    except UNFIT:
        return None
    try:
        return replace(found, notes=tuple(_costs(error, o, root, found.state, context)))
    except UNFIT:
        return found


# --- a side condition ------------------------------------------------------------------------------------------------


def replay(o: Obligation, model: Mapping[str, int] | None, context: Context, seed: int = 0) -> Replay | None:
    """A state that makes the obligation false in the semantics: the model's, or else one of a few random ones."""
    scene = replace(context, sigma=with_fresh(context.sigma, _terms(o)))
    given = _of_model(o, model, scene) if model else iter(())
    drawn = _in_time(_random_states(o, scene, random.Random(seed)))
    small = model is not None and all(abs(v) <= LARGE for v in model.values())
    for state in chain(given, drawn) if small else chain(drawn, given):
        if (found := _judged(o, state, scene)) is not None:
            return found
    return None


def _in_time(states: Iterator[State]) -> Iterator[State]:
    """The states that come up before patience ends."""
    end = time.process_time() + PATIENCE / 2
    return takewhile(lambda _: time.process_time() < end, states)


def _terms(o: Obligation) -> tuple[Expr, ...]:
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


def _uniform_in(o: Obligation) -> X:
    return frozenset() if isinstance(o, Entails) else o.x


def _judged(o: Obligation, state: State, scene: Context) -> Replay | None:
    """The word of the semantics on an obligation in a state: a Replay where the state is one of {P; .; X} and the
    obligation is false there."""
    if not _allowed(o.p, _uniform_in(o), state, scene):
        return None
    match o:
        case Entails(_, goal):
            for g in goal:
                values, arrays = _values(g, state, scene)
                for t, v in values.items():
                    if not v:
                        one = replace(state, threads=(t,))
                        return Replay(one, show(g), _sides(g, one, scene), arrays)
        case Uniform(_, _, e):
            values, _ = _values(e, state, scene)
            first, *others = sorted(state.threads, key=lambda t: linear(t.tid, state.block))
            other = next((t for t in others if values[t] != values[first]), None)
            if other is not None:
                worth = [f"{text(values[t])} at {thread(t)}" for t in (first, other)]
                pair = replace(state, threads=(first, other))
                return Replay(
                    pair, f"{show(e)} is the same for both", f"it is {' and '.join(worth)}", _values(e, pair, scene)[1]
                )
        case AtMost():
            access = Read(o.array, o.index)
            seen: list[Event] = []
            lockstep.evaluate(access, state.store, state.threads, _machine(state, scene, seen.append))
            n, indices = seen[-1].count or 0, seen[-1].indices
            if n > o.n:
                unit = "sectors" if o.what == "MemReads" else "words of one bank"
                actual = f"{len(indices)} lanes access {_listed(indices)}: {n} {unit}"
                return Replay(state, f"{o.what}({o.array}[{show(o.index)}]) <= {o.n}", actual)
        case AtLeast(_, _, q, r):
            for t in state.threads:
                have, need = (worth_of(a, state, t, scene.sigma) for a in (q, r))
                if have < need:
                    one = replace(state, threads=(t,))
                    return Replay(one, f"{q} is at least {r}", f"{have} is there, {need} is needed")
    return None


def _allowed(p: P, x: X, state: State, scene: Context) -> bool:
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
    if any(len({_local(name, t, state, scene.sigma) for t in state.threads}) > 1 for name in x):
        return False
    return all(all(_values(f, state, scene)[0].values()) for f in facts_of(p, scene, scene.sigma))


def _values(e: Expr, state: State, scene: Context) -> tuple[dict[Thread, Value], dict[str, dict[int, Value]]]:
    """The value of e at each thread, and what was read for it."""
    read: dict[str, dict[int, Value]] = {}
    machine = _machine(state, scene, lambda event: _note(event, state, machine, read))
    return lockstep.evaluate(e, state.store, state.threads, machine)[0], read


def _note(event: Event, state: State, machine: Machine, read: dict[str, dict[int, Value]]) -> None:
    if isinstance(event.term, Read):
        array = machine.sigma.arrays[event.term.array]
        for i in event.indices:
            read.setdefault(array.name, {})[i] = lockstep.load(array, i, state.store, machine)


def _machine(state: State, scene: Context, observer: Observer | None = None) -> Machine:
    initial: dict[str, Initial] = {}
    for name, array in scene.sigma.arrays.items():
        value: Callable[[int], Value] | None = None
        if state.seed is not None:
            value = _contents(f"{state.seed}:{name}", array.elem)
        initial[name] = Initial(value, array.length)
    return Machine(
        scene.sigma, state.params, state.block, (scene.metric,), scene.hardware, initial, STEPS, observer
    )  # fmt: skip


def _contents(seed: str, elem: Type) -> Callable[[int], Value]:
    return lambda i: _random_value(random.Random(f"{seed}:{i}"), elem, (0, 1, 2, 3, 5, 8))


def _local(name: str, t: Thread, state: State, sigma: Signature) -> Value:
    return state.store.locals.get(name, {}).get(t, default(sigma.locals[name]))


def worth_of(q: Poly, state: State, t: Thread, sigma: Signature) -> Fraction:
    """Q at a thread of a state. Raises KeyError for a leaf that the program lacks."""
    store: dict[Leaf, int] = {}
    for leaf in leaves(q):
        match leaf:
            case Var(name):
                store[leaf] = int(_local(name, t, state, sigma))
            case Param(name):
                store[leaf] = int(state.params[name])
            case Tid(axis):
                store[leaf] = t.tid["xyz".index(axis)]
    return evaluate(q, store)


def _sides(g: Expr, state: State, scene: Context) -> str:
    """The values that a false conjunct compares, side by side."""
    match g:
        case Op(op, (a, b)) if op in COMPARISONS:
            sides = [(e, text(_values(e, state, scene)[0][state.threads[0]])) for e in (a, b)]
            told = [f"{show(e)} is {v}" for e, v in sides if not isinstance(e, Const)]
            return " and ".join(told) or f"{show(g)} is false"
    return f"{show(g)} is false"


# --- states ----------------------------------------------------------------------------------------------------------


def _of_model(o: Obligation, model: Mapping[str, int], scene: Context) -> Iterator[State]:
    """The states that a model describes. Two threads that it gives one place are put on different lanes."""
    pair = isinstance(o, Uniform)

    def of(name: str, n: int, otherwise: int = 0) -> int:
        return model.get(name, model.get(f"{name}@{n}", otherwise))

    def dims(name: str, known: tuple[int | None, ...]) -> Dim:
        x, y, z = (of(f"{name}.{axis}", 1, size or 1) for axis, size in zip("xyz", known, strict=True))
        return x, y, z

    named = {leaf.name for e in _terms(o) for leaf in subterms(e) if isinstance(leaf, Param)}
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
    params |= _launched(index, block, grid, scene)
    who = (1, 2) if pair else (0,)
    tids: list[Dim] = [(of("tid.x", n), of("tid.y", n), of("tid.z", n)) for n in who]
    for places in _apart(tids, block, scene.hardware.warp) if pair and tids[0] == tids[1] else (tids,):
        threads = tuple(Thread(index, tid) for tid in places)
        values = {
            name: {t: _typed(of(name, n), kind) for t, n in zip(threads, who, strict=True)}
            for name, kind in scene.sigma.locals.items()
        }
        yield State(block, grid, params | _warp(threads[0], block, scene), threads, Store(locals=values))


def _warp(t: Thread, block: Dim, scene: Context) -> dict[str, Value]:
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


def _launched(index: Dim, block: Dim, grid: Dim, scene: Context) -> dict[str, Value]:
    """The values of the built-in parameters."""
    dims = {"blockIdx": index, "blockDim": block, "gridDim": grid}
    values: dict[str, Value] = {f"{n}.{axis}": v for n, d in dims.items() for axis, v in zip("xyz", d, strict=True)}
    return {**values, "warpSize": scene.hardware.warp}


def _random_states(o: Obligation, scene: Context, rng: random.Random) -> Iterator[State]:
    """States of {P; .; X} with as many threads of a warp as P allows there, the small ones first."""
    x, sigma = _uniform_in(o), scene.sigma
    mentioned = {t.name for e in _terms(o) for t in subterms(e) if isinstance(t, Var)}
    pool = tuple(
        dict.fromkeys(
            [*_SIZES, *(v + d for e in _terms(o) for v in _numbers(e) for d in (-1, 0, 1))]  # where comparisons tip
        )
    )
    for attempt in range(STATES):
        here = pool if attempt % 2 else _SIZES[:6]
        launched = _random_launch(scene, rng)
        if launched is None:
            continue
        block, grid, index, params = launched
        uniform = {n: _random_value(rng, sigma.locals[n], (*here, *_ints(params.values()))) for n in sorted(x)}
        for state in team(o.p, x, block, grid, index, params, uniform, scene):
            free = {n: sigma.locals[n] for n in sorted(mentioned - x) if n not in state.store.locals}
            for name, kind in free.items():
                state.store.locals[name] = {t: _random_value(rng, kind, here) for t in state.threads}
            kept = tuple(t for t in state.threads if _allowed(o.p, x, replace(state, threads=(t,)), scene))
            if kept:
                yield replace(state, threads=kept, seed=rng.getrandbits(16))


def _numbers(e: Expr) -> Iterator[int]:
    return (t.value for t in subterms(e) if isinstance(t, Const) and type(t.value) is int and abs(t.value) < 10**6)


def _ints(values: Iterable[Value]) -> list[int]:
    return [v for v in values if type(v) is int]


def _random_value(rng: random.Random, kind: Type, pool: tuple[int, ...]) -> Value:
    return _typed(rng.getrandbits(1) if kind.kind == "bool" else rng.choice(pool), kind)


def _random_launch(scene: Context, rng: random.Random) -> Launched | None:
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
        } | _launched(index, block_, grid_, scene)
        if all(_true(f, params) for f in launch.assumptions):
            return block_, grid_, index, params
    return None


def _true(fact: Expr, params: Mapping[str, Value]) -> bool:
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
                elif isinstance(value := view.value(Var(name), lane), int):
                    locals_.setdefault(name, {})[t] = _typed(value, kind)
        if threads:
            whole = {name: v for name, v in locals_.items() if len(v) == len(threads)}
            yield State(block, grid, params | _warp(threads[0], block, scene), tuple(threads), Store(locals=whole))


# --- what statements cost --------------------------------------------------------------------------------------------


def _costs(error: Rejected, o: AtLeast, root: Derivation | None, state: State, context: Context) -> Iterator[str]:
    """The cost, in the state, of the statement beside a failed comparison, against what the conditions around it
    pay."""
    values = error.substitution
    if error.rule_name != "Q:Weak":
        return
    if (o.q, o.r, o.p) == (values["Q1"], values["Q2"], values["P1"]):
        after = Condition(cast(P, values["P1'"]), cast(Poly, values["Q1'"]), cast(X, values["X1'"]))
        runs, what = [(cast(Stmt, values["s"]), after)], "this statement"
    else:
        runs, what = ([] if root is None else list(following(root, error.path, context))), "what follows"
    told: list[tuple[str, bool]] = []
    for other in _alike(o, state, context):
        crowd = _crowd(o, other, context)
        told += [note for s, post in runs if (note := _paid(s, post, o.q, crowd, context, what)) is not None]
        if any(short for _, short in told):
            break
    if told:
        yield next((text for text, short in told if short), told[0][0])


def _alike(o: AtLeast, state: State, context: Context) -> Iterator[State]:
    """The state, and others in which the parameters that the obligation does not name are 1: sizes of 0 hide costs."""
    yield state
    named = {leaf.name for e in _terms(o) for leaf in subterms(e) if isinstance(leaf, Param)}
    free = [n for n, v in context.sigma.params.items() if v.kind == "int" and n not in BUILTINS and n not in named]
    if free:
        yield replace(state, params=state.params | dict.fromkeys(free, 1))


def _crowd(o: AtLeast, state: State, context: Context) -> State:
    """All the lanes of the state's warp that P allows, with the state's values of X; the others like its thread."""
    t = state.threads[0]
    scene = replace(context, sigma=with_fresh(context.sigma, _terms(o)))
    uniform = {name: _local(name, t, state, scene.sigma) for name in o.x}
    for found in team(o.p, o.x, state.block, state.grid, t.block, state.params, uniform, scene):
        if t in found.threads:
            for name, kind in scene.sigma.locals.items():
                values = found.store.locals.setdefault(name, {})
                like = state.store.locals.get(name, {}).get(t, default(kind))
                found.store.locals[name] = {u: like if u == t else values.get(u, like) for u in found.threads}
            kept = tuple(u for u in found.threads if _allowed(o.p, o.x, replace(found, threads=(u,)), scene))
            return replace(found, threads=kept) if t in kept else state
    return state


def _paid(s: Stmt, post: Condition, q: Poly, state: State, context: Context, what: str) -> tuple[str, bool] | None:
    """A sentence on what s costs from a state and what {.; q; .} s `post` pays for it; whether it pays too little."""
    machine = _machine(state, context, _hurried())
    try:
        store, cost = lockstep.execute(s, state.store, state.threads, machine)
        ended = True
    except StepLimit as given_up:
        store, cost, ended = state.store, given_up.cost, False
    after = replace(state, store=store)
    here = worth_of(q, state, state.threads[0], context.sigma)
    left = {worth_of(post.q, after, t, context.sigma) for t in state.threads} if ended else {Fraction(0)}
    if len(left) > 1:
        return None
    spent, pays = cost.parts[0], here - left.pop()
    lanes = "1 thread" if len(state.threads) == 1 else f"{len(state.threads)} threads"
    one = len(show_stmt(s).splitlines()) == 1 or isinstance(s, If | While)
    what = what if one else "the code from there on"
    head = f"{what}, {brief(s)}, costs {told_cost(spent, ended, context.metric)} from there"
    if pays < 0:
        return f"{head} ({lanes}), yet the potential grows by {-pays}", True
    if spent > pays:
        return f"{head} ({lanes}); {pays} is paid for it", True
    return f"{head} ({lanes}); {pays} is paid for it: enough for this run, not for the proof", False


def following(root: Derivation, path: tuple[int, ...], context: Context) -> Iterator[tuple[Stmt, Condition]]:
    """The statement that is run after the one that a derivation's node is about, with the condition after that: the
    next statement, then longer stretches."""
    nodes = [root]
    for i in path:
        nodes.append(nodes[-1].premises[i])
    for depth in range(len(path) - 1, -1, -1):
        node, i = nodes[depth], path[depth]
        rule = SOUND.rules.get(node.rule)
        if rule is None:
            continue
        if rule.shape == "seq" and i == 0:
            stretch = [node.premises[1]]
            while stretch[-1].rule == node.rule:
                stretch.append(stretch[-1].premises[0])
            for part in reversed(stretch):
                if (found := _concluded(part, context)) is not None:
                    yield found
            return
        if rule.turns:
            if (found := _concluded(node, context)) is not None:
                yield found
            return
        if rule.shape == "if" and rule.charges("div"):
            return


def _concluded(node: Derivation, context: Context) -> tuple[Stmt, Condition] | None:
    """A node's statement and its postcondition; None where it takes more to tell."""
    rule = SOUND.rules.get(node.rule)
    if rule is None or not node.substitution.keys() >= set(rule.metavariables):
        return None
    judgement = judgement_of(rule.conclusion, node.substitution, context)
    return (judgement.stmt, judgement.post) if isinstance(judgement, Triple) else None


# --- the whole program -----------------------------------------------------------------------------------------------


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
    rng, end = random.Random(seed), time.process_time() + PATIENCE
    globals_ = [a.name for a in kernel.arrays if a.space == "global"]
    fills = ("zeros", "zeros", "ones", "iota", "random:1", "random:2")

    def tried(launched: Launched, fill: Callable[[], str]) -> Dearer | None:
        block, grid, index, params = launched
        threads = tuple(_threads(block, index))
        state = State(block, grid, params | _warp(threads[0], block, context), threads, Store())
        if any(not all(_values(f, state, context)[0].values()) for f in pre.p) or not _everywhere(
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
    for _ in range(RUNS):
        if time.process_time() > end:
            break
        launched = _random_launch(context, rng)
        if launched is not None and (found := tried(launched, lambda: rng.choice(fills))):
            return found
    return None


def _launched_at(state: State | None, kernel: Kernel, context: Context) -> Launched | None:
    """The launch that a state is of, where it is a small one that the context allows."""
    if state is None or prod(state.grid) > LARGE or any(d.name not in state.params for d in kernel.params):
        return None
    if not all(_true(f, state.params) for f in context.launch.assumptions):
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
            there = replace(state, params=state.params | index | _warp(t, state.block, context))
            worth.append(worth_of(q, there, t, context.sigma))
    return max(worth)


def _everywhere(context: Context, grid: Dim, params: dict[str, Value]) -> bool:
    """Whether the assumptions hold in every block; those that do not speak of blockIdx were looked at before."""
    facts = [f for f in context.launch.assumptions if any(n.startswith("blockIdx.") for n in _params(f))]
    return not facts or all(
        all(_true(f, params | {f"blockIdx.{axis}": n for axis, n in zip("xyz", t.tid, strict=True)}) for f in facts)
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
        result = run(kernel, block, grid, args, arrays, (context.metric,), context.hardware, STEPS, _hurried())
    except StepLimit as given_up:
        return given_up.cost.parts[0], False
    except UNFIT:  # a diverging barrier, or a function whose value is not known
        return None, False
    return result.max_per_warp[context.metric.name], True


# --- text ------------------------------------------------------------------------------------------------------------


def thread(t: Thread) -> str:
    return f"thread ({t.tid[0]},{t.tid[1]},{t.tid[2]})"


def text(v: Value) -> str:
    return str(v).lower() if isinstance(v, bool) else str(v)


def told_cost(cost: Fraction, ended: bool, metric: Metric) -> str:
    """The cost that was spent, or had been by the time that a run was given up."""
    return amount(cost, metric) if ended else f"{cost} and more {metric.name}"


def brief(s: Stmt) -> str:
    """A statement's first line."""
    first, *more = show_stmt(s).splitlines()
    return f"`{first.rstrip(';')}{' ...' if more else ''}`"


def _listed(indices: tuple[int, ...]) -> str:
    """Indices, the long list by its ends."""
    if len(indices) <= 8:
        return ", ".join(map(str, indices))
    return f"{', '.join(map(str, indices[:4]))}, ..., {indices[-1]}"
