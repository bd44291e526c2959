"""A refused derivation, explained: the rule with its bar, the side condition in question filled in, a witness."""

from __future__ import annotations

from fractions import Fraction

from checker.kernel import Rejected
from logic.assertions import (
    AtLeast,
    AtMost,
    Condition,
    Cost,
    Entails,
    Refuted,
    Triple,
    Uniform,
    Unknown,
    show_p,
    show_x,
)
from logic.potentials import Leaf, Poly, evaluate, leaves
from logic.schema import Rule
from logic.syntax import Assign, Const, If, Op, Param, Read, Seq, Skip, Sync, Tid, Var, While, Write, show_stmt
from logic.syntax import show as show_expr


def verdict_of(error: Rejected) -> str:
    """`not-proved` where an oracle could not tell, else `rejected`."""
    return "not-proved" if isinstance(error.verdict, Unknown) else "rejected"


def describe(error: Rejected) -> str:
    """One line: place, rule, reason, and the side condition in question."""
    return _head(error) + (f": {error.obligation}" if error.obligation else "")


def _head(error: Rejected) -> str:
    """Place, rule, reason."""
    where = f"{error.loc}: " if error.loc else ""
    rule = f"{error.rule_name}: " if error.rule_name else ""
    return f"{where}{rule}{error.reason}"


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


def value(x: object) -> str:
    """A term of any kind as text."""
    match x:
        case None:
            return ""
        case Condition() | Poly():
            return str(x)
        case Triple(pre, stmt, post):
            text = show_stmt(stmt).splitlines()
            body = text[0] if len(text) == 1 else f"{text[0]} ..."
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
        case Skip() | Seq() | Assign() | Write() | If() | While() | Sync():
            return show_stmt(x).splitlines()[0]
    return str(x)


def witness(error: Rejected) -> dict[str, int] | None:
    """The values that refute the side condition, if an oracle found some."""
    return error.verdict.witness if isinstance(error.verdict, Refuted) else None


def expected_and_got(error: Rejected) -> tuple[str, str]:
    """The two things that should agree, as text; for `Q >= Q'` with their values at the witness."""
    o, at = error.obligation, witness(error)
    match o:
        case AtLeast(_, _, q, r):
            return f"at least {r}{_at(r, at)}", f"{q}{_at(q, at)}"
        case Entails(p, goal):
            return show_p(goal), show_p(p)
        case Uniform(_, _, e):
            return f"{show_expr(e)} with one value in a warp", "two threads that differ" if at else ""
        case AtMost():
            return f"{o.what} <= {o.n}", "more" if at else ""
    return value(error.expected), value(error.got)


def _at(q: Poly, at: dict[str, int] | None) -> str:
    if not at:
        return ""
    store: dict[Leaf, int] = {}
    for leaf in leaves(q):
        if leaf.name not in at:
            return ""
        store[leaf] = at[leaf.name]
    return f"  (= {evaluate(q, store)})" if leaves(q) else ""


def explain(error: Rejected) -> str:
    """The whole message for a person."""
    lines = [_head(error), ""]
    if error.rule is not None:
        lines += [f"    {line}" for line in draw(error.rule)]
        lines.append("")
    o = error.obligation
    if isinstance(o, AtLeast | Uniform | AtMost | Entails):
        lines.append(
            f"  under      {show_p(o.p)}" + (f"; uniform: {show_x(o.x)}" if not isinstance(o, Entails) else "")
        )
    expected, got = expected_and_got(error)
    if expected:
        lines.append(f"  expected   {expected}")
    if got and not isinstance(o, Entails):
        lines.append(f"  found      {got}")
    at = witness(error)
    if at:
        text = str(o)
        named = {name: v for name, v in at.items() if name.partition("@")[0] in text or name.startswith("tid.x")}
        lines.append(f"  fails at   {', '.join(f'{name} = {v}' for name, v in sorted((named or at).items()))}")
        shortfall = _shortfall(error, at)
        if shortfall:
            lines.append(f"  short by   {shortfall}")
    elif isinstance(error.verdict, Unknown):
        why = f" ({error.verdict.reason})" if error.verdict.reason else ""
        lines.append(f"  no counterexample was found{why}: it may hold, but it could not be proved")
    return "\n".join(lines)


def _shortfall(error: Rejected, at: dict[str, int]) -> str:
    o = error.obligation
    if not isinstance(o, AtLeast):
        return ""
    gap = o.r - o.q
    store: dict[Leaf, int] = {x: at[x.name] for x in leaves(gap) if x.name in at}
    return str(evaluate(gap, store)) if len(store) == len(leaves(gap)) else ""
