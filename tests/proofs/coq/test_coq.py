"""proofs/coq: its semantics is the one in Python, it has no axiom, and its page names what is there."""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from logic.rules import SOUND
from tests.examples import LONG
from tests.proofs.coq import counted
from tests.proofs.coq.differential import COQ, build, cases, compare, missing

PAGE: Final = COQ.parents[1] / "docs" / "coq.md"
PROGRAMS: Final = 10_000 if LONG else 400
SOURCES: Final = {path.stem: path.read_text(encoding="utf-8") for path in sorted(COQ.glob("*.v"))}
CODE: Final = {name: re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL) for name, text in SOURCES.items()}


needs_coq: Final = pytest.mark.skipif(
    missing() != (), reason=f"not here: {', '.join(missing())} (on Debian: apt install coq ocaml)"
)


@needs_coq
def test_both_semantics_agree_on_random_programs(tmp_path: Path) -> None:
    program = build(tmp_path)
    endless = cases(seed=1)
    for _ in range(PROGRAMS // 400):
        assert compare(program, [next(endless) for _ in range(400)]) == []


@needs_coq
def test_the_counts_of_the_oracles_are_those_that_coq_proves_to_be_bounds(tmp_path: Path) -> None:
    def told(name: str, mode: str) -> str:
        command = ["coqc", "-q", mode, "-R", ".", "Warpbound", f"{name}.v"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stderr

    def refused(found: list[tuple[str, int]]) -> str:
        (tmp_path / "Counted.v").write_text(counted.checked(found), encoding="utf-8")
        return told("Counted", "-vok")

    for name in ("Syntax", "Metrics", "Lockstep", "Logic", "Counts", "Rows"):
        (tmp_path / f"{name}.v").write_text(SOURCES[name], encoding="utf-8")
        assert told(name, "-vos") == ""  # without the proofs, at which `make coq` looks

    found = list(counted.cases(1, 2_000 if LONG else 200))
    assert refused(found) == ""
    assert "Unable to unify" in refused([(term, number + 1) for term, number in found[:1]])


def test_nothing_is_taken_for_granted() -> None:
    """`make coq` asks Coq itself, by Print Assumptions; this sees it where Coq is not."""
    unproved = re.compile(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|give_up|Unset Guard)\b")
    assert [(name, unproved.findall(code)) for name, code in CODE.items() if unproved.search(code)] == []
    outside = [
        name
        for name, code in CODE.items()
        if re.search(r"^(Variable|Hypothesis)", re.sub(SECTION, "", code), re.MULTILINE)
    ]
    assert outside == []


SECTION: Final = re.compile(r"^Section (\w+)\..*?^End \1\.", re.DOTALL | re.MULTILINE)


def test_the_build_knows_every_file() -> None:
    (files,) = re.findall(r"^FILES := (.*)$", (COQ / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted([*files.split(), "Closed", "Extract"]) == sorted(SOURCES)


def test_every_theorem_is_held_against_axioms() -> None:
    theorems = {name for code in CODE.values() for name in re.findall(r"^Theorem (\w+)", code, re.MULTILINE)}
    asked = set(re.findall(r"^Print Assumptions (\w+)\.", CODE["Closed"], re.MULTILINE))
    assert theorems <= asked


def test_the_page_has_a_row_for_every_rule_and_names_what_exists() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| (\w+:\w+) \|", page, re.MULTILINE))
    assert rows == set(SOUND.rules)
    everything = "\n".join(CODE.values())
    named = set(re.findall(r"`(\w+)`(?: in `\w+`)? \|$", page, re.MULTILINE))
    assert named
    assert [
        n for n in named if not re.search(rf"\b(Theorem|Lemma|Definition|Fixpoint|Inductive) {n}\b", everything)
    ] == []
