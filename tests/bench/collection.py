"""How many kernels of a collection of CUDA sources are read and certified, how long that takes, and why not.

    python -m tests.bench.collection FOLDER [--seconds 30] [--jobs 2] [-I DIR] [-o PAGE.md] [-- OPTION ..]

Every kernel of every source that no other includes is bounded under the four metrics, each instance of a template in a
process of its own that is killed after so many seconds of processor time. OPTIONs go to `warpbound bound`: `-- --block
256`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from logic.metrics import METRICS
from logic.source import SourceError
from semantics.cuda import choices, kernel_names
from tests.mutants.limited import limited, workers

ADDRESSES: Final = 16 << 30
"""The most address space of a process, in bytes."""

ENDINGS: Final = (".cu", ".cuh")
_INCLUDE: Final = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a kernel: the verdict of each metric, where it was read; else, in a word and in a sentence, why
    not. Seconds are of processor time, of the instance that takes the longest."""

    file: str
    kernel: str
    verdicts: tuple[str, ...]
    seconds: float
    why: str = ""

    @property
    def read(self) -> bool:
        return bool(self.verdicts)

    @property
    def certified(self) -> bool:
        """Every instance of it under every metric."""
        return not self.why and len(self.verdicts) % len(METRICS) == 0 and set(self.verdicts) == {"certified"}


def roots(folder: Path) -> list[Path]:
    """The sources of a folder that none of its others includes, by their paths."""
    files = [p for p in sorted(folder.rglob("*")) if p.suffix in ENDINGS and p.is_file()]
    included = {
        (p.parent / name).resolve()
        for p in sorted(folder.rglob("*"))
        if p.suffix in (*ENDINGS, ".h", ".c", ".cpp", ".hpp") and p.is_file()
        for name in _INCLUDE.findall(p.read_text(errors="replace"))
    }
    return [p for p in files if p.suffix == ".cu" and p.resolve() not in included]


def kernels(folder: Path, includes: Sequence[str]) -> Iterator[tuple[Path, str, str]]:
    """The kernels of a folder: each with the source that it is read from, and why that has none that can be named."""
    for path in roots(folder):
        if "__global__" not in "".join(p.read_text(errors="replace") for p in _reached(path, {})):
            continue
        try:
            for name in kernel_names(str(path), includes):
                yield path, name, ""
        except SourceError as e:
            yield path, "?", e.message


def _reached(path: Path, seen: dict[Path, None]) -> Iterable[Path]:
    """A source and what it includes by its place."""
    if path.is_file() and path not in seen:
        seen[path] = None
        for name in _INCLUDE.findall(path.read_text(errors="replace")):
            _reached((path.parent / name).resolve(), seen)
    return seen


def bounded(folder: Path, path: Path, kernel: str, seconds: int, options: Sequence[str]) -> Row:
    """One kernel, each instance of it, under the four metrics."""
    each = [_bounded(folder, path, name, seconds, options) for name in _instances(path, kernel, options)]
    verdicts = tuple(verdict for row in each for verdict in row.verdicts)
    why = next((row.why for row in each if row.why), "")
    return replace(each[0], kernel=kernel, verdicts=verdicts, seconds=max(row.seconds for row in each), why=why)


def _instances(path: Path, kernel: str, options: Sequence[str]) -> list[str]:
    """What --kernel calls the instances of a kernel; its name where there are none, or that is not found out."""
    parser = argparse.ArgumentParser(add_help=False)
    for option in ("-I", "-D"):
        parser.add_argument(option, action="append", default=[])
    given, _ = parser.parse_known_args(options)
    try:
        chosen = (c for c in choices(str(path), tuple(given.I), tuple(given.D)) if kernel in c.names)
        found = [c.instantiate or c.kernel or c.name for c in chosen]
    except SourceError:
        found = []
    return found or [kernel]


def _bounded(folder: Path, path: Path, kernel: str, seconds: int, options: Sequence[str]) -> Row:
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        arguments = ["bound", str(path), "--kernel", kernel, "--format", "json", "-o", out.name, *options]

        def main() -> int:
            from checker.cli import main as cli

            return cli(arguments)

        used = limited(main, seconds, ADDRESSES)
        text = Path(out.name).read_text()
    document: dict[str, Any] = json.loads(text) if text else _object(used.said)
    results = document.get("results", [])
    verdicts = tuple(row["verdict"] for row in results if row["verdict"] != "unsupported")
    why = next((f"{row['metric']}: {row['verdict']}" for row in results if row["verdict"] != "certified"), "")
    if not verdicts:
        why = _reason(document, used.said) if used.code >= 0 else "out of time"
    return Row(str(path.relative_to(folder)), kernel, verdicts, used.cpu, why)


def _object(said: str) -> dict[str, Any]:
    """The document among what a command printed, which an error goes to whatever -o says."""
    try:
        found, _ = json.JSONDecoder().raw_decode(said, max(0, said.find("{\n")))
    except ValueError:
        return {}
    return dict(found)


def _reason(document: dict[str, Any], said: str) -> str:
    """Why a kernel is not read, without its place."""
    problems = [row["problem"] for row in document.get("results", ()) if "problem" in row]
    message = next(iter(problems), document.get("error", {}).get("message", ""))
    lines = [line for line in said.splitlines() if line.strip()]
    return re.sub(r"^\S+:\d+:\d+: ", "", message) or (lines[-1] if lines else "nothing was said")


def page(rows: Sequence[Row]) -> str:
    """Counts, then the reasons, most frequent first, then every kernel that is not certified."""
    n = max(1, len(rows))
    read, certified = sum(r.read for r in rows), sum(r.certified for r in rows)
    slowest = max((r.seconds for r in rows), default=0.0)
    counts = f"{len(rows)} kernels: {read} read ({100 * read / n:.1f} %), {certified} certified under all metrics"
    time = f"{sum(r.seconds for r in rows):.0f} s of processor time, {slowest:.1f} s for the slowest"
    lines = [f"{counts} ({100 * certified / n:.1f} %); {time}", "", "| reason | kernels |", "| --- | ---: |"]
    reasons = Counter(re.sub(r"'[^']*'", "'..'", r.why) for r in rows if not r.certified)
    lines += [f"| {why} | {count} |" for why, count in reasons.most_common()]
    lines += ["", "| file | kernel | verdicts | s | why |", "| --- | --- | --- | ---: | --- |"]
    for r in rows:
        if not r.certified:
            lines.append(f"| {r.file} | {r.kernel} | {' '.join(r.verdicts)} | {r.seconds:.1f} | {r.why} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Counts what of a collection of CUDA sources is read and certified.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=int, default=30, help="of processor time an instance (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument("-I", dest="includes", action="append", default=[], metavar="DIR")
    parser.add_argument("-o", dest="page", type=Path, metavar="PAGE.md")
    ours, rest = (sys.argv[1:], []) if "--" not in sys.argv else _parted(sys.argv[1:])
    options = parser.parse_args(ours)
    more = [*rest, *(word for each in options.includes for word in ("-I", each))]

    rows: list[Row] = []
    with workers(options.jobs) as pool:
        row = partial(_row, options.folder, options.seconds, more)
        for each in pool.map(row, kernels(options.folder, options.includes)):
            rows.append(each)
            print(f"{each.file} {each.kernel}: {each.why or 'certified'} ({each.seconds:.1f} s)", flush=True)
    text = page(rows)
    print(f"\n{text}" if not options.page else "")
    if options.page:
        options.page.write_text(text)
    return 0


def _row(folder: Path, seconds: int, options: Sequence[str], job: tuple[Path, str, str]) -> Row:
    path, kernel, why = job
    if why:
        return Row(str(path.relative_to(folder)), kernel, (), 0.0, why)
    return bounded(folder, path, kernel, seconds, options)


def _parted(arguments: list[str]) -> tuple[list[str], list[str]]:
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


if __name__ == "__main__":
    sys.exit(main())
