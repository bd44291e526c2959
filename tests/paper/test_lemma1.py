"""Lemma 1, p. 14: if P; X |- e : C and e evaluates at cost C' where P and X hold, then C' <= C."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from checker.kernel import Ledger, check
from checker.testbed.choices import Choices, Hints, StuckError
from checker.testbed.derivations import rules_used
from checker.testbed.programs import LOCALS, Programs, Wanted, facts, kind_of_expr
from checker.testbed.trial import Case, machine, starts, thread
from checker.testbed.world import SmallWorld
from logic.assertions import Condition, Cost, Triple, conj
from logic.potentials import ZERO
from logic.rules import SOUND
from logic.syntax import Assign, Expr, Skip, subterms
from semantics.lockstep import Store, evaluate
from tests.examples import examples

RULES = [name for name, rule in SOUND.rules.items() if rule.conclusion.head == "cost"]


def drawn(programs: Programs, rng: random.Random) -> Iterator[Expr]:
    """Expressions for ever."""
    while True:
        yield programs.cond() if rng.random() < 0.3 else programs.expr(2)


def held(seed: int, rule: str) -> Counter[str]:
    """Checks the lemma on one random expression; the rules that its derivation uses, once for each state."""
    rng = random.Random(seed)
    op = {"EQ:Op1": "op 1", "EQ:Op": "op 2", "EQ:Op3": "op 3", "EQ:GArray": "read global", "EQ:SArray": "read shared"}
    programs = Programs(rng, Wanted(expression=op.get(rule, "")))
    e = next(e for e in drawn(programs, rng) if rule not in op or any(kind_of_expr(t) == op[rule] for t in subterms(e)))
    world, context = programs.context()
    oracle = SmallWorld(world, context)
    body = Assign("x", e)
    hints = Hints(facts(body, rng), [])
    p = conj(rng.sample(hints.facts, min(len(hints.facts), rng.choice([0, 1, 2]))), context.sigma)
    x = frozenset(v for v in LOCALS if rng.random() < 0.5)
    if not oracle.satisfiable(p):
        return Counter()
    _, derivation = Choices(SOUND, oracle, rng, hints).cost(p, x, e)
    judgement = check(derivation, SOUND, context, oracle, Ledger()).judgement
    assert isinstance(judgement, Cost)
    pre = Condition(p, ZERO, x)
    case = Case(Skip(), world, context, Triple(pre, Skip(), pre), derivation)
    seen: Counter[str] = Counter()
    for start in starts(case, rng, 6):
        store = Store({}, {v: {thread(i): n for i, n in by.items()} for v, by in start.locals.items()})
        _, cost = evaluate(e, store, [thread(i) for i in start.threads], machine(case, start))
        assert cost.parts[0] <= judgement.cost
        seen.update(rules_used(derivation).keys())
    return seen


@given(st.integers(0, 10**9), st.sampled_from(RULES))
@examples(50, 5000)
def test_lemma_1(seed: int, rule: str) -> None:
    try:
        held(seed, rule)
    except StuckError:
        raise AssertionError("every expression has a cost") from None


def test_every_rule_for_costs_is_tried() -> None:
    seen: Counter[str] = Counter()
    for seed in range(120):
        seen += held(seed, RULES[seed % len(RULES)])
    assert all(seen[rule] >= 20 for rule in RULES), seen
