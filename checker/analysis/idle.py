"""Idle operations put into an outline, so that a metric, which has one price for all operators, counts other things."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from checker.synthesis.outline import Block, Outline, Plain, strip
from logic.syntax import FLOAT, Assign, Const, Decl, Expr, Op
from logic.typing import check_kernel

IDLE: Final = "idle.cycles"
"""The variable that idle operations assign to. Nothing reads it, and its type keeps it out of all conditions."""


def idle(n: int) -> Plain:
    """n operators that do nothing."""
    return Plain(Assign(IDLE, _operations(n)))


def _operations(n: int) -> Expr:
    """An expression with n operators, as flat as can be."""
    if n == 0:
        return Const("0.0f", FLOAT)
    left = (n - 1) // 2
    return Op("+", (_operations(left), _operations(n - 1 - left)))


def with_idle(outline: Outline, body: Block) -> Outline:
    """The outline with another body, which is the same but for idle operations."""
    kernel = replace(outline.kernel, locals=(*outline.kernel.locals, Decl(IDLE, FLOAT)), body=strip(body))
    return Outline(kernel, replace(outline.context, sigma=check_kernel(kernel)), body)
