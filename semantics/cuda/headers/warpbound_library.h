/* What device code uses of the standard library, and names of what host code does, in the namespace that includes them. */
enum class byte : unsigned char {};
enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release,
  memory_order_acq_rel, memory_order_seq_cst };

template <class _Cp, class _Tp, class _Dp = ptrdiff_t, class _Pp = _Tp *, class _Rp = _Tp &> struct iterator {
  typedef _Cp iterator_category; typedef _Tp value_type; typedef _Dp difference_type;
  typedef _Pp pointer; typedef _Rp reference;
};

/* Types of types. */
template <class _Tp, _Tp v> struct integral_constant { __w_LIBRARY
  static constexpr _Tp value = v;
  typedef _Tp value_type; typedef integral_constant type;
  HD constexpr operator _Tp() const { return v; }
  HD constexpr _Tp operator()() const { return v; }
};
template <bool v> using bool_constant = integral_constant<bool, v>;
typedef bool_constant<true> true_type; typedef bool_constant<false> false_type;
template <bool, class _Tp, class _Up> struct conditional { typedef _Tp type; };
template <class _Tp, class _Up> struct conditional<false, _Tp, _Up> { typedef _Up type; };
template <bool c, class _Tp, class _Up> using conditional_t = typename conditional<c, _Tp, _Up>::type;
template <bool, class _Tp = void> struct enable_if {};
template <class _Tp> struct enable_if<true, _Tp> { typedef _Tp type; };
template <bool c, class _Tp = void> using enable_if_t = typename enable_if<c, _Tp>::type;
template <class...> using void_t = void;
template <class _Tp> struct type_identity { typedef _Tp type; };
template <class _Tp> using type_identity_t = typename type_identity<_Tp>::type;
/* Halves are numbers here, and classes in the library. What depends on how a class is written has two answers where it
   is one of ours, or has one; and so has what a library says of __int128, by the dialect that it is compiled in. Whether
   what a class does may throw is not known, nor what our classes are made from, and halves; nor is what nobody asks. */
template <class _Tp> constexpr bool _half = __is_same(__remove_cv(_Tp), __fp16) || __is_same(__remove_cv(_Tp), __bf16);
#define _LEFT(_Tp) __add_lvalue_reference(_Tp)
#define _RIGHT(_Tp) __add_lvalue_reference(const _Tp)
#define _MOVED(_Tp) __add_rvalue_reference(_Tp)
#define _PLAIN(_Tp) __remove_all_extents(__remove_reference_t(_Tp))
template <class _Tp, class _Up> constexpr bool _other = !__is_same(__remove_cvref(_Tp), __remove_cvref(_Up));
template <class... _Tp> constexpr bool _classes =
  ((__is_class(_PLAIN(_Tp)) || __is_union(_PLAIN(_Tp)) || _half<_PLAIN(_Tp)>) || ...);
template <class _Tp, class... _Up> constexpr bool _apart = ((_other<_Tp, _Up> && _classes<_Tp, _Up>) || ...);
template <class _Tp, class = void> constexpr bool _theirs = false;
template <class _Tp> constexpr bool _theirs<_Tp, void_t<typename _Tp::__w_library>> = true;
template <class _Tp, class _Up> constexpr bool _odd = _theirs<_PLAIN(_Tp)> || (_half<_PLAIN(_Tp)> &&
  (__is_class(_PLAIN(_Up)) || _half<_PLAIN(_Up)> || __is_same(__remove_cvref(_Up), long)));
template <class _Tp, class... _Up> constexpr bool _mixed =
  ((_other<_Tp, _Up> && (_odd<_Tp, _Up> || _odd<_Up, _Tp>)) || ...);
#ifdef __w_together
template <class _Tp> constexpr bool _ours = (__is_trivially_destructible(_Tp) && !__is_nothrow_destructible(_Tp)) ||
  (__is_trivially_assignable(_LEFT(_Tp), _RIGHT(_Tp)) && !__is_nothrow_assignable(_LEFT(_Tp), _RIGHT(_Tp)));
#define _UNLESS(UNKNOWN, X) (!UNKNOWN && ((X) != _ours<_Tp>))
template <class _Tp> constexpr bool _wide =
  __is_same(__remove_cv(_Tp), __int128) || __is_same(__remove_cv(_Tp), unsigned __int128);
#else
#define _UNLESS(UNKNOWN, X) (UNKNOWN || (X))
template <class> constexpr bool _wide = false;
#endif
#define TOLD(X, ...) _UNLESS((_mixed<__VA_ARGS__>), X)
#define _APART(X, ...) _UNLESS((_apart<__VA_ARGS__>), X)
#define _UNLIKE(X, ...) _UNLESS((_classes<__VA_ARGS__>), X)
#define NUMBER(...) ((__VA_ARGS__) && !_half<_Tp> && !_wide<_Tp>)
#define VALUE(N, ...) template <class _Tp> struct N : bool_constant<__VA_ARGS__> {}; \
  template <class _Tp> constexpr bool N##_v = __VA_ARGS__;
#define WRITTEN(N, X) VALUE(N, TOLD(X, _Tp))
VALUE(is_integral, NUMBER(__is_integral(_Tp))) VALUE(is_floating_point, NUMBER(__is_floating_point(_Tp)))
VALUE(is_arithmetic, NUMBER(__is_arithmetic(_Tp))) VALUE(is_signed, NUMBER(__is_signed(_Tp)))
VALUE(is_unsigned, NUMBER(__is_unsigned(_Tp)))
VALUE(is_void, __is_void(_Tp)) VALUE(is_pointer, __is_pointer(_Tp)) VALUE(is_array, __is_array(_Tp))
VALUE(is_reference, __is_reference(_Tp)) VALUE(is_const, __is_const(_Tp)) VALUE(is_volatile, __is_volatile(_Tp))
VALUE(is_lvalue_reference, __is_lvalue_reference(_Tp)) VALUE(is_rvalue_reference, __is_rvalue_reference(_Tp))
VALUE(is_class, __is_class(_Tp) || _half<_Tp>) VALUE(is_union, __is_union(_Tp)) VALUE(is_enum, __is_enum(_Tp))
VALUE(is_function, __is_function(_Tp)) VALUE(is_object, __is_object(_Tp))
VALUE(is_scalar, NUMBER(__is_scalar(_Tp))) VALUE(is_fundamental, NUMBER(__is_fundamental(_Tp)))
VALUE(is_compound, !NUMBER(!__is_compound(_Tp))) WRITTEN(is_pod, __is_pod(_Tp))
WRITTEN(is_trivial, __is_trivial(_Tp)) WRITTEN(is_trivially_copyable, __is_trivially_copyable(_Tp))
WRITTEN(is_standard_layout, __is_standard_layout(_Tp)) WRITTEN(is_empty, __is_empty(_Tp))
WRITTEN(is_polymorphic, __is_polymorphic(_Tp)) WRITTEN(is_abstract, __is_abstract(_Tp)) WRITTEN(is_final, __is_final(_Tp))
WRITTEN(is_aggregate, __is_aggregate(_Tp)) VALUE(is_literal_type, _UNLIKE(__is_literal_type(_Tp), _Tp))
WRITTEN(has_virtual_destructor, __has_virtual_destructor(_Tp))
VALUE(has_unique_object_representations, _half<__remove_all_extents(_Tp)> || _UNLIKE(__has_unique_object_representations(_Tp), _Tp))
WRITTEN(is_destructible, __is_destructible(_Tp)) WRITTEN(is_nothrow_destructible, __is_nothrow_destructible(_Tp))
WRITTEN(is_trivially_destructible, __is_trivially_destructible(_Tp))
VALUE(is_null_pointer, __is_same(__remove_cv(_Tp), decltype(nullptr))) VALUE(is_member_pointer, __is_member_pointer(_Tp))
VALUE(is_member_object_pointer, __is_member_object_pointer(_Tp))
VALUE(is_member_function_pointer, __is_member_function_pointer(_Tp))
VALUE(is_bounded_array, __is_bounded_array(_Tp)) VALUE(is_unbounded_array, __is_unbounded_array(_Tp))
VALUE(is_scoped_enum, __is_scoped_enum(_Tp))
#define MADE(HOW, SAID, MORE) \
  VALUE(is##HOW##default_constructible, SAID(__is##HOW##constructible(_Tp), _Tp)) \
  VALUE(is##HOW##copy_constructible, SAID(__is##HOW##constructible(_Tp, _RIGHT(_Tp)), _Tp)) \
  VALUE(is##HOW##move_constructible, SAID(__is##HOW##constructible(_Tp, _MOVED(_Tp)), _Tp)) \
  VALUE(is##HOW##copy_assignable, SAID(__is##HOW##assignable(_LEFT(_Tp), _RIGHT(_Tp)), _Tp)) \
  VALUE(is##HOW##move_assignable, SAID(__is##HOW##assignable(_LEFT(_Tp), _MOVED(_Tp)), _Tp)) \
  template <class _Tp, class... _Up> \
  struct is##HOW##constructible : bool_constant<MORE(__is##HOW##constructible(_Tp, _Up...), _Tp, _Up...)> {}; \
  template <class _Tp, class... _Up> \
  constexpr bool is##HOW##constructible_v = MORE(__is##HOW##constructible(_Tp, _Up...), _Tp, _Up...); \
  template <class _Tp, class _Up> struct is##HOW##assignable : bool_constant<MORE(__is##HOW##assignable(_Tp, _Up), _Tp, _Up)> {}; \
  template <class _Tp, class _Up> constexpr bool is##HOW##assignable_v = MORE(__is##HOW##assignable(_Tp, _Up), _Tp, _Up);
MADE(_, TOLD, TOLD) MADE(_trivially_, TOLD, _APART) MADE(_nothrow_, _UNLIKE, _UNLIKE)
#undef VALUE
#define VALUE(N, ...) template <class _Tp, class _Up> struct N : bool_constant<__VA_ARGS__> {}; \
  template <class _Tp, class _Up> constexpr bool N##_v = __VA_ARGS__;
VALUE(is_same, __is_same(_Tp, _Up)) VALUE(is_base_of, __is_base_of(_Tp, _Up))
VALUE(is_convertible, TOLD(__is_convertible(_Tp, _Up), _Tp, _Up))
#define TRAIT(N, ...) template <class _Tp> struct N { typedef __VA_ARGS__ type; }; \
  template <class _Tp> using N##_t = typename N<_Tp>::type;
TRAIT(remove_const, __remove_const(_Tp)) TRAIT(remove_volatile, __remove_volatile(_Tp))
TRAIT(remove_cv, __remove_cv(_Tp)) TRAIT(remove_reference, __remove_reference_t(_Tp))
TRAIT(remove_cvref, __remove_cvref(_Tp)) TRAIT(remove_pointer, __remove_pointer(_Tp))
TRAIT(remove_extent, __remove_extent(_Tp)) TRAIT(remove_all_extents, __remove_all_extents(_Tp))
TRAIT(add_const, const _Tp) TRAIT(add_volatile, volatile _Tp) TRAIT(add_cv, const volatile _Tp) TRAIT(add_pointer, __add_pointer(_Tp))
TRAIT(add_lvalue_reference, __add_lvalue_reference(_Tp)) TRAIT(add_rvalue_reference, __add_rvalue_reference(_Tp))
TRAIT(decay, __decay(_Tp)) TRAIT(make_signed, __make_signed(_Tp)) TRAIT(make_unsigned, __make_unsigned(_Tp))
TRAIT(underlying_type, __underlying_type(_Tp))
template <class _Tp> struct alignment_of : integral_constant<size_t, alignof(_Tp)> {};
template <class _Tp> struct rank : integral_constant<size_t, 0> {};
template <class _Tp> struct rank<_Tp[]> : integral_constant<size_t, rank<_Tp>::value + 1> {};
template <class _Tp, size_t n> struct rank<_Tp[n]> : integral_constant<size_t, rank<_Tp>::value + 1> {};
template <class _Tp, unsigned n = 0> struct extent : integral_constant<size_t, __array_extent(_Tp, n)> {};
template <class...> struct conjunction : true_type {};
template <class _Tp, class... _Up> struct conjunction<_Tp, _Up...> :
  conditional_t<bool(_Tp::value), conjunction<_Up...>, false_type> {};
template <class...> struct disjunction : false_type {};
template <class _Tp, class... _Up> struct disjunction<_Tp, _Up...> :
  conditional_t<bool(_Tp::value), true_type, disjunction<_Up...>> {};
template <class _Tp> struct negation : bool_constant<!bool(_Tp::value)> {};
template <class... _Tp> constexpr bool conjunction_v = conjunction<_Tp...>::value;
template <class... _Tp> constexpr bool disjunction_v = disjunction<_Tp...>::value;
template <class _Tp> constexpr bool negation_v = !bool(_Tp::value);
template <class _Tp> HD add_rvalue_reference_t<_Tp> declval() noexcept;
template <class _Fn, class... _Tp> struct invoke_result { typedef decltype(declval<_Fn>()(declval<_Tp>()...)) type; };
template <class _Fn, class... _Tp> using invoke_result_t = typename invoke_result<_Fn, _Tp...>::type;
template <class _Rp, class, class _Fn, class... _Tp> struct _calls : false_type {};
template <class _Rp, class _Fn, class... _Tp>
struct _calls<_Rp, void_t<decltype(declval<_Fn>()(declval<_Tp>()...))>, _Fn, _Tp...> :
  bool_constant<__is_void(_Rp) || __is_convertible(decltype(declval<_Fn>()(declval<_Tp>()...)), _Rp)> {};
template <class _Fn> struct _called {
  static_assert(!__is_member_pointer(__remove_cvref(_Fn)), "whether a pointer to a member can be called is not known");
};
template <class _Fn, class... _Tp> struct is_invocable : _called<_Fn>, _calls<void, void, _Fn, _Tp...> {};
template <class _Fn, class... _Tp> constexpr bool is_invocable_v = is_invocable<_Fn, _Tp...>::value;
template <class _Rp, class _Fn, class... _Tp> struct is_invocable_r : _called<_Fn>, _calls<_Rp, void, _Fn, _Tp...> {};
template <class _Rp, class _Fn, class... _Tp> constexpr bool is_invocable_r_v = is_invocable_r<_Rp, _Fn, _Tp...>::value;
template <class> struct result_of;
template <class _Fn, class... _Tp> struct result_of<_Fn(_Tp...)> : invoke_result<_Fn, _Tp...> {};
template <class... _Tp> struct common_type;
template <class _Tp> struct common_type<_Tp> { typedef __decay(_Tp) type; };
template <class _Tp, class _Up> struct common_type<_Tp, _Up> {
  typedef __decay(decltype(false ? declval<_Tp>() : declval<_Up>())) type;
};
template <class _Tp, class _Up, class... _Vp> struct common_type<_Tp, _Up, _Vp...> :
  common_type<typename common_type<_Tp, _Up>::type, _Vp...> {};
template <class... _Tp> using common_type_t = typename common_type<_Tp...>::type;
template <class _Tp, _Tp...> struct integer_sequence {};
template <size_t... i> using index_sequence = integer_sequence<size_t, i...>;
template <class _Tp, _Tp n> using make_integer_sequence = __make_integer_seq<integer_sequence, _Tp, n>;
template <size_t n> using make_index_sequence = make_integer_sequence<size_t, n>;

#if __cplusplus > 201703L
/* Concepts, by traits of classes: whether a `requires` holds may depend on whether the host or a kernel asks first. */
template <class _Tp, class _Up> concept same_as = __is_same(_Tp, _Up) && __is_same(_Up, _Tp);
template <class _Tp, class _Up> concept derived_from =
  __is_base_of(_Up, _Tp) && __is_convertible(const volatile _Tp *, const volatile _Up *);
template <class _Tp, class _Up> concept convertible_to =
  TOLD(__is_convertible(_Tp, _Up) && (__is_void(_Up) || __is_constructible(_Up, _Tp)), _Tp, _Up);
template <class _Tp> concept integral = is_integral_v<_Tp>;
template <class _Tp> concept signed_integral = integral<_Tp> && is_signed_v<_Tp>;
template <class _Tp> concept unsigned_integral = integral<_Tp> && !signed_integral<_Tp>;
template <class _Tp> concept floating_point = is_floating_point_v<_Tp>;
template <class _Tp, class... _Up> concept constructible_from =
  __is_nothrow_destructible(_Tp) && TOLD(__is_constructible(_Tp, _Up...), _Tp, _Up...);
template <class _Tp, class = void> struct _begun : false_type {};
template <class _Tp> struct _begun<_Tp, void_t<decltype(::new _Tp)>> : true_type {};
template <class _Tp> concept default_initializable = constructible_from<_Tp> && (!__is_const(_Tp) || _begun<_Tp>::value);
template <class _Tp> concept move_constructible = constructible_from<_Tp, _Tp> && convertible_to<_Tp, _Tp>;
template <class _Tp, class _Up> concept _copied = constructible_from<_Tp, _Up> && convertible_to<_Up, _Tp>;
template <class _Tp> concept copy_constructible = move_constructible<_Tp> && _copied<_Tp, _Tp &> &&
  _copied<_Tp, const _Tp &> && _copied<_Tp, const _Tp>;
template <class _Fn, class... _Tp> concept invocable = is_invocable<_Fn, _Tp...>::value;
template <class _Fn, class... _Tp> concept regular_invocable = invocable<_Fn, _Tp...>;
template <class _Fn, class... _Tp> concept predicate = is_invocable_r<bool, _Fn, _Tp...>::value;

/* Orders, by the sign of a difference, which is 2 where there is none. A 0 to compare with is one of these. */
struct _zero { HD constexpr _zero(int) {} };
#define ORDER(N) \
  HD friend constexpr bool operator==(N x, N y) { return x._sign == y._sign; } \
  HD friend constexpr bool operator==(N x, _zero) { return x._sign == 0; } \
  HD friend constexpr bool operator<(N x, _zero) { return x._sign < 0; } \
  HD friend constexpr bool operator>(N x, _zero) { return x._sign == 1; } \
  HD friend constexpr bool operator<=(N x, _zero) { return x._sign <= 0; } \
  HD friend constexpr bool operator>=(N x, _zero) { return (x._sign | 1) == 1; } \
  HD friend constexpr N operator<=>(N x, _zero) { return x; } \
  HD friend constexpr N operator<=>(_zero, N x) { return N{x._sign == 2 ? 2 : -x._sign}; }
struct partial_ordering {
  int _sign;
  static const partial_ordering less, equivalent, greater, unordered;
  ORDER(partial_ordering)
};
struct weak_ordering {
  int _sign;
  static const weak_ordering less, equivalent, greater;
  HD constexpr operator partial_ordering() const { return partial_ordering{_sign}; }
  ORDER(weak_ordering)
};
struct strong_ordering {
  int _sign;
  static const strong_ordering less, equal, equivalent, greater;
  HD constexpr operator partial_ordering() const { return partial_ordering{_sign}; }
  HD constexpr operator weak_ordering() const { return weak_ordering{_sign}; }
  ORDER(strong_ordering)
};
inline constexpr partial_ordering partial_ordering::less{-1}, partial_ordering::equivalent{0}, partial_ordering::greater{1},
  partial_ordering::unordered{2};
inline constexpr weak_ordering weak_ordering::less{-1}, weak_ordering::equivalent{0}, weak_ordering::greater{1};
inline constexpr strong_ordering strong_ordering::less{-1}, strong_ordering::equal{0}, strong_ordering::equivalent{0},
  strong_ordering::greater{1};
HD constexpr bool is_eq(partial_ordering x) { return x == 0; } HD constexpr bool is_neq(partial_ordering x) { return x != 0; }
HD constexpr bool is_lt(partial_ordering x) { return x < 0; } HD constexpr bool is_lteq(partial_ordering x) { return x <= 0; }
HD constexpr bool is_gt(partial_ordering x) { return x > 0; } HD constexpr bool is_gteq(partial_ordering x) { return x >= 0; }
#endif
#undef WRITTEN
#undef NUMBER
#undef TOLD
#undef _UNLIKE
#undef _APART
#undef _UNLESS
#undef MADE
#undef _LEFT
#undef _RIGHT
#undef _MOVED
#undef _PLAIN

/* The limits of types. */
template <class _Tp> struct numeric_limits {
  static constexpr bool is_specialized = false, is_integer = false, is_signed = false, is_exact = false;
};
#define LIMITS(T, S, D, LO, HI) template <> struct numeric_limits<T> { \
  static constexpr bool is_specialized = true, is_integer = true, is_signed = S, is_exact = true, is_bounded = true, \
    has_infinity = false, has_quiet_NaN = false, is_iec559 = false; \
  static constexpr int digits = D, digits10 = D * 30103 / 100000, radix = 2; \
  HD static constexpr T min() { return LO; } HD static constexpr T lowest() { return LO; } \
  HD static constexpr T max() { return HI; } HD static constexpr T epsilon() { return 0; } \
  HD static constexpr T denorm_min() { return 0; } HD static constexpr T round_error() { return 0; } \
  HD static constexpr T infinity() { return 0; } HD static constexpr T quiet_NaN() { return 0; } \
  HD static constexpr T signaling_NaN() { return 0; } };
LIMITS(bool, false, 1, false, true) LIMITS(char, true, 7, -128, 127) LIMITS(signed char, true, 7, -128, 127)
LIMITS(unsigned char, false, 8, 0, 255) LIMITS(short, true, 15, SHRT_MIN, SHRT_MAX)
LIMITS(unsigned short, false, 16, 0, USHRT_MAX) LIMITS(int, true, 31, INT_MIN, INT_MAX)
LIMITS(unsigned, false, 32, 0, UINT_MAX) LIMITS(long, true, 63, LONG_MIN, LONG_MAX)
LIMITS(unsigned long, false, 64, 0, ULONG_MAX) LIMITS(long long, true, 63, LLONG_MIN, LLONG_MAX)
LIMITS(unsigned long long, false, 64, 0, ULLONG_MAX) LIMITS(wchar_t, true, 31, INT_MIN, INT_MAX)
LIMITS(char16_t, false, 16, 0, USHRT_MAX) LIMITS(char32_t, false, 32, 0, UINT_MAX)
#define REAL(T, D, D10, M10, EXP, EXP10, LO, HI, EPS, TINY, INF, NONE) template <> struct numeric_limits<T> { \
  static constexpr bool is_specialized = true, is_integer = false, is_signed = true, is_exact = false, \
    is_bounded = true, has_infinity = true, has_quiet_NaN = true, is_iec559 = true; \
  static constexpr int digits = D, digits10 = D10, max_digits10 = M10, radix = 2, max_exponent = EXP, \
    min_exponent = 3 - EXP, max_exponent10 = EXP10, min_exponent10 = 1 - EXP10; \
  HD static constexpr T min() { return LO; } HD static constexpr T lowest() { return -HI; } \
  HD static constexpr T max() { return HI; } HD static constexpr T epsilon() { return EPS; } \
  HD static constexpr T denorm_min() { return TINY; } HD static constexpr T round_error() { return T(0.5); } \
  HD static constexpr T infinity() { return INF; } HD static constexpr T quiet_NaN() { return NONE; } \
  HD static constexpr T signaling_NaN() { return NONE; } };
REAL(float, 24, 6, 9, 128, 38, FLT_MIN, FLT_MAX, FLT_EPSILON, 1.401298464e-45f,
  __builtin_huge_valf(), __builtin_nanf(""))
REAL(double, 53, 15, 17, 1024, 308, DBL_MIN, DBL_MAX, DBL_EPSILON, 4.9406564584124654e-324,
  __builtin_huge_val(), __builtin_nan(""))

template <class _Tp> struct numeric_limits<const _Tp> : numeric_limits<_Tp> {};
template <class _Tp> struct numeric_limits<volatile _Tp> : numeric_limits<_Tp> {};
template <class _Tp> struct numeric_limits<const volatile _Tp> : numeric_limits<_Tp> {};

/* Values. */
template <class _Tp> HD constexpr _Tp &&forward(remove_reference_t<_Tp> &x) noexcept { return static_cast<_Tp &&>(x); }
template <class _Tp> HD constexpr _Tp &&forward(remove_reference_t<_Tp> &&x) noexcept { return static_cast<_Tp &&>(x); }
template <class _Tp> HD constexpr remove_reference_t<_Tp> &&move(_Tp &&x) noexcept {
  return static_cast<remove_reference_t<_Tp> &&>(x);
}
template <class _Tp> HD constexpr const _Tp &as_const(_Tp &x) noexcept { return x; }
template <class _Tp> HD constexpr _Tp *addressof(_Tp &x) noexcept { return &x; }
#define CHOSEN(N, ...) \
  template <class _Tp> HD _Tp N(_Tp, type_identity_t<_Tp>); \
  template <class _Tp, class _Fn> \
  HD constexpr enable_if_t<!__is_class(_Tp), _Tp> N(const _Tp &a, const type_identity_t<_Tp> &b, _Fn less) { \
    return __VA_ARGS__ ? b : a; \
  }
CHOSEN(min, less(b, a)) CHOSEN(max, less(a, b))
#undef CHOSEN
template <class _Tp>
HD constexpr enable_if_t<!__is_class(_Tp), _Tp> clamp(_Tp x, type_identity_t<_Tp> low, type_identity_t<_Tp> high) {
  return x < low ? low : high < x ? high : x;
}
template <class _Tp> HD void swap(_Tp &a, _Tp &b) {
  _Tp t = static_cast<_Tp &&>(a); a = static_cast<_Tp &&>(b); b = static_cast<_Tp &&>(t);
}
template <class _Tp, class _Up = _Tp> HD _Tp exchange(_Tp &x, _Up &&y) {
  _Tp t = static_cast<_Tp &&>(x); x = static_cast<_Up &&>(y); return t;
}
template <class _Tp, class _Up> struct pair {
  typedef _Tp first_type; typedef _Up second_type;
  _Tp first; _Up second;
  __w_OURS(pair)
  HD pair() = default;
  HD constexpr pair(const _Tp &a, const _Up &b) : first(a), second(b) {}
  template <class _Vp, class _Wp> HD constexpr pair(const pair<_Vp, _Wp> &p) : first(p.first), second(p.second) {}
  HD void swap(pair &o) { pair x = *this; *this = o; o = x; }
};
template <class _Tp, class _Up> HD constexpr pair<_Tp, _Up> make_pair(_Tp a, _Up b) { return {a, b}; }
template <class _Tp, class _Up> HD constexpr bool operator==(const pair<_Tp, _Up> &a, const pair<_Tp, _Up> &b) {
  return a.first == b.first && a.second == b.second;
}
template <class _Tp, class _Up> HD constexpr bool operator!=(const pair<_Tp, _Up> &a, const pair<_Tp, _Up> &b) {
  return !(a == b);
}
template <class _Tp, class _Up> HD constexpr bool operator<(const pair<_Tp, _Up> &a, const pair<_Tp, _Up> &b) {
  return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}
template <class _Tp, class _Up> HD constexpr bool operator>(const pair<_Tp, _Up> &a, const pair<_Tp, _Up> &b) {
  return b < a;
}
template <class _Tp, size_t n> struct array { __w_LIBRARY
  typedef _Tp value_type; typedef size_t size_type; typedef _Tp &reference; typedef const _Tp &const_reference;
  typedef _Tp *iterator; typedef const _Tp *const_iterator; typedef _Tp *pointer; typedef const _Tp *const_pointer;
  typedef ptrdiff_t difference_type;
  _Tp elems[n];
  HD LATER _Tp &operator[](size_t i) { return elems[i]; }
  HD constexpr const _Tp &operator[](size_t i) const { return elems[i]; }
  HD LATER _Tp &front() { return elems[0]; } HD LATER _Tp &back() { return elems[n - 1]; }
  HD LATER _Tp *data() { return elems; } HD constexpr const _Tp *data() const { return elems; }
  HD LATER _Tp *begin() { return elems; } HD constexpr const _Tp *begin() const { return elems; }
  HD LATER _Tp *end() { return elems + n; } HD constexpr const _Tp *end() const { return elems + n; }
  HD static constexpr size_t size() { return n; } HD static constexpr bool empty() { return n == 0; }
  HD constexpr const _Tp *cbegin() const { return elems; } HD constexpr const _Tp *cend() const { return elems + n; }
  HD static constexpr size_t max_size() { return n; }
  _Tp &at(size_t); const _Tp &at(size_t) const; _Tp *rbegin(); _Tp *rend();
  HD void fill(_Tp x) { for (size_t i = 0; i < n; i++) elems[i] = x; }
  HD void swap(array &o) { for (size_t i = 0; i < n; i++) { _Tp x = elems[i]; elems[i] = o.elems[i]; o.elems[i] = x; } }
};
template <class _Tp> struct array<_Tp, 0> { __w_LIBRARY
  typedef _Tp value_type; typedef size_t size_type; typedef _Tp &reference; typedef const _Tp &const_reference;
  typedef _Tp *iterator; typedef const _Tp *const_iterator; typedef _Tp *pointer; typedef const _Tp *const_pointer;
  typedef ptrdiff_t difference_type;
  struct {} elems;
  HD constexpr _Tp *data() const { return nullptr; }
  HD constexpr _Tp *begin() const { return nullptr; } HD constexpr _Tp *end() const { return nullptr; }
  HD static constexpr size_t size() { return 0; } HD static constexpr bool empty() { return true; }
  HD void fill(_Tp) {}
};
template <class _Tp, size_t n, size_t... i> HD constexpr _Tp _least(const _Tp (&x)[n], index_sequence<i...>) {
  _Tp m = x[0];
  ((m = x[i + 1] < m ? x[i + 1] : m), ...);
  return m;
}
template <class _Tp, size_t n, size_t... i> HD constexpr _Tp _most(const _Tp (&x)[n], index_sequence<i...>) {
  _Tp m = x[0];
  ((m = m < x[i + 1] ? x[i + 1] : m), ...);
  return m;
}
template <class _Tp, size_t n> HD constexpr _Tp min(const _Tp (&x)[n]) { return _least(x, make_index_sequence<n - 1>{}); }
template <class _Tp, size_t n> HD constexpr _Tp max(const _Tp (&x)[n]) { return _most(x, make_index_sequence<n - 1>{}); }

/* Tuples: a field for each element. */
#define LAID(...) __w_OURS(tuple) void swap(tuple &); typedef typename _laid<__VA_ARGS__>::type _type;
template <class... _Tp> struct _laid {
  static_assert(!(__is_empty(_Tp) || ...), "how large a tuple with an empty class is is up to the library");
  typedef int type;
};
template <class... _Tp> struct tuple;
template <> struct tuple<> { __w_OURS(tuple) };
template <class _Ap> struct tuple<_Ap> { LAID(_Ap) _Ap e0; };
template <class _Ap, class _Bp> struct tuple<_Ap, _Bp> { LAID(_Ap, _Bp) _Ap e0; _Bp e1; };
template <class _Ap, class _Bp, class _Cp> struct tuple<_Ap, _Bp, _Cp> { LAID(_Ap, _Bp, _Cp) _Ap e0; _Bp e1; _Cp e2; };
template <class _Ap, class _Bp, class _Cp, class _Dp> struct tuple<_Ap, _Bp, _Cp, _Dp> { LAID(_Ap, _Bp, _Cp, _Dp)
  _Ap e0; _Bp e1; _Cp e2; _Dp e3;
};
template <class _Ap, class _Bp, class _Cp, class _Dp, class _Ep> struct tuple<_Ap, _Bp, _Cp, _Dp, _Ep> { LAID(_Ap, _Bp, _Cp, _Dp, _Ep)
  _Ap e0; _Bp e1; _Cp e2; _Dp e3; _Ep e4;
};
#if __cplusplus >= 201703L
template <class... _Tp> HD tuple(_Tp...) -> tuple<_Tp...>;
#endif
template <class...> struct _tied;
template <class _Ap, class _Bp> struct _tied<_Ap, _Bp> {
  _Ap &e0; _Bp &e1;
  template <class _Tp, class _Up> HD void operator=(const tuple<_Tp, _Up> &x) const { e0 = x.e0; e1 = x.e1; }
  template <class _Tp, class _Up> HD void operator=(const pair<_Tp, _Up> &x) const { e0 = x.first; e1 = x.second; }
};
template <class _Ap, class _Bp, class _Cp> struct _tied<_Ap, _Bp, _Cp> {
  _Ap &e0; _Bp &e1; _Cp &e2;
  template <class _Tp, class _Up, class _Vp>
  HD void operator=(const tuple<_Tp, _Up, _Vp> &x) const { e0 = x.e0; e1 = x.e1; e2 = x.e2; }
};
template <class... _Tp> HD constexpr _tied<_Tp...> tie(_Tp &... x) { return {x...}; }
template <class... _Tp> HD constexpr tuple<__decay(_Tp)...> make_tuple(_Tp... x) { return {x...}; }
template <class _Tp> struct tuple_size;
template <class _Tp, size_t n> struct tuple_size<array<_Tp, n>> : integral_constant<size_t, n> {};
template <class... _Tp> struct tuple_size<tuple<_Tp...>> : integral_constant<size_t, sizeof...(_Tp)> {};
template <class _Tp, class _Up> struct tuple_size<pair<_Tp, _Up>> : integral_constant<size_t, 2> {};
template <class, class = void> struct _parts {};
template <class _Tp> struct _parts<_Tp, void_t<decltype(tuple_size<_Tp>::value)>> :
  integral_constant<size_t, tuple_size<_Tp>::value> {};
template <class _Tp> struct tuple_size<const _Tp> : _parts<_Tp> {};
template <class _Tp> constexpr size_t tuple_size_v = tuple_size<_Tp>::value;
template <size_t i, class _Tp> struct tuple_element;
template <size_t i, class _Tp> using tuple_element_t = typename tuple_element<i, _Tp>::type;
template <size_t i, class _Tp, class... _Up> struct tuple_element<i, tuple<_Tp, _Up...>> :
  tuple_element<i - 1, tuple<_Up...>> {};
template <class _Tp, class... _Up> struct tuple_element<0, tuple<_Tp, _Up...>> { typedef _Tp type; };
template <size_t i, class _Tp, size_t n> struct tuple_element<i, array<_Tp, n>> { typedef _Tp type; };
template <class _Tp, class _Up> struct tuple_element<0, pair<_Tp, _Up>> { typedef _Tp type; };
template <class _Tp, class _Up> struct tuple_element<1, pair<_Tp, _Up>> { typedef _Up type; };
template <size_t i, class _Tp> struct tuple_element<i, const _Tp> { typedef const tuple_element_t<i, _Tp> type; };
template <size_t i, class _Tp, size_t n> HD constexpr _Tp &get(array<_Tp, n> &x) { return x.elems[i]; }
template <size_t i, class _Tp, size_t n> HD constexpr const _Tp &get(const array<_Tp, n> &x) { return x.elems[i]; }
template <size_t i, class _Tp, size_t n> HD constexpr _Tp &&get(array<_Tp, n> &&x) { return static_cast<_Tp &&>(x.elems[i]); }
#define GET(I) \
  template <size_t i, class... _Tp> HD constexpr enable_if_t<i == I, tuple_element_t<i, tuple<_Tp...>>> & \
  get(tuple<_Tp...> &x) { return x.e##I; } \
  template <size_t i, class... _Tp> HD constexpr const enable_if_t<i == I, tuple_element_t<i, tuple<_Tp...>>> & \
  get(const tuple<_Tp...> &x) { return x.e##I; } \
  template <size_t i, class... _Tp> HD constexpr enable_if_t<i == I, tuple_element_t<i, tuple<_Tp...>>> && \
  get(tuple<_Tp...> &&x) { return static_cast<tuple_element_t<i, tuple<_Tp...>> &&>(x.e##I); }
GET(0) GET(1) GET(2) GET(3) GET(4)
template <size_t i, class _Tp, class _Up> HD constexpr enable_if_t<i == 0, _Tp> &get(pair<_Tp, _Up> &x) { return x.first; }
template <size_t i, class _Tp, class _Up> HD constexpr enable_if_t<i == 1, _Up> &get(pair<_Tp, _Up> &x) { return x.second; }
template <size_t i, class _Tp, class _Up>
HD constexpr enable_if_t<i == 0, _Tp> &&get(pair<_Tp, _Up> &&x) { return static_cast<_Tp &&>(x.first); }
template <size_t i, class _Tp, class _Up>
HD constexpr enable_if_t<i == 1, _Up> &&get(pair<_Tp, _Up> &&x) { return static_cast<_Up &&>(x.second); }
template <size_t i, class _Tp, class _Up>
HD constexpr const enable_if_t<i == 0, _Tp> &get(const pair<_Tp, _Up> &x) { return x.first; }
template <size_t i, class _Tp, class _Up>
HD constexpr const enable_if_t<i == 1, _Up> &get(const pair<_Tp, _Up> &x) { return x.second; }
/* Comparisons part by part: the first in which two differ tells. */
template <size_t i> struct _first {
  template <class _Tp> HD static bool same(const _Tp &a, const _Tp &b) {
    return _first<i - 1>::same(a, b) && get<i - 1>(a) == get<i - 1>(b);
  }
  template <class _Tp> HD static bool less(const _Tp &a, const _Tp &b) {
    return _first<i - 1>::less(a, b) || (!_first<i - 1>::less(b, a) && get<i - 1>(a) < get<i - 1>(b));
  }
};
template <> struct _first<0> {
  template <class _Tp> HD static bool same(const _Tp &, const _Tp &) { return true; }
  template <class _Tp> HD static bool less(const _Tp &, const _Tp &) { return false; }
};
template <class... _Tp> HD bool operator==(const tuple<_Tp...> &a, const tuple<_Tp...> &b) {
  return _first<sizeof...(_Tp)>::same(a, b);
}
template <class... _Tp> HD bool operator<(const tuple<_Tp...> &a, const tuple<_Tp...> &b) {
  return _first<sizeof...(_Tp)>::less(a, b);
}
template <class _Tp, size_t n> HD bool operator==(const array<_Tp, n> &a, const array<_Tp, n> &b) {
  return _first<n>::same(a, b);
}
template <class _Tp, size_t n> HD bool operator<(const array<_Tp, n> &a, const array<_Tp, n> &b) {
  return _first<n>::less(a, b);
}
template <class... _Tp> HD bool operator!=(const tuple<_Tp...> &a, const tuple<_Tp...> &b) { return !(a == b); }
template <class... _Tp> HD bool operator>(const tuple<_Tp...> &a, const tuple<_Tp...> &b) { return b < a; }
template <class _Tp, size_t n> HD bool operator!=(const array<_Tp, n> &a, const array<_Tp, n> &b) { return !(a == b); }
template <class _Tp, size_t n> HD bool operator>(const array<_Tp, n> &a, const array<_Tp, n> &b) { return b < a; }

/* A value, or none. */
struct nullopt_t { __w_LIBRARY HD constexpr explicit nullopt_t(int) {} }; constexpr nullopt_t nullopt(0);
template <class _Tp> struct optional { __w_LIBRARY
  typedef _Tp value_type;
  _Tp held; bool full;
  HD constexpr optional() noexcept : held(), full(false) {}
  HD constexpr optional(nullopt_t) : held(), full(false) {}
  HD constexpr optional(const _Tp &x) : held(x), full(true) {}
  HD void operator=(nullopt_t) { full = false; }
  HD _Tp &emplace() { held = _Tp(); full = true; return held; } HD _Tp &emplace(const _Tp &x) { held = x; full = true; return held; }
  HD void reset() { full = false; }
  void swap(optional &);
  HD constexpr bool has_value() const { return full; } HD constexpr explicit operator bool() const { return full; }
  HD LATER _Tp &value() { return held; } HD constexpr const _Tp &value() const { return held; }
  HD LATER _Tp &operator*() { return held; } HD constexpr const _Tp &operator*() const { return held; }
  HD LATER _Tp *operator->() { return &held; } HD constexpr const _Tp *operator->() const { return &held; }
  HD constexpr _Tp value_or(_Tp x) const { return full ? held : x; }
};
template <class _Tp> HD bool operator==(const optional<_Tp> &a, const optional<_Tp> &b) {
  return a.full == b.full && (!a.full || a.held == b.held);
}
template <class _Tp> HD bool operator<(const optional<_Tp> &a, const optional<_Tp> &b) {
  return b.full && (!a.full || a.held < b.held);
}
template <class _Tp> HD bool operator!=(const optional<_Tp> &a, const optional<_Tp> &b) { return !(a == b); }
template <class _Tp> HD constexpr optional<_Tp> make_optional(_Tp x) { return optional<_Tp>(x); }

/* Functions as objects. */
#define BINARY(N, R, OP) template <class _Tp = void> struct N { \
  __w_OLDER(typedef R result_type; typedef _Tp first_argument_type, second_argument_type;) \
  HD constexpr R operator()(const _Tp &a, const _Tp &b) const { return a OP b; } }; \
  template <> struct N<void> { template <class _Tp, class _Up> \
  HD constexpr auto operator()(const _Tp &a, const _Up &b) const -> decltype(a OP b) { return a OP b; } };
BINARY(plus, _Tp, +) BINARY(minus, _Tp, -) BINARY(multiplies, _Tp, *) BINARY(divides, _Tp, /) BINARY(modulus, _Tp, %)
BINARY(equal_to, bool, ==) BINARY(not_equal_to, bool, !=) BINARY(less, bool, <) BINARY(less_equal, bool, <=)
BINARY(greater, bool, >) BINARY(greater_equal, bool, >=) BINARY(logical_and, bool, &&) BINARY(logical_or, bool, ||)
BINARY(bit_and, _Tp, &) BINARY(bit_or, _Tp, |) BINARY(bit_xor, _Tp, ^)
#define UNARY(N, R, OP) template <class _Tp = void> struct N { __w_OLDER(typedef R result_type; typedef _Tp argument_type;) \
  HD constexpr R operator()(const _Tp &a) const { return OP a; } };
UNARY(negate, _Tp, -) UNARY(logical_not, bool, !) UNARY(bit_not, _Tp, ~)
template <class _Fn, class... _Tp, size_t... i>
HD constexpr auto _applied(_Fn &&f, const tuple<_Tp...> &x, index_sequence<i...>) -> decltype(f(get<i>(x)...)) {
  return f(get<i>(x)...);
}
template <class _Fn, class... _Tp>
HD constexpr auto apply(_Fn &&f, const tuple<_Tp...> &x) -> decltype(_applied(f, x, make_index_sequence<sizeof...(_Tp)>{})) {
  return _applied(f, x, make_index_sequence<sizeof...(_Tp)>{});
}

/* Functions of numbers. */
using ::abs; using ::labs; using ::llabs; using ::fabs; using ::fabsf; using ::sqrt; using ::sqrtf; using ::cbrt;
using ::cbrtf; using ::exp; using ::expf; using ::exp2; using ::exp2f; using ::expm1; using ::expm1f; using ::log;
using ::logf; using ::log2; using ::log2f; using ::log10; using ::log10f; using ::log1p; using ::log1pf; using ::logb;
using ::logbf; using ::sin; using ::sinf; using ::cos; using ::cosf; using ::tan; using ::tanf; using ::asin;
using ::asinf; using ::acos; using ::acosf; using ::atan; using ::atanf; using ::atan2; using ::atan2f; using ::sinh;
using ::sinhf; using ::cosh; using ::coshf; using ::tanh; using ::tanhf; using ::asinh; using ::asinhf; using ::acosh;
using ::acoshf; using ::atanh; using ::atanhf; using ::erf; using ::erff; using ::erfc; using ::erfcf; using ::lgamma;
using ::lgammaf; using ::tgamma; using ::tgammaf; using ::floor; using ::floorf; using ::ceil; using ::ceilf;
using ::round; using ::roundf; using ::rint; using ::rintf; using ::nearbyint; using ::nearbyintf; using ::trunc;
using ::truncf; using ::pow; using ::powf; using ::fmod; using ::fmodf; using ::remainder; using ::remainderf;
using ::hypot; using ::hypotf; using ::fmin; using ::fminf; using ::fmax; using ::fmaxf; using ::fdim; using ::fdimf;
using ::copysignf; using ::nextafter; using ::nextafterf; using ::fma; using ::fmaf; using ::isnan;
using ::isinf; using ::isfinite; using ::isnormal; using ::signbit; using ::ilogb; using ::ilogbf; using ::lrint;
using ::lrintf; using ::lround; using ::lroundf; using ::llrint; using ::llrintf; using ::llround; using ::llroundf;
using ::ldexp; using ::ldexpf; using ::scalbn; using ::scalbnf; using ::scalbln; using ::scalblnf; using ::frexp;
using ::frexpf; using ::modf; using ::modff; using ::remquo; using ::remquof; using ::nan; using ::nanf;
using ::printf; using ::memcpy; using ::malloc; using ::free; using ::memset; using ::memmove; using ::clock; using ::clock_t;

/* What host code uses. */
template <class...> class allocator; template <class...> class forward_list; template <class...> class map;
template <class...> class multimap; template <class...> class set; template <class...> class multiset;
template <class...> class unordered_map; template <class...> class unordered_set; template <class...> class stack;
template <class...> class unordered_multimap; template <class...> class unordered_multiset;
template <class...> class queue; template <class...> class priority_queue; template <class...> class function;
template <class...> class variant;
template <class...> class weak_ptr;
template <class...> class future; template <class...> class promise;
template <class...> class basic_string_view; template <class...> class unique_lock; template <class...> class lock_guard;
template <class...> class hash; template <class...> class reference_wrapper; template <class...> class default_delete;
template <class...> class enable_shared_from_this; template <class...> class uniform_real_distribution;
template <class...> class uniform_int_distribution; template <class...> class normal_distribution;
typedef basic_string_view<char> string_view;
