"""A kernel, and PTX for it as compilers write it: as it stands, and changed."""

from __future__ import annotations

from typing import Final

SUM: Final = """__global__ void k(int *A, const int *B, int n)
{
    for (int i = 0; i < n; i++)
        A[threadIdx.x] += B[threadIdx.x];
}
"""

_HEAD: Final = """.version 9.0
.target sm_90
.address_size 64
.visible .entry _Z1kPiPKii(
    .param .u64 _Z1kPiPKii_param_0,
    .param .u64 _Z1kPiPKii_param_1,
    .param .u32 _Z1kPiPKii_param_2
)
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [_Z1kPiPKii_param_0];
    ld.param.u64 %rd2, [_Z1kPiPKii_param_1];
    ld.param.u32 %r1, [_Z1kPiPKii_param_2];
    .loc 1 3 5
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    mov.u32 %r3, 0;
    setp.lt.s32 %p1, %r1, 1;
    @%p1 bra OUT;
"""
_TAIL: Final = """    .loc 1 5 1
OUT:
    ret;
}
    .file 1 "/elsewhere/sum.cu"
"""
_TURN: Final = """    add.s32 %r3, %r3, 1;
    setp.lt.s32 %p2, %r3, %r1;
    @%p2 bra TURN;
"""
_BODY: Final = """TURN:
    .loc 1 4 9
    ld.global.u32 %r4, [%rd5];
    ld.global.u32 %r5, [%rd4];
    add.s32 %r6, %r5, %r4;
    st.global.u32 [%rd4], %r6;
"""

PTX: Final = _HEAD + _BODY + _TURN + _TAIL

TWICE: Final = PTX.replace("    ld.global.u32 %r5", "    ld.global.u32 %r7, [%rd5];\n    ld.global.u32 %r5")
"""Loads each element of B twice."""

WRONG: Final = PTX.replace("add.s32 %r6, %r5, %r4", "sub.s32 %r6, %r5, %r4")
"""Leaves other integers."""

HOISTED: Final = (
    _HEAD
    + """    .loc 1 4 9
    ld.global.u32 %r4, [%rd5];
    ld.global.u32 %r6, [%rd4];
TURN:
    add.s32 %r6, %r6, %r4;
"""
    + _TURN
    + """    st.global.u32 [%rd4], %r6;
"""
    + _TAIL
)
"""Loads before the loop and stores after it."""

GONE: Final = _HEAD.replace("    @%p1 bra OUT;\n", "") + _TAIL
"""Does nothing."""

QUARTERS: Final = """__global__ void k(float *A, const float *B)
{
    float x = B[4 * threadIdx.x];
    float y = B[4 * threadIdx.x + 1];
    A[2 * threadIdx.x] = x;
    A[2 * threadIdx.x + 1] = x - y;
    A[2 * threadIdx.x] = y;
}
"""

WIDE: Final = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(
    .param .u64 k_param_0,
    .param .u64 k_param_1
)
{
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [k_param_0];
    ld.param.u64 %rd2, [k_param_1];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 16;
    add.s64 %rd4, %rd2, %rd3;
    .loc 1 3 5
    ld.global.v2.f32 {%f1, %f2}, [%rd4];
    mul.wide.u32 %rd5, %r1, 8;
    add.s64 %rd6, %rd1, %rd5;
    sub.f32 %f3, %f1, %f2;
    .loc 1 7 5
    st.global.v2.f32 [%rd6], {%f2, %f3};
    ret;
}
    .file 1 "/elsewhere/quarters.cu"
"""
"""One load for two, one store for three."""
