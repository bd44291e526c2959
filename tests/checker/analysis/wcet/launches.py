"""Programs and kernels on the machine, as far as they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import reject

from checker.analysis.wcet import sound
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context
from logic.assertions import Launch as Blocks
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics.events import Dim
from semantics.machine.arithmetic import RunProblem
from semantics.machine.launch import Launch
from semantics.machine.program import Program
from semantics.machine.simulate import run
from semantics.machine.trace import Deadlock, Endless, Result
from semantics.values import Value
from tests.checker.programs import TINY

LIMIT = 4_000
"""Instructions after which a run counts as endless."""


def on_machine(p: Program, launch: Launch, memory: Mapping[int, Value] | None = None) -> Result:
    """A run; rejects a program that does not end."""
    try:
        return run(p, launch, memory, step_limit=LIMIT)
    except (Deadlock, Endless, RunProblem):
        reject()


def outline(kernel: Kernel, block: Dim, blocks: Dim, warp: int) -> Outline:
    """A kernel whose instructions are to be bounded, in warps of this size."""
    context = Context(check_kernel(kernel), sound.COMPILED.issued, replace(TINY, warp=warp), Blocks(block, blocks))
    return Outline(kernel, context, bare(kernel.body))
