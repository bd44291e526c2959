"""How many statements of the second checker the shipped certificates exercise.

python -m tests.proofs.statements [FOLDER ...]
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from checker import recheck
from proofs.make import ROOT


def statements() -> set[int]:
    """The lines at which statements begin, docstrings aside."""
    tree = ast.parse(Path(recheck.__file__).read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return {s.lineno for s in found if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))}


def exercised(paths: list[Path]) -> set[int]:
    """Those that run while certificates are checked, or while the module is loaded."""
    lines: set[int] = set()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != recheck.__file__:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return trace

    code = compile(Path(recheck.__file__).read_text(encoding="utf-8"), recheck.__file__, "exec")
    fresh: dict[str, Any] = {"__name__": recheck.__name__}  # a module of its own, that remembers nothing
    sys.settrace(trace)
    try:
        exec(code, fresh)  # noqa: S102
        for path in paths:
            fresh["recheck"](json.loads(path.read_text(encoding="ascii")))
    finally:
        sys.settrace(None)
    return lines & statements()


def main() -> None:
    folders = sys.argv[1:] or sorted(path.name for path in ROOT.iterdir() if path.is_dir())
    seen = exercised([path for name in folders for path in sorted((ROOT / name).glob("*.json"))])
    print(f"{len(seen)} of {len(statements())} statements")
    print("not:", *sorted(statements() - seen))


if __name__ == "__main__":
    main()
