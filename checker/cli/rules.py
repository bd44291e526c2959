"""`warpbound rules`: the rules of the logic with their inference bars."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from checker.cli.options import add_output_options, add_trust_option, emit, tell
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.report.page import Page
    from logic.schema import Rule


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser("rules", help="print the rules of the logic", description="Prints inference rules.")
    parser.add_argument("name", nargs="?", metavar="NAME", help="one rule, such as Q:If4 or If4 (default: all)")
    parser.add_argument(
        "--set",
        dest="rules",
        default="sound",
        metavar="SET",
        help="sound, paper, FILE.rules, or FILE.py, which --trust RUNS AS PYTHON (default: %(default)s)",
    )
    add_trust_option(parser)
    add_output_options(parser, "latex")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Prints the rules. Raises OptionProblem for a set or a rule that is not there."""
    import json

    from checker.report.latex import document
    from checker.report.rejection import draw
    from checker.report.terminal import wrapped
    from checker.testbed.rulefile import rule_set
    from logic.schema import show

    rules = rule_set(args.rules, args.trust).rules
    chosen = [r for n, r in rules.items() if args.name is None or args.name in (n, n.partition(":")[2])]
    if not chosen:
        raise OptionProblem(f"no rule is called '{args.name}'", advice=_meant(args.name, rules))

    def row(rule: Rule) -> dict[str, Any]:
        return {
            "name": rule.name,
            "premises": [show(t) for t in rule.premises],
            "side_conditions": [show(t) for t in rule.side_conditions],
            "conclusion": show(rule.conclusion),
            "source": rule.source,
            "notes": rule.notes,
        }

    def text(rule: Rule) -> str:
        lines = [*draw(rule), f"  {rule.source}"]
        return "\n".join([*lines, wrapped(rule.notes, "  ")] if rule.notes else lines)

    if args.format == "latex":
        emit(document(chosen), args.output)
    else:
        tell(
            args,
            lambda: "\n\n".join(text(r) for r in chosen),
            lambda: json.dumps([row(r) for r in chosen], indent=2),
            lambda: _page(chosen, args.rules),
        )
    return 0


def _meant(name: str, known: Collection[str]) -> str:
    """The rules that a name may stand for, else all."""
    plain = {n.partition(":")[2].lower(): n for n in known} | {n.lower(): n for n in known}
    near = get_close_matches(name.lower(), plain, 3, 0.8)
    like = dict.fromkeys(plain[n] for n in near)
    return f"Is it {' or '.join(like)}?" if like else f"Known: {', '.join(known)}."


def _page(rules: Sequence[Rule], name: str) -> Page:
    """Rules with their bars, where they are from and what is to be said of them."""
    from checker.report.page import Page, Section
    from checker.report.rejection import draw

    sections = []
    for rule in rules:
        sections += [Section(rule.name, fixed="\n".join(draw(rule))), Section(text=rule.source)]
        sections += [Section(text=" ".join(rule.notes.split()))] if rule.notes else []
    return Page(f"Rules of the set '{name}'", sections)
