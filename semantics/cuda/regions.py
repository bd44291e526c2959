"""Pointers as numbers: those that are read from memory, and those that may lead into several arrays.

Such a pointer is its address in units of the alignment of what it points to, and all that it may lead to is one region:
an array for each type that it is accessed as, `memory.float32`, from address 0 on. What is known of the number says
what an access costs: nothing is known of where a pointer from memory leads, but the lanes of a warp that share it have
the sectors of what they add to it. The address of an array is a multiple of 256 bytes, the same for all threads.

A pointer from memory leads to global memory: one to shared memory or to a variable is not stored.
"""

from __future__ import annotations

from math import gcd
from typing import Final

from logic.source import Loc
from logic.syntax import DOUBLE, INT, Array, Assign, Const, Expr, Op, Space, Var
from semantics.cuda.ctype import CType, scalar
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.modular import integer
from semantics.cuda.state import Address, State, added, scaled

_NAMES: Final[dict[Space, str]] = {"global": "memory", "shared": "shared_memory"}
_ALIGNED: Final = 256
"""The address of an array is a multiple of this many bytes."""

_NULL: Final = "null"


def unit(t: CType | None) -> int:
    """The bytes of which the addresses of a type are multiples."""
    return max(1, t.align) if t is not None else 1


def region(st: State, space: Space) -> Address:
    """The beginning of all memory of one space."""
    if space not in st.regions:
        st.regions[space] = st.fresh(_NAMES[space])
    return Address(st.regions[space], space)


def is_region(st: State, a: Address) -> bool:
    """Whether an address is a number."""
    return a.root in st.regions.values()


def is_null(a: Address) -> bool:
    """Whether an address is that of a null pointer."""
    return all(e == Const(0) for _, e in a.terms) and a.path == _NULL


def null(st: State) -> Address:
    """The null pointer."""
    return Address(region(st, "global").root, "global", ((1, Const(0)),), _NULL)


def pointed(st: State, e: Expr, t: CType | None, space: Space = "global") -> Address:
    """The address that a number stands for, as a pointer to a type."""
    return region(st, space).plus(unit(t), e)


def number(st: State, a: Address, size: int, loc: Loc | None, space: Space = "global") -> Expr:
    """The number of an address, in units of `size` bytes. Raises for one that is not in the space."""
    if is_null(a):
        return Const(0, loc=loc)
    if a.root in st.registers or a.root in st.pointees:
        raise unsupported("a pointer to a variable of one thread among others", loc, "Use the variable itself.")
    if a.space != space:
        raise generic(loc)
    terms = a.terms
    if not is_region(st, a):
        which = Const(st.numbered(f"address of {a.root}"))
        start = Op("int", (Op("call:address", (Const("0.0", DOUBLE), which)),), loc)
        terms = ((_ALIGNED, start), *terms)
    part = gcd(size, a.offset, *(s for s, _ in terms))
    total: Expr = Const(a.offset // part, loc=loc)
    for s, e in terms:
        total = added(total, scaled(e, s // part))
    return total if part == size else Op("/", (total, Const(size // part)), loc)


def generic(loc: Loc | None) -> CudaError:
    """The exception for a pointer to shared memory where it is a number, or one of several: those that are made of
    numbers are taken to lead to global memory."""
    advice = "Use an index, or a pointer that leads to shared memory alone."
    return unsupported("a pointer to shared memory among pointers to global memory", loc, advice)


def as_number(st: State, a: Address, loc: Loc | None) -> Expr:
    """The number of an address in bytes, for a program that computes with it. Where arrays begin is saved in variables,
    in units that keep the whole below 2^24 in shared memory and 2^40 in global memory."""
    if is_region(st, a) or a.root in st.registers or a.root in st.pointees or is_null(a):
        return number(st, a, 1, loc, a.space)
    which = Const(st.numbered(f"address of {a.root}"))
    start = st.declare("address", INT, loc, settled=True, of=_START[a.space])
    st.emit(Assign(start.name, Op("int", (Op("call:address", (Const("0.0", DOUBLE), which)),), loc), loc))
    total: Expr = Op("*", (Const(_ALIGNED), Var(start.name, loc)), loc)
    for s, e in ((1, Const(a.offset)), *a.terms):
        total = added(total, scaled(e, s))
    return total


_START: Final = {
    "shared": CType("int", "unsigned short", 2, signed=False),
    "global": CType("int", "unsigned int", 4, signed=False),
}


def aligned(st: State, a: Address, t: CType | None, loc: Loc | None) -> Address:
    """A numbered address as a pointer to a type: no other than a multiple of what addresses of the type are."""
    if is_null(a) or not gcd(a.offset, *(s for s, _ in a.terms)) % unit(t):
        return a
    return pointed(st, number(st, a, unit(t), loc, a.space), t, a.space)


def cell(st: State, a: Address, t: CType, width: int, loc: Loc | None) -> tuple[str, Expr]:
    """The array and the index of what a number leads to, `width` bytes of a type."""
    part = gcd(width, a.offset, *(s for s, _ in a.terms))
    what = "pointer" if t.kind == "pointer" else f"{_KINDS.get(t.kind, t.name)}{8 * t.size}"
    name = f"{a.root}.{what}" + (f"_{width}" if width != t.size else "") + (f"_at_{part}" if part != width else "")
    elem = INT if t.kind == "pointer" else scalar(t)
    if elem is None:
        raise unsupported(f"a value of type '{t.name}' in memory", loc)
    st.sigma.arrays.setdefault(name, Array(name, a.space, elem, part, 0, width))
    if (own := integer(t)) is not None:
        st.elements.setdefault(name, set()).add(own)
    at: Expr = Const(a.offset // part, loc=loc)
    for s, e in a.terms:
        at = added(at, scaled(e, s // part))
    where = "shared memory" if a.space == "shared" else "global memory"
    st.note(f"a pointer that is read from memory, or may lead into several arrays, may lead anywhere in {where}")
    return name, at


_KINDS: Final = {"int": "int", "bool": "bool"}
