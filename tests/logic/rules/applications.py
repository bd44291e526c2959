"""Rule applications written by hand, on tiny programs: what the kernel accepts, and why it refuses the rest.

Every price of the metric is a prime of its own, so a rule that charges the wrong constant shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from checker.kernel import Ledger, check
from checker.notation import parse_expr, parse_kernel, parse_potential
from checker.oracles import Oracles
from checker.report.sentences import sentence
from logic.assertions import Condition, Context, Judgement, Launch, Refuted, Triple, Unknown, conj
from logic.derivation import Derivation, Value
from logic.metrics import HARDWARE, Linear, Metric
from logic.potentials import Poly
from logic.refusals import Refusal, Rejected
from logic.rules import SOUND
from logic.schema import PREMISE_HEADS, Rule, show
from logic.syntax import Const, Expr, Kernel, Op, Param, Read, Stmt, Tid, Var
from logic.typing import check_kernel

FIXED = {"var": 1, "const": 2, "param": 3, "op": 5, "if": 7, "div": 11, "vwrite": 13, "sync": 17}
COUNTED = {"gread": 19, "sread": 23, "gwrite": 29, "swrite": 31}
PRICES = Metric(
    "primes",
    {c: Fraction(p) for c, p in FIXED.items()},
    {c: Linear(Fraction(p), Fraction(0)) for c, p in COUNTED.items()},
)
HEADER = """kernel k
param int n, m;
param float g;
global int A[];
shared int S[];
local int x, y, z;
local bool b;
local float f;
begin
"""


def program(text: str) -> Kernel:
    """The kernel with this body."""
    return parse_kernel(f"{HEADER}{text}\nend", "k")


def stmt(text: str) -> Stmt:
    return program(text).body


SIGMA = check_kernel(program("skip;"))
CONTEXT = Context(SIGMA, PRICES, HARDWARE["nvidia"], Launch((32, 1, 1)))
TICK = Context(SIGMA, Metric("tick", {"vwrite": Fraction(1)}), HARDWARE["nvidia"], Launch((32, 1, 1)))
"""Assignments cost 1, everything else nothing: the `tick` of ERRATA.md."""
ORACLE = Oracles()


def expr(text: str) -> Expr:
    return parse_expr(text, SIGMA)


def facts(*texts: str) -> tuple[Expr, ...]:
    """P"""
    return conj(map(expr, texts), SIGMA)


def pot(text: str) -> Poly:
    """Q"""
    return parse_potential(text, SIGMA, "Q")


def at(p: str = "", q: str = "0", x: str = "") -> Condition:
    """{P; Q; X}: conjuncts are parted by commas, variables by blanks."""
    return Condition(facts(*(c for c in p.split(",") if c)), pot(q), frozenset(x.split()))


def named(suffix: str, c: Condition) -> dict[str, Value]:
    return {f"P{suffix}": c.p, f"Q{suffix}": c.q, f"X{suffix}": c.x}


def cost(p: tuple[Expr, ...], x: frozenset[str], e: Expr) -> Derivation:
    """P; X |- e : C, each access at its price for all 32 lanes."""
    here: dict[str, Value] = {"P": p, "X": x}
    match e:
        case Var(name):
            return Derivation("OQ:Var", {**here, "x": name})
        case Param(name):
            return Derivation("OQ:Param", {**here, "p": name})
        case Const():
            return Derivation("OQ:Const", {**here, "k": e})
        case Tid(axis):
            return Derivation("OQ:Tid", {**here, "a": axis})
        case Read(array, index):
            letter, rule = ("G", "EQ:GArray") if SIGMA.arrays[array].space == "global" else ("S", "EQ:SArray")
            values: dict[str, Value] = {**here, letter: array, "o": index, "n": 32, "C": price(index)}
            return Derivation(rule, values, (cost(p, x, index),))
        case Op(op, args):
            parts: dict[str, Value] = {**here, "op": op}
            for i, a in enumerate(args, 1):
                parts |= {f"e{i}": a, f"C{i}": price(a)}
            rule = ("EQ:Op1", "EQ:Op", "EQ:Op3")[len(args) - 1]
            return Derivation(rule, parts, tuple(cost(p, x, a) for a in args))


def price(e: Expr) -> Fraction:
    """What `cost` shows for e, counted in another way: one price for each node."""
    match e:
        case Var() | Tid():
            return Fraction(FIXED["var"])
        case Param():
            return Fraction(FIXED["param"])
        case Const():
            return Fraction(FIXED["const"])
        case Read(array, index):
            return price(index) + 32 * COUNTED["gread" if SIGMA.arrays[array].space == "global" else "sread"]
        case Op(_, args):
            return FIXED["op"] + sum((price(a) for a in args), Fraction(0))


def skip(c: Condition) -> Derivation:
    return Derivation("Q:Skip", named("", c))


def weak(
    inner: Derivation, s: Stmt, outer: tuple[Condition, Condition], inside: tuple[Condition, Condition]
) -> Derivation:
    """Q:Weak from the triple `inside` to the triple `outer`."""
    values: dict[str, Value] = {"s": s, "c": Fraction(0)}
    values |= named("1", outer[0]) | named("2", inside[0]) | named("2'", inside[1]) | named("1'", outer[1])
    return Derivation("Q:Weak", values, (inner,))


def free(d: Derivation) -> Derivation:
    """The derivation with every expression for nothing, as under TICK."""
    values: dict[str, Value] = {
        letter: Fraction(0) if letter in ("C", "C1", "C2", "C3") else v for letter, v in d.substitution.items()
    }
    return Derivation(d.rule, values, tuple(free(p) for p in d.premises))


def judged(root: Derivation, context: Context = CONTEXT) -> Judgement:
    """What the kernel says a derivation proves."""
    return check(root, SOUND, context, ORACLE, Ledger()).judgement


def triple(pre: Condition, text: str, post: Condition) -> Triple:
    return Triple(pre, stmt(text), post)


def but(d: Derivation, premises: Iterable[Derivation] | None = None, **values: Value) -> Derivation:
    """The application with other values (`P1_` stands for `P1'`, `P__` for `P''`) or other premises."""
    changed = {letter.replace("_", "'"): v for letter, v in values.items()}
    if not changed.keys() <= d.substitution.keys():
        raise KeyError(f"{d.rule} has no {changed.keys() - d.substitution.keys()}")
    return replace(
        d, substitution={**d.substitution, **changed}, premises=d.premises if premises is None else tuple(premises)
    )


def instead(d: Derivation, i: int, premise: Derivation) -> Derivation:
    """The application with another i-th premise."""
    return replace(d, premises=(*d.premises[:i], premise, *d.premises[i + 1 :]))


@dataclass(frozen=True)
class Bad:
    """An application that has to be refused because of one item above the bar.

    verdict   what the oracle said, for items that it decides; None for those that are compared
    """

    item: str
    root: Derivation
    verdict: type[Refuted | Unknown] | None = None
    context: Context = CONTEXT

    def __str__(self) -> str:
        return f"{self.root.rule}: {self.item}"


def refusal(root: Derivation, context: Context = CONTEXT) -> Refusal:
    with pytest.raises(Rejected) as caught:
        check(root, SOUND, context, ORACLE, Ledger())
    return caught.value.refusal


def assert_refused(bad: Bad) -> None:
    """Refused at the root, by the rule that is meant, for the item that is meant and for nothing else."""
    error = refusal(bad.root, bad.context)
    assert (error.name, error.path) == (bad.root.rule, ()), sentence(error)
    assert error.rule is SOUND.rules[bad.root.rule]
    assert bad.item in sentence(error)
    if bad.verdict is not None:
        tail = "does not hold" if bad.verdict is Refuted else "could not be proved"
        assert sentence(error) == f"the side condition {bad.item} {tail}"
        assert isinstance(error.verdict, bad.verdict)
        assert error.obligation is not None
    else:
        assert error.obligation is None
        assert error.got is not None
        assert error.expected != error.got


def assert_every_item_is_refused(rules: tuple[Rule, ...], bad: Iterable[Bad]) -> None:
    """A rule without a case for each thing above its bar is a rule that nobody tested."""
    have = {(b.root.rule, b.item) for b in bad}
    want = {(rule.name, show(item)) for rule in rules for item in rule.items}
    assert have == want


def premise(rule: str, i: int) -> str:
    """The text of a rule's i-th judgement above the bar."""
    return show([t for t in SOUND.rules[rule].items if t.head in PREMISE_HEADS][i])
