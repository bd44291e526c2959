"""How far loops are from their ends, and in how many turns their lanes part."""

from __future__ import annotations

from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.synthesis.flow import analyse
from checker.synthesis.measures import partings
from checker.synthesis.nodes import Cycle
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
