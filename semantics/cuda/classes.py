"""Structures that do something by themselves when they are made, copied or destroyed: these are refused, but for
variables with a destructor, which is called where their block is left (`semantics.cuda.scopes`).

libclang shows no call of a destructor, none of the constructors of members and of the elements of arrays, and no base
class of an instance of a template. So it is the declarations of structures that are looked at, and of all in them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from semantics.cuda.clang import UNITS, Node, Unit
from semantics.cuda.ctype import innermost
from semantics.cuda.errors import unsupported
from semantics.cuda.inherited import inherited
from semantics.cuda.shim import in_shim, own

_SPECIAL: Final = ("CONSTRUCTOR", "DESTRUCTOR")
_MAKES: Final = (
    "VAR_DECL", "PARM_DECL", "CALL_EXPR", "INIT_LIST_EXPR", "CXX_FUNCTIONAL_CAST_EXPR", "CSTYLE_CAST_EXPR",
    "CXX_STATIC_CAST_EXPR", "COMPOUND_LITERAL_EXPR", "LAMBDA_EXPR",
)  # fmt: skip
_NULL: Final = "CXX_NULL_PTR_LITERAL_EXPR"
_ADVICE: Final = "Use its fields one by one."
_GUIDE: Final = re.compile("<deduction guide for (.*)>")
_GUIDED: Final = "Mark the guides __host__ __device__."
_SCOPES: Final = ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL", "STRUCT_DECL", "CLASS_DECL", "CLASS_TEMPLATE")


def odd(node: Node, lives: bool = False) -> str:
    """Why the structure that a node has is no mere list of values, as the beginning of a sentence; empty if it is. What
    a destructor does is no reason where the structure is an object that `lives` until it is called."""
    decl = node.type_decl
    if node.type.kind != "record":
        return _odd(node, decl, lives)
    known, key = _oddities(node.unit), (decl.identity, lives)
    if key not in known:
        known[key] = _odd(node, decl, lives)
    return known[key]


@lru_cache(maxsize=UNITS)
def _oddities(_: Unit) -> dict[tuple[int, bool], str]:
    """The answers of `odd` for structures of a unit: each call of a method asks it."""
    return {}


def _odd(node: Node, decl: Node, lives: bool) -> str:
    """The same, looked at anew."""
    members = decl.members
    if decl.kind == "UNION_DECL":
        return "the union"
    if any(b.type.kind != "record" or b.is_virtual_base or odd(b, lives) for b in bases(decl)):
        return "a base class in"
    if not lives and any(_dies(c, decl) for c in members):
        return "the destructor of"
    listed = (*node.fields, *(c for c in members if c.kind == "FIELD_DECL"))
    if any(map(_is_hidden, listed)):
        return "a field with this initialiser in"
    if any(not (f.name or f.is_bitfield) or acts_on_copy(f, lives) for f in node.fields):
        return "a field without a name or with a copy or destructor of its own in"
    if any(acts_on_copy(b, lives) for b in bases(decl)):
        return "a base class with a copy of its own in"
    return ""


def bases(decl: Node) -> list[Node]:
    """The base classes of a structure. One that depends on the arguments of a template, libclang does not show: it is
    the one that clang prints, where hidden lines refer to that (`semantics.cuda.inherited`)."""
    listed = [c for c in decl.members if c.kind == "CXX_BASE_SPECIFIER"]
    if all(c.type.kind == "record" for c in listed):
        return listed
    return [c if c.type.kind == "record" else inherited(decl, c, i, len(listed)) or c for i, c in enumerate(listed)]


def holds(node: Node) -> bool:
    """Whether a structure has fields, or a base class of it has."""
    return bool(node.fields) or any(map(holds, bases(node.type_decl)))


def is_virtual(decl: Node) -> bool:
    """Whether a structure, or a base class of it, has virtual functions or bases."""
    return any(c.is_virtual for c in decl.members) or any(
        b.is_virtual_base or is_virtual(b.type_decl) for b in bases(decl)
    )


def label(part: Node) -> str:
    """The name of a field or a base class among the parts of a structure of one thread."""
    if part.kind == "CXX_BASE_SPECIFIER":
        return f"<{part.type.name}>"
    return f"<{part.field_offset}>" if is_nameless(part) else part.name


def is_nameless(field: Node) -> bool:
    """Whether a field is a structure or a union without a name, whose members are used as if they were beside it."""
    return field.kind == "FIELD_DECL" and field.type.kind == "record" and (not field.name or "(anonymous" in field.name)


def way(decl: Node, to: Node) -> tuple[Node, ...] | None:
    """The fields without a name that lead from a structure to one in it, which libclang leaves out of expressions."""
    for field in decl.fields:
        if is_nameless(field):
            inner = field.type_decl
            rest = () if inner.identity == to.identity else way(inner, to)
            if rest is not None:
                return (field, *rest)
    return None


def is_template(decl: Node) -> bool:
    """Whether a structure is an instance of a template."""
    return len(decl.members) > len(decl.children)


def makes(decl: Node) -> bool:
    """Whether a structure has a constructor of its own."""
    return any(c.kind in ("CONSTRUCTOR", "FUNCTION_TEMPLATE") and _own(c, decl) for c in decl.members)


def made_by_parts(decl: Node) -> bool:
    """Whether a structure has a part with a constructor."""
    parts = [p.type_decl for p in (*bases(decl), *decl.fields) if innermost(p.type).kind == "record"]
    return any(makes(p) or made_by_parts(p) for p in parts)


def acts_when_made(decl: Node) -> bool:
    """Whether something happens when a structure is made that is given no value: it, or a part of it, has a constructor
    of its own, or a field with an initialiser."""
    if makes(decl) or any(map(_initialised, decl.fields)):
        return True
    parts = (*bases(decl), *(f for f in decl.fields if innermost(f.type).kind == "record"))
    return any(acts_when_made(part.type_decl) for part in parts)


def initialiser(field: Node) -> Node | None:
    """The value of a field that is given no other. Raises where it has one that is not known."""
    if _is_hidden(field):
        raise unsupported(f"the initialiser of '{field.name}'", field.loc, "Give it its value in a constructor.")
    return field.children[-1] if _initialised(field) else None


def _is_hidden(field: Node) -> bool:
    """Whether a field has an initialiser that is not known: of a bit-field libclang shows the width alone; in an
    instance of a template only numbers are."""
    if field.is_bitfield or not _initialised(field):
        return _initialised(field)
    value = field.children[-1]
    plain = value.kind in ("INTEGER_LITERAL", "FLOATING_LITERAL", "CXX_BOOL_LITERAL_EXPR", _NULL)
    return not plain and any(n.type.kind == "other" and n.kind != _NULL for n in value.walk())


def derives(node: Node) -> bool:
    """Whether the structure that a node's type points to has a base class: that may begin anywhere in it."""
    return any(c.kind == "CXX_BASE_SPECIFIER" for c in node.pointee_decl.members)


def copies_itself(node: Node) -> bool:
    """Whether the structure of a node says itself how it is copied, or moved."""
    decl = node.type_decl
    return any(c.kind == "CONSTRUCTOR" and _own(c, decl) and _of_one(c) and _of_a_structure(c) for c in decl.members)


_PARAMETER: Final = re.compile(r"(const )?type-parameter-\d+-\d+")
"""What clang calls a type that is an argument of a template. Of a structure with such a constructor it is another one:
none is an argument of its own."""


def _of_a_structure(constructor: Node) -> bool:
    """Whether the first thing that a constructor takes may be a structure of its kind."""
    taken = constructor.arguments[0].type
    inner = taken.inner if taken.kind == "reference" else None
    return inner is not None and inner.kind in ("record", "other") and not _PARAMETER.fullmatch(inner.name)


def _of_one(constructor: Node) -> bool:
    """Whether a constructor can be called with one argument: else it makes no copy."""
    taken = constructor.arguments
    given = (any(not c.kind.endswith(("_REF", "_ATTR", "_DECL")) for c in p.children) for p in taken[1:])
    return bool(taken) and all(given)


def check_array(node: Node) -> None:
    """Raise where the elements of an array are structures that do something when they are copied or destroyed."""
    if innermost(node.type).kind == "record" and (odd(node) or acts_on_copy(node) or is_virtual(node.type_decl)):
        name = node.type_decl.name
        if node.type_decl.kind == "UNION_DECL":
            raise unsupported(f"an array of the union '{name}'", node.loc, "Use an array of each member.")
        raise unsupported(f"an array of '{name}', which has functions of its own,", node.loc, _ADVICE)


def check_objects(function: Node) -> None:
    """Raises where a function makes a structure that has a destructor, but for variables that a block declares and
    makes by a constructor: libclang shows no calls of destructors."""
    known: dict[int, str] = {}
    allowed = {id(c) for c in function.children[:-1] if _constructs(c)}
    labels, name = False, ""
    for node in (n for part in (*function.arguments, *function.children) for n in part.walk()):
        labels = labels or node.kind == "LABEL_STMT"
        if node.kind == "TEMPLATE_REF" and node.name in guided(node.unit):
            raise unsupported(f"'{node.name}', which has deduction guides of the host alone,", node.loc, _GUIDED)
        if node.kind == "COMPOUND_STMT":
            allowed |= {id(part) for decl in guards(node, known) for part in (decl, *decl.children[-1:])}
        elif node.kind == "CXX_NEW_EXPR":
            allowed |= {id(c) for c in node.children if _constructs(c)}
        if node.kind not in _MAKES or innermost(node.type).kind != "record":
            continue
        found = _destroyed(node.type_decl, known)
        name = name or found
        if found and id(node) not in allowed:
            raise unsupported(f"the destructor of '{found}' as a value", node.loc, _ADVICE)
    if name and labels:
        raise unsupported(f"a 'goto' beside the destructor of '{name}'", function.loc, "Write it without labels.")


@lru_cache(maxsize=UNITS)
def guided(unit: Unit) -> frozenset[str]:
    """The templates of structures that have a deduction guide that is not marked __device__: clang takes it for one of
    the host alone, and CUDA's own compiler uses it in kernels, too."""
    todo, found = [*own(unit)], set[str]()
    while todo:
        node = todo.pop()
        if (m := _GUIDE.fullmatch(node.name)) and not any(c.kind == "CUDADEVICE_ATTR" for c in node.children):
            found.add(m[1])
        if node.kind in _SCOPES:
            todo += node.children
    return frozenset(found)


def guards(block: Node, known: dict[int, str] | None = None) -> list[Node]:
    """The variables that a block declares, not one in it, and that have a destructor: those that are made by a
    constructor, or without one."""
    known, found = {} if known is None else known, list[Node]()
    for decl in (c for stmt in block.children if stmt.kind == "DECL_STMT" for c in stmt.children):
        if decl.kind != "VAR_DECL" or decl.type.kind != "record" or not _destroyed(decl.type_decl, known):
            continue
        if decl.storage == "NONE" and (decl.initialiser is None or _constructs(decl.children[-1])):
            found.append(decl)
    return found


def _constructs(node: Node) -> bool:
    """Whether an expression is the call of a constructor that makes no copy."""
    callee = node.referenced if node.kind == "CALL_EXPR" else None
    return (
        callee is not None
        and callee.kind == "CONSTRUCTOR"
        and callee.name.split("<")[0] == node.type_decl.name.split("<")[0]
        and not any(a.type.kind == "record" and a.type.name == node.type.name for a in node.arguments)
    )


def dies(decl: Node) -> Node | None:
    """A structure's own destructor, of an instance that of the template; None where it does nothing."""
    return next((c for c in decl.members if _dies(c, decl)), None)


def _initialised(field: Node) -> bool:
    """Whether a field has an initialiser: anything but names of types, attributes, what stands before its name, and
    what follows a `[`. Of what a macro makes nothing is known."""
    if in_shim(field):
        return False  # what its type is made with stands there
    if field.is_bitfield:
        return " = " in field.printed or "{" in field.printed
    parts = [c for c in field.children if not c.kind.endswith(("_REF", "_ATTR", "_DECL"))]
    parts = [c for c in parts if c.span[1] >= field.offset or c.span[0] != field.file]  # N of `Vector<N> x`
    code = [(text, at) for text, at in field.tokens() if not text.startswith(("//", "/*"))] if parts else []
    sizes = {at for (mark, _), (_, at) in pairwise(code) if mark == "["}
    return any(c.span[1] not in sizes for c in parts)


def acts_on_copy(field: Node, lives: bool = False) -> bool:
    """Whether a field is a structure, or an array of them, that says itself how it is copied or, unless it `lives`,
    destroyed, in which one does, or of which that is not known."""
    return innermost(field.type).kind == "record" and _acts_on_copy(field, lives)


def acts_when_copied(variable: Node) -> bool:
    """The same of a variable, or of what a reference is a name for."""
    t = variable.type.inner if variable.type.kind == "reference" else variable.type
    return t is not None and innermost(t).kind == "record" and _acts_on_copy(variable)


def _acts_on_copy(field: Node, lives: bool = False) -> bool:
    decl = field.type_decl
    if in_shim(decl) and any(c.kind == "CONSTRUCTOR" and c.is_defaulted and not c.arguments for c in decl.members):
        return False
    told = [c for c in decl.members if not (lives and c.kind == "DESTRUCTOR" and field.type.kind == "record")]
    return any(_own(c, decl) and not _plain(c, decl) for c in told) or any(
        b.type.kind != "record" or acts_on_copy(b, lives)
        for b in (*bases(decl), *decl.fields)
        if innermost(b.type).kind != "other" and (b.kind == "CXX_BASE_SPECIFIER" or innermost(b.type).kind == "record")
    )


def _plain(member: Node, decl: Node) -> bool:
    """Whether a member is a constructor that copies nothing, or a destructor that does nothing."""
    if member.kind == "DESTRUCTOR":
        return not _dies(member, decl)
    return member.kind == "CONSTRUCTOR" and not (_of_one(member) and _of_a_structure(member))


def _dies(member: Node, decl: Node) -> bool:
    """Whether a member is a destructor that does anything."""
    if member.kind != "DESTRUCTOR" or not _own(member, decl):
        return False
    body = (member.definition or member).children
    return not body or body[-1].kind != "COMPOUND_STMT" or bool(body[-1].children)


def _own(member: Node, decl: Node) -> bool:
    """Whether a member is a constructor, a destructor or an assignment, perhaps a template, and not the compiler's."""
    named = member.name.split("<")[0]
    special = member.kind in _SPECIAL or named == "operator="
    if member.kind == "FUNCTION_TEMPLATE":
        special = special or named == decl.name.split("<")[0]
    return special and not member.is_defaulted


def destroyed(decl: Node) -> str:
    """The name of a structure with a destructor of its own in one; empty if there is none."""
    return _destroyed(decl, {})


def _destroyed(decl: Node, known: dict[int, str]) -> str:
    """The name of a structure with a destructor of its own: the declared one, or one in it; empty if there is none."""
    found = known.get(decl.identity)
    if found is not None:
        return found
    known[decl.identity] = ""  # a structure that holds itself is clang's error
    members = decl.members
    inner = [*bases(decl), *decl.fields]
    name = decl.name if any(_dies(c, decl) for c in members) else ""
    for part in inner:
        if innermost(part.type).kind == "record":
            name = name or _destroyed(part.type_decl, known)
        elif part.kind == "CXX_BASE_SPECIFIER":  # it depends on the template's arguments
            name = name or decl.name
    known[decl.identity] = name
    return name


def keeps_arguments(constructor: Node, own: Sequence[Node]) -> bool:
    """Whether all that a constructor does is to give each field of its class, none of which is a structure, the
    parameter that has its place, or the place of that."""
    *listed, body = constructor.children
    given = [(a.name, _parameter(b)) for a, b in pairwise(listed) if a.kind == "MEMBER_REF"]
    kept = [(f.name, p.name) for f, p in zip(own, constructor.arguments, strict=False)]
    plain = not body.children and not any(f.type.kind == "record" for f in own)
    return plain and given == kept and len(given) == len(own) == len(constructor.arguments)


def _parameter(value: Node) -> str:
    """The name of the parameter that a value is, or is the place of; "" if it is something else."""
    while len(value.children) == 1 and (
        value.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR", "INIT_LIST_EXPR")
        or (value.kind == "UNARY_OPERATOR" and value.operator == "&")
    ):
        value = value.children[0]
    named = value.referenced if value.kind == "DECL_REF_EXPR" else None
    return named.name if named is not None and named.kind == "PARM_DECL" else ""
