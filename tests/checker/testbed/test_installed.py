"""What is installed, by a digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.testbed import installed


def test_all_files_are_in_it_once_but_what_python_makes_of_them() -> None:
    names = [name for name, _ in installed.files()]
    assert len(names) == len(set(names))
    assert {"checker/kernel.py", "checker/notation/notation.lark", "logic/metrics.py", "semantics/__init__.py"} <= {
        *names
    }
    assert not [name for name in names if name.endswith(".pyc")]


def test_it_changes_with_the_text_and_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for name, text in (("a", "x"), ("a", "y"), ("b", "x")):
        path = tmp_path / name
        path.write_text(text)
        monkeypatch.setattr(installed, "files", lambda name=name, path=path: iter([(name, path)]))
        found.add(installed.digest.__wrapped__())
    assert len(found) == 3
