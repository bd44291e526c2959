"""The macros of a unit: what they stand for, and by which others. Those of the shim are kept from unit to unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

SPLICE: Final = re.compile(rb"\\[ \t\v\f]*\r?\n")
"""A backslash at the end of a line, which joins two lines to one."""

_WORD: Final = re.compile(r"[^\W\d]\w*")


def pastes(text: bytes) -> bool:
    """Whether a macro's text makes one word of two."""
    return b"##" in text or b"%:%:" in text


def braces(text: bytes) -> bool:
    """Whether a macro's text may hold a brace."""
    return b"{" in text or b"}" in text or pastes(text)


def separates(text: bytes) -> bool:
    """Whether a macro's text may hold a `;`."""
    return b";" in text or pastes(text)


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition of a macro: its name, its file, "" for clang's own and the command line's, its text with its name,
    and the byte offsets of the text's ends."""

    name: str
    file: str
    text: bytes
    span: tuple[int, int]


@dataclass(frozen=True)
class Macros:
    """The macros that are defined `before`, and those that `own` definitions add or define again."""

    own: Sequence[Definition]
    chosen: frozenset[str]
    """Those that the command line defines."""
    said: Mapping[str, bytes] = field(default_factory=dict)
    """What the command line has for them."""
    before: Macros | None = None

    def and_also(self, own: Sequence[Definition]) -> Macros:
        """These, and more definitions."""
        return Macros(own, self.chosen, {}, self)

    @cached_property
    def predefined(self) -> Mapping[str, bool]:
        """The macros that are defined somewhere, and whether it is clang that defines them."""
        here = {d.name: not d.file and d.name not in self.chosen for d in self.own}
        return {**self.before.predefined, **here} if self.before else here

    @cached_property
    def texts(self) -> Mapping[str, bytes]:
        """The text of every macro, its name included: of all its definitions, where there are several."""
        found = dict(self.before.texts if self.before else self.said)
        for d in self.own:
            found[d.name] = found.get(d.name, b"") + b" " + SPLICE.sub(b"", d.text)
        return found

    def written(self, file: str) -> Iterator[tuple[int, int]]:
        """The extents of the definitions in a file."""
        yield from (d.span for d in self.own if d.file == file)
        if self.before:
            yield from self.before.written(file)

    def saying(self, says: Callable[[bytes], bool]) -> frozenset[str]:
        """The macros of whose definitions something is true, by themselves or by others that they name. What is true of
        a text has to be true of texts one below the other of which it is one."""
        before = self.before
        some = self._changed if before and not says(before.joined) else self.texts
        found = {name for name in some if says(self.texts[name])}
        while more := {name for name in self.texts.keys() - found if not self.words[name].isdisjoint(found)}:
            found |= more
        return frozenset(found)

    @cached_property
    def splitting(self) -> frozenset[str]:
        """The macros that may hold a `;`, by themselves or by others, and what begins a directive. Of what pastes words
        nothing is known."""
        return self.saying(separates) | {"#", "%:"}

    @cached_property
    def _changed(self) -> frozenset[str]:
        """The macros that something of `own` is a definition of."""
        return frozenset(d.name for d in self.own)

    @cached_property
    def joined(self) -> bytes:
        """All texts, one below the other."""
        return b"\n".join(self.texts.values())

    @cached_property
    def words(self) -> Mapping[str, frozenset[str]]:
        """The words in the text of every macro, without its name."""
        before, some = (self.before.words, self._changed) if self.before else ({}, self.texts.keys())
        found = {name: _WORD.findall(self.texts[name].decode("latin-1")) for name in some}
        return {**before, **{name: frozenset(inside) - {name} for name, inside in found.items()}}


def given(defines: Sequence[str]) -> Macros:
    """The macros of a command line: what follows each `-D`."""
    said = {d.partition("=")[0].partition("(")[0]: d.encode() for d in defines}
    return Macros((), frozenset(said), said)
