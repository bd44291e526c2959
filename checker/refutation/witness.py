"""Inputs on which a kernel costs as much as can be found: what a bound is worth.

A bound says "at most B"; a run that costs W says how far that is from the truth, and proves it exact where W = B. The
search is over launches, parameters and array contents, with the fast semantics as its judge. A run that costs more
than a certified bound would be a fault in warpbound: `Overrun`.
"""

from __future__ import annotations

import random
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Final, Protocol, cast

from checker import limits
from checker.certificates.claims import amount
from checker.oracles.terms import value_of
from checker.refutation.contracts import Missing, Untested, broken, element
from logic.assertions import Context
from logic.facts import congruences, numbers
from logic.metrics import COUNTED, Linear, Metric
from logic.potentials import Leaf, Poly, evaluate, leaves
from logic.source import SourceError
from logic.syntax import (
    BUILTINS,
    INT,
    WARP_INDEX,
    Assign,
    Const,
    Expr,
    If,
    Kernel,
    Param,
    Read,
    Tid,
    Type,
    Var,
    While,
    Write,
    statements,
    subterms,
)
from semantics import vectorised
from semantics.events import Dim
from semantics.grid import MAX_THREADS, Contents, Result
from semantics.values import Value

SIZES: Final = (64, 33, 96, 1000, 8, 256, 1, 2, 3, 5, 31, 32, 65, 100, 127, 128, 129, 255, 257, 512, 1024, 4096)
"""Integer parameters; the first few at once for all parameters."""

TOGETHER: Final = 6

APART: Final = ((0, 9), (2, 33), (7, 8))
"""Two sizes: one parameter has one, all others have the other. Loops in one another end soon there."""

NEAR: Final = tuple(d for d in range(-31, 32) if d)
"""What an integer parameter is changed by: within a warp, or a sector, other indices begin elsewhere."""

REALS: Final = (0.0, 1.0, 0.5, -2.0, -1.0, -0.75, 0.1, 0.25, 0.01, 0.05, 3.0, 100.0)

GRIDS: Final = (1, 2, 3, 4)

MANY: Final = (16, 1, 1)
"""A grid whose blocks differ in the data that they read: it takes the engine little longer than one block."""

BLOCKS: Final = (64, 32, 256, 128, 33, 100)

ROWS: Final = (8, 1, 32, 2, 16)
"""Sizes of a block along y and z, where something speaks of them."""

LONGEST_LIST: Final = 1024
"""Elements of an array that is filled by a list."""

SAME_BANK: Final = 32 * 0x01010101
"""Steps from a word to the next one of its bank, in each byte of an element."""

_ONE: Final = Linear(Fraction(0), Fraction(1))

WORK: Final = Metric("", dict.fromkeys(("if", "vwrite"), Fraction(1)), dict.fromkeys(COUNTED, _ONE))
"""Tests, assignments and accesses to memory: about what a run takes the engine."""

AT_ONCE: Final = 16
"""So many warps together take the engine about as long as one."""

FILLS: Final = (
    "zeros",
    f"cycle:0:{SAME_BANK}:8",  # the lanes take turns in the words of one bank, also byte by byte
    "cycle:0:2:2",  # neighbours differ
    "cycle:0:32:32",
    f"cycle:1:1:{2**40}",  # each element names the next one
    "iota",
    "ones",
    "random:0",
    "random:1",
)
"""Contents of arrays, as `run --array` takes them."""

STEPS: Final = (1, 2, 3, 5, 7, 10, 31, 32, 33, 97, 100)
"""What the elements of a cycle rise by, one that is drawn."""

COUNTS: Final = (2, 3, 5, 7, 8, 13, 16, 31, 32, 33, 64, 97, 128)
"""After how many elements it begins again."""

RAMPS: Final = tuple(f"cycle:0:{step}:{2**24}" for step in (64, 33, 32, 16, 8, 5, 4, 3, 2))
"""Arrays that rise by the same from element to element, as the beginnings of rows do: for contracts on data."""


@dataclass(frozen=True, slots=True)
class Input:
    """A launch, the parameters' values, and arrays that are not 0, as texts that `run --array` takes."""

    block: Dim
    grid: Dim
    args: Mapping[str, Value]
    arrays: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Witness:
    """An input, what it costs, and what the bound says there. Of a block that is one of several, `cost` is the mean:
    the dearest costs that at least."""

    input: Input
    cost: Fraction
    bound: Fraction

    @property
    def exact(self) -> bool:
        """Whether the run reaches the bound."""
        return self.cost == self.bound

    @property
    def ratio(self) -> Fraction | None:
        """Bound over cost; None where only the bound is above 0."""
        if self.exact:
            return Fraction(1)
        return self.bound / self.cost if self.cost else None


class Bounded(Protocol):
    """A bound that runs are held against: a claim, or one by rules on trial."""

    @property
    def context(self) -> Context:
        """The context of the kernel."""

    @property
    def bound(self) -> Poly:
        """The potential that no run may exceed."""

    @property
    def per(self) -> str:
        """Whom it allows that: `warp`, `block` or `grid`."""


class Overrun(Exception):
    """A run costs more than a bound: of a certified one, a fault in warpbound."""

    def __init__(self, claim: Bounded, found: Witness) -> None:
        super().__init__(f"a run costs {amount(found.cost, claim.context.metric)}, the bound there is {found.bound}")
        self.claim = claim
        self.found = found


Fill = Callable[[Mapping[str, str]], Mapping[str, Contents]]
"""Contents of arrays from texts such as `run --array` takes."""

Most = Callable[[Bounded, Input, Mapping[str, Contents]], Fraction]
"""The most that a run with these contents of arrays may cost. Raises SourceError for an input that says nothing."""

Ran = dict[str, tuple[list[Fraction], int] | None]
"""The costs of inputs under each of some claims, and how much work it was to see them; None for one that cannot be run.
"""


def command(path: str, given: Input, options: Sequence[str] = ()) -> str:
    """The command that runs an input again."""
    words = ["warpbound", "run", path, *options]
    words += ["--block", _sizes(given.block), "--grid", _sizes(given.grid)]
    for name, value in given.args.items():
        words += ["--arg", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    for name, text in given.arrays.items():
        words += ["--array", f"{name}={text}"]
    return shlex.join(words)


def _sizes(dim: Dim) -> str:
    return ",".join(map(str, dim)).removesuffix(",1").removesuffix(",1")


def find_witnesses(
    kernel: Kernel,
    claims: Sequence[Bounded],
    fill: Fill,
    at: Mapping[str, int] | None = None,
    first: Iterable[Input] = (),
    runs: int = limits.INPUTS,
    effort: int = limits.EFFORT,
    stale: int = limits.STALE,
    most: Most | None = None,
    ran: Ran | None = None,
) -> list[Witness | None]:
    """For each claim the best witness found: the one with the least ratio, and of those the first. The claims are about
    one launch, each about one metric.

    `at` fixes parameters, sizes of the launch, and elements of arrays, which the data of every run then have; `first`
    are inputs to begin with; None where no input could be run. `most` is what runs are held against in place of the
    bound: the search does not end where one reaches it. `ran` are inputs that an earlier search for these claims ran,
    maybe at another point, and gets those that this one runs. Raises Overrun.
    """
    if not claims:
        return []
    search = _Search(kernel, claims, fill, dict(at or {}), random.Random(0), most, ran)
    end = time.thread_time() + limits.SEARCH_SECONDS
    vain = 0
    for count, given in enumerate(search.inputs(first)):
        if count >= runs or vain >= stale or search.done or search.spent > effort or time.thread_time() > end:
            break
        before = list(search.best)
        search.attempt(given)
        vain = vain + 1 if search.best == before else 0
    return search.best


def influential(kernel: Kernel) -> frozenset[str]:
    """The parameters, variables and arrays that may decide where a thread goes and which elements it touches: all that
    cost depends on."""
    roots: list[Expr] = []
    flows: list[tuple[str, Expr]] = []
    for s in statements(kernel.body):
        match s:
            case If(cond) | While(cond):
                roots.append(cond)
            case Assign(x, e):
                flows.append((x, e))
            case Write(array, index, e):
                roots.append(index)
                flows.append((array, e))
    roots += [t.index for e in (*roots, *(e for _, e in flows)) for t in subterms(e) if isinstance(t, Read)]
    found: set[str] = set()
    pending = roots
    while pending:
        new = {name for e in pending for name in _names(e)} - found
        found |= new
        pending = [e for target, e in flows if target in new]
    return frozenset(found)


def _names(e: Expr) -> Iterator[str]:
    for t in subterms(e):
        match t:
            case Var(name) | Param(name):
                yield name
            case Tid(axis):
                yield f"threadIdx.{axis}"
            case Read(array, _):
                yield array


class _Search:
    """The state of a search: for each claim the best witness, and the last that was no worse, from where it goes on."""

    def __init__(
        self,
        kernel: Kernel,
        claims: Sequence[Bounded],
        fill: Fill,
        at: dict[str, int],
        rng: random.Random,
        most: Most | None = None,
        ran: Ran | None = None,
    ) -> None:
        self.kernel = kernel
        self.claims = claims
        self.fill = fill
        self.at = at
        self.rng = rng
        self.most = most
        self.context: Context = claims[0].context
        self.best: list[Witness | None] = [None] * len(claims)
        self.here: list[Witness | None] = [None] * len(claims)
        self.many: list[Dim] = []
        self.tried: set[str] = set()
        self.ran: Ran = {} if ran is None else ran
        self.spent = 0
        facts = self.context.launch.assumptions
        said = {name for fact in facts for name in _names(fact)}
        said |= {leaf.name for claim in claims for leaf in leaves(claim.bound)}
        self.matters = influential(kernel) | said
        self.fixed, self.residues = _given(facts)
        near = (n + d for fact in facts for n in _numbers(fact) for d in (0, 1, -1))
        self.limits = tuple(dict.fromkeys((0, *_limits(kernel))))
        self.sizes = tuple(
            dict.fromkeys((*SIZES, *near, *(n + d for n in self.limits for d in (0, 1, -1) if n + d > 0)))
        )
        self.contracts = self.context.launch.contracts
        self.fills = (*FILLS, *RAMPS) if self.contracts else FILLS
        self.arrays = [a.name for a in kernel.arrays if a.space == "global" and a.name in self.matters]
        self.held = _elements(self.at)
        self.fitting = {array: self.fits(array) for array in self.held}

    @property
    def done(self) -> bool:
        return self.most is None and all(
            _rank(claim, found) == PERFECT for claim, found in zip(self.claims, self.best, strict=True)
        )

    def inputs(self, first: Iterable[Input]) -> Iterator[Input]:
        """Inputs without end: those given, round ones, each filling of the arrays, and then changes of the best ones
        and random ones in turns. Each is tried once."""
        for given in first:
            fixed = {name: n for name, n in self.args(_always(1)).items() if name in self.at}
            yield replace(given, args={**given.args, **fixed})
        grids = self.dims("gridDim", self.context.launch.grid, GRIDS, "blockIdx")
        blocks = self.dims("blockDim", self.context.launch.block, BLOCKS, "threadIdx")
        self.many = [MANY] if len(grids) > 1 else []
        start = Input(blocks[0], grids[0], self.args(_always(SIZES[0])))
        yield start
        for n in SIZES[1:TOGETHER]:
            yield replace(start, args=self.args(_always(n)))
        for text in self.fills[1:] if self.arrays else ():
            yield replace(start, arrays=dict.fromkeys(self.arrays, text))
        for small, large in APART:
            for name in sorted(d.name for d in self.kernel.params if d.type == INT and d.name in self.matters):
                for one, others in ((small, large), (large, small)):
                    args = self.args(_always(others))
                    yield replace(start, args={**args, name: self.args(_always(one))[name]})
        for grid in grids[1:]:
            yield replace(start, grid=grid)
        while True:
            best = [w.input for c, w in zip(self.claims, self.here, strict=True) if w and _rank(c, w) != PERFECT]
            if best and self.rng.random() < 0.7:
                given = self.rng.choice(best)
                for _ in range(self.rng.choice((1, 1, 2, 3))):
                    given = self.changed(given, blocks, grids)
                yield given
            else:
                yield Input(
                    self.rng.choice(blocks),
                    self.rng.choice(grids),
                    self.args(self.drawn),
                    {a: text for a in self.arrays if (text := self.rng.choice(self.fills)) != "zeros"},
                )

    def dims(self, name: str, sizes: Sequence[int | None], choices: Sequence[int], index: str) -> list[Dim]:
        """The sizes that a dimension of the launch may have: along axes that nothing speaks of, 1."""
        axes = []
        for axis, size in zip("xyz", sizes, strict=True):
            known = size or self.at.get(f"{name}.{axis}")
            free = axis == "x" or {f"{name}.{axis}", f"{index}.{axis}"} & self.matters
            own = ROWS if name == "blockDim" and axis != "x" else choices
            axes.append([known] if known else list(own) if free else [1])
        found = [(x, y, z) for x, y, z in product(*axes) if name == "gridDim" or x * y * z <= MAX_THREADS]
        return sorted(found, key=lambda d: d[0] * d[1] * d[2] if name == "gridDim" else 0) or [(1, 1, 1)]

    def fits(self, array: str) -> list[str]:
        """The fillings of an array that have its elements at the point, those made for them first."""
        wanted = self.held[array]
        found = (*_made_for(wanted), *FILLS, *RAMPS)
        return [text for text in found if self.has(wanted, self.fill({array: text})[array])]

    @staticmethod
    def has(wanted: Mapping[int, int], contents: Contents) -> bool:
        return all(element(contents, i) == n for i, n in wanted.items())

    def at_point(self, given: Input) -> Input | None:
        """The input with data that have the elements of arrays at the point; None where no filling has them."""
        if not all(self.fitting.values()):
            return None
        wrong = {a: own[0] for a, own in self.fitting.items() if given.arrays.get(a, "zeros") not in own}
        return replace(given, arrays={**given.arrays, **wrong}) if wrong else given

    def args(self, draw: Callable[[Type], int | float]) -> dict[str, Value]:
        """A value for each parameter, as the assumptions and the point want it where they are as plain as that."""
        found: dict[str, Value] = {}
        for d in self.kernel.params:
            n = self.at.get(d.name, draw(d.type) if d.name in self.matters else 1)
            if d.type == INT and d.name not in self.at:
                k, r = self.residues.get(d.name, (1, 0))
                found[d.name] = self.fixed.get(d.name, int(n) - int(n) % k + r)
            elif d.type == INT:
                found[d.name] = int(n)
            else:
                found[d.name] = bool(int(n) % 2) if d.type.kind == "bool" else float(n)
        return found

    def drawn(self, kind: Type) -> int | float:
        return self.rng.choice(self.sizes) if kind.kind != "base" else self.rng.choice(REALS) * self.rng.random()

    def changed(self, given: Input, blocks: Sequence[Dim], grids: Sequence[Dim]) -> Input:
        """The input with one thing changed."""
        names = [name for name in given.args if name in self.matters and name not in self.at and name not in self.fixed]
        kinds = [(names, 4), (self.arrays, 4), (["launch"], 1)]
        what = self.rng.choice(self.rng.choices([of for of, _ in kinds], [n if of else 0 for of, n in kinds])[0])
        if what in self.arrays:
            return replace(given, arrays={**given.arrays, what: self.filling(given.arrays.get(what, "zeros"))})
        if what in names:
            old, new = given.args[what], self.args(self.drawn)[what]
            near = not isinstance(old, bool) and self.rng.random() < 0.6
            if near and isinstance(old, float):
                new = old * (0.5 + self.rng.random())
            elif near:
                new = self.args(_always(max(0, int(old) + self.rng.choice(NEAR))))[what]
            return replace(given, args={**given.args, what: new})
        return replace(given, block=self.rng.choice(blocks), grid=self.rng.choice([*grids, *self.many]))

    def filling(self, old: str) -> str:
        """Other contents of an array: one of the list; a cycle that ends or begins near a number that a test compares
        with; or the old cycle with a number changed."""
        draw, roll = self.rng.choice, self.rng.random()
        if roll < 0.4 or self.contracts:
            return draw(self.fills)
        if roll < 0.7 and old.startswith("cycle"):
            start, step, count = map(int, old.split(":")[1:])
            match draw(("start", "step", "count")):
                case "start":
                    start += draw((1, -1)) * draw((1, step, step * draw(COUNTS)))
                case "step":
                    step = draw((2 * step, step // 2, step + 1, step - 1, draw(STEPS)))
                case _:
                    count = draw(COUNTS)
        else:
            limit, step, count = draw(self.limits), draw(STEPS), draw(COUNTS)
            if limit > step and draw((True, False)):
                step = limit // draw(COUNTS)
            start = limit + draw((0, 1, -1, -step * draw(COUNTS), -step * count))
        return f"cycle:{max(0, start)}:{max(1, step)}:{count}"

    def attempt(self, given: Input) -> None:
        """Runs an input, with the data of the point, and keeps it where it is the best for a claim. Raises Overrun."""
        at_point = self.at_point(given)
        if at_point is None or (name := str(at_point)) in self.tried:
            return
        given = at_point
        self.tried.add(name)
        size = self.context.hardware.warp
        threads, blocks = (d[0] * d[1] * d[2] for d in (given.block, given.grid))
        if -(-threads // size) * blocks > limits.WARPS or not allowed(self.context, given):
            return
        try:
            contents = self.fill(given.arrays)
            if not kept(self.context, given, contents):
                return
            if name not in self.ran:
                self.ran[name] = None
                self.ran[name] = self.run(given, contents, blocks)
            done = self.ran[name]
            allow = [] if done is None else [(self.most or worth)(claim, given, contents) for claim in self.claims]
        except SourceError:  # it takes too long, has no value somewhere, or a barrier diverges: no run to learn from
            done, allow = None, []
        if done is None:
            self.spent += limits.LONGEST
            return
        costs, work = done
        self.spent += work
        for i, claim in enumerate(self.claims):
            found = Witness(given, costs[i], allow[i])
            if found.cost > found.bound:
                raise Overrun(claim, found)
            rank = _rank(claim, found)
            if rank < _rank(claim, self.best[i]):
                self.best[i] = found
            if rank <= _rank(claim, self.here[i]):
                self.here[i] = found

    def run(self, given: Input, contents: Mapping[str, Contents], blocks: int) -> tuple[list[Fraction], int]:
        """The costs of an input, and the work. Raises SourceError."""
        metrics = [*(claim.context.metric for claim in self.claims), WORK]
        launch, hardware = (given.block, given.grid, given.args, contents), self.context.hardware
        result = vectorised.run(self.kernel, *launch, metrics, hardware, limits.LONGEST)
        work = int(result.max_per_warp[WORK.name]) + int(result.totals[WORK.name]) // AT_ONCE
        return [_cost(claim, result, blocks) for claim in self.claims], work


def allowed(context: Context, given: Input) -> bool:
    """Whether every block of an input satisfies the assumptions of a launch."""
    stores = list(_stores(context, given, False))
    return all(_true(fact, store) for fact in context.launch.assumptions for store in stores)


def kept(context: Context, given: Input, contents: Mapping[str, Contents]) -> bool:
    """Whether arrays keep the contracts on data of a launch, as far as that can be tested."""
    params = next(_stores(context, given, False))
    try:
        return all(broken(c, params, contents) is None for c in context.launch.contracts)
    except (Missing, Untested):
        return False


def _elements(at: Mapping[str, int]) -> dict[str, dict[int, int]]:
    """The elements of arrays that a point names, by array and index."""
    found: dict[str, dict[int, int]] = {}
    for name, n in at.items():
        array, _, index = name.removesuffix("]").partition("[")
        if index:
            found.setdefault(array, {})[int(index)] = n
    return found


def _made_for(wanted: Mapping[int, int]) -> Iterator[str]:
    """Fillings that may have some elements, as `run --array` takes them: a list where that is not long, and a ramp."""
    indices = sorted(wanted)
    if min(wanted.values()) < 0 or indices[0] < 0:
        return
    if indices == [*range(len(indices))] and len(indices) <= LONGEST_LIST:
        yield ",".join(str(wanted[i]) for i in indices)
    first, last = indices[0], indices[-1]
    step = (wanted[last] - wanted[first]) // (last - first) if last > first else 0
    start = wanted[first] - step * first
    if step >= 0 and start >= 0:
        yield f"cycle:{start}:{step}:{2**24}"


def _always(n: int) -> Callable[[Type], int]:
    return lambda _: n


PERFECT: Final = (0, Fraction(1))


def _rank(claim: Bounded, found: Witness | None) -> tuple[int, Fraction]:
    """How good a witness is, the least the best: those before whose input the bound has no more than its constant part
    say little, and where nothing is paid there is no ratio."""
    if found is None:
        return 3, Fraction(0)
    if found.ratio is None:
        return 2, found.bound
    idle = not claim.bound.is_constant and found.bound == claim.bound.constant
    return int(idle), found.ratio


def _cost(claim: Bounded, result: Result, blocks: int) -> Fraction:
    """The cost of the dearest warp, of a block, or of the grid, by the run."""
    name = claim.context.metric.name
    match claim.per:
        case "warp":
            return result.max_per_warp[name]
        case "block":
            return result.totals[name] / blocks
    return result.totals[name]


def worth(claim: Bounded, given: Input, arrays: Mapping[str, Contents]) -> Fraction:
    """The most that a bound allows any warp, or block, of an input; `arrays` is what arrays hold."""
    inside = {leaf.name for leaf in leaves(claim.bound)}
    if any(name.startswith("blockIdx.") or name == WARP_INDEX for name in inside):
        stores = list(_stores(claim.context, given, WARP_INDEX in inside))
    else:
        stores = [next(_stores(claim.context, given, False))]
    return max(_evaluated(claim.bound, store, arrays) for store in stores)


def _evaluated(bound: Poly, store: Mapping[str, Value], arrays: Mapping[str, Contents]) -> Fraction:
    values: dict[Leaf, int] = {leaf: int(store[leaf.name]) for leaf in leaves(bound)}
    return evaluate(bound, values, lambda array, i: element(arrays.get(array, ()), i))


def _stores(context: Context, given: Input, warps: bool) -> Iterator[dict[str, Value]]:
    """The values of parameters in each block of an input, and in each of its warps where these are told apart."""
    store: dict[str, Value] = {"warpSize": context.hardware.warp, WARP_INDEX: 0, **given.args}
    for name, dim in (("blockDim", given.block), ("gridDim", given.grid)):
        store |= {f"{name}.{axis}": n for axis, n in zip("xyz", dim, strict=True)}
    threads = given.block[0] * given.block[1] * given.block[2]
    for index in product(*map(range, given.grid)):
        store |= {f"blockIdx.{axis}": n for axis, n in zip("xyz", index, strict=True)}
        for warp in range(-(-threads // context.hardware.warp)) if warps else (0,):
            yield {**store, WARP_INDEX: warp}


def _true(fact: Expr, store: Mapping[str, Value]) -> bool:
    try:
        return bool(value_of(fact, cast(Mapping[str, int], store)))
    except KeyError:
        return False


def _given(facts: Iterable[Expr]) -> tuple[dict[str, int], dict[str, tuple[int, int]]]:
    """The parameters that an assumption equates with a number, and the residues that one gives."""
    given = tuple(facts)
    fixed = {
        leaf.name: n for leaf, n in numbers(given).items() if isinstance(leaf, Param) and leaf.name not in BUILTINS
    }
    residues: dict[str, tuple[int, int]] = {}
    for e, modulus, residue in (found for fact in given for found in congruences(fact)):
        match e, modulus, residue:
            case Param(name), Const(int() as k), Const(int() as r) if k > 0:
                residues[name] = (k, r)
    return fixed, residues


def _limits(kernel: Kernel) -> Iterator[int]:
    """The numbers that tests have."""
    for s in statements(kernel.body):
        match s:
            case If(e) | While(e):
                yield from (n for n in _numbers(e) if n >= 0)


def _numbers(e: Expr) -> Iterator[int]:
    return (t.value for t in subterms(e) if isinstance(t, Const) and type(t.value) is int and abs(t.value) < 10**6)
