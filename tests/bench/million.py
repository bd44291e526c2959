"""A long trial of the sound rules in parts, a file each, so that it can stop and go on; docs/trials.md.

A part is `warpbound trial sound --case FIRST --examples N`, which depends on the seed alone; with `--trial contracts`
it is one of the trial of contracts on data, which has a section of its own on the page.
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

_CONTRACTS: Final = """## Contracts on data

Made by `python -m tests.bench.million --trial contracts --parts {parts} --size {size}`, on {machine}.

The same with programs that read an array of which one contract or two say what it holds ([data.md](data.md)), and
contents that keep them, in derivations and in runs; what contracts say of elements is given as the checkers use it, by
instances and sums of them. One program in twenty may write to the array: no contract is assumed there then.
"""

_FAULTS: Final = """
Six faults were put in, to see that such a trial finds them (`tests/checker/testbed/test_data.py`): contents that break
the contracts, an array that counts as stable and is written, an instance and a sum without their ranges, a sum from a
later index to an earlier one, and a range that is one too long.
"""


def part(first: int, size: int, seed: int, folder: Path, trial: str = "sound", cluster: str | None = None) -> Json:
    """The report on cases from this number on: the one in the folder, else one made now, here or by the workers of a
    cluster, and kept there.

    Raises RuntimeError, with the counterexample, where a run refutes a derivation.
    """
    file = folder / f"{'' if trial == 'sound' else f'{trial}-'}{seed}-{first}-{size}.json"
    if file.is_file():
        found: Json = json.loads(file.read_text(encoding="utf-8"))
        return found
    numbers = ["--case", str(first), "--examples", str(size), "--seed", str(seed), "--jobs", "1"]
    numbers += ["--cluster", cluster] if cluster else []
    command = [str(Path(sys.executable).parent / "warpbound"), "trial", trial, *numbers, "--format", "json"]
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
        total["elements"] += covered.get("elements", 0)
        rules.update(covered["rules"])
        depths.update(covered["loop depths"])
    return {**total, "rules": dict(sorted(rules.items())), "loop depths": dict(sorted(depths.items()))}


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def counted(total: Json, seed: int, jobs: int) -> list[str]:
    """What was counted, as a table."""
    seconds = total["seconds"]
    rows = {
        "cases": f"{total['examples']:,}",
        "violations": f"{total['violations']:,}",
        "derivations that the kernel accepted": f"{total['derivations']:,}",
        "their runs": f"{total['runs']:,}",
        "runs that diverged": f"{total['divergent']:,}",
        "runs without an end, their prefixes tried": f"{total['unended']:,}",
        **({"derivations that speak of elements": f"{n:,}"} if (n := total.get("elements")) else {}),
        "seed": str(seed),
        "processes at a time": str(jobs),
        "hours of one core, all parts together": f"{seconds / 3600:.1f}",
        "cases a second and core": f"{total['examples'] / seconds:.0f}",
    }
    return ["| | |", "| --- | ---: |", *(f"| {name} | {value} |" for name, value in rows.items())]


def contracts_section(total: Json, seed: int, jobs: int, parts: int, size: int, note: str = "") -> str:
    """The part of docs/trials.md on contracts."""
    head = _CONTRACTS.format(machine=machine(), parts=parts, size=size)
    told = ["", textwrap.fill(note, 120)] if note else []
    return "\n".join([head, *counted(total, seed, jobs), *told]) + "\n" + _FAULTS


def page(total: Json, seed: int, jobs: int, note: str) -> str:
    """docs/trials.md, but for the section on contracts."""
    lines = [
        _HEAD.format(machine=machine()),
        *counted(total, seed, jobs),
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


def together(old: str, new: str) -> str:
    """The page with a new part in place of the old one: the section on contracts, or all before it."""
    mark = _CONTRACTS.partition("\n")[0]
    before, _, after = old.partition(mark)
    if new.startswith(mark):
        return f"{before.rstrip()}\n\n{new}"
    return f"{new}\n{mark}{after}" if after else new


def million(
    parts: int,
    size: int,
    seed: int,
    jobs: int,
    folder: Path,
    tell: Callable[[str], object] = str,
    trial: str = "sound",
    cluster: str | None = None,
) -> Json:
    """The sums over so many parts of so many cases. Raises RuntimeError."""
    folder.mkdir(parents=True, exist_ok=True)
    found: list[Json] = []
    with ThreadPoolExecutor(jobs) as pool:
        for report in pool.map(lambda k: part(k * size, size, seed, folder, trial, cluster), range(parts)):
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
    parser.add_argument("--trial", choices=("sound", "contracts"), default="sound")
    parser.add_argument("--cluster", metavar="tcp://HOST:PORT", help="the workers of a Dask scheduler try the cases")
    parser.add_argument("--note", default="", help="a sentence for the page")
    options = parser.parse_args()
    tell = functools.partial(print, file=sys.stderr, flush=True)
    try:
        total = million(
            options.parts,
            options.size,
            options.seed,
            options.processes,
            options.folder,
            tell,
            options.trial,
            options.cluster,
        )
    except RuntimeError as problem:
        print(problem, file=sys.stderr)
        return 3
    if options.trial == "contracts":
        made = contracts_section(total, options.seed, options.processes, options.parts, options.size, options.note)
    else:
        made = page(total, options.seed, options.processes, options.note)
    PAGE.write_text(together(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
