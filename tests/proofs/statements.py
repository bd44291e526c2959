"""How many statements of the second checker the shipped certificates exercise.

python -m tests.proofs.statements [FOLDER ...]
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

from checker import recheck
from proofs.make import ROOT


def _does_nothing(s: ast.stmt) -> bool:
    """Whether a statement is a docstring, or about the language."""
    if isinstance(s, ast.ImportFrom):
        return s.module == "__future__"
    return isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)


def statements() -> set[int]:
    """The lines at which statements begin that do anything."""
    tree = ast.parse(Path(recheck.__file__).read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return {s.lineno for s in found if not _does_nothing(s)}


class _Marked(ast.NodeTransformer):
    """Puts `mark(line)` before each statement, where it can run."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            rows = getattr(node, name, None)
            if isinstance(rows, list):
                setattr(node, name, [part for s in rows for part in (*self._mark(s), s)])
        return node

    def _mark(self, s: ast.stmt) -> list[ast.stmt]:
        if _does_nothing(s):
            return []
        name, line = ast.Name("mark", ast.Load()), ast.Constant(s.lineno)
        return [ast.copy_location(ast.Expr(ast.Call(name, [line], [])), s)]


def exercised(paths: list[Path]) -> set[int]:
    """Those that run while certificates are checked, or while the module is loaded."""
    lines: set[int] = set()
    tree = _Marked().visit(ast.parse(Path(recheck.__file__).read_text(encoding="utf-8")))
    code = compile(ast.fix_missing_locations(tree), recheck.__file__, "exec")
    fresh: dict[str, Any] = {"__name__": recheck.__name__, "mark": lines.add}  # a module that remembers nothing
    exec(code, fresh)  # noqa: S102
    for path in paths:
        fresh["recheck"](json.loads(path.read_text(encoding="ascii")))
    return lines & statements()


def main() -> None:
    folders = sys.argv[1:] or sorted(path.name for path in ROOT.iterdir() if path.is_dir())
    seen = exercised([path for name in folders for path in sorted((ROOT / name).glob("*.json"))])
    print(f"{len(seen)} of {len(statements())} statements")
    print("not:", *sorted(statements() - seen))


if __name__ == "__main__":
    main()
