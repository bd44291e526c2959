"""Steps of arithmetic proofs: what is shown first where a goal has too many cases, or a law needs it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from checker.oracles.factors import is_factor
from logic.potentials import Apply, Floor, Max0, Poly, atom, atoms, leaves, max0


def pieces(goal: Poly) -> list[Poly]:
    """Parts that may be nonnegative, of few cases each, for a goal that has too many cases as a whole. One is like 1 -
    max(0, 1 - max(0, x)): the most that something taken off can be, less that itself. Another is a factor of a product
    less a factor of one that is taken off. A single part has as many cases as the goal, so it is none."""
    alone = [m[0].arg for m, c in goal.terms if c < 0 and len(m) == 1 and isinstance(m[0], Max0)]
    ends = [p for p in alone if p.constant > 0 and all(c < 0 and termwise(Poly(((m, 1),))) for m, c in p.terms if m)]
    found = [max0(p) * -1 + p.constant for p in ends]
    for less, _ in (term for term in goal.terms if term[1] < 0 and len(term[0]) > 1):
        for more in (m for m, c in goal.terms if c > 0 and len(m) == len(less)):
            pairs = product((a for a in more if a not in less), (a for a in less if a not in more))
            found += [atom(a) - atom(b) for a, b in pairs if leaves(atom(a)) == leaves(atom(b))]
    return list(dict.fromkeys(found)) if len(found) > 1 else []


def positive_divisors(polys: Iterable[Poly]) -> list[Poly]:
    """That rounded divisors are positive, less 1: laws of quotients ask for that, and no sum of facts rounds."""
    found = (a.args[1] for p in polys for a in atoms(p) if isinstance(a, Apply) and a.op == "/")
    return list(dict.fromkeys(q - 1 for q in found if any(isinstance(a, Floor) for a in atoms(q))))


def termwise(goal: Poly) -> bool:
    """Whether each term is a product of max(0, .) that is added: also where `_combination` has no product as long."""
    return all(c >= 0 and all(isinstance(a, Max0) or is_factor(a) for a in m) for m, c in goal.terms)
