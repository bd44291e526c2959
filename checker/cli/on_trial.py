"""Rules on trial: what they would buy (`bound FILE --rules FILE.rules`), and those of `check`. They certify nothing."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from checker.cli.assumed import usable_assumptions
from checker.cli.bounded import chosen_kernels, command_again, outlined, told_of
from checker.cli.options import check_sizes, parse_hardware, parse_metrics, read_kernel, tell
from checker.cli.points import check_point, point
from checker.cli.progress import working
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.refutation.witness import Witness
    from checker.report.on_trial import Tried
    from logic.rules import RuleSet
    from logic.syntax import Kernel
    from semantics.cuda import Reading

_CERTIFYING = ("certificate", "explain", "accept", "queries")


def run(args: argparse.Namespace) -> int:
    """1, for nothing is certified; 3 where a run that --tight found costs more. Raises SourceError."""
    import json

    from checker.report import on_trial as report

    (args.file,) = args.files
    check_sizes(args)
    for option in _CERTIFYING:
        if getattr(args, option):
            raise OptionProblem(f"--{option}: rules on trial certify nothing", advice="Leave out one of the two.")
    if args.per != "warp" or args.scope != "warp":
        told = "--per and --scope: rules on trial are for bounds on warps"
        raise OptionProblem(told, advice="Leave them out, or leave out --rules.")
    rules = trial_rules(args)
    chosen = chosen_kernels(args)
    if len(chosen) < 2:
        own = told_of(args, chosen[0], args.assume) if chosen and chosen[0].instantiate else args
        tried = [_tried(own, read_kernel(own), rules)]
    else:
        read = {choice: read_kernel(told_of(args, choice)) for choice in chosen}
        texts = usable_assumptions(args.assume, {choice: reading.kernel for choice, reading in read.items()})
        tried = [_tried(told_of(args, choice, texts[choice]), reading, rules) for choice, reading in read.items()]
    tell(
        args,
        lambda: report.as_text(tried),
        lambda: json.dumps(report.as_json(tried), indent=2),
        lambda: report.as_page(Path(args.file).name, tried),
    )
    return report.exit_code(tried)


def trial_rules(args: argparse.Namespace) -> RuleSet:
    """The sound rules and those of the file that --rules names. Raises SourceError."""
    from checker.testbed.rulefile import rule_set
    from logic.rules import RULE_SETS

    if args.rules in RULE_SETS:
        told = f"--rules {args.rules}: the search goes by the sound rules and those of a file"
        raise OptionProblem(told, advice="Name a file, FILE.rules or FILE.py, or leave the option out.")
    return rule_set(args.rules, args.trust)


def usable_rules(args: argparse.Namespace) -> RuleSet:
    """The rules that the options name; says which of a file derivations cannot be made by. Raises SourceError where it
    cannot be read."""
    from checker.testbed.rulefile import rule_set
    from logic.rules import RULE_SETS

    rules = rule_set(args.rules, args.trust)
    if rules.name not in RULE_SETS and not all(file.endswith(".json") for file in args.files):
        from checker.testbed.applied import unusable

        for problem in unusable(rules).values():
            print(f"{args.rules}: warning: {problem.message}", file=sys.stderr)
    return rules


def _tried(args: argparse.Namespace, reading: Reading, rules: RuleSet) -> Tried:
    """The gain by the rules for one kernel. Raises SourceError."""
    from checker.certificates.claims import with_facts
    from checker.oracles import Oracles
    from checker.report.on_trial import Tried
    from checker.testbed.bought import buy

    metrics, hardware, at = parse_metrics(args.metrics), parse_hardware(args.hardware), point(args.at)
    oracle = Oracles()
    outline, hinted, reading = outlined(args, reading, metrics[0], hardware, oracle)
    kernel = replace(reading.kernel, name=args.shown or reading.kernel.name)
    check_point(at, kernel, with_facts(outline.context, reading.facts))
    with working(f"{kernel.name}: reading") as now:
        bought = buy(outline, metrics, oracle, rules, hinted, args.search, lambda name: now(f"{kernel.name}: {name}"))
    tried = Tried(kernel, outline.context, args.rules, bought, at, reading.notes)
    if not args.tight:
        return tried
    found = _dearest(reading.kernel, tried)
    again = {b.metric.name: command_again(args, b.metric, found.get(b.metric.name)) for b in bought}
    return replace(tried, dearest=found, again=again)


def _dearest(kernel: Kernel, tried: Tried) -> dict[str, Witness]:
    """For each metric the dearest run that was found, or one that costs more than the bound."""
    from checker.cli.data import read_arrays
    from checker.testbed.bought import dear, dearest

    fill = partial(read_arrays, kernel)
    inputs = dear(kernel, tried.bought, fill, tried.at)
    found = {b.metric.name: dearest(kernel, b, tried.context, fill, tried.at, inputs) for b in tried.bought}
    return {name: run for name, run in found.items() if run is not None}
