"""Statements of random C++ (`programs`) that move pointers: swaps, steps in loops, in lambdas, in structures."""

from __future__ import annotations

from random import Random

from tests.oracles.aliases import Aliases
from tests.oracles.classes import Scope
from tests.oracles.templated import Members


class Moves(Aliases):
    """Pointers that change where they lead. Its draws are its own: other statements stay what they are."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.more = Random(f"{seed} moves")
        self.known: dict[str, Members] = {}

    def moving(self, s: Scope, odds: float) -> list[str]:
        """Two pointers into one array, a move of one or both, and a use of them; nothing, most of the time."""
        draw = self.more
        whole = [n for n, t in s.numbers if t == "int"]
        if s.quiet or draw.random() > odds or not whole:
            return []
        base, n, k = draw.choice(s.pointers), draw.choice(whole), draw.randint(1, 5)
        a, b, v, w = self.fresh("p"), self.fresh("p"), self.fresh("u"), self.fresh("u")
        move = draw.choice((
            f"int *{v} = {a}; {a} = {b}; {b} = {v};",
            f"swapped({a}, {b});",
            f"for (int {v} = 0; {v} < {k}; {v}++) {{ {a}[{v}] = {b}[1] + {k}; int *{w} = {a}; {a} = {b}; {b} = {w}; }}",
            f"for (int {v} = 0; {v} < 3; {v}++) {{ if ({n} & {v}) continue; {a}[{v}] += {k}; swapped({a}, {b}); }}",
            f"int *&{v} = {a}; {v} += {k}; *{v} = {n};",
            f"int **{v} = &{a}; *{v} += {k}; **{v} = {n};",
            f"[&] {{ {a}++; }}(); *{a} += {n};",
            f"[](int *&{v}) {{ {v} += 2; }}({a});",
            f"with({a}, [](auto &{v}) {{ *{v}++ = {k}; }});",
            f"int *{v}[2] = {{{a}, {b}}}; {v}[0]++; *{v}[1] = {n}; swapped({v}[0], {v}[1]); {a} = {v}[1];",
            f"struct {{ int *p, n; }} {v} = {{{a}, {k}}}; auto {w} = {v}; {v}.p++; *{w}.p = {v}.n++; {v}.p[{w}.n]++;",
            f"{a} = {n} > {k} ? {a} + 1 : {b};",
            f"if ({n} > {k}) {a} = {b} + 1; else {{ {b} = {a}; {a}++; }}",
            f"for (int *{v} = {a}; {v} != {a} + {k}; {v}++) *{v} += {k};",
            f"for (int *{v} = {a} + {k}; {v}-- != {a};) *{v} ^= {k};",
            f"while ({a} < {b} + 3) *{a}++ = {k};",
            f"do *{b}++ += {k}; while ({b} < {a} + 2);",
            f"if (auto *{v} = {a} + 1; *{v} > {k}) {a} = {v};",
            f"auto {v} = [{w} = {a}]() mutable {{ return *{w}++; }}; *{a} = {v}(); {n} = {v}() & 15;",
            f"auto {v} = [&]() -> int *& {{ return {n} & 1 ? {a} : {b}; }}; {v}() += {k};",
            f"*({a} > {b} ? {a} : {b}) = {n};",
            f"unsigned char {v} = {n}; {v} += {b}[{k}]; *{a} = {v} << 1;",
            f"short {v} = {n} * {k}; {v} = -{v}; *{a} = ({v} >> 1) + (signed char){v};",
        ))  # fmt: skip
        use = draw.choice((
            f"{base}[{k}] += *{a};", f"*{b} = {n};", f"{n} = ({a} - {b}) & 7;", f"{a}[1] = {b}[2];",
            f"{n} += {a} == {b};",
        ))  # fmt: skip
        s.pointers += [a] if draw.random() < 0.3 else []
        return [f"int *{a} = {base} + {draw.randint(0, 5)}, *{b} = {base} + {draw.randint(0, 5)}; {move} {use}"]
