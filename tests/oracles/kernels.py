"""Random kernels, each written twice by one draw: in CUDA C, and in OpenCL C with marks.

Marks say what no address tells: which turn of which loop a thread is in, how it decides a test, which section of a
`switch` it enters. They stand where docs/cuda.md says that lanes part: at tests, and at `&&`, `||` and `?:` whose right
sides read an array. Marks of jumps out of nested statements, and of whole conditions that were tested in parts, count
what the flags of the lowering may add (`more`).

No kernel has a race: each element of what is written and read has one owner, a thread, between barriers; what is
written by many is written with one value, or by atomics, and not read.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from tests.oracles.cases import BLOCKS, ELEMS, GRIDS, INT, READ, RECORDS, Case, Dialect, Elem, Global, Number, Shared

Ways = frozenset[str]
"""The jumps that leave a statement."""

NOWHERE: Final[Ways] = frozenset()
Flat = str
"""A condition or value as text without a top operator that binds weaker than its neighbours."""


class Writer:
    """Draws a kernel and writes it in one dialect; two writers of one seed draw the same."""

    def __init__(self, seed: int, dialect: Dialect) -> None:
        self.draw = random.Random(seed)
        self.cl = dialect == "opencl"
        self.name = f"k{seed}"
        self.ids = 0
        self.lines: list[str] = []
        self.depth = 0
        self.arrays: list[Global] = []
        self.shared: list[Shared] = []
        self.moved: list[Global] = []
        self.functions: list[str] = []
        self.inside = ""  # what the function gives that is being written
        self.returns = False  # whether a thread may end here: no barrier comes any more
        self.block = self.draw.choice(BLOCKS)
        self.grid = self.draw.choice(GRIDS)
        self.n = self.draw.randint(1, 5)

    # --- small parts ------------------------------------------------------------------------------------------------

    def id(self) -> int:
        self.ids += 1
        return self.ids

    def one(self, *given: str) -> str:
        return self.draw.choice(given)

    def some(self, p: float) -> bool:
        return self.draw.random() < p

    def put(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + text)

    def mark(self, text: str) -> None:
        if self.cl:
            self.put(text + ";")

    def test(self, e: str) -> str:
        i = self.id()
        return f"T({i}, {e})" if self.cl else e

    def whole(self, e: str) -> str:
        i = self.id()
        return f"V({i}, {e})" if self.cl else e

    def type(self, e: Elem) -> str:
        return e.opencl if self.cl else e.cuda

    def thread(self, axis: int) -> str:
        return f"((uint)get_local_id({axis}))" if self.cl else f"threadIdx.{'xyz'[axis]}"

    # --- expressions ------------------------------------------------------------------------------------------------

    def var(self) -> str:
        return self.one("x", "y", "z", "l", "g", "tx", "ty")

    def atom(self) -> str:
        return self.one(self.var(), self.var(), self.var(), "n", str(self.draw.randint(0, 40)), "(int)(u & 255u)",
                        "(int)(w & 63)", f"(int){self.thread(self.draw.randint(0, 2))}")  # fmt: skip

    def pure(self, depth: int = 1) -> Flat:
        """An int of at most some millions, without reads."""
        if depth == 0 or self.some(0.25):
            return self.atom()
        a, b, k = self.pure(depth - 1), self.atom(), self.draw.randint(1, 9)
        choices = (
            f"({a} + {b})", f"({a} - {b})", f"({a} * {k})", f"({a} / (({b} & 7) + 1))", f"({a} % (({b} & 7) + {k}))",
            f"({a} << ({b} & 3))", f"({a} >> ({b} & 7))", f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})", f"(~{a})",
            f"(-{a})", f"({self.small('signed char')}{a})", f"({self.small('unsigned char')}({a} * {k}))",
            f"({self.small('short')}({a} << 6))", f"({self.small('unsigned short')}{a})",
            f"(int)({self.unsigned()} & 1023u)",
            f"({self.pure_test()} ? {a} : {b})", f"({self.pure_test()})", "(int)f", "(int)d",
            f"((int)({self.long()} & 4095))",
            f"({a} - {b} * {k})", f"(int)((float){a} * 0.25f)", f"({self.atom()} * {b})",
        )  # fmt: skip
        return self.draw.choice(choices)

    def small(self, name: str) -> str:
        return f"({self.type(next(e for e in ELEMS if e.cuda == name))})"

    def unsigned(self) -> Flat:
        a, k = self.atom(), self.draw.randint(1, 40)
        return self.one(f"(u * 2654435761u + {k}u)", f"(u - {self.small('unsigned')}{a})", f"(u >> {k & 15})",
                        f"(u << {k & 15})",
                        f"(u / {k}u)", f"(u % {k}u)", f"(u ^ {self.small('unsigned')}{a})", "(~u)", "u", "(-u)",
                        f"({self.small('unsigned')}{a} - {k}u)",
                        f"({self.small('unsigned')}({a} - {k}) / 3u)")  # fmt: skip

    def long(self) -> Flat:
        a, wide = self.atom(), self.type(ELEMS[9])
        return self.one(f"(({wide}){a} * {self.atom()} * 1000)", f"(w + {a})", f"(w ^ ({wide})u)",
                        f"(({wide})u * 3 + {a})",
                        f"(w >> {self.draw.randint(0, 20)})", "(w / 3)", "(w % 1000)")  # fmt: skip

    def index(self, length: int, depth: int = 1) -> str:
        """An index below a power of two."""
        k, c = self.draw.randint(1, 9), self.draw.randint(0, 5)
        reads = self.read(0) if depth and self.some(0.12) else "g"
        e = self.one("g", "g", "l", "l", f"g + {c}", f"l * {k}", f"l * {k} + {c}", "l / 2", "l % 5",
                     f"l * {1 << (c % 6)}",
                     "x", "x + l", "x * y", "n", str(c), "ty * 16 + tx", "tx * 16 + ty", reads, "(int)u",
                     f"{self.thread(0)} * {k} + {c}", f"{self.thread(1)} * 8 + {self.thread(0)}", "READ - 1 - g",
                     self.pure(),
                     )  # fmt: skip
        return f"({e.replace('READ', str(length))}) & {length - 1}"

    def read(self, depth: int = 1) -> Flat:
        """An int that a read gives, at most some thousands."""
        places: list[tuple[str, Elem]] = []
        a = self.draw.choice([a for a in (*self.arrays, *self.moved) if a.role == "read"])
        places.append((f"{a.name}[{self.index(a.length, depth)}]", a.elem))
        owned = [a for a in self.arrays if a.role == "own" and not a.elem.whole and not self.inside]
        if owned:
            a = self.draw.choice(owned)
            places.append((f"{a.name}[{a.index(self.slot())}]", a.elem))
        there = [s for s in self.shared if s.mode in ("own", "read") and not self.inside]
        if there:
            s = self.draw.choice(there)
            row = s.row and self.some(0.5)
            at = s.own if s.mode == "own" else self.tile(s) if row else s.cell(self.below(s.length))
            places.append((s.name + at, s.elem))
        text, elem = self.draw.choice(places)
        if elem.fields:
            k = self.draw.randrange(len(elem.fields))
            kind = elem.form.replace("x", "")[k]
            text, real = f"{text}.{elem.fields[k]}", kind in "fd"
        else:
            kind, real = elem.form, elem.real
        if real:
            return f"(int){text}"
        if kind == "I":
            return f"(int)({text} & 2047u)"
        return f"(int)({text} & 2047)"

    def below(self, length: int) -> str:
        """An index of a shared array of any length."""
        c = self.draw.randint(0, 40)
        e = self.one("l", "l", "l + 1", f"l * 2 + {c}", "l * 32", "l * 33", f"{c}", "x", "x + l", "l / 2",
                     "ty * 32 + tx", "y * l",
                     f"l + {c}", "l % 7 * 32", self.pure(), self.pure())  # fmt: skip
        return f"(({e}) & 4095) % {length}"

    def tile(self, s: Shared) -> str:
        a, b = self.one("ty", "tx", "l", "x", "n", "l / 32", "0"), self.one("tx", "l", "ty", "l % 32", "y", "3")
        return f"[(({a}) & 1023) % {s.rows}][(({b}) & 1023) % {s.row}]"

    def slot(self) -> str:
        return self.one("0", "0", "1", "x", "y", "n", "z")

    def value(self) -> Flat:
        """An int, perhaps with reads."""
        roll = self.draw.random()
        if roll < 0.4:
            return self.pure(2)
        if roll < 0.65:
            return self.read()
        if roll < 0.8:
            return f"({self.read()} {self.one('+', '-', '^')} {self.pure()})"
        if roll < 0.9:
            condition = self.condition(0, True)
            return f"({condition} ? {self.read()} : {self.one(self.pure(), self.read())})"
        if roll < 0.95:
            return f"({self.condition(1, False)})"
        return f"({self.read()} + {self.read()} * 3)"

    def pure_test(self) -> Flat:
        k = self.draw.randint(0, 40)
        return self.one(f"{self.var()} < {k}", f"(l & {1 << (k % 5)}) != 0", f"({self.var()} & 3) == {k & 3}",
                        f"n > {k & 7}",
                        f"{self.unsigned()} < {k}u", f"{self.unsigned()} > 1000000000u", "f < d", f"f > {k}.5f",
                        "w > 1000",
                        f"{self.thread(0)} < {k}", f"{self.small('unsigned')}({self.var()} - {k & 7}) < {k}u",
                        f"{self.thread(0)} - {k & 7} < {k}", f"x - y < {k & 7}", f"!({self.var()} > {k})")  # fmt: skip

    def condition(self, depth: int, branch: bool) -> Flat:
        """A condition of a branch, or a value. A right side that reads is a branch; another one is an operator."""
        text, _, parts = self._condition(depth, branch)
        if branch and not parts:
            return self.test(text)
        return self.whole(text) if branch and parts else text

    def _condition(self, depth: int, branch: bool) -> tuple[Flat, bool, bool]:
        """Text, whether it reads, whether its last test is a part of it."""
        if depth == 0 or self.some(0.5):
            if self.some(0.4):
                return f"({self.read()} {self.one('<', '>', '==', '!=')} {self.draw.randint(0, 1200)})", True, False
            return f"({self.pure_test()})", False, False
        op = self.one("&&", "||")
        right_reads = self.some(0.6)
        if right_reads:
            left = self.condition(depth - 1, True)
            right = f"({self.read()} {self.one('<', '>')} {self.draw.randint(0, 1200)})"
            if branch:
                right = self.test(right)
            return f"({left} {op} {right})", True, branch
        left, reads, _ = self._condition(depth - 1, False)
        return f"({left} {op} ({self.pure_test()}))", reads, False

    # --- statements -------------------------------------------------------------------------------------------------

    @contextmanager
    def nested(self, head: str, tail: str = "}") -> Iterator[None]:
        self.put(head)
        self.depth += 1
        yield
        self.depth -= 1
        self.put(tail)

    def simple(self) -> None:
        """A statement without control flow."""
        roll = self.draw.random()
        owned = [a for a in self.arrays if a.role == "own"]
        if roll < 0.3:
            v = self.one("x", "y", "z")
            self.put(f"{v} = {self.value()} & {self.one('7', '15', '63', '255', '1023')};")
        elif roll < 0.36:
            self.put(f"u = {self.unsigned()};")
        elif roll < 0.4:
            more = f"(float)({self.pure()} & 1023) {self.one('* 0.5f', '/ 3.0f', '* 0.1f')}"
            self.put(f"f = f * 0.5f {self.one('+', '-')} {more};")
        elif roll < 0.44:
            more = self.one("(double)f", f"(double)({self.pure()} & 1023)")
            self.put(f"d = d * 0.25 {self.one('+', '-')} {more} {self.one('/ 7.0', '* 0.1')};")
        elif roll < 0.48:
            self.put(f"w = {self.long()} & 0xffffffffff;")
        elif roll < 0.5:
            self.put(f"{self.one('x++', 'y--', 'z += 2', 'x = (x + y) & 31', 'y = -y')};")
            self.put("x &= 1023; y &= 1023; z &= 1023;")
        elif self.functions and not self.inside and roll < 0.58:
            self.call()
        elif self.inside:
            self.put(f"{self.one('x', 'y')} = {self.value()} & 255;")
        elif roll < 0.76 and owned:
            self.store(self.draw.choice(owned))
        elif roll < 0.9 and self.shared:
            self.store_shared(self.draw.choice(self.shared))
        else:
            others = [a for a in self.arrays if a.role in ("blind", "atomic")]
            if others:
                self.store_any(self.draw.choice(others))
            else:
                self.put(f"x = {self.value()} & 31;")

    def made(self, e: Elem) -> str:
        """A value of a type with one element."""
        if e.real:
            return self.one(
                "f", f"({self.type(e)}){self.value()} * 0.5f", "f + 1.5f", "(float)d", f"({self.type(e)})x / 3.0f"
            )
        if e.form in "qQ":
            return f"({self.type(e)}){self.long()}"
        if e.form == "I":
            return self.one(self.unsigned(), f"({self.type(e)}){self.value()}")
        return self.one(
            f"({self.type(e)})({self.value()})", f"({self.type(e)})({self.pure(2)})", f"({self.type(e)})(x * 7)"
        )

    def store(self, a: Global) -> None:
        at = f"{a.name}[{a.index(self.slot())}]"
        if a.elem.whole:
            v, one = f"v{self.id()}", "(float)" if "f" in a.elem.form else ""
            sources = [r for r in self.arrays if r.elem == a.elem and r.role == "read"]
            with self.nested("{"):
                if sources and self.some(0.7):
                    r = self.draw.choice(sources)
                    self.put(f"{self.type(a.elem)} {v} = {r.name}[{self.index(r.length)}];")
                    self.put(f"x = (int){v}.x & 255;")
                else:
                    self.put(f"{self.type(a.elem)} {v};")
                    self.put(" ".join(f"{v}.{k} = {one}{self.one('x', 'y', 'l')};" for k in a.elem.fields))
                self.put(f"{at} = {v};")
        else:
            self.assign(at, a.elem)

    def assign(self, at: str, e: Elem) -> None:
        """Something to an element, or to a field of it."""
        if e.fields:
            k = self.draw.randrange(len(e.fields))
            kind = e.form.replace("x", "")[k]
            at, e = f"{at}.{e.fields[k]}", next(t for t in ELEMS if t.form == kind)
        if self.some(0.2):
            self.put(f"{at} {self.one('+', '-')}= {'0.5f' if e.real else '1'};")
        elif e.form in "bBhHIQf" and self.some(0.2):
            value = f"({self.type(e)}){self.value()}"
            self.put(f"{at} {self.one('+', '-')}= {value};")
        else:
            self.put(f"{at} = {self.made(e)};")

    def store_shared(self, s: Shared) -> None:
        match s.mode:
            case "own":
                self.assign(s.name + s.own, s.elem)
            case "blind":
                self.put(f"{s.name}{s.cell(self.below(s.length))} = 5;")
            case "atomic":
                at = f"(l + {self.draw.randint(0, 99)}) % {s.length}" if s.apart else self.below(s.length)
                self.atomic(s.name + s.cell(at), s.op)
            case "read":
                self.put(f"y = {self.read()} & 127;")

    def store_any(self, a: Global) -> None:
        if a.role == "blind":
            self.put(f"{a.name}[{self.index(a.length)}] = 3;")
            return
        apart = f"(g + {self.draw.randint(0, 99)}) & {a.length - 1}"
        self.atomic(f"{a.name}[{apart if a.apart else self.index(a.length)}]", a.op)

    def atomic(self, at: str, op: str) -> None:
        value = self.one("1", "x", "l", "(int)(u & 15u)")
        self.put(f"atomic_{op.lower()}(&{at}, {value});" if self.cl else f"atomic{op}(&{at}, {value});")

    def stmts(self, depth: int, least: int, most: int, loop: bool = False, jumps: bool = True) -> Ways:
        """So many statements, and the ways out of them."""
        return frozenset().union(*[self.stmt(depth, loop, jumps) for _ in range(self.draw.randint(least, most))])

    def stmt(self, depth: int, loop: bool, jumps: bool) -> Ways:
        if depth == 0 or self.some(0.45):
            self.simple()
            return NOWHERE
        if jumps and (loop or self.returns) and self.some(0.12):
            return self.jump(loop)
        at = len(self.lines)
        i = self.id()
        self.mark(f"IN({i})")
        out = self.compound(depth, loop, jumps)
        if out:
            self.mark(f"OUT({i})")
        elif self.cl:
            del self.lines[at]
        return out

    def jump(self, loop: bool) -> Ways:
        """A test that leaves the turn, the loop or the function."""
        kind = self.draw.choice(("break", "continue") * loop * 2 + ("return",) * self.returns)
        with self.nested(f"if ({self.condition(1, True)}) {{"):
            if self.some(0.4):
                self.simple()
            self.put(f"{kind} {self.pure()};" if kind == "return" and self.inside else f"{kind};")
        return frozenset({kind})

    def compound(self, depth: int, loop: bool, jumps: bool) -> Ways:
        roll = self.draw.random()
        if roll < 0.4:
            condition, other = self.condition(2, True), self.some(0.45)
            with self.nested(f"if ({condition}) {{"):
                out = self.stmts(depth - 1, 1, 2, loop, jumps)
            if other:
                with self.nested("else {"):
                    out |= self.stmts(depth - 1, 1, 2, loop, jumps)
            return out
        if roll < 0.55:
            return self.switch(depth, loop and jumps)
        i, out = self.id(), NOWHERE
        if roll < 0.65:
            with self.nested("{"):
                self.endless(depth, i)
        else:
            out = self.loop(depth, i, self.one("for", "for", "while", "do"), jumps) & {"return"}
        self.mark(f"LEAVE({i})")
        return out

    def call(self) -> None:
        i = self.id()
        self.mark(f"TURN({i})")
        arrays = [a.name for a in self.arrays if a.role == "read"]
        passed = ", ".join([*arrays, "n", self.pure(), *(["mark"] if self.cl else [])])
        self.put(f"{self.one('x', 'y', 'z')} = {self.draw.choice(self.functions)}({passed}) & 127;")
        self.mark(f"LEAVE({i})")

    def turn(self, i: int) -> str:
        return f"TURN({i}), " if self.cl else ""

    def loop(self, depth: int, i: int, form: str, jumps: bool) -> Ways:
        c = f"i{i}"
        most = self.one("3", "n", "(x & 3)", "(l & 3)", "2", "(tx & 1) + 1", f"({self.read()} & 3)")
        if form == "for":
            more = f" && {self.pure_test()}" if self.some(0.2) else ""
            step = self.one(f"{c}++", f"{c} += 1", f"++{c}")
            with self.nested(f"for (int {c} = 0; {self.turn(i)}{self.test(f'{c} < {most}{more}')}; {step}) {{"):
                return self.stmts(depth - 1, 1, 2, True, jumps)
        with self.nested("{"):
            self.put(f"int {c} = 0;")
            if form == "while":
                with self.nested(f"while ({self.turn(i)}{self.test(f'{c} < {most}')}) {{"):
                    self.put(f"{c}++;")
                    return self.stmts(depth - 1, 1, 2, True, jumps)
            pure = self.one("3", "n", "(l & 3)", "2", "(tx & 1) + 1")
            self.put("do {")
            self.depth += 1
            self.mark(f"TURN({i})")
            self.put(f"{c}++;")
            out = self.stmts(depth - 1, 1, 2, True, jumps)
            self.depth -= 1
            self.put(f"}} while ({self.test(f'{c} < {pure}')});")
            return out

    def endless(self, depth: int, i: int) -> None:
        """A loop without a test and with one way out, before which lanes meet."""
        c = f"i{i}"
        self.put(f"int {c} = 0;")
        with self.nested("while (true) {" if self.some(0.5) else "for (;;) {"):
            self.mark(f"TURN({i})")
            self.put(f"{c}++;")
            self.stmts(max(0, depth - 1), 0, 2, jumps=False)
            most = self.one("2", "(l & 3)", "(x & 3)", "(tx & 1)", f"({self.read()} & 3)")
            with self.nested(f"if ({self.test(f'{c} > {most}')}) {{"):
                self.mark(f"LEAVE({i})")
                self.stmts(0, 0, 2)
                self.put("break;")
            self.stmts(0, 0, 2)

    def switch(self, depth: int, continues: bool) -> Ways:
        i = self.id()
        on = self.one("x & 3", "l & 3", "l & 7", "l & 1", "tx & 3", f"{self.read()} & 3", "n & 3", "x", "y & 7")
        labels = ["default", "case 0", "case 1", "case 2", "case 3", "case 5"]
        self.draw.shuffle(labels)
        labels = labels[: self.draw.randint(2, 6)]
        out = NOWHERE
        with self.nested(f"switch ({f'W({i}, {on})' if self.cl else on}) {{"):
            k = 0
            while labels:
                here, labels = labels[: self.draw.randint(1, 2)], labels[2:]
                self.put(" ".join(f"{label}:" for label in here))
                self.depth += 1
                self.mark(f"SECTION({i}, {k})")
                self.put(f"z = (z + {k}) & 63;")
                out |= self.stmts(depth - 1, 1, 2, False, False)
                if continues and self.some(0.1):
                    with self.nested(f"if ({self.test(self.pure_test())}) {{"):
                        self.put("continue;")
                    out |= {"continue"}
                if self.some(0.75) or not labels:
                    self.put("break;")
                self.depth -= 1
                k += 1
        self.mark(f"END({i})")
        return out

    # --- kernels ----------------------------------------------------------------------------------------------------

    def numbers(self, e: Elem, count: int) -> list[Number]:
        found: list[Number] = []
        for _ in range(count):
            for kind in e.form.replace("x", ""):
                if kind in "fd":
                    found.append(self.draw.randint(-2000, 2000) / 4)
                else:
                    bits = 8 * struct.calcsize(kind)
                    low = 0 if kind.isupper() else -(1 << (bits - 1))
                    wide = self.draw.random() < 0.3
                    found.append(
                        low + self.draw.getrandbits(bits)
                        if wide
                        else self.draw.randint(0, min(100, (1 << (bits - 1)) - 1))
                    )
        return found

    def globals(self) -> None:
        threads = 1
        for size in (*self.block, *self.grid):
            threads *= size
        room = 1 << (threads - 1).bit_length()
        for k in range(self.draw.randint(1, 3)):
            e = self.draw.choice((*ELEMS, *RECORDS))
            self.arrays.append(Global(f"A{k}", e, "read", READ, self.numbers(e, READ)))
        for k in range(self.draw.randint(1, 3)):
            e = self.draw.choice((*ELEMS, *RECORDS))
            slots = self.draw.choice((1, 1, 2, 4))
            a = Global(f"B{k}", e, "own", room * slots, self.numbers(e, room * slots))
            place = self.place(room)
            a.index = self.owned(place, slots, room, self.some(0.5))
            self.arrays.append(a)
        if self.some(0.3):
            e = self.draw.choice(ELEMS)
            self.arrays.append(Global("Z", e, "blind", READ, self.numbers(e, READ)))
        if self.some(0.3):
            a = Global("H", INT, "atomic", READ, [self.draw.randint(0, 9) for _ in range(READ)])
            a.apart = self.some(0.5)
            a.op = self.one("Add", "Max", "Min", "Or", "And", "Xor")
            self.arrays.append(a)

    def place(self, room: int) -> str:
        """A number below a power of two that differs between threads."""
        odd, c = 2 * self.draw.randint(0, 8) + 1, self.draw.randrange(room)
        return self.one("g", "g", "g", f"(g ^ {c})", f"((g * {odd} + {c}) & {room - 1})", f"({room - 1} - g)")

    @staticmethod
    def owned(place: str, slots: int, room: int, beside: bool) -> Callable[[str], str]:
        if slots == 1:
            return lambda _: place
        if beside:
            return lambda j: f"{place} * {slots} + (({j}) & {slots - 1})"
        return lambda j: f"{place} + {room} * (({j}) & {slots - 1})"

    def shapes(self) -> None:
        """The shared arrays."""
        threads = self.block[0] * self.block[1] * self.block[2]
        for k in range(self.draw.choice((0, 1, 1, 2))):
            e = self.draw.choice((*ELEMS, *RECORDS[:3]))
            roll = self.draw.random()
            if roll < 0.3:
                stride = self.draw.choice((1, 1, 2, 3, 4, 8, 32, 33))
                s = Shared(f"S{k}", e, threads * stride, 0, f"[l * {stride}]" if stride > 1 else "[l]")
            elif roll < 0.5:
                row = self.draw.choice((32, 33, 40))
                s = Shared(f"S{k}", e, -(-threads // 32), row, "[l / 32][l % 32]")
            elif roll < 0.8 or self.block[2] > 1:
                row = self.draw.choice((32, 33, 34))
                s = Shared(f"S{k}", e, 32, row, "[l % 32][l / 32]")
            else:
                row = self.block[0] + self.draw.randint(0, 1)
                s = Shared(f"S{k}", e, self.block[1], row, "[ty][tx]")
            self.shared.append(s)
        if self.some(0.2):
            apart = self.some(0.5)
            s = Shared("SH", INT, self.draw.choice((64, 100) if apart else (8, 64)), 0, "[l]", "atomic", apart=apart)
            s.op = self.one("Add", "Max", "Min", "Or", "And", "Xor")
            self.shared.append(s)

    def start(self, s: Shared) -> None:
        """Writes all elements, so that none is read before."""
        i, threads = self.id(), self.block[0] * self.block[1] * self.block[2]
        c = f"i{i}"
        with self.nested(f"for (int {c} = l; {self.turn(i)}{self.test(f'{c} < {s.length}')}; {c} += {threads}) {{"):
            at = s.name + s.cell(c)
            if s.elem.fields:
                for k in s.elem.fields:
                    self.put(f"{at}.{k} = 1;")
            else:
                self.put(f"{at} = ({self.type(s.elem)})({c} & 31);")
        self.mark(f"LEAVE({i})")

    def barrier(self) -> None:
        self.put("barrier(CLK_LOCAL_MEM_FENCE);" if self.cl else "__syncthreads();")

    def body(self) -> None:
        phases = self.draw.choice((1, 1, 2, 2, 3)) if self.shared else 1
        returned = phases == 1 and not self.shared and self.some(0.3)
        if returned:
            self.put(f"if ({self.test(self.one('g >= n * 16', 'l > 20', 'tx == 3', self.pure_test()))}) return;")
        for s in self.shared:
            self.start(s)
        if self.shared:
            self.barrier()
        for phase in range(phases):
            if phase:
                self.barrier()
                for s in self.shared:
                    if s.mode == "own" or (s.mode == "atomic" and s.apart):
                        s.mode = "read"
                    elif s.name != "SH" and self.some(0.5):
                        s.mode = "own"
                    elif s.name != "SH" and not s.elem.fields and self.some(0.3):
                        s.mode = "blind"
            if phase + 1 < phases and self.some(0.2):
                i = self.id()
                with self.nested(f"for (int i{i} = 0; {self.turn(i)}{self.test(f'i{i} < n')}; i{i}++) {{"):
                    self.stmts(1, 1, 3, jumps=False)
                    self.barrier()
                self.mark(f"LEAVE({i})")
            self.returns = phase + 1 == phases
            self.stmts(self.draw.choice((1, 1, 2, 2, 3)), 1, 3)
        if self.some(0.2):
            self.put(f"if ({self.condition(1, True)}) return;")
            self.stmts(1, 1, 3)

    def function(self, name: str) -> str:
        """A device function: it reads arrays, and returns from where it likes."""
        lines, self.lines, self.inside, self.returns = self.lines, [], name, True
        space, mark = ("__global ", ["__global volatile long *mark"]) if self.cl else ("", [])
        arrays = [f"{space}const {self.type(a.elem)} *{a.name}" for a in self.arrays if a.role == "read"]
        self.put("int y = x & 7, z = 1, l = x & 31, g = x & 127, tx = x & 3, ty = 0;")
        self.put(f"{self.type(ELEMS[6])} u = x; {self.type(ELEMS[9])} w = l; float f = (float)l; double d = 0.5;")
        self.stmts(self.draw.choice((1, 2)), 1, 3)
        self.put(f"return {self.value()};")
        text = "\n".join(self.lines)
        self.lines, self.inside, self.returns = lines, "", False
        head = "int" if self.cl else "__device__ int"
        return f"{head} {name}({', '.join([*arrays, 'int n', 'int x', *mark])}) {{\n{text}\n}}\n"

    def write(self) -> str:
        self.globals()
        before = ""
        if self.some(0.25):
            before = self.function(f"f{self.name}")
            self.functions.append(f"f{self.name}")
        self.shapes()
        named = [
            f"{'__global ' if self.cl else ''}{'const ' if a.role == 'read' else ''}{self.type(a.elem)} *{a.name}"
            for a in self.arrays
        ]
        last = ["__global volatile long *mark"] if self.cl else []
        space = "__local" if self.cl else "__shared__"
        for s in self.shared:
            self.put(f"{space} {self.type(s.elem)} {s.name}[{s.rows}]{f'[{s.row}]' if s.row else ''};")
        if self.cl:
            self.put("int tx = get_local_id(0), ty = get_local_id(1);")
            self.put("int l = tx + get_local_size(0) * (ty + get_local_size(1) * get_local_id(2));")
            self.put(
                "int b = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));"
            )
        else:
            self.put("int tx = threadIdx.x, ty = threadIdx.y;")
            self.put("int l = tx + blockDim.x * (ty + blockDim.y * threadIdx.z);")
            self.put("int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);")
        threads = self.block[0] * self.block[1] * self.block[2]
        self.put(f"int g = l + {threads} * b;")
        self.put("int x = l & 7, y = 1, z = n;")
        self.put(f"{self.type(ELEMS[6])} u = {self.one('l', 'l * 77', '5', 'n')};")
        self.put(f"{self.type(ELEMS[9])} w = 17 * l;")
        self.put("float f = (float)l * 0.5f; double d = 1.5;")
        for a in [a for a in self.arrays if a.role == "read"]:
            if self.some(0.2):
                k, to = self.draw.randint(0, READ // 2), f"p{a.name}"
                self.put(f"{'__global ' if self.cl else ''}const {self.type(a.elem)} *{to} = {a.name} + {k};")
                self.moved.append(Global(to, a.elem, "read", READ // 2))
        self.body()
        head = "__kernel void" if self.cl else "__global__ void"
        return (
            before + f"{head} {self.name}({', '.join([*named, 'int n', *last])}) {{\n" + "\n".join(self.lines) + "\n}\n"
        )


def case(seed: int) -> Case:
    """The kernel of a seed."""
    writers = {dialect: Writer(seed, dialect) for dialect in ("cuda", "opencl")}
    texts = {dialect: w.write() for dialect, w in writers.items()}
    w = writers["cuda"]
    return Case(w.name, w.block, w.grid, w.n, texts["cuda"], texts["opencl"], tuple(w.arrays))
