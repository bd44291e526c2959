/* What kernels use of CUDA's header of this name. */
#pragma once
#include "halves.h"
HALVES(half, half2, __float2half, __half2float, __halves2half2)
#define __w_WHOLE(N, I, R) __w_H I __half2##N##_##R(half); __w_H half __##N##2half_##R(I);
#define __w_WHOLES(R) __w_WHOLE(int, int, R) __w_WHOLE(uint, unsigned, R) __w_WHOLE(ll, long long, R) \
  __w_WHOLE(ull, unsigned long long, R) __w_WHOLE(short, short, R) __w_WHOLE(ushort, unsigned short, R) \
  __w_H half __float2half_##R(float);
extern "C++" {
__w_WHOLES(rn) __w_WHOLES(rz) __w_WHOLES(rd) __w_WHOLES(ru)
__w_H half2 make_half2(half, half); __w_H half __double2half(double); __w_H half2 __half2half2(half);
__w_H half2 __float2half2_rn(float); __w_H half2 __floats2half2_rn(float, float);
__w_H half2 __float22half2_rn(float2); __w_H float2 __half22float2(half2);
__w_H short __half_as_short(half); __w_H unsigned short __half_as_ushort(half); __w_H half __short_as_half(short);
__w_H half __ushort_as_half(unsigned short);
}
