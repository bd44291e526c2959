/* What kernels use of CUDA's header of this name: a type of two bytes, and a structure of two of them. */
#pragma once
#define HD __host__ __device__
extern "C++" {
typedef __fp16 half; typedef __fp16 __half;
struct __align__(4) half2 { half x, y; };
typedef half2 __half2;
HD half __float2half(float); HD float __half2float(half); HD half2 __halves2half2(half, half);
HD half __hadd(half, half); HD half __hsub(half, half); HD half __hmul(half, half); HD half __hdiv(half, half);
HD half __hfma(half, half, half); HD half __hneg(half); HD half __habs(half); HD half __hmax(half, half); HD half __hmin(half, half);
HD half hexp(half); HD half hlog(half); HD half hsqrt(half); HD half hrsqrt(half);
HD bool __hgt(half, half); HD bool __hlt(half, half); HD bool __hge(half, half); HD bool __hle(half, half); HD bool __heq(half, half);
HD half2 __hadd2(half2, half2); HD half2 __hsub2(half2, half2); HD half2 __hmul2(half2, half2); HD half2 __hfma2(half2, half2, half2);
HD half __low2half(half2); HD half __high2half(half2); HD float __low2float(half2); HD float __high2float(half2);
HD half __float2half_rn(float); HD half2 make_half2(half, half); HD half2 __float2half2_rn(float);
HD half2 __floats2half2_rn(float, float); HD float2 __half22float2(half2); HD half __int2half_rn(int);
HD int __half2int_rn(half);
}
#undef HD
