/* Functions of the standard library on the bits of numbers, in the namespace that includes them. In constants clang knows
   no functions of CUDA, but its own. */
#pragma push_macro("KNOWN")
#define KNOWN (sizeof(x) <= 8 && __builtin_is_constant_evaluated())
template <class _Tp, class _Up> HD _Tp bit_cast(const _Up &x) { _Up y = x; return *reinterpret_cast<_Tp *>(&y); }
template <class _Tp> HD constexpr int popcount(_Tp x) {
  return KNOWN ? __builtin_popcountll(x) : sizeof(x) > 4 ? __popcll(x) : __popc(x);
}
template <class _Tp> HD constexpr int countl_zero(_Tp x) {
  return KNOWN ? (x == 0 ? 64 : __builtin_clzll(x)) - (64 - 8 * (int)sizeof(x)) :
    sizeof(x) > 4 ? __clzll(x) : __clz(x) - (32 - 8 * (int)sizeof(x));
}
template <class _Tp> HD constexpr int countr_zero(_Tp x) {
  return x == 0 ? 8 * (int)sizeof(x) : KNOWN ? __builtin_ctzll(x) : sizeof(x) > 4 ? __ffsll(x) - 1 : __ffs(x) - 1;
}
template <class _Tp> HD constexpr int bit_width(_Tp x) { return 8 * (int)sizeof(x) - countl_zero(x); }
template <class _Tp> HD constexpr bool has_single_bit(_Tp x) { return x != 0 && (x & (x - 1)) == 0; }
template <class _Tp> HD constexpr _Tp bit_floor(_Tp x) { return x == 0 ? x : (_Tp)((_Tp)1 << (bit_width(x) - 1)); }
template <class _Tp> HD constexpr _Tp bit_ceil(_Tp x) {
  return x < 2 ? (_Tp)1 : (_Tp)((_Tp)1 << bit_width((_Tp)(x - 1)));
}
#pragma pop_macro("KNOWN")
