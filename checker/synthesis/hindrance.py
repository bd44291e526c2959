"""When no potentials are found: which loop is in the way, why, and what a person could add."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from checker.synthesis import chases
from checker.synthesis.counters import geometric, moves, per_turn
from checker.synthesis.ghosts import cycles
from checker.synthesis.guards import distances, sized
from checker.synthesis.lanewise import most
from checker.synthesis.nodes import Cycle, Flow, Fork, Step, within
from checker.synthesis.walk import Told
from logic.assertions import Context, conj
from logic.comparisons import as_expr
from logic.contracts import BOUND, elements_in, settled
from logic.facts import Facts, compared, definitions, said, unfolded
from logic.potentials import ELEMENT, Floor, Max0, Poly, element_of, is_closed, leaves, max0, of_expr, sym, variables
from logic.source import Loc
from logic.stable import root
from logic.syntax import (
    BOOL,
    BUILTINS,
    INT,
    Assign,
    Const,
    Expr,
    Op,
    Param,
    Read,
    Stmt,
    Var,
    Write,
    arrays_read,
    evaluated,
    local_vars,
    show,
    statements,
    subterms,
    written,
)


def hindrance(flow: Flow, context: Context, solvable: Callable[[Flow, bool], bool]) -> Told:
    """A sentence about a flow that has no potentials of the templates' form.

    `solvable` says whether a part of it has; True asks further that they can be said where the part begins.
    """
    for cycle in _inner_first(flow):
        if not solvable(Flow(cycle.before, (cycle,), cycle.after), False):
            return _of(cycle, flow, context)
    first = bisect_left(
        range(len(flow.nodes)), True, key=lambda i: not solvable(replace(flow, nodes=flow.nodes[: i + 1]), True)
    )
    here = list(cycles(replace(flow, nodes=flow.nodes[first : first + 1]))) or list(cycles(flow))
    if not here:
        return "no potential was found in front of its branches", None, ""
    return _of(here[-1], flow, context, " where it begins")


def _inner_first(flow: Flow) -> Iterator[Cycle]:
    for node in flow.nodes:
        match node:
            case Cycle():
                yield from _inner_first(node.body)
                yield node
            case Fork():
                for side in (node.then, node.orelse):
                    if isinstance(side, Flow):
                        yield from _inner_first(side)


def _of(cycle: Cycle, flow: Flow, context: Context, where: str = "") -> Told:
    reason, advice = _reason(cycle, flow, context)
    message = f"no potential was found for this loop{where}: {reason}"
    return message, cycle.loc, advice


class _Case(NamedTuple):
    """A loop without a potential, in its flow: the variables that its body changes, those that its guard tests, and
    those of both kinds."""

    cycle: Cycle
    flow: Flow
    context: Context
    changed: frozenset[str]
    tested: frozenset[str]
    counters: list[str]


_BOUNDED: Final = (
    "Add a test to its guard that bounds it by parameters, as i < n does, or state //@ loop potential q; before it."
)


def _reason(cycle: Cycle, flow: Flow, context: Context) -> tuple[str, str]:
    """Why a loop may have no potential, the likeliest first, and what could help."""
    changed, tested = frozenset(written(cycle.body.stmt)), frozenset(local_vars(cycle.cond))
    case = _Case(cycle, flow, context, changed, tested, sorted(tested & changed))
    for reasons in (
        _of_the_guard,
        _of_what_is_read,
        _of_steps,
        _of_what_no_potential_says,
        _of_factors,
        _of_other_loops,
    ):
        if found := next(reasons(case), None):
            return found
    block = " Or say --block." if None in context.launch.block and _sized(cycle) else ""
    return (
        f"none over its guard, {show(cycle.cond)}, pays for its turns",
        f"State //@ loop potential q; before it, and what it needs: //@ loop invariant e; or --assume e.{block}",
    )


def _of_the_guard(case: _Case) -> Iterator[tuple[str, str]]:
    """Reasons that its test shows by itself."""
    cycle, flow, context = case.cycle, case.flow, case.context
    for array in arrays_read(cycle.cond):
        holding = _holding(array, cycle, flow, context)
        yield f"its guard reads '{array}', and what an array holds is not known", _BOUNDED + holding
    if not case.counters:
        yield "its body changes nothing that its guard tests", "Is a step of its counter missing?"
    if all(context.sigma.locals[name] == BOOL for name in case.counters):
        yield "only what its body finds ends it, and no test limits how often it turns", _BOUNDED


def _of_what_is_read(case: _Case) -> Iterator[tuple[str, str]]:
    """Reasons in what was read, of which nothing is known."""
    cycle, flow, context = case.cycle, case.flow, case.context
    for name in sorted(case.tested):
        if (read := _read(flow, name)) and not _limited(cycle, flow, context):
            holding = _holding(read.split("'")[1], cycle, flow, context)
            yield f"its guard depends on '{name}', {read}", _BOUNDED + holding
    for name, read in _until(cycle, context):
        array = next((a for a in _arrays_in(cycle.body.stmt) if chases.led_by(a, cycle.body.stmt, context.sigma)), "")
        holding = _holding(array, cycle, flow, context) if array else ""
        yield f"it goes on until '{name}', {read}, ends it, and no test limits how often it turns", _BOUNDED + holding
    for name in case.counters:
        for x in sorted({x for step in _assignments(flow, name) for x in (name, *local_vars(step.value))}):
            if read := _read(flow, x):
                first = _first(read.split("'")[1], flow, context)
                yield f"it begins at '{x}', {read}, and may be anything", first or _BEGINS.format(x)


def _of_steps(case: _Case) -> Iterator[tuple[str, str]]:
    """Reasons in how its counters move, once a turn."""
    cycle, context = case.cycle, case.context
    facts = said(cycle.invariant.p, context)
    kept = facts.without(case.changed)
    for name in case.counters:
        found = map(kept.plain, moves(name, cycle.body.stmt) or ())
        loose = next((d for d in found if not facts.moved(d)), None)
        if loose is not None and not loose.is_constant:
            quotient = _quotient(loose)
            down = all(c < 0 for _, c in (quotient[0] if quotient is not None else loose).terms)
            side = "below" if down else "above"
            one = f"its counter '{name}' moves by {_told(loose)}, which is not known to be {side} 0"
            loose = loose * -1 if down else loose
            params = all(isinstance(leaf, Param) for leaf in leaves(loose))
            told = _above_0(loose)
            yield one, f'Say --assume "{told}".' if params else f"State //@ loop invariant {told};"


def _of_what_no_potential_says(case: _Case) -> Iterator[tuple[str, str]]:
    """Reasons in values that are no polynomials of what all lanes share."""
    cycle, flow, locals_ = case.cycle, case.flow, case.context.sigma.locals
    given, uniform = said((), case.context), cycle.invariant.x
    for step in (s for name in sorted((case.tested - case.changed) & uniform) for s in _assignments(flow, name)):
        if locals_[step.var] == INT and of_expr(sized(step.value, given)) is None:
            told = f"its guard depends on '{step.var}', {show(step.value)}{_at(step.loc)}, which no potential can say"
            yield told, _BOUNDED
    for size, mask in _wrapping(cycle, case.context):
        told = f"what it adds up may be {mask + 1} or more, where an unsigned number begins at 0 again"
        yield told, f'Say --assume "{size} <= {mask >> 1}", or compute it in a wider type.'
    for name in sorted(x for x in case.tested - uniform if locals_[x] == INT):
        here = next((s.loc for s in _assignments(flow, name, apart=True)), None)
        positive = " ".join(f'--assume "{t.name} > 0"' for t in _dividing(name, cycle, case.context))
        yield (
            f"its guard depends on '{name}', which differs between the threads of a warp{_at(here)}",
            "Count its turns in a variable of their own, and test that, too: turn < n."
            if name in case.changed
            else f"Say {positive}."
            if positive
            else f"Say what bounds it for all of them: {_LIMITED.format(name)}",
        )


def _dividing(name: str, cycle: Cycle, context: Context) -> tuple[Param, ...]:
    """The divisors in P that have to be positive for a variable to have a limit that holds at all lanes: one of them if
    that is enough, else all. None where the variable has a limit anyway, or has none even so."""
    p, uniform, e = cycle.invariant.p, cycle.invariant.x, Var(name)
    by = (t.args[1] for fact in p for t in subterms(fact) if isinstance(t, Op) and t.op in ("/", "%"))
    found = [t for t in dict.fromkeys(by) if isinstance(t, Param) and t.name not in BUILTINS]
    if not found or most(e, uniform, said(p, context), context) is not None:
        return ()
    for some in (*((t,) for t in found), tuple(found)):
        known = said((*p, *(Op(">", (t, Const(0))) for t in some)), context)
        if most(e, uniform, known, context) is not None:
            return some
    return ()


def _of_factors(case: _Case) -> Iterator[tuple[str, str]]:
    """Reasons in counters that are multiplied or divided."""
    cycle, context = case.cycle, case.context
    facts = said(cycle.invariant.p, context)
    if geometric(cycle.cond, cycle.body.stmt, facts) and not any(moves(x, cycle.body.stmt) for x in case.counters):
        factor = f"its counter '{case.counters[0]}' is not moved by a fixed amount"
        if None in context.launch.block and _sized(cycle):
            yield factor, "Say --block, such as --block 256: then its turns may be known."
        yield factor, "State //@ loop potential q; before it, and where it starts: //@ loop invariant e;"


def _of_other_loops(case: _Case) -> Iterator[tuple[str, str]]:
    """Reasons in loops inside it, and in where it is when its test fails."""
    for inner in cycles(case.cycle.body):
        for name in sorted(local_vars(inner.cond) & case.changed - written(inner.body.stmt)):
            yield (
                f"the loop inside it{_at(inner.loc)} runs until '{name}', which this one changes",
                f"State //@ loop potential q; before both, or {_LIMITED.format(name)}",
            )
    for gap in _missed(case.cycle, case.context):
        told = f"its counter gets to where {show(case.cycle.cond)} fails only if {gap} >= 0, which is not known"
        yield told, f'Say --assume "{gap} >= 0", or write the test with < or >.'


UNSIGNED: Final = (2**32 - 1, 2**64 - 1)
"""The largest numbers of unsigned types that sums are reduced to."""

_LIMITED: Final = "//@ loop invariant {} <= LIMIT; with LIMIT over parameters."
_BEGINS: Final = (
    "Bound that on the other side, too: before a loop that counts up, set {0} to 0 where it is less; "
    "before one that counts down, set {0} to a limit over parameters where it is more."
)


def _holding(array: str, cycle: Cycle, flow: Flow, context: Context) -> str:
    """The contract that would say what an array holds, as far as it is not there: that rows begin where others end, or
    how long they are at most, or how large elements are, or that each is less than its index where loops go from one to
    another; and where indices from memory lead. Nothing where no counter is compared with <, as in `while (A[0] != 3)`,
    since no limit of elements ends that. Where the kernel writes to the array, or where it is not in global
    memory, no contract can be about it, but an assumption about what is read."""
    led = chases.led_by(array, cycle.body.stmt, context.sigma)
    if not led and not _counts(cycle):
        return ""
    if not _contracted(array, flow, context):
        return " Or read it into a variable before, and say what is known of that: //@ assume x <= q;"
    reads = [
        t
        for s in statements(flow.stmt)
        for e in evaluated(s)
        for t in subterms(e)
        if isinstance(t, Read) and t.array == array
    ]
    at = list(dict.fromkeys(p for t in reads if (p := of_expr(settled(t.index))) is not None))
    rows = [p for p in at if p + 1 in at]
    below = ((sym(x), q) for x, op, q in compared(cycle.before.p, either=True) if op == "<" and _shared(q))
    known_as = definitions(cycle.before.p) if led else {}
    begins = {unfolded(p, known_as) for p in (rows or at)[: None if led else 1]}
    limits = [show(q) for x, q in below if unfolded(x, known_as) in begins]
    span = f" in [0, {limits[0]})" if limits else ""
    name, i = f"{ELEMENT}{array}", sym(Var(f"{BOUND}0"))
    rise = element_of(name, i + 1) - element_of(name, i)
    own, told = element_of(name, i), {q for c in context.launch.contracts for q in c.quantities.values()}
    if led:
        fact = f"0 <= {array}[i] && {array}[i] <= i"
        return "" if {own, i - own} <= told else f" Or say how it gets on: //@ requires forall i{span}: {fact};"
    rises = f"{array}[i] <= {array}[i + 1]"
    if (rise in told or not rows) and any(not elements_in([q + (rise if rows else own)]) for q in told):
        return ""  # most of it is said
    fact = rises if rows and rise not in told else f"{array}[i + 1] - {array}[i] <= 64" if rows else f"{array}[i] <= 64"
    most = "" if fact == rises else ", with what is most in place of 64"
    return f" Or say what it holds{most}: //@ requires forall i{span}: {fact};"


def _counts(cycle: Cycle) -> bool:
    """Whether a loop's guard compares what its body changes, by < and its like."""
    tests = (t for t in subterms(cycle.cond) if isinstance(t, Op) and t.op in ("<", "<=", ">", ">="))
    return any(_sides(test) & written(cycle.body.stmt) for test in tests)


def _sides(e: Expr) -> frozenset[str]:
    """The variables in an expression, but for those in indices."""
    match e:
        case Var(name):
            return frozenset({name})
        case Op(_, args):
            return frozenset[str]().union(*map(_sides, args))
    return frozenset()


def _first(array: str, flow: Flow, context: Context) -> str:
    """The contract that would say where the rows of an array begin that is known to rise; nothing where it is not, or
    where another says that."""
    if not _contracted(array, flow, context):
        return ""
    name, i = f"{ELEMENT}{array}", sym(Var(f"{BOUND}0"))
    rise = element_of(name, i + 1) - element_of(name, i)
    contracts = context.launch.contracts
    begins = (c.ranges[0][0] for c in contracts if rise in c.quantities.values() and len(c.ranges) == 1)
    low = next((e for e in begins if e is not None), None)
    first = None if low is None else of_expr(low)
    if low is None or first is None or any(element_of(name, first) in c.quantities.values() for c in contracts):
        return ""
    return f"Say where its rows begin: //@ requires {array}[{show(low)}] >= 0;"


def _contracted(array: str, flow: Flow, context: Context) -> bool:
    """Whether a contract can be about an array: it is in global memory, and the kernel does not write to it."""
    changed = {root(s.array) for s in statements(flow.stmt) if isinstance(s, Write)}
    return root(array) not in changed and context.sigma.arrays[array].space == "global"


def _shared(e: Expr) -> bool:
    return all(isinstance(t, Param | Const | Op) for t in subterms(e))


def _read(flow: Flow, name: str) -> str:
    """The places at which a variable is read from an array; empty if it is not."""
    found = ((array, step.loc) for step in _assignments(flow, name) for array in arrays_read(step.value))
    return next((f"which is read from '{array}'{_at(loc)}" for array, loc in found), "")


def _returned(flow: Flow, name: str) -> str:
    """The function that returns a variable's value; empty if none does."""
    calls = ((t.op, step.loc) for step in _assignments(flow, name) for t in subterms(step.value) if isinstance(t, Op))
    return next((f"which {op[5:]} returns{_at(loc)}" for op, loc in calls if op.startswith("call:")), "")


def _limited(cycle: Cycle, flow: Flow, context: Context) -> bool:
    """Whether a test in the guard limits the counter by what no array holds."""
    changed = written(cycle.body.stmt)
    names = ({x for x in variables(d) if x not in changed} for d in distances(cycle.cond, context.sigma))
    return any(not any(_read(flow, x) for x in others) for others in names)


def _until(cycle: Cycle, context: Context) -> Iterator[tuple[str, str]]:
    """The value that is read, or returned, in each turn, and by what, if every test is of that; nothing that is
    counted."""
    body = cycle.body
    counted = {step.var for x in written(body.stmt) for step in _assignments(body, x) if x in local_vars(step.value)}
    changed = sorted(written(body.stmt) - counted)
    found = {x: read for x in changed if (read := _read(body, x) or _returned(body, x))}
    values, before = [(x, local_vars(step.value)) for x in changed for step in _assignments(body, x)], -1
    while before < len(found):
        before = len(found)
        for x, names in values:
            for y in sorted(names & found.keys()):
                found.setdefault(x, found[y])
    tests = [variables(d) & found.keys() for d in distances(cycle.cond, context.sigma)]
    if tests and all(tests):
        yield from ((x, read) for x, read in found.items() if x in tests[0])


def _wrapping(cycle: Cycle, context: Context) -> Iterator[tuple[str, int]]:
    """The parameters that a loop's counters begin at or go to and that nothing limits, where sums that have a part in
    its test are reduced to an unsigned type, with the largest number of that."""
    changed, masks = written(cycle.body.stmt), set[int]()
    values, ending, todo = dict[str, list[Expr]](), set[str](), [*local_vars(cycle.cond)]
    for s in statements(cycle.body.stmt):
        if isinstance(s, Assign):
            values.setdefault(s.var, []).append(s.value)
    while todo:
        if (x := todo.pop()) not in ending:
            ending.add(x)
            todo += (y for value in values.get(x, ()) for y in local_vars(value))
    for e in (e for x in ending for value in values.get(x, ()) for e in subterms(value)):
        match e:
            case Op("&", (Op("+", _) as total, Const(int(mask)))) if mask in UNSIGNED and local_vars(total) & changed:
                masks.add(mask)
    known = definitions(cycle.before.p)
    over = {leaf for d in distances(cycle.cond, context.sigma) for leaf in leaves(unfolded(d, known))}
    over -= {leaf for leaf, op, _ in compared(said((), context)) if op in ("<", "<=", "==")}
    for leaf in sorted((leaf for leaf in over if isinstance(leaf, Param) and leaf.name not in BUILTINS), key=str):
        if masks:
            yield leaf.name, max(masks)


def _missed(cycle: Cycle, context: Context) -> Iterator[Poly]:
    """The distance at first, over parameters, of a counter that moves by 1 a turn until it meets something."""
    for test in conj((cycle.cond,), context.sigma):
        match test:
            case Op("!=", (a, b)) if (p := of_expr(a)) is not None and (q := of_expr(b)) is not None:
                start = unfolded(p - q, definitions(cycle.before.p))
                taken = per_turn(p - q, cycle.body.stmt, Facts(cycle.invariant.p))
                if taken in (1, -1) and not start.is_constant and all(isinstance(x, Param) for x in leaves(start)):
                    yield start * taken


def _above_0(p: Poly) -> str:
    """The condition that a potential is positive, in C. A multiple of a quotient by a number is positive where the
    dividend is at least that number."""
    quotient = _quotient(p)
    return f"{_told(p)} > 0" if quotient is None else f"{_told(quotient[0])} >= {quotient[1]}"


def _quotient(p: Poly) -> tuple[Poly, int] | None:
    """The dividend and the divisor, where a potential is a positive multiple of a quotient by a number, rounded down or
    towards 0."""
    match sorted(p.terms, key=lambda term: term[1]):
        case [((Floor(arg, k),), c)] if c > 0:
            return arg, k
        case [((Floor(less, k),), low), ((Floor(more, n),), high)] if k == n and low == -high:
            q = _inside(more)
            return (q, k) if (more, less) == (max0(q), max0(q * -1)) else None
    return None


def _inside(p: Poly) -> Poly:
    """The q of max(0, q); else p."""
    match p.terms:
        case [((Max0(arg),), c)] if c == 1:
            return arg
    return p


def _told(p: Poly) -> str:
    """A potential as a condition may have it: with C's operators."""
    e = None if is_closed(p) else as_expr(p, bases=True)
    return str(p) if e is None else show(e)


def _at(loc: Loc | None) -> str:
    return f" (line {loc.line})" if loc else ""


def _arrays_in(stmt: Stmt) -> list[str]:
    """The arrays that a statement reads."""
    return [array for s in statements(stmt) for e in evaluated(s) for array in arrays_read(e)]


def _sized(cycle: Cycle) -> bool:
    """Whether the loop depends on the size of a block."""
    facts = (fact for fact in cycle.before.p if local_vars(fact) & local_vars(cycle.cond))
    names = (t.name for e in (cycle.cond, *facts) for t in subterms(e) if isinstance(t, Param))
    return any(name.startswith("blockDim.") for name in names)


def _assignments(flow: Flow, name: str, apart: bool = False) -> Iterator[Assign]:
    """The assignments to a variable, or those of them that set the threads of a warp apart."""
    for node in within(flow):
        match node:
            case Step(Assign(x) as stmt, uniform=uniform) if x == name and not (apart and uniform):
                yield stmt
