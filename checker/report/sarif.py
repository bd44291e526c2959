"""SARIF 2.1.0, the format in which tools hand findings to editors and code hosts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

Level = Literal["none", "note", "warning", "error"]


def log(
    rules: Iterable[tuple[str, Level, str]], results: Sequence[Mapping[str, Any]], properties: Mapping[str, Any]
) -> dict[str, Any]:
    """A log of one run; a rule is its name, its level and what it means."""
    described = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}
        for name, level, text in rules
    ]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "warpbound", "rules": described}},
        "columnKind": "unicodeCodePoints",
        "results": list(results),
    }
    if properties:
        run["properties"] = dict(properties)
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def message(text: str) -> dict[str, str]:
    """A message. Braces are doubled: single ones stand for arguments."""
    return {"text": re.sub(r"([{}])", r"\1\1", text)}


def place(file: str, line: int | None = None, column: int | None = None) -> dict[str, Any]:
    """A location: a file, and where in it."""
    uri = Path(file).as_uri() if Path(file).is_absolute() else quote(os.fsencode(file))
    found: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if line is not None:
        found["region"] = {"startLine": line} | ({} if column is None else {"startColumn": column})
    return {"physicalLocation": found}
