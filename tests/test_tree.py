"""What every file of the tree promises."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.bench import limits

ROOT: Final = Path(__file__).resolve().parents[1]

UNWANTED: Final = {
    "limit_" + "denominator": "a rounded float is not a bound",
    r"\.\./" + "shared|shared/" + "spec|shared/" + "data": "the tree stands alone",
    r"(?<![\w.])/(work|root|home|Users)/": "a path of one machine",
    r"py" + r"pi\.org|python" + r"hosted|npm" + r"js\.(org|com)": "a registry's host",
}
LARGEST: Final = 1 << 20

LONGEST: Final = 700
"""Lines of a file of the product; the second checker is read from top to bottom and stays one file."""

TRUSTED: Final = {"logic": {"logic"}, "checker/kernel.py": {"logic"}, "checker/recheck.py": set()}
"""What claims rest on, and all it may import besides the standard library."""


def files(top: Path = ROOT) -> Iterator[Path]:
    """The files of the project: no caches, no environment, no build."""
    for folder, folders, names in os.walk(top):
        folders[:] = [
            d
            for d in folders
            if d == ".ci" or not (d.startswith(".") or d in ("__pycache__", "build", "dist") or d.endswith(".egg-info"))
        ]
        yield from (Path(folder, name) for name in names if name != ".git")  # a file in a second working tree


def trusted() -> list[tuple[Path, set[str]]]:
    return [
        (path, roots)
        for name, roots in TRUSTED.items()
        for path in ([ROOT / name] if name.endswith(".py") else sorted((ROOT / name).rglob("*.py")))
    ]


@pytest.mark.whole
@pytest.mark.parametrize("pattern", UNWANTED)
def test_no_file_says_what_none_may_say(pattern: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if re.search(pattern, line)
    ]
    assert not found, UNWANTED[pattern]


def test_no_file_is_large() -> None:
    sizes = {path.relative_to(ROOT): path.stat().st_size for path in files()}
    assert Path("pyproject.toml") in sizes
    assert {path: size for path, size in sizes.items() if size > LARGEST} == {}


def test_no_file_of_the_product_is_long() -> None:
    tops = ("logic", "semantics", "checker", "proofs", "warpbound")
    paths = [path for top in tops for path in (ROOT / top).rglob("*.py")]
    lengths = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in paths}
    assert [name for name, n in lengths.items() if n > LONGEST] == ["checker/recheck.py"]


def test_claims_rest_on_no_assert_and_no_float() -> None:
    """`assert` is gone under -O, and a float is not a number that a claim may rest on."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, _ in trusted()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Assert) or (isinstance(node, ast.Constant) and isinstance(node.value, float | complex))
    ]
    assert found == []


def test_claims_rest_on_the_standard_library() -> None:
    """import-linter forbids the libraries that it is told of; this forbids all others."""
    found = []
    for path, roots in trusted():
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Import(names):
                    modules = [alias.name for alias in names]
                case ast.ImportFrom(module=str(module)):
                    modules = [module]
                case _:
                    continue
            allowed = roots | sys.stdlib_module_names
            found += [f"{path.relative_to(ROOT)}: {m}" for m in modules if m.partition(".")[0] not in allowed]
    assert found == []


def test_every_package_has_its_layer() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (layers, *_) = config["tool"]["importlinter"]["contracts"]
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert set(layers["layers"]) == set(config["tool"]["importlinter"]["root_packages"]) == packages


def test_the_readme_begins_with_two_commands_and_ci_runs_the_second() -> None:
    block = re.search(r"```\w*\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block is not None
    commands = [line.partition("#")[0].strip() for line in block[1].splitlines()]
    assert commands == ["make demo", "make test"]
    script = (ROOT / ".ci/run").read_text().splitlines()
    assert script[-1] == commands[1]


def test_the_errata_name_tests_that_exist() -> None:
    named = set(re.findall(r"`(tests/[\w/]+\.py)", (ROOT / "ERRATA.md").read_text()))
    assert sorted(name for name in named if not (ROOT / name).is_file()) == []


def test_what_is_said_of_cuda_names_tests_that_exist() -> None:
    """docs/cuda.md: every row of a construct ends with a test, and every test that is named is one."""
    text = (ROOT / "docs" / "cuda.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    files = {name for name, _ in named}
    assert files == {name for name in files if (ROOT / name).is_file()}
    lost = [f"{n}::{t}" for n, t in named if t and f"def {t}(" not in (ROOT / n).read_text(encoding="utf-8")]
    assert not lost
    tables = re.findall(r"^\| construct \|.*\| test \|\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    assert len(rows) > 30
    assert [row for row in rows if not re.search(r"`tests/[\w/]+\.py::\w+` \|$", row)] == []


def test_what_is_slow_is_a_test() -> None:
    """A line of slow.txt that names nothing would leave a slow test in `make quick`; what is dear or costly is slow."""
    lists = [(ROOT / "tests" / name).read_text().splitlines() for name in ("slow.txt", "dear.txt", "costly.txt")]
    names, dear, costly = lists
    assert lists == [sorted(set(each)) for each in lists]
    assert {*dear, *costly} <= {*names}
    assert {*dear}.isdisjoint(costly)
    lost = [
        name
        for name in names
        for file, _, function in (name.partition("::"),)
        if f"def {function}(" not in (ROOT / file).read_text(encoding="utf-8")
    ]
    assert not lost


def test_the_architecture_names_every_file() -> None:
    words = set(re.findall(r"\w+", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")))
    tops = ("logic", "semantics", "checker", "proofs", "warpbound")
    stems = {path.stem for top in tops for path in (ROOT / top).rglob("*.py")} - {"__init__"}
    assert not stems - words


def test_a_rule_is_named_in_three_places() -> None:
    """What it takes to add one: its text, how the search uses it, and the second checker."""
    tops = ("logic", "semantics", "checker")
    paths = [path for top in tops for path in (ROOT / top).rglob("*.py") if "WhileCase" in path.read_text("utf-8")]
    assert {str(path.relative_to(ROOT)) for path in paths} == {
        "logic/rules/extensions.py",
        "checker/synthesis/rules/loops.py",
        "checker/recheck.py",
    }


def test_docstrings_begin_with_what_a_thing_is() -> None:
    """ "The index of ..", not "What is .. of which": whoever reads the first two words knows what it is about."""
    tops = ("logic", "semantics", "checker", "proofs", "warpbound")
    paths = [path for top in tops for path in (ROOT / top).rglob("*.py")]
    wrong = re.compile(r"(\A|:\n+ +)[rR]?\"\"\"\s*What\b")
    assert [str(path.relative_to(ROOT)) for path in paths if wrong.search(path.read_text(encoding="utf-8"))] == []


def test_no_test_writes_out_the_metrics() -> None:
    """A new one would have to be added wherever they are; those of Table 1 are tests/paper/test_table1.py's."""
    all_four = re.compile(r"[\"']sectors[\"'],\s*[\"']conflicts[\"'],\s*[\"']divwarps[\"'],\s*[\"']steps[\"']")
    paths = [path for path in (ROOT / "tests").rglob("*.py") if "paper" not in path.parts]
    assert [str(path) for path in paths if all_four.search(path.read_text(encoding="utf-8"))] == []


def test_rules_are_known_by_what_they_say() -> None:
    """No other part of the product has the name of a rule in a string; mutants of rules are of named rules."""
    named = ("logic/rules/", "checker/synthesis/rules/", "checker/recheck.py", "checker/testbed/bugs.py")
    found = []
    for path in (path for top in ("logic", "semantics", "checker", "proofs") for path in (ROOT / top).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if name.startswith((*named, "checker/testbed/mutants.py")) or not re.search(rb"(Q|EQ|OQ):", path.read_bytes()):
            continue
        tree = ast.parse(path.read_bytes())
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found += [
            f"{name}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and id(node) not in docstrings
            if isinstance(node.value, str) and re.match(r"(Q|EQ|OQ):", node.value)
        ]
    assert found == []


def test_every_limit_is_one() -> None:
    """Each is read where a search goes on or ends, and is told of."""
    source = (ROOT / "checker/limits.py").read_text(encoding="utf-8")
    names = re.findall(r"^([A-Z_]+): Final = ", source, re.MULTILINE)
    product = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "checker").rglob("*.py"))
    assert names
    assert [name for name in names if f"limits.{name}" not in product] == []
    assert re.findall(r'^([A-Z_]+): Final = .*\n"""', source, re.MULTILINE) == names
    told = (ROOT / "docs/limits.md").read_text(encoding="utf-8")
    rows = [(row, text) for row, text in re.findall(r"^\| `([\w.]+)` \| ([^|]*) \|", told, re.MULTILINE)]
    listed = [(limit.name, limit.told.rstrip(".")) for limit in limits.listed()]
    assert sorted(rows) == sorted(listed), "`make limits` makes the page anew"
    assert {*names} < {name for name, _ in rows}
    assert all(text for _, text in rows)


def test_an_environment_that_is_a_link_is_not_cleared(tmp_path: Path) -> None:
    """`python -m venv --clear` follows it, and would empty what another tree uses."""
    other, tree = tmp_path / "other", tmp_path / "tree"
    for folder in (other, tree):
        folder.mkdir()
    (other / "kept").touch()
    (tree / ".venv").symlink_to(other)
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        (tree / name).write_bytes((ROOT / name).read_bytes())
    done = subprocess.run(
        [shutil.which("make") or "make", "-C", str(tree), "venv"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "error: .venv is a link to " in done.stderr
    assert (other / "kept").exists()
