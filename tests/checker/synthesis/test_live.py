"""What is live, and what is kept of P when a loop is over."""

from __future__ import annotations

import pytest

from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.synthesis import live
from checker.synthesis.flow import analyse
from checker.synthesis.nodes import Cut
from checker.synthesis.outline import Block, bare
from logic.assertions import show_p
from tests.checker.synthesis.bounded import result, valid
from tests.logic.rules.applications import facts, stmt

ORACLE = Oracles()


def block(text: str) -> Block:
    return bare(stmt(text))


@pytest.mark.parametrize(
    ("text", "after", "before"),
    [
        ("x <- y;", "", "y"),
        ("x <- y;", "x y", "y"),
        ("x <- x + 1;", "x", "x"),
        ("A[x] <- y;", "", "x y"),
        ("x <- 0; y <- x;", "y", ""),
        ("if (b) { x <- 1; } else { x <- 2; }", "x", "b x"),  # lanes of one side wait with their x for the other
        ("if (b) { y <- x; } else { skip; }", "", "b x"),
        ("while (x < n) { x <- x + 1; y <- 0; }", "", "x"),
        ("while (x < n) { A[y] <- x; y <- 0; x <- x + 1; }", "", "x y"),
        ("while (x < n) { y <- 0; while (y < n) { y <- y + 1; } x <- x + 1; }", "", "x"),
    ],
)
def test_variables_live_before(text: str, after: str, before: str) -> None:
    assert live.before(block(text), frozenset(after.split())) == frozenset(before.split())


def test_what_the_next_turn_reads_is_live_at_the_end_of_a_turn() -> None:
    (loop,) = block("while (x < n) { A[y] <- x; y <- 0; x <- x + 1; }")
    assert live.turning(loop, frozenset()) == {"x", "y"}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("p", "dead", "changed", "kept"),
    [
        ("x >= n && y == 0", "x", "x", "y == 0"),
        ("x >= y", "x", "x", "true"),  # y is as it was before the loop
        ("x >= n && y == 2 * x", "x", "x y", "x >= n && y == 2 * x"),
        ("x >= n && z == x && y == z + 1", "x z", "x y z", "x >= n && z == x && y == z + 1"),
        ("x >= n && z >= 0 && y == x", "x z", "x y z", "x >= n && y == x"),
    ],
)
def test_facts_that_are_kept(p: str, dead: str, changed: str, kept: str) -> None:
    found = live.kept(facts(p), frozenset(dead.split()), frozenset(changed.split()))
    assert show_p(found) == show_p(facts(kept) if kept != "true" else ())


@pytest.mark.parametrize(
    ("p", "read", "left"),
    [
        ("x == n && y == 0", "y", "y == 0"),
        ("x == y + n && y == 0", "y", "y == 0"),
        ("x == y && y == z && z >= 0", "z", "z >= 0"),  # y when x is gone
        ("x == n && x >= 1", "", "x >= 1 && x == n"),  # n >= 1
        ("z == x / 2 && y == x", "y z", "y == x && z == x / 2"),
        ("x >= n", "", "x >= n"),
    ],
)
def test_what_only_dead_variables_are_is_dropped(p: str, read: str, left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert live.spoken(facts(p), frozenset(read.split())) == facts(p)  # of a few facts, none is
    monkeypatch.setattr("checker.limits.KNOWN", 0)
    assert {*live.spoken(facts(p), frozenset(read.split()))} == {*facts(left)}


def test_what_copies_are_is_forgotten_where_nothing_reads_them_any_more() -> None:
    names = [f"x{i}" for i in range(30)]
    header = f"kernel k\nmetric steps\nblock 32\nparam int n;\nglobal int A[];\nlocal int {', '.join(names)}, y;\n"
    copies = " ".join(f"{x} <- n + {i}; A[{x}] <- 0;" for i, x in enumerate(names))
    flow = analyse(parse_outline(f"{header}begin\n{copies} y <- 0; while (y < n) {{ y <- y + 1; }}\nend", "k"), ORACLE)
    (cut,) = (node for node in flow.nodes if isinstance(node, Cut))
    assert show_p(cut.state.p) == "y == 0"
    assert show_p(flow.end.p) == "y >= 0 && y >= n"


def test_what_an_invariant_has_is_not_forgotten_in_its_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.limits.KNOWN", 0)
    valid(result("z <- n / 2; y <- z; x <- 0; while (x < m) { A[y] <- 0; y <- x; x <- x + 1; }"))


def test_counters_are_forgotten_after_their_loops() -> None:
    header = "kernel k\nmetric steps\nblock 32\nparam int n;\nglobal int A[];\nlocal int x, y, z;\nbegin\n"
    loops = "x <- 0; z <- 1; while (x < n) { x <- x + 1; z <- 2; } y <- z; while (y < n) { y <- y + 1; }"
    flow = analyse(parse_outline(f"{header}{loops}\nend", "k"), ORACLE)
    (cut,) = (node for node in flow.nodes if isinstance(node, Cut))
    assert not any("x" in show_p((c,)) for c in cut.state.p)
    assert "z" in show_p(cut.state.p)
    assert "x" not in cut.state.x
    assert "y >= n" in show_p(flow.end.p)  # nothing follows that would have to carry it
