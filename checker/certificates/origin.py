"""The origin of a certificate: what the tool that wrote it says of the source that it read. It certifies nothing: who
has the source reads it again, and who has not sees what that reading took for granted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from logic.source import Loc

LONGEST: Final = 1000
"""The most characters of a text, all of them printable ASCII: the second checker refuses others."""

MOST: Final = 100
"""The most options, and the most sentences."""

SAID: Final = "said of the source, not checked: "

_NAMING: Final = ("--instantiate=", "--kernel=")
"""The options that tell a kernel from others of its name."""

UNKNOWN: Final = "unknown"
"""The head of a kernel that stands nowhere."""

Json = Any


@dataclass(frozen=True, slots=True)
class Origin:
    """The source's digest, the options with which it was read, the kernel's head as the source has it, and what reading
    assumed, as sentences."""

    source: str
    options: tuple[str, ...]
    head: str
    assumed: tuple[str, ...]

    @property
    def said(self) -> tuple[str, ...]:
        """The assumptions of reading, marked as the word of who made the certificate: no checker has seen the
        source."""
        return tuple(f"{SAID}{text}" for text in self.assumed)


def origin(
    data: bytes, options: Sequence[str], loc: Loc | None, lines: Sequence[str], assumed: Sequence[str]
) -> Origin:
    """The origin of a kernel at a place in the file with these lines; `data` is the file that was given."""
    head = _text(_head(lines, loc)) or UNKNOWN
    digest = f"sha256:{sha256(data).hexdigest()}"
    return Origin(digest, _listed(options), head, _listed(assumed))


def instance(name: str, made: Origin | None) -> str:
    """The name of a certificate's kernel: older ones name a template, and say the instance among their options, and
    the options have the parameters that tell it from others of its name."""
    asked = [text.partition("=")[2] for text in made.options if text.startswith(_NAMING)] if made else []
    last = re.compile(rf"(?:[\w:]*::)?({re.escape(name)}(?:<.*>|\(.*\)))")
    return next((found[1] for text in asked if (found := last.fullmatch(text))), name)


def _listed(texts: Sequence[str]) -> tuple[str, ...]:
    """The texts, the last one a count of those that are too many."""
    kept = texts if len(texts) <= MOST else [*texts[: MOST - 1], f"and {len(texts) - MOST + 1} more"]
    return tuple(map(_text, kept))


def _text(text: str) -> str:
    """The text in printable ASCII, cut where it is too long."""
    plain = " ".join(text.split()).encode("unicode_escape").decode()
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 3]}..."


def _head(lines: Sequence[str], loc: Loc | None) -> str:
    """The text from a kernel's place to the parenthesis that ends its parameters; nothing where there is none."""
    if loc is None or not 1 <= loc.line <= len(lines):
        return ""
    text = "\n".join((lines[loc.line - 1][max(loc.column, 1) - 1 :], *lines[loc.line : loc.line + 100]))
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == ")" and depth == 0:
            return text[: i + 1]
        if c in "{;" and depth == 0:
            break
    return ""


def as_json(found: Origin) -> dict[str, Json]:
    """The origin as a certificate has it."""
    return {
        "source": found.source,
        "options": list(found.options),
        "head": found.head,
        "assumed": list(found.assumed),
    }


def of_json(row: Json) -> Origin:
    """The origin that a certificate has. Raises TypeError, ValueError and KeyError."""
    if set(row) != {"source", "options", "head", "assumed"}:
        raise ValueError("'reading' has other fields")
    return Origin(_told(row["source"]), _several(row["options"]), _told(row["head"]), _several(row["assumed"]))


def _several(rows: Json) -> tuple[str, ...]:
    if not isinstance(rows, list):
        raise TypeError("no list of texts")
    if len(rows) > MOST:
        raise ValueError(f"'reading' has more than {MOST} options or sentences")
    return tuple(map(_told, rows))


def _told(x: Json) -> str:
    if not isinstance(x, str):
        raise TypeError("no text")
    if not 1 <= len(x) <= LONGEST or not (x.isascii() and x.isprintable()):
        raise ValueError("a text of 'reading' is empty, too long, or not of printable ASCII")
    return x


def as_row(tools: Mapping[str, str], found: Origin | None) -> dict[str, Json]:
    """Who made a certificate, of which source, with which options, as far as that is known."""
    return {
        "tools": dict(sorted(tools.items())),
        "source": found.source if found else None,
        "options": list(found.options) if found else [],
        "head": found.head if found and found.head != UNKNOWN else None,
    }


def sentences(made: Mapping[str, Json]) -> list[str]:
    """The same in words."""
    tools = dict(made["tools"])
    own = tools.pop("warpbound", "")
    others = ", ".join(f"{name} {version}" for name, version in tools.items())
    lines = [f"made by warpbound {own}{f' with {others}' if others else ''}"] if own else []
    if made["source"]:
        read = f", read with {' '.join(made['options'])}" if made["options"] else ""
        lines.append(f"the source was {made['source']}{read}")
    return lines + ([f"the source declares {made['head']}"] if made["head"] else [])
