"""`warpbound baseline`: what holds now, as a file; `warpbound diff`: what changed since, exit 1 where a bound grew."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from checker.cli import fleet
from checker.cli.options import add_output_options, read_text, tell
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.fleet.baseline import Entry


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers both subcommands."""
    baseline = subparsers.add_parser(
        "baseline",
        help="write what holds now, for diff",
        description="Bounds all kernels of files and folders, as bound does, and writes what holds: bounds, with what "
        "they assume, and digests. What is not certified is in it, too, as that.",
    )
    baseline.add_argument("files", nargs="+", metavar="PATH", help="CUDA sources, and folders of them")
    fleet.add_bound_options(baseline)
    add_output_options(baseline)
    baseline.set_defaults(func=run_baseline, format="json", at=[], certificate=None)
    diff = subparsers.add_parser(
        "diff",
        help="say which bounds grew between two baselines, folders or git revisions",
        description="Compares two baselines, or what holds of two folders or git revisions, which are bounded as bound "
        "does. Exit code 1: a bound grew, may have grown, or is no longer certified.",
    )
    for name in ("old", "new"):
        diff.add_argument(name, metavar=name.upper(), help="a baseline, a folder, or a git revision")
    diff.add_argument(
        "--path",
        dest="paths",
        metavar="PATH",
        action="append",
        default=[],
        help="of revisions, only what is there; may be given several times",
    )
    fleet.add_bound_options(diff)
    add_output_options(diff)
    diff.set_defaults(func=run_diff, at=[], certificate=None, files=[])


def run_baseline(args: argparse.Namespace) -> int:
    """Writes it: 0, whatever holds. Raises SourceError."""
    from checker.fleet import baseline, table

    done = fleet.analysed(args)
    if done.interrupted:
        raise KeyboardInterrupt
    rows = [row for _, row in done.desk.in_order()]
    found = table.summary(rows, len(done.desk.sources), done.left, done.seconds)
    tell(
        args,
        lambda: table.as_text(rows, found, ()),
        lambda: json.dumps(baseline.made(done.desk), indent=1),
        lambda: table.as_page("A baseline", rows, found, (), ("solver-backed",)),
    )
    return 0


def run_diff(args: argparse.Namespace) -> int:
    """1 where a bound grew. Raises SourceError."""
    from checker.fleet import baseline

    old, new = (_side(args, name) for name in (args.old, args.new))
    rows = baseline.difference(old(), new())
    tell(
        args,
        lambda: baseline.as_text(rows),
        lambda: json.dumps({"rows": rows}, indent=2),
        lambda: baseline.as_page(rows),
    )
    return baseline.exit_code(rows)


def _side(args: argparse.Namespace, name: str) -> Callable[[], list[Entry]]:
    """A function that finds the bounds that hold: those of a baseline, which has been read, of a folder, or of a
    revision, which is there. Raises SourceError."""
    from checker.fleet import baseline
    from checker.fleet.files import what_is

    kind = what_is(name)
    if kind == "file":
        text = read_text(name, "Give a baseline, a folder or a git revision.")
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        entries = baseline.entries(document, name)
        return lambda: entries
    if kind == "folder":
        return lambda: _of_folder(args, name, "")
    if name.startswith("-") or _git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") is None:
        advice = "Give a baseline, a folder, or a revision of the repository that you are in."
        raise OptionProblem(f"'{name}' is no file, folder or git revision", advice=advice)
    return lambda: _of_revision(args, name)


def _of_revision(args: argparse.Namespace, name: str) -> list[Entry]:
    with _archived(name) as folder:
        return _of_folder(args, folder, name)


def _of_folder(args: argparse.Namespace, folder: str, revision: str) -> list[Entry]:
    from checker.fleet import baseline

    paths = [str(Path(folder) / path) for path in args.paths] if revision else [folder]
    includes = [_moved(folder, path) if revision else path for path in args.includes]
    own = argparse.Namespace(
        **{**vars(args), "files": paths or [folder], "includes": includes, "volatile": bool(revision)}
    )
    done = fleet.analysed(own)
    if done.interrupted:
        raise KeyboardInterrupt
    return baseline.entries(baseline.made(done.desk, folder if revision else ""), revision or folder)


def _moved(folder: str, path: str) -> str:
    """A folder of headers as a revision has it, where it has it."""
    moved = Path(folder) / path
    return str(moved) if moved.is_dir() else path


@contextmanager
def _archived(revision: str) -> Iterator[str]:
    """The files of a git revision, in a folder that is gone after. Raises OptionProblem."""
    data = _git("archive", "--format=tar", revision)
    if data is None:
        raise OptionProblem(f"git cannot archive '{revision}'", advice="Run it at the top of the repository.")
    with TemporaryDirectory(prefix="warpbound-") as folder:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            tar.extractall(folder, filter="data")
        yield os.path.realpath(folder)


def _git(*words: str) -> bytes | None:
    """The output of git; None where it fails, or is not there."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, check=False)  # noqa: S603, S607 - the user's git
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
