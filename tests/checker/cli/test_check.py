"""`warpbound check`: one right outline, and what is said of it when it is broken in one place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from checker.cli import main

OUTLINE = Path(__file__).resolve().parents[3] / "proofs/addSub3/sectors.qhl"
SOURCE = OUTLINE.read_text()
Capture = pytest.CaptureFixture[str]


def checked(path: Path, capsys: Capture, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of a check; standard error has to be empty."""
    code = main(["check", str(path), "--format", "json", *words])
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, json.loads(printed.out)


def written(tmp_path: Path, *edits: tuple[str, str]) -> Path:
    text = SOURCE
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "broken.qhl"
    path.write_text(text)
    return path


def test_the_outline_as_it_is(capsys: Capture) -> None:
    code, result = checked(OUTLINE, capsys)
    assert (code, result["verdict"], result["rules"], result["error"]) == (0, "accepted", "sound", None)
    assert {"verdict", "judgement", "rules", "obligations", "assumptions", "error"} <= result.keys()
    assert result["judgement"].startswith("{true; 4 + 10*max(0, 1 + h); {}} ")
    assert {o["verdict"] for o in result["obligations"]} == {"proved"}
    assert {o["kind"] for o in result["obligations"]} == {"Entails", "AtLeast", "Uniform", "AtMost"}
    for o in result["obligations"]:
        assert set(o) == {"kind", "claim", "verdict", "engine", "seconds"}
        assert o["claim"]
        assert o["engine"]
    assert any("overflow" in a for a in result["assumptions"])


def test_the_outline_as_text(capsys: Capture) -> None:
    assert main(["check", str(OUTLINE)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "accepted: addSub3 costs at most 4 + 10*max(0, 1 + h) sectors a warp"
    assert "This assumes:" in lines


class Broken(NamedTuple):
    """One edit, and the refusal that it earns. `line` and `column` are those of the statement that is to blame."""

    old: str
    new: str
    rule: str
    line: int
    column: int
    reason: str
    expected: str
    got: str
    witness: bool = True


HEAD = "invariant { i == 32*blockIdx.x + tid.x; 10*|[j, h + 1]|; {j} }"
BEFORE = "the side condition P1; X1 |- Q1 >= Q2 does not hold"
AFTER = "the side condition P2'; X2' |- Q2' >= Q1' does not hold"
BROKEN = {
    "too small by one": Broken(
        "{ true; 4 + 10*", "{ true; 3 + 10*", "Q:Weak", 15, 3, BEFORE, "at least 4 + ", "3 + 10*max(0, 1 + h)"
    ),
    "h/2 as in the print": Broken(
        "4 + 10*|[0, h + 1]|", "4 + 10*|[0, h]|", "Q:Weak", 15, 3, BEFORE, "max(0, 1 + h)  (= ", "4 + 10*max(0, h)  (= "
    ),
    "h/2 in the loop too": Broken(HEAD, HEAD.replace("h + 1", "h"), "Q:Weak", 21, 5, BEFORE, "at least 20", "h - j"),
    "a coefficient too small": Broken(
        HEAD, HEAD.replace("10*", "9*"), "Q:Weak", 21, 5, BEFORE, "at least 20", "9*max(0, 1 + h - j)"
    ),
    "an invariant that does not hold at first": Broken(
        HEAD, HEAD.replace("32*", "31*"), "Q:Weak", 19, 3, "the side condition P1 |- P2 does not hold", "31 *", "32 *"
    ),
    "an invariant that is not kept": Broken(
        HEAD, HEAD.replace("tid.x;", "tid.x && j <= 0;"), "Q:Weak", 25, 5,
        "the side condition P2' |- P1' does not hold", "j <= 0", "j - 2 <= 0",
    ),
    "j missing from X": Broken(
        HEAD, HEAD.replace("{j}", "{}"), "Q:Weak", 25, 5,
        "the potential depends on j, which X does not list as uniform", "within X = {}", "h - j", False,
    ),
    "an i in X that is not uniform": Broken(
        HEAD, HEAD.replace("{j}", "{i, j}"), "Q:Weak", 25, 5, "X1' <= X2' does not hold", "{j}", "{i, j}", False
    ),
    "a potential over an i that is not uniform": Broken(
        "20 + 10*|[j, h - 1]|", "20 + 10*|[j, h - 1]| + |[0, i]|", "Q:Weak", 21, 5,
        "the potential depends on i, which X does not list as uniform", "within X = {j}", "max(0, i)", False,
    ),
    "a uniform loop on a divergent guard": Broken(
        "while (j < h)", "while [Q:While1] (j < h - i)", "Q:While1", 19, 3,
        "the side condition P; X |- e unif does not hold", "j < h - i with one value", "two threads that differ",
    ),
    "a divergent loop that keeps its counter": Broken(
        "while (j < h)", "while [Q:While2] (j < h)", "Q:Weak", 19, 3, "X1' <= X2' does not hold", "{}", "{j}", False
    ),
    "a uniform branch on a divergent condition": Broken(
        "  j <- 0;", "  if [Q:If1] (tid.x < 16) { skip; }\n  j <- 0;", "Q:If1", 18, 3,
        "the side condition P; X |- e unif does not hold", "tid.x < 16 with one value", "two threads that differ",
    ),
    "a branch always taken": Broken(
        "  j <- 0;", "  if [Q:If2] (h > 0) { skip; }\n  j <- 0;", "Q:If2", 18, 3,
        "the side condition P |- e does not hold", "h > 0", "i == ",
    ),
    "a branch never taken": Broken(
        "  j <- 0;", "  if [Q:If3] (h > 0) { skip; }\n  j <- 0;", "Q:If3", 18, 3,
        "the side condition P |- !e does not hold", "h <= 0", "i == ",
    ),
    "a cost forgotten": Broken(
        "10 + 10*|[j, h - 1]|", "5 + 10*|[j, h - 1]|", "Q:Weak", 21, 5, AFTER, "at least 10 + ", "5 + "
    ),
    "a statement and its condition swapped": Broken(
        "B[j*w + i] <- B[j*w + i] + As[tid.x];\n    { j < h; 10 + 10*|[j, h - 1]|; {j} }",
        "{ j < h; 10 + 10*|[j, h - 1]|; {j} }\n    B[j*w + i] <- B[j*w + i] + As[tid.x];",
        "Q:Weak", 22, 5, BEFORE, "at least 20 + ", "10 + ",
    ),
    "a shorter step": Broken("j <- j + 2", "j <- j + 1", "Q:Weak", 23, 5, AFTER, "h - j)  (= ", "h - 1 - j)  (= "),
    "a wider stride": Broken(
        "B[(j + 1)*w + i] <- B[(j + 1)*w + i] -", "B[(j + 1)*w + 2*i] <- B[(j + 1)*w + 2*i] -",
        "Q:Weak", 21, 5, AFTER, "at least 18 + ", "10 + ",
    ),
    "an unaligned load": Broken("A[i]", "A[i + 1]", "Q:Weak", 15, 3, BEFORE, "at least 5 + ", "4 + "),
    "a postcondition too strong": Broken(
        "{ j >= h; 0;", "{ j == h; 0;", "Q:Weak", 19, 3,
        "the side condition P2' |- P1' does not hold", "j == h", "j >= h",
    ),
    "a potential left over that nobody paid": Broken(
        "{ j >= h; 0;", "{ j >= h; 1;", "Q:Weak", 16, 3, AFTER, "1 + ", "10*"
    ),
    "a variable uniform at the end that is not": Broken(
        "{ j >= h; 0; {j} }", "{ j >= h; 0; {i, j} }", "Q:Weak", 19, 3,
        "X1' <= X2' does not hold", "{j}", "{i, j}", False,
    ),
    "a fact that lacks its precondition": Broken(
        "block 32", "", "Q:Weak", 16, 3,
        "the side condition P2' |- P1' does not hold", "i == 32 * blockIdx.x", "blockIdx.x * blockDim.x",
    ),
    "less than nothing at first": Broken(
        "{ true; 4 + 10*|[0, h + 1]|;", "{ true; 0 - 4;", "Q:Weak", 15, 3, BEFORE, "at least 4", "-4"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_outline_is_refused_for_the_right_reason(name: str, tmp_path: Path, capsys: Capture) -> None:
    want = BROKEN[name]
    code, result = checked(written(tmp_path, (want.old, want.new)), capsys)
    error = result["error"]
    assert list(error) == ["rule", "path", "line", "column", "reason", "expected", "got", "witness"]
    found = (error["rule"], error["line"], error["column"], error["reason"])
    assert found == (want.rule, want.line, want.column, want.reason)
    assert (code, result["verdict"], result["judgement"]) == (1, "rejected", None)
    assert want.expected in error["expected"]
    assert want.got in error["got"]
    assert (error["witness"] is not None) == want.witness
    values = [re.search(r"\(= (\d+)\)", error[side]) for side in ("expected", "got")]
    if all(values):
        assert int(values[0][1]) > int(values[1][1])  # type: ignore[index]


def test_a_refusal_as_text(tmp_path: Path, capsys: Capture) -> None:
    """The text names the place, shows the rule with its bar, and the witness."""
    path = written(tmp_path, ("{ true; 4 + 10*", "{ true; 3 + 10*"))
    assert main(["check", str(path)]) == 1
    text = capsys.readouterr().out
    assert text.startswith(f"rejected: {path}:15:3: Q:Weak: {BEFORE}\n")
    assert re.search(r"-{20,} Q:Weak\n", text)
    assert "expected   at least 4 + 10*max(0, 1 + h)" in text
    assert "found      3 + 10*max(0, 1 + h)" in text
    assert "fails at   tid.x = 0" in text
    assert "short by   1\n" in text


def test_a_loop_without_a_potential_gets_one(tmp_path: Path, capsys: Capture) -> None:
    """`_` leaves it to the tool."""
    path = written(tmp_path, (HEAD, HEAD.replace("10*|[j, h + 1]|", "_")))
    code, result = checked(path, capsys)
    assert (code, result["verdict"]) == (0, "accepted")


def test_what_cannot_be_proved_is_not_called_wrong(tmp_path: Path, capsys: Capture) -> None:
    """Whether a read is the same in all lanes nobody knows: `not-proved`, without a witness."""
    path = written(tmp_path, ("  j <- 0;", "  if [Q:If1] (As[tid.x] > 0) { skip; }\n  j <- 0;"))
    code, result = checked(path, capsys)
    assert (code, result["verdict"], result["error"]["witness"]) == (1, "not-proved", None)
    assert result["error"]["reason"] == "the side condition P; X |- e unif could not be proved"
    assert (result["error"]["rule"], result["error"]["line"], result["error"]["column"]) == ("Q:If1", 18, 3)


def test_an_outline_that_cannot_be_completed(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, ("  j <- 0;", "  j <- tid.x;"))
    code, result = checked(path, capsys)
    assert (code, result["verdict"]) == (1, "rejected")
    assert result["error"]["got"].startswith("10*max(0, 1 + h)")
    endless = tmp_path / "endless.qhl"
    endless.write_text("kernel k\nmetric steps\nblock 32\nlocal int x;\nbegin\n  while (true) { x <- x; }\nend\n")
    code, result = checked(endless, capsys)
    assert (code, result["verdict"]) == (1, "not-proved")
    assert (result["error"]["line"], result["error"]["path"]) == (6, [])
    assert "no potential" in result["error"]["reason"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.qhl", None, "No such file"),
        ("empty.qhl", b"", "expected"),
        ("latin.qhl", b"kernel \xff", "not UTF-8"),
        ("syntax.qhl", b"kernel k\nmetric steps\nbegin\n  x <- ;\nend\n", ":4:8: error: "),
        ("types.qhl", b"kernel k\nmetric steps\nlocal bool b;\nbegin\n  b <- 1;\nend\n", ":5:"),
        ("gone.json", None, "No such file"),
        ("empty.json", b"", "no JSON document"),
        ("other.json", b"{}", "no certificate"),
        ("list.json", b"[1]", "no certificate"),
        ("old.json", b'{"format":"warpbound certificate","version":0}', "version 0"),
        ("torn.json", b'{"format":"warpbound certificate","version":1}', "not well formed"),
        ("changed.json", b'{"format":"warpbound certificate","version":1,"digest":"sha256:0"}', "its digest"),
    ],
)
def test_a_file_that_is_neither(
    name: str, content: bytes | None, message: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert main(["check", str(path), "--format", "json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert "error: " in printed.err


def test_the_output_goes_to_a_file(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.json"
    assert main(["check", str(OUTLINE), "--format", "json", "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(out.read_text())["verdict"] == "accepted"
    assert main(["check", str(OUTLINE), "-o", str(tmp_path / "no" / "such")]) == 2
    assert main(["check", str(OUTLINE), "-o", "\0"]) == 2


def test_the_rule_set_is_named(capsys: Capture) -> None:
    assert main(["check", str(OUTLINE), "--rules", "best"]) == 2
    assert "no rule set is called 'best'" in capsys.readouterr().err


def test_the_printed_rules_certify_nothing(capsys: Capture) -> None:
    code, result = checked(OUTLINE, capsys, "--rules", "paper")
    assert (code, result["rules"], result["verdict"]) == (1, "paper", "rejected")


def test_a_derivation_from_nothing_is_accepted_with_a_warning(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, ("local int i, j;\n", "local int i, j;\nrequires w < 0 && w > 3;\n"))
    code, result = checked(path, capsys)
    assert (code, result["verdict"]) == (0, "accepted")
    assert "anything follows" in result["warnings"][0]
    assert checked(OUTLINE, capsys)[1]["warnings"] == []
