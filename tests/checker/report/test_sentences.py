"""Sentences about refusals: one for each fault, made in one place."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

from checker.report.sentences import DOMAINS, SENTENCES, sentence
from logic.assertions import Refuted, Unknown
from logic.potentials import sym
from logic.refusals import Fault, Refusal
from logic.rules import SOUND
from logic.schema import KINDS
from logic.syntax import Var

ROOT = Path(__file__).resolve().parents[3]
PRODUCT = [p for top in ("logic", "semantics", "checker", "proofs", "warpbound") for p in (ROOT / top).rglob("*.py")]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_fault_has_a_sentence_and_is_one_that_happens() -> None:
    faults = set(get_args(Fault))
    assert set(SENTENCES) == faults
    raised = {
        node.args[0].value
        for path in PRODUCT
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal"
        if node.args and isinstance(node.args[0], ast.Constant)
    }
    assert raised == faults


def test_sentences_are_made_for_people_alone() -> None:
    """Nothing but reports sees one, so nothing can take it apart again; a refusal is terms."""
    users = [name(p) for p in PRODUCT if "report.sentences" in p.read_text(encoding="utf-8")]
    assert users
    assert [user for user in users if not user.startswith("checker/report/")] == []


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (Refusal("rule", about="sound", name="Q:If5"), "the rule set 'sound' has no rule called 'Q:If5'"),
        (Refusal("domain", letter="A1", got="B"), "A1 has to be an array"),
        (Refusal("domain", letter="n", got=-1), "n has to be nonnegative"),
        (
            Refusal("uniform", expected=frozenset("x"), got=sym(Var("x")) + sym(Var("z")) + sym(Var("y"))),
            "the potential depends on y, z, which X does not list as uniform",
        ),
        (
            Refusal("term", SOUND.rules["Q:Weak"].conclusion, about="variables"),
            "the rule has no set of variables at {P1; Q1 + c; X1} s {P1'; Q1' + c; X1'}",
        ),
        (Refusal("type", letter="e", about="{odd} braces"), "e is ill-typed: {odd} braces"),
    ],
)
def test_terms_become_words(refusal: Refusal, told: str) -> None:
    assert sentence(refusal) == told


def test_only_what_is_refuted_is_called_false() -> None:
    open_, false = (Refusal("sum", about="warp.index", verdict=v) for v in (Unknown("z3"), Refuted("z3")))
    assert sentence(open_) == "that F covers the sum over warp.index could not be proved"
    assert sentence(false) == "that F covers the sum over warp.index does not hold"
    assert sentence(false, refuted=False) == sentence(open_)
    assert sentence(open_, refuted=True) == sentence(false)


def test_domains_are_of_kinds() -> None:
    assert DOMAINS.keys() <= set(KINDS.values())
