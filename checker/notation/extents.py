"""The extents of statements of a C text: what an annotation stands before, whatever became of that."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

Place = tuple[int, int]
"""Line and column, in bytes, both from 1."""

_TOKEN: Final = re.compile(
    r"""
    (?P<gap> \s+ | //(?:[^\n\\]|\\.)* | /\*.*?(?:\*/|\Z) ) | (?P<directive> \#(?:[^\n\\]|\\.)* )
    | (?P<raw> R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)" ) | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
    | \w+ | .
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
LOOPS: Final = ("for", "while", "do")
KERNEL: Final = "__global__"
_DEFINE: Final = re.compile(r"#\s*define\s+(\w+)")
_WORD: Final = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Text:
    """The tokens of a C text without comments and directives, and where each begins; `partner` has the index of the
    bracket that closes each bracket, and the other way around. `notes` are the comments that begin with //@ or /*@,
    with their lines and columns, in characters from 1; `bodies` the braces of functions that are in no other;
    `directives` are the texts of these."""

    tokens: tuple[str, ...]
    places: tuple[Place, ...]
    partner: dict[int, int]
    notes: tuple[tuple[int, int, str], ...]
    bodies: tuple[tuple[int, int], ...]
    directives: tuple[str, ...]

    def next(self, place: Place) -> int:
        """The first token after a place."""
        return bisect_right(self.places, place)

    def token(self, i: int) -> str:
        """A token; an empty one behind the last."""
        return self.tokens[i] if i < len(self.tokens) else ""

    def place(self, i: int) -> Place:
        """The place at which a token begins."""
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
        """The extent of the function's body that a place is in; None where it is in none."""
        around = ((self.places[i], self.places[end]) for i, end in self.bodies)
        return next(((start, end) for start, end in around if start <= place <= end), None)

    def called(self, begin: Place) -> str:
        """The name of the function whose body begins at a place."""
        i = bisect_right(self.places, begin) - 1
        return self.tokens[_parameters(self.tokens, self.partner, i) - 1]

    def is_kernel(self, begin: Place) -> bool:
        """Whether the function whose body begins at a place is a kernel by its text, or by a macro's in front of it."""
        end = bisect_right(self.places, begin) - 1
        i = _parameters(self.tokens, self.partner, end)
        while i > 0 and self.tokens[i - 1] not in (";", "}", "{"):
            i -= 1
        macros = {m[1] for text in self.directives if KERNEL in text and (m := _DEFINE.match(text))}
        return not {KERNEL, *macros}.isdisjoint(self.tokens[i:end])

    def reached(self, begins: Iterable[Place]) -> set[str]:
        """The names that the functions whose bodies begin at some places mention, and those functions that have these
        names, and so on; those that macros mention, too, and what is no call outside of functions."""
        own: dict[str, set[str]] = {}
        outside, at = set(_WORD.findall(" ".join(self.directives))), 0
        for i, end in self.bodies:
            outside |= {t for t, after in pairwise(self.tokens[at : i + 1]) if after != "("}
            own.setdefault(self.called(self.places[i]), set()).update(self.tokens[i:end])
            at = end
        outside.update(self.tokens[at:])
        found, todo = set[str](), [*outside, *(self.called(begin) for begin in begins)]
        while todo:
            if (name := todo.pop()) not in found:
                found.add(name)
                todo += own.get(name, ())
        return found


def _parameters(tokens: Sequence[str], partner: dict[int, int], i: int) -> int:
    """The parenthesis that opens the parameters of the function whose body may begin at a brace; -1 where it does
    not."""
    i -= 1
    while i > 0 and re.fullmatch(r"\w+|[-<>*&]", tokens[i]):  # const, -> T
        i -= 1
    i = partner.get(i, -1) if i > 0 and tokens[i] == ")" else -1
    while i > 2 and tokens[i - 2] in (":", ",") and tokens[i - 3] == ")":  # S(int n) : x(n), y(n)
        i = partner.get(i - 3, -1)
    return i


def read_text(source: str) -> Text:
    """The tokens of a C text."""
    tokens, places, notes, directives = list[str](), list[Place](), list[tuple[int, int, str]](), list[str]()
    partner, open_ = dict[int, int](), list[int]()
    for text, place in _tokens(source):
        if text.startswith(("//", "/*")):
            if text[2:3] == "@":
                notes.append((*place, text))
            continue
        if text.startswith("#") and len(text) > 1:
            directives.append(text)
            continue
        if text in _CLOSING:
            open_.append(len(tokens))
        elif open_ and text == _CLOSING[tokens[open_[-1]]]:
            begin = open_.pop()
            partner[begin], partner[len(tokens)] = len(tokens), begin
        tokens.append(text)
        places.append(place)
    bodies, end = list[tuple[int, int]](), -1
    for i, token in enumerate(tokens):
        if token == "{" and i > end and i in partner and _parameters(tokens, partner, i) >= 0:
            end = partner[i]
            bodies.append((i, end))
    return Text(tuple(tokens), tuple(places), partner, tuple(notes), tuple(bodies), tuple(directives))


def _tokens(source: str) -> Iterator[tuple[str, Place]]:
    """The tokens, and where each begins; among them comments and directives, with columns in characters."""
    line, start, at = 1, 0, 0
    while found := _TOKEN.match(source, at):
        text, begin = found[0], found.start()
        directive = found["directive"] is not None
        if directive and source[start:begin].strip():
            text, directive = "#", False
        if found["gap"] is None and not directive:
            yield text, (line, len(source[start:begin].encode()) + 1)
        elif not text.isspace():
            yield text, (line, begin - start + 1)
        if lines := text.count("\n"):
            line, start = line + lines, begin + text.rfind("\n") + 1
        at = begin + len(text)
