"""Rules typeset: a LaTeX document in the layout of Fig. 4, made from the rules' data."""

from __future__ import annotations

import re
from collections.abc import Iterable

from logic.schema import Rule, Term

_PREAMBLE = r"""\documentclass{article}
\usepackage[a3paper,landscape,margin=15mm]{geometry}
\usepackage{amsmath,amssymb,mathpartir}
\begin{document}
\begin{mathpar}
"""
_END = r"""\end{mathpar}
\end{document}
"""
_KEYWORDS = {"skip": r"\mathbf{skip}", "sync": r"\mathbf{sync}"}


def document(rules: Iterable[Rule]) -> str:
    """A whole LaTeX document with the rules, one inference each."""
    return _PREAMBLE + "\n\n".join(inference(rule) for rule in rules) + "\n" + _END


def inference(rule: Rule) -> str:
    """One rule."""
    above = " \\\\\n    ".join(term(t) for t in rule.items)
    return f"\\inferrule*[left=({rule.name})]\n  {{{above}}}\n  {{{term(rule.conclusion)}}}"


def name(metavariable: str) -> str:
    """`Q1'` as Q_1'; `op` upright."""
    if metavariable == "op":
        return r"\mathbin{\mathrm{op}}"
    found = re.fullmatch(r"([A-Za-z]+)(\d*)('*)", metavariable)
    if not found:
        return metavariable
    letters, digits, primes = found.groups()
    return letters + (f"_{{{digits}}}" if digits else "") + primes


def term(t: Term | str) -> str:
    """A schema in LaTeX's mathematics."""
    if isinstance(t, str):
        return name(t)
    a = [term(part) for part in t.parts]
    match t.head:
        case "meta" | "local" | "param" | "literal" | "constant":
            return a[0]
        case "true":
            return r"\top"
        case "skip" | "sync":
            return _KEYWORDS[t.head]
        case "zero":
            return "0"
        case "empty":
            return r"\emptyset"
        case "tid":
            return rf"\mathit{{tid}}_{{{a[0]}}}"
        case "and":
            return rf"{a[0]} \wedge {a[1]}"
        case "and-not":
            return rf"{a[0]} \wedge \neg {a[1]}"
        case "assign":
            return rf"{a[0]}[{a[1]} \leftarrow {a[2]}]"
        case "plus":
            return f"{a[0]} + {a[1]}"
        case "price":
            return rf"M^{{\mathrm{{{t.name()}}}}}"
        case "count":
            return rf"M^{{\mathrm{{{t.name()}}}}}({a[1]})"
        case "singleton":
            return rf"\{{{a[0]}\}}"
        case "written":
            return f"W({a[0]})"
        case "vars":
            return rf"\mathrm{{vars}}({a[0]})"
        case "intersect" | "union" | "minus":
            sign = {"intersect": r"\cap", "union": r"\cup", "minus": r"\setminus"}[t.head]
            left = f"({a[0]})" if t.at(0).head in ("intersect", "union", "minus") else a[0]
            return f"{left} {sign} {a[1]}"
        case "op":
            args = a[1:]
            if len(args) == 2:
                return f"{args[0]} {a[0]} {args[1]}"
            return f"{a[0]}({', '.join(args)})"
        case "read":
            return f"{a[0]}[{a[1]}]"
        case "seq":
            return f"{a[0]}; {a[1]}"
        case "set":
            return rf"{a[0]} \leftarrow {a[1]}"
        case "write":
            return rf"{a[0]}[{a[1]}] \leftarrow {a[2]}"
        case "if":
            return rf"\mathbf{{if}}\ {a[0]}\ \mathbf{{then}}\ {a[1]}\ \mathbf{{else}}\ {a[2]}"
        case "assume":
            return rf"\mathbf{{assume}}\ {a[0]}"
        case "while":
            return rf"\mathbf{{while}}\ ({a[0]})\ {a[1]}"
        case "triple":
            return rf"\vdash_M \{{{a[0]}; {a[1]}; {a[2]}\}}\ {a[3]}\ \{{{a[4]}; {a[5]}; {a[6]}\}}"
        case "cost":
            return rf"{_sequent(t, a)} \vdash_M {a[2]} : {a[3]}"
        case "uniform" | "all-uniform":
            return rf"{_sequent(t, a)} \vdash {a[2]}\ \mathrm{{unif}}"
        case "at-most":
            left = a[1] if t.at(2).head == "empty" else f"{a[1]}; {a[2]}"
            return rf"{left} \vdash \mathrm{{{t.name()}}}({a[3]}) \leq {a[4]}"
        case "at-least":
            return rf"{a[2]} \succeq_{{{_sequent(t, a)}}} {a[3]}"
        case "entails" | "holds":
            return rf"{a[0]} \Rightarrow {a[1]}"
        case "refutes":
            return rf"{a[0]} \Rightarrow \neg {a[1]}"
        case "subset":
            return rf"{a[0]} \subseteq {a[1]}"
        case "nonnegative":
            return rf"{a[0]} \geq 0"
        case "erased":
            return rf"{a[0]} = {a[1]} \setminus {a[2]}"
        case "ghost":
            return rf"{a[0]} \notin {', '.join(a[1:])}"
    raise ValueError(f"no LaTeX for '{t.head}'")


def _sequent(t: Term, a: list[str]) -> str:
    return a[0] if t.at(1).head == "empty" else f"{a[0]}; {a[1]}"
