"""Programs of the mini-SIMT machine (Hirvisalo, WCET 2014, section 4) as frozen data, and where their threads rejoin.

An address in a program is the number of an instruction, from 0; the address behind the last one is the end. Operands
are the `Var` and `Const` of miniCUDA; `Tid` (the thread's number in its block), `threads` and `warpSize` can only be
read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from logic.operators import ARITHMETIC, COMPARISONS, CONNECTIVES
from logic.source import Loc, SourceError
from logic.syntax import BOOL, DOUBLE, FLOAT, INT, Const, Type, Var

TID: Final = "Tid"
THREADS: Final = "threads"
WARP_SIZE: Final = "warpSize"
LAUNCH: Final = (THREADS, WARP_SIZE)
"""Read-only variables: the number of threads of the block and the width of a warp."""

BINARY: Final = (*ARITHMETIC, *COMPARISONS, *CONNECTIVES)


class ProgramProblem(SourceError):
    """A program that cannot be: at its place, with advice."""


Operand = Var | Const

# --- instructions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Branch:
    """bz v, l and bnz v, l: the threads whose v is zero, or is not, go to l, the others to the next instruction."""

    zero: bool
    cond: Operand
    target: int
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Jump:
    """jump l"""

    target: int
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Load:
    """load v = a: what memory holds at address a. The only instruction that stalls."""

    var: str
    address: Operand
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Store:
    """store a = v"""

    address: Operand
    value: Operand
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Copy:
    """const v = n; as in the paper's Fig. 2, n may be a variable."""

    var: str
    value: Operand
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Compute:
    """binop v = a op b, and call v = f(a, ...) for the operators of miniCUDA that are not binary.

    `op` is spelled as in `logic.syntax.Op`; `type` is that of the last operand: INT (bools are 0 and 1) or a base type.
    """

    var: str
    op: str
    args: tuple[Operand, ...]
    type: Type = INT
    loc: Loc | None = field(default=None, compare=False, repr=False)

    @property
    def result(self) -> Type:
        """The type of the value."""
        if self.op == "bool" or self.op in COMPARISONS or self.op in CONNECTIVES or self.op == "!":
            return BOOL
        if self.op.startswith("as:"):
            return BASE_TYPES[self.op.removeprefix("as:")]
        return INT if self.op == "int" else self.type


@dataclass(frozen=True, slots=True)
class Sync:
    """sync: where the threads that parted at a branch rejoin."""

    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Barrier:
    """barrier i, n: wait until n threads wait at barrier i. Without a count: all threads that have not ended."""

    ident: Operand
    count: Operand | None
    loc: Loc | None = field(default=None, compare=False, repr=False)


Instruction = Branch | Jump | Load | Store | Copy | Compute | Sync | Barrier


def opcode(i: Instruction) -> str:
    """The word that a program's text has for an instruction."""
    match i:
        case Branch(zero):
            return "bz" if zero else "bnz"
        case Compute(_, op):
            return "binop" if op in BINARY else "call"
        case Copy():
            return "const"
    return type(i).__name__.lower()


def operands(i: Instruction) -> tuple[Operand, ...]:
    """The operands that an instruction reads, apart from memory."""
    match i:
        case Branch(_, cond):
            return (cond,)
        case Load(_, address):
            return (address,)
        case Store(address, value):
            return (address, value)
        case Copy(_, value):
            return (value,)
        case Compute(_, _, args):
            return args
        case Barrier(ident, count):
            return (ident,) if count is None else (ident, count)
    return ()


def written(i: Instruction) -> str | None:
    """The variable that an instruction writes."""
    return i.var if isinstance(i, Load | Copy | Compute) else None


BASE_TYPES: Final = {t.name: t for t in (FLOAT, DOUBLE)}
"""The types of floating-point numbers. What C computes in another one is computed in `double`."""


# --- directives ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Init:
    """.init v = a [op b]: a variable before the run, the same for all threads.

    The operands are numbers, `threads`, `warpSize`, parameters and variables initialised before.
    """

    var: str
    op: str | None
    args: tuple[Operand, ...]
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Param:
    """.param v: a variable that the launch gives a value, the same for all threads."""

    var: str
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Data:
    """.data a = n, n, ... or .data a = iota n: what memory holds from address a on before the run.

    `iota` counts from 0 and has `values` as its one argument, the number of cells. What is not given is 0.
    """

    address: Operand
    kind: Literal["values", "iota"]
    values: tuple[Operand, ...]
    loc: Loc | None = field(default=None, compare=False, repr=False)


Directive = Init | Param | Data


# --- programs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its directives and its instructions in order, and the labels by the address they stand for.

    `rejoin` has the address of the `sync` of every branch that can be reached. Build it with `program`.
    """

    directives: tuple[Directive, ...]
    instructions: tuple[Instruction, ...]
    labels: dict[int, str]
    rejoin: dict[int, int] = field(compare=False)

    def name(self, address: int) -> str:
        """The label of an instruction, or else its address as text."""
        return self.labels.get(address) or str(address)


def program(
    directives: tuple[Directive, ...], instructions: tuple[Instruction, ...], labels: dict[int, str]
) -> Program:
    """A program with its `sync`s matched to its branches.

    Raises ProgramProblem where there are no instructions, a variable is read that nothing gives a value, `Tid` is
    written, or syncs and branches do not match.
    """
    if not instructions:
        raise ProgramProblem("the program has no instructions", advice="Write at least one, such as `const x = 1`.")
    _check_variables(directives, instructions)
    return Program(directives, instructions, labels, _rejoins(instructions, labels))


def _check_variables(directives: tuple[Directive, ...], instructions: tuple[Instruction, ...]) -> None:
    known = dict.fromkeys(LAUNCH)
    for d in directives:
        used = d.args if isinstance(d, Init) else (d.address, *d.values) if isinstance(d, Data) else ()
        for o in used:
            if isinstance(o, Var) and o.name not in known:
                raise ProgramProblem(f"'{o.name}' has no value here", o.loc, f"Known: {', '.join(known)}.")
        if isinstance(d, Init | Param):
            _check_written(d.var, d.loc)
            if d.var in known:
                raise ProgramProblem(f"'{d.var}' gets two values before the run", d.loc, "Leave one of them out.")
            known[d.var] = None
    known[TID] = None
    for i in instructions:
        if var := written(i):
            _check_written(var, i.loc)
            known[var] = None
    for i in instructions:
        for o in operands(i):
            if isinstance(o, Var) and o.name not in known:
                advice = f"Write `.init {o.name} = {THREADS}`, say, or `.param {o.name}`."
                raise ProgramProblem(f"nothing gives '{o.name}' a value", o.loc or i.loc, advice)


def _check_written(var: str, loc: Loc | None) -> None:
    if var in (TID, *LAUNCH):
        raise ProgramProblem(f"'{var}' has a meaning of its own and cannot be written", loc, "Choose another name.")


# --- where threads rejoin --------------------------------------------------------------------------------------------

_MOST_STATES: Final = 100_000


def successors(address: int, i: Instruction) -> tuple[int, ...]:
    """The addresses that may come after an instruction."""
    match i:
        case Branch(_, _, target):
            return (target, address + 1)
        case Jump(target):
            return (target,)
    return (address + 1,)


def _rejoins(instructions: tuple[Instruction, ...], labels: dict[int, str]) -> dict[int, int]:
    """The sync of every branch.

    Follows every way through the program with the branches that are open on it, innermost last. A branch that is the
    innermost open one already is a loop's and opens nothing; a sync closes the innermost one.
    """

    def told(address: int) -> str:
        return f"{labels.get(address, opcode(instructions[address]))} ({_line(instructions[address].loc)})"

    sync_of: dict[int, int] = {}
    branch_of: dict[int, int] = {}
    todo: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    seen = set(todo)
    while todo:
        at, opened = todo.pop()
        if at == len(instructions):
            if opened:
                loc = instructions[opened[-1]].loc
                raise ProgramProblem("no sync rejoins the threads that part here before the program ends", loc, _ADVICE)
            continue
        i = instructions[at]
        match i:
            case Branch() if opened[-1:] != (at,):
                if at in opened:
                    message = f"this branch is reached again before a sync for {told(opened[-1])}"
                    raise ProgramProblem(message, i.loc, _ADVICE)
                opened = (*opened, at)
            case Sync():
                if not opened:
                    raise ProgramProblem("this sync rejoins nothing: no branch is open here", i.loc, _ADVICE)
                branch, opened = opened[-1], opened[:-1]
                if sync_of.setdefault(branch, at) != at:
                    message = f"a second sync for {told(branch)}, which {told(sync_of[branch])} rejoins"
                    raise ProgramProblem(message, i.loc, _ADVICE)
                if branch_of.setdefault(at, branch) != branch:
                    message = f"this sync would rejoin two branches, {told(branch_of[at])} and {told(branch)}"
                    raise ProgramProblem(message, i.loc, _ADVICE)
        for after in successors(at, i):
            if (after, opened) not in seen:
                seen.add((after, opened))
                todo.append((after, opened))
        if len(seen) > _MOST_STATES:
            raise ProgramProblem("branches are nested too deeply to follow", i.loc, "Make the program smaller.")
    return sync_of


_ADVICE: Final = (
    "Each bz and bnz needs one sync of its own, where both of its ways meet; loops need one behind their end."
)


def _line(loc: Loc | None) -> str:
    return f"line {loc.line}" if loc else "without a place"


def variables(p: Program) -> Iterator[str]:
    """The variables of a program, each once, in the order in which they come up."""
    found: dict[str, None] = {}
    for d in p.directives:
        if not isinstance(d, Data):
            found[d.var] = None
    for i in p.instructions:
        found |= {o.name: None for o in operands(i) if isinstance(o, Var)}
        if var := written(i):
            found[var] = None
    return iter(found)
