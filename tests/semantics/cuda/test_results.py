"""The types that functions of CUDA's and of C++'s headers give, as nvcc 13.0 has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from logic.syntax import Const, Write, statements
from semantics.cuda import Reading

TYPES: Final = ("int", "unsigned", "long", "long long", "unsigned long long", "float", "double")

BEFORE: Final = "#include <cmath>\n#include <limits>\n#include <type_traits>\n" + "".join(
    [
        "template <class T> struct Which { enum { v = -1 }; };\n",
        *(f"template <> struct Which<{t}> {{ enum {{ v = {i} }}; }};\n" for i, t in enumerate(TYPES)),
        "enum E { e }; enum class S { s }; struct F { int x; };\n",
    ]
)


def _value(read: Callable[..., Reading], e: str) -> int:
    body = read(f"{BEFORE}__global__ void k(int *p) {{ p[0] = {e}; }}").kernel.body
    (write,) = [s for s in statements(body) if isinstance(s, Write)]
    assert isinstance(write.value, Const)
    return int(write.value.value)


@pytest.mark.parametrize(
    ("call", "gives"),
    [
        *((f"__shfl_sync(1u, ({t})1, 0)", "int") for t in ("bool", "char", "signed char", "unsigned char", "short")),
        ("__shfl_sync(1u, (unsigned short)1, 0)", "int"),
        ("__shfl_sync(1u, e, 0)", "int"),
        *((f"__shfl_sync(1u, ({t})1, 0)", t) for t in TYPES),
        ("__shfl_up_sync(1u, 'a', 1u)", "int"),
        ("__shfl_down_sync(1u, 'a', 1u, 16)", "int"),
        ("__shfl_xor_sync(1u, 'a', 1)", "int"),
        ("__shfl((short)1, 0)", "int"),
        ("__shfl_xor(true, 1, 8)", "int"),
        ("pow(2.f, 2)", "double"),
        ("std::pow(2.f, 2)", "double"),
        ("pow(2.f, 2.f)", "float"),
        ("pow(2.0, 2)", "double"),
        ("clock()", "long"),
        ("clock64()", "long long"),
        ("finite(1.0)", "int"),
        ("jn(2, 1.f)", "float"),
        ("yn(2, 1.0)", "double"),
    ],
)
def test_a_call_has_the_type_that_cuda_gives_it(read: Callable[..., Reading], call: str, gives: str) -> None:
    assert TYPES[_value(read, f"Which<decltype({call})>::v")] == gives


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        ("std::rank<int>::value", 0),
        ("std::rank<int[3]>::value", 1),
        ("std::rank<const int[2][5]>::value", 2),
        ("std::rank<int[][4]>::value", 2),
        ("std::rank<int (*)[3]>::value", 0),
        ("std::numeric_limits<wchar_t>::is_signed", 1),
        ("std::numeric_limits<char16_t>::digits", 16),
        ("std::numeric_limits<char32_t>::is_integer", 1),
        ("std::numeric_limits<const int>::digits", 31),
        ("std::numeric_limits<volatile float>::digits", 24),
        ("std::numeric_limits<F>::is_specialized", 0),
    ],
)
def test_a_constant_of_a_type_is_as_the_language_has_it(
    read: Callable[..., Reading], constant: str, value: int
) -> None:
    assert _value(read, constant) == value
