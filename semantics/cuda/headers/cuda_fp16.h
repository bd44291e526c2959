/* What kernels use of CUDA's header of this name. */
#pragma once
#include "halves.h"
HALVES(__fp16, half, half2, half, half2, __halves2half2)
typedef half nv_half; typedef half __nv_half; typedef half2 nv_half2; typedef half2 __nv_half2;
typedef __half_raw __nv_half_raw; typedef __half2_raw __nv_half2_raw;
#define CUDART_INF_FP16 half(CUDART_INF_F)
#define CUDART_NAN_FP16 half(NAN)
#define CUDART_MIN_DENORM_FP16 half(5.9604645e-8f)
#define CUDART_MAX_NORMAL_FP16 half(65504.0f)
#define CUDART_NEG_ZERO_FP16 half(-0.0f)
#define CUDART_ZERO_FP16 half(0.0f)
#define CUDART_ONE_FP16 half(1.0f)
/* What halves are computed to is a float until it is kept: of such alone, these are functions of halves, too. */
extern "C++" {
#define __w_FLOAT template <class T> __w_H inline std::enable_if_t<__is_same(T, float),
#define __w_OF1(R, F) __w_FLOAT R> F(T a) { return F((half)a); }
#define __w_OF2(R, F) __w_FLOAT R> F(T a, T b) { return F((half)a, (half)b); }
__w_OF1(half, hceil) __w_OF1(half, hcos) __w_OF1(half, hexp) __w_OF1(half, hexp10) __w_OF1(half, hexp2)
__w_OF1(half, hfloor) __w_OF1(half, hlog) __w_OF1(half, hlog10) __w_OF1(half, hlog2) __w_OF1(half, hrcp)
__w_OF1(half, hrint) __w_OF1(half, hrsqrt) __w_OF1(half, hsin) __w_OF1(half, hsqrt) __w_OF1(half, htanh)
__w_OF1(half, htanh_approx) __w_OF1(half, htrunc) __w_OF1(half, __hneg) __w_OF1(half, __habs)
__w_OF1(bool, __hisnan) __w_OF1(int, __hisinf) __w_OF2(half, __hadd) __w_OF2(half, __hsub) __w_OF2(half, __hmul)
__w_OF2(half, __hdiv) __w_OF2(half, __hmax) __w_OF2(half, __hmin) __w_OF2(bool, __heq) __w_OF2(bool, __hne)
__w_OF2(bool, __hlt) __w_OF2(bool, __hle) __w_OF2(bool, __hgt) __w_OF2(bool, __hge)
__w_FLOAT half> __hfma(T a, T b, T c) { return __hfma((half)a, (half)b, (half)c); }
}
