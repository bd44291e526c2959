/* What CUDA C needs to be parsed without the CUDA toolkit: attributes, built-in variables and types, declarations.
   Nothing here has a body that a kernel could execute. `semantics.cuda.shim` says what the functions mean. */
extern "C" __attribute__((device)) void __syncthreads();
/* Where every function is for host and device (`Request.together`), classes that are not like the library's are not
   copied and dropped `noexcept`, though trivially, by which `std::is_trivial` and its like tell them and what has them;
   those of a size that is not told are large. Others of which no more is known than what they are made of say so. In C++20,
   some libraries have types in function objects (`__w_OLDER`) that others lack. Functions throw nothing, `cuda::std` has
   classes that are not those of `std`, and Thrust has others. */
#ifdef __w_together
#pragma clang force_cuda_host_device begin
#define __w_NOTHROW __attribute__((nothrow))
#define __w_OURS(C) __w_LIBRARY C &operator=(const C &) noexcept(false) = default; ~C() noexcept(false) = default;
#define __w_SIZED __attribute__((aligned(262144)))
#else
#define __w_NOTHROW
#define __w_OURS(C) __w_LIBRARY
#define __w_SIZED
#endif
#define __w_LIBRARY typedef void __w_library;
#if defined(__w_together) && __cplusplus >= 202002L
#define __w_OLDER(...)
#else
#define __w_OLDER(...) __VA_ARGS__
#endif
#pragma push_macro("HD")
#pragma push_macro("VECTORS")
#pragma push_macro("STORE")
#pragma push_macro("REDUCED")
#pragma push_macro("LANES")
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
#define __inline_hint__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __grid_constant__
#define __w_als _Alignas
#define __managed__ __attribute__((device))
#define __nv_pure__
#define CUDARTAPI
#define CUDART_CB
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
#define INT8_MAX 127
#define INT8_MIN (-127 - 1)
#define UINT8_MAX 255
#define INT16_MAX SHRT_MAX
#define INT16_MIN SHRT_MIN
#define UINT16_MAX USHRT_MAX
#define INT32_MAX INT_MAX
#define INT32_MIN INT_MIN
#define UINT32_MAX UINT_MAX
#define INT64_MAX LONG_MAX
#define INT64_MIN LONG_MIN
#define UINT64_MAX ULONG_MAX
#define SIZE_MAX ULONG_MAX
#define INTPTR_MAX LONG_MAX
#define UINTPTR_MAX ULONG_MAX
#define PTRDIFF_MAX LONG_MAX
#define SCHAR_MAX 127
#define SCHAR_MIN (-127 - 1)
#define UCHAR_MAX 255
#define CHAR_MAX 127
#define CHAR_MIN (-127 - 1)
#define INT32_C(n) n
#define UINT32_C(n) n##u
#define INT64_C(n) n##L
#define UINT64_C(n) n##uL
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define HD __host__ __device__ __w_NOTHROW

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
typedef __INTPTR_TYPE__ intptr_t;
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

extern "C++" {
struct dim3 {
  unsigned int x, y, z;
  HD constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  HD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  HD constexpr operator uint3() const { return uint3{x, y, z}; }
};
}
extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct cudaArray *cudaArray_t;
typedef unsigned long long cudaGraphConditionalHandle;
typedef struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; } CUtensorMap;
typedef enum cudaError {
  cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorInitializationError, cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35, cudaErrorNoDevice = 100, cudaErrorInvalidDevice, cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700, cudaErrorPeerAccessAlreadyEnabled = 704, cudaErrorAssert = 710,
  cudaErrorHostMemoryAlreadyRegistered = 712, cudaErrorLaunchFailure = 719, cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
} cudaError_t;
#define cudaStreamNonBlocking 1
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
extern "C++" template <class... _T> __device__ void _W(_T...);
extern "C" HD cudaError_t cudaDeviceSynchronize();
extern "C" HD cudaError_t cudaGetLastError();
extern "C" HD cudaError_t cudaPeekAtLastError();
extern "C" HD cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned int);
extern "C" HD cudaError_t cudaStreamDestroy(cudaStream_t);
extern "C" HD cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned int);
extern "C" HD cudaError_t cudaEventDestroy(cudaEvent_t);
extern "C" HD cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
extern "C" HD cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int = 0);
extern "C" HD int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);

extern "C" __device__ void __threadfence();
extern "C" __device__ void __threadfence_block();
extern "C" __device__ void __threadfence_system();
extern "C" __device__ void __threadfence_cluster();
extern "C" __device__ void __trap();
extern "C" __device__ void __brkpt();
extern "C" __device__ void __prof_trigger(int);
extern "C" __device__ void __nanosleep(unsigned int);
extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned int);
extern "C" HD int printf(const char *, ...);
extern "C++" inline HD void *operator new(size_t, void *p) noexcept { return p; }
extern "C++" inline HD void *operator new[](size_t, void *p) noexcept { return p; }
extern "C" HD void *malloc(size_t);
extern "C" HD void free(void *);
extern "C" HD void *memcpy(void *, const void *, size_t);
extern "C" HD void *memmove(void *, const void *, size_t);
extern "C" HD void *memset(void *, int, size_t);
extern "C" HD int puts(const char *);
extern "C" HD int putchar(int);
extern "C" __device__ void __w_assert(bool);
extern "C" __device__ void __assert_fail(const char *, const char *, unsigned, const char *);
extern "C" __device__ void __assertfail(const void *, const void *, unsigned, const void *, size_t);
extern "C" __device__ void __barrier_sync(unsigned);
extern "C" __device__ void __barrier_sync_count(unsigned, unsigned);
extern "C" __device__ void *__cvta_shared_to_generic(size_t);
extern "C" __device__ void *__cvta_global_to_generic(size_t);
extern "C" __device__ void *__cvta_local_to_generic(size_t);
extern "C" __device__ void *__cvta_constant_to_generic(size_t);
extern "C" __device__ void *__cvta_grid_constant_to_generic(size_t);
extern "C" __device__ unsigned __isClusterShared(const void *);
extern "C" __device__ unsigned __isCtaShared(const void *);
extern "C" __device__ void __cluster_barrier_arrive();
extern "C" __device__ void __cluster_barrier_arrive_relaxed();
extern "C" __device__ void __cluster_barrier_wait();
extern "C" __device__ void *__cluster_map_shared_rank(const void *, unsigned);
extern "C" __device__ unsigned __cluster_query_shared_rank(const void *);
extern "C" __device__ long long clock64();
extern "C" __device__ int vprintf(const char *, const void *);
extern "C" __device__ unsigned __isGlobal(const void *);
extern "C" __device__ unsigned __isShared(const void *);
extern "C" __device__ unsigned __isConstant(const void *);
extern "C" __device__ unsigned __isLocal(const void *);
extern "C" __device__ unsigned __isGridConstant(const void *);
#define __assume(...) __builtin_assume(__VA_ARGS__)
extern "C" __device__ size_t __cvta_generic_to_shared(const void *);
extern "C" __device__ size_t __cvta_generic_to_global(const void *);

extern "C++" {
__device__ void __syncwarp(unsigned int mask = 0xffffffff);
__device__ int __syncthreads_count(int);
__device__ int __syncthreads_and(int);
__device__ int __syncthreads_or(int);
__device__ clock_t clock();
__device__ dim3 __clusterDim(); __device__ unsigned __clusterDimIsSpecified(); __device__ dim3 __clusterIdx();
__device__ dim3 __clusterGridDimInClusters(); __device__ dim3 __clusterRelativeBlockIdx();
__device__ unsigned __clusterRelativeBlockRank(); __device__ unsigned __clusterSizeInBlocks();

template <class _Tp> __device__ _Tp __ldg(const _Tp *);
template <class _Tp> __device__ _Tp __ldcs(const _Tp *); template <class _Tp> __device__ _Tp __ldcg(const _Tp *);
template <class _Tp> __device__ _Tp __ldca(const _Tp *); template <class _Tp> __device__ _Tp __ldlu(const _Tp *);
template <class _Tp> __device__ _Tp __ldcv(const _Tp *);
template <class _Tp> struct __warpbound_is { typedef _Tp type; };
#define STORE(F) template <class _Tp> __device__ void F(_Tp *, typename __warpbound_is<_Tp>::type);
STORE(__stcs) STORE(__stcg) STORE(__stwb) STORE(__stwt)
/* Of narrow integers CUDA has none, so they become int. */
template <class _Tp, bool = __is_arithmetic(_Tp) || (__is_enum(_Tp) && __is_convertible(_Tp, int))>
struct __warpbound_lanes { typedef _Tp type; };
template <class _Tp> struct __warpbound_lanes<_Tp, true> { typedef decltype(+_Tp()) type; };
#define LANES(F, T) template <class _Tp> __device__ typename __warpbound_lanes<_Tp>::type __shfl##F(_Tp, T, int = 0); \
  template <class _Tp> __device__ typename __warpbound_lanes<_Tp>::type __shfl##F##_sync(unsigned, _Tp, T, int = 0);
LANES(, int) LANES(_up, unsigned) LANES(_down, unsigned) LANES(_xor, int)
__device__ int __any(int); __device__ int __all(int); __device__ unsigned __ballot(int);
__device__ int __any_sync(unsigned, int); __device__ int __all_sync(unsigned, int);
__device__ unsigned __ballot_sync(unsigned, int); __device__ unsigned __activemask();
template <class _Tp> __device__ unsigned __match_any_sync(unsigned, _Tp);
template <class _Tp> __device__ unsigned __match_all_sync(unsigned, _Tp, int *);
#define REDUCED(F) __device__ unsigned __reduce_##F##_sync(unsigned, unsigned);
REDUCED(add) REDUCED(min) REDUCED(max) REDUCED(and) REDUCED(or) REDUCED(xor)
__device__ int __reduce_add_sync(unsigned, int); __device__ int __reduce_min_sync(unsigned, int);
__device__ int __reduce_max_sync(unsigned, int);

}
#pragma pop_macro("HD")
#pragma pop_macro("VECTORS")
#pragma pop_macro("STORE")
#pragma pop_macro("REDUCED")
#pragma pop_macro("LANES")
#include "headers/warpbound_math.h"
#include "headers/warpbound_textures.h"
#include "headers/warpbound_host.h"
#include "headers/warpbound_atomics.h"
#include "headers/warpbound_std.h"
#include "headers/warpbound_containers.h"
#include "headers/assert.h"
