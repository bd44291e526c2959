/* What kernels use of CUDA's header of this name. */
#pragma once
#include "small_floats.h"
extern "C++" {
__w_SMALL(fp8, unsigned char, unsigned short, unsigned)
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
__w_CONVERTED(fp8, __nv_saturation_t, __nv_fp8_interpretation_t)
__w_ALL(fp8, e4m3) __w_ALL(fp8, e5m2) __w_ALL(fp8, e8m0)
__w_F __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float, __nv_saturation_t, cudaRoundMode);
__w_F __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double, __nv_saturation_t, cudaRoundMode);
__w_F __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw, __nv_saturation_t, cudaRoundMode);
__w_F __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2, __nv_saturation_t, cudaRoundMode);
__w_F __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2, __nv_saturation_t, cudaRoundMode);
__w_F __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw, __nv_saturation_t, cudaRoundMode);
__w_F __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t);
__w_F __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t);
}
