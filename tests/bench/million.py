"""A long trial of the sound rules in parts, a file each, so that it can stop and go on; docs/trials.md.

A part is `warpbound trial sound --case FIRST --examples N`, which depends on the seed alone.
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

PAGE: Final = Path(__file__).parents[2] / "docs" / "trials.md"

_HEAD: Final = """# A long trial

Made by `make million` (`python -m tests.bench.million`), on {machine}.

Random programs, derivations of them that the kernel accepts under the sound rules, and runs of each from random states
that satisfy its precondition; Theorem 1 (p. 14) is what may not fail. A case is a program; where no try leads to a
derivation, it counts and runs nothing.
"""


def part(first: int, size: int, seed: int, folder: Path) -> Json:
    """The report on cases from this number on: the one in the folder, else one made now, and kept there.

    Raises RuntimeError, with the counterexample, where a run refutes a derivation.
    """
    file = folder / f"{seed}-{first}-{size}.json"
    if file.is_file():
        found: Json = json.loads(file.read_text(encoding="utf-8"))
        return found
    numbers = ["--case", str(first), "--examples", str(size), "--seed", str(seed), "--jobs", "1"]
    command = [str(Path(sys.executable).parent / "warpbound"), "trial", "sound", *numbers, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} exits with {done.returncode}:\n{done.stdout}{done.stderr}")
    file.write_text(done.stdout, encoding="utf-8")
    made: Json = json.loads(done.stdout)
    return made


def whole(parts: list[Json]) -> Json:
    """The sums of all that reports count."""
    total: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    depths: Counter[str] = Counter()
    for report in parts:
        covered = report["covered"]
        total.update({name: report[name] for name in ("examples", "violations", "seconds")})
        total.update({name: covered[name] for name in ("derivations", "runs", "divergent", "unended")})
        rules.update(covered["rules"])
        depths.update(covered["loop depths"])
    return {**total, "rules": dict(sorted(rules.items())), "loop depths": dict(sorted(depths.items()))}


def page(total: Json, seed: int, jobs: int, note: str) -> str:
    """docs/trials.md."""
    seconds = total["seconds"]
    lines = [_HEAD.format(machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}")]
    lines += ["| | |", "| --- | ---: |"]
    rows = {
        "cases": f"{total['examples']:,}",
        "violations": f"{total['violations']:,}",
        "derivations that the kernel accepted": f"{total['derivations']:,}",
        "their runs": f"{total['runs']:,}",
        "runs that diverged": f"{total['divergent']:,}",
        "runs without an end, their prefixes tried": f"{total['unended']:,}",
        "seed": str(seed),
        "processes at a time": str(jobs),
        "hours of one core, all parts together": f"{seconds / 3600:.1f}",
        "cases a second and core": f"{total['examples'] / seconds:.0f}",
    }
    lines += [f"| {name} | {value} |" for name, value in rows.items()]
    lines += [
        "",
        *([textwrap.fill(note, 120), ""] if note else []),
        "## Derivations by the rules in them",
        "",
        "| rule | derivations |",
    ]
    lines += ["| --- | ---: |", *(f"| {rule} | {count:,} |" for rule, count in total["rules"].items())]
    lines += ["", "## Derivations by the depth of their loops", "", "| loops nested | derivations |", "| --- | ---: |"]
    lines += [f"| {depth} | {count:,} |" for depth, count in total["loop depths"].items()]
    return "\n".join(lines) + "\n"


def million(parts: int, size: int, seed: int, jobs: int, folder: Path, tell: Callable[[str], object] = str) -> Json:
    """The sums over so many parts of so many cases. Raises RuntimeError."""
    folder.mkdir(parents=True, exist_ok=True)
    found: list[Json] = []
    with ThreadPoolExecutor(jobs) as pool:
        for report in pool.map(lambda k: part(k * size, size, seed, folder), range(parts)):
            found.append(report)
            tell(f"{len(found)} of {parts} parts, {report['violations']} violations in the last")
    return whole(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=int, default=100, metavar="N")
    parser.add_argument("--size", type=int, default=10_000, metavar="N", help="cases in a part (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=20261121, metavar="N")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    parser.add_argument(
        "--folder", type=Path, default=Path(".million"), help="where parts are kept; empty it for other rules"
    )
    parser.add_argument("--note", default="", help="a sentence for the page")
    options = parser.parse_args()
    tell = functools.partial(print, file=sys.stderr, flush=True)
    try:
        total = million(options.parts, options.size, options.seed, options.processes, options.folder, tell)
    except RuntimeError as problem:
        print(problem, file=sys.stderr)
        return 3
    PAGE.write_text(page(total, options.seed, options.processes, options.note), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
