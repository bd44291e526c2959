"""Makes docs/compiled.md: the kernels of the literature, compiled for several architectures, beside their bounds.

python -m proofs.compiled

It wants nvcc. Bounds, runs and what becomes of accesses are those of `warpbound compiled`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Final

from checker.analysis.compiled.matched import CLASSES
from checker.cli import parser
from checker.cli.compiled import METRICS, against, job
from checker.report.compiled import Compared

ROOT: Final = Path(__file__).parent
PAGE: Final = ROOT.parent / "docs" / "compiled.md"
TEMPLATE: Final = ROOT / "compiled.template.md"

ARCHITECTURES: Final = ("sm_75", "sm_90", "sm_100")

_MATRICES: Final = "--array A=random:1 --array B=random:2"
_TILES: Final = f"--block 32,32 --grid 2 --arg wA=64 --arg wB=64 {_MATRICES}"
_IMAGE: Final = "--block 16,4 --grid 2 --arg width=20 --arg height=12 --arg left=-2.0 --arg top=-1.0 --arg scale=0.125"
_SUM: Final = "--block 64 --grid 2 --arg n=200 --array g_idata=random:1"

LAUNCHES: Final = {
    "vectorAdd": f"--block 256 --grid 2 --arg numElements=500 {_MATRICES}",
    "addSub0": "--block 64 --grid 2 --arg w=37 --arg h=128 --array A=random:1",
    "addSub1": "--block 64 --grid 2 --arg w=37 --arg h=128 --array A=random:1",
    "addSub2": "--block 64 --grid 2 --arg w=128 --arg h=37 --array A=random:1",
    "addSub3": "--block 64 --grid 2 --arg w=128 --arg h=37 --array A=random:1",
    "matMul": _TILES,
    "matMulTrans": _TILES,
    "matMulBad": f"--block 32,4 --grid 2 --arg wA=37 --arg wB=64 {_MATRICES}",
    "matMul16": f"--block 16,16 --grid 2,2 --arg N=32 {_MATRICES}",
    "mandelbrot": f"{_IMAGE} --arg crunch=30 --arg across=2 --arg numBlocks=6",
    "mandelbrot0": f"{_IMAGE} --arg crunch=40 --arg across=2 --arg numBlocks=6 --arg frame=1 --arg shift=0 "
    "--arg shades.x=3 --arg shades.y=5 --arg shades.z=7",
    "reduce0": _SUM,
    "reduce1": _SUM,
    "reduce2": _SUM,
    "reduce2a": _SUM,
    "reduce3": _SUM,
    "reduce3a": _SUM,
    "histogram256": "--block 64 --grid 2 --arg dataCount=200 --array d_Data=random:1",
    "histogramShared": "--block 64 --grid 2 --arg N=500 --array data=random:1",
    "synBrdis": "--block 32 --grid 2 --arg N=8 --arg M=6",
    "synBrdisOpt": "--block 32 --grid 2 --arg N=8 --arg M=6",
    "fan2": "--block 32 --grid 2 --arg N=30 --arg t=2 --array A=random:1 --array B=random:2 --array M=random:3",
    "fan2Fixed": "--block 32 --grid 2 --arg N=30 --arg t=2 --array A=random:1 --array B=random:2 --array M=random:3",
    "listRanking": "--block 512 --grid 1 --arg N=1024 --arg len=12 --array next=ones",
    "strideSweep": "--block 512 --grid 2 --arg count=32 --array a=ones",
    "bankSweep": "--block 512 --grid 2 --arg repeats=9 --array a=random:1",
}
"""The launches: small, with partial warps and odd sizes where a kernel allows them."""


@dataclass(frozen=True, slots=True)
class Found:
    """A kernel compiled for an architecture: what was found, or why nothing was."""

    name: str
    arch: str
    compared: Compared | None
    problem: str = ""


def measured(names: Sequence[str], architectures: Sequence[str]) -> Iterator[Found]:
    """The comparison of each kernel for each architecture; its bounds are found once."""
    from logic.source import SourceError

    for name in names:
        path = str(ROOT / name / "kernel.cu")
        words = ["compiled", path, *LAUNCHES[name].split()]
        try:
            known = job(parser().parse_args(words))
        except SourceError as problem:
            yield from (Found(name, arch, None, problem.message) for arch in architectures)
            continue
        for arch in architectures:
            args = parser().parse_args([*words, "--arch", arch])
            try:
                yield Found(name, arch, against(known, args))
            except SourceError as problem:
                yield Found(name, arch, None, problem.message)


def _ratio(bound: Fraction | None, cost: int) -> str:
    """How loose a bound is: its value over the cost, 1 where both are 0."""
    if bound is None:
        return "-"
    if not cost:
        return "1.00" if not bound else "-"
    return f"{float(bound / cost):.2f}"


def table(found: Sequence[Found], metric: str) -> str:
    """A metric of all kernels: the bound, the dearest warp of the run, and for each architecture that of the compiled
    code and how loose the bound is there."""
    lines = [
        f"| kernel | bound | run | {' | '.join(f'{a} | loose' for a in ARCHITECTURES)} |",
        f"|---|---:|---:|{'---:|---:|' * len(ARCHITECTURES)}",
    ]
    for name in dict.fromkeys(f.name for f in found):
        own = {
            f.arch: next((w for w in f.compared.wholes if w.metric == metric), None)
            for f in found
            if f.name == name and f.compared
        }
        known = [w for w in own.values() if w is not None]
        if not known or all(w.value == 0 == w.run == w.compiled for w in known):
            continue
        value, run = known[0].value, known[0].run
        cells = [f"[{name}](../proofs/{name}/kernel.cu)", "unknown" if value is None else str(value), str(run)]
        for arch in ARCHITECTURES:
            w = own.get(arch)
            beyond = "**" if w is not None and w.exceeded else ""
            cells += ["-", "-"] if w is None else [f"{beyond}{w.compiled}{beyond}", _ratio(w.value, w.compiled)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def covered(found: Sequence[Found]) -> str:
    """For each architecture and metric, how many bounds cover the compiled code and how loose they are."""
    lines = [
        "| architecture | metric | bounds | cover | median loose | worst | exact |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for arch in ARCHITECTURES:
        own = [f.compared for f in found if f.arch == arch and f.compared]
        for metric in METRICS:
            rows = [w for c in own for w in c.wholes if w.metric == metric and w.value is not None]
            ratios = [w.value / w.compiled for w in rows if w.value is not None and w.compiled]
            exact = sum(w.value == w.compiled for w in rows)
            loose = f"{float(median(ratios)):.2f} | {float(max(ratios)):.2f}" if ratios else "- | -"
            lines.append(
                f"| {arch} | {metric} | {len(rows)} | {sum(not w.exceeded for w in rows)} | {loose} | {exact} |"
            )
    return "\n".join(lines)


def became(found: Sequence[Found]) -> str:
    """How many accesses of all kernels became what, on each architecture; one can be in two classes."""
    counts = {
        a: Counter(k for f in found if f.arch == a and f.compared for r in f.compared.rows for k in r.fate.classes)
        for a in ARCHITECTURES
    }
    whole = {a: sum(len(f.compared.rows) for f in found if f.arch == a and f.compared) for a in ARCHITECTURES}
    lines = [f"| became | {' | '.join(ARCHITECTURES)} |", f"|---|{'---:|' * len(ARCHITECTURES)}"]
    lines += [f"| {k} | {' | '.join(str(counts[a][k]) for a in ARCHITECTURES)} |" for k in CLASSES]
    return "\n".join([*lines, f"| accesses | {' | '.join(str(whole[a]) for a in ARCHITECTURES)} |"])


def machine(found: Sequence[Found]) -> str:
    """A table of what machine code of the kernels needs: registers of a thread, and bytes of shared memory of a
    block."""
    lines = [
        f"| kernel | {' | '.join(f'{a} registers | shared' for a in ARCHITECTURES)} |",
        f"|---|{'---:|---:|' * len(ARCHITECTURES)}",
    ]
    for name in dict.fromkeys(f.name for f in found):
        own = {f.arch: f.compared.machine for f in found if f.name == name and f.compared}
        if any(own.values()):
            cells = [f"{m.registers} | {m.shared}" if m else "- | -" for m in map(own.get, ARCHITECTURES)]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    code = [(f, f.compared.machine) for f in found if f.compared and f.compared.machine]
    spilled = [f"{f.name} ({f.arch})" for f, m in code if m.spilled]
    return "\n".join([*lines, "", f"Registers are kept in memory by {', '.join(spilled) or 'none of them'}."])


def reasons(found: Sequence[Found]) -> str:
    """Where the run and the compiled code differ, on one line for each kernel and metric, with the classes of the
    accesses whose cost differs."""
    lines = [
        "| kernel | architectures | metric | all warps: run | PTX | accesses whose cost differs |",
        "|---|---|---|---:|---:|---|",
    ]
    groups: dict[tuple[str, str, str, str, str], list[str]] = {}
    for f in found:
        for w in f.compared.wholes if f.compared else ():
            if w.metric != "divwarps" and w.run_total != w.compiled_total and f.compared:
                space = "global" if w.metric == "sectors" else "shared"
                odd = Counter(
                    (r.site.kind, ", ".join(r.fate.classes))
                    for r in f.compared.rows
                    if r.site.space == space and r.site.cost != sum(s.cost for s in r.own)
                )
                told = "; ".join(f"{n} {kind}{'s' if n > 1 else ''} {what}" for (kind, what), n in odd.items())
                key = (f.name, w.metric, str(w.run_total), str(w.compiled_total), told)
                groups.setdefault(key, []).append(f.arch)
    for (name, metric, run, compiled, told), arches in groups.items():
        lines.append(f"| {name} | {', '.join(arches)} | {metric} | {run} | {compiled} | {told} |")
    return "\n".join(lines)


def values(found: Sequence[Found]) -> str:
    """How many runs leave the same arrays behind, and what differs."""
    done = [f for f in found if f.compared]
    same = [f for f in done if f.compared and not f.compared.both.differences and not f.compared.both.mixed]
    lines = [f"- {len(same)} of {len(done)} leave all arrays equal, bit for bit."]
    seen: dict[str, list[str]] = {}
    for f in done:
        c = f.compared
        if c and c.both.mixed:
            one, other = c.both.mixed
            told = f"{f.name}: not compared, '{one}' and '{other}' are the same memory, two arrays in a run"
            seen.setdefault(told, []).append(f.arch)
        for d in c.both.differences if c else ():
            kind = "integers" if d.exact else "floats"
            why = "lanes met in an atomic instruction" if c and c.both.collided else "not explained"
            if c and not d.exact and c.contracted is not None:
                why = "equal with -fmad=false" if c.contracted else "different with -fmad=false, too"
            told = f"{f.name}, '{d.array}' ({kind}): {why}"
            seen.setdefault(told, []).append(f.arch)
    return "\n".join([*lines, *(f"- {told}; {', '.join(arches)}." for told, arches in seen.items())])


def exceeded(found: Sequence[Found]) -> str:
    """Every bound that does not cover the compiled code, in all or for an access."""
    seen: dict[str, list[str]] = {}
    for f in found:
        c = f.compared
        for w in c.wholes if c else ():
            if w.over is not None:
                told = f"{f.name}, {w.metric}: a warp of the compiled code pays {w.over[1]}, the bound is {w.over[0]}"
                seen.setdefault(told, []).append(f.arch)
        for r in c.rows if c else ():
            if r.exceeded:
                loc, kind, array = r.fate.key
                what = f"{f.name}, line {loc.line}, the {kind} of `{array}` ({', '.join(r.fate.classes)})"
                seen.setdefault(f"{what}: pays more than its own bound allows", []).append(f.arch)
    lines = [f"- {told}; {', '.join(arches)}." for told, arches in seen.items()]
    return "\n".join(lines) or "None."


def left_out(found: Sequence[Found]) -> str:
    """A list of the kernels that could not be compared."""
    seen: dict[str, list[str]] = {}
    for f in found:
        if f.compared is None:
            seen.setdefault(f"{f.name}: {f.problem}", []).append(f.arch)
    lines = [f"- {told}; {', '.join(arches)}." for told, arches in seen.items()]
    return "\n".join(lines) or "Every kernel could be compared."


def page(found: Sequence[Found]) -> str:
    """The page."""
    version = next((f.compared.compiler for f in found if f.compared), "")
    texts = {
        "VERSION": version,
        "KERNELS": str(len({f.name for f in found})),
        "COVERED": covered(found),
        "SECTORS": table(found, "sectors"),
        "CONFLICTS": table(found, "conflicts"),
        "DIVWARPS": table(found, "divwarps"),
        "BECAME": became(found),
        "MACHINE": machine(found),
        "REASONS": reasons(found),
        "VALUES": values(found),
        "EXCEEDED": exceeded(found),
        "LEFT_OUT": left_out(found),
        "LAUNCHES": "\n".join(f"    {name:16}{words}" for name, words in LAUNCHES.items()),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, value in texts.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def main(names: Sequence[str]) -> None:
    """Writes the page; with names, prints it for these kernels alone."""
    found = []
    for one in measured(names or list(LAUNCHES), ARCHITECTURES):
        found.append(one)
        sys.stderr.write(f"{one.name} {one.arch}: {one.problem or 'done'}\n")
    if names:
        sys.stdout.write(page(found))
    else:
        PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
