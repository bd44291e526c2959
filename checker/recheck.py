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
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count, product
from math import gcd, lcm, prod
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

LARGEST: Final = 1 << 256
"""No integer of a certificate is larger."""
MAX_SIZE: Final = 1 << 16
"""No element is larger, in bytes."""
MAX_UNIT: Final = 1024
"""No number of the hardware is larger."""
MAX_BLOCK: Final = 1024
MAX_TERMS: Final = 1 << 14
"""A product of potentials that could have more terms than this is refused."""
MAX_STEPS: Final = 1 << 18
"""Steps of normalisation in one certificate; doubly nested conditions could grow without limit."""
MAX_DEGREE: Final = 64
MAX_THREADS: Final = 2048
"""Larger blocks are not enumerated."""
MAX_SHIFT: Final = 64
MAX_LANE_TERMS: Final = 64
MAX_TRIES: Final = 4096
"""How often a lane follows definitions into definitions; equations may be circular."""
MAX_JOINT: Final = 4096
"""Joint residues of the unknowns that are tried before rows count as disjoint."""


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

ONE: Final[Mono] = frozenset()
ZERO: Final[Poly] = frozenset()


def total(terms: Iterable[tuple[Mono, Rational]]) -> Poly:
    sums: dict[Mono, Rational] = {}
    for mono, c in terms:
        sums[mono] = sums.get(mono, 0) + c
    return frozenset((mono, c) for mono, c in sums.items() if c)


def number(c: Rational) -> Poly:
    return frozenset({(ONE, c)}) if c else ZERO


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


def fixed(p: Poly) -> Rational | None:
    """The value of a constant potential."""
    if len(p) > 1 or any(mono for mono, _ in p):
        return None
    return next((c for _, c in p), 0)


def offset(p: Poly) -> Rational:
    return next((c for mono, c in p if not mono), 0)


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
    if atom in swap:
        return swap[atom]
    match atom[0]:
        case "max0":
            new = max0(replaced(atom[1], swap))
        case "floor":
            new = floor_of(replaced(atom[1], swap), atom[2])
        case "log2":
            new = log2_of(replaced(atom[1], swap))
        case _:
            return single(atom)
    # a replacement inside may uncover a max0 to replace; never a variable, whose new value may mention it
    uncovered = any(a[0] == "max0" and a in swap for mono, _ in new for a, _ in mono)
    return replaced(new, swap) if uncovered else new


def leaves(p: Poly) -> set[Atom]:
    """The variables, parameters and tids in p."""
    found: set[Atom] = set()
    for mono, _ in p:
        for atom, _ in mono:
            found |= leaves(atom[1]) if atom[0] in ("max0", "floor", "log2") else {atom}
    return found


def variables(p: Poly) -> Names:
    return frozenset(leaf[1] for leaf in leaves(p) if leaf[0] == "var")


def poly_of(e: Expr) -> Poly | None:
    """The integer expression e as a potential."""
    match e:
        case ("var" | "param" | "tid", _):
            return single(e)
        case ("const", ("int", _, _), value):
            return number(value)
        case ("op", "neg", a):
            p = poly_of(a)
            return None if p is None else scaled(p, -1)
        case ("op", op, a, b):
            p, q = poly_of(a), poly_of(b)
            return None if p is None or q is None else _binary(op, p, q)
    return None


def _binary(op: str, p: Poly, q: Poly) -> Poly | None:
    c = fixed(q)
    k = -1 if c is None else int(c)
    match op:
        case "+":
            return plus(p, q)
        case "-":
            return minus(p, q)
        case "*":
            return times(p, q)
        case "min":
            return minus(p, max0(minus(p, q)))
        case "max":
            return plus(p, max0(minus(q, p)))
        case "/" | "%" if k > 0:
            quotient = minus(floor_of(max0(p), k), floor_of(max0(scaled(p, -1)), k))
            return quotient if op == "/" else minus(p, scaled(quotient, k))
        case "<<" if 0 <= k < 64:
            return scaled(p, 1 << k)
        case ">>" if 0 <= k < 64:
            return floor_of(p, 1 << k)
        case "&" if k > 0 and k & (k + 1) == 0:
            return minus(p, scaled(floor_of(p, k + 1), k + 1))
    return None


# --- text for messages ------------------------------------------------------------------------------------------------


def show(e: Expr) -> str:
    match e:
        case ("tid", axis):
            return f"tid.{axis}"
        case ("const", _, value):
            return str(value).lower() if isinstance(value, bool) else str(value)
        case ("op", op, a, b):
            return f"({show(a)} {op} {show(b)})"
        case ("op", op, *args):
            return f"{op}({', '.join(show(a) for a in args)})"
        case ("read", array, index, *_):
            return f"{array}[{show(index)}]"
    return str(e[1])


def show_poly(p: Poly) -> str:
    def atom_text(atom: Atom) -> str:
        match atom:
            case ("max0", q):
                return f"max(0, {show_poly(q)})"
            case ("floor", q, k):
                return f"floor(({show_poly(q)})/{k})"
            case ("log2", q):
                return f"log2({show_poly(q)})"
        return show(atom)

    def term_text(mono: Mono, c: Rational) -> str:
        parts = sorted(atom_text(a) for a, e in mono for _ in range(e))
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
    right = isinstance(value, list | tuple) and (length is None or len(value) == length)
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

    # --- expressions ----------------------------------------------------------------------------------------------

    def expression(self, row: Json, fresh: bool = False) -> Expr:
        """A well-typed expression. `fresh` allows the variables that stand for all values."""
        e = self._expression(row, fresh)
        self.type_of(e)
        return e

    def _expression(self, row: Json, fresh: bool) -> Expr:
        want(isinstance(row, list | tuple) and len(row) >= 2 and isinstance(row[0], str), "an expression is a list")
        match list(row):
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
            case ("var" | "param" as kind, str(name)):
                if kind == "var" and re.fullmatch(r"\?[ib][0-9]*", name):
                    return INT if name[1] == "i" else BOOL
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
            case ("op", op, *args):
                found = _result(op, tuple(self.type_of(a) for a in args))
                if found is not None:
                    return found
        raise Bad(f"the operator '{e[1]:.80}' does not take these operands")

    def opaque(self, e: Expr) -> bool:
        """Whether e depends on array contents or base-typed values."""
        self.spend()
        match e:
            case ("read", *_):
                return True
            case ("op", op, *args):
                return op.startswith(("call:", "as:")) or any(map(self.opaque, args))
            case ("tid", _):
                return False
        return self.type_of(e)[0] == "base"

    def abstract(self, e: Expr) -> Expr:
        """e with a variable of its own, which stands for all values, for each opaque part."""
        numbers = count()

        def walk(t: Expr) -> Expr:
            if t[0] == "op" and not t[1].startswith(("call:", "as:")):
                args: tuple[Expr, ...] = t[2:]
                if all(self.type_of(a)[0] != "base" for a in args):
                    return ("op", t[1], *map(walk, args))
            if not self.opaque(t):
                return t
            return ("var", f"?{'b' if self.type_of(t) == BOOL else 'i'}{next(numbers)}")

        return walk(e)

    # --- assertions -----------------------------------------------------------------------------------------------

    def conj(self, facts: Iterable[Expr]) -> Facts:
        """The conjunction in canonical form, as a set."""
        found: set[Expr] = set()
        for fact in facts:
            todo = [self._nnf(fact, True)]
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
                join = _and if (op == "&&") == positive else _or
                return join(self._nnf(a, positive), self._nnf(b, positive))
            case ("op", "?:", c, a, b):
                yes = _and(self._nnf(c, True), self._nnf(a, positive))
                return _or(yes, _and(self._nnf(c, False), self._nnf(b, positive)))
            case ("op", "bool", a):
                return self._nnf(("op", "!=", a, ("const", INT, 0)), positive)
            case ("const", _, bool(value)):
                return TRUE if value == positive else FALSE
        if self.opaque(e):
            return TRUE
        if positive:
            return e
        if e[0] == "op" and e[1] in OPPOSITE:
            return ("op", OPPOSITE[e[1]], *e[2:])
        return ("op", "!", e)

    def given(self, p: Facts, e: Expr, holds: bool = True) -> Facts:
        """P & e, or P & !e."""
        return self.conj((*p, e if holds else ("op", "!", e)))

    def assigned(self, p: Facts, var: str, e: Expr) -> Facts:
        """P[x <- e]"""
        value = self.abstract(e)

        def put(t: Expr) -> Expr:
            self.spend()
            match t:
                case ("var", name):
                    return value if name == var else t
                case ("op", op, *args):
                    return ("op", op, *map(put, args))
            return t

        return self.conj(map(put, p))

    def updated(self, q: Poly, var: str, e: Expr) -> Poly:
        """Q[x <- e]"""
        if var not in variables(q):
            return q
        value = poly_of(self.abstract(e))
        return replaced(q, {("var", var): single(("var", "?i")) if value is None else value})

    # --- potentials -----------------------------------------------------------------------------------------------

    def potential(self, rows: Json, inside_proof: bool = False) -> Poly:
        """A potential in canonical form. tid and the variables that stand for all values occur in proofs only."""
        found: dict[Mono, Rational] = {}
        for row in array_of(rows, "a potential"):
            c, atoms = array_of(row, "a term", 2)
            atoms = array_of(atoms, "a monomial")
            want(len(atoms) <= MAX_DEGREE, "a monomial has too many factors")
            mono = frozenset(Counter(self._atom(a, inside_proof) for a in atoms).items())
            want(mono not in found, "a monomial occurs twice in a potential")
            found[mono] = rational(c, "a coefficient", None)
            want(found[mono] != 0, "a coefficient is 0")
        return frozenset(found.items())

    def _atom(self, row: Json, inside_proof: bool) -> Atom:
        want(isinstance(row, list | tuple) and len(row) in (2, 3), "a base function is a list")
        match list(row):
            case ["var" | "param" | "tid", _]:
                leaf = self.expression(row, inside_proof)
                want(inside_proof or leaf[0] != "tid", "a potential depends on tid")
                want(self.type_of(leaf) == INT, f"a potential depends on '{leaf[1]:.80}', which is not an int")
                return leaf
            case ["max0", arg]:
                p = self.potential(arg, inside_proof)
                atom, normal = ("max0", p), max0(p)
            case ["floor", arg, k]:
                p, divisor = self.potential(arg, inside_proof), integer(k, "a divisor", 2)
                want(integral(p), "floor of a potential without integer coefficients")
                atom, normal = ("floor", p, divisor), floor_of(p, divisor)  # type: ignore[assignment]
            case ["log2", arg]:
                p = self.potential(arg, inside_proof)
                atom, normal = ("log2", p), log2_of(p)
            case _:
                raise Bad("a base function is not known")
        want(normal == single(atom), f"{row[0]} is not in canonical form")
        return atom

    # --- metric ---------------------------------------------------------------------------------------------------

    def price(self, constant: str) -> Poly:
        return number(self.fixed.get(constant, 0))

    def price_of(self, constant: str, n: int) -> Poly:
        slope, at_0 = self.counted.get(constant, (Fraction(0), Fraction(0)))
        return number(max(Fraction(0), slope * n + at_0))


def _and(a: Expr, b: Expr) -> Expr:
    if a == TRUE or b == FALSE:
        return b
    return a if b == TRUE or a == FALSE else ("op", "&&", a, b)


def _or(a: Expr, b: Expr) -> Expr:
    if a == FALSE or b == TRUE:
        return b
    return a if b == FALSE or a == TRUE else ("op", "||", a, b)


def _result(op: str, ts: tuple[Type, ...]) -> Type | None:
    """The type of an operator's result."""
    a, base = ts[0], ts[0][0] == "base"
    if len(ts) == 2:
        if ts == (INT, INT) and op in ARITHMETIC:
            return INT
        if ts[0] == ts[1] and op in OPPOSITE:
            return BOOL if a != BOOL or op in ("==", "!=") else None
        if ts == (BOOL, BOOL) and op in ("&&", "||"):
            return BOOL
        if ts[0] == ts[1] and base and op in ("+", "-", "*", "/", "min", "max"):
            return a
    if len(ts) == 3 and op == "?:" and a == BOOL and ts[1] == ts[2]:
        return ts[1]
    if len(ts) == 1:
        if (op in ("neg", "abs") and (a == INT or base)) or (op == "~" and a == INT) or (op == "!" and a == BOOL):
            return a
        if (op == "int" and a != INT) or (op == "bool" and a != BOOL):
            return INT if op == "int" else BOOL
        if op in ("as:float", "as:double"):
            return ("base", op[3:], 4 if op == "as:float" else 8)
        if base and op.startswith("as:") and len(op) > 3:
            return ("base", op[3:], a[2])
    return a if base and op.startswith("call:") and len(op) > 5 else None


# --- lanes: what expressions are worth at every thread ----------------------------------------------------------------

Val = int | Poly | None
"""A polynomial over unknowns that all lanes of a warp share; None where a lane's value is not known that well."""


def lift(v: int | Poly) -> Poly:
    return number(v) if isinstance(v, int) else v


def lowered(p: Poly) -> int | Poly:
    c = fixed(p)
    return p if c is None else int(c)


def linear(a: int | Poly, b: int | Poly, k: int = 1) -> int | Poly:
    """a + k*b"""
    return a + k * b if isinstance(a, int) and isinstance(b, int) else lowered(plus(lift(a), scaled(lift(b), k)))


def c_quotient(a: int, b: int) -> int:
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


CONCRETE: Final[dict[str, Callable[..., int]]] = {
    "neg": lambda a: -a,
    "~": lambda a: ~a,
    "!": lambda a: 1 - a,
    "int": lambda a: a,
    "abs": abs,
    "bool": lambda a: int(a != 0),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": c_quotient,
    "%": lambda a, b: a - b * c_quotient(a, b),
    "<<": lambda a, b: a << b if b >= 0 else 0,
    ">>": lambda a, b: a >> b if b >= 0 else 0,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "min": min,
    "max": max,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}


@dataclass(slots=True)
class Lane:
    tid: dict[str, Val]
    known: dict[str, int | Poly] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    tries: int = 0


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
        case ("op", "neg", u):
            yield from isolated(u, ("op", "neg", b))


def mentions(e: Expr, kinds: tuple[str, ...]) -> Iterator[Expr]:
    if e[0] in kinds:
        yield e
    for part in e[1:]:
        if isinstance(part, tuple) and e[0] in ("op", "read"):
            yield from mentions(part, kinds)


class Lanes:
    """The threads that P allows, and the values that P implies. Whatever is in doubt is None, or an active lane."""

    def __init__(self, p: Facts, x: Names, program: Program) -> None:
        self.program, self.x = program, x
        self.low: dict[Atom, int] = {}
        self.high: dict[Atom, int] = {}
        self.instead: dict[Atom, int | Poly] = {}
        self.together = False
        self.nowhere = Lane(dict.fromkeys(AXES))
        self.definitions: dict[str, list[Expr]] = {}
        facts = sorted(p | program.launch, key=repr)
        for fact in facts:
            self._define(fact)
        self._learn(facts)
        self.nowhere = Lane(dict.fromkeys(AXES))
        self._reduce(facts)
        self.nowhere = Lane(dict.fromkeys(AXES))
        local = [f for f in facts if any(t[0] == "tid" or t[1] not in x for t in mentions(f, ("var", "tid")))]
        self.exact, warps = self._threads()
        self.nobody = any(self.value(f, self.nowhere) == 0 for f in facts)
        """Whether P excludes all threads."""
        self.warps = [
            [lane for lane in warp if not self.nobody and all(self.value(f, lane) != 0 for f in local)]
            for warp in warps
        ]

    def _define(self, fact: Expr) -> None:
        match fact:
            case ("var", name):
                self.definitions.setdefault(name, []).append(TRUE)
            case ("op", "!", ("var", name)):
                self.definitions.setdefault(name, []).append(FALSE)
            case ("op", "==", a, b):
                for leaf, e in (*isolated(a, b), *isolated(b, a)):
                    self.definitions.setdefault(leaf[1], []).append(e)

    def _learn(self, facts: list[Expr]) -> None:
        """Bounds of the unknowns, from the facts that do not depend on the lane. Twice: bounds give bounds."""
        for fact in facts * 2:
            if fact[0] != "op" or fact[1] not in OPPOSITE or fact[1] == "!=":
                continue
            _, op, *sides = fact
            a, b = (self.value(e, self.nowhere) for e in sides)
            if a is None or b is None:
                continue
            if op in ("<", "<=", "=="):
                self._nonnegative(linear(linear(b, a, -1), -int(op == "<")))
            if op in (">", ">=", "=="):
                self._nonnegative(linear(linear(a, b, -1), -int(op == ">")))

    def _nonnegative(self, v: int | Poly) -> None:
        for mono, c in lift(v):
            if len(mono) != 1:
                continue
            ((atom, e),) = mono
            top = self.bounds(lowered(minus(lift(v), frozenset({(mono, c)}))))[1]
            if e == 1 and top is not None and c > 0:
                self.low[atom] = max(-(top // int(c)), self.low.get(atom, -LARGEST))
            elif e == 1 and top is not None:
                self.high[atom] = min(top // -int(c), self.high.get(atom, LARGEST))

    def _reduce(self, facts: list[Expr]) -> None:
        """Where P says u % k == r, u is k*q + r for some q, whatever their signs."""
        for fact in facts:
            for e, k, r in _congruences(fact):
                v, m, rest = (self.value(t, self.nowhere) for t in (e, k, r))
                if v is None or isinstance(v, int) or not isinstance(m, int) or not isinstance(rest, int) or m == 0:
                    continue
                inside = [(mono, c) for mono, c in v if mono]
                ((atom, power), *more) = inside[0][0]
                if (
                    len(inside) == 1
                    and not more
                    and power == 1
                    and inside[0][1] in (1, -1)
                    and atom not in self.instead
                ):
                    k_ = abs(m)
                    residue = int((rest - offset(v)) * inside[0][1]) % k_
                    low, high = self.low.get(atom), self.high.get(atom)
                    q = self._unknown(
                        ("quotient", atom),
                        None if low is None else -((residue - low) // k_),
                        None if high is None else (high - residue) // k_,
                    )
                    self.instead[atom] = linear(residue, q, k_)

    def _threads(self) -> tuple[bool, list[list[Lane]]]:
        """Whether every thread is there, and lanes by warps. Otherwise one warp, or one lane, stands for all."""
        size = self.program.hardware["warp"]
        x, y, z = (self.value(("param", f"blockDim.{axis}"), self.nowhere) for axis in AXES)
        if isinstance(x, int) and isinstance(y, int) and isinstance(z, int) and 0 < x * y * z <= MAX_THREADS:
            lanes = [Lane({"x": i % x, "y": i // x % y, "z": i // (x * y)}) for i in range(x * y * z)]
            return True, [lanes[i : i + size] for i in range(0, len(lanes), size)]
        if size > MAX_THREADS or not (y == z == 1 or (isinstance(x, int) and x % size == 0)):
            return False, [[self.nowhere]]
        first = self._unknown(("warp",), 0)
        row: dict[str, Val] = {
            a: 0 if d == 1 else self._unknown(("tid", a), 0) for a, d in zip("yz", (y, z), strict=True)
        }
        return False, [[Lane({"x": linear(i, first, size), **row}) for i in range(size)]]

    # --- values ---------------------------------------------------------------------------------------------------

    def _unknown(self, atom: Atom, low: int | None = None, high: int | None = None) -> int | Poly:
        if low is not None:
            self.low[atom] = max(low, self.low.get(atom, low))
        if high is not None:
            self.high[atom] = min(high, self.high.get(atom, high))
        low, high = self.low.get(atom), self.high.get(atom)
        return low if low is not None and low == high else single(atom)

    def bounds(self, v: int | Poly) -> tuple[int | None, int | None]:
        low: int | None = 0
        high: int | None = 0
        for mono, c in lift(v):
            lows = [self.low.get(atom) for atom, e in mono for _ in range(e)]
            highs = [self.high.get(atom) for atom, e in mono for _ in range(e)]
            lo: int | None = None
            hi: int | None = None
            if len(lows) == 1:
                lo, hi = lows[0], highs[0]
            elif all(b is not None and b >= 0 for b in lows):
                lo = prod(b for b in lows if b is not None)
                hi = None if None in highs else prod(b for b in highs if b is not None)
            if c < 0:
                lo, hi = hi, lo
            low = None if low is None or lo is None else low + int(c) * lo
            high = None if high is None or hi is None else high + int(c) * hi
        return low, high

    def value(self, e: Expr, lane: Lane) -> Val:
        """What P implies that e is worth at a lane, truth values being 0 and 1."""
        match e:
            case ("const", t, value):
                return self._unknown(("literal", t, value)) if t[0] == "base" else int(value)
            case ("tid", axis):
                return lane.tid[axis]
            case ("var" | "param", _):
                return self._leaf(e, lane)
            case ("read", array, index, occurrence):
                at = self.value(index, lane)
                return None if at is None or not self.together else self._unknown(("read", array, at, occurrence))
            case ("function", op, *args):
                values = [self.value(a, lane) for a in args]
                return None if None in values else self._unknown(("function", op, tuple(values)))
            case ("op", "&&" | "||" as op, a, b):
                return self._connective(op, self.value(a, lane), self.value(b, lane))
            case ("op", "?:", c, a, b):
                test = self.value(c, lane)
                if isinstance(test, int):
                    return self.value(a if test else b, lane)
                yes, no = self.value(a, lane), self.value(b, lane)
                if test is None or yes is None or no is None:
                    return yes if yes == no else None
                return yes if yes == no else self._unknown(("?:", test, yes, no))
            case ("op", op, *args):
                operands = [v for a in args if (v := self.value(a, lane)) is not None]
                if len(operands) < len(args):
                    return None
                if op in ("==", "!=") and self._incongruent(args, lane):
                    return int(op == "!=")
                v = self._operator(op, operands)
                return None if not isinstance(v, int) and len(v) > MAX_LANE_TERMS else v
        return None

    def _leaf(self, e: Expr, lane: Lane) -> Val:
        """By a definition, or as an unknown if it is shared. A shared leaf has one value, which no lane decides."""
        kind, name = e
        shared = kind == "param" or name in self.x
        lane = self.nowhere if shared else lane
        if name in lane.known:
            return lane.known[name]
        alone = not lane.pending
        lane.tries += not alone
        if name in lane.failed or name in lane.pending or lane.tries > MAX_TRIES:
            return self._shared(e) if shared else None
        lane.pending.add(name)
        found = next((v for d in self.definitions.get(name, ()) if (v := self.value(d, lane)) is not None), None)
        lane.pending.discard(name)
        if found is None and shared:
            found = self._shared(e)
        if found is not None and (alone or not shared):
            lane.known[name] = found
        elif found is None and alone:
            lane.failed.add(name)
        return found

    def _shared(self, e: Expr) -> int | Poly:
        return self.instead[e] if e in self.instead else self._unknown(e)

    def _connective(self, op: str, a: Val, b: Val) -> Val:
        absorbing = int(op == "||")
        if absorbing in (a, b):
            return absorbing
        if a is None or b is None:
            return None
        if isinstance(a, int):
            return b
        return a if isinstance(b, int) else self._unknown((op, a, b))

    def _incongruent(self, args: list[Expr], lane: Lane) -> bool:
        """Whether e % k == r is false by the residues: e and e % k are congruent, whatever their signs."""
        for u, other in (args, args[::-1]):
            if u[:2] == ("op", "%"):
                e, k, r = self.value(u[2], lane), self.value(u[3], lane), self.value(other, lane)
                if isinstance(k, int) and k != 0 and e is not None and r is not None:
                    difference = lift(linear(e, r, -1))
                    if all(c % k == 0 for mono, c in difference if mono) and offset(difference) % k:
                        return True
        return False

    def _floor(self, v: int | Poly, k: int) -> int | Poly:
        whole = lowered(total((mono, c // k) for mono, c in lift(v)))
        rest = linear(v, whole, -k)
        low, high = (None if b is None else b // k for b in self.bounds(rest))
        return linear(whole, low if low is not None and low == high else self._unknown(("floor", rest, k), low, high))

    def _quotient(self, v: int | Poly, k: int) -> int | Poly:
        """C's v / k"""
        if k <= 0:
            return linear(0, self._quotient(v, -k), -1) if k else 0
        low, high = self.bounds(v)
        if (low is not None and low >= 0) or all(c % k == 0 for _, c in lift(v)):
            return self._floor(v, k)
        if high is not None and high <= 0:
            return linear(0, self._floor(linear(0, v, -1), k), -1)
        return self._unknown(("/", v, k))

    def _at_least_0(self, v: int | Poly) -> int | Poly:
        low, high = self.bounds(v)
        if low is not None and low >= 0:
            return 1
        return 0 if high is not None and high < 0 else self._unknown((">=", v), 0, 1)

    def _is_0(self, v: int | Poly) -> int | Poly:
        low, high = self.bounds(v)
        if low == 0 == high:
            return 1
        inside = gcd(*(int(c) for mono, c in lift(v) if mono))
        if (low is not None and low > 0) or (high is not None and high < 0) or (inside and offset(lift(v)) % inside):
            return 0
        return self._unknown(("==", frozenset((lift(v), scaled(lift(v), -1)))), 0, 1)

    def _operator(self, op: str, args: list[int | Poly]) -> int | Poly:
        a, b = args[0], args[-1]
        if op == "<<" and not (isinstance(b, int) and b <= MAX_SHIFT):
            return self._unknown((op, a, b))
        if op in CONCRETE and all(isinstance(v, int) for v in args):
            return int(CONCRETE[op](*args))
        match op:
            case "neg" | "~":
                return linear(-int(op == "~"), a, -1)
            case "!":
                return linear(1, a, -1)
            case "int":
                return a
            case "bool":
                return linear(1, self._is_0(a), -1)
            case "+" | "-":
                return linear(a, b, 1 if op == "+" else -1)
            case "*" if len(lift(a)) * len(lift(b)) <= MAX_LANE_TERMS:
                return lowered(times(lift(a), lift(b)))
            case "/" if isinstance(b, int):
                return self._quotient(a, b)
            case "%" if isinstance(b, int):
                return linear(a, self._quotient(a, b), -b)
            case "<<" if isinstance(b, int):
                return linear(0, a, 1 << b) if b >= 0 else 0
            case ">>" if isinstance(b, int) and b <= MAX_SHIFT:
                return self._floor(a, 1 << b) if b >= 0 else 0
            case "&" if isinstance(b, int) and b > 0 and b & (b + 1) == 0:
                return linear(a, self._floor(a, b + 1), -(b + 1))
            case "&" if isinstance(a, int) and a > 0 and a & (a + 1) == 0:
                return linear(b, self._floor(b, a + 1), -(a + 1))
            case "min" | "max":
                first = self._at_least_0(linear(a, b, -1) if op == "max" else linear(b, a, -1))
                return self._unknown((op, a, b)) if not isinstance(first, int) else a if first else b
            case "<" | "<=":
                return self._at_least_0(linear(linear(b, a, -1), -int(op == "<")))
            case ">" | ">=":
                return self._at_least_0(linear(linear(a, b, -1), -int(op == ">")))
            case "==":
                return self._is_0(linear(a, b, -1))
            case "!=":
                return linear(1, self._is_0(linear(a, b, -1)), -1)
        return self._unknown((op, *args))

    # --- answers --------------------------------------------------------------------------------------------------

    def uniform(self, e: Expr) -> bool:
        groups = self.warps
        # threads of one warp read at once, and get the same at the same index; those of other warps need not
        self.together = self.program.scope == "warp" or (self.exact and len(self.warps) == 1)
        if self.program.scope == "block":
            everyone = self.exact or self.nobody
            groups = [[lane for warp in self.warps for lane in warp]] if everyone else [[self.nowhere]]
        for group in groups:
            values = {self.value(e, lane) for lane in group}
            if None in values or len(values) > 1:
                return False
        return True

    def most(self, what: str, array: Array, index: Expr) -> int:
        """The most sectors, or words in one bank, that the lanes of one warp can touch."""
        most = 0
        seen: set[Any] = set()
        one = most_of_one(what, array, self.program.hardware)
        self.together = True  # in one warp
        for warp in self.warps:
            values = [self.value(index, lane) for lane in warp]
            anywhere = values.count(None)
            key = anywhere, frozenset(values)
            if key in seen:
                continue
            seen.add(key)
            if warp and warp[0] is self.nowhere:
                anywhere *= self.program.hardware["warp"]
            rows: dict[Poly, set[int]] = {}
            for v in values:
                if v is not None:
                    c = int(offset(lift(v)))
                    rows.setdefault(minus(lift(v), number(c)), set()).add(c)
            most = max(most, anywhere * one + self._rows(what, array, rows))
        return most

    def _rows(self, what: str, array: Array, rows: dict[Poly, set[int]]) -> int:
        """The most that indices can touch which are, in each row, an unknown part plus one of the constants."""
        if not rows:
            return 0
        hw, unknown = self.program.hardware, list(rows)
        period = hw["sector"] if what == "MemReads" else hw["word"] * (hw["banks"] if len(rows) > 1 else 1)
        steps: dict[Mono, int] = {}
        for row in unknown:
            for mono, c in row:
                steps[mono] = gcd(array.stride * int(c), steps.get(mono, period))
        ranges = [self._range(mono, period // step) for mono, step in steps.items()]
        if prod(map(len, ranges)) > MAX_JOINT:
            if len(rows) > 1:
                return sum(self._rows(what, array, {row: rows[row]}) for row in unknown)
            step = gcd(*steps.values())
            return max(max(self._touched(what, array, rows[unknown[0]], s).values()) for s in range(0, period, step))
        memo: dict[tuple[Poly, int], Counter[int]] = {}
        most = 0
        for chosen in product(*ranges):
            at = dict(zip(steps, chosen, strict=True))
            touched: Counter[int] = Counter()
            for row in unknown:
                shift = array.stride * sum(int(c) * at[mono] for mono, c in row) % period
                if (row, shift) not in memo:
                    memo[row, shift] = self._touched(what, array, rows[row], shift)
                touched.update(memo[row, shift])
            most = max(most, *touched.values())
        return most

    def _range(self, mono: Mono, size: int) -> range:
        low, high = self.bounds(frozenset({(mono, 1)}))
        return range(low, high + 1) if low is not None and high is not None and high - low < size else range(size)

    def _touched(self, what: str, array: Array, indices: set[int], shift: int) -> Counter[int]:
        """Words by bank, or all sectors under 0."""
        hw = self.program.hardware
        unit = hw["sector" if what == "MemReads" else "word"]
        starts = [array.stride * i + array.offset + shift for i in indices]
        units = {u for a in starts for u in range(a // unit, (a + array.width - 1) // unit + 1)}
        return Counter({0: len(units)}) if what == "MemReads" else Counter(u % hw["banks"] for u in units)


def most_of_one(what: str, array: Array, hw: dict[str, int]) -> int:
    """The most that a single element can touch, wherever it lies."""
    unit = hw["sector" if what == "MemReads" else "word"]
    step = gcd(unit, array.stride)
    worst = max((array.offset + shift) % unit for shift in range(0, unit, step))
    units = (worst + array.width - 1) // unit + 1
    return units if what == "MemReads" else -(-units // hw["banks"])


def _congruences(fact: Expr) -> Iterator[tuple[Expr, Expr, Expr]]:
    """(e, k, r) where the fact implies that k divides e - r."""
    match fact:
        case ("op", "==", a, b):
            for u, r in ((a, b), (b, a)):
                match u:
                    case ("op", "%", e, k):
                        yield e, k, r
                    case ("op", "&", e, ("const", t, int(mask))) if mask > 0 and mask & (mask + 1) == 0:
                        yield e, ("const", t, mask + 1), r


def prepared(e: Expr, program: Program) -> Expr:
    """e with its reads numbered, since no two return the same, and operators on base types as plain functions."""
    numbers = count()

    def walk(t: Expr) -> Expr:
        match t:
            case ("read", array, index):
                return ("read", array, walk(index), next(numbers))
            case ("op", op, *args):
                kinds = [program.type_of(a)[0] for a in args]
                function = op.startswith(("call:", "as:")) or (op != "?:" and "base" in kinds)
                return ("function" if function else "op", op, *map(walk, args))
        return t

    return walk(e)


# --- arithmetic proofs ------------------------------------------------------------------------------------------------


def shortfalls(op: str, p: Poly, q: Poly) -> dict[str, Poly]:
    """The quantities that `p op q` makes nonnegative, by sign."""
    up, down = minus(q, p), minus(p, q)
    match op:
        case "<":
            return {"+": minus(up, number(1))}
        case "<=":
            return {"+": up}
        case ">":
            return {"-": minus(down, number(1))}
        case ">=":
            return {"-": down}
        case "==":
            return {"+": up, "-": down}
    return {}


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
        if set(proof) in ({"split", "yes", "no"}, {"settle", "as", "because", "then"}):
            (self._split if "split" in proof else self._settle)(goal, proof, what)
            return
        kind = next(iter(proof), "")
        want(len(proof) == 1 and kind in ("sum", "absurd"), f"{what}: a proof is a sum, absurd or a split")
        self._sum(self._replaced(goal) if kind == "sum" else number(-1), proof[kind], what)

    def _sum(self, wanted: Poly, rows: Json, what: str) -> None:
        terms = []
        for row in array_of(rows, "a sum"):
            c, factors = array_of(row, "a summand", 2)
            factors = array_of(factors, "a product")
            want(len(factors) <= MAX_DEGREE, f"{what}: a product has too many factors")
            term = number(rational(c, "a summand's coefficient"))
            for f in factors:
                term = times(term, self._replaced(self._factor(f)))
            terms.append(term)
        found = plus(*terms)
        want(found == wanted, f"{what}: the sum is {show_poly(found):.200} and not {show_poly(wanted):.200}")

    def _settle(self, goal: Poly, proof: dict[str, Json], what: str) -> None:
        """The sign of an argument of max0 is shown, not assumed."""
        p = self._replaced(self.program.potential(proof["settle"], True))
        want(proof["as"] in ("arg", "zero"), f"{what}: an argument is settled as 'arg' or as 'zero'")
        sign = 1 if proof["as"] == "arg" else -1
        self._sum(self._replaced(scaled(p, sign)), proof["because"], what)
        self._with(p, sign == 1).prove(goal, proof["then"], what)

    def _split(self, goal: Poly, proof: dict[str, Json], what: str) -> None:
        p = self._replaced(self.program.potential(proof["split"], True))
        want(integral(p), f"{what}: a split on a potential without integer coefficients")
        self._with(p, True, p).prove(goal, proof["yes"], what)
        self._with(p, False, minus(scaled(p, -1), number(1))).prove(goal, proof["no"], what)

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


# --- the rules --------------------------------------------------------------------------------------------------------

KINDS: Final = {"P": "assertions", "Q": "potentials", "e": "expressions", "o": "expressions", "k": "expressions"} | {
    "s": "statements"
}


class Checker:
    """Applies the rules of a derivation, one after the other. Raises Bad at the first that does not fit."""

    def __init__(self, document: dict[str, Json]) -> None:
        self.document = document
        self.solver_backed: list[str] = []
        self.views: dict[tuple[Facts, Names], Lanes] = {}
        self.shapes: dict[tuple[Any, ...], int] = {}
        self.forms: list[tuple[Any, ...]] = []
        self.written: list[Names] = []
        self.syncs: list[int] = []
        self.where = ""
        self.premises: list[Judgement] = []
        self.program = program_from(document)
        self.tables: dict[str, list[Any]] = {}
        self._fill_tables()
        self.evidence = array_of(document["evidence"], "evidence")
        self.used_evidence = 0

    # --- tables ---------------------------------------------------------------------------------------------------

    def _fill_tables(self) -> None:
        read = {name: array_of(self.document[name], name) for name in (*KINDS.values(),)}
        self.tables["expressions"] = [self.program.expression(row) for row in read["expressions"]]
        self.tables["potentials"] = [self.program.potential(row) for row in read["potentials"]]
        self.tables["assertions"] = []
        for row in read["assertions"]:
            facts = [self.at("expressions", i) for i in array_of(row, "an assertion")]
            want(all(self.program.type_of(f) == BOOL for f in facts), "a conjunct is not a truth value")
            self.tables["assertions"].append(self.program.conj(facts))
        self.tables["statements"] = []
        for row in read["statements"]:
            self.tables["statements"].append(self._statement(array_of(row, "a statement")))

    def at(self, table: str, i: Json) -> Any:
        rows = self.tables[table]
        return rows[integer(i, f"an index into {table}", 0, len(rows) - 1)]

    def _statement(self, row: list[Json]) -> int:
        match row:
            case ["skip"] | ["sync"]:
                return self.statement(row[0])
            case ["seq", parts]:
                children = [self.at("statements", i) for i in array_of(parts, "a sequence")]
                flat = all(self.forms[s][0] != "seq" for s in children)
                want(len(children) >= 2 and flat, "a sequence has two parts or more, none of them a sequence")
                return self.statement("seq", tuple(children))
            case ["set", str(x), e]:
                return self.assign(x, self.at("expressions", e))
            case ["write", str(array), index, e]:
                return self.store(array, self.at("expressions", index), self.at("expressions", e))
            case ["if", e, then, orelse]:
                yes, no = self.at("statements", then), self.at("statements", orelse)
                return self.branch(self.at("expressions", e), yes, no)
            case ["while", e, body]:
                return self.loop(self.at("expressions", e), self.at("statements", body))
        raise Bad("a statement is not well formed")

    def statement(self, *form: Any) -> int:
        """The number of the statement with this form: the same form has the same number."""
        if form not in self.shapes:
            self.shapes[form] = len(self.forms)
            inner = form[1] if form[0] == "seq" else form[2:] if form[0] in ("if", "while") else ()
            self.forms.append(form)
            mine: Names = frozenset({form[1]} if form[0] == "set" else ())
            self.written.append(mine.union(*(self.written[s] for s in inner)))
            self.syncs.append(int(form[0] == "sync") + sum(self.syncs[s] for s in inner))
        return self.shapes[form]

    def assign(self, x: str, e: Expr) -> int:
        want(x in self.program.locals, f"'{x:.80}' is not a local variable")
        want(self.program.type_of(e) == self.program.locals[x], f"the value for '{x}' has another type")
        return self.statement("set", x, e)

    def store(self, array: str, index: Expr, e: Expr) -> int:
        read = self.program.type_of(("read", array, index))
        want(self.program.type_of(e) == read, f"the value for '{array}' has another type")
        return self.statement("write", array, index, e)

    def branch(self, e: Expr, yes: int, no: int) -> int:
        want(self.program.type_of(e) == BOOL, "a condition is not a truth value")
        return self.statement("if", e, yes, no)

    def loop(self, e: Expr, body: int) -> int:
        want(self.program.type_of(e) == BOOL, "a condition is not a truth value")
        return self.statement("while", e, body)

    def both(self, s1: int, s2: int) -> int:
        """s1; s2"""
        parts = [self.forms[s][1] if self.forms[s][0] == "seq" else (s,) for s in (s1, s2)]
        return self.statement("seq", (*parts[0], *parts[1]))

    # --- a rule application ---------------------------------------------------------------------------------------

    def value(self, letter: str, value: Json) -> Any:
        """The value of a metavariable, by the kind that its first letter tells."""
        program, first = self.program, letter[0]
        if first in KINDS and letter != "op":
            found = self.at(KINDS[first], value)
            want(first != "k" or found[0] == "const", f"{letter} has to be a literal")
            return found
        match first:
            case "X":
                names = array_of(value, letter)
                want(all(isinstance(n, str) and n in program.locals for n in names), f"{letter} is no set of locals")
                want(names == sorted(set(names)), f"{letter} is not sorted")
                return frozenset(names)
            case "C" | "c":
                return rational(value, letter)
            case "n":
                return integer(value, letter, 0)
        known: dict[str, Iterable[str]] = {
            "x": program.locals,
            "p": program.params,
            "a": AXES,
            "G": [a for a, d in program.arrays.items() if d.space == "global"],
            "S": [a for a, d in program.arrays.items() if d.space == "shared"],
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
            self.premises.append(proved[i])
        self.premises.reverse()
        conclusion = rule(self, *(self.value(letter, values[letter]) for letter in letters.split()))
        want(not self.premises, "there are too many premises")
        if conclusion[0] == "triple":
            _, _, q, x, _, _, q2, x2 = conclusion
            for potential, shared in ((q, x), (q2, x2)):
                want(variables(potential) <= shared, "a potential depends on variables that X lacks")
        return conclusion

    def premise(self, *wanted: Any) -> None:
        want(bool(self.premises), "there are too few premises")
        found = self.premises.pop()
        want(found == wanted, f"a premise ({found[0]}) is not what the rule needs")

    def cost(self, p: Facts, x: Names, e: Expr, c: Fraction) -> None:
        self.premise("cost", p, x, e, c)

    # --- side conditions ------------------------------------------------------------------------------------------

    def _entry(self, claim: str, decided: bool) -> Json:
        """The proof in the next entry; None if nothing more is to be checked."""
        want(self.used_evidence < len(self.evidence), "there is too little evidence")
        entry = record(self.evidence[self.used_evidence], "engine proof", "an entry of the evidence")
        self.used_evidence += 1
        engine = text_of(entry["engine"], "an engine")
        if entry["proof"] is None and not decided:
            self.solver_backed.append(f"{self.where}: {claim:.400} (by {engine:.40})")
        return entry["proof"]

    def at_least(self, p: Facts, x: Names, q: Poly, r: Poly) -> None:
        """P; X |- Q >= Q'"""
        goal = minus(q, r)
        constant = fixed(goal)
        claim = f"{show_facts(p, x)} |- {show_poly(q)} >= {show_poly(r)}"
        proof = self._entry(claim, constant is not None and constant >= 0)
        if proof is not None:
            arithmetic(self.program, p).prove(goal, proof, "Q >= Q'")

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
            if isinstance(row, dict) and set(row) == {"goal", "literal"}:
                goal = self.program.expression(row["goal"], True)
                want(row["literal"] is True and goal in known.facts, f"{show(goal):.200} is no fact here")
            else:
                goal_row = record(row, "goal by", "an entry of a proof")["goal"]
                by = array_of(row["by"], "the proofs of a goal")
                if goal_row is None:
                    want(len(rows) == 1 and len(by) == 1, "a contradiction is proved once, alone")
                    known.prove(number(-1), by[0], "P is contradictory")
                    return
                goal = self.program.expression(goal_row, True)
                parts = list(known.comparison(goal).values())
                want(0 < len(parts) == len(by), f"{show(goal):.200} has not so many proofs")
                for part, each in zip(parts, by, strict=True):
                    known.prove(part, each, show(goal)[:200])
            want(goal in left, f"{show(goal):.200} is no goal, or proved twice")
            left.remove(goal)
        want(not left, f"there is no proof of {show_facts(frozenset(left)):.200}")

    def _lanes(self, p: Facts, x: Names) -> Lanes:
        if (p, x) not in self.views:
            self.views[p, x] = Lanes(p, x, self.program)
        return self.views[p, x]

    def uniform(self, p: Facts, x: Names, e: Expr) -> None:
        """P; X |- e unif"""
        alike = all(t[0] == "var" and t[1] in x for t in mentions(e, ("var", "tid")))
        alike = alike and (self.program.scope == "warp" or not any(mentions(e, ("read",))))
        decided = alike or self._lanes(p, x).uniform(prepared(e, self.program))
        self._entry(f"{show_facts(p, x)} |- {show(e)} unif", decided)

    def accesses(self, what: str, p: Facts, x: Names, name: str, index: Expr, n: int) -> None:
        """P; X |- MemReads(A[o]) <= n or P; X |- Conflicts(A[o]) <= n"""
        array, hw = self.program.arrays[name], self.program.hardware
        want(self.program.type_of(index) == INT, "an index is not an int")
        decided = n >= hw["warp"] * most_of_one(what, array, hw)
        if not decided and array.width <= 64 * min(hw["sector"], hw["word"]):
            decided = self._lanes(p, x).most(what, array, prepared(index, self.program)) <= n
        self._entry(f"{show_facts(p, x)} |- {what}({name}[{show(index)}]) <= {n}", decided)

    def within(self, small: Names, large: Names) -> None:
        want(small <= large, f"{', '.join(sorted(small - large)):.200} should not be in X")

    # --- the whole ------------------------------------------------------------------------------------------------

    def meet(self, s: int, shared: Names, everyone: bool, first: int, apart: set[int]) -> Names:
        """The locals in which all threads of a block hold the same value after s, by its text alone.

        `shared` are those before s, `everyone` whether the block is undivided. `apart` gets the barriers that a part
        of it may reach alone, by number in program order; `first` is that of the first barrier in s.
        """
        self.program.spend()
        kind, *parts = self.forms[s]

        def alike(e: Expr) -> bool:
            return everyone and all(t[0] == "var" and t[1] in shared for t in mentions(e, ("var", "tid", "read")))

        match kind:
            case "sync" if not everyone:
                apart.add(first)
            case "set":
                return shared | {parts[0]} if alike(parts[1]) else shared - {parts[0]}
            case "seq":
                for t in parts[0]:
                    shared = self.meet(t, shared, everyone, first, apart)
                    first += self.syncs[t]
            case "if":
                e, yes, no = parts
                after = self.meet(yes, shared, alike(e), first, apart)
                after &= self.meet(no, shared, alike(e), first + self.syncs[yes], apart)
                return after if alike(e) else after - self.written[s]
            case "while":
                e, body = parts
                if not self.syncs[body]:
                    return shared - self.written[s]
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
        root = proved[-1]
        want(root[0] == "triple", "the root says nothing about a statement")
        _, p, q, x, s, p2, q2, x2 = root
        body = self.at("statements", self.document["kernel"]["body"])
        want(s == body, "the root is about another program than the kernel's body")
        want(not p and not x, "the precondition is not {true; Q; {}}")
        self.at_least(p2, x2, q2, ZERO)
        want(self.used_evidence == len(self.evidence), "there is more evidence than side conditions")
        admitted = [
            integer(i, "a barrier", 0, self.syncs[body] - 1) for i in array_of(self.document["admitted"], "admitted")
        ]
        apart: set[int] = set()
        self.meet(body, frozenset(), True, 0, apart)
        want(apart <= set(admitted), "a barrier that a part of the block may reach alone is not admitted")
        return q  # type: ignore[no-any-return]


def lit(e: Expr, price: str) -> Callable[[Checker, Facts, Names, Any], Judgement]:
    """The rules for operands. `e` is the kind of the operand, whose second part is the last metavariable."""

    def rule(k: Checker, p: Facts, x: Names, name: Any) -> Judgement:
        return "cost", p, x, (*e, name) if e else name, k.program.fixed.get(price, Fraction(0))

    return rule


def op_rule(k: Checker, p: Facts, x: Names, op: str, *operands: Any) -> Judgement:
    es, cs = operands[::2], operands[1::2]
    for e, c in zip(es, cs, strict=True):
        k.cost(p, x, e, c)
    whole = ("op", op, *es)
    k.program.type_of(whole)
    return "cost", p, x, whole, sum(cs, k.program.fixed.get("op", Fraction(0)))


def read_rule(what: str, price: str) -> Callable[..., Judgement]:
    def rule(k: Checker, p: Facts, x: Names, o: Expr, c: Fraction, array: str, n: int) -> Judgement:
        k.cost(p, x, o, c)
        k.accesses(what, p, x, array, o, n)
        return "cost", p, x, ("read", array, o), c + Fraction(fixed(k.program.price_of(price, n)) or 0)

    return rule


def write_rule(what: str, price: str) -> Callable[..., Judgement]:
    def rule(
        k: Checker, p: Facts, q: Poly, x: Names, o: Expr, c1: Fraction, e: Expr, c2: Fraction, array: str, n: int
    ) -> Judgement:
        k.cost(p, x, o, c1)
        k.cost(p, x, e, c2)
        k.accesses(what, p, x, array, o, n)
        paid = plus(q, k.program.price_of(price, n), number(c1 + c2))
        return "triple", p, paid, x, k.store(array, o, e), p, q, x

    return rule


def skip(k: Checker, p: Facts, q: Poly, x: Names) -> Judgement:
    return "triple", p, q, x, k.statement("skip"), p, q, x


def sync(k: Checker, p: Facts, q: Poly, x: Names) -> Judgement:
    return "triple", p, plus(q, k.program.price("sync")), x, k.statement("sync"), p, q, x


def seq(k: Checker, *v: Any) -> Judgement:
    p, q, x, s1, p1, q1, x1, s2, p_, q_, x_ = v
    k.premise("triple", p, q, x, s1, p1, q1, x1)
    k.premise("triple", p1, q1, x1, s2, p_, q_, x_)
    return "triple", p, q, x, k.both(s1, s2), p_, q_, x_


def if1(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, q, s1, p_, q_, x_, s2 = v
    k.cost(p, x, e, c)
    k.premise("triple", k.program.given(p, e), q, x, s1, p_, q_, x_)
    k.premise("triple", k.program.given(p, e, False), q, x, s2, p_, q_, x_)
    k.uniform(p, x, e)
    return "triple", p, plus(q, k.program.price("if"), number(c)), x, k.branch(e, s1, s2), p_, q_, x_


def decided_if(holds: bool) -> Callable[..., Judgement]:
    def rule(k: Checker, *v: Any) -> Judgement:
        p, x, e, c, q, s1, p_, q_, x_, s2 = v
        k.cost(p, x, e, c)
        k.premise("triple", p, q, x, s1 if holds else s2, p_, q_, x_)
        want(not k.program.opaque(e), "an opaque condition cannot be proved")
        k.entails(p, k.program.given(frozenset(), e, holds))
        return "triple", p, plus(q, k.program.price("if"), number(c)), x, k.branch(e, s1, s2), p_, q_, x_

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
    paid = plus(q, k.program.price("if"), number(c), k.program.price("div"))
    return "triple", p, paid, x, k.branch(e, s1, s2), p__, q__, x__


def while1(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, q, s = v
    paid = plus(q, k.program.price("if"), number(c))
    k.cost(p, x, e, c)
    k.premise("triple", k.program.given(p, e), q, x, s, p, paid, x)
    k.uniform(p, x, e)
    k.at_least(p, x, paid, ZERO)
    return "triple", p, paid, x, k.loop(e, s), k.program.given(p, e, False), q, x


def while2(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, q, s, q_, x_ = v
    paid = plus(q, k.program.price("if"), number(c), k.program.price("div"))
    left = k.program.given(p, e, False)
    k.cost(p, x, e, c)
    k.premise("triple", k.program.given(p, e), q, x, s, p, paid, x)
    k.at_least(p, x, paid, ZERO)
    k.at_least(left, x, q, q_)
    k.within(x_, x - k.written[s])
    return "triple", p, paid, x, k.loop(e, s), left, q_, x_


def vwrite1(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, p_, var, q, q_ = v
    k.cost(p, x, e, c)
    k.uniform(p, x, e)
    s = k.assign(var, e)
    k.entails(p, k.program.assigned(p_, var, e))
    k.at_least(p, x, q, k.program.updated(q_, var, e))
    paid = plus(q, k.program.price("vwrite"), number(c))
    return "triple", p, paid, x, s, p_, q_, x | {var}


def vwrite2(k: Checker, *v: Any) -> Judgement:
    p, x, e, c, p_, var, q = v
    k.cost(p, x, e, c)
    s = k.assign(var, e)
    k.entails(p, k.program.assigned(p_, var, e))
    k.within(variables(q), x - {var})
    paid = plus(q, k.program.price("vwrite"), number(c))
    return "triple", p, paid, x, s, p_, q, x - {var}


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
    return "triple", p1, plus(q1, number(c)), x1, s, p1_, plus(q1_, number(c)), x1_


RULES: Final[dict[str, tuple[str, Callable[..., Judgement]]]] = {
    "OQ:Var": ("P X x", lit(("var",), "var")),
    "OQ:Const": ("P X k", lit((), "const")),
    "OQ:Param": ("P X p", lit(("param",), "param")),
    "OQ:Tid": ("P X a", lit(("tid",), "var")),
    "EQ:Op1": ("P X op e1 C1", op_rule),
    "EQ:Op": ("P X op e1 C1 e2 C2", op_rule),
    "EQ:Op3": ("P X op e1 C1 e2 C2 e3 C3", op_rule),
    "EQ:GArray": ("P X o C G n", read_rule("MemReads", "gread")),
    "EQ:SArray": ("P X o C S n", read_rule("Conflicts", "sread")),
    "Q:Skip": ("P Q X", skip),
    "Q:Sync": ("P Q X", sync),
    "Q:Seq": ("P Q X s1 P1 Q1 X1 s2 P' Q' X'", seq),
    "Q:If1": ("P X e C Q s1 P' Q' X' s2", if1),
    "Q:If2": ("P X e C Q s1 P' Q' X' s2", decided_if(True)),
    "Q:If3": ("P X e C Q s1 P' Q' X' s2", decided_if(False)),
    "Q:If4": ("P X e C Q s1 P1 Q1 X1 P' Q' X' s2 P2 Q2 X2 P'' Q'' X''", if4),
    "Q:While1": ("P X e C Q s", while1),
    "Q:While2": ("P X e C Q s Q' X'", while2),
    "Q:VWrite1": ("P X e C P' x Q Q'", vwrite1),
    "Q:VWrite2": ("P X e C P' x Q", vwrite2),
    "Q:GWrite": ("P Q X o C1 e C2 G n", write_rule("MemReads", "gwrite")),
    "Q:SWrite": ("P Q X o C1 e C2 S n", write_rule("Conflicts", "swrite")),
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
    text_of(kernel["name"], "the kernel's name")
    taken = {*BUILTINS, *(f"tid.{axis}" for axis in AXES), "true", "false"}

    def declared(name: Json) -> str:
        right = text_of(name, "a name") not in taken and re.fullmatch(r"[^\W\d]\w{0,199}(\.\w+)*", name)
        want(bool(right), f"'{name:.80}' is declared twice, or no name")
        taken.add(name)
        return str(name)

    def scalars(rows: Json) -> dict[str, Type]:
        return {
            declared(n): type_from(t) for n, t in (array_of(r, "a declaration", 2) for r in array_of(rows, "names"))
        }

    params = dict.fromkeys(BUILTINS, INT) | scalars(kernel["params"])
    arrays: dict[str, Array] = {}
    locals_ = scalars(kernel["locals"])
    for row in array_of(kernel["arrays"], "arrays"):
        name, space, elem, stride, at, width, length = array_of(row, "an array", 7)
        want(space in ("global", "shared"), "an array is global or shared")
        sizes = integer(stride, "a stride", 1, MAX_SIZE), integer(at, "an offset", 0, MAX_SIZE)
        arrays[declared(name)] = Array(space, type_from(elem), *sizes, integer(width, "a width", 1, MAX_SIZE))
        if length is not None:
            integer(length, "a length", 0)
    fixed_prices, counted = _metric(document["metric"])
    units = "sector word alignment banks warp"
    hardware = record(document["hardware"], f"name {units}", "the hardware")
    text_of(hardware["name"], "the hardware's name")
    sizes_ = {u: integer(hardware[u], f"'{u}' of the hardware", 1, MAX_UNIT) for u in units.split()}
    want(sizes_["alignment"] % sizes_["sector"] == sizes_["alignment"] % sizes_["word"] == 0, "bases are not aligned")
    launch = record(document["launch"], "block grid assumptions", "the launch")
    dims: list[list[int | None]] = [
        [
            None if d is None else integer(d, f"a size of the {what}", 1, 1 << 32)
            for d in array_of(launch[what], what, 3)
        ]
        for what in ("block", "grid")
    ]
    program = Program(locals_, params, arrays, fixed_prices, counted, sizes_, dims[0], dims[1], document["scope"])
    program.launch = _launch_facts(program, array_of(launch["assumptions"], "assumptions"))
    return program


def _metric(value: Json) -> tuple[dict[str, Fraction], dict[str, tuple[Fraction, Fraction]]]:
    metric = record(value, "name fixed counted", "the metric")
    text_of(metric["name"], "the metric's name")
    prices, counted = metric["fixed"], metric["counted"]
    want(isinstance(prices, dict) and isinstance(counted, dict), "prices are objects")
    want(set(prices) <= set(FIXED), "a price is not known")
    want(set(counted) <= set(COUNTED), "a price by count is not known")
    lines = {}
    for name, row in counted.items():
        slope, at_0 = array_of(row, "a price by count", 2)
        lines[name] = rational(slope, f"the slope of '{name}'"), rational(at_0, f"the offset of '{name}'", None)
    return {name: rational(c, f"the price of '{name}'") for name, c in prices.items()}, lines


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
    kernel, metric, assumptions = (
        document["kernel"]["name"],
        document["metric"]["name"],
        document["launch"]["assumptions"],
    )
    text = f"{kernel}: every warp costs at most {show_poly(bound)} ({metric}, scope {document['scope']})"
    if assumptions:
        text += f", on {len(assumptions)} assumption(s) about parameters"
    if document["admitted"]:
        numbers = ", ".join(f"#{i}" for i in sorted(document["admitted"]))
        text += f"; assumed besides: all threads of a block reach the barriers {numbers} together"
    return text


def recheck(document: object) -> Report:
    """Whether a certificate proves its claim. Never raises."""
    digest, where, checker = "", "", None
    try:
        certificate = record(document, FIELDS, "a certificate")
        digest = digest_of(certificate)
        want(certificate["digest"] == digest, "the digest is not that of the content")
        checker = Checker(certificate)
        bound = checker.run()
        claim = claim_text(certificate, bound)
    except Bad as problem:
        where = f"{checker.where}: " if checker and checker.where else ""
        return Report("invalid", digest, [], f"{where}{problem}", "")
    except (RecursionError, MemoryError, OverflowError):
        return Report("invalid", digest, [], "the certificate is too deep or too large", "")
    except (TypeError, ValueError) as error:
        return Report("invalid", digest, [], f"the certificate is not plain JSON: {error!s:.200}", "")
    return Report("solver-backed" if checker.solver_backed else "valid", digest, checker.solver_backed, "", claim)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field occurs twice")
    return found


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
