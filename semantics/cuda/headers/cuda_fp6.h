/* What kernels use of CUDA's header of this name. */
#pragma once
#include "small_floats.h"
extern "C++" {
__w_SMALL(fp6, unsigned char, unsigned short, unsigned)
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };
__w_CONVERTED(fp6, __nv_fp6_interpretation_t, cudaRoundMode)
__w_ALL(fp6, e2m3) __w_ALL(fp6, e3m2)
}
