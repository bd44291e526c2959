"""The arguments that host code passes a kernel, as far as its text tells: numbers, and where pointers lead. For
warnings alone: what is not told is taken to be as claims assume it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from logic.source import Loc
from semantics.cuda.clang import Node, Unit
from semantics.cuda.launches import Extent, Host, Launch, launches_of, number, sized
from semantics.cuda.scan import automatic
from semantics.cuda.shapes import CASTS

_AROUND: Final = ("PAREN_EXPR", *CASTS, "CXX_REINTERPRET_CAST_EXPR", "CXX_CONST_CAST_EXPR")
_FOLLOWED: Final = 8
"""The most variables that a pointer is followed through."""

_LONGEST: Final = 60
"""The longest text of an argument that is told."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer that a launch passes: its text, the variable that it comes from, "" for none, and the number of bytes
    that are added to that, None where it is not known. Pointers of one root lead into one array."""

    text: str
    root: str
    offset: int | None = 0


@dataclass(frozen=True, slots=True)
class Launched:
    """A launch in host code: its grid and block, and of the parameters those that it passes known numbers, and those
    that it passes pointers."""

    loc: Loc | None
    grid: Extent | None
    block: Extent | None
    numbers: tuple[tuple[str, int], ...]
    pointers: tuple[tuple[str, Pointer], ...]


def launched(unit: Unit, host: Host, kernel: Node) -> tuple[Launched, ...]:
    """The launches of a kernel, or of this instance of a template, that its file shows, in the order of the text."""
    sizes, found = sized(unit, host, kernel), []
    for launch in launches_of(unit, kernel):
        if launch.host is None:
            continue
        grid, block = sizes.get(launch.config.written, (None, None))
        numbers, pointers = [], []
        for p, a in zip(kernel.arguments, _given(launch), strict=False):
            for name, to, value in _scalars(p.name, p, a, launch.host):
                if to.type.kind == "int" and (n := number(value, launch.host)) is not None:
                    numbers.append((name, _converted(n, to)))
                elif to.type.kind == "pointer":
                    pointers.append((name, _pointer(value, launch.host)))
        found.append(Launched(launch.config.loc, grid, block, tuple(numbers), tuple(pointers)))
    return tuple(found)


def _given(launch: Launch) -> tuple[Node, ...]:
    """The arguments of a launch, or what the array of addresses in a call of `cudaLaunchKernel` leads to."""
    if launch.node.kind == "CALL_EXPR":
        return launch.node.arguments
    given = launch.config.arguments
    if launch.config.name == "cudaLaunchKernelEx":
        return given[2:]
    at = 2 if launch.config.name == "cudaLaunchKernelExC" else 3
    array = _inside(given[at]) if len(given) > at else None
    decl = array.referenced if array is not None and array.kind == "DECL_REF_EXPR" else None
    listed = decl.initialiser if decl is not None and decl.kind == "VAR_DECL" else None
    if listed is None or listed.kind != "INIT_LIST_EXPR":
        return ()
    places = [_inside(c) for c in listed.children]
    if not all(c.kind == "UNARY_OPERATOR" and c.operator == "&" for c in places):
        return ()
    return tuple(c.children[0] for c in places)


def _scalars(name: str, to: Node, value: Node, host: Node) -> Iterator[tuple[str, Node, Node]]:
    """The numbers and pointers that a parameter has, by the names that they have there, with what they are given: what
    is in a structure, too, where a list has it or one assignment to its field."""
    if to.type.kind in ("int", "pointer") and name:
        yield name, to, value
    if to.type.kind != "record" or not name:
        return
    value = _inside(value)
    while value.kind == "CALL_EXPR" and len(value.arguments) == 1:  # copies it
        value = _inside(value.arguments[0])
    decl = value.referenced if value.kind == "DECL_REF_EXPR" else None
    given: dict[str, list[Node]] = {}
    if decl is not None and decl.kind == "VAR_DECL":
        for node in host.walk():
            target = node.children[0] if node.kind == "BINARY_OPERATOR" and node.operator == "=" else None
            if target is not None and target.kind == "MEMBER_REF_EXPR" and target.children:
                base = target.children[0]
                if base.referenced is not None and base.referenced.identity == decl.identity:
                    given.setdefault(target.name, []).append(node.children[1])
        value = _inside(decl.initialiser) if decl.initialiser is not None else value
    listed = value.children if value.kind == "INIT_LIST_EXPR" else ()
    for i, field in enumerate(to.fields):
        values = given.get(field.name, list(listed[i : i + 1]))
        if len(values) == 1:
            yield from _scalars(f"{name}.{field.name}", field, values[0], host)


def _converted(n: int, p: Node) -> int:
    """A number as a parameter has it."""
    bits = 8 * p.type.size
    n %= 1 << bits
    return n - (1 << bits) if p.type.signed and n >> (bits - 1) else n


def _pointer(node: Node, host: Node) -> Pointer:
    root, offset = _traced(node, host, _FOLLOWED)
    file, start, end = node.span
    text = " ".join(node.unit.text(file)[start:end].decode(errors="replace").split())
    return Pointer(text if len(text) <= _LONGEST and text.isprintable() else "an address", root, offset)


def _inside(node: Node) -> Node:
    """The operand of parentheses and casts."""
    while node.kind in _AROUND and len(parts := [c for c in node.children if not c.kind.endswith("_REF")]) == 1:
        (node,) = parts
    return node


def _traced(node: Node, host: Node, left: int) -> tuple[str, int | None]:
    """The variable that a pointer comes from, and the number of bytes that is added to it."""
    node = _inside(node)
    if node.kind == "UNARY_OPERATOR" and node.operator == "&":
        place = _inside(node.children[0])
        return _moved(place.children, place, host, left) if place.kind == "ARRAY_SUBSCRIPT_EXPR" else ("", 0)
    if node.kind == "BINARY_OPERATOR" and node.operator in ("+", "-"):
        return _moved(node.children, node, host, left)
    decl = node.referenced if node.kind == "DECL_REF_EXPR" else None
    if decl is None or decl.kind not in ("VAR_DECL", "PARM_DECL"):
        return "", 0
    itself = (decl.name, 0)
    if not left or decl.type.kind != "pointer" or not (automatic(decl, host) or decl.kind == "PARM_DECL"):
        return itself
    values = [] if decl.initialiser is None or decl.kind == "PARM_DECL" else [decl.initialiser]
    for change in _changes(decl, host):
        if change.kind != "BINARY_OPERATOR" or _adds_to(change.children[1], decl):
            return decl.name, None
        values.append(change.children[1])
    values = [v for v in values if v.evaluate() != 0 and _inside(v).kind != "CXX_NULL_PTR_LITERAL_EXPR"]
    root, offset = _traced(values[0], host, left - 1) if len(values) == 1 else itself
    return (root, offset) if root else (decl.name, offset)


def _moved(parts: tuple[Node, ...], sum_: Node, host: Node, left: int) -> tuple[str, int | None]:
    """The same of what has a pointer and a number: a sum of them, or an element."""
    pointers = [p for p in parts if _inside(p).type.kind in ("pointer", "array")]
    if len(pointers) != 1 or len(parts) != 2:
        return "", 0
    by = number(next(p for p in parts if p is not pointers[0]), host)
    if sum_.kind == "BINARY_OPERATOR":
        inner = sum_.type.inner
        size = inner.size if inner is not None else 0
        by = by if by is None or sum_.operator == "+" else -by
    else:
        size = sum_.type.size
    root, offset = _traced(pointers[0], host, left)
    return root, None if offset is None or by is None else offset + by * (size or 1)


def _changes(decl: Node, host: Node) -> Iterator[Node]:
    """The statements of a function that assign a variable, or move it."""
    for node in host.walk():
        moves = node.kind == "UNARY_OPERATOR" and node.operator in ("++x", "--x", "x++", "x--")
        assigns = node.kind == "BINARY_OPERATOR" and node.operator == "="
        if moves or assigns or node.kind == "COMPOUND_ASSIGNMENT_OPERATOR":
            target = _inside(node.children[0])
            named = target.referenced if target.kind == "DECL_REF_EXPR" else None
            if named is not None and named.identity == decl.identity:
                yield node


def _adds_to(value: Node, decl: Node) -> bool:
    """Whether a value is a sum with a variable."""
    value = _inside(value)
    return value.kind == "BINARY_OPERATOR" and any(
        n.kind == "DECL_REF_EXPR" and n.referenced is not None and n.referenced.identity == decl.identity
        for n in value.walk()
    )
