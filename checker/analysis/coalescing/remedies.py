"""Remedies that were tried: each is made on the program as it was lowered, which is then analysed again.

A remedy lays an array out otherwise, or numbers threads otherwise: the program computes the same. What an access then
needs is bounded as before, for all runs; so "31 -> 0" is as good as what it says of the program as it is. Of remedies
that help, and make no other access dearer, the one after which the access needs least is told, the simplest of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from checker.analysis.coalescing.access import Key, Threshold
from checker.analysis.coalescing.exact import Analysis, Finding, analyse
from logic.assertions import Context, conj
from logic.comparisons import as_expr
from logic.potentials import floor_div, of_expr
from logic.syntax import (
    Array,
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Seq,
    Stmt,
    Tid,
    While,
    Write,
    evaluated,
    statements,
    subterms,
)
from logic.typing import check_kernel

MOST: Final = 12
"""The most remedies that are tried for an access."""

BAD: Final = ("conflicting", "uncoalesced", "misaligned")

AXES: Final = {"x": "y", "y": "x", "z": "z"}


@dataclass(frozen=True, slots=True)
class Remedy:
    """A remedy in words, with the program and the launch that it makes."""

    text: str
    kernel: Kernel
    context: Context


@dataclass(frozen=True, slots=True)
class Tried:
    """A remedy that helps, and what the access needs at most before and after it, each time: `lines` of global memory,
    or `conflicts`, the turns of a bank after the first."""

    remedy: Remedy
    what: str
    before: int
    after: int

    @property
    def text(self) -> str:
        """The remedy and by how much it helps."""
        return f"{self.remedy.text}: {self.what} {self.before} -> {self.after} an access"


def remedies(
    found: Analysis, kernel: Kernel, context: Context, rows: Mapping[str, int], threshold: Threshold = "fewest"
) -> dict[Key, Tried]:
    """For each bad access the best remedy that helps, where one of those that are tried does. `rows` has the bytes of a
    row of the shared arrays with several dimensions."""
    told: dict[Key, Tried] = {}
    known: dict[str, Analysis | None] = {}
    for f in found.findings:
        if f.verdict not in BAD:
            continue
        best: Tried | None = None
        for n, remedy in enumerate(_remedies(f, kernel, context, rows)):
            if n >= MOST:
                break
            if remedy.text not in known:
                known[remedy.text] = _analysed(remedy, threshold)
            tried = _tried(f, found, known[remedy.text], remedy)
            if tried is not None and (best is None or tried.after < best.after):
                best = tried
            if best is not None and best.after == _needs(f, f.fewest):
                break
        if best is not None:
            told[f.access.key] = best
    return told


def _analysed(remedy: Remedy, threshold: Threshold) -> Analysis | None:
    try:
        return analyse(remedy.kernel, remedy.context, threshold)
    except (ValueError, RecursionError):  # too large, or hardware without lines
        return None


def _needs(f: Finding, n: int) -> int:
    """What is told of a count: the lines, or the turns of a bank after the first."""
    return max(n - 1, 0) if f.access.array.space == "shared" else n


def _tried(f: Finding, before: Analysis, after: Analysis | None, remedy: Remedy) -> Tried | None:
    """A remedy as it turned out; None where it does not help, or makes another access dearer."""
    if after is None:
        return None
    now = {g.access.key: g for g in after.findings}
    if any(g.access.key not in now or now[g.access.key].transactions > g.transactions for g in before.findings):
        return None
    mine = now[f.access.key]
    if mine.transactions >= f.transactions:
        return None
    what = "conflicts" if f.access.array.space == "shared" else "lines"
    return Tried(remedy, what, _needs(f, f.transactions), _needs(f, mine.transactions))


# --- what is tried ----------------------------------------------------------------------------------------------------


def _remedies(f: Finding, kernel: Kernel, context: Context, rows: Mapping[str, int]) -> Iterator[Remedy]:
    array = f.access.array
    base = array.name.partition(".")[0]
    if array.stride > array.width:
        arrays = tuple(_apart(a) if a.name.partition(".")[0] == base else a for a in kernel.arrays)
        yield _made("a structure of arrays", replace(kernel, arrays=arrays), context)
    if array.space == "shared":
        yield from _padded(array, base, kernel, context, rows.get(base))
    if array.space == "global" and f.verdict == "misaligned":
        yield from _aligned(f, array, kernel, context)
    yield from _swapped(kernel, context)


def _made(text: str, kernel: Kernel, context: Context) -> Remedy:
    return Remedy(text, kernel, replace(context, sigma=check_kernel(kernel)))


def _apart(a: Array) -> Array:
    """A field's array with nothing between its elements."""
    return replace(a, stride=a.width, offset=0)


def _padded(array: Array, base: str, kernel: Kernel, context: Context, row: int | None) -> Iterator[Remedy]:
    """More room after each row, or after as many elements as the banks hold at once; rows and columns swapped."""
    hardware = context.hardware
    around = hardware.banks * hardware.word
    size = row if row is not None else around
    if size % array.stride:
        return
    wide = size // array.stride
    for more in dict.fromkeys((1, max(1, hardware.word // array.stride), 2, 4)):
        step = f" * {more}" if more > 1 else ""
        free = f"leave {_many(more)} free after every {wide}: {base}[i + i / {wide}{step}] for {base}[i]"
        text = f"pad the rows of {base} to {wide + more}" if row is not None else free
        yield _moved(text, base, kernel, context, partial(_with_room, wide=wide, more=more), wide, more)
    if row is not None and array.length and array.length % wide == 0:
        high = array.length // wide
        yield _moved(
            f"swap the indices of {base}", base, kernel, context, partial(_turned, wide=wide, high=high), wide, 0
        )


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


def _quotient(index: Expr, wide: int) -> Expr:
    """i / wide of an index, which is not negative: whole multiples of it are taken out."""
    p = of_expr(index)
    whole = None if p is None else as_expr(floor_div(p, wide), bases=True)
    return Op("/", (index, Const(wide))) if whole is None else whole


def _moved(
    text: str,
    base: str,
    kernel: Kernel,
    context: Context,
    to: Callable[[Expr], Expr],
    wide: int,
    more: int,
) -> Remedy:
    """The program with each element of an array, and of those that it is a part of, at another index."""
    names = {a.name for a in kernel.arrays if a.name.partition(".")[0] == base}
    arrays = tuple(
        replace(a, length=a.length + a.length // wide * more) if a.name in names and a.length is not None else a
        for a in kernel.arrays
    )
    body = _mapped(kernel.body, lambda e: _indexed(e, names, to), lambda a, i: to(i) if a in names else i)
    return _made(text, replace(kernel, arrays=arrays, body=body), context)


def _indexed(e: Expr, names: set[str], to: Callable[[Expr], Expr]) -> Expr:
    match e:
        case Op(op, args):
            return Op(op, tuple(_indexed(a, names, to) for a in args), e.loc)
        case Read(array, index):
            inner = _indexed(index, names, to)
            return Read(array, to(inner) if array in names else inner, e.loc)
    return e


def _mapped(s: Stmt, change: Callable[[Expr], Expr], write: Callable[[str, Expr], Expr]) -> Stmt:
    """A statement with its expressions changed, and the indices of its writes, at the same places."""
    match s:
        case Seq(stmts):
            return Seq(tuple(_mapped(t, change, write) for t in stmts), s.loc)
        case Assign(x, e):
            return Assign(x, change(e), s.loc)
        case Write(array, index, e):
            return Write(array, write(array, change(index)), change(e), s.loc)
        case If(cond, then, orelse):
            return If(change(cond), _mapped(then, change, write), _mapped(orelse, change, write), s.loc)
        case While(cond, body):
            return While(change(cond), _mapped(body, change, write), s.loc)
        case Assume(cond):
            return Assume(change(cond), s.loc)
    return s


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
        yield Remedy(f"let {name} be a multiple of {whole}", kernel, replace(context, launch=launch))


def _swapped(kernel: Kernel, context: Context) -> Iterator[Remedy]:
    """The threads numbered the other way: what was x is y, in the program and in the launch."""
    block, grid = context.launch.block, context.launch.grid
    used = {t.axis for s in statements(kernel.body) for e in evaluated(s) for t in subterms(e) if isinstance(t, Tid)}
    if "y" not in used or block[0] is None or block[0] != block[1] or context.launch.assumptions:
        return
    body = _mapped(kernel.body, _crossed, lambda _, i: i)
    launch = replace(context.launch, grid=(grid[1], grid[0], grid[2]))
    swapped = _made("swap x and y of the threads", replace(kernel, body=body), context)
    yield replace(swapped, context=replace(swapped.context, launch=launch))


def _crossed(e: Expr) -> Expr:
    match e:
        case Tid(axis):
            return Tid(AXES[axis])  # type: ignore[arg-type]
        case Param(name) if name.startswith(("blockIdx.", "blockDim.", "gridDim.")):
            return Param(f"{name[:-1]}{AXES[name[-1]]}")
        case Op(op, args):
            return Op(op, tuple(map(_crossed, args)), e.loc)
        case Read(array, index):
            return Read(array, _crossed(index), e.loc)
    return e
