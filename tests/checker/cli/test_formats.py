"""Every subcommand in every format: the same exit code, what text says, and a result for what is wrong."""

from __future__ import annotations

import json
from argparse import Namespace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema  # type: ignore[import-untyped]
import pytest

from checker.certificates import seconded
from checker.certificates.document import canonical, digest
from checker.cli import grammar, main
from checker.cli.judged import judged_file
from checker.cli.options import FORMATS
from checker.recheck import Report
from checker.refutation import witness
from checker.refutation.witness import Fill, Overrun, find_witnesses
from checker.report.page import RULES
from checker.report.schemas import SCHEMAS, schema
from checker.suites import runner as suite
from checker.testbed import mutants, search
from checker.testbed.mutants import Result
from checker.testbed.trial import Trial
from logic.rules import RuleSet
from tests.checker.analysis.compiled import sources
from tests.checker.cli import one_process

pytestmark = pytest.mark.usefixtures("bounds_once", "analysed_once", "audits_once")

Capture = pytest.CaptureFixture[str]

PROOFS: Final = Path(__file__).resolve().parents[3] / "proofs"
SOURCE: Final = """__global__ void k(int *A, int n) { for (int i = 0; i < n; i++) A[i] = 1; }
__global__ void spin(int n) { int x = 0;
    while (n > 0) { x = x + 1; } }
__global__ void hole(int *A, int n) { int i = A[0]; if (i > n) { __syncthreads(); } A[n] = 1; }
__global__ void bar(int *A, int n)
{
    if (threadIdx.x < 16) { __syncthreads(); }
}
"""
FILES = {
    "k.cu": SOURCE,
    "wide.cu": "__global__ void k(int *A, int n) { for (int i = 0; i < n; i++) A[i + 9 * threadIdx.x] = 1; }\n",
    "dead.simt": "binop p = Tid < 4\nbz p, e\nbarrier 1, threads\ne: sync\n",
    "good.json": (PROOFS / "vectorAdd/sectors.json").read_text(),
    "bad.json": (PROOFS / "vectorAdd/sectors.json").read_text().replace('"12"', '"11"'),
    "weak.qhl": (PROOFS / "addSub3/sectors.qhl").read_text().replace("4 + 10", "3 + 10"),
    "rising.cu": (
        "//@ requires forall i in [0, n): A[i] <= A[i + 1];\n"
        "__global__ void k(const int *A, int *B, int n) { B[0] = A[n]; }\n"
    ),
    "good.qhl": (PROOFS / "addSub3/sectors.qhl").read_text(),
}
COUNTED = json.loads(FILES["good.json"])
next(row for row in COUNTED["derivation"] if row["rule"] == "EQ:GArray")["with"]["n"] -= 1
FILES["bad-count.json"] = canonical(COUNTED | {"digest": digest(COUNTED)})
BLOCK: Final = "--block 32"
SUM: Final = "--block 32 --arg n=2 --array B=iota"
FILES |= {"sum.cu": sources.SUM, "sum.ptx": sources.PTX, "twice.ptx": sources.TWICE}
DEVICE: Final = "--device gtx280 --block 64 --grid 4 --at n=9"


class Case(NamedTuple):
    """A command, its exit code, a cell or line that every page has, and the rule and place of each fault."""

    words: str
    code: int
    said: str
    faults: tuple[tuple[str, str, int | None], ...] = ()


CASES: Final = [
    Case(f"bound k.cu --kernel k {BLOCK} --metric sectors --at n=5", 0, "max(0, n)"),
    Case(f"bound k.cu --kernel k {BLOCK} --metric sectors --tight --explain", 0, "MemReads <= 1"),
    Case(
        "bound k.cu --kernel spin --metric steps --metric sectors",
        1,
        "no potential was found for this loop",
        (("not-proved", "k.cu", 3),),
    ),
    Case("bound k.cu --kernel hole --metric sectors", 1, "holey", (("holey", "k.cu", 4),)),
    Case("check good.qhl", 0, "AtLeast"),
    Case("check weak.qhl", 1, "claimed", (("rejected", "weak.qhl", 15),)),
    Case("check good.json", 0, "second checker: valid"),
    Case("check good.json good.qhl", 0, "2 derivations: 2 accepted"),
    Case("check good.json weak.qhl", 1, "1 rejected", (("rejected", "weak.qhl", 15),)),
    Case("check good.json k.json", 2, "1 unreadable", (("unreadable", "k.json", 1),)),
    Case("recheck good.json", 0, "valid"),
    Case("recheck bad.json", 3, "the digest is not that of the content", (("invalid", "bad.json", 1),)),
    Case("show good.json", 0, "second checker: valid"),
    Case("recheck good.json bad.json", 3, "1 invalid, 1 valid", (("invalid", "bad.json", 1),)),
    Case(f"run k.cu --kernel k {BLOCK} --arg n=3 --by-line", 0, "conflicts"),
    Case(f"run k.cu --kernel bar {BLOCK} --arg n=3", 3, "barrier divergence in block", (("divergence", "k.cu", 7),)),
    Case(
        f"run k.cu --kernel k {BLOCK} --arg n=3 --array A=ones:2", 1, "store of A[2]", (("out-of-bounds", "k.cu", 1),)
    ),
    Case("contracts rising.cu --array A=iota --arg n=3", 0, "kept"),
    Case("contracts rising.cu --array A=random:1 --arg n=9", 3, "broken", (("broken", "rising.cu", 2),)),
    Case("rules If4", 0, "Q:If4"),
    Case("trial sound --examples 5 --jobs 1", 0, "derivations"),
    Case("trial paper/If4 --examples 300 --jobs 1", 3, "claimed", (("unsound", "", None),)),
    Case("coalesce k.cu --kernel hole", 0, "coalesced"),
    Case("coalesce k.cu sum.cu", 0, "2 files"),
    Case(f"compiled sum.cu --ptx sum.ptx {SUM}", 0, "as written"),
    Case(f"compiled sum.cu --ptx twice.ptx {SUM}", 4, "repeated", (("exceeded", "sum.cu", 1),)),
    Case("machine dead.simt --threads 4", 0, "4 cycles, 4 instructions issued"),
    Case(
        "machine dead.simt --threads 8 --warp-size 4 --trace", 3, "barrier 1, threads", (("deadlock", "dead.simt", 3),)
    ),
    Case(f"wcet k.cu --kernel k {BLOCK} --at n=3", 0, "W/P + S"),
    Case(f"wcet k.cu --kernel spin {BLOCK}", 1, "no potential was found", (("not-proved", "k.cu", 3),)),
    Case(f"predict k.cu --kernel k {DEVICE}", 0, "N_C * D"),
    Case(f"predict k.cu --kernel spin {DEVICE}", 1, "not certified", (("not-certified", "k.cu", 2),)),
    Case("suite --kernel vectorAdd --metric sectors --jobs 1", 0, "accepted, valid"),
    Case("report good.json", 0, "certified"),
    Case("show good.json", 0, "second checker: valid"),
    Case("baseline k.cu --kernel k --metric sectors --jobs 1 --no-cache", 0, "max(0, n)"),
    Case(f"compare k.cu k.cu --kernel k {BLOCK} --metric sectors", 0, "certified"),
    Case(
        f"compare k.cu wide.cu --kernel k {BLOCK} --metric sectors",
        3,
        "a warp costs 64 before",
        (("dearer", "wide.cu", 1),),
    ),
    Case("diff old.json old.json", 0, "1 same"),
    Case("diff old.json new.json", 1, "grew", (("grew", "k.cu", 1),)),
    Case("cache info --cache .", 0, "certificates: 0"),
]


MORE: Final = [
    f"run k.cu --kernel k {BLOCK} --arg n=3 --semantics parallel",
    "check weak.qhl --tree",
    f"check k.cu --kernel k {BLOCK} --metric sectors",
    f"bound k.cu {BLOCK} --metric sectors --jobs 2 --no-cache",
    f"coalesce k.cu --kernel k {BLOCK} --arg n=3 --confirm",
    "report good.json --compare good.json --at numElements=5",
    f"report good.json bad-count.json --source {PROOFS / 'vectorAdd/kernel.cu'} --at numElements=64",
    f"machine k.cu --kernel k {BLOCK} --arg n=3",
    "rules",
    "cache clear --cache .",
]
"""Commands whose objects have other keys."""


def baseline(bound: str) -> str:
    """A baseline of k, which costs so much."""
    row = {"kernel": "k", "file": "k.cu", "line": 1, "metric": "sectors", "per": "warp", "bound": bound}
    claim = json.loads((PROOFS / "vectorAdd/sectors.json").read_text())
    del claim["digest"]
    claim |= {"derivation": [{"rule": "Q:Skip", "with": {"P": 0, "Q": 0, "X": []}, "from": [], "at": None}]}
    claim |= {"assertions": [[]], "potentials": [[[bound, []]]], "evidence": [], "admitted": []}
    rows = [row | {"verdict": "certified", "claim": claim}]
    return json.dumps({"format": "warpbound baseline", "version": 1, "rows": rows})


FILES |= {"old.json": baseline("12"), "new.json": baseline("13")}


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    one_process.here(monkeypatch)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Text(HTMLParser):
    """What a page says."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def shown(words: str, form: str, code: int, capsys: Capture) -> str:
    """What is written in a format, which -o takes to a file; nothing where there is no file."""
    assert main([*words.split(), "--format", form, "-o", "out.txt"]) == code
    assert capsys.readouterr().out == ""
    target = Path("out.txt")
    if not target.exists():
        return ""
    text = target.read_text()
    target.unlink()
    return text


def results(log: str) -> list[dict[str, Any]]:
    """The results of a SARIF log, each with a rule that the log describes."""
    (run,) = json.loads(log)["runs"]
    levels = {rule["id"]: rule["defaultConfiguration"]["level"] for rule in run["tool"]["driver"]["rules"]}
    for result in run["results"]:
        assert levels[result["ruleId"]] == result["level"]
        assert result["message"]["text"]
    found: list[dict[str, Any]] = run["results"]
    return found


def place(result: dict[str, Any]) -> tuple[str, str, int | None]:
    """The rule, the file and the line of a result."""
    if not result["locations"]:
        return result["ruleId"], "", None
    where = result["locations"][0]["physicalLocation"]
    return result["ruleId"], where["artifactLocation"]["uri"], where.get("region", {}).get("startLine")


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("words", [*MORE, "bound none.cu", "recheck k.cu"])
def test_other_objects_are_as_the_schema_says(words: str, capsys: Capture) -> None:
    main([*words.split(), "--format", "json"])
    judge(words, capsys.readouterr().out)


def judge(words: str, text: str) -> None:
    """Every key is one that the schema of the command has, and none is missing."""
    jsonschema.validate(json.loads(text), schema(words.split(maxsplit=1)[0]))


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one_and_refuses_what_it_does_not_know(name: str, capsys: Capture) -> None:
    assert main(["schema", name]) == 0
    known = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(known)
    checker = jsonschema.Draft202012Validator(known)
    error = {"error": {"message": "", "place": None, "advice": None}}
    assert checker.is_valid({"version": 1, **error})
    assert not checker.is_valid(error)
    assert not checker.is_valid({"version": 2, **error})
    others: list[object] = [{}, {"error": {}}, {"other": 1}, [{"name": 1}], None]
    for wrong in others:
        assert not checker.is_valid(wrong), wrong


def test_every_subcommand_has_every_format() -> None:
    known = grammar()[1]
    assert {case.words.split()[0] for case in CASES} == known.keys() - {"schema"} == SCHEMAS.keys()
    for name, command in ((name, command) for name, command in known.items() if name != "schema"):
        options = command._option_string_actions
        assert set(options["--format"].choices or ()) >= set(FORMATS) == {"text", "json", "html", "sarif", "markdown"}
        assert options["-o"].dest == "output", name


@pytest.fixture
def found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test prints in several formats is found once: files judged, trials."""
    judged, tried = judged_file, search.search
    known: dict[object, Any] = {}

    def once(args: Namespace, rules: RuleSet) -> object:
        if args.file not in known:
            known[args.file] = judged(args, rules)
        return known[args.file]

    def once_tried(trial: Trial, cases: range, *rest: Any, **more: Any) -> object:
        if cases not in known:
            known[cases] = tried(trial, cases, *rest, **more)
        return known[cases]

    monkeypatch.setattr("checker.cli.check.judged_file", once)
    monkeypatch.setattr(search, "search", once_tried)


@pytest.mark.usefixtures("found_once")
@pytest.mark.parametrize("case", CASES, ids=[case.words for case in CASES])
def test_every_format_says_it(case: Case, there: Path, capsys: Capture) -> None:
    markdown = shown(case.words, "markdown", case.code, capsys)
    assert markdown.startswith("# ")
    assert case.said in markdown.replace("\\", "")
    page = shown(case.words, "html", case.code, capsys)
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    assert case.said in "".join(Text(page).said)
    assert "<script" not in page
    found = results(shown(case.words, "sarif", case.code, capsys))
    wrong = [r for r in found if r.get("kind") != "pass"]  # the audit report also lists what passes
    assert {place(r) for r in wrong} == set(case.faults)
    assert bool(wrong) == (case.code != 0)
    judge(case.words, shown(case.words, "json", case.code, capsys))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("words", ["recheck good.json", "recheck good.json bad.json", "rules If4"])
def test_a_file_holds_what_would_be_printed(words: str, form: str, there: Path, capsys: Capture) -> None:
    code = main([*words.split(), "--format", form])
    printed = capsys.readouterr().out
    assert printed
    assert shown(words, form, code, capsys) == printed


def test_a_kernel_of_three_metrics_has_three_rows_and_a_result_for_each_that_is_open(
    there: Path, capsys: Capture
) -> None:
    words = "bound k.cu --kernel spin --metric steps --metric sectors --metric conflicts"
    table = [line for line in shown(words, "markdown", 1, capsys).splitlines() if line.startswith("|")]
    assert [line.split(" | ")[:1] for line in table[2:]] == [["| steps"], ["| sectors"], ["| conflicts"]]
    cells = [line.split(" | ")[1:3] for line in table[2:]]
    found = results(shown(words, "sarif", 1, capsys))
    open_ = [line for line, (_, verdict) in zip(table[2:], cells, strict=True) if verdict != "certified"]
    assert len(found) == len(open_) == 1
    assert found[0]["message"]["text"].startswith("spin steps: not-proved: k.cu:3:5: ")


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("check good.qhl", "obligations"),
        ("check good.json", "obligations"),
        (f"bound k.cu --kernel k {BLOCK}", "results"),
        (f"run k.cu --kernel k {BLOCK} --arg n=3", "totals"),
        ("coalesce k.cu --kernel hole", "accesses"),
        ("machine dead.simt --threads 4 --trace", "trace"),
        ("suite --kernel vectorAdd --jobs 1", "rows"),
    ],
)
def test_no_row_is_missing(words: str, key: str, there: Path, capsys: Capture) -> None:
    wanted = len(json.loads(shown(words, "json", 0, capsys))[key])
    markdown = shown(words, "markdown", 0, capsys).splitlines()
    heads = sum(line.startswith("| ---") for line in markdown)
    assert sum(line.startswith("|") for line in markdown) == wanted + 2 * heads
    assert shown(words, "html", 0, capsys).count("<tr role=") == wanted + heads


@pytest.mark.parametrize(
    "words", [f"bound k.cu --kernel k {BLOCK} --metric steps", "check good.qhl", "coalesce k.cu --kernel k"]
)
def test_pages_and_logs_say_what_is_assumed(words: str, there: Path, capsys: Capture) -> None:
    code = main([*words.split(), "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assumed = document.get("assumptions") or document["results"][0]["assumptions"]
    page = "".join(Text(shown(words, "html", code, capsys)).said)
    markdown = shown(words, "markdown", code, capsys).replace("\\", "")
    assert assumed
    assert all(text in page and f"- {text}" in markdown for text in assumed)
    (run,) = json.loads(shown(words, "sarif", code, capsys))["runs"]
    assert run["properties"]["assumptions"] == assumed


def test_names_of_files_are_no_markup(there: Path, capsys: Capture) -> None:
    name = "<b>|`*.simt"
    Path(name).write_text(FILES["dead.simt"])
    page = shown(f"machine {name} --threads 4", "html", 0, capsys)
    assert "<b>" not in page
    assert "&lt;b&gt;|`*.simt" in page
    assert "# \\<b\\>\\|\\`\\*.simt: 4 threads" in shown(f"machine {name} --threads 4", "markdown", 0, capsys)


def test_errors_stay_on_standard_error(there: Path, capsys: Capture) -> None:
    Path("k.cu").write_text('__global__ void k(int *A) {\n    asm("nope;");\n}\n')
    for form in ("html", "sarif", "markdown"):
        for words in ("bound k.cu", "check good.qhl --block 32", "recheck no.json", "run k.cu --block 32"):
            assert main([*words.split(), "--format", form]) == 2
            out, err = capsys.readouterr()
            assert (out == "") == (form != "sarif")
            assert "error: " in err


def test_assembly_on_a_page(there: Path, capsys: Capture) -> None:
    words = f"machine k.cu --kernel k {BLOCK} --assembly"
    plain = shown(words, "text", 0, capsys)
    assert plain in shown(words, "markdown", 0, capsys)
    assert plain == shown(words, "svg", 0, capsys) == shown(words, "json", 0, capsys)


# --- what the commands hardly ever say -------------------------------------------------------------------------------


def overrun(kernel: Any, claims: Any, fill: Fill, at: Any, *_: Any, **__: Any) -> list[Any]:
    """The search for dearest runs, with each that it finds above its bound."""
    found = find_witnesses(kernel, claims, fill, at)
    for claim, seen in zip(claims, found, strict=True):
        if seen:
            raise Overrun(claim, seen)
    return found


def test_a_refuted_bound(there: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(witness, "find_witnesses", overrun)
    words = f"bound k.cu --kernel k {BLOCK} --metric sectors --tight"
    (result,) = results(shown(words, "sarif", 3, capsys))
    assert (place(result), result["level"]) == (("refuted", "k.cu", 1), "error")
    assert "a run costs more than the bound" in result["message"]["text"]
    assert 'class="verdict refuted"' in shown(words, "html", 3, capsys)


def test_rows_of_the_suite_that_are_open(monkeypatch: pytest.MonkeyPatch, there: Path, capsys: Capture) -> None:
    words = "suite --kernel vectorAdd --metric sectors --jobs 1"
    with monkeypatch.context() as patched:
        patched.setattr(seconded, "recheck", lambda _: Report("solver-backed", "", ["one (by z3)"], "", ""))
        (result,) = results(shown(words, "sarif", 1, capsys))
        assert place(result) == ("solver-backed", "proofs/vectorAdd/kernel.cu", 1)
        assert result["message"]["text"] == "vectorAdd sectors: accepted, solver-backed."
    monkeypatch.setattr(suite, "find_witnesses", overrun)
    (result,) = results(shown(words, "sarif", 3, capsys))
    assert place(result)[0] == "refuted"


def test_mutants_that_survive(monkeypatch: pytest.MonkeyPatch, there: Path, capsys: Capture) -> None:
    told = [
        Result("If4-1", "drops | a premise", "killed", 3, 0.1, "`x <- 1`: claims 1, costs 2"),
        Result("If4-2", "drops another", "survived", 5000, 9.0),
    ]
    monkeypatch.setattr(mutants, "score", lambda *_: told)
    words = "trial sound --mutants --jobs 1"
    (result,) = results(shown(words, "sarif", 1, capsys))
    assert (result["ruleId"], result["message"]["text"]) == ("survived", "survived: If4-2: drops another.")
    lines = shown(words, "markdown", 1, capsys).splitlines()
    assert lines[0] == "# 1 of 2 mutants killed, 0 equivalent"
    assert lines[-1] == "| `If4-2` | survived | drops another | 5000 | 9.0 |  |"
    assert shown(words, "text", 1, capsys) == "1 of 2 mutants killed, 0 equivalent\n  survived: If4-2\n"
    assert shown("trial sound --mutants --jobs 1", "html", 1, capsys).count("<tr role=") == 3


def test_what_rests_on_a_solver(monkeypatch: pytest.MonkeyPatch, there: Path, capsys: Capture) -> None:
    import checker.recheck

    def backed(words: list[str]) -> int:
        backed = {"solver_backed": ["a >= {b} (z3)", "c"], "problem": "", "claim": "k", "digest": "d"}
        print(json.dumps({"verdict": "solver-backed", **backed}))
        return 1

    monkeypatch.setattr(checker.recheck, "main", backed)
    found = results(shown("recheck good.json", "sarif", 1, capsys))
    assert [place(r) for r in found] == [("solver-backed", "good.json", 1)]
    assert found[0]["message"]["text"] == "solver-backed: a >= {{b}} (z3).\nsolver-backed: c."
    assert "```text\na >= {b} (z3)\nc\n```" in shown("recheck good.json", "markdown", 1, capsys)


def test_every_rule_of_a_result_is_known() -> None:
    assert {rule for case in CASES for rule, _, _ in case.faults} <= RULES.keys()
    assert {level for level, _ in RULES.values()} == {"error", "warning", "note"}
