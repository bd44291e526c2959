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
