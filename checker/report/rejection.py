"""A refused derivation, explained: the rule with its bar and the terms filled in, the premise that fails, a state in
which it does, and the smallest change that would do.

A counterexample is shown only where a run in the semantics confirms it; all else "could not be proved".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap
from typing import Any, Final, cast

from checker.certificates.claims import amount
from checker.kernel import updated
from checker.notation.words import number
from checker.refutation.diagnosis import Finding
from checker.refutation.replay import Replay, brief, text, thread, told_cost
from checker.refutation.states import worth_of
from checker.refutation.whole import Dearer
from checker.report.sentences import sentence
from checker.report.terminal import TAB
from checker.synthesis.walk import Stuck
from logic.assertions import AtLeast, AtMost, Condition, Context, Cost, Entails, P, Triple, Uniform, X, show_p, show_x
from logic.derivation import Value
from logic.potentials import ZERO, Poly, const, leaves, variables
from logic.refusals import Refusal
from logic.schema import Rule, Term, kind
from logic.schema import show as show_schema
from logic.source import Loc
from logic.syntax import (
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    seq,
    show_stmt,
    written,
)
from logic.syntax import show as show_expr

WIDTH: Final = 116
"""The most of a line of a rule that is shown, in characters."""

WEAK: Final = "no counterexample found: the potential is probably too weak here"
OPEN: Final = "no counterexample found: it may hold, but it could not be proved"


def reason_of(found: Finding) -> str:
    """The reason of a refusal, which calls nothing false that no run shows to be."""
    return found.error.message if isinstance(found.error, Stuck) else sentence(found.error, found.replay is not None)


def describe(error: Refusal, reason: str = "") -> str:
    """One line: place, rule, reason, by the oracle's word if none is given, and the side condition in question."""
    return _head(error, reason or sentence(error)) + (f": {error.obligation}" if error.obligation else "")


def _head(error: Refusal | Stuck, reason: str) -> str:
    """Place, rule, reason."""
    where = f"{error.loc}: " if error.loc else ""
    rule = error.rule if isinstance(error, Stuck) else error.name
    return f"{where}{f'{rule}: ' if rule else ''}{reason}"


AROUND: Final = 40
"""The lines of a source that are shown before and after one that fails."""


def in_place(text: str, loc: Loc, fails: Sequence[str]) -> str:
    """The source around a place, with what `fails` there below its line."""
    lines = text.splitlines()
    if not 1 <= loc.line <= len(lines):
        return ""
    first, last = max(1, loc.line - AROUND), min(len(lines), loc.line + AROUND)
    wide = len(str(last))
    shown = []
    for n in range(first, last + 1):
        line = lines[n - 1].expandtabs(TAB).rstrip()
        shown.append(f"{'>' if n == loc.line else ' '} {n:>{wide}}  {line}".rstrip())
        if n == loc.line:
            start = len(lines[n - 1][: loc.column - 1].expandtabs(TAB))
            shown += [f"{' ' * (wide + 4 + start)}{'^ ' if i == 0 else '  '}{one}" for i, one in enumerate(fails)]
    return "\n".join(shown)


# --- rules -----------------------------------------------------------------------------------------------------------


def draw(rule: Rule) -> list[str]:
    """A rule with its inference bar, as lines."""
    lines = [line.strip() for line in rule.bar.strip().splitlines() if line.strip()]
    above, below = lines[:-2], lines[-1]
    width = max(len(line) for line in (*above, below))
    return [
        *(line.center(width).rstrip() for line in above),
        f"{'-' * width} {rule.name}",
        below.center(width).rstrip(),
    ]


def draw_filled(rule: Rule, values: Mapping[str, Value], context: Context, refusal: Refusal | None = None) -> list[str]:
    """The application of a rule, a premise a line, the one that fails marked with `>`; logical conditions keep their
    letters, which are spelled out below. The bare rule where the values are not those of the rule."""
    filled = _filled(rule, values, context, refusal)
    if filled is None:
        return [f"    {line}" for line in draw(rule)]
    parts, letters = filled
    *above, below = (f"  {'>' if marked else ' '} {line}" for line, marked in parts)
    width = max(len(line) for line, _ in parts)
    lines = [*above, f"    {'-' * width} {rule.name}", below]
    together: dict[str, list[str]] = {}
    for letter, p in letters:
        together.setdefault(p, []).append(letter)
    told = [f"{' = '.join(same)} = {p}" for p, same in together.items()]
    legend = [
        line
        for p in told
        for line in wrap(p, WIDTH + 4, initial_indent=" " * 4, subsequent_indent=" " * 8, break_long_words=False)
    ]
    return [*lines, "", *legend]


def failing(refusal: Refusal, context: Context) -> list[str]:
    """The parts of the application that a refusal is about; none where it names no rule, or other values than its."""
    rule = refusal.rule
    filled = None if rule is None else _filled(rule, refusal.substitution, context, refusal)
    return [] if filled is None else [line for line, marked in filled[0] if marked]


def _filled(
    rule: Rule, values: Mapping[str, Value], context: Context, refusal: Refusal | None
) -> tuple[list[tuple[str, bool]], list[tuple[str, str]]] | None:
    """The premises of an application and its conclusion, each with whether it is what a refusal is about, and the
    logical conditions by their letters; None where the values are not those of the rule."""
    try:
        fill = _Filler(values, context)
        found = [(_cut(fill.item(t)), refusal is not None and t == refusal.premise) for t in rule.items]
        whole = refusal is not None and refusal.fault in ("uniform", "thread", "integer")
        found.append((_cut(fill.item(rule.conclusion)), whole))
        letters = [(m, show_p(cast(P, values[m]))) for m in rule.metavariables if kind(m) == "assertion"]
    except (KeyError, TypeError, AttributeError, ValueError):
        return None
    return found, letters


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."


@dataclass(frozen=True, slots=True)
class _Filler:
    """A rule's items with the values of its letters in them. Raises KeyError where one is missing."""

    values: Mapping[str, Value]
    context: Context

    def item(self, t: Term) -> str:
        match t.head:
            case "triple":
                p, q, x, s, p_, q_, x_ = (t.at(i) for i in range(7))
                return f"{self.condition(p, q, x)} {brief(self.statement(s))} {self.condition(p_, q_, x_)}"
            case "cost":
                return f"{self.sequent(t)} |- {show_expr(self.expression(t.at(2)))} : {self.potential(t.at(3))}"
            case "uniform":
                return f"{self.sequent(t)} |- {show_expr(self.expression(t.at(2)))} unif"
            case "all-uniform":
                return f"{self.sequent(t)} |- {show_x(self.variables(t.at(2)))} unif"
            case "at-most":
                access = show_expr(self.expression(t.at(3)))
                return f"{self.sequent(t, 1)} |- {t.name()}({access}) <= {self.values[t.name(4)]}"
            case "at-least":
                return f"{self.sequent(t)} |- {self.potential(t.at(2))} >= {self.potential(t.at(3))}"
            case "entails":
                return f"{self.assertion(t.at(0))} |- {self.assertion(t.at(1))}"
            case "holds" | "refutes":
                goal = show_expr(self.expression(t.at(1)))
                return f"{self.assertion(t.at(0))} |- {goal if t.head == 'holds' else f'!({goal})'}"
            case "subset":
                return f"{show_x(self.variables(t.at(0)))} <= {show_x(self.variables(t.at(1)))}"
            case "nonnegative":
                return f"{self.values[t.name()]} >= 0"
            case "erased":
                whole, ghostly = (brief(cast(Stmt, self.values[t.name(i)])) for i in (0, 1))
                return f"{whole} = {ghostly} without {self.values[t.name(2)]}"
            case "ghost":
                terms = [(t.name(i), self.values[t.name(i)]) for i in range(1, len(t.parts))]
                told = [letter if kind(letter) == "assertion" else str(q) for letter, q in terms]
                return f"{self.values[t.name()]} ghost in {', '.join(told)}"
        return show_schema(t)

    def condition(self, p: Term, q: Term, x: Term) -> str:
        return f"{{{self.assertion(p)}; {self.potential(q)}; {show_x(self.variables(x))}}}"

    def sequent(self, t: Term, first: int = 0) -> str:
        p, x = self.assertion(t.at(first)), self.variables(t.at(first + 1))
        return p if t.at(first + 1).head == "empty" else f"{p}; {show_x(x)}"

    def assertion(self, t: Term) -> str:
        match t.head:
            case "and" | "and-not":
                e = show_expr(self.expression(t.at(1)))
                return f"{self.assertion(t.at(0))} & {e if t.head == 'and' else f'!({e})'}"
            case "assign":
                e = show_expr(self.expression(t.at(2)))
                return f"{self.assertion(t.at(0))}[{self.values[t.name(1)]} <- {e}]"
        return show_schema(t)

    def potential(self, t: Term) -> Poly:
        match t.head:
            case "meta":
                return cast(Poly, self.values[t.name()])
            case "constant":
                return const(cast(Fraction, self.values[t.name()]))
            case "price":
                return const(self.context.metric.cost(t.name()))
            case "count":
                return const(self.context.metric.count(t.name(), cast(int, self.values[t.name(1)])))
            case "plus":
                return self.potential(t.at(0)) + self.potential(t.at(1))
            case "assign":
                x, e = cast(str, self.values[t.name(1)]), self.expression(t.at(2))
                return updated(self.potential(t.at(0)), x, e, self.context)
        return ZERO

    def variables(self, t: Term) -> X:
        match t.head:
            case "meta":
                return cast(X, self.values[t.name()])
            case "singleton":
                return frozenset((cast(str, self.values[t.name()]),))
            case "written":
                return written(cast(Stmt, self.values[t.name()]))
            case "vars":
                return variables(cast(Poly, self.values[t.name()]))
            case "intersect":
                return self.variables(t.at(0)) & self.variables(t.at(1))
            case "union":
                return self.variables(t.at(0)) | self.variables(t.at(1))
            case "minus":
                return self.variables(t.at(0)) - self.variables(t.at(1))
        return frozenset()

    def expression(self, t: Term) -> Expr:
        match t.head:
            case "local":
                return Var(cast(str, self.values[t.name()]))
            case "param":
                return Param(cast(str, self.values[t.name()]))
            case "tid":
                return Tid(cast(Any, self.values[t.name()]))
            case "read":
                return Read(cast(str, self.values[t.name()]), self.expression(t.at(1)))
            case "op":
                args = tuple(self.expression(t.at(i)) for i in range(1, len(t.parts)))
                return Op(cast(str, self.values[t.name()]), args)
        return cast(Expr, self.values[t.name()])

    def statement(self, t: Term) -> Stmt:
        make: dict[str, Callable[[], Stmt]] = {
            "skip": Skip,
            "sync": Sync,
            "seq": lambda: seq(self.statement(t.at(0)), self.statement(t.at(1))),
            "set": lambda: Assign(cast(str, self.values[t.name()]), self.expression(t.at(1))),
            "write": lambda: Write(
                cast(str, self.values[t.name()]), self.expression(t.at(1)), self.expression(t.at(2))
            ),
            "if": lambda: If(self.expression(t.at(0)), self.statement(t.at(1)), self.statement(t.at(2))),
            "assume": lambda: Assume(self.expression(t.at(0))),
            "while": lambda: While(self.expression(t.at(0)), self.statement(t.at(1))),
        }
        return make[t.head]() if t.head in make else cast(Stmt, self.values[t.name()])


# --- values ----------------------------------------------------------------------------------------------------------


def as_text(x: object) -> str:
    """A term of any kind as text."""
    match x:
        case None:
            return ""
        case Condition() | Poly():
            return str(x)
        case Triple(pre, stmt, post):
            lines = show_stmt(stmt).splitlines()
            body = lines[0] if len(lines) == 1 else f"{lines[0]} ..."
            return f"{pre} {body} {post}"
        case Cost(p, x_, e, c):
            return f"{show_p(p)}; {show_x(x_)} |- {show_expr(e)} : {c}"
        case frozenset():
            return show_x(x)
        case tuple() if x and all(isinstance(i, str) for i in x):
            return ", ".join(x)
        case tuple() if all(isinstance(i, Var | Param | Const | Tid | Op | Read) for i in x):
            return show_p(x)
        case str() | int() | Fraction():
            return str(x)
        case Var() | Param() | Const() | Tid() | Op() | Read():
            return show_expr(x)
        case Skip() | Seq() | Assign() | Write() | If() | While() | Sync() | Assume():
            return show_stmt(x).splitlines()[0]
    return str(x)


def expected_and_got(found: Finding) -> tuple[str, str]:
    """The two things that should agree, as text; for `Q >= Q'` with their values in the state that was replayed."""
    error, seen = found.error, found.replay
    if isinstance(error, Stuck):
        return "", ""
    match error.obligation:
        case AtLeast(_, _, q, r):
            return f"at least {r}{_worth(r, found)}", f"{q}{_worth(q, found)}"
        case Entails(p, goal):
            return show_p(tuple(c for c in goal if c not in p)), show_p(p)
        case Uniform(_, _, e):
            return f"{show_expr(e)} with one value in a warp", "two threads that differ" if seen else ""
        case AtMost() as o:
            return f"{o.what} <= {o.n}", seen.actual if seen else ""
    within = isinstance(error.expected, frozenset) and error.fault == "uniform"
    expected = as_text(error.expected)
    return f"vars(Q) within X = {expected}" if within else expected, as_text(error.got)


def _worth(q: Poly, found: Finding) -> str:
    if found.replay is None or not leaves(q):
        return ""
    state = found.replay.state
    return f"  (= {worth_of(q, state, state.threads[0], found.context.sigma)})"


# --- the message -----------------------------------------------------------------------------------------------------


def explain(found: Finding, path: str = "", options: Sequence[str] = ()) -> str:
    """The whole message for a person; `path` is the file that a run can be repeated on, if it is CUDA C, `options` how
    it is read."""
    error = found.error
    lines = [_head(error, reason_of(found))]
    if isinstance(error, Stuck):
        told = error.advice if path.endswith(".cu") else _in_outlines(error.advice)
        lines += [f"  {told}"] if told else []
    else:
        lines += ["", *_refused(error, found)]
    lines += _whole(found, path, options)
    if found.advice:
        lines += ["", f"  {found.advice}"]
    return "\n".join(lines)


_SPELT: Final = (
    (r" Or say what it holds[^:]*: //@ requires forall [^;]*;", ""),  # outlines have no contracts
    (r"//@ loop potential (\w+); before (\w+)", r"invariant { _; \1; _ } at \2"),
    (r"//@ loop invariant ([^;]*);", r"invariant { \1; _; _ }"),
    (r"""--assume (["'])(.*?)\1""", r"requires \2;"),
    (r"--assume (\w+)", r"requires \1;"),
    (r"--block (\d+)", r"block \1"),
    (r"--block", "block"),
)
"""Annotations and options, and what an outline has for them."""


def _in_outlines(advice: str) -> str:
    """Advice for CUDA C as one for an outline."""
    for ours, theirs in _SPELT:
        advice = re.sub(ours, theirs, advice)
    return advice


def _refused(error: Refusal, found: Finding) -> list[str]:
    """The rule, the two sides, the state in which they disagree."""
    lines = []
    if error.rule is not None:
        lines += [*draw_filled(error.rule, error.substitution, found.context, error), ""]
    o = error.obligation
    expected, got = expected_and_got(found)
    if expected:
        lines.append(f"  expected   {expected}")
    if got and not isinstance(o, Entails):
        lines.append(f"  found      {got}")
    if found.replay is not None:
        lines += ["", "  It fails here, run in the semantics:", *_shown(found.replay, error, found.context)]
    elif o is not None:
        lines += ["", f"  {WEAK if isinstance(o, AtLeast) else OPEN}"]
    return lines


def _shown(seen: Replay, error: Refusal, context: Context) -> list[str]:
    """The state, what is claimed of it and what is, what the statement beside it costs."""
    state, t = seen.state, seen.state.threads[0]
    told = f"{error.obligation} {as_text(error.substitution.get('s'))}"
    who = ", ".join(map(thread, state.threads)) if len(state.threads) <= 2 else f"{len(state.threads)} threads"
    place = "" if t.block == (0, 0, 0) else f" of block ({t.block[0]},{t.block[1]},{t.block[2]})"
    values = [f"{n} = {text(v)}" for n, v in state.params.items() if _named(n, told)]
    for name, each in sorted(state.store.locals.items()):
        if _named(name, told):
            here = [each[u] for u in state.threads if u in each]
            some = here[:1] if len(set(here)) == 1 else here[:4]
            dots = ", ..." if len(some) < len(here) and len(some) > 1 else ""
            values.append(f"{name} = {', '.join(map(text, some))}{dots}")
    values += [f"{n}[{i}] = {text(v)}" for n, read in sorted(seen.arrays.items()) for i, v in sorted(read.items())[:8]]
    lines = [f"    {who}{place}" + (f": {'; '.join(values)}" if values else "")]
    o, short = error.obligation, ""
    if isinstance(o, AtLeast):
        short = f", short by {worth_of(o.r - o.q, state, t, context.sigma)}"
    lines += [f"    claimed    {seen.claimed}", f"    in truth   {seen.actual}{short}"]
    return [*lines, *(f"    {note}" for note in seen.notes)]


def _named(name: str, told: str) -> bool:
    """Whether a text speaks of a name."""
    at = told.find(name)
    while at >= 0:
        before, after = told[at - 1 : at], told[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("_", ".") or after.isalnum() or after == "_"):
            return True
        at = told.find(name, at + 1)
    return False


def _whole(found: Finding, path: str, options: Sequence[str]) -> list[str]:
    """Whether the bound that was claimed was seen to be false."""
    if found.claimed is None:
        return []
    metric, q, worse = found.context.metric, found.claimed.q, found.dearer
    if worse is None:
        weak = isinstance(found.error, Refusal) and isinstance(found.error.obligation, AtLeast)
        told = "the potential is probably too weak here" if weak else "it may hold, this derivation does not show it"
        return ["", f"  No counterexample to the bound itself, {amount(q, metric)}, was found: {told}."]
    lines = [
        "",
        f"  The claimed bound is false. With {launched(worse)}",
        f"    a warp costs {told_cost(worse.actual, worse.ended, metric)}; {allowed(q, worse)}.",
    ]
    command = command_of(found, path, options)
    return [*lines, f"    {command}"] if command else lines


def command_of(found: Finding, path: str, options: Sequence[str] = ()) -> str:
    """The command that repeats the run; nothing where the program is no CUDA C."""
    worse = found.dearer
    if worse is None or not path.endswith(".cu"):
        return ""
    block, grid = (",".join(map(str, d)) for d in (worse.block, worse.grid))
    words = [
        "warpbound",
        "run",
        path,
        *options,
        "--block",
        block,
        "--grid",
        grid,
    ]
    if not any(word.startswith("--metric=") for word in options):
        words += ["--metric", found.context.metric.name]
    words += [w for n, v in worse.args.items() for w in ("--arg", f"{n}={text(v)}")]
    words += [w for n, v in worse.arrays.items() for w in ("--array", f"{n}={v}")]
    return shlex.join(words)


def allowed(q: Poly, worse: Dearer) -> str:
    """The value of a claimed bound in a run."""
    return f"{q} is {worse.claimed}" if leaves(q) else f"{q} is claimed"


def launched(worse: Dearer) -> str:
    """The launch of a run, its arguments and arrays."""
    block, grid = ("x".join(map(str, d)) for d in (worse.block, worse.grid))
    values = [f"{n} = {text(v)}" for n, v in worse.args.items()] + [f"{n}: {v}" for n, v in worse.arrays.items()]
    return f"block {block}, grid {grid}" + (f", {', '.join(values)}" if values else "")


# --- JSON ------------------------------------------------------------------------------------------------------------


def witness(seen: Replay | None) -> dict[str, Any] | None:
    """A replayed state as `error.witness` of `check --format json`:

    block, grid, block_index    the launch, and which block the threads are of
    threads                     the threadIdx of each thread
    params                      the kernel's scalar parameters
    store                       {"locals": {name: [a value a thread]}, "arrays": {name: {index: value}}}; arrays hold
                                what was read
    claimed, actual, notes      what the side condition says, what is, what the statement beside it costs there
    """
    if seen is None:
        return None
    state = seen.state
    return {
        "block": list(state.block),
        "grid": list(state.grid),
        "block_index": list(state.threads[0].block),
        "threads": [list(t.tid) for t in state.threads],
        "params": {n: v for n, v in state.params.items() if "." not in n and n != "warpSize"},
        "store": {
            "locals": {n: [v.get(t) for t in state.threads] for n, v in sorted(state.store.locals.items())},
            "arrays": {n: {str(i): v for i, v in sorted(read.items())} for n, read in sorted(seen.arrays.items())},
        },
        "claimed": seen.claimed,
        "actual": seen.actual,
        "notes": list(seen.notes),
    }


def run_of(found: Finding, path: str, options: Sequence[str] = ()) -> dict[str, Any] | None:
    """A run that costs more than the claimed bound as `error.run` of `check --format json`; None where none was
    found. `actual` is what the dearest warp costs, or had paid when it was given up (`ended` false)."""
    worse = found.dearer
    if worse is None:
        return None
    return {
        "block": list(worse.block),
        "grid": list(worse.grid),
        "params": dict(worse.args),
        "arrays": dict(worse.arrays),
        "claimed": number(worse.claimed),
        "actual": number(worse.actual),
        "ended": worse.ended,
        "command": command_of(found, path, options) or None,
    }
