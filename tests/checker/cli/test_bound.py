"""`warpbound bound`: options, output, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checker.certificates.document import read
from checker.cli import main
from logic.metrics import METRICS

pytestmark = pytest.mark.usefixtures("bounds_once")

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
ADD = str(PROOFS / "addSub2/kernel.cu")
KEYS = ["kernel", "metric", "per", "bound", "verdict", "value", "assumptions", "certificate", "seconds"]
Capture = pytest.CaptureFixture[str]


def bound(capsys: Capture, *words: str) -> tuple[int, list[dict[str, Any]]]:
    code = main(["bound", *words, "--format", "json"])
    printed = capsys.readouterr()
    assert all(re.search(": warning: (the assumption|--at) ", line) for line in printed.err.splitlines())
    result = json.loads(printed.out)
    assert list(result) == ["version", "results"]
    return code, result["results"]


@pytest.fixture
def cu(tmp_path: Path) -> Path:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(int *A, int n) { for (int i = 0; i < n; i++) A[i] = 1; }\n"
        "__global__ void spin(int n) { int x = 0; while (n > 0) { x = x + 1; } }\n"
    )
    return path


def test_json(capsys: Capture) -> None:
    code, rows = bound(capsys, ADD, "--block", "32", "--metric", "sectors", "--metric", "divwarps", "--at", "h=5,w=9")
    assert code == 0
    assert [list(row) for row in rows] == [[*KEYS, "claim"]] * 2
    first, second = rows
    assert (first["kernel"], first["metric"], first["per"], first["verdict"]) == (
        "addSub2",
        "sectors",
        "warp",
        "certified",
    )
    assert (first["bound"], first["value"], first["certificate"]) == ("28*max(0, ceil(h/2))", 84, None)
    assert (second["metric"], second["bound"], second["value"]) == ("divwarps", "0", 0)
    assert any("overflow" in a for a in first["assumptions"])
    assert first["seconds"] >= 0


def test_all_metrics_are_the_default(capsys: Capture) -> None:
    _, rows = bound(capsys, str(PROOFS / "vectorAdd/kernel.cu"), "--block", "256")
    assert [row["metric"] for row in rows] == list(METRICS)
    bounds = {row["metric"]: (row["bound"], row["value"]) for row in rows}
    assert bounds.items() >= {
        "sectors": ("12", 12), "conflicts": ("0", 0), "divwarps": ("1", 1), "steps": ("27", 27),
    }.items()  # fmt: skip


def test_text(capsys: Capture) -> None:
    assert main(["bound", ADD, "--block", "32", "--metric", "sectors", "--at", "h=4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "addSub2, every warp (block 32)"
    assert re.fullmatch(r"  sectors  <= 28\*max\(0, ceil\(h/2\)\)  certified +\d+\.\d\d s   = 56", lines[2])
    assert "This assumes:" in lines


def test_a_value_needs_every_parameter_in_the_bound(capsys: Capture) -> None:
    _, (row,) = bound(capsys, ADD, "--block", "32", "--metric", "sectors", "--at", "w=4")
    assert (row["bound"], row["value"]) == ("28*max(0, ceil(h/2))", None)
    assert main(["bound", ADD, "--block", "32", "--metric", "sectors", "--at", "w=4"]) == 0
    assert "(--at lacks h)" in capsys.readouterr().out


@pytest.mark.parametrize(("at", "value"), [("h=0", 0), ("h=-7", 0), ("h=1", 28), ("h=+3", 56), ("h=" + "9" * 99, None)])
def test_values(at: str, value: int | None, capsys: Capture) -> None:
    _, (row,) = bound(capsys, ADD, "--block", "32", "--metric", "sectors", "--at", at)
    assert row["value"] == (28 * ((10**99 - 1 + 1) // 2) if value is None else value)


def test_a_point_that_no_launch_has(capsys: Capture) -> None:
    """The formula has a value there; that no int is so large is said."""
    for h, told in (2**31 - 1, ""), (2**31, "--at h=2.147e+09: 'h' has 32 bits, and is at most 2147483647"):
        assert main(["bound", ADD, "--block", "32", "--metric", "sectors", "--at", f"h={h}"]) == 0
        err = capsys.readouterr().err
        assert told in err
        assert bool(told) == ("no launch has this value" in err)


def test_assumptions_that_nothing_needs_are_named(capsys: Capture) -> None:
    """One for all the bounds."""
    words = ["--metric", "sectors", "--metric", "divwarps", "--assume", "w % 8 == 0", "--assume", "h > 0 && w > 7"]
    assert main(["bound", ADD, "--block", "32", *words]) == 0
    assert capsys.readouterr().err == "".join(
        f"{ADD}: warning: the assumption {fact} is not needed for these bounds\n" for fact in ("h > 0", "w > 7")
    )


def test_the_queries_behind_bounds_can_be_had(tmp_path: Path) -> None:
    ranks = str(PROOFS / "listRanking/kernel.cu")
    assert main(["bound", ranks, "--block", "512", "--metric", "sectors", "--queries", str(tmp_path)]) == 0
    index = json.loads((tmp_path / "index.json").read_text())
    assert {p.name for p in tmp_path.glob("*.smt2")} == {q["file"] for row in index for q in row["queries"]} != set()


def test_assumptions_are_used_and_listed(capsys: Capture) -> None:
    _, (row,) = bound(
        capsys, ADD, "--block", "32", "--metric", "sectors", "--assume", "w % 8 == 0", "--assume", "h > 0"
    )
    assert row["bound"].startswith("24*")
    assert {"given: w % 8 == 0", "given: h > 0"} <= set(row["assumptions"])


def test_a_block_of_unknown_size(capsys: Capture) -> None:
    _, (row,) = bound(capsys, ADD, "--metric", "sectors")
    assert row["verdict"] == "certified"
    assert main(["bound", ADD, "--metric", "divwarps"]) == 0
    assert "any block, any grid" in capsys.readouterr().out


def test_a_grid_of_unknown_size(tmp_path: Path, capsys: Capture) -> None:
    """Only where the kernel asks for the grid's size is --grid advised."""
    path = tmp_path / "stride.cu"
    path.write_text(
        "__global__ void k(int *a, int n) {\n"
        "    for (int i = threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] = 0;\n}\n"
    )
    for file, given, advised in ((str(path), (), True), (str(path), ("--grid", "4"), False), (ADD, (), False)):
        assert main(["bound", file, "--block", "32", "--metric", "conflicts", *given]) == 0
        assert ("say --grid for sharper bounds" in capsys.readouterr().out) is advised


def test_a_problem_of_several_metrics_is_told_once(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *A, int n) { while (n > 0) A[0] = 1; }\n")
    metrics = [f"--metric={name}" for name in ("sectors", "steps")]
    assert main(["bound", str(path), "--block", "32", *metrics]) == 1
    text = capsys.readouterr().out
    words = " ".join(text.split())
    assert words.count("no potential") == 1
    assert f"sectors, steps: {path}:1:36: no potential" in words
    assert max(map(len, text.splitlines())) <= 100 + len(str(path))


def test_explain(capsys: Capture) -> None:
    assert main(["bound", ADD, "--block", "32", "--metric", "sectors", "--explain"]) == 0
    text = capsys.readouterr().out
    assert "Accesses, for one warp:" in text
    assert re.search(r"A\[i\] +MemReads <= 4", text)
    assert re.search(r"B\[j \* w \+ i\] +MemReads <= 5", text)
    assert "Loops and branches:" in text
    assert "Q:While1" in text
    assert re.search(r"invariant .*j >= 0", text)


WALK = """\
__global__ void walk(int *A, int w, int h) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  A += x;
  for (int y = 0; y < h; y++, A += w) *A = y;
  A -= w;
  for (int y = h - 1; y >= 0; y--, A -= w) *A += y;
}
"""


def test_what_a_solver_knows_and_the_bound_does_not_need_is_left_out(tmp_path: Path, capsys: Capture) -> None:
    (source := tmp_path / "walk.cu").write_text(WALK)
    _, (row,) = bound(capsys, str(source), "--metric", "sectors", "--explain")
    assert (row["bound"], row["verdict"]) == ("21*max(0, h)", "certified")


def test_a_loop_that_never_ends_is_not_proved(cu: Path, capsys: Capture) -> None:
    code, rows = bound(capsys, str(cu), "--kernel", "spin", "--block", "32", "--metric", "steps", "--metric", "sectors")
    assert code == 1
    steps, sectors = rows
    assert (steps["verdict"], steps["bound"], steps["value"], steps["certificate"]) == ("not-proved", None, None, None)
    assert re.match(rf"{re.escape(str(cu))}:2:\d+: no potential", steps["problem"])
    assert (sectors["verdict"], sectors["bound"]) == ("certified", "0")
    asked = ["--metric", "steps", "--per", "grid", "--explain"]
    assert main(["bound", str(cu), "--kernel", "spin", "--block", "32", *asked]) == 1
    out = capsys.readouterr().out
    assert out.startswith("spin, all warps of a grid (block 32")
    assert "no bound" in out
    assert "\n\n\n" not in out


def test_a_certificate(cu: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "c.json"
    out.write_text("old")
    words = (str(cu), "--kernel", "k", "--block", "32", "--metric", "sectors", "--certificate", str(out))
    code, (row,) = bound(capsys, *words)
    assert code == 0
    c = read(out.read_text(), str(out))
    assert c.digest == row["certificate"]
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", c.digest)
    assert (c.kernel.name, c.context.metric.name, c.context.launch.block) == ("k", "sectors", (32, 1, 1))
    first = out.read_bytes()
    bound(capsys, *words)
    assert out.read_bytes() == first
    assert main(["check", str(out), "--format", "json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert (judged["verdict"], judged["error"]) == ("accepted", None)
    assert f"{{true; {row['bound']}; {{}}}}" in judged["judgement"]


def test_no_certificate_without_a_bound(cu: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "c.json"
    words = (str(cu), "--kernel", "spin", "--block", "32", "--metric", "steps", "--certificate", str(out))
    code, (row,) = bound(capsys, *words)
    assert (code, row["certificate"], out.exists()) == (1, None, False)


def test_a_tampered_certificate_is_rejected(cu: Path, tmp_path: Path, capsys: Capture) -> None:
    from checker.certificates.document import canonical, digest

    out = tmp_path / "c.json"
    main(["bound", str(cu), "--kernel", "k", "--block", "32", "--metric", "steps", "--certificate", str(out)])
    capsys.readouterr()
    d = json.loads(out.read_text())
    d["metric"] |= {"name": "own", "fixed": d["metric"]["fixed"] | {"vwrite": "2"}}
    out.write_text(canonical({**d, "digest": digest(d)}))
    assert main(["check", str(out), "--format", "json"]) == 3
    judged = json.loads(capsys.readouterr().out)
    assert judged["verdict"] == "rejected"
    assert "is not what its derivation proves" in judged["error"]["reason"] or judged["error"]["rule"] == ""
    out.write_text(canonical(d))
    assert main(["check", str(out)]) == 3
    assert "was changed" in capsys.readouterr().err


def test_a_kernel_that_is_not_there(cu: Path, capsys: Capture) -> None:
    assert main(["bound", str(cu), "--block", "32", "--kernel", "nobody"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "There are k, spin." in printed.err


SEVERAL = """\
template <class T> __global__ void k(T *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = n; }
namespace a { template <class T, int N = 4> __global__ void h(T *a) { a[threadIdx.x * N] = 1; }
__global__ void one(int *A) { A[0] = 1; }
template <int N = 8> __global__ void d(int *A) { A[threadIdx.x * N] = 1; } }
namespace b { __global__ void one(int *A, int m) { A[8] = 1; } }
template <class T> __global__ void none(T *a) { a[threadIdx.x] = 1; }
__global__ void odd(int *A) { asm volatile("frobnicate;"); }
void f(int *a, double *b) { k<int><<<4, 32>>>(a, 1000); k<double><<<4, 64>>>(b, 1000); a::h<int><<<1, 2>>>(a); }
"""


@pytest.fixture
def several(tmp_path: Path) -> str:
    path = tmp_path / "several.cu"
    path.write_text(SEVERAL)
    return str(path)


def test_every_kernel_and_instance_has_a_row(several: str, capsys: Capture) -> None:
    """Each with the sizes of its own launch; what cannot be read leaves the others."""
    assert main(["bound", several, "--metric", "sectors", "--at", "n=5", "--format", "json"]) == 2
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    rows = {row["kernel"]: (row["verdict"], row["bound"]) for row in document["results"]}
    assert rows == {
        "k<int>": ("certified", "4"),
        "k<double>": ("certified", "8"),
        "h<int, 4>": ("certified", "1"),
        "a::one": ("certified", "1"),
        "d<8>": ("certified", "32"),
        "b::one": ("certified", "1"),
        "none": ("unsupported", None),
        "odd": ("unsupported", None),
    }
    blocks = [a for row in document["results"] for a in row["assumptions"] if a.startswith("blocks")]
    assert blocks == ["blocks of 32", "blocks of 64", "blocks of 2"]
    assert document["summary"] == {"kernels": 8, "certified": 6, "unsupported": 2}
    assert "--instantiate 'none<int>'" in printed.err


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("k", ["k<int>", "k<double>"]),
        ("k<double>", ["k<double>"]),
        ("h<int,4>", ["h<int, 4>"]),
        ("a::h", ["h<int, 4>"]),
        ("b::one", ["one"]),
        ("d", ["d<8>"]),
    ],
)
def test_a_name_chooses_a_kernel_its_instances_or_one_of_them(
    name: str, found: list[str], several: str, capsys: Capture
) -> None:
    assert main(["bound", several, "--kernel", name, "--metric", "sectors", "--format", "json"]) == 0
    assert [row["kernel"] for row in json.loads(capsys.readouterr().out)["results"]] == found


def test_the_text_of_several_kernels_ends_with_counts(several: str, capsys: Capture) -> None:
    assert main(["bound", several, "--metric", "sectors", "--block", "32"]) == 2
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == "8 kernels: 6 certified, 2 unsupported"
    assert [line for line in told if line.startswith("k<")] == [
        f"k<{t}>, every warp (block 32)" for t in ("int", "double")
    ]
    assert sum("alignment" in line or "256 bytes" in line for line in told) == 1
    assert "All of these assume:" in told


@pytest.mark.parametrize("form", ["markdown", "html", "sarif"])
def test_a_page_of_several_kernels(form: str, several: str, capsys: Capture) -> None:
    assert main(["bound", several, "--metric", "sectors", "--format", form]) == 2
    page = capsys.readouterr().out
    assert "odd: unsupported" in page
    if form == "sarif":
        results = json.loads(page)["runs"][0]["results"]
        assert [r["ruleId"] for r in results] == ["unsupported", "unsupported"]
    else:
        assert "8 kernels: 6 certified, 2 unsupported" in page


def test_options_are_for_the_kernels_that_have_the_parameters(several: str, capsys: Capture) -> None:
    words = ["bound", several, "--metric", "divwarps", "--block", "32", "--format", "json"]
    assert main([*words, "--assume", "n >= 32"]) == 2
    printed = capsys.readouterr()
    rows = {row["kernel"]: row for row in json.loads(printed.out)["results"]}
    assert rows["k<int>"]["bound"] == "0"
    assert "given: n >= 32" in rows["k<int>"]["assumptions"]
    assert "--assume 'n >= 32' is not used for h<int, 4>, a::one, d<8>, b::one" in printed.err
    for wrong in (["--assume", "zz > 1"], ["--at", "zz=1"]):
        assert main([*words, *wrong]) == 2
        assert "zz" in capsys.readouterr().err


def test_certificates_of_several_kernels_go_to_a_folder(several: str, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "certificates"
    words = ["bound", several, "--kernel", "k", "--metric", "sectors", "--metric", "steps", "--block", "32"]
    assert main([*words, "--certificate", str(tmp_path / "one.json")]) == 2
    assert "is for one bound" in capsys.readouterr().err
    assert main([*words, "--certificate", str(folder)]) == 0
    names = ["k-double-sectors", "k-double-steps", "k-int-sectors", "k-int-steps"]
    assert sorted(p.stem for p in folder.iterdir()) == names
    assert main(["recheck", *map(str, sorted(folder.iterdir()))]) == 0


def test_certificates_go_into_a_folder_that_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One or several; where several would go into a file, that is said before any work."""
    path = tmp_path / "two.cu"
    path.write_text("".join(f"__global__ void {name}(int *A) {{ A[threadIdx.x] = 1; }}\n" for name in ("one", "two")))
    words = ["bound", str(path), "--metric", "sectors", "--block", "32", "--certificate"]
    folder = tmp_path / "certificates"
    folder.mkdir()
    assert main([*words, str(folder), "--kernel", "one"]) == 0
    assert [p.name for p in folder.iterdir()] == ["one-sectors.json"]
    assert main([*words, str(folder)]) == 0
    assert sorted(p.name for p in folder.iterdir()) == ["one-sectors.json", "two-sectors.json"]
    capsys.readouterr()
    (tmp_path / "a file").write_text("mine")
    assert main([*words, str(tmp_path / "a file")]) == 2
    out = capsys.readouterr()
    assert (out.out, out.err.count("\n")) == ("", 2)
    assert "a file: Not a directory" in out.err
    assert (tmp_path / "a file").read_text() == "mine"


def test_the_output_goes_to_a_file(cu: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.json"
    words = ["bound", str(cu), "--kernel", "k", "--block", "32", "--metric", "sectors", "--format", "json"]
    assert main([*words, "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(out.read_text())["results"][0]["bound"] == "max(0, n)"


def test_a_structure_called_tid_is_not_the_index_of_a_thread(tmp_path: Path, capsys: Capture) -> None:
    """`tid.x` would name both, and `threadIdx.x == tid.x` would seem to hold in every lane."""
    path = tmp_path / "tid.cu"
    path.write_text(
        "struct P { int x; };\n__global__ void k(P tid, int *A) { if (threadIdx.x == tid.x) A[threadIdx.x] = 1; }\n"
    )
    assert main(["bound", str(path), "--block", "32", "--metric", "divwarps"]) == 2
    assert "'tid.x' has a meaning of its own" in capsys.readouterr().err
    path.write_text(path.read_text().replace("tid,", "p,").replace("tid.x", "p.x"))
    code, (row,) = bound(capsys, str(path), "--block", "32", "--metric", "divwarps")
    assert (code, row["bound"]) == (0, "1")


def test_a_name_in_no_encoding(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "\udcff.qhl"
    try:
        path.write_text((PROOFS / "addSub3/sectors.qhl").read_text().replace("{ true; 4", "{ true; 3"))
    except (OSError, UnicodeError):
        pytest.skip("no such names here")
    assert main(["check", str(path)]) == 1
    assert "\\udcff.qhl:15:3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "block", "sectors", "conflicts"),
    [
        (
            (
                "int t = threadIdx.x, x = blockIdx.x * 32 + t, y = blockIdx.y * 32 + threadIdx.y, i = x + y * n;"
                " x = blockIdx.y * 32 + t; for (int r = 0; r < 32; r += 8) A[i + r * n] = x;"
            ),
            "32,8",
            "20",
            "0",
        ),
        ("int e = threadIdx.x + 1; e = e > 63 ? 63 : e; s[e] = 1;", "64", "0", "0"),
        ("int e = 2 * threadIdx.x + 1; e += e >> 5; s[e] = 1;", "64", "0", "0"),
    ],
)
def test_variables_that_are_given_another_value(
    body: str, block: str, sectors: str, conflicts: str, tmp_path: Path, capsys: Capture
) -> None:
    """What others were worth in terms of the old one is kept."""
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(int *A, int n) {{ __shared__ int s[256]; {body} }}")
    _, rows = bound(capsys, str(path), "--block", block, "--metric", "sectors", "--metric", "conflicts")
    assert [row["bound"] for row in rows] == [sectors, conflicts]


@pytest.mark.parametrize(
    ("value", "sectors", "divwarps"),
    [
        ("atomicAdd(c, 1)", 2 + 32, 1),  # each lane gets another value, though all pass the same
        ("__shfl_sync(~0u, n, 0)", 1, 0),
        ("__shfl_sync(~0u, (int)threadIdx.x, n & 31)", 1, 0),
        ("__shfl_sync(~0u, n, threadIdx.x)", 32, 1),
        ("__shfl_sync(~0u, n, threadIdx.x & 1)", 32, 1),
        ("__shfl_sync(~0u, n, 0, 16)", 32, 1),
        ("__shfl_down_sync(~0u, (int)threadIdx.x / 16, 8)", 32, 1),  # lanes that pass the same may get different values
        ("8 * (__shfl_xor_sync(~0u, n, 1) - __shfl_xor_sync(~0u, n, 2))", 32, 1),
        ("8 * (atomicAdd(c, 1) - atomicAdd(c + 1, 1))", 4 + 32, 1),
        ("__mulhi((int)threadIdx.x << 20, 1 << 20) - __mulhi((int)threadIdx.x << 20, 1 << 19)", 32, 1),
        ("__any_sync(~0u, n > 3)", 1, 0),
        ("__any_sync(~0u, threadIdx.x > 3)", 1, 0),
        ("__any_sync(threadIdx.x < 16 ? 1 : 2, n > 3)", 32, 1),
        ("(int)__ballot_sync(~0u, (int)threadIdx.x)", 1, 0),
        ("(int)__activemask()", 32, 1),
        ("__popc(n)", 1, 0),
        ("__popc(threadIdx.x)", 32, 1),
    ],
)
def test_values_of_which_nothing_is_known(
    value: str, sectors: int, divwarps: int, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "k.cu"
    source = f"__global__ void k(int *A, int *c, int n) {{ int v = {value}; A[v] = n; if (v > 3) n = 2; }}"
    path.write_text(source)
    _, rows = bound(capsys, str(path), "--block", "64", "--metric", "sectors", "--metric", "divwarps")
    assert [row["bound"] for row in rows] == [str(sectors), str(divwarps)]


def test_a_construct_that_is_not_supported_is_a_verdict(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text('__global__ void k(int *A) {\n    asm("nope;");\n}\n')
    assert main(["bound", str(path), "--metric", "sectors", "--metric", "steps", "--format", "json"]) == 2
    printed = capsys.readouterr()
    rows = json.loads(printed.out)["results"]
    assert [(row["metric"], row["verdict"], row["bound"]) for row in rows] == [
        ("sectors", "unsupported", None),
        ("steps", "unsupported", None),
    ]
    assert all(list(row)[: len(KEYS)] == KEYS for row in rows)
    assert rows[0]["problem"] == f"{path}:2:5: the instruction 'nope' in inline assembly is not supported"
    assert printed.err.startswith(f"{path}:2:5: error: the instruction 'nope' in inline assembly is not supported\n")


def test_a_syntax_error_is_no_verdict(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *A) { A[0] = ; }\n")
    assert main(["bound", str(path), "--format", "json"]) == 2
    assert [*json.loads(capsys.readouterr().out)] == ["version", "error"]


@pytest.mark.parametrize(
    ("body", "args", "cost"),
    [
        ("unsigned i = 16 - threadIdx.x; if (i > 100) A[8 * t] = 1;", {}, 15),
        ("unsigned h = threadIdx.x * 0x10000001u; if (h >= 0x10000000) A[8 * t] = 1;", {}, 30),
        ("if (threadIdx.x - 5u >= 27u) A[8 * t] = 1;", {}, 5),
        ("int h = threadIdx.x * 0x90000001u; if (h < 0) A[8 * t] = 1;", {}, 16),
        ("int h = 0x7fffffff + threadIdx.x; if (h < 0) A[8 * t] = 1;", {}, 31),
        ("unsigned x = 3; x -= 4; if (x > m) A[8 * t] = 1;", {"m": 9}, 32),
        ("int d = -1; if (min(d, 5u) == 5) A[8 * t] = 1;", {}, 32),
        ("if (-(threadIdx.x + 1) > m) A[8 * t] = 1;", {"m": 9}, 32),
        ("long long x = threadIdx.x - 2; if (x > 9) A[8 * t] = 1;", {}, 22),
        ("int x = -t; if ((size_t)x > 9) A[8 * t] = 1;", {}, 31),
        ("if ((A[n] - 1u) / 2 > 9) A[8 * t] = 1;", {"n": 0}, 33),
        ("if (threadIdx.x > m - 5) A[8 * t] = 1; else if (threadIdx.x < m - 5) A[8 * t] = 1;", {"m": 2}, 32),
        ("float f = threadIdx.x - 16; if (f > 100) A[8 * t] = 1;", {}, 16),
        ("size_t k = ~threadIdx.x; if (k > 9) A[8 * t] = 1;", {}, 32),
        ("unsigned u = (size_t)t << 31; if (u) A[8 * t] = 1;", {}, 16),
    ],
)
def test_unsigned_values_wrap_around(
    body: str, args: dict[str, int], cost: int, tmp_path: Path, capsys: Capture
) -> None:
    """A bound is at least what a run costs where unsigned values wrap around, and a run is as C has it."""
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(int *A, int n, unsigned m) {{ int t = threadIdx.x; {body} }}\n")
    given = [f"--arg={name}={args.get(name, 0)}" for name in "nm"]
    for engine in ("fast", "reference"):
        assert (
            main(["run", str(path), "--block=32", "--metric=sectors", "--format=json", "--engine", engine, *given]) == 0
        )
        assert json.loads(capsys.readouterr().out)["totals"] == {"sectors": cost}
    at = ",".join(f"{name}={value}" for name, value in args.items()) or "n=0"
    assert main(["bound", str(path), "--block=32", "--metric=sectors", "--format=json", "--at", at]) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert row["verdict"] == "certified"
    assert cost <= row["value"] < 64


def test_a_border_test(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text("""__global__ void k(int *A, int n) {
        int t = threadIdx.x;
        if ((unsigned)(t - 1) < (unsigned)n) A[t - 1] = 1;
    }""")
    known = ("--block=32", "--metric=sectors", "--at=n=1000")
    _, (row,) = bound(capsys, str(path), *known, "--assume", "n >= 0")
    assert (row["verdict"], row["value"]) == ("certified", 4)
    assert not any("wrap around" in a for a in row["assumptions"])
    main(["bound", str(path), *known, "--assume", "n >= 0"])
    assert capsys.readouterr().err == ""  # and none that it is not needed
    _, (row,) = bound(capsys, str(path), *known)
    assert "given, as unsigned values wrap around if not: n >= 0" in row["assumptions"]


STRIDE = "for (unsigned i = threadIdx.x; i < n; i += blockDim.x) A[i] = 1;"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "A[t] = s[t + 1];",
            "k.cu:3:8: warning: s[t + 1] may be out of bounds: thread (31, 0, 0) has the index 32, and",
        ),
        ("s[t - 1] = 1;", "k.cu:3:1: warning: s[t - 1] may be out of bounds: thread (0, 0, 0) has the index -1, and"),
        (
            "if (n > 3) s[40] = 1;",
            "k.cu:3:12: warning: s[40] may be out of bounds: thread (0, 0, 0) has the index 40, and",
        ),
        (
            "for (int i = 0; i < n; i++) s[t + 32] = 1;",
            "k.cu:3:29: warning: s[t + 32] may be out of bounds: thread (0, 0,",
        ),
        ("if (t < 31) s[t + 1] = 1;", ""),
        ("if (t < n) s[t + 1] = 1;", ""),
        ("if (A[t] > 0) return; s[t] = A[t + 1];", ""),
        ("for (int i = 0; i < n; i++) s[t + i] = 1;", ""),
    ],
)
def test_accesses_outside_of_shared_arrays(
    body: str, told: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a thread is known to make them: the bound counts them, and a person reads of it."""
    monkeypatch.chdir(tmp_path)
    before = "__global__ void k(int *A, int n) { __shared__ int s[32];\nint t = threadIdx.x;\n"
    (tmp_path / "k.cu").write_text(f"{before}{body} }}")
    main(["bound", "k.cu", "--block=32", "--metric=conflicts"])
    said = [line for line in capsys.readouterr().err.splitlines() if "out of bounds" in line]
    assert len(said) == bool(told)
    assert all(line.startswith(told) for line in said)


def test_what_has_to_be_assumed_lest_values_wrap_around(tmp_path: Path, capsys: Capture) -> None:
    """Of sizes alone, as a proposition; launches that break it are no points, and it is not assumed against another."""
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(int *A, unsigned n) {{ {STRIDE} }}\n")
    _, (row,) = bound(capsys, str(path), "--block=32", "--metric=sectors", "--at=n=4294967264")
    told = "given, as unsigned values wrap around if not: blockDim.x + n <= 4294967296"
    assert (row["verdict"], row["value"]) == ("certified", 4 * 134217727)
    assert told in row["assumptions"]
    assert main(["bound", str(path), "--block=32", "--at=n=4294967265"]) == 2
    assert "blockDim.x + n <= 4294967296 is assumed" in capsys.readouterr().err
    assert main(["bound", str(path), "--block=32", "--metric=sectors", "--assume", "n > 4294967270"]) == 1
    assert "wrap around if not" not in capsys.readouterr().out
    assert main(["coalesce", str(path), "--block=32", "--format=json"]) == 0
    assert told in json.loads(capsys.readouterr().out)["assumptions"]


def test_a_loop_until_a_function_returns_something(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    loop = "unsigned old = *a, as; do { as = old; old = atomicCAS(a, as, v + as); } while (as != old);"
    path.write_text(f"__global__ void k(unsigned *a, unsigned v) {{\n{loop}\n}}\n")
    assert main(["bound", str(path), "--metric", "sectors", "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert "until 'old', which atomicCAS returns (line 2), ends it, and no test limits" in row["problem"]


def test_what_a_loop_lists_as_uniform_does_not_shut_ghosts_out(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text("""__global__ void k(float *out, const float *x, int n) {
        float m = 0;
        //@ loop uniform k;
        for (int k = 0, i = threadIdx.x; i < n; i += 32, k++) m += x[i];
        out[0] = m;
    }""")
    _, (row,) = bound(capsys, str(path), "--block", "32", "--metric", "sectors")
    assert (row["verdict"], row["bound"]) == ("certified", "1 + 4*max(0, ceil(n/32))")


def test_what_each_line_takes(capsys: Capture) -> None:
    """At a point: the parts of a metric add up to its bound there; no point, or one of data, no table."""
    words = [
        "bound",
        str(PROOFS / "addSub3/kernel.cu"),
        "--block=32",
        "--metric=sectors",
        "--metric=conflicts",
        "--explain",
    ]
    assert main([*words, "--at", "w=64,h=8"]) == 0
    table = capsys.readouterr().out.partition("What each line takes of the bounds at w = 64, h = 8:\n")[2]
    head, *rows = table.partition("\n\n")[0].splitlines()
    assert head.split() == ["line", "sectors", "conflicts", "source"]
    assert [row.split()[:3] for row in rows] == [
        ["8", "4", "5%"],
        ["10", "40", "48%"],
        ["11", "40", "48%"],
        ["all", "84", "0"],
    ]
    assert rows[0].endswith("  As[threadIdx.x] = A[i];")
    main([*words, "--at", "w=64,h=8", "--format=html"])
    assert "<h2>What each line takes of the bounds at w = 64, h = 8</h2>" in capsys.readouterr().out
    main(words)
    assert "What each line takes" not in capsys.readouterr().out


GIVEN_AWAY = """__global__ void k(int *A, int *B) {
    if (threadIdx.x >= 32) {
        if (B[0] > 3) A[8 * threadIdx.x] = 1;
        if (B[0] < 2) A[4 * threadIdx.x] = 2;
        A[2 * threadIdx.x] = 3;
    }
}
"""


def test_what_a_bound_gives_away_is_told_by_line(tmp_path: Path, capsys: Capture) -> None:
    """In the dearest warp of the dearest run, which is the second one. The greatest difference comes first."""
    source = tmp_path / "k.cu"
    source.write_text(GIVEN_AWAY)
    words = ["bound", str(source), "--metric", "sectors", "--block", "64", "--tight"]
    assert main(words) == 0
    told = capsys.readouterr().out.partition("Dearest runs found:")[2]
    assert main([*words, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]
    spent, paid = row["witness"]["bound"], row["witness"]["cost"]
    assert spent > paid
    assert (row["shares"]["of"], row["shares"]["block"], row["shares"]["warp"]) == (spent, [0, 0, 0], 1)
    lines = [(r["line"], r["spent"], r["paid"]) for r in row["shares"]["lines"]]
    assert (sum(s for _, s, _ in lines), sum(p for _, _, p in lines)) == (spent, paid)
    more = [s - p for _, s, p in lines]
    assert more == sorted(more, reverse=True)
    head, *table = [line.split()[:4] for line in told.strip().splitlines()[3:]]
    assert head == ["line", "bound", "run", "more"]
    assert table == [[str(n or "none"), str(s), str(p), str(s - p)] for n, s, p in lines]


def test_an_exact_bound_gives_nothing_away(tmp_path: Path, capsys: Capture) -> None:
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(int *A) { A[threadIdx.x] = 1; }\n")
    words = ["bound", str(source), "--metric", "sectors", "--block", "64", "--tight"]
    assert main(words) == 0
    assert "more" not in capsys.readouterr().out
    assert main([*words, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert row["shares"]["lines"] == [{"file": str(source), "line": 1, "spent": 4, "paid": 4}]
