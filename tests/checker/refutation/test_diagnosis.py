"""Assumptions that are not needed, contradictions, and whose verdict a finding gives."""

from __future__ import annotations

import itertools
import time
from unittest import mock

import pytest

from checker import limits
from checker.cli.judged import judge
from checker.kernel import Claim, Theorem
from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.refutation.diagnosis import contradictory, unneeded
from logic.contracts import Contract
from logic.rules import PAPER, SOUND, RuleSet
from logic.syntax import Expr, show

ROW = """kernel k
metric sectors
block 32
param int n, m;
global int A[];
requires n % 8 == 0;
requires n % 4 == 0;
requires m > 0;
begin
  { true; 4; {} }
  A[n + tid.x] <- 1;
end
"""
ORACLE = Oracles()


def told(one: Expr | Contract) -> str:
    return str(one) if isinstance(one, Contract) else show(one)


@pytest.mark.parametrize("rules", [SOUND, PAPER], ids=lambda rules: rules.name)
def test_what_is_not_needed_can_be_dropped_all_together(rules: RuleSet) -> None:
    """4 | n follows from 8 | n, which is needed: with a row that starts anywhere it is 5 sectors."""
    judged = judge(parse_outline(ROW, "k.qhl"), rules, ORACLE)
    assert isinstance(judged.outcome, Claim | Theorem)
    assert judged.derivation is not None
    one = (judged.context, judged.derivation)
    assert sorted(map(told, unneeded([one], rules, ORACLE))) == ["m > 0", "n % 4 == 0"]
    assert unneeded([], rules, ORACLE) == ()
    steps = judge(parse_outline(ROW.replace("n + tid.x", "n * m"), "k.qhl"), rules, ORACLE)
    assert steps.derivation is not None
    free = (judged.context, steps.derivation)
    assert len(unneeded([free], rules, ORACLE)) == 3
    assert sorted(map(told, unneeded([free, one], rules, ORACLE))) == ["m > 0", "n % 4 == 0"]


def test_a_derivation_is_left_where_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each clock that is read is a second later: after the first nothing is asked any more, or dropped."""
    judged = judge(parse_outline(ROW, "k.qhl"), SOUND, ORACLE)
    assert judged.derivation is not None
    clock = itertools.count()
    monkeypatch.setattr(time, "thread_time", lambda: float(next(clock)))
    monkeypatch.setattr(limits, "UNNEEDED_SECONDS", 1.5)
    oracle = mock.Mock(side_effect=ORACLE)
    assert unneeded([(judged.context, judged.derivation)], SOUND, oracle) == ()
    assert oracle.call_count == 0


@pytest.mark.parametrize("rules", [SOUND, PAPER], ids=lambda rules: rules.name)
@pytest.mark.parametrize("edit", [("n % 4 == 0", "n % 2 == 1"), ("{ true;", "{ tid.x < 0;")])
def test_a_contradiction_is_noticed(rules: RuleSet, edit: tuple[str, str]) -> None:
    for text, found in ((ROW, False), (ROW.replace(*edit), True)):
        outcome = judge(parse_outline(text, "k.qhl"), rules, ORACLE).outcome
        assert isinstance(outcome, Claim | Theorem)
        assert contradictory(outcome, ORACLE) == found
