"""SARIF 2.1.0, the format in which tools hand findings to editors and code hosts.

Hosts want more than the format does: a version and an address of the tool, help and a full description of each rule,
one result a place, a line for each place, and fingerprints that stay when lines move.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from checker import VERSION
from logic.source import Loc

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

ABOUT: Final = "https://doi.org/10.1145/3434306"
"""The paper whose logic this is: where a reader of a log finds what it is about."""

FINGERPRINT: Final = "warpbound/v1"

Level = Literal["none", "note", "warning", "error"]

HELP: Final[Mapping[str, str]] = {
    "not-proved": "No bound was found, or a side condition of it could not be proved. The claim may be true: state an "
    "assumption, an invariant or a potential in a comment, or give the sizes of the launch.",
    "holey": "The bound holds where the barriers listed are reached by all threads of a block together. Move them "
    "out of branches on threadIdx, or see by reading that they are.",
    "timeout": "The search took longer than it may. Give it more time, or state what is known of the kernel.",
    "out-of-memory": "The search took more memory than it may. Give it more, or state what is known of the kernel.",
    "crashed": "The process that looked at this kernel ended. This is a fault in warpbound or in a library of it.",
    "budget": "The kernel costs more than its budget in the configuration, or is not proved to keep to it.",
    "grew": "The certified bound is higher than before, at the point that is told. Look at what changed in the kernel.",
    "dearer": "On the input that is told a warp of the new version costs more than any of the old one: run both.",
    "lost": "There was a certified bound before, and there is none any more: whether the cost grew is not known.",
    "refuted": "A run costs more than was stated of all runs. Where a certified bound is refuted, this is a fault in "
    "warpbound: do not rely on it.",
    "unsupported": "The kernel uses what cannot be read, at the place that is told: nothing is said of what it costs.",
    "rejected": "The derivation or the certificate does not prove its claim: `warpbound check` says which step fails.",
    "invalid": "The second checker does not accept the certificate: it was changed, or never proved its claim.",
    "solver-backed": "Both checkers accept it so far, but the side conditions that are listed rest on the word of a "
    "solver. --accept solver-backed takes that for enough.",
    "not-certified": "The two checkers do not both verify a count that this rests on.",
    "divergence": "In the run that is told, some threads of a block reach a barrier that others do not: CUDA leaves "
    "undefined what happens.",
    "broken": "What the source assumes inside the kernel, or requires of data, does not hold: no bound speaks of this.",
    "unreadable": "The file cannot be read as what it is taken for: nothing is said of what it claims.",
    "out-of-bounds": "An access is outside of its array: test the index, as `if (i < n)` does, or give the array more "
    "elements.",
    "deadlock": "The small machine waits at a barrier for ever, for threads that never come.",
    "unsound": "The rules allow a derivation that a run does not keep to: they must not be used.",
    "on-trial": "A bound that rests on rules of one's own, which nobody proved sound. It certifies nothing, whatever "
    "they are: `warpbound trial` looks for a run that refutes them.",
    "untried": "No derivation could be made that tries these rules: nothing is known of them.",
    "survived": "No trial told the changed rule from the rule: the trials are too weak, or the change changes nothing.",
    "uncoalesced": "A warp needs more lines of global memory than its lanes would in consecutive places, wherever they "
    "lie. `warpbound coalesce` says why.",
    "conflicting": "Lanes of a warp want different words of one bank of shared memory, which takes turns. `warpbound "
    "coalesce` says why.",
    "misaligned": "A warp needs one line more than it would if all its lanes were moved by one distance.",
    "exceeded": "The code that the compiler made needs more than is certified of the source: the bound is right for "
    "the source, and does not cover this code. `warpbound compiled` says which access it is.",
    "unknown": "The access was not proved to be good, and no example shows that it is bad.",
    "vacuous": "No launch satisfies what the certificate assumes: anything follows from that.",
    "certified": "Both checkers accept the certificate, and the second one verified all of it without a solver.",
    "other-source": "The kernel of this name is another program than the one that the certificate is about.",
    "other-launch": "The source launches the kernel with sizes that no certificate here speaks of.",
    "worse": "Compared with an older certificate, the bound grew, or rests on more than before.",
    "unusable": "The input cannot be used: nothing was judged.",
}
"""What a rule says in full, and what to do about it."""


def log(
    rules: Iterable[tuple[str, Level, str]],
    results: Sequence[Mapping[str, Any]],
    properties: Mapping[str, Any],
    problem: str = "",
) -> dict[str, Any]:
    """A log of one run; a rule is its name, its level and what it means; `problem` is what ended it, if it was ended.
    Results of one rule at one place become one."""
    described = [
        {
            "id": name,
            "name": "".join(word.capitalize() for word in name.split("-")) + "Rule",
            "shortDescription": {"text": _ended(text[:1].upper() + text[1:])},
            "fullDescription": {"text": HELP[name]},
            "help": {"text": HELP[name], "markdown": HELP[name]},
            "defaultConfiguration": {"level": level},
            "properties": {"tags": ["performance", "cuda"], "precision": "very-high"},
        }
        for name, level, text in rules
    ]
    numbers = {rule["id"]: i for i, rule in enumerate(described)}
    driver = {"name": "warpbound", "semanticVersion": VERSION, "version": VERSION, "informationUri": ABOUT}
    invocation: dict[str, Any] = {"executionSuccessful": not problem}
    if problem:
        invocation |= {"exitCode": 2, "toolExecutionNotifications": [{"level": "error", "message": message(problem)}]}
    run: dict[str, Any] = {
        "tool": {"driver": {**driver, "rules": described}},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [{**r, "ruleIndex": numbers[r["ruleId"]]} for r in _named(_merged(results))],
    }
    if properties:
        run["properties"] = dict(properties)
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _merged(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One result for each rule and place: the messages of those that are the same, and their properties as lists."""
    found: dict[str, dict[str, Any]] = {}
    for i, r in enumerate(results):
        key = f"{r['ruleId']} {r['locations'] or i}"
        if key not in found:
            found[key] = dict(r)
            continue
        old = found[key]
        if r["message"]["text"] not in old["message"]["text"].split("\n"):
            old["message"] = {"text": f"{old['message']['text']}\n{r['message']['text']}"}
        if "properties" in r:
            old["properties"] = {k: _both(old["properties"][k], v) for k, v in r["properties"].items()}
    return list(found.values())


def _both(a: Any, b: Any) -> Any:
    """The property of two results as one: the texts of both."""
    lists = [x if isinstance(x, list) else [x] for x in (a, b)]
    return a if a == b else list(dict.fromkeys(lists[0] + lists[1]))


def _named(results: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results with fingerprints: of the rule, the file and the text of the line, which stay when lines move; those
    that are alike are counted."""
    seen: Counter[str] = Counter()
    found = []
    for r in results:
        where = r["locations"][0]["physicalLocation"] if r["locations"] else {}
        uri = where.get("artifactLocation", {}).get("uri", "")
        text = _line(uri, where.get("region", {}).get("startLine", 0))
        about = f"{r['ruleId']}\n{uri}\n{text or re.sub(r'[0-9]+', '', r['message']['text'].partition(':')[0])}"
        seen[about] += 1
        print_ = hashlib.sha256(f"{about}\n{seen[about]}".encode(errors="replace")).hexdigest()
        found.append({**r, "partialFingerprints": {FINGERPRINT: print_}})
    return found


def _line(uri: str, number: int) -> str:
    """The line of a file, without the white space around it; nothing where it cannot be read."""
    try:
        path = Path(unquote(uri.removeprefix("file://")))
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except (OSError, ValueError):
        return ""
    return lines[number - 1].strip() if path.suffix in (".cu", ".qhl", ".simt", ".cuh") and number <= len(lines) else ""


def message(text: str) -> dict[str, str]:
    """A message, which ends as a sentence does. Braces are doubled: single ones stand for arguments."""
    return {"text": _ended(re.sub(r"([{}])", r"\1\1", text))}


def _ended(text: str) -> str:
    return text if text.rstrip()[-1:] in (".", "!", "?", "") else f"{text.rstrip()}."


def place(file: str, line: int | None = None, column: int | None = None) -> dict[str, Any]:
    """A location: a file, and where in it: at its beginning where it is about all of the file."""
    uri = Path(file).as_uri() if Path(file).is_absolute() else quote(os.fsencode(file))
    region = {"startLine": max(line or 1, 1)} | ({} if column is None or line is None else {"startColumn": column})
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}


ENDS: Final = {
    "unusable": "the input cannot be used",
    "broken": "what the source requires does not hold",
    "invalid": "the certificate was changed, or is malformed",
}
"""What ends a run before there is a result, by rule."""


def unusable(text: str, loc: Loc | None, rule: str = "unusable") -> dict[str, Any]:
    """The log of a run that ended because its input cannot be used, or by another rule."""
    where = [place(loc.file, loc.line, loc.column)] if loc and loc.file else []
    result = {"ruleId": rule, "level": "error", "message": message(text), "locations": where}
    rules: list[tuple[str, Level, str]] = [(rule, "error", ENDS[rule])]
    return log(rules, [result] if where else [], {}, text)
