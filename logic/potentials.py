"""Potentials Q = q0 + sum q_i * b_i with exact rational coefficients (section 6, p. 18, with two more base functions).

    b ::= x | b * b | max(0, p) | floor(p / k) | floor(log2(p)) | p op p

`|[a, b]|` is max(0, b - a), ceil(p/k) is -floor(-p/k), max and min come from max(0, .), and `p op p` is what one of
`OPERATED` gives on integers where no other base function says it: n / m, n & m. A potential is kept in a
canonical form: a sorted sum of monomials over atoms, with every atom integer-valued on integer stores, so two
potentials that are equal by the laws of polynomials, by scaling inside max(0, .) or by moving whole multiples out of
floor(. / k) are equal as data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from math import gcd, lcm
from operator import mul
from typing import Final

from logic.operators import denote
from logic.polynomials import Rational, difference, plain, product, replaced, scaled, total
from logic.syntax import Const, Expr, Op, Param, Tid, Var

Leaf = Var | Param | Tid


@dataclass(frozen=True, slots=True)
class Sym:
    """The value of a variable, a parameter or (inside side conditions only) tid."""

    leaf: Leaf

    def __hash__(self) -> int:
        return hash(self.leaf)


@dataclass(frozen=True, slots=True)
class Max0:
    """max(0, arg); arg has coprime integer coefficients."""

    arg: Poly

    def __hash__(self) -> int:
        return ~hash(self.arg)


@dataclass(frozen=True, slots=True)
class Floor:
    """floor(arg / k); arg has coefficients in 0 .. k-1 that share no factor with k."""

    arg: Poly
    k: int


@dataclass(frozen=True, slots=True)
class Log2:
    """floor(log2(arg)), and 0 where arg < 1; arg has integer coefficients."""

    arg: Poly


OPERATED: Final = ("/", ">>", "&", "|", "^")
"""The operators that `Apply` has: `a % b` is `a - b * (a / b)`, whatever b is."""

ELEMENT: Final = "elem:"
"""The prefix of the operators that give the elements of a stable array: the array's name follows."""


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator's value on integers (`logic.operators`), or an element of a stable array (`logic.contracts`). Its
    operands have integer coefficients, and are not such that another base function says it."""

    op: str
    args: tuple[Poly, ...]


Atom = Sym | Max0 | Floor | Log2 | Apply
Monomial = tuple[Atom, ...]


@dataclass(frozen=True)
class Poly:
    """A potential in canonical form: terms sorted, no zero coefficient. Build with the functions of this module, that
    make ints of whole coefficients.

    >>> n, x = sym(Param("n")), sym(Var("x"))
    >>> print(n * 2 + x * n - 3)
    2*n + n*x - 3
    >>> (n + 1 - n).is_constant, (n + 1 - n).constant
    (True, Fraction(1, 1))
    >>> n + x == x + n
    True
    """

    terms: tuple[tuple[Monomial, Rational], ...]

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        """The terms alone: a hash is no good in another process."""
        return {"terms": self.terms}

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    @cached_property
    def key(self) -> str:
        """The text by which terms with this inside are sorted."""
        return "+".join(f"{c}*{'*'.join(map(_key_atom, m))}" for m, c in self.terms)

    @cached_property
    def leaves(self) -> frozenset[Leaf]:
        """As the function of this name."""
        return frozenset(leaf for m, _ in self.terms for a in m for leaf in _leaves_of(a))

    def __add__(self, other: Poly | int | Fraction) -> Poly:
        return of_terms((*self.terms, *_lift(other).terms))

    def __sub__(self, other: Poly | int | Fraction) -> Poly:
        return _sorted(difference(self.terms, _lift(other).terms))

    def __mul__(self, other: Poly | int | Fraction) -> Poly:
        if isinstance(other, Poly):
            return of_terms(product(self.terms, other.terms, _times))
        return Poly(tuple((m, plain(c)) for m, c in scaled(self.terms, other))) if other else Poly(())

    @property
    def constant(self) -> Fraction:
        """The coefficient of the empty monomial."""
        return Fraction(self.terms[0][1]) if self.terms and not self.terms[0][0] else Fraction(0)

    @property
    def is_constant(self) -> bool:
        """Whether no term has an atom."""
        return all(not m for m, _ in self.terms)

    def __str__(self) -> str:
        from logic.potentials_as_text import show

        return show(self)


def _key_atom(a: Atom) -> str:
    match a:
        case Sym(leaf):
            return leaf.name
        case Max0(arg):
            return f"~max({arg.key})"
        case Floor(arg, k):
            return f"~floor({arg.key}/{k})"
        case Log2(arg):
            return f"~log2({arg.key})"
        case Apply(op, args):
            return f"~op({args[0].key}){op}({args[1].key})" if len(args) > 1 else f"~{op}({args[0].key})"


def _leaves_of(a: Atom) -> Iterable[Leaf]:
    match a:
        case Sym(leaf):
            return (leaf,)
        case Apply(_, args):
            return frozenset().union(*(p.leaves for p in args))
    return a.arg.leaves


def _order(term: tuple[Monomial, Rational]) -> tuple[int, list[str]]:
    return len(term[0]), [_key_atom(a) for a in term[0]]


def _times(m: Monomial, n: Monomial) -> Monomial:
    return tuple(sorted((*m, *n), key=_key_atom)) if m and n else m or n


def of_terms(terms: Iterable[tuple[Monomial, Rational]]) -> Poly:
    """The sum of terms, in canonical form; the atoms in them are in theirs."""
    return _sorted(total(terms))


def _sorted(terms: dict[Monomial, Rational]) -> Poly:
    kept = [(m, plain(c)) for m, c in terms.items() if c]
    return Poly(tuple(sorted(kept, key=_order) if len(kept) > 1 else kept))


def _lift(p: Poly | int | Fraction) -> Poly:
    return p if isinstance(p, Poly) else const(p)


def const(c: int | Fraction) -> Poly:
    """The constant potential c.

    >>> print(const(Fraction(1, 2)))
    1/2
    >>> const(0).terms
    ()
    """
    return Poly((((), plain(c)),)) if c else Poly(())


ZERO: Final = const(0)
ONE: Final = const(1)


def sym(leaf: Leaf) -> Poly:
    """The potential that is the value of a variable, parameter or tid; a potential has no place in a text.

    >>> print(sym(Var("x")) * 3)
    3*x
    """
    return Poly((((Sym(leaf if leaf.loc is None else replace(leaf, loc=None)),), 1),))


def atom(a: Atom) -> Poly:
    """The potential that is one atom."""
    return Poly((((a,), 1),))


def _content(p: Poly) -> Fraction:
    """The positive rational c with p = c * (a polynomial with coprime integer coefficients), for p other than 0."""
    return Fraction(gcd(*(c.numerator for _, c in p.terms)), lcm(*(c.denominator for _, c in p.terms)))


def max0(p: Poly) -> Poly:
    """max(0, p)

    >>> n = sym(Param("n"))
    >>> print(max0(n - 1))
    max(0, n - 1)
    >>> print(max0(const(-2)), max0(const(2)))
    0 2
    >>> print(max0(n * 4 - 8))
    4*max(0, n - 2)
    >>> max0(max0(n)) == max0(n)
    True
    """
    if p.is_constant:
        return const(max(Fraction(0), p.constant))
    if len(p.terms) == 1 and len(p.terms[0][0]) == 1 and isinstance(p.terms[0][0][0], Max0):
        return p if p.terms[0][1] > 0 else ZERO
    content = _content(p)
    return atom(Max0(p * (1 / content))) * content


def maximum(p: Poly, q: Poly) -> Poly:
    """max(p, q)

    >>> n, m = sym(Param("n")), sym(Param("m"))
    >>> evaluate(maximum(n, m), {Param("n"): 3, Param("m"): 5})
    Fraction(5, 1)
    """
    return p + max0(q - p)


def minimum(p: Poly, q: Poly) -> Poly:
    """min(p, q)

    >>> n, m = sym(Param("n")), sym(Param("m"))
    >>> evaluate(minimum(n, m), {Param("n"): 3, Param("m"): 5})
    Fraction(3, 1)
    >>> print(minimum(n, const(8)))
    min(n, 8)
    """
    return p - max0(p - q)


def interval(a: Poly, b: Poly) -> Poly:
    """|[a, b]| = max(0, b - a), the paper's measure of the distance from a up to b.

    >>> print(interval(sym(Var("i")), sym(Param("n"))))
    max(0, n - i)
    >>> print(interval(const(2), const(5)), interval(const(5), const(2)))
    3 0
    """
    return max0(b - a)


def floor_div(p: Poly, k: int) -> Poly:
    """floor(p / k) for a positive integer k: p and k are scaled alike until p's coefficients are integers.

    Raises ValueError when k < 1.

    >>> n = sym(Param("n"))
    >>> print(floor_div(n, 32))
    floor(n/32)
    >>> print(floor_div(n * 4, 8))
    floor(n/2)
    >>> print(floor_div(n + 64, 32))
    2 + floor(n/32)
    >>> print(floor_div(const(-1), 4))
    -1
    >>> floor_div(n, 0)
    Traceback (most recent call last):
        ...
    ValueError: floor(p / k) needs a positive integer k
    """
    if k < 1:
        raise ValueError("floor(p / k) needs a positive integer k")
    scale = lcm(*(c.denominator for _, c in p.terms)) if p.terms else 1
    p, k = p * scale, k * scale
    whole = of_terms((m, c.numerator // k) for m, c in p.terms)
    rest = p - whole * k
    g = gcd(k, *(c.numerator for m, c in rest.terms if m))
    rest = of_terms((m, c.numerator // g) for m, c in rest.terms)
    k //= g
    if rest.is_constant or k == 1:
        return whole + (rest if k == 1 else const(rest.constant.numerator // k))
    return whole + atom(Floor(rest, k))


def ceil_div(p: Poly, k: int) -> Poly:
    """ceil(p / k) for a positive integer k.

    >>> n = sym(Param("n"))
    >>> print(ceil_div(n, 32))
    ceil(n/32)
    >>> print(ceil_div(n - 32, 32))
    ceil(n/32) - 1
    >>> print(ceil_div(const(33), 32))
    2
    """
    return floor_div(p * -1, k) * -1


def log2(p: Poly) -> Poly:
    """floor(log2(p)), 0 where p < 1. Raises ValueError unless p has integer coefficients.

    >>> print(log2(const(1)), log2(const(7)), log2(const(8)), log2(const(-3)))
    0 2 3 0
    >>> print(log2(sym(Param("n"))))
    log2(n)
    >>> log2(sym(Param("n")) * Fraction(1, 2))
    Traceback (most recent call last):
        ...
    ValueError: log2 needs integer coefficients
    """
    if any(c.denominator != 1 for _, c in p.terms):
        raise ValueError("log2 needs integer coefficients")
    if p.is_constant:
        return const(max(1, int(p.constant)).bit_length() - 1)
    return atom(Log2(p))


def element_of(op: str, index: Poly) -> Poly:
    """The element of a stable array, `elem:A`, at an index. Raises ValueError for one that is no integer."""
    if any(c.denominator != 1 for _, c in index.terms) or not op.startswith(ELEMENT):
        raise ValueError("an index is an integer")
    return atom(Apply(op, (index,)))


def operated(op: str, p: Poly, q: Poly) -> Poly:
    """p op q for one of OPERATED, or %, on integers. Raises ValueError for another operator, or operands without
    integer coefficients.

    >>> n, m = sym(Param("n")), sym(Param("m"))
    >>> print(operated("/", n, m), operated("/", const(-7), const(2)), operated(">>", n, const(3)))
    trunc(n/m) -3 floor(n/8)
    >>> print(operated("%", n, m))
    n - m*trunc(n/m)
    >>> operated("&", n * Fraction(1, 2), m)
    Traceback (most recent call last):
        ...
    ValueError: operands of & are integers
    """
    if any(c.denominator != 1 for side in (p, q) for _, c in side.terms):
        raise ValueError(f"operands of {op} are integers")
    found = _binary(op, p, q)
    if found is not None:
        return found
    if op == "%":
        return p - q * operated("/", p, q)
    if op not in OPERATED:
        raise ValueError(f"potentials have no {op}")
    if p.is_constant and q.is_constant:
        return const(int(denote(op, (int(p.constant), int(q.constant)))))
    return atom(Apply(op, (p, q)))


def applied(op: str, *args: Poly) -> Poly:
    """The value of an `Apply` with these operands. Raises ValueError."""
    if len(args) == 1:
        return element_of(op, args[0])
    p, q = args
    return operated(op, p, q)


def within(a: Atom, image: Callable[[Poly], Poly]) -> Poly:
    """An atom with the image of each potential inside it, in canonical form again.

    >>> n = sym(Param("n"))
    >>> print(within(Max0(n), lambda p: p + 2))
    max(0, 2 + n)
    """
    match a:
        case Sym():
            return atom(a)
        case Max0(arg):
            return max0(image(arg))
        case Floor(arg, k):
            return floor_div(image(arg), k)
        case Log2(arg):
            return log2(image(arg))
        case Apply(op, args):
            return applied(op, *map(image, args))


def _map_atom(a: Atom, values: Mapping[Leaf, Poly]) -> Poly:
    if isinstance(a, Sym):
        return values.get(a.leaf, atom(a))
    return within(a, lambda p: _rebuilt(p, values))


def substitute(p: Poly, values: Mapping[Leaf, Poly]) -> Poly:
    """p with integer-valued polynomials in place of leaves, all at once, in canonical form again.

    >>> n, i = sym(Param("n")), Var("i")
    >>> print(substitute(interval(sym(i), n), {i: sym(i) + 1}))
    max(0, n - 1 - i)
    >>> print(substitute(ceil_div(n, 32), {Param("n"): n - 32}))
    ceil(n/32) - 1
    >>> print(substitute(sym(i) * n, {i: const(3)}))
    3*n
    """
    return p if leaves(p).isdisjoint(values) else _rebuilt(p, values)


def is_canonical(p: Poly) -> bool:
    """Whether p is what the constructors of this module would have made of its terms, with exact numbers throughout.

    >>> n = sym(Param("n"))
    >>> is_canonical(floor_div(n, 4))
    True
    >>> is_canonical(atom(Floor(n * 2, 4)))
    False
    """
    try:
        return _exact(p) and _rebuilt(p, {}) == p
    except (ValueError, ZeroDivisionError):
        return False


def _exact(p: Poly) -> bool:
    """Whether coefficients are ints or Fractions and every k is an int: 1.5 == Fraction(3, 2), but floats round."""
    inner = [a for m, _ in p.terms for a in m if not isinstance(a, Sym)]
    return all(type(c) is int or type(c) is Fraction for _, c in p.terms) and all(
        all(map(_exact, operands(a))) and (not isinstance(a, Floor) or type(a.k) is int) for a in inner
    )


def operands(a: Atom) -> tuple[Poly, ...]:
    """The potentials inside an atom."""
    match a:
        case Sym():
            return ()
        case Apply(_, args):
            return args
    return (a.arg,)


def _rebuilt(p: Poly, values: Mapping[Leaf, Poly]) -> Poly:
    return mapped(p, lambda a: _map_atom(a, values))


def mapped(p: Poly, image: Callable[[Atom], Poly]) -> Poly:
    """p with the image of each atom in its place, in canonical form again; what is inside atoms is for `image`.

    >>> n = sym(Param("n"))
    >>> print(mapped(max0(n) + 1, lambda a: a.arg if isinstance(a, Max0) else atom(a)))
    1 + n
    """
    return of_terms(replaced(p.terms, lambda m: reduce(mul, map(image, m)).terms if m else ONE.terms))


def atoms(p: Poly) -> Iterator[Atom]:
    """Every atom of p, those inside others first.

    >>> [type(a).__name__ for a in atoms(floor_div(max0(sym(Param("n"))), 2))]
    ['Sym', 'Max0', 'Floor']
    """
    for m, _ in p.terms:
        for a in m:
            for inner in operands(a):
                yield from atoms(inner)
            yield a


def is_closed(p: Poly | None) -> bool:
    """Whether there is a potential, and no operator in it that no closed form says.

    >>> n = sym(Param("n"))
    >>> is_closed(floor_div(n, 4)), is_closed(operated("/", n, n)), is_closed(None)
    (True, False, False)
    """
    return p is not None and not any(isinstance(a, Apply) and a.op in OPERATED for a in atoms(p))


def leaves(p: Poly) -> frozenset[Leaf]:
    """The variables, parameters and tids in p.

    >>> sorted(x.name for x in leaves(max0(sym(Var("x")) - sym(Param("n")))))
    ['n', 'x']
    """
    return p.leaves


def variables(p: Poly) -> frozenset[str]:
    """vars(Q) without the parameters.

    >>> sorted(variables(max0(sym(Var("x")) - sym(Param("n")))))
    ['x']
    """
    return frozenset(x.name for x in leaves(p) if isinstance(x, Var))


Element = Callable[[str, int], int]
"""The element of an array at an index."""


def _unknown(array: str, index: int) -> int:
    raise KeyError(f"{array}[{index}]")


def evaluate(p: Poly, store: Mapping[Leaf, int], element: Element = _unknown) -> Fraction:
    """Q(sigma), exactly. Raises KeyError for a leaf, or an element of an array, without a value.

    >>> n = sym(Param("n"))
    >>> evaluate(ceil_div(n, 32) + max0(n - 3), {Param("n"): 65})
    Fraction(65, 1)
    >>> evaluate(n * Fraction(1, 3), {Param("n"): 2})
    Fraction(2, 3)
    >>> evaluate(n, {})
    Traceback (most recent call last):
        ...
    KeyError: Param(name='n')
    """
    return Fraction(_evaluated(p, store, element))


def _evaluated(p: Poly, store: Mapping[Leaf, int], element: Element) -> Rational:
    found: Rational = 0
    for m, c in p.terms:
        for a in m:
            c *= _value(a, store, element)
        found += c
    return found


def _value(a: Atom, store: Mapping[Leaf, int], element: Element) -> Rational:
    match a:
        case Sym(leaf):
            return store[leaf]
        case Max0(arg):
            return max(0, _evaluated(arg, store, element))
        case Floor(arg, k):
            return _evaluated(arg, store, element) // k
        case Log2(arg):
            return max(1, int(_evaluated(arg, store, element))).bit_length() - 1
        case Apply(op, args):
            values = tuple(int(_evaluated(p, store, element)) for p in args)
            if op.startswith(ELEMENT):
                return element(op.removeprefix(ELEMENT), *values)
            return int(denote(op, values))


MAX_WRITTEN: Final = 1 << 12


@lru_cache(maxsize=2**14)
def of_expr(e: Expr) -> Poly | None:
    """The integer expression e as a potential, or None where the base functions cannot say it, or not in MAX_WRITTEN
    leaves: a chain of minima is twice as long with each.

    C's division by a constant truncates: a/k = floor(max(0,a)/k) - floor(max(0,-a)/k).

    >>> n = Param("n")
    >>> print(of_expr(Op("+", (n, Const(1)))))
    1 + n
    >>> print(of_expr(Op("<<", (n, Const(3)))))
    8*n
    >>> print(of_expr(Op("abs", (n,))))
    max(0, -n) + max(0, n)
    >>> of_expr(Op("~", (n,))) is None
    True
    >>> evaluate(of_expr(Op("/", (n, Const(2)))), {n: -7})
    Fraction(-3, 1)
    >>> evaluate(of_expr(Op("&", (n, Const(7)))), {n: -1})
    Fraction(7, 1)
    """
    return _of_expr(e)


def _of_expr(e: Expr) -> Poly | None:
    match e:
        case Var() | Param() | Tid():
            return sym(e)
        case Const(value) if not isinstance(value, str | bool):
            return const(value)
        case Op("neg", (a,)):
            p = _of_expr(a)
            return None if p is None else p * -1
        case Op("abs", (a,)):
            p = _of_expr(a)
            return None if p is None or _written(p) > MAX_WRITTEN else max0(p) + max0(p * -1)
        case Op(op, (a,)) if op.startswith(ELEMENT):
            p = _of_expr(a)
            return None if p is None or _written(p) > MAX_WRITTEN else element_of(op, p)
        case Op(op, (a, b)):
            p, q = _of_expr(a), _of_expr(b)
            if p is None or q is None or (op == "*" and len(p.terms) * len(q.terms) > MAX_WRITTEN):
                return None
            found = operated(op, p, q) if op in (*OPERATED, "%") else _binary(op, p, q)
            return None if found is None or _written(found) > MAX_WRITTEN else found
    return None


def _written(p: Poly) -> int:
    """The number of terms and leaves of p, written out."""
    parts = (1 + sum(map(_written, operands(a))) for m, _ in p.terms for a in m)
    return len(p.terms) + sum(parts)


def _binary(op: str, p: Poly, q: Poly) -> Poly | None:
    k = int(q.constant) if q.is_constant else 0
    match op:
        case "+":
            return p + q
        case "-":
            return p - q
        case "*":
            return p * q
        case "min":
            return minimum(p, q)
        case "max":
            return maximum(p, q)
        case "/" if k > 0:
            return floor_div(max0(p), k) - floor_div(max0(p * -1), k)
        case "%" if k > 0:
            return p - (floor_div(max0(p), k) - floor_div(max0(p * -1), k)) * k
        case "<<" if q.is_constant and 0 <= k < 64:
            return p * (1 << k)
        case ">>" if q.is_constant and 0 <= k < 64:
            return floor_div(p, 1 << k)
        case "&" if k > 0 and k & (k + 1) == 0:
            return p - floor_div(p, k + 1) * (k + 1)
    return None
