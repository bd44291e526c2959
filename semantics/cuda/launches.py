"""Launches `k<<<grid, block>>>(..)` in host code: their sizes, where they are constants."""

from __future__ import annotations

from collections.abc import Iterator

from semantics.cuda.clang import Node, Unit
from semantics.cuda.parse import functions, is_kernel

Sizes = tuple[int, int, int]


def grid_of(unit: Unit, kernel: Node) -> Sizes | None:
    """The grid that the launches of a kernel in its file agree on; None without a launch, or where one is unclear."""
    return _agreed(unit, kernel, 0)


def block_of(unit: Unit, kernel: Node) -> Sizes | None:
    """The block, likewise."""
    return _agreed(unit, kernel, 1)


def _agreed(unit: Unit, kernel: Node, position: int) -> Sizes | None:
    sizes = {
        _dim3(config.arguments[position], host, config.offset) if len(config.arguments) > 1 else None
        for host in functions(unit)
        if not is_kernel(host)
        for name, config in _launches(host)
        if name == kernel.name
    }
    return next(iter(sizes)) if len(sizes) == 1 else None


def _launches(host: Node) -> Iterator[tuple[str, Node]]:
    for node in host.walk():
        if node.kind == "CALL_EXPR":
            for child in node.children:
                if child.kind == "CALL_EXPR" and child.name == "cudaConfigureCall":
                    yield node.name, child


def _dim3(node: Node, host: Node, launch: int) -> Sizes | None:
    """The value of an expression of type dim3, following a variable to its initialiser and assignments."""
    for here in node.walk():
        if here.kind == "DECL_REF_EXPR" and here.type.name == "dim3":
            decl = here.referenced
            return _variable(decl, host, launch) if decl is not None else None
        if here.kind == "CALL_EXPR" and here.name == "dim3" and len(here.arguments) == 3:
            sizes = [a.evaluate() for a in here.arguments]
            x, y, z = (s if isinstance(s, int) and s > 0 else 0 for s in sizes)
            return (x, y, z) if x and y and z else None
    return None


def _variable(decl: Node, host: Node, launch: int) -> Sizes | None:
    """The value of a dim3 variable that is only changed by `b.x = constant`, once a field, before the launch."""
    start = _dim3(decl.initialiser, host, launch) if decl.initialiser is not None else None
    if start is None:
        return None
    sizes = dict(zip("xyz", start, strict=True))
    plain = {s.offset for s in host.children[-1].children if s.kind == "BINARY_OPERATOR" and s.operator == "="}
    seen: set[str] = set()
    for node in host.walk():
        for target in _changed(node):
            inner = target.children[0] if target.kind == "MEMBER_REF_EXPR" and target.children else target
            used = inner.referenced if inner.kind == "DECL_REF_EXPR" else None
            if used is None or used.identity != decl.identity:
                continue
            value = node.children[1].evaluate() if node.kind == "BINARY_OPERATOR" else None
            fine = node.offset in plain and node.offset < launch and target.name in sizes and target.name not in seen
            if not fine or not isinstance(value, int) or value <= 0:
                return None
            seen.add(target.name)
            sizes[target.name] = value
    return sizes["x"], sizes["y"], sizes["z"]


def _changed(node: Node) -> tuple[Node, ...]:
    """The expressions whose value a node may change."""
    if node.kind == "BINARY_OPERATOR" and node.operator != "=":
        return ()
    if node.kind in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR", "UNARY_OPERATOR"):
        return node.children[:1]
    return node.children if node.kind == "CALL_EXPR" else ()
