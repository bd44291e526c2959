"""The reader of PTX."""

from __future__ import annotations

import pytest

from checker.notation.ptx import read_ptx, width
from semantics.ptx.program import Memory, Number, Pair, PtxProblem, Register, Symbol, Vector

TEXT = """// made by hand
.version 9.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.const .align 4 .b8 t[6] = {1, 0x2, 255};
.global .align 8 .u64 big = 12;
.func (.param .b32 r) helper
(
    .param .b64 a
)
;
.visible .entry k(
    .param .u64 .ptr .global .align 4 k_param_0,
    .param .align 4 .b8 k_param_1[12]
)
.maxntid 128, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    .loc 1 12 5
    ld.param.u64 %rd1, [k_param_0];
$L__BB0_1:
    .pragma "nounroll";
    .loc 1 0 5
    @!%p1 ld.global.nc.v2.f32 {%f1, %r2}, [%rd1+-8];
    { .reg .b32 %r1; mov.b32 %r1, 0f3F800000; }
    .loc 2 107 3, function_name $L__info_string0, inlined_at 1 16 9
    setp.eq.s32 %p1|%p2, %r1, -3;
    bra.uni $L__BB0_1;
}
    .file 1 "/some/where/k.cu"
    .file 2 "/some/where/lib.h"
    .section .debug_str
    {
$L__info_string0:
.b8 95,90
    }
"""


def test_a_module() -> None:
    module = read_ptx(TEXT, "k.ptx")
    assert (module.version, module.target) == ("9.0", "sm_90")
    assert [(v.name, v.space, v.size, v.align) for v in module.variables] == [
        ("dyn", "shared", None, 16),
        ("t", "const", 6, 4),
        ("big", "global", 8, 8),
    ]
    assert [v.data for v in module.variables] == [b"", b"\1\2\xff", (12).to_bytes(8, "little")]
    (k,) = module.functions.values()
    assert k.entry
    assert [(v.name, v.size) for v in k.parameters] == [("k_param_0", 8), ("k_param_1", 12)]
    assert k.labels == {"$L__BB0_1": 1}
    assert k.registers["%r3"] == "b32"
    assert "%r4" not in k.registers
    assert k.registers["%p2"] == "pred"


def test_instructions_with_their_operands_and_places() -> None:
    code = read_ptx(TEXT, "k.ptx").functions["k"].code
    load, wide, move, compare, jump = code
    assert load.operands == (Register("%rd1"), Memory(Symbol("k_param_0"), 0))
    assert wide.guard == Register("%p1", negated=True)
    assert wide.operands == (Vector((Register("%f1"), Register("%r2"))), Memory(Register("%rd1"), -8))
    assert move.operands == (Register("%r1#1"), Number(0x3F800000))
    assert compare.operands == (Pair(Register("%p1"), Register("%p2")), Register("%r1"), Number(-3))
    assert jump.operands == (Symbol("$L__BB0_1"),)
    assert [(p.file, p.line) for p in load.places] == [("/some/where/k.cu", 12)]
    assert wide.places == load.places
    assert [(p.file, p.line) for p in compare.places] == [("/some/where/lib.h", 107), ("/some/where/k.cu", 16)]
    assert (load.loc.file, load.loc.line) == ("k.ptx", 23)


def test_a_register_of_an_inner_scope_is_another_one() -> None:
    k = read_ptx(TEXT, "k.ptx").functions["k"]
    assert {"%r1", "%r1#1"} <= k.registers.keys()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("bra.uni $L__BB0_1;", "bra.uni $L__BB0_1", 32),
        ("{1, 0x2, 255}", "{1, big}", 6),
        (".version 9.0", ".version ?", 2),
        ("[%rd1+-8]", "[%rd1+-8", 27),
    ],
)
def test_what_is_no_ptx_is_refused_at_its_line(old: str, new: str, line: int) -> None:
    with pytest.raises(PtxProblem) as refused:
        read_ptx(TEXT.replace(old, new), "k.ptx")
    assert refused.value.loc is not None
    assert refused.value.loc.line == line


def test_widths() -> None:
    assert [width(t) for t in ("pred", "b8", "f16", "f16x2", "s32", "f64", "b128")] == [1, 1, 2, 4, 4, 8, 16]
