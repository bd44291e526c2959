"""The small world: its answers are those of plain enumeration, and never contradict the real oracles' proofs."""

from __future__ import annotations

import random
from itertools import combinations, product

import numpy as np
import pytest

from checker.oracles import Oracles
from checker.testbed.programs import SIGMA, Programs, facts, measures
from checker.testbed.world import OPERATIONS, TINY, SmallWorld, World, c_div, c_mod, most_units
from logic.assertions import AtLeast, AtMost, Context, Entails, Launch, Obligation, P, Proved, Uniform
from logic.metrics import METRICS, conflicts, sectors
from logic.potentials import Leaf, Poly, evaluate
from logic.syntax import BOOL, INT, Array, Const, Expr, Op, Param, Read, Tid, Var, subterms
from semantics.events import Thread
from semantics.lockstep import Machine, Store
from semantics.lockstep import evaluate as value_of

WORLD = World(range(-1, 3), range(-1, 2), 3)
CONTEXT = Context(SIGMA, METRICS["steps"], TINY, Launch((3, 1, 1), (1, 1, 1)), "warp")
State = tuple[int, int, int, int]
"""n, tid, x, y"""
STATES: list[State] = list(product(WORLD.sizes, range(WORLD.lanes), WORLD.values, WORLD.values))


def value(e: Expr, state: State) -> int:
    """e in a state, by the semantics."""
    n, tid, x, y = state
    t = Thread((0, 0, 0), (tid, 0, 0))
    m = Machine(SIGMA, {"n": n}, (3, 1, 1), (METRICS["steps"],), TINY)
    return int(value_of(e, Store({}, {"x": {t: x}, "y": {t: y}}), [t], m)[0][t])


def worth(q: Poly, state: State) -> object:
    leaves: dict[Leaf, int] = dict(zip((Param("n"), Tid("x"), Var("x"), Var("y")), state, strict=True))
    return evaluate(q, leaves)


def meets(p: P, state: State) -> bool:
    return all(value(f, state) for f in p)


def question(rng: random.Random) -> Obligation:
    """A random obligation without reads over x, y, n and tid."""
    programs = Programs(rng)
    while True:
        body = programs.program()
        pool = [f for f in facts(body, rng) if not any(isinstance(t, Read) or t == Var("?") for t in subterms(f))]
        p, x = tuple(rng.sample(pool, min(2, len(pool)))), frozenset(v for v in "xy" if rng.random() < 0.5)
        e, qs = programs.expr(), measures(body, 3)
        kind = rng.randrange(3)
        if any(isinstance(t, Read) for t in subterms(e)):
            continue
        if kind == 0 and pool:
            return Entails(p, (rng.choice(pool),))
        if kind == 1:
            return Uniform(p, x, e)
        if kind == 2 and len(qs) > 1:
            return AtLeast(p, x, qs[0] + rng.randint(-1, 4), rng.choice(qs))


def truth(o: Obligation, apart: bool = False) -> bool:
    """By plain enumeration; a thread may differ from itself unless states are `apart`."""
    match o:
        case Entails(p, goal):
            return all(meets(goal, s) for s in STATES if meets(p, s))
        case AtLeast(p, _, q, r):
            return all(worth(q, s) >= worth(r, s) for s in STATES if meets(p, s))  # type: ignore[operator]
        case Uniform(p, x, e):
            here = [s for s in STATES if meets(p, s)]
            shared = [0, *(i for i, v in ((2, "x"), (3, "y")) if v in x)]
            groups: dict[tuple[int, ...], set[tuple[int, int]]] = {}
            for s in here:
                groups.setdefault(tuple(s[i] for i in shared), set()).add((s[1], value(e, s)))
            pairs = (pair for found in groups.values() for pair in combinations(found, 2))
            return all(a == b for (s, a), (t, b) in pairs if s != t or not apart)
    raise AssertionError(o)


def test_answers_are_those_of_enumeration() -> None:
    seen: dict[tuple[str, bool], int] = {}
    for seed in range(60):
        o = question(random.Random(seed))
        expected = truth(o)
        assert SmallWorld(WORLD, CONTEXT).proves(o) == expected, o
        key = type(o).__name__, expected
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 6, seen


def test_what_the_oracles_prove_holds_in_the_small_world() -> None:
    oracles, proved = Oracles(), 0
    for seed in range(40):
        o = question(random.Random(1000 + seed))
        if isinstance(oracles(o, CONTEXT), Proved):
            proved += 1
            held = truth(o, apart=True) if isinstance(o, Uniform) else SmallWorld(World(lanes=3), CONTEXT).proves(o)
            assert held, o
    assert proved >= 8


@pytest.mark.parametrize("op", sorted(OPERATIONS))
def test_operators_are_those_of_the_semantics(op: str) -> None:
    arity = {"neg": 1, "!": 1, "?:": 3}.get(op, 2)
    for args in product(range(-7, 8) if arity < 3 else range(-1, 2), repeat=arity):
        given = tuple(bool(a) if op in ("&&", "||", "!") or (op == "?:" and i == 0) else a for i, a in enumerate(args))
        expected = value(Op(op, tuple(Const(a, BOOL if isinstance(a, bool) else INT) for a in given)), STATES[0])
        assert int(OPERATIONS[op](*map(np.asarray, given))) == expected, (op, args)


def test_division_truncates() -> None:
    a, b = np.array([-3, 3, -3, 4]), np.array([2, -2, -2, 0])
    assert c_div(a, b).tolist() == [-1, -1, 1, 0]
    assert c_mod(a, b).tolist() == [-1, 1, -1, 4]


@pytest.mark.parametrize("what", ["MemReads", "Conflicts"])
def test_the_worst_access_is_the_worst_of_all_choices(what: str) -> None:
    rng = random.Random(7)
    count = sectors if what == "MemReads" else conflicts
    for size in (1, 4):
        array = Array("A", "global" if what == "MemReads" else "shared", CONTEXT.sigma.arrays["G"].elem, size)
        for _ in range(60):
            lanes = [set(rng.sample(range(-3, 7), rng.randint(1, 3))) for _ in range(3)]
            worst = max(count([array.stride * i for i in pick], size, TINY) for pick in product(*lanes))
            assert most_units(what, lanes, array, TINY) == worst


def test_an_access_is_counted_for_the_threads_that_are_there() -> None:
    odd = Op("==", (Op("%", (Tid("x"), Const(2))), Const(1)))
    world = SmallWorld(World(lanes=4), CONTEXT)
    for p, n in (((), 4), ((odd,), 2), ((Op("<", (Tid("x"), Const(0))),), 0)):
        assert world.least("MemReads", p, frozenset(), "G", Op("*", (Tid("x"), Const(2)))) == n
        assert world.proves(AtMost("MemReads", p, frozenset(), "G", Op("*", (Tid("x"), Const(2))), n))


def test_a_read_may_be_anything() -> None:
    world = SmallWorld(World(), CONTEXT)
    same = Op("-", (Read("G", Var("x")), Read("G", Var("x"))))
    assert not world.proves(Uniform((), frozenset(), Read("G", Var("x"))))
    assert world.proves(Uniform((), frozenset("x"), Read("G", Var("x"))))
    assert world.proves(Uniform((), frozenset("x"), same))
    assert not world.proves(Entails((), (Op("==", (Var("x"), Var("x"))), Op("<", (Tid("x"), Const(3))))))


def test_another_context_gets_no_answer() -> None:
    other = Context(SIGMA, METRICS["sectors"], TINY, Launch((3, 1, 1), (1, 1, 1)), "warp")
    assert not isinstance(SmallWorld(WORLD, CONTEXT)(Entails((), ()), other), Proved)
