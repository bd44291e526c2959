"""`warpbound coalesce`: uncoalesced accesses to global memory, and bank conflicts."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from checker.cli import fleet
from checker.cli.assumed import add_launch_options
from checker.cli.bounded import chosen_kernels, told_of
from checker.cli.coalesced import analysed
from checker.cli.options import (
    add_data_options,
    add_output_options,
    add_reading_options,
    check_sizes,
    parse_hardware,
    read_kernel,
    tell,
)
from checker.cli.several import add_limit_options, asked
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    pass


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "coalesce",
        help="find uncoalesced accesses and bank conflicts",
        description="Says for every access how many 128-byte lines (or turns of a bank) a warp may need, how many its "
        "lanes would need in consecutive places, why, and what mends it, of what was tried and bounded again. Exits "
        "with 1 where an access is not coalesced or conflict-free. Of a file, or of several files and folders, all "
        "kernels are looked at.",
    )
    parser.add_argument("files", nargs="+", metavar="PATH", help="CUDA sources, and folders of them")
    add_reading_options(parser, several=True)
    add_launch_options(parser)
    group = parser.add_argument_group("several kernels, each within limits, a process for each source")
    fleet.add_choice_options(group)
    add_limit_options(group, "kernel", "access that is not good")
    parser.add_argument(
        "--domain",
        choices=("exact", "gpudrano"),
        default="exact",
        help="whose verdict counts: the lanes of a warp one by one, or the published lattice (default: %(default)s)",
    )
    parser.add_argument(
        "--threshold",
        choices=("fewest", "paper"),
        default="fewest",
        help="how many lines an access may need: as many as its lanes in consecutive places, or one, as in the paper "
        "on the lattice (default: %(default)s)",
    )
    parser.add_argument("--hardware", metavar="NAME|FILE.toml", default="nvidia", help="(default: %(default)s)")
    parser.add_argument(
        "--confirm",
        action="store_true",
        help="run the kernel, with --block, --grid (default: 1), --arg and --array as in `run`, and say which findings "
        "the run bears out",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="do not bound the program again with what mends an access: nothing of that is certified then",
    )
    parser.add_argument(
        "--certificate",
        metavar="DIR",
        help="write the certificates that remedies rest on, of the program before and after each",
    )
    add_data_options(
        parser,
        "a parameter's value in that run",
        "a global array before that run, as in `run`",
    )
    add_output_options(parser)
    parser.set_defaults(func=run, shown=None)


def run(args: argparse.Namespace) -> int:
    """Prints the findings; 0 where every access is good, else 1; 3 where a run needs more than was stated.

    Raises SourceError for unusable input.
    """
    import json

    from checker.cli import coalesce_many
    from checker.fleet.files import what_is

    check_sizes(args)
    parse_hardware(args.hardware)
    if not args.confirm and (args.args or args.arrays):
        option = "--arg" if args.args else "--array"
        raise OptionProblem(f"{option} is for a run that confirms findings", advice="Add --confirm.")
    if args.quick and args.certificate:
        raise OptionProblem("--quick makes no certificates", advice="Leave out --quick, or --certificate.")
    filtered = args.include or args.exclude or args.database or asked(args)
    if len(args.files) > 1 or what_is(args.files[0]) == "folder" or filtered:
        return coalesce_many.run(args)
    (args.file,) = args.files
    chosen = chosen_kernels(args)
    if len(chosen) > 1:
        return coalesce_many.run(args)
    args = told_of(args, chosen[0], args.assume) if chosen else args
    done = analysed(args, read_kernel(args))
    tell(args, done.text, lambda: json.dumps(done.document(), indent=2), done.page)
    for text, _ in done.wrong:
        sys.stderr.write(
            f"warpbound: internal error: {text}\n"
            "  This is a fault in warpbound, and nothing it says of this kernel is to be relied on.\n"
        )
    return done.code
