"""Random mutants of core modules: what the tests would not notice.

One place of one file is changed at a time, in a copy of the tree: a comparison, a number (one more), a test of a branch
(negated), an operator, or a value that is returned (None). Then the tests that stand where the file's are run, those of
its room, and all; what none of them notices survives, and gets a test or a reason.

    python -m tests.mutants.code --places 40 --seed 1
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path(__file__).parents[2]

CORE: Final = (
    "logic",
    "semantics/lockstep.py",
    "semantics/grid.py",
    "semantics/values.py",
    "semantics/cuda",
    "checker/kernel.py",
    "checker/recheck.py",
    "checker/oracles",
    "checker/certificates",
    "checker/synthesis",
)
"""What claims rest on, and what finds them."""

LEFT_OUT: Final = shutil.ignore_patterns(
    ".*_cache", ".git", ".venv", "__pycache__", ".hypothesis", "build", "*.egg-info"
)

OTHER: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
"""How an operator is written, and what comes in its place."""

SLACK: Final = 20.0
"""Seconds that tests of a mutant may take besides three times what they take without it."""


@dataclass(frozen=True, slots=True, order=True)
class Mutant:
    """A file with other bytes from `start` to `end`."""

    file: str
    start: int
    end: int
    line: int
    kind: str
    new: bytes

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.new + source[self.end :]


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """All mutants of a file, in the order of their places."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def first(node: ast.expr) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def last(node: ast.expr) -> int:
        return starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def mutant(kind: str, start: int, end: int, new: bytes) -> Mutant:
        return Mutant(file, start, end, source.count(b"\n", 0, start) + 1, kind, new)

    def between(left: ast.expr, op: ast.AST, right: ast.expr, kind: str) -> Iterator[Mutant]:
        """The operator in another's place; parentheses may stand around it."""
        if type(op) in OTHER:
            old, new = OTHER[type(op)]
            found = re.search(re.escape(old).replace(r"\ ", r"\s+").encode(), source[last(left) : first(right)])
            if found:
                yield mutant(kind, last(left) + found.start(), last(left) + found.end(), new.encode())

    def changed(node: ast.AST) -> Iterator[Mutant]:
        match node:
            case ast.Compare(left, ops, rights):
                for a, op, b in zip((left, *rights), ops, rights, strict=False):
                    yield from between(a, op, b, "comparison")
            case ast.BinOp(left, op, right):
                yield from between(left, op, right, "operator")
            case ast.BoolOp(op, values):
                for a, b in pairwise(values):
                    yield from between(a, op, b, "operator")
            case ast.Constant(int() as number) if not isinstance(number, bool):
                yield mutant("number", first(node), last(node), str(number + 1).encode())
            case ast.Return(ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
                yield mutant("return", first(value), last(value), b"None")
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            test = source[first(node.test) : last(node.test)]
            yield mutant("branch", first(node.test), last(node.test), b"(not (" + test + b"))")

    return sorted(m for node in _code(ast.parse(source)) for m in changed(node))


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """A tree's nodes without its annotations, which nothing looks at."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "type_comment"):
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST):
                    yield from _code(child)


def stages(file: str, tree: Path, alone: bool) -> list[tuple[str, ...]]:
    """Which tests a mutant of a file meets, one after the other: those of the file and its examples, those of its
    folder, and all."""
    path, tests = Path(file), tree / "tests"
    folder = path.parent
    near = [f"tests/{folder}/test_{path.stem}.py"] if (tests / folder / f"test_{path.stem}.py").is_file() else []
    if ">>> " in (tree / file).read_text(encoding="utf-8"):
        module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        near.append(f"tests/test_examples.py::test_examples_in_docstrings[{module}]")
    while not (tests / folder).is_dir():
        folder = folder.parent
    room = [] if folder == Path() else [f"tests/{folder}"]
    return [*(tuple(paths) for paths in (near, room) if paths), *([] if alone else [()])]


Outcome = Literal["fails", "takes too long", "passes"]


@dataclass
class Trial:
    """A copy of a tree in which mutants are tried. Raises ValueError where tests fail without one."""

    tree: Path
    alone: bool = False
    """Whether only the tests of the file and of its folder are run."""
    jobs: int = 1
    usual: dict[tuple[str, ...], float] = field(default_factory=dict)
    """How long tests take without a mutant, in seconds."""

    def run(self, paths: Sequence[str], limit: float | None) -> Outcome:
        """What tests say of the tree as it is."""
        several = ["-n", str(self.jobs)] if self.jobs > 1 and not paths else []
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *several, *paths]
        environment = {**os.environ, "PYTHONPATH": str(self.tree), "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.Popen(
            command,
            cwd=self.tree,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return "passes" if process.wait(limit) == 0 else "fails"
        except subprocess.TimeoutExpired:
            return "takes too long"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
                process.wait()

    def limit(self, paths: tuple[str, ...]) -> float:
        """How long tests may take, in seconds, by how long they take without a mutant."""
        if paths not in self.usual:
            begun = time.monotonic()
            if self.run(paths, None) != "passes":
                raise ValueError(f"without any mutant, tests fail: {' '.join(paths) or 'some of all'}")
            self.usual[paths] = time.monotonic() - begun
        return self.usual[paths] * 3 + SLACK

    def killer(self, mutant: Mutant) -> str:
        """What notices a mutant; nothing where it survives."""
        path = self.tree / mutant.file
        source = path.read_bytes()
        for paths in stages(mutant.file, self.tree, self.alone):
            limit = self.limit(paths)
            path.write_bytes(mutant.applied(source))
            try:
                outcome = self.run(paths, limit)
            finally:
                path.write_bytes(source)
            if outcome != "passes":
                return f"{' '.join(paths) or 'all'} {outcome}"
        return ""


def shown(mutant: Mutant, source: bytes) -> str:
    """A mutant as the line before and after."""
    at = source.rfind(b"\n", 0, mutant.start) + 1
    old, new = source[mutant.start : mutant.end], mutant.new
    line = source[at : source.find(b"\n", mutant.end)]
    other = mutant.applied(source)[at : at + len(line) + len(new) - len(old)]
    texts = (f"  {sign} {part}" for sign, side in (("-", line), ("+", other)) for part in side.decode().splitlines())
    return "\n".join((f"{mutant.file}:{mutant.line}: {mutant.kind}", *texts))


def chosen(files: Sequence[Path], root: Path, places: int, seed: int) -> list[Mutant]:
    """So many mutants, drawn from all."""
    found = [m for path in files for m in mutants_of(str(path.relative_to(root)), path.read_bytes())]
    return random.Random(seed).sample(found, min(places, len(found)))


def trial(root: Path, mutants: Sequence[Mutant], alone: bool, jobs: int, tell: Callable[[str], object]) -> list[Mutant]:
    """Those that survive, of mutants of a tree. Raises ValueError where its tests fail anyway."""
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(root, tree, ignore=LEFT_OUT)
        if (root / ".venv").exists():
            (tree / ".venv").symlink_to(root / ".venv")
        here = Trial(tree, alone, jobs)
        for i, mutant in enumerate(mutants, 1):
            begun = time.monotonic()
            killer = here.killer(mutant)
            tell(f"{i} of {len(mutants)}, {time.monotonic() - begun:.0f} s: {killer or 'survives'}")
            tell(shown(mutant, (root / mutant.file).read_bytes()))
            if not killer:
                survivors.append(mutant)
    return survivors


def main() -> int:
    parser = argparse.ArgumentParser(description="Tries random mutants of the code.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help=f"files or folders (default: {', '.join(CORE)})")
    parser.add_argument("--places", type=int, default=40, metavar="N", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another seed draws others")
    parser.add_argument("--room", action="store_true", help="do not run all tests where those of the room pass")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes for all tests")
    options = parser.parse_args()
    tops = [ROOT / path for path in options.paths or CORE]
    files = sorted({file for top in tops for file in (top.rglob("*.py") if top.is_dir() else [top])})
    mutants = chosen(files, ROOT, options.places, options.seed)
    survivors = trial(ROOT, mutants, options.room, options.jobs, lambda line: print(line, flush=True))
    print(f"\n{len(survivors)} of {len(mutants)} survive")
    for mutant in sorted(survivors):
        print(shown(mutant, (ROOT / mutant.file).read_bytes()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
