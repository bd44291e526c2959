"""Variables of one thread in a row, as an array of it: fields one after another, and those that a choice is between."""

from __future__ import annotations

from logic.source import Loc
from logic.syntax import Const, Expr
from semantics.cuda.places import steps
from semantics.cuda.state import Address, Local, Parts, Place, Registers, State


def in_a_row(st: State, names: tuple[str, ...], size: int, loc: Loc | None) -> Address:
    """The address of the first one of variables that lie in a row."""
    root = next((r for r, known in st.registers.items() if r in st.mixed and known.variables == names), None)
    if root is None:
        root = st.fresh("row")
        st.registers[root] = Registers(root, st.sigma.locals[names[0]], size, names, loc)
        st.mixed[root] = set(names)
    return Address(root, "shared", total=len(names) * size)


def leaves(p: Place) -> list[str] | None:
    """The variables of a structure of one thread; None where it has other parts."""
    if isinstance(p, Local):
        return [p.name]
    inner = [leaves(q) for _, q in p.places] if isinstance(p, Parts) else [None]
    return None if any(i is None for i in inner) else [name for i in inner if i is not None for name in i]


def variables(st: State, p: Place) -> tuple[tuple[str, ...], Expr] | None:
    """The variables that a place may be one of, and the number of the one that it is."""
    if isinstance(p, Local):
        return (p.name,), Const(0)
    array = st.registers.get(p.root) if isinstance(p, Address) else None
    if array is None or not isinstance(p, Address) or not array.variables or p.path or p.offset:
        return None
    return array.variables, steps(p, array.size, None)
