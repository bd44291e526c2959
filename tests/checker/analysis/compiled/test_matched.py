"""Whose instruction an instruction is."""

from __future__ import annotations

from typing import Literal

from checker.analysis.coalescing.access import Key
from checker.analysis.compiled.matched import fates
from checker.analysis.compiled.sites import Site
from logic.source import Loc
from semantics.ptx.program import Instruction

WARP = ((0, 0, 0), 0)


def site(kind: Literal["load", "store"], *offsets: int, width: int = 4) -> Site:
    made = Site(kind, "global", "A", width)
    made.see(WARP, offsets, 1)
    return made


def place(line: int) -> Loc:
    return Loc("k.cu", line, 1)


def code(*lines: int) -> list[Instruction]:
    return [Instruction("ld.global.u32", (), None, Loc("k.ptx", n, 1), (place(line),)) for n, line in enumerate(lines)]


def test_what_is_merged_is_merged_with_an_access_of_its_kind() -> None:
    source: dict[Key, Site] = {(place(1), "store", "A"): site("store", 0, 4), (place(2), "load", "A"): site("load", 0)}
    source |= {(place(3), "load", "A"): site("load", 0, 4)}
    compiled = {(0, "store"): site("store", 0, 4), (1, "load"): site("load", 0)}
    found, nobody = fates(source, compiled, code(1, 2))
    assert [f.own for f in found] == [((0, "store"),), ((1, "load"),), ()]
    assert found[2].merged_with == (place(2), "load", "A")
    assert nobody == []


def test_of_two_accesses_to_the_same_bytes_the_line_decides() -> None:
    source: dict[Key, Site] = {(place(n), "load", "A"): site("load", 0) for n in (1, 2)}
    found, _ = fates(source, {(0, "load"): site("load", 0)}, code(2))
    assert [f.classes for f in found] == [("merged",), ("as written",)]


def test_an_instruction_on_other_bytes_of_another_line_is_nobodys() -> None:
    found, nobody = fates({(place(1), "load", "A"): site("load", 0)}, {(0, "load"): site("load", 64)}, code(2))
    assert [f.classes for f in found] == [("gone",)]
    assert nobody == [(0, "load")]
