"""Templates: the instances of kernels that a text makes.

libclang shows an instance where it is used, and no explicit instantiation. So what a text instantiates or mentions by
its name is referred to once more, in lines at its end that only libclang sees; a line with an error is left out again.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, product, takewhile
from typing import Final

from semantics.cuda.clang import Node, Unit
from semantics.cuda.expanded import expansions
from semantics.cuda.libclang import MISSING
from semantics.cuda.lost import blanked, without_directives
from semantics.cuda.shim import in_shim, is_shim, own

INSTANCE: Final = "warpbound_instance"
"""The prefix of the names that refer to instances."""

_EXPLICIT: Final = re.compile(r"(?:^|(?<=[;{}]))\s*(?:extern\s+)?template\s+(?!<)([^;{}]+);", re.MULTILINE)
_ATTRIBUTE: Final = re.compile(
    r"\b(?:__global__|__device__|__host__|__forceinline__|__noinline__|static|inline|extern)\b|"
    r"\b(?:__launch_bounds__|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)"
)
_NAMESPACE: Final = re.compile(r"(?:\binline\s+)?\bnamespace(?:\s+([\w:]+))?\s*$")
_SCOPES: Final = ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL")
_CLASSES: Final = ("STRUCT_DECL", "CLASS_DECL", "CLASS_TEMPLATE")
_AROUND: Final = (*_CLASSES, "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION", "UNION_DECL")
_PARAMETERS: Final = ("TEMPLATE_TYPE_PARAMETER", "TEMPLATE_NON_TYPE_PARAMETER", "TEMPLATE_TEMPLATE_PARAMETER")
_CALLED: Final = ("FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "CONVERSION_FUNCTION")
_FUNCTIONS: Final = 8
"""The functions of a file that are tried for a template that takes one."""
_MOST: Final = 64
"""The most sets of arguments that are tried for a template."""
_MOST_DEEP: Final = 4
"""How many functions may call each other before a kernel whose launch is lost."""


# --- kernels ---------------------------------------------------------------------------------------------------------


_HALVES: Final = {"__fp16": "half", "__bf16": "__nv_bfloat16"}
"""What CUDA calls the types that our headers take for halves."""
_HALF: Final = re.compile("|".join(_HALVES))


def functions(unit: Unit, members: bool = False) -> Iterator[Node]:
    """The functions and function templates with a body, outside of the shim, in source order; those in structures, too,
    where `members` are wanted."""
    wanted = ("FUNCTION_DECL", "FUNCTION_TEMPLATE", *(("CXX_METHOD",) if members else ()))
    stack = list(reversed(own(unit)))
    while stack:
        node = stack.pop()
        if node.kind in _SCOPES or (members and node.kind in _AROUND and not in_shim(node)):
            stack.extend(reversed(node.children))
        elif node.kind in wanted and node.is_definition and not in_shim(node):
            yield node


def is_kernel(node: Node) -> bool:
    return any(c.kind == "CUDAGLOBAL_ATTR" for c in node.children)


def kernels(unit: Unit) -> list[Node]:
    """The kernels of a unit, templates and static members among them, in source order."""
    return [f for f in functions(unit, members=True) if is_kernel(f)]


def is_template(kernel: Node) -> bool:
    """Whether a kernel is read as one of its instances: it is a template, or a member of one."""
    return kernel.kind == "FUNCTION_TEMPLATE" or any(n.kind.startswith("CLASS_TEMPLATE") for n in _around(kernel))


def is_plain(kernel: Node) -> bool:
    """Whether a kernel has nothing to do with templates: others of its name are told from it by their parameters."""
    return not is_template(kernel) and told(kernel) == qualified(kernel)


def _around(kernel: Node) -> Iterator[Node]:
    """The namespaces and structures around a kernel, from within."""
    here = kernel.parent
    while here is not None and here.kind in (*_SCOPES, *_AROUND):
        yield here
        here = here.parent


def qualified(kernel: Node) -> str:
    """A kernel's name with those of the namespaces and structures around it, as far as they have one."""
    names = [n.name for n in _around(kernel) if n.kind not in ("LINKAGE_SPEC", "UNEXPOSED_DECL")]
    return "::".join(name for name in (*reversed(names), kernel.name) if name and "(" not in name)


def signed(kernel: Node) -> str:
    """A kernel's full name with the types of its parameters, which tell it from others of its name: `N::k(float *)`."""
    return qualified(kernel) + kernel.displayed.removeprefix(kernel.name)


def told(kernel: Node) -> str:
    """A kernel's full name, with the arguments of templates: `N::k<float, 256>`."""
    names = [n.displayed if n.kind in _AROUND else n.name for n in _around(kernel) if n.kind != "LINKAGE_SPEC"]
    path = "::".join(name for name in (*reversed(names), kernel.name) if name and "(" not in name)
    given = kernel.template_arguments
    return _HALF.sub(lambda m: _HALVES[m[0]], f"{path}<{', '.join(given)}>" if given or kernel.is_instance else path)


def plain(path: str) -> str:
    """A full name without arguments of templates and spaces: `N::k`."""
    found, depth = "", 0
    for c in path:
        depth += c == "<"
        found += c if depth == 0 and not c.isspace() else ""
        depth -= c == ">"
    return found


def is_called(kernel: Node, asked: str) -> bool:
    """Whether a kernel may be called so: by its full name, or by the end of it."""
    full, name = told(kernel).replace(" ", ""), asked.replace(" ", "").removeprefix("::")
    return f"::{full}".endswith(f"::{name}")


def instances(unit: Unit, template: Node, asked: bool = False) -> list[Node]:
    """The specialisations of a template that the file uses anywhere, or with `asked` those that are asked for, in the
    order of their uses. Templates that it does not use make none."""
    path, key = qualified(template), (template.identity, asked)

    def is_one(body: Node) -> bool:
        return body.name == template.name and is_kernel(body) and qualified(body) == path and not is_plain(body)

    if key not in unit.instances:
        first = [n for n in own(unit) if not asked or n.name == INSTANCE]
        used = _reached(first, lambda body: asked or is_one(body))
        unit.instances[key] = [body for body in used if is_one(body) and not is_template(body)]
    return [*unit.instances[key]]


def called(unit: Unit) -> Iterator[Node]:
    """The functions with a body that a file uses anywhere, instances of templates among them."""
    return _reached(own(unit))


def _reached(first: Sequence[Node], ends: Callable[[Node], bool] = lambda _: False) -> Iterator[Node]:
    """The functions with a body that nodes use, and those that these use in turn, but for what those do at which it
    ends."""
    todo, seen = deque(first), set[int]()
    while todo:
        for body in _uses(todo.popleft(), seen):
            if not ends(body):
                todo.append(body)
            yield body


def _uses(node: Node, seen: set[int]) -> Iterator[Node]:
    """The functions with a body that a node names, but for those that were seen before. Of a template, clang shows what
    an instance does only where it is used."""
    named, key = node.unit.named, (node.identity, node.offset)  # a declaration has the identity of its definition
    if key not in named:
        named[key] = list(_named(node))
    for body in named[key]:
        if body.identity not in seen:
            seen.add(body.identity)
            yield body


def _named(node: Node) -> Iterator[Node]:
    for here in node.walk():
        used = here.referenced if here.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR", "CALL_EXPR") else None
        body = used.definition if used is not None and used.kind in _CALLED else None
        if body is not None and not in_shim(body):
            yield body


def lambda_of(p: Node) -> Node | None:
    """The lambda that a variable is, wherever the file makes it, in an instance of a template, too."""
    kind, parts = p.type_decl.identity, (n for here in chain(own(p.unit), called(p.unit)) for n in here.walk())
    return next((n for n in parts if n.kind == "LAMBDA_EXPR" and n.type_decl.identity == kind), None)


# --- what a text instantiates ----------------------------------------------------------------------------------------


def references(unit: Unit) -> list[str]:
    """Declarations that refer to the instances that the text makes where libclang does not show them: explicit ones of
    functions and structures, those in tables of functions, and templates that are not used by their default arguments.
    Some may not be right."""
    found = dict[tuple[str, str], None]()
    templates = [k for k in kernels(unit) if is_template(k)]
    lost = _lost(unit, templates)
    for file in dict.fromkeys((unit.path, *(name for name, by, _ in unit.inclusions if not is_shim(name + by)))):
        data = unit.text(file)
        if b"template" in data or any(k.name.encode() in data for k in templates):
            text = _live(unit, file)
            found |= dict.fromkeys((*_explicit(unit, text), *_mentioned(templates, text), *_launched(lost, text)))
            for at, made in expansions(unit, file, text):
                outer, inner = _scope(text, at), (*_explicit(unit, made), *_mentioned(templates, made))
                if outer is not None:
                    found |= dict.fromkeys(("::".join(filter(None, (outer, scope))), line) for scope, line in inner)
    found |= dict.fromkeys(
        ("", f"static auto *@ = &{qualified(k)}<>;")
        for k in templates
        if k.kind == "FUNCTION_TEMPLATE" and _has_defaults(k) and not instances(unit, k)
    )
    return [
        f"namespace {scope} {{ {text} }}" if scope else text
        for scope, text in ((scope, text.replace("@", f"{INSTANCE}_{i}")) for i, (scope, text) in enumerate(found))
    ]


def _live(unit: Unit, file: str) -> str:
    """A file's text, a character a byte, with blanks for comments, strings, directives and what they leave out."""
    data = bytearray(without_directives(blanked(unit.text(file))))
    for start, end in unit.skipped(file):
        data[start:end] = re.sub(rb"[^\n]", b" ", data[start:end])
    return data.decode("latin-1")


def _scope(text: str, at: int) -> str | None:
    """The namespaces that are open at a place, as one name; None inside of anything else."""
    names = _opened(text, at)
    return None if None in names else "::".join(name for name in names if name)


def _namespaces(text: str, at: int) -> str:
    """The namespaces that are open at a place, as one name, inside of a function, too."""
    return "::".join(name for name in takewhile(lambda name: name is not None, _opened(text, at)) if name)


def _opened(text: str, at: int) -> list[str | None]:
    """The names of the namespaces that are open at a place, from outside; None for anything else that is."""
    names, start = list[str | None](), 0
    for m in re.finditer(r"[{};]", text[:at]):
        head, start = text[start : m.start()], m.end()
        if m[0] == "{":
            named = _NAMESPACE.search(head)
            names.append((named[1] or "") if named else "" if head.rstrip().endswith("extern") else None)
        elif m[0] == "}" and names:
            names.pop()
    return names


def _explicit(unit: Unit, text: str) -> Iterator[tuple[str, str]]:
    """The instances of explicit instantiations, with their namespaces: `template void f<float>(float *);`."""
    for m in _EXPLICIT.finditer(text):
        scope, head = _scope(text, m.start(1)), " ".join(_ATTRIBUTE.sub(" ", m[1]).split())
        if scope is None:
            continue
        if head.startswith(("struct ", "class ")):
            name = head.partition(" ")[2]
            for i, method in enumerate(_methods(unit, plain(name).rpartition("::")[2])):
                yield scope, f"static auto @_{i} = &{name}::{method};"
            continue
        at = _outside(head, "(")
        name = _last_name(head[:at])
        if at > 0 and name and (result := head[: at - len(name)].strip() or "void"):
            yield scope, f"static {result} (*@){head[at:]} = &{name.strip()};"


def _methods(unit: Unit, name: str) -> list[str]:
    """The names of the methods that a template of structures has."""
    todo, found = list(unit.root().children), dict[str, None]()
    while todo:
        node = todo.pop()
        if node.kind == "CLASS_TEMPLATE" and node.name == name:
            found |= dict.fromkeys(c.name for c in node.children if c.kind == "CXX_METHOD")
        todo += node.children if node.kind in _SCOPES else ()
    return list(found)


def _outside(text: str, wanted: str) -> int:
    """The first place of a character outside of angles and parentheses; -1 where there is none."""
    depth = 0
    for i, c in enumerate(text):
        if c == wanted and depth == 0:
            return i
        depth += (c in "<(") - (c in ">)")
    return -1


def _last_name(text: str) -> str:
    """The name that a text ends with, with arguments of templates and spaces."""
    depth, at = 0, len(text)
    while at > 0:
        c = text[at - 1]
        if depth == 0 and not (c.isalnum() or c in "_:>" or c.isspace()):
            break
        if depth == 0 and c.isspace() and text[at:].strip() and text[at:].lstrip()[:1] not in "<:":
            break
        depth += (c == ">") - (c == "<")
        at -= 1
    return text[at:]


def _mentioned(templates: Sequence[Node], text: str) -> Iterator[tuple[str, str]]:
    """Instances that are mentioned and not launched where they are: `{k<1>, &k<2>}`."""
    for name in dict.fromkeys(k.name for k in templates):
        for start, _, end in _with_arguments(name, text):
            if text[end:].lstrip()[:1] in (",", "}", ")", ";"):
                yield (_scope(text, start) or ""), f"static auto *@ = &{text[start:end]};".replace("\n", " ")


def _launched(templates: Sequence[Node], text: str) -> Iterator[tuple[str, str]]:
    """Instances that are launched or called in functions of which clang knows no body, for errors in their heads, or
    before: `k<1><<<grid, block>>>`."""
    for template in templates:
        after = "<<<" if is_kernel(template) else "("
        for start, at, end in _with_arguments(template.name, text):
            if text[end:].lstrip().startswith(after):
                given = text[at:end].replace("\n", " ")
                yield _namespaces(text, start), f"static auto *@ = &{qualified(template)}{given};"


def _lost(unit: Unit, templates: Sequence[Node]) -> list[Node]:
    """The templates whose instances clang may not know all for an error, and those of functions that name them, and so
    on."""
    wrong = any(not MISSING.match(e.message) for e in unit.errors)
    found = [k for k in templates if k.kind == "FUNCTION_TEMPLATE"] if wrong else []
    others = [f for f in functions(unit) if f.kind == "FUNCTION_TEMPLATE" and not is_kernel(f)] if found else []
    for _ in range(_MOST_DEEP):
        names = re.compile("|".join(rf"\b{re.escape(f.name)}\b" for f in found).encode())
        more = [f for f in others if names.search(unit.text(f.file), *f.span[1:])]
        if all(f in found for f in more):
            break
        found += [f for f in more if f not in found]
    return found


def _with_arguments(name: str, text: str) -> Iterator[tuple[int, int, int]]:
    """Where a name stands with arguments of a template: from its namespaces on, those arguments, and their end."""
    for m in re.finditer(rf"(?:\w+\s*::\s*)*\b{re.escape(name)}\s*(?=<(?!<))", text):
        end = _closed(text, m.end())
        if end is not None:
            yield m.start(), m.end(), end


def _closed(text: str, at: int) -> int | None:
    """The place at which the angles end that open at a place."""
    depth = 0
    for i in range(at, min(len(text), at + 400)):
        depth += (text[i] == "<") - (text[i] == ">")
        if text[i] in ";{}":
            return None
        if depth == 0:
            return i + 1
    return None


# --- arguments to try ------------------------------------------------------------------------------------------------


def _own(template: Node) -> list[Node]:
    return [c for c in template.children if c.kind in _PARAMETERS]


def _has_defaults(template: Node) -> bool:
    """Whether each parameter of a template has a default argument, or is a pack."""
    words = [{text for text, _ in c.tokens()} for c in _own(template)]
    return all({"=", "..."} & each for each in words) and any("=" in each for each in words)


def arguments(unit: Unit, template: Node) -> list[str]:
    """Instances of a template to try: of numbers, types of the language and of the file, and templates and functions of
    the file."""
    records, generic = list[str](), list[str]()
    todo = list(own(unit))
    while todo:
        node = todo.pop(0)
        if node.kind in _SCOPES:
            todo = [*node.children, *todo]
        elif node.kind in _CLASSES and node.is_definition and node.name and not in_shim(node):
            (generic if node.kind == "CLASS_TEMPLATE" else records).append(qualified(node))
    name, found = qualified(template), dict[str, None]()
    points = any(c.kind == "TEMPLATE_NON_TYPE_PARAMETER" and c.type.kind == "pointer" for c in _own(template))
    of_device = (f for f in functions(unit) if any(c.kind == "CUDADEVICE_ATTR" for c in f.children))
    called = [*islice(of_device, _FUNCTIONS)] if points else []
    for type_ in ("float", "int", "double", *records[:4], *(f"{g}<float>" for g in generic[:4])):
        calls = [f"{qualified(f)}{f'<{type_}>' if is_template(f) else ''}" for f in called]
        for number, call in product(("256", "32", "16", "1", "0"), (*calls, "nullptr")):
            for other in generic[:2] or [""]:
                given = [_argument(c, type_, number, other, call) for c in _own(template)]
                found[f"{name}<{','.join(g for g in given if g)}>"] = None
    return list(found)[:_MOST]


def _argument(parameter: Node, type_: str, number: str, template: str, call: str) -> str:
    if "..." in {text for text, _ in parameter.tokens()}:
        return ""
    if parameter.kind == "TEMPLATE_TYPE_PARAMETER":
        return type_
    if parameter.kind == "TEMPLATE_TEMPLATE_PARAMETER":
        return template
    t = parameter.type
    if t.kind == "bool":
        return "true"
    if t.kind == "pointer":
        return call
    plain_int = t.kind != "int" or re.fullmatch(r"(unsigned |signed )?(int|char|short|long|long long)", t.name)
    return number if plain_int else f"({t.name})0"
