"""Kernels and outlines back to text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from checker.notation.outlines import element_name, type_name
from checker.synthesis.outline import Block, Branch, Loop, Outline, Partial, Plain, Split
from logic.assertions import Dim, show_p, show_x
from logic.syntax import GHOST, Array, Decl, Kernel, show, show_stmt


def show_kernel(kernel: Kernel) -> str:
    """The program as text, which `parse_kernel` reads back."""
    return _joined([f"kernel {kernel.name}", *_declared(kernel), "begin", show_stmt(kernel.body, "  "), "end"])


def show_outline(outline: Outline) -> str:
    """The outline as text, which `parse_outline` reads back where its metric and hardware have names that it knows."""
    context, launch = outline.context, outline.context.launch
    settings = [f"metric {context.metric.name}"]
    if context.hardware.name != "nvidia":
        settings.append(f"hardware {context.hardware.name}")
    for name, dim in (("block", launch.block), ("grid", launch.grid)):
        if dim != (None, None, None):
            settings.append(f"{name} {_extents(dim)}")
    if context.scope != "warp":
        settings.append(f"scope {context.scope}")
    requires = [f"requires {fact};" for fact in (*launch.contracts, *map(show, launch.assumptions))]
    body = _block(outline.body, "  ")
    ghosts = [f"local int {x};" for x in context.sigma.locals if x.startswith(GHOST)]
    head = [f"kernel {outline.kernel.name}", *settings, *_declared(outline.kernel), *ghosts, *requires]
    return _joined([*head, "begin", *body, "end"])


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _extents(dim: Dim) -> str:
    x, y, z = ("_" if n is None else str(n) for n in dim)
    return ",".join((x, y, z) if z != "1" else (x, y) if y != "1" else (x,))


def _declared(kernel: Kernel) -> Iterator[str]:
    yield from _scalars("param", kernel.params)
    for (space, name), group in groupby(kernel.arrays, lambda a: (a.space, element_name(a)[0])):
        yield f"{space} {name} {', '.join(map(_array, group))};"
    yield from _scalars("local", kernel.locals)


def _scalars(keyword: str, declared: Iterable[Decl]) -> Iterator[str]:
    for type_, group in groupby(declared, lambda d: d.type):
        yield f"{keyword} {type_name(type_)} {', '.join(d.name for d in group)};"


def _array(a: Array) -> str:
    _, width = element_name(a)
    text = f"{a.name}[{'' if a.length is None else a.length}]"
    text += f" stride {a.stride}" if a.stride != a.width else ""
    text += f" offset {a.offset}" if a.offset else ""
    return text + (f" width {a.width}" if a.width != width else "")


def _block(block: Block, indent: str) -> Iterator[str]:
    for item in block:
        match item:
            case Partial():
                yield indent + _condition(item)
            case Plain(stmt):
                yield show_stmt(stmt, indent)
            case Split(cond):
                yield f"{indent}split {show(cond)};"
            case Branch(cond, then, orelse, rule):
                yield f"{indent}if {_rule(rule)}({show(cond)}) {{"
                yield from _block(then, indent + "  ")
                if orelse:
                    yield f"{indent}}} else {{"
                    yield from _block(orelse, indent + "  ")
                yield f"{indent}}}"
            case Loop(cond, invariant, body, rule):
                stated = (invariant.p, invariant.q, invariant.x) != (None, None, None)
                clause = f"invariant {_condition(invariant)} " if stated else ""
                yield f"{indent}while {_rule(rule)}({show(cond)}) {clause}{{"
                yield from _block(body, indent + "  ")
                yield f"{indent}}}"


def _rule(rule: str | None) -> str:
    return f"[{rule}] " if rule else ""


def _condition(c: Partial) -> str:
    p = "_" if c.p is None else show_p(c.p)
    q = "_" if c.q is None else str(c.q)
    x = "_" if c.x is None else show_x(c.x)
    return f"{{ {p}; {q}; {x} }}"
