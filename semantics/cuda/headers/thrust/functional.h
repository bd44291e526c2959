/* Functions as objects, those of the language and Thrust's own. */
#pragma once
#include "../cuda/functional"
extern "C++" {
namespace thrust {
using ::std::plus; using ::std::minus; using ::std::multiplies; using ::std::divides; using ::std::modulus;
using ::std::negate; using ::std::equal_to; using ::std::not_equal_to; using ::std::less; using ::std::less_equal;
using ::std::greater; using ::std::greater_equal; using ::std::logical_and; using ::std::logical_or;
using ::std::logical_not; using ::std::bit_and; using ::std::bit_or; using ::std::bit_xor;
using ::cuda::maximum; using ::cuda::minimum;
template <class T = void> struct identity {
  __host__ __device__ constexpr const T &operator()(const T &x) const { return x; }
};
template <> struct identity<void> : ::_newer::identity {};
template <class T = void> struct square {
  __host__ __device__ constexpr T operator()(::std::conditional_t<__is_class(T), const T &, T> x) const { return x * x; }
};
template <> struct square<void> {
  template <class T> __host__ __device__ constexpr T operator()(const T &x) const { return square<T>()(x); }
};
}
}
