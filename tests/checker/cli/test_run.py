"""`warpbound run`: options, output and exit codes. The reader of CUDA is replaced."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.cli import run as command
from checker.cli.options import emit, parse_bindings, parse_dim, parse_metrics
from checker.notation.problem import OptionProblem
from checker.notation.words import number
from logic.metrics import METRICS
from logic.source import Loc, SourceError
from logic.syntax import (
    BOOL,
    FLOAT,
    INT,
    TRUE,
    Const,
    Decl,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Stmt,
    Sync,
    Tid,
    While,
    Write,
)
from semantics.cuda import Reading
from semantics.cuda.ranges import Types
from tests.checker.cli.test_data import ARRAYS

TID = Tid("x")
COPY = Write("G", TID, Op("+", (Read("H", TID), Param("n"))))
Run = Callable[..., int]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the subcommand on a kernel made by hand, with the size of a block that its file would give."""

    def go(body: Stmt, *words: str, block: tuple[int, int, int] | None = None) -> int:
        params = (Decl("n", INT), Decl("f", FLOAT), Decl("b", BOOL))
        kernel = Kernel("k", params, tuple(ARRAYS.values()), (), body, Loc("k.cu", 1, 1))
        reading = Reading(kernel, block, None, ("a note",), (), body, Types({}, {}))
        monkeypatch.setattr("semantics.cuda.read_cuda", lambda *_, **__: reading, raising=False)
        monkeypatch.setattr("checker.cli.options.source_text", lambda _: "")
        parser = argparse.ArgumentParser()
        command.add(parser.add_subparsers())
        args = parser.parse_args(["run", "k.cu", *words])
        code: int = args.func(args)
        return code

    return go


ARGS = ("--arg", "n=3", "--arg", "f=0.5", "--arg", "b=true")


def test_json(cli: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(COPY, "--block", "32", "--grid", "2", *ARGS, "--format", "json") == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert result.pop("seconds") >= 0
    per_warp = {"sectors": 8, "conflicts": 0, "divwarps": 0, "steps": 1 + (1 + 4) + 1 + 1 + 4}
    assert list(result["totals"]) == list(result["max_per_warp"]) == list(METRICS)
    assert {m: result["max_per_warp"][m] for m in per_warp} == per_warp
    assert {m: result["totals"][m] for m in per_warp} == {m: 2 * n for m, n in per_warp.items()}
    assert {key: value for key, value in result.items() if key not in ("totals", "max_per_warp")} == {
        "version": 1,
        "kernel": "k",
        "work": None,
        "span": None,
        "engine": "fast",
        "zeros": ["H"],
    }
    assert printed.err == "note: a note\n"


def test_text(cli: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(COPY, *ARGS, "--grid", "2,3", "--metric", "sectors", block=(40, 1, 1)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("k: 2x3x1 blocks of 40x1x1 threads, 12 warps, ")
    assert lines[2:4] == ["  metric   total  most of a warp", "  sectors     60               8"]
    assert "Assumed: no --array for H, so zeros there, arrays start at multiples of 256 bytes" in lines[-1]


def test_a_file_takes_the_output(cli: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.json"
    assert cli(Skip(), *ARGS, "--block", "1", "--format", "json", "-o", str(target)) == 0
    assert json.loads(target.read_text())["totals"]["steps"] == 0
    assert capsys.readouterr().out == ""
    with pytest.raises(OptionProblem, match=r"-o .*nowhere"):
        emit("x", str(tmp_path / "nowhere" / "out.json"))


def test_accesses_out_of_bounds_are_warned_of(cli: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(COPY, *ARGS, "--block", "4", "--array", "H=zeros:2") == 1
    expected = "k.cu: warning: out of bounds: load of H[2] by thread (2,0,0) of block (0,0,0), but 'H' has 2 elements"
    assert expected in capsys.readouterr().err


def test_barrier_divergence_exits_with_3_and_both_places(cli: Run, capsys: pytest.CaptureFixture[str]) -> None:
    body = If(Op("<", (TID, Const(16))), Sync(Loc("k.cu", 4, 7)), Skip(), Loc("k.cu", 3, 5))
    assert cli(body, *ARGS, "--block", "32", "--format", "json") == 3
    printed = capsys.readouterr()
    error = json.loads(printed.out)["error"]
    assert [(p["line"], p["column"]) for p in error["places"]] == [(4, 7), (3, 5)]
    assert error["block"] == [0, 0, 0]
    assert "k.cu:4:7" in printed.err
    assert "k.cu:3:5" in printed.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--block", "32", "--step-limit", "0"), "--step-limit 0"),
        ((), "the size of a block is not known"),
        (("--block", "0"), "--block 0: not a dimension"),
        (("--block=-32",), "--block -32: not a dimension"),
        (("--block", "32", "--grid", "2,2,2,2"), "--grid 2,2,2,2: not a dimension"),
        (("--block", "1025"), "the block's x is 1025"),
        (("--block", "32", "--metric", "watts"), "--metric watts: no such metric"),
        (("--block", "32", "--hardware", "abacus"), "--hardware abacus: no such model"),
        (("--block", "32", "--arg", "m=1"), "no parameter 'm'"),
        (("--block", "32", "--arg", "n=4"), "'n' is given twice"),
        (("--block", "32", "--arg", "n"), "--arg n: not NAME=VALUE"),
        (("--block", "32", "--array", "Z=ones"), "no global array 'Z'"),
    ],
)
def test_unusable_options(cli: Run, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        cli(COPY, *ARGS, *words)


def test_the_size_of_a_warp_costs_what_it_does_in_bounds(
    cli: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is a number there (`Reading.under`), and a metric may charge parameters more."""
    (metric := tmp_path / "sizes.toml").write_text('name = "sizes"\nparam = 5\n', encoding="utf-8")
    code = cli(Write("G", TID, Param("warpSize")), "--block", "32", *ARGS, "--metric", str(metric), "--format", "json")
    assert (code, json.loads(capsys.readouterr().out)["totals"]) == (0, {"sizes": 0})


def test_a_missing_parameter(cli: Run) -> None:
    with pytest.raises(SourceError, match="parameter 'n' has no value"):
        cli(COPY, "--block", "32")


def test_the_step_limit(cli: Run) -> None:
    with pytest.raises(SourceError, match="did not end within 99 steps"):
        cli(While(TRUE, Skip()), *ARGS, "--block", "1", "--step-limit", "99")


# --- shared options --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "dim"),
    [
        ("256", (256, 1, 1)),
        ("16,8", (16, 8, 1)),
        ("4,3,2", (4, 3, 2)),
        ("032", (32, 1, 1)),
        ("16x8", (16, 8, 1)),
        ("4 x 3 x 2", (4, 3, 2)),
    ],
)
def test_dimensions(text: str, dim: tuple[int, int, int]) -> None:
    assert parse_dim(text, "--block") == dim


@pytest.mark.parametrize(
    "text", ["", "x", "1,", "1,0", "1.5", "1 2", "+1", "²", "9" * 11, "16x", "x16", "16 8", "0x10"]
)
def test_texts_that_are_no_dimension(text: str) -> None:
    with pytest.raises(OptionProblem, match="not a dimension"):
        parse_dim(text, "--block")


def test_bindings() -> None:
    assert parse_bindings(["n = 1", "A=@x=y.npy"], "--arg") == {"n": "1", "A": "@x=y.npy"}


def test_metrics_by_name() -> None:
    assert [m.name for m in parse_metrics([])] == list(METRICS)
    assert [m.name for m in parse_metrics(["steps", "all"])] == [
        "steps",
        *(name for name in METRICS if name != "steps"),
    ]


def test_numbers_for_json() -> None:
    from fractions import Fraction

    assert [number(Fraction(6, 2)), number(Fraction(1, 3))] == [3, "1/3"]
