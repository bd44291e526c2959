"""Whether an expression of a structure is a copy of another one, as the compiler makes it, and of which."""

from __future__ import annotations

from semantics.cuda.clang import Node
from semantics.cuda.classes import copies_itself
from semantics.cuda.shapes import CASTS, operand, temporary


def source(node: Node) -> Node:
    """The expression whose value a structure is a copy of."""
    while True:
        inner: Node | None = None
        if node.kind == "PAREN_EXPR":
            inner = node.children[-1]
        elif node.kind in CASTS:
            inner = operand(node)
        elif node.kind == "CALL_EXPR" and copies(node):
            (inner,) = node.arguments
        if inner is None or inner.type.kind != "record" or inner.type.name != node.type.name:
            return node
        node = inner


def is_copy(node: Node) -> bool:
    """Whether an expression makes a copy of a structure, or is a part of one: no other name for what is copied."""
    while node.kind != "CALL_EXPR":
        inner: Node | None = None
        comma = node.kind == "BINARY_OPERATOR" and node.operator == ","
        if comma or node.kind == "PAREN_EXPR" or (node.kind == "MEMBER_REF_EXPR" and node.children):
            inner = node.children[-1]
        elif node.kind == "ARRAY_SUBSCRIPT_EXPR":
            inner = operand(node.children[0]) if node.children[0].kind in CASTS else None
        elif node.kind in CASTS:
            inner = operand(node)
        if inner is None or inner.type.kind not in ("record", "array"):
            return False
        if node.kind in CASTS and node.kind != "UNEXPOSED_EXPR" and temporary(node):
            return inner.kind != "INIT_LIST_EXPR"  # what has the values of a list is made here
        node = inner
    return copies(node)


def copies(node: Node) -> bool:
    """Whether a call makes a structure from another one of its kind, as the compiler does it."""
    callee = node.referenced
    if callee is None:  # a copy that is left out
        own = len(node.children) == 1 and not copies_itself(node)
    else:
        own = callee.kind == "CONSTRUCTOR" and callee.is_defaulted
    return own and len(node.arguments) == 1 and node.arguments[0].type.name == node.type.name


def copies_into(node: Node) -> bool:
    """Whether a call assigns one structure to another, as the compiler does it."""
    callee = node.referenced
    return callee is not None and callee.name == "operator=" and callee.is_defaulted


def undefined(node: Node) -> bool:
    """Whether a structure is made without a value: if it is declared so, it has none, else it is zero."""
    callee = node.referenced if node.kind == "CALL_EXPR" else None
    return callee is not None and callee.kind == "CONSTRUCTOR" and callee.is_defaulted and not node.arguments
