"""Z3's terms mean what miniCUDA means, and its answers are not believed beyond what they say."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest
import z3

from checker.oracles import Oracles, samples, second, smt
from checker.oracles.desk import KNOWN, Answer, Desk, Patience
from checker.oracles.smt import Encoding
from logic.assertions import AtLeast, Context, Entails, Launch, Proved, Refuted, Uniform, Unknown, conj
from logic.metrics import HARDWARE, METRICS
from logic.operators import COMPARISONS, denote
from logic.potentials import atom, const, evaluate, floor_div, interval, log2, max0, sym
from logic.syntax import BOOL, BUILTINS, FLOAT, INT, Array, Const, Expr, Op, Param, Read, Tid, Var
from logic.typing import Signature

SIGMA = Signature(
    dict.fromkeys(("x", "y", "i"), INT) | {"u": BOOL, "v": BOOL, "f": FLOAT},
    dict.fromkeys((*BUILTINS, "n"), INT),
    {"A": Array("A", "global", INT, 4)},
)
CONTEXT = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch((64, 1, 1)))
x, y, i, n = Var("x"), Var("y"), Var("i"), Param("n")
RANGE = range(-9, 10)


def op(name: str, *args: Expr | int) -> Op:
    return Op(name, tuple(Const(a) if isinstance(a, int) else a for a in args))


EITHER = op("<", x, n), op("||", op("<=", x, y), op("<=", x, 2)), op("<", y, n), op(">", n, 2)
"""What is proved by cases alone: no short arithmetic proof shows it."""


@pytest.fixture(autouse=True)
def nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "TRIES", 0)
    monkeypatch.setattr(samples, "MANY", 0)


def value(term: Any, **leaves: int) -> int | bool:
    """The term's value, by simplification only."""
    known = [(z3.Int(name, term.ctx), z3.IntVal(v, term.ctx)) for name, v in leaves.items()]
    result = z3.simplify(z3.substitute(term, *known))
    return bool(z3.is_true(result)) if z3.is_bool(result) else int(result.as_long())


@pytest.mark.parametrize("name", ["+", "-", "*", "/", "%", "min", "max", *COMPARISONS])
def test_binary_operators_everywhere(name: str) -> None:
    term = Encoding(SIGMA).term(op(name, x, y))
    for a, b in product(RANGE, repeat=2):
        assert value(term, x=a, y=b) == denote(name, (a, b)), (a, b)


@pytest.mark.parametrize("name", ["/", "%", "<<", ">>", "&", "|", "^"])
@pytest.mark.parametrize("constant", [-9, -3, -1, 0, 1, 2, 3, 4, 7, 8, 9])
def test_operators_with_a_constant(name: str, constant: int) -> None:
    for swap in (False, True):
        term = Encoding(SIGMA).term(op(name, constant, x) if swap else op(name, x, constant))
        for a in RANGE if not functions(term) else ():
            assert value(term, x=a) == denote(name, (constant, a) if swap else (a, constant)), (a, swap)


def functions(term: Any) -> list[Any]:
    """The uninterpreted functions in a term."""
    todo, found = [term], []
    while todo:
        here = todo.pop()
        if here.num_args() and here.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found.append(here.decl())
        todo.extend(here.children())
    return found


def test_masks_and_shifts_by_constants_are_exact() -> None:
    for name, constant in (("&", 31), ("|", 7), ("^", 1), ("<<", 3), (">>", 5), ("<<", -1)):
        assert not functions(Encoding(SIGMA).term(op(name, x, constant)))
    assert functions(Encoding(SIGMA).term(op("&", x, 5)))
    assert functions(Encoding(SIGMA).term(op("<<", 1, x)))


@pytest.mark.parametrize("name", ["neg", "~", "abs", "bool", "int"])
def test_unary_operators(name: str) -> None:
    term = Encoding(SIGMA).term(op(name, x))
    for a in RANGE:
        assert value(term, x=a) == denote(name, (a,))


def test_the_axiom_of_and_holds_of_and() -> None:
    for constant in (5, -3, 0, None):
        encoding = Encoding(SIGMA)
        term = encoding.term(op("&", x, y if constant is None else constant))
        for a, b in product(RANGE, RANGE if constant is None else [constant]):
            for axiom in encoding.axioms:
                real = z3.substitute(axiom, (term, z3.IntVal(a & b, term.ctx)))
                assert value(real, x=a, y=b) is True


def test_the_axioms_of_log2_hold_of_log2() -> None:
    encoding = Encoding(SIGMA)
    u, v = encoding.scaled(log2(sym(x)))[0], encoding.scaled(log2(sym(y)))[0]
    assert len(encoding.growth()) == 6
    claim = z3.And(*encoding.axioms, *encoding.growth())
    (log_x, log_y) = (t for _, t in encoding.logs)
    assert str(u) == str(log_x)
    assert str(v) == str(log_y)
    for a, b in product([*range(-3, 35), 63, 64, 65, 4095, 4096, 9000], repeat=2):
        logs = [(t, z3.IntVal(max(1, c).bit_length() - 1, t.ctx)) for t, c in ((log_x, a), (log_y, b))]
        assert value(z3.substitute(claim, *logs), x=a, y=b) is True, (a, b)


def test_potentials_are_scaled_exactly() -> None:
    p = floor_div(sym(x) * 3 + sym(y), 4) + max0(sym(x) - sym(y)) * sym(y) + interval(sym(y), sym(x)) + const(1)
    term, scale = Encoding(SIGMA).scaled(p)
    third, three = Encoding(SIGMA).scaled(sym(x) * (const(1).constant / 3))
    assert (scale, three) == (1, 3)
    assert value(third, x=7) == 7
    for a, b in product(RANGE, repeat=2):
        assert value(term, x=a, y=b) == evaluate(p, {x: a, y: b})


def entails(goal: Expr, *p: Expr, limit: float = 2.0) -> object:
    return Oracles(limit)(Entails(conj(p, SIGMA), (goal,)), CONTEXT)


def test_entailments_that_need_the_solver() -> None:
    assert isinstance(entails(*EITHER), Proved)
    assert isinstance(entails(op("<", Tid("x"), 64)), Proved)
    assert isinstance(entails(op("==", op("%", x, 2), 1), op("==", op("%", x, 4), 3)), Proved)
    answer = entails(op(">=", op("%", x, 2), 0))
    assert isinstance(answer, Refuted)
    assert answer.witness["x"] % 2 == 1
    assert answer.witness["x"] < 0


def test_universally_quantified_values_have_the_types_their_names_tell() -> None:
    assert isinstance(entails(op("<=", op("min", Var("?i0"), 3), 3)), Proved)
    assert isinstance(entails(op("||", Var("?b0"), Op("!", (Var("?b0"),)))), Proved)
    assert isinstance(entails(op("<", Var("?i0"), 3)), Refuted)


def test_an_opaque_goal_is_unknown_without_a_query() -> None:
    f = Var("f")
    for goal in (op("==", Read("A", x), Read("A", x)), op("<", f, Const("1.0f", FLOAT)), op(">=", f, f)):
        oracles = Oracles()
        assert isinstance(oracles(Entails((), (goal,)), CONTEXT), Unknown)
        assert oracles.log[0].queries == ()


def test_a_potential_over_a_float_is_unknown() -> None:
    f = sym(Var("f"))
    assert isinstance(Oracles()(AtLeast((), frozenset(), f + 1, f), CONTEXT), Unknown)


def test_a_model_that_needs_an_uninterpreted_function_is_checked() -> None:
    # 1 << x is opaque to the solver: it may think that it is 5, which it never is
    assert isinstance(entails(op("!=", op("<<", 1, x), 5)), Unknown)
    assert isinstance(entails(op("==", op("<<", 1, x), op("<<", 1, y)), op("==", op("+", x, 0), op("+", y, 0))), Proved)


def test_a_question_too_hard_is_unknown() -> None:
    cubes = op("+", op("+", op("*", op("*", x, x), x), op("*", op("*", y, y), y)), op("*", op("*", i, i), i))
    answer = entails(op("!=", cubes, 42), limit=0.05)
    assert isinstance(answer, Unknown)
    assert "time" in answer.reason


@pytest.mark.parametrize(("steps", "longer"), [(20_000, 10_000), (10**9, 1)])
def test_a_query_ends_by_its_steps_and_by_the_clock(steps: int, longer: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "STEPS", steps)
    monkeypatch.setattr(second, "LONGER", longer)
    context = z3.Context()  # which counts the steps of all its solvers
    solver, (a, b, c) = z3.SimpleSolver(ctx=context), z3.Ints("a b c", context)
    solver.add(a * a * a + b * b * b + c * c * c == 42)
    assert smt._checked(solver, Encoding(SIGMA), "", 0.5).said == "unknown"
    taken = solver.statistics().get_key_value("rlimit count")
    assert 10_000 <= taken <= 12_000 if longer > 1 else taken < 10**8


def test_a_solver_that_fails_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise z3.Z3Exception("out of luck")

    monkeypatch.setattr(smt, "_ask", fail)
    assert isinstance(entails(*EITHER), Unknown)


def test_a_solver_that_says_unknown_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "_ask", lambda *_: Answer("unknown", {}, ""))
    assert isinstance(entails(*EITHER), Unknown)


def test_a_model_that_is_wrong_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    store = dict.fromkeys(("x", "y", "tid.x", "tid.y", "tid.z", *SIGMA.params), 1)
    monkeypatch.setattr(smt, "_ask", lambda *_: Answer("sat", dict(store), ""))
    assert isinstance(entails(*EITHER), Unknown)


@pytest.mark.parametrize(("second", "verdict"), [(40, Unknown), (31, Refuted)])
def test_a_pair_of_threads_of_two_warps_is_no_witness(
    second: int, verdict: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: dict[str, int | bool] = {
        "blockDim.x": 64,
        "warpSize": 32,
        "warp.index": 0,
        "n": 1,
        "tid.x@1": 0,
        "tid.x@2": second,
    }
    store |= {f"{name}.{a}": int(name != "blockIdx") for a in "xyz" for name in ("blockIdx", "gridDim")}
    store |= {"blockDim.y": 1, "blockDim.z": 1} | {f"tid.{a}@{t}": 0 for a in "yz" for t in (1, 2)}
    monkeypatch.setattr(smt, "_ask", lambda *_: Answer("sat", dict(store), ""))
    assert isinstance(Oracles()(Uniform((), frozenset(), op("<", Tid("x"), n)), CONTEXT), verdict)


def test_a_text_is_put_to_an_engine_once() -> None:
    """The same text, engine and version; what was not decided is asked again where there is more time."""
    asked: list[str] = []

    def answers(said: str, _: float) -> Answer:
        asked.append(said)
        return Answer(said, {}, "(check-sat)")

    known: dict[tuple[str, str], tuple[float, Answer]] = {}
    for limit, said, cached in (
        (0.1, "unknown", False),
        (0.1, "unsat", True),
        (1.0, "unsat", False),
        (0.1, "sat", True),
    ):
        desk = Desk(limit, [], known)
        found = desk.answer("(check-sat)", "z3 1", partial(answers, said))
        assert (desk.asked[0].cached, desk.asked[0].said) == (cached, found.said)
    assert asked == ["unknown", "unsat"]
    assert Desk(1.0, [], known).answer("(check-sat)", "z3 2", partial(answers, "other")).said == "other"


def test_all_queries_together_have_so_much_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last query gets what is left, and none is put after that; answers that are known take no time."""
    given: list[float] = []
    clock = [0.0]
    monkeypatch.setattr("checker.oracles.desk.perf_counter", lambda: clock[0])

    def answers(limit: float) -> Answer:
        given.append(limit)
        clock[0] += 0.02
        return Answer("unsat", {}, "")

    desk = Desk(2.0, patience=Patience(0.03))
    assert [desk.answer(text, "z3", answers).said for text in "aabc"] == ["unsat", "unsat", "unsat", "unknown"]
    assert given == pytest.approx([0.03, 0.01])
    assert desk.answer("a", "z3", answers).said == "unsat"
    desk.patience.left = 1.0
    assert desk.answer("c", "z3", answers).said == "unsat"


HARD = Entails((), (op(">=", op("*", x, x), Const(0)),))


def test_what_has_no_time_left_is_not_known_and_not_kept() -> None:
    oracle = Oracles()
    oracle.allow(0.0)
    assert isinstance(oracle(HARD, CONTEXT), Unknown)
    oracle.allow(2.0)
    found = oracle(HARD, CONTEXT)
    assert isinstance(found, Proved)
    assert found.engine == smt.engine()


def assuming(*facts: Expr) -> Context:
    return replace(CONTEXT, launch=replace(CONTEXT.launch, assumptions=facts))


def test_what_is_assumed_and_no_use_is_left_out_first() -> None:
    odd = [op("==", op("%", n, k), op("%", Param("gridDim.x"), k)) for k in range(2, 60)]
    goal = Entails((), (op(">=", op("+", op("*", x, x), n), 3),))
    oracle = Oracles()
    assert isinstance(oracle(goal, assuming(*odd, op(">=", n, 3))), Proved)
    (query,) = oracle.log[-1].queries
    assert "mod" not in query.text
    assert "n" in query.text


def test_what_only_the_others_tell_is_proved_and_refuted() -> None:
    odd = [op("==", op("%", n, k), 0) for k in range(2, 60)]
    assert isinstance(Oracles()(Entails((), (op("==", op("%", n, 12), 0),)), assuming(*odd)), Proved)
    found = Oracles()(Entails((), (op("!=", op("*", n, n), 0),)), assuming(*odd))
    assert isinstance(found, Refuted)
    assert found.witness["n"] == 0


def test_nesting_too_deep_is_unknown() -> None:
    deep: Expr = x
    for _ in range(20_000):
        deep = Op("neg", (deep,))
    oracles = Oracles()
    assert isinstance(oracles(Uniform((), frozenset(), deep), CONTEXT), Unknown)
    assert oracles.log[0].engine == "syntactic"


def test_booleans() -> None:
    u, v = Var("u"), Var("v")
    assert isinstance(entails(op("==", u, v), u, v), Proved)
    answer = entails(op("==", u, v), u)
    assert isinstance(answer, Refuted)
    assert (answer.witness["u"], answer.witness["v"]) == (1, 0)


def test_potentials_that_need_the_solver() -> None:
    def at_least(q: Any, r: Any, *p: Expr) -> object:
        return Oracles()(AtLeast(conj(p, SIGMA), frozenset(), q, r), CONTEXT)

    a, h = sym(x), sym(n)
    assert isinstance(at_least(max0(h - a), max0(h - a - 1) + 1, op("<", x, n)), Proved)
    assert isinstance(at_least(max0(h - a), max0(h - a - 1) + 1), Refuted)
    assert isinstance(at_least(log2(h), log2(floor_div(h, 2)) + 1, op(">=", n, 2)), Proved)
    assert isinstance(at_least(log2(h), log2(floor_div(h, 2)) + 1, op(">=", n, 1)), Refuted)
    assert isinstance(at_least(log2(h * 2), log2(h) + 1, op(">=", n, 1)), Proved)
    assert isinstance(at_least(a * (const(1).constant / 3), const(1), op(">=", x, 3)), Proved)
    assert isinstance(at_least(a * (const(1).constant / 3), const(1), op(">=", x, 2)), Refuted)
    odd = atom(next(iter(max0(a).terms))[0][0])
    assert isinstance(at_least(odd, max0(a)), Proved)


def test_what_refuted_one_guess_refutes_the_next() -> None:
    oracle = Oracles()
    p = conj((op(">", x, 3), op("==", y, op("*", x, 2))), SIGMA)
    first = oracle(Entails(p, (op("==", x, 4),)), CONTEXT)
    assert isinstance(first, Refuted)
    assert first.engine == smt.engine()
    again = oracle(Entails(p, (op("==", y, 8), op(">", x, 3))), CONTEXT)
    assert isinstance(again, Refuted)
    assert again.engine == KNOWN
    assert again.witness["x"] == first.witness["x"]
    assert again.witness["y"] == 2 * first.witness["x"]
    assert not oracle.log[-1].queries


def test_an_example_that_the_facts_exclude_refutes_nothing() -> None:
    oracle = Oracles()
    store = oracle(Entails(conj((op(">", x, 3),), SIGMA), (op("==", x, 4),)), CONTEXT)
    assert isinstance(store, Refuted)
    here = conj((op(">", x, 3), op("<", x, store.witness["x"])), SIGMA)
    assert isinstance(oracle(Entails(here, (op("<", op("*", x, x), store.witness["x"] ** 2),)), CONTEXT), Proved)


def test_an_example_of_two_threads_agrees_on_what_is_uniform() -> None:
    """x differs between the threads of the example, and may not where it is uniform."""
    oracle = Oracles()
    p = conj((op(">=", x, 0), op("<=", x, 1)), SIGMA)
    apart = op("==", op("*", x, y), Const(0))
    assert isinstance(oracle(Uniform(p, frozenset("y"), apart), CONTEXT), Refuted)
    assert isinstance(oracle(Uniform(p, frozenset("xy"), apart), CONTEXT), Proved)
    assert isinstance(oracle(Uniform(p, frozenset("x"), apart), CONTEXT), Refuted)


def test_functions_of_three_values_have_no_value_here() -> None:
    """As in `f(x, y, z) > 0`: a query about lanes, at values that an engine gives for x, y and z."""
    with pytest.raises(KeyError):
        denote("call:f", (1, 2, 3))


@pytest.mark.parametrize(
    ("example", "taken"),
    [
        ({"x": 7, "u": 1}, {"x@1": 7, "x@2": 7, "u": True}),
        ({"x@1": 7, "x@2": 8}, {"x@1": 7, "x@2": 8, "u": False}),
        ({"x@1": 7, "x": 9}, {"x@1": 7, "x@2": 9, "u": False}),
        ({"x@1": 7}, {"x@1": 7, "x@2": 7, "u": False}),
        ({"x@2": 8}, {"x@1": 0, "x@2": 8, "u": False}),
    ],
)
def test_examples_of_one_thread_are_tried_for_two(example: dict[str, int], taken: dict[str, int]) -> None:
    """The value of a thread's own name, else that of no thread, else that of the first of two, else zero."""
    sampler, seen = samples.Sampler((), (x, Var("u")), SIGMA, frozenset({"u"}), (1, 2)), []

    def real(store: Any) -> bool:
        seen.append(dict(store))
        return True

    found = Desk(examples=[dict(example)]).known(sampler, real)
    assert isinstance(found, Refuted)
    assert seen == [taken]
    assert [type(seen[0][name]) for name in taken] == [type(value) for value in taken.values()]
