"""Expressions of random C++ (`programs`), and what is known of the classes and functions that they use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

D: Final = "__device__ "
CELLS: Final = 128
"""Of each thread."""

T: Final = "Z"
"""A table in global memory, for functions that are passed no pointer."""

NUMBERS: Final = ("int", "int", "int", "int", "unsigned", "short", "unsigned char", "signed char", "long long", "bool")


@dataclass(eq=False)
class Function:
    """A function, method or lambda: the types of its parameters and of its result. It calls others of lower rank."""

    name: str
    params: list[str]
    result: str
    rank: int
    quiet: bool
    const: bool = False
    virtual: bool = False
    defaults: int = 0
    pure: bool = False


@dataclass(eq=False)
class Class:
    name: str
    bases: list[Class] = field(default_factory=list)
    numbers: list[tuple[str, str]] = field(default_factory=list)
    objects: list[tuple[str, Class]] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    makes: list[list[str]] = field(default_factory=list)
    methods: list[Function] = field(default_factory=list)
    aggregate: bool = False
    dies: bool = False
    sealed: bool = False
    rank: int = 0
    abstract: bool = False
    overridden: bool = False
    """Whether methods of it are virtual, mostly."""

    def lineage(self) -> Iterator[Class]:
        yield self
        for b in self.bases:
            yield from b.lineage()

    @property
    def virtual(self) -> bool:
        return any(m.virtual for c in self.lineage() for m in c.methods)

    @property
    def temporary(self) -> bool:
        return not any(c.dies or c.abstract for c in self.lineage())


@dataclass
class Scope:
    """What code may name: lvalues of numbers with their types, what is only read, pointers to int, objects (and whether
    they are const), what may be called; up to which rank; what is returned; in which statements it stands."""

    numbers: list[tuple[str, str]] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    objects: list[tuple[str, Class, bool]] = field(default_factory=list)
    calls: list[Function] = field(default_factory=list)
    rank: int = 10**6
    result: str = ""
    loop: bool = False
    quiet: bool = False
    inside: bool = False

    def inner(self, **changed: object) -> Scope:
        copied = {
            name: list(getattr(self, name))
            for name in ("numbers", "fixed", "pointers", "objects", "calls")
            if name not in changed
        }
        return replace(self, **copied, **changed)  # type: ignore[arg-type]


class Expressions:
    """Expressions of the program of a seed."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.seed = seed
        self.count = 0
        self.budget = 0
        self.reserved = ""
        self.plain = False
        self.classes: list[Class] = []
        self.functions: list[Function] = []

    def odds(self, p: float) -> bool:
        return self.draw.random() < p

    def one(self, *given: str) -> str:
        return self.draw.choice(given)

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # --- expressions -------------------------------------------------------------------------------------------------

    def full(self, s: Scope, depth: int = 2) -> str:
        """A full expression, with some effects."""
        self.effects(s, (0, 0, 0, 0, 1, 1, 1, 2))
        return self.number(s, depth)

    def effects(self, s: Scope, budgets: tuple[int, ...]) -> None:
        """Say how many effects the next expression has; all of them are on one variable, most of the time."""
        self.budget, self.reserved = 0 if s.quiet else self.draw.choice(budgets), ""
        local = [n for n, _ in s.numbers if n.isidentifier()]
        if self.budget and local and self.odds(0.85):
            self.budget, self.reserved = 1, self.draw.choice(local)
        self.plain = self.budget > 0 and self.odds(0.8)

    def index(self, s: Scope, depth: int = 1) -> str:
        if self.odds(0.3):
            return str(self.draw.randint(0, 31))
        return f"({self.number(s, depth)}) & 31"

    def place(self, s: Scope, depth: int = 1) -> str:
        """An lvalue of an int that may be in memory."""
        roll = self.draw.random()
        whole = [text for text, t in s.numbers if t == "int"]
        if whole and roll < 0.5:
            return self.draw.choice(whole)
        if roll < 0.6:
            p = self.draw.choice(s.pointers)
            return f"*{p}" if self.odds(0.6) else f"(*({p} + {self.draw.randint(0, 7)}))"
        if roll < 0.68 and len(whole) > 1 and depth:
            a, b = self.draw.sample(whole, 2)
            return f"({self.condition(s, depth - 1)} ? {a} : {b})"
        if roll < 0.8 and depth and (call := self.call(s, depth - 1, "int&")):
            return call
        if roll < 0.85 and depth and (part := self.part(s, depth)):
            return part
        return f"{self.draw.choice(s.pointers)}[{self.index(s, depth - 1 if depth else 0)}]"

    def part(self, s: Scope, depth: int) -> str:
        """A field of one of two objects; '' where there are none."""
        found = [(t, c) for t, c, const in s.objects if not const and any(k == "int" for _, k in c.numbers)]
        if not found:
            return ""
        text, c = self.draw.choice(found)
        other = self.draw.choice([t for t, k in found if k is c])
        field = self.draw.choice([n for n, k in c.numbers if k == "int"])
        return f"({self.condition(s, depth - 1)} ? {text} : {other}).{field}"

    def lvalue(self, s: Scope, depth: int = 1) -> str:
        if s.numbers and self.odds(0.5):
            return self.draw.choice(s.numbers)[0]
        return self.place(s, depth)

    def leaf(self, s: Scope) -> str:
        roll = self.draw.random()
        if roll < 0.25:
            return str(self.draw.randint(0, 9))
        numbers = [n for n, _ in s.numbers if n != self.reserved]
        if roll < 0.65 and numbers:
            return self.draw.choice(numbers)
        if roll < 0.85 and s.fixed:
            return self.draw.choice(s.fixed)
        if self.plain:
            return str(self.draw.randint(0, 9))
        return f"{self.draw.choice(s.pointers)}[{self.draw.randint(0, 31)}]"

    def number(self, s: Scope, depth: int) -> str:
        if depth <= 0:
            return self.leaf(s)
        roll, less = self.draw.random(), depth - 1
        if self.budget > 0 and roll < 0.4:
            self.budget -= 1
            return self.effect(s, less)
        if roll < 0.5 and (call := self.call(s, less, "int")):
            return call
        match self.draw.randint(0, 11):
            case 0 | 1 | 2:
                return f"({self.number(s, less)} {self.one('+', '-', '+', '*', '^', '|', '&')} {self.number(s, less)})"
            case 3:
                return f"({self.number(s, less)} {self.one('/ 3', '% 5', '>> 1', '<< 2', '& 7', '* 3')})"
            case 4:
                return f"({self.condition(s, less)} ? {self.number(s, less)} : {self.number(s, less)})"
            case 5:
                t = self.draw.choice(NUMBERS[4:])
                form = self.one("({})({})", "static_cast<{}>({})", "({})({})")
                return f"(int){form.format(t, self.number(s, less))}"
            case 6:
                return f"({self.condition(s, less)})"
            case 7:
                return f"{self.one('-', '~', '+', '!')}({self.number(s, less)})"
            case 8 if not self.plain:
                return f"{self.draw.choice(s.pointers)}[{self.index(s, less)}]"
            case 9:
                return self.one(
                    f"(int)sizeof(({self.draw.choice(NUMBERS)}){self.leaf(s)})",
                    f"int({self.leaf(s)})",
                    f"int{{{self.draw.randint(0, 9)}}}",
                )
            case 11 if self.classes and (text := self.of_temporary(s, less)):
                return text
            case 10 if not self.plain:
                return f"*({self.draw.choice(s.pointers)} + ({self.number(s, less)} & 15))"
        return self.leaf(s)

    def effect(self, s: Scope, depth: int) -> str:
        """An expression that changes something."""
        self.reserved = self.reserved or self.draw.choice([n for n, _ in s.numbers if n.isidentifier()] or [""])
        v = self.reserved if any(n == self.reserved for n, _ in s.numbers) else self.lvalue(s, depth)
        v = f"({v})" if v[0] == "*" else v
        turn = self.draw.randint(0, 9)
        match turn + 5 * (turn < 3 and (v, "bool") in s.numbers):
            case 0 | 1:
                return f"{v}++" if self.odds(0.5) else f"++{v}"
            case 2:
                return f"{v}--" if self.odds(0.5) else f"--{v}"
            case 3 | 4:
                return f"({v} = {self.number(s, depth)})"
            case 5 | 6:
                return f"({v} {self.one('+', '-', '^', '|', '&')}= {self.number(s, depth)})"
            case 7:
                return f"({v} = {self.number(s, depth)}, {self.number(s, depth)})"
            case 8:
                return f"({self.place(s, 0)} += {self.number(s, depth)}) {self.one('& 31', '+ 1', '* 2')}"
        return f"(({v} = {self.number(s, depth)}) {self.one('&', '+')} {self.number(s, depth)})"

    def condition(self, s: Scope, depth: int) -> str:
        if depth > 0 and self.odds(0.35):
            return f"({self.condition(s, depth - 1)} {self.one('&&', '||')} {self.condition(s, depth - 1)})"
        a = self.number(s, depth - 1)
        if self.odds(0.3):
            return f"(({a}) & {self.draw.choice((1, 2, 4))})"
        return f"{a} {self.one('<', '>', '==', '!=', '<=')} {self.number(s, depth - 1)}"

    def call(self, s: Scope, depth: int, result: str) -> str:
        """A call that gives something of a type; '' where there is none."""
        if depth < 0:
            return ""
        found: list[tuple[str, Function]] = [
            ("", f) for f in s.calls if f.rank < s.rank and f.result == result and self.may(s, f)
        ]
        for text, c, const in s.objects:
            found += [
                (text, m)
                for k in c.lineage()
                for m in k.methods
                if m.rank < s.rank and m.result == result and (m.const or not const) and self.may(s, m)
            ]
        if not found:
            return ""
        text, f = self.draw.choice(found)
        if not f.quiet:
            self.budget -= 1
        given = f.params[: len(f.params) - self.draw.randint(0, f.defaults)]
        args = [self.argument(s, depth, p) for p in given]
        if None in args:
            return ""
        inside = ", ".join(a for a in args if a)
        if not text:
            return f"{f.name}({inside})"
        return self.called(text, f, inside)

    def called(self, text: str, m: Function, inside: str) -> str:
        dot = "" if text == "*this" and self.odds(0.7) else "this->" if text == "*this" else f"{text}."
        if m.name.startswith("operator"):
            op, obj = m.name.removeprefix("operator"), text if text != "*this" else "(*this)"
            if op == "[]":
                return f"{obj}[{inside}]"
            if op == "()":
                return f"{obj}({inside})"
            if op == " int":
                return f"(int){obj}"
            if op in ("*", "-", "!", "++") and not inside:
                return f"({op}{obj})"
            return f"({obj} {op} {inside})"
        return f"{dot}{m.name}({inside})"

    def may(self, s: Scope, f: Function) -> bool:
        return f.quiet or (self.budget > 0 and not s.quiet)

    def argument(self, s: Scope, depth: int, kind: str) -> str | None:
        """Something to pass as a parameter of a type."""
        if kind in NUMBERS or kind == "const int&":
            return self.number(s, depth)
        if kind == "int&":
            return self.place(s, 0)
        if kind == "int*":
            p = self.draw.choice(s.pointers)
            whole = [text for text, t in s.numbers if t == "int"]
            if whole and self.odds(0.2):
                return None
            return (
                p
                if self.odds(0.6)
                else f"{p} + {self.draw.randint(0, 7)}"
                if self.odds(0.5)
                else f"&{p}[{self.index(s, 0)}]"
            )
        if kind == "F":
            return self.function(s)
        name = kind.replace("const ", "").rstrip("&*")
        return self.object(s, name, kind, depth)

    def function(self, s: Scope) -> str | None:
        """Something that can be called with an int, and gives one."""
        named = [f.name for f in s.calls if f.rank < s.rank and f.params == ["int"] and f.result == "int" and f.pure]
        named += [
            t
            for t, c, const in s.objects
            if t != "*this" and c.temporary
            for m in c.methods
            if m.name == "operator()" and m.const and m.rank < s.rank and not c.abstract
        ]
        if named and self.odds(0.6):
            return self.draw.choice(named)
        inner = s.inner(quiet=True, result="int", loop=False)
        inner.fixed.append("q")
        return f"[{self.one('&', '=', '&')}](int q) -> int {{ return {self.full(inner, 1)}; }}"

    def object(self, s: Scope, name: str, kind: str, depth: int) -> str | None:
        """An object of a class, or of one that is derived of it."""
        known = [
            (text, const, c)
            for text, c, const in s.objects
            if any(k.name == name for k in c.lineage()) and (not const or kind.startswith("const") or kind == name)
        ]
        cls = next((c for c in self.classes if c.name == name), None)
        if cls is None:
            return self.draw.choice(known)[0] if known and kind[-1] == "&" else None
        if kind == name and ["int"] in cls.makes and cls.temporary and self.odds(0.15):
            return self.number(s, depth)
        if kind[-1] == "&" and len(known) > 1 and self.odds(0.1):
            same = [t for t, _, c in known if c is cls and t != "*this"]
            if len(same) > 1:
                return f"({self.condition(s, depth - 1)} ? {same[0]} : {same[-1]})"
        if kind.endswith("*"):
            known = [k for k in known if not k[1]]
            if not known:
                return None
            text = self.draw.choice(known)[0]
            return "this" if text == "*this" else f"&{text}"
        if kind == name and not cls.temporary:
            return None
        if known and (self.odds(0.75) or (kind.endswith("&") and not kind.startswith("const"))):
            return self.draw.choice(known)[0]
        if kind.endswith("&") and not kind.startswith("const"):
            return None
        if not cls.temporary or cls.rank >= s.rank:
            return None
        return self.temporary(s, cls, depth)

    def of_temporary(self, s: Scope, depth: int) -> str:
        """A field of an object that nothing names, or a call of a method of it."""
        c = self.draw.choice(self.classes)
        if not c.temporary or c.rank >= s.rank:
            return ""
        text = self.temporary(s, c, depth)
        if text is None:
            return ""
        found = [m for k in c.lineage() for m in k.methods if m.result == "int" and m.rank < s.rank and self.may(s, m)]
        if found and self.odds(0.6):
            m = self.draw.choice(found)
            args = [self.argument(s, depth, p) for p in m.params]
            return "" if None in args else self.called(text, m, ", ".join(a for a in args if a))
        fields = [n for k in c.lineage() for n, _ in k.numbers]
        if text.endswith("}"):  # the front end refuses a field of a list
            return ""
        return f"{text}.{self.draw.choice(fields)}"

    def temporary(self, s: Scope, c: Class, depth: int) -> str | None:
        if (call := self.call(s, depth - 1, c.name)) and self.odds(0.5):
            return call
        made = self.made(s, c, depth - 1)
        return None if made is None else f"{c.name}{made or '()'}"

    def made(self, s: Scope, c: Class, depth: int) -> str | None:
        """What stands behind a name or a class where an object of it is made."""
        if c.aggregate:
            return (
                "{"
                + ", ".join(
                    f"({t.replace('bits', 'int')})({self.number(s, depth)}{' & 1' * (t == 'bits')})"
                    for _, t in c.numbers[: self.draw.randint(0, 3)]
                )
                + "}"
            )
        params = self.draw.choice(c.makes)
        args = [self.argument(s, depth, p) for p in params]
        if None in args:
            return None
        inside = ", ".join(a for a in args if a)
        return f"({inside})" if inside else ""
