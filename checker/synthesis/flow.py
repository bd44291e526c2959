"""The forward half of elaboration: what holds (P) and what is uniform (X) at every point of an outline, and which
rule each branch and loop can use. Potentials play no part here, so one flow serves every metric.

Everything found here is only a proposal: the kernel checks it again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from checker import limits
from checker.kernel import Oracle
from checker.oracles import SOLVER_FREE
from checker.oracles.instances import shown
from checker.synthesis import chases, flags, live
from checker.synthesis.counters import factor, geometric, moves, taken, trips
from checker.synthesis.guards import distances, sized
from checker.synthesis.guesses import invariants, left_alone, orders, passed, together
from checker.synthesis.loose import loose
from checker.synthesis.nodes import Cut, Cycle, Flow, Fork, Node, State, Step, cut
from checker.synthesis.outline import Block, Branch, Cases, Loop, Outline, Partial, Plain, Split, ghost_of, strip
from checker.synthesis.rules import ALWAYS, NEVER, SOUND
from checker.synthesis.rules.transformer import Analysis, Book
from checker.synthesis.totals import counted, moved, totals
from checker.synthesis.walk import Stuck
from logic.assertions import (
    AtLeast,
    Context,
    Entails,
    Obligation,
    P,
    Proved,
    Uniform,
    Verdict,
    X,
    abstracted,
    assume,
    conj,
    opaque,
    settled,
)
from logic.comparisons import as_expr
from logic.contracts import elements, elements_in
from logic.facts import Facts, equations, said, solutions, unfolded, value_where
from logic.potentials import (
    ZERO,
    Atom,
    Floor,
    Leaf,
    Max0,
    Poly,
    const,
    floor_div,
    is_closed,
    leaves,
    mapped,
    of_expr,
    sym,
)
from logic.potentials import atom as just
from logic.potentials import substitute as replaced
from logic.rules import SPLIT, UNROLL
from logic.source import Loc
from logic.syntax import (
    BUILTINS,
    FALSE,
    GHOST,
    INT,
    WARP_INDEX,
    Assign,
    Const,
    Expr,
    Op,
    Param,
    Read,
    Stmt,
    Tid,
    Var,
    While,
    evaluated,
    local_vars,
    reads_array,
    replace_part,
    statements,
    substitute,
    subterms,
    written,
)
from logic.typing import Signature


def analyse(
    outline: Outline,
    oracle: Oracle,
    start: P = (),
    book: Book = SOUND,
    apart: Collection[Loc | None] = frozenset(),
    sharp: bool = False,
) -> Flow:
    """The flow of an outline's body, from {P; .; {}} or from the condition that its body begins with, by the rules of a
    book. Of loops at the places `apart` the first turn is taken apart where flags end them. A sharp one knows of tests
    for equality in such loops which side is the larger where they fail. Raises Stuck where no rule applies."""
    return _Analysis(outline, oracle, book, apart, sharp).block(outline.body, State(start, frozenset()), given=True)


class _Analysis(Analysis):
    """The walk; holds what never changes during it."""

    def __init__(
        self, outline: Outline, oracle: Oracle, book: Book, apart: Collection[Loc | None], sharp: bool
    ) -> None:
        context = outline.context
        self.book = book
        self.counted = counted(strip(outline.body))
        self.costing = live.costing(outline.body)
        self.context = context
        self.oracle = oracle
        self.printed = book.printed
        self.apart = apart
        self.sharp = sharp
        self.sigma = context.sigma
        self.contracts = context.launch.contracts
        self.given = said((), context)
        self.single = all(value_where(Param(f"blockDim.{axis}"), self.given.numbers) == 1 for axis in "xyz")
        self.rows = (context.launch.block[0] or 1) % context.hardware.warp == 0
        """Whether the threads of a warp, which are as many as may be, differ in threadIdx.x alone."""
        self.begun: list[Loop] = []
        """Loops whose first turn has been taken apart."""
        self.flags: list[Expr] = []
        """The flags that the tests of the loops around the walk ask for."""
        self.sums: frozenset[str] = frozenset()
        """The variables of which loops around the walk have guesses at sums."""
        self.live: frozenset[str] = frozenset()
        """Variables that are live after the item that the walk is at."""

    def facts(self, p: P) -> Facts:
        """The facts of P in the launch."""
        return said(p, self.context)

    def proves(self, obligation: Obligation) -> bool:
        return isinstance(self.oracle(obligation, self.context), Proved)

    def uniform(self, p: P, x: X, e: Expr) -> bool:
        """Whether e is uniform under P and X; the print does not look at X (erratum 5)."""
        shared: X = frozenset() if self.printed else x
        differs = not self.single and loose(p, shared, e, self.sigma, self.rows)
        return not differs and self.proves(Uniform(p, shared, e))

    def entails(self, p: P, goal: Expr) -> bool:
        return not opaque(goal, self.sigma) and self.proves(Entails(p, conj((goal,), self.sigma)))

    def by_solver(self, p: P, goal: Expr) -> bool:
        """Whether a goal that P entails rests on a solver's word: no arithmetic proof can speak of it, and neither
        closed forms nor lanes show it."""
        if all(is_closed(of_expr(side)) for side in (goal.args if isinstance(goal, Op) else ())):
            return False
        verdict = self.oracle(Entails(p, conj((goal,), self.sigma)), self.context)
        return not (isinstance(verdict, Proved) and verdict.engine in SOLVER_FREE)

    def by_lanes(self, p: P, goal: Expr) -> bool:
        """Whether a goal that P entails is seen in the lanes alone, maybe by cases that the second checker does not
        try."""
        verdict = self.oracle(Entails(p, conj((goal,), self.sigma)), self.context)
        return isinstance(verdict, Proved) and verdict.engine == "lanes"

    def taken(self, kind: Sequence[str], item: Any, state: State, rule: str | None = None) -> Any:
        """The node by the rule that the outline names, or by the first that applies. Raises Stuck."""
        names, rules = kind if rule is None else (rule,), self.book.rules
        found = (rules[name].forward(self, item, state, rule is not None) for name in names if name in rules)
        if (node := next((node for node in found if node is not None), None)) is None:
            raise Stuck(f"none of the rules for this applies: {', '.join(names)}", getattr(item, "loc", None))
        return node

    def fork(self, item: Branch, state: State) -> Fork:
        item = self.ordered(item, state) if self.sharp else item
        fork: Fork = self.taken(self.book.branches, item, state, item.rule)
        return fork

    def ordered(self, item: Branch, state: State) -> Branch:
        """The branch with what its sides know of ghosts by flags, and, in loops that flags end, with the orders that
        hold where a test for equality fails."""

        def told(side: Block, cond: Expr) -> Block:
            p, parts = assume(state.p, cond, self.sigma), conj((cond,), self.sigma)
            tests = (c.args for c in parts if self.flags and isinstance(c, Op) and c.op == "!=" and local_vars(c))
            orders = (Op(op, args) for args in tests if not any(opaque(a, self.sigma) for a in args) for op in "<>")
            known: list[Expr] = [e for e in orders if of_expr(Op("-", e.args)) is not None and self.entails(p, e)]
            known += (e for e in flags.told(parts, p, self.sigma)[0] if e not in p)
            return (Partial(tuple(known)), *side) if known else side

        return replace(item, then=told(item.then, item.cond), orelse=told(item.orelse, Op("!", (item.cond,))))

    def block(self, block: Block, start: State, given: bool = False) -> Flow:
        """The flow of a block. With `given`, a condition at its beginning is taken as the precondition."""
        state, outside = start, self.live
        nodes: list[Node] = []
        points = live.points(block, outside)
        last = max((i for i, item in enumerate(block) if isinstance(item, Loop | Branch)), default=0)
        for i, item in enumerate(block):
            if isinstance(item, Loop | Branch):
                state = cut(nodes, state, State(live.spoken(state.p, points[i]), state.x))
            self.live = points[i + 1]
            match item:
                case Partial(p, q, x, loc):
                    facts = () if p is None else conj(p, self.sigma)
                    known = conj((*state.p, *facts), self.sigma)
                    kept = tuple(c for c in known if c in facts or not _settled(c, known))
                    state = State(kept, state.x if x is None else x)
                    if given and i == 0:
                        start = state
                    nodes.append(Cut(state, q, loc))
                    continue
                case Plain(stmt):
                    node: Step | Fork | Cycle = self.taken(self.book.steps, stmt, state)
                case Branch():
                    self.live = live.within(item, self.live)
                    node = self.fork(item, state)
                case Loop():
                    state = self.told(item.cond, state, nodes)
                    node = self.cycle(item, state)
                case Cases():
                    node = self.taken((SPLIT.name,), (item, ()), state)
                case Split():
                    if rest := block[i + 1 :]:
                        self.live = outside
                        node = self.taken((SPLIT.name,), (item, rest), state)
                        return Flow(start, (*nodes, node), node.after)
                    continue
            nodes.append(node)
            state = node.after
            if isinstance(node, Step) and isinstance(node.stmt, Assign):
                state = self.told(node.stmt.value, state, nodes)
            if isinstance(item, Loop) and i < last:
                state = cut(nodes, state, self.left(item, state, points[i + 1]))
        self.live = outside
        if not given:
            state = cut(nodes, state, State(live.spoken(state.p, outside), state.x))
        return Flow(start, tuple(nodes), state)

    def told(self, e: Expr, state: State, nodes: list[Node]) -> State:
        """The state, with a cut, once it has what contracts say of the elements of arrays that an expression and P
        speak of, if the expression reads some."""
        reads = [t for t in subterms(e) if isinstance(t, Read) and not opaque(t, self.sigma)]
        if not reads:
            return state
        facts, named = self.facts(state.p), dict[Poly, Poly]()
        for part in (*(t for c in state.p for t in subterms(c)), *(settled(t, self.sigma) for t in reads)):
            if (p := of_expr(part)) is not None and elements_in([p]):
                named.setdefault(facts.plain(p), p)  # not again by another name

        def ask(said: P, need: Poly) -> Verdict:
            return self.oracle(AtLeast(said, frozenset(), need, ZERO), self.context)

        more = shown(self.contracts, elements_in(named.values()), state.p, ask)
        return cut(nodes, state, State(conj((*state.p, *more), self.sigma), state.x))

    def left(self, item: Loop, state: State, after: live.Names) -> State:
        """The facts kept after a loop: none about what only the loop needed. P would grow from loop to loop. X keeps
        what they mention: of an index that went on by a row a turn they say how far by the turns."""
        changed = written(strip(item.body))
        kept = {ghost_of(x) for x in after} if self.sharp else set()
        dead = changed - after - kept
        p = live.kept(state.p, dead, changed)
        return State(p, state.x - (dead - frozenset().union(*map(local_vars, p))))

    # --- statements ---

    def after_assignment(self, p: P, x: str, e: Expr) -> P:
        after = self.known_after(p, x, e)
        if told := (*flags.assigned(self.flags, x, e, self.sigma),):
            same = Op("==", (Var(x), e))  # says no more of when the loop goes on
            return conj((*(c for c in after if c != same), *told), self.sigma)
        return after

    def known_after(self, p: P, x: str, e: Expr) -> P:
        """Facts that hold after x <- e, each of them such that P |- fact[x <- e]."""
        kept = [c for c in p if x not in local_vars(c)]
        about = [c for c in p if x in local_vars(c)]
        known = value_where(e, self.facts(p).numbers)
        if known is not None and self.sigma.locals[x] == INT:
            kept += flags.moved(x, e, about) if self.flags else ()
            kept += self.followed(x, e, about)
            return conj((*kept, *self.carried(p, x, about), Op("==", (Var(x), Const(known)))), self.sigma)
        if not opaque(e, self.sigma) and x not in local_vars(e):
            kept += self.carried(p, x, about)
            if any(leaf == e and x in local_vars(d) for leaf, d in equations(p)):  # it goes on to what it leads to
                kept += [c for c in about if self.entails(p, substitute(c, {x: e}))]
            if self.sigma.locals[x].kind != "base":
                shared = _of_warp(e, p, self.context)
                alike = shared is not None and self.entails(p, Op("==", (e, shared)))
                plain = self.clamped(p, e)
                values = (*([shared] if shared is not None and alike else []), plain, sized(plain, self.given))
                kept += [Op("==", (Var(x), d)) for d in dict.fromkeys(values)]
                if isinstance(e, Op) and e.op == "?:" and plain == e:
                    kept += [c for c in _range_of(Var(x), e, self.sigma) if self.entails(p, substitute(c, {x: e}))]
            return conj(kept, self.sigma)
        plain = e if opaque(e, self.sigma) else settled(e, self.sigma)
        named = {
            c: new for c in about if (new := replace_part(c, plain, Var(x))) != c and substitute(new, {x: plain}) == c
        }
        inverse = flags.inverse(x, e)
        if inverse is not None:
            kept += [named.get(c) or substitute(c, {x: inverse}) for c in about]
            kept += self.followed(x, e, about)
            if x in self.sums and any(isinstance(t, Op) and t.op in ("int", "?:") for t in subterms(e)):
                kept += (c for c in about if self.entails(p, substitute(c, {x: e})))  # without the cases in it
                kept += self.summed(p, x, e, about)
            return conj(kept, self.sigma)
        anything, before = abstracted(e, self.sigma), _definition(x, about)
        after = None if before is None or opaque(e, self.sigma) else substitute(e, {x: before})
        defined = after is not None and self.entails(p, Op("==", (e, after)))
        for c in about:  # what is defined can be shown again where it is needed, so it need not rest on a solver here
            new = substitute(c, {x: anything})
            if self.entails(p, new) and not (defined and self.by_solver(p, new)):
                kept.append(c)
        kept += named.values()
        kept += self.summed(p, x, e, about)
        kept += [c for c in _range_of(Var(x), e, self.sigma) if self.entails(p, substitute(c, {x: anything}))]
        kept += self.carried(p, x, about)
        if after is not None and defined:
            kept.append(Op("==", (Var(x), self.clamped(p, after))))
        return conj(kept, self.sigma)

    def followed(self, x: str, e: Expr, about: Sequence[Expr]) -> Iterator[Expr]:
        """The equations of a ghost with other variables after x <- e, where a first turn is taken apart: loops behind
        it are measured by these, and it is a number, too, or a value at the start, which would take their place."""
        for leaf, value in equations(about) if self.begun and x.startswith(GHOST) else ():
            others = local_vars(value)
            if leaf == Var(x) and others and x not in others:
                yield Op("==", (leaf, substitute(e, {x: value})))

    def summed(self, p: P, x: str, e: Expr, about: Sequence[Expr]) -> list[Expr]:
        """The facts about a sum as they hold once the least or the most that e adds is in it."""
        by = moved(x, e, self.contracts) if x in self.sums else []
        shifted = (substitute(c, {x: Op("-", (Var(x), k))}) for c in about for k in by)
        return [c for c in shifted if self.entails(p, substitute(c, {x: abstracted(e, self.sigma)}))]

    def clamped(self, p: P, e: Expr) -> Expr:
        """The same value by min and max, where choices in it are between the smaller and the larger of two."""
        plain = _clamped(e)
        return plain if plain != e and self.entails(p, Op("==", (e, plain))) else e

    def carried(self, p: P, x: str, about: Sequence[Expr]) -> list[Expr]:
        """The facts about x as facts about its definition, for when x is given another value."""
        before = _definition(x, about)
        if before is None:  # of elements and of the turns that are left, which ghosts count, a little more is kept
            before = next(_other_way(x, about), None)
            about = [c for c in about if elements(c) or any(name.startswith(GHOST) for name in local_vars(c))]
        if before is None:
            return []
        said = (substitute(c, {x: before}) for c in about if c != Op("==", (Var(x), before)))
        return [c for c in said if not _same(c) and self.entails(p, c)]

    def join(self, a: P, b: P) -> P:
        """Facts of either that both entail; where first turns are taken apart, without tests for a difference that only
        the lanes show there."""
        others = frozenset(b)
        both = dict.fromkeys(c for c in a if c in others)

        def joins(p: P, c: Expr) -> bool:
            plain = not (self.begun and isinstance(c, Op) and c.op == "!=")
            return c not in both and self.entails(p, c) and (plain or not self.by_lanes(p, c))

        return conj((*both, *(c for c in a if joins(b, c)), *(c for c in b if joins(a, c))), self.sigma)

    def merged(self, item: Branch, before: P, a: P, b: P) -> P:
        """The join of both sides of a branch, with what they say of a variable together: that it is the minimum or
        maximum of what it is after either, or between those. Where one side says what it is, it may be the end of what
        the other side says."""
        facts = self.join(a, b)
        changed = written(strip((item,)))
        known = {x: d for x in changed if (d := _definition(x, before)) is not None}
        cond = substitute(item.cond, known)
        found: list[Expr] = []
        for x in sorted(changed):
            sides = [d for side in (a, b) if (d := _definition(x, side)) is not None and of_expr(d) is not None]
            told = not any(local_vars(d) & changed for d in sides)
            if not told or self.sigma.locals[x] != INT or _definition(x, facts) is not None:
                continue
            extreme = _extreme(cond, *sides) if len(sides) == 2 else None
            if extreme is not None:
                found.append(Op("==", (Var(x), Op(extreme, (*sides,)))))
            elif sides:
                found += [
                    Op(op, (Var(x), _either(sides[0], sides[-1], up))) for op, up in ((">=", False), ("<=", True))
                ]
        if any(local_vars(flag) & changed for flag in self.flags):
            found += [c for one, other in ((a, b), (b, a)) for c in flags.kept(self.flags, one, other, self.sigma)]
        return conj((*facts, *(c for c in found if self.entails(a, c) and self.entails(b, c))), self.sigma)

    def unrolled(self, item: Loop, state: State, turns: int | None) -> Fork:
        """The loop as a branch: one turn and the loop again, or nothing."""
        rule = None if turns is None else ALWAYS if turns else NEVER
        own = flags.flags(item.cond, strip(item.body), self.sigma)
        self.flags += own
        fork: Fork = self.taken(
            (UNROLL.name,), (item, Branch(item.cond, (*item.body, item), (), rule, item.loc)), state
        )
        del self.flags[len(self.flags) - len(own) :]
        return fork

    def never(self, cond: Expr, p: P) -> bool:
        """Whether a loop is not entered. Where P is of one warp it may be: sums over warps want the same of each."""
        one = any(t == Param(WARP_INDEX) for f in p for t in subterms(f))
        return not one and self.entails(p, Op("!", (cond,)))

    def peeled(self, item: Loop, body: Stmt, state: State) -> Fork | None:
        """The loop with its first turn taken apart, where the outcome of a branch in it is known there alone."""
        if any(item is known for known in self.begun) or any(isinstance(s, While) for s in statements(body)):
            return None
        tests = [
            part.cond
            for i, part in enumerate(item.body)
            if isinstance(part, Branch)
            and part.rule is None
            and not local_vars(part.cond) & written(strip(item.body[:i]))
        ]
        p = assume(state.p, item.cond, self.sigma)

        def outcomes(test: Expr) -> tuple[Expr, ...]:
            """The outcomes of a test that invariants, or branches in a sharp way, do not tell of in all turns."""
            match test:
                case Op("<" | "<=" | ">" | ">=") if self.sharp:
                    return ()
                case Op("==") if self.sharp:
                    return (test,)
            return (test, Op("!", (test,)))

        if not any(
            local_vars(test) & written(body) and any(self.entails(p, e) for e in outcomes(test)) for test in tests
        ):
            return None
        self.begun.append(item)
        found = self.unrolled(item, state, None)
        self.begun.pop()
        return found

    def few(self, item: Loop, body: Stmt, state: State) -> Fork | None:
        """The loop with its turns taken apart, where it has few by a step whose size is not known: so many steps are
        left by the loop before it."""
        if any(isinstance(s, While) for s in statements(body)):
            return None
        for distance in distances(item.cond, self.sigma):
            step = taken(distance, body)
            if step is not None and not self.facts(state.p).without(written(body)).plain(step).is_constant:
                end = as_expr(distance - step * limits.FEW)
                if end is not None and self.entails(state.p, Op("<=", (end, Const(0)))):
                    return self.unrolled(item, state, None)
        return None

    def flagged(self, item: Loop, body: Stmt, state: State) -> Fork | None:
        """The loop with its first turn taken apart, where nothing but flags ends it, or that is wished, and they tell
        something of a counter at the end of that turn which stays so."""
        known = len(self.begun) >= limits.PEELED or any(item is known for known in self.begun)
        alone = item.loc in self.apart or not flags.counts(item.cond, body, self.sigma)
        if known or not alone or not flags.flags(item.cond, body, self.sigma):
            return None
        self.begun.append(item)
        found = self.unrolled(item, state, None)
        self.begun.pop()
        last = found.then.nodes[-1] if isinstance(found.then, Flow) and found.then.nodes else None
        facts = self.facts(state.p)
        moved = flags.moving(last.told, last.invariant.p, written(body)) if isinstance(last, Cycle) else ()
        return found if any(moves(x, body) or factor(x, body, facts)[0] != 1 for x in moved) else None

    def cycle(self, item: Loop, state: State) -> Cycle | Fork:
        """The loop with the strongest invariant among the candidates: what the writer states, which is never dropped,
        what the body cannot change, and guesses that prove inductive (Houdini)."""
        body = strip(item.body)
        facts = self.facts(state.p)
        straight = self.book.straight if item.rule is None else {item.rule} & {*self.book.straight}
        for name in straight:
            once = self.book.rules[name].forward(self, item, state, item.rule is not None)
            if isinstance(once, Fork):
                return once
        outside, turning = self.live, live.turning(item, self.live)
        if item.rule is None and item.invariant == Partial() and self.never(item.cond, state.p):
            return self.unrolled(item, state, 0)
        if item.rule is None and item.invariant == Partial() and geometric(item.cond, body, facts):
            turns = trips(item.cond, body, facts)
            if turns is not None and not _repeated(item.cond, body, facts):
                return self.unrolled(item, state, turns)
        if item.rule is None and item.invariant == Partial():
            first = self.peeled(item, body, state) or self.flagged(item, body, state) or self.few(item, body, state)
            if first is not None:
                return first
        changed = written(body)
        stated = () if item.invariant.p is None else item.invariant.p
        stable = [c for c in state.p if not local_vars(c) & changed]
        turning = turning.union(*map(local_vars, stable))  # the invariant has all of it
        guessed = (
            *invariants(item.cond, body, state.p, changed, self.sigma, facts),
            *together(item.cond, body, state, changed, self.sigma),
            *left_alone(state.p, changed, self.sigma),
            *(passed(body, changed, self.sigma) if self.sharp else ()),
        )
        summed, more = totals(
            item.cond, body, facts, state.x, self.counted & (outside | turning), self.sigma, self.contracts
        )
        guessed = (*guessed, *summed, *chases.ranges(chases.chased(body, self.sigma), self.contracts))
        guessed = tuple(c for c in guessed if local_vars(c) <= self.costing)
        own = flags.flags(item.cond, body, self.sigma)
        self.flags += own
        if any(item is known for known in self.begun):
            self.live = turning
            turn = self.block(
                item.body, State(assume(conj(stable, self.sigma), item.cond, self.sigma), state.x - changed)
            )
            guessed = (*guessed, *flags.about(own, turn.end.p, changed, self.sigma))
        around, self.sums = self.sums, self.sums.union(*map(local_vars, summed))
        guesses = [c for c in guessed if self.entails(state.p, c)]
        x = state.x if item.invariant.x is None else item.invariant.x
        while True:
            invariant = State(conj((*stated, *stable, *guesses), self.sigma), x)
            entered = assume(invariant.p, item.cond, self.sigma)
            never = (FALSE,) if guesses and self.entails(entered, FALSE) else ()
            strict = {b: a for a, b in orders(item.cond, changed) if b in guesses}
            plain = sized(item.cond, self.facts(invariant.p))
            up, left = flags.told(own, entered, self.sigma)
            known = (*strict.values(), plain, *up, *more)
            told = never or tuple(a for a in known if a != item.cond and self.entails(entered, a))
            cuts = tuple(Partial(facts) for facts in (told, left) if facts)
            self.live = turning
            inside = self.block((*cuts, *item.body), State(entered, x))
            kept = [c for c in guesses if self.entails(inside.end.p, c)]
            if any(c not in kept for c in guesses if isinstance(c, Op) and c.op == "=="):
                kept += [c for c in strict if c not in kept]  # what a turn does was seen for that value only
            if self.sharp:  # what does not stay so may stay so while the loop goes on
                kept += flags.weaker(own, (c for c in guesses if c not in kept), self.sigma)
            smaller = x & inside.end.x if item.invariant.x is None else x
            if kept == guesses and smaller == x:
                break
            guesses, x = kept, smaller
        del self.flags[len(self.flags) - len(own) :]
        self.sums = around
        found = Cycle("", item.cond, invariant, item.invariant.q, inside, state, invariant, item.loc, told=(*up, *left))
        self.live = outside
        cycle: Cycle = self.taken(self.book.loops, found, state, item.rule)
        return cycle


def _repeated(cond: Expr, body: Stmt, facts: Facts) -> bool:
    """Whether a loop is as well left whole: there are loops in it, of which each turn would be a copy, nothing but its
    test reads its counter, and a logarithm is how often it turns, and no larger. That is so where the counter is
    doubled from a power of two, or halved to 0, or by other powers of two."""
    known, parts = facts.without(written(body)).numbers, [*statements(body)]
    for x in local_vars(cond) & written(body):
        (by, shift), start = factor(x, body, facts), facts.numbers.get(Var(x), 0)
        to_zero = [value_where(cond, known | {Var(x): k}) for k in (0, 1)] == [False, True]
        if shift or by.numerator.bit_count() + by.denominator.bit_count() != 2:
            return False
        if not (start.bit_count() == 1 if by > 1 else by < 1 and to_zero):
            return False
        others = (e for s in parts if not (isinstance(s, Assign) and s.var == x) for e in evaluated(s))
        if any(x in local_vars(e) for e in others):
            return False
    return any(isinstance(s, While) for s in parts)


def _settled(c: Expr, known: P) -> bool:
    """Whether a fact says no more than one of its alternatives, which is another fact."""
    return isinstance(c, Op) and c.op == "||" and any(a in known for a in c.args)


def _definition(x: str, about: Sequence[Expr]) -> Expr | None:
    """The value that an equality gives to x, without mentioning it: a ghost that is the same, where there is one."""
    equal = [*equations(about)]
    ghosts = (leaf for leaf, e in equal if e == Var(x) and isinstance(leaf, Var) and leaf.name.startswith(GHOST))
    own = (
        e for leaf, e in equal if leaf == Var(x) and x not in local_vars(e) and len([*subterms(e)]) <= limits.DEFINITION
    )
    return next(ghosts, None) or next(own, None)


def _other_way(x: str, about: Sequence[Expr]) -> Iterator[Expr]:
    """The values of x by equations for something else: t == n + 1 where n == t - 1."""
    for fact in about:
        for leaf, rest in solutions(fact):
            found = as_expr(rest) if leaf == Var(x) else None
            if found is not None and x not in local_vars(found):
                yield found


def _same(fact: Expr) -> bool:
    """Whether a fact equates a value with itself."""
    match fact:
        case Op("==", (a, b)):
            return (p := of_expr(a)) is not None and p == of_expr(b)
    return False


def _clamped(e: Expr) -> Expr:
    """e with min and max in place of choices between two values by which is the larger."""
    if not isinstance(e, Op):
        return e
    args = tuple(map(_clamped, e.args))
    if e.op == "?:" and (op := _extreme(*args)) is not None:
        return Op(op, args[1:])
    return e if args == e.args else replace(e, args=args)


def _either(a: Expr, b: Expr, up: bool) -> Expr:
    """The larger of two values (up), or the smaller; `max` or `min` of both where that is not known."""
    p, q = of_expr(a), of_expr(b)
    if p is not None and q is not None and (p - q).is_constant:
        return a if ((p - q).constant > 0) == up else b
    return Op("max" if up else "min", (a, b))


def _extreme(cond: Expr, a: Expr, b: Expr) -> str | None:
    """`min` or `max`, where a if the condition holds, and else b, is that of both: the condition is about what they
    differ by. None for all else."""
    p, q = of_expr(a), of_expr(b)
    match cond:
        case Op("<" | "<=" | ">" | ">=" as op, (left, right)) if p is not None and q is not None:
            x, y = of_expr(left), of_expr(right)
            if x is None or y is None:
                return None
            excess = (y - x if "<" in op else x - y) - int("=" not in op)  # at least 0 where the condition holds
            for extreme, more in (("max", p - q - excess), ("min", q - p - excess)):
                if more in (ZERO, const(1)):
                    return extreme
    return None


def _of_warp(e: Expr, p: P, context: Context) -> Expr | None:
    """The value of e, if all lanes of a warp share it, by the warp's number: its value at the first lane."""
    direct = of_expr(e)
    if direct is None or context.scope != "warp":
        return None
    at = unfolded(direct, said(p, context).definitions)
    (x, y, z), size = context.launch.block, context.hardware.warp
    warp = sym(Param(WARP_INDEX))
    place: dict[Leaf, Poly] = {}
    if y == z == 1:
        place = {Tid("x"): warp * size, Tid("y"): ZERO, Tid("z"): ZERO}
    elif z == 1 and x is not None and size % x == 0:
        place = {Tid("x"): ZERO, Tid("y"): warp * (size // x), Tid("z"): ZERO}
    if not leaves(at) & place.keys():
        return None
    shared = replaced(at, place)
    plain = as_expr(mapped(shared, _sign))
    if plain is None and context.launch.contracts:  # the row of a warp says which elements it reads
        plain = as_expr(mapped(replaced(shared, said((), context).constants), _rounded_sign))
    return plain


def _rounded_sign(a: Atom) -> Poly:
    """The same, also inside of floors."""
    return floor_div(mapped(a.arg, _sign), a.k) if isinstance(a, Floor) else _sign(a)


def _sign(a: Atom) -> Poly:
    """The value of an atom, given that numbers of warps and blocks, and their sizes, are not negative."""
    if isinstance(a, Max0) and all(isinstance(x, Param) and x.name in BUILTINS for x in leaves(a.arg)):
        signs = {c > 0 for _, c in a.arg.terms}
        if len(signs) == 1:
            return a.arg if True in signs else ZERO
    return just(a)


def _range_of(x: Var, e: Expr, sigma: Signature) -> Iterable[Expr]:
    """Guesses for the range of a value: its outermost operators bound it."""
    match e:
        case Op("&", (_, Const(int() as k))) | Op("&", (Const(int() as k), _)) if k >= 0:
            yield from (Op(">=", (x, Const(0))), Op("<=", (x, Const(k))))
        case Op("%", (_, Const(int() as k))) if k > 0:
            yield from (Op(">=", (x, Const(0))), Op(">", (x, Const(-k))), Op("<", (x, Const(k))))
        case Op("min" | "max" | "?:" | "+" | "-" | "*" as outer) if sigma.locals[x.name] == INT:
            if outer in ("+", "-", "*") and not opaque(e, sigma):
                return
            for op, up in ((">=", False), ("<=", True)):
                for bound in _bounds(e, up):
                    if not opaque(bound, sigma) and of_expr(bound) is not None and x.name not in local_vars(bound):
                        known = value_where(bound, {})
                        yield Op(op, (x, bound if known is None else Const(known)))


def _bounds(e: Expr, up: bool) -> Sequence[Expr]:
    """Expressions that e is at most (up), or at least, by its minima, maxima and choices, and where it is a sum by what
    masks and remainders in it may be."""
    match e:
        case Op("&", (_, Const(int() as k))) | Op("&", (Const(int() as k), _)) if k >= 0 and reads_array(e):
            return [Const(k if up else 0)]
        case Op("%", (_, Const(int() as k))) if k > 0 and reads_array(e):
            return [Const(k - 1)] if up else [Const(0), Const(1 - k)]
        case Op("+" | "-" as op, (a, b)) if reads_array(e):
            pairs = product(_bounds(a, up), _bounds(b, up == (op == "+")))
            return [Op(op, pair) for pair in pairs][: limits.ENDS]
        case Op("*", (a, Const(int() as k)) | (Const(int() as k), a)) if k > 0 and reads_array(e):
            return [Op("*", (Const(k), s)) for s in _bounds(a, up)]
        case Op("min" | "max" as op, (a, b)) if (op == "min") == up:
            return [*_bounds(a, up), *_bounds(b, up)][: limits.ENDS]
        case Op("min" | "max", (a, b)) | Op("?:", (_, a, b)):
            both = [(s, t) for s in _bounds(a, up) for t in _bounds(b, up)]
            return [s if s == t else _either(s, t, up) for s, t in both][: limits.ENDS]
    return [e]
