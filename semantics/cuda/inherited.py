"""Base classes that depend on the arguments of a template: libclang shows the text of the template alone.

clang prints an instance with its base classes. Where one's arguments are numbers and types of the language, or the
instance itself, a hidden line at the end of the text refers to it, and so it is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from typing import Final

from semantics.cuda.clang import UNITS, Node, Unit
from semantics.cuda.shim import in_shim, own

BASE: Final = "warpbound_base"
"""The prefix of the names of pointers to base classes."""

_ACCESS: Final = re.compile(r"^(?:(?:public|protected|private)\s+)?")
_TEMPLATE: Final = re.compile(r"(?:\w+::)*(\w+)<(.*)>")
_SPECIFIER: Final = re.compile(r"(?:public|protected|private|virtual)*(?:\w*::)*(\w+)<([^()]*)>")
_WORDS: Final = frozenset((
    "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "const", "volatile", "void",
    "true", "false", "nullptr",
))  # fmt: skip
_SCOPES: Final = ("NAMESPACE", "STRUCT_DECL", "CLASS_DECL")


def inherited(decl: Node, specifier: Node, i: int, of: int) -> Node | None:
    """The base class of an instance of a template that is its i-th of so many; None where that is not known."""
    known, key = _known(decl.unit), (decl.identity, i, of)
    if key not in known:
        known[key] = _inherited(decl, specifier, i, of)
    return known[key]


@lru_cache(maxsize=UNITS)
def _known(_: Unit) -> dict[tuple[int, int, int], Node | None]:
    """The base classes that have been looked for in a unit: each method of an instance asks for them again."""
    return {}


def _inherited(decl: Node, specifier: Node, i: int, of: int) -> Node | None:
    named = _named(decl, specifier, i, of)
    if named is None:
        return None
    found = next((n for n in decl.unit.root().children if n.kind == "VAR_DECL" and n.name == _pointer(named)), None)
    if found is None or found.is_invalid:
        return None
    base, own_names = found.pointee_decl.as_base(), _own_names(decl)
    parts = {i: decl if text in own_names else _given(decl, text) for i, text in enumerate(_written(specifier))}
    known = (base.given(i).identity == part.identity for i, part in parts.items() if part is not None)
    return base if all(known) else None  # there may be two of its name


def _pointer(named: str) -> str:
    """The name of the pointer that leads to a base class."""
    return f"{BASE}_{sha256(named.encode()).hexdigest()[:24]}"


def depends(unit: Unit) -> bool:
    """Whether a template of structures outside of the shim has a base class that depends on its arguments."""
    todo = [*own(unit)]
    while todo:
        node = todo.pop()
        if node.kind.startswith("CLASS_TEMPLATE"):
            bases = [c for c in node.children if c.kind == "CXX_BASE_SPECIFIER"]
            if any(c.type.kind != "record" for c in bases):
                return True
        if node.kind in (*_SCOPES, "CLASS_TEMPLATE", "LINKAGE_SPEC", "UNEXPOSED_DECL") and not in_shim(node):
            todo += node.children
    return False


def lines(unit: Unit, functions: Iterable[Node]) -> list[str]:
    """Declarations that refer to the base classes that instances in these functions have, and are not known."""
    wanted = dict[str, None]()
    for decl in _instances(functions):
        listed = [c for c in decl.members if c.kind == "CXX_BASE_SPECIFIER"]
        for i, c in enumerate(listed):
            if c.type.kind != "record" and inherited(decl, c, i, len(listed)) is None:
                named = _named(decl, c, i, len(listed))
                wanted |= {} if named is None else {named: None}
    return [f"static {named} *{_pointer(named)};" for named in wanted]


def _named(decl: Node, specifier: Node, i: int, of: int) -> str | None:
    """The name of a base class outside of all namespaces, as clang prints it; None where that may be another class."""
    template = next((c.referenced for c in specifier.children if c.kind == "TEMPLATE_REF"), None)
    head = decl.printed.partition("{")[0].partition(" : ")[2]
    listed = [_ACCESS.sub("", part.strip()) for part in _parts(head)]
    if template is None or template.kind != "CLASS_TEMPLATE" or len(listed) != of:
        return None
    m = _TEMPLATE.fullmatch(listed[i])
    path = _path(template)
    if m is None or m[1] != template.name or path is None:
        return None
    own_path = _path(decl)
    whole = None if own_path is None else own_path[: -len(decl.name)] + decl.displayed
    written = _written(specifier)
    mine = {i for i, text in enumerate(written) if text in _own_names(decl)}
    given = [whole if i in mine else _argument(part.strip(), decl, whole) for i, part in enumerate(_parts(m[2]))]
    if len(written) == len(given):
        plain = [_given(decl, text) for text in written]
        given = [known or (_path(s) if s is not None else None) for known, s in zip(given, plain, strict=True)]
    return None if None in given else f"{path}<{', '.join(part for part in given if part is not None)}>"


def _given(decl: Node, text: str) -> Node | None:
    """The structure that an instance of a template has for the parameter of this name; None where it has another type,
    or one that is an instance itself or in no namespace."""
    template = decl.made_from
    listed = [] if template is None else [c for c in template.children if _is_parameter(c)]
    if template is None or template.kind != "CLASS_TEMPLATE" or "..." in {t for c in listed for t, _ in c.tokens()}:
        return None
    i = next((i for i, c in enumerate(listed) if c.name == text and c.kind == "TEMPLATE_TYPE_PARAMETER"), None)
    shown = _parts(decl.displayed.partition("<")[2][:-1])
    if i is None or len(shown) != len(listed) or not re.fullmatch(r"(::)?(\w+::)*\w+", shown[i].strip()):
        return None  # `const T` has the same declaration
    found = decl.given(i)
    plain = found.kind in ("STRUCT_DECL", "CLASS_DECL") and found.made_from is None and found.name.isidentifier()
    return found if plain and _path(found) is not None else None


def template_of(specifier: Node) -> Node | None:
    """The class template that a base class is written as an instance of, by its name; None where it may be of another
    one: a type in an instance, an alias, a parameter."""
    m = _SPECIFIER.fullmatch("".join(text for text, _ in specifier.tokens()))
    found = next((c.referenced for c in specifier.children if c.kind == "TEMPLATE_REF"), None)
    depths = [] if m is None else [*accumulate((c == "<") - (c == ">") for c in m[2])]
    if m is None or found is None or found.kind != "CLASS_TEMPLATE" or found.name != m[1]:
        return None
    return found if min(depths, default=0) == (depths or [0])[-1] == 0 else None


def deriving(specifier: Node, base: str) -> str | None:
    """The name of the only instance of a template that derives from this instance of another one by a base class that
    the template writes; None where there may be more: each parameter has to be one of the base class's arguments."""
    template = specifier.above
    path = None if template is None or template.kind != "CLASS_TEMPLATE" else _path(template)
    if template is None or path is None:
        return None
    words = {text for c in (specifier, *filter(_is_parameter, template.children)) for text, _ in c.tokens()}
    if "..." in words or not words.isdisjoint(template.unit.macros.predefined):
        return None  # S<int, float> derives from C<int>, too, if T is a pack
    given = dict(zip(_written(specifier), _parts(base.partition("<")[2].rpartition(">")[0]), strict=False))
    listed = [given.get(c.name, "").strip() for c in template.children if _is_parameter(c)]
    return f"{path}<{', '.join(listed)}>" if all(re.fullmatch(r"[\w:<>, *&+-]+", text) for text in listed) else None


def _written(specifier: Node) -> list[str]:
    """The arguments of a base class as they are written, without spaces."""
    text = "".join(text for text, _ in specifier.tokens())
    return _parts(text[text.find("<") + 1 : text.rfind(">")])


def _own_names(decl: Node) -> tuple[str, ...]:
    """The names that an instance of a template has in the template: with and without its parameters."""
    template = decl.made_from
    if template is None or template.kind != "CLASS_TEMPLATE":
        return (decl.name,)
    names = [
        c.name + "..." * ("..." in {text for text, _ in c.tokens()}) for c in template.children if _is_parameter(c)
    ]
    return (decl.name, f"{decl.name}<{','.join(names)}>")


def _is_parameter(node: Node) -> bool:
    return node.kind.startswith("TEMPLATE_") and node.kind.endswith("_PARAMETER")


def _argument(text: str, decl: Node, whole: str | None) -> str | None:
    """An argument of a template as it is called anywhere; None where that is not certain."""
    if whole is not None and text.removeprefix("::").replace(" ", "") in (
        decl.displayed.replace(" ", ""),
        whole.replace(" ", ""),
    ):
        return whole
    words = re.findall(r"[^\W\d]\w*", text)
    return text if {*words} <= _WORDS and re.fullmatch(r"[\w *&+()-]+", text) else None


def _path(decl: Node) -> str | None:
    """The full name of a declaration that is in namespaces or structures with names, without arguments of templates."""
    names, here = [decl.name], decl.parent
    while here is not None and here.kind != "TRANSLATION_UNIT":
        if here.kind != "NAMESPACE" or not here.name or "(" in here.name:
            return None
        names.append(here.name)
        here = here.parent
    return "::".join(reversed(names))


def _parts(text: str) -> list[str]:
    """A text at its commas, those in parentheses and angles aside."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return found if text.strip() else []


def _instances(functions: Iterable[Node]) -> Iterator[Node]:
    """The instances of templates of structures that functions, and what they call, have variables or methods of, with
    those of their fields and known bases."""
    seen, todo = set[int](), [*functions]
    records = list[Node]()
    while todo:
        function = todo.pop()
        for node in function.walk():
            used = node.referenced if node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR", "CALL_EXPR") else None
            body = used.definition if used is not None else None
            if body is not None and not in_shim(body) and body.identity not in seen:
                seen.add(body.identity)
                todo += [body] if body.children and body.children[-1].kind == "COMPOUND_STMT" else []
                records += [body.parent] if body.kind in ("CXX_METHOD", "CONSTRUCTOR") and body.parent else []
            if node.kind in ("VAR_DECL", "PARM_DECL", "CALL_EXPR"):
                records += [node.type_decl] if node.type.kind in ("record", "array") else []
                records += [node.pointee_decl] if node.type.kind == "pointer" else []
    while records:
        decl = records.pop()
        if decl.kind not in ("STRUCT_DECL", "CLASS_DECL") or in_shim(decl) or decl.identity in seen:
            continue
        seen.add(decl.identity)
        yield decl
        records += [f.type_decl for f in decl.fields if f.type.kind in ("record", "array")]
        listed = [c for c in decl.members if c.kind == "CXX_BASE_SPECIFIER"]
        found = (c if c.type.kind == "record" else inherited(decl, c, i, len(listed)) for i, c in enumerate(listed))
        records += [base.type_decl for base in found if base is not None]
