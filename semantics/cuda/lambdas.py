"""Lambdas: inlined where they are called. Their bodies name the variables around them, so there is nothing to keep.

What is captured by reference is seen as it is at the call. A copy is what a variable was when the lambda was made: of
what may change, a variable of its own, which the body names instead, and changes if it is `mutable`. What a lambda with
a parameter of any type does is known when it is called, so all that its body names counts as changed. A lambda that
leaves the function that makes it is refused; one that the host makes for a kernel has copies among the parameters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from semantics.cuda.clang import Node
from semantics.cuda.classes import acts_when_copied
from semantics.cuda.ctype import scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.places import is_shared, parameter
from semantics.cuda.scan import count_changes, is_generic
from semantics.cuda.state import Binding, Fields, Local, Parts, State
from semantics.cuda.templates import lambda_of

_ADVICE: Final = "Write it as a device function."
_VARIABLES: Final = ("VAR_DECL", "PARM_DECL", "UNEXPOSED_DECL")
_DEFAULTS: Final = {"&": True, "=": False}
_THIS: Final = "*this"


def is_lambda(node: Node) -> bool:
    """Whether a node is a lambda, or a variable that holds one."""
    return node.type.kind == "record" and node.type.name.startswith("(lambda")


def made(st: State, name: str, value: Node) -> Parts:
    """The variable of a lambda: nothing. Its value is a lambda, or a variable with one."""
    if value.kind == "LAMBDA_EXPR":
        keep(st, value)
    elif value.kind != "DECL_REF_EXPR" or value.type_decl.identity not in st.lambdas:
        raise unsupported("a lambda that is not made here", value.loc, _ADVICE)
    else:
        _check_copy(st, value)
    return Parts(name, ())


def _check_copy(st: State, value: Node) -> None:
    """Raises for a copy of a lambda that changes what it captured: it would be another object. So it does for one with
    a variable whose type has something to do when it is copied: such as the host captures, too."""
    own = st.lambdas[value.type_decl.identity]
    if _changed(own):
        raise unsupported("a copy of a lambda that changes what it captured", value.loc, "Pass it as a reference.")
    default, named = _introducer(own)
    around = {d.identity: d for n in _captured(own) if (d := n.referenced) is not None}
    for variable in (*_named_captures(own), *around.values()):
        made_here = inside(variable, own)
        if variable.type_decl.identity in st.lambdas and not named.get(variable.name, default):
            _check_copy(st, variable)
        elif variable.type.kind != "reference" if made_here else not named.get(variable.name, default):
            _check_plain(variable, value)


def _check_plain(variable: Node, where: Node) -> None:
    """Raises where it takes functions of the user's to copy a variable."""
    if not is_lambda(variable) and acts_when_copied(variable):
        told = f"a lambda that copies '{variable.name}', whose type says itself what a copy is,"
        raise unsupported(told, where.loc, "Capture it by reference.")


def _named_captures(node: Node) -> list[Node]:
    """The variables that a lambda captures by name, and those that it has of its own (`[x = e]`)."""
    return [c.referenced for c in node.children if c.kind == "VARIABLE_REF" and c.referenced is not None]


def _check_unused(st: State, node: Node, named: dict[str, bool]) -> None:
    """Raises for what a lambda copies and does not name, if that takes more than to assign a variable."""
    used = {n.referenced.name for n in _captured(node) if n.referenced is not None}
    around = {v.name: v for v in _named_captures(node) if not inside(v, node)}
    for name in (n for n, by_reference in named.items() if not by_reference and n != _THIS and n not in used):
        variable = around.get(name)
        if variable is not None and variable.kind in ("VAR_DECL", "PARM_DECL"):
            if variable.type_decl.identity in st.lambdas:
                _check_copy(st, variable)
                continue
            plain = scalar(variable.type) is not None or variable.type.kind == "pointer" or _steady(st, variable)
            if plain and variable.type.kind != "reference":
                continue
        raise unsupported(f"a lambda that copies '{name}' and does not use it", node.loc, "Leave it out of '[..]'.")


def _changed(node: Node) -> Counter[int]:
    """The variables around a lambda that it captures as copies and changes, or that it declares to capture; none of one
    that is not `mutable`. Of one with a parameter of any type they are all that its body names."""
    words, changed = [text for text, _ in node.tokens()], Counter[int]()
    if "mutable" not in words[: words.index("{")]:
        return changed
    count_changes(node.children[-1], changed)
    default, named = _introducer(node)
    around = [(n.referenced, n) for n in _captured(node)]
    copied = {d.identity for d, _ in around if d is not None and not named.get(d.name, default)}
    copied |= {d.identity for d in _named_captures(node) if inside(d, node)}
    kept = changed.keys() | (copied if is_generic(node) else set())
    return Counter(kept & copied)


def keep(st: State, node: Node) -> None:
    """Keep a lambda for calls, with copies of what it captures so and may change."""
    default, named = _introducer(node)
    for variable in _named_captures(node):
        if inside(variable, node):
            st.declaration(st, variable)
        elif not named.get(variable.name, True):
            _check_plain(variable, node)
    _check_unused(st, node, named)
    copies, changed = dict[int, Binding](), _changed(node)
    for name in _captured(node):
        used = name.referenced
        if used is None or used.identity in copies:
            continue
        by_reference = named.get(used.name, default)
        if by_reference is None and (used.type.const or used.storage == "STATIC"):
            continue  # a constant: it needs no capture
        if by_reference is None:
            raise unsupported("what this lambda captures", node.loc, "Use [&].")
        if by_reference or used.type_decl.identity in st.lambdas:
            if not by_reference:
                _check_copy(st, name)
            continue
        _check_plain(used, node)
        if changed[used.identity]:
            copies[used.identity] = _variable(st, node, name)
        elif not _steady(st, used):
            copies[used.identity] = st.copy(st, name)
    kind = node.type_decl.identity
    st.lambdas[kind] = node
    st.captured_by[kind] = copies
    this = st.frame.this
    if this is not None and this.decl is not None and _THIS in named:
        _check_plain(this.decl, node)
        copied = st.copy(st, this.decl)
        if not isinstance(copied, Parts) or "mutable" in [text for text, _ in node.tokens()]:
            raise unsupported(f"the capture '{_THIS}' of this object", node.loc, "Capture a copy of it by a name.")
        this = replace(this, place=copied)
    if this is not None:
        st.this_of[kind] = this


def _variable(st: State, node: Node, name: Node) -> Binding:
    """A variable for the copy that a lambda changes."""
    copy = st.copy(st, name)
    if not isinstance(copy, Local):
        raise unsupported(f"a lambda that changes its copy of '{name.name}'", node.loc, "Capture it by reference.")
    st.settled.discard(copy.name)
    return copy


def _steady(st: State, used: Node) -> bool:
    """Whether a variable is for certain what it was when a lambda was made."""
    plain = scalar(used.type) is not None or used.type.kind == "pointer"
    bound = st.bindings.get(used.identity)
    if used.type.kind != "reference" and st.borrows(bound):
        return True
    plain = plain or isinstance(bound, Fields)
    return plain and not st.changed[used.identity] and used.type.kind != "reference"


def copies_now(st: State, node: Node) -> bool:
    """Whether an expression makes a lambda that copies what may change."""
    while node.kind != "LAMBDA_EXPR":
        if len(node.children) != 1:
            return False
        node = node.children[0]
    default, named = _introducer(node)
    found = [name.referenced for name in _captured(node)]
    return _THIS in named or any(used and not named.get(used.name, default) and not _steady(st, used) for used in found)


@contextmanager
def captures(st: State, callee: Node) -> Iterator[None]:
    """Binds the names in a lambda's body to its copies, inside of this. Raises where a lambda around has copies of what
    it means as it is outside."""
    kind = callee.parent.identity if callee.parent is not None else -1
    copies = st.captured_by.get(kind, {})
    if kind in st.lambdas:
        own = st.lambdas[kind]
        meant = {n.referenced.identity for n in _captured(own) if n.referenced is not None} - copies.keys()
        for other in st.at_work:
            if meant & st.captured_by[other].keys() and not inside(own, st.lambdas[other]):
                what = "a lambda that another one calls which has a copy of the same variable"
                raise unsupported(what, callee.loc, "Pass the variable to it.")
        st.at_work.append(kind)
    before = {key: st.bindings.get(key) for key in copies}
    st.bindings |= copies
    yield
    if kind in st.lambdas:
        st.at_work.pop()
    for key, bound in before.items():
        if bound is None:
            del st.bindings[key]
        else:
            st.bindings[key] = bound


def of_host(st: State, p: Node, path: str) -> bool:
    """Keep a lambda that the host makes for a kernel, or for another one: its copies are parameters, named after what
    is copied. Gives whether it is found."""
    node = lambda_of(p) if is_lambda(p) else None
    if node is None:
        return False
    kind = node.type_decl.identity
    if kind in st.lambdas:
        raise unsupported("one lambda of the host twice", p.loc, _ADVICE)
    default, named = _introducer(node)
    st.lambdas[kind] = node
    copies = dict[int, Binding]()
    for name in _captured(node):
        used = name.referenced
        if used is None or used.identity in copies:
            continue
        if named.get(used.name, default) is not False or name.type.kind == "array":
            raise unsupported(f"'{used.name}' of the host in a lambda", node.loc, "Capture it as a copy.")
        own = f"{path}.{used.name}"
        copies[used.identity] = Parts(own, ()) if of_host(st, name, own) else parameter(st, own, name.type, node.loc)
    st.captured_by[kind] = copies
    return True


def in_fields(st: State, p: Node, path: str) -> None:
    """Keep the lambdas in the fields of a structure that the host makes for a kernel."""
    for f in p.fields if p.type.kind == "record" else ():
        if not of_host(st, f, f"{path}.{f.name}"):
            in_fields(st, f, f"{path}.{f.name}")


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
    if any(text in node.unit.macros.predefined for text in tokens[: tokens.index("]")]):
        raise unsupported("a macro in what a lambda captures", node.loc, "Write the name.")
    for text in tokens[1 : tokens.index("]")]:
        items = [*items, []] if text == "," else [*items[:-1], [*items[-1], text]]
    default: bool | None = None
    named: dict[str, bool] = {}
    for i, item in enumerate(items if items != [[]] else []):
        match item:
            case [("&" | "=") as mode] if i == 0:
                default = _DEFAULTS[mode]
            case ["this"] | [_, "=", *_] | ["&", _, "=", *_]:
                pass  # what a name is given here is a variable of the lambda
            case [name] if name.isidentifier():
                named[name] = False
            case ["&", name] if name.isidentifier():
                named[name] = True
            case ["*", "this"]:
                named[_THIS] = False
            case _:
                raise unsupported(f"the capture '{' '.join(item)}'", node.loc, "Use [&].")
    return default, named


def _captured(node: Node) -> Iterator[Node]:
    """Names of the variables around a lambda in its body."""
    for here in node.children[-1].walk():
        decl = here.referenced if here.kind == "DECL_REF_EXPR" else None
        if decl is None or decl.kind not in _VARIABLES or inside(decl, node) or is_shared(decl):
            continue
        around = decl.parent
        if around is not None and around.kind not in ("TRANSLATION_UNIT", "NAMESPACE", "LINKAGE_SPEC"):
            yield here
