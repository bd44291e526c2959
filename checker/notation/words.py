"""Numbers, counts and names as text."""

from __future__ import annotations

from fractions import Fraction


def many(n: int, what: str) -> str:
    """A number of things that have a plural in -s."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def number(value: Fraction) -> int | str:
    """A rational for JSON: an integer as a number, else the exact "p/q"."""
    return value.numerator if value.denominator == 1 else str(value)


def printable(text: str) -> str:
    """The text with U+FFFD for what is no character to print."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
