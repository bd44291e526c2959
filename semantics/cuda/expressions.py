"""C expressions to miniCUDA expressions.

What a construct costs follows from the expression it becomes (M.op an operator, M.gread an array read, ...):

- constant expressions of integer type (macros, enumerations, sizeof, template arguments) are one literal;
- `c ? a : b`, `&&`, `||` are operators that evaluate everything while their right sides read no array and change
  nothing, else they become an `if` around the assignment of a temporary variable (M.if, M.vwrite, perhaps M.div);
- an assignment or `x++` inside an expression is done in a statement before it. C leaves the order of such an effect and
  other uses of x open (undefined behaviour) except over `&&`, `||`, `?:`, the comma and calls, which are handled;
- conversions that C makes silently are operators, except those of literals; one to an integer type of 32 bits or more
  is none where it changes no value;
- what is unsigned is modulo 2^bits (M.op, M.const), where that is not known to make no difference
  (`semantics.cuda.ranges`), and so is what is read from an array of an unsigned type of 8 or 16 bits, which bounds it;
- the index of `A[e] += v` is evaluated once, into a variable, where it reads an array.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from logic.operators import COMPARISONS
from logic.source import Loc
from logic.syntax import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Assign,
    Const,
    Expr,
    If,
    Op,
    Param,
    Skip,
    Stmt,
    Var,
    local_vars,
    reads_array,
    seq,
    written,
)
from logic.typing import type_of
from semantics.cuda.clang import Node
from semantics.cuda.classes import derives
from semantics.cuda.convert import common, convert, literal
from semantics.cuda.ctype import CType, compatible, innermost, same, scalar
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.modular import operation
from semantics.cuda.order import check_assignment, check_order
from semantics.cuda.places import (
    builtin_index,
    depending,
    dropped,
    evaluated,
    load,
    member,
    outside,
    steps,
    store,
)
from semantics.cuda.scan import is_this, owner
from semantics.cuda.shapes import CASTS, LITERALS, bare, check_bits, described, integer, operand, to_a_value
from semantics.cuda.shim import in_shim, is_index
from semantics.cuda.state import Address, Local, Moving, Parts, Place, Spill, State, Use, is_plain, pointee_size

_STEPS: Final = {"x++": "+", "++x": "+", "x--": "-", "--x": "-"}


# --- values ----------------------------------------------------------------------------------------------------------


def expr(st: State, node: Node, use: Use = "part") -> Expr:
    """The value of a scalar expression; effects inside it are emitted first."""
    while node.kind == "PAREN_EXPR" and node.children:
        node = node.children[-1]
    if node.kind in CASTS:
        return _cast(st, node, use)
    if node.kind == "CALL_EXPR":
        value = st.call(st, node, use)
        if value is None:
            raise CudaError(f"'{node.name}' returns no value", node.loc)
        if not isinstance(value, Expr):
            raise unsupported("a structure as a number", node.loc)
        if type_of(value, st.sigma) != scalar(node.type):
            raise unsupported(f"this call of '{node.name}'", node.loc)
        return value
    lower = _VALUES.get(node.kind)
    if lower is None:
        raise unsupported(described(node), node.loc)
    return lower(st, node)


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


def _floating(st: State, node: Node) -> Expr:
    t = scalar(node.type)
    if t is None:
        raise unsupported(described(node), node.loc)
    text = next(iter(node.tokens()), ("", 0))[0]
    if not text[:1].isdigit() and not text.startswith("."):
        text = f"{node.evaluate()}{'f' if t.name == 'float' else ''}"
    return Const(text.replace("'", ""), t, node.loc)


def _cast(st: State, node: Node, use: Use) -> Expr:
    inner = operand(node)
    if inner is None:
        return integer(node)
    if inner.type.kind in ("pointer", "array"):
        if scalar(node.type) == BOOL:
            return _not_null(st, inner)
        raise unsupported("a pointer as a number", node.loc, "Use the index of what it points to.")
    alike = same(inner.type, node.type) and inner.type.volatile == node.type.volatile
    if node.kind != "UNEXPOSED_EXPR" and not alike and not to_a_value(node):
        raise unsupported("a cast to a reference", node.loc, "Cast to the type itself, or write *(T *)&x.")
    value = expr(st, inner, use)
    converted = convert(value, inner.type, node.type, node.loc)
    if isinstance(value, Const) and scalar(node.type) in (INT, BOOL):
        if scalar(inner.type) != INT or (not node.type.signed and int(value.value) < 0):
            check_bits(node)
        known = node.evaluate()
        return literal(known, scalar(node.type) or INT, node.loc) if isinstance(known, int) else converted
    return converted


def condition(st: State, node: Node, use: Use = "part") -> Expr:
    """The value of an expression as a bool."""
    return convert(expr(st, node, use), node.type, CType("bool", "bool", 1), node.loc)


def _name(st: State, node: Node) -> Expr:
    decl = node.referenced
    if decl is None or decl.kind in ("ENUM_CONSTANT_DECL", "TEMPLATE_NON_TYPE_PARAMETER"):
        return integer(node)
    if decl.name == "warpSize" and in_shim(decl):
        return Param("warpSize", node.loc)
    if decl.identity not in st.bindings and (decl.type.const or not node.name):
        value = node.evaluate()
        t = scalar(decl.type)
        if isinstance(value, int) and t is not None and t.kind != "base":
            return literal(value, t, node.loc)
        if isinstance(value, int | float) and t is not None and t.kind == "base":
            return Const(f"{float(value)}{'f' if t.name == 'float' else ''}", t, node.loc)
    return load(st, place(st, node), node.type, node.loc)


def _load(st: State, node: Node) -> Expr:
    """The value of `A[i]`, `*p`, `s.x`."""
    if node.kind == "MEMBER_REF_EXPR" and node.children:
        inner = bare(node.children[0])
        if inner.kind == "DECL_REF_EXPR" and is_index(inner):
            return builtin_index(inner.name, node.name, node.loc)
    return load(st, place(st, node), node.type, node.loc)


def _binary(st: State, node: Node) -> Expr:
    left, right = node.children
    match node.operator:
        case "&&" | "||" as op:
            return _connective(st, op, left, right, node.loc)
        case ",":
            discard(st, left)
            return expr(st, right)
        case "=":
            return assign(st, node, wanted=True)
        case op:
            pass
    check_order(st, node.loc, (left, right))
    if left.type.kind in ("pointer", "array") or right.type.kind in ("pointer", "array"):
        return _pointers(st, op, left, right, node.loc)
    a, b = expr(st, left), expr(st, right)
    if op not in _ARITHMETIC:
        raise unsupported(f"the operator '{op}'", node.loc)
    return operation(folded(node, Op(op, (a, b), node.loc)), node.type)


_ARITHMETIC: Final = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", *COMPARISONS)


def _pointers(st: State, op: str, left: Node, right: Node, loc: Loc | None) -> Expr:
    """The difference or comparison of two pointers into one array: that of their indices. Or whether one is null."""
    pointers = [n for n in (left, right) if not _null(n)]
    if op in ("==", "!=") and len(pointers) == 1 and pointers[0].type.kind in ("pointer", "array"):
        given = _not_null(st, pointers[0])
        return given if op == "!=" else folded(left, Op("!", (given,), loc)) if isinstance(given, Op) else FALSE
    if op not in ("-", *COMPARISONS) or not all(n.type.kind in ("pointer", "array") for n in (left, right)):
        raise unsupported(f"the operator '{op}' on pointers", loc)
    a, b = address(st, left), address(st, right)
    if (a.root, a.path) != (b.root, b.path):
        raise unsupported("comparing pointers into different arrays", loc)
    size = pointee_size(left.type)
    return Op(op, (steps(a, size, loc), steps(b, size, loc)), loc)


def _innermost(node: Node) -> Node:
    """The expression inside of parentheses and conversions of all kinds."""
    while node.kind in ("PAREN_EXPR", *CASTS) and (inner := operand(node)) is not None:
        node = inner
    return node


def _null(node: Node) -> bool:
    """Whether an expression is 0, NULL or nullptr."""
    inner = _innermost(node)
    zero = inner.kind == "INTEGER_LITERAL" and inner.evaluate() == 0
    return zero or inner.kind in ("CXX_NULL_PTR_LITERAL_EXPR", "GNU_NULL_EXPR")


def _not_null(st: State, node: Node) -> Expr:
    """Whether a pointer is one: what the kernel is passed may be null, the same for all threads; all else is not."""
    found = address(st, node)
    dropped(st, *(e for _, e in found.terms))
    if found.space != "global" or _innermost(node).type.kind == "array":
        return TRUE
    st.note(f"'{found.root}{found.path}' may be null; in runs it is not")
    number = Const(st.numbered(f"{found.root}{found.path}"))
    return depending("given", [number], BOOL, node.loc)


def _connective(st: State, op: str, left: Node, right: Node, loc: Loc | None) -> Expr:
    a = condition(st, left)
    if isinstance(a, Const):
        return condition(st, right) if bool(a.value) == (op == "&&") else a
    with st.captured() as effects:
        b = condition(st, right)
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
    first = st.implied.get(a.name, a) if isinstance(a, Var) else a
    if op == "&&" and not reads_array(first) and not local_vars(first) & written(again):
        st.implied[t.name] = first
    return Var(t.name, loc)


def _conditional(st: State, node: Node, target: Local | None = None) -> Expr:
    """c ? a : b; with a target, its value may already be there (the value is then the target itself)."""
    test, left, right = node.children
    t = scalar(node.type)
    if t is None:
        raise unsupported(f"'?:' on values of type '{node.type.name}'", node.loc, "Use if and else.")
    c = condition(st, test)
    if isinstance(c, Const):
        return expr(st, left if c.value else right)
    with st.captured() as before_a:
        a = expr(st, left)
    with st.captured() as before_b:
        b = expr(st, right)
    if not (before_a or before_b or reads_array(a) or reads_array(b)):
        return Op("?:", (c, a, b), node.loc)
    x = (target or st.declare("t", t, node.loc, settled=True)).name
    then = seq(*before_a, Assign(x, a, a.loc))
    st.emit(If(c, then, seq(*before_b, Assign(x, b, b.loc)), node.loc))
    return Var(x, node.loc)


def _unary(st: State, node: Node) -> Expr:
    (inner,) = node.children
    match node.operator:
        case "x++" | "++x" | "x--" | "--x":
            return step(st, node, wanted=True)
        case "*":
            return _load(st, node)
        case "+":
            return expr(st, inner)
        case "-":
            return operation(folded(node, Op("neg", (expr(st, inner),), node.loc)), node.type)
        case "~":
            t = node.type
            if t.kind == "int" and not t.signed:
                return operation(folded(node, Op("-", (Const((1 << 8 * t.size) - 1), expr(st, inner)), node.loc)), t)
            return folded(node, Op("~", (expr(st, inner),), node.loc))
        case "!":
            e = condition(st, inner)
            untested = operand(inner) if inner.kind == "UNEXPOSED_EXPR" else None
            if untested is not None and scalar(untested.type) == INT:
                match e:
                    case Op("!=", (x, Const(0))):
                        return Op("==", (x, Const(0)), node.loc)
            return folded(node, Op("!", (e,), node.loc))
        case "&":
            raise unsupported("the address of a value as a number", node.loc)
    raise unsupported("this operator", node.loc)


# --- places and pointers ---------------------------------------------------------------------------------------------


def place(st: State, node: Node) -> Place:
    """The place that an lvalue names."""
    match node.kind:
        case "PAREN_EXPR":
            return place(st, node.children[-1])
        case "DECL_REF_EXPR":
            return _named(st, node)
        case "ARRAY_SUBSCRIPT_EXPR":
            base, offset = node.children
            check_order(st, node.loc, (base, offset))
            if offset.type.kind in ("pointer", "array"):
                base, offset = offset, base
            return address(st, base).plus(node.type.size, _number(st, offset))
        case "UNARY_OPERATOR" if node.operator == "*":
            (inner,) = node.children
            if is_this(inner) and st.frame.this is not None:
                return st.frame.this.place
            return address(st, inner).plus(node.type.size, Const(0, loc=node.loc))
        case "UNARY_OPERATOR" if node.operator in ("++x", "--x"):
            step(st, node, wanted=False)
            return place(st, node.children[0])
        case "MEMBER_REF_EXPR":
            return _member(st, node)
        case "CALL_EXPR" if node.type.kind == "record":
            made = st.call(st, node, "part")
            if isinstance(made, Place):
                return made
        case kind if kind in CASTS:
            inner_ = operand(node)
            if inner_ is not None and inner_.type.const and not node.type.const and node.kind != "UNEXPOSED_EXPR":
                raise unsupported("a cast that takes 'const' away", node.loc, "Leave out the 'const' where it begins.")
            if inner_ is not None and same(inner_.type, node.type):
                return place(st, inner_)
    raise unsupported(f"{described(node)} as a place in memory", node.loc)


def located(st: State, node: Node) -> tuple[Place, bool]:
    """The place that an lvalue names, and whether it is the same one whatever a call does before it is looked for."""
    with st.captured() as before:
        found = place(st, node)
    st.emit(*before)
    return found, not before and not any(map(reads_array, _indices(found)))


def _indices(p: Place) -> list[Expr]:
    return [e for _, e in p.terms] if isinstance(p, Address) else []


def _number(st: State, node: Node) -> Expr:
    """The value of an index."""
    return convert(expr(st, node), node.type, CType("int", "long", 8), node.loc)


def _member(st: State, node: Node) -> Place:
    inner, decl = owner(node), node.referenced
    if decl is None or decl.kind not in ("FIELD_DECL", "INDIRECT_FIELD_DECL"):
        raise unsupported(f"the member '{node.name}'", node.loc)
    if decl.is_mutable:  # what is constant changes, and nobody counts that
        raise unsupported(f"the mutable member '{node.name}'", node.loc, "Leave out 'mutable'.")
    if inner is None or is_this(inner):
        this = st.frame.this
        if this is None or decl.parent is None or decl.parent.identity != this.type:
            raise unsupported(f"the member '{node.name}' of this object", node.loc)
        return member(st, this.place, node, decl)
    if inner.type.kind == "pointer":
        whole = address(st, inner).plus(pointee_size(inner.type), Const(0, loc=node.loc))
        return member(st, whole, node, decl)
    return member(st, place(st, inner), node, decl)


def _named(st: State, node: Node) -> Place:
    decl = node.referenced
    if decl is None:
        raise unsupported(f"'{node.name}'", node.loc)
    if is_index(node):
        axes = [(a, st.declare(f"{decl.name}_{a}", INT, node.loc, settled=True)) for a in ("x", "y", "z")]
        st.emit(*(Assign(v.name, builtin_index(decl.name, a, node.loc), node.loc) for a, v in axes))
        return Parts(decl.name, tuple(axes))
    bound = binding(st, decl, node.loc)
    if isinstance(bound, Moving):
        raise unsupported(f"the pointer '{decl.name}' as a value", node.loc)
    return bound


def binding(st: State, decl: Node, loc: Loc | None) -> Place | Moving:
    """The meaning of a declaration in miniCUDA."""
    if decl.identity not in st.bindings:
        if decl.kind != "VAR_DECL":
            raise unsupported(f"'{decl.name}', of type '{decl.type.name}',", loc)
        st.bindings[decl.identity] = outside(st, decl, loc)
    return st.bindings[decl.identity]


def address(st: State, node: Node, use: Use = "part") -> Address:
    """The value of a pointer, or where an array begins."""
    match node.kind:
        case "PAREN_EXPR":
            return address(st, node.children[-1], use)
        case "CALL_EXPR" if node.type.kind == "pointer":
            given = st.call(st, node, use)
            if isinstance(given, Address):
                return given
        case "DECL_REF_EXPR":
            return _pointer(st, node)
        case "BINARY_OPERATOR" if node.operator in ("+", "-"):
            return _moved(st, node)
        case "BINARY_OPERATOR" if node.operator == "=":
            assign(st, node, wanted=False)
            return address(st, node.children[0])
        case "UNARY_OPERATOR" if node.operator == "&":
            found = place(st, node.children[0])
            if isinstance(found, Address):
                return found
            raise unsupported("the address of a variable", node.loc, "Only array elements have addresses in miniCUDA.")
        case "UNARY_OPERATOR" if node.operator in _STEPS:
            return _stepped(st, node)
        case "ARRAY_SUBSCRIPT_EXPR" | "MEMBER_REF_EXPR" | "UNARY_OPERATOR" if node.type.kind in ("array", "pointer"):
            found = place(st, node)
            passed = isinstance(found, Address) and not found.terms and not found.path
            if isinstance(found, Address) and (node.type.kind == "array" or passed):
                return found
            raise unsupported("a pointer that is read from memory", node.loc, "Pass it to the kernel as an argument.")
        case kind if kind in CASTS or kind == "CXX_REINTERPRET_CAST_EXPR":
            inner = operand(node)
            if inner is not None and inner.type.kind in ("pointer", "array"):
                return _recast(st, node, inner, use)
            if inner is not None and inner.type.kind == "int":
                raise unsupported("a number as a pointer", node.loc, "Pass the pointer to the kernel.")
    raise unsupported(f"{described(node)} as a pointer", node.loc)


def _recast(st: State, node: Node, inner: Node, use: Use) -> Address:
    found = address(st, inner, use)
    old, new = inner.type.inner, node.type.inner
    whole = found.root in st.dynamic and not found.terms
    alike = same if found.root in st.registers else compatible
    if whole or (old and new and (old.kind == "void" or alike(innermost(old), innermost(new)))):
        return found
    if derives(inner) or derives(node):
        what = f"the conversion from '{inner.type.name}' to '{node.type.name}', one of which has a base class,"
        raise unsupported(what, node.loc, "A base may begin anywhere in what is derived from it: make it a field.")
    if found.root in st.registers:
        if st.registers[found.root].variables:
            raise Spill(st.registers[found.root].loc)
        return found
    if old is None or new is None or not old.size or not new.size:
        advice = "Give the array the type it is read with."
        raise unsupported(f"the cast from '{inner.type.name}' to '{node.type.name}'", node.loc, advice)
    view = f"as_{re.sub(r'[^A-Za-z0-9]+', '_', new.name).strip('_')}"
    st.note(f"'{found.root}{found.path}' is also read as '{new.name}': in runs that is an array of its own")
    return replace(found.plus(min(old.size, new.size), Const(0)), path=f"{found.path}.{view}")


def _pointer(st: State, node: Node) -> Address:
    decl = node.referenced
    if decl is None:
        raise unsupported(f"'{node.name}'", node.loc)
    match binding(st, decl, node.loc):
        case Address() as found:
            return found
        case Moving(_, size, index) as bound:
            return _base(decl, bound, node.loc).plus(size, Var(index, node.loc))
    raise unsupported(f"'{decl.name}' as a pointer", node.loc)


def _base(decl: Node, bound: Moving, loc: Loc | None) -> Address:
    """The array that a pointer variable leads to."""
    if bound.several:
        raise _several(decl, loc)
    if bound.base is None:
        raise CudaError(f"the pointer '{decl.name}' is used before it is assigned", loc)
    return bound.base


def _moved(st: State, node: Node) -> Address:
    """pointer + int, int + pointer, pointer - int"""
    left, right = node.children
    check_order(st, node.loc, (left, right))
    pointer, offset = (left, right) if left.type.kind in ("pointer", "array") else (right, left)
    if offset.type.kind in ("pointer", "array"):
        raise unsupported("this operator on pointers", node.loc)
    base, e = address(st, pointer), _number(st, offset)
    if node.operator == "-":
        e = Const(-e.value) if isinstance(e, Const) and isinstance(e.value, int) else Op("neg", (e,), node.loc)
    return base.plus(pointee_size(node.type), e)


def _moving(st: State, node: Node) -> tuple[Node, Moving]:
    """The pointer variable that an assignment changes."""
    target = bare(node)
    decl = target.referenced if target.kind == "DECL_REF_EXPR" else None
    bound = binding(st, decl, node.loc) if decl is not None else None
    if decl is None or not isinstance(bound, Moving):
        raise unsupported("assigning to this pointer", node.loc)
    return decl, bound


def _stepped(st: State, node: Node) -> Address:
    """`p++` and its like, inside an expression."""
    decl, bound = _moving(st, node.children[0])
    old: Expr = Var(bound.index, node.loc)
    base = _base(decl, bound, node.loc)
    postfix = node.operator.startswith("x")
    if postfix:
        old = st.saved(old, INT)
    step(st, node, wanted=False)
    return base.plus(bound.size, old)


def _several(decl: Node, loc: Loc | None) -> CudaError:
    return unsupported(f"the pointer '{decl.name}' into two arrays", loc, "Use a pointer for each array.")


def point(st: State, decl: Node, bound: Moving, target: Address, loc: Loc | None) -> None:
    """Emit `p = target` for a pointer variable p. To another array only where no loop leads back to before."""
    base = Address(target.root, target.space, (), target.path, target.offset, target.total)
    if bound.several or bound.base not in (None, base):
        if len(st.loops) != bound.loops:
            raise _several(decl, loc)
        st.moved.append(decl.identity)
    st.bindings[decl.identity] = replace(bound, base=base, several=False)
    st.emit(Assign(bound.index, steps(target, bound.size, loc), loc))


# --- effects ---------------------------------------------------------------------------------------------------------


def discard(st: State, node: Node) -> None:
    """Emit the effects of an expression whose value nobody uses. Without effects it is nothing at all."""
    while node.kind in ("PAREN_EXPR", *CASTS):
        inner = operand(node)
        if inner is None:
            return
        node = inner
    match node.kind:
        case "CALL_EXPR":
            value = st.call(st, node, "statement")
            if isinstance(value, Expr):
                dropped(st, value)
        case "BINARY_OPERATOR" if node.operator == "=":
            assign(st, node, wanted=False)
        case "BINARY_OPERATOR" if node.operator == ",":
            for part in node.children:
                discard(st, part)
        case "COMPOUND_ASSIGNMENT_OPERATOR":
            update(st, node, wanted=False)
        case "UNARY_OPERATOR" if node.operator in _STEPS:
            step(st, node, wanted=False)
        case "CONDITIONAL_OPERATOR":
            _choice(st, node)
        case _ if node.type.kind in ("pointer", "array"):
            dropped(st, *(e for _, e in address(st, node).terms))
        case _ if node.type.kind == "record":
            found = place(st, node)
            dropped(st, *(e for _, e in found.terms) if isinstance(found, Address) else ())
        case _:
            dropped(st, expr(st, node))


def _choice(st: State, node: Node) -> None:
    test, left, right = node.children
    c = condition(st, test)
    then = st.block(lambda: discard(st, left))
    orelse = st.block(lambda: discard(st, right))
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
    if not isinstance(p, Local) and not is_plain(value):
        value = st.saved(value, scalar(t) or INT)
    store(st, p, value, t, loc)
    return Var(p.name, loc) if isinstance(p, Local) else value


def assign(st: State, node: Node, *, wanted: bool) -> Expr:
    """Emit `a = b`; its value is meaningful where it is wanted (of a scalar)."""
    left, right = node.children
    check_assignment(st, node)
    t = left.type
    if t.kind == "pointer":
        found = address(st, right, "part" if wanted else "whole")
        decl, bound = _moving(st, left)  # a call may have changed it
        point(st, decl, bound, found, node.loc)
        return Const(0)
    target, known = located(st, left)
    if not wanted and isinstance(target, Local):
        into(st, target, right, node.loc)
        return Const(0)
    with st.captured() as effects:
        value = expr(st, right, "whole" if known and not wanted else "part")
    if any(local_vars(e) & written(seq(*effects)) for e in _indices(target)):
        raise CudaError("C leaves open whether the index or the value comes first", node.loc, "Use two statements.")
    st.emit(*effects)
    if wanted:
        return _result(st, target, value, t, node.loc)
    store(st, target, value, t, node.loc)
    return Const(0)


def into(st: State, target: Local, node: Node, loc: Loc | None) -> None:
    """Emit `x = e`; a conditional becomes an `if` that assigns x itself, where it has to become one."""
    inner = bare(node)
    if inner.kind == "CONDITIONAL_OPERATOR":
        value = _conditional(st, inner, target)
        if value == Var(target.name) and isinstance(st.out[-1] if st.out else None, If):
            return
    else:
        value = expr(st, node, "whole")
    st.emit(Assign(target.name, value, loc))


def update(st: State, node: Node, *, wanted: bool) -> Expr:
    """Emit `a += b` and its like: a is read, computed with in C's type for the operation, and written."""
    left, right = node.children
    check_assignment(st, node)
    op, t = node.operator.removesuffix("="), left.type
    if t.kind == "pointer":
        _, bound = _moving(st, left)
        here = Var(bound.index, node.loc)
        st.emit(Assign(bound.index, Op(op, (here, _number(st, right)), node.loc), node.loc))
        return Const(0)
    target = evaluated(st, place(st, left))
    b = expr(st, right)
    a = load(st, target, t, left.loc)
    working = t if op in ("<<", ">>") else common(t, right.type)
    if working.kind == "int" and working.size < 4:
        working = CType("int", "int", 4)
    value: Expr = Op(op, (convert(a, t, working, left.loc), _operand(b, right, working, op)), node.loc)
    value = convert(operation(value, working), working, t, node.loc)
    if wanted:
        return _result(st, target, value, t, node.loc)
    store(st, target, value, t, node.loc)
    return Const(0)


def _operand(b: Expr, right: Node, working: CType, op: str) -> Expr:
    return b if op in ("<<", ">>") else convert(b, right.type, working, right.loc)


def step(st: State, node: Node, *, wanted: bool) -> Expr:
    """Emit `x++` and its like; the value is the old one for the postfix operators."""
    (inner,) = node.children
    op, t = _STEPS[node.operator], inner.type
    if t.kind == "pointer":
        _, bound = _moving(st, inner)
        st.emit(Assign(bound.index, Op(op, (Var(bound.index, node.loc), Const(1)), node.loc), node.loc))
        return Const(0)
    type_ = scalar(t)
    if type_ is None:
        raise unsupported(f"'{node.operator.strip('x')}' on a value of type '{t.name}'", node.loc)
    target = evaluated(st, place(st, inner))
    old = load(st, target, t, inner.loc)
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


_VALUES: Final[dict[str, Callable[[State, Node], Expr]]] = {
    **dict.fromkeys(LITERALS, lambda _, node: integer(node)),
    "FLOATING_LITERAL": _floating,
    "DECL_REF_EXPR": _name,
    "MEMBER_REF_EXPR": _load,
    "ARRAY_SUBSCRIPT_EXPR": _load,
    "BINARY_OPERATOR": _binary,
    "COMPOUND_ASSIGNMENT_OPERATOR": lambda st, node: update(st, node, wanted=True),
    "UNARY_OPERATOR": _unary,
    "CONDITIONAL_OPERATOR": _conditional,
}
