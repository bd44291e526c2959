"""Random C++ as people write it: classes, functions, templates and lambdas, and a kernel that uses them, as text.

A kernel is `k(int *G, int n)`; each of its threads has cells of its own in G, which it calls A. All loops end, and all
variables have a value; what else C++ leaves undefined (an overflow) is seen when a host compiler runs it.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracles.aliases import BEFORE
from tests.oracles.classes import CELLS, NUMBERS, Class, D, Function, Scope, T
from tests.oracles.moves import Moves
from tests.oracles.templated import as_function_template, as_template, derives, members


class Writer(Moves):
    """Writes the program of a seed."""

    # --- statements --------------------------------------------------------------------------------------------------

    def block(self, s: Scope, depth: int, least: int = 1, most: int = 3) -> str:
        inner = s.inner()
        return "{ " + self.statements(inner, depth, least, most) + " }"

    def statements(self, s: Scope, depth: int, least: int, most: int) -> str:
        texts = list[str]()
        for _ in range(self.draw.randint(least, most)):
            texts += [self.statement(s, depth), *self.moving(s, 0.1)]
        return " ".join(texts)

    def statement(self, s: Scope, depth: int) -> str:
        roll = self.draw.random()
        if depth > 0 and roll < 0.27:
            return self.nested(s, depth - 1)
        if roll < 0.33 and not s.quiet:
            return self.aliased(s)
        if roll < 0.55:
            return self.declaration(s)
        if s.result and s.inside and roll < 0.6:
            return f"if ({self.condition(s, 1)}) {self.returns(s)}"
        return self.simple(s)

    def returns(self, s: Scope) -> str:
        if s.result == "void":
            return "return;"
        if s.result == "int&":
            return f"return {self.place(s.inner(numbers=[n for n in s.numbers if n[0].startswith('this->')]), 1)};"
        if s.result == "int":
            return f"return {self.full(s, 2)};"
        return "return *this;" if s.result.endswith("&") else ";"

    def simple(self, s: Scope) -> str:
        self.effects(s, (0, 0, 1, 1, 2))
        local = [n for n in s.numbers if not n[0].startswith("this->")]
        if s.quiet:
            if not local:
                return ";"
            v = self.draw.choice(local)[0]
            return f"{v} {self.one('=', '+=', '^=')} ({self.number(s, 2)}) & 15;"
        roll = self.draw.random()
        if roll < 0.12 and (call := self.call(s, 1, "void")):
            return f"{call};"
        if roll < 0.2 and (call := self.call(s, 1, self.one("int", "int&"))):
            return f"{call};"
        if roll < 0.27 and s.objects:
            text, c, const = self.draw.choice(s.objects)
            if not const and c.temporary and (other := self.object(s, c.name, f"const {c.name}&", 1)) and text != other:
                return f"{text} = {other};"
        if roll < 0.3:
            moved = [p for p in s.pointers if p[0] == "p" and p != "p"]
            if moved:
                p = self.draw.choice(moved)
                return self.one(
                    f"{p}++;",
                    f"*{p}++ = {self.number(s, 1)};",
                    f"{p} += {self.number(s, 1)} & 3;",
                    f"{p} = {self.draw.choice(s.pointers)} + 2;",
                )
        if roll < 0.42:
            self.budget -= 1
            return f"{self.effect(s, 2)};"
        v = self.lvalue(s, 1)
        if v == self.reserved:  # nothing else changes it
            self.budget = 0
        if roll < 0.7:
            return f"{v} = {self.number(s, 2)};"
        if roll < 0.8:
            return f"{v} = ({self.number(s, 2)}) & 31;"
        return f"{v} {self.one('+=', '-=', '^=', '|=', '+=')} {self.number(s, 2)};"

    def declaration(self, s: Scope) -> str:
        roll = self.draw.random()
        if roll < 0.25:
            v, t = self.fresh("v"), self.draw.choice(NUMBERS)
            text = f"{t} {v} = {self.full(s)};" if self.odds(0.8) else f"auto {v} = (int)({self.full(s)});"
            s.numbers.append((v, t if text[0] != "a" else "int"))
            return text
        if roll < 0.37:
            v = self.fresh("r")
            self.budget = 0
            if s.quiet or self.odds(0.3):
                text = f"const int &{v} = {self.number(s, 1) if self.odds(0.3) else self.place(s.inner(quiet=True))};"
                s.fixed.append(v)
            else:
                text = f"{self.one('int', 'auto')} &{v} = {self.place(s)};"
                s.numbers.append((v, "int"))
            return text
        if roll < 0.45:
            v, p = self.fresh("p"), self.draw.choice(s.pointers)
            text = (
                f"int *{v} = {p} + {self.draw.randint(0, 9)};"
                if self.odds(0.5)
                else f"int *{v} = &{p}[{self.index(s)}];"
            )
            s.pointers.append(v)
            return text
        if roll < 0.55:
            v = self.fresh("a")
            self.budget = 0
            text = f"int {v}[4] = {{{', '.join(self.number(s, 1) for _ in range(self.draw.randint(1, 4)))}}};"
            s.numbers += [(f"{v}[{self.draw.randint(0, 3)}]", "int"), (f"{v}[{self.leaf(s)} & 3]", "int")]
            return text
        if roll < 0.67 and not s.quiet:
            return self.lambda_of(s)
        if roll < 0.75:
            return self.other(s)
        return self.objects(s)

    def other(self, s: Scope) -> str:
        """A table, a constant, a union, a pointer to a function or to a member, an array of objects, an enumeration."""
        self.budget, v = 0, self.fresh("u")
        match self.draw.randint(0, 7):
            case 0:
                numbers = ", ".join(str(self.draw.randint(0, 9)) for _ in range(4))
                s.fixed += [f"{v}[{self.draw.randint(0, 3)}]", f"{v}[{self.leaf(s)} & 3]"]
                return f"static const int {v}[4] = {{{numbers}}};"
            case 1:
                s.fixed.append(v)
                return f"constexpr int {v} = {self.draw.randint(0, 9)} * 3;"
            case 2:
                first = self.number(s, 1)
                s.numbers += [(f"{v}.i", "int"), (f"{v}.u", "unsigned")]
                return f"union {{ int i; unsigned u; }} {v}; {v}.i = {first};"
            case 3:
                inner = Scope(fixed=["q"], pointers=[T], quiet=True, result="int", calls=[])
                s.calls.append(Function(v, ["int"], "int", 0, True, pure=True))
                return f"int (*{v})(int) = [](int q) -> int {{ return {self.number(inner, 2)}; }};"
            case 4:
                found = [
                    (t, n)
                    for t, c, const in s.objects
                    for n, k in c.numbers
                    if k == "int" and not const and t != "*this"
                ]
                if not found:
                    return ";"
                t, n = self.draw.choice(found)
                c = next(c for text, c, _ in s.objects if text == t)
                s.numbers.append((f"({t}.*{v})", "int"))
                return f"int {c.name}::*{v} = &{c.name}::{n};"
            case 5 | 6:
                some = [
                    c for c in self.classes if c.temporary and c.rank < s.rank and not (s.quiet and not c.aggregate)
                ]
                if not some:
                    return ";"
                c = self.draw.choice(some)
                made = [self.made(s, c, 1) for _ in range(2)]
                if None in made:
                    return ";"
                for text in (f"{v}[0]", f"{v}[{self.draw.choice((1, 0))}]", f"{v}[{self.leaf(s)} & 1]"):
                    s.objects.append((text, c, False))
                self.fields(s, f"{v}[1]", c, False)
                return f"{c.name} {v}[2] = {{{', '.join(c.name + (m or '()') for m in made)}}};"
        s.fixed.append(f"(int){v}::b")
        return f"enum class {v} {{ a, b = {self.draw.randint(1, 9)}, c }};"

    def objects(self, s: Scope) -> str:
        known = [c for c in self.classes if not c.abstract and c.rank < s.rank]
        if not known:
            return ";"
        c = self.draw.choice(known)
        if s.quiet and not c.aggregate:
            return ";"
        v = self.fresh("o")
        self.effects(s, (0, 1))
        roll = self.draw.random()
        same = [(t, k) for t, k, const in s.objects if c in k.lineage() and not const and t != "*this"]
        if roll < 0.2 and same and c.temporary:
            text = f"{c.name} {v}{self.one(' = {}', '({})').format(self.draw.choice(same)[0])};"
            const = False
        elif roll < 0.4 and same:
            const = self.odds(0.3)
            text = f"{'const ' * const}{c.name} &{v} = {self.draw.choice(same)[0]};"
        elif roll < 0.5 and same and not s.quiet:
            text = f"{c.name} *{v} = &{self.draw.choice(same)[0]};"
            s.objects.append((f"(*{v})" if self.odds(0.3) else f"{v}[0]", c, False))
            return text
        elif roll < 0.58 and not s.quiet and (text := self.either(s, c, v)):
            return text
        elif roll < 0.64 and not s.quiet and c.temporary and (made := self.made(s, c, 1)) is not None:
            text = f"{c.name} *{v} = new {c.name}{made or self.one('', '()') if not c.aggregate else made};"
            s.objects.append((f"(*{v})", c, False))
            return text
        elif roll < 0.7 and not c.dies and c.aggregate and not c.objects and not c.bases and not c.arrays:
            names = [self.fresh("b") for _ in c.numbers]
            made = self.made(s, c, 1)
            if made is None or any(":" in t for _, t in c.numbers):
                return ";"
            if self.odds(0.5) and same:
                made_text = self.draw.choice(same)[0]
                text = (
                    f"auto &[{', '.join(names)}] = {made_text};"
                    if [k for t, k in same if t == made_text] == [c]
                    else ";"
                )
            else:
                text = f"auto [{', '.join(names)}] = {c.name}{made};"
            if text != ";":
                s.numbers += [(n, t) for n, (_, t) in zip(names, c.numbers, strict=True)]
            return text
        else:
            const = self.odds(0.15)
            made = self.made(s, c, 1)
            if made is None:
                return ";"
            if const and not made and not c.makes:
                made = "{}"
            text = f"{'const ' * const}{c.name} {v}{made};"
        s.objects.append((v, c, const))
        self.fields(s, v, c, const)
        return text

    def either(self, s: Scope, c: Class, v: str) -> str:
        """A pointer to a new object of one of two classes that derive from one."""
        some = [d for d in self.classes if c in d.lineage() and not d.abstract and d.rank < s.rank]
        one, two = self.draw.choice(some), self.draw.choice(some)
        made = self.made(s, one, 1), self.made(s, two, 1)
        if None in made or (one is two and one is c):
            return ""
        first, second = (f"new {d.name}{m or '()'}" for d, m in zip((one, two), made, strict=True))
        s.objects.append((f"(*{v})", c, False))
        self.fields(s, f"(*{v})", c, False)
        return f"{c.name} *{v}; if ({self.condition(s, 1)}) {v} = {first}; else {v} = {second};"

    def fields(self, s: Scope, v: str, c: Class, const: bool) -> None:
        for k in c.lineage():
            for name, t in k.numbers:
                if const:
                    s.fixed.append(f"{v}.{name}")
                else:
                    s.numbers.append((f"{v}.{name}", t))
            for a in k.arrays:
                (s.fixed if const else s.numbers).append(f"{v}.{a}[1]" if const else (f"{v}.{a}[2]", "int"))  # type: ignore[arg-type]
            for name, o in k.objects:
                s.objects.append((f"{v}.{name}", o, const))

    def lambda_of(self, s: Scope) -> str:
        v = self.fresh("l")
        local = [n for n, t in s.numbers if t == "int" and n.isidentifier()]
        capture, mutable = self.one("&", "&", "="), self.odds(0.3)
        inner = s.inner(result="int", loop=False, inside=True, quiet=self.odds(0.4))
        if capture == "=" or mutable:
            capture = "="
            inner.numbers = (
                [(n, t) for n, t in s.numbers if (n.isidentifier() and n[0] == "v") or n == "x"] if mutable else []
            )
            inner.fixed += local if not mutable else []
            inner.objects = [(t, c, True) for t, c, _ in s.objects if t.isidentifier() and c.temporary and t[0] == "o"]
            inner.calls = [f for f in inner.calls if f.name[0] != "l" or f.pure]
        if local and self.odds(0.2):
            w = self.fresh("w")
            capture += f", {w} = {self.number(s.inner(quiet=True), 1)}"
            inner.fixed.append(w)
        params = self.draw.choice((["int"], ["int"], [], ["int", "int"], ["int&"]))
        names = [self.fresh("q") for _ in params]
        for n, p in zip(names, params, strict=True):
            if p == "int" and not inner.quiet and self.odds(0.5):
                inner.numbers.append((n, p))
            elif p == "int&" and not inner.quiet:
                inner.numbers.append((n, "int"))
            else:
                inner.fixed.append(n)
        generic = "auto" if self.odds(0.15) else "int"
        head = ", ".join(f"{p.replace('int', generic)} {n}" for p, n in zip(params, names, strict=True))
        quiet = inner.quiet and not mutable
        result = "int&" if capture[0] == "&" and not quiet and "int&" not in params and self.odds(0.3) else "int"
        inner.result = "int" if result == "int" else ""
        body = self.statements(inner, 1, 0, 2)
        self.budget = 1
        end = self.returns(inner) if result == "int" else f"return {self.place(s, 0)};"
        f = Function(v, params, result, 0, quiet, pure=True)
        s.calls.append(f)
        text = f"auto {v} = [{capture}]({head}){' mutable' if mutable else ''} -> {result} {{ {body} {end} }};"
        if self.odds(0.15):
            copied = self.fresh("l")
            s.calls.append(replace(f, name=copied))
            text += f" auto {copied} = {v};"
        return text

    def nested(self, s: Scope, depth: int) -> str:
        c = self.fresh("i")
        inner = s.inner(loop=True, inside=True)
        inner.fixed.append(c)
        branch = s.inner(inside=True)
        most = self.one("3", "2", "4", f"(({self.leaf(s)}) & 3)")
        roll = self.draw.random()
        jumps = self.draw.random()
        jump = ""
        if jumps < 0.3:
            jump = f" if ({self.condition(inner, 1)}) {self.one('break', 'continue')};"
        if roll < 0.2:
            init = f"int {(w := self.fresh('v'))} = {self.full(s)}; " if self.odds(0.2) else ""
            if init:
                branch.numbers.append((w, "int"))
            self.effects(s, (0, 0, 1))
            test = self.condition(branch, 2)
            tail = f" else {self.block(branch, depth)}" if self.odds(0.5) else ""
            return f"if ({init}{test}) {self.block(branch, depth)}{tail}"
        if roll < 0.35:
            before = inner.inner()
            body = self.statements(inner, depth, 1, 3)
            out = f"for (int {c} = 0; {c} < {most}; {c}++) {{ {body}{jump} {self.simple(inner)} }}"
            if self.odds(0.3):
                self.effects(before, (1, 1, 0))
                more, self.budget = self.condition(before, 1), 0
                step = self.effect(s.inner(), 1) if not s.quiet else "0"
                out = (
                    f"for (int {c} = 0; {c} < {most} && {more}; {c}++, {step}) {{ {body}{jump} {self.simple(inner)} }}"
                )
            if self.odds(0.15):
                out = out.replace("break;", f"goto {c}e;").replace("continue;", f"goto {c}e;")
                return f"{{ {out} {c}e: ; }}" if f"goto {c}e" in out and "switch" not in out else ";"
            return out
        if roll < 0.42:
            body = self.statements(inner, depth, 1, 3)
            return f"{{ int {c} = 0; while ({c}++ < {most}) {{ {body}{jump} {self.simple(inner)} }} }}"
        if roll < 0.5:
            body = self.statements(inner, depth, 1, 3)
            return f"{{ int {c} = 0; do {{ {body}{jump} {self.simple(inner)} }} while (++{c} < {most}); }}"
        if roll < 0.58:
            return self.ranged(inner, s, depth, c, jump)
        if roll < 0.75:
            return self.switch(s, depth)
        if roll < 0.82:
            label = self.fresh("e")
            body = self.block(branch, 0)
            return f"{{ if ({self.condition(s, 1)}) goto {label}; {body} {label}: ; }}"
        if roll < 0.87:
            label = self.fresh("e")
            return f"{{ int {c} = 0; {label}: {self.block(inner, 0)} if (++{c} < {most}) goto {label}; }}"
        return self.block(branch, depth)

    def ranged(self, inner: Scope, s: Scope, depth: int, c: str, jump: str) -> str:
        inner.fixed.remove(c)
        arrays = sorted({n.split("[")[0] for n, t in s.numbers if n.startswith("a") and "[" in n})
        if arrays and self.odds(0.7):
            reference = not s.quiet and self.odds(0.5)
            (inner.numbers if reference else inner.fixed).append((c, "int") if reference else c)  # type: ignore[arg-type]
            head = f"{self.one('int', 'auto')} {'&' * reference}{c} : {self.draw.choice(arrays)}"
        else:
            inner.fixed.append(c)
            head = f"int {c} : {{{', '.join(f'int({self.leaf(s.inner(numbers=[]))})' for _ in range(3))}}}"
            return ";" if "[" in head else f"for ({head}) {{ {self.statements(inner, depth, 1, 2)}{jump} }}"
        return f"for ({head}) {{ {self.statements(inner, depth, 1, 2)}{jump} }}"

    def switch(self, s: Scope, depth: int) -> str:
        labels = ["default:", "case 0:", "case 1:", "case 2:", "case 3: case 5:"]
        self.draw.shuffle(labels)
        inner = s.inner(inside=True)
        parts = [
            f"{label} {self.block(inner, depth, 0, 2)}{' break;' if self.odds(0.5) else ''}"
            for label in labels[: self.draw.randint(1, 5)]
        ]
        self.effects(s, (0, 1))
        return f"switch ({self.number(s, 1)} & {self.one('3', '7', '1')}) {{ {' '.join(parts)} }}"

    # --- functions and classes ---------------------------------------------------------------------------------------

    def rank(self) -> int:
        self.count += 1
        return self.count

    def parameters(self, kinds: list[str], s: Scope, defaults: int = 0) -> str:
        texts = []
        for i, kind in enumerate(kinds):
            n = self.fresh("q")
            if kind in NUMBERS:
                if self.odds(0.5):
                    s.numbers.append((n, kind))
                else:
                    s.fixed.append(n)
            elif kind == "int&":
                if s.quiet:
                    s.fixed.append(n)
                else:
                    s.numbers.append((n, "int"))
            elif kind == "const int&":
                s.fixed.append(n)
            elif kind == "int*":
                s.pointers.append(n)
            elif kind == "F":
                s.calls.append(Function(n, ["int"], "int", 0, True))
            else:
                c = next(c for c in self.classes if c.name == kind.replace("const ", "").rstrip("&*"))
                const = kind.startswith("const") or (s.quiet and kind[-1] in "&*")
                text = f"(*{n})" if kind.endswith("*") else n
                s.objects.append((text, c, const))
                self.fields(s, text, c, const)
            default = f" = {self.draw.randint(0, 9)}" if i >= len(kinds) - defaults else ""
            texts.append(f"{kind.replace('&', ' &').replace('*', ' *')} {n}{default}")
        return ", ".join(texts)

    def kinds(self, most: int = 3) -> list[str]:
        basic = ["int", "int", "int", "int&", "int*", "const int&", "unsigned char", "unsigned"]
        for c in self.classes:
            if c.temporary:
                basic += [c.name]
            basic += [f"{c.name}&", f"const {c.name}&", f"{c.name}*"]
        return [self.draw.choice(basic) for _ in range(self.draw.randint(0, most))]

    def body(self, f: Function, s: Scope) -> str:
        s.result, s.rank, s.quiet, s.inside = f.result, f.rank, f.quiet, True
        if not s.pointers:
            s.pointers.append("P")
        text = self.statements(s, 1, 0, 2)
        if f.result == "int&":
            whole = [n for n, t in s.numbers if t == "int" and (n.startswith("this->") or n in self.references)]
            end = (
                f"return {self.draw.choice(whole)};"
                if whole and self.odds(0.7)
                else f"return {self.draw.choice(s.pointers)}[{self.index(s, 0)}];"
            )
        elif f.result in ("int", "void"):
            end = self.returns(s)
        elif f.result.endswith("&"):
            end = "return *this;"
        else:
            c = next(c for c in self.classes if c.name == f.result)
            self.budget = 0
            end = f"return {self.object(s, c.name, c.name, 1)};"
            if "None" in end:
                return ""
        return f"{{ {text} {end} }}"

    references: tuple[str, ...] = ()

    def free(self) -> str:
        """A function."""
        name = self.one(f"f{self.draw.randint(0, 2)}", self.fresh("f"))
        roll = self.draw.random()
        made = [c.name for c in self.classes if c.temporary]
        result = (
            "int"
            if roll < 0.55
            else "int&"
            if roll < 0.7
            else "void"
            if roll < 0.8 or not made
            else self.draw.choice(made)
        )
        kinds = self.kinds()
        if result == "int&" or "int*" not in kinds:
            kinds.append("int*")
        if any(f.name == name and f.params[: len(kinds)] == kinds for f in self.functions):
            name = self.fresh("f")
        template = self.odds(0.2)
        if template:
            kinds = [*kinds, "F"]
        f = Function(name, kinds, result, self.rank(), self.odds(0.4) and result not in ("int&", "void"))
        s = Scope(calls=list(self.functions))
        head = self.parameters(kinds, s)
        self.references = tuple(
            n for n, k in zip((p.split()[-1] for p in head.split(", ")), kinds, strict=False) if k == "int&"
        )
        body = self.body(f, s)
        if not body:
            return ""
        self.functions.append(f)
        before = "template <class F> " if template else ""
        return f"{before}{D}{result.replace('&', ' &')} {name}({head}) {body}\n"

    def scope_of(self, c: Class, const: bool) -> Scope:
        s = Scope(calls=list(self.functions))
        for k in c.lineage():
            for name, t in k.numbers:
                text = self.one("this->", "", "") + name
                if const:
                    s.fixed.append(text)
                else:
                    s.numbers.append((f"this->{name}", t))
            s.pointers += k.pointers
            for a in k.arrays:
                if not const:
                    s.numbers.append((f"this->{a}[{self.draw.randint(0, 3)}]", "int"))
            s.objects += [(name, o, const) for name, o in k.objects]
        s.objects.append(("*this", c, const))
        return s

    def method(self, c: Class, like: Function | None = None, made: str = "") -> str:
        name = like.name if like else made or self.one("m0", "m1", "m2", "m3", self.fresh("m"))
        const = like.const if like else self.odds(0.4)
        quiet = like.quiet if like else self.odds(0.3)
        kinds = like.params if like else self.kinds(2)
        result = like.result if like else self.one("int", "int", "int", "void", "int&", f"{c.name}&")
        defaults = 0
        if made:
            kinds = {
                "operator[]": ["int"],
                "operator()": ["int"],
                "operator int": [],
                "operator+=": ["int"],
                "operator-": [],
                "operator*": [],
                "operator+": [f"const {c.name}&"],
                "operator==": [f"const {c.name}&"],
            }[made]
            result = {"operator[]": "int&", "operator+=": f"{c.name}&", "operator*": "int&"}.get(made, "int")
            const = made in ("operator int", "operator-", "operator==", "operator+") or (
                made == "operator()" and self.odds(0.7)
            )
            quiet = made in ("operator int", "operator==", "operator-")
        elif not like and kinds and kinds[-1] == "int" and self.odds(0.3):
            name, defaults = self.fresh("m"), 1
        elif not like and any(m.name == name and m.params == kinds for m in c.methods):
            name = self.fresh("m")
        if result == f"{c.name}&" or result == "int&" or result == "void":
            const, quiet = (const, quiet) if like else (False, False)
        f = Function(name, kinds, result, like.rank if like else self.rank(), quiet, const, defaults=defaults)
        f.virtual = bool(like and like.virtual) or (
            not like and not made and c.overridden and self.odds(0.6) and not result.endswith(f"{c.name}&")
        )
        s = self.scope_of(c, const or quiet)
        head = self.parameters(kinds, s, defaults)
        if "int*" not in kinds and not any(k.pointers for k in c.lineage()):
            s.pointers.append(T)
        body = self.body(f, s)
        if not body:
            return ""
        c.methods.append(f)
        sign = "virtual " if f.virtual and (not like or self.odds(0.3)) else ""
        over = " override" if like and like.virtual and self.odds(0.6) else ""
        if made == "operator int":
            return f"  {D}operator int() const {body}\n"
        return f"  {D}{sign}{result.replace('&', ' &')} {name}({head}){' const' * const}{over} {body}\n"

    def structure(self) -> str:
        c = Class(self.fresh("C"))
        c.overridden = self.odds(0.4)
        bases = [b for b in self.classes if not b.sealed]
        if bases and self.odds(0.6):
            c.bases.append(self.draw.choice(bases))
            others = [b for b in bases if not set(b.lineage()) & set(c.bases[0].lineage())]
            if others and self.odds(0.25):
                c.bases.append(self.draw.choice(others))
        inner = [k for k in self.classes if k.temporary and (k.aggregate or [] in k.makes)]
        fields = []
        made = self.odds(0.7) or bool(c.bases) or c.overridden
        plain = not made
        late: list[str] = []
        for _ in range(self.draw.randint(1, 3)):
            n, t = self.fresh("x"), self.draw.choice(NUMBERS)
            c.numbers.append((n, t))
            bits = f" : {self.draw.randint(2, 5)}" if t in ("unsigned", "int") and self.odds(0.1) else ""
            if bits:
                c.numbers[-1] = (n, "bits")
            init = ""
            if self.odds(0.5) and not bits:
                init = self.one(f" = {self.draw.randint(0, 9)}", f"{{{self.draw.randint(0, 1)}}}")
                if len(c.numbers) > 1 and t == "int" and self.odds(0.3) and c.numbers[-2][0] not in late:
                    init = f" = {c.numbers[-2][0]} + 1"
            if not init:
                late.append(n)
            fields.append(f"{t} {n}{bits}{init};")
        if self.odds(0.2) and made:
            a = self.fresh("y")
            c.arrays.append(a)
            fields.append(f"int {a}[4] = {{{self.draw.randint(0, 9)}, 2}};")
        if inner and self.odds(0.3) and made:
            o, k = self.fresh("z"), self.draw.choice(inner)
            c.objects.append((o, k))
            fields.append(f"{k.name} {o}{'{}' if k.aggregate else ''};")
        c.dies = made and self.odds(0.2)
        c.rank = 10**7
        if c.dies or (made and self.odds(0.25)):
            c.pointers.append(self.fresh("d"))
            fields.append(f"int *{c.pointers[0]};")
        texts = []
        if plain:
            c.aggregate = True
            c.makes = [[]]
        else:
            for params in self.draw.choice(([[], ["int"]], [["int"], ["int", "int"]], [["int", "int*"]], [["int&"]])):
                text = self.constructor(c, list(params), late)
                if text:
                    texts.append(text)
            if not texts:
                return ""
        self.classes.append(c)
        if c.dies:
            f = Function("~", [], "void", self.rank(), False)
            s = self.scope_of(c, False)
            virtual = "virtual " if c.overridden or c.virtual else ""
            texts.append(f"  {D}{virtual}~{c.name}() {self.body(f, s)}\n")
        c.rank = self.rank()
        given = [m for b in c.bases for k in b.lineage() for m in k.methods if not m.name.startswith("operator")]
        for m in given:
            if self.odds(0.5 if m.virtual else 0.1) and not any(
                k.params == m.params and k.name == m.name for k in c.methods
            ):
                texts += [self.method(c, m)]
        texts += [self.method(c) for _ in range(self.draw.randint(0, 3))]
        ops = ("[]", "()", " int", "+=", "-", "*", "+", "==")
        texts += [self.method(c, made=f"operator{op}") for op in ops if self.odds(0.1)]
        if given and self.odds(0.3):
            b = c.bases[0]
            for n in sorted({m.name for m in b.methods if not m.name.startswith("operator")}):
                texts.insert(0, f"  using {b.name}::{n};\n")
        head = f"struct {c.name}{' final' if self.odds(0.05) else ''}"
        if "final" in head:
            c.sealed = True
        derived = " : " + ", ".join(b.name for b in c.bases) if c.bases else ""
        return f"{head}{derived} {{\n  {' '.join(fields)}\n{''.join(texts)}}};\n"

    def constructor(self, c: Class, params: list[str], late: list[str]) -> str:
        pointed = bool(c.pointers) or any(
            k.pointers or ["int*"] in [m[-1:] for m in k.makes] for b in c.bases for k in b.lineage()
        )
        if pointed and "int*" not in params:
            params.append("int*")
        s = Scope(calls=list(self.functions))
        head = self.parameters(params, s)
        if not s.pointers:
            s.pointers.append(T)
        inits = []
        self.budget = 0
        for b in c.bases:
            made = self.made(s, b, 1)
            if made is None:
                return ""
            if made or b.aggregate or self.odds(0.5):
                inits.append(f"{b.name}{made or '()'}")
        for n, t in c.numbers:
            if n in late or self.odds(0.2):
                self.effects(s, (0, 0, 1))
                value = f"({self.number(s, 1)}) & 3" if t == "bits" else self.number(s, 1)
                inits.append(f"{n}({value})")
        inits += [f"{d}({s.pointers[0]})" for d in c.pointers]
        if self.odds(0.3):
            self.draw.shuffle(inits)
        rank = self.rank()
        f = Function(c.name, params, "void", rank, False)
        inner = self.scope_of(c, False)
        inner.numbers += s.numbers
        inner.fixed += s.fixed
        inner.pointers += s.pointers
        body = self.body(f, inner) if self.odds(0.5) else "{}"
        c.makes.append(params)
        return f"  {D}{c.name}({head}) : {', '.join(inits)} {body}\n" if inits else f"  {D}{c.name}({head}) {body}\n"

    def perhaps_template(self, text: str) -> str:
        """A class or a function, some of them as a template. Its draws are its own: others stay what they are."""
        draw = Random(f"{self.seed}: {len(text)}")
        if not text.startswith("struct"):
            return as_function_template(text, draw) if draw.random() < 0.25 else text
        odds = 0.8 if derives(text, self.known) else 0.25
        made = as_template(text, draw, self.known) if draw.random() < odds else text
        self.known |= members(text, self.known, made != text)
        return made

    def program(self) -> str:
        """The kernel and what stands before it, in a namespace."""
        parts = [BEFORE]
        for _ in range(self.draw.randint(0, 3)):
            parts.append(self.structure())
            if self.odds(0.5):
                parts.append(self.free())
        parts += [self.free() for _ in range(self.draw.randint(0, 2))]
        parts = [self.perhaps_template(part) for part in parts]
        s = Scope(calls=list(self.functions), pointers=["A"], fixed=["n", "t"], numbers=[("x", "int"), ("y", "int")])
        body = self.statements(s, 2, 3, 7)
        out = [n for n, _ in s.numbers if n.isidentifier() or n.count(".") == 1]
        stores = " ".join(f"A[{64 + i}] = (int){n};" for i, n in enumerate(out[:60]))
        start = f"int *A = G + {CELLS} * threadIdx.x; int t = threadIdx.x, x = A[1], y = n + 2;"
        space = f"p{self.seed}"
        kernel = (
            f"__global__ void k{self.seed}(int *G, int n) {{ using namespace {space}; {start}\n{body}\n{stores} }}\n"
        )
        return f"namespace {space} {{\n{''.join(parts)}}}\n{kernel}"
