"""Places in source texts, and the one family of errors that point at them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Loc:
    """A place in a file: line and column count from 1, columns in characters. The source of a certificate is ""."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        if not self.file:
            return f"line {self.line}, column {self.column} of the source"
        return f"{self.file}:{self.line}:{self.column}"


class SourceError(Exception):
    """Unusable input: one sentence, the place where known, and what to do about it.

    Every phase that reads what a person typed has its own subclass (`CudaError`, `SyntaxProblem`, ...);
    the command line prints them all alike, with the source line and a caret, and exits with `code`.
    """

    code, rule = 2, "unusable"

    def __init__(self, message: str, loc: Loc | None = None, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.loc = loc
        self.advice = advice
        self.source: str | None = None
        """The text that `loc` is in, where it is no file: an option's value, say."""
        self.told = False
        """Whether a result that says so was printed already."""
