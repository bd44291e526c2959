/* What kernels use of CUDA's header of this name. */
#pragma once
#include "halves.h"
HALVES(__bf16, nv_bfloat16, nv_bfloat162, bfloat16, bfloat162, __halves2bfloat162)
#define CUDART_INF_BF16 nv_bfloat16(CUDART_INF_F)
#define CUDART_NAN_BF16 nv_bfloat16(NAN)
#define CUDART_MIN_DENORM_BF16 nv_bfloat16(9.183549615799121e-41f)
#define CUDART_MAX_NORMAL_BF16 nv_bfloat16(3.38953138925e38f)
#define CUDART_NEG_ZERO_BF16 nv_bfloat16(-0.0f)
#define CUDART_ZERO_BF16 nv_bfloat16(0.0f)
#define CUDART_ONE_BF16 nv_bfloat16(1.0f)
