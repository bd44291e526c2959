"""Inline assembly: what PTX instructions become, what they compute, what they cost, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading
from semantics.cuda.ptx import assemblies, code, immediate
from tests.semantics.cuda.bounds import bound
from tests.semantics.cuda.lowered import Lowered

Lower = Callable[..., str]
Read = Callable[..., Reading]

LANE = "(tid.x + blockDim.x * (tid.y + blockDim.y * tid.z)) % warpSize"

PARAMS = "int *A, float *F, unsigned long long *L, int n, unsigned *U"


def lowered(read: Read, body: str, before: str = "") -> str:
    return show_stmt(read(f"{before}\n__global__ void k({PARAMS}) {{ {body} }}").kernel.body)


CASES = {
    'asm("add.s32 %0, %1, %2;" : "=r"(A[0]) : "r"(n), "r"(n + 1));': "A[0] <- n + (n + 1);",
    # one assignment, whatever the operand is called; what is in braces has registers of its own
    'int x = n; asm("{\\n .reg .u32 t1;\\n mov.u32 t1, %[b];\\n add.u32 %0, t1, %2;\\n}" : "+r"(x) '
    ': [b] "r"(n), "n"(3 * 4)); A[0] = x;': """\
        x <- n;
        r <- n;
        x <- r + 12;
        A[0] <- x;""",
    # an array is read once, however often its operand is used
    'asm("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.s32 %0, %1, %2, p; }" : "=r"(A[1]) : "r"(A[0]), "r"(n));': """\
        t <- A[0];
        r <- t < n;
        A[1] <- r ? t : n;""",
    'asm("mov.u32 %0, %%laneid;" : "=r"(A[0])); asm("mov.u32 %0, %%ctaid.x;" : "=r"(A[1]));': (
        f"A[0] <- {LANE};\nA[1] <- blockIdx.x;"
    ),
    'asm("membar.gl;" ::: "memory"); asm volatile("" ::: "memory"); asm volatile("bar.sync 0;"); '
    'asm volatile("cp.async.commit_group;"); asm volatile("cp.async.wait_group %0;" :: "n"(2));': "sync;",
    'float a, b; asm("ld.global.nc.v2.f32 {%0, %1}, [%2+8];" : "=f"(a), "=f"(b) : "l"(F + 2 * n)); '
    'asm("st.global.cs.f32 [%0], %1;" :: "l"(&F[n]), "f"(a + b));': """\
        t <- F.as_floatx2_at_4[2 * n + 2];
        a <- t;
        b <- part(t, 4);
        F[n] <- a + b;""",
    # the lanes whose predicate is false access nothing
    'asm("{ .reg .pred p; setp.ne.b32 p, %0, 0; @!p st.global.u32 [%1+4], %2; }" :: "r"(n), "l"(A), "r"(3));': """\
        r <- n != 0;
        if (!r) {
          A[1] <- 3;
        }""",
    'asm("red.global.add.f32 [%0], %1;" :: "l"(F), "f"(1.f)); asm("atom.global.max.s32 %0, [%1], %2;" : "=r"(A[0]) : '
    '"l"(A + 3), "r"(n));': """\
        F[0] <- ptx_red(F[0], 1.f);
        A[3] <- max(A[3], n);
        A[0] <- int(ptx_atom(ptx_atom(0.0, tid.x, tid.y), tid.z, 1));""",
    '__shared__ float s[64]; asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\\n" '
    ':: "r"((unsigned)__cvta_generic_to_shared(&s[threadIdx.x * 4])), "l"(&F[n]));': """\
        t <- F.as_floatx4_at_4[n];
        s.as_floatx4_at_4[tid.x * 4] <- pack(pack(t, part(t, 4), part(t, 8)), part(t, 12));""",
    # addresses are numbers: an array in shared memory begins at a multiple of 256 that is not known
    "unsigned p; __shared__ float s[64]; "
    'asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(p) : "l"(s + threadIdx.x)); '
    'asm("ld.shared.f32 %0, [%1+4];" : "=f"(F[0]) : "r"(p));': """\
        address <- int(address(0.0, 0));
        r <- 256 * address + tid.x * 4;
        p <- r;
        F[0] <- shared_memory.float32_at_1[p + 4];""",
    'asm("mov.b64 %0, {%1, %2};" : "=l"(L[0]) : "r"(U[0]), "r"(U[1]));': (
        "L[0] <- (U[0] & 4294967295) + (U[1] & 4294967295) * 4294967296;"
    ),
    # of NaN it is false, and C's != true
    'asm("{ .reg .pred p; setp.ne.f32 p, %1, %2; selp.s32 %0, 1, 2, p; }" : "=r"(A[0]) : "f"(F[0]), "f"(F[1]));': """\
        t <- F[0];
        t_1 <- F[1];
        r <- t < t_1 || t > t_1;
        A[0] <- r ? 1 : 2;""",
    # two halves, no number of 32 bits
    'asm("add.u16x2 %0, %1, %2;" : "=r"(U[0]) : "r"(U[1]), "r"(n));': (
        "U[0] <- int(ptx_add_u16x2(as_double(U[1]), n));"
    ),
    # what is not computed exactly is a function of its operands, or may be anything at each lane
    'asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(U[0]) : "r"(U[1]), "r"(n), "r"(5));': """\
        U[0] <- int(ptx_vabsdiff4_u32_u32_u32_add(as_double(U[1]), n, 5));""",
    'asm("lop3.b32 %0, %1, %2, 5, 0xEA;" : "=r"(U[0]) : "r"(U[1]), "r"(n)); '
    'asm("shfl.sync.bfly.b32 %0, %1, 16, 0x1f, 0xffffffff;" : "=r"(A[0]) : "r"(n));': """\
        U[0] <- int(ptx_lop3_b32(ptx_lop3_b32(as_double(U[1]), n, 5), 234));
        A[0] <- int(ptx_shfl(ptx_shfl(ptx_shfl(ptx_shfl(0.0, tid.x, tid.y), tid.z, n), 16, 31), 4294967295, 1));""",
    'float d = 0, e = 1; asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1}, {%2}, {%3}, {%0, %1};" '
    ': "+f"(d), "+f"(e) : "r"(n), "r"(A[0])); F[0] = d + e;': """\
        d <- 0.0f;
        e <- 1.0f;
        t <- A[0];
        d <- ptx_mma(ptx_mma(ptx_mma(ptx_mma(0.0f, tid.x, tid.y), tid.z, n), t, d), e, 1);
        e <- ptx_mma(ptx_mma(0.0f, tid.x, tid.y), tid.z, 2);
        F[0] <- d + e;""",
    # what an instruction does not write, the compiler may leave anything in
    'int x; asm("" : "=r"(x)); A[0] = x; int y = n; asm("" : "+r"(y)); A[1] = y;': """\
        x <- int(asm(asm(0.0, tid.x, tid.y), tid.z, 1));
        A[0] <- x;
        y <- n;
        A[1] <- y;""",
}


@pytest.mark.parametrize("body", CASES)
def test_contents(body: str, read: Read) -> None:
    assert lowered(read, body) == dedent(CASES[body])


def test_in_functions_macros_and_templates(read: Read) -> None:
    before = """
#define STR(x) #x
#define ADD(d, a, b) asm volatile("add." STR(s32) " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))
__device__ int one(int a) { int r; ADD(r, a, 1); if (a > 3) ADD(r, r, 5); return r; }
template <int N> __device__ int more(int a) { asm("add.s32 %0, %0, %1;" : "+r"(a) : "n"(N)); return a; }
"""
    assert lowered(read, "A[0] = one(n); A[1] = more<7>(n);", before) == dedent("""\
        a <- n;
        r <- a + 1;
        if (a > 3) {
          r <- r + 5;
        }
        A[0] <- r;
        a_1 <- n;
        a_1 <- a_1 + 7;
        A[1] <- a_1;""")


REFUSED = {
    'asm("frobnicate.b32 %0;" : "=r"(n));': "the instruction 'frobnicate.b32' in inline assembly",
    'asm("bra L1;");': "the instruction 'bra' in inline assembly",
    'asm("L1: add.s32 %0, %0, 1;" : "+r"(n));': "a label in inline assembly",
    'asm("add.s32 %0, %0, 1;" : "+m"(n));': "the operand constraint '+m' in inline assembly",
    'asm("bar.sync 1, 64;");': "'bar.sync 1, 64', a barrier of some threads, in inline assembly",
    'asm("cp.async.bulk.shared::cluster.global [%0], [%1], 16;" :: "r"(n), "l"(F));': (
        "the instruction 'cp.async.bulk.shared::cluster.global' in inline assembly"
    ),
    'asm("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0}, %1, %1;" : "+f"(F[0]) : "l"(L[0]));': (
        "the instruction 'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16' in inline assembly"
    ),
    'asm("mbarrier.init.shared.b64 [%0], 1;" :: "r"(n));': "the instruction 'mbarrier.init.shared.b64' in inline",
    'asm("st.local.u32 [%0], 1;" :: "l"(A));': "'st.local.u32' in inline assembly",
    'asm("st.u32 [%0], 1;" :: "l"(L[0]));': "an address that is a number in inline assembly",
    'int i = 0; asm("add.s32 %0, %1, 1;" : "=r"(A[i++]) : "r"(i));': "a variable or an array is changed and used",
    'asm("mov.u32 %0, %%nothing;" : "=r"(n));': "the register '%nothing' in inline assembly",
    'asm("mov.u32 %1, 3;" : "=r"(n) : "r"(A[0]));': "'%1', which is no output, as a result in inline assembly",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body: str, read: Read) -> None:
    with pytest.raises(CudaError) as caught:
        lowered(read, body)
    assert caught.value.message.startswith(REFUSED[body])
    assert caught.value.loc is not None


def test_shared_memory_of_another_space_is_refused(read: Read) -> None:
    with pytest.raises(CudaError, match="'A' is not in shared memory"):
        lowered(read, 'asm("st.shared.u32 [%0], 1;" :: "l"(A));')


# --- what instructions compute ---------------------------------------------------------------------------------------


def signed(x: int) -> int:
    return (x + (1 << 31)) % (1 << 32) - (1 << 31)


M16, M24 = 1 << 16, 1 << 24

EXACT: dict[str, Callable[[int, int], int]] = {
    "add.u32 %0, %1, %2": lambda a, b: (a + b) % (1 << 32),
    "sub.u32 %0, %1, %2": lambda a, b: (a - b) % (1 << 32),
    "mul.lo.u32 %0, %1, %2": lambda a, b: a * b % (1 << 32),
    "mad.lo.u32 %0, %1, %2, 7": lambda a, b: (a * b + 7) % (1 << 32),
    "min.s32 %0, %1, %2": lambda a, b: min(signed(a), signed(b)) % (1 << 32),
    "max.u32 %0, %1, %2": max,
    "and.b32 %0, %1, %2": lambda a, b: a & b,
    "or.b32 %0, %1, %2": lambda a, b: a | b,
    "xor.b32 %0, %1, %2": lambda a, b: a ^ b,
    "not.b32 %0, %1": lambda a, _: a ^ 0xFFFFFFFF,
    "shl.b32 %0, %1, 5": lambda a, _: (a << 5) % (1 << 32),
    "shr.u32 %0, %1, 5": lambda a, _: a >> 5,
    "shr.s32 %0, %1, 5": lambda a, _: (signed(a) >> 5) % (1 << 32),
    "bfe.u32 %0, %1, 4, 8": lambda a, _: a >> 4 & 255,
    "{ .reg .pred p, q; setp.lt.s32 p|q, %1, %2; selp.u32 %0, 3, 4, q; }": lambda a, b: (
        4 if signed(a) < signed(b) else 3
    ),
    "{ .reg .pred p; setp.hi.u32 p, %1, %2; selp.u32 %0, %1, %2, p; }": max,
    "{ .reg .u64 t; mul.wide.u32 t, %1, %2; shr.u64 t, t, 32; cvt.u32.u64 %0, t; }": lambda a, b: a * b >> 32,
    "{ .reg .u32 t; mul24.lo.u32 t, %1, %2; mad24.lo.u32 %0, t, %2, %1; }": lambda a, b: (
        ((a % M24) * (b % M24) % M24 * (b % M24) + a) % (1 << 32)
    ),
    **{
        f"{{ .reg .u16 x, y; cvt.u16.u32 x, %1; cvt.u16.u32 y, %2; {op}; cvt.u32.u16 %0, x; }}": value
        for op, value in {
            "add.u16 x, x, y": lambda a, b: (a + b) % M16,
            "sub.u16 x, x, y": lambda a, b: (a - b) % M16,
            "mul.lo.u16 x, x, y": lambda a, b: a * b % M16,
            "mad.lo.u16 x, x, y, y": lambda a, b: (a * b + b) % M16,
            "shl.b16 x, x, 3": lambda a, _: (a << 3) % M16,
            "neg.s16 x, x": lambda a, _: -a % M16,
        }.items()
    },
    "{ .reg .s16 x; cvt.s16.s32 x, %1; mul.lo.s16 x, x, 5; cvt.s32.s16 %0, x; }": lambda a, _: (
        ((a * 5 + M16 // 2) % M16 - M16 // 2) % (1 << 32)
    ),
    "{ .reg .u32 l, h; .reg .b64 t; mov.b64 t, {%1, %2}; mov.b64 {l, h}, t; sub.u32 %0, h, l; }": (
        lambda a, b: (b - a) % (1 << 32)
    ),
}


def test_values(read: Read) -> None:
    """For numbers of which half have their highest bit set."""
    numbers = random.Random(7)
    given = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF] + [numbers.randrange(1 << 32) for _ in range(7)]
    for text, value in EXACT.items():
        end = "" if text.endswith("}") else ";"
        body = f'asm("{text}{end}" : "=r"(U[2]) : "r"(A[0]), "r"(A[1]));'
        reading = read(f"__global__ void k(unsigned *U, int *A) {{ {body} }}")
        for a in given:
            for b in given:
                one = Lowered({})
                one.names |= {d.name: 0 for d in reading.kernel.locals}
                one.cells |= {("A", 0): signed(a), ("A", 1): signed(b)}
                one.run(reading.kernel.body)
                assert one.cell("U", 2) % (1 << 32) == value(a, b), (text, a, b)


# --- what they cost --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [16, 24, 32, 40, 64, 72])
def test_ldmatrix_costs_what_its_rows_touch(row: int, tmp_path: Path) -> None:
    """The conflicts of the 16 bytes of each lane, counted here."""
    address = [2 * (lane % 16 * row + lane // 16 * 8) for lane in range(32)]
    words = {(a + 4 * k) // 4 for a in address for k in range(4)}
    most = max(Counter(word % 32 for word in words).values())
    text = f"""
__device__ unsigned smem(const void *p) {{ return static_cast<unsigned>(__cvta_generic_to_shared(p)); }}
__global__ void k(unsigned *out) {{
  __shared__ unsigned short s[32 * {row}];
  int lane = threadIdx.x % 32; unsigned r[4];
  unsigned a = smem(&s[lane % 16 * {row} + lane / 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%0, %1, %2, %3}}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
  out[threadIdx.x] = r[0] + r[1] + r[2] + r[3];
}}"""
    assert bound(text, "conflicts", tmp_path) == most - 1


@pytest.mark.parametrize(("step", "sectors"), [(4, 4), (16, 16), (32, 32)])
def test_cp_async_costs_a_read_of_what_it_copies(step: int, sectors: int, tmp_path: Path) -> None:
    """4 bytes from every so many: the same as the copy in C."""
    text = """__global__ void k(const float *x, float *y) {{ __shared__ float s[32]; int t = threadIdx.x; {copy} }}"""
    where = f"x + {step // 4} * t"
    to = "(unsigned)__cvta_generic_to_shared(s + t)"
    ours = f'asm("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"({to}), "l"({where}));'
    found = bound(text.format(copy=ours), "sectors", tmp_path)
    assert found == bound(text.format(copy=f"s[t] = *({where});"), "sectors", tmp_path) == sectors


# --- the text --------------------------------------------------------------------------------------------------------


def test_the_text_of_a_statement() -> None:
    """Comments, braces around statements and around operands, guards, and what is no instruction."""
    found = code("// none; \n{ .reg .b32 t<2>, u; /* a; */ @!p ld.v2.u32 {t0, t1}, [%1 + 0x10]; }\n; add.s32 u,t0,-3;")
    assert [(i.opcode, i.operands, i.guard, i.negated) for i in found.instructions] == [
        ("ld.v2.u32", ("{t0, t1}", "[%1 + 0x10]"), "p", True),
        ("add.s32", ("u", "t0", "-3"), None, False),
    ]
    assert found.registers == {"t0": "b32", "t1": "b32", "u": "b32"}
    assert code("a: add.s32 a, b, c;").wrong == "a label"
    assert code("!x;").wrong == "'!x'"
    assert [immediate(t) for t in ("0x1F", "-3", "017", "0b11", "0f3F800000", "1.5", "t1")] == [
        *(31, -3, 15, 3),
        *("0f3F800000", "1.5", None),
    ]
    (one,) = assemblies('{ f("asm (\\"no\\")"); asm volatile ("a\\n\\x41" : [o] "=r" (x) : "r" (y(1)) : "memory"); }')
    assert (one.text, one.outputs, one.inputs, one.names) == ("a\nA", ("=r",), ("r",), ("o", ""))
