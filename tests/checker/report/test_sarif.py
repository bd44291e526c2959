"""Logs that code hosts take: what their validators ask for beside the schema, of every command.

The rules are those of Microsoft's validator (SARIF1001 to SARIF2016) and of GitHub's code scanning (GH1001 to GH1007),
as far as they are about such logs, each in words of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import jsonschema  # type: ignore[import-untyped]
import pytest

from checker import VERSION
from checker.cli import main
from checker.report.audit import MEANING
from checker.report.page import RULES, Fault, Page, render
from checker.report.sarif import HELP, SCHEMA
from checker.report.schemas import schema
from logic.source import Loc

ROOT: Final = Path(__file__).resolve().parents[3] / "proofs"
Log = dict[str, Any]
Capture = pytest.CaptureFixture[str]

SOURCE: Final = """__global__ void spin(int n, int *A) { int x = 0;
    while (n > 0) { x = x + 1; } A[32 * threadIdx.x] = x; }
__global__ void hole(int *A, int n) { int i = A[0]; if (i > n) { __syncthreads(); } A[n] = 1; }
"""


def runs(log: Log) -> Log:
    (run,) = log["runs"]
    return run  # type: ignore[no-any-return]


def each(found: Callable[[Log], list[Any]], good: Callable[[Any], object]) -> Callable[[Log], bool]:
    """A rule for each of some parts of a log."""
    return lambda log: all(bool(good(x)) for x in found(log))


def driver(log: Log) -> Log:
    return runs(log)["tool"]["driver"]  # type: ignore[no-any-return]


def rules(log: Log) -> list[Log]:
    return driver(log)["rules"]  # type: ignore[no-any-return]


def results(log: Log) -> list[Log]:
    return runs(log)["results"]  # type: ignore[no-any-return]


def places(log: Log) -> list[Log]:
    return [place["physicalLocation"] for r in results(log) for place in r["locations"]]


def texts(log: Log) -> list[str]:
    notes = [n for i in runs(log)["invocations"] for n in i.get("toolExecutionNotifications", [])]
    return [x["message"]["text"] for x in (*results(log), *notes)]


HOSTS: Final[dict[str, Callable[[Log], bool]]] = {
    "the final schema and its version": lambda log: log["$schema"] == SCHEMA and log["version"] == "2.1.0",
    "the tool's version, a semantic one": lambda log: bool(
        re.fullmatch(r"\d+\.\d+\.\d+", driver(log)["semanticVersion"])
    ),
    "the tool's address is absolute": lambda log: urlsplit(driver(log)["informationUri"]).scheme == "https",
    "identifiers of rules are unique": lambda log: len({r["id"] for r in rules(log)}) == len(rules(log)),
    "a rule's name is in Pascal case, and not its identifier": each(
        rules, lambda r: re.fullmatch(r"([A-Z][a-z0-9]*)+", r["name"]) and r["name"] != r["id"]
    ),
    "descriptions are there, end as sentences do, and are no longer than 1,024": each(
        rules,
        lambda r: all(
            0 < len(r[k]["text"]) <= 1024 and r[k]["text"].endswith(".")
            for k in ("shortDescription", "fullDescription")
        ),
    ),
    "help as text and as Markdown": each(rules, lambda r: r["help"]["text"] and r["help"]["markdown"]),
    "a level and a precision": each(
        rules,
        lambda r: (
            r["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
            and r["properties"]["precision"] in ("very-high", "high", "medium", "low")
        ),
    ),
    "results name rules that are described, at their index": lambda log: all(
        rules(log)[r["ruleIndex"]]["id"] == r["ruleId"] for r in results(log)
    ),
    "messages end as sentences do": each(texts, lambda text: text.rstrip()[-1] in ".!?"),
    "messages have no placeholders": each(texts, lambda text: not re.search(r"(?<!\{)\{\d+\}(?!\})", text)),
    "places have a file, relative to the root of what is looked at, and a line": each(
        places,
        lambda p: (
            not urlsplit(p["artifactLocation"]["uri"]).scheme
            and "\\" not in p["artifactLocation"]["uri"]
            and p["region"]["startLine"] >= 1
            and p["region"].get("startColumn", 1) >= 1
        ),
    ),
    "one result for a rule and a place": lambda log: (
        len({json.dumps([r["ruleId"], r["locations"]]) for r in results(log) if r["locations"]})
        == sum(bool(r["locations"]) for r in results(log))
    ),
    "fingerprints, each once": lambda log: (
        len({json.dumps(r["partialFingerprints"]) for r in results(log)}) == len(results(log))
        and all(v for r in results(log) for v in r["partialFingerprints"].values())
    ),
    "no more than hosts take": lambda log: len(results(log)) <= 5000 and len(rules(log)) <= 5000,
    "whether it ran to its end": lambda log: all("executionSuccessful" in i for i in runs(log)["invocations"]),
}

COMMANDS: Final = {
    "bound k.cu --metric all --block 32": 1,
    "bound k.cu --kernel spin --metric all --block 32": 1,
    "bound k.cu --kernel hole --metric all --block 32": 1,
    "coalesce k.cu --kernel spin --block 64": 1,
    "report a.json b.json --source kernel.cu": 0,
    "report a.json b.json --compare a.json": 0,
    "recheck a.json bad.json": 3,
    "bound none.cu": 2,
    "bound bad.cu": 2,
    "bound k.cu --block": 2,
    "report k.cu": 2,
}


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sectors = (ROOT / "addSub3" / "sectors.json").read_text()
    files = {"k.cu": SOURCE, "bad.cu": '__global__ void k(int *A) {\n  asm("no");\n}\n', "a.json": sectors}
    files |= {"b.json": (ROOT / "addSub3" / "steps.json").read_text(), "bad.json": sectors.replace('"4"', '"3"')}
    files |= {"kernel.cu": (ROOT / "addSub3" / "kernel.cu").read_text()}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def logged(words: str, code: int, capsys: Capture) -> Log:
    assert main([*words.split(), "--format", "sarif"]) == code
    found: Log = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("words", COMMANDS)
def test_every_log_is_one_that_hosts_take(words: str, there: Path, capsys: Capture) -> None:
    try:
        log = logged(words, COMMANDS[words], capsys)
    except SystemExit:
        log = json.loads(capsys.readouterr().out)
    assert [name for name, holds in HOSTS.items() if not holds(log)] == []
    assert driver(log)["version"] == VERSION


CHANGES: Final[dict[str, Callable[[Log], object]]] = {
    "the final schema and its version": lambda log: log.update(version="2.0"),
    "the tool's address is absolute": lambda log: driver(log).update(informationUri="warpbound"),
    "a rule's name is in Pascal case, and not its identifier": lambda log: rules(log)[0].update(name="not-proved"),
    "help as text and as Markdown": lambda log: rules(log)[0]["help"].update(markdown=""),
    "results name rules that are described, at their index": lambda log: results(log)[0].update(ruleId="other"),
    "messages end as sentences do": lambda log: results(log)[0]["message"].update(text="no"),
    "messages have no placeholders": lambda log: results(log)[0]["message"].update(text="{0}."),
    "places have a file, relative to the root of what is looked at, and a line": lambda log: places(log)[0].update(
        region={"startLine": 0}
    ),
    "one result for a rule and a place": lambda log: results(log).append(results(log)[0]),
    "fingerprints, each once": lambda log: results(log)[0].update(partialFingerprints={"": ""}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_hosts_refuse_is_noticed(name: str, there: Path, capsys: Capture) -> None:
    log = logged("bound k.cu --kernel spin --metric steps --block 32", 1, capsys)
    assert HOSTS[name](log)
    CHANGES[name](log)
    assert not HOSTS[name](log)


def test_a_log_of_what_cannot_be_used(there: Path, capsys: Capture) -> None:
    assert main(["bound", "bad.cu", "--format", "sarif", "-o", "out.sarif"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "error: " in printed.err
    log = json.loads(Path("out.sarif").read_text())
    (invocation,) = runs(log)["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    (result,) = results(log)
    assert (result["ruleId"], places(log)[0]["artifactLocation"]["uri"], places(log)[0]["region"]["startLine"]) == (
        "unusable",
        "bad.cu",
        2,
    )


ODD: Final = "über <script>alert('1')%20.cu"
"""The name of a file."""

LONG: Final = " + ".join(f"{i} * n * n" for i in range(2, 40))


@pytest.mark.parametrize(
    ("command", "code"),
    [("bound --block=32 --metric=steps", 1), ("coalesce --block=32", 1), ("run --block=32 --arg=n=3", 0)],
)
def test_odd_names_and_long_formulas(command: str, code: int, there: Path, capsys: Capture) -> None:
    """What hosts and schemas ask for holds of them, too, and no page has markup of a name."""
    text = f"__global__ void k(int *A, int n) {{ while (A[n] > 0) A[40 * threadIdx.x + {LONG}] = A[{LONG} + n]; }}\n"
    (there / ODD).write_text(text)
    name, *options = command.split()
    printed = {}
    for form in ("sarif", "json", "html", "markdown"):
        assert main([name, ODD, *options, "--format", form]) == code
        printed[form] = capsys.readouterr().out
    log = json.loads(printed["sarif"])
    assert [told for told, good in HOSTS.items() if not good(log)] == []
    if code:
        assert {place["artifactLocation"]["uri"] for place in places(log)} == {quote(ODD)}
    jsonschema.validate(json.loads(printed["json"]), schema(name))
    assert "<script" not in printed["html"]
    assert "<script" not in re.sub(r"`+[^`]*`+", "", printed["markdown"])


def test_metrics_share_a_result(there: Path, capsys: Capture) -> None:
    found = results(logged("bound k.cu --kernel hole --metric all --block 32", 1, capsys))
    assert len({json.dumps(r["locations"]) for r in found}) == len(found)
    text = "\n".join(r["message"]["text"] for r in found)
    assert "hole steps: " in text
    assert "hole sectors: " in text


def test_fingerprints_stay_when_lines_move(there: Path, capsys: Capture) -> None:
    words = "bound k.cu --metric all --block 32"

    def prints() -> set[str]:
        return {json.dumps(r["partialFingerprints"]) for r in results(logged(words, 1, capsys))}

    before = prints()
    Path("k.cu").write_text(f"// moved\n\n{SOURCE}")
    assert prints() == before
    Path("k.cu").write_text(SOURCE.replace("while (n > 0)", "while (n > 1)"))
    assert prints() != before


def test_two_results_on_lines_that_are_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text("same\nsame\n")
    faults = [Fault("holey", "a", Loc("k.cu", n, 1)) for n in (1, 2)]
    found = results(json.loads(render(Page("t", [], faults), "sarif")))
    assert len({json.dumps(r["partialFingerprints"]) for r in found}) == 2


def test_every_rule_has_help() -> None:
    assert {*RULES, *MEANING, "other-source", "other-launch", "worse", "unusable"} == {*HELP}
