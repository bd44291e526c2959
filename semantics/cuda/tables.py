"""Constant tables: what an array in constant memory holds that is declared with a list of integers, or with lists.

A read at a known index is paid for, and its value is the table's, on the assumption that host code leaves the array as
it is declared, which is noted; nothing is known of one that host code in the file names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from logic.syntax import Const, Expr, Stmt, Write, statements
from semantics.cuda.clang import UNITS, Node, Unit
from semantics.cuda.classes import bases
from semantics.cuda.ctype import CType, innermost
from semantics.cuda.errors import unsupported
from semantics.cuda.lost import WORD, blanked, without_directives
from semantics.cuda.macros import pastes
from semantics.cuda.modular import integer, remainder
from semantics.cuda.scan import METHODS
from semantics.cuda.shim import own, own_files
from semantics.cuda.state import Address, State


def note_table(st: State, decl: Node, root: str) -> None:
    """Keep what an array is declared to hold, if that is known: of integers, also in several dimensions, or of
    structures of them, of which each field is an array. What its list leaves out is 0."""
    t, init = innermost(decl.type), decl.initialiser
    if decl.type.kind != "array" or t.volatile or init is None:
        return
    if init.kind == "STRING_LITERAL" and (t.const or not _named_by_host(decl)):
        st.tables |= {root: text} if (text := characters(init, decl.type)) else {}
    if init.kind != "INIT_LIST_EXPR":
        return
    items = _items(decl.type, init)
    if items is None or (not t.const and _named_by_host(decl)):
        return
    if t.kind != "record":
        found = {root: _numbers(t, items)}
    elif (fields := _plain_fields(decl.type_decl)) and all(i is None or i.kind == "INIT_LIST_EXPR" for i in items):
        rows = [() if item is None else item.children for item in items]
        if any(_designated(part) for row in rows for part in row):
            return
        columns = ([row[k] if k < len(row) else None for row in rows] for k in range(len(fields)))
        found = {f"{root}.{f.name}": _numbers(f.type, own) for f, own in zip(fields, columns, strict=True)}
    else:
        return
    told = {name: numbers for name, numbers in found.items() if numbers}
    st.tables |= told
    if told and (decl.storage != "STATIC" or not t.const):
        st.note(f"'{decl.name}', in constant memory, holds what it is declared with")


def _named_by_host(decl: Node) -> bool:
    """Whether something that is not code of the device names a variable, or a macro that does, or may: it may give it a
    value, as cudaMemcpyToSymbol does."""
    name = decl.name.encode()
    macros = decl.unit.macros.saying(
        lambda text: pastes(text) or name in (words := WORD.findall(text)) or _coded(words)
    )
    words = _outside_of_device(decl.unit)
    return not words.isdisjoint((name, *map(str.encode, macros))) or _mangled(name, words) or _coded(words)


def _mangled(name: bytes, words: Iterable[bytes]) -> bool:
    """Whether a word may be what compiled code calls something of a name that is in a namespace or structure."""
    return any(word.startswith(b"_Z") and name in word for word in words)


def _coded(words: Iterable[bytes]) -> bool:
    """Whether letters of a word are written as their numbers."""
    return any(b"\\" in word for word in words)


_LITERAL: Final = re.compile(rb'"(?:\w+::)*(\w+)"')
"""The text of a word, as in cuModuleGetGlobal(.., "table")."""
_ANY: Final = re.compile(rb'"[^"\n]*"')


@lru_cache(maxsize=UNITS)
def _outside_of_device(unit: Unit) -> frozenset[bytes]:
    """The words of a unit's text that are not in functions of the device alone, in declarations of constants, or
    directives, literals that are a word, and the names there of what macros become: those in texts that clang gives up
    on, too."""
    found, apart, todo = set[bytes](), dict[str, list[slice]](), list(own(unit))
    while todo:
        node = todo.pop()
        attributes = {c.kind for c in node.children}
        on_device = {"CUDACONSTANT_ATTR"} if node.kind == "VAR_DECL" else _DEVICE
        if attributes & on_device and "CUDAHOST_ATTR" not in attributes:
            file, start, end = node.span
            apart.setdefault(file, []).append(slice(start, end))
            continue
        if node.kind == "DECL_REF_EXPR":
            found.add(node.name.encode())
        todo += node.children
    for file in own_files(unit):
        text = bytearray(without_directives(blanked(unit.text(file))))
        for part in apart.get(file, ()):
            text[part] = b" " * (part.stop - part.start)
        found |= {*WORD.findall(bytes(text)), *_LITERAL.findall(unit.text(file))}
    return frozenset(found)


def stays(decl: Node) -> bool:
    """Whether a variable holds what it is declared with, as far as its file says: its name stands where something of
    that name is declared or device functions read its value, and nowhere else, in a literal or a macro neither."""
    known, name = _harmless(decl.unit), decl.name.encode()
    return all(known.get(at) for file in own_files(decl.unit) for at in _mentions(decl.unit, name, file))


@lru_cache(maxsize=1 << 10)
def moves(unit: Unit, name: str) -> bool:
    """Whether functions of the device name a variable for more than its value, or may: so they may change it."""
    known = _harmless(unit)
    mentions = (_mentions(unit, name.encode(), *part) for part in _on_device(unit))
    return any(at not in known for part in mentions for at in part)


def _mentions(unit: Unit, name: bytes, file: str, start: int = 0, end: int | None = None) -> Iterator[tuple[str, int]]:
    """Where a part of a file has a name; before the file, where it may have it in a macro or a literal."""
    says = unit.macros.saying(lambda text: pastes(text) or name in (words := WORD.findall(text)) or _coded(words))
    macros, text = {*map(str.encode, says)}, unit.text(file)[start:end]
    told = {word for literal in _ANY.findall(text) for word in WORD.findall(literal)}
    if name in told or _mangled(name, told):
        yield file, -1
    for m in WORD.finditer(without_directives(blanked(text))):
        if m[0] == name or m[0] in macros or b"\\" in m[0]:
            yield file, start + m.start() if m[0] == name else -1


@lru_cache(maxsize=UNITS)
def _on_device(unit: Unit) -> tuple[tuple[str, int, int], ...]:
    """Where the functions of the device are."""
    found, todo = list[tuple[str, int, int]](), [*own(unit)]
    while todo:
        node = todo.pop()
        if node.kind != "VAR_DECL" and any(c.kind in _DEVICE for c in node.children):
            found.append(node.span)
        else:
            todo += node.children
    return tuple(found)


@lru_cache(maxsize=UNITS)
def _harmless(unit: Unit) -> Mapping[tuple[str, int], bool]:
    """Where a unit's text has names that are declared there, or are those of parameters, variables of functions and
    fields, or of which the value is read, or that of an element, and whether that is in functions of the device alone
    or changes nothing in any."""
    found, todo = dict[tuple[str, int], bool](), [(node, False) for node in own(unit)]
    while todo:
        node, on_device = todo.pop()
        attributes = {c.kind for c in node.children if c.kind.startswith("CUDA")}
        if attributes & _DEVICE and node.kind != "VAR_DECL":
            on_device = "CUDAHOST_ATTR" not in attributes
        todo += [(c, on_device) for c in node.children]
        inner = node.children[0] if node.kind == "UNEXPOSED_EXPR" and node.children else None
        while inner is not None and inner.kind == "PAREN_EXPR":
            inner = inner.children[0]
        used = node.referenced if node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR") else None
        if node.kind in _OTHERS or (used is not None and _is_local(used)):
            found[node.written] = True
        elif inner is not None and inner.kind in _PLACES and node.type == inner.type:
            while inner.kind in (*_PLACES[1:], "PAREN_EXPR", "UNEXPOSED_EXPR") and inner.children:
                inner = inner.children[0]
            found.setdefault(inner.written, on_device)
    return found


def _is_local(decl: Node) -> bool:
    """Whether a declaration is of a parameter, a field, or a variable of a function that is not static."""
    within = decl.parent
    own_ = within is not None and within.kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE", *METHODS)
    return decl.kind in _OTHERS[1:] or (decl.kind == "VAR_DECL" and own_ and decl.storage == "NONE")


_OTHERS: Final = ("VAR_DECL", "PARM_DECL", "FIELD_DECL")
_DEVICE: Final = {"CUDADEVICE_ATTR", "CUDAGLOBAL_ATTR"}
_PLACES: Final = ("DECL_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR")


def _items(t: CType, init: Node | None) -> list[Node | None] | None:
    """The declared elements of an array of arrays of .., one after the other, with None for 0; None for
    a text, or a list in which a row has no braces."""
    if t.kind != "array" or t.inner is None or t.count is None:
        return [init]
    if init is not None and init.kind != "INIT_LIST_EXPR":
        return None
    parts = [] if init is None else [*init.children]
    rows = [_items(t.inner, part) for part in (*parts, *[None] * (t.count - len(parts)))]
    return [item for row in rows if row is not None for item in row] if None not in rows else None


_CHARACTER: Final = re.compile(r"\\([0-7]{1,3}|.)|(.)", re.DOTALL)
_ESCAPED: Final = dict(zip("abfnrtv", b"\a\b\f\n\r\t\v", strict=True))


def characters(literal: Node, t: CType) -> tuple[int, ...] | None:
    """The elements of an array of bytes that is declared with a string, with zeros behind it. None of wide letters.

    Clang prints it without pieces and macros, and with `\\303` for what is no letter of ASCII.
    """
    own = None if t.inner is None else integer(t.inner)
    if own is None or own.bits != 8 or t.count is None or not literal.name.startswith(('"', 'u8"')):
        return None
    inside = literal.name[literal.name.index('"') + 1 : -1]
    values = [
        int(escape, 8) if escape.isdigit() else _ESCAPED.get(escape, ord(escape or plain))
        for escape, plain in _CHARACTER.findall(inside)
    ]
    return tuple(remainder(v, own) for v in [*values, *[0] * (t.count - len(values))][: t.count])


def _designated(part: Node) -> bool:
    """Whether an element is declared by its field's name or by its index, so that its place in the list says nothing;
    what clang shows as nothing but a conversion is not."""
    return part.kind == "UNEXPOSED_EXPR" and len(part.children) > 1


def _plain_fields(decl: Node) -> tuple[Node, ...]:
    """The fields of a structure of integers; none of another, or where what a list leaves out may not be 0."""
    plain = decl.kind == "STRUCT_DECL" and not bases(decl) and all(integer(f.type) for f in decl.fields)
    odd = any(
        f.is_bitfield
        or f.type.volatile
        or any(c.kind.endswith("EXPR") or c.kind.endswith("LITERAL") for c in f.children)
        for f in decl.fields
    )
    return () if odd or not plain else decl.fields


def _numbers(t: CType, items: Sequence[Node | None]) -> tuple[int, ...] | None:
    """The values of elements of a type; None where one is not known."""
    own = integer(t)
    if own is None or any(item is not None and (item.kind == "INIT_LIST_EXPR" or _designated(item)) for item in items):
        return None
    values = [0 if item is None else item.evaluate() for item in items]
    found = tuple(remainder(v, own) for v in values if isinstance(v, int))
    return found if len(found) == len(values) else None


def known(st: State, a: Address, t: CType, at: Expr) -> int | None:
    """The value that the element at an index of an array is declared with, where both are known, in the type that it
    is read as."""
    table, own = st.tables.get(a.root, ()), integer(t)
    plain = not a.path and a.offset == 0 and all(size % t.size == 0 for size, _ in a.terms)
    if not plain or not isinstance(at, Const) or not isinstance(at.value, int) or not 0 <= at.value < len(table):
        return None
    return remainder(table[at.value], own) if own is not None else None


def check_unwritten(st: State, body: Stmt) -> None:
    """Raises where a kernel writes to a table, of which it is known what it holds, or to an array that it is passed in
    a structure."""
    tables = {name.partition(".")[0] for name in st.tables}
    for s in statements(body) if tables or st.passed else ():
        if not isinstance(s, Write):
            continue
        if (name := s.array.partition(".")[0]) in tables:
            raise unsupported(f"writing to '{name}', which is constant,", s.loc)
        if any(s.array == own or s.array.startswith(f"{own}.") for own in st.passed):
            raise unsupported(f"assigning to '{s.array}'", s.loc, "Copy it to a local variable first.")
