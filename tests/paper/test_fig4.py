"""Fig. 4, p. 12: the rules of the logic. Both rule sets have each of them, and what we changed says so; accepted and
rejected applications are in tests/logic/rules, a file a family."""

import pytest

from logic.rules import PAPER, SOUND
from tests.paper.where import TESTS

FIGURE = (
    "OQ:Var", "OQ:Const", "OQ:Param", "OQ:Tid", "EQ:Op", "EQ:GArray", "EQ:SArray", "Q:Skip", "Q:Seq", "Q:If1", "Q:If2",
    "Q:If3", "Q:If4", "Q:While1", "Q:While2", "Q:VWrite1", "Q:VWrite2", "Q:GWrite", "Q:SWrite", "Q:Weak",
)  # fmt: skip


@pytest.mark.parametrize("name", FIGURE)
def test_rule(name: str) -> None:
    ours, printed = SOUND.rules[name], PAPER.rules[name]
    assert "Fig. 4" in ours.source
    assert ours is printed or "as printed" in printed.source
    assert any(f'"{name}"' in path.read_text(encoding="utf-8") for path in (TESTS / "logic" / "rules").glob("*.py"))
