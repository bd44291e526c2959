/* What CUDA C needs to be parsed without the CUDA toolkit: attributes, built-in variables and types, declarations.
   Nothing here has a body that a kernel could execute. `semantics.cuda.shim` says what the functions mean. */
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define CUDART_INF_F (1.0f / 0.0f)
#define CUDART_INF (1.0 / 0.0)
#define INFINITY CUDART_INF_F
#define HUGE_VALF CUDART_INF_F
#define NAN (0.0f / 0.0f)
#define CUDART_PI_F 3.141592654f
#define NULL __null
#define CHAR_BIT 8
#define SHRT_MAX 32767
#define SHRT_MIN (-32767 - 1)
#define USHRT_MAX 65535
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 18446744073709551615uL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615uLL
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define M_PI 3.14159265358979323846
#define HD __host__ __device__

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long clock_t;

#define VECTORS(T, N, A) \
  struct N##1 { T x; }; \
  struct __align__(2 * A) N##2 { T x, y; }; \
  struct N##3 { T x, y, z; }; \
  struct __align__(4 * A > 16 ? 16 : 4 * A) N##4 { T x, y, z, w; }; \
  extern "C++" { \
  HD N##1 make_##N##1(T); HD N##2 make_##N##2(T, T); HD N##3 make_##N##3(T, T, T); HD N##4 make_##N##4(T, T, T, T); \
  }
VECTORS(signed char, char, 1)
VECTORS(unsigned char, uchar, 1)
VECTORS(short, short, 2)
VECTORS(unsigned short, ushort, 2)
VECTORS(int, int, 4)
VECTORS(unsigned int, uint, 4)
VECTORS(long, long, 8)
VECTORS(unsigned long, ulong, 8)
VECTORS(long long, longlong, 8)
VECTORS(unsigned long long, ulonglong, 8)
VECTORS(float, float, 4)
VECTORS(double, double, 8)
#undef VECTORS

extern "C++" {
struct dim3 {
  unsigned int x, y, z;
  HD constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  HD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
}
extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef enum cudaError { cudaSuccess } cudaError_t;
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);

extern "C" __device__ void __syncthreads();
extern "C" __device__ void __threadfence();
extern "C" __device__ void __threadfence_block();
extern "C" __device__ void __threadfence_system();
extern "C" HD int printf(const char *, ...);
extern "C" HD void assert(int);
extern "C" __device__ long long clock64();

extern "C++" {
__device__ void __syncwarp(unsigned int mask = 0xffffffff);
__device__ int __syncthreads_count(int);
__device__ int __syncthreads_and(int);
__device__ int __syncthreads_or(int);
__device__ int clock();

#define REAL1(F) HD float F(float); HD double F(double); HD double F(int); HD float F##f(float);
#define REAL2(F) HD float F(float, float); HD double F(double, double); HD double F(float, double); \
  HD double F(double, float); HD float F##f(float, float);
REAL1(sqrt) REAL1(rsqrt) REAL1(cbrt) REAL1(exp) REAL1(exp2) REAL1(exp10) REAL1(expm1) REAL1(log) REAL1(log2)
REAL1(log10) REAL1(log1p) REAL1(sin) REAL1(cos) REAL1(tan) REAL1(asin) REAL1(acos) REAL1(atan) REAL1(sinh)
REAL1(cosh) REAL1(tanh) REAL1(asinh) REAL1(acosh) REAL1(atanh) REAL1(sinpi) REAL1(cospi) REAL1(erf) REAL1(erfc)
REAL1(lgamma) REAL1(tgamma) REAL1(floor) REAL1(ceil) REAL1(round) REAL1(rint) REAL1(nearbyint) REAL1(trunc)
REAL1(fabs)
REAL2(pow) REAL2(fmod) REAL2(atan2) REAL2(hypot) REAL2(fmin) REAL2(fmax) REAL2(fdim) REAL2(copysign)
REAL2(remainder)
#undef REAL1
#undef REAL2
HD float pow(float, int); HD double pow(double, int);
HD float ldexp(float, int); HD double ldexp(double, int); HD float ldexpf(float, int);
HD float fma(float, float, float); HD double fma(double, double, double); HD float fmaf(float, float, float);
HD float fdividef(float, float);
HD bool isnan(float); HD bool isnan(double); HD bool isinf(float); HD bool isinf(double);
__device__ float __sinf(float); __device__ float __cosf(float); __device__ float __tanf(float);
__device__ float __expf(float); __device__ float __exp10f(float); __device__ float __logf(float);
__device__ float __log2f(float); __device__ float __log10f(float); __device__ float __powf(float, float);
__device__ float __saturatef(float); __device__ float __fdividef(float, float); __device__ float __fsqrt_rn(float);
__device__ float __frcp_rn(float); __device__ float __frsqrt_rn(float); __device__ float __fdiv_rn(float, float);
__device__ float __fadd_rn(float, float); __device__ float __fmul_rn(float, float);
__device__ double __dadd_rn(double, double); __device__ double __dmul_rn(double, double);
__device__ float __fmaf_rn(float, float, float); __device__ double __fma_rn(double, double, double);

#define ORDER(F) \
  HD int F(int, int); HD unsigned F(unsigned, unsigned); HD unsigned F(int, unsigned); HD unsigned F(unsigned, int); \
  HD long F(long, long); HD unsigned long F(unsigned long, unsigned long); HD long F(int, long); HD long F(long, int); \
  HD unsigned long F(unsigned, unsigned long); HD unsigned long F(unsigned long, unsigned); \
  HD unsigned long F(int, unsigned long); HD unsigned long F(unsigned long, int); \
  HD long long F(long long, long long); HD unsigned long long F(unsigned long long, unsigned long long); \
  HD float F(float, float); HD double F(double, double); HD double F(float, double); HD double F(double, float); \
  HD float F(float, int); HD float F(int, float); HD double F(double, int); HD double F(int, double);
ORDER(min)
ORDER(max)
#undef ORDER
HD unsigned umin(unsigned, unsigned); HD unsigned umax(unsigned, unsigned);
HD int abs(int); HD long abs(long); HD long long abs(long long); HD float abs(float); HD double abs(double);
HD long labs(long); HD long long llabs(long long);
__device__ int __mul24(int, int); __device__ unsigned __umul24(unsigned, unsigned);
__device__ int __mulhi(int, int); __device__ unsigned __umulhi(unsigned, unsigned);
__device__ int __clz(int); __device__ int __popc(unsigned); __device__ int __ffs(int); __device__ unsigned __brev(unsigned);
__device__ int __popcll(unsigned long long); __device__ int __clzll(long long); __device__ int __ffsll(long long);
__device__ int __float2int_rz(float); __device__ int __float2int_rn(float); __device__ int __float2int_rd(float);
__device__ int __float2int_ru(float); __device__ unsigned __float2uint_rz(float);
__device__ unsigned __float2uint_rn(float); __device__ unsigned __float2uint_rd(float);
__device__ unsigned __float2uint_ru(float); __device__ int __double2int_rz(double);
__device__ int __double2int_rn(double); __device__ int __double2int_rd(double); __device__ int __double2int_ru(double);
__device__ float __int2float_rn(int); __device__ float __int2float_rz(int); __device__ float __uint2float_rn(unsigned);
__device__ float __uint2float_rz(unsigned); __device__ double __int2double_rn(int);
__device__ int __float_as_int(float); __device__ float __int_as_float(int);
HD int lrintf(float); HD int lroundf(float);
__device__ void sincosf(float, float *, float *); __device__ void __sincosf(float, float *, float *);
__device__ void sincos(double, double *, double *); __device__ void sincospif(float, float *, float *);

#define ATOMIC(F, T) __device__ T F(T *, T);
#define ATOMICS(_Tp) ATOMIC(atomicMin, _Tp) ATOMIC(atomicMax, _Tp) ATOMIC(atomicAnd, _Tp) ATOMIC(atomicOr, _Tp) \
  ATOMIC(atomicXor, _Tp) __device__ _Tp atomicCAS(_Tp *, _Tp, _Tp);
ATOMICS(int) ATOMICS(unsigned) ATOMICS(unsigned long long)
ATOMIC(atomicAdd, int) ATOMIC(atomicAdd, unsigned) ATOMIC(atomicAdd, unsigned long long) ATOMIC(atomicAdd, float)
ATOMIC(atomicAdd, double) ATOMIC(atomicSub, int) ATOMIC(atomicSub, unsigned)
ATOMIC(atomicExch, int) ATOMIC(atomicExch, unsigned) ATOMIC(atomicExch, unsigned long long) ATOMIC(atomicExch, float)
ATOMIC(atomicInc, unsigned) ATOMIC(atomicDec, unsigned)
#undef ATOMICS
#undef ATOMIC

template <class _Tp> __device__ _Tp __ldg(const _Tp *);
template <class _Tp> __device__ _Tp __ldcs(const _Tp *); template <class _Tp> __device__ _Tp __ldcg(const _Tp *);
template <class _Tp> __device__ _Tp __ldca(const _Tp *); template <class _Tp> __device__ _Tp __ldlu(const _Tp *);
template <class _Tp> __device__ _Tp __ldcv(const _Tp *);
template <class _Tp> struct __warpbound_is { typedef _Tp type; };
#define STORE(F) template <class _Tp> __device__ void F(_Tp *, typename __warpbound_is<_Tp>::type);
STORE(__stcs) STORE(__stcg) STORE(__stwb) STORE(__stwt)
#undef STORE
template <class _Tp> __device__ _Tp __shfl(_Tp, int, int = 0);
template <class _Tp> __device__ _Tp __shfl_up(_Tp, unsigned, int = 0);
template <class _Tp> __device__ _Tp __shfl_down(_Tp, unsigned, int = 0);
template <class _Tp> __device__ _Tp __shfl_xor(_Tp, int, int = 0);
template <class _Tp> __device__ _Tp __shfl_sync(unsigned, _Tp, int, int = 0);
template <class _Tp> __device__ _Tp __shfl_up_sync(unsigned, _Tp, unsigned, int = 0);
template <class _Tp> __device__ _Tp __shfl_down_sync(unsigned, _Tp, unsigned, int = 0);
template <class _Tp> __device__ _Tp __shfl_xor_sync(unsigned, _Tp, int, int = 0);
__device__ int __any(int); __device__ int __all(int); __device__ unsigned __ballot(int);
__device__ int __any_sync(unsigned, int); __device__ int __all_sync(unsigned, int);
__device__ unsigned __ballot_sync(unsigned, int); __device__ unsigned __activemask();

__device__ int __dp4a(int, int, int); __device__ unsigned __dp4a(unsigned, unsigned, unsigned);
__device__ unsigned __funnelshift_l(unsigned, unsigned, unsigned);
__device__ unsigned __funnelshift_r(unsigned, unsigned, unsigned);
__device__ unsigned __byte_perm(unsigned, unsigned, unsigned);
__device__ long long __double_as_longlong(double); __device__ double __longlong_as_double(long long);
__device__ unsigned __float_as_uint(float); __device__ float __uint_as_float(unsigned);

enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
template <class _Tp, int dim = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture { int normalized, filterMode, addressMode[3]; };
typedef unsigned long long cudaTextureObject_t;
template <class _Tp, int d, cudaTextureReadMode m> __device__ _Tp tex1D(texture<_Tp, d, m>, float);
template <class _Tp, int d, cudaTextureReadMode m> __device__ _Tp tex1Dfetch(texture<_Tp, d, m>, int);
template <class _Tp, int d, cudaTextureReadMode m> __device__ _Tp tex2D(texture<_Tp, d, m>, float, float);
template <class _Tp, int d, cudaTextureReadMode m> __device__ _Tp tex3D(texture<_Tp, d, m>, float, float, float);
template <class _Tp> __device__ _Tp tex1Dfetch(cudaTextureObject_t, int);
template <class _Tp> __device__ _Tp tex2D(cudaTextureObject_t, float, float);
}
#undef HD
