"""The command itself: versions, help, and no traceback whatever is typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checker.cli import VERSION, main
from logic.source import SourceError

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
KERNEL = str(PROOFS / "vectorAdd/kernel.cu")
OUTLINE = str(PROOFS / "addSub3/sectors.qhl")
NOTHING = str(PROOFS.parent / "docs/img")
Capture = pytest.CaptureFixture[str]


def typed(*words: str) -> int:
    """The exit code, also where argparse leaves on its own."""
    try:
        return main(list(words))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else -1


NASTY = [
    [],
    [""],
    ["--"],
    ["--bogus"],
    ["bogus"],
    ["bound"],
    ["bound", ""],
    ["bound", "/"],
    ["bound", "/dev/null"],
    ["bound", "no such file.cu"],
    ["bound", "a\0b.cu"],
    ["bound", "x" * 5000],
    ["bound", OUTLINE],
    ["bound", KERNEL, "no such folder"],
    ["bound", KERNEL, "--kernel", "nobody"],
    ["bound", KERNEL, "--kernel", ""],
    ["bound", KERNEL, "--metric", "joules"],
    ["bound", KERNEL, "--metric"],
    ["bound", KERNEL, "--hardware", "amd"],
    ["bound", KERNEL, "--block", "0"],
    ["bound", KERNEL, "--block", "-32"],
    ["bound", KERNEL, "--block", "32,"],
    ["bound", KERNEL, "--block", "1,2,3,4"],
    ["bound", KERNEL, "--block", "1025"],
    ["bound", KERNEL, "--block", "1e3"],
    ["bound", KERNEL, "--block", "\u0663\u0662"],
    ["bound", KERNEL, "--grid", "0"],
    ["bound", KERNEL, "--assume", "numElements"],
    ["bound", KERNEL, "--assume", "i > 0"],
    ["bound", KERNEL, "--assume", "threadIdx.x == 0"],
    ["bound", KERNEL, "--assume", "A[0] == 0"],
    ["bound", KERNEL, "--assume", "("],
    ["bound", KERNEL, "--assume", ""],
    ["bound", KERNEL, "--assume", "0 == 1"],
    ["bound", KERNEL, "--at", "numElements"],
    ["bound", KERNEL, "--at", "n=1"],
    ["bound", KERNEL, "--at", "numElements=1,numElements=2"],
    ["bound", KERNEL, "--at", "numElements=1.5"],
    ["bound", KERNEL, "--at", "numElements=" + "9" * 5000],
    ["bound", KERNEL, "--at", "numElements=\u0663"],
    ["bound", KERNEL, "--per", "lane"],
    ["bound", KERNEL, "--scope", "grid"],
    ["bound", KERNEL, "--format", "yaml"],
    ["bound", KERNEL, "--std", "klingon"],
    ["bound", KERNEL, "-D", "="],
    ["bound", KERNEL, "--instantiate", "k<"],
    ["bound", KERNEL, "--metric", "sectors", "-o", "/no/such/dir/out"],
    ["bound", KERNEL, "--metric", "sectors", "-o", "/"],
    ["bound", KERNEL, "--metric", "sectors", "--certificate", "/no/such/dir/c.json"],
    ["bound", KERNEL, "--certificate", "/tmp/never-written.json"],  # noqa: S108 one metric has to be named
    ["check", ""],
    ["check", NOTHING],
    ["check", "no.qhl"],
    ["check", KERNEL, "--rules", "none"],
    ["check", OUTLINE, "--rules", ""],
    ["check", "\udcff.json"],
    ["check", "a\0b.json"],
    ["rules", "If5"],
    ["rules", ""],
    ["rules", "--set", "best"],
    ["rules", "-o", "/no/such/dir/out"],
    ["recheck", "no.json"],
    ["recheck", "/"],
    ["run", KERNEL, "--arg", "n"],
    ["run", KERNEL, "--block", "32", "--arg", "w=18446744073709551616", "--arg", "h=1"],
    ["bound", KERNEL, "--metric", "sectors", "--certificate", "/no/such/dir/c.json"],
    ["bound", KERNEL, "--metric", "sectors", "-o", "/"],
]


@pytest.mark.parametrize("words", NASTY, ids=lambda w: " ".join(w)[:40] or "nothing")
def test_unusable_input_is_one_message_and_exit_code_2(words: list[str], capsys: Capture) -> None:
    assert typed(*words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    assert "error: " in printed.err
    assert len(printed.err) < 3000 + 2 * len(" ".join(words))


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--format", "json", "--block", "x"], {"message": "--block x: not a dimension", "place": None}),
        (["--format=json", "--block"], {"message": "argument --block: expected one argument", "place": None}),
    ],
)
def test_unusable_input_as_json(words: list[str], error: dict[str, Any], capsys: Capture) -> None:
    """One object on standard output, whatever happens."""
    assert typed("bound", KERNEL, *words) == 2
    printed = capsys.readouterr()
    assert {key: value for key, value in json.loads(printed.out)["error"].items() if key in error} == error
    assert error["message"] in printed.err


def test_version_and_help(capsys: Capture) -> None:
    assert typed("--version") == 0
    assert capsys.readouterr().out == f"warpbound {VERSION}\n"
    for words in (["--help"], *([c, "--help"] for c in ("bound", "check", "recheck", "rules", "run"))):
        assert typed(*words) == 0
        assert "usage: warpbound" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("problem", "code", "text"),
    [
        (SourceError("something", None, "do this"), 2, "error: something"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (RecursionError(), 2, "too large or too deeply nested"),
        (MemoryError(), 2, "too large or too deeply nested"),
    ],
)
@pytest.mark.usefixtures("grammar_anew")
def test_what_stops_a_command(
    problem: BaseException, code: int, text: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def stop(_: object) -> int:
        raise problem

    monkeypatch.setattr("checker.cli.rules.run", stop)
    assert main(["rules"]) == code
    assert text in capsys.readouterr().err


def test_a_reader_that_goes_away() -> None:
    """`warpbound rules | true`"""
    program = "import sys; from checker.cli import main; sys.exit(main(['rules']))"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=PROOFS.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode in (0, 2)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a device of Linux")
@pytest.mark.parametrize(
    ("words", "closed", "why"),
    [
        (["rules"], False, "No space left on device"),
        (["rules", "--format", "json"], False, "No space left on device"),
        (["--version"], False, "No space left on device"),
        (["rules"], True, "it is closed"),
        (["rules", "--format", "json"], True, "it is closed"),
    ],
)
def test_standard_output_that_cannot_be_written(words: list[str], closed: bool, why: str) -> None:
    """`warpbound rules > /dev/full` and `warpbound rules >&-`"""
    end = ">&-" if closed else "> /dev/full"
    program = "import sys; from checker.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {end}', "sh", sys.executable, "-c", program, *words],  # noqa: S607
        cwd=PROOFS.parent,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    first, *_ = done.stderr.splitlines()
    assert (done.returncode, first) == (2, f"warpbound: error: cannot write to standard output: {why}")
    assert "Traceback" not in done.stderr
    assert "fault" not in done.stderr


@pytest.mark.parametrize(("words", "code"), [(["rules", "If4"], 0), (["rules", "If5"], 2)])
def test_standard_error_that_is_closed(words: list[str], code: int) -> None:
    program = "import sys; from checker.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", program, *words],  # noqa: S607
        cwd=PROOFS.parent,
        stdout=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, bool(done.stdout)) == (code, code == 0)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("bound k.cu --metric sectors -o k.cu", "-o k.cu: that would overwrite what is read"),
        ("bound k.cu --metric sectors --certificate ./k.cu", "--certificate ./k.cu: that would overwrite what is read"),
        ("bound k.cu --metric sectors --certificate link", "--certificate link: that would overwrite what is read"),
        ("bound k.cu --metric m.toml -o m.toml", "-o m.toml: that would overwrite what is read"),
        ("bound k.cu --metric sectors -o x --certificate x", "--certificate x: -o writes to the same file"),
        ("bound k.cu --metric sectors --queries q -o q/index.json", "--queries q: -o writes to the same file"),
        ("bound k.cu --metric sectors --queries k.cu", "--queries k.cu: Not a directory"),
        ("check q/index.json --queries q", "--queries q: that would overwrite what is read"),
        ("run k.cu --array A=@a.npy -o a.npy", "-o a.npy: that would overwrite what is read"),
        ("recheck a.json b.json -o b.json", "-o b.json: that would overwrite what is read"),
        ("report a.json --compare b.json -o b.json", "-o b.json: that would overwrite what is read"),
        ("report a.json --source k.cu -o k.cu", "-o k.cu: that would overwrite what is read"),
        ("trial own.py -o own.py", "-o own.py: that would overwrite what is read"),
    ],
)
def test_nothing_overwrites_what_it_reads_or_writes(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q").mkdir()
    names = ("k.cu", "m.toml", "a.npy", "a.json", "b.json", "own.py", "q/index.json")
    for name in names:
        Path(name).write_text(name)
    Path("link").symlink_to("k.cu")
    assert typed(*words.split()) == 2
    assert f"error: {told}\n" in capsys.readouterr().err
    assert [Path(name).read_text() for name in names] == list(names)


def test_what_is_no_file_may_be_written_twice_and_a_name_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["--metric", "sectors", "--assume", "numElements >= 0"]
    assert typed("bound", KERNEL, *given, "-o", "/dev/null", "--certificate", "/dev/null") == 0
    Path("sectors").touch()
    assert typed("bound", KERNEL, *given, "-o", "sectors") == 0
    assert "certified" in Path("sectors").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["bound", KERNEL, "--metric=sectors", "--assume=false"],
            "vacuous: no launch satisfies what is assumed: false",
        ),
        (
            ["bound", KERNEL, "--assume=false", "--at=numElements=1"],
            "vacuous: no launch satisfies what is assumed: false",
        ),
        (["wcet", KERNEL, "--block=32", "--assume=false"], "vacuous: no launch satisfies what is assumed: false"),
        (
            ["predict", KERNEL, "--device=gtx280", "--block=32", "--grid=1", "--assume=false"],
            "vacuous: no launch satisfies what is assumed: false",
        ),
        (
            ["bound", KERNEL, "--at=numElements=1", "--at", "numElements=2"],
            "--at numElements=2: 'numElements' is given twice",
        ),
        (["report", "c.json", "--at=n=1", "--at=n=2"], "--at n=2: 'n' is given twice"),
        (["wcet", KERNEL, "--at=n=1", "--at=n=2"], "--at n=2: 'n' is given twice"),
        (["predict", KERNEL, "--device=gtx280", "--at=n=1", "--at=n=2"], "--at n=2: 'n' is given twice"),
    ],
)
def test_points_and_assumptions_that_cannot_be(words: list[str], told: str, capsys: Capture) -> None:
    assert typed(*words) == 2
    assert f"error: {told}\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told", "advice"),
    [
        (["bound", KERNEL, "--block=" + "9" * 20], f"--block {'9' * 20}: not a dimension", "each from 1 to 1024: "),
        (["bound", KERNEL, "--grid=" + "9" * 20], f"--grid {'9' * 20}: not a dimension", "from 1 to 2147483647: "),
        (["bound", KERNEL, "-Inodir"], "-I nodir: No such file or directory", "Choose another folder."),
        (["run", KERNEL, f"-I{KERNEL}"], f"-I {KERNEL}: Not a directory", "Choose another folder."),
        (["rules", "if4"], "no rule is called 'if4'", "Is it Q:If4?"),
        (["rules", "Q:Whle1"], "no rule is called 'Q:Whle1'", "Is it Q:While1"),
        (["rules", "nothing"], "no rule is called 'nothing'", "Known: OQ:Var, "),
        (["rules", "--set", "gone.py"], "cannot read 'gone.py': No such file or directory", ""),
    ],
)
def test_what_would_do_instead(words: list[str], told: str, advice: str, capsys: Capture) -> None:
    assert typed(*words) == 2
    printed = capsys.readouterr().err
    assert f"error: {told}\n" in printed
    assert advice in printed


def test_one_of_a_kind_and_json_in_lines(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text("//@ launch block = 32;\n//@ metric conflicts;\n__global__ void k() {\n    //@ potential 1;\n}\n")
    assert typed("run", str(path)) == 0
    assert ", 1 warp, " in capsys.readouterr().out
    assert typed("check", str(path)) == 0
    assert capsys.readouterr().out.startswith("accepted: every warp of k costs at most 1 conflict\n")
    for command in ("run", "machine", "wcet"):
        assert typed(command, str(path), "--format", "json") == 0
        assert capsys.readouterr().out.startswith('{\n  "')


def test_points_add_up(capsys: Capture) -> None:
    """What a grid costs is known where the first option counts, too."""
    words = ["bound", KERNEL, "--metric=sectors", "--per=grid", "--block=32", "--format=json"]
    values = []
    for at in (["--at", "gridDim.x=2", "--at", "numElements=64"], ["--at", "numElements=64,gridDim.x=2"]):
        assert typed(*words, *at) == 0
        (row,) = json.loads(capsys.readouterr().out)["results"]
        values.append(row["value"])
    assert values == [24, 24]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["bond", "k.cu"], "'bound'"),
        (["bound", "k.cu", "--metrc", "sectors"], "'--metric'"),
        (["bound", "k.cu", "--blok=32"], "'--block'"),
        (["bound", "k.cu", "--format", "jsn"], "'json'"),
        (["bound", KERNEL, "--metric", "sector"], "'sectors'"),
        (["bound", KERNEL, "--hardware", "nvida"], "'nvidia'"),
        (["bound", "k.cu", "--qqqq"], ""),
        (["trial", "sound", "--cases", "10"], "'--examples'"),
        (["trial", "sond"], "'sound'"),
        (["trial", "sound", "--cas", "10"], "'--case'"),
        (["trial", "sound", "--mutant"], "'--mutants'"),
        (["trial", "sound", "--mutan=5"], ""),
        (["bound", "k.cu", "--jobss", "x"], ""),
        (["diff", "HEAD~1", "HEAD", "src"], "'--path'"),
        (["diff", "HEAD~1", "HEAD", "-x"], ""),
        (["suite", "addSub3"], "'--kernel'"),
    ],
)
def test_what_was_probably_meant(words: list[str], meant: str, capsys: Capture) -> None:
    """The sentence comes first, and what was meant after it: no page of usage stands before them."""
    assert typed(*words) == 2
    first, second, *more = capsys.readouterr().err.splitlines()
    assert ": error: " in first
    assert second.startswith(f"  Did you mean {meant}? " if meant else f"  warpbound {words[0]} --help tells more.")
    assert len(more) <= 1


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ([], "warpbound [OPTIONS] COMMAND ..."),
        (["bound"], "warpbound bound [OPTIONS] PATH [PATH ...]"),
        (["bound", "k.cu", "--metric"], "warpbound bound [OPTIONS] [--metric NAME|all|FILE.toml] PATH [PATH ...]"),
        (["bound", "k.cu", "--per", "x"], "warpbound bound [OPTIONS] [--per {warp,block,grid}] PATH [PATH ...]"),
        (["bound", "k.cu", "--blok=32"], "warpbound bound [OPTIONS] [--block X[,Y[,Z]]] PATH [PATH ...]"),
        (["predict"], "warpbound predict [OPTIONS] --device NAME|FILE.toml FILE.cu [FILE.cu ...]"),
        (["diff", "a"], "warpbound diff [OPTIONS] OLD NEW"),
        (["trial", "sound", "--cas", "10"], "warpbound trial [OPTIONS] [--case K] RULES"),
    ],
)
def test_the_usage_of_the_subcommand(words: list[str], usage: str, capsys: Capture) -> None:
    """In one line: what has to be given, and the option that the problem is about."""
    assert typed(*words) == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert last == f"  usage: {usage}"


def test_a_kernel_that_was_probably_meant(tmp_path: Path, capsys: Capture) -> None:
    source = tmp_path / "two.cu"
    source.write_text("__global__ void scale(int *A) {}\n__global__ void rows(int *A) {}\n")
    assert typed("bound", str(source), "--kernel", "scales") == 2
    assert "  Did you mean 'scale'? There are scale, rows.\n" in capsys.readouterr().err
