/* What CUDA extensions of PyTorch are written with, as far as their kernels depend on it: the types that its macros
   dispatch on, so that every instance of a kernel is found; accessors, which kernels are passed; and of tensors what
   host code calls, without bodies, so that clang understands what is around a launch. */
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#pragma push_macro("M")
#pragma push_macro("F")
#pragma push_macro("S")
#pragma push_macro("ANY")
extern "C++" {
namespace c10 {
using Half = ::__half;
using BFloat16 = ::__nv_bfloat16;
enum class ScalarType : signed char {
  Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8,
  QInt32, BFloat16, QUInt4x2, QUInt2x4, Float8_e5m2 = 23, Float8_e4m3fn, UInt16 = 27, UInt32, UInt64, Undefined
};
enum class DeviceType : signed char { CPU, CUDA };
template <ScalarType> struct __w_scalar { typedef float type; };
#define S(NAME, ...) template <> struct __w_scalar<ScalarType::NAME> { typedef __VA_ARGS__ type; };
S(Byte, unsigned char) S(Char, signed char) S(Short, short) S(Int, int) S(Long, long long) S(Half, c10::Half)
S(Double, double) S(Bool, bool) S(BFloat16, c10::BFloat16) S(UInt16, unsigned short) S(UInt32, unsigned)
S(UInt64, unsigned long long)
#undef S
template <ScalarType T> struct CppTypeToScalarType;
struct Device {
  template <class... A> Device(A &&...);
  DeviceType type() const; int index() const; bool is_cuda() const; bool is_cpu() const;
  bool operator==(const Device &) const; bool operator!=(const Device &) const;
};
inline constexpr DeviceType kCUDA = DeviceType::CUDA, kCPU = DeviceType::CPU;
#define S(K, NAME) inline constexpr ScalarType K = ScalarType::NAME;
S(kByte, Byte) S(kChar, Char) S(kShort, Short) S(kInt, Int) S(kLong, Long) S(kHalf, Half) S(kFloat, Float)
S(kDouble, Double) S(kBool, Bool) S(kBFloat16, BFloat16) S(kUInt8, Byte) S(kInt8, Char) S(kInt16, Short) S(kInt32, Int)
S(kInt64, Long) S(kFloat16, Half) S(kFloat32, Float) S(kFloat64, Double)
#undef S
template <class T> struct ArrayRef {
  ArrayRef(); template <class... A> ArrayRef(A &&...); const T &operator[](size_t) const; size_t size() const;
  const T *data() const, *begin() const, *end() const; bool empty() const; ArrayRef slice(size_t, size_t = 0) const;
};
typedef ArrayRef<long long> IntArrayRef;
struct TensorOptions {
  TensorOptions(); template <class T> TensorOptions(T &&);
  template <class T> TensorOptions dtype(T &&) const; template <class... A> TensorOptions device(A &&...) const;
  template <class T> TensorOptions layout(T &&) const; TensorOptions requires_grad(bool = true) const;
  ScalarType dtype() const; Device device() const;
};
struct Scalar { template <class T> Scalar(T); template <class T> T to() const; double toDouble() const; };
struct nullopt_t {};
inline constexpr nullopt_t nullopt{};
template <class T> struct optional {
  optional(); optional(nullopt_t); template <class U> optional(U &&); bool has_value() const; T &value() const;
  template <class U> T value_or(U &&) const; T &operator*() const; T *operator->() const; explicit operator bool() const;
};
namespace cuda {
struct CUDAStream { operator cudaStream_t() const; cudaStream_t stream() const; int device_index() const; };
struct CUDAGuard { template <class... A> CUDAGuard(A &&...); template <class T> void set_device(T &&); };
typedef CUDAGuard OptionalCUDAGuard, CUDAStreamGuard;
template <class... A> CUDAStream getCurrentCUDAStream(A &&...);
template <class... A> CUDAStream getStreamFromPool(A &&...);
template <class... A> CUDAStream getDefaultCUDAStream(A &&...);
int current_device(); int device_count(); void set_device(int);
}
}
namespace at {
using c10::ArrayRef; using c10::BFloat16; using c10::Device; using c10::DeviceType; using c10::Half;
using c10::IntArrayRef; using c10::Scalar; using c10::ScalarType; using c10::TensorOptions; using c10::nullopt;
using c10::optional; using c10::kBFloat16; using c10::kBool; using c10::kByte; using c10::kCPU; using c10::kCUDA;
using c10::kChar; using c10::kDouble; using c10::kFloat; using c10::kFloat16; using c10::kFloat32; using c10::kFloat64;
using c10::kHalf; using c10::kInt; using c10::kInt16; using c10::kInt32; using c10::kInt64; using c10::kInt8;
using c10::kLong; using c10::kShort; using c10::kUInt8;
typedef IntArrayRef IntList;
template <class T> struct RestrictPtrTraits { typedef T *__restrict__ PtrType; };
template <class T> struct DefaultPtrTraits { typedef T *PtrType; };
/* As many numbers as there are dimensions, each of which is one parameter of a kernel. */
template <size_t N, class I> struct __w_dims;
template <class I> struct __w_dims<1, I> {
  I d0;
  __host__ __device__ I at(int) const { return d0; }
};
template <class I> struct __w_dims<2, I> {
  I d0, d1;
  __host__ __device__ I at(int i) const { return i == 0 ? d0 : d1; }
  __host__ __device__ __w_dims<1, I> rest() const { return {d1}; }
};
template <class I> struct __w_dims<3, I> {
  I d0, d1, d2;
  __host__ __device__ I at(int i) const { return i == 0 ? d0 : i == 1 ? d1 : d2; }
  __host__ __device__ __w_dims<2, I> rest() const { return {d1, d2}; }
};
template <class I> struct __w_dims<4, I> {
  I d0, d1, d2, d3;
  __host__ __device__ I at(int i) const { return i == 0 ? d0 : i == 1 ? d1 : i == 2 ? d2 : d3; }
  __host__ __device__ __w_dims<3, I> rest() const { return {d1, d2, d3}; }
};
template <class I> struct __w_dims<5, I> {
  I d0, d1, d2, d3, d4;
  __host__ __device__ I at(int i) const { return i == 0 ? d0 : i == 1 ? d1 : i == 2 ? d2 : i == 3 ? d3 : d4; }
  __host__ __device__ __w_dims<4, I> rest() const { return {d1, d2, d3, d4}; }
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = long long> struct TensorAccessor {
  typename P<T>::PtrType __w_at; __w_dims<N, I> __w_sizes, __w_strides;
  __host__ __device__ TensorAccessor<T, N - 1, P, I> operator[](I i) const {
    return {__w_at + __w_strides.d0 * i, __w_sizes.rest(), __w_strides.rest()};
  }
  __host__ __device__ I size(int i) const { return __w_sizes.at(i); }
  __host__ __device__ I stride(int i) const { return __w_strides.at(i); }
  __host__ __device__ typename P<T>::PtrType data() const { return __w_at; }
};
template <class T, template <class> class P, class I> struct TensorAccessor<T, 1, P, I> {
  typename P<T>::PtrType __w_at; __w_dims<1, I> __w_sizes, __w_strides;
  __host__ __device__ T &operator[](I i) const { return __w_at[__w_strides.d0 * i]; }
  __host__ __device__ I size(int) const { return __w_sizes.d0; }
  __host__ __device__ I stride(int) const { return __w_strides.d0; }
  __host__ __device__ typename P<T>::PtrType data() const { return __w_at; }
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = long long>
using GenericPackedTensorAccessor = TensorAccessor<T, N, P, I>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, long long>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = long long>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
/* An argument of any kind, a list in braces, too. */
struct __w_any { template <class... A> __w_any(A &&...); };
#define ANY __w_any = {}, __w_any = {}, __w_any = {}, __w_any = {}, __w_any = {}, __w_any = {}, __w_any = {}, __w_any = {}
#define M(NAME) Tensor NAME(ANY) const;
struct Tensor {
  Tensor(); template <class T> Tensor(T &&); template <class T> Tensor &operator=(T &&);
  template <class T> T *data_ptr() const; template <class T> T *data() const; void *data_ptr() const;
  template <class T> T *mutable_data_ptr() const; template <class T> const T *const_data_ptr() const;
  void *mutable_data_ptr() const; const void *const_data_ptr() const;
  long long size(long long) const, stride(long long) const, numel() const, dim() const, ndimension() const;
  long long storage_offset() const, nbytes() const, element_size() const, itemsize() const;
  int get_device() const; IntArrayRef sizes() const, strides() const; ScalarType scalar_type() const, dtype() const;
  ScalarType type() const; Device device() const; TensorOptions options() const;
  bool is_cuda() const, is_cpu() const, is_contiguous(...) const, defined() const, requires_grad() const, is_sparse() const;
  bool is_floating_point() const, is_complex() const;
  template <class T> T item() const; Scalar item() const; template <class T> bool equal(T &&) const;
  template <class T, size_t N> TensorAccessor<T, N> accessor() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, P> packed_accessor32() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, P> packed_accessor64() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = long long>
  PackedTensorAccessor<T, N, P, I> packed_accessor() const, generic_packed_accessor() const;
  template <class T> Tensor operator[](T &&) const; Tensor operator-() const;
  M(contiguous) M(view) M(reshape) M(to) M(transpose) M(permute) M(zero_) M(fill_) M(clone) M(detach) M(cuda) M(cpu)
  M(sum) M(mean) M(max) M(min) M(abs) M(exp) M(log) M(sqrt) M(pow) M(mul) M(mul_) M(add) M(add_) M(sub) M(sub_) M(div)
  M(div_) M(copy_) M(select) M(slice) M(narrow) M(index) M(index_select) M(gather) M(scatter) M(scatter_) M(squeeze)
  M(unsqueeze) M(flatten) M(expand) M(expand_as) M(repeat) M(t) M(matmul) M(mm) M(bmm) M(argmax) M(argmin) M(sort)
  M(cumsum) M(nonzero) M(masked_select) M(masked_fill) M(masked_fill_) M(resize_) M(set_) M(type_as) M(view_as)
  M(toType) M(to_dense) M(clamp) M(clamp_) M(round) M(floor) M(ceil) M(sigmoid) M(tanh) M(relu) M(softmax) M(norm)
  M(split) M(chunk) M(unbind) M(new_empty) M(new_zeros) M(as_strided) M(grad) M(alias) M(any) M(all) M(eq) M(ne) M(lt)
  M(gt) M(le) M(ge) M(movedim) M(roll) M(flip) M(unsqueeze_) M(squeeze_) M(transpose_) M(index_put_) M(index_add_)
};
#undef M
#define F(OP) template <class T> Tensor operator OP(const Tensor &, T &&);
F(+) F(-) F(*) F(/) F(==) F(!=) F(<) F(>) F(<=) F(>=)
#undef F
#define F(NAME) Tensor NAME(ANY);
F(empty) F(zeros) F(ones) F(full) F(rand) F(randn) F(randint) F(arange) F(linspace) F(eye) F(tensor) F(from_blob)
F(empty_like) F(zeros_like) F(ones_like) F(full_like) F(rand_like) F(randn_like) F(empty_strided) F(cat) F(stack) F(where)
F(sum) F(mean) F(max) F(min) F(abs) F(exp) F(log) F(sqrt) F(pow) F(matmul) F(mm) F(bmm) F(addmm) F(sigmoid) F(tanh)
F(relu) F(softmax) F(cumsum) F(sort) F(argsort) F(nonzero) F(unique) F(einsum) F(linear) F(transpose) F(add) F(sub) F(mul)
F(div) F(mm_out) F(addmm_out) F(empty_cuda) F(concat) F(clamp) F(norm) F(dot) F(outer) F(meshgrid) F(broadcast_tensors)
#undef F
#undef ANY
optional<Device> device_of(const Tensor &);
template <class T> struct AccumulateType_ { typedef T type; };
template <> struct AccumulateType_<Half> { typedef float type; };
template <> struct AccumulateType_<BFloat16> { typedef float type; };
namespace detail {
template <class T, int N> struct Array { __w_OURS(Array) T data[N];
  __device__ __host__ Array() = default; __device__ __host__ Array(T x) { for (int i = 0; i < N; i++) data[i] = x; }
  static constexpr __device__ __host__ int size() { return N; }
  __device__ __host__ T &operator[](int i) { return data[i]; } __device__ __host__ T operator[](int i) const { return data[i]; }
};
}
template <class T, bool = true> using acc_type = typename AccumulateType_<T>::type;
template <class T, bool = true> struct AccumulateType { typedef acc_type<T> type; };
template <class T> using opmath_type = acc_type<T>;
template <class T> struct OpMathType { typedef acc_type<T> type; };
template <class T, int N> struct alignas(sizeof(T) * N) __w_vector { T val[N]; };
/* While a graph is captured, the seed and the offset are in memory. */
struct PhiloxCudaState {
  unsigned long long seed_, offset_; const long long *__w_seed, *__w_offset; unsigned offset_intragraph_; bool captured_;
};
template <class T> struct numeric_limits {
  static __host__ __device__ constexpr T lowest() { return std::numeric_limits<T>::lowest(); }
  static __host__ __device__ constexpr T max() { return std::numeric_limits<T>::max(); }
  static __host__ __device__ constexpr T lower_bound() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  }
  static __host__ __device__ constexpr T upper_bound() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
};
#define S(T, MOST) template <> struct numeric_limits<T> { \
  static __device__ T lowest() { return T(-MOST); } static __device__ T max() { return T(MOST); } \
  static __device__ T lower_bound() { return T(-__builtin_inff()); } \
  static __device__ T upper_bound() { return T(__builtin_inff()); } };
S(Half, 65504.f) S(BFloat16, 3.38953139e38f)
#undef S
template <class T> __device__ inline void gpuAtomicAdd(T *p, T v) { atomicAdd(p, v); }
template <class T> __device__ inline void gpuAtomicAddNoReturn(T *p, T v) { atomicAdd(p, v); }
namespace native {
template <class T, int N> using aligned_vector = __w_vector<T, N>;
template <class T> __device__ inline void fastAtomicAdd(T *p, size_t i, size_t, T v, bool) { atomicAdd(p + i, v); }
}
namespace cuda {
using c10::cuda::CUDAGuard; using c10::cuda::CUDAStream; using c10::cuda::OptionalCUDAGuard;
using c10::cuda::getCurrentCUDAStream; using c10::cuda::getDefaultCUDAStream; using c10::cuda::getStreamFromPool;
const cudaDeviceProp *getCurrentDeviceProperties(); const cudaDeviceProp *getDeviceProperties(int);
template <class... A> void *getCurrentCUDABlasHandle(A &&...);
template <class T> inline __host__ __device__ T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }
namespace philox {
inline __device__ std::tuple<unsigned long long, unsigned long long> unpack(PhiloxCudaState s) {
  unsigned long long seed = s.seed_, offset = s.offset_;
  if (s.captured_) { seed = *s.__w_seed; offset = *s.__w_offset + s.offset_intragraph_; }
  return std::make_tuple(seed, offset);
}
}
namespace detail {
template <class T, class I> struct TensorInfo { T *data; I sizes[25], strides[25]; int dims; };
/* Where the element with a number is, by the sizes of all dimensions but the first one; of -1 dimensions as many as the
   tensor has. */
template <class T, class I, int D> struct IndexToOffset {
  static __host__ __device__ I get(I id, const TensorInfo<T, I> &t) {
    I offset = 0;
    for (int i = (D < 0 ? t.dims : D) - 1; i > 0; --i) {
      offset += id % t.sizes[i] * t.strides[i];
      id /= t.sizes[i];
    }
    return offset + id * t.strides[0];
  }
};
template <class T, class I> TensorInfo<T, I> getTensorInfo(const Tensor &);
bool canUse32BitIndexMath(const Tensor &, long long = 0);
}
}
namespace cuda_utils {
constexpr int kCUDABlockReduceNumThreads = 512, kCUDABlockReduceMaxThreads = 1024;
template <class T> __inline__ __device__ T WarpReduceSum(T v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  return v;
}
template <class T> __inline__ __device__ T WarpReduceMax(T v) {
  for (int d = 16; d > 0; d >>= 1) v = ::max(v, __shfl_down_sync(0xffffffff, v, d));
  return v;
}
template <class T> __inline__ __device__ T BlockReduceSum(T v, T *shared) {
  v = WarpReduceSum(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x % 32] : T(0);
  if (threadIdx.x / 32 == 0) v = WarpReduceSum(v);
  return v;
}
template <class T> __inline__ __device__ T BlockReduceMax(T v, T *shared) {
  v = WarpReduceMax(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x % 32] : T(0);
  if (threadIdx.x / 32 == 0) v = WarpReduceMax(v);
  return v;
}
template <class T, class F> __inline__ __device__ T WarpReduce(T v, const F &op) {
  for (int d = 16; d > 0; d >>= 1) v = op.combine(v, op.warp_shfl_down(v, d));
  return v;
}
struct Block1D {
  static __forceinline__ __device__ int Tid() { return threadIdx.x; }
  static __forceinline__ __device__ int Warps() { return blockDim.x / 32; }
};
struct Block2D {
  static __forceinline__ __device__ int Tid() { return threadIdx.x + threadIdx.y * blockDim.x; }
  static __forceinline__ __device__ int Warps() { return blockDim.x * blockDim.y / 32; }
};
template <class T, class F, class B = Block1D>
__inline__ __device__ T BlockReduce(T v, const F &op, const T &none, T *shared) {
  const int thread = B::Tid();
  v = WarpReduce(v, op);
  __syncthreads();
  if (thread % 32 == 0) shared[thread / 32] = v;
  __syncthreads();
  v = thread < B::Warps() ? shared[thread % 32] : none;
  if (thread / 32 == 0) v = WarpReduce(v, op);
  return v;
}
}
namespace native {
namespace memory {
template <class T, int N> struct alignas(sizeof(T) * N) aligned_vector { T val[N]; };
template <int N, class T> __device__ aligned_vector<T, N> load_vector(const T *p, unsigned i) {
  return reinterpret_cast<const aligned_vector<T, N> *>(p)[i];
}
}
}
template <class T> __host__ __device__ inline bool _isnan(T v) { return v != v; }
template <class T> __host__ __device__ inline bool _isinf(T v) { return isinf(v); }
template <class T> inline __host__ __device__ T ceil_div(T a, T b) { return (a + b - 1) / b; }
}
template <class T> __device__ inline void gpuAtomicAdd(T *p, T v) { atomicAdd(p, v); }
template <class T> __device__ inline void gpuAtomicAddNoReturn(T *p, T v) { atomicAdd(p, v); }
/* Numbers of two bytes turn into float and nothing else, so functions on numbers take them for that; those of std give
   the type that they take. */
#define S(NAME) __w_H float NAME(c10::Half); __w_H float NAME(c10::BFloat16); \
  namespace std { __w_H c10::Half NAME(c10::Half); __w_H c10::BFloat16 NAME(c10::BFloat16); }
S(exp) S(exp2) S(expm1) S(log) S(log2) S(log10) S(log1p) S(sqrt) S(rsqrt) S(sin) S(cos) S(tan) S(asin) S(acos) S(atan)
S(sinh) S(cosh) S(tanh) S(asinh) S(acosh) S(atanh) S(erf) S(erfc) S(lgamma) S(floor) S(ceil) S(round) S(rint)
S(nearbyint) S(trunc) S(abs) S(fabs)
#undef S
#define S(NAME) __w_H float NAME(c10::Half, c10::Half); __w_H float NAME(c10::BFloat16, c10::BFloat16);
S(pow) S(fmod) S(atan2) S(hypot) S(fmin) S(fmax) S(copysign) S(min) S(max)
#undef S
namespace std { template <size_t> at::Tensor get(const at::Tensor &); }
#define S(NAME, SHUFFLE, T2, BY) template <class T> __device__ __forceinline__ T NAME(T v, T2 BY, int n = 32, \
  unsigned mask = 0xffffffff) { return SHUFFLE(mask, v, BY, n); }
S(WARP_SHFL, __shfl_sync, int, lane) S(WARP_SHFL_XOR, __shfl_xor_sync, int, lanes)
S(WARP_SHFL_UP, __shfl_up_sync, unsigned, lanes) S(WARP_SHFL_DOWN, __shfl_down_sync, unsigned, lanes)
#undef S
__device__ __forceinline__ unsigned WARP_BALLOT(int p, unsigned mask = 0xffffffff) { return __ballot_sync(mask, p); }
__device__ __forceinline__ unsigned ACTIVE_MASK() { return __activemask(); }
__device__ __forceinline__ void WARP_SYNC(unsigned mask = 0xffffffff) { __syncwarp(mask); }
namespace c10 {
namespace cuda {
namespace compat {
#define S(NAME) __device__ __forceinline__ float NAME(float x) { return ::NAME##f(x); } \
  __device__ __forceinline__ double NAME(double x) { return ::NAME(x); }
S(exp) S(log) S(log1p) S(tanh) S(sqrt) S(rsqrt) S(ceil) S(floor) S(round) S(sin) S(cos) S(tan) S(erf) S(normcdf)
#undef S
__device__ __forceinline__ float abs(float x) { return ::fabsf(x); }
__device__ __forceinline__ double abs(double x) { return ::fabs(x); }
#define S(NAME, OF) __device__ __forceinline__ float NAME(float x, float y) { return ::OF##f(x, y); } \
  __device__ __forceinline__ double NAME(double x, double y) { return ::OF(x, y); }
S(pow, pow) S(max, fmax) S(min, fmin) S(copysign, copysign)
#undef S
}
}
}
#define C10_WARP_SIZE 32
namespace torch {
using namespace at;
using at::Tensor;
typedef c10::ScalarType Dtype;
using c10::IntArrayRef; using at::PackedTensorAccessor32; using at::PackedTensorAccessor64; using at::RestrictPtrTraits;
using at::DefaultPtrTraits; using at::TensorAccessor;
namespace headeronly { using c10::ScalarType; }
struct NoGradGuard {};
}
}
#pragma pop_macro("ANY")
#pragma pop_macro("S")
#pragma pop_macro("F")
#pragma pop_macro("M")

#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_LAUNCH_BOUNDS_0
#define C10_LAUNCH_BOUNDS_1(T) __launch_bounds__(T)
#define C10_LAUNCH_BOUNDS_2(T, B) __launch_bounds__(T)
#define C10_LAUNCH_BOUNDS(T, ...) __launch_bounds__(T)
#define C10_RESTRICT __restrict__
#define C10_HIP_HOST_DEVICE
#define C10_ALWAYS_INLINE __forceinline__
#define C10_ALWAYS_INLINE_ATTRIBUTE
#define C10_NOINLINE __noinline__
#define C10_UNUSED [[maybe_unused]]
#define C10_USED
#define C10_NODISCARD [[nodiscard]]
#define C10_FALLTHROUGH [[fallthrough]]
#define C10_API
#define C10_CUDA_API
#define C10_EXPORT
#define C10_HIDDEN
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(W)
#define C10_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_PUSH()
#define C10_CLANG_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_IGNORE(W)
#define __ubsan_ignore_float_divide_by_zero__
#define __ubsan_ignore_undefined__
#define __ubsan_ignore_signed_int_overflow__
#define __ubsan_ignore_pointer_overflow__
#define __ubsan_ignore_function__
#define GPU_LAMBDA __device__ __host__
#define C10_UNLIKELY(E) (E)
#define C10_LIKELY(E) (E)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() (void)0
#define C10_CUDA_CHECK(E) (void)(E)
#define AT_CUDA_CHECK(E) (void)(E)
#define CUDA_KERNEL_ASSERT(E) assert(E)
#define CUDA_KERNEL_ASSERT_MSG(E, M) assert(E)
#define CUDA_KERNEL_ASSERT_PRINTF(E, ...) assert(E)
#define TORCH_CHECK(E, ...) (void)(E)
#define TORCH_CHECK_EQ(A, B) (void)((A) == (B))
#define TORCH_INTERNAL_ASSERT(E, ...) (void)(E)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(E, ...) (void)(E)
#define TORCH_WARN(...) (void)0
#define TORCH_CHECK_NOT_IMPLEMENTED(E, ...) (void)(E)
#define AT_ASSERT(E, ...) (void)(E)
#define AT_ASSERTM(E, ...) (void)(E)
#define AT_ERROR(...) (void)0
#define TORCH_API
#define TORCH_CUDA_CPP_API
#define TORCH_CUDA_CU_API
#define REGISTER_DISPATCH(NAME, F)
#define REGISTER_CUDA_DISPATCH(NAME, F)
#define TORCH_EXTENSION_NAME __w_extension
#define PYBIND11_MODULE(NAME, M) template <class __w_module> void __w_of_module(__w_module &M)
#define TORCH_LIBRARY(NAME, M) template <class __w_module> void __w_of_library(__w_module &M)
#define TORCH_LIBRARY_FRAGMENT(NAME, M) template <class __w_module> void __w_of_fragment(__w_module &M)
#define TORCH_LIBRARY_IMPL(NAME, KEY, M) template <class __w_module> void __w_of_##NAME##_##KEY(__w_module &M)

#define CUDA_KERNEL_LOOP_TYPE(I, N, T) \
  long long _i_n_d_e_x = (long long)blockIdx.x * blockDim.x + threadIdx.x; \
  for (T I = _i_n_d_e_x; _i_n_d_e_x < (N); _i_n_d_e_x += blockDim.x * gridDim.x, I = _i_n_d_e_x)
#define CUDA_KERNEL_LOOP(I, N) CUDA_KERNEL_LOOP_TYPE(I, N, int)

/* A dispatch is a function that has a case for each type; which one runs, its tensors say. */
#define AT_PRIVATE_CASE_TYPE_USING_HINT(E, NAME, ...) \
  case E: { using NAME [[maybe_unused]] = typename c10::__w_scalar<E>::type; return __VA_ARGS__(); }
#define AT_PRIVATE_CASE_TYPE(NAME, E, T, ...) case E: { using scalar_t [[maybe_unused]] = T; return __VA_ARGS__(); }
#define AT_DISPATCH_CASE(E, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(E, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) [&] { switch ((at::ScalarType)(TYPE)) { __VA_ARGS__ default: __builtin_trap(); } }()
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) \
  AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) \
  AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(E, T, N, ...) AT_DISPATCH_SWITCH(T, N, \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(E, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(E, F, T, N, ...) AT_DISPATCH_SWITCH(T, N, \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(E, __VA_ARGS__) AT_DISPATCH_CASE(F, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(T, N, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(at::ScalarType::Half, T, N, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, \
  AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(E, T, N, ...) AT_DISPATCH_SWITCH(T, N, \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(E, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(E, F, T, N, ...) AT_DISPATCH_SWITCH(T, N, \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(E, __VA_ARGS__) AT_DISPATCH_CASE(F, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(E, F, G, T, N, ...) AT_DISPATCH_SWITCH(T, N, \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(E, __VA_ARGS__) AT_DISPATCH_CASE(F, __VA_ARGS__) \
  AT_DISPATCH_CASE(G, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(E, T, N, ...) AT_DISPATCH_SWITCH(T, N, \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(E, __VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, \
  AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Int, index_t, __VA_ARGS__) \
  AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Long, index_t, __VA_ARGS__))
