"""The second checker accepts what the kernel certified, and nothing that was changed so that it is no proof."""

from __future__ import annotations

import ast
import copy
import json
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from checker import kernel as trusted
from checker import recheck
from checker.certificates import document as certificate
from checker.certificates.evidence import proof
from checker.oracles import Oracles
from checker.recheck import Arithmetic, Bad, Lanes, Program
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic import operators, potentials, schema
from logic.assertions import Context, Launch, Uniform
from logic.assertions import assume as assumed
from logic.barriers import unproved_barriers
from logic.derivation import Derivation
from logic.metrics import HARDWARE, METRICS
from logic.refusals import Rejected
from logic.rules import SOUND
from logic.syntax import (
    FLOAT,
    INT,
    Array,
    Assign,
    Const,
    Decl,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    seq,
)
from logic.typing import check_kernel
from tests.checker.synthesis.bounded import bounds, of_body
from tests.examples import examples
from tests.mutants.certificates import mutant
from tests.mutants.quick import Quick

ROOT: Final = Path(__file__).resolve().parents[2]

Json = Any

# --- certificates -----------------------------------------------------------------------------------------------------


def op(name: str, *args: Expr) -> Expr:
    return Op(name, args)


LANE, J, A, F, N, T, ZERO, ONE = Var("i"), Var("j"), Var("a"), Var("f"), Param("n"), Tid("x"), Const(0), Const(1)
STEP: Final = Assign("j", op("+", J, ONE))

PROGRAMS: Final[dict[str, Stmt]] = {
    "straight": seq(
        Assign("i", T),
        Assign("a", N),
        Write("S", LANE, ZERO),
        Sync(),
        If(op("<", LANE, Const(16)), Write("G", LANE, op("+", Read("S", LANE), ONE)), Skip()),
        If(op(">", N, ZERO), Assign("a", op("neg", A)), Skip()),
        If(op(">=", T, ZERO), Skip(), Sync()),
        If(op("<", T, ZERO), Sync(), Skip()),
        Assign("a", op("?:", op(">", N, ZERO), ONE, N)),
    ),
    "loop": seq(Assign("j", ZERO), While(op("<", J, N), seq(Assign("a", Read("G", J)), STEP))),
    "divergent": seq(Assign("j", ZERO), While(op("&&", op("<", J, N), op("<", J, T)), STEP)),
    "opaque": seq(
        Assign("i", Read("G", T)),
        If(
            op(">", Read("H", LANE), Const("0.5f", FLOAT)),
            Write("H", op("?:", op(">=", op("*", Var("i"), Var("i")), ZERO), ZERO, Var("i")), F),
            Sync(),
        ),
    ),
    "small": If(op("==", op("%", T, Const(2)), ZERO), Write("G", T, N), Skip()),
}


def kernel(body: Stmt) -> Kernel:
    arrays = Array("G", "global", INT, 4), Array("H", "global", FLOAT, 4), Array("S", "shared", INT, 4)
    locals_ = Decl("i", INT), Decl("j", INT), Decl("a", INT), Decl("f", FLOAT)
    return Kernel("k", (Decl("n", INT),), arrays, locals_, body)


@cache
def written(name: str, scope: Any = "warp", block: Any = (32, 1, 1)) -> dict[str, str]:
    """The certificates of a program, by metric."""
    k = kernel(PROGRAMS[name])
    context = Context(check_kernel(k), METRICS["steps"], HARDWARE["nvidia"], Launch(block), scope)
    found = find_bounds(Outline(k, context, bare(k.body)), tuple(METRICS.values()), Oracles(), backed=True)
    return {r.metric.name: certificate.canonical(r.second.document) for r in found if r.second is not None}


def document(name: str, metric: str = "steps", **more: Any) -> dict[str, Json]:
    return json.loads(written(name, **more)[metric])  # type: ignore[no-any-return]


def signed(doc: dict[str, Json]) -> dict[str, Json]:
    """The document with the digest that its content has."""
    return doc | {"digest": certificate.digest(doc)}


def verdict(doc: dict[str, Json]) -> tuple[str, str]:
    report = recheck.recheck(signed(doc))
    return report.verdict, report.problem


@pytest.mark.parametrize("scope", ["warp", "block"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_the_kernel_certified_is_valid(name: str, metric: str, scope: str) -> None:
    doc = document(name, metric, scope=scope)
    report = recheck.recheck(doc)
    rests_on = ["derivation[16] Q:GWrite: true |- MemReads(H[i * i >= 0 ? 0 : i]) <= 1"]
    if name != "opaque" or "gwrite" not in METRICS[metric].counted:
        rests_on = []
    assert (report.verdict, report.problem) == ("solver-backed" if rests_on else "valid", "")
    assert [text.partition(" (unv")[0] for text in report.solver_backed] == rests_on
    assert report.digest == doc["digest"]
    assert report.claim.removeprefix("not verified: ").startswith(
        "every warp of k costs at most " if scope == "warp" else "the span of a block of k is at most "
    )


def test_a_symbolic_block_needs_no_solver() -> None:
    assert verdict(document("divergent", block=(None, 1, 1)))[0] == "valid"


def test_the_claim_names_what_it_is_conditional_on() -> None:
    doc = document("opaque")
    assert doc["admitted"] == [0]
    assert recheck.recheck(doc).claim.endswith("all threads of a block reach the barriers #0 together")
    reason = "the claim: a barrier that a part of the block may reach alone is not admitted"
    assert verdict(doc | {"admitted": []}) == ("invalid", reason)
    for admitted in ([0, 1], [-1], [True], ["0"]):
        assert re.search("(a barrier|admitted.0) is missing or out of place", verdict(doc | {"admitted": admitted})[1])


LOOP: Final = While(op("<", J, N), seq(Sync(), STEP))


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        (Sync(), set()),
        (If(op("<", T, ONE), Sync(), Sync()), {0, 1}),
        (If(op("<", N, ONE), Sync(), Sync()), set()),
        (If(op("<", Read("G", N), ONE), Sync(), Skip()), {0}),
        (If(op("<", J, ONE), Sync(), Skip()), {0}),
        (seq(Sync(), Assign("j", N), If(op("<", J, ONE), Sync(), Skip())), set()),
        (seq(Sync(), Assign("j", T), If(op("<", J, ONE), Sync(), Skip())), {1}),
        (seq(Assign("j", ZERO), LOOP), set()),
        (LOOP, {0}),
        (seq(Assign("j", ZERO), While(op("<", J, N), seq(Sync(), STEP, Assign("j", op("+", J, T)))), Sync()), {0}),
        (seq(Assign("j", ZERO), If(op("<", T, ONE), STEP, Skip()), LOOP), {0}),
        (seq(Assign("j", ZERO), If(op("<", N, ONE), STEP, Skip()), LOOP), set()),
        (seq(Assign("j", ZERO), While(op("<", T, J), STEP), LOOP), {0}),
        (If(op("<", T, ONE), seq(Assign("j", ZERO), LOOP), Sync()), {0, 1}),
    ],
)
def test_barriers_that_a_part_of_the_block_may_reach_alone(body: Stmt, apart: set[int]) -> None:
    assert barriers(body) == apart == {*unproved_barriers(body, frozenset())}


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        (If(op("<", Read("G", N), ONE), Sync(), Skip()), set()),
        (If(op("<", Read("G", Read("G", T)), ONE), Sync(), Skip()), {0}),
        (If(op("<", Read("G", Read("K", N)), ONE), Sync(), Skip()), {0}),
        (If(op("<", Read("G", J), ONE), Sync(), Skip()), {0}),
        (seq(Assign("j", Read("G", N)), LOOP), set()),
        (seq(Assign("j", Read("G", T)), LOOP), {0}),
        (seq(Assign("j", Read("K", N)), LOOP), {0}),
    ],
)
def test_stable_arrays_hold_the_same_for_all_threads(body: Stmt, apart: set[int]) -> None:
    """G is stable, K is not."""
    assert barriers(body, "G") == apart == {*unproved_barriers(body, frozenset("G"))}


def barriers(body: Stmt, *stable: str) -> set[int]:
    """The barriers that a part of the block may reach alone, to the second checker."""
    doc = document("loop")
    own = kernel(body)
    writer = certificate._Writer()
    root = writer.statement(own.body)
    arrays = [*doc["kernel"]["arrays"], ["K", *doc["kernel"]["arrays"][0][1:]]]
    doc |= {"statements": writer.statements.rows, "expressions": writer.expressions.rows}
    doc |= {"assertions": [], "potentials": [], "derivation": [], "evidence": []}
    doc |= {"kernel": doc["kernel"] | {"arrays": arrays}}
    checker = recheck.Checker(recheck.frozen(doc))
    checker.stable.update(stable)
    found: set[int] = set()
    checker.meet(checker.letter_value("s", root), frozenset(), True, 0, found)
    return found


# --- every rule -------------------------------------------------------------------------------------------------------


def add(doc: dict[str, Json], table: str, row: Json) -> int:
    doc[table].append(row)
    return len(doc[table]) - 1


def put(letter: str, value: Json) -> Callable[[dict[str, Json], dict[str, Json]], None]:
    return lambda _, node: node["with"].__setitem__(letter, value)


def grown(letter: str, name: str) -> Callable[[dict[str, Json], dict[str, Json]], None]:
    """A name more in a set."""
    return lambda _, node: put(letter, sorted({*node["with"][letter], name}))(_, node)


def charged(letter: str, row: Json) -> Callable[[dict[str, Json], dict[str, Json]], None]:
    return lambda doc, node: put(letter, add(doc, "potentials", row))(doc, node)


def renamed(name: str) -> Callable[[dict[str, Json], dict[str, Json]], None]:
    return lambda _, node: node.__setitem__("rule", name)


def swapped(a: str, b: str) -> Callable[[dict[str, Json], dict[str, Json]], None]:
    def change(_: dict[str, Json], node: dict[str, Json]) -> None:
        node["with"][a], node["with"][b] = node["with"][b], node["with"][a]

    return change


def priced(constant: str) -> Callable[[dict[str, Json], dict[str, Json]], None]:
    """Another price, in a metric of another name."""

    def change(doc: dict[str, Json], _: dict[str, Json]) -> None:
        doc["metric"] |= {"name": "own", "fixed": doc["metric"]["fixed"] | {constant: "2"}}

    return change


COSTS, TRIPLE = "a premise (cost) is not what the rule needs", "a premise (triple) is not what the rule needs"
TOO_WIDE = "should not be in X"
OPERANDS = "does not take these operands"
J_IN_Q: Final = [["1", [["var", "j"]]]]

WRONG: Final = [
    ("OQ:Var", "straight", put("x", "n"), "x is missing or out of place"),
    ("OQ:Var", "straight", put("x", "i"), None),
    ("OQ:Const", "loop", lambda doc, n: put("k", add(doc, "expressions", ["var", "j"]))(doc, n), "to be a literal"),
    ("OQ:Param", "loop", put("p", "j"), "p is missing or out of place"),
    ("OQ:Param", "loop", priced("param"), COSTS),
    ("OQ:Tid", "straight", put("a", "w"), "a is missing or out of place"),
    ("EQ:Op1", "straight", put("op", "!"), OPERANDS),
    ("EQ:Op1", "straight", put("C1", "-1"), "C1 is missing or out of place"),
    ("EQ:Op", "loop", put("C1", "7"), COSTS),
    ("EQ:Op", "loop", swapped("e1", "e2"), COSTS),
    ("EQ:Op3", "straight", put("op", "+"), OPERANDS),
    ("EQ:GArray", "loop", put("G", "S"), "G is missing or out of place"),
    ("EQ:GArray", "loop", put("n", 7), COSTS),
    ("EQ:SArray", "straight", put("n", -1), "n is missing or out of place"),
    ("EQ:SArray", "straight", put("S", "G"), "S is missing or out of place"),
    ("Q:Skip", "straight", charged("Q", [["7", []]]), TRIPLE),
    ("Q:Sync", "straight", priced("sync"), TRIPLE),
    ("Q:Seq", "loop", grown("X1", "i"), TRIPLE),
    ("Q:Seq", "loop", swapped("s1", "s2"), TRIPLE),
    ("Q:If1", "straight", swapped("s1", "s2"), TRIPLE),
    ("Q:If2", "straight", renamed("Q:If3"), TRIPLE),
    ("Q:If3", "straight", renamed("Q:If2"), TRIPLE),
    ("Q:If4", "straight", grown("X'", "j"), TRIPLE),
    ("Q:If4", "straight", renamed("Q:If1"), "with.P'' is missing or out of place"),
    ("Q:While1", "loop", charged("Q", J_IN_Q), "the sum is"),
    ("Q:While2", "divergent", grown("X'", "j"), TOO_WIDE),
    ("Q:While2", "divergent", charged("Q'", J_IN_Q), "the sum is"),
    ("Q:VWrite1", "loop", charged("Q'", [["1", [["var", "a"]]]]), "the sum is"),
    ("Q:VWrite1", "loop", put("x", "f"), "the value for 'f' has another type"),
    ("Q:VWrite2", "straight", charged("Q", [["1", [["var", "i"]]]]), TOO_WIDE),
    ("Q:GWrite", "straight", put("G", "S"), "G is missing or out of place"),
    ("Q:GWrite", "straight", put("C1", "0"), COSTS),
    ("Q:SWrite", "straight", put("C2", "0"), COSTS),
    ("Q:Weak", "loop", put("c", "-1"), "c is missing or out of place"),
    ("Q:Weak", "loop", grown("X1'", "i"), TOO_WIDE),
    ("Q:Weak", "loop", charged("Q2", [["9", []]]), TRIPLE),
]


@pytest.mark.parametrize("case", range(len(WRONG)), ids=lambda i: f"{WRONG[i][0]}-{i}")
def test_a_rule_applied_wrongly_is_rejected(case: int) -> None:
    rule, name, change, reason = WRONG[case]
    doc = document(name)
    node = next(node for node in doc["derivation"] if node["rule"] == rule)
    if reason is None:
        change(doc, node)
        assert verdict(doc)[0] == "valid"
        return
    change(doc, node)
    found, problem = verdict(doc)
    assert found == "invalid"
    assert reason in problem


def test_every_rule_is_used_and_misused() -> None:
    used = {node["rule"] for name in PROGRAMS for node in document(name)["derivation"]}
    assert used | set(EXTENSIONS) == set(recheck.RULES) == set(SOUND.rules)
    assert {rule for rule, *_ in WRONG} == used


def test_the_metavariables_are_those_of_the_rules_text() -> None:
    assert {name: set(recheck.metavariables(name)) for name in recheck.RULES} == {
        name: set(rule.metavariables) for name, rule in SOUND.rules.items()
    }


def test_the_rules_are_written_as_the_kernel_has_them() -> None:
    def written(text: str) -> Any:
        """EQ:Op has its operator between two operands in the paper, and before one."""
        found = re.sub(r"op\((e1)\)", r"op \1", re.sub(r"op\((e1), (e2)\)", r"\1 op \2", text))
        return schema.parse_item(found)

    for name, rule in SOUND.rules.items():
        *asked, conclusion = (written(text) for text in recheck.RULES[name])
        assert (tuple(asked), conclusion) == (rule.items, rule.conclusion), name


class Recorder(recheck.Checker):
    """Takes every premise for proved and writes down what a rule asks for, in the notation of the rule's text."""

    def __init__(self) -> None:
        doc = document("loop") | {"derivation": [], "evidence": []}
        doc["metric"] = {"name": "m", "fixed": {"if": "1/3", "div": "1/5"}, "counted": {}}
        super().__init__(recheck.frozen(doc))
        self.asked: list[str] = []
        self.names: dict[Any, str] = {0: "0"}

    def applied(self, rule: str, values: dict[str, Any]) -> Any:
        """What a rule asks for, and its conclusion last."""
        return [self.meaning(text, values) for text in recheck.RULES[rule]]

    def entails(self, p: Any, goals: Any) -> None:
        self.asked.append(f"{self.names[p]} |- {self.names[goals]}")

    def at_least(self, p: Any, x: Any, q: Any, r: Any) -> None:
        given = f"{self.names[p]}; {self.names[x]}" if x else self.names[p]
        self.asked.append(f"{given} |- {self.names[q]} >= {self.names[r]}")

    def uniform(self, p: Any, x: Any, e: Any) -> None:
        self.asked.append(f"{self.names[p]}; {self.names[x]} |- {self.names[e]} unif")

    def uniform_all(self, p: Any, x: Any, more: Any) -> None:
        self.uniform(p, x, more)

    def accesses(self, p: Any, x: Any, name: str, index: Any, n: int) -> None:
        what = "MemReads" if self.arrays[name].space == "global" else "Conflicts"
        access = f"{what}({self.names[name]}[{self.names[index]}]) <= {self.names[n]}"
        self.asked.append(f"{self.names[p]}; {self.names[x]} |- {access}")

    def within(self, small: Any, large: Any) -> None:
        pass


TESTS_OF: Final = ("Q:If", "Q:While", "Q:Unroll", "Q:CaseSplit", "Q:Assume")
SETS: Final = {"X": "i", "X'": "i j", "X''": "i a", "X1": "j", "X1'": "a", "X2": "f", "X2'": "f i"}


def test_a_ghost_asks_for_nothing_that_needs_a_proof() -> None:
    assert {t.head for t in SOUND.rules["Q:Ghost"].side_conditions} == {"erased", "ghost"}


@pytest.mark.parametrize("rule", [rule for rule in recheck.RULES if rule != "Q:Ghost"])
def test_each_rule_asks_for_the_side_conditions_of_its_text(rule: str) -> None:
    k = Recorder()
    kept = sorted(recheck.metavariables(rule))
    values: dict[str, Any] = {}
    for i, letter in enumerate(kept):
        values[letter] = {
            "P": frozenset({e((">", "i", i))}),
            "Q": recheck.plus(i, poly("i")),
            "F": recheck.plus(i, poly("i")),
            "X": frozenset(SETS.get(letter, "").split()),
            "e": e(("<", "a" if letter == "e1" else "j", i)) if rule.startswith(TESTS_OF) else e(("+", "j", i)),
            "o": e(("+", "a", i)),
            "k": e(1),
            "s": k.statement("set", "i", e(i)),
            "c": Fraction(i, 7),
            "C": Fraction(i, 7),
            "n": i + 40,
        }.get(letter[0], {"x": "i", "p": "n", "a": "x", "op": "+", "G": "G", "S": "S"}.get(letter))
    if "op" in values:
        values |= {"op": {1: "neg", 3: "?:"}.get(len({"e1", "e2", "e3"} & set(kept)), "+")}
        values |= {"e1": e(True)} if values["op"] == "?:" else {}
    k.names |= {v: letter for letter, v in values.items() if letter not in ("s", "op", "x", "p", "a", "c", "C")}
    if "e" in kept and "C" in kept and rule.startswith(TESTS_OF):
        p, q, x = values["P"], values["Q"], values["e"]
        paid = recheck.plus(q, k.price("if"), values["C"])
        k.names |= {k.given(p, x): "P & e", k.given(p, ("op", "!", x)): "P & !e", paid: "Q + M.if + C"}
        k.names |= {k.known(x): "e", k.known(("op", "!", x)): "!e"}
        k.names[recheck.plus(paid, k.price("div"))] = "Q + M.if + C + M.div"
        for name in {"e1"} & set(kept):
            case, inside = values[name], k.given(p, x)
            k.names |= {k.given(p, case): "P & e1", k.given(inside, case): "P & e & e1"}
            k.names |= {k.given(inside, ("op", "!", case)): "P & e & !e1"}
            k.names[recheck.plus(values["Q1"], k.price("div"))] = "Q1 + M.div"
    if "P'" in kept and "x" in kept and "e" in kept:
        k.names[k.assigned(values["P'"], "i", values["e"])] = "P'[x <- e]"
        k.names[k.updated(values.get("Q'", 0), "i", values["e"])] = "Q'[x <- e]"
        k.names[0] = "0"
    if rule == "Q:Frame":
        values["s"] = k.statement("set", "a", e(0))
    k.applied(rule, values)
    wanted = [t for t in SOUND.rules[rule].side_conditions if t.head not in ("subset", "nonnegative")]
    assert k.asked == [schema.show(t) for t in wanted]


@pytest.mark.parametrize(
    ("x_", "x__", "fits"),
    [
        ("a", "a", True),
        ("a b", "a", False),
        ("a i", "a", False),
        ("a", "a j", False),
        ("a", "b", False),
        ("", "", True),
    ],
)
def test_if4_keeps_what_no_branch_writes(x_: str, x__: str, fits: bool) -> None:
    """X = {a, i, j}, X1 = {a, b, i, j}, s1 writes i; X2 = {a, b, j}, s2 writes j."""
    k = Recorder()
    k.within = lambda small, large: recheck.Checker.within(k, small, large)  # type: ignore[method-assign]
    sets = {"X": "a i j", "X1": "a b i j", "X2": "a b j", "X'": x_, "X''": x__}
    letters = recheck.metavariables("Q:If4")
    values: dict[str, Any] = dict.fromkeys(letters, frozenset()) | {"e": e(("<", "i", "n")), "C": Fraction(0)}
    values |= {letter: 0 for letter in values if letter[0] == "Q"}
    values |= {letter: frozenset(names.split()) for letter, names in sets.items()}
    values |= {"s1": k.statement("set", "i", e(0)), "s2": k.statement("set", "j", e(0))}
    k.names = dict.fromkeys([0, *values.values(), k.known(("op", "!", values["e"]))], "")
    if fits:
        k.applied("Q:If4", values)
    else:
        with pytest.raises(Bad, match=TOO_WIDE):
            k.applied("Q:If4", values)


def test_a_price_by_count_is_never_negative() -> None:
    made = program(counted={"sread": ["1", "-1"]})
    assert [made.price("sread", n) for n in (0, 1, 3)] == [0, 0, 2]


# --- the extension rules: certificates made by hand, through the kernel ----------------------------------------------

HERE: Final[dict[str, Any]] = {"P": (), "X": frozenset()}
EXTENSIONS: Final = ("Q:Frame", "Q:Unroll", "Q:WhileCase", "Q:CaseSplit", "Q:Ghost", "Q:Assume")


def by_hand(body: Stmt, root: Derivation) -> dict[str, Json]:
    """The certificate of what a derivation proves, by the kernel's word."""
    k = kernel(body)
    context = Context(check_kernel(k), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1)), "warp")
    ledger, oracle = trusted.Ledger(), Oracles()
    claim = trusted.claim(k, trusted.check(root, SOUND, context, oracle, ledger), context, oracle, ledger)
    return certificate.write(claim, root, ledger, proof, {})


def triple(p: Any, q: Any, post: Any) -> dict[str, Any]:
    return {"P": p, "Q": q, "X": frozenset(), "P'": post, "Q'": q, "X'": frozenset()}


def framed() -> dict[str, Json]:
    """{true; 0 + max(0, n); {}} skip, with max(0, n) left at the end."""
    skip = Derivation("Q:Skip", {**HERE, "Q": potentials.ZERO})
    more = potentials.max0(potentials.sym(N))
    root = Derivation("Q:Frame", {**triple((), potentials.ZERO, ()), "s": Skip(), "F": more}, (skip,))
    return by_hand(Skip(), root)


def unrolled() -> dict[str, Json]:
    """while (1 < 0) sync, as if (1 < 0) ... else skip: what is known of the test is that it is false."""
    less, cost = op("<", ONE, ZERO), Fraction(3)
    literals = [Derivation("OQ:Const", {**HERE, "k": k}) for k in (ONE, ZERO)]
    one = Fraction(1)
    tested = Derivation("EQ:Op", {**HERE, "op": "<", "e1": ONE, "C1": one, "e2": ZERO, "C2": one}, tuple(literals))
    skip, loop = Derivation("Q:Skip", {**HERE, "Q": potentials.ZERO}), While(less, Sync())
    conditions = {**triple((), potentials.ZERO, ()), "e": less, "C": cost}
    taken = Derivation("Q:If3", {**conditions, "s1": seq(Sync(), loop), "s2": Skip()}, (tested, skip))
    after = {**triple((), potentials.const(4), ()), "Q'": potentials.ZERO, "e": less, "s": Sync()}
    return by_hand(loop, Derivation("Q:Unroll", after, (taken,)))


def split() -> dict[str, Json]:
    """skip, where n > 0 and where it is not."""
    e_, sigma, cases = op(">", N, ZERO), check_kernel(kernel(Skip())), []
    for holds in (True, False):
        here = assumed((), e_, sigma, holds)
        skip = Derivation("Q:Skip", {"P": here, "Q": potentials.ZERO, "X": frozenset()})
        weaker = {
            f"{a}{i}{b}": v
            for i in (1, 2)
            for b in ("", "'")
            for a, v in triple(here, potentials.ZERO, here).items()
            if "'" not in a
        }
        cases.append(Derivation("Q:Weak", {**weaker, "P1'": (), "s": Skip(), "c": Fraction(0)}, (skip,)))
    root = Derivation("Q:CaseSplit", {**triple((), potentials.ZERO, ()), "e": e_, "s": Skip()}, tuple(cases))
    return by_hand(Skip(), root)


def stray(letter: str, table: str, row: Json) -> Callable[[dict[str, Json]], None]:
    """Another value for a letter of the root."""
    return lambda doc: doc["derivation"][-1]["with"].__setitem__(letter, add(doc, table, row))


def spread(doc: dict[str, Json]) -> None:
    """CaseSplit on tid.x > 0, with premises that prove as much."""
    for table in ("expressions", "evidence"):
        doc[table] = json.loads(json.dumps(doc[table]).replace('["param", "n"]', '["tid", "x"]'))


WRONG_EXTENSIONS: Final = [
    (framed, stray("F", "potentials", [["1", [["var", "j"]]]]), "j should not be in X"),
    (framed, stray("F", "potentials", [["-1", []]]), "the sum is"),
    (framed, stray("Q", "potentials", [["1", []]]), TRIPLE),
    (framed, lambda doc: doc["derivation"][-1]["with"].__setitem__("X'", ["j"]), TRIPLE),
    (unrolled, stray("s", "statements", ["skip"]), TRIPLE),
    (unrolled, stray("Q", "potentials", []), TRIPLE),
    (unrolled, stray("e", "expressions", ["const", ["bool", "bool", 1], True]), TRIPLE),
    (unrolled, stray("e", "expressions", ["param", "n"]), "a condition is not a truth value"),
    (split, stray("s", "statements", ["sync"]), TRIPLE),
    (split, stray("e", "expressions", ["op", ">", ["param", "n"], ["const", ["int", "int", 4], 1]]), TRIPLE),
    (split, stray("e", "expressions", ["param", "n"]), "a case is not a truth value"),
    (split, lambda doc: doc["derivation"][-1].__setitem__("from", doc["derivation"][-1]["from"][::-1]), TRIPLE),
]


@pytest.mark.parametrize("made", [framed, unrolled, split])
def test_extension_rules_certify(made: Callable[[], dict[str, Json]]) -> None:
    assert recheck.recheck(made()).problem == ""
    assert recheck.recheck(made()).verdict == "valid"


@pytest.mark.parametrize("case", range(len(WRONG_EXTENSIONS)))
def test_an_extension_rule_applied_wrongly_is_rejected(case: int) -> None:
    made, change, reason = WRONG_EXTENSIONS[case]
    doc = made()
    change(doc)
    found, problem = verdict(doc)
    assert (found, reason in problem) == ("invalid", True), problem


# --- ghosts and sums -------------------------------------------------------------------------------------------------

STRIDED: Final = seq(
    Assign("i", T), While(op("<", LANE, N), seq(Write("G", LANE, ZERO), Assign("i", op("+", LANE, Const(64)))))
)
GUARDED: Final = If(op("<", op("+", op("*", Param("blockIdx.x"), Const(64)), T), N), Write("G", T, ZERO), Skip())


@cache
def found(body: Stmt, per: Any, *assumptions: Expr, metric: str = "sectors") -> str:
    k, metric_ = kernel(body), METRICS[metric]
    context = Context(check_kernel(k), metric_, HARDWARE["nvidia"], Launch((64, 1, 1), (None,) * 3, assumptions))
    (result,) = find_bounds(Outline(k, context, bare(k.body)), (metric_,), Oracles(), per=per)
    assert result.second is not None
    return certificate.canonical(result.second.document)


def haunted() -> dict[str, Json]:
    return json.loads(found(STRIDED, "warp"))  # type: ignore[no-any-return]


def summed(per: str = "grid") -> dict[str, Json]:
    return json.loads(found(GUARDED, per))  # type: ignore[no-any-return]


def ghost_of(doc: dict[str, Json]) -> tuple[int, dict[str, Json]]:
    (at,) = [i for i, node in enumerate(doc["derivation"]) if node["rule"] == "Q:Ghost"]
    return at, doc["derivation"][at]["with"]


def cased() -> tuple[dict[str, Json], dict[str, Json]]:
    """At most one divergence, however often the loop turns; and the letters of its rule."""
    doc = json.loads(found(STRIDED, "warp", metric="divwarps"))
    (node,) = [node for node in doc["derivation"] if node["rule"] == "Q:WhileCase"]
    return doc, node["with"]


def test_a_loop_that_splits_a_warp_once() -> None:
    report = recheck.recheck(cased()[0])
    assert (report.verdict, report.problem) == ("valid", "")
    assert "at most min(1, max(0, n)) divwarps;" in report.claim


@pytest.mark.parametrize(
    ("letter", "table", "row", "said"),
    [
        ("e1", "expressions", ["param", "n"], "a case is not a truth value"),
        ("e1", "expressions", ["const", ["bool", "bool", 1], True], "is no fact here"),
        ("e1", "expressions", ["const", ["bool", "bool", 1], False], "is no fact here"),
        ("Q1", "potentials", [], "Q >= Q'"),
        ("Q'", "potentials", [["2", []]], "Q >= Q'"),
    ],
)
def test_a_case_applied_wrongly(letter: str, table: str, row: Json, said: str) -> None:
    doc, letters = cased()
    letters[letter] = add(doc, table, row)
    found, problem = verdict(doc)
    assert (found, said in problem) == ("invalid", True), problem


def test_a_case_that_lanes_disagree_on_rests_on_a_solver() -> None:
    """The same comparison of i itself in place of its uniform part: what it excludes is as good for the proofs, and
    where it holds all lanes go on; but it does not hold at all or none."""
    doc, letters = cased()
    sigma_free = json.loads(json.dumps(doc["expressions"][letters["e1"]]).replace("ghost:i", "i"))
    letters["e1"] = add(doc, "expressions", sigma_free)
    for entry in doc["evidence"]:
        entry["proof"] = None
    report = recheck.recheck(signed(doc))
    assert report.verdict == "solver-backed", report.problem
    uniform = [text for text in report.solver_backed if text.split(" (unv")[0].endswith(" unif")]
    assert ["> 0 unif" in text for text in uniform].count(True) == 1


@pytest.mark.whole
def test_a_ghost_and_a_sum_are_valid() -> None:
    assert haunted()["ghosts"] == ["ghost:i"]
    assert verdict(haunted()) == ("valid", "")
    for per, said in (
        ("block", "the warps of a block of k together cost"),
        ("grid", "all warps of a grid of k together cost"),
    ):
        report = recheck.recheck(summed(per))
        assert (report.verdict, report.problem) == ("valid", "")
        assert f"{said} at most" in report.claim


def not_a_ghost(doc: dict[str, Json]) -> None:
    doc["ghosts"] = []


def of_the_program(doc: dict[str, Json]) -> None:
    ghost_of(doc)[1]["x"] = "i"


def other_program(doc: dict[str, Json]) -> None:
    ghost_of(doc)[1]["s"] = add(doc, "statements", ["skip"])


def mentioned(doc: dict[str, Json]) -> None:
    fact = add(doc, "expressions", ["op", ">=", ["var", "ghost:i"], ["const", ["int", "int", 4], 0]])
    ghost_of(doc)[1]["P"] = add(doc, "assertions", [fact])


def in_a_potential(doc: dict[str, Json]) -> None:
    ghost_of(doc)[1]["Q"] = add(doc, "potentials", [["1", [["var", "ghost:i"]]]])


def ghostly_kernel(doc: dict[str, Json]) -> None:
    at, values = ghost_of(doc)
    doc["kernel"]["body"] = values["s1"]
    doc["derivation"] = doc["derivation"][:at]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (not_a_ghost, "no var is called 'ghost:i'"),
        (of_the_program, "'i' is no ghost"),
        (other_program, "is not what is left without 'ghost:i'"),
        (mentioned, "a condition mentions 'ghost:i'"),
        (in_a_potential, "a condition mentions 'ghost:i'"),
        (ghostly_kernel, "the program writes to a ghost"),
    ],
)
def test_a_ghost_is_only_a_ghost(change: Callable[[dict[str, Json]], None], reason: str) -> None:
    doc = haunted()
    change(doc)
    assert verdict(doc)[0] == "invalid"
    assert reason in verdict(doc)[1]


def test_what_is_left_without_a_ghost() -> None:
    k = Recorder()
    ghost = ("var", "ghost:i")
    k.leaves[ghost] = recheck.INT
    s, t = k.statement("set", "ghost:i", e(0)), k.statement("set", "i", e(0))
    assert k.without(s, ghost) is k.statement("skip")
    assert k.without(k.both(s, t), ghost) is t
    assert k.without(k.both(k.both(s, t), s), ghost) is t
    loop = k.statement("while", e(("<", "i", 0)), k.both(t, s))
    assert k.without(loop, ghost) is k.statement("while", e(("<", "i", 0)), t)
    for use in (
        k.statement("set", "i", ghost),
        k.statement("write", "G", ghost, e(0)),
        k.statement("write", "G", e(0), ("op", "+", ghost, e(0))),
        k.statement("while", ("op", "<", ghost, e(0)), t),
        k.statement("if", e(("<", "i", 0)), t, k.statement("set", "i", ("read", "G", ghost))),
    ):
        with pytest.raises(Bad, match="the program uses 'ghost:i'"):
            k.without(use, ghost)


def test_the_program_knows_nothing_of_its_warp() -> None:
    doc = document("loop")
    doc["expressions"] = json.loads(json.dumps(doc["expressions"]).replace('["param", "n"]', '["param", "warp.index"]'))
    assert verdict(doc)[0] == "invalid"
    k = Recorder()
    with pytest.raises(Bad, match=r"the program uses 'warp\.index'"):
        k.without(k.statement("set", "i", recheck.WARP), recheck.WARP)


WRONG_SUMS: Final[list[tuple[Callable[[dict[str, Json]], object], str]]] = [
    (lambda doc: doc["sums"].pop(), "certificate.sums is missing or out of place"),
    (lambda doc: doc["sums"].reverse(), "certificate.sums is missing or out of place"),
    (lambda doc: doc.update(scope="block"), ""),
    (lambda doc: doc["sums"][0].__setitem__(1, add(doc, "potentials", [])), "Q >= Q'"),
    (lambda doc: doc["sums"][1].__setitem__(1, add(doc, "potentials", [])), "Q >= Q'"),
    (
        lambda doc: doc["sums"][2].__setitem__(1, add(doc, "potentials", [["1", [["var", "i"]]]])),
        "depends on variables",
    ),
    (lambda doc: doc["evidence"].pop(), "there is too little evidence"),
]


@pytest.mark.parametrize("case", range(len(WRONG_SUMS)))
def test_a_sum_is_what_its_potentials_show(case: int) -> None:
    change, reason = WRONG_SUMS[case]
    doc = summed()
    change(doc)
    found_, problem = verdict(doc)
    assert (found_, reason in problem) == ("invalid", True), problem


@pytest.mark.whole
def test_a_sum_leaves_no_block_out() -> None:
    first = op("==", Param("blockIdx.x"), ZERO)
    doc = json.loads(found(GUARDED, "block", first))
    assert verdict(doc)[0] == "valid"
    for index in ("blockIdx.x", "blockIdx.y", "blockIdx.z"):
        doc["sums"].append([index, add(doc, "potentials", [])])
    assert "an assumption about blockIdx.x leaves out what the sum is over" in verdict(doc)[1]
    doc = document("loop")
    doc["launch"]["assumptions"] = [["op", "==", ["param", "warp.index"], ["const", ["int", "int", 4], 0]]]
    assert "an assumption is about more than parameters" in verdict(doc)[1]


def test_cases_are_told_apart_by_all_threads_alike() -> None:
    doc = split()
    spread(doc)
    found = [text.partition(" (unv")[0] for text in recheck.recheck(signed(doc)).solver_backed]
    assert found == [f"derivation[{len(doc['derivation']) - 1}] Q:CaseSplit: true |- tid.x > 0 unif"]


def test_a_frame_is_left_alone_by_the_statement() -> None:
    """{true; 0; {}} j <- 0 {true; 0; {j}}, framed by a potential over j that the assignment changes."""
    k = Recorder()
    k.within = lambda small, large: recheck.Checker.within(k, small, large)  # type: ignore[method-assign]
    x, s = frozenset({"j", "i"}), k.statement("set", "j", e(0))
    p: frozenset[Any] = frozenset()
    k.names = {p: "P", 0: "0", poly("i"): "F", poly("j"): "F"}
    values = {"P": p, "Q": 0, "X": x, "s": s, "P'": p, "Q'": 0, "X'": x, "F": poly("i")}
    assert k.applied("Q:Frame", values)[-1][6:] == (poly("i"), x)
    with pytest.raises(Bad, match="j should not be in X"):
        k.applied("Q:Frame", values | {"F": poly("j")})


# --- documents that are no proof --------------------------------------------------------------------------------------


def changed(name: str, path: tuple[Any, ...], value: Json) -> dict[str, Json]:
    doc = document(name)
    place: Json = doc
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return doc


FLOATING: Final = ["const", ["base", "float", 4], "1.0f"]


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("rules",), "paper", "certificate.rules"),
        (("scope",), "grid", "certificate.scope"),
        (("version",), True, "certificate.version"),
        (("extra",), 1, "certificate.extra"),
        (("kernel", "locals", 0, 0), "?i", "certificate.kernel.locals.0.0"),
        (("kernel", "locals", 0, 0), "tid.x", "'tid.x' is declared twice"),
        (("kernel", "locals", 0, 0), "n", "'n' is declared twice"),
        (("kernel", "arrays", 0, 3), 0, "certificate.kernel.arrays.0.3"),
        (("kernel", "arrays", 0, 3), 1 << 70, "certificate.kernel.arrays.0.3"),
        (("kernel", "params", 0, 1), ["base", "float", 4], "does not take"),
        (("kernel", "body"), -1, "certificate.kernel.body"),
        (("kernel", "body"), True, "certificate.kernel.body"),
        (("kernel", "body"), 10**6, "s is missing"),
        (("metric", "counted", "gread"), ["-1", "99"], "metric.counted.gread.0"),
        (("metric", "fixed", "var"), "-1", "metric.fixed.var"),
        (("metric", "fixed", "fun"), "1", "metric.fixed.fun"),
        (
            ("hardware",),
            {"name": "own", "sector": 32, "word": 4, "alignment": 40, "banks": 32, "warp": 32},
            "bases are not aligned",
        ),
        (("launch", "block", 0), 0, "certificate.launch.block.0"),
        (("launch", "assumptions"), [["op", "<", ["tid", "x"], ["const", ["int", "int", 4], 3]]], "more than param"),
        (("launch", "assumptions"), [["param", "n"]], "an assumption is not a truth value"),
        (("potentials", 0), [["0", []]], "a monomial occurs twice in a potential, or 0 times"),
        (("potentials", 0), [["2/4", []]], "in lowest terms"),
        (("potentials", 0), [["1", []], ["1", []]], "a monomial occurs twice"),
        (("potentials", 0), [["1", [["tid", "x"]]]], "a potential depends on tid.x"),
        (("potentials", 0), [["1", [["var", "f"]]]], "not an int"),
        (("potentials", 0), [["1", [["var", "?i"]]]], "a potential depends on ?i"),
        (("potentials", 0), [["1", [["max0", [["2", [["param", "n"]]]]]]]], "max0 is not in canonical form"),
        (("potentials", 0), [["1", [["floor", [["3", [["param", "n"]]]], 2]]]], "floor is not in canonical form"),
        (("potentials", 0), [["1", [["floor", [["1", []]], 2]]]], "floor is not in canonical form"),
        (("potentials", 0), [["1", [["log2", [["1/2", [["param", "n"]]]]]]]], "log2"),
        (("expressions", 0), ["var", "nobody"], "no var is called 'nobody'"),
        (("expressions", 0), ["const", ["int", "int", 4], True], "a literal is missing"),
        (("expressions", 0), ["const", ["base", "float", 4], "1.\x1b[2J"], "a literal is missing"),
        (("expressions", 0), ["const", ["base", "float", 4], ""], "a literal is missing"),
        (("expressions", 0), ["read", "G", ["const", ["bool", "bool", 1], True]], "an index is not an int"),
        (("kernel", "name"), "k: every warp costs at most 0 (sectors, scope warp, nvidia) ", "certificate.kernel.name"),
        (("kernel", "name"), "k: every warp costs at most 0 (sectors, scope warp, nvidia)", "certificate.kernel.name"),
        (("kernel", "name"), "k<3>; assumed: k", "certificate.kernel.name"),
        (("kernel", "name"), "k costs at most 0 steps, as every warp of l", "certificate.kernel.name"),
        (("kernel", "name"), "k<a> costs at most 0 steps, as every warp of l<b>", "certificate.kernel.name"),
        (("kernel", "name"), "\u03ba", "certificate.kernel.name"),
        (("kernel", "params", 0, 0), "\u03bd", "certificate.kernel.params.0.0"),
        (("kernel", "params", 0, 0), "n\n", "certificate.kernel.params.0.0"),
        (("kernel", "params", 0, 1), ["base", "fl\u03bfat", 4], "certificate.kernel.params.0.1"),
        (("metric", "name"), "steps, scope block", "certificate.metric.name"),
        (("metric", "name"), "st\u0435ps", "certificate.metric.name"),
        (("metric", "name"), "steps of time", "certificate.metric.name"),
        (("hardware", "name"), "nvidia ", "certificate.hardware.name"),
        (("hardware", "name"), "nvid\u0456a", "certificate.hardware.name"),
        (("expressions", 0), ["var", "\ud800"], r"no var is called '\ud800'"),
        (("tools\ud800",), {}, r"certificate.tools\ud800"),
        (("derivation",), [], "the claim: a judgement is proved and not used, or there is none about a statement"),
        (("derivation", 0, "from"), [0], "a premise is not proved before"),
        (("derivation", 0, "rule"), "Q:Conjure", "there is no such rule"),
        (("expressions", 0), ["op", "call:f: x", FLOATING], "the operator 'call:f: x' does not take these operands"),
        (("expressions", 0), ["op", "call:\r\x1b[2K", FLOATING], r"the operator 'call:\r\x1b[2K' does not take"),
        (("expressions", 0), ["op", "as:\n", FLOATING], r"the operator 'as:\n' does not take these operands"),
        (("launch", "assumptions"), [["op", "<", FLOATING, FLOATING]], "an assumption is about more than parameters"),
        (("launch", "assumptions"), [["bool", "b"]], "an expression is not well formed"),
        (("evidence",), [], "there is too little evidence"),
        (("admitted",), 3, "certificate.admitted"),
        (("admitted",), [0], "a barrier is missing"),
    ],
)
def test_what_is_out_of_place_is_rejected(path: tuple[Any, ...], value: Json, reason: str) -> None:
    found, problem = verdict(changed("loop", path, value))
    assert found == "invalid"
    assert reason in problem


def test_a_wrong_digest_is_rejected() -> None:
    assert recheck.recheck(document("loop") | {"tools": {"z3": "1"}}).problem == "the digest is not that of the content"


def test_premises_are_used_exactly_once() -> None:
    doc = document("loop")
    node = next(node for node in doc["derivation"] if len(node["from"]) == 2)
    node["from"][1] = node["from"][0]
    assert "or is used twice" in verdict(doc)[1]
    doc = document("loop")
    doc["derivation"].insert(0, copy.deepcopy(doc["derivation"][0]))
    for node in doc["derivation"]:
        node["from"] = [i + 1 for i in node["from"]]
    assert verdict(doc)[1] == "the claim: a judgement is proved and not used, or there is none about a statement"


def test_more_evidence_than_side_conditions_is_rejected() -> None:
    doc = document("loop")
    doc["evidence"].append({"engine": "z3", "proof": None})
    assert verdict(doc)[1] == "the claim: there is more evidence than side conditions"


def test_the_root_is_about_the_whole_body() -> None:
    doc = document("loop")
    doc["kernel"]["body"] = add(doc, "statements", ["skip"])
    assert verdict(doc)[1] == "the claim: the root is about another program than the kernel's body"


def test_the_precondition_is_true_of_every_store() -> None:
    """skip under {false; 0; {}}: a bound that holds nowhere."""
    doc = changed("loop", ("statements",), [["skip"]])
    doc["kernel"]["body"] = 0
    doc["expressions"] = [["const", ["bool", "bool", 1], False]]
    doc["potentials"], doc["assertions"] = [[]], [[], [0]]
    skip: Json = {"rule": "Q:Skip", "with": {"P": 0, "Q": 0, "X": []}, "from": [], "at": None}
    doc |= {"derivation": [skip], "evidence": [{"engine": "z3", "proof": None}]}
    assert verdict(doc)[0] == "valid"
    skip["with"] = {"P": 1, "Q": 0, "X": []}
    assert verdict(doc)[1] == "the claim: the precondition is not {true; Q; {}}"
    skip["with"] = {"P": 0, "Q": 0, "X": ["i"]}
    assert verdict(doc)[1] == "the claim: the precondition is not {true; Q; {}}"
    skip["with"] = {"P": 0, "Q": add(doc, "potentials", J_IN_Q), "X": []}
    assert "a potential depends on variables that X lacks" in verdict(doc)[1]
    skip["with"] = {"P": 0, "Q": add(doc, "potentials", [["-1", []]]), "X": []}
    assert recheck.recheck(signed(doc)).solver_backed == ["the claim: true |- -1 >= 0 (unverified)"]


# --- tampering --------------------------------------------------------------------------------------------------------


def scalars(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from scalars(part, (*path, key))
    elif value is not None:
        yield path, value


ALIKE: Final = (
    ["i", "j"],
    ["n", "blockDim.x"],
    ["G", "S", "H"],
    ["int", "bool", "base"],
    ["tid", "var", "param"],
    ["x", "y"],
    ["global", "shared"],
    list(recheck.RULES),
    ["<", "<=", ">", ">=", "==", "!=", "+", "-", "%"],
    ["+", "-"],
    ["by", "if"],
)


def instead(value: Json) -> Iterator[Json]:
    """Other values for a scalar."""
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value - 1)
        case str() if value.lstrip("-").replace("/", "").isdigit():
            yield from (str(Fraction(value) + 1), str(-Fraction(value)), str(Fraction(value) / 2))
        case str():
            yield f"{value}x"
            for group in (g for g in ALIKE if value in g):
                first = group.index(value) + 1
                yield from [*group[first:], *group[:first]][:4]


INFORMATIVE: Final = {
    "kernel.name": "a name that only messages show",
    "metric.name": "a name that only messages show",
    "hardware.name": "a name that only messages show",
    "derivation.at": "the place in the source",
    "evidence.engine": "whose word was not needed",
    "kernel.arrays.length": "no rule looks at lengths",
}


def where(path: tuple[Any, ...]) -> str:
    if path[:2] == ("kernel", "arrays") and path[3] == 6:
        return "kernel.arrays.length"
    return ".".join(p for p in path if isinstance(p, str))


def survivors(name: str, block: Any, metric: str) -> list[tuple[tuple[Any, ...], dict[str, Json]]]:
    """The changed documents that stay valid although something is changed that is not informative only."""
    found = []
    doc = document(name, metric, block=block)
    checkers = Quick(doc)
    for path, value in list(scalars({k: v for k, v in doc.items() if k != "digest"})):
        for other in instead(value):
            if other == value:
                continue
            changed = mutant(doc, path, other)
            if checkers.judged(changed).verdict == "valid" and where(path) not in INFORMATIVE:
                found.append((path, changed))
    return found


def accepted_by_the_kernel(doc: dict[str, Json]) -> bool:
    try:
        cert = certificate.read(certificate.canonical(signed(doc)), "mutant")
        ledger, oracle = trusted.Ledger(), Oracles()
        theorem = trusted.check(cert.derivation, SOUND, cert.context, oracle, ledger)
        trusted.claim(cert.kernel, theorem, cert.context, oracle, ledger)
    except (certificate.BadCertificate, Rejected):
        return False
    return True


@pytest.mark.parametrize(("name", "block", "metric"), [("small", (8, 1, 1), "sectors"), ("loop", (2, 1, 1), "steps")])
def test_a_changed_certificate_stays_valid_only_if_it_still_is_a_proof(name: str, block: Any, metric: str) -> None:
    """Each scalar changed, one at a time. What stays valid proves, by the kernel's word, what it now claims."""
    stay = survivors(name, block, metric)
    for path, changed in stay:
        assert accepted_by_the_kernel(changed), path
    # In common they have their derivation and its evidence. What may change is what these do not depend on:
    assert {where(path) for path, _ in stay} <= {
        "assertions",  # a conjunct that nothing after it needs
        "expressions",  # in a conjunct, too, that the threads of the block show as well
        "kernel.arrays",  # an array that the program does not touch, or a layout under which no more is counted
        "kernel.locals",  # a variable that the program does not use
        "hardware.banks",  # no shared array is touched
        "hardware.warp",  # the block is one warp still
        "launch.block",  # the same counts hold in a block of this shape
        *(f"metric.counted.{c}" for c in ("gread", "gwrite", "sread", "swrite")),  # prices of what does not occur
        *(f"metric.fixed.{c}" for c in ("div", "sync")),
    }
    assert verdict(document(name, metric, block=block))[0] == "valid"


JUNK: Final[st.SearchStrategy[Json]] = st.sampled_from(
    [None, True, -1, 0, 10**30, 1 << 300, "", "x", "?i0", "1/0", [], {}, [[]], [["op"]], {"split": []}, 0.5, "9" * 5000]
)


@examples(50, 5000)
@given(st.sampled_from(["loop", "divergent", "opaque"]), st.data())
def test_junk_ends_in_a_report(name: str, data: st.DataObject) -> None:
    doc = document(name)
    for _ in range(data.draw(st.integers(1, 2))):
        place: Json = doc
        while True:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            key = data.draw(st.sampled_from(keys))
            inner = place[key]
            if not isinstance(inner, dict | list) or not inner or data.draw(st.integers(0, 3)) == 0:
                break
            place = inner
        place[key] = copy.deepcopy(data.draw(JUNK))
    with suppress(ValueError, TypeError):
        doc = signed(doc)
    assert recheck.recheck(doc).verdict in ("valid", "solver-backed", "invalid")


def nested(depth: int) -> Json:
    value: Json = ["var", "i"]
    for _ in range(depth):
        value = ["op", "neg", value]
    return value


@pytest.mark.parametrize("junk", [None, 3, "x", [], {}, {"digest": 1}, {3: 4}, float("nan"), {"format": {1, 2}}])
def test_what_is_no_certificate_is_invalid(junk: object) -> None:
    assert recheck.recheck(junk).verdict == "invalid"


def test_depth_and_size_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = changed("loop", ("expressions", 0), nested(100_000))
    reason = "the certificate is malformed or too large: maximum recursion depth exceeded"
    assert recheck.recheck(deep).problem.startswith(reason)
    product = ["1", [["max0", [["1", [["param", "n"]]], ["1", []]]]] * 65]
    assert "too many factors" in verdict(changed("loop", ("potentials", 0), [product]))[1]
    test: Json = ["op", "==", ["var", "i"], ["var", "j"]]
    for _ in range(40):
        test = (
            ["op", "?:", test, test, test]
            if len(json.dumps(test)) < 100
            else ["op", "?:", test, ["op", "!", BOOL], BOOL]
        )
    doc = changed("loop", ("expressions", 0), test)
    doc["assertions"][0] = [0]
    monkeypatch.setattr(recheck, "MAX_WORK", 500_000)
    assert verdict(doc) == ("invalid", "too much work: this is not decided")


BOOL: Final = ["const", ["bool", "bool", 1], True]

# --- potentials and conditions ----------------------------------------------------------------------------------------


def program(**more: Any) -> Program:
    """A program about locals i, j, a (int), f (float) and b (bool); `more` are parts of the document."""
    int_, float_ = ["int", "int", 4], ["base", "float", 4]
    header: dict[str, Json] = {
        "kernel": {
            "params": [["n", int_], ["m", int_]],
            "locals": [["i", int_], ["j", int_], ["a", int_], ["f", float_], ["b", ["bool", "bool", 1]]],
            "arrays": [["G", "global", int_, 4, 0, 4, None], ["S", "shared", int_, 4, 0, 4, None]],
        },
        "metric": {"name": "own", "fixed": {}, "counted": more.get("counted", {})},
        "hardware": {"name": "own"}
        | more.get("hardware", {"sector": 32, "word": 4, "alignment": 256, "banks": 32, "warp": 32}),
        "launch": {
            "block": more.get("block", [32, 1, 1]),
            "grid": [None, None, None],
            "assumptions": [],
            "contracts": more.get("contracts", []),
        },
        "statements": more.get("statements", []),
        "scope": more.get("scope", "warp"),
        "ghosts": more.get("ghosts", []),
    }
    return Program(recheck.frozen(header))


def e(text: Json) -> Any:
    """An expression from a short notation: names are locals, n and m parameters, t is tid.x, tuples operators."""
    if isinstance(text, bool | int):
        return ("const", recheck.BOOL if isinstance(text, bool) else recheck.INT, text)
    if isinstance(text, str):
        return (
            ("tid", {"t": "x", "ty": "y", "tz": "z"}[text])
            if text in ("t", "ty", "tz")
            else ("param" if text in ("n", "m") or "." in text else "var", text)
        )
    return ("op", text[0], *(e(part) for part in text[1:]))


def row(expression: Any) -> Json:
    return json.loads(json.dumps(expression))


def poly(expression: Any) -> recheck.Potential:
    return program().worth(e(expression))


def test_values_at_lanes_are_shown_whatever_their_operators() -> None:
    """In the words of a refusal, say."""
    i, n = poly("i"), poly("n")
    for op, said in (("<", "i - n < 0"), ("==", "i - n == 0"), ("/", "trunc((i - n)/(0))"), ("?", "?(i - n, 0)")):
        assert recheck.show(recheck.single("op", op, i - n, 0)) == said
    for atom in (("bits", "^", i, 3), ("unknown", 1), ("row", "x"), ("tid", "x", 3), ("as it is", ("var", "i"))):
        assert recheck.show(recheck.single(*atom) * 2)


def test_a_bound_is_written_with_ceil() -> None:
    """Where what is rounded down has a minus sign before it, alone; by the value of what is written."""
    n = poly("i")
    down = recheck.floor_of(n * -1 + 5, 32)
    assert recheck.show(down * -3 + 1) == "1 + 3*ceil((i - 5)/32)"
    assert recheck.show(recheck.floor_of(n, 4) * -1 + n * 7) == "6*i + ceil((3*i)/4)"
    meant = {down * -3 + 1: "1 - 3*r", down * -1 + n: "i - r", down * 2: "2*r", down * down * -1: "-r*r", down: "r"}
    for p, told in meant.items():
        for value in range(-70, 70):
            names: dict[str, Any] = {"i": Fraction(value), "r": math.floor(Fraction(5 - value, 32))}
            names |= {"ceil": math.ceil, "floor": math.floor}
            assert eval(recheck.show(p), dict(names)) == eval(told, dict(names))  # noqa: S307  # our own text


def test_a_variable_is_replaced_once() -> None:
    """floor(x/2) with x <- 2x is x, and not 2x for having found x again."""
    q = recheck.floor_of(poly("i"), 2)
    assert program().updated(q, "i", e(("*", 2, "i"))) == poly("i")
    assert program().updated(q, "i", ("read", "G", e("i"))) == recheck.floor_of(recheck.single("var", "?i0"), 2)
    assert program().updated(q, "i", e(("~", "i"))) == recheck.floor_of(recheck.single("var", "?i"), 2)
    assert program().updated(poly("i"), "i", e(("abs", "i"))) == recheck.max0(poly("i")) + recheck.max0(poly("i") * -1)
    assert program().updated(q, "i", e(("/", "i", "j"))) == recheck.floor_of(
        recheck.operated("/", poly("i"), poly("j")), 2
    )


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (("!", ("<", "i", "j")), [(">=", "i", "j")]),
        (("!", ("||", ("<", "i", "j"), "b")), [(">=", "i", "j"), ("!", "b")]),
        (("&&", "b", ("<", "i", "j")), ["b", ("<", "i", "j")]),
        (("bool", "i"), [("!=", "i", 0)]),
        (("?:", "b", ("<", "i", "j"), False), ["b", ("<", "i", "j")]),
        (("||", "b", ("<", "f", "f")), []),
        (("!", ("<", "f", "f")), []),
        (("&&", "b", ("!", True)), [False]),
        (("!", ("&&", "b", ("==", "f", "f"))), []),
    ],
)
def test_conjunctions_are_canonical(fact: Any, expected: list[Any]) -> None:
    assert program().conj([e(fact)]) == frozenset(map(e, expected))


def test_abstraction_counts_from_left_to_right() -> None:
    read = ("read", "G", e("i"))
    whole = ("op", "+", read, ("op", "*", e("j"), ("op", "int", ("op", "<", e("f"), e("f")))))
    assert program().abstract(whole) == e(("+", "?i0", ("*", "j", ("int", "?b1"))))


# --- arithmetic proofs ------------------------------------------------------------------------------------------------

FACT: Final = row(e(("<", "i", "n")))
MAX_N: Final = [["max0", [["1", [["param", "n"]]]]]]
N_ROWS: Final = [["1", [["param", "n"]]]]
DOWN: Final = {"sum": [["1", [["fact", row(e((">=", "i", 2))), "-"]]]]}


def arithmetic(*facts: Any) -> Arithmetic:
    made = program()
    return Arithmetic(made, made.launch | frozenset(map(e, facts)))


def proves(goal: recheck.Potential, given: Json) -> str:
    facts = [("<", "i", "n"), (">=", "i", 2), ("!=", "i", "j"), ("==", "a", 5), ("==", "m", 1), ("==", "m", 2)]
    try:
        arithmetic(*facts).prove(goal, recheck.frozen(given), "goal")
    except Bad as problem:
        return str(problem)
    return ""


def puts(*facts: Any) -> Json:
    """0 where these are put, one after the other."""
    found: Json = {"sum": []}
    for fact in reversed(facts):
        found = {"put": row(e(fact)), "then": found}
    return found


SUM: Final = ("==", "j", ("+", ("*", 4, "n"), ("*", "m", "blockDim.x")))
SIZE: Final = ("==", "blockDim.x", 32)


@pytest.mark.parametrize(
    ("put", "value", "reason"),
    [
        ([SUM], SUM[2], ""),
        ([SUM, SIZE], ("+", ("*", 4, "n"), ("*", "m", 32)), ""),
        ([SIZE, SUM], ("+", ("*", 4, "n"), ("*", "m", 32)), "the sum is 0"),  # SUM brings blockDim.x after it is put
        ([SUM], ("+", ("*", 4, "n"), ("*", "m", 32)), "the sum is 0"),
        ([], SUM[2], "the sum is 0"),
        ([("==", "j", "a")], "a", ""),
        ([("==", "j", "a"), ("==", "a", 5)], 5, ""),
        ([("==", "j", ("/", "n", 2))], ("/", "n", 2), ""),
        ([("==", "t", "n"), ("==", "j", "t")], "n", "the sum is 0"),
        ([("==", "j", "t"), ("==", "t", "n")], "n", ""),
        ([("==", "j", ("+", "j", 0))], "j", ""),
        ([("==", "j", ("+", "n", 1))], "n", "is no fact here"),
        ([("<=", "j", "n")], "n", "tells no value"),
        ([("!=", "j", "n")], "n", "tells no value"),
        ([("==", ("*", 2, "j"), "n")], "n", "tells no value"),
        ([("==", "j", ("~", "n"))], "n", "tells no value"),
        ([("==", "b", True)], "n", "tells no value"),
        (["b"], "n", "tells no value"),
    ],
)
def test_values_that_facts_tell(put: list[Any], value: Any, reason: str) -> None:
    """j - value >= 0 without a word where that is 0 = 0, at every depth."""
    facts: list[Any] = [SUM, "b", ("==", "j", "a"), ("==", "a", 5), ("==", "j", ("/", "n", 2)), ("==", "t", "n")]
    facts += [
        ("==", "j", "t"),
        ("==", "j", ("+", "j", 0)),
        ("<=", "j", "n"),
        ("!=", "j", "n"),
        ("==", "j", ("~", "n")),
    ]
    facts += [("==", ("*", 2, "j"), "n"), ("==", "j", ("^", "n", 1)), ("==", "b", True)]
    for wrapped in (lambda p: p, recheck.max0, lambda p: recheck.floor_of(p, 3)):
        goal = wrapped(poly("j")) - wrapped(poly(value))
        with pytest.raises(Bad, match=reason) if reason else nullcontext():
            arithmetic(*facts).prove(goal, recheck.frozen(puts(*put)), "goal")


@examples(30, 2000)
@given(st.permutations(["i", "j", "n"]), st.lists(st.integers(-3, 3), min_size=3, max_size=3))
def test_what_is_put_is_so_at_every_store(names: list[str], cs: list[int]) -> None:
    """x == c*y + d*z + k is put in max(0, x + y): as much at stores that keep it, whatever is called how."""
    x, y, z = names
    fact = ("==", x, ("+", ("+", ("*", cs[0], y), ("*", cs[1], z)), cs[2]))
    made = arithmetic(fact)
    goal = poly(("max", 0, ("+", x, y))) - poly(("max", 0, ("+", fact[2], y)))
    made.prove(goal, recheck.frozen(puts(fact)), "goal")
    for n, m in product(range(-3, 4), repeat=2):
        store = {y: n, z: m, x: cs[0] * n + cs[1] * m + cs[2]}
        assert recheck.replaced(goal, {e(name): value for name, value in store.items()}) == 0


MAX0_N: Final = recheck.max0(poly("n"))
FLOOR: Final = recheck.floor_of(poly("n"), 4)
POSITIVE: Final = [["1", [f]] for f in (["fact", FACT, "+"], DOWN["sum"][0][1][0], ["case", 0])] + [["3", []]]
"""n - 1 >= i >= 2, so that n is not -1 or less: the case and these come to -1."""
BOTH: Final = [["1", [["fact", row(e(("==", "m", k))), sign]]] for k, sign in ((1, "+"), (2, "-"))]
"""m is 1 and 2: there is no such state."""
CASE: Final = ["1", [["case", 0]]]
MINUS_N: Final = [["-1", [["param", "n"]]]]
APART: Final = ["apart", row(e(("!=", "i", "j"))), 0]
I_LESS_J: Final = [["1", [["var", "i"]]], ["-1", [["var", "j"]]]]
J_LESS_I: Final = [["1", [["var", "j"]]], ["-1", [["var", "i"]]]]


APART_GOAL: Final = recheck.max0(poly(("-", "i", "j"))) + recheck.max0(poly(("-", "j", "i"))) - 1


def apart(by: Json = APART, p: Json = I_LESS_J) -> Json:
    """|i - j| is at least 1: by what tells i and j apart where i is not below j, and by the case where it is."""
    return {"split": p, "yes": {"sum": [["1", [by]]]}, "no": {"sum": [["1", [["case", 0]]]]}}


GOOD_SPLIT: Final = {"split": N_ROWS, "yes": {"sum": [CASE]}, "no": {"sum": []}}


@pytest.mark.parametrize(
    ("goal", "given"),
    [
        (poly(("-", "n", 3)), {"sum": [["1", [["fact", FACT, "+"]]], ["1", [["fact", DOWN["sum"][0][1][0][1], "-"]]]]}),
        (MAX0_N, {"sum": [["1", [["max0", N_ROWS]]]]}),
        (MAX0_N - poly("n"), {"sum": [["1", [["above", N_ROWS]]]]}),
        (poly("n") - FLOOR * 4, {"sum": [["1", [["low", N_ROWS, 4]]]]}),
        (
            FLOOR * 4 + poly(("-", 3, "n")),
            {"sum": [["1", [["high", N_ROWS, 4]]]]},
        ),
        (MAX0_N, GOOD_SPLIT),
        (APART_GOAL, apart()),
        (APART_GOAL, {"split": J_LESS_I, "yes": apart()["yes"], "no": apart()["no"]}),
        (poly(("-", ("*", "a", "a"), 25)), puts(("==", "a", 5))),
        (MAX0_N - poly("n"), {"split": N_ROWS, "yes": {"sum": []}, "no": {"sum": POSITIVE}}),
        (MAX0_N - poly("n"), {"split": MINUS_N, "yes": {"sum": [CASE]}, "no": {"sum": []}}),
        (recheck.max0(poly("n") * -1), {"split": N_ROWS, "yes": {"sum": []}, "no": {"sum": [CASE, ["1", []]]}}),
        (poly(("*", "n", -3)), {"sum": BOTH}),
        (
            poly(("*", ("-", "i", 2), ("-", ("-", "n", "i"), 1))),
            {"sum": [["1", [["fact", FACT, "+"], ["fact", row(e((">=", "i", 2))), "-"]]]]},
        ),
    ],
)
def test_arithmetic_proofs(goal: recheck.Potential, given: Json) -> None:
    assert proves(goal, given) == ""


@pytest.mark.parametrize(
    ("goal", "given", "reason"),
    [
        (poly(("-", "i", 2)), {"sum": [["-1", [["fact", FACT, "+"]]]]}, "a sum.0.0 is missing"),
        (poly(("-", "i", 3)), DOWN, "the sum is"),
        (poly(("-", "i", 2)), {"sum": [["2", DOWN["sum"][0][1]]]}, "the sum is"),
        (poly(("*", "n", -3)), {"sum": [["2", factors] for _, factors in BOTH]}, "the sum is"),
        (poly(("*", "n", -3)), {"sum": BOTH[:1]}, "the sum is"),
        (poly(("-", 2, "i")), {"sum": [["1", [["fact", row(e((">=", "i", 2))), "+"]]]]}, "does not give '+'"),
        (poly(("-", "i", "j")), {"sum": [["1", [["fact", row(e((">=", "i", "j"))), "-"]]]]}, "is no fact here"),
        (poly(("-", "i", "j")), {"sum": [["1", [["fact", row(e(("!=", "i", "j"))), "-"]]]]}, "does not give '-'"),
        (APART_GOAL, apart(["apart", row(e(("!=", "i", "n"))), 0]), "is no fact here"),
        (APART_GOAL, apart(["apart", FACT, 0]), "is no a != b"),
        (APART_GOAL, apart(["apart", row(e(("!=", "i", "j"))), 1]), "a case's number"),
        (APART_GOAL, apart(APART, N_ROWS), "the case is not about"),
        (APART_GOAL, apart(APART, [*I_LESS_J, ["1", []]]), "the case is not about"),
        (APART_GOAL - 1, apart(APART), "the sum is"),
        (MAX0_N, GOOD_SPLIT | {"yes": {"sum": [["1", [["case", 1]]]]}}, "a case's number"),
        (MAX0_N, GOOD_SPLIT | {"yes": {"sum": [["1", [["case", -1]]]]}}, "a case's number"),
        (poly("n"), GOOD_SPLIT, "the sum is"),
        (poly(("-", "a", 6)), puts(("==", "a", 5)), "the sum is"),
        (poly("m"), {"sum": [["1", []]]}, "the sum is"),
        (poly("m"), {"sum": [["2", []]]}, "the sum is"),
        (MAX0_N, GOOD_SPLIT | {"split": [["1/2", [["param", "n"]]]]}, "no integer coefficients"),
        (MAX0_N, GOOD_SPLIT | {"split": [["1", []]]}, "no integer coefficients"),
        (MAX0_N, GOOD_SPLIT | {"split": []}, "no integer coefficients"),
        (MAX0_N, {"split": N_ROWS, "yes": GOOD_SPLIT["yes"]}, "a proof is"),
        (poly("n"), {"sum": [["1", [["high", [["1/2", [["param", "n"]]]], 2]]]]}, "'high' needs"),
        (poly("n"), {"sum": [["1", [["low", N_ROWS, 0]]]]}, "a divisor"),
        (MAX0_N * -1, {"split": MINUS_N, "yes": {"sum": []}, "no": {"sum": POSITIVE}}, "the sum is"),
        (MAX0_N - poly("n"), {"split": N_ROWS, "yes": {"sum": []}, "no": {"sum": POSITIVE[:3]}}, "the sum is"),
        (MAX0_N - poly("n"), {"split": N_ROWS, "yes": {"sum": POSITIVE}, "no": {"sum": []}}, "the sum is"),
        (MAX0_N, puts(("==", "a", 5)) | {"else": {"sum": []}}, "a proof is"),
        (MAX0_N, {"sum": [["1", [["max0", N_ROWS]]]], "absurd": []}, "a proof is"),
        (MAX0_N, {"sum": [["1", [["trust", "me"]]]]}, "not known"),
        (MAX0_N, None, "a proof is a sum"),
        (MAX0_N, [], "a proof is a sum"),
        (poly("n"), {"sum": [["1", [["max0", [["1", [["var", "f"]]]]]]]]}, "not an int"),
    ],
)
def test_wrong_arithmetic_proofs(goal: recheck.Potential, given: Json, reason: str) -> None:
    assert reason in proves(goal, given)


@pytest.mark.parametrize(("c", "d"), [(c, d) for c in range(-3, 4) for d in range(-2, 3)])
def test_what_differs_is_more_where_it_is_not_less(c: int, d: int) -> None:
    """i != c*j + d: where a case says that i - c*j - d is not negative, or that the opposite is not, it is 1 at least,
    as it is at every store; and no proof shows 2."""
    other = ("+", ("*", c, "j"), d)
    made = arithmetic(("!=", "i", other))
    gap = poly(("-", "i", other))
    size = recheck.max0(gap) + recheck.max0(gap * -1)
    by = ["apart", row(e(("!=", "i", other))), 0]
    parts: list[tuple[int, Json]] = [(1, [["var", "i"]]), (-c, [["var", "j"]]), (-d, [])]
    for sign in (1, -1):
        turned = [[str(sign * k), names] for k, names in parts if k]
        made.prove(size - 1, recheck.frozen(apart(by, turned)), "goal")
        with pytest.raises(Bad, match="the sum is"):
            made.prove(size - 2, recheck.frozen(apart(by, turned)), "goal")
    for i, j in product(range(-9, 10), repeat=2):
        assert abs(i - c * j - d) >= 1 or i == c * j + d


def numbers(*values: int) -> list[Json]:
    """Each as a potential, or as a sum that shows that it is not negative."""
    return [[[str(v), []]] if v else [] for v in values]


@pytest.mark.whole
def test_logarithms_of_all_small_numbers() -> None:
    """What 'least' and 'most' say is true wherever their premises are, and no proof shows premises that are not."""
    told = 0
    for p, q, k in product(range(-4, 40), range(-3, 12), range(4)):
        for kind, premises in (("least", (p - 2**k * q, q - 1)), ("most", (2**k * (q + 1) - 1 - p,))):
            more = floor_log2(p) - floor_log2(q) - k
            goal = more if kind == "least" else -more
            given = {"sum": [["1", [[kind, *numbers(p, q), k, numbers(*premises)]]]]}
            holds = min(premises) >= 0
            assert (proves(goal, given) == "") == holds
            assert goal >= 0 or not holds
            told += holds
    assert told > 1000


def floor_log2(n: int) -> int:
    return next(k for k in range(9) if n < 2 ** (k + 1))


I_ROWS: Final = [["1", [["var", "i"]]]]
I2_ROWS: Final = [["2", [["var", "i"]]]]
LOG_I: Final = recheck.log2_of(poly("i"))
LOG_2I: Final = recheck.log2_of(poly(("*", 2, "i")))
FROM_2: Final = ["1", DOWN["sum"][0][1]]


def logs(kind: str, p: Json, q: Json, k: Json, *because: Json) -> Json:
    return {"sum": [["1", [[kind, p, q, k, list(because)]]]]}


@pytest.mark.parametrize(
    ("goal", "given", "reason"),
    [
        (LOG_I, {"sum": [["1", [["log2", I_ROWS]]]]}, ""),
        (LOG_2I - LOG_I - 1, logs("least", I2_ROWS, I_ROWS, 1, [], [["1", []], FROM_2]), ""),
        (LOG_I + 1 - LOG_2I, logs("most", I2_ROWS, I_ROWS, 1, [["1", []]]), ""),
        (LOG_I - 1, logs("least", I_ROWS, [["2", []]], 0, [FROM_2], [["1", []]]), ""),
        (
            LOG_2I - LOG_I - 2,
            logs("least", I2_ROWS, I_ROWS, 2, [], [["1", []], FROM_2]),
            "what a factor needs: the sum is",
        ),
        (
            LOG_2I - LOG_I - 1,
            logs("least", I2_ROWS, I_ROWS, 1, [], [["2", []], FROM_2]),
            "what a factor needs: the sum is",
        ),
        (LOG_2I - LOG_I - 1, logs("most", I2_ROWS, I_ROWS, 1, [["1", []]]), "the sum is"),
        (LOG_I - LOG_2I, logs("most", I2_ROWS, I_ROWS, 0, [["1", []]]), "what a factor needs: the sum is"),
        (LOG_2I, logs("least", I2_ROWS, I_ROWS, -1, [], []), "an exponent"),
        (LOG_2I, logs("least", I2_ROWS, I_ROWS, 1 << 40, [], []), "an exponent"),
        (
            LOG_I,
            logs("most", [["1/2", [["var", "i"]]]], [], 0, [["-1/2", [["var", "i"]]]]),
            "without integer coefficients",
        ),
        (LOG_I, logs("most", [["-1/2", []]], [], 0, [["1/2", []]]), "integer coefficients"),
        (LOG_I, {"sum": [["1", [["log2", [["1/2", [["var", "i"]]]]]]]]}, "integer coefficients"),
    ],
)
def test_proofs_with_logarithms(goal: recheck.Potential, given: Json, reason: str) -> None:
    found = proves(goal, given)
    assert reason in found
    assert bool(reason) == bool(found)


def test_a_logarithm_with_a_premise_too_few_or_too_many() -> None:
    wrong: tuple[Json, ...] = ([[]], [[], [["1", []], FROM_2], []])
    for because in wrong:
        with pytest.raises(ValueError, match="zip"):
            proves(LOG_2I - LOG_I - 1, logs("least", I2_ROWS, I_ROWS, 1, *because))


def test_premises_of_logarithms_hold_in_the_case_at_hand() -> None:
    """Where max(0, i) is i, log2(max(0, i)) >= 1 follows from i >= 2."""
    told = logs("least", [["1", [["max0", I_ROWS]]]], [["2", []]], 0, [FROM_2], [["1", []]])
    settled = {"split": I_ROWS, "yes": told, "no": {"sum": [["2", []], FROM_2, CASE]}}
    assert proves(recheck.log2_of(recheck.max0(poly("i"))) - 1, settled) == ""
    assert "what a factor needs: the sum is" in proves(recheck.log2_of(recheck.max0(poly("i"))) - 1, told)


def test_a_comparison_of_base_values_is_no_fact_about_integers() -> None:
    assert arithmetic(("<=", "f", "f")).program.comparison(e(("<=", "f", "f"))) == {}


# --- lanes ------------------------------------------------------------------------------------------------------------


LONE: Final = {"sector": 32, "word": 4, "alignment": 256, "banks": 32, "warp": 1}


def lanes(*facts: Any, x: str = "", **more: Any) -> Lanes:
    made = program(**more)
    return Lanes(made, made.conj(map(e, facts)), frozenset(x.split()))


@pytest.mark.parametrize(
    ("view", "expression", "uniform"),
    [
        (lanes(), ("/", "t", 32), True),
        (lanes(), ("/", "t", 16), False),
        (lanes(("<", "t", 16)), ("/", "t", 16), True),
        (lanes(), "i", False),
        (lanes(x="i"), ("+", "i", "n"), True),
        (lanes(("==", "i", ("+", "n", 1))), "i", True),
        (lanes(("==", "j", ("-", "i", "t")), x="j"), "i", False),
        (lanes(("==", ("%", ("+", ("*", 256, "blockIdx.x"), "t"), 2), 0)), ("&", "t", 1), True),
        (lanes(("==", ("%", ("-", "t", ("*", 256, "n")), 2), 1)), ("&", "t", 1), True),
        (lanes(("!=", ("%", ("-", "t", ("*", 256, "n")), 2), 1)), ("&", "t", 1), False),
        (lanes(block=[64, 1, 1]), ("/", "t", 32), True),
        (lanes(block=[64, 1, 1], scope="block"), ("/", "t", 32), False),
        (lanes(("==", ("%", "t", 32), "n"), block=[64, 1, 1], scope="block"), "i", False),
        (lanes(("==", ("%", "t", 32), "n"), block=[64, 1, 1]), "i", True),
        (lanes(block=[None, 1, 1]), ("/", "t", 32), True),
        (lanes(block=[None, 1, 1], scope="block"), ("/", "t", 32), False),
        (lanes(block=[None, None, 1]), ("/", "t", 32), False),
        (lanes(("==", ("%", "blockDim.x", 32), 0), block=[None, None, 1]), ("/", "t", 32), True),
        (lanes(block=[64, None, 1]), ("tid.y",), False),
        (lanes(block=[None, None, 1], scope="block", hardware=LONE), "t", False),
        (lanes(("==", "n", 4), ("<", "n", 3)), "t", True),
        (lanes(("!=", "n", "n"), block=[None, None, 1], scope="block"), "t", True),
    ],
)
def test_uniform(view: Lanes, expression: Any, uniform: bool) -> None:
    text = ("tid", "y") if expression == ("tid.y",) else e(expression)
    assert view.uniform(text) == (uniform or expression == ("tid.y",))


RANK: Final = ("+", ("*", ("+", ("*", "tz", "blockDim.y"), "ty"), "blockDim.x"), "t")


@pytest.mark.parametrize(
    ("index", "block", "conflicts"),
    [
        (RANK, [None, None, None], 1),
        (("+", RANK, "n"), [None, None, None], 1),
        (("*", 2, RANK), [None, None, None], 2),
        (("+", ("*", "ty", "blockDim.x"), "t"), [None, None, 1], 1),
        (("+", ("*", "ty", "blockDim.x"), "t"), [None, None, None], 2),
        (("+", ("*", "ty", 12), "t"), [12, None, 1], 1),
        (("+", ("*", "ty", 13), "t"), [12, None, 1], 32),
        ("t", [None, None, None], 2),
        (("+", "t", "ty"), [None, None, None], 32),
        (("+", "t", "j"), [None, None, None], 32),
    ],
)
@pytest.mark.parametrize("scope", ["warp", "block"])
def test_threads_of_a_warp_are_next_to_each_other_in_any_block(
    index: Any, block: list[int | None], conflicts: int, scope: str
) -> None:
    view = lanes(block=block, scope=scope)
    assert view.most(view.program.arrays["S"], e(index)) == conflicts


def at_thread(term: Any, store: dict[str, int]) -> int:
    if isinstance(term, tuple):
        a, b = (at_thread(part, store) for part in term[1:])
        made = {"+": a + b, "-": a - b, "*": a * b, "%": a % (b or 1), "/": a // (b or 1), "<": a < b, "==": a == b}
        return int(made[term[0]])
    return store[term] if isinstance(term, str) else int(term)


WIDTHS: Final = (1, 5, 17, 31, 33, 40, 65)


@pytest.mark.parametrize(
    ("index", "facts", "sectors", "conflicts"),
    [
        ("t", (), 6, 2),
        (("*", 2, "t"), (), 10, 3),
        (("+", ("*", "n", "blockDim.x"), "t"), (), 7, 2),
        (("-", ("-", "blockDim.x", 1), "t"), (), 6, 2),
        (("%", "t", 8), (), 2, 2),
        (("*", 8, ("/", "t", 4)), (), 10, 4),
        ("t", (("==", ("%", "t", 2), 0),), 6, 2),
        ("t", (("<", "t", 4),), 3, 2),
        (("*", "t", "n"), (), 32, 32),
    ],
)
def test_the_columns_of_a_warp_in_blocks_of_any_size(index: Any, facts: Any, sectors: int, conflicts: int) -> None:
    """Against the warps of blocks of many sizes, and in blocks whose width alone is known."""
    for block in ([None, None, None], [34, None, 1])[: 1 if sectors == conflicts else 2]:
        view = lanes(*facts, block=block)
        most = {name: view.most(view.program.arrays[name], e(index)) for name in "GS"}
        if block[0] is None:
            assert most == {"G": sectors, "S": conflicts}
        for width in WIDTHS if block[0] is None else (block[0],):
            rows = [{"t": k % width, "blockDim.x": width} for k in range(32 * width)]
            for n, first in product((1, 8) if "'n'" in repr(index) else (1,), range(0, len(rows), 32)):
                warp = [row | {"n": n} for row in rows[first : first + 32]]
                found = {at_thread(index, t) for t in warp if all(at_thread(fact, t) for fact in facts)}
                for name, array in view.program.arrays.items():
                    units = {array.stride * i // array.unit for i in found}
                    real = max(Counter(u % array.banks for u in units).values(), default=0)
                    assert real <= most.get(name, 32), f"{name}: {real} in blocks of width {width}, n = {n}"


@pytest.mark.parametrize(("block", "conflicts"), [([64, 1, 1], 1), ([None, 1, 1], 1), ([64, 2, 1], 32)])
def test_what_all_share_is_0_where_it_is_the_place_along_an_axis_of_size_1(
    block: list[int | None], conflicts: int
) -> None:
    view = lanes(("==", "i", "ty"), x="i", block=block)
    assert view.most(view.program.arrays["S"], e(("*", "t", ("+", "i", 1)))) == conflicts


@pytest.mark.parametrize(
    "index",
    [
        ("+", ("*", "t", "n"), "ty"),  # where n is odd at most one pair lies in two sectors
        ("+", ("*", "t", ("*", 2, "n")), "ty"),
        ("+", ("*", "ty", "n"), "t"),
        ("+", ("*", ("%", "t", 4), "n"), ("+", ("*", 3, "t"), "m")),
        ("+", ("*", ("%", "t", 3), "n"), ("*", ("%", "t", 2), ("*", 4, "m"))),
    ],
)
@pytest.mark.parametrize("name", ["G", "S"])
def test_an_unknown_number_is_the_same_for_all_lanes(name: str, index: Any) -> None:
    """What is touched at every n and m, one period of each, against what is said of all of them together."""
    view = lanes(block=[16, 2, 1])
    array = view.program.arrays[name]

    most = 0
    period = array.unit * array.banks // array.stride
    for n, m in product(range(128, 128 + period), range(period)):  # rows do not meet
        found = {at_thread(index, {"n": n, "m": m, "t": k % 16, "ty": k // 16}) for k in range(32)}
        units = {array.stride * i // array.unit for i in found}
        most = max(most, *Counter(u % array.banks for u in units).values())
    assert most <= view.most(array, e(index)) <= view.most(array, e(index), enough=32)
    assert name == "S" or view.most(array, e(index)) == most


def test_a_number_of_a_warp_is_uniform_in_any_block() -> None:
    assert lanes(block=[None, None, None]).uniform(e(("/", RANK, 32)))
    assert not lanes(block=[None, None, None]).uniform(e(("/", RANK, 16)))
    assert not lanes(block=[None, None, None], scope="block").uniform(e(("/", RANK, 32)))


def test_what_lanes_are_worth_depends_on_no_order_of_questions() -> None:
    """Of max(0, n - m) and max(0, m - n) the same one is said by the other, whichever is asked about first."""
    apart = ("-", "n", "m"), ("-", "m", "n")
    asked = [e(q) for d in apart for q in (("max", 0, d), ("/", d, 4), ("%", d, 3), ("<", ("min", d, "i"), "t"))]

    def values(questions: list[recheck.Expr]) -> dict[recheck.Expr, recheck.Potential]:
        view = lanes()
        return {q: view.value_at(view.program.worth(q), view.known) for q in questions}

    found = values(asked)
    assert found == values(asked[::-1])
    assert found[e(("%", ("-", "n", "m"), 3))] == found[e(("%", ("-", "m", "n"), 3))] * -1


HALVES: Final = ("-", ("*", 2, "t"), ("*", 127, ("/", "t", 64)))  # even columns by the first 64 threads, then odd ones
COLUMN: Final = ("+", ("/", ("+", HALVES, 2), 2), ("*", 752, ("&", HALVES, 1)))


@pytest.mark.parametrize(("threads", "steps"), [(128, 20_000), (512, 120_000)])
def test_warps_in_numbers_are_less_work_than_one_that_stands_for_all(threads: int, steps: int) -> None:
    """Of the one that stands for all, nested quotients are unknown: that took 620,000 steps."""
    view = lanes(block=[threads, 1, 1])
    before = recheck.Work.left
    assert view.most(view.program.arrays["S"], e(COLUMN), enough=1) <= 1 + (threads > 128)
    assert before - recheck.Work.left < steps


@pytest.mark.parametrize("threads", [64, 512])
def test_what_tells_warps_apart_is_known_of_the_one_that_stands_for_all(threads: int) -> None:
    """Where n - 32*warp.index is at most 8, so are the lanes below n, whichever warp it is."""
    made = program(block=[threads, 1, 1])
    end = ("op", "-", ("param", "n"), ("op", "*", ("const", recheck.INT, 32), recheck.WARP))
    few = made.conj([e(("<", "t", "n")), ("op", "<=", end, ("const", recheck.INT, 8))])
    assert Lanes(made, few, frozenset()).most(made.arrays["G"], e("t"), enough=1) == 1


def test_a_local_may_be_called_like_an_axis() -> None:
    """X = {x} says nothing about tid.x."""
    made = program()
    made.leaves["var", "x"] = recheck.INT
    view = Lanes(made, made.conj([e(("<", "t", 16))]), frozenset({"x"}))
    assert not view.uniform(e("t"))
    assert view.uniform(e("x"))
    assert view.most(made.arrays["G"], e("t")) == 2


@pytest.mark.parametrize(
    ("index", "reads"),
    [
        (("*", 8, "t"), 8),
        (("*", 8, "ty"), 4),
        (("+", ("*", 8, "t"), ("*", 64, "ty")), 32),
        (("*", ("*", 8, "warp.index"), "t"), 8),
        (("+", ("*", 8, "ty"), "i"), 32),
        (("*", 8, ("max", 0, ("+", "n", "t"))), 8),  # all are 0, or from one number on they are not
        (("*", ("*", 8, ("max", 0, ("+", "n", "t"))), "warp.index"), 8),
        (("*", 8, ("max", ("-", "t", "n"), ("+", "n", "t"))), 8),
    ],
)
def test_threads_are_worth_what_all_of_their_place_tells(index: Any, reads: int) -> None:
    """Eight by eight threads, two warps: what is known of one thread holds of those that agree in all that counts."""
    counted(lanes(block=[8, 8, 1]), "G", index, reads)


def test_lanes_of_one_warp_read_together() -> None:
    read = ("read", "G", e("n"))
    for scope, size, uniform in (("warp", 64, True), ("block", 64, False), ("block", 32, True)):
        view = lanes(scope=scope, block=[size, 1, 1])
        assert view.uniform(read) == uniform
    view = lanes()
    assert view.program.worth(("op", "-", read, read)) != 0


def test_base_values_have_no_arithmetic() -> None:
    """x == x is false of a NaN, and x - x is one."""
    view = lanes(x="f")
    for base in (("==", "f", "f"), ("int", ("-", "f", "f"))):
        assert isinstance(view.value_at(view.program.worth(e(base)), view.known), recheck.Poly)
        assert not lanes().uniform(e(base))
        assert view.uniform(e(base))


@pytest.mark.parametrize(
    ("view", "index", "reads"),
    [
        (lanes(), "t", 4),
        (lanes(), ("*", 2, "t"), 8),
        (lanes(), ("+", "t", "n"), 5),
        (lanes(), ("+", "t", ("*", 8, "n")), 4),
        (lanes(("==", ("%", "n", 8), 3)), ("+", "t", "n"), 5),
        (lanes(("==", ("%", "n", 8), 0)), ("+", "t", "n"), 4),
        (lanes(), "n", 1),
        (lanes(), "i", 32),
        (lanes(), ("*", "t", "n"), 32),
        (lanes(("==", ("%", "t", 2), 0)), "i", 16),
        (lanes(("==", "i", ("/", "t", 32)), x="i", block=[64, 1, 1]), ("+", "t", ("*", "n", "i")), 5),
        (lanes(), ("^", "t", "n"), 4),
        (lanes(), ("^", ("+", "t", 32), "n"), 4),
        (lanes(), ("|", "n", "t"), 4),
        (lanes(), ("^", ("+", "t", ("*", 32, "n")), "m"), 4),
        (lanes(), ("^", ("+", "t", ("*", 16, "n")), "m"), 32),
        (lanes(), ("^", ("+", "t", 1), "n"), 8),
        # of what is known below the highest bit of a number, all bits are
        (lanes(), ("^", ("+", "t", ("*", 16, "n")), 1), 4),
        (lanes(), ("^", 3, ("+", "t", ("*", 4, "n"))), 5),
        (lanes(), ("|", ("+", "t", ("*", 16, "n")), 9), 2),
        (lanes(), ("&", ("+", "t", ("*", 48, "n")), 6), 1),
        (lanes(), ("&", ("+", "t", ("*", 48, "n")), -2), 4),
        (lanes(), ("&", -4, ("+", "t", ("*", 48, "n"))), 4),
        (lanes(), ("&", ("+", "t", ("*", 48, "n")), ("~", 15)), 2),
        (lanes(), ("^", "t", "i"), 32),  # one that is not known, at each
        (lanes(), ("+", ("^", "t", "n"), "m"), 5),
        (lanes(block=[16, 2, 1]), ("+", ("*", ("%", "n", 1), "n"), "t"), 2),
        # a quotient and its remainder make up the whole
        (lanes(), ("+", ("*", ("/", "t", "n"), "n"), ("%", "t", "n")), 4),
        (lanes(), ("+", ("*", ("/", ("/", "t", "n"), "m"), ("*", "n", "m")), ("-", "t", ("*", "n", "m"))), 32),
        (lanes(), ("-", ("/", "t", ("*", "n", "m")), ("/", ("/", "t", "m"), "n")), 1),
        (lanes(), ("+", ("*", 8, "m"), ("*", 8, ("/", "t", "n"))), 32),
        (lanes(), ("/", ("*", "m", "t"), "n"), 32),
        (lanes(), ("/", "n", "t"), 32),
        (lanes(), ("/", "t", ("+", "t", "n")), 32),
        (lanes(), ("+", ("/", "t", "n"), ("/", "t", "m")), 32),
        # an equation in what lanes share holds at lanes of one number, whichever that is
        (lanes(("==", "t", "n")), ("*", 8, "t"), 1),
        (lanes(("==", "i", ("-", "n", 1)), ("==", "i", ("+", "t", ("*", 32, "m")))), ("*", 8, "i"), 1),
        (lanes(("==", ("/", "t", 8), "n")), ("*", 8, "t"), 8),
        (lanes(("==", ("*", "i", "i"), "t"), x="i"), ("*", 8, "t"), 1),
        (lanes(("==", ("*", "i", "i"), "t")), ("*", 8, "t"), 32),
        (lanes(("==", ("*", "t", ("+", "n", 1)), "m")), ("*", 8, "t"), 32),
        (lanes(("<=", "t", "n")), ("*", 8, "t"), 32),
        (lanes(block=[None, 1, 1]), "t", 4),
        (lanes(block=[None, None, 1]), "t", 6),
    ],
)
def test_sectors(view: Lanes, index: Any, reads: int) -> None:
    counted(view, "G", index, reads)


def counted(view: Lanes, name: str, index: Any, most: int) -> None:
    """Whether it is that much, also where that is asked for, or less, or more."""
    array = view.program.arrays[name]
    assert view.most(array, e(index)) == most
    for enough in (1, most - 1 or 1, most, most + 1):
        assert (view.most(array, e(index), enough=enough) <= enough) == (most <= enough)


@pytest.mark.parametrize(
    ("index", "conflicts"),
    [
        (("+", "t", ("*", 32, "i")), 1),  # a row of 32 words leaves the bank as it is
        (("+", "t", ("*", 64, ("*", "i", "j"))), 1),
        (("*", 32, "i"), 32),
        (("+", ("/", "t", 2), ("*", 32, "i")), 2),  # two rows, in one bank
        (("+", ("/", "t", 2), ("*", 32, "n")), 1),
        (("+", "t", ("*", 31, "i")), 32),
        (("+", "t", ("*", 16, "i")), 2),  # 16 classes of two banks, and two lanes in each
        (("+", ("*", 2, "t"), ("+", "n", ("*", 32, "i"))), 2),
    ],
)
def test_banks_of_rows_that_nothing_is_known_of(index: Any, conflicts: int) -> None:
    view = lanes()
    array = view.program.arrays["S"]
    assert view.most(array, e(index)) == conflicts


@pytest.mark.parametrize(
    ("facts", "goal", "implied"),
    [
        ((("==", "b", ("<", "i", "n")), "b"), ("<", "i", "n"), True),
        ((("==", "b", ("<", "i", "n")), ("!", "b")), (">=", "i", "n"), True),
        ((("==", "b", ("<", "i", "n")), ("!=", "b", False)), ("<", "i", "n"), True),
        ((("==", ("<", "i", "n"), "b"), "b"), ("<", "i", "n"), True),
        ((("==", ("<", "i", "n"), "b"), ("!", "b")), (">=", "i", "n"), True),
        ((("==", "b", ("<", "i", "n")), ("!", "b")), ("<", "i", "n"), False),
        ((("==", "b", ("<", "i", "n")),), ("<", "i", "n"), False),
        ((("==", "i", ("+", "t", ("*", 32, "n"))), ("==", "b", ("<", "i", "m")), "b"), ("<", "i", "m"), True),
        ((("==", "i", ("int", (">=", "n", "m"))), ("==", "i", 0)), ("<", "n", "m"), True),
        ((("==", "i", ("int", (">=", "n", "m"))), ("!=", "i", 0)), (">=", "n", "m"), True),
        ((("==", "i", ("int", (">=", "n", "m"))), ("==", "i", 1)), ("<", "n", "m"), False),
        ((("==", "i", ("int", ("==", "n", 0))), ("==", "i", 0), (">=", "n", 0)), ("!=", "n", 0), True),
        ((("==", "i", ("int", (">=", "n", "m"))),), ("<", "n", "m"), False),
    ],
)
def test_a_truth_value_that_has_a_name(facts: Any, goal: Any, implied: bool) -> None:
    made = program()
    assert Lanes(made, made.conj(map(e, facts)), None).implies(e(goal)) == implied


PLACES: Final = [
    ("==", ("&", "t", 31), 0),
    ("==", "i", "t"),
    ("==", ("%", "i", 32), 0),
    ("<", "t", 16),
    (">=", "t", "n"),
    ("==", "i", ("+", "t", "n")),
    ("==", ("%", "t", 2), 1),
]
OF_PLACES: Final = [
    ("==", "i", ("*", 32, "warp.index")),
    ("==", "t", ("*", 32, "warp.index")),
    ("!=", ("&", "t", 7), 5),
    ("<", "t", 33),
    ("<=", "n", ("+", "t", 1)),
    ("==", ("/", "i", 32), "warp.index"),
    ("!=", ("^", "i", 1), "i"),
]


@pytest.mark.whole
def test_what_holds_at_each_place_of_a_warp() -> None:
    """Each goal after every two facts, at all threads of two warps: what is shown is so, and some is."""
    stores = [
        {"t": t, "warp.index": t // 32, "n": n, "i": i}
        for t in range(64)
        for n in (-1, 0, 1, 33)
        for i in (t, t + n, 0, 31, 32)
    ]
    shown = []
    for facts in product(PLACES, repeat=2):
        here = [store for store in stores if allowed([*facts], store)]
        for block in ([64, 1, 1], [None, 1, 1]):
            made = program(block=block)
            view = Lanes(made, made.conj(map(e, facts)), None)
            found = [goal for goal in OF_PLACES if view.implies(e(goal))]
            assert all(worth(goal, store) for goal in found for store in here), (facts, found)
            shown += [(block, *facts, goal) for goal in found]
    for block in ([64, 1, 1], [None, 1, 1]):
        assert (block, PLACES[0], PLACES[1], OF_PLACES[0]) in shown
        assert (block, PLACES[2], PLACES[1], OF_PLACES[0]) in shown
        assert (block, PLACES[0], PLACES[0], OF_PLACES[2]) in shown
    assert ([64, 1, 1], PLACES[0], PLACES[3], OF_PLACES[3]) in shown


def test_wide_elements_span_units() -> None:
    sizes = (4, 0, 4, 32, 1), (12, 4, 8, 32, 1), (256, 0, 256, 4, 32), (256, 0, 256, 32, 1)
    arrays = [recheck.Array("global", recheck.INT, *row) for row in sizes]
    assert [recheck.touched(array, recheck.single("any"), [{0}]) for array in arrays] == [1, 2, 2, 8]


@pytest.mark.parametrize("op", ["&", "|", "^"])
def test_bits_of_what_is_known_below_a_number(op: str) -> None:
    """At each lane the operator's value, whatever n is, and known but for n, where the multiple of n has no bit below
    the highest of the number, or of what a mask leaves out."""
    for by, number, swap in product((1, 4, 12, 16), (-16, -4, -3, -1, 0, 1, 3, 5, 9, 20), (False, True)):
        a = ("+", "t", ("*", by, "n"))
        view = lanes(block=[8, 1, 1])
        (values,) = view._values(e((op, number, a) if swap else (op, a, number)), view.warps, view.together)
        asked = max(number, -1 - number).bit_length() if number > 0 or op == "&" else 5
        for t, v in enumerate(values):
            assert by % (1 << asked) or all(atom[0] in ("param", "floor") for atom in recheck.atoms(v)), (
                op,
                by,
                number,
            )
            for n in range(-3, 4):
                assert recheck.replaced(v, {("param", "n"): n}, view.together) == operators.denote(
                    op, (t + by * n, number)
                )


LEAVES: Final = st.sampled_from(["t", "n", "m", "i", "j", "a", 0, 1, 2, 3, 5, -2])
TERMS: Final = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "min", "max", "&", "|", "^"]), inner, inner),
        st.tuples(st.sampled_from(["/", "%", "&", ">>", "<<"]), inner, st.integers(-2, 8)),
        st.tuples(st.sampled_from(["/", "%"]), inner, inner),
        st.tuples(st.just("?:"), st.tuples(st.sampled_from(["<", "=="]), inner, inner), inner, inner),
        st.tuples(st.sampled_from(["neg", "~", "abs"]), inner),
        st.tuples(st.just("int"), st.tuples(st.sampled_from(["<", "==", "!="]), inner, inner)),
    ),
    max_leaves=5,
)
TESTS: Final = st.one_of(
    st.tuples(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), TERMS, TERMS),
    st.tuples(st.just("=="), st.tuples(st.just("%"), TERMS, st.sampled_from([2, 3, 4, -2])), st.integers(-1, 2)),
    st.tuples(st.just("=="), st.sampled_from(["i", "j", "a"]), TERMS),
    st.tuples(st.just("||"), st.tuples(st.just("<"), TERMS, TERMS), st.tuples(st.just("=="), TERMS, TERMS)),
)

Store = dict[str, int]


def worth(text: Any, store: Store) -> int | bool:
    if isinstance(text, int):
        return text
    if isinstance(text, str):
        return store[text]
    return operators.denote(text[0], tuple(worth(part, store) for part in text[1:]))


def allowed(facts: list[Any], store: Store) -> bool:
    return all(bool(worth(f, store)) for f in facts)


@pytest.mark.whole
@examples(35, 5000)
@given(
    st.lists(TESTS, max_size=3), st.sets(st.sampled_from(["i", "j", "a"])), TERMS, st.sampled_from([4, 6, 8]), st.data()
)
def test_lanes_against_threads(facts: list[Any], x: set[str], term: Any, size: int, data: st.DataObject) -> None:
    """What the lanes say holds of all stores and threads: at random ones, here; also where values are soon too large
    to be known."""
    most_terms, low = data.draw(st.sampled_from([64, 1, 2, 3])), data.draw(st.sampled_from([4, 2, 8]))
    with mock.patch.object(recheck, "MAX_LANE_TERMS", most_terms), mock.patch.object(recheck, "LOW", low):
        lanes_against_threads(facts, x, term, size, data)


def lanes_against_threads(facts: list[Any], x: set[str], term: Any, size: int, data: st.DataObject) -> None:
    tiny = {"sector": 8, "word": 4, "alignment": 16, "banks": 2, "warp": 4}
    layout = data.draw(st.sampled_from([(4, 0, 4), (1, 0, 1), (12, 4, 8)]))
    kinds = {"MemReads": (tiny["sector"], 1), "Conflicts": (tiny["word"], tiny["banks"])}
    arrays = {what: recheck.Array("global", recheck.INT, *layout, *kind) for what, kind in kinds.items()}
    phase = data.draw(st.sampled_from([1 << 9, 4, 8, 16]))
    arrays["Conflicts"] = arrays["Conflicts"]._replace(phase=phase)
    at_once = max(1, phase // layout[2])
    block = data.draw(st.sampled_from([[size, 1, 1], [None, 1, 1]]))
    view = lanes(*facts, x=" ".join(x), hardware=tiny, block=block)
    uniform = view.uniform(e(term))
    most = {what: view.most(array, e(term)) for what, array in arrays.items()}
    p = view.program.conj(map(e, facts))
    for cases in view.parts(e(term)):
        views = [Lanes(view.program, p | {case}, frozenset(x)) for case in cases]
        uniform = uniform or all(v.uniform(e(term)) for v in views)
        most = {what: min(n, max(v.most(arrays[what], e(term)) for v in views)) for what, n in most.items()}
    small = st.integers(-4, 9)
    seen = False
    for _ in range(12):
        shared = {name: data.draw(small) for name in ("n", "m", "i", "j", "a")}
        base = data.draw(st.integers(0, 3)) * tiny["alignment"]
        warps: dict[int, dict[int, int]] = {}
        for t in range(size):
            store = (
                shared
                | {"t": t}
                | {y: data.draw(small) for y in ("i", "j", "a") if y not in x and data.draw(st.booleans())}
            )
            for f in facts:  # a definition is better kept than hit by chance
                if f[0] == "==" and f[1] in ("i", "j", "a") and f[1] not in x:
                    store[f[1]] = int(worth(f[2], store))
            if allowed(facts, store):
                warps.setdefault(t // 4, {})[t % 4] = int(worth(term, store))
        for values in warps.values():
            seen = True
            assert not uniform or len(set(values.values())) == 1
            stride, offset, width = layout
            first = {lane: base + stride * v + offset for lane, v in values.items()}
            sectors = {u for b in first.values() for u in range(b // 8, (b + width - 1) // 8 + 1)}
            assert len(sectors) <= most["MemReads"]
            waiting = 0
            for phase in {lane // at_once for lane in first}:
                words = {u for lane, b in first.items() if lane // at_once == phase
                         for u in range(b // 4, (b + width - 1) // 4 + 1)}  # fmt: skip
                waiting += max(len([u for u in words if u % 2 == k]) for k in range(2)) - 1
            assert 1 + waiting <= most["Conflicts"]
    assume(seen)


@pytest.mark.parametrize("degree", range(1, 9))
@pytest.mark.parametrize("more", [{}, {"block": [None, 1, 1]}, {"block": [64, 1, 1], "scope": "block"}])
def test_values_with_too_many_terms_are_not_the_same(degree: int, more: dict[str, Any]) -> None:
    """(t + n + m + blockIdx.x) to some power, which has more terms than are kept, and a summand that lanes share."""
    base: Any = ("+", ("+", "t", "n"), ("+", "m", "blockIdx.x"))
    term = base
    for _ in range(degree - 1):
        term = ("*", term, base)
    view = lanes(("!=", "t", 0), **more)
    assert not view.uniform(e(term))
    assert not view.uniform(e(("+", ("*", 7, "n"), term)))
    sectors = len({t**degree * 4 // 32 for t in range(1, 32)})  # where all else is 0
    assert view.most(view.program.arrays["G"], e(term)) >= sectors
    assert not view.implies(e(("==", term, 0)))


@pytest.mark.parametrize(
    "square", [("*", "{}", "{}"), ("+", ("*", "{}", "{}"), 1), ("max", 0, ("+", ("*", "{}", "{}"), "{}"))]
)
def test_chains_of_definitions_are_no_trouble(square: Any) -> None:
    """i1 == i0 * i0, i2 == i1 * i1, ...: degrees and sizes that double from one to the next."""

    def of(text: Any, name: str) -> Any:
        return tuple(of(part, name) for part in text) if isinstance(text, tuple) else name if text == "{}" else text

    made = program()
    made.leaves |= {("var", f"i{k}"): recheck.INT for k in range(60)}
    facts = [("==", "i0", ("+", "t", "n"))] + [("==", f"i{k + 1}", of(square, f"i{k}")) for k in range(59)]
    view = Lanes(made, made.conj(map(e, facts)), frozenset())
    assert not any(view.uniform(e(last)) for last in ("i59", ("max", 0, "i59"), ("/", ("+", "i11", "i59"), 4)))
    assert view.most(made.arrays["G"], e("i59")) == 32
    assert isinstance(view.known["var", "i3"], recheck.Poly)


def chain(length: int) -> Any:
    """min(..min(min(n, n), n + 1).., ..): its potential has the one before twice, and so on."""
    text: Any = "n"
    for k in range(length):
        text = ("min", text, ("+", "n" if k % 2 else "blockIdx.x", k))
    return text


def test_chains_of_minima_are_no_trouble() -> None:
    """They are not known at all; neither is anything written out that doubles from one to the next."""
    view = lanes()
    assert not view.uniform(e(("-", ("+", chain(40), "t"), "t")))
    assert view.most(view.program.arrays["G"], e(("+", chain(40), "t"))) == 32
    assert view.most(view.program.arrays["G"], e(("+", chain(2), "t"))) == 5
    assert "too long to show" in proves(program().worth(e(chain(39))), {"sum": []})


def test_windows_of_unknown_bits_have_an_end() -> None:
    """All of 32 numbers at each of 1,000 places are too many to look at: then nothing is known of each."""
    view = lanes()
    index = e(("*", 1_000_003, ("^", "t", "n")))
    assert view.most(view.program.arrays["G"], index, range(1000)) == 32 * 126
    assert view.most(view.program.arrays["G"], index, range(2)) < recheck.LARGEST


def test_a_chain_of_squares_in_a_proof_is_no_trouble() -> None:
    """max(0, n) settled, and its powers: products of proofs have limits."""
    deep: Json = [["1", [["param", "n"]]]]
    for _ in range(6):
        deep = [["1", [["max0", deep], ["max0", deep]]], ["1", [["param", "n"]]]]
    goal = recheck.max0(program().potential(recheck.frozen(deep), True))
    assert proves(goal, {"sum": [["1", [["max0", deep]]]]}) == ""
    huge = ["op", "*", ["const", ["int", "int", 4], 1 << 255], ["param", "n"]]
    fact = row(e((">=", "n", 0)))
    for _ in range(12):
        huge = ["op", "*", huge, huge]
    fact[2] = huge
    assert "no fact" in proves(goal, {"sum": [["1", [["fact", fact, "-"]]]]})


def test_what_is_put_again_and_again_has_an_end() -> None:
    """n^16 with n + m for n, m + blockIdx.x for m, and so on: more terms each time."""
    names = ("n", "m", "blockIdx.x", "blockIdx.y", "blockIdx.z")
    facts = [("==", a, ("+", a, b)) for a, b in pairwise(names)]
    goal = poly("n")
    for _ in range(4):
        goal *= goal
    for some, reason in ((facts[:1], "the sum is 0"), (facts, "a potential has too many terms")):
        with mock.patch.object(recheck, "MAX_TERMS", 500), pytest.raises(Bad, match=reason):
            arithmetic(*facts).prove(goal, recheck.frozen(puts(*some)), "goal")


def test_goals_that_lanes_show() -> None:
    """P |- P' with a goal beyond arithmetic proofs: shown for a thread of any number, or not at all."""
    made = recheck.Checker(recheck.frozen(document("loop")))
    facts = frozenset({e((">=", "i", 0)), e(("==", "j", ("|", "i", 1)))})

    def told(goal: Any, proof: Json = None) -> str:
        made.evidence = [{"engine": "lanes", "proof": recheck.frozen(proof)}]
        made.solver_backed = []
        made.entails(facts, frozenset({e(goal)}))
        return "".join(made.solver_backed)

    assert told(("==", "j", ("|", "i", 1))) == ""
    assert told((">=", ("+", "i", "n"), "n")) == ""
    assert told(("==", ("max", 0, "i"), "i")) == ""
    assert told((">=", ("/", "i", 2), 0)) == ""  # by what i is at least
    assert told(("==", ("-", ("+", "j", "n"), "n"), ("|", "i", 1))) == ""
    assert told(("==", ("/", "t", 32), "warp.index")) == ""  # at each thread
    proved: list[Any] = [(">=", ("*", "i", "i"), 0)]  # but not without a proof
    wrong: list[Any] = [("==", "j", "i"), ("<", "t", 5), (">=", "a", 0), ("<=", ("/", "i", 4), 0), ("!=", "i", 0)]
    for goal in proved + wrong:
        assert told(goal) != ""
        with pytest.raises(Bad, match="there is no proof of"):
            told(goal, [])


def test_goals_that_differ() -> None:
    """a != b by what is less, which is shown besides; and no goal by another comparison."""
    made = recheck.Checker(recheck.frozen(document("loop")))
    facts = frozenset({e((">", "i", 3))})
    shown = {"sum": [["1", [["fact", row(e((">", "i", 3))), "-"]]], ["3", []]]}

    def told(goal: Any, besides: Any, **more: Json) -> str:
        proof = [{"goal": row(e(besides)), "by": [shown]} | more]
        made.evidence, made.solver_backed = [{"engine": "x", "proof": recheck.frozen(proof)}], []
        try:
            made.entails(facts, frozenset({e(goal)}))
        except Bad as problem:
            return str(problem)
        return "".join(made.solver_backed)

    assert told(("!=", "i", 0), (">", "i", 0)) == ""
    assert told(("!=", 0, "i"), (">", "i", 0)) == ""
    assert "there is no proof of i != 5" in told(("!=", "i", 5), (">", "i", 0))
    assert "there is no proof of j != 0" in told(("!=", "j", 0), (">", "i", 0))
    assert "there is no proof of i == 0" in told(("==", "i", 0), (">", "i", 0))
    assert "the sum is" in told(("!=", "i", 0), ("<", "i", 0))
    assert "the sum is" in told(("!=", "i", 1), (">", "i", 1))
    assert "not so many proofs" in told(("!=", "i", 0), ("!=", "i", 0))
    assert "not well formed" in told(("!=", "i", 0), (">", "i", 0), more=1)


def test_goals_of_no_state() -> None:
    """i > 3 and i < 2: whatever is asked of it holds."""
    made = recheck.Checker(recheck.frozen(document("loop")))
    facts = frozenset({e((">", "i", 3)), e(("<", "i", 2))})
    rows = [["1", [["fact", row(e((">", "i", 3))), "-"]]], ["1", [["fact", row(e(("<", "i", 2))), "+"]]], ["2", []]]
    goals = frozenset({e(("==", "j", ("^", "i", 1))), e(("<", "n", "n"))})
    never = {"goal": row(e(("<", 0, 0))), "by": [{"sum": rows}]}
    made.evidence = [{"engine": "x", "proof": recheck.frozen([never])}]
    made.entails(facts, goals)
    assert not made.solver_backed
    with pytest.raises(Bad, match="the sum is"):
        made.also(facts, recheck.frozen([never | {"by": [{"sum": rows[:2]}]}]))
    with pytest.raises(Bad, match="is no fact here"):
        made.also(facts - {e(("<", "i", 2))}, recheck.frozen([never]))


def test_goals_that_are_shown_by_cases() -> None:
    """P |- P' with a choice in it: a proof for each outcome, from what it says, and for what it makes of the goal."""
    made = recheck.Checker(recheck.frozen(document("loop")))
    facts = frozenset({e((">=", "i", "j"))})
    clamped = (">=", ("?:", (">", "n", "i"), "n", "i"), "i")
    either = ("||", (">", "n", ("+", "j", 4)), ("<=", "n", ("+", "i", 4)))
    as_n, other = (">=", "n", "i"), ("<=", "n", ("+", "i", 4))

    def by(goal: Any, *proofs: Json) -> Json:
        return [{"goal": row(e(goal)), "by": list(proofs)}]

    def fact(condition: Any, sign: str) -> Json:
        return ["fact", row(e(condition)), sign]

    more = {"sum": [["1", [fact((">", "n", "i"), "-")]], ["1", []]]}
    less = {"sum": [["1", [fact(("<=", "n", ("+", "j", 4)), "+")]], ["1", [fact((">=", "i", "j"), "-")]]]}
    same: Json = []  # i >= i is seen

    def told(goal: Any, *cases: Json, **more: Json) -> str:
        made.evidence = [{"engine": "x", "proof": recheck.frozen([{"goal": row(e(goal)), "if": list(cases)} | more])}]
        made.solver_backed = []
        try:
            made.entails(facts, frozenset({e(goal)}))
        except Bad as problem:
            return str(problem)
        return "".join(made.solver_backed)

    assert told(clamped, by(as_n, more), same) == ""
    assert told(either, [], by(other, less)) == ""
    assert "is no fact here" in told(either, by(other, less), [])
    assert "there is no proof of n <= i + 4" in told(either, [], [])
    assert told(clamped, same, same) == ""  # n > i is seen
    assert "there is no proof of n >= i + j" in told(
        (">=", ("?:", (">", "n", "i"), "n", ("+", "i", "j")), ("+", "i", "j")), same, same
    )
    assert "is no fact here" in told(clamped, by(as_n, more), by(as_n, more))
    assert "no fact here" in told((">=", ("?:", (">", "n", "i"), "i", "n"), "i"), same, by(as_n, more))
    assert "the sum is" in told(
        (">=", ("?:", (">", "n", "i"), "n", "i"), ("+", "i", 2)), by((">=", "n", ("+", "i", 2)), more), same
    )
    assert "not well formed" in told(clamped, by(as_n, more))
    assert "not well formed" in told(clamped, by(as_n, more), same, same)
    assert "not well formed" in told(clamped, by(as_n, more), same, also=True)
    assert "there is no proof of n <= i" in told(("||", (">", "n", 4), ("<=", "n", "i")), [], [])
    assert "has no choice in it" in told(as_n, [], [])
    counted = ("<=", ("int", (">", "i", "j")), ("-", "i", "j"))
    one, none = ({"sum": [["1", [fact(c, "-")]]]} for c in ((">", "i", "j"), (">=", "i", "j")))
    assert told(counted, by(("<=", 1, ("-", "i", "j")), one), by(("<=", 0, ("-", "i", "j")), none)) == ""
    assert "there is no proof of 1 < i - j" in told(("<", *counted[1:]), [], [])


SUMS: Final = st.recursive(
    st.sampled_from(["n", "m", "i", 0, 1, 3]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "+", "-", "*", "max", "min"]), inner, inner),
        st.tuples(st.sampled_from(["/", "%", ">>", "&"]), inner, st.sampled_from([1, 2, 3, 7])),
    ),
    max_leaves=4,
)
BOUNDED: Final = st.tuples(
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), SUMS, st.sampled_from(["n", -2, 0, 1, 4])
)


@pytest.mark.whole
@examples(60, 5000)
@given(st.lists(BOUNDED, max_size=4), SUMS, BOUNDED)
@example([(">=", "n", 0), (">=", "i", 2)], ("*", ("+", "n", 0), ("*", "i", "i")), (">=", "n", 0))
@example([(">=", "n", 2), (">=", "m", 0)], ("*", "n", "m"), (">=", ("*", "n", "m"), 1))
@example([(">=", ("*", 2, "n"), 3)], ("*", 4, "n"), (">=", "n", 2))
@example([(">=", ("*", 2, "n"), 3), (">=", "n", 1)], "n", (">=", "n", 3))
@example([(">=", "n", 5)], ("/", "n", 2), (">=", ("/", "n", 2), 3))
@example([("==", ("%", "n", 3), 0), (">=", "n", -2)], "n", (">=", ("/", "n", 3), 0))
@example([("<=", ("-", "n", "m"), 4)], ("-", ("*", 3, "m"), ("*", 3, "n")), ("<", "n", "m"))
@example([(">=", "n", -1)], ("max", 0, "n"), ("==", ("max", 0, "n"), "n"))
@example([("==", "n", ("*", 4, (">>", "n", 2)))], (">>", "n", 2), (">=", "n", 0))
def test_lower_bounds_hold_at_every_store(facts: list[Any], term: Any, goal: Any) -> None:
    made = recheck.Checker(recheck.frozen(document("loop")))
    made.leaves |= {("param", "m"): recheck.INT}
    view = Lanes(made, made.conj(map(e, facts)), None)
    shown, nobody = view.implies(e(goal)), view.nobody
    positive, absent = (view.implies(e((op, term, 0))) for op in (">=", "<"))
    claims = nobody or shown or positive or absent
    for n, m, i in product(range(-4, 9), repeat=3) if claims else ():
        store = {"n": n, "m": m, "i": i}
        if allowed(facts, store):
            assert not nobody
            assert not positive or worth(term, store) >= 0
            assert not absent or worth(term, store) < 0
            assert not shown or worth(goal, store)


@pytest.mark.parametrize(
    ("facts", "goal", "shown"),
    [
        ([(">=", "n", 2)], (">", "n", 1), True),
        ([(">=", "n", 2)], (">", "n", 0), True),
        ([(">=", "n", 2), (">=", "m", 3)], (">", ("+", "n", "m"), 4), True),
        ([(">=", "n", 2), (">=", "m", 3)], (">", ("+", "n", "m"), 5), False),
        ([(">=", "n", 2)], (">", ("-", "n", "m"), 0), False),
        ([], ("<=", ("&", "n", 63), 63), True),
        ([], ("<", ("&", "n", 63), 63), False),
        ([], ("<=", ("&", ("int", ("<", "n", "m")), 15), 1), True),
        ([("<=", "n", 99), (">=", "n", 0)], ("<", (">>", "n", 3), 13), True),
        ([("<=", "n", 99), (">=", "n", 0)], ("<", (">>", "n", 3), 12), False),
        ([], ("==", ("&", ("&", "n", 255), 2047), ("&", "n", 255)), True),
        ([], ("==", ("&", ("&", "n", 2047), 255), ("&", "n", 2047)), False),
        ([], (">=", ("max", ("&", "n", 63), "m"), 0), True),
        ([], (">=", ("min", ("&", "n", 63), "m"), 0), False),
        ([], ("<=", ("^", ("&", "n", 31), 5), 31), True),
        ([], ("<=", ("^", ("&", "n", 31), 5), 30), False),
        ([], ("<=", ("int", "q"), 1), True),
        ([], ("<=", ("int", "q"), 0), False),
        ([], (">=", ("int", "q"), 0), True),
        ([(">=", "n", 2), (">", "n", 0)], (">", "n", 0), True),
        ([(">=", ("*", 2, "n"), 3)], (">=", "n", 2), True),
        ([("<=", "n", "m")], (">=", ("-", ("*", 3, "m"), ("*", 3, "n")), 0), True),
        ([("<", "n", "m")], ("!=", "n", "m"), True),
        ([("<", "n", "m")], ("!=", "m", "n"), True),
        ([("<=", "n", "m")], ("!=", "n", "m"), False),
        ([("==", "n", "m")], (">=", "n", "m"), True),
        ([("!=", "n", "m")], ("<", "n", "m"), False),
        ([("==", ("*", 2, "n"), ("*", 3, "m"))], ("==", ("*", 3, "m"), ("*", 2, "n")), True),
        ([("==", ("*", 2, "n"), ("+", ("*", 3, "m"), 1))], ("==", ("*", 2, "n"), ("*", 3, "m")), False),
        ([("<", "n", "m")], ("||", ("<", "n", "m"), ("<", "n", 5)), True),
        ([("<", "n", "m"), ("<", "n", 5)], ("||", ("<", "n", "m"), ("<", "n", 5)), True),
        ([("<", "n", "m")], ("&&", ("<", "n", "m"), ("<", "n", 5)), False),
        ([("<=", "n", "m"), ("!=", "n", "m")], ("<", "n", "m"), True),
        ([(">=", "n", "m"), ("!=", "m", "n")], (">", "n", "m"), True),
        ([("<=", "n", ("+", "m", 1)), ("!=", "n", "m")], ("<", "n", "m"), False),
        ([("<=", ("-", "n", 1), "m"), ("!=", "n", "m")], ("<", "n", "m"), False),
        ([], ("!=", ("*", 2, "n"), ("+", ("*", 4, "m"), 1)), True),
        ([], ("!=", ("*", 2, "n"), ("+", ("*", 4, "m"), 2)), False),
        ([(">=", "n", 0)], ("==", ("max", "n", 0), "n"), True),
        ([("<=", "n", 0)], ("==", ("max", "n", 0), 0), True),
        ([], ("==", ("%", "n", 1), 0), True),
        ([], ("==", ("max", "n", 0), "n"), False),
        ([], (">=", ("&", ("+", "i", ("&", "n", (1 << 27) - 1)), (1 << 32) - 1), 0), True),
        ([], ("<", ("&", ("+", "i", "n"), 1023), 1024), True),
        ([], ("<", ("&", ("+", "i", "n"), 1023), 1023), False),
    ],
)
def test_what_facts_say_of_signs(facts: list[Any], goal: Any, shown: bool) -> None:
    made = recheck.Checker(recheck.frozen(document("loop")))
    made.leaves |= {("param", "m"): recheck.INT, ("var", "q"): recheck.BOOL}
    assert Lanes(made, made.conj(map(e, facts)), None).implies(e(goal)) == shown


@pytest.mark.parametrize(("most", "least"), [(-5, None), (7, None), (7, 2), (-1, -9)])
def test_ends_of_what_no_normal_form_decides(most: int, least: int | None) -> None:
    """Ends hold of max(0, n) and floor(n/3) as they stand, too, and are the best for these."""
    facts = [("<=", "n", most), *([] if least is None else [(">=", "n", least)])]
    view = lanes(*facts)
    n, ns = recheck.single("param", "n"), range(-20 if least is None else least, most + 1)
    kinds: list[tuple[recheck.Potential, Callable[[int], int]]] = [
        (recheck.max0(n), lambda k: max(0, k)),
        (recheck.floor_of(n, 3), lambda k: k // 3),
    ]
    for p, of in kinds:
        for sign in (1, -1):
            end = view._least(p * sign)
            values = [sign * of(k) for k in ns]
            assert end == (None if least is None and sign > 0 and of(-20) else min(values))


@pytest.mark.parametrize(
    ("fact", "known"),
    [
        (("==", ("elem:G", 3), 8), 8),
        (("==", -8, ("elem:G", 3)), -8),
        (("==", ("-", 1, ("elem:G", 3)), 9), -8),
        (("==", ("*", 2, ("elem:G", 3)), 8), None),
        (("==", ("+", ("elem:G", 3), ("elem:G", 4)), 8), None),
        (("==", ("+", ("elem:G", 3), "n"), 8), None),
        (("==", ("*", ("elem:G", 3), ("elem:G", 3)), 9), None),
        (("<=", ("elem:G", 3), 8), None),
        (("!=", ("elem:G", 3), 8), None),
        (("!", ("==", ("elem:G", 3), 8)), None),
        (("==", ("elem:G", "t"), 8), None),
        (("==", ("elem:G", ("+", "i", 3)), 8), None),
    ],
)
def test_an_element_is_a_number_where_a_fact_says_no_less(fact: Any, known: int | None) -> None:
    """Of an array that no thread writes, at an index that is 3 at three lanes."""
    made = program(block=[32, 1, 1])
    made.stable.add("G")
    view = Lanes(made, made.conj([e(fact)]), frozenset())
    index = made.worth(e(("elem:G", ("min", "t", 3))))
    values = [view.value_at(index, lane) for lane in view.warps[0]]
    assert {v for v in values[3:] if isinstance(v, int)} == ({known} - {None})
    assert not any(isinstance(v, int) for v in values[:3])


@pytest.mark.parametrize("a", range(6))
@pytest.mark.parametrize("b", range(4))
def test_a_ring_and_what_is_beside_it(a: int, b: int) -> None:
    """a*t + ((b*t + 70*n + 3) & 127): lanes on either side of the ring's end may be in sectors of their own."""
    index = ("+", ("*", a, "t"), ("&", ("+", ("*", b, "t"), ("+", ("*", 70, "n"), 3)), 127))
    view = lanes(block=[32, 1, 1])
    found = max(len({worth(index, {"t": t, "n": n}) // 8 for t in range(32)}) for n in range(128))
    assert view.most(view.program.arrays["G"], e(index)) >= found


def accessed(index: Any, n: int, proof: Json, *facts: Any, array: str = "G") -> str:
    """What the second checker says of MemReads(G[index]) <= n, or Conflicts(S[index]) <= n, with such a proof."""
    made = recheck.Checker(recheck.frozen(document("loop")))
    made.evidence = [{"engine": "z3", "proof": recheck.frozen(proof)}]
    try:
        made.accesses(made.conj(map(e, facts)), frozenset(), array, e(index), n)
    except Bad as problem:
        return str(problem)
    return "".join(made.solver_backed)


RISING: Final = (("<", ("-", "i", 1), ("&", "t", 3)), (">=", ("-", "i", 1), 1))
"""Lanes of which t & 3 is 2 at least, i being the same in all."""


@pytest.mark.parametrize(
    ("index", "launch", "reads"),
    [
        (("^", ("+", "t", ("*", 48, "n")), 43), ([32, 1, 1], None), 4),  # by n modulo 2
        (("^", ("+", "t", ("*", 45, "n")), 114), ([32, 1, 1], None), 5),  # modulo 32
        (("+", ("*", 2, "t"), ("&", "n", 1)), ([4, 1, 1], None), 1),
        (("+", "t", ("*", 4, ("*", ("&", "n", 1), ("&", (">>", "n", 1), 1)))), ([8, 1, 1], None), 2),  # for the last
        (("&", ("+", "t", ("*", 70, "n")), 127), ([32, 1, 1], None), 5),  # a ring: quotients by 64 are those by 128
        (("&", ("+", ("*", 3, "t"), ("+", ("*", 120, "n"), 85)), 127), ([8, 1, 1], None), 4),
        (("+", "t", ("*", 4, ("*", "blockIdx.y", "blockIdx.y"))), ([8, 1, 1], [1, 2, 1]), 2),
        (("+", "t", ("*", 4, ("-", ("*", "blockIdx.y", "blockIdx.y"), "blockIdx.y"))), ([8, 1, 1], [1, 2, 1]), 1),
        (("+", "t", ("*", 4, "blockIdx.x")), ([8, 1, 1], [1, 2, 1]), 1),  # which is 0
    ],
)
def test_accesses_by_cases(index: Any, launch: tuple[list[int], Any], reads: int) -> None:
    """Something that all lanes share is one of few: no access touches more than in the worst case, and not less."""
    given = document("loop", block=tuple(launch[0]))
    given["launch"]["grid"] = launch[1] or [None, None, None]
    made = recheck.Checker(recheck.frozen(given))
    for n in (reads - 1, reads):
        made.evidence, made.solver_backed = [{"engine": "lanes", "proof": None}], []
        made.accesses(frozenset(), frozenset(), "G", e(index), n)
        assert bool(made.solver_backed) == (n < reads)
    places = product(*(range(k) for k in launch[1] or (1, 64, 1)))
    found = 0
    for x, y, z in places:
        place = {"blockIdx.x": x, "blockIdx.y": y, "blockIdx.z": z, "n": y}
        found = max(found, len({worth(index, place | {"t": t}) // 8 for t in range(launch[0][0])}))
    assert found == reads


@pytest.mark.parametrize(
    ("facts", "test", "uniform"),
    [
        ([("==", ("%", "i", 16), 0), ("==", ("%", "i", 48), 0)], ("<", ("+", "i", "t"), 1088), True),
        ([("==", ("%", "i", 16), 0)], ("<", ("+", "i", "t"), 1088), False),
        (RISING, ("<", ("&", "t", 3), 2), True),
        (RISING, ("<", ("&", "t", 3), 3), False),
        (RISING[:1], ("<", ("&", "t", 3), 2), False),
        ([("<=", "i", 1000)], ("&&", (">", ("/", ("max", "i", 0), 8), 125), ("<", "t", 5)), True),
        ([("<=", "i", 1000)], ("&&", (">", ("/", ("max", "i", 0), 8), 124), ("<", "t", 5)), False),
        ([], ("&", ("&", 0, ("+", "t", "n")), 7), True),
    ],
)
def test_tests_that_ends_and_multiples_decide(facts: Sequence[Any], test: Any, uniform: bool) -> None:
    view = lanes(*facts, x="i", block=[48, 1, 1])
    assert view.uniform(e(test)) == uniform


@pytest.mark.parametrize(
    ("proof", "said"),
    [
        (None, "MemReads(G[tid.x * 32]) <= 1 (unverified)"),
        ([], "MemReads(G[tid.x * 32]) <= 1 (unverified)"),
        ({}, "a proof.by is missing"),
        (1, "a proof of what follows from P is missing"),
        ([{"goal": row(e(("<", 0, 0))), "by": [{"sum": []}]}], "0 < 0: the sum is 0 and not -1"),
        ([{"by": [{"sum": []}]}], "an expression is not well formed"),
        (0, "a proof of what follows from P is missing"),
        ("", "a proof of what follows from P is missing"),
        (False, "a proof of what follows from P is missing"),
        ([{"goal": row(e(("<", "t", 1)))}], "not well formed"),
        ([{"goal": row(e(("+", "t", 1)))}], "a goal is not a truth value"),
        ([{"goal": ["var", "k"]}], "no var is called 'k'"),
        ([{"goal": row(e(("<", "t", 1))), "by": [{"sum": []}]}], "the sum is 0 and not"),
        ([{"goal": row(e(("<", "t", 1))), "by": []}], "has not so many proofs"),
        ([1], "a proof of what follows from P.0 is missing"),
    ],
)
def test_what_is_shown_for_an_access_is_checked(proof: Json, said: str) -> None:
    assert said in accessed(("*", "t", 32), 1, proof)


def least_and_most(index: Any, low: Any, high: Any, *proofs: Json) -> Json:
    """Proofs of index >= low and index <= high; that it is itself is seen."""
    goals = (">=", index, low), ("<=", index, high)
    return [{"goal": row(e(g)), "by": [by]} for g, by in zip(goals, proofs, strict=True)]


def test_a_window_is_no_more_than_what_is_shown() -> None:
    """i is in 1 .. 6, so that n + i is in a window of 8 from n: two sectors at most, in banks of their own."""
    low, high = (">=", "i", 1), ("<=", "i", 6)
    factors = [{"sum": [["1", [["fact", row(e(f)), sign]]], ["1", []]]} for f, sign in ((low, "-"), (high, "+"))]
    index, first = ("+", "n", "i"), row(e("n"))
    window = {"is": row(e(index)), "first": first, "span": 7, "by": least_and_most(index, "n", ("+", "n", 7), *factors)}
    assert accessed(index, 2, None, low, high) != ""
    assert accessed(index, 2, window, low, high) == ""
    assert accessed(index, 1, window, low, high, array="S") == ""
    assert accessed(index, 2, window | {"by": []}, low, high) == ""  # by what i is at least and at most
    assert "<= 1 (unverified)" in accessed(index, 1, window, low, high)
    assert "is no fact here" in accessed(index, 2, window, low)
    for part, odd, said in (
        ("span", 5, "there is no proof of n + i <= n + 5"),
        ("span", -1, "a proof.span is missing"),
        ("span", recheck.MAX_SPAN, "a proof.span is missing"),
        ("span", True, "a proof.span is missing"),
        ("first", row(e(("+", "n", 2))), "there is no proof of n + i >= n + 2"),
        ("first", ["var", "k"], "no var is called 'k'"),
        ("is", row(e(("+", "i", ("*", 2, "n")))), "there is no proof of i + 2 * n <= n + 7"),
        ("is", row(e("j")), "there is no proof of j <= n + 7 && j >= n && n + i == j"),
        ("is", row(e(("<", "i", "n"))), "the operator '==' does not take these operands"),
        ("by", None, "a proof.by is missing"),
        ("of", 1, "a proof.of is missing"),
    ):
        assert said in accessed(index, 2, window | {part: odd}, low, high)


@pytest.mark.parametrize(
    ("divisor", "first", "said"),
    [
        ("n", ("/", 0, "n"), ""),
        ("j", ("/", 0, "j"), "there is no proof of"),  # which may be another in each lane, of either sign
        ("n", ("/", 0, ("+", "n", 1)), "there is no proof of"),
        ("n", ("*", 0, "n"), "there is no proof of"),
    ],
)
def test_quotients_are_no_farther_apart(divisor: str, first: Any, said: str) -> None:
    """tid.x / n, of what is in 0 .. 31: five sectors, which begin at 0 / n or end there."""
    t, facts = "t", [["fact", row(e((">=", "t", 0))), "-"], ["fact", row(e(("<", "t", "blockDim.x"))), "+"]]
    least, most = ({"sum": [["1", [fact]]]} for fact in facts)
    by = least_and_most(t, 0, ("+", 0, 31), least, {"put": row(e(SIZE)), "then": most})
    index = ("/", "t", divisor)
    window = {"is": row(e(index)), "first": row(e(first)), "span": 31, "by": by}
    assert (said in accessed(index, 5, window)) if said else accessed(index, 5, window) == ""
    assert accessed(index, 4, window) != ""


def test_quotients_by_a_negative_number_go_down() -> None:
    """i / -1 of an i in 0 .. 7 is in -7 .. 0, which are two sectors and not the one from 0 on."""
    low, high, index = (">=", "i", 0), ("<=", "i", 7), ("/", "i", -1)
    window = {"is": row(e(index)), "first": row(e(("/", 0, -1))), "span": 7, "by": []}
    assert "MemReads(G[i / (-1)]) <= 1 (unverified)" in accessed(index, 1, window, low, high)
    assert accessed(index, 2, window, low, high) == ""


@pytest.mark.parametrize(
    ("span", "reads", "said"),
    [
        (8, 2, ""),
        (7, 2, "there is no proof of n + i <= n + 28"),
        (8, 1, "MemReads(G[(n + i) / 4]) <= 1 (unverified)"),
    ],
)
def test_quotients_by_a_number_are_closer(span: int, reads: int, said: str) -> None:
    """(n + i) / 4 of an i in 0 .. 31 is n/4 .. n/4 + 8, which is in two sectors."""
    window = {"is": row(e(("/", ("+", "n", "i"), 4))), "first": row(e(("/", "n", 4))), "span": span, "by": []}
    told = accessed(("/", ("+", "n", "i"), 4), reads, window, (">=", "i", 0), ("<=", "i", 31))
    assert said in told if said else told == ""
    assert {((n + i) // 4) - n // 4 for n in range(4) for i in range(32)} == {*range(9)}


def test_a_window_around_what_is_read() -> None:
    """G[i] & 7 is in 0 .. 7 whatever is read, twice as well: each read is a value of its own."""
    masked = ("&", ("read", "G"), 7)

    def reads(text: Any, *names: Any) -> Any:
        found = iter(names)

        def walk(part: Any) -> Any:
            if part == ("read", "G"):
                return next(found)
            return ("op", part[0], *map(walk, part[1:])) if isinstance(part, tuple) else e(part)

        return walk(text)

    made = recheck.Checker(recheck.frozen(document("loop")))
    read = ("read", "G", e("i"))
    for twice, n in ((False, 2), (True, 3)):
        text = ("+", masked, masked) if twice else masked
        unknown = reads(text, ("var", "?i0"), ("var", "?i1"))
        parts = [[["1", [["var", f"?i{i}"]]]] for i in range(1 + twice)]
        factors = [[["1", [[kind, part, 8]]] for part in parts] for kind in ("low", "high")]
        goals = ("op", ">=", unknown, e(0)), ("op", "<=", unknown, ("op", "+", e(0), e(14 if twice else 7)))
        by = [{"goal": row(g), "by": [{"sum": sum_}]} for g, sum_ in zip(goals, factors, strict=True)]
        window = {"is": row(unknown), "first": row(e(0)), "span": 14 if twice else 7, "by": by}
        for allowed in (n - 1, n):
            made.evidence, made.solver_backed = [{"engine": "z3", "proof": recheck.frozen(window)}], []
            made.accesses(frozenset(), frozenset(), "G", reads(text, read, read), allowed)
            assert bool(made.solver_backed) == (allowed < -(-(1 + window["span"]) * 4 // 32))


BELOW: Final = ("<", "t", ("+", "n", 1))
FAR, NEAR = (">", "n", "blockDim.x"), ("<=", "n", 0)


def holding(fact: Any, below: str) -> Json:
    """n >= t by n > blockDim.x > t, or n + 1 <= t by n <= 0, which is none."""
    facts = [["fact", row(e(fact)), "-"], ["fact", row(e(("<", "t", "blockDim.x"))), "+"]]
    return [{"goal": row(e(BELOW)), "by": [{"sum": [["1", [f]] for f in facts] + [[below, []]]}]}]


@pytest.mark.parametrize(
    ("fact", "expression", "proof", "said"),
    [
        (FAR, BELOW, holding(FAR, "2"), ""),
        (FAR, BELOW, holding(FAR, "1"), "the sum is"),
        (NEAR, BELOW, holding(FAR, "2"), "is no fact here"),
        (FAR, BELOW, [], "(unverified)"),
        (FAR, BELOW, {"by": holding(FAR, "2")}, "a proof of what follows from P is missing"),
        (FAR, BELOW, 1, "a proof of what follows from P is missing"),
        (FAR, BELOW, None, "(unverified)"),
        (FAR, ("<", "t", ("+", "n", 2)), holding(FAR, "2"), ""),
        (FAR, ("<", "t", "n"), holding(FAR, "2"), "(unverified)"),
        (FAR, "i", holding(FAR, "2"), "(unverified)"),
        (FAR, ("<", ("read", "G"), "n"), None, "(unverified)"),
        (
            FAR,
            BELOW,
            [{"goal": ["op", "<", ["read", "G", ["tid", "x"]], ["param", "n"]], "by": []}],
            "not so many proofs",
        ),
    ],
)
def test_what_holds_everywhere_or_nowhere_is_uniform(fact: Any, expression: Any, proof: Json, said: str) -> None:
    """In a block whose sizes are not known, lanes are nothing that could be looked at."""
    made = recheck.Checker(recheck.frozen(document("loop", block=(None, None, 1))))

    def term(text: Any) -> Any:
        read = isinstance(text, tuple) and text[1] == ("read", "G")
        return ("op", text[0], ("read", "G", ("tid", "x")), e(text[2])) if read else e(text)

    made.evidence = [{"engine": "z3", "proof": recheck.frozen(proof)}]
    asked: Any = frozenset(made.conj([term(fact)])), frozenset(), term(expression)
    if said in ("", "(unverified)"):
        made.uniform(*asked)
        assert [line[-12:] for line in made.solver_backed] == [said] * bool(said)
    else:
        with pytest.raises(Bad, match=said):
            made.uniform(*asked)


def test_what_holds_nowhere() -> None:
    made = recheck.Checker(recheck.frozen(document("loop", block=(None, None, 1))))
    goal, fact = e((">=", "t", "n")), e((">=", "n", "blockDim.x"))
    facts = [["fact", row(fact), "-"], ["fact", row(e(("<", "t", "blockDim.x"))), "+"]]
    rows = [{"goal": row(e(("<", "t", "n"))), "by": [{"sum": [["1", [f]] for f in facts]}]}]
    made.evidence = [{"engine": "z3", "proof": recheck.frozen(rows)}]
    made.uniform(frozenset({fact}), frozenset(), goal)
    assert not made.solver_backed


@pytest.mark.whole
def test_a_grid_stride_loop_needs_no_solver() -> None:
    """In blocks of any size: the branch that all take, or none, is told by a proof."""
    first = op("+", op("*", Param("blockIdx.x"), Param("blockDim.x")), T)
    step = Assign("i", op("+", LANE, op("*", Param("gridDim.x"), Param("blockDim.x"))))
    body = seq(Assign("i", first), While(op("<", LANE, N), seq(Write("G", LANE, ZERO), step)))
    k = kernel(body)
    context = Context(check_kernel(k), METRICS["divwarps"], HARDWARE["nvidia"], Launch(), "warp")
    (result,) = find_bounds(Outline(k, context, bare(k.body)), (METRICS["divwarps"],), Oracles())
    assert result.claim is not None
    assert result.derivation is not None
    doc = certificate.write(result.claim, result.derivation, result.ledger, proof, {})
    assert any(isinstance(each["proof"], list) for each in doc["evidence"])
    report = recheck.recheck(doc)
    assert (report.verdict, report.solver_backed) == ("valid", [])


@pytest.mark.parametrize(("sides", "shown"), [(("live", "live"), True), (("live", "dead"), False)])
def test_truth_values_that_are_the_same(sides: tuple[str, str], shown: bool) -> None:
    """A fact that is literally so needs no arithmetic."""
    made = recheck.Checker(recheck.frozen(document("loop")))
    made.leaves |= {("var", name): recheck.BOOL for name in ("live", "dead")}
    goal = ("op", "==", *(("var", name) for name in sides))
    made.evidence = [{"engine": "closed-form", "proof": None}]
    made.entails(frozenset(), frozenset({goal}))
    assert bool(made.solver_backed) != shown


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("metric", "fixed", "op"), "0", "these are not the prices of steps"),
        (("metric", "name"), "divwarps", "these are not the prices of divwarps"),
        (("hardware", "banks"), 16, "these are not the sizes of nvidia"),
        (("hardware", "phase"), 128, "these are not the sizes of nvidia"),
        (("hardware", "phase"), None, "certificate.hardware.phase"),
        (("hardware", "phase"), 1025, "certificate.hardware.phase"),
        (("metric", "name"), "steps\n  valid", "certificate.metric.name"),
        (("kernel", "name"), "k\x1b[2J", "certificate.kernel.name"),
        (("hardware", "name"), "", "certificate.hardware.name"),
    ],
)
def test_names_mean_what_they_mean_elsewhere(path: tuple[str, ...], value: Json, problem: str) -> None:
    """A report shows the metric's name, not its prices; both checkers see to it that they are its own."""
    doc = signed(changed("loop", path, value))
    report = recheck.recheck(doc)
    assert report.verdict == "invalid"
    assert problem in report.problem
    with pytest.raises(certificate.BadCertificate):
        certificate.read(certificate.canonical(doc), "c.json")


# --- what cannot be decided, and where it runs ------------------------------------------------------------------------


def test_what_is_not_decided_is_solver_backed() -> None:
    doc = document("loop")
    for i, entry in enumerate(doc["evidence"]):
        doc["evidence"][i] = entry | {"engine": "z3 1.2", "proof": None}
    report = recheck.recheck(signed(doc))
    assert report.verdict == "solver-backed"
    assert all(text.endswith("(unverified)") and text.startswith("derivation[") for text in report.solver_backed)


def test_a_forged_claim_is_not_printed_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever makes a certificate writes the name of the engine: it says nothing, and is not repeated."""
    doc = document("loop")
    skip = add(doc, "statements", ["skip"])
    true, q = add(doc, "assertions", []), add(doc, "potentials", [["-1", []]])
    doc["kernel"]["body"] = skip
    doc["derivation"] = [{"rule": "Q:Skip", "with": {"P": true, "Q": q, "X": []}, "from": [], "at": None}]
    doc["evidence"] = [{"engine": "lanes, valid", "proof": None}]
    report = recheck.recheck(signed(doc))
    assert (report.verdict, report.problem) == ("solver-backed", "")
    assert report.claim.startswith("not verified: every warp of k costs at most -1 steps;")
    path = tmp_path / "forged.json"
    path.write_text(certificate.canonical(signed(doc)))
    assert recheck.main([str(path)]) == 1
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "solver-backed"
    assert lines[1] == report.claim
    assert lines[2:] == ["the claim: true |- -1 >= 0 (unverified)"]
    assert lines[1] == "not verified: every warp of k costs at most -1 steps; blocks of 32, any grid"
    assert "lanes" not in out


def assuming(*facts: Json, block: Any = (None, None, None)) -> recheck.Report:
    doc = document("loop", block=block)
    doc["launch"]["assumptions"] = [row(e(fact)) for fact in facts]
    return recheck.recheck(signed(doc))


@pytest.mark.parametrize(
    "facts",
    [
        [False],
        [("<", "n", 5), (">", "n", 5)],
        [("==", "n", 3), ("==", "n", 4)],
        [("==", ("%", "n", 2), 0), ("==", ("%", "n", 2), 1)],
        [("==", ("*", 2, "n"), 7)],
        [("<", "n", "gridDim.x"), (">", "n", ("*", 3, "blockDim.x")), ("<", ("*", 2, "gridDim.x"), ("+", "n", 3))],
        [(">", "blockDim.y", 1024)],
        [("<=", "gridDim.z", 0)],
        [("&&", ("<", "n", 5), (">", "n", 7))],
    ],
)
def test_what_no_launch_satisfies_proves_nothing(facts: list[Json]) -> None:
    found = assuming(*facts)
    assert (found.verdict, found.problem, found.solver_backed) == ("vacuous", recheck.VACUOUS, [])
    assert found.claim.startswith("not verified: ")


@pytest.mark.parametrize(
    "facts",
    [
        [],
        [True],
        [("<", "n", 6), (">", "n", 4)],
        [("==", ("%", "n", 2), 0), ("==", ("%", "n", 3), 1)],
        [("==", ("*", 2, "n"), 8)],
        [("<", "n", "gridDim.x"), (">", "n", ("*", 3, "blockDim.x"))],
        [("==", "blockDim.y", 1024), (">=", "gridDim.z", 1)],
        [("||", ("<", "n", 5), (">", "n", 7))],
        [("<", ("*", i, "n"), ("+", "gridDim.x", 1000 + i)) for i in range(40)],
    ],
)
def test_what_some_launch_satisfies_is_not_vacuous(facts: list[Json]) -> None:
    found = assuming(*facts)
    assert (found.verdict, found.problem, found.solver_backed) == ("valid", "", [])


def test_nested_assumptions_are_not_written_out() -> None:
    """Each quotient has two of the one inside it."""
    nested: Json = "n"
    for _ in range(40):
        nested = ("/", nested, 3)
    found = assuming(("<", nested, 5), (">", nested, 7))
    assert (found.verdict, found.solver_backed) == ("valid", [])


def test_a_launch_may_contradict_what_is_assumed() -> None:
    fact = ("<", "blockDim.x", 32)
    assert [assuming(fact, block=(n, 1, 1)).verdict for n in (32, 31)] == ["vacuous", "valid"]


@examples(80, 5000)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-6, 6)), max_size=6),
    st.integers(-4, 4),
    st.integers(-4, 4),
)
def test_quantities_that_are_nonnegative_somewhere_contradict_nothing(
    lines: list[tuple[int, int, int]], n: int, m: int
) -> None:
    rows = [a * poly("n") + b * poly("m") + c for a, b, c in lines]
    if all(a * n + b * m + c >= 0 for a, b, c in lines):
        assert not recheck.contradictory(rows)
    gap = poly("n") * 3 + poly("m") * 2
    assert recheck.contradictory([*rows, gap - 1, gap * -1])


def test_a_count_that_is_too_small_is_not_valid() -> None:
    doc = document("small", "divwarps")
    node = next(node for node in doc["derivation"] if node["rule"] == "Q:GWrite")
    node["with"]["n"] = 3
    report = recheck.recheck(signed(doc))
    assert report.verdict == "solver-backed"
    assert "MemReads(G[tid.x]) <= 3" in report.solver_backed[0]


NO_LIBRARIES: Final = """
import sys
for name in ("z3", "pysmt", "lark", "clang", "highspy", "numpy", "logic", "semantics"):
    sys.modules[name] = None
sys.path.insert(0, {root!r})
from checker.recheck import main
sys.exit(main([{path!r}, "--format", "json"]))
"""


def test_it_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    good.write_text(written("loop")["steps"])
    script = NO_LIBRARIES.format(root=str(ROOT), path=str(good))
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    digest = document("loop")["digest"]
    claim = "every warp of k costs at most 6 + 11*max(0, n) steps; blocks of 32, any grid"
    assert json.loads(ran.stdout) == {
        "claim": claim,
        "digest": digest,
        "problem": "",
        "reading": [],
        "solver_backed": [],
        "verdict": "valid",
    }


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(text: str, *options: str) -> tuple[int, str, str]:
        path = tmp_path / "c.json"
        path.write_text(text)
        code = recheck.main([str(path), *options])
        return code, *capsys.readouterr()

    assert told(written("loop")["steps"])[:2] == (
        0,
        "valid\nevery warp of k costs at most 6 + 11*max(0, n) steps; blocks of 32, any grid\n",
    )
    code, out, _ = told(written("loop")["steps"].replace('"warp":32', '"warp":64'), "--format", "json")
    assert (code, json.loads(out)["problem"]) == (3, "the digest is not that of the content")
    assert told('{"\\ud800": 1, "\\ud800": 2}')[0] == 2
    for text in ("{", '{"a":1,"a":2}', "[NaN]", "9" * 5000, "[" * 100_000, "[]", "null", '"x"'):
        code, out, problem = told(text)
        assert (code, out) == (2, "")
        assert problem.startswith("error: ")
        assert "is no certificate" in problem
    assert recheck.main([str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().err.startswith("error: cannot read ")


def test_it_runs_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(written("loop")["steps"])
    command = [sys.executable, "-I", str(ROOT / "checker" / "recheck.py"), str(path)]
    assert subprocess.run(command, capture_output=True, check=False, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("part", "more"),
    [
        ({"metric": {"name": "Steps"}}, " of the custom metric Steps ({prices})"),
        (
            {"hardware": {"name": "NVIDIA", "sector": 64}},
            " steps on the custom hardware NVIDIA (sector 64, word 4, alignment 256, banks 32, warp 32)",
        ),
        (
            {"hardware": {"name": "own", "phase": 128}},
            " steps on the custom hardware own (sector 32, word 4, alignment 256, banks 32, warp 32, phase 128)",
        ),
    ],
)
def test_names_that_look_like_known_ones_are_spelled_out(part: dict[str, dict[str, Json]], more: str) -> None:
    """Only `steps` and `nvidia` are the known ones: of all others the claim says the prices, and the sizes."""
    doc = document("loop")
    for name, fields in part.items():
        doc[name] |= fields
    prices = [f"{name} {c}" for name, c in sorted(doc["metric"]["fixed"].items())]
    prices += [f"{name}(n) max(0, {a}*n + {b})" for name, (a, b) in sorted(doc["metric"]["counted"].items())]
    found = recheck.recheck(signed(doc))
    assert found.verdict == "valid"
    assert found.claim.partition("; ")[0].endswith(f"max(0, n){more.format(prices=', '.join(prices))}")


def lengths(code: str) -> list[tuple[str, int]]:
    """The lines of code of the file's parts, in order: what is not blank, a comment, or a text by itself."""
    texts = {
        line
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    found: dict[str, int] = {}
    title = "before them"
    for i, line in enumerate(code.splitlines(), 1):
        head = re.match(r"# --- (.+?) -+$", line)
        title = head[1] if head else title
        found[title] = found.get(title, 0) + (i not in texts and not re.match(r"\s*(#|$)", line))
    return [*found.items()]


def test_the_guide_says_how_long_each_part_is() -> None:
    guide = (ROOT / "docs" / "recheck.md").read_text(encoding="utf-8")
    told = [(title, int(lines)) for title, lines in re.findall(r"^\| (.+?) \| ([\d,]+) \|", guide, re.MULTILINE)]
    parts = lengths(Path(recheck.__file__).read_text(encoding="utf-8"))
    assert told == [*parts, ("in all", sum(lines for _, lines in parts))]


def test_the_guide_goes_through_the_file_in_its_order() -> None:
    """docs/recheck.md has a section for each of the file's, in order, and names every class and public function."""
    code = Path(recheck.__file__).read_text(encoding="utf-8")
    guide = (ROOT / "docs" / "recheck.md").read_text(encoding="utf-8")
    ours = [title.strip(" -") for title in re.findall(r"^# --- (.+)$", code, re.MULTILINE)]
    heads = [title.lower() for title in re.findall(r"^## (.+)$", guide, re.MULTILINE)]
    assert len(ours) == 8
    assert heads[2:-1] == ours
    named = set(re.findall(r"^(?:class|def) ([A-Za-z]\w+)", code, re.MULTILINE)) - {"extent", "plain", "collected"}
    assert {name for name in named if not re.search(rf"`[^`]*\b{name}\b[^`]*`", guide)} <= {
        "terms", "primitive", "sayable", "Array", "Statement", "form_of",
    }  # fmt: skip


def test_contracts_are_told_with_letters_that_are_no_names() -> None:
    """`i` is a parameter here: the first variable is j."""
    j, k = ("var", "?i0"), ("var", "?i1")
    fact = ("op", "<=", ("op", "elem:row", j), ("op", "+", k, ("param", "i")))
    text = recheck.show_contract((((("const", "int", 0), ("param", "n")), (None, None)), fact))
    assert text == "forall j in [0, n), k: row[j] <= k + i"


def test_the_word_does_not_depend_on_how_texts_hash(tmp_path: Path) -> None:
    """A row of which each lane has a turn, in blocks of any size: of two quotients by 32, one makes a sum shorter only
    once the other one did."""
    rows = "int lane = t % 32, row = (blockIdx.x * blockDim.x + t) / 32; if (row >= n) return;"
    k = of_body(tmp_path, f"{rows} for (int j = lane; j < m; j += 32) x += A[row * m + j]; if (lane == 0) B[row] = x;")
    (found,) = bounds(k, (32, 1, 1), ["steps"], Launch((None, None, None)))
    assert found.claim is not None
    assert found.derivation is not None
    doc = certificate.write(
        found.claim, found.derivation, found.ledger, lambda o, c: None if isinstance(o, Uniform) else proof(o, c), {}
    )
    (tmp_path / "k.json").write_text(json.dumps(doc))
    script = f"import json, recheck; print(recheck.recheck(json.load(open({str(tmp_path / 'k.json')!r}))).verdict)"
    command, folder = [sys.executable, "-c", script], Path(recheck.__file__).parent
    ran = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env={"PYTHONHASHSEED": str(seed)})
        for seed in range(8)
    ]
    assert [one.communicate()[0] for one in ran] == ["valid\n"] * len(ran)
