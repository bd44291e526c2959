"""Options that several subcommands share, and the reading of their values."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from checker.cli.process import document, named
from checker.notation.problem import OptionProblem
from checker.notation.words import many, meant
from logic.metrics import HARDWARE, METRICS, Hardware, Metric

if TYPE_CHECKING:
    from checker.notation import Annotations
    from checker.notation.contracts import Contract
    from checker.report.page import Page
    from checker.testbed.cluster import Cluster
    from logic.assertions import Dim
    from logic.contracts import Contract as Bounded
    from logic.formulas import Formula
    from logic.source import Loc
    from logic.syntax import Expr, Kernel
    from logic.typing import Signature
    from semantics.cuda import Reading
    from semantics.values import Value

    Sizes = tuple[int, int, int]

STD: Final = "c++17"
"""The language that CUDA sources are read as."""

FORMATS: Final = ("text", "json", "html", "sarif", "markdown")
"""The formats that every subcommand can print."""


def add_source_options(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """FILE and what decides how it is read; `several` where all of its kernels are meant."""
    parser.add_argument("file", metavar="FILE.cu", help="the CUDA source")
    add_reading_options(parser, several=several)


def read_kernel(
    args: argparse.Namespace, path: str | None = None, name: str | None = None, settle: bool = True
) -> Reading:
    """The kernel that the reading options name, in args.file or another file; `settle` as in `read_cuda`. Raises
    SourceError."""
    from semantics.cuda import read_cuda

    refuse_others(path or args.file)
    includes, defines = tuple(args.includes), tuple(args.defines)
    chosen = name or args.kernel, includes, defines, args.std, args.instantiate
    return read_cuda(path or args.file, *chosen, settle=settle)


_OTHERS: Final = {
    ".qhl": ("An outline is no source", "check"),
    ".json": ("A certificate is no source", "check"),
    ".simt": ("A program of the mini-SIMT machine is no CUDA C", "machine"),
}
"""Endings of files that other commands take: what they are not, and which command that is."""


def refuse_others(*paths: str) -> None:
    """Raises OptionProblem where all of these files are such as another command takes, and no reader of CUDA C."""
    if all(Path(path).suffix in _OTHERS for path in paths):
        told, command = _OTHERS[Path(paths[0]).suffix]
        advice = f"{told}: `warpbound {command} {paths[0]}` takes it."
        raise OptionProblem(f"'{paths[0]}' is no CUDA source", advice=advice)


def known_sizes(sizes: Dim) -> tuple[int, int, int] | None:
    """The sizes of a block or grid, where all three are known."""
    x, y, z = sizes
    return None if x is None or y is None or z is None else (x, y, z)


def run_sizes(args: argparse.Namespace, reading: Reading, values: Mapping[str, Value]) -> tuple[Sizes, Sizes]:
    """The sizes of a block and of the grid in a run: the options', else those of `//@ launch` in the source, else the
    block that the source's host code has, and one block. Raises SourceError."""
    block = parse_dim(args.block, "--block") if args.block else None
    grid = parse_dim(args.grid, "--grid") if args.grid else None
    if block is None or grid is None:
        kernel = reading.kernel
        hints = annotated(args, kernel)
        block = block or known_sizes(hints.block or reading.block or (None, None, None))
        grid = grid or (hints.grid and known_sizes(hints.grid)) or evaluated_grid(hints.formulas, kernel, values)
        if block is None:
            raise OptionProblem("the size of a block is not known", kernel.loc, "Give it: --block 256.")
    return block, grid


def as_declared(reading: Reading, values: Mapping[str, Value]) -> dict[str, Value]:
    """Arguments in the types of their parameters, where these have no sign: -1 is the largest number. Raises
    OptionProblem for numbers that a parameter with a sign cannot have."""
    from semantics.cuda.modular import remainder

    declared = {name: t for name, t in reading.types.scalars.items() if name in values}
    for name, t in declared.items():
        if t.signed and not -(1 << t.bits - 1) <= int(values[name]) < 1 << t.bits - 1:
            told = f"'{name}' has {t.bits} bits: it cannot be {values[name]}"
            most = f"It is from {-(1 << t.bits - 1)} to {(1 << t.bits - 1) - 1}."
            raise OptionProblem(told, reading.kernel.loc, most)
    types = {name: t for name, t in declared.items() if not t.signed}
    return {name: remainder(int(v), types[name]) if name in types else v for name, v in values.items()}


def annotated(args: argparse.Namespace, kernel: Kernel) -> Annotations:
    """The annotations of a kernel in its file; warns, of each place once, of those that have no effect. Raises
    SourceError."""
    from checker.notation import read_annotations
    from logic.typing import check_kernel

    text, sigma = source_text(kernel.loc.file) if kernel.loc else "", check_kernel(kernel)
    hints = read_annotations(kernel, text, sigma, contracts_of(args, sigma))
    warned: set[Loc] = vars(args).setdefault("warned", set())
    for place, told in hints.ignored:
        if place not in warned:
            warned.add(place)
            print(f"{place}: warning: {told}", file=sys.stderr)
    return hints


def assuming(args: argparse.Namespace, kernel: Kernel) -> Kernel:
    """The kernel with what its source assumes inside it. Raises SourceError."""
    return annotated(args, kernel).kernel


@contextmanager
def _shown(text: str) -> Iterator[None]:
    """Problems with a text of --assume have it for their source, in which a caret points at the place."""
    from logic.source import SourceError

    try:
        yield
    except SourceError as error:
        error.source = text
        raise


def stated(text: str, sigma: Signature) -> Expr | Contract:
    """An --assume: a contract on data, or a fact about parameters. Raises SourceError."""
    from checker.notation import parse_assumption
    from checker.notation.contracts import is_contract, parse_contract

    with _shown(text):
        return (parse_contract if is_contract(text) else parse_assumption)(text, sigma, "--assume")


def check_assumption(text: str) -> None:
    """Raises SourceError for an --assume that is a fact of no kernel, whatever parameters it has."""
    from checker.notation.contracts import is_contract
    from checker.notation.expressions import check_assumption

    if not is_contract(text):
        with _shown(text):
            check_assumption(text, "--assume")


def contracts_of(args: argparse.Namespace, sigma: Signature) -> tuple[Contract, ...]:
    """The contracts on data among what --assume says; none where a command has no such option. Raises SourceError."""
    from checker.notation.contracts import Contract, is_contract

    found = (stated(text, sigma) for text in dict.fromkeys(getattr(args, "assume", ())) if is_contract(text))
    return tuple(one for one in found if isinstance(one, Contract))


def required(args: argparse.Namespace, reading: Reading) -> tuple[Contract, ...]:
    """The contracts on data that the source of a kernel and --assume state, and what its reading takes for granted of
    the arrays that they speak of. Raises SourceError."""
    from checker.notation.contracts import as_stated
    from checker.refutation.contracts import for_reading, of_reading
    from logic.typing import check_kernel

    hints = annotated(args, reading.kernel)
    every = (*hints.contracts, *contracts_of(args, check_kernel(reading.kernel)))
    known = usable(reading, every)
    block, grid = hints.block or reading.block, hints.grid or reading.usual_grid
    any_size = (None, None, None)
    made = reading.under(hints.assumptions, block or any_size, grid or any_size, data=for_reading(known))
    return (*every, *(as_stated(c, reading.kernel.loc) for c in of_reading(known, made)))


def usable(reading: Reading, contracts: Iterable[Contract]) -> tuple[Bounded, ...]:
    """The contracts of the logic that contracts are, of those on arrays of one type of integers that the kernel does
    not write to."""
    from logic.stable import unwritten

    stable, types = unwritten(reading.kernel), reading.types.arrays
    known = (c for c in contracts if c.arrays <= {a for a in stable if len(types.get(a, ())) == 1})
    return tuple(dict.fromkeys(one for c in known for one in c.contracts))


def for_run(
    reading: Reading,
    values: Mapping[str, Value],
    block: Sizes,
    grid: Sizes,
    kept: Iterable[Contract] = (),
    warp: int | None = None,
) -> Reading:
    """A kernel as it is in a run: with what its unsigned values are there, on data that keep contracts, and where warps
    have so many lanes: what bounds are of, a run may charge no more for."""
    from checker.refutation.contracts import for_reading
    from logic.syntax import Const, Op, Param

    known = {d.name for d in reading.kernel.params if d.type.kind == "int"} & values.keys()
    given = [Op("==", (Param(name), Const(int(values[name])))) for name in sorted(known)]
    data = for_reading(usable(reading, kept))
    return reading.under(given, block, grid, assume=False, split=False, data=data, warp=warp)


def evaluated_grid(
    formulas: tuple[Formula, Formula, Formula] | None, kernel: Kernel, values: Mapping[str, Value]
) -> Sizes:
    """The sizes that a launch in the source gives a grid by formulas; one block where there are none, or a parameter
    has no value, which a run then refuses. Raises SourceError."""
    from logic.formulas import evaluate, names

    point = {name: int(v) for name, v in values.items() if isinstance(v, int)}
    if formulas is None or not frozenset().union(*map(names, formulas)) <= point.keys():
        return 1, 1, 1
    x, y, z = (evaluate(f, point) for f in formulas)
    if any(n < 1 or n.denominator != 1 for n in (x, y, z)):
        told = f"the launch in the source has a grid of {x}, {y}, {z} blocks here"
        raise OptionProblem(told, kernel.loc, "Give another one: --grid 1.")
    return int(x), int(y), int(z)


def add_reading_options(parser: argparse.ArgumentParser, kernel: bool = True, several: bool = False) -> None:
    """Adds the options that decide how a CUDA source is read: --kernel, where there is a choice, -I, -D, --std,
    --instantiate."""
    parser.set_defaults(kernel=None)
    if kernel:
        which = "every one in the file" if several else "the only one in the file"
        parser.add_argument("--kernel", metavar="NAME", help=f"the kernel (default: {which})")
    parser.add_argument(
        "-I", dest="includes", action="append", default=[], metavar="DIR", help="search DIR for headers"
    )
    parser.add_argument(
        "-D", dest="defines", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro"
    )
    parser.add_argument("--std", default=STD, metavar="STD", help="the language (default: %(default)s)")
    parser.add_argument(
        "--instantiate",
        action="append" if several else "store",
        metavar="'k<..>'",
        help=f"instantiate a template kernel: 'k<float,256>'{'; may be given several times' if several else ''}",
    )


def reading_words(args: argparse.Namespace) -> list[str]:
    """The options with which another command reads the same source likewise."""
    words = [f"--kernel={args.kernel}"] if args.kernel else []
    words += [f"-I{folder}" for folder in args.includes] + [f"-D{macro}" for macro in args.defines]
    words += [f"--std={args.std}"] if args.std != STD else []
    return words + ([f"--instantiate={args.instantiate}"] if args.instantiate else [])


def add_output_options(parser: argparse.ArgumentParser, *more: str, told: str = "") -> None:
    """--format and -o; `more` are formats that only this command has, `told` what else -o may be."""
    parser.add_argument(
        "--format", choices=(*FORMATS, *more), default="text", help="how to print (default: %(default)s)"
    )
    parser.add_argument("-o", dest="output", metavar="FILE", help=f"write to FILE instead of standard output{told}")


def add_trust_option(parser: argparse.ArgumentParser) -> None:
    """--trust."""
    parser.add_argument(
        "--trust", action="store_true", help="run the rule file FILE.py, which is Python and may do whatever you may"
    )


def add_data_options(parser: argparse.ArgumentParser, parameter: str, array: str) -> None:
    """--arg and --array, with what they are for."""
    parser.add_argument("--arg", dest="args", action="append", default=[], metavar="NAME=VALUE", help=parameter)
    parser.add_argument("--array", dest="arrays", action="append", default=[], metavar="NAME=WHAT", help=array)


def add_assume_option(parser: argparse._ActionsContainer, told: str) -> None:
    """--assume, with what it is for."""
    parser.add_argument("--assume", action="append", default=[], metavar="EXPR", help=told)


def add_cluster_option(parser: argparse._ActionsContainer) -> None:
    """--cluster."""
    parser.add_argument(
        "--cluster",
        metavar="local|tcp://HOST:PORT",
        help="where to search: processes on this machine (default), or the workers of a Dask scheduler",
    )


def joined(address: str | None) -> AbstractContextManager[Cluster | None]:
    """The cluster of --cluster; None for processes on this machine. Raises OptionProblem."""
    if address is None or address == "local":
        return nullcontext()
    from checker.testbed.cluster import joined as at

    return at(address)


def add_accept_option(parser: argparse.ArgumentParser, *more: str, told: str = "") -> None:
    """--accept; `more` are words that it also takes, and `told` is what they are for."""
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        choices=("solver-backed", *more),
        help=f"exit with 0 where a bound rests on the word of a solver, too{told}",
    )


def add_queries_option(parser: argparse.ArgumentParser) -> None:
    """--queries DIR."""
    parser.add_argument(
        "--queries", metavar="DIR", help="write every solver query to DIR: a .smt2 each, and index.json with answers"
    )


def of_option(option: str, text: str) -> str:
    """The beginning of a sentence about a text that an option has; just the text where it is no option's."""
    return f"{option} {text}" if option else text


def parse_dim(text: str, option: str) -> tuple[int, int, int]:
    """`X[,Y[,Z]]` as a dimension, also as it is printed, `X x Y`; what is left out is 1. Raises OptionProblem."""
    sizes = re.sub(r"(?<=\d) ?x ?(?=\d)", ",", text)
    if not re.fullmatch(r"0*[1-9]\d{0,9}(,0*[1-9]\d{0,9}){0,2}", sizes, re.ASCII):
        most = 1024 if option == "--block" else 2**31 - 1
        told = f"Write 1 to 3 sizes, each from 1 to {most}: {option} 16,16."
        raise OptionProblem(f"{of_option(option, text)}: not a dimension", advice=told)
    x, y, z = (*map(int, sizes.split(",")), 1, 1)[:3]
    return x, y, z


def check_sizes(args: argparse.Namespace) -> None:
    """Raises OptionProblem where --block or --grid is no size: once, and not for each kernel."""
    from logic.assertions import MAX_BLOCK

    if args.block:
        x, y, z = parse_dim(args.block, "--block")
        if x * y * z > MAX_BLOCK:
            told = f"--block {args.block}: more than {MAX_BLOCK} threads"
            raise OptionProblem(told, advice="CUDA allows no more in a block.")
    if args.grid:
        parse_dim(args.grid, "--grid")


def parse_bindings(texts: Iterable[str], option: str) -> dict[str, str]:
    """`NAME=VALUE` texts as a dictionary. Raises OptionProblem, also where a name is given twice."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise OptionProblem(f"{of_option(option, text)}: not NAME=VALUE", advice=f"Write it like {option} n=1024.")
        if name in found:
            told = f"{of_option(option, text)}: '{name}' is given twice"
            raise OptionProblem(told, advice="Leave one of the two out.")
        found[name] = value
    return found


def parse_metrics(names: Iterable[str], option: str = "--metric") -> tuple[Metric, ...]:
    """The metrics of these names and .toml files, each once; `all`, or nothing, is every built-in one. `option` has
    them.

    Raises SourceError.
    """
    chosen: dict[str, Metric] = {}
    for name in list(names) or ["all"]:
        found = METRICS if name == "all" else {m.name: m for m in (_metric(name, option),)}
        for own, metric in found.items():
            if chosen.setdefault(own, metric) != metric:
                told = f"{of_option(option, name)}: another metric is called '{own}'"
                raise OptionProblem(told, advice="Rename one of them.")
    return tuple(chosen.values())


def _metric(name: str, option: str) -> Metric:
    from checker.notation.profiles import SUFFIX, read_metric

    if name.endswith(SUFFIX):
        return read_metric(Path(name))
    if name not in METRICS:
        known = f"{meant(name, METRICS)}Known: {', '.join(METRICS)}, all; or give a file, such as mine{SUFFIX}."
        raise OptionProblem(f"{of_option(option, name)}: no such metric", advice=known)
    return METRICS[name]


def parse_hardware(name: str, option: str = "--hardware") -> Hardware:
    """The hardware model of this name or .toml file, which `option` has. Raises SourceError."""
    from checker.notation.profiles import SUFFIX, read_hardware

    if name.endswith(SUFFIX):
        return read_hardware(Path(name))
    if name not in HARDWARE:
        known = f"{meant(name, HARDWARE)}Known: {', '.join(HARDWARE)}; or give a file, such as mine{SUFFIX}."
        raise OptionProblem(f"{of_option(option, name)}: no such model", advice=known)
    return HARDWARE[name]


def source_text(path: str) -> str:
    """The text of a CUDA source, which may be Latin-1."""
    from semantics.cuda.inputs import note

    data = Path(path).read_bytes()
    note(path, data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


CERTIFICATE: Final = '"warpbound certificate"'
"""A text that is in every certificate."""


def certificates(paths: Iterable[str], include: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[str]:
    """The certificates that paths mean: files as they are, of folders all certificates that globs leave. Raises
    OptionProblem for a folder without one."""
    from checker.fleet.files import GLOBS, wanted

    found: list[str] = []
    for path in paths:
        if not Path(path).is_dir():
            found.append(path)
            continue
        inside = certificates_in(path)
        if not inside:
            raise OptionProblem(f"there is no certificate in '{path}'", advice=WRITES)
        left = [one for one in inside if wanted(Path(one).relative_to(path).as_posix(), one, include, exclude)]
        if not left:
            told = f"--include and --exclude leave none of {many(len(inside), 'certificate')} in '{path}'"
            raise OptionProblem(told, advice=GLOBS)
        found += left
    return found


WRITES: Final = "`bound --certificate DIR` writes them."
"""The advice where there are no certificates."""


def certificates_in(folder: str) -> list[str]:
    """The certificates in a folder and below, by name; says which other JSON files there are. Raises OptionProblem."""
    inside, others = list[str](), list[Path]()
    for one in sorted(_below(folder)):
        if _is_certificate(one):
            inside.append(str(one))
        else:
            others.append(one)
    _left_out(others)
    return inside


NAMED: Final = 5
"""The files that a warning names."""

MOST_FILES: Final = 20_000
"""The files of a folder that are looked at for certificates."""


def _below(folder: str) -> Iterable[Path]:
    """The JSON files of a folder and below. Raises OptionProblem where there are too many files of any kind."""
    looked, found = 0, list[Path]()
    for inside, _, names in os.walk(folder):
        looked += len(names)
        if looked > MOST_FILES:
            told = f"there are more than {MOST_FILES} files in '{folder}'"
            raise OptionProblem(told, advice="Name the folder of the certificates.")
        found += [Path(inside) / name for name in names if name.endswith(".json")]
    return found


def _left_out(others: Sequence[Path]) -> None:
    """Says which JSON files of a folder are no certificates."""
    if others:
        told = ", ".join(f"'{path}'" for path in others[:NAMED])
        more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
        what = "is no certificate" if len(others) == 1 else "are no certificates"
        sys.stderr.write(f"warpbound: warning: {told}{more} {what}, and left out\n")


def _is_certificate(path: Path) -> bool:
    """Whether a JSON file is to be judged: one that cannot be read is, so that it is said."""
    try:
        return CERTIFICATE in path.read_text(encoding="utf-8")
    except OSError:
        return True
    except ValueError:
        return False  # what is no text is no certificate


def read_text(path: str, advice: str) -> str:
    """The text of a file in UTF-8. Raises OptionProblem where it cannot be read, with this advice."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise OptionProblem(f"cannot read '{path}': it is not UTF-8 text", advice="Save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OptionProblem(f"cannot read '{path}': {reason}", advice=advice) from None


_OUTPUTS: Final = {"output": "-o", "certificate": "--certificate", "page": "--page", "queries": "--queries"}
_INPUTS: Final = ("file", "files", "old", "sources")
_NAMES: Final = ("metrics", "hardware", "profile", "device", "rules")
"""Options whose value is a file or a name."""


def check_paths(args: argparse.Namespace) -> None:
    """Raises OptionProblem for a file that cannot be written, or that is read or written besides, and for a folder of
    headers that is not there, before any work is done."""
    for path in getattr(args, "includes", ()):
        if not Path(path).is_dir():
            reason = "Not a directory" if Path(path).exists() else "No such file or directory"
            raise OptionProblem(f"-I {path}: {reason}", advice="Choose another folder.")
    read, written = list(_inputs(args)), dict[str, str]()
    for name, option in _OUTPUTS.items():
        path = getattr(args, name, None)
        if path is None:
            continue
        told, folder = f"{option} {path}", name == "queries"
        if folder and Path(path).exists() and not Path(path).is_dir():
            raise OptionProblem(f"{told}: Not a directory", advice="Choose another folder.")
        pages = name == "output" and args.command == "bound" and args.format == "html"
        if not folder and Path(path).is_dir() and name != "certificate" and not pages:
            raise OptionProblem(f"{told}: Is a directory", advice="Choose another file.")
        if not folder and not Path(path).absolute().parent.is_dir():
            raise OptionProblem(f"{told}: No such file or directory", advice="Choose another file.")
        path = str(Path(path) / "index.json") if folder else path
        if any(_same_file(path, other) for other in read):
            raise OptionProblem(f"{told}: that would overwrite what is read", advice="Choose another file.")
        for other, earlier in written.items():
            if _same_file(path, other):
                raise OptionProblem(f"{told}: {earlier} writes to the same file", advice="Choose another file.")
        written[path] = option


def _inputs(args: argparse.Namespace) -> Iterable[str]:
    """The files that the options name to be read."""
    for name in (*_INPUTS, *_NAMES):
        given = getattr(args, name, None) or ()
        for text in (given,) if isinstance(given, str) else given:
            parts = (text,) if name in _INPUTS else text.split(",")
            yield from (part for part in parts if name in _INPUTS or Path(part).suffix in (".toml", ".py", ".rules"))
    for text in getattr(args, "arrays", ()):
        if "=@" in text:
            yield text.partition("=@")[2]


def _same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one file, which may not be there yet; a device, such as /dev/null, is none."""
    try:
        if not Path(one).exists() or not Path(other).exists():
            return Path(one).resolve() == Path(other).resolve()
        return Path(one).samefile(other) and Path(one).is_file()
    except (OSError, ValueError):
        return False


def versioned(text: str) -> str:
    """A JSON object with the version of what commands print; lists, and what has one of its own, stay as they are."""
    from checker.report.schemas import VERSION

    if not text.startswith("{") or re.match(r'\{\s*"format"', text):
        return text
    indent = re.match(r"\{(\n *)?", text)
    gap = (indent and indent[1]) or ""
    return f'{{{gap}"version": {VERSION},{text[1:] if gap else f" {text[1:]}"}'


def emit(text: str, output: str | None, option: str = "-o") -> None:
    """Writes a result to the file that an option names, or to standard output. Raises OptionProblem where it can't be
    written."""
    text = named(text).encode("utf-8", "backslashreplace").decode() + "\n"  # file names may hold lone surrogates
    if output is None:
        _print(text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OptionProblem(f"{option} {output}: {reason}", advice="Choose another file.") from None


def _print(text: str) -> None:
    """Writes to standard output. Raises OptionProblem where it is closed or full."""
    stream = document()
    if stream is None:
        raise OptionProblem("cannot write to standard output: it is closed", advice="Leave it open.")
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OptionProblem(f"cannot write to standard output: {error.strerror}", advice="Make room there.") from None


def tell(
    args: argparse.Namespace, text: Callable[[], str] | None, document: Callable[[], str], page: Callable[[], Page]
) -> None:
    """Writes a result as --format and -o say: as text (nothing where there is none), as JSON, or as what becomes of the
    page. Only the one that is wanted is made. Raises OptionProblem where the file can't be written."""
    from checker.report.page import render

    if args.format == "text":
        told = text() if text else None
    else:
        told = versioned(document()) if args.format == "json" else render(page(), args.format)
    if told is not None:
        emit(told, args.output)
