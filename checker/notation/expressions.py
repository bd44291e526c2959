"""Expressions as text: C's syntax and precedence, read into terms of `logic.syntax`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Literal

from checker.notation.parser import EXPRESSION_DEPTH, parse, too_deep
from checker.notation.problem import NameProblem, Place, SyntaxProblem, shortened, words
from logic.operators import COMPARISONS, CONNECTIVES
from logic.rules import SOUND, RuleSet
from logic.source import Loc, SourceError
from logic.syntax import (
    BOOL,
    BUILTINS,
    DOUBLE,
    FLOAT,
    WARP_INDEX,
    Const,
    Expr,
    Op,
    Param,
    Read,
    Tid,
    Type,
    Var,
    subterms,
)
from logic.typing import Signature, TypeProblem, type_of

if TYPE_CHECKING:
    from lark import Token

    from checker.notation.problem import Node

About = Literal["program", "condition", "assumption"]


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a text: what its names mean, where it stands, what it may speak of and which rules it may name."""

    sigma: Signature
    place: Place
    about: About = "program"
    rules: RuleSet = SOUND


def parse_expr(text: str, sigma: Signature, file: str = "<text>", origin: Loc | None = None) -> Expr:
    """The expression that a text is, well-typed under sigma; `origin` is where its first character stands.

    Raises SyntaxProblem and TypeProblem.
    """
    scope = Scope(sigma, placed(file, origin))
    return checked(parse(text, "expression", scope.place).children[0], scope)


def parse_assumption(text: str, sigma: Signature, file: str, origin: Loc | None = None) -> Expr:
    """A fact about parameters only; `0 <= w <= 100` means both comparisons. Raises SyntaxProblem and TypeProblem."""
    scope = Scope(sigma, placed(file, origin), "assumption")
    return fact(parse(text, "expression", scope.place).children[0], scope)


def said_facts(sentences: Iterable[str], sigma: Signature) -> tuple[Expr, ...]:
    """The facts about parameters that sentences say which a reading of CUDA C takes for granted, as a certificate has
    them; what is no such fact says nothing."""
    found = []
    for given in filter(None, map(_GIVEN.fullmatch, sentences)):
        with suppress(SourceError):
            found.append(parse_assumption(given[1], sigma, "<said>"))
    return tuple(found)


_GIVEN: Final = re.compile(r"given, as unsigned(?: and short)? values wrap around if not: (.*)")


def check_assumption(text: str, file: str) -> None:
    """Raises SyntaxProblem for what is an assumption of no kernel, whatever parameters it has."""
    place = Place(file)
    for token in parse(text, "expression", place).scan_values(lambda _: True):
        if token == WARP_INDEX:
            raise _differs(token, "warps", place.of(token))
        if token.startswith(("tid.", "threadIdx.")):
            raise _differs(token, "threads", place.of(token))


def parse_fact(text: str, sigma: Signature, origin: Loc) -> Expr:
    """A fact that P can state, for a text that begins at `origin`. Raises SyntaxProblem and TypeProblem."""
    scope = Scope(sigma, placed(origin.file, origin), "condition")
    return fact(parse(text, "expression", scope.place).children[0], scope)


def placed(file: str, origin: Loc | None) -> Place:
    """The place of a text that begins at `origin`, or is a whole file."""
    return Place(origin.file, origin.line, origin.column) if origin else Place(file)


# --- checks ----------------------------------------------------------------------------------------------------------

MOST_CHOICES: Final = 8
"""The most `?:` of a fact: negation normal form may double with each."""


def fact(node: Node, scope: Scope) -> Expr:
    """A boolean expression that P can say, or that an assumption can."""
    e = checked(node, scope)
    if (got := type_of(e, scope.sigma)) != BOOL:
        raise TypeProblem(f"this is {got}, not bool", scope.place.of(node), "Compare it with something.")
    if sum(isinstance(t, Op) and t.op == "?:" for t in subterms(e)) > MOST_CHOICES:
        sentence = f"more than {MOST_CHOICES} '?:' in one formula"
        raise SyntaxProblem(sentence, scope.place.of(node), "Write it with && and ||.")
    return e


def checked(node: Node, scope: Scope) -> Expr:
    """The expression, well-typed, that speaks of nothing out of its scope."""
    e = to_expr(node, scope)
    if scope.about != "program":
        for t in subterms(e):
            _check_speaks(t, scope)
    type_of(e, scope.sigma)
    return e


def _check_speaks(t: Expr, scope: Scope) -> None:
    who = "P" if scope.about == "condition" else "an assumption"
    match t:
        case Read(array) if scope.about == "condition" and array in scope.sigma.stable:
            return
        case Read():
            advice = (
                "Another thread may write them. Where none does, a contract says what they hold: requires forall .."
            )
            raise SyntaxProblem(f"{who} cannot speak of array contents", t.loc, advice)
        case Var() | Tid() if scope.about == "assumption":
            raise _differs(t.name, "threads", t.loc, "Write it into a condition of an outline.")
        case Param(name) if scope.about == "assumption" and name == WARP_INDEX:
            raise _differs(name, "warps", t.loc)
        case Var(name):
            type_ = scope.sigma.locals[name]
        case Param(name):
            type_ = scope.sigma.params[name]
        case Const(_, type_):
            pass
        case Op(op) if op.startswith(("as:", "call:")):
            raise SyntaxProblem(f"{who} cannot speak of '{_spelled(op)}'", t.loc, "Its values are opaque.")
        case _:
            return
    if type_.kind == "base":
        sentence = f"{who} cannot speak of values of type {type_}"
        raise SyntaxProblem(sentence, t.loc, "Only int and bool have a meaning to the logic.")


def _differs(name: str, between: str, loc: Loc | None, advice: str = "A bound holds for all of them.") -> SyntaxProblem:
    return SyntaxProblem(f"an assumption is about parameters; '{name}' differs between {between}", loc, advice)


def _spelled(op: str) -> str:
    return op.removeprefix("call:").replace("as:", "as_")


# --- from parse trees to terms ---------------------------------------------------------------------------------------


def to_expr(node: Node, scope: Scope) -> Expr:
    """The expression of a parse tree, not yet typed except for calls: those are of functions on base types."""
    e = _build(node, scope)
    level = [e]
    for _ in range(EXPRESSION_DEPTH):
        level = [a for t in level for a in (t.args if isinstance(t, Op) else (t.index,) if isinstance(t, Read) else ())]
        if not level:
            break
    else:
        raise too_deep(node, scope.place)
    for t in subterms(e):
        if isinstance(t, Op) and t.op.startswith("call:") and type_of(t.args[0], scope.sigma).kind != "base":
            sentence = f"no function on integers is called '{_spelled(t.op)}'"
            raise SyntaxProblem(sentence, t.loc, "There are min, max, abs, int, bool, as_float and as_double.")
    return e


def _build(node: Node, scope: Scope) -> Expr:
    while not isinstance(node, str) and node.data == "parens":
        node = node.children[0]
    if isinstance(node, str):
        return _leaf(node, scope)
    loc, parts = scope.place.of(node), node.children
    match str(node.data):
        case "operation":
            return _operation(parts, scope)
        case "prefix":
            sign, operand = parts
            if sign == "-" and isinstance(operand, str) and operand.type in ("INT", "FLOAT"):
                return _literal(operand, scope, sign="-", loc=loc)
            return Op("neg" if sign == "-" else str(sign), (_build(operand, scope),), loc)
        case "ternary":
            c, a, b = parts
            return Op("?:", (_build(c, scope), _build(a, scope), _build(b, scope)), loc)
        case "read":
            array, index = parts
            return Read(str(array), _build(index, scope), loc)
        case "call":
            return _call(parts, loc, scope)
    raise SyntaxProblem("|[a, b]| belongs into a potential", loc, "Write max(0, b - a).")


_LEVELS: Final = ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %")
_PRECEDENCE: Final = {op: level for level, ops in enumerate(_LEVELS) for op in ops.split()}


def _operation(parts: list[Node], scope: Scope) -> Expr:
    """`e op e op e ...` by precedence, from the left. A comparison goes with its right operand while it can chain."""
    values: list[tuple[Expr, Expr | None]] = [(_build(parts[0], scope), None)]
    waiting: list[Token] = []

    def combine() -> None:
        token = waiting.pop()
        op = str(token)
        b, _ = values.pop()
        a, middle = values.pop()
        if op not in COMPARISONS:
            values.append((Op(op, (a, b), a.loc), None))
        elif middle is None or _is_bool(b, scope.sigma):
            values.append((Op(op, (a, b), a.loc), b))
        elif scope.about == "program":
            sentence = f"{shortened(op)} compares with the result of a comparison"
            raise SyntaxProblem(sentence, scope.place.of(token), "Write a < b && b < c.")
        else:
            values.append((Op("&&", (a, Op(op, (middle, b), middle.loc)), a.loc), b))

    for token, operand in zip(words(parts[1::2]), parts[2::2], strict=True):
        while waiting and _PRECEDENCE[waiting[-1]] >= _PRECEDENCE[token]:
            combine()
        waiting.append(token)
        values.append((_build(operand, scope), None))
    while waiting:
        combine()
    return values[0][0]


def _is_bool(e: Expr, sigma: Signature) -> bool:
    """Whether e is boolean if it is well-typed at all."""
    while isinstance(e, Op) and e.op == "?:":
        e = e.args[1]
    match e:
        case Op(op):
            return op in (*COMPARISONS, *CONNECTIVES, "!", "bool")
        case Const(_, type_):
            return type_ == BOOL
        case Var(name):
            return sigma.locals[name] == BOOL
        case Param(name):
            return sigma.params[name] == BOOL
        case Read(name):
            return name in sigma.arrays and sigma.arrays[name].elem == BOOL
    return False


_ARITY: Final = {"min": 2, "max": 2, "abs": 1, "int": 1, "bool": 1}
MOST_ARGUMENTS: Final = 3


def _call(parts: list[Node], loc: Loc, scope: Scope) -> Expr:
    name = str(parts[0])
    given = len(parts) - 1
    wanted = 1 if name.startswith("as_") else _ARITY.get(name)
    if wanted is not None and given != wanted:
        sentence = f"{shortened(name)} takes {wanted} argument{'s' * (wanted > 1)}, not {given}"
        raise SyntaxProblem(sentence, loc, "Nest the calls." if given > wanted else "")
    if given > MOST_ARGUMENTS:
        raise SyntaxProblem(f"a call of {given} arguments", loc, f"There are at most {MOST_ARGUMENTS}.")
    args = []
    for part in parts[1:]:
        args.append(_build(part, scope))  # noqa: PERF401 a comprehension is one more frame a level
    if name in _ARITY:
        return Op(name, tuple(args), loc)
    return Op(f"as:{name[3:]}" if name.startswith("as_") else f"call:{name}", tuple(args), loc)


# --- names and literals ----------------------------------------------------------------------------------------------


def _leaf(token: Token, scope: Scope) -> Expr:
    loc = scope.place.of(token)
    match token.type:
        case "NAME":
            return resolve(token, scope)
        case "TRUE":
            return Const(True, BOOL, loc)
        case "FALSE":
            return Const(False, BOOL, loc)
    return _literal(token, scope, sign="", loc=loc)


def _literal(token: Token, scope: Scope, *, sign: str, loc: Loc) -> Const:
    if token.type == "INT":
        return Const(-integer(token, scope.place) if sign else integer(token, scope.place), loc=loc)
    type_: Type = FLOAT if token[-1] in "fF" else DOUBLE
    return Const(sign + token, type_, loc)


MOST_DIGITS: Final = 300


def integer(token: Token, place: Place) -> int:
    """The value of an integer literal."""
    if len(token) > MOST_DIGITS:
        raise SyntaxProblem(f"a number of more than {MOST_DIGITS} digits", place.of(token), "Write a smaller one.")
    if re.fullmatch("0[0-9]+", token):
        sentence = f"{token} begins with a zero, which C reads as octal"
        raise SyntaxProblem(sentence, place.of(token), "Write it in decimal, or in hexadecimal with 0x.")
    return int(token, 0)


def resolve(token: Token, scope: Scope) -> Var | Param | Tid:
    """The variable, parameter or component of tid that a name means."""
    name, loc = str(token), scope.place.of(token)
    head, _, axis = name.partition(".")
    if head in ("tid", "threadIdx") and axis:
        match axis:
            case "x" | "y" | "z":
                return Tid(axis, loc)
        raise SyntaxProblem(f"'{head}' has no component {shortened(axis)}", loc, "There are x, y and z.")
    if name in scope.sigma.locals:
        return Var(name, loc)
    if name in scope.sigma.params:
        return Param(name, loc)
    if name in scope.sigma.arrays:
        raise SyntaxProblem(f"'{name}' is an array, not a value", loc, f"Read an element of it, such as {name}[tid.x].")
    raise NameProblem(f"no variable or parameter is called {shortened(name)}", loc, _suggestion(name, scope))


COUNTER: Final = "turns.line"
"""Names of the counters that count the turns of loops for `//@ loop turns`: this and a line."""


def _suggestion(name: str, scope: Scope) -> str:
    """A name that could be meant; an assumption may mention parameters alone."""
    locals_ = () if scope.about == "assumption" else scope.sigma.locals
    names = {name for name in (*locals_, *scope.sigma.params) if not name.startswith(COUNTER)}
    declared = sorted(names - set(BUILTINS))
    axes = [known for known in ("tid.x", "threadIdx.x", *BUILTINS) if known.partition(".")[0] == name]
    if near := axes[:1] or get_close_matches(name, [*declared, *BUILTINS, "tid.x"], 1):
        return f"Is {near[0]} meant?"
    if len(declared) > 12:
        declared = [*declared[:12], "..."]
    return f"Known here: {', '.join(declared)}." if declared else "Nothing is declared here."
