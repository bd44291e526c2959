"""`-` among the files of a command: what comes by standard input, as a file that everything said calls `-`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

NAME: Final = "-"

_FILES: Final = ("file", "files", "sources", "old", "new")
_CERTIFICATES: Final = ("recheck", "report", "show")


@contextmanager
def standard_input() -> Iterator[Callable[[argparse.Namespace], None]]:
    """Within, a function that puts a file with what standard input holds in place of `-` among a command's files. It
    raises OptionProblem where that cannot be read, or would be read twice."""
    with ExitStack() as stack:
        yield lambda args: _taken(args, stack)


def _taken(args: argparse.Namespace, stack: ExitStack) -> None:
    given = [(name, getattr(args, name, None) or []) for name in _FILES]
    count = sum([value] == [NAME] if isinstance(value, str) else value.count(NAME) for _, value in given)
    if not count:
        return
    import tempfile

    from checker.cli import process
    from checker.notation.problem import OptionProblem

    if count > 1:
        raise OptionProblem("'-' is standard input, which can be read once", advice="Name the other files.")
    if sys.stdin is None:
        raise OptionProblem("cannot read standard input: it is closed", advice="Leave it open, or name a file.")
    try:
        text = sys.stdin.buffer.read()
    except (OSError, ValueError) as error:
        raise OptionProblem(f"cannot read standard input: {error}", advice="Name a file.") from None
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="warpbound-"))
    for name, value in given:
        if NAME not in ([value] if isinstance(value, str) else value):
            continue
        path = Path(folder) / f"stdin{_suffix(args.command, name, text)}"
        path.write_bytes(text)
        stack.enter_context(process.renamed(str(path), NAME))
        files: Any = str(path) if isinstance(value, str) else [str(path) if one == NAME else one for one in value]
        setattr(args, name, files)


def _suffix(command: str, name: str, text: bytes) -> str:
    """The ending of the file's name, by what the command takes and what the text begins with or has."""
    if name == "sources" or command not in (*_CERTIFICATES, "check", "diff", "machine", "wcet"):
        return ".cu"
    if command in (*_CERTIFICATES, "diff") or text.lstrip().startswith(b"{"):
        return ".json"
    return ".cu" if b"__global__" in text else ".qhl" if command == "check" else ".simt"
