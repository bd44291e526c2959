"""Questions to the second checker while a certificate is written: it is told what it does not see by itself, and no
more.

It says what is of use in a certificate, not what is true: the certificate is checked again, whatever was tried for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from checker import recheck
from checker.certificates.document import draft
from logic.assertions import AtMost, Context, Entails, P, Uniform
from logic.derivation import Derivation
from logic.rules import SKIP
from logic.syntax import GHOST, Decl, Expr, Kernel, Skip
from logic.terms_as_json import expression

Json = Any


def judge(context: Context) -> recheck.Checker:
    """The second checker, with a document that proves nothing of what a context declares."""
    sigma = context.sigma
    params = tuple(Decl(name, t) for name, t in sigma.params.items() if name not in recheck.BUILTINS)
    locals_ = tuple(Decl(name, t) for name, t in sigma.locals.items() if not name.startswith(GHOST))
    kernel = Kernel("k", params, tuple(sigma.arrays.values()), locals_, Skip())
    found = _judge(draft(kernel, context, "sound", Derivation(SKIP.name, {})))
    recheck.start()  # what a certificate may take, each question may
    return found


@lru_cache(maxsize=2)
def _judge(text: str) -> recheck.Checker:
    return recheck.Checker(recheck.frozen(json.loads(text)))


def frozen(e: Expr) -> recheck.Expr:
    """An expression as the second checker has it."""
    return recheck.frozen(expression(e))  # type: ignore[no-any-return]


def facts(to: recheck.Checker, p: Iterable[Expr]) -> recheck.Facts:
    """P as the second checker has it."""
    return to.conj(map(frozen, p))


def implied(p: P, goal: Expr, context: Context) -> bool:
    """Whether the second checker sees in the lanes that P implies a goal."""
    to = judge(context)
    try:
        return to.lanes(facts(to, p), None).implies(frozen(goal))
    except recheck.Bad:
        return False


def decided(o: Entails | Uniform | AtMost, said: Json, context: Context) -> bool:
    """Whether the second checker leaves nothing to a solver, if this is what the certificate says."""
    to = judge(context)
    to.evidence, to.solver_backed = [{"engine": "", "proof": recheck.frozen(said)}], []
    try:
        match o:
            case Entails(p, goal):
                to.entails(facts(to, p), facts(to, goal))
            case Uniform(p, x, e):
                to.uniform(facts(to, p), x, frozen(e))
            case AtMost(_, p, x, array, index, n):
                to.accesses(facts(to, p), x, array, frozen(index), n)
    except recheck.Bad:
        return False
    return not to.solver_backed
