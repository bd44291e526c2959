"""How each rule is used: when it applies, what it needs before, and its derivation. A file a family.

A transformer has two halves. `forward` goes with the flow: from what holds before a statement to the node that says
what holds after it, or None where the rule does not apply. `before` goes against it: from the potential that is wanted
after the node to a proof (`checker.synthesis.walk`). Nothing here is trusted: the kernel judges what comes out.
"""

from __future__ import annotations

from typing import Final

from checker.synthesis.rules import branches, loops, printed, steps
from checker.synthesis.rules.transformer import Transformer

ALWAYS, NEVER = branches.ALWAYS, branches.NEVER

SOUND: Final[dict[str, Transformer]] = {t.rule: t for t in (*steps.RULES, *branches.RULES, *loops.RULES)}

PRINTED: Final[dict[str, Transformer]] = SOUND | {t.rule: t for t in printed.RULES}
"""The same for the rules as printed."""


def _tried(family: tuple[Transformer, ...]) -> tuple[str, ...]:
    return tuple(t.rule for t in family if not t.by_name)


STEPS: Final = _tried(steps.RULES)
BRANCHES: Final = _tried(branches.RULES)
LOOPS: Final = _tried(loops.RULES)
"""The rules for a kind of statement, in the order in which they are tried."""
