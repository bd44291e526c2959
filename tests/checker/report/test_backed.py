"""What a solver-backed claim rests on, in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main
from checker.kernel import Discharged, Ledger
from checker.notation import parse_potential
from checker.recheck import Open, Report
from checker.report.backed import as_text, backed
from checker.synthesis.bound import find_bounds
from logic.assertions import AtLeast, AtMost, Context, Entails, Launch, Obligation, Proved, Uniform
from logic.metrics import HARDWARE, METRICS
from logic.source import Loc
from logic.syntax import Const, Op, Param, Tid, Var
from tests.checker.cli.test_verdicts import ONLY_Z3
from tests.logic.rules.applications import SIGMA

Capture = pytest.CaptureFixture[str]

X, N, T = Var("x"), Param("n"), Tid("x")
KNOWN = (Op("==", (X, Op("min", (T, N)))), Op("<", (N, Const(9))))
CONTEXT = Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))


def told(
    o: Obligation, said: str = "", engine: str = "z3 5", loc: Loc | None = None, context: Context = CONTEXT
) -> str:
    """The lines about one side condition, without what stands before and after."""
    ledger = Ledger([Discharged(o, Proved(engine), "Q:Weak", loc, 0.0)])
    first, *lines, last = as_text(
        backed(Report("solver-backed", "", [said], "", "", (Open(0, None, "true", said),)), ledger, context)
    )
    assert first == "The second checker did not verify 1 fact, which the bound rests on:"
    assert last == "--accept solver-backed takes that word for enough."
    return "\n".join(line.strip() for line in "\n".join(lines).split("\n"))


def test_an_access() -> None:
    found = told(AtMost("MemReads", KNOWN, frozenset(), "A", X, 4), engine="lanes", loc=Loc("", 3, 7))
    assert found.splitlines() == [
        "line 3, column 7 of the source: A[x] touches at most 4 sectors in a warp",
        "by the word of the kernel's own search (lanes), which the second checker does not follow here",
        "known there: x == min(tid.x, n)",
        "An index without 'min' of what differs between threads is seen through: clamp or wrap what they",
        "share.",
    ]
    assert "S[x] has at most 1 bank conflict in a warp" in told(AtMost("Conflicts", (), frozenset(), "S", X, 1))
    plain = told(AtMost("MemReads", (), frozenset(), "A", X, 4))
    assert "An index that is threadIdx times a number, plus what all threads of a warp have," in plain


def test_a_fact_about_parameters_is_assumed_by_an_option() -> None:
    assert 'assume it:\n--assume "n < 9"' in told(Entails((), (KNOWN[1],)))
    assert "--assume" not in told(Entails((), (KNOWN[0],)), loc=Loc("k.cu", 1, 1))
    assert "say so before this place:\n//@ assume x == " in told(Entails((), (KNOWN[0],)), loc=Loc("k.cu", 1, 1))
    assert "say so before this place: assume x == " in told(Entails((), (KNOWN[0],)), loc=Loc("k.qhl", 1, 1))


def test_only_the_goal_that_is_open_is_told() -> None:
    both = Entails((), (Op("<", (X, Const(7))), Op("<", (X, Const(8)))))
    assert told(both, "x < 8").startswith("x < 8\n")


def test_what_ghosts_say_is_no_advice() -> None:
    found = told(Entails((Op("<", (Var("ghost:x"), X)),), (Op("<", (Var("ghost:x"), X)),)))
    assert ("assume" in found, "known" in found) == (False, False)


def test_what_no_source_can_say_is_no_advice() -> None:
    """The number of a warp has no name in a source; and what has no place has no place before it."""
    warp, loc = Op("<", (Param("warp.index"), N)), Loc("k.cu", 1, 1)
    assert "assume" not in told(Entails((), (warp,)), loc=loc)
    assert "assume" not in told(Entails((), (Op("<", (X, Param("warp.index"))),)), loc=loc)
    assert "assume" not in told(Entails((), (KNOWN[0],)))


def test_potentials_and_uniform_values() -> None:
    q, r = (parse_potential(text, SIGMA, "q") for text in ("n*n", "n"))
    assert 'assume it:\n--assume "0 - n + n * n >= 0"' in told(AtLeast((), frozenset(), q, r))
    assert told(Uniform((), frozenset(), X)).startswith("x is the same in all threads of a warp that come here")


def test_blocks_of_any_size_are_blamed() -> None:
    any_ = Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch())
    o = Uniform((), frozenset(), X)
    assert ("Say --block" in told(o, context=any_), "Say --block" in told(o)) == (True, False)


def test_the_line_is_shown_and_the_advice_works(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "checker.synthesis.bound.find_bounds", lambda *a, **more: find_bounds(*a, **more | {"backed": True})
    )
    source = tmp_path / "k.cu"
    source.write_text(ONLY_Z3)
    words = ["bound", str(source), "--block=32", "--metric=divwarps"]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert (
        f"\n    {source}:4:5: q % 6 == 0\n            if (q % 6 == 0) A[t] = 1; else A[0] = 2;\n            ^\n" in out
    )
    assert "by the word of the solver z3" in out
    assert "known there: q == 6 * tid.x + ((t & 3) == 2 || " in out
    assert "--accept solver-backed takes that word for enough." in out
    advised = "//@ assume q % 6 == 0;"
    assert advised in out
    assert main([*words, "--format=json"]) == 1
    ((row,),) = (json.loads(capsys.readouterr().out)["results"],)
    (fact,) = row["backed"]
    assert (fact["fact"], fact["place"]["line"], fact["place"]["column"]) == ("q % 6 == 0", 4, 5)
    source.write_text(ONLY_Z3.replace("    if", f"    {advised}\n    if"))
    assert main(words) == 0


def test_check_says_it_too(tmp_path: Path, capsys: Capture) -> None:
    source = tmp_path / "k.cu"
    source.write_text("//@ metric divwarps;\n//@ launch block = 32;\n" + ONLY_Z3)
    assert main(["check", str(source)]) == 1
    out = capsys.readouterr().out
    assert f"{source}:6:5: q % 6 == 0\n" in out
    assert "--accept solver-backed takes that word for enough." in out
