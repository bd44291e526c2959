"""Inline assembly: each PTX instruction becomes what it does, by its mnemonic.

An instruction on registers is an operator and an assignment, one on memory an access of the bytes that it takes, at
once. Values that this page does not compute exactly, such as those of tensor cores, may be anything: bounds hold
whatever they are. What may write memory in a way that is not known here is refused by its name.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Final

from logic.syntax import BOOL, FLOAT, INT, Const, Expr, If, Op, Param, Read, Skip, Sync, Tid, seq
from logic.typing import type_of
from semantics.cuda.clang import Node
from semantics.cuda.convert import based, called, convert, retyped
from semantics.cuda.ctype import CType, scalar
from semantics.cuda.errors import CudaError, Unsupported, unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.instructions import PURE, Operand, computed, typed
from semantics.cuda.order import check_order
from semantics.cuda.places import TIDS, anything, element, evaluate, frozen, load, store
from semantics.cuda.pointers import address as pointed
from semantics.cuda.pointers import place
from semantics.cuda.ptx import Assembly, Instruction, address, assemblies, code, immediate, vector
from semantics.cuda.regions import as_number, generic, region
from semantics.cuda.shapes import CASTS, operand
from semantics.cuda.shim import ADDRESSES
from semantics.cuda.state import Address, Local, Place, State, is_plain
from semantics.cuda.wide import ONCE, WORD, cell, read, write

FUNCTIONS: Final = ("FUNCTION_DECL", "CXX_METHOD", "CONVERSION_FUNCTION", "CONSTRUCTOR", "FUNCTION_TEMPLATE")
KINDS: Final = ("ASM_STMT", "GCC_ASM_STMT")

_NOTHING: Final = (
    "membar", "fence", "prefetch", "prefetchu", "nanosleep", "pmevent", "trap", "brkpt", "griddepcontrol",
)  # fmt: skip
"""Instructions that cost nothing here and change no value."""

_ANEW: Final = frozenset(("volatile", "relaxed", "acquire", "cv"))
"""Of loads that see what others change meanwhile."""

_ASYNC: Final = ("commit_group", "wait_group", "wait_all")
_MATRICES: Final = {"x1": 1, "x2": 2, "x4": 4}
_ROW: Final = 16
"""The bytes of a row of a matrix of 8 x 8 elements of 16 bits."""

_LANE: Final = Op("%", (
    Op("+", (Tid("x"), Op("*", (Param("blockDim.x"), Op("+", (Tid("y"), Op("*", (Param("blockDim.y"), Tid("z"))))))))),
    Param("warpSize"),
))  # fmt: skip

_SPECIAL: Final[dict[str, Expr]] = {
    **{f"tid.{a}": Tid(a) for a in ("x", "y", "z")},
    **{f"{name}.{a}": Param(f"{of}.{a}")
       for name, of in (("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim")) for a in "xyz"},
    "laneid": _LANE,
    "WARP_SZ": Param("warpSize"),
    "lanemask_eq": Op("<<", (Const(1), _LANE)),
    "lanemask_lt": Op("-", (Op("<<", (Const(1), _LANE)), Const(1))),
    "lanemask_le": Op("-", (Op("<<", (Const(2), _LANE)), Const(1))),
    "lanemask_ge": Op("-", (Const(1 << 32), Op("<<", (Const(1), _LANE)))),
    "lanemask_gt": Op("-", (Const(1 << 32), Op("<<", (Const(2), _LANE)))),
}  # fmt: skip
"""Special registers whose value is known."""

_UNKNOWN: Final = {
    "warpid": "u32", "nwarpid": "u32", "smid": "u32", "nsmid": "u32", "gridid": "u64", "clock": "u32",
    "clock_hi": "u32", "clock64": "u64", "globaltimer": "u64", "globaltimer_lo": "u32", "globaltimer_hi": "u32",
    "dynamic_smem_size": "u32", "total_smem_size": "u32", "clusterid.x": "u32", "cluster_ctaid.x": "u32",
    "cluster_ctarank": "u32", "nclusterid.x": "u32", "cluster_nctarank": "u32",
}  # fmt: skip
"""Special registers of which nothing is known, with their types."""


@dataclass(slots=True)
class _Statement:
    """An assembly statement being lowered: its operands, as a pointer or a value each, the places of its outputs, and
    the variables of its own registers."""

    st: State
    node: Node
    own: Assembly
    inputs: dict[int, Address | Operand]
    outputs: dict[int, Place]
    registers: dict[str, tuple[Local, CType]]
    pointees: dict[int, CType | None]

    def number(self, name: str) -> int | None:
        """The number of the operand that `%1` or `%[name]` stands for."""
        text = name.removeprefix("%").strip("[]")
        if not name.startswith("%") or name.startswith("%%"):
            return None
        at = int(text) if text.isdigit() else self.own.names.index(text) if text in self.own.names else None
        return at if at is not None and at < len(self.node.children) else None


def assembly(st: State, node: Node) -> None:
    """Emit what an assembly statement does. Raises Unsupported for what may do something that is not known here."""
    own = _parsed(node)
    found = code(own.text)
    if found.wrong:
        raise unsupported(f"{found.wrong} in inline assembly", node.loc, "Write it in C.")
    constraints = (*own.outputs, *own.inputs)
    if len(constraints) != len(node.children):
        raise unsupported("this form of inline assembly", node.loc)
    for letters in constraints:
        if set(letters) - set("=+&rlfdhn0123456789"):
            raise unsupported(f"the operand constraint '{letters}' in inline assembly", node.loc)
    check_order(st, node.loc, node.children, calls=False)
    once = len(found.instructions) == 1 and _uses_once(found.instructions[0])
    s = _Statement(st, node, own, {}, {}, {}, {})
    count = len(own.outputs)
    for i, part in enumerate(node.children):
        if i < count:
            s.outputs[i] = frozen(st, place(st, part), "t")
        else:
            s.inputs[i] = _input(s, i, part, once and own.text.count(f"%{i}") < 2)
    for name, word in found.registers.items():
        ctype = typed(word)
        type_ = scalar(ctype) if ctype is not None else None
        if ctype is None or type_ is None:
            raise unsupported(f"a register of type '.{word}' in inline assembly", node.loc)
        s.registers[name] = (st.declare("r", type_, node.loc, of=ctype), ctype)
    written = {n for i in found.instructions if not i.guard for o in i.operands[:1] for v in vector(o)
               if (n := s.number(v.partition("|")[0])) is not None}  # fmt: skip
    for i, letters in enumerate(own.outputs):
        if not letters.startswith("+") and i not in written:  # the compiler leaves anything there
            t = node.children[i].type
            store(st, s.outputs[i], anything(st, "asm", TIDS, scalar(t) or INT, node.loc), t, node.loc)
    for instruction in found.instructions:
        _guarded(s, instruction)


def _uses_once(i: Instruction) -> bool:
    """Whether an instruction is lowered with each of its operands in one place."""
    alone = all(len(vector(o)) == 1 and "|" not in o for o in i.operands[:1])
    return alone and i.parts[0] not in ("atom", "red", "stmatrix")


def _parsed(node: Node) -> Assembly:
    """The statement as clang prints it: the tree has its operands alone."""
    top = node
    while top.above is not None and top.kind not in FUNCTIONS:
        top = top.above
    same = [n for n in top.walk() if n.kind in KINDS]
    printed = assemblies(top.printed)
    if top.kind not in FUNCTIONS or len(printed) != len(same):
        raise unsupported("inline assembly here", node.loc)
    return printed[next(i for i, n in enumerate(same) if n is node)]


def _input(s: _Statement, i: int, node: Node, once: bool) -> Address | Operand:
    inner = node
    while inner.kind in ("PAREN_EXPR", "CXX_REINTERPRET_CAST_EXPR", *CASTS):
        part = operand(inner) if inner.kind != "PAREN_EXPR" else inner.children[-1]
        if part is None or inner.type.kind not in ("pointer", "int"):
            break
        inner = part
    if inner.kind == "CALL_EXPR" and inner.name in ADDRESSES and inner.arguments:
        inner = inner.arguments[0]
        while inner.kind in CASTS and inner.type.inner is not None and inner.type.inner.kind == "void":
            part = operand(inner)
            if part is None or part.type.kind not in ("pointer", "array"):
                break
            inner = part
    if inner.type.kind in ("pointer", "array"):
        s.pointees[i] = inner.type.inner
        found = frozen(s.st, pointed(s.st, inner), "t")
        if isinstance(found, Address):
            return found
    value = expr(s.st, node)
    type_ = scalar(node.type)
    if type_ is None:
        raise unsupported(f"an operand of type '{node.type.name}' in inline assembly", node.loc)
    if not (once or (is_plain(value) and s.st.is_settled(value))):
        value = s.st.saved(value, type_)
    return Operand(value, node.type)


def _guarded(s: _Statement, i: Instruction) -> None:
    if i.guard is None:
        _instruction(s, i)
        return
    guard = _value(s, i.guard)
    c = retyped(guard.value, scalar(guard.type) or BOOL, BOOL, s.node.loc)
    with s.st.captured() as stmts:
        _instruction(s, replace(i, guard=None))
    s.st.emit(If(Op("!", (c,)) if i.negated else c, seq(*stmts), Skip(), s.node.loc))


def _instruction(s: _Statement, i: Instruction) -> None:
    name, parts = i.parts[0], i.parts
    if name in ("bar", "barrier"):
        _barrier(s, i)
    elif name in _NOTHING or i.opcode.startswith("bar.warp") or (name == "cp" and {*parts} & {*_ASYNC}):
        s.st.note("fences, prefetches and waits in inline assembly cost nothing and order nothing")
    elif name == "cp" and parts[1:2] == ("async",) and parts[2:3] in (("ca",), ("cg",)):
        _copy(s, i)
    elif name in ("ld", "ldu"):
        _load(s, i)
    elif name == "st":
        _store(s, i)
    elif name in ("atom", "red"):
        _atomic(s, i)
    elif name in ("ldmatrix", "stmatrix"):
        _matrix(s, i)
    elif name in ("mov", "cvta") and len(i.operands) == 2:
        _move(s, i)
    elif name in ("shfl", "vote", "match", "redux", "activemask", "elect"):
        _across(s, i)
    elif name in ("mma", "createpolicy") or i.opcode.startswith("wmma.mma"):
        _opaque(s, i)
    elif name in PURE:
        _pure(s, i)
    else:
        raise unsupported(f"the instruction '{i.opcode}' in inline assembly", s.node.loc, _ADVICE.get(name, ""))


_ADVICE: Final = {
    "cp": "Copies in bulk write memory that this does not follow: copy with cp.async.ca or .cg, or in C.",
    "wgmma": "What it reads is described in memory: use mma.sync.",
    "bra": "Write branches in C.",
    "exit": "Write 'return'.",
    "ret": "Write 'return'.",
}


# --- values ----------------------------------------------------------------------------------------------------------


def _value(s: _Statement, text: str, to_shared: bool = False) -> Operand:
    """The value of an operand that is read; of a pointer to shared memory for `cvta.to.shared` alone."""
    loc = s.node.loc
    if text.startswith("!"):
        inner = _value(s, text[1:].strip())
        c = retyped(inner.value, scalar(inner.type) or BOOL, BOOL, loc)
        return Operand(Op("!", (c,), loc), CType("bool", "bool", 1))
    if text.startswith("%%") or text == "WARP_SZ":
        return _special(s, text.removeprefix("%%"))
    if text in s.registers:
        local, t = s.registers[text]
        return Operand(load(s.st, local, t, loc), t)
    n = s.number(text)
    if n is not None and n in s.outputs:
        t = s.node.children[n].type
        return Operand(load(s.st, s.outputs[n], t, loc), t)
    if n is not None:
        found = s.inputs[n]
        if isinstance(found, Operand):
            return found
        if found.space == "shared" and not to_shared:
            raise generic(loc)
        return Operand(as_number(s.st, found, loc), CType("int", "unsigned long", 8, signed=False))
    constant = immediate(text)
    if isinstance(constant, int):
        size = 4 if -(1 << 31) <= constant < 1 << 31 else 8
        return Operand(Const(constant, INT, loc), CType("int", "int" if size == 4 else "long", size))
    if isinstance(constant, str):
        return _float(s, constant)
    raise unsupported(f"the operand '{text}' in inline assembly", loc)


def _float(s: _Statement, text: str) -> Operand:
    """A float by its bits, or in decimals."""
    kind = text[1:2].lower()
    double = CType("base", "double", 8)
    if kind not in ("f", "d"):
        return Operand(Const(text, scalar(double) or INT, s.node.loc), double)
    size = 4 if kind == "f" else 8
    bits = text[2:].rjust(2 * size, "0")
    if len(bits) != 2 * size:
        raise CudaError(f"the number '{text}' in inline assembly has too many digits", s.node.loc)
    (value,) = struct.unpack(">f" if size == 4 else ">d", bytes.fromhex(bits))
    t = CType("base", "float", 4) if size == 4 else double
    if not isfinite(value):
        return Operand(anything(s.st, "asm", (), scalar(t) or FLOAT, s.node.loc), t)
    return Operand(Const(f"{value!r}{'f' if size == 4 else ''}", scalar(t) or FLOAT, s.node.loc), t)


def _special(s: _Statement, name: str) -> Operand:
    if name in _SPECIAL:
        signed = name in ("laneid", "WARP_SZ")
        return Operand(_SPECIAL[name], CType("int", "int" if signed else "unsigned int", 4, signed=signed))
    if name not in _UNKNOWN:
        raise unsupported(f"the register '%{name}' in inline assembly", s.node.loc)
    t = typed(_UNKNOWN[name]) or CType("int", "int", 4)
    s.st.note(f"'%{name}' may be anything")
    return Operand(anything(s.st, name, TIDS, INT, s.node.loc), t)


def _write(s: _Statement, text: str, value: Operand) -> None:
    """Emit the assignment of a value to an operand; `_` takes none."""
    loc, n = s.node.loc, s.number(text)
    if text == "_":
        evaluate(s.st, value.value)
    elif text in s.registers:
        local, t = s.registers[text]
        store(s.st, local, _fitted(s, value, t), t, loc)
    elif n is not None and n in s.outputs:
        t = s.node.children[n].type
        store(s.st, s.outputs[n], _fitted(s, value, t), t, loc)
    else:
        raise unsupported(f"'{text}', which is no output, as a result in inline assembly", loc)


def _fitted(s: _Statement, value: Operand, t: CType) -> Expr:
    """A value in a register of another type: an integer's bits are the same, a float's those of some integer."""
    loc, own, wanted = s.node.loc, value.type, scalar(t)
    if wanted is None:
        raise unsupported(f"an operand of type '{t.name}' in inline assembly", loc)
    if (own.kind == "base") == (t.kind == "base") and (own.kind != "base" or own.size == t.size):
        return convert(value.value, own, t, loc)
    first, base = based(value.value, scalar(own) or INT, loc)
    return retyped(called("bits", first, [Const(t.size)], loc), base, wanted, loc)


# --- registers -------------------------------------------------------------------------------------------------------


def _move(s: _Statement, i: Instruction) -> None:
    target, origin = i.operands
    if len(vector(target)) > 1 or len(vector(origin)) > 1:
        _packed(s, i, vector(target), vector(origin))
        return
    to_shared = i.parts[:3] == ("cvta", "to", "shared")
    if i.parts[0] == "cvta" and "shared" in i.parts and not to_shared:
        raise unsupported(f"the instruction '{i.opcode}' in inline assembly", s.node.loc, "Use the pointer itself.")
    _write(s, target, _value(s, origin, to_shared))


def _packed(s: _Statement, i: Instruction, targets: Sequence[str], origins: Sequence[str]) -> None:
    """Several registers to one, or one to several: the first has the lowest bits."""
    loc, whole = s.node.loc, typed(i.parts[-1])
    if whole is None or (len(targets) > 1 and len(origins) > 1):
        raise unsupported(f"this form of '{i.opcode}' in inline assembly", loc)
    given = [_value(s, o) for o in origins]
    bits = 8 * whole.size // max(len(targets), len(origins))
    if any(v.type.kind == "base" for v in given):
        _function(s, i)
        return
    mask = Const((1 << bits) - 1)
    if len(origins) > 1:
        total: Expr = Const(0)
        for k, v in enumerate(given):
            part = Op("&", (v.value, mask), loc)
            part = Op("*", (part, Const(1 << bits * k)), loc) if k else part
            total = Op("+", (total, part), loc) if k else part
        _write(s, targets[0], Operand(total, whole))
        return
    value = s.st.saved(given[0].value, INT)
    part_type = CType("int", "unsigned", bits // 8, signed=False)
    for k, target in enumerate(targets):
        shifted = Op(">>", (value, Const(bits * k)), loc) if k else value
        _write(s, target, Operand(Op("&", (shifted, mask), loc), part_type))


def _pure(s: _Statement, i: Instruction) -> None:
    """An instruction that makes values of values, and does nothing else."""
    if len(i.operands) < 2:
        raise unsupported(f"this form of '{i.opcode}' in inline assembly", s.node.loc)
    if "cc" in i.parts or i.parts[0] in ("addc", "subc", "madc"):  # of a carry
        _opaque(s, i)
        return
    target, *rest = i.operands
    if any(len(vector(o)) > 1 for o in i.operands):
        _function(s, i)
        return
    found = computed(s.st, i.parts, [_value(s, o) for o in rest], s.node.loc)
    names = _targets(target)
    if found is None or len(names) > 2 or (len(names) > 1 and i.parts[0] != "setp"):
        _function(s, i)
        return
    if len(names) > 1:
        found = Operand(s.st.saved(found.value, BOOL), found.type)
        _write(s, names[1], Operand(Op("!", (found.value,), s.node.loc), found.type))
    _write(s, names[0], found)


def _opaque(s: _Statement, i: Instruction) -> None:
    """An instruction of which each result may be anything at each lane: one operator of all that it is given."""
    loc = s.node.loc
    target, *rest = i.operands or ("_",)
    values = [_value(s, v).value for o in rest for v in vector(o)]
    for k, name in enumerate(_targets(target)):
        t = _register_type(s, name)
        unknown = anything(s.st, f"ptx_{i.parts[0]}", [*TIDS, *(values if k == 0 else ())], scalar(t) or INT, loc)
        _write(s, name, Operand(unknown, t))


def _function(s: _Statement, i: Instruction) -> None:
    """An instruction whose results are functions of what it is given, and of nothing else."""
    loc, name = s.node.loc, re.sub(r"\W+", "_", f"ptx_{i.opcode}")
    target, *rest = i.operands
    values = [_value(s, v).value for o in rest for v in vector(o)]
    names = _targets(target)
    if len(names) > 1:
        values = [v if is_plain(v) else s.st.saved(v, type_of(v, s.st.sigma)) for v in values]
    for k, each in enumerate(names):
        t = _register_type(s, each)
        type_ = scalar(t) or INT
        first, base = based(values[0], type_of(values[0], s.st.sigma), loc)
        found = called(name, first, [*values[1:], *([Const(k)] if len(names) > 1 else [])], loc)
        _write(s, each, Operand(retyped(found, base, type_, loc), t))


def _targets(text: str) -> list[str]:
    """The registers that an operand names: those of a vector, and of a value with a predicate."""
    return [name.strip() for part in vector(text) for name in part.split("|")]


def _register_type(s: _Statement, name: str) -> CType:
    if name in s.registers:
        return s.registers[name][1]
    n = s.number(name)
    return s.node.children[n].type if n is not None else CType("int", "int", 4)


def _across(s: _Statement, i: Instruction) -> None:
    """The values that lanes pass to one another: for bounds they may be anything at each lane."""
    s.st.note(f"for bounds '{i.parts[0]}' in inline assembly may give any value at each lane")
    _opaque(s, i)


def _barrier(s: _Statement, i: Instruction) -> None:
    kind = i.parts[1] if len(i.parts) > 1 else "sync"
    if i.parts[-1] == "aligned":
        kind = i.parts[-2]
    if kind == "warp" or i.opcode.startswith("bar.warp"):
        s.st.note("fences, prefetches and waits in inline assembly cost nothing and order nothing")
        return
    if kind not in ("sync", "cta") or len(i.operands) != 1 or _value(s, i.operands[0]).value != Const(0):
        what = f"'{i.opcode} {', '.join(i.operands)}'"
        raise unsupported(f"{what}, a barrier of some threads, in inline assembly", s.node.loc, "Use barrier 0.")
    s.st.emit(Sync(s.node.loc))


# --- memory ----------------------------------------------------------------------------------------------------------


def _where(s: _Statement, text: str, space: str) -> tuple[Address, CType | None, int]:
    """The pointer of a type to which an operand in brackets leads, and the bytes that are added."""
    found = address(text)
    if found is None:
        raise unsupported(f"the address '{text}' in inline assembly", s.node.loc)
    n = s.number(found[0])
    at = s.inputs.get(-1 if n is None else n)
    if not isinstance(at, Address):
        value = _value(s, found[0])
        if space not in ("global", "shared") or value.type.kind != "int":
            advice = "Name the space of the instruction, or pass the pointer itself."
            raise unsupported("an address that is a number in inline assembly", s.node.loc, advice)
        number = convert(value.value, value.type, CType("int", "unsigned long", 8, signed=False), s.node.loc)
        return region(s.st, "shared" if space == "shared" else "global").plus(1, number), None, found[1]
    if at.root in s.st.registers:
        raise unsupported("the address of a variable in inline assembly", s.node.loc)
    if space in ("global", "shared") and at.space != space:
        raise CudaError(f"'{at.root}' is not in {space} memory", s.node.loc)
    return at, s.pointees.get(-1 if n is None else n), found[1]


def _cell(s: _Statement, text: str, t: CType, count: int, space: str, bits: bool = False) -> tuple[Address, CType]:
    """The place of so many elements of a type that an instruction accesses at once. Of `bits` without a type the type
    is that of the array, if its elements have that size."""
    at, pointee, further = _where(s, text, space)
    return cell(s.st, at, pointee, t, count, further, bits)


def _space(i: Instruction) -> str:
    for part in i.parts[1:]:
        if part.partition("::")[0] in ("global", "shared", "const", "local", "param"):
            return part.partition("::")[0]
    return ""


def _vectors(i: Instruction) -> tuple[CType, int]:
    """The type of an element that is loaded or stored, and how many there are."""
    count = next((int(p[1:]) for p in i.parts if p in ("v2", "v4", "v8")), 1)
    t = typed(i.parts[-1])
    if t is None or t.kind == "bool":
        raise Unsupported(f"the type '.{i.parts[-1]}' is not supported", None)
    return t, count


def _checked(s: _Statement, i: Instruction) -> tuple[CType, int, str]:
    try:
        t, count = _vectors(i)
    except Unsupported:
        raise unsupported(f"'{i.opcode}' in inline assembly", s.node.loc) from None
    space = _space(i)
    if space in ("local", "param") or {"mmio", "multimem"} & {*i.parts}:
        raise unsupported(f"'{i.opcode}' in inline assembly", s.node.loc, "Use C.")
    return t, count, space


def _load(s: _Statement, i: Instruction) -> None:
    t, count, space = _checked(s, i)
    targets = vector(i.operands[0])
    if len(i.operands) < 2 or len(targets) != count:
        raise unsupported(f"this form of '{i.opcode}' in inline assembly", s.node.loc)
    where, t = _cell(s, i.operands[1], t, count, space, i.parts[-1].startswith("b"))
    if not _ANEW.isdisjoint(i.parts):
        s.st.unsteady.add(where.root)
    values = read(s.st, where, t, count, s.node.loc)
    for name, value in zip(targets, values, strict=True):
        _write(s, name, Operand(value, t))


def _store(s: _Statement, i: Instruction) -> None:
    t, count, space = _checked(s, i)
    origins = vector(i.operands[1]) if len(i.operands) > 1 else ()  # what may follow is for the caches
    if len(origins) != count:
        raise unsupported(f"this form of '{i.opcode}' in inline assembly", s.node.loc)
    at, t = _cell(s, i.operands[0], t, count, space, i.parts[-1].startswith("b"))
    write(s.st, at, t, [_fitted(s, _value(s, o), t) for o in origins], s.node.loc)


def _atomic(s: _Statement, i: Instruction) -> None:
    """A read and a write in one instruction; what was read before may be anything."""
    t, count, space = _checked(s, i)
    returns = i.parts[0] == "atom"
    at, rest = i.operands[int(returns)], i.operands[int(returns) + 1 :]
    if not at.startswith("[") or not rest:
        raise unsupported(f"this form of '{i.opcode}' in inline assembly", s.node.loc)
    where, t = _cell(s, at, t, count, space)
    given = [_fitted(s, _value(s, v), t) for o in rest for v in vector(o)][: count + int("cas" in i.parts)]
    before = read(s.st, where, t, count, s.node.loc)
    op = next((_ATOMICS[p] for p in i.parts if p in _ATOMICS and t.kind == "int" and count == 1), None)
    values = [Op(op, (before[0], given[0]), s.node.loc)] if op else list[Expr]()
    if not values:
        first, base = based(before[0], scalar(t) or INT, s.node.loc)
        mixed = called(f"ptx_{i.parts[0]}", first, given, s.node.loc)
        values = [retyped(mixed, base, scalar(t) or INT, s.node.loc)] * count
    write(s.st, where, t, values, s.node.loc)
    what = "an atomic instruction in inline assembly is a read and a write of one lock-step instruction"
    s.st.note(f"{what}: collisions of lanes are not counted")
    for name in vector(i.operands[0]) if returns else ():
        _write(s, name, Operand(anything(s.st, "ptx_atom", TIDS, scalar(t) or INT, s.node.loc), t))


_ATOMICS: Final = {"add": "+", "min": "min", "max": "max", "and": "&", "or": "|", "xor": "^"}


def _copy(s: _Statement, i: Instruction) -> None:
    """An asynchronous copy: a read of global memory and a write of shared memory, of 4, 8 or 16 bytes."""
    size = immediate(i.operands[2]) if len(i.operands) > 2 else None
    if len(i.operands) > 2 and size is None:
        given = _value(s, i.operands[2]).value
        size = given.value if isinstance(given, Const) else None
    if size not in ONCE:
        raise unsupported(f"'{i.opcode}' of a size that is not 4, 8 or 16", s.node.loc)
    count = int(size) // 4
    for o in i.operands[3:]:
        evaluate(s.st, _value(s, o).value)
    origin, _ = _cell(s, i.operands[1], WORD, count, "global")
    target, _ = _cell(s, i.operands[0], WORD, count, "shared")
    write(s.st, target, WORD, read(s.st, origin, WORD, count, s.node.loc), s.node.loc)
    s.st.note("an asynchronous copy is a read and a write where it is started")


def _matrix(s: _Statement, i: Instruction) -> None:
    """Matrices of 8 x 8 elements between shared memory and the registers of a warp: the lanes whose rows they are
    access 16 bytes each, all of them for four matrices."""
    loc, loads = s.node.loc, i.parts[0] == "ldmatrix"
    count = next((_MATRICES[p] for p in i.parts if p in _MATRICES), 0)
    if not count or i.parts[-1] != "b16" or "m8n8" not in i.parts or len(i.operands) != 2:
        raise unsupported(f"'{i.opcode}' in inline assembly", loc)
    at, registers = i.operands[int(loads)], vector(i.operands[int(not loads)])
    if len(registers) != count:
        raise unsupported(f"this form of '{i.opcode}' in inline assembly", loc)
    given = [] if loads else [_fitted(s, _value(s, r), WORD) for r in registers]
    where, _ = _cell(s, at, WORD, _ROW // 4, "shared")
    with s.st.captured() as stmts:
        if loads:
            evaluate(s.st, Read(*element(s.st, where, WORD, loc, _ROW), loc))
        else:
            write(s.st, where, WORD, [*given, *[given[-1]] * (4 - len(given))], s.node.loc)
    rows = Op("<", (_LANE, Const(8 * count)), loc)
    s.st.emit(*(stmts if count == 4 else [If(rows, seq(*stmts), Skip(), loc)]))
    s.st.note("'ldmatrix' and 'stmatrix' are one access of 16 bytes by each lane that has a row")
    for name in registers if loads else ():
        t = _register_type(s, name)
        _write(s, name, Operand(anything(s.st, "ldmatrix", TIDS, scalar(t) or INT, loc), t))
