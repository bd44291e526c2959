"""`certified` means one thing, and has one exit code, wherever it is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checker.certificates import seconded
from checker.certificates.document import canonical, digest
from checker.cli import main
from checker.recheck import Report
from checker.synthesis.bound import find_bounds
from tests.checker.conftest import USERS

Capture = pytest.CaptureFixture[str]

ONLY_Z3 = """__global__ void k(int *A, int n) {
    int t = threadIdx.x + n;
    int q = 6 * threadIdx.x + ((t & 3) == 2 || (t & 1) == 1 || (t & 3) == 0 ? 6 : 1);
    if (q % 6 == 0) A[t] = 1; else A[0] = 2;
}
"""
PLAIN = "__global__ void k(int *A) { A[threadIdx.x] = 1; }\n"
HOLEY = "__global__ void k(int *A, int n) { if (A[0] > n) __syncthreads(); A[threadIdx.x] = 1; }\n"
WHOLE = "//@ metric divwarps;\n//@ launch block = 32;\n"


def told(capsys: Capture, *words: str) -> tuple[int, Any]:
    code = main([*words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture(autouse=True)
def no_other_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """What rests on a solver's word is kept, as where no coarser bound is certified instead: for ONLY_Z3 one is."""

    def found(*words: Any, **more: Any) -> Any:
        return find_bounds(*words, **more | {"backed": True})

    for name in USERS:
        monkeypatch.setattr(f"checker.{name}.find_bounds", found)


@pytest.fixture
def files(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str]:
    """A source, and where its certificate goes."""
    source = tmp_path / "k.cu"
    source.write_text(request.param)
    return str(source), str(tmp_path / "k.json")


@pytest.mark.parametrize(
    ("files", "verdict", "code"), [(ONLY_Z3, "solver-backed", 1), (PLAIN, "certified", 0)], indirect=["files"]
)
def test_one_verdict_everywhere(files: tuple[str, str], verdict: str, code: int, capsys: Capture) -> None:
    source, certificate = files
    options = [source, "--block", "32", "--metric", "divwarps"]
    exit_code, document = told(capsys, "bound", *options, "--certificate", certificate)
    (row,) = document["results"]
    assert (exit_code, row["verdict"], row["bound"]) == (code, verdict, "0")
    assert [name.split()[0] for name in row.get("engines", [])] == ["z3"] * code
    assert len(row.get("solver_backed", [])) == code
    exit_code, document = told(capsys, "check", certificate)
    assert (exit_code, document["verdict"], len(document["solver_backed"])) == (code, "accepted", code)
    exit_code, document = told(capsys, "recheck", certificate)
    assert (exit_code, document["verdict"]) == (code, "solver-backed" if code else "valid")
    exit_code, document = told(capsys, "report", certificate)
    assert (exit_code, document["verdict"]) == (code, verdict)
    exit_code, document = told(capsys, "wcet", source, "--block", "32")
    assert (exit_code, document["evidence"], document["work_span_evidence"]) == (code, verdict, verdict)
    exit_code, document = told(capsys, "predict", source, "--block", "32", "--grid", "1", "--device", "gtx280")
    assert exit_code == code
    written = Path(source).read_text()
    Path(source).write_text(WHOLE + written)
    exit_code, document = told(capsys, "check", source)
    assert (exit_code, document["verdict"]) == (code, "accepted")
    assert document["second_checker"] == ("solver-backed" if code else "valid")


@pytest.mark.parametrize("files", [ONLY_Z3], indirect=True)
def test_the_engine_is_named_and_nothing_is_called_certified(files: tuple[str, str], capsys: Capture) -> None:
    source, certificate = files
    for words in (
        ["bound", source, "--block=32", "--metric=divwarps", f"--certificate={certificate}"],
        ["check", certificate],
        ["wcet", source, "--block=32"],
        ["predict", source, "--block=32", "--grid=1", "--device=gtx280"],
    ):
        for form in ("text", "markdown", "html", "sarif"):
            assert main([*words, "--format", form]) == 1
            printed = capsys.readouterr().out
            assert "z3 " in printed
            assert "certified" not in printed.replace("not certified", "").replace("not-certified", "").replace(
                ".certified", ""
            ).replace("N_comp and N_memory are certified", "")


@pytest.mark.parametrize("name", ["lanes", "closed-form, lanes", "certified"])
@pytest.mark.parametrize("files", [ONLY_Z3], indirect=True)
def test_an_engine_is_not_what_a_certificate_calls_it(files: tuple[str, str], name: str, capsys: Capture) -> None:
    """Whoever makes a certificate writes the name of the engine: what the kernel asked itself is named, or nothing."""
    source, certificate = files
    assert main(["bound", source, "--block=32", "--metric=divwarps", f"--certificate={certificate}"]) == 1
    document = json.loads(Path(certificate).read_text())
    for entry in document["evidence"]:
        entry["engine"] = name
    Path(certificate).write_text(canonical(document | {"digest": digest(document)}))
    capsys.readouterr()
    assert main(["recheck", certificate]) == 1
    out = capsys.readouterr().out
    assert out.startswith(
        f"solver-backed  {certificate}\n"
        "  not verified: every warp of k costs at most 0 divwarps; blocks of 32, any grid\n"
    )
    assert (name in out, "z3" in out) == (False, False)
    assert " |- q % 6 == 0 (unverified)\n" in out
    assert main(["check", certificate]) == 1
    out = capsys.readouterr().out
    assert out.startswith("accepted, but solver-backed: ")
    assert re.search(r"side conditions proved \((?!.*\bvalid\b).*z3 ", out)
    assert out.count(name) <= 1  # among those that the kernel asked
    assert main(["report", certificate]) == 1
    assert "second checker: solver-backed" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("files", [ONLY_Z3], indirect=True)
def test_who_accepts_a_solvers_word_gets_exit_code_0(files: tuple[str, str], capsys: Capture) -> None:
    source, certificate = files
    options = [source, "--block=32", "--metric=divwarps", "--accept=solver-backed"]
    for per in ("warp", "block", "grid"):
        code, document = told(capsys, "bound", *options, "--per", per)
        assert (code, document["results"][0]["verdict"]) == (0, "solver-backed")
    assert main(["bound", *options, "--format", "sarif", "--certificate", certificate]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []
    assert main(["check", certificate, "--accept", "solver-backed"]) == 0
    assert capsys.readouterr().out.startswith("accepted, but solver-backed: ")


@pytest.mark.parametrize("files", [HOLEY], indirect=True)
def test_what_is_holey_is_not_accepted_by_that(files: tuple[str, str], capsys: Capture) -> None:
    code, document = told(capsys, "bound", files[0], "--block=32", "--metric=sectors", "--accept=solver-backed")
    assert (code, document["results"][0]["verdict"]) == (1, "holey")


@pytest.mark.parametrize("files", [PLAIN], indirect=True)
def test_what_the_second_checker_refuses_is_never_certified(
    files: tuple[str, str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, certificate = files
    monkeypatch.setattr(seconded, "recheck", lambda _: Report("invalid", "", [], "derivation[0]: no", ""))
    words = ["bound", source, "--block=32", "--metric=divwarps", "--accept=solver-backed", "--certificate", certificate]
    code, document = told(capsys, *words)
    (row,) = document["results"]
    assert (code, row["verdict"], row["bound"], row["certificate"]) == (1, "not-proved", None, None)
    assert "the second checker refuses it: derivation[0]: no" in row["problem"]
    assert "please report it" in row["problem"]
    assert json.loads(Path(certificate).read_text())["derivation"]
    Path(source).write_text(WHOLE + PLAIN)
    code, document = told(capsys, "check", source)
    assert (code, document["verdict"]) == (1, "not-proved")
    assert "the second checker refuses it" in document["error"]["reason"]


@pytest.mark.parametrize(
    ("verdicts", "accepted", "code"),
    [
        ([], (), 0),
        (["certified", "certified"], (), 0),
        (["certified", "solver-backed"], (), 1),
        (["certified", "solver-backed"], ("solver-backed",), 0),
        (["holey", "solver-backed"], ("solver-backed",), 1),
        (["solver-backed", "refuted", "not-proved"], (), 3),
        (["refuted", "unsupported", "certified"], (), 2),
    ],
)
def test_of_several_results_the_worst_counts(verdicts: list[str], accepted: tuple[str, ...], code: int) -> None:
    from checker.kernel import Ledger
    from checker.report.bounds import exit_code
    from checker.synthesis.bound import Result
    from logic.metrics import METRICS

    results = [Result(METRICS["steps"], v, None, None, Ledger(), None, 0.0) for v in verdicts]  # type: ignore[arg-type]
    assert exit_code(results, accepted) == code
