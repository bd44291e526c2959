"""Arithmetic proofs, held against a verifier that evaluates at points and knows none of the project's polynomials."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import product
from math import prod
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.certificates.judge import decided, implied
from checker.notation import parse_expr, parse_potential
from checker.oracles import Oracles, factors, farkas, known
from checker.oracles.products import products_with
from logic.assertions import AtLeast, Context, Entails, Launch, P, Proved, Refuted, Uniform, assume, conj, launch_facts
from logic.comparisons import differences
from logic.contracts import Contract, element
from logic.metrics import HARDWARE, METRICS
from logic.operators import denote
from logic.potentials import (
    Apply,
    Leaf,
    Poly,
    ceil_div,
    const,
    element_of,
    evaluate,
    floor_div,
    interval,
    log2,
    max0,
    sym,
)
from logic.syntax import BOOL, BUILTINS, INT, Array, Const, Expr, Op, Param, Var, replace_part, show, subterms
from logic.terms_as_json import expression, potential
from logic.typing import Signature
from tests.examples import examples

proof = partial(farkas.proof, seen=implied)

SIGMA = Signature(dict.fromkeys(("x", "y"), INT), dict.fromkeys((*BUILTINS, "n"), INT), {})
CONTEXT = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch((4, 1, 1), (1, 1, 1)))
KNOWN = launch_facts(CONTEXT.launch, CONTEXT.hardware, CONTEXT.scope)
TRUTH = Const(True, BOOL)
Point = dict[str, int]
Measure = Callable[[Point], Fraction | int]


# --- the verifier: docs/certificate.md, by evaluation -----------------------------------------------------------------


@cache
def ratio(text: str | int) -> Fraction | int:
    """A coefficient; whole numbers as integers, which are several times as fast."""
    found = Fraction(text)
    return found.numerator if found.denominator == 1 else found


def number(p: Any, at: Point) -> Any:
    return sum((ratio(c) * prod(atom(a, at) for a in atoms) for c, atoms in p), 0)


def atom(a: Any, at: Point) -> Any:
    match a:
        case ["var" | "param", name]:
            return at[name]
        case ["tid", axis]:
            return at[f"tid.{axis}"]
        case ["max0", p]:
            return max(0, number(p, at))
        case ["floor", p, k]:
            return number(p, at) // k
        case ["log2", p]:
            return max(1, int(number(p, at))).bit_length() - 1
        case ["op", "/", p, q]:
            return denote("/", (int(number(p, at)), int(number(q, at))))
    raise AssertionError(a)


def term(e: Any, at: Point) -> Any:
    match e:
        case ["const", _, value]:
            return value
        case ["op", op, *args]:
            return denote(op, tuple(term(a, at) for a in args))
    return int(atom(e, at))


def factor(f: Any, at: Point, cases: list[Measure], known: list[Any]) -> Any:
    match f:
        case ["fact", e, sign]:
            assert e in known
            _, op, a, b = e
            low, high = term(a, at), term(b, at)
            assert (op, sign) in {("<", "+"), ("<=", "+"), ("==", "+"), (">", "-"), (">=", "-"), ("==", "-")}
            gap = high - low if sign == "+" else low - high
            return int(gap - (op in "<>"))
        case ["case", i]:
            return cases[i](at)
        case ["apart", ["op", "!=", a, b] as e, i]:
            assert e in known
            assert abs(cases[i](at)) == abs(term(a, at) - term(b, at))
            return cases[i](at) - 1
        case ["max0", p]:
            return max(0, number(p, at))
        case ["log2", p]:
            return atom(f, at)
        case ["least" | "most" as kind, p, q, k, because]:
            low, high = number(p, at), number(q, at)
            premises = [low - 2**k * high, high - 1] if kind == "least" else [2**k * (high + 1) - 1 - low]
            for premise, rows in zip(premises, because, strict=True):
                assert premise == combined(rows, at, cases, known)
            more = atom(["log2", p], at) - atom(["log2", q], at) - k
            return more if kind == "least" else -more
        case ["above", p]:
            return max(0, -number(p, at))
        case ["low", p, k]:
            return number(p, at) % k
        case ["high", p, k]:
            return k - 1 - number(p, at) % k
    raise AssertionError(f)


def points(where: list[Callable[[Point], bool]], values: list[Any]) -> list[Point]:
    """Points at which the replacements on the way are right; the other facts may well be false there. `values` are the
    equations that are put, the last one first. There are none where no state is in all the cases on the way."""
    rng, found = random.Random(1), []
    names = ("x", "y", "n", *BUILTINS, "tid.x", "tid.y", "tid.z")
    for size in (3, 40, 1000) * 700:
        at = dict(zip(names, rng.choices(range(-size, size + 1), k=len(names)), strict=True))
        for _, _, (kind, name), value in values:
            at[f"tid.{name}" if kind == "tid" else name] = int(term(value, at))
        if all(holds(at) for holds in where):
            found.append(at)
        if len(found) == 24:
            break
    assert found or where
    return found


def combined(combination: Any, at: Point, cases: list[Measure], known: list[Any]) -> Any:
    assert all(ratio(c) >= 0 for c, _ in combination)
    return sum(ratio(c) * prod(factor(f, at, cases, known) for f in fs) for c, fs in combination)


def verify(goal: Measure, p: Any, known: list[Any], cases: list[Measure], where: list[Any], values: list[Any]) -> None:
    match p:
        case {"sum": combination}:
            found = [(combined(combination, at, cases, known), goal(at)) for at in points(where, values)]
            assert all(a == b for a, b in found) or all(a == -1 for a, _ in found)
        case {"split": q, "yes": yes, "no": no}:
            assert all(isinstance(ratio(c), int) for c, _ in q)
            here = [*cases, lambda at: number(q, at)]
            verify(goal, yes, known, here, [*where, lambda at: number(q, at) >= 0], values)
            here = [*cases, lambda at: -number(q, at) - 1]
            verify(goal, no, known, here, [*where, lambda at: number(q, at) < 0], values)
        case {"put": e, "then": then}:
            assert e in known
            assert e[:2] == ["op", "=="]
            verify(goal, then, known, cases, where, [e, *values])
        case _:
            raise AssertionError(p)


def gap(e: Any) -> list[Measure]:
    """What a comparison says is nonnegative."""
    _, op, a, b = e
    up: Measure = lambda at: int(term(b, at) - term(a, at) - (op == "<"))  # noqa: E731
    down: Measure = lambda at: int(term(a, at) - term(b, at) - (op == ">"))  # noqa: E731
    return {"<": [up], "<=": [up], ">": [down], ">=": [down], "==": [up, down]}[op]


def verify_proof(o: AtLeast | Entails, p: Any, launch: P = KNOWN) -> None:
    known = [expression(e) for e in (*o.p, *launch)]
    if isinstance(o, AtLeast):
        q, r = potential(o.q), potential(o.r)
        verify(lambda at: number(q, at) - number(r, at), p, known, [], [], [])
        return
    entries = {str(entry["goal"]): entry for entry in p}
    assert len(entries) == len(p)
    for whole in o.goal:
        entry = entries.pop(str(expression(whole)), {})
        if not entry:  # without a proof to look at
            assert NEVER in entries or false_at(Entails(o.p, (whole,))) is None
        elif "if" in entry:
            kinds, terms = (("?:", "||"), ("int",)), [t for t in subterms(whole) if isinstance(t, Op)]
            choice = next(t for ops in kinds for t in terms if t.op in ops)
            test, *rest = choice.args
            ends: list[Expr] = [Const(1), Const(0)]
            sides = {"?:": rest, "||": [TRUTH, *rest], "int": ends}[choice.op]
            for holds, side, part in zip((True, False), sides, entry["if"], strict=True):
                case = conj((replace_part(whole, choice, side),), SIGMA)
                if case or part:
                    verify_proof(Entails(assume(o.p, test, SIGMA, holds), case), part)
        else:
            verify_entry(entry, known)
    for entry in entries.values():  # what is shown besides
        verify_entry(entry, known)


NEVER = str(expression(farkas.NEVER))


def verify_entry(entry: Any, known: list[Any]) -> None:
    for goal, part in zip(gap(entry["goal"]), entry["by"], strict=True):
        verify(goal, part, known, [], [], [])


# --- obligations ------------------------------------------------------------------------------------------------------

GRID = [
    {"x": x, "y": y, "n": n, "tid.x": t, "tid.y": 0, "tid.z": 0, **dict.fromkeys(BUILTINS, 1)}
    | {f"blockIdx.{a}": 0 for a in "xyz"}
    | {"blockDim.x": 4, "warpSize": 32}
    for x, y, n in product(range(-4, 8), range(-2, 4), range(-3, 9))
    for t in (0, 3)
]


def false_at(o: AtLeast | Entails) -> Point | None:
    """A point of a small grid where the obligation fails, by evaluation."""
    p = [expression(e) for e in o.p]
    goals = [expression(e) for e in o.goal] if isinstance(o, Entails) else []
    q, r = (None, None) if isinstance(o, Entails) else (potential(o.q), potential(o.r))
    for at in GRID:
        if all(term(e, at) for e in p):
            if isinstance(o, Entails) and not all(term(g, at) for g in goals):
                return at
            if isinstance(o, AtLeast) and number(q, at) < number(r, at):
                return at
    return None


def at_least(p: str, q: str, r: str) -> AtLeast:
    facts = conj((parse_expr(t, SIGMA) for t in p.split(",") if t), SIGMA)
    return AtLeast(facts, frozenset("xy"), parse_potential(q, SIGMA, "Q"), parse_potential(r, SIGMA, "Q"))


def entails(p: str, goal: str) -> Entails:
    facts, goals = (conj((parse_expr(t, SIGMA) for t in text.split(",") if t), SIGMA) for text in (p, goal))
    return Entails(facts, goals)


def stairs(x: str) -> str:
    """How often an x from 1 on can be doubled until it is 256: a step down after each 2^k - 1."""
    return " + ".join(f"|[{x}, {2**k}]| - |[{x}, {2**k - 1}]|" for k in range(1, 9))


def ruler(x: str) -> str:
    """log2(2*x) at powers of two up to 128, straight lines between them."""
    return f"|[0, {x}]|" + "".join(f" - |[{2**k}, {x}]|/{2**k}" for k in range(1, 7))


def nest(turns: str, columns: str = "y") -> str:
    """What so many turns cost, each of which has rows and columns."""
    return f"({turns})*4 + ({turns})*max(0, {columns})*max(0, y - 2)*64"


TRUE = [
    at_least("", "3", "0"),
    at_least("x >= 1, x < 256", stairs("x"), f"1 + {stairs('2*x')}"),
    at_least("", "x", "x"),
    at_least("x < n", "|[x, n]|", "1 + |[x + 1, n]|"),
    at_least("x < n", "10*|[x, n + 1]|", "20 + 10*|[x, n - 1]|"),
    at_least("x >= n", "0", "|[x, n]|"),
    at_least("", "|[x, n]| + |[n, x]|", "n - x"),
    at_least("x < n", "max(0, ceil((n - x)/2))", "1 + max(0, ceil((n - x - 2)/2))"),
    at_least("x < n", "3 + 49*max(0, ceil((n - x)/128))", "51 + 49*max(0, ceil((n - x - 128)/128))"),
    at_least("x < n, y >= 1", "3 + 49*max(0, ceil((n - x)/128))", "51 + 49*max(0, ceil((n - x - 128*y)/128))"),
    at_least("x >= 0, n >= x", "n*n", "x*x"),
    at_least("x >= 0, x < 0", "0", "1"),
    at_least("", "max(x, n)", "min(x, n)"),
    at_least("x >= 2, y >= 3", "x*y", "6"),
    at_least("", "2*max(0, x)*max(0, y)*max(0, n) + max(0, n) + 1", "0"),
    at_least("x >= 0", "log2(x)*1/2 + 3", "3 + log2(x)*1/2"),
    at_least("", "x", "3*floor(x/3)"),
    at_least("", "3*floor(x/3) + 2", "x"),
    at_least("x >= 0, y >= 1", "64*max(0, n)", "64*max(0, n - floor((x*y)/1024))"),
    at_least("x != 5, x <= 5", "|[x, 5]|", "1 + |[x, 4]|"),
    at_least("x != n, x >= n", "|[n, x]|", "1"),
    at_least("x != 3, y == x + 1, n >= y", "|[x, 3]| + |[2, x]| + |[n, y]|", "1 + |[3, x]|"),
    at_least("2*x != n, 2*x >= n", "2*x", "n + 1"),
    at_least(
        "x < n, x != 5", "max(0, n - x - max(0, n - 6))", "max(0, n - 1 - x - max(0, n - 6)) + |[x, 6]| - |[x, 5]|"
    ),
    entails("x != n, x <= n", "x < n"),
    entails("x <= 2*n, x >= 0", "x/2 <= n"),
    entails("x < n", "x + 1 <= n, x <= n"),
    entails("x == n", "x >= n, x <= n, n == x"),
    entails("x > y, y >= n", "x > n, x >= n + 1"),
    entails("x < 0, x > 0", "n == 5"),
    entails("", "tid.x <= 3, blockDim.x == 4"),
    entails("x == 2*y + 1", "2*y == x - 1"),
    entails("x >= 0", "x >= 0"),
    entails("y == x*n + tid.x, y < x, x >= 0, n >= 1", "x >= 1"),
    entails("y < n, y == x*x + tid.x, x >= 0", "n > 0"),
    at_least("x >= 1, n >= 1, y == x*n, n <= x", "|[x + 1, y + n + 1]|", "n"),
    at_least("x >= 1, n >= 1, y == x*n, n <= x", "0", "max(0, n - y)"),
    at_least("", "log2(x)", "0"),
    at_least("x >= 1", "log2(2*x)", "1 + log2(x)"),
    at_least("", "1 + log2(x)", "log2(2*x + 1)"),
    at_least("x <= n", "log2(n)", "log2(x)"),
    at_least("x >= 4", "log2(x)", "2"),
    at_least("x < 8", "2", "log2(x)"),
    at_least("x < 256", "7", "log2(x)"),
    at_least("x >= 1024", "log2(x)", "10"),
    at_least("x <= 3*n, n < 5", "3", "log2(x)"),
    at_least("x >= 4*n, n >= 1", "log2(x)", "2 + log2(n)"),
    at_least("x >= 1, x < n", "log2(2*n - 1)", "1 + log2(x)"),
    at_least("x >= 1, x < n", "max(0, log2(2*n - 1) - log2(x))", "1 + max(0, log2(2*n - 1) - log2(2*x))"),
    at_least("x >= 2", "log2(x)", "1 + log2(floor(x/2))"),
    at_least("x >= 1", "min(1, max(0, x)) + log2(x)", "1 + min(1, max(0, floor(x/2))) + log2(floor(x/2))"),
    at_least("x >= 3", "max(0, log2(x) - log2(3) + 1)", "1 + max(0, log2(floor(x/2)) - log2(3) + 1)"),
    at_least("x >= 1, n >= 0", "n*log2(2*x)", "n + n*log2(x)"),
    at_least("x < n, x >= 0", nest("|[x, n]|"), nest("1 + |[2*x + 5, n]|")),
    entails("y == x*n, x >= tid.x, n > x", "y >= 0, y + 1 > 0"),
    entails("y == x*n, 2*x >= tid.x, 3*n > x", "y >= 0"),
    entails("x <= 2*n, x >= n", "(n > y ? n : 2*n) >= (n > x ? x : n)"),
    entails("", "(x < 0 ? 1 : x) + (y < 3 ? 2 : y) >= 2, (x == 0 ? x : x - 1) < (x == 0 ? 1 : x)"),
    entails("x <= y", "x + int(n < 3) - 1 <= y, x + int(x < y) <= y"),
    entails("x <= y", "(n < y ? x : x - 1) + int(n < 3) - 1 <= y"),
    entails("", "n < 1 || n > 0"),
    entails("2*x != 2*n", "x != n"),
    entails("x > n + 2, y >= 0", "x != n, y != -1"),
    entails("x >= 0, x < n, y >= 3, tid.x + 1 >= 0", "n*(y + tid.x - 2) >= 0"),
    entails("x < y", "n < x || x > n + 3 || (n < y + 3 || y <= n + 3) && n >= x"),
    # x is 0 at most, which is no combination of facts: 1/2 is
    at_least("2*x <= y, y <= 1", "max(0, n) - max(0, n - 1)", "max(0, n + 2*x) - max(0, n + 2*x - 1)"),
]
FALSE = [
    entails("x <= 2*n, x >= n", "(n > y ? n : 2*n) > (n > x ? x : n)"),
    entails("x >= 0", "(x < n ? 1 : x) >= 1"),
    entails("", "(x < n ? x : n) == (n < y ? x : n)"),
    entails("x <= y", "x + int(x <= y) <= y"),
    entails("x < y", "x - int(n < 3) < y - 1"),
    entails("x < y", "n < x || n > y"),
    at_least("", "0", "1"),
    at_least("", "max(0, x)*max(0, y)*max(0, n)", "max(0, x)"),
    at_least("", "x*max(0, y)*max(0, n)", "0"),
    at_least("x >= 0, x < 256", stairs("x"), f"1 + {stairs('2*x')}"),
    at_least("x <= n", "|[x, n]|", "1 + |[x + 1, n]|"),
    at_least("x < n", "10*|[x, n]|", "20 + 10*|[x, n - 1]|"),
    at_least("", "|[x, n]|", "n - x + 1"),
    at_least("x < n", "max(0, floor((n - x)/2))", "1 + max(0, floor((n - x - 2)/2))"),
    at_least("", "n*n", "x*x"),
    at_least("", "3*floor(x/3) + 1", "x"),
    at_least("x >= -1, y >= 1", "64*max(0, n)", "64*max(0, n - floor((x*y)/1024))"),
    at_least("x != 5, x <= 5", "|[x, 5]|", "2 + |[x, 4]|"),
    at_least("x != 5, x <= 6", "|[x, 5]|", "1 + |[x, 4]|"),
    at_least("2*x != n, x >= n", "2*x", "n + 2"),
    at_least("n > 0", "1", "log2(n)"),
    at_least("x < n, x >= 0", nest("|[x, n]|"), nest("2 + |[2*x + 5, n]|")),
    at_least("x < n, x >= 0", nest("|[x, n]|"), nest("1 + |[2*x + 5, n]|", "y + 1")),
    entails("y == x*n, x >= tid.x - 1, n > x", "y >= 0"),
    entails("x <= n", "x < n"),
    entails("x < n", "n < x"),
    entails("", "tid.x <= 2"),
    entails("x != n", "x < n"),
    entails("x < n", "x <= n, x <= y"),
    entails("y < n, y == x*x + tid.x, x >= 0", "n > 1"),
    entails("y < n, y == x*x + tid.x, x >= 0", "n > x + 2"),
    at_least("x >= 1, n >= 1, y == x*n, n <= x", "0", "max(0, 1 + n - y)"),
    at_least("x >= 1, y == x*n, n <= x", "0", "max(0, n - y)"),
    at_least("x >= 0", "log2(2*x)", "1 + log2(x)"),
    at_least("", "log2(x)", "log2(2*x + 1)"),
    at_least("x <= n + 1", "log2(n)", "log2(x)"),
    at_least("x >= 3", "log2(x)", "2"),
    at_least("x < 5", "1", "log2(x)"),
    at_least("x <= 2*n, n < 4", "1", "log2(x)"),
    at_least("x >= 4*n, n >= 0", "log2(x)", "2 + log2(n)"),
    at_least("x >= 1, x <= n", "log2(2*n - 1)", "1 + log2(x)"),
    at_least("x >= 1, x <= n", "max(0, log2(2*n - 1) - log2(x))", "1 + max(0, log2(2*n - 1) - log2(2*x))"),
    at_least("x >= 1", "log2(x)", "1 + log2(floor(x/2))"),
    at_least("x >= 0", "min(1, max(0, x)) + log2(x)", "1 + min(1, max(0, floor(x/2))) + log2(floor(x/2))"),
    at_least("2*x <= y, y <= 2", "max(0, n) - max(0, n - 1)", "max(0, n + 2*x) - max(0, n + 2*x - 1)"),
]


@pytest.mark.parametrize("o", TRUE, ids=str)
def test_what_holds_and_is_linear_has_a_proof(o: AtLeast | Entails) -> None:
    assert false_at(o) is None
    p = proof(o, CONTEXT)
    assert p is not None
    verify_proof(o, p)


@pytest.mark.parametrize("o", FALSE, ids=str)
def test_what_is_false_has_none(o: AtLeast | Entails) -> None:
    assert false_at(o) is not None
    assert proof(o, CONTEXT) is None


def test_what_a_halving_costs_has_a_proof() -> None:
    """Some cases are empty, which the verifier, having no point to look at, could not tell."""
    step = f"1 + {ruler('floor(x/2)')}"
    assert proof(at_least("x >= 1, x <= 128", ruler("x"), step), CONTEXT) is not None
    assert proof(at_least("x >= 0, x <= 128", ruler("x"), step), CONTEXT) is None


def test_what_a_step_by_four_costs_has_a_proof() -> None:
    before, after = (f"max(0, ceil((log2(2*n + 1) - log2({x}))/2))" for x in ("x", "4*x"))
    assert proof(at_least("x >= 1, x <= n", before, f"1 + {after}"), CONTEXT) is not None
    assert proof(at_least("x >= 1, x <= n + 1", before, f"1 + {after}"), CONTEXT) is None


def test_other_obligations_have_no_arithmetic_proof() -> None:
    assert proof(Uniform((), frozenset(), Const(1)), CONTEXT) is None
    assert proof(Entails((), (Op("!=", (Param("n"), Const(0))),)), CONTEXT) is None
    assert proof(entails("", "n < 1 || n > 1"), CONTEXT) is None


def test_a_step_over_the_whole_grid_has_a_proof() -> None:
    """Where blockDim and gridDim are not known, y is at least the one and at least the other."""
    facts, context = "x < n, x + blockDim.x > n, y == blockDim.x * gridDim.x", replace(CONTEXT, launch=Launch())
    q, r = "1 - max(0, 1 - |[x, n]|)", "- max(0, 1 - |[x + y, n]|)"
    assert proof(at_least(facts, q, f"2 {r}"), context) is not None
    assert proof(at_least(facts, q, f"3 {r}"), context) is None


def test_what_differs_is_less_or_more() -> None:
    assert proof(entails("x > n + 2", "x != n"), CONTEXT)[0]["goal"][1] == ">"
    assert proof(entails("x + 2 < n", "x != n"), CONTEXT)[0]["goal"][1] == "<"
    assert proof(entails("x + 2 <= n", "x + 2 != n"), CONTEXT) is None


def test_what_the_second_checker_sees_takes_no_proof() -> None:
    assert proof(entails("x == (n ^ 1) + y", "x - y == (n ^ 1)"), CONTEXT) == []
    assert proof(entails("x == (n ^ 1) + y", "x - y == (n ^ 2)"), CONTEXT) is None


def test_a_remainder_in_a_fact() -> None:
    """Blocks have 4 threads here: floor(tid.x/4) is 0."""
    (entry,) = proof(entails("x == tid.x * 1 % 4", "x == tid.x"), CONTEXT)
    assert len(entry["by"]) == 2
    assert proof(entails("x == tid.x * 1 % 3", "x == tid.x"), CONTEXT) is None


def test_the_verifier_sees_a_wrong_proof() -> None:
    o = at_least("x < n", "|[x, n]|", "1 + |[x + 1, n]|")
    p = proof(o, CONTEXT)
    for other in (
        at_least("x < n", "|[x, n]|", "2 + |[x + 1, n]|"),
        at_least("x <= n", "|[x, n]|", "1 + |[x + 1, n]|"),
    ):
        with pytest.raises(AssertionError):
            verify_proof(other, p)


X, Y, N = sym(Var("x")), sym(Var("y")), sym(Param("n"))
ATOMS = [
    const(1), X, Y, N, max0(X), max0(N - X), interval(X + 1, N), interval(Y, X), max0(max0(N - X) - Y),
    floor_div(N, 3), ceil_div(N - X, 2), max0(ceil_div(N - X, 2)), log2(N + 1), max0(X) * max0(N), X * N,
    log2(X), log2(X * 2), log2(floor_div(X, 2)), log2(N),
]  # fmt: skip
COMPARED = st.sampled_from([Var("x"), Var("y"), Param("n"), Const(0), Const(2), Op("+", (Var("x"), Const(1)))])
FACTS = st.lists(
    st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), COMPARED, COMPARED),
    max_size=3,
).map(lambda facts: conj(facts, SIGMA))


def poly(coefficients: list[tuple[int, int]]) -> Poly:
    return sum((ATOMS[i] * Fraction(c, 2) for i, c in coefficients), const(0))


POLYS = st.lists(st.tuples(st.integers(0, len(ATOMS) - 1), st.integers(-4, 6)), max_size=3).map(poly)
EASY = st.lists(st.tuples(st.integers(0, len(ATOMS) - 1), st.integers(0, 3)), max_size=2).map(poly)


def test_no_proof_is_looked_for_of_what_an_example_refutes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[AtLeast] = []
    monkeypatch.setattr(farkas, "proof", lambda o, _: asked.append(o))
    verdict = Oracles()(at_least("x == (n & y)", "x", "n"), CONTEXT)
    assert isinstance(verdict, Refuted)
    assert not asked


@pytest.mark.whole
@examples(30, 2000)
@given(FACTS, POLYS, st.one_of(POLYS, st.just(None)), EASY)
def test_a_proof_of_random_comparisons_verifies_and_proves_no_falsehood(
    p: tuple[Any, ...], q: Poly, r: Poly | None, more: Poly
) -> None:
    """With r left out q + (what is often nonnegative) is compared with q, so that some of them hold."""
    o = AtLeast(p, frozenset("xy"), q + more, q if r is None else r)
    found = proof(o, CONTEXT)
    if found is not None:
        verify_proof(o, found)
        assert false_at(o) is None


@examples(20, 2000)
@given(FACTS, FACTS)
def test_a_proof_of_random_consequences_verifies_and_proves_no_falsehood(
    p: tuple[Any, ...], goal: tuple[Any, ...]
) -> None:
    o = Entails(p, goal)
    found = proof(o, CONTEXT)
    if found:
        verify_proof(o, found)
    if found is not None:
        assert false_at(o) is None


@given(POLYS, st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
def test_our_numbers_agree_with_the_projects(q: Poly, x: int, y: int, n: int) -> None:
    store: dict[Leaf, int] = {Var("x"): x, Var("y"): y, Param("n"): n}
    assert number(potential(q), {"x": x, "y": y, "n": n}) == evaluate(q, store)


@pytest.mark.parametrize("products", [False, True])
def test_what_was_found_before_is_named_by_the_facts_at_hand(products: bool) -> None:
    """Solutions are kept by what facts say; what a fact is called differs from proof to proof."""
    n, x = sym(Param("n")), sym(Var("x"))
    goal = n * x if products else n + x
    for first, second in (("a", "b"), ("c", "d")):
        facts = [known.Fact(n, first), known.Fact(x, second)]
        assert farkas.prove(goal, facts) == {
            "sum": [["1", [first, second]]] if products else [["1", [first]], ["1", [second]]]
        }


def test_what_a_contract_relates_to_a_goal_in_one_of_its_cases() -> None:
    """Where max(0, w) is 0, that -len[n - 1] is nonnegative needs that w is not positive, and the contract."""
    n, w, i = Param("n"), Param("w"), Var("?i0")
    short = Contract(((Const(0), n),), Op("<=", (element("len", i), w)))
    sigma = Signature({}, {"n": INT, "w": INT}, {"len": Array("len", "global", INT, 4)}, frozenset({"len"}))
    last, launch = element_of("elem:len", sym(n) - 1), Launch(assumptions=(Op(">", (n, Const(0))),), contracts=(short,))
    context = Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], launch)
    for q, r in ((max0(sym(w)), last), (max0(sym(w)) + 1, max0(last) + 1)):
        assert farkas.proof(AtLeast((), frozenset(), q, r), context) is not None
        assert farkas.proof(AtLeast((), frozenset(), q - 1, r), context) is None


def test_what_a_contract_says_again_of_what_is_settled() -> None:
    """An element is at most i / 2, which is a difference of max(0, i) and max(0, -i): both come up again at i = 2*x,
    and a search for what is false ends."""
    n, x, i = Param("n"), Var("x"), Var("?i0")
    twice, own = Op("*", (Const(2), x)), parse_expr("0 <= x && x < n", SIGMA)
    half = Contract(((Const(0), Op("*", (Const(2), n))),), Op("<=", (element("a", i), Op("/", (i, Const(2))))))
    sigma = replace(SIGMA, arrays={"a": Array("a", "global", INT, 4)}, stable=frozenset({"a"}))
    context = replace(CONTEXT, sigma=sigma, launch=replace(CONTEXT.launch, contracts=(half,)))
    assert farkas.proof(Entails(conj([own], sigma), (Op("<", (element("a", twice), x)),)), context) is None


def test_what_is_given_depends_on_types_contracts_and_the_launch() -> None:
    """It is kept for the next question about the same facts."""
    p = (parse_expr("x == y", SIGMA), parse_expr("x < 3", SIGMA))
    truths = replace(SIGMA, locals={"x": BOOL, "y": INT})
    one = Contract((), parse_expr("n >= 5", SIGMA))
    settings_ = [
        CONTEXT,
        replace(CONTEXT, sigma=truths),
        replace(CONTEXT, launch=replace(CONTEXT.launch, contracts=(one,))),
        replace(CONTEXT, launch=Launch((8, 1, 1), (1, 1, 1))),
    ]
    sizes = [len(known.given(p, context).facts) for context in settings_ * 2]
    assert sizes[:4] == sizes[4:]
    assert sizes[1] < sizes[0] < sizes[2]
    four, eight = (
        proof(AtLeast(p, frozenset(), const(c), sym(Param("blockDim.x"))), at)
        for c, at in ((4, settings_[0]), (4, settings_[3]))
    )
    assert four is not None
    assert eight is None


def test_a_condition_is_read_once_for_all_points_where_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()

    def counted(e: Expr) -> tuple[tuple[Poly, str], ...]:
        read.append(show(e))
        return differences(e)

    monkeypatch.setattr(known, "differences", counted)
    known._said.cache_clear()
    for other in ("y == 7", "y >= x"):
        p = (parse_expr("x < n - 2 * y", SIGMA), parse_expr(other, SIGMA))
        assert farkas.proof(AtLeast(p, frozenset(), sym(Param("n")), sym(Var("x")) + sym(Var("y")) * 2), CONTEXT)
    assert [read.count(told) for told in ("x < n - 2 * y", "y == 7", "y >= x")] == [1, 1, 1]


def test_a_number_needs_no_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(farkas, "given")
    p, q = (parse_expr("x < n", SIGMA),), sym(Var("x"))
    assert farkas.proof(AtLeast(p, frozenset(), q, q), CONTEXT) == {"sum": []}
    assert farkas.proof(AtLeast(p, frozenset(), q + 3, q), CONTEXT) == {"sum": [["3", []]]}


TRIANGLE: Final = "30 + 18*|[x, n]| + 101*|[x, n]|*|[0, 1 + x]| + 101*|[x, n]|*|[0, n]|"


@pytest.mark.parametrize(("left", "holds"), [(TRIANGLE, True), (f"{TRIANGLE} - 1", False)])
def test_products_that_solvers_leave_open(left: str, holds: bool) -> None:
    """A turn of a triangle of loops, where the two sides are the same: an arithmetic proof says so at once."""
    p = conj([parse_expr(e, SIGMA) for e in ("x < n", "x >= 0")], SIGMA)
    right = "48 + 18*|[x, n - 1]| + 202*|[0, 1 + x]| + 101*|[x, n - 1]|*|[0, n]| + 101*|[x, n - 1]|*|[0, 2 + x]|"
    q, r = (parse_potential(text, SIGMA, "t") for text in (left, right))
    found = Oracles(limit=0.1)(AtLeast(p, frozenset({"x"}), q, r), CONTEXT)
    assert isinstance(found, Proved) == holds


BLOCKS: Final = "8 + 11*max(0, {0}) + 32*max(0, n - x)*max(0, n)*max(0, {0}) + 10*max(0, n)*max(0, n)*max(0, {0})"


def test_products_with_leaves_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nests of loops around a grid stride, in a block and in the first one."""
    o = at_least("y >= 0", BLOCKS.format("ceil(n/4)"), BLOCKS.format("ceil((n - y)/4)"))
    assert false_at(o) is None
    found = proof(o, CONTEXT)
    assert found is not None
    verify_proof(o, found)
    assert proof(replace(o, p=()), CONTEXT) is None
    monkeypatch.setattr(factors, "_outweighed", lambda _: ())
    assert proof(o, CONTEXT) is None


@pytest.mark.parametrize(("more", "holds"), [("", True), (" + 1", False)])
def test_definitions_by_what_is_defined_itself(more: str, holds: bool) -> None:
    """The end of a part, which is the lesser of two, one of them a quotient: it is put first, and then that."""
    o = at_least("", "max(0, trunc((5 + min(x + 1, n))/n))", f"max(0, trunc((5 + y)/n)){more}")
    facts = ("x == blockIdx.y / n", "y == min(x + 1, n)")
    o = replace(o, p=conj((parse_expr(t, SIGMA) for t in facts), SIGMA))
    assert (false_at(o) is None) == holds
    found = proof(o, CONTEXT)
    assert (found is not None) == holds
    if found is not None:
        verify_proof(o, found)


CUBES: Final = "2*{0}*{0}*{2} + 2*{0}*{1}*{1} + 4*{0}*{2} + 10/3*{0}", "4/3*{0}*{0}*{0} + 2*{0}*{0} + 4*{0}*{1}"


@pytest.mark.parametrize(("more", "holds"), [("", True), (" + 4/3*{0}", True), (" + 5*{0}", False)])
def test_triangles_whose_rows_are_triangles(more: str, holds: bool) -> None:
    """A turn of three loops, each up to the counter around it: a sum of products of three facts."""
    atoms = ("max(0, n - x)", "max(0, 1 + x)", "max(0, n)")
    o = at_least("x >= 0", *(text.format(*atoms) for text in (CUBES[0], CUBES[1] + more)))
    assert (false_at(o) is None) == holds
    found = proof(o, CONTEXT)
    assert (found is not None) == holds
    if found is not None:
        verify_proof(o, found)


FIRSTS: Final = "min(1, max(0, x)) + min(1, max(0, y)) + min(1, max(0, n - x)) + min(1, max(0, n - y))"
TURNS: Final = "max(0, {0}((31 + n)/32))*max(0, {0}((7 + x)/8))"
ROUNDED: Final = TURNS.format("floor"), TURNS.format("trunc")


@pytest.mark.parametrize(
    ("q", "r", "holds"),
    [
        (FIRSTS, "0", True),
        (f"{FIRSTS} + 1", "1", True),
        (FIRSTS, "1", False),
        (*ROUNDED, True),
        (*reversed(ROUNDED), True),
        (ROUNDED[0], f"{ROUNDED[1]} + 1", False),
    ],
)
def test_differences_that_are_shown_one_by_one(q: str, r: str, holds: bool) -> None:
    """First turns of several loops, and turns of a nest: all cases of all together are too many."""
    o = at_least("", q, r)
    assert (false_at(o) is None) == holds
    found = proof(o, CONTEXT)
    assert (found is not None) == holds
    if found is not None:
        verify_proof(o, found)


@pytest.mark.parametrize(("more", "holds"), [("", True), (" + 1", False)])
def test_what_a_product_loses_pays_for_the_rest(more: str, holds: bool) -> None:
    """A turn of a grid stride, whose rows are as long as its counter: with y steps at once, one of all that are left
    pays for a row, the longest of which is 3 + n."""
    right = f"max(0, 4 + x) + max(0, ceil((n - x)/4) - y)*max(0, 3 + n){more}"
    o = at_least("x >= 0, x < n, y >= 1", "max(0, ceil((n - x)/4))*max(0, 3 + n)", right)
    assert (false_at(o) is None) == holds
    found = proof(o, CONTEXT)
    assert (found is not None) == holds
    if found is not None:
        verify_proof(o, found)


@pytest.mark.parametrize(
    ("p", "goal", "holds"),
    [
        ("b || x <= n; x > 0", "b || x >> 1 <= n", True),
        ("b || x <= n; x > 0", "b || 2 * x <= n", False),
        ("b || x <= n; y > 0", "b || x - y < n", True),
        ("b || x <= n", "b || x - y < n", False),
        ("b || y <= n; b || x <= y", "b || x <= n", True),
        ("y >= n || x <= n; y < n", "x < n + 1", True),
        ("y >= n || x <= n; y <= n", "x < n + 1", False),
        ("x <= n || y >= n || x == n; y < n", "x < n + 1", True),
        ("y >= n || x <= n; y < 3; n > 5", "x < n + 1", True),
        ("y >= n || x <= n; y < 3; n > 1", "x < n + 1", False),
        ("y >= n || x >= n; n > 3", "y > 3 || x > 3", True),
        ("y >= n || x >= n; n > 2", "y > 3 || x > 3", False),
    ],
)
def test_a_choice_that_a_fact_has_too(p: str, goal: str, holds: bool) -> None:
    """Once a flag says that x is n at most, half of x is, too: in its case, the fact is what is left of it. So it is
    with a fact of which others say, or show, that a part does not hold."""
    sigma = replace(SIGMA, locals={**SIGMA.locals, "b": BOOL})
    context = replace(CONTEXT, sigma=sigma)
    facts = conj([parse_expr(e, sigma) for e in p.split(";")], sigma)
    o = Entails(facts, conj([parse_expr(goal, sigma)], sigma))
    said = proof(o, context)
    assert (said is not None) == holds
    assert said is None or decided(o, said, context)


@pytest.mark.parametrize(
    ("p", "goal", "holds"),
    [
        ("x == 4 * blockIdx.x + y; y == tid.x; n >= 0", "(n ^ x) >= 0", True),
        ("x == 4 * blockIdx.x + y; y == tid.x", "(n ^ x) >= 0", False),
        ("x == 4 * blockIdx.x + y; n >= 0", "(n ^ x) >= 0", False),
        ("x == 4 * blockIdx.x + y; y == tid.x; n >= 0", "(n | x) >= x", True),
        ("y == n % 8; x == n - y", "x % 8 == 0", True),
        ("x == n - y; y == n % 8", "x % 4 == 0", True),
        ("y == n % 8; x == n - y + 1", "x % 8 == 0", False),
        ("y == n % 4; x == n - y", "x % 8 == 0", False),
        ("x == y; y == x", "x % 8 == 0", False),
        ("x == y + 8; y == x - 8; y == n / 2 * 8", "x % 8 == 0", True),
    ],
)
def test_what_a_law_needs_follows_from_facts_one_by_one(p: str, goal: str, holds: bool) -> None:
    facts = conj([parse_expr(e, SIGMA) for e in p.split(";")], SIGMA)
    o = Entails(facts, conj([parse_expr(goal, SIGMA)], SIGMA))
    said = proof(o, CONTEXT)
    assert (said is not None) == holds
    assert said is None or decided(o, said, CONTEXT)


SIZE = "x == blockDim.x * blockDim.y * blockDim.z; y == gridDim.x * x"


@pytest.mark.parametrize(
    ("p", "q", "r", "holds"),
    [
        (SIZE, "y", "1", True),
        (SIZE, "y", "blockDim.y", True),
        (SIZE, "y", "gridDim.x", True),
        (SIZE, "y", "gridDim.x + 1", False),
        (SIZE, "|[0, n - y]|", "|[0, n]| - y + 1", False),
        (f"{SIZE}; n < blockDim.x", "0", "|[y, n]|", True),
        (f"{SIZE}; n < blockDim.x + 1", "0", "|[y, n]|", True),
        (f"{SIZE}; n < blockDim.x + 2", "0", "|[y, n]|", False),
        ("x == n * blockDim.y * blockDim.z; n >= 0", "x", "0", True),
        ("x == n * blockDim.y * blockDim.z; n >= 0", "x", "blockDim.y", False),
        ("x == n * blockDim.y * blockDim.z; n >= 0", "x", "n", True),
        ("x == n * blockDim.y * blockDim.z", "x", "0", False),
    ],
)
def test_products_of_several_sizes_are_no_less_than_each(p: str, q: str, r: str, holds: bool) -> None:
    context = replace(CONTEXT, launch=Launch())
    facts = conj([parse_expr(e, SIGMA) for e in p.split(";")], SIGMA)
    o = AtLeast(facts, frozenset("xy"), parse_potential(q, SIGMA, "Q"), parse_potential(r, SIGMA, "Q"))
    said = proof(o, context)
    assert (said is not None) == holds
    if said is not None:
        verify_proof(o, said, launch_facts(context.launch, context.hardware, context.scope))


def test_what_laws_need_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not that a dividend is at most 0 where it is known to be at least that."""
    asked: list[str] = []
    sooner = farkas._sooner

    def counting(goal: Poly, have: Any) -> Any:
        asked.append(str(goal))
        return sooner(goal, have)

    monkeypatch.setattr(farkas, "_sooner", counting)
    n, m = (sym(Param(name)) for name in "nm")
    a = Apply("/", (n, m))
    facts = (known.Fact(n, "n"), known.Fact(m - 1, "m"))
    laws = [fact.name[2] for fact in farkas._lawful(a, facts)]
    assert laws == ["over", "under", "rest", "sign", "less"]
    assert sorted(asked) == ["m", "m - 1", "n"]


def test_products_are_multiplied_once_for_needs_without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    multiplied = products_with

    def counting(goal: Poly, *rest: Any) -> Any:
        asked.append(str(goal))
        return multiplied(goal, *rest)

    monkeypatch.setattr(farkas, "products_with", counting)
    farkas._multiplied.cache_clear()
    n, m, k = (sym(Param(name)) for name in ("n", "m", "k"))
    facts = [known.Fact(n - 1, "n"), known.Fact(m - 1, ["m"]), known.Fact(k - n * m, "k")]
    found = {goal: farkas._combination(goal, facts, more=farkas._products(goal, facts)) for goal in (k, k - 1, n * m)}
    assert len(asked) == 2
    assert None not in found.values()
    names = [name for rows in found.values() for _, by in rows for name in by]
    assert all(name in ("n", ["m"], "k") for name in names)
