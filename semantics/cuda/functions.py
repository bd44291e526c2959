"""Pointers to functions: which function one leads to is known where it is passed or declared, or it is refused."""

from __future__ import annotations

from semantics.cuda.clang import Node
from semantics.cuda.state import State


def named_function(st: State, node: Node) -> Node | None:
    """The function that an expression names, or a variable that was given one; None for all else."""
    while len(node.children) == 1 and (
        node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR", "UNARY_OPERATOR")
        or (node.kind == "DECL_REF_EXPR" and node.referenced is None)  # substituted in an instance of a template
    ):
        if node.kind == "UNARY_OPERATOR" and node.operator not in ("&", "*"):
            return None
        node = node.children[0]
    decl = node.referenced if node.kind == "DECL_REF_EXPR" else None
    if decl is None:
        return None
    return decl if decl.kind == "FUNCTION_DECL" else st.functions.get(decl.identity)


def pointed(st: State, node: Node) -> Node | None:
    """The function that a call by a pointer is of; None for other calls."""
    if not node.children or (node.referenced is not None and node.referenced.kind not in _NAMES):
        return None
    return named_function(st, node.children[0])


_NAMES = ("PARM_DECL", "VAR_DECL")
