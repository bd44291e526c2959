"""Expressions in which something is both changed and used, in an order that C++ leaves open or that its standards fix
differently: f(x, x++), x + x++. They are refused; before C++17 so are A[x] = x++ and x << x++, which it puts in order.

What `&&`, `||`, `?:`, the comma and braces put in order is lowered in that order and never asked about here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from logic.source import Loc
from logic.syntax import local_vars
from semantics.cuda.clang import Node
from semantics.cuda.classes import acts_on_copy
from semantics.cuda.errors import CudaError
from semantics.cuda.lambdas import inside, is_lambda
from semantics.cuda.places import is_kept
from semantics.cuda.scan import is_this, listed, owner, targets, variable
from semantics.cuda.shapes import CASTS
from semantics.cuda.shim import ATOMICS, SEVERAL, in_shim
from semantics.cuda.state import Address, Binding, Bits, Local, Moving, Parts, Pointer, State

_LATE: Final = ("x++", "x--")
"""Their change may come after their value is used."""

_STEPS: Final = (*_LATE, "++x", "--x")
_PLAIN: Final = ("pointer", "array", "int")

_CALLS: Final = "()"
"""Stands for all memory that the body of a function may read."""

_MEMORY: Final = "[]"
"""Stands for all arrays: what a function is called for whose value nobody uses may write any of them."""


_NAMES_PLACES: Final = ("get", "tie", "atomic_ref", "span")
"""Functions of ours that are passed what may be changed, and only say where it is."""


_POINTER: Final = "*"
"""Stands for a pointer that is assigned: what it leads to then is not known before."""


def check_order(st: State, loc: Loc | None, parts: Sequence[Node], calls: bool = True) -> None:
    """Raises where one of the parts of an expression changes what another one uses. With `calls`, parts that make the
    same calls pass: once these are lowered, `semantics.cuda.sequence` looks at what they do."""
    if not any(p.acts for p in parts):
        return
    written = [_written(st, p) for p in parts]
    if any(written):
        used, made = [_used(st, p) for p in parts], [_changing(p) if calls else None for p in parts]
        for i, names in enumerate(written):
            others = [u for j, u in enumerate(used) if j != i and not (made[i] and made[i] == made[j])]
            _apart(names, others, loc)


def check_index(st: State, node: Node) -> None:
    """The same for `a[i]`. Two fields of one object are apart, which the array that it is in does not tell:
    `data[top++]`. A name alone reads nothing of its array: `a[atomicAdd(a, 1)]`."""
    base, index = map(_inner, node.children)
    if index.kind == "UNARY_OPERATOR" and index.operator in _STEPS and _beside(base, _inner(index.children[0])):
        return
    named = base.kind == "DECL_REF_EXPR" and (base.type.kind == "array" or isinstance(_bound(st, base), Address))
    acts = [n for n in _evaluated(index) if targets(n) and not (n.kind == "UNARY_OPERATOR" and n.operator == "&")]
    if named and index.acts and all(map(_atomic, acts)):
        _apart(_written(st, index), [_found_by(st, base)], node.loc)
    else:
        check_order(st, node.loc, node.children)


def _beside(one: Node, other: Node) -> bool:
    """Whether expressions name two fields of one object: of `this`, or of what one variable is, or leads to."""
    if _object(one) is None or _object(one) != _object(other):
        return False
    fields = [
        f for n in (one, other) if (f := n.referenced) is not None and f.type.kind in _PLAIN and not f.is_bitfield
    ]
    within = {0 if f.parent is None or f.parent.kind == "UNION_DECL" else f.parent.identity for f in fields}
    return len({f.identity for f in fields}) == 2 and len(within) == 1 and 0 not in within


def _object(member: Node) -> tuple[int, ...] | None:
    """The object whose field an expression is: the variable that it is, or that leads to it, none for `this`, and the
    fields that it is in."""
    if member.kind != "MEMBER_REF_EXPR":
        return None
    given = owner(member)
    if given is None or is_this(given):
        return ()
    given = _inner(given)
    within = _object(given) if given.type.kind == "record" else None
    if given.referenced is None or (within is None and given.kind != "DECL_REF_EXPR"):
        return None
    return (*(within or ()), given.referenced.identity)


def _inner(node: Node) -> Node:
    while node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and len(node.children) == 1:
        node = node.children[0]
    return node


def _changing(node: Node) -> list[tuple[int, list[str]]] | None:
    """The calls in an expression that may change what they are passed, as they are written; None where something else
    changes anything."""
    found = list[tuple[int, list[str]]]()
    for here in _evaluated(node):
        if not targets(here) or (here.kind == "UNARY_OPERATOR" and here.operator == "&"):
            continue
        callee = here.referenced if here.kind == "CALL_EXPR" else None
        if callee is None or callee.definition is None:
            return None
        found.append((callee.identity, [text for text, _ in here.tokens()]))
    return found


def right_first(st: State, node: Node, left: Node, right: Node) -> bool:
    """Whether the order in which `a = b` and `a += b` are lowered may matter, and is that of C++17, b first.
    Raises where it matters in an older C++."""
    if not (left.acts or right.acts):
        return False
    calls = any(n.kind == "CALL_EXPR" and _has_body(n) for e in (left, right) for n in _evaluated(e))
    if calls and st.ordered and not isinstance(_bound(st, left), Local):
        return True
    try:
        _check_assignment(st, node, left, right)
    except CudaError:
        if not st.ordered:
            raise
        return True
    return False


def _check_assignment(st: State, node: Node, left: Node, right: Node) -> None:
    """The same for `a = b` and `a += b`: a place that b changes is stored to afterwards, but has to be found before."""
    _apart(_written(st, left), [_used(st, right)], node.loc)
    changed = _written(st, right)
    _apart(changed, [_found_by(st, left)], node.loc)
    _apart(_aimed(st, right), [_followed(st, left)], node.loc)
    own = _names(_bound(st, left))
    if node.kind == "COMPOUND_ASSIGNMENT_OPERATOR":
        _apart(changed, [own], node.loc)
    for step in (n for n in _evaluated(right, last=True) if n.kind == "UNARY_OPERATOR" and n.operator in _LATE):
        _apart(_written(st, step), [own], node.loc)


def _aimed(st: State, node: Node) -> set[str]:
    """The arrays that hold pointers which an expression assigns."""
    moved = [t for n in _evaluated(node) for t in targets(n) if t.type.kind == "pointer"]
    return set[str]().union(*(_arrays(st, n) for t in moved for n in _evaluated(t)))


def _followed(st: State, node: Node) -> set[str]:
    """The arrays that hold pointers which are read to find the place that an lvalue names."""
    while node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and node.children:
        node = node.children[-1]
    read = [n for n in _evaluated(node) if n is not node and n.type.kind == "pointer" and n.kind in _IN_MEMORY]
    return set[str]().union(*(_arrays(st, m) for n in read for m in _evaluated(n)))


_IN_MEMORY: Final = ("ARRAY_SUBSCRIPT_EXPR", "MEMBER_REF_EXPR", "UNARY_OPERATOR")


def _apart(changed: set[str], used: list[set[str]], loc: Loc | None) -> None:
    if any((changed & names) or (names and _POINTER in changed) for names in used):
        what = "a variable or an array is changed and used in one expression, and not every C++ says which comes first"
        raise CudaError(what, loc, "Use two statements.")


def _evaluated(node: Node, *, last: bool = False) -> Iterator[Node]:
    """An expression and all in it that is evaluated: not what sizeof and noexcept hold. The last of it is what nothing
    comes after: not what is before a comma, nor the test of `?:`."""
    stack = [node]
    while stack:
        here = stack.pop()
        if here.kind != "CXX_UNARY_EXPR":
            yield here
            ends = here.kind == "CONDITIONAL_OPERATOR" or _binary(here, ",")
            stack.extend(here.children[1:] if last and ends else here.children)


def _binary(node: Node, operator: str) -> bool:
    return node.kind == "BINARY_OPERATOR" and node.operator == operator


def _bound(st: State, node: Node) -> Binding | None:
    """The binding of a variable, or of a field of a structure of one thread."""
    while node.kind == "PAREN_EXPR":
        node = node.children[-1]
    if node.kind == "DECL_REF_EXPR" and node.referenced is not None:
        return _value(st, st.bindings.get(node.referenced.identity))
    if node.kind in CASTS and node.children and node.type.kind == "record":
        whole = _bound(st, node.children[-1])
        return _field(whole, f"<{node.type.name}>") or whole if isinstance(whole, Parts) else None
    this = None if st.frame.this is None else st.frame.this.place
    if node.kind == "MEMBER_REF_EXPR":
        inner = owner(node)
        if inner is None or is_this(inner):  # a method may use all of it
            return _value(st, _field(this, node.name) or this) if isinstance(this, Parts) else this
        whole = _bound(st, inner)
        return _value(st, _field(whole, node.name)) if isinstance(whole, Parts) else None
    return this if node.kind == "CXX_THIS_EXPR" else None


def _field(whole: Parts, name: str) -> Binding | None:
    """A field of a structure of one thread, or of its base classes and what has no name in it."""
    own = dict(whole.places)
    hidden = (p for key, p in whole.places if key.startswith("<") and isinstance(p, Parts))
    return own[name] if name in own else next((f for p in hidden if (f := _field(p, name)) is not None), None)


def _value(st: State, bound: Binding | None) -> Binding | None:
    """The value that the place of a pointer holds, and the number that bits are a part of."""
    if isinstance(bound, Bits):
        return bound.place
    return _value(st, st.bindings.get(bound.key)) if isinstance(bound, Pointer) else bound


def _names(bound: Binding | None) -> set[str]:
    """The variables of one thread that a binding is made of."""
    match bound:
        case Local(name):
            return {name}
        case Moving(index=name):
            return {name}
        case Bits(place):
            return _names(place)
        case Parts(_, places):
            return set[str]().union(*(_names(p) | _roots(p) for _, p in places))
        case Address(_, _, terms):
            return set[str]().union(*(local_vars(e) for _, e in terms))
    return set()


def _roots(bound: Binding | None) -> set[str]:
    """The array that a pointer, an array or a reference to an element leads to."""
    if isinstance(bound, Moving):
        bound = bound.base
    return {bound.root} if isinstance(bound, Address) else set()


def _reached(st: State, bound: Binding | None) -> set[str]:
    """The variables and arrays of one thread that a call may use which is passed a binding: those that it is made of,
    and those that pointers and references in it lead to, and in these."""
    found, stack, seen = set[str](), [bound], set[str]()
    while stack:
        here = _value(st, stack.pop())
        stack += [p for _, p in here.places] if isinstance(here, Parts) else []
        found |= _names(here) | _behind(st, here)
        roots = (_roots(here) | _names(here)) - seen
        stack += [st.pointees[root] for root in roots if root in st.pointees]
        seen |= roots
    return found


def _behind(st: State, bound: Binding | None) -> set[str]:
    """The variables and arrays that parts of a binding stand for one of, or that a pointer to a variable leads to."""
    roots = _roots(bound) | _names(bound)
    led = (_names(st.pointees[root]) for root in roots if root in st.pointees)
    return set[str]().union(*led, *(st.mixed.get(root, ()) for root in roots))


def _arrays(st: State, node: Node) -> set[str]:
    """The array that a variable leads to, under a name of its own where it is declared outside and not seen yet."""
    bound, decl = _bound(st, node), node.referenced
    if bound is None and decl is not None and node.kind == "DECL_REF_EXPR" and decl.kind == "VAR_DECL":
        return set() if decl.type.const else {f"{decl.name} {decl.identity}"}
    return _roots(bound) | _behind(st, bound)


def _used(st: State, node: Node) -> set[str]:
    """The variables and arrays that an expression mentions."""
    found, stack, seen = set[str](), [node], set[int]()
    while stack:
        here = stack.pop()
        bound = _bound(st, here)
        if _atomic(here):  # nothing is known of what it gives, whatever comes first
            first, *rest = here.arguments
            found |= _found_by(st, first)
            stack.extend(rest)
            continue
        arrays = _arrays(st, here)
        found |= _reached(st, bound) | arrays
        if arrays:
            found.add(_MEMORY)
        if here.kind == "CALL_EXPR" and _has_body(here):
            found.add(_CALLS)
        if (body := _body(st, here, seen)) is not None:
            stack.append(body)
        if here.kind != "CXX_UNARY_EXPR" and (bound is None or here.kind not in ("DECL_REF_EXPR", "MEMBER_REF_EXPR")):
            stack.extend(here.children)
    return found


def _written(st: State, node: Node, seen: set[int] | None = None, top: Node | None = None) -> set[str]:
    """The variables and arrays that an expression changes, without the lambdas that were `seen`."""
    found, seen, top = set[str](), set() if seen is None else seen, top or node
    known = (*st.lambdas.values(), *(n for n in _evaluated(node) if n.kind == "LAMBDA_EXPR"))
    lambdas = [n for n in known if n is top or not inside(top, n)]  # in the body that this is, they are the same ones
    for here in _evaluated(node):
        if here.kind == "UNARY_OPERATOR" and here.operator == "&":
            continue
        if (body := _body(st, here, seen)) is not None:
            found |= _written(st, body, seen, top)
        if _binary(here, ",") and any(n.kind == "CALL_EXPR" for n in _evaluated(here.children[0])):
            found |= {_CALLS, _MEMORY}
        own = _given(here)
        if any(n.kind != "UNARY_OPERATOR" for n in own):
            found |= {_CALLS, _MEMORY}
        own = [c for n in own for c in n.children[:1] if n.kind == "UNARY_OPERATOR"]
        callee = here.referenced if here.kind == "CALL_EXPR" else None
        if callee is not None and callee.name in _NAMES_PLACES and in_shim(callee):
            continue
        for target in here.arguments[:1] if _atomic(here) else (*targets(here), *own):
            decl = variable(target)
            if decl is not None and any(inside(decl, n) for n in lambdas):  # each call has its own
                continue
            bound = _bound(st, target)
            if isinstance(bound, Local | Moving | Parts):
                found |= _names(bound) | _behind(st, bound)
                found |= {_POINTER} if isinstance(bound, Moving) and _binary(here, "=") else set()
                continue
            found |= {_CALLS}.union(*(_arrays(st, n) for n in _evaluated(target)))
            if any(n.kind == "CALL_EXPR" for n in _evaluated(target)):  # the pointer that it gives leads anywhere
                passed = [p for n in _evaluated(target) if n.kind == "CALL_EXPR" for p in targets(n)]
                found |= {_MEMORY}.union(*(_names(_bound(st, p)) for p in passed))
    return found


def _has_body(call: Node) -> bool:
    """Whether a call may be of a function that reads memory: of one with a body, or by a pointer."""
    callee = call.referenced
    if callee is None or callee.kind in ("VAR_DECL", "PARM_DECL"):
        return bool(call.children) and call.children[0].type.kind == "pointer"
    if callee.is_defaulted and (call.arguments or callee.name == "operator=") and not acts_on_copy(call):
        return False  # it reads what it copies, which is written there
    return callee.definition is not None or callee.is_virtual


def _body(st: State, node: Node, seen: set[int]) -> Node | None:
    """The body of the lambda that a variable or a field holds; None from the second time on."""
    names = node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR")
    kind = node.type_decl.identity if names and is_lambda(node) else None
    if kind is None or kind in seen or kind not in st.lambdas:
        return None
    seen.add(kind)
    return st.lambdas[kind].children[-1]


def _given(node: Node) -> list[Node]:
    """The pointers that a function of CUDA gives results by; `&x` where they are written so."""
    callee = node.referenced if node.kind == "CALL_EXPR" else None
    if callee is None or callee.name not in SEVERAL or not in_shim(callee):
        return []
    found = []
    for pointer in node.arguments[-len(SEVERAL[callee.name][1]) :]:
        while pointer.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and pointer.children:
            pointer = pointer.children[-1]
        taken = pointer.kind == "UNARY_OPERATOR" and pointer.operator == "&"
        found.append(pointer if taken or pointer.kind != "UNARY_OPERATOR" else node)
    return found


def _atomic(node: Node) -> bool:
    callee = node.referenced if node.kind == "CALL_EXPR" else None
    return callee is not None and callee.name in ATOMICS and in_shim(callee)


def _found_by(st: State, node: Node) -> set[str]:
    """The expressions that decide which place an lvalue is."""
    match node.kind:
        case "DECL_REF_EXPR":
            bound = _bound(st, node)
            if node.type.kind == "pointer" and node.referenced is not None and is_kept(st, node.referenced):
                return _roots(bound) | {_MEMORY}  # it is read
            return _names(bound) if isinstance(bound, Address | Moving) and node.type.kind == "pointer" else set()
        case "ARRAY_SUBSCRIPT_EXPR":
            base, index = node.children
            return _found_by(st, base) | _used(st, index)
        case "BINARY_OPERATOR" if node.type.kind == "pointer" and node.operator in ("+", "-"):
            return set[str]().union(
                *(_found_by(st, n) if n.type.kind == "pointer" else _used(st, n) for n in node.children)
            )
        case "MEMBER_REF_EXPR" if node.type.kind in ("array", "record") and _of_this(node):
            return set()  # where `this` is does not change
        case "CALL_EXPR" if _says_where(node):
            first, *rest = node.arguments
            return _found_by(st, first).union(*(_used(st, a) for a in rest))
        case "PAREN_EXPR" | "UNEXPOSED_EXPR" | "UNARY_OPERATOR" | "MEMBER_REF_EXPR" if node.children:
            if node.kind != "UNARY_OPERATOR" or node.operator in ("*", "&"):
                return _found_by(st, node.children[-1])
    return _used(st, node)


def _of_this(member: Node) -> bool:
    """Whether a member is one of the object of a method, written `this->` or not."""
    inner = owner(member)
    return inner is None or is_this(inner)


_INDEX: Final = ("INTEGER_LITERAL", "PAREN_EXPR", "UNEXPOSED_EXPR", "BINARY_OPERATOR")


def _says_where(call: Node) -> bool:
    """Whether an operator gives an element of an array in its object, by the numbers that it is passed alone: then it
    reads nothing from memory."""
    callee = call.referenced.definition if call.referenced is not None else None
    if callee is None or not listed(call, callee) or callee.result.kind != "reference":
        return False
    body = callee.children[-1]
    if body.kind != "COMPOUND_STMT" or len(body.children) != 1 or body.children[0].kind != "RETURN_STMT":
        return False
    found = body.children[0].children[0]
    while found.kind in ("ARRAY_SUBSCRIPT_EXPR", "PAREN_EXPR", "UNEXPOSED_EXPR") and found.children:
        if found.kind == "ARRAY_SUBSCRIPT_EXPR" and not all(map(_number, found.children[1].walk())):
            return False
        found = found.children[0]
    return found.kind == "MEMBER_REF_EXPR" and found.type.kind == "array" and _of_this(found)


def _number(node: Node) -> bool:
    """Whether a part of an index is a number that a function is passed, or is made of such."""
    decl = node.referenced if node.kind == "DECL_REF_EXPR" else None
    passed = decl is not None and decl.kind == "PARM_DECL" and decl.type.kind == "int"
    return passed or (node.kind in _INDEX and not node.acts)
