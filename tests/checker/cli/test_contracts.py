"""Contracts on data, tested on given arrays."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from checker.cli import main

KERNEL = """__global__ void k(const int *row, const int *col, int *y, int n, int w) {
    y[threadIdx.x] = row[n] + col[w];
}
"""


def judged(
    contracts: list[str], folder: Path, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[int, list[dict[str, Any]], str]:
    path = folder / "k.cu"
    path.write_text("".join(f"//@ requires {c};\n" for c in contracts) + KERNEL)
    code = main(["contracts", str(path), *more, "--format", "json"])
    out, err = capsys.readouterr()
    return code, json.loads(out).get("contracts", []), err


RISING = "forall i in [0, n): row[i] <= row[i + 1]"
NARROW = "forall i in [0, n): row[i + 1] - row[i] <= w"
WITHIN = "forall j: 0 <= col[j] && col[j] < n"
PAIRS = "forall i in [0, n), j in [0, n): i == j || row[j] != row[i]"


@pytest.mark.parametrize(
    ("contract", "row", "code", "index"),
    [
        (RISING, [0, 2, 2, 5], 0, None),
        (RISING, [0, 2, 1, 5], 3, {"i": 1}),
        (RISING, [0, 2, 2, 1], 3, {"i": 2}),
        (NARROW, [0, 2, 2, 5], 0, None),
        (NARROW, [0, 2, 2, 6], 3, {"i": 2}),
        (PAIRS, [4, 5, 6, 4], 0, None),
        (PAIRS, [4, 5, 4, 4], 3, {"i": 0, "j": 2}),
    ],
)
def test_the_first_index_that_breaks_a_contract(
    contract: str, row: list[int], code: int, index: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The end of a range is no part of it: only row[0] .. row[3] are looked at for n = 3."""
    np.save(tmp_path / "row.npy", np.array(row))
    options = ("--array", f"row=@{tmp_path / 'row.npy'}", "--arg", "n=3", "--arg", "w=3")
    found = judged([contract], tmp_path, capsys, *options)
    assert found[:2] == (code, [{"text": contract, "verdict": "broken" if code else "kept", "index": index}])


def test_without_limits_all_indices_of_what_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged([WITHIN], tmp_path, capsys, "--array", "col=iota:5", "--arg", "n=5")[0] == 0
    assert judged([WITHIN], tmp_path, capsys, "--array", "col=iota:5", "--arg", "n=4")[1][0]["index"] == {"j": 4}
    code, rows, _ = judged([WITHIN], tmp_path, capsys, "--array", "col=iota", "--arg", "n=4")
    assert (code, rows[0]["verdict"]) == (1, "untested")


def test_of_several_the_worst(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--array", "row=iota", "--arg", "n=64", "--arg", "w=0")
    code, rows, _ = judged([RISING, NARROW], tmp_path, capsys, *options)
    assert (code, [row["verdict"] for row in rows]) == (3, ["kept", "broken"])


@pytest.mark.parametrize(
    ("contract", "options", "told"),
    [
        ("forall i in [0, k): row[i] >= 0", [], "no variable or parameter is called 'k'"),
        ("forall i in [0, n): row[i]", [], "this is int, not bool"),
        ("forall i in [0, n): rows[i] >= 0", [], "no array is called 'rows'"),
        ("forall n: row[n] >= 0", [], "a variable of a contract has a name of its own, not 'n'"),
        ("forall i, i: row[i] >= 0", [], "a variable of a contract has a name of its own, not 'i'"),
        ("forall i in 0, n: row[i] >= 0", [], "a variable of a contract has a range [low, high)"),
        ("forall i in [0, n]: row[i] >= 0", [], "a range [low, high), to which high does not belong"),
        ("forall i in [0, n) row[i] >= 0", [], "a contract is 'forall', variables with ranges, a colon and a fact"),
        ("forall i row[i] >= 0", [], "a contract is 'forall', variables with ranges, a colon and a fact"),
        ("for all i in [0, n): row[i] >= 0", [], "a contract is 'forall', variables with ranges, a colon and a fact"),
        ("forall i in [0, row[0]): row[i] >= 0", [], "a range is over integers that the grid shares"),
        ("forall i in [0, n): row[i] >= threadIdx.x", [], "a contract is about arrays of integers"),
        (RISING, [], "'n' has no value"),
        (RISING, ["--arg", "m=3"], "kernel k has no parameter 'm'"),
        (RISING, ["--arg", "n=3", "--array", "z=ones"], "kernel k has no global array 'z'"),
        (RISING, ["--arg", "n=3", "--array", "z=ones"], "It has: row, col, y."),
        ("n > 0", ["--arg", "n=3"], "k has no contract"),
    ],
)
def test_what_cannot_be_tested(
    contract: str, options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = judged([contract], tmp_path, capsys, *options)
    assert code == 2
    assert told in err


HALVES = "forall i in [0, n / 2): row[2 * i] % 4 <= min(w, 1) && !(row[i] == 7 || -row[i] > 3)"


def emitted(contracts: list[str], language: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    (folder / "k.cu").write_text("".join(f"//@ requires {c};\n" for c in contracts) + KERNEL)
    assert main(["contracts", str(folder / "k.cu"), "--emit", language]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("contracts", [[RISING], [NARROW], [WITHIN], [PAIRS], [RISING, NARROW], [HALVES]])
def test_what_is_emitted_says_the_same(
    contracts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The functions, run, against `contracts` on the same data."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    code: dict[str, Any] = {}
    exec(emitted(contracts, "python", tmp_path, capsys), code)  # noqa: S102 (ours)
    source = emitted(contracts, "c++", tmp_path, capsys)
    rng, inputs, expected = np.random.default_rng(3), [], []
    for _ in range(20):
        n = int(rng.integers(0, 5))
        given: dict[str, Any] = {
            "n": n,
            "w": 3,
            "row": np.cumsum(rng.integers(-1, 5, n + int(rng.integers(0, 3)))),
            "col": rng.integers(0, n + 1, n),
        }
        for name in ("row", "col"):
            np.save(tmp_path / f"{name}.npy", given[name])
        arrays = [word for name in ("row", "col") for word in ("--array", f"{name}=@{tmp_path / name}.npy")]
        _, rows, _ = judged(contracts, tmp_path, capsys, *arrays, "--arg", f"n={n}", "--arg", "w=3")
        broken = next((row for row in rows if row["verdict"] == "broken"), None)
        at = ", ".join(f"{name} = {i}" for name, i in (broken["index"] if broken else {}).items())
        beyond = f": {broken['outside']}" if broken and "outside" in broken else ""
        expected.append(f"{broken['text']}, at {at}{beyond}" if broken else "")
        parameters = inspect.signature(code["check_k"]).parameters
        assert (code["check_k"](**{name: given[name] for name in parameters}) or "") == expected[-1]
        inputs.append(given)
    assert any(expected)
    if compiler is None:
        return
    order = re.findall(r"[(,] (?:long long|const T_\w+) \*?(\w+)", source.split("check_k")[1].replace("(", "( ", 1))
    calls = []
    for given in inputs:
        values = []
        for name in order:
            if np.ndim(given[name]):
                values += [f"std::vector<int>{{{', '.join(map(str, given[name]))}}}.data()", str(len(given[name]))]
            else:
                values.append(str(given[name]))
        calls.append(f"std::puts(check_k({', '.join(values)}).c_str());")
    text = f"#include <cstdio>\n#include <vector>\n{source}int main() {{ {' '.join(calls)} }}\n"
    (tmp_path / "host.cpp").write_text(text)
    subprocess.run([compiler, "-std=c++17", "-O0", "-o", tmp_path / "host", tmp_path / "host.cpp"], check=True)
    ran = subprocess.run([tmp_path / "host"], check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines() == expected


def test_a_list_of_elements_and_what_is_too_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"//@ requires {RISING};\n{KERNEL}")
    words = ["contracts", str(path), "--array", "row=0,3,5"]
    assert main([*words, "--arg", "n=2"]) == 0
    assert capsys.readouterr().out == f"kept      {RISING}\n"
    assert main([*words, "--arg", "n=4"]) == 3
    told = f"broken    {RISING}, at i = 2: 'row' has no element 3; 'row' is 2 elements short of that"
    assert told in capsys.readouterr().out
    assert main([*words[:3], "row=0,-3,99999999999", "--arg", "n=2"]) == 2
    assert "--array row=0,-3,99999999999: 99999999999 does not fit into 4 bytes" in capsys.readouterr().err
    assert main([*words[:3], "row=0,1.5", "--arg", "n=2"]) == 2
    assert "'1.5' is no whole number" in capsys.readouterr().err
    assert main([*words[:2], "--arg", "n=2"]) == 0
    assert "k.cu: warning: no --array row: its elements are taken to be 0\n" in capsys.readouterr().err
    np.save(tmp_path / "row.npy", np.array([0, -3, 1 << 40, 1 << 41]))
    assert main([*words[:3], f"row=@{tmp_path / 'row.npy'}", "--arg", "n=2"]) == 2
    assert "row.npy: element 2 is 1099511627776, which does not fit into 4 bytes" in capsys.readouterr().err


UNGUARDED: Final = "forall i in [0, n): row[i + 1] - row[i] <= w"
GUARDED: Final = "forall i in [0, n): i == n - 1 || row[i + 1] - row[i] <= w"


@pytest.mark.parametrize(("contract", "code"), [(UNGUARDED, 3), (GUARDED, 0)])
def test_an_element_that_there_is_not_breaks_a_contract(
    contract: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Read as 0, row[3] would keep it. Every command that runs on data says so with the same code, and so does what is
    emitted; without the array, its elements are 0."""
    path = tmp_path / "k.cu"
    path.write_text(f"//@ requires {contract};\n{KERNEL}")
    given = ["--arg", "n=3", "--arg", "w=3", "--array", "row=0,2,2"]
    words = ["--block", "1", *given]
    assert main(["contracts", str(path), *given]) == code
    assert ("at i = 2: 'row' has no element 3" in capsys.readouterr().out) == bool(code)
    if code:
        for command in (["run"], ["coalesce", "--quick", "--confirm"], ["compiled", "--ptx=there-is.none"]):
            assert main([*command, str(path), *words]) == code, command
            assert "the arrays break the contract" in capsys.readouterr().err
    assert main(["contracts", str(path), *given[:4]]) == 0
    capsys.readouterr()
    found: dict[str, Any] = {}
    exec(emitted([contract], "python", tmp_path, capsys), found)  # noqa: S102 (ours)
    assert found["check_k"](n=3, w=3, row=[0, 2, 2]) == (
        f"{contract}, at i = 2: 'row' has no element 3" if code else None
    )


def test_contracts_and_facts_that_are_assumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`contracts` and `run` test --assume as they test the source; a fact that the source requires is a warning."""
    path = tmp_path / "k.cu"
    path.write_text(f"//@ requires n % 2 == 0;\n{KERNEL}")
    given = [str(path), "--array", "row=0,2,1,5", "--array", "col=zeros:8", "--arg", "n=3", "--arg", "w=3"]
    for command in (["contracts"], ["run", "--block", "1"]):
        assert main([*command, *given, "--assume", RISING]) == 3
        assert "at i = 1" in "".join(capsys.readouterr())
        assert main([*command, *given, "--assume", NARROW.replace("<=", "<"), "--assume", "n % 4 == 0"]) == 2
        assert "--assume: n % 4 == 0 does not hold with these arguments" in capsys.readouterr().err
        assert main([*command, *given, "--assume", "forall j: col[j] == 0", "--assume", "n % 3 == 0"]) == 0
        assert "k.cu: warning: n % 2 == 0 is required, and does not hold here" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["contracts"], ["run", "--block=1"], ["bound", "--metric=sectors", "--block=32"]])
@pytest.mark.parametrize("text", ["forall i in [0, n): rwo[i] <= 3", "n % zz == 0"])
def test_what_is_assumed_is_shown_where_it_cannot_be_read(
    command: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.cu").write_text(f"//@ requires {RISING};\n{KERNEL}")
    given = ["--arg", "n=3", "--arg", "w=3"] if command[0] != "bound" else []
    assert main([*command, str(tmp_path / "k.cu"), *given, "--assume", text]) == 2
    told = capsys.readouterr().err.splitlines()
    at = text.index("rwo" if "rwo" in text else "zz")
    assert told[0].startswith(f"--assume:1:{at + 1}: error: ")
    assert told[1:3] == [f"    {text}", f"    {' ' * at}^"]


@pytest.mark.parametrize("more", [["--format", "json"], ["--arg", "n=3"], ["--array", "row=ones"]])
def test_what_is_emitted_has_no_other_format(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.cu").write_text(f"//@ requires {RISING};\n{KERNEL}")
    assert main(["contracts", str(tmp_path / "k.cu"), "--emit", "python", *more]) == 2
    assert "--emit prints a program, and tests nothing itself" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["in", "at", "most", "index", "len"])
def test_what_is_emitted_has_names_of_its_own(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = f"//@ requires forall i in [0, max(n, 1)): {name}[i] >= min(n, 0);\n"
    source += f"__global__ void k(const int *{name}, int *y, int n) {{ y[0] = {name}[0]; }}"
    (tmp_path / "k.cu").write_text(source)
    assert main(["contracts", str(tmp_path / "k.cu"), "--emit", "python"]) == 0
    code: dict[str, Any] = {}
    exec(capsys.readouterr().out, code)  # noqa: S102 (ours)
    assert code["check_k"](2, [0, 3]) is None
    assert code["check_k"](2, [0, -3]).endswith(", at i = 1")


def test_what_is_emitted_takes_integers_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """3.9 is not rounded to 3, and a row of a table is no element."""
    code: dict[str, Any] = {}
    exec(emitted([RISING], "python", tmp_path, capsys), code)  # noqa: S102 (ours)
    for row in (np.array([0, 3.9, 3.1]), np.array([[0, 1], [2, 3]]), [0, 3.9, 3.1]):
        with pytest.raises(TypeError):
            code["check_k"](n=1, row=row)
    assert code["check_k"](n=2, row=np.array([0, 3, 2], dtype=np.uint16)) == f"{RISING}, at i = 1"
    assert "static_assert(std::is_integral<T>::value" in emitted([RISING], "c++", tmp_path, capsys)


PAST: Final = {
    "2 * a[0] <= 5": (1 << 62, "past"),
    "a[0] + a[1] <= 5": (1 << 62, "past"),
    "-3 - a[0] >= 0": ((1 << 63) - 1, "past"),
    "-a[0] >= 0": (-(1 << 63), "past"),
    "a[0] / -1 <= 5": (-(1 << 63), "past"),
    "a[0] % -1 == 0": (-(1 << 63), "kept"),
    "a[0] << 63 == 0": (1, "past"),
    "a[0] << 3 >= 0": (1 << 60, "past"),
    "-3 * a[0] <= 5": (-(1 << 62), "past"),
    "-1 * a[0] >= 0": (-(1 << 63), "past"),
    "a[0] - 1 <= 9223372036854775806": ((1 << 63) - 1, "kept"),
    "-2 * a[0] >= -9223372036854775807 - 1": (1 << 62, "kept"),
}
"""Contracts, an element of 64 bits, and what the function in C++ says of it."""


def test_what_is_emitted_says_where_64_bits_are_not_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sum that wraps around would keep what is broken."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no compiler")
    text, head, main_ = "", "", ""
    for i, (contract, (element, _)) in enumerate(PAST.items()):
        path = tmp_path / f"k{i}.cu"
        kernel = "__global__ void k(const long long *a, int *y) { y[0] = 1; }"
        path.write_text(f"//@ requires {contract};\n{kernel}")
        assert main(["contracts", str(path), "--emit", "c++"]) == 0
        source = capsys.readouterr().out.splitlines()
        head = "\n".join(line for line in source if line.startswith("#include"))
        body = "\n".join(line for line in source if not line.startswith("#include"))
        text += f"namespace n{i} {{\n{body}\n}}\n"
        value = "LLONG_MIN" if element == -(1 << 63) else f"{element}LL"
        main_ += f"try {{ long long a[] = {{{value}, {value}}}; std::string s = n{i}::check_k(a, 2); "
        main_ += 'std::puts(s.empty() ? "kept" : "broken"); } catch (const std::range_error &) { std::puts("past"); }\n'
    (tmp_path / "host.cpp").write_text(f"{head}\n#include <cstdio>\n{text}int main() {{ {main_} }}\n")
    words = [compiler, "-std=c++17", "-O0", "-ftrapv", "-o", str(tmp_path / "host"), str(tmp_path / "host.cpp")]
    subprocess.run(words, check=True)
    ran = subprocess.run([tmp_path / "host"], check=True, capture_output=True, text=True)
    assert dict(zip(PAST, ran.stdout.split(), strict=True)) == {c: said for c, (_, said) in PAST.items()}


def test_counters_of_the_logic_are_not_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "int i = 0;\n//@ loop turns <= 9;\nwhile (row[i]) i++;\n//@ assume i < zzzqqq;\ny[i] = 0;"
    (tmp_path / "k.cu").write_text(KERNEL.replace("y[threadIdx.x] = row[n] + col[w];", text))
    assert main(["bound", str(tmp_path / "k.cu"), "--block", "32", "--metric", "divwarps"]) == 2
    err = capsys.readouterr().err
    assert "Known here: i, n, w." in err


def test_a_size_that_the_kernel_is_not_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cu").write_text(f"//@ requires forall i in [0, n): row[i] <= longest;\n{KERNEL}")
    assert main(["bound", str(tmp_path / "k.cu"), "--block", "32", "--metric", "divwarps"]) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert "k.cu:1:44: error: no variable or parameter is called 'longest'" in err
    assert "Known here: i, n, w. A size that the kernel is not given stands as a number, or becomes one more" in err


def test_elements_at_a_point_by_name_and_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "__global__ void k(const int *row, int *y, int n) { for (int i = 0; i < row[n]; i++) y[i] = 0; }"
    (tmp_path / "k.cu").write_text(f"//@ requires row[n] == row[n];\n{source}")
    np.save(tmp_path / "row.npy", np.array([4, 7, 9]))
    words = ["bound", str(tmp_path / "k.cu"), "--block", "32", "--metric", "sectors", "--format", "json", "--at", "n=2"]
    found = []
    for at in ("row[2]=9", f"row=@{tmp_path / 'row.npy'}"):
        assert main([*words, "--at", at]) == 0
        found.append(json.loads(capsys.readouterr().out)["results"][0]["value"])
    assert found[0] == found[1] > 0
