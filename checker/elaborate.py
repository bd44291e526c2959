"""The backward half of elaboration: from a flow and the potential wanted at the end, a derivation.

Potentials go backward from the end, each statement adding what it costs; where two ways meet, the larger one is
needed, or max(., .) where neither is known to be; loops carry the potential that the outline states, with a frame added
where the code after the loop needs one; Q:Weak goes in wherever conditions have to be brought together. Where no
derivation can be completed, Stuck is raised. The result is judged by the kernel like anyone's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from checker.flow import Cut, Cycle, Flow, Fork, Node, State, Step
from checker.inference.counters import definitions
from checker.inference.partial import steps_of
from checker.kernel import Oracle, updated
from checker.oracles.counts import What, one_access
from logic.assertions import (
    AtLeast,
    Condition,
    Context,
    P,
    Proved,
    X,
    assume,
)
from logic.derivation import Derivation, Value
from logic.potentials import ZERO, Leaf, Poly, leaves, maximum, substitute, sym, variables
from logic.source import Loc
from logic.syntax import (
    Assign,
    Const,
    Expr,
    If,
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
    seq,
    subterms,
    written,
)

Least = Callable[[What, P, X, str, Expr, Context], int]


class Stuck(Exception):
    """No derivation could be completed here: a sentence, the place, and what a person could add."""

    def __init__(self, message: str, loc: Loc | None = None, advice: str = "", rule: str = "") -> None:
        super().__init__(message)
        self.message, self.loc, self.advice, self.rule = message, loc, advice, rule


@dataclass(frozen=True, slots=True)
class Proof:
    """A derivation under construction with the triple that it is meant to prove."""

    pre: Condition
    stmt: Stmt
    post: Condition
    derivation: Derivation


class Elaborator:
    """Builds derivations for one context. `least` proposes n for MemReads and Conflicts; `oracle` helps to choose.

    With `warp`, for that warp only: what a guarded statement costs may then depend on how many lanes take it. With
    `printed`, by the rules of Fig. 4 as printed, for a flow that was made for them.
    """

    def __init__(
        self, context: Context, oracle: Oracle, least: Least, warp: int | None = None, printed: bool = False
    ) -> None:
        self.context = context
        self.oracle = oracle
        self.least = least
        self.warp = warp
        self.printed = printed
        self._costs: dict[tuple[P, X, Expr], tuple[Fraction, Derivation]] = {}

    # --- expressions ---

    def cost(self, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation]:
        """The cost of e and its derivation, P; X |- e : C."""
        key = (p, x, e)
        if key not in self._costs:
            self._costs[key] = self._cost(p, x, e)
        return self._costs[key]

    def _cost(self, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation]:
        metric = self.context.metric
        here: dict[str, Value] = {"P": p, "X": x}

        def leaf(rule: str, letter: str, value: Value, price: str) -> tuple[Fraction, Derivation]:
            return metric.cost(price), Derivation(rule, {**here, letter: value}, (), e.loc)

        match e:
            case Var(name):
                return leaf("OQ:Var", "x", name, "var")
            case Param(name):
                return leaf("OQ:Param", "p", name, "const" if self.printed else "param")
            case Const():
                return leaf("OQ:Const", "k", e, "const")
            case Tid(axis):
                return leaf("OQ:Tid", "a", axis, "var")
            case Op(op, args):
                parts = [self.cost(p, x, a) for a in args]
                total = sum((c for c, _ in parts), metric.cost("op"))
                substitution: dict[str, Value] = {**here, "op": op}
                for i, (a, (c, _)) in enumerate(zip(args, parts, strict=True), start=1):
                    substitution |= {f"e{i}": a, f"C{i}": c}
                rule = {1: "EQ:Op1", 2: "EQ:Op", 3: "EQ:Op3"}[len(args)]
                return total, Derivation(rule, substitution, tuple(d for _, d in parts), e.loc)
            case Read(array, index):
                c, derivation = self.cost(p, x, index)
                letter, rule, price = (
                    ("G", "EQ:GArray", "gread") if self.is_global(array) else ("S", "EQ:SArray", "sread")
                )
                n = self.count(price, p, x, array, index)
                substitution = {**here, "o": index, "C": c, letter: array, "n": n}
                return c + metric.count(price, n), Derivation(rule, substitution, (derivation,), e.loc)

    def is_global(self, array: str) -> bool:
        """Whether an access to the array is counted in sectors; else in bank conflicts."""
        return self.context.sigma.arrays[array].space == "global"

    def count(self, price: str, p: P, x: X, array: str, index: Expr) -> int:
        """The smallest n that can be shown for an access, or the trivial one where the metric does not price it."""
        what: What = "MemReads" if self.is_global(array) else "Conflicts"
        if price not in self.context.metric.counted:
            return self.context.hardware.warp * one_access(
                what, self.context.sigma.arrays[array], self.context.hardware
            )
        return self.least(what, p, frozenset() if self.printed else x, array, index, self.context)

    # --- comparing potentials ---

    def at_least(self, state: State, q: Poly, r: Poly) -> bool:
        """Whether the oracle proves q >= r in the state."""
        return isinstance(self.oracle(AtLeast(state.p, state.x, q, r), self.context), Proved)

    def larger(self, a: State, q: Poly, b: State, r: Poly) -> Poly:
        """A potential that is at least q in a's states and at least r in b's, as small as can be told."""
        if self.at_least(b, q, r):
            return q
        return r if self.at_least(a, r, q) else maximum(q, r)

    # --- statements, backward ---

    def block(self, flow: Flow, post: Condition) -> Proof:
        """A proof of the block that ends in `post`; its precondition has the flow's start for P and X."""
        chain = [post]
        proofs: list[Proof] = []
        state = flow.end
        for node in reversed(flow.nodes):
            if isinstance(node, Cut):
                q = chain[0].q if node.q is None else node.q
                if (cut := Condition(node.state.p, q, node.state.x)) != chain[0]:
                    chain.insert(0, cut)
                continue
            proof = self.node(node, Condition(node.after.p, chain[0].q, node.after.x))
            for condition in chain:
                proof = weaken(proof, proof.pre, condition)
            proofs.append(proof)
            chain, state = [proof.pre], node.before
        if not proofs:
            last = Condition(state.p, chain[0].q, state.x)
            proof = Proof(last, Skip(), last, _skip(last))
            for condition in chain:
                proof = weaken(proof, proof.pre, condition)
            proofs, chain = [proof], [last]
        whole = _sequence(proofs[::-1])
        for condition in reversed(chain[:-1]):
            whole = weaken(whole, condition, whole.post)
        start = Condition(flow.start.p, whole.pre.q, flow.start.x)
        return weaken(whole, start, whole.post)

    def node(self, node: Node, post: Condition) -> Proof:
        """A proof of one statement that ends in `post`; P and X of its precondition are those before the node."""
        match node:
            case Step():
                return self.step(node, post)
            case Fork():
                return self.fork(node, post)
            case Cycle():
                return self.cycle(node, post)
        raise Stuck("a condition stands where a statement is meant")

    def step(self, node: Step, post: Condition) -> Proof:
        """A proof of the statement; by the number of active lanes where that is told and matters."""
        if self.warp is None or next(accesses(node.stmt), None) is None:
            return self.whole_step(node, post)
        p, x = node.before.p, node.before.x

        def at(*facts: Expr) -> Proof:
            here = p
            for fact in facts:
                here = assume(here, fact, self.context.sigma)
            after = post if isinstance(node.stmt, Assign) else replace(post, p=here)
            return self.whole_step(replace(node, before=State(here, x)), after)

        base = self.whole_step(node, post).pre.q
        split = steps_of(p, x, lambda fact: (at(fact).pre.q - base).constant, self.context, self.warp)
        if split is None:
            return self.whole_step(node, post)
        bounds = [Op("<=", (split.active, Const(end))) for end in split.ends]
        q = at(Op("==", (split.active, Const(1)))).pre.q + split.cost
        rest = at(*(Op("!", (b,)) for b in bounds))
        for i in reversed(range(len(bounds))):
            here = p
            for b in bounds[:i]:
                here = assume(here, b, self.context.sigma, False)
            sides = at(*(Op("!", (b,)) for b in bounds[:i]), bounds[i]), rest
            yes, no = (weaken(side, Condition(side.pre.p, q, x), post) for side in sides)
            pre = Condition(here, q, x)
            substitution = named("", pre) | named("'", post) | {"e": bounds[i], "s": node.stmt}
            derivation = Derivation("Q:CaseSplit", substitution, (yes.derivation, no.derivation), node.stmt.loc)
            rest = Proof(pre, node.stmt, post, derivation)
        return rest

    def whole_step(self, node: Step, post: Condition) -> Proof:
        """A proof of the statement, whatever the number of active lanes. Raises Stuck."""
        p, x, stmt, metric = node.before.p, node.before.x, node.stmt, self.context.metric
        match stmt:
            case Skip():
                return Proof(post, stmt, post, _skip(post, stmt.loc))
            case Sync():
                pre = Condition(p, post.q + metric.cost("sync"), x)
                return Proof(pre, stmt, post, Derivation("Q:Sync", {"P": p, "Q": post.q, "X": x}, (), stmt.loc))
            case Write(array, index, value):
                c1, d1 = self.cost(p, x, index)
                c2, d2 = self.cost(p, x, value)
                letter, rule, price = (
                    ("G", "Q:GWrite", "gwrite") if self.is_global(array) else ("S", "Q:SWrite", "swrite")
                )
                n = self.count(price, p, x, array, index)
                pre = Condition(p, post.q + metric.count(price, n) + c1 + c2, x)
                write: dict[str, Value] = {"P": p, "Q": post.q, "X": x, "o": index, "e": value, "C1": c1, "C2": c2}
                return Proof(pre, stmt, post, Derivation(rule, {**write, letter: array, "n": n}, (d1, d2), stmt.loc))
            case Assign(var, value):
                if node.uniform and var in variables(post.q) and (known := self.told(node, stmt)):
                    other = self.whole_step(node, replace(post, q=substitute(post.q, known)))
                    return weaken(other, other.pre, post)
                c, d = self.cost(p, x, value)
                rule = "Q:VWrite1" if node.uniform else "Q:VWrite2"
                q = self.before_assignment(node, stmt, post.q) if node.uniform else post.q
                pre = Condition(p, q + metric.cost("vwrite") + c, x)
                common: dict[str, Value] = {"P": p, "X": x, "e": value, "C": c, "P'": post.p, "x": var, "Q": q}
                if node.uniform:
                    common["Q'"] = post.q
                return Proof(pre, stmt, post, Derivation(rule, common, (d,), stmt.loc))

    def told(self, node: Step, stmt: Assign) -> dict[Leaf, Poly]:
        """What P says after an assignment that the variable is, if potentials cannot say its value otherwise."""
        here = {*map(Var, node.before.x)}
        own = Var(stmt.var)

        def sayable(p: Poly | None) -> bool:
            return p is not None and all(isinstance(t, Param) or t in here - {own} for t in leaves(p))

        if sayable(updated(sym(own), stmt.var, stmt.value, self.context)):
            return {}
        found = (definitions((fact,)).get(own) for fact in node.after.p)
        return next(({own: told} for told in found if told is not None and sayable(told)), {})

    def before_assignment(self, node: Step, stmt: Assign, q: Poly) -> Poly:
        """Q[x <- e] as a potential over X and parameters. Raises Stuck where it is none."""
        if stmt.var not in variables(q):
            return q
        before = updated(q, stmt.var, stmt.value, self.context)
        stray = [
            x.name for x in leaves(before) if isinstance(x, Tid) or (isinstance(x, Var) and x.name not in node.before.x)
        ]
        if stray:
            raise Stuck(
                f"the potential depends on '{stmt.var}' after this, and so on {', '.join(sorted(stray))} before",
                stmt.loc,
                "Bound the value by parameters first, in a condition before the loop that uses it.",
                "Q:VWrite1",
            )
        return before

    def split(self, node: Fork, post: Condition) -> Proof:
        """A proof by Q:CaseSplit: of the same program twice."""
        if not isinstance(node.then, Flow) or not isinstance(node.orelse, Flow):
            raise Stuck("a side of the split has no flow", node.loc)
        yes, no = self.block(node.then, post), self.block(node.orelse, post)
        q = self.larger(node.then.start, yes.pre.q, node.orelse.start, no.pre.q)
        pre = Condition(node.before.p, q, node.before.x)
        sides = (weaken(side, Condition(side.pre.p, q, side.pre.x), post).derivation for side in (yes, no))
        substitution = named("", pre) | named("'", post) | {"e": node.cond, "s": yes.stmt}
        return Proof(pre, yes.stmt, post, Derivation("Q:CaseSplit", substitution, tuple(sides), node.loc))

    def fork(self, node: Fork, post: Condition) -> Proof:
        """A proof of the branch by the rule that the flow names. Raises Stuck."""
        if node.rule == "Q:CaseSplit":
            return self.split(node, post)
        p, x, metric = node.before.p, node.before.x, self.context.metric
        c, d = self.cost(p, x, node.cond)
        price = metric.cost("if") + c
        common: dict[str, Value] = {"P": p, "X": x, "e": node.cond, "C": c}
        if node.rule in ("Q:If2", "Q:If3"):
            taken, dead = (node.then, node.orelse) if node.rule == "Q:If2" else (node.orelse, node.then)
            if not isinstance(taken, Flow) or isinstance(dead, Flow):
                raise Stuck("the live side of the branch has no flow", node.loc)
            proof = self.block(taken, post)
            s1, s2 = (proof.stmt, dead) if node.rule == "Q:If2" else (dead, proof.stmt)
            common |= {"Q": proof.pre.q, "s1": s1, "s2": s2} | named("'", post)
            whole = If(node.cond, s1, s2, node.loc)
            derivation = Derivation(node.rule, common, (d, proof.derivation), node.loc)
            return _rolled(node, Proof(Condition(p, proof.pre.q + price, x), whole, post, derivation))
        if not isinstance(node.then, Flow) or not isinstance(node.orelse, Flow):
            raise Stuck("a side of the branch has no flow", node.loc)
        yes, no = node.then.start, State(assume(p, node.cond, self.context.sigma, False), x)
        orelse = self.block(
            node.orelse, post if node.rule == "Q:If1" else Condition(node.orelse.end.p, post.q, node.orelse.end.x)
        )
        if node.rule == "Q:If1":
            then = self.block(node.then, post)
        else:
            middle = orelse.pre.q
            if not self.printed:
                middle = self.larger(node.then.end, middle, node.then.end, post.q)
            then = self.block(node.then, Condition(node.then.end.p, middle, node.then.end.x))
        q = then.pre.q
        if not self.printed or node.rule == "Q:If1":
            q = self.larger(yes, q, no, orelse.pre.q)
        common |= {"Q": q, "s1": then.stmt, "s2": orelse.stmt}
        then = weaken(then, Condition(yes.p, q, x), then.post)
        whole = If(node.cond, then.stmt, orelse.stmt, node.loc)
        if node.rule == "Q:If1":
            orelse = weaken(orelse, Condition(no.p, q, x), orelse.post)
            common |= named("'", post)
        else:
            price += metric.cost("div")
            common |= named("1", then.post) | named("'", orelse.pre) | named("2", orelse.post) | named("''", post)
            if self.printed:  # s2 starts from Q1 and X1, the end has Q2 and X2
                common = {m: v for m, v in common.items() if m not in ("Q'", "X'", "Q''", "X''")}
        derivation = Derivation(node.rule, common, (d, then.derivation, orelse.derivation), node.loc)
        return _rolled(node, Proof(Condition(p, q + price, x), whole, post, derivation))

    def cycle(self, node: Cycle, post: Condition) -> Proof:
        """A proof of the loop from the potential at its head, framed where that leaves too little. Raises Stuck."""
        if node.q is None:
            raise Stuck(
                "the loop has no potential", node.loc, "State one: while (e) invariant {P; Q; X} { ... }", node.rule
            )
        p, x, metric = node.invariant.p, node.invariant.x, self.context.metric
        c, d = self.cost(p, x, node.cond)
        price = metric.cost("if") + c + (metric.cost("div") if node.rule == "Q:While2" else 0)
        q = node.q - price
        left = State(assume(p, node.cond, self.context.sigma, False), x)
        if not self.at_least(left, q, post.q):
            frame = post.q
            if variables(frame) & written(node.body.stmt):
                frame = ZERO
            q = q + frame
        head = Condition(p, q + price, x)
        warp, self.warp = self.warp, None  # the loop's potential covers a whole warp
        body = self.block(_paying(node.body, q) if node.case is None else node.body, head)
        self.warp = warp
        body = weaken(body, Condition(node.body.start.p, q if node.case is None else body.pre.q, x), body.post)
        whole = While(node.cond, body.stmt, node.loc)
        common: dict[str, Value] = {"P": p, "X": x, "e": node.cond, "C": c, "Q": q, "s": body.stmt}
        if node.case is not None:
            common |= {"e1": node.case, "Q1": body.pre.q}
        if node.rule == "Q:While2" and self.printed:
            end = Condition(left.p, q, node.after.x)
        elif node.rule != "Q:While1":
            end = Condition(left.p, post.q, node.after.x)
            common |= {"Q'": end.q, "X'": end.x}
        else:
            end = Condition(left.p, q, x)
        loop = Proof(head, whole, end, Derivation(node.rule, common, (d, body.derivation), node.loc))
        return weaken(loop, Condition(node.before.p, head.q, node.before.x), post)


def accesses(s: Stmt) -> Iterator[Expr]:
    """The reads in a statement without statements inside it, and the write as if it were one."""
    match s:
        case Assign(_, e):
            yield from (t for t in subterms(e) if isinstance(t, Read))
        case Write(array, index, e):
            yield from (t for part in (Read(array, index), e) for t in subterms(part) if isinstance(t, Read))


def _paying(body: Flow, q: Poly) -> Flow:
    """A loop's body in which facts that begin it are known before its potential is used: all that is left of q is."""
    match body.nodes:
        case (Cut(q=None) as first, *rest):
            return replace(body, nodes=(replace(first, q=q), *rest))
    return body


def _rolled(node: Fork, proof: Proof) -> Proof:
    """The proof of the loop that the branch unrolls, if it does."""
    if node.loop is None:
        return proof
    substitution = named("", proof.pre) | named("'", proof.post) | {"e": node.loop.cond, "s": node.loop.body}
    return Proof(proof.pre, node.loop, proof.post, Derivation("Q:Unroll", substitution, (proof.derivation,), node.loc))


def named(suffix: str, condition: Condition) -> dict[str, Value]:
    """The condition as values of P, Q and X with a suffix."""
    return {f"P{suffix}": condition.p, f"Q{suffix}": condition.q, f"X{suffix}": condition.x}


def _skip(at: Condition, loc: Loc | None = None) -> Derivation:
    return Derivation("Q:Skip", named("", at), (), loc)


def weaken(proof: Proof, pre: Condition, post: Condition) -> Proof:
    """The proof with Q:Weak around it that gives these conditions; itself where they are the same already."""
    if pre == proof.pre and post == proof.post:
        return proof
    substitution = named("1", pre) | named("2", proof.pre) | named("2'", proof.post) | named("1'", post)
    substitution |= {"c": Fraction(0), "s": proof.stmt}
    loc = proof.derivation.loc
    return Proof(pre, proof.stmt, post, Derivation("Q:Weak", substitution, (proof.derivation,), loc))


def _sequence(proofs: list[Proof]) -> Proof:
    """One proof of statements that follow each other, as a balanced tree of Q:Seq, so that its depth is logarithmic."""
    while len(proofs) > 1:
        paired = [_pair(a, b) for a, b in zip(proofs[::2], proofs[1::2], strict=False)]
        proofs = paired + proofs[len(paired) * 2 :]
    return proofs[0]


def _pair(a: Proof, b: Proof) -> Proof:
    substitution = named("", a.pre) | named("1", b.pre) | named("'", b.post) | {"s1": a.stmt, "s2": b.stmt}
    derivation = Derivation("Q:Seq", substitution, (a.derivation, b.derivation), a.derivation.loc)
    return Proof(a.pre, seq(a.stmt, b.stmt), b.post, derivation)
