"""A command as a process: what is on standard output, and what Ctrl-C does."""

from __future__ import annotations

import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from argparse import Namespace
from contextlib import suppress
from pathlib import Path

import pytest

import checker.testbed.workers as testbed_workers
from checker.cli import VERSION, main, process, progress, rules
from logic.metrics import METRICS
from tests.load import patience, until
from tests.mutants import hostile

ROOT = Path(__file__).resolve().parents[3]
KERNEL = "proofs/vectorAdd/kernel.cu"

AS_COMMAND = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test in the background would ignore it
from checker.cli import main
"""


def program(*words: str, before: str = "") -> list[str]:
    """A command line in a process of its own, after some Python."""
    start = f"sys.argv = ['warpbound', *{list(words)!r}]\nsys.exit(main())"
    return [sys.executable, "-c", f"{AS_COMMAND}\n{before}\n{start}"]


# --- standard output --------------------------------------------------------------------------------------------------

LOUD = """
import ctypes
from checker.cli import rules
quiet = rules.run
def run(args):
    os.write(1, b"a banner, by descriptor\\n")
    ctypes.CDLL(None).puts(b"a banner, from C")
    print("a banner, from Python")
    os.system("echo a banner, from a child")
    return quiet(args)
rules.run = run
"""


def test_nothing_but_the_document_is_on_standard_output() -> None:
    """A library that prints where it likes, in C and in Python, and one that does when the process ends."""
    words = ("rules", "If4", "--format", "json")
    done = subprocess.run(program(*words, before=LOUD), cwd=ROOT, capture_output=True, text=True, check=True)
    assert [rule["name"] for rule in json.loads(done.stdout)] == ["Q:If4"]
    assert done.stderr.count("a banner") == 4


@pytest.mark.usefixtures("grammar_anew")
def test_in_a_process_of_others_the_document_is_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There standard output may be no file, and what a library prints in Python goes elsewhere all the same."""
    quiet = rules.run

    def loud(args: Namespace) -> int:
        print("a banner")
        return quiet(args)

    monkeypatch.setattr(rules, "run", loud)
    assert main(["rules", "If4", "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert [rule["name"] for rule in json.loads(printed.out)] == ["Q:If4"]
    assert printed.err == "a banner\n"


def test_solvers_print_nothing() -> None:
    """Whatever versions are installed: a bound that asks Z3 and HiGHS says nothing besides the document."""
    words = ("bound", "proofs/fan2/kernel.cu", "--metric", "sectors", "--block", "16,16", "--format", "json")
    done = subprocess.run(program(*words), cwd=ROOT, capture_output=True, text=True, check=True)
    assert [row["verdict"] for row in json.loads(done.stdout)["results"]] == ["certified"]
    assert done.stderr == ""


def test_where_standard_error_is_closed_the_document_is_still_alone() -> None:
    command = [*program("rules", "If4", "--format", "json", before=LOUD)]
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert [rule["name"] for rule in json.loads(done.stdout)] == ["Q:If4"]
    assert done.stderr == ""


def test_a_command_within_a_process_gives_standard_output_back() -> None:
    code = (
        f"{AS_COMMAND}\n{LOUD}\nmain(['rules', 'If4', '--format', 'json'])\nprint('mine')\nos.write(1, b'and mine\\n')"
    )
    done = subprocess.run([sys.executable, "-uc", code], cwd=ROOT, capture_output=True, text=True, check=True)
    document, _, rest = done.stdout.partition("\n]\n")
    assert json.loads(f"{document}]")[0]["name"] == "Q:If4"
    assert rest == "mine\nand mine\n"


def test_a_command_within_a_process_without_standard_error_gives_all_back() -> None:
    """Also the numbers of files that it opened."""
    files = "def files():\n    return sorted(os.listdir('/dev/fd'))[:-1]"
    code = f"{AS_COMMAND}\n{LOUD}\n{files}\nbefore = files()\nmain(['rules', 'If4', '--format', 'json'])\n"
    code += "print('mine')\nprint(set(files()) - set(before), set(before) - set(files()))"
    words = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-uc", code]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    document, _, rest = done.stdout.partition("\n]\n")
    assert json.loads(f"{document}]")[0]["name"] == "Q:If4"
    assert rest == "mine\nset() set()\n"
    closed = f"{AS_COMMAND}\nos.close(1)\nmain(['rules', 'If4'])\nprint('lost')"  # in standard output, closed, too
    subprocess.run([*words[:-1], closed], cwd=ROOT, check=True)


@pytest.mark.parametrize("words", [("--version",), ("--version", "bound"), ("bound", "--help")])
def test_help_and_version_are_documents(words: tuple[str, ...]) -> None:
    done = subprocess.run(program(*words), cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith((f"warpbound {VERSION}", "usage: warpbound bound"))
    assert done.stderr == ""


class Asked(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_standard_error_calls_a_file_by_its_other_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """And is what it is otherwise: a terminal, or closed."""
    stream = Asked()
    monkeypatch.setattr("sys.stderr", stream)
    with process.renamed("cut/x.cu", "k.cu"):
        assert sys.stderr.write("cut/x.cu:1: no\n") == len("k.cu:1: no\n")
        assert sys.stderr.isatty()
    assert sys.stderr is stream
    assert stream.getvalue() == "k.cu:1: no\n"
    monkeypatch.setattr("sys.stderr", None)
    with process.renamed("cut/x.cu", "k.cu"):
        assert sys.stderr is None


def test_as_a_module() -> None:
    """`python -m warpbound` is the command, and the package by itself imports nothing."""
    words = [sys.executable, "-m", "warpbound", "rules", "If4", "--format", "json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [rule["name"] for rule in json.loads(done.stdout)] == ["Q:If4"]
    wrong = subprocess.run([sys.executable, "-m", "warpbound", "bound"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("warpbound bound: error: the following arguments are required: PATH\n")
    light = "import sys, warpbound; print(sorted({'checker', 'logic', 'z3', 'numpy'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", light], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_end_of_a_process_says_nothing() -> None:
    """As Python ends, libclang's binding goes before what it would dispose of."""
    words = [sys.executable, "-m", "warpbound", "bound", KERNEL, "--metric", "sectors"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_judging_of_a_certificate_loads_no_front_end() -> None:
    """Neither that nor numpy is needed for it, and either takes as long as the judging does."""
    heavy = "{'numpy', 'clang', 'semantics.cuda', 'checker.testbed.applied', 'highspy'}"
    code = f"import sys; from checker.cli import main; main(sys.argv[1:]); print(sorted({heavy} & sys.modules.keys()))"
    words = ["check", str(ROOT / "proofs/vectorAdd/sectors.json"), "--format", "json"]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.rpartition("\n[")[0])["verdict"] == "accepted"
    assert done.stdout.endswith("\n[]\n")


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------

CUBES = "(= (+ (* a a a) (* b b b)) (+ 33 (* c c c c c)))"
HARD = f"(declare-const a Int)(declare-const b Int)(declare-const c Int)(assert (> a 9 b 2 c 1))(assert {CUBES})"

PHASES = {
    "Python": "ready()\nwhile True: pass",
    "an exception that is swallowed": """
ready()
while True:
    try:
        while True: pass
    except BaseException: pass
""",
    "a destructor that swallows it": """
class Slow:
    def __del__(self):
        ready()
        while True: pass
Slow()
while True: pass
""",
    "z3": f"""
from checker.oracles import smt
solver = smt._z3().Solver()
solver.set("timeout", 60000)
solver.from_string({HARD!r})
ready()
solver.check()
while True: pass
""",
    "cvc5": f"""
from checker.oracles import second
second.ask("(check-sat)", 9.0)
ready()
second.ask({HARD + "(check-sat)"!r}, 60.0)
while True: pass
""",
    "HiGHS": """
import highspy, numpy as np
from checker.oracles import lp as oracle
n, random = 1200, np.random.default_rng(0)
lp = highspy.HighsLp()
lp.num_col_ = lp.num_row_ = n
lp.col_cost_, lp.col_lower_, lp.col_upper_ = -random.random(n), np.zeros(n), np.full(n, 1e30)
lp.row_lower_, lp.row_upper_ = np.full(n, -1e30), random.random(n)
lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
lp.a_matrix_.start_ = np.arange(0, n * n + 1, n, dtype=np.int32)
lp.a_matrix_.index_, lp.a_matrix_.value_ = np.tile(np.arange(n, dtype=np.int32), n), random.random(n * n)
solver = oracle.silent()
solver.passModel(lp)
ready()
solver.run()
while True: pass
""",
    "workers": """
from checker.testbed.workers import Workers
with Workers(2) as pool:
    for i in pool.map(work, range(2)): pass
""",
    "workers that are spawned": """
from multiprocessing import get_context
from checker.testbed.workers import Workers
with Workers(2, get_context("spawn")) as pool:
    running = [pool.submit(time.sleep, 60) for _ in range(2)]
    ready()
    running[0].result()
""",
}

CONVERSION = """
import ctypes
class Converted:
    @classmethod
    def from_param(cls, value):
        ready()
        while True: pass
puts = ctypes.CDLL(None).puts
puts.argtypes = [Converted]
puts(1)
"""

WORK = """
import time
from checker.cli import rules
def ready():
    sys.stderr.write("ready\\n")
    sys.stderr.flush()
def work(i):
    ready()
    while True: pass
def run(args):
    exec(PHASE, globals())
rules.run = run
"""


def interrupted(command: list[str], everyone: bool, work: float | None = None, name: str = "warpbound") -> None:
    """Sends SIGINT to a command that is at work (to the process alone, or as a terminal does), and looks at its end. It
    says that it is ready, or has had so many seconds of a processor."""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        if work is None:
            assert process.stderr.readline() == "ready\n"
            time.sleep(0.1)
        else:
            until(process.pid, work)
        second = patience(1.0)
        sent = time.monotonic()
        (os.killpg if everyone else os.kill)(process.pid, signal.SIGINT)
        try:
            out, error = process.communicate(timeout=20 * second)  # ends when all that hold the pipes have
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # or the test would wait for it
        assert time.monotonic() - sent < second
        assert process.returncode == 130
        assert error.removeprefix("ready\n") == f"{name}: interrupted\n"
        assert out == ""


@pytest.mark.parametrize("everyone", [False, True], ids=["one process", "the terminal"])
@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_ends_it_within_a_second(phase: str, everyone: bool) -> None:
    interrupted(program("rules", before=f"PHASE = {PHASES[phase]!r}\n{WORK}"), everyone)


def test_ctrl_c_while_ctypes_converts_an_argument() -> None:
    """`ctypes` raises an error of its own then, which is no fault of ours."""
    interrupted(program("rules", before=f"PHASE = {CONVERSION!r}\n{WORK}"), everyone=True)


@pytest.mark.parametrize(
    "words",
    [
        ("bound", "proofs/matMul/kernel.cu", "--block", "32,32"),
        ("bound", "proofs/matMul/kernel.cu", "--block", "32,32", "--search", "smt"),
        ("run", KERNEL, "--block=256", "--grid=200000", "--arg=numElements=51200000", "--engine=reference"),
        ("trial", "sound", "--examples", "100000", "--jobs", "2"),
        ("suite", "--jobs", "2"),
    ],
    ids=" ".join,
)
def test_ctrl_c_ends_commands(words: tuple[str, ...]) -> None:
    interrupted(program(*words), everyone=True, work=1.2)


ALONE = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["checker/recheck.py", sys.argv[1]]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_ctrl_c_ends_the_second_checker_on_its_own(tmp_path: Path) -> None:
    """A certificate that keeps it busy for seconds."""
    path = tmp_path / "lanes.json"
    path.write_bytes(hostile.document("lanes", 0, 1_000_000))
    interrupted([sys.executable, "-I", "-c", ALONE, str(path)], everyone=True, work=0.6, name="recheck")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_second_checker_on_its_own_tells_of_output_that_is_full(form: str) -> None:
    command = [sys.executable, "-I", "checker/recheck.py", "proofs/vectorAdd/sectors.json", f"--format={form}"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: cannot write to standard output: No space left on device\n"


def test_where_interrupts_are_ignored_they_stay_so() -> None:
    """As in the background of a shell."""
    work = "def run(args):\n    os.kill(os.getpid(), signal.SIGINT)\n    return 0\nrules.run = run"
    before = f"signal.signal(signal.SIGINT, signal.SIG_IGN)\nfrom checker.cli import rules\n{work}"
    done = subprocess.run(program("rules", before=before), cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("granted", [False, True])
def test_who_is_granted_time_to_print_gets_more(granted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C, and after no other signal."""
    done: list[object] = []
    monkeypatch.setattr(time, "sleep", done.append)
    monkeypatch.setattr(process, "leave", lambda: done.append("leaves"))
    monkeypatch.setattr(process, "_granted", threading.Event())
    if granted:
        process.grant()
    heard, told = os.pipe()
    os.write(told, bytes([signal.SIGTERM, signal.SIGINT]))
    process._watch(heard)
    os.close(heard)
    os.close(told)
    assert done == [process.PATIENCE, *[process.MORE] * granted, "leaves"]


@pytest.mark.parametrize("workers", [False, True])
def test_who_leaves_ends_workers_and_shows_the_cursor(workers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []
    monkeypatch.setattr(testbed_workers, "end_children", lambda: done.append("children"))
    monkeypatch.setattr(process, "_leaving", threading.Lock())
    if not workers:
        monkeypatch.delitem(sys.modules, "multiprocessing", raising=False)
    monkeypatch.setattr(os, "isatty", lambda number: number == 2)
    monkeypatch.setattr(os, "write", lambda *told: done.append(told))
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit, match="130"):
        process.leave()
    assert done == [*["children"] * workers, (2, b"\x1b[?25hwarpbound: interrupted\n")]


HELD = """
import fcntl, time
held = open({path!r}, "a")
fcntl.flock(held, fcntl.LOCK_SH)
held.write("held")
held.flush()
time.sleep(60)
"""


@pytest.mark.parametrize("what", ["a rule file", *(name for name in PHASES if "workers" in name)])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_command_began_ends_with_it(what: str, number: int, tmp_path: Path) -> None:
    """However it ends: a process of Python that it runs, and workers, which hold a file as long as they live."""
    rules, path = tmp_path / "rules.py", tmp_path / "held"
    rules.write_text(HELD.format(path=str(path)), encoding="utf-8")
    path.touch()
    body = PHASES.get(what, "").replace("time.sleep, 60", f"exec, {rules.read_text()!r}").replace("ready()", "")
    before = f"PHASE = {body!r}\n{WORK.replace('while True: pass', f'exec({rules.read_text()!r})')}" if body else ""
    words = ("rules",) if body else ("trial", str(rules), "--trust")
    with subprocess.Popen(program(*words, before=before), cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 20
        while time.monotonic() < until and not path.read_text():
            time.sleep(0.05)
        os.kill(process.pid, number)
        process.wait(10)
    assert path.read_text().startswith("held")
    with path.open() as file:
        while time.monotonic() < until:
            try:
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.05)
    pytest.fail("something holds the file")


# --- progress ---------------------------------------------------------------------------------------------------------


def test_what_takes_a_second_shows_that_it_is_at_work() -> None:
    assert 0.5 <= progress.PATIENCE <= 1.0


def test_on_a_terminal_bound_says_what_it_works_on() -> None:
    """On standard error alone, and nothing of it stays."""
    before = "from checker.cli import progress\nprogress.PATIENCE = 0.05"
    terminal, other = os.openpty()
    words = ("bound", "proofs/addSub3/kernel.cu", "--block", "32", "--format", "json")
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        program(*words, before=before), cwd=ROOT, stdout=subprocess.PIPE, stderr=other, env=environment
    ) as process:
        os.close(other)
        assert process.stdout is not None
        document = json.loads(process.stdout.read())
        drawn = os.read(terminal, 1 << 16).decode()
    os.close(terminal)
    assert {row["metric"] for row in document["results"]} >= METRICS.keys()
    assert "addSub3: " in drawn
    assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h") == 1
