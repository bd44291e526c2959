"""The smallest change: what is told has been judged, and nothing is told where nothing helps."""

from __future__ import annotations

import pytest

from checker.cli.judged import judge
from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.refutation.diagnosis import claimed
from checker.refutation.repair import Outcome, advice, edited, partials
from checker.synthesis.outline import Outline
from checker.synthesis.walk import Stuck
from logic.assertions import AtMost, Unknown
from logic.derivation import Derivation
from logic.refusals import Refusal
from logic.rules import SOUND
from logic.source import Loc
from logic.syntax import Const, Var

HALVES = """kernel k
metric sectors
block 32
param int n;
global int A[];
local int x, y;
requires n >= 0;
begin
  { true; |[0, n]|; {} }
  x <- n;
  while (!(x == 0)) invariant { _; |[0, x]|; {x} } {
    A[0] <- 1;
    x <- x / 2;
  }
end
"""
ORACLE = Oracles()


def advised(text: str) -> str:
    """What is advised for a refused outline."""
    outline = parse_outline(text, "k.qhl")

    def again(other: Outline) -> tuple[Outcome, Derivation | None]:
        judged = judge(other, SOUND, ORACLE)
        return judged.outcome, judged.derivation

    problem, _ = again(outline)
    assert isinstance(problem, Refusal | Stuck)
    return advice(outline, problem, again, ORACLE)


def test_an_invariant_that_is_missing() -> None:
    """The guard !(x == 0) does not say that x counts down to 0 from above, and of a minimum nobody guesses it."""
    assert advised(HALVES.replace("x / 2", "min(x / 2, n)")) == "The invariant x >= 0 at the loop in line 11 would do."


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{ true; |[0, n]|;", "{ true; |[0, n]| - 3;", "Adding 3 to the potential in line 9 would do."),
        ("{ true; |[0, n]|;", "{ true; |[0, n]| / 2;", "Adding 1/2*max(0, n) to the potential in line 9 would do."),
        ("_; |[0, x]|; {x}", "x >= 0; |[0, x]|; {x, y}", "Not listing y as uniform in line 11 would do: {x}."),
        ("_; |[0, x]|; {x}", "x >= 0; |[0, x]|; {}", "Listing x as uniform in line 11 would do: {x}."),
    ],
)
def test_changes_of_one_place(old: str, new: str, told: str) -> None:
    text = HALVES.replace("{ _;", "{ x >= 0;").replace(old.replace("_;", "x >= 0;"), new)
    assert new in text
    assert told in advised(text)


def test_what_only_helps_one_side_condition_is_told_as_such() -> None:
    told = advised(HALVES.replace("x / 2", "x"))
    assert told == "Adding 1 to the potential in line 11 would do here; then something fails in line 12."


def test_a_count_that_can_be_shown() -> None:
    outline = parse_outline(HALVES, "k.qhl")
    o = AtMost("MemReads", (), frozenset(), "A", Var("x"), 3)
    problem = Refusal("side condition", obligation=o, verdict=Unknown("lanes"), loc=Loc("k.qhl", 12, 5))
    never: tuple[Outcome, None] = (problem, None)
    assert advice(outline, problem, lambda _: never, ORACLE) == "MemReads <= 32 can be shown here."
    shown = AtMost("MemReads", (), frozenset(), "A", Const(0), 3)
    fits = Refusal("side condition", obligation=shown, verdict=Unknown("lanes"))
    assert advice(outline, fits, lambda _: never, ORACLE) == ""


def test_every_condition_is_found_and_edited() -> None:
    text = HALVES.replace("A[0] <- 1;", "if (x > 3) { { true; 1; {} } A[0] <- 1; } else { { _; _; _ } skip; }")
    body = parse_outline(text, "k.qhl").body
    assert len(list(partials(body))) == 4
    assert edited(body, lambda item: item) == body


def test_what_an_outline_claims() -> None:
    outline = parse_outline(HALVES, "k.qhl")
    pre = claimed(outline)
    assert pre is not None
    assert str(pre) == "{true; max(0, n); {}}"
    assert claimed(parse_outline(HALVES.replace("  { true; |[0, n]|; {} }\n", ""), "k.qhl")) is None
