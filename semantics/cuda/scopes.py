"""Blocks that declare objects with destructors: these are called, the last object first, where the block ends and at
each jump that leaves it, there by the lanes that jump alone. A compiler may have one call for several ways out; this
has one for each, which costs no less.
"""

from __future__ import annotations

from collections.abc import Callable

from semantics.cuda.clang import Node
from semantics.cuda.classes import guards
from semantics.cuda.state import State


def scoped(st: State, block: Node) -> tuple[Node | Callable[[], None], ...]:
    """The statements of a block that is entered now, with the calls of its destructors after them."""
    if not guards(block):
        return block.children
    mark = len(st.alive)
    return (*block.children, lambda: _end(st, mark))


def _end(st: State, mark: int) -> None:
    leave(st, mark)
    del st.alive[mark:]


def leave(st: State, mark: int) -> None:
    """Emit the destructors of the objects that are not as old as the first so many."""
    for place, decl in reversed(st.alive[mark:]):
        st.destroy(st, place, decl)


def left_by(st: State, kind: str) -> int:
    """How many objects a jump of a kind leaves alive."""
    if kind == "return":
        return st.frame.alive
    if kind == "break":
        return st.loops[-1].alive
    if kind == "continue":
        return next(loop for loop in reversed(st.loops) if not loop.switch).alive
    return len(st.alive)  # there are no labels beside objects with destructors
