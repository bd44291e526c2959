"""Whether certificates speak of the launches that a source has, or that were asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from checker.certificates.claims import excluded, extent
from checker.refutation.contracts import misdeclared
from logic.assertions import Context, Dim
from logic.source import Loc
from logic.syntax import Write, statements

if TYPE_CHECKING:
    from semantics.cuda import Launched, Reading

OPEN: Final[Dim] = (None, None, None)
"""Sizes that are not known."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The grid and the block of a launch, as far as they are known, and who says so: the options, or the source."""

    grid: Dim
    block: Dim
    by: Literal["option", "source"]


def unspoken(context: Context, launch: Sizes) -> str:
    """Why a certificate's claim does not speak of a launch, with both sizes; "" where it does."""
    ours = context.launch
    for what, theirs, own in (("blocks", launch.block, ours.block), ("a grid", launch.grid, ours.grid)):
        if any(n is not None and m is not None and m != n for n, m in zip(theirs, own, strict=True)):
            return f"{_who(launch)} {what} of {extent(theirs)}, and this is about {what} of {extent(own)}"
    if fact := excluded(_sizes(launch), context):
        return f"{_told(launch)}, and this assumes {fact}"
    return ""


def _sizes(launch: Sizes) -> dict[str, int]:
    """The sizes that are known, by their names."""
    return {
        f"{name}.{axis}": n
        for name, sizes in (("blockDim", launch.block), ("gridDim", launch.grid))
        for axis, n in zip("xyz", sizes, strict=True)
        if n is not None
    }


def contradicted(reading: Reading, context: Context, sizes: bool = True) -> list[tuple[Loc | None, str]]:
    """The assumptions of a claim about launches and constant tables that those in the source do not keep, in words,
    each once, at the first launch that breaks it. Without `sizes`: nothing of launches that it does not speak of."""
    found: dict[str, Loc | None] = {}
    for launch in reading.launched:
        for told in _contradicting(reading, launch, context, sizes):
            found.setdefault(told, launch.loc)
    for contract in context.launch.contracts:
        if broken := misdeclared(contract, reading.tables):
            held = " and ".join(f"{name}[{i}] as {value}" for (name, i), value in broken.items())
            found.setdefault(f"the source declares {held}, and this assumes {contract}", reading.kernel.loc)
    return [(loc, told) for told, loc in found.items()]


def _contradicting(reading: Reading, launch: Launched, context: Context, sizes: bool) -> list[str]:
    own = Sizes(launch.grid or OPEN, launch.block or OPEN, "source")
    found = []
    if told := unspoken(context, own):
        if not sizes:
            return []
        found.append(told)
    elif launch.numbers and (fact := excluded({**dict(launch.numbers), **_sizes(own)}, context)):
        given = [f"{name} = {n}" for name, n in launch.numbers if name in fact.names]
        found.append(f"the source launches it with {', '.join(given)}, and this assumes {fact}")
    memory = {a.name for a in reading.kernel.arrays if a.space == "global"}
    passed = {name: pointer for name, pointer in launch.pointers if _leads(name, memory)}
    whole = context.hardware.alignment
    for name, pointer in passed.items():
        if pointer.offset is None or pointer.offset % whole:
            told = f"the source passes {pointer.text} as '{name}'"
            found.append(f"{told}, and this assumes that it is at a multiple of {whole} bytes")
    changed = {s.array for s in statements(reading.kernel.body) if isinstance(s, Write)}
    for kept in (name for name in passed if _leads(name, context.sigma.stable)):
        for name in (name for name in passed if _leads(name, changed)):
            if passed[name].root and passed[name].root == passed[kept].root:
                told = f"the source passes {passed[kept].text} as '{kept}' and {passed[name].text} as '{name}'"
                found.append(f"{told}, and this assumes that what the kernel writes is no part of '{kept}'")
    return found


def _leads(pointer: str, arrays: Collection[str]) -> bool:
    """Whether a pointer leads to one of the arrays, or one is a view of what it leads to."""
    return any(name == pointer or name.startswith(f"{pointer}.") for name in arrays)


def _unknown(context: Context, launch: Sizes) -> str:
    """That the source does not tell a size which the claim is about; "" where it tells all of them."""
    for what, theirs, own in (
        ("blocks", launch.block, context.launch.block),
        ("a grid", launch.grid, context.launch.grid),
    ):
        if any(n is None and m is not None for n, m in zip(theirs, own, strict=True)):
            return f"the source launches {what} of a size that is not told, and this is about {what} of {extent(own)}"
    return ""


def _who(launch: Sizes) -> str:
    return "the source launches" if launch.by == "source" else "the launch asked for has"


def _told(launch: Sizes) -> str:
    known = [f"blocks of {extent(launch.block)}"] if any(launch.block) else []
    known += [f"a grid of {extent(launch.grid)}"] if any(launch.grid) else []
    return f"{_who(launch)} {' in '.join(known)}"


def judge(rows: Sequence[dict[str, Any]], launches: Sequence[Sequence[Sizes]], contexts: Sequence[Context]) -> None:
    """Gives every row of a report `launches`, an object for each launch of its kernel that is known, and adds to its
    warnings a sentence for each that neither it nor another certificate of the same cost speaks of.

    A certificate that speaks of none of them is not about this source's use of the kernel, whatever the others say.
    """
    for row, known, context in zip(rows, launches, contexts, strict=True):
        row["launches"] = []
        spoken = [not unspoken(context, launch) for launch in known]
        for launch, own in zip(known, spoken, strict=True):
            others = (c for r, c in zip(rows, contexts, strict=True) if _about(r) == _about(row))
            covered = own or (any(spoken) and any(not unspoken(c, launch) for c in others))
            row["launches"].append({"block": extent(launch.block), "grid": extent(launch.grid), "covered": covered})
            if not covered:
                row["warnings"].append(f"{unspoken(context, launch)}: it does not speak of that launch")
            elif own and launch.by == "source" and (what := _unknown(context, launch)):
                row["warnings"].append(what)


def _about(row: Mapping[str, Any]) -> tuple[str, str, str | None]:
    return row["kernel"], row["metric"], row["per"]


def spoken_of(row: Mapping[str, Any]) -> bool:
    """Whether all launches that are known are spoken of."""
    return all(launch["covered"] for launch in row["launches"])
