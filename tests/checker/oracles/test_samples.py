"""Stores that are tried before a solver: most of P holds in them, and nothing is refuted by one where P does not."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, pairwise
from random import Random
from typing import Any, Final

import pytest

from checker.oracles import Oracles, samples
from checker.oracles.desk import Desk
from checker.oracles.samples import Sampler
from checker.oracles.terms import facts_of, value_of
from logic.assertions import AtLeast, Context, Entails, Launch, P, Proved, Refuted, Uniform, Unknown, Verdict, conj
from logic.metrics import HARDWARE, METRICS
from logic.operators import Value
from logic.potentials import element_of, sym
from logic.syntax import BOOL, BUILTINS, FLOAT, INT, Array, Const, Expr, Op, Param, Read, Tid, Var
from logic.typing import Signature

SIGMA = Signature(
    dict.fromkeys(("idx", "row", "col", "i", "y"), INT) | {"f": FLOAT, "g": FLOAT},
    dict.fromkeys((*BUILTINS, "n", "w", "h"), INT),
    {"A": Array("A", "global", FLOAT, 4), "K": Array("K", "global", INT, 4)},
)
CONTEXT = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch())
idx, row, col, i, x, y = map(Var, ("idx", "row", "col", "i", "x", "y"))
f, g = Var("f"), Var("g")
n, w, h = map(Param, ("n", "w", "h"))


def op(name: str, *args: Expr | int) -> Op:
    return Op(name, tuple(Const(a) if isinstance(a, int) else a for a in args))


NUMBER = op("+", op("*", Param("blockIdx.x"), Param("blockDim.x")), Tid("x"))
PIXELS = conj(
    (
        op("==", idx, NUMBER),
        op("<", idx, n),
        op("==", n, op("*", w, h)),
        op("==", row, op("/", idx, w)),
        op("==", op("%", idx, w), col),
        op("==", y, op("+", row, i)),
        op("<=", 0, i),
        op("<", i, 3),
        op(">", h, y),
    ),
    SIGMA,
)
"""What holds in the body of a stencil over pixels."""


def sampler(p: P = PIXELS, context: Context = CONTEXT, **more: Any) -> Sampler:
    return Sampler(facts_of(p, context, SIGMA), (), SIGMA, **more)


def holds(e: Expr, store: Mapping[str, Value]) -> bool:
    return bool(value_of(e, store))


def test_more_is_drawn_where_something_is_divided_by_what_is_not_known() -> None:
    for p, many in (((op("<", n, op("/", w, 2)),), False), ((op("<", n, op("/", 2, w)),), True)):
        assert len(list(sampler(p).draws())) == (samples.MANY if many else samples.TRIES)


def test_what_is_defined_is_computed_from_the_rest() -> None:
    stores = list(sampler().draws())
    assert len(stores) == samples.MANY
    for store in stores:
        assert all(holds(e, store) for e in PIXELS if isinstance(e, Op) and e.op == "==")
    assert any(all(holds(e, store) for e in sampler().facts) for store in stores)


@pytest.mark.parametrize(
    "fact",
    [
        Var("b"),
        op("!", Var("b")),
        op("==", Var("b"), Var("c")),
        op("==", op("-", i, y), 0),
        op("==", 7, op("+", i, op("-", n, op("*", y, 2)))),
        op("<=", op("-", i, y), -40),
    ],
)
def test_most_stores_fit_what_says_something_of_a_leaf_among_others(fact: Expr) -> None:
    """A truth value, and a number that stands on neither side alone."""
    sigma = Signature({**SIGMA.locals, "b": BOOL, "c": BOOL}, SIGMA.params, {})
    terms = (Var("b"), Var("c"))
    drawn = [*Sampler((fact,), terms, sigma).draws()]
    assert sum(holds(fact, store) for store in drawn) == len(drawn)


def test_limits_are_kept_where_both_sides_are_known() -> None:
    between = conj((op("<=", 7, i), op(">", 9, i), op("<", y, i), op(">=", row, y)), SIGMA)
    for store in sampler(between).draws():
        assert store["i"] in (7, 8)
        assert holds(op("<", y, i), store)
        assert holds(op(">=", row, y), store)


@pytest.mark.parametrize(
    "facts",
    [
        (op("==", op("%", i, 32), 0), op(">=", i, 1)),
        (op("==", op("&", op("-", n, i), 15), 3), op(">=", n, i)),
        (op("==", op("%", y, 32), 0), op("==", y, op("-", i, op("%", Tid("x"), 32))), op(">", i, n), op(">=", y, 0)),
    ],
)
def test_most_stores_fit_what_is_known_modulo_a_number(facts: tuple[Expr, ...]) -> None:
    """Of a leaf, of a difference, and of a leaf that another fact defines, as counters of loops by a stride are."""
    p = sampler(facts)
    drawn = [*p.draws()]
    assert sum(map(p.fits, drawn)) >= len(drawn) * 3 // 4


def calls(names: int) -> int:
    """The calls that it takes to put in order so many numbers, each at most the next, and as many definitions."""
    v, u = ([Var(f"{x}{i:03}") for i in range(names)] for x in "vu")
    facts = [op("<=", a, b) for a, b in pairwise(v)] + [op("==", b, op("*", a, a)) for a, b in zip(v, u, strict=True)]
    ours = Sampler(facts, (), Signature(dict.fromkeys((x.name for x in v + u), INT), {}, {}))
    found = 0

    def called(*_: object) -> None:
        nonlocal found
        found += 1

    sys.setprofile(called)
    try:
        assert len(ours.steps) == 2 * names
    finally:
        sys.setprofile(None)
    return found


def test_leaves_are_put_in_order_in_time_that_grows_with_their_number() -> None:
    calls(100)  # what facts say is kept
    assert calls(100) < 2.5 * calls(50)


def test_the_same_stores_each_time() -> None:
    assert list(sampler().draws()) == list(sampler().draws())


def test_stores_are_drawn_once_for_the_same_facts_and_names() -> None:
    """Those that one claim has looked at, and then those that none has; none at which the facts do not hold."""
    desk = Desk()
    first = list(islice(desk.draws(sampler()), 3))
    drawn = list(desk.draws(sampler()))
    assert drawn == [s for s in sampler().draws() if sampler().fits(s)]
    assert all(a is b for a, b in zip(drawn, first, strict=False))
    other = conj((*PIXELS, op(">", i, 1)), SIGMA)
    assert list(desk.draws(sampler(other))) == [s for s in sampler(other).draws() if sampler(other).fits(s)] != drawn


def test_a_store_fits_where_every_fact_holds_for_each_thread() -> None:
    pair = sampler(shared=frozenset({"n"}), threads=(1, 2), random=Random(1))
    stores = list(pair.draws())
    for store in stores:
        own = [{x: store.get(f"{x}@{t}", store.get(x, 0)) for x in pair.leaves} for t in (1, 2)]
        assert pair.fits(store) == all(holds(e, one) for one in own for e in pair.facts)
    assert {pair.fits(store) for store in stores} == {True, False}


def test_no_more_is_drawn_where_no_store_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.oracles.desk.HOPELESS", 5)
    never = sampler(conj((*PIXELS, op(">", op("*", i, i), op("+", op("*", i, i), op("/", w, h)))), SIGMA))
    desk = Desk()
    assert list(desk.draws(never)) == []
    assert [drawn.tried for drawn in desk.drawn.values()] == [5]
    assert list(desk.draws(never)) == []
    assert [drawn.tried for drawn in desk.drawn.values()] == [5]


def test_what_was_drawn_serves_the_next_question(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, draws, oracles = [], Sampler.draws, Oracles()

    def counted(own: Sampler) -> Iterator[dict[str, Value]]:
        drawn.append(own.key)
        return draws(own)

    monkeypatch.setattr(Sampler, "draws", counted)
    for than in (">=", "<="):
        goal = op(than, op("/", op("*", i, i), i), i)
        assert isinstance(oracles(Entails(conj((op(">=", i, 2),), SIGMA), (goal,)), CONTEXT), Proved)
    assert len(drawn) == 1


def test_two_threads_agree_on_what_they_share() -> None:
    shared = frozenset(("i", *SIGMA.params))
    stores = list(sampler(shared=shared, threads=(1, 2)).draws())
    assert not any("i@1" in store or "n@2" in store for store in stores)
    both = [store for store in stores if all(_of(store, t)["n"] > _of(store, t)["idx"] for t in (1, 2))]
    assert any(store["col@1"] != store["col@2"] for store in both)
    assert any(store["idx@1"] // 32 == store["idx@2"] // 32 and store["idx@1"] != store["idx@2"] for store in both)


def _of(store: Mapping[str, Value], thread: int) -> dict[str, Value]:
    return {name.partition("@")[0]: value for name, value in store.items() if not name.endswith(f"@{3 - thread}")}


@pytest.mark.parametrize("block", [(48, 1, 1), (16, 4, 1), (7, 3, 5)])
def test_threads_are_where_the_launch_has_them(block: tuple[int, int, int]) -> None:
    context = Context(SIGMA, CONTEXT.metric, CONTEXT.hardware, Launch(block))
    for store in sampler((), context).draws():
        assert tuple(store[f"blockDim.{a}"] for a in "xyz") == block
        assert all(0 <= store[f"tid.{a}"] < size for a, size in zip("xyz", block, strict=True))
        assert all(holds(e, store) or "gridDim" in str(e) for e in sampler((), context).facts)


def test_an_example_is_made_to_fit() -> None:
    """It is of a place where y was not known yet, and i was another."""
    there = next(s for s in sampler().draws() if all(holds(e, s) for e in sampler().facts))
    here = sampler(conj((*PIXELS, op("==", col, op("*", y, 5))), SIGMA)).refitted(there | {"y": -1, "col": -1})
    assert here["y"] == there["row"] + there["i"]
    assert here["idx"] == there["idx"]


@pytest.mark.parametrize("tries", [samples.TRIES, 0])
def test_solvers_are_asked_only_where_nothing_drawn_refutes_a_claim(
    tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "TRIES", tries)
    monkeypatch.setattr(samples, "MANY", tries)
    for question in (Uniform(PIXELS, frozenset({"i"}), col), Entails(PIXELS, (op("<", y, 2),))):
        oracles = Oracles()
        assert isinstance(oracles(question, CONTEXT), Refuted)
        assert len(oracles.log[0].queries) == (0 if tries else 1)


def test_nothing_that_holds_is_refuted() -> None:
    oracles = Oracles()
    for goal in (op(">=", row, 0), op("<", idx, n), op("<=", row, y), op("<", i, 3), op(">", h, 0)):
        assert not isinstance(oracles(Entails((*PIXELS, op(">", w, 0)), (goal,)), CONTEXT), Refuted), goal


def uniform(e: Expr, x: frozenset[str] = frozenset("iy"), p: P = (), **launch: Any) -> Verdict:
    context = Context(SIGMA, CONTEXT.metric, CONTEXT.hardware, Launch(), **launch)
    return Oracles()(Uniform(p, x, e), context)


def test_a_read_is_uniform_where_its_index_is() -> None:
    p = conj((op("==", idx, op("+", y, n)),), SIGMA)
    assert isinstance(uniform(Read("A", idx), p=p), Proved)
    assert isinstance(uniform(op("+", Read("A", idx), f), frozenset("fy"), p=p), Proved)
    assert isinstance(uniform(Read("A", idx)), Unknown)
    assert isinstance(uniform(op("<", Read("A", idx), Read("A", y)), p=p), Proved)
    assert isinstance(uniform(op("<", Read("A", idx), f), p=p), Unknown)
    assert isinstance(uniform(Read("A", Read("K", idx)), p=p), Proved)
    assert isinstance(uniform(Read("A", Read("K", idx))), Unknown)


def test_of_several_operands_none_is_asked_about_after_one_that_may_differ() -> None:
    oracle = Oracles()
    e = op("+", f, g)
    assert isinstance(oracle(Uniform((), frozenset(), e), CONTEXT), Unknown)
    assert [r.asked.expr for r in oracle.log if isinstance(r.asked, Uniform)] == [f, e]


def test_a_value_of_a_base_type_is_uniform_by_x_alone() -> None:
    assert isinstance(uniform(op("*", f, g), frozenset("fg")), Proved)
    assert isinstance(uniform(op("*", f, g), frozenset("f")), Unknown)
    assert isinstance(uniform(op("<", f, g), frozenset("g")), Unknown)


def test_threads_of_two_warps_may_read_different_values() -> None:
    assert isinstance(uniform(Read("A", y)), Proved)
    assert not isinstance(uniform(Read("A", y), scope="block"), Proved)
    assert not isinstance(uniform(op("+", Read("A", y), f), frozenset("fy"), scope="block"), Proved)


@pytest.mark.parametrize(
    ("e", "value"),
    [
        (Const(True, BOOL), True),
        (Const(1), 1),
        (op("?:", op("<", idx, n), op("neg", idx), 0), -5),
        (op("<<", idx, 4096), 5 << 4096),
        (op("&&", op("<", idx, n), op("==", Tid("x"), 3)), True),
    ],
)
def test_the_value_of_an_expression(e: Expr, value: Value) -> None:
    found = value_of(e, {"idx": 5, "n": 6, "tid.x": 3})
    assert (found, type(found)) == (value, type(value))
    assert value_of(op("-", idx, n), {"idx": 1, "n": 9}) == -8 == -value_of(op("-", idx, n), {"idx": 9, "n": 1})


@pytest.mark.parametrize(
    "e",
    [
        row,
        op("+", 1, row),
        Read("K", Const(0)),
        Const("0.5f", FLOAT),
        op("<<", 1, 4097),
        op("call:sqrtf", f),
        op("call:f", idx, idx),
    ],
)
def test_what_has_no_value(e: Expr) -> None:
    with pytest.raises(KeyError):
        value_of(e, {"idx": 5, "f": 1})


ELEMENTS: Final = Signature(
    dict.fromkeys(("x", "y", "z"), INT),
    dict.fromkeys((*BUILTINS, "n"), INT),
    {"A": Array("A", "global", INT, 4)},
    frozenset("A"),
)


def test_what_is_made_up_for_elements_refutes_nothing_and_spares_the_solver() -> None:
    """`A[x] > x` does not follow, but data that are drawn need not keep contracts, of which this says nothing."""
    oracle, context = Oracles(), replace(CONTEXT, sigma=ELEMENTS)
    x, y = Var("x"), Var("y")
    a, b = (Op("elem:A", (leaf,)) for leaf in (x, y))
    for goal in (op(">", a, x), op(">", op("-", a, b), op("-", x, y))):
        p = conj((op(">=", x, 0), op(">=", a, y)), ELEMENTS)
        found = oracle(Entails(p, (goal,)), context)
        assert found == Unknown("examples", "what is known of the elements of arrays does not tell")
        assert oracle.log[-1].queries == ()
    p = conj((op(">=", a, y), op("==", y, x)), ELEMENTS)
    assert isinstance(oracle(Entails(p, (op(">=", op("*", a, 2), op("+", x, y)),)), context), Proved)
    more = AtLeast(p, frozenset(), element_of("elem:A", sym(x)), sym(y) + 1)
    assert isinstance(oracle(more, context), Unknown)
    assert oracle.log[-1].queries == ()


def test_of_two_threads_elements_are_of_one_array() -> None:
    """A[y] is what both threads read, where y is uniform; A[x] may differ."""
    oracle, context, z = Oracles(), replace(CONTEXT, sigma=ELEMENTS), Var("z")
    p = conj((op("==", z, Op("elem:A", (Var("y"),))),), ELEMENTS)
    tripled = op("*", z, 3)
    assert isinstance(oracle(Uniform(p, frozenset("y"), tripled), context), Proved)
    assert isinstance(oracle(Uniform(p, frozenset("x"), tripled), context), Unknown)


def test_what_arrays_hold_is_drawn_for_each_by_itself() -> None:
    """B[x] is less than A[x]: no one slope is that of both. Either may begin below 0."""
    sigma = replace(ELEMENTS, arrays={name: Array(name, "global", INT, 4) for name in "AB"}, stable=frozenset("AB"))
    oracle, context, x = Oracles(), replace(CONTEXT, sigma=sigma), Var("x")
    a, b = (Op(f"elem:{name}", (x,)) for name in "AB")
    p = conj((op(">=", x, 1), op("<=", b, 1), op(">=", a, 2)), sigma)
    for goal in (op(">=", a, 4000), op("<", a, x), op(">=", b, 0), op(">=", op("*", b, x), 0)):
        assert oracle(Entails(p, (goal,)), context).engine == "examples"
    assert [query for record in oracle.log for query in record.queries] == []


@pytest.mark.parametrize(
    "facts",
    [
        (op("==", x, op("+", op("*", Param("blockIdx.x"), 64), Tid("x"))), op("<", x, n), op(">", w, op("+", n, x))),
        (op("==", op("-", x, 2), y), op("==", y, Tid("x")), op("<", op("*", x, 2), n)),
        (op("==", x, y), op("==", y, n), op("<=", op("+", w, 3), x)),
        (Var("b"), op("==", Var("b"), op(">=", n, x)), op("==", x, w)),
        (op("!", Var("b")), op("==", Var("b"), op(">=", n, x)), op("==", x, w)),
    ],
)
def test_stores_fit_chains_of_definitions_and_limits(facts: tuple[Expr, ...]) -> None:
    """What something is compared with is drawn before it, however the names are sorted; of what is the same, all that
    is known of one is known of all."""
    sigma = Signature(dict.fromkeys("xy", INT) | {"b": BOOL}, SIGMA.params, {})
    drawn = [*Sampler(facts_of(facts, CONTEXT, sigma), (), sigma).draws()]
    assert sum(all(holds(fact, store) for fact in facts) for store in drawn) > len(drawn) * 0.7


def test_what_a_fact_compares_is_read_off_it_once_for_all_points_that_have_it() -> None:
    facts = (op(">=", idx, 3), op("==", op("-", row, idx), w), op("==", col, row))
    samples._sides.cache_clear()
    assert Sampler(facts, (), SIGMA).steps
    assert samples._sides.cache_info().misses == len(facts)
    more = Sampler((*facts, op("<", idx, n)), (), SIGMA)
    assert [step.name for step in more.steps] == ["n", "idx", "w", "col", "row"]
    assert samples._sides.cache_info().misses == len(facts) + 1
