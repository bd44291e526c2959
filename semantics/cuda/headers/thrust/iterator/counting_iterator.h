/* A number that is read as if an array held it. */
#pragma once
extern "C++" {
namespace thrust {
template <class T> struct counting_iterator {
  typedef T value_type;
  T at;
  __host__ __device__ constexpr counting_iterator(T x = T()) : at(x) {}
  __host__ __device__ constexpr T operator*() const { return at; }
  __host__ __device__ constexpr T operator[](ptrdiff_t i) const { return at + T(i); }
  __host__ __device__ constexpr counting_iterator operator+(ptrdiff_t i) const { return counting_iterator(at + T(i)); }
};
template <class T> __host__ __device__ constexpr counting_iterator<T> make_counting_iterator(T x) {
  return counting_iterator<T>(x);
}
}
}
