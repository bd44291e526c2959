"""Annotations in CUDA C: where they belong, what they become, and what is said of bad ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main
from checker.notation import read_annotations
from checker.synthesis.outline import Block, Branch, Loop, Partial, Split
from logic.assertions import show_p
from logic.formulas import show
from logic.metrics import METRICS
from logic.source import SourceError
from logic.syntax import show as show_e
from logic.typing import check_kernel
from semantics.cuda import read_cuda

SOURCE = """//@ requires h >= 0;
//@ launch block = 32, grid = 4;
//@ metric sectors;
__global__ void addSub3(int *A, int *B, int w, int h)
{
    extern __shared__ int As[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    As[threadIdx.x] = A[i];
    //@ loop invariant i == 32*blockIdx.x + tid.x;
    //@ loop potential 10*|[j, h + 1]|;
    //@ loop uniform j;
    for (int j = 0; j < h; j += 2) {
        B[j * w + i] += As[threadIdx.x];
        //@ potential 10*|[j, h + 1]| - 10;
        //@ assert j < h;
        B[(j + 1) * w + i] -= As[threadIdx.x];
    }
}
"""


def written(folder: Path, text: str) -> str:
    path = folder / "k.cu"
    path.write_text(text)
    return str(path)


def test_where_they_go(tmp_path: Path) -> None:
    path = written(tmp_path, SOURCE)
    kernel = read_cuda(path).kernel
    given = read_annotations(kernel, SOURCE, check_kernel(kernel))
    assert (given.block, given.grid, given.metric) == ((32, 1, 1), (4, 1, 1), METRICS["sectors"])
    assert show_p(given.assumptions) == "h >= 0"
    (loop,) = (item for item in given.body if isinstance(item, Loop))
    invariant = loop.invariant
    assert invariant.p is not None
    assert show_p(invariant.p) == "i == 32 * blockIdx.x + tid.x"
    assert str(invariant.q) == "10*max(0, 1 + h - j)"
    assert invariant.x == frozenset(("j",))
    kinds = [type(item).__name__ for item in loop.body]
    assert kinds == ["Plain", "Partial", "Partial", "Plain", "Plain"]
    potential, fact = (item for item in loop.body if isinstance(item, Partial))
    assert str(potential.q) == "10*max(0, 1 + h - j) - 10"
    assert fact.p is not None
    assert show_p(fact.p) == "j < h"


def test_they_are_a_derivation_for_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", written(tmp_path, SOURCE), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["judgement"].startswith("{true; 4 + 10*max(0, 1 + h); {}}")
    short = SOURCE.replace("h + 1]| - 10;", "h + 1]| - 11;")
    assert main(["check", written(tmp_path, short), "--format", "json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["rule"], error["line"], error["got"].split()[-1]) == ("Q:Weak", 13, "9)")
    witness = error["witness"]
    assert witness["store"]["locals"]["j"] == [witness["params"]["h"] - 1]


def test_potentials_are_hints_for_their_metric_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", written(tmp_path, SOURCE), "--format", "json"]) == 0
    bounds = {r["metric"]: r["bound"] for r in json.loads(capsys.readouterr().out)["results"]}
    assert bounds["sectors"] == "4 + 10*max(0, 1 + h)"
    assert bounds["divwarps"] == "0"


def test_grids_that_depend_on_parameters_and_limits(tmp_path: Path) -> None:
    text = SOURCE.replace("block = 32, grid = 4", "grid = ceil(w / (2 * log2(h))), min(w, 3), block = 8, 4")
    text = text.replace("requires h >= 0", "assume h <= 4*log2(w) + 1")
    kernel = read_cuda(written(tmp_path, text)).kernel
    given = read_annotations(kernel, text, check_kernel(kernel))
    assert (given.block, given.grid, given.assumptions) == ((8, 4, 1), None, ())
    assert given.formulas is not None
    assert [show(f) for f in given.formulas] == ["ceil(w/(2*log2(h)))", "min(w, 3)", "1"]
    (limit,) = given.limits
    assert (limit.name, str(limit.most), limit.text) == ("h", "1 + 4*log2(w)", "h <= 4*log2(w) + 1")


def test_sizes_may_be_computed(tmp_path: Path) -> None:
    text = SOURCE.replace("block = 32, grid = 4", "block = 2 * 16, grid = ceil(9 / 2)")
    kernel = read_cuda(written(tmp_path, text)).kernel
    given = read_annotations(kernel, text, check_kernel(kernel))
    assert (given.block, given.grid, given.formulas) == ((32, 1, 1), (5, 1, 1), None)


def test_bounds_do_not_rest_on_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only `predict` uses one, and says so; the bound stays one over h."""
    text = SOURCE.replace("requires h >= 0", "assume h <= 4*log2(w)").replace("grid = 4", "grid = ceil(w/32)")
    assert main(["bound", written(tmp_path, text), "--metric", "sectors", "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert "warning: the assumption h <= 4*log2(w) is for predict alone, and not used" in printed.err
    (row,) = json.loads(printed.out)["results"]
    assert row["bound"] == "4 + 10*max(0, 1 + h)"
    assert not any("log2" in fact for fact in row["assumptions"])


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("requires h >= 0;", "requires h >= 0", 1, "this is no annotation"),
        ("requires h >= 0;", "demands h >= 0;", 1, "no annotation is called 'demands'"),
        ("requires h >= 0;", "requires i >= 0;", 1, "an assumption is about parameters"),
        ("requires h >= 0;", "requires h >= ;", 1, "expected"),
        ("launch block = 32", "launch blocks = 32", 2, "a launch is written"),
        ("launch block = 32", "launch block = 0", 2, "positive"),
        ("launch block = 32", "launch block = 5/2", 2, "positive"),
        ("launch block = 32", "launch block = w", 2, "a block has sizes that are numbers"),
        ("grid = 4", "grid = 4, 4, 4, 4", 2, "a grid has one to three sizes"),
        ("grid = 4", "grid = 4,, 4", 2, "a grid has one to three sizes"),
        ("grid = 4", "grid = ceil(v/2)", 2, "no parameter is called 'v'"),
        ("grid = 4", "grid = w % 2", 2, "'%' has no place in a formula"),
        ("requires h >= 0;", "assume h <= log2(v);", 1, "no variable or parameter is called 'v'"),
        ("requires h >= 0;", "assume h <= log2(i);", 1, "a limit is about parameters"),
        ("metric sectors", "metric miles", 3, "no metric is called 'miles'"),
        ("loop uniform j", "loop uniform k", 11, "no local int is called 'k'"),
        ("loop invariant i == 32*blockIdx.x", "loop invariant A[i] == 32*blockIdx.x", 9, "array contents"),
        ("loop potential 10*|[j, h + 1]|", "loop potential 10*tid.x", 10, "tid"),
        ("assert j < h;", "requires j < h;", 15, "belongs before the kernel"),
        ("assert j < h;", "loop potential 3;", 15, "no loop follows"),
        ("metric sectors;", "metric sectors;\n//@ metric steps;", 4, "the metric was another before"),
        ("grid = 4;", "grid = 4;\n//@ launch block = 64;", 3, "the block had other sizes before"),
        ("grid = 4;", "grid = 4, block = 64;", 2, "the block had other sizes before"),
        ("grid = 4;", "grid = 4;\n//@ launch grid = ceil(w/32);", 3, "the grid had other sizes before"),
        ("//@ requires h >= 0;", "/*@ requires h >= 0; */", 1, "annotations are lines that begin with //@"),
        ("//@ assert j < h;", "/*@ loop potential 1; */", 15, "annotations are lines that begin with //@"),
        ("//@ requires h >= 0;", "/*@\n requires h >= 0; */", 1, "annotations are lines that begin with //@"),
    ],
)
def test_bad_ones_are_pointed_at(tmp_path: Path, old: str, new: str, line: int, sentence: str) -> None:
    text = SOURCE.replace(old, new, 1)
    kernel = read_cuda(written(tmp_path, text)).kernel
    with pytest.raises(SourceError) as caught:
        read_annotations(kernel, text, check_kernel(kernel))
    assert sentence in caught.value.message
    assert caught.value.loc is not None
    assert caught.value.loc.line == line


def test_the_same_twice_and_other_comments(tmp_path: Path) -> None:
    text = SOURCE.replace("grid = 4;", "grid = 4;\n//@ launch block = 2 * 16;\n/*@unused@*/ // /*@ metric steps; */")
    text = text.replace("metric sectors;", "metric sectors;\n//@ metric sectors;")
    kernel = read_cuda(written(tmp_path, text)).kernel
    given = read_annotations(kernel, text, check_kernel(kernel))
    assert (given.block, given.grid, given.metric) == ((32, 1, 1), (4, 1, 1), METRICS["sectors"])


@pytest.mark.parametrize("potential", ["", "//@ potential 20;"])
def test_an_assertion_in_front_is_to_be_proved(
    potential: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As any other is: only `requires` states what holds before."""
    text = f"""//@ launch block = 32;
//@ metric steps;
__global__ void k(int *A, int n) {{
    //@ assert n == 3;
    {potential}
    A[0] = n;
}}
"""
    path = written(tmp_path, text)
    assert main(["check", path]) == 1
    told = capsys.readouterr().out
    assert told.startswith(f"rejected: {path}:6:5: ")
    assert "  expected   n == 3\n" in told
    assert main(["bound", path, "--metric", "steps"]) == 1
    assert f"{path}:6:5: " in capsys.readouterr().out
    assert main(["check", written(tmp_path, "//@ requires n == 3;\n" + text)]) == 0
    assert ("costs at most 20 steps" if potential else "costs at most") in capsys.readouterr().out


def test_a_potential_is_advised_in_its_own_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """//@ launch block = 32;
//@ metric sectors;
__global__ void k(int *A, int n) {
    int k = 0;
    //@ loop invariant k >= 0;
    //@ loop uniform k;
    //@ loop potential 3 + 1*|[k, n]|;
    while (k < n) { A[k * 32 + threadIdx.x] = k; k++; }
}
"""
    assert main(["check", written(tmp_path, text)]) == 1
    assert "The potential 4*max(0, n - k) in line 7 would do." in capsys.readouterr().out


SPLIT = """__global__ void k(int *A, int n, int m)
{
    int s = 0;
    //@ split n > 0;
    if (n <= 0) s = 4096;
    for (int i = 0; i < m; i++) {
        A[s + (int)threadIdx.x] = i;
    }
}
"""


@pytest.mark.parametrize(("split", "bound"), [("//@ split n > 0;", "4*max(0, m)"), ("", "5*max(0, m)")])
def test_a_split_makes_two_cases(split: str, bound: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the first or the 4096th element on; without the split from anywhere between."""
    path = written(tmp_path, SPLIT.replace("//@ split n > 0;", split))
    certificate = tmp_path / "k.json"
    args = ["bound", path, "--block", "32", "--metric", "sectors", "--certificate", str(certificate)]
    assert main([*args, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["bound"] == bound
    assert main(["recheck", str(certificate)]) == 0


def test_lanes_that_disagree_cannot_be_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, SPLIT.replace("split n > 0", "split n > tid.x"))
    assert main(["bound", path, "--block", "32", "--metric", "sectors", "--format", "json"]) == 1
    capsys.readouterr()


EFFECT = """__device__ int sum(const int *A, int m) {{
    int s = 0;
    {before}
    for (int j = 0; j < m; j++) {{ s += A[j]; }}
    return s;
}}
__device__ int none(int n) {{
    //@ loop potential 7;
    while (n > 0) n--;
    return n;
}}
__global__ void other(int *A, int n) {{
    //@ assert n > 7;
    A[0] = none(n);
}}
{outside}
__global__ void k(const int *A, int *B, int n) {{
    int x = 0;
    {body}
    B[threadIdx.x] = x;
    {end}
}}
"""


@pytest.mark.parametrize(
    ("where", "text", "said"),
    [
        ("body", "if (0) {\n//@ assert n > 4;\nx = A[1]; }", "nothing is left of what"),
        ("body", "if (n > 3) { int u; if (0) x = 3;\n//@ potential 3;\n}", "nothing is left of what"),
        ("body", "if (n > 3) { ;\n//@ split n > 5;\n}", "nothing is left of what"),
        ("body", "\n//@ loop potential 3;\nwhile (0) { x++; }", "the loop that follows this annotation is not in"),
        ("body", "\n//@ loop invariant x == 0;\ndo { x++; } while (0);", "the loop that follows this annotation"),
        ("body", "\n//@ loop uniform x;\nx = A[2]; while (x < n) x++;", "no loop follows this annotation"),
        ("body", "if (n > 0) {\n//@ loop potential n;\n} while (x < n) x++;", "no loop follows this annotation"),
        ("end", "\n//@ loop potential 3;\n", "no loop follows this annotation"),
        (
            "end",
            "return;\n//@ loop invariant x > 3;\nwhile (x < n) x++;",
            "the loop that follows this annotation is not",
        ),
        ("end", "return;\n//@ loop turns <= 3;\nwhile (x < n) x++;", "the loop that follows this annotation is not"),
        ("end", "while (1) { x++; break;\n//@ loop uniform x;\nwhile (x < n) x++; }", "the loop that follows this"),
        ("before", "\n//@ loop potential 3;\ns++;", "no loop follows this annotation"),
        ("outside", "\n//@ assert n > 3;\n", "'assert' belongs into a function"),
        ("outside", "\n//@ loop potential 3;\n", "'loop potential' belongs into a function"),
    ],
)
def test_one_without_effect_is_an_error(tmp_path: Path, where: str, text: str, said: str) -> None:
    """What it is about is not in the program, or it is about nothing: never silence, nor another place."""
    parts = {"before": "", "outside": "", "body": "x = sum(A, n);", "end": ""}
    source = EFFECT.format(**(parts | {where: text}))
    kernel = read_cuda(written(tmp_path, source), "k").kernel
    with pytest.raises(SourceError) as caught:
        read_annotations(kernel, source, check_kernel(kernel))
    assert said in caught.value.message
    assert caught.value.advice
    assert caught.value.loc is not None
    assert source.splitlines()[caught.value.loc.line - 1].startswith("//@")


LEFT_OUT = """#if 0
//@ requires n > 7;
//@ launch block = 64;
void f() { if (
#endif
/* //@ requires n > 8;
//@ requires n > 9;
*/
// //@ requires n > 10;
// a comment that goes on \\
//@ requires n > 11;
const char *text = "//@ requires n > 12;", other = '"'; /* " */ //@ requires n > 3;
#ifdef CUDA_2
//@ requires n > 13;
#elif 1 // not this one
//@ launch block = 32;
#else
//@ launch block = 128;
#endif
__global__ void k(int *A, int n) {
#ifdef CUDA_2
    //@ potential 77 * n;
    for (int i = 0; i < 5; i++) {
#else
    //@ loop potential 4 * |[i, n]|;
    for (int i = 0; i < n; i++) {
#endif
        A[threadIdx.x] = i; // //@ assert i > 7;
    }
}
"""


def test_what_is_no_text_of_the_program_is_no_annotation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the preprocessor leaves out, other comments, and literals: neither an assumption nor an error."""
    path = written(tmp_path, LEFT_OUT)
    kernel = read_cuda(path).kernel
    given = read_annotations(kernel, LEFT_OUT, check_kernel(kernel))
    assert [show_p((fact,)) for fact in given.assumptions] == ["n > 3"]
    assert (given.block, given.metric, given.ignored) == ((32, 1, 1), None, ())
    assert stated(given.body) == ["while (i < n) 4*max(0, n - i)"]
    assert main(["bound", path, "--metric", "sectors", "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    (row,) = json.loads(printed.out)["results"]
    assert (row["bound"], row["verdict"]) == ("4*max(0, n)", "certified")
    assert [fact for fact in row["assumptions"] if " > " in fact] == ["given: n > 3"]
    other = read_cuda(path, defines=["CUDA_2"]).kernel
    given = read_annotations(other, LEFT_OUT, check_kernel(other))
    assert [show_p((fact,)) for fact in given.assumptions] == ["n > 13", "n > 3"]
    assert (given.block, stated(given.body)) == (None, ["77*n", "while (i < 5) None"])


UNUSED = """__device__ int never(int n) {{
    //@ assert n > 1;
    while (n > 9) n -= 7;
    return n;
}}
struct S {{ int x; S(int n) : x(n) {{
    //@ assert n > 1;
    x++; }} }};
template <class T> __device__ T twice(const T *A, int n) {{
    T s = 0;
    //@ loop potential 4 * |[i, n]|;
    for (int i = 0; i < n; i++) s += A[i];
    return s;
}}
__device__ int once(const int *A, int n) {{
    //@ loop potential 3;
    while (n > 0) n--;
    return twice(A, n);
}}
__device__ int (*table[])(const int *, int) = {{once}};
#define KERNEL __global__ void
#define SUM(A) twice(A, 3)
{first}
KERNEL k(int *A, int n) {{
    {body}
    A[threadIdx.x] = n;
}}
"""


@pytest.mark.parametrize(
    ("first", "body", "warned"),
    [
        ("", "", {2: "never", 7: "S", 11: "twice", 16: "once"}),
        ("", "if (0) n = twice(A, n);", {2: "never", 7: "S", 11: "twice", 16: "once"}),
        ("", "n = twice(A, n);", {2: "never", 7: "S", 16: "once"}),
        (
            "__global__ void other(int *A, int n) { A[0] = 3; }",
            "",
            {2: "never"},
        ),  # the table has one, the macro the other
        ("KERNEL other(int *A, int n) { A[0] = never(n); }", "", {}),
        ("template <class T> __global__ void other(T *A) { A[0] = 3; }\n#define UNUSED never", "", {}),
    ],
)
def test_one_of_a_function_that_no_kernel_comes_to_is_told(
    first: str, body: str, warned: dict[int, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, by every command that reads annotations; not where another kernel may come there, as far as names tell."""
    path = written(tmp_path, UNUSED.format(first=first, body=body))
    told = [
        f"{path}:{n}:5: warning: this annotation has no effect: no statement of '{f}' is in the kernel"
        for n, f in warned.items()
    ]
    certificate = str(tmp_path / "c.json")
    for command, *options in (
        ("bound", "--metric=sectors", "--block=32"),
        ("bound", "--metric=sectors", "--kernel=k", "--block=32", f"--certificate={certificate}"),
        ("report", "--source", path, "--block=32"),
        ("run", "--kernel=k", "--block=32", "--arg=n=1"),
        ("coalesce", "--kernel=k", "--block=32"),
        ("wcet", "--kernel=k", "--block=32", "--at=n=1"),
        ("contracts", "--kernel=k"),
    ):
        main([command, certificate if command == "report" else path, *options])
        printed = capsys.readouterr()
        assert [line for line in printed.err.splitlines() if "no effect" in line] == told, (command, printed.err)


def test_one_about_the_kernel_is_in_no_function(tmp_path: Path) -> None:
    """It would be about the kernel's parameters, whatever the function's are called."""
    text = EFFECT.format(before="\n//@ requires n > 3;", outside="", body="x = sum(A, n);", end="")
    text = text.replace("__global__ void other", "__device__ void other")
    kernel = read_cuda(written(tmp_path, text)).kernel
    with pytest.raises(SourceError, match="'requires' belongs before the kernel"):
        read_annotations(kernel, text, check_kernel(kernel))


def stated(block: Block) -> list[str]:
    """The conditions of an outline, each before what it is about; indented in a loop."""
    found = []
    for item in block:
        match item:
            case Partial(p, q):
                found.append(show_p(p) if p is not None else str(q))
            case Split(cond):
                found.append(f"split {show_e(cond)}")
            case Loop(cond, invariant, body):
                found.append(f"while ({show_e(cond)}) {invariant.q}")
                found += [f"  {line}" for line in stated(body)]
            case Branch(_, then, orelse):
                found += [*stated(then), *stated(orelse)]
    return found


TURNED = """
//@ loop potential n - x;
while (1) {
//@ loop potential 5;
for (int i = 0; i < 3; i++) x++;
//@ assert x >= 3;
x++;
if (x > n) break; }"""


@pytest.mark.parametrize(
    ("where", "text", "expected"),
    [
        # a loop that is turned around: what comes before its test is there twice, and has a loop that is not meant
        ("body", TURNED,
         ["while (i < 3) 5", "x >= 3", "while (x <= n) n - x", "  while (i < 3) 5", "  x >= 3"]),
        # a body that is there twice, and what is stated before it
        ("body", "\n//@ assert x == 0;\ndo {\n//@ potential n;\nx++; } while (x < n);",
         ["x == 0", "n", "while (x < n) None", "  n"]),
        # a function that is called, and statements that are none of the program
        ("before", "\n//@ loop potential m - j;\n", ["while (j < m) m - j"]),
        ("before", "\n//@ assert s == 0;\nif (0) s++; int u; ;\n", ["s == 0", "while (j < m) None"]),
        ("body", "\n//@ loop potential n - x;\n#pragma unroll\n/* here */ while (x < n) x++;", ["while (x < n) n - x"]),
        ("body", "\n//@ loop potential n - x;\nif (n > 3) while (x < n) x++;", ["while (x < n) n - x"]),
        # the end of a block: before the step of a loop, in either copy, also where the rest is in another branch
        ("body", "for (int i = 0; i < n; i++) { if (n > 3) x += A[i];\n//@ assert i < n;\n} x = 1;",
         ["while (i < n) None", "  i < n"]),
        ("body", "do { x++; if (0) x = 3;\n//@ assert x > 1;\n} while (x < n);",
         ["x > 1", "while (x < n) None", "  x > 1"]),
        ("body", "if (n > 3) { if (x > 2) return; x = 4;\n//@ potential 3;\n} x = 1;", ["3"]),
        ("end", "\n//@ assert x == x;\nreturn;", ["while (j < m) None", "x == x"]),
    ],
)  # fmt: skip
def test_where_each_has_its_effect(tmp_path: Path, where: str, text: str, expected: list[str]) -> None:
    parts = {"before": "", "outside": "", "body": "x = sum(A, n);", "end": ""}
    source = EFFECT.format(**(parts | {where: text}))
    kernel = read_cuda(written(tmp_path, source), "k").kernel
    assert [
        line for line in stated(read_annotations(kernel, source, check_kernel(kernel)).body) if line != "true"
    ] == expected
