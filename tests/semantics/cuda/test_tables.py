"""Tables in constant memory: their values at known indices, paid for as reads."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from checker import recheck
from checker.certificates import document as certificate
from checker.cli import main
from checker.refutation.contracts import for_reading, of_tables
from logic.syntax import Assign, Const, Read, Write, statements, subterms
from semantics.cuda import CudaError, read_cuda
from semantics.cuda.reader import Reading


def reading(text: str, folder: Path) -> Reading:
    path = folder / "k.cu"
    path.write_text(text)
    return read_cuda(str(path))


def value(declaration: str, use: str, folder: Path) -> object:
    """What is written by A[0] = use."""
    kernel = reading(f"{declaration}\n__global__ void k(int *A, int n) {{ A[0] = {use}; }}", folder).kernel
    (write,) = [s for s in statements(kernel.body) if isinstance(s, Write)]
    return write.value.value if isinstance(write.value, Const) else write.value


@pytest.mark.parametrize(
    ("declaration", "use", "expected"),
    [
        ("__constant__ int off[4] = {3, 1, -7, 2};", "off[2]", -7),
        ("__constant__ int off[4] = {3, 1};", "off[3]", 0),
        ("const __constant__ int off[] = {3, 1 + 4};", "off[1]", 5),
        ("__constant__ unsigned char off[2] = {3, (unsigned char)300};", "off[1]", 44),
        ("__constant__ int off[2] = {3, 4};", "*(off + 1)", 4),
        ("__constant__ int off[2][2] = {{3, 1}, {-7, 2}};", "off[1][0]", -7),
        ("__constant__ unsigned off[2] = {3, 4294967289u};", "((const int *)off)[1]", -7),
        ("__constant__ short off[2][2][2] = {{{3, 1}, {5}}, {{7}}};", "off[0][1][0]", 5),
    ],
)
def test_the_value_at_a_known_index(declaration: str, use: str, expected: int, tmp_path: Path) -> None:
    assert value(declaration, use, tmp_path) == expected


@pytest.mark.parametrize(
    ("declaration", "use"),
    [
        ("__constant__ int off[4] = {3, 1, -7, 2};", "off[n]"),
        ("__constant__ int off[4] = {3, 1, -7, 2};", "off[4]"),
        ("__constant__ int off[4] = {3, 1, -7, 2};", "off[-1]"),
        ("__constant__ int off[4];", "off[1]"),
        ("__device__ int off[4] = {3, 1, -7, 2};", "off[1]"),
        ("__constant__ int off[2][2] = {3, 1, -7, 2};", "off[1][1]"),
        ("__constant__ int off[2] = {3, 1};", "((const short *)off)[1]"),
    ],
)
def test_nothing_is_known_of_others(declaration: str, use: str, tmp_path: Path) -> None:
    """Of an index outside of the table, or not known; of what is not declared, and of what the device may write."""
    assert not isinstance(value(declaration, use, tmp_path), int)


PAIR = "struct Pair { int a; short b; };\n"


@pytest.mark.parametrize(
    ("declaration", "tables"),
    [
        ("__constant__ int t[2][3] = {{1, 2, 3}, {4}};", {"t": (1, 2, 3, 4, 0, 0)}),
        (PAIR + "__constant__ Pair t[3] = {{1, 2}, {3}};", {"t.a": (1, 3, 0), "t.b": (2, 0, 0)}),
        ("__constant__ int2 t[2] = {{5, 6}, {7, 8}};", {"t.x": (5, 7), "t.y": (6, 8)}),
        (PAIR + "__constant__ Pair t[2] = {{.b = 2}, {3}};", {}),
        ("__constant__ int t[2] = {[1] = 4, [0] = 5};", {}),
        ("__constant__ int t[2][2] = {1, 2, 3, 4};", {}),
        ('__constant__ char t[5] = "a\\n" "\\303";', {"t": (97, 10, -61, 0, 0)}),
        ('__constant__ unsigned char t[] = "\\"\\\\\\x41?";', {"t": (34, 92, 65, 63, 0)}),
        ('__constant__ char t[2][3] = {"ab", "cd"};', {}),
        ('__constant__ wchar_t t[3] = L"ab";', {}),
        ("struct Odd { int a; int b = 3; };\n__constant__ Odd t[2] = {{1}};", {}),
        ("struct Bits { int a : 4; int b : 4; };\n__constant__ Bits t[1] = {{1, 2}};", {}),
        (PAIR + "struct Both : Pair { int c; };\n__constant__ Both t[1] = {{{1, 2}, 3}};", {}),
        (PAIR + "struct In { Pair p; int c; };\n__constant__ In t[1] = {{{1, 2}, 3}};", {}),
    ],
)
def test_tables_of_rows_and_of_structures(declaration: str, tables: dict[str, tuple[int, ...]], tmp_path: Path) -> None:
    use = {"Pair": "t[n].a + t[n].b", "int2": "t[n].x + t[n].y", "Odd": "t[n].a", "Bits": "t[n].b", "Both": "t[n].c"}
    name = next(words[1] for line in declaration.split("\n") if (words := line.split())[0] == "__constant__")
    index = "t[n].c" if name == "In" else use.get(name, "t[n][1]" if "][" in declaration else "t[n]")
    found = reading(f"{declaration}\n__global__ void k(int *A, int n) {{ A[0] = {index}; }}", tmp_path)
    assert found.tables == tables


STRINGS = """__device__ int third(const char *s) { return s[2]; }
__global__ void k(int *A, int n) {
    const char *p = "early", mine[] = "xyz";
    static const char hex[] = "0123456789abcdef";
    A[threadIdx.x] = "\\0\\4\\2\\6\\1\\5\\3\\7"[threadIdx.x & 7] + (hex[n & 15] << 8) + (third("ab\\x7f") << 16);
    A[32] = *p + mine[1];
}
"""


def test_a_string_is_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its elements are known where indices are, and in runs; reads of it are paid for."""
    path = tmp_path / "k.cu"
    path.write_text(STRINGS)
    options = [str(path), "--metric", "sectors", "--block", "32", "--format", "json"]
    assert main(["bound", *options]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert found["verdict"] == "certified"
    assert main(["run", *options, "--arg", "n=12"]) == 0
    ran = json.loads(capsys.readouterr().out)
    assert 9 <= ran["totals"]["sectors"] <= int(found["bound"]) == 9
    kernel = read_cuda(str(path))
    texts = {name for name in kernel.tables if name.startswith("text")}
    assert len(texts) == 3
    assert kernel.tables["hex"][12] == ord("c")


TURNS = """__constant__ int turns[2][2] = {{3, 1}, {2, 4}};
struct Span { int from, to; };
__constant__ Span spans[2] = {{1, 3}, {0, 5}};
__global__ void k(float *A) {
    float x = 0;
    for (int i = 0; i < turns[threadIdx.x & 1][threadIdx.x >> 1 & 1]; i++) x += A[0];
    int part = threadIdx.x & 1, last = spans[part].to;
    for (int i = 0; i < last; i++) x += A[spans[part].from];
    A[threadIdx.x] = x;
}
"""


def test_loops_to_what_a_table_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The limits of a table are contracts on it: at most 4 turns, and 5. A run turns 4 times and 5; all of the tests
    read a sector or two."""
    path = tmp_path / "k.cu"
    path.write_text(TURNS)
    options = ["--metric", "sectors", "--metric", "divwarps", "--block", "32", "--format", "json"]
    assert main(["bound", str(path), *options]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert [r["verdict"] for r in found] == ["certified", "certified"]
    assert {f"given: forall i in [0, 4): {fact}" for fact in ("1 <= turns[i]", "turns[i] <= 4")} <= {
        *found[0]["assumptions"]
    }
    assert main(["run", str(path), *options]) == 0
    cost = json.loads(capsys.readouterr().out)["totals"]
    assert 4 + 5 <= cost["sectors"] <= int(found[0]["bound"]) <= 2 * cost["sectors"]
    assert 0 < cost["divwarps"] <= int(found[1]["bound"])


@pytest.mark.parametrize(
    "test", ["int i = (int)t[threadIdx.x & 1]; i < 5", "unsigned i = t[threadIdx.x & 1] + 8; i < 25"]
)
def test_no_more_is_assumed_of_a_table_than_it_holds(test: str, tmp_path: Path) -> None:
    """An element of 2^32 - 1 is -1 as an int: were no element above the range of int, the loops had fewer turns."""
    text = f"__global__ void k(int *A) {{ for ({test}; i++) A[i * 8 + 8] = 1; }}"
    found = reading(f"__constant__ unsigned t[2] = {{3u, 4294967295u}};\n{text}", tmp_path)
    data = of_tables(found)
    assert len([c for c in data if c.ranges]) == 2
    assert not found.under(block=(32, 1, 1), data=for_reading(data)).spans


@pytest.mark.parametrize("use", ["t[0] = 5;", "((int *)t)[1] = 5;", "put(t);", "atomicAdd(&t[0], 5);", "p[1].b = 5;"])
def test_kernels_that_write_to_a_table_are_refused(use: str, tmp_path: Path) -> None:
    text = PAIR + "__constant__ int t[2] = {3, 1};\n__constant__ Pair p[2] = {{1, 2}, {3, 4}};\n"
    with pytest.raises(CudaError, match="which is constant"):
        reading(
            f"{text}__device__ void put(int *q) {{ *q = 5; }}\n"
            f"__global__ void k(int *A, int n) {{ {use} A[0] = t[0] + p[0].a + p[1].b; }}",
            tmp_path,
        )


def test_a_read_is_paid_for_and_what_is_assumed_is_noted(tmp_path: Path) -> None:
    found = reading("__constant__ int off[2] = {3, 4};\n__global__ void k(int *A) { A[off[1]] = 1; }", tmp_path)
    reads = [
        t
        for s in statements(found.kernel.body)
        if isinstance(s, Assign)
        for t in subterms(s.value)
        if isinstance(t, Read)
    ]
    assert [(t.array, t.index) for t in reads] == [("off", Const(1))]
    assert "'off', in constant memory, holds what it is declared with" in found.notes


FILLING = [
    "void host(int *h) { cudaMemcpyToSymbol(off, h, 8); }",
    "void host(int *h) { nothing.fill(off, h); }",
    "struct H { void fill(int *h) { cudaMemcpyToSymbolAsync(off, h, 8, 0, cudaMemcpyHostToDevice); } };",
    "template <class T> void host(T *h) { CHECK(cudaMemcpyToSymbol(off, h, 8)); }",
    "struct H { H() { int h[2] = {8, 9}; cudaMemcpyToSymbol(off, h, 8); } }; static H init;",
    "static int init = [] { int h[2] = {8, 9}; return (int)cudaMemcpyToSymbol(off, h, 8); }();",
    "template <class T> struct H; template <class T> struct H<T *> { void f(T *h) { set(off, h); } };",
    "static auto &other = off; void host(int *h) { cudaMemcpyToSymbol(other, h, 8); }",
    "#define FILL(h) cudaMemcpyToSymbol(off, h, 8)\nvoid host(int *h) { FILL(h); }",
    "#define FILL(h) cudaMemcpyToSymbol(off, h, 8)\nvoid host(int *h) { nothing.put(FILL(h)); }",
    "#define FILL(n, h) nothing.fill(o##n, h)\nvoid host(int *h) { FILL(ff, h); }",
    "#define BOTH __device__ int f() { return 0; } void host(int *h) { cudaMemcpyToSymbol(off, h, 8); }\nBOTH\n",
    "void host(int *h) { nothing.fill(o\\u0066f, h); }",
    'void host(int *h) { cudaMemcpyToSymbol("off", h, 8); }',
    'void host(void *m, void *p) { cuModuleGetGlobal(p, 0, m, "_ZN1n3offE"); }',
    "__host__ __device__ void f(int *h) {\n#ifndef __CUDA_ARCH__\ncudaMemcpyToSymbol(off, h, 8);\n#endif\n}",
]


@pytest.mark.parametrize("host", FILLING)
def test_nothing_is_known_of_a_table_that_host_code_names(host: str, tmp_path: Path) -> None:
    kernel = "__global__ void k(int *A) { A[off[threadIdx.x & 1]] = A[off[1]]; }"
    others = [
        "",
        "void host(int *h) { int offset = 1; /* off */ h[offset] = 2; }",
        "__device__ int f() { return off[0]; }",
        "#define OFF(i) off[i]\n__device__ int f() { return OFF(0); }",
        "struct H { int a; __device__ H() : a(off[0]) {} };",
    ]
    for table, text, known in (
        *(("__constant__ int off[2] = {3, 4};", other, True) for other in others),
        ("__constant__ const int off[2] = {3, 4};", host, True),
        ("__constant__ int off[2] = {3, 4};", host, False),
    ):
        found = reading(f"{table}\n{text}\n{kernel}", tmp_path)
        assert (len(of_tables(found)) == 2) == known, text
        assert any("holds what it is declared with" in note for note in found.notes) == known


def test_bounds_and_runs_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A shift by 3 elements: 5 sectors, and one for the table; a run reads the table where its index is not known."""
    text = "__constant__ int off[4] = {0, 1, 2, 3};\n__global__ void k(int *A, int n) {"
    (tmp_path / "a.cu").write_text(f"{text} A[threadIdx.x + off[3]] = 1; }}")
    (tmp_path / "b.cu").write_text(f"{text} A[threadIdx.x + off[n]] = 1; }}")
    options = ["--metric", "sectors", "--block", "32", "--format", "json"]
    assert main(["bound", str(tmp_path / "a.cu"), *options]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["bound"] == "6"
    for name in ("a", "b"):
        assert main(["run", str(tmp_path / f"{name}.cu"), *options, "--arg", "n=3"]) == 0
        assert json.loads(capsys.readouterr().out)["totals"]["sectors"] == 6


GATHERED = """__constant__ int order[32] = {TABLE};
__global__ void k(const float *x, float *y) {
    __shared__ float tile[1024];
    int t = threadIdx.x;
    tile[t] = x[INDEX];
    __syncthreads();
    y[t] = tile[INDEX];
}
"""


@pytest.mark.parametrize(
    ("index", "span"),
    [
        ("order[t & 31]", 32),
        ("order[(5 * t + 3) & 31] * 2 + 64", 32),
        ("order[31 - (t & 31)]", 1000),
        ("order[order[t & 31]]", 32),
    ],
)
def test_tables_as_indices_are_known_lane_by_lane(
    index: str, span: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bound is what a run costs, whatever the table holds."""
    rng = random.Random(index)
    path = tmp_path / "k.cu"
    options = ["--metric", "sectors", "--metric", "conflicts", "--block", "64", "--format", "json"]
    for values in (rng.sample(range(span), 32), rng.choices(range(span), k=32)):
        table = f"{{{', '.join(map(str, values))}}}"
        path.write_text(GATHERED.replace("{TABLE}", table).replace("INDEX", index))
        assert main(["bound", str(path), *options]) == 0
        found = json.loads(capsys.readouterr().out)["results"]
        assert main(["run", str(path), *options]) == 0
        dearest = json.loads(capsys.readouterr().out)["max_per_warp"]
        bounds = {r["metric"]: (r["verdict"], int(r["bound"])) for r in found}
        assert bounds == {metric: ("certified", dearest[metric]) for metric in ("sectors", "conflicts")}
        assert f"given: order[31] == {values[31]}" in found[0]["assumptions"]


def test_a_certificate_for_another_table_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With elements 0 and 8 in one bank, by both checkers; so where nothing is said of one of them."""
    path, to = tmp_path / "k.cu", tmp_path / "c.json"
    table = f"{{{', '.join(str(8 * i % 32 + i // 4) for i in range(32))}}}"
    path.write_text(GATHERED.replace("{TABLE}", table).replace("INDEX", "order[t & 31]"))
    assert main(["bound", str(path), "--metric", "conflicts", "--block", "64", "--certificate", str(to)]) == 0
    assert "conflicts  <= 0  certified" in capsys.readouterr().out
    document = json.loads(to.read_text())
    assert recheck.recheck(document).verdict == "valid"
    rows = document["launch"]["contracts"]
    texts = [json.dumps(row) for row in rows]
    (eight,) = [i for i, text in enumerate(texts) if text.endswith(" 8]]]")]
    other = [json.loads(text.replace(" 8]]]", " 32]]]")) if i == eight else rows[i] for i, text in enumerate(texts)]
    for said in (other, rows[:eight] + rows[eight + 1 :]):
        changed = document | {"launch": document["launch"] | {"contracts": said}}
        to.write_text(json.dumps(changed | {"digest": certificate.digest(changed)}))
        assert recheck.recheck(json.loads(to.read_text())).verdict != "valid"
        assert main(["check", str(to)]) != 0


def test_long_tables_as_indices_are_not_known(tmp_path: Path) -> None:
    text = "__global__ void k(int *A) { A[t[threadIdx.x]] = 1; }"
    assert len(of_tables(reading(f"__constant__ int t[64] = {{1, 2}};\n{text}", tmp_path))) == 64
    assert of_tables(reading(f"__constant__ int t[65] = {{1, 2}};\n{text}", tmp_path)) == ()
