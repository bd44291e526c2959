/* Functions as objects, those of the language and Thrust's own. */
#pragma once
#include "../cuda/functional"
extern "C++" {
namespace thrust {
using ::__w_thrust::plus; using ::__w_thrust::minus; using ::__w_thrust::multiplies; using ::__w_thrust::divides; using ::__w_thrust::modulus;
using ::__w_thrust::negate; using ::__w_thrust::equal_to; using ::__w_thrust::not_equal_to; using ::__w_thrust::less; using ::__w_thrust::less_equal;
using ::__w_thrust::greater; using ::__w_thrust::greater_equal; using ::__w_thrust::logical_and; using ::__w_thrust::logical_or;
using ::__w_thrust::logical_not; using ::__w_thrust::bit_and; using ::__w_thrust::bit_or; using ::__w_thrust::bit_xor;
using ::cuda::maximum; using ::cuda::minimum;
template <class T = void> struct identity {
  __host__ __device__ constexpr const T &operator()(const T &x) const { return x; }
};
template <> struct identity<void> : ::_newer::identity {};
template <class T = void> struct square {
  __host__ __device__ constexpr T operator()(::__w_thrust::conditional_t<__is_class(T), const T &, T> x) const { return x * x; }
};
template <> struct square<void> {
  template <class T> __host__ __device__ constexpr T operator()(const T &x) const { return square<T>()(x); }
};
}
}
