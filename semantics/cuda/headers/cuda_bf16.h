/* What kernels use of CUDA's header of this name: a type of two bytes, and a structure of two of them. */
#pragma once
#define HD __host__ __device__
extern "C++" {
typedef __fp16 nv_bfloat16; typedef __fp16 __nv_bfloat16;
struct __align__(4) nv_bfloat162 { nv_bfloat16 x, y; };
typedef nv_bfloat162 __nv_bfloat162;
HD nv_bfloat16 __float2bfloat16(float); HD float __bfloat162float(nv_bfloat16); HD nv_bfloat162 __halves2bfloat162(nv_bfloat16, nv_bfloat16);
HD nv_bfloat16 __hadd(nv_bfloat16, nv_bfloat16); HD nv_bfloat16 __hsub(nv_bfloat16, nv_bfloat16); HD nv_bfloat16 __hmul(nv_bfloat16, nv_bfloat16); HD nv_bfloat16 __hdiv(nv_bfloat16, nv_bfloat16);
HD nv_bfloat16 __hfma(nv_bfloat16, nv_bfloat16, nv_bfloat16); HD nv_bfloat16 __hneg(nv_bfloat16); HD nv_bfloat16 __habs(nv_bfloat16); HD nv_bfloat16 __hmax(nv_bfloat16, nv_bfloat16); HD nv_bfloat16 __hmin(nv_bfloat16, nv_bfloat16);
HD nv_bfloat16 hexp(nv_bfloat16); HD nv_bfloat16 hlog(nv_bfloat16); HD nv_bfloat16 hsqrt(nv_bfloat16); HD nv_bfloat16 hrsqrt(nv_bfloat16);
HD bool __hgt(nv_bfloat16, nv_bfloat16); HD bool __hlt(nv_bfloat16, nv_bfloat16); HD bool __hge(nv_bfloat16, nv_bfloat16); HD bool __hle(nv_bfloat16, nv_bfloat16); HD bool __heq(nv_bfloat16, nv_bfloat16);
HD nv_bfloat162 __hadd2(nv_bfloat162, nv_bfloat162); HD nv_bfloat162 __hsub2(nv_bfloat162, nv_bfloat162); HD nv_bfloat162 __hmul2(nv_bfloat162, nv_bfloat162); HD nv_bfloat162 __hfma2(nv_bfloat162, nv_bfloat162, nv_bfloat162);
HD nv_bfloat16 __low2half(nv_bfloat162); HD nv_bfloat16 __high2half(nv_bfloat162); HD float __low2float(nv_bfloat162); HD float __high2float(nv_bfloat162);
}
#undef HD
