"""Arithmetic proofs as Coq: Coq accepts those of certificates, and none that was tampered with."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest

from checker.certificates.document import digest
from checker.cli import main
from checker.report.coq import as_coq, comment, written
from tests.proofs.coq.differential import COQ

PROOFS: Final = COQ.parent
Document = dict[str, Any]


def certificate(name: str) -> Document:
    found: Document = json.loads((PROOFS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def sums(part: Any) -> list[list[Any]]:
    """The rows of all sums in a proof, [coefficient, factors] each."""
    if isinstance(part, dict):
        return [*part.get("sum", ()), *(row for value in part.values() for row in sums(value))]
    return [row for value in part for row in sums(value)] if isinstance(part, list) else []


def tampered(document: Document, number: int) -> Document:
    """The certificate with one more of the number-th product in its proofs."""
    changed = deepcopy(document)
    row = [row for entry in changed["evidence"] for row in sums(entry["proof"]) if row[1]][number]
    row[0] = "7/3"
    return changed | {"digest": digest(changed)}


@pytest.fixture(scope="module")
def coq(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the definitions and statements that the files need; `make coq` looks at their proofs."""
    if shutil.which("coqc") is None:
        pytest.skip("not here: coqc (on Debian: apt install coq)")
    folder = tmp_path_factory.mktemp("coq")
    for name in ("Syntax", "Metrics", "Lockstep", "Logic", "Lemmas", "Normal", "Contracts", "Arithmetic"):
        shutil.copy(COQ / f"{name}.v", folder)
        good, told = compiled(folder, name, "-vos")
        assert good, told
    return folder


def compiled(folder: Path, name: str, mode: str) -> tuple[bool, str]:
    """Whether Coq accepts a file, and what it says."""
    command = [shutil.which("coqc") or "coqc", "-q", mode, "-R", ".", "Warpbound", f"{name}.v"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def accepted(folder: Path, text: str) -> tuple[bool, str]:
    """The same of a text, with its proofs."""
    (folder / "Case.v").write_text(text, encoding="utf-8")
    return compiled(folder, "Case", "-vok")


def test_report_writes_a_file_that_says_what_it_covers(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(PROOFS / "addSub3" / "sectors.json")
    assert main(["report", path, "--coq"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "vm_compute" in printed.out
    assert "Print Assumptions all_hold." in printed.out
    assert "Covered: 18 arithmetic proofs, in 15 of 30 entries." in printed.out
    assert "Not covered: 3 decided by lanes, without arithmetic." in printed.out
    assert main(["report", path, "--coq", "--at", "h=3,w=3"]) == 2


def test_every_entry_is_covered_or_counted() -> None:
    for name in ("addSub0/steps", "listRanking/steps", "data/spmv_scalar-steps", "features/mask"):
        document = certificate(name)
        found = written(document)
        known = {one.entry for one, _ in found.proofs}
        beyond = sum(n for reason, n in found.left.items() if reason.startswith("arithmetic"))
        without = found.left.total() - beyond
        assert 0 <= len(document["evidence"]) - without - len(known) <= beyond, name
    assert not any(reason.startswith("arithmetic") for reason in written(certificate("data/spmv_scalar-steps")).left)


def test_what_a_proof_may_not_use_is_no_premise() -> None:
    """A fact that a proof names and P does not have is not among the facts given."""
    document = certificate("addSub3/sectors")
    rows = [row for entry in document["evidence"] for row in sums(entry["proof"])]
    (factor,) = next(row[1] for row in rows if [f[0] for f in row[1]] == ["fact"])
    factor[1] = ["op", "<", ["var", "j"], ["const", ["int", "int", 4], -5]]
    texts = [text for _, text in written(document).proofs]
    (invented,) = (text for text in texts if "VInt (-5)" in text)
    assert "VInt (-5)" not in invented.split("\n")[0]


def test_names_cannot_leave_a_comment() -> None:
    assert comment('a *) Axiom (* "b') == "a * ) Axiom ( * 'b"


def test_coq_accepts_proofs_of_certificates_and_names_those_that_it_does_not(coq: Path) -> None:
    document = certificate("addSub3/sectors")
    good, told = accepted(coq, as_coq([document]))
    assert good, told
    good, told = accepted(coq, as_coq([tampered(document, 0)]))
    assert not good
    assert 'Unable to unify "[]" with "[5%nat]"' in told


def verdicts(coq: Path, documents: list[Document]) -> list[bool]:
    """Whether Coq accepts all proofs of each certificate, by one run."""
    text = re.sub(r"Lemma accepted .*\nProof.*", "Eval vm_compute in failing proofs.", as_coq(documents))
    text = re.sub(r"Theorem all_hold (.*\n)*?Proof.*|^(Definition everything|Print).*", "", text, flags=re.MULTILINE)
    good, told = accepted(coq, text)
    assert good, told
    return [answer == "[]" for answer in re.findall(r"= (.*?)\n\s+: list nat", told, re.DOTALL)]


def test_coq_accepts_what_contracts_say_and_no_more(coq: Path) -> None:
    """Instances and sums of contracts: a factor changed, and an index that may be beyond the range."""
    document = certificate("data/spmv_scalar-steps")
    rows = [row for entry in document["evidence"] for row in sums(entry["proof"]) if row[1]]
    kinds = ("instance", "telescope")
    first = [next(i for i, row in enumerate(rows) if row[1][0][0] == kind) for kind in kinds]
    far = deepcopy(document)
    row = [row for entry in far["evidence"] for row in sums(entry["proof"]) if row[1]][first[0]]
    row[1][0][3][0].append(["1000", []])
    changed = [*(tampered(document, i) for i in first), far | {"digest": digest(far)}]
    assert verdicts(coq, [document, *changed]) == [True, False, False, False]


def test_coq_accepts_no_proof_with_another_coefficient(coq: Path) -> None:
    """Splits, logarithms, quotients, operators on bits, and what is put for variables; every product changed."""
    asked, expected = [], []
    for name in ("features/log2", "features/mask", "features/quotients-in-a-row", "features/choice"):
        document = certificate(name)
        asked.append(document)
        expected.append(True)
        count = len([row for entry in document["evidence"] for row in sums(entry["proof"]) if row[1]])
        asked += [tampered(document, i) for i in range(count)]
        expected += [False] * count
    assert verdicts(coq, asked) == expected
