"""Random kernels as trees, and their texts: as anybody would write them, and with probes for a host compiler.

A kernel is `k(const int *A, int *B, int n)` with shared arrays S and Z. A and Z are only read; what is read from B and
S goes back there at once, so no lane's way depends on another lane. All loops end: each has a counter of its own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

CELLS: Final = 256
"""Of each array."""


@dataclass
class Test:
    """A condition: an expression, or `left op call` where a call is evaluated after the expression, or a call alone."""

    __test__ = False
    text: str
    call: Function | None = None
    op: str = ""
    argument: str = ""


@dataclass
class Stmt:
    """A statement: `do` (an expression with its text), `call`, `if`, `loop` (while, for, do or endless), `switch`,
    `break`, `continue`, `return`, `block`. `id` numbers it."""

    kind: str
    id: int
    text: str = ""
    test: Test | None = None
    body: list[Stmt] = field(default_factory=list)
    other: list[Stmt] = field(default_factory=list)
    form: str = ""
    init: str = ""
    step: str = ""
    sections: list[tuple[list[str], list[Stmt]]] = field(default_factory=list)
    call: Function | None = None


@dataclass
class Function:
    """A device function `int f(const int *A, int *B, int *S, const int *Z, int n, int x)`, or a lambda in the kernel. A
    quiet one writes nothing."""

    name: str
    body: list[Stmt]
    inner: bool = False
    quiet: bool = False


@dataclass
class Program:
    name: str
    functions: list[Function]
    body: list[Stmt]


# --- texts -----------------------------------------------------------------------------------------------------------


class Printer:
    """Prints a program. `probes` is whether every test, statement and access says that it happened; an access in the
    texts of the tree is `A@[index]@`, and each gets a number."""

    def __init__(self, probes: bool) -> None:
        self.probes = probes
        self.sites = 0

    def expr(self, text: str) -> str:
        while "@[" in text:  # innermost first
            end = text.index("]@")
            start = text.rindex("@[", 0, end)
            self.sites += 1
            index = text[start + 2 : end]
            made = f".at({self.sites}, {index})" if self.probes else f"[{index}]"
            text = text[:start] + made + text[end + 2 :]
        return text

    def test(self, s: Stmt) -> str:
        t = s.test
        if t is None:
            return "true"
        given = f"({self.expr(t.text)})" if t.text else ""
        if t.call is not None:
            if given and self.probes:
                given = f"T({s.id + 1}, {given})"
            given = f"{given} {t.op} {self.called(t.call, t.argument)} > 4"
        return f"T({s.id}, {given})" if self.probes else given.strip()

    def called(self, f: Function, argument: str) -> str:
        return f"{f.name}({argument})" if f.inner else f"{f.name}(A, B, S, Z, n, {argument})"

    def stmts(self, stmts: list[Stmt]) -> str:
        return "".join(map(self.stmt, stmts))

    def stmt(self, s: Stmt) -> str:
        mark = f" X({s.id});" if self.probes else ""
        match s.kind:
            case "do":
                return f"{self.expr(s.text)};{mark}\n"
            case "call":
                assert s.call is not None
                return f"{s.text}{self.called(s.call, s.init)};{mark}\n"
            case "block":
                return f"{{ {self.stmts(s.body)} }}\n"
            case "if":
                tail = f" else {{ {self.stmts(s.other)} }}" if s.other else ""
                return f"if ({self.test(s)}) {{ {self.stmts(s.body)} }}{tail}\n"
            case "loop":
                return self.loop(s)
            case "switch":
                value = f"W({s.id}, {self.expr(s.text)})" if self.probes else self.expr(s.text)
                inside = "".join(
                    " ".join(f"{label}:" for label in labels) + f" {self.stmts(body)};\n" for labels, body in s.sections
                )
                return f"switch ({value}) {{\n{inside}}}\n"
            case "return":
                if s.text and self.probes:
                    return f"return R({s.id}, {self.expr(s.text)});\n"
                return f"return {self.expr(s.text)};\n"
        return f"{s.kind};\n"

    def loop(self, s: Stmt) -> str:
        body = self.stmts(s.body)
        pragma = "#pragma unroll\n" if s.form == "unrolled" else ""
        match s.form:
            case "for" | "unrolled":
                return f"\n{pragma}for (int {s.init}; {self.test(s)}; {s.step}) {{ {body} }}\n"
            case "ever":
                return f"for (int {s.init};; {s.step}) {{ {body} }}\n"
            case "while":
                return f"{{ int {s.init}; while ({self.test(s)}) {{ {body} }} }}\n"
            case "do":
                return f"{{ int {s.init}; do {{ {body} }} while ({self.test(s)}); }}\n"
        endless = "do {{ {} }} while (true);" if s.form == "always" else "while (true) {{ {} }}"
        return f"{{ int {s.init}; {endless.format(body)} }}\n"

    def program(self, p: Program) -> str:
        arrays = "Array A, Array B, Array S, Array Z" if self.probes else "const int *A, int *B, int *S, const int *Z"
        before = "static" if self.probes else "__device__"
        text = "".join(
            f"{before} int {f.name}({arrays}, int n, int x) {{\n{START}{self.stmts(f.body)}}}\n"
            for f in p.functions
            if not f.inner
        )
        lambdas = "".join(
            f"auto {f.name} = [&](int x) -> int {{\n{START}{self.stmts(f.body)}}};\n" for f in p.functions if f.inner
        )
        if self.probes:
            head = f"static void {p.name}({arrays}, int n) {{\n"
        else:
            head = f"__global__ void {p.name}(const int *A, int *B, int n) {{\n__shared__ int S[{CELLS}], Z[{CELLS}];\n"
        return f"{text}{head}{START}int x = t & 7;\n{lambdas}{self.stmts(p.body)}}}\n"


START: Final = "int t = threadIdx.x, y = 1, z = t >> 1;\n"


# --- programs at random ----------------------------------------------------------------------------------------------


@dataclass
class Place:
    """Where a statement is to stand: how many more levels may be under it, in a loop, in a switch of it, in a loop
    without a test with this counter, in a function that returns something."""

    depth: int
    loop: bool = False
    switch: bool = False
    counter: str | None = None
    value: bool = False


class Generator:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.seed = seed
        self.ids = 0
        self.functions: list[Function] = []
        self.callees: list[Function] = []
        self.quiet = False

    def id(self) -> int:
        self.ids += 2
        return self.ids

    def program(self) -> Program:
        for i in range(self.draw.randint(0, 2)):
            inner, self.quiet = self.draw.random() < 0.3, self.draw.random() < 0.5
            self.callees = [f for f in self.functions if (inner or not f.inner) and (f.quiet or not self.quiet)]
            body = self.stmts(Place(2, value=True), 1, 4)
            end = Stmt("return", self.id(), self.value())
            self.functions.append(Function(f"f{self.seed}_{i}", [*body, end], inner, self.quiet))
        self.callees, self.quiet = self.functions, False
        return Program(f"k{self.seed}", self.functions, self.stmts(Place(self.draw.choice((1, 2, 2, 3))), 2, 5))

    def one_of(self, *given: str) -> str:
        return self.draw.choice(given)

    # expressions

    def var(self) -> str:
        return self.one_of("x", "y", "z", "t")

    def pure(self) -> str:
        return self.one_of("x", "y", "z", "t", "t", "n", f"({self.var()} + {self.draw.randint(1, 9)})",
                           f"({self.var()} * {self.draw.randint(2, 33)})", f"({self.var()} >> 1)",
                           f"({self.var()} + 32 * {self.var()})", f"(t & {self.draw.randint(1, 7)})")  # fmt: skip

    def read(self) -> str:
        return f"{self.one_of('A', 'A', 'Z')}@[{self.index()}]@"

    def index(self) -> str:
        inner = self.read() if self.draw.random() < 0.1 else self.pure()
        return f"({inner}) & {CELLS - 1}"

    def value(self) -> str:
        """An int expression, perhaps with reads."""
        return self.one_of(
            self.pure(), self.pure(), self.read(), f"{self.pure()} + {self.read()}",
            f"({self.condition(0, False)} ? {self.read()} : {self.pure()})",
            f"({self.condition(0, False)} ? {self.read()} : {self.read()})",
            f"({self.condition(1, False)})",
        )  # fmt: skip

    def condition(self, depth: int, changes: bool = True) -> str:
        k, step = self.draw.randint(0, 9), "++" if changes else ""
        atom = self.one_of(
            f"{self.var()} < {k}", f"(t & {1 << self.draw.randint(0, 3)})", f"({self.var()} & 3) == {k & 3}",
            f"n > {k}", f"{self.read()} > {k}", f"{self.read()} < {k}", f"{self.one_of('x', 'y')}{step} < {k}",
        )  # fmt: skip
        if depth == 0 or self.draw.random() < 0.5:
            return atom
        return f"({atom} {self.one_of('&&', '||')} {self.condition(depth - 1, changes)})"

    def test(self) -> Test:
        quiet = [f for f in self.callees if f.quiet]
        if quiet and self.draw.random() < 0.12:
            left = self.condition(0) if self.draw.random() < 0.6 else ""
            op = self.one_of("&&", "||") if left else ""
            return Test(left, self.draw.choice(quiet), op, self.one_of("x", "y", "t"))
        return Test(self.condition(2))

    # statements

    def stmts(self, at: Place, least: int, most: int) -> list[Stmt]:
        return [s for _ in range(self.draw.randint(least, most)) for s in self.stmt(at)]

    def stmt(self, at: Place) -> Iterator[Stmt]:
        roll = self.draw.random()
        if at.depth > 0 and roll < 0.5:
            yield self.nested(at)
        elif roll < 0.6 and (at.loop or at.switch or at.value or self.draw.random() < 0.3):
            yield self.jump(at)
        elif roll < 0.66 and self.callees:
            f = self.draw.choice(self.callees)
            yield Stmt("call", self.id(), self.one_of("x = ", "y = "), init=self.one_of("x", "y", "t"), call=f)
        else:
            yield Stmt("do", self.id(), self.simple())

    def simple(self) -> str:
        v = self.one_of("x", "y", "z")
        array = self.one_of("B", "S", "S")
        if self.quiet or self.draw.random() < 0.4:
            return self.one_of(f"{v} = ({self.value()}) & 15", f"{v} = ({v} * 3 + {self.draw.randint(0, 9)}) & 15")
        return self.one_of(
            f"{array}@[{self.index()}]@ = {self.pure()}",
            f"{array}@[{self.index()}]@ = {self.value()}",
            f"{array}@[{self.index()}]@ += {self.pure()}",
            f"S@[(({self.one_of('t', 'x', 'z')} >> 1) + 32 * ({self.var()} & 7)) & {CELLS - 1}]@ = {self.pure()}",
        )

    def jump(self, at: Place) -> Stmt:
        kinds = ["break"] * (at.loop or at.switch) * 2 + ["continue"] * at.loop + ["return"]
        kind = self.draw.choice(kinds)
        jump = Stmt(kind, self.id(), self.value() if kind == "return" and at.value else "")
        if kind == "continue" and at.counter:
            return Stmt("if", self.id(), test=Test(f"{at.counter} < 4"), body=[jump])
        if self.draw.random() < 0.15:
            return jump
        before = self.stmts(Place(0, at.loop, at.switch, at.counter, at.value), 0, 2)
        other = self.stmts(Place(0, at.loop, at.switch, at.counter, at.value), 0, 1)
        return Stmt("if", self.id(), test=self.test(), body=[*before, jump], other=other)

    def nested(self, at: Place) -> Stmt:
        inner = Place(at.depth - 1, at.loop, at.switch, at.counter, at.value)
        roll, i = self.draw.random(), self.id()
        if roll < 0.35:
            return Stmt("if", i, test=self.test(), body=self.stmts(inner, 1, 3), other=self.stmts(inner, 0, 2))
        if roll < 0.4:
            return Stmt("block", i, body=self.stmts(inner, 1, 3))
        if roll < 0.65:
            return self.switch(i, at)
        c = f"i{i}"
        form = self.one_of("for", "for", "unrolled", "while", "do", "endless", "endless", "ever", "always")
        if form in ("endless", "ever", "always"):
            return self.endless(i, c, form, at)
        body = self.stmts(Place(at.depth - 1, True, False, None, at.value), 1, 4)
        most = self.one_of("3", "(x & 3)", "(t & 3)", "n", "2")
        if form in ("for", "unrolled"):
            guard = f" && {self.condition(0)}" if self.draw.random() < 0.3 else ""
            test = Test(f"{c} < {most}{guard}")
            return Stmt("loop", i, test=test, body=body, form=form, init=f"{c} = 0", step=f"{c}++")
        step = f"{c}++" if form == "while" else f"++{c}"
        most = self.one_of("3", "2 + (t & 1)", "n")
        return Stmt("loop", i, test=Test(f"{step} < {most}"), body=body, form=form, init=f"{c} = 0")

    def endless(self, i: int, c: str, form: str, at: Place) -> Stmt:
        """A loop without a test, left for certain at its end, by a jump that may have something to do before."""
        place = Place(at.depth - 1, True, False, c, at.value)
        body = [] if form == "ever" else [Stmt("do", self.id(), f"{c}++")]
        body += self.stmts(place, 0, 3) if self.draw.random() < 0.6 else self.plain()
        kind = self.one_of("break", "break", "return")
        leave = Stmt(kind, self.id(), self.value() if kind == "return" and at.value else "")
        before = self.stmts(Place(max(0, at.depth - 2), False, False, None, at.value), 0, 2)
        most = self.one_of("2", "1 + (t & 3)", "(x & 3)", "t & 1")
        end = Stmt("if", self.id(), test=Test(f"{c} >= 3 || {c} > ({most})"), body=[*before, leave])
        if self.draw.random() < 0.3:
            end.body, end.other, end.test = self.plain() or [leave], end.body, Test(f"{c} < 3 && {c} <= ({most})")
        body += [end, *(self.plain() if self.draw.random() < 0.5 else [])]
        return Stmt("loop", i, body=body, form=form, init=f"{c} = 0", step=f"{c}++")

    def plain(self) -> list[Stmt]:
        return [Stmt("do", self.id(), self.simple()) for _ in range(self.draw.randint(0, 2))]

    def switch(self, i: int, at: Place) -> Stmt:
        inner = Place(at.depth - 1, at.loop, True, at.counter, at.value)
        labels = ["default", "case 0", "case 1", "case 2", "case 3", "case 5 ... 9"]
        self.draw.shuffle(labels)
        labels = labels[: self.draw.randint(1, 6)]
        sections: list[tuple[list[str], list[Stmt]]] = []
        while labels:
            k = self.draw.randint(1, 2)
            body = self.stmts(inner, 0, 2)
            if self.draw.random() < 0.4:
                body.append(Stmt("break", self.id()))
            sections.append((labels[:k], body))
            labels = labels[k:]
        on = self.one_of("x & 3", "t & 3", "t & 7", "t & 1", f"{self.read()} & 3", "x++ & 7", "n & 3", "y", "2", "x")
        return Stmt("switch", i, on, sections=sections)
