"""Metrics and hardware models from TOML files, read exactly: docs/metrics.md has an example of each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Final

from checker.notation.problem import SyntaxProblem, shortened
from logic.metrics import COUNTED, FIXED, HARDWARE, METRICS, Hardware, Linear, Metric
from logic.source import Loc

SUFFIX: Final = ".toml"
"""A name that ends so is the path of a file."""

LARGEST: Final = 1024
"""The largest number in a hardware model: the second checker reads no larger one."""

_UNITS: Final = tuple(f.name for f in fields(Hardware) if f.name != "name")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
_NUMBER: Final = r"\d{1,30}(?:\.\d{1,30}|/0*[1-9]\d{0,29})?"
_PRICE: Final = re.compile(rf"[+-]?{_NUMBER}", re.ASCII)
_BY_COUNT: Final = re.compile(rf"(?:([+-]?{_NUMBER})\s*\*\s*)?n(?:\s*([+-])\s*({_NUMBER}))?", re.ASCII)
_TOML_PLACE: Final = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)

_AGAIN: Final = re.compile(
    r"(?:Cannot (?:declare|redefine namespace|mutate immutable namespace|overwrite a value)|"
    r"Duplicate inline table key)(.*)"
)
"""How tomllib says that something is there twice."""


_TOML_PART: Final = re.compile(r"""#.*|"(?:\\.|[^"\\])*"|'[^']*'|[\[\]]""")
"""What brackets stand in, and brackets."""


def _opened(lines: Sequence[str]) -> tuple[int, int] | None:
    """The line and the column where the last array begins that does not end; None where all do."""
    found: list[tuple[int, int]] = []
    for number, line in enumerate(lines, 1):
        if not found and line.lstrip().startswith("["):  # the head of a table
            continue
        for part in _TOML_PART.finditer(line):
            if part[0] == "[":
                found.append((number, part.start() + 1))
            elif part[0] == "]" and found:
                found.pop()
    return found[-1] if found else None


class _Float(str):
    """A TOML float as it is written: its digits are the number."""

    __slots__ = ()


def read_metric(path: Path, loc: Loc | None = None) -> Metric:
    """The metric in a file; `loc` is where the file is named. Raises SyntaxProblem."""
    file = TomlFile(path, loc)
    name = file.name(METRICS)
    fixed, counted = dict[str, Fraction](), dict[str, Linear]()
    for key, value in file.entries((*FIXED, *COUNTED)).items():
        if key in FIXED:
            fixed[key] = file.price(key, value)
        else:
            counted[key] = file.price_by_count(key, value)
    return Metric(name, fixed, counted)


def read_hardware(path: Path, loc: Loc | None = None) -> Hardware:
    """The hardware model in a file; what it leaves out is as for `nvidia`. Raises SyntaxProblem."""
    file = TomlFile(path, loc)
    name = file.name(HARDWARE)
    sizes: dict[str, int] = {}
    for key, value in file.entries(_UNITS).items():
        if type(value) is not int or not 1 <= value <= LARGEST:
            raise file.problem(key, f"'{key}' is a whole number from 1 to {LARGEST}, not {_shown(value)}")
        sizes[key] = value
    try:
        return Hardware(name, **sizes)
    except ValueError as error:
        place = next(key for key in ("alignment", "sector", "word", "name") if key in file.values)
        raise file.problem(place, str(error)) from None


class TomlFile:
    """A TOML file with the places of its keys."""

    def __init__(self, path: Path, loc: Loc | None) -> None:
        self.path = str(path)
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            raise SyntaxProblem(f"cannot read '{path}': it is not UTF-8 text", loc, "Save it as UTF-8.") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SyntaxProblem(f"cannot read '{path}': {reason}", loc, "Give the path of a .toml file.") from None
        self.lines = text.replace("\r\n", "\n").split("\n")
        try:
            self.values = tomllib.loads(text, parse_float=_Float)
        except ValueError as error:
            raise self._syntax(str(error)) from None

    def _syntax(self, message: str) -> SyntaxProblem:
        """The complaint of tomllib; it says where in its last words. What is there twice is told in our own, at the
        beginning of the line."""
        found = _TOML_PLACE.fullmatch(message)
        sentence = found[1] if found else message
        end = len(self.lines), len(self.lines[-1]) + 1
        line, column = (int(found[2]), int(found[3])) if found and found[2] else end
        if (opened := _opened(self.lines)) and opened < (line, column):
            sentence, (line, column) = "Unclosed array", opened
        if again := _AGAIN.match(sentence):
            text = self.lines[line - 1]
            told, advice = self._again(text.strip(), again[1] or "")
            return SyntaxProblem(told, Loc(self.path, line, len(text) - len(text.lstrip()) + 1), advice)
        return SyntaxProblem(
            f"this is no TOML: {sentence[:1].lower()}{sentence[1:]}",
            Loc(self.path, line, column),
            'A line is KEY = VALUE, and a text has quotes: name = "mine".',
        )

    def _again(self, text: str, key: str) -> tuple[str, str]:
        """A message on a line that says again what is said before, and advice; `key` is tomllib's word for it."""
        if not text.startswith("["):
            name = shortened(text.partition("=")[0].strip(" \"'") or key)
            told = "adds to what is given as a whole" if "." in name else "has a value already"
            return f"{name} {told}", "Say it in one place."
        name = text.strip("[] ")
        several = any(re.match(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]", line) for line in self.lines)
        if several and not text.startswith("[["):
            return f"{shortened(name)} is a list of tables, and this is one table", f"Write [[{name}]], as elsewhere."
        if text.startswith("[["):
            return f"{shortened(name)} is one table, and this is one of several", f"Write [[{name}]] everywhere."
        return f"the table {shortened(name)} is there already", "Write its keys below one heading."

    def problem(self, key: str, message: str, advice: str = "") -> SyntaxProblem:
        """A complaint about the line of a key, which begins the file where no line has it."""
        own = re.compile(rf"\s*\[*\s*(?P<key>[\"']?{re.escape(key)}[\"']?)\s*[=.\]]")
        for number, line in enumerate(self.lines, start=1):
            found = own.match(line)
            if found:
                return SyntaxProblem(message, Loc(self.path, number, found.start("key") + 1), advice)
        return SyntaxProblem(message, Loc(self.path, 1, 1), advice)

    def name(self, taken: dict[str, Metric] | dict[str, Hardware]) -> str:
        """The name that the file gives itself."""
        if "name" not in self.values:
            raise SyntaxProblem("a name is missing", Loc(self.path, 1, 1), 'Add a line: name = "mine".')
        name = self.values["name"]
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise self.problem("name", "a name is a letter, then letters, digits, '-' and '_'")
        if name in taken or name == "all":
            raise self.problem("name", f"'{name}' has a meaning of its own", "Choose another name.")
        return name

    def entries(self, known: tuple[str, ...]) -> dict[str, object]:
        """The entries of the file besides its name. Raises SyntaxProblem for a key that is not known."""
        for key in self.values:
            if key != "name" and key not in known:
                raise self.problem(key, f"{shortened(key)} is not known here", f"There are: name, {', '.join(known)}.")
        return {key: value for key, value in self.values.items() if key != "name"}

    def price(self, key: str, value: object) -> Fraction:
        """A price that does not depend on a count."""
        text = _text(value)
        if text is None or not _PRICE.fullmatch(text):
            message = f"the price of '{key}' is a number, not {_shown(value)}"
            raise self.problem(key, message, f'Write it like {key} = 2, {key} = 0.5 or {key} = "1/3".')
        found = Fraction(text)
        if found < 0:
            raise self.problem(key, f"the price of '{key}' is negative: {text}", "A price is at least 0.")
        return found

    def price_by_count(self, key: str, value: object) -> Linear:
        """A price that depends on a count n, such as "n - 1"; a number is the price whatever the count."""
        text = _text(value)
        if text is not None and _PRICE.fullmatch(text):
            return Linear(Fraction(0), self.price(key, value))
        found = _BY_COUNT.fullmatch(text) if text is not None else None
        if found is None:
            message = f"the price of '{key}' is a multiple of n and a number, not {_shown(value)}"
            raise self.problem(key, message, f'Write it like {key} = "n - 1", {key} = "1/3*n + 20" or {key} = 4.')
        slope, sign, offset = found.groups()
        line = Linear(Fraction(slope or 1), Fraction(f"{sign or ''}{offset or 0}"))
        if line.slope < 0:
            raise self.problem(key, f"the price of '{key}' falls with n", "More accesses may not cost less.")
        return line


def _text(value: object) -> str | None:
    """A number or text as it is written."""
    if isinstance(value, _Float):
        return value.replace("_", "")
    return str(value).strip() if isinstance(value, str) or type(value) is int else None


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    return shortened(str(value))
