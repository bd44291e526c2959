"""Makes a small certificate for each feature of the format that the other certificates lack.

python -m proofs.features.make
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Final

from checker import kernel as trusted
from checker.certificates.seconded import seconded
from checker.kernel import Ledger
from checker.notation import parse_assumption, parse_expr, parse_kernel, parse_potential
from checker.notation.contracts import parse_contract
from checker.oracles import Oracles
from checker.synthesis.bound import Per, Result, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Condition, Context, Dim, Launch, Scope, assume, conj
from logic.contracts import arrays_of
from logic.derivation import Derivation, Value
from logic.metrics import HARDWARE, METRICS, Hardware, Linear, Metric
from logic.rules import FRAME, SOUND, SPLIT, WEAK
from logic.syntax import Expr
from logic.typing import check_kernel
from proofs.make import text_of

HOME: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Feature:
    """A kernel with what its certificate is for. `frame` is added to the bound by Q:Frame, `split` is what Q:CaseSplit
    parts the proof by."""

    kernel: str
    metric: Metric = METRICS["sectors"]
    hardware: Hardware = HARDWARE["nvidia"]
    block: Dim = (64, 1, 1)
    grid: Dim = (None, None, None)
    given: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    scope: Scope = "warp"
    per: Per = "warp"
    frame: str = ""
    split: str = ""


def _kernel(body: str, params: str = "n") -> str:
    return f"""kernel feature
param int {params};
global int A[];
shared int S[];
local int i, j;
begin
{body}
end"""


_ROWS = "i <- blockIdx.x * blockDim.x + tid.x; if (i < n) { A[i] <- 1; } else { skip; }"
_TURNS = "i <- tid.x; j <- 0; while (j < n) { A[64 * j + i] <- 1; sync; j <- j + 1; }"
_LINES = "j <- 0; while (j < n) { A[m * j + tid.x] <- 1; j <- j + 1; }"
_HALVES = "j <- n; while (j > 1) { A[tid.x] <- 1; j <- j / 2; }"
_EITHER = "i <- n < m ? n : m; A[8 * i + tid.x] <- 1; S[tid.x < 32 ? tid.x : tid.x + 1] <- 2;"
_CONSTANT = "i <- 4; j <- 0; while (j < n / i) { A[tid.x] <- 1; j <- j + 1; }"
_QUOTIENT = "j <- 0; while (j < n / m) { A[tid.x] <- 1; j <- j + 1; }"
_MASK = (
    "i <- 12; j <- 0; while (j < (n & i)) { A[tid.x] <- 1; j <- j + 1; } j <- 0; while (j < (10 & i)) { j <- j + 1; }"
)
_SWIZZLE = "j <- 0; while (j < n) { S[32 * j + (tid.x ^ (j & 31))] <- 1; j <- j + 1; }"
_READS = "A[A[n] + tid.x] <- 1; if (A[tid.x] > n && (tid.x < n) == (tid.x < 5)) { A[~tid.x] <- 1; } else { A[0] <- 2; }"
_ASSUMED = "j <- A[0]; assume j <= m; i <- 0; while (i < j) { A[tid.x] <- 1; i <- i + 1; }"
_ADMITTED = "if (A[tid.x] > n) { sync; } else { skip; } A[tid.x] <- 1;"
_CONDITIONS = (
    "i <- int(tid.x < 5); if (n < m ? m < 5 : n > 7) { A[n] <- 1; } else { A[tid.x] <- 2; }"
    " if (bool(n)) { A[i + n] <- 1; } else { A[i * n] <- 2; }"
)
_UNKNOWN = "if (n > 0) { A[n] <- 1; } else { A[tid.x * tid.y] <- 2; }"
_SAME = "j <- tid.x - tid.x; while (j < n) { A[tid.x] <- 1; j <- j + 1; }"
_PRICED = "j <- 0; while (j < n) { A[64 * j + tid.x] <- A[j] + 1; j <- j + 1; }"
_TESTS = "i <- n < m ? n : m; if (i <= n) { skip; } else { A[tid.x] <- 1; }"

_BORDER = "i <- blockIdx.x * blockDim.x + tid.x; if (i == n - 1) { S[32 * tid.x] <- 1; } else { skip; }"
_SIDES = "S[16 * max(tid.y - 1, n) + tid.x] <- 1; S[16 * min(tid.y + 1, m) + min(tid.x + 1, m)] <- 1;"
_SWIZZLED_ROWS = (
    "i <- tid.y; j <- 0; while (j < n) { S[32 * (i + j) + (tid.x ^ i + j)] <- 1;"
    " S[32 * tid.x + (tid.x ^ i + j)] <- 1; j <- j + 8; }"
)
_BINS = "S[8 * A[tid.x] + (tid.x & 7)] <- 1;"
_RANKS = "S[tid.x + blockDim.x * (tid.y + blockDim.y * tid.z)] <- 1;"
_RING = "A[(tid.x + 70 * blockIdx.x) & 127] <- 1;"
_ANY_SIGN = "A[(tid.x + n) ^ 1] <- 1; A[(tid.x + n) & ~3] <- 1; A[(tid.x + n) % 64] <- 1; A[(tid.x + n) / 4] <- 1;"
_APART = "j <- 0; while (j != n) { A[tid.x] <- 1; j <- j + 1; }"
_CASES = "A[(tid.x + 48 * blockIdx.x) ^ 43] <- 1; A[2 * tid.x + (n & 1)] <- 1; A[tid.x * (blockIdx.x + 1)] <- 1;"
_FLAGS = """kernel feature
param int n;
global int A[];
local int i;
local bool t;
begin
t <- A[tid.x] > n;
i <- int(t) & 15;
if (i <= 1) { skip; } else { A[8 * tid.x] <- 1; }
i <- A[tid.x] & 255;
if ((i & 2047) < 256) { skip; } else { A[8 * tid.x] <- 1; }
if ((0 & A[tid.x]) == (n & ~n & 0)) { skip; } else { A[tid.x & ~1] <- 1; }
end"""

_BASE = """kernel feature
param int n, m;
param float(4) a;
global int A[];
begin
A[int(a * 2.0f) + tid.x] <- 1;
A[n / m / m + tid.x] <- 1;
end"""

_SPARSE = """kernel feature
param int n, w;
global int row[], A[];
local int i, j;
begin
i <- blockIdx.x * blockDim.x + tid.x;
if (i < n) { j <- row[i]; while (j < row[i + 1]) { A[j] <- 1; j <- j + 1; } } else { skip; }
end"""

_ENERGY: Final = Metric(
    "energy",
    {"op": Fraction(1, 2), "if": Fraction(1, 3)},
    {"gread": Linear(Fraction(5, 2), Fraction(1)), "gwrite": Linear(Fraction(7, 2), Fraction(-1))},
)
_HALF: Final = Hardware("half", sector=64, banks=16, warp=16)

FEATURES: Final[dict[str, Feature]] = {
    "sum-of-a-block": Feature(_kernel(_ROWS), per="block"),
    "sum-of-a-grid": Feature(_kernel("A[blockIdx.x * 64 + tid.x] <- 1;"), per="grid"),
    "assumption": Feature(_kernel(_LINES, "n, m"), given=("m % 8 == 0", "n <= 100")),
    "scope-block": Feature(_kernel(_TURNS), scope="block"),
    "symbolic-block": Feature(_kernel(_ROWS), block=(None, 1, 1)),
    "log2": Feature(_kernel(_HALVES)),
    "choice": Feature(_kernel(_EITHER, "n, m"), METRICS["conflicts"]),
    "choice-in-a-condition": Feature(_kernel(_TESTS, "n, m")),
    "frame": Feature(_kernel("A[tid.x] <- n;"), frame="3*|[0, n]|"),
    "case-split": Feature(_kernel("A[tid.x] <- n;"), split="n > 0"),
    "quotient": Feature(_kernel(_QUOTIENT, "n, m"), given=("m > 0", "n >= 0")),
    "quotient-by-a-constant": Feature(_kernel(_CONSTANT)),
    "quotients-in-a-row": Feature(_kernel("A[(n + tid.x) / m] <- 1;", "n, m"), given=("m > 0", "n >= 0")),
    "rows-of-pairs": Feature(_kernel("A[n * tid.x + tid.y] <- 1;"), block=(16, 16, 1)),
    "mask": Feature(_kernel(_MASK), given=("n >= 0",)),
    "swizzle": Feature(_kernel(_SWIZZLE), METRICS["conflicts"]),
    "border": Feature(_kernel(_BORDER), METRICS["conflicts"]),
    "sides": Feature(_kernel(_SIDES, "n, m"), METRICS["conflicts"], block=(16, 16, 1)),
    "swizzled-rows": Feature(_kernel(_SWIZZLED_ROWS), METRICS["conflicts"], block=(32, 8, 1)),
    "bins": Feature(_kernel(_BINS), METRICS["conflicts"]),
    "ranks": Feature(_kernel(_RANKS), METRICS["conflicts"], block=(None, None, None)),
    "ring": Feature(_kernel(_RING), block=(70, 1, 1)),
    "any-sign": Feature(_kernel(_ANY_SIGN)),
    "apart": Feature(_kernel(_APART), given=("n >= 0",)),
    "cases": Feature(_kernel(_CASES), block=(48, 1, 1), grid=(2, 1, 1)),
    "flags": Feature(_FLAGS),
    "reads": Feature(_kernel(_READS)),
    "base-types": Feature(_BASE, given=("m > 0",)),
    "conditions": Feature(_kernel(_CONDITIONS, "n, m")),
    "assumption-inside": Feature(_kernel(_ASSUMED, "n, m")),
    "admitted-barrier": Feature(_kernel(_ADMITTED)),
    "any-block": Feature(_kernel(_UNKNOWN), block=(None, None, None)),
    "the-same-in-a-block": Feature(_kernel(_SAME), scope="block"),
    "contracts": Feature(
        _SPARSE,
        METRICS["divwarps"],
        data=(
            "forall i in [0, n): row[i] <= row[i + 1]",
            "forall i in [0, n): row[i + 1] - row[i] <= w",
        ),
    ),
    "custom": Feature(_kernel(_PRICED), _ENERGY, _HALF),
}


def made(feature: Feature, oracle: Oracles) -> Result:
    """The claim that is found, wrapped in the rules that the search does not use. Raises ValueError where nothing
    is."""
    kernel = parse_kernel(feature.kernel, "feature.qhl")
    sigma, metric = check_kernel(kernel), feature.metric
    given: tuple[Expr, ...] = tuple(parse_assumption(text, sigma, "feature.qhl") for text in feature.given)
    data = tuple(c for text in feature.data for c in parse_contract(text, sigma, "feature.qhl").contracts)
    launch = Launch(feature.block, feature.grid, conj(given, sigma), data)
    sigma = replace(sigma, stable=arrays_of(data))
    context = Context(sigma, metric, feature.hardware, launch, feature.scope)
    (found,) = find_bounds(Outline(kernel, context, bare(kernel.body)), (metric,), oracle, per=feature.per)
    if found.claim is None or found.derivation is None:
        raise ValueError(f"there is no bound: {found.problem}")
    if not feature.frame and not feature.split:
        return found
    triple = found.claim.theorem.judgement
    pre, post = found.claim.pre, triple.post  # type: ignore[union-attr]
    root, s = found.derivation, kernel.body
    whole = {**_named("", pre), **_named("'", post), "s": s}
    if feature.frame:
        root = Derivation(FRAME.name, {**whole, "F": parse_potential(feature.frame, sigma, "F")}, (root,))
    if feature.split:
        e = parse_expr(feature.split, sigma)
        sides = []
        for yes in (True, False):
            case = Condition(assume((), e, sigma, yes), pre.q, pre.x)
            values = {**_named("1", case), **_named("2", pre), **_named("2'", post), **_named("1'", post)}
            sides.append(Derivation(WEAK.name, {**values, "s": s, "c": Fraction(0)}, (root,)))
        root = Derivation(SPLIT.name, {**whole, "e": e}, tuple(sides))
    ledger = Ledger()
    theorem = trusted.check(root, SOUND, context, oracle, ledger)
    claim = trusted.claim(kernel, theorem, context, oracle, ledger)
    second = seconded(claim, root, ledger)
    return Result(metric, second.verdict, claim, root, ledger, None, 0.0, second)


def _named(suffix: str, c: Condition) -> dict[str, Value]:
    return {f"P{suffix}": c.p, f"Q{suffix}": c.q, f"X{suffix}": c.x}


def texts() -> Iterator[tuple[str, str]]:
    """The name and the text of each certificate."""
    for name, feature in FEATURES.items():
        yield name, text_of(made(feature, Oracles()))


def main() -> None:
    """Writes them."""
    for name, text in texts():
        (HOME / f"{name}.json").write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
