"""The kernel: every way in which a derivation can be malformed, and who may make a theorem or a claim."""

from __future__ import annotations

import copy
import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pytest

from checker import kernel as trusted
from checker.certificates.document import read
from checker.kernel import Claim, Ledger, Theorem, check, claim
from checker.oracles import Oracles
from checker.report.sentences import sentence
from logic.assertions import Condition, Context, Launch, P, Proved, Refuted, Scope, Triple, Unknown
from logic.derivation import Derivation, Value
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Floor, Log2, Max0, Poly, Sym, const, max0, sym
from logic.refusals import Refusal, Rejected
from logic.rules import SOUND, RuleSet
from logic.schema import kind
from logic.syntax import (
    BOOL,
    INT,
    WARP_INDEX,
    Array,
    Assign,
    Const,
    Decl,
    Expr,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Tid,
    Var,
    seq,
)
from logic.typing import TypeProblem, check_kernel
from tests.logic.rules.applications import (
    CONTEXT,
    ORACLE,
    PRICES,
    TICK,
    at,
    but,
    cost,
    expr,
    facts,
    instead,
    judged,
    named,
    pot,
    program,
    refusal,
    skip,
    weak,
)

HERE: dict[str, Value] = {"P": (), "X": frozenset()}
LEAF = cost((), frozenset(), expr("x"))
SUM = cost((), frozenset(), expr("x + n"))
GLOBAL = cost((), frozenset(), expr("A[x]"))
SKIP = skip(at("x > 0", "|[x, n]|", "x"))
WEAK = weak(SKIP, Skip(), (at("x > 0", "|[x, n]|", "x"),) * 2, (at("x > 0", "|[x, n]|", "x"),) * 2)
SET = Derivation("Q:VWrite2", {**HERE, "Q": pot("0"), "P'": (), "x": "x", "e": expr("y"), "C": Fraction(1)}, (cost((), frozenset(), expr("y")),))  # fmt: skip  # noqa: E501
DEEP = 25_000


def test_the_examples_are_accepted_as_they_are() -> None:
    for root in (LEAF, SUM, GLOBAL, SKIP, WEAK, SET):
        judged(root)


# --- the substitution -------------------------------------------------------------------------------------------------


def test_a_rule_that_is_not_there() -> None:
    error = refusal(Derivation("Q:If5", {}))
    assert sentence(error) == "the rule set 'sound' has no rule called 'Q:If5'"
    assert (error.rule, error.name) == (None, "Q:If5")


@pytest.mark.parametrize("extra", [{"Q'": pot("0")}, {"": 0}, {"p": "n"}])
def test_a_letter_too_many(extra: dict[str, Any]) -> None:
    error = refusal(Derivation("Q:Skip", {**SKIP.substitution, **extra}))
    assert sentence(error) == "the substitution does not fit the rule"
    assert error.expected == ("P", "Q", "X")
    assert set(error.got) == {"P", "Q", "X", *extra}  # type: ignore[call-overload]


@pytest.mark.parametrize("letter", ["P", "Q", "X"])
def test_a_letter_too_few(letter: str) -> None:
    error = refusal(Derivation("Q:Skip", {k: v for k, v in SKIP.substitution.items() if k != letter}))
    assert sentence(error) == "the substitution does not fit the rule"


VALUES: dict[str, tuple[str, Derivation, tuple[Any, ...]]] = {
    "P": ("assertion", SKIP, (None, [], TRUE := expr("x > 0"), "true", frozenset(), 1)),
    "Q": ("potential", SKIP, (0, Fraction(1), 1.5, None, "0", Var("x"))),
    "X": ("variables", SKIP, (set(), (), ["x"], None, "x")),
    "s": ("statement", WEAK, (None, Var("x"), (), "skip;", [])),
    "e1": ("expression", SUM, (None, "x", Skip(), pot("0"), 1, True)),
    "o": ("expression", GLOBAL, (None, Skip(), 0)),
    "x": ("variable", LEAF, (None, Var("x"), 1, ("x",))),
    "p": ("parameter", cost((), frozenset(), expr("n")), (None, Param("n"), 0)),
    "k": ("literal", cost((), frozenset(), Const(1)), (1, 1.0, True, None, Var("x"), "1")),
    "a": ("axis", cost((), frozenset(), Tid("x")), (None, 0, Tid("x"))),
    "op": ("operator", SUM, (None, 1, ("+",))),
    "G": ("global array", GLOBAL, (None, Array("A", "global", INT, 4))),
    "S": ("shared array", cost((), frozenset(), expr("S[x]")), (None, 3)),
    "C1": ("cost", SUM, (0, 1, 1.0, True, None, "1", const(1))),
    "c": ("cost", WEAK, (0, 0.0, False, "0")),
    "n": ("count", GLOBAL, (Fraction(4), 4.0, True, "4", None)),
}


@pytest.mark.parametrize(("letter", "wrong"), [(k, w) for k, (_, _, ws) in VALUES.items() for w in ws])
def test_a_value_of_the_wrong_kind(letter: str, wrong: Any) -> None:
    what, root, _ = VALUES[letter]
    error = refusal(but(root, **{letter: wrong}))
    assert sentence(error) == f"{letter} has to be of kind '{what}'"
    assert (error.expected, error.path) == (what, ())
    assert error.got is wrong


@pytest.mark.parametrize(
    ("root", "letter", "value", "reason"),
    [
        (SKIP, "P", (expr("x + 1"),), "a conjunct of P is not a truth value"),
        (SKIP, "P", (Var("q"),), "P is ill-typed: no local variable is called 'q'"),
        (SKIP, "P", (Op("<", (Var("x"), expr("b"))),), "P is ill-typed: '<' does not take int and bool"),
        (SKIP, "P", (Op("==", (Var("?i0"), Const(0))),), "P is ill-typed: no local variable is called '?i0'"),
        (SKIP, "X", frozenset({"n"}), "X has to be a set of local variables"),
        (SKIP, "X", frozenset({"x", "q"}), "X has to be a set of local variables"),
        (SKIP, "X", frozenset({1}), "X has to be a set of local variables"),
        (SUM, "e1", Var("q"), "e1 is ill-typed: no local variable is called 'q'"),
        (SUM, "e1", Const(1.5), "e1 is ill-typed: the literal 1.5 is not of type int"),  # type: ignore[arg-type]
        (SUM, "e1", Const(True), "e1 is ill-typed: the literal True is not of type int"),
        (SUM, "e1", Const(1, BOOL), "e1 is ill-typed: the literal 1 is not of type bool"),
        (SUM, "e1", Read("B", Const(0)), "e1 is ill-typed: no array is called 'B'"),
        (SUM, "e1", Op("@", (Const(0), Const(0))), "e1 is ill-typed: '@' does not take int and int"),
        (SUM, "e1", Op("+", ()), "e1 is ill-typed"),
        (SUM, "C1", Fraction(-1), "C1 has to be nonnegative"),
        (WEAK, "c", Fraction(-1, 2), "c has to be nonnegative"),
        (GLOBAL, "n", -1, "n has to be nonnegative"),
        (GLOBAL, "G", "B", "G has to be a global array"),
        (LEAF, "x", "?i0", "x has to be a local variable"),
        (SET, "x", "n", "x has to be a local variable"),
    ],
)
def test_a_value_out_of_range(root: Derivation, letter: str, value: Any, reason: str) -> None:
    error = refusal(but(root, **{letter: value}))
    assert sentence(error).startswith(reason)


RAW = (
    Poly((((), 1.5),)),  # type: ignore[arg-type]
    Poly((((), 2.0**53),)),  # type: ignore[arg-type]
    Poly((((), float("inf")),)),  # type: ignore[arg-type]
    Poly((((), float("nan")),)),  # type: ignore[arg-type]
    Poly((((), True),)),
    Poly((((), Fraction(0)),)),
    Poly((((), Fraction(1)), ((), Fraction(1)))),
    Poly((((Sym(Var("x")),), Fraction(1)), ((), Fraction(1)))),
    Poly((((Max0(const(3)),), Fraction(1)),)),
    Poly((((Max0(sym(Var("x")) * 2),), Fraction(1)),)),
    Poly((((Floor(sym(Var("x")) * 5, 4),), Fraction(1)),)),
    Poly((((Floor(sym(Var("x")), 1),), Fraction(1)),)),
    Poly((((Floor(sym(Var("x")), 0),), Fraction(1)),)),
    Poly((((Floor(sym(Var("x")), -4),), Fraction(1)),)),
    Poly((((Floor(sym(Var("x")), 4.0),), Fraction(1)),)),  # type: ignore[arg-type]
    Poly((((Log2(sym(Var("x")) * Fraction(1, 2)),), Fraction(1)),)),
    Poly((((Sym(Var("y")), Sym(Var("x"))), Fraction(1)),)),
    Poly((((Max0(Poly((((Sym(Var("x")),), 1.0),))),), Fraction(1)),)),  # type: ignore[arg-type]
)


@pytest.mark.parametrize("q", RAW, ids=range(len(RAW)))
def test_a_potential_that_is_not_canonical(q: Poly) -> None:
    error = refusal(skip(Condition((), q, frozenset({"x", "y"}))))
    assert sentence(error) == "Q is not in canonical form"


def test_a_float_that_swallows_a_cost() -> None:
    """2.0**53 + 1 == 2.0**53: with floats, a loop that ticks for ever would keep its potential."""
    huge = Poly((((), 2.0**53),))  # type: ignore[arg-type]
    assert huge + const(1) == huge
    assert sentence(refusal(but(SET, Q=huge), TICK)) == "Q is not in canonical form"


@pytest.mark.parametrize(
    ("p", "clean"),
    [
        ((expr("x > 0 && y > 0"),), facts("x > 0", "y > 0")),
        ((expr("y > 0"), expr("x > 0"), expr("y > 0")), facts("x > 0", "y > 0")),
        ((expr("!(x <= 0)"),), facts("x > 0")),
        ((expr("A[0] == 0"), expr("x > 0")), facts("x > 0")),
        ((expr("true"),), ()),
    ],
)
def test_an_assertion_is_brought_to_canonical_form(p: tuple[Expr, ...], clean: tuple[Expr, ...]) -> None:
    theorem = judged(skip(Condition(p, pot("0"), frozenset())))
    assert isinstance(theorem, Triple)
    assert theorem.pre.p == theorem.post.p == clean


@pytest.mark.parametrize(
    ("q", "x", "reason"),
    [
        (pot("|[x, n]|"), "", "the potential depends on x, which X does not list as uniform"),
        (pot("|[x, n]| + y"), "x", "the potential depends on y, which X does not list as uniform"),
        (sym(Tid("x")), "x", "the potential depends on tid"),
        (max0(sym(Tid("y")) + 1), "", "the potential depends on tid"),
        (sym(Param("q")), "", "the potential depends on 'q', which is not an int"),
        (sym(Param("g")), "", "the potential depends on 'g', which is not an int"),
        (sym(Var("b")), "b", "the potential depends on 'b', which is not an int"),
        (sym(Var("f")), "f", "the potential depends on 'f', which is not an int"),
        (sym(Var("?i")), "", "the potential depends on ?i, which X does not list as uniform"),
        (sym(Param("x")), "x", "the potential depends on 'x', which is not an int"),
    ],
)
def test_a_potential_is_over_uniform_integers(q: Poly, x: str, reason: str) -> None:
    assert sentence(refusal(skip(Condition((), q, frozenset(x.split()))))) == reason


# --- the tree ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "premises"), [(0, ()), (1, (LEAF,)), (3, (LEAF, LEAF, LEAF))])
def test_the_number_of_premises(n: int, premises: tuple[Derivation, ...]) -> None:
    error = refusal(but(SUM, premises))
    assert (sentence(error), error.expected, error.got) == ("the number of premises is wrong", 2, n)


def test_a_premise_of_the_other_sort() -> None:
    assert "is not what its derivation proves" in sentence(refusal(instead(SUM, 0, SKIP)))
    assert "is not what its derivation proves" in sentence(refusal(instead(WEAK, 0, LEAF)))


def test_the_place_of_a_refusal() -> None:
    broken = instead(SUM, 1, Derivation("OQ:Param", {**HERE, "p": "q"}))
    root = Derivation("EQ:Op1", {**HERE, "op": "neg", "e1": expr("x + n"), "C1": Fraction(9)}, (broken,))
    error = refusal(root)
    assert (error.path, error.name) == ((0, 1), "OQ:Param")
    assert error.rule is SOUND.rules["OQ:Param"]
    assert error.substitution["p"] == "q"


def chain(c: Condition, depth: int, bottom: Derivation) -> Derivation:
    root = bottom
    for _ in range(depth):
        root = weak(root, Skip(), (c, c), (c, c))
    return root


def test_depth_is_no_limit() -> None:
    c = at()
    theorem = check(chain(c, DEEP, skip(c)), SOUND, CONTEXT, lambda *_: Proved("faith"), Ledger())
    assert theorem.judgement == Triple(c, Skip(), c)


def test_a_fault_at_the_bottom_has_its_path() -> None:
    error = refusal(chain(at(), DEEP, skip(at("x > 0"))))
    assert (len(error.path), set(error.path)) == (DEEP - 1, {0})
    assert "is not what its derivation proves" in sentence(error)


def test_three_thousand_statements() -> None:
    """A balanced tree of Q:Seq over as many assignments, each charged."""
    n = 3000
    one = Assign("x", Const(1))

    def set_one(after: int) -> Derivation:
        values: dict[str, Value] = {"Q": const(15 * after), "P'": (), "x": "x", "e": Const(1), "C": Fraction(2)}
        return Derivation("Q:VWrite2", {**HERE, **values}, (cost((), frozenset(), Const(1)),))

    nodes = [(i, i + 1, set_one(n - 1 - i)) for i in range(n)]
    while len(nodes) > 1:
        paired = []
        for (a, m, left), (_, b, right) in zip(nodes[::2], nodes[1::2], strict=False):
            points = [at("", str(15 * (n - i))) for i in (a, m, b)]
            values = named("", points[0]) | named("1", points[1]) | named("'", points[2])
            values |= {"s1": seq(*[one] * (m - a)), "s2": seq(*[one] * (b - m))}
            paired.append((a, b, Derivation("Q:Seq", values, (left, right))))
        nodes = paired + nodes[len(paired) * 2 :]
    start = time.process_time()
    theorem = judged(nodes[0][2])
    assert time.process_time() - start < 20
    assert isinstance(theorem, Triple)
    assert (theorem.pre.q, theorem.post.q) == (const(15 * n), const(0))
    assert theorem.stmt == seq(*[one] * n)


def test_terms_that_are_nested_too_deeply_are_refused() -> None:
    e: Expr = Var("x")
    for _ in range(sys.getrecursionlimit() * 3):
        e = Op("neg", (e,))
    error = refusal(but(SET, e=e))
    assert sentence(error) == "the terms are nested too deeply"
    q = sym(Var("x"))
    for i in range(sys.getrecursionlimit() * 3):
        q = Poly((((), Fraction(i + 1)), ((Max0(q),), Fraction(1))))
    assert sentence(refusal(skip(Condition((), q, frozenset("x"))))) == "the terms are nested too deeply"


# --- oracles ----------------------------------------------------------------------------------------------------------


def asks(oracle: Callable[..., Any]) -> Refusal:
    with pytest.raises(Rejected) as caught:
        check(WEAK, SOUND, CONTEXT, oracle, Ledger())
    return caught.value.refusal


@pytest.mark.parametrize(
    "answer",
    [
        Unknown("z3", "time-out"),
        Refuted("z3", {"x": 1}),
        Refuted("z3"),
        None,
        True,
        "proved",
        Proved,
        object(),
        ("Proved", "z3"),
        1,
    ],
)
def test_only_a_proof_is_an_acceptance(answer: object) -> None:
    error = asks(lambda *_: answer)
    assert error.verdict is answer
    tail = "does not hold" if isinstance(answer, Refuted) else "could not be proved"
    assert sentence(error) == f"the side condition P1 |- P2 {tail}"


def test_the_ledger_lists_each_discharged_side_condition_in_order() -> None:
    ledger = Ledger()
    check(WEAK, SOUND, CONTEXT, lambda *_: Proved("faith", "because"), ledger)
    assert [type(d.obligation).__name__ for d in ledger.discharged] == ["Entails", "AtLeast", "Entails", "AtLeast"]
    assert {(d.verdict.engine, d.rule) for d in ledger.discharged} == {("faith", "Q:Weak")}
    assert all(d.seconds >= 0 for d in ledger.discharged)


# --- theorems and claims ----------------------------------------------------------------------------------------------

SKIP_KERNEL = program("skip;")
BARE = skip(at("", "5"))


def theorem(root: Derivation = BARE, rules: RuleSet = SOUND, context: Context = CONTEXT) -> Theorem:
    return check(root, rules, context, ORACLE, Ledger())


def claimed(t: Theorem, kernel: Kernel = SKIP_KERNEL, context: Context = CONTEXT, oracle: Any = ORACLE) -> Claim:
    return claim(kernel, t, context, oracle, Ledger())


def unclaimed(*args: Any, **kwargs: Any) -> Refusal:
    with pytest.raises(Rejected) as caught:
        claimed(*args, **kwargs)
    return caught.value.refusal


def test_a_claim() -> None:
    made = claimed(theorem())
    assert (made.pre, made.kernel, made.unconditional) == (at("", "5"), SKIP_KERNEL, True)
    assert not claimed(theorem(skip(at("x > 0", "5")))).unconditional
    assert not claimed(theorem(skip(at("", "5", "x")))).unconditional


def test_theorems_and_claims_are_not_made_by_others() -> None:
    t = theorem()
    c = claimed(t)
    with pytest.raises(TypeError, match="minted by the kernel only"):
        Theorem(t.judgement, SOUND, CONTEXT, object())
    with pytest.raises(TypeError, match="made by the kernel only"):
        Claim(SKIP_KERNEL, CONTEXT, c.pre, t, c.bound, (), None)
    for thing, change in ((t, {"judgement": None}), (c, {"pre": at("", "0")})):
        with pytest.raises((TypeError, ValueError)):
            dataclasses.replace(thing, **change)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, next(iter(change)), None)
        assert not hasattr(thing, "mint")
    assert copy.deepcopy(c).pre == c.pre


def test_other_rules_than_the_sound_ones_claim_nothing() -> None:
    """The same rules under the same name are not SOUND."""
    twin = RuleSet("sound", dict(SOUND.rules))
    error = unclaimed(theorem(rules=twin))
    assert sentence(error) == "a claim rests on the sound rules only"


def test_a_cost_judgement_claims_nothing() -> None:
    assert sentence(unclaimed(theorem(LEAF))) == "a claim needs a triple about the kernel's body"


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(CONTEXT, metric=METRICS["steps"]),
        dataclasses.replace(CONTEXT, metric=dataclasses.replace(PRICES, fixed={})),
        dataclasses.replace(CONTEXT, scope="block"),
        dataclasses.replace(CONTEXT, launch=Launch((64, 1, 1))),
        dataclasses.replace(CONTEXT, launch=Launch((32, 1, 1), assumptions=facts("n == 0"))),
        dataclasses.replace(CONTEXT, hardware=dataclasses.replace(HARDWARE["nvidia"], sector=64)),
    ],
)
def test_a_theorem_is_claimed_in_its_own_context(other: Context) -> None:
    """A theorem under free prices is none under real ones."""
    assert sentence(unclaimed(theorem(), context=other)) == "the theorem was derived in another context"
    claimed(theorem(context=other), context=other)


def test_a_claim_is_about_its_own_kernel() -> None:
    assert (
        sentence(unclaimed(theorem(), program("sync;")))
        == "the theorem is about another program than the kernel's body"
    )
    wider = dataclasses.replace(SKIP_KERNEL, locals=(*SKIP_KERNEL.locals, Decl("w", INT)))
    assert sentence(unclaimed(theorem(), wider)) == "the derivation is about another signature than the kernel's"
    ill = dataclasses.replace(SKIP_KERNEL, body=Assign("x", Var("b")))
    assert sentence(unclaimed(theorem(), ill)).startswith("the claim is ill-typed: 'x' is int, the value is bool")


@pytest.mark.parametrize(
    "name", ["?i", "?i0", "tid.x", "x@1", "A#1", "blockDim.x", "warpSize", "true", "", "a b", "1x"]
)
def test_a_kernel_cannot_declare_names_that_the_logic_uses(name: str) -> None:
    """A local `?i` would stand for every value, a parameter `tid.x` for the thread's index."""
    for field in ("locals", "params"):
        changes: dict[str, Any] = {field: (*getattr(SKIP_KERNEL, field), Decl(name, INT))}
        kernel = dataclasses.replace(SKIP_KERNEL, **changes)
        assert "is ill-typed" in sentence(unclaimed(theorem(), kernel))


@pytest.mark.parametrize(
    "array",
    [
        Array("Z", "global", INT, 0),
        Array("Z", "global", INT, -4),
        Array("Z", "global", INT, 4, width=-4),
        Array("Z", "global", INT, 4, offset=-4),
        Array("Z", "constant", INT, 4),  # type: ignore[arg-type]
    ],
)
def test_a_kernel_cannot_declare_arrays_that_cost_nothing(array: Array) -> None:
    kernel = dataclasses.replace(SKIP_KERNEL, arrays=(*SKIP_KERNEL.arrays, array))
    assert sentence(unclaimed(theorem(), kernel)) == "the claim is ill-typed: 'Z' is not laid out as an array"


@pytest.mark.parametrize("fact", ["x == 0", "tid.x == 0", "A[0] == 0", "g == g", "n + 1", "q == 0"])
def test_assumptions_are_about_parameters(fact: str) -> None:
    """Assuming `tid.x == 0` would leave one thread of each warp."""
    e = Op("==", (Param("q"), Const(0))) if fact.startswith("q") else expr(fact)
    context = dataclasses.replace(CONTEXT, launch=Launch((32, 1, 1), assumptions=(e,)))
    error = unclaimed(theorem(context=context), context=context)
    assert sentence(error).startswith(("an assumption has to be a fact about parameters", "the claim is ill-typed"))


@pytest.mark.parametrize("launch", [Launch((0, 1, 1)), Launch((32, 1, 1), (1, -1, 1)), Launch((32, 1, 0))])
def test_a_launch_has_threads(launch: Launch) -> None:
    context = dataclasses.replace(CONTEXT, launch=launch)
    assert sentence(unclaimed(theorem(context=context), context=context)) == "the launch is not one"
    odd = dataclasses.replace(CONTEXT, scope="grid")  # type: ignore[arg-type]
    assert sentence(unclaimed(theorem(context=odd), context=odd)) == "the launch is not one"


def test_nothing_may_be_owed_at_the_end() -> None:
    """{true; -5; {}} skip {true; -5; {}} is a theorem, and no bound."""
    owing = theorem(skip(at("", "0 - 5")))
    error = unclaimed(owing)
    assert sentence(error) == "that nothing is owed at the end, Q' >= 0, does not hold"
    assert isinstance(error.verdict, Refuted)
    assert unclaimed(theorem(), oracle=lambda *_: Unknown("none")).verdict == Unknown("none")
    atoms = theorem(skip(at("", "n")))
    assert isinstance(unclaimed(atoms).verdict, Refuted)


# --- sums ------------------------------------------------------------------------------------------------------------

W, B = sym(Param(WARP_INDEX)), sym(Param("blockIdx.x"))


def summed(q: str | Poly, *sums: tuple[str, Poly | str], launch: Launch | None = None, scope: Scope = "warp") -> Claim:
    """The sum of what `skip` is said to cost a warp."""
    context = dataclasses.replace(CONTEXT, launch=launch or CONTEXT.launch, scope=scope)
    pre = Condition((), pot(q) if isinstance(q, str) else q, frozenset())
    t = theorem(skip(pre), context=context)
    given = tuple((name, pot(f) if isinstance(f, str) else f) for name, f in sums)
    return claim(SKIP_KERNEL, t, context, ORACLE, Ledger(), given)


def not_summed(*args: Any, **kwargs: Any) -> Refusal:
    with pytest.raises(Rejected) as caught:
        summed(*args, **kwargs)
    return caught.value.refusal


EIGHT = Launch((256, 1, 1))
GRID = (("blockIdx.x", B * -5 * 8), ("blockIdx.y", "0"), ("blockIdx.z", "0"))


def test_a_block_is_the_sum_of_its_warps() -> None:
    made = summed("5", (WARP_INDEX, W * -5), launch=EIGHT)
    assert (made.per, made.bound) == ("block", const(40))
    partial = summed("5", (WARP_INDEX, W * -5), launch=Launch((33, 1, 1)))
    assert partial.bound == const(10)
    assert (
        str(summed("5", (WARP_INDEX, W * -5), launch=Launch()).bound) == "5*ceil((blockDim.x*blockDim.y*blockDim.z)/32)"
    )


def test_only_the_first_warps_cost() -> None:
    first = max0(const(1) - W) - max0(W * -1)
    made = summed(first * 7, (WARP_INDEX, max0(const(1) - W) * 7), launch=EIGHT)
    assert made.bound == const(7)
    short = not_summed(first * 7, (WARP_INDEX, max0(const(1) - W) * 6), launch=EIGHT)
    assert sentence(short) == "that F covers the sum over warp.index does not hold"


def test_a_grid_is_the_sum_of_its_blocks() -> None:
    each = (WARP_INDEX, W * -5)
    y, z = (sym(Param(f"blockIdx.{axis}")) for axis in "yz")
    sizes = [sym(Param(f"gridDim.{axis}")) for axis in "xyz"]
    sums = (
        each,
        ("blockIdx.x", B * -40),
        ("blockIdx.y", y * sizes[0] * -40),
        ("blockIdx.z", z * sizes[0] * sizes[1] * -40),
    )
    made = summed("5", *sums, launch=EIGHT)
    assert (made.per, made.bound) == ("grid", sizes[0] * sizes[1] * sizes[2] * 40)
    fixed = summed(
        "5",
        each,
        ("blockIdx.x", B * -40),
        ("blockIdx.y", y * -120),
        ("blockIdx.z", z * -120),
        launch=Launch((256, 1, 1), (3, 1, 1)),
    )
    assert fixed.bound == const(120)


def test_sums_that_are_none() -> None:
    each = (WARP_INDEX, W * -5)
    assert "does not hold" in sentence(not_summed("5", (WARP_INDEX, W * -4), launch=EIGHT))
    assert "costs are summed over the warps" in sentence(not_summed("5", ("blockIdx.x", B * -5), launch=EIGHT))
    assert "costs are summed over the warps" in sentence(not_summed("5", each, ("blockIdx.x", B * -40), launch=EIGHT))
    assert "costs are summed over the warps" in sentence(not_summed("5", each, launch=EIGHT, scope="block"))
    assert "depends on x" in sentence(not_summed("5", (WARP_INDEX, "x"), launch=EIGHT))
    raw = dataclasses.replace(const(1), terms=(((), Fraction(0)),))
    assert "canonical form" in sentence(not_summed("5", (WARP_INDEX, raw), launch=EIGHT))


def test_a_sum_is_over_all_blocks_not_those_assumed() -> None:
    """One block in a hundred costs something, and an assumption picks another."""
    y, z = (sym(Param(f"blockIdx.{axis}")) for axis in "yz")
    sums = ((WARP_INDEX, W * -5), ("blockIdx.x", B * -40), ("blockIdx.y", y * -40), ("blockIdx.z", z * -40))
    assumed = Launch((256, 1, 1), (1, 1, 1), (expr("blockIdx.x == 0"),))
    assert (
        sentence(not_summed("5", *sums, launch=assumed))
        == "an assumption about blockIdx.x leaves out what the sum is over"
    )
    assert summed("5", sums[0], launch=assumed).bound == const(40)


def test_only_what_every_warp_costs_is_summed() -> None:
    context = dataclasses.replace(CONTEXT, launch=EIGHT)
    for pre in (at("x > 0", "5"), at("", "5", "x")):
        with pytest.raises(Rejected, match=r"^summand$"):
            claim(SKIP_KERNEL, theorem(skip(pre), context=context), context, ORACLE, Ledger(), ((WARP_INDEX, W * -5),))


def test_no_program_and_no_assumption_is_about_the_warp() -> None:
    here = dataclasses.replace(
        CONTEXT, launch=Launch((256, 1, 1), (None,) * 3, (Op("==", (Param(WARP_INDEX), Const(0))),))
    )
    assert "an assumption has to be a fact about parameters" in sentence(unclaimed(theorem(context=here), context=here))
    reader = dataclasses.replace(SKIP_KERNEL, body=Assign("x", Param(WARP_INDEX)))
    with pytest.raises(TypeProblem, match=r"no parameter is called 'warp\.index'"):
        check_kernel(reader)


def test_what_is_nested_too_deeply_in_a_sum_is_refused() -> None:
    f = sym(Param(WARP_INDEX))
    for i in range(400):
        f = Poly((((), Fraction(i + 1)), ((Max0(f),), Fraction(1))))
    with pytest.raises(Rejected, match=r"^depth$"):
        summed("1", (WARP_INDEX, f))


def test_what_nodes_share_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate's table has each assertion once, however many nodes mention it, and each fact, however many
    assertions have it."""
    path = Path("proofs/addSub0/divwarps.json")
    made, asked = read(path.read_text(encoding="ascii"), str(path)), Counter[tuple[str, int]]()
    checked, no_fresh = trusted._checked, trusted._no_fresh

    def counted(letter: str, value: Value, context: Context, known: trusted.Known) -> Value:
        asked[kind(letter), id(value)] += 1
        return checked(letter, value, context, known)

    def fresh(e: Expr, letter: str) -> None:
        asked[kind(letter), id(e)] += 1
        no_fresh(e, letter)

    monkeypatch.setattr(trusted, "_checked", counted)
    monkeypatch.setattr(trusted, "_no_fresh", fresh)
    trusted.check(made.derivation, SOUND, made.context, Oracles(), Ledger())
    assert {n for (what, _), n in asked.items() if what == "assertion"} == {1}


def test_what_is_kept_of_a_value_is_kept_with_it() -> None:
    """Identity tells values apart only while they live."""
    known: trusted.Known = {}
    for i in range(9):
        (made,) = cast(P, trusted._once("P", (Op("<", (Var("x"), Const(i))),), CONTEXT, known))
        assert made == Op("<", (Var("x"), Const(i)))
    assert [id(value) for value, _ in known.values()] == [identity for _, identity in known]
