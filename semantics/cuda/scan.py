"""Effects of a body on its variables, found before it is lowered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from semantics.cuda.clang import Node
from semantics.cuda.ctype import CType, innermost
from semantics.cuda.errors import CudaError
from semantics.cuda.heads import declared_in

METHODS: Final = ("CXX_METHOD", "CONVERSION_FUNCTION")

DEEPEST_TREE: Final = 800
"""The depth that clang's tree of a function may have. Each level of C is up to three of its levels."""


def count_changes(body: Node, changed: Counter[int]) -> None:
    """Count, for every variable, the places in the body that may change it after its declaration.

    Raises CudaError where the body nests too deeply.
    """
    stack = [(body, 0)]
    while stack:
        here, depth = stack.pop()
        if depth > DEEPEST_TREE:
            raise CudaError("this is nested too deeply", here.loc, "Split it up, with variables for the parts.")
        for target in (*targets(here), *objects(here)):
            decl = variable(target)
            if decl is not None:
                changed[decl.identity] += 1
        if here.kind == "LAMBDA_EXPR" and is_generic(here):  # what it does is not known yet
            named = [n.referenced for n in here.walk() if n.kind == "DECL_REF_EXPR"]
            changed.update(decl.identity for decl in named if decl is not None)
        stack.extend((c, depth + 1) for c in _parts(here))


def _parts(node: Node) -> tuple[Node, ...]:
    """The parts of a node, and what its head declares, which libclang does not list."""
    declared = declared_in(node)
    return node.children if declared is None else (declared, *node.children)


def is_generic(node: Node) -> bool:
    """Whether a lambda has a parameter of any type."""
    types = [c.type for c in node.children if c.kind == "PARM_DECL"]
    return any("other" in (t.kind, (t.inner or t).kind) for t in types)


def loop_counters(body: Node) -> set[int]:
    """The variables that are seen nowhere but in `for` loops which begin by assigning to them, none in another."""
    own, seen = set[int](), set[int]()
    stack: list[tuple[Node, frozenset[int]]] = [(body, frozenset())]
    while stack:
        here, inside = stack.pop()
        if here.kind == "DECL_REF_EXPR" and here.referenced and here.referenced.identity not in inside:
            seen.add(here.referenced.identity)
        if here.kind == "LAMBDA_EXPR":  # it runs where it is called
            seen |= {n.referenced.identity for n in here.walk() if n.kind == "DECL_REF_EXPR" and n.referenced}
        if here.kind in ("VAR_DECL", "CALL_EXPR") or (here.kind == "UNARY_OPERATOR" and here.operator == "&"):
            named = here.children if here.kind == "UNARY_OPERATOR" else targets(here)
            seen |= {decl.identity for target in named if (decl := variable(target))}
        first = here.children[0] if here.kind == "FOR_STMT" and len(here.children) == 4 else None
        counter = variable(first.children[0]) if first and first.kind == "BINARY_OPERATOR" else None
        if first is None or counter is None or first.operator != "=" or not _counts(counter, body):
            stack.extend((c, inside) for c in _parts(here))
            continue
        own.add(counter.identity)
        seen |= {counter.identity} & inside
        stack.append((first.children[1], inside))
        stack.extend((c, inside | {counter.identity}) for c in here.children[1:])
    return own - seen


def _counts(decl: Node, body: Node) -> bool:
    return decl.type.kind == "int" and automatic(decl, body)


def automatic(decl: Node, body: Node) -> bool:
    """Whether a declaration is of a variable that only this body can name, and each thread has its own of."""
    (file, start, end), (own, at, _) = body.span, decl.span
    shared = decl.storage in ("STATIC", "EXTERN") or any(c.kind.startswith("CUDA") for c in decl.children)
    return decl.kind == "VAR_DECL" and file == own and start <= at < end and not shared


def targets(node: Node) -> tuple[Node, ...]:
    """The expressions that a node may change the value of; of `c ? a : b`, both."""
    return tuple(part for target in _targets(node) for part in _sides(target))


def _sides(target: Node) -> Iterator[Node]:
    inner = target
    while (part := _whole(inner)) is not None:
        inner = part
    if inner.kind != "CONDITIONAL_OPERATOR":
        yield target
        return
    for side in inner.children[1:]:
        yield from _sides(side)


def _targets(node: Node) -> tuple[Node, ...]:
    match node.kind:
        case "BINARY_OPERATOR" if node.operator == "=":
            return node.children[:1]
        case "COMPOUND_ASSIGNMENT_OPERATOR":
            return node.children[:1]
        case "UNARY_OPERATOR" if node.operator in ("x++", "++x", "x--", "--x"):
            return node.children
        case "UNARY_OPERATOR" if node.operator == "&":  # whoever gets the address may write there
            return node.children
        case "VAR_DECL" if node.type.kind == "reference":
            return node.children[-1:]
        case "UNEXPOSED_DECL" if node.type.kind == "reference" and node.name.startswith("["):
            return node.children[-1:]
        case "CXX_FOR_RANGE_STMT" if (
            node.children[0].type.kind == "reference" or node.children[1].type.kind == "record"
        ):
            return node.children[1:2]
        case "RETURN_STMT":  # as a reference: whoever gets that may write there
            return tuple(c for c in node.children if _is_place(c) and not c.type.const)
        case "CALL_EXPR":
            return _changeable(node)
        case "INIT_LIST_EXPR" if node.type.kind == "record" and refers(node.type_decl):
            return node.children
        case "ASM_STMT" | "GCC_ASM_STMT":  # outputs are places, inputs are values
            return tuple(c for c in node.children if c.kind != "UNEXPOSED_EXPR")
    return ()


def _is_place(node: Node) -> bool:
    """Whether what is returned is a place, not a value: libclang shows that a place is read or copied."""
    match node.kind:
        case "DECL_REF_EXPR" | "MEMBER_REF_EXPR" | "ARRAY_SUBSCRIPT_EXPR":
            return True
        case "UNEXPOSED_EXPR" if node.type.kind != "record":
            return False
        case "CONDITIONAL_OPERATOR":
            return any(map(_is_place, node.children[1:]))
        case "UNARY_OPERATOR":
            return node.operator == "*"
        case "BINARY_OPERATOR" if node.operator == ",":
            return _is_place(node.children[1])
    return node.kind in _THROUGH and bool(node.children) and _is_place(node.children[-1])


def refers(decl: Node) -> bool:
    """Whether a structure, a base class of it, or one in it, has a field that is a reference."""
    of = [c for c in decl.members if c.kind == "CXX_BASE_SPECIFIER"]
    return any(c.type.kind != "record" or refers(c.type_decl) for c in of) or any(
        f.type.kind == "reference" or (innermost(f.type).kind == "record" and refers(f.type_decl)) for f in decl.fields
    )


def _changeable(call: Node) -> tuple[Node, ...]:
    """The arguments that a call may change: those for references to what is not constant, or all if that is unknown."""
    given = call.arguments
    callee = call.referenced
    if callee is None and len(call.children) == len(given) == 1:  # a copy that is left out
        return ()
    if callee is not None and callee.is_defaulted:  # a copy, by a constructor or an assignment
        return given[:1] if callee.name == "operator=" else ()
    if callee is not None and listed(call, callee):  # of the object, see `objects`
        given = given[1:]
    if callee is not None and callee.kind in ("FUNCTION_DECL", "CONSTRUCTOR", *METHODS):
        types: Sequence[CType] | None = [p.type for p in callee.arguments]
    else:  # by a pointer
        types = call.children[0].parameters if call.children else None
    more = types is not None and len(types) < len(given) and callee is not None and callee.kind == "FUNCTION_DECL"
    if types is None or (len(types) != len(given) and not more):
        return call.arguments
    return tuple(  # what follows `...` is passed by value
        a for a, t in zip(given, types, strict=False) if t.kind == "reference" and not (t.inner and t.inner.const)
    )


def objects(call: Node) -> tuple[Node, ...]:
    """The object of a method that may change it, or gives a way to."""
    callee = call.referenced if call.kind == "CALL_EXPR" else None
    if callee is None or callee.kind not in METHODS or callee.is_static or callee.is_const:
        return ()
    definition = callee.definition
    given = callee.result.kind in ("reference", "pointer")
    if definition is not None and not given and not callee.is_virtual and not mutates(definition):
        return ()
    if listed(call, callee):
        return tuple(_sides(call.arguments[0]))
    inner = call.children[0] if call.children else None
    found = owner(inner) if inner is not None and inner.kind == "MEMBER_REF_EXPR" else None
    return () if found is None or found.type.kind == "pointer" else tuple(_sides(found))


def mutates(method: Node) -> bool:
    """Whether a method may change its object."""
    known = method.unit.mutating
    if method.identity not in known:
        known[method.identity] = False  # of one that calls itself, which is refused
        known[method.identity] = any(
            any(map(own, targets(n)))
            or (n.kind == "CALL_EXPR" and _on_itself(n))
            or (n.kind == "LAMBDA_EXPR" and is_generic(n))
            for n in method.children[-1].walk()
        )
    return known[method.identity]


def _on_itself(call: Node) -> bool:
    """Whether a method is called for the object itself, or a part of it, and may change that."""
    callee = call.referenced
    if callee is None or callee.kind not in METHODS or callee.is_static or callee.is_const:
        return False
    inner = call.children[0] if call.children else None
    found = owner(inner) if inner is not None and inner.kind == "MEMBER_REF_EXPR" else None
    if listed(call, callee):
        found = call.arguments[0]
    if found is not None and not own(found, found.type.kind == "pointer"):
        return False
    definition = callee.definition
    told = definition is not None and not callee.is_virtual and callee.result.kind not in ("reference", "pointer")
    return not told or definition is None or mutates(definition)


def own(node: Node, behind: bool = False) -> bool:
    """Whether an lvalue is `*this` or a part of it; `behind` a pointer, the lvalue that this leads to."""
    if node.kind == "CXX_THIS_EXPR":
        return True
    if behind and node.type.kind == "pointer" and node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR"):
        return False
    if node.kind == "MEMBER_REF_EXPR":
        inner = owner(node)
        return inner is None or own(inner, behind or inner.type.kind == "pointer")
    behind = behind or node.kind in ("ARRAY_SUBSCRIPT_EXPR", "UNARY_OPERATOR")
    return any(own(c, behind) for c in node.children if not behind or c.type.kind in ("pointer", "array", "record"))


def listed(call: Node, callee: Node) -> bool:
    """Whether the first argument of a call is the object of a method: so libclang has it for operators."""
    member = callee.kind in METHODS and not callee.is_static
    return member and len(call.arguments) == len(callee.arguments) + 1


def owner(member: Node) -> Node | None:
    """The structure, or the pointer to one, that a member is of; None where that is `this`, which is not written. What
    stands behind the member's name is an argument of a template."""
    found = next((c for c in member.children if not c.kind.endswith("_REF")), None)
    return None if found is not None and found.span[0] == member.file and found.span[1] > member.offset else found


def is_this(node: Node) -> bool:
    """Whether an expression is `this`."""
    while node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and node.children:
        node = node.children[-1]
    return node.kind == "CXX_THIS_EXPR"


_THROUGH: Final = ("PAREN_EXPR", "UNEXPOSED_EXPR", "CSTYLE_CAST_EXPR", "CXX_STATIC_CAST_EXPR", "CXX_CONST_CAST_EXPR",
                   "CXX_FUNCTIONAL_CAST_EXPR", "CXX_REINTERPRET_CAST_EXPR")  # fmt: skip


def variable(node: Node) -> Node | None:
    """The variable that an lvalue is, or is a part of; None for what a pointer leads to."""
    while (part := _whole(node)) is not None:
        node = part
    return node.referenced if node.kind == "DECL_REF_EXPR" else None


def _whole(node: Node) -> Node | None:
    """The lvalue that another one is a part of, or says in other words; None for what is neither."""
    if node.kind == "ARRAY_SUBSCRIPT_EXPR":
        row = _decayed(node.children[0])
        return row if row.type.kind == "array" else None
    member = node.kind == "MEMBER_REF_EXPR" and bool(node.children) and node.children[0].type.kind == "record"
    last = node.kind in _THROUGH or (node.kind == "BINARY_OPERATOR" and node.operator == ",")
    return node.children[-1] if node.children and (member or last) else None


def _decayed(node: Node) -> Node:
    """The array that a pointer is to the first element of, if it is one to that."""
    inner = node
    while inner.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and len(inner.children) == 1:
        inner = inner.children[0]
    return inner
