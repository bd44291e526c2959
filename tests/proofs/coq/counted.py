"""Counts of checker/oracles/counts.py against the functions of proofs/coq/Rows.v, which are proved to be bounds: random
arrays, hardware and rows, for which both have to give the same number. Coq does the comparing."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from math import gcd, prod
from typing import Final

from checker.oracles.counts import What, _by_class, _known_lanes, gcd_lemma, span_count, stride_lemma
from checker.oracles.forms import Atoms, Form, Mono
from logic.metrics import Hardware
from logic.syntax import INT, Array

HEAD: Final = """From Coq Require Import ZArith List.
From Warpbound Require Import Syntax Metrics Rows.
Import ListNotations.
Open Scope Z_scope.
"""
SPACES: Final[dict[What, str]] = {"MemReads": "Global", "Conflicts": "Shared"}
MOST: Final = 64
"""Of the joint residues that are tried."""

Groups = dict[tuple[tuple[Mono, int], ...], tuple[int, ...]]


def cases(seed: int, n: int) -> Iterator[tuple[str, int]]:
    """Terms of Coq, and the numbers that Python has for them."""
    draw = random.Random(seed)
    while n > 0:
        for term, number in _case(draw):
            yield term, number
            n -= 1


def checked(found: Iterable[tuple[str, int]]) -> str:
    """A Coq file that compiles where all are equal; `differing` names those that are not."""
    rows = ";\n  ".join(f"({term}, {number})" for term, number in found)
    return f"""{HEAD}
Definition found : list (Z * Z) := [
  {rows}].
Definition differing := filter (fun f => negb (fst (snd f) =? snd (snd f))) (combine (seq 0 (length found)) found).
Goal differing = [].
Proof. vm_compute. reflexivity. Qed.
"""


def _case(draw: random.Random) -> Iterator[tuple[str, int]]:
    word = draw.choice((2, 4, 8))
    hw = Hardware("drawn", sector=draw.choice((8, 16, 32)), banks=draw.choice((2, 4, 6, 8)), word=word, alignment=768)
    stride, width = draw.choice((1, 2, 4, 6, 8, 12)), draw.choice((1, 2, 4, 8))
    array = Array("a", "global", INT, stride=stride, offset=draw.randrange(8), width=min(width, stride))
    what: What = draw.choice(("MemReads", "Conflicts"))
    machine = f"(Hardware {hw.sector} {hw.banks} {hw.word} 32)"
    coq = f"(Array {SPACES[what]} TInt {array.stride} {array.offset} {array.width} None)"

    span = draw.randrange(12)
    yield f"span_count {SPACES[what]} {machine} {coq} {span}", span_count(what, array, hw, span)

    lanes, step = draw.randrange(1, 33), draw.choice((-7, -4, -2, -1, 1, 2, 3, 4, 6, 12))
    p = f"Z.min {lanes} ({hw.banks} / Z.gcd ({step}) {hw.banks})"
    yield f"({lanes} + {p} - 1) / ({p})", gcd_lemma(step, lanes, hw.banks)
    part = draw.choice((1, 2, 4, 8))
    term = f"Z.min {lanes} ((Z.abs ({step}) * ({lanes} - 1) + {part} - 1) / {part} + 1)"
    yield term, stride_lemma(step, lanes, part)

    groups: Groups = {}
    for _ in range(draw.randrange(1, 4)):
        picked = sorted(draw.sample(range(3), draw.randrange(3)))
        terms: tuple[tuple[Mono, int], ...] = tuple(((i,), draw.choice((-4, -1, 1, 2, 3, 8, 16))) for i in picked)
        groups[terms] = tuple(sorted(draw.sample(range(-20, 60), draw.randrange(1, 9))))
    atoms = Atoms()
    for i in range(3):
        assert isinstance(atoms.atom(("drawn", i)), Form)
    rows = "; ".join(
        f"Row [{'; '.join(f'({m[0]}%nat, {c})' for m, c in terms)}] [{'; '.join(map(str, consts))}]"
        for terms, consts in groups.items()
    )
    factors: dict[int, int] = {}
    for m, c in (term for terms in groups for term in terms):
        factors[m[0]] = gcd(c, factors.get(m[0], 0))
    period = hw.sector if what == "MemReads" else hw.word if len(groups) == 1 else hw.banks * hw.word
    sizes = {i: period // gcd(period, array.stride * c) for i, c in factors.items()}
    if prod(sizes.values()) <= MOST and not (len(groups) == 1 and len(factors) > 1):
        values = "; ".join(f"({i}%nat, range 0 {size})" for i, size in sizes.items())
        yield (
            f"known_lanes {SPACES[what]} {machine} {coq} [{rows}] [{values}]",
            _known_lanes(what, groups, array, hw, atoms),
        )
    by_class = _by_class(groups, array, hw)
    if by_class is not None:
        moved = gcd(hw.banks * hw.word, *(array.stride * c for terms in groups for _, c in terms))
        yield f"by_class {machine} {coq} [{rows}] {moved // hw.word}", by_class
