"""Programs, conditions, potentials and proof outlines as text.

The only room that imports lark, and only when something is read. Bad text is a `SyntaxProblem`, ill-typed text a
`logic.typing.TypeProblem`; nothing else is raised, whatever the text. An outline, the derivation of Fig. 5 (p. 14) say:

    kernel addSub3
    metric sectors              // sectors, conflicts, divwarps or steps
    hardware nvidia             // may be left out
    block 32                    // 16,16 has two dimensions; `_` or no such line: symbolic
    grid _                      // the same
    scope warp                  // warp (may be left out) or block
    param int w, h;             // scalars: int, bool, float, double, or NAME(bytes)
    global int A[], B[];        // elements also: char, short, long; `A.x[] stride 16 offset 4` is a field
    shared int As[32];
    local int i, j;
    requires h >= 0;            // about parameters only
    begin
      { true; 4 + 10*|[0, h + 1]|; {} }
      i <- blockIdx.x * blockDim.x + tid.x;
      As[tid.x] <- A[i];
      j <- 0;
      while (j < h) invariant { i == 32 * blockIdx.x + tid.x; _; {j} } {
        if [Q:If1] (w > 0) { skip; } else { sync; }
        j <- j + 2;
      }
    end

A condition is {P; Q; X}; `_` leaves a part to the tool. The names of rules in brackets are a choice of the writer's.
`split e;` proves the rest of its block where e holds, and where it does not (Q:CaseSplit).
A local int called `ghost:NAME` is no part of the program (Q:Ghost): assignments to it are there for conditions alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from checker.notation.annotations import Annotations, read_annotations, with_assumptions
    from checker.notation.expressions import parse_assumption, parse_expr
    from checker.notation.outlines import parse_kernel, parse_outline
    from checker.notation.potentials import parse_potential
    from checker.notation.printer import show_kernel, show_outline
    from checker.notation.problem import SyntaxProblem

__all__ = [
    "Annotations",
    "SyntaxProblem",
    "parse_assumption",
    "parse_expr",
    "parse_kernel",
    "parse_outline",
    "parse_potential",
    "read_annotations",
    "show_kernel",
    "show_outline",
    "with_assumptions",
]

_MODULES: Final = {
    "annotations": ("Annotations", "read_annotations", "with_assumptions"),
    "expressions": ("parse_assumption", "parse_expr"),
    "outlines": ("parse_kernel", "parse_outline"),
    "potentials": ("parse_potential",),
    "printer": ("show_kernel", "show_outline"),
    "problem": ("SyntaxProblem",),
}


def __getattr__(name: str) -> Any:
    """A name that the package offers, imported where it is used first."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"checker.notation.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
