"""`bound --rules`, `suite --rules` and outlines by rules on trial: what they say, and that nothing is certified."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from checker.cli import main
from checker.report.schemas import SCHEMAS

Capture = pytest.CaptureFixture[str]

KERNEL = """__global__ void k(int *A, int *B, int m) {
    if (threadIdx.x < m) {
        A[threadIdx.x] = 1;
        B[threadIdx.x] = 1;
    } else {
        A[threadIdx.x] = 2;
        B[threadIdx.x] = 2;
    }
}
"""
WRONG = """
P; X |- e : C   X'' <= (X & X1 & X2) \\ W(s1)   X' <= X'' \\ W(s2)
{P & e; Q; X} s1 {P1; Q'; X1}   {P & !e; Q; X} s2 {P2; Q'; X2}   P1 |- P'   P2 |- P'
--------------------------------------------------------- Q:Dearer
{P; Q + M.if + C + M.div; X} if (e) s1 else s2 {P'; Q'; X'}
certified
"""
AGREED = """
P; X |- e : C
{P & e; Q; X} s1 {P'; Q'; X'}   {P & !e; Q; X} s2 {P'; Q'; X'}
---- Q:Dearer
{P; Q + M.if + C + M.div; X} if (e) s1 else s2 {P'; Q'; X'}
"""
PYTHON = f"""from logic.schema import Rule
print("certified by both checkers")
RULES = (Rule("Q:Dearer", {AGREED.replace(" Q:Dearer", "")!r}, "certified", "certified", "certified"),)
"""
OUTLINE = """kernel k metric steps block 256 param int m; global int A[], B[]; begin
{true; %s; {}}
if %s (tid.x < m) { A[tid.x] <- 1; B[tid.x] <- 1; } else { A[tid.x] <- 2; B[tid.x] <- 2; }
{true; 0; {}}
end
"""
FORMATS = ("text", "json", "html", "markdown", "sarif")
ON = ("--block", "256", "--metric", "sectors")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a kernel and rules for it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL)
    (tmp_path / "mine.rules").write_text(WRONG)
    (tmp_path / "mine.py").write_text(PYTHON)
    return tmp_path


@pytest.mark.parametrize(("form", "rules"), [*((form, "mine.rules") for form in FORMATS), ("text", "mine.py")])
def test_it_is_never_called_certified(form: str, rules: str, capsys: Capture) -> None:
    assert main(["bound", "k.cu", "--rules", rules, "--trust", *ON, "--format", form]) == 1
    told = capsys.readouterr().out.rpartition("</style>")[2]
    assert "on-trial" in told or "on trial" in told
    assert "certified" not in told
    if form == "json":
        document = json.loads(told)
        Draft202012Validator(SCHEMAS["bound"]).validate({"results": document["results"]})
        (row,) = document["results"]
        assert (row["verdict"], row["certifies"], row["bound"], row["sound"]) == ("on-trial", False, "8", "10")
        assert row["used"] == [{"rule": "Q:Dearer", "line": 2, "column": 5, "times": 1}]
    elif form == "sarif":
        assert [r["ruleId"] for r in json.loads(told)["runs"][0]["results"]] == ["on-trial"]
    else:
        assert "This certifies nothing" in " ".join(told.replace("&#39;", "'").split())


def test_a_run_refutes_it(capsys: Capture) -> None:
    assert main(["bound", "k.cu", "--rules", "mine.rules", *ON, "--at", "m=5", "--tight", "--format", "json"]) == 3
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert row["verdict"] == "refuted"
    assert row["witness"]["cost"] > row["witness"]["bound"] == 8
    assert row["run"].startswith("warpbound run k.cu --metric=sectors ")
    assert main(row["run"].split()[1:]) == 0


def test_it_is_told_where_rules_are_used_and_what_they_buy(capsys: Capture) -> None:
    assert main(["bound", "k.cu", "--rules", "mine.rules", "--block", "256", "--metric", "divwarps", *ON[2:]]) == 1
    told = capsys.readouterr().out
    assert "  sectors\n    on trial  8\n    sound     10\n    used      Q:Dearer in line 2\n" in told
    assert "the rules on trial give no lower bound here" in told
    (given,) = (line for line in told.splitlines() if line.startswith("k, by rules"))
    assert given == "k, by rules on trial: mine.rules"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--rules paper", "--rules paper: the search goes by the sound rules and those of a file"),
        ("--rules none.rules", "cannot read 'none.rules'"),
        ("--rules mine.rules --certificate c.json", "--certificate: rules on trial certify nothing"),
        ("--rules mine.rules --explain", "--explain: rules on trial certify nothing"),
        ("--rules mine.rules --accept solver-backed", "--accept: rules on trial certify nothing"),
        ("--rules mine.rules --per grid", "rules on trial are for bounds on warps"),
        ("--rules mine.rules --jobs 2", "--rules is for one source alone"),
        ("--rules seq.rules", "the search cannot use Q:Mine: it is about statements of any kind"),
    ],
)
def test_what_does_not_go_together_is_said(words: str, sentence: str, folder: Path, capsys: Capture) -> None:
    triple = "{P; Q; X} s {P'; Q'; X'}"
    (folder / "seq.rules").write_text(f"{triple}\n---- Q:Mine\n{triple}\n")
    assert main(["bound", "k.cu", *words.split()]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not (folder / "c.json").exists()


def test_outlines_use_and_name_rules(folder: Path, capsys: Capture) -> None:
    (folder / "named.qhl").write_text(OUTLINE % (19, "[Q:Dearer]"))
    (folder / "plain.qhl").write_text(OUTLINE % (19, ""))
    for name in ("named.qhl", "plain.qhl"):
        assert main(["check", name, "--rules", "mine.rules", "--accept", "on-trial"]) == 3  # a run costs more
        told = capsys.readouterr()
        assert "accepted under the rule set 'mine.rules', which certifies nothing" in told.out
    assert main(["check", "plain.qhl"]) == 1
    assert main(["check", "named.qhl"]) == 2
    assert "no rule for 'if' is called 'Q:Dearer'" in capsys.readouterr().err
    (folder / "open.rules").write_text(WRONG + "\n--- Q:Open\n{P; Q; X} x <- e {P'; Q; X}\n")
    assert main(["check", "named.qhl", "--rules", "open.rules"]) == 3
    warned = capsys.readouterr().err
    assert warned.startswith("open.rules: warning: the search cannot use Q:Open: P' has no value")
    (folder / "low.qhl").write_text(OUTLINE % (3, "[Q:Dearer]"))
    assert main(["check", "low.qhl", "--rules", "mine.rules"]) == 1
    assert capsys.readouterr().out.startswith("rejected: ")


def test_outlines_go_by_the_sound_rules_where_a_rule_on_trial_does_not_help(folder: Path, capsys: Capture) -> None:
    (folder / "dear.rules").write_text(WRONG.replace("M.div; X}", f"{' + '.join(['M.div'] * 30)}; X}}"))
    (folder / "plain.qhl").write_text(OUTLINE % (40, ""))
    (folder / "sound.qhl").write_text(OUTLINE % (40, "[Q:If4]"))
    for name in ("plain.qhl", "sound.qhl"):
        assert main(["check", name, "--rules", "dear.rules"]) == 1
        assert main(["check", name, "--rules", "dear.rules", "--accept", "on-trial"]) == 0
    capsys.readouterr()


def test_the_suite_marks_what_runs_refute(folder: Path, capsys: Capture) -> None:
    words = ["suite", "--rules", "mine.rules", "--kernel", "addSub0", "--metric", "sectors", "--jobs", "1"]
    assert main([*words, "--format", "json"]) == 3
    document = json.loads(capsys.readouterr().out)
    (row,) = document["rows"]
    assert document["certifies"] is False
    assert (row["verdict"], row["bound"], row["sound"]) == ("refuted", "33*max(0, w)", "66*max(0, w)")
    assert row["witness"]["cost"] > row["witness"]["bound"]
    assert row["run"].startswith("warpbound run proofs/addSub0/kernel.cu --metric=sectors ")
    assert document["summary"] == {"rows": 1, "bounds": 1, "lower": 1, "refuted": 1, "used": 1}
    Draft202012Validator(SCHEMAS["suite"]).validate({k: v for k, v in document.items() if k != "version"})


@pytest.mark.parametrize("form", ["text", "sarif"])
def test_the_suite_certifies_nothing_by_rules_on_trial(form: str, folder: Path, capsys: Capture) -> None:
    unused = WRONG.replace("P; X |- e : C ", "P; X |- e : C   P |- e   P |- !e ")
    (folder / "unused.rules").write_text(unused)
    words = ["suite", "--rules", "unused.rules", "--kernel", "vectorAdd", "--metric", "sectors", "--jobs", "1"]
    assert main([*words, "--format", form]) == 1
    told = capsys.readouterr().out
    if form == "text":
        counts = "Of 1 row the rules on trial are used in 0 and give a lower bound in 0; no run was found that refutes"
        assert " ".join(told.split("\n\n")[1].split()) == f"{counts} one."
    assert "certified" not in told
    assert "certifies nothing" in told
