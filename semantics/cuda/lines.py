"""Lines and columns of the bytes of a source."""

from __future__ import annotations

import re
from bisect import bisect_right


class Source:
    """A file's bytes, for turning byte columns into character columns."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._ascii = data.isascii()
        self._starts = [0, *(m.end() for m in re.finditer(rb"\r\n|\n|\r", data))]
        try:
            data.decode()
            self._encoding = "utf-8"
        except UnicodeDecodeError:
            self._encoding = "latin-1"

    def line(self, offset: int) -> int:
        """The line that a byte is in, from 1."""
        return bisect_right(self._starts, offset)

    def place(self, offset: int) -> tuple[int, int]:
        """The line that a byte is in, and its character column, both from 1."""
        line = self.line(offset)
        return line, self.column(line, offset - self._starts[line - 1] + 1)

    def column(self, line: int, column: int) -> int:
        """The character column of a byte column; both count from 1."""
        if self._ascii or not 1 <= line <= len(self._starts):
            return column
        start = self._starts[line - 1]
        return len(self.data[start : start + column - 1].decode(self._encoding, "replace")) + 1
