"""miniCUDA (Muller and Hoffmann, POPL 2021, Fig. 2) as frozen data.

    types       tau ::= int | bool | base(bytes) | arr(tau)
    expressions e   ::= x | p | c | tid.x|y|z | op(e, ...) | A[e]
    statements  s   ::= skip | s; s | x <- e | A[e] <- e | if e then s else s | while (e) s | sync

Unlike the print, expressions nest (their cost is structural either way) and `sync` is a statement. Places in the
source travel with the nodes and never count in comparisons.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal

from logic.source import Loc

# --- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Type:
    """`int` and `bool` have meaning to the logic; a `base` type (float, a struct) is opaque. `size` is in bytes."""

    kind: Literal["int", "bool", "base"]
    name: str
    size: int

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name


INT: Final = Type("int", "int", 4)
BOOL: Final = Type("bool", "bool", 1)
FLOAT: Final = Type("base", "float", 4)
DOUBLE: Final = Type("base", "double", 8)

Space = Literal["global", "shared"]


@dataclass(frozen=True, slots=True)
class Array:
    """An array in a memory space.

    Element i is `width` bytes at address `base + stride * i + offset`; for a plain array of 4-byte elements that is
    stride 4, offset 0, width 4, and a field of an array of structures is an array of its own with the stride of the
    structure. `elem` is the type of a value read from it (an array of `unsigned char` has elem int and width 1).
    `length` is known for static shared arrays only.
    """

    name: str
    space: Space
    elem: Type
    stride: int
    offset: int = 0
    width: int = 0
    length: int | None = None

    def __post_init__(self) -> None:
        if self.width == 0:
            object.__setattr__(self, "width", self.stride)


# --- expressions -----------------------------------------------------------------------------------------------------

Axis = Literal["x", "y", "z"]


class _Hashed:
    """A term that keeps its hash: terms are looked up far more often than made. It is no field, so copies in other
    processes, where texts hash otherwise, do without."""

    __slots__ = ("_hash",)
    _hash: int


@dataclass(frozen=True, slots=True)
class Var:
    """A thread-local variable."""

    name: str
    loc: Loc | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True)
class Param:
    """A kernel parameter: a scalar argument, or blockIdx.*, blockDim.*, gridDim.*, warpSize. Uniform by nature."""

    name: str
    loc: Loc | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True)
class Const:
    """A literal. A base-typed one keeps its source text, since its value is opaque."""

    value: int | bool | str
    type: Type = INT
    loc: Loc | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash(self.value)


@dataclass(frozen=True, slots=True)
class Tid:
    """threadIdx.x, .y or .z."""

    axis: Axis
    loc: Loc | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash(self.axis)

    @property
    def name(self) -> str:
        """As conditions spell it."""
        return f"tid.{self.axis}"


@dataclass(frozen=True, slots=True)
class Op(_Hashed):
    """An operator applied to one, two or three expressions; see `logic.operators`.

    An operator `call:NAME` is a pure function on base types (sqrtf), `as:NAME` a conversion to base type NAME.
    """

    op: str
    args: tuple[Expr, ...]
    loc: Loc | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash((self.op, self.args)))
            return self._hash


@dataclass(frozen=True, slots=True)
class Read(_Hashed):
    """A[e]: an element of a global or shared array."""

    array: str
    index: Expr
    loc: Loc | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash((self.array, self.index)))
            return self._hash


Expr = Var | Param | Const | Tid | Op | Read

TRUE: Final = Const(True, BOOL)
FALSE: Final = Const(False, BOOL)

# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Skip:
    """skip"""

    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Seq:
    """s1; s2; ... of two statements or more, none of them a Seq: build it with `seq`."""

    stmts: tuple[Stmt, ...]
    loc: Loc | None = field(default=None, compare=False, repr=False)
    writes: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.stmts) < 2 or any(isinstance(s, Seq) for s in self.stmts):
            raise ValueError("a Seq holds two statements or more, none of them a Seq")
        object.__setattr__(self, "writes", written(*self.stmts))


@dataclass(frozen=True, slots=True)
class Assign:
    """x <- e"""

    var: str
    value: Expr
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Write:
    """A[e] <- e"""

    array: str
    index: Expr
    value: Expr
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    """if cond then s1 else s2"""

    cond: Expr
    then: Stmt
    orelse: Stmt
    loc: Loc | None = field(default=None, compare=False, repr=False)
    writes: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "writes", written(self.then, self.orelse))


@dataclass(frozen=True, slots=True)
class While:
    """while (cond) s"""

    cond: Expr
    body: Stmt
    loc: Loc | None = field(default=None, compare=False, repr=False)
    writes: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "writes", written(self.body))


@dataclass(frozen=True, slots=True)
class Sync:
    """`__syncthreads()`"""

    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assume:
    """assume cond: runs in which an active thread finds it false are not spoken of; it costs nothing"""

    cond: Expr
    loc: Loc | None = field(default=None, compare=False, repr=False)


Stmt = Skip | Seq | Assign | Write | If | While | Sync | Assume


def seq(*stmts: Stmt) -> Stmt:
    """The sequence of the statements in normal form: nested sequences are spliced in, one statement stands alone.

    Sequencing is associative in the semantics, so `(a; b); c` and `a; (b; c)` are the same program text here.

    >>> x = Assign("x", Const(1))
    >>> seq() == seq(Skip()) == Skip()
    True
    >>> seq(x) == x
    True
    >>> len(seq(x, seq(x, x)).stmts)
    3
    """
    flat: list[Stmt] = []
    for s in stmts:
        flat.extend(s.stmts if isinstance(s, Seq) else (s,))
    if not flat:
        return Skip()
    return flat[0] if len(flat) == 1 else Seq(tuple(flat), flat[0].loc)


# --- programs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decl:
    """A declared scalar: a parameter or a local variable."""

    name: str
    type: Type
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The value of a shuffle or a vote, by which lanes of a warp pass values to one another: names and literals for
    what each passes (`value`), for the lane or the distance that it asks for (`by`), the width of the parts of a warp,
    and the mask."""

    value: Expr
    by: Expr | None = None
    width: Expr | None = None
    mask: Expr | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: its signature Sigma (parameters, arrays, locals) and its body. `exchanges` has, by their numbers, the
    values that come from other lanes: for runs, nothing is proved of them. `removed` are the first and last lines of
    what the preprocessor left out of its file."""

    name: str
    params: tuple[Decl, ...]
    arrays: tuple[Array, ...]
    locals: tuple[Decl, ...]
    body: Stmt
    loc: Loc | None = field(default=None, compare=False, repr=False)
    exchanges: Mapping[int, Exchange] = field(default_factory=dict, compare=False, repr=False)
    removed: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)


GHOST: Final = "ghost:"
"""Names of ghost variables begin with this; they are integers, and no program variable is called so."""

WARP_INDEX: Final = "warp.index"
"""The number of a warp in its block: conditions and bounds may mention it, programs may not."""

BUILTINS: Final = (
    *(f"{name}.{axis}" for name in ("blockIdx", "blockDim", "gridDim") for axis in "xyz"),
    "warpSize",
    WARP_INDEX,
)
"""Parameters that every kernel has; all are of type int."""


# --- variables and substitution --------------------------------------------------------------------------------------


def subterms(e: Expr) -> Iterator[Expr]:
    """e and every expression inside it, outermost first. Works on any depth.

    >>> [show(e) for e in subterms(Op("+", (Var("x"), Read("A", Const(3)))))]
    ['x + A[3]', 'x', 'A[3]', '3']
    """
    stack: list[Expr] = [e]
    while stack:
        here = stack.pop()
        yield here
        if isinstance(here, Op):
            stack.extend(reversed(here.args))
        elif isinstance(here, Read):
            stack.append(here.index)


def replace_part(e: Expr, part: Expr, new: Expr) -> Expr:
    """e with another expression in place of a part, wherever operators have it."""
    if e == part:
        return new
    return replace(e, args=tuple(replace_part(a, part, new) for a in e.args)) if isinstance(e, Op) else e


_NO_NAMES: Final = frozenset[str]()


def local_vars(e: Expr) -> frozenset[str]:
    """The thread-local variables in e.

    >>> sorted(local_vars(Op("+", (Var("x"), Op("*", (Param("n"), Var("y")))))))
    ['x', 'y']
    """
    if isinstance(e, Var):
        return frozenset((e.name,))
    return _local_vars(e) if isinstance(e, (Op, Read)) else _NO_NAMES


@lru_cache(maxsize=2**14)
def _local_vars(e: Op | Read) -> frozenset[str]:
    return frozenset(t.name for t in subterms(e) if isinstance(t, Var))


def mentions_tid(e: Expr) -> bool:
    """Whether threadIdx occurs in e.

    >>> mentions_tid(Op("/", (Tid("x"), Const(32)))), mentions_tid(Param("n"))
    (True, False)
    """
    return any(isinstance(t, Tid) for t in subterms(e))


def reads_array(e: Expr) -> bool:
    """Whether e reads an array anywhere.

    >>> reads_array(Op("+", (Var("x"), Read("A", Const(3))))), reads_array(Var("x"))
    (True, False)
    """
    return any(isinstance(t, Read) for t in subterms(e))


def arrays_read(e: Expr) -> tuple[str, ...]:
    """The arrays that e reads, each once.

    >>> arrays_read(Op("+", (Read("A", Read("B", Var("i"))), Read("A", Const(0)))))
    ('A', 'B')
    """
    return tuple(dict.fromkeys(t.array for t in subterms(e) if isinstance(t, Read)))


def substitute(e: Expr, values: Mapping[str, Expr]) -> Expr:
    """e with expressions in place of local variables, all at once.

    >>> show(substitute(Op("*", (Var("x"), Var("y"))), {"x": Op("+", (Var("y"), Const(1)))}))
    '(y + 1) * y'
    """
    match e:
        case Var(name):
            return values.get(name, e)
        case Op(op, args):
            parts = tuple(substitute(a, values) for a in args)
            return e if all(map(operator.is_, parts, args)) else Op(op, parts, e.loc)
        case Read(array, index):
            return Read(array, substitute(index, values), e.loc)
    return e


def statements(s: Stmt) -> Iterator[Stmt]:
    """s and every statement inside it, in program order. Works on any depth."""
    stack: list[Stmt] = [s]
    while stack:
        here = stack.pop()
        yield here
        match here:
            case Seq(stmts):
                stack.extend(reversed(stmts))
            case If(_, then, orelse):
                stack.extend((orelse, then))
            case While(_, body):
                stack.append(body)


def mapped(
    s: Stmt,
    change: Callable[[Expr], Expr] = lambda e: e,
    write: Callable[[str, Expr], Expr] = lambda _, index: index,
    assign: Callable[[str, Expr], Expr] = lambda _, value: value,
) -> Stmt:
    """A statement with its expressions changed, and then the indices of its writes by the array, and the values of its
    assignments by the variable, at the same places."""

    def inner(t: Stmt) -> Stmt:
        return mapped(t, change, write, assign)

    match s:
        case Seq(stmts):
            return Seq(tuple(map(inner, stmts)), s.loc)
        case Assign(x, e):
            return Assign(x, assign(x, change(e)), s.loc)
        case Write(array, index, e):
            return Write(array, write(array, change(index)), change(e), s.loc)
        case If(cond, then, orelse):
            return If(change(cond), inner(then), inner(orelse), s.loc)
        case While(cond, body):
            return While(change(cond), inner(body), s.loc)
        case Assume(cond):
            return Assume(change(cond), s.loc)
    return s


def evaluated(s: Stmt) -> tuple[Expr, ...]:
    """The expressions that a statement evaluates itself, and what it assumes; not those of statements inside it.

    >>> [show(e) for e in evaluated(Write("A", Var("i"), Const(1)))]
    ['i', '1']
    """
    match s:
        case Assign(_, e) | If(e) | While(e) | Assume(e):
            return (e,)
        case Write(_, index, e):
            return (index, e)
    return ()


def written(*ss: Stmt) -> frozenset[str]:
    """W(s): the local variables that s may write; or that one of several statements may.

    >>> sorted(written(While(Op("<", (Var("i"), Param("n"))), Assign("i", Op("+", (Var("i"), Const(1)))))))
    ['i']
    """
    sets = [
        frozenset((s.var,)) if isinstance(s, Assign) else s.writes
        for s in ss
        if isinstance(s, (Assign, Seq, If, While))
    ]
    most = max(sets, key=len, default=frozenset[str]())
    return most if all(part <= most for part in sets) else most.union(*sets)


def sources(ss: Iterable[Stmt]) -> dict[str, frozenset[str]]:
    """The local variables in the values that some statements assign, for each that they do; not of those inside them.

    >>> sorted(sources([Assign("x", Var("y")), Assign("x", Op("+", (Var("x"), Var("z"))))])["x"])
    ['x', 'y', 'z']
    """
    found: dict[str, frozenset[str]] = {}
    for s in ss:
        if isinstance(s, Assign):
            found[s.var] = found.get(s.var, _NO_NAMES) | local_vars(s.value)
    return found


def made_of(names: Iterable[str], of: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Variables, and those that they get their values from, directly or through others, by what `sources` says.

    >>> sorted(made_of("x", {"x": "y", "y": "xz", "t": "u"}))
    ['x', 'y', 'z']
    """
    found, left = set[str](), [*names]
    while left:
        if (x := left.pop()) not in found:
            found.add(x)
            left += of.get(x, ())
    return frozenset(found)


def same(a: Stmt, b: Stmt) -> bool:
    """Structural equality of statements, whatever their nesting depth."""
    stack: list[tuple[Stmt, Stmt]] = [(a, b)]
    while stack:
        x, y = stack.pop()
        if x is y:
            continue
        match x, y:
            case Seq(xs), Seq(ys) if len(xs) == len(ys):
                stack.extend(zip(xs, ys, strict=True))
            case If(e, s1, s2), If(f, t1, t2) if e == f:
                stack.extend(((s1, t1), (s2, t2)))
            case While(e, s1), While(f, t1) if e == f:
                stack.append((s1, t1))
            case (Skip(), Skip()) | (Sync(), Sync()):
                pass
            case (Assign(), Assign()) | (Write(), Write()) | (Assume(), Assume()) if x == y:
                pass
            case _:
                return False
    return True


# --- text ------------------------------------------------------------------------------------------------------------

_PRECEDENCE: Final = {
    "?:": 1,
    "||": 2,
    "&&": 3,
    "|": 4,
    "^": 5,
    "&": 6,
    **dict.fromkeys(("==", "!="), 7),
    **dict.fromkeys(("<", "<=", ">", ">="), 8),
    **dict.fromkeys(("<<", ">>"), 9),
    **dict.fromkeys(("+", "-"), 10),
    **dict.fromkeys(("*", "/", "%"), 11),
}
_UNARY: Final = {"neg": "-", "!": "!", "~": "~"}


def show(e: Expr, level: int = 0) -> str:
    """e in C's notation, with the fewest parentheses; `checker.notation` reads it back.

    >>> show(Op("*", (Op("+", (Var("x"), Const(1))), Param("n"))))
    '(x + 1) * n'
    >>> show(Op("-", (Var("x"), Op("-", (Var("y"), Const(1))))))
    'x - (y - 1)'
    >>> show(Read("A", Op("+", (Param("n"), Tid("x")))))
    'A[n + tid.x]'
    """
    match e:
        case Var() | Param() | Tid():
            return e.name
        case Op(op, (a, b)) if op in _PRECEDENCE:
            p = _PRECEDENCE[op]
            text = f"{show(a, p)} {op} {show(b, p + 1)}"
            return f"({text})" if p < level else text
        case Const(value, type_):
            text = str(value).lower() if type_ == BOOL else str(value)
            return f"({text})" if text.startswith("-") and level > 11 else text
        case Read(array, index):
            return f"{array}[{show(index)}]"
        case Op("?:", (c, a, b)):
            text = f"{show(c, 2)} ? {show(a, 2)} : {show(b, 1)}"
            return f"({text})" if level > 1 else text
        case Op("neg", (Const() as a,)):
            return f"-({show(a)})"  # `-3` is a literal
        case Op(op, (a,)) if op in _UNARY:
            return f"{_UNARY[op]}{show(a, 12)}"
        case Op(op, (index,)) if op.startswith("elem:"):
            return f"{op[5:]}[{show(index)}]"
        case Op(op, args):
            name = op.removeprefix("call:").replace("as:", "as_")
            return f"{name}({', '.join(show(a) for a in args)})"


def show_stmt(s: Stmt, indent: str = "") -> str:
    """s as text, one statement a line; `checker.notation` reads it back.

    >>> print(show_stmt(If(Op("<", (Var("x"), Param("n"))), Write("A", Var("x"), Const(1)), Skip())))
    if (x < n) {
      A[x] <- 1;
    }
    """
    match s:
        case Skip():
            return f"{indent}skip;"
        case Sync():
            return f"{indent}sync;"
        case Seq(stmts):
            return "\n".join(show_stmt(t, indent) for t in stmts)
        case Assume(e):
            return f"{indent}assume {show(e)};"
        case Assign(x, e):
            return f"{indent}{x} <- {show(e)};"
        case Write(array, index, e):
            return f"{indent}{array}[{show(index)}] <- {show(e)};"
        case If(cond, then, orelse):
            text = f"{indent}if ({show(cond)}) {{\n{show_stmt(then, indent + '  ')}\n{indent}}}"
            return text if orelse == Skip() else f"{text} else {{\n{show_stmt(orelse, indent + '  ')}\n{indent}}}"
        case While(cond, body):
            return f"{indent}while ({show(cond)}) {{\n{show_stmt(body, indent + '  ')}\n{indent}}}"
