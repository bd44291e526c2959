"""Numbers, counts and names as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fractions import Fraction


def many(n: int, what: str) -> str:
    """A number of things that have a plural in -s."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def number(value: Fraction) -> int | str:
    """A rational for JSON: an integer as a number, else the exact "p/q"."""
    return value.numerator if value.denominator == 1 else str(value)


def meant(name: str, known: Iterable[str]) -> str:
    """The question whether another name was meant, with a space behind it; nothing where none is near.

    >>> meant("sector", ("sectors", "steps")), meant("wa", ("wA", "wB")), meant("joules", ("sectors", "steps"))
    ("Did you mean 'sectors'? ", "Did you mean 'wA'? ", '')
    """
    names = [*known]
    near = [other for other in names if other.lower() == name.lower()] or get_close_matches(name, names, 1)
    return f"Did you mean '{near[0]}'? " if near else ""


def last_word(kernel: str) -> str:
    """The last word of a kernel's name, without the arguments of a template and the types of parameters.

    >>> last_word("a::gemm<16>"), last_word("a::gemm(const a::row *)")
    ('gemm', 'gemm')
    """
    return re.split("[<(]", kernel)[0].rpartition("::")[2].strip()


def shared(rows: Sequence[Sequence[str]]) -> list[str]:
    """The sentences that are the same for all of several; none where there are not several."""
    return [text for text in rows[0] if all(text in others for others in rows)] if len(rows) > 1 else []


def printable(text: str) -> str:
    """The text with U+FFFD for what is no character to print."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
