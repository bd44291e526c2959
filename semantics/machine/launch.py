"""A launch on the mini-SIMT machine, and what variables and memory hold in it before a program runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from logic.source import SourceError
from logic.syntax import INT, Var
from semantics.machine.arithmetic import RunProblem, apply, whole
from semantics.machine.program import LAUNCH, Data, Init, Operand, Param, Program
from semantics.values import Value, literal

MAX_THREADS: Final = 65_536
MAX_WARP: Final = 1_024
MAX_LATENCY: Final = 1_000_000
MAX_CELLS: Final = 1 << 22


class LaunchProblem(SourceError):
    """Threads, warps, latency or parameters that cannot be."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The number of threads, the width of a warp, the cycles of a load, and the values of parameters.

    Raises LaunchProblem where no such machine is meant.
    """

    threads: int
    warp_size: int = 32
    latency: int = 10
    params: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, n, most in (
            ("warp-size", self.warp_size, MAX_WARP),
            ("threads", self.threads, MAX_THREADS),
            ("latency", self.latency, MAX_LATENCY),
        ):
            if not 1 <= n <= most:
                raise LaunchProblem(f"--{name} {n}: not a sensible number", advice=f"Choose one from 1 to {most}.")

    @property
    def warps(self) -> int:
        return -(-self.threads // self.warp_size)


def initial_values(p: Program, launch: Launch) -> dict[str, Value]:
    """The values of parameters and initialised variables before the run, and of `threads` and `warpSize`.

    Raises LaunchProblem for a parameter without a value and a value without a parameter.
    """
    declared = {d.var: d for d in p.directives if isinstance(d, Param)}
    for name in launch.params:
        if name not in declared:
            known = f"It has: {', '.join(declared)}." if declared else "It has none."
            raise LaunchProblem(f"the program has no parameter '{name}'", advice=known)
    values: dict[str, Value] = dict(zip(LAUNCH, (launch.threads, launch.warp_size), strict=True))
    for d in p.directives:
        match d:
            case Param(var):
                if var not in launch.params:
                    raise LaunchProblem(f"parameter '{var}' has no value", d.loc, f"Give one: --arg {var}=VALUE.")
                values[var] = launch.params[var]
            case Init(var, op, args):
                given = tuple(_constant(a, values) for a in args)
                values[var] = given[0] if op is None else apply(op, INT, given, INT, d.loc)
    return values


def _constant(o: Operand, values: Mapping[str, Value]) -> Value:
    return values[o.name] if isinstance(o, Var) else literal(o)


def initial_memory(p: Program, values: Mapping[str, Value]) -> dict[int, Value]:
    """The cells that `.data` lays into memory. Raises RunProblem for negative addresses and far too many cells."""
    memory: dict[int, Value] = {}
    for d in p.directives:
        if not isinstance(d, Data):
            continue
        start = whole(_constant(d.address, values), d.loc, "an address")
        cells: Sequence[Value] = tuple(_constant(v, values) for v in d.values)
        if d.kind == "iota":
            count = whole(cells[0], d.loc, "a number of cells")
            if not 0 <= count <= MAX_CELLS:
                raise RunProblem(f"{count} cells cannot be laid out", d.loc, f"Choose a number from 0 to {MAX_CELLS}.")
            cells = range(count)
        if start < 0:
            raise RunProblem(f"the address {start} is negative", d.loc, "Memory begins at 0.")
        memory.update(enumerate(cells, start))
    return memory
