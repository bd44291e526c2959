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


@dataclass(frozen=True, slots=True)
class Plan:
    """Choices of a lowering, made where an earlier one of the same kernel could not go on without them."""

    spilled: frozenset[Loc | None] = frozenset()
    """Where arrays of one thread are declared that are no variables."""
    adrift: frozenset[Loc | None] = frozenset()
    """Where pointers are declared that are numbers, since they are no offsets in one array."""
    laid: frozenset[Loc] = frozenset()
    """Where variables are declared that are arrays of their bytes."""
    keeps: bool = False
    """Whether values of calls that change something are kept in variables."""
    borrows: bool = True
    """Whether structures that the kernel is passed are taken as unchanged, though they may not be."""


class Replan(Exception):
    """The kernel is to be lowered again by this plan; where that is the same one, it is refused `otherwise`."""

    def __init__(self, plan: Plan, otherwise: CudaError) -> None:
        super().__init__(plan)
        self.plan = plan
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
    """The state of the lowering of one kernel."""

    call: Callable[[State, Node, Use], Expr | Place | None]
    """Lowers a call and gives its value: a place for a structure, None for void."""
    expr: Callable[[State, Node, Use], Expr]
    condition: Callable[[State, Node, Use], Expr]
    """Lowers an expression as a bool."""
    discard: Callable[[State, Node, Use], None]
    """Lowers an expression whose value nobody uses."""
    construct: Callable[[State, Place, Node, Use], None]
    """Lowers a constructor, or its call, for an object."""
    declaration: Callable[[State, Node], None]
    copy: Callable[[State, Node], Binding]
    """Lowers a copy of the variable that an expression names."""
    destroy: Callable[[State, Place, Node], None]
    """Lowers the destructor of an object."""
    listed: Callable[[State, Node, Loc | None, Use], Place]
    """Lowers an array or a structure without a name that has the values of a list."""
    unknown_lengths: frozenset[int]
    """The offsets of the shared arrays whose declared length is a stand-in."""
    plan: Plan
    ordered: bool = True
    """Whether the right side of an assignment and the left one of a shift come first, as from C++17 on."""
    borrowed: bool = False
    """Whether a structure that the kernel is passed was taken as unchanged, by the plan."""
    params: list[Decl] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    """The bytes of a row of shared arrays with several dimensions."""
    sigma: Signature = field(default_factory=lambda: Signature({}, dict.fromkeys(BUILTINS, INT), {}))
    locals: list[Decl] = field(default_factory=list)
    taken: set[str] = field(default_factory=lambda: {"skip", "sync"})
    """The names that are used."""
    counts: dict[str, int] = field(default_factory=dict)
    """From where on the numbers of names are free."""
    bindings: dict[int, Binding] = field(default_factory=dict)
    moved: list[int] = field(default_factory=list)
    """The pointers that were assigned another array."""
    registers: dict[str, Registers] = field(default_factory=dict)
    """The arrays of one thread by the root of their addresses."""
    mixed: dict[str, set[str]] = field(default_factory=dict)
    """The variables that arrays stand for, of those that stand for one of several."""
    derived: dict[str, Parts] = field(default_factory=dict)
    """The objects that base classes are in, by their names."""
    classes: dict[str, Node] = field(default_factory=dict)
    """The classes of objects with virtual functions, by their names or those of the addresses of new ones."""
    class_tables: str = ""
    """The array of what virtual calls read of the functions of a class."""
    origins: dict[str, Loc | None] = field(default_factory=dict)
    """Where structures of one thread are declared."""
    spaces: dict[str, Space] = field(default_factory=dict)
    """Where the pointers lead that a variable or an array of one thread holds."""
    regions: dict[Space, str] = field(default_factory=dict)
    """The roots of memory that pointers lead to."""
    tables: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The values that arrays in constant memory are declared with."""
    pointees: dict[str, Place] = field(default_factory=dict)
    """The variables whose addresses are taken, by the roots of these."""
    passed: set[str] = field(default_factory=set)
    """The arrays that the kernel is passed by value."""
    held: int = 0
    """Counts the pointers that no declaration names, down from 0."""
    changed: Counter[int] = field(default_factory=Counter)
    """How many assignments each declaration has."""
    counters: set[int] = field(default_factory=set)
    """The declarations of variables that only their loops see."""
    settled: set[str] = field(default_factory=set)
    """The variables with one assignment: expressions over them keep their value."""
    copies: set[str] = field(default_factory=set)
    """The variables that are no one's but ours and keep a value for later."""
    implied: dict[str, Expr] = field(default_factory=dict)
    """Conditions that hold where a variable with the value of a && b is true: a."""
    reals: dict[str, Limits] = field(default_factory=dict)
    """The limits of floats that keep their value."""
    limited: list[Expr] = field(default_factory=list)
    """The minima that tell a limit."""
    integers: dict[str, Integer] = field(default_factory=dict)
    """The integer types of scalars."""
    elements: dict[str, set[Integer]] = field(default_factory=dict)
    """The integer types that arrays are accessed as."""
    unsteady: set[str] = field(default_factory=set)
    """The arrays that are read as what others may change meanwhile."""
    notes: dict[str, None] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    dynamic: dict[str, CType] = field(default_factory=dict)
    acted: list[Act] = field(default_factory=list)
    """The effects of each inlined call."""
    calls: list[int] = field(default_factory=list)
    alive: list[tuple[Place, Node]] = field(default_factory=list)
    """The objects whose destructors are still to be called, with the declarations of their structures."""
    one_row: bool = False
    """Whether the kernel counts the blocks of its grid as if they were in a row."""
    lowered: int = 0
    depth: int = 0
    unknowns: int = 0
    """Counts the values of which nothing is known."""
    numbers: dict[str, int] = field(default_factory=dict)
    """The numbers of pointers that may be null, of textures, and of classes."""
    lambdas: dict[int, Node] = field(default_factory=dict)
    """The lambdas that were made, by the numbers of their types."""
    captured_by: dict[int, dict[int, Binding]] = field(default_factory=dict)
    """The copies of what lambdas captured, by the numbers of their types."""
    at_work: list[int] = field(default_factory=list)
    """The lambdas whose bodies are lowered now, by the numbers of their types."""
    this_of: dict[int, This] = field(default_factory=dict)
    """The objects that lambdas were made in, by the numbers of their types."""
    functions: dict[int, Node | Chosen] = field(default_factory=dict)
    """The functions that pointers lead to, by the pointers' declarations."""
    exchanges: dict[int, Exchange] = field(default_factory=dict)
    """The values that come from other lanes, by their numbers."""
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
        if not self.plan.borrows or not isinstance(place, Fields):
            return False
        self.borrowed = True
        return True

    def spill(self, loc: Loc | None) -> Replan:
        """To be raised where an array of one thread, declared there, cannot be variables."""
        return Replan(replace(self.plan, spilled=self.plan.spilled | {loc}), _of_one_thread(loc))

    def cast_off(self, loc: Loc | None) -> Replan:
        """To be raised where a pointer, declared there, cannot be an offset in one array."""
        return Replan(replace(self.plan, adrift=self.plan.adrift | {loc}), _of_one_thread(loc))

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
            or (isinstance(t, Op) and (kind(t) or t.op == "call:local"))  # of which each turn of a loop has another
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


def _of_one_thread(loc: Loc | None) -> CudaError:
    return unsupported("this pointer or array of one thread", loc, "Use a variable for each.")


def too_deep(loc: Loc | None) -> CudaError:
    return CudaError(f"this nests deeper than {DEEPEST} levels", loc, "Split it up, with variables for parts.")


def is_plain(e: Expr) -> bool:
    """Whether e is a name or a literal: as good as a variable."""
    return isinstance(e, Var | Param | Const | Tid)


def pointee_size(t: CType) -> int:
    return t.inner.size if t.inner else 0
