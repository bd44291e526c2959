"""Base classes of objects: the place of one in what is derived from it, and the other way around."""

from __future__ import annotations

import re

from logic.source import Loc
from semantics.cuda.clang import Node
from semantics.cuda.classes import bases, holds, is_virtual, label
from semantics.cuda.errors import unsupported
from semantics.cuda.state import Address, Fields, Parts, Place, State


def subobject(st: State, p: Place, derived: Node, base: Node, loc: Loc | None) -> Place:
    """The place of a base class in an object; in memory only of one that begins where the object does,
    or that has no fields."""
    match p:
        case Parts(_, places):
            found = dict(places).get(label(base), p)  # a base class without fields has no place of its own
            if found is not p and isinstance(found, Parts):
                st.derived[found.name] = p
            return found
        case Fields(name):
            return Fields(f"{name}.{_named(derived, base, loc)}")
        case Address():
            if not _leads(derived, base) and (holds(base) or is_virtual(base.type_decl)):
                what = f"the base class '{base.type.name}', which may begin anywhere in '{derived.name}',"
                raise unsupported(what, loc, "Make it a field.")
            return p
    raise unsupported(f"the base class '{base.type.name}'", loc)


def whole_of(st: State, p: Place, base: Node, derived: Node) -> Place | None:
    """The place of the object of a class that the object at a place is the base of; None where that is not known."""
    if base.identity == derived.identity:
        return p
    for inner in bases(derived):
        if inner.type.kind == "record" and (found := whole_of(st, p, base, inner.type_decl)) is not None:
            match found:
                case Parts(name) if holds(inner):
                    return st.derived.get(name)
                case Parts():
                    return found
                case Fields(name) if name.endswith(own := f".{_named(derived, inner, None)}"):
                    return Fields(name.removesuffix(own))
                case Address() if _leads(derived, inner):
                    return found
    return None


def _named(derived: Node, base: Node, loc: Loc | None) -> str:
    """The name of a base class in those of the fields of a structure that the kernel is passed."""
    names = [re.sub(r"\W+", "_", b.type.name).strip("_") for b in (base, *bases(derived))]
    if [*names, *(f.name for f in derived.fields)].count(names[0]) > 2:
        raise unsupported(
            f"the base class '{base.type.name}' beside another '{names[0]}'", loc, "Give it another name."
        )
    return names[0]


def _leads(derived: Node, base: Node) -> bool:
    """Whether a base class begins where an object in memory does: the first one, or the first with virtual functions,
    which is in front of all others."""
    listed = bases(derived)
    known = [b for b in listed if not is_virtual(derived) or is_virtual(b.type_decl)]
    shared = any(b.is_virtual_base for b in listed)  # these are behind all others
    return bool(known) and not shared and known[0].type_decl.identity == base.type_decl.identity


def part(st: State, p: Place, derived: Node, base: Node, loc: Loc | None) -> Place | None:
    """The place of a class in an object that is one: itself, or a base of it; None where it is none."""
    if derived.identity == base.identity:
        return p
    for inner in bases(derived):
        if inner.type.kind == "record":
            found = part(st, subobject(st, p, derived, inner, loc), inner.type_decl, base, loc)
            if found is not None:
                return found
    return None
