"""C expressions to miniCUDA expressions.

What a construct costs follows from the expression it becomes (M.op an operator, M.gread an array read, ...):

- constant expressions of integer type (macros, enumerations, sizeof, template arguments) are one literal;
- `c ? a : b`, `&&`, `||` are operators that evaluate everything while their right sides read no array and change
  nothing, else they become an `if` around the assignment of a temporary variable (M.if, M.vwrite, perhaps M.div);
- an assignment, `x++` or what a call changes inside an expression is done in a statement before it. C leaves the order
  of such an effect and other uses of x open except over `&&`, `||`, `?:`, the comma and calls, which are handled; from
  C++17 on the right side of an assignment comes before the left one, and the left side of a shift before the right one;
- conversions that C makes silently are operators, except those of literals; one to an integer type of 32 bits or more
  is none where it changes no value;
- what is unsigned is modulo 2^bits (M.op, M.const), where that is not known to make no difference
  (`semantics.cuda.ranges`), and so is what is read from an array of an unsigned type of 8 or 16 bits, which bounds it;
- the index of `A[e] += v` is evaluated once, into a variable, where it reads an array.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from logic.operators import COMPARISONS
from logic.source import Loc
from logic.syntax import (
    BOOL,
    DOUBLE,
    INT,
    Assign,
    Const,
    Expr,
    If,
    Op,
    Param,
    Skip,
    Stmt,
    Type,
    Var,
    local_vars,
    reads_array,
    seq,
    written,
)
from logic.typing import type_of
from semantics.cuda.clang import Node
from semantics.cuda.compared import compared, not_null
from semantics.cuda.convert import common, convert, literal, narrowed_to, rounded, zero
from semantics.cuda.ctype import CType, same, scalar
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.implied import both, hidden, implied, limited
from semantics.cuda.modular import operation
from semantics.cuda.order import check_order, right_first
from semantics.cuda.places import builtin_index, dropped, evaluated, load, store
from semantics.cuda.pointers import (
    STEPS,
    address,
    assigned,
    indices,
    located,
    place,
    stepped,
    updated,
)
from semantics.cuda.quotients import quotient
from semantics.cuda.regions import number
from semantics.cuda.sequence import Unordered, chosen, then, within
from semantics.cuda.shapes import (
    CASTS,
    LITERALS,
    bare,
    check_bits,
    described,
    gives_reference,
    integer,
    operand,
    to_a_value,
    to_reference,
)
from semantics.cuda.shim import in_shim, is_index
from semantics.cuda.state import Address, Bits, Local, Place, State, Use, is_plain

# --- values ----------------------------------------------------------------------------------------------------------


def expr(st: State, node: Node, use: Use = "part") -> Expr:
    """The value of a scalar expression; effects inside it are emitted first."""
    while node.kind == "PAREN_EXPR" and node.children:
        node = node.children[-1]
    if node.kind in CASTS:
        return _cast(st, node, use)
    seen = operand(node) if node.kind == "CXX_REINTERPRET_CAST_EXPR" else None
    if seen is not None and seen.type.kind in ("pointer", "array") and not to_reference(node):
        return _of_pointer(st, seen, node, use)
    if seen is not None and same(seen.type, node.type) and seen.type.volatile == node.type.volatile:
        return expr(st, seen, use)
    if to_reference(node) and node.type.kind != "record":
        return load(st, place(st, node, use), node.type, node.loc)
    if node.kind == "CALL_EXPR":
        value = st.call(st, node, use)
        if value is None:
            raise CudaError(f"'{node.name}' returns no value", node.loc)
        if isinstance(value, Place) and gives_reference(node):
            value = load(st, value, node.type, node.loc)
        if not isinstance(value, Expr):
            raise unsupported("a structure as a number", node.loc)
        if type_of(value, st.sigma) != scalar(node.type):
            raise unsupported(f"this call of '{node.name}'", node.loc)
        return value
    lower = _VALUES.get(node.kind)
    if lower is None:
        raise unsupported(described(node), node.loc)
    return lower(st, node, use)


def folded(node: Node, e: Expr) -> Expr:
    """e, or its value where it has nothing but literals in it and clang knows their value."""
    if not isinstance(e, Op) or not all(isinstance(a, Const) for a in e.args):
        return e
    if scalar(node.type) not in (INT, BOOL):
        match e:
            case Op("neg", (Const(str(text), t),)) if not text.startswith("-"):
                return Const(f"-{text}", t, e.loc)
        return e
    check_bits(node)
    value = node.evaluate()
    return literal(value, scalar(node.type) or INT, node.loc) if isinstance(value, int) else e


def _floating(st: State, node: Node, _: Use) -> Expr:
    t = scalar(node.type)
    if t is None:
        raise unsupported(described(node), node.loc)
    text = next(node.tokens(), ("", 0))[0]
    if not text[:1].isdigit() and not text.startswith("."):
        text = f"{node.evaluate()}{'f' if t.name == 'float' else ''}"
    return Const(text.replace("'", ""), t, node.loc)


def _of_pointer(st: State, pointer: Node, node: Node, use: Use) -> Expr:
    """The number of bytes that a pointer to global memory is, as the value of a cast of it."""
    if node.type.kind != "int" or node.type.size != _POINTER.size:
        raise unsupported("a pointer as a number", node.loc, "Use the index of what it points to.")
    return convert(number(st, address(st, pointer, use), 1, node.loc), _POINTER, node.type, node.loc)


_POINTER: Final = CType("int", "long", 8)


def _cast(st: State, node: Node, use: Use) -> Expr:
    inner = operand(node)
    if inner is None:
        type_ = scalar(node.type)
        if type_ is not None and [text for text, _ in node.tokens()][-2:] == ["(", ")"] and not node.children:
            return zero(type_, node.loc)  # T()
        return integer(node)
    if inner.type.kind in ("pointer", "array"):
        return not_null(st, inner, use) if scalar(node.type) == BOOL else _of_pointer(st, inner, node, use)
    alike = same(inner.type, node.type) and inner.type.volatile == node.type.volatile
    if node.kind != "UNEXPOSED_EXPR" and not alike and not to_a_value(node):
        raise unsupported("a cast to a reference", node.loc, "Cast to the type itself, or write *(T *)&x.")
    value = expr(st, inner, use)
    whole = quotient(inner, value) if scalar(node.type) == INT and scalar(inner.type) == DOUBLE else None
    converted = whole or convert(value, inner.type, node.type, node.loc)
    wide = node.type.kind == "int" and node.type.signed and node.type.size >= INT.size  # else it may be cut off
    if whole is None and inner.type.kind == "base" and wide:
        converted = limited(st, converted, value)
    if isinstance(value, Const) and scalar(node.type) in (INT, BOOL):
        if scalar(inner.type) != INT or (not node.type.signed and int(value.value) < 0):
            check_bits(node)
        known = node.evaluate()
        return literal(known, scalar(node.type) or INT, node.loc) if isinstance(known, int) else converted
    return converted


def _braced(st: State, node: Node, use: Use) -> Expr:
    """The value of a number in braces: of the only part, or zero."""
    type_ = scalar(node.type)
    if type_ is None or len(node.children) > 1:
        raise unsupported(described(node), node.loc)
    for inner in node.children:
        return convert(expr(st, inner, use), inner.type, node.type, node.loc)
    if [text for text, _ in node.tokens()] != ["{", "}"]:
        raise unsupported(described(node), node.loc, "Write the number.")
    return zero(type_, node.loc)


def condition(st: State, node: Node, use: Use = "part") -> Expr:
    """The value of an expression as a bool."""
    return convert(expr(st, node, use), node.type, CType("bool", "bool", 1), node.loc)


def _name(st: State, node: Node, _: Use) -> Expr:
    decl = node.referenced
    if decl is None or decl.kind in ("ENUM_CONSTANT_DECL", "TEMPLATE_NON_TYPE_PARAMETER"):
        return integer(node)
    if decl.name == "warpSize" and in_shim(decl):
        return Param("warpSize", node.loc)
    if (value := constant_of(st, node)) is not None:
        t = scalar(decl.type)
        if isinstance(value, int) and t is not None and t.kind != "base":
            return literal(value, t, node.loc)
        if t is not None and t.kind == "base":
            return _real(float(value), t, node.loc)
    return load(st, place(st, node), node.type, node.loc)


def constant_of(st: State, node: Node) -> int | float | None:
    """The value that stands for the name of a constant that is no variable of miniCUDA; None of other names."""
    decl = node.referenced
    if decl is None or decl.identity in st.bindings or not (decl.type.const or not node.name):
        return None
    value = node.evaluate()
    return value if isinstance(value, int | float) else None


def _real(value: float, t: Type, loc: Loc | None) -> Expr:
    """The literal of a floating number; quotients by zero for infinity and for what is not a number."""
    end = "f" if t.name == "float" else ""
    if math.isfinite(value):
        return Const(f"{value}{end}", t, loc)
    over = 0.0 if math.isnan(value) else math.copysign(1.0, value)
    return Op("/", (Const(f"{over}{end}", t, loc), Const(f"0.0{end}", t, loc)), loc)


def _load(st: State, node: Node, use: Use) -> Expr:
    """The value of `A[i]`, `*p`, `s.x`."""
    decl = node.referenced if node.kind == "MEMBER_REF_EXPR" and not node.acts else None
    if decl is not None and decl.kind in ("VAR_DECL", "ENUM_CONSTANT_DECL"):  # of the type, not of the object
        return _name(st, node, use)
    if node.kind == "MEMBER_REF_EXPR" and node.children:
        inner = bare(node.children[0])
        if inner.kind == "DECL_REF_EXPR" and is_index(inner):
            return builtin_index(inner.name, node.name, node.loc)
    return load(st, place(st, node, use), node.type, node.loc)


def _binary(st: State, node: Node, use: Use) -> Expr:
    left, right = node.children
    match node.operator:
        case "&&" | "||" as op:
            return _connective(st, op, left, right, node.loc, within(use))
        case ",":
            discard(st, left, use if use == "part" else "statement")
            return expr(st, right, within(use))
        case "=":
            return assign(st, node, within(use))
        case op:
            pass
    shift = st.ordered and op in ("<<", ">>")
    if not shift:
        check_order(st, node.loc, (left, right))
    if left.type.kind in ("pointer", "array") or right.type.kind in ("pointer", "array"):
        return compared(st, op, left, right, node.loc, use)
    if shift:
        a, b = then(st, expr(st, left, within(use)), lambda: expr(st, right, within(use)))
    else:
        parts = Unordered(st)
        a, b = parts.part(expr(st, left, within(use))), parts.part(expr(st, right, within(use)))
        parts.check(node.loc)
    if op not in _ARITHMETIC:
        raise unsupported(f"the operator '{op}'", node.loc)
    return rounded(operation(folded(node, Op(op, (a, b), node.loc)), node.type), node.type, node.loc)


_ARITHMETIC: Final = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", *COMPARISONS)


def _connective(st: State, op: str, left: Node, right: Node, loc: Loc | None, use: Use) -> Expr:
    a = condition(st, left, use)
    if isinstance(a, Const):
        return condition(st, right, use) if bool(a.value) == (op == "&&") else a
    with st.captured() as effects:
        b = condition(st, right, use)
    return connected(st, op, a, b, effects, loc)


def connected(st: State, op: str, a: Expr, b: Expr, effects: list[Stmt], loc: Loc | None) -> Expr:
    """a && b or a || b, where `effects` come before b and only if b is evaluated."""
    if not effects and isinstance(b, Const):
        if bool(b.value) == (op == "&&"):
            return a
        dropped(st, a)
        return b
    if not effects and not reads_array(b):
        return Op(op, (a, b), loc)
    t = st.declare("t", BOOL, loc, settled=True)
    again = seq(*effects, Assign(t.name, b, loc))
    test = Var(t.name, loc) if op == "&&" else Op("!", (Var(t.name, loc),), loc)
    st.emit(Assign(t.name, a, loc), If(test, again, Skip(), loc))
    if op == "&&":
        sides = (implied(st, a) or a, implied(st, b) if isinstance(b, Var) or hidden(st, b) else None)
        first, second = (k if k and not hidden(st, k) and not local_vars(k) & written(again) else None for k in sides)
        if known := both(first, second):
            st.implied[t.name] = known
    return Var(t.name, loc)


def _conditional(st: State, node: Node, use: Use, target: Local | None = None) -> Expr:
    """c ? a : b; with a target, its value may already be there (the value is then the target itself)."""
    test, left, right = node.children
    t = scalar(node.type)
    if t is None:
        raise unsupported(f"'?:' on values of type '{node.type.name}'", node.loc, "Use if and else.")
    use = within(use)
    c = condition(st, test, use)
    if isinstance(c, Const):
        return expr(st, left if c.value else right, use)
    with st.captured() as before_a:
        a = expr(st, left, use)
    with st.captured() as before_b:
        b = expr(st, right, use)
    return chosen(st, c, (a, b), (before_a, before_b), t, node.loc, target)


def _unary(st: State, node: Node, use: Use) -> Expr:
    (inner,), use = node.children, within(use)
    match node.operator:
        case "x++" | "++x" | "x--" | "--x":
            return step(st, node, use)
        case "*":
            return _load(st, node, use)
        case "+":
            return expr(st, inner, use)
        case "-":
            return operation(folded(node, Op("neg", (expr(st, inner, use),), node.loc)), node.type)
        case "~":
            t = node.type
            if t.kind == "int" and not t.signed:
                return operation(
                    folded(node, Op("-", (Const((1 << 8 * t.size) - 1), expr(st, inner, use)), node.loc)), t
                )
            return folded(node, Op("~", (expr(st, inner, use),), node.loc))
        case "!":
            e = condition(st, inner, use)
            untested = operand(inner) if inner.kind == "UNEXPOSED_EXPR" else None
            if untested is not None and scalar(untested.type) == INT:
                match e:
                    case Op("!=", (x, Const(0))):
                        return Op("==", (x, Const(0)), node.loc)
            return folded(node, Op("!", (e,), node.loc))
        case "&":
            raise unsupported("the address of a value as a number", node.loc)
    raise unsupported("this operator", node.loc)


# --- effects ---------------------------------------------------------------------------------------------------------


def discard(st: State, node: Node, use: Use = "statement") -> None:
    """Emit the effects of an expression whose value nobody uses. Without effects it is nothing at all."""
    converted = False
    while node.kind in ("PAREN_EXPR", *CASTS):
        inner = operand(node)
        if inner is None:
            return
        converted |= node.kind != "PAREN_EXPR" and node.type.kind != "void"
        node = inner
    match node.kind:
        case "CXX_NEW_EXPR" | "CXX_DELETE_EXPR":
            st.call(st, node, use)
        case "CALL_EXPR":
            value = st.call(st, node, use)
            if isinstance(value, Expr):
                dropped(st, value)
        case "BINARY_OPERATOR" if node.operator == "=":
            assign(st, node, use)
        case "BINARY_OPERATOR" if node.operator == ",":
            for part in node.children:
                discard(st, part, use)
        case "COMPOUND_ASSIGNMENT_OPERATOR":
            update(st, node, use)
        case "UNARY_OPERATOR" if node.operator in STEPS:
            step(st, node, use)
        case "CONDITIONAL_OPERATOR":
            _choice(st, node, use)
        case _ if node.type.kind in ("pointer", "array"):
            dropped(st, *(e for _, e in address(st, node, within(use)).terms))
        case _ if node.type.kind == "record" or (not converted and _is_element(node) and not node.type.volatile):
            found = place(st, node, within(use))
            dropped(st, *(e for _, e in found.terms) if isinstance(found, Address) else ())
        case _:
            dropped(st, expr(st, node, within(use)))


def _is_element(node: Node) -> bool:
    """Whether this is an element of an array, which C++ does not read where its value is discarded."""
    return node.kind == "ARRAY_SUBSCRIPT_EXPR" or (node.kind == "UNARY_OPERATOR" and node.operator == "*")


def _choice(st: State, node: Node, use: Use) -> None:
    test, left, right = node.children
    c = condition(st, test, within(use))
    then = st.block(lambda: discard(st, left, use))
    orelse = st.block(lambda: discard(st, right, use))
    if then != Skip() or orelse != Skip():
        st.emit(If(c, then, orelse, node.loc))
    else:
        dropped(st, c)


def _result(st: State, p: Place, value: Expr, t: CType, loc: Loc | None) -> Expr:
    """Emit p <- value and give the value of the assignment, which is read back from an array only if it is volatile."""
    if t.volatile and isinstance(p, Address):
        p = evaluated(st, p)
        store(st, p, value, t, loc)
        return load(st, p, t, loc)
    if isinstance(p, Bits):
        value = value if t.kind == "bool" else narrowed_to(value, p.width, t.signed)
    if not isinstance(p, Local) and not is_plain(value):
        value = st.saved(value, scalar(t) or INT)
    store(st, p, value, t, loc)
    return Var(p.name, loc) if isinstance(p, Local) else value


def assign(st: State, node: Node, use: Use) -> Expr:
    """Emit `a = b`; its value is meaningful, of a scalar, where it is part of an expression."""
    left, right = node.children
    t, inner = left.type, within(use)
    if t.kind == "pointer":
        assigned(st, node, "whole" if use == "statement" else inner)
        return Const(0)
    if right_first(st, node, left, right):
        value = expr(st, right, "whole" if use == "statement" else inner)
        value, target = then(st, value, lambda: place(st, left, inner))
        return _stored(st, target, value, node, use)
    parts = Unordered(st)
    target, known = located(st, left, inner)
    parts.part(target)
    if use == "statement" and isinstance(target, Local):
        into(st, target, right, node.loc)
        return Const(0)
    with st.captured() as effects:
        value = expr(st, right, "whole" if known and use == "statement" else inner)
    if any(local_vars(e) & written(seq(*effects)) for e in indices(target)):
        raise CudaError("C leaves open whether the index or the value comes first", node.loc, "Use two statements.")
    st.emit(*effects)
    parts.part(value)
    parts.check(node.loc)
    return _stored(st, target, value, node, use)


def _stored(st: State, target: Place, value: Expr, node: Node, use: Use) -> Expr:
    """Emit the assignment that a node is; its value, where it is used."""
    t = node.children[0].type
    if use != "statement":
        return _result(st, target, value, t, node.loc)
    store(st, target, value, t, node.loc)
    return Const(0)


def into(st: State, target: Local, node: Node, loc: Loc | None) -> None:
    """Emit `x = e`; a conditional becomes an `if` that assigns x itself, where it has to become one."""
    inner = bare(node)
    if inner.kind == "CONDITIONAL_OPERATOR":
        value = _conditional(st, inner, "whole", target)
        if value == Var(target.name) and isinstance(st.out[-1] if st.out else None, If):
            return
    else:
        value = expr(st, node, "whole")
    st.emit(Assign(target.name, value, loc))


def update(st: State, node: Node, use: Use) -> Expr:
    """Emit `a += b` and its like: a is read, computed with in C's type for the operation, and written."""
    left, right = node.children
    op, t, inner = node.operator.removesuffix("="), left.type, within(use)
    if t.kind == "pointer":
        updated(st, node, inner)
        return Const(0)
    if right_first(st, node, left, right):
        b, target = then(st, expr(st, right, inner), lambda: evaluated(st, place(st, left, inner)))
        a = load(st, target, t, left.loc)
    else:
        parts = Unordered(st)
        target = parts.part(evaluated(st, place(st, left, inner)))
        b = parts.part(expr(st, right, inner))
        a = parts.part(load(st, target, t, left.loc))
        parts.check(node.loc)
    working = t if op in ("<<", ">>") else common(t, right.type)
    if working.kind == "int" and working.size < 4:
        working = CType("int", "int", 4)
    value: Expr = Op(op, (convert(a, t, working, left.loc), _operand(b, right, working, op)), node.loc)
    return _stored(st, target, convert(operation(value, working), working, t, node.loc), node, use)


def _operand(b: Expr, right: Node, working: CType, op: str) -> Expr:
    return b if op in ("<<", ">>") else convert(b, right.type, working, right.loc)


def step(st: State, node: Node, use: Use) -> Expr:
    """Emit `x++` and its like; the value is the old one for the postfix operators."""
    (inner,) = node.children
    op, t = STEPS[node.operator], inner.type
    if t.kind == "pointer":
        stepped(st, node, use)
        return Const(0)
    type_ = scalar(t)
    if type_ is None:
        raise unsupported(f"'{node.operator.strip('x')}' on a value of type '{t.name}'", node.loc)
    target = evaluated(st, place(st, inner, within(use)))
    old, wanted = load(st, target, t, inner.loc), use != "statement"
    if wanted and node.operator.startswith("x"):
        old = st.saved(old, type_)
    if type_ == BOOL:
        raise unsupported("counting with a bool", node.loc)
    working = CType("int", "int", 4) if t.kind == "int" and t.size < 4 else common(t, t) if t.kind == "base" else t
    made = Op(op, (old, literal(1, type_, node.loc)), node.loc)
    value = convert(operation(made, working), working, t, node.loc)
    if wanted and not node.operator.startswith("x"):
        return _result(st, target, value, t, node.loc)
    store(st, target, value, t, node.loc)
    return old


_VALUES: Final[dict[str, Callable[[State, Node, Use], Expr]]] = {
    **dict.fromkeys(LITERALS, lambda _, node, __: integer(node)),
    "FLOATING_LITERAL": _floating,
    "DECL_REF_EXPR": _name,
    "MEMBER_REF_EXPR": _load,
    "ARRAY_SUBSCRIPT_EXPR": _load,
    "BINARY_OPERATOR": _binary,
    "COMPOUND_ASSIGNMENT_OPERATOR": update,
    "UNARY_OPERATOR": _unary,
    "CONDITIONAL_OPERATOR": _conditional,
    "INIT_LIST_EXPR": _braced,
}
