"""Both static analyses against the labelled set: nothing missed, few false alarms, and how many.

`python -m tests.checker.analysis.coalescing.test_labelled` prints the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.analysis.coalescing import gpudrano
from checker.analysis.coalescing.access import SEVERITY, Key, Threshold, Verdict, accesses
from checker.analysis.coalescing.exact import Finding, Followed, follow
from checker.analysis.coalescing.observed import observe
from checker.cli.data import read_args, read_arrays
from checker.notation import read_annotations
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics.lockstep import StepLimit
from tests.checker.analysis.coalescing import labels
from tests.checker.analysis.coalescing.labels import Case, Label
from tests.examples import examples

CASES = labels.cases()
RECORDED = labels.recorded()


@cache
def kernel_of(case: Case) -> Kernel:
    return labels.read(case).kernel


@cache
def followed(case: Case, told: bool) -> Followed:
    """A kernel as the exact analysis follows it, told what the source requires, and the block or not."""
    kernel = kernel_of(case)
    sigma = check_kernel(kernel)
    hints = read_annotations(kernel, case.path.read_text(), sigma)
    launch = Launch(case.block if told else (None, None, None), assumptions=hints.assumptions)
    return follow(kernel, Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], launch))


@cache
def findings(case: Case, told: bool, threshold: Threshold = "fewest") -> tuple[Finding, ...]:
    """The findings of the exact analysis."""
    return followed(case, told).judged(threshold).findings


@cache
def lattice(case: Case) -> frozenset[Key]:
    """What the published analysis reports; it is not told the block."""
    return gpudrano.reported(kernel_of(case))


def judged(threshold: Threshold = "fewest") -> Iterator[tuple[Case, Label, Finding, bool]]:
    """Every access: its label, the exact finding, and whether the published analysis reports it."""
    for case in CASES:
        for recorded, finding in zip(RECORDED[str(case)], findings(case, True, threshold), strict=True):
            label = recorded if threshold == "fewest" else replace(recorded, verdict=recorded.paper)
            yield case, label, finding, finding.access.key in lattice(case)


# --- the set ---------------------------------------------------------------------------------------------------------


def test_the_set_is_large_and_varied() -> None:
    verdicts = Counter(label.verdict for of_case in RECORDED.values() for label in of_case)
    assert sum(verdicts.values()) >= 350
    for verdict in ("coalesced", "misaligned", "uncoalesced", "conflict-free", "conflicting"):
        assert verdicts[verdict] >= 20, verdict
    assert {case.file for case in CASES} == {path.stem for path in labels.HOME.glob("*.cu")}
    assert [str(case) for case in CASES] == list(RECORDED)


def test_every_kernel_is_launched_and_every_access_has_a_label() -> None:
    for case in CASES:
        found = [(labels.place(a), a.kind, a.array.name, a.array.space) for a in accesses(kernel_of(case))]
        assert [(label.at, label.kind, label.array, label.space) for label in RECORDED[str(case)]] == found
    for path in labels.HOME.glob("*.cu"):
        launched = {case.kernel for case in CASES if case.path == path}
        assert launched == {
            line.split("(")[0].split()[-1] for line in path.read_text().splitlines() if "__global__" in line
        }


@pytest.mark.parametrize("case", CASES[::6], ids=str)
def test_labels_are_what_runs_say(case: Case) -> None:
    assert labels.labels(case, kernel_of(case)) == RECORDED[str(case)]


# --- nothing is missed -----------------------------------------------------------------------------------------------


def bad(verdict: Verdict) -> int:
    """How bad a verdict is; `unknown` promises nothing."""
    return len(SEVERITY) if verdict == "unknown" else SEVERITY.index(verdict)


@pytest.mark.parametrize("told", [True, False], ids=["the block", "any block"])
def test_the_exact_analysis_misses_nothing(told: bool) -> None:
    """No run needs more than was stated, and none is worse than the verdict."""
    for case in CASES if told else CASES[::3]:
        for label, finding in zip(RECORDED[str(case)], findings(case, told), strict=True):
            where = f"{case} {label}"
            assert finding.transactions >= label.most, where
            assert bad(finding.verdict) >= bad(label.verdict), where


def test_by_the_papers_threshold_the_exact_analysis_misses_nothing_either() -> None:
    """What needs more than one line is worse there; nothing else is."""
    for case, label, finding, _ in judged("paper"):
        assert bad(finding.verdict) >= bad(label.verdict), f"{case} {label}"
    for (_, ours, mine, _), (_, theirs, other, _) in zip(judged(), judged("paper"), strict=True):
        assert SEVERITY.index(theirs.verdict) >= SEVERITY.index(ours.verdict)
        assert (other.transactions, other.fewest) == (mine.transactions, mine.fewest)
        assert mine.verdict == other.verdict or (mine.access.array.space, mine.fewest > 1) == ("global", True)


def test_the_lattice_misses_what_depends_on_the_second_dimension_only() -> None:
    """Its theorem (section 4.3) where threadIdx.x numbers the threads: nothing range-based is missed."""
    missed = {case.block for case, label, _, reported in judged() if label.verdict == "uncoalesced" and not reported}
    assert missed
    assert all(y > 1 for _, y, _ in missed)


FREE = [case for case in CASES if "//@ requires" not in case.path.read_text() and case.kernel != "product32"]
SIZES = st.integers(-7, 70).filter(bool)  # a period of 0 has no remainders


@examples(20, 2000)
@given(st.sampled_from(FREE), st.data())
def test_nor_do_runs_of_other_sizes_need_more(case: Case, data: st.DataObject) -> None:
    kernel = kernel_of(case)
    args = {p.name: str(data.draw(SIZES, label=p.name)) for p in kernel.params}
    arrays = {
        a.name: data.draw(st.sampled_from(["zeros", "iota", "random:7", "cycle:0:3:50"]), label=a.name)
        for a in kernel.arrays
        if a.space == "global"
    }
    grid = data.draw(st.sampled_from([(1, 1, 1), (2, 1, 1), (1, 2, 1), (3, 2, 1)]), label="grid")
    try:
        found = observe(
            kernel, case.block, grid, read_args(kernel, args), read_arrays(kernel, arrays), step_limit=20_000
        )
    except StepLimit:
        return
    for finding in findings(case, True):
        seen = found.get(finding.access.key)
        if seen is not None:
            assert seen.most <= finding.transactions
            assert bad(finding.verdict) >= bad(seen.verdict)


# --- how many false alarms -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """Accesses that an analysis reports, by whether they deserve it, and those that it misses."""

    right: int
    false: int
    missed: int

    @property
    def precision(self) -> Fraction:
        return Fraction(self.right, self.right + self.false)

    @property
    def recall(self) -> Fraction:
        return Fraction(self.right, self.right + self.missed)


def score(pairs: list[tuple[bool, bool]]) -> Score:
    """The score of (reported, deserved) pairs."""
    found = Counter(pairs)
    return Score(found[True, True], found[True, False], found[False, True])


@cache
def scores(file: str | None = None, threshold: Threshold = "fewest") -> dict[str, Score]:
    """The analyses on the accesses of a file, or of all, by what is reported and what deserves it.

    `its runs`: the published dynamic analysis, which reports an average of more than one line. `exact` counts `unknown`
    as a report, `sure` does not.
    """
    rows = [row for row in judged(threshold) if file in (None, row[0].file)]
    memory = [(label, finding.verdict, lattice) for _, label, finding, lattice in rows if label.space == "global"]
    banks = [(label, finding.verdict) for _, label, finding, _ in rows if label.space == "shared"]
    found: dict[str, Score] = {}
    for name, good in (("uncoalesced", ("coalesced", "misaligned")), ("or misaligned", ("coalesced",))):
        found |= {
            f"{name}: gpudrano": score([(reported, label.verdict not in good) for label, _, reported in memory]),
            f"{name}: its runs": score([(Fraction(o.average) > 1, o.verdict not in good) for o, _, _ in memory]),
            f"{name}: exact": score([(verdict not in good, label.verdict not in good) for label, verdict, _ in memory]),
        }
    sure = [(verdict == "uncoalesced", label.verdict == "uncoalesced") for label, verdict, _ in memory]
    free = [(verdict != "conflict-free", label.verdict != "conflict-free") for label, verdict in banks]
    return found | {"uncoalesced: exact, sure": score(sure), "conflicting: exact": score(free)}


def table(threshold: Threshold = "fewest") -> str:
    """Precision and recall, and the counts of every file for what is uncoalesced."""
    lines = [f"{'':26} {'right':>5} {'false':>5} {'missed':>6} {'precision':>9} {'recall':>6}"]
    lines += [
        f"{name:26} {s.right:5} {s.false:5} {s.missed:6} {float(s.precision):9.3f} {float(s.recall):6.3f}"
        for name, s in scores(threshold=threshold).items()
    ]
    lines += ["", f"{'right/false/missed':26} {'gpudrano':>10} {'exact':>10}"]
    for file in dict.fromkeys(case.file for case in CASES):
        of_file = scores(file, threshold)
        each = (of_file[f"uncoalesced: {name}"] for name in ("gpudrano", "exact"))
        lines.append(f"{file:26} " + " ".join(f"{f'{s.right}/{s.false}/{s.missed}':>10}" for s in each))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [
        ("uncoalesced: gpudrano", Fraction(62, 124), Fraction(62, 80)),
        ("uncoalesced: its runs", Fraction(80, 137), Fraction(1)),
        ("uncoalesced: exact", Fraction(80, 81), Fraction(1)),
        ("uncoalesced: exact, sure", Fraction(79, 80), Fraction(79, 80)),
        ("or misaligned: gpudrano", Fraction(74, 124), Fraction(74, 131)),
        ("or misaligned: its runs", Fraction(131, 137), Fraction(1)),
        ("or misaligned: exact", Fraction(131, 134), Fraction(1)),
        ("conflicting: exact", Fraction(1), Fraction(1)),
    ],
)
def test_precision_and_recall(name: str, precision: Fraction, recall: Fraction) -> None:
    """No worse than measured."""
    found = scores()[name]
    assert found.precision >= precision, table()
    assert found.recall >= recall, table()


@pytest.mark.parametrize(
    ("name", "right", "false", "missed"),
    [
        ("uncoalesced: gpudrano", 70, 54, 18),
        ("uncoalesced: its runs", 88, 49, 0),
        ("uncoalesced: exact", 88, 1, 0),
        ("or misaligned: gpudrano", 80, 44, 57),
        ("or misaligned: its runs", 137, 0, 0),
        ("or misaligned: exact", 137, 3, 0),
    ],
)
def test_by_the_papers_threshold(name: str, right: int, false: int, missed: int) -> None:
    """As documented; the published dynamic analysis finds what is uncoalesced or misaligned there, and nothing else."""
    assert scores(threshold="paper")[name] == Score(right, false, missed), table("paper")


if __name__ == "__main__":
    for by in ("fewest", "paper"):
        print(f"--threshold {by}\n{table(by)}\n")
