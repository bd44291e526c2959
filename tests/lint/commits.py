"""Commit messages that are new: a title of words, of at most 72 characters, and a body where a change is large.

    python -m tests.lint.commits

Looks at the commits since this file last changed. Says nothing where there is no repository, as in an archive.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]

LONGEST: Final = 72
"""Characters of a title."""

LARGE: Final = 300
"""Lines of code that a change may add and remove without a body that says why."""


def git(*arguments: str) -> str:
    """What git prints; nothing where it fails."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout  # noqa: S607


def problems(title: str, body: str, lines: int) -> Iterator[str]:
    """What is wrong with a message.

    >>> list(problems("Mend it", "", 3))
    []
    >>> list(problems("x", "", 3))
    ['its title does not say what changed']
    >>> list(problems("Mend " + "x" * 68, "", 3))
    ['its title has 73 characters, and 72 are the most']
    >>> list(problems("Rewrite it", "", 1000))
    ['it changes 1000 lines and has no body that says why']
    """
    if len(title.split()) < 2:
        yield "its title does not say what changed"
    if len(title) > LONGEST:
        yield f"its title has {len(title)} characters, and {LONGEST} are the most"
    if lines > LARGE and not body.strip():
        yield f"it changes {lines} lines and has no body that says why"


def changed(commit: str) -> int:
    """The lines of Python that a commit adds and removes."""
    rows = (row.split("\t") for row in git("show", "--numstat", "--format=", commit, "--", "*.py").splitlines())
    return sum(int(n) for added, removed, _ in rows for n in (added, removed) if n.isdigit())


def main() -> int:
    """1 where a new commit has a bad message."""
    here = str(Path(__file__).relative_to(ROOT))
    first = git("log", "-1", "--format=%H", "--", here).split()
    bad = 0
    for commit in git("rev-list", "--no-merges", f"{first[0]}..HEAD").split() if first else ():
        title, _, body = git("log", "-1", "--format=%B", commit).partition("\n")
        for problem in problems(title, body, changed(commit)):
            print(f"{commit[:12]} {title}: {problem}", file=sys.stderr)
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
