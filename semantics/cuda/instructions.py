"""PTX instructions that make values of values: which of them are operators, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from logic.source import Loc
from logic.syntax import BOOL, INT, Const, Expr, Op
from logic.typing import type_of
from semantics.cuda.convert import based, called, convert, retyped
from semantics.cuda.ctype import CType, scalar
from semantics.cuda.modular import Integer, modulo, operation
from semantics.cuda.state import State


@dataclass(frozen=True, slots=True)
class Operand:
    """A value with its C type."""

    value: Expr
    type: CType


PURE: Final = frozenset({
    "abs", "add", "addc", "and", "bfe", "bfi", "bfind", "bmsk", "brev", "clz", "cnot", "copysign", "cos", "cvt",
    "div", "dp2a", "dp4a", "ex2", "fma", "fns", "isspacep", "lg2", "lop3", "mad", "mad24", "madc", "max", "min",
    "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem", "rsqrt", "sad", "selp", "set", "setp", "shf",
    "shl", "shr", "sin", "slct", "sqrt", "sub", "subc", "szext", "tanh", "testp", "vabsdiff", "vabsdiff2", "vabsdiff4",
    "vadd", "vadd2", "vadd4", "vavrg2", "vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2", "vmin4", "vset",
    "vset2", "vset4", "vshl", "vshr", "vsub", "vsub2", "vsub4", "xor",
})  # fmt: skip
"""Instructions on registers alone."""

_BOOL: Final = CType("bool", "bool", 1)
_UNSIGNED: Final = {2: "unsigned short", 4: "unsigned int", 8: "unsigned long", 1: "unsigned char"}
_SIGNED: Final = {2: "short", 4: "int", 8: "long", 1: "signed char"}


def typed(name: str) -> CType | None:
    """The C type of a PTX type; of what has no type but a size, an unsigned one. Halves are their bits."""
    if name == "pred":
        return _BOOL
    if name in ("f32", "f64"):
        return CType("base", "float", 4) if name == "f32" else CType("base", "double", 8)
    if name in ("f16", "bf16"):
        return CType("int", "unsigned short", 2, signed=False)
    if name in ("f16x2", "bf16x2", "tf32", "u16x2", "s16x2"):
        return CType("int", "unsigned int", 4, signed=False)
    kind, digits = name[:1], name[1:]
    size = int(digits) // 8 if digits in ("8", "16", "32", "64") else 0
    if kind not in ("u", "s", "b") or not size:
        return None
    return CType("int", (_SIGNED if kind == "s" else _UNSIGNED)[size], size, signed=kind == "s")


_OPERATORS: Final = {
    "add": "+", "sub": "-", "mul": "*", "mul24": "*", "div": "/", "rem": "%", "min": "min", "max": "max", "and": "&",
    "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
}  # fmt: skip
_EXACT: Final = frozenset({"lo", "rn", "wide", "uni"})
"""Words in an opcode that leave an operator what it is."""

_FUNCTIONS: Final = {"popc": "__popc", "clz": "__clz", "brev": "__brev"}
_COMPARISONS: Final = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
}  # fmt: skip


def computed(st: State, parts: Sequence[str], given: Sequence[Operand], loc: Loc | None) -> Operand | None:
    """The value of an instruction, exactly; None where it is not known here."""
    name, t = parts[0], typed(parts[-1])
    if t is None or parts[-1] in ("f16", "bf16", "f16x2", "bf16x2", "tf32", "u16x2", "s16x2"):
        return None
    if name == "setp":
        return _compared(parts, given, t, loc)
    if name == "selp" and len(given) == 3:
        c = retyped(given[2].value, type_of(given[2].value, st.sigma), BOOL, loc)
        return Operand(Op("?:", (c, _as(given[0], t, loc), _as(given[1], t, loc)), loc), t)
    if name == "cvt" and len(given) == 1:
        return _converted(parts, given[0], t, loc)
    if name in _FUNCTIONS and len(given) == 1 and t.size == 4:
        value = _as(given[0], CType("int", "int", 4), loc)
        first, base = based(value, INT, loc)
        return Operand(retyped(called(_FUNCTIONS[name], first, (), loc), base, INT, loc), CType("int", "int", 4))
    if t == _BOOL:
        return _logical(name, given, st, loc)
    words = {*parts[1:-1]}
    if words - _EXACT or (t.kind == "base" and name not in ("add", "sub", "mul", "div", "neg", "abs", "min", "max")):
        return None
    if any((v.type.kind == "base") != (t.kind == "base") for v in given):
        return None
    wide = CType("int", (_SIGNED if t.signed else _UNSIGNED)[2 * t.size], 2 * t.size, signed=t.signed) if (
        "wide" in words and 2 * t.size in _SIGNED
    ) else t  # fmt: skip
    values = [_as(v, t if k < 2 else wide, loc) for k, v in enumerate(given)]
    if name in ("mul24", "mad24"):
        own = Integer(24, t.signed)
        values = [modulo(v, own, Integer(8 * t.size, t.signed)) if k < 2 else v for k, v in enumerate(values)]
        if t.signed:
            st.note(f"the operands of {name} fit in 24 bits")
    return _operated(name, values, given, t, wide, loc)


def _operated(
    name: str, values: list[Expr], given: Sequence[Operand], t: CType, wide: CType, loc: Loc | None
) -> Operand | None:
    if name in ("and", "or", "xor") and all(v.type.kind == "int" and v.type.signed for v in given):
        t = wide = CType("int", _SIGNED[t.size], t.size)  # the bits of two signed numbers are one
        values = [v.value for v in given]
    if name in ("shl", "shr") and len(given) == 2:
        values[1] = _as(given[1], CType("int", _UNSIGNED[4], 4, signed=False), loc)
    match name, values:
        case _, [a, b] if name in _OPERATORS:
            return Operand(_wrapped(Op(_OPERATORS[name], (a, b), loc), wide), wide)
        case (("mad" | "mad24"), [a, b, c]):
            return Operand(_wrapped(Op("+", (Op("*", (a, b), loc), c), loc), wide), wide)
        case (("neg" | "abs"), [a]):
            return Operand(_wrapped(Op(name, (a,), loc), t), t)
        case "not", [a]:
            return Operand(Op("-", (Const((1 << 8 * t.size) - 1), a), loc), t) if not t.signed else None
        case "bfe", [a, Const(int(at)), Const(int(count))] if not t.signed and count > 0 and at + count <= 8 * t.size:
            shifted = Op(">>", (a, Const(at)), loc) if at else a
            return Operand(Op("&", (shifted, Const((1 << count) - 1)), loc), t)
    return None


def _wrapped(e: Expr, t: CType) -> Expr:
    """The value of an operator: of 16 bits, too, of which C computes in 32."""
    small = t.kind == "int" and t.size < INT.size
    return modulo(e, Integer(8 * t.size, t.signed)) if small else operation(e, t)


def _as(v: Operand, t: CType, loc: Loc | None) -> Expr:
    """A value in another type; one that is used by its bits alone has those of its own."""
    return convert(v.value, v.type, t, loc)


def _compared(parts: Sequence[str], given: Sequence[Operand], t: CType, loc: Loc | None) -> Operand | None:
    """The predicate of a comparison of two numbers."""
    op = _COMPARISONS.get(parts[1]) if len(parts) > 2 else None
    if (
        op is None
        or len(parts) > 3
        or len(given) != 2
        or any((v.type.kind == "base") != (t.kind == "base") for v in given)
    ):
        return None
    a, b = (_as(v, t, loc) for v in given)
    if op == "!=" and t.kind == "base":  # false of NaN, which C's is true of
        return Operand(Op("||", (Op("<", (a, b), loc), Op(">", (a, b), loc)), loc), _BOOL)
    return Operand(Op(op, (a, b), loc), _BOOL)


def _logical(name: str, given: Sequence[Operand], st: State, loc: Loc | None) -> Operand | None:
    bools = [retyped(v.value, type_of(v.value, st.sigma), BOOL, loc) for v in given]
    match name, bools:
        case (("and" | "or"), [a, b]):
            return Operand(Op("&&" if name == "and" else "||", (a, b), loc), _BOOL)
        case "not", [a]:
            return Operand(Op("!", (a,), loc), _BOOL)
        case "xor", [a, b]:
            return Operand(Op("!=", (retyped(a, BOOL, INT, loc), retyped(b, BOOL, INT, loc)), loc), _BOOL)
    return None


def _converted(parts: Sequence[str], v: Operand, source: CType, loc: Loc | None) -> Operand | None:
    """A conversion, `cvt.TO.FROM`: between integers, from integers to floats, and from floats to wider ones. How floats
    are rounded to integers, and what is beyond those, is not said here."""
    target = typed(parts[-2]) if len(parts) > 2 else None
    halves = {"f16", "bf16", "f16x2", "bf16x2", "tf32"} & {*parts}
    odd = {*parts[1:-2]} - {"rn"}
    if target is None or halves or odd or scalar(target) is None or (v.type.kind == "base") != (source.kind == "base"):
        return None
    if source.kind == "base" and (target.kind != "base" or v.type.size != source.size):
        return None
    return Operand(convert(_as(v, source, loc), source, target, loc), target)
