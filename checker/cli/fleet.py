"""`warpbound bound PATH..`: many kernels, in processes of their own, with a cache, a configuration and budgets."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from checker.cli import process
from checker.cli.options import (
    STD,
    add_cluster_option,
    add_reading_options,
    check_assumption,
    check_sizes,
    emit,
    joined,
    parse_dim,
    parse_hardware,
    parse_metrics,
    refuse_others,
    tell,
)
from checker.cli.progress import progress_bar
from checker.cli.several import add_glob_options, add_limit_options, limits
from checker.notation.problem import OptionProblem
from checker.notation.words import last_word, meant

if TYPE_CHECKING:
    from checker.cli.fleet_work import Settings
    from checker.fleet.cache import Cache
    from checker.fleet.config import Budget, Config
    from checker.fleet.desk import Desk, Key
    from checker.fleet.files import Source
    from checker.fleet.memory import Memory
    from checker.fleet.tray import Tray
    from checker.fleet.workers import Limits, Work
    from checker.testbed.cluster import Cluster
    from logic.metrics import Metric
    from logic.source import Loc

ALONE: Final = {"tight": "--tight", "explain": "--explain", "queries": "--queries", "rules": "--rules"}
"""Options for one source alone."""

FLEET: Final = (
    *("database", "jobs", "time_limit", "memory_limit", "fail_fast", "include", "exclude"),
    *("cache", "no_cache", "recheck", "config", "cluster"),
)
"""Options that ask for worker processes, for one source, too."""


def add_bound_options(parser: argparse.ArgumentParser) -> None:
    """How sources are read and bounded, and what is asked of a run over many."""
    from checker.cli.assumed import add_launch_options
    from checker.cli.options import add_accept_option

    add_reading_options(parser, several=True)
    add_launch_options(parser)
    parser.add_argument(
        "--metric", dest="metrics", action="append", default=[], metavar="NAME|all|FILE.toml", help="(default: all)"
    )
    parser.add_argument("--hardware", metavar="NAME|FILE.toml", default="nvidia", help="(default: %(default)s)")
    parser.add_argument("--per", choices=("warp", "block", "grid"), default="warp", help="(default: %(default)s)")
    parser.add_argument("--scope", choices=("warp", "block"), default="warp", help="(default: %(default)s)")
    parser.add_argument(
        "--search", choices=("lp", "smt"), default="lp", help="what solves for loop potentials (default: %(default)s)"
    )
    add_accept_option(parser)
    _add_fleet_options(parser)


def add_choice_options(group: argparse._ActionsContainer) -> None:
    """-p, --include and --exclude: which sources of folders, and how they are read."""
    group.add_argument(
        "-p", dest="database", metavar="DIR", help="take -I, -D and --std from compile_commands.json there"
    )
    add_glob_options(group, "sources")


def _add_fleet_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a run over many sources."""
    group = parser.add_argument_group("several sources, each kernel in a process of its own with limits")
    add_choice_options(group)
    add_limit_options(group, "kernel", "bound that is not certified")
    group.add_argument("--cache", metavar="DIR", help="keep certificates there (default: the user's cache folder)")
    group.add_argument("--no-cache", action="store_true", help="use and keep no certificates of before")
    group.add_argument(
        "--recheck", action="store_true", help="read and judge again what has not changed since an earlier run"
    )
    group.add_argument("--config", metavar="FILE.toml", help="the configuration (default: that of the nearest folder)")
    add_cluster_option(group)


def configuration(args: argparse.Namespace) -> Config:
    """The configuration that is for these sources; an empty one where there is none. Raises SourceError."""
    from checker.fleet.config import Config, nearest, read
    from checker.fleet.files import what_is

    first = args.files[0]
    path = Path(args.config) if args.config else nearest(Path(first)) if what_is(first) else None
    return read(path) if path else Config()


def is_fleet(args: argparse.Namespace) -> bool:
    """Whether the command line is for many sources, and not for the one that it names. A configuration makes it so, but
    for options that are for one source alone: then a warning says that it is not read."""
    from checker.fleet.config import nearest
    from checker.fleet.files import what_is

    only, kind = Path(args.files[0]), what_is(args.files[0])
    several = len(args.files) > 1 or kind == "folder" or args.format == "jsonl" or wants_pages(args)
    asked = bool(_asked(args))
    if several or asked or kind != "file" or (found := nearest(only)) is None:
        return several or asked
    if (alone := next((option for name, option in ALONE.items() if getattr(args, name)), None)) is None:
        return True
    sys.stderr.write(f"{found}: warning: not read with {alone}: say here what it has, such as --block\n")
    return False


def _asked(args: argparse.Namespace) -> list[str]:
    """The options among FLEET that are given, as they are written."""
    told = {name: getattr(args, name) for name in FLEET}
    given = [name for name, own in told.items() if own is not None and own is not False and own != []]  # 0 is given
    return ["-p" if name == "database" else f"--{name.replace('_', '-')}" for name in given]


@dataclass(slots=True)
class Outcome:
    """The outcome of a run: its desk, the numbers of files and of kernels that were left out, how long it took, and
    whether Ctrl-C ended it."""

    desk: Desk
    config: Config
    left: tuple[int, int]
    seconds: float
    interrupted: bool = False


def run(args: argparse.Namespace) -> int:
    """The command; the worst exit code of all rows and budgets. Raises SourceError for unusable input."""
    from checker.fleet import table
    from checker.fleet.files import what_is

    for name, option in ALONE.items():
        if getattr(args, name):
            left = f", and leave out {' and '.join(given)}" if (given := _asked(args)) else ""
            told = f"Name one source, no folder{left}."
            raise OptionProblem(f"{option} is for one source alone", advice=told)
    one = bool(args.certificate) and args.certificate.endswith(".json")
    if one and (len(args.files) > 1 or what_is(args.files[0]) != "file"):
        raise OptionProblem(
            f"--certificate {args.certificate} is for one bound", advice="Give a folder for all of them."
        )
    with _lines(args) as line:
        done = analysed(args, shows=line)
        rows = [row for _, row in done.desk.in_order()]
        budgets, problem = _budgets(done, args)
        found = table.summary(rows, len(done.desk.sources), done.left, done.seconds)
        if args.format == "jsonl":
            line({"summary": found, "budgets": budgets})
    if one and len(done.desk.texts) > 1:
        advice = "Name one: --kernel NAME --metric sectors; or give a folder for all of them."
        problem = problem or OptionProblem(f"--certificate {args.certificate} is for one bound", advice=advice)
    elif one:
        for text in done.desk.texts.values():
            emit(text, args.certificate, "--certificate")
    elif args.certificate:
        _write(done.desk, args.certificate)
    if wants_pages(args):
        from checker.fleet.pages import pages

        texts = done.desk.texts
        _folder(args.output, "-o")
        for name, text in pages(_title(args.files), done.desk.in_order(), found, budgets, args.accept, texts).items():
            emit(text.removesuffix("\n"), str(Path(args.output) / name))
    elif args.format != "jsonl":
        tell(
            args,
            lambda: table.as_text(_renamed(rows), found, budgets),
            lambda: json.dumps(table.as_json(rows, found, budgets), indent=2),
            lambda: table.as_page(_title(args.files), rows, found, budgets, args.accept),
        )
    if done.interrupted:
        raise KeyboardInterrupt
    problem = problem or (None if any(done.left) else _unused(done, args))
    if problem is not None:
        problem.told = True
        raise problem
    return table.exit_code(rows, budgets, args.accept)


def _renamed(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the names that files have for a reader, by which columns are measured."""
    return [{**row, "file": process.named(row["file"])} for row in rows]


def _title(paths: Sequence[str]) -> str:
    names = [Path(p).resolve().name or p for p in paths]
    names = names if len(set(names)) == len(names) else [process.named(p) for p in paths]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


# --- the run ----------------------------------------------------------------------------------------------------------


def analysed(args: argparse.Namespace, shows: Callable[[Mapping[str, Any]], None] = lambda _: None) -> Outcome:
    """Bounds everything that a command line asks for. Ctrl-C ends it with what is done. Raises SourceError."""
    from checker.fleet import files
    from checker.fleet.desk import Desk
    from checker.fleet.judge import court
    from checker.fleet.tray import fill

    if all(files.what_is(path) == "file" for path in args.files):
        refuse_others(*args.files)
    config = configuration(args)
    settings, config = _settings(args, config)
    found = _sources(args, config)
    jobs, limit = limits(args, config.values)
    jobs = min(jobs, len(found))
    _check_names(args, config, found, settings, partial(fill, limits=limit, count=jobs))
    start, interrupted = time.monotonic(), False
    with ExitStack() as stack:
        cluster = stack.enter_context(joined(args.cluster))
        progress = stack.enter_context(progress_bar("files", len(found)))
        judges, warns = ExitStack(), _each_once()

        def show(row: Mapping[str, Any]) -> None:
            shows(row)
            if progress:
                progress(desk.ends)

        cache = _cache(args, warns)
        desk = Desk(
            sources=found,
            metrics=settings.metrics,
            per="span" if args.scope == "block" else args.per,
            court=lambda: judges.enter_context(court(jobs)),
            cache=cache,
            memory=_memory(args, cache, settings, limit),
            far=cluster is not None,
            accepted=args.accept,
            fail_fast=args.fail_fast,
            shows=show,
            warns=warns,
            keep_texts=bool(args.certificate or config.budgets or wants_pages(args)),
            all_texts=bool(args.certificate or wants_pages(args)),
        )
        left = range(len(found)) if args.recheck else _not_recalled(desk)
        jobs = min(jobs, len(left)) or 1
        try:
            with judges:
                lost = _worked_on([(n, found[n]) for n in left], settings, desk, limit, jobs, cluster)
                warns(f"warpbound: warning: --cluster {args.cluster}: {lost}" if lost else "")
        except KeyboardInterrupt:
            interrupted = True
            process.grant()
    if desk.cache is not None and not interrupted and desk.kept:
        from checker.fleet.cache import trim

        trim(desk.cache)
    out = desk.left_out() if desk.stopped or interrupted else (0, 0)
    return Outcome(desk, config, out, time.monotonic() - start, interrupted)


def _sources(args: argparse.Namespace, config: Config) -> list[Source]:
    """The sources that the options and the configuration name."""
    from checker.fleet import files

    return files.sources(
        args.files,
        [*args.include, *([] if args.include else config.values.get("include", []))],
        [*args.exclude, *config.values.get("exclude", [])],
        files.database(args.database) if args.database else None,
    )


def _each_once() -> Callable[[str], None]:
    """A function that writes each warning to standard error once."""
    said = set[str]()

    def warns(text: str) -> None:
        if text and text not in said:
            said.add(text)
            sys.stderr.write(text.rstrip("\n") + "\n")

    return warns


def _worked_on(
    left: Sequence[tuple[int, Source]],
    settings: Settings,
    desk: Desk,
    limit: Limits,
    jobs: int,
    cluster: Cluster | None,
) -> str:
    """Has workers search the sources that are left, the largest first, and report to the desk; says what was lost of a
    cluster, if anything."""
    from checker.cli import fleet_work
    from checker.fleet import cluster as clusters
    from checker.fleet import workers

    work = [workers.Job(n, (source, settings)) for n, source in sorted(left, key=lambda it: -it[1].size)]
    if work and cluster is not None:
        works = fleet_work.reading, fleet_work.searching, fleet_work.work
        return clusters.run(work, works, desk, limit, jobs, cluster.pool)
    if work:
        workers.run(work, fleet_work.work, desk, limit, jobs)
    desk.finish()
    return ""


def _check_names(
    args: argparse.Namespace,
    config: Config,
    found: Sequence[Source],
    settings: Settings,
    fill: Callable[[Tray, Sequence[Any], Work], None],
) -> None:
    """Raises OptionProblem where the configuration names a kernel that no source has, before any is searched. The
    sources are read for that where none has such a word."""
    from checker.cli.fleet_work import naming
    from checker.fleet import files
    from checker.fleet.tray import Tray

    here = {Path(source.path).resolve() for source in found}
    named = [(b.kernel, b) for b in config.budgets if not b.file or Path(b.file).resolve() in here]
    wanted = {name: last_word(name) for name in (*config.kernels, *(name for name, _ in named))}
    if args.kernel or args.instantiate:
        return  # other kernels are left out
    rare = files.unmentioned(args.files, set(wanted.values()))
    unknown = [name for name, word in wanted.items() if word in rare and not _elsewhere(args, config, name)]
    if not unknown:
        return
    tray = Tray()
    fill(tray, [(source, settings) for source in found], naming)
    read = [tray.of(i) for i in range(len(found))]
    if not all(names and isinstance(names[0], list) for names in read):
        return  # what cannot be read may have it
    having = [(name, source.path) for source, (names,) in zip(found, read, strict=True) for name in names]
    known = {name for full, _ in having for name in (full, full.partition("<")[0])}
    for name in unknown:
        if name in known or name.replace(" ", "") in {full.replace(" ", "") for full in known}:
            continue
        budget = next((b for own, b in named if own == name), None)
        if budget is None:
            raise _no_table(config, name, {own for own, _ in having})
        raise _no_kernel(budget, {own for own, path in having if not budget.file or _same(budget.file, path)})


def _no_kernel(budget: Budget, known: Collection[str]) -> OptionProblem:
    there = f"of '{budget.file}'" if budget.file else "here"
    told = f"a budget is for '{budget.kernel}', and no kernel {there} is called so"
    listed = f"{meant(budget.kernel, known)}There are: {', '.join(sorted(known)[:8])}." if known else ""
    return OptionProblem(told, budget.loc, listed)


def _no_table(config: Config, name: str, known: Collection[str]) -> OptionProblem:
    names = {own for full in known for own in (full, full.partition("<")[0])}
    listed = f"{meant(name, names)}There are: {', '.join(sorted(known)[:8])}."
    return OptionProblem(f"no kernel here is called '{name}'", config.places.get((name, "")), listed)


def _settings(args: argparse.Namespace, config: Config) -> tuple[Settings, Config]:
    """The settings of workers: the command line, and where that says nothing the configuration; and that, its budgets
    with the names of their metrics."""
    from checker.cli.fleet_work import Settings
    from checker.cli.points import point

    check_sizes(args)
    for text in args.assume:
        check_assumption(text)
    own = config.values
    metrics, config = _metrics(args, config)
    place = config.places.get(("", "hardware"))
    with _key(place, "hardware"):
        named = args.hardware if args.hardware != "nvidia" else own.get("hardware", "nvidia")
        hardware = parse_hardware(named, "" if place else "--hardware")
    for name, table in (("", own), *config.kernels.items()):
        _check_launch(config, name, table)
    options = {
        "includes": [*args.includes, *own.get("include-paths", [])],
        "defines": [*args.defines, *own.get("defines", [])],
        "std": args.std if args.std != STD else own.get("std", STD),
        "assume": [*args.assume, *own.get("assume", [])],
        "usual_block": own.get("block"),
        "usual_grid": own.get("grid"),
        "accept": getattr(args, "accept", []),
        "seconds": args.time_limit or config.values.get("time-limit"),
        **{name: getattr(args, name) for name in ("block", "grid", "kernel", "instantiate", "scope", "search", "per")},
    }
    if args.scope == "block" and args.per != "warp":
        told = f"--scope block bounds a span, which --per {args.per} cannot sum"
        raise OptionProblem(told, advice="Leave out --per.")
    return Settings(options, metrics, hardware, point(args.at), config.kernels), config


def _metrics(args: argparse.Namespace, config: Config) -> tuple[tuple[Metric, ...], Config]:
    """The metrics that are looked at, budgets' included where the command line names none; and the configuration, its
    budgets with the names of their metrics. Raises SourceError where a budget's is not one metric, or not the one of
    its name that is looked at."""
    place = None if args.metrics else config.places.get(("", "metrics"))
    with _key(place, "metrics"):
        named = args.metrics or config.values.get("metrics", ["all"])
        chosen = {m.name: m for m in parse_metrics(named, "" if place else "--metric")}
    own = []
    for b in config.budgets:
        place = b.places.get("metric")
        with _key(place, "metric"):
            found, *others = parse_metrics([b.metric], "" if place else "--metric")
            if others:
                raise OptionProblem(f"{b.metric}: a budget is for one metric", advice="Write one for each.")
            if chosen.get(found.name, found) != found:
                told = f"{b.metric}: another metric is called '{found.name}'"
                raise OptionProblem(told, advice="Rename one of them.")
        if not args.metrics:
            chosen.setdefault(found.name, found)
        own.append(replace(b, metric=found.name))
    return tuple(chosen.values()), replace(config, budgets=tuple(own))


def _check_launch(config: Config, name: str, table: Mapping[str, Any]) -> None:
    """Sizes and assumptions of a configuration, for all kernels or one. Raises SourceError at the key."""
    for key in ("block", "grid"):
        if key in table:
            place = config.places.get((name, key))
            with _key(place, key, f'Write it like {key} = 256, "16,16" or [16, 16].'):
                parse_dim(table[key], "" if place else f"--{key}")
    for text in table.get("assume", ()):
        with _key(config.places.get((name, "assume")), f"assume: '{text}'"):
            check_assumption(text)


@contextmanager
def _key(place: Loc | None, key: str, advice: str = "") -> Iterator[None]:
    """Problems of a value as those of its key in a configuration; of an option where `place` is None."""
    from logic.source import SourceError

    try:
        yield
    except SourceError as problem:
        if place is None:
            raise
        raise OptionProblem(f"{key}: {problem.message}", place, advice or problem.advice) from None


def _cache(args: argparse.Namespace, warns: Callable[[str], None]) -> Any:
    """The cache that is used, if any. Raises OptionProblem where the one that is asked for cannot be."""
    from checker import VERSION
    from checker.fleet import cache

    if args.no_cache:
        return None
    version = f"{VERSION} {cache.code()}"
    if args.cache:
        return cache.opened(Path(args.cache), version)
    try:
        return cache.opened(cache.usual(), version)
    except (OptionProblem, RuntimeError) as problem:
        warns(f"warpbound: warning: nothing is cached: {problem}")
        return None


def _memory(args: argparse.Namespace, cache: Cache | None, settings: Settings, limits: Limits) -> Memory | None:
    """The notes of sources from earlier runs; None where there is no cache, nor a key of this user's."""
    from checker.fleet import memory
    from checker.limits import BOUND_SECONDS

    key = memory.key(cache.folder) if cache is not None and not getattr(args, "volatile", False) else None
    if cache is None or key is None:
        return None
    seconds = settings.options["seconds"]
    about = memory.about((replace(settings, options={**settings.options, "seconds": None}),))
    return memory.Memory(cache, key, about, (limits.seconds, limits.memory, seconds or BOUND_SECONDS))


def _not_recalled(desk: Desk) -> list[int]:
    """The numbers of the sources of which nothing is known from an earlier run; what is known goes to the desk."""
    left = []
    for n, source in enumerate(desk.sources):
        note = desk.memory.note(source) if desk.memory is not None and not desk.stopped else None
        if note is None or not desk.recall(n, note):
            left.append(n)
    return left


# --- after it ---------------------------------------------------------------------------------------------------------


def _unused(done: Outcome, args: argparse.Namespace) -> OptionProblem | None:
    """The problem where there is no kernel at all, or an option or a table of the configuration is about none."""
    from checker.cli.points import point

    desk, config = done.desk, done.config

    if not desk.rows:
        named = f" '{args.kernel}'" if args.kernel else ""
        told = f"there is no kernel{named} in {', '.join(map(repr, args.files[:3]))}"
        return OptionProblem(told, advice="A kernel is a function marked __global__.")
    if (took := desk.took) is None:
        return None
    for name in sorted(point(args.at).keys() - took):
        return OptionProblem(f"--at: '{name}' is no parameter of a kernel here")
    for text in args.assume:
        if text not in took:
            return OptionProblem(f"--assume {text}: no kernel here has its parameters")
    names = {name for full in desk.named.values() for name in (full, full.partition("<")[0])}
    for name in config.kernels.keys() - names:
        if f"[kernel.{name}]" not in took and not _elsewhere(args, config, name):
            return _no_table(config, name, set(desk.named.values()))
    for text in config.values.get("assume", ()):
        if text not in took and config.folder and _covers(args.files, config.folder):
            told = f"assume: no kernel here has the parameters or arrays of '{text}'"
            return OptionProblem(told, config.places.get(("", "assume")), "Mend it, or leave it out.")
    return None


def _elsewhere(args: argparse.Namespace, config: Config, name: str) -> bool:
    """Whether a kernel of the configuration is one of a source that was not looked at."""
    from checker.fleet import files

    folder = config.folder
    return folder is not None and not _covers(args.files, folder) and files.mentions(folder, name)


def _budgets(done: Outcome, args: argparse.Namespace) -> tuple[list[dict[str, Any]], OptionProblem | None]:
    """The rows of the budgets; and the problem of one that cannot be judged."""
    desk, config = done.desk, done.config
    rows: list[dict[str, Any]] = []
    problem: OptionProblem | None = None
    if not config.budgets:
        return rows, problem

    from checker.cli.points import point
    from checker.fleet import budgets
    from checker.fleet.lines import dearest
    from logic.source import SourceError

    def line(key: Key) -> int | None:
        text = desk.text(key)
        return None if text is None else dearest(text)

    for budget in config.budgets if not done.interrupted and not any(done.left) else ():
        try:
            rows += budgets.judged((budget,), desk, partial(point, option=""), line)
        except budgets.NoKernel:
            if budget.file and not Path(budget.file).is_file():
                told = f"a budget is for a kernel of '{budget.file}', and there is no such file"
                having = sorted({r["file"] for r in desk.rows.values() if r["kernel"] == budget.kernel})
                there = f" '{budget.kernel}' is in: {', '.join(having[:8])}." if having else ""
                advice = f"Paths are as from the configuration's folder.{there}"
                problem = problem or OptionProblem(told, budget.places.get("file"), advice)
                continue
            if budget.file and not any(_same(budget.file, row["file"]) for row in desk.rows.values()):
                sys.stderr.write(f"{budget.loc}: warning: '{budget.file}' is no source that was looked at\n")
                continue
            if not budget.file and _elsewhere(args, config, budget.kernel):
                sys.stderr.write(f"{budget.loc}: warning: no source that was looked at has '{budget.kernel}'\n")
                continue
            rows_ = [r for r in desk.rows.values() if not budget.file or _same(budget.file, r["file"])]
            known = sorted({str(row["kernel"]) for row in rows_ if row["kernel"]})
            problem = problem or _no_kernel(budget, known)
        except SourceError as error:
            problem = problem or OptionProblem(error.message, error.loc, error.advice)
    return rows, problem


def _same(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _covers(paths: Sequence[str], folder: Path) -> bool:
    """Whether all of a folder is among what is looked at."""
    here = folder.resolve()
    return any(Path(p).resolve() in (here, *here.parents) for p in paths)


def wants_pages(args: argparse.Namespace) -> bool:
    """Whether -o names a folder, for an index and a page a kernel."""
    path = args.output
    return args.format == "html" and path is not None and (path.endswith("/") or Path(path).is_dir())


def _folder(path: str, option: str) -> None:
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionProblem(f"{option} {path}: {error.strerror}", advice="Choose another folder.") from None


def _write(desk: Desk, folder: str) -> None:
    """Writes all certificates to a folder: KERNEL-METRIC.json, with the source before it where two are called so."""
    from checker.cli.bounded import file_name

    _folder(folder, "--certificate")
    names: dict[str, set[tuple[int, int]]] = {}
    for key in desk.texts:
        names.setdefault(file_name(str(desk.rows[key]["kernel"])), set()).add(key[:2])
    for key, text in desk.texts.items():
        row = desk.rows[key]
        name = file_name(str(row["kernel"]))
        if len(names[name]) > 1:
            name = f"{file_name(desk.sources[key[0]].name)}-{key[1]}-{name}"
        emit(text, str(Path(folder) / f"{name}-{row['metric']}.json"), "--certificate")


class _lines:  # noqa: N801 - a function that is used in `with`
    """Where the lines of JSON Lines go, as they come; nowhere in other formats."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.wanted, self.output = args.format == "jsonl", args.output
        self.file: Any = None

    def __enter__(self) -> Callable[[Mapping[str, Any]], None]:
        if self.wanted and self.output:
            try:
                self.file = Path(self.output).open("w", encoding="utf-8")
            except OSError as error:
                told = f"-o {self.output}: {error.strerror}"
                raise OptionProblem(told, advice="Choose another file.") from None
        return self.line

    def line(self, what: Mapping[str, Any]) -> None:
        if not self.wanted:
            return
        text = json.dumps(what)
        if self.file is None:
            emit(text, None)
        else:
            self.file.write(text + "\n")
            self.file.flush()

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()
