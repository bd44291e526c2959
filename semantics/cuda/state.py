"""The state of the lowering of one kernel: names, declarations, bindings and the statements emitted so far."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeGuard

from logic.source import Loc
from logic.syntax import (
    BUILTINS,
    INT,
    Assign,
    Const,
    Decl,
    Exchange,
    Expr,
    Op,
    Param,
    Read,
    Space,
    Stmt,
    Tid,
    Type,
    Var,
    seq,
    subterms,
)
from logic.typing import Signature, type_of
from semantics.cuda.clang import Node
from semantics.cuda.ctype import CType
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.modular import Integer, integer
from semantics.cuda.reals import Limits
from semantics.exchange import kind

DEEPEST: Final = 200
"""The depth to which expressions and statements of miniCUDA may nest, so that whatever reads them can recurse."""

MOST_PARTS: Final = 4096
"""The most parts that are inlined in a kernel: functions that call others twice would double it again and again."""


@dataclass(frozen=True, slots=True)
class Local:
    """A place: a thread-local variable of miniCUDA."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Address:
    """A place or a pointer: root + the field offset of `path` + the sum of stride * index over `terms`, in bytes.

    `total` is the size of the root in bytes where it is known (static shared arrays).
    """

    root: str
    space: Space
    terms: tuple[tuple[int, Expr], ...] = ()
    path: str = ""
    offset: int = 0
    total: int | None = None

    def plus(self, stride: int, index: Expr) -> Address:
        """The address `index` elements of `stride` bytes further."""
        if stride < 1 and index != Const(0):
            raise unsupported("a step over elements of which the size is not known", index.loc)
        if self.terms and self.terms[-1][0] == stride:
            return replace(self, terms=(*self.terms[:-1], (stride, added(self.terms[-1][1], index))))
        return replace(self, terms=(*self.terms, (stride, index)))

    def field(self, name: str, offset: int) -> Address:
        """The address of a field."""
        return replace(self, path=f"{self.path}.{name}", offset=self.offset + offset)


@dataclass(frozen=True, slots=True)
class Registers:
    """An array of one thread: a local variable for each element, `size` bytes each, of a C type where that is known;
    without variables, an array whose elements may hold anything."""

    name: str
    type: Type
    size: int
    variables: tuple[str, ...]
    loc: Loc | None
    of: CType | None = None


class Spill(Exception):
    """An array of one thread, declared here, cannot be variables, or a pointer no offset in one array, or a variable
    has to be the array of its bytes, or else what is told in `otherwise`: what is lowered is to be lowered again."""

    def __init__(self, loc: Loc | None, *, pointer: bool = False, otherwise: CudaError | None = None) -> None:
        super().__init__(loc)
        self.loc = loc
        self.pointer = pointer
        self.otherwise = otherwise


@dataclass(frozen=True, slots=True)
class Parts:
    """A structure of one thread: a place for each field."""

    name: str
    places: tuple[tuple[str, Place], ...]


@dataclass(frozen=True, slots=True)
class Moving:
    """A pointer variable that is assigned: its value is base + size * the local variable `index`. It is declared in
    `loops` loops, at `loc`; without a base it has no value yet, or `several` are possible. With a `unit`, its value is
    the number `index`, in units of so many bytes, of an address in memory (`semantics.cuda.regions`). Without an index
    it is assigned once, and has that value."""

    base: Address | None
    size: int
    index: str
    loops: int
    loc: Loc | None
    several: bool = False
    unit: int = 0

    @property
    def step(self) -> int:
        """The bytes by which the address moves where `index` is one more."""
        return self.unit or self.size


@dataclass(frozen=True, slots=True)
class Pointer:
    """The place of a pointer of one thread: the bindings have its value, by this key."""

    key: int


@dataclass(frozen=True, slots=True)
class Fields:
    """A structure passed by value: its fields are parameters named `name.field`."""

    name: str


@dataclass(frozen=True, slots=True)
class Bits:
    """A bit-field: so many bits, from the `first` one on, of the integer at a place, which is a variable or a number of
    `size` bytes in memory."""

    place: Local | Address
    first: int
    width: int
    size: int


Use = Literal["part", "apart", "whole", "statement"]
"""How a value is used: in a larger expression; in one that looks at what calls in its parts change
(`semantics.cuda.sequence`), so that they may; as all that a statement evaluates; or not at all."""

Place = Local | Address | Param | Fields | Parts | Pointer | Bits | Const
"""A literal is that of a part of a structure that nothing changes."""

Binding = Place | Moving


def added(a: Expr, b: Expr) -> Expr:
    """a + b, without a literal zero."""
    if a == Const(0):
        return b
    if b == Const(0):
        return a
    match b:
        case Const(int(value)) if value < 0 and not isinstance(a, Const):
            return Op("-", (a, Const(-value)), a.loc)
        case Op("neg", (c,)):
            return Op("-", (a, c), a.loc)
    if isinstance(a, Const) and isinstance(b, Const) and isinstance(a.value, int) and isinstance(b.value, int):
        return Const(a.value + b.value, INT, a.loc)
    return Op("+", (a, b), a.loc)


def scaled(a: Expr, k: int) -> Expr:
    """a * k, where k is a literal; folded where a is one or k is 1."""
    if k == 1 or a == Const(0):
        return a
    if isinstance(a, Const) and isinstance(a.value, int):
        return Const(a.value * k, INT, a.loc)
    return Op("*", (a, Const(k)), a.loc)


@dataclass(frozen=True, slots=True)
class Act:
    """The variables and arrays that an inlined call may have changed, and the statements of the function's body."""

    changed: frozenset[str]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class This:
    """The object that a method is called for, with the declaration of its structure and the number of that."""

    place: Place
    type: int
    decl: Node | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of several functions, by its number: an expression over settled variables."""

    index: Expr
    functions: tuple[Node, ...]
    given: bool = False
    """Whether it may be null, as what the host gives: then its number is -1."""


@dataclass(slots=True)
class Frame:
    """A function being lowered: the kernel, or a device function in the middle of it. So many objects were `alive`
    where it began."""

    name: str
    this: This | None = None
    result: Local | Parts | Address | Pointer | None = None
    live: str | None = None
    labels: dict[str, str | None] = field(default_factory=dict)
    loc: Loc | None = None
    alive: int = 0


@dataclass(slots=True)
class Loop:
    """A loop or `switch` being lowered, and its flags once a jump needs them; a switch has no `continue`. `exit` is the
    only statement by which a loop is left, `parked` what is done from there on, after the loop. So many objects were
    `alive` where it began."""

    alive: int
    go: str | None = None
    next: str | None = None
    switch: bool = False
    exit: Node | None = None
    parked: list[Stmt] = field(default_factory=list)


@dataclass(slots=True)
class State:
    """The state of the lowering of one kernel.

    `call` lowers a call and gives its value: a place for a structure, None for void. `expr` lowers an expression,
    `condition` one as a bool, `discard` one whose value nobody uses, `construct` a constructor, or its call, for an
    object, `declaration` the declaration of a variable, `copy` a copy of the variable that an expression names,
    `destroy` the destructor of an object, `listed` an array without a name that has the values of a list. `alive` has
    the objects whose destructors are still to be called, with the declarations of their structures. `acted` has what
    each inlined call may have changed. `changed` counts the assignments to each declaration, `counters` are those that
    only their loops see. `registers` has the arrays of one thread by the root of their addresses, `mixed` what those
    are made of that stand for one of several variables, `derived` the objects that base classes are in, by their names,
    `classes` the classes of those with virtual functions, by their names or those of the addresses of new ones,
    `class_tables` the array of what such a call reads of their functions,
    `spilled` where those are declared that are no variables, `laid` the variables that are arrays of their bytes,
    `borrowed` the structures that the kernel is passed and that are taken as unchanged though they may not be, unless
    there are to be none, `origins` where structures of one thread are declared, `adrift` the pointers that are numbers,
    `spaces` where the pointers lead that a variable or an array of one thread holds, `regions` the roots of memory that
    pointers lead to, `taken` the names that are used, `counts` from where on others are free, `tables` what arrays in
    constant memory are declared to hold, `pointees` the variables whose addresses are taken, by the roots of these,
    `unknown_lengths` the offsets of the shared arrays whose declared length is a stand-in, `rows` the bytes of a row of
    those with several dimensions. `copies` has the variables that are no one's but ours and keep a value for later,
    `moved` the pointers that were assigned another array. `implied` has what has to hold where the value of a && b, in
    a variable, is true: a. `reals` has the limits of floats that keep their value, `limited` the minima that tell a
    limit, `integers` the integer types of scalars, `elements` those that arrays are accessed as, `unsteady` the arrays
    that are read as what others may change meanwhile. `passed` has the arrays that the kernel is passed by value,
    `held` counts the pointers that no declaration names, down from 0. `unknowns` counts the values of which nothing is
    known, `numbers` those of pointers that may be null, and of textures. `lambdas` has those that were made, by the
    numbers of their types, `captured_by` their copies and `this_of` the objects that they were made in, `functions`
    those that pointers lead to, by the pointers' declarations, `exchanges` what comes from other lanes, by the number
    of the value. `one_row` says that the kernel counts the blocks of its grid as if they were in a row.
    """

    call: Callable[[State, Node, Use], Expr | Place | None]
    expr: Callable[[State, Node, Use], Expr]
    condition: Callable[[State, Node, Use], Expr]
    discard: Callable[[State, Node, Use], None]
    construct: Callable[[State, Place, Node, Use], None]
    declaration: Callable[[State, Node], None]
    copy: Callable[[State, Node], Binding]
    destroy: Callable[[State, Place, Node], None]
    listed: Callable[[State, Node, Loc | None], Address]
    unknown_lengths: frozenset[int] = frozenset()
    spilled: frozenset[Loc | None] = frozenset()
    adrift: frozenset[Loc | None] = frozenset()
    laid: frozenset[Loc | None] = frozenset()
    borrowed: set[str] | None = None
    params: list[Decl] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    sigma: Signature = field(default_factory=lambda: Signature({}, dict.fromkeys(BUILTINS, INT), {}))
    locals: list[Decl] = field(default_factory=list)
    taken: set[str] = field(default_factory=lambda: {"skip", "sync"})
    counts: dict[str, int] = field(default_factory=dict)
    bindings: dict[int, Binding] = field(default_factory=dict)
    moved: list[int] = field(default_factory=list)
    registers: dict[str, Registers] = field(default_factory=dict)
    mixed: dict[str, set[str]] = field(default_factory=dict)
    derived: dict[str, Parts] = field(default_factory=dict)
    classes: dict[str, Node] = field(default_factory=dict)
    class_tables: str = ""
    origins: dict[str, Loc | None] = field(default_factory=dict)
    spaces: dict[str, Space] = field(default_factory=dict)
    regions: dict[Space, str] = field(default_factory=dict)
    tables: dict[str, tuple[int, ...]] = field(default_factory=dict)
    pointees: dict[str, Place] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)
    held: int = 0
    changed: Counter[int] = field(default_factory=Counter)
    counters: set[int] = field(default_factory=set)
    settled: set[str] = field(default_factory=set)
    copies: set[str] = field(default_factory=set)
    implied: dict[str, Expr] = field(default_factory=dict)
    reals: dict[str, Limits] = field(default_factory=dict)
    limited: list[Expr] = field(default_factory=list)
    integers: dict[str, Integer] = field(default_factory=dict)
    elements: dict[str, set[Integer]] = field(default_factory=dict)
    unsteady: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    dynamic: dict[str, CType] = field(default_factory=dict)
    acted: list[Act] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    alive: list[tuple[Place, Node]] = field(default_factory=list)
    one_row: bool = False
    lowered: int = 0
    depth: int = 0
    unknowns: int = 0
    numbers: dict[str, int] = field(default_factory=dict)
    lambdas: dict[int, Node] = field(default_factory=dict)
    captured_by: dict[int, dict[int, Binding]] = field(default_factory=dict)
    this_of: dict[int, This] = field(default_factory=dict)
    functions: dict[int, Node | Chosen] = field(default_factory=dict)
    exchanges: dict[int, Exchange] = field(default_factory=dict)
    out: list[Stmt] = field(default_factory=list)

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def numbered(self, name: str) -> int:
        """The number of a pointer or a texture."""
        return self.numbers.setdefault(name, len(self.numbers))

    def pointer(self, value: Address | Moving) -> Pointer:
        """A pointer that no declaration names, with a value."""
        self.held -= 1
        self.bindings[self.held] = value
        return Pointer(self.held)

    def borrows(self, place: object) -> TypeGuard[Fields]:
        """Whether a place is a structure that the kernel is passed, and is taken as one that nothing changes, whatever
        may: if something does, what is lowered is to be lowered again."""
        if self.borrowed is None or not isinstance(place, Fields):
            return False
        self.borrowed.add(place.name)
        return True

    def emit(self, *stmts: Stmt) -> None:
        self.out.extend(stmts)

    @contextmanager
    def captured(self) -> Iterator[list[Stmt]]:
        """Collect what is emitted inside instead of emitting it. What follows may come after it or not."""
        outer, self.out = self.out, []
        before = len(self.moved)
        try:
            yield self.out
        finally:
            self.out = outer
            for pointer in self.moved[before:]:
                bound = self.bindings[pointer]
                if isinstance(bound, Moving):
                    self.bindings[pointer] = replace(bound, base=None, several=True)

    def block(self, lower: Callable[[], None]) -> Stmt:
        """The statements that `lower` emits, as one statement."""
        self.depth += 1
        with self.captured() as stmts:
            lower()
        self.depth -= 1
        return seq(*stmts)

    def fresh(self, name: str, first: int | None = None) -> str:
        """A name that nothing has yet: `name`, else `name_1`, `name_2`, ...; with `first`, from `name_first` on."""
        name = "_".join(re.findall(r"\w+", name)) if name.startswith("[") else name or "unnamed"  # structured bindings
        candidate = name if first is None else f"{name}_{first}"
        count = max(self.counts.get(name, 1), 1 if first is None else first + 1)
        while candidate in self.taken:
            candidate, count = f"{name}_{count}", count + 1
        if first is None:
            self.counts[name] = count
        self.taken.add(candidate)
        return candidate

    def declare(
        self,
        name: str,
        type_: Type,
        loc: Loc | None,
        *,
        settled: bool = False,
        first: int | None = None,
        of: CType | None = None,
    ) -> Local:
        """A new local variable, of a C type where one is given: all that is assigned to it is converted to that. A
        settled one has one assignment, so expressions over it keep their value."""
        fresh = self.fresh(name, first)
        self.locals.append(Decl(fresh, type_, loc))
        self.sigma.locals[fresh] = type_
        self.typed(fresh, of)
        if settled:
            self.settled.add(fresh)
        return Local(fresh, type_)

    def typed(self, name: str, t: CType | None) -> None:
        """A scalar has the values of a C type."""
        if t is not None and (own := integer(t)) is not None:
            self.integers[name] = own

    def saved(self, e: Expr, type_: Type, name: str = "t") -> Expr:
        """e evaluated here and now into a new variable; e itself where nothing can change its value."""
        if self.is_settled(e):
            return e
        local = self.declare(name, type_, e.loc, settled=True)
        self.emit(Assign(local.name, e, e.loc))
        self.copies.add(local.name)
        return Var(local.name, e.loc)

    def is_settled(self, e: Expr) -> bool:
        """Whether e has the same value wherever it can be used."""
        return not any(
            isinstance(t, Read)
            or (isinstance(t, Var) and t.name not in self.settled)
            or (isinstance(t, Op) and kind(t))
            for t in subterms(e)
        )

    def is_int(self, e: Expr) -> bool:
        return type_of(e, self.sigma) == INT

    def count(self, loc: Loc | None) -> None:
        """Count a call that is lowered. Raises CudaError for too many."""
        self.lowered += 1
        if self.lowered > MOST_PARTS:
            problem = f"the kernel has more than {MOST_PARTS} calls, with those inside of them"
            raise CudaError(problem, loc, "Let these call others less often.")

    def note(self, text: str) -> None:
        self.notes[text] = None


def too_deep(loc: Loc | None) -> CudaError:
    return CudaError(f"this nests deeper than {DEEPEST} levels", loc, "Split it up, with variables for parts.")


def is_plain(e: Expr) -> bool:
    """Whether e is a name or a literal: as good as a variable."""
    return isinstance(e, Var | Param | Const | Tid)


def pointee_size(t: CType) -> int:
    return t.inner.size if t.inner else 0
