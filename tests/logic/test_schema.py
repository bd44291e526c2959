"""Rules as data: their text parses, prints back the same, and bad text is refused."""

from __future__ import annotations

import pytest

from logic.rules import PAPER, RULE_SETS, SOUND
from logic.schema import Rule, SchemaError, kind, parse_item, show

ALL = [rule for rules in RULE_SETS.values() for rule in rules.rules.values()]


@pytest.mark.parametrize("rule", ALL, ids=lambda r: r.name)
def test_the_data_says_what_the_bar_says(rule: Rule) -> None:
    """The text of a rule and the data made of it agree in every character but white space."""
    data = [*(show(t) for t in rule.items), show(rule.conclusion)]
    text = "".join(line for line in rule.bar.splitlines() if not line.strip().startswith("---"))
    assert "".join("".join(data).split()) == "".join(text.split())


@pytest.mark.parametrize("rule", ALL, ids=lambda r: r.name)
def test_every_rule_names_its_source_and_known_kinds(rule: Rule) -> None:
    assert rule.source
    assert all(kind(name) for name in rule.metavariables)


def test_the_sound_set_holds_every_rule_of_figure_4() -> None:
    printed = "OQ:Var OQ:Const OQ:Param OQ:Tid EQ:Op EQ:GArray EQ:SArray Q:Skip Q:If1 Q:If2 Q:If3 Q:If4 Q:Seq Q:While1"
    printed += " Q:While2 Q:VWrite1 Q:VWrite2 Q:GWrite Q:SWrite Q:Weak"
    assert set(printed.split()) <= SOUND.rules.keys()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{P; Q; X} skip",
        "{P; Q} skip {P; Q; X}",
        "P |- ",
        "P; X |- e :",
        "{P; Q; X} x <- {P; Q; X}",
        "X <= ",
        "P; X |- MemReads(e) ? n",
        "c >= 1",
        "P |- P' P''",
        "{P; Z; X} skip {P; Q; X}",
        "{P; Q + M.iff; X} skip {P; Q; X}",
        "{P; Q + M.op(n); X} skip {P; Q; X}",
        "{P; Q + M.gread; X} skip {P; Q; X}",
    ],
)
def test_text_that_is_no_item_is_refused(text: str) -> None:
    with pytest.raises(SchemaError):
        parse_item(text)


@pytest.mark.parametrize("bar", ["P |- e", "----\n----\nP; X |- e : C", "P |- e\n----\nP |- e", "----"])
def test_a_rule_needs_one_bar_and_a_judgement_below(bar: str) -> None:
    with pytest.raises(SchemaError):
        Rule("Q:Odd", bar, "nowhere")


def test_what_others_ask_of_a_rule_is_read_off_its_text() -> None:
    rules = SOUND.rules
    assert {name for name, rule in rules.items() if rule.turns} == {"Q:While1", "Q:While2", "Q:WhileCase"}
    charged = {name for name, rule in rules.items() if rule.charges("div")}
    assert {"Q:If4", "Q:While2"} <= charged
    assert not {"Q:If1", "Q:While1", "Q:WhileCase", "Q:Unroll"} & charged
    assert rules["EQ:Op"].charges("op")
    assert not rules["EQ:Op"].charges("div")
    assert rules["Q:While1"].keeps_x
    assert not any(rules[name].keeps_x for name in ("Q:While2", "Q:WhileCase", "Q:VWrite1", "EQ:Op"))
    assert [rules[name].shape for name in ("Q:Skip", "Q:Seq", "Q:If2", "Q:Unroll", "Q:GWrite", "OQ:Var")] == [
        "skip", "seq", "if", "while", "write", "cost",
    ]  # fmt: skip


def test_what_a_rule_says_is_read_off_its_text() -> None:
    rules = SOUND.rules.values()
    assert {rule.name for rule in rules if not rule.printed} == {
        "Q:Sync", "Q:Frame", "Q:Unroll", "Q:WhileCase", "Q:CaseSplit", "Q:Ghost",
        "Q:Assume",
    }  # fmt: skip
    assert {rule.name for rule in rules if rule.agrees} == {
        "Q:If1", "Q:While1", "Q:WhileCase", "Q:CaseSplit", "Q:VWrite1",
    }  # fmt: skip
    assert [rule.name for rule in rules if rule.told] == ["Q:If1", "Q:If2", "Q:If3", "Q:If4", "Q:Unroll"]


def test_each_form_of_an_expression_has_a_rule_for_its_cost() -> None:
    forms = {"local", "param", "literal", "tid", "op 1", "op 2", "op 3", "read global", "read shared"}
    for rules in RULE_SETS.values():
        found = rules.for_costs()
        assert set(found) == forms
        assert all(rule.shape == "cost" for rule in found.values())
    assert SOUND.for_costs()["param"] is not PAPER.for_costs()["param"]  # erratum 8
