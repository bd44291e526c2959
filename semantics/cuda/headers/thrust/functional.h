/* Functions as objects, those of the language and Thrust's own. */
#pragma once
extern "C++" {
namespace thrust {
using ::std::plus; using ::std::minus; using ::std::multiplies; using ::std::divides; using ::std::modulus;
using ::std::negate; using ::std::equal_to; using ::std::not_equal_to; using ::std::less; using ::std::less_equal;
using ::std::greater; using ::std::greater_equal; using ::std::logical_and; using ::std::logical_or;
using ::std::logical_not; using ::std::bit_and; using ::std::bit_or; using ::std::bit_xor;
template <class T = void> struct maximum {
  template <class U> __host__ __device__ constexpr U operator()(U a, U b) const { return a < b ? b : a; }
};
template <class T = void> struct minimum {
  template <class U> __host__ __device__ constexpr U operator()(U a, U b) const { return b < a ? b : a; }
};
template <class T = void> struct identity {
  template <class U> __host__ __device__ constexpr U operator()(U x) const { return x; }
};
template <class T = void> struct square {
  template <class U> __host__ __device__ constexpr U operator()(U x) const { return x * x; }
};
}
}
