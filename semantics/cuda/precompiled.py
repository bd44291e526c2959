"""The shim as clang keeps it once parsed, which most of the time of a parse goes into otherwise.

It is kept for each set of options that comes often, in a file that has no name any more: nobody can change it, and it
goes with the process. Where that does not work, the shim is parsed as any other file.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from semantics.cuda.clang import ClangFailed, Prefix, Unit
from semantics.cuda.shim import PATH

MOST: Final = 16
"""The most sets of options that it is kept for."""

OFTEN: Final = 4
"""The time that options come at which it is kept for them: keeping it takes as long as three parses."""

DESCRIPTORS: Final = Path("/dev/fd")
"""The folder in which a file is found by the number that it is open under."""

Way = tuple[tuple[str, ...], Prefix | None]
"""Options, and the prefix of units that are parsed with them; None where these begin with nothing that is kept."""

_kept: dict[tuple[str, ...], Way | int] = {}
"""What stands for options; for those that came less often, how often that was."""


def precompiled(options: tuple[str, ...]) -> Way:
    """The same options with the shim as it was parsed before, if they came often, or else as they are."""
    found = _kept.get(options, 0)
    if not isinstance(found, int):
        return found
    if found + 1 < OFTEN:
        if found or len(_kept) < MOST:
            _kept[options] = found + 1
        return options, None
    _kept[options] = way = _parsed(options) or (options, None)
    return way


def _parsed(options: tuple[str, ...]) -> Way | None:
    place = options.index(PATH)
    others = (*options[: place - 1], *options[place + 1 :])
    with suppress(OSError, ClangFailed), TemporaryDirectory() as folder:
        unit = Unit(PATH, Path(PATH).read_bytes(), others, first=True)
        file = Path(folder) / "shim"
        prefix = unit.save(str(file))
        opened = DESCRIPTORS / str(os.open(file, os.O_RDONLY))
        if opened.exists():
            return (*others, "-include-pch", str(opened)), prefix
    return None
