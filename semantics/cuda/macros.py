"""The macros of a unit: what they stand for, and by which others. Those of the shim are kept from unit to unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

SPLICE: Final = re.compile(rb"\\[ \t\v\f]*\r?\n")
"""A backslash at the end of a line, which joins two lines to one."""

FIRST_ARGUMENT: Final = r'\((?:[^"()]|\((?:[^"()]|\([^"()]*\))*\))*,\s*(?:\\\s*)?'
"""From the parenthesis after a macro that is used to its second argument, or a later one: no string is between."""

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


LASTING: Final = (pastes, braces, separates)
"""What is asked of every unit, and so of the shim once."""


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
        a text has to be true of texts one below the other of which it is one: so what is true before stays true."""
        if says in self._sayings:
            return self._sayings[says]
        before = self.before if self.before and (says in LASTING or says(self.before.joined)) else None
        found = set(before.saying(says) if before else ())
        more = {n for n in self._changed if says(self.texts[n]) or not self.words[n].isdisjoint(found)} - found
        while more:
            found |= more
            more = {user for name in more for user in self.users(name)} - found
        if says in LASTING:
            self._sayings[says] = frozenset(found)
        return frozenset(found)

    @cached_property
    def _sayings(self) -> dict[Callable[[bytes], bool], frozenset[str]]:
        """The answers for what is LASTING."""
        return {}

    def users(self, name: str) -> Iterator[str]:
        """The macros that name one."""
        yield from self._users.get(name, ())
        if self.before:
            yield from self.before.users(name)

    @cached_property
    def _users(self) -> Mapping[str, Sequence[str]]:
        """For each word, the macros among the changed ones whose texts have it."""
        found: dict[str, list[str]] = {}
        for name in self._changed:
            for word in self.words[name]:
                found.setdefault(word, []).append(name)
        return found

    @cached_property
    def splitting(self) -> frozenset[str]:
        """The macros that may hold a `;`, by themselves or by others, and what begins a directive. Of what pastes words
        nothing is known."""
        return self.saying(separates) | {"#", "%:"}

    @cached_property
    def _changed(self) -> frozenset[str]:
        """The macros that something of `own` is a definition of, and of the first ones the command line's."""
        return frozenset(d.name for d in self.own) if self.before else frozenset(self.texts)

    @cached_property
    def joined(self) -> bytes:
        """All texts, one below the other."""
        return b"\n".join(self.texts.values())

    @cached_property
    def words(self) -> Mapping[str, frozenset[str]]:
        """The words in the text of every macro, without its name."""
        before = self.before.words if self.before else {}
        found = {name: _WORD.findall(self.texts[name].decode("latin-1")) for name in self._changed}
        return {**before, **{name: frozenset(inside) - {name} for name, inside in found.items()}}


def given(defines: Sequence[str]) -> Macros:
    """The macros of a command line: what follows each `-D`."""
    said = {d.partition("=")[0].partition("(")[0]: d.encode() for d in defines}
    return Macros((), frozenset(said), said)
