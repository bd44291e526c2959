"""Metrics and hardware models from files: read exactly, refused at their place, and obeyed everywhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from fractions import Fraction as Q
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.cli import main
from checker.notation.profiles import read_hardware, read_metric
from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import COUNTED, FIXED, METRICS, Hardware, Linear, Metric
from logic.potentials import Leaf, evaluate
from logic.source import Loc, SourceError
from logic.syntax import Param
from logic.typing import check_kernel
from semantics.cuda import read_cuda
from semantics.grid import run

ROOT = Path(__file__).parents[3]
PROOFS = ROOT / "proofs"
PAGE = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes mine.toml; § in a text marks a place and is left out."""

    def text(content: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(content.replace("§", ""), encoding="utf-8")
        return path

    return text


def refused(read: Callable[[Path], object], path: Path, text: str) -> SourceError:
    """The error for a text, in which § marks where it has to be reported."""
    *lines, last = text.partition("§")[0].split("\n")
    with pytest.raises(SourceError) as caught:
        read(path)
    assert caught.value.loc == Loc(str(path), len(lines) + 1, len(last) + 1)
    return caught.value


# --- metrics ---------------------------------------------------------------------------------------------------------

NUMBERS = {"3": Q(3), "0.1": Q(1, 10), '"1/3"': Q(1, 3), '"0.1"': Q(1, 10), "1_000.5": Q(2001, 2), "0": Q(0)}
BY_COUNT = {
    '"n"': Linear(Q(1), Q(0)),
    '"n - 1"': Linear(Q(1), Q(-1)),
    '"2*n+5"': Linear(Q(2), Q(5)),
    '"1/3 * n - 0.5"': Linear(Q(1, 3), Q(-1, 2)),
    '"0*n + 7"': Linear(Q(0), Q(7)),
    "4": Linear(Q(0), Q(4)),
    '"4"': Linear(Q(0), Q(4)),
}


@pytest.mark.parametrize(("text", "price"), NUMBERS.items())
def test_prices_are_exact(write: Write, text: str, price: Q) -> None:
    assert read_metric(write(f'name = "m"\nop = {text}')) == Metric("m", {"op": price})


@pytest.mark.parametrize(("text", "line"), BY_COUNT.items())
def test_prices_by_count(write: Write, text: str, line: Linear) -> None:
    assert read_metric(write(f'name = "m"\r\nswrite = {text}\r\n')) == Metric("m", {}, {"swrite": line})


def test_the_built_in_metrics_can_be_written(write: Write) -> None:
    fixed = "\n".join(f"{key} = 1" for key in FIXED)
    counted = "\n".join(f'{key} = "{"n" if key[0] == "g" else "n - 1"}"' for key in COUNTED)
    mine = read_metric(write(f'name = "mine"\n{fixed}\n{counted}'))
    assert (mine.fixed, mine.counted) == (METRICS["steps"].fixed, METRICS["steps"].counted)


BAD_METRICS = {
    'name = "m"\n§jump = 1': "'jump' is not known here",
    'name = "m"\n  §"op " = 1': "'op ' is not known here",
    'name = "m"\n[§price]\nop = 1': "'price' is not known here",
    'name = "m"\n§op.x = 1': "the price of 'op' is a number, not a table",
    'name = "m"\nop = 1\n§if = true': "the price of 'if' is a number, not true",
    'name = "m"\n§div = [1]': "the price of 'div' is a number, not a list",
    'name = "m"\n§op = "n"': "the price of 'op' is a number, not 'n'",
    'name = "m"\n§op = "1/0"': "the price of 'op' is a number, not '1/0'",
    'name = "m"\n§op = nan': "the price of 'op' is a number, not 'nan'",
    'name = "m"\n§op = inf': "the price of 'op' is a number, not 'inf'",
    'name = "m"\n§op = 1e999999999': "the price of 'op' is a number, not '1e999999999'",
    'name = "m"\n§op = 1979-05-27': "the price of 'op' is a number",
    'name = "m"\n§op = -0.5': "the price of 'op' is negative: -0.5",
    'name = "m"\n§sync = "-1/3"': "the price of 'sync' is negative: -1/3",
    'name = "m"\n§gread = -1': "the price of 'gread' is negative: -1",
    'name = "m"\n§gread = "-1*n + 40"': "the price of 'gread' falls with n",
    'name = "m"\n§sread = "n*n"': "the price of 'sread' is a multiple of n and a number, not 'n[*]n'",
    'name = "m"\n§sread = "2n"': "is a multiple of n and a number",
    'name = "m"\n§sread = {n = 1}': "is a multiple of n and a number, not a table",
    "§op = 1\n": "a name is missing",
    "op = 1\n§name = 7": "a name is a letter",
    '§name = "a b"': "a name is a letter",
    '§name = "sectors"': "'sectors' has a meaning of its own",
    '§name = "all"': "'all' has a meaning of its own",
    'name = "m"\nop = 1\n§op = 2': "'op' has a value already",
    'name = "m"\nop = §': "no TOML: invalid value",
    'name = "m"\nop §1': "no TOML: expected '='",
    'name = "m§': "no TOML: unterminated string",
    'name = "m"\nop = §[1, "]", [2], # ]\nsync = 3\n': "no TOML: unclosed array",
    "[m]\nop = [1, §[2, ": "no TOML: unclosed array",
    'name = "m"\nop = [\n1,\n§x]\n': "no TOML: invalid value",
}


@pytest.mark.parametrize(("text", "message"), BAD_METRICS.items())
def test_what_is_no_metric(write: Write, text: str, message: str) -> None:
    assert re.search(message, refused(read_metric, write(text), text).message)


@given(st.text(st.sampled_from("name=\"m\n opgread.1/3*-+n[]{}#'\\"), max_size=40))
def test_no_text_ends_otherwise(text: str) -> None:
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(f'name = "m"\n{text}')
        file.flush()
        try:
            metric = read_metric(Path(file.name))
        except SourceError as error:
            assert error.loc is not None  # noqa: PT017 most texts end here, some don't
        else:
            assert all(metric.count(key, n) <= metric.count(key, n + 1) for key in COUNTED for n in range(9))


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "mine.toml"
    if content is not None:
        path.write_bytes(content)
    for read in (read_metric, read_hardware):
        with pytest.raises(SourceError, match="No such file" if content is None else "not UTF-8"):
            read(path)


# --- hardware --------------------------------------------------------------------------------------------------------


def test_what_a_model_leaves_out_is_as_for_nvidia(write: Write) -> None:
    assert read_hardware(write('name = "h"')) == Hardware("h", 32, 32, 4, 32, 256)
    given = 'name = "h"\nsector = 64\nbanks = 16\nword = 8\nwarp = 64\nalignment = 128'
    assert read_hardware(write(given)) == Hardware("h", 64, 16, 8, 64, 128)
    assert read_hardware(write('name = "h"\nphase = 128')) == Hardware("h", phase=128)


BAD_HARDWARE = {
    'name = "h"\n§line = 128': "'line' is not known here",
    'name = "h"\n§sector = 0': "'sector' is a whole number from 1 to 1024, not '0'",
    'name = "h"\n§banks = 1025': "'banks' is a whole number from 1 to 1024, not '1025'",
    'name = "h"\n§warp = 32.0': "'warp' is a whole number from 1 to 1024, not '32.0'",
    'name = "h"\n§word = "4"': "'word' is a whole number from 1 to 1024, not '4'",
    'name = "h"\n§phase = 0': "'phase' is a whole number from 1 to 1024, not '0'",
    'name = "h"\n§word = true': "'word' is a whole number from 1 to 1024, not true",
    'name = "h"\nsector = 64\n§alignment = 32': "multiple of the sector and the word",
    'name = "h"\n§sector = 48': "multiple of the sector and the word",
    '§name = "nvidia"': "'nvidia' has a meaning of its own",
}


@pytest.mark.parametrize(("text", "message"), BAD_HARDWARE.items())
def test_what_is_no_hardware(write: Write, text: str, message: str) -> None:
    assert message in refused(read_hardware, write(text), text).message


@pytest.mark.parametrize(
    "hardware",
    [
        Hardware("a", 64, 16, 8, 16, 64),
        Hardware("b", 24, 24, 4, 48, 96),
        Hardware("c", 12, 6, 2, 10, 12),
        Hardware("d", phase=32),
    ],
    ids=lambda h: h.name,
)
@pytest.mark.parametrize(
    ("name", "block", "args"),
    [
        ("addSub2", (40, 1, 1), {"w": 43, "h": 6}),
        ("reduce1", (64, 1, 1), {"n": 100}),
    ],
)
def test_bounds_hold_for_odd_models_and_prices(
    hardware: Hardware, name: str, block: tuple[int, int, int], args: dict[str, int]
) -> None:
    energy = Metric("energy", {"op": Q(1, 3)}, {"gread": Linear(Q(2), Q(5)), "sread": Linear(Q(1), Q(-1))})
    metrics = (METRICS["sectors"], METRICS["conflicts"], energy)
    kernel = read_cuda(str(PROOFS / name / "kernel.cu")).kernel
    context = Context(check_kernel(kernel), energy, hardware, Launch(block, (None, None, None), ()))
    paid = run(kernel, block, (2, 1, 1), args, {}, metrics, hardware).max_per_warp
    found = {
        r.metric.name: r.claim for r in find_bounds(Outline(kernel, context, bare(kernel.body)), metrics, Oracles())
    }
    point: dict[Leaf, int] = {Param(n): v for n, v in args.items()}
    bounds = {m: evaluate(claim.pre.q, point) for m, claim in found.items() if claim}
    assert bounds.keys() == paid.keys()
    assert all(paid[m] <= bound <= 4 * paid[m] + 40 for m, bound in bounds.items())


QUADS = """__global__ void quads(float4 *A, double *D, int n) {
  __shared__ float4 s[256];
  __shared__ double d[512];
  s[threadIdx.x] = A[threadIdx.x];
  d[2 * threadIdx.x] = D[threadIdx.x];
  if (threadIdx.x % 2 == 1) d[4 * threadIdx.x] = d[threadIdx.x];
  for (int i = 0; i < n; i++) A[i] = s[(threadIdx.x * 33) % 256];
}"""


@pytest.mark.parametrize(("phase", "exact"), [(None, False), (128, True), (16, True)])
def test_wide_elements_in_phases(phase: int | None, exact: bool, tmp_path: Path) -> None:
    """What is certified is what the dearest warp pays, or in the plain model no less."""
    path = tmp_path / "k.cu"
    path.write_text(QUADS)
    kernel, hardware = read_cuda(str(path)).kernel, Hardware("own", phase=phase)
    context = Context(check_kernel(kernel), METRICS["conflicts"], hardware, Launch((200, 1, 1), (None, None, None), ()))
    (found,) = find_bounds(Outline(kernel, context, bare(kernel.body)), (METRICS["conflicts"],), Oracles())
    assert found.verdict == "certified"
    assert found.claim is not None
    for n in (0, 3):
        bound = evaluate(found.claim.pre.q, {Param("n"): n})
        (paid,) = run(
            kernel, (200, 1, 1), (1, 1, 1), {"n": n}, {}, (METRICS["conflicts"],), hardware
        ).max_per_warp.values()
        assert paid <= bound
        assert bound == paid or not exact


# --- on the command line, in outlines, in annotations ----------------------------------------------------------------


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of docs/metrics.md, and proofs/ in it."""
    for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / text.split("\n")[0].removeprefix("# ")).write_text(text)
    (tmp_path / "proofs").symlink_to(PROOFS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {p.name for p in page.glob("*.toml")} == {"energy.toml", "wide.toml", "phased.toml"}
    shown = [line.strip() for line in PAGE.partition("## Both at work")[2].splitlines() if line.strip()]
    printed: list[str] = []
    for line in shown:
        if line.startswith("$"):
            assert main(shlex.split(line)[2:]) == 0
            printed = capsys.readouterr().out.splitlines()
        else:
            assert any(" ".join(p.split()).startswith(" ".join(line.split())) for p in printed), line
    assert sum(line.startswith("$") for line in shown) == 2


OUTLINE = "kernel k\nmetric {metric}\nhardware {hardware}\nblock 32\nglobal int A[];\nbegin\n  A[tid.x] <- 1;\nend\n"


def test_outlines_and_annotations_name_files_beside_them(page: Path) -> None:
    from checker.notation import parse_outline, read_annotations

    energy, wide = read_metric(Path("energy.toml")), read_hardware(Path("wide.toml"))
    text = OUTLINE.format(metric="energy.toml", hardware="wide.toml")
    context = parse_outline(text, str(page / "k.qhl")).context
    assert (context.metric, context.hardware) == (energy, wide)
    source = page / "k.cu"
    source.write_text("//@ metric energy.toml;\n__global__ void k(int *A)\n{\n    A[threadIdx.x] = 1;\n}\n")
    kernel = read_cuda(str(source)).kernel
    assert read_annotations(kernel, source.read_text(), check_kernel(kernel)).metric == energy


@pytest.mark.parametrize("kind", ["metric", "hardware"])
def test_an_outline_points_at_a_name_without_a_file(tmp_path: Path, kind: str) -> None:
    from checker.notation import parse_outline

    names = {"metric": "steps", "hardware": "nvidia"} | {kind: "gone.toml"}
    with pytest.raises(SourceError, match=r"cannot read '.*gone.toml': No such file") as caught:
        parse_outline(OUTLINE.format(**names), str(tmp_path / "k.qhl"))
    line = 2 if kind == "metric" else 3
    assert caught.value.loc == Loc(str(tmp_path / "k.qhl"), line, len(kind) + 2)


def test_bad_files_on_the_command_line(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (page / "bad.toml").write_text('name = "bad"\nop = -1\n')
    (page / "other.toml").write_text('name = "energy"\n')
    run_it = ["run", "proofs/vectorAdd/kernel.cu", "--block", "32", "--arg", "numElements=9"]
    for words, message in (
        (["--metric", "bad.toml"], "bad.toml:2:1: error: the price of 'op' is negative: -1\n    op = -1\n    ^\n"),
        (["--hardware", "bad.toml"], "bad.toml:2:1: error: 'op' is not known here\n    op = -1\n    ^\n"),
        (["--metric", "gone.toml"], "error: cannot read 'gone.toml': No such file or directory\n"),
        (["--metric", "energy.toml", "--metric", "other.toml"], "another metric is called 'energy'"),
    ):
        assert main([*run_it, *words]) == 2
        assert message in capsys.readouterr().err
    assert main([*run_it, "--metric", "energy.toml", "--metric", "energy.toml"]) == 0
    assert capsys.readouterr().out.count("energy") == 1


def test_a_certificate_needs_no_file(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bound = [
        "bound",
        "proofs/vectorAdd/kernel.cu",
        "--block",
        "32",
        "--metric",
        "energy.toml",
        "--certificate",
        "c.json",
    ]
    assert main(bound) == 0
    (page / "energy.toml").unlink()
    assert main(["recheck", "c.json"]) == 0
    assert "energy" in capsys.readouterr().out
