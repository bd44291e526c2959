"""Formulas over parameters as text: the sizes of a launch, and the run times that predictions print."""

from __future__ import annotations

import re
from collections.abc import Collection
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Final

from checker.notation.expressions import MOST_DIGITS, integer, placed
from checker.notation.parser import parse
from checker.notation.problem import Place, SyntaxProblem, shortened, words
from logic.formulas import BINARY, FUNCTIONS, Apply, Formula, Name, Number
from logic.source import Loc

if TYPE_CHECKING:
    from lark import Token

    from checker.notation.problem import Node

_SPOKEN: Final = "There are + - * / (exact) floor ceil log2 min max."


def parse_formula(text: str, known: Collection[str], file: str, origin: Loc | None = None) -> Formula:
    """The formula that a text is, over the known names; `origin` is where its first character stands.

    Raises SyntaxProblem.
    """
    place = placed(file, origin)
    return _formula(parse(text, "expression", place).children[0], known, place)


def _formula(node: Node, known: Collection[str], place: Place) -> Formula:
    while not isinstance(node, str) and node.data == "parens":
        node = node.children[0]
    if isinstance(node, str):
        return _leaf(node, known, place)
    loc, parts = place.of(node), node.children
    match str(node.data):
        case "operation":
            return _operation(parts, known, place)
        case "prefix" if parts[0] == "-":
            return Apply("neg", (_formula(parts[1], known, place),), loc)
        case "call":
            name, args = str(parts[0]), parts[1:]
            wanted = FUNCTIONS.get(name)
            if wanted is None:
                raise SyntaxProblem(f"no function of formulas is called {shortened(name)}", loc, _SPOKEN)
            if len(args) < wanted or (wanted == 1 < len(args)):
                many = "one argument" if wanted == 1 else "two arguments or more"
                raise SyntaxProblem(f"'{name}' takes {many}, not {len(args)}", loc)
            return Apply(name, tuple(_formula(a, known, place) for a in args), loc)
    raise SyntaxProblem("this has no place in a formula", loc, _SPOKEN)


def _operation(parts: list[Node], known: Collection[str], place: Place) -> Formula:
    """`f op f op f ..`: products from the left, then their sum from the left."""
    sums: list[Formula] = []
    signs: list[str] = []
    product = _formula(parts[0], known, place)
    for op, operand in zip(words(parts[1::2]), parts[2::2], strict=True):
        if op not in BINARY:
            raise SyntaxProblem(f"{shortened(op)} has no place in a formula", place.of(op), _SPOKEN)
        f = _formula(operand, known, place)
        if op in "*/":
            product = Apply(str(op), (product, f), place.of(op))
        else:
            sums.append(product)
            signs.append(str(op))
            product = f
    sums.append(product)
    return reduce(lambda f, more: Apply(more[0], (f, more[1])), zip(signs, sums[1:], strict=True), sums[0])


def _leaf(token: Token, known: Collection[str], place: Place) -> Formula:
    loc = place.of(token)
    match token.type:
        case "INT":
            return Number(Fraction(integer(token, place)))
        case "FLOAT" if re.fullmatch(r"[0-9.]+", token) and len(token) <= MOST_DIGITS:
            return Number(Fraction(str(token)))
        case "NAME" if str(token) in known:
            return Name(str(token), loc)
        case "NAME":
            listed = f"Known here: {', '.join(sorted(known))}." if known else "Nothing is known here: give a number."
            raise SyntaxProblem(f"no parameter is called {shortened(str(token))}", loc, listed)
    raise SyntaxProblem(f"{shortened(str(token))} has no place in a formula", loc, _SPOKEN)
