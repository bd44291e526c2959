"""Which sources a command line means: files, and in folders those that no other source there includes; and how each is
read, where a compilation database says so."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Literal

from checker.notation.problem import OptionProblem
from checker.notation.words import many

ENDINGS: Final = (".cu", ".cuh")
"""Of sources with kernels."""

INCLUDING: Final = (*ENDINGS, ".h", ".hh", ".hpp", ".hxx", ".inl", ".c", ".cc", ".cpp", ".cxx")
"""Of sources that may include them."""

MOST: Final = 200_000
"""Files and folders that are looked at."""

_INCLUDE: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', re.MULTILINE)
_KERNEL: Final = re.compile(r"\b__global__\b")


@dataclass(frozen=True, slots=True)
class Flags:
    """The options of a source, as a compiler has them; `std` is "" where nothing is said."""

    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A source: its path, what it is called in a table, how it is read, and its length, by which the longest are begun
    first; and whether nobody named it, but a folder that it is in."""

    path: str
    name: str
    flags: Flags = field(default_factory=Flags)
    size: int = 0
    found: bool = False


def sources(
    paths: Sequence[str],
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    flags: Mapping[Path, Flags] | None = None,
) -> list[Source]:
    """The sources that these paths mean, each once, in the order of the paths and by name. Raises OptionProblem for
    what is not there or cannot be read, and where there is no source at all."""
    found: dict[Path, Source] = {}
    unwanted = 0
    for text in paths:
        path, kind = Path(text), what_is(text)
        own = _roots(path) if kind == "folder" else [path]
        if not kind:
            raise OptionProblem(f"cannot read '{text}': no such file or folder", advice="Give a source, or a folder.")
        for one in own:
            name = str(one)
            inside = one.relative_to(path).as_posix() if one != path else one.name
            if one != path and not wanted(inside, name, include, exclude):
                unwanted += 1
                continue
            real = one.resolve()
            own_flags = (flags or {}).get(real, Flags())
            found.setdefault(real, Source(name, name, own_flags, one.stat().st_size, one != path))
    if not found:
        what = ", ".join(f"'{p}'" for p in paths)
        if unwanted:
            told = f"--include and --exclude leave none of {many(unwanted, 'CUDA source')} in {what}"
            raise OptionProblem(told, advice=GLOBS)
        raise OptionProblem(f"there is no CUDA source in {what}", advice="A source ends in .cu or .cuh.")
    return list(found.values())


GLOBS: Final = "A glob is about a path in the folder, a whole path or a name; * goes over /."
"""The advice where globs leave nothing."""


def what_is(path: str) -> Literal["", "file", "folder"]:
    """The kind of thing that a path leads to, if any."""
    try:
        return "folder" if path and Path(path).is_dir() else "file" if Path(path).is_file() else ""
    except (OSError, ValueError):
        return ""


def wanted(inside: str, path: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether globs leave a file of a folder; they are about its path in the folder, its whole path or its name."""

    def matched(globs: Sequence[str]) -> bool:
        return any(_matches(text, glob) for glob in globs for text in (inside, path, inside.rpartition("/")[2]))

    return (not include or matched(include)) and not matched(exclude)


def _matches(path: str, glob: str) -> bool:
    """Whether a path matches, or a folder that it is in; `*` also goes over `/`.

    >>> _matches("src/a.cu", "src/*.cu"), _matches("old/x/a.cu", "old"), _matches("a.cu", "b*")
    (True, True, False)
    """
    parts = path.split("/")
    return any(fnmatchcase("/".join(parts[:n]), glob.rstrip("/")) for n in range(1, len(parts) + 1))


def _roots(folder: Path) -> list[Path]:
    """The sources of a folder that none of its others includes: all `.cu`, and `.cuh` with kernels."""
    if folder.resolve() == Path(folder.resolve().anchor):
        raise OptionProblem(f"'{folder}' is the whole file system", advice="Choose a folder of it.")
    texts = {path: _text(path) for path in _walk(folder)}
    included = {found for path, text in texts.items() for found in _included(path, text, folder)}
    return [
        path
        for path, text in texts.items()
        if path.suffix in ENDINGS and path.resolve() not in included and (path.suffix == ".cu" or _KERNEL.search(text))
    ]


def _walk(folder: Path) -> Iterator[Path]:
    """The sources of a folder, by path; hidden folders are left out, links to folders are not followed."""

    def refused(error: OSError) -> None:
        told = f"cannot read the folder '{error.filename}': {(error.strerror or str(error)).lower()}"
        raise OptionProblem(told, advice="Allow it, or --exclude it by naming other folders.") from None

    seen = 0
    for top, folders, names in os.walk(folder, onerror=refused):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += len(names) + 1
        if seen > MOST:
            raise OptionProblem(f"'{folder}' has more than {MOST} files", advice="Choose a smaller folder.")
        for name in sorted(names):
            path = Path(top, name)
            if path.suffix in INCLUDING and path.is_file():
                yield path


def _included(path: Path, text: str, folder: Path) -> Iterator[Path]:
    """The files that a source may include, by their places beside it or in the folder."""
    for name in _INCLUDE.findall(text):
        for place in (path.parent, folder, folder / "include"):
            other = (place / name).resolve()
            if other != path.resolve():
                yield other


def _text(path: Path) -> str:
    """The text of a source, or nothing where it cannot be read: that is told when it is."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def unmentioned(paths: Sequence[str], names: Collection[str]) -> set[str]:
    """The names that no file of these, or of the folders among them, has as a word."""
    left = set(names)
    for path in paths:
        for one in _walk(Path(path)) if what_is(path) == "folder" else [Path(path)]:
            words = set(re.findall(r"\w+", _text(one))) if left else set()
            left -= words
    return left


def mentions(folder: Path, name: str) -> bool:
    """Whether a source of a folder names something, in any way."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return any(word.search(_text(path)) for path in _walk(folder) if path.suffix in INCLUDING)


# --- compilation databases --------------------------------------------------------------------------------------------

DATABASE: Final = "compile_commands.json"


def database(folder: str) -> dict[Path, Flags]:
    """The options of each source that a compilation database of a build folder names. Raises OptionProblem."""
    path = Path(folder) / DATABASE if Path(folder).is_dir() else Path(folder)
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        told = f"-p {folder}: there is no {DATABASE}"
        raise OptionProblem(told, advice="CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise OptionProblem(f"-p {folder}: cannot read '{path}': {error}", advice="Make it anew.") from None
    try:
        return {_place(entry, entry["file"]).resolve(): _flags(entry) for entry in entries}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        told = f"-p {folder}: an entry of '{path}' has no directory, file and command: {error}"
        raise OptionProblem(told, advice="Make it anew.") from None


def _place(entry: Any, name: str) -> Path:
    return Path(entry["directory"]) / name


def _flags(entry: Any) -> Flags:
    words = list(entry["arguments"]) if "arguments" in entry else shlex.split(entry["command"])
    includes, defines, std = list[str](), list[str](), ""
    rest = iter(words[1:])
    for word in rest:
        for option in ("-isystem", "-I", "-D"):
            if word.startswith(option) and not word.startswith("-I="):
                value = word.removeprefix(option) or next(rest, "")
                if option == "-D":
                    defines.append(value)
                elif (folder := _place(entry, value)).is_dir():
                    includes.append(str(folder))
                break
        else:
            if found := re.fullmatch(r"--?std(?:=(.+))?", word):
                std = found[1] or next(rest, "")
    return Flags(tuple(includes), tuple(defines), std)
