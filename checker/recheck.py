"""The second checker: reads a certificate, alone, and says whether it proves what it claims.

It shares no code with the kernel that issued the certificate and imports the standard library only; the format is
docs/certificate.md. Rules are plain code here: take the values of the metavariables, build the premises and compare
them with what was proved, discharge the side conditions, return the conclusion. Every JSON value ends in a Report.

    python -I checker/recheck.py CERT.json [--format json]     exit 0 valid, 1 solver-backed, 3 invalid, 2 unreadable
"""

from __future__ import annotations

import argparse
import hashlib
import json
import operator
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import count
from math import gcd, lcm
from pathlib import Path
from typing import Any, Final, Literal

Json = Any
Rational = int | Fraction
Expr = tuple[Any, ...]
Type = tuple[str, str, int]
Atom = tuple[Any, ...]
Mono = frozenset[tuple[Atom, int]]
Poly = frozenset[tuple[Mono, Rational]]
Facts = frozenset[Expr]
Names = frozenset[str]
Judgement = tuple[Any, ...]

INT: Final[Type] = ("int", "int", 4)
BOOL: Final[Type] = ("bool", "bool", 1)
TRUE: Final[Expr] = ("const", BOOL, True)
FALSE: Final[Expr] = ("const", BOOL, False)
AXES: Final = ("x", "y", "z")
BUILTINS: Final = (*(f"{name}.{axis}" for name in ("blockIdx", "blockDim", "gridDim") for axis in AXES), "warpSize")
OPPOSITE: Final = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
ARITHMETIC: Final = frozenset(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "min", "max"))
BASE_ARITHMETIC: Final = frozenset(("+", "-", "*", "/", "min", "max"))

LARGEST: Final = 1 << 256  # of integers
MAX_SIZE: Final = 1 << 16  # of an element, in bytes
MAX_UNIT: Final = 1024  # of the hardware's numbers
MAX_BLOCK: Final = 1024  # threads along an axis
MAX_THREADS: Final = 2048  # larger blocks are not enumerated
MAX_TERMS: Final = 1 << 14  # a product of potentials that could have more terms is refused
MAX_STEPS: Final = 1 << 18  # of normalisation, in one certificate: nested conditions could grow without limit
MAX_DEGREE: Final = 64
MAX_LANE_TERMS: Final = 64  # a lane's value that has more is not known
MAX_CHAIN: Final = 16  # of definitions by definitions


class Bad(Exception):
    """The certificate does not prove its claim, in one sentence."""


def want(condition: bool, message: str) -> None:
    if not condition:
        raise Bad(message)


@dataclass(frozen=True, slots=True)
class Report:
    """`solver_backed` lists the side conditions that rest on an engine's word; `problem` says why it is invalid."""

    verdict: Literal["valid", "solver-backed", "invalid"]
    digest: str
    solver_backed: list[str]
    problem: str
    claim: str


# --- potentials: sets of (monomial, coefficient), a monomial being a set of (atom, exponent) --------------------------

ZERO: Final[Poly] = frozenset()


def total(terms: Iterable[tuple[Mono, Rational]]) -> Poly:
    sums: dict[Mono, Rational] = {}
    for mono, c in terms:
        sums[mono] = sums.get(mono, 0) + c
    return frozenset((mono, c) for mono, c in sums.items() if c)


def number(c: Rational) -> Poly:
    return frozenset({(frozenset(), c)}) if c else ZERO


def single(atom: Atom) -> Poly:
    return frozenset({(frozenset({(atom, 1)}), 1)})


def plus(*ps: Poly) -> Poly:
    return total(term for p in ps for term in p)


def scaled(p: Poly, c: Rational) -> Poly:
    return frozenset((mono, d * c) for mono, d in p) if c else ZERO


def minus(p: Poly, q: Poly) -> Poly:
    return plus(p, scaled(q, -1))


def times(p: Poly, q: Poly) -> Poly:
    want(len(p) * len(q) <= MAX_TERMS, "a product of potentials has too many terms")
    terms = []
    for mono, c in p:
        for other, d in q:
            powers = dict(mono)
            for atom, e in other:
                powers[atom] = powers.get(atom, 0) + e
            terms.append((frozenset(powers.items()), c * d))
    return total(terms)


def offset(p: Poly) -> Rational:
    return next((c for mono, c in p if not mono), 0)


def fixed(p: Poly) -> Rational | None:
    """The value of a constant potential."""
    return None if any(mono for mono, _ in p) else offset(p)


def integral(p: Poly) -> bool:
    return all(c.denominator == 1 for _, c in p)


def content(p: Poly) -> Fraction:
    """The positive c for which p / c has coprime integer coefficients; p is not 0."""
    return Fraction(gcd(*(c.numerator for _, c in p)), lcm(*(c.denominator for _, c in p)))


def max0(p: Poly) -> Poly:
    c = fixed(p)
    if c is not None:
        return number(max(0, c))
    if len(p) == 1:
        ((mono, c),) = p
        if len(mono) == 1 and all(atom[0] == "max0" and e == 1 for atom, e in mono):
            return p if c > 0 else ZERO
    size = content(p)
    return scaled(single(("max0", scaled(p, 1 / size))), size)


def floor_of(p: Poly, k: int) -> Poly:
    """floor(p / k), k positive."""
    scale = lcm(*(c.denominator for _, c in p))
    terms, k = [(mono, int(c * scale)) for mono, c in p], k * scale
    whole = total((mono, c // k) for mono, c in terms)
    rest = [(mono, c % k) for mono, c in terms if c % k]
    g = gcd(k, *(c for mono, c in rest if mono))
    left, k = total((mono, c // g) for mono, c in rest), k // g
    if k == 1:
        return plus(whole, left)
    c = fixed(left)
    return plus(whole, single(("floor", left, k)) if c is None else number(c // k))


def log2_of(p: Poly) -> Poly:
    want(integral(p), "log2 of a potential without integer coefficients")
    c = fixed(p)
    return single(("log2", p)) if c is None else number(max(1, int(c)).bit_length() - 1)


NORMAL: Final[dict[str, Callable[..., Poly]]] = {"max0": max0, "floor": floor_of, "log2": log2_of}
"""What a base function of a potential is in canonical form."""


def replaced(p: Poly, swap: dict[Atom, Poly]) -> Poly:
    """p with potentials in place of atoms, at every depth, normal again."""
    terms: list[Poly] = []
    for mono, c in p:
        term = number(c)
        for atom, e in mono:
            instead = _replaced_atom(atom, swap)
            for _ in range(e):
                term = times(term, instead)
        terms.append(term)
    return plus(*terms)


def _replaced_atom(atom: Atom, swap: dict[Atom, Poly]) -> Poly:
    if atom in swap or atom[0] not in NORMAL:
        return swap.get(atom, single(atom))
    new = NORMAL[atom[0]](replaced(atom[1], swap), *atom[2:])
    # a replacement inside may uncover a max0 to replace; never a variable, whose new value may mention it
    uncovered = any(a[0] == "max0" and a in swap for mono, _ in new for a, _ in mono)
    return replaced(new, swap) if uncovered else new


def variables(p: Poly) -> Names:
    found: set[str] = set()
    for mono, _ in p:
        for atom, _ in mono:
            found |= variables(atom[1]) if atom[0] in NORMAL else {atom[1]} if atom[0] == "var" else set()
    return frozenset(found)


def poly_of(e: Expr) -> Poly | None:
    """The integer expression e as a potential."""
    match e:
        case ("var" | "param" | "tid", _):
            return single(e)
        case ("const", ("int", _, _), value):
            return number(value)
        case ("op", "neg", a):
            return poly_of(("op", "-", ("const", INT, 0), a))
        case ("op", op, a, b):
            p, q = poly_of(a), poly_of(b)
            return None if p is None or q is None else _binary(op, p, q)
    return None


BINARY: Final[dict[str, Callable[[Poly, Poly], Poly]]] = {
    "+": plus,
    "-": minus,
    "*": times,
    "min": lambda p, q: minus(p, max0(minus(p, q))),
    "max": lambda p, q: plus(p, max0(minus(q, p))),
}


def _binary(op: str, p: Poly, q: Poly) -> Poly | None:
    k = int(fixed(q) or 0)
    if op in BINARY:
        return BINARY[op](p, q)
    if op in ("/", "%") and k > 0:
        quotient = minus(floor_of(max0(p), k), floor_of(max0(scaled(p, -1)), k))
        return quotient if op == "/" else minus(p, scaled(quotient, k))
    if op in ("<<", ">>") and 0 <= k < 64 and fixed(q) is not None:
        return scaled(p, 1 << k) if op == "<<" else floor_of(p, 1 << k)
    if op == "&" and k > 0 and k & (k + 1) == 0:
        return minus(p, scaled(floor_of(p, k + 1), k + 1))
    return None


# --- text for messages ------------------------------------------------------------------------------------------------


def show(e: Expr) -> str:
    """An expression, or an atom of a potential."""
    match e:
        case ("tid", axis):
            return f"tid.{axis}"
        case ("const", _, value):
            return str(value).lower() if isinstance(value, bool) else str(value)
        case ("op", op, a, b):
            return f"({show(a)} {op} {show(b)})"
        case ("op", op, *args):
            return f"{op}({', '.join(show(a) for a in args)})"
        case ("read", array, index):
            return f"{array}[{show(index)}]"
        case ("max0", q):
            return f"max(0, {show_poly(q)})"
        case ("floor", q, k):
            return f"floor(({show_poly(q)})/{k})"
        case ("log2", q):
            return f"log2({show_poly(q)})"
    return str(e[1])


def show_poly(p: Poly) -> str:
    def term_text(mono: Mono, c: Rational) -> str:
        parts = sorted(show(a) for a, e in mono for _ in range(e))
        return "*".join(([str(c)] if c != 1 or not parts else []) + parts)

    texts = sorted((len(mono), term_text(mono, c)) for mono, c in p)
    return " + ".join(text for _, text in texts) or "0"


def show_facts(p: Facts, x: Names = frozenset()) -> str:
    text = " && ".join(sorted(map(show, p))) or "true"
    return f"{text}; {{{', '.join(sorted(x))}}}" if x else text


# --- reading JSON -----------------------------------------------------------------------------------------------------


def record(value: Json, names: str, what: str) -> dict[str, Json]:
    want(isinstance(value, dict) and set(value) == set(names.split()), f"{what} has to have the fields {names}")
    return dict(value)


def array_of(value: Json, what: str, length: int | None = None) -> list[Json]:
    right = isinstance(value, list | tuple) and length in (None, len(value))
    want(right, f"{what} has to be a list" + ("" if length is None else f" of {length}"))
    return list(value)


def text_of(value: Json, what: str) -> str:
    want(isinstance(value, str), f"{what} has to be a text")
    return str(value)


def integer(value: Json, what: str, low: int = -LARGEST, high: int = LARGEST) -> int:
    right = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    want(right, f"{what} has to be an integer of the right size")
    return int(value)


def rational(value: Json, what: str, low: int | None = 0) -> Fraction:
    """A text `p` or `p/q` in lowest terms."""
    right = isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,80}(/[1-9][0-9]{0,79})?", value)
    want(bool(right), f"{what} has to be a rational")
    c = Fraction(value)
    want(str(c) == value, f"{what} has to be in lowest terms")
    want(low is None or c >= low, f"{what} has to be nonnegative")
    return c


def type_from(row: Json) -> Type:
    kind, name, size = array_of(row, "a type", 3)
    found = text_of(kind, "a type's kind"), text_of(name, "a type's name"), integer(size, "a type's size", 1, MAX_SIZE)
    want(found in (INT, BOOL) or (kind == "base" and name != ""), f"{row} is no type")
    return found


# --- expressions, conditions and prices -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Array:
    space: str
    elem: Type
    stride: int
    offset: int
    width: int


@dataclass(slots=True)
class Program:
    """Everything that the derivation is about, besides the body."""

    locals: dict[str, Type]
    params: dict[str, Type]
    arrays: dict[str, Array]
    fixed: dict[str, Fraction]
    counted: dict[str, tuple[Fraction, Fraction]]
    hardware: dict[str, int]
    block: list[int | None]
    grid: list[int | None]
    scope: str
    launch: Facts = frozenset()
    steps: int = 0

    def spend(self) -> None:
        self.steps += 1
        want(self.steps <= MAX_STEPS, "the conditions are too large")

    def price(self, constant: str) -> Poly:
        return number(self.fixed.get(constant, 0))

    def price_of(self, constant: str, n: int) -> Poly:
        slope, at_0 = self.counted.get(constant, (0, 0))
        return number(max(0, slope * n + at_0))

    def expression(self, row: Json, fresh: bool = False) -> Expr:
        """A well-typed expression. `fresh` allows the variables that stand for all values."""
        e = self._expression(row, fresh)
        self.type_of(e)
        return e

    def _expression(self, row: Json, fresh: bool) -> Expr:
        match array_of(row, "an expression"):
            case ["var" | "param" | "tid" as kind, str(name)]:
                want(fresh or not name.startswith("?"), f"'{name}' is reserved")
                return (kind, name)
            case ["const", kind, value]:
                t = type_from(kind)
                right = isinstance(value, {"int": int, "bool": bool}.get(t[0], str))
                want(right and (t == BOOL or not isinstance(value, bool)), f"{value!r:.80} is no {t[1]}")
                return ("const", t, integer(value, "a literal") if t == INT else value)
            case ["op", str(op), *args] if 1 <= len(args) <= 3:
                return ("op", op, *(self._expression(a, fresh) for a in args))
            case ["read", str(name), index]:
                return ("read", name, self._expression(index, fresh))
        raise Bad("an expression is not well formed")

    def type_of(self, e: Expr) -> Type:
        match e:
            case ("var", name) if re.fullmatch(r"\?[ib][0-9]*", name):
                return INT if name[1] == "i" else BOOL
            case ("var" | "param" as kind, name):
                known = self.locals if kind == "var" else self.params
                want(name in known, f"no {kind} is called '{name:.80}'")
                return known[name]
            case ("tid", axis):
                want(axis in AXES, "tid has the axes x, y and z")
                return INT
            case ("const", t, _):
                return t  # type: ignore[no-any-return]
            case ("read", name, index):
                want(name in self.arrays, f"no array is called '{name:.80}'")
                want(self.type_of(index) == INT, "an index is not an int")
                return self.arrays[name].elem
        found = _result(e[1], *map(self.type_of, e[2:]))
        if found is None:
            raise Bad(f"the operator '{e[1]:.80}' does not take these operands")
        return found

    def opaque(self, e: Expr) -> bool:
        """Whether e depends on array contents or base-typed values."""
        self.spend()
        if e[0] == "op":
            return _is_function(e[1]) or any(map(self.opaque, e[2:]))
        return e[0] == "read" or (e[0] != "tid" and self.type_of(e)[0] == "base")

    def abstract(self, e: Expr) -> Expr:
        """e with a variable of its own, which stands for all values, for each opaque part."""
        numbers = count()

        def walk(t: Expr) -> Expr:
            if t[0] == "op" and not _is_function(t[1]) and all(self.type_of(a)[0] != "base" for a in t[2:]):
                return ("op", t[1], *map(walk, t[2:]))
            if not self.opaque(t):
                return t
            return ("var", f"?{'b' if self.type_of(t) == BOOL else 'i'}{next(numbers)}")

        return walk(e)

    def conj(self, facts: Iterable[Expr]) -> Facts:
        """The conjunction in canonical form, as a set."""
        found: set[Expr] = set()
        todo = [self._nnf(fact, True) for fact in facts]
        while todo:
            e = todo.pop()
            if e[:2] == ("op", "&&"):
                todo += e[2:]
            elif e != TRUE:
                found.add(e)
        return frozenset(found)

    def _nnf(self, e: Expr, positive: bool) -> Expr:
        self.spend()
        match e:
            case ("op", "!", a):
                return self._nnf(a, not positive)
            case ("op", "&&" | "||" as op, a, b):
                return _join("&&" if (op == "&&") == positive else "||", self._nnf(a, positive), self._nnf(b, positive))
            case ("op", "?:", c, a, b):
                yes = _join("&&", self._nnf(c, True), self._nnf(a, positive))
                return _join("||", yes, _join("&&", self._nnf(c, False), self._nnf(b, positive)))
            case ("op", "bool", a):
                return self._nnf(("op", "!=", a, ("const", INT, 0)), positive)
            case ("const", _, bool(value)):
                return TRUE if value == positive else FALSE
        if self.opaque(e):
            return TRUE
        if positive:
            return e
        return ("op", OPPOSITE[e[1]], *e[2:]) if e[0] == "op" and e[1] in OPPOSITE else ("op", "!", e)

    def given(self, p: Facts, e: Expr, holds: bool = True) -> Facts:
        """P & e, or P & !e."""
        return self.conj((*p, e if holds else ("op", "!", e)))

    def assigned(self, p: Facts, var: str, e: Expr) -> Facts:
        """P[x <- e]"""
        value = self.abstract(e)

        def put(t: Expr) -> Expr:
            self.spend()
            if t[0] == "op":
                return ("op", t[1], *map(put, t[2:]))
            return value if t == ("var", var) else t

        return self.conj(map(put, p))

    def updated(self, q: Poly, var: str, e: Expr) -> Poly:
        """Q[x <- e]"""
        if var not in variables(q):
            return q
        value = poly_of(self.abstract(e))
        return replaced(q, {("var", var): single(("var", "?i")) if value is None else value})

    def potential(self, rows: Json, inside_proof: bool = False) -> Poly:
        """A potential in canonical form. tid and the variables that stand for all values occur in proofs only."""
        found: dict[Mono, Rational] = {}
        for row in array_of(rows, "a potential"):
            c, factors = array_of(row, "a term", 2)
            atoms = [self._atom(a, inside_proof) for a in array_of(factors, "a monomial")]
            want(len(atoms) <= MAX_DEGREE, "a monomial has too many factors")
            mono = frozenset(Counter(atoms).items())
            want(mono not in found, "a monomial occurs twice in a potential")
            found[mono] = rational(c, "a coefficient", None)
            want(found[mono] != 0, "a coefficient is 0")
        return frozenset(found.items())

    def _atom(self, row: Json, inside_proof: bool) -> Atom:
        kind, arg, *more = array_of(row, "a base function")
        if kind in ("var", "param", "tid"):
            leaf = self.expression(row, inside_proof)
            want(inside_proof or kind != "tid", "a potential depends on tid")
            want(self.type_of(leaf) == INT, f"a potential depends on '{leaf[1]:.80}', which is not an int")
            return leaf
        want(kind in NORMAL and len(more) == (kind == "floor"), "a base function is not known")
        p, divisors = self.potential(arg, inside_proof), [integer(k, "a divisor", 2) for k in more]
        want(kind == "max0" or integral(p), f"{kind} of a potential without integer coefficients")
        atom: Atom = (kind, p, *divisors)
        want(NORMAL[kind](p, *divisors) == single(atom), f"{kind} is not in canonical form")
        return atom


def _is_function(op: str) -> bool:
    return op.startswith(("call:", "as:"))


def _join(op: str, a: Expr, b: Expr) -> Expr:
    """a && b or a || b, simplified."""
    neutral, absorbing = (TRUE, FALSE) if op == "&&" else (FALSE, TRUE)
    if absorbing in (a, b):
        return absorbing
    return b if a == neutral else a if b == neutral else ("op", op, a, b)


def _result(op: str, *ts: Type) -> Type | None:
    """The type of an operator's result."""
    a, base = ts[0], ts[0][0] == "base"
    if base and op.startswith("call:") and len(op) > 5:
        return a
    match ts:
        case (_,) if op in ("neg", "abs", "~", "!"):
            return a if a == (BOOL if op == "!" else INT) or (base and op in ("neg", "abs")) else None
        case (_,) if op in ("int", "bool"):
            to = INT if op == "int" else BOOL
            return to if a != to else None
        case (_,) if op in ("as:float", "as:double"):
            return ("base", op[3:], 4 if op == "as:float" else 8)
        case (_,) if base and op.startswith("as:") and len(op) > 3:
            return ("base", op[3:], a[2])
        case (_, b) if a == b and op in OPPOSITE:
            return BOOL if a != BOOL or op in ("==", "!=") else None
        case (_, b) if a == b:
            return a if op in (("&&", "||") if a == BOOL else ARITHMETIC if a == INT else BASE_ARITHMETIC) else None
        case (_, b, c) if op == "?:" and a == BOOL and b == c:
            return b
    return None


# --- lanes: what expressions are worth at every thread ----------------------------------------------------------------

Val = int | Poly
"""A number, or a polynomial over unknowns that all lanes of a warp share; None is a value not known that well."""
Lane = dict[Expr, Val]
"""What leaves are worth at a thread."""


def lift(v: Val) -> Poly:
    return number(v) if isinstance(v, int) else v


def lowered(p: Poly) -> Val:
    c = fixed(p)
    return p if c is None else int(c)


def linear(a: Val, b: Val, k: int = 1) -> Val:
    """a + k*b"""
    return a + k * b if isinstance(a, int) and isinstance(b, int) else lowered(plus(lift(a), scaled(lift(b), k)))


def c_quotient(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


COMPARE: Final[dict[str, Callable[..., int]]] = dict(
    zip(OPPOSITE, (operator.lt, operator.ge, operator.gt, operator.le, operator.eq, operator.ne), strict=True)
)
CONCRETE: Final[dict[str, Callable[..., int]]] = (
    COMPARE
    | {"neg": operator.neg, "~": operator.inv, "!": operator.not_, "int": int, "abs": abs, "bool": bool}
    | {"+": operator.add, "-": operator.sub, "*": operator.mul, "min": min, "max": max}
    | {"&": operator.and_, "|": operator.or_, "^": operator.xor}
    | {"/": c_quotient, "%": lambda a, b: a - b * c_quotient(a, b)}
    | {"<<": lambda a, b: a << b if b >= 0 else 0, ">>": lambda a, b: a >> b if b >= 0 else 0}
)


def isolated(a: Expr, b: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Ways to read a == b as leaf == expression."""
    match a:
        case ("var" | "param", _):
            yield a, b
        case ("op", "+", u, v):
            yield from isolated(u, ("op", "-", b, v))
            yield from isolated(v, ("op", "-", b, u))
        case ("op", "-", u, v):
            yield from isolated(u, ("op", "+", b, v))
            yield from isolated(v, ("op", "-", u, b))


def definitions(fact: Expr) -> Iterator[tuple[Expr, Expr]]:
    if fact[:2] != ("op", "=="):
        fact = ("op", "==", fact[2], FALSE) if fact[:2] == ("op", "!") else ("op", "==", fact, TRUE)
    yield from isolated(fact[2], fact[3])
    yield from isolated(fact[3], fact[2])


def mentions(e: Expr, kinds: tuple[str, ...]) -> Iterator[Expr]:
    if e[0] in kinds:
        yield e
    for part in e[1:]:
        if isinstance(part, tuple) and e[0] in ("op", "read"):
            yield from mentions(part, kinds)


def shortfalls(op: str, p: Poly, q: Poly) -> dict[str, Poly]:
    """The quantities that `p op q` makes nonnegative, by sign."""
    up, down, one = minus(q, p), minus(p, q), number(1)
    by = {"<": {"+": minus(up, one)}, "<=": {"+": up}, ">": {"-": minus(down, one)}, ">=": {"-": down}}
    return by.get(op, {"+": up, "-": down} if op == "==" else {})


class Lanes:
    """The threads that P allows, and the values that P implies. Whatever is in doubt is None, or an active lane."""

    def __init__(self, p: Facts, x: Names, program: Program) -> None:
        self.program, self.together = program, False
        self.bounds: dict[tuple[Atom, int], int] = {}
        """(atom, 1) is bounded from below, (atom, -1) is minus the bound from above."""
        self.floors: dict[Atom, int | None] = {}
        facts = sorted(p | program.launch, key=repr)
        self.shared: set[Expr] = {("param", name) for name in program.params} | {("var", name) for name in x}
        self.definitions = [d for f in facts for d in definitions(f)]
        self.residues = dict(d for f in facts for d in self._residues(f))
        self.nowhere: Lane = {}
        """What is worth the same at all threads."""
        for _ in range(3):  # values have bounds, and bounds give values
            self._share()
            for f in facts:
                self._learn(f)
            self.floors.clear()
        local = [f for f in facts if any(t not in self.shared for t in mentions(f, ("var", "tid")))]
        self.exact, warps = self._threads()
        self.nobody = any(self.value(f, self.nowhere) == 0 for f in facts)
        """Whether P excludes all threads."""
        self.warps: list[list[Lane]] = []
        for warp in warps:
            for lane in warp:
                self._define(lane)
            active = [lane for lane in warp if all(self.value(f, lane) != 0 for f in local)]
            self.warps.append([] if self.nobody else active)

    def _residues(self, fact: Expr) -> Iterator[tuple[Expr, Expr]]:
        """Where P says that e % k == r, e is k*q + r for some q, whatever their signs; the same q if e is shared."""
        match fact:
            case ("op", "==", ("op", "%", e, ("const", *_) as k), ("const", *_) as r):
                if all(t in self.shared for t in mentions(e, ("var", "param", "tid", "read"))):
                    yield from isolated(e, ("op", "+", ("op", "*", k, ("quotient", e, k)), r))

    def _define(self, lane: Lane) -> None:
        """Adds to a lane what leaves are worth by their definitions."""
        for _ in range(MAX_CHAIN):
            before = len(lane)
            for leaf, e in self.definitions:
                if leaf not in lane and leaf not in self.nowhere and (v := self.value(e, lane)) is not None:
                    lane[leaf] = v
            if len(lane) == before:
                break

    def _share(self) -> None:
        """The values of shared leaves: by definition, else as unknowns."""
        self.nowhere = {}
        defined = {leaf for leaf, _ in self.definitions}
        for leaf in sorted(self.shared, key=lambda t: (t in defined, t)):
            if leaf in defined:
                self._define(self.nowhere)
            if leaf not in self.nowhere:
                v = self.value(self.residues[leaf], self.nowhere) if leaf in self.residues else None
                self.nowhere[leaf] = single(leaf) if v is None else v
        self._define(self.nowhere)

    def _learn(self, fact: Expr) -> None:
        """Bounds of the unknowns, from the comparisons whose sides are shared."""
        match fact:
            case ("op", op, a, b) if op in OPPOSITE:
                u, v = self.value(a, self.nowhere), self.value(b, self.nowhere)
                if u is not None and v is not None:
                    for p in shortfalls(op, lift(u), lift(v)).values():
                        self._nonnegative(p)

    def _nonnegative(self, p: Poly) -> None:
        for mono, c in p:
            low = self.least(minus(frozenset({(mono, c)}), p))
            if low is not None and len(mono) == 1 and all(e == 1 for _, e in mono):
                ((atom, _),) = mono
                key, bound = (atom, 1 if c > 0 else -1), -(-low // abs(int(c)))
                self.bounds[key] = max(bound, self.bounds.get(key, bound))

    def least(self, v: Val) -> int | None:
        """A lower bound."""
        sum_ = 0
        for mono, c in lift(v):
            low: int | None = 1 if c > 0 else -1  # of the constant 1 or -1
            if len(mono) == 1 and all(e == 1 for _, e in mono):
                low = next(self._least_of(atom, 1 if c > 0 else -1) for atom, _ in mono)
            elif mono:
                lows = [self._least_of(atom, 1) for atom, _ in mono]
                low = 0 if c > 0 and all(b is not None and b >= 0 for b in lows) else None
            if low is None:
                return None
            sum_ += abs(int(c)) * low
        return sum_

    def _least_of(self, atom: Atom, sign: int) -> int | None:
        if atom[0] == "max0" and sign == 1:
            return 0
        if atom[0] == "floor" and sign == 1:
            if atom not in self.floors:
                low = self.least(atom[1])
                self.floors[atom] = None if low is None else low // int(atom[2])
            return self.floors[atom]
        return self.bounds.get((atom, sign))

    def _threads(self) -> tuple[bool, list[list[Lane]]]:
        """Whether every thread is there, and lanes by warps. Otherwise one warp, or one lane, stands for all."""
        size = self.program.hardware["warp"]
        x, y, z = (self.nowhere.get(("param", f"blockDim.{axis}")) for axis in AXES)

        def lane(*tid: Val) -> Lane:
            return {("tid", axis): v for axis, v in zip(AXES, tid, strict=True)}

        if isinstance(x, int) and isinstance(y, int) and isinstance(z, int) and 0 < x * y * z <= MAX_THREADS:
            lanes = [lane(i % x, i // x % y, i // (x * y)) for i in range(x * y * z)]
            return True, [lanes[i : i + size] for i in range(0, len(lanes), size)]
        if not (y == z == 1 or (isinstance(x, int) and x % size == 0)):
            return False, [[self.nowhere]]
        self.bounds |= {(("tid", axis), 1): 0 for axis in AXES}
        first, ty, tz = (0 if d == 1 else single(("tid", a)) for a, d in zip(AXES, (x, y, z), strict=True))
        return False, [[lane(linear(i, first, size), ty, tz) for i in range(size)]]  # where tid.x is that of the warp

    def value(self, e: Expr, lane: Lane) -> Val | None:
        """What P implies that e is worth at a lane, truth values being 0 and 1."""
        match e:
            case ("const", t, value):
                return single(e) if t[0] == "base" else int(value)
            case ("tid" | "var" | "param", _):
                return lane.get(e, self.nowhere.get(e))
            case ("quotient", *_):
                return single(e)
            case ("read", array, index, occurrence):
                at = self.value(index, lane)
                return None if at is None or not self.together else single(("read", array, at, occurrence))
        if e[0] not in ("op", "function"):
            return None
        kind, op, *args = e
        values = [self.value(a, lane) for a in args]
        if op in ("&&", "||"):
            absorbing: int = int(op == "||")
            rest = [v for v in values if v != 1 - absorbing]
            if absorbing in rest or len(rest) < 2:
                return absorbing if absorbing in rest else rest[0] if rest else 1 - absorbing
        if op == "?:" and (isinstance(values[0], int) or values[1] == values[2]):
            return values[1] if values[0] != 0 else values[2]
        known = [v for v in values if v is not None]
        if len(known) < len(args):
            return None
        v = self._operator(op, known) if kind == "op" else single((kind, op, *known))
        if isinstance(v, int):
            return v if abs(v) <= LARGEST else None
        return v if len(v) <= MAX_LANE_TERMS and all(-LARGEST <= c <= LARGEST for _, c in v) else None

    def _holds(self, op: str, d: Poly) -> bool:
        """Whether d op 0, for sure."""
        if op == "!=":
            inside = gcd(*(int(c) for mono, c in d if mono))
            return bool(inside and offset(d) % inside) or self._holds("<", d) or self._holds(">", d)
        lows = [self.least(p) for p in shortfalls(op, d, ZERO).values()]
        return all(low is not None and low >= 0 for low in lows)

    def _operator(self, op: str, args: list[Val]) -> Val:
        a, b = args[0], args[-1]
        ints = [v for v in args if isinstance(v, int)]
        if op in CONCRETE and len(ints) == len(args) and not (op == "<<" and ints[-1] >= 64):
            return int(CONCRETE[op](*ints))
        if op in ("neg", "~", "!"):
            return linear(-1 if op == "~" else int(op == "!"), a, -1)
        if op in OPPOSITE:
            d = lift(linear(a, b, -1))
            certain = [int(o == op) for o in (op, OPPOSITE[op]) if self._holds(o, d)]
            return certain[0] if certain else single((op, d))
        if op in ("/", "%") and isinstance(b, int) and b > 0:
            low = self.least(a)
            if (low is not None and low >= 0) or all(c % b == 0 for _, c in lift(a)):
                quotient = floor_of(lift(a), b)
                return lowered(quotient if op == "/" else minus(lift(a), scaled(quotient, b)))
        p = _binary(op, lift(a), lift(b)) if len(args) == 2 else None
        return single((op, *args)) if p is None else lowered(p)

    def uniform(self, e: Expr) -> bool:
        groups = self.warps
        # threads of one warp read at once, and get the same at the same index; those of other warps need not
        self.together = self.program.scope == "warp" or (self.exact and len(self.warps) == 1)
        if self.program.scope == "block":
            everyone = self.exact or self.nobody
            groups = [[lane for warp in self.warps for lane in warp]] if everyone else [[self.nowhere]]
        values = [{self.value(e, lane) for lane in group} for group in groups]
        return all(None not in found and len(found) <= 1 for found in values)

    def most(self, what: str, array: Array, index: Expr) -> int:
        """The most sectors, or words in one bank, that the lanes of one warp can touch."""
        most = 0
        one = most_of_one(what, array, self.program.hardware)
        self.together = True  # in one warp
        for warp in self.warps:
            values = [self.value(index, lane) for lane in warp]
            alone = self.program.hardware["warp"] if warp and warp[0] is self.nowhere else 1
            rows: dict[Poly, set[int]] = {}
            for v in values:
                if v is not None:
                    c = int(offset(lift(v)))
                    rows.setdefault(minus(lift(v), number(c)), set()).add(c)
            counts = (self._row(what, array, row, constants) for row, constants in rows.items())
            most = max(most, values.count(None) * alone * one + sum(counts))
        return most

    def _row(self, what: str, array: Array, row: Poly, constants: set[int]) -> int:
        """The most that indices can touch which are an unknown part plus one of the constants."""
        hw, sectors = self.program.hardware, what == "MemReads"
        unit = hw["sector" if sectors else "word"]
        most = 0
        for shift in range(0, unit, gcd(unit, *(array.stride * int(c) for _, c in row))):
            starts = [array.stride * i + array.offset + shift for i in constants]
            units = {u for a in starts for u in range(a // unit, (a + array.width - 1) // unit + 1)}
            most = max(most, len(units) if sectors else max(Counter(u % hw["banks"] for u in units).values()))
        return most


def most_of_one(what: str, array: Array, hw: dict[str, int]) -> int:
    """The most that a single element can touch, wherever it lies."""
    unit = hw["sector" if what == "MemReads" else "word"]
    step = gcd(unit, array.stride)
    worst = max((array.offset + shift) % unit for shift in range(0, unit, step))
    units = (worst + array.width - 1) // unit + 1
    return units if what == "MemReads" else -(-units // hw["banks"])


def prepared(e: Expr, program: Program) -> Expr:
    """e with its reads numbered, since no two return the same, and operators on base types as plain functions."""
    numbers = count()

    def walk(t: Expr) -> Expr:
        match t:
            case ("read", array, index):
                return ("read", array, walk(index), next(numbers))
            case ("op", op, *args):
                function = _is_function(op) or (op != "?:" and any(program.type_of(a)[0] == "base" for a in args))
                return ("function" if function else "op", op, *map(walk, args))
        return t

    return walk(e)


# --- arithmetic proofs ------------------------------------------------------------------------------------------------


def arithmetic(program: Program, facts: Facts) -> Arithmetic:
    """Proofs from the facts and those of the launch, in which leaves that equal a literal are replaced by it."""
    facts |= program.launch
    found: dict[Atom, set[int]] = {}
    for fact in facts:
        match fact:
            case ("op", "==", ("var" | "param" | "tid", _) as leaf, ("const", ("int", _, _), int(value))):
                found.setdefault(leaf, set()).add(value)
    values: dict[Atom, Poly] = {leaf: number(min(known)) for leaf, known in found.items() if len(known) == 1}
    return Arithmetic(program, facts, (values,))


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Proofs that a potential is nonnegative wherever the facts hold. `swaps` and `cases` come from the way here."""

    program: Program
    facts: Facts
    swaps: tuple[dict[Atom, Poly], ...] = ()
    cases: tuple[Poly, ...] = ()

    def _replaced(self, p: Poly) -> Poly:
        for swap in self.swaps:
            p = replaced(p, swap)
        return p

    def comparison(self, e: Expr) -> dict[str, Poly]:
        """What a comparison of two integers makes nonnegative."""
        if e[0] != "op" or len(e) != 4 or self.program.type_of(e[2]) != INT or self.program.type_of(e[3]) != INT:
            return {}
        p, q = poly_of(e[2]), poly_of(e[3])
        return {} if p is None or q is None else shortfalls(e[1], p, q)

    def evident(self, goal: Expr) -> bool:
        """Whether a goal holds without a proof: a fact, or e == e, or equal up to a constant of the right sign."""
        if goal in self.facts or (goal[:2] == ("op", "==") and goal[2] == goal[3]):
            return True
        constants = [fixed(part) for part in self.comparison(goal).values()]
        return bool(constants) and all(c is not None and c >= 0 for c in constants)

    def prove(self, goal: Poly, proof: Json, what: str) -> None:
        """Raises Bad unless the proof shows goal >= 0."""
        want(isinstance(proof, dict), f"{what}: a proof is an object")
        if set(proof) == {"sum"} or set(proof) == {"absurd"}:
            wanted = self._replaced(goal) if "sum" in proof else number(-1)
            self._sum(wanted, proof["sum" if "sum" in proof else "absurd"], what)
        elif set(proof) == {"split", "yes", "no"}:
            p = self._replaced(self.program.potential(proof["split"], True))
            want(integral(p), f"{what}: a split on a potential without integer coefficients")
            self._with(p, True, p).prove(goal, proof["yes"], what)
            self._with(p, False, minus(number(-1), p)).prove(goal, proof["no"], what)
        else:
            proof = record(proof, "settle as because then", f"{what}: a proof is sum, absurd or split, or")
            p = self._replaced(self.program.potential(proof["settle"], True))
            want(proof["as"] in ("arg", "zero"), f"{what}: an argument is settled as 'arg' or as 'zero'")
            positive = proof["as"] == "arg"
            self._sum(self._replaced(p if positive else scaled(p, -1)), proof["because"], what)
            self._with(p, positive).prove(goal, proof["then"], what)

    def _sum(self, wanted: Poly, rows: Json, what: str) -> None:
        found = ZERO
        for row in array_of(rows, "a sum"):
            c, factors = array_of(row, "a summand", 2)
            want(len(factors) <= MAX_DEGREE, f"{what}: a product has too many factors")
            term = number(rational(c, "a summand's coefficient"))
            for f in array_of(factors, "a product"):
                term = times(term, self._replaced(self._factor(f)))
            found = plus(found, term)
        want(found == wanted, f"{what}: the sum is {show_poly(found):.200} and not {show_poly(wanted):.200}")

    def _with(self, p: Poly, positive: bool, *case: Poly) -> Arithmetic:
        """In the case that p is nonnegative, or not positive."""
        arg = scaled(p, 1 / content(p)) if p else p
        swap: dict[Atom, Poly] = {("max0", arg): arg if positive else ZERO}
        return Arithmetic(self.program, self.facts, (*self.swaps, swap), (*self.cases, *case))

    def _factor(self, row: Json) -> Poly:
        """A quantity that is not negative."""
        match array_of(row, "a factor"):
            case ["fact", e, str(sign)]:
                fact = self.program.expression(e, True)
                want(fact in self.facts, f"{show(fact):.200} is no fact here")
                quantities = self.comparison(fact)
                want(sign in quantities, f"the fact {show(fact):.200} does not give '{sign:.20}'")
                return quantities[sign]
            case ["case", i]:
                return self.cases[integer(i, "a case's number", 0, len(self.cases) - 1)]
            case ["max0" | "above" as kind, q]:
                p = self.program.potential(q, True)
                return max0(p) if kind == "max0" else minus(max0(p), p)
            case ["low" | "high" as kind, q, k]:
                p, k = self.program.potential(q, True), integer(k, "a divisor", 1)
                low = minus(p, scaled(floor_of(p, k), k))
                want(kind == "low" or integral(p), "'high' needs a potential with integer coefficients")
                return low if kind == "low" else minus(number(k - 1), low)
        raise Bad("a factor of a proof is not known")


# --- derivations ------------------------------------------------------------------------------------------------------

KINDS: Final = {"P": "assertions", "Q": "potentials", "s": "statements"} | dict.fromkeys("eok", "expressions")
FORMS: Final = {"skip": "", "sync": "", "seq": "*", "set": "xe", "write": "xee", "if": "ess", "while": "es"}


class Checker:
    """Applies the rules of a derivation, one after the other. Raises Bad at the first that does not fit."""

    def __init__(self, document: dict[str, Json]) -> None:
        self.document = document
        self.solver_backed: list[str] = []
        self.lanes = cache(lambda p, x: Lanes(p, x, self.program))
        self.shapes: dict[tuple[Any, ...], int] = {}
        self.forms: list[tuple[Any, ...]] = []
        self.written: list[Names] = []
        self.syncs: list[int] = []
        self.where = ""
        self.premises: list[Judgement] = []
        self.program = program_from(document)
        self.evidence = array_of(document["evidence"], "evidence")[::-1]
        self.tables: dict[str, list[Any]] = {}
        self._table("expressions", self.program.expression)
        self._table("potentials", self.program.potential)
        self._table("assertions", self._assertion)
        self._table("statements", self._statement)

    def _table(self, name: str, read: Callable[[Json], Any]) -> None:
        self.tables[name] = []
        for row in array_of(self.document[name], name):
            self.tables[name].append(read(row))

    def at(self, table: str, i: Json) -> Any:
        rows = self.tables[table]
        return rows[integer(i, f"an index into {table}", 0, len(rows) - 1)]

    def _assertion(self, row: Json) -> Facts:
        facts = [self.at("expressions", i) for i in array_of(row, "an assertion")]
        want(all(self.program.type_of(f) == BOOL for f in facts), "a conjunct is not a truth value")
        return self.program.conj(facts)

    def _statement(self, row: Json) -> int:
        kind, *parts = array_of(row, "a statement")
        want(
            isinstance(kind, str) and kind in FORMS and len(parts) == len(FORMS[kind]), "a statement is not well formed"
        )
        form = (kind, *(self._part(letter, part) for letter, part in zip(FORMS[kind], parts, strict=True)))
        if kind == "seq":
            flat = all(self.forms[s][0] != "seq" for s in form[1])
            want(len(form[1]) >= 2 and flat, "a sequence has two parts or more, none of them a sequence")
        return self.statement(*form)

    def _part(self, letter: str, part: Json) -> Any:
        if letter == "*":
            return tuple(self.at("statements", i) for i in array_of(part, "a sequence"))
        return text_of(part, "a name") if letter == "x" else self.at(KINDS[letter], part)

    def statement(self, *form: Any) -> int:
        """The number of the statement with this form, if it is well typed: the same form has the same number."""
        if form not in self.shapes:
            type_of, mine = self.program.type_of, frozenset[str]()
            inner: Iterable[int] = form[1] if form[0] == "seq" else form[2:] if form[0] in ("if", "while") else ()
            match form:
                case ("set", x, e):
                    want(x in self.program.locals, f"'{x:.80}' is not a local variable")
                    want(type_of(e) == self.program.locals[x], f"the value for '{x}' has another type")
                    mine = frozenset({x})
                case ("write", array, index, e):
                    want(type_of(e) == type_of(("read", array, index)), f"the value for '{array}' has another type")
                case ("if" | "while", e, *_):
                    want(type_of(e) == BOOL, "a condition is not a truth value")
            self.shapes[form] = len(self.forms)
            self.forms.append(form)
            self.written.append(mine.union(*(self.written[s] for s in inner)))
            self.syncs.append(int(form[0] == "sync") + sum(self.syncs[s] for s in inner))
        return self.shapes[form]

    def assign(self, x: str, e: Expr) -> int:
        return self.statement("set", x, e)

    def both(self, *ss: int) -> int:
        """s1; s2"""
        parts = [self.forms[s][1] if self.forms[s][0] == "seq" else (s,) for s in ss]
        return self.statement("seq", (*parts[0], *parts[1]))

    def value(self, letter: str, value: Json) -> Any:
        """The value of a metavariable, by the kind that its first letter tells."""
        program, first = self.program, letter[0]
        if letter != "op" and first in KINDS:
            found = self.at(KINDS[first], value)
            want(first != "k" or found[0] == "const", f"{letter} has to be a literal")
            return found
        if first == "X":
            names = array_of(value, letter)
            want(all(isinstance(n, str) and n in program.locals for n in names), f"{letter} is no set of locals")
            want(names == sorted(set(names)), f"{letter} is not sorted")
            return frozenset(names)
        if first in "Cc":
            return rational(value, letter)
        if first == "n":
            return integer(value, letter, 0)
        spaces = {"G": "global", "S": "shared"}
        known: dict[str, Collection[str]] = {"x": program.locals, "p": program.params, "a": AXES} | {
            s: [name for name, array in program.arrays.items() if array.space == space] for s, space in spaces.items()
        }
        want(isinstance(value, str) and (letter == "op" or value in known[first]), f"{letter} has no such value")
        return value

    def apply(self, number_: int, row: Json, proved: list[Judgement], unused: set[int]) -> Judgement:
        node = record(row, "rule with from at", "a rule application")
        want(isinstance(node["rule"], str) and node["rule"] in RULES, "there is no such rule")
        self.where = f"derivation[{number_}] {node['rule']}"
        letters, rule = RULES[node["rule"]]
        values = record(node["with"], letters, "the substitution")
        if node["at"] is not None:
            for place in array_of(node["at"], "a place", 2):
                integer(place, "a place", 0)
        self.premises = []
        for i in array_of(node["from"], "the premises"):
            want(integer(i, "a premise", 0, number_ - 1) in unused, "a premise is used twice")
            unused.remove(i)
            self.premises.insert(0, proved[i])
        conclusion = rule(self, *(self.value(letter, values[letter]) for letter in letters.split()))
        want(not self.premises, "there are too many premises")
        if conclusion[0] == "triple":
            _, _, q, x, _, _, q2, x2 = conclusion
            want(variables(q) <= x and variables(q2) <= x2, "a potential depends on variables that X lacks")
        return conclusion

    def premise(self, *wanted: Any) -> None:
        want(bool(self.premises), "there are too few premises")
        found = self.premises.pop()
        want(found == wanted, f"a premise ({found[0]}) is not what the rule needs")

    def cost(self, p: Facts, x: Names, e: Expr, c: Fraction) -> None:
        self.premise("cost", p, x, e, c)

    def _entry(self, claim: str, decided: bool) -> Json:
        """The proof in the next entry; None if nothing more is to be checked."""
        want(bool(self.evidence), "there is too little evidence")
        entry = record(self.evidence.pop(), "engine proof", "an entry of the evidence")
        engine = text_of(entry["engine"], "an engine")
        if entry["proof"] is None and not decided:
            self.solver_backed.append(f"{self.where}: {claim:.400} (by {engine:.40})")
        return entry["proof"]

    def at_least(self, p: Facts, x: Names, q: Poly, r: Poly) -> None:
        """P; X |- Q >= Q'"""
        constant = fixed(minus(q, r))
        claim = f"{show_facts(p, x)} |- {show_poly(q)} >= {show_poly(r)}"
        proof = self._entry(claim, constant is not None and constant >= 0)
        if proof is not None:
            arithmetic(self.program, p).prove(minus(q, r), proof, "Q >= Q'")

    def entails(self, p: Facts, goals: Facts) -> None:
        """P |- P'"""
        known = arithmetic(self.program, p)
        decided = FALSE in p or all(known.evident(g) for g in goals)
        proof = self._entry(f"{show_facts(p)} |- {show_facts(goals)}", decided)
        if proof is None:
            return
        left = set(goals)
        rows = array_of(proof, "a proof of P |- P'")
        for row in rows:
            literal = isinstance(row, dict) and "literal" in row
            entry = record(row, "goal literal" if literal else "goal by", "an entry of a proof")
            if entry["goal"] is None:
                want(
                    len(rows) == len(array_of(entry["by"], "the proofs of a goal")) == 1, "a contradiction stands alone"
                )
                known.prove(number(-1), entry["by"][0], "P is contradictory")
                return
            goal = self.program.expression(entry["goal"], True)
            if literal:
                want(entry["literal"] is True and goal in known.facts, f"{show(goal):.200} is no fact here")
            else:
                parts, by = known.comparison(goal).values(), array_of(entry["by"], "the proofs of a goal")
                want(0 < len(parts) == len(by), f"{show(goal):.200} has not so many proofs")
                for part, each in zip(parts, by, strict=True):
                    known.prove(part, each, show(goal)[:200])
            want(goal in left, f"{show(goal):.200} is no goal, or proved twice")
            left.remove(goal)
        want(not left, f"there is no proof of {show_facts(frozenset(left)):.200}")

    def uniform(self, p: Facts, x: Names, e: Expr) -> None:
        """P; X |- e unif"""
        alike = all(t[0] == "var" and t[1] in x for t in mentions(e, ("var", "tid")))
        alike = alike and (self.program.scope == "warp" or not any(mentions(e, ("read",))))
        decided = alike or self.lanes(p, x).uniform(prepared(e, self.program))
        self._entry(f"{show_facts(p, x)} |- {show(e)} unif", decided)

    def accesses(self, what: str, p: Facts, x: Names, name: str, index: Expr, n: int) -> None:
        """P; X |- MemReads(A[o]) <= n or P; X |- Conflicts(A[o]) <= n"""
        array, hw = self.program.arrays[name], self.program.hardware
        want(self.program.type_of(index) == INT, "an index is not an int")
        decided = n >= hw["warp"] * most_of_one(what, array, hw)
        if not decided and array.width <= 64 * min(hw["sector"], hw["word"]):
            decided = self.lanes(p, x).most(what, array, prepared(index, self.program)) <= n
        self._entry(f"{show_facts(p, x)} |- {what}({name}[{show(index)}]) <= {n}", decided)

    def within(self, small: Names, large: Names) -> None:
        want(small <= large, f"{', '.join(sorted(small - large)):.200} should not be in X")

    def meet(self, s: int, shared: Names, everyone: bool, first: int, apart: set[int]) -> Names:
        """The locals in which all threads of a block hold the same value after s, by its text alone.

        `shared` are those before s, `everyone` whether the block is undivided. `apart` gets the barriers that a part
        of it may reach alone, by number in program order; `first` is that of the first barrier in s.
        """
        self.program.spend()

        def alike(e: Expr) -> bool:
            return everyone and all(t[0] == "var" and t[1] in shared for t in mentions(e, ("var", "tid", "read")))

        match self.forms[s]:
            case ("sync",) if not everyone:
                apart.add(first)
            case ("set", x, e):
                return shared | {x} if alike(e) else shared - {x}
            case ("seq", parts):
                for t in parts:
                    shared = self.meet(t, shared, everyone, first, apart)
                    first += self.syncs[t]
            case ("if", e, yes, no):
                after = self.meet(yes, shared, alike(e), first, apart)
                after &= self.meet(no, shared, alike(e), first + self.syncs[yes], apart)
                return after if alike(e) else after - self.written[s]
            case ("while", e, body) if not self.syncs[body]:
                return shared - self.written[s]
            case ("while", e, body):
                while True:
                    inside: set[int] = set()
                    after = shared & self.meet(body, shared, alike(e), first, inside)
                    after = after if alike(e) else after - self.written[s]
                    if after == shared:
                        apart |= inside
                        break
                    shared = after
        return shared

    def run(self) -> Poly:
        """The bound that the certificate proves."""
        rows = array_of(self.document["derivation"], "the derivation")
        want(bool(rows), "there is no derivation")
        proved: list[Judgement] = []
        unused: set[int] = set()
        for i, row in enumerate(rows):
            self.where = f"derivation[{i}]"
            proved.append(self.apply(i, row, proved, unused))
            unused.add(i)
        self.where = "the claim"
        want(unused == {len(rows) - 1}, "a judgement is proved and not used")
        want(proved[-1][0] == "triple", "the root says nothing about a statement")
        _, p, q, x, s, p2, q2, x2 = proved[-1]
        body = self.at("statements", self.document["kernel"]["body"])
        want(s == body, "the root is about another program than the kernel's body")
        want(not p and not x, "the precondition is not {true; Q; {}}")
        self.at_least(p2, x2, q2, ZERO)
        want(not self.evidence, "there is more evidence than side conditions")
        admitted = array_of(self.document["admitted"], "admitted")
        apart: set[int] = set()
        self.meet(body, frozenset(), True, 0, apart)
        numbers = {integer(i, "a barrier", 0, self.syncs[body] - 1) for i in admitted}
        want(apart <= numbers, "a barrier that a part of the block may reach alone is not admitted")
        return q  # type: ignore[no-any-return]


# --- the rules --------------------------------------------------------------------------------------------------------


def paid(k: Checker, q: Poly, c: Fraction, *constants: str) -> Poly:
    """Q + c + M.constant + ..."""
    return plus(q, number(c), *(k.program.price(constant) for constant in constants))


def lit(kind: str, constant: str) -> Callable[..., Judgement]:
    """The rules for operands: a literal, or a leaf of a kind that the last metavariable names."""

    def rule(k: Checker, p: Facts, x: Names, name: Any) -> Judgement:
        return "cost", p, x, (kind, name) if kind else name, k.program.fixed.get(constant, 0)

    return rule


def op_rule(k: Checker, p: Facts, x: Names, op: str, *operands: Any) -> Judgement:
    es, cs = operands[::2], operands[1::2]
    for e, c in zip(es, cs, strict=True):
        k.cost(p, x, e, c)
    k.program.type_of(("op", op, *es))
    return "cost", p, x, ("op", op, *es), sum(cs, k.program.fixed.get("op", 0))


def read(what: str, constant: str) -> Callable[..., Judgement]:
    def rule(k: Checker, p: Facts, x: Names, o: Expr, c: Fraction, array: str, n: int) -> Judgement:
        k.cost(p, x, o, c)
        k.accesses(what, p, x, array, o, n)
        return "cost", p, x, ("read", array, o), c + offset(k.program.price_of(constant, n))

    return rule


def write(what: str, constant: str) -> Callable[..., Judgement]:
    def rule(k: Checker, *v: Any) -> Judgement:
        p, q, x, o, c1, e, c2, array, n = v
        k.cost(p, x, o, c1)
        k.cost(p, x, e, c2)
        k.accesses(what, p, x, array, o, n)
        before = plus(paid(k, q, c1 + c2), k.program.price_of(constant, n))
        return "triple", p, before, x, k.statement("write", array, o, e), p, q, x

    return rule


def plain(kind: str) -> Callable[..., Judgement]:
    """skip and sync"""

    def rule(k: Checker, p: Facts, q: Poly, x: Names) -> Judgement:
        return "triple", p, plus(q, k.program.price(kind)), x, k.statement(kind), p, q, x

    return rule


def seq(k: Checker, *v: Any) -> Judgement:
    p, q, x, s1, p1, q1, x1, s2, p_, q_, x_ = v
    k.premise("triple", p, q, x, s1, p1, q1, x1)
    k.premise("triple", p1, q1, x1, s2, p_, q_, x_)
    return "triple", p, q, x, k.both(s1, s2), p_, q_, x_


def same_if(case: str) -> Callable[..., Judgement]:
    """The rules for branches that a warp takes together: either one, the first or the second."""

    def rule(k: Checker, *v: Any) -> Judgement:
        p, x, e, c, q, s1, p_, q_, x_, s2 = v
        k.cost(p, x, e, c)
        if case == "either":
            k.premise("triple", k.program.given(p, e), q, x, s1, p_, q_, x_)
            k.premise("triple", k.program.given(p, e, False), q, x, s2, p_, q_, x_)
            k.uniform(p, x, e)
        else:
            k.premise("triple", p, q, x, s1 if case == "first" else s2, p_, q_, x_)
            want(not k.program.opaque(e), "an opaque condition cannot be proved")
            k.entails(p, k.program.given(frozenset(), e, case == "first"))
        return "triple", p, paid(k, q, c, "if"), x, k.statement("if", e, s1, s2), p_, q_, x_

    return rule


def if4(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, q, s1, p1, q1, x1, p_, q_, x_, s2, p2, q2, x2, p__, q__, x__ = v
    skipped = k.program.given(p, e, False)
    k.cost(p, x, e, c)
    k.premise("triple", k.program.given(p, e), q, x, s1, p1, q1, x1)
    k.premise("triple", p_, q_, x_, s2, p2, q2, x2)
    k.entails(skipped, p_)
    k.at_least(skipped, x, q, q_)
    k.at_least(p1, x1, q1, q_)
    k.entails(p1, p__)
    k.at_least(p1, x1, q1, q__)
    k.entails(p2, p__)
    k.at_least(p2, x2, q2, q__)
    k.within(x_, (x & x1) - k.written[s1])
    k.within(x__, (x2 & x_) - k.written[s2])
    return "triple", p, paid(k, q, c, "if", "div"), x, k.statement("if", e, s1, s2), p__, q__, x__


def while1(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, q, s = v
    before = paid(k, q, c, "if")
    k.cost(p, x, e, c)
    k.premise("triple", k.program.given(p, e), q, x, s, p, before, x)
    k.uniform(p, x, e)
    k.at_least(p, x, before, ZERO)
    return "triple", p, before, x, k.statement("while", e, s), k.program.given(p, e, False), q, x


def while2(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, q, s, q_, x_ = v
    before, left = paid(k, q, c, "if", "div"), k.program.given(p, e, False)
    k.cost(p, x, e, c)
    k.premise("triple", k.program.given(p, e), q, x, s, p, before, x)
    k.at_least(p, x, before, ZERO)
    k.at_least(left, x, q, q_)
    k.within(x_, x - k.written[s])
    return "triple", p, before, x, k.statement("while", e, s), left, q_, x_


def vwrite1(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, p_, var, q, q_ = v
    k.cost(p, x, e, c)
    k.uniform(p, x, e)
    s = k.assign(var, e)
    k.entails(p, k.program.assigned(p_, var, e))
    k.at_least(p, x, q, k.program.updated(q_, var, e))
    return "triple", p, paid(k, q, c, "vwrite"), x, s, p_, q_, x | {var}


def vwrite2(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, p_, var, q = v
    k.cost(p, x, e, c)
    s = k.assign(var, e)
    k.entails(p, k.program.assigned(p_, var, e))
    k.within(variables(q), x - {var})
    return "triple", p, paid(k, q, c, "vwrite"), x, s, p_, q, x - {var}


def weak(k: Checker, *v: Any) -> Judgement:
    p2, q2, x2, s, p2_, q2_, x2_, p1, q1, x1, p1_, q1_, x1_, c = v
    k.premise("triple", p2, q2, x2, s, p2_, q2_, x2_)
    k.entails(p1, p2)
    k.at_least(p1, x1, q1, q2)
    for name in sorted(x2 - x1):
        k.uniform(p1, x1, ("var", name))
    k.entails(p2_, p1_)
    k.at_least(p2_, x2_, q2_, q1_)
    k.within(x1_, x2_)
    return "triple", p1, paid(k, q1, c), x1, s, p1_, paid(k, q1_, c), x1_


RULES: Final[dict[str, tuple[str, Callable[..., Judgement]]]] = {
    "OQ:Var": ("P X x", lit("var", "var")),
    "OQ:Const": ("P X k", lit("", "const")),
    "OQ:Param": ("P X p", lit("param", "param")),
    "OQ:Tid": ("P X a", lit("tid", "var")),
    "EQ:Op1": ("P X op e1 C1", op_rule),
    "EQ:Op": ("P X op e1 C1 e2 C2", op_rule),
    "EQ:Op3": ("P X op e1 C1 e2 C2 e3 C3", op_rule),
    "EQ:GArray": ("P X o C G n", read("MemReads", "gread")),
    "EQ:SArray": ("P X o C S n", read("Conflicts", "sread")),
    "Q:Skip": ("P Q X", plain("skip")),
    "Q:Sync": ("P Q X", plain("sync")),
    "Q:Seq": ("P Q X s1 P1 Q1 X1 s2 P' Q' X'", seq),
    "Q:If1": ("P X e C Q s1 P' Q' X' s2", same_if("either")),
    "Q:If2": ("P X e C Q s1 P' Q' X' s2", same_if("first")),
    "Q:If3": ("P X e C Q s1 P' Q' X' s2", same_if("second")),
    "Q:If4": ("P X e C Q s1 P1 Q1 X1 P' Q' X' s2 P2 Q2 X2 P'' Q'' X''", if4),
    "Q:While1": ("P X e C Q s", while1),
    "Q:While2": ("P X e C Q s Q' X'", while2),
    "Q:VWrite1": ("P X e C P' x Q Q'", vwrite1),
    "Q:VWrite2": ("P X e C P' x Q", vwrite2),
    "Q:GWrite": ("P Q X o C1 e C2 G n", write("MemReads", "gwrite")),
    "Q:SWrite": ("P Q X o C1 e C2 S n", write("Conflicts", "swrite")),
    "Q:Weak": ("P2 Q2 X2 s P2' Q2' X2' P1 Q1 X1 P1' Q1' X1' c", weak),
}
"""Each rule's metavariables, in the order in which its function takes them."""


# --- the document -----------------------------------------------------------------------------------------------------

FIELDS: Final = (
    "format version kernel metric hardware launch scope rules assertions potentials expressions statements "
    "derivation evidence admitted tools digest"
)
FIXED: Final = ("var", "const", "param", "op", "if", "div", "vwrite", "sync")
COUNTED: Final = ("gread", "sread", "gwrite", "swrite")


def program_from(document: dict[str, Json]) -> Program:
    want(document["format"] == "warpbound certificate", "this is no certificate")
    want(integer(document["version"], "the version") == 1, "this version of certificates is not known")
    want(document["rules"] == "sound", "only the rule set 'sound' certifies anything")
    want(document["scope"] in ("warp", "block"), "the scope is warp or block")
    want(isinstance(document["tools"], dict), "tools is an object")
    kernel = record(document["kernel"], "name params locals arrays body", "the kernel")
    metric = record(document["metric"], "name fixed counted", "the metric")
    units = "sector word alignment banks warp"
    hardware = record(document["hardware"], f"name {units}", "the hardware")
    for named in (kernel, metric, hardware):
        text_of(named["name"], "the name of kernel, metric and hardware")
    taken = {*BUILTINS, *(f"tid.{axis}" for axis in AXES), "true", "false"}

    def declared(name: Json) -> str:
        right = text_of(name, "a name") not in taken and re.fullmatch(r"[^\W\d]\w{0,199}(\.\w+)*", name)
        want(bool(right), f"'{name:.80}' is declared twice, or no name")
        taken.add(name)
        return str(name)

    def scalars(rows: Json) -> dict[str, Type]:
        pairs = (array_of(row, "a declaration", 2) for row in array_of(rows, "names"))
        return {declared(name): type_from(kind) for name, kind in pairs}

    params, locals_ = dict.fromkeys(BUILTINS, INT) | scalars(kernel["params"]), scalars(kernel["locals"])
    arrays: dict[str, Array] = {}
    for row in array_of(kernel["arrays"], "arrays"):
        name, space, elem, stride, at, width, length = array_of(row, "an array", 7)
        want(space in ("global", "shared"), "an array is global or shared")
        sizes = integer(stride, "a stride", 1, MAX_SIZE), integer(at, "an offset", 0, MAX_SIZE)
        arrays[declared(name)] = Array(space, type_from(elem), *sizes, integer(width, "a width", 1, MAX_SIZE))
        want(length is None or integer(length, "a length") >= 0, "a length is negative")
    prices, lines = metric["fixed"], metric["counted"]
    want(isinstance(prices, dict) and set(prices) <= set(FIXED), "a price is not known")
    want(isinstance(lines, dict) and set(lines) <= set(COUNTED), "a price by count is not known")
    fixed_ = {name: rational(c, f"the price of '{name}'") for name, c in prices.items()}
    pairs = {name: array_of(row, "a price by count", 2) for name, row in lines.items()}
    counted = {
        name: (rational(slope, f"the slope of '{name}'"), rational(at_0, f"the offset of '{name}'", None))
        for name, (slope, at_0) in pairs.items()
    }
    sizes_ = {unit: integer(hardware[unit], f"'{unit}' of the hardware", 1, MAX_UNIT) for unit in units.split()}
    want(sizes_["alignment"] % sizes_["sector"] == sizes_["alignment"] % sizes_["word"] == 0, "bases are not aligned")
    launch = record(document["launch"], "block grid assumptions", "the launch")
    block, grid = (
        [d if d is None else integer(d, f"a size of the {what}", 1, 1 << 32) for d in array_of(launch[what], what, 3)]
        for what in ("block", "grid")
    )
    program = Program(locals_, params, arrays, fixed_, counted, sizes_, block, grid, document["scope"])
    program.launch = _launch_facts(program, array_of(launch["assumptions"], "assumptions"))
    return program


def _launch_facts(program: Program, assumptions: list[Json]) -> Facts:
    def fact(a: Expr, op: str, b: Expr | int) -> Expr:
        return ("op", op, a, ("const", INT, b) if isinstance(b, int) else b)

    facts = [fact(("param", "warpSize"), "==", program.hardware["warp"])]
    for axis, block, grid in zip(AXES, program.block, program.grid, strict=True):
        dim, size, index = (("param", f"{name}.{axis}") for name in ("blockDim", "gridDim", "blockIdx"))
        facts += [fact(dim, ">=", 1), fact(dim, "<=", MAX_BLOCK)] if block is None else [fact(dim, "==", block)]
        facts += [fact(size, ">=", 1) if grid is None else fact(size, "==", grid)]
        facts += [fact(index, ">=", 0), fact(index, "<", size)]
        facts += [fact(("tid", axis), ">=", 0), fact(("tid", axis), "<", dim)]
    for row in assumptions:
        e = program.expression(row)
        want(program.type_of(e) == BOOL, "an assumption is not a truth value")
        want(not any(mentions(e, ("var", "tid", "read"))), "an assumption is about more than parameters")
        facts += [e, *program.conj([e])]
    return frozenset(f for f in facts if not program.opaque(f))


def digest_of(document: dict[str, Json]) -> str:
    rest = {name: value for name, value in document.items() if name != "digest"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def claim_text(document: dict[str, Json], bound: Poly) -> str:
    kernel, metric = document["kernel"]["name"], document["metric"]["name"]
    text = f"{kernel}: every warp costs at most {show_poly(bound)} ({metric}, scope {document['scope']})"
    if assumptions := document["launch"]["assumptions"]:
        text += f", on {len(assumptions)} assumption(s) about parameters"
    if document["admitted"]:
        numbers = ", ".join(f"#{i}" for i in sorted(document["admitted"]))
        text += f"; assumed besides: all threads of a block reach the barriers {numbers} together"
    return text


def recheck(document: object) -> Report:
    """Whether a certificate proves its claim. Never raises."""
    digest, checker = "", None
    try:
        certificate = record(document, FIELDS, "a certificate")
        digest = digest_of(certificate)
        want(certificate["digest"] == digest, "the digest is not that of the content")
        checker = Checker(certificate)
        claim = claim_text(certificate, checker.run())
    except Bad as problem:
        where = f"{checker.where}: " if checker and checker.where else ""
        return Report("invalid", digest, [], f"{where}{problem}", "")
    except (RecursionError, MemoryError, OverflowError):
        return Report("invalid", digest, [], "the certificate is too deep or too large", "")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return Report("invalid", digest, [], f"the certificate is malformed: {error!s:.200}", "")
    return Report("solver-backed" if checker.solver_backed else "valid", digest, checker.solver_backed, "", claim)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a field occurs twice")
    return dict(pairs)


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def main(argv: list[str] | None = None) -> int:
    """The command; see the head of this file."""
    parser = argparse.ArgumentParser(prog="recheck", description="Check a certificate again, without the kernel.")
    parser.add_argument("certificate", metavar="CERT.json")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args(argv)
    try:
        text = Path(options.certificate).read_text(encoding="utf-8")
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except OSError as error:
        print(f"cannot read '{options.certificate}': {error.strerror}", file=sys.stderr)
        return 2
    except (ValueError, RecursionError) as error:
        print(f"'{options.certificate}' is no JSON document: {error!s:.200}", file=sys.stderr)
        return 2
    report = recheck(document)
    if options.format == "json":
        names = ("verdict", "digest", "solver_backed", "problem")
        print(json.dumps({name: getattr(report, name) for name in names}, sort_keys=True))
    else:
        print("\n".join((report.verdict, *filter(None, (report.claim, report.problem)), *report.solver_backed)))
    return {"valid": 0, "solver-backed": 1, "invalid": 3}[report.verdict]


if __name__ == "__main__":
    sys.exit(main())
