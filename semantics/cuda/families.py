"""Classes that derive from one with virtual functions, and which of their functions a call of such a one may be of.

An object whose class is not known is taken to be of one that its file derives: another file would have to make it.
Of a template, `template <class T> struct S : C<T>`, the one instance that derives from an instance of C is one of them,
whether or not an object is made of it. Hidden lines at the end of the text name these instances, which libclang does
not show, and call their virtual functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from semantics.cuda.clang import UNITS, Node, Unit
from semantics.cuda.classes import bases, is_template, is_virtual
from semantics.cuda.errors import unsupported
from semantics.cuda.hidden import CONSTRUCTOR, DESTRUCTOR, numbered, of_destructors, reached, spelled
from semantics.cuda.inherited import deriving, template_of
from semantics.cuda.scan import METHODS, is_generic
from semantics.cuda.shim import own

_TEMPLATES: Final = ("CLASS_TEMPLATE", "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION", "FUNCTION_TEMPLATE")
_CLASSES: Final = ("STRUCT_DECL", "CLASS_DECL")
_MEMBERS: Final = (*_CLASSES, *METHODS, "CONSTRUCTOR", "DESTRUCTOR", "VAR_DECL")
_BODY: Final = "COMPOUND_STMT"
_DERIVED: Final = "warpbound_derives"
_CALL: Final = "warpbound_calls"


@lru_cache(maxsize=UNITS)
def _classes(unit: Unit) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The classes with virtual functions that a text defines, in source order, and the base classes in its templates,
    whose instances libclang does not show."""
    found, hidden = list[Node](), list[Node]()
    todo = [(node, False) for node in reversed(own(unit))]
    while todo:
        node, inside = todo.pop()
        inside = inside or _has_instances(node)
        if inside and node.kind == "CXX_BASE_SPECIFIER":
            hidden.append(node)
        elif inside or node.kind not in _CLASSES or node.name.startswith(CONSTRUCTOR):
            pass
        elif node.is_definition and is_virtual(node):
            found.append(node)
        todo += [(c, inside) for c in reversed(node.children)]
    return tuple(found), tuple(hidden)


def _has_instances(node: Node) -> bool:
    """Whether classes in a declaration are other ones in each instance: in that of a template, in that of a member of
    one, wherever it stands, and in a lambda with parameters of any type."""
    if node.kind == "LAMBDA_EXPR":
        return is_generic(node)
    within = node if node.kind in _MEMBERS else None
    while within is not None and within.kind not in _TEMPLATES:
        within = within.parent
    return within is not None or node.kind in _TEMPLATES


def _is_one(decl: Node, of: Node) -> bool:
    """Whether a class is another one, or derives from it."""
    return decl.identity == of.identity or any(_is_one(b.type_decl, of) for b in bases(decl))


def family(decl: Node) -> list[Node]:
    """The classes that are this one or derive from it, abstract ones, too; of templates those that are known."""
    found = [c for c in _classes(decl.unit)[0] if _is_one(c, decl)]
    found = found if any(c.identity == decl.identity for c in found) else [decl, *found]
    for c in found:
        for base in _classes(decl.unit)[1]:
            made = _instance(base, c)
            if made is not None and all(made.identity != other.identity for other in found):
                found.append(made)
    return found


def _instance(base: Node, decl: Node) -> Node | None:
    """The only instance of a template that derives from an instance of another one by this base class of the template;
    None where there may be more, or it is not known."""
    line = _derives(base, decl)
    pointer = None if line is None else _hidden(decl.unit, line)
    made = None if pointer is None else pointer.pointee_decl
    return made if made is not None and _is_one(made, decl) else None


def _derives(base: Node, decl: Node) -> str | None:
    """The line that names this instance."""
    template = template_of(base)
    if template is None or all(template.identity != t.identity for t in decl.patterns):
        return None
    named = deriving(base, decl.displayed)
    pointer = f"decltype(sizeof({named}), ({named} *)0)"
    return None if named is None else f"static {pointer} {_DERIVED}_{numbered(named)};"


def _hidden(unit: Unit, line: str) -> Node | None:
    """The variable or function that a hidden line declares; None where it had an error."""
    found = (n for n in unit.root().children if n.name.startswith((_DERIVED, _CALL)) and n.name in line)
    return next((n for n in found if not n.is_invalid), None)


def lines(unit: Unit, functions: Iterable[Node]) -> list[str]:
    """The lines that name the instances of templates whose virtual functions and destructors these functions, and what
    they call, may call, and that call these."""
    found, made, called = dict[str, None](), dict[int, Node](), dict[int, Node]()
    for function in reached(functions):
        for node in function.walk():
            decl = node.type_decl if node.type.kind == "record" else None
            made |= {} if decl is None or not is_template(decl) else {decl.identity: decl}
            method = node.referenced if node.kind == "CALL_EXPR" else None
            if method is not None and method.kind in METHODS and method.is_virtual:
                called[method.identity] = method
            elif node.kind == "CXX_DELETE_EXPR":
                found |= dict.fromkeys(line for c in destroyed_by(node) for line in (*_named(c), *of_destructors(c)))
    for method in called.values():
        classes = [] if method.parent is None else family(method.parent)
        known = made | {c.identity: c for c in classes if is_template(c)}
        of = [c for c in known.values() if method.parent is not None and _is_one(c, method.parent)]
        found |= dict.fromkeys(line for c in classes for line in _named(c))
        callers = (_caller(c, method) for c in of)
        found |= dict.fromkeys(line for line in callers if line is not None)
    return [*found]


def _named(decl: Node) -> list[str]:
    """The lines that name the instances of templates that derive from a class."""
    listed = (_derives(base, decl) for base in _classes(decl.unit)[1])
    return [line for line in listed if line is not None]


def _caller(decl: Node, method: Node) -> str | None:
    """A function that calls what an instance of a template has for a virtual function."""
    name, types = spelled(decl), [a.type.name for a in method.arguments]
    given = ", ".join((f"{'const ' * method.is_const}{name} &r", *(f"{t} p{i}" for i, t in enumerate(types))))
    values = ", ".join(f"static_cast<{t}>(p{i})" for i, t in enumerate(types))
    number = numbered(f"{given}.{method.name}")
    return (
        None if name is None else f"static __device__ void {_CALL}_{number}({given}) {{ r.{method.name}({values}); }}"
    )


def derived(decl: Node, node: Node) -> list[Node]:
    """The classes that an object may be of if a pointer to this one leads to it; no abstract ones. Raises where
    templates may make others."""
    classes = family(decl)
    known = {n.identity for c in classes for n in (c, *c.patterns)}
    for base in _classes(decl.unit)[1]:
        of = base.type_decl if base.type.kind == "record" else template_of(base)
        from_ = [c for c in classes if of is not None and any(n.identity == of.identity for n in c.patterns)]
        if of is None or (of.identity in known and (not from_ or any(_instance(base, c) is None for c in from_))):
            what = f"a virtual function of '{decl.name}', from which a template of classes may derive,"
            raise unsupported(what, node.loc, "Derive classes that are no templates, or S<T> from C<T>.")
    found = [c for c in classes if not c.is_abstract]
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
        return _called(decl, method)
    found = (final(b.type_decl, method) for b in bases(decl) if _is_one(b.type_decl, method.parent))
    return next((c for c in own_ if _overrides(c, method)), None) or next(found, None)


def _called(decl: Node, method: Node) -> Node | None:
    """The function that an instance of a template has for a virtual one, as a hidden line calls it."""
    line = _caller(decl, method)
    function = None if line is None else _hidden(decl.unit, line)
    if function is None or function.arguments[0].type_decl.identity != decl.identity:
        return None
    calls = (n.referenced for n in function.walk() if n.kind == "CALL_EXPR")
    return next((f for f in calls if f is not None and _overrides(f, method)), None)


def _overrides(one: Node, method: Node) -> bool:
    """Whether a function overrides one of a base class, of its own base classes or theirs."""
    return any(o.identity == method.identity or _overrides(o, method) for o in one.overridden)


def overriding(method: Node) -> list[Node]:
    """The functions that a call of a virtual one may be of, besides itself; none of another function."""
    if method.kind not in METHODS or not method.is_virtual or method.parent is None:
        return []
    found = (final(c, method) for c in family(method.parent))
    return [f for f in found if f is not None and f.identity != method.identity]


def virtual_functions(unit: Unit) -> list[Node]:
    """The virtual functions of the classes of a text, and their destructors, that have a body in it, and the hidden
    declarations that show those of instances of templates."""
    own_ = [c for decl in _classes(unit)[0] for c in decl.children if c.is_virtual]
    known = [f for c in own_ if (f := c.definition) is not None]
    hidden = [n for n in own(unit) if n.name.startswith((_DERIVED, _CALL, DESTRUCTOR))]
    return [*hidden, *(f for f in known if f.children[-1:] and f.children[-1].kind == _BODY)]


def destroyed_by(delete: Node) -> list[Node]:
    """The classes besides that of the pointer whose destructors a `delete` may call."""
    decl = delete.children[0].pointee_decl
    return family(decl) if destroys_all(decl) else []


def destroys_all(decl: Node) -> bool:
    """Whether `delete` of an object calls the destructor of the class that it is of: whether that is virtual."""
    own_ = any(c.kind == "DESTRUCTOR" and c.is_virtual for c in decl.members)
    return own_ or any(destroys_all(b.type_decl) for b in bases(decl))
