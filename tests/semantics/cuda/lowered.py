"""What miniCUDA programs on integers mean for one thread: an interpreter apart from `semantics.lockstep`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from logic.operators import denote
from logic.syntax import Assign, Const, Expr, If, Kernel, Op, Param, Read, Seq, Skip, Stmt, Tid, Var, While, Write

MOST_TURNS: Final = 100_000


def at_lane(kernel: Kernel, lane: int, n: int, lanes: int, block: int = 0, blocks: int = 1) -> dict[str, int]:
    """The names as one lane of one block of a row has them at the start, where the parameter n is given."""
    launch = {"blockIdx": (block, 0, 0), "blockDim": (lanes, 1, 1), "gridDim": (blocks, 1, 1), "tid": (lane, 0, 0)}
    names = {f"{name}.{axis}": v for name, values in launch.items() for axis, v in zip("xyz", values, strict=True)}
    return {"n": n, "warpSize": 32} | names | {d.name: 0 for d in kernel.locals}


class Lowered:
    """Names and array elements as a program leaves them; an element that nothing wrote is 0."""

    def __init__(self, parameters: Mapping[str, int]) -> None:
        self.names: dict[str, int | bool] = dict(parameters)
        self.cells: dict[tuple[str, int], int] = {}
        self.turns = 0

    def cell(self, array: str, index: int) -> int:
        return self.cells.get((array, index), 0)

    def value(self, e: Expr) -> int | bool:
        match e:
            case Const(int(value)):
                return value
            case Var(name) | Param(name):
                return self.names[name]
            case Tid(axis):
                return self.names[f"tid.{axis}"]
            case Read(array, index):
                return self.cell(array, int(self.value(index)))
            case Op("as:double" | "call:either" | "int", (x, *_)):
                return self.value(x)
            case Op(op, args):
                return denote(op, tuple(self.value(a) for a in args))
        raise NotImplementedError(e)

    def run(self, s: Stmt) -> None:
        match s:
            case Skip():
                pass
            case Seq(stmts):
                for t in stmts:
                    self.run(t)
            case Assign(x, e):
                self.names[x] = self.value(e)
            case Write(array, index, e):
                self.cells[array, int(self.value(index))] = int(self.value(e))
            case If(c, a, b):
                self.run(a if self.value(c) else b)
            case While(c, body):
                while self.value(c):
                    self.turns += 1
                    if self.turns > MOST_TURNS:
                        pytest.fail("the lowered loop does not end")
                    self.run(body)
            case _:
                raise NotImplementedError(s)
