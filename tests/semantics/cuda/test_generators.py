"""Random numbers on the device: what generators give in runs, and what their states cost in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Leaf, evaluate
from logic.syntax import Param, show_stmt
from logic.typing import check_kernel
from semantics import vectorised
from semantics.cuda import Reading

Read = Callable[..., Reading]
Refused = Callable[[str, str], None]

HEAD: Final = "#include <curand_kernel.h>\n"
FIELDS: Final = 10
"""The scalars of a state of curand's first generator, of 48 bytes."""


def kernel(body: str, state: str = "curandState") -> str:
    return f"{HEAD}__global__ void k({state} *S, unsigned *A, float *F, int n) {{ int t = threadIdx.x; {body} }}"


def xorwow(v: list[int], d: int) -> int:
    """The next number by Marsaglia's recipe; v is moved on."""
    t = v[0] ^ v[0] >> 2
    v[:] = [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) % 2**32]
    return (v[4] + d) % 2**32


LOCAL: Final = "curandState s = S[t]; for (int i = 0; i < n; i++) A[32 * i + t] = curand(&s); S[t] = s;"
IN_MEMORY: Final = "for (int i = 0; i < n; i++) A[32 * i + t] = curand(&S[t]);"


@pytest.mark.parametrize("body", [LOCAL, IN_MEMORY])
def test_numbers(read: Read, body: str) -> None:
    states = [[(i + 1) * (j + 77) * 2654435761 % 2**32 for j in range(6)] for i in range(32)]
    arrays: dict[str, list[int] | dict[int, int]] = {
        "S.d": [s[5] for s in states],
        "S.v": {12 * i + j: s[j] for i, s in enumerate(states) for j in range(5)},
    }
    ran = vectorised.run(read(kernel(body)).kernel, (32, 1, 1), (1, 1, 1), {"n": 3}, arrays)
    for lane, (*v, d) in enumerate(states):
        for i in range(3):
            d = (d + 362437) % 2**32
            assert ran.arrays["A"][32 * i + lane] % 2**32 == xorwow(v, d)


def claimed(reading: Reading, at: dict[Leaf, int]) -> tuple[int, int]:
    """The bound on sectors, and what a warp of a run has of them."""
    launch = Launch((32, 1, 1), (1, 1, 1), ())
    context = Context(check_kernel(reading.kernel), METRICS["sectors"], HARDWARE["nvidia"], launch)
    (found,) = find_bounds(Outline(reading.kernel, context, bare(reading.kernel.body)), [METRICS["sectors"]], Oracles())
    assert found.verdict == "certified"
    assert found.claim is not None
    ran = vectorised.run(reading.kernel, (32, 1, 1), (1, 1, 1), {"n": 3})
    return int(evaluate(found.claim.pre.q, at)), int(ran.max_per_warp["sectors"])


def touched(offset: int, size: int, stride: int) -> int:
    """The sectors in which 32 states have a scalar."""
    return len({(stride * i + b) // 32 for i in range(32) for b in range(offset, offset + size)})


def test_a_state_in_a_variable_is_read_and_written_once(read: Read) -> None:
    offsets = [(4 * i, 4) for i in range(9)] + [(40, 8)]
    assert len(offsets) == FIELDS
    once = sum(touched(offset, size, 48) for offset, size in offsets)
    bound, ran = claimed(read(kernel(LOCAL)), {Param("n"): 3})
    assert bound == ran == 2 * once + 3 * 4


def test_a_state_in_memory_is_read_and_written_for_each_number(read: Read) -> None:
    once = sum(touched(4 * i, 4, 48) for i in range(6))
    bound, ran = claimed(read(kernel(IN_MEMORY)), {Param("n"): 3})
    assert bound == ran == 3 * (2 * once + 4)


READ: Final = {
    "curand_init(n, t, 0, S + t);": "curandState",
    "F[t] = curand_uniform(&S[t]); F[t] = curand_normal(S + t);": "curandState",
    "curandState s; curand_init(1, t, 0, &s); F[t] = curand_log_normal(&s, 0.f, 1.f);": "curandState",
    "double d = curand_uniform_double(S); F[t] = d; F[t] = curand_normal_double(S);": "curandStateMRG32k3a",
    "curandStatePhilox4_32_10_t s = S[t]; float4 v = curand_uniform4(&s); F[t] = v.x + v.w; S[t] = s;": (
        "curandStatePhilox4_32_10_t"
    ),
    "float4 v = curand_normal4(S + t); F[t] = v.y; A[t] = curand(S + t);": "curandStatePhilox4_32_10_t",
    "float2 v = curand_normal2(S + t); F[t] = v.y;": "curandState_t",
    "double4 v = curand_log_normal4_double(S + t, 0., 1.); F[t] = v.y;": "curandStatePhilox4_32_10_t",
    "curand_init(A, 5, S + t); F[t] = curand_uniform(S + t);": "curandStateSobol32",
    "curandStateScrambledSobol64 s = S[t]; A[t] = curand(&s); S[t] = s;": "curandStateScrambledSobol64_t",
}


@pytest.mark.parametrize("body", READ)
def test_read(read: Read, body: str) -> None:
    assert "<-" in show_stmt(read(kernel(body, READ[body])).kernel.body)


def test_what_is_assumed_and_refused(read: Read, refused: Refused) -> None:
    notes = read(kernel("curand_init(n, t, 0, S + t);")).notes
    assert "what starting or skipping random numbers reads of its tables and computes is not counted" in notes
    refused(
        kernel("A[t] = curand_poisson(S + t, 3.0);"), "a discrete distribution is not supported, in 'curand_poisson'"
    )
