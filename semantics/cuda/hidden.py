"""Code that libclang shows in no tree: the calls that a range-based `for` makes of its object, the destructors and the
constructors without arguments of instances of templates, and those that what derives from one has from it. Hidden
functions at the end of the text, and constructors of what derives from such an instance, make these calls in plain
sight, once for each type.

A type is called by its name outside of all namespaces, as far as clang tells it; whoever looks for the function checks
that it is the same type. Where the function has an error, as for a type that only a function can name, it is left out.
So is one that may call something else than the `for` does, which looks for names from where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple

from semantics.cuda.clang import UNITS, Node, Unit
from semantics.cuda.classes import bases, destroyed, dies, is_template, makes
from semantics.cuda.ctype import innermost
from semantics.cuda.errors import unsupported
from semantics.cuda.shim import is_shim, own

RANGE: Final = "warpbound_range"
DESTRUCTOR: Final = "warpbound_destroys"
CONSTRUCTOR: Final = "warpbound_makes"
OPERATORS: Final = ("operator!=", "operator==", "operator++")
"""The functions that may be called for the test and the step of a `for`."""
_SEEN: Final = re.compile(
    rb"~\s*[A-Za-z_]\w*\s*\(|\bfor\s*\([^;{}]*[^:]:[^:]|\btemplate\s*<[^;{}]*>\s*(?:struct|class)\b"
)
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
    """Whether there may be a destructor, a template of structures or a range-based `for` in the text."""
    files = {unit.path, *(name for name, _, _ in unit.inclusions if not is_shim(name))}
    return any(_seen(unit.text(name)) for name in files)


@lru_cache(maxsize=UNITS)
def _seen(text: bytes) -> bool:
    return _SEEN.search(text) is not None


def lines(unit: Unit, functions: Iterable[Node]) -> list[str]:
    """Functions that say what is done in these ones, and in what they call."""
    found = dict[str, None]()
    hidden = [c for s in unit.root().children if s.name.startswith(CONSTRUCTOR) for c in s.children]
    for function in reached((*functions, *(c for c in hidden if c.kind == "CONSTRUCTOR"))):
        for node in function.walk():
            if node.kind in ("VAR_DECL", "CALL_EXPR", "INIT_LIST_EXPR") and innermost(node.type).kind == "record":
                found |= dict.fromkeys((*_of_constructors(node.type_decl), *_of_inherited(node)))
            if node.kind == "CXX_FOR_RANGE_STMT" and node.children[1].type.kind == "record":
                found |= _of_range(node.children[1])
            elif node.kind in ("VAR_DECL", "CXX_DELETE_EXPR"):
                at = node if node.kind == "VAR_DECL" else node.children[0]
                if at.type.kind in ("record", "pointer"):
                    decl = at.type_decl if at.type.kind == "record" else at.pointee_decl
                    found |= dict.fromkeys(of_destructors(decl))
    return list(found)


def of_range(over: Node) -> Range | None:
    """The parts of a `for` over an object; None where that is not known."""
    named = ((i, _called(over.unit, line)) for i, line in enumerate(_of_range(over)))
    by_functions, function = next(((i, f) for i, f in named if f is not None), (0, None))
    if (
        function is None
        or not function.arguments
        or function.arguments[0].type_decl.identity != over.type_decl.identity
    ):
        return None
    body = function.children[-1]
    begin, end, go = (stmt.children[0] for stmt in body.children[:3])
    test = go.initialiser
    if test is None or not _means(over, body, begin, end) or (by_functions and not _by_type(over, begin, end)):
        return None
    return Range(function.arguments[0], begin, end, test, body.children[3], body)


def _means(over: Node, body: Node, begin: Node, end: Node) -> bool:
    """Whether a `for` finds the functions that a hidden one calls. Of functions outside of types, a hidden one sees all
    that belong to types and those of no namespace; a `for` only those before it, and those of namespaces around."""
    if any(name in over.unit.macros.predefined for name in ("b", "e", "go", "r", "begin", "end")):
        return False
    free = _functions(body)
    if not all(_position(f) < _position(over) for f in free):
        return False
    if begin.type.kind == end.type.kind == "pointer":
        return True
    theirs = {_namespaces(decl.type_decl) for decl in (begin, end) if decl.type.kind == "record"}
    found = [_namespaces(f) for f in free if f.name in OPERATORS]
    within = over
    while within.above is not None and within.above.kind not in ("NAMESPACE", "LINKAGE_SPEC", "TRANSLATION_UNIT"):
        within = within.above
    odd = ("USING_DIRECTIVE", "USING_DECLARATION", "FUNCTION_DECL")
    if any(n.kind in odd for part in within.children for n in part.walk()) or not theirs | {()} >= {*found}:
        return False
    around = _namespaces(within)
    for space in (around[:i] for i in range(1, len(around) + 1)):
        own_ = [n for n in _declared(own(over.unit), space) if n.kind.startswith("USING") or n.name in OPERATORS]
        if any(n.kind.startswith("USING") for n in own_) or (own_ and (space not in theirs or () in found)):
            return False
    return True


def _by_type(over: Node, begin: Node, end: Node) -> bool:
    """Whether a `for` over an object without methods for it finds the functions for its beginning and its end: it looks
    only where the type of the object is declared."""
    theirs, todo = _namespaces(over.type_decl), [over.type_decl]
    for decl in todo:
        parts = bases(decl)
        if any(m.name in ("begin", "end") for m in decl.members) or any(b.type.kind != "record" for b in parts):
            return False
        todo += [b.type_decl for b in parts]
    both = (("begin", begin), ("end", end))
    return all(any(f.name == name and _namespaces(f) == theirs for f in _functions(at)) for name, at in both)


def _functions(node: Node) -> list[Node]:
    """The functions outside of types that are called in a node."""
    called = (n.referenced for n in node.walk() if n.kind == "CALL_EXPR")
    return [f for f in called if f is not None and f.kind == "FUNCTION_DECL" and not is_shim(f.file)]


def _namespaces(node: Node) -> tuple[str, ...]:
    """The namespaces that a declaration is in, from outside."""
    found, here = list[str](), node.parent
    while here is not None:
        found += [here.name] * (here.kind == "NAMESPACE")
        here = here.parent
    return tuple(reversed(found))


def _declared(nodes: Iterable[Node], space: tuple[str, ...]) -> Iterator[Node]:
    """The declarations of a namespace, in all its parts."""
    for node in nodes:
        if not space:
            yield node
        elif node.kind == "LINKAGE_SPEC":
            yield from _declared(node.children, space)
        elif node.kind == "NAMESPACE" and node.name == space[0]:
            yield from _declared(node.children, space[1:])


def _position(node: Node) -> tuple[int, ...]:
    """Where a node is in the text with the files that it includes, as numbers to compare."""
    file, found = node.file, [node.offset]
    while file != node.unit.path:
        by = next(((by, at) for name, by, at in node.unit.inclusions if name == file), None)
        if by is None or len(found) > len(node.unit.inclusions):
            return (-1,)
        file, at = by
        found.insert(0, at)
    return tuple(found)


def destructor(decl: Node) -> Node | None:
    """The destructor of a structure's own; None where it has none. Raises where its body is not known."""
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
    for line in of_destructors(decl)[:1]:
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
    name = spelled(over.type_decl)
    if name is None:
        return {}
    const = "const " if over.type.const else ""
    found, methods = dict[str, None](), {"begin", "end"} <= {m.name for m in over.type_decl.members}
    for begin, end in (("r.begin()", "r.end()"), ("begin(r)", "end(r)"))[: 1 if methods else 2]:
        body = f"auto b = {begin}; auto e = {end}; bool go = b != e; ++b;"
        found[f"static __device__ void {RANGE}_{numbered(const + name + begin)}({const}{name} &r) {{ {body} }}"] = None
    return found


def of_destructors(decl: Node) -> list[str]:
    """The functions that call the destructor of a structure, and those of its fields and base classes, where they are
    instances of templates."""
    if decl.kind not in ("STRUCT_DECL", "CLASS_DECL") or not destroyed(decl):
        return []
    name, found = spelled(decl), list[str]()
    if name is not None and _is_instance(decl):
        last = decl.name.split("<")[0]
        found.append(f"static __device__ void {DESTRUCTOR}_{numbered(name)}({name} *p) {{ p->~{last}(); }}")
    for part in (*decl.fields, *bases(decl)):
        if part.type.kind == "record":
            found += of_destructors(part.type_decl)
    return found


def constructor(decl: Node) -> Node | None:
    """The constructor without arguments that an instance of a template has of its own, or a call of it with the values
    that they have by default; None where that is not known."""
    call = _call(decl)
    called = None if call is None else call.referenced
    known = None if called is None else called.definition
    return call if known is not None and call is not None and call.arguments else known


def inheriting(base: Node, called: Node) -> Node | None:
    """The constructor of a base class, an instance of a template, that what is derived from it has from it and calls;
    None where that is not known."""
    types = _types(called)
    call = _call(base, types)
    own_ = None if call is None else call.referenced
    return None if own_ is None or _types(own_) != types else own_.definition


def _call(decl: Node, types: Sequence[str] = ()) -> Node | None:
    """The call of a constructor of an instance of a template, with values of these types, that a hidden one makes."""
    name = spelled(decl)
    named = None if name is None else _maker(name, types)
    hidden = next((n for n in decl.unit.root().children if n.name == named and not n.is_invalid), None)
    for node in () if hidden is None else hidden.walk():
        called = node.referenced if node.kind == "CALL_EXPR" else None
        if called is not None and called.kind == "CONSTRUCTOR" and called.parent is not None:
            return node if called.parent.identity == decl.identity else None
    return None


def _types(constructor: Node) -> list[str]:
    return [a.type.name for a in constructor.arguments]


def _maker(name: str, types: Sequence[str]) -> str:
    return f"{CONSTRUCTOR}_{numbered(', '.join((name, *types)))}"


def _of_inherited(call: Node) -> list[str]:
    """The structures that make one by a constructor that what is made here has from it, an instance of a template."""
    called, decl = call.referenced if call.kind == "CALL_EXPR" else None, call.type_decl
    if called is None or called.kind != "CONSTRUCTOR" or is_shim(decl.file) or is_own(called, decl):
        return []
    types, found = _types(called), list[str]()
    for base in bases(decl):
        name = spelled(base.type_decl) if base.type.kind == "record" else None
        if name is not None and base.type_decl.name == called.name and _is_instance(base.type_decl):
            made, given = _maker(name, types), ", ".join(f"{t} p{i}" for i, t in enumerate(types))
            values = ", ".join(f"static_cast<{t}>(p{i})" for i, t in enumerate(types))
            found.append(f"struct {made} : {name} {{ __device__ {made}({given}) : {name}({values}) {{}} }};")
    return found


def is_own(constructor: Node, decl: Node) -> bool:
    """Whether a constructor is one that a structure does not have from a base class."""
    using = (c.written for c in decl.members if c.kind == "USING_DECLARATION")
    return constructor.name.split("<")[0] == decl.name.split("<")[0] and constructor.written not in using


def _of_constructors(decl: Node) -> list[str]:
    """The structures that make one without arguments, and its fields and base classes, where they are instances of
    templates with constructors."""
    if decl.kind not in ("STRUCT_DECL", "CLASS_DECL") or is_shim(decl.file):
        return []
    name, found = spelled(decl), list[str]()
    if name is not None and _is_instance(decl) and makes(decl):
        own_ = _maker(name, ())
        found.append(f"struct {own_} : {name} {{ __device__ {own_}() : {name}() {{}} }};")
    for part in (*decl.fields, *bases(decl)):
        if innermost(part.type).kind == "record":
            found += _of_constructors(part.type_decl)
    return found


def numbered(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:24]


def spelled(decl: Node) -> str | None:
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


def reached(functions: Iterable[Node]) -> Iterator[Node]:
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
