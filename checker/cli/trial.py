"""`warpbound trial`: rules against the semantics, in small worlds."""

from __future__ import annotations

import argparse
import os

from checker.cli.options import add_cluster_option, add_output_options, add_trust_option, joined, tell
from checker.notation.problem import OptionProblem

EXAMPLES = 1000


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "trial",
        help="try rules against the semantics",
        description="Makes random derivations, and runs that may cost more than they claim. Exit code 0: the rules "
        "survived; 3: a counterexample is printed; 1: nothing could be tried.",
    )
    parser.add_argument(
        "rules",
        metavar="RULES",
        help="sound, contracts (the sound rules, and what contracts say of an array), paper, paper/If4 (that rule, the "
        "others from sound), FILE.rules (rules as text), or FILE.py, which --trust RUNS AS PYTHON",
    )
    parser.add_argument(
        "--examples", type=_positive, default=EXAMPLES, metavar="N", help="cases (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which cases (default: %(default)s)")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="processes (default: the processors)")
    parser.add_argument("--case", type=_natural, default=0, metavar="K", help="the number of the first case")
    parser.add_argument("--mutants", action="store_true", help="try every mutant of the rules instead, and named bugs")
    parser.add_argument("--page", metavar="FILE.md", help="with --mutants: write the table to FILE.md")
    add_cluster_option(parser)
    add_trust_option(parser)
    add_output_options(parser)
    parser.set_defaults(func=run)


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1 or len(text) > 9:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 to 999999999")
    return int(text)


def _natural(text: str) -> int:
    return 0 if text == "0" else _positive(text)


def run(args: argparse.Namespace) -> int:
    """0 survived, 3 refuted, 1 nothing tried (or a mutant survived). Raises SourceError."""
    jobs = args.jobs or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    return _mutants(args, jobs) if args.mutants else _trial(args, jobs)


def _trial(args: argparse.Namespace, jobs: int) -> int:
    import json
    from dataclasses import replace

    from checker.cli.progress import progress_bar
    from checker.report.trials import as_json, as_page, as_text
    from checker.testbed.search import search
    from checker.testbed.trial import tried

    if args.page:
        raise OptionProblem("--page goes with --mutants", advice="Leave it out, or add --mutants.")
    trial = replace(tried(args.rules, args.trust), seed=args.seed)
    with joined(args.cluster) as cluster, progress_bar("cases", args.examples) as show:
        report = search(trial, range(args.case, args.case + args.examples), jobs, show, cluster=cluster)
    tell(
        args,
        lambda: as_text(args.rules, trial, report),
        lambda: json.dumps(as_json(args.rules, trial, report), indent=2),
        lambda: as_page(args.rules, trial, report),
    )
    if report.violation:
        return 3
    return 0 if report.coverage.derivations else 1


def _mutants(args: argparse.Namespace, jobs: int) -> int:
    import json
    from pathlib import Path

    from checker.cli.progress import progress_bar
    from checker.report.trials import mutants_markdown, mutants_page, summary_text
    from checker.testbed.mutants import mutants, score, summary

    if args.rules != "sound":
        raise OptionProblem(f"'{args.rules}' has no mutants", advice="Say: warpbound trial sound --mutants.")
    chosen = mutants()
    with joined(args.cluster) as cluster, progress_bar("mutants", len(chosen)) as show:
        results = score(chosen, args.seed, jobs, show, cluster)
    if args.page:
        try:
            Path(args.page).write_text(mutants_markdown(results), encoding="utf-8")
        except OSError as error:
            raise OptionProblem(f"--page {args.page}: {error.strerror}", advice="Choose another file.") from None
    told = summary(results)
    tell(args, lambda: summary_text(results), lambda: json.dumps(told, indent=2), lambda: mutants_page(results))
    return 1 if told["survived"] else 0
