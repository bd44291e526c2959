"""The shim as clang keeps it once parsed, which most of the time of a parse goes into otherwise.

It is kept for each set of options that comes twice, in a file that has no name any more: nobody can change it, and it
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

DESCRIPTORS: Final = Path("/dev/fd")
"""The folder in which a file is found by the number that it is open under."""

Way = tuple[tuple[str, ...], Prefix | None]
"""Options, and the prefix of units that are parsed with them; None where these begin with nothing that is kept."""

_kept: dict[tuple[str, ...], Way | None] = {}
"""What stands for options; None for those that came once."""


def precompiled(options: tuple[str, ...]) -> Way:
    """The same options with the shim as it was parsed before, if they came before, or else as they are."""
    if options not in _kept:
        if len(_kept) < MOST:
            _kept[options] = None
        return options, None
    found = _kept[options]
    if found is None:
        found = _kept[options] = _parsed(options) or (options, None)
    return found


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
