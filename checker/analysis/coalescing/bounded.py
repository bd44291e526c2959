"""Remedies bounded again: the search bounds the program before and after each, and both checkers judge the
certificates.

What a remedy is said to change an access from and to is certified where both certificates are, and where what they
prove of the access is no more than what is said. Lines are sectors of 128 bytes: the certificates are about hardware
with these. That the program computes the same is no part of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from checker.analysis.coalescing.access import Key, with_lines
from checker.analysis.coalescing.remedies import Tried
from checker.analysis.places import counts
from checker.certificates.claims import shown
from checker.oracles import Oracles
from checker.synthesis.bound import Result, Verdict, find_bounds
from checker.synthesis.outline import Block, Branch, Loop, Outline, Partial, Plain, Split, bare, strip
from logic.assertions import Context
from logic.metrics import METRICS
from logic.source import Loc
from logic.syntax import Assign, Assume, If, Kernel, Seq, Skip, Stmt, Sync, While, Write, statements

METRIC: Final = {"lines": METRICS["sectors"], "conflicts": METRICS["conflicts"]}
"""What a remedy lowers, as a metric."""

ENOUGH: Final = 2
"""The most remedies of an access that are certified."""

PROGRAMS: Final = 12
"""The most programs that are bounded, of one kernel."""

LONGEST: Final = 300
"""The most statements of a program that is bounded."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A remedy with both checkers' word on it: `certified`, or why it is not. `bounds` are those of a warp, before and
    after it, where there are both, `proofs` the results that they are of."""

    tried: Tried
    verdict: Verdict
    problem: str = ""
    bounds: tuple[str, str] | None = None
    proofs: tuple[Result, Result] | None = field(default=None, repr=False)

    @property
    def certified(self) -> bool:
        return self.verdict == "certified"

    @property
    def text(self) -> str:
        """The remedy, by how much it helps, and that this is certified; of others that it is not proved, and why."""
        if self.certified:
            return f"{self.tried.text}, certified"
        return f"{self.tried.text} by the analysis alone: {self.problem}"


def uncertified(t: Tried) -> Judged:
    """A remedy that no checker was asked about."""
    return Judged(t, "not-proved", "it was not bounded again")


@dataclass(frozen=True, slots=True)
class _Proved:
    """A program's bound, and what it has proved of each access, by place and array."""

    result: Result
    counts: Mapping[tuple[Loc | None, str], int]

    def most(self, keys: Sequence[Key], shared: bool) -> int | None:
        """The most that accesses need together; None where nothing is proved of one."""
        found = [self.counts.get((loc, array)) for loc, _, array in keys]
        known = [n for n in found if n is not None]
        if len(known) < len(found):
            return None
        return sum(max(n - 1, 0) if shared else n for n in known)


def judge(
    found: Mapping[Key, Sequence[Tried]], kernel: Kernel, context: Context, body: Block
) -> dict[Key, list[Judged]]:
    """The remedies with both checkers' word, the certified ones first: of each access those that are looked at until so
    many are certified, or one is that the others are worse than. `body` is the kernel with its annotations."""
    desk, told = _Desk(kernel, context, body), dict[Key, list[Judged]]()
    for key, several in found.items():
        judged: list[Judged] = []
        for t in several:
            good = [j for j in judged if j.certified]
            if len(good) == ENOUGH or (good and t.after > good[0].tried.after):
                break
            judged.append(desk.judged(t))
        told[key] = sorted(judged, key=lambda j: not j.certified)
    return told


@dataclass
class _Desk:
    """Bounds each program once."""

    kernel: Kernel
    context: Context
    body: Block
    known: dict[tuple[str, str], _Proved | str] = field(default_factory=dict)

    def judged(self, t: Tried) -> Judged:
        before = self.proved("", t.what, lambda: (self.kernel, self.context, self.body))
        if isinstance(before, str):
            return Judged(t, "not-proved", before)
        r = t.remedy
        after = self.proved(r.text, t.what, lambda: (r.kernel, r.context, with_body(self.body, r.kernel.body)))
        if isinstance(after, str):
            return Judged(t, "not-proved", after)
        both = (before.result, after.result)
        bounds = tuple(str(shown(p.claim)) for p in both if p.claim)
        verdict: Verdict = next((p.verdict for p in both if p.verdict != "certified"), "certified")
        made = Judged(t, verdict, bounds=(bounds[0], bounds[1]), proofs=both)
        if verdict != "certified":
            return replace(made, problem=f"its bound is {verdict}")
        shared = t.what == "conflicts"
        for which, proof, keys, most in (
            ("as it is", before, t.accesses, t.before),
            ("after that", after, (t.key,), t.after),
        ):
            n = proof.most(keys, shared)
            if n is None or n > most:
                proves = "nothing of this access" if n is None else f"{n} {t.what}"
                return replace(made, verdict="not-proved", problem=f"of the program {which} the bound proves {proves}")
        return made

    def proved(self, text: str, what: str, program: Callable[[], tuple[Kernel, Context, Block]]) -> _Proved | str:
        """A program's bound, or why there is none. `text` says which program it is."""
        key = (text, what)
        if key not in self.known:
            if len(self.known) >= PROGRAMS:
                return f"{PROGRAMS} programs are bounded, and no more"
            self.known[key] = _bounded(*program(), what)
        return self.known[key]


def _bounded(kernel: Kernel, context: Context, body: Block, what: str) -> _Proved | str:
    if sum(1 for _ in statements(kernel.body)) > LONGEST:
        return f"programs of over {LONGEST} statements are not bounded again"
    hardware = with_lines(context.hardware) if what == "lines" else context.hardware
    context = replace(context, hardware=hardware, metric=METRIC[what])
    # potentials in the source are for another count
    (result,) = find_bounds(Outline(kernel, context, body), [METRIC[what]], Oracles(), hinted="")
    if result.claim is None:
        where = f" at {result.problem.loc}" if result.problem and result.problem.loc else ""
        return f"no bound is found{where}"
    found: dict[tuple[Loc | None, str], int] = {}
    for (loc, array, _), n in counts([result], context, kernel).items():
        found[loc, array] = n
    return _Proved(result, found)


# --- annotations ------------------------------------------------------------------------------------------------------


def with_body(block: Block, body: Stmt) -> Block:
    """The annotations of a program on another one of the same form; none where it has another form."""
    if strip(block) == body:
        return block
    try:
        found = _laid(block, body)
    except _OtherForm:
        return bare(body)
    return found if strip(found) == body else bare(body)


class _OtherForm(Exception):
    """The other program has other statements."""


def _laid(block: Block, body: Stmt) -> Block:
    left = list(body.stmts if isinstance(body, Seq) else (body,))
    items: list[Partial | Plain | Branch | Loop | Split] = []
    for item in block:
        if isinstance(item, Partial | Split):
            items.append(item)
            continue
        match item, left.pop(0) if left else None:
            case Plain(old), Skip() | Sync() | Assign() | Write() | Assume() as s if type(old) is type(s):
                items.append(Plain(s))
            case Branch(), If(cond, then, orelse) as s:
                both = (_laid(item.then, then), _laid(item.orelse, orelse))
                items.append(Branch(cond, *both, item.rule, s.loc))
            case Loop(), While(cond, inner) as s:
                items.append(Loop(cond, item.invariant, _laid(item.body, inner), item.rule, s.loc))
            case _:
                raise _OtherForm
    if left:
        raise _OtherForm
    return tuple(items)
