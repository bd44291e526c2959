/* What `cuda::std` has in every language, and `std` from C++20 on, in the namespace that includes them. */
/* A pointer and how many elements it leads to. */
constexpr size_t dynamic_extent = (size_t)-1;
#define SPAN(EXTENT) __w_LIBRARY \
  typedef _Tp element_type; typedef __remove_cv(_Tp) value_type; typedef size_t size_type; typedef _Tp *iterator; \
  typedef _Tp *pointer; typedef const _Tp *const_pointer; typedef _Tp &reference; typedef const _Tp &const_reference; \
  typedef ptrdiff_t difference_type; static constexpr size_t extent = EXTENT; \
  _Tp *at; \
  HD constexpr _Tp &operator[](size_t i) const { return at[i]; } \
  HD constexpr _Tp *data() const { return at; } HD constexpr size_t size() const { return count; } \
  HD constexpr size_t size_bytes() const { return count * sizeof(_Tp); } HD constexpr bool empty() const { return count == 0; } \
  HD constexpr _Tp *begin() const { return at; } HD constexpr _Tp *end() const { return at + count; } \
  HD constexpr _Tp &front() const { return at[0]; } HD constexpr _Tp &back() const { return at[count - 1]; } \
  _Tp *rbegin() const; _Tp *rend() const; \
  HD constexpr span<_Tp> first(size_t m) const { return span<_Tp>(at, m); } \
  HD constexpr span<_Tp> last(size_t m) const { return span<_Tp>(at + (count - m), m); } \
  HD constexpr span<_Tp> subspan(size_t i) const { return span<_Tp>(at + i, count - i); } \
  HD constexpr span<_Tp> subspan(size_t i, size_t m) const { return span<_Tp>(at + i, m); }
template <class _Tp, size_t n = dynamic_extent> struct span {
  static constexpr size_t count = n;
  SPAN(n)
  HD constexpr span(_Tp *p, size_t) : at(p) {}
  HD constexpr span(_Tp (&x)[n]) : at(x) {}
  template <class _Up> HD constexpr span(array<_Up, n> &x) : at(x.data()) {}
  template <class _Up, size_t m> HD constexpr span(const span<_Up, m> &x) : at(x.at) {}
};
template <class _Tp> struct span<_Tp, dynamic_extent> {
  SPAN(dynamic_extent)
  size_t count;
  HD constexpr span() noexcept : at(nullptr), count(0) {}
  HD constexpr span(_Tp *p, size_t m) : at(p), count(m) {}
  template <size_t m> HD constexpr span(_Tp (&x)[m]) : at(x), count(m) {}
  template <class _Up, size_t m> HD constexpr span(array<_Up, m> &x) : at(x.data()), count(m) {}
  template <class _Up, size_t m> HD constexpr span(const span<_Up, m> &x) : at(x.at), count(x.count) {}
};
#undef SPAN
template <class _Tp, size_t n> HD constexpr size_t size(const _Tp (&)[n]) { return n; }
template <class _Tp> HD constexpr auto size(const _Tp &x) -> decltype(x.size()) { return x.size(); }
template <class _Tp, size_t n> HD constexpr ptrdiff_t ssize(const _Tp (&)[n]) { return n; }
template <class _Tp, size_t n> HD constexpr _Tp *begin(_Tp (&x)[n]) { return x; }
template <class _Tp, size_t n> HD constexpr _Tp *end(_Tp (&x)[n]) { return x + n; }
template <class _Tp> HD constexpr auto begin(_Tp &x) -> decltype(x.begin()) { return x.begin(); }
template <class _Tp> HD constexpr auto end(_Tp &x) -> decltype(x.end()) { return x.end(); }
template <class _Tp, size_t n> HD constexpr _Tp *data(_Tp (&x)[n]) { return x; }
template <class _Tp> HD constexpr auto data(_Tp &x) -> decltype(x.data()) { return x.data(); }

#include "warpbound_bits.h"
struct identity { template <class _Tp> HD constexpr _Tp &&operator()(_Tp &&x) const { return static_cast<_Tp &&>(x); } };
template <class _Fn, class... _Tp>
HD constexpr auto invoke(_Fn &&f, _Tp &&... x) -> decltype(f(static_cast<_Tp &&>(x)...)) { return f(static_cast<_Tp &&>(x)...); }
namespace numbers {
#define VALUE(N, X) template <class _Tp> constexpr _Tp N##_v = X; constexpr double N = X;
VALUE(pi, 3.14159265358979323846) VALUE(e, 2.71828182845904523536) VALUE(sqrt2, 1.41421356237309504880)
VALUE(ln2, 0.69314718055994530942) VALUE(log2e, 1.44269504088896340736) VALUE(inv_pi, 0.31830988618379067154)
VALUE(ln10, 2.30258509299404568402) VALUE(log10e, 0.43429448190325182765)
#undef VALUE
}
