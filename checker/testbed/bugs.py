"""Bugs with a name: what a person might get wrong in a rule, in the kernel, in the terms or in the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final
from unittest import mock

import numpy as np

from checker.testbed import world
from checker.testbed.programs import LOCALS, Wanted
from checker.testbed.trial import beginning
from logic import assertions, potentials, syntax
from logic.potentials import Poly, floor_div
from logic.syntax import Assign, Const, Expr, Op, Stmt, Var, While


@dataclass(frozen=True, slots=True)
class Bug:
    """An edit of a rule's text, or functions of a module replaced; `focus` are the rules where it should show;
    `wanted` and `tampered` are for the trial."""

    name: str
    sentence: str
    rule: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    patches: tuple[tuple[str, Any], ...] = ()
    focus: tuple[str, ...] = ()
    wanted: Wanted | None = None
    tampered: float = 0.12


@contextmanager
def patched(bug: Bug | None) -> Iterator[None]:
    """Runs with the bug's functions in place of the right ones."""
    with ExitStack() as stack:
        for target, replacement in bug.patches if bug else ():
            stack.enter_context(mock.patch(target, replacement))
        yield


# --- functions that are wrong ----------------------------------------------------------------------------------------

_of_expr: Final = potentials.of_expr
_assume: Final = assertions.assume


def _floors(e: Expr) -> Poly | None:
    match e:
        case Op("/", (a, Const(int() as k))) if k > 0 and (p := _of_expr(a)) is not None:
            return floor_div(p, k)
        case Op("%", (a, Const(int() as k))) if k > 0 and (p := _of_expr(a)) is not None:
            return p - floor_div(p, k) * k
    return _of_expr(e)


def _euclidean(a: Any, b: Any) -> Any:
    return np.where(b == 0, a, a % np.where(b == 0, 1, np.abs(b)))


def _floored(a: Any, b: Any) -> Any:
    return np.where(b == 0, 0, a // np.where(b == 0, 1, b))


def _lanes(what: str, per_lane: list[set[int]], array: Any, hardware: Any) -> int:
    """Banks counted for words."""
    unit = hardware.sector if what == "MemReads" else hardware.word
    units = [frozenset((array.stride * i + array.offset) // unit for i in lane) for lane in per_lane]
    if what == "MemReads":
        return world.matching(units)
    banks = {u % hardware.banks for lane in units for u in lane}
    return min(len(banks), len(units))


def _ceilings(what: str, per_lane: list[set[int]], array: Any, hardware: Any) -> int:
    """Sectors counted as if every array were half as wide."""
    unit = 2 * hardware.sector if what == "MemReads" else hardware.word
    units = [frozenset(-(-(array.stride * i + array.offset) // unit) for i in lane) for lane in per_lane]
    return world.matching(units) if what == "MemReads" else max(1, len(units) // 2)


def _first_only(s: Stmt) -> frozenset[str]:
    """W(s) that does not look into loops."""
    return frozenset(t.var for t in syntax.statements(s) if isinstance(t, Assign)) - frozenset(
        u.var
        for t in syntax.statements(s)
        if isinstance(t, While)
        for u in syntax.statements(t.body)
        if isinstance(u, Assign)
    )


def _not_negated(p: Any, e: Expr, sigma: Any, holds: bool = True) -> Any:
    """P & e, whichever way it went."""
    return _assume(p, e, sigma, True)


def _only_guard_negated(p: Any, e: Expr, sigma: Any, holds: bool = True) -> Any:
    """`!(a && b)` taken for `!a && !b`."""
    if not holds and isinstance(e, Op) and e.op == "&&":
        return _assume(_assume(p, e.args[0], sigma, False), e.args[1], sigma, False)
    return _assume(p, e, sigma, holds)


def _strictly(p: Any, e: Expr, sigma: Any, holds: bool = True) -> Any:
    """`!(a < b)` taken for `a > b`."""
    if not holds and isinstance(e, Op) and e.op == "<":
        return _assume(p, Op(">", e.args), sigma, True)
    return _assume(p, e, sigma, holds)


def _reads_are_zero(e: Expr, sigma: Any) -> Expr:
    """Reads taken for 0."""

    def walk(t: Expr) -> Expr:
        match t:
            case syntax.Read():
                return Const(0)
            case Op(op, args):
                return Op(op, tuple(walk(a) for a in args))
        return t

    return walk(e)


def _no_shift(q: Poly, x: str, e: Expr, context: Any) -> Poly:
    """Q[x <- e] that only replaces x where e is a variable or a constant."""
    value = _of_expr(e) if isinstance(e, Const | Var) else None
    return q if value is None or x not in potentials.variables(q) else potentials.substitute(q, {Var(x): value})


def _not_inside(p: Poly) -> frozenset[str]:
    """vars(Q) that does not look inside max and floor."""
    return frozenset(
        a.leaf.name for m, _ in p.terms for a in m if isinstance(a, potentials.Sym) and isinstance(a.leaf, Var)
    )


def _erases_anything(s: Stmt, x: str, context: Any) -> Stmt:
    """Erasure that does not look at what else uses the ghost."""
    match s:
        case Assign(y) if y == x:
            return syntax.Skip()
        case syntax.Seq(parts):
            return syntax.seq(
                *(_erases_anything(t, x, context) for t in parts if not (isinstance(t, Assign) and t.var == x))
            )
        case syntax.If(e, s1, s2):
            return syntax.If(e, _erases_anything(s1, x, context), _erases_anything(s2, x, context))
        case While(e, body):
            return While(e, _erases_anything(body, x, context))
    return s


def _agree_but_for_potentials(a: Any, b: Any) -> bool:
    """Premises compared without their potentials."""
    match a, b:
        case assertions.Triple(pre, s, post), assertions.Triple(pre2, s2, post2):
            return (pre.p, pre.x, post.p, post.x) == (pre2.p, pre2.x, post2.p, post2.x) and syntax.same(s, s2)
    return bool(a == b)


def _agree_on_programs(a: Any, b: Any) -> bool:
    """Premises compared by their programs alone."""
    match a, b:
        case assertions.Triple(_, s, _), assertions.Triple(_, s2, _):
            return syntax.same(s, s2)
    return bool(a == b)


def _all_agree(self: Any, p: Any, x: Any, e: Expr) -> bool:
    """Uniform if no read is in it."""
    return not any(isinstance(t, syntax.Read) for t in syntax.subterms(e))


def _one_read(self: Any, p: Any, x: Any, e: Expr) -> bool:
    """Uniform once its reads are forgotten."""
    bare = assertions.abstracted(e, self.context.sigma)
    shared = frozenset(t.name for t in syntax.subterms(bare) if isinstance(t, Var) and t.name[0] == assertions.FRESH)
    return bool(self._agree(p, x, bare, shared))


def _all_locals(self: Any, *_: Any) -> frozenset[str]:
    """Every local: nothing is asked of potentials."""
    return frozenset(self.sigma.locals)


def _yes(*_: Any) -> bool:
    """A question that is not asked."""
    return True


def _over_anything(x: frozenset[str], hints: Any, rng: Any) -> Poly:
    """A potential to begin with, X or no X."""
    return beginning(x | set(LOCALS), hints, rng)


def _nothing(*_: Any) -> None:
    """A check that is not made."""


BUGS: Final = (
    Bug(
        "while2-div",
        "Q:While2 forgets M.div.",
        "Q:While2",
        (
            ("Q + M.if + C + M.div >= 0", "Q + M.if + C >= 0"),
            ("{P; Q + M.if + C + M.div; X}\n", "{P; Q + M.if + C; X}\n"),
            ("{P; Q + M.if + C + M.div; X} while", "{P; Q + M.if + C; X} while"),
        ),
    ),
    Bug(
        "while2-only-first",
        "Q:While2 pays for one divergence, however often it turns.",
        "Q:While2",
        (("s {P; Q + M.if + C + M.div; X}", "s {P; Q + M.if + C; X}"),),
    ),
    Bug(
        "while2-frees-guard",
        "Q:While2 does not pay for the guard after a turn.",
        "Q:While2",
        (("s {P; Q + M.if + C + M.div; X}", "s {P; Q + M.div; X}"),),
    ),
    Bug(
        "while2-keeps-q",
        "Q:While2 keeps Q after the loop, as the print does.",
        "Q:While2",
        (("P & !e; X |- Q >= Q'   X' <= X \\ W(s)", "P & !e; X |- Q >= Q'   X' <= X"),),
    ),
    Bug(
        "while1-no-exit",
        "Q:While1 does not pay for the last test.",
        "Q:While1",
        (
            ("{P; Q + M.if + C; X} while (e) s {P & !e; Q; X}", "{P; Q; X} while (e) s {P & !e; Q; X}"),
            ("s {P; Q + M.if + C; X}", "s {P; Q; X}"),
        ),
    ),
    Bug("if4-x1", "Q:If4 takes X1 for X & X1, as the print does.", "Q:If4", (("X' <= (X & X1) \\ W(s1)", "X' <= X1"),)),
    Bug(
        "if4-no-p1", "Q:If4 does not ask whether P'' holds where every lane took s1.", "Q:If4", (("P1 |- P''   ", ""),)
    ),
    Bug("if4-no-div", "Q:If4 forgets M.div.", "Q:If4", ((" + M.div", ""),)),
    Bug("if4-printed", "Q:If4 hands Q1 to s2, as the print does.", "Q:If4", (("P & !e; X |- Q >= Q'   ", ""),)),
    Bug(
        "if4-printed-end",
        "Q:If4 promises what s2 leaves, as the print does.",
        "Q:If4",
        (("P1; X1 |- Q1 >= Q''   ", ""),),
    ),
    Bug("if1-same-side", "Q:If1 gives both sides the guard.", "Q:If1", (("{P & !e; Q; X} s2", "{P & e; Q; X} s2"),)),
    Bug("if3-then", "Q:If3 runs the side that is not taken.", "Q:If3", (("{P; Q; X} s2 {", "{P; Q; X} s1 {"),)),
    Bug("vwrite2-keeps-x", "Q:VWrite2 keeps x in X.", "Q:VWrite2", (("{P'; Q; X \\ {x}}", "{P'; Q; X}"),)),
    Bug(
        "vwrite2-keeps-q",
        "Q:VWrite2 lets Q mention x, as the print does.",
        "Q:VWrite2",
        (("   vars(Q) <= X \\ {x}", ""), ("{P'; Q; X \\ {x}}", "{P'; Q; X}")),
    ),
    Bug(
        "vwrite1-stale",
        "Q:VWrite1 compares with Q' before the assignment.",
        "Q:VWrite1",
        (("Q >= Q'[x <- e]", "Q >= Q'"),),
    ),
    Bug("gwrite-free", "Q:GWrite does not pay for the value.", "Q:GWrite", ((" + C1 + C2", " + C1"),)),
    Bug(
        "frame-written",
        "Q:Frame takes in potentials over what s writes.",
        "Q:Frame",
        (("vars(F) <= X \\ W(s)", "vars(F) <= X"),),
    ),
    Bug(
        "frame-negative",
        "Q:Frame may take potential away for good.",
        "Q:Frame",
        (("{P'; Q' + F; X' | vars(F)}", "{P'; Q' + F + F; X' | vars(F)}"),),
    ),
    Bug("unroll-drops-the-loop", "Q:Unroll turns once.", "Q:Unroll", (("(s; while (e) s)", "s"),)),
    Bug(
        "casesplit-divergent",
        "Q:CaseSplit splits on what lanes disagree on.",
        "Q:CaseSplit",
        (("P; X |- e unif\n", ""),),
    ),
    Bug("ghost-uniform", "Q:Ghost leaves its variable uniform.", "Q:Ghost", (("X' \\ {x}", "X'"),)),
    Bug(
        "ghost-used",
        "Ghosts may be used by the program.",
        patches=(("checker.kernel._erased", _erases_anything),),
        focus=("Q:Ghost",),
    ),
    Bug("weak-backward", "Q:Weak may add potential at the end.", "Q:Weak", (("Q2' >= Q1'", "Q1' >= Q2'"),)),
    Bug(
        "seq-forgets",
        "Q:Seq starts the second statement with the potential of the first.",
        "Q:Seq",
        (("{P1; Q1; X1} s2", "{P1; Q; X1} s2"),),
    ),
    Bug("sync-free", "Q:Sync costs nothing.", "Q:Sync", ((" + M.sync", ""),)),
    Bug("param-const", "OQ:Param charges M.const, as the print does.", "OQ:Param", (("M.param", "M.const"),)),
    Bug(
        "reads-uniform",
        "A read is uniform whatever its index is.",
        patches=(("checker.testbed.world.SmallWorld._uniform", _one_read),),
        focus=("Q:If1", "Q:VWrite1"),
    ),
    Bug(
        "everything-uniform",
        "What reads no array counts as uniform.",
        patches=(("checker.testbed.world.SmallWorld._uniform", _all_agree),),
    ),
    Bug(
        "ceil-floor",
        "C's division in a potential is taken for floor.",
        patches=(("checker.kernel.of_expr", _floors),),
        focus=("Q:VWrite1",),
        wanted=Wanted("set", ops=("/", "%")),
    ),
    Bug(
        "euclidean-mod",
        "C's % is taken for the Euclidean remainder.",
        patches=(("checker.testbed.world.OPERATIONS", {**world.OPERATIONS, "%": _euclidean}),),
        focus=("Q:VWrite1", "Q:If4", "Q:VWrite2"),
        wanted=Wanted("set", ops=("%",)),
    ),
    Bug(
        "floored-div",
        "C's / is taken for the floor of the quotient.",
        patches=(("checker.testbed.world.OPERATIONS", {**world.OPERATIONS, "/": _floored}),),
        focus=("Q:VWrite1", "Q:If4", "Q:VWrite2"),
        wanted=Wanted("set", ops=("/",)),
    ),
    Bug(
        "banks-for-words",
        "Conflicts counts banks that are touched.",
        patches=(("checker.testbed.world.most_units", _lanes),),
        focus=("EQ:SArray", "Q:SWrite"),
    ),
    Bug(
        "double-sectors",
        "MemReads counts ceilings over sectors of twice the size.",
        patches=(("checker.testbed.world.most_units", _ceilings),),
        focus=("EQ:GArray", "Q:GWrite"),
    ),
    Bug(
        "written-outside-loops",
        "W(s) does not look into loops.",
        patches=(("checker.kernel.written", _first_only),),
        focus=("Q:If4", "Q:Frame", "Q:While2"),
    ),
    Bug(
        "negation-lost",
        "P & !e is P & e.",
        patches=(("checker.kernel.assume", _not_negated),),
        focus=("Q:If1", "Q:If4", "Q:While1", "Q:While2"),
    ),
    Bug(
        "de-morgan",
        "!(a && b) is taken for !a && !b.",
        patches=(("checker.kernel.assume", _only_guard_negated),),
        focus=("Q:If1", "Q:If4", "Q:While1", "Q:While2"),
    ),
    Bug(
        "strict-negation",
        "!(a < b) is taken for a > b.",
        patches=(("checker.kernel.assume", _strictly),),
        focus=("Q:If1", "Q:If4", "Q:While1", "Q:While2"),
    ),
    Bug(
        "reads-are-zero",
        "P[x <- A[o]] takes the read for 0.",
        patches=(("logic.assertions.abstracted", _reads_are_zero),),
        focus=("Q:VWrite1", "Q:VWrite2"),
    ),
    Bug(
        "no-shift",
        "Q[x <- e] leaves Q alone where e is neither a variable nor a constant.",
        patches=(("checker.kernel.updated", _no_shift),),
        focus=("Q:VWrite1",),
    ),
    Bug(
        "vars-outside",
        "vars(Q) does not look inside max and floor.",
        patches=tuple(
            (f"checker.{module}.variables", _not_inside)
            for module in ("kernel", "testbed.derivations", "testbed.choices")
        ),
        focus=("Q:VWrite2", "Q:Frame"),
    ),
    Bug(
        "q-outside-x",
        "The kernel does not ask for vars(Q) within X.",
        patches=(
            ("checker.kernel._well_formed", _nothing),
            ("checker.testbed.choices.Choices._allowed", _all_locals),
            ("checker.testbed.derivations.Builder.lawful", _yes),
            ("checker.testbed.trial.beginning", _over_anything),
        ),
        focus=("Q:Sync", "Q:If4"),
    ),
    Bug(
        "agree-loosely",
        "The kernel compares premises without their potentials.",
        patches=(("checker.kernel._agree", _agree_but_for_potentials),),
        focus=("Q:Seq",),
        tampered=1.0,
    ),
    Bug(
        "agree-on-programs",
        "The kernel compares premises by their programs alone.",
        patches=(("checker.kernel._agree", _agree_on_programs),),
        focus=("Q:Seq",),
        tampered=1.0,
    ),
)
"""The named bugs; those in functions are tried with the right rules."""
