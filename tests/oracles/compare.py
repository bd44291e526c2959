"""Random kernels, run by us and by Oclgrind: counts of a launch, its dearest warp, and what arrays hold in the end.

`python -m tests.oracles.compare --kernels 1000` tries the kernels of 1,000 seeds, from `--first` on. Each kernel
depends on its seed alone, so the result does not depend on how many work at it.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from checker.certificates.claims import shown, value_at
from checker.oracles import Oracles
from checker.synthesis.bound import Result as Bound
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, METRICS, Hardware
from logic.source import SourceError
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics.cuda import CudaError, Reading, read_cuda
from semantics.grid import Contents, Result
from semantics.vectorised import run
from tests.oracles.cases import BEFORE, Case, Global, Number
from tests.oracles.kernels import case

HERE: Final = Path(__file__).parent
COUNTED: Final = ("sectors", "conflicts", "divwarps")
HEADER: Final = Path("/usr/include/oclgrind/Plugin.h")
PATIENCE: Final = 60
"""Seconds for the bounds of a kernel, unless others are given."""

BATCH: Final = 25
"""Kernels in one program of the emulator."""


def missing() -> list[str]:
    """What is not here, a line each, with what to install on Debian and Ubuntu."""
    found = []
    if shutil.which("g++") is None:
        found.append("g++ is not here: apt install g++")
    if shutil.which("oclgrind") is None:
        found.append("Oclgrind is not here: apt install oclgrind")
    if not HEADER.exists():
        found.append("Oclgrind's headers are not here: apt install liboclgrind-dev")
    if not Path("/usr/include/CL/cl.h").exists():
        found.append("OpenCL's headers are not here: apt install opencl-headers")
    return found


def build(folder: Path) -> Path:
    """The emulator, compiled into a folder. Raises CalledProcessError."""
    made = folder / "emulator"
    source = HERE / "emulator.cpp"
    command = [
        "g++",
        "-O2",
        "-std=c++17",
        "-fno-rtti",
        f"-I{HEADER.parent}",
        str(source),
        "-loclgrind",
        "-o",
        str(made),
    ]
    subprocess.run(command, check=True, timeout=300)
    return made


# --- the emulator ----------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What the emulator says of a launch: the counts of each warp (sectors, conflicts, divergences, and how many more
    of these flags may make), the arrays in the end, and its complaint."""

    warps: list[tuple[int, int, int, int]] = field(default_factory=list)
    arrays: list[bytes] = field(default_factory=list)
    problem: str = ""


def emulated(cases: Sequence[Case], emulator: Path, options: Sequence[str] = ()) -> list[Seen]:
    """What each launch does by the emulator, all in one program."""
    source = BEFORE["opencl"] + "".join(c.opencl for c in cases)
    lines = [f"P {len(source)}\n{source}"]
    for c in cases:
        sizes = " ".join(map(str, (*c.grid, *c.block)))
        lines.append(f"K {c.name} {sizes} {len(c.arrays) + 2}")
        lines += [f"B {a.bytes.hex()}" for a in c.arrays]
        lines += [f"S {struct.pack('<i', c.n).hex()}", "M " + "00" * 8]
    done = subprocess.run(
        [str(emulator), *options],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    found: list[Seen] = []
    for line in done.stdout.splitlines():
        match line[:2]:
            case "K ":
                found.append(Seen())
            case "E ":
                found[-1].problem = line[2:]
            case "W ":
                sectors, conflicts, divergences, more = map(int, line[2:].split())
                found[-1].warps.append((sectors, conflicts, divergences, more))
            case "B ":
                found[-1].arrays.append(bytes.fromhex(line[2:]))
            case _:
                raise ValueError(line)
    return found


# --- ours ------------------------------------------------------------------------------------------------------------


def contents(kernel: Kernel, arrays: Sequence[Global]) -> dict[str, Contents]:
    """What the kernel's arrays hold at first; a structure's field is an array of its own."""
    declared = {a.name for a in kernel.arrays}
    given: dict[str, Contents] = {}
    for a in arrays:
        per = len(a.elem.fields) or 1
        if a.elem.whole or not a.elem.fields:
            given[a.name] = a.data[::per]
        for k, name in enumerate(a.elem.fields):
            given[f"{a.name}.{name}"] = a.data[k::per]
    return {name: values for name, values in given.items() if name in declared}


def final(a: Global, result: Result) -> dict[str, list[Number]]:
    """What an array holds in the end by the run, by field ('' where it is read as one: then its first field)."""
    per = len(a.elem.fields) or 1
    found: dict[str, list[Number]] = {}
    for k, name in enumerate(a.elem.fields or ("",)):
        ours = f"{a.name}.{name}" if name else a.name
        if a.elem.whole:
            if k:
                continue
            ours = a.name
        there: Mapping[int, Any] = result.arrays.get(ours, {})
        found[name] = [there.get(i, v) for i, v in enumerate(a.data[k::per])]
    return found


def packed(value: Number, kind: str) -> bytes:
    """A value's bytes; an integer may stand for any that is the same modulo 2^bits."""
    if kind in "fd":
        return struct.pack("<" + kind, float(value))
    size = struct.calcsize(kind)
    return (int(value) % (1 << (8 * size))).to_bytes(size, "little")


def differs(a: Global, result: Result, seen: bytes) -> str | None:
    """Where an array holds something else in the end."""
    size, kinds = a.elem.size, a.elem.form
    for k, (name, values) in enumerate(final(a, result).items()):
        plain = kinds.replace("x", "")
        kind = plain[k]
        offset = struct.calcsize("<" + kinds[: _place(kinds, k)])
        width = struct.calcsize(kind)
        for i, value in enumerate(values):
            theirs = seen[i * size + offset : i * size + offset + width]
            if packed(value, kind) != theirs:
                (shown,) = struct.unpack("<" + kind, theirs)
                return f"{a.name}[{i}]{'.' + name if name else ''} is {value}, not {shown}"
    return None


def _place(form: str, k: int) -> int:
    """Where the k-th field stands in a form with padding."""
    return [i for i, c in enumerate(form) if c != "x"][k]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a case ended: 'equal', 'above' (divergences of flags, which the emulator's marks explain), 'different' or
    'refused'; `why` in words. `claims` counts bounds, by what became of them."""

    name: str
    kind: str
    why: str = ""
    claims: Mapping[str, int] = field(default_factory=dict)


def judged(c: Case, kernel: Kernel, seen: Seen, hardware: Hardware) -> Verdict:
    """A run of ours beside what the emulator has seen."""
    if seen.problem:
        return Verdict(c.name, "different", f"the emulator: {seen.problem}")
    given = contents(kernel, c.arrays)
    args = {"n": c.n} if kernel.params else {}
    result = run(kernel, c.block, c.grid, args, given, [METRICS[m] for m in COUNTED], hardware)
    above = False
    for k, metric in enumerate(COUNTED):
        for ours, fold, what in ((result.totals, sum, "in all"), (result.max_per_warp, max, "in the dearest warp")):
            cost, theirs = int(ours[metric]), fold(w[k] for w in seen.warps)
            if cost == theirs:
                continue
            most = fold(w[k] + w[3] for w in seen.warps) if metric == "divwarps" else theirs
            if not theirs <= cost <= most:
                return Verdict(
                    c.name, "different", f"{metric} {what}: {cost}, by the emulator {theirs} (at most {most})"
                )
            above = True
    for a, held in zip(c.arrays, seen.arrays, strict=False):
        if a.role != "read" and a.apart and (why := differs(a, result, held)):
            return Verdict(c.name, "different", why)
    return Verdict(c.name, "above" if above else "equal")


Told = tuple[str, str]
"""What became of a bound, and, of a false one, how it is so."""


def claimed(c: Case, reading: Reading, seen: Seen, tell: Callable[[Told], None]) -> None:
    """Tells what became of bounds of the kernel on grids of this size; a certified one below a count is 'false'."""
    reading = reading.under((), c.block, c.grid)
    sigma = check_kernel(reading.kernel)
    launch = Launch(c.block, c.grid, conj(reading.facts, sigma))
    metrics = [METRICS[m] for m in COUNTED]
    context = Context(sigma, metrics[0], HARDWARE["nvidia"], launch)
    outline = Outline(reading.kernel, context, bare(reading.kernel.body))
    at = {"n": c.n} | {f"gridDim.{axis}": size for axis, size in zip("xyz", c.grid, strict=True)}

    def done(result: Bound) -> None:
        most = max(w[COUNTED.index(result.metric.name)] for w in seen.warps)
        if result.claim is None or result.verdict != "certified":
            tell(("without a certified bound", ""))
            return
        value, lacking = value_at(shown(result.claim), result.claim.context, at)
        if value is None:
            tell(("about " + ", ".join(lacking), ""))
        elif value < most:
            tell(("false", f"{result.metric.name} is certified to be {value} at most, and is {most}"))
        else:
            tell(("equal to the dearest warp" if value == most else "above", ""))

    find_bounds(outline, metrics, Oracles(), done=done)


def within(seconds: int, c: Case, reading: Reading, seen: Seen) -> Verdict:
    """`claimed` in a process of its own, which is ended after a while."""
    told = apart(seconds, len(COUNTED), lambda tell: claimed(c, reading, seen, tell))
    claims = Counter(kind for kind, _ in told)
    if left := len(COUNTED) - claims.total():
        claims["not found in time"] += left
    false = next((why for _, why in told if why), "")
    return Verdict(c.name, "false" if false else "bounded", false, claims)


def apart(seconds: int, most: int, work: Callable[[Callable[[Told], None]], None]) -> list[Told]:
    """What work tells, at most so many times, in a process of its own that is ended after a while."""
    here, there = multiprocessing.Pipe(False)

    def telling() -> None:
        try:
            work(there.send)
        except SourceError as e:
            there.send(("refused: " + str(e).split("\n")[0], ""))

    process = multiprocessing.get_context("fork").Process(target=telling)
    process.start()
    there.close()
    told, end = list[Told](), time.monotonic() + seconds
    try:
        while len(told) < most and here.poll(max(0, end - time.monotonic())):
            told.append(here.recv())
    except EOFError:
        pass
    process.kill()
    process.join()
    return told


def tried(
    seeds: Sequence[int],
    emulator: str,
    every: int = 0,
    lines: int = 0,
    seconds: int = PATIENCE,
    hardware: Hardware = HARDWARE["nvidia"],
) -> list[Verdict]:
    """The verdicts of a batch of kernels. Bounds are sought for `every` so many of at most so many `lines`."""
    cases = [case(seed) for seed in seeds]
    seen = emulated(cases, Path(emulator))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "batch.cu"
        file.write_text(BEFORE["cuda"] + "".join(c.cuda for c in cases))
        for seed, c, s in zip(seeds, cases, seen, strict=True):
            try:
                reading = read_cuda(str(file), c.name)
                found.append(judged(c, reading.kernel, s, hardware))
                if every and seed % every == 0 and c.cuda.count("\n") <= lines:
                    found.append(within(seconds, c, reading, s))
            except CudaError as e:
                found.append(Verdict(c.name, "refused", str(e).replace("\n", " ")))
            except SourceError as e:
                found.append(Verdict(c.name, "different", f"{type(e).__name__}: {e}"))
    return found


def batches(first: int, kernels: int) -> Iterator[range]:
    for start in range(first, first + kernels, BATCH):
        yield range(start, min(start + BATCH, first + kernels))


def told(log: Path) -> tuple[int | None, Counter[str]]:
    """The seed after the last one of a log, None for a log that is not there, and what became of its kernels. A line
    has the seeds of a batch and how many kernels ended how: `1250 1275 equal 21 above 4`; one that begins with `#`
    says why."""
    end, counts = None, Counter[str]()
    lines = log.read_text().splitlines() if log.exists() else []
    for line in lines:
        if not line.startswith("#"):
            first, last, *found = line.split()
            if end not in (None, int(first)):
                raise ValueError(f"{log}: {end} seeds are there, and the next ones begin with {first}")
            end = int(last)
            counts.update({kind: int(n) for kind, n in zip(found[::2], found[1::2], strict=True)})
    return end, counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=1000, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument(
        "--every", type=int, default=0, metavar="N", help="bounds for every Nth kernel, too, if it is short"
    )
    parser.add_argument("--lines", type=int, default=30, metavar="N", help="that is, of so many lines (default: 30)")
    parser.add_argument(
        "--seconds", type=int, default=PATIENCE, metavar="N", help=f"for the bounds of a kernel (default: {PATIENCE})"
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="a line a batch; goes on where the file ends")
    args = parser.parse_args()
    if shutil.which("nvcc") is None and importlib.util.find_spec("nvidia") is None:
        print("nvcc is not here, and not needed here: pip install '.[oracle]', for `warpbound compiled`")
    if lines := missing():
        print("\n".join(lines))
        return 1
    start, counts, claims = time.monotonic(), Counter[str](), Counter[str]()
    after, known = told(args.log) if args.log else (None, Counter[str]())
    runs = list(batches(args.first if after is None else after, args.kernels))
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(args.jobs) as pool:
        emulator = str(build(Path(folder)))
        waiting = [pool.submit(tried, seeds, emulator, args.every, args.lines, args.seconds) for seeds in runs]
        for seeds, job in zip(runs, waiting, strict=True):
            found = job.result()
            own = Counter(v.kind for v in found if v.kind != "bounded")
            counts += own
            odd = [f"{v.name}: {v.kind}: {v.why}" for v in found if v.kind in ("different", "refused", "false")]
            print("\n".join(odd), end="\n" if odd else "", flush=True)
            for verdict in found:
                claims.update(verdict.claims)
            if args.log:
                line = " ".join(f"{kind} {n}" for kind, n in sorted(own.items()))
                with args.log.open("a") as file:
                    file.write("".join(f"# {w}\n" for w in odd) + f"{seeds[0]} {seeds[-1] + 1} {line}\n")
    took = time.monotonic() - start
    print(
        f"{sum(counts.values())} kernels in {took:.0f} s: " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items()))
    )
    if args.log:
        every = known + counts
        print(f"in {args.log}: {every.total()} kernels: " + ", ".join(f"{n} {k}" for k, n in sorted(every.items())))
    if claims:
        print(f"bounds of every {args.every}th: " + ", ".join(f"{n} {k}" for k, n in sorted(claims.items())))
    return 1 if counts["different"] or counts["false"] else 0


if __name__ == "__main__":
    sys.exit(main())
