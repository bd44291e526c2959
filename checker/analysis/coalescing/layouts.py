"""Other layouts of arrays and threads for an access that is not good: programs that compute the same, under what each
of them assumes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Final

from checker.analysis.coalescing.access import Key
from checker.analysis.coalescing.exact import Finding
from checker.analysis.coalescing.merged import merged
from logic.assertions import MAX_BLOCK, Context, conj
from logic.comparisons import as_expr
from logic.potentials import floor_div, of_expr
from logic.stable import root
from logic.syntax import (
    Array,
    Assign,
    Const,
    Expr,
    Kernel,
    Op,
    Param,
    Read,
    Sync,
    Tid,
    evaluated,
    mapped,
    statements,
    subterms,
)
from logic.typing import check_kernel

AXES: Final = {"x": "y", "y": "x", "z": "z"}

PLACES: Final = ("blockIdx.", "blockDim.", "gridDim.")

ROOM: Final = 48 * 1024
"""The most bytes of shared memory that the variables of a kernel may take: CUDA C++ Programming Guide, "Shared Memory"
of every compute capability; more has to be dynamic, and asked for."""

RACES: Final = "no thread reads or writes what another one writes without waiting for it, in a warp neither"
"""What a remedy assumes that puts threads into other warps, or in another order."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A remedy in words and its kind, with the program and the launch that it makes. `assumes` is what has to hold for
    the program to compute the same. `merged` says what becomes of accesses that it makes one of."""

    kind: str
    text: str
    kernel: Kernel
    context: Context
    assumes: tuple[str, ...]
    merged: Mapping[Key, Key] = field(default_factory=dict)


def layouts(f: Finding, kernel: Kernel, context: Context, rows: Mapping[str, int]) -> Iterator[Remedy]:
    """The remedies to try for an access, the simplest first. `rows` has the bytes of a row of the shared arrays with
    several dimensions."""
    array = f.access.array
    base = root(array.name)
    if array.stride > array.width and not _in_widths(base, kernel) and not _overlapping(base, kernel):
        arrays = tuple(_apart(a) if root(a.name) == base else a for a in kernel.arrays)
        laid = f"all that fills or reads {base} has it so, too"
        yield _made("arrays", "a structure of arrays", replace(kernel, arrays=arrays), context, laid)
    if array.space == "shared":
        yield from _relaid(array, base, kernel, context, rows.get(base))
    if array.space == "global" and f.verdict == "misaligned":
        yield from _aligned(f, array, kernel, context)
    if array.space == "global" and (found := merged(f.access, kernel)):
        apart = f"what the kernel writes is no part of {array.name}"
        yield replace(_made("vector", found.text, found.kernel, context, apart), merged=found.keys)
    if array.space == "global":
        yield from _shaped(kernel, context)
    yield from _swapped(kernel, context)


def _made(kind: str, text: str, kernel: Kernel, context: Context, *assumes: str) -> Remedy:
    return Remedy(kind, text, kernel, replace(context, sigma=check_kernel(kernel)), assumes)


def _in_widths(base: str, kernel: Kernel) -> bool:
    """Whether an array is also accessed by another type: elements of several sizes, or several at once, do not stay
    together."""
    return any(root(a.name) == base and ".as_" in a.name for a in kernel.arrays)


def _overlapping(base: str, kernel: Kernel) -> bool:
    """Whether fields of a structure have some bytes in common, but not all, as members of a union may."""
    fields = {(a.offset, a.offset + a.width) for a in kernel.arrays if root(a.name) == base}
    return any(a < d and c < b for (a, b), (c, d) in combinations(fields, 2))


def _apart(a: Array) -> Array:
    """A field's array with nothing between its elements."""
    return replace(a, stride=a.width, offset=0)


# --- shared arrays ----------------------------------------------------------------------------------------------------


def _relaid(array: Array, base: str, kernel: Kernel, context: Context, row: int | None) -> Iterator[Remedy]:
    """More room after each row, or after as many elements as the banks hold at once; rows and columns swapped; columns
    that are moved within a row by the number of the row."""
    hardware = context.hardware
    size = row if row is not None else hardware.banks * hardware.word
    names = {a.name for a in kernel.arrays if root(a.name) == base}
    strides = {a.stride for a in kernel.arrays if a.name in names}
    if size % array.stride or strides != {array.stride} or _in_widths(base, kernel):
        return
    wide = size // array.stride

    def moved(kind: str, text: str, to: Callable[[Expr], Expr], more: int = 0) -> Remedy:
        """The program with each element of the array, and of those that it is a part of, at another index."""
        arrays = tuple(
            replace(a, length=a.length + a.length // wide * more) if a.name in names and a.length is not None else a
            for a in kernel.arrays
        )
        body = mapped(kernel.body, lambda e: _indexed(e, names, to), lambda a, i: to(i) if a in names else i)
        made = replace(kernel, arrays=arrays, body=body)
        within = [f"no index of {base} leaves its row"] if row is not None else []
        if more:
            within.append(_fits(array, base, kernel, made))
        elif array.length is None:
            within.append(f"{base} has a multiple of {wide} elements")
        return _made(kind, text, made, context, *within)

    for more in dict.fromkeys((1, max(1, hardware.word // array.stride), 2, 4)):
        step = f" * {more}" if more > 1 else ""
        free = f"leave {_many(more)} free after every {wide}: {base}[i + i / {wide}{step}] for {base}[i]"
        text = f"pad the rows of {base} to {wide + more}" if row is not None else free
        padded = moved("pad", text, partial(_with_room, wide=wide, more=more), more)
        if room(padded.kernel) <= ROOM:
            yield padded
    if row is not None and array.length and array.length % wide == 0:
        high = array.length // wide
        yield moved("swap", f"swap the indices of {base}", lambda i: _turned(i, wide, high))
    if wide > 1 and wide & (wide - 1) == 0 and (array.length is None or array.length % wide == 0):
        one = f"swizzle {base}: {base}[i ^ i / {wide} % {wide}] for {base}[i]"
        text = f"swizzle {base}: column c ^ r % {wide} for column c of row r" if row is not None else one
        yield moved("swizzle", text, lambda i: _swizzled(i, wide))


def room(kernel: Kernel) -> int:
    """The most bytes that the shared variables of a kernel take whose sizes are known, in whatever order they lie."""
    sizes: dict[str, int] = {}
    for a in (a for a in kernel.arrays if a.space == "shared" and a.length is not None):
        base = root(a.name)
        sizes[base] = max(sizes.get(base, 0), a.stride * (a.length or 0))
    whole = max((a.width for a in kernel.arrays if a.space == "shared"), default=1)
    return sum(-(-n // whole) * whole for n in sizes.values())


def _fits(array: Array, base: str, before: Kernel, after: Kernel) -> str:
    """The assumption on the room that a padded array takes."""
    if array.length is None:
        return f"the launch gives {base} as much more shared memory, which is there"
    return f"{room(after)} bytes of shared memory are there for the kernel ({room(before)} before)"


def _many(n: int) -> str:
    return "one element" if n == 1 else f"{n} elements"


def _with_room(index: Expr, wide: int, more: int) -> Expr:
    """i + i / wide * more"""
    rows = _quotient(index, wide)
    return Op("+", (index, rows if more == 1 else Op("*", (rows, Const(more)))))


def _turned(index: Expr, wide: int, high: int) -> Expr:
    """i % wide * high + i / wide"""
    rows = _quotient(index, wide)
    column = Op("-", (index, Op("*", (rows, Const(wide)))))
    return Op("+", (Op("*", (column, Const(high))), rows))


def _swizzled(index: Expr, wide: int) -> Expr:
    """i / wide * wide + (i % wide ^ i / wide % wide), of a power of two"""
    rows = _quotient(index, wide)
    start = Op("*", (rows, Const(wide)))
    column = Op("^", (Op("-", (index, start)), Op("%", (rows, Const(wide)))))
    return Op("+", (start, column))


def _quotient(index: Expr, wide: int) -> Expr:
    """i / wide of an index, which is not negative: whole multiples of it are taken out."""
    p = of_expr(index)
    whole = None if p is None else as_expr(floor_div(p, wide), bases=True)
    return Op("/", (index, Const(wide))) if whole is None else whole


def _indexed(e: Expr, names: set[str], to: Callable[[Expr], Expr]) -> Expr:
    match e:
        case Op(op, args):
            return Op(op, tuple(_indexed(a, names, to) for a in args), e.loc)
        case Read(array, index):
            inner = _indexed(index, names, to)
            return Read(array, to(inner) if array in names else inner, e.loc)
    return e


# --- parameters and threads -------------------------------------------------------------------------------------------


def _aligned(f: Finding, array: Array, kernel: Kernel, context: Context) -> Iterator[Remedy]:
    """A parameter in the index that is a multiple of the elements of a line."""
    whole = 128 // array.stride if 128 % array.stride == 0 else 0
    names = {t.name for i in f.access.indices for t in subterms(i) if isinstance(t, Param)}
    names |= {
        t.name
        for s in statements(kernel.body)
        if isinstance(s, Assign)
        for t in subterms(s.value)
        if isinstance(t, Param)
    }
    for name in sorted(names & {d.name for d in kernel.params if d.type.kind == "int"}) if whole > 1 else ():
        fact = Op("==", (Op("%", (Param(name), Const(whole))), Const(0)))
        given = conj((*context.launch.assumptions, fact), context.sigma)
        launch = replace(context.launch, assumptions=given)
        text, passed = f"let {name} be a multiple of {whole}", (f"every launch passes such {name}",)
        yield Remedy("align", text, kernel, replace(context, launch=launch), passed)


def _axes(kernel: Kernel) -> set[str]:
    """The axes along which threads are told apart."""
    return {t.axis for e in _evaluated(kernel) for t in subterms(e) if isinstance(t, Tid)}


def _evaluated(kernel: Kernel) -> Iterator[Expr]:
    return (e for s in statements(kernel.body) for e in evaluated(s))


def _swapped(kernel: Kernel, context: Context) -> Iterator[Remedy]:
    """The threads numbered the other way: what was x is y, in the program and in the launch."""
    block, grid = context.launch.block, context.launch.grid
    if "y" not in _axes(kernel) or block[0] is None or block[0] != block[1] or context.launch.assumptions:
        return
    if kernel.exchanges:  # which go by the lanes
        return
    body = mapped(kernel.body, _crossed, lambda _, i: i)
    launch = replace(context.launch, grid=(grid[1], grid[0], grid[2]))
    crossed = "the grid is launched with x and y swapped"
    swapped = _made("threads", "swap x and y of the threads", replace(kernel, body=body), context, crossed, RACES)
    yield replace(swapped, context=replace(swapped.context, launch=launch))


def _crossed(e: Expr) -> Expr:
    match e:
        case Tid(axis):
            return Tid(AXES[axis])  # type: ignore[arg-type]
        case Param(name) if name.startswith(PLACES):
            return Param(f"{name[:-1]}{AXES[name[-1]]}")
        case Op(op, args):
            return Op(op, tuple(map(_crossed, args)), e.loc)
        case Read(array, index):
            return Read(array, _crossed(index), e.loc)
    return e


def _shaped(kernel: Kernel, context: Context) -> Iterator[Remedy]:
    """Blocks of another shape with as many threads: of a program that only asks which thread of the grid one is, and
    where no thread waits for another one or has anything to do with the others of its block."""
    (x, y, z), grid = context.launch.block, context.launch.grid
    if x is None or y is None or z != 1 or "y" not in _axes(kernel) or kernel.exchanges:
        return
    if any(a.space != "global" for a in kernel.arrays) or any(isinstance(s, Sync) for s in statements(kernel.body)):
        return
    if any(map(_of_blocks, context.launch.assumptions)) or any(map(_of_blocks, _evaluated(kernel))):
        return
    for k in range(3, 11):
        wide, high = 1 << k, x * y >> k
        if wide == x or wide * high != x * y or max(wide, high) > MAX_BLOCK:
            continue
        sizes = tuple(None if n is None else n * old for n, old in ((grid[0], x), (grid[1], y)))
        if any(n is not None and n % new for n, new in zip(sizes, (wide, high), strict=True)):
            continue
        blocks = tuple(None if n is None else n // new for n, new in zip(sizes, (wide, high), strict=True))
        launch = replace(context.launch, block=(wide, high, 1), grid=(blocks[0], blocks[1], grid[2]))
        text = f"launch blocks of {wide} x {high}, in a grid of as many threads"
        yield Remedy("block", text, kernel, replace(context, launch=launch), (RACES,))


def _of_blocks(e: Expr) -> bool:
    """Whether an expression asks for more of a thread or launch than the thread's place in the grid."""
    match e:
        case Op("+", (Op("*", factors), Tid(axis))) | Op("+", (Tid(axis), Op("*", factors))) if set(factors) == {
            Param(f"blockIdx.{axis}"),
            Param(f"blockDim.{axis}"),
        }:
            return False
        case Op(_, args):
            return any(map(_of_blocks, args))
        case Read(_, index):
            return _of_blocks(index)
        case Param(name):
            return name.startswith(PLACES)
    return isinstance(e, Tid)
