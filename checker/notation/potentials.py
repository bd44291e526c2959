"""Potentials as text: `+ - *`, exact `/`, max, min, floor, ceil, log2 and |[a, b]|."""

from __future__ import annotations

import re
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Final

from checker.notation.expressions import MOST_DIGITS, Scope, integer, placed, resolve
from checker.notation.parser import parse
from checker.notation.problem import SyntaxProblem, shortened
from logic.potentials import (
    ELEMENT,
    Poly,
    ceil_div,
    const,
    element_of,
    floor_div,
    interval,
    log2,
    max0,
    maximum,
    minimum,
    operands,
    operated,
    sym,
)
from logic.source import Loc
from logic.syntax import INT, Tid
from logic.typing import Signature

if TYPE_CHECKING:
    from lark import Token

    from checker.notation.problem import Node

MOST_TERMS: Final = 5000
"""The size of the largest potential: its terms and factors, those inside max, floor and log2 included."""

NESTING: Final = 32
"""The depth to which max, floor and log2 may nest."""

MOST_BITS: Final = 1024
"""The size of the largest coefficient, and of the common denominator of a sum."""


def parse_potential(text: str, sigma: Signature, file: str, origin: Loc | None = None) -> Poly:
    """The potential that a text is, exactly; `origin` is where its first character stands.

    Raises SyntaxProblem, also for what no potential can speak of: tid, array contents, base types, booleans.
    """
    scope = Scope(sigma, placed(file, origin))
    return to_poly(parse(text, "expression", scope.place).children[0], scope)


_FUNCTIONS: Final = "max min floor ceil trunc log2 shr and or xor, and |[a, b]|"


def to_poly(node: Node, scope: Scope) -> Poly:
    """The potential of a parse tree."""
    while not isinstance(node, str) and node.data == "parens":
        node = node.children[0]
    if isinstance(node, str):
        return _leaf(node, scope)
    parts = node.children
    match str(node.data):
        case "operation":
            p = _operation(parts, scope)
        case "prefix" if parts[0] == "-":
            p = to_poly(parts[1], scope) * -1
        case "interval":
            p = interval(to_poly(parts[0], scope), to_poly(parts[1], scope))
        case "call":
            p = _call(node, str(parts[0]), parts[1:], scope)
        case "read":
            p = _element(parts, node, scope)
        case _:
            sentence = f"{shortened('?:' if node.data == 'ternary' else str(parts[0]))} has no place in a potential"
            raise SyntaxProblem(sentence, scope.place.of(node), "Write max(0, p) for what counts only sometimes.")
    _check_size(p, node, scope)
    return p


def _element(parts: list[Node], node: Node, scope: Scope) -> Poly:
    """An element of an array that no thread writes, of which a contract speaks."""
    name, loc = str(parts[0]), scope.place.of(node)
    if name not in scope.sigma.stable:
        advice = "Other threads may write them. Where none does, a contract says what they hold: requires forall .."
        raise SyntaxProblem("a potential cannot speak of array contents", loc, advice)
    index = to_poly(parts[1], scope)
    if any(c.denominator != 1 for _, c in index.terms):
        raise SyntaxProblem("an index takes integer coefficients only", loc, "Write floor(p/k).")
    return element_of(f"{ELEMENT}{name}", index)


def _operation(parts: list[Node], scope: Scope) -> Poly:
    """`p op p op p ...`: products from the left, then their sum."""
    summands: list[Poly] = []
    product = to_poly(parts[0], scope)
    for op, operand in zip(parts[1::2], parts[2::2], strict=True):
        p = to_poly(operand, scope)
        match op:
            case "+" | "-":
                summands.append(product)
                product = p if op == "+" else p * -1
            case "*":
                if len(product.terms) * len(p.terms) > MOST_TERMS:
                    raise _too_large(operand, scope)
                product = product * p
                _check_size(product, operand, scope)
            case "/":
                product = product * _reciprocal(p, operand, scope)
                _check_size(product, operand, scope)
            case _:
                sentence = f"{shortened(str(op))} has no place in a potential"
                raise SyntaxProblem(sentence, scope.place.of(op), f"There are + - * / {_FUNCTIONS}.")
    return _sum([*summands, product])


def _reciprocal(p: Poly, node: Node, scope: Scope) -> Fraction:
    if not p.is_constant or not p.constant:
        sentence = "a potential is divided by numbers other than 0 only"
        raise SyntaxProblem(sentence, scope.place.of(node), "Write floor(p/q), ceil(p/q) or trunc(p/q).")
    return 1 / p.constant


def _sum(summands: list[Poly]) -> Poly:
    """Pairwise, so that long sums take n log n steps."""
    while len(summands) > 1:
        rest = summands[-1:] if len(summands) % 2 else []
        summands = [p + q for p, q in zip(summands[::2], summands[1::2], strict=False)] + rest
    return summands[0]


def _call(node: Node, name: str, parts: list[Node], scope: Scope) -> Poly:
    loc = scope.place.of(node)
    if name in ("floor", "ceil", "trunc") and (sides := _quotient(parts, scope)):
        return _divided(name, *sides, parts[0], scope)
    args = []
    for part in parts:
        args.append(to_poly(part, scope))  # noqa: PERF401 a comprehension is one more frame a level
    match name, args:
        case (("max" | "min"), (first, _, *_)):
            for p in args[1:]:
                first = maximum(first, p) if name == "max" else minimum(first, p)
                _check_size(first, node, scope)
            return first
        case "floor", (p,):
            return floor_div(p, 1)
        case "ceil", (p,):
            return ceil_div(p, 1)
        case "log2", (p,):
            if any(c.denominator != 1 for _, c in p.terms):
                raise SyntaxProblem("log2 takes integer coefficients only", loc, "Write log2(floor(p/k)).")
            return log2(p)
        case _, (p, q) if name in _OPERATORS:
            return _applied(_OPERATORS[name], p, q, node, scope)
        case "trunc", _:
            raise SyntaxProblem("'trunc' takes a quotient", loc, "Write trunc(p/q).")
        case (("max" | "min"), _):
            raise SyntaxProblem(f"'{name}' takes two arguments or more", loc)
        case (("floor" | "ceil" | "log2"), _):
            raise SyntaxProblem(f"'{name}' takes one argument, not {len(args)}", loc)
    raise SyntaxProblem(f"no function of potentials is called {shortened(name)}", loc, f"There are {_FUNCTIONS}.")


_OPERATORS: Final = {"shr": ">>", "and": "&", "or": "|", "xor": "^"}
"""The operators of C that no base function says, by their names."""


def _quotient(parts: list[Node], scope: Scope) -> tuple[Poly, Poly] | None:
    """The dividend and the divisor, if the one part is a quotient by something that is no number, or trunc's."""
    node = parts[0]
    while not isinstance(node, str) and node.data == "parens":
        node = node.children[0]
    if len(parts) != 1 or isinstance(node, str) or node.data != "operation" or len(node.children) != 3:
        return None
    p, op, q = node.children
    return (to_poly(p, scope), to_poly(q, scope)) if op == "/" else None


def _divided(name: str, p: Poly, q: Poly, node: Node, scope: Scope) -> Poly:
    """trunc(p/q) as C has it; floor(p/q) and ceil(p/q), where q is no number, for a q that is 1 at least."""
    if name == "trunc":
        return _applied("/", p, q, node, scope)
    if q.is_constant:
        return (floor_div if name == "floor" else ceil_div)(p * _reciprocal(q, node, scope), 1)
    up, down = (p, p * -1) if name == "ceil" else (p * -1, p)
    ceiling = _applied("/", max0(up) + q - 1, q, node, scope) - _applied("/", max0(down), q, node, scope)
    return ceiling if name == "ceil" else ceiling * -1


def _applied(op: str, p: Poly, q: Poly, node: Node, scope: Scope) -> Poly:
    if any(c.denominator != 1 for side in (p, q) for _, c in side.terms):
        raise SyntaxProblem("operators take integer coefficients only", scope.place.of(node), "Write floor(p/k).")
    return operated(op, p, q)


def _leaf(token: Token, scope: Scope) -> Poly:
    loc = scope.place.of(token)
    match token.type:
        case "INT":
            return const(integer(token, scope.place))
        case "FLOAT" if re.fullmatch(r"[0-9.]+", token) and len(token) <= MOST_DIGITS:
            return const(Fraction(str(token)))
        case "FLOAT":
            raise SyntaxProblem(f"{shortened(token)} is not an exact number", loc, "Write a fraction, 5/16.")
        case "TRUE" | "FALSE":
            raise SyntaxProblem(f"'{token}' is not a number", loc, "A potential counts.")
    leaf = resolve(token, scope)
    if isinstance(leaf, Tid):
        sentence = f"a potential cannot speak of '{token}', which differs between threads"
        raise SyntaxProblem(sentence, loc, "It belongs to all threads together.")
    type_ = {**scope.sigma.locals, **scope.sigma.params}[leaf.name]
    if type_ != INT:
        raise SyntaxProblem(f"'{token}' is {type_}, a potential is over integers", loc, "Use an int.")
    return sym(leaf)


def _check_size(p: Poly, node: Node, scope: Scope) -> None:
    size = 0
    stack = [(p, 0)]
    while stack:
        q, depth = stack.pop()
        denominator = 1
        for m, c in q.terms:
            size += 1 + len(m)
            denominator = lcm(denominator, c.denominator)
            bits = max(c.numerator.bit_length(), denominator.bit_length())
            if size > MOST_TERMS or depth > NESTING or bits > MOST_BITS:
                raise _too_large(node, scope)
            stack.extend((inner, depth + 1) for a in m for inner in operands(a))


def _too_large(node: Node, scope: Scope) -> SyntaxProblem:
    return SyntaxProblem("this potential is too large", scope.place.of(node), "Bound it by something smaller.")
