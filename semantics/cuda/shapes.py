"""Shapes of nodes of clang's tree, whatever their values: a cast, a place, a value, a constant."""

from __future__ import annotations

from typing import Final

from logic.syntax import INT, Const
from semantics.cuda.clang import Node
from semantics.cuda.convert import literal
from semantics.cuda.ctype import CType, innermost, same, scalar
from semantics.cuda.errors import unsupported

CASTS: Final = ("UNEXPOSED_EXPR", "CSTYLE_CAST_EXPR", "CXX_STATIC_CAST_EXPR", "CXX_FUNCTIONAL_CAST_EXPR")
_WRITTEN: Final = (
    "CSTYLE_CAST_EXPR", "CXX_STATIC_CAST_EXPR", "CXX_FUNCTIONAL_CAST_EXPR", "CXX_REINTERPRET_CAST_EXPR",
    "CXX_CONST_CAST_EXPR",
)  # fmt: skip
NAMING: Final = ("ARRAY_SUBSCRIPT_EXPR", "MEMBER_REF_EXPR", "UNARY_OPERATOR", "INIT_LIST_EXPR", "STRING_LITERAL")
"""What may be an array, or a pointer in one, besides names."""
LITERALS: Final = (
    "INTEGER_LITERAL",
    "CHARACTER_LITERAL",
    "CXX_BOOL_LITERAL_EXPR",
    "CXX_UNARY_EXPR",
    "SIZE_OF_PACK_EXPR",
    "CONCEPT_SPECIALIZATION_EXPR",
    "REQUIRES_EXPR",
)


def operand(node: Node) -> Node | None:
    """The operand of a cast or of a pair of parentheses. Clang calls much that it does not expose by the name of a
    cast: what has several parts is refused, and what has more text than its part (`offsetof(S, a[n])`), unless it is
    constant."""
    inner = [c for c in node.children if not c.kind.endswith("_REF")]
    if node.kind in _WRITTEN:  # numbers of the type come first: of `(int (*)[16])p` the 16
        inner = inner[-1:]
    if len(inner) > 1 and any(c.kind == "TEMPLATE_REF" for c in node.children):  # before it are a template's arguments
        inner = [c for c in inner[-1:] if c.type.name == node.type.name] or inner
    if len(inner) > 1:
        raise unsupported(described(node), node.loc)
    if inner and node.kind == "UNEXPOSED_EXPR" and not (node.covers(inner[0]) or _stands_for(node, inner[0])):
        integer(node)
        return None
    return inner[0] if inner else None


def _stands_for(node: Node, made: Node) -> bool:
    """Whether a node is an operator between two operands for which C++ takes others: `a != b` is `!(a == b)`, and
    `a < b` is `(a <=> b) < 0`, or `0 < (b <=> a)`."""
    todo, found = [made], list[Node]()
    while todo and not found:
        here = todo.pop()
        found = [here] if here.name in ("operator==", "operator<=>") and len(here.arguments) == 2 else []
        todo += here.arguments if here.kind == "CALL_EXPR" else here.children
    ends = sorted(side.span for here in found for side in here.arguments)
    return bool(ends) and node.span == (*ends[0][:2], ends[1][2])


def bare(node: Node) -> Node:
    """The node inside parentheses and conversions that change nothing."""
    while node.kind in ("PAREN_EXPR", *CASTS):
        inner = operand(node)
        if inner is None or _shape(inner.type) != _shape(node.type):
            return node
        node = inner
    return node


def inmost(node: Node) -> Node:
    """The operand of parentheses and conversions of all kinds."""
    while node.kind in ("PAREN_EXPR", *CASTS) and (inner := operand(node)) is not None:
        node = inner
    return node


def only_read(pointer: Node) -> bool:
    """Whether what a pointer leads to is read where it stands: nothing else sees it, so nothing changes by it."""
    here, above = pointer, pointer.above
    while above is not None and above.kind in ("PAREN_EXPR", *CASTS) and above.type.kind == "pointer":
        here, above = above, above.above
    if above is None or not (
        (above.kind == "UNARY_OPERATOR" and above.operator == "*")
        or (above.kind in ("ARRAY_SUBSCRIPT_EXPR", "MEMBER_REF_EXPR") and above.children[0] is here)
    ):
        return False
    while above is not None and above.kind in (
        "PAREN_EXPR",
        "ARRAY_SUBSCRIPT_EXPR",
        "MEMBER_REF_EXPR",
        "UNARY_OPERATOR",
    ):
        if above.kind == "UNARY_OPERATOR" and above.operator != "*":
            return False
        here, above = above, above.above
    pointers = above is not None and above.type.kind == here.type.kind == "pointer"
    return above is not None and above.kind == "UNEXPOSED_EXPR" and (pointers or scalar(above.type) is not None)


def used_at_once(node: Node) -> bool:
    """Whether `this` is cast to be dereferenced where it stands: what a pointer with its value changes is not seen."""
    above = node.above
    while above is not None and above.kind in ("PAREN_EXPR", *CASTS, "CXX_REINTERPRET_CAST_EXPR"):
        above = above.above
    return above is not None and (
        above.kind == "MEMBER_REF_EXPR" or (above.kind == "UNARY_OPERATOR" and above.operator == "*")
    )


def steps_from(node: Node) -> bool:
    """Whether a step is made from the address of a field, as in `(&x)[i]`."""
    inner = node.children[0]
    above = node.above
    while above is not None and above.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR"):
        above = above.above
    steps = above is not None and (
        above.kind == "ARRAY_SUBSCRIPT_EXPR" or (above.kind == "BINARY_OPERATOR" and above.operator in ("+", "-"))
    )
    return steps and inner.kind == "MEMBER_REF_EXPR"


def declared_constant(pointer: Node) -> bool:
    """Whether a pointer leads to a variable, or is an array, that is declared constant: C++ lets nothing change it."""
    inner = inmost(pointer)
    if inner.kind == "UNARY_OPERATOR" and inner.operator == "&":
        inner = inmost(inner.children[0])
    decl = inner.referenced if inner.kind == "DECL_REF_EXPR" else None
    return (
        decl is not None
        and decl.kind in ("VAR_DECL", "PARM_DECL")
        and decl.type.const
        and (decl.type.kind in ("int", "bool", "base", "array", "record"))
    )


def lvalue(node: Node) -> Node | None:
    """The variable, field or element that a reference to the expression is a name for; None where it has a value, or
    one of another type, which a reference to something constant gets a copy of."""
    while node.kind in ("PAREN_EXPR", *CASTS):
        inner = node.children[-1] if node.kind == "PAREN_EXPR" else operand(node)
        if inner is not None and inner.type.kind == node.type.kind == "record" and _name_of(inner) != _name_of(node):
            return node if _of_family(inner, node) and lvalue(inner) is not None else None
        whole = node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") or node.type.kind == "record"
        if inner is None or not whole or _name_of(inner) != _name_of(node):
            return None
        node = inner
    if node.kind == "CONDITIONAL_OPERATOR":
        sides = [lvalue(side) for side in node.children[1:]]
        whole = all(s is not None and (s.type.name, s.type.kind) == (node.type.name, node.type.kind) for s in sides)
        return node if whole else None
    if node.kind == "BINARY_OPERATOR" and node.operator == ",":
        return node if lvalue(node.children[1]) is not None else None
    named = node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR")
    named = named or gives_reference(node) or to_reference(node)
    return node if named or (node.kind == "UNARY_OPERATOR" and node.operator == "*") else None


def elements(braces: Node | None, t: CType) -> list[Node | None]:
    """The values of an array's scalars in a list, of which the braces of rows may be left out; None for each that has
    none."""
    if t.kind != "array" or t.inner is None:
        return [braces]
    given: list[Node | None] = [] if braces is None else [*braces.children]
    if t.inner.kind == "array" and all(row is not None and row.kind == "INIT_LIST_EXPR" for row in given):
        given += [None] * (t.size // t.inner.size - len(given))
        return [e for row in given for e in elements(row, t.inner)]
    return given + [None] * (t.size // innermost(t).size - len(given))


def is_base(node: Node) -> bool:
    """Whether an expression is a base of an object, or what derives from it, and no copy of that."""
    while node.kind in ("PAREN_EXPR", *CASTS) and (inner := operand(node)) is not None:
        if inner.type.kind == node.type.kind == "record" and _name_of(inner) != _name_of(node):
            return True
        node = inner
    return False


def gives_reference(node: Node) -> bool:
    """Whether an expression is a call that gives another name for a place."""
    callee = node.referenced if node.kind == "CALL_EXPR" else None
    return callee is not None and callee.kind != "CONSTRUCTOR" and callee.result.kind == "reference"


def to_reference(node: Node) -> bool:
    """Whether an expression names a place as one of another type: values that are no pointers are not reinterpreted,
    and no pointer as a float or a structure."""
    inner = operand(node) if node.kind == "CXX_REINTERPRET_CAST_EXPR" else None
    kinds = ("int", "bool", "base", "record")
    if inner is not None and inner.type.kind == "array":
        return node.type.kind in ("base", "record")
    return (
        inner is not None and inner.type.kind in kinds and node.type.kind in kinds and not same(inner.type, node.type)
    )


def _of_family(one: Node, other: Node) -> bool:
    """Whether one of two structures has a base class: the other one may be that, and a cast to it name its place."""
    return any(c.kind == "CXX_BASE_SPECIFIER" for n in (one, other) for c in n.type_decl.members)


_UNTOLD: Final = frozenset({"&", "&&", "bitand", "and", "#", "%:", "decltype", "typeof", "__typeof__", "auto"})
"""Tokens by which the text of a cast may be one to a reference, though no name in it is."""


def to_a_value(cast: Node) -> bool:
    """Whether a cast is for certain not to a reference: libclang does not say. Names of templates may hide one, and
    macros; in an instance of a template its parameters have no type here, but what is cast to a value has been made one
    by a conversion that is not written."""
    inner = operand(cast)
    _, start, end = inner.span if inner is not None else ("", 0, 0)
    text_of_type = [text for text, at in cast.tokens() if not start <= at < end]
    types = {c.type.kind for c in cast.children if c.kind == "TYPE_REF"}
    templates = [c.referenced for c in cast.children if c.kind == "TEMPLATE_REF"]
    return (
        (inner is None or _made(inner) or (bool(types) and cast.type.kind == "record" != _unwrapped(inner).type.kind))
        and not {"reference", "other"} & types
        and all(t is not None and t.kind == "CLASS_TEMPLATE" for t in templates)
        and not any(text in _UNTOLD or text in cast.unit.macros.predefined for text in text_of_type)
    )


def _made(node: Node) -> bool:
    """Whether what is cast is a value: it is one by itself, or has been made one by a conversion that is not written.
    Lists in braces stand here as they are written."""
    inner = _unwrapped(node)
    return inner.kind in ("UNEXPOSED_EXPR", "INIT_LIST_EXPR") or temporary(inner)


def _unwrapped(node: Node) -> Node:
    """The node inside of parentheses, and of braces around one part."""
    while node.kind in ("PAREN_EXPR", "INIT_LIST_EXPR") and len(node.children) == 1:
        node = node.children[0]
    return node


def temporary(node: Node | None) -> bool:
    """Whether an expression makes a value, of which a reference gets a copy, and for certain names no place."""
    if node is None or node.kind in ("INIT_LIST_EXPR", "PAREN_EXPR"):
        return node is not None and (len(node.children) != 1 or temporary(node.children[0]))
    if node.kind == "UNEXPOSED_EXPR":
        inner = operand(node)
        based = inner is not None and inner.type.kind == node.type.kind == "record"  # the name of a base class
        return inner is not None and (temporary(inner) or (not based and _name_of(inner) != _name_of(node)))
    if node.kind in CASTS:
        return temporary(operand(node)) or to_a_value(node)
    if node.kind == "CALL_EXPR":
        callee = node.referenced
        return callee is not None and callee.result.kind != "reference" and callee.name != "operator="
    if node.kind == "DECL_REF_EXPR":
        decl = node.referenced
        if decl is None:  # what is substituted for a parameter of a template
            return bool(node.children) and all(map(temporary, node.children))
        return decl.kind in ("ENUM_CONSTANT_DECL", "TEMPLATE_NON_TYPE_PARAMETER")
    if node.kind == "CONDITIONAL_OPERATOR":
        return any(map(temporary, node.children[1:]))
    if node.kind == "BINARY_OPERATOR":
        return node.operator not in ("=", ",")
    if node.kind == "UNARY_OPERATOR":
        return node.operator in ("x++", "x--", "+", "-", "~", "!")
    return node.kind in LITERALS or node.kind == "FLOATING_LITERAL"


def _name_of(node: Node) -> tuple[str, str]:
    return node.type.name, node.type.kind


def _shape(t: CType) -> tuple[str, int, bool]:
    return t.kind, t.size, t.signed


def described(node: Node) -> str:
    """A node's kind in words, for messages."""
    return _WORDS.get(node.kind, f"this ({node.kind.lower().removesuffix('_expr').removesuffix('_stmt')})")


_WORDS: Final = {
    "GOTO_STMT": "'goto'",
    "LABEL_STMT": "a label",
    "ASM_STMT": "inline assembly",
    "GCC_ASM_STMT": "inline assembly",
    "MS_ASM_STMT": "inline assembly",
    "LAMBDA_EXPR": "a lambda",
    "CXX_NEW_EXPR": "'new'",
    "CXX_DELETE_EXPR": "'delete'",
    "CXX_THIS_EXPR": "'this'",
    "CXX_FOR_RANGE_STMT": "a range-based 'for'",
    "CXX_TRY_STMT": "'try'",
    "STRING_LITERAL": "a string",
    "CONDITIONAL_OPERATOR": "'?:'",
    "CSTYLE_CAST_EXPR": "a cast by '(T)x'",
    "CALL_EXPR": "a call",
    "UNEXPOSED_EXPR": "this kind of expression",
    "INIT_LIST_EXPR": "an initialiser list",
    "CXX_REINTERPRET_CAST_EXPR": "a reinterpreting cast",
    "CXX_NULL_PTR_LITERAL_EXPR": "a null pointer",
    "CXX_CONST_CAST_EXPR": "'const_cast'",
    "CXX_DYNAMIC_CAST_EXPR": "'dynamic_cast'",
    "CXX_TYPEID_EXPR": "'typeid'",
    "CXX_THROW_EXPR": "'throw'",
    "COMPOUND_LITERAL_EXPR": "a compound literal",
    "ADDR_LABEL_EXPR": "the address of a label",
    "INDIRECT_GOTO_STMT": "a 'goto' to an address",
    "StmtExpr": "a statement in an expression",
    "GENERIC_SELECTION_EXPR": "'_Generic'",
    "PACK_EXPANSION_EXPR": "the expansion of a pack",
}


def integer(node: Node) -> Const:
    """The value of an integer expression that is constant."""
    check_bits(node)
    value = node.evaluate()
    if not isinstance(value, int):
        raise unsupported(described(node), node.loc)
    return literal(value, scalar(node.type) or INT, node.loc)


def check_bits(node: Node) -> None:
    """Raises for an integer type whose constants libclang cannot tell."""
    if node.type.kind == "int" and node.type.size > 8:
        raise unsupported(f"a constant of type '{node.type.name}'", node.loc, "Use 64 bits, or take it as an argument.")


def null_pointer(node: Node) -> bool:
    """Whether an expression is 0, NULL or nullptr."""
    inner = inmost(node)
    zero = inner.kind == "INTEGER_LITERAL" and inner.evaluate() == 0
    return zero or inner.kind in ("CXX_NULL_PTR_LITERAL_EXPR", "GNU_NULL_EXPR")
