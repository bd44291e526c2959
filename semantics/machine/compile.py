"""miniCUDA, and so CUDA C, to mini-SIMT: an instruction an operator, one for each address and one for each access.

    if e then s1 else s2          while (e) s

          e to p                  loop: e to p
          bnz p, then                   bz p, end
          s2                            s
          jump end                      jump loop
    then: s1                      end:  sync
    end:  sync

Those who jump at a branch go first, so the threads of a warp do things in the order of `semantics.lockstep`. Every
`__syncthreads()` is a barrier of its own for all threads of the block that have not ended.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from logic.source import Loc
from logic.syntax import (
    DOUBLE,
    INT,
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Tid,
    Type,
    Var,
    While,
    Write,
    evaluated,
    statements,
    subterms,
    written,
)
from logic.syntax import Sync as SyncThreads
from logic.typing import Signature, check_kernel, type_of
from semantics.events import Dim
from semantics.machine import program as simt
from semantics.machine.program import (
    BASE_TYPES,
    LAUNCH,
    TID,
    Barrier,
    Branch,
    Compute,
    Copy,
    Init,
    Instruction,
    Jump,
    Load,
    Operand,
    Program,
    Store,
    Sync,
)
from semantics.values import literal

SPACING: Final = 1 << 40
"""Cells from the beginning of one array to that of the next."""
ROOM: Final = 1 << 39
"""Cells of an array whose length is not known: what is out of an array's bounds by less is in no array."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel as a program for blocks of one shape.

    `bases` has the address of each array's element 0; `params` what the program's parameters are called in the kernel:
    those that the kernel reads of its own, `blockIdx.*` and `gridDim.*`.
    """

    program: Program
    bases: dict[str, int]
    params: dict[str, str]


def compile_kernel(kernel: Kernel, block: Dim) -> Compiled:
    """The program of a kernel for blocks of this shape. Raises TypeProblem for an ill-typed kernel."""
    sigma = check_kernel(kernel)
    bases = {a.name: n * SPACING for n, a in enumerate(kernel.arrays)}
    kept = (s for s in statements(kernel.body) if not isinstance(s, Assume))  # what is assumed is no instruction
    reads = {t for s in kept for e in evaluated(s) for t in subterms(e)}
    used = {t.name for t in reads if isinstance(t, Param)}
    code = _Code(sigma, block, names={x: _free(x) for x in (*sigma.locals, *sigma.params, *sigma.arrays)})
    dims = {f"blockDim.{axis}": n for axis, n in zip("xyz", block, strict=True)}
    params = {code.names[name]: name for name in sigma.params if name in used and name not in (*LAUNCH, *dims)}
    directives: list[simt.Directive] = [simt.Param(name) for name in params]
    directives += [Init(name, None, (Const(n),)) for name, n in dims.items() if name in used]
    directives += [Init(code.names[a], None, (Const(base),)) for a, base in bases.items()]
    for d in kernel.locals:
        if Var(d.name) in reads and (d.type.kind == "base" or d.name not in written(kernel.body)):
            directives.append(Init(code.names[d.name], None, (ZERO if d.type.kind == "base" else Const(0),)))
    code.axes({t.axis for t in reads if isinstance(t, Tid)})
    code.statement(kernel.body)
    code.instructions = code.instructions or [Copy(code.temporary(0), Const(0))]
    return Compiled(simt.program(tuple(directives), *code.finished()), bases, params)


ZERO: Final = Const("0.0", DOUBLE)


def _free(name: str) -> str:
    """The name in the program: some that a kernel may use have a meaning of their own there."""
    return f"{name}_" if name.rstrip("_") in (TID, LAUNCH[0]) else name


@dataclass(slots=True)
class _Code:
    """Instructions so far. Targets of jumps are numbers of labels until `finished`."""

    sigma: Signature
    block: Dim
    names: dict[str, str]  # what the kernel's names are called in the program
    instructions: list[Instruction] = field(default_factory=list)
    labels: list[tuple[str, int | None]] = field(default_factory=list)
    barriers: dict[object, int] = field(default_factory=dict)
    tids: dict[str, Operand] = field(default_factory=dict)

    # --- names and labels ---

    def temporary(self, number: int) -> str:
        """A variable that the kernel does not have."""
        name = f"_{number}"
        while name in self.names.values():
            name = f"_{name}"
        return name

    def label(self, name: str) -> int:
        """A label whose place is not known yet."""
        self.labels.append((f"{name}{len(self.labels) + 1}", None))
        return len(self.labels) - 1

    def place(self, label: int) -> None:
        """The label stands for the next instruction."""
        self.labels[label] = (self.labels[label][0], len(self.instructions))

    def finished(self) -> tuple[tuple[Instruction, ...], dict[int, str]]:
        """The instructions with addresses as targets, and the labels of addresses."""
        places = [at or 0 for _, at in self.labels]
        done = (replace(i, target=places[i.target]) if isinstance(i, Branch | Jump) else i for i in self.instructions)
        names: dict[int, str] = {}
        for name, at in self.labels:
            if at is not None:
                names.setdefault(at, name)
        return tuple(done), names

    def emit(self, i: Instruction) -> None:
        self.instructions.append(i)

    # --- threadIdx ---

    def axes(self, used: Iterable[str]) -> None:
        """Computes the components of threadIdx that are used from the thread's number."""
        x, y, _ = self.block
        for axis in sorted(used):
            name = f"tid.{axis}"
            self.tids[axis] = Var(name)
            match axis:
                case "x" if self.block[1:] == (1, 1):
                    self.tids[axis] = Var(TID)
                case "x":
                    self.emit(Compute(name, "%", (Var(TID), Const(x))))
                case "y":
                    self.emit(Compute(name, "/", (Var(TID), Const(x))))
                    self.emit(Compute(name, "%", (Var(name), Const(y))))
                case _:
                    self.emit(Compute(name, "/", (Var(TID), Const(x * y))))

    # --- expressions ---

    def operand(self, e: Expr, free: int) -> Operand:
        """An operand with the value of e; temporaries from the number `free` on may be written."""
        match e:
            case Var(name) | Param(name):
                return Var(self.names[name], e.loc)
            case Tid(axis):
                return self.tids[axis]
            case Const():
                return _constant(e)
        target = self.temporary(free)
        self.assign(target, e, free, e.loc)
        return Var(target, e.loc)

    def assign(self, target: str, e: Expr, free: int, loc: Loc | None) -> None:
        """The value of e to a variable, which only the last instruction writes."""
        match e:
            case Op(op, args):
                operands = []
                for a in args:
                    operands.append(self.operand(a, free))
                    free += operands[-1] == Var(self.temporary(free))
                if op.startswith("as:"):
                    op = f"as:{_machine_type(type_of(e, self.sigma)).name}"
                type_ = _machine_type(type_of(args[-1], self.sigma))
                self.emit(Compute(target, op, tuple(operands), type_, e.loc))
            case Read(array, index):
                self.emit(Load(target, self.address(array, index, free, e.loc), e.loc))
            case _:
                self.emit(Copy(target, self.operand(e, free), loc))

    def address(self, array: str, index: Expr, free: int, loc: Loc | None) -> Operand:
        """An operand with the address of an element, in the temporary `free`."""
        at = self.operand(index, free)
        target = self.temporary(free)
        self.emit(Compute(target, "+", (Var(self.names[array]), at), INT, loc))
        return Var(target)

    # --- statements ---

    def statement(self, s: Stmt) -> None:
        match s:
            case Seq(stmts):
                for t in stmts:
                    self.statement(t)
            case Assign(x, e):
                self.assign(self.names[x], e, 0, s.loc)
            case Write(array, index, e):
                place = self.address(array, index, 0, s.loc)
                self.emit(Store(place, self.operand(e, 1), s.loc))
            case SyncThreads():
                ident = self.barriers.setdefault(s.loc or id(s), len(self.barriers))
                self.emit(Barrier(Const(ident), None, s.loc))
            case If(cond, then, orelse):
                self.conditional(s, cond, then, orelse)
            case While(cond, body):
                loop, end = self.label("loop"), self.label("end")
                self.place(loop)
                self.emit(Branch(True, self.operand(cond, 0), end, s.loc))
                self.statement(body)
                self.emit(Jump(loop, s.loc))
                self.place(end)
                self.emit(Sync(s.loc))

    def conditional(self, s: If, cond: Expr, then: Stmt, orelse: Stmt) -> None:
        p = self.operand(cond, 0)
        end = self.label("end")
        if orelse == Skip():
            self.emit(Branch(True, p, end, s.loc))
            self.statement(then)
        else:
            first = self.label("then")
            self.emit(Branch(False, p, first, s.loc))
            self.statement(orelse)
            self.emit(Jump(end, s.loc))
            self.place(first)
            self.statement(then)
        self.place(end)
        self.emit(Sync(s.loc))


def _constant(c: Const) -> Const:
    """The constant as an assembler reads it: whole numbers, and the shortest text of a double."""
    value = literal(c)
    if not isinstance(value, float):
        return Const(int(value), INT, c.loc)
    text = repr(value) if math.isfinite(value) else "1e999" if value > 0 else "-1e999"
    return Const(text, DOUBLE, c.loc)


def _machine_type(t: Type) -> Type:
    """The type in which the machine computes: that of whole numbers, or one of BASE_TYPES."""
    return BASE_TYPES.get(t.name, DOUBLE) if t.kind == "base" else INT
