"""The instructions of PTX that compute: from an instruction to a function that a warp applies.

An instruction that is not known, or known with other modifiers, is refused by its name and line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from semantics.ptx import floats, integers, warps
from semantics.ptx.numbers import KINDS, RAW, Lanes, constant, held, is_float, raw, read, size
from semantics.ptx.program import Instruction, Number, Operand, Pair, PtxProblem, Register, Symbol, Vector


@dataclass(slots=True)
class Warp:
    """A warp while it runs: its registers, the lanes that are not there or have ended, its carries, what is special to
    its threads; `local` is their memory. `addresses` are those of variables. `undefined` are notes on what PTX leaves
    open and the run had to choose."""

    lanes: int
    registers: dict[str, Lanes]
    ended: Lanes
    special: Mapping[str, Lanes]
    addresses: Mapping[str, int]
    local: Any
    carry: Lanes
    undefined: set[str] = field(default_factory=set)


Step = Callable[[Warp, Lanes], None]
"""What an instruction does to a warp while these lanes are active."""

Reader = Callable[[Warp], Lanes]
Writer = Callable[[Warp, Lanes, Lanes], None]


def unknown(i: Instruction, why: str = "") -> PtxProblem:
    """An instruction that is not known."""
    told = f"the instruction '{i.opcode}' is not known here{why}"
    return PtxProblem(told, i.loc, "What is not known is not guessed: there is no count of this code.")


def _dropped(w: Warp, mask: Lanes, value: Lanes) -> None:
    """A result that nobody wants: `_`."""


class Scope:
    """The meaning of a function's operands: its registers with their types."""

    def __init__(self, registers: Mapping[str, str]) -> None:
        self.registers = registers

    def kind(self, r: Register, i: Instruction) -> str:
        """The type that a register was declared with. Raises PtxProblem."""
        if r.name not in self.registers:
            raise unknown(i, f": there is no register {r.name}")
        return self.registers[r.name]

    def reader(self, o: Operand, type_: str, i: Instruction) -> Reader:
        """A function that reads an operand as a type. Raises PtxProblem."""
        match o:
            case Register(name, negated) if name in self.registers:
                if negated:
                    return lambda w: ~w.registers[name]
                return lambda w: read(w.registers[name], type_)
            case Register(name) if name in SPECIAL:
                return lambda w: w.special[name].astype(KINDS[type_])
            case Number(bits):
                made: dict[int, Lanes] = {}

                def number(w: Warp) -> Lanes:
                    if w.lanes not in made:
                        made[w.lanes] = constant(bits, type_, w.lanes)
                    return made[w.lanes]

                return number
            case Symbol(name):

                def address(w: Warp) -> Lanes:
                    if name not in w.addresses:
                        raise unknown(i, f": there is no variable '{name}'")
                    return np.full(w.lanes, w.addresses[name], np.uint64).astype(KINDS[type_])

                return address
        raise unknown(i, f": it has an operand {o}")

    def writer(self, o: Operand, type_: str, i: Instruction) -> Writer:
        """A function that writes a value of a type to a register. Raises PtxProblem."""
        if not isinstance(o, Register):
            raise unknown(i, f": it has a result {o}")
        name = o.name
        if name == "_":
            return _dropped
        register = raw(self.kind(o, i))

        def write(w: Warp, mask: Lanes, value: Lanes) -> None:
            bits = held(value, type_, register)
            w.registers[name] = bits if mask.all() else np.where(mask, bits, w.registers[name])

        return write


SPECIAL: Final = {
    *(f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    *("%laneid", "%warpid", "%nwarpid", "WARP_SZ"),
    *(f"%lanemask_{name}" for name in ("eq", "le", "lt", "ge", "gt")),
}
"""The special registers that are known; clocks and places on a device are not."""

_COMPARE: Final[dict[str, Callable[[Lanes, Lanes], Lanes]]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lo": lambda a, b: a < b,
    "ls": lambda a, b: a <= b,
    "hi": lambda a, b: a > b,
    "hs": lambda a, b: a >= b,
}
_COMBINE: Final = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def compared(name: str, a: Lanes, b: Lanes) -> Lanes | None:
    """A comparison of `setp`; those that end in u hold of a NaN, too. None for one that is not known."""
    if a.dtype.kind != "f":
        return _COMPARE[name](a, b) if name in _COMPARE else None
    nan = np.isnan(a) | np.isnan(b)
    match name:
        case "num":
            return ~nan
        case "nan":
            return nan
        case "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu":
            return _COMPARE[name[:-1]](a, b) | nan
        case "eq" | "ne" | "lt" | "le" | "gt" | "ge":
            return _COMPARE[name](a, b) & ~nan
    return None


def step(i: Instruction, scope: Scope) -> Step:
    """The step of a computing instruction. Raises PtxProblem."""
    name, *modifiers = i.opcode.split(".")
    types = [m for m in modifiers if m in KINDS or m in ("f16x2", "bf16")]
    rest = tuple(m for m in modifiers if m not in types)
    if any(t not in KINDS for t in types):
        raise unknown(i)
    made = _FORMS.get(name, _plain)(i, scope, name, rest, types)
    if made is None:
        raise unknown(i)
    return made


def _arity(i: Instruction, n: int) -> tuple[Operand, ...]:
    if len(i.operands) != n:
        raise unknown(i, f" with {len(i.operands)} operands")
    return i.operands


def _applied(i: Instruction, scope: Scope, f: Callable[..., Lanes], arguments: tuple[str, ...], result: str) -> Step:
    """The first operand becomes f of the others, which have these types."""
    out, *ins = _arity(i, len(arguments) + 1)
    write = scope.writer(out, result, i)
    reads = [scope.reader(o, t, i) for o, t in zip(ins, arguments, strict=True)]
    if len(reads) == 2:
        first, second = reads
        return lambda w, mask: write(w, mask, f(first(w), second(w)))
    return lambda w, mask: write(w, mask, f(*(r(w) for r in reads)))


def _plain(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    """Instructions on one type."""
    if len(types) != 1:
        return None
    (t,) = types
    n = len(i.operands) - 1
    if is_float(t):
        f = floats.operation(name, rest, t)
        return _applied(i, scope, f, (t,) * n, t) if f else None
    if rest or name not in integers.PLAIN:
        return None
    if t == "pred" and name == "not":
        return _applied(i, scope, lambda a: ~a, (t,), t)
    shifted = {"shl": 1, "shr": 1, "bfe": 2, "bfi": 2}.get(name, 0)
    arguments = (t,) * (n - shifted) + ("u32",) * shifted
    return _applied(i, scope, integers.PLAIN[name], arguments, t)


def _sum(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    """add, sub, addc, subc: of integers perhaps with a carry."""
    if "cc" not in rest and not name.endswith("c"):
        return _plain(i, scope, name, rest, types)
    if len(types) != 1 or set(rest) - {"cc"}:
        return None
    return _carried(i, scope, name[:3], types[0], name.endswith("c"), "cc" in rest)


def _carried(i: Instruction, scope: Scope, name: str, t: str, takes: bool, gives: bool) -> Step:
    out, *ins = i.operands
    write = scope.writer(out, t, i)
    reads = [scope.reader(o, t, i) for o in ins]

    def apply(w: Warp, mask: Lanes) -> None:
        came = w.carry if takes else np.zeros(w.lanes, bool)
        value, went = integers.carried(name, t, *(r(w) for r in reads), carry=came)
        if gives:
            w.carry = np.where(mask, went, w.carry)
        write(w, mask, value)

    return apply


def _product(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    """mul and mad, with the half of the product that they take."""
    if len(types) != 1 or is_float(types[0]):
        return _plain(i, scope, "fma" if name == "mad" else name, rest, types)
    (t,) = types
    part = next((m for m in rest if m in ("lo", "hi", "wide")), None)
    if part is None:
        return None
    if name == "madc" or "cc" in rest:
        left = set(rest) - {part, "cc"}
        return None if left or part == "wide" else _carried(i, scope, part, t, name == "madc", "cc" in rest)
    if rest != (part,):
        return None
    f = integers.product(part, t)
    whole = f"{t[0]}{16 * size(t)}" if part == "wide" else t
    if name == "mul":
        return _applied(i, scope, f, (t, t), whole)
    return _applied(i, scope, lambda a, b, c: f(a, b) + c, (t, t, whole), whole)


def _quotient(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if len(types) != 1 or is_float(types[0]):
        return _plain(i, scope, name, rest, types)
    if rest:
        return None
    (t,) = types
    divided = _applied(i, scope, integers.quotient(name == "rem"), (t, t), t)
    divisor = scope.reader(i.operands[2], t, i)

    def apply(w: Warp, mask: Lanes) -> None:
        if (divisor(w)[mask] == 0).any():
            raise PtxProblem("a lane divides an integer by 0, and PTX does not say what that gives", i.loc)
        divided(w, mask)

    return apply


def _counted(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if len(types) != 1:
        return None
    if name == "bfind":
        f = integers.highest(types[0][0] == "s", "shiftamt" in rest)
        return None if set(rest) - {"shiftamt"} else _applied(i, scope, f, (types[0],), "u32")
    return None if rest else _applied(i, scope, integers.COUNTS[name], (types[0],), "u32")


def _moved(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    """mov, also of several registers to one and back."""
    if rest or len(types) != 1:
        return None
    (t,) = types
    out, value = _arity(i, 2)
    if isinstance(out, Vector):
        part = f"b{8 * size(t) // len(out.parts)}"
        get = scope.reader(value, t, i)
        writes = [scope.writer(o, part, i) for o in out.parts]

        def unpack(w: Warp, mask: Lanes) -> None:
            parts: Lanes = np.ascontiguousarray(get(w)).view(RAW[size(part)]).reshape(w.lanes, -1)
            for n, write in enumerate(writes):
                write(w, mask, parts[:, n].copy())

        return unpack
    write = scope.writer(out, t, i)
    if isinstance(value, Vector):
        part = f"b{8 * size(t) // len(value.parts)}"
        reads = [scope.reader(o, part, i) for o in value.parts]
        wide = KINDS[t]

        def pack(w: Warp, mask: Lanes) -> None:
            write(w, mask, np.ascontiguousarray(np.stack([r(w) for r in reads], axis=1)).view(wide).reshape(-1))

        return pack
    get = scope.reader(value, t, i)
    return lambda w, mask: write(w, mask, get(w))


def _selected(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if rest or len(types) != 1:
        return None
    out, a, b, p = _arity(i, 4)
    t = types[0]
    write, first, second = scope.writer(out, t, i), scope.reader(a, t, i), scope.reader(b, t, i)
    chosen = scope.reader(p, "pred", i)
    return lambda w, mask: write(w, mask, np.where(chosen(w), first(w), second(w)))


def _set_predicate(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    """setp and set: a comparison, perhaps combined with a predicate."""
    result = "pred" if name == "setp" else types.pop(0) if len(types) == 2 else ""
    flush = "ftz" in rest
    left = [m for m in rest if m != "ftz"]
    if len(types) != 1 or not result or not left or len(left) > 2 or (len(left) == 2 and left[1] not in _COMBINE):
        return None
    t, how = types[0], left[0]
    out, a, b, *more = i.operands
    if len(more) != len(left) - 1 or compared(how, np.zeros(1, KINDS[t]), np.zeros(1, KINDS[t])) is None:
        return None
    targets = (out.first, out.second) if isinstance(out, Pair) else (out,)
    writes = [scope.writer(o, result, i) for o in targets]
    first, second = scope.reader(a, t, i), scope.reader(b, t, i)
    third = scope.reader(more[0], "pred", i) if more else None
    combine = _COMBINE[left[1]] if more else None

    def apply(w: Warp, mask: Lanes) -> None:
        x, y = first(w), second(w)
        if flush:
            x, y = floats.flushed(x), floats.flushed(y)
        whether = compared(how, x, y)
        if whether is None:
            raise unknown(i)
        values = [whether, ~whether]
        if combine and third:
            values = [combine(v, third(w)) for v in values]
        for write, v in zip(writes, values, strict=False):
            write(w, mask, v if result == "pred" else _truth(v, result))

    return apply


def _truth(v: Lanes, result: str) -> Lanes:
    """The value of `set` where a comparison holds: 1.0, or all bits."""
    return v.astype(KINDS[result]) if is_float(result) else np.where(v, -1, 0).astype(KINDS[result])


def _converted(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if len(types) != 2:
        return None
    to, of = types
    how = [m for m in rest if m not in ("ftz", "sat")]
    if len(how) > 1 or "bf16" in types:
        return None
    f = _conversion(to, of, how[0] if how else "", "sat" in rest)
    if f is None:
        return None
    convert = f
    if "ftz" in rest:
        convert = lambda x: _flush(f(_flush(x)))  # noqa: E731 - f, with its ends flushed
    return _applied(i, scope, convert, (of,), to)


def _flush(x: Lanes) -> Lanes:
    return floats.flushed(x) if x.dtype == np.float32 else x


def _conversion(to: str, of: str, how: str, saturate: bool) -> Callable[[Lanes], Lanes] | None:
    if is_float(of) and not is_float(to):
        if floats.to_integer(np.zeros(1, KINDS[of]), how, to) is None:
            return None
        return lambda x: floats.to_integer(x, how, to)  # type: ignore[return-value]
    if is_float(to):
        if floats.to_float(np.zeros(1, KINDS[of]), how, to) is None:
            return None
        if saturate:
            return lambda x: floats.saturated(floats.to_float(x, how, to))  # type: ignore[arg-type]
        return lambda x: floats.to_float(x, how, to)  # type: ignore[return-value]
    if how:
        return None
    if saturate:
        limits = np.iinfo(KINDS[to])
        return lambda x: np.clip(x.astype(object), limits.min, limits.max).astype(KINDS[to])
    return lambda x: x.astype(KINDS[to])


def _bytes_chosen(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if rest or types != ["b32"]:
        return None
    return _applied(i, scope, integers.permuted, ("u32",) * 3, "u32")


def _looked_up(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if rest or types != ["b32"]:
        return None
    return _applied(i, scope, integers.looked_up, ("u32",) * 4, "u32")


def _funnel(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if len(rest) != 2 or rest[0] not in "lr" or rest[1] not in ("wrap", "clamp") or types != ["b32"]:
        return None
    return _applied(i, scope, integers.funnel(rest[0] == "l", rest[1] == "clamp"), ("u32",) * 3, "u32")


def _dotted(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if rest or len(types) != 2:
        return None
    result = "s32" if "s32" in types else "u32"
    return _applied(i, scope, integers.dotted(*types), (types[0], types[1], result), result)


# --- between lanes ---------------------------------------------------------------------------------------------------


def _named_lanes(i: Instruction, scope: Scope, o: Operand) -> Callable[[Warp, Lanes], None]:
    """The check of a mask of lanes: all that it names have to be here, or to have ended."""
    get = scope.reader(o, "u32", i)

    def check(w: Warp, mask: Lanes) -> None:
        for m in set(get(w)[mask].tolist()):
            named = np.array([m >> lane & 1 for lane in range(w.lanes)], bool)
            if (named & ~mask & ~w.ended).any() or (mask & ~named).any():
                told = f"'{i.opcode}' names other lanes than those that execute it"
                raise PtxProblem(told, i.loc, "PTX leaves open what happens then.")

    return check


def _shuffle(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if len(rest) != 2 or rest[0] != "sync" or rest[1] not in warps.MODES or types != ["b32"]:
        return None
    out, a, b, c, lanes = _arity(i, 5)
    targets = (out.first, out.second) if isinstance(out, Pair) else (out,)
    write = scope.writer(targets[0], "b32", i)
    valid = scope.writer(targets[1], "pred", i) if len(targets) > 1 else None
    value, by, shape = (scope.reader(o, "u32", i) for o in (a, b, c))
    check = _named_lanes(i, scope, lanes)

    def apply(w: Warp, mask: Lanes) -> None:
        check(w, mask)
        found, inside, left_open = warps.shuffled(rest[1], value(w), by(w), shape(w), mask)
        if left_open:
            w.undefined.add(f"{i.loc}: a lane asks for the value of one that is not there, and keeps its own")
        write(w, mask, found)
        if valid:
            valid(w, mask, inside)

    return apply


def _vote(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    return _together(i, scope, rest, types, "pred", warps.voted) if len(types) == 1 else None


def _reduce(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if len(types) != 1 or is_float(types[0]):
        return None
    return _together(i, scope, rest, types, types[0], warps.reduced)


def _together(
    i: Instruction,
    scope: Scope,
    rest: tuple[str, ...],
    types: list[str],
    given: str,
    make: Callable[[str, Lanes, Lanes], Lanes | None],
) -> Step | None:
    """A step that makes one value of those of all named lanes, of a type that is given; the mode is the last of
    `rest`."""
    if len(rest) != 2 or rest[0] != "sync":
        return None
    out, a, lanes = _arity(i, 3)
    write, of, check = scope.writer(out, types[0], i), scope.reader(a, given, i), _named_lanes(i, scope, lanes)

    def apply(w: Warp, mask: Lanes) -> None:
        check(w, mask)
        found = make(rest[1], of(w), mask)
        if found is None:
            raise unknown(i)
        write(w, mask, found)

    return apply


def _match(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    if len(rest) != 2 or "sync" not in rest or len(types) != 1:
        return None
    mode = next(m for m in rest if m != "sync")
    out, a, lanes = _arity(i, 3)
    targets = (out.first, out.second) if isinstance(out, Pair) else (out,)
    writes = [scope.writer(o, t, i) for o, t in zip(targets, ("b32", "pred"), strict=False)]
    of, check = scope.reader(a, types[0], i), _named_lanes(i, scope, lanes)

    def apply(w: Warp, mask: Lanes) -> None:
        check(w, mask)
        for write, v in zip(writes, warps.matched(mode, of(w), mask), strict=False):
            write(w, mask, v)

    return apply


def _active(i: Instruction, scope: Scope, name: str, rest: tuple[str, ...], types: list[str]) -> Step | None:
    (out,) = _arity(i, 1)
    write = scope.writer(out, "b32", i)
    return lambda w, mask: write(w, mask, np.full(w.lanes, warps.mask_of(mask), np.uint32))


_FORMS: Final[dict[str, Callable[[Instruction, Scope, str, tuple[str, ...], list[str]], Step | None]]] = {
    "mov": _moved,
    **dict.fromkeys(("add", "sub", "addc", "subc"), _sum),
    **dict.fromkeys(("mul", "mad", "madc"), _product),
    **dict.fromkeys(("div", "rem"), _quotient),
    **dict.fromkeys(("popc", "clz", "bfind"), _counted),
    "selp": _selected,
    **dict.fromkeys(("set", "setp"), _set_predicate),
    "cvt": _converted,
    "prmt": _bytes_chosen,
    "lop3": _looked_up,
    "shf": _funnel,
    "dp4a": _dotted,
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "redux": _reduce,
    "activemask": _active,
}
