"""Parameters that have the size of the block that they are launched with: `k<<<grid, n>>>(.., n)`, where n is a
variable of the host that nothing changes. A block has 1 to 1024 threads, so integers of 32 bits and more have that size
alike."""

from __future__ import annotations

from typing import Final

from logic.syntax import Assign, Expr, Op, Param, Stmt, Var, While, statements, subterms
from semantics.cuda.clang import Node, Unit
from semantics.cuda.launches import Host, Launch, constructs, copied, every
from semantics.cuda.mentions import jumps, loads, mentions, reads, settled
from semantics.cuda.shapes import CASTS

_Pairs = frozenset[tuple[str, str]]
"""Names of parameters, each with the axis that it is the size of."""

_Source = tuple[int, str]
"""A variable, by its identity, and the field of it that is meant, "" for a number."""

_FOLLOWED: Final = 4
"""The most variables that a size is followed through."""

_COUNTED: Final = 32
"""The bits of a field of a dim3, and of the numbers that may be the size of a block."""


def sized(unit: Unit, host: Host, kernel: Node, body: Stmt) -> tuple[Expr, ...]:
    """Facts `parameter == blockDim.axis` about parameters that a kernel's loops count by, where all launches agree on
    them, both as the file is parsed for the device, which the unit is, and for the host. None where a launch may be
    missing."""
    counting, names = _counting(body), [p.name for p in kernel.arguments]
    own = enumerate(kernel.arguments)
    wanted = {i for i, p in own if p.name in counting and names.count(p.name) == 1}
    found = _passed(unit, kernel, wanted) if wanted else frozenset()
    on_host = host() if found else None
    found &= _passed(on_host, kernel, wanted) if on_host is not None else frozenset()
    return tuple(Op("==", (Param(name), Param(f"blockDim.{axis}"))) for name, axis in sorted(found))


def _counting(body: Stmt) -> frozenset[str]:
    """The parameters by which a variable is set or moved that a loop's test asks for."""
    within = list(statements(body))
    asked = {t.name for s in within if isinstance(s, While) for t in subterms(s.cond) if isinstance(t, Var)}
    steps = (s.value for s in within if isinstance(s, Assign) and s.var in asked)
    return frozenset(t.name for e in steps for t in subterms(e) if isinstance(t, Param))


def _passed(unit: Unit, kernel: Node, wanted: set[int]) -> _Pairs:
    """The sizes that all launches of a kernel agree on."""
    each = [_of(launch, kernel, wanted) for launch in every(unit, kernel) or ()]
    return frozenset[tuple[str, str]].intersection(*each) if each else frozenset()


def _of(launch: Launch, kernel: Node, wanted: set[int]) -> _Pairs:
    host, given = launch.host, launch.node.arguments
    if host is None or len(launch.sizes) < 2 or jumps(host):
        return frozenset()
    block = _extents(launch.sizes[1], host, _FOLLOWED)
    passed = {kernel.arguments[i].name: _sources(given[i], host, _FOLLOWED) for i in wanted if i < len(given)}
    return frozenset((name, axis) for name, own in passed.items() for axis, size in block.items() if own & size)


def _extents(size: Node, host: Node, left: int) -> dict[str, set[_Source]]:
    """The variables and fields that the sizes of a dim3 surely are the values of, by their axes."""
    made = copied(size)
    if made is None or not left:
        return {}
    if made.type.kind == "int":
        return {"x": _sources(made, host, left)}
    if made.kind == "CALL_EXPR" and len(made.arguments) == 3:
        known = made.referenced is not None and constructs(made.referenced)
        return {x: _sources(a, host, left) for x, a in zip("xyz", made.arguments, strict=True)} if known else {}
    decl = made.referenced if made.kind == "DECL_REF_EXPR" else None
    if decl is None or not _steady(decl, host):
        return {}
    inner = _extents(decl.initialiser, host, left - 1) if decl.initialiser is not None else {}
    return {x: {(decl.identity, x)} | inner.get(x, set()) for x in "xyz"}


def _sources(node: Node, host: Node, left: int) -> set[_Source]:
    """The variables and fields that an integer surely is the value of, and those that they are copies of."""
    if not left or not settled(node, host, typed=True):
        return set()
    while node.kind in ("PAREN_EXPR", *CASTS):
        inner = [c for c in node.children if not c.kind.endswith("_REF")]
        if len(inner) != 1 or not _whole(node):
            return set()
        (node,) = inner
    field = node.name if node.kind == "MEMBER_REF_EXPR" and len(node.children) == 1 else ""
    base = node.children[0] if field else node
    decl = base.referenced if base.kind == "DECL_REF_EXPR" else None
    if decl is None or not _whole(node) or not _steady(decl, host):
        return set()
    first = decl.initialiser
    if field:
        inside = _extents(first, host, left - 1) if first is not None else {}
        return {(decl.identity, field)} | inside.get(field, set())
    return {(decl.identity, "")} | (_sources(first, host, left - 1) if first is not None else set())


def _whole(node: Node) -> bool:
    """Whether this is an integer that may have the size of any block."""
    return node.type.kind == "int" and node.type.size >= 4 and not node.type.volatile


def _steady(decl: Node, host: Node) -> bool:
    """Whether a number or a dim3 that a function declares has one value wherever it is named: all that names it reads
    it. A number has as many bits as the field of a dim3, lest it be another one there."""
    (file, start, end), (own, at, _) = host.span, decl.span
    inside = file == own and start <= at < end and decl.storage not in ("STATIC", "EXTERN")
    number = decl.type.kind == "int"
    typed = decl.type.size * 8 == _COUNTED if number else decl.type.name == "dim3"
    found = mentions(decl, host) if decl.kind in ("VAR_DECL", "PARM_DECL") and inside and typed else None
    return found is not None and all(map(loads if number else reads, found))
