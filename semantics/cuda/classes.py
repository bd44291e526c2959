"""Structures that do something by themselves when they are made, copied or destroyed: these are refused.

libclang shows no call of a destructor, none of the constructors of members and of the elements of arrays, and no base
class of an instance of a template. So it is the declarations of structures that are looked at, and of all in them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from semantics.cuda.clang import Node
from semantics.cuda.ctype import innermost
from semantics.cuda.errors import unsupported
from semantics.cuda.shim import in_shim

_SPECIAL: Final = ("CONSTRUCTOR", "DESTRUCTOR")
_MAKES: Final = (
    "VAR_DECL", "PARM_DECL", "CALL_EXPR", "INIT_LIST_EXPR", "CXX_FUNCTIONAL_CAST_EXPR", "CSTYLE_CAST_EXPR",
    "CXX_STATIC_CAST_EXPR", "COMPOUND_LITERAL_EXPR",
)  # fmt: skip
_ADVICE: Final = "Use its fields one by one."


def odd(node: Node) -> str:
    """Why the structure that a node has is no mere list of values, as the beginning of a sentence; empty if it is."""
    decl = node.type_decl
    members = decl.members
    if decl.kind == "UNION_DECL":
        return "the union"
    if any(c.kind == "CXX_BASE_SPECIFIER" for c in members):
        return "a base class in"
    if any(_own(c, decl) and c.kind == "DESTRUCTOR" for c in members):
        return "the destructor of"
    if any(c.is_virtual for c in members):
        return "a virtual function of"
    listed = (*node.fields, *(c for c in members if c.kind == "FIELD_DECL"))
    if any(f.type.kind == "reference" or _initialised(f) for f in listed):
        return "a field that is a reference or has an initialiser in"
    if any(not f.name or _makes_itself(f) for f in node.fields):
        return "a field without a name or with functions of its own in"
    return ""


def derives(node: Node) -> bool:
    """Whether the structure that a node's type points to has a base class: that may begin anywhere in it."""
    return any(c.kind == "CXX_BASE_SPECIFIER" for c in node.pointee_decl.members)


def copies_itself(node: Node) -> bool:
    """Whether the structure of a node says itself how it is copied, or moved."""
    decl = node.type_decl
    return any(
        c.kind == "CONSTRUCTOR" and _own(c, decl) and c.arguments and c.arguments[0].type.kind == "reference"
        for c in decl.members
    )


def check_array(node: Node) -> None:
    """Raises where the elements of an array are structures that do something by themselves."""
    if innermost(node.type).kind == "record" and _acts(node.type_decl):
        name = node.type_decl.name
        raise unsupported(f"an array of '{name}', which has functions of its own,", node.loc, _ADVICE)


def check_objects(function: Node) -> None:
    """Raises where a function makes a structure that has a destructor: libclang shows no calls of these."""
    known: dict[int, str] = {}
    for node in (*function.arguments, *function.children[-1].walk()):
        if node.kind not in _MAKES or innermost(node.type).kind != "record":
            continue
        name = _destroyed(node.type_decl, known)
        if name:
            raise unsupported(f"the destructor of '{name}' as a value", node.loc, _ADVICE)


def _initialised(field: Node) -> bool:
    """Whether a field has an initialiser: anything but names of types, attributes, and what follows a `[` or, as the
    width of bits, a `:`. Of what a macro makes nothing is known."""
    if in_shim(field):
        return False  # what its type is made with stands there
    parts = [c for c in field.children if not c.kind.endswith(("_REF", "_ATTR", "_DECL"))]
    code = [(text, at) for text, at in field.tokens() if not text.startswith(("//", "/*"))] if parts else []
    sizes = {at for (mark, _), (_, at) in pairwise(code) if mark == "[" or (mark == ":" and field.is_bitfield)}
    return any(c.span[1] not in sizes for c in parts)


def _makes_itself(field: Node) -> bool:
    """Whether a field is a structure, or an array of them, that says itself how it is made or assigned."""
    return innermost(field.type).kind == "record" and _acts(field.type_decl)


def _acts(decl: Node) -> bool:
    """Whether a structure, or one in it, does anything when it is made, assigned or destroyed."""
    members = decl.members
    if in_shim(decl) and any(c.kind == "CONSTRUCTOR" and c.is_defaulted and not c.arguments for c in members):
        return False
    if any(_own(c, decl) or (c.kind == "FIELD_DECL" and _initialised(c)) for c in members):
        return True
    bases = [c for c in members if c.kind == "CXX_BASE_SPECIFIER"]
    return any(b.type.kind != "record" for b in bases) or any(
        _acts(inner.type_decl) for inner in (*bases, *decl.fields) if innermost(inner.type).kind == "record"
    )


def _own(member: Node, decl: Node) -> bool:
    """Whether a member is a constructor, a destructor or an assignment, perhaps a template, and not the compiler's."""
    named = member.name.split("<")[0]
    special = member.kind in _SPECIAL or named == "operator="
    if member.kind == "FUNCTION_TEMPLATE":
        special = special or named == decl.name.split("<")[0]
    return special and not member.is_defaulted


def _destroyed(decl: Node, known: dict[int, str]) -> str:
    """The name of a structure with a destructor of its own: the declared one, or one in it; empty if there is none."""
    found = known.get(decl.identity)
    if found is not None:
        return found
    known[decl.identity] = ""  # a structure that holds itself is clang's error
    members = decl.members
    inner = [*(c for c in members if c.kind == "CXX_BASE_SPECIFIER"), *decl.fields]
    name = decl.name if any(c.kind == "DESTRUCTOR" and _own(c, decl) for c in members) else ""
    for part in inner:
        if innermost(part.type).kind == "record":
            name = name or _destroyed(part.type_decl, known)
        elif part.kind == "CXX_BASE_SPECIFIER":  # it depends on the template's arguments
            name = name or decl.name
    known[decl.identity] = name
    return name
