"""The semantics of proofs/coq against semantics/lockstep.py: random programs, whose costs and stores have to be equal.

`python -m tests.proofs.coq.differential --programs 10000` builds the extracted interpreter and compares as many.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from logic.metrics import COUNTED, FIXED, METRICS, Hardware, Linear, Metric
from logic.syntax import (
    BOOL,
    INT,
    Array,
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    seq,
)
from logic.typing import Signature
from semantics.events import Thread
from semantics.lockstep import Broken, Initial, Machine, StepLimit, Store, execute, linear
from semantics.values import Value

COQ: Final = Path(__file__).resolve().parents[3] / "proofs" / "coq"
NEEDED: Final = ("coqc", "ocamlopt", "make")
STEPS: Final = 200
"""What runs longer than this is not compared."""

INTS: Final = ("x", "y", "z")
BOOLS: Final = ("b", "c")
CELLS: Final = range(-3, 24)
"""The indices whose contents are compared, and given before the run."""


def missing() -> tuple[str, ...]:
    """The programs that a build needs and that are not here."""
    return tuple(name for name in NEEDED if shutil.which(name) is None)


def build(folder: Path) -> Path:
    """The extracted interpreter as a program, built in this folder."""
    program = folder / "lockstep"
    command = ["make", "-s", "-C", str(COQ), f"BUILD={folder}", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return program


@dataclass(frozen=True, slots=True)
class Case:
    """A program and all that its run depends on."""

    body: Stmt
    machine: Machine
    store: Store
    threads: tuple[Thread, ...]


# --- programs at random ----------------------------------------------------------------------------------------------


class Draw:
    """Draws cases from one source of randomness."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.arrays: tuple[Array, ...] = ()

    def case(self) -> Case:
        rng = self.rng
        self.arrays = tuple(self.array(name) for name in ("G", "H", "S"))
        block = rng.choice([(4, 1, 1), (8, 1, 1), (3, 2, 2), (2, 3, 1), (1, 2, 3), (32, 1, 1), (40, 1, 1)])
        machine = Machine(
            Signature(
                {**dict.fromkeys(INTS, INT), **dict.fromkeys(BOOLS, BOOL)},
                {"n": INT, "q": BOOL},
                {a.name: a for a in self.arrays},
            ),
            {"n": rng.randint(-2, 6), "q": rng.random() < 0.5},
            block,
            (*METRICS.values(), self.metric()),
            self.hardware(),
            {a.name: Initial(None, a.length) for a in self.arrays},
            STEPS,
        )
        x, y, z = block
        everyone = [Thread((0, 0, 0), (i, j, k)) for k in range(z) for j in range(y) for i in range(x)]
        some = rng.sample(everyone, rng.choice([1, len(everyone), rng.randint(1, len(everyone))]))
        threads = tuple(sorted(some, key=lambda t: linear(t.tid, block)))
        return Case(self.stmt(rng.randint(1, 6)), machine, self.store(everyone), threads)

    def array(self, name: str) -> Array:
        rng = self.rng
        width = rng.choice([1, 2, 4, 4, 8, 16])
        stride = width + rng.choice([0, 0, 0, 4, 24])
        offset = rng.choice([0, 0, 4, 28])
        space = "shared" if name == "S" else "global"
        elem = BOOL if name == "H" and rng.random() < 0.5 else INT
        return Array(name, space, elem, stride, offset, width, rng.choice([None, None, 4, 9]))  # type: ignore[arg-type]

    def metric(self) -> Metric:
        """Prices that are all different, some of them no whole numbers."""
        rng = self.rng
        price = {c: Fraction(rng.randint(0, 60), rng.choice([1, 1, 2, 3])) for c in FIXED}
        lines = {c: Linear(Fraction(rng.randint(0, 9), 2), Fraction(rng.randint(-9, 9))) for c in COUNTED}
        return Metric("drawn", price, lines)

    def hardware(self) -> Hardware:
        rng = self.rng
        return Hardware("drawn", rng.choice([8, 32]), rng.choice([2, 4, 32]), 4, rng.choice([2, 4, 32]))

    def store(self, threads: list[Thread]) -> Store:
        rng = self.rng
        cells = {
            a.name: {
                i: rng.random() < 0.5 if a.elem == BOOL else rng.randint(-3, 9) for i in CELLS if rng.random() < 0.7
            }
            for a in self.arrays
        }
        registers: dict[str, dict[Thread, Value]] = {}
        for name in (*INTS, *BOOLS):
            alike = rng.random() < 0.4
            common = rng.randint(-2, 5)
            registers[name] = {
                t: bool(v % 2) if name in BOOLS else v
                for t in threads
                for v in (common if alike else rng.randint(-2, 5),)
            }
        return Store({a: dict[int, Value](c) for a, c in cells.items()}, registers)

    def integer(self, depth: int = 2) -> Expr:
        rng = self.rng
        roll = rng.random()
        if depth == 0 or roll < 0.35:
            leaves: list[Expr] = [Var(rng.choice(INTS)), Const(rng.randint(-3, 6)), Tid(rng.choice("xxyz")), Param("n")]  # type: ignore[arg-type]
            return rng.choice(leaves)
        if roll < 0.6:
            ops = ["+", "-", "/", "%", "&", "|", "^", "min", "max"]
            return Op(rng.choice(ops), (self.integer(depth - 1), self.integer(depth - 1)))
        if roll < 0.72:
            return Op(rng.choice(["*", "<<", ">>", "/", "%"]), (self.integer(depth - 1), Const(rng.randint(-2, 4))))
        if roll < 0.8:
            return Op(rng.choice(["neg", "~", "abs"]), (self.integer(depth - 1),))
        if roll < 0.84:
            return Op("int", (self.boolean(depth - 1),))
        if roll < 0.88:
            return Op("?:", (self.boolean(depth - 1), self.integer(depth - 1), self.integer(depth - 1)))
        of_ints = [a.name for a in self.arrays if a.elem == INT]
        return Read(rng.choice(of_ints), self.index(depth - 1))

    def index(self, depth: int) -> Expr:
        """An index, mostly one that differs between lanes."""
        rng = self.rng
        if rng.random() < 0.5:
            return Op("+", (Op("*", (Tid("x"), Const(rng.randint(-1, 5)))), Const(rng.randint(0, 3))))
        return self.integer(depth)

    def boolean(self, depth: int = 2) -> Expr:
        rng = self.rng
        roll = rng.random()
        if depth == 0 or roll < 0.15:
            leaves: list[Expr] = [Var(rng.choice(BOOLS)), Const(rng.random() < 0.5, BOOL), Param("q")]
            return rng.choice(leaves)
        if roll < 0.75:
            op = rng.choice(["<", "<=", ">", ">=", "==", "!="])
            return Op(op, (self.integer(depth - 1), self.integer(depth - 1)))
        if roll < 0.85:
            return Op(rng.choice(["&&", "||", "==", "!="]), (self.boolean(depth - 1), self.boolean(depth - 1)))
        if roll < 0.9:
            return Op("!", (self.boolean(depth - 1),))
        of_bools = [a.name for a in self.arrays if a.elem == BOOL]
        if of_bools and roll < 0.95:
            return Read(rng.choice(of_bools), self.index(depth - 1))
        return Op("bool", (self.integer(depth - 1),))

    def simple(self) -> Stmt:
        rng = self.rng
        roll = rng.random()
        if roll < 0.45:
            return Assign(rng.choice(INTS), self.integer())
        if roll < 0.55:
            return Assign(rng.choice(BOOLS), self.boolean())
        if roll < 0.87:
            a = rng.choice(self.arrays)
            return Write(a.name, self.index(1), self.boolean() if a.elem == BOOL else self.integer())
        if roll < 0.93:
            return Sync()
        return Skip() if roll < 0.96 else Assume(Op(">=", (Var("x"), Const(rng.randint(-3, 0)))))

    def stmt(self, size: int) -> Stmt:
        rng = self.rng
        if size <= 1:
            return self.simple()
        roll = rng.random()
        if roll < 0.45:
            first = rng.randint(1, size - 1)
            return seq(self.stmt(first), self.stmt(size - first))
        if roll < 0.75:
            return If(self.boolean(), self.stmt(size - 1), self.stmt(rng.randint(1, size - 1)))
        x = rng.choice(INTS)
        if roll < 0.95:
            limits: list[Expr] = [Const(rng.randint(0, 6)), Tid("x"), Param("n"), Var(rng.choice(INTS))]
            limit = rng.choice(limits)
            turn = Assign(x, Op("+", (Var(x), Const(rng.choice([1, 1, 2])))))
            return While(Op("<", (Var(x), limit)), seq(self.stmt(size - 1), turn))
        return While(self.boolean(), self.stmt(size - 1))


# --- cases as the extracted interpreter reads them -------------------------------------------------------------------


def _z(n: int) -> str:
    return format(n, "b")


def _rational(q: Fraction) -> str:
    return f"{_z(q.numerator)} {_z(q.denominator)}"


def _value(v: Value) -> str:
    return f"bool {v:d}" if isinstance(v, bool) else f"int {_z(int(v))}"


def _expr(e: Expr) -> str:
    match e:
        case Var(x):
            return f"var {x}"
        case Param(p):
            return f"param {p}"
        case Const(v):
            if isinstance(v, str):
                raise TypeError("a literal of a base type")
            return f"const {_value(v)}"
        case Tid(axis):
            return f"tid {axis}"
        case Op(op, args):
            return " ".join((f"op{len(args)} {op}", *map(_expr, args)))
        case Read(a, i):
            return f"read {a} {_expr(i)}"


def _stmt(s: Stmt) -> str:
    match s:
        case Skip():
            return "skip"
        case Sync():
            return "sync"
        case Seq(stmts):
            return "seq " * (len(stmts) - 1) + _nested(stmts)
        case Assign(x, e):
            return f"set {x} {_expr(e)}"
        case Write(a, i, e):
            return f"write {a} {_expr(i)} {_expr(e)}"
        case If(e, s1, s2):
            return f"if {_expr(e)} {_stmt(s1)} {_stmt(s2)}"
        case While(e, body):
            return f"while {_expr(e)} {_stmt(body)}"
        case Assume(e):
            return f"assume {_expr(e)}"


def _nested(stmts: tuple[Stmt, ...]) -> str:
    """((s1; s2); s3): the words `seq` come first."""
    return " ".join(map(_stmt, stmts))


def _metric(m: Metric) -> str:
    lines = (m.counted.get(c, Linear(Fraction(0), Fraction(0))) for c in COUNTED)
    return " ".join(
        (*(_rational(m.cost(c)) for c in FIXED), *(f"{_rational(n.slope)} {_rational(n.offset)}" for n in lines))
    )


def _thread(t: Thread) -> str:
    return " ".join(map(_z, t.tid))


def _several(parts: list[str]) -> str:
    return " ".join((str(len(parts)), *parts))


def _array(a: Array) -> str:
    length = "-" if a.length is None else _z(a.length)
    return f"{a.name} {a.space} {a.elem.name} {_z(a.stride)} {_z(a.offset)} {_z(a.width)} {length}"


def everyone(case: Case) -> list[Thread]:
    """The threads of the block."""
    return list(case.store.locals["x"])


def line(case: Case) -> str:
    """A case as the interpreter reads it, with what it has to show afterwards."""
    m, h = case.machine, case.machine.hardware
    if h.phase is not None:
        raise ValueError("proofs/coq has no phases: its Conflicts are those of all lanes of a warp at once")
    cells = [f"{a} {_z(i)} {_value(v)}" for a, c in case.store.arrays.items() for i, v in c.items()]
    registers = [f"{x} {_thread(t)} {_value(v)}" for x, r in case.store.locals.items() for t, v in r.items()]
    wanted = [f"{a} {_z(i)}" for a in m.sigma.arrays for i in CELLS]
    return " ".join(
        (
            str(STEPS + 50),
            " ".join(map(_z, m.block)),
            f"{_z(h.sector)} {_z(h.banks)} {_z(h.word)} {_z(h.warp)}",
            _several([_metric(metric) for metric in m.metrics]),
            _several([f"{p} {_value(v)}" for p, v in m.params.items()]),
            _several([_array(a) for a in m.sigma.arrays.values()]),
            _several(cells),
            _several(registers),
            _several([_thread(t) for t in case.threads]),
            _stmt(case.body),
            _several(list(m.sigma.locals)),
            _several([_thread(t) for t in everyone(case)]),
            _several(wanted),
        )
    )


def expected(case: Case) -> str | None:
    """What the interpreter has to print; None where the run is too long to be compared."""
    m = case.machine
    try:
        after, cost = execute(case.body, case.store, case.threads, m)
    except StepLimit:
        return None
    except Broken:
        return "broken"
    costs = [f"{_z(c.numerator)}/{_z(c.denominator)}" for c in cost.parts]
    registers = [_z(int(after.locals[x][t])) for x in m.sigma.locals for t in everyone(case)]
    cells = [_z(int(_cell(after.arrays, a, i))) for a in m.sigma.arrays for i in CELLS]
    return " ".join(("end", *costs, *registers, *cells))


def _cell(arrays: Mapping[str, Mapping[int, Value]], name: str, i: int) -> Value:
    return arrays.get(name, {}).get(i, 0)


def cases(seed: int) -> Iterator[tuple[Case, str]]:
    """Cases that can be compared, without end, and what Python says of each."""
    draw = Draw(seed)
    while True:
        case = draw.case()
        if (said := expected(case)) is not None:
            yield case, said


def compare(program: Path, wanted: list[tuple[Case, str]]) -> list[tuple[Case, str, str]]:
    """The cases of which the two say different things, with what Python and Coq say."""
    text = "".join(f"{line(case)}\n" for case, _ in wanted)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    found = done.stdout.splitlines()
    return [(case, said, got) for (case, said), got in zip(wanted, found, strict=True) if said != got]


def main() -> int:
    """Compares, and prints the first difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if lacking := missing():
        print(f"not here: {', '.join(lacking)} (on Debian: apt install coq ocaml)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        endless = cases(args.seed)
        left, ends = args.programs, 0
        while left:
            some = [next(endless) for _ in range(min(left, 500))]
            for case, said, got in compare(program, some):
                print(f"{case.body}\nT = {case.threads}\nPython: {said}\nCoq:    {got}\n{line(case)}")
                return 1
            left -= len(some)
            ends += sum(said != "broken" for _, said in some)
    print(f"{args.programs} programs, {len(METRICS) + 1} metrics each: 0 different ({ends} ran to their end)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
