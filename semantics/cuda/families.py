"""Classes that derive from one with virtual functions, and which of their functions a call of such a one may be of.

An object whose class is not known is taken to be of one that its file derives: another file would have to make it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from semantics.cuda.clang import UNITS, Node, Unit
from semantics.cuda.classes import bases, is_template, is_virtual
from semantics.cuda.errors import unsupported
from semantics.cuda.hidden import CONSTRUCTOR
from semantics.cuda.inherited import template_of
from semantics.cuda.scan import METHODS
from semantics.cuda.shim import own

_TEMPLATES: Final = ("CLASS_TEMPLATE", "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION", "FUNCTION_TEMPLATE")
_CLASSES: Final = ("STRUCT_DECL", "CLASS_DECL")
_BODY: Final = "COMPOUND_STMT"


@lru_cache(maxsize=UNITS)
def _classes(unit: Unit) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The classes with virtual functions that a text defines, in source order, and the base classes in its templates,
    whose instances libclang does not show."""
    found, hidden = list[Node](), list[Node]()
    todo = [(node, False) for node in reversed(own(unit))]
    while todo:
        node, inside = todo.pop()
        inside = inside or node.kind in _TEMPLATES
        if inside and node.kind == "CXX_BASE_SPECIFIER":
            hidden.append(node)
        elif inside or node.kind not in _CLASSES or node.name.startswith(CONSTRUCTOR):
            pass
        elif node.is_definition and is_virtual(node):
            found.append(node)
        todo += [(c, inside) for c in reversed(node.children)]
    return tuple(found), tuple(hidden)


def _is_one(decl: Node, of: Node) -> bool:
    """Whether a class is another one, or derives from it."""
    return decl.identity == of.identity or any(_is_one(b.type_decl, of) for b in bases(decl))


def _family(decl: Node) -> list[Node]:
    """The classes that are this one or derive from it, abstract ones, too."""
    found = [c for c in _classes(decl.unit)[0] if _is_one(c, decl)]
    return found if any(c.identity == decl.identity for c in found) else [decl, *found]


def derived(decl: Node, node: Node) -> list[Node]:
    """The classes that an object may be of if a pointer to this one leads to it; no abstract ones. Raises where
    templates may make others."""
    family = _family(decl)
    known = {n.identity for c in family for n in (c, *c.patterns)}
    for base in _classes(decl.unit)[1]:
        of = base.type_decl if base.type.kind == "record" else template_of(base)
        if of is None or of.identity in known:
            what = f"a virtual function of '{decl.name}', from which a template of classes may derive,"
            raise unsupported(what, node.loc, "Derive classes that are no templates.")
    found = [c for c in family if not c.is_abstract]
    if not found:
        what = f"an object of '{decl.name}', from which this file derives no class,"
        raise unsupported(what, node.loc, "Include the classes that derive from it.")
    return found


def final(decl: Node, method: Node) -> Node | None:
    """The function that a class has for a virtual one of a class that it derives from; None where that is not known."""
    if method.parent is None or decl.identity == method.parent.identity:
        return method
    own_ = [c for c in decl.members if c.kind in METHODS and c.name == method.name]
    if is_template(decl) and own_:
        return None
    found = (final(b.type_decl, method) for b in bases(decl) if _is_one(b.type_decl, method.parent))
    return next((c for c in own_ if _overrides(c, method)), None) or next(found, None)


def _overrides(one: Node, method: Node) -> bool:
    """Whether a function overrides one of a base class, of its own base classes or theirs."""
    return any(o.identity == method.identity or _overrides(o, method) for o in one.overridden)


def overriding(method: Node) -> list[Node]:
    """The functions that a call of a virtual one may be of, besides itself; none of another function."""
    if method.kind not in METHODS or not method.is_virtual or method.parent is None:
        return []
    found = (final(c, method) for c in _family(method.parent))
    return [f for f in found if f is not None and f.identity != method.identity]


def virtual_functions(unit: Unit) -> list[Node]:
    """The virtual functions of the classes of a text, and their destructors, that have a body in it."""
    own_ = [c for decl in _classes(unit)[0] for c in decl.children if c.is_virtual]
    return [f for c in own_ if (f := c.definition) is not None and f.children[-1:] and f.children[-1].kind == _BODY]


def destroyed_by(delete: Node) -> list[Node]:
    """The classes besides that of the pointer whose destructors a `delete` may call."""
    decl = delete.children[0].pointee_decl
    return _family(decl) if destroys_all(decl) else []


def destroys_all(decl: Node) -> bool:
    """Whether `delete` of an object calls the destructor of the class that it is of: whether that is virtual."""
    own_ = any(c.kind == "DESTRUCTOR" and c.is_virtual for c in decl.members)
    return own_ or any(destroys_all(b.type_decl) for b in bases(decl))
