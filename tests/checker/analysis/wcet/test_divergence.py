"""Chains of definitions: which branches may part a warp, and which depend on memory."""

from __future__ import annotations

from checker.analysis.wcet.divergence import MEMORY, THREAD, Chains, Definition, chains
from checker.analysis.wcet.structure import structure
from semantics.machine.program import Branch
from semantics.machine.text import assemble


def of(text: str) -> Chains:
    p = assemble(text, "k")
    return chains(p, structure(p))


def verdicts(text: str) -> list[tuple[bool, bool]]:
    """For each branch in order, whether it is divergent and whether it depends on memory."""
    p = assemble(text, "k")
    found = chains(p, structure(p))
    return [
        (found.divergent(at), MEMORY in found.reach(Definition("test", at)))
        for at, i in enumerate(p.instructions)
        if isinstance(i, Branch)
    ]


def test_a_chain_of_copies_leads_to_the_thread() -> None:
    assert verdicts("const x = Tid\nbinop y = x + 1\nbz y, e\nconst z = 1\ne: sync") == [(True, False)]
    assert verdicts("const x = Tid\nconst x = 4\nbz x, e\nconst z = 1\ne: sync") == [(False, False)]


def test_a_gamma_hands_on_what_its_test_depends_on() -> None:
    """x is one of two constants, and which one depends on the thread."""
    text = "const x = 1\nbz Tid, e\nconst x = 2\ne: sync\nbz x, f\nconst z = 1\nf: sync"
    assert verdicts(text) == [(True, False), (True, False)]
    assert verdicts(text.replace("bz Tid", "bz threads")) == [(False, False), (False, False)]


def test_a_gamma_stands_only_where_the_ways_differ() -> None:
    text = "const x = 1\nbz Tid, e\nconst y = 2\ne: sync\nbz x, f\nconst z = 1\nf: sync"
    assert verdicts(text) == [(True, False), (False, False)]
    found = of(text)
    assert Definition("gamma", 1, "y") in found.uses
    assert Definition("gamma", 1, "x") not in found.uses


LOOP = (
    "const x = {start}\nl: binop p = x < {limit}\nbz p, e\nbinop x = x + {step}\njump l\ne: sync\n"
    "bz x, f\nconst z = 1\nf: sync"
)
"""The branch behind the loop tests its counter."""


def test_a_mu_joins_what_comes_in_and_what_comes_round() -> None:
    assert verdicts(LOOP.format(start=0, limit=4, step=1)) == [(False, False), (False, False)]
    assert verdicts(LOOP.format(start="Tid", limit=4, step=1)) == [(True, False), (True, False)]
    assert verdicts(LOOP.format(start=0, limit=4, step="Tid")) == [(True, False), (True, False)]
    mu = of(LOOP.format(start=0, limit=4, step=1)).uses[Definition("mu", 2, "x")]
    assert mu == {Definition("instruction", 0, "x"), Definition("instruction", 3, "x")}


def test_an_eta_chains_a_value_to_the_test_that_ended_the_loop() -> None:
    """Inside the loop all threads have the same counter; behind it each has the one it left with."""
    text = LOOP.format(start=0, limit="Tid", step=1)
    assert verdicts(text) == [(True, False), (True, False)]
    found = of(text)
    assert THREAD not in found.reach(Definition("mu", 2, "x"))
    assert THREAD in found.reach(Definition("eta", 2, "x"))


def test_a_load_depends_on_memory_and_on_its_address() -> None:
    assert verdicts("load x = threads\nbz x, e\nconst z = 1\ne: sync") == [(False, True)]
    assert verdicts("load x = Tid\nbz x, e\nconst z = 1\ne: sync") == [(True, True)]


def test_a_loop_tested_at_its_end() -> None:
    text = "const x = {}\nl: binop x = x - 1\nbnz x, l\nsync\nbz x, f\nconst z = 1\nf: sync"
    assert verdicts(text.format(4)) == [(False, False), (False, False)]
    assert verdicts(text.format("Tid")) == [(True, False), (True, False)]
