"""Intrinsics of CUDA's compiler besides functions of numbers: to print, to check, to tell the time, to meet and to
count in a block, and advice to itself.

Values that are not known may be anything. What printing and failing cost is not counted, and said to be so.
"""

from __future__ import annotations

from typing import Final

from logic.syntax import BOOL, DOUBLE, INT, Const, Expr, Op, Param, Sync
from semantics.cuda.clang import Node
from semantics.cuda.convert import convert, literal, zero
from semantics.cuda.ctype import innermost, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import condition, expr
from semantics.cuda.places import TIDS, anything, dropped, evaluate
from semantics.cuda.pointers import address
from semantics.cuda.sequence import within
from semantics.cuda.shapes import CASTS, operand
from semantics.cuda.shim import is_shim
from semantics.cuda.state import Address, State, Use

PRINTS: Final = ("printf", "vprintf", "puts", "putchar")
CLOCKS: Final = ("clock", "clock64", "__w_time")
COUNTS: Final = ("__syncthreads_count", "__syncthreads_and", "__syncthreads_or")
SPACES: Final = ("__isGlobal", "__isShared", "__isConstant", "__isLocal", "__isGridConstant")
CHECKS: Final = ("__w_assert", "__assert_fail", "__assertfail")
FUNCTIONS: Final = frozenset({*PRINTS, *CLOCKS, *COUNTS, *SPACES, *CHECKS})

BUILTIN: Final = "__builtin_"
"""The prefix of the names of functions that a compiler has by itself."""

_BLOCK: Final = tuple(Param(f"blockIdx.{axis}") for axis in "xyz")
_SAME: Final = ("expect", "expect_with_probability")
_NOTHING: Final = ("assume", "unreachable", "trap", "debugtrap", "prefetch")
_INFINITE: Final = ("inf", "inff", "huge_val", "huge_valf")
_KNOWN: Final = frozenset({*_SAME, *_NOTHING, *_INFINITE, "assume_aligned", "is_constant_evaluated"})


def is_builtin(callee: Node) -> bool:
    """Whether a function is one that the compiler has by itself."""
    return callee.name.startswith(BUILTIN) and callee.definition is None


def is_advice(callee: Node) -> bool:
    """Whether it is one of those that no function of CUDA is like: `builtin` knows them."""
    return is_builtin(callee) and callee.name.removeprefix(BUILTIN) in _KNOWN


def apply(st: State, node: Node, name: str, use: Use) -> Expr | None:
    """The value of a call of one of `FUNCTIONS`, None where it has none; what it does is emitted."""
    if name in PRINTS:
        for a in node.arguments:
            _shown(st, a)
        st.note(f"what {name} writes to its buffer is not counted")
    elif name == "__w_assert":
        evaluate(st, condition(st, node.arguments[0], within(use)))
        st.note("where an assertion fails the kernel ends: what that costs is not counted")
    elif name in CHECKS:
        st.note("where an assertion fails the kernel ends: what that costs is not counted")
    elif name in COUNTS:
        return _met(st, node, name, use)
    elif name in SPACES:
        dropped(st, *(e for _, e in address(st, node.arguments[0], within(use)).terms))
    if node.type.kind == "void" or use == "statement":
        return None
    st.note(f"{name.replace('__w_time', 'the time')} may give any value at each thread")
    return anything(st, name, TIDS, scalar(node.type) or INT, node.loc)


def _met(st: State, node: Node, name: str, use: Use) -> Expr | None:
    """A barrier that counts: its value is the same for all threads of a block."""
    if use == "part":
        raise unsupported(f"'{name}' inside an expression", node.loc, "Assign its result to a variable first.")
    evaluate(st, expr(st, node.arguments[0], within(use)))
    st.emit(Sync(node.loc))
    if use == "statement":
        return None
    st.note(f"for bounds {name} may give any value, the same at all threads of a block")
    return anything(st, name, _BLOCK, INT, node.loc)


def _shown(st: State, node: Node) -> None:
    """Emit the evaluation of what is printed; strings are where the program is."""
    inner = node
    while inner.kind in ("PAREN_EXPR", *CASTS):
        part = inner.children[-1] if inner.kind == "PAREN_EXPR" else operand(inner)
        if part is None:
            break
        inner = part
    if inner.kind in ("STRING_LITERAL", "PREDEFINED_EXPR") or inner.type.kind == "other" or _is_text(inner):
        return
    if inner.kind == "CONDITIONAL_OPERATOR" and inner.type.kind in ("pointer", "array"):
        dropped(st, condition(st, inner.children[0]))
        for part in inner.children[1:]:
            _shown(st, part)
    elif inner.type.kind in ("pointer", "array"):
        dropped(st, *(e for _, e in address(st, node).terms))
        if inner.type.inner is not None and inner.type.inner.kind == "int" and inner.type.inner.size == 1:
            st.note("what printf reads of texts in memory is not counted")
    else:
        evaluate(st, expr(st, node))


def _is_text(node: Node) -> bool:
    """Whether this names an array of characters that is a constant of the program, such as `__func__`."""
    decl = node.referenced if node.kind == "DECL_REF_EXPR" else None
    t = node.type
    return decl is not None and t.kind in ("pointer", "array") and innermost(t.inner or t).name == "const char"


# --- what the compiler has by itself ---------------------------------------------------------------------------------


def builtin(st: State, node: Node, callee: Node, use: Use) -> Expr | Address | None:
    """The value of a call of a function whose name begins with `__builtin_`."""
    name, args = callee.name.removeprefix(BUILTIN), node.arguments
    if name in _SAME and args:
        value = expr(st, args[0], within(use))
        dropped(st, *(expr(st, a, within(use)) for a in args[1:]))
        return convert(value, args[0].type, node.type, node.loc)
    if name in _NOTHING:
        if name == "assume":  # the compiler does not evaluate it
            st.note("what the source tells the compiler by __builtin_assume is not used")
        elif name != "prefetch":
            st.note(f"{callee.name} costs nothing")
        return None
    if name == "assume_aligned" and args:
        dropped(st, *(expr(st, a, within(use)) for a in args[1:]))
        return address(st, args[0], use)
    if name == "is_constant_evaluated" and node.loc is not None and is_shim(node.loc.file):  # the same either way
        return Const(False, BOOL, node.loc)
    if name in _INFINITE:
        one = literal(1, scalar(node.type) or DOUBLE, node.loc)
        return Op("/", (one, zero(scalar(node.type) or DOUBLE, node.loc)), node.loc)
    raise unsupported(f"the function '{callee.name}'", node.loc)
