"""Predictions of run times as text, as JSON and as a page: the formula, each term, what it rests on and leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from checker.analysis.runtime import Device, Figures, Model, Terms, Uncertified, figures
from checker.certificates.claims import known_sizes
from checker.notation.annotations import Limit, Sizes
from checker.notation.problem import OptionProblem
from checker.notation.words import number
from checker.report.backed import rests_on as backed_sentence
from checker.report.bounds import assumptions, rests_on
from checker.report.page import Fault, Page, Section
from checker.report.rejection import describe
from checker.synthesis.walk import Stuck
from logic import potentials
from logic.assertions import Context, Dim
from logic.formulas import Apply, Formula, Number, evaluate, names, show
from logic.potentials import Leaf, Poly, const, leaves, substitute
from logic.syntax import Kernel, Param

IGNORED: Final = (
    "caches: an access costs the same wherever its data is",
    "synchronisation inside a kernel: a barrier costs its cycles, not the time spent waiting",
    "divergence: a thread pays for both sides of a branch that divides its group, and nothing for the rest of its warp",
    "bandwidth, atomics that collide, launches, and copies between host and device",
)
"""Effects that the model leaves out (HiPC 2009, sections 3.1 and 6)."""

_ONE: Final = Number(Fraction(1))

_LONGEST: Final = 10**300
"""Seconds; a float holds what a few such kernels take."""


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel: its launch, the certified terms or the `problem` with them, and the figures at the point.

    `estimate` are the figures with a contention that is expected, not certified.
    """

    path: str
    kernel: Kernel
    context: Context
    block: tuple[int, int, int]
    grid: Sizes
    notes: Sequence[str]
    terms: Terms | None = None
    problem: str = ""
    figures: Figures | None = None
    estimate: Figures | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction that is printed: kernels one after the other (equation 1)."""

    device: Device
    model: Model
    at: Mapping[str, int]
    rows: tuple[Row, ...]
    contention: Fraction | None
    bins: int | None


def reason(problem: Uncertified) -> str:
    """Why a kernel has no certified terms."""
    result = problem.result
    if result is None:
        return problem.reason
    if result.verdict == "solver-backed":
        return f"{result.metric.name}: {backed_sentence(rests_on(result))}"
    if result.problem is None:
        return f"{result.metric.name}: a barrier is not known to be reached by all threads of a block together"
    if isinstance(result.problem, Stuck):
        where = f"{result.problem.loc}: " if result.problem.loc else ""
        return f"{result.metric.name}: {where}{result.problem.message}. {result.problem.advice}".rstrip(" .") + "."
    return f"{result.metric.name}: {describe(result.problem)}"


def constant(grid: Sizes) -> Dim:
    """The sizes that do not depend on parameters; None for the others."""
    x, y, z = (None if names(f) else int(_size(f, {})) for f in grid)
    return x, y, z


def _size(f: Formula, at: Mapping[str, int]) -> int:
    """A size of a grid at a point. Raises OptionProblem where it is none, KeyError where a name has no value."""
    value = evaluate(f, at)
    if value < 1 or value.denominator != 1:
        where = f" at {', '.join(f'{n}={at[n]}' for n in sorted(names(f)))}" if names(f) else ""
        raise OptionProblem(
            f"the grid has {show(f)} = {value} blocks{where}, which is no positive whole number",
            advice="Divisions are exact: write ceil(n/256), and choose a point where there are threads.",
        )
    return int(value)


def check_names(at: Mapping[str, int], rows: Sequence[Row]) -> None:
    """Raises OptionProblem for a name in a point that no kernel has, and for one that a grid lacks there."""
    known = dict.fromkeys(d.name for row in rows for d in row.kernel.params)
    for name in sorted(at.keys() - known):
        there = f"There are: {', '.join(known)}." if known else "There are no scalar parameters."
        who = " or ".join(row.kernel.name for row in rows)
        raise OptionProblem(f"--at: '{name}' is no parameter of {who}", advice=there)
    for row in rows:
        _check_point(frozenset[str]().union(*map(names, row.grid)), at, row)


def _check_point(wanted: frozenset[str], at: Mapping[str, int], row: Row) -> None:
    missing = sorted(wanted - at.keys())
    if missing:
        raise OptionProblem(
            f"--at lacks {' and '.join(missing)}, which the run time of {row.kernel.name} depends on",
            advice=f"Write it like --at {','.join(f'{name}=1024' for name in missing)}.",
        )


def point(row: Row, at: Mapping[str, int]) -> dict[str, int]:
    """The point with the sizes of the grid there, as far as they are known."""
    sizes = {
        f"gridDim.{axis}": _size(f, at)
        for axis, f in zip("xyz", row.grid, strict=True)
        if all(name in at for name in names(f))
    }
    return {**at, **sizes}


def broken(limits: Iterable[Limit], at: Mapping[str, int]) -> str | None:
    """A limit that does not hold at a point."""
    for limit in limits:
        store: dict[Leaf, int] = {Param(name): n for name, n in at.items()}
        if (
            limit.name in at
            and leaves(limit.most) <= store.keys()
            and at[limit.name] > potentials.evaluate(limit.most, store)
        ):
            return limit.text
    return None


def evaluated(row: Row, device: Device, model: Model, at: Mapping[str, int]) -> Row:
    """The row with its figures. Raises OptionProblem where the point lacks a parameter."""
    if row.terms is None:
        return row
    polys = (row.terms.computation, *row.terms.memory, *(row.terms.expected or ()))
    wanted = {x.name for q in polys for x in leaves(q)} - {x.name for x in known_sizes(row.context)}
    _check_point(frozenset(name for name in wanted if not name.startswith("gridDim.")), at, row)
    there = point(row, at)
    blocks = there["gridDim.x"] * there["gridDim.y"] * there["gridDim.z"]
    threads = row.block[0] * row.block[1] * row.block[2]
    store: dict[Leaf, int] = {**{Param(name): n for name, n in there.items()}, **known_sizes(row.context)}
    found = figures(device, model, blocks, threads, row.terms.computation, row.terms.memory, store)
    if found.seconds > _LONGEST:
        raise OptionProblem(
            "--at: the time there has more digits than can be printed", advice="Choose a smaller point."
        )
    guess = row.terms.expected
    estimate = figures(device, model, blocks, threads, row.terms.computation, guess, store) if guess else None
    return replace(row, figures=found, estimate=estimate)


# --- formulas as text ------------------------------------------------------------------------------------------------


def term(q: Poly, row: Row) -> str:
    """A term as text, with the sizes of the launch filled in."""
    filled = substitute(q, {leaf: const(n) for leaf, n in known_sizes(row.context).items()})
    grid = dict(zip("xyz", row.grid, strict=True))
    return re.sub(r"gridDim\.([xyz])", lambda m: f"({show(grid[m[1]])})", str(filled))


def memory_text(row: Row, mem: Sequence[Poly]) -> str:
    """N_memory as text."""
    texts = [term(q, row) for q in mem]
    return texts[0] if len(texts) == 1 else f"min({', '.join(texts)})"


def cycles_text(row: Row, model: Model) -> str:
    """C_T as text."""
    if row.terms is None:
        return ""
    comp, mem = term(row.terms.computation, row), memory_text(row, row.terms.memory)
    if "0" in (comp, mem):
        return f"max(0, {mem if comp == '0' else comp})"
    return f"max({comp}, {mem})" if model == "max" else f"({comp} + {mem})"


def blocks_text(row: Row, device: Device) -> str:
    """N_B as text."""
    sizes = [f for f in row.grid if f != _ONE] or [_ONE]
    product = sizes[0]
    for f in sizes[1:]:
        product = Apply("*", (product, f))
    return show(Apply("ceil", (Apply("/", (product, Number(Fraction(device.multiprocessors)))),)))


def formula(row: Row, device: Device, model: Model) -> str:
    """T(K) in milliseconds as text, which `checker.notation.formulas` reads back."""
    threads = row.block[0] * row.block[1] * row.block[2]
    warps = -(-threads // device.warp)
    per_millisecond = Fraction(device.clock, 1000)
    clock = str(per_millisecond) if per_millisecond.denominator == 1 else f"({per_millisecond})"
    return (
        f"{blocks_text(row, device)} * {warps} * {device.warp} * {cycles_text(row, model)}"
        f" / ({device.cores}*{device.depth}) / {clock}"
    )


# --- JSON ------------------------------------------------------------------------------------------------------------


def milliseconds(rows: Iterable[Figures | None]) -> Fraction | None:
    """The sum of the times, None where one is missing."""
    total = Fraction(0)
    for found in rows:
        if found is None:
            return None
        total += found.seconds * 1000
    return total


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def as_json(p: Prediction) -> dict[str, Any]:
    """The object that `predict --format json` prints. Times are floats, made from exact numbers at the very end."""
    total = milliseconds(row.figures for row in p.rows)
    device = {
        "N_t": p.device.warp,
        "N_C": p.device.cores,
        "D": p.device.depth,
        "R": p.device.clock,
        "multiprocessors": p.device.multiprocessors,
    }
    found: dict[str, Any] = {
        "formula": None if total is None else " + ".join(formula(row, p.device, p.model) for row in p.rows),
        "milliseconds": _float(total),
        "exact": None if total is None else str(total),
        "device": p.device.name,
        "model": p.model,
        "at": dict(p.at),
        "terms": {**device, **(_figures(p.rows[0].figures) if len(p.rows) == 1 else {})},
        "kernels": [_kernel(row, p) for row in p.rows],
        "ignores": list(IGNORED),
    }
    if p.contention is not None:
        expected = milliseconds(row.estimate for row in p.rows)
        found["estimate"] = {
            "milliseconds": _float(expected),
            "bins": p.bins,
            "contention": float(p.contention),
            "certified": False,
        }
    return found


def _figures(found: Figures | None) -> dict[str, int | str]:
    if found is None:
        return {}
    return {
        "N_B": found.n_b,
        "N_w": found.n_w,
        "N_comp": number(found.n_comp),
        "N_memory": number(found.n_memory),
        "C_T": number(found.c_t),
    }


def _kernel(row: Row, p: Prediction) -> dict[str, Any]:
    if row.terms is None:
        return {"kernel": row.kernel.name, "file": row.path, "verdict": "not-proved", "problem": row.problem}
    time = milliseconds((row.figures,))
    found: dict[str, Any] = {
        "kernel": row.kernel.name,
        "file": row.path,
        "verdict": "certified",
        "formula": formula(row, p.device, p.model),
        "milliseconds": _float(time),
        "terms": _figures(row.figures),
        "bounds": {
            "N_comp": term(row.terms.computation, row),
            "N_memory": memory_text(row, row.terms.memory),
        },
        "assumptions": _assumptions(row),
    }
    if row.estimate is not None:
        found["estimate"] = {**_figures(row.estimate), "milliseconds": _float(milliseconds((row.estimate,)))}
    return found


def _assumptions(row: Row) -> list[str]:
    given = [] if row.terms is None else [f"given, and not checked: {limit.text}" for limit in row.terms.limits]
    told = replace(row.context, launch=replace(row.context.launch, grid=(None, None, None)))
    others = assumptions(row.kernel, told, row.notes)
    return [*given, f"a grid of {_sizes(row)} blocks for {row.kernel.name}", *others]


def _sizes(row: Row) -> str:
    """The sizes of a grid as text, ones at the end left out."""
    last = max((i for i, f in enumerate(row.grid) if f != _ONE), default=0)
    return " x ".join(show(f) for f in row.grid[: last + 1])


# --- text ------------------------------------------------------------------------------------------------------------


def as_text(p: Prediction) -> str:
    """The prediction for a person."""
    lines = [_title(p)]
    for row in p.rows:
        lines += ["", *_row(row, p)]
    if milliseconds(row.figures for row in p.rows) is None:
        return "\n".join(lines)
    if p.contention is not None:
        lines += ["", *_expected(p)]
    lines += ["", _LEFT_OUT]
    lines += [f"  - {text}" for text in IGNORED]
    lines += ["", "This assumes:"]
    lines += [f"  - {text}" for text in _all_assumptions(p)]
    return "\n".join(lines)


_LEFT_OUT: Final = (
    "N_comp and N_memory are certified bounds on the cycles of a thread; the time is the model's. It leaves out:"
)


def _title(p: Prediction) -> str:
    total = milliseconds(row.figures for row in p.rows)
    at = f" at {', '.join(f'{name} = {n}' for name, n in p.at.items())}" if p.at else ""
    head = "No prediction" if total is None else f"{_ms(total)} ms, an estimate"
    return f"{head}: {p.device.name}, model {p.model}{at}"


def _expected(p: Prediction) -> list[str]:
    """The conflicts to expect of shared accesses at random."""
    expected = milliseconds(row.estimate for row in p.rows)
    told = "none" if expected is None else f"{_ms(expected)} ms"
    return [
        f"Expected with {p.bins} bins taken at random: {told}. Nothing certifies this: the largest number of",
        f"threads at a bank is put at its expected value, {float(p.contention or 0):.3f}, in every shared access.",
    ]


def _all_assumptions(p: Prediction) -> list[str]:
    return list(dict.fromkeys(a for row in p.rows for a in _assumptions(row)))


def _row(row: Row, p: Prediction) -> list[str]:
    if row.figures is None:
        return [f"{row.kernel.name}: not certified", f"  {row.problem}"]
    rows = _terms(row, p)
    widths = [max(len(cells[i]) for cells in rows) for i in range(3)]
    lines = [_time(row, row.figures)]
    lines += [
        f"  {name:<{widths[0]}}  {text:<{widths[1]}}  {value:>{widths[2]}}".rstrip() for name, text, value in rows
    ]
    return lines


def _time(row: Row, found: Figures) -> str:
    return f"{row.kernel.name}: N_B * N_w * N_t * C_T / (N_C * D) / R = {_ms(found.seconds * 1000)} ms"


def _terms(row: Row, p: Prediction) -> list[tuple[str, str, str]]:
    """The terms of a kernel's time, each with its formula and its value; none where they are not certified."""
    found, terms, device = row.figures, row.terms, p.device
    if found is None or terms is None:
        return []
    block = " * ".join(str(n) for n in row.block if n != 1) or "1"
    together = "max(N_comp, N_memory)" if p.model == "max" else "N_comp + N_memory"
    return [
        ("N_B", blocks_text(row, device), str(found.n_b)),
        ("N_w", f"ceil({block}/{device.warp})", str(found.n_w)),
        ("N_t", "", str(device.warp)),
        ("N_comp", term(terms.computation, row), str(found.n_comp)),
        ("N_memory", memory_text(row, terms.memory), str(found.n_memory)),
        ("C_T", together, str(found.c_t)),
        ("N_C * D", f"{device.cores} * {device.depth}", str(device.cores * device.depth)),
        ("R", "cycles a second", str(device.clock)),
    ]


# --- the page --------------------------------------------------------------------------------------------------------


def as_page(p: Prediction) -> Page:
    """The prediction as a page: each kernel's terms. A fault for each kernel without certified terms."""
    sections, faults = [], []
    for row in p.rows:
        if row.figures is None:
            told = f"{row.kernel.name}: not certified: {row.problem}"
            sections.append(Section(row.kernel.name, fixed=told))
            faults.append(Fault("not-certified", told, row.kernel.loc or row.path))
        else:
            head, rows = ("term", "is", "here"), _terms(row, p)
            sections.append(Section(row.kernel.name, _time(row, row.figures), head, rows, code=("is",)))
    if not faults:
        sections += [Section(text=" ".join(_expected(p)))] if p.contention is not None else []
        sections += [Section("An estimate", _LEFT_OUT, items=IGNORED)]
    return Page(_title(p), sections, faults, _all_assumptions(p))


def _ms(value: Fraction) -> str:
    return f"{float(value):.4g}"
