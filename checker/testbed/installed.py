"""The tool's own files as installed, by a digest. Results of one state of them say nothing of another state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

import checker
import logic
import semantics


@cache
def digest() -> str:
    """The digest of the tool's own files, with their names."""
    found = sha256()
    for name, path in files():
        data = path.read_bytes()
        found.update(f"\n{name} {len(data)}\n".encode() + data)
    return found.hexdigest()


def files() -> Iterator[tuple[str, Path]]:
    """All files of the tool but what Python makes of them, by their names in the packages, in one order."""
    for package in (logic, semantics, checker):
        top = Path(next(iter(package.__path__)))
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                path = Path(folder) / name
                yield f"{package.__name__}/{path.relative_to(top)}", path
