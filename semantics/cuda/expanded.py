"""The text that macros make where no function is: explicit instantiations, and tables of instances.

libclang shows neither, so the text of a macro is put in its place here as the preprocessor would, `#` aside. What comes
of it only names instances to look for: a wrong one is left out again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from semantics.cuda.clang import Unit
from semantics.cuda.lost import blanked
from semantics.cuda.macros import SPLICE, Definition

_WORD: Final = re.compile(r"(?<!\w)[^\W\d]\w*")
_PASTE: Final = re.compile(r"\s*##\s*")
_MOST: Final = 1 << 16
"""The most characters that one use of a macro is made to."""


def expansions(unit: Unit, file: str, text: str) -> Iterator[tuple[int, str]]:
    """The places in a file's text where a macro is used that says `template`, or is passed one that does, and what
    stands there then."""
    own = dict[str, list[Definition]]()
    for d in unit.macros.own:
        own.setdefault(d.name, []).append(d)
    saying = unit.macros.saying(lambda said: b"template" in said) & own.keys()
    end = 0
    for m in _WORD.finditer(text) if saying else ():
        if m.start() < end or m[0] not in own:
            continue
        end = _given(text, m.end())[1]
        if not saying.isdisjoint(_WORD.findall(text[m.start() : end])):
            yield m.start(), _Here(own, file, m.start()).expanded(text[m.start() : end]) + ";"


def _given(text: str, at: int) -> tuple[list[str] | None, int]:
    """The arguments in parentheses after a place, and the place after them; None where there are none."""
    opened = at + len(text[at : at + 1_000]) - len(text[at : at + 1_000].lstrip())
    if text[opened : opened + 1] != "(":
        return None, at
    found, depth, start = list[str](), 0, opened + 1
    for i in range(opened, min(len(text), opened + _MOST)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if (text[i] == "," and depth == 1) or depth == 0:
            found.append(text[start:i].strip())
            start = i + 1
        if depth == 0:
            return found, i + 1
    return None, at


@dataclass
class _Here:
    """The macros at one place, and what they stand for."""

    macros: Mapping[str, Sequence[Definition]]
    file: str
    at: int
    left: int = 20_000
    """The words that are still looked at: macros of macros double."""

    def expanded(self, text: str, without: frozenset[str] = frozenset()) -> str:
        """A text with what its macros stand for, as far as it does not become too long."""
        made, at = list[str](), 0
        while (m := _WORD.search(text, at)) is not None and self.left > 0:
            self.left -= 1
            made.append(text[at : m.start()])
            at, said = m.end(), None if m[0] in without else self._said(m[0])
            if said is None:
                made.append(m[0])
            elif not said.startswith("("):
                made.append(self.expanded(said, without | {m[0]}))
            else:
                parameters, body = _given(said, 0)
                given, end = _given(text, at)
                if given is None:
                    made.append(m[0])
                    continue
                at, put = end, _put(said[body:], parameters or [], given)
                made.append(self.expanded(put, without | {m[0]}))
        return "".join((*made, text[at:]))[:_MOST]

    def _said(self, name: str) -> str | None:
        """The text that a macro stands for, its parameters first: of the last definition before the place in its file,
        else the last one of all."""
        several = self.macros.get(name)
        if not several:
            return None
        here = [d for d in several if d.file == self.file and d.span[0] < self.at]
        return blanked(SPLICE.sub(b" ", (here or several)[-1].text)).decode("latin-1").removeprefix(name)


def _put(body: str, parameters: Sequence[str], given: Sequence[str]) -> str:
    """The body of a macro with its arguments."""
    named = [p.removesuffix("...") or "__VA_ARGS__" for p in parameters if p]
    if parameters and parameters[-1].endswith("..."):
        given = [*given[: len(named) - 1], ", ".join(given[len(named) - 1 :])]
    values = dict(zip(named, given, strict=False))
    return _PASTE.sub("", _WORD.sub(lambda m: values.get(m[0], m[0])[:_MOST], body)[:_MOST])
