"""`warpbound check`: one right outline, and what is said of it when it is broken in one place."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from checker import limits
from checker.certificates.document import canonical, digest
from checker.cli import main
from checker.recheck import VACUOUS
from checker.refutation import whole

OUTLINE = Path(__file__).resolve().parents[3] / "proofs/addSub3/sectors.qhl"
SOURCE = OUTLINE.read_text()
Capture = pytest.CaptureFixture[str]


def test_the_state_that_is_shown_is_run_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What costs too much from a kernel's first statement on is a run, and the claim is false."""
    path = tmp_path / "k.cu"
    path.write_text(
        "//@ launch block = 32;\n//@ metric steps;\n__global__ void k(int n, int m) {\n"
        "    //@ potential 20 + 10*|[0, n]|;\n    int j = m;\n    //@ loop potential 4 + 8*|[j, n]|;\n"
        "    while (j < n) j++;\n}\n"
    )
    assert main(["check", str(path), "--format", "json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert {n: error["run"]["params"][n] for n in "nm"} == error["witness"]["params"]
    assert error["run"]["actual"] > error["run"]["claimed"]


def checked(path: Path, capsys: Capture, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of a check; standard error has the warnings and nothing else."""
    code = main(["check", str(path), "--format", "json", *words])
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert printed.err == "".join(f"{path}: warning: {text}\n" for text in result["warnings"])
    return code, result


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
    assert lines[0] == "accepted: every warp of addSub3 costs at most 4 + 10*max(0, 1 + h) sectors"
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


FALSE_BOUNDS = {
    "too small by one", "h/2 as in the print", "a shorter step", "a wider stride", "an unaligned load",
    "less than nothing at first",
}  # fmt: skip
"""The edits that make the claimed bound itself false, where a run shows it."""

I_DIFFERS = "i is not known to be uniform here: the value that it is assigned in line 15 may differ between threads."
ADVICE = {
    "too small by one": "Adding 1 to the potential in line 14 would do.",
    "h/2 as in the print": "Adding 10 to the potential in line 14 would do.",
    "h/2 in the loop too": "The potential 10*max(0, 1 + h - j) in line 19 would do.",
    "a coefficient too small": "The potential 10*max(0, 1 + h - j) in line 19 would do.",
    "an invariant that does not hold at first": "Without i == 31 * blockIdx.x + tid.x in line 19 the outline would "
    "pass.",
    "an invariant that is not kept": "Without j <= 0 in line 19 the outline would pass.",
    "j missing from X": "Listing j as uniform in line 19 would do: {j}.",
    "an i in X that is not uniform": f"{I_DIFFERS} Not listing i as uniform in line 19 would do: {{j}}.",
    "a potential over an i that is not uniform": I_DIFFERS,
    "a uniform loop on a divergent guard": I_DIFFERS,
    "a divergent loop that keeps its counter": "j is not known to be uniform here: it is assigned in line 25 in a loop "
    "that may diverge, in line 19. Not listing j as uniform in line 27 would do: {}.",
    "a uniform branch on a divergent condition": "Without [Q:If1] it would pass, by Q:If4.",
    "a branch always taken": "Without [Q:If2] it would pass, by Q:If1.",
    "a branch never taken": "Without [Q:If3] it would pass, by Q:If1.",
    "a cost forgotten": "Adding 5 to the potential in line 22 would do.",
    "a statement and its condition swapped": "Adding 10 to the potential in line 21 would do.",
    "a shorter step": "Adding 10 to the potential in line 24 would do here; then something fails in line 21.",
    "a wider stride": "Adding 8 to the potential in line 22 would do here; then something fails in line 21.",
    "an unaligned load": "Adding 1 to the potential in line 14 would do.",
    "a postcondition too strong": "Without j == h in line 27 the outline would pass.",
    "a potential left over that nobody paid": "Adding 1 to the potential in line 17 would do here; then something "
    "fails in line 23.",
    "a variable uniform at the end that is not": f"{I_DIFFERS} Not listing i as uniform in line 27 would do: {{j}}.",
    "less than nothing at first": "Adding 8 + 10*max(0, 1 + h) to the potential in line 14 would do.",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_outline_is_refused_for_the_right_reason(
    name: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    want = BROKEN[name]
    if name not in FALSE_BOUNDS:
        monkeypatch.setattr(limits, "RUNS", 4)
    code, result = checked(written(tmp_path, (want.old, want.new)), capsys)
    error = result["error"]
    assert list(error) == ["rule", "path", "line", "column", "reason", "expected", "got", "witness", "run", "advice"]
    found = (error["rule"], error["line"], error["column"], error["reason"])
    assert found == (want.rule, want.line, want.column, want.reason)
    assert (code, result["verdict"], result["judgement"]) == (1, "rejected", None)
    assert want.expected in error["expected"]
    assert want.got in error["got"]
    assert (error["witness"] is not None) == want.witness
    values = [re.search(r"\(= (\d+)\)", error[side]) for side in ("expected", "got")]
    if all(values):
        assert int(values[0][1]) > int(values[1][1])  # type: ignore[index]
    assert (error["run"] is not None) == (name in FALSE_BOUNDS)
    if error["run"]:
        assert error["run"]["actual"] > error["run"]["claimed"]
    assert (error["advice"] or "") == ADVICE.get(name, "")


def test_a_refusal_as_text(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text names the place, shows the rule with its bar, and the witness."""
    monkeypatch.setattr(limits, "REPLAY_SECONDS", 60)  # collecting the garbage of other tests takes a second at times
    path = written(tmp_path, ("{ true; 4 + 10*", "{ true; 3 + 10*"))
    assert main(["check", str(path)]) == 1
    text = capsys.readouterr().out
    assert text.startswith(f"rejected: {path}:15:3: Q:Weak: {BEFORE}\n")
    assert re.search(r"-{20,} Q:Weak\n", text)
    assert "expected   at least 4 + 10*max(0, 1 + h)" in text
    assert "found      3 + 10*max(0, 1 + h)" in text
    assert "    thread (0,0,0)" in text
    assert "    in truth   13 is there, 14 is needed, short by 1\n" in text
    assert "  > P1; {} |- 3 + 10*max(0, 1 + h) >= 4 + 10*max(0, 1 + h)\n" in text
    assert "The claimed bound is false." in text
    assert text.endswith("  Adding 1 to the potential in line 14 would do.\n")


def test_a_loop_without_a_potential_gets_one(tmp_path: Path, capsys: Capture) -> None:
    """`_` leaves it to the tool."""
    path = written(tmp_path, (HEAD, HEAD.replace("10*|[j, h + 1]|", "_")))
    code, result = checked(path, capsys)
    assert (code, result["verdict"]) == (0, "accepted")


def test_what_cannot_be_proved_is_not_called_wrong(tmp_path: Path, capsys: Capture) -> None:
    """That 6 divides i*i*i - i no oracle can tell, though it does: `not-proved`, without a witness."""
    path = written(tmp_path, ("  j <- 0;", "  if [Q:If2] ((i*i*i - i) % 6 == 0) { skip; }\n  j <- 0;"))
    code, result = checked(path, capsys)
    assert (code, result["verdict"], result["error"]["witness"]) == (1, "not-proved", None)
    assert result["error"]["reason"] == "the side condition P |- e could not be proved"
    assert (result["error"]["rule"], result["error"]["line"], result["error"]["column"]) == ("Q:If2", 18, 3)


def test_contents_of_an_array_that_part_two_threads(tmp_path: Path, capsys: Capture) -> None:
    """No oracle has a model with arrays; a run finds one."""
    path = written(tmp_path, ("  j <- 0;", "  if [Q:If1] (As[tid.x] > 0) { skip; }\n  j <- 0;"))
    code, result = checked(path, capsys)
    assert (code, result["verdict"]) == (1, "rejected")
    assert result["error"]["reason"] == "the side condition P; X |- e unif does not hold"
    witness = result["error"]["witness"]
    first, second = (witness["store"]["arrays"]["As"][str(x)] for x, _, _ in witness["threads"])
    assert (first > 0) != (second > 0)
    assert result["error"]["advice"] == "Without [Q:If1] it would pass, by Q:If4."


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
    ("body", "advice"),
    [
        ("j <- A[0]; i <- 0; while (i < j) { i <- i + 1; }", "or state invariant { _; q; _ } at it."),
        ("i <- 0; while (i < n) { i <- i + m; }", "  Say requires m > 0;."),
        ("i <- A[0]; while (i < n) { i <- i + 1; }", "set i to 0 where it is less; before one that counts down,"),
    ],
)
def test_advice_for_an_outline_is_in_its_own_words(body: str, advice: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.qhl"
    declared = "param int n, m;\nglobal int A[];\nlocal int i, j;"
    path.write_text(f"kernel k\nmetric steps\nblock 32\n{declared}\nbegin\n{body}\nend\n")
    assert main(["check", str(path)]) == 1
    told = capsys.readouterr().out
    assert advice in told
    assert "//@" not in told
    assert "--" not in told


@pytest.mark.parametrize(
    ("words", "other"),
    [
        (["bound", "k.qhl"], "`warpbound check k.qhl` takes it."),
        (["run", "c.json"], "`warpbound check c.json` takes it."),
        (["coalesce", "p.simt"], "`warpbound machine p.simt` takes it."),
        (["predict", "k.qhl", "--device", "gtx280"], "`warpbound check k.qhl` takes it."),
        (["report", str(OUTLINE.with_name("sectors.json")), "--source", "k.qhl"], "`warpbound check k.qhl` takes it."),
    ],
)
def test_another_command_takes_it(words: list[str], other: str, capsys: Capture) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "is no CUDA source\n" in told
    assert other in told


def changed(tmp_path: Path, **parts: Any) -> Path:
    """The certificate of the outline with other parts, its digest made anew."""
    document = json.loads(OUTLINE.with_name("sectors.json").read_text()) | parts
    path = tmp_path / "changed.json"
    path.write_text(canonical(document | {"digest": digest(document)}))
    return path


def test_the_kernel_is_not_asked_about_what_the_second_checker_refuses(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the kernel was asked")

    nodes = json.loads(OUTLINE.with_name("sectors.json").read_text())["derivation"]
    (i, *_) = (i for i, node in enumerate(nodes) if node["rule"] == "EQ:GArray")
    nodes[i]["rule"] = "EQ:SArray"
    path = changed(tmp_path, derivation=nodes)
    monkeypatch.setattr("checker.kernel.check", never)
    assert main(["check", str(path)]) == 3
    problem = f"derivation[{i}] EQ:SArray: with.G is missing or out of place"
    told = capsys.readouterr().out
    first, _, rule, *_ = told.splitlines()
    assert re.fullmatch(r"rejected: line \d+, column \d+ of the source: the second checker refuses it: (.*)", first)
    assert first.endswith(f": {problem}")
    assert rule.lstrip().startswith("P; X |- o : C")
    assert main(["report", str(path)]) == 3
    assert problem in " ".join(capsys.readouterr().out.split())


def test_a_certificate_that_one_checker_refuses(tmp_path: Path, capsys: Capture) -> None:
    """Each says its word once."""
    assert main(["check", str(changed(tmp_path, evidence=[]))]) == 3
    text = capsys.readouterr().out
    place, _, told = text.removeprefix("rejected: ").partition(" of the source: the second checker refuses it: ")
    assert re.fullmatch(r"line \d+, column \d+", place)
    assert re.match(r"derivation\[\d+\] \S+: there is too little .*\n\n    ", told)
    assert " Q:" in told.partition("-----")[2].splitlines()[0]
    assert main(["check", "--rules", "paper", str(OUTLINE.with_name("sectors.json"))]) == 1
    assert "\n\n  second checker: valid\n" in capsys.readouterr().out


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
        ("torn.json", b'{"format":"warpbound certificate","version":3}', "not well formed"),
        ("changed.json", b'{"format":"warpbound certificate","version":3,"digest":"sha256:0"}', "its digest"),
    ],
)
def test_a_file_that_is_neither(
    name: str, content: bytes | None, message: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert main(["check", str(path), "--format", "json"]) == (3 if name == "changed.json" else 2)
    printed = capsys.readouterr()
    told = json.loads(printed.out)["error"]
    assert " ".join(told["message"].split()) in " ".join(printed.err.split())
    assert told["place"] is None or f"{path}:{told['place']['line']}:{told['place']['column']}: error: " in printed.err
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


ERRATUM_1 = """kernel k
metric sectors
block 32
param int p;
global int A[];
begin
  { true; 0; {} }
  if [Q:If4] (p >= 2) {
    { p >= 2; 0; {} }
    skip;
    { p >= 2; |[p, 2]|; {} }
  } else {
    if [Q:If1] (p < 2) {
      { p < 2; |[p, 2]|; {} }
      A[0] <- 1;
    } else {
      { true; |[p, 2]|; {} }
      skip;
    }
  }
end
"""


def test_erratum_1_as_an_outline(tmp_path: Path, capsys: Capture) -> None:
    """The branch that no lane takes pays for the other: the print accepts it, a run shows it false, we refuse it."""
    path = tmp_path / "erratum1.qhl"
    path.write_text(ERRATUM_1)
    code, result = checked(path, capsys, "--rules", "paper")
    assert (code, result["verdict"], result["rules"]) == (3, "accepted", "paper")  # whatever --accept has
    assert checked(path, capsys, "--rules", "paper", "--accept", "on-trial")[0] == 3
    (warning,) = result["warnings"]
    assert warning.startswith("what these rules accept is false: with block 32x1x1")
    assert warning.endswith("a warp costs 1 sector, 0 is claimed")
    code, result = checked(path, capsys)
    assert (code, result["verdict"], result["error"]["run"]["actual"]) == (1, "rejected", 1)
    assert result["error"]["advice"] == "Adding max(0, 2 - p) to the potential in line 7 would do."


def test_what_the_print_accepts_says_so(capsys: Capture) -> None:
    outline = OUTLINE.parents[1] / "vectorAdd/sectors.qhl"
    assert checked(outline, capsys, "--rules", "paper")[0] == 1
    assert main(["check", str(outline), "--rules", "paper", "--format", "sarif"]) == 1
    assert '"ruleId": "on-trial"' in capsys.readouterr().out
    assert main(["check", str(outline), "--rules", "paper", "--accept", "on-trial"]) == 0
    assert capsys.readouterr().out.startswith(
        "accepted under the rule set 'paper', which certifies nothing: {true; 12;"
    )


def test_a_derivation_from_nothing_proves_nothing(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, ("local int i, j;\n", "local int i, j;\nrequires w < 0 && w > 3;\n"))
    code, result = checked(path, capsys)
    assert (code, result["verdict"], result["judgement"], result["claim"]) == (1, "vacuous", None, None)
    assert result["error"]["reason"] == VACUOUS
    assert main(["check", str(path)]) == 1
    assert capsys.readouterr().out.startswith(f"vacuous: {path}:5:8: {VACUOUS}\n")
    assert checked(OUTLINE, capsys)[1]["warnings"] == []


def test_an_assumption_that_nothing_needs_is_named(tmp_path: Path, capsys: Capture) -> None:
    """Both alone and all together; one that the bound needs is not."""
    facts = "requires w > 3;\nrequires w > 2 && h < 9;\nrequires w % 8 == 0;\n"
    path = written(
        tmp_path,
        ("local int i, j;\n", f"local int i, j;\n{facts}"),
        ("4 + 10*|[0, h + 1]|", "4 + 8*|[0, h + 1]|"),
        (HEAD, HEAD.replace("10*", "8*")),
        ("20 + 10*|[j, h - 1]|", "16 + 8*|[j, h - 1]|"),
        ("10 + 10*|[j, h - 1]|", "8 + 8*|[j, h - 1]|"),
        ("{ j < h; 10*|[j, h - 1]|; {j} }", "{ j < h; 8*|[j, h - 1]|; {j} }"),
        ("10*|[0, h + 1]|; {} }\n  j", "8*|[0, h + 1]|; {} }\n  j"),
    )
    code, result = checked(path, capsys)
    assert (code, result["verdict"]) == (0, "accepted")
    assert result["warnings"] == [
        f"the assumption {fact} is not needed for this bound" for fact in ("h < 9", "w > 2", "w > 3")
    ]


CU = """//@ metric sectors;
//@ launch block = 32;
//@ requires n > 3;
__global__ void k(int *A, int n) {
  //@ potential Q;
  for (int i = 0; i < n; i++) A[32 * i + threadIdx.x] = 1;
}
"""


def test_an_annotated_source_whose_bound_is_false_comes_with_a_run(tmp_path: Path, capsys: Capture) -> None:
    """The command that is printed repeats it."""
    path = tmp_path / "k.cu"
    path.write_text(CU.replace("potential Q", "potential 4*|[0, n - 1]|"))
    code, result = checked(path, capsys)
    run = result["error"]["run"]
    assert (code, result["verdict"], run["claimed"]) == (1, "rejected", 4 * run["params"]["n"] - 4)
    assert run["actual"] == 4 * run["params"]["n"] > 12
    command = shlex.split(run["command"])
    assert command[0] == "warpbound"
    assert main([*command[1:], "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["max_per_warp"] == {"sectors": run["actual"]}
    assert result["error"]["advice"] == "The potential 4*max(0, n) in line 5 would do."
    path.write_text(CU.replace("potential Q", "potential 4*|[0, n]|"))
    assert checked(path, capsys)[1]["warnings"] == ["the assumption n > 3 is not needed for this bound"]


def test_an_annotated_source_is_read_as_the_options_say(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two kernels, with a macro; the command that repeats a run has them too. A pause of a second hides none."""
    monkeypatch.setattr(whole, "time", SimpleNamespace(thread_time=count(step=2).__next__))
    path = tmp_path / "k.cu"
    other = "\n__global__ void other(int *A) { A[0] = 1; }\n"
    path.write_text(CU.replace("potential Q", "potential 4*|[0, n]|").replace("32 * i", "STRIDE * i") + other)
    given = ("--kernel", "k", "-D", "STRIDE=32")
    code, result = checked(path, capsys, *given)
    assert (code, result["verdict"]) == (0, "accepted")
    path.write_text(path.read_text().replace("4*|", "3*|"))
    code, result = checked(path, capsys, *given)
    assert (code, result["verdict"]) == (1, "rejected")
    command = shlex.split(result["error"]["run"]["command"])
    assert main([*command[1:], "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["max_per_warp"]["sectors"] == result["error"]["run"]["actual"]
    assert main(["check", str(path)]) == 2
    assert "Use --kernel NAME." in capsys.readouterr().err
    assert main(["check", str(OUTLINE), "--kernel", "k"]) == 2
    assert "is no .cu file: leave them out." in capsys.readouterr().err


def test_the_queries_are_written(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "new" / "queries"
    assert checked(OUTLINE, capsys, "--queries", str(folder))[0] == 0
    rows = json.loads((folder / "index.json").read_text())
    asked = [q for row in rows for q in row["queries"]]
    assert {row["verdict"] for row in rows} == {"proved", "refuted"}
    assert {"Entails", "AtLeast", "Uniform", "AtMost"} == {row["kind"] for row in rows}
    assert sorted({q["file"] for q in asked}) == sorted(p.name for p in folder.glob("*.smt2"))
    for q in asked:
        assert q["digest"] == f"sha256:{hashlib.sha256((folder / q['file']).read_bytes()).hexdigest()}"
        assert re.fullmatch(r"(z3|cvc5) [\d.]+", q["engine"])
        assert q["answer"] in ("sat", "unsat", "unknown")
        assert 0 <= q["seconds"] < 10
        assert 0 < q["limit"] <= 2
    assert any("(check-sat)" in p.read_text() for p in folder.glob("*.smt2"))
    assert main(["check", str(OUTLINE), "--queries", str(OUTLINE)]) == 2
    assert "--queries" in capsys.readouterr().err
