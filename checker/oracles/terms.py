"""Expressions made ready for the oracles, and their exact values.

A read that occurs twice is two reads (another warp may write in between, section 5), and what happens on base types is
opaque: `prepared` writes both into the expression itself, so that no oracle has to remember either.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, Final
from zlib import crc32

from logic.assertions import FRESH, Context, P, Scope, X, assume, fresh_type, launch_facts, opaque, settled
from logic.operators import COMPARISONS, Value, denote
from logic.potentials import ELEMENT, Leaf
from logic.syntax import BOOL, INT, TRUE, Array, Const, Expr, Op, Param, Read, Tid, Type, Var, reads_array, subterms
from logic.typing import Signature, type_of

MAX_VALUED: Final = 2**14
"""Expressions whose ways to their values are kept: each is asked for in many stores."""

DIRECT: Final[Mapping[str, Callable[[Any, Any], Value]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
"""Operators that Python has, for truth values as for numbers: as `denote`, in less time."""

FAR: Final = 10**6
"""A distance between values that is farther than what is asked of lanes."""

WAY: Final = "?way"
"""The name of what says, in a store, in which way the values of reads and of base types are made up."""

Valued = Callable[[Mapping[str, Value]], Value]
"""The value of an expression in a store. Raises KeyError where there is none."""


def alike(e: Expr, x: X, scope: Scope) -> bool:
    """Whether nothing in an expression depends on the thread, by X alone."""
    shared = all(not isinstance(t, Tid) and (not isinstance(t, Var) or t.name in x) for t in subterms(e))
    return shared and (scope == "warp" or not reads_array(e))


def inputs(e: Expr, sigma: Signature) -> tuple[Expr, ...] | None:
    """The expressions that decide the value of e where nothing else is known: the index of a read, the operands of an
    operator on base types, nothing for a variable of such a type. None where e is something else."""
    match e:
        case Read(_, index):
            return (index,)
        case Var() if leaf_type(e, sigma).kind == "base":
            return ()
        case Op(op, args) if op != "?:" and (is_function(op) or any(type_of(a, sigma).kind == "base" for a in args)):
            return args
    return None


def leaves_in(*exprs: Expr) -> set[Var | Param | Tid]:
    """The variables, parameters and axes of tid in expressions."""
    return set[Leaf]().union(*map(_leaves, exprs))


@lru_cache(maxsize=2**14)
def _leaves(e: Expr) -> frozenset[Leaf]:
    return frozenset(t for t in subterms(e) if isinstance(t, Var | Param | Tid))


def truths(sigma: Signature) -> frozenset[str]:
    """The names of variables and parameters that are truth values."""
    return frozenset(name for name, t in (*sigma.locals.items(), *sigma.params.items()) if t == BOOL)


def numeric(e: Expr, named: frozenset[str]) -> bool:
    """Whether nothing that a comparison compares is a truth value."""
    return not any(
        (isinstance(t, Const) and t.type == BOOL) or (isinstance(t, Var | Param) and t.name in named)
        for t in subterms(e)
    )


def leaf_name(leaf: Var | Param | Tid) -> str:
    """The name of a leaf in stores and witnesses; no local, parameter or tid shares one with another."""
    return f"tid.{leaf.axis}" if isinstance(leaf, Tid) else leaf.name


def contents(array: str) -> tuple[Param, Param]:
    """Leaves for the contents of a stable array in stores that may refute something: it holds i times the one, less the
    other, at i."""
    return Param(f"{ELEMENT}{array}"), Param(f"{ELEMENT}{array}-")


def is_content(name: str) -> bool:
    """Whether a leaf of this name stands for what an array holds."""
    return name.startswith(ELEMENT)


def is_drop(name: str) -> bool:
    """Whether it stands for what an array holds less than 0 at 0."""
    return is_content(name) and name.endswith("-")


def leaf_type(leaf: Var | Param | Tid, sigma: Signature) -> Type:
    """The type of a leaf. Raises TypeProblem for an undeclared one that is not universally quantified."""
    if isinstance(leaf, Var) and leaf.name.startswith(FRESH):
        return fresh_type(leaf.name)
    return INT if is_content(leaf_name(leaf)) else type_of(leaf, sigma)


def with_fresh(sigma: Signature, exprs: Iterable[Expr]) -> Signature:
    """sigma, with the types of the universally quantified values that occur in the expressions."""
    names = {leaf.name for leaf in leaves_in(*exprs) if isinstance(leaf, Var)}
    fresh = {name: fresh_type(name) for name in sorted(names) if name.startswith(FRESH)}
    return replace(sigma, locals={**sigma.locals, **fresh}) if fresh else sigma


def prepared(e: Expr, sigma: Signature) -> tuple[Expr, Signature]:
    """e with its k-th read of A renamed to a read of `A#k`, and operators on base types renamed to `call:OP`.

    A read of a stable array is its element instead. So two occurrences of another read never look alike, and every
    operator that is still called by its own name works on integers and booleans. The signature that comes back knows
    the arrays `A#k`.
    """
    arrays: dict[str, Array] = dict(sigma.arrays)
    count = 0

    def walk(t: Expr) -> Expr:
        nonlocal count
        match t:
            case Read(array, _) if array in sigma.stable and not opaque(t, sigma):
                return settled(t, sigma)
            case Read(array, index):
                inner = walk(index)
                count += 1
                name = f"{array}#{count}"
                arrays[name] = sigma.arrays[array]
                return Read(name, inner)
            case Op(op, args):
                plain = op == "?:" or op.startswith(("call:", "as:"))
                base = not plain and any(type_of(a, sigma).kind == "base" for a in args)
                return Op(f"call:{op}" if base else op, tuple(walk(a) for a in args))
        return t

    walked = walk(e) if opaque(e, sigma) else settled(e, sigma)
    return walked, replace(sigma, arrays=arrays)


def is_function(op: str) -> bool:
    """Whether an operator of a prepared expression is an uninterpreted function of its operands."""
    return op.startswith(("call:", "as:", ELEMENT))


def is_predicate(op: str) -> bool:
    """Whether an uninterpreted operator of a prepared expression returns a boolean."""
    return op.startswith("call:") and (op[5:] in COMPARISONS or op[5:] in ("bool", "!"))


def facts_of(p: Iterable[Expr], context: Context, sigma: Signature) -> tuple[Expr, ...]:
    """P and what holds of every thread of the launch, without what P cannot speak of."""
    given = launch_facts(context.launch, context.hardware, context.scope)
    return tuple(f for f in (*p, *given) if not opaque(f, sigma))


def value_of(e: Expr, store: Mapping[str, Value]) -> Value:
    """The exact value of e, where stable arrays hold what `contents` says. Raises KeyError for a leaf without a value.

    Another read, and an operator on base types, is some function of its operands, which one depends on what the store
    has for `WAY`; where it has nothing, they raise KeyError, too."""
    return evaluator(e)(store)


@lru_cache(maxsize=MAX_VALUED)
def evaluator(e: Expr) -> Valued:
    """`value_of` an expression, as a function of stores: for who asks at many of them."""
    match e:
        case Const(value, type_):
            if isinstance(value, str):
                return partial(_some, value, ())
            known = bool(value) if type_ == BOOL else value
            return lambda _: known
        case Var() | Param() | Tid():
            return itemgetter(leaf_name(e))
        case Op("<<", (a, b)):
            return partial(_shifted, evaluator(a), evaluator(b))
        case Op(op, (index,)) if op.startswith(ELEMENT):
            place, (rise, drop) = evaluator(index), (leaf.name for leaf in contents(op.removeprefix(ELEMENT)))
            return lambda store: store[rise] * place(store) - store[drop]
        case Op(op, args) if is_function(op):
            made, predicate = partial(_some, op, tuple(map(evaluator, args))), is_predicate(op)
            return lambda store: made(store) > 0 if predicate else made(store)
        case Op(op, (a, b)):
            left, right = evaluator(a), evaluator(b)
            if direct := DIRECT.get(op):
                return lambda store: direct(left(store), right(store))
            return lambda store: denote(op, (left(store), right(store)))
        case Op(op, args):
            values = tuple(map(evaluator, args))
            return lambda store: denote(op, tuple(value(store) for value in values))
        case Read(array, index):
            return partial(_some, array, (evaluator(index),))


def is_made_up(e: Expr) -> bool:
    """Whether the value of an expression, prepared, is made up: it is read, or of a base type, or made by one."""
    match e:
        case Const(value, _):
            return isinstance(value, str)
        case Op(op, _):
            return is_function(op) and not op.startswith(ELEMENT)
    return isinstance(e, Read)


def _some(name: str, args: Sequence[Valued], store: Mapping[str, Value]) -> int:
    """0, or the one or the other number that is far from it."""
    own = store[WAY], name, *(int(value(store)) for value in args)
    return (-FAR, 0, FAR)[crc32(repr(own).encode()) % 3]


def _shifted(value: Valued, by: Valued, store: Mapping[str, Value]) -> Value:
    count = int(by(store))
    if count > 4096:
        raise KeyError("a shift too far to carry out")
    return denote("<<", (value(store), count))


def first_choice(e: Expr, *kinds: Collection[str]) -> tuple[tuple[bool, Expr, Expr, Expr], ...]:
    """The outcomes of the first choice in an expression, from the outside, by operators of the first kind that there
    is: whether its test holds, what it is then, the choice, and the test. A truth value as a number is one, too."""
    found = (t for ops in kinds for t in subterms(e) if isinstance(t, Op) and t.op in ops)
    match next(found, None):
        case Op("?:", (test, yes, no)) as choice:
            pass
        case Op("||", (test, no)) as choice:
            yes = TRUE
        case Op("int", (test,)) as choice:
            yes, no = Const(1), Const(0)
        case Op("min" | "max" as op, (yes, no)) as choice:
            test = Op("<=" if op == "min" else ">=", (yes, no))
        case Op("abs", (yes,)) as choice:
            test, no = Op(">=", (yes, Const(0))), Op("neg", (yes,))
        case _:
            return ()
    return (True, yes, choice, test), (False, no, choice, test)


def choosing(goal: Expr, p: P, sigma: Signature) -> list[Expr]:
    """The facts of P that have a choice by a test in common with a goal, and the disjunctions that P refutes a part
    of."""
    of_goal = {*_tests(goal)}
    common = (f for f in p if of_goal.intersection(_tests(f)))
    return [*dict.fromkeys((*common, *(f for f in p if _partly_refuted(f, p, sigma))))]


def _tests(e: Expr) -> Iterator[Expr]:
    """The tests of the choices in an expression."""
    return (t.args[0] for t in subterms(e) if isinstance(t, Op) and t.op in ("?:", "||", "int"))


def _partly_refuted(e: Expr, p: P, sigma: Signature) -> bool:
    """Whether P has the opposite of a part of a disjunction."""
    match e:
        case Op("||", sides):
            return any({*assume((), one, sigma, False)} <= {*p} or _partly_refuted(one, p, sigma) for one in sides)
    return False
