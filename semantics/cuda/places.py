"""Where values live: C lvalues and pointers as places, and places as variables and array elements of miniCUDA.

A pointer is a base array and a sum of stride * index. An access to it becomes `A[index]` where the stride of the array
divides all of the strides, so `s[i][j]` of `int s[4][8]` is `s[i * 8 + j]` and `A[i].x` is an element of the array
`A.x`, which has the stride of the structure and the offset of the field.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import gcd
from typing import Final

from logic.source import Loc
from logic.syntax import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    Array,
    Assign,
    Const,
    Decl,
    Expr,
    Op,
    Param,
    Read,
    Tid,
    Type,
    Var,
    Write,
    reads_array,
)
from logic.typing import type_of
from semantics.cuda.clang import Node
from semantics.cuda.classes import acts_when_made, bases, holds, is_nameless, is_virtual, label
from semantics.cuda.convert import called, convert, narrowed_to, retyped, wrapped, zero
from semantics.cuda.ctype import CType, compatible, innermost, scalar
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.inputs import OURS
from semantics.cuda.modular import integer, reduced
from semantics.cuda.regions import cell, generic, is_region
from semantics.cuda.shapes import null_pointer
from semantics.cuda.state import (
    Address,
    Binding,
    Bits,
    Fields,
    Local,
    Parts,
    Place,
    Pointer,
    Registers,
    State,
    added,
    is_plain,
    scaled,
)
from semantics.cuda.tables import characters, known, moves, note_table


def element(st: State, a: Address, t: CType, loc: Loc | None, width: int | None = None) -> tuple[str, Expr]:
    """The array and the index of the element of C type t at an address; enters the array in the signature. `width` is
    how many bytes an access takes, the size of t if it is not given."""
    elem, width = INT if t.kind == "pointer" else scalar(t), width or t.size
    if is_region(st, a):
        return cell(st, a, t, width, loc)
    name = a.root + a.path
    if elem is None:
        what = "copying a whole structure" if t.kind == "record" else f"a value of type '{t.name}' in an array"
        raise unsupported(what, loc, f"Access the scalars in '{name}' one by one.")
    stride, entered = gcd(*(s for s, _ in a.terms)) or width, st.sigma.arrays.get(name)
    if entered is not None and gcd(*(s for s, e in a.terms if e != Const(0))) % entered.stride == 0:
        stride = entered.stride  # `*&p->x` and `p->x` are one element
    length = None if a.total is None else (a.total - a.offset - width) // stride + 1
    array = Array(name, a.space, elem, stride, a.offset, width, length)
    if st.sigma.arrays.setdefault(name, array) != array:
        raise unsupported(f"the array '{name}' with elements of two types or sizes", loc, "Use two arrays.")
    if (own := integer(t)) is not None:
        st.elements.setdefault(name, set()).add(own)
    if t.volatile:
        st.unsteady.add(a.root)
    return name, index(a, stride, loc)


def index(a: Address, stride: int, loc: Loc | None) -> Expr:
    """The terms of an address, in units of a stride that divides theirs."""
    total: Expr = Const(0, loc=loc)
    for s, e in a.terms:
        total = added(total, scaled(e, s // stride))
    return total


def load(st: State, p: Place, t: CType, loc: Loc | None) -> Expr:
    """The value at a place; of an integer type in an array, modulo 2^bits, as it may be accessed as another type."""
    p = resolved(st, p)
    match p:
        case Local(name):
            return Var(name, loc)
        case Param(name):
            return Param(name, loc)
        case Pointer():
            raise unsupported("a pointer as a number", loc)
        case Const():
            return p
        case Bits(Local(name)):
            return Var(name, loc)
        case Bits(place, first, width, size):
            whole = load(st, place, CType("int", "bits", size, signed=False), loc)
            shifted = Op(">>", (whole, Const(first)), loc) if first else whole
            found = narrowed_to(shifted, width, signed=t.signed and t.kind == "int")
            return Op("!=", (found, Const(0)), loc) if t.kind == "bool" else found
        case Address() if p.root in st.registers:
            return _selected(st, p, t, loc)
        case Address():
            array, at = element(st, p, t, loc)
            read = Read(array, at, loc)
            if (value := known(st, p, t, at)) is not None:
                st.saved(read, INT)  # it is paid for
                return Const(value, loc=loc)
            if t.kind != "int" or (t.signed and t.size < INT.size):
                return read
            return wrapped(read, t) if t.size < INT.size else reduced(read, t)
        case Fields(name) | Parts(name):
            raise unsupported(f"'{name}', a structure, as a number", loc)


def store(st: State, p: Place, value: Expr, t: CType, loc: Loc | None) -> None:
    """Emit the assignment of a value to a place."""
    p = resolved(st, p)
    match p:
        case Local(name):
            st.emit(Assign(name, value, loc))
        case Bits(Local(name), _, width):
            value = value if t.kind == "bool" else narrowed_to(value, width, signed=t.signed)
            st.emit(Assign(name, value, loc))
        case Bits(place, first, width, size):
            unit, mask = CType("int", "bits", size, signed=False), (1 << width) - 1 << first
            place = place if isinstance(place, Local) else _steady(st, place)
            given = retyped(value, BOOL, INT, loc) if t.kind == "bool" else narrowed_to(value, width, signed=False)
            given = Op("<<", (given, Const(first)), loc) if first else given
            kept = Op("&", (load(st, place, unit, loc), Const((1 << 8 * size) - 1 - mask)), loc)
            store(st, place, Op("|", (kept, given), loc), unit, loc)
        case Address() if p.root in st.registers:
            _select(st, p, value, t, loc)
        case Address() if p.root in st.passed:
            raise unsupported(f"assigning to '{p.root}'", loc, "Copy it to a local variable first.")
        case Address():
            array, at = element(st, p, t, loc)
            st.emit(Write(array, at, value, loc))
        case Pointer():
            raise unsupported("a number as a pointer", loc)
        case Param(name) | Fields(name) | Parts(name):
            raise unsupported(f"assigning to '{name}'", loc, "Copy it to a local variable first.")
        case Const():
            raise unsupported("assigning to a constant", loc)


def resolved(st: State, p: Place) -> Place:
    """A place, or the variable whose address one is."""
    if not isinstance(p, Address) or p.root not in st.pointees:
        return p
    for _, e in p.terms:
        if e != Const(0):
            raise unsupported("a step from the address of a variable", e.loc, "Use an array.")
    return st.pointees[p.root]


MOST: Final = 64
"""The most elements of an array of one thread that are variables."""

FEW: Final = 16
"""The most of them where one is used whose index is not known when the source is read."""


def registers(st: State, name: str, t: CType, loc: Loc | None) -> Address:
    """The declaration of an array of one thread: as many variables."""
    elem = innermost(t)
    type_ = INT if elem.kind == "pointer" else scalar(elem)
    if not elem.size or not t.size:
        raise unsupported(f"the array '{name}' of one thread", loc, "Use scalars, or shared memory.")
    count = t.size // elem.size
    root = st.fresh(name)
    if type_ is None or count > MOST or loc in st.plan.spilled:
        st.registers[root] = Registers(name, type_ or INT, elem.size, (), loc)
        st.note(f"the elements of the array '{name}' of one thread may hold anything, and cost nothing")
        return Address(root, "shared", total=t.size)
    names = tuple(st.declare(name, type_, loc, first=i, of=elem).name for i in range(count))
    st.registers[root] = Registers(name, type_, elem.size, names, loc)
    st.note(f"the elements of the array '{name}' of one thread are variables and cost what variables do")
    return Address(root, "shared", total=t.size)


def anything(st: State, name: str, rest: Sequence[Expr], type_: Type, loc: Loc | None) -> Expr:
    """A value of which nothing is known but what it depends on. The last argument is another at each place in the
    program: no two values are known to be the same. In another turn of a loop it is another value, though the same
    term: sound, as it is of a base type inside, which conditions and potentials never speak of. It cannot be run."""
    st.unknowns += 1
    return depending(name, [*rest, Const(st.unknowns)], type_, loc)


def depending(name: str, on: Sequence[Expr], type_: Type, loc: Loc | None) -> Expr:
    """A value of which nothing is known but what it depends on."""
    base = type_ if type_.kind == "base" else DOUBLE
    return retyped(called(name, zero(base, loc), on, loc), base, type_, loc)


_AS_FLOAT: Final = {(4, True): "__int_as_float", (4, False): "__uint_as_float", (8, True): "__longlong_as_double"}
_AS_INT: Final = {(4, True): "__float_as_int", (4, False): "__float_as_uint", (8, True): "__double_as_longlong"}


def bits(e: Expr, a: CType, b: CType, loc: Loc | None) -> Expr:
    """The value of type b that has the bytes of a value of type a, which has as many."""
    source, target = scalar(a), scalar(b)
    if source == target and (a.kind == b.kind == "int" or a.name == b.name):
        return convert(e, a, b, loc)
    if source == INT and target in (FLOAT, DOUBLE) and (name := _AS_FLOAT.get((b.size, a.signed))):
        return retyped(called(name, retyped(e, INT, DOUBLE, loc), (), loc), DOUBLE, target, loc)
    if source is not None and source in (FLOAT, DOUBLE) and target == INT and (name := _AS_INT.get((a.size, b.signed))):
        return Op("int", (called(name, retyped(e, source, DOUBLE, loc), (), loc),), loc)
    return depending("bits", [e], target or INT, loc)


def evaluate(st: State, e: Expr) -> Expr:
    """Emit the evaluation of an expression whose value the logic does not use: its costs. Gives a name for it."""
    if is_plain(e):
        return e
    local = st.declare("t", type_of(e, st.sigma), e.loc)
    st.emit(Assign(local.name, e, e.loc))
    return Var(local.name, e.loc)


def dropped(st: State, *values: Expr) -> None:
    """Drops values that nobody uses. What they read of arrays is read."""
    for e in values:
        if reads_array(e):
            evaluate(st, e)


TIDS: Final = tuple(Tid(axis) for axis in ("x", "y", "z"))


def _which(st: State, array: Registers, a: Address, t: CType, loc: Loc | None) -> Expr:
    """The number of the element that an address leads to. Raises Replan where variables are no good for the array."""
    type_ = INT if t.kind == "pointer" else scalar(t)
    alike = type_ == array.type if array.of is None else type_ is not None and t.size == array.size
    if a.path or a.offset or not alike or any(s % array.size for s, _ in a.terms):
        raise st.spill(array.loc)
    at = index(a, array.size, loc)
    if isinstance(at, Const) and not (isinstance(at.value, int) and 0 <= at.value < len(array.variables)):
        raise CudaError(f"'{array.name}' has no element {at.value}", loc)
    if not isinstance(at, Const) and len(array.variables) > FEW:
        raise st.spill(array.loc)
    return at


def _selected(st: State, a: Address, t: CType, loc: Loc | None) -> Expr:
    """The value of an element: that of the variable with its number."""
    array, type_ = st.registers[a.root], INT if t.kind == "pointer" else scalar(t)
    if t.kind != "pointer" and st.spaces.setdefault(a.root, "global") == "shared":
        raise generic(loc)
    if not array.variables:
        if type_ is None:
            raise unsupported(f"a value of type '{t.name}' in an array of one thread", loc)
        for _, e in a.terms:
            evaluate(st, e)
        return anything(st, "local", TIDS, type_, loc)
    at = _which(st, array, a, t, loc)
    if isinstance(at, Const):
        return _as(Var(array.variables[int(at.value)], loc), array.of, t, loc)
    at = at if isinstance(at, Var | Param | Tid) else st.saved(at, INT)
    found: Expr = Var(array.variables[-1], loc)
    for i, name in reversed(list(enumerate(array.variables[:-1]))):
        found = Op("?:", (Op("==", (at, Const(i)), loc), Var(name, loc), found), loc)
    return _as(found, array.of, t, loc)


def _as(e: Expr, a: CType | None, b: CType, loc: Loc | None) -> Expr:
    """The bytes of a value as another type, in a union."""
    return e if a is None else bits(e, a, b, loc)


def _select(st: State, a: Address, value: Expr, t: CType, loc: Loc | None) -> None:
    """Emit the assignment of a value to an element: every variable with its number gets it, the others keep theirs."""
    array = st.registers[a.root]
    if not array.variables:
        for e in (value, *(e for _, e in a.terms)):
            evaluate(st, e)
        return
    at = _which(st, array, a, t, loc)
    value = value if array.of is None else bits(value, t, array.of, loc)
    if isinstance(at, Const):
        st.emit(Assign(array.variables[int(at.value)], value, loc))
        return
    at, value = st.saved(at, INT), st.saved(value, array.type)
    for i, name in enumerate(array.variables):
        chosen = Op("?:", (Op("==", (at, Const(i)), loc), value, Var(name, loc)), loc)
        st.emit(Assign(name, chosen, loc))


def _steady(st: State, p: Address) -> Address:
    return replace(p, terms=tuple((s, st.saved(_loaded(st, e), INT) if reads_array(e) else e) for s, e in p.terms))


def _loaded(st: State, e: Expr, whole: bool = True) -> Expr:
    """e with each integer that it reads in a variable, but for an e that is one: so what its parts say of it stays
    known, such as the lane that is added to what was loaded."""
    match e:
        case Read() if not whole and type_of(e, st.sigma) == INT:
            return st.saved(e, INT)
        case Op(_, args) if reads_array(e):
            return replace(e, args=tuple(_loaded(st, a, whole=False) for a in args))
    return e


def evaluated(st: State, p: Place) -> Place:
    """The place with every index that reads an array saved in a variable, so that it can be used twice."""
    if isinstance(p, Bits) and isinstance(p.place, Address):
        return replace(p, place=_steady(st, p.place))
    if not isinstance(p, Address):
        return p
    return _steady(st, p)


def frozen(st: State, p: Place, name: str) -> Place:
    """The place with every index that may change later saved in a variable called `name`."""
    if isinstance(p, Bits) and isinstance(p.place, Address) and isinstance(where := frozen(st, p.place, name), Address):
        return replace(p, place=where)
    if not isinstance(p, Address):
        return p
    return replace(p, terms=tuple((s, st.saved(e, INT, name)) for s, e in p.terms))


def member(st: State, p: Place, node: Node, decl: Node) -> Place:
    """The place of a field, `node` being the expression and `decl` the field; of a reference, that of a pointer."""
    p = resolved(st, p)
    if decl.is_bitfield and isinstance(p, Address):
        return _bits(st, p, node, decl)
    union = decl.parent is not None and decl.parent.kind == "UNION_DECL"
    if union and not isinstance(p, Address):
        raise unsupported(f"the union member '{node.name}'", node.loc, "Give the union a name.")
    array = st.registers.get(p.root) if isinstance(p, Address) else None
    if isinstance(p, Address) and array is not None and array.variables and decl.field_offset % array.size == 0:
        return p.plus(array.size, Const(decl.field_offset // array.size))
    if union:
        st.note(f"in runs '{decl.name}', a member of a union in memory, is an array of its own")
    if decl.type.kind == "reference" and not isinstance(p, Parts):
        raise unsupported(f"the reference '{decl.name}' in a structure", node.loc, "Use a pointer, or a value.")
    tuple_ = decl.parent is not None and decl.parent.name == "tuple" and decl.file.startswith(OURS)
    if tuple_ and isinstance(p, Address) and array is None:
        what = "a tuple in memory, as libraries differ in the order of its fields,"
        raise unsupported(what, node.loc, "Use a structure of your own.")
    match p:
        case Address() if is_nameless(decl):
            return replace(p, offset=p.offset + decl.field_offset)
        case Address():
            return p.field(decl.name, decl.field_offset)
        case Parts(_, places):
            return dict(places)[label(decl)]
        case Fields() if is_nameless(decl):
            return p
        case Fields(outer):
            found = parameter(st, f"{outer}.{decl.name}", decl.type, node.loc)
            return st.pointer(found) if decl.type.kind == "pointer" and isinstance(found, Address) else found
    raise unsupported(f"the member '{decl.name}' of this value", node.loc)


def _bits(st: State, p: Address, node: Node, decl: Node) -> Bits:
    """The place of a bit-field in memory: in a number of the size of its type, which a compiler may access at once; of
    a union of one thread, in one of the numbers that it is an array of."""
    (begin, width), size = decl.bits, decl.type.size
    at = begin // (8 * size) * size
    first = begin - 8 * at
    array = st.registers.get(p.root)
    apart = array is not None and bool(array.variables) and array.size != size
    if apart or scalar(decl.type) not in (INT, BOOL) or first + width > 8 * size or size > _WIDEST:
        raise unsupported(f"the bit-field '{decl.name}'", node.loc, "Use shifts and masks.")
    if array is not None:
        return Bits(p.plus(size, Const(at // size)) if array.variables else p, first, width, size)
    where = p.field(f"bits{at}" if size == INT.size else f"bits{at}_{size}", at)
    st.note(f"the bit-fields in '{where.root}{where.path}' are in runs a number of their own")
    return Bits(where, first, width, size)


_WIDEST: Final = 8
"""The most bytes of a bit-field's type."""


def parameter(st: State, name: str, t: CType, loc: Loc | None) -> Place:
    """The place of something that the kernel is passed: a scalar, a pointer to a global array or a structure."""
    if t.kind == "reference":
        raise unsupported(f"the reference '{name}', which the kernel is passed,", loc, "Use a pointer, or a value.")
    type_ = scalar(t)
    if type_ is not None:
        if all(d.name != name for d in st.params):
            st.params.append(Decl(name, type_, loc))
            st.typed(name, t)
            st.sigma.params[name] = type_
            st.taken.add(name)
        return Param(name)
    if t.kind == "pointer" and t.inner is not None:
        st.taken.add(name)
        address = Address(name, "global")
        if scalar(t.inner) is not None or t.inner.kind == "pointer":
            element(st, address.plus(t.inner.size, Const(0)), t.inner, loc)
        return address
    if t.kind == "array" and t.inner is not None and t.size:
        st.taken.add(name)
        st.passed.add(name)
        st.note(f"reads of '{name}', an array that is passed by value, count as reads of global memory")
        return Address(name, "global", total=t.size)
    if t.kind == "record":
        st.taken.add(name)
        return Fields(name)
    raise unsupported(f"the type '{t.name}' of '{name}'", loc)


def _attributes(decl: Node) -> set[str]:
    return {c.kind for c in decl.children if c.kind.startswith("CUDA")}


def is_shared(decl: Node) -> bool:
    return "CUDASHARED_ATTR" in _attributes(decl)


def is_outside(decl: Node) -> bool:
    """Whether a variable is declared outside of all functions, for the device."""
    return decl.kind == "VAR_DECL" and bool({"CUDADEVICE_ATTR", "CUDACONSTANT_ATTR"} & _attributes(decl))


def is_kept(st: State, decl: Node) -> bool:
    """Whether the place of a pointer is one in memory: of a shared one, of one of the device that the kernel or another
    function of the device may assign, or of what a reference refers to."""
    assigned = is_of_device(decl) and (decl.loc in st.plan.adrift or moves(decl.unit, decl.name))
    return assigned or decl.type.kind == "reference" or is_shared(decl)


def is_of_device(decl: Node) -> bool:
    """Whether a variable is declared in global memory."""
    return decl.kind == "VAR_DECL" and "CUDADEVICE_ATTR" in _attributes(decl)


def shared(st: State, decl: Node) -> Address:
    """A `__shared__` variable as an array: flattened, its length known where the type says it."""
    t = decl.type
    name = st.fresh(decl.name)
    dynamic = t.kind == "array" and t.count is None
    unknown = dynamic or decl.offset in st.unknown_lengths
    if dynamic:
        for first, of in st.dynamic.items():
            return _same_memory(st, first, of, decl)
        st.dynamic[name] = t
    address = Address(name, "shared", total=None if unknown else t.size)
    elem, row = innermost(t), t
    while row.inner is not None and row.kind == row.inner.kind == "array":
        row = row.inner
        st.rows[name] = row.size
    if not dynamic and (scalar(elem) is not None or elem.kind == "pointer"):
        element(st, address.plus(elem.size, Const(0)), elem, decl.loc)
    return address


def _same_memory(st: State, first: str, of: CType, decl: Node) -> Address:
    """A second dynamic shared array: it begins where the first one does. Of another type it is as that is read so."""
    found, new = Address(first, "shared"), innermost(decl.type)
    if compatible(innermost(of), new):
        return found
    st.note(f"'{decl.name}' is the memory of '{first}' as '{new.name}': in runs that is an array of its own")
    return replace(found, path=f".as_{re.sub(r'[^A-Za-z0-9]+', '_', new.name).strip('_')}")


def check_lengths(st: State, body: Node) -> None:
    """Raises where more than a pointer is made of a shared array whose length is a stand-in: its size, say."""
    if not st.unknown_lengths:
        return
    pointers = set[int]()
    for node in body.walk():
        if node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and (node.type.kind == "pointer" or id(node) in pointers):
            pointers.update(map(id, node.children))
        decl = node.referenced if node.kind == "DECL_REF_EXPR" and id(node) not in pointers else None
        if decl is not None and decl.kind == "VAR_DECL" and is_shared(decl) and decl.offset in st.unknown_lengths:
            advice = "Use what its length is declared with."
            raise unsupported(f"the size of '{decl.name}', whose length is not a constant,", node.loc, advice)


def table(st: State, decl: Node) -> Address:
    """A `static const` array of a function: one in global memory that nothing writes."""
    where = Address(st.fresh(decl.name), "global", total=decl.type.size)
    st.note(f"reads of '{decl.name}', a constant table of a function, count as reads of global memory")
    note_table(st, decl, where.root)
    return where


def text(st: State, literal: Node) -> Address:
    """A string as an array: one in global memory that nothing writes."""
    where = Address(st.fresh("text"), "global", total=literal.type.size)
    st.note("reads of strings count as reads of global memory")
    if (told := characters(literal, literal.type)) is None:
        raise unsupported("a string as a pointer", literal.loc, "Write a list of numbers.")
    st.tables[where.root] = told
    return where


def outside(st: State, decl: Node, loc: Loc | None) -> Binding:
    """The binding, in the kernel, of a variable declared outside of any function."""
    attributes = _attributes(decl)
    t = decl.type
    if t.kind == "reference":
        what = f"the reference '{decl.name}', declared outside of the kernel,"
        raise unsupported(what, loc, "Use what it refers to.")
    if "CUDASHARED_ATTR" in attributes:
        return shared(st, decl)
    constant = "CUDACONSTANT_ATTR" in attributes
    whole = t.kind != "pointer" or is_kept(st, decl)
    in_memory = t.kind == "array" if constant else "CUDADEVICE_ATTR" in attributes and whole
    if constant and in_memory:
        st.note(f"reads of '{decl.name}', in constant memory, count as reads of global memory")
    if in_memory:
        address = Address(st.fresh(decl.name), "global")
        elem = innermost(t)
        if scalar(elem) is not None or elem.kind == "pointer":
            element(st, address.plus(elem.size, Const(0)), elem, loc)
        if constant:
            note_table(st, decl, address.root)
        return address
    if attributes & {"CUDACONSTANT_ATTR", "CUDADEVICE_ATTR"}:
        if _leads(decl):
            what = f"'{decl.name}', declared outside of the kernel with what a pointer leads to,"
            raise unsupported(what, loc, "Use what it leads to by its own name.")
        st.note(f"'{decl.name}', declared outside of the kernel, is taken as a parameter")
        place = parameter(st, st.fresh(decl.name), t, loc)
        if not isinstance(place, Param | Fields | Address):
            raise unsupported(f"the variable '{decl.name}'", loc)
        return place
    if t.kind == "record" and t.const and not holds(decl) and not is_virtual(decl.type_decl):
        return Parts(st.fresh(decl.name), ())  # a tag: nothing is read of it
    if t.kind == "record" and t.const and (decl.definition or decl).initialiser is not None:
        return st.listed(st, decl, loc, "part")
    if decl.parent is not None and decl.parent.kind in ("FUNCTION_DECL", "CXX_METHOD") and t.const:
        raise unsupported(
            f"the address of the constant '{decl.name}'", loc, "Copy it to a variable, and take that of it."
        )
    raise CudaError(f"'{decl.name}' is a variable of the host", loc, "Pass its value to the kernel as an argument.")


def _leads(decl: Node) -> bool:
    """Whether a pointer, or a structure, may begin with a pointer that leads somewhere, by any of its declarations."""
    known = [n.initialiser for d in (decl, *decl.patterns) for n in (d, d.definition) if n is not None]
    pointers = (n for i in known if i is not None for n in i.walk() if n.type.kind == "pointer")
    if any(n.kind != "INIT_LIST_EXPR" and not null_pointer(n) for n in pointers):
        return True
    return decl.type.kind == "record" and _has_pointers(decl.type_decl) and acts_when_made(decl.type_decl)


def _has_pointers(record: Node) -> bool:
    """Whether a structure has fields that are pointers, or a part of it has."""
    types = {innermost(f.type).kind for f in record.fields}
    parts = (*bases(record), *(f for f in record.fields if innermost(f.type).kind == "record"))
    return "pointer" in types or any(_has_pointers(part.type_decl) for part in parts)


def builtin_index(name: str, axis: str, loc: Loc | None) -> Expr:
    """threadIdx.x and its like."""
    for a in ("x", "y", "z"):
        if a == axis:
            return Tid(a, loc) if name == "threadIdx" else Param(f"{name}.{a}", loc)
    raise unsupported(f"'{name}.{axis}'", loc)


def steps(a: Address, size: int, loc: Loc | None) -> Expr:
    """The distance of the address from its base, in elements of `size` bytes."""
    if any(s % size for s, _ in a.terms):
        raise unsupported(f"this pointer into '{a.root}'", loc, "Use an index in place of it.")
    return index(a, size, loc)
