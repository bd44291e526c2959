/* Complex numbers as a class, in a namespace of its own (`__w_complex`) for whoever has them: with the formulas of school. */
#pragma push_macro("__w_C")
#pragma push_macro("__w_BOTH")
#define __w_C __host__ __device__
extern "C++" {
namespace __w_complex {
template <class T> struct alignas(2 * sizeof(T)) complex {
  typedef T value_type;
  T __w_re, __w_im;
  __w_OURS(complex)
  complex() = default;
  __w_C constexpr complex(T re, T im = T()) : __w_re(re), __w_im(im) {}
  __w_C constexpr T real() const { return __w_re; }
  __w_C constexpr T imag() const { return __w_im; }
  __w_C void real(T x) { __w_re = x; }
  __w_C void imag(T x) { __w_im = x; }
  __w_C void operator+=(complex b) { __w_re += b.__w_re; __w_im += b.__w_im; }
  __w_C void operator-=(complex b) { __w_re -= b.__w_re; __w_im -= b.__w_im; }
  __w_C void operator*=(complex b) {
    T re = __w_re * b.__w_re - __w_im * b.__w_im;
    __w_im = __w_re * b.__w_im + __w_im * b.__w_re;
    __w_re = re;
  }
  __w_C void operator*=(T b) { __w_re *= b; __w_im *= b; }
  __w_C void operator/=(T b) { __w_re /= b; __w_im /= b; }
};
#define __w_BOTH(O) \
  template <class T> __w_C complex<T> operator O(complex<T> a, complex<T> b) { \
    return complex<T>(a.__w_re O b.__w_re, a.__w_im O b.__w_im); \
  }
__w_BOTH(+) __w_BOTH(-)
template <class T> __w_C complex<T> operator+(complex<T> a, T b) { return complex<T>(a.__w_re + b, a.__w_im); }
template <class T> __w_C complex<T> operator+(T a, complex<T> b) { return complex<T>(a + b.__w_re, b.__w_im); }
template <class T> __w_C complex<T> operator-(complex<T> a, T b) { return complex<T>(a.__w_re - b, a.__w_im); }
template <class T> __w_C complex<T> operator-(T a, complex<T> b) { return complex<T>(a - b.__w_re, -b.__w_im); }
template <class T> __w_C complex<T> operator-(complex<T> a) { return complex<T>(-a.__w_re, -a.__w_im); }
template <class T> __w_C complex<T> operator*(complex<T> a, complex<T> b) {
  return complex<T>(a.__w_re * b.__w_re - a.__w_im * b.__w_im, a.__w_re * b.__w_im + a.__w_im * b.__w_re);
}
template <class T> __w_C complex<T> operator*(complex<T> a, T b) { return complex<T>(a.__w_re * b, a.__w_im * b); }
template <class T> __w_C complex<T> operator*(T a, complex<T> b) { return complex<T>(a * b.__w_re, a * b.__w_im); }
template <class T> __w_C complex<T> operator/(complex<T> a, T b) { return complex<T>(a.__w_re / b, a.__w_im / b); }
template <class T> __w_C complex<T> operator/(complex<T> a, complex<T> b) {
  T s = b.__w_re * b.__w_re + b.__w_im * b.__w_im;
  return complex<T>((a.__w_re * b.__w_re + a.__w_im * b.__w_im) / s, (a.__w_im * b.__w_re - a.__w_re * b.__w_im) / s);
}
template <class T> __w_C bool operator==(complex<T> a, complex<T> b) {
  return a.__w_re == b.__w_re && a.__w_im == b.__w_im;
}
template <class T> __w_C bool operator!=(complex<T> a, complex<T> b) {
  return a.__w_re != b.__w_re || a.__w_im != b.__w_im;
}
template <class T> __w_C T real(complex<T> a) { return a.__w_re; }
template <class T> __w_C T imag(complex<T> a) { return a.__w_im; }
template <class T> __w_C T norm(complex<T> a) { return a.__w_re * a.__w_re + a.__w_im * a.__w_im; }
template <class T> __w_C T abs(complex<T> a) { return hypot(a.__w_re, a.__w_im); }
template <class T> __w_C T arg(complex<T> a) { return atan2(a.__w_im, a.__w_re); }
template <class T> __w_C complex<T> conj(complex<T> a) { return complex<T>(a.__w_re, -a.__w_im); }
template <class T> __w_C complex<T> polar(T r, T angle = T()) { return complex<T>(r * cos(angle), r * sin(angle)); }
template <class T> __w_C complex<T> exp(complex<T> a) {
  T r = ::exp(a.__w_re);
  return complex<T>(r * ::cos(a.__w_im), r * ::sin(a.__w_im));
}
}
}
#pragma pop_macro("__w_C")
#pragma pop_macro("__w_BOTH")
