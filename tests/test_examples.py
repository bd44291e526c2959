"""The examples in docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for top in ("logic", "semantics", "checker")
    for path in (ROOT / top).rglob("*.py")
    if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0
    assert found.failed == 0


def test_there_are_examples_enough_to_learn_from() -> None:
    finder = doctest.DocTestFinder()
    found = (test for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert sum(len(test.examples) for test in found) >= 100


def test_the_bounds_in_the_readme_are_certified() -> None:
    readme, page = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/proofs.md"))
    found = re.findall(r"^ +(\w+), every warp .*\n\n +(\w+) +<= (.*?) +certified ", readme, re.MULTILINE)
    assert len(found) == 2
    for name, metric, bound in found:
        assert re.search(rf"^\| \[{name}\].* \| {metric} \| `{re.escape(bound)}` \|", page, re.MULTILINE), bound
