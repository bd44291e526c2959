"""Differences and comparisons of pointers, and whether one is null."""

from __future__ import annotations

from math import gcd

from logic.operators import COMPARISONS
from logic.source import Loc
from logic.syntax import BOOL, FALSE, TRUE, Const, Expr, Op
from semantics.cuda.clang import Node
from semantics.cuda.errors import unsupported
from semantics.cuda.functions import is_one
from semantics.cuda.places import depending, dropped, steps
from semantics.cuda.pointers import address
from semantics.cuda.regions import is_region, number, unit
from semantics.cuda.sequence import Unordered, within
from semantics.cuda.shapes import inmost, null_pointer
from semantics.cuda.state import State, Use, pointee_size


def compared(st: State, op: str, left: Node, right: Node, loc: Loc | None, use: Use) -> Expr:
    """The difference or comparison of two pointers into one array: that of their indices. Or whether one is null."""
    pointers = [n for n in (left, right) if not null_pointer(n)]
    if op in ("==", "!=") and len(pointers) == 1 and pointers[0].type.kind in ("pointer", "array"):
        given = not_null(st, pointers[0], use)
        if isinstance(given, Const):
            return TRUE if bool(given.value) == (op == "!=") else FALSE
        return given if op == "!=" else Op("!", (given,), loc)
    if op not in ("-", *COMPARISONS) or not all(n.type.kind in ("pointer", "array") for n in (left, right)):
        raise unsupported(f"the operator '{op}' on pointers", loc)
    parts = Unordered(st)
    a, b = parts.part(address(st, left, within(use))), parts.part(address(st, right, within(use)))
    parts.check(loc)
    size = pointee_size(left.type)
    if (a.root, a.path) == (b.root, b.path) and not is_region(st, a):
        return Op(op, (steps(a, size, loc), steps(b, size, loc)), loc)
    part = gcd(unit(left.type.inner), a.offset, b.offset, *(s for s, _ in (*a.terms, *b.terms)))
    values = number(st, a, part, loc, a.space), number(st, b, part, loc, a.space)
    if op != "-":
        return Op(op, values, loc)
    return Op("/", (Op("-", values, loc), Const(size // part)), loc) if size != part else Op("-", values, loc)


def not_null(st: State, node: Node, use: Use = "part") -> Expr:
    """Whether a pointer is one: what the kernel is passed may be null, the same for all threads; all else is not."""
    if inmost(node).kind == "STRING_LITERAL":
        return TRUE
    if (function := is_one(st, node)) is not None:
        return function
    found = address(st, node, use)
    if is_region(st, found):
        e = number(st, found, gcd(found.offset, *(s for s, _ in found.terms)), node.loc, found.space)
        return FALSE if e == Const(0) else Op("!=", (e, Const(0)), node.loc)
    dropped(st, *(e for _, e in found.terms))
    if found.space != "global" or inmost(node).type.kind == "array":
        return TRUE
    st.note(f"'{found.root}{found.path}' may be null; in runs it is not")
    which = Const(st.numbered(f"{found.root}{found.path}"))
    return depending("given", [which], BOOL, node.loc)
