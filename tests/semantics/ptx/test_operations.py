"""What the instructions of PTX give, against the ISA's own words, written down here as numbers."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from checker.notation.ptx import read_ptx, width
from semantics.ptx import memory, simulate
from semantics.ptx.memory import Region
from semantics.ptx.program import PtxProblem

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
ONE = 0x3F800000


def bits(x: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", x))[0])


def double(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


def computed(opcode: str, result: str, operands: list[tuple[str, int]], more: str = "") -> int:
    """What an instruction leaves in a register of a type, as bits; each operand has a type and bits."""
    moves = ""
    for n, (type_, value) in enumerate(operands):
        if type_ == "pred":
            moves += f"mov.u32 %t{n}, {value};\nsetp.ne.u32 %p{n}, %t{n}, 0;\n"
        else:
            moves += f"mov.b{8 * width(type_)} %a{n}, {value:#x};\n"
    names = [f"%p{n}" if t == "pred" else f"%a{n}" for n, (t, _) in enumerate(operands)]
    declared = "".join(f".reg .{t} {name};\n" for (t, _), name in zip(operands, names, strict=True))
    out = f"mov.u32 %o, 0;\n{more}{opcode} %o, {', '.join(names)};\n"
    stored = "st.global.b32 [%rd], %o;" if width(result) <= 4 else "st.global.b64 [%rd], %o;"
    if result == "pred":
        declared += ".reg .pred %o; .reg .b32 %q;\n"
        out = f"{more}{opcode} %o, {', '.join(names)};\nselp.u32 %q, 1, 0, %o;\n"
        stored = "st.global.b32 [%rd], %q;"
    else:
        declared += f".reg .b{max(32, 8 * width(result))} %o;\n"
        out = out.replace("mov.u32 %o, 0;\n", "")
    body = f".reg .b32 %t<9>;\n.reg .b64 %rd;\n{declared}ld.param.u64 %rd, [p];\n{moves}{out}{stored}\nret;"
    return run(body)[0] if width(result) <= 4 or result == "pred" else run(body, np.uint64)[0]


def run(body: str, kind: type = np.uint32, threads: int = 1, more: str = "", count: int = 1) -> list[int]:
    """What a kernel with one pointer p leaves in its first elements, where there was 7."""
    module = read_ptx(f"{HEAD}{more}.visible .entry k(.param .u64 p)\n{{\n{body}\n}}\n", "k.ptx")
    region = Region("p", None, lambda _, n: b"\7" * n)
    f = module.functions["k"]
    ran = simulate.run(module, f, (threads, 1, 1), (1, 1, 1), [memory.base(0).to_bytes(8, "little")], [region])
    data = ran.windows.bytes_of(0, 0, count * np.dtype(kind).itemsize)
    return [int(x) for x in np.frombuffer(data, kind)]


MINUS = 0xFFFFFFFF
INTEGERS = [
    ("add.s32", "b32", [("b32", MINUS), ("b32", 3)], 2),
    ("sub.u32", "b32", [("b32", 0), ("b32", 1)], MINUS),
    ("mul.lo.s32", "b32", [("b32", MINUS), ("b32", 7)], 2**32 - 7),
    ("mul.hi.s32", "b32", [("b32", MINUS), ("b32", 7)], MINUS),
    ("mul.hi.u32", "b32", [("b32", MINUS), ("b32", MINUS)], 0xFFFFFFFE),
    ("mul.hi.u64", "b64", [("b64", 2**64 - 1), ("b64", 2**64 - 1)], 2**64 - 2),
    ("mul.hi.s64", "b64", [("b64", 2**64 - 1), ("b64", 3)], 2**64 - 1),
    ("mul.wide.s32", "b64", [("b32", MINUS), ("b32", 4)], 2**64 - 4),
    ("mul.wide.u32", "b64", [("b32", MINUS), ("b32", 4)], 4 * MINUS),
    ("mad.lo.s32", "b32", [("b32", 5), ("b32", 6), ("b32", MINUS)], 29),
    ("mad.wide.u32", "b64", [("b32", 2**31), ("b32", 2), ("b64", 1)], 2**32 + 1),
    ("div.s32", "b32", [("b32", 2**32 - 7), ("b32", 2)], 2**32 - 3),
    ("rem.s32", "b32", [("b32", 2**32 - 7), ("b32", 2)], MINUS),
    ("div.u32", "b32", [("b32", 2**32 - 7), ("b32", 2)], 2147483644),
    ("rem.u64", "b64", [("b64", 2**63 + 5), ("b64", 10)], 3),
    ("shl.b32", "b32", [("b32", 1), ("b32", 31)], 2**31),
    ("shl.b32", "b32", [("b32", 1), ("b32", 32)], 0),
    ("shr.u32", "b32", [("b32", 2**31), ("b32", 40)], 0),
    ("shr.s32", "b32", [("b32", 2**31), ("b32", 40)], MINUS),
    ("shr.s64", "b64", [("b64", 2**63), ("b32", 62)], 2**64 - 2),
    ("and.b32", "b32", [("b32", 12), ("b32", 10)], 8),
    ("xor.b32", "b32", [("b32", 12), ("b32", 10)], 6),
    ("not.b32", "b32", [("b32", 0)], MINUS),
    ("cnot.b32", "b32", [("b32", 0)], 1),
    ("neg.s32", "b32", [("b32", 1)], MINUS),
    ("abs.s32", "b32", [("b32", MINUS)], 1),
    ("min.s32", "b32", [("b32", MINUS), ("b32", 1)], MINUS),
    ("min.u32", "b32", [("b32", MINUS), ("b32", 1)], 1),
    ("popc.b64", "b32", [("b64", 2**63 + 3)], 3),
    ("clz.b32", "b32", [("b32", 1)], 31),
    ("clz.b64", "b32", [("b64", 0)], 64),
    ("brev.b32", "b32", [("b32", 1)], 2**31),
    ("bfind.u32", "b32", [("b32", 0)], MINUS),
    ("bfind.s32", "b32", [("b32", 2**32 - 5)], 2),
    ("bfind.shiftamt.u32", "b32", [("b32", 1)], 31),
    ("bfe.u32", "b32", [("b32", 0xABCD), ("b32", 4), ("b32", 8)], 0xBC),
    ("bfe.s32", "b32", [("b32", 0x80), ("b32", 4), ("b32", 4)], 2**32 - 8),
    ("bfe.s32", "b32", [("b32", 2**31), ("b32", 30), ("b32", 8)], 2**32 - 2),
    ("bfe.u32", "b32", [("b32", MINUS), ("b32", 4), ("b32", 0)], 0),
    ("bfi.b32", "b32", [("b32", 5), ("b32", MINUS), ("b32", 4), ("b32", 4)], 0xFFFFFF5F),
    ("prmt.b32", "b32", [("b32", 0x33221100), ("b32", 0x77665544), ("b32", 0x7410)], 0x77441100),
    ("prmt.b32", "b32", [("b32", 0x80), ("b32", 0), ("b32", 0x1118)], 0xFF),
    ("lop3.b32", "b32", [("b32", 12), ("b32", 10), ("b32", 3), ("b32", 0x80)], 0),
    ("lop3.b32", "b32", [("b32", 12), ("b32", 10), ("b32", 3), ("b32", 0x96)], 5),
    ("lop3.b32", "b32", [("b32", 12), ("b32", 10), ("b32", 3), ("b32", 0xEA)], 11),
    ("shf.l.wrap.b32", "b32", [("b32", 2**31), ("b32", 1), ("b32", 1)], 3),
    ("shf.r.wrap.b32", "b32", [("b32", 2**31), ("b32", 1), ("b32", 1)], 2**31 + 2**30),
    ("shf.l.clamp.b32", "b32", [("b32", 9), ("b32", 1), ("b32", 99)], 9),
    ("dp4a.s32.s32", "b32", [("b32", 0x000000FF), ("b32", 2), ("b32", 10)], 8),
    ("sad.u32", "b32", [("b32", 3), ("b32", 9), ("b32", 1)], 7),
    ("selp.b32", "b32", [("b32", 3), ("b32", 9), ("pred", 0)], 9),
    ("setp.lt.s32", "pred", [("b32", MINUS), ("b32", 0)], 1),
    ("setp.lt.u32", "pred", [("b32", MINUS), ("b32", 0)], 0),
    ("setp.ge.and.s32", "pred", [("b32", 1), ("b32", 0), ("pred", 0)], 0),
    ("set.eq.u32.u32", "b32", [("b32", 1), ("b32", 1)], MINUS),
    ("cvt.s64.s32", "b64", [("b32", MINUS)], 2**64 - 1),
    ("cvt.u64.u32", "b64", [("b32", MINUS)], MINUS),
    ("cvt.u32.u8", "b32", [("b32", 0x1FF)], 0xFF),
    ("cvt.s32.s8", "b32", [("b32", 0x1FF)], MINUS),
    ("cvt.sat.u8.s32", "b32", [("b32", 300)], 255),
    ("cvt.sat.s8.s32", "b32", [("b32", 2**32 - 300)], 2**32 - 128),
]


@pytest.mark.parametrize(("opcode", "result", "operands", "expected"), INTEGERS)
def test_integers(opcode: str, result: str, operands: list[tuple[str, int]], expected: int) -> None:
    assert computed(opcode, result, operands) == expected


NAN, INF = bits(math.nan), bits(math.inf)
FLOATS = [
    ("add.f32", "f32", [("f32", bits(1e8)), ("f32", bits(1.0))], bits(1e8)),
    ("mul.rz.f32", "f32", [("f32", bits(0.1)), ("f32", bits(0.1))], bits(0.1 * 0.1)),
    ("add.rm.f32", "f32", [("f32", ONE), ("f32", bits(-1e-20))], ONE - 1),
    ("add.rp.f32", "f32", [("f32", ONE), ("f32", bits(1e-20))], ONE + 1),
    ("mul.ftz.f32", "f32", [("f32", 1), ("f32", ONE)], 0),
    ("mul.f32", "f32", [("f32", 1), ("f32", ONE)], 1),
    ("add.sat.f32", "f32", [("f32", ONE), ("f32", ONE)], ONE),
    ("add.sat.f32", "f32", [("f32", NAN), ("f32", ONE)], 0),
    ("min.f32", "f32", [("f32", NAN), ("f32", ONE)], ONE),
    ("max.f32", "f32", [("f32", 2**31), ("f32", 0)], 0),
    ("min.f32", "f32", [("f32", 0), ("f32", 2**31)], 2**31),
    ("neg.f32", "f32", [("f32", 0)], 2**31),
    ("abs.f32", "f32", [("f32", bits(-2.0))], bits(2.0)),
    ("div.rn.f32", "f32", [("f32", ONE), ("f32", bits(3.0))], bits(1 / 3)),
    ("rcp.rn.f32", "f32", [("f32", bits(3.0))], bits(1 / 3)),
    ("sqrt.rn.f32", "f32", [("f32", bits(2.0))], bits(math.sqrt(2.0))),
    ("sqrt.approx.f32", "f32", [("f32", bits(4.0))], bits(2.0)),
    ("rsqrt.approx.f32", "f32", [("f32", bits(4.0))], bits(0.5)),
    ("ex2.approx.f32", "f32", [("f32", bits(3.0))], bits(8.0)),
    ("lg2.approx.f32", "f32", [("f32", bits(8.0))], bits(3.0)),
    ("cos.approx.f32", "f32", [("f32", 0)], ONE),
    ("sin.approx.f32", "f32", [("f32", 0)], 0),
    # 4097 * 4097 + -16785408 = 1: a product that is rounded first gives 0
    ("fma.rn.f32", "f32", [("f32", bits(4097.0)), ("f32", bits(4097.0)), ("f32", bits(-16785408.0))], ONE),
    # 97 * 172961 = 2^24 + 1 and 1549 * 10831 = 2^24 + 3 are just between two floats: a little more or less
    # decides: a sum that is rounded to a double first no longer has it
    ("fma.rn.f32", "f32", [("f32", bits(97.0)), ("f32", bits(172961.0)), ("f32", bits(2.0**-40))], bits(2.0**24 + 2)),
    ("fma.rn.f32", "f32", [("f32", bits(97.0)), ("f32", bits(172961.0)), ("f32", bits(-(2.0**-40)))], bits(2.0**24)),
    (
        "fma.rn.f32",
        "f32",
        [("f32", bits(1549.0)), ("f32", bits(10831.0)), ("f32", bits(-(2.0**-40)))],
        bits(2.0**24 + 2),
    ),
    (
        "fma.rn.f32",
        "f32",
        [("f32", bits(1549.0)), ("f32", bits(-10831.0)), ("f32", bits(2.0**-40))],
        bits(-(2.0**24) - 2),
    ),
    (
        "fma.rn.f32",
        "f32",
        [("f32", bits(97.0)), ("f32", bits(-172961.0)), ("f32", bits(-(2.0**-40)))],
        bits(-(2.0**24) - 2),
    ),
    ("fma.rn.f32", "f32", [("f32", bits(2.0**24 + 2)), ("f32", ONE), ("f32", bits(1 + 2**-23))], bits(2.0**24 + 4)),
    ("fma.rn.f32", "f32", [("f32", ONE), ("f32", bits(2.0**60)), ("f32", NAN)], NAN),
    ("fma.rn.f64", "f64", [("f64", double(0.1)), ("f64", double(10.0)), ("f64", double(-1.0))], double(2.0**-54)),
    ("add.f64", "f64", [("f64", double(0.1)), ("f64", double(0.2))], double(0.1 + 0.2)),
    ("setp.lt.f32", "pred", [("f32", NAN), ("f32", ONE)], 0),
    ("setp.ltu.f32", "pred", [("f32", NAN), ("f32", ONE)], 1),
    ("setp.neu.f32", "pred", [("f32", NAN), ("f32", NAN)], 1),
    ("setp.ne.f32", "pred", [("f32", NAN), ("f32", NAN)], 0),
    ("setp.num.f32", "pred", [("f32", ONE), ("f32", NAN)], 0),
    ("cvt.rzi.s32.f32", "b32", [("f32", bits(-2.7))], 2**32 - 2),
    ("cvt.rni.s32.f32", "b32", [("f32", bits(2.5))], 2),
    ("cvt.rmi.s32.f32", "b32", [("f32", bits(-2.1))], 2**32 - 3),
    ("cvt.rzi.s32.f32", "b32", [("f32", bits(1e20))], 2**31 - 1),
    ("cvt.rzi.u32.f32", "b32", [("f32", bits(-1.0))], 0),
    ("cvt.rzi.s32.f32", "b32", [("f32", NAN)], 0),
    ("cvt.rzi.s64.f64", "b64", [("f64", double(math.nan))], 2**63),
    ("cvt.rn.f32.s32", "f32", [("b32", 2**24 + 1)], bits(2.0**24)),
    ("cvt.rn.f32.u32", "f32", [("b32", MINUS)], bits(2.0**32)),
    ("cvt.rn.f32.f64", "f32", [("f64", double(0.1))], bits(0.1)),
    ("cvt.f64.f32", "f64", [("f32", bits(0.1))], double(struct.unpack("<f", struct.pack("<f", 0.1))[0])),
    ("cvt.rni.f32.f32", "f32", [("f32", bits(2.5))], bits(2.0)),
    ("cvt.sat.f32.f32", "f32", [("f32", bits(-3.0))], 0),
    ("cvt.rn.f16.f32", "b16", [("f32", bits(1.0))], 0x3C00),
    ("cvt.f32.f16", "f32", [("b16", 0x3C00)], ONE),
]


@pytest.mark.parametrize(("opcode", "result", "operands", "expected"), FLOATS)
def test_floats(opcode: str, result: str, operands: list[tuple[str, int]], expected: int) -> None:
    found = computed(opcode, result, operands)
    if expected == NAN:
        assert math.isnan(struct.unpack("<f", struct.pack("<I", found))[0])
    else:
        assert found & (1 << 8 * max(4, width(result))) - 1 == expected


def test_a_carry_goes_from_one_word_to_the_next() -> None:
    body = """.reg .b32 %r<9>; .reg .b64 %rd;
    ld.param.u64 %rd, [p];
    add.cc.u32 %r1, 4294967295, 1;
    addc.u32 %r2, 5, 6;
    sub.cc.u32 %r3, 0, 1;
    subc.u32 %r4, 5, 2;
    mad.lo.cc.u32 %r5, 65536, 65536, 0;
    mad.lo.cc.u32 %r5, 4294967295, 4294967295, 4294967295;
    madc.hi.u32 %r6, 4294967295, 4294967295, 0;
    st.global.v4.u32 [%rd], {%r1, %r2, %r3, %r4};
    st.global.v2.u32 [%rd+16], {%r5, %r6};
    ret;"""
    assert run(body, count=6) == [0, 12, MINUS, 2, 0, MINUS]


def test_several_registers_are_one_and_back() -> None:
    body = """.reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    mov.b64 %rd2, {1, 2};
    mov.b64 {%r1, %r2}, %rd2;
    st.global.u32 [%rd1], %r2;
    ret;"""
    assert run(body.replace("{1, 2}", "{%r2, %r3}").replace("mov.b64 %rd2", "mov.u32 %r3, 9;\nmov.b64 %rd2")) == [9]


@pytest.mark.parametrize(
    "instruction",
    [
        "frobnicate.b32 %r1, %r2;",
        "add.f16x2 %r1, %r2, %r3;",
        "mov.u32 %r1, %clock;",
        "add.s32 %r1, %nothing, 1;",
        "mul.s32 %r1, %r2, %r3;",
        "shfl.down.b32 %r1, %r2, 1, 31;",
        "bar.red.popc.u32 %r1, 0, %p1;",
        "call.uni f, (%r1);",
        "atom.global.frob.u32 %r1, [%rd1], %r2;",
        "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r3}, [t, {%r1, %r2}];",
    ],
)
def test_what_is_not_known_is_refused_at_its_line(instruction: str) -> None:
    body = f".reg .b32 %r<4>; .reg .pred %p<3>; .reg .b64 %rd<3>;\n{instruction}\nret;"
    with pytest.raises(PtxProblem) as refused:
        run(body)
    assert refused.value.loc is not None
    assert refused.value.loc.line == 7


def test_a_division_by_zero_is_refused_where_a_lane_does_it() -> None:
    body = ".reg .b32 %r<4>; .reg .pred %p;\nmov.u32 %r1, 0;\nsetp.ne.u32 %p, %r1, 0;\n@%p div.u32 %r2, 1, %r1;\nret;"
    run(body)
    with pytest.raises(PtxProblem, match="by 0"):
        run(body.replace("@%p ", ""))
