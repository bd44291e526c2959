"""Pointers to functions: which function one leads to is known where it is passed or declared, or chosen from a table
or by `?:`; else it is refused.

A table of functions, or a pointer, outside of functions is taken to lead where it is declared to, which is noted,
unless the file names it for more than its value. Then, as one that the host gives a value, such as an argument of the
kernel, it leads to one of the functions of its type that the file names without calling them. A call by one that is
chosen is an `if` for each function, so that lanes with functions of their own part.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile
from typing import Final

from logic.operators import COMPARISONS, denote
from logic.syntax import INT, TRUE, Assign, Const, Expr, Op, Var
from semantics.cuda.clang import UNITS, Node, Unit
from semantics.cuda.convert import convert
from semantics.cuda.ctype import CType
from semantics.cuda.errors import unsupported
from semantics.cuda.heads import check_condition, check_if
from semantics.cuda.lambdas import keep
from semantics.cuda.lost import blanked
from semantics.cuda.places import is_outside, load, parameter
from semantics.cuda.scan import METHODS, targets, variable
from semantics.cuda.sections import following, sections
from semantics.cuda.shapes import CASTS, null_pointer
from semantics.cuda.shim import in_shim, own, own_files
from semantics.cuda.state import Address, Chosen, State
from semantics.cuda.tables import stays
from semantics.cuda.templates import functions, is_template

Known = Mapping[int, int | None]
"""The values of parameters, by the numbers of their declarations."""

NUMBER: Final = CType("int", "long", 8)
"""The type of the number of a function."""

MOST: Final = 64
"""The most functions of a table that one is chosen from."""


def function_type(node: Node, of: CType | None = None) -> bool:
    """Whether an expression, or an element of the type `of`, is a function, or a pointer to one."""
    t = of or node.type
    t = t.inner if t.kind == "pointer" and t.inner is not None else t
    return t.kind == "other" and t.name.endswith((")", ") noexcept"))


def is_table(st: State, decl: Node) -> bool:
    """Whether an array of one thread is a table of functions that nothing changes."""
    return bool(_listed(st, decl)) and bool(decl.type.const)


def named_function(st: State, node: Node) -> Node | Chosen | None:
    """The function that an expression names, or a variable that was given one, or what one is chosen from; None for
    all else. The number of one that is chosen is evaluated."""
    while len(node.children) == 1 and (
        node.kind in ("PAREN_EXPR", *CASTS, "UNARY_OPERATOR")
        or (node.kind == "DECL_REF_EXPR" and node.referenced is None)  # substituted in an instance of a template
    ):
        if node.kind == "UNARY_OPERATOR" and node.operator not in ("&", "*", "+"):
            return None
        node = node.children[0]
    if node.kind in ("ARRAY_SUBSCRIPT_EXPR", "CONDITIONAL_OPERATOR") and function_type(node):
        return _element(st, node) if node.kind == "ARRAY_SUBSCRIPT_EXPR" else _either(st, node)
    if node.kind == "CALL_EXPR" and function_type(node):
        return _of_lambda(st, node) or _returned(st, node)
    decl = node.referenced if node.kind == "DECL_REF_EXPR" else None
    if decl is None or decl.kind == "FUNCTION_DECL":
        return decl
    known = st.functions.get(decl.identity)
    if isinstance(known, Chosen):
        return replace(known, index=st.saved(known.index, INT))
    if known is not None or not is_outside(decl) or not function_type(decl):
        return known
    if decl.storage == "EXTERN" or (decl.initialiser is not None and (decl.type.const or stays(decl))):
        return _declared(st, decl)  # another file has the extern one, and functions of its own
    return passed(st, decl, st.fresh(decl.name))


def _of_lambda(st: State, node: Node) -> Node | None:
    """The function of a lambda without captures that becomes a pointer to it; None of other calls."""
    called = node.referenced
    if called is None or called.kind != "CONVERSION_FUNCTION":
        return None
    inner = next((n for n in node.walk() if n.kind not in ("CALL_EXPR", "MEMBER_REF_EXPR", *CASTS)), node)
    own_ = [c for c in inner.type_decl.children if c.kind == "CXX_METHOD"] if inner.kind == "LAMBDA_EXPR" else []
    if len(own_) != 1:
        return None
    keep(st, inner)
    return own_[0].definition


def passed(st: State, decl: Node, name: str) -> Node | Chosen | None:
    """The functions that a pointer may lead to which the host gives a value, and its number, as a parameter."""
    found = _named_somewhere(decl)
    if not found:
        return None
    _note_several(st, decl, found)
    chosen = Chosen(load(st, parameter(st, name, NUMBER, decl.loc), NUMBER, decl.loc), found, given=True)
    return st.functions.setdefault(decl.identity, chosen)


def _note_several(st: State, decl: Node, found: tuple[Node, ...]) -> None:
    names = ", ".join(f.name for f in found)
    st.note(f"what '{decl.name}' leads to is one of the functions of its type that this file names: {names}")


def _named_somewhere(decl: Node) -> tuple[Node, ...]:
    """The functions that a pointer may lead to, or an element of a table, which the host gives a value; none if they
    are many, or not all known."""
    of = decl.type.inner if decl.type.kind == "array" else None
    return _of_type(decl.unit, _type_name(of or decl.type))


@lru_cache(maxsize=UNITS)
def _of_type(unit: Unit, wanted: str) -> tuple[Node, ...]:
    """The functions of the device of a type that a text names without calling them, also where libclang shows nothing
    of it; none if they are many, or one of them has no body here that is known: a lambda, a static member, an instance
    that a template makes."""
    in_tree = _in_tree(unit, wanted)
    in_text = None if in_tree is None else _in_text(unit, wanted, in_tree[1])
    if in_tree is None or in_text is None:
        return ()
    found = {f.identity: f for f in (*in_tree[0], *in_text)}
    return tuple(sorted(found.values(), key=lambda f: (f.span[0], f.offset))) if len(found) <= MOST else ()


def _in_tree(unit: Unit, wanted: str) -> tuple[list[Node], set[str]] | None:
    """The functions of a type that the syntax tree names without calling them, and all names of functions that are
    resolved wherever they stand in it. None if a function of the type has no body that is known."""
    found, resolved, open_, todo = list[Node](), set[str](), set[str](), list(own(unit))
    while todo:
        node = todo.pop()
        decl, callee = node.referenced, node.children[:1] if node.kind == "CALL_EXPR" else ()
        todo += node.children[len(callee) :]
        for inner in map(_inside, callee):  # of what is called the arguments of a template
            todo += inner.children if inner.kind == "DECL_REF_EXPR" else (inner,)
        if decl is None or in_shim(decl):
            continue
        if node.kind == "CALL_EXPR" and decl.kind == "CONVERSION_FUNCTION":  # a lambda becomes a pointer
            if _type_name(node.type) == wanted:
                return None
        elif node.kind == "DECL_REF_EXPR" and decl.kind in ("FUNCTION_DECL", "CXX_METHOD"):
            resolved.add(decl.name)
            if _type_name(decl.type) == wanted and _of_device(decl):
                if decl.kind == "CXX_METHOD" or decl.definition is None:
                    return None
                found.append(decl.definition)
        elif node.kind == "DECL_REF_EXPR" and decl.kind == "OVERLOADED_DECL_REF":
            open_.add(decl.name)
    return found, resolved - open_


def _in_text(unit: Unit, wanted: str, resolved: Collection[str]) -> list[Node] | None:
    """The functions of a type with a name that the text has where it is not called: in what libclang leaves out, or in
    a template. None if one may be a member, or an instance of a template whose name is not `resolved`."""
    words, found = set[str](), list[Node]()
    for file in own_files(unit):
        words |= {m[0] for m in _NAME.finditer(blanked(unit.text(file)).decode("latin-1"))}
    for f in functions(unit, members=True):
        if f.name not in words or not _of_device(f):
            continue
        of_type = _type_name(f.type) == wanted
        match f.kind:
            case "FUNCTION_DECL" if of_type:
                found.append(f)
            case "FUNCTION_TEMPLATE" if f.name not in resolved:
                return None
            case "CXX_METHOD" if of_type or is_template(f):
                return None
    return found


_NAME: Final = re.compile(r"(?<!\w)[^\W\d]\w*(?!\w|\s*\(|\s*<[\w\s,:*&]*>\s*\()")
"""A name that is not called, as it is in f(1) and f<int, 2>(1)."""


def _type_name(t: CType) -> str:
    """The type of a function, or of those that a pointer or a reference leads to, without `noexcept`: pointers to
    functions that may throw lead to such ones, too."""
    t = t.inner if t.kind in ("pointer", "reference") and t.inner is not None else t
    return t.name.removesuffix(" noexcept")


def _of_device(f: Node) -> bool:
    """Whether a function, or template of such, is declared for the device, here or before."""
    return any(c.kind == "CUDADEVICE_ATTR" for d in (f, f.definition) if d is not None for c in d.children)


def assigned(st: State, decl: Node) -> Chosen | None:
    """The functions that a pointer of one thread may lead to, all of which are named where it is declared or assigned,
    and a variable for the number of the one that it does; None where it may lead to others. Nothing is emitted."""
    above = decl
    while above.above is not None and above.kind not in ("FUNCTION_DECL", *METHODS):
        above = above.above
    init, found = decl.initialiser, dict[int, Node]()
    values = [] if init is None else [init]
    for node in above.walk():
        own = [t for t in targets(node) if (named := variable(t)) is not None and named.identity == decl.identity]
        if own and not (node.kind == "BINARY_OPERATOR" and node.operator == "="):
            return None
        values += [node.children[1] for _ in own]
    for value in values:
        named_ = _sides(value)
        if named_ is None:
            return None
        found |= {f.identity: f for f in named_}
    if not found or len(found) > MOST or decl.storage != "NONE":
        return None
    return Chosen(Var(st.declare(decl.name, INT, decl.loc).name, decl.loc), tuple(found.values()))


def _sides(node: Node) -> list[Node] | None:
    """The functions that a name, or `?:` of such, is one of; None of all else."""
    node = _inside(node)
    if node.kind == "CONDITIONAL_OPERATOR" and not node.children[0].acts:
        sides = [_sides(side) for side in node.children[1:]]
        return None if None in sides else [f for side in sides if side is not None for f in side]
    while node.kind == "UNARY_OPERATOR" and node.operator == "&":
        node = _inside(node.children[0])
    decl = node.referenced if node.kind == "DECL_REF_EXPR" else None
    return [decl] if decl is not None and decl.kind == "FUNCTION_DECL" else None


def assign(st: State, decl: Node, value: Node) -> None:
    """Emit that a pointer leads to one of its functions from here on."""
    chosen, found = st.functions[decl.identity], named_function(st, value)
    several = chosen.functions if isinstance(chosen, Chosen) else ()
    numbers = {f.identity: i for i, f in enumerate(several)}
    functions = found.functions if isinstance(found, Chosen) else () if found is None else (found,)
    known = [Const(numbers[f.identity]) for f in functions if f.identity in numbers]
    if not isinstance(chosen, Chosen) or not isinstance(chosen.index, Var) or not known or len(known) < len(functions):
        raise unsupported(f"assigning to '{decl.name}', a pointer to a function,", value.loc, "Use 'switch'.")
    number: Expr = known[-1]
    if isinstance(found, Chosen):
        for i, k in reversed([*enumerate(known[:-1])]):
            number = Op("?:", (Op("==", (found.index, Const(i)), value.loc), k, number), value.loc)
    st.emit(Assign(chosen.index.name, number, value.loc))


def _inside(node: Node) -> Node:
    """The node inside of parentheses and of casts without a type in their text."""
    while node.kind in ("PAREN_EXPR", *CASTS) and len(node.children) == 1:
        node = node.children[0]
    return node


def _declared(st: State, decl: Node) -> Node | Chosen | None:
    init = decl.initialiser
    found = None if init is None else named_function(st, init)
    if isinstance(found, Node):
        st.note(f"'{decl.name}' leads to the function that it is declared with")
    return found if isinstance(found, Node) else None


def _table(st: State, node: Node) -> tuple[Node | None, ...]:
    """The functions of a table that is declared with all of them, and that nothing changes; none of another array."""
    node = _inside(node)
    decl = node.referenced if node.kind == "DECL_REF_EXPR" else None
    found = () if decl is None else _listed(st, decl)
    if decl is None or not found or not (decl.type.const or (is_outside(decl) and stays(decl))):
        return ()
    if not decl.type.const:
        st.note(f"'{decl.name}' holds the functions that it is declared with")
    return found


def _listed(st: State, decl: Node) -> tuple[Node | None, ...]:
    """The functions that an array is declared with, all of them, None where it has a null pointer; none if all are."""
    init = decl.initialiser if decl.kind == "VAR_DECL" else None
    if decl.type.kind != "array" or init is None or init.kind != "INIT_LIST_EXPR":
        return ()
    nulls = [null_pointer(part) for part in init.children]
    listed = [None if null else named_function(st, part) for part, null in zip(init.children, nulls, strict=True)]
    found = tuple(f for f, null in zip(listed, nulls, strict=True) if null or isinstance(f, Node))
    whole = len(found) == decl.type.count and len(found) <= MOST and not all(nulls)
    return tuple(f if isinstance(f, Node) else None for f in found) if whole else ()


def _element(st: State, node: Node) -> Node | Chosen | None:
    table, index = node.children
    found = _table(st, table)
    if not found:
        return _filled(st, table, index)
    known = tuple(f for f in found if f is not None)
    at = index.evaluate()
    if isinstance(at, int) and not index.acts:
        if not 0 <= at < len(found):
            raise unsupported(f"the element {at} of a table of {len(found)} functions", node.loc)
        return found[at] or Chosen(Const(-1), known, given=True)
    value = st.saved(convert(st.expr(st, index, "part"), index.type, NUMBER, index.loc), INT)
    return Chosen(st.saved(_numbered(value, found), INT), known, given=len(known) < len(found))


def _numbered(at: Expr, found: tuple[Node | None, ...]) -> Expr:
    """The number of a function among those of a table, -1 of what is null."""
    nulls, last = [i for i, f in enumerate(found) if f is None], max(i for i, f in enumerate(found) if f is not None)
    number = at
    for i in (i for i in nulls if i < last):
        number = Op("-", (number, Op("?:", (Op(">", (at, Const(i))), Const(1), Const(0)))), at.loc)
    for i in nulls:
        number = Op("?:", (Op("==", (at, Const(i)), at.loc), Const(-1), number), at.loc)
    return number


def _filled(st: State, table: Node, index: Node) -> Chosen | None:
    """The functions that an element may lead to of a table that the host fills, and its number, which is read there."""
    table = _inside(table)
    decl = table.referenced if table.kind == "DECL_REF_EXPR" else None
    if decl is None or not is_outside(decl) or decl.type.kind != "array" or _table(st, table):
        return None
    if decl.storage == "EXTERN":  # another file has it, and functions of its own
        return None
    found = _named_somewhere(decl)
    if not found:
        return None
    _note_several(st, decl, found)
    where = st.bindings.get(decl.identity)
    if not isinstance(where, Address):
        where = Address(st.fresh(decl.name), "global")
        st.bindings[decl.identity] = where
    at = convert(st.expr(st, index, "part"), index.type, NUMBER, index.loc)
    return Chosen(st.saved(load(st, where.plus(NUMBER.size, at), NUMBER, index.loc), INT), found, given=True)


def is_one(st: State, node: Node) -> Expr | None:
    """Whether a pointer to a function is not null; None of what is no such pointer, or leads to what is not known."""
    found = named_function(st, node) if function_type(node) else None
    if isinstance(found, Chosen) and found.given:
        return Op("!=", (found.index, Const(-1)), node.loc)
    return None if found is None else TRUE


def _either(st: State, node: Node) -> Node | Chosen | None:
    test, *sides = node.children
    found = [named_function(st, side) for side in sides]
    functions = tuple(f for f in found if isinstance(f, Node))
    if len(functions) != len(sides):
        return None
    c = st.condition(st, test, "part")
    if isinstance(c, Const):
        return functions[0 if c.value else 1]
    return Chosen(st.saved(Op("?:", (c, Const(0), Const(1)), node.loc), INT), functions)


def _returned(st: State, call: Node) -> Node | Chosen | None:
    """The function that a constexpr function of constants returns, where it does no more than choose one."""
    callee = call.referenced.definition if call.referenced is not None else None
    if callee is None or callee.kind != "FUNCTION_DECL" or len(callee.arguments) != len(call.arguments):
        return None
    if "constexpr" not in (text for text, _ in takewhile(lambda token: token[1] < callee.offset, callee.tokens())):
        return None
    known = {p.identity: _value(a, {}) for p, a in zip(callee.arguments, call.arguments, strict=True)}
    found = _run(st, callee.children[-1], known)
    return None if isinstance(found, str) else found


def _run(st: State, node: Node, known: Known) -> Node | Chosen | str | None:
    """The function that a statement returns, "through" or "break" where it returns none, None of what is not known."""
    parts: tuple[Node, ...] = ()
    match node.kind:
        case "NULL_STMT":
            return "through"
        case "BREAK_STMT":
            return "break"
        case "RETURN_STMT" if node.children:
            return _valued(st, node.children[0], known)
        case "COMPOUND_STMT":
            parts = node.children
        case "IF_STMT" if 2 <= len(node.children) <= 3 and (at := _value(node.children[0], known)) is not None:
            check_if(node)
            parts = node.children[1:2] if at else node.children[2:]
        case "SWITCH_STMT" if (at := _value(node.children[0], known)) is not None:
            check_condition(node)
            _, *found = sections(node)
            named = (i for i, s in enumerate(found) if any(low <= at <= high for low, high in s.cases))
            i = next(named, next((i for i, s in enumerate(found) if s.default), len(found)))
            parts = following(found, i)
        case _:
            return None
    for part in parts:
        result = _run(st, part, known)
        if result == "break" and node.kind == "SWITCH_STMT":
            return "through"
        if result != "through":
            return result
    return "through"


def _valued(st: State, node: Node, known: Known) -> Node | Chosen | None:
    node = _inside(node)
    if node.kind != "CONDITIONAL_OPERATOR":
        return named_function(st, node)
    at = _value(node.children[0], known)
    return None if at is None else _valued(st, node.children[1 if at else 2], known)


def _value(node: Node, known: Known) -> int | None:
    """The value of a constant, a parameter, or a comparison of such."""
    while node.kind in ("PAREN_EXPR", *CASTS) and len(node.children) == 1 and node.type.kind in ("int", "bool"):
        if node.type.size < node.children[0].type.size:
            return None
        node = node.children[0]
    decl = node.referenced if node.kind == "DECL_REF_EXPR" else None
    if decl is not None and decl.identity in known:
        return known[decl.identity]
    if node.kind == "BINARY_OPERATOR" and node.operator in COMPARISONS:
        a, b = (_value(side, known) for side in node.children)
        return None if a is None or b is None else int(denote(node.operator, (a, b)))
    found = None if node.acts else node.evaluate()
    return found if isinstance(found, int) else None


def pointed(st: State, node: Node) -> Node | Chosen | None:
    """The function that a call by a pointer is of; None for other calls."""
    if not node.children:
        return None
    inner = node.children[0]
    while inner.kind in ("PAREN_EXPR", *CASTS, "UNARY_OPERATOR") and len(inner.children) == 1:
        inner = inner.children[0]
    named = node.referenced is not None and node.referenced.kind not in _NAMES
    if named and not (inner.kind == "CALL_EXPR" and function_type(inner)):
        return None
    return named_function(st, node.children[0])


_NAMES: Final = ("PARM_DECL", "VAR_DECL")
