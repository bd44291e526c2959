"""Calls of virtual functions: which functions they may be of, and what finding that costs.

An object of one thread is of the class that it is declared with. One in memory has 8 bytes in front, the number of its
class, which constructors write; a call reads them, and a table of the functions of that class in global memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Final

from logic.source import Loc
from logic.syntax import INT, Const, Expr, Op, Var
from semantics.cuda.bases import part, whole_of
from semantics.cuda.clang import Node
from semantics.cuda.classes import is_virtual
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.families import derived, final
from semantics.cuda.functions import NUMBER
from semantics.cuda.places import evaluate, load, store
from semantics.cuda.regions import is_region
from semantics.cuda.scan import METHODS
from semantics.cuda.sequence import one_of
from semantics.cuda.state import Address, Parts, Place, State, This

_APART: Final = 32
"""The elements of 8 bytes from the table of one class to that of the next: they share no sector."""


@dataclass(frozen=True, slots=True)
class Case:
    """Classes that have one function in common: the test for an object of one of them and a read of their table, None
    where it is known to be, the function, and the object that it is called for."""

    test: Expr | None
    table: Expr | None
    function: Node
    this: This


def mark(st: State, p: Place, decl: Node, loc: Loc | None) -> None:
    """Emit that an object in memory is one of a class from here on, as constructors do."""
    if is_virtual(decl) and isinstance(p, Address) and p.root not in st.registers and p.root not in st.pointees:
        store(st, _front(p), Const(_number(st, decl)), NUMBER, loc)


def _front(p: Address) -> Address:
    return p.field("class", 0)


def _number(st: State, decl: Node) -> int:
    return st.numbered(f"the class {decl.identity}")


def cases(
    st: State, static: Node, p: Place, exact: Node | None, node: Node, find: Callable[[Node], Node]
) -> list[Case]:
    """The cases of a call for an object that is at a place as one of a class, and of which more may be known: one for
    each function that `find` gives for a class. What the number of the class costs is emitted."""
    if isinstance(p, Parts) and exact is None:
        whole = p
        while whole.name in st.derived:
            whole = st.derived[whole.name]
        exact = st.classes.get(whole.name)
        if exact is None or _at_work(st, "", "~"):
            raise _refused(node)
        return [_case(st, None, None, static, p, exact, node, find)]
    if exact is not None:
        return [_case(st, None, None, static, p, exact, node, find)]
    if not isinstance(p, Address) or p.root in st.registers or _at_work(st, "~"):
        raise _refused(node)
    known = known_class(st, p)
    classes = [known] if known is not None else derived(static, node)
    number = st.saved(load(st, _front(p), NUMBER, node.loc), INT)
    if known is None:
        names = ", ".join(c.displayed for c in classes)
        st.note(f"an object in memory that is used as a '{static.displayed}' is one of: {names}")
    st.note("a virtual call reads 8 bytes of the object, and 8 of a table in global memory for each class")
    alike = dict[int, list[Node]]()
    for c in classes:
        alike.setdefault(find(c).identity, []).append(c)
    found = list[Case]()
    for group in alike.values():
        tests = [Op("==", (number, Const(_number(st, c))), node.loc) for c in group]
        test = reduce(lambda a, b: Op("||", (a, b), node.loc), tests)
        of: Expr = Const(_number(st, group[0]) * _APART) if len(group) == 1 else Op("*", (number, Const(_APART)))
        found.append(_case(st, test, of, static, p, group[0], node, find))
    return found


def _refused(node: Node) -> CudaError:
    return unsupported("a virtual function of this object", node.loc, "Call it by the name of its class.")


def _case(
    st: State,
    test: Expr | None,
    at: Expr | None,
    static: Node,
    p: Place,
    decl: Node,
    node: Node,
    find: Callable[[Node], Node],
) -> Case:
    whole, function = whole_of(st, p, static, decl), find(decl)
    owner = decl if function.kind not in METHODS or function.parent is None else function.parent
    there = None if whole is None else part(st, whole, decl, owner, node.loc)
    if there is None:
        what = f"the class '{static.name}', which may begin anywhere in '{decl.name}',"
        raise unsupported(what, node.loc, "Make it the first base class.")
    table = None
    if at is not None:
        st.class_tables = st.class_tables or st.fresh("class_tables")
        table = load(st, Address(st.class_tables, "global").plus(NUMBER.size, at), NUMBER, node.loc)
    return Case(test, table, function, This(there, owner.identity, owner))


def function_of(method: Node, node: Node) -> Callable[[Node], Node]:
    """Which function each class has for a virtual one. Raises where it has none that is known."""

    def find(decl: Node) -> Node:
        found = final(decl, method)
        if found is None:
            what = f"the function '{method.name}' of '{decl.name}', an instance of a template,"
            raise unsupported(what, node.loc, "Derive classes that are no templates.")
        if found.definition is None:
            problem = f"the function '{found.name}' of '{decl.name}' has no body in this file"
            raise CudaError(problem, node.loc, "Include its definition.")
        return found.definition

    return find


def branch(st: State, found: Sequence[Case], does: Callable[[Case], None], loc: Loc | None) -> None:
    """Emit what is done in each case, after the read of the table."""

    def do(c: Case) -> None:
        if c.table is not None:
            evaluate(st, c.table)
        does(c)

    if len(found) == 1:
        do(found[0])
    else:
        one_of(st, [(c.test, partial(do, c)) for c in found if c.test is not None], loc)


def known_class(st: State, p: Address) -> Node | None:
    """The class of an object that a `new` made, where that alone says where it is."""
    left = [e for _, e in p.terms if e != Const(0)]
    match left:
        case [Var(name)] if is_region(st, p) and not p.offset:
            return st.classes.get(name)
    return None


def _at_work(st: State, *signs: str) -> bool:
    """Whether a constructor or a destructor of an object with virtual functions is at work: then the object is one of
    the class of that. Of a constructor the sign is "", of a destructor "~"."""
    for frame in st.frames:
        decl = None if frame.this is None else frame.this.decl
        if decl is not None and is_virtual(decl):
            name = decl.name.split("<")[0]
            if frame.name.split("<")[0] in [f"{sign}{name}" for sign in signs]:
                return True
    return False
