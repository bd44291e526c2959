"""The inputs of a reading: the files that it saw, by digests of the bytes that it saw, and the places where a file
would have been seen instead, had there been one. Another reading with the same options sees the same where all of these
are as they were; nothing here looks at times to say so.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from semantics.cuda.macros import SPLICE

if TYPE_CHECKING:
    from semantics.cuda.clang import Unit

HEADERS: Final = str(Path(__file__).with_name("headers"))
OURS: Final = (f"{HEADERS}/", str(Path(__file__).with_name("cuda_shim.h")))
"""Where our own headers are, which are a part of the tool (`shim`)."""

LOOKING: Final = b"__has_include", b"__has_include_next", b"__has_embed", b"__DATE__", b"__TIME__", b"__TIMESTAMP__"
"""What makes a text depend on more than on the files that it includes."""

ELSEWHERE: Final = (
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "CLANG_CONFIG_FILE_USER_DIR",
)
"""Variables of the environment that tell clang more than its options do."""

SLACK: Final = 0.1
"""Seconds by which clocks of a machine and of its files may differ."""

_DIRECTIVE: Final = re.compile(rb"(?:#|%:)(?:\s|/\*.*?\*/)*(?:include|import|embed|__include_macros)", re.DOTALL)
_PLAIN: Final = re.compile(rb'#[ \t]*include[ \t]*(?:"([^"\n\\]+)"|<([^>\n\\]+)>)')
_NAMED: Final = re.compile(rb'(?:include|include_next|import|embed)\s*\(?\s*(?:"([^"\n]+)"|<([^>\n]+)>)')
_WORD: Final = re.compile(rb"\w+")

Asked = tuple[tuple[bool, str], ...]
"""The names that a text includes: whether in quotes, beside the file at first, and the name."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The digests of files, by the paths that they were looked for at, and paths at which there was none."""

    files: tuple[tuple[str, str], ...]
    absent: tuple[str, ...]


@dataclass(slots=True)
class Watch:
    """A record of what is read, from `started` on, in seconds of the clock: digests of files by their paths, what they
    ask for, the folders that are looked in; and whether that is all."""

    started: float
    seen: dict[str, str] = field(default_factory=dict)
    asked: dict[str, Asked] = field(default_factory=dict)
    folders: tuple[str, ...] | None = None
    clear: bool = True

    def note(self, path: str, data: bytes) -> None:
        """These bytes were seen of a file."""
        digest, asked = sha256(data).hexdigest(), includes(data)
        if asked is None or self.seen.setdefault(path, digest) != digest:
            self.clear = False
        else:
            self.asked[path] = asked

    def look(self, folders: Sequence[str], defines: Iterable[str]) -> None:
        """Includes are looked for in these folders, in this order, in texts with these macros."""
        self.clear &= self.folders in (None, tuple(folders)) and all(includes(d.encode()) == () for d in defines)
        self.folders = tuple(folders)

    def inputs(self) -> Inputs | None:
        """All that was seen; None where that is not known for certain."""
        if not self.clear or any(name in os.environ for name in ELSEWHERE):
            return None
        found, absent = dict(self.seen), dict[str, None]()
        try:
            known = {_identity(path): path for path in self.seen}
            if any(Path(folder).is_file() or _is_ours(folder) for folder in self.folders or ()):
                return None
            for path, asked in self.asked.items():
                for quoted, name in asked:
                    beside = (str(Path(path).parent),) if quoted else ()
                    for place in self._places(beside, name):
                        there = self._there(place, known)
                        if there is None:
                            absent |= {} if place.startswith(OURS) else {place: None}
                            continue
                        if there:
                            found[place] = self.seen[there]
                        break
        except OSError:
            return None
        own = {path: digest for path, digest in found.items() if not path.startswith(OURS)}
        return Inputs(tuple(sorted(own.items())), tuple(absent))

    def _places(self, beside: Sequence[str], name: str) -> Iterator[str]:
        """Where an include is looked for."""
        if name.startswith("/"):
            yield name
            return
        for folder in (*beside, *(self.folders or ()), HEADERS):
            yield f"{folder}/{name}"

    def _there(self, place: str, known: dict[tuple[int, int], str]) -> str | None:
        """The path of the file at a place, as it was seen; "" for one that nobody asked for, and None where there is
        none. Raises OSError where that is not known: then somebody may have asked before it was there."""
        try:
            about = Path(place).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        path = known.get((about.st_dev, about.st_ino), "")
        ours = place.startswith(OURS)
        if not stat.S_ISREG(about.st_mode) or (not path and not ours and about.st_ctime > self.started - SLACK):
            raise OSError
        return path


def _identity(path: str) -> tuple[int, int]:
    about = Path(path).stat()
    return about.st_dev, about.st_ino


def _is_ours(folder: str) -> bool:
    """Whether a folder is that of our headers: clang then looks there last."""
    return Path(folder).exists() and Path(folder).samefile(HEADERS)


@lru_cache(maxsize=256)
def sought(data: bytes) -> tuple[str, ...]:
    """The files that a text names where it includes one, or asks whether there is one.

    >>> sought(b'#if __has_include("a.h")'), sought(b'#  include <b.h> // include "c.h"')
    (('a.h',), ('b.h', 'c.h'))
    """
    found = _NAMED.findall(SPLICE.sub(b"", data))
    return tuple(dict.fromkeys(os.fsdecode(quoted or name) for quoted, name in found))


@lru_cache(maxsize=256)
def includes(data: bytes) -> Asked | None:
    """The files that a text asks for, also where that is left out in the end; None where it may ask for others, or look
    at more than files.

    >>> includes(b'#include <a.h>'), includes(b'#include NAME'), includes(b'#if __has_include("a.h")')
    (((False, 'a.h'),), None, None)
    """
    text = SPLICE.sub(b"", data)
    if any(name.startswith(word) for word in set(_WORD.findall(text)) for name in LOOKING):
        return None  # parts of such a word can be put together
    return _directives(text)


def _directives(text: bytes) -> Asked | None:
    """The files that its directives name; None where one names none plainly."""
    found = []
    for directive in _DIRECTIVE.finditer(text):
        plain = _PLAIN.match(text, directive.start())
        if plain is None:
            return None
        found.append((bool(plain[1]), os.fsdecode(plain[1] or plain[2])))
    return tuple(dict.fromkeys(found))


_watch: list[Watch | None] = [None]


@contextmanager
def watching() -> Iterator[Watch]:
    """Notes what is read while the context lasts."""
    before, _watch[0] = _watch[0], (found := Watch(time.time()))
    try:
        yield found
    finally:
        _watch[0] = before


def note(path: str, data: bytes) -> None:
    """Says that these bytes of a file were read."""
    if (found := _watch[0]) is not None and not path.startswith(OURS):
        found.note(path, data)


def watch() -> Watch | None:
    """The record of what is read now, if there is one."""
    return _watch[0]


def since() -> float:
    """When that began: what was parsed before may have seen other files. 0 where nobody asks."""
    return _watch[0].started if _watch[0] else 0.0


@contextmanager
def telling(folders: Sequence[str], defines: Iterable[str]) -> Iterator[Callable[[Iterable[tuple[str, Unit]]], None]]:
    """For a parse with these folders to look in and macros: who is told which files a unit includes. Where it fails,
    not all is known."""
    found = _watch[0]
    if found is None:
        yield lambda _: None
        return
    try:
        yield lambda included: _tell(found, included)
    except BaseException:
        found.clear = False
        raise
    found.look(folders, defines)


def _tell(found: Watch, included: Iterable[tuple[str, Unit]]) -> None:
    """Takes the bytes that clang saw of each file. Those of our own are what this tool is, and need none."""
    for name, unit in dict(included).items():
        if name.startswith(OURS):
            found.asked.setdefault(name, _of_ours(name))
        elif (data := unit.contents(name)) is not None:
            found.note(name, data)
        else:
            found.clear = False


@cache
def _of_ours(path: str) -> Asked:
    return _directives(SPLICE.sub(b"", Path(path).read_bytes())) or ()
