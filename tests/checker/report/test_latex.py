"""Rules typeset: every rule of every set, with balanced braces and no schema text left over."""

from __future__ import annotations

import pytest

from checker.report.latex import document, inference, name
from logic.rules import RULE_SETS
from logic.schema import Rule

ALL = [rule for rules in RULE_SETS.values() for rule in rules.rules.values()]


@pytest.mark.parametrize("rule", ALL, ids=lambda r: r.name)
def test_a_rule_is_typeset(rule: Rule) -> None:
    text = inference(rule)
    assert text.replace(r"\{", "").replace(r"\}", "").count("{") == text.replace(r"\{", "").replace(r"\}", "").count(
        "}"
    )
    assert f"({rule.name})" in text
    assert not any(left in text for left in ("|-", "<-", ">=", "<=", "&", " | "))


def test_if4_reads_like_the_paper() -> None:
    text = inference(RULE_SETS["sound"].rules["Q:If4"])
    assert r"\vdash_M \{P \wedge e; Q; X\}\ s_{1}\ \{P_{1}; Q_{1}; X_{1}\}" in text
    assert r"X' \subseteq (X \cap X_{1}) \setminus W(s_{1})" in text
    assert r"Q + M^{\mathrm{if}} + C + M^{\mathrm{div}}" in text


def test_names_and_documents() -> None:
    assert [name(n) for n in ("Q1'", "P", "X''", "op")] == ["Q_{1}'", "P", "X''", r"\mathbin{\mathrm{op}}"]
    whole = document(RULE_SETS["sound"].rules.values())
    assert whole.startswith(r"\documentclass")
    assert whole.count(r"\inferrule") == len(RULE_SETS["sound"].rules)
