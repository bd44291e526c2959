"""Calls: the functions of CUDA become operators, those with a body are inlined.

An inlined function costs the assignment of its arguments to fresh variables and what its body costs; where it returns
from the middle, also a variable for the result and the guards of `semantics.cuda.statements`. A call that changes
something inside an expression is done where it stands; one whose order to the rest C leaves open is refused where that
matters (`semantics.cuda.sequence`), or where nobody looks whether it does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from logic.source import Loc
from logic.syntax import (
    DOUBLE,
    INT,
    TRUE,
    Assign,
    Const,
    Expr,
    Op,
    Sync,
    Type,
    Var,
    statements,
)
from logic.typing import type_of
from semantics import exchange
from semantics.cuda import heap, intrinsics, library, matrices, memory, nested, textures, virtual, wide
from semantics.cuda.bases import subobject
from semantics.cuda.clang import Node
from semantics.cuda.classes import bases, check_objects, copies_itself, destroyed, guards, is_template
from semantics.cuda.convert import based, called, common, convert, retyped, rounded, zero
from semantics.cuda.copying import copies, copies_into, source
from semantics.cuda.ctype import CType, innermost, scalar
from semantics.cuda.declarations import bind_pointer
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.functions import function_type, named_function, pointed
from semantics.cuda.hidden import destructor, inheriting, is_own
from semantics.cuda.implied import at_most
from semantics.cuda.jumps import check_labels, jumps
from semantics.cuda.lambdas import captures
from semantics.cuda.lanes import of_lanes
from semantics.cuda.library import target
from semantics.cuda.methods import arguments, exact, is_virtual_call, operands, receiver
from semantics.cuda.modular import Integer, integer, modulo, operation, stripped
from semantics.cuda.objects import default, members, own_fields
from semantics.cuda.order import check_order, right_first
from semantics.cuda.picked import PICKING, check_picked
from semantics.cuda.places import (
    TIDS,
    anything,
    check_lengths,
    dropped,
    evaluate,
    evaluated,
    frozen,
    load,
    member,
    store,
)
from semantics.cuda.pointers import address, located, place
from semantics.cuda.pointers import held as pointer_value
from semantics.cuda.records import copied, declared, fill, held, initialised, loaded, reference, set_parts, values
from semantics.cuda.regions import as_number, unit
from semantics.cuda.regions import number as as_unit
from semantics.cuda.regions import pointed as leads
from semantics.cuda.scan import METHODS, count_changes, loop_counters, targets
from semantics.cuda.scopes import scoped
from semantics.cuda.sequence import Unordered, changes, keep, one_of, within
from semantics.cuda.shapes import gives_reference, lvalue
from semantics.cuda.shim import (
    ADDRESSES,
    ATOMICS,
    FENCES,
    FREE,
    MOVES,
    OF_BITS,
    OPERATORS,
    OURS,
    READS,
    READS_ALWAYS,
    REFUSED,
    SAME,
    SEVERAL,
    TO_INT,
    WRITES,
    in_shim,
    is_shim,
)
from semantics.cuda.state import (
    Act,
    Address,
    Binding,
    Chosen,
    Frame,
    Local,
    Moving,
    Parts,
    Place,
    Pointer,
    State,
    This,
    Use,
)
from semantics.cuda.statements import block


def call(st: State, node: Node, use: Use) -> Expr | Place | None:
    """The value of a call, the place of one that is a structure, where one that is a pointer leads to, None where it
    has none; what it does is emitted."""
    if node.kind in heap.KINDS:
        return heap.operator(st, node, use)
    by_pointer = pointed(st, node)
    if not copies_into(node):
        check_order(st, node.loc, operands(st, node))
    if isinstance(by_pointer, Chosen):
        return _of_several(st, node, by_pointer, use)
    callee = by_pointer or node.referenced
    if callee is not None and callee.name in MOVES and in_shim(callee):
        inner = node.arguments[0]
        named = node.type.kind == "record" or (gives_reference(node) and scalar(node.type) and lvalue(inner))
        return place(st, inner, use) if named else expr(st, inner, use)
    if node.type.kind == "record" and copies(node):
        return place(st, node.arguments[0])
    if copies_into(node):
        left, right = node.arguments
        if right_first(st, node, left, right):
            picked = declared(st, "t", right) if source(right).kind == "CONDITIONAL_OPERATOR" else None
            if picked is not None:
                fill(st, picked, right, within(use))
            origin = picked or frozen(st, place(st, right, within(use)), "t")
            target = place(st, left, within(use))
            set_parts(st, target, loaded(st, origin, right), right, left.loc)
            return target
        parts = Unordered(st)
        target, known = located(st, left, within(use))
        parts.part(target)
        fill(st, target, right, ("whole" if use == "statement" else use) if known else within(use), left.loc)
        parts.part(None)
        parts.check(node.loc)
        return target
    if callee is not None and callee.kind == "CONSTRUCTOR" and in_shim(callee) and callee.definition is None:
        return library.constructed(st, node, callee)
    if callee is not None and callee.kind == "CONSTRUCTOR" and in_shim(callee):
        return held(st, "t", node, values(st, node, use))
    if callee is not None and callee.kind == "CONSTRUCTOR":
        object_ = declared(st, "t", node)
        construct(st, object_, node, use)
        return object_
    if callee is None and node.type.kind == "record" and copies_itself(node):
        raise _left_out(node)
    if node.children and callee is not None and callee.kind in ("PARM_DECL", "VAR_DECL") and function_type(callee):
        what = f"a call by '{callee.name}', a pointer that may lead to any function,"
        raise unsupported(what, node.loc, "Make the function an argument of a template, or choose it by 'switch'.")
    if callee is None or callee.kind not in ("FUNCTION_DECL", *METHODS):
        raise unsupported(f"this call of '{node.name}'" if node.name else "this call", node.loc)
    return _of(st, node, callee, use)


def _of_several(st: State, node: Node, chosen: Chosen, use: Use) -> Expr | Place | None:
    """A call of one of several functions: an `if` for each but the last one, with the call of that alone."""
    take, result = _result(st, node)

    def way(i: int, callee: Node) -> tuple[Expr, Callable[[], None]]:
        return Op("==", (chosen.index, Const(i)), node.loc), lambda: take(_of(st, node, callee, use))

    one_of(st, [way(i, callee) for i, callee in enumerate(chosen.functions)], node.loc)
    return result()


def _branched(st: State, node: Node, found: Sequence[virtual.Case], use: Use) -> Expr | Place | None:
    """A call of a virtual function, of which several are possible."""
    if len(found) == 1:
        if found[0].table is not None:
            evaluate(st, found[0].table)
        return _inline(st, node, found[0].function, use, found[0].this)
    take, result = _result(st, node)
    virtual.branch(st, found, lambda c: take(_inline(st, node, c.function, use, c.this)), node.loc)
    return result()


def _result(st: State, node: Node) -> tuple[Callable[[object], None], Callable[[], Expr | Place | None]]:
    """A function that takes the value that one of several functions gives, and one that gives it after them."""
    t, type_ = node.type, scalar(node.type)
    if gives_reference(node) or not (type_ is not None or t.kind in ("void", "pointer", "record")):
        raise unsupported(f"the value of one of several functions, a '{t.name}',", node.loc, "Use 'switch'.")
    if t.kind == "record":
        made = declared(st, "chosen", node)
        return (
            lambda v: set_parts(st, made, loaded(st, v, node), node) if isinstance(v, Place) else None
        ), lambda: made
    if t.kind == "void":
        return (lambda _: None), lambda: None
    local = st.declare("chosen", type_ or INT, node.loc, settled=True, of=t)
    value = Var(local.name, node.loc)

    def take(v: object) -> None:
        if isinstance(v, Address):
            v = as_unit(st, v, unit(t.inner), node.loc)
        if isinstance(v, Expr):
            st.emit(Assign(local.name, v, node.loc))

    return take, lambda: value if type_ is not None else leads(st, value, t.inner)


def _of(st: State, node: Node, callee: Node, use: Use) -> Expr | Place | None:
    """A call of a function that is known, or of a virtual one."""
    if is_virtual_call(node, callee) and (this := receiver(st, node, callee, use)) is not None and this.decl:
        found = virtual.cases(st, this.decl, this.place, exact(node), node, virtual.function_of(callee, node))
        return _branched(st, node, found, use)
    definition = callee.definition
    if definition is not None and in_shim(definition):
        return _provided(st, node, definition, use)
    if definition is not None:
        return _inline(st, node, definition, use)
    if callee.kind in METHODS and in_shim(callee):
        return library.method(st, node, callee)
    if intrinsics.is_advice(callee):
        return intrinsics.builtin(st, node, callee, use)
    if not in_shim(callee) and not intrinsics.is_builtin(callee):
        return library.unknown(st, node, callee, use)
    return _builtin(st, node, callee, use)


def construct(st: State, p: Place, node: Node, use: Use) -> None:
    """Emit what makes an object of the node's type at a place: by the call of a constructor, or by one that takes no
    arguments, which that of a field is that is given no value."""
    if node.kind in ("FIELD_DECL", "CXX_BASE_SPECIFIER"):
        default(st, p, node, node.loc)
        return
    called = node if node.kind == "CONSTRUCTOR" else node.referenced
    parent = None if called is None else called.parent
    if called is not None and parent is not None and node.kind == "CALL_EXPR" and _inherited(st, p, node, called, use):
        return
    if called is None or parent is None or (node.kind == "CALL_EXPR" and node.type_decl.identity != parent.identity):
        raise unsupported(f"this constructor of '{node.type.name}'", node.loc, "Assign its fields one by one.")
    if called.is_defaulted:
        if node.kind == "CALL_EXPR" and node.arguments:
            fill(st, p, node, use)
            virtual.mark(st, p, node.type_decl, node.loc)
        else:
            default(st, p, node, node.loc, made=True)
        return
    given = node.arguments if node.kind == "CALL_EXPR" else ()
    if len(given) == 1 and given[0].type.name == node.type.name and lvalue(given[0]) is None:
        raise _left_out(node)
    definition = called.definition
    if definition is None and in_shim(called) and node.kind == "CALL_EXPR":
        made = library.constructed(st, node, called)
        if isinstance(made, Place):
            set_parts(st, p, loaded(st, made, node), node)
            return
    if definition is None:
        problem = f"the constructor '{called.name}' has no body in this file"
        raise CudaError(problem, node.loc, "Include its definition.")
    _inline(st, node, definition, use, This(p, parent.identity, parent))


def _inherited(st: State, p: Place, node: Node, called: Node, use: Use) -> bool:
    """Emit what makes an object by a constructor that it has from a base class (`using B::B`): that of the base, with
    the others and the fields as they are without values. Gives whether it is one."""
    decl, types = node.type_decl, [a.type.name for a in called.arguments]
    if is_own(called, decl):
        return False
    named = [b.type_decl for b in bases(decl) if b.type_decl.name == called.name]
    found: Node | None = None
    if len(named) == 1 and is_template(named[0]):
        found = inheriting(named[0], called)
    elif len(named) == 1:
        own = [c for c in named[0].members if c.kind == "CONSTRUCTOR" and [a.type.name for a in c.arguments] == types]
        found = own[0].definition if len(own) == 1 else None
    if found is None:
        raise unsupported(f"the constructor that '{decl.name}' has from '{called.name}'", node.loc, "Write one.")
    for base in bases(decl):
        place_, parent = subobject(st, p, decl, base, node.loc), base.type_decl
        if parent.name == called.name:
            _inline(st, node, found, use, This(place_, parent.identity, parent))
        else:
            default(st, place_, base, node.loc)
    own_fields(st, p, decl, node.loc)
    return True


def destroy(st: State, p: Place, decl: Node) -> None:
    """Emit what the destructor of an object of a structure does: its body, then those of its fields and base classes,
    the last one first."""
    own = destructor(decl)
    if own is not None:
        _inline(st, own, own, "statement", This(p, decl.identity, decl))
    for field in reversed(decl.fields):
        if innermost(field.type).kind == "record" and destroyed(field.type_decl):
            if field.type.kind != "record":
                raise unsupported(f"the array '{field.name}' of objects with a destructor", field.loc)
            destroy(st, member(st, p, field, field), field.type_decl)
    for base in reversed(bases(decl)):
        if base.type.kind != "record":
            raise unsupported(f"the destructor of '{decl.name}', of which a base class is not known,", decl.loc)
        if destroyed(base.type_decl):
            destroy(st, subobject(st, p, decl, base, decl.loc), base.type_decl)


def _left_out(node: Node) -> CudaError:
    what = f"a copy of '{node.type.name}' that a compiler may leave out"
    return unsupported(what, node.loc, "Its constructor says what a copy is: give what is copied a name.")


def _numbers(st: State, node: Node, use: Use) -> list[Expr]:
    """The arguments of a function of numbers."""
    parts = Unordered(st)
    found = [parts.part(expr(st, a, within(use))) for a in node.arguments]
    parts.check(node.loc)
    return found


def _provided(st: State, node: Node, callee: Node, use: Use) -> Expr | Place | None:
    """The value of a call of a function that our headers have a body of. What is wrong there is
    so where it is called."""
    try:
        return _inline(st, node, callee, use)
    except CudaError as e:
        if callee.name.startswith("__w_") or e.loc is None or not is_shim(e.loc.file):
            raise
        raise type(e)(f"{e.message}, in '{callee.name}'", node.loc, e.advice) from e


def _builtin(st: State, node: Node, callee: Node, use: Use) -> Expr | Place | None:
    name, args = callee.name.removeprefix(intrinsics.BUILTIN), node.arguments
    if name == "__syncthreads":
        if use != "statement":
            raise unsupported("'__syncthreads()' inside an expression", node.loc)
        st.emit(Sync(node.loc))
        return None
    if name in intrinsics.FUNCTIONS:
        return intrinsics.apply(st, node, name, use)
    if name in FENCES:
        for a in args:
            evaluate(st, stripped(expr(st, a), 32))
        st.note("memory fences and __syncwarp cost nothing and order nothing")
        return None
    if name in FREE:
        dropped(st, *(expr(st, a) for a in args))
        st.note(f"{name} costs nothing")
        return None
    if name in REFUSED:
        raise unsupported(REFUSED[name][0], node.loc, REFUSED[name][1])
    if name in OURS:
        _ours(st, node, name)
        return None
    if name in ATOMICS:
        _atomic(st, node, name)
        if use == "statement":
            return None
        return library.made_of(st, node, lambda _, t: anything(st, name, TIDS, scalar(t) or INT, node.loc))
    if name in matrices.FUNCTIONS:
        matrices.apply(st, node, callee, use)
        return None
    if name == "__pipeline_memcpy_async":
        wide.copy(st, node)
        return None
    if name in SEVERAL:
        return _several(st, node, callee)
    if name in heap.NAMES:
        return heap.call(st, node, name, use)
    if name == nested.LAUNCH:
        nested.launch(st, node, use)
        return None
    if name in nested.CALLS:
        return nested.call(st, node, name, use)
    if name in memory.NAMES:
        if use != "statement":
            raise unsupported(f"the value of '{name}'", node.loc, "Use the pointer.")
        memory.move(st, node, name, use)
        return None
    if name in READS or name in READS_ALWAYS:
        return _read(st, node, name)
    if name in WRITES:
        _write(st, args[0], args[1], node.loc)
        return None
    if name == f"make_{node.type.name}":
        made = declared(st, "t", node, settled=True)
        set_parts(st, made, values(st, node, use), node)
        return made
    if name in ADDRESSES:
        return as_number(st, address(st, args[0]), node.loc)
    if name in ("nan", "nanf"):
        nothing = zero(scalar(callee.result) or DOUBLE, node.loc)
        return Op("/", (nothing, nothing), node.loc)
    return _of_values(st, node, callee, name, use)


def _of_values(st: State, node: Node, callee: Node, name: str, use: Use) -> Expr | Place | None:
    """Lower a call of a function on numbers, between lanes, on textures or on structures."""
    args = node.arguments
    if name in TO_INT:
        x = expr(st, args[0], within(use))
        n = Op("int", (Op(f"call:{TO_INT[name]}", (x,), node.loc) if TO_INT[name] else x,), node.loc)
        return library.clamped(n, callee.result, node.loc)
    if name in PICKING and library.takes_structures(node):
        raise unsupported(f"'{name}' of structures", node.loc, "Compare them by an operator.")
    if name in OPERATORS and (name != "__hadd" or callee.result.kind == "base"):  # of whole numbers it is their mean
        return _operated(st, node, callee.result, name, use)
    if name in SAME:
        return convert(expr(st, args[0], within(use)), args[0].type, callee.result, node.loc)
    result = scalar(callee.result)
    if name in exchange.FUNCTIONS:
        return of_lanes(st, node, name, use)
    if textures.is_one(callee):
        return textures.access(st, node, callee)
    if library.takes_structures(node):
        return library.of_structures(st, node, callee)
    if result is None or not args or any(scalar(a.type) is None for a in args):
        raise unsupported(f"the function '{callee.name}'", node.loc)
    return _of_numbers(st, node, callee, use)


def _operated(st: State, node: Node, t: CType, name: str, use: Use) -> Expr:
    """Lower a call of a function that stands for an operator."""
    given = _numbers(st, node, use)
    if t.kind in ("base", "int"):
        given = [convert(v, a.type, t, node.loc) for a, v in zip(node.arguments, given, strict=True)]
    if "mul24" in name:
        given = [modulo(v, Integer(24, t.signed), integer(t)) for v in given]
        if t.signed:
            st.note(f"the operands of {name} fit in 24 bits")
    given = at_most(st, given) if OPERATORS[name] == "min" else given
    e = Op(OPERATORS[name], tuple(given), node.loc)
    if e.op in ("+", "-", "*", "/") and t.kind == "base":
        return convert(e, common(t, t), t, node.loc)
    return operation(e, t)


def _ours(st: State, node: Node, name: str) -> None:
    """Lower a call of a function that our headers call and CUDA does not have."""
    if name == "__w_one_row":
        st.one_row = True
        return
    for e in node.arguments:
        if e.type.kind != "pointer" and (e.loc is not None or e.children):
            dropped(st, expr(st, e))
    st.note(OURS[name])
    if name == "__w_grid_sync":
        st.emit(Sync(node.loc))


_DOUBLE: Final = CType("base", "double", 8)


def _of_numbers(st: State, node: Node, callee: Node, use: Use) -> Expr:
    """A function of numbers to a number. The first one is a double where it is an integer, or its bits count."""
    t, result = node.arguments[0].type, callee.result
    first, *rest = _numbers(st, node, use)
    nearest = t.kind != "base" and callee.name.endswith("2float_rn")
    if result.kind == "base" and (nearest or t.name == result.name):
        first = convert(first, t, result, node.loc)
    elif callee.name in OF_BITS or t.kind != "base":
        first = convert(first, t, _DOUBLE, node.loc)
    return _pure(st, callee.name, [first, *rest], node)


def _pure(st: State, name: str, args: Sequence[Expr], node: Node) -> Expr:
    """A function of scalars to one of the type that a call has."""
    first, base = based(args[0], type_of(args[0], st.sigma), node.loc)
    return retyped(called(name, first, args[1:], node.loc), base, scalar(node.type) or INT, node.loc)


def _several(st: State, node: Node, callee: Node) -> Expr | None:
    """The results of a function: its value, and what it writes through its pointers."""
    value, functions = SEVERAL[callee.name]
    count = len(node.arguments) - len(functions)
    given = [expr(st, a) for a in node.arguments[:count]]
    first, *rest = [st.saved(e, type_of(e, st.sigma)) for e in given]
    first, _ = based(first, type_of(first, st.sigma), node.loc)
    types = [p.type.inner or p.type for p in callee.arguments[count:]]
    targets = [target(st, p, t.size) for p, t in zip(node.arguments[count:], types, strict=True)]
    for function, where, t in zip(functions, targets, types, strict=True):
        found = _typed(st, called(function, first, rest, node.loc), scalar(t) or INT, node.loc)
        store(st, where, found, t, node.loc)
    return _typed(st, called(value, first, rest, node.loc), scalar(callee.result) or INT, node.loc) if value else None


def _typed(st: State, e: Expr, t: Type, loc: Loc | None) -> Expr:
    return retyped(e, type_of(e, st.sigma), t, loc)


def _read(st: State, node: Node, name: str) -> Expr | Place:
    """A read that the caches are told about."""
    t = replace(node.type, volatile=name in READS_ALWAYS)
    where = address(st, node.arguments[0]).plus(t.size, Const(0))
    if t.kind != "record":
        return load(st, where, t, node.loc)
    if not t.volatile:
        return where
    st.unsteady.add(where.root)
    made = declared(st, "t", node, settled=True)
    set_parts(st, made, loaded(st, where, node), node)
    return made


def _write(st: State, pointer: Node, value: Node, loc: Loc | None) -> None:
    """A write that the caches are told about."""
    where = address(st, pointer).plus(value.type.size, Const(0))
    if value.type.kind == "record":
        set_parts(st, where, values(st, value), value, loc)
    else:
        store(st, where, expr(st, value), value.type, loc)


def _atomic(st: State, node: Node, name: str) -> None:
    target, *args = node.arguments
    t, loc, op = node.type, node.loc, ATOMICS[name]
    where = evaluated(st, address(st, target).plus(t.size, Const(0)))
    what = ("an atomic function" if op else "an atomic exchange") if name.startswith("__w_") else name
    does = "a read and a write of one lock-step instruction" if op else "a write, and what it gives back costs nothing"
    st.note(f"{what} is {does}: collisions of lanes are not counted")
    if t.kind == "record":
        given, old = library.numbers(st, args[0]), loaded(st, where, node)
        set_parts(
            st, where, [Op(op, (a, b), loc) for a, b in zip(old, given, strict=True) if isinstance(a, Expr)], node
        )
        return
    values = [expr(st, a) for a in args]
    v = values[0]
    if op == "call":
        v = _pure(st, name, [load(st, where, t, loc), *values], node)
    elif op:
        v = rounded(operation(Op(op, (load(st, where, t, loc), v), loc), t), t, loc)
    store(st, where, v, t, loc)


def _inline(st: State, node: Node, callee: Node, use: Use, made: This | None = None) -> Expr | Place | None:
    if callee.identity in st.calls:
        raise unsupported(f"the recursive function '{callee.name}'", node.loc)
    body = callee.children[-1]
    if body.kind != "COMPOUND_STMT":
        raise unsupported(f"the function '{callee.name}'", node.loc)
    st.count(node.loc)
    check_objects(callee)
    check_labels(body)
    check_lengths(st, callee)
    for part in callee.children:  # a constructor's list changes something, too
        count_changes(part, st.changed)
    st.counters |= loop_counters(body)
    before = frozenset(st.sigma.locals)
    with st.captured() as stmts:
        parts = Unordered(st)
        this = parts.part(made or receiver(st, node, callee, use))
        if node.kind == "CALL_EXPR":
            _bind(st, node, callee, use, parts)
        begin = len(stmts)
        st.calls.append(callee.identity)
        st.frames.append(Frame(callee.name, this, loc=callee.loc, alive=len(st.alive)))
        if made is not None and callee.kind == "CONSTRUCTOR":
            members(st, made, callee)
        with captures(st, callee):
            value = _body(st, callee, body, use, node)
        st.frames.pop()
        st.calls.pop()
    changed = frozenset(name for name in changes(stmts) if name in before or name in st.sigma.arrays)
    if use == "part" and (changed or any(isinstance(s, Sync) for t in stmts for s in statements(t))):
        raise unsupported(
            f"a call of '{callee.name}', which has effects, inside an expression",
            node.loc,
            "Assign its result to a variable first.",
        )
    begin += len(st.out)
    st.emit(*stmts)
    if isinstance(value, Expr):
        value = keep(st, value, node.type, changed)
    if changed:
        st.acted.append(Act(changed, tuple(st.out[begin:])))
    return value


def _default(parameters: Sequence[Node], argument: Node, loc: Loc | None) -> Node:
    """A default argument, of which libclang shows where it is used no more than the value, and that only of an integer.
    Raises for one that does more than have a value."""
    found = [c for p in parameters for c in p.children if not c.kind.endswith(("_REF", "_ATTR", "_DECL"))]
    parts = [n for c in found for n in c.walk()]
    odd = (
        n
        for n in parts
        if targets(n) or n.kind in ("LAMBDA_EXPR", "StmtExpr") or (n.kind == "CALL_EXPR" and not _makes_record(n))
    )
    if not found or any(odd):
        raise unsupported("this default argument", loc, "Pass it.")
    return argument if isinstance(argument.evaluate(), int) else found[-1]


def _makes_record(node: Node) -> bool:
    """Whether a call makes an object by a constructor, or copies one."""
    made = node.referenced
    return node.type.kind == "record" and (made.kind == "CONSTRUCTOR" if made is not None else copies(node))


def _bind(st: State, node: Node, callee: Node, use: Use, parts: Unordered) -> None:
    """Bind the parameters to the arguments."""
    pointers: list[tuple[Node, Address, Loc | None]] = []
    functions = dict[int, Node | Chosen]()
    bound: dict[int, Binding] = {}  # for when all arguments are lowered: a call in one of them may be of this function
    given, use = arguments(node, callee), within(use)
    if len(callee.arguments) != len(given):
        raise unsupported(f"the variadic function '{callee.name}'", node.loc)
    for i, (parameter, argument) in enumerate(zip(callee.arguments, given, strict=True)):
        if argument.kind == "UNEXPOSED_EXPR" and not argument.children and argument.loc is None:
            argument = _default(
                [f.arguments[i] for f in (callee, node.referenced) if f is not None], argument, node.loc
            )
        t, type_ = parameter.type, scalar(parameter.type)
        if not parameter.name and type_ is not None and in_shim(callee):
            dropped(st, parts.part(expr(st, argument, use)))
        elif (
            function_type(argument)
            and not st.changed[parameter.identity]
            and (function := named_function(st, argument)) is not None
        ):
            functions[parameter.identity] = function
        elif t.kind == "pointer":
            pointers.append((parameter, parts.part(address(st, argument, use)), argument.loc))
        elif t.kind == "reference":
            check_picked(st, argument)
            bound[parameter.identity] = parts.part(reference(st, parameter, argument, use))
        elif type_ is not None:
            bound[parameter.identity] = parts.part(copied(st, parameter, argument, type_, use))
        elif t.kind == "record":
            bound[parameter.identity] = parts.part(initialised(st, parameter, argument, use))
        else:
            raise unsupported(f"the parameter '{parameter.name}' of type '{t.name}'", argument.loc)
    parts.check(node.loc)
    st.bindings |= bound
    st.functions |= functions
    for parameter, found, loc in pointers:
        bind_pointer(st, parameter, found, loc)


def _with_arrays(node: Node) -> bool:
    """Whether a structure of the node's type has an array in it."""
    return any(f.type.kind == "array" or (f.type.kind == "record" and _with_arrays(f)) for f in node.fields)


def _body(st: State, callee: Node, body: Node, use: Use, made: Node) -> Expr | Place | None:
    """Emit the body of a function; the value it returns, of the type of the node `made`."""
    t = callee.result
    name = f"{re.sub(r'[^A-Za-z0-9_]', '', callee.name)}_result"
    last = body.children[-1] if body.children else None
    if (
        t.kind != "void"
        and (t.kind != "record" or (in_shim(callee) and not _with_arrays(made) and not copies_itself(made)))
        and last is not None
        and last.kind == "RETURN_STMT"
        and last.children
    ):
        before = body.children[:-1]
        if not any("return" in jumps(n) for n in before) and not guards(body):
            block(st, before, frozenset())
            inner: Use = "part" if use == "part" else "whole"
            if t.kind == "reference":
                return frozen(st, place(st, last.children[0], inner), name)
            if t.kind == "pointer":
                return frozen(st, address(st, last.children[0], inner), name)
            if t.kind == "record":
                return held(st, "made", made, values(st, last.children[0], inner))
            return expr(st, last.children[0], inner)
    if t.kind == "reference":
        advice = "Return once, at the end, or a value."
        raise unsupported("a function that returns a reference in the middle, or nowhere,", callee.loc, advice)
    type_ = scalar(t)
    result: Local | Parts | Address | Pointer | None = None
    if t.kind == "pointer":
        as_number = unit(t.inner) if made.loc in st.plan.adrift else 0
        size = t.inner.size if t.inner else 0
        if not any(n.kind == "RETURN_STMT" and n.children for n in body.walk()) or not (size or as_number):
            raise unsupported("a function that returns no pointer", callee.loc, "Return one.")
        index = st.declare(name, INT, callee.loc).name
        result = st.pointer(Moving(None, size, index, len(st.loops), made.loc, unit=as_number))
    if t.kind == "record" and copies_itself(made):
        what = f"a function that returns a '{t.name}', whose constructor says what a copy is,"
        raise unsupported(what, callee.loc, "Pass it as a reference.")
    if t.kind == "record":
        result = declared(st, name, made)
    elif type_:
        result = st.declare(name, type_, callee.loc, of=t)
    st.frame.result = result
    with st.captured() as stmts:
        block(st, scoped(st, body), frozenset({"return"}))
    if st.frame.live:
        st.emit(Assign(st.frame.live, TRUE, callee.loc))
    st.emit(*stmts)
    if isinstance(result, Pointer):
        return frozen(st, pointer_value(st, result.key, made.loc), name)
    return Var(result.name, callee.loc) if isinstance(result, Local) else result
