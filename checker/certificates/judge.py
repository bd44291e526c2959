"""Questions to the second checker while a certificate is written: it is told what it does not see by itself, and no
more.

It says what is of use in a certificate, not what is true: the certificate is checked again, whatever was tried for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from checker import recheck
from checker.certificates.document import draft
from logic.assertions import AtMost, Context, Entails, Launch, P, Scope, Uniform
from logic.derivation import Derivation
from logic.metrics import METRICS, Hardware
from logic.rules import SKIP
from logic.syntax import GHOST, Array, Decl, Expr, Kernel, Skip, Type
from logic.terms_as_json import expression
from logic.typing import Signature

Json = Any


MAX_DECIDED: Final = 1 << 10
"""Answers that are kept: the same question is asked for each metric, and again for what no proof was found of."""


class Setting(NamedTuple):
    """The part of a context that answers depend on: everything but the metric, and which arrays are stable, which the
    launch says."""

    params: tuple[tuple[str, Type], ...]
    locals: tuple[tuple[str, Type], ...]
    arrays: tuple[tuple[str, Array], ...]
    hardware: Hardware
    launch: Launch
    scope: Scope


def setting(context: Context) -> Setting:
    sigma = context.sigma
    params, locals_, arrays = (*sigma.params.items(),), (*sigma.locals.items(),), (*sigma.arrays.items(),)
    return Setting(params, locals_, arrays, context.hardware, context.launch, context.scope)


def judge(context: Context) -> recheck.Checker:
    """The second checker, with a document that proves nothing of what a context declares."""
    return _begun(setting(context))


def _begun(of: Setting) -> recheck.Checker:
    found = _judge(of)
    recheck.start()  # what a certificate may take, each question may
    return found


@lru_cache(maxsize=2)
def _judge(of: Setting) -> recheck.Checker:
    params = tuple(Decl(name, t) for name, t in of.params if name not in recheck.BUILTINS)
    locals_ = tuple(Decl(name, t) for name, t in of.locals if not name.startswith(GHOST))
    kernel = Kernel("k", params, tuple(array for _, array in of.arrays), locals_, Skip())
    sigma = Signature(dict(of.locals), dict(of.params), dict(of.arrays))
    context = Context(sigma, METRICS["steps"], of.hardware, of.launch, of.scope)
    return recheck.Checker(recheck.frozen(json.loads(draft(kernel, context, "sound", Derivation(SKIP.name, {})))))


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
        view, e = to.lanes(facts(to, p), None), frozen(goal)
        return not _fails_soon(view, e) and view.implies(e)
    except recheck.Bad:
        return False


def _fails_soon(view: recheck.Lanes, e: recheck.Expr) -> bool:
    """Whether a goal is not seen at one of a few threads that P allows, of the first warp and the last: then it is not
    implied, and the other threads need not be looked at. Of what does not depend on the thread nothing is said."""
    p = view.value_at(view.program.worth(e), view.known)
    if view.nobody or p in view.true or not recheck.leaves(p) & {recheck.WARP, *recheck.TIDS}:
        return False
    for warp in view.shape[1][:: max(1, len(view.shape[1]) - 1)]:
        for i in range(len(warp))[:: max(1, len(warp) - 1)]:
            thread = warp[i] | {recheck.LANE: i}
            if view.value_at(p, thread) != 1 and all(view.value_at(f, thread) != 0 for f, _ in view.local):
                return True
    return False


def decided(o: Entails | Uniform | AtMost, said: Json, context: Context) -> bool:
    """Whether the second checker leaves nothing to a solver, if this is what the certificate says."""
    return _unaided(o, setting(context)) if said is None else _decided(o, said, setting(context))


@lru_cache(maxsize=MAX_DECIDED)
def _unaided(o: Entails | Uniform | AtMost, of: Setting) -> bool:
    return _decided(o, None, of)


def _decided(o: Entails | Uniform | AtMost, said: Json, of: Setting) -> bool:
    to = _begun(of)
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
