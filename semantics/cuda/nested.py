"""Kernels that kernels launch. clang takes `k<<<grid, block>>>(arguments)` in a kernel for an error and leaves it out
of its tree; so it is given a call of a function of our headers with the same arguments, and no column moves.

What is launched is a kernel of its own, whose cost is its own.
"""

from __future__ import annotations

import re
from typing import Final

from logic.syntax import INT, Expr
from semantics.cuda.clang import Node, Unit
from semantics.cuda.ctype import scalar
from semantics.cuda.expressions import expr
from semantics.cuda.places import TIDS, anything, depending, dropped, evaluate
from semantics.cuda.pointers import address
from semantics.cuda.records import values
from semantics.cuda.sequence import Unordered, within
from semantics.cuda.shapes import bare
from semantics.cuda.state import Address, State, Use
from semantics.cuda.templates import functions

LAUNCH: Final = "_W"
"""The function that our headers declare for launches: its name is as long as the shortest launch allows."""

CALLS: Final = frozenset({
    "cudaDeviceSynchronize", "cudaGetLastError", "cudaPeekAtLastError", "cudaStreamCreateWithFlags",
    "cudaStreamDestroy", "cudaEventCreateWithFlags", "cudaEventDestroy", "cudaEventRecord", "cudaStreamWaitEvent",
})  # fmt: skip
"""The functions of CUDA's runtime that kernels may call; they cost nothing here."""

_ERROR: Final = re.compile(
    r"reference to __global__ function '.*' in (__global__|__device__|__host__ __device__) function"
    r"|no matching function for call to '.*'"
)
_OPEN: Final = b"([{"
_CLOSE: Final = b")]}"


def with_calls(unit: Unit) -> bytes:
    """The text with calls of a function in place of the launches in kernels."""
    data = bytearray(unit.data)
    found = [e for e in unit.errors if e.loc is not None and e.loc.file == unit.path and _ERROR.fullmatch(e.message)]
    spans = [f.span for f in functions(unit, members=True) if _on_device(f)] if found else []
    for e in found:
        if any(file == unit.path and start <= e.offset < end for file, start, end in spans):
            _replace(data, e.offset)
    return bytes(data)


def _on_device(function: Node) -> bool:
    """Whether a function is one of the device."""
    return any(c.kind in ("CUDAGLOBAL_ATTR", "CUDADEVICE_ATTR") for c in function.children)


def _replace(data: bytearray, at: int) -> None:
    """Put a call in place of the launch that begins at an offset, if one does."""
    name = re.compile(rb"[A-Za-z_]\w*\s*").match(data, at)
    if name is None:
        return
    begin = name.end()
    if data[begin : begin + 3] != b"<<<":
        begin = _past(data, begin, b">") if data[begin : begin + 1] == b"<" else begin
    while data[begin : begin + 1].isspace():
        begin += 1
    end = _past(data, begin + 3, b">>>") if data[begin : begin + 3] == b"<<<" else -1
    given = re.compile(rb"\s*\(").match(data, end) if end > 0 else None
    if given is None:
        return
    empty = re.compile(rb"\s*\)").match(data, given.end())
    data[at : begin + 3] = f"{LAUNCH}(".encode().ljust(begin + 3 - at)
    data[end - 3 : given.end()] = (b"" if empty else b",").ljust(given.end() - end + 3)


def _past(data: bytearray, at: int, mark: bytes) -> int:
    """The place behind a mark that no bracket opened from here on is around; -1 if there is none."""
    depth = 0
    if mark == b">":
        at += 1
    for i in range(at, min(len(data), at + _MOST)):
        if depth == 0 and data[i : i + len(mark)] == mark:
            return i + len(mark)
        depth += (data[i] in _OPEN) - (data[i] in _CLOSE)
        if depth < 0 or data[i : i + 1] == b";":
            return -1
    return -1


_MOST: Final = 4096


def launch(st: State, node: Node, use: Use) -> None:
    """Emit the launch of a kernel: its arguments are evaluated, and it is one operator."""
    parts, passed = Unordered(st), list[Expr]()
    for a in node.arguments:
        passed += parts.part(_passed(st, a, within(use)))
    parts.check(node.loc)
    evaluate(st, depending("launch", passed, INT, node.loc))
    st.note("a launch of a kernel costs what a function does: the kernel that is launched is one of its own")
    st.note("what a kernel that is launched here writes is not in runs")


def _passed(st: State, node: Node, use: Use) -> list[Expr]:
    """The scalars of an argument."""
    if node.type.kind == "record":
        return [e for v in values(st, node, use) for e in ([e for _, e in v.terms] if isinstance(v, Address) else [v])]
    if scalar(node.type) is not None:
        return [expr(st, node, use)]
    if node.type.kind in ("pointer", "array") and not is_handle(node):
        return [e for _, e in address(st, node, use).terms]
    return []


def is_handle(node: Node) -> bool:
    """Whether an expression is a stream or an event, or its address: what it leads to is not known here."""
    inner = bare(node)
    if inner.kind == "UNARY_OPERATOR" and inner.operator == "&":
        return is_handle(inner.children[0])
    t = inner.type
    return t.kind == "pointer" and t.inner is not None and t.inner.kind == "record" and t.inner.size == 0


def call(st: State, node: Node, name: str, use: Use) -> Expr | None:
    """The value of a call of CUDA's runtime in a kernel, if one is used."""
    for a in node.arguments:
        if not is_handle(a):
            dropped(st, *_passed(st, a, within(use)))
    st.note(f"{name} costs nothing")
    return None if use == "statement" else anything(st, name, TIDS, INT, node.loc)
