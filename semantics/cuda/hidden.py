"""What libclang shows in no tree: the calls that a range-based `for` makes of its object, and destructors of instances
of templates. A hidden function at the end of the text makes them in plain sight, once for each type.

A type is called by its name outside of all namespaces, as far as clang tells it; whoever looks for the function checks
that it is the same type. Where the function has an error, as for a type that only a function can name, it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final, NamedTuple

from semantics.cuda.clang import Node, Unit
from semantics.cuda.classes import bases, destroyed, dies, is_template
from semantics.cuda.errors import unsupported
from semantics.cuda.shim import is_shim

RANGE: Final = "warpbound_range"
DESTRUCTOR: Final = "warpbound_destroys"
_SEEN: Final = re.compile(rb"~\s*[A-Za-z_]\w*\s*\(|\bfor\s*\([^;{}]*[^:]:[^:]")
"""What a text has in it where there may be anything to do."""


class Range(NamedTuple):
    """The parts of a `for` over an object: what declares the beginning and the end, the test and the step. `of` is the
    parameter that stands for the object."""

    of: Node
    begin: Node
    end: Node
    test: Node
    step: Node
    body: Node


def wanted(unit: Unit) -> bool:
    """Whether there may be a destructor or a range-based `for` in the text."""
    files = {unit.path, *(name for name, _, _ in unit.inclusions if not is_shim(name))}
    return any(_SEEN.search(unit.text(name)) for name in files)


def lines(unit: Unit, functions: Iterable[Node]) -> list[str]:
    """Functions that say what is done in these ones, and in what they call."""
    found = dict[str, None]()
    for function in _reached(functions):
        for node in function.walk():
            if node.kind == "CXX_FOR_RANGE_STMT" and node.children[1].type.kind == "record":
                found |= _of_range(node.children[1])
            elif node.kind in ("VAR_DECL", "CXX_DELETE_EXPR"):
                at = node if node.kind == "VAR_DECL" else node.children[0]
                if at.type.kind in ("record", "pointer"):
                    decl = at.type_decl if at.type.kind == "record" else at.pointee_decl
                    found |= dict.fromkeys(_of_destructors(decl))
    return list(found)


def of_range(over: Node) -> Range | None:
    """What a `for` over an object does; None where that is not known."""
    function = next((f for line in _of_range(over) if (f := _called(over.unit, line)) is not None), None)
    if (
        function is None
        or not function.arguments
        or function.arguments[0].type_decl.identity != over.type_decl.identity
    ):
        return None
    body = function.children[-1]
    begin, end, go = (stmt.children[0] for stmt in body.children[:3])
    test = go.initialiser
    return None if test is None else Range(function.arguments[0], begin, end, test, body.children[3], body)


def destructor(decl: Node) -> Node | None:
    """What a structure does itself when it is destroyed; None where that is nothing. Raises where it is not known."""
    found = dies(decl)
    if found is None:
        return None
    definition = _of_instance(decl) if _is_instance(decl) else found.definition
    if definition is None or definition.children[-1].kind != "COMPOUND_STMT":
        what = f"the destructor of '{decl.name}', whose body is not known here,"
        raise unsupported(what, found.loc, "Do what it does in a function, where the block ends.")
    return definition


def _is_instance(decl: Node) -> bool:
    """Whether a structure, or one around it, is an instance of a template."""
    here: Node | None = decl
    while here is not None and here.kind in ("STRUCT_DECL", "CLASS_DECL", "CLASS_TEMPLATE"):
        if here.kind == "CLASS_TEMPLATE" or is_template(here) or "<" in here.displayed:
            return True
        here = here.parent
    return False


def _of_instance(decl: Node) -> Node | None:
    """The destructor of an instance of a template, with its body; None where it is not known."""
    for line in _of_destructors(decl)[:1]:
        function = _called(decl.unit, line)
        calls = () if function is None else [n for n in function.walk() if n.kind == "CALL_EXPR"]
        for call in calls:
            found = call.referenced
            if found is not None and found.kind == "DESTRUCTOR" and found.parent is not None:
                return found.definition if found.parent.identity == decl.identity else None
    return None


def _called(unit: Unit, line: str) -> Node | None:
    name = line[line.index("void ") + 5 : line.index("(")]
    found = (n for n in unit.root().children if n.kind == "FUNCTION_DECL" and n.name == name)
    return next((f for f in found if not f.is_invalid), None)


def _of_range(over: Node) -> dict[str, None]:
    """The functions that may say what a `for` over an object does: with methods, or with functions."""
    name = _spelled(over.type_decl)
    if name is None:
        return {}
    const = "const " if over.type.const else ""
    found = dict[str, None]()
    for begin, end in (("r.begin()", "r.end()"), ("begin(r)", "end(r)")):
        body = f"auto b = {begin}; auto e = {end}; bool go = b != e; ++b;"
        found[f"static __device__ void {RANGE}_{_number(const + name + begin)}({const}{name} &r) {{ {body} }}"] = None
    return found


def _of_destructors(decl: Node) -> list[str]:
    """The functions that call the destructor of a structure, and those of its fields and base classes, where they are
    instances of templates."""
    if decl.kind not in ("STRUCT_DECL", "CLASS_DECL") or not destroyed(decl):
        return []
    name, found = _spelled(decl), list[str]()
    if name is not None and _is_instance(decl):
        last = decl.name.split("<")[0]
        found.append(f"static __device__ void {DESTRUCTOR}_{_number(name)}({name} *p) {{ p->~{last}(); }}")
    for part in (*decl.fields, *bases(decl)):
        if part.type.kind == "record":
            found += _of_destructors(part.type_decl)
    return found


def _number(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:24]


def _spelled(decl: Node) -> str | None:
    """The name of a type outside of all namespaces; None of one that a function has."""
    names, here = [decl.displayed], decl.parent
    while here is not None and here.kind != "TRANSLATION_UNIT":
        if here.kind not in ("NAMESPACE", "STRUCT_DECL", "CLASS_DECL", "LINKAGE_SPEC"):
            return None
        if here.kind != "LINKAGE_SPEC" and here.name and "(" not in here.name:
            names.append(here.displayed if here.kind != "NAMESPACE" else here.name)
        here = here.parent
    text = "::".join(reversed(names))
    return text if re.fullmatch(r"[\w:<>, *&()+-]+", text) and "(" not in text else None


def _reached(functions: Iterable[Node]) -> Iterator[Node]:
    """Functions, and those with a body that they call."""
    seen, todo = set[int](), [*functions]
    while todo:
        function = todo.pop()
        yield function
        for node in function.walk():
            used = node.referenced if node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR", "CALL_EXPR") else None
            body = used.definition if used is not None else None
            if body is None or body.identity in seen or is_shim(body.file):
                continue
            seen.add(body.identity)
            if body.children and body.children[-1].kind == "COMPOUND_STMT":
                todo.append(body)
