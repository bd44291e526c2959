"""Logical conditions P, conditions {P; Q; X}, launches, judgements and the obligations they give rise to (section 5).

P is a tuple of conjuncts over local variables, parameters and tid: quantifier-free, thread-local, never about array
contents or base-typed values. sigma,T |= P iff every thread of T satisfies every conjunct.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal

from logic.contracts import Contract
from logic.contracts import settled as elements_for_reads
from logic.metrics import Hardware, Metric
from logic.operators import COMPARISONS, NEGATED
from logic.potentials import Poly
from logic.syntax import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    WARP_INDEX,
    Const,
    Expr,
    Op,
    Param,
    Read,
    Stmt,
    Tid,
    Type,
    Var,
    show,
    substitute,
    subterms,
)
from logic.typing import Signature, type_of

P = tuple[Expr, ...]
"""A conjunction in canonical form: negations at the atoms, conjuncts split, sorted by their text, none twice."""

X = frozenset[str]
"""Local variables with one value over all active threads."""


# --- P ---------------------------------------------------------------------------------------------------------------


def opaque(e: Expr, sigma: Signature) -> bool:
    """Whether e depends on base-typed values, or on contents of arrays of which no contract speaks: P cannot speak of
    them."""
    found = _unclear(e)
    return found is None or any(
        (isinstance(t, Read) and t.array not in sigma.stable)
        or (isinstance(t, Var) and t.name in sigma.locals and sigma.locals[t.name].kind == "base")
        or (isinstance(t, Param) and t.name in sigma.params and sigma.params[t.name].kind == "base")
        for t in found
    )


@lru_cache(maxsize=2**14)
def _unclear(e: Expr) -> frozenset[Read | Var | Param] | None:
    """The parts of e of which a signature tells whether P can speak of them; None where it cannot whatever that is."""
    found = set[Read | Var | Param]()
    for t in subterms(e):
        if isinstance(t, Read | Var | Param):
            found.add(t)
        elif (isinstance(t, Op) and t.op.startswith(("call:", "as:"))) or (
            isinstance(t, Const) and t.type.kind == "base"
        ):
            return None
    return frozenset(found)


def settled(e: Expr, sigma: Signature) -> Expr:
    """e, which is not opaque, with the elements of stable arrays in place of reads."""
    return elements_for_reads(e) if sigma.stable else e


def _nnf(e: Expr, positive: bool, sigma: Signature) -> Expr:
    """e, or its negation, in negation normal form, with every opaque atom replaced by true."""
    match e:
        case Op(op, (a, b)) if op in COMPARISONS:
            if opaque(e, sigma):
                return TRUE
            return settled(e if positive else Op(NEGATED[op], (a, b)), sigma)
        case Op("!", (a,)):
            return _nnf(a, not positive, sigma)
        case Op("&&" | "||", (a, b)):
            left, right = _nnf(a, positive, sigma), _nnf(b, positive, sigma)
            return _and(left, right) if (e.op == "&&") == positive else _or(left, right)
        case Op("?:", (c, a, b)):
            taken = _and(_nnf(c, True, sigma), _nnf(a, positive, sigma))
            return _or(taken, _and(_nnf(c, False, sigma), _nnf(b, positive, sigma)))
        case Op("bool", (a,)):
            return _nnf(Op("!=", (a, Const(0))), positive, sigma)
        case Const(bool() as value, _):
            return TRUE if value == positive else FALSE
    if opaque(e, sigma):
        return TRUE
    return settled(e if positive else Op("!", (e,)), sigma)


def _and(a: Expr, b: Expr) -> Expr:
    if a == TRUE or b == FALSE:
        return b
    return a if b == TRUE or a == FALSE else Op("&&", (a, b))


def _or(a: Expr, b: Expr) -> Expr:
    if a == FALSE or b == TRUE:
        return b
    return a if b == FALSE or a == TRUE else Op("||", (a, b))


def _conjuncts(e: Expr) -> Iterable[Expr]:
    stack = [e]
    while stack:
        match stack.pop():
            case Op("&&", (a, b)):
                stack.extend((b, a))
            case leaf:
                yield leaf


def _parts(e: Expr, sigma: Signature) -> Iterable[Expr]:
    """The conjuncts of e in canonical form: made once of what is the same for all signatures, as most facts are."""
    if sigma.stable or opaque(e, sigma):
        return _conjuncts(_nnf(e, True, sigma))
    known = _clear(e)
    return (e,) if known is None else known


@lru_cache(maxsize=2**14)
def _clear(e: Expr) -> tuple[Expr, ...] | None:
    """The conjuncts of e in canonical form, where nothing in it is opaque; None if e is the only one."""
    found = (*_conjuncts(_nnf(e, True, Signature({}, {}, {}))),)
    return None if found == (e,) else found


def conj(facts: Iterable[Expr], sigma: Signature) -> P:
    """The canonical conjunction of boolean expressions; opaque atoms become true, never something stronger."""
    parts = {c: None for e in facts for c in _parts(e, sigma) if c != TRUE}
    return tuple(sorted(parts, key=_text) if len(parts) > 1 else parts)


@lru_cache(maxsize=2**14)
def _text(e: Expr) -> str:
    return show(e)


def assume(p: P, e: Expr, sigma: Signature, holds: bool = True) -> P:
    """P & e, or P & !e when `holds` is false."""
    return conj((*p, e if holds else Op("!", (e,))), sigma)


FRESH: Final = "?"
"""Names of universally quantified values begin with this; no program variable does."""


def fresh_type(name: str) -> Type:
    """The type of a universally quantified value, which its name tells."""
    return BOOL if name.startswith(f"{FRESH}b") else INT


def abstracted(e: Expr, sigma: Signature) -> Expr:
    """e with every largest opaque part replaced by a value of its own that ranges over everything.

    `A[i] % 16` becomes `?i0 % 16`: what holds for every ?i0 holds whatever the read returns. Two reads never share
    a value, even of one place: another warp may write in between (section 5). A read of a stable array is its element
    there.
    """
    count = 0

    def walk(t: Expr) -> Expr:
        nonlocal count
        match t:
            case Op(op, args) if not op.startswith(("call:", "as:")) and not any(
                type_of(a, sigma).kind == "base" for a in args
            ):
                return Op(op, tuple(walk(a) for a in args))
        if not opaque(t, sigma):
            return settled(t, sigma)
        count += 1
        return Var(f"{FRESH}{'b' if type_of(t, sigma) == BOOL else 'i'}{count - 1}")

    return walk(e)


def assigned(p: P, x: str, e: Expr, sigma: Signature) -> P:
    """P[x <- e], with `abstracted(e)` for e: it has to hold for every value that opaque parts may have."""
    value = abstracted(e, sigma)
    return conj((substitute(c, {x: value}) for c in p), sigma)


# --- conditions, launches --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """{P; Q; X}"""

    p: P
    q: Poly
    x: X

    def __str__(self) -> str:
        return f"{{{show_p(self.p)}; {self.q}; {show_x(self.x)}}}"


def show_p(p: P) -> str:
    """P as text; `checker.notation` reads it back."""
    return " && ".join(show(c, 4) for c in p) if p else "true"


def show_x(x: X) -> str:
    """X as text, in alphabetical order."""
    return f"{{{', '.join(sorted(x))}}}"


Dim = tuple[int | None, int | None, int | None]
Scope = Literal["warp", "block"]


@dataclass(frozen=True, slots=True)
class Launch:
    """Block and grid, None where symbolic, and the user's assumptions: facts over parameters only, and contracts."""

    block: Dim = (None, None, None)
    grid: Dim = (None, None, None)
    assumptions: P = ()
    contracts: tuple[Contract, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """The setting of a derivation: types, metric, hardware, launch and scope."""

    sigma: Signature
    metric: Metric
    hardware: Hardware
    launch: Launch
    scope: Scope = "warp"


MAX_BLOCK: Final = 1024
"""CUDA's limit on the threads of a block."""


@lru_cache(maxsize=64)
def launch_facts(launch: Launch, hardware: Hardware, scope: Scope) -> tuple[Expr, ...]:
    """Facts about parameters and tid that hold for every thread of the launch, the user's assumptions included.

    At scope `warp`, `warp.index` is that of the warp; at scope `block` it is some number of which nothing is known.
    """

    def compare(op: str, a: Expr, b: Expr) -> Expr:
        return Op(op, (a, b))

    facts: list[Expr] = [compare("==", Param("warpSize"), Const(hardware.warp))]
    for axis, block, grid in zip(("x", "y", "z"), launch.block, launch.grid, strict=True):
        block_dim, grid_dim, block_idx = Param(f"blockDim.{axis}"), Param(f"gridDim.{axis}"), Param(f"blockIdx.{axis}")
        if block is None:
            facts += [compare(">=", block_dim, Const(1)), compare("<=", block_dim, Const(MAX_BLOCK))]
        else:
            facts.append(compare("==", block_dim, Const(block)))
        facts.append(compare(">=", grid_dim, Const(1)) if grid is None else compare("==", grid_dim, Const(grid)))
        facts += [compare(">=", block_idx, Const(0)), compare("<", block_idx, grid_dim)]
        tid = Tid(axis)  # type: ignore[arg-type]
        facts += [compare(">=", tid, Const(0)), compare("<", tid, block_dim)]
    if scope == "warp":
        warp, thread = Param(WARP_INDEX), _linear(launch.block)
        facts.append(compare(">=", warp, Const(0)))
        if thread is not None:
            first = Op("*", (Const(hardware.warp), warp))
            facts += [compare("<=", first, thread), compare("<", thread, Op("+", (first, Const(hardware.warp))))]
    return (*facts, *launch.assumptions, *(c.fact for c in launch.contracts if not c.ranges))


def _linear(block: Dim) -> Expr | None:
    """A thread's number in its block, where that is linear in threadIdx."""
    x, y, z = block
    if y == z == 1:
        return Tid("x")
    if x is None or y is None:
        return None
    row = Op("+", (Tid("x"), Op("*", (Const(x), Tid("y")))))
    return row if z == 1 else Op("+", (row, Op("*", (Const(x * y), Tid("z")))))


# --- judgements and obligations --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Triple:
    """{P; Q; X} s {P'; Q'; X'}"""

    pre: Condition
    stmt: Stmt
    post: Condition


@dataclass(frozen=True, slots=True)
class Cost:
    """P; X |- e : C. Evaluating e costs at most C on any threads that satisfy P and X."""

    p: P
    x: X
    expr: Expr
    cost: Fraction


Judgement = Triple | Cost


@dataclass(frozen=True, slots=True)
class Entails:
    """P |- goal, for one arbitrary thread of the launch."""

    p: P
    goal: P

    def __str__(self) -> str:
        return f"{show_p(self.p)} |- {show_p(self.goal)}"


@dataclass(frozen=True, slots=True)
class Uniform:
    """P; X |- e unif: any two threads of one warp (or block) that satisfy P and agree on X agree on e."""

    p: P
    x: X
    expr: Expr

    def __str__(self) -> str:
        return f"{show_p(self.p)}; {show_x(self.x)} |- {show(self.expr)} unif"


@dataclass(frozen=True, slots=True)
class AtMost:
    """P; X |- MemReads(A[o]) <= n or P; X |- Conflicts(A[o]) <= n, for every store and T that satisfy P and X."""

    what: Literal["MemReads", "Conflicts"]
    p: P
    x: X
    array: str
    index: Expr
    n: int

    def __str__(self) -> str:
        return f"{show_p(self.p)}; {show_x(self.x)} |- {self.what}({self.array}[{show(self.index)}]) <= {self.n}"


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Q >=_{P,X} Q': in every state of {P; .; X}, q is at least r."""

    p: P
    x: X
    q: Poly
    r: Poly

    def __str__(self) -> str:
        return f"{show_p(self.p)}; {show_x(self.x)} |- {self.q} >= {self.r}"


Obligation = Entails | Uniform | AtMost | AtLeast


@dataclass(frozen=True, slots=True)
class Proved:
    """An oracle's yes: which engine, and its reason in words, for the ledger."""

    engine: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Refuted:
    """An oracle's no, with values that make the obligation false: names of leaves (`x`, `tid.x@1`) to integers."""

    engine: str
    witness: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither proved nor refuted: never an acceptance, never called false."""

    engine: str
    reason: str = ""


Verdict = Proved | Refuted | Unknown
