"""One launch, for the semantics of the source and for PTX: the same arrays in the same places, and what each leaves
behind."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import permutations
from typing import Final

from checker.notation.words import last_word
from logic.source import SourceError
from logic.stable import root
from logic.syntax import Array, Kernel
from semantics.grid import Launch
from semantics.ptx import memory
from semantics.ptx.memory import Region, Windows
from semantics.ptx.program import Function, Module
from semantics.values import Value, default


class NotComparable(SourceError):
    """A kernel whose launch cannot be given to the compiled code."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The arrays of a launch as regions of memory, and the bytes of the parameters."""

    regions: tuple[Region, ...]
    arguments: tuple[bytes, ...]


NAMELESS: Final = "12_GLOBAL__N_1"
"""A namespace without a name in a symbol; nvcc adds to it what tells files apart."""


def entry(module: Module, kernel: str, symbol: str) -> Function:
    """The compiled function of a kernel with this symbol, else the only one of its name. Raises NotComparable where
    there is none, or more than one."""
    entries = [f for f in module.functions.values() if f.entry]
    exact = r"\d+_GLOBAL__N_\w+?".join(map(re.escape, symbol.split(NAMELESS)))
    name = last_word(kernel)
    found = [f for f in entries if re.fullmatch(exact, f.name)] or [f for f in entries if last_name(f.name) == name]
    if len(found) != 1:
        names = ", ".join(f.name for f in entries) or "none"
        told = f"the compiled code has {len(found) or 'no'} kernels that are called '{name}'"
        raise NotComparable(told, advice=f"It has: {names}. A template is compiled where the source launches it.")
    return found[0]


def last_name(symbol: str) -> str:
    """The name of a function by its symbol, without namespaces, arguments of templates and parameters.

    >>> [last_name(s) for s in ("_ZN1a3run1kEPf", "_Z4gemmILi16EEvPf", "_ZL2k3i", "k3")]
    ['k', 'gemm', 'k3', 'k3']
    """
    head = re.match(r"_ZN?", symbol)
    name, rest = ("", symbol[head.end() :]) if head else (symbol, "")
    while part := re.match(r"L?(\d+)", rest):
        end = part.end() + int(part[1])
        name, rest = rest[part.end() : end], rest[end:]
    return name


Fields = Mapping[str, Mapping[str, tuple[int, int]]]
"""The numbers in structures that are passed by value: the byte that each begins at, and its size."""


def check_passed(kernel: Kernel, passed: Sequence[str], fields: Fields) -> None:
    """Raises NotComparable for a kernel that uses what has no place here of a structure that it is passed by value: a
    pointer, an array, a bit-field, or a field of a union or of a base class."""
    for name in passed:
        own = [d.name for d in kernel.params if d.name.startswith(f"{name}.")]
        own += [a.name for a in kernel.arrays if name in fields and root(a.name) == name]
        if lost := [x for x in own if x not in fields.get(name, {})]:
            told = f"'{lost[0]}' of the structure '{name}', which is passed by value, has no place in this launch"
            raise NotComparable(told, kernel.loc, "Pass it by itself.")


def _structure(fields: Mapping[str, tuple[int, int]], size: int, launch: Launch) -> bytes:
    """A structure as a device is passed it, with 0 for what the kernel does not use."""
    data = bytearray(size)
    for d in launch.kernel.params:
        if d.name in fields:
            at, width = fields[d.name]
            data[at : at + width] = encoded(launch.params[d.name], width, d.type.kind == "base")
    return bytes(data)


def placed(
    module: Module, f: Function, launch: Launch, passed: Sequence[str], fields: Fields, numbers: Mapping[str, int]
) -> Placed:
    """The memory and the parameters of a launch; `numbers` are the bytes of what a run of the source knows of an
    element, where they are fewer than it has. Raises NotComparable."""
    kernel = launch.kernel
    here: dict[str, tuple[Array, ...]] = {}
    for a in kernel.arrays:
        if a.space == "global":
            here[root(a.name)] = (*here.get(root(a.name), ()), a)
    here = {name: tuple(a for a in of if ".as_" not in a.name) or of[:1] for name, of in here.items()}
    scalars = {d.name: d for d in kernel.params}
    if len(passed) != len(f.parameters):
        told = f"the kernel is passed {len(passed)} values, and its compiled code takes {len(f.parameters)}"
        raise NotComparable(told, kernel.loc)
    variables = {v.name for v in module.variables}
    lost = [name for name in here if name not in passed and name not in variables]
    if lost:
        told = f"the array '{lost[0]}' is neither a parameter nor a variable of the compiled code"
        raise NotComparable(told, kernel.loc, "Pointers that memory holds have no place in this launch.")
    check_passed(kernel, passed, fields)
    pointers = [name for name in passed if name and name not in scalars and name not in fields]
    names = [*dict.fromkeys(pointers), *(name for name in here if name not in pointers)]
    constant = {v.name for v in module.variables if v.space == "const" or v.data}
    names = [n for n in names if n not in constant or any(a.name in launch.store.arrays for a in here.get(n, ()))]
    regions = tuple(_region(name, here.get(name, ()), launch, numbers) for name in names)
    where = {name: memory.base(k) for k, name in enumerate(names)}
    arguments = []
    for name, v in zip(passed, f.parameters, strict=True):
        size = v.size or 0
        if name in scalars:
            arguments.append(encoded(launch.params[name], size, scalars[name].type.kind == "base"))
        elif name in fields:
            arguments.append(_structure(fields[name], size, launch))
        elif size == 8:
            arguments.append(where.get(name, 0).to_bytes(8, "little"))
        else:
            raise NotComparable(f"'{name}' is passed in {size} bytes, and is no pointer", kernel.loc)
    return Placed(regions, tuple(arguments))


def encoded(value: Value, width: int, is_float: bool) -> bytes:
    """A value as the bytes that a device has for it."""
    if is_float:
        return struct.pack({2: "<e", 4: "<f", 8: "<d"}[width], float(value))
    return (int(value) % (1 << 8 * width)).to_bytes(width, "little")


def decoded(data: bytes, array: Array, like: Value) -> Value:
    """Bytes as a value of an array's type; an integer is one without a sign where the one that it is compared
    with has that bit."""
    if array.elem.kind == "base":
        return float(struct.unpack({2: "<e", 4: "<f", 8: "<d"}[len(data)], data)[0])
    bits = 8 * len(data)
    value = int.from_bytes(data, "little")
    signed = value - (1 << bits) if value >> bits - 1 else value
    if array.elem.kind == "bool" and value < 2:
        return bool(value)
    return value if like >= 1 << bits - 1 else signed


def held(array: Array, numbers: Mapping[str, int]) -> int:
    """The bytes of an element that a run of the source knows: the first field, where structures are moved whole."""
    return min(array.width, numbers.get(array.name, array.elem.size if array.elem.kind == "base" else 8))


def before(launch: Launch, array: Array, i: int) -> Value:
    """An element before the run: given, filled, or the type's default."""
    given = launch.store.arrays.get(array.name, {})
    first = launch.initial.get(array.name)
    if i in given:
        return given[i]
    if first is None or first.value is None or i < 0 or (first.length is not None and i >= first.length):
        return default(array.elem)
    return first.value(i)


def _region(name: str, arrays: Sequence[Array], launch: Launch, numbers: Mapping[str, int]) -> Region:
    """An array in memory, with the fields of its elements; as many bytes as the launch gives it. What it holds is what
    the launch has before the run: take it before anything runs."""
    lengths = [launch.initial[a.name].length if a.name in launch.initial else a.length for a in arrays]
    ends = [a.stride * n for a, n in zip(arrays, lengths, strict=True) if n is not None]
    size = max(ends) if arrays and len(ends) == len(arrays) else None
    given = {a.name: dict(launch.store.arrays.get(a.name, {})) for a in arrays}

    def element(a: Array, i: int) -> Value:
        return given[a.name][i] if i in given[a.name] else before(launch, a, i)

    def fill(first: int, count: int) -> bytes:
        data = bytearray(count)
        for a in arrays:
            for i in range(max(0, (first - a.offset) // a.stride), (first + count - 1 - a.offset) // a.stride + 1):
                at = a.offset + a.stride * i - first
                for n, byte in enumerate(encoded(element(a, i), held(a, numbers), a.elem.kind == "base")):
                    if 0 <= at + n < count:
                        data[at + n] = byte
        return bytes(data)

    return Region(name, size, fill)


# --- what is left behind ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """An array that a run of the source and one of the compiled code leave different: how many elements, of how many
    that were looked at, the first of them with what either has, and the largest relative difference of floats."""

    array: str
    exact: bool
    count: int
    looked: int
    index: int
    source: Value
    compiled: Value
    relative: float


def _overlap(a: Array, b: Array) -> bool:
    """Whether two arrays may have a byte in common, as fields and what is accessed as another type may."""
    if (a.space, root(a.name)) != (b.space, root(b.name)):
        return False
    if a.stride != b.stride:
        return True
    return any((b.offset - a.offset + i) % a.stride < a.width for i in range(b.width))


def mixed(launch: Launch, loaded: AbstractSet[str], stored: AbstractSet[str]) -> tuple[str, str] | None:
    """Two arrays that are the same memory, one given or stored to and the other accessed by a run of the source: it
    holds them apart, so what it has in arrays may be another thing than what is in memory."""
    given = {n for n, held in launch.store.arrays.items() if held}
    given |= {n for n, first in launch.initial.items() if first.value is not None}
    for a, b in permutations(launch.kernel.arrays, 2):
        if a.name in given | stored and b.name in loaded | stored and _overlap(a, b):
            return min(a.name, b.name), max(a.name, b.name)
    return None


def differences(
    placed_: Placed,
    final: Mapping[str, Mapping[int, Value]],
    windows: Windows,
    launch: Launch,
    stored: AbstractSet[str],
    numbers: Mapping[str, int],
) -> list[Difference]:
    """The arrays that the runs leave different, of those that one of them used; and of them each element that either
    used. `final` is what the run of the source leaves, `stored` the arrays that it stores to (no other one that it
    accesses overlaps them: `mixed`), `numbers` the bytes of what it knows of an element."""
    found = []
    for k, region in enumerate(placed_.regions):
        pages = windows.changed(k)
        arrays = [a for a in launch.kernel.arrays if a.space == "global" and root(a.name) == region.name]
        for array in arrays:
            if array.name not in stored and (
                ".as_" in array.name or any(_overlap(a, array) for a in arrays if a.name in stored)
            ):
                continue
            own = final.get(array.name, {})
            used = {i for i in own if i >= 0}
            for first in pages:
                start = max(0, (first - array.offset) // array.stride)
                used |= set(
                    range(start, max(start, (first + memory.PAGE - array.offset - array.width) // array.stride + 1))
                )
            bad: list[tuple[int, Value, Value]] = []
            relative = 0.0
            for i in sorted(used):
                at = array.offset + array.stride * i
                if region.size is not None and at + held(array, numbers) > region.size:
                    continue
                mine = own[i] if i in own else before(launch, array, i)
                theirs = decoded(windows.bytes_of(k, at, held(array, numbers)), array, mine)
                if not _same(mine, theirs):
                    bad.append((i, mine, theirs))
                    relative = max(relative, _apart(float(mine), float(theirs)))
            if bad:
                i, mine, theirs = bad[0]
                exact = array.elem.kind != "base"
                found.append(Difference(array.name, exact, len(bad), len(used), i, mine, theirs, relative))
    return found


def _same(a: Value, b: Value) -> bool:
    both_nan = a != a and b != b
    signs = not (isinstance(a, float) and a == 0 == b) or math.copysign(1.0, a) == math.copysign(1.0, float(b))
    return both_nan or (a == b and signs)


def _apart(a: float, b: float) -> float:
    """The relative difference; infinite where only one is a finite number."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0


def source_name(symbol: str, names: Sequence[str]) -> str:
    """The name that a shared variable of the compiled code has in the source, else its own: `s` of `_ZZ1kvE1s`."""
    for name in names:
        if symbol == name or re.search(rf"\D{len(name)}{re.escape(name)}(_\d+)?$", symbol):
            return name
    return symbol
