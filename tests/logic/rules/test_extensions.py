"""The extensions: what is framed, unrolled, split or erased, and everything that stands in the way."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from checker.kernel import _erased
from checker.report.sentences import sentence
from logic.assertions import Condition, P, Refuted, Triple, Unknown, assume
from logic.derivation import Derivation, Value
from logic.refusals import Rejected
from logic.rules import extensions
from logic.syntax import (
    GHOST,
    INT,
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Op,
    Read,
    Skip,
    Stmt,
    Var,
    While,
    Write,
    seq,
    show_stmt,
)
from tests.logic.rules.applications import (
    SIGMA,
    TICK,
    Bad,
    assert_every_item_is_refused,
    assert_refused,
    at,
    but,
    cost,
    expr,
    free,
    instead,
    judged,
    named,
    pot,
    premise,
    price,
    refusal,
    skip,
    stmt,
    weak,
)
from tests.logic.rules.test_assignments import write1

ZERO_Z = stmt("z <- 0;")


def cleared(c: Condition) -> Derivation:
    """{P; Q + 1; X} z <- 0 {P; Q; X u {z}} under TICK"""
    return free(write1(c, "z", "0", Condition(c.p, c.q, c.x | {"z"})))


# --- Q:Frame ---------------------------------------------------------------------------------------------------------

START = at("x >= 0", "5", "x")
FRAME = Derivation(
    "Q:Frame",
    named("", Condition(START.p, pot("6"), START.x))
    | named("'", Condition(START.p, START.q, frozenset("xz")))
    | {"s": ZERO_Z, "F": pot("2*x")},
    (cleared(START),),
)


def test_a_frame_is_kept() -> None:
    want = Triple(at("x >= 0", "6 + 2*x", "x"), ZERO_Z, at("x >= 0", "5 + 2*x", "x z"))
    assert judged(FRAME, TICK) == want


# --- Q:Unroll --------------------------------------------------------------------------------------------------------

LOOP = While(expr("x < 0"), ZERO_Z)
HERE = at("x >= 0", "3", "x")
ONCE = Derivation(
    "Q:If3",
    named("", HERE) | named("'", HERE) | {"e": LOOP.cond, "C": Fraction(0), "s1": seq(ZERO_Z, LOOP), "s2": Skip()},
    (free(cost(HERE.p, HERE.x, LOOP.cond)), skip(HERE)),
)
UNROLL = Derivation(
    "Q:Unroll",
    named("", HERE) | named("'", HERE) | {"e": LOOP.cond, "s": ZERO_Z},
    (ONCE,),
)


def test_a_loop_is_an_if_around_its_body_and_itself() -> None:
    assert judged(UNROLL, TICK) == Triple(HERE, LOOP, HERE)


# --- Q:WhileCase -----------------------------------------------------------------------------------------------------

GUARD, STEP = expr("x < n"), stmt("x <- x + 1;")
TEST, TURN, DIV = 7 + (1 + 3 + 5), 13 + (1 + 2 + 5), 11
"""What the guard, a turn of the body and a warp that splits cost under the prices."""


def counting(case: str, more: int = 0, shift: int = 0) -> Derivation:
    """{x <= n; TEST + EACH*|[x, n]|; {x}} while (x < n) x <- x + 1, where EACH pays for a split, too.

    A turn gets `more` than it needs; every potential is `shift` higher.
    """
    each = TEST + TURN + DIV
    head = at("x <= n", f"{each}*|[x, n]| + {shift}", "x")
    inside = assume(head.p, GUARD, SIGMA)
    pre = Condition(inside, pot(f"{each}*|[x, n]| - {DIV} + {shift + more}"), head.x)
    post = Condition(head.p, head.q + TEST, head.x)
    inner = Condition(inside, pot(f"{TEST} + {each}*|[x + 1, n]| + {shift}"), head.x)
    turn = write1(inner, "x", "x + 1", post)
    turn = weak(turn, STEP, (pre, post), (Condition(inside, inner.q + TURN, head.x), post))
    values: dict[str, Value] = {"e": GUARD, "C": price(GUARD), "s": STEP, "e1": expr(case), "Q1": pre.q}
    values |= {"Q'": pot("0"), "X'": frozenset()}
    return Derivation("Q:WhileCase", named("", head) | values, (cost(head.p, head.x, GUARD), turn))


def waiting(text: str, case: str) -> Derivation:
    """while (e) skip, for nothing under TICK."""
    e, head = expr(text), at("", "0", "x")
    inside = Condition(assume(head.p, e, SIGMA), head.q, head.x)
    turn = weak(skip(inside), Skip(), (inside, head), (inside, inside))
    values: dict[str, Value] = {"e": e, "C": Fraction(0), "s": Skip(), "e1": expr(case), "Q1": pot("0")}
    values |= {"Q'": pot("0"), "X'": frozenset("x")}
    return free(Derivation("Q:WhileCase", named("", head) | values, (cost(head.p, head.x, e), turn)))


def test_a_loop_pays_for_a_split_only_where_its_test_may_split_the_warp() -> None:
    want = Triple(
        at("x <= n", f"{TEST} + {TEST + TURN + DIV}*|[x, n]|", "x"), While(GUARD, STEP), at("x <= n, x >= n", "0")
    )
    assert judged(counting("x < 5")) == want
    assert judged(counting("x < n", DIV)) == want


@pytest.mark.parametrize(("text", "case"), [("x < tid.x", "x < 0"), ("x < 3", "n > 0"), ("A[x] < n", "n > 0")])
def test_a_test_that_cannot_split_in_the_case(text: str, case: str) -> None:
    assert judged(waiting(text, case), TICK).stmt == While(expr(text), Skip())  # type: ignore[union-attr]


# --- Q:CaseSplit -----------------------------------------------------------------------------------------------------


def split(text: str, x: str = "x") -> Derivation:
    """{true; 4; X} skip {true; 4; X} in two cases"""
    e, whole = expr(text), at("", "4", x)
    sides = []
    for holds in (True, False):
        here = Condition(assume((), e, SIGMA, holds), whole.q, whole.x)
        sides.append(weak(skip(here), Skip(), (here, whole), (here, here)))
    return Derivation("Q:CaseSplit", named("", whole) | named("'", whole) | {"e": e, "s": Skip()}, tuple(sides))


def test_cases_meet_again() -> None:
    assert judged(split("x < 3"), TICK) == Triple(at("", "4", "x"), Skip(), at("", "4", "x"))
    assert judged(split("n < 3", ""), TICK) == Triple(at("", "4"), Skip(), at("", "4"))


# --- Q:Assume --------------------------------------------------------------------------------------------------------


def assumed(e: str, post: str) -> Derivation:
    """{x >= 0; 3; {x}} assume e; z <- 0 {post; 2; {x, z}} under TICK"""
    pre, after = at("x >= 0", "3", "x"), at(post, "2", "x")
    first = Derivation("Q:Assume", named("", pre) | {"e": expr(e)})
    then = cleared(after)
    middle = named("1", Condition(after.p, pre.q, pre.x))
    last = named("'", Condition(after.p, after.q, frozenset("xz")))
    return Derivation(
        "Q:Seq", named("", pre) | middle | last | {"s1": stmt(f"assume {e};"), "s2": ZERO_Z}, (first, then)
    )


def test_what_is_assumed_is_known_after_it() -> None:
    want = Triple(at("x >= 0", "3", "x"), stmt("assume x < n; z <- 0;"), at("x >= 0 && x < n", "2", "x z"))
    assert judged(assumed("x < n", "x >= 0 && x < n"), TICK) == want


@pytest.mark.parametrize(("e", "post"), [("x < n", "x < n && x > 2"), ("A[x] < n", "x >= 0 && x < n")])
def test_no_more_is_known_than_what_is_assumed(e: str, post: str) -> None:
    assert "is not what its derivation proves" in sentence(refusal(assumed(e, post), TICK))


def test_of_what_reads_an_array_no_more_is_known() -> None:
    want = Triple(at("x >= 0", "3", "x"), stmt("assume A[x] < n && y < 3; z <- 0;"), at("x >= 0 && y < 3", "2", "x z"))
    assert judged(assumed("A[x] < n && y < 3", "x >= 0 && y < 3"), TICK) == want


# --- Q:Ghost ---------------------------------------------------------------------------------------------------------

G = GHOST + "x"
HAUNTED = replace(TICK, sigma=replace(SIGMA, locals={**SIGMA.locals, G: INT}))


def written_ghost(e: Expr, p: P = (), after: P = (), ghost: str = G) -> Derivation:
    """{P; 1; {}} ghost <- e {P'; 0; {ghost}} under TICK"""
    values: dict[str, Value] = {"P": p, "X": frozenset(), "e": e, "C": Fraction(0), "P'": after, "x": ghost}
    values |= {"Q": pot("0"), "Q'": pot("0")}
    return free(Derivation("Q:VWrite1", values, (cost(p, frozenset(), e),)))


def erased(e: Expr, p: P = (), after: P = (), ghost: str = G) -> Derivation:
    """{P; 1; {}} skip {P'; 0; {}} by a ghost that is set to e"""
    values: dict[str, Value] = {"P": p, "Q": pot("1"), "X": frozenset(), "P'": after, "Q'": pot("0")}
    values |= {"X'": frozenset({ghost}), "s": Skip(), "s1": Assign(ghost, e), "x": ghost}
    return Derivation("Q:Ghost", values, (written_ghost(e, p, after, ghost),))


SET_GHOST = Assign(G, Const(0))
ERASED = erased(Const(0))


def test_a_ghost_leaves_no_trace() -> None:
    assert judged(ERASED, HAUNTED) == Triple(at("", "1"), Skip(), at("", "0"))


def test_a_ghost_may_be_computed_from_itself_and_from_the_program() -> None:
    for e in (Op("+", (Var(G), Const(1))), Var("x"), Op("*", (Var(G), Var("y")))):
        plain = erased(e)
        by_lane = {letter: v for letter, v in plain.premises[0].substitution.items() if letter != "Q'"}
        inner = Derivation("Q:VWrite2", by_lane, plain.premises[0].premises)
        root = replace(but(plain, X_=frozenset()), premises=(inner,))
        assert judged(root, HAUNTED) == Triple(at("", "1"), Skip(), at("", "0"))


@pytest.mark.parametrize(
    "use",
    [
        Assign("y", Op("+", (Var(G), Const(1)))),
        Write("A", Var(G), Const(1)),
        Write("A", Const(1), Var(G)),
        If(Op("<", (Var(G), Const(0))), Skip(), Skip()),
        While(Op("<", (Var(G), Const(0))), Skip()),
        Assume(Op("<", (Var(G), Const(0)))),
        seq(SET_GHOST, While(expr("x < 0"), If(expr("x < 0"), Skip(), Assign("z", Var(G))))),
        seq(Assign("y", Const(1)), Assign("z", Op("+", (Read("A", Var(G)), Const(0))))),
    ],
    ids=show_stmt,
)
def test_the_program_may_not_use_a_ghost(use: Stmt) -> None:
    """Told by the kernel's own words on the statement; the premise about it is not looked at here."""
    with pytest.raises(Rejected, match=r"^ghost read$"):
        _erased(use, G, HAUNTED)


def test_what_is_left_is_the_program() -> None:
    body = seq(SET_GHOST, stmt("y <- 1;"), While(expr("x < 0"), seq(stmt("x <- 1;"), SET_GHOST)), SET_GHOST)
    assert _erased(body, G, HAUNTED) == stmt("y <- 1; while (x < 0) { x <- 1; }")
    assert _erased(If(expr("x < 0"), SET_GHOST, Skip()), G, HAUNTED) == If(expr("x < 0"), Skip(), Skip())


def test_only_what_is_called_a_ghost_is_erased() -> None:
    assert "only what is called 'ghost:..' is a ghost" in sentence(refusal(erased(Const(0), ghost="z"), HAUNTED))


def test_a_ghost_is_an_integer() -> None:
    truth = refusal(erased(Op("<", (Const(0), Const(1)))), HAUNTED)
    assert sentence(truth) == "the ghost 'ghost:x' is an integer"


ABOUT = (Op(">=", (Var(G), Const(0))),)

BAD = [
    Bad("vars(F) <= X \\ W(s)", but(FRAME, F=pot("2*z")), None, TICK),
    Bad("vars(F) <= X \\ W(s)", but(FRAME, F=pot("2*y")), None, TICK),
    Bad("P |- F >= 0", but(FRAME, F=pot("x - 1")), Refuted, TICK),
    Bad(premise("Q:Frame", 0), but(FRAME, Q=pot("5")), None, TICK),
    Bad(premise("Q:Unroll", 0), but(UNROLL, s=stmt("y <- 0;")), None, TICK),
    Bad(premise("Q:Unroll", 0), but(UNROLL, e=expr("x < 1")), None, TICK),
    Bad(premise("Q:Unroll", 0), but(UNROLL, Q=pot("2")), None, TICK),
    Bad("P; X |- e unif", split("y < 3"), Refuted, TICK),
    Bad("P; X |- e unif", split("tid.x < 3"), Refuted, TICK),
    Bad("P; X |- e unif", split("A[y] < 3"), Unknown, TICK),
    Bad(premise("Q:WhileCase", 0), but(counting("x < 5"), C=Fraction(8))),
    Bad(premise("Q:WhileCase", 1), but(counting("x < 5"), s=stmt("x <- x + 2;"))),
    Bad(premise("Q:WhileCase", 1), but(counting("x < 5"), Q1=pot("0"))),
    Bad("P; X |- e1 unif", counting("tid.x < 3"), Refuted),
    Bad("P; X |- e1 unif", counting("A[y] < 3"), Unknown),
    Bad("P & e1; X |- e unif", waiting("x < tid.x", "n > 0"), Refuted, TICK),
    Bad("P & e1; X |- e unif", waiting("A[tid.x] < n", "x < 0"), Unknown, TICK),
    Bad("P; X |- Q + M.if + C >= 0", counting("x < 5", 0, -1000), Refuted),
    Bad("P & e & e1; X |- Q >= Q1", counting("x < 5", DIV + 1), Refuted),
    Bad("P & e & !e1; X |- Q >= Q1 + M.div", counting("x < 5", 1), Refuted),
    Bad("P & !e; X |- Q >= Q'", but(counting("x < 5"), Q_=pot("1")), Refuted),
    Bad("X' <= X \\ W(s)", but(counting("x < 5"), X_=frozenset("x"))),
    Bad(premise("Q:CaseSplit", 0), instead(split("x < 3"), 0, split("x < 3").premises[1]), None, TICK),
    Bad(premise("Q:CaseSplit", 1), instead(split("x < 3"), 1, split("x < 3").premises[0]), None, TICK),
    Bad(premise("Q:Ghost", 0), but(ERASED, Q=pot("0")), None, HAUNTED),
    Bad("s = s1 without x", but(ERASED, s=ZERO_Z), None, HAUNTED),
    Bad("x ghost in P, Q, P', Q'", erased(Const(0), ABOUT), None, HAUNTED),
    Bad("x ghost in P, Q, P', Q'", erased(Const(0), (), ABOUT), None, HAUNTED),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_refused_for_the_right_reason(bad: Bad) -> None:
    assert_refused(bad)


def test_every_item_above_the_bars_has_its_case() -> None:
    assert_every_item_is_refused(extensions.RULES, BAD)
