/* What device code uses of the standard library, and names for what host code uses of it: these have no definition,
   so nothing is known of their size. `cuda::std` has the same. */
#pragma once
#pragma push_macro("HD")
#pragma push_macro("CHOSEN")
#pragma push_macro("LAID")
#pragma push_macro("PARTS")
#pragma push_macro("LATER")
#pragma push_macro("TRAIT")
#pragma push_macro("VALUE")
#pragma push_macro("LIMITS")
#pragma push_macro("REAL")
#pragma push_macro("BINARY")
#pragma push_macro("UNARY")
#pragma push_macro("GET")
#pragma push_macro("ORDER")
#pragma push_macro("MADE")
#pragma push_macro("TOLD")
#pragma push_macro("SPAN")
#pragma push_macro("WRITTEN")
#pragma push_macro("NUMBER")
#define HD __host__ __device__ __w_NOTHROW
/* In C++11 a method that is `constexpr` is `const`. */
#if __cplusplus >= 201402L
#define LATER constexpr
#else
#define LATER
#endif

extern "C++" {
namespace std {
typedef ::size_t size_t; typedef ::ptrdiff_t ptrdiff_t; typedef decltype(nullptr) nullptr_t;
typedef ::int8_t int8_t; typedef ::uint8_t uint8_t; typedef ::int16_t int16_t; typedef ::uint16_t uint16_t;
typedef ::int32_t int32_t; typedef ::uint32_t uint32_t; typedef ::int64_t int64_t; typedef ::uint64_t uint64_t;
typedef ::uintptr_t uintptr_t; typedef ::intptr_t intptr_t; typedef long intmax_t; typedef unsigned long uintmax_t;
template <class _Tp> class initializer_list {
  const _Tp *first; size_t count;
public:
  HD constexpr initializer_list() noexcept : first(nullptr), count(0) {}
  HD constexpr size_t size() const { return count; } HD constexpr const _Tp *begin() const { return first; }
  HD constexpr const _Tp *end() const { return first + count; }
};
template <class...> class atomic; template <class...> class complex;
template <size_t size, size_t align = 16> struct aligned_storage { struct type { alignas(align) char data[size]; }; };
using ::copysign;
struct input_iterator_tag {}; struct output_iterator_tag {};
struct forward_iterator_tag : input_iterator_tag {}; struct bidirectional_iterator_tag : forward_iterator_tag {};
struct random_access_iterator_tag : bidirectional_iterator_tag {};
#include "warpbound_library.h"
class ostream; class istream; class iostream; class ofstream; class ifstream; class fstream; class stringstream;
class ostringstream; class istringstream; class exception; class runtime_error; class logic_error; class bad_alloc;
class invalid_argument; class out_of_range; class thread; class mutex; class condition_variable; class any;
class mt19937; class mt19937_64; class minstd_rand; class random_device; class default_random_engine;
class type_info; class error_code;
}
/* What `cuda::std` has in every language, and `std` from C++20 on: older sources have names of their own like these. */
namespace _newer {
using namespace std;
#include "warpbound_newer.h"
}
#if __cplusplus > 201703L
namespace std { using namespace _newer; }
#endif
namespace cuda { namespace std {
using ::std::size_t; using ::std::ptrdiff_t; using ::std::nullptr_t; using ::std::int8_t;
using ::std::uint8_t; using ::std::int16_t; using ::std::uint16_t; using ::std::int32_t;
using ::std::uint32_t; using ::std::int64_t; using ::std::uint64_t; using ::std::uintptr_t;
using ::std::intptr_t; using ::std::intmax_t; using ::std::uintmax_t; using ::std::initializer_list;
#ifdef __w_together /* in some versions */
struct input_iterator_tag {}; struct output_iterator_tag {};
struct forward_iterator_tag : input_iterator_tag {}; struct bidirectional_iterator_tag : forward_iterator_tag {};
struct random_access_iterator_tag : bidirectional_iterator_tag {};
#else
using ::std::input_iterator_tag; using ::std::output_iterator_tag; using ::std::forward_iterator_tag;
using ::std::bidirectional_iterator_tag; using ::std::random_access_iterator_tag;
#endif
#include "warpbound_library.h"
#include "warpbound_newer.h"
HD inline float copysign(float x, float y) { return ::copysignf(x, y); }
HD inline double copysign(double x, double y) { return ::copysign(x, y); }
template <class _Tp, class _Up> HD auto copysign(_Tp x, _Up y) -> conditional_t<
  (is_integral_v<_Tp> && __is_same(_Up, float)) || (__is_same(_Tp, float) && is_integral_v<_Up>),
  float, decltype(::copysign(x, y))> { return ::copysign(x, y); }
constexpr size_t _aligned(size_t size, size_t most = 16) { return most > size ? _aligned(size, most / 2) : most; }
template <size_t size, size_t align = _aligned(size)> struct aligned_storage : ::std::aligned_storage<size, align> {};
} }
/* What Thrust has: of `cuda::std` in some versions, in others of its own. */
namespace __w_thrust {
#ifdef __w_together
using ::std::size_t; using ::std::ptrdiff_t;
#include "warpbound_library.h"
#else
using namespace ::cuda::std;
#endif
}
/* By these structured bindings know how many parts there are. */
#define PARTS(N) \
template <class _Tp, size_t n> struct tuple_size<N::array<_Tp, n>> : N::tuple_size<N::array<_Tp, n>> {}; \
template <class... _Tp> struct tuple_size<N::tuple<_Tp...>> : N::tuple_size<N::tuple<_Tp...>> {}; \
template <class _Tp, class _Up> struct tuple_size<N::pair<_Tp, _Up>> : N::tuple_size<N::pair<_Tp, _Up>> {}; \
template <size_t i, class _Tp, size_t n> struct tuple_element<i, N::array<_Tp, n>> { typedef _Tp type; }; \
template <size_t i, class... _Tp> struct tuple_element<i, N::tuple<_Tp...>> : N::tuple_element<i, N::tuple<_Tp...>> {}; \
template <size_t i, class _Tp, class _Up> struct tuple_element<i, N::pair<_Tp, _Up>> : N::tuple_element<i, N::pair<_Tp, _Up>> {};
namespace std {
PARTS(::cuda::std)
#ifdef __w_together
PARTS(::__w_thrust)
#endif
}
}
#pragma pop_macro("HD")
#pragma pop_macro("CHOSEN")
#pragma pop_macro("LAID")
#pragma pop_macro("PARTS")
#pragma pop_macro("LATER")
#pragma pop_macro("TRAIT")
#pragma pop_macro("VALUE")
#pragma pop_macro("LIMITS")
#pragma pop_macro("REAL")
#pragma pop_macro("BINARY")
#pragma pop_macro("UNARY")
#pragma pop_macro("GET")
#pragma pop_macro("ORDER")
#pragma pop_macro("MADE")
#pragma pop_macro("TOLD")
#pragma pop_macro("SPAN")
#pragma pop_macro("WRITTEN")
#pragma pop_macro("NUMBER")
