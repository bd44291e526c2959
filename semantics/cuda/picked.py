"""References to what `std::min`, `std::max` and `std::clamp` give: to one of their arguments, as it is later. Here
these functions give a number, so a reference to it is refused where an argument may change, or is in memory."""

from __future__ import annotations

from typing import Final

from semantics.cuda.clang import Node
from semantics.cuda.errors import unsupported
from semantics.cuda.shapes import inmost, lvalue
from semantics.cuda.shim import in_shim
from semantics.cuda.state import State

PICKING: Final = ("min", "max", "clamp")


def check_picked(st: State, value: Node) -> None:
    """Raises where a reference to this expression is one to an argument that may change, or that is read anew."""
    call = inmost(value)
    if call.kind == "CONDITIONAL_OPERATOR" or (call.kind == "BINARY_OPERATOR" and call.operator == ","):
        for way in call.children[1:]:
            check_picked(st, way)
        return
    callee = call.referenced if call.kind == "CALL_EXPR" else None
    if callee is None or callee.name not in PICKING or not in_shim(callee) or len(call.arguments) < 2:
        return
    if callee.parent is None or callee.parent.kind != "NAMESPACE":
        return  # CUDA's own give numbers
    for argument in call.arguments:
        check_picked(st, argument)
    if not all(_steady(st, argument) for argument in call.arguments):
        told = f"a reference to what '{callee.name}' gives, which is one of its arguments,"
        raise unsupported(told, value.loc, "Make it a variable, without '&'.")


def _steady(st: State, argument: Node) -> bool:
    """Whether an argument is a variable of a thread that nothing changes, or a value."""
    named = lvalue(argument)
    if named is None:
        return True
    decl = named.referenced if named.kind == "DECL_REF_EXPR" else None
    plain = decl is not None and decl.kind in ("VAR_DECL", "PARM_DECL") and decl.type.kind in ("int", "bool", "base")
    if decl is None or not plain or decl.type.volatile or decl.storage in ("STATIC", "EXTERN"):
        return False
    return not st.changed[decl.identity] and (decl.parent is None or decl.parent.kind != "TRANSLATION_UNIT")
