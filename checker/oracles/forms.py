"""Integer polynomials over uniform atoms: what an expression is worth at one lane.

An atom stands for one integer that all lanes of the warp share: a parameter, a uniform local, or an operator applied
to such values that polynomials cannot say. Equal keys mean equal values; different keys promise nothing.
Booleans are the integers 0 and 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from math import gcd, prod

from logic import polynomials
from logic.operators import denote

Mono = tuple[int, ...]
"""A product of atoms, by number, sorted."""


@dataclass(frozen=True, slots=True)
class Form:
    """terms + const: at least one term, sorted, no coefficient 0. A constant is a plain int, never a Form."""

    terms: tuple[tuple[Mono, int], ...]
    const: int


Number = int | Form

Interval = tuple[int | None, int | None]
"""Inclusive bounds, None where unknown."""

MAX_TERMS = 64
"""Terms of a product, before like ones are collected."""
MAX_SHIFT = 64

LOW = 1 << 5
"""The bits of `a & b`, `a ^ b` and `a | b` below are told from the others: they say which lane of a warp, or which
bank."""


def terms_of(a: Number) -> tuple[tuple[Mono, int], ...]:
    return () if isinstance(a, int) else a.terms


def const_of(a: Number) -> int:
    return a if isinstance(a, int) else a.const


def _form(terms: Iterable[tuple[Mono, int]], const: int) -> Number:
    kept = tuple(sorted((m, c) for m, c in polynomials.total(terms).items() if c))
    return Form(kept, const) if kept else const


def plus(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return _form((*terms_of(a), *terms_of(b)), const_of(a) + const_of(b))


def scaled(a: Number, k: int) -> Number:
    if isinstance(a, int):
        return a * k
    return Form(tuple(polynomials.scaled(a.terms, k)), a.const * k) if k else 0


def minus(a: Number, b: Number) -> Number:
    return plus(a, scaled(b, -1))


def times(a: Number, b: Number) -> Number:
    if isinstance(a, int):
        return scaled(b, a)
    if isinstance(b, int):
        return scaled(a, b)
    left, right = (*a.terms, ((), a.const)), (*b.terms, ((), b.const))
    products = polynomials.product(left, right, lambda m, n: tuple(sorted((*m, *n))))
    return _form((t for t in products if t[0]), a.const * b.const)


def _small(a: Number, b: Number) -> bool:
    """Whether a product has few enough terms."""
    return (len(terms_of(a)) + 1) * (len(terms_of(b)) + 1) <= MAX_TERMS


def content(a: Form) -> int:
    """The greatest common divisor of the coefficients, the constant aside."""
    return gcd(*(c for _, c in a.terms))


def split(a: Number, k: int) -> tuple[Number, Number]:
    """(q, r) with a = k*q + r, all coefficients of r in 0 .. k-1; k positive."""
    rest = _form(((m, c % k) for m, c in terms_of(a)), const_of(a) % k)
    whole = _form(((m, c // k) for m, c in terms_of(a)), const_of(a) // k)
    return whole, rest


def _row(a: Form) -> tuple[tuple[tuple[Mono, int], ...], int]:
    """The terms with coprime coefficients, the first positive, and the factor that makes a's terms of them."""
    factor = content(a) * (1 if a.terms[0][1] > 0 else -1)
    return tuple((m, c // factor) for m, c in a.terms), factor


@dataclass
class Atoms:
    """The atoms met so far, with what is known of their size."""

    numbers: dict[Hashable, int] = field(default_factory=dict)
    keys: list[Hashable] = field(default_factory=list)
    sizes: list[Interval] = field(default_factory=list)
    rows: dict[tuple[tuple[Mono, int], ...], Interval] = field(default_factory=dict)
    """Bounds of sums of several atoms, as `_row` writes them."""

    def atom(self, key: Hashable, low: int | None = None, high: int | None = None) -> Number:
        """The atom with this key; it is a constant where its bounds meet."""
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.keys)
            self.keys.append(key)
            self.sizes.append((low, high))
        else:
            self.narrow(number, low, high)
        low, high = self.sizes[number]
        return low if low is not None and low == high else Form((((number,), 1),), 0)

    def narrow(self, number: int, low: int | None, high: int | None) -> None:
        """Take in that the atom lies within these bounds too."""
        lo, hi = self.sizes[number]
        if low is not None and (lo is None or low > lo):
            lo = low
        if high is not None and (hi is None or high < hi):
            hi = high
        self.sizes[number] = (lo, hi)

    def _size(self, m: Mono) -> Interval:
        if len(m) == 1:
            return self.sizes[m[0]]
        lows, highs = zip(*(self.sizes[a] for a in m), strict=True)
        if any(low is None or low < 0 for low in lows):
            return None, None
        return prod(lows), None if None in highs else prod(highs)

    def bounds(self, a: Number) -> Interval:
        """Bounds of a's value by interval arithmetic."""
        if isinstance(a, int):
            return a, a
        low: int | None = a.const
        high: int | None = a.const
        for m, c in a.terms:
            lo, hi = self._size(m)
            if c < 0:
                lo, hi = hi, lo
            low = None if low is None or lo is None else low + c * lo
            high = None if high is None or hi is None else high + c * hi
        if len(a.terms) > 1 and self.rows:
            row, factor = _row(a)
            lo, hi = self.rows.get(row, (None, None))
            if factor < 0:
                lo, hi = hi, lo
            low = low if lo is None else max(a.const + factor * lo, low if low is not None else a.const + factor * lo)
            high = (
                high if hi is None else min(a.const + factor * hi, high if high is not None else a.const + factor * hi)
            )
        return low, high

    def apart(self, a: Number, divisor: Number = 1, sign: int = 1) -> tuple[int, int] | None:
        """Bounds of a difference whose terms are pairs f(p) - f(q), of an f that takes p and q no farther apart; None
        for all else. One divisor may be unknown, but for its sign."""
        low = high = const_of(a)
        down = [(m, -c) for m, c in terms_of(a) if c < 0]
        for m, c in terms_of(a):
            if c > 0:
                ends = [(e, i) for i, (n, d) in enumerate(down) if c == d and (e := self._pair(m, n, divisor, sign))]
                if not ends:
                    return None
                (least, most), i = min(ends, key=lambda found: found[0][1] - found[0][0])
                del down[i]
                low, high = low + c * least, high + c * most
        return None if down else (low, high)

    def _pair(self, m: Mono, n: Mono, divisor: Number, sign: int) -> tuple[int, int] | None:
        """Bounds of f(p) - f(q)."""
        if len(m) != 1 or len(n) != 1:
            return None
        match self.keys[m[0]], self.keys[n[0]]:
            case ("floor", Form() | int() as p, int() as k), ("floor", Form() | int() as q, l) if k == l:
                ends = self.apart(minus(p, q), divisor, sign)
                return ends and (ends[0] // k, -(-ends[1] // k))
            case ("/", Form() | int() as p, b), ("/", Form() | int() as q, c) if b == c:
                if not isinstance(b, int) and b != divisor:
                    return None
                ends = self.apart(scaled(minus(p, q), 1 if isinstance(b, int) else sign), divisor, sign)
                k = b if isinstance(b, int) else 1
                return ends and (min(0, ends[0] // k), max(0, -(-ends[1] // k)))
            case (
                ("min" | "max" as f, Form() | int() as p, Form() | int() as b),
                ("min" | "max" as g, Form() | int() as q, Form() | int() as c),
            ) if f == g:
                for x, y in ((p, b), (b, p)):
                    first, other = self.apart(minus(x, q), divisor, sign), self.apart(minus(y, c), divisor, sign)
                    if first and other:
                        return min(first[0], other[0]), max(first[1], other[1])
        return None

    def at_least(self, a: Number) -> None:
        """Take in that a >= 0: a's row gets a bound, and every atom of a the one that follows from the others'."""
        if isinstance(a, Form) and len(a.terms) > 1:
            row, factor = _row(a)
            lo, hi = self.rows.get(row, (None, None))
            if factor > 0:
                lo = max(-(a.const // factor), -(a.const // factor) if lo is None else lo)
            else:
                hi = min(a.const // -factor, a.const // -factor if hi is None else hi)
            self.rows[row] = lo, hi
        for m, c in terms_of(a):
            if len(m) != 1:
                continue
            _, rest = self.bounds(minus(a, Form(((m, c),), 0)))
            if rest is not None and c > 0:
                self.narrow(m[0], -(rest // c), None)
            elif rest is not None:
                self.narrow(m[0], None, rest // -c)

    def _key(self, a: Number) -> Hashable:
        """The key of the atom that a is, None for all else."""
        match a:
            case Form((((number,), 1),), 0):
                return self.keys[number]
        return None

    def hidden(self, a: Number) -> Iterator[tuple[str, int]]:
        """Leaves inside of operators in a, each with a power of two: if one is known modulo that, so may the result be,
        or that of more lanes be the same."""
        for key in (self.keys[atom] for m, _ in terms_of(a) for atom in m):
            parts: tuple[Form, ...]
            match key:
                case ("floor" | "residue", Form() as inside, int() as k):
                    parts, k = (inside,), gcd(k, LOW)
                case ("^" | "|" | "&", *both):
                    parts = tuple(v for v in both if isinstance(v, Form))
                    k = min([LOW, *(1 << max(c, -1 - c).bit_length() for c in both if isinstance(c, int))])
                case _:
                    continue
            for part in parts:
                yield from self.hidden(part)
                for m, c in part.terms:
                    match self.keys[m[0]]:
                        case ("leaf", str() as name) if len(m) == 1 and c % k:
                            yield name, k // gcd(k, c)
                        case ("run" as name, 1) if len(m) == 1 and c % k:
                            yield name, k // gcd(k, c)
                        case ("quotient", str() as name) if len(m) == 1 and c % k:  # of a leaf with a known residue
                            yield name, k

    # --- operators -----------------------------------------------------------------------------------------------

    def floor(self, a: Number, k: int) -> Number:
        """floor(a / k), k positive."""
        whole, rest = split(a, k)
        low, high = self.bounds(rest)
        low, high = (None if b is None else b // k for b in (low, high))
        if low is not None and low == high:
            return plus(whole, low)
        return plus(whole, self.atom(("floor", rest, k), low, high))

    def residue(self, a: Number, k: int) -> Number:
        """a - k * floor(a / k), in 0 .. k-1; k positive. A large one is written so: of what lanes add to it, sectors
        and banks see what they see of a."""
        _, rest = split(a, k)
        low, high = self.bounds(rest)
        if low is not None and high is not None and low // k == high // k:
            return minus(rest, low // k * k)
        if k <= LOW:
            return self.atom(("residue", rest, k), 0, k - 1)
        found = minus(rest, scaled(self.floor(rest, k), k))
        self.at_least(found)
        self.at_least(minus(k - 1, found))
        return found

    def _small(self, a: Number, b: Number) -> Interval:
        """Bounds of a / b and of a % b where neither is negative."""
        (low, high), (divisor, _) = self.bounds(a), self.bounds(b)
        return (0, high) if low is not None and low >= 0 and divisor is not None and divisor >= 0 else (None, None)

    def quotient(self, a: Number, b: Number) -> Number:
        """C's a / b: truncated toward zero, 0 for b = 0. (a / b) / c is a / (b*c), whatever they are."""
        match self._key(a):
            case ("/", Form() | int() as first, Form() | int() as second) if not isinstance(b, int):
                a, b = first, times(second, b)
        if not isinstance(b, int):
            return self.atom(("/", a, b), *self._small(a, b))
        if b == 0:
            return 0
        if b < 0:
            return scaled(self.quotient(a, -b), -1)
        low, high = self.bounds(a)
        whole, rest = split(a, b)
        if rest == 0:
            return whole
        if low is not None and low >= 0:
            return self.floor(a, b)
        if high is not None and high <= 0:
            return scaled(self.floor(scaled(a, -1), b), -1)
        return self.atom(("/", a, b))

    def remainder(self, a: Number, b: Number) -> Number:
        """C's a % b: the sign of a, a itself for b = 0; a - b * (a / b), so that it goes away beside b * (a / b)."""
        if not isinstance(b, int):
            found, (low, high) = minus(a, times(b, self.quotient(a, b))), self._small(a, b)
            if low is not None:
                self.at_least(found)
            if high is not None:
                self.at_least(minus(high, found))
            return found
        if b == 0:
            return a
        k = abs(b)
        low, high = self.bounds(a)
        if split(a, k)[1] == 0:
            return 0
        if low is not None and low >= 0:
            return self.residue(a, k)
        if high is not None and high <= 0:
            return scaled(self.residue(scaled(a, -1), k), -1)
        return self.atom(("%", a, k), 1 - k, k - 1)

    def nonnegative(self, a: Number) -> Number:
        """a >= 0, as 0 or 1 where the bounds decide it."""
        low, high = self.bounds(a)
        if low is not None and low >= 0:
            return 1
        if isinstance(a, int) or (high is not None and high < 0):
            return 0
        g = content(a)
        return self.atom((">=0", Form(tuple((m, c // g) for m, c in a.terms), a.const // g)), 0, 1)

    def zero(self, a: Number) -> Number:
        """a == 0, as 0 or 1 where bounds or divisibility decide it."""
        if isinstance(a, int):
            return int(a == 0)
        low, high = self.bounds(a)
        if (low is not None and low > 0) or (high is not None and high < 0) or a.const % content(a):
            return 0
        g = content(a) * (1 if a.terms[0][1] > 0 else -1)
        a = Form(tuple((m, c // g) for m, c in a.terms), a.const // g)
        # e % k == r for an e of unknown sign: e and e % k are congruent, and e % k == 0 says no more than that
        match self._key(plus(a, -a.const)):
            case ("%", Form() | int() as e, int() as k):
                same = self.zero(self.residue(plus(e, a.const), k))
                if same == 0 or a.const == 0:
                    return same
        return self.atom(("==0", a), 0, 1)

    def _bitwise(self, op: str, a: Number, b: Number) -> Number:
        if op == "&":
            (high, low), (other, rest) = split(a, LOW), split(b, LOW)
            if isinstance(low, int) and isinstance(rest, int):  # of the bits below LOW, and of all others
                return plus(scaled(self.apply(op, (high, other)), LOW), low & rest)
        if isinstance(a, int):
            a, b = b, a
        if isinstance(b, int) and b >= 0:
            k = 1 << b.bit_length()
            _, rest = split(a, k)
            if isinstance(rest, int) and (b or op == "&"):
                low = int(denote(op, (rest, b)))
                return low if op == "&" else plus(minus(a, rest), low)
            if op == "&" and b == k - 1:
                return self.residue(a, k)
        elif isinstance(b, int) and op == "&":  # a & ~c is what a & c leaves of a
            return minus(a, self._bitwise(op, a, -1 - b))
        if op == "&":
            highs = [high for low, high in (self.bounds(a), self.bounds(b)) if low is not None and low >= 0]
            if highs:
                return self.atom((op, a, b), 0, min((h for h in highs if h is not None), default=None))
            return self.atom((op, a, b))
        return self._parted(op, a, b)

    def _parted(self, op: str, a: Number, b: Number) -> Number:
        """a ^ b or a | b: of the bits below LOW in one part, and of all others, if a's or b's below are known."""
        highs, lows = [self.floor(v, LOW) for v in (a, b)], [self.residue(v, LOW) for v in (a, b)]
        known = tuple(v for v in lows if isinstance(v, int))
        if not known:
            return self.atom((op, a, b))
        low = self.atom((op, *lows), 0, LOW - 1) if len(known) < 2 else int(denote(op, known))
        some = [v for v in highs if v != 0]
        return plus(scaled(self.atom((op, *some)) if len(some) > 1 else some[0] if some else 0, LOW), low)

    def _extreme(self, op: str, a: Number, b: Number) -> Number:
        first = self.nonnegative(minus(a, b) if op == "max" else minus(b, a))
        if isinstance(first, int):
            return a if first else b
        return self.atom((op, a, b))

    def apply(self, op: str, args: tuple[Number, ...]) -> Number:
        """The value of an operator on integers and booleans (`logic.operators.denote`)."""
        if all(isinstance(a, int) for a in args) and not (op == "<<" and const_of(args[1]) > MAX_SHIFT):
            return int(denote(op, tuple(const_of(a) for a in args)))
        a = args[0]
        b = args[1] if len(args) > 1 else 0
        match op:
            case "neg":
                return scaled(a, -1)
            case "~":
                return minus(-1, a)
            case "!":
                return minus(1, a)
            case "int":
                return a
            case "bool":
                return minus(1, self.zero(a))
            case "+":
                return plus(a, b)
            case "-":
                return minus(a, b)
            case "*" if _small(a, b):
                return times(a, b)
            case "/":
                return self.quotient(a, b)
            case "%":
                return self.remainder(a, b)
            case "<<" if isinstance(b, int) and b <= MAX_SHIFT:
                return scaled(a, 1 << b) if b >= 0 else 0
            case ">>" if isinstance(b, int) and b <= MAX_SHIFT:
                return self.floor(a, 1 << b) if b >= 0 else 0
            case "&" | "|" | "^":
                return self._bitwise(op, a, b)
            case "min" | "max":
                return self._extreme(op, a, b)
            case "?:" if _small(a, more := minus(b, args[2])):  # a truth value is 0 or 1
                return plus(args[2], times(a, more))
            case "abs":
                return self._extreme("max", a, scaled(a, -1))
            case ">=":
                return self.nonnegative(minus(a, b))
            case "<=":
                return self.nonnegative(minus(b, a))
            case ">":
                return minus(1, self.nonnegative(minus(b, a)))
            case "<":
                return minus(1, self.nonnegative(minus(a, b)))
            case "==":
                return self.zero(minus(a, b))
            case "!=":
                return minus(1, self.zero(minus(a, b)))
        boolean = op in ("&&", "||")
        return self.atom((op, *args), *((0, 1) if boolean else (None, None)))
