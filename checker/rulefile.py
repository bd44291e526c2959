"""Rule sets by name or from a Python file that a user wrote: `RULES = (Rule(...), ...)`, on top of the sound rules."""

from __future__ import annotations

import runpy
from pathlib import Path

from logic.rules import RULE_SETS, SOUND, RuleSet
from logic.schema import Rule, SchemaError
from logic.source import Loc, SourceError


class RuleFileProblem(SourceError):
    """A rule set that is not there, or a rule file that cannot be used."""


def rule_set(name: str) -> RuleSet:
    """The rule set called `name`, or the sound rules and those of the file `name.py`. The file is run as Python.

    Raises RuleFileProblem. A set that a file makes is never SOUND, so it certifies nothing.
    """
    if name in RULE_SETS:
        return RULE_SETS[name]
    if not name.endswith(".py"):
        known = ", ".join((*RULE_SETS, "a file FILE.py"))
        raise RuleFileProblem(f"no rule set is called '{name}'", advice=f"Known: {known}.")
    if not Path(name).is_file():
        raise RuleFileProblem(
            f"cannot read '{name}': No such file or directory", advice="Give the path of a rule file."
        )
    try:
        found = runpy.run_path(name).get("RULES")
    except SyntaxError as error:
        place = Loc(name, error.lineno or 1, error.offset or 1)
        raise RuleFileProblem(f"this is no Python: {error.msg}", place, "A rule file is a Python module.") from None
    except SchemaError as error:
        raise RuleFileProblem(f"'{name}': {error}", advice="`warpbound rules` shows how rules are written.") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the user's file raises is the user's to know
        raise RuleFileProblem(f"'{name}' failed: {type(error).__name__}: {error}") from None
    if not isinstance(found, tuple) or not found or not all(isinstance(rule, Rule) for rule in found):
        raise RuleFileProblem(f"'{name}' defines no rules", advice="Write RULES = (Rule(...), ...) in it.")
    return RuleSet(Path(name).name, {**SOUND.rules, **{rule.name: rule for rule in found}})
