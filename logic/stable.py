"""Which contracts may be assumed of a kernel: over stable arrays, and over what the whole grid shares."""

from __future__ import annotations

import re
from typing import Final

from logic.assertions import opaque
from logic.contracts import BOUND, Contract, elements
from logic.syntax import (
    BOOL,
    INT,
    WARP_INDEX,
    Kernel,
    Op,
    Param,
    Read,
    Tid,
    Var,
    Write,
    evaluated,
    statements,
    subterms,
)
from logic.typing import Signature, type_of

ANYWHERE: Final = re.compile(r"memory(_\d+)*", re.ASCII)
"""The name of memory that is reached through pointers of which it is not known where they lead."""

LAUNCH: Final = "call:launch"
"""The operator that launches another kernel, which may write to what it is given."""

_OWN: Final = {Param(name) for name in (WARP_INDEX, "blockIdx.x", "blockIdx.y", "blockIdx.z")}


def of_grid(c: Contract, sigma: Signature) -> bool:
    """Whether a contract is a comparison of integers over its variables, stable arrays, and parameters that the whole
    grid shares, its ranges over such parameters alone. Raises TypeProblem for what is ill-typed."""
    bound = {Var(f"{BOUND}{i}") for i in range(len(c.ranges))}
    inside = Signature({x.name: INT for x in bound}, sigma.params, sigma.arrays, sigma.stable)
    limits = [e for ends in c.ranges for e in ends if e is not None]
    if any(type_of(e, inside) != INT for e in limits) or type_of(c.fact, inside) != BOOL or not c.quantities:
        return False
    others = (t for e in (c.fact, *limits) for t in subterms(e))
    if any((isinstance(t, Var | Tid | Read) and t not in bound) or t in _OWN for t in others):
        return False
    plain = not any(elements(e) or any(x in bound for x in subterms(e)) for e in limits)
    return plain and not any(opaque(e, inside) for e in (c.fact, *limits))


def root(array: str) -> str:
    """The memory that an array is a view of: `A.as_int4.y` and `A` are of one, seen by other types."""
    return array.partition(".")[0]


def unwritten(kernel: Kernel) -> frozenset[str]:
    """The arrays of integers in global memory that nothing in a kernel writes to, nor may write to: what they hold
    stays as it is through the whole grid, if they share no memory with others that are written. A pointer that leads
    anywhere may lead to any of them, unless numbers that are no integers are all that is written through it.

    >>> from logic.syntax import INT, Array, Const, Write
    >>> arrays = tuple(Array(name, "global", INT, 4) for name in ("A", "B", "B.as_char"))
    >>> sorted(unwritten(Kernel("k", (), arrays, (), Write("B.as_char", Const(0), Const(1)))))
    ['A']
    """
    all_ = [*statements(kernel.body)]
    others = {a.name for a in kernel.arrays if a.elem.kind == "base" and ANYWHERE.fullmatch(root(a.name))}
    written = {root(s.array) for s in all_ if isinstance(s, Write) and s.array not in others}
    launches = any(isinstance(t, Op) and t.op == LAUNCH for s in all_ for e in evaluated(s) for t in subterms(e))
    if launches or any(map(ANYWHERE.fullmatch, written)):
        return frozenset()
    known = (a for a in kernel.arrays if a.space == "global" and a.elem == INT)
    return frozenset(a.name for a in known if root(a.name) not in written and not ANYWHERE.fullmatch(root(a.name)))
