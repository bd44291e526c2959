"""Statements of random C++ (`programs`) that keep a value of a place while another name of it changes what is there."""

from __future__ import annotations

from typing import Final

from tests.oracles.classes import Class, D, Expressions, Scope

BEFORE: Final = f"""\
template <class X> {D}void bump(X &x) {{ x += 3; }}
template <class X> {D}X &same(X &x) {{ return x; }}
template <class X, class F> {D}void with(X &x, F f) {{ f(x); }}
template <class X> {D}void swapped(X &a, X &b) {{ X t = a; a = b; b = t; }}
"""
"""Templates that programs use, in the namespace of each."""

_WHOLE: Final = ("int", "unsigned", "short", "unsigned char", "long long")


class Aliases(Expressions):
    """Changes by other names."""

    def aliased(self, s: Scope) -> str:
        """A value kept of a place, a change of the place by another name, and a use of both."""
        self.budget = 0
        places = [(n, t) for n, t in s.numbers if t in _WHOLE]
        if not places:
            return ";"
        p, t = self.draw.choice(places)
        objects = [(o, c) for o, c, const in s.objects if not const and p.startswith((f"{o}.", "this->"))]
        objects = [(o, c) for o, c in objects if o == "*this" or p.startswith(f"{o}.")]
        change = self.by_object(s, p, *self.draw.choice(objects)) if objects and self.odds(0.6) else ""
        v, q = self.fresh("v"), self.draw.choice(s.pointers)
        change = change or self.by_name(s, p, t)
        use = self.one(f"{q}[({v} + {p}) & 31] = (int)({v} - {p});", f"{q}[{p} & 31] = {v};", f"{p} += {v} & 3;")
        s.numbers.append((v, t))
        return f"{t} {v} = {p}; {change} {use}"

    def by_name(self, s: Scope, p: str, t: str) -> str:
        """A change of a number by a reference, a pointer, a lambda or a function."""
        v, k = self.fresh("r"), self.draw.randint(1, 9)
        alike = [n for n, o in s.numbers if o == t]
        other = self.draw.choice(alike)
        test = self.condition(s, 1)
        return self.one(
            f"{t} &{v} = {p}; {v} += {k};",
            f"auto &&{v} = {p}; {v} = {k};",
            f"{t} &{v} = same({p}); {v} ^= {k};",
            f"same({p}) -= {k};",
            f"bump({p});",
            f"bump(same({p}));",
            f"swapped({p}, {other});",
            f"with({p}, []({t} &x) {{ x += {k}; }});",
            f"with({p}, [](auto &x) {{ x = {k}; }});",
            f"({test} ? {p} : {other}) = {k};",
            f"{t} &{v} = {test} ? {p} : {other}; {v} -= {k};",
            f"auto {v} = [&]() -> {t} & {{ return {p}; }}; {v}() += {k};",
            f"auto {v} = [&]() -> auto & {{ return {p}; }}; {v}()++;",
            f"auto {v} = [&](auto k) {{ {p} = k; }}; {v}({k});",
            f"auto {v} = [&w = {p}] {{ w += {k}; }}; {v}();",
            f"auto {v} = [w = &{p}] {{ *w = {k}; }}; {v}();",
            f"auto {v} = [w = {p}]() mutable {{ return w += {k}; }}; {v}(); {p} ^= ({t}){v}();",
            f"[&] {{ {p} |= {k}; }}();",
            f"{t} *{v} = &{p}; *{v} = {k};",
            f"{t} *{v} = &{p}, **{v}p = &{v}; **{v}p += {k};",
            f"for ({t} &{v} = {p}; {v} < {k}; {v} += 3) ;",
            f"if ({t} &{v} = {p}; {v} > {k}) {v} = {k};",
            f"switch ({t} &{v} = {p}; {v} & 3) {{ case 0: {v}++; default: {v} += 2; }}",
        )

    def by_object(self, s: Scope, p: str, o: str, c: Class) -> str:
        """A change of a field by another name of its object; '' where there is none."""
        own = [n for n, t in c.numbers if t in _WHOLE]
        field = p.removeprefix("this->" if o == "*this" else f"{o}.")
        if field not in own:
            return ""
        t = dict(c.numbers)[field]
        v, k = self.fresh("r"), self.draw.randint(1, 9)
        it = "(*this)" if o == "*this" else o
        alike = [("(*this)" if n == "*this" else n) for n, d, const in s.objects if d is c and not const]
        other = self.draw.choice(alike)
        found = [
            f"{c.name} &{v} = {it}; {v}.{field} += {k};",
            f"{c.name} *{v} = &{it}; {v}->{field} = {k};",
            f"auto &&{v} = same({it}); {v}.{field} = {k};",
            f"same({it}).{field}++;",
            f"with({it}, [](auto &x) {{ x.{field} -= {k}; }});",
            f"with({it}, []({c.name} &x) {{ x.{field} -= {k}; }});",
            f"({self.condition(s, 1)} ? {it} : {other}).{field} += {k};",
            f"auto {v} = [&]() -> {c.name} & {{ return {it}; }}; {v}().{field} = {k};",
            f"auto {v} = [&w = {it}] {{ w.{field} += {k}; }}; {v}();",
            f"auto {v} = [w = &{it}] {{ w->{field} += {k}; }}; {v}();",
            f"{t} {c.name}::*{v} = &{c.name}::{field}; {it}.*{v} = {k};",
        ]
        if c.temporary:
            found += [
                f"{c.name} {v} = {it}; {v}.{field} += {k}; {it} = {v};",
                f"{c.name} {v} = {it}; {v}.{field} = {k}; {other} = {it}; {p} += {v}.{field};",
                f"swapped({it}, {other});" if it != other else f"{it} = {other};",
                f"{c.name} {v} = {it}; [{v}, &q = {it}] {{ q = {v}; q.{field} ^= {k}; }}();",
            ]
        if (
            c.aggregate
            and len(c.numbers) > 1
            and not c.objects
            and not c.arrays
            and "bits" not in dict(c.numbers).values()
        ):
            names = [self.fresh("b") for _ in c.numbers]
            at = [n for n, _ in c.numbers].index(field)
            found += [f"auto &[{', '.join(names)}] = {it}; {names[at]} = {k};"] * 3
        return self.draw.choice(found)
