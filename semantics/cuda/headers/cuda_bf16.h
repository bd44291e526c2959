/* What kernels use of CUDA's header of this name. */
#pragma once
#include "halves.h"
HALVES(nv_bfloat16, nv_bfloat162, __float2bfloat16, __bfloat162float, __halves2bfloat162)
