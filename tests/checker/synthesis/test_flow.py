"""What the forward pass proposes: facts, uniform variables and rules. The kernel believes none of it."""

from __future__ import annotations

import pytest

from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.synthesis.counters import steps
from checker.synthesis.flow import analyse
from checker.synthesis.nodes import Cut, Cycle, Flow, Fork, Step
from logic.assertions import Context, Obligation, Unknown, show_p
from logic.facts import Facts
from logic.syntax import same
from tests.logic.rules.applications import facts, stmt

HEADER = """kernel k
metric steps
block 32
param int n;
global int A[];
local int x, y;
local bool b;
begin
"""
ORACLE = Oracles()


def flow(body: str) -> Flow:
    return analyse(parse_outline(f"{HEADER}{body}\nend", "k"), ORACLE)


def after(body: str, index: str = "b ? x : y") -> tuple[str, str]:
    """P and X at the end, where a cost depends on an index."""
    end = flow(f"{body} A[{index}] <- 0;").end
    return show_p(end.p), " ".join(sorted(end.x))


@pytest.mark.parametrize(
    ("body", "p", "x"),
    [
        ("x <- n;", "x == n", "x"),
        ("x <- tid.x;", "x == tid.x", ""),
        ("x <- tid.x / 32;", "x == tid.x / 32 && x == warp.index", "x"),
        ("x <- A[n];", "true", "x"),
        ("x <- A[tid.x];", "true", ""),
        ("x <- A[tid.x] % 7;", "x < 7 && x > -7", ""),
        ("x <- A[tid.x] & 7;", "x <= 7 && x >= 0", ""),
        ("x <- n; x <- x + 1;", "x - 1 == n", "x"),
        ("x <- n; x <- x - y;", "x + y == n", ""),
        ("x <- n; y <- x; x <- 0;", "x == 0 && y == n", "x y"),
        ("x <- n; y <- x; x <- tid.x;", "x == tid.x && y == n", "y"),
        ("x <- n; y <- x * x; x <- A[0];", "y == n * n", "x y"),
        ("x <- n; x <- x * 2;", "x == n * 2", "x"),
        (
            "x <- tid.x; x <- x > 7 ? 7 : x; x <- x + (x >> 1);",
            "x == min(7, tid.x) + (min(7, tid.x) >> 1)",
            "",
        ),
        ("x <- n < 0 ? 0 : n;", "x == max(0, n)", "x"),
        ("x <- n > 7 ? 7 : n + 1;", "x <= max(7, n + 1) && x == (n > 7 ? 7 : n + 1) && x >= min(7, n + 1)", "x"),
        ("x <- tid.x <= n ? tid.x : n;", "x == min(tid.x, n)", ""),
        ("x <- n >= 3 ? n - 3 : 0;", "x == max(n - 3, 0)", "x"),
        ("x <- n > 3 ? n - 3 : 0;", "x == max(n - 3, 0)", "x"),
        ("x <- n > 1 ? n - 3 : 0;", "x <= max(n - 3, 0) && x == (n > 1 ? n - 3 : 0) && x >= min(n - 3, 0)", "x"),
        ("x <- A[0] > 1 ? n : 3;", "x <= max(n, 3) && x >= min(n, 3)", "x"),
        ("x <- n; y <- x; x <- x + A[0];", "y == n", "x y"),
        ("x <- y; y <- x + 1; x <- 0;", "x == 0", "x"),
        ("skip; A[0] <- 1; sync;", "true", ""),
        ("b <- x < n;", "b == x < n", ""),
    ],
)
def test_assignments(body: str, p: str, x: str) -> None:
    assert after(body) == (p, x)


@pytest.mark.parametrize(
    ("body", "index", "p", "x"),
    [
        ("x <- n; y <- x + 1;", "0", "true", ""),
        ("x <- n; y <- x + 1;", "x", "x == n", "x"),
        ("x <- n; y <- x + 1;", "y", "x == n && y == x + 1", "x y"),
        ("x <- n; y <- A[x];", "0", "x == n", "x"),
        ("x <- n; A[0] <- A[x];", "0", "x == n", "x"),
        ("x <- n; y <- 9; while (y > 0) { x <- x - 1; y <- y - 1; }", "0", "y <= 0 && y <= 9 && y >= 0", "y"),
        ("x <- n; y <- x; b <- y > 0; if (b) { skip; }", "0", "b == y > 0 && x == n && y == x", "b x y"),
        ("x <- n; y <- x; assume(y > 0);", "0", "x == n && y == x && y > 0", "x y"),
    ],
)
def test_nothing_is_asked_about_what_no_cost_depends_on(body: str, index: str, p: str, x: str) -> None:
    assert after(body, index) == (p, x)


def test_a_negative_dividend_has_no_lower_bound_of_zero() -> None:
    assert "x >= 0" not in after("x <- A[tid.x] % 7;")[0]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("if (n > 0) { skip; }", "Q:If1"),
        ("if (A[n] > 0) { skip; }", "Q:If1"),
        ("if (tid.x < 16) { skip; }", "Q:If4"),
        ("if (tid.x < 32) { skip; }", "Q:If2"),
        ("if (tid.x >= 32) { skip; }", "Q:If3"),
        ("if (x > 0) { skip; }", "Q:If4"),
        ("if (A[0] == A[0]) { skip; }", "Q:If1"),
        ("while (n > 0) { skip; }", "Q:While1"),
        ("while (x > 0) { skip; }", "Q:While2"),
        ("while (tid.x < 16) { skip; }", "Q:While2"),
        ("if [Q:If4] (n > 0) { skip; }", "Q:If4"),
        ("if [Q:If1] (tid.x < 16) { skip; }", "Q:If1"),
        ("while [Q:While2] (n > 0) { skip; }", "Q:While2"),
    ],
)
def test_the_rule_is_the_sharpest_that_can_be_shown_or_the_one_that_is_asked_for(body: str, rule: str) -> None:
    (node,) = flow(body).nodes
    assert isinstance(node, Fork | Cycle)
    assert node.rule == rule


def test_an_oracle_that_cannot_tell_leaves_the_rules_that_need_nothing() -> None:
    def silent(obligation: Obligation, context: Context) -> Unknown:
        return Unknown("silent", f"{obligation} {context.scope}")

    outline = parse_outline(f"{HEADER}x <- n; if (n > 0) {{ skip; }} while (n > 0) {{ skip; }}\nend", "k")
    step, fork, cycle = analyse(outline, silent).nodes
    assert isinstance(step, Step)
    assert isinstance(fork, Fork)
    assert isinstance(cycle, Cycle)
    assert (step.uniform, fork.rule, cycle.rule) == (False, "Q:If4", "Q:While2")


def test_a_divergent_branch_keeps_what_no_lane_changed() -> None:
    assert after("x <- n; y <- n; if (tid.x < 16) { x <- 1; }")[1] == "y"
    assert after("x <- n; y <- n; if (n < 16) { x <- 1; }")[1] == "x y"
    assert after("if (tid.x < 16) { x <- 1; } else { x <- 1; }")[1] == ""


def test_a_join_keeps_what_both_sides_show() -> None:
    p, _ = after("if (tid.x < 16) { x <- 3; } else { x <- 3; y <- 1; }")
    assert p == "x == 3"
    p, _ = after("if (n < 16) { skip; } else { x <- 4; }")
    assert p == "true"


@pytest.mark.parametrize(
    ("body", "p"),
    [
        ("if (n < 16) { x <- 3; } else { x <- 4; }", "x <= 4 && x >= 3"),
        ("x <- n; if (A[0] > 0) { x <- n - 2; }", "x <= n && x >= n - 2"),
        ("if (tid.x < 16) { x <- n; } else { x <- 2*n; }", "x <= max(n, 2 * n) && x >= min(n, 2 * n)"),
        ("if (n < 16) { x <- n; } else { x <- 16; }", "x == min(n, 16)"),
        ("x <- tid.x - n; if (x < 0) { x <- 0; }", "x == max(0, tid.x - n) && x >= 0"),
        ("x <- tid.x + 4; if (x > n - 1) { x <- n - 1; }", "x <= n - 1 && x == min(n - 1, tid.x + 4)"),
        ("x <- n; if (x < 2) { x <- 0; }", "x <= max(0, n) && x >= min(0, n)"),
        ("if (n < 16) { x <- y; y <- 2; } else { x <- 4; }", "true"),
        ("x <- 0; if (n > 2) { x <- 2; } if (n > 4) { x <- 4; }", "x <= 4 && x >= 0"),
    ],
)
def test_what_a_variable_is_after_either_side(body: str, p: str) -> None:
    facts = after(body)[0].split(" && ")
    assert [c for c in facts if c[0] != "n"] == p.split(" && ")


def loop(body: str) -> Cycle:
    return next(node for node in flow(body).nodes if isinstance(node, Cycle))


def test_an_invariant_has_bounds_residues_and_what_is_not_touched() -> None:
    cycle = loop("y <- 5; x <- 1; while (x < n) { x <- x + 4; } A[y] <- 0;")
    facts = set(show_p(cycle.invariant.p).split(" && "))
    assert {"x >= 1", "x % 4 == 1", "y == 5"} <= facts
    assert "x <= n" not in facts
    assert "x == 1" not in facts
    assert cycle.invariant.x == {"x", "y"}
    assert show_p(cycle.after.p).count("x >= n") == 1


def test_a_counter_stays_below_its_bound_only_where_it_starts_there() -> None:
    assert "x <= 9" in show_p(loop("x <- 0; while (x < 9) { x <- x + 1; }").invariant.p)
    assert "x <= 9" not in show_p(loop("x <- 0; while (x < 9) { x <- x + 2; }").invariant.p)
    assert "x <= 9" not in show_p(loop("x <- n; while (x < 9) { x <- x + 1; }").invariant.p)


def test_what_a_body_makes_divergent_is_not_uniform_at_the_head() -> None:
    assert loop("x <- 0; while (x < n) { x <- x + tid.x; }").rule == "Q:While2"
    assert loop("x <- 0; y <- 0; while (x < n) { x <- x + y; y <- tid.x; }").invariant.x == set()


def test_a_stated_invariant_is_never_dropped() -> None:
    cycle = loop("x <- 0; while (x < n) invariant { x == 7; _; {x, y} } { x <- x + 1; }")
    assert "x == 7" in show_p(cycle.invariant.p)
    assert cycle.invariant.x == {"x", "y"}


def test_a_condition_adds_facts_and_replaces_what_is_uniform() -> None:
    found = flow("{ n > 3; _; {y} } x <- n; { x > 2; _; _ } skip;")
    assert (show_p(found.start.p), found.start.x) == ("n > 3", frozenset("y"))
    assert (show_p(found.end.p), found.end.x) == ("n > 3 && x == n && x > 2", frozenset("xy"))
    assert sum(isinstance(node, Cut) for node in found.nodes) == 2


def test_the_program_of_a_flow_is_the_outlines() -> None:
    text = "x <- 0; if (n > 0) { y <- 1; } else { y <- 2; } while (x < n) { x <- x + 1; if (b) { skip; } }"
    outline = parse_outline(f"{HEADER}{text}\nend", "k")
    assert same(analyse(outline, ORACLE).stmt, outline.kernel.body)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x <- x + 2;", {2}),
        ("x <- x - 3;", {3}),
        ("x <- 2 + x;", {2}),
        ("if (b) { x <- x + 1; } else { x <- x + 4; }", {1, 4}),
        ("x <- x * 2;", set()),
        ("x <- x + n;", set()),
        ("y <- y + 1;", set()),
        ("x <- x;", set()),
    ],
)
def test_steps(text: str, found: set[int]) -> None:
    assert steps("x", stmt(text), Facts(())) == found


def test_steps_by_a_known_number() -> None:
    assert steps("x", stmt("x <- x + y;"), Facts(facts("y == 4"))) == {4}
    assert steps("x", stmt("x <- x + y; y <- 2;"), Facts(facts("y == 4"))) == set()


@pytest.mark.parametrize(
    ("block", "value", "found"),
    [
        ("256", "((tid.z*blockDim.y + tid.y)*blockDim.x + tid.x)/32", "x == warp.index"),
        ("256", "8*blockIdx.x + tid.x/32", "x == 8 * blockIdx.x + warp.index"),
        ("16, 16", "tid.z + tid.y/2", "x == warp.index"),
    ],
)
def test_a_warp_of_the_first_row_of_threads(block: str, value: str, found: str) -> None:
    """What a thread's number in a block is made of is 0 along axes on which there is one thread."""
    header = HEADER.replace("block 32", f"block {block}")
    p = analyse(parse_outline(f"{header}x <- {value}; A[x] <- 0;\nend", "k"), ORACLE).end.p
    assert found in show_p(p)
