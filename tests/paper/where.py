"""Where a figure, table or theorem of the paper is tested, if not under tests/paper itself."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def pointed_at(path: str, *names: str) -> None:
    """Fails unless the file has tests of these names."""
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    assert set(names) <= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, path
