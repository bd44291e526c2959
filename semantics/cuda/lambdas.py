"""Lambdas: inlined where they are called. Their bodies name the variables around them, so there is nothing to keep.

What is captured by reference is seen as it is at the call. A copy is what a variable was when the lambda was made, so
only what nothing changes is copied. A lambda that leaves the function that makes it is refused, and so is one with a
parameter of any type: what it changes is not seen before it is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from semantics.cuda.clang import Node
from semantics.cuda.ctype import scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.places import is_shared
from semantics.cuda.state import Fields, Parts, State

_ADVICE: Final = "Write it as a device function."
_VARIABLES: Final = ("VAR_DECL", "PARM_DECL", "UNEXPOSED_DECL")
_DEFAULTS: Final = {"&": True, "=": False}


def is_lambda(node: Node) -> bool:
    """Whether a node is a lambda, or a variable that holds one."""
    return node.type.kind == "record" and node.type.name.startswith("(lambda")


def made(st: State, name: str, value: Node) -> Parts:
    """The variable of a lambda: nothing. Its value is a lambda, or a variable with one."""
    if value.kind == "LAMBDA_EXPR":
        keep(st, value)
    elif value.kind != "DECL_REF_EXPR" or value.type_decl.identity not in st.lambdas:
        raise unsupported("a lambda that is not made here", value.loc, _ADVICE)
    return Parts(name, ())


def keep(st: State, node: Node) -> None:
    """Check what a lambda captures, and keep it for calls."""
    default, named = _introducer(node)
    for used in _captured(node):
        by_reference = named.get(used.name, default)
        if by_reference is None:
            raise unsupported("what this lambda captures", node.loc, "Use [&].")
        steady = scalar(used.type) is not None or used.type.kind == "pointer"
        steady = steady or isinstance(st.bindings.get(used.identity), Fields) or used.type_decl.identity in st.lambdas
        if not by_reference and (st.changed[used.identity] or used.type.kind == "reference" or not steady):
            what = f"a lambda with a copy of '{used.name}', which may change,"
            raise unsupported(what, node.loc, "Capture it by reference, or a variable that nothing assigns to.")
    st.lambdas[node.type_decl.identity] = node


def check_call(st: State, node: Node, callee: Node, given: Node | None) -> None:
    """Raises for the call of a lambda that was not made here, or whose types are not known from its text."""
    if callee.kind != "CXX_METHOD":
        raise unsupported("a lambda as a pointer", node.loc, "Call it in the function that makes it, or pass it on.")
    while given is not None and given.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and given.children:
        given = given.children[-1]
    if given is not None and given.kind == "LAMBDA_EXPR":
        keep(st, given)
    known = st.lambdas.get(callee.parent.identity) if callee.parent is not None else None
    if known is None:
        raise unsupported("a call of a lambda that is not made in the kernel", node.loc, _ADVICE)
    written = [c.type.name for c in known.children if c.kind == "PARM_DECL"]
    if written != [p.type.name for p in callee.arguments]:
        raise unsupported("a lambda with a parameter of any type", known.loc, "Write the type.")


def inside(decl: Node, node: Node) -> bool:
    """Whether a lambda declares a variable, as a parameter or in its body: of what is in one macro, for all it is known
    none does."""
    (file, start, end), (own, at, _) = node.span, decl.span
    return file == own and start < at < end


def _introducer(node: Node) -> tuple[bool | None, dict[str, bool]]:
    """The captures of a lambda, by reference (True) or as a copy: that of everything, and those by name."""
    items: list[list[str]] = [[]]
    tokens = [text for text, _ in node.tokens()]
    if tokens[:1] != ["["] or "]" not in tokens:
        raise unsupported("this lambda", node.loc, _ADVICE)
    if any(text in node.unit.predefined for text in tokens[: tokens.index("]")]):
        raise unsupported("a macro in what a lambda captures", node.loc, "Write the name.")
    for text in tokens[1 : tokens.index("]")]:
        items = [*items, []] if text == "," else [*items[:-1], [*items[-1], text]]
    default: bool | None = None
    named: dict[str, bool] = {}
    for i, item in enumerate(items if items != [[]] else []):
        match item:
            case [("&" | "=") as mode] if i == 0:
                default = _DEFAULTS[mode]
            case [name] if name.isidentifier() and name != "this":
                named[name] = False
            case ["&", name] if name.isidentifier():
                named[name] = True
            case _:
                raise unsupported(f"the capture '{' '.join(item)}'", node.loc, "Use [&].")
    return default, named


def _captured(node: Node) -> Iterator[Node]:
    """The variables around a lambda that its body names."""
    for here in node.children[-1].walk():
        decl = here.referenced if here.kind == "DECL_REF_EXPR" else None
        if decl is None or decl.kind not in _VARIABLES or inside(decl, node) or is_shared(decl):
            continue
        around = decl.parent
        if around is not None and around.kind not in ("TRANSLATION_UNIT", "NAMESPACE", "LINKAGE_SPEC"):
            yield decl
