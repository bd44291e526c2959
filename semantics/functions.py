"""The values of the functions of C and CUDA on numbers, as far as a run can tell them.

What IEEE 754 and CUDA define to the last bit is exact; a function that no processor rounds correctly (sin, pow) is what
the host's library gives. Every function here is total: outside of its domain it is a NaN.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from semantics.rounding import DIRECTIONS, DOUBLE, HALVES, SINGLE, converter, divided, operations


class Untold(Exception):
    """The value of a function that is not known for these arguments."""


EXACT: Final = 2**53
"""Every integer up to this is a double."""


def _total(f: Callable[..., float], *args: float) -> float:
    try:
        return float(f(*args))
    except (ValueError, ZeroDivisionError):
        return math.nan
    except OverflowError:
        return math.inf


def _round(x: float) -> float:
    """C's round: halves away from zero."""
    whole = float(np.trunc(x))
    return whole + math.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole


def _gamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return math.nan if x == -math.inf else _total(math.gamma, x)


def _log_gamma(x: float) -> float:
    return math.inf if math.isinf(x) or (x <= 0 and x == math.floor(x)) else _total(math.lgamma, x)


def _scaled(x: float, n: float) -> float:
    """x * 2^n, rounded once."""
    try:
        return math.ldexp(x, int(max(-5000.0, min(5000.0, n))))
    except OverflowError:
        return math.copysign(math.inf, x)


def _exponent(x: float) -> float:
    """logb"""
    if x == 0:
        return -math.inf
    return float(math.frexp(x)[1] - 1) if math.isfinite(x) else x * x


def _ilogb(x: float) -> float:
    if x == 0 or math.isnan(x):
        return -(2.0**31)
    return 2.0**31 - 1 if math.isinf(x) else _exponent(x)


def _quotient(x: float, y: float) -> float:
    """The last three bits of x / y, rounded to the nearest integer, with its sign: of remquo."""
    if not math.isfinite(x) or y == 0 or math.isnan(y):
        raise Untold
    if math.isinf(y):
        return 0.0
    n = round(Fraction(x) / Fraction(y))
    return float(n % 8 if n >= 0 else -(-n % 8))


def _remainder(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    return math.remainder(x, y)


def _modf(x: float) -> float:
    return math.copysign(0.0 if math.isinf(x) else math.modf(x)[0], x) if not math.isnan(x) else x


def _positive_difference(a: float, b: float) -> float:
    return a - b if a > b else math.nan if math.isnan(a) or math.isnan(b) else 0.0


def _next_single(x: float, y: float) -> float:
    return float(np.nextafter(np.float32(x), np.float32(y)))


def _saturated(x: float) -> float:
    """Between 0 and 1; of a NaN it is 0."""
    return min(max(x, 0.0), 1.0) if x > 0 else 0.0


def _half_turns(f: Callable[[float], float], x: float) -> float:
    """f(pi * x), exact where pi * x is a multiple of pi / 2."""
    if not math.isfinite(x):
        return math.nan
    r = math.fmod(x, 2.0)
    quarters = {0.0: 0, 0.5: 1, 1.0: 2, 1.5: 3}.get(r % 2.0)
    if quarters is None:
        return f(math.pi * r)
    sine = math.copysign(0.0, x) if quarters % 2 == 0 else (1.0, -1.0)[quarters // 2]
    return sine if f is math.sin else (1.0, 0.0, -1.0, 0.0)[quarters]


def _cube_root(x: float) -> float:
    """The number that is nearest to the cube root, which libraries of C miss by some."""
    low = abs(float(np.cbrt(x)))
    if low == 0 or not math.isfinite(low):
        return math.copysign(low, x)
    cube = abs(Fraction(x))
    while Fraction(low) ** 3 > cube:
        low = math.nextafter(low, 0.0)
    while ((Fraction(low) + Fraction(high := math.nextafter(low, math.inf))) / 2) ** 3 < cube:
        low = high
    return math.copysign(low, x)


def _length(*xs: float) -> float:
    if any(map(math.isinf, xs)):
        return math.inf
    return _total(math.hypot, *xs)


def _normal(x: float) -> float:
    """The cumulative distribution of the standard normal one."""
    return math.erfc(-x / math.sqrt(2.0)) / 2


# --- bits ------------------------------------------------------------------------------------------------------------

_WORD: Final = 0xFFFFFFFF
_LONG: Final = 2**64 - 1


def _signed(n: int, bits: int = 32) -> int:
    """The number that has the last bits of n, in two's complement."""
    n &= (1 << bits) - 1
    return n - (1 << bits) if n >> (bits - 1) else n


def _reversed(n: int, bits: int) -> int:
    return int(f"{n & ((1 << bits) - 1):0{bits}b}"[::-1], 2)


def _lowest(n: int) -> int:
    """The place of the last bit that is set, from 1; 0 where none is."""
    return (n & -n).bit_length()


def _packed(n: int, mask: int) -> int:
    """The bits of n that a mask has, next to one another."""
    places = [i for i in range(32) if mask >> i & 1]
    return sum((n >> place & 1) << i for i, place in enumerate(places))


def _nth_set(n: int, base: int, offset: int) -> int:
    """The place of the offset-th set bit from a place on, to the left, or to the right where it is negative."""
    if offset == 0:
        return base if n >> base & 1 else _WORD
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [i for i in places if n >> i & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else _WORD


def _permuted(x: int, y: int, selector: int) -> int:
    """Bytes of two words, each chosen by the last three bits of a digit; its first one says: only the sign."""
    both = (x & _WORD) | (y & _WORD) << 32
    found = 0
    for i in range(4):
        digit = selector >> 4 * i & 15
        byte = both >> 8 * (digit & 7) & 255
        found |= (byte if digit < 8 else 255 * (byte >> 7)) << 8 * i
    return found


def _funnel(low: int, high: int, shift: int, *, left: bool, clamp: bool) -> int:
    both = (low & _WORD) | (high & _WORD) << 32
    by = min(shift & _WORD, 32) if clamp else shift & 31
    return both << by >> 32 & _WORD if left else both >> by & _WORD


def _float_bits(x: float) -> int:
    if math.isnan(x):
        raise Untold
    try:
        return int(struct.unpack("<I", struct.pack("<f", x))[0])
    except OverflowError:
        return 0xFF800000 if x < 0 else 0x7F800000


def _double_bits(x: float) -> int:
    if math.isnan(x):
        raise Untold
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


def _from_bits(n: int, kind: str) -> float:
    size, whole = (4, "I") if kind == "f" else (8, "Q")
    return float(struct.unpack(f"<{kind}", struct.pack(f"<{whole}", n & ((1 << 8 * size) - 1)))[0])


WORDS: Final[dict[str, Callable[..., float]]] = {
    "popc": lambda n: (n & _WORD).bit_count(),
    "popcll": lambda n: (n & _LONG).bit_count(),
    "clz": lambda n: 32 - (n & _WORD).bit_length(),
    "clzll": lambda n: 64 - (n & _LONG).bit_length(),
    "ffs": lambda n: _lowest(n & _WORD),
    "ffsll": lambda n: _lowest(n & _LONG),
    "fns": lambda n, base, offset: _nth_set(n & _WORD, base & 31, offset),
    "w_pack": lambda n, mask: _packed(n & _WORD, mask & _WORD),
    "brev": lambda n: _reversed(n, 32),
    "brevll": lambda n: _reversed(n, 64),
    "mulhi": lambda a, b: a * b >> 32,
    "umulhi": lambda a, b: (a & _WORD) * (b & _WORD) >> 32,
    "mul64hi": lambda a, b: a * b >> 64,
    "umul64hi": lambda a, b: (a & _LONG) * (b & _LONG) >> 64,
    "byte_perm": _permuted,
    "funnelshift_l": lambda a, b, n: _funnel(a, b, n, left=True, clamp=False),
    "funnelshift_lc": lambda a, b, n: _funnel(a, b, n, left=True, clamp=True),
    "funnelshift_r": lambda a, b, n: _funnel(a, b, n, left=False, clamp=False),
    "funnelshift_rc": lambda a, b, n: _funnel(a, b, n, left=False, clamp=True),
    "sad": lambda a, b, c: abs(a - b) + c & _WORD,
    "usad": lambda a, b, c: abs(a - b) + c & _WORD,
    "hadd": lambda a, b: a + b >> 1,
    "uhadd": lambda a, b: a + b >> 1,
    "rhadd": lambda a, b: a + b + 1 >> 1,
    "urhadd": lambda a, b: a + b + 1 >> 1,
    **{f"{t}2float_{r}": converter(SINGLE, r) for t in ("int", "uint", "ll", "ull") for r in DIRECTIONS},
    **{f"{t}2double_{r}": converter(DOUBLE, r) for t in ("int", "uint", "ll", "ull") for r in DIRECTIONS},
    "int_as_float": lambda n: _from_bits(n, "f"),
    "uint_as_float": lambda n: _from_bits(n, "f"),
    "longlong_as_double": lambda n: _from_bits(n, "d"),
    "hiloint2double": lambda high, low: _from_bits((high & _WORD) << 32 | (low & _WORD), "d"),
}
"""Functions of integers."""

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{f: getattr(np, f) for f in ("sqrt", "exp", "exp2", "expm1", "log2", "log10", "log1p", "hypot")},
    **{f: getattr(np, f) for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "rint")},
    **{f: getattr(np, f) for f in ("fmin", "fmax", "fmod", "copysign", "nextafter")},
    **{f: getattr(np, f"arc{f[1:]}") for f in ("asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh")},
    **operations(),
    "log": np.log,
    "pow": np.power,
    "exp10": lambda x: np.power(10.0, x),
    "fabs": np.abs,
    "abs": np.abs,
    "round": _round,
    "nearbyint": np.rint,
    "lrint": np.rint,
    "llrint": np.rint,
    "lround": _round,
    "llround": _round,
    "rsqrt": lambda x: divided(1.0, float(np.sqrt(x))),
    "cbrt": _cube_root,
    "rcbrt": lambda x: divided(1.0, _cube_root(x)),
    "fdivide": divided,
    "fdim": _positive_difference,
    "remainder": _remainder,
    "remquo": _remainder,
    "remquo_quotient": _quotient,
    "nextafterf": _next_single,
    "ldexp": _scaled,
    "scalbn": _scaled,
    "scalbln": _scaled,
    "logb": _exponent,
    "ilogb": _ilogb,
    "frexp": lambda x: math.frexp(x)[0],
    "frexp_exponent": lambda x: math.frexp(x)[1],
    "modf": _modf,
    "modf_whole": np.trunc,
    "sinpi": lambda x: _half_turns(math.sin, x),
    "cospi": lambda x: _half_turns(math.cos, x),
    "rhypot": lambda *xs: divided(1.0, _length(*xs)),
    "norm3d": _length,
    "rnorm3d": lambda *xs: divided(1.0, _length(*xs)),
    "erf": math.erf,
    "erfc": math.erfc,
    "normcdf": _normal,
    "lgamma": _log_gamma,
    "tgamma": _gamma,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "finite": math.isfinite,
    "signbit": lambda x: math.copysign(1.0, x) < 0,
    "saturate": _saturated,
    "float_as_int": lambda x: _signed(_float_bits(x)),
    "float_as_uint": _float_bits,
    "double_as_longlong": lambda x: _signed(_double_bits(x), 64),
    "double2hiint": lambda x: _signed(_double_bits(x) >> 32),
    "double2loint": lambda x: _signed(_double_bits(x)),
    **{f"double2float_{r}": converter(SINGLE, r) for r in DIRECTIONS},
    **{f"float2{name}_{r}": converter(f, r) for name, f in HALVES.items() for r in DIRECTIONS},
    **{name: converter(f, "rn") for name, f in HALVES.items()},
    "given": lambda *_: 1,
    "part": lambda whole, _: whole,
    "either": lambda first, *_: first,
    "pack": lambda first, *_: first,
}
"""C's names of the functions on `double`; `sqrtf` and the fast `__sqrtf` are the same function, rounded to float, but
for those that have an entry of their own. A structure that is accessed at once, of which `part` gives a scalar, has the
value of its first one here."""


def function(name: str, single: bool) -> Callable[..., float] | None:
    """The value of a function, by its name without `__`; `single` where it is rounded to float. None where it is not
    known. It raises Untold where it is not known of an argument."""
    for key in (*((f"{name}f",) if single else ()), name, name.removesuffix("f")):
        if key in WORDS:
            return _of_words(WORDS[key])
        if key in FUNCTIONS:
            return _of_reals(FUNCTIONS[key])
    return None


def _of_reals(f: Callable[..., Any]) -> Callable[..., float]:
    return lambda *args: _known(f(*map(float, args)))


def _of_words(f: Callable[..., float]) -> Callable[..., float]:
    return lambda *args: _known(f(*map(_integer, args)))


def _integer(x: float) -> int:
    """An integer, which may come as a double: a large one may have been rounded."""
    if isinstance(x, int):
        return x
    if not math.isfinite(x) or abs(x) >= EXACT:
        raise Untold
    return int(x)


def _known(x: float) -> float:
    """The value of a function, as a double."""
    if isinstance(x, int) and abs(x) > EXACT:
        raise Untold
    return float(x)
