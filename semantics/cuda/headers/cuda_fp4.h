/* What kernels use of CUDA's header of this name. */
#pragma once
#include "small_floats.h"
extern "C++" {
__w_SMALL(fp4, unsigned char, unsigned char, unsigned short)
enum __nv_fp4_interpretation_t { __NV_E2M1 };
__w_CONVERTED(fp4, __nv_fp4_interpretation_t, cudaRoundMode)
__w_ALL(fp4, e2m1)
}
