"""Declarations of what one thread or one block has, to miniCUDA."""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import Final

from logic.source import Loc
from logic.syntax import (
    INT,
    Assign,
    Const,
    Op,
)
from semantics.cuda.clang import Node
from semantics.cuda.classes import acts_when_made, check_array, destroyed, makes
from semantics.cuda.convert import convert, zero
from semantics.cuda.copying import undefined
from semantics.cuda.ctype import CType, innermost, scalar
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.expressions import expr, into
from semantics.cuda.functions import assign, assigned, function_type, is_table, named_function
from semantics.cuda.implied import counted, is_computed, reals
from semantics.cuda.nested import is_handle
from semantics.cuda.objects import default, elements
from semantics.cuda.order import check_order
from semantics.cuda.picked import check_picked
from semantics.cuda.places import evaluate, frozen, is_shared, load, member, registers, shared, store, table, text
from semantics.cuda.pointers import address, deliver, point, seen
from semantics.cuda.records import (
    declared,
    fields,
    fill,
    held,
    initialised,
    reference,
    set_parts,
    union,
    values,
    variable,
)
from semantics.cuda.regions import null, unit
from semantics.cuda.sequence import Unordered, within
from semantics.cuda.shapes import bare, described
from semantics.cuda.shim import is_shim
from semantics.cuda.state import Address, Chosen, Moving, Place, Pointer, State, Use
from semantics.cuda.tables import characters
from semantics.cuda.unions import is_union, laid


def _check_attributes(decl: Node) -> None:
    """Raises for attributes that may mean something, such as a call where the scope ends."""
    for node in decl.children:
        if node.kind != "UNEXPOSED_ATTR":
            continue
        file, start, end = node.span
        text = node.unit.text(file)[start:end]
        hidden = any(word in node.unit.macros.predefined for word in re.findall(r"\w+", text.decode("latin-1")))
        if hidden or text.strip(b"_").removeprefix(b"gnu::") not in (b"unused", b"maybe_unused"):
            raise unsupported(f"this attribute of '{decl.name}'", decl.loc, "Take it out.")


def declaration(st: State, decl: Node) -> None:
    """Bind a declared name and emit its initialisation."""
    if decl.kind == "UNEXPOSED_DECL" and decl.name.startswith("["):
        _bindings(st, decl)
        return
    if decl.kind != "VAR_DECL":
        if decl.kind in ("STRUCT_DECL", "UNION_DECL", "CLASS_DECL", "ENUM_DECL", "TYPEDEF_DECL", "TYPE_ALIAS_DECL",
                         "STATIC_ASSERT", "USING_DECLARATION", "USING_DIRECTIVE", "NAMESPACE_ALIAS"):  # fmt: skip
            return
        raise unsupported(described(decl), decl.loc)
    _check_attributes(decl)
    t, type_ = decl.type, scalar(decl.type)
    if decl.storage == "STATIC" and t.kind == "array" and t.const and not is_shared(decl):
        if decl.identity not in st.bindings:
            st.bindings[decl.identity] = table(st, decl)
        return
    if decl.storage in ("STATIC", "EXTERN") and not t.const and not is_shared(decl):
        raise unsupported(f"the {decl.storage.lower()} variable '{decl.name}'", decl.loc, "All threads share it.")
    if is_shared(decl):
        if decl.identity not in st.bindings:
            st.bindings[decl.identity] = shared(st, decl)
    elif function_type(decl) and (function := _function(st, decl)) is not None:
        st.functions[decl.identity] = function
    elif function_type(decl) and st.changed[decl.identity] and (several := assigned(st, decl)) is not None:
        st.functions[decl.identity] = several
        if decl.initialiser is not None:
            assign(st, decl, decl.initialiser)
    elif t.kind == "array" and t.inner is not None and function_type(decl, t.inner) and is_table(st, decl):
        return  # its functions are where they are called
    elif t.kind == "pointer" and decl.initialiser is None and is_handle(decl):
        return  # what uses it, says so
    elif t.kind == "pointer":
        init = decl.initialiser
        bind_pointer(st, decl, None if init is None else address(st, init, "whole"), decl.loc)
    elif t.kind == "reference":
        init = decl.initialiser
        if init is None:
            raise unsupported(f"the reference '{decl.name}'", decl.loc)
        check_picked(st, init)
        st.bindings[decl.identity] = reference(st, decl, init, "whole")
    elif type_ is not None:
        if decl.initialiser is not None and [text for text, _ in islice(decl.tokens(), 3)] == ["decltype", "(", "auto"]:
            check_picked(st, decl.initialiser)
        _scalar(st, decl, type_.kind)
    elif t.kind == "array":
        check_array(decl)
        st.bindings[decl.identity] = array = registers(st, decl.name, t, decl.loc)
        first = decl.initialiser
        if innermost(t).kind == "record" and (first is None or first.kind == "CALL_EXPR"):
            elements(st, array, decl, decl.loc)
        elif first is not None and not undefined(first):
            _elements(st, array, t, decl.initialiser, decl, decl.loc)
    elif t.kind == "record" and is_union(decl):
        st.bindings[decl.identity] = union(st, decl, decl.initialiser, "whole")
    elif t.kind == "record":
        init = decl.initialiser
        if init is None or (undefined(init) and not _with_braces(init)):
            st.bindings[decl.identity] = made = variable(st, decl)
            default(st, made, decl, decl.loc, made=True)
        else:
            st.bindings[decl.identity] = initialised(st, decl, init, "whole")
        object_ = st.bindings[decl.identity]
        if destroyed(decl.type_decl) and not isinstance(object_, Moving):
            st.alive.append((object_, decl.type_decl))
    else:
        raise unsupported(f"the variable '{decl.name}' of type '{t.name}'", decl.loc)


def _bindings(st: State, decl: Node) -> None:
    """Structured bindings: names for the fields, or elements, of a copy or of what a reference refers to."""
    names = [c for c in decl.children if c.kind == "UNEXPOSED_DECL"]
    init, t = decl.children[-1], decl.type.inner if decl.type.kind == "reference" else decl.type
    st.changed[decl.identity] += sum(st.changed[name.identity] for name in names)
    given = decl.type_decl.loc if t is not None and t.kind == "record" else None
    if t is None or t.kind not in ("record", "array") or (given and _untold(decl, given)):
        raise unsupported(f"this declaration of '{decl.name}'", decl.loc, "Use the members by their names.")
    if decl.type.kind == "reference":
        whole = reference(st, decl, init, "whole")
    elif t.kind == "record":
        whole = initialised(st, decl, init, "whole")
    else:
        whole = _copy(st, decl, init)
    if given and is_shim(given.file) and decl.type_decl.name.split("<")[0] == "array":
        elems = next(iter(decl.fields))
        whole, t = member(st, whole, decl, elems), elems.type
    parts = () if t.kind == "array" else fields(decl)
    if t.kind == "record" and (len(parts) != len(names) or any(p.kind != "FIELD_DECL" for p in parts)):
        raise unsupported(f"this declaration of '{decl.name}'", decl.loc, "Use the members by their names.")
    for i, name in enumerate(names):
        if t.kind == "array" and t.inner is not None and isinstance(whole, Address):
            st.bindings[name.identity] = whole.plus(t.inner.size, Const(i))
        else:
            st.bindings[name.identity] = seen(st, member(st, whole, decl, parts[i]), parts[i], decl.loc)
        if name.type.kind == "pointer" and not isinstance(st.bindings[name.identity], Pointer):
            raise unsupported(f"the pointer '{name.name}' as a name for a part", decl.loc, "Use the member.")


_VECTOR: Final = re.compile(r"(u?(char|short|int|long|longlong)|float|double)[1-4]|dim3")
"""CUDA's vectors: whatever `tuple_size` says of them, their parts are their fields."""


def _untold(decl: Node, given: Loc) -> bool:
    """Whether a structure may say itself what its parts are, as `std::tuple` does."""
    files = {given.file, *(f for f in (decl.span[0],))}
    name = decl.type_decl.name.split("<")[0]
    ours = is_shim(given.file) and (name in ("pair", "tuple", "array") or _VECTOR.fullmatch(name) is not None)
    return not ours and any(is_shim(f) or b"tuple_size" in decl.unit.text(f) for f in files)


def _copy(st: State, decl: Node, init: Node) -> Address:
    """A copy of an array."""
    origin, t = init.children[0], decl.type
    array = registers(st, f"copy_of_{origin.name}", t, decl.loc)
    elem = innermost(t)
    begin = address(st, origin, "whole")
    if scalar(elem) is None:
        raise unsupported(f"a copy of '{origin.name}'", decl.loc, "Use its elements one by one.")
    for i in range(t.size // elem.size):
        value = load(st, begin.plus(elem.size, Const(i)), elem, decl.loc)
        store(st, array.plus(elem.size, Const(i)), value, elem, decl.loc)
    return array


def _with_braces(init: Node) -> bool:
    """Whether a structure that is made without a value is written with braces, as `S s{}`: then it is zero."""
    return any(text == "}" for text, _ in [*init.tokens()][-1:])


def _function(st: State, decl: Node) -> Node | Chosen | None:
    """The function that a pointer leads to which nothing changes."""
    return None if decl.initialiser is None or st.changed[decl.identity] else named_function(st, decl.initialiser)


def listed(st: State, braces: Node, loc: Loc | None, use: Use) -> Place:
    """An array, a structure or a union of one thread that has no name, with the values of a list, of an order, or of a
    constant that is declared outside of kernels."""
    if braces.kind == "VAR_DECL":
        return _constant(st, braces, loc)
    if braces.kind == "BINARY_OPERATOR":
        return _ordering(st, braces, use)
    if braces.type.kind == "array":
        return text(st, braces) if braces.kind == "STRING_LITERAL" else in_braces(st, braces, loc)
    if is_union(braces):
        return union(st, braces, braces, use)
    made = declared(st, "t", braces)
    fill(st, made, braces, use)
    return made


def _constant(st: State, decl: Node, loc: Loc | None) -> Place:
    """A structure that is declared constant outside of kernels. Raises where its value is not known."""
    own = decl.definition or decl
    with st.captured() as effects:
        found = [] if own.initialiser is None else values(st, own.initialiser)
    if effects or not all(isinstance(value, Const) for value in found):
        raise CudaError(f"'{decl.name}' is a variable of the host", loc, "Pass its value to the kernel as an argument.")
    return held(st, decl.name, own, found)


def _ordering(st: State, node: Node, use: Use) -> Place:
    """The order `a <=> b` of two numbers, which our header keeps as -1, 0, 1, or as 2 where they have none."""
    left, right = node.children
    own = scalar(left.type), scalar(right.type)
    if node.operator != "<=>" or None in own or own[0] != own[1]:
        raise unsupported(f"the operator '{node.operator}' on '{left.type.name}'", node.loc)
    check_order(st, node.loc, (left, right))
    parts = Unordered(st)
    a, b = parts.part(expr(st, left, within(use))), parts.part(expr(st, right, within(use)))
    parts.check(node.loc)
    a, b = (st.saved(e, t) for e, t in zip((a, b), own, strict=True) if t is not None)
    made = declared(st, "order", node, settled=True)
    last = Const(0) if own[0] == INT else Op("?:", (Op("==", (a, b)), Const(0), Const(2)))
    sign = Op("?:", (Op("<", (a, b)), Const(-1), Op("?:", (Op(">", (a, b)), Const(1), last))), node.loc)
    set_parts(st, made, [sign], node)
    return made


def in_braces(st: State, braces: Node, loc: Loc | None) -> Address:
    """An array of one thread that has no name, with the values of a list."""
    array = registers(st, "list", braces.type, loc)
    _elements(st, array, braces.type, braces, braces, loc)
    return array


def _elements(st: State, a: Address, t: CType, init: Node | None, whole: Node, loc: Loc | None) -> None:
    """Initialise the array of one thread that is a node's, or a part of it; what its list leaves out is zero."""
    type_ = scalar(t)
    if t.kind == "array" and t.inner is not None:
        init = None if init is None else bare(init)  # what destroys objects made in the list stands around it
        if init is not None and init.kind == "STRING_LITERAL" and (told := characters(init, t)) is not None:
            for i, number in enumerate(told):
                store(st, a.plus(t.inner.size, Const(i)), Const(number, loc=init.loc), t.inner, init.loc)
            return
        if init is not None and init.kind != "INIT_LIST_EXPR":
            raise unsupported("this way to initialise an array", init.loc, "Use a list in braces.")
        given = () if init is None else init.children
        inner = t.inner
        if given and all(part.kind != "INIT_LIST_EXPR" for part in given):
            inner = innermost(t)  # the braces of rows may be left out
        for i in range(t.size // inner.size):
            part = given[i] if i < len(given) else None
            _elements(st, a.plus(inner.size, Const(i)), inner, part, whole, loc if init is None else init.loc)
    elif t.kind == "pointer":
        deliver(st, a, null(st) if init is None else address(st, init, "whole"), t, loc)
    elif t.kind == "record":  # nothing is known of what an array of structures holds
        acts = acts_when_made(whole.type_decl)
        braces = init is not None and init.kind == "INIT_LIST_EXPR"
        if acts and (init is None or (braces and not init.children and makes(whole.type_decl))):
            default(st, a, whole, loc)
        elif braces and makes(whole.type_decl):
            raise unsupported(f"a list for '{whole.type_decl.name}', which has a constructor,", loc, "Write its name.")
        elif init is not None and braces and acts:
            _dropped(st, init)
        elif init is not None:
            _evaluated(st, init)
    elif init is not None:
        store(st, a, convert(expr(st, init, "whole"), init.type, t, init.loc), t, init.loc)
    elif type_ is not None:
        store(st, a, zero(type_, loc), t, loc)


def _evaluated(st: State, init: Node) -> None:
    """Emit the evaluation of what is in a list."""
    if init.kind == "INIT_LIST_EXPR":
        for part in init.children:
            _evaluated(st, part)
    elif init.type.kind == "record":
        _dropped(st, init)
    elif scalar(init.type) is not None:
        evaluate(st, expr(st, init, "whole"))
    else:
        raise unsupported("this way to initialise an array", init.loc, "Assign the elements.")


def _dropped(st: State, init: Node) -> None:
    """Emit the evaluation of a structure of which nothing is kept."""
    for value in values(st, init, "whole"):
        if not isinstance(value, Address):
            evaluate(st, value)


def _scalar(st: State, decl: Node, kind: str) -> None:
    type_ = scalar(decl.type)
    if type_ is None:
        return
    init = decl.initialiser
    empty = init is not None and init.kind == "INIT_LIST_EXPR" and not init.children
    if init is not None and init.kind == "INIT_LIST_EXPR" and len(init.children) == 1:
        init = init.children[0]
    if init is not None and not empty and decl.type.const and kind != "base" and isinstance(init.evaluate(), int):
        if _is_constexpr(decl):
            return  # its value is the compiler's affair
        with st.captured() as effects:
            value = expr(st, init)
        if isinstance(value, Const) and not effects:
            return  # every use of it is folded
    if decl.loc in st.plan.laid:
        st.bindings[decl.identity] = bytes_ = laid(st, decl)
        if empty:
            store(st, bytes_, zero(type_, decl.loc), decl.type, decl.loc)
        elif init is not None:
            store(st, bytes_, convert(expr(st, init, "whole"), init.type, decl.type, init.loc), decl.type, decl.loc)
        return
    settled = init is not None and not st.changed[decl.identity]
    local = st.declare(decl.name, type_, decl.loc, settled=settled, of=decl.type)
    st.bindings[decl.identity] = local
    if empty:
        st.emit(Assign(local.name, zero(type_, decl.loc), decl.loc))
    elif init is not None:
        into(st, local, init, decl.loc)
        if settled and isinstance(last := st.out[-1], Assign) and last.var == local.name:
            if type_.kind == "base" and is_computed(st, last.value):
                st.reals[local.name] = reals(st, last.value)
            elif type_ == INT:
                st.out[-1] = Assign(last.var, counted(st, last.value), last.loc)


def _is_constexpr(decl: Node) -> bool:
    """Whether a variable is declared to have a value that a compiler knows, in plain sight."""
    _, start, _ = decl.span
    words = takewhile(lambda token: token[1] < decl.offset, decl.tokens())
    return any(text == "constexpr" and at >= start for text, at in words)


def bind_pointer(st: State, decl: Node, target: Address | None, loc: Loc | None) -> None:
    """Bind a pointer variable to the address it starts with."""
    size = decl.type.inner.size if decl.type.inner else 0
    if target is not None and not st.changed[decl.identity]:
        found = frozen(st, target, decl.name)
        if isinstance(found, Address):
            st.bindings[decl.identity] = found
        return
    as_number = unit(decl.type.inner) if decl.loc in st.plan.adrift else 0
    if size == 0 and not as_number:
        raise unsupported(f"the type of '{decl.name}'", decl.loc)
    offset = st.declare(decl.name, INT, decl.loc)
    st.bindings[decl.identity] = Moving(None, size, offset.name, len(st.loops), decl.loc, unit=as_number)
    if target is not None:
        point(st, decl.identity, target, loc)
