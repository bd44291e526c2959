"""Fig. 7, p. 21: what the abstract interpretation of addSub3 knows, and what section 6 concludes from it.

Mtid(x) = (1, 0, 0) says that x grows by 1 from lane to lane, Mconst(x) what it is without that part.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from checker.oracles import Oracles
from checker.oracles.counts import What
from checker.oracles.forms import minus
from checker.oracles.lanes import View
from checker.synthesis.flow import analyse
from checker.synthesis.nodes import Cycle, Flow, Step
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Entails, Launch, Obligation, Proved, Uniform
from logic.metrics import HARDWARE, METRICS
from logic.syntax import Assign, Const, Expr, Op, Param, Tid, Var
from logic.typing import check_kernel
from semantics.cuda import read_cuda

SOURCE = """
__global__ void addSub3(int *A, int *B, int w, int h)
{
    __shared__ int As[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    As[threadIdx.x] = A[i];
    for (int j = 0; j < h; j += 2) {
        int temp0 = j * w + i;
        B[temp0] += As[threadIdx.x];
        int temp1 = (j + 1) * w + i;
        B[temp1] -= As[threadIdx.x];
    }
}
"""

INDEX, J, TEMP0, TEMP1 = map(Var, ("i", "j", "temp0", "temp1"))
W, TID = Param("w"), Tid("x")
ROW: dict[Var, Expr] = {TEMP0: J, TEMP1: Op("+", (J, Const(1)))}


class Interpretation:
    """The flow of the figure's program, block of 32, and the oracles' answers at its points."""

    def __init__(self, path: Path) -> None:
        path.write_text(SOURCE)
        kernel = read_cuda(str(path)).kernel
        launch = Launch((32, 1, 1), (None, None, None), ())
        self.context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], launch)
        self.oracle = Oracles()
        self.flow = analyse(Outline(kernel, self.context, bare(kernel.body)), self.oracle)

    def steps(self, flow: Flow | None = None) -> Iterator[Step]:
        for node in (flow or self.flow).nodes:
            if isinstance(node, Cycle):
                yield from self.steps(node.body)
            elif isinstance(node, Step):
                yield node

    def after(self, name: str) -> Step:
        """The assignment of a variable that is its last one."""
        return [s for s in self.steps() if isinstance(s.stmt, Assign) and s.stmt.var == name][-1]

    def proves(self, obligation: Obligation) -> bool:
        return isinstance(self.oracle(obligation, self.context), Proved)

    def slope(self, x: Var, where: Step) -> object:
        """How much x grows from each lane to the next one."""
        state = where.after
        view = View(state.p, state.x, self.context, self.context.sigma)
        (lanes,) = view.warps
        values = [view.value_at(x, lane) for lane in lanes]
        assert None not in values
        known = [v for v in values if v is not None]
        (step,) = {minus(b, a) for a, b in pairwise(known)}
        return step

    def count(self, what: What, array: str, index: Expr, where: Step) -> int:
        return self.oracle.least(what, where.after.p, where.after.x, array, index, self.context)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Interpretation:
    return Interpretation(tmp_path_factory.mktemp("fig7") / "addSub3.cu")


def test_the_launch_bounds_tid(known: Interpretation) -> None:
    """The print says threadIdx.x <= 32; it is below."""
    p = known.flow.start.p
    assert known.proves(Entails(p, (Op("<", (TID, Const(32))),)))
    assert not known.proves(Entails(p, (Op("<", (TID, Const(31))),)))


def test_i(known: Interpretation) -> None:
    """Mtid(i) = (1, 0, 0), Mconst(i) = 32 blockIdx.x"""
    where = known.after("i")
    base = Op("*", (Const(32), Param("blockIdx.x")))
    assert known.slope(INDEX, where) == 1
    assert known.proves(Entails(where.after.p, (Op("==", (INDEX, Op("+", (base, TID)))),)))


def test_j(known: Interpretation) -> None:
    """Mtid(j) = (0, 0, 0); of its constant part nothing is known but, with us, that it is not negative."""
    where = known.after("temp0")
    assert known.proves(Uniform(where.after.p, where.after.x, J))
    assert not known.proves(Uniform(where.after.p, where.after.x, INDEX))
    assert known.proves(Entails(where.after.p, (Op(">=", (J, Const(0))),)))
    assert not known.proves(Entails(where.after.p, (Op("==", (J, Const(0))),)))


@pytest.mark.parametrize("temp", [TEMP0, TEMP1], ids=["temp0", "temp1"])
def test_temporaries(known: Interpretation, temp: Var) -> None:
    """Mtid = (1, 0, 0); Mconst = j * w, (j + 1) * w in print, without the constant part of i, which they also have."""
    where = known.after(temp.name)
    row = Op("*", (ROW[temp], W))
    assert known.slope(temp, where) == 1
    assert known.proves(Entails(where.after.p, (Op("==", (temp, Op("+", (row, INDEX)))),)))
    printed = Op("==", (temp, Op("+", (row, TID))))
    assert not known.proves(Entails(where.after.p, (printed,)))


def test_what_follows(known: Interpretation) -> None:
    """With 8 elements a sector: MemReads(i) <= 32/8 as its ends are multiples of 32, MemReads(temp) <= 32/8 + 1 by
    Theorem 4, and no conflicts by Theorem 5."""
    first = known.after("i")
    assert known.count("MemReads", "A", INDEX, first) == 4
    assert known.count("Conflicts", "As", TID, first) == 1
    for temp in (TEMP0, TEMP1):
        assert known.count("MemReads", "B", temp, known.after(temp.name)) == 5
        assert known.count("Conflicts", "As", TID, known.after(temp.name)) == 1
