"""Fragments of matrices that the threads of a warp share, for tensor cores: `nvcuda::wmma`.

CUDA leaves open which thread has which elements. Here it is as PTX has it for `mma`: a register of 32 bits has elements
that are side by side along k, in a tile of 8 rows and 4 registers a lane has the register `lane % 4` of row `lane / 4`,
and two neighbours in a row of an accumulator. What is side by side in memory, too, is accessed at once. As CUDA asks,
matrices begin at a multiple of 32 bytes, and their rows at one of 16.

Of the elements of a product nothing is known; each is an operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from logic.syntax import INT, Const, Expr, Op, Param
from semantics.cuda.clang import Node
from semantics.cuda.convert import convert
from semantics.cuda.ctype import CType, innermost, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.lanes import THREAD
from semantics.cuda.places import TIDS, anything, evaluate, frozen, index, load, member, store
from semantics.cuda.pointers import address, place
from semantics.cuda.sequence import within
from semantics.cuda.state import Address, State, Use, added, scaled
from semantics.cuda.wide import cell, read, typed, write

FUNCTIONS: Final = ("load_matrix_sync", "store_matrix_sync", "fill_fragment", "mma_sync")

_TILE: Final = 8
"""The rows of a tile, and of an accumulator's the columns."""

_REGISTERS: Final = 4
"""The registers in a row of a tile."""

_MATRIX: Final = 32
_ROW: Final = 16
"""The bytes of which CUDA asks that where a matrix and where its rows begin are multiples."""

_LAID_OUT: Final = (
    "fragments of matrices are laid out as PTX has it for mma; "
    "matrices begin at multiples of 32 bytes, rows at ones of 16"
)

_TOGETHER: Final = {1: 4, 2: 2}
"""The elements in one register by their bytes; of others it has one."""


@dataclass(frozen=True, slots=True)
class _Fragment:
    """The elements that one thread has: where they are kept, their type, what part of which product they are of, and
    whether those along k are side by side in memory, if the type says it."""

    elements: Address
    type: CType
    use: str
    shape: tuple[int, int, int]
    layout: str

    @property
    def count(self) -> int:
        return (self.elements.total or 0) // self.type.size

    def at(self, k: int) -> Address:
        return self.elements.plus(self.type.size, Const(k))


def apply(st: State, node: Node, callee: Node, use: Use) -> None:
    """Emit what a function on fragments does."""
    if use != "statement":
        raise unsupported(f"'{callee.name}' inside an expression", node.loc, "Make it a statement of its own.")
    match callee.name, node.arguments:
        case "load_matrix_sync", [whole, pointer, step, *layout]:
            _access(st, node, whole, pointer, step, layout, loads=True)
        case "store_matrix_sync", [pointer, whole, step, layout]:
            _access(st, node, whole, pointer, step, [layout], loads=False)
        case "fill_fragment", [whole, value]:
            f = _fragment(st, whole)
            e = st.saved(convert(expr(st, value, within(use)), value.type, f.type, node.loc), scalar(f.type) or INT)
            for k in range(f.count):
                store(st, f.at(k), e, f.type, node.loc)
        case "mma_sync", [target, a, b, c, *_]:
            _product(st, node, *(_fragment(st, e) for e in (target, a, b, c)))


def _fragment(st: State, node: Node) -> _Fragment:
    decl = node.type_decl
    field = next((f for f in decl.fields if f.name == "x"), None)
    words = [word.rpartition("::")[2].strip() for word in _arguments(node.type.name)]
    if field is None or len(words) < 5 or not all(word.isdigit() for word in words[1:4]):
        raise unsupported(f"a fragment of type '{node.type.name}'", node.loc)
    where = member(st, place(st, node), node, field)
    if not isinstance(where, Address):
        raise unsupported("this fragment", node.loc)
    m, n, k = map(int, words[1:4])
    where = Address(where.root, where.space, where.terms, where.path, where.offset, field.type.size)
    return _Fragment(where, innermost(field.type), words[0], (m, n, k), words[5] if len(words) > 5 else "")


def _arguments(name: str) -> list[str]:
    """The arguments of a template in the name of an instance, none of which has any of its own."""
    return name.partition("<")[2].rpartition(">")[0].split(",")


def _access(st: State, node: Node, whole: Node, pointer: Node, step: Node, layout: list[Node], *, loads: bool) -> None:
    f, loc = _fragment(st, whole), node.loc
    order = layout[0].evaluate() if layout else None
    if layout and not isinstance(order, int):
        raise unsupported(f"'{node.name}' with a layout that is no constant", loc, "Branch on the layout.")
    where = frozen(st, address(st, typed(pointer)), "t")
    given = convert(expr(st, step), step.type, CType("int", "long", 8), loc)
    if not isinstance(where, Address):
        raise unsupported("this pointer", loc)
    start, between = _aligned(where, f.type.size), st.saved(_rows(given, f.type.size), INT)
    by_rows = order == 0 if layout else f.layout == "row_major"
    lane = Op("%", (THREAD, Param("warpSize")), loc)
    line, part = (st.saved(Op(op, (lane, Const(_REGISTERS)), loc), INT) for op in ("/", "%"))
    pointee = typed(pointer).type.inner
    m, n, depth = f.shape
    rows, columns = {"matrix_a": (m, depth), "matrix_b": (n, depth)}.get(f.use, (m, n))
    several = 2 if f.use == "accumulator" else _TOGETHER.get(f.type.size, 1)
    along = by_rows != (f.use == "matrix_b")
    at = 0
    for row, column in _tiles(rows, columns, several):
        r, c = added(Const(row), line), added(Const(column), scaled(part, several))
        count = several if along else 1
        there = [c] if along else [added(c, Const(i)) for i in range(several)]
        places = [_element(start, f.type.size, between, (r, c), along, count) for c in there]
        at = _moved(st, f, at, places, count, pointee, loads, node)
    for k in range(at, f.count):  # a fragment of halves has each element twice
        if loads:
            store(st, f.at(k), load(st, f.at(k - at), f.type, loc), f.type, loc)
    st.note(_LAID_OUT)


def _tiles(rows: int, columns: int, several: int) -> Iterator[tuple[int, int]]:
    """The places at which tiles begin, in the order of a lane's registers."""
    for column in range(0, columns, _REGISTERS * several):
        for row in range(0, rows, _TILE):
            yield row, column


def _moved(
    st: State, f: _Fragment, at: int, places: list[Address], count: int, pointee: CType | None, loads: bool, node: Node
) -> int:
    """Emit the accesses of elements from the `at`-th on, `count` at each place; the number of the next one."""
    for where in places:
        there, t = cell(st, where, pointee, f.type, count)
        if loads:
            for k, e in enumerate(read(st, there, t, count, node.loc)):
                store(st, f.at(at + k), e, f.type, node.loc)
        else:
            found = [load(st, f.at(at + k), f.type, node.loc) for k in range(count)]
            write(st, there, t, found, node.loc)
        at += count
    return at


def _element(start: Address, size: int, between: Expr, position: tuple[Expr, Expr], along: bool, count: int) -> Address:
    """The address of an element by its row and column, or that of `count` in a row: rows of a multiple of 16 bytes."""
    (row, column), whole = position, max(1, _ROW // size)
    if not along:
        row, column = column, row
    inner = (size * count, column) if count == 1 else (size * count, _divided(column, count))
    return Address(
        start.root, start.space, (*start.terms, (size * whole, _times(row, between)), inner), start.path, start.offset,
        start.total,
    )  # fmt: skip


def _rows(step: Expr, size: int) -> Expr:
    """The length of a row in units of 16 bytes."""
    return _divided(step, max(1, _ROW // size))


def _divided(e: Expr, by: int) -> Expr:
    """e / by, where that leaves no rest."""
    match e:
        case Const(int(value)) if value % by == 0:
            return Const(value // by)
        case Op("*", (x, Const(int(value)))) if value % by == 0:
            return scaled(x, value // by)
        case Op("*", (Const(int(value)), x)) if value % by == 0:
            return scaled(x, value // by)
        case Op("+", (a, Const(int(value)))) if value % by == 0:
            return added(_divided(a, by), Const(value // by))
        case Op("+", (Const(int(value)), a)) if value % by == 0:
            return added(_divided(a, by), Const(value // by))
    return e if by == 1 else Op("/", (e, Const(by)))


def _times(a: Expr, b: Expr) -> Expr:
    if isinstance(b, Const) and isinstance(b.value, int):
        return scaled(a, b.value)
    return Op("*", (a, b))


def _aligned(where: Address, size: int) -> Address:
    """A pointer to a matrix, as one to a multiple of 32 bytes."""
    left = [
        (s, e) for s, e in where.terms if s % _MATRIX and not (isinstance(e, Const) and s * int(e.value) % _MATRIX == 0)
    ]
    if not left or where.path or where.offset:
        return where
    whole = index(Address(where.root, where.space, tuple(left)), size, None)
    kept = tuple(t for t in where.terms if t not in left)
    return Address(where.root, where.space, (*kept, (_MATRIX, _divided(whole, _MATRIX // size))), total=where.total)


def _product(st: State, node: Node, target: _Fragment, a: _Fragment, b: _Fragment, c: _Fragment) -> None:
    """Each element of a product: the first one is an operator of all that a thread has of it."""
    loc, type_ = node.loc, scalar(target.type) or INT
    given = [evaluate(st, load(st, f.at(k), f.type, loc)) for f in (a, b, c) for k in range(f.count)]
    for k in range(target.count):
        e = anything(st, "mma_sync", [*TIDS, *given] if k == 0 else TIDS, type_, loc)
        store(st, target.at(k), e, target.type, loc)
