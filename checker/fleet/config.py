"""A project's configuration: `warpbound.toml`, or `[tool.warpbound]` in pyproject.toml; docs/pipeline.md has one.

It is that of the nearest folder above what is bounded. Every problem is told with the line of its key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from checker.notation.problem import SyntaxProblem, shortened
from checker.notation.profiles import SUFFIX, TomlFile
from checker.notation.words import meant
from logic.source import Loc

NAMES: Final = ("warpbound.toml", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget: the most that a kernel may cost in a metric, a number at a point, or a formula everywhere; the kernels
    of its name in all files, or in one."""

    kernel: str
    metric: str
    most: str
    at: str = ""
    per: str = "warp"
    file: str = ""
    places: Mapping[str, Loc] = field(default_factory=dict)

    @property
    def loc(self) -> Loc | None:
        """The place of its kernel."""
        return self.places.get("kernel")


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration; texts are as on the command line, and what is left out is empty or None. `kernels` has `block`,
    `grid` and `assume` of some kernels, by name. Paths are as the file's folder has them. `places` are those of keys:
    ("", "jobs"), and ("matMul", "block") in the table of a kernel, whose heading is ("matMul", "")."""

    path: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    kernels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    budgets: tuple[Budget, ...] = ()
    places: Mapping[tuple[str, str], Loc] = field(default_factory=dict)

    @property
    def folder(self) -> Path | None:
        return None if self.path is None else self.path.parent


def nearest(path: Path) -> Path | None:
    """The configuration that is for a file or folder: that of the nearest folder which has one."""
    here = path.resolve()
    for folder in (here, *here.parents):
        for name in NAMES:
            found = folder / name
            if found.is_file() and (name == NAMES[0] or _is_ours(found)):
                return found
    return None


def _is_ours(path: Path) -> bool:
    """Whether a pyproject.toml has a table for us; one that cannot be read but names it is looked at, to be refused."""
    text = path.read_bytes().decode("utf-8", "replace")
    if "tool" not in text or "warpbound" not in text:
        return False
    try:
        return "warpbound" in tomllib.loads(text).get("tool", {})
    except (ValueError, AttributeError):
        return re.search(r"^\s*\[+\s*tool\s*\.\s*warpbound\b", text, re.MULTILINE) is not None


def read(path: Path) -> Config:
    """The configuration in a file. Raises SyntaxProblem at the line of what is wrong."""
    file = TomlFile(path, None)
    table = file.values if path.name != NAMES[1] else file.values.get("tool", {}).get("warpbound", {})
    reader = _Reader(file)
    reader.known(table, (*_TOP, "kernel", "budget"), "")
    values = {key: reader.setting(key, table[key], form, "") for key, form in _TOP.items() if key in table}
    for key in _PATHS & values.keys():
        values[key] = [str(path.parent / name) for name in values[key]]
    if "metrics" in values:
        values["metrics"] = [reader.beside(name) for name in values["metrics"]]
    if "hardware" in values:
        values["hardware"] = reader.beside(values["hardware"])
    kernels = {}
    for name, own in reader.table("kernel", table.get("kernel", {})).items():
        inside = reader.table(name, own)
        reader.known(inside, (*_KERNEL,), name)
        kernels[name] = {
            key: reader.setting(key, inside[key], form, name) for key, form in _KERNEL.items() if key in inside
        }
    entries = table.get("budget", [])
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        reader.wrong("budget", "budgets are tables", "Write [[budget]], and its keys below.")
    budgets = tuple(reader.budget(entry, n) for n, entry in enumerate(entries))
    places = {("", key): reader.place(key) for key in values}
    for name, own in kernels.items():
        places |= {(name, ""): reader.heading(name)} | {(name, key): reader.place(key, name) for key in own}
    return Config(path, values, kernels, budgets, places)


def _texts(x: object) -> list[str] | None:
    return [*x] if isinstance(x, list) and all(isinstance(e, str) and e for e in x) else None


def _text(x: object) -> str | None:
    return x if isinstance(x, str) and x else None


def _sizes(x: object) -> str | None:
    match x:
        case str() if x:
            return x
        case bool():
            return None
        case int():
            return str(x)
        case list() if 1 <= len(x) <= 3 and all(type(n) is int for n in x):
            return ",".join(map(str, x))
    return None


def _count(x: object) -> int | None:
    return x if type(x) is int and x > 0 else None


_Form = tuple[Callable[[object], Any], str]
_LIST: Final[_Form] = (_texts, 'a list of texts, such as ["a", "b"]')
_WORD: Final[_Form] = (_text, "a text")
_DIM: Final[_Form] = (_sizes, 'sizes, such as 256, "16,16" or [16, 16]')
_NUMBER: Final[_Form] = (_count, "a whole number above 0")

_KERNEL: Final[Mapping[str, _Form]] = {"block": _DIM, "grid": _DIM, "assume": _LIST}
_TOP: Final[Mapping[str, _Form]] = {
    **_KERNEL,
    "include-paths": _LIST,
    "defines": _LIST,
    "std": _WORD,
    "include": _LIST,
    "exclude": _LIST,
    "metrics": _LIST,
    "hardware": _WORD,
    "jobs": _NUMBER,
    "time-limit": _NUMBER,
    "memory-limit": _NUMBER,
}
_PATHS: Final = frozenset({"include-paths"})
_BUDGET: Final = ("kernel", "metric", "at", "most", "per", "file")


@dataclass(frozen=True, slots=True)
class _Reader:
    """A reader of configurations, which refuses wrong keys at their places."""

    file: TomlFile

    def wrong(self, key: str, message: str, advice: str = "", after: str = "", nth: int = 0) -> NoReturn:
        raise SyntaxProblem(message, self.place(key, after, nth), advice)

    def place(self, key: str, after: str = "", nth: int = 0) -> Loc:
        """The line of a key: the first one below the nth heading that ends with `after`, or that heading."""
        heading = re.compile(rf"\s*\[+[^\]]*\b[\"']?{re.escape(after)}[\"']?\s*\]")
        own = re.compile(rf"\s*\[*\s*(?:[\w.\"'-]+\s*\.\s*)?(?P<key>[\"']?{re.escape(key)}[\"']?)\s*[=.\]]")
        start, seen = 0, -1
        for number, line in enumerate(self.file.lines, 1):
            if after and seen < nth:
                seen += heading.match(line) is not None
                start = number
            if (not after or seen == nth) and number > (start if after else 0):
                if found := own.match(line):
                    return Loc(self.file.path, number, found.start("key") + 1)
                if after and number > start and line.lstrip().startswith("["):
                    break
        return Loc(self.file.path, start or 1, 1)

    def heading(self, name: str) -> Loc:
        """The place of a kernel's table: its name in the heading, or the line where its keys are."""
        own = re.compile(rf"\s*\[*[^\]=]*?(?P<name>[\"']?\b{re.escape(name)}\b[\"']?)\s*[.\]=]")
        for number, line in enumerate(self.file.lines, 1):
            if found := own.match(line):
                return Loc(self.file.path, number, found.start("name") + 1)
        return Loc(self.file.path, 1, 1)

    def beside(self, name: str) -> str:
        """The path of a file that is named as from the configuration's folder; a name that is no file's as it is."""
        return str(Path(self.file.path).parent / name) if name.endswith(SUFFIX) else name

    def path(self, name: str) -> str:
        """The path of a source that is named as from the configuration's folder; nothing for no name."""
        return str(Path(self.file.path).parent / name) if name else ""

    def known(self, table: Mapping[str, Any], keys: tuple[str, ...], after: str, nth: int = 0) -> None:
        for key in table:
            if key not in keys:
                self.wrong(
                    key,
                    f"{shortened(key)} is not known here",
                    f"{meant(key, keys)}There are: {', '.join(keys)}.",
                    after,
                    nth,
                )

    def setting(self, key: str, value: object, form: _Form, after: str) -> Any:
        check, what = form
        found = check(value)
        if found is None:
            self.wrong(key, f"'{key}' is {what}", "", after)
        return found

    def table(self, key: str, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self.wrong(key, f"'{key}' is a table", "Write [kernel.NAME], and its keys below.")
        return value

    def budget(self, entry: Mapping[str, Any], n: int) -> Budget:
        self.known(entry, _BUDGET, "budget", n)
        for key in ("kernel", "metric", "at", "per", "file"):
            if key in entry and _text(entry[key]) is None:
                self.wrong(key, f"'{key}' is a text", f'Write it like {key} = "..".', "budget", n)
        for key in ("kernel", "metric", "most"):
            if key not in entry:
                place = self.place("budget]", "budget", n)
                advice = 'It has kernel = "k", metric = "sectors", most = 8, and may have at = "n=1000".'
                raise SyntaxProblem(f"a budget has no '{key}'", place, advice)
        most = entry["most"]
        if isinstance(most, bool) or not (type(most) is int or (type(most) is str and most)):
            told = 'Write a fraction as a text: most = "1/2".'
            self.wrong("most", "'most' is a whole number, or a formula as a text", told, "budget", n)
        if entry.get("per", "warp") not in ("warp", "block", "grid"):
            self.wrong("per", "'per' is warp, block or grid", "", "budget", n)
        at, per = entry.get("at", ""), entry.get("per", "warp")
        places = {key: self.place(key, "budget", n) for key in entry}
        return Budget(
            entry["kernel"], self.beside(entry["metric"]), str(most), at, per, self.path(entry.get("file", "")), places
        )
