"""How the mini-SIMT machine's time grows with warps: TriangleSum's loop, as often for every thread (`make bench`)."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from semantics.machine.launch import Launch
from semantics.machine.simulate import run
from semantics.machine.text import assemble

LOOP = """
      const i = 0
l:    binop p = i - 100
      bz p, e
      binop q = i + Tid
      binop q = q % 2
      bz q, f
      load x = Tid
      binop s = s + x
f:    sync
      binop i = i + 1
      jump l
e:    sync
      barrier 0, threads
      store Tid = s
"""


@pytest.mark.bench
@pytest.mark.parametrize("warps", [1, 10, 100])
def test_warps(benchmark: BenchmarkFixture, warps: int) -> None:
    p = assemble(LOOP, "loop.simt")
    result = benchmark.pedantic(lambda: run(p, Launch(32 * warps, 32, 10)), rounds=1, iterations=1)
    benchmark.extra_info["instructions"] = result.issued
    assert result.issued == warps * (1 + 100 * 11 + 5)
    assert result.memory[5] == 0
