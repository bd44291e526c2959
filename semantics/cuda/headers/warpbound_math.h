/* CUDA's functions on numbers, but `norm` and `rnorm` of arrays, which read memory. Nothing here has a body. */
#pragma once
#pragma push_macro("HD")
#pragma push_macro("NORM")
#pragma push_macro("WHICH")
#pragma push_macro("LARGEST_OF")
#pragma push_macro("LARGEST")
#pragma push_macro("DEV")
#pragma push_macro("WHOLE1")
#pragma push_macro("WHOLE2")
#pragma push_macro("REAL1")
#pragma push_macro("FLOATS2")
#pragma push_macro("REAL2")
#pragma push_macro("REAL3")
#pragma push_macro("WHOLE")
#pragma push_macro("PLAIN1")
#pragma push_macro("SCALED")
#pragma push_macro("ROUNDED")
#pragma push_macro("ORDER1")
#pragma push_macro("ORDER")
#pragma push_macro("SHIFTED")
#pragma push_macro("WORDS1")
#pragma push_macro("WORDS2")
#define HD __host__ __device__ __w_NOTHROW
#define DEV __device__ __w_NOTHROW

extern "C++" {
/* What C++ makes of whole numbers: they are double. */
template <bool, class _Tp> struct __warpbound_if {};
template <class _Tp> struct __warpbound_if<true, _Tp> { typedef _Tp type; };
#define WHOLE1(T, F) template <class _Tp> HD typename __warpbound_if<__is_integral(_Tp), T>::type F(_Tp);
#define WHOLE2(T, F) template <class _Tp, class _Up> HD typename __warpbound_if<__is_arithmetic(_Tp) && \
  __is_arithmetic(_Up) && (__is_integral(_Tp) || __is_integral(_Up)), T>::type F(_Tp, _Up);

#define REAL1(F) HD float F(float); HD double F(double); HD float F##f(float); WHOLE1(double, F)
#define FLOATS2(F) HD float F(float, float); HD double F(double, double); HD double F(float, double); \
  HD double F(double, float); HD float F##f(float, float);
#define REAL2(F) FLOATS2(F) WHOLE2(double, F)
#define REAL3(F) HD float F(float, float, float); HD double F(double, double, double); \
  HD float F##f(float, float, float);
#define WHOLE(T, F) HD T F(float); HD T F(double); HD T F##f(float); WHOLE1(T, F)
#define PLAIN1(F) HD double F(double); HD float F##f(float);
REAL1(sqrt) REAL1(rsqrt) REAL1(cbrt) REAL1(rcbrt) REAL1(exp) REAL1(exp2) REAL1(exp10) REAL1(expm1) REAL1(log)
REAL1(log2) REAL1(log10) REAL1(log1p) REAL1(logb) REAL1(sin) REAL1(cos) REAL1(tan) REAL1(asin) REAL1(acos) REAL1(atan)
REAL1(sinh) REAL1(cosh) REAL1(tanh) REAL1(asinh) REAL1(acosh) REAL1(atanh) REAL1(sinpi) REAL1(cospi) REAL1(tanpi)
REAL1(erf) REAL1(erfc) REAL1(erfinv) REAL1(erfcinv) REAL1(erfcx) REAL1(normcdf) REAL1(normcdfinv)
REAL1(lgamma) REAL1(tgamma) REAL1(floor) REAL1(ceil) REAL1(round) REAL1(rint) REAL1(nearbyint) REAL1(trunc) REAL1(fabs)
PLAIN1(j0) PLAIN1(j1) PLAIN1(y0) PLAIN1(y1) PLAIN1(cyl_bessel_i0) PLAIN1(cyl_bessel_i1)
HD double jn(int, double); HD float jn(int, float); HD float jnf(int, float);
HD double yn(int, double); HD float yn(int, float); HD float ynf(int, float);
FLOATS2(pow) REAL2(fmod) REAL2(atan2) REAL2(hypot) REAL2(fmin) REAL2(fmax) REAL2(fdim) REAL2(copysign)
REAL2(remainder) REAL2(nextafter) REAL2(rhypot)
HD double pow(double, int); inline HD double pow(float x, int y) { return pow((double)x, y); }
template <class _Tp, class _Up> HD typename __warpbound_if<__is_arithmetic(_Tp) && __is_arithmetic(_Up) &&
  (__is_integral(_Tp) || (__is_integral(_Up) && !__is_same(_Up, int))), double>::type pow(_Tp, _Up);
template <class _Tp> HD typename __warpbound_if<__is_enum(_Tp), float>::type pow(float x, _Tp y) { return pow(x, (float)y); }
template <class _Tp> constexpr bool __warpbound_number = __is_integral(_Tp) || __is_same(_Tp, float) || __is_same(_Tp, double);
template <class _Tp, class _Up, class _Vp> HD typename __warpbound_if<__warpbound_number<_Tp> && __warpbound_number<_Up> &&
  __warpbound_number<_Vp>, double>::type fma(_Tp, _Up, _Vp);
REAL3(fma) REAL3(norm3d) REAL3(rnorm3d)
HD float norm4df(float, float, float, float); HD double norm4d(double, double, double, double);
HD float rnorm4df(float, float, float, float); HD double rnorm4d(double, double, double, double);
HD float fdividef(float, float); HD double nan(const char *); HD float nanf(const char *);
WHOLE(bool, isnan) WHOLE(bool, isinf) WHOLE(bool, isfinite) WHOLE(bool, signbit) HD bool isnormal(float);
HD bool isnormal(double); HD int finite(double); HD int finitef(float);
HD int __isnan(double); HD int __isnanf(float); HD int __isinf(double); HD int __isinff(float); HD int __finite(double);
HD int __finitef(float); HD int __signbit(double); HD int __signbitf(float);
WHOLE(int, ilogb) WHOLE(long, lrint) WHOLE(long, lround) WHOLE(long long, llrint) WHOLE(long long, llround)
#define SCALED(F, N) HD float F(float, N); HD double F(double, N); HD float F##f(float, N); \
  template <class _Tp> HD typename __warpbound_if<__is_integral(_Tp), double>::type F(_Tp, N);
SCALED(ldexp, int) SCALED(scalbn, int) SCALED(scalbln, long)
HD float frexp(float, int *); HD double frexp(double, int *); HD float frexpf(float, int *);
HD float modf(float, float *); HD double modf(double, double *); HD float modff(float, float *);
HD float remquo(float, float, int *); HD double remquo(double, double, int *); HD float remquof(float, float, int *);
HD void sincos(float, float *, float *); HD void sincos(double, double *, double *);
HD void sincosf(float, float *, float *); HD void sincospi(double, double *, double *);
HD void sincospi(float, float *, float *); HD void sincospif(float, float *, float *);
DEV void __sincosf(float, float *, float *);

DEV float __sinf(float); DEV float __cosf(float); DEV float __tanf(float); DEV float __tanhf(float);
DEV float __expf(float); DEV float __exp10f(float); DEV float __logf(float); DEV float __log2f(float);
DEV float __log10f(float); DEV float __powf(float, float); DEV float __saturatef(float);
DEV float __fdividef(float, float); DEV float __frsqrt_rn(float);
#define ROUNDED(R) \
  DEV float __fadd_##R(float, float); DEV float __fsub_##R(float, float); DEV float __fmul_##R(float, float); \
  DEV float __fdiv_##R(float, float); DEV float __fmaf_##R(float, float, float); DEV float __frcp_##R(float); \
  DEV float __fsqrt_##R(float); DEV float __fmaf_ieee_##R(float, float, float); \
  DEV double __dadd_##R(double, double); DEV double __dsub_##R(double, double); DEV double __dmul_##R(double, double); \
  DEV double __ddiv_##R(double, double); DEV double __fma_##R(double, double, double); DEV double __drcp_##R(double); \
  DEV double __dsqrt_##R(double); \
  DEV int __float2int_##R(float); DEV unsigned __float2uint_##R(float); \
  DEV long long __float2ll_##R(float); DEV unsigned long long __float2ull_##R(float); \
  DEV int __double2int_##R(double); DEV unsigned __double2uint_##R(double); \
  DEV long long __double2ll_##R(double); DEV unsigned long long __double2ull_##R(double); \
  DEV float __double2float_##R(double); DEV float __int2float_##R(int); DEV float __uint2float_##R(unsigned); \
  DEV float __ll2float_##R(long long); DEV float __ull2float_##R(unsigned long long); \
  DEV double __ll2double_##R(long long); DEV double __ull2double_##R(unsigned long long);
ROUNDED(rn) ROUNDED(rz) ROUNDED(ru) ROUNDED(rd)
DEV double __int2double_rn(int); DEV double __uint2double_rn(unsigned);
DEV int __float_as_int(float); DEV unsigned __float_as_uint(float); DEV float __int_as_float(int);
DEV float __uint_as_float(unsigned); DEV long long __double_as_longlong(double);
DEV double __longlong_as_double(long long); DEV int __double2hiint(double); DEV int __double2loint(double);
DEV double __hiloint2double(int, int);

/* The smaller and the larger one. */
#define ORDER1(F, A, B, R) HD R F(A, B); HD R F(B, A);
#define ORDER(F) \
  HD int F(int, int); HD unsigned F(unsigned, unsigned); HD long F(long, long); HD long long F(long long, long long); \
  HD unsigned long F(unsigned long, unsigned long); HD unsigned long long F(unsigned long long, unsigned long long); \
  HD float F(float, float); HD double F(double, double); ORDER1(F, float, double, double) \
  ORDER1(F, int, unsigned, unsigned) ORDER1(F, int, long, long) ORDER1(F, unsigned, unsigned long, unsigned long) \
  ORDER1(F, int, unsigned long, unsigned long) ORDER1(F, long, unsigned long, unsigned long) \
  ORDER1(F, unsigned, long, long) ORDER1(F, int, long long, long long) ORDER1(F, unsigned, long long, long long) \
  ORDER1(F, long, long long, long long) ORDER1(F, long long, unsigned long long, unsigned long long) \
  ORDER1(F, int, unsigned long long, unsigned long long) ORDER1(F, unsigned, unsigned long long, unsigned long long) \
  ORDER1(F, unsigned long, unsigned long long, unsigned long long) \
  ORDER1(F, float, int, float) ORDER1(F, double, int, double)
ORDER(min)
ORDER(max)
HD unsigned umin(unsigned, unsigned); HD unsigned umax(unsigned, unsigned);
HD long long llmin(long long, long long); HD long long llmax(long long, long long);
HD unsigned long long ullmin(unsigned long long, unsigned long long);
HD unsigned long long ullmax(unsigned long long, unsigned long long);
HD int abs(int); HD long abs(long); HD long long abs(long long); HD float abs(float); HD double abs(double);
HD long labs(long); HD long long llabs(long long);

/* Bits of whole numbers. */
DEV int __mul24(int, int); DEV unsigned __umul24(unsigned, unsigned); HD int mul24(int, int);
HD unsigned umul24(unsigned, unsigned);
DEV int __mulhi(int, int); DEV unsigned __umulhi(unsigned, unsigned); HD int mulhi(int, int);
HD unsigned mulhi(unsigned, unsigned); HD unsigned mulhi(int, unsigned); HD unsigned mulhi(unsigned, int);
DEV long long __mul64hi(long long, long long);
DEV unsigned long long __umul64hi(unsigned long long, unsigned long long);
HD long long mul64hi(long long, long long); HD unsigned long long mul64hi(unsigned long long, unsigned long long);
DEV int __clz(int); DEV int __clzll(long long); DEV int __popc(unsigned); DEV int __popcll(unsigned long long);
DEV int __ffs(int); DEV int __ffsll(long long); DEV unsigned __fns(unsigned, unsigned, int);
DEV unsigned __brev(unsigned); DEV unsigned long long __brevll(unsigned long long);
DEV unsigned __byte_perm(unsigned, unsigned, unsigned);
#define SHIFTED(F) DEV unsigned __funnelshift_##F(unsigned, unsigned, unsigned);
SHIFTED(l) SHIFTED(lc) SHIFTED(r) SHIFTED(rc)
DEV unsigned __sad(int, int, unsigned); DEV unsigned __usad(unsigned, unsigned, unsigned);
DEV int __hadd(int, int); DEV unsigned __uhadd(unsigned, unsigned); DEV int __rhadd(int, int);
DEV unsigned __urhadd(unsigned, unsigned);
DEV int __dp4a(int, int, int); DEV unsigned __dp4a(unsigned, unsigned, unsigned);
DEV int __dp2a_lo(int, int, int); DEV unsigned __dp2a_lo(unsigned, unsigned, unsigned);
DEV int __dp2a_hi(int, int, int); DEV unsigned __dp2a_hi(unsigned, unsigned, unsigned);

/* The same on each half, or each byte, of a word. */
#define WORDS1(F) DEV unsigned F##2(unsigned); DEV unsigned F##4(unsigned);
#define WORDS2(F) DEV unsigned F##2(unsigned, unsigned); DEV unsigned F##4(unsigned, unsigned);
WORDS1(__vabs) WORDS1(__vabsss) WORDS1(__vneg) WORDS1(__vnegss) WORDS2(__vabsdiffs) WORDS2(__vabsdiffu) WORDS2(__vadd)
WORDS2(__vaddss) WORDS2(__vaddus) WORDS2(__vavgs) WORDS2(__vavgu) WORDS2(__vhaddu) WORDS2(__vcmpeq) WORDS2(__vcmpges)
WORDS2(__vcmpgeu) WORDS2(__vcmpgts) WORDS2(__vcmpgtu) WORDS2(__vcmples) WORDS2(__vcmpleu) WORDS2(__vcmplts)
WORDS2(__vcmpltu) WORDS2(__vcmpne) WORDS2(__vmaxs) WORDS2(__vmaxu) WORDS2(__vmins) WORDS2(__vminu) WORDS2(__vsads)
WORDS2(__vsadu) WORDS2(__vseteq) WORDS2(__vsetges) WORDS2(__vsetgeu) WORDS2(__vsetgts) WORDS2(__vsetgtu)
WORDS2(__vsetles) WORDS2(__vsetleu) WORDS2(__vsetlts) WORDS2(__vsetltu) WORDS2(__vsetne) WORDS2(__vsub)
WORDS2(__vsubss) WORDS2(__vsubus)

/* The largest or smallest of three numbers, of a sum and a number, and of two with what is larger than 0. */
#define LARGEST(M, T, E) DEV T __vi##M##3_##E(T, T, T); DEV T __viadd##M##_##E(T, T, T);
#define LARGEST_OF(T, E) LARGEST(max, T, E) LARGEST(min, T, E)
LARGEST_OF(int, s32) LARGEST_OF(unsigned, u32) LARGEST_OF(unsigned, s16x2) LARGEST_OF(unsigned, u16x2)
LARGEST_OF(int, s32_relu) LARGEST_OF(unsigned, s16x2_relu)
DEV int __vimax_s32_relu(int, int); DEV int __vimin_s32_relu(int, int);
DEV unsigned __vimax_s16x2_relu(unsigned, unsigned); DEV unsigned __vimin_s16x2_relu(unsigned, unsigned);
#define WHICH(M) DEV int __vib##M##_s32(int, int, bool *); DEV unsigned __vib##M##_u32(unsigned, unsigned, bool *); \
  DEV unsigned __vib##M##_s16x2(unsigned, unsigned, bool *, bool *); \
  DEV unsigned __vib##M##_u16x2(unsigned, unsigned, bool *, bool *);
WHICH(max) WHICH(min)
/* Of so many numbers in memory. */
#define NORM(F, T, ROOT) HD inline T F(int n, const T *p) { \
  T s = 0; \
  for (int i = 0; i < n; i++) s += p[i] * p[i]; \
  return ROOT(s); \
}
NORM(norm, double, sqrt) NORM(normf, float, sqrtf) NORM(rnorm, double, rsqrt) NORM(rnormf, float, rsqrtf)
}
#pragma pop_macro("HD")
#pragma pop_macro("DEV")
#pragma pop_macro("WHOLE1")
#pragma pop_macro("WHOLE2")
#pragma pop_macro("REAL1")
#pragma pop_macro("FLOATS2")
#pragma pop_macro("REAL2")
#pragma pop_macro("REAL3")
#pragma pop_macro("WHOLE")
#pragma pop_macro("PLAIN1")
#pragma pop_macro("SCALED")
#pragma pop_macro("ROUNDED")
#pragma pop_macro("ORDER1")
#pragma pop_macro("ORDER")
#pragma pop_macro("SHIFTED")
#pragma pop_macro("WORDS1")
#pragma pop_macro("WORDS2")
#pragma pop_macro("LARGEST")
#pragma pop_macro("LARGEST_OF")
#pragma pop_macro("WHICH")
#pragma pop_macro("NORM")
