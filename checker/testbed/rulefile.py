"""Rule sets by name, or the sound rules and those of a user's file: FILE.rules, which is text, or FILE.py, which is run
as Python, in a process of its own: nothing that it prints, closes or changes reaches the one that judges."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from checker.notation.words import meant, printable
from logic.rules import RULE_SETS, SOUND, RuleSet
from logic.schema import Rule, SchemaError
from logic.source import Loc, SourceError

TEXT: Final = ".rules"

PYTHON: Final = ".py"

NOTHING: Final = "This certifies nothing: its rules are not those of the set 'sound'."
"""The warning on every result by other rules."""

LARGEST: Final = 1_000_000
"""The largest rule file, in bytes."""


class RuleFileProblem(SourceError):
    """A rule set that is not there, or a rule file that cannot be used."""


def rule_set(name: str, trust: bool = False) -> RuleSet:
    """The rule set called `name`, or the sound rules and those of a file. A file of Python is run where
    there is `trust`, and refused else.

    Raises RuleFileProblem. A set that a file makes is never SOUND, so it certifies nothing.
    """
    if name in RULE_SETS:
        return RULE_SETS[name]
    if not name.endswith((PYTHON, TEXT)):
        known = ", ".join((*RULE_SETS, "a file FILE.rules or FILE.py"))
        raise RuleFileProblem(f"no rule set is called '{name}'", advice=f"{meant(name, RULE_SETS)}Known: {known}.")
    if not Path(name).is_file():
        raise RuleFileProblem(
            f"cannot read '{name}': No such file or directory", advice="Give the path of a rule file."
        )
    if not Path(name).name.isprintable():
        raise RuleFileProblem(f"{name!r} is no name for a rule file", advice="Give it a name that can be printed.")
    found = text_rules(name) if name.endswith(TEXT) else _python_rules(name, trust)
    if not found:
        raise RuleFileProblem(f"'{name}' defines no rules", advice="`warpbound rules If4` shows how one is written.")
    return RuleSet(Path(name).name, {**SOUND.rules, **{rule.name: rule for rule in found}})


# --- text -------------------------------------------------------------------------------------------------------------

_BAR: Final = re.compile(r"\s*(-{3,})\s+(\S+)\s*")

_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]*:[A-Za-z][A-Za-z0-9]*")


def text_rules(path: str) -> list[Rule]:
    """The rules of a text, as `warpbound rules` prints them: what stands above the bar, the bar with the rule's name,
    the conclusion, then what one likes to say about it; an empty line before the next. Lines that begin with # are left
    out. Raises RuleFileProblem."""
    try:
        data = Path(path).read_bytes()
        if len(data) > LARGEST:
            raise RuleFileProblem(f"'{path}' is too large for a rule file", advice=f"At most {LARGEST} bytes are read.")
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise RuleFileProblem(f"cannot read '{path}': it is not UTF-8 text", advice="Save it as UTF-8.") from None
    except OSError as error:
        raise RuleFileProblem(f"cannot read '{path}': {error.strerror}") from None
    found: dict[str, Rule] = {}
    for block in _blocks(text):
        rule, place = _rule(block, path)
        if rule.name in found:
            raise RuleFileProblem(f"there are two rules called {rule.name}", place, "Give them different names.")
        found[rule.name] = rule
    return list(found.values())


Lines = list[tuple[int, str]]


def _blocks(text: str) -> Iterator[Lines]:
    """Lines between empty ones, with their numbers, without comments."""
    block: Lines = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.strip() and not line.lstrip().startswith("#"):
            block.append((number, line))
        elif not line.strip() and block:
            yield block
            block = []


def _rule(block: Lines, path: str) -> tuple[Rule, Loc]:
    """The rule of a block, and where its name stands. Raises RuleFileProblem."""
    bars = [(i, found) for i, (_, line) in enumerate(block) if (found := _BAR.fullmatch(line))]
    if len(bars) != 1:
        what = "no bar with a name" if not bars else "more than one bar"
        advice = "Write premises, a line such as ---- Q:Mine, and the conclusion; an empty line ends a rule."
        raise RuleFileProblem(f"a rule with {what}", Loc(path, block[0][0], 1), advice)
    ((at, bar),) = bars
    place = Loc(path, block[at][0], bar.start(2) + 1)
    if not _NAME.fullmatch(bar[2]):
        raise RuleFileProblem(f"'{bar[2]}' is no name for a rule", place, "Call it like Q:Mine.")
    if at + 1 == len(block):
        raise RuleFileProblem(f"{bar[2]} has no conclusion", place, "Write it below the bar.")
    below, *said = (line.strip() for _, line in block[at + 1 :])
    above = [line.strip() for _, line in block[:at]]
    _items([*block[:at], block[at + 1]], path)
    try:
        return Rule(bar[2], "\n".join((*above, bar[1], below)), said[0] if said else "", " ".join(said[1:])), place
    except SchemaError as problem:
        raise RuleFileProblem(f"{bar[2]}: {problem}", place, _HOW) from None


_HOW: Final = "`warpbound rules` shows how rules are written."


def _items(lines: Lines, path: str) -> None:
    """Raises RuleFileProblem at the first line that cannot be read."""
    from logic.schema import parse_item

    for number, line in lines:
        for part in re.finditer(r"\S+(?: {1,2}\S+)*", line):
            try:
                parse_item(part[0])
            except (SchemaError, RecursionError) as problem:
                told = str(problem) if isinstance(problem, SchemaError) else "it is nested too deeply"
                raise RuleFileProblem(told, Loc(path, number, part.start() + 1), _HOW) from None


# --- Python -----------------------------------------------------------------------------------------------------------

_RUN: Final = """
import json, os, sys, threading
parent = int(sys.argv[3])  # a pipe that ends when the process that holds its other end does
threading.Thread(target=lambda: os.read(parent, 1) or os._exit(1), daemon=True).start()
told = os.fdopen(os.dup(1), "w", encoding="ascii")
os.dup2(2, 1)
sys.path[:] = json.loads(sys.argv[2])
from checker.testbed.rulefile import outcome
told.write(json.dumps(outcome(sys.argv[1])))
told.close()
os._exit(0)
"""
"""The program of the other process: the file's rules, as data, are all that comes of it."""


def _python_rules(path: str, trust: bool) -> list[Rule]:
    """The rules of a file that is run. Raises RuleFileProblem."""
    if not trust:
        told = f"'{path}' would be run as Python, and may do whatever you may"
        raise RuleFileProblem(
            told, advice=f"Read it and say --trust, or write rules as text, FILE{TEXT}: no code runs."
        )
    end, held = os.pipe()
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", _RUN, path, json.dumps(sys.path), str(end)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            start_new_session=True,
            pass_fds=(end,),
        )
    finally:
        os.close(end)
        os.close(held)
    for line in done.stderr.decode("utf-8", "backslashreplace").splitlines():
        print(f"{Path(path).name} prints: {printable(line)}", file=sys.stderr, flush=True)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
        if "problem" in found:
            place = Loc(path, *found["place"]) if found["place"] else None
            raise RuleFileProblem(str(found["problem"]), place, str(found["advice"]))
        return [Rule(*map(str, row)) for row in found["rules"]]
    except (ValueError, TypeError, KeyError):
        raise RuleFileProblem(f"'{path}' failed: it ended the process that ran it") from None


def outcome(path: str) -> dict[str, Any]:
    """The outcome of running a file: its rules, or a problem with place and advice."""
    import runpy

    def problem(told: str, advice: str = "", place: Sequence[int] = ()) -> dict[str, Any]:
        return {"problem": told, "advice": advice, "place": list(place)}

    try:
        found = runpy.run_path(path).get("RULES")
    except SyntaxError as error:
        place = (error.lineno or 1, error.offset or 1)
        return problem(f"this is no Python: {error.msg}", "A rule file is a Python module.", place)
    except SchemaError as error:
        return problem(f"'{path}': {error}", _HOW)
    except BaseException as error:  # noqa: BLE001 - whatever the user's file raises is the user's to know
        return problem(f"'{path}' failed: {type(error).__name__}: {error}")
    if not isinstance(found, tuple) or not found or not all(isinstance(rule, Rule) for rule in found):
        return problem(f"'{path}' defines no rules", "Write RULES = (Rule(...), ...) in it.")
    return {"rules": [[rule.name, rule.bar, rule.source, rule.notes] for rule in found]}
