"""Proof outlines: a program with conditions written between its statements, in the manner of Fig. 5 (p. 14).

An outline is what a person writes and what the search for potentials produces; `checker.synthesis.elaborate` completes
it to a derivation. Each part of a condition may be left out (None): the elaborator then uses what it computes there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from logic.assertions import Context, P, X
from logic.potentials import Poly
from logic.source import Loc
from logic.syntax import GHOST, Assign, Assume, Expr, If, Kernel, Seq, Skip, Stmt, Sync, While, Write, seq


@dataclass(frozen=True, slots=True)
class Partial:
    """A condition {P; Q; X} of which parts may be missing; Q and X may have places of their own."""

    p: P | None = None
    q: Poly | None = None
    x: X | None = None
    loc: Loc | None = field(default=None, compare=False, repr=False)
    q_loc: Loc | None = field(default=None, compare=False, repr=False)
    x_loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Plain:
    """A statement without statements inside it."""

    stmt: Skip | Sync | Assign | Write | Assume


@dataclass(frozen=True, slots=True)
class Branch:
    """if (cond) then else orelse; `rule` names the rule to use (`Q:If4`) where the writer chose one."""

    cond: Expr
    then: Block
    orelse: Block
    rule: str | None = None
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Loop:
    """while (cond) invariant {P; Q; X} body"""

    cond: Expr
    invariant: Partial
    body: Block
    rule: str | None = None
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Split:
    """From here to the end of the block, once where cond holds and once where it does not (Q:CaseSplit)."""

    cond: Expr
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cases:
    """One program, `then` where cond holds and `orelse` where it does not (Q:CaseSplit). `bases` are what the potential
    in front of it may be made of."""

    cond: Expr
    then: Block
    orelse: Block
    bases: tuple[Poly, ...] = ()
    loc: Loc | None = field(default=None, compare=False, repr=False)


Item = Partial | Plain | Branch | Loop | Split | Cases
Block = tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """A kernel, what its derivation is about, and its annotated body."""

    kernel: Kernel
    context: Context
    body: Block


def ghost_of(x: str) -> str:
    """The ghost of a variable, or of a field, in which a name has dots: ghosts have none in certificates."""
    return GHOST + x.replace(".", "__")


def strip(block: Block) -> Stmt:
    """The program of an annotated block."""

    def parts() -> Iterator[Stmt]:
        for item in block:
            match item:
                case Plain(stmt):
                    yield stmt
                case Branch(cond, then, orelse, _, loc):
                    yield If(cond, strip(then), strip(orelse), loc)
                case Cases(_, then):
                    yield strip(then)
                case Loop(cond, _, body, _, loc):
                    yield While(cond, strip(body), loc)

    return seq(*parts())


def items(block: Block) -> Iterator[Item]:
    """The items of a block and those inside them."""
    for item in block:
        yield item
        match item:
            case Loop():
                yield from items(item.body)
            case Branch() | Cases():
                yield from items((*item.then, *item.orelse))


def bare(s: Stmt) -> Block:
    """The outline of a program with no conditions in it: `strip(bare(s))` is s."""
    stmts = s.stmts if not isinstance(s, Skip | Sync | Assign | Write | Assume | If | While) else (s,)
    items: list[Item] = []
    for t in stmts:
        match t:
            case If(cond, then, orelse):
                items.append(Branch(cond, bare(then), bare(orelse), None, t.loc))
            case While(cond, body):
                items.append(Loop(cond, Partial(), bare(body), None, t.loc))
            case Skip() | Sync() | Assign() | Write() | Assume():
                items.append(Plain(t))
    return tuple(items)


def without(s: Stmt, ghost: str) -> Stmt:
    """The program without the assignments to a ghost."""
    match s:
        case Assign(x) if x == ghost:
            return Skip()
        case Seq(parts):
            return seq(
                *(without(part, ghost) for part in parts if not (isinstance(part, Assign) and part.var == ghost))
            )
        case If(e, yes, no):
            return If(e, without(yes, ghost), without(no, ghost), s.loc)
        case While(e, body):
            return While(e, without(body, ghost), s.loc)
    return s
