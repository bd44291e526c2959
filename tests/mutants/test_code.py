"""The mutants of code: what they change, and which tests they meet."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.code import Outcome, Trial, chosen, mutants_of, shown, stages

SOURCE = b'''"""One 1."""
def f(x: int | None = 3, *, y: "int | str" = "") -> int | None:
    if (x or 0) < 2 and y not in ("\xc3\xa9", True):  # x < 2
        return (x) + (4)
    while not x: x //= 2
    return None
'''

MUTANTS = {
    "x: int | None = 4": "number",
    "if (not ((x or 0) < 2 and y not in ('é', True))):": "branch",
    "if (x and 0) <": "operator",
    "if (x or 1) <": "number",
    "if (x or 0) <= 2 and": "comparison",
    "if (x or 0) < 3 and": "number",
    "if (x or 0) < 2 or y": "operator",
    "return None\n    while": "return",
    "return (x) - (4)": "operator",
    "return (x) + (5)": "number",
    "while (not (not x)):": "branch",
    "x //= 3": "number",
}


def test_one_place_of_a_file_is_changed() -> None:
    found = mutants_of("f.py", SOURCE)
    changed = [m.applied(SOURCE).decode().replace('"é"', "'é'") for m in found]
    assert [m.kind for m in found] == list(MUTANTS.values())
    assert all(ast.parse(text) for text in changed)
    assert all(part in text for part, text in zip(MUTANTS, changed, strict=True))
    assert all("int | None:\n" in text and '"int | str"' in text and "# x < 2\n" in text for text in changed)
    assert [m.line for m in found] == [2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5]
    assert shown(found[8], SOURCE) == "f.py:4: operator\n  -         return (x) + (4)\n  +         return (x) - (4)"


def test_a_seed_draws_the_same_places() -> None:
    root = Path(__file__).parents[2]
    files = [root / "logic" / "facts.py", root / "logic" / "polynomials.py"]
    mutants = chosen(files, root, 5, seed=7)
    assert mutants == chosen(files, root, 5, seed=7) != chosen(files, root, 5, seed=8)
    assert len(set(chosen(files, root, 10**6, seed=0))) == sum(
        len(mutants_of(str(path.relative_to(root)), path.read_bytes())) for path in files
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("logic", "tests/logic"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "logic" / "a.py").write_text("def f(x):\n    return x * 2\n\n\ndef g(x):\n    return x - 2\n")
    (tmp_path / "tests" / "logic" / "test_a.py").write_text(
        "from logic.a import f\n\n\ndef test_f():\n    assert f(3) == 6\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = --import-mode=importlib\n")
    return tmp_path


def test_near_tests_come_first(tree: Path) -> None:
    assert stages("logic/a.py", tree, alone=False) == [("tests/logic/test_a.py",), ("tests/logic",), ()]
    for name in ("logic/b/c.py", "other/d.py"):
        (tree / name).parent.mkdir()
        (tree / name).write_text('"""\n>>> 1\n1\n"""\n' if name == "other/d.py" else "")
    assert stages("logic/b/c.py", tree, alone=True) == [("tests/logic",)]
    assert stages("other/d.py", tree, alone=False) == [
        ("tests/test_examples.py::test_examples_in_docstrings[other.d]",),
        (),
    ]


class Quick(Trial):
    """Runs what the tree's one test asks for, here."""

    def run(self, _: Sequence[str], __: float | None) -> Outcome:
        names: dict[str, Any] = {}
        exec((self.tree / "logic" / "a.py").read_text(), names)  # noqa: S102
        return "passes" if names["f"](3) == 6 else "fails"


def test_what_no_test_asks_for_survives(tree: Path) -> None:
    source = (tree / "logic" / "a.py").read_bytes()
    times, minus = (m for m in mutants_of("logic/a.py", source) if m.kind == "operator")
    trial = Quick(tree)
    assert trial.killer(times) == "tests/logic/test_a.py fails"
    assert trial.killer(minus) == ""
    assert (tree / "logic" / "a.py").read_bytes() == source


def test_a_tree_whose_tests_fail_anyway_is_refused(tree: Path) -> None:
    (tree / "tests" / "logic" / "test_a.py").write_text("def test_f():\n    assert False\n")
    mutant = mutants_of("logic/a.py", (tree / "logic" / "a.py").read_bytes())[0]
    with pytest.raises(ValueError, match="without any mutant, tests fail"):
        Trial(tree, alone=True).killer(mutant)
