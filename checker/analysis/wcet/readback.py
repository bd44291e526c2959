"""A mini-SIMT program as a miniCUDA kernel, so that the logic can bound what it issues and loads.

Under the metrics `PRICES` the kernel costs what the program issues: an assignment is an instruction, a test two (the
branch, and the jump back or the sync), expressions cost nothing. A branch on a value that has just been computed tests
the expression itself. Numbers are whole: a fraction is followed as some whole number other than 0, so what it is
rounded to may be any number, as may what is computed in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from checker.analysis.wcet.sound import Prices
from checker.analysis.wcet.structure import Block, Choice, Loop, Step
from logic.metrics import Linear, Metric
from logic.operators import ARITHMETIC, COMPARISONS, CONNECTIVES, NEGATED
from logic.syntax import (
    INT,
    Array,
    Assign,
    Const,
    Decl,
    Expr,
    If,
    Kernel,
    Op,
    Read,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    seq,
    substitute,
    subterms,
)
from logic.syntax import Param as Parameter
from logic.typing import TAKEN
from semantics.machine.program import (
    THREADS,
    TID,
    WARP_SIZE,
    Barrier,
    Branch,
    Compute,
    Copy,
    Init,
    Load,
    Operand,
    Param,
    Program,
    Store,
    written,
)
from semantics.values import literal

_ONE: Final = Fraction(1)
_EACH: Final = Linear(Fraction(0), _ONE)

PRICES: Final = Prices(
    Metric("instructions", {"vwrite": _ONE, "if": Fraction(2), "div": _ONE, "sync": _ONE}, {"gwrite": _EACH}),
    Metric("loads", counted={"gread": _EACH}),
)

MEMORY: Final = Array("memory", "global", INT, 4)
ANYTHING: Final = Array("anything", "shared", INT, 4)
"""Read where a thread's value is not followed: free, and different for each thread."""

_UNKNOWN: Final = Read(ANYTHING.name, Tid("x"))
_TICK: Final = "more"
_LOCAL: Final = "v."
_MOST_TERMS: Final = 50
"""Of an expression that stands for a variable in another one."""


def kernel(p: Program, tree: Block, threads: int, warp_size: int, name: str) -> Kernel:
    """The kernel of a program, for a launch."""
    given = {d.var for d in p.directives if isinstance(d, Param)}
    own = sorted({x for i in p.instructions if (x := written(i)) is not None})
    code = _Code(
        p,
        {THREADS: Const(threads), WARP_SIZE: Const(warp_size)},
        {x: f"{_LOCAL}{x}" if x in given else named(x) for x in own},
        _fractions(p),
    )
    start: list[Stmt] = []
    for d in p.directives:
        match d:
            case Param(var):
                code.names[var] = Parameter(named(var))
            case Init(var, op, args):
                operands = tuple(code.operand(a) for a in args)
                code.names[var] = operands[0] if op is None else code.applied(op, operands)
            case _:
                continue
        if d.var in own:
            start.append(Assign(code.locals[d.var], code.names[d.var]))
    code.names |= {x: Var(local) for x, local in code.locals.items()}
    body = seq(*start, *code.block(tree))
    locals_ = tuple(Decl(x, INT) for x in (*code.locals.values(), _TICK))
    params = tuple(Decl(named(x), INT) for x in sorted(given))
    return Kernel(name, params, (MEMORY, ANYTHING), locals_, body, p.instructions[0].loc)


def named(var: str) -> str:
    """The name of a variable or a parameter: the same, unless that name has a meaning in miniCUDA or here."""
    taken = var in (*TAKEN, MEMORY.name, ANYTHING.name, _TICK) or var.startswith(_LOCAL) or var.endswith("_")
    return f"{var}_" if taken else var


def _fractions(p: Program) -> frozenset[str]:
    """The variables that may hold a number that is not whole."""
    found: frozenset[str] = frozenset()
    while True:
        more = {d.var for d in p.directives if isinstance(d, Init) and d.op is None and _fraction(d.args[0], found)}
        for i in p.instructions:
            match i:
                case Load(var):
                    more.add(var)
                case Copy(var, value) if _fraction(value, found):
                    more.add(var)
                case Compute(var, op, args) if i.result.kind == "base" or (
                    op == "?:" and any(_fraction(a, found) for a in args[1:])
                ):
                    more.add(var)
        if more <= found:
            return found
        found |= more


def _fraction(o: Operand, fractions: frozenset[str]) -> bool:
    return o.name in fractions if isinstance(o, Var) else isinstance(literal(o), float)


@dataclass(slots=True)
class _Code:
    """`names` has what variables stand for, `locals` what those are called that are written, `fractions` those that may
    hold a number that is not whole, `values` the expressions that variables are known to equal."""

    program: Program
    names: dict[str, Expr]
    locals: dict[str, str]
    fractions: frozenset[str]
    values: dict[str, Expr] = field(default_factory=dict)

    def operand(self, o: Operand) -> Expr:
        if isinstance(o, Const):
            value = literal(o)
            return _UNKNOWN if isinstance(value, float) else Const(int(value))
        return Tid("x") if o.name == TID else self.names[o.name]

    def applied(self, op: str, args: tuple[Expr, ...]) -> Expr:
        """An operator on whole numbers, as a whole number."""
        match op:
            case "int":
                return args[0]
            case "bool":
                return Op("int", (_truth(args[0]),))
            case "?:":
                return Op(op, (_truth(args[0]), *args[1:]))
        if op in COMPARISONS:
            return Op("int", (Op(op, args),))
        if op in CONNECTIVES or op == "!":
            return Op("int", (Op(op, tuple(map(_truth, args))),))
        return Op(op, args) if op in (*ARITHMETIC, "neg", "~", "abs") else _UNKNOWN

    def meaning(self, o: Operand) -> Expr:
        """The operand, or the test that it is known to be the outcome of."""
        value = self.known(o.name) if isinstance(o, Var) else None
        return value if isinstance(value, Op) and value.op == "int" else self.operand(o)

    def known(self, var: str) -> Expr | None:
        """An expression that a variable is known to equal, if a short one is."""
        value = self.values.get(var)
        return None if value is None or sum(1 for _ in subterms(value)) > _MOST_TERMS else value

    def assign(self, var: str, e: Expr, at: int, meaning: Expr | None = None) -> Stmt:
        name, before = self.locals[var], self.known(var)
        value = meaning or e
        if before is not None:  # P would lose what the variable is, were it assigned to from itself
            e, value = substitute(e, {name: before}), substitute(value, {name: before})
        self.values = {x: v for x, v in self.values.items() if x != var and Var(name) not in subterms(v)}
        if not any(isinstance(t, Read) or t == Var(name) for t in subterms(value)):
            self.values[var] = value
        return Assign(name, e, self.program.instructions[at].loc)

    def block(self, tree: Block) -> list[Stmt]:
        found: list[Stmt] = []
        for node in tree:
            match node:
                case Step(address):
                    found.append(self.step(address))
                case Choice(branch, behind, jumped, leap):
                    test = self.test(branch)
                    known = dict(self.values)
                    one = self.block(behind)
                    if leap is not None:
                        one.append(Assign(_TICK, Const(0)))
                    self.values = known
                    other = self.block(jumped)
                    self.values = {}
                    loc = self.program.instructions[branch].loc
                    found.append(If(_positive(Op("!", (test,))), seq(*one), seq(*other), loc))
                case Loop(head, branch, body, jump):
                    self.values = {}
                    first = self.block(head)
                    test = self.test(branch)
                    self.values = {}
                    again = (*self.block(body), *first)
                    stay = test if jump is None else Op("!", (test,))
                    found += [*first, While(_positive(stay), seq(*again), self.program.instructions[branch].loc)]
                    self.values = {}
        return found

    def step(self, at: int) -> Stmt:
        i = self.program.instructions[at]
        match i:
            case Copy(var, value):
                return self.assign(var, self.operand(value), at)
            case Load(var, address):
                return self.assign(var, Read(MEMORY.name, self.operand(address)), at)
            case Compute(var, op, args, type_):
                rounds = op == "int" and _fraction(args[0], self.fractions)
                if rounds or type_ != INT or op.startswith(("call:", "as:")):
                    return self.assign(var, _UNKNOWN, at)
                e, meaning = (self.applied(op, tuple(map(way, args))) for way in (self.operand, self.meaning))
                return self.assign(var, e, at, meaning)
            case Store(address, value):
                return Write(MEMORY.name, self.operand(address), self.operand(value), i.loc)
            case Barrier():
                return Sync(i.loc)
        raise TypeError(f"{type(i).__name__} is part of a branch")

    def test(self, branch: int) -> Expr:
        """Whether a thread jumps at a branch."""
        i = self.program.instructions[branch]
        if not isinstance(i, Branch):
            raise TypeError(f"instruction {branch} is no branch")
        cond = self.operand(i.cond)
        if isinstance(i.cond, Var):
            cond = self.values.get(i.cond.name, cond)
        return _positive(Op("!", (_truth(cond),)) if i.zero else _truth(cond))


def _truth(e: Expr) -> Expr:
    """Whether a whole number is not 0."""
    return e.args[0] if isinstance(e, Op) and e.op == "int" else Op("!=", (e, Const(0)))


def _positive(e: Expr) -> Expr:
    """The expression without a negation in front, where there is another way to say it."""
    if isinstance(e, Op) and e.op == "!":
        (inner,) = e.args
        if isinstance(inner, Op) and inner.op == "!":
            return _positive(inner.args[0])
        if isinstance(inner, Op) and inner.op in NEGATED:
            return Op(NEGATED[inner.op], inner.args)
    return e
