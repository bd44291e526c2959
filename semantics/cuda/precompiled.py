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
"""The most sets of options that it is kept for: those that came last."""

COUNTED: Final = 256
"""The most sets of options of which it is known how often they came."""

OFTEN: Final = 4
"""The time that options come at which it is kept for them: keeping it takes as long as three parses."""

DESCRIPTORS: Final = Path("/dev/fd")
"""The folder in which a file is found by the number that it is open under."""

Way = tuple[tuple[str, ...], Prefix | None]
"""Options, and the prefix of units that are parsed with them; None where these begin with nothing that is kept."""

_kept: dict[tuple[str, ...], Way] = {}
"""What stands for options, the latest last."""

_came: dict[tuple[str, ...], int] = {}
"""How often other options came, the latest last."""


def precompiled(options: tuple[str, ...]) -> Way:
    """The same options with the shim as it was parsed before, if they came often, or else as they are."""
    found = _kept.pop(options, None)
    if found is None:
        _came[options] = _came.pop(options, 0) + 1
        if _came[options] < OFTEN:
            if len(_came) > COUNTED:
                del _came[next(iter(_came))]
            return options, None
        del _came[options]
        found = _parsed(options) or (options, None)
    _kept[options] = found
    if len(_kept) > MOST:
        _close(_kept.pop(next(iter(_kept))))
    return found


def _close(way: Way) -> None:
    """Close the file of a prefix that is dropped."""
    if way[1] is not None:
        with suppress(OSError, ValueError):
            os.close(int(Path(way[0][-1]).name))


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
