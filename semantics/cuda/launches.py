"""Launches `k<<<grid, block>>>(..)` in host code: their sizes, where they are constants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from semantics.cuda.clang import Node, Unit
from semantics.cuda.parse import functions, is_kernel
from semantics.cuda.scan import automatic

Sizes = tuple[int, int, int]


def grid_of(unit: Unit, kernel: Node) -> Sizes | None:
    """The grid that the launches of a kernel in its file agree on; None without a launch, or where one is unclear."""
    return _agreed(unit, kernel, 0)


def block_of(unit: Unit, kernel: Node) -> Sizes | None:
    """The block, likewise."""
    return _agreed(unit, kernel, 1)


def _agreed(unit: Unit, kernel: Node, position: int) -> Sizes | None:
    sizes: set[Sizes | None] = set()
    for host, launch, config in _launches(unit):
        callee = launch.referenced
        if callee is None or callee.kind not in ("FUNCTION_DECL", "FUNCTION_TEMPLATE"):
            sizes.add(None)  # by another name, perhaps
        elif launch.name == kernel.name:
            given = config.arguments[position] if len(config.arguments) > 1 else None
            sizes.add(_dim3(given, host, config.offset) if given is not None and host is not None else None)
    return next(iter(sizes)) if len(sizes) == 1 else None


def _launches(unit: Unit) -> Iterator[tuple[Node | None, Node, Node]]:
    """The function of a launch, where it is a plain one, the launch, and the call that has its sizes."""
    hosts = [f for f in functions(unit) if not is_kernel(f)]
    plain = {node.span: host for host in hosts for node in host.walk() if node.kind == "CALL_EXPR"}
    for node in unit.root().walk():
        if node.kind == "CALL_EXPR":
            for child in node.children:
                if child.kind == "CALL_EXPR" and child.name == "cudaConfigureCall":
                    yield plain.get(node.span), node, child


def _dim3(node: Node, host: Node, launch: int) -> Sizes | None:
    """The value of an expression of type dim3, following a variable to its initialiser and assignments."""
    while node.kind in _WRAPPERS or (node.kind == "CALL_EXPR" and len(node.arguments) == 1):
        callee = node.referenced if node.kind == "CALL_EXPR" else None
        inner = [c for c in node.children if c.kind != "TYPE_REF"] if callee is None else node.arguments
        if len(inner) != 1 or (callee is not None and callee.kind != "CONSTRUCTOR"):
            return None
        (node,) = inner
    if node.kind == "DECL_REF_EXPR":
        decl = node.referenced
        own = decl is not None and decl.type.name == "dim3" and automatic(decl, host)
        return _variable(decl, host, launch) if decl is not None and own else None
    if node.kind == "CALL_EXPR" and node.name == "dim3" and len(node.arguments) == 3:
        sizes = [a.evaluate() for a in node.arguments]
        x, y, z = (s if isinstance(s, int) and s > 0 else 0 for s in sizes)
        return (x, y, z) if x and y and z else None
    return None


_WRAPPERS: Final = ("UNEXPOSED_EXPR", "PAREN_EXPR", "CXX_FUNCTIONAL_CAST_EXPR")


def _variable(decl: Node, host: Node, launch: int) -> Sizes | None:
    """The value of a dim3 variable that is only changed by `b.x = constant`, once a field, before the launch."""
    start = _dim3(decl.initialiser, host, launch) if decl.initialiser is not None else None
    if start is None:
        return None
    if any(node.kind in ("LABEL_STMT", "GOTO_STMT", "INDIRECT_GOTO_STMT") for node in host.walk()):
        return None
    sizes = dict(zip("xyz", start, strict=True))
    plain = {s.offset for s in host.children[-1].children if s.kind == "BINARY_OPERATOR" and s.operator == "="}
    seen: set[str] = set()
    for node in host.walk():
        for target in _changed(node):
            inner = _open(target)
            inner = _open(inner.children[0]) if inner.kind == "MEMBER_REF_EXPR" and inner.children else inner
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


def _open(node: Node) -> Node:
    """What parentheses hold."""
    while node.kind == "PAREN_EXPR":
        node = node.children[-1]
    return node


def _changed(node: Node) -> tuple[Node, ...]:
    """The expressions whose value a node may change."""
    if node.kind == "BINARY_OPERATOR" and node.operator != "=":
        return ()
    if node.kind in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR", "UNARY_OPERATOR"):
        return node.children[:1]
    if node.kind == "VAR_DECL":
        return tuple(c for c in node.children if node.type.kind in ("reference", "pointer"))
    if node.kind == "LAMBDA_EXPR":
        return tuple(c for c in node.walk() if c.kind == "DECL_REF_EXPR")
    return node.children if node.kind == "CALL_EXPR" else ()
