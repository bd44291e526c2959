"""Where statements of a C text begin and end: what an annotation stands before, whatever became of that."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

Place = tuple[int, int]
"""Line and column, in bytes, both from 1."""

_TOKEN: Final = re.compile(
    r"""
    (?P<gap> \s+ | //[^\n]* | /\*.*?(?:\*/|\Z) ) | (?P<directive> \#(?:[^\n\\]|\\.)* )
    | (?P<raw> R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)" ) | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
    | \w+ | .
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
LOOPS: Final = ("for", "while", "do")


@dataclass(frozen=True, slots=True)
class Text:
    """The tokens of a C text without comments and directives, and where each begins; `partner` has the index of the
    bracket that closes each bracket, and the other way around."""

    tokens: tuple[str, ...]
    places: tuple[Place, ...]
    partner: dict[int, int]

    def next(self, place: Place) -> int:
        """The first token after a place."""
        return bisect_right(self.places, place)

    def token(self, i: int) -> str:
        """A token; an empty one behind the last."""
        return self.tokens[i] if i < len(self.tokens) else ""

    def place(self, i: int) -> Place:
        """Where a token begins."""
        return self.places[i] if i < len(self.places) else (len(self.places) + 1 << 32, 1)

    def statement(self, i: int) -> int:
        """The token behind the statement that begins at a token: that token itself, where none does."""
        while True:
            match self.token(i):
                case "" | "}" | ")" | "]":
                    return i
                case "{":
                    return self.partner.get(i, len(self.tokens) - 1) + 1
                case "do":
                    end = self.statement(i + 1)
                    return self._simple(end) if self.token(end) == "while" else end
                case "for" | "while" | "switch" | "if":
                    inside = self._head(i)
                    end = self.statement(inside)
                    if self.token(i) != "if" or self.token(end) != "else":
                        return end
                    i = end + 1
                case "case" | "default":
                    while self.token(i) not in ("", ":", "}"):
                        i += 1
                    i += 1
                case _:
                    return self._simple(i)

    def _head(self, i: int) -> int:
        """The token behind the parentheses of a statement such as `if (..)`."""
        while self.token(i) not in ("", "(", ";", "}"):
            i += 1
        return self.partner.get(i, i) + 1

    def _simple(self, i: int) -> int:
        """The token behind a statement that ends with a semicolon, or with the braces behind what looks like a call."""
        while (token := self.token(i)) not in ("", "}", ")", "]"):
            if token == ";":
                return i + 1
            end = self.partner.get(i, i)
            if (
                token == "{"
                and i
                and self.tokens[i - 1] == ")"
                and self.token(end + 1) not in (";", ",", ".", "(", "[")
            ):
                return end + 1
            i = end + 1
        return i

    def function(self, place: Place) -> tuple[Place, Place] | None:
        """Where the function's body that a place is in begins and ends; None where it is in none."""
        for i, token in enumerate(self.tokens):
            if token == "{" and i in self.partner and self.places[i] <= place <= self.places[self.partner[i]]:
                before = i - 1
                while before > 0 and re.fullmatch(r"\w+|[-<>*&]", self.tokens[before]):  # const, -> T
                    before -= 1
                if self.tokens[before] == ")":
                    return self.places[i], self.places[self.partner[i]]
        return None


def read_text(source: str) -> Text:
    """The tokens of a C text."""
    tokens, places = list[str](), list[Place]()
    partner, open_ = dict[int, int](), list[int]()
    for text, place in _tokens(source):
        if text in _CLOSING:
            open_.append(len(tokens))
        elif open_ and text == _CLOSING[tokens[open_[-1]]]:
            begin = open_.pop()
            partner[begin], partner[len(tokens)] = len(tokens), begin
        tokens.append(text)
        places.append(place)
    return Text(tuple(tokens), tuple(places), partner)


def _tokens(source: str) -> Iterator[tuple[str, Place]]:
    line, start, at = 1, 0, 0
    while found := _TOKEN.match(source, at):
        text, begin = found[0], found.start()
        directive = found["directive"] is not None
        if directive and source[start:begin].strip():
            text, directive = "#", False
        if found["gap"] is None and not directive:
            yield text, (line, len(source[start:begin].encode()) + 1)
        if lines := text.count("\n"):
            line, start = line + lines, begin + text.rfind("\n") + 1
        at = begin + len(text)
