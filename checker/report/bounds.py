"""Results of `bound` as text, as JSON and as a page, with everything that they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from checker.analysis.places import Explained, accesses
from checker.certificates.claims import (
    SUBJECTS,
    assumed_inside,
    claimed,
    described,
    extent,
    is_known,
    named,
    shown,
    subject,
    value_at,
)
from checker.certificates.origin import SAID
from checker.notation.words import number
from checker.report.backed import Backed, backed
from checker.report.backed import as_json as backed_json
from checker.report.backed import as_text as backed_text
from checker.report.backed import rests_on as backed_sentence
from checker.report.page import Fault, Page, Section
from checker.report.rejection import describe
from checker.report.terminal import wrapped
from checker.report.verdicts import EXIT
from checker.synthesis.bound import Per, Result
from checker.synthesis.walk import Stuck
from logic.assertions import AtLeast, Context, P, show_p
from logic.contracts import arrays_of, unchanging
from logic.derivation import Derivation
from logic.metrics import Hardware, Metric
from logic.potentials import leaves
from logic.refusals import Refusal
from logic.rules import SOUND
from logic.source import Loc, SourceError
from logic.syntax import WARP_INDEX, Kernel, Param, Sync, show_stmt, statements

if TYPE_CHECKING:
    from checker.refutation.witness import Witness

MATHEMATICAL: Final = (
    "no signed overflow, also where a sum of ints and unsigned sizes is converted to int",
    "unsigned values are modulo 2^32 or 2^64, and a grid has at most 2^31 threads along an axis",
)
"""The assumption of every bound about the numbers of C."""


def exit_code(results: Iterable[Result], accepted: Collection[str] = ()) -> int:
    """The worst exit code of the results, where verdicts in `accepted` count as certified."""
    codes = [0 if r.verdict in accepted else EXIT[r.verdict] for r in results]
    return max(codes, key=(0, 1, 3, 2).index, default=0)


def parameters(kernel: Kernel) -> str:
    """A sentence that lists a kernel's scalar parameters."""
    names = [d.name for d in kernel.params]
    return f"Its parameters: {', '.join(names)}." if names else "It has no scalar parameters."


def idealised(hardware: Hardware) -> tuple[str, ...]:
    """The idealisations of the model, which every bound rests on."""
    return (
        *MATHEMATICAL,
        f"every array starts at a multiple of {hardware.alignment} bytes",
        "cost is as the lock-step semantics defines it: no caches, compiled code does what the source says",
    )


def assumptions(kernel: Kernel, context: Context, notes: Iterable[str] = (), barriers: Iterable[int] = ()) -> list[str]:
    """The assumptions of a bound besides the derivation: the model's idealisations, and what the user assumed. `notes`
    are what reading the source assumed, which may say some of the idealisations themselves."""
    ideal = idealised(context.hardware)
    contracts = context.launch.contracts
    given = [f"given: {c}" for c in contracts if c not in map(unchanging, c.arrays)]
    if contracts:
        arrays = " or ".join(sorted(arrays_of(contracts)))
        given.append(f"what the kernel writes is no part of {arrays}, which nothing else changes meanwhile")
    given += [f"given: {show_p((fact,))}" for fact in context.launch.assumptions]
    launch = context.launch
    return [
        *given,
        *assumed_inside(kernel),
        *(
            f"{what} of {extent(sizes)}"
            for what, sizes in (("blocks", launch.block), ("a grid", launch.grid))
            if any(sizes)
        ),
        *(described(own) for own in (context.metric, context.hardware) if not is_known(own)),
        *(f"all threads of a block reach {barrier} together" for barrier in _named(kernel, barriers)),
        *(note for note in dict.fromkeys(notes) if note.removeprefix(SAID) not in ideal),
        *ideal,
    ]


def _named(kernel: Kernel, barriers: Iterable[int]) -> list[str]:
    """The barriers of these numbers, each once, with their places."""
    syncs = [s.loc for s in statements(kernel.body) if isinstance(s, Sync)]
    return [f"the barrier at {syncs[n]}" if syncs[n] else "the barrier" for n in sorted(set(barriers))]


def as_json(
    kernel: Kernel,
    context: Context,
    result: Result,
    per: str,
    at: dict[str, int],
    notes: Sequence[str],
    certificate: str | None,
) -> dict[str, Any]:
    """One row of `bound --format json`."""
    bound = None if result.claim is None else shown(result.claim)
    value = None if bound is None else value_at(bound, context, at)[0]
    row: dict[str, Any] = {
        "kernel": kernel.name,
        "metric": result.metric.name,
        "per": subject(context, per),
        "bound": None if bound is None else str(bound),
        "verdict": result.verdict,
        "value": None if value is None else number(value),
        "assumptions": assumptions(kernel, replace(context, metric=result.metric), notes, result.ledger.barriers),
        "certificate": certificate,
        "seconds": round(result.seconds, 4),
        "claim": None if result.claim is None else claimed(result.claim),
    }
    if result.problem is not None:
        row["problem"] = _problem(result)
    if result.second is not None and result.second.engines:
        row["engines"], row["solver_backed"] = result.second.engines, result.second.report.solver_backed
        row["backed"] = backed_json(rests_on(result))
    return row


def sharper(result: Result, kernel: str) -> Iterator[str]:
    """Warnings that there may be a sharper bound than the one that is claimed, or that there is one of another kind."""
    about = f"{kernel}, {result.metric.name}"
    if result.hurried and result.claim is not None:
        yield f"{about}: there was no time for a sharper bound: a larger --time-limit gives it more"
    if result.backed is not None:
        known = f"that it is at most {shown(result.backed)} rests on the word of a solver"
        yield f"{about}: {known}: --accept solver-backed takes it for enough"


def unsupported(kernel: str | None, metric: Metric, per: str, problem: SourceError) -> dict[str, Any]:
    """The row of `bound --format json` for a kernel that uses what miniCUDA does not have."""
    where = f"{problem.loc}: " if problem.loc else ""
    return {
        "kernel": kernel,
        "metric": metric.name,
        "per": per,
        "bound": None,
        "verdict": "unsupported",
        "value": None,
        "assumptions": [],
        "certificate": None,
        "seconds": 0,
        "claim": None,
        "problem": f"{where}{problem.message}",
    }


def with_witness(row: dict[str, Any], witness: Witness | None, again: str) -> dict[str, Any]:
    """The row with the dearest run found and the command that runs it again."""
    found = None if witness is None else {**as_witness(witness), "run": again}
    return {**row, "witness": found, "exact": witness is not None and witness.exact}


def as_witness(witness: Witness) -> dict[str, Any]:
    """An input and what it costs, for JSON."""
    given = witness.input
    return {
        "args": dict(given.args),
        "arrays": dict(given.arrays),
        "block": list(given.block),
        "grid": list(given.grid),
        "cost": number(witness.cost),
        "bound": number(witness.bound),
    }


def witness_text(name: str, witness: Witness | None, again: str, at: Mapping[str, int]) -> list[str]:
    """The witness of a bound, in words: how close a run comes to it. A run has all blocks and warps, whichever the
    point names."""
    if witness is None:
        data = " with the elements of arrays that --at names" if any("[" in name for name in at) else ""
        return [f"  {name}: no input was found that runs{data}"]
    gap = "exact" if witness.exact else f"at most {witness.bound} there"
    whole = " in its dearest warp" if any(n.startswith("blockIdx.") or n == WARP_INDEX for n in at) else ""
    return [f"  {name}: a run costs {witness.cost}{whole}, {gap}", f"      {again}"]


def _problem(result: Result) -> str:
    problem = result.problem
    if isinstance(problem, Stuck):
        where = f"{problem.loc}: " if problem.loc else ""
        return f"{where}{problem.message}" + (f". {problem.advice}" if problem.advice else "")
    if problem is not None and isinstance(problem.obligation, AtLeast):
        return _too_little(problem, problem.obligation)
    return "" if problem is None else describe(problem)


def _too_little(problem: Refusal, asked: AtLeast) -> str:
    """A sentence that says that a potential may not pay for what comes after it, and what may help: among that the
    block's size, where it is one of the parameters."""
    where = f"{problem.loc}: " if problem.loc else ""
    names = {leaf.name for leaf in leaves(asked.q - asked.r) if isinstance(leaf, Param)}
    sized = any(name.startswith("blockDim.") for name in names)
    told = f"the potential here could not be shown to be enough: {asked.q} has to be at least {asked.r}"
    advice = 'Say --assume "e", with a fact that makes it so, or state //@ loop potential q; of an earlier loop.'
    block = " Or give the block's size, such as --block 256." if sized else ""
    return f"{where}{told}. {advice}{block}"


def as_text(
    kernel: Kernel,
    context: Context,
    results: Sequence[Result],
    at: dict[str, int],
    explain: bool,
    per: Per = "warp",
) -> str:
    """For a person: a line a metric, and on request where the cost comes from."""
    lines = [_title(kernel, context, per), ""]
    width = max(len(named(r.metric)) for r in results)
    texts = ["no bound" if r.claim is None else f"<= {shown(r.claim)}" for r in results]
    span, said = max(map(len, texts)), max(10, *(len(r.verdict) for r in results))
    for r, text in zip(results, texts, strict=True):
        line = f"  {named(r.metric):<{width}}  {text:<{span}}  {r.verdict:<{said}} {r.seconds:6.2f} s"
        if worth := _worth(r, context, at):
            line += f"   {worth}"
        lines.append(line.rstrip())
    for problem in _problems(results):
        lines += ["", problem]
    if explain and (told := explanation(results, context, kernel)):
        lines += ["", *told]
    return "\n".join(lines)


def _title(kernel: Kernel, context: Context, per: Per) -> str:
    return f"{kernel.name}, {SUBJECTS[subject(context, per)][0]}{_launch(kernel, context)}"


def _worth(r: Result, context: Context, at: dict[str, int]) -> str:
    """The value of a bound at the point asked for; empty where there is no bound or no point."""
    if r.claim is None or not at:
        return ""
    value, missing = value_at(shown(r.claim), context, at)
    return f"= {value}" if value is not None else f"(--at lacks {', '.join(missing)})"


def _problems(results: Sequence[Result]) -> list[str]:
    """Why there are no bounds, or whose word they rest on, in lines: each reason once, with the metrics that it is
    for."""
    problems: dict[str | tuple[Backed, ...], list[str]] = {}
    for r in results:
        if told := _problem(r) or rests_on(r):
            problems.setdefault(told, []).append(r.metric.name)
    return [
        wrapped(f"{', '.join(names)}: {problem}", more="  ")
        if isinstance(problem, str)
        else "\n".join((f"{', '.join(names)}: solver-backed", *backed_text(problem, "  ")))
        for problem, names in problems.items()
    ]


def rests_on(r: Result) -> tuple[Backed, ...]:
    """The facts that a bound rests on besides what both checkers verified; none where they verified all."""
    if r.claim is None or r.second is None or r.second.report.verdict != "solver-backed":
        return ()
    return backed(r.second.report, r.ledger, r.claim.context)


def _all_assumptions(kernel: Kernel, context: Context, results: Sequence[Result], notes: Sequence[str]) -> list[str]:
    """The assumptions of a kernel's bounds, each once."""
    barriers = [b for r in results for b in r.ledger.barriers]
    each = (assumptions(kernel, replace(context, metric=r.metric), notes, barriers) for r in results)
    return list(dict.fromkeys(text for texts in each for text in texts))


def as_page(
    kernel: Kernel,
    context: Context,
    results: Sequence[Result],
    at: dict[str, int],
    notes: Sequence[str],
    explain: bool,
    dearest: Sequence[str],
    accepted: Collection[str] = (),
    per: Per = "warp",
    taken: str = "",
) -> Page:
    """The same as a page; `dearest` is what was found of the dearest runs, `taken` what lines take of bounds. A fault
    for each that is not certified, nor has a verdict in `accepted`."""
    head = ("metric", "at most", "verdict", "seconds", *(("there",) if at else ()))
    rows = []
    for r in results:
        bound = "no bound" if r.claim is None else str(shown(r.claim))
        there = (_worth(r, context, at).removeprefix("= "),) if at else ()
        rows.append((named(r.metric), bound, r.verdict, f"{r.seconds:.2f}", *there))
    sections = [Section(head=head, rows=rows, code=("at most",))]
    sections += [Section(fixed=problem) for problem in _problems(results)]
    if explain and (told := explanation(results, context, kernel)):
        sections.append(Section("Where it comes from", fixed="\n".join(told)))
    sections += [Section(taken.partition(":\n")[0], fixed=taken.partition(":\n")[2])] if taken else []
    sections += [Section("Dearest runs found", fixed="\n".join(dearest))] if dearest else []
    faults = [_fault(kernel, r) for r in results if r.verdict not in ("certified", *accepted)]
    assumed = _all_assumptions(kernel, context, results, notes)
    return Page(_title(kernel, context, per), sections, faults, assumed)


def _fault(kernel: Kernel, r: Result) -> Fault:
    """The fault of a result, at the place of its problem or else of its kernel."""
    if r.claim is None:
        told = _problem(r) or "no bound"
    else:
        together = ", ".join(_named(kernel, r.ledger.barriers))
        told = {
            "holey": f"{claimed(r.claim)}, where all threads of a block reach {together} together",
            "solver-backed": f"{claimed(r.claim)}; {backed_sentence(rests_on(r))}",
            "refuted": f"a run costs more than the bound {shown(r.claim)}: this is a fault in warpbound",
        }.get(r.verdict, claimed(r.claim))
    where = r.problem.loc if r.problem is not None and r.problem.loc else kernel.loc
    return Fault(r.verdict, f"{kernel.name} {r.metric.name}: {r.verdict}: {told}", where)


def _launch(kernel: Kernel, context: Context) -> str:
    launch, parts = context.launch, []
    for name, dims in (("block", launch.block), ("grid", launch.grid)):
        text = " x ".join("?" if d is None else str(d) for d in dims)
        if any(d is not None for d in dims):
            size = text.removesuffix(" x 1").removesuffix(" x 1")
            parts.append(f"{name} {size if size != '?' else '? x 1'}")
    if not parts:
        return " (any block, any grid: say --block for sharper bounds)"
    strides = None in launch.grid and "gridDim." in show_stmt(kernel.body)
    return f" ({', '.join(parts)}{', any grid: say --grid for sharper bounds' if strides else ''})"


def turns(results: Iterable[Explained]) -> list[tuple[Loc | None, str, list[str]]]:
    """Loops and branches in program order: where, by which rules, and for loops their invariants and what is left.

    A loop that is unrolled, and what is in it, is there once a turn: rules that differ between the turns are all named,
    with the number of turns.
    """
    heads: dict[Loc | None, dict[str, int]] = {}
    told: dict[Loc | None, dict[str, None]] = {}
    for r in results:
        counts: Counter[tuple[Loc | None, str]] = Counter()
        for node in _nodes(r.derivation):
            if node.rule in _TURNS:
                counts[node.loc, node.rule] += 1
                told.setdefault(node.loc, {})
            if node.rule in _LOOPS:
                p, q = cast(P, node.substitution["P"]), node.substitution["Q"]
                told[node.loc][f"invariant  {show_p(p)}"] = None
                told[node.loc][f"{r.metric.name} left, once inside: {q}"] = None
        for (loc, rule), n in counts.items():
            found = heads.setdefault(loc, {})
            found[rule] = max(n, found.get(rule, 0))
    return [(loc, _rules(heads[loc]), list(lines)) for loc, lines in told.items()]


def _rules(found: Mapping[str, int]) -> str:
    """The rules by which a loop or branch is judged."""
    counted = len(found) > 1
    return "; ".join(
        f"{rule}{f', {_TURNS[rule]}' if _TURNS[rule] else ''}{f' ({n} times)' if counted and n > 1 else ''}"
        for rule, n in found.items()
    )


def explanation(results: Sequence[Explained], context: Context, kernel: Kernel | None = None) -> list[str]:
    """Where the cost comes from: each access with its count, each loop with its invariant and potentials."""
    own = kernel.loc.file if kernel is not None and kernel.loc else ""
    rows = [(_place(loc, own), name, text) for loc, name, text in accesses(results, context, kernel)]
    place, access = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))
    lines = ["Accesses, for one warp:"] if rows else []
    lines += [f"  {at:<{place}}{name:<{access}}  {text}" for at, name, text in rows]
    if heads := turns(results):
        lines += ["", "Loops and branches:"] if lines else ["Loops and branches:"]
        for loc, rule, told in heads:
            lines += [f"  {_place(loc, own)}{rule}", *(f"      {line}" for line in told)]
    return lines


_LOOPS: Final = tuple(name for name, rule in SOUND.rules.items() if rule.turns)

_TURNS: Final = {name: rule.told for name, rule in SOUND.rules.items() if rule.turns or rule.told}
"""The fields of rules of loops and branches that reports print."""


def _place(loc: Loc | None, own: str) -> str:
    """Line and column, with the file's name where it is another than the kernel's own."""
    other = f"{Path(loc.file).name}:" if loc and own and loc.file not in ("", own) else ""
    return f"{other}{loc.line}:{loc.column}  " if loc else ""


def _nodes(root: Derivation | None) -> list[Derivation]:
    """The applications of a derivation in program order."""
    found: list[Derivation] = []
    stack = [root] if root else []
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(reversed(node.premises))
    return found
