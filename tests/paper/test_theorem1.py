"""Theorem 1, p. 14: a derivation covers every run from a state of its precondition, and says what holds at its end.

One property a rule: what its premises mean gives what its conclusion means. `warpbound trial sound` goes on from here.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.report.trials import drawn
from checker.testbed.trial import Coverage, Trial, run_case
from logic.rules import SOUND
from tests.examples import LONG, examples

USES = 100 if LONG else 3

STATEMENTS = [name for name, rule in SOUND.rules.items() if rule.conclusion.head == "triple"]


@pytest.mark.whole
@pytest.mark.parametrize("rule", STATEMENTS)
def test_every_rule_is_right_where_it_is_used(rule: str) -> None:
    """At least three derivations that the kernel accepts use it, and no run costs more or ends elsewhere."""
    trial, seen = Trial(SOUND, (rule,), 1), Coverage()
    for i in range(100 * USES):
        violation = run_case(trial, i, seen)
        assert violation is None, "\n".join(drawn(violation.case, trial))
        if seen.rules[rule] >= USES:
            break
    assert seen.rules[rule] >= USES
    assert seen.runs >= 4 * USES


@given(st.integers(0, 10**9))
@examples(30, 2000)
def test_theorem_1(seed: int) -> None:
    violation = run_case(Trial(SOUND, (), seed), 0, Coverage())
    assert violation is None, violation
