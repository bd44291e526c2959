"""Trials as text, as JSON and as pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from checker.kernel import judgement_of
from checker.notation.words import number
from checker.report.page import Fault, Page, Section
from checker.report.rejection import draw_filled
from checker.report.terminal import wrapped
from checker.testbed.mutants import Result, summary
from checker.testbed.power import power
from checker.testbed.rulefile import NOTHING, PYTHON
from checker.testbed.search import Report
from checker.testbed.trial import Case, Trial, Violation
from logic.assertions import Triple, show_p
from logic.derivation import Derivation
from logic.rules import SOUND, RuleSet
from logic.syntax import GHOST, show_stmt


def steps(root: Derivation, rules: RuleSet) -> list[Derivation]:
    """The applications of rules for statements, premises first."""
    inner = [d for premise in root.premises for d in steps(premise, rules)]
    return [*inner, root] if rules.rules[root.rule].shape != "cost" else inner


def drawn(case: Case, trial: Trial) -> list[str]:
    """The derivation, an application with its bar after the other; costs of expressions are left out."""
    lines: list[str] = []
    for node in steps(case.derivation, trial.rules):
        lines += [*draw_filled(trial.rules.rules[node.rule], node.substitution, case.context), ""]
    return lines[:-1]


def outline(root: Derivation, case: Case, trial: Trial) -> dict[str, Any]:
    """The derivation as nested objects: rule, what it concludes, what it rests on."""
    conclusion = judgement_of(trial.rules.rules[root.rule].conclusion, dict(root.substitution), case.context)
    if isinstance(conclusion, Triple):
        told = f"{conclusion.pre} {' '.join(show_stmt(conclusion.stmt).split())} {conclusion.post}"
    else:
        told = f"{root.rule} : {conclusion.cost}"
    return {"rule": root.rule, "concludes": told, "premises": [outline(p, case, trial) for p in root.premises]}


def store(v: Violation) -> dict[str, Any]:
    """The state in which the run starts."""
    locals_ = {x: [by[t] for t in v.start.threads] for x, by in v.start.locals.items() if not x.startswith(GHOST)}
    return {"n": v.start.n, **locals_, "arrays": list(v.start.contents)}


def as_json(name: str, trial: Trial, report: Report) -> dict[str, Any]:
    """A trial as `--format json` prints it."""
    v = report.violation
    found: dict[str, Any] | None = None
    if v:
        found = {
            "kind": v.kind,
            "program": show_stmt(v.case.program),
            "derivation": outline(v.case.derivation, v.case, trial),
            "store": store(v),
            "threads": list(v.start.threads),
            "claimed": v.told or number(v.claimed),
            "actual": number(v.actual),
            "metric": v.case.context.metric.name,
            "scope": v.case.context.scope,
            "lanes": v.case.world.lanes,
            "warp": v.case.context.hardware.warp,
            "replay": command(name, trial, report),
        }
    seen = report.coverage
    return {
        "rules": name,
        "certifies": not uncertified(trial),
        "examples": report.examples,
        "violations": int(v is not None),
        "power": None if v or not trial.focus else asdict(power(trial, report.examples)),
        "counterexample": found,
        "covered": {
            "derivations": seen.derivations,
            "runs": seen.runs,
            "divergent": seen.divergent,
            "unended": seen.unended,
            **({"elements": seen.elements} if trial.data else {}),
            "rules": dict(sorted(seen.rules.items())),
            "loop depths": {str(d): n for d, n in sorted(seen.depths.items())},
        },
        "seconds": round(report.seconds, 2),
    }


def uncertified(trial: Trial) -> list[str]:
    """The warning that other rules than the sound ones certify nothing; empty for those."""
    return [] if trial.rules is SOUND else [NOTHING]


def command(name: str, trial: Trial, report: Report) -> str:
    """The command that finds the counterexample again."""
    trust = " --trust" * name.endswith(PYTHON)
    return f"warpbound trial {name}{trust} --seed {trial.seed} --examples 1 --case {report.case}"


def strength(trial: Trial, report: Report) -> str:
    """The worth of a trial that found nothing, in words."""
    found = power(trial, report.examples)
    about = " and ".join(found.shapes)
    if not found.known:
        return f"not known: no wrong rules about {about} are measured (docs/power.md)"
    told = f"of {found.known} wrong rules about {about} a trial of {report.examples} cases finds {found.found}"
    return f"{told} (docs/power.md)"


def _listed(label: str, items: list[str]) -> str:
    return wrapped(", ".join(items), f"  {label:<10}", 12 * " ")


def as_text(name: str, trial: Trial, report: Report) -> str:
    """A trial as text, for a person."""
    return "\n\n".join((_told(name, trial, report), *uncertified(trial)))


def _told(name: str, trial: Trial, report: Report) -> str:
    """The outcome, in words."""
    v, seen = report.violation, report.coverage
    if v is None:
        unused = sorted(set(trial.focus or trial.rules.rules) - seen.rules.keys())
        return "\n".join(
            [
                f"{name} survived {report.examples} cases: {seen.derivations} derivations, {seen.runs} runs",
                f"  runs      {seen.divergent} divergent, {seen.unended} cut short",
                f"  loops     {', '.join(f'{n} with depth {d}' for d, n in sorted(seen.depths.items())) or 'none'}",
                _listed("rules", [f"{r} {n}" for r, n in seen.rules.most_common()] or ["none"]),
                *([_listed("not used", unused)] if unused else []),
                *([_listed("power", [strength(trial, report)])] if trial.focus else []),
                f"  seconds   {report.seconds:.1f}",
            ]
        )
    case = v.case
    claim = {
        "cost": f"claimed   {v.claimed} ({case.claim.pre.q} before, {case.claim.post.q} after)\n  costs     {v.actual}",
        "prefix": f"claimed   {v.claimed} at any time\n  costs     {v.actual} in a run that never ends",
        "facts": f"claimed   {v.told} at the end\n  it does not hold there",
    }[v.kind]
    mentioned = _mentioned(v)
    locals_ = [
        f"{x} = {', '.join(str(by[t]) for t in v.start.threads)}"
        for x, by in v.start.locals.items()
        if not x.startswith(GHOST) and x in mentioned
    ]
    stable = v.case.context.sigma.stable
    contents = {a: v.start.data if a in stable else (*v.start.contents, "..") for a in v.case.context.sigma.arrays}
    arrays = [f"{a}[i] = {', '.join(map(str, held))}" for a, held in contents.items()]
    held = "; ".join(
        [f"n = {v.start.n}"] * ("n" in mentioned) + locals_ + [a for a in arrays if a.partition("[")[0] in mentioned]
    )
    where = f"{case.world.lanes}, warps of {case.context.hardware.warp}"
    metric = case.context.metric
    prices = ", ".join(f"{what} {c}" for what, c in metric.fixed.items() if c)
    price = ": an assignment costs 1" if metric.name == "tick" else f": {prices}" if prices else ""
    told = [
        f"{name} is unsound: a derivation that its rules allow, and a run that it does not cover (case {report.case}).",
        "",
        show_stmt(case.program, "    "),
        "",
        *drawn(case, trial),
        "",
        f"  store     {held or 'any'}",
        f"  threads   {', '.join(map(str, v.start.threads))} of {where}",
        f"  metric    {metric.name}{price}",
        f"  {claim}",
        f"  found     after {report.examples} cases, {report.seconds:.1f} s",
        f"  again     {command(name, trial, report)}",
    ]
    return "\n".join(told)


def as_page(name: str, trial: Trial, report: Report) -> Page:
    """A trial as a page: what was tried, and how often each rule; or the counterexample as text has it, which is a
    fault, as it is one where nothing could be tried."""
    head, *rest = _told(name, trial, report).split("\n")
    seen, where = report.coverage, name if name.endswith((".py", ".rules")) else None
    nothing = uncertified(trial)
    if report.violation is not None:
        told = "\n".join(rest).strip("\n")
        return Page(head, [Section(fixed=told)], [Fault("unsound", f"{head}\n{told}", where)], nothing)
    counts = [
        ("cases", report.examples),
        ("derivations", seen.derivations),
        ("runs", seen.runs),
        ("divergent runs", seen.divergent),
        ("runs cut short", seen.unended),
        *((f"loops of depth {d}", n) for d, n in sorted(seen.depths.items())),
    ]
    rows = [*((what, str(n)) for what, n in counts), ("seconds", f"{report.seconds:.1f}")]
    unused = sorted(set(trial.focus or trial.rules.rules) - seen.rules.keys())
    rules = [(rule, str(n)) for rule, n in (*seen.rules.most_common(), *((rule, 0) for rule in unused))]
    sections = [Section(head=("what", "number"), rows=rows), Section("Rules", head=("rule", "used"), rows=rules)]
    return Page(head, sections, [] if seen.derivations else [Fault("untried", head, where)], nothing)


def _mentioned(v: Violation) -> set[str]:
    """The names that the program and the claim use."""
    pre, post = v.case.claim.pre, v.case.claim.post
    facts = (show_p(p) for p in (pre.p, post.p))
    told = " ".join([show_stmt(v.case.program), *facts, str(pre.q), str(post.q), v.told])
    return set(re.findall(r"(?<![.\w])\w+", told))


# --- mutants ----------------------------------------------------------------------------------------------------------


def summary_text(results: Sequence[Result]) -> str:
    """The outcomes of mutants as text, for a person."""
    told = summary(results)
    lines = [f"{told['killed']} of {told['mutants']} mutants killed, {len(told['equivalent'])} equivalent"]
    return "\n".join(lines + [f"  survived: {name}" for name in told["survived"]])


def mutants_page(results: Sequence[Result]) -> Page:
    """Mutants as a page: what became of each; a fault for each that survived."""
    head = ("mutant", "verdict", "what it changes", "cases", "seconds", "witness, or why it is equivalent")
    rows = [(r.name, r.verdict, r.sentence, str(r.cases), f"{r.seconds:.1f}", r.witness) for r in results]
    faults = [Fault("survived", f"survived: {r.name}: {r.sentence}") for r in results if r.verdict == "survived"]
    title = summary_text(results).partition("\n")[0]
    return Page(title, [Section(head=head, rows=rows, code=("mutant",))], faults)


def mutants_markdown(results: Iterable[Result]) -> str:
    """docs/mutants-rules.md"""
    found = list(results)
    counted = {v: [r for r in found if r.verdict == v] for v in ("killed", "equivalent", "survived")}
    lines = [
        "# Mutants of the rules",
        "",
        "Made by `warpbound trial sound --mutants --page docs/mutants-rules.md` (`make mutants-rules`).",
        "",
        "Every item above the bar of every sound rule is dropped or weakened once, each conclusion strengthened;",
        "then come bugs with a name. A run that costs more than a derivation claims kills a mutant, or one that ends",
        "where the derivation says it does not. One that is as sound as its rule is listed with the reason.",
        "",
        (
            f"{len(found)} mutants: {len(counted['killed'])} killed, {len(counted['equivalent'])} equivalent, "
            f"{len(counted['survived'])} survived. Cases are counted until the first that kills."
        ),
        "",
    ]
    for verdict, head in (("survived", "Survived"), ("killed", "Killed"), ("equivalent", "Equivalent")):
        if counted[verdict]:
            last = "why" if verdict == "equivalent" else "witness"
            lines += [f"## {head}", "", f"| mutant | cases | seconds | {last} |", "| --- | ---: | ---: | --- |"]
            lines += [
                f"| {_cell(r.sentence)} | {r.cases} | {r.seconds:.1f} | {_cell(r.witness)} |" for r in counted[verdict]
            ]
            lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
