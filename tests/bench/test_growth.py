"""How the kernel's time grows: derivations of about 100, 1,000 and 10,000 rule applications (`make bench`)."""

from __future__ import annotations

from typing import Any

import pytest

from checker.kernel import Ledger, check
from checker.oracles import Oracles
from checker.synthesis.bound import derive
from checker.synthesis.flow import analyse
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.derivation import Derivation, size
from logic.metrics import HARDWARE, METRICS
from logic.rules import SOUND
from logic.syntax import INT, Assign, Const, Decl, Kernel, Op, Param, Var, seq
from logic.typing import check_kernel


def chain(statements: int) -> tuple[Kernel, Context, Derivation, Oracles]:
    """A derivation for j <- j + 1; i <- h; j <- j + 1; ... of that many statements; the oracle has not seen it."""
    steps = [
        Assign("i", Param("h")) if k % 2 else Assign("j", Op("+", (Var("j"), Const(1)))) for k in range(statements)
    ]
    kernel = Kernel("k", (Decl("h", INT),), (), (Decl("i", INT), Decl("j", INT)), seq(*steps))
    context = Context(check_kernel(kernel), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    oracle = Oracles()
    outline = Outline(kernel, context, bare(kernel.body))
    derivation = derive(analyse(outline, oracle), outline, oracle)
    return kernel, context, derivation, Oracles()


@pytest.mark.bench
@pytest.mark.parametrize("statements", [25, 250, 2500])
def test_kernel(benchmark: Any, statements: int) -> None:
    _, context, derivation, _ = chain(statements)
    benchmark.extra_info["applications"] = size(derivation)
    theorem = benchmark.pedantic(
        lambda: check(derivation, SOUND, context, Oracles(), Ledger()), rounds=3, iterations=1, warmup_rounds=0
    )
    assert theorem.rules is SOUND
