"""proofs/coq: its semantics is the one in Python, it has no axiom, and its page names what is there."""

import ast
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from checker.oracles import counts, forms
from checker.recheck import OPERATED, laws, single
from checker.report.coq import BINARY, LAWS
from logic.rules import SOUND
from tests.examples import LONG
from tests.proofs.coq import counted, differential, formed
from tests.proofs.coq.differential import COQ, build, cases, compare, missing

PAGE: Final = COQ.parents[1] / "docs" / "coq.md"
PROGRAMS: Final = 10_000 if LONG else 200
SOURCES: Final = {path.stem: path.read_text(encoding="utf-8") for path in sorted(COQ.glob("*.v"))}
CODE: Final = {name: re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL) for name, text in SOURCES.items()}


needs_coq: Final = pytest.mark.skipif(
    missing() != (), reason=f"not here: {', '.join(missing())} (on Debian: apt install coq ocaml)"
)


@pytest.mark.whole
@needs_coq
def test_both_semantics_agree_on_random_programs(tmp_path: Path) -> None:
    program = build(tmp_path)
    endless = cases(seed=1)
    for _ in range(PROGRAMS // 200):
        assert compare(program, [next(endless) for _ in range(200)]) == []


def test_programs_on_hardware_with_phases_are_refused() -> None:
    case, _ = next(cases(seed=1))
    machine = replace(case.machine, hardware=replace(case.machine.hardware, phase=128))
    with pytest.raises(ValueError, match="proofs/coq has no phases"):
        differential.line(replace(case, machine=machine))


@pytest.mark.whole
@needs_coq
def test_counts_and_forms_of_the_oracles_are_those_that_coq_proves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(name: str, mode: str) -> str:
        command = ["coqc", "-q", mode, "-R", ".", "Warpbound", f"{name}.v"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stderr

    def refused(name: str, text: str) -> str:
        (tmp_path / f"{name}.v").write_text(text, encoding="utf-8")
        return told(name, "-vok")

    for name in ("Syntax", "Metrics", "Lockstep", "Logic", "Counts", "Rows", "Forms"):
        (tmp_path / f"{name}.v").write_text(SOURCES[name], encoding="utf-8")
        assert told(name, "-vos") == ""  # without the proofs, at which `make coq` looks

    found = list(counted.cases(1, 2_000 if LONG else 75))
    assert refused("Counted", counted.checked(found)) == ""
    assert "Unable to unify" in refused("Counted", counted.checked([(term, number + 1) for term, number in found[:1]]))

    good, bad = list(formed.cases(1, 2_000 if LONG else 12)), {}
    for name, method, wrong in formed.mutants():
        with monkeypatch.context() as patched:
            patched.setattr(forms.Atoms, method, wrong)
            bad[name] = list(formed.cases(1, 12))
    assert refused("Formed", formed.checked(good, bad.items())) == ""


def laws_of(text: str) -> set[tuple[str, str]]:
    """The operators and laws that the definition `says` of a Coq file has."""
    (body,) = re.findall(r"^Definition says .*?^  match o, n with$(.*?)^  end\.", text, re.MULTILINE | re.DOTALL)
    found: set[tuple[str, str]] = set()
    for head in re.findall(r"^  \| (.*) =>", body, re.MULTILINE):
        for ops, law in re.findall(r"(\([^)]*\)|\w+), (\w+)", head):
            found |= {(op, law) for op in re.findall(r"\w+", ops)}
    return found - {("_", "_")}


def test_coq_proves_every_law_of_operators_that_the_second_checker_knows() -> None:
    """Else a certificate may have a proof that is valid and that Coq cannot check."""
    p, q = (single("param", name) for name in "pq")
    ours = {(BINARY[op], LAWS[law]) for op in OPERATED for law in laws(op, p, q)}
    text = CODE["Arithmetic"]
    assert laws_of(text) == ours
    assert laws_of(text.replace("  | Div, Negative", "  | Div")) == ours - {("Div", "Negative")}


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
    """Each row of a table ends with theorems: `name` in `File`, or `name` of the file that the table's head names."""
    rows: dict[str, tuple[str, str]] = {}
    where = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.search(r"theorem(?: in `?(\w+)\.v`?)?,? ?(?:in `?(\w+)\.v`?)? \|$", line):
            where = heading[1] or heading[2] or ""
        elif row := re.fullmatch(r"\| (.*?) \| `(\w+)`(?: in `(\w+)`)? \|", line):
            rows[row[1]] = row[2], row[3] or where
    assert {name for name in rows if re.fullmatch(r"\w+:\w+", name)} == set(SOUND.rules)
    defined = {
        (name, found)
        for name, code in CODE.items()
        for found in re.findall(r"\b(?:Theorem|Lemma|Definition|Fixpoint|Inductive) (\w+)", code)
    }
    anywhere = {found for _, found in defined}
    assert [
        row for row, (name, file) in rows.items() if ((file, name) not in defined if file else name not in anywhere)
    ] == []


@pytest.mark.parametrize("module", [forms, counts])
def test_every_function_of_the_closed_forms_is_in_a_table_of_the_page(module: ModuleType) -> None:
    """With the theorem that it rests on, or with the reason why it needs none."""
    page = PAGE.read_text(encoding="utf-8")
    listed = {
        name for row in re.findall(r"^\| (.*) \| .* \|$", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert sorted(_functions(module) - listed) == []


def _functions(module: ModuleType) -> set[str]:
    """The functions and methods of a module, by name."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
