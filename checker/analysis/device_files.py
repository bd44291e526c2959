"""Device profiles for the run-time model as TOML, read exactly: docs/run-time.md explains each figure."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Final

from checker.analysis.runtime import CYCLES, SIZES, Device, Misfit, hardware
from checker.notation.problem import SyntaxProblem
from checker.notation.profiles import LARGEST, SUFFIX, TomlFile
from checker.notation.words import meant
from logic.source import Loc, SourceError

FOLDER: Final = Path(__file__).parent / "devices"
"""The folder of the files of devices that have names."""

_MOST: Final = {"warp": 64, "group": 64, "segment": LARGEST, "banks": 64, "word": LARGEST}
"""The largest sizes: no device has more threads in a warp or more banks. Any other size is up to _ANY."""

_ANY: Final = 10**12


def device_names() -> list[str]:
    """The devices that need no file."""
    return sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}"))


def find_device(name: str) -> Device:
    """The device of this name or .toml file. Raises SourceError."""
    if name.endswith(SUFFIX):
        return read_device(Path(name))
    if name not in device_names():
        known = (
            f"{meant(name, device_names())}Known: {', '.join(device_names())}; or give a file, such as mine{SUFFIX}."
        )
        raise SourceError(f"--device {name}: no such device", advice=known)
    return read_device(FOLDER / f"{name}{SUFFIX}")


def read_device(path: Path) -> Device:
    """The device in a file. Raises SyntaxProblem for a figure that is missing, negative or not known."""
    file = TomlFile(path, None)
    name = file.name({})
    given = file.entries((*SIZES, "cycles"))
    sizes: dict[str, int] = {}
    for key in SIZES:
        value = given.get(key)
        if value is None:
            raise SyntaxProblem(f"'{key}' is missing", Loc(file.path, 1, 1), f"Add a line: {key} = 32. {_EXAMPLE}")
        most = _MOST.get(key, _ANY)
        if type(value) is not int or not 1 <= value <= most:
            raise file.problem(key, f"'{key}' is a whole number from 1 to {most}", _EXAMPLE)
        sizes[key] = value
    table = given.get("cycles")
    if not isinstance(table, dict):
        raise SyntaxProblem("the table [cycles] is missing", Loc(file.path, 1, 1), _EXAMPLE)
    for key in table:
        if key not in CYCLES:
            raise file.problem(key, f"'{key}' is not known in [cycles]", f"There are: {', '.join(CYCLES)}.")
    cycles: dict[str, Fraction] = {}
    for key in CYCLES:
        if key not in table:
            sentence = f"'{key}' is missing in [cycles]"
            raise file.problem("cycles", sentence, f"Add a line below it: {key} = 4. {_EXAMPLE}")
        cycles[key] = file.price(key, table[key])
    try:
        device = Device(name, **sizes, cycles=cycles)
        hardware(device)
    except Misfit as error:
        raise file.problem(error.key, str(error), _EXAMPLE) from None
    return device


_EXAMPLE: Final = f"checker/analysis/devices/gtx280{SUFFIX} is an example."
