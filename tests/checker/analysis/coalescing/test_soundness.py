"""No run needs more than is stated: random kernels, launches and contents, against the operational semantics."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass, field, replace

import pytest

from checker.analysis.coalescing.access import Key, Verdict
from checker.analysis.coalescing.exact import Finding, analyse
from checker.analysis.coalescing.observed import Observed, Watch
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.source import Loc
from logic.syntax import (
    BOOL,
    FALSE,
    FLOAT,
    INT,
    TRUE,
    Array,
    Assign,
    Assume,
    Const,
    Decl,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Sync,
    Tid,
    Type,
    Var,
    While,
    Write,
    seq,
)
from logic.typing import check_kernel
from semantics import grid
from semantics.lockstep import Initial, StepLimit
from tests.examples import LONG

NVIDIA = HARDWARE["nvidia"]
BYTE, DOUBLE = Type("int", "int", 4), Type("base", "double", 8)
ARRAYS = (
    Array("I", "global", INT, 4),
    Array("C", "global", BYTE, 1),
    Array("F", "global", FLOAT, 4),
    Array("D", "global", DOUBLE, 8),
    Array("P.x", "global", FLOAT, 12, 4, 4),
    Array("S", "shared", INT, 4, length=2048),
    Array("T", "shared", DOUBLE, 8, length=1024),
)

BLOCKS = ((32, 1, 1), (64, 1, 1), (100, 1, 1), (7, 5, 1), (48, 2, 1), (8, 8, 1), (16, 2, 1), (32, 2, 1), (256, 1, 1))
ALLOWED: dict[Verdict, tuple[Verdict, ...]] = {
    "coalesced": ("coalesced",),
    "misaligned": ("coalesced", "misaligned"),
    "conflict-free": ("conflict-free",),
}
"""What runs may show of an access, by what is stated of it; whatever else is stated allows all."""


@dataclass
class Programs:
    """Random kernels: small expressions over everything that an index may depend on, branches, loops that end."""

    rng: random.Random
    x_only: bool = False
    loops: int = 0
    ints: list[str] = field(default_factory=lambda: ["x", "y", "z"])

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def leaf(self) -> Expr:
        match self.pick("local", "local", "param", "const", "const", "tid", "tid", "block"):
            case "local":
                return Var(self.rng.choice(self.ints))
            case "param":
                return Param(self.pick("n", "m"))
            case "const":
                return Const(self.rng.choice((0, 1, 2, 3, 4, 8, 15, 16, 17, 31, 32, 33, 64)))
            case "tid":
                return Tid("x" if self.x_only or self.rng.random() < 0.7 else "y")
            case _:
                return Param(self.pick("blockIdx.x", "blockDim.x", "gridDim.x"))

    def number(self, depth: int) -> Expr:
        kind = self.pick("leaf", "op", "op", "op", "rare") if depth else "leaf"
        if kind == "leaf":
            return self.leaf()
        if kind == "op":
            op = self.pick("+", "+", "+", "-", "*", "*", "/", "%", "&", ">>", "min", "max")
            right = Const(self.rng.choice((1, 2, 3, 5))) if op == ">>" else self.number(depth - 1)
            return Op(op, (self.number(depth - 1), right))
        match self.pick("read", "?:", "int", "neg", "float"):
            case "read":
                return Read(self.pick("I", "C", "S"), self.number(depth - 1))
            case "?:":
                return Op("?:", (self.truth(1), self.number(depth - 1), self.number(depth - 1)))
            case "int":
                return Op("int", (self.truth(1),))
            case "neg":
                return Op("neg", (self.number(depth - 1),))
            case _:
                return Op("int", (Op("as:float", (self.number(depth - 1),)),))

    def truth(self, depth: int) -> Expr:
        match self.pick("compare", "compare", "compare", "and", "or", "not", "flag") if depth else "compare":
            case "and" | "or" as kind:
                return Op("&&" if kind == "and" else "||", (self.truth(depth - 1), self.truth(depth - 1)))
            case "not":
                return Op("!", (self.truth(depth - 1),))
            case "flag":
                return Var("flag")
        op = self.pick("<", "<=", ">", ">=", "==", "!=")
        return Op(op, (self.number(1), self.number(1)))

    def access(self) -> Stmt:
        array = self.rng.choice(ARRAYS)
        index = self.number(2)
        if array.elem == INT and self.rng.random() < 0.5:
            return Write(array.name, index, self.number(1))
        if array.elem == INT:
            return Assign(self.rng.choice(self.ints), Read(array.name, index))
        if self.rng.random() < 0.5:
            return Write(array.name, index, Var("f" if array.elem == FLOAT else "d"))
        return Assign("f" if array.elem == FLOAT else "d", Read(array.name, index))

    def statement(self, depth: int) -> Stmt:
        match self.pick("access", "access", "assign", "assign", "flag", *(["if", "if", "loop", "loop"] * (depth > 0))):
            case "access":
                return self.access()
            case "assign":
                return Assign(self.rng.choice(self.ints), self.number(2))
            case "flag":
                return Assign("flag", self.truth(1))
            case "if":
                orelse = self.block(depth - 1) if self.rng.random() < 0.5 else Skip()
                return If(self.truth(1), self.block(depth - 1), orelse)
        self.loops += 1
        k = f"k{self.loops}"
        more: Expr = Op("<", (Var(k), self.rng.choice((Const(3), Op("%", (self.number(1), Const(4))), Const(2)))))
        if self.rng.random() < 0.3:
            more = Op("&&", (more, self.truth(0)))
        first = self.rng.choice((Const(0), Tid("x"), Op("%", (Tid("x"), Const(3)))))
        step = self.rng.choice((Const(1), Const(2), Op("+", (Const(1), Op("max", (Const(0), self.leaf()))))))
        turn = seq(self.block(depth - 1), Assign(k, Op("+", (Var(k), step))))
        if self.rng.random() < 0.6:
            return seq(Assign(k, first), While(more, turn))
        # with a `break`, as the front end lowers it
        leave = seq(*(self.statement(0) for _ in range(self.rng.randint(0, 1))), Assign("flag", FALSE))
        sides = (leave, turn) if self.rng.random() < 0.7 else (turn, leave)
        more = Op("&&", (Var("flag"), more))
        return seq(Assign("flag", TRUE), Assign(k, first), While(more, If(self.truth(1), *sides)))

    def block(self, depth: int) -> Stmt:
        return seq(*(self.statement(depth) for _ in range(self.rng.randint(1, 3))))

    def kernel(self) -> Kernel:
        body = placed(seq(*(self.statement(2) for _ in range(self.rng.randint(2, 6)))), [0])
        counters = [f"k{i + 1}" for i in range(self.loops)]
        locals_ = [Decl(x, INT) for x in (*self.ints, *counters)]
        typed = [Decl("flag", BOOL), Decl("f", FLOAT), Decl("d", DOUBLE)]
        return Kernel("k", (Decl("n", INT), Decl("m", INT)), ARRAYS, (*locals_, *typed), body)


class Tame(Programs):
    """Kernels of which much can be said: indices near threadIdx.x, moved by whole lines in loops and branches."""

    def leaf(self) -> Expr:
        match self.pick("local", "local", "local", "tid", "const", "param"):
            case "local":
                return Var(self.rng.choice(self.ints))
            case "tid":
                return Tid("x")
            case "const":
                return Const(self.rng.choice((0, 32, 64, 96)))
            case _:
                return Op("*", (Const(32), Param("n")))

    def number(self, depth: int) -> Expr:
        match self.pick("leaf", "leaf", "add", "add", "clamp", "?:", "div", "read") if depth else "leaf":
            case "add":
                return Op("+", (self.leaf(), Const(self.rng.choice((0, 32, 32, 64, -32, 1)))))
            case "clamp":
                return Op(self.pick("min", "max"), (self.leaf(), self.leaf()))
            case "?:":
                return Op("?:", (self.truth(0), self.leaf(), self.leaf()))
            case "div":
                return Op(self.pick("/", "%", "&"), (self.leaf(), Const(self.rng.choice((2, 3, 32, 31)))))
            case "read":
                return Read(self.pick("I", "S"), self.leaf())
        return self.leaf()

    def truth(self, depth: int) -> Expr:
        if depth and self.rng.random() < 0.3:
            return Var("flag")
        if self.rng.random() < 0.2:  # on values that are not integers
            return Op("<", (Var("f"), Read("F", self.leaf())))
        right = self.rng.choice((Param("m"), Const(16), Const(33), Var(self.rng.choice(self.ints))))
        left = Op("%", (Tid("x"), Const(4))) if self.rng.random() < 0.3 else self.leaf()
        return Op(self.pick("<", "<=", ">", ">=", "=="), (left, right))

    def kernel(self) -> Kernel:
        plain = super().kernel()
        starts = [Assign(x, self.rng.choice((Tid("x"), Tid("x"), Const(0)))) for x in self.ints]
        last = [self.access() for _ in range(3)]
        return replace(plain, body=placed(seq(*starts, plain.body, *last), [0]))


class Leaving(Tame):
    """Loops that lanes leave at different turns, some after all of them have moved by whole lines."""

    def statement(self, depth: int) -> Stmt:
        if not depth or self.rng.random() < 0.4:
            return super().statement(0)
        self.loops += 1
        k = f"k{self.loops}"
        moved = self.rng.choice((*self.ints, k))
        move = Assign(moved, Op("+", (Var(moved), Const(self.rng.choice((1, 32, 32, -64))))))
        stay = self.rng.choice((Skip(), Assign("flag", self.truth(0)), self.statement(depth - 1)))
        turn = [
            move,
            If(self.truth(0), Assign("flag", FALSE), stay),
            *([self.access()] if self.rng.random() < 0.5 else []),
        ]
        self.rng.shuffle(turn)
        count = Op("<", (Var(k), Const(3)))
        more: Expr = self.rng.choice((Var("flag"), Op("&&", (Var("flag"), count))))
        body = seq(*turn, Assign(k, Op("+", (Var(k), Const(1)))))
        return seq(
            Assign("flag", TRUE), Assign(k, self.rng.choice((Const(0), Tid("x")))), While(more, body), self.near()
        )

    def near(self) -> Stmt:
        """An access by what a variable has moved."""
        x = Var(self.rng.choice((*self.ints, f"k{self.loops}")))
        return Write("I", self.rng.choice((x, Op("-", (x, Tid("x"))))), Const(1))


def placed(s: Stmt, count: list[int]) -> Stmt:
    """The statement with a place of its own for every access."""

    def loc() -> Loc:
        count[0] += 1
        return Loc("random.cu", count[0], 1)

    def expr(e: Expr) -> Expr:
        match e:
            case Op(op, args):
                return Op(op, tuple(map(expr, args)))
            case Read(array, index):
                return Read(array, expr(index), loc())
        return e

    match s:
        case Seq(stmts):
            return seq(*(placed(t, count) for t in stmts))
        case Assign(x, e):
            return Assign(x, expr(e), loc())
        case Write(array, index, e):
            return Write(array, expr(index), expr(e), loc())
        case If(c, a, b):
            return If(expr(c), placed(a, count), placed(b, count), loc())
        case While(c, body):
            return While(expr(c), placed(body, count), loc())
        case Skip() | Sync() | Assume():
            return s


def seen_in_a_run(kernel: Kernel, block: tuple[int, int, int], rng: random.Random) -> dict[Key, Observed]:
    """What a run of two blocks needs; one that takes too long counts as far as it came."""
    watch = Watch(kernel, block)
    seed = rng.randrange(1 << 30)
    some = Initial(lambda i: random.Random(seed + i).choice((0, 1, 5, 31, 32, 100, 999, -7)))
    args = {"n": rng.choice((0, 1, 2, 7, 31, 32, 64, 100)), "m": rng.choice((0, 1, 3, 32, 129, -5))}
    with contextlib.suppress(StepLimit):
        grid.run(kernel, block, (2, 1, 1), args, {"I": some, "C": some}, (), NVIDIA, 300, watch)
    return watch.found


def stated(kernel: Kernel, block: tuple[int, int, int] | None) -> dict[Key, Finding]:
    launch = Launch(block or (None, None, None))
    found = analyse(kernel, Context(check_kernel(kernel), METRICS["sectors"], NVIDIA, launch))
    return {f.access.key: f for f in found.findings}


def check(kernel: Kernel, block: tuple[int, int, int], rng: random.Random) -> int:
    """Compares what is stated with two runs; the number of accesses that were executed."""
    here = stated(kernel, block)
    count = 0
    for _ in range(2):
        for key, seen in seen_in_a_run(kernel, block, rng).items():
            f = here[key]
            assert seen.most <= f.transactions, (str(key), seen, f.verdict, f.transactions)
            assert seen.verdict in ALLOWED.get(f.verdict, (seen.verdict,)), (str(key), seen, f.verdict, f.transactions)
            count += 1
    return count


@pytest.mark.parametrize("part", range(40 if LONG else 2))
@pytest.mark.parametrize("kind", [Programs, Tame, Leaving])
def test_no_run_needs_more_than_is_stated(kind: type[Programs], part: int) -> None:
    executed = 0
    for number in range(20 if kind is Leaving else 8):
        rng = random.Random(1000 * part + number)
        executed += check(kind(rng).kernel(), rng.choice(BLOCKS), rng)
    assert executed > 20  # the property is about something


def test_the_property_can_fail() -> None:
    """With the bound of another access, or a verdict that is too good, the comparison says so."""
    rng = random.Random(7)
    body = placed(seq(Write("I", Op("*", (Tid("x"), Const(2))), Const(1))), [0])
    kernel = Kernel("k", (Decl("n", INT), Decl("m", INT)), ARRAYS, (), body)
    (good,) = stated(kernel, (32, 1, 1)).values()
    (seen,) = seen_in_a_run(kernel, (32, 1, 1), rng).values()
    assert (good.verdict, good.transactions, seen.verdict, seen.most) == ("uncoalesced", 2, "uncoalesced", 2)
    assert seen.verdict not in ALLOWED["misaligned"]
