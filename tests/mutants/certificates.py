"""Mutants of the committed certificates: one leaf changed, the digest made anew, and both checkers asked.

    python -m tests.mutants.certificates [KERNEL ...] [--page docs/mutants-certificates.md] [--every N]

A mutant that both accept has to claim what the original claims, or something else that no run refutes and that REASONS
explains.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import functools
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Final

from checker.certificates.claims import excluder, shown
from checker.kernel import Claim
from checker.notation.problem import OptionProblem
from checker.recheck import RULES, Report, metavariables
from checker.testbed.cluster import Cluster, joined, results
from logic.assertions import Context
from logic.potentials import Poly, evaluate
from logic.source import SourceError
from logic.syntax import INT, WARP_INDEX, Kernel, Param, same
from proofs.features.make import FEATURES
from proofs.make import BLOCKS, ROOT, committed
from semantics.grid import BarrierDivergence, LaunchProblem
from semantics.lockstep import Broken
from semantics.vectorised import run
from tests.mutants.quick import Quick, plain

Json = Any
Route = tuple[str | int, ...]

AGAIN: Final = 300
"""Of so many mutants one is tried a second time, with nothing remembered."""

POINTS: Final = (33, 5, 64, 0)
"""What every parameter is in the runs that test a changed claim; the second parameter gets the next one."""

_SWAPS: Final = (
    "+ -", "/ %", "< <=", "> >=", "== !=", "&& ||", "<< >>", "min max", "int bool", "var param", "max0 log2",
    "low high", "arg zero", "skip sync", "if while", "global shared", "warp block",
)  # fmt: skip

OTHERS: Final = {
    **{a: b for pair in map(str.split, _SWAPS) for a, b in (pair, pair[::-1])},
    **dict(pair.split() for pair in ("* +", "neg +", "& |", "| ^", "^ &", "?: min", "above max0", "base int", "! neg")),
    **dict(pair.split() for pair in ("x y", "y z", "z x")),
}
"""For each word of the format and each operator another one that fits where it stands."""

_DEAD: Final = "a write where no thread comes to, in the program too: no rule is applied to it"
_UNUSED: Final = "a parameter that the program does not use"
_IDLE: Final = "a local that the program does not use"
_ANOTHER_PROOF: Final = "another derivation, which the kernel proves anew; the recorded evidence is for the original's"
_ANOTHER_SETTING: Final = "proved anew by the kernel for what it says now; the recorded evidence is for the original's"

_ANOTHER_CONDITION: Final = (
    "another condition in between: what is asked of it is seen, and it suffices; the same claim, and still a proof"
)
_OTHER_EVIDENCE: Final = (
    "another proof: a sum that is -1 in place of the goal, or a fact beside what is seen without it"
)

REASONS: Final = (
    (
        "accepted",
        r"derivation\[\]\.at\[\]|evidence\[\]\.engine|tools\..*|(kernel|metric|hardware)\.name",
        "",
        "informative",
    ),
    ("accepted", r"assertions\[\]\[\]", "", _ANOTHER_CONDITION),
    ("accepted", r"derivation\[\]\.with\.n", "", "a larger count holds too, and the metric does not charge for it"),
    ("accepted", r"hardware\.\w+", "hardware", "on that hardware the bound holds too"),
    ("accepted", r"kernel\.arrays\..*", "arrays", "with that array the bound holds too"),
    ("accepted", r"derivation\[\]\.with\.n", "bound", "a weaker bound: a larger count holds too"),
    ("accepted", r"launch\..*", "launch", "for that launch the bound holds too"),
    ("accepted", r"launch\.grid\[\]", "bound, launch", "a sum over a grid, and for a grid of that size it is this"),
    ("accepted", r"metric\.(fixed|counted)\..*", "prices", "nothing in the kernel has that price"),
    ("accepted", r"kernel\.params.*", "parameters", _UNUSED),
    ("accepted", r"kernel\.locals.*", "locals", _IDLE),
    ("accepted", r"scope", "scope", "what is uniform in a warp here is so in the block"),
    (
        "accepted",
        r"expressions\[\].*",
        "body",
        "another literal of a base type, in the program too: no cost depends on it",
    ),
    (
        "kernel only",
        r"evidence\[\]\.proof.*",
        "",
        "the kernel does not read the evidence; the second checker finds the fault",
    ),
    ("kernel only", r"kernel\.params.*", "parameters", f"{_UNUSED}; the second checker refuses a type that is none"),
    ("kernel only", r"kernel\.locals.*", "locals", f"{_IDLE}; the second checker refuses a type that is none"),
    ("kernel only", r"(assertions|expressions|potentials|derivation)\b.*", "", _ANOTHER_PROOF),
    ("kernel only", "version", "", "the version of certificates with contracts; the second checker finds none"),
    ("kernel only", r"launch\..*", "launch", _ANOTHER_SETTING),
    ("kernel only", r"expressions\b.*", "body", f"another program, {_ANOTHER_SETTING}"),
    ("kernel only", r"hardware\..*", "hardware", _ANOTHER_SETTING),
    ("kernel only", r"kernel\.arrays\..*", "arrays", _ANOTHER_SETTING),
    (
        "kernel only",
        r"derivation\[\]\.with\.P1",
        "precondition",
        "a claim under a precondition, which it states; the second checker wants none",
    ),
    ("kernel only", r"(expressions|potentials|derivation)\b.*", "bound", f"a weaker bound; {_ANOTHER_PROOF}"),
)
"""What accepts a mutant, where it differs, what of its claim is another, and why nothing is wrong.

The first line that fits a survivor explains it. None is for a mutant that the second checker alone calls valid.
"""

_UNDECIDED: Final = "the second checker cannot decide it and says so: solver-backed, not valid"

ARRAY: Final = ("name", "space", "type", "stride", "offset", "width", "length")
"""The columns of an array in a certificate."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that a checker accepts. `what` is "accepted" (by both), "kernel only" or "second only"."""

    certificate: str
    route: Route
    old: Json
    new: Json
    what: str
    second: str
    claim: str
    problem: str

    @property
    def place(self) -> str:
        """The route without its numbers."""
        return place(self.route)


def place(route: Route) -> str:
    if route[:2] == ("kernel", "arrays"):
        return f"kernel.arrays.{ARRAY[int(route[3])]}"
    return re.sub(r"^\.", "", "".join("[]" if isinstance(step, int) else f".{step}" for step in route))


# --- mutation ---------------------------------------------------------------------------------------------------------


def leaves(value: Json, route: Route = ()) -> Iterator[tuple[Route, Json]]:
    """Every number, text, truth value and null of a document, with the way to it; without the digest."""
    if isinstance(value, dict):
        for key in sorted(value.keys() - {"digest"} if not route else value):
            yield from leaves(value[key], (*route, key))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from leaves(part, (*route, i))
    else:
        yield route, value


def other(document: dict[str, Json], route: Route, old: Json) -> Json:
    """Another value for a leaf, of its sort where there is one: a number's successor, the next name or rule."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return old + 1
    if old is None:
        return 1
    if re.fullmatch(r"-?\d+(/\d+)?", old):
        return str(Fraction(old) + 1)
    if re.fullmatch(r"\d+\.\d*f?", old):
        return f"1{old}"
    if route[-1] == "rule":
        return _rule(old)
    k = document["kernel"]
    for names in ([name for name, _ in (*k["locals"], *k["params"])], [a[0] for a in k["arrays"]]):
        if old in names and len(names) > 1 and route[0] != "kernel":
            return names[(names.index(old) + 1) % len(names)]
    return OTHERS.get(old, f"{old}0")


def _rule(old: str) -> str:
    """The next rule with the same metavariables, or else the next one."""
    alike = [name for name in RULES if metavariables(name) == metavariables(old)]
    names = alike if len(alike) > 1 else list(RULES)
    return names[(names.index(old) + 1) % len(names)]


def mutant(document: dict[str, Json], route: Route, new: Json) -> dict[str, Json]:
    """The document with one leaf replaced, under its old digest: `quick.signed` makes it anew."""
    changed = copy.copy(document)
    here: Any = changed
    for step in route[:-1]:
        here[step] = copy.copy(here[step])
        here = here[step]
    here[route[-1]] = new
    return changed


# --- judgement --------------------------------------------------------------------------------------------------------


@cache
def original(name: str) -> tuple[dict[str, Json], list[tuple[Route, Json]]]:
    """A committed certificate and its leaves."""
    document = json.loads((ROOT / f"{name}.json").read_text(encoding="ascii"))
    return document, list(leaves(document))


@cache
def quick(name: str) -> Quick:
    """The checkers for a committed certificate and its mutants. Raises ValueError for one that the kernel rejects."""
    checkers = Quick(original(name)[0])
    if checkers.claim is None:
        raise ValueError(f"{name}: the kernel rejects the certificate itself")
    return checkers


def judge(name: str, number: int, again: bool = False) -> Survivor | None:
    """What becomes of one mutant; None where both checkers refuse it.

    With `again`, both are asked once more with nothing remembered. Raises RuntimeError where they say something else.
    """
    (document, places), checkers = original(name), quick(name)
    route, old = places[number]
    new = other(document, route, old)
    changed = mutant(document, route, new)
    if checkers.covers(changed):
        unread = route[0] in ("evidence", "tools")  # which the kernel does not look at
        found, second = checkers.claim if unread else checkers.first(changed), checkers.second(changed)
        if again and _said(found, second) != _said(*plain(changed)):
            raise RuntimeError(f"{name}, {route}: asked again, the checkers say something else of {new!r}")
    else:
        found, second = plain(changed)
    claim = checkers.claim
    if claim is None or found is None:
        refused = second.verdict == "invalid"
        return None if refused else Survivor(name, route, old, new, "second only", second.verdict, "", "")
    what = "kernel only" if second.verdict == "invalid" else "accepted"
    difference = _difference(claim, found)
    admitted = bool(changed["admitted"])
    problem = refutation(found.kernel, found.context, shown(found), found.per, admitted) if difference else ""
    return Survivor(name, route, old, new, what, second.verdict, difference, problem)


def _said(claim: Claim | None, second: Report) -> tuple[object, ...]:
    judgement = None if claim is None else (claim.pre, claim.kernel.params, claim.context)
    return judgement, second.verdict, second.problem, second.solver_backed


def _difference(a: Claim, b: Claim) -> str:
    """In which parts two claims differ; names of kernels, metrics and hardware are no parts."""
    pairs: dict[str, tuple[object, object]] = {
        "bound": (a.bound, b.bound),
        "subject": (a.per, b.per),
        "precondition": ((a.pre.p, a.pre.x), (b.pre.p, b.pre.x)),
        "parameters": (a.kernel.params, b.kernel.params),
        "locals": (a.kernel.locals, b.kernel.locals),
        "arrays": (a.kernel.arrays, b.kernel.arrays),
        "prices": (
            (a.context.metric.fixed, a.context.metric.counted),
            (b.context.metric.fixed, b.context.metric.counted),
        ),
        "hardware": (_sizes(a), _sizes(b)),
        "launch": (a.context.launch, b.context.launch),
        "scope": (a.context.scope, b.context.scope),
        "body": (True, same(a.kernel.body, b.kernel.body)),
    }
    return ", ".join(part for part, (x, y) in pairs.items() if x != y)


def _sizes(claim: Claim) -> tuple[int, ...]:
    h = claim.context.hardware
    return h.sector, h.banks, h.word, h.warp, h.alignment


def refutation(kernel: Kernel, context: Context, bound: Poly, per: str = "warp", admitted: bool = False) -> str:
    """A run that costs more than a bound on a warp, on what a block's warps cost together, or a grid's, as text; else
    nothing. No claim speaks of runs that break what it assumes, as that all threads reach a barrier that is
    admitted."""
    x, y, z = (1 if d is None else d for d in context.launch.block)
    least = (1 if per == "block" else 2, 1, 1)
    gx, gy, gz = (first if d is None else d for d, first in zip(context.launch.grid, least, strict=True))
    sizes = {
        f"{name}.{axis}": n
        for name, whole in (("blockDim", (x, y, z)), ("gridDim", (gx, gy, gz)))
        for axis, n in zip("xyz", whole, strict=True)
    }
    metric, excluded = context.metric, excluder(context)
    for i in range(len(POINTS)):
        args = {d.name: POINTS[(i + j) % len(POINTS)] if d.type == INT else 0 for j, d in enumerate(kernel.params)}
        if excluded({**args, **sizes}):
            continue
        try:
            ran = run(kernel, (x, y, z), (gx, gy, gz), args, metrics=(metric,), hardware=context.hardware)
        except LaunchProblem:
            return ""  # a claim about launches that there are not
        except Broken:
            continue
        except SourceError as problem:
            if admitted and isinstance(problem, BarrierDivergence):
                continue
            return f"a run with {args} fails: {problem.message}"
        paid = (ran.max_per_warp if per == "warp" else ran.totals)[metric.name]
        most = _most(bound, args | sizes, context.hardware.warp, per)
        if paid > most:
            return f"a run with {args} costs {paid}, more than {most}"
    return ""


def _most(bound: Poly, point: dict[str, int], warp: int, per: str) -> Fraction:
    """The most that a bound allows the dearest warp of a launch, or all of them together."""
    threads = prod(point[f"blockDim.{axis}"] for axis in "xyz")
    blocks = product(*(range(point[f"gridDim.{axis}"] if per != "grid" else 1) for axis in "xyz"))
    places = product(blocks, range(-(-threads // warp) if per == "warp" else 1))
    values = [
        evaluate(
            bound,
            {Param(name): v for name, v in {**point, **_index(of), WARP_INDEX: w, "warpSize": warp}.items()},
        )
        for of, w in places
    ]
    return max(values) if per == "warp" else sum(values, Fraction(0))


def _index(block: tuple[int, ...]) -> dict[str, int]:
    return {f"blockIdx.{axis}": i for axis, i in zip("xyz", block, strict=True)}


# --- the run ----------------------------------------------------------------------------------------------------------


Job = tuple[str, int, int]
"""A certificate; of its mutants, one of so many is tried, and of these, one of so many again."""


def attempt(job: Job) -> tuple[str, int, list[Survivor]]:
    """The mutants of a certificate, or every so-manieth: how many, and what a checker accepts."""
    name, every, again = job
    numbers = range(0, len(original(name)[1]), every)
    found = [judge(name, number, again > 0 and i % again == again - 1) for i, number in enumerate(numbers)]
    quick.cache_clear()
    original.cache_clear()
    return name, len(numbers), [s for s in found if s is not None]


def _is_condition(s: Survivor) -> bool:
    """Whether only conditions have the expression: no rule is applied to it."""
    nodes = original(s.certificate)[0]["derivation"]
    values = (value for node in nodes for letter, value in node["with"].items() if re.fullmatch(r"[eok]\d?", letter))
    return s.route[1] not in values


def _is_proof(s: Survivor) -> bool:
    """Whether evidence that differs says as much: in how often a case that cannot be is taken, or a fact a <= b where
    the goal is a < b, which is what the goal and -1 differ by; or in a fact without which the certificate is valid,
    too."""
    document = original(s.certificate)[0]
    match s.route:
        case ("evidence", *path, int(row), 0):  # of a sum, or of what a factor rests on
            at = document["evidence"]
            for part in (*path, row):
                at = at[part]
            match at:
                case [str(), [["case", _]]]:
                    return True
                case [str(), [["fact", ["op", "<=", *sides], "+"]]] if path[1:2] == ["proof"] and path[3:4] == ["by"]:
                    return bool(document["evidence"][path[0]]["proof"][path[2]]["goal"] == ["op", "<", *sides])
        case ("evidence", int(i), "proof", int(entry), "goal", *_):
            rows = document["evidence"][i]["proof"]
            less = mutant(document, ("evidence", i, "proof"), [row for j, row in enumerate(rows) if j != entry])
            return plain(less)[1].verdict == "valid"
    return False


def _is_dead(s: Survivor) -> bool:
    """Whether a statement writes where no thread comes to: no rule is applied to it, as a test is always the other
    way."""
    document = original(s.certificate)[0]
    kind, *parts = document["statements"][s.route[1]]
    if kind != "write":
        return False
    array, index, value = parts
    applied = (node["with"] for node in document["derivation"] if node["rule"] in ("Q:GWrite", "Q:SWrite"))
    return (array, index, value) not in [(w.get("G", w.get("S")), w["o"], w["e"]) for w in applied]


def reason(s: Survivor) -> str:
    """Why a survivor is none to worry about; "" where nobody knows."""
    if s.problem:
        return ""
    if s.what == "second only":
        return _UNDECIDED if s.second == "solver-backed" else ""
    if (s.what, s.claim, s.route[0]) == ("accepted", "", "expressions") and _is_condition(s):
        return _ANOTHER_CONDITION
    if (s.what, s.claim, s.route[0]) == ("accepted", "", "evidence") and s.second == "solver-backed":
        return _UNDECIDED
    if (s.what, s.claim, s.route[0]) == ("accepted", "", "evidence") and _is_proof(s):
        return _OTHER_EVIDENCE
    if (s.what, s.claim, s.route[0]) == ("accepted", "body", "statements") and _is_dead(s):
        return _DEAD
    found = (
        why for what, at, claim, why in REASONS if (what, claim) == (s.what, s.claim) and re.fullmatch(at, s.place)
    )
    return next(found, "")


@dataclass(frozen=True, slots=True)
class Tally:
    """What a run found: mutants tried by certificate, and those that a checker accepts."""

    tried: dict[str, int]
    survivors: list[Survivor]

    @property
    def unexplained(self) -> list[Survivor]:
        return [s for s in self.survivors if not reason(s)]


def _fits(job: Job, found: object) -> bool:
    """Whether this may be what became of a certificate's mutants."""
    name, every, _ = job
    match found:
        case (str() as about, int() as count, list() as survivors):
            right = all(isinstance(s, Survivor) and s.certificate == name for s in survivors)
            return right and (about, count) == (name, len(range(0, len(original(name)[1]), every)))
    return False


def _attempts(
    jobs: Sequence[Job], processes: int, cluster: Cluster | None
) -> Iterator[tuple[str, int, list[Survivor]]]:
    """The attempts at certificates, by processes of this machine or by others, which have to be one's own: what they
    say of a mutant is believed."""
    if cluster is not None:
        yield from results(cluster, attempt, jobs, _fits)
        return
    with Pool(processes) as pool:
        yield from pool.imap_unordered(attempt, jobs)


def _file(folder: Path, name: str, every: int) -> Path:
    """Where results on a certificate are kept, as it is now."""
    return folder / f"{name.replace('/', '-')}-{every}-{original(name)[0]['digest'][-12:]}.json"


def _kept(folder: Path, name: str, every: int) -> tuple[int, list[Survivor]] | None:
    file = _file(folder, name, every)
    if not file.is_file():
        return None
    count, found = json.loads(file.read_text(encoding="utf-8"))
    return count, [Survivor(**s | {"route": tuple(s["route"])}) for s in found]


def _keep(folder: Path, name: str, every: int, count: int, found: list[Survivor]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps((count, [dataclasses.asdict(s) for s in found]))
    _file(folder, name, every).write_text(text, encoding="utf-8")


def trial(
    names: Iterable[str],
    processes: int = 2,
    every: int = 1,
    again: int = AGAIN,
    tell: Callable[[str], object] = str,
    folder: Path | None = None,
    cluster: Cluster | None = None,
) -> Tally:
    """Tries the mutants of these certificates, or every so-manieth; of those tried, every so-manieth `again`.

    What is in the folder is not tried again, and what is tried is put there.
    """
    names = list(names)
    known = {name: kept for name in names if folder and (kept := _kept(folder, name, every))}
    left = sorted(set(names) - known.keys(), key=lambda name: (-(ROOT / f"{name}.json").stat().st_size, name))
    start = time.monotonic()
    for name, count, found in _attempts([(name, every, again) for name in left], processes, cluster):
        known[name] = count, found
        if folder:
            _keep(folder, name, every, count, found)
        tell(f"{name}: {count} tried, {len(known)} of {len(names)}, {time.monotonic() - start:.0f} s")
    tried = {name: known[name][0] for name in names}
    return Tally(tried, [s for name in names for s in known[name][1]])


_HEAD: Final = """# Mutants of the certificates

Made by `{command}`.

In each certificate one leaf at a time is changed (a number to its successor; a name, an operator, a rule or a word of
the format to another that fits where it stands; true to false; null to 1) and the digest made anew; then both checkers
are asked. The kernel reads neither the evidence nor the versions of tools, so there its verdict is the original's. What
has the same inputs as in the certificate itself is decided once (`tests/mutants/quick.py`); about one mutant in {again}
both checkers are asked again, with nothing remembered, and say the same.

Where both accept a mutant, its claim (program, metric, hardware, launch, scope, bound) is compared with the original's.
A claim that changed is tried in runs of its program, with its prices, hardware and launch; none may cost more than it
says. Whatever a checker accepts needs a reason that is written down in `tests/mutants/certificates.py`; a mutant
without one fails the run.

- *refused*: by both.
- *kernel only*, *second only*: accepted by one of the two, so `warpbound check` refuses.
- *same claim*, *other claim*: accepted by both, so `warpbound check` accepts.
"""


def page(tally: Tally, command: str) -> str:
    """docs/mutants-certificates.md."""
    lines = [_HEAD.format(command=command, again=AGAIN)]
    lines.append(
        "| certificate | mutants | refused | kernel only | second only | same claim | other claim | unexplained |"
    )
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, count in [*tally.tried.items(), ("all", sum(tally.tried.values()))]:
        mine = [s for s in tally.survivors if name in ("all", s.certificate)]
        kinds = Counter(s.what if s.what != "accepted" else "other" if s.claim else "same" for s in mine)
        unexplained = sum(not reason(s) for s in mine)
        row = [
            count,
            count - len(mine),
            *(kinds[k] for k in ("kernel only", "second only", "same", "other")),
            unexplained,
        ]
        lines.append(f"| {name} | {' | '.join(map(str, row))} |")
    lines += ["", "## Mutants that a checker accepts, by place", ""]
    lines += ["| accepted by | place | claim | mutants | why |", "| --- | --- | --- | ---: | --- |"]
    classes = Counter((_by(s), _short(s), s.claim, reason(s) or "**unexplained**") for s in tally.survivors)
    for (by, where, claim, why), count in sorted(classes.items()):
        lines.append(f"| {by} | `{where}` | {f'other {claim}' if claim else 'same'} | {count} | {why} |")
    if tally.unexplained:
        lines += ["", "## Unexplained", ""]
    for s in tally.unexplained:
        lines.append(
            f"- {s.certificate}, {s.route}: {s.old!r} to {s.new!r}, {s.what}, {s.second}; {s.claim} {s.problem}"
        )
    return "\n".join(lines) + "\n"


def _by(s: Survivor) -> str:
    """What accepts a survivor."""
    by = "both" if s.what == "accepted" else f"the {s.what.removesuffix(' only')} alone"
    return by if s.second == "valid" or s.what == "kernel only" else f"{by}, solver-backed"


def _short(s: Survivor) -> str:
    """A survivor's place, without the inside of proofs and expressions."""
    return re.sub(r"(\[\])+$", "[]", re.sub(r"(proof)\b.*", r"\1", s.place))


def main() -> int:
    parser = argparse.ArgumentParser(description="Tries mutants of the committed certificates.")
    parser.add_argument(
        "kernels",
        nargs="*",
        metavar="KERNEL",
        help=f"of {', '.join(BLOCKS)}, features, or one certificate, as KERNEL/METRIC (default: all)",
    )
    parser.add_argument("--page", type=Path, help="write the result there")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try a sample: one mutant of N")
    parser.add_argument(
        "--again", type=int, default=AGAIN, metavar="N", help="try one of N twice (default: %(default)s)"
    )
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="keep results there and go on from them; empty it for other checkers"
    )
    parser.add_argument("--cluster", metavar="tcp://HOST:PORT", help="the workers of a Dask scheduler try them")
    options = parser.parse_args()
    names = [*(f"{name}/{metric}" for name, metric, _ in committed()), *(f"features/{name}" for name in FEATURES)]
    if options.kernels:
        names = [name for name in names if {name, name.partition("/")[0]} & set(options.kernels)]
    tell = functools.partial(print, file=sys.stderr, flush=True)
    try:
        with joined(options.cluster) if options.cluster else nullcontext() as cluster:
            tally = trial(names, options.processes, options.every, options.again, tell, options.folder, cluster)
    except OptionProblem as problem:
        parser.error(f"{problem.message}. {problem.advice}")
    sampled = [f"--every {options.every}"] if options.every > 1 else []
    text = page(tally, " ".join(["python -m tests.mutants.certificates", *options.kernels, *sampled]))
    if options.page:
        options.page.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 1 if tally.unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
