"""What libclang is asked, and what it must not be asked."""

from __future__ import annotations

from collections.abc import Callable

from semantics.cuda.clang import Node
from semantics.cuda.parse import Request, parse

Write = Callable[[str | bytes], str]

METHODS = "struct S { int x; __device__ int f() { return x; } };\n__global__ void k(int *A, S s) { A[0] = s.f(); }"


def test_a_method_that_is_called_has_a_type_without_a_size(here: Write) -> None:
    """libclang 18 ends the process where it is asked for that size."""
    root: Node = parse(Request(here(METHODS))).unit.root()
    called = [n for n in root.walk() if n.kind == "MEMBER_REF_EXPR" and n.name == "f"]
    assert [(n.type.kind, n.type.size) for n in called] == [("other", 0)]
