"""How far loops are from their ends, and in how many turns their lanes part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.synthesis import measures
from checker.synthesis.flow import analyse
from checker.synthesis.measures import partings
from checker.synthesis.nodes import Cycle
from logic.assertions import Context
from logic.metrics import METRICS
from logic.potentials import Poly, const, evaluate, sym
from logic.syntax import Param, Var
from tests.checker.synthesis.bounded import HEADER

N, X = sym(Param("n")), sym(Var("x"))


def parted(step: str, first: Poly, last: Poly) -> Poly | None:
    body = f"x <- 0; while (x < n) {{ A[x] <- 1; x <- {step}; }}"
    outline = parse_outline(f"{HEADER}{body}\nend", "k.qhl")
    (node,) = (node for node in analyse(outline, Oracles()).nodes if isinstance(node, Cycle))
    return partings(node, first, last, outline.context)


def test_in_how_many_turns_lanes_part_is_what_they_do() -> None:
    """Lanes that are up to so far apart, all of them: the turns in which some have left and others have not are no
    more, and as many for the worst of them."""
    for step in (1, 2, 3):
        for apart in (step, 5, 7):
            most = parted(f"x + {step}", N - X - apart, N - X)
            assert most is not None
            worst = 0
            for n in range(20):
                turns = {-(-max(n - lane, 0) // step) for lane in range(apart + 1)}
                told = evaluate(most, {Param("n"): n, Var("x"): 0})
                assert max(turns) - min(turns) <= told
                worst = max(worst, max(turns) - min(turns))
            assert worst == evaluate(most, {Param("n"): 99, Var("x"): 0})


def test_lanes_that_part_in_no_turn_of_their_own_or_are_not_known_to() -> None:
    assert parted("x + 8", N - X - 7, N - X) is None  # one turn, whatever they are
    assert parted("x + 1", X * -1, N - X) is None  # nobody knows how far
    assert parted("x * 3", N - X - 5, N - X) is None
    assert parted("x + 1", N - X, N - X) is None
    assert parted("x + 1", N - X - const(1), N - X) is not None


def test_what_a_loop_measures_is_found_once_for_all_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, lengths = list[tuple[Context, bool]](), measures.lengths

    def watched(node: Cycle, context: Context, wide: bool = False) -> Iterator[Poly]:
        asked.append((context, wide))
        return lengths(node, context, wide)

    monkeypatch.setattr(measures, "lengths", watched)
    outline = parse_outline(f"{HEADER}x <- 0; while (x < n) {{ A[x] <- 1; x <- x + 2; }}\nend", "k.qhl")
    (node,) = (node for node in analyse(outline, Oracles()).nodes if isinstance(node, Cycle))
    one = outline.context
    first = measures.measures(node, one)
    assert first == measures.measures(node, replace(one, metric=METRICS["steps"])) != []
    assert measures.measures(node, one, measures.Sort(wide=True)) != first
    narrow = replace(one, launch=replace(one.launch, block=(32, 1, 1)))
    assert measures.measures(node, narrow) == first
    first.clear()
    assert measures.measures(node, one) != []
    assert asked == [(one, False), (one, True), (narrow, False)]
