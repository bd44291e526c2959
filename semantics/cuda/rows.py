"""Variables of one thread in a row, as an array of it: fields one after another, and those that a choice is between."""

from __future__ import annotations

from typing import Final

from logic.source import Loc
from logic.syntax import Const, Expr, Op
from semantics.cuda.errors import unsupported
from semantics.cuda.places import steps
from semantics.cuda.state import Address, Local, Parts, Place, Registers, State, added

_ALONE: Final = 1 << 20
"""The bytes of a variable that is in no row: no step leads from it to another one."""


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


def either(st: State, a: Place, b: Place, which: Expr, loc: Loc | None) -> Place:
    """The one of two structures of one thread, of one type, that a number says: 0 for the first one, 1 for the
    other."""
    if isinstance(a, Parts) and isinstance(b, Parts) and [k for k, _ in a.places] == [k for k, _ in b.places]:
        pairs = zip(a.places, b.places, strict=True)
        return Parts(st.fresh("either"), tuple((key, either(st, p, q, which, loc)) for (key, p), (_, q) in pairs))
    first_of, second_of = variables(st, a), variables(st, b)
    if first_of is None or second_of is None or loc in st.plan.spilled:
        raise unsupported("'?:' as a place", loc, "Use 'if'.")
    (first, i), (second, j) = first_of, second_of
    size = st.registers[a.root].size if isinstance(a, Address) else _ALONE
    begin = which
    if (len(first), i, j) != (1, Const(0), Const(0)):
        begin = Op("?:", (Op("==", (which, Const(0)), loc), i, added(Const(len(first)), j)), loc)
    root = st.fresh("either")
    own = {p.name if isinstance(p, Local) else p.root for p in (a, b) if isinstance(p, Local | Address)}
    st.mixed[root] = own.union(*(st.mixed.get(name, ()) for name in own))
    st.registers[root] = Registers(root, st.sigma.locals[first[0]], size, first + second, loc)
    return Address(root, "shared", ((size, begin),), total=len(first + second) * size)
