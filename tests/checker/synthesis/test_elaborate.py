"""The backward pass: costs, potentials where ways meet, weakening, and what it says when it is stuck."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log2

import pytest
from hypothesis import given

from checker.kernel import Ledger, check
from checker.notation import parse_kernel, parse_outline
from checker.notation.contracts import parse_contract
from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.elaborate import Elaborator, _paying, weaken
from checker.synthesis.flow import analyse
from checker.synthesis.ghosts import cycles
from checker.synthesis.nodes import Cut, State
from checker.synthesis.outline import Outline, bare
from checker.synthesis.walk import Point, Proof, Stuck
from logic.assertions import Condition, Context, Launch, Triple
from logic.derivation import Derivation, size
from logic.metrics import METRICS
from logic.potentials import ZERO, Poly, const, element_of, max0, minimum, operated, sym
from logic.rules import SOUND
from logic.syntax import Const, Op, Param, Skip, Stmt, Var, While, statements
from logic.typing import check_kernel
from tests.checker.programs import BODIES, TINY, kernel
from tests.examples import examples
from tests.logic.rules.applications import CONTEXT, ORACLE, at, expr, judged, pot, skip

ELABORATOR = Elaborator(CONTEXT, ORACLE, ORACLE.least)
HEADER = "kernel k\nmetric steps\nblock 32\nparam int n;\nglobal int A[];\nlocal int x, y;\nbegin\n"


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("3", 2),
        ("x", 1),
        ("n", 3),
        ("tid.y", 1),
        ("-x", 6),
        ("x + n", 9),
        ("(x < n ? 1 : 2)", 9 + 2 + 2 + 5),
        ("A[n]", 3 + 19),
        ("A[tid.x]", 1 + 19 * 4),
        ("A[n + tid.x]", 9 + 19 * 5),
        ("S[2 * tid.x]", 8 + 23 * 2),
        ("A[A[0]]", 2 + 19 + 19),
    ],
)
def test_costs_are_proved_as_proposed(text: str, cost: int) -> None:
    e = expr(text)
    found, derivation = ELABORATOR.cost((), frozenset(), e)
    assert found == Fraction(cost)
    proved = judged(derivation)
    assert (proved.expr, proved.cost) == (e, Fraction(cost))  # type: ignore[union-attr]


def test_weakening_where_nothing_changes_adds_nothing() -> None:
    held = at("x > 0", "|[x, n]|", "x")
    c = Point(held.p, held.q, held.x)
    proof = Proof(c, Skip(), c, skip(held))
    assert weaken(proof, c, c) is proof
    more, less = at("x > 1", "1 + |[x, n]|", "x y"), at()
    weaker = weaken(proof, Point(more.p, more.q, more.x), Point(less.p, less.q, less.x))
    assert judged(weaker.derivation) == Triple(more, Skip(), less)


def test_where_two_ways_meet_the_larger_potential_is_needed_or_their_maximum() -> None:
    any_, low = State((), frozenset("x")), State(at("x < n").p, frozenset("x"))
    assert ELABORATOR.larger(any_, pot("3"), any_, pot("2")) == pot("3")
    assert ELABORATOR.larger(any_, pot("2"), any_, pot("3")) == pot("3")
    assert ELABORATOR.larger(any_, pot("|[x, n]|"), low, pot("n - x")) == pot("|[x, n]|")
    assert ELABORATOR.larger(any_, pot("n"), any_, pot("x")) == pot("max(n, x)")
    assert ELABORATOR.larger(low, pot("1"), any_, pot("n - x")) == pot("n - x")
    assert ELABORATOR.larger(any_, pot("n - x"), low, pot("1")) == pot("n - x")
    assert ELABORATOR.larger(low, pot("n - x"), any_, pot("1")) == pot("max(n - x, 1)")
    assert ELABORATOR.larger(any_, pot("1"), low, pot("n - x")) == pot("max(1, n - x)")


def test_indices_are_cut_to_the_ends_of_contracts_and_all_else_stays() -> None:
    """Elements beyond the last one that a contract speaks of are cut off; what other operators give is left alone."""
    kernel = parse_kernel("kernel k\nparam int n;\nglobal int A[];\nlocal int x;\nbegin\nskip;\nend", "k")
    sigma = replace(check_kernel(kernel), stable=frozenset("A"))
    contracts = parse_contract("forall i in [0, n): A[i] <= A[i + 1]", sigma, "k").contracts
    context = Context(sigma, CONTEXT.metric, CONTEXT.hardware, Launch((32, 1, 1), contracts=contracts))
    here = Elaborator(context, ORACLE, ORACLE.least)
    x, n = sym(Var("x")), sym(Param("n"))
    p = (Op("<=", (Var("x"), Param("n"))), Op(">=", (Param("n"), Const(0))))
    masked, element = operated("&", x, n), element_of("elem:A", x)
    told = here.clamped(State(p, frozenset("x")), element + masked)
    assert told - masked == element_of("elem:A", minimum(x, max0(n)))
    assert here.clamped(State(p, frozenset("x")), masked) == masked


def proof_of(body: str) -> Proof[Poly]:
    outline = parse_outline(f"{HEADER}{body}\nend", "k.qhl")
    oracle = Oracles()
    flow = analyse(outline, oracle)
    elaborator = Elaborator(outline.context, oracle, oracle.least)
    proof = elaborator.block(flow, Point(flow.end.p, ZERO, flow.end.x))
    theorem = check(proof.derivation, SOUND, outline.context, oracle, Ledger())
    pre, post = (Condition(c.p, c.q, c.x) for c in (proof.pre, proof.post))
    assert theorem.judgement == Triple(pre, proof.stmt, post)
    return proof


LOOP = "x <- 0; while (x < n) invariant {{ _; 100*|[x, n]| + {}; {{x}} }} {{ x <- x + 1; }}"
"""What the loop's potential leaves after it is what it was, without 4."""


@pytest.mark.parametrize(
    ("body", "q"),
    [
        ("", "0"),
        ("{ true; 5; {} }", "5"),
        ("x <- 1;", "2"),
        ("if (n > 0) { x <- 1; } else { sync; }", "6"),
        ("if (tid.x < 3) { x <- 1; } else { sync; }", "8"),
        ("if (tid.x < 32) { x <- 1; } else { while (true) { skip; } }", "6"),
        ("if (tid.x >= 32) { while (true) { skip; } } else { x <- 1; }", "6"),
        ("{ true; 9; {} } x <- 1; { true; 4; {} } x <- 1;", "9"),
        (LOOP.format(30), "32 + 100*|[0, n]|"),
        (LOOP.format(12) + "y <- 1;", "14 + 100*|[0, n]|"),
        (LOOP.format(4) + "y <- 1;", "8 + 100*|[0, n]|"),
        (LOOP.format(30) + "{ true; 40; {} }", "72 + 100*|[0, n]|"),
    ],
)
def test_the_potential_at_the_start(body: str, q: str) -> None:
    assert proof_of(body).pre.q == pot(q)


PLACES = """\
x <- 0;
while (x < n) invariant { x >= 0; 50*|[x, n]| + 9; {x} } {
    if (tid.x < 3) { y <- 1; } else { y <- 2; } x <- x + 1;
}
while (x != x) invariant { _; 9; {x} } { skip; }
sync;
"""


def test_every_statement_of_a_proof_has_its_place() -> None:
    """In the derivation and in the program that it is about: what is said of a loop is said at its `while`."""
    proof = proof_of(PLACES)
    found: dict[str, set[tuple[int, int]]] = {}
    todo = [proof.derivation]
    while todo:
        node = todo.pop()
        todo += node.premises
        assert node.loc is not None, node.rule
        found.setdefault(node.rule, set()).add((node.loc.line, node.loc.column))
    assert found["Q:While1"] == {(9, 1), (12, 1)}
    assert (found["Q:If4"], found["Q:Sync"]) == ({(10, 5)}, {(13, 1)})
    placed = [(type(s).__name__, s.loc.line, s.loc.column) for s in statements(proof.stmt) if s.loc is not None]
    assert [p for p in placed if p[0] in ("While", "If")] == [("While", 9, 1), ("If", 10, 5), ("While", 12, 1)]


def test_a_sequence_is_a_balanced_tree() -> None:
    proof = proof_of("x <- 1;" * 200)
    assert proof.pre.q == const(400)
    depth, level = 0, [proof.derivation]
    while level:
        depth, level = depth + 1, [p for d in level for p in d.premises]
    assert depth < 3 * log2(200) + 6
    assert size(proof.derivation) < 5 * 200


@pytest.mark.parametrize(
    ("body", "line", "column", "rule", "message"),
    [
        ("\n while (x < n) { skip; }", 9, 2, "Q:While2", "the loop has no potential"),
        ("x <- tid.x / 32 * 32 / 32; { _; |[0, x]|; {x} } skip;", 8, 1, "Q:VWrite1", "the potential depends on 'x'"),
        ("x <- A[n]; { _; |[0, x]|; {x} } skip;", 8, 1, "Q:VWrite1", "the potential depends on 'x' after this"),
    ],
)
def test_stuck(body: str, line: int, column: int, rule: str, message: str) -> None:
    with pytest.raises(Stuck) as caught:
        proof_of(body)
    stuck = caught.value
    assert stuck.loc is not None
    assert (stuck.loc.line, stuck.loc.column, stuck.rule) == (line, column, rule)
    assert stuck.message.startswith(message)
    assert stuck.advice


@pytest.mark.parametrize("known", ["", "{ x >= 0; _; _ } "])
def test_what_a_loop_pays_stands_where_the_assumption_does_that_begins_it(known: str) -> None:
    body = f"x <- 0;\nwhile (x < n) {{ {known}\n  assume x < 9;\n  x <- x + 1; }}\nend"
    (cycle,) = cycles(analyse(parse_outline(HEADER + body, "k.qhl"), ORACLE))
    paid = _paying(cycle.body, const(5))
    (cut,) = (node for node in paid.nodes if isinstance(node, Cut) and node.q == const(5))
    assert cut.loc is not None
    assert (cut.loc.line, cut.loc.column) == (HEADER.count("\n") + 3, 3)
    assert [node for node in paid.nodes if node is not cut] == [*cycle.body.nodes]


def loop_free(s: Stmt) -> bool:
    return not any(isinstance(t, While) for t in statements(s))


@examples(15, 2000)
@given(BODIES.filter(loop_free))
def test_every_program_without_a_loop_has_a_bound_that_the_kernel_accepts(body: Stmt) -> None:
    k = kernel(body)
    context = Context(check_kernel(k), METRICS["steps"], TINY, Launch((6, 1, 1)))
    for result in find_bounds(Outline(k, context, bare(body)), tuple(METRICS.values()), Oracles()):
        assert result.verdict == "certified", result.problem
        assert isinstance(result.derivation, Derivation)
        assert result.claim is not None
        assert result.claim.pre.q.is_constant
