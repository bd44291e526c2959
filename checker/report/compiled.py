"""The report of `compiled`: certified bounds of a source, a run of it, and a run of what a compiler makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checker.analysis.compiled.compare import Both, Row, Whole
from checker.analysis.compiled.launch import Difference
from checker.analysis.nvcc import Machine
from checker.notation.words import many, number
from checker.report.page import Fault, Page, Section
from checker.report.terminal import wrapped
from semantics.events import Dim

_HEAD = ("access", "array", "instructions", "became", "bound", "run", "PTX", "executed", "PTX executed")
_WHOLE = ("metric", "bound", "warp: bound", "run", "PTX", "all warps: run", "PTX")


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison: what was compiled how, on which launch, and all that was found. `contracted` says whether floats
    are equal where the compiler makes no product and sum one operation; None where that was not tried. `machine` is
    what machine code of it needs, where that was made."""

    file: str
    arch: str
    compiler: str
    block: Dim
    grid: Dim
    both: Both
    rows: Sequence[Row]
    wholes: Sequence[Whole]
    contracted: bool | None
    machine: Machine | None
    assumptions: Sequence[str]

    @property
    def exceeded(self) -> bool:
        """Whether the compiled code needs more than is certified of the source."""
        return any(w.exceeded for w in self.wholes) or any(r.exceeded for r in self.rows)

    @property
    def wrong(self) -> list[Difference]:
        """The arrays of integers that the two runs leave different, for no known reason."""
        return [] if self.both.collided else [d for d in self.both.differences if d.exact]

    @property
    def refuted(self) -> bool:
        """Whether a run shows that the semantics or a bound of the source cannot be right."""
        return bool(self.wrong) or any(w.refuted for w in self.wholes)

    @property
    def code(self) -> int:
        """The exit code."""
        if self.refuted:
            return 3
        if self.exceeded:
            return 4
        return int(any(w.verdict != "certified" or w.value is None for w in self.wholes))


# --- text ------------------------------------------------------------------------------------------------------------


def as_text(c: Compared) -> str:
    """The comparison for a terminal."""
    parts = [_title(c), columns([_WHOLE, *map(_whole, c.wholes)]), columns([_HEAD, *(_row(c, r) for r in c.rows)])]
    parts += ["\n".join(notes(c))] if notes(c) else []
    parts += ["\n".join(f"error: {text}" for _, text in problems(c))] if problems(c) else []
    parts += ["\n".join(_without_bound(c))] if _without_bound(c) else []
    return "\n\n".join([*parts, f"Assumed: {', '.join(c.assumptions)}."])


def _without_bound(c: Compared) -> list[str]:
    """Why metrics have no bound, and where advice is."""
    found = [wrapped(f"{w.metric}: {w.problem or w.verdict}", "", "  ") for w in c.wholes if w.bound is None]
    return [*found, f"`warpbound bound {c.file}` says what would help."] if found else []


def columns(table: Sequence[Sequence[str]]) -> str:
    """A table in columns."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join("  ".join(f"{x:{w}}" for x, w in zip(row, widths, strict=True)).rstrip() for row in table)


def _title(c: Compared) -> str:
    def dim(d: Dim) -> str:
        return ",".join(map(str, d))

    compiler = f" (nvcc {c.compiler})" if c.compiler else ""
    return f"{c.both.kernel.name} for {c.arch}{compiler}: blocks of {dim(c.block)}, a grid of {dim(c.grid)}"


def _whole(w: Whole) -> tuple[str, ...]:
    value = "unknown" if w.value is None else str(w.value)
    beyond = "  exceeded" if w.exceeded else ""
    return (
        w.metric,
        w.bound or w.verdict,
        value,
        str(w.run),
        f"{w.compiled}{beyond}",
        str(w.run_total),
        str(w.compiled_total),
    )


def _most(r: Row) -> str:
    return str(max((s.most for s in r.own), default=0)) if r.own else "-"


def instructions(c: Compared, r: Row) -> str:
    """The instructions of an access: `4 x ld.global.f32`."""
    found = Counter(c.both.function.code[at].opcode for at, _ in r.fate.own)
    return ", ".join(f"{n} x {name}" if n > 1 else name for name, n in found.items()) or "-"


def _became(r: Row) -> str:
    other = f" with {r.fate.merged_with[0]}" if r.fate.merged_with else ""
    return f"{', '.join(r.fate.classes)}{other}{', exceeded' if r.exceeded else ''}"


def _row(c: Compared, r: Row) -> tuple[str, ...]:
    loc, kind, array = r.fate.key
    each = "unknown" if r.each is None else str(r.each)
    times = str(sum(s.times for s in r.own))
    return (
        f"{loc} {kind}",
        array,
        instructions(c, r),
        _became(r),
        each,
        str(r.site.most),
        _most(r),
        str(r.site.times),
        times,
    )


def notes(c: Compared) -> list[str]:
    """Notes on the comparison."""
    found = ["bound, run and PTX of an access: the sectors, or conflicts, of one execution by a warp, at most"]
    if c.machine is not None:
        found.append(f"machine code: {needs(c.machine)}")
    local = [at for at in c.both.nobody if c.both.compiled.sites[at].space == "local"]
    others = [at for at in c.both.nobody if at not in local]
    if local:
        found.append(f"{many(len(local), 'instruction')} on a thread's own memory, which no metric counts")
    for at, kind in others:
        i, site = c.both.function.code[at], c.both.compiled.sites[at, kind]
        found.append(f"{i.loc}: {i.opcode} on '{site.array}' is of no access of the source")
    for d in c.both.differences:
        found.append(_apart(d))
        if not d.exact and c.contracted is not None:
            with_or = "equal" if c.contracted else "different, too,"
            found.append(f"they are {with_or} where the compiler makes no product and sum one operation (-fmad=false)")
    if c.both.mixed is not None:
        one, other = c.both.mixed
        found.append(
            f"the final arrays are not compared: '{one}' and '{other}' are the same memory, two arrays in a run"
        )
    elif not c.both.differences:
        found.append("the final arrays are equal, bit for bit")
    if c.both.collided and c.both.differences:
        found.append("lanes met in an atomic instruction, of which a run of the source keeps one: so values differ")
    return [*found, *c.both.undefined]


def needs(m: Machine) -> str:
    """The needs of machine code, in words."""
    spilled = f"{many(m.spilled, 'byte')} of registers kept in memory" if m.spilled else "none kept in memory"
    return f"{many(m.registers, 'register')} a thread, {spilled}, {many(m.shared, 'byte')} of static shared memory"


def _apart(d: Difference) -> str:
    what = f"{d.count} of {many(d.looked, 'element')} of '{d.array}' differ"
    apart = "" if d.exact else f", by {d.relative:.1e} at most" if d.relative < 1e300 else ", some by all that they are"
    return f"{what}{apart}: at {d.index} the run has {d.source}, PTX {d.compiled}"


def problems(c: Compared) -> list[tuple[str, str]]:
    """The faults that a page shows: the rule of each, and a sentence."""
    found = []
    for w in c.wholes:
        if w.under is not None:
            bound, paid = w.under
            found.append(("refuted", f"{w.metric}: a warp of the source pays {paid}, the bound is {bound}"))
        if w.over is not None:
            bound, paid = w.over
            told = f"{w.metric}: a warp of the compiled code pays {paid}, certified of the source are {bound}"
            found.append(("exceeded", told))
    for r in c.rows:
        if r.exceeded:
            loc, kind, array = r.fate.key
            paid = sum(s.cost for s in r.own)
            told = f"{loc}: the {kind} of '{array}' pays {paid} in the compiled code, its bound allows {r.allowed}"
            found.append(("exceeded", f"{told}; some warp pays more than its share"))
    found += [("refuted", f"integers differ: {_apart(d)}") for d in c.wrong]
    return found


# --- JSON and pages --------------------------------------------------------------------------------------------------


def as_json(c: Compared) -> dict[str, Any]:
    """The comparison for programs."""
    return {
        "kernel": c.both.kernel.name,
        "arch": c.arch,
        "compiler": c.compiler or None,
        "block": list(c.block),
        "grid": list(c.grid),
        "metrics": [_json_whole(w) for w in c.wholes],
        "accesses": [_json_row(c, r) for r in c.rows],
        "others": [_json_other(c, at) for at in c.both.nobody],
        "differences": [
            {
                "array": d.array,
                "exact": d.exact,
                "elements": d.count,
                "of": d.looked,
                "index": d.index,
                "run": str(d.source),
                "compiled": str(d.compiled),
            }
            for d in c.both.differences
        ],
        "equal_without_contraction": c.contracted,
        "collided": c.both.collided,
        "machine": None
        if c.machine is None
        else {"registers": c.machine.registers, "shared": c.machine.shared, "spilled": c.machine.spilled},
        "notes": notes(c),
        "problems": [text for _, text in problems(c)],
        "assumptions": list(c.assumptions),
    }


def _json_whole(w: Whole) -> dict[str, Any]:
    return {
        "metric": w.metric,
        "verdict": w.verdict,
        "bound": w.bound,
        "value": None if w.value is None else number(w.value),
        "run": number(w.run),
        "compiled": w.compiled,
        "run_total": number(w.run_total),
        "compiled_total": w.compiled_total,
        "exceeded": w.exceeded,
    }


def _json_row(c: Compared, r: Row) -> dict[str, Any]:
    loc, kind, array = r.fate.key
    other = r.fate.merged_with
    return {
        "file": loc.file,
        "line": loc.line,
        "column": loc.column,
        "kind": kind,
        "array": array,
        "space": r.site.space,
        "width": r.site.width,
        "became": list(r.fate.classes),
        "merged_with": None if other is None else str(other[0]),
        "instructions": [_json_other(c, at) for at in r.fate.own],
        "bound": r.each,
        "allowed": r.allowed,
        "run": {"most": r.site.most, "executions": r.site.times, "cost": r.site.cost},
        "exceeded": r.exceeded,
    }


def _json_other(c: Compared, at: tuple[int, str]) -> dict[str, Any]:
    i, site = c.both.function.code[at[0]], c.both.compiled.sites[at]
    return {
        "line": i.loc.line,
        "opcode": i.opcode,
        "array": site.array,
        "space": site.space,
        "width": site.width,
        "most": site.most,
        "executions": site.times,
        "cost": site.cost,
    }


def as_page(c: Compared) -> Page:
    """The comparison as a page."""
    faults = [Fault(rule, text, c.both.kernel.loc or c.file) for rule, text in problems(c)]
    faults += [
        Fault("not-proved", f"{w.metric}: {w.problem or w.verdict}", c.file) for w in c.wholes if w.bound is None
    ]
    sections = [
        Section("In all", head=_WHOLE, rows=[_whole(w) for w in c.wholes], code=("bound",)),
        Section("By access", head=_HEAD, rows=[_row(c, r) for r in c.rows], code=("access", "array", "instructions")),
        Section("Notes", items=[*notes(c), *(text for _, text in problems(c))]),
    ]
    return Page(_title(c), sections, faults, c.assumptions)
