"""The configuration: what it says, and where it is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.fleet.config import nearest, read
from checker.notation.problem import SyntaxProblem

FINE = 'kernel = "k"\nmetric = "sectors"\n'
WHOLE = """\
metrics = ["sectors", "steps"]
include-paths = ["inc"]
defines = ["N=4"]
std = "c++20"
exclude = ["old"]
block = 256
time-limit = 60

[kernel.matMul]
block = [16, 16]
assume = ["wA % 16 == 0"]

[[budget]]
kernel = "matMul"
metric = "sectors"
at = "wA=1024"
most = 330

[[budget]]
kernel = "scan"
metric = "steps"
most = "2*n + 1/2"
"""


def test_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "warpbound.toml"
    path.write_text(WHOLE)
    found = read(path)
    assert found.values["metrics"] == ["sectors", "steps"]
    assert (found.values["include-paths"], found.values["block"]) == ([str(tmp_path / "inc")], "256")
    assert found.kernels == {"matMul": {"block": "16,16", "assume": ["wA % 16 == 0"]}}
    assert [(b.kernel, b.metric, b.at, b.most, b.per) for b in found.budgets] == [
        ("matMul", "sectors", "wA=1024", "330", "warp"),
        ("scan", "steps", "", "2*n + 1/2", "warp"),
    ]
    assert [str(b.loc) for b in found.budgets] == [f"{path}:14:1", f"{path}:20:1"]


def test_that_of_the_nearest_folder_is_for_a_source(tmp_path: Path) -> None:
    (tmp_path / "src/deep").mkdir(parents=True)
    assert nearest(tmp_path / "src") in (None, nearest(tmp_path))
    (tmp_path / "warpbound.toml").write_text("")
    (tmp_path / "src/pyproject.toml").write_text("[tool.ruff]\n# warpbound\n")
    assert nearest(tmp_path / "src/deep/a.cu") == tmp_path / "warpbound.toml"
    (tmp_path / "src/pyproject.toml").write_text('[tool.warpbound]\nblock = "32"\n')
    found = nearest(tmp_path / "src/deep")
    assert found == tmp_path / "src/pyproject.toml"
    assert read(found).values == {"block": "32"}


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("block =", "1:8", "this is no TOML"),
        ("metric = []", "1:1", "'metric' is not known here"),
        ('metrics = "all"', "1:1", "'metrics' is a list of texts"),
        ("\njobs = 0", "2:1", "'jobs' is a whole number above 0"),
        ("time-limit = 1.5", "1:1", "'time-limit' is a whole number above 0"),
        ("block = true", "1:1", "'block' is sizes"),
        ("kernel = 3", "1:1", "'kernel' is a table"),
        ("[kernel.k]\nblok = 3", "2:1", "'blok' is not known here"),
        ("block = 32\n[kernel.k]\nblock = []", "3:1", "'block' is sizes"),
        ("budget = 3", "1:1", "budgets are tables"),
        ("[[budget]]\nkernel = 3", "2:1", "'kernel' is a text"),
        ('[[budget]]\nkernel = "k"\nmost = 3\n', "1:1", "a budget has no 'metric'"),
        (f"[[budget]]\n{FINE}most = 1\n\n[[budget]]\n{FINE}most = 1.5\n", "9:1", "'most' is a whole number"),
        ('[[budget]]\nkernel = "k"\nmetric = "s"\nmost = 1\nper = "lane"', "5:1", "'per' is warp, block or grid"),
        ('[[budget]]\nkernel = "k"\nmetric = "s"\nmost = 1\nwhen = "x"', "5:1", "'when' is not known here"),
        ("[[budget]]\nx = 1\n[budget]", "3:1", "budget' is a list of tables, and this is one table"),
        ("[kernel.k]\nx = 1\n[[kernel.k]]", "3:1", "kernel.k' is one table, and this is one of several"),
        ("[kernel.k]\n[kernel.k]", "2:1", "kernel.k' is there already"),
        ("jobs = 1\n jobs = 2", "2:2", "'jobs' has a value already"),
        ("block = {a = 1}\nblock.b = 2", "2:1", "'block.b' adds to what is given as a whole"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["warpbound.toml", "pyproject.toml"])
def test_a_wrong_one(text: str, place: str, problem: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    line, column = map(int, place.split(":"))
    if name == "pyproject.toml":
        text = re.sub(r"(\[+)(budget|kernel\.k)\]", r"\1tool.warpbound.\2]", text)
        text, line = f"[tool.warpbound]\n{text}", line + 1
    path.write_text(text)
    with pytest.raises(SyntaxProblem) as error:
        read(path)
    assert problem in error.value.message
    assert str(error.value.loc) == f"{path}:{line}:{column}"


@pytest.mark.parametrize("text", ["[tool.warpbound\n", "[tool.warpbound]\nx\n"])
def test_a_broken_one_is_not_overlooked(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert nearest(tmp_path) == tmp_path / "pyproject.toml"
