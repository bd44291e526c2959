"""Warps that run PTX: where lanes rejoin, what they exchange, what memory holds and what an access counts."""

from __future__ import annotations

import numpy as np
import pytest

from checker.notation.ptx import read_ptx
from logic.metrics import HARDWARE, Hardware
from semantics.ptx import memory, simulate
from semantics.ptx.memory import Region
from semantics.ptx.program import END, PtxProblem, rejoins
from semantics.ptx.simulate import Access, Ran

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
START = """.reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<9>; .reg .f32 %f<9>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
"""


def text(body: str, more: str = "") -> str:
    return f"{HEAD}{more}.visible .entry k(.param .u64 p)\n{{\n{START}{body}\nret;\n}}\n"


def launched(
    body: str,
    threads: int = 32,
    more: str = "",
    size: int | None = None,
    blocks: int = 1,
    hardware: Hardware = HARDWARE["nvidia"],
) -> tuple[Ran, list[Access]]:
    """A run of a kernel with one pointer p, to 0, and its accesses."""
    module = read_ptx(text(body, more), "k.ptx")
    region = Region("p", size, lambda _, n: bytes(n))
    seen: list[Access] = []
    arguments = [memory.base(0).to_bytes(8, "little")]
    grid = (blocks, 1, 1)
    f = module.functions["k"]
    return simulate.run(module, f, (threads, 1, 1), grid, arguments, [region], hardware, seen.append), seen


def words(ran: Ran, count: int) -> list[int]:
    return [int(x) for x in np.frombuffer(ran.windows.bytes_of(0, 0, 4 * count), np.uint32)]


BRANCH = """setp.lt.u32 %p1, %r1, 8;
@%p1 bra THEN;
mov.u32 %r2, 1;
bra.uni JOIN;
THEN:
mov.u32 %r2, 2;
JOIN:
st.global.u32 [%rd3], %r2;"""


def test_lanes_that_part_rejoin_where_all_ways_meet() -> None:
    ran, seen = launched(BRANCH)
    assert words(ran, 32) == [2] * 8 + [1] * 24
    assert ran.parted == {((0, 0, 0), 0): 1}
    (store,) = seen
    assert len(store.offsets) == 32
    assert store.count == 4


def test_lanes_that_agree_do_not_part() -> None:
    ran, _ = launched(BRANCH.replace("%r1, 8", "%r1, 40"))
    assert ran.parted == {}
    assert words(ran, 32) == [2] * 32


def test_rejoining_places_are_immediate_post_dominators() -> None:
    f = read_ptx(text(BRANCH), "k.ptx").functions["k"]
    names = [i.opcode for i in f.code]
    assert rejoins(f) == {names.index("bra"): names.index("st.global.u32")}
    returns = read_ptx(text("setp.lt.u32 %p1, %r1, 8;\n@%p1 bra OUT;\nmov.u32 %r2, 1;\nret;\nOUT:"), "k.ptx")
    assert set(rejoins(returns.functions["k"]).values()) == {END}


LOOP = """mov.u32 %r2, 0;
HEAD:
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra HEAD;
st.global.u32 [%rd3], %r2;"""


def test_a_loop_ends_for_each_lane_and_then_they_go_on_together() -> None:
    ran, seen = launched(LOOP)
    assert words(ran, 32) == [1, *range(1, 32)]
    assert ran.parted == {((0, 0, 0), 0): 30}
    assert [len(a.offsets) for a in seen] == [32]


def test_a_loop_without_an_end_is_refused() -> None:
    module = read_ptx(text("HEAD:\nbra.uni HEAD;"), "k.ptx")
    region = Region("p", None, lambda _, n: bytes(n))
    with pytest.raises(PtxProblem, match="did not end"):
        simulate.run(module, module.functions["k"], (32, 1, 1), (1, 1, 1), [bytes(8)], [region], steps=100)


def test_lanes_that_have_ended_are_not_there() -> None:
    body = "setp.gt.u32 %p1, %r1, 3;\n@%p1 ret;\nbar.sync 0;\nst.global.u32 [%rd3], 5;"
    ran, (store,) = launched(body.replace("[%rd3], 5", "[%rd3], %r1"), threads=40)
    assert store.offsets == (0, 4, 8, 12)
    assert words(ran, 5) == [0, 1, 2, 3, 0]


def test_an_indexed_branch_takes_each_lane_its_way() -> None:
    body = """and.b32 %r2, %r1, 1;
T: .branchtargets A, B;
brx.idx %r2, T;
A:
mov.u32 %r3, 7;
bra.uni C;
B:
mov.u32 %r3, 9;
C:
st.global.u32 [%rd3], %r3;"""
    ran, _ = launched(body)
    assert words(ran, 4) == [7, 9, 7, 9]


SHARED = ".shared .align 4 .b8 s[4096];\n"


def test_a_barrier_orders_warps() -> None:
    body = f"""{SHARED}mov.u32 %r4, s;
shl.b32 %r5, %r1, 2;
add.s32 %r6, %r4, %r5;
st.shared.u32 [%r6], %r1;
bar.sync 0;
xor.b32 %r7, %r5, 128;
add.s32 %r8, %r4, %r7;
ld.shared.u32 %r9, [%r8];
st.global.u32 [%rd3], %r9;"""
    ran, seen = launched(body, threads=64)
    assert words(ran, 64) == [*range(32, 64), *range(32)]
    assert {(a.array, a.space, a.count) for a in seen if a.space == "shared"} == {("s", "shared", 1)}
    without, _ = launched(body.replace("bar.sync 0;", ""), threads=64)
    assert words(without, 32) == [0] * 32


def test_a_barrier_that_lanes_of_a_warp_reach_alone_is_refused() -> None:
    with pytest.raises(PtxProblem, match="wait at a barrier"):
        launched("setp.lt.u32 %p1, %r1, 8;\n@!%p1 bra OUT;\nbar.sync 0;\nOUT:\nmov.u32 %r2, 1;")


@pytest.mark.parametrize(("stride", "count"), [(4, 1), (8, 2), (128, 32), (132, 1), (0, 1)])
def test_conflicts_of_shared_memory(stride: int, count: int) -> None:
    body = f"{SHARED}mov.u32 %r4, s;\nmad.lo.u32 %r5, %r1, {stride}, %r4;\nst.shared.u32 [%r5], %r1;"
    _, (store,) = launched(body.replace("s[4096]", "s[8192]"))
    assert store.count == count


@pytest.mark.parametrize(
    ("first", "phases", "count"), [(0, None, 4), (0, 128, 1), (28, 128, 1), (0, 64, 1), (0, 512, 4)]
)
def test_wide_accesses_in_phases(first: int, phases: int | None, count: int) -> None:
    """Lanes from `first` on write 16 bytes each, in consecutive places."""
    move = "v4.u32 [%r5], {%r1, %r1, %r1, %r1};"
    body = (
        f"{SHARED}mov.u32 %r4, s;\nmad.lo.u32 %r5, %r1, 16, %r4;\nsetp.ge.u32 %p1, %r1, {first};\n@%p1 st.shared.{move}"
    )
    _, seen = launched(body, hardware=Hardware("own", phase=phases))
    assert [a.count for a in seen] == [count]


def test_phases_are_of_lanes_by_number() -> None:
    """Two lanes that ask one bank for two words: in one phase one waits, in two phases none does."""
    for lanes, count in (((0, 7), 2), ((7, 8), 1)):
        far, near = lanes
        body = (f"{SHARED}mov.u32 %r4, s;\nsub.u32 %r5, %r1, {near};\nmad.lo.u32 %r5, %r5, 128, %r4;\n"
                f"setp.eq.u32 %p1, %r1, {near};\nsetp.eq.u32 %p2, %r1, {far};\nor.pred %p1, %p1, %p2;\n"
                "add.u32 %r5, %r5, 1024;\n@%p1 ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];")  # fmt: skip
        _, (load,) = launched(body, hardware=Hardware("own", phase=128))
        assert load.count == count


def test_an_address_of_32_bits_wraps_around() -> None:
    body = f"{SHARED}mov.u32 %r4, s;\nadd.u32 %r4, %r4, -64;\nst.shared.u32 [%r4+64], %r1;\nld.shared.u32 %r2, [s];"
    _, (store, load) = launched(body)
    assert set(store.offsets) == set(load.offsets) == {0}


@pytest.mark.parametrize(("stride", "more", "count"), [(4, 0, 4), (4, 4, 5), (16, 0, 16), (128, 0, 32), (0, 0, 1)])
def test_sectors_of_global_memory(stride: int, more: int, count: int) -> None:
    body = f"mul.wide.u32 %rd4, %r1, {stride};\nadd.s64 %rd5, %rd1, %rd4;\nld.global.f32 %f1, [%rd5+{more}];"
    _, (load,) = launched(body)
    assert (load.count, load.kind, load.array, load.width) == (count, "load", "p", 4)


def test_a_wide_access_is_one() -> None:
    body = """mul.wide.u32 %rd4, %r1, 16;
add.s64 %rd5, %rd1, %rd4;
st.global.v4.u32 [%rd5], {%r1, %r1, %r1, %r1};
ld.global.v2.u32 {%r2, %r3}, [%rd5+8];"""
    ran, seen = launched(body)
    assert words(ran, 9) == [0] * 4 + [1] * 4 + [2]
    assert [(a.width, a.count) for a in seen] == [(16, 16), (8, 16)]


def test_generic_addresses_lead_to_their_memory() -> None:
    body = f"""{SHARED}.local .align 4 .b8 l[64];
mov.u64 %rd4, l;
cvta.local.u64 %rd5, %rd4;
st.u32 [%rd5+4], %r1;
ld.local.u32 %r2, [%rd4+4];
mov.u64 %rd6, s;
cvta.shared.u64 %rd7, %rd6;
add.s64 %rd7, %rd7, %rd2;
st.u32 [%rd7], %r2;
ld.u32 %r3, [%rd7];
st.u32 [%rd3], %r3;"""
    ran, seen = launched(body)
    assert words(ran, 32) == [*range(32)]
    assert [a.space for a in seen] == ["local", "local", "shared", "shared", "global"]


def test_variables_of_the_module_hold_what_it_says() -> None:
    more = ".const .align 4 .b8 t[8] = {1, 0, 0, 0, 5};\n.global .align 4 .u32 g[2] = {7, 9};\n"
    body = "ld.const.u32 %r2, [t+4];\nld.global.u32 %r3, [g+4];\nadd.u32 %r2, %r2, %r3;\nst.global.u32 [%rd3], %r2;"
    ran, seen = launched(body, more=more)
    assert words(ran, 1) == [14]
    assert [a.array for a in seen] == ["t", "g", "p"]


def test_what_is_out_of_bounds_is_lost() -> None:
    body = "st.global.u32 [%rd3], %r1;\nld.global.u32 %r2, [%rd3+-4];\nst.global.u32 [%rd3], %r2;"
    ran, _ = launched(body, size=16)
    assert words(ran, 5) == [0, 0, 1, 2, 0]
    assert set(ran.windows.outside) == {"p"}
    below = "st.global.u32 [%rd1+-4], 9;\nld.global.u32 %r2, [%rd1+-4];\nst.global.u32 [%rd1], %r2;"
    ran, _ = launched(below.replace("[%rd1+-4], 9", "[%rd1+-4], %r1"))
    assert words(ran, 1) == [0]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("ld.global.u32 %r2, [%rd3+2];", "no multiple"),
        ("mov.u64 %rd4, 8;\nld.global.u32 %r2, [%rd4];\nld.global.u32 %r2, [12];", "holds no variable"),
        ("ld.shared.u32 %r2, [%r1];", "no multiple|holds no variable"),
        ("ld.global.u32 %r2, [nothing];", "no variable"),
    ],
)
def test_addresses_that_a_device_refuses(body: str, told: str) -> None:
    with pytest.raises(PtxProblem, match=told):
        launched(body)


def test_of_two_lanes_that_write_one_element_the_last_stays() -> None:
    ran, _ = launched("st.global.u32 [%rd1], %r1;")
    assert words(ran, 1) == [31]


@pytest.mark.parametrize(
    ("mode", "start", "left"),
    [("add", 0, 496), ("max", 5, 31), ("exch", 5, 31), ("inc", 30, 31), ("and", 7, 0), ("or", 64, 95), ("xor", 1, 1)],
)
def test_atomic_instructions_go_lane_after_lane(mode: str, start: int, left: int) -> None:
    guard = "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r3, " + str(start) + ";\n@%p1 st.global.u32 [%rd1], %r3;\n"
    kind = "b32" if mode in ("exch", "and", "or", "xor") else "u32"
    ran, seen = launched(f"{guard}atom.global.{mode}.{kind} %r2, [%rd1], %r1;\nst.global.u32 [%rd3+128], %r2;")
    assert words(ran, 1) == [left]
    assert seen[1].kind == ("store" if mode == "exch" else "update")
    assert words(ran, 33)[32] == start


def test_compare_and_swap() -> None:
    ran, _ = launched("add.u32 %r4, %r1, 1;\natom.global.cas.b32 %r2, [%rd1], %r1, %r4;")
    assert words(ran, 1) == [32]


@pytest.mark.parametrize(
    ("shuffle", "expected"),
    [
        ("down.b32 %r2, %r1, 1, 31", [*range(1, 32), 31]),
        ("up.b32 %r2, %r1, 1, 0", [0, *range(31)]),
        ("up.b32 %r2, %r1, 1, 6144", [x - 1 if x % 8 else x for x in range(32)]),
        ("bfly.b32 %r2, %r1, 1, 31", [x ^ 1 for x in range(32)]),
        ("idx.b32 %r2, %r1, 3, 31", [3] * 32),
        ("idx.b32 %r2, %r1, 3, 6175", [x - x % 8 + 3 for x in range(32)]),
        ("down.b32 %r2|%p1, %r1, 4, 6175", [x + 4 if x % 8 < 4 else x for x in range(32)]),
    ],
)
def test_shuffles(shuffle: str, expected: list[int]) -> None:
    ran, _ = launched(f"shfl.sync.{shuffle}, -1;\nst.global.u32 [%rd3], %r2;")
    assert words(ran, 32) == expected


@pytest.mark.parametrize(
    ("vote", "expected"),
    [
        ("vote.sync.ballot.b32 %r2, %p1, -1;", 255),
        ("vote.sync.any.pred %p2, %p1, -1;\nselp.u32 %r2, 1, 0, %p2;", 1),
        ("vote.sync.all.pred %p2, %p1, -1;\nselp.u32 %r2, 1, 0, %p2;", 0),
        ("redux.sync.add.s32 %r2, %r1, -1;", 496),
        ("activemask.b32 %r2;", 2**32 - 1),
        ("and.b32 %r3, %r1, 16;\nmatch.any.sync.b32 %r2, %r3, -1;", 65535),
        ("mov.u32 %r2, %lanemask_lt;", 0),
    ],
)
def test_votes(vote: str, expected: int) -> None:
    ran, _ = launched(f"setp.lt.u32 %p1, %r1, 8;\n{vote}\nst.global.u32 [%rd3], %r2;")
    assert words(ran, 1) == [expected]


def test_a_mask_names_the_lanes_that_are_there() -> None:
    body = "setp.lt.u32 %p1, %r1, 8;\n@%p1 shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;"
    with pytest.raises(PtxProblem, match="other lanes"):
        launched(body)
    launched(body.replace(", -1;", ", 255;"))


def test_a_value_of_a_lane_that_is_not_there_is_told() -> None:
    ran, _ = launched("setp.lt.u32 %p1, %r1, 8;\n@%p1 shfl.sync.down.b32 %r2, %r1, 4, 31, 255;")
    assert [note for note in ran.undefined if "not there" in note]


def test_blocks_have_fresh_shared_memory() -> None:
    body = f"""{SHARED}mov.u32 %r4, %ctaid.x;
ld.shared.u32 %r5, [s];
add.u32 %r5, %r5, 1;
st.shared.u32 [s], %r5;
mad.lo.u32 %r6, %r4, 4, 0;
cvt.u64.u32 %rd4, %r6;
add.s64 %rd5, %rd1, %rd4;
st.global.u32 [%rd5], %r5;"""
    ran, _ = launched(body, blocks=3)
    assert words(ran, 3) == [1, 1, 1]
