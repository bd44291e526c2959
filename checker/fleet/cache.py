"""Certificates that were found before, by what they are about. Nothing here is trusted: what is found under a key is
text, and the second checker says whether it is a certificate of what was asked about (`judge`).

A certificate is a file `ab/cdef...json` in a folder, under the digest of what it is about and of this version of the
tool; it appears there at once, under its name, or not at all. Beside it are sealed notes, `ab/cdef...sealed`, of what
came of whole sources (`memory`). What was not used for longest goes first.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from typing import Final

from checker.fleet.judge import MAX_TEXT
from checker.notation.problem import OptionProblem
from checker.testbed.installed import digest

MOST: Final = 1 << 30
"""Bytes of a cache, beyond which the oldest certificates go."""

MARK: Final = "warpbound-cache"
"""A file that says what the folder is."""

NOTES: Final = ".sealed"
"""What the names of sealed notes end in."""

_NAME: Final = re.compile(r"[0-9a-f]{62}\.(?:json|sealed)")
_FOLDER: Final = re.compile(r"[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of certificates, and what its keys have in them besides what a certificate is about."""

    folder: Path
    version: str = ""


def usual() -> Path:
    """The folder of a user's caches, as the desktop's conventions have it."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "warpbound"


def opened(folder: Path, version: str) -> Cache:
    """A cache, made where there is none. Raises OptionProblem where it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / MARK).exists():
            _put(folder / MARK, b"Certificates that warpbound found. They may be removed at any time.\n")
        elif not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise OptionProblem(f"cannot use the cache '{folder}': {error.strerror}", advice="Choose another.") from None
    return Cache(folder, version)


LIBRARIES: Final = ("libclang", "z3-solver", "cvc5", "pysmt", "highspy", "numpy", "lark")
"""Libraries on which what is found may depend."""


@once
def code() -> str:
    """The digest of the tool's own files and of the versions below it: another state of it is another version."""
    from importlib.metadata import PackageNotFoundError, version

    found = hashlib.sha256(sys.version.encode())
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found.update(f"\n{name} {version(name)}".encode())
    found.update(f"\n{digest()}".encode())
    return found.hexdigest()


def place(cache: Cache, about: str, ending: str = ".json") -> Path:
    """Where a certificate about a subject is kept, or what has another ending."""
    key = hashlib.sha256(f"{cache.version}\n{about}".encode("utf-8", "surrogateescape")).hexdigest()
    return cache.folder / key[:2] / f"{key[2:]}{ending}"


def found(path: Path) -> str | None:
    """The text that a place has; None where there is none that can be read, or too much."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_TEXT:
            return None
        text = path.read_text(encoding="utf-8")
        with suppress(OSError):
            os.utime(path)
        return text
    except (OSError, ValueError):
        return None


def keep(cache: Cache, about: str, text: str) -> None:
    """Keeps the text of a certificate. Raises OSError where that cannot be done; nothing is there then."""
    whole(place(cache, about), text.encode("utf-8"))


def whole(path: Path, data: bytes) -> None:
    """A file in a cache, at once. Raises OSError where that cannot be done; nothing is there then."""
    path.parent.mkdir(exist_ok=True)
    _put(path, data)


def _put(path: Path, data: bytes) -> None:
    """A file of this name at once, or none."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The certificates and notes of a cache: files whose names are of that form, and no others."""
    with suppress(OSError):
        for inner in sorted(folder.iterdir()):
            if _FOLDER.fullmatch(inner.name) and inner.is_dir():
                for path in sorted(inner.iterdir()):
                    with suppress(OSError):
                        if _NAME.fullmatch(path.name):
                            yield path, path.stat()


def trim(cache: Cache, most: int = MOST) -> int:
    """Removes what was not used for longest, until what is left is no more than `most` bytes; says how many went."""
    kept = list(entries(cache.folder))
    total, gone = sum(about.st_size for _, about in kept), 0
    for path, about in sorted(kept, key=lambda entry: entry[1].st_mtime):
        if total <= most:
            break
        with suppress(OSError):
            path.unlink()
            total, gone = total - about.st_size, gone + 1
    return gone


def clear(folder: Path) -> int:
    """Removes all certificates and notes, and nothing else; says how many."""
    gone = 0
    for path, _ in list(entries(folder)):
        with suppress(OSError):
            path.unlink()
            gone += 1
    return gone
