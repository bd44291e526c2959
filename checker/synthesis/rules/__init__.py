"""How each rule is used: when it applies, what it needs before, and its derivation. A file a family.

A transformer has two halves. `forward` goes with the flow: from what holds before a statement to the node that says
what holds after it, or None where the rule does not apply. `before` goes against it: from the potential that is wanted
after the node to a proof (`checker.synthesis.walk`). Nothing here is trusted: the kernel judges what comes out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from checker.synthesis.rules import branches, loops, printed, steps
from checker.synthesis.rules.transformer import Book, Transformer
from logic import rules as logic

ALWAYS, NEVER = branches.ALWAYS, branches.NEVER


def _tried(family: tuple[Transformer, ...]) -> tuple[str, ...]:
    return tuple(t.rule for t in family if not t.by_name)


_ALL: Final[dict[str, Transformer]] = {t.rule: t for t in (*steps.RULES, *branches.RULES, *loops.RULES)}

SOUND: Final = Book(logic.SOUND, _ALL, _tried(steps.RULES), _tried(branches.RULES), _tried(loops.RULES))
"""The sound rules: all that is certified goes by them."""

PRINTED: Final = replace(SOUND, judged=logic.PAPER, rules=_ALL | {t.rule: t for t in printed.RULES}, printed=True)
"""The rules as printed."""
