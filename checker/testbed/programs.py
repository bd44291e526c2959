"""Random small programs, from a seed: what a trial runs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from checker.testbed.data import DATA
from checker.testbed.world import TINY, World
from logic.assertions import Context, Launch
from logic.contracts import elements, settled
from logic.metrics import METRICS, Linear, Metric
from logic.potentials import ELEMENT, Leaf, Poly, ceil_div, const, max0, of_expr, sym
from logic.syntax import (
    GHOST,
    INT,
    Array,
    Assign,
    Assume,
    Const,
    Decl,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    evaluated,
    replace_part,
    seq,
    statements,
    subterms,
)
from logic.typing import Signature, check_kernel

LOCALS: Final = ("x", "y")
TICK: Final = "t"
"""A variable that programs write and never read: `t <- 0` is a tick."""
GHOST_LOCAL: Final = f"{GHOST}g"
ARRAYS: Final = (Array("G", "global", INT, 4), Array("H", "global", INT, 1), Array("S", "shared", INT, 4))
TID: Final = Tid("x")
N: Final = Param("n")

_PRIMES: Final = Metric(
    "primes",
    {
        c: Fraction(p)
        for c, p in {"var": 2, "const": 3, "param": 5, "op": 7, "if": 11, "div": 13, "vwrite": 17, "sync": 19}.items()
    },
    {
        c: Linear(Fraction(a), Fraction(b))
        for c, a, b in (("gread", 23, 0), ("sread", 29, -29), ("gwrite", 31, 0), ("swrite", 37, -37))
    },
)
PRICES: Final = (
    Metric("tick", {"vwrite": Fraction(1)}),
    Metric("half", {"vwrite": Fraction(1, 2), "if": Fraction(1, 3)}),
    METRICS["divwarps"],
    METRICS["sectors"],
    METRICS["conflicts"],
    METRICS["steps"],
    _PRIMES,
)


def kernel(body: Stmt, data: bool = False) -> Kernel:
    """A kernel with this body over the names of this module, with the array that contracts are about if asked for."""
    locals_ = tuple(Decl(x, INT) for x in (*LOCALS, TICK))
    arrays = (*ARRAYS, Array(DATA, "global", INT, 4)) if data else ARRAYS
    return Kernel("k", (Decl("n", INT),), arrays, locals_, body)


_PLAIN: Final = check_kernel(kernel(Skip(), data=True))
SIGMA: Final[Signature] = replace(check_kernel(kernel(Skip())), locals={**_PLAIN.locals, GHOST_LOCAL: INT})
SIGMA_DATA: Final[Signature] = replace(_PLAIN, locals=SIGMA.locals)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A need of programs, so that a certain rule is used: a kind of statement or of expression.

    ghost: whether programs use the ghost variable, as none outside a testbed can; ops: operators for expressions;
    early: whether it is about loops that lanes leave at different times, and about what each is left with
    data: whether it is about what an array holds that contracts speak of
    """

    statement: str = ""
    expression: str = ""
    ghost: bool = False
    ops: Sequence[str] = ()
    early: bool = False
    data: bool = False


class Programs:
    """Draws programs and their surroundings from one source of randomness."""

    def __init__(self, rng: random.Random, wanted: Wanted = Wanted()) -> None:
        self.rng, self.wanted = rng, wanted
        self.known: Sequence[Metric] = ()
        self.written: Sequence[str] = ("G", "H", "S")
        """The arrays that programs write to."""
        self.begun: frozenset[str] = frozenset()
        """Variables that had better start with a known value, the same for all lanes."""

    # --- surroundings ---

    def context(self) -> tuple[World, Context]:
        """Two to four lanes in one or two warps, a metric, a scope."""
        rng = self.rng
        lanes, warp = rng.choice([(2, 2), (2, 2), (3, 4), (4, 4), (4, 2)])
        hardware = replace(TINY, warp=warp, banks=rng.choice([2, 4]))
        metric = self.metric()
        scope = rng.choice(["warp", "warp", "block"])
        sigma = SIGMA_DATA if self.wanted.data else SIGMA
        return World(lanes=lanes), Context(sigma, metric, hardware, Launch((lanes, 1, 1), (1, 1, 1)), scope)  # type: ignore[arg-type]

    def metric(self) -> Metric:
        """Ticks alone are easiest to follow; only prices that are all different tell rules for costs apart."""
        if self.known:
            return self.rng.choice(self.known)
        roll = self.rng.random()
        if roll < {"": 0.1, "while": 0.3}.get(self.wanted.statement, 0.2) or (self.wanted.expression and roll < 0.7):
            return _PRIMES
        return PRICES[0] if self.rng.random() < 0.4 else self.rng.choice(PRICES)

    def beginning(self, body: Stmt) -> list[Expr]:
        """Facts that say where the variables of a body's guards start."""
        used = {
            t.name
            for s in statements(body)
            if isinstance(s, If | While)
            for t in subterms(s.cond)
            if isinstance(t, Var)
        }
        return [Op("==", (Var(x), Const(self.rng.choice([0, 0, 0, 1, 2])))) for x in sorted(used)]

    # --- expressions ---

    def leaf(self) -> Expr:
        names = (*LOCALS, *LOCALS, GHOST_LOCAL) if self.wanted.ghost else LOCALS
        options: list[Expr] = [Var(self.rng.choice(names)), Const(self.rng.randint(0, 3)), TID, N]
        return self.rng.choice(options)

    def expr(self, depth: int = 1) -> Expr:
        """An int."""
        rng = self.rng
        kind = rng.random()
        if depth == 0 or kind < 0.45:
            return self.leaf()
        if self.wanted.data and rng.random() < 0.5:
            return self.held()
        if self.wanted.ops and rng.random() < 0.7:
            return Op(rng.choice(self.wanted.ops), (self.leaf(), Const(rng.choice([2, 2, 3]))))
        if kind < 0.75:
            return Op(rng.choice("+-"), (self.leaf(), rng.choice([Const(1), Const(1), Const(2), self.leaf()])))
        if kind < 0.85:
            return Op(rng.choice("/%"), (self.leaf(), Const(2)))
        if kind < 0.9:
            return Op(rng.choice(["min", "max", "*"]), (self.leaf(), self.leaf()))
        if kind < 0.92:
            return Op("?:", (self.cond(), self.leaf(), self.leaf()))
        if kind < 0.94:
            return Op("neg", (self.leaf(),))
        return Read(rng.choice("GHS"), self.index())

    def held(self) -> Expr:
        """An element of the array that contracts are about, near an end, a lane's or a variable's."""
        at = self.rng.choice((TID, TID, Var("x"), Var("y"), N, Const(0)))
        return Read(DATA, self.rng.choice((at, at, Op("+", (at, Const(1))))))

    def index(self) -> Expr:
        """An index; strides are what sectors and banks are about."""
        if self.rng.random() < 0.2:
            return Op("*", (self.rng.choice((TID, Var("x"))), Const(self.rng.choice([2, 4]))))
        return self.expr(0) if self.rng.random() < 0.5 else Op("+", (self.leaf(), self.leaf()))

    def atom(self) -> Expr:
        """A comparison."""
        rng = self.rng
        left: Expr = Var(rng.choice(LOCALS)) if rng.random() < 0.6 else self.leaf()
        if self.wanted.data and rng.random() < 0.5:
            other: Expr = rng.choice((self.held(), Var(rng.choice(LOCALS)), N, Const(rng.randint(0, 2))))
            return Op(rng.choice(["<", "<=", ">", "=="]), (rng.choice((left, self.held())), other))
        if rng.random() < 0.08:
            left = Read(rng.choice("GS"), self.leaf())
        right: Expr = rng.choice([Const(rng.randint(0, 3)), N, TID, self.leaf()])
        if rng.random() < 0.15:
            left, right = TID, Const(rng.randint(0, 2))
        return Op(rng.choice(["<", "<", ">", ">=", "==", "!="]), (left, right))

    def about(self, v: Var) -> Expr:
        """A comparison of a variable with a number."""
        return Op(self.rng.choice(["<", ">", "==", "!="]), (v, Const(self.rng.randint(0, 2))))

    def cond(self) -> Expr:
        """A bool."""
        kind = self.rng.random()
        if kind < 0.88:
            return self.atom()
        if kind < 0.94:
            return Op(self.rng.choice(["&&", "||"]), (self.atom(), self.atom()))
        return Op("!", (self.atom(),))

    # --- statements ---

    def program(self) -> Stmt:
        """A body; with what is wanted somewhere in it, where a few tries suffice."""
        roll = self.rng.random()
        if self.wanted.data and roll < 0.55:
            return self.of_row()
        if self.wanted.early and roll < 0.8:
            return self.left_early()
        if self.wanted.ghost and roll < 0.3:
            return seq(If(self.about(Var(GHOST_LOCAL)), self.simple(), self.simple()), self.stmt(1))
        if self.wanted.statement == "while" and roll < 0.6:
            return self.left_early() if roll < 0.35 else self.stale()
        if self.wanted.statement in ("", "while") and roll > 0.9:
            return self.endless()
        for _ in range(12):
            body = self.stmt(self.rng.choice([1, 1, 2, 2, 3, 3, 4]))
            if self._has_wanted(body):
                return body
        return body

    def _has_wanted(self, body: Stmt) -> bool:
        want = self.wanted
        if want.statement and not any(kind_of(s) == want.statement for s in statements(body)):
            return want.statement == "seq" and type(body).__name__ == "Seq"
        return not want.expression or any(
            kind_of_expr(t) == want.expression for s in statements(body) for e in evaluated(s) for t in subterms(e)
        )

    def pointed(self) -> Stmt:
        """A program that is little more than the statement that is wanted, so that a rule about it is used where it
        matters: branches that lanes part at and that both cost, loops that lanes enter apart or leave apart."""
        rng = self.rng
        if self.wanted.statement not in ("if", "while"):
            return self.program()
        body: Stmt = If(self.parting(), self.costly(), self.costly())
        if self.wanted.statement == "while":
            body = self.turns()
        if rng.random() < 0.2:
            body = seq(self.simple(), body)
        return seq(body, self.simple()) if rng.random() < 0.2 else body

    def parting(self) -> Expr:
        """A comparison that lanes disagree on, most of the time."""
        rng = self.rng
        x = Var("x")
        rights: list[Expr] = [Const(rng.randint(0, 1)), TID, Var("y"), Const(rng.randint(0, 2))]
        right = rng.choice(rights)
        return Op(rng.choice(["<", "==", "!=", ">"]), (TID if right == rights[3] else x, right))

    def costly(self) -> Stmt:
        """Statements of which one costs under every metric that prices what it does: ticks, accesses, branches."""
        rng = self.rng
        tick = Assign(TICK, Const(0))
        access = [Write(a, Op("*", (TID, Const(k))), Const(0)) for a, k in (("G", 8), ("S", 4))]
        branch: Stmt = If(self.parting(), tick, Skip())
        options: list[Stmt] = [tick, tick, seq(tick, tick), *access, branch, self.simple()]
        return rng.choice(options)

    def turns(self) -> Stmt:
        """A loop that some lanes enter and others do not, or that they leave apart."""
        rng = self.rng
        x = Var(rng.choice(LOCALS))
        bounds: list[Expr] = [Const(1), Const(2), TID, TID, N, Var("y" if x.name == "x" else "x")]
        bound = rng.choice(bounds)
        guard = Op(rng.choice(["<", "<", "!="]), (x, bound))
        moves: list[Expr] = [bound, bound, Op("+", (x, Const(1))), Op("+", (x, Const(2)))]
        move = Assign(x.name, rng.choice(moves))
        return While(guard, seq(self.costly(), move) if rng.random() < 0.7 else move)

    def stmt(self, size: int) -> Stmt:
        rng = self.rng
        kind = rng.random()
        if size <= 1:
            return self.simple()
        if kind < 0.1:
            return seq(self.loop(1), If(self.cond(), self.stmt(1), Skip()))
        if kind < 0.35:
            first = rng.randint(1, size - 1)
            return seq(self.stmt(first), self.stmt(size - first))
        if kind < 0.65:
            return If(self.cond(), self.stmt(size - 1), self.stmt(rng.randint(1, size - 1)))
        return self.loop(size - 1)

    def left_early(self) -> Stmt:
        """A loop that lanes may leave at different times, and a branch on what they are left with."""
        rng = self.rng
        x = rng.choice(LOCALS)
        cond = self.cond()
        if self.wanted.early:
            self.begun = frozenset({x})
            self.known = (PRICES[0], PRICES[0], PRICES[0], *PRICES)
            if rng.random() < 0.7:
                left: list[Expr] = [TID, TID, Var(x)]
                few = Op(rng.choice(["==", "<"]), (rng.choice(left), Const(rng.randint(0, 1))))
                turn = Assign(x, Op("+", (Var(x), Const(rng.choice([1, 1, 2])))))
                tick = Assign(TICK, Const(0))
                return seq(While(Op("<", (Var(x), TID)), rng.choice([turn, seq(tick, turn)])), If(few, tick, Skip()))
        if rng.random() < 0.75:
            cond = Op(
                rng.choice(["==", "==", "<", ">"]), (Var(x) if rng.random() < 1 / 3 else TID, Const(rng.randint(0, 2)))
            )
        return seq(self.loop(1, x), If(cond, Assign(TICK, Const(0)), Skip()))

    def of_row(self) -> Stmt:
        """A loop from one element to another, as over a row of a sparse matrix, with something before or after."""
        rng = self.rng
        x, y = rng.sample(LOCALS, 2)
        at = rng.choice((TID, TID, Const(0), Const(0), Var(y)))
        end = rng.choice((Op("+", (at, Const(1))), N, N))
        turn: Stmt = Assign(x, Op("+", (Var(x), Const(rng.choice([1, 1, 2])))))
        writes: list[Stmt] = [Write(DATA, self.index(), self.leaf())] * 6 if DATA in self.written else []
        inside = rng.choice((Skip(), Assign(TICK, Const(0)), self.simple(), *writes))
        loop = seq(Assign(x, Read(DATA, at)), While(Op("<", (Var(x), Read(DATA, end))), seq(inside, turn)))
        within = Op("<", (at, N)) if rng.random() < 0.7 else self.cond()
        body = If(within, loop, Skip()) if rng.random() < 0.5 else loop
        return rng.choice((body, body, seq(self.simple(), body), seq(body, If(self.cond(), self.simple(), Skip()))))

    def endless(self) -> Stmt:
        """A loop that may never end, after something that costs."""
        pairs: list[tuple[Expr, Expr]] = [(N, N), (TID, TID), (Var("x"), TID), (N, Const(0))]
        self.known = (PRICES[0], METRICS["divwarps"])
        turn = Skip() if self.rng.random() < 0.7 else self.simple()
        first = Assign(TICK, Const(0)) if self.rng.random() < 0.7 else self.stmt(1)
        loop = While(Op(">=", self.rng.choice(pairs)), turn)
        return seq(first, loop) if self.rng.random() < 0.6 else self.loop(2, within=loop)

    def stale(self) -> Stmt:
        """A loop that looks at what the turn before left, which lanes may disagree on."""
        y = Var(self.rng.choice(LOCALS))
        self.known = (_PRIMES, METRICS["conflicts"])
        tick = Assign(TICK, Const(0))
        uses: list[Stmt] = [
            If(self.about(y), tick, tick),
            If(self.about(y), tick, tick),
            Assign(TICK, Read(self.rng.choice("GSS"), y)),
            self.simple(),
        ]
        values: list[Expr] = [TID, Op("*", (TID, Const(2))), self.expr()]
        change = Assign(y.name, self.rng.choice(values))
        return self.loop(2, "y" if y.name == "x" else "x", seq(self.rng.choice(uses), change))

    def simple(self) -> Stmt:
        rng = self.rng
        kind = rng.random()
        if self.wanted.statement == "assume" and kind > 0.5:
            return Assume(self.cond())
        if kind < 0.25:
            return Skip()
        if kind < 0.5:
            return Assign(TICK, Const(0))
        if kind < 0.86:
            return Assign(rng.choice(LOCALS), self.expr())
        if kind < 0.97:
            return Write(rng.choice(self.written), self.index(), self.leaf())
        return Sync()

    def loop(self, size: int, name: str = "", within: Stmt | None = None) -> Stmt:
        """A counted loop, most of the time."""
        rng = self.rng
        x = Var(name or rng.choice(LOCALS))
        if rng.random() < 0.1:
            return While(self.cond(), within or self.stmt(size))
        bound = rng.choice([Const(rng.randint(1, 4)), N, TID, TID, TID if name else Var(rng.choice(LOCALS))])
        by = Const(rng.choice([1, 1, 1, 2]))
        up = rng.random() < 0.75
        guard, move = (Op("<", (x, bound)), Op("+", (x, by))) if up else (Op(">", (x, bound)), Op("-", (x, by)))
        if rng.random() < 0.05:
            move = Op("-" if up else "+", (x, by))
        turn: Stmt = Assign(x.name, move)
        inside = within or (self.stmt(max(1, size - 1)) if size > 1 or rng.random() < 0.5 else None)
        if inside:
            turn = seq(inside, turn) if rng.random() < 0.8 else seq(turn, inside)
        return While(guard, turn)


def kind_of(s: Stmt) -> str:
    """The name that `logic.schema` gives a statement like this."""
    return {
        "Skip": "skip",
        "Seq": "seq",
        "Sync": "sync",
        "Assume": "assume",
        "Assign": "set",
        "Write": "write",
        "If": "if",
        "While": "while",
    }[type(s).__name__]


def kind_of_expr(e: Expr) -> str:
    """The name that `logic.schema` gives an expression like this, an array's space added."""
    match e:
        case Read(array):
            return f"read {_PLAIN.arrays[array].space}"
        case Op(_, args):
            return f"op {len(args)}"
    return {"Var": "local", "Param": "param", "Const": "literal", "Tid": "tid"}[type(e).__name__]


# --- hints for derivations -------------------------------------------------------------------------------------------


def measures(body: Stmt, lanes: int, stable: frozenset[str] = frozenset()) -> list[Poly]:
    """Potentials that fall while the loops of a body run."""
    found: dict[Poly, None] = {}
    for s in statements(body):
        if not isinstance(s, While):
            continue
        for t in subterms(_with_elements(s.cond, stable)):
            match t:
                case Op("<" | "<=", (a, b)) | Op(">" | ">=", (b, a)):
                    for upper in _without_tid(b, lanes, lanes - 1):
                        for lower in _without_tid(a, lanes, 0):
                            room = upper - lower
                            found |= {max0(room): None, max0(ceil_div(room, 2)): None, room: None}
                    for v in (a, b):
                        if isinstance(v, Var):
                            found |= {sym(v): None, max0(sym(v)): None}
                case Op("!=" | "==", (Var() as v, b)) if (q := of_expr(b)) is not None:
                    found |= {max0(q - sym(v)): None, max0(sym(v) - q): None}
    if not found:
        for x in sorted({s.var for s in statements(body) if isinstance(s, Assign)} & set(LOCALS)):
            found |= {sym(Var(x)): None, max0(const(2) - sym(Var(x))): None, max0(sym(Var(x))): None}
    return [q for q in found if not q.is_constant and TID not in _leaves(q)]


def _leaves(q: Poly) -> frozenset[object]:
    from logic.potentials import leaves

    return frozenset(leaves(q))


def _with_elements(e: Expr, stable: frozenset[str]) -> Expr:
    """e with the elements of stable arrays in place of reads, if it reads no others."""
    return settled(e) if stable and all(t.array in stable for t in subterms(e) if isinstance(t, Read)) else e


def _without_tid(e: Expr, lanes: int, worst: int) -> list[Poly]:
    """e as a potential, bounds in place of tid."""
    if e == TID:
        return [const(worst), const(lanes), sym(N)]
    if elements(e) and TID in subterms(e):  # a row's ends lie between those of the warp's first and last
        ends: list[Leaf | int] = [worst, N] if worst else [0]
        polys = [of_expr(replace_part(e, TID, Const(k) if isinstance(k, int) else k)) for k in ends]
        return [q for q in polys if q is not None]
    q = of_expr(e)
    return [] if q is None or TID in _leaves(q) else [q]


def facts(body: Stmt, rng: random.Random, stable: frozenset[str] = frozenset()) -> list[Expr]:
    """Facts that derivations may state about a program's variables: its guards, bounds, a few at random."""
    found: dict[Expr, None] = {}
    for s in statements(body):
        if isinstance(s, If | While):
            for t in subterms(_with_elements(s.cond, stable)):
                match t:
                    case Op("<" | "<=" | ">" | ">=" | "==" | "!=" as op, (a, b)) if not any(
                        isinstance(u, Read) for u in subterms(t)
                    ):
                        weaker = {"<": "<=", ">": ">="}.get(op, op)
                        found |= {t: None, Op(weaker, (a, b)): None}
        if isinstance(s, Assign) and isinstance(s.value, Read) and s.value.array in stable:
            found |= {Op(op, (Var(s.var), _with_elements(s.value, stable))): None for op in ("==", ">=")}
        if isinstance(s, Assign) and isinstance(s.value, Op) and s.value.op in ("/", "%"):
            found |= {Op("<", (Var(s.var), Const(0))): None, Op("==", (s.value.args[0], Const(-1))): None}
    used = {t.name for s in statements(body) for e in evaluated(s) for t in subterms(e) if isinstance(t, Var)}
    for x in sorted(used) or LOCALS[:1]:
        v = Var(x)
        found |= {Op(">=", (v, Const(0))): None}
        for _ in range(3):
            others: list[Expr] = [Const(0), Const(rng.randint(0, 3)), N, TID, Var(rng.choice(LOCALS))]
            other = rng.choice(others)
            if other != v:
                found |= {Op(rng.choice(["==", "==", "<=", ">=", "!="]), (v, other)): None}
    found |= {Op(rng.choice([">=", "<=", "=="]), (N, Const(rng.randint(-1, 3)))): None}
    spoken = [t for f in found for t in subterms(f) if isinstance(t, Op) and t.op.startswith(ELEMENT)]
    for _ in range(2 if spoken else 0):
        others = [*spoken, Const(rng.randint(0, 3)), N]
        two = (rng.choice(spoken), rng.choice(others))
        found |= {Op(rng.choice(["<=", "<=", ">=", "=="]), two): None} if two[0] != two[1] else {}
    return list(found)
