"""The second checker: reads a certificate, alone, and says whether it proves what it claims.

It shares no code with the kernel that issued the certificate and imports the standard library only; the format is
docs/certificate.md. Rules are text: with the values of the metavariables, its judgements are compared with what was
proved, its side conditions are checked, and its last part is the conclusion. Every JSON value ends in a Report.

    python -I checker/recheck.py CERT.json [--format json]

Exit code 0: valid; 1: solver-backed or vacuous; 3: invalid; 2: unreadable.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import operator
import os
import re
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial, reduce
from itertools import count, permutations, product
from math import gcd, lcm, prod
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, NamedTuple, NoReturn

Json = Any
Rational = int | Fraction
Expr = tuple[Any, ...]
Type = tuple[str, str, int]
Atom = tuple[Any, ...]
Mono = frozenset[tuple[Atom, int]]
Facts = frozenset[Expr]
Names = frozenset[str]
Judgement = tuple[Any, ...]

INT: Final[Type] = ("int", "int", 4)
BOOL: Final[Type] = ("bool", "bool", 1)
TRUE: Final[Expr] = ("const", BOOL, True)
FALSE: Final[Expr] = ("const", BOOL, False)
AXES: Final = ("x", "y", "z")
LEAVES: Final = ("var", "param", "tid")
TIDS: Final = tuple(("tid", axis) for axis in AXES)
BLOCKS: Final = tuple(f"{name}.{axis}" for name in ("blockIdx", "blockDim", "gridDim") for axis in AXES)
BUILTINS: Final = (*BLOCKS, "warpSize", "warp.index")
WARP: Final = ("param", "warp.index")
LANE: Final = ("lane",)  # a thread's number in its warp
INDICES: Final = (WARP, *(("param", f"blockIdx.{axis}") for axis in AXES))

LARGEST: Final = 1 << 256  # of integers
MAX_SIZE: Final = 1 << 16  # of an element, in bytes
MAX_UNIT: Final = 1024  # of the hardware's numbers
MAX_BLOCK: Final = 1024  # threads along an axis
MAX_THREADS: Final = 2048  # larger blocks are not enumerated
MAX_TERMS: Final = 1 << 14  # of a product of potentials, before like terms are collected
MAX_BITS: Final = 1 << 14  # of the coefficients of a product
MAX_WORK: Final = 5_000_000  # steps in one certificate: a term, an atom, a thread or a name that is looked at
LONG: Final = 1 << 21  # characters: for each so many, a certificate may take as much work again
MAX_KEPT: Final = 1 << 7  # pairs of P and X, the lanes of which are remembered
MAX_DEGREE: Final = 64  # of a monomial, and of a product in a proof
MAX_POWER: Final = 1 << 12  # of an atom
MAX_FACTS: Final = 1 << 8  # monomials of facts that may contradict each other
MAX_ASSUMED: Final = 1 << 8  # facts about a launch, each of which is looked at wherever a P is
MAX_RESIDUES: Final = 1 << 12  # that unknown parts of an index have together
MAX_SPAN: Final = 1 << 10  # of the indices that a lane may have, to be tried one by one
LOW: Final = 1 << 5  # the bits of a & b, a ^ b and a | b below are told from the others
FEW_WARPS: Final = 1 << 2  # of a block, that are less work than one that stands for all
MAX_WAYS: Final = 1 << 6  # that indices have together, by the sides of each max(0, .)
MAX_LANE_TERMS: Final = 64  # a lane's value that has more is not known
SHOWN: Final = 200  # characters of what is not verified, and of what is given there
MAX_NESTED: Final = 16  # nor one with more atoms that are no leaves: written out, it could double with each


class Bad(Exception):
    """The certificate does not prove its claim, in one sentence."""


class TooMuch(Bad):
    """To say whether it does takes more work than any certificate may."""


class Work:
    """The number of steps left to the certificate, or question, at hand, and the potentials that it has."""

    left = MAX_WORK
    polys: ClassVar[dict[Any, Poly]] = {}


def start() -> None:
    """Begins another certificate, or question."""
    Work.left, Work.polys = MAX_WORK, {}
    for told in (leaves, deep, order):
        told.cache_clear()


def spend(steps: int = 1) -> None:
    Work.left -= steps
    if Work.left < 0:
        raise TooMuch("too much work: this is not decided")


def want(condition: bool, message: str, *about: Any) -> None:
    if not condition:
        raise Bad(message.format(*map(show, about)) if about else message)


# --- the shape of a document ------------------------------------------------------------------------------------------

NATURAL: Final = range(LARGEST + 1)
SIZE: Final = range(1, MAX_SIZE + 1)
DIMS: Final = (frozenset({None, range(1, (1 << 32) + 1)}),) * 3
NAME: Final = re.compile(r"[^\W\d]\w{0,199}(\.\w+)*", re.ASCII)
PRICE: Final = re.compile(r"[0-9]{1,80}(/[1-9][0-9]{0,79})?")
RATIONAL: Final = re.compile(rf"-?{PRICE.pattern}")
LABEL: Final = re.compile(r"(?!.*[:;] )[!-~]([ -~]{0,198}[!-~])?")
TITLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]{0,63}")
PART: Final = r"[\w ,:*&()./\[\]-]"  # of template arguments, behind which no text follows
KERNELS: Final = re.compile(rf"(?!.{{500}})[A-Za-z_]\w*(::[A-Za-z_]\w*)*(<({PART}|<({PART}|<{PART}*>)*>)*>)?", re.ASCII)
TYPE: Final = frozenset({INT, BOOL, ("base", LABEL, SIZE)})
UNITS: Final = ("sector", "word", "alignment", "banks", "warp", "phase")
FIXED: Final = ("var", "const", "param", "op", "if", "div", "vwrite", "sync")
COUNTED: Final = ("gread", "sread", "gwrite", "swrite")

# What names mean that others know: Table 1 of the paper, and the hardware that it is about.
SECTORS: Final = dict.fromkeys(("gread", "gwrite"), ("1", "0"))
CONFLICTS: Final = dict.fromkeys(("sread", "swrite"), ("1", "-1"))
PRICES: Final[dict[str, Json]] = {
    "sectors": {"fixed": {}, "counted": SECTORS},
    "conflicts": {"fixed": {}, "counted": CONFLICTS},
    "divwarps": {"fixed": {"div": "1"}, "counted": {}},
    "steps": {"fixed": dict.fromkeys(FIXED, "1"), "counted": SECTORS | CONFLICTS},
}
SIZES: Final[dict[str, Json]] = {"nvidia": {"sector": 32, "word": 4, "alignment": 256, "banks": 32, "warp": 32}}

KERNEL: Final = {
    "name": KERNELS,
    "params": [(NAME, TYPE)],
    "locals": [(NAME, TYPE)],
    "arrays": [
        (NAME, frozenset({"global", "shared"}), TYPE, SIZE, range(MAX_SIZE + 1), SIZE, frozenset({None, NATURAL}))
    ],
    "body": NATURAL,
}
NODE: Final = {"rule": str, "with": dict, "from": [NATURAL], "at": frozenset({None, (NATURAL, NATURAL)})}
SUMS: Final = tuple((name, NATURAL) for _, name in INDICES)  # over the warps of a block, and then over all blocks
DOCUMENT: Final[dict[str, Any]] = {
    "format": "warpbound certificate",
    "version": 3,
    "kernel": KERNEL,
    "metric": {"name": TITLE, "fixed": dict, "counted": dict},
    "hardware": {"name": TITLE} | dict.fromkeys(UNITS[:-1], range(1, MAX_UNIT + 1)),
    "launch": {"block": DIMS, "grid": DIMS, "assumptions": tuple},
    "scope": frozenset({"warp", "block"}),
    "rules": "sound",
    "expressions": tuple,
    "potentials": tuple,
    "assertions": [tuple],
    "statements": [tuple],
    "derivation": [NODE],
    "ghosts": [re.compile(r"ghost:\w{1,200}", re.ASCII)],
    "sums": frozenset({(), SUMS[:1], SUMS}),
    "evidence": [{"engine": LABEL, "proof": object}],
    "admitted": [NATURAL],
    "tools": dict,
}
END: Final = frozenset({None, tuple})
CONTRACTS: Final = {"contracts": [([(END, END)], tuple)]}
SAYINGS: Final = 202
NOTE: Final = re.compile(r"[ -~]{1,1000}")
# What is optional, and not checked:
READING: Final = {"reading": {"source": NOTE, "options": [NOTE], "head": NOTE, "assumed": [NOTE]}}
PHASED: Final = {"hardware": DOCUMENT["hardware"] | {"phase": range(1, MAX_UNIT + 1)}}
NEWER: Final[dict[str, Any]] = DOCUMENT | {"version": 4, "launch": DOCUMENT["launch"] | CONTRACTS}  # with contracts


def misfit(value: Json, shape: Any) -> str | None:
    """Where in a value something has not the shape, None if all has: a literal, a type, a range of integers, a pattern
    of texts, a set of alternatives, a tuple or dict of shapes, or a list of the one shape that all parts have."""
    if isinstance(shape, range):
        return None if type(value) is int and value in shape else ""
    if isinstance(shape, list) and type(value) is tuple:
        shape = tuple(shape) * len(value)
    match shape:
        case dict() | tuple() if type(value) is type(shape):
            parts, found = (t if isinstance(t, dict) else dict(enumerate(t)) for t in (shape, value))
            odd = dict.fromkeys(parts.keys() ^ found.keys(), "")
            odd = odd or {key: at for key, part in parts.items() if (at := misfit(found[key], part)) is not None}
            return min((f".{key}{at}" for key, at in odd.items()), default=None)
        case frozenset():
            right = type(value) is str and value in shape
            right = right or any(misfit(value, alternative) is None for alternative in shape)
        case re.Pattern():
            right = type(value) is str and shape.fullmatch(value) is not None
        case type():
            right = shape is object or type(value) is shape
        case _:
            right = type(value) is type(shape) and value == shape
    return None if right else ""


def fitted(value: Json, shape: Any, what: str) -> Any:
    """The value, if it has the shape."""
    where = misfit(value, shape)
    if where is not None:
        raise Bad(f"{f'{what}{where}':.200} is missing or out of place")
    return value


def rational(text: str) -> Rational:
    c = Fraction(text)
    want(str(c) == text, f"{text:.80} is not in lowest terms")
    return int(c) if c.denominator == 1 else c


def frozen(value: Json) -> Json:
    """JSON with tuples for lists."""
    if isinstance(value, dict):
        return {name: frozen(part) for name, part in value.items()}
    nested = list, dict
    return tuple([frozen(v) if isinstance(v, nested) else v for v in value]) if isinstance(value, list) else value


# --- potentials -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Poly:
    """A potential that is no number: (monomial, coefficient)s, a monomial being a set of (atom, exponent)s."""

    terms: frozenset[tuple[Mono, Rational]]

    def __add__(self, other: Potential) -> Potential:
        return plus(self, other) if other else self

    def __sub__(self, other: Potential) -> Potential:
        return plus(self, other * -1) if other else self

    def __rsub__(self, other: Rational) -> Potential:
        return plus(self * -1, other)

    def __mul__(self, other: Potential) -> Potential:
        if not isinstance(other, Poly):
            spend(len(self.terms) + 2)
            return self if other == 1 else poly(frozenset((mono, c * other) for mono, c in self.terms)) if other else 0
        want(len(self.terms) * len(other.terms) <= MAX_TERMS, "a product of potentials has too many terms")
        sums: dict[Mono, Rational] = {}
        for mono, c in self.terms:
            for factor, d in other.terms:
                spend(len(mono) + len(factor) + 2)
                powers = dict(mono)
                for atom, e in factor:
                    powers[atom] = powers.get(atom, 0) + e
                    want(powers[atom] <= MAX_POWER, "a power is too high")
                product = frozenset(powers.items())
                sums[product] = sums.get(product, 0) + c * d
                exact(sums[product])
        return collected(sums)

    __radd__, __rmul__ = __add__, __mul__


Potential = int | Fraction | Poly
NOTHING: Final[Mono] = frozenset()
SHORT: Final = 1 << 64  # integers below are exact, and no more work


def poly(found: frozenset[tuple[Mono, Rational]]) -> Poly:
    """The one potential with these terms: those that are the same are one object, told at once however deep it is."""
    known = Work.polys.get(found)
    if known is None:
        spend(5)
        known = Work.polys[found] = Poly(found)
    return known


def collected(sums: dict[Mono, Rational]) -> Potential:
    kept, constant = frozenset([term for term in sums.items() if term[1]]), sums.get(NOTHING, 0)
    return constant if len(kept) == (constant != 0) else poly(kept)


def terms(p: Potential) -> Collection[tuple[Mono, Rational]]:
    return p.terms if isinstance(p, Poly) else ((NOTHING, p),) if p else ()


def plus(*ps: Potential) -> Potential:
    sums: dict[Mono, Rational] = {}
    for p in ps:
        add(sums, p)
    return collected(sums)


def add(sums: dict[Mono, Rational], p: Potential, times_: Rational = 1) -> None:
    """Adds p, so many times, to the coefficients of monomials."""
    spend(len(terms(p)) + 2)
    for mono, c in p.terms if isinstance(p, Poly) else ((NOTHING, p),):
        c = c if times_ == 1 else c * times_
        sums[mono] = here = sums[mono] + c if mono in sums else c
        if type(here) is not int or not -SHORT < here < SHORT:
            exact(here)


def times(p: Potential, q: Potential) -> Potential:
    if p == 1:
        return q
    product = p * q
    for _, c in terms(product):
        exact(c)
    return product


def denominator(p: Potential) -> int:
    """The common denominator of all coefficients."""
    spend(len(terms(p)) + 1)
    common = 1
    for _, c in terms(p):
        if c.denominator != 1:
            common = lcm(common, c.denominator)
            exact(common)
    return common


def exact(c: Rational) -> None:
    """Refuses a coefficient that is too long, and counts one that is long as more work."""
    long = c.bit_length() if isinstance(c, int) else c.numerator.bit_length() + c.denominator.bit_length()
    if long > 64:
        spend(long // 64)
        want(long <= MAX_BITS, "a potential has too large coefficients")


def single(*atom: Any) -> Poly:
    spend(3)
    return poly(frozenset({(frozenset({(atom, 1)}), 1)}))


def alone(p: Potential) -> Atom:
    """The atom that p is; () for all else."""
    return next((atom for atom, c in linear(p) if c == 1 == len(terms(p))), ())


def linear(p: Potential) -> list[tuple[Atom, Rational]]:
    """The atoms that are terms by themselves, and their coefficients."""
    return [(atom, c) for mono, c in terms(p) if len(mono) == 1 for atom, e in mono if e == 1]


def atoms(p: Potential) -> set[Atom]:
    """The atoms of p, at every depth."""
    found: set[Atom] = set()
    todo = [p]
    while todo:
        part = todo.pop()
        spend(len(terms(part)))
        new = {atom for mono, _ in terms(part) for atom, _ in mono} - found
        todo += [part for atom in new for part in atom[1:] if isinstance(part, Poly)]
        found |= new
    return found


@lru_cache(maxsize=1 << 12)
def leaves(p: Potential) -> frozenset[Atom]:
    return frozenset(atom for atom in atoms(p) if atom[0] in LEAVES)


@lru_cache(maxsize=1 << 12)
def deep(p: Potential) -> bool:
    """Whether so many atoms are inside each other that p, written out, may be too long."""
    return len([atom for atom in atoms(p) if atom[0] not in LEAVES]) > MAX_NESTED


def read_in(p: Potential) -> bool:
    """Whether p is worth something of what memory holds."""
    return any(atom[0] == "unknown" or (atom[0] == "op" and atom[1].startswith(ELEMENT)) for atom in atoms(p))


def variables(p: Potential) -> Names:
    return frozenset(atom[1] for atom in atoms(p) if atom[0] == "var")


def offset(p: Potential) -> Rational:
    return next((c for mono, c in terms(p) if not mono), 0)


def integral(p: Potential) -> bool:
    return all(c.denominator == 1 for _, c in terms(p))


def primitive(p: Potential) -> tuple[Potential, Rational]:
    """p, not 0, as coprime integer coefficients and the positive number that they are multiplied by."""
    top, bottom = gcd(*(c.numerator for _, c in terms(p))), denominator(p)
    part = poly(frozenset((mono, int(c * bottom) // top) for mono, c in terms(p)))
    return part, top if bottom == 1 else Fraction(top, bottom)


def leading(p: Potential) -> bool:
    """Whether the coefficient of p's first monomial is positive: of p and -p this is true of one, where no other
    monomial has the same words."""

    def words(mono: Mono) -> list[tuple[str, int]]:
        spend(len(mono))
        parts = (([sorted(leaves(q)) if isinstance(q, Poly) else q for q in atom], e) for atom, e in mono)
        return sorted((repr(atom), e) for atom, e in parts)

    return min((words(mono), c) for mono, c in terms(p) if mono)[1] > 0


def max0(p: Potential) -> Potential:
    if not isinstance(p, Poly):
        return max(0, p)
    part, size = primitive(p)
    for sign in (1, -1):
        if alone(part * sign)[:1] == ("max0",):
            return p if sign > 0 else 0
    return single("max0", part) * size


def floor_of(p: Potential, k: int) -> Potential:
    """floor(p / k), k positive."""
    scale = denominator(p)
    scaled, k = [(mono, int(c * scale)) for mono, c in terms(p)], k * scale
    whole, rest = collected({mono: c // k for mono, c in scaled}), {mono: c % k for mono, c in scaled}
    g = gcd(k, *(c for mono, c in rest.items() if mono))
    left, k = collected({mono: c // g for mono, c in rest.items()}), k // g
    return whole + (left if k == 1 else single("floor", left, k) if isinstance(left, Poly) else left // k)


def log2_of(p: Potential) -> Potential:
    want(integral(p), "log2 of a potential without integer coefficients")
    return single("log2", p) if isinstance(p, Poly) else max(1, int(p)).bit_length() - 1


Makers = dict[str, Callable[..., Potential]]
Values = dict[Atom, Potential]
"""Values of leaves, or of other atoms."""
OPERATED: Final = ("/", ">>", "&", "|", "^")  # on integers, where they are no other base function


def operated(op: str, p: Potential, q: Potential) -> Potential:
    """The value of one of OPERATED, or %, p and q being potentials with integer coefficients."""
    found = binary(op, p, q)
    if found is not None:
        return found
    if op == "%":
        return p - times(q, operated("/", p, q))
    if not (isinstance(p, int) and isinstance(q, int)):
        return single("op", op, p, q)
    if op == "/":
        return 0 if q == 0 else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
    return int(CONCRETE[op](p, q)) if op in CONCRETE else 0 if q < 0 else p >> q


def laws(op: str, p: Potential, q: Potential) -> dict[str, tuple[Potential, ...]]:
    """The potentials about an operator's value that are nonnegative, by name, and those that have to be for that."""
    v = operated(op, p, q)
    r, top = p - times(q, v), q - 1  # the rest of p / q has the sign of p, and is less than q
    found: dict[str, dict[str, tuple[Potential, ...]]] = {
        "/": {"over": (top - r, top), "under": (top + r, top), "rest": (r, p), "sign": (v, p, q), "less": (p - v, p)}
        | {"negative": (v * -1, p * -1, q)},
        ">>": {"sign": (v, p), "less": (p - v, p), "negative": (v * -1, p * -1)},
        "&": {"sign": (v, p), "less": (p - v, p), "sign of 2nd": (v, q), "less than 2nd": (q - v, q)},
        "|": {"more": (v - p, q), "more than 2nd": (v - q, p), "sum": (p + q - v, p), "sum by 2nd": (p + q - v, q)},
        "^": {"sign": (v, p, q), "sum": (p + q - v, p), "sum by 2nd": (p + q - v, q)},
    }
    return found[op]


def normal_op(op: str, *args: Potential) -> Potential:
    return operated(op, *args) if op in OPERATED else single("op", op, *args)


MEMORY: Final = re.compile(r"memory(_\d+)*", re.ASCII)  # what is reached through pointers that may lead anywhere
LAUNCH: Final = "call:launch"  # the operator that launches another kernel, which may write to what it is given
ELEMENT: Final = "elem:"  # the operator that gives what a stable array holds, with the array's name after it


NORMAL: Final[Makers] = {"max0": max0, "floor": floor_of, "log2": log2_of, "op": normal_op}
"""Constructors of the base functions of potentials, in canonical form."""


def replaced(p: Potential, swap: Values, normal: Makers = NORMAL, known: Values | None = None) -> Potential:
    """p with potentials in place of atoms, at every depth, normal again. `known` are atoms replaced already."""
    if not isinstance(p, Poly):
        return p
    sums: dict[Mono, Rational] = {}
    known, size = {} if known is None else known, 0
    for mono, c in p.terms:
        spend(2 * len(mono) + 2)
        product: Potential = 1
        for atom, e in mono:
            if atom not in known and (atom in swap or atom[0] not in normal):
                known[atom] = swap[atom] if atom in swap else single(*atom)
            elif atom not in known:
                known[atom] = normal[atom[0]](*[replaced(part, swap, normal, known) for part in atom[1:]])
            for _ in range(e):
                product = times(product, known[atom])
        size += len(terms(product))
        want(size <= MAX_TERMS, "a potential has too many terms")
        add(sums, product, c)
    return collected(sums)


def binary(op: str, p: Potential, q: Potential, part: Callable[[Potential], Potential] = max0) -> Potential | None:
    """p op q, if it is a potential; `part` is max(0, _)."""
    k = q if isinstance(q, int) else -1
    if op in ("+", "-"):
        return p + q if op == "+" else p - q
    if op in ("min", "max"):
        return p - part(p - q) if op == "min" else p + part(q - p)
    if op == "*" and len(terms(p)) * len(terms(q)) <= MAX_TERMS:
        return times(p, q)
    if op in ("/", "%") and k > 0:
        quotient = floor_of(part(p), k) - floor_of(part(p * -1), k)
        return quotient if op == "/" else p - k * quotient
    if op in ("<<", ">>") and 0 <= k < 64:
        return times(p, 1 << k) if op == "<<" else floor_of(p, 1 << k)
    if op == "&" and k > 0 and k & (k + 1) == 0:
        return p - (k + 1) * floor_of(p, k + 1)
    return None


SIGNS: Final = {"<": ("+", 1), "<=": ("+", 0), ">": ("-", 1), ">=": ("-", 0), "==": ("+-", 0)}
"""Of `p op q`: whether q - p or p - q, or each of them, is so much at least."""


# --- text, as all commands write it -----------------------------------------------------------------------------------

PRECEDENCE: Final = {
    op: level
    for level, ops in enumerate(("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %"), 2)
    for op in ops.split()
}
PREFIX: Final = {"neg": "-", "!": "!", "~": "~"}
WORDS: Final = {"/": "trunc({}/{})", ">>": "shr({}, {})", "&": "and({}, {})", "|": "or({}, {})", "^": "xor({}, {})"}


@cache
def order(e: Any) -> str:
    """The text by which a potential, or an atom of one, is sorted among others."""
    match e:
        case ("op", op, p, q):
            text = f"~op({order(p)}){op}({order(q)})"
        case ("op", op, p):
            text = f"~{op}({order(p)})"
        case ("max0" | "log2" | "floor" as kind, p, *k):
            text = f"~{kind.removesuffix('0')}({'/'.join((order(p), *map(str, k)))})"
        case (kind, str(name)):
            text = f"tid.{name}" if kind == "tid" else name
        case _:
            texts = [(c, [*map(order, factors)]) for factors, c in in_order(e)]
            spend(sum(len(factor) for _, factors in texts for factor in factors) // 16)  # before it is made
            text = "+".join(f"{c}*{'*'.join(factors)}" for c, factors in texts)
    spend(1 + len(text) // 16)  # of all that is kept
    return text


def in_order(p: Potential) -> list[tuple[list[Atom], Rational]]:
    """The terms of p as they are shown: factors and coefficients."""
    rows = [(sorted((a for a, e in mono for _ in range(e)), key=order), c) for mono, c in terms(p)]
    return sorted(rows, key=lambda row: (len(row[0]), [*map(order, row[0])])) if len(rows) > 1 else rows


def minima(p: Potential) -> tuple[Potential, list[tuple[Rational, str]]]:
    """The rest of p without its terms -c * max(0, k - q), and these as c * min(k, q); p has c * k, and neither k
    nor q has a minus sign."""
    found: list[tuple[Rational, str]] = []
    for factors, c in in_order(p):
        match factors:
            case [("max0", q)] if c < 0:
                have, k = dict(terms(p)), collected({mono: x for mono, x in terms(q) if x > 0})
                if k not in (0, q) and all(have.get(mono, 0) >= -c * x for mono, x in terms(k)):
                    p = p - single("max0", q) * c + k * c
                    found.append((-c, f"min({show(k)}, {show(k - q)})"))
    return p, found


def quotients(p: Potential) -> tuple[Potential, list[tuple[Rational, str]]]:
    """The rest of p without its terms c * floor(max(0, q) / k) - c * floor(max(0, -q) / k): c * trunc(q / k)."""
    found: list[tuple[Rational, str]] = []
    for factors, c in in_order(p):
        match factors:
            case [("floor", up, k)] if c > 0 and alone(up)[:1] == ("max0",):
                q = alone(up)[1]
                rest = p - single("floor", up, k) * c + floor_of(max0(q * -1), k) * c
                if len(terms(rest)) == len(terms(p)) - 2:
                    p, sign = rest, -1 if next(x for inner, x in in_order(q) if inner) < 0 else 1
                    found.append((c * sign, f"trunc({numerator(q * sign)}/{k})"))
    return p, found


def ceilings(p: Potential) -> tuple[Potential, list[tuple[Rational, str]]]:
    """The rest of p without its terms -c * floor(q / k), and these as c * ceil((k*w - q) / k); p has c * w."""
    found: list[tuple[Rational, str]] = []
    for factors, c in in_order(p):
        match factors:
            case [("floor", q, k)] if c < 0:
                have = dict(terms(p))
                w = collected({mono: 1 for mono, _ in terms(q) if mono and have.get(mono, 0) >= -c})
                inside, left = w * k - q, p - single("floor", q, k) * c + w * c
                if w == 0 and any(x < 0 for mono, x in terms(inside) if mono):
                    continue
                if offset(inside) < 0 and offset(left) >= -c:
                    inside, left = inside + k, left + c
                p = left
                found.append((-c, f"ceil({numerator(inside)}/{k})"))
    return p, found


def parts_of(p: Potential) -> list[tuple[Rational, str]]:
    """The parts of a sum as they are shown, the first one positive if any is: coefficients and texts."""
    left, whole = quotients(p)
    left, least = minima(left)
    left, up = ceilings(left)
    parts = [(c, "*".join(map(show, factors))) for factors, c in in_order(left)] + whole + up + least
    return sorted(parts, key=lambda part: part[0] < 0) if parts and parts[0][0] < 0 else parts


def written(parts: list[tuple[Rational, str]]) -> str:
    """A sum of parts as text."""
    text = ""
    for c, name in parts:
        text += (" - " if text else "-") if c < 0 else " + " if text else ""
        text += "*".join([str(abs(c))] * (abs(c) != 1 or not name) + [name] * (name != ""))
    return text or "0"


def show(e: Any, level: int = 0) -> str:
    """An expression, in parentheses where an operator binds less than this level; a set of them, a potential, or an
    atom of one."""
    spend(10)  # as much as all that is sorted for it
    match e:
        case frozenset():
            return " && ".join(show(fact, 4) for fact in sorted(e, key=show)) or "true"
        case Poly():
            return written(parts_of(e))
        case ("max0", p):
            return f"max(0, {show(p)})"
        case ("floor", p, k):
            return f"floor({numerator(p)}/{k})"
        case ("op", op, index) if op.startswith(ELEMENT):
            return f"{op.removeprefix(ELEMENT)}[{show(index)}]"
        case ("op", op, Poly() | int() as p, q) if op in WORDS:
            return WORDS[op].format(numerator(p), numerator(q))
        case ("op", op, a, b) if op in PRECEDENCE:
            own = PRECEDENCE[op]
            text = f"{show(a, own)} {op} {show(b, own + 1)}"
            return f"({text})" if own < level else text
        case ("const", _, value):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            return f"({text})" if text.startswith("-") and level > PRECEDENCE["*"] else text
        case ("op", "?:", a, b, c):
            text = f"{show(a, 2)} ? {show(b, 2)} : {show(c, 1)}"
            return f"({text})" if level > 1 else text
        case ("op", "neg", ("const", *_) as a):
            return f"-({show(a)})"
        case ("op", op, a) if op in PREFIX:
            return f"{PREFIX[op]}{show(a, 12)}"
        case ("op", op, *args):
            return f"{op.removeprefix('call:').replace('as:', 'as_')}({', '.join(map(show, args))})"
        case ("read", name, index):
            return f"{name}[{show(index)}]"
        case (kind, part):
            return {"log2": "log2({})", "tid": "tid.{}"}.get(kind, "{}").format(show(part))
    return str(e)


def numerator(p: Potential) -> str:
    """p, in parentheses where what is shown is a sum, a product or negative."""
    parts = parts_of(p)
    text = written(parts)
    bare = len(terms(p)) == 1 and not text.startswith("-") and "*" not in text
    return text if bare or ([c for c, _ in parts] == [1] and text.startswith("min(")) else f"({text})"


# --- expressions and conditions ---------------------------------------------------------------------------------------


class Array(NamedTuple):
    space: str
    elem: Type
    stride: int
    offset: int
    width: int
    unit: int  # what is counted, in bytes: a sector, or a word
    banks: int  # words are counted by bank; 1 for sectors
    phase: int = LARGEST  # bytes that lanes access at once: the first ones, then as many more

    @property
    def lanes(self) -> int:
        """The lanes that access it at once."""
        return max(1, self.phase // self.width)


class Contract(NamedTuple):
    """Quantities that are nonnegative for all ?i0, ?i1, .. in ranges, from a first to before a last, or unlimited."""

    ranges: list[tuple[Potential | None, ...]]
    quantities: dict[str, Potential]
    fact: Expr

    def within(self, i: int, t: Potential, last: int) -> list[Potential]:
        """The potentials that are nonnegative where an index is in the i-th range, or one past it where `last` is 0."""
        low, high = self.ranges[i]
        return [*([] if low is None else [t - low]), *([] if high is None else [high - last - t])]

    def instance(self, sign: str, ts: list[Potential]) -> tuple[Potential, ...]:
        """The quantity at some indices, and what has to be nonnegative for it."""
        swap: Values = {("var", f"?i{i}"): t for i, t in enumerate(ts)}
        return (replaced(self.quantities[sign], swap), *(q for i, t in enumerate(ts) for q in self.within(i, t, 1)))

    def telescope(self, sign: str, ends: list[Potential]) -> tuple[Potential, ...]:
        """The sum of c*(A[i+1] - A[i]) + w over i from s to before t, where the quantity is that, and what has to be
        nonnegative for it; () where it is not."""
        (s, t), i, q = ends, single("var", "?i0"), self.quantities[sign]
        for atom, c in linear(q) if len(self.ranges) == 1 else ():
            if atom[0] == "op" and atom[1].startswith(ELEMENT) and atom[2] == i + 1:
                w = q - (single(*atom) - single("op", atom[1], i)) * c
                if ("var", "?i0") not in leaves(w):
                    rise = single("op", atom[1], t) - single("op", atom[1], s)
                    return (rise * c + times(w, t - s), *self.within(0, s, 0), t - s, *self.within(0, t, 0))
        return ()


class Program:
    """The program of a derivation, and the terms that it is made of. Reads a document with the shape of DOCUMENT."""

    def __init__(self, document: dict[str, Json]) -> None:
        kernel, metric, self.hardware = document["kernel"], document["metric"], document["hardware"]
        self.scope = document["scope"]
        start()
        rows = (*kernel["params"], *kernel["locals"], *kernel["arrays"])
        declared = Counter([*BUILTINS, "tid.x", "tid.y", "tid.z", "true", "false", *(name for name, *_ in rows)])
        ((name, most),) = declared.most_common(1)
        want(most == 1, f"'{name}' is declared twice")
        self.ghosts = [("var", name) for name in document["ghosts"]]
        known = [*TIDS, *(("param", name) for name in BUILTINS), *self.ghosts]
        self.leaves: dict[Expr, Type] = dict.fromkeys(known, INT) | {("param", name): t for name, t in kernel["params"]}
        self.leaves |= {("var", name): t for name, t in kernel["locals"]}
        sizes = zip(BLOCKS[3:], (*document["launch"]["block"], *document["launch"]["grid"]), strict=True)
        x, y, z, *blocks = (single("param", name) if size is None else size for name, size in sizes)
        warps = floor_of(times(times(x, y), z) * -1, self.hardware["warp"]) * -1
        self.extents = dict(zip(INDICES, (warps, *blocks), strict=True))
        """The number of warps of a block, and of blocks of the grid along each axis."""
        alignment, sector, word, banks = (self.hardware[unit] for unit in ("alignment", "sector", "word", "banks"))
        units = {"global": (sector, 1), "shared": (word, banks, self.hardware.get("phase", LARGEST))}
        self.arrays = {name: Array(*(*row[:5], *units[row[0]])) for name, *row in kernel["arrays"]}
        for group, names, shape in (("fixed", FIXED, PRICE), ("counted", COUNTED, (PRICE, RATIONAL))):
            fitted(metric[group], {name: shape for name in names if name in metric[group]}, f"metric.{group}")
        for part, all_known, what in ((metric, PRICES, "prices"), (self.hardware, SIZES, "sizes")):
            known_ = all_known.get(part["name"], {})
            want(not known_ or known_ | {"name": part["name"]} == part, f"these are not the {what} of {part['name']}")
        self.fixed = {name: rational(c) for name, c in metric["fixed"].items()}
        self.counted = {name: (rational(slope), rational(at_0)) for name, (slope, at_0) in metric["counted"].items()}
        want(alignment % sector == alignment % word == 0, "bases are not aligned")
        self.worth = lru_cache(1 << 12)(self._worth)
        self.ordered: Callable[[Facts], list[Expr]] = lru_cache(MAX_KEPT)(partial(sorted, key=repr))
        writes = [(row[1], row[1].partition(".")[0]) for row in document["statements"] if row[:1] == ("write",)]
        others = {name for name, a in self.arrays.items() if a.elem[0] == "base"}  # through them no integer changes
        self.written = {root for name, root in writes if name not in others or not MEMORY.fullmatch(root)}
        self.launches = any(op == LAUNCH for e in document.get("expressions", ()) for _, op, *_ in mentions(e, "op"))
        self.stable: set[str] = set()
        rows = document["launch"].get("contracts", ())
        want(len(rows) <= MAX_ASSUMED, "there are too many contracts")
        self.contracts = [self._contract(*row) for row in rows]
        self.normal = lru_cache(1 << 12)(self._normal)  # from here on: contracts say what is opaque
        self.named_in: Callable[[Expr], frozenset[Expr]] = lru_cache(1 << 12)(lambda e: frozenset(mentions(e, "var")))
        self.conjunct: Callable[[Expr], Expr] = lru_cache(1 << 12)(partial(self.condition, "a conjunct"))
        self.launch = self._launch_facts(**document["launch"])

    def _contract(self, ranges: Json, fact: Json) -> Contract:
        """A comparison of integers, over variables in ranges, parameters that a grid shares, and elements of arrays
        of integers in global memory that no statement writes."""
        for name in elements(fact):
            known = self.arrays.get(name)
            want(known is not None and known[:2] == ("global", INT), "a contract is about '{:.80}'", name)
            root = name.partition(".")[0]  # A.x is a view of A
            unsure = root in self.written or any(map(MEMORY.fullmatch, {root, *self.written})) or self.launches
            want(not unsure, "the program may write to '{:.80}'", name)
            self.stable.add(name)
        bound = [("var", f"?i{i}") for i in range(len(ranges))]
        limits = [e for ends in ranges for e in ends if e is not None]
        for e in (self.condition("a contract", self.expression(fact, True)), *map(self.expression, limits)):
            own = [t for t in mentions(e, "var", "tid", "read") if t not in bound]
            own += [t for t in mentions(e, "param") if t in INDICES]
            want(not own and not self.opaque(e), "a contract is about more than arrays and parameters")
        for e in limits:
            over_parameters = not elements(e) and not any(mentions(e, "var")) and self.type_of(e) == INT
            want(over_parameters, "a range of a contract is not over parameters")
        found = self.comparison(fact)
        want(bool(found), "a contract is no comparison of integers")
        ends = [tuple(None if e is None else self.worth(e) for e in pair) for pair in ranges]
        return Contract(ends, found, fact)

    def _launch_facts(self, block: Json, grid: Json, assumptions: Json, contracts: Json = ()) -> Facts:
        size_ = self.hardware["warp"]
        rows: list[tuple[Expr, str, Expr | int]] = [(("param", "warpSize"), "==", size_)]
        if self.scope == "warp":
            rows.append((WARP, ">=", 0))
        if self.scope == "warp" and (block[1:] == (1, 1) or None not in block[:2]):
            first: Expr = ("op", "*", ("const", INT, size_), WARP)
            thread: Expr = TIDS[0]
            for i in (1, 2):
                if block[i:] != (1,) * (3 - i):
                    thread = ("op", "+", thread, ("op", "*", ("const", INT, prod(block[:i])), TIDS[i]))
            rows += [(first, "<=", thread), (thread, "<", ("op", "+", first, ("const", INT, size_)))]
        for axis, threads, blocks in zip(AXES, block, grid, strict=True):
            dim, size, index = (("param", f"{name}.{axis}") for name in ("blockDim", "gridDim", "blockIdx"))
            rows += [(dim, ">=", 1), (dim, "<=", MAX_BLOCK)] if threads is None else [(dim, "==", threads)]
            rows += [(size, ">=", 1) if blocks is None else (size, "==", blocks), (index, ">=", 0), (index, "<", size)]
            rows += [(("tid", axis), ">=", 0), (("tid", axis), "<", dim)]
        facts = [("op", op, a, ("const", INT, b) if isinstance(b, int) else b) for a, op, b in rows]
        want(len(assumptions) <= MAX_ASSUMED, "there are too many assumptions")
        for e in map(self.expression, assumptions):
            self.condition("an assumption", e)
            beyond = (*mentions(e, "var", "tid", "read"), *(p for p in mentions(e, "param") if p == WARP))
            want(not beyond and not elements(e) and not self.opaque(e), "an assumption is about more than parameters")
            facts += [e, *self.conj([e])]
        return frozenset(facts) | {fact for ranges, fact in contracts if not ranges}

    def price(self, constant: str, n: int = 0) -> Rational:
        """The metric's price; for n of what has a price by count."""
        slope, at_0 = self.counted.get(constant, (0, 0))
        return max(0, slope * n + at_0) if constant in COUNTED else self.fixed.get(constant, 0)

    def expression(self, e: Json, fresh: bool = False) -> Expr:
        """A well-typed expression. `fresh` allows the variables that stand for all values."""
        self.type_of(e)
        for _, t, value in mentions(e, "const"):
            fitted(t, TYPE, "a literal's type")
            fitted(value, {"int": range(-LARGEST, LARGEST + 1), "bool": bool}.get(t[0], LABEL), "a literal")
        reserved = not fresh and any(name.startswith("?") for _, name in mentions(e, "var"))
        want(not reserved, "a name that begins with ? is reserved")
        return e  # type: ignore[no-any-return]

    def type_of(self, e: Json) -> Type:
        """The type of what may be no expression at all."""
        spend()
        match e:
            case ("var" | "param" | "tid" as kind, str(name)):
                if e in self.leaves:
                    return self.leaves[e]
                fresh = kind == "var" and re.fullmatch(r"\?[ib][0-9]*", name)
                want(bool(fresh), "no {} is called '{:.80}'", kind, name)
                return INT if name[1] == "i" else BOOL
            case ("const", t, _):
                return t  # type: ignore[no-any-return]
            case ("read", str(name), index):
                want(name in self.arrays, "no array is called '{:.80}'", name)
                want(self.type_of(index) == INT, "an index is not an int")
                return self.arrays[name].elem
            case ("op", str(op), index) if op.startswith(ELEMENT):
                want(op.removeprefix(ELEMENT) in self.stable, "no contract is about '{:.80}'", op)
                want(self.type_of(index) == INT, "an index is not an int")
                return INT
            case ("op", str(op), _, *more) if len(more) <= 2:
                found = _result(op, *map(self.type_of, e[2:]))
                if found is not None:
                    return found
                raise Bad(f"the operator '{op:.80}' does not take these operands")
        raise Bad("an expression is not well formed")

    def sides(self, e: Expr) -> list[Potential]:
        """The sides of a comparison of two integers, where base functions say both."""
        found = [self.worth(side) for side in e[2:] if e[0] == "op" and self.type_of(side) == INT]
        return found if len(found) == 2 == len(e[2:]) and all(map(sayable, found)) else []

    def comparison(self, e: Expr) -> dict[str, Potential]:
        """The quantities that a comparison of two integers makes nonnegative, by sign."""
        signs, gap = SIGNS.get(e[1], ("", 0))
        sides = self.sides(e) if signs else []
        return {sign: reduce(operator.sub, sides[:: -1 if sign == "+" else 1]) - gap for sign in signs if sides}

    def condition(self, what: str, e: Expr) -> Expr:
        want(self.type_of(e) == BOOL, f"{what} is not a truth value")
        return e

    def opaque(self, e: Expr) -> bool:
        """Whether e depends on array contents or base-typed values."""
        spend()
        if e[0] == "op":  # which gives a base type only where it takes one
            return e[1].startswith("as:") or any(map(self.opaque, e[2:]))
        if e[0] == "read" and e[1] in self.stable:
            return self.opaque(e[2])
        return e[0] == "read" or self.type_of(e)[0] == "base"

    def settled(self, e: Expr) -> Expr:
        """e, which is not opaque, with what stable arrays hold in place of reads."""
        spend()
        if e[0] == "read":
            return ("op", ELEMENT + e[1], self.settled(e[2]))
        return ("op", e[1], *map(self.settled, e[2:])) if e[0] == "op" and self.stable else e

    def on_base(self, e: Expr) -> bool:
        """Whether an operator takes, or gives, base types."""
        return any(self.type_of(part)[0] == "base" for part in (e, *e[2:]))

    def abstract(self, e: Expr) -> Expr:
        """e with a variable of its own, which stands for all values, for each opaque part."""
        numbers = count()

        def walk(t: Expr) -> Expr:
            spend()
            if t[0] == "op" and not self.on_base(t):
                return ("op", t[1], *map(walk, t[2:]))
            if not self.opaque(t):
                return self.settled(t)
            return ("var", f"?{'b' if self.type_of(t) == BOOL else 'i'}{next(numbers)}")

        return walk(e)

    def conj(self, facts: Iterable[Expr]) -> Facts:
        """The conjunction in canonical form, as a set."""
        parts: list[Expr] = []
        for e, size in map(self.normal, facts):
            spend(size)  # to be looked up
            parts.append(e)
        for e in parts:
            parts += e[2:] if e[:2] == ("op", "&&") else ()
        return frozenset(e for e in parts if e[:2] != ("op", "&&")) - {TRUE}

    def _normal(self, fact: Expr) -> tuple[Expr, int]:
        """A fact in canonical form, and its size."""
        before = Work.left
        found = self._nnf(fact, True)
        return found, 1 + (before - Work.left) // 4

    def _nnf(self, e: Expr, positive: bool) -> Expr:
        spend()
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
        e = self.settled(e)
        if positive:
            return e
        return ("op", OPPOSITE[e[1]], *e[2:]) if e[0] == "op" and e[1] in OPPOSITE else ("op", "!", e)

    def given(self, p: Facts, e: Expr) -> Facts:
        """P & e"""
        return self.conj((*p, self.condition("a case", e)))

    def assigned(self, p: Facts, var: str, e: Expr) -> Facts:
        """P[x <- e]"""
        value = self.abstract(e)
        leaf = "var", var
        return self.conj(self.replace_part(t, leaf, value) if leaf in self.named_in(t) else t for t in p)

    def replace_part(self, e: Expr, part: Expr, new: Expr) -> Expr:
        """e with something else in the place of a part."""
        spend()
        if e == part:
            return new
        return ("op", e[1], *(self.replace_part(a, part, new) for a in e[2:])) if e[0] == "op" else e

    def updated(self, q: Potential, var: str, e: Expr) -> Potential:
        """Q[x <- e]"""
        if var not in variables(q):
            return q
        value = self.worth(self.abstract(e))
        return replaced(q, {("var", var): value if sayable(value) else single("var", "?i")})

    def _worth(self, e: Expr) -> Potential:
        """e as a potential; what no base function says is an atom by itself: operators, base-typed values, and reads,
        no two of which return the same."""
        numbers = count()

        def walk(t: Expr) -> Potential:
            spend()
            if t[0] == "const" and t[1] in (INT, BOOL):
                return int(t[2])
            if t[0] == "read" and t[1] in self.stable:
                return single("op", ELEMENT + t[1], walk(t[2]))
            if t[0] == "read":
                return single("read", t[1], walk(t[2]), next(numbers))
            if t[0] != "op":
                return single(*t)
            args = [walk(a) for a in t[2:]]
            if t[1] != "?:" and self.on_base(t):
                return single("base", t[1], *args)
            if t[1] in ("neg", "!"):
                return args[0] * -1 + int(t[1] == "!")
            if t[1] == "abs":
                return max0(args[0]) + max0(args[0] * -1)
            found = binary(t[1], args[0], args[1]) if len(args) == 2 else None
            found = operated("%", args[0], args[1]) if found is None and t[1] == "%" else found
            return normal_op(t[1], *args) if found is None else found

        return walk(e)

    def potential(self, rows: Json, inside_proof: bool = False) -> Potential:
        """A potential in canonical form. tid and the variables that stand for all values occur in proofs only."""
        found: dict[Mono, Rational] = {}
        for c, factors in fitted(rows, [(RATIONAL, [tuple])], "a potential"):
            want(len(factors) <= MAX_DEGREE, "a monomial has too many factors")
            mono = frozenset(Counter(self._atom(a, inside_proof) for a in factors).items())
            want(mono not in found and c != "0", "a monomial occurs twice in a potential, or 0 times")
            found[mono] = rational(c)
        return collected(found)

    def _atom(self, row: Json, inside_proof: bool) -> Atom:
        match row:
            case ("var" | "param" | "tid", name):
                want(self.type_of(row) == INT, f"a potential depends on '{name:.80}', which is not an int")
                own = row[0] == "tid" or name.startswith("?")
                want(inside_proof or not own, "a potential depends on {}", row)
                return row  # type: ignore[no-any-return]
            case ("max0" | "log2" | "floor" as kind, arg, *more):
                atom: Atom = (kind, self.potential(arg, inside_proof), *more)
                fitted(atom[2:], (range(2, LARGEST + 1),) * (kind == "floor"), "a divisor")
                integers = atom[1:2] if kind != "max0" else ()
            case ("op", str(op), *sides) if (op in OPERATED and len(sides) == 2) or (
                op.startswith(ELEMENT) and op.removeprefix(ELEMENT) in self.stable and len(sides) == 1
            ):
                integers = tuple(self.potential(side, inside_proof) for side in sides)
                atom = ("op", op, *integers)
            case _:
                raise Bad("a base function is not known")
        want(all(map(integral, integers)), f"{row[0]} of a potential without integer coefficients")
        want(NORMAL[atom[0]](*atom[1:]) == single(*atom), f"{row[0]} is not in canonical form")
        return atom


def sayable(p: Potential) -> bool:
    """Whether base functions say it all."""
    found = atoms(p)
    told = all(a[1] in OPERATED or a[1].startswith(ELEMENT) for a in found if a[0] == "op")
    return told and all(a[0] in (*LEAVES, *NORMAL) for a in found)


def elements(e: Expr) -> set[str]:
    """The arrays whose elements an expression names."""
    return {op.removeprefix(ELEMENT) for _, op, *_ in mentions(e, "op") if op.startswith(ELEMENT)}


def mentions(e: Expr, *kinds: str) -> Iterator[Expr]:
    spend()
    if e[0] in kinds:
        yield e
    for part in e[1:]:
        if isinstance(part, tuple) and e[0] in ("op", "read"):
            yield from mentions(part, *kinds)


def _join(op: str, a: Expr, b: Expr) -> Expr:
    """a && b or a || b, simplified."""
    neutral, absorbing = (TRUE, FALSE) if op == "&&" else (FALSE, TRUE)
    return absorbing if absorbing in (a, b) else b if a == neutral else a if b == neutral else ("op", op, a, b)


OPPOSITE: Final = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
RESULTS: Final = {
    "i": r"(neg|abs|~) i|int [bf]|([-+*/%&|^]|<<|>>|min|max) ii|\?: bii",
    "b": r"! b|bool [if]|(&&|\|\|) bb|[<>]=? (ii|ff)|[!=]= (ii|ff|bb)|\?: bbb",
    "f": r"(neg|abs) f|([-+*/]|min|max) ff|\?: bff",
}
"""The operators and types of operands that give a type: i int, b bool, f base types, all the same."""


@cache
def _result(op: str, *ts: Type) -> Type | None:
    """The type of an operator's result."""
    letters = "".join({"int": "i", "bool": "b"}.get(t[0], "f") for t in ts)
    function, _, name = op.partition(":")
    base = [t for t in ts if t[0] == "base"]
    if function in ("call", "as") and not LABEL.fullmatch(name):
        return None
    if function == "call":
        return ts[0] if ts[0] in base else None
    if function == "as" and len(ts) == 1:
        size = {"float": 4, "double": 8}.get(name, base[0][2] if base else 0)
        return ("base", name, size) if size else None
    found = next((result for result, form in RESULTS.items() if re.fullmatch(form, f"{op} {letters}")), "")
    return {"i": INT, "b": BOOL, "f": base[0] if base else None}.get(found) if len(set(base)) <= 1 else None


# --- lanes: what expressions are worth at every thread ----------------------------------------------------------------

NAMED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
NAMED |= {"&": "and_", "|": "or_", "^": "xor", "bool": "truth"}
CONCRETE: Final = {op: getattr(operator, name) for op, name in NAMED.items()}
BITS: Final = tuple(("op", op) for op in "&|^")
TRUTHS: Final = (*OPPOSITE, "&&", "||")


RUN: Final = single("row", "run")
"""Where the threads of a warp begin in a row of threads, whatever it is a multiple of."""


class Lanes:
    """The threads that P allows, and what expressions are worth at each. Whatever is in doubt is an unknown of its own
    for the thread, or an active thread. Truth values are 0 and 1."""

    def __init__(self, program: Program, p: Facts, x: Names | None) -> None:
        """With x None, of one thread: everything is the same at all of it."""
        self.program, self.numbers = program, count()
        self.together = NORMAL | {"max0": self._part, "floor": self._floor, "op": self._operated, "bits": self._bits}
        self.together |= {name: partial(single, name) for name in ("base", "read")}
        """Values at threads that read at once, and get the same at the same index."""
        self.apart = self.together | {"read": lambda *_: single("unknown", next(self.numbers))}
        self.shared = {a for a in program.leaves if x is None or a[0] == "param" or (a[0] == "var" and a[1] in x)}
        facts = [program.worth(f) for part in (p, program.launch) for f in program.ordered(part)]
        self.held = {atom: v for f in facts for atom, v in self._elements(f)}
        """The elements of stable arrays, at indices that are numbers, that are numbers by facts."""
        definitions = sorted((d for f in facts for d in self._definitions(f)), key=_coarseness)
        self.true: set[Potential] = {1}
        """The values of facts as potentials: another condition with one of these values holds, too."""
        self.false: set[Potential] = set()
        """Values of conditions of which facts are the opposite, 1 less these: they do not hold."""
        self.least: dict[Potential, int] = {RUN: 0}
        """What potentials without a number are at least, by facts and types; at most, their opposites."""
        for leaf in (leaf for leaf, t in program.leaves.items() if t == BOOL):
            self.least |= {single(*leaf): 0, single(*leaf) * -1: -1}
        self.known: Values = {}
        """Leaves, by tid and unknowns that all threads share."""
        own = {leaf for leaf, p in definitions if x is None and leaves(p) and leaves(p) <= {*TIDS}}  # no 32 * some k
        definitions = [d for d in definitions if d[0] not in own or leaves(d[1]) or d[1] == offset(d[1])]
        self._define(definitions, self.shared)
        values: list[Potential] = []
        for part in (facts[len(p) :], facts[: len(p)]):  # signs of sizes and of tid say what quotients in P are
            values = [self.value_at(f, self.known) for f in part] + values
            self._hold(values)
        for atom in (alone(1 - f) for f in values):
            if atom[:2] == ("op", "=="):  # where a <= b is known, too, a < b
                ways = (atom[2], atom[2] * -1)
                self._hold([self._compared("<", d) for d in ways if self._compared("<=", d) == 1])
        self.nobody = 0 in values
        """Whether P excludes all threads."""
        local = [(f, here) for f in values[: len(p)] if (here := leaves(f) & {WARP, *TIDS}) and not read_in(f)]
        self.local = sorted(local, key=lambda fact: len(fact[1] - {WARP}))  # of whole warps first: that is cheap

    def _hold(self, values: list[Potential]) -> None:
        """Learns that conditions with these values hold."""
        self.true |= {*values}
        self.false |= {1 - v for v in values if len(terms(v)) == 2 and offset(v) == 1}
        for v in values:
            below, above = alone(v), alone(1 - v)
            d = -1 - below[2] if below[:2] == ("op", "<") else above[2] if above[:2] == ("op", "<") else 0
            if isinstance(d, Poly):  # d >= 0
                rest, end = d - offset(d), -int(offset(d))
                self.least[rest] = max(end, self.least.get(rest, end))

    def _least(self, p: Potential, depth: int = 0) -> Rational | None:
        """A number that p, of integers, is not below; None if none is known."""
        found: Rational = 0
        rest = p
        quotients = [(atom, c) for atom, c in linear(p) if atom[0] == "floor"]
        if len(quotients) > 1:
            quotients.sort(key=lambda quotient: (-quotient[0][2], order(quotient[0])))
        # q - k*floor(q/k) is 0 at least, and k - 1 at most; q may have other quotients, of less, or as large, so: twice
        for atom, c in (*quotients, *quotients):
            if c % atom[2] == 0 and integral(atom[1]):
                less = rest - times(atom[1], -c // atom[2]) - single(*atom) * c
                if len(terms(less)) < len(terms(rest)):
                    rest, found = less, found + min(0, -c // atom[2] * (atom[2] - 1))
        spend(len(terms(p)) + 1)
        found, rest = found + offset(rest), rest - offset(rest)
        if rest == 0 or rest in self.least:
            return found + self.least.get(rest, 0)
        ends = [(self._end(atom, 1 if c > 0 else -1, depth), max(c, -c)) for atom, c in linear(rest)]
        if len(ends) < len(terms(rest)):
            return None
        for end, times_ in ends:
            if end is None:
                return None
            found += times_ * end
        return found

    def _end(self, atom: Atom, sign: int, depth: int) -> Rational | None:
        """A number that sign * atom, sign being 1 or -1, is not below."""
        if atom[0] == "bits" or (atom[0] == "op" and atom[1] in TRUTHS):
            return min(0, sign * (LOW - 1 if atom[0] == "bits" else 1))
        if depth < MAX_NESTED and atom[0] in ("floor", "max0"):
            end = self._least(atom[1] * sign, depth + 1)
            if atom[0] == "max0":
                return max(0, end or 0) if sign > 0 else None if end is None else min(0, end)
            return None if end is None else int(end) // atom[2] if sign > 0 else -(int(-end) // atom[2])
        if sign > 0 and atom[:2] == BITS[0] and depth < MAX_NESTED:
            ends = [self._least(q, depth + 1) for q in atom[2:]]
            return 0 if any(end is not None and end >= 0 for end in ends) else None
        return self.least.get(single(*(atom[:2] if atom[0] in LEAVES else atom)) * sign)

    def _floor(self, p: Potential, k: int) -> Potential:
        """floor(p / k), by what p is at least and at most, or what it is but for multiples of k."""
        found = floor_of(p, k)
        if isinstance(found, Poly) and integral(p):
            turned = plus(*(single(*atom) for atom, c in linear(p) if atom[0] == "floor" and (c - k) % atom[2] == 0))
            for more in (0, turned):  # of other multiples, too
                low, high = self._least(p - k * more), self._least(k * more - p)
                if low is not None and high is not None and low // k == -high // k:
                    return more + int(low // k)
        return found

    def _definitions(self, fact: Potential) -> Iterator[tuple[Atom, Potential]]:
        """The values that a fact, if it is an equation, gives to leaves."""
        atom = alone(fact)
        d = atom[2] - atom[3] if atom[:2] == ("op", "==") else fact - 1
        for leaf, c in sorted((leaf, c) for leaf, c in linear(d) if leaf[0] in ("var", "param") and abs(c) == 1):
            value = single(*leaf) - d * c
            # where it mentions the leaf itself, as in n == 4 * floor(n/4), that is an unknown: the same for all
            inside = [a for m, _ in terms(value) for a, _ in m if leaf in leaves(single(*a))]
            swap: Values = {a: single("as it is", a) for a in inside}
            if all(leaves(single(*a)) <= self.shared for a in swap):
                yield leaf, replaced(value, swap)

    def _elements(self, fact: Potential) -> Iterator[tuple[Atom, int]]:
        """The element of an array that a fact equates with a number, both it and its index."""
        atom = alone(fact)
        d = atom[2] - atom[3] if atom[:2] == ("op", "==") else 0
        for part, c in linear(d - offset(d)):
            only = d - offset(d) == single(*part) * c and abs(c) == 1
            if only and part[0] == "op" and part[1].startswith(ELEMENT) and isinstance(part[2], int):
                yield part, int(offset(d) * -c)

    def _define(self, definitions: list[tuple[Atom, Potential]], shared: set[Atom]) -> None:
        """The values of leaves by their definitions, each as soon as all in it is known; what all share and nothing
        defines is what it is, said or not, and tid after that, but for the one place along an axis of size 1."""
        lacking = [set(leaves(p)) for _, p in definitions]
        users: dict[Atom, list[int]] = {}
        for i, lacks in enumerate(lacking):
            for leaf in lacks:
                users.setdefault(leaf, []).append(i)
        ready = deque(i for i, lacks in enumerate(lacking) if not lacks)

        def learn(leaf: Atom, value: Potential) -> None:
            self.known[leaf] = value
            for i in users.get(leaf, ()):
                lacking[i].discard(leaf)
                ready.extend(() if lacking[i] else (i,))

        def settle() -> None:
            while ready:
                leaf, p = definitions[ready.popleft()]
                value = 0 if leaf in self.known else self.value_at(p, self.known)
                if leaf not in self.known and alone(value)[:1] != ("unknown",) and not deep(value):
                    learn(leaf, value)

        defined = {leaf for leaf, _ in definitions}
        settle()
        for axis in (a for a in AXES if self.known.get(("param", f"gridDim.{a}")) == 1):
            learn(("param", f"blockIdx.{axis}"), 0)
        mentioned = {leaf for leaf in shared - defined if leaf in users or leaf[0] == "param"}
        for leaf in sorted(mentioned - self.known.keys()):
            learn(leaf, single(*leaf))
        settle()
        for axis in (a for a in AXES if self.known.get(("param", f"blockDim.{a}")) == 1):
            learn(("tid", axis), 0)
        for leaf in (*sorted(shared & defined), *TIDS):
            settle()
            if leaf not in self.known:
                learn(leaf, single(*leaf))
        settle()

    def _part(self, p: Potential) -> Potential:
        """max(0, p), by what is known of p; of p and -p one in terms of the other, so that n % 1 is 0."""
        for op, part in (("<", p), (">", 0)):
            if self._compared(op, p) == 0:
                return part
        return max0(p) if leading(p) else p + max0(p * -1)

    def _operated(self, op: str, *args: Potential) -> Potential:
        a, b = args[0], args[-1]
        if op in ("int", "~"):
            return a if op == "int" else -1 - a
        if op in ("&&", "||"):
            return times(a, b) if op == "&&" else a + b - times(a, b)
        if op == "?:" and (isinstance(a, int) or args[1] == b):
            return args[1] if a != 0 else b
        if op in CONCRETE and not any(isinstance(v, Poly) for v in args):
            return int(CONCRETE[op](*args))
        if op in OPPOSITE:
            return self._compared(op, a - b)
        if op == "&" and (found := self._masked(op, a, b)) is not None:
            return found
        if (op, *alone(a)[:2]) == ("/", "op", "/") and isinstance(b, Poly):  # where a divisor is 0, both are 0
            return self._operated("/", alone(a)[2], times(alone(a)[3], b))
        if ("op", op, *args) in self.held:
            return self.held["op", op, *args]
        found = binary(op, a, b, self._part) if len(args) == 2 else None
        found = self._bitwise(op, a, b) if found is None and ("op", op) in BITS else found
        return single("op", op, *args) if found is None else found

    def _masked(self, op: str, a: Potential, b: Potential) -> Potential | None:
        """a & b, a ^ b or a | b, where one is a number and the bits of the other below its highest are known."""
        a, b = (b, a) if isinstance(a, int) else (a, b)
        if op == "&" and isinstance(b, int) and b < 0:  # a & ~c is what a & c leaves of a
            return a - self._operated(op, a, -1 - b)
        if not isinstance(b, int) or b < (op != "&"):
            return None
        high = floor_of(a, 1 << b.bit_length()) * (1 << b.bit_length())
        low = a - high
        return (0 if op == "&" else high) + int(CONCRETE[op](low, b)) if isinstance(low, int) else None

    def _bitwise(self, op: str, *args: Potential) -> Potential:
        """a & b, a ^ b or a | b: of the bits below LOW in one part, and of all others, if a's or b's below are known;
        of a & b, if both are."""
        highs = [floor_of(v, LOW) for v in args]
        lows = [v - high * LOW for v, high in zip(args, highs, strict=True)]
        if sum(isinstance(low, Poly) for low in lows) > (op != "&"):
            return single("op", op, *args)
        high = self._operated(op, *highs) if op == "&" else plus(*highs) if 0 in highs else single("op", op, *highs)
        return self._bits(op, *lows) + LOW * high

    def _bits(self, op: str, *lows: Potential) -> Potential:
        """The same below LOW, where the result is, too."""
        if not any(isinstance(v, Poly) for v in lows):
            return int(CONCRETE[op](*lows))
        found = self._masked(op, *lows)
        return single("bits", op, *lows) if found is None else found

    def _compared(self, op: str, d: Potential) -> Potential:
        """d op 0, in terms of < and =="""
        if op in (">=", "!="):
            return 1 - self._compared(OPPOSITE[op], d)
        if not isinstance(d, Poly):
            return int(CONCRETE[op](d, 0))
        if op in ("<=", ">"):
            return self._compared("<", d - 1 if op == "<=" else d * -1)
        inside = gcd(*(int(c) for mono, c in d.terms if mono))
        if op == "==" and offset(d) % inside:
            return 0
        d = collected({mono: c // inside for mono, c in terms(d)})  # over integers 2*x + 3 < 0 is x + 1 < 0
        if op == "==":
            for v in (d, d * -1):
                if any(t[:1] == ("op",) and t[1] in TRUTHS for t in (alone(v), alone(1 - v))):
                    return 1 - v  # a truth value is 0 or 1
            if self._compared("<", d) == 1 or self._compared(">", d) == 1:
                return 0
        found, other = single("op", op, d, 0), single("op", op, d * -1 if op == "==" else -1 - d, 0)
        same, opposite = (self.true, self.false) if op == "==" else (self.false, self.true)  # not -1 - d < 0
        if found in self.true or other in same:
            return 1
        if found in self.false or other in opposite:
            return 0
        for value, q in ((1, -1 - d), (0, d)) if op == "<" else ():
            if (least := self._least(q)) is not None and least >= 0:
                return value
        return found

    @cached_property
    def strangers(self) -> list[Values]:
        """As many threads as a warp has, and two at least, as a block may have, of which nothing is known."""
        return [{tid: single(*tid, i) for tid in TIDS} for i in range(max(2, self.program.hardware["warp"]))]

    @cached_property
    def shape(self) -> tuple[bool, list[list[Values]]]:
        """Whether every thread is there, and what tid is in each, by warps; or else a warp that stands for all."""
        size, by_warps = self.program.hardware["warp"], self.program.scope == "warp"
        x, y, z = (self.known["param", f"blockDim.{axis}"] for axis in AXES)
        if isinstance(x, int) and isinstance(y, int) and isinstance(z, int) and 0 < x * y * z <= MAX_THREADS:
            return True, threads(x, y, z, size, by_warps)
        warp = self.known[WARP] if by_warps else single("row", "x")
        return False, [self._row() if self.in_rows else self._ranked(warp, x, y, z)]

    @cached_property
    def in_rows(self) -> bool:
        """Whether the threads of a warp are next to each other in a row of threads, from a multiple of their number."""
        x, *others = (self.known["param", f"blockDim.{axis}"] for axis in AXES)
        return others == [1, 1] or all(c % self.program.hardware["warp"] == 0 for _, c in terms(x))

    def _row(self) -> list[Values]:
        """Such a warp, whichever it is."""
        x, y, z = (self.known["param", f"blockDim.{axis}"] for axis in AXES)
        row, ty, tz = (0 if d == 1 else single("row", axis) for axis, d in zip(AXES, (x, y, z), strict=True))
        first = self.known[WARP] if y == z == 1 and self.program.scope == "warp" else row
        size = self.program.hardware["warp"]
        return [dict(zip(TIDS, (i + size * first, ty, tz), strict=True)) for i in range(size)]

    @cached_property
    def any_row(self) -> list[list[Values]]:
        """Such a warp, as P allows it."""
        return self._allowed([self._row()])

    def _ranked(self, warp: Potential, x: Potential, y: Potential, z: Potential) -> list[Values]:
        """A warp of which no more is known than that its threads are next to each other in the block: x + y*tid.y and
        so on is warp*size + i, whatever tid.y and tid.z are."""
        found: list[Values] = []
        for i in range(self.program.hardware["warp"]):
            ty, tz = (0 if d == 1 else single(*tid, i) for tid, d in zip(TIDS[1:], (y, z), strict=True))
            rest = times(x, plus(ty, times(y, tz)))
            rank = i + self.program.hardware["warp"] * warp
            found.append(dict(zip(TIDS, (rank - rest, ty, tz), strict=True)))
        return found

    @cached_property
    def warps(self) -> list[list[Values]]:
        """The values of tid in threads that P allows together: by warps, and in parts by what i == n - 1 and the like
        say."""
        found = self._allowed(() if self.nobody else self.shape[1])
        for atom in (alone(f) for f, _ in self.local):
            if atom[:2] == ("op", "=="):
                found = [part for warp in found for part in self._parts(atom[2], warp)]
        return found

    def _run(self, places: Iterable[Potential], plane: bool) -> list[Values]:
        """Threads with these tid.x, or with `plane` these places tid.y * blockDim.x + tid.x, whatever else tid is."""
        ys = [(place, single(*TIDS[1], place)) for place in places]
        x = self.known["param", "blockDim.x"] if plane else 0
        return [{TIDS[0]: place - times(x, y), TIDS[1]: y} for place, y in ys]

    def runs(self, plane: bool) -> list[list[Values]]:
        """Threads with each place that those of a warp may have: a part of a row of threads, or of a plane, or the end
        of one and the beginning of the next. Where one has less threads than a warp, they have the places from 0 on,
        which are in a part of a row."""
        size, (x, y, _) = self.program.hardware["warp"], (self.known["param", f"blockDim.{axis}"] for axis in AXES)
        end = times(x, y) if plane else x
        found = [[RUN + i for i in range(size)]]
        found += [[end + i - n if i < n else i - n for i in range(size)] for n in range(1, size)]
        return self._allowed(self._run(run, plane) for run in found)

    def _allowed(self, groups: Iterable[list[Values]]) -> list[list[Values]]:
        """The threads that P allows, in a warp each. A fact of which nothing is known at the ends and in the middle of
        a warp excludes nobody there."""
        worth = cache(lambda f, *values: self.value_at(f, dict(values)))

        def at(thread: Values, f: Potential, own: frozenset[Atom]) -> Potential:
            spend(2)
            return worth(f, *[(leaf, thread.get(leaf, single(*leaf))) for leaf in own])

        found: list[list[Values]] = []
        for warp in groups:
            spend(len(warp))
            left = [thread | {LANE: i} for i, thread in enumerate(warp)]
            for fact in self.local:
                some = (*left[:2], *left[len(left) // 2 :][:1], *left[-2:])
                if any(isinstance(at(thread, *fact), int) for thread in some):
                    left = [thread for thread in left if at(thread, *fact) != 0]
            found.append(left)
        return found

    def _parts(self, d: Potential, warp: list[Values]) -> list[list[Values]]:
        """Threads by what d, which is 0 at all that are active together, is at each, if that is a constant plus what
        all share. It reads nothing: leaves are all in it that may differ."""
        if all(isinstance(thread.get(leaf), int) for thread in warp[:1] for leaf in leaves(d)):
            return [warp]  # it is 0 at all that are allowed
        values = [self.value_at(d, thread) for thread in warp]
        rest = {v - offset(v) for v in values}
        if len(rest) != 1 or not leaves(*rest) <= self.shared:
            return [warp]
        spend(len(warp) * len({*values}))
        return [[thread for thread, v in zip(warp, values, strict=True) if v == part] for part in {*values}]

    def value_at(self, p: Potential, swap: Values, normal: Makers | None = None) -> Potential:
        """The value of p at these values of leaves."""
        try:
            if not deep(p) and len(terms(found := replaced(p, swap, normal or self.apart))) <= MAX_LANE_TERMS:
                return found
        except TooMuch:
            raise
        except Bad:  # it is too long to be written out
            pass
        return single("unknown", next(self.numbers))

    def _values(self, e: Expr, groups: list[list[Values]], normal: Makers) -> Iterator[list[Potential]]:
        """The values of e at the threads of each warp, or block. Where tid and the warp are what they are at another
        thread, as far as e tells, it has the same value, but for what is unknown of each thread."""
        p = self.value_at(self.program.worth(e), self.known, normal)
        inside = sorted(leaves(p) & {WARP, *TIDS})
        seen: dict[tuple[Potential, ...], tuple[Potential, list[Atom]]] = {}
        for threads in groups:
            found = list[Potential]()
            for i, thread in enumerate(threads):
                spend(len(inside) + 2)
                place = tuple(thread[leaf] if leaf in thread else single(*leaf) for leaf in inside)
                if place not in seen:
                    v = self.value_at(p, thread, normal)
                    own = [a for a in atoms(v) if a[0] == "unknown" or (a[0] == "var" and not self._alike(a))]
                    seen[place] = v, own
                v, own = seen[place]
                found.append(self.value_at(v, {a: single(*a, i) for a in own}, normal) if own else v)
            yield found

    def _alike(self, leaf: Atom) -> bool:
        """Whether a leaf is the same for all."""
        return leaf in self.known or leaf in self.shared

    def parts(self, e: Expr) -> Iterator[list[Expr]]:
        """Cases of which one holds, for something in e that all threads share: each place of the block along an axis of
        the grid; else each residue modulo a power of two, the least such that quotients in e, at what is more by a
        multiple of it, are more by what all share."""
        for leaf in sorted(self._inside(e) & self.shared - {WARP}):
            places = self.known.get(("param", leaf[1].replace("blockIdx", "gridDim"))) if leaf in INDICES else 0
            if isinstance(places, int) and 1 < places <= LOW:
                yield [("op", "==", leaf, ("const", INT, i)) for i in range(places)]
            elif (k := self._rests(e, leaf)) > 1:
                low = ("op", "&", leaf, ("const", INT, k - 1))
                yield [("op", "==", low, ("const", INT, i)) for i in range(k)]

    def _inside(self, e: Expr) -> set[Atom]:
        """The atoms of e, by what leaves are, and by themselves."""
        worth = self.program.worth(e)
        return atoms(self.value_at(worth, self.known)) | atoms(worth)

    def _rests(self, e: Expr, leaf: Atom) -> int:
        """The least power of two such that quotients in e, where a leaf is more by a multiple of it, are more by what
        all share; 1 if there is none up to LOW."""
        inside = self._inside(e)
        divided = [(dict(linear(atom[1])), atom[2]) for atom in inside if atom[0] == "floor"]
        divided += [(dict(linear(q)), LOW) for atom in inside if atom[:2] in BITS for q in atom[2:]]
        k = lcm(*(d // gcd(d, int(found[leaf])) for found, d in divided if leaf in found))
        return k if k <= LOW and k & (k - 1) == 0 else 1

    def implies(self, e: Expr) -> bool:
        """Whether e holds at every thread that P allows: as it is, or at each place that it depends on."""
        value = self.value_at(self.program.worth(e), self.known)
        each = self._values(e, self.warps, self.apart) if leaves(value) & {WARP, *TIDS} else ()
        return self.nobody or value in self.true or (each != () and all(v == 1 for values in each for v in values))

    def uniform(self, e: Expr) -> bool:
        # threads of one warp read at once; those of other warps need not
        one = self.program.scope == "warp" or (self.shape[0] and len(self.warps) == 1)
        groups = self.warps
        if self.program.scope == "block":
            groups = [[thread for warp in self.warps for thread in warp] if self.shape[0] else self.strangers]
        normal = self.together if one else self.apart
        return self.implies(e) or all(len(set(values)) <= 1 for values in self._values(e, groups, normal))

    def most(self, array: Array, index: Expr, window: range = range(1), enough: int = 0) -> int:
        """The most sectors, or words in one bank, that the lanes of one warp can touch, each at an index that is some
        of so much more than this one; in phases 1, and what each has beyond 1. Not much work is done to show less than
        enough, nor after more than that was found."""
        v = self.value_at(self.program.worth(index), self.known, self.together)
        masks = [a[2:] for a in atoms(v) if a[:2] == BITS[0] and leaves(single(*a)) & {*TIDS}]
        told = any(WARP in here for _, here in self.local)  # P tells warps apart, and may say more of any one
        if self.shape[0] and self.in_rows and (told or masks or len(self.shape[1]) > FEW_WARPS):
            most = self._most(array, index, window, enough if told else LARGEST, self.any_row)
            if most <= enough:
                return most
        most = self._most(array, index, window, enough, self.warps)
        known = leaves(v) <= (self.shared | {*TIDS[:2]}) - {WARP} and all(atom[0] != "unknown" for atom in atoms(v))
        known = known and all(isinstance(p, int) or isinstance(q, int) for p, q in masks)  # or too many cases
        if not known or self.shape[0] or self.in_rows or array.lanes < self.program.hardware["warp"]:
            return most
        plane = TIDS[1] in leaves(v)
        most = most if most <= enough else min(most, self._most(array, index, window, enough, self.runs(plane)))
        less = enough + 1 if enough else most
        return most if most <= enough else min(most, self._in_parts(array, index, window, enough, plane, less))

    def _in_parts(self, array: Array, index: Expr, window: range, enough: int, plane: bool, less: int) -> int:
        """The same, if it is less, for what the end of a row and the beginning of the next touch, each by itself, where
        the end begins anywhere: at a multiple of as many places as tell quotients in the index apart, and each rest."""
        size, rests = self.program.hardware["warp"], self._rests(index, TIDS[0])
        groups = [[RUN * rests + rest + i for i in range(size)] for rest in range(rests)]
        threads_ = self._allowed(self._run(group, plane) for group in (*groups, range(size)))
        rows = zip(threads_, self._values(index, threads_, self.together), strict=True)
        *ends, begin = [[(int(offset(thread[LANE])), v) for thread, v in zip(*row, strict=True)] for row in rows]
        most, last = 0, -1
        for n in range(size, 0, -1):
            other = self._at_once(array, {v for i, v in begin if i < size - n}, window, 1)
            if other > last and most < less:  # where it is the same, a longer end touches no less
                last = other
                for end in (dict.fromkeys(v for i, v in end if i < n) for end in ends):
                    most = max(most, other + self._at_once(array, end, window, enough - other))
        return most

    def _most(self, array: Array, index: Expr, window: range, enough: int, warps: list[list[Values]]) -> int:
        """The same in some warps."""
        most, lanes = 0, array.lanes
        for warp, values in zip(warps, self._values(index, warps, self.together), strict=True):
            phases, here = defaultdict[Any, dict[Potential, None]](dict), 1
            for thread, v in zip(warp, values, strict=True):
                phases[int(offset(thread[LANE])) // lanes][v] = None
            here += sum(self._at_once(array, part, window, enough // len(phases)) - 1 for part in phases.values())
            most = max(most, here)
            if most > enough > 0:
                break
        return most

    def _at_once(self, array: Array, part: Collection[Potential], window: range, enough: int) -> int:
        """The same of lanes that access at once, at these indices."""
        n = at_indices(array, [(v, ()) for v in part], window, enough)
        if enough < n and any(atom[0] == "bits" for v in part for atom in atoms(v)):
            n = min(n, at_indices(array, [(v, ()) for v in part], window, enough, False))
        if enough < n and len(window) == 1:
            whole = [unreduced(array, v) for v in part]
            n = min(n, at_indices(array, whole, window, enough) + multiples(array, whole))
        for ways_of in (clamped, sided) if len(window) == 1 else (sided,):
            worst = 0
            for way in ways_of(list(part)) if enough < n else ():
                worst = max(worst, at_indices(array, [(v, ()) for v in way], window, enough))
                if worst >= n:
                    break
            n = min(n, worst or n)
        return n


def _coarseness(definition: tuple[Atom, Potential]) -> int:
    """The order of definitions: x == 48 * (x/48 as it is) before x == 16 * (x/16 as it is), and both before others."""
    return -gcd(*(int(c) for atom, c in linear(definition[1]) if atom[0] == "as it is"))


Phases = Mapping[Potential, Mapping[Any, Collection[int]]]
"""Constants by what is unknown in an index but for whole sectors or rounds of banks, and by its row: all that is."""


@lru_cache(maxsize=8)
def threads(x: int, y: int, z: int, size: int, by_warps: bool) -> list[list[Values]]:
    """The values of tid in each thread of a block, by warps of a size."""
    names, numbers = (*TIDS, WARP) if by_warps else TIDS, range(x * y * z)
    rows = [(i % x, i // x % y, i // (x * y), i // size) for i in numbers]
    found: list[Values] = [dict(zip(names, values, strict=False)) for values in rows]
    return [found[i : i + size] for i in numbers[::size]]


def at_indices(array: Array, values: list[tuple[Potential, Any]], window: range, enough: int, seen: bool = True) -> int:
    """The most that lanes at these indices touch, each at one of the window from it on. Indices of different kinds are
    in different rows. Low bits that are not known are seen as what they may be, or not seen through."""
    phases: dict[Potential, dict[Any, set[int]]] = {}
    for v, kind in values:
        bits, c = next(((single(*atom), int(c)) for atom, c in linear(v) if atom[0] == "bits" and seen), (0, 0))
        first, row = int(offset(v)), v - bits * c - offset(v)
        spend(2 * len(terms(row)) + 5)
        phase = collected({mono: c for mono, c in terms(row) if c * array.stride % (array.unit * array.banks)})
        here = phases.setdefault(phase, {}).setdefault((row, kind), set())
        spend((LOW if c else 1) * len(window))
        here |= {first + c * k + i for k in range(LOW if c else 1) for i in window}
        if len(here) > 2 * MAX_SPAN:
            return LARGEST
    apart = sum(touched(array, phase, rows.values()) for phase, rows in phases.items())
    worst = min(apart, by_class(array, phases))
    return jointly(array, phases, worst) if enough < worst else worst


def unreduced(array: Array, v: Potential) -> tuple[Potential, Any]:
    """g*d + r, and (g*k, r), for a v that is g*(d - k*floor(d/k)) + r where g*k elements are whole sectors or rounds
    of banks, and r whole sectors or words: v, and (), for all else.

    Where g*k and r are the same, g*d + r touches no less: the sector or word of its element, which no multiple of k
    divides, tells floor(d/k), and so which one v touches, and in which bank.

    Also for d % k as in C, with the kind (g*k, r, "%"): there k is taken away once less from a negative d that is no
    multiple of k. All multiples become r: one sector more, or no word more where elements have words of their own.
    """
    spend(len(terms(v)))
    for atom, c in linear(v):
        if atom[0] == "floor" and c % atom[2] == 0 and c * array.stride % (array.unit * array.banks) == 0:
            p, k, inside, whole = *atom[1:], alone(atom[1]), v - single(*atom) * c
            ways: list[tuple[Potential, Potential, tuple[str, ...]]] = [(p, whole, ())] if c < 0 else []
            if inside[:1] == ("max0",) and (array.banks == 1 or array.stride % array.unit == 0):
                turned = floor_of(p - inside[1], k)  # of max(0, -d), which is less by d
                ways.append((inside[1], whole + times(turned, c), ("%",)))
            for d, whole, truncated in ways:
                same = not truncated and integral(whole) and floor_of(whole, -int(c)) == single(*atom)
                rest = 0 if same else whole + times(d, c // k)
                within = array.offset + array.width <= array.stride and not any(a[0] == "bits" for a in atoms(rest))
                if within and all(e.denominator == 1 and e * array.stride % array.unit == 0 for _, e in terms(rest)):
                    return whole, (abs(c), rest, *truncated)
    return v, ()


def clamped(values: list[Potential], step: int = 0) -> list[list[Potential]]:
    """Of values that are each w or one u, all the lesser or all the greater of both: ways of which one has all that
    they are.

    w + c*max0(d) is w or w + c*d, whichever is u. Where the w differ by constants, let s divide these and each c. The
    values are all u, or are in steps of s between the least and the largest w: if u is between these, it is in
    a step, and else beyond all of them. The same holds of what is so clamped once more. No ways for all else.
    """
    for up, _, u, _ in sides(values[0]) if len(values) > 1 else ():
        found = [next(((c, w) for way, c, end, w in sides(v) if (way, end) == (up, u)), (0, v)) for v in values]
        if all(c for c, _ in found) and (ways := clamped([w for _, w in found], gcd(step, *(c for c, _ in found)))):
            return [*ways, [u]]
    numbers = [v - values[0] for v in values]
    apart = [int(n) for n in numbers if not isinstance(n, Poly)]
    if not step or len(apart) < len(numbers):
        return []
    window = range(min(apart), max(apart) + 1, gcd(step, *apart))
    return [] if window[MAX_SPAN:] else [[values[0] + n for n in window]]  # len is for numbers of 64 bits


def sided(values: list[Potential], most: int = MAX_WAYS) -> Iterator[list[Potential]]:
    """Values with what each max0(r + c) is, for each r that is of several c: ways of which one has all that they are.
    Either r + c is at most 0 for all c, or at least 0 for all, or r is one of the numbers between; no ways for many."""
    found: dict[Potential, set[int]] = {}
    for atom in {atom for v in values for atom in atoms(v) if atom[0] == "max0" and integral(atom[1])}:
        found.setdefault(atom[1] - offset(atom[1]), set()).add(int(offset(atom[1])))
    between = {r: range(1 - max(cs), -min(cs)) for r, cs in found.items() if len(cs) > 1}
    number = prod(numbers.stop - numbers.start + 2 for numbers in between.values())
    if not between or number > most:
        return
    each = list[list[Values]]()
    for r, numbers in between.items():
        parts = {c: r + c for c in found[r]}
        each.append([{("max0", p): 0 for p in parts.values()}, {("max0", p): p for p in parts.values()}])
        each[-1] += [{("max0", p): max(0, k + c) for c, p in parts.items()} for k in numbers]
    for swaps in product(*each):
        way = [reduce(replaced, swaps, v) for v in values]
        yield from list(sided(way, most // number)) or [way]


def sides(v: Potential) -> Iterator[tuple[bool, int, Potential, Potential]]:
    """Both ends of each c*max0(d) in a sum, in either order: whether it is their larger one, and c."""
    for atom, c in linear(v):
        if atom[0] == "max0" and integral(atom[1]) and c.denominator == 1:
            spend(2 * len(terms(v)))
            one = v - single(*atom) * c
            other = one + atom[1] * c
            yield from ((c > 0, int(c), one, other), (c > 0, int(c), other, one))


def multiples(array: Array, values: list[tuple[Potential, Any]]) -> int:
    """The sectors of the multiples of k in d % k of C: those of one element for each kind, which is r."""
    kinds = {kind for _, kind in values if kind[2:]}
    return len(kinds) * touched(array, 0, [(0,)]) if array.banks == 1 else 0


def touched(array: Array, phase: Potential, rows: Collection[Collection[int]]) -> int:
    """The most that indices can touch which are an unknown part, the same but for whole sectors or rounds of banks,
    plus one of the constants of a row."""
    shifts = range(0, array.unit, gcd(array.unit, *(array.stride * int(c) for _, c in terms(phase))))
    return max(max(banks(array, rows, shift).values(), default=0) for shift in shifts)


def banks(array: Array, rows: Collection[Collection[int]], shift: int) -> Counter[int]:
    """The words of each bank, or the sectors, that are touched at the constants of rows, shifted by so many bytes."""
    units, unit = list[int](), array.unit
    spend(6)
    for constants in rows:
        spend(len(constants) * (array.width // unit + 2) + 3)
        starts = [array.stride * i + array.offset + shift for i in constants]
        units += {u for a in starts for u in range(a // unit, (a + array.width - 1) // unit + 1)}
    return Counter(u % array.banks for u in units)


def jointly(array: Array, phases: Phases, most: int) -> int:
    """The most that is touched, or this many, where one value of each unknown product moves all that it is in: tried
    for all residues, if these are not too many."""
    period, factors = array.unit * array.banks, dict[Mono, int]()
    for mono, c in (term for phase in phases for term in terms(phase)):
        factors[mono] = gcd(factors.get(mono, period), array.stride * int(c))
    if len(phases) < 2 or prod(period // c for c in factors.values()) > MAX_RESIDUES:
        return most
    rows = [({mono: array.stride * int(c) for mono, c in terms(phase)}, found) for phase, found in phases.items()]
    here = cache(lambda i, shift: list(banks(array, rows[i][1].values(), shift).elements()))
    shifts = set[tuple[int, ...]]()
    for residues in product(*(range(period // c) for c in factors.values())):
        values = dict(zip(factors, residues, strict=True))
        spend(len(rows))
        found = [sum(c * values[mono] for mono, c in moved.items()) for moved, _ in rows]
        whole = found[0] - found[0] % array.unit  # by which all together move to other banks, as many to each
        shifts.add(tuple((shift - whole) % period for shift in found))
    worst = 0
    for shift in shifts:
        units = [unit for i, by in enumerate(shift) for unit in here(i, by)]
        spend(len(units) // 8)
        worst = max([worst, *Counter(units).values()])
    return min(worst, most)


def by_class(array: Array, phases: Phases) -> int:
    """The most words in one bank where unknown parts move words by multiples of so many banks: each of them may bring
    those of its worst bank of a class, modulo that number, to one bank."""
    moved = gcd(array.unit * array.banks, *(array.stride * int(c) for phase in phases for _, c in terms(phase)))
    total: Counter[int] = Counter()
    for rows in phases.values():
        most: dict[int, int] = {}
        for bank, n in banks(array, rows.values(), 0).items():
            of = bank % max(moved // array.unit, 1)
            most[of] = max(n, most.get(of, 0))
        total.update(most)
    return max(total.values(), default=0) if moved % array.unit == 0 else LARGEST


# --- arithmetic proofs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Proofs that a potential is nonnegative wherever the facts hold. `swaps` and `cases` come from the way here."""

    program: Program
    facts: Facts
    swaps: tuple[Values, ...] = ()
    cases: tuple[Potential, ...] = ()

    def prove(self, goal: Potential, proof: Json, what: str) -> None:
        """Raises Bad unless the proof shows goal >= 0."""
        match proof:
            case {"sum": rows} if len(proof) == 1:
                self._sum(goal, rows, what)
            case {"split": rows, "yes": yes, "no": no} if len(proof) == 3:
                p = self.program.potential(rows, True)
                want(isinstance(p, Poly) and integral(p), f"{what}: a split on what has no integer coefficients")
                up, down = primitive(p)[0], primitive(p * -1)[0]
                for case, on, off, by in (p, up, down, yes), (-1 - p, down, up, no):  # max(0, on) is on
                    swap: Values = {("max0", on): on, ("max0", off): 0}
                    replace(self, swaps=(*self.swaps, swap), cases=(*self.cases, case)).prove(goal, by, what)
            case {"put": e, "then": then} if len(proof) == 2:
                fact = self._fact(e)
                equation = fact[:2] == ("op", "==") and bool(self.program.sides(fact))
                want(equation and fact[2][0] in LEAVES, "{:.200} tells no value", fact)
                swap = {fact[2]: self.program.worth(fact[3])}
                replace(self, swaps=(*self.swaps, swap)).prove(goal, then, what)
            case _:
                raise Bad(f"{what}: a proof is a sum, a split, or puts what is equal")

    def _sum(self, wanted: Potential, rows: Json, what: str) -> None:
        """A sum of what is nonnegative is as much as wanted, or -1: then there is no such state."""
        found: list[Potential] = []
        for c, factors in fitted(rows, [(PRICE, [tuple])], f"{what}: a sum"):
            want(len(factors) <= MAX_DEGREE, f"{what}: a product has too many factors")
            known = (reduce(replaced, self.swaps, self._factor(f)) for f in factors)
            found.append(reduce(times, [rational(c), *known]))
        sum_, wanted = plus(*found), reduce(replaced, self.swaps, wanted)
        if sum_ not in (wanted, -1):
            texts = ["too long to show" if deep(p) else show(p) for p in (sum_, wanted)]
            raise Bad(f"{what}: the sum is {texts[0]:.200} and not {texts[1]:.200}")

    def _fact(self, e: Json) -> Expr:
        fact = self.program.expression(e, True)
        want(fact in self.facts, "{:.200} is no fact here", fact)
        return fact

    def _factor(self, row: Json) -> Potential:
        """A quantity that is not negative."""
        match row:
            case ("fact", e, str(sign)):
                fact = self._fact(e)
                quantities = self.program.comparison(fact)
                want(sign in quantities, "the fact {:.200} does not give '{:.20}'", fact, sign)
                return quantities[sign]
            case ("case", i):
                fitted(i, range(len(self.cases)), "a case's number")
                return self.cases[int(i)]
            case ("apart", e, i):  # integers that differ, one not below the other: it is above
                fact, case = self._fact(e), self.cases[int(fitted(i, range(len(self.cases)), "a case's number"))]
                sides = self.program.sides(fact)
                want(fact[:2] == ("op", "!=") and bool(sides), "{:.200} is no a != b", fact)
                gap, at = (reduce(replaced, self.swaps, p) for p in (sides[0] - sides[1], case))
                want(at in (gap, gap * -1), "the case is not about what {:.200} tells apart", fact)
                return case - 1
            case (("max0" | "above" | "log2") as kind, of):
                p = self.program.potential(of, True)
                return max0(p) - p if kind == "above" else NORMAL[kind](p)
            case ("low" | "high" as kind, of, k):
                p, divisor = self.program.potential(of, True), int(fitted(k, NATURAL[1:], "a divisor"))
                low = p - divisor * floor_of(p, divisor)
                want(kind == "low" or integral(p), "'high' needs a potential with integer coefficients")
                return low if kind == "low" else divisor - 1 - low
            case ("least" | "most" as kind, *sides, k, because):
                p, q = (self.program.potential(side, True) for side in sides)
                k = int(fitted(k, range(MAX_DEGREE), "an exponent"))
                more = log2_of(p) - log2_of(q) - k  # at least 0 where p >= 2^k*q >= 2^k, at most where p < 2^k*(q + 1)
                if kind == "least":
                    return self._where((more, p - q * (1 << k), q - 1), because)
                return self._where((more * -1, (q + 1) * (1 << k) - 1 - p), because)
            case (("instance" | "telescope") as kind, k, str(sign), ts, because):
                contract = self.program.contracts[fitted(k, range(len(self.program.contracts)), "a contract's number")]
                ends = self._integers(fitted(ts, [tuple], "indices"))
                want(sign in contract.quantities, "the contract does not give '{:.20}'", sign)
                want(len(ends) == (len(contract.ranges) if kind == "instance" else 2), "there are not so many indices")
                said = (contract.instance if kind == "instance" else contract.telescope)(sign, ends)
                want(bool(said), "a contract is not about neighbours")
                return self._where(said, because)
            case ("law", str(op), str(name), *sides, because) if op in OPERATED:
                p, q = self._integers(sides)
                found = laws(op, p, q)
                want(name in found, f"{op} has no law '{name:.80}'")
                return self._where(found[name], because)
        raise Bad("a factor of a proof is not known")

    def _integers(self, rows: Collection[Json]) -> list[Potential]:
        found = [self.program.potential(row, True) for row in rows]
        want(all(map(integral, found)), "a potential without integer coefficients, where integers are needed")
        return found

    def _where(self, said: tuple[Potential, ...], because: Json) -> Potential:
        """The first of some quantities, where sums show that all others are nonnegative."""
        for part, rows in zip(said[1:], because, strict=True):
            self._sum(part, rows, "what a factor needs")
        return said[0]


def contradictory(rows: list[Potential]) -> bool:
    """Whether quantities are not nonnegative all at once, by adding them so that one monomial after the other vanishes.
    Where they are too many, the answer is no."""

    def texts(mono: Mono) -> list[str]:
        found = sorted(f"{order(a)}^{e}" for a, e in mono)
        spend(1 + sum(map(len, found)) // 16)
        return found

    monos = sorted({m for p in rows for m, _ in terms(p) if m}, key=texts)
    while not any(not isinstance(p, Poly) and p < 0 for p in rows):
        small = [p for p in rows if isinstance(p, Poly) and all(-LARGEST <= c <= LARGEST for _, c in p.terms)]
        if not monos or sum(len(p.terms) for p in small) > MAX_FACTS:
            return False
        rows = [floor_of(p, gcd(*(int(c) for m, c in p.terms if m))) for p in small]  # of integers: 2*x >= 1 is x >= 1
        signs = Counter((m, c > 0) for p in rows for m, c in terms(p))
        mono = min(monos, key=lambda m: signs[m, True] * signs[m, False])
        monos.remove(mono)
        known = [(dict(terms(p)).get(mono, 0), p) for p in rows]
        rows = [p for c, p in known if not c] + [q * c + p * -d for c, p in known for d, q in known if c > 0 > d]
    return True


# --- derivations ------------------------------------------------------------------------------------------------------

TABLES: Final = (
    {"P": "assertions", "s": "statements"} | dict.fromkeys("eok", "expressions") | dict.fromkeys("QF", "potentials")
)
FORMS: Final = {"skip": "", "sync": "", "assume": "e", "set": "xe", "write": "Aee", "if": "ess", "while": "es"}


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A statement. Those of the same form are the same object; a sequence has its statements as parts."""

    kind: str
    parts: tuple[Any, ...]
    written: Names
    barriers: int


class Checker(Program):
    """Applies the rules of a derivation, one after the other. Raises Bad at the first that does not fit."""

    def __init__(self, document: dict[str, Json]) -> None:
        super().__init__(document)
        self.document = document
        self.where = ""
        self.row: int | None = None
        self.solver_backed: list[str] = []
        self.open: list[Open] = []
        self.evidence = list(document["evidence"][::-1])
        self.premises: list[Judgement] = []
        self.statements: dict[tuple[Any, ...], Statement] = {}
        self.lanes = lru_cache(MAX_KEPT)(lambda p, x: Lanes(self, p, x))
        self.arithmetic = lru_cache(MAX_KEPT)(lambda p: Arithmetic(self, p | self.launch))
        self.named: dict[str, Any] = {"0": 0} | {kind: self.statement(kind) for kind in ("skip", "sync")}
        self.named |= {f"M.{name}": self.price(name) for name in FIXED}
        self.named |= {f"M.{name}": partial(self.price, name) for name in COUNTED}
        self.shapes: dict[str, Any] = {"C": PRICE, "c": PRICE, "n": NATURAL, "op": str}
        named = [*self.leaves, *((array.space, name) for name, array in self.arrays.items())]
        for letter, kind in (("x", "var"), ("p", "param"), ("a", "tid"), ("G", "global"), ("S", "shared")):
            self.shapes[letter] = frozenset(name for what, name in named if what == kind)
        self.shapes |= {"A": self.shapes["G"] | self.shapes["S"]}
        self.name_set: Callable[[Json], Names] = cache(self._name_set)
        self.tables: dict[str, list[Any]] = {}
        self.sizes: dict[str, list[int]] = {}
        readers: tuple[Callable[[Json], Any], ...] = self.expression, self.potential, self._assertion, self._statement
        for name, read in zip(("expressions", "potentials", "assertions", "statements"), readers, strict=True):
            self.tables[name], self.sizes[name] = [], []
            for row in document[name]:
                before = Work.left
                self.tables[name].append(read(row))
                self.sizes[name].append(1 + (before - Work.left) // 4)

    def letter_value(self, letter: str, value: Json) -> Any:
        """The value of a metavariable, by the kind that its first letter tells."""
        kind = letter if letter == "op" else letter[0]
        if kind in TABLES:
            rows, sizes = self.tables[TABLES[kind]], self.sizes[TABLES[kind]]
            found = rows[fitted(value, range(len(rows)), letter)]
            spend(sizes[value])  # to be compared, and looked up
            want(kind != "k" or found[0] == "const", f"{letter} has to be a literal")
            return found
        if kind == "X":
            spend(len(fitted(value, tuple, letter)))
            return self.name_set(value)
        fitted(value, self.shapes[kind], letter)
        return rational(value) if kind in "Cc" else value

    def _name_set(self, value: Json) -> Names:
        """X, from the list of its names in order."""
        fitted(value, [self.shapes["x"]], "X")
        want(list(value) == sorted(set(value)), "X is not sorted")
        return frozenset(value)

    def _assertion(self, row: Json) -> Facts:
        return self.conj([self.conjunct(self.letter_value("e", i)) for i in row])

    def _statement(self, row: Json) -> Statement:
        match row:
            case ("seq", (_, _, *_) as parts):
                letters = "s" * len(parts)
            case (str(kind), *parts) if len(parts) == len(FORMS.get(kind, "?" * len(row))):
                letters = FORMS[kind]
            case _:
                raise Bad("a statement is not well formed")
        found = [self.letter_value(letter, part) for letter, part in zip(letters, parts, strict=True)]
        want(row[0] != "seq" or all(s.kind != "seq" for s in found), "a sequence is part of a sequence")
        return self.statement(row[0], *found)

    def statement(self, kind: str, *parts: Any) -> Statement:
        """The one statement of this form, if it is well typed."""
        spend(len(parts))
        if (kind, *parts) not in self.statements:
            match kind, *parts:
                case ("set" | "write", name, *index, e):
                    target = ("read" if index else "var", name, *index)
                    want(self.type_of(e) == self.type_of(target), f"the value for '{name}' has another type")
                case ("if" | "while" | "assume", e, *_):
                    self.condition("a condition", e)
            inner = [part for part in parts if isinstance(part, Statement)]
            spend(2 * sum(len(s.written) for s in inner))  # a name in a set takes some 40 bytes
            written = frozenset(parts[:1] if kind == "set" else ()).union(*(s.written for s in inner))
            barriers = int(kind == "sync") + sum(s.barriers for s in inner)
            self.statements[kind, *parts] = Statement(kind, parts, written, barriers)
        return self.statements[kind, *parts]

    def without(self, s: Statement, leaf: Expr) -> Statement:
        """s without its assignments to a variable, or parameter, which nothing else in s may use."""
        spend()
        assignment = "set", leaf[1]
        if (s.kind, *s.parts[:1]) == assignment:
            return self.both()
        used = any(leaf in mentions(part, leaf[0]) for part in s.parts if isinstance(part, tuple))
        want(not used, f"the program uses '{leaf[1]}'")
        if s.kind == "seq":
            return self.both(*(self.without(t, leaf) for t in s.parts if (t.kind, *t.parts[:1]) != assignment))
        parts = (self.without(part, leaf) if isinstance(part, Statement) else part for part in s.parts)
        return self.statement(s.kind, *parts)

    def both(self, *ss: Statement) -> Statement:
        """s1; s2; ..."""
        parts = [part for s in ss for part in (s.parts if s.kind == "seq" else (s,))]
        spend(len(parts))
        return self.statement("seq", *parts) if len(parts) > 1 else parts[0] if parts else self.statement("skip")

    def apply(self, node: dict[str, Json], proved: dict[int, Judgement]) -> Judgement:
        """The conclusion of a rule application. It uses up its premises."""
        *asked, conclusion = RULES[node["rule"]]
        for i in reversed(node["from"]):
            want(i in proved, "a premise is not proved before, or is used twice")
            self.premises.append(proved.pop(i))
        if node["with"].keys() != metavariables(node["rule"]):
            fitted(node["with"], dict.fromkeys(metavariables(node["rule"]), object), "with")
        values = {name: self.letter_value(name, value) for name, value in node["with"].items()}
        found = self.meaning(conclusion, values)
        for text in asked:
            wanted = self.meaning(text, values)
            if wanted is not None:
                want(bool(self.premises), "there are too few premises")
                want(self.premises.pop() == wanted, f"a premise ({wanted[0]}) is not what the rule needs")
        want(not self.premises, "there are too many premises")
        if found[0] == "triple":
            _, _, q, x, _, _, q2, x2 = found
            want(variables(q) <= x and variables(q2) <= x2, "a potential depends on variables that X lacks")
        return found  # type: ignore[no-any-return]

    def meaning(self, text: str, values: dict[str, Any]) -> Any:
        """The meaning of a part of a rule's text; a side condition is checked."""
        if text in values or text in self.named:
            return values[text] if text in values else self.named[text]
        form, parts = form_of(text)
        return form(self, *(self.meaning(part, values) for part in parts))

    def _entry(self) -> Json:
        """The proof in the next entry, or None. Who is said to have decided it counts for nothing."""
        want(bool(self.evidence), "there is too little evidence")
        return self.evidence.pop()["proof"]

    def _leave(self, p: Facts, x: Names, claim: str) -> None:
        """Leaves a claim unverified: what the last entry is about."""
        given = plain(f"{show(p)}; {{{', '.join(sorted(x))}}}" if x else show(p))[:SHOWN]
        left = Open(len(self.document["evidence"]) - len(self.evidence) - 1, self.row, given, plain(claim)[:SHOWN])
        self.open.append(left)
        self.solver_backed.append(plain(f"{self.where}: {left.given} |- {left.claim} (unverified)"))

    def at_least(self, p: Facts, x: Names, q: Potential, r: Potential) -> None:
        """P; X |- Q >= Q'"""
        more, proof = q - r, self._entry()
        if proof is not None:
            self.arithmetic(p).prove(more, proof, "Q >= Q'")
        elif isinstance(more, Poly) or more < 0:
            self._leave(p, x, f"{show(q)} >= {show(r)}")

    def entails(self, p: Facts, goals: Facts) -> None:
        """P |- P'"""
        self.shown(p, goals, self._entry())

    def shown(self, p: Facts, goals: Facts, proof: Json) -> None:
        """P |- P', by what a proof says or, with that, what the lanes show; without a proof it may stay unverified."""
        for goal in self.unseen(self.also(p, proof), goals):
            want(proof is None, "there is no proof of {:.200}", goal)
            self._leave(p, frozenset(), show(goal))

    def unseen(self, p: Facts, goals: Facts) -> list[Expr]:
        """The goals that neither P or the launch has, nor the lanes show."""
        return [goal for goal in sorted(goals - p - self.launch, key=repr) if not self.lanes(p, None).implies(goal)]

    def also(self, p: Facts, proof: Json) -> Facts:
        """P, and what a proof, or None, shows to follow from it, each entry from P alone."""
        known, more = self.arithmetic(p), set(p)
        for row in fitted(() if proof is None else proof, [dict], "a proof of what follows from P"):
            goal = self.condition("a goal", self.expression(row.get("goal"), True))
            match row, len(row):
                case {"if": (_, _) as cases}, 2:  # by a first choice a ? b : c, or a || b, or else a bool as a number
                    kinds = ("?:", "||"), ("int",)
                    choice = next((t for ops in kinds for t in mentions(goal, "op") if t[1] in ops), FALSE)
                    want(choice != FALSE, "{:.200} has no choice in it", goal)
                    numbers = ("const", INT, 1), ("const", INT, 0)
                    sides = {"||": (TRUE, *choice[3:]), "?:": choice[3:], "int": numbers}[choice[1]]
                    for test, side, by in zip((choice[2], ("op", "!", choice[2])), sides, cases, strict=True):
                        case = self.given(frozenset(self.replace_part(f, choice, side) for f in p), test)
                        self.shown(case, self.known(self.replace_part(goal, choice, side)), by)
                case {"by": (*proofs,)}, 2:
                    parts = self.comparison(goal).values()
                    want(0 < len(parts) == len(proofs), "{:.200} has not so many proofs", goal)
                    for part, each in zip(parts, proofs, strict=True):
                        known.prove(part, each, show(goal)[:200])
                case _:
                    raise Bad("an entry of a proof of what follows from P is not well formed")
            more |= self.conj([goal])
        return frozenset(more)

    def uniform(self, p: Facts, x: Names, e: Expr) -> None:
        """P; X |- e unif"""
        more = self.also(p, self._entry())
        if not self.alike(e, x) and not self.by_cases(more, x, e, lambda lanes: lanes.uniform(e)):
            self._leave(p, x, f"{show(e)} unif")

    def by_cases(self, p: Facts, x: Names, e: Expr, decided: Callable[[Lanes], bool]) -> bool:
        """Whether something is decided for the lanes that P allows, or in each case of something that they share."""
        here = self.lanes(p, x)
        return decided(here) or any(all(decided(self.lanes(p | {c}, x)) for c in cases) for cases in here.parts(e))

    def uniform_all(self, p: Facts, x: Names, more: Names) -> None:
        for name in sorted(more - x):
            self.uniform(p, x, ("var", name))

    def accesses(self, p: Facts, x: Names, name: str, index: Expr, n: int) -> None:
        """P; X |- MemReads(G[o]) <= n or P; X |- Conflicts(S[o]) <= n"""
        array, proof, first, windows = self.arrays[name], self._entry(), index, [range(1)]
        want(self.type_of(index) == INT, "an index is not an int")
        ends: list[Expr] = []
        if isinstance(proof, dict):  # o is what is as much as another index, or so much more at most
            fitted(proof, {"is": tuple, "first": tuple, "span": range(MAX_SPAN), "by": tuple}, "a proof")
            o, first, span = self.expression(proof["is"], True), self.expression(proof["first"]), proof["span"]
            ends.append(("op", "==", self.abstract(index), o))
            low, windows, proof = first, [range(span + 1)], proof["by"]
            if o[:2] == low[:2] == ("op", "/") and o[3] == low[3] and self.alike(o[3], x):
                by, o, low = o[3], o[2], low[2]
                if by[0] == "const" and by[2] > 0:
                    span *= by[2]  # quotients are this much closer, rounded up
                else:  # quotients are no farther apart, and less for a negative divisor
                    windows.append(range(-span, 1))
            ends += [("op", ">=", o, low), ("op", "<=", o, ("op", "+", low, ("const", INT, span)))]
        more, near = self.also(p, proof), frozenset(self.condition("an end", end) for end in ends)
        left = self.unseen(more, near)
        want(not left, "there is no proof of {:.200}", frozenset(left))
        decided = n >= self.hardware["warp"] * touched(array, single("any"), [(0,)])
        if not decided and array.width <= 64 * array.unit:

            def few(window: range, lanes: Lanes) -> bool:
                return lanes.most(array, first, window, n) <= n

            known = dict.fromkeys((more - near, more))  # ends say nothing of lanes, as a rule, and take long
            decided = any(all(self.by_cases(p, x, first, partial(few, window)) for window in windows) for p in known)
        if not decided:
            what = "MemReads" if array.space == "global" else "Conflicts"
            self._leave(p, x, f"{what}({name}[{show(index)}]) <= {n}")

    def alike(self, e: Expr, x: Names) -> bool:
        """Whether nothing in e tells threads apart, by X alone."""
        alike = all(t[0] == "var" and t[1] in x for t in mentions(e, "var", "tid"))
        return alike and (self.scope == "warp" or not any(mentions(e, "read")))

    def known(self, e: Expr) -> Facts:
        """e as a goal."""
        want(not self.opaque(e), "an opaque condition cannot be proved")
        return self.given(frozenset(), e)

    def within(self, small: Names, large: Names) -> None:
        want(small <= large, f"{', '.join(sorted(small - large)):.200} should not be in X")

    def meet(self, s: Statement, shared: Names, everyone: bool, first: int, apart: set[int]) -> Names:
        """The locals in which all threads of a block hold the same value after s, by its text alone.

        `shared` are those before s, `everyone` whether the block is undivided. `apart` gets the barriers that a part
        of it may reach alone, by number in program order; `first` is that of the first barrier in s.
        """
        spend(len(shared) + 1)

        def alike(e: Expr) -> bool:
            known = {("var", x) for x in shared} | {("read", a) for a in self.stable}
            return everyone and all(t[:2] in known for t in mentions(e, "var", "tid", "read"))

        match s.kind, *s.parts:
            case ("sync",) if not everyone:
                apart.add(first)
            case ("set", x, e):
                return shared | {x} if alike(e) else shared - {x}
            case ("seq", *parts):
                for t in parts:
                    shared = self.meet(t, shared, everyone, first, apart)
                    first += t.barriers
            case ("if", e, yes, no):
                after = self.meet(yes, shared, alike(e), first, apart)
                after &= self.meet(no, shared, alike(e), first + yes.barriers, apart)
                return after if alike(e) else after - s.written
            case ("while", e, body):
                inside: set[int] = set()
                after = shared & self.meet(body, shared, alike(e), first, inside)
                after = after if alike(e) else after - s.written
                if after != shared:
                    return self.meet(s, after, everyone, first, apart)
                apart |= inside
        return shared

    def run(self) -> Potential:
        """The bound that the certificate proves."""
        proved: dict[int, Judgement] = {}
        for i, node in enumerate(self.document["derivation"]):
            self.row, self.where = i, f"derivation[{i}] {node['rule']:.40}"
            want(node["rule"] in RULES, "there is no such rule")
            proved[i] = self.apply(node, proved)
        self.row, self.where = None, "the claim"
        kinds = [kind for kind, *_ in proved.values()]
        want(kinds == ["triple"], "a judgement is proved and not used, or there is none about a statement")
        ((_, p, q, x, s, p2, q2, x2),) = proved.values()
        body = self.letter_value("s", self.document["kernel"]["body"])
        want(s is body, "the root is about another program than the kernel's body")
        want(not p and not x, "the precondition is not {true; Q; {}}")
        want(all(self.without(body, leaf) is body for leaf in (*self.ghosts, WARP)), "the program writes to a ghost")
        want(not self.names_elements(body), "the program names elements of arrays, where it has to read them")
        self.at_least(p2, x2, q2, 0)
        q = self.summed(q)
        want(not self.evidence, "there is more evidence than side conditions")
        apart: set[int] = set()
        if body.barriers:
            self.meet(body, frozenset(), True, 0, apart)
        numbers = {fitted(i, range(body.barriers), "a barrier") for i in self.document["admitted"]}
        want(apart <= numbers, "a barrier that a part of the block may reach alone is not admitted")
        return q

    def names_elements(self, s: Statement) -> bool:
        """Whether an expression in a statement names elements of arrays, which only conditions and ghosts do."""
        spend()
        inner = [part for part in s.parts if isinstance(part, Statement)]
        own = any(elements(part) for part in s.parts if isinstance(part, tuple))
        return own or any(map(self.names_elements, inner))

    def assumed(self, s: Statement) -> Iterator[Expr]:
        """The assumptions inside a statement."""
        spend()
        if s.kind == "assume":
            yield s.parts[0]
        for part in s.parts:
            if isinstance(part, Statement):
                yield from self.assumed(part)

    def vacuous(self) -> bool:
        """Whether arithmetic shows that no launch satisfies the assumptions, or that no thread keeps those that all
        come to."""
        body = self.letter_value("s", self.document["kernel"]["body"])
        parts = body.parts if body.kind == "seq" else (body,)
        kept: dict[Expr, Names] = {}  # what holds of a thread that has kept what was assumed, and which locals in that
        for s in parts if any(s.kind == "assume" for s in parts) else ():
            spend(len(kept) + 1)
            kept = {fact: names for fact, names in kept.items() if not names & s.written}
            match s.kind, *s.parts:
                case "assume", e:
                    new = self.conj([e])
                case "set", x, e if self.type_of(e) == INT and ("var", x) not in mentions(e, "var"):
                    new = self.conj([("op", "==", ("var", x), e)])
                case _:
                    new = frozenset()
            kept |= {fact: frozenset(t[1] for t in mentions(fact, "var")) for fact in new}
            if s.kind == "assume" and self.impossible(frozenset(kept) if len(kept) <= MAX_FACTS else new):
                return True
        return self.impossible(frozenset())

    def impossible(self, p: Facts) -> bool:
        """Whether arithmetic shows that no thread satisfies P."""
        rows = [q for fact in (*p, *self.launch) for q in self.comparison(fact).values() if not deep(q)]
        return self.lanes(p, None).nobody or contradictory([*rows, *self._instances(rows)])

    def _instances(self, rows: list[Potential]) -> Iterator[Potential]:
        """The instances of contracts at the ends of their ranges and at elements in rows, and from one of these to
        another, where rows show what that needs."""
        named = {atom[2] for q in rows for atom in atoms(q) if atom[0] == "op" and atom[1].startswith(ELEMENT)}
        for contract in (c for c in self.contracts if len(c.ranges) == 1):
            low, high = contract.ranges[0]
            first, end = 0 if low is None else low, 1 if high is None else high
            far = {first, end, *named} if len(named) ** 2 * len(self.contracts) <= MAX_FACTS else ()
            for sign in contract.quantities:
                said = [contract.instance(sign, [t]) for t in {first, end - 1, *named}]
                said += [more for ends in permutations(far, 2) if (more := contract.telescope(sign, [*ends]))]
                for quantity, *needed in said:
                    if not deep(quantity) and all(contradictory([*rows, -1 - q]) for q in needed):
                        yield quantity

    def summed(self, q: Potential) -> Potential:
        """The sum of q over the indices, each given with an F that falls by q from one to the next."""
        rows = self.document["sums"]
        want(not rows or self.scope == "warp", "what blocks cost is not summed")
        for index, (_, i) in zip(INDICES, rows, strict=False):
            f = self.letter_value("Q", i)
            want(not variables(f), "a sum depends on variables")
            assumed = any(e == index for a in self.document["launch"]["assumptions"] for e in mentions(a, "param"))
            want(not assumed, f"an assumption about {index[1]} leaves out what the sum is over")
            self.at_least(frozenset(), frozenset(), f - replaced(f, {index: single(*index) + 1}), q)
            q = replaced(f, {index: 0}) - replaced(f, {index: self.extents[index]})
        return q

    def erased(self, s: Statement, s1: Statement, x: str) -> None:
        """s = s1 without x"""
        want(("var", x) in self.ghosts, f"'{x}' is no ghost")
        want(self.without(s1, ("var", x)) is s, f"the program is not what is left without '{x}'")

    def ghost(self, x: str, p: Facts, q: Potential, p2: Facts, q2: Potential) -> None:
        """x ghost in P, Q, P', Q'"""
        named = {t[1] for f in (*p, *p2) for t in mentions(f, "var")} | variables(q) | variables(q2)
        want(x not in named, f"a condition mentions '{x}'")


NOTATION: Final[dict[str, Callable[..., Any]]] = {
    # judgements
    r"(P); (X) \|- (x) : (.+)": lambda do, p, x, name, c: ("cost", p, x, ("var", name), c),
    r"(P); (X) \|- (p) : (.+)": lambda do, p, x, name, c: ("cost", p, x, ("param", name), c),
    r"(P); (X) \|- (.+) : (.+)": lambda do, *parts: ("cost", *parts),
    r"\{(.+?); (.+?); (.+?)\} (.+) \{([^;]+); ([^;]+); ([^;]+)\}": lambda do, *parts: ("triple", *parts),
    # side conditions
    r"(P.*); (X.*) \|- (.+) >= (.+)": lambda do, *parts: do.at_least(*parts),
    r"(P.*) \|- (F) >= 0": lambda do, p, q: do.at_least(p, frozenset(), q, 0),
    r"(P.*); (X.*) \|- (e\d?) unif": lambda do, *parts: do.uniform(*parts),
    r"(P.*); (X.*) \|- (X\d?) unif": lambda do, *parts: do.uniform_all(*parts),
    r"(P.*); (X.*) \|- \w+\(([GS])\[(o)\]\) <= (n)": lambda do, *parts: do.accesses(*parts),
    r"(P.*) \|- (P.*)": lambda do, p, goals: do.entails(p, goals),
    r"(P.*) \|- (!?e)": lambda do, p, e: do.entails(p, do.known(e)),
    r"([Xv].*) <= (.+)": lambda do, small, large: do.within(small, large),
    r"(c) >= 0": lambda do, c: want(c >= 0, "c is negative"),
    r"(s) = (s1) without (x)": lambda do, *parts: do.erased(*parts),
    r"(x) ghost in (P), (Q), (P'), (Q')": lambda do, *parts: do.ghost(*parts),
    # conditions
    r"(P.*) & (!?e\d?)": lambda do, p, e: do.given(p, e),
    r"(P'?)\[(x) <- (e)\]": lambda do, p, x, e: do.assigned(p, x, e),
    r"(Q'?)\[(x) <- (e)\]": lambda do, q, x, e: do.updated(q, x, e),
    r"([QC].*) \+ (.+)": lambda do, q, c: q + c,
    r"(M\.\w+)\((n)\)": lambda do, price, n: price(n),
    r"(?:(X\S*)|\((X.*)\)) \\ (.+)": lambda do, x, less: x - less,
    r"(X\S*) & (X\S*)": lambda do, x, y: x & y,
    r"(X\S*) \| (.+)": lambda do, x, more: x | more,
    r"\{(x)\}": lambda do, x: {x},
    r"W\((s\d?)\)": lambda do, s: s.written,
    r"vars\(([QF])\)": lambda do, q: variables(q),
    # expressions and statements
    r"!(e\d?)": lambda do, e: ("op", "!", e),
    r"tid\.(a)": lambda do, a: ("tid", a),
    r"(op)\((e1)(?:, (e2))?(?:, (e3))?\)": lambda do, *parts: do.expression(("op", *parts)),
    r"([GS])\[(o)\]": lambda do, array, o: ("read", array, o),
    r"([GS])\[(o)\] <- (e)": lambda do, *parts: do.statement("write", *parts),
    r"(x) <- (e)": lambda do, *parts: do.statement("set", *parts),
    r"if \((e)\) (.+) else (.+)": lambda do, *parts: do.statement("if", *parts),
    r"while \((e)\) (.+)": lambda do, *parts: do.statement("while", *parts),
    r"assume (e)": lambda do, e: do.statement("assume", e),
    r"(s\d?); (.+)": lambda do, *parts: do.both(*parts),
    r"\((s.+)\)": lambda do, s: s,
}
"""Forms of a part of a rule's text, each with what it stands for; the first that fits counts."""


@cache
def form_of(text: str) -> tuple[Callable[..., Any], list[str]]:
    """The reading of a part of a rule's text: a function of its own parts."""
    fitting = ((form, re.fullmatch(pattern, text)) for pattern, form in NOTATION.items())
    form, found = next((form, found) for form, found in fitting if found)
    return form, [part for part in found.groups() if part]


TEXT: Final = r"""
OQ:Var       => P; X |- x : M.var
OQ:Const     => P; X |- k : M.const
OQ:Param     => P; X |- p : M.param
OQ:Tid       => P; X |- tid.a : M.var
EQ:Op1       P; X |- e1 : C1   => P; X |- op(e1) : C1 + M.op
EQ:Op        P; X |- e1 : C1   P; X |- e2 : C2   => P; X |- op(e1, e2) : C1 + C2 + M.op
EQ:Op3       P; X |- e1 : C1   P; X |- e2 : C2   P; X |- e3 : C3   => P; X |- op(e1, e2, e3) : C1 + C2 + C3 + M.op
EQ:GArray    P; X |- o : C   P; X |- MemReads(G[o]) <= n   => P; X |- G[o] : C + M.gread(n)
EQ:SArray    P; X |- o : C   P; X |- Conflicts(S[o]) <= n   => P; X |- S[o] : C + M.sread(n)
Q:Skip       => {P; Q; X} skip {P; Q; X}
Q:Sync       => {P; Q + M.sync; X} sync {P; Q; X}
Q:GWrite     P; X |- o : C1   P; X |- e : C2   P; X |- MemReads(G[o]) <= n
             => {P; Q + M.gwrite(n) + C1 + C2; X} G[o] <- e {P; Q; X}
Q:SWrite     P; X |- o : C1   P; X |- e : C2   P; X |- Conflicts(S[o]) <= n
             => {P; Q + M.swrite(n) + C1 + C2; X} S[o] <- e {P; Q; X}
Q:Seq        {P; Q; X} s1 {P1; Q1; X1}   {P1; Q1; X1} s2 {P'; Q'; X'}   => {P; Q; X} s1; s2 {P'; Q'; X'}
Q:If1        P; X |- e : C   P; X |- e unif
             {P & e; Q; X} s1 {P'; Q'; X'}   {P & !e; Q; X} s2 {P'; Q'; X'}
             => {P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}
Q:If2        P; X |- e : C   P |- e   {P; Q; X} s1 {P'; Q'; X'}   => {P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}
Q:If3        P; X |- e : C   P |- !e   {P; Q; X} s2 {P'; Q'; X'}
             => {P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}
Q:If4        P; X |- e : C   {P & e; Q; X} s1 {P1; Q1; X1}   {P'; Q'; X'} s2 {P2; Q2; X2}
             P & !e |- P'   P & !e; X |- Q >= Q'   P1; X1 |- Q1 >= Q'
             P1 |- P''   P1; X1 |- Q1 >= Q''   P2 |- P''   P2; X2 |- Q2 >= Q''
             X' <= (X & X1) \ W(s1)   X'' <= (X2 & X') \ W(s2)
             => {P; Q + M.if + C + M.div; X} if (e) s1 else s2 {P''; Q''; X''}
Q:While1     P; X |- e : C   P; X |- e unif   P; X |- Q + M.if + C >= 0
             {P & e; Q; X} s {P; Q + M.if + C; X}   => {P; Q + M.if + C; X} while (e) s {P & !e; Q; X}
Q:While2     P; X |- e : C   P; X |- Q + M.if + C + M.div >= 0
             {P & e; Q; X} s {P; Q + M.if + C + M.div; X}
             P & !e; X |- Q >= Q'   X' <= X \ W(s)   => {P; Q + M.if + C + M.div; X} while (e) s {P & !e; Q'; X'}
Q:WhileCase  P; X |- e : C   P; X |- e1 unif   P & e1; X |- e unif   P; X |- Q + M.if + C >= 0
             P & e & e1; X |- Q >= Q1   P & e & !e1; X |- Q >= Q1 + M.div
             {P & e; Q1; X} s {P; Q + M.if + C; X}   P & !e; X |- Q >= Q'   X' <= X \ W(s)
             => {P; Q + M.if + C; X} while (e) s {P & !e; Q'; X'}
Q:VWrite1    P; X |- e : C   P; X |- e unif   P |- P'[x <- e]   P; X |- Q >= Q'[x <- e]
             => {P; Q + M.vwrite + C; X} x <- e {P'; Q'; X | {x}}
Q:VWrite2    P; X |- e : C   P |- P'[x <- e]   vars(Q) <= X \ {x}   => {P; Q + M.vwrite + C; X} x <- e {P'; Q; X \ {x}}
Q:Weak       {P2; Q2; X2} s {P2'; Q2'; X2'}
             P1 |- P2   P1; X1 |- Q1 >= Q2   P1; X1 |- X2 unif
             P2' |- P1'   P2'; X2' |- Q2' >= Q1'   X1' <= X2'   c >= 0   => {P1; Q1 + c; X1} s {P1'; Q1' + c; X1'}
Q:Frame      {P; Q; X} s {P'; Q'; X'}   vars(F) <= X \ W(s)   P |- F >= 0
             => {P; Q + F; X} s {P'; Q' + F; X' | vars(F)}
Q:Unroll     {P; Q; X} if (e) (s; while (e) s) else skip {P'; Q'; X'}   => {P; Q; X} while (e) s {P'; Q'; X'}
Q:CaseSplit  P; X |- e unif   {P & e; Q; X} s {P'; Q'; X'}   {P & !e; Q; X} s {P'; Q'; X'}   => {P; Q; X} s {P'; Q'; X'}
Q:Assume     => {P; Q; X} assume e {P & e; Q; X}
Q:Ghost      s = s1 without x   x ghost in P, Q, P', Q'   {P; Q; X} s1 {P'; Q'; X'}   => {P; Q; X} s {P'; Q'; X' \ {x}}
"""
RULES: Final[dict[str, list[str]]] = {
    name: re.split(r"\s{3,}", rule.replace("=>", "").strip())
    for name, rule in re.findall(r"^(\S+)(.+(?:\n\s.+)*)", TEXT, re.MULTILINE)
}
"""Each rule: its premises and side conditions, and its conclusion last."""


@cache
def metavariables(rule: str) -> frozenset[str]:
    """The names in a rule's text that stand for something else in each application."""
    letters = r"(?<![\w.])(?:op|[PQXFeCcnoksxpGS]\d?)(?!\w)'*|(?<=tid\.)a"
    return frozenset(re.findall(letters, " ".join(RULES[rule])))


# --- the document -----------------------------------------------------------------------------------------------------


VACUOUS: Final = "no launch satisfies what is assumed, so that anything follows"


@dataclass(frozen=True, slots=True)
class Open:
    """A side condition that is not verified: the entry of the evidence that it has, and the row of the derivation that
    needs it, None where the claim does. `given` and `claim` are what it says, in words."""

    entry: int
    row: int | None
    given: str
    claim: str


@dataclass(frozen=True, slots=True)
class Report:
    """`solver_backed` lists the side conditions that rest on a solver's word, in sentences, and `open` the same as
    data; `problem` says why it is invalid or vacuous: of no launch at all. `row` is that of the application that is
    refused, if one is. `reading` is what its maker says of the source, unchecked."""

    verdict: Literal["valid", "solver-backed", "vacuous", "invalid"]
    digest: str
    solver_backed: list[str]
    problem: str
    claim: str
    open: tuple[Open, ...] = ()
    reading: tuple[str, ...] = ()
    row: int | None = None


def extent(sizes: Json, what: str) -> str:
    known = re.sub("(?<!^any)( x 1)+$", "", " x ".join("any" if n is None else str(n) for n in sizes))
    return f"{what} of {known}" if sizes != (None, None, None) else f"any {what}"


WORDINGS: Final = {
    "block": "the span of a block of {} is",
    0: "every warp of {} costs",
    1: "the warps of a block of {} together cost",
    4: "all warps of a grid of {} together cost",
}
"""The words of a claim, by scope and the number of sums."""


def sentence(document: dict[str, Json], bound: str) -> str:
    """A claim as a sentence, with prices and sizes where a metric or hardware is not built in."""
    metric, hardware = document["metric"], document["hardware"]
    wording = WORDINGS["block" if document["scope"] == "block" else len(document["sums"])]
    what = f" {metric['name'].removesuffix('s') if bound == '1' else metric['name']}"
    if metric["name"] not in PRICES:
        prices = [f"{name} {c}" for name, c in sorted(metric["fixed"].items())]
        prices += [f"{name}(n) max(0, {a}*n + {b})" for name, (a, b) in sorted(metric["counted"].items())]
        what = f" of the custom metric {metric['name']} ({', '.join(prices) or 'all is free'})"
    if hardware["name"] not in SIZES:
        sizes = ", ".join(f"{unit} {hardware[unit]}" for unit in UNITS if unit in hardware)
        what += f" on the custom hardware {hardware['name']} ({sizes})"
    return f"{wording.format(document['kernel']['name'])} at most {bound}{what}"


def claim_text(document: dict[str, Json], bound: Potential, inside: list[Expr]) -> str:
    launch = document["launch"]
    text = sentence(document, show(bound))
    text += f"; {extent(launch['block'], 'blocks')}, {extent(launch['grid'], 'grid')}"
    if launch["assumptions"]:
        text += f"; assumed: {', '.join(map(show, launch['assumptions']))}"
    if contracts := launch.get("contracts"):
        arrays = sorted({name for _, fact in contracts for name in elements(fact)})
        text += f"; assumed of data: {', '.join(map(show_contract, contracts))}"
        text += f"; what is written is no part of {' or '.join(arrays)}"
    if inside:
        text += f"; assumed wherever a thread comes to it: {', '.join(map(show, inside))}"
    if document["admitted"]:
        numbers = ", ".join(f"#{i}" for i in sorted(document["admitted"]))
        text += f"; assumed besides: all threads of a block reach the barriers {numbers} together"
    return plain(text)


def show_contract(row: Json) -> str:
    """A contract, with letters that are no words of it for its variables."""
    ranges, fact = row
    ends = [(f"?i{i}", *("" if e is None else show(e) for e in pair)) for i, pair in enumerate(ranges)]
    told = [name + f" in [{a}, {b})" * (a + b != "") for name, a, b in ends]
    text = f"forall {', '.join(told)}: {show(fact)}" if told else show(fact)
    for name, *_ in ends:
        free = [letter for letter in "ijklmpqrstuvwxyz" if letter not in re.findall(r"\w+", text)]
        text = re.sub(rf"\{name}\b", free[0], text) if free else text
    return text


def plain(text: str) -> str:
    """A text in printable ASCII, so that no two names look alike and it can be printed everywhere."""
    return text.encode("unicode_escape").decode()


def recheck(document: Any) -> Report:
    """Whether a certificate proves its claim. Never raises."""
    return rechecked(document)[0]


def rechecked(document: Any) -> tuple[Report, Potential | None]:
    """The same, and the bound that is proved; None where it proves nothing. Never raises."""
    digest, checker = "", None
    try:
        content = {name: value for name, value in document.items() if name != "digest"}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        want(document.get("digest") == digest, "the digest is not that of the content")
        certificate = frozen(json.loads(text, parse_float=_refused))
        shape = NEWER if certificate.get("version") == NEWER["version"] else DOCUMENT
        shape = shape | PHASED if "phase" in certificate.get("hardware", ()) else shape
        fitted(certificate, shape | READING if "reading" in certificate else shape, "certificate")
        checker = Checker(certificate)
        Work.left += MAX_WORK * (len(text) // LONG)
        bound = checker.run()
        body = checker.letter_value("s", certificate["kernel"]["body"])
        claim = claim_text(certificate, bound, [*dict.fromkeys(checker.assumed(body))])
        left, why = checker.solver_backed, VACUOUS * checker.vacuous()
        said = certificate.get("reading", {}).items()
        read = tuple(f"{k}: {text}" for k, v in said for text in ((v,) if isinstance(v, str) else v))
        want(len(read) <= SAYINGS, "reading: too many options or sentences")
    except Bad as problem:
        where, row = (checker.where, checker.row) if checker else ("", None)
        told = plain(f"{where}: {problem}" if where else f"{problem}")
        return Report("invalid", digest, [], told, "", row=row), None
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        told = plain(f"the certificate is malformed or too large: {error!s:.200}")
        return Report("invalid", digest, [], told, ""), None
    if left or why:
        verdict: Literal["vacuous", "solver-backed"] = "vacuous" if why else "solver-backed"
        return Report(verdict, digest, left, why, f"not verified: {claim}", tuple(checker.open), read), bound
    return Report("valid", digest, [], "", claim, reading=read), bound


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a field occurs twice")
    return dict(pairs)


def _refused(text: str) -> None:
    raise ValueError(f"the number {text:.80}")


def main(argv: list[str] | None = None) -> int:
    """The command; see the head of this file."""
    parser = argparse.ArgumentParser(prog="recheck", description="Check a certificate again, without the kernel.")
    parser.add_argument("certificate", metavar="CERT.json")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args(argv)
    try:
        text = Path(options.certificate).read_text(encoding="utf-8")
        document = fitted(json.loads(text, object_pairs_hook=_once, parse_constant=_refused), dict, "the document")
        want(document.get("format") == DOCUMENT["format"], "it has another format")
        want("digest" in document, "it has no digest")
    except OSError as error:
        print(f"error: cannot read '{options.certificate}': {error.strerror}", file=sys.stderr)
        return 2
    except (ValueError, RecursionError, Bad) as error:
        print(plain(f"error: '{options.certificate}' is no certificate: {error!s:.200}"), file=sys.stderr)
        return 2
    report = recheck(document)
    if options.format == "json":
        print(json.dumps({k: v for k, v in asdict(report).items() if k not in ("open", "row")}, sort_keys=True))
    else:
        print("\n".join((report.verdict, *filter(None, (report.claim, report.problem)), *report.solver_backed)))
        print("".join(f"said of the source, not checked: {text}\n" for text in report.reading), end="")
    return {"valid": 0, "solver-backed": 1, "vacuous": 1, "invalid": 3}[report.verdict]


def command() -> NoReturn:
    """`main`, which one line ends where Ctrl-C does, or where standard output takes no more."""
    try:
        code = main()
        print(end="", flush=True)
    except KeyboardInterrupt:
        print("recheck: interrupted", file=sys.stderr, flush=True)
        code = 130
    except OSError as error:
        print(f"error: cannot write to standard output: {error.strerror}", file=sys.stderr, flush=True)
        code = 2
    os._exit(code)  # what could not be written is not tried again


if __name__ == "__main__":
    command()
