"""The program of a certificate as CUDA-like text, for a reader who holds it against the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from checker.notation.outlines import type_name
from logic.syntax import (
    Array,
    Assign,
    Assume,
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
    While,
    Write,
    show,
)

INDENT: Final = "  "


def as_cuda(kernel: Kernel) -> str:
    """The program with CUDA's names: what is read and written, in which order, is as the certificate has it, and so are
    all numbers. It is for reading: names that the front end made, and functions of which nothing is known, stay.

    >>> from logic.syntax import INT, Const
    >>> print(as_cuda(Kernel("k", (), (), (Decl("x", INT),), Assign("x", Op("+", (Tid("x"), Const(1)))))), end="")
    __global__ void k() {
      int x;
      x = threadIdx.x + 1;
    }
    """
    globals_ = [a for a in kernel.arrays if a.space == "global"]
    given = [
        *(f"{type_name(d.type)} {d.name}" for d in kernel.params),
        *(f"{type_name(a.elem)} *{a.name}" for a in globals_),
    ]
    shared = [a for a in kernel.arrays if a.space != "global"]
    lines = [
        f"__global__ void {kernel.name}({', '.join(given)}) {{",
        *(INDENT + layout for a in globals_ if (layout := _layout(a))),
        *(INDENT + _element(a) for a in shared),
        *(INDENT + text for text in _locals(kernel.locals)),
        *_statement(kernel.body, INDENT),
        "}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _locals(declared: Iterable[Decl]) -> Iterator[str]:
    for type_, group in groupby(declared, lambda d: d.type):
        yield f"{type_name(type_)} {', '.join(d.name for d in group)};"


def _element(a: Array) -> str:
    kind = "extern __shared__" if a.length is None else "__shared__"
    text = f"{kind} {type_name(a.elem)} {a.name}[{'' if a.length is None else a.length}];"
    layout = _layout(a)
    return f"{text}  {layout}" if layout else text


def _layout(a: Array) -> str:
    """Where the elements lie, where they are not next to each other from the array's beginning on."""
    if (a.stride, a.offset, a.width) == (a.elem.size, 0, a.elem.size):
        return ""
    return f"// {a.name}[i]: {a.width} bytes at byte {a.stride} * i{f' + {a.offset}' if a.offset else ''}"


def _statement(s: Stmt, indent: str) -> Iterator[str]:
    match s:
        case Skip():
            yield f"{indent};"
        case Sync():
            yield f"{indent}__syncthreads();"
        case Seq(stmts):
            for part in stmts:
                yield from _statement(part, indent)
        case Assume(e):
            yield f"{indent}//@ assume {_expression(e)};"
        case Assign(x, e):
            yield f"{indent}{x} = {_expression(e)};"
        case Write(array, index, e):
            yield f"{indent}{array}[{_expression(index)}] = {_expression(e)};"
        case If(cond, then, orelse):
            yield f"{indent}if ({_expression(cond)}) {{"
            yield from _statement(then, indent + INDENT)
            if orelse != Skip():
                yield f"{indent}}} else {{"
                yield from _statement(orelse, indent + INDENT)
            yield f"{indent}}}"
        case While(cond, body):
            yield f"{indent}while ({_expression(cond)}) {{"
            yield from _statement(body, indent + INDENT)
            yield f"{indent}}}"


def _expression(e: Expr) -> str:
    return show(_named(e))


def _named(e: Expr) -> Expr:
    """The expression with CUDA's names for the thread's index, and its casts."""
    match e:
        case Tid(axis):
            return Param(f"threadIdx.{axis}")
        case Op(op, args):
            cast = f"call:({op.removeprefix('as:')})" if op.startswith("as:") else op
            return Op(cast, tuple(map(_named, args)))
        case Read(array, index):
            return Read(array, _named(index))
    return e
